//! The arrays of a source, whose elements follow one after the other.

use std::io::Write;
use std::path::Path;

use super::data::ElementSource;
use super::format::ArrayFormat;
use super::item::ArrayItem;
use super::names::{MAX_LISTED, member_name};
use super::options::ConvertOptions;
use crate::error::{Error, Result};
use crate::message::listed;
use crate::ndl::Group;
use crate::path::escape;

/// Opens the arrays of a file without reading their elements.
pub(super) type OpenSource = fn(ArrayFormat, &Path, &ConvertOptions) -> Result<SourceArrays>;

/// The arrays of a source: first their headers, then the elements of one after the other.
pub(super) struct SourceArrays {
    /// The arrays; their order is always row-major or column-major.
    pub(super) items: Vec<ArrayItem>,
    /// Files to copy if the output has files.
    pub(super) others: Vec<OtherFile>,
    /// Files and arrays that cannot be converted.
    pub(super) failed: Vec<(String, Error)>,
    /// Other contents that are left out, one sentence each.
    pub(super) losses: Vec<String>,
    /// Attributes of groups without arrays of their own.
    pub(super) groups: Vec<Group>,
    pub(super) give: Box<GiveElements>,
}

/// A file without arrays.
pub(super) struct OtherFile {
    /// Its name in the output.
    pub(super) name: String,
    /// Writes the content; `None` for a directory.
    pub(super) copy: Option<Box<CopyContent>>,
}

type CopyContent = dyn Fn(&mut dyn Write) -> Result<u64>;

/// Passes the elements of the array at an index to a function. Elements that must be copied to be checked are staged
/// next to the path.
type GiveElements = dyn FnMut(usize, &Path, &mut TakeElements<'_>) -> Result<()>;

/// Takes elements, and whether a manifest confirms them.
pub(super) type TakeElements<'t> = dyn FnMut(ElementSource<'_>, bool) -> Result<()> + 't;

impl SourceArrays {
    /// Makes a source whose elements `give` provides.
    pub(super) fn new(items: Vec<ArrayItem>, losses: Vec<String>, give: Box<GiveElements>) -> Self {
        let (others, failed, groups) = <_>::default();
        Self { items, others, failed, losses, groups, give }
    }

    /// Makes a source of a file with a single array, whose elements `read` provides.
    pub(super) fn single(
        item: ArrayItem,
        read: impl FnOnce() -> Result<ElementSource<'static>> + 'static,
    ) -> Self {
        let mut read = Some(read);
        let give = Box::new(move |_: usize, _: &Path, take: &mut TakeElements<'_>| {
            take(read.take().expect("each array is converted once")()?, false)
        });
        Self::new(vec![item], Vec::new(), give)
    }
}

/// Returns whether the options select an array of this name.
pub(super) fn is_wanted(name: &str, options: &ConvertOptions) -> bool {
    let is_it = |member: &String| name == member || name == member_name(member);
    options.member.as_ref().is_none_or(is_it)
}

/// Makes the error for an array that does not exist, with the names of those that do.
pub(super) fn no_such_array<'n>(
    input: &Path,
    member: &str,
    names: impl Iterator<Item = &'n String>,
) -> Error {
    let mut there_are = listed(names.map(|name| escape(name)), MAX_LISTED);
    if !there_are.is_empty() {
        there_are.insert_str(0, "; its arrays are: ");
    }
    Error::wrong_target(input, format!("has no array `{}`{there_are}", escape(member)))
}
