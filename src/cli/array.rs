//! One array that was named: a member of a pack, or a file by itself.

use std::path::Path;

use ra_pack::ndl::Ndarray;
use ra_pack::{Corners, Pack, Progress, Result};

use super::dates::Dates;
use super::shell;
use super::show::values;

/// Opens the pack, or the directory around a loose array, and gives the name of the array in it.
pub(super) fn open(
    target: &Path,
    member: Option<&str>,
    progress: &Progress,
) -> Result<(Pack, String)> {
    match member {
        Some(member) => Ok((Pack::open_watched(target, progress)?, member.to_owned())),
        None if ra_pack::is_pack(target)? => {
            // A file that only looks like a pack has nothing to list.
            Pack::open(target)?;
            Err(ra_pack::Error::Unsupported(format!(
                "`{}` is a pack; name one of the arrays that `ra-pack list --arrays {}` shows",
                ra_pack::escape_path(target),
                shell::path(target),
            )))
        }
        None => Pack::of_array_watched(target, progress),
    }
}

/// The text of an attribute.
pub(super) fn attribute_text<'d>(description: Option<&'d Ndarray>, name: &str) -> Option<&'d str> {
    let mut attributes = description?.attributes.iter();
    attributes.find(|attribute| attribute.name == name)?.value.as_str()
}

/// The same, safe to print.
pub(super) fn attribute(description: Option<&Ndarray>, name: &str) -> Option<String> {
    attribute_text(description, name).map(|text| ra_pack::escape(text).to_string())
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

/// The way from the numbers of an array to dates, when its units count from one.
pub(super) fn dates(description: Option<&Ndarray>) -> Option<Dates> {
    let units = attribute(description, "units")?;
    Dates::new(&units, attribute(description, "calendar").as_deref())
}

/// The first and the last element as numbers.
pub(super) fn ends(corners: &Corners) -> Option<(f64, f64)> {
    let words = values::words(corners, 17);
    let number = |word: Option<&String>| word?.trim().parse().ok();
    Some((number(words.first())?, number(words.last())?))
}
