//! The positions of keys and values of a document in its text.

use super::node::{Node, Step};
use super::source::SourceText;
use crate::finding::Span;

/// The text of a document with the position of every key and value.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    pub(super) source: SourceText,
    pub(super) root: Option<Node>,
}

impl SourceMap {
    /// Returns the text that offsets refer to. Bytes that are not UTF-8 are replaced; a text longer than
    /// [`MAX_TEXT`](super::MAX_TEXT) is not kept.
    pub fn text(&self) -> &str {
        &self.source.whole
    }

    /// Returns the position of the value at `path`, or of its key if the value is left empty.
    pub fn value_span(&self, path: &[Step<'_>]) -> Option<Span> {
        self.node(path).map(|node| self.source.span(node.at))
    }

    /// Returns the position of the value at `path` in the dimcoord or ndarray `name` of `group` (`/` for a flat
    /// document). If there is no such value, returns the nearest position: the key of the innermost mapping on the way,
    /// or the name itself. Returns `None` if there is no such entity.
    ///
    /// ```
    /// use ra_pack::ndl::{self, Step};
    ///
    /// let parsed = ndl::parse(b"ndarrays:\n  z: {shape: [3, 4], type: int8}\n");
    /// let span = parsed.source.entity_span("/", "z", &[Step::Key("shape"), Step::Index(1)]);
    /// assert_eq!(span.map(|span| (span.line, span.column)), Some((2, 18)));
    /// let span = parsed.source.entity_span("/", "z", &[Step::Key("storage"), Step::Key("order")]);
    /// assert_eq!(span.map(|span| (span.line, span.column)), Some((2, 3)));
    /// ```
    pub fn entity_span(&self, group: &str, name: &str, path: &[Step<'_>]) -> Option<Span> {
        let body = self.group(group)?;
        let (key, mut node) = ["ndarrays", "dimcoords"]
            .into_iter()
            .find_map(|section| body.get(Step::Key(section))?.entry(name))?;
        let mut nearest = key.at;
        for (at, step) in path.iter().enumerate() {
            let last = at + 1 == path.len();
            match *step {
                Step::Key(text) => {
                    let Some((key, value)) = node.entry(text) else { break };
                    nearest = if last { value.at } else { key.at };
                    node = value;
                }
                Step::Index(_) => {
                    let Some(value) = node.get(*step) else { break };
                    nearest = value.at;
                    node = value;
                }
            }
        }
        Some(self.source.span(nearest))
    }

    fn group(&self, path: &str) -> Option<&Node> {
        let root = self.root.as_ref()?;
        match root.get(Step::Key(path)) {
            Some(body) => Some(body),
            None if path == "/" => Some(root),
            None => None,
        }
    }

    fn node(&self, path: &[Step<'_>]) -> Option<&Node> {
        path.iter().try_fold(self.root.as_ref()?, |node, step| node.get(*step))
    }
}
