//! Archives give members and know no formats.

pub(crate) mod stream;
pub(crate) mod tar;
