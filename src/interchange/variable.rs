//! An array of another format, as RawArray and the Ndarray Data Language would have it.

use crate::ndl::Ndarray;
use crate::ra::Header;

/// An array of another format, as RawArray and the Ndarray Data Language would have it; its data comes
/// separately.
///
/// `header` and `description` agree: the dims are those that the shape and `storage.order` give.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The header of the data as it is delivered: little-endian, and in the order of the other file.
    pub header: Header,
    /// Its name, shape, datatype and attributes. `storage.order` is `row` where the last index of the shape
    /// runs fastest and there is more than one.
    pub description: Ndarray,
    /// What the other file says and RawArray and description do not, one sentence each.
    pub losses: Vec<String>,
}
