//! A value that an edit changes.

use crate::ndl::model::Form;
use crate::ndl::node::Step;
use crate::ndl::source_map::SourceMap;

/// A value that differs in the revised text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueChange {
    /// Its keys: the path of the group, the section, the name, and the keys below it.
    pub(crate) path: Vec<String>,
    /// Its index in a list.
    pub(super) index: Option<usize>,
    /// Its line, counted from 1.
    pub(crate) line: usize,
    /// Its old text; `None` for an added value.
    pub(crate) from: Option<String>,
    /// Its new text; `None` for a removed value.
    pub(crate) to: Option<String>,
}

impl ValueChange {
    /// Returns the keys below the name of an array, or those of an attribute of its group.
    pub(crate) fn key(&self) -> &[String] {
        let is_of_group = self.path.get(1).is_some_and(|key| key == "attributes");
        self.path.get(if is_of_group { 1 } else { 3 }..).unwrap_or_default()
    }

    /// Returns the steps to the value in a document.
    pub(in crate::ndl) fn place(&self, form: Form) -> Vec<Step<'_>> {
        let keys = self.path.get(usize::from(form == Form::Flat)..).unwrap_or_default();
        let keys = keys.iter().map(|key| Step::Key(key));
        keys.chain(self.index.map(Step::Index)).collect()
    }

    /// Sets the line to that of the value in a text, or of the nearest thing to it.
    pub(super) fn find_line(&mut self, source: &SourceMap, form: Form) {
        let place = self.place(form);
        let mut ends = (0..=place.len()).rev().filter_map(|end| place.get(..end));
        let line = ends.find_map(|place| source.value_span(place)).map_or(1, |span| span.line);
        self.line = line;
    }
}
