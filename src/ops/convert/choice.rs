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
        let name = member_name(member);
        let mut matching =
            items.iter().enumerate().filter(|(_, item)| item.name == *member || item.name == name);
        return match matching.next() {
            Some((index, _)) => Ok(vec![index]),
            None => Err(Error::Unsupported(format!(
                "`{path}` holds no array `{}`{}",
                escape(member),
                listed(items)
            ))),
        };
    }
    if to.holds_many() || items.len() == 1 {
        return Ok((0..items.len()).collect());
    }
    Err(Error::Unsupported(format!(
        "a .{to} holds one array, and `{path}` {}; give --member NAME{}",
        match items.len() {
            0 => "none".to_owned(),
            count => format!("has {count}"),
        },
        listed(items)
    )))
}

/// The name of an array as it is asked for: `run1/x.ra` and `/run1/x` are `run1/x`.
pub(super) fn member_name(member: &str) -> &str {
    let name = member.trim_start_matches('/');
    let end = name.strip_suffix(ARRAY_EXTENSION);
    end.and_then(|name| name.strip_suffix('.')).unwrap_or(name)
}

fn listed(items: &[Item]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let names: Vec<_> =
        items.iter().take(MAX_LISTED).map(|item| escape(&item.name).to_string()).collect();
    let more = match items.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; there are: {}{more}", names.join(", "))
}
