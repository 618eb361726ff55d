//! JSON texts whose keys have the given order, so that equal facts give equal bytes.

use std::fmt::Write as _;

use crate::path::is_unsafe;

/// A value of a document.
#[derive(Debug, Clone)]
pub(super) enum Json {
    Text(String),
    /// A number or another part of JSON, as it is written.
    Raw(&'static str),
    Number(f64),
    List(Vec<Json>),
    Map(Map),
}

/// A mapping. Keys without a value are left out.
#[derive(Debug, Clone, Default)]
pub(super) struct Map(Vec<(&'static str, Json)>);

impl<T: Into<String>> From<T> for Json {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

impl From<Map> for Json {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

/// Returns a reference to an entity of JSON-LD.
pub(super) fn reference(id: impl Into<String>) -> Json {
    Map::default().with("@id", id.into()).into()
}

impl Map {
    /// Adds a key with its value.
    pub(super) fn with(mut self, key: &'static str, value: impl Into<Json>) -> Self {
        self.0.push((key, value.into()));
        self
    }

    /// Adds a key if there is a value.
    pub(super) fn maybe<T: Into<Json>>(self, key: &'static str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds a key with a list, unless the list is empty.
    pub(super) fn list<T: Into<Json>>(
        self,
        key: &'static str,
        items: impl IntoIterator<Item = T>,
    ) -> Self {
        let items: Vec<Json> = items.into_iter().map(Into::into).collect();
        self.maybe(key, (!items.is_empty()).then_some(Json::List(items)))
    }
}

impl Json {
    /// Appends the value, with each element and key on a line of its own, and a reference on one line. The lines after
    /// the first are indented by `indent` spaces.
    pub(super) fn push(&self, indent: usize, out: &mut String) {
        match self {
            Self::Text(text) => push_text(text, out),
            Self::Raw(text) => out.push_str(text),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::Map(Map(entries)) if matches!(entries[..], [("@id", _)]) => {
                out.push_str("{\"@id\": ");
                for (_, id) in entries {
                    id.push(indent, out);
                }
                out.push('}');
            }
            Self::Map(Map(entries)) => {
                let entries = entries.iter().map(|(key, value)| (Some(*key), value));
                push_all('{', entries, '}', indent, out);
            }
            Self::List(items) => {
                push_all('[', items.iter().map(|item| (None, item)), ']', indent, out);
            }
        }
    }
}

fn push_all<'a>(
    open: char,
    entries: impl Iterator<Item = (Option<&'a str>, &'a Json)>,
    close: char,
    indent: usize,
    out: &mut String,
) {
    let inner = indent + 2;
    out.push(open);
    for (nth, (key, value)) in entries.enumerate() {
        let _ = write!(out, "{}\n{:inner$}", if nth > 0 { "," } else { "" }, "");
        if let Some(key) = key {
            let _ = write!(out, "\"{key}\": ");
        }
        value.push(inner, out);
    }
    let _ = write!(out, "\n{:indent$}{close}", "");
}

/// Appends a string. Characters that change how a terminal shows text are escaped, as JSON requires for some of them.
fn push_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            _ if is_unsafe(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_text_is_read_back(texts in proptest::collection::vec(".*|[\\\\\"\0-\x20\u{7f}-\u{a0}\u{2020}-\u{2030}\u{1f30a}]{0,9}", 1..4)) {
            let map = Map::default().list("list", &texts).maybe("none", None::<Json>);
            let map = map.list("empty", [""; 0]).with("reference", reference("x"));
            let value = Json::from(map.with("number", Json::Number(1.5)).with("raw", Json::Raw("[1]")));
            let mut text = String::new();
            value.push(0, &mut text);
            let is_shown = |character: char| character == '\n' || !is_unsafe(character);
            prop_assert!(text.chars().all(is_shown));
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            let reference = serde_json::json!({"@id": "x"});
            let expected = serde_json::json!({"list": texts, "reference": reference, "number": 1.5, "raw": [1]});
            prop_assert_eq!(read, expected);
        }
    }
}
