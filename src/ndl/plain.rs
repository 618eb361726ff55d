//! A fast reader for descriptions of one array that are written exactly as
//! [`Document::to_yaml`](super::Document::to_yaml) writes them, with a one-word type and values on one line each.
//!
//! Any other text, even if it differs by one space, is left to the parser. A property test and the fuzzer check that
//! both readers agree on the complete content.

use std::iter;

use super::datatype::Datatype;
use super::model::{Attribute, Extent, Ndarray, Order, Storage};
use super::parse::coord_fault;
use super::value::Value;
use super::{scalar, validate, write};

/// The first line of a description of an array.
const NDARRAYS: &str = "ndarrays:";
/// The first line of a description of a dimension coordinate.
const DIMCOORDS: &str = "dimcoords:";
/// Length of the longest list between the brackets, in bytes: the writer never wraps a shorter one.
const MAX_LIST: usize = 60;
/// Length of the longest name, in bytes.
const MAX_NAME: usize = 255;
/// Most attributes: each name is compared with those before it.
const MAX_ATTRIBUTES: usize = 32;
/// Most elements of an array, small enough that the number of bytes cannot overflow.
const MAX_ELEMENTS: u64 = 1 << 48;

/// A description in the most common layout, as parts of its text. Reading it is much faster than parsing YAML.
///
/// ```
/// use ra_pack::ndl::PlainDescription;
///
/// let text = "ndarrays:\n  z:\n    shape: [10, time]\n    type: float64\n";
/// let plain = PlainDescription::read(text).unwrap();
/// assert_eq!(plain.name(), "z");
/// assert_eq!(plain.extents().collect::<Vec<_>>(), [Ok(10), Err("time")]);
/// assert_eq!(PlainDescription::read("ndarrays: {}\n"), None); // for the parser
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainDescription<'t> {
    is_dimcoord: bool,
    /// The name as it is written, in quotes if it needs them.
    key: &'t str,
    /// The text between the brackets of a shape, or the size of a dimcoord.
    extents: &'t str,
    datatype: Datatype,
    /// The lines of the attributes, each indented by six spaces or more.
    attributes: &'t str,
    /// The lines of the storage, each indented by six spaces.
    storage: &'t str,
    order: Order,
}

impl<'t> PlainDescription<'t> {
    /// Reads a text in this layout; `None` for any other, which only [`parse`](super::parse) can read.
    pub fn read(text: &'t str) -> Option<Self> {
        Self::read_again(text).filter(|this| this.check().is_some())
    }

    /// Reads a text that [`PlainDescription::read`] accepted, without checking it again. The result is unspecified for
    /// any other text.
    pub(crate) fn read_again(text: &'t str) -> Option<Self> {
        let mut rest = text;
        let is_dimcoord = match next_line(&mut rest)? {
            NDARRAYS => false,
            DIMCOORDS => true,
            _ => return None,
        };
        let key = next_line(&mut rest)?.strip_prefix("  ")?.strip_suffix(':')?;
        let (mut extents, mut datatype) = (None, None);
        for _ in 0..2 {
            let line = next_line(&mut rest)?.strip_prefix("    ")?;
            match line.split_once(": ")? {
                ("shape", list) if !is_dimcoord && extents.is_none() => {
                    extents = Some(list.strip_prefix('[')?.strip_suffix(']')?);
                }
                ("size", size) if is_dimcoord && extents.is_none() => extents = Some(size),
                ("type", word) if datatype.is_none() => datatype = Some(number_type(word)?),
                _ => return None,
            }
        }
        let attributes = section(&mut rest, "    attributes:\n")?;
        let storage = section(&mut rest, "    storage:\n")?;
        let order = storage.strip_prefix("      order: ").and_then(|word| word.split_once('\n'));
        let order = order.map_or(Some(Order::Column), |(word, _)| Order::from_word(word))?;
        let (extents, datatype) = (extents?, datatype?);
        let this = Self { is_dimcoord, key, extents, datatype, attributes, storage, order };
        rest.is_empty().then_some(this)
    }

    /// Returns the parts of the text before and after the name. Together they are the body, which is the same for
    /// arrays that differ in nothing else.
    pub(crate) fn around_name<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let (head, rest) = text.split_at_checked(Self::name_at(self.is_dimcoord))?;
        Some((head, rest.strip_prefix(self.key)?))
    }

    /// Returns the result of [`PlainDescription::read`] for the text with the name `key` in this body.
    pub(crate) fn of_body(body: &'t str, key: &'t str) -> Option<Self> {
        Some(Self { key, ..Self::read_again(body)? })
    }

    /// Returns the text for a body and a name as it is written.
    pub(crate) fn text_of(body: &str, key: &str) -> String {
        let at = Self::name_at(body.starts_with(DIMCOORDS));
        let (head, rest) = body.split_at_checked(at).unwrap_or_default();
        [head, key, rest].concat()
    }

    /// Returns the offset of the name: below the first line, after two spaces.
    fn name_at(is_dimcoord: bool) -> usize {
        let section = if is_dimcoord { DIMCOORDS } else { NDARRAYS };
        section.len() + "\n  ".len()
    }

    /// Checks that each part is exactly as the writer writes it and has one meaning.
    fn check(&self) -> Option<()> {
        let name = self.name();
        let is_name = is_key(self.key) && !matches!(name, "." | "..") && !name.contains('/');
        self.check_extents().filter(|()| is_name)?;
        check_attributes(self.attributes)?;
        let mut storage = self.storage;
        if self.order != Order::Column {
            next_line(&mut storage).filter(|_| !self.is_dimcoord)?;
        }
        if !storage.is_empty() {
            let value = next_line(&mut storage)?.strip_prefix("      fillvalue: ")?;
            validate::scalar(&scalar(value, false)?, &self.datatype).ok()?;
        }
        storage.is_empty().then_some(())
    }

    fn check_extents(&self) -> Option<()> {
        if self.extents.len() > MAX_LIST {
            return None;
        }
        let (mut elements, mut count) = (1_u64, 0);
        for extent in items(self.extents) {
            count += 1;
            if matches!(scalar(extent, true)?, Value::String(_)) {
                coord_fault(unquoted(extent)).is_none().then_some(())?;
                continue;
            }
            // A length of 0 must not hide an overflow of the others.
            elements = elements.checked_mul(u64::max(extent.parse().ok()?, 1))?;
        }
        let is_size = count == 1 && self.extents != "0" && self.names().next().is_none();
        (elements <= MAX_ELEMENTS && (is_size || !self.is_dimcoord)).then_some(())
    }

    /// Returns whether it describes a dimension coordinate.
    pub fn is_dimcoord(&self) -> bool {
        self.is_dimcoord
    }

    /// Returns the name of the array.
    pub fn name(&self) -> &'t str {
        unquoted(self.key)
    }

    /// Returns the name as it is written.
    pub(crate) fn key(&self) -> &'t str {
        self.key
    }

    /// Returns the length of each dimension, or the name of the coordinate that has this length.
    pub fn extents(&self) -> impl Iterator<Item = Result<u64, &'t str>> + use<'t> {
        items(self.extents).map(|extent| extent.parse().map_err(|_| unquoted(extent)))
    }

    /// Returns the names of coordinates in the shape.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        self.extents().filter_map(Result::err)
    }

    /// Returns the element type.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// Returns the order of elements.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns the array as a model.
    pub(crate) fn ndarray(&self) -> Ndarray {
        let coordinate = |name: &str| Extent::Coord(name.to_owned());
        let extents = self.extents().map(|extent| extent.map_or_else(coordinate, Extent::Fixed));
        let fillvalue = self.storage.split_once("fillvalue: ").map(|(_, text)| text.trim_end());
        let fillvalue = fillvalue.map(value);
        let storage = Storage { fillvalue, order: self.order, ..Storage::default() };
        Ndarray {
            name: self.name().to_owned(),
            shape: extents.collect(),
            datatype: self.datatype.clone(),
            value: None,
            attributes: self.lines().map(AttributeLines::attribute).collect(),
            storage: (!self.storage.is_empty()).then_some(storage),
        }
    }

    /// Returns the attribute of that name if it is text and not a number.
    pub(crate) fn text(&self, name: &str) -> Option<&'t str> {
        let AttributeLines { value, .. } = self.lines().find(|lines| lines.name == name)?;
        let is_text = value.starts_with('"') || matches!(scalar::resolve(value), Ok(None));
        (is_text && !value.starts_with('[')).then(|| unquoted(value))
    }

    /// Returns the attributes as they are written.
    fn lines(&self) -> impl Iterator<Item = AttributeLines<'t>> + use<'t> {
        let mut lines = self.attributes.lines().map(str::trim_start);
        iter::from_fn(move || {
            let (key, value) = split_key(lines.next()?)?;
            let name = unquoted(key);
            if let Some(value) = value.strip_prefix(' ') {
                return Some(AttributeLines { name, datatype: None, value });
            }
            let (_, word) = lines.nth(1)?.split_once(": ")?;
            let (_, value) = lines.next()?.split_once(": ")?;
            let datatype = Datatype::from_word(word).expect("the word was checked");
            Some(AttributeLines { name, datatype: Some(datatype), value })
        })
    }

    /// Returns the names of the attributes.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        self.lines().map(|lines| lines.name)
    }

    /// Returns whether there is an attribute of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.attributes().any(|other| other == name)
    }

    /// Replaces the text between the brackets of the shape, unless the new one is empty.
    pub(crate) fn with_extents(self, extents: &'t str) -> Self {
        Self { extents: if extents.is_empty() { self.extents } else { extents }, ..self }
    }

    /// Appends the entity unchanged, but with the name `name`, to a group of a grouped document.
    pub(crate) fn push_to_group(&self, name: &str, out: &mut String) {
        let mut put = |parts: &[&str]| parts.iter().for_each(|part| out.push_str(part));
        put(&["    ", &write::scalar_text(name, false), ":\n"]);
        if self.is_dimcoord {
            put(&["      size: ", self.extents, "\n"]);
        } else {
            put(&["      shape: [", self.extents, "]\n"]);
        }
        put(&["      type: ", self.datatype.word().unwrap_or_default(), "\n"]);
        for (head, lines) in [("attributes", self.attributes), ("storage", self.storage)] {
            if !lines.is_empty() {
                put(&["      ", head, ":\n"]);
                lines.lines().for_each(|line| put(&["  ", line, "\n"]));
            }
        }
    }

    /// Returns the text between the brackets of a shape, if the writer does not wrap it.
    pub(crate) fn shape_text(
        extents: impl Iterator<Item = Result<u64, impl AsRef<str>>>,
    ) -> Option<String> {
        let extent = |extent: Result<u64, _>| match extent {
            Ok(length) => length.to_string(),
            Err(name) => write::scalar_text(AsRef::as_ref(&name), true),
        };
        let text = extents.map(extent).collect::<Vec<_>>().join(", ");
        (text.len() <= MAX_LIST).then_some(text)
    }
}

/// An attribute as it is written.
struct AttributeLines<'t> {
    name: &'t str,
    /// `None` in the short form.
    datatype: Option<Datatype>,
    value: &'t str,
}

impl AttributeLines<'_> {
    fn attribute(self) -> Attribute {
        let (name, value) = (self.name.to_owned(), value(self.value));
        let short = self.datatype.is_none();
        let datatype = self.datatype.or_else(|| Datatype::of_scalar(&value));
        let datatype = datatype.expect("the value is a number or text");
        let shape = match &value {
            Value::List(list) => vec![list.len() as u64],
            _ => Vec::new(),
        };
        Attribute { name, shape, datatype, value, storage: None, short }
    }
}

/// Returns a value that the writer writes on one line: a scalar or a list of scalars.
fn value(text: &str) -> Value {
    if let Some(list) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return Value::List(items(list).map(value).collect());
    }
    let is_quoted = text.starts_with('"');
    let number = scalar::resolve(text).ok().flatten().filter(|_| !is_quoted);
    number.unwrap_or_else(|| Value::from(unquoted(text)))
}

/// Takes the next line, which must end in a single line feed.
fn next_line<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let (line, after) = rest.split_once('\n')?;
    *rest = after;
    Some(line)
}

/// Takes the lines of a section, each indented by six spaces or more, if this line begins it.
fn section<'t>(rest: &mut &'t str, head: &str) -> Option<&'t str> {
    let Some(all) = rest.strip_prefix(head) else { return Some("") };
    *rest = all;
    while rest.starts_with("      ") {
        next_line(rest)?;
    }
    all.get(..all.len() - rest.len()).filter(|lines| !lines.is_empty())
}

/// Splits a line into the key as it is written, and the text after the colon.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let end = match line.strip_prefix('"') {
        Some(inner) => inner.find('"')? + 2,
        None => line.find(": ").or_else(|| line.strip_suffix(':').map(str::len))?,
    };
    let (key, rest) = line.split_at_checked(end)?;
    Some((key, rest.strip_prefix(':')?))
}

/// Returns the text of a scalar that the writer writes.
fn unquoted(scalar: &str) -> &str {
    let inner = scalar.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(scalar)
}

/// Returns whether a key is a name exactly as the writer writes it on one line.
fn is_key(key: &str) -> bool {
    let is_named = !unquoted(key).is_empty() && key.len() <= MAX_NAME;
    is_named && matches!(scalar(key, false), Some(Value::String(_)))
}

fn number_type(word: &str) -> Option<Datatype> {
    Datatype::from_word(word)
        .filter(|datatype| !matches!(datatype, Datatype::String | Datatype::ObjRef))
}

/// Returns the scalars of a list. Anything wrong after a closing quote belongs to the scalar.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(list).filter(|list| !list.is_empty());
    iter::from_fn(move || {
        let list = rest?;
        let end = match list.strip_prefix('"') {
            Some(inner) => inner.find('"').map(|end| end + 2),
            None => list.find(", "),
        };
        let split = end.and_then(|end| list.split_at_checked(end));
        let next = split.and_then(|(item, after)| Some((item, after.strip_prefix(", ")?)));
        rest = next.map(|(_, after)| after);
        Some(next.map_or(list, |(item, _)| item))
    })
}

/// Checks that each attribute is exactly as the writer writes it.
fn check_attributes(lines: &str) -> Option<()> {
    let (mut rest, mut keys) = (lines, Vec::new());
    while !rest.is_empty() {
        let (key, value) = split_key(next_line(&mut rest)?.strip_prefix("      ")?)?;
        if keys.contains(&key) || keys.len() >= MAX_ATTRIBUTES || !is_key(key) {
            return None;
        }
        keys.push(key);
        match value.strip_prefix(' ') {
            Some(value) => drop(scalar(value, false)?),
            None if value.is_empty() => check_typed(&mut rest)?,
            None => return None,
        }
    }
    Some(())
}

/// Checks the lines of an attribute with a datatype: a scalar or a list.
fn check_typed(rest: &mut &str) -> Option<()> {
    let mut field = |name| next_line(rest)?.strip_prefix("        ")?.strip_prefix(name);
    let shape = field("shape: [")?.strip_suffix(']')?;
    let datatype = Datatype::from_word(field("type: ")?)?;
    let value = field("value: ")?;
    let is_one = datatype.integer().is_some()
        || matches!(datatype, Datatype::Float32 | Datatype::Float64 | Datatype::String);
    let fits = |text, in_flow| {
        Some(validate::scalar(&scalar(text, in_flow)?, &datatype).is_ok() && is_one)
    };
    if shape.is_empty() {
        return fits(value, false)?.then_some(());
    }
    let list = value.strip_prefix('[')?.strip_suffix(']').filter(|list| list.len() <= MAX_LIST)?;
    let mut count = 0_u64;
    for item in items(list) {
        count += 1;
        fits(item, true)?.then_some(())?;
    }
    (count > 0 && shape == count.to_string()).then_some(())
}

/// Reads a scalar that is exactly as the writer writes it, without escapes. The value of a text is empty.
fn scalar(text: &str, in_flow: bool) -> Option<Value> {
    match scalar::resolve(text) {
        _ if text.starts_with('"') => {
            let inner = text.strip_prefix('"')?.strip_suffix('"')?;
            (write::scalar_text(inner, in_flow) == text).then(String::new).map(Value::String)
        }
        Ok(None) => write::is_plain(text, in_flow).then(String::new).map(Value::String),
        Ok(Some(Value::Int(number))) => (number.to_string() == text).then_some(Value::Int(number)),
        Ok(Some(Value::UInt(number))) => {
            (number.to_string() == text).then_some(Value::UInt(number))
        }
        Ok(Some(Value::Float(number))) => {
            (write::float(number) == text).then_some(Value::Float(number))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Document, Form, parse, strategies};
    use super::*;

    /// Returns whether this reader accepts the text, after checking that both readers agree.
    fn agrees(text: &str) -> Result<bool, TestCaseError> {
        let Some(plain) = PlainDescription::read(text) else { return Ok(false) };
        let parsed = parse(text.as_bytes());
        prop_assert_eq!(&parsed.findings, &[], "{}", text);
        prop_assert_eq!(parsed.unresolved.len(), plain.names().count());
        let mut document = parsed.document.unwrap();
        let array = plain.ndarray();
        for attribute in &array.attributes {
            let expected = attribute.value.as_str();
            prop_assert_eq!(plain.text(&attribute.name), expected, "{}", text);
        }
        let names = array.attributes.iter().map(|attribute| &*attribute.name);
        prop_assert!(plain.attributes().eq(names));
        prop_assert_eq!(&document, &Document::of(array, plain.is_dimcoord()), "{}", text);
        prop_assert_eq!(plain.text("no such attribute"), None);
        // In a group of a grouped document, too, it is exactly as the writer writes it.
        document.form = Form::Grouped;
        let section = if plain.is_dimcoord() { "dimcoords" } else { "ndarrays" };
        let mut written = format!("/:\n  {section}:\n");
        plain.push_to_group(plain.name(), &mut written);
        prop_assert_eq!(written, document.to_yaml());
        // Only the name changes.
        let (head, rest) = plain.around_name(text).unwrap();
        let body = [head, rest].concat();
        prop_assert_eq!(PlainDescription::of_body(&body, plain.key()), Some(plain.clone()));
        prop_assert_eq!(PlainDescription::text_of(&body, plain.key()), text);
        Ok(true)
    }

    #[test]
    fn common_descriptions_are_plain() {
        for text in [
            "ndarrays:\n  a:\n    shape: []\n    type: uint8\n",
            "ndarrays:\n  a1:\n    type: float16\n    shape: [2, 0, 3]\n",
            "dimcoords:\n  time:\n    size: 5\n    type: float64\n    attributes:\n      \
             units: hours since 2024-06-03T00:00:00Z\n      axis: T\n",
            "ndarrays:\n  a:\n    shape: [2, 3]\n    type: int16\n    attributes:\n      \
             long_name: temperature, of the water: it's °C\n      n: -12\n      x: 0.5\n    \
             storage:\n      order: row\n",
        ] {
            assert_eq!(agrees(text).unwrap(), !text.contains("water:"), "{text}");
        }
        let text = |name: &str| format!("ndarrays:\n  {name}:\n    shape: [2]\n    type: int16\n");
        for name in ["\"000\"", "\"2024-06-03\"", "a b", "\"12:30:45\"", "\"no\"", "é", "\"- x\""]
        {
            assert!(agrees(&text(name)).unwrap(), "{name}");
        }
        let end = "    storage:\n      order: row\n      fillvalue: -999\n";
        for (shape, datatype, value) in [
            ("shape: [2]", "type: int64", "value: [-5, 40]"),
            ("shape: [3]", "type: string", "value: [good, \"no\", \"a, b\"]"),
            ("shape: []", "type: float32", "value: .nan"),
            ("shape: []", "type: string", "value: \"1\""),
        ] {
            let text = text("a").replace("int16\n", &typed(shape, datatype, value)) + end;
            assert!(
                agrees(&text.replace("[2]\n    t", "[time, /g/\u{e9}, 3]\n    t")).unwrap(),
                "{text}"
            );
        }
    }

    /// Returns the end of a description with one attribute that has a datatype.
    fn typed(shape: &str, datatype: &str, value: &str) -> String {
        let lines = [shape, datatype, value].map(|line| format!("        {line}\n")).concat();
        format!("int16\n    attributes:\n      a:\n{lines}")
    }

    #[test]
    fn a_text_that_differs_by_a_space_is_for_the_parser() {
        let text = "ndarrays:\n  a:\n    shape: [2, 3]\n    type: int16\n";
        assert!(agrees(text).unwrap());
        for (from, to) in [
            ("ndarrays:", "ndarrays: "),
            ("  a:", "  no:"),
            ("  a:", "  a/b:"),
            ("[2, 3]", "[2,3]"),
            ("[2, 3]", "[02, 3]"),
            ("[2, 3]", "[2, -3]"),
            ("[2, 3]", "[2, +3]"),
            ("[2, 3]", "[2, null]"),
            ("[2, 3]", "[2, no]"),
            ("[2, 3]", "[2, a/b]"),
            ("[2, 3]", "[2, /a//b]"),
            ("[2, 3]", "[2, \"t\"]"),
            ("[2, 3]", "[2, \"5\"x]"),
            ("  a:", "  \"a\":"),
            ("  a:", "  \"1\\t\":"),
            ("  a:", "  1:"),
            ("  a:", "  \"..\":"),
            ("[2, 3]", "[2, ]"),
            ("[2, 3]", "[4294967296, 4294967296]"),
            ("int16", "int16 "),
            ("int16", "int17"),
            ("int16", "string"),
            ("int16\n", "int16"),
            ("int16\n", "int16\n\n"),
            ("int16\n", "int16\r\n"),
            ("    type", "    type: int8\n    type"),
            ("int16\n", "int16\n    attributes:\n"),
            ("int16\n", "int16\n    attributes:\n      a: 1\n      a: 2\n"),
            ("int16\n", "int16\n    attributes:\n      a: yes\n"),
            ("int16\n", "int16\n    attributes:\n      a: true\n"),
            ("int16\n", "int16\n    attributes:\n      a: 1.50\n"),
            ("int16\n", "int16\n    attributes:\n      a: &b c\n"),
            ("int16\n", "int16\n    storage:\n      order: column\n"),
            ("int16\n", "int16\n    storage:\n      fillvalue: 40000\n"),
            ("int16\n", "int16\n    storage:\n      fillvalue: 1.5\n"),
            ("int16\n", "int16\n    storage:\n      fillvalue: 1\n      order: row\n"),
            ("int16\n", &typed("shape: [2]", "type: int8", "value: [1, 2, 3]")),
            ("int16\n", &typed("shape: [1]", "type: int8", "value: [300]")),
            ("int16\n", &typed("shape: [1]", "type: int8", "value: [a]")),
            ("int16\n", &typed("shape: [1]", "type: string", "value: [1]")),
            ("int16\n", &typed("shape: []", "type: string", "value: [a]")),
            ("int16\n", &typed("shape: [1]", "value: [1]", "type: int8")),
            ("int16\n", "int16\n  b:\n    shape: []\n    type: int8\n"),
        ] {
            let other = text.replace(from, to);
            assert_eq!(PlainDescription::read(&other), None, "{other}");
        }
    }

    fn plain_text() -> impl Strategy<Value = String> {
        let name = prop_oneof!["[a-zA-Z_][a-zA-Z0-9_]{0,8}", strategies::text()];
        let extent = prop_oneof![0..5_u64, any::<u64>(), 0..2_000_000_u64];
        let extents = proptest::collection::vec(extent, 0..5);
        let word = proptest::sample::select(vec![
            "int8",
            "uint64",
            "float32",
            "float16",
            "complex128",
            "string",
            "objref",
            "int",
        ]);
        let value = prop_oneof![
            strategies::text(),
            any::<i64>().prop_map(|number| number.to_string()),
            any::<f64>().prop_map(write::float),
            "[a-zA-Z][ -~é]{0,20}",
        ];
        let attributes = proptest::collection::vec((name.clone(), value), 0..4);
        let order = proptest::sample::select(vec!["", "row", "row-unreversed", "column"]);
        (any::<bool>(), name, extents, word, attributes, order).prop_map(
            |(is_dimcoord, name, extents, word, attributes, order)| {
                let list: Vec<_> = extents.iter().map(u64::to_string).collect();
                let (section, shape) = match (is_dimcoord, list.first()) {
                    (true, Some(size)) => ("dimcoords", format!("size: {size}")),
                    _ => ("ndarrays", format!("shape: [{}]", list.join(", "))),
                };
                let mut text = format!("{section}:\n  {name}:\n    {shape}\n    type: {word}\n");
                if !attributes.is_empty() {
                    text.push_str("    attributes:\n");
                }
                let lines =
                    attributes.iter().map(|(name, value)| format!("      {name}: {value}\n"));
                text.extend(lines);
                match order {
                    "" => text,
                    word => format!("{text}    storage:\n      order: {word}\n"),
                }
            },
        )
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![3 => "[a-z0-9_][a-zA-Z0-9_:. -]{0,9}", 1 => strategies::text()]
    }

    fn element() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(Value::Int),
            (-300..300_i64).prop_map(Value::Int),
            any::<f64>().prop_map(Value::Float),
            name().prop_map(Value::String),
        ]
    }

    prop_compose! {
        /// A document with one array, as programs write it.
        fn document()(
            is_dimcoord in proptest::bool::weighted(0.2),
            array_name in name(),
            shape in proptest::collection::vec(
                prop_oneof![(0..99_u64).prop_map(Extent::Fixed), name().prop_map(Extent::Coord)], 0..4),
            words in proptest::collection::vec(
                proptest::sample::select(vec!["int8", "uint64", "float32", "float64", "string"]), 4),
            values in proptest::collection::vec(
                (name(), 0..3_usize, proptest::collection::vec(element(), 1..4)), 0..3),
            fillvalue in proptest::option::of(element()),
            order in proptest::sample::select(Order::ALL.to_vec()),
        ) -> Document {
            let word = |at: usize| Datatype::from_word(words[at]).unwrap();
            let mut document = Document::flat();
            let attribute = |(at, (name, kind, list)): (usize, (String, usize, Vec<Value>))| {
                let scalar = list[0].clone();
                let (shape, value) = match kind {
                    0 => return Attribute::short(name, scalar).unwrap(),
                    1 => (Vec::new(), scalar),
                    _ => (vec![list.len() as u64], Value::List(list)),
                };
                Attribute { name, shape, datatype: word(at), value, storage: None, short: false }
            };
            let attributes = values.into_iter().enumerate().map(attribute).collect();
            let order = if is_dimcoord { Order::Column } else { order };
            let storage = Storage { fillvalue, order, ..Storage::default() };
            let storage = Some(storage).filter(|storage| *storage != Storage::default());
            let shape = if is_dimcoord { vec![Extent::Fixed(3)] } else { shape };
            let array = Ndarray {
                name: array_name, shape, datatype: word(3), value: None, attributes, storage,
            };
            let root = &mut document.groups[0];
            if is_dimcoord { root.dimcoords.push(array) } else { root.ndarrays.push(array) }
            document
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn valid_documents_of_programs_are_plain(document in document()) {
            let text = document.to_yaml();
            let array = document.entities().next().unwrap().1.array();
            let is_short = text.lines().all(|line| line.len() <= 60 && !line.contains(": |"));
            let has_escape = text.contains('\\');
            let is_plain = agrees(&text)?;
            let is_valid = parse(text.as_bytes()).findings.is_empty();
            let is_number = array.datatype != Datatype::String;
            prop_assert!(is_plain || !is_valid || has_escape || !is_short || !is_number, "{}", text);
        }

        #[test]
        fn both_readers_agree(
            text in plain_text(),
            change in proptest::option::of((any::<proptest::sample::Index>(), "[ -~\n]?")),
        ) {
            agrees(&text)?;
            if let Some((at, with)) = change {
                let at = at.index(text.len());
                if let (Some(before), Some(after)) = (text.get(..at), text.get(at + 1..)) {
                    agrees(&format!("{before}{with}{after}"))?;
                }
            }
        }
    }
}
