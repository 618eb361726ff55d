//! Texts of the payload that are made from all arrays: missing descriptions, and the metadata of an RO-Crate.

use std::sync::Arc;

use super::payload::PayloadMembers;
use crate::deposit::{About, RecordFormat, check_crate, record};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::message::Message;
use crate::ndl;
use crate::pack::{self, Contents, DescriptionFacts, PACK_DOCUMENT, RO_CRATE};
use crate::path::MemberPath;
use crate::write::survey::SourceEntry;

/// Makes the descriptions of arrays that have none, and returns their names.
pub(super) fn describe(
    members: PayloadMembers<'_>,
    contents: &mut Contents,
    entries: &mut Vec<SourceEntry>,
) -> Result<Vec<String>> {
    let mut described = Vec::new();
    for (path, text) in pack::describe_missing(contents, false)? {
        let facts = DescriptionFacts::parse(path.as_str(), text.as_bytes());
        contents.descriptions.insert(path.clone(), Arc::new(facts));
        described.push(path.as_str().to_owned());
        entries.push(members.in_memory(path, text));
    }
    entries.sort_by(|one, other| one.path.as_str().cmp(other.path.as_str()));
    Ok(described)
}

/// Makes the metadata of an RO-Crate, or compares that of the source. Returns what it lacks, or how it differs from the
/// pack if that `is_right`. The attributes are those of the description that is packed.
pub(super) fn make_crate(
    members: PayloadMembers<'_>,
    contents: &mut Contents,
    entries: &mut Vec<SourceEntry>,
    completed: Option<&str>,
    is_right: bool,
) -> Result<Vec<Finding>> {
    let is_made = members.options.ro_crate;
    if !is_made && contents.ro_crate.is_none() {
        return Ok(Vec::new());
    }
    if let Some(text) = completed {
        contents.pack_document = Some(Arc::new(DescriptionFacts::parse(PACK_DOCUMENT, text)));
    }
    if !is_made {
        return Ok(check_crate(contents).filter(|_| is_right).into_iter().collect());
    }
    let at = entries.binary_search_by(|entry| entry.path.as_str().cmp(RO_CRATE));
    if at.is_ok() && contents.ro_crate.is_none() {
        let message = Message::from(
            "was not made by ra-pack, which would replace it; rename it, leave it out with ",
        )
        .option(("exclude", RO_CRATE))
        .text(", or keep it and pack without ")
        .option("ro_crate");
        return Err(Error::wrong_target(members.source.join(RO_CRATE), message));
    }
    let about = About::new(&contents.own_attributes());
    let hint = |example: &str| Message::from("give it with ").option(("attribute", example));
    let lacking = about.lacking(RecordFormat::RoCrate, hint);
    if !lacking.is_empty() || !is_right {
        return Ok(lacking);
    }
    let text = record(RecordFormat::RoCrate, &about, contents, None);
    if text.len() > ndl::MAX_TEXT {
        let count = contents.arrays.len();
        let why = format!("an RO-Crate of {count} arrays is longer than {} bytes", ndl::MAX_TEXT);
        return Err(Error::unsupported(why));
    }
    let entry = members.in_memory(MemberPath::new(RO_CRATE)?, text);
    match at {
        Ok(at) => *entries.get_mut(at).expect("it was found there") = entry,
        Err(at) => entries.insert(at, entry),
    }
    Ok(Vec::new())
}
