//! Edits to the text of a document that preserve everything else: comments, spaces, quotes and the order of keys.

pub(super) mod change;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

pub(crate) use self::change::ValueChange;
use super::load::before_value;
use super::model::{Document, Form, Group};
use super::node::{Node, NodeKey, NodeKind};
use super::source::BOM;
use super::source_map::SourceMap;
use super::value::Value;
use super::{parse, read_back, write};

/// A changed text.
#[derive(Debug)]
pub(crate) struct Revision {
    pub(crate) text: String,
    pub(crate) changes: Vec<ValueChange>,
}

/// The reason why a text cannot be changed.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The change that is refused, or the first one; `None` if the text cannot be read.
    pub(crate) change: Option<ValueChange>,
    pub(crate) why: String,
}

/// Changes the text so that it describes `wanted`.
///
/// Canonical text stays canonical. In any other text, only values that differ are replaced, added or removed. The new
/// text is read back: if it does not mean exactly `wanted`, as in a document that uses aliases, it is refused.
pub(crate) fn revise(text: &str, wanted: &Document) -> Result<Revision, Refusal> {
    revise_text(text, wanted, true)
}

/// Does the work of [`revise`]; with `in_order`, only if the parts of a canonical text stay in canonical order.
fn revise_text(text: &str, wanted: &Document, in_order: bool) -> Result<Revision, Refusal> {
    let refuse = |change, why: &str| Err(Refusal { change, why: why.to_owned() });
    let parsed = parse(text.as_bytes());
    let Some(old) = parsed.document.as_ref().filter(|_| !parsed.has_errors()) else {
        return refuse(None, "it has errors");
    };
    if old == wanted {
        return Ok(Revision { text: text.to_owned(), changes: Vec::new() });
    }
    if old.form == Form::Flat && wanted.form == Form::Grouped {
        let text = grouped(text);
        let form = parse(text.as_bytes()).document.map(|document| document.form);
        return match form {
            Some(Form::Grouped) => revise_text(&text, wanted, in_order),
            _ => refuse(None, UNUSUAL),
        };
    }
    let (Some(root), Value::Map(said), Value::Map(new)) =
        (&parsed.source.root, old.to_value(), wanted.to_value())
    else {
        return refuse(None, "it is empty");
    };
    let path = if old.form == Form::Flat { vec!["/".to_owned()] } else { Vec::new() };
    let (head, body) = text.split_at(head_len(text));
    let is_whole = in_order && body == old.to_yaml();
    let mut walk = Walk {
        text,
        is_whole,
        source: &parsed.source,
        path,
        index: None,
        edits: Vec::new(),
        changes: Vec::new(),
    };
    if let Err(why) = walk.map(root, &said, &new) {
        return refuse(walk.changes.pop(), why);
    }
    let (old_text, Walk { edits, mut changes, .. }) = (text, walk);
    let text = if is_whole {
        format!("{head}{}", wanted.to_yaml())
    } else {
        match apply(text, edits) {
            Ok(text) => text,
            Err(change) => {
                return refuse(changes.into_iter().nth(change), "two edits overlap");
            }
        }
    };
    if let Err((at, misread)) = read_back::compare_changes((old_text, &text), wanted, &changes) {
        return refuse(changes.into_iter().nth(at), &misread.to_string());
    }
    let new = parse(text.as_bytes());
    let why = match new.findings.iter().find(|fault| fault.is_error()) {
        Some(fault) => {
            format!("the result would break a rule ({}: {})", fault.code.id(), fault.message)
        }
        None if new.document.as_ref() == Some(wanted) => {
            for change in &mut changes {
                change.find_line(&new.source, wanted.form);
            }
            return Ok(Revision { text, changes });
        }
        None => "more than this would have to be written again".to_owned(),
    };
    Err(Refusal { change: changes.into_iter().next(), why })
}

/// Adds the attributes of new groups, and the coordinates and arrays of all groups in `more`; `None` if [`revise`]
/// refuses.
pub(crate) fn complete(text: &str, more: &[Group]) -> Option<String> {
    let mut wanted = parse(text.as_bytes()).document?;
    if more.iter().any(|group| group.path != "/") {
        wanted.form = Form::Grouped;
    }
    for group in more {
        match wanted.groups.iter_mut().find(|known| known.path == group.path) {
            Some(known) => {
                known.dimcoords.extend(group.dimcoords.iter().cloned());
                known.ndarrays.extend(group.ndarrays.iter().cloned());
            }
            None => wanted.groups.push(group.clone()),
        }
    }
    Some(revise_text(text, &wanted, false).ok()?.text)
}

/// A replacement of bytes; an insertion if the range is empty.
#[derive(Debug, PartialEq, Eq)]
struct Edit {
    at: Range<usize>,
    /// Columns before the inserted text.
    indent: usize,
    text: String,
    /// The index of its first change.
    change: usize,
}

/// Makes the edits; an error is the index of the change that cannot be made.
fn apply(old: &str, mut edits: Vec<Edit>) -> Result<String, usize> {
    // If several insertions share an offset, the deepest goes first: it belongs to the value before it.
    edits.sort_by_key(|edit| (edit.at.start, Reverse(edit.indent)));
    // Aliases reach the same bytes more than once.
    edits.dedup_by(|later, first| later.at == first.at && later.text == first.text);
    let is_crlf = old.contains("\r\n");
    let (mut new, mut at) = (String::with_capacity(old.len() + 64), 0);
    for edit in edits {
        new.push_str(old.get(at..edit.at.start).ok_or(edit.change)?);
        let text = edit.text.replace("\r\n", "\n");
        new.push_str(&if is_crlf { text.replace('\n', "\r\n") } else { text });
        at = edit.at.end;
    }
    new.push_str(old.get(at..).unwrap_or_default());
    Ok(new)
}

type Entries = [(String, Value)];

/// Walks the tree of a text along two values: the present one and the wanted one.
struct Walk<'t> {
    text: &'t str,
    /// Whether the whole text is written again: then there are changes but no edits.
    is_whole: bool,
    source: &'t SourceMap,
    path: Vec<String>,
    index: Option<usize>,
    edits: Vec<Edit>,
    changes: Vec<ValueChange>,
}

/// The old and the new text of a value.
type FromTo = (Option<String>, Option<String>);

/// Why the last change cannot be made.
type Why = &'static str;

const UNUSUAL: Why = "it is written in an uncommon way";
const COMMENT: Why = "a comment is in the way";

impl Walk<'_> {
    /// Turns the `old` entries into the `new` ones.
    fn map(&mut self, node: &Node, old: &Entries, new: &Entries) -> Result<(), Why> {
        let NodeKind::Map(map) = &node.kind else {
            self.note(node, None, None);
            return self.unless_whole(UNUSUAL);
        };
        let (known, wanted) = (by_key(old), by_key(new));
        let removed = |(key, _): &&(NodeKey, Node)| {
            known.contains_key(&*key.text) && !wanted.contains_key(&*key.text)
        };
        // A filter is always a list, even an empty one.
        let is_emptied = |key: &NodeKey| {
            &*key.text == "filter" && matches!(known.get("filter"), Some(Value::List(_)))
        };
        let entries: Vec<_> = map.iter().collect();
        let kept = entries.iter().position(|entry| !removed(entry) || is_emptied(&entry.0));
        let (first, mut added) = (self.changes.len(), Vec::new());
        for (key, value) in new {
            let said = known.get(&**key).copied();
            if said == Some(value) {
                continue;
            }
            self.path.push(key.clone());
            match (map.entry(key), said, value) {
                (Some((_, node)), Some(said), _) => self.value(node, said, value)?,
                // An empty section.
                (Some((_, inner)), None, Value::Map(new))
                    if matches!(inner.kind, NodeKind::Map(_)) =>
                {
                    self.map(inner, &[], new)?;
                }
                // A default that is written out.
                (Some((_, inner)), None, _) => self.value(inner, &Value::Null, value)?,
                (None, Some(_), _) => {
                    self.note(node, None, Some(value.to_line()));
                    self.unless_whole(UNUSUAL)?;
                }
                (None, None, _) => {
                    self.note_added(node, value);
                    added.push((key.clone(), value.clone()));
                }
            }
            self.path.pop();
        }
        if !added.is_empty() && !self.is_whole {
            let edit = self.addition(node, added, first, kept.is_some()).ok_or(UNUSUAL)?;
            self.edits.push(edit);
        }
        let is_flow = self.is_flow(node);
        for (nth, (key, node)) in entries.iter().enumerate().filter(|(_, entry)| removed(entry)) {
            self.path.push(key.text.to_string());
            let said = known.get(&*key.text).copied().unwrap_or(&Value::Null);
            if is_emptied(key) {
                self.value(node, said, &Value::List(Vec::new()))?;
            } else {
                self.note_removed(node, said);
                if is_flow {
                    self.removal_in_flow(&entries, nth, kept)?;
                } else {
                    self.removal(key, node)?;
                }
            }
            self.path.pop();
        }
        Ok(())
    }

    fn value(&mut self, node: &Node, old: &Value, new: &Value) -> Result<(), Why> {
        match (old, new, &node.kind) {
            (Value::Map(old), Value::Map(new), NodeKind::Map(_)) => self.map(node, old, new),
            (Value::List(old), Value::List(new), NodeKind::List(nodes))
                if old.len() == new.len() && nodes.len() == new.len() =>
            {
                let is_outermost = self.index.is_none();
                for (nth, (node, (old, new))) in nodes.iter().zip(old.iter().zip(new)).enumerate() {
                    if old != new {
                        self.index = if is_outermost { Some(nth) } else { self.index };
                        self.value(node, old, new)?;
                    }
                }
                self.index = self.index.filter(|_| !is_outermost);
                Ok(())
            }
            _ => {
                let (at, text) = (self.range(node), self.written(node, new));
                let old = self.text.get(at).unwrap_or_default().to_owned();
                self.note(node, Some(old), Some(text));
                self.replace(node, new)
            }
        }
    }

    /// Fails unless the whole text is written again.
    fn unless_whole(&self, why: Why) -> Result<(), Why> {
        if self.is_whole { Ok(()) } else { Err(why) }
    }

    /// Replaces a value and notes the change.
    fn replace(&mut self, node: &Node, new: &Value) -> Result<(), Why> {
        if self.is_whole {
            return Ok(());
        }
        let (at, mut text) = (self.range(node), self.written(node, new));
        let old = self.text.get(at.clone()).ok_or(COMMENT)?;
        let (before, content) = old.split_at(before_value(old));
        let is_scalar = matches!(node.kind, NodeKind::Scalar(_));
        if before.contains('#') || !is_scalar && content.contains('#') {
            return Err(COMMENT);
        }
        // A block scalar begins with a line that may have a comment.
        if content.starts_with(['|', '>'])
            && let Some(header) = content.lines().next()
            && let Some((mark, _)) = header.split_once('#')
        {
            text.push_str(header.get(mark.trim_end().len()..).unwrap_or_default());
        }
        let change = self.changes.len().saturating_sub(1);
        self.edits.push(Edit { at, indent: 0, text, change });
        Ok(())
    }

    /// Returns the text of a value that replaces a node. A block list of numbers stays one.
    fn written(&self, node: &Node, value: &Value) -> String {
        let span = self.source.source.span(node.at);
        let old = self.text.get(span.start..).unwrap_or_default();
        match value {
            Value::List(list) if old.starts_with('-') && !list.is_empty() && is_list(node) => {
                let indent = " ".repeat(span.column - 1);
                let lines: Vec<_> =
                    list.iter().map(|item| format!("- {}", item.to_line())).collect();
                lines.join(&format!("\n{indent}"))
            }
            Value::String(text) if !self.is_in_flow(span.start) => write::scalar_text(text, false),
            value => value.to_line(),
        }
    }

    /// Returns whether a mapping or list is written in brackets.
    fn is_flow(&self, node: &Node) -> bool {
        let start = self.range(node).start;
        self.text.get(start..).is_some_and(|text| text.starts_with(['{', '[']))
    }

    /// Returns whether an offset may be inside brackets. If it is not, its value is the only one on its line.
    fn is_in_flow(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rfind('\n').map_or(before, |end| before.get(end..).unwrap_or_default());
        line.contains(['{', '[']) || line.trim().is_empty()
    }

    /// Returns the bytes of a value, without the white space after it.
    fn range(&self, node: &Node) -> Range<usize> {
        let mark = self.source.source.mark;
        let (start, end) = (node.at.start() + mark, end_of(node, self.source.source.text()) + mark);
        let text = self.text.get(start..end).unwrap_or_default();
        start..start + text.trim_end().len()
    }

    /// Returns the insertion of entries after the last one of a mapping. `follows` says whether an entry of it is kept.
    fn addition(
        &self,
        node: &Node,
        entries: Vec<(String, Value)>,
        change: usize,
        follows: bool,
    ) -> Option<Edit> {
        let (text, Range { start, end }) = (self.text, self.range(node));
        if self.is_flow(node) {
            let at = end.checked_sub(1).filter(|at| text.get(*at..end) == Some("}"))?;
            let entries = write::to_flow(&Value::Map(entries));
            let inner = entries.strip_prefix('{')?.strip_suffix('}')?;
            let comma = if follows { ", " } else { "" };
            let text = format!("{comma}{inner}");
            return Some(Edit { at: at..at, indent: usize::MAX, text, change });
        }
        let indent = self.indent(start)?;
        let end = end_of(node, self.source.source.text()) + self.source.source.mark;
        let (at, begin) = match text.get(end..)?.find('\n') {
            _ if text.get(..end)?.ends_with('\n') => (end, ""),
            Some(line_end) => (end + line_end + 1, ""),
            None => (text.len(), "\n"),
        };
        let mut new = begin.to_owned();
        write::block_map(&mut new, &entries, indent, false);
        Some(Edit { at: at..at, indent, text: new, change })
    }

    /// Returns the columns before the first key of a line; `None` if anything else is before the key.
    fn indent(&self, key: usize) -> Option<usize> {
        let before = self.text.get(..key)?;
        let bom = if before.starts_with(BOM) { BOM.len() } else { 0 };
        let line = before.rfind('\n').map_or(bom, |at| at + 1);
        let indent = before.get(line..)?;
        indent.bytes().all(|byte| byte == b' ').then_some(indent.len())
    }

    /// Removes an entry with its lines. A comment that follows it stays.
    fn removal(&mut self, key: &NodeKey, node: &Node) -> Result<(), Why> {
        let (start, end) = (key.at.start() + self.source.source.mark, self.range(node).end);
        if self.is_whole {
            return Ok(());
        }
        let indent = self.indent(start).ok_or(UNUSUAL)?;
        let rest = self.text.get(end..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if rest.get(blank..).is_some_and(|rest| rest.starts_with('#')) {
            return self.cut(start..end + blank);
        }
        self.cut(start - indent..rest.find('\n').map_or(self.text.len(), |at| end + at + 1))
    }

    /// Removes an entry of a mapping in brackets, and the comma between it and its neighbour. `kept` is the first entry
    /// that stays.
    fn removal_in_flow(
        &mut self,
        entries: &[&(NodeKey, Node)],
        nth: usize,
        kept: Option<usize>,
    ) -> Result<(), Why> {
        let start = |nth: usize| Some(entries.get(nth)?.0.at.start() + self.source.source.mark);
        let end = |nth: usize| Some(self.range(&entries.get(nth)?.1).end);
        let at = match nth.checked_sub(1).filter(|_| kept.is_some_and(|kept| kept < nth)) {
            Some(before) => end(before).zip(end(nth)),
            None => start(nth).zip(start(nth + 1).or(end(nth))),
        };
        let (start, end) = at.ok_or(UNUSUAL)?;
        self.cut(start..end)
    }

    /// Removes bytes that contain no comment.
    fn cut(&mut self, at: Range<usize>) -> Result<(), Why> {
        let old = self.text.get(at.clone()).unwrap_or_default();
        if old.lines().nth(1).is_some() && old.contains('#') {
            return Err(COMMENT);
        }
        let change = self.changes.len().saturating_sub(1);
        if !self.is_whole {
            self.edits.push(Edit { at, indent: 0, text: String::new(), change });
        }
        Ok(())
    }

    fn note(&mut self, node: &Node, from: Option<String>, to: Option<String>) {
        let (path, line) = (self.path.clone(), self.source.source.span(node.at).line);
        self.changes.push(ValueChange { path, index: self.index, line, from, to });
    }

    /// Notes an added value, or each of added attributes.
    fn note_added(&mut self, node: &Node, value: &Value) {
        self.note_each(node, value, &|text| (None, Some(text)));
    }

    /// Notes a removed value, or each of removed attributes.
    fn note_removed(&mut self, node: &Node, value: &Value) {
        self.note_each(node, value, &|text| (Some(text), None));
    }

    /// Notes a value, or each of several named ones; `change` makes the old and the new text of it.
    fn note_each(&mut self, node: &Node, value: &Value, change: &dyn Fn(String) -> FromTo) {
        match value {
            Value::Map(entries) if self.is_of_many() => {
                for (key, value) in entries {
                    self.path.push(key.clone());
                    self.note_each(node, value, change);
                    self.path.pop();
                }
            }
            value => {
                let (from, to) = change(value.to_line());
                self.note(node, from, to);
            }
        }
    }

    /// Returns whether this path is a mapping of named values.
    fn is_of_many(&self) -> bool {
        match &*self.path {
            [_] | [_, _] => true,
            [_, _, _, key] => key == "attributes" || key == "storage",
            _ => false,
        }
    }
}

fn by_key(entries: &Entries) -> BTreeMap<&str, &Value> {
    entries.iter().map(|(key, value)| (&**key, value)).collect()
}

fn is_list(node: &Node) -> bool {
    matches!(node.kind, NodeKind::List(_))
}

/// Returns the offset of the end of a value, without the comments that may follow.
fn end_of(node: &Node, text: &str) -> usize {
    let is_flow = text.get(node.at.start()..).is_some_and(|text| text.starts_with(['{', '[']));
    let last = match &node.kind {
        NodeKind::List(list) if !is_flow => list.last(),
        NodeKind::Map(map) if !is_flow => map.iter().next_back().map(|(_, node)| node),
        _ => None,
    };
    last.map_or(node.at.end(), |last| end_of(last, text))
}

/// Returns the number of bytes before the first key: comments, empty lines, and the line that begins a document.
fn head_len(text: &str) -> usize {
    let bom = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let is_head = |line: &&str| {
        line.trim().is_empty() || line.starts_with(['#', '%']) || line.trim_end() == "---"
    };
    let lines = text.get(bom..).unwrap_or_default().split_inclusive('\n');
    bom + lines.take_while(is_head).map(str::len).sum::<usize>()
}

/// Converts a flat document to a grouped one with the root group: everything below the leading comments is indented.
fn grouped(text: &str) -> String {
    let (head, body) = text.split_at(head_len(text));
    let mut new = String::with_capacity(text.len() * 2);
    new.push_str(head);
    new.push_str("/:\n");
    for line in body.split_inclusive('\n') {
        new.push_str(if line.trim().is_empty() { "" } else { "  " });
        new.push_str(line);
    }
    new
}

#[cfg(test)]
mod tests;
