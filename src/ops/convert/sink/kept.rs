//! The description of an array whose elements are replaced, when it still holds.

use std::path::Path;
use std::sync::Arc;

use super::super::item::Item;
use super::super::source::is_in_the_way;
use crate::error::Result;
use crate::fs;
use crate::ndl::MAX_TEXT;
use crate::pack::{self, Content, Contents, Inspector};
use crate::path::MemberPath;

/// The text of the document at `place`, when it describes what is written to `array` as well as what was there:
/// new elements of the same type, shape and order. Nothing when the source itself says more than that.
pub(super) fn description(place: &Path, array: &Path, item: &Item) -> Result<Option<Vec<u8>>> {
    let member = |path: &Path| MemberPath::new(path.file_name()?.to_str()?).ok();
    let (Some(subject), Some(document)) = (member(array), member(place)) else { return Ok(None) };
    if !item.description.attributes.is_empty() || !item.shared.is_empty() {
        return Ok(None);
    }
    let text = fs::read_limited(place, u64::try_from(MAX_TEXT).unwrap_or(u64::MAX))?;
    let header = item.to_variable()?.header;
    let facts = pack::ArrayFacts { header: Ok(header), encoding: None, trailing: 0, data: Ok(()) };
    let mut inspector = Inspector::new(document.as_str());
    // A text in memory is read.
    let _ = inspector.read(&mut &*text);
    let len = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let content = inspector.finish(document.as_str(), len);
    let mut contents = Contents::default();
    contents.add(subject.clone(), Content::Array(Arc::new(facts)));
    contents.add(document, content);
    let described = contents.description(&subject, &mut Vec::new());
    let is_kept = described.is_some_and(|described| described.order() == item.description.order())
        && !contents.findings().iter().any(is_in_the_way);
    Ok(is_kept.then_some(text))
}
