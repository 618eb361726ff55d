//! Canonical YAML that readers of YAML 1.1 and 1.2 read alike: block mappings, flow lists of scalars, and quotes around
//! every text that either version would read as something else.

use std::fmt::Write;

use serde::{Serialize, Serializer};

use super::datatype::Datatype;
use super::model::{Attribute, Document, Entity, Extent, Form, Group, Order, Storage};
use super::scalar;
use super::value::Value;

/// Line length of flow lists, in characters.
const WIDTH: usize = 100;

/// Length up to which nested lists stay on one line, in characters.
const SHORT: usize = 60;

/// Length of the longest implicit key, in bytes: readers stop looking for the `:` after 1024 characters.
const MAX_KEY: usize = 1000;

impl Document {
    /// Returns the document as a value.
    pub(crate) fn to_value(&self) -> Value {
        document(self)
    }

    /// Returns the canonical YAML of the document. Equal documents give the same text, and reading the text gives the
    /// same document, unless [`validate`](Self::validate) reports an error.
    pub fn to_yaml(&self) -> String {
        to_yaml(&document(self))
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl Entity<'_> {
    /// Returns the entity as a value, as it appears in a document.
    pub fn to_value(self) -> Value {
        entity(self)
    }
}

impl Datatype {
    /// Returns the datatype as YAML on one line.
    ///
    /// ```
    /// let datatype = ra_pack::ndl::Datatype::Opaque { size: 2, tag: Some("a, b".to_owned()) };
    /// assert_eq!(datatype.to_flow(), "{opaque: {size: 2, tag: \"a, b\"}}");
    /// ```
    pub fn to_flow(&self) -> String {
        to_flow(&datatype(self))
    }
}

impl Value {
    /// Returns the value as YAML on one line.
    pub(crate) fn to_line(&self) -> String {
        to_flow(self)
    }
}

/// Returns the document as a value.
pub(super) fn document(document: &Document) -> Value {
    match (document.form, document.groups.as_slice()) {
        (Form::Flat, []) => Value::Map(Vec::new()),
        (Form::Flat, [root]) if root.path == "/" => Value::Map(group(root)),
        (_, groups) => Value::Map(
            groups.iter().map(|body| (body.path.clone(), Value::Map(group(body)))).collect(),
        ),
    }
}

pub(super) fn group(body: &Group) -> Vec<(String, Value)> {
    let mut entries = Vec::new();
    entries.extend(attributes(&body.attributes));
    if !body.dimcoords.is_empty() {
        let coords = body.dimcoords.iter().map(Entity::DimCoord);
        let map = coords.map(|coord| (coord.array().name.clone(), entity(coord)));
        entries.push(("dimcoords".to_owned(), Value::Map(map.collect())));
    }
    if !body.ndarrays.is_empty() {
        let arrays = body.ndarrays.iter().map(Entity::Ndarray);
        let map = arrays.map(|array| (array.array().name.clone(), entity(array)));
        entries.push(("ndarrays".to_owned(), Value::Map(map.collect())));
    }
    entries
}

/// Returns the entry for attributes, if there are any.
pub(super) fn attributes(list: &[Attribute]) -> Vec<(String, Value)> {
    if list.is_empty() {
        return Vec::new();
    }
    let map = list.iter().map(|fact| (fact.name.clone(), attribute(fact)));
    vec![("attributes".to_owned(), Value::Map(map.collect()))]
}

fn attribute(fact: &Attribute) -> Value {
    if fact.short && fact.fits_short() {
        return fact.value.clone();
    }
    let mut entries = vec![
        ("shape".to_owned(), numbers(&fact.shape)),
        ("type".to_owned(), datatype(&fact.datatype)),
        ("value".to_owned(), fact.value.clone()),
    ];
    entries.extend(storage(fact.storage.as_ref(), false));
    Value::Map(entries)
}

/// Returns an entity as the mapping that is written.
pub(super) fn entity(it: Entity<'_>) -> Value {
    let (array, is_dimcoord) = (it.array(), matches!(it, Entity::DimCoord(_)));
    let mut entries = vec![
        extents(shape(&array.shape), is_dimcoord),
        ("type".to_owned(), datatype(&array.datatype)),
    ];
    entries.extend(array.value.iter().map(|value| ("value".to_owned(), value.clone())));
    entries.extend(attributes(&array.attributes));
    entries.extend(storage(array.storage.as_ref(), is_dimcoord));
    Value::Map(entries)
}

/// Returns the entry for a shape, or for the size of a dimcoord.
fn extents(shape: Value, is_dimcoord: bool) -> (String, Value) {
    match shape {
        Value::List(list) if is_dimcoord => {
            ("size".to_owned(), list.into_iter().next().unwrap_or(Value::Null))
        }
        shape => ("shape".to_owned(), shape),
    }
}

/// Returns a shape as the list that is written.
pub(super) fn shape(extents: &[Extent]) -> Value {
    let extent = |extent: &Extent| match extent {
        Extent::Fixed(size) => Value::from(*size),
        Extent::Unlimited => Value::Null,
        Extent::Coord(name) => Value::from(&**name),
    };
    Value::List(extents.iter().map(extent).collect())
}

fn numbers(extents: &[u64]) -> Value {
    Value::List(extents.iter().copied().map(Value::from).collect())
}

/// Returns a datatype as the value that is written. Recursive for nested datatypes.
pub(super) fn datatype(datatype: &Datatype) -> Value {
    if let Some(word) = datatype.word() {
        return Value::from(word);
    }
    let (key, body) = match datatype {
        Datatype::Opaque { size, tag } => {
            let mut body = vec![("size".to_owned(), Value::from(*size))];
            body.extend(tag.as_ref().map(|tag| ("tag".to_owned(), Value::from(&**tag))));
            ("opaque", Value::Map(body))
        }
        Datatype::Enum { base, members } => {
            let mut body = Vec::new();
            body.extend(base.map(|base| ("base".to_owned(), Value::from(base.word()))));
            let members = members.iter().map(|(name, number)| (name.clone(), integer(*number)));
            body.push(("members".to_owned(), Value::Map(members.collect())));
            ("enum", Value::Map(body))
        }
        Datatype::RegRef { selection } => {
            ("regref", Value::Map(vec![("selection".to_owned(), Value::from(selection.word()))]))
        }
        Datatype::Compound(members) => {
            let member = |(name, member): &(String, Datatype)| {
                Value::Map(vec![(name.clone(), self::datatype(member))])
            };
            ("compound", Value::List(members.iter().map(member).collect()))
        }
        Datatype::Vlen(base) => {
            ("vlen", Value::Map(vec![("base".to_owned(), self::datatype(base))]))
        }
        Datatype::Array { base, shape } => {
            let body = vec![
                ("base".to_owned(), self::datatype(base)),
                ("shape".to_owned(), numbers(shape)),
            ];
            ("array", Value::Map(body))
        }
        // Every other datatype has a word.
        _ => return Value::Null,
    };
    Value::Map(vec![(key.to_owned(), body)])
}

/// Returns the number of an enum member; as text if it does not fit 64 bits.
fn integer(number: i128) -> Value {
    Value::of_integer(number).unwrap_or_else(|| Value::String(number.to_string()))
}

fn storage(stored: Option<&Storage>, is_dimcoord: bool) -> Option<(String, Value)> {
    const ORDER: [&str; 7] =
        ["shape", "order", "chunk", "filter", "endian", "charset", "fillvalue"];
    let stored = stored?;
    let known = ORDER.iter().filter_map(|key| match (*key, stored.get(key)?) {
        ("shape", shape) => Some(extents(shape, is_dimcoord)),
        (key, value) => Some((key.to_owned(), value)),
    });
    let entries = known.chain(stored.other.iter().cloned()).collect();
    Some(("storage".to_owned(), Value::Map(entries)))
}

impl Storage {
    /// Returns the value of a key of the language, if it is set.
    pub(crate) fn get(&self, key: &str) -> Option<Value> {
        match key {
            "shape" => self.shape.as_deref().map(numbers),
            "order" => (self.order != Order::Column).then(|| Value::from(self.order.word())),
            "chunk" => self.chunk.as_deref().map(numbers),
            "filter" => (!self.filter.is_empty()).then(|| Value::List(self.filter.clone())),
            "endian" => self.endian.map(|endian| Value::from(endian.word())),
            "charset" => self.charset.as_deref().map(Value::from),
            "fillvalue" => self.fillvalue.clone(),
            _ => None,
        }
    }
}

/// Writes a value as a document.
pub(super) fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Map(map) if !map.is_empty() => block_map(&mut out, map, 0, false),
        Value::List(list) if !list.is_empty() && !is_flow(list) => block_list(&mut out, list, 0),
        other => {
            inline(&mut out, other, 0);
            out.push('\n');
        }
    }
    out
}

/// Writes a value on one line, in a form that is valid both in a block and in brackets.
pub(super) fn to_flow(value: &Value) -> String {
    let mut out = String::new();
    flow(&mut out, value, None);
    out
}

/// Writes a value in brackets. A long list continues on the next line, indented deeper than the key at `indent`.
/// Recursive for nested values.
fn flow(out: &mut String, value: &Value, indent: Option<usize>) {
    match value {
        Value::List(list) => {
            let line = indent.and_then(|_| out.rfind('\n')).map_or(0, |at| at + 1);
            let mut column = out.len() - line;
            out.push('[');
            for (at, value) in list.iter().enumerate() {
                let begin = out.len();
                flow(out, value, indent);
                let width = out.get(begin..).map_or(0, |text| text.chars().count());
                column += width + 2;
                match indent {
                    _ if at == 0 => {}
                    Some(indent) if column > WIDTH => {
                        out.insert_str(begin, &format!(",\n{:1$}", "", indent + 2));
                        column = indent + 4 + width;
                    }
                    _ => out.insert_str(begin, ", "),
                }
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (at, (key, value)) in map.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&scalar_text(key, true));
                out.push_str(": ");
                flow(out, value, indent);
            }
            out.push('}');
        }
        scalar => atom(out, scalar, true),
    }
}

/// Writes the entries of a mapping; the first one continues the line if it is already `begun`.
pub(super) fn block_map(out: &mut String, map: &[(String, Value)], indent: usize, begun: bool) {
    for (at, (text, value)) in map.iter().enumerate() {
        if at > 0 || !begun {
            spaces(out, indent);
        }
        key(out, text, indent);
        out.push(':');
        after_key(out, value, indent);
    }
}

/// Writes a key and its colon on a line that is already begun.
pub(super) fn key(out: &mut String, key: &str, indent: usize) {
    let text = scalar_text(key, false);
    if text.len() > MAX_KEY {
        out.push_str("? ");
        out.push_str(&text);
        out.push('\n');
        spaces(out, indent);
    } else {
        out.push_str(&text);
    }
}

fn after_key(out: &mut String, value: &Value, indent: usize) {
    let inner = indent + 2;
    match value {
        Value::Map(map) if !map.is_empty() => {
            out.push('\n');
            block_map(out, map, inner, false);
        }
        Value::List(list) if !list.is_empty() && !is_flow(list) => {
            out.push('\n');
            block_list(out, list, inner);
        }
        Value::String(text) if is_literal(text) => literal(out, text, inner),
        other => {
            out.push(' ');
            inline(out, other, inner);
            out.push('\n');
        }
    }
}

fn block_list(out: &mut String, list: &[Value], indent: usize) {
    let inner = indent + 2;
    for value in list {
        spaces(out, indent);
        match value {
            Value::Map(map) if !map.is_empty() => {
                out.push_str("- ");
                block_map(out, map, inner, true);
            }
            Value::List(list) if !list.is_empty() && !is_flow(list) => {
                out.push_str("-\n");
                block_list(out, list, inner);
            }
            other => {
                out.push_str("- ");
                inline(out, other, inner);
                out.push('\n');
            }
        }
    }
}

/// Returns whether a list is written in brackets: always if it contains scalars, and if it is short for nested lists.
fn is_flow(list: &[Value]) -> bool {
    let scalar = |value: &Value| match value {
        Value::List(list) => list.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => true,
    };
    list.iter().all(scalar) || flow_width(list, SHORT).is_some()
}

/// Returns the width of a list in brackets, with one more space for each bracket, if it is at most `limit`; `None` for
/// mappings.
fn flow_width(list: &[Value], limit: usize) -> Option<usize> {
    list.iter().try_fold(2, |width, value| {
        let inner = match value {
            Value::List(list) => flow_width(list, limit)?,
            Value::Map(map) if !map.is_empty() => return None,
            other => to_flow(other).chars().count(),
        };
        Some(width + inner + 2).filter(|width| *width <= limit)
    })
}

/// Writes the rest of a line: a scalar, an empty collection or a flow list.
fn inline(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::List(_) => flow(out, value, Some(indent)),
        other => atom(out, other, false),
    }
}

/// Writes a scalar, or an empty list or mapping.
fn atom(out: &mut String, value: &Value, in_flow: bool) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => push(out, number),
        Value::UInt(number) => push(out, number),
        Value::Float(number) => out.push_str(&float(*number)),
        Value::String(text) => out.push_str(&scalar_text(text, in_flow)),
        Value::List(_) => out.push_str("[]"),
        Value::Map(_) => out.push_str("{}"),
    }
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{value}");
}

/// Returns the shortest decimal number that reads back as the same float, in YAML 1.1 too: with a point, and a sign in
/// the exponent.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = format!("{number:?}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// Returns a text unquoted if every reader reads it as this text, or else in double quotes.
pub(super) fn scalar_text(text: &str, in_flow: bool) -> String {
    if is_plain(text, in_flow) { text.to_owned() } else { quoted(text) }
}

/// Returns whether a text needs no quotes. When in doubt, it does.
pub(super) fn is_plain(text: &str, in_flow: bool) -> bool {
    let Some(first) = text.chars().next() else { return false };
    // Readers disagree whether non-ASCII white space at the ends belongs to the text.
    if first.is_whitespace() || text.ends_with(|last: char| last.is_whitespace() || last == ':') {
        return false;
    }
    if "-?:,[]{}#&*!|>'\"%@`=<~".contains(first) {
        return false;
    }
    if text.contains(|character| must_escape(character) || character == '\n') {
        return false;
    }
    if text.contains(": ") || text.contains(" #") {
        return false;
    }
    // In brackets, some readers recognize an indicator even in the middle of a text.
    if in_flow && (text.contains([',', '[', ']', '{', '}', ':', '?']) || text.contains(" -")) {
        return false;
    }
    !is_word(text) && !like_number(text) && matches!(scalar::resolve(text), Ok(None))
}

/// Returns whether a text is a boolean or null of YAML 1.1, in any case.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    text.len() <= 5 && WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Returns whether a text could be a number, date or time of YAML 1.1, judging by its first and its other characters.
fn like_number(text: &str) -> bool {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return false;
    }
    let special = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    matches!(special.as_str(), ".inf" | ".nan")
        || text.bytes().all(|byte| {
            byte.is_ascii_hexdigit()
                || matches!(
                    byte,
                    b'x' | b'o' | b'_' | b':' | b'+' | b'-' | b'.' | b'T' | b't' | b'Z' | b' '
                )
        })
}

/// Returns whether a character must be escaped: readers refuse or change it, or it is invisible.
fn must_escape(character: char) -> bool {
    (character.is_control() && character != '\n')
        || matches!(character,
            '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{FFFE}' | '\u{FFFF}'
            | '\u{E0000}'..='\u{E007F}')
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            other if must_escape(other) => match u32::from(other) {
                code @ ..=0xFF => push(&mut out, format_args!("\\x{code:02X}")),
                code @ ..=0xFFFF => push(&mut out, format_args!("\\u{code:04X}")),
                code => push(&mut out, format_args!("\\U{code:08X}")),
            },
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Returns whether a text of several lines can be a literal block without loss.
fn is_literal(text: &str) -> bool {
    let blank = |line: &str| !line.is_empty() && line.trim().is_empty();
    text.contains('\n')
        && !text.starts_with(|first: char| first.is_whitespace() || first == '#')
        && !text.contains(|character| must_escape(character) && character != '\t')
        && !text.split('\n').any(blank)
}

fn literal(out: &mut String, text: &str, indent: usize) {
    let body = text.trim_end_matches('\n');
    out.push_str(match text.len() - body.len() {
        0 => " |-\n",
        1 => " |\n",
        _ => " |+\n",
    });
    let lines = text.strip_suffix('\n').unwrap_or(text);
    for line in lines.split('\n') {
        if !line.is_empty() {
            spaces(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}

fn spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

/// The line that begins the dimension coordinates of a group.
pub(crate) const DIMCOORDS: &str = "  dimcoords:\n";
/// The line that begins the arrays of a group.
pub(crate) const NDARRAYS: &str = "  ndarrays:\n";

/// Appends the beginning of a group: its path and its attributes. Sections follow.
pub(crate) fn push_group(out: &mut String, path: &str, facts: &[Attribute]) {
    key(out, path, 0);
    out.push_str(":\n");
    block_map(out, &attributes(facts), 2, false);
}

/// Appends an entity of a section.
pub(crate) fn push_entity(out: &mut String, it: Entity<'_>) {
    block_map(out, &[(it.array().name.clone(), entity(it))], 4, false);
}

/// Returns whether a text is exactly the canonical text of this document.
pub(crate) fn is_written_so(document: &Document, text: &str) -> bool {
    if document.groups.is_empty() {
        return text == "{}\n";
    }
    let (mut rest, mut piece) = (text, String::new());
    let mut goes_on = |write: &dyn Fn(&mut String)| {
        piece.clear();
        write(&mut piece);
        let behind = rest.strip_prefix(piece.as_str());
        rest = behind.unwrap_or(rest);
        behind.is_some()
    };
    document.form == Form::Grouped
        && document.groups.iter().all(|group| {
            let Group { path, attributes, dimcoords, ndarrays } = group;
            goes_on(&|out| push_group(out, path, attributes))
                && (dimcoords.is_empty() || goes_on(&|out| out.push_str(DIMCOORDS)))
                && dimcoords.iter().all(|it| goes_on(&|out| push_entity(out, Entity::DimCoord(it))))
                && (ndarrays.is_empty() || goes_on(&|out| out.push_str(NDARRAYS)))
                && ndarrays.iter().all(|it| goes_on(&|out| push_entity(out, Entity::Ndarray(it))))
        })
        && rest.is_empty()
}
