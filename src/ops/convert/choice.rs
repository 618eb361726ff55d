//! Which arrays of a source are converted.

use std::path::Path;

use super::form::Form;
use super::item::Item;
use super::options::ConvertOptions;
use crate::error::{Error, Result};
use crate::pack::ARRAY_EXTENSION;
use crate::path::escape;

/// Names that a message lists at most.
const MAX_LISTED: usize = 20;

/// The places of the arrays to convert.
pub(super) fn choose(
    items: &[Item],
    input: &Path,
    to: Form,
    options: &ConvertOptions,
) -> Result<Vec<usize>> {
    let path = escape(&input.to_string_lossy()).to_string();
    if let Some(member) = &options.member {
        let mut matching =
            items.iter().enumerate().filter(|(_, item)| is_wanted(&item.name, options));
        return match matching.next() {
            Some((index, _)) => Ok(vec![index]),
            None => Err(none_of_that_name(input, member, items.iter().map(|item| &item.name))),
        };
    }
    if to.holds_many() || items.len() == 1 {
        return Ok((0..items.len()).collect());
    }
    if items.is_empty() {
        return Err(Error::Unsupported(format!("there are no arrays in `{path}` to convert")));
    }
    Err(Error::Unsupported(format!(
        "a .{to} holds one array, and `{path}` has {}; give --member NAME{}",
        items.len(),
        listed(items.iter().map(|item| &item.name))
    )))
}

/// Whether an array of this name is converted, by what was asked for.
pub(super) fn is_wanted(name: &str, options: &ConvertOptions) -> bool {
    let is_it = |member: &String| name == member || name == member_name(member);
    options.member.as_ref().is_none_or(is_it)
}

/// The error that says which arrays there are.
pub(super) fn none_of_that_name<'n>(
    input: &Path,
    member: &str,
    names: impl Iterator<Item = &'n String>,
) -> Error {
    let path = escape(&input.to_string_lossy()).to_string();
    Error::Unsupported(format!("`{path}` holds no array `{}`{}", escape(member), listed(names)))
}

/// The name of an array as it is asked for: `run1/x.ra` and `/run1/x` are `run1/x`.
pub(in super::super) fn member_name(member: &str) -> &str {
    let name = member.trim_start_matches('/');
    let end = name.strip_suffix(ARRAY_EXTENSION);
    end.and_then(|name| name.strip_suffix('.')).unwrap_or(name)
}

fn listed<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<_> =
        names.iter().take(MAX_LISTED).map(|name| escape(name).to_string()).collect();
    let more = match names.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; there are: {}{more}", shown.join(", "))
}
