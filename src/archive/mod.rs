//! Archives give members and know no formats.

pub(crate) mod tar;
