//! One array that was named: a member of a pack, or a file by itself.

use std::path::Path;

use ra_pack::ndl::Ndarray;
use ra_pack::{Pack, Result};

/// Opens the pack, or the directory around a loose array, and gives the name of the array in it.
pub(super) fn open(target: &Path, member: Option<&str>) -> Result<(Pack, String)> {
    match member {
        Some(member) => Ok((Pack::open(target)?, member.to_owned())),
        None if ra_pack::is_array_file(target)? => Pack::of_array(target),
        None => Err(ra_pack::Error::Unsupported(format!(
            "`{0}` is a pack; name one of the arrays that `ra-pack list {0}` shows",
            ra_pack::escape(&target.to_string_lossy())
        ))),
    }
}

/// The text of an attribute, safe to print.
pub(super) fn attribute(description: Option<&Ndarray>, name: &str) -> Option<String> {
    let mut attributes = description?.attributes.iter();
    let value = &attributes.find(|attribute| attribute.name == name)?.value;
    value.as_str().map(|text| ra_pack::escape(text).to_string())
}

/// `long_name [units]`, as far as a description has them.
pub(super) fn label(description: Option<&Ndarray>) -> Option<String> {
    let name = attribute(description, "long_name");
    let units = attribute(description, "units").map(|units| format!("[{units}]"));
    match (name, units) {
        (Some(name), Some(units)) => Some(format!("{name} {units}")),
        (name, units) => name.or(units),
    }
}
