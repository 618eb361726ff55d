//! Bags: what `create` writes beside the payload of one, and what `verify` asks of one.

mod check;
mod tags;
pub(super) mod write;

pub use self::check::BagReport;
pub(super) use self::check::{Bag, Listed};
pub(super) use self::tags::{TagRules, is_declaration};
