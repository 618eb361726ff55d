//! Texts: the lengths of all that are there, and then their bytes.

use std::io::{Read, Seek};

use super::body::{Body, count, mask_len};
use super::chunks::{Chunk, Chunks, What};
use super::header::{Element, Entry};
use crate::interchange::Error;

/// Most texts of a variable, and most bytes of them: all of them stand in one description.
pub(super) const MAX_TEXTS: u64 = 1 << 20;
pub(super) const MAX_BYTES: u64 = 8 << 20;

/// The texts of a variable; `None` for each that is missing.
pub(super) type Texts = Vec<Option<Vec<u8>>>;

/// Reads all texts of a variable at `at`, which lies within the body as a whole.
pub(super) fn read<R: Read + Seek>(
    body: &mut Body<R>,
    entry: &Entry,
    at: u64,
) -> Result<Texts, Error> {
    let elements = entry.count();
    if elements == 0 {
        return Ok(Vec::new());
    }
    let present = body.present(entry, at)?;
    let bytes = body
        .real_len(entry, at)?
        .saturating_sub(mask_len(entry))
        .saturating_sub(present.saturating_mul(8));
    if elements > MAX_TEXTS || bytes > MAX_BYTES {
        return Err(Error::no_counterpart(
            format!(
                "{:?} has {elements} texts of {bytes} bytes together, and a description holds at most \
                 {MAX_TEXTS} texts of {MAX_BYTES} bytes",
                entry.name
            ),
            "divide it into several variables, or leave it out",
        ));
    }
    let mut lengths = Vec::new();
    body.lengths(entry, at, present, |length| lengths.push(length))?;
    let mut from = at.saturating_add(mask_len(entry)).saturating_add(present.saturating_mul(8));
    let mut lengths = lengths.into_iter();
    let mut texts = Vec::new();
    for missing in missing(body, entry, at)? {
        let length = if missing { None } else { lengths.next() };
        let Some(length) = length else {
            texts.push(None);
            continue;
        };
        // Not more than all of them take.
        let mut text = vec![0; usize::try_from(length.min(bytes)).unwrap_or(0)];
        body.read_at(from, &mut text)?;
        if entry.element == Element::Unicode
            && let Err(error) = str::from_utf8(&text)
        {
            let at = from.saturating_add(count(error.valid_up_to()));
            return Err(not_utf8(body.start.saturating_add(at), entry));
        }
        from = from.saturating_add(length);
        texts.push(Some(text));
    }
    Ok(texts)
}

/// The fault of a `unicode` that is none.
pub(super) fn not_utf8(at: u64, entry: &Entry) -> Error {
    Error::malformed(at, format!("expected UTF-8 in {:?}, found other bytes", entry.name))
}

fn missing<R: Read + Seek>(body: &mut Body<R>, entry: &Entry, at: u64) -> Result<Vec<bool>, Error> {
    let elements = entry.count();
    let mut missing = Vec::new();
    if entry.missing {
        let mut chunks = Chunks::new(What::Mask, Some(at), 0, elements);
        let mut chunk = Chunk::default();
        while chunks.next(body, &mut chunk)? {
            missing.extend(chunk.values.iter().map(|byte| *byte != 0));
        }
    } else {
        missing.resize(usize::try_from(elements).unwrap_or(usize::MAX), false);
    }
    Ok(missing)
}

/// A text that none of them is: `wanted`, nothing at all, or `missing` with as many `_` as it takes.
pub(super) fn fill(texts: &Texts, wanted: Option<&str>) -> String {
    let is_used = |text: &str| texts.iter().flatten().any(|found| found == text.as_bytes());
    if let Some(free) = wanted.into_iter().chain([""]).find(|text| !is_used(text)) {
        return free.to_owned();
    }
    let mut free = "missing".to_owned();
    while is_used(&free) {
        free.push('_');
    }
    free
}

/// Whether bytes that come in parts are UTF-8.
#[derive(Debug, Default)]
pub(super) struct Utf8 {
    /// The beginning of a character whose end has not come.
    begun: Vec<u8>,
    /// Bytes that are UTF-8.
    valid: u64,
}

impl Utf8 {
    /// The next part; the error is the place of the first byte that is no UTF-8.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), u64> {
        let mut text = std::mem::take(&mut self.begun);
        text.extend_from_slice(bytes);
        let (valid, begun) = match str::from_utf8(&text) {
            Ok(_) => (text.len(), false),
            Err(error) => (error.valid_up_to(), error.error_len().is_none()),
        };
        self.valid = self.valid.saturating_add(count(valid));
        if begun {
            self.begun = text.split_off(valid);
        } else if valid < text.len() {
            return Err(self.valid);
        }
        Ok(())
    }

    /// That nothing is only begun.
    pub(super) fn finish(self) -> Result<(), u64> {
        if self.begun.is_empty() { Ok(()) } else { Err(self.valid) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fill_is_none_of_the_texts() {
        let texts =
            |texts: &[&str]| texts.iter().map(|text| Some(text.as_bytes().into())).collect();
        assert_eq!(fill(&texts(&["a"]), Some("b")), "b");
        assert_eq!(fill(&texts(&["a"]), Some("a")), "");
        assert_eq!(fill(&texts(&["", "missing"]), None), "missing_");
    }

    proptest! {
        #[test]
        fn parts_are_utf8_as_the_whole_is(
            text in prop_oneof![any::<String>().prop_map(String::into_bytes), any::<Vec<u8>>()],
            part in 1_usize..5,
        ) {
            let mut utf8 = Utf8::default();
            let pushed = text.chunks(part).try_for_each(|part| utf8.push(part));
            let found = pushed.and_then(|()| utf8.finish());
            let expected = str::from_utf8(&text).map(|_| ()).map_err(|error| count(error.valid_up_to()));
            prop_assert_eq!(found, expected);
        }
    }
}
