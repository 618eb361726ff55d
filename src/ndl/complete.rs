//! Adding to the text of a document, which otherwise stays as its author wrote it.

use std::cmp::Reverse;

use super::model::{Form, Group, Value};
use super::node::{Kind, Map, Node};
use super::source::{SourceMap, Step};
use super::{parse, write};

/// What is put into a text: behind this byte, and how deep.
struct Addition {
    at: usize,
    indent: usize,
    text: String,
}

/// The text with the attributes of new groups, and the coordinates and arrays of all groups in `more`.
///
/// The new text says what the old one says and what is added, nothing else: where it would not, as in a document
/// whose parts are aliases, there is none.
pub(crate) fn complete(text: &str, more: &[Group]) -> Option<String> {
    let mut wanted = parse(text.as_bytes()).document?;
    let mut text = text.to_owned();
    if wanted.form == Form::Flat && more.iter().any(|group| group.path != "/") {
        wanted.form = Form::Grouped;
        text = grouped(&text);
    }
    let source = parse(text.as_bytes()).source;
    let root = source.root.as_ref()?;
    let mut additions = Vec::new();
    for group in more {
        let body =
            if wanted.form == Form::Flat { Some(root) } else { root.get(Step::Key(&group.path)) };
        match body {
            None => {
                let entry = (group.path.clone(), Value::Map(write::group(group)));
                additions.push(addition(&text, &source, root, vec![entry])?);
            }
            Some(body) => {
                let sections = Group { attributes: Vec::new(), ..group.clone() };
                for (section, entries) in write::group(&sections) {
                    let Value::Map(entries) = entries else { continue };
                    additions.push(match body.get(Step::Key(&section)) {
                        Some(node) => addition(&text, &source, node, entries)?,
                        None => {
                            addition(&text, &source, body, vec![(section, Value::Map(entries))])?
                        }
                    });
                }
            }
        }
        match wanted.groups.iter_mut().find(|known| known.path == group.path) {
            Some(known) => {
                known.dimcoords.extend(group.dimcoords.iter().cloned());
                known.ndarrays.extend(group.ndarrays.iter().cloned());
            }
            None => wanted.groups.push(group.clone()),
        }
    }
    // Of several at one place, the deepest belongs to what is before it.
    additions.sort_by_key(|addition| (addition.at, Reverse(addition.indent)));
    let (mut new, mut at) = (String::new(), 0);
    for addition in &additions {
        new.push_str(text.get(at..addition.at)?);
        new.push_str(&addition.text);
        at = addition.at;
    }
    new.push_str(text.get(at..)?);
    (parse(new.as_bytes()).document? == wanted).then_some(new)
}

/// A flat document as the root group of a grouped one: what is below the comments at its head is moved to the
/// right.
fn grouped(text: &str) -> String {
    let is_head = |line: &&str| {
        line.trim().is_empty() || line.starts_with(['#', '%']) || line.trim_end() == "---"
    };
    let mut new = String::with_capacity(text.len() * 2);
    let text = match text.strip_prefix('\u{feff}') {
        Some(text) => {
            new.push('\u{feff}');
            text
        }
        None => text,
    };
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next_if(is_head) {
        new.push_str(line);
    }
    new.push_str("/:\n");
    for line in lines {
        new.push_str(if line.trim().is_empty() { "" } else { "  " });
        new.push_str(line);
    }
    new
}

/// Entries for a mapping, behind its last one.
fn addition(
    text: &str,
    source: &SourceMap,
    node: &Node,
    entries: Vec<(String, Value)>,
) -> Option<Addition> {
    let Kind::Map(map) = &node.kind else { return None };
    let bom = text.len() - source.source.text().len();
    let place = |at: usize| at + bom;
    if text.get(place(node.at.start())..)?.starts_with('{') {
        let at = place(node.at.end())
            .checked_sub(1)
            .filter(|at| text.get(*at..).is_some_and(|rest| rest.starts_with('}')))?;
        let entries = write::to_flow(&Value::Map(entries));
        let inner = entries.strip_prefix('{')?.strip_suffix('}')?;
        let comma = if map.len() == 0 { "" } else { ", " };
        return Some(Addition { at, indent: usize::MAX, text: format!("{comma}{inner}") });
    }
    let (first, _) = map.iter().next()?;
    let before = text.get(..place(first.at.start()))?;
    let line = before.rfind('\n').map_or(bom, |at| at + 1);
    let indent = before.get(line..)?;
    if !indent.bytes().all(|byte| byte == b' ') {
        return None;
    }
    let end = place(end_of(node, source.source.text()));
    let (at, begin) = if text.get(..end)?.ends_with('\n') {
        (end, "")
    } else {
        match text.get(end..)?.find('\n') {
            Some(line_end) => (end + line_end + 1, ""),
            None => (text.len(), "\n"),
        }
    };
    let mut new = begin.to_owned();
    write::block_map(&mut new, &entries, indent.len(), false);
    Some(Addition { at, indent: indent.len(), text: new })
}

/// Where the last that stands in a value ends; what is behind it may be a comment.
fn end_of(node: &Node, text: &str) -> usize {
    let is_flow = text.get(node.at.start()..).is_some_and(|text| text.starts_with(['{', '[']));
    let last = match &node.kind {
        Kind::List(list) if !is_flow => list.last(),
        Kind::Map(map) if !is_flow => last_of(map),
        _ => None,
    };
    last.map_or(node.at.end(), |last| end_of(last, text))
}

fn last_of(map: &Map) -> Option<&Node> {
    map.iter().next_back().map(|(_, node)| node)
}

#[cfg(test)]
mod tests {
    use super::super::Datatype;
    use super::super::model::{Extent, Ndarray};
    use super::*;

    fn group(path: &str, name: &str) -> Group {
        let ndarray = Ndarray {
            name: name.to_owned(),
            shape: vec![Extent::Fixed(3)],
            datatype: Datatype::Int8,
            value: None,
            attributes: Vec::new(),
            storage: None,
        };
        Group { ndarrays: vec![ndarray], ..Group::new(path) }
    }

    fn completed(text: &str, more: &[(&str, &str)]) -> Option<String> {
        let more: Vec<_> = more.iter().map(|(path, name)| group(path, name)).collect();
        complete(text, &more)
    }

    #[test]
    fn what_is_added_stands_behind_what_is_there_and_every_comment_stays() {
        let text = "# mine\n/:\n  ndarrays:  # all\n    # first\n    b: {shape: [2],   type: uint8} # b\n\n    # end\n/run1:\n  attributes: {note: 'x # y'}\n";
        let new = completed(text, &[("/", "a"), ("/run1", "c"), ("/run2", "d")]).unwrap();
        assert_eq!(
            new,
            "# mine\n/:\n  ndarrays:  # all\n    # first\n    b: {shape: [2],   type: uint8} # b\n    a:\n      shape: [3]\n      type: int8\n\n    # end\n/run1:\n  attributes: {note: 'x # y'}\n  ndarrays:\n    c:\n      shape: [3]\n      type: int8\n/run2:\n  ndarrays:\n    d:\n      shape: [3]\n      type: int8\n"
        );
    }

    #[test]
    fn a_flat_document_becomes_the_root_group_when_others_are_added() {
        let text =
            "# mine\n\nattributes:\n  note: |\n    one\n\n      two\n  title: \"a\n    b\" # end";
        let flat = completed(text, &[("/", "a")]).unwrap();
        assert!(
            flat.starts_with(text)
                && flat.ends_with("\nndarrays:\n  a:\n    shape: [3]\n    type: int8\n"),
            "{flat}"
        );
        let new = completed(text, &[("/", "a"), ("/run1", "c")]).unwrap();
        assert!(
            new.starts_with("# mine\n\n/:\n  attributes:\n    note: |\n      one\n\n        two\n"),
            "{new}"
        );
        assert_eq!(parse(new.as_bytes()).document.unwrap().groups.len(), 2);
        for text in [
            "{}",
            "# x\n{}\n",
            "ndarrays: {}\n",
            "\u{feff}attributes: {a: 1}\r\n",
            "{ndarrays: {b: {shape: [], type: int8}}}\n",
            "---\n{}\n",
        ] {
            for more in [&[("/", "a")][..], &[("/", "a"), ("/x", "c")]] {
                assert!(completed(text, more).is_some(), "{text:?}");
            }
        }
    }

    #[test]
    fn what_would_say_something_else_is_not_written() {
        let text = "/: &x\n  ndarrays: &y\n    b: {shape: [2], type: uint8}\n/z: *x\n";
        assert_eq!(completed(text, &[("/z", "a")]), None);
        assert_eq!(completed("ndarrays:\n", &[("/", "a")]), None);
    }
}
