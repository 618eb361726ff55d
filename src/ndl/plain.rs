//! A fast reader for the most common descriptions: a flat document with one array, numbers in the shape, a one-word
//! type and one-line attributes, written exactly as [`Document::to_yaml`](super::Document::to_yaml) writes it.
//!
//! Any other text, even if it differs by one space, is left to the parser. A property test and the fuzzer check that
//! both readers agree.

use super::datatype::Datatype;
use super::model::{Order, Value};
use super::{node, write};

/// The first line of a description of an array.
const NDARRAYS: &str = "ndarrays:";
/// The first line of a description of a dimension coordinate.
const DIMCOORDS: &str = "dimcoords:";
/// Length of the longest shape between the brackets, in bytes: the writer never wraps a shorter one.
const MAX_SHAPE: usize = 60;
/// Most attributes: each name is compared with those before it.
const MAX_ATTRIBUTES: usize = 32;
/// Most elements of an array, small enough that the number of bytes cannot overflow.
const MAX_ELEMENTS: u64 = 1 << 48;

/// A description in the most common layout, as parts of its text. Reading it is much faster than parsing YAML.
///
/// ```
/// use ra_pack::ndl::PlainDescription;
///
/// let text = "ndarrays:\n  z:\n    shape: [10, 20]\n    type: float64\n";
/// let plain = PlainDescription::read(text).unwrap();
/// assert_eq!(plain.name(), "z");
/// assert_eq!(plain.extents().collect::<Vec<_>>(), [10, 20]);
/// assert_eq!(PlainDescription::read("ndarrays: {}\n"), None); // for the parser
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainDescription<'t> {
    is_dimcoord: bool,
    name: &'t str,
    /// The text between the brackets of a shape, or the size of a dimcoord.
    extents: &'t str,
    datatype: Datatype,
    /// The lines of the attributes, each indented by six spaces.
    attributes: &'t str,
    order: Order,
}

impl<'t> PlainDescription<'t> {
    /// Reads a text in this layout; `None` for any other, which only [`parse`](super::parse) can read.
    pub fn read(text: &'t str) -> Option<Self> {
        Self::read_again(text).filter(Self::is_sound)
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
        let name = next_line(&mut rest)?.strip_prefix("  ")?.strip_suffix(':')?;
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
        let mut attributes = "";
        if take(&mut rest, "    attributes:\n") {
            let all = rest;
            while rest.starts_with("      ") {
                next_line(&mut rest)?;
            }
            attributes = all.get(..all.len() - rest.len()).filter(|lines| !lines.is_empty())?;
        }
        let mut order = Order::Column;
        if !is_dimcoord && take(&mut rest, "    storage:\n") {
            let word = next_line(&mut rest)?.strip_prefix("      order: ")?;
            order = Order::from_word(word).filter(|order| *order != Order::Column)?;
        }
        let (extents, datatype) = (extents?, datatype?);
        let this = Self { is_dimcoord, name, extents, datatype, attributes, order };
        rest.is_empty().then_some(this)
    }

    /// Returns the parts of the text before and after the name. Together they are the body, which is the same for
    /// arrays that differ in nothing else.
    pub(crate) fn around_name<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let (head, rest) = text.split_at_checked(Self::name_at(self.is_dimcoord))?;
        Some((head, rest.strip_prefix(self.name)?))
    }

    /// Returns the result of [`PlainDescription::read`] for the text with `name` in this body.
    pub(crate) fn of_body(body: &'t str, name: &'t str) -> Option<Self> {
        Some(Self { name, ..Self::read_again(body)? })
    }

    /// Returns the text for a body and a name.
    pub(crate) fn text_of(body: &str, name: &str) -> String {
        let at = Self::name_at(body.starts_with(DIMCOORDS));
        let (head, rest) = body.split_at_checked(at).unwrap_or_default();
        [head, name, rest].concat()
    }

    /// Returns the offset of the name: below the first line, after two spaces.
    fn name_at(is_dimcoord: bool) -> usize {
        let section = if is_dimcoord { DIMCOORDS } else { NDARRAYS };
        section.len() + "\n  ".len()
    }

    /// Returns whether each part is exactly as the writer writes it and has one meaning.
    fn is_sound(&self) -> bool {
        is_name(self.name)
            && self.check_extents().is_some()
            && (self.attributes.is_empty() || check_attributes(self.attributes).is_some())
    }

    fn check_extents(&self) -> Option<()> {
        let one = self.is_dimcoord && (self.extents.contains(',') || self.extents == "0");
        if one || (self.is_dimcoord && self.extents.is_empty()) || self.extents.len() > MAX_SHAPE {
            return None;
        }
        let mut elements = 1_u64;
        for extent in split_extents(self.extents) {
            let is_canonical = extent == "0" || !extent.starts_with('0');
            let digits = extent.bytes().all(|byte| byte.is_ascii_digit());
            let extent = extent.parse().ok().filter(|_| is_canonical && digits)?;
            // A length of 0 must not hide an overflow of the others.
            elements = elements.checked_mul(u64::max(extent, 1))?;
        }
        (elements <= MAX_ELEMENTS).then_some(())
    }

    /// Returns whether it describes a dimension coordinate.
    pub fn is_dimcoord(&self) -> bool {
        self.is_dimcoord
    }

    /// Returns the name of the array.
    pub fn name(&self) -> &'t str {
        self.name
    }

    /// Returns the lengths of the dimensions, or the size of the dimension coordinate.
    pub fn extents(&self) -> impl Iterator<Item = u64> {
        // `read` has checked them.
        split_extents(self.extents).map(|extent| extent.parse().unwrap_or_default())
    }

    /// Returns the element type.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// Returns the order of elements.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns the attribute of that name if it is text and not a number.
    pub(crate) fn text(&self, name: &str) -> Option<&'t str> {
        let (_, value) = pairs(self.attributes).find(|(other, _)| *other == name)?;
        matches!(node::resolve(value), Ok(None)).then_some(value)
    }

    /// Returns the names of the attributes.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'t str> {
        pairs(self.attributes).map(|(name, _)| name)
    }

    /// Returns whether there is an attribute of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names().any(|other| other == name)
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
        if !self.attributes.is_empty() {
            put(&["      attributes:\n"]);
            for line in self.attributes.lines() {
                put(&["  ", line, "\n"]);
            }
        }
        if self.order != Order::Column {
            put(&["      storage:\n        order: ", self.order.word(), "\n"]);
        }
    }
}

/// Takes the next line, which must end in a single line feed.
fn next_line<'t>(rest: &mut &'t str) -> Option<&'t str> {
    let (line, after) = rest.split_once('\n')?;
    *rest = after;
    Some(line)
}

/// Takes the next line if it is this one.
fn take(rest: &mut &str, line: &str) -> bool {
    let after = rest.strip_prefix(line);
    *rest = after.unwrap_or(rest);
    after.is_some()
}

/// Returns whether every YAML reader reads the name as this text.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.len() <= 255
        && write::is_plain(name, false)
}

fn number_type(word: &str) -> Option<Datatype> {
    Datatype::from_word(word)
        .filter(|datatype| !matches!(datatype, Datatype::String | Datatype::ObjRef))
}

fn split_extents(list: &str) -> impl Iterator<Item = &str> {
    let is_empty = list.is_empty();
    list.split(", ").filter(move |_| !is_empty)
}

/// Checks that each line is an attribute exactly as the writer writes it.
fn check_attributes(text: &str) -> Option<()> {
    let mut rest = text;
    while !rest.is_empty() {
        let before = text.get(..text.len() - rest.len())?;
        let (name, value) = pair(next_line(&mut rest)?)?;
        let mut count = 0;
        let doubled = pairs(before).inspect(|_| count += 1).any(|(other, _)| other == name);
        if doubled || count >= MAX_ATTRIBUTES || !is_name(name) || !is_written_so(value) {
            return None;
        }
    }
    Some(())
}

fn pair(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("      ")?.split_once(": ")
}

fn pairs(lines: &str) -> impl Iterator<Item = (&str, &str)> {
    lines.lines().filter_map(pair)
}

/// Returns whether a scalar is exactly as the writer writes it, and has a short form.
fn is_written_so(value: &str) -> bool {
    match node::resolve(value) {
        Ok(None) => write::is_plain(value, false),
        Ok(Some(Value::Int(number))) => {
            let digits = value.strip_prefix('-').unwrap_or(value);
            value == "0"
                || (!digits.starts_with('0') && digits.len() <= 18 && number != 0)
                    && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        Ok(Some(Value::Float(number))) => number.is_finite() && write::float(number) == value,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Entity, Extent, Form, load, parse, strategies};
    use super::*;

    /// Returns whether this reader accepts the text, after checking that both readers agree.
    fn agrees(text: &str) -> Result<bool, TestCaseError> {
        let Some(plain) = PlainDescription::read(text) else { return Ok(false) };
        let parsed = parse(text.as_bytes());
        prop_assert_eq!(&parsed.findings, &[], "{}", text);
        prop_assert!(parsed.unresolved.is_empty());
        let mut document = parsed.document.unwrap();
        prop_assert_eq!(document.entities().count(), 1);
        let (_, entity) = document.entities().next().unwrap();
        prop_assert_eq!(matches!(entity, Entity::DimCoord(_)), plain.is_dimcoord());
        prop_assert_eq!(&*entity.array().name, plain.name());
        prop_assert_eq!(&entity.array().datatype, plain.datatype());
        prop_assert_eq!(entity.order(), plain.order());
        let extents: Vec<_> = plain.extents().map(Extent::Fixed).collect();
        prop_assert_eq!(&entity.array().shape, &extents, "{}", text);
        for attribute in &entity.array().attributes {
            let expected = match &attribute.value {
                Value::String(text) => Some(text.as_str()),
                _ => None,
            };
            prop_assert_eq!(plain.text(&attribute.name), expected, "{}", text);
        }
        prop_assert_eq!(plain.text("no such attribute"), None);
        // In a group of a grouped document, too, it is exactly as the writer writes it.
        document.form = Form::Grouped;
        let section = if plain.is_dimcoord() { "dimcoords" } else { "ndarrays" };
        let mut written = format!("/:\n  {section}:\n");
        plain.push_to_group(plain.name(), &mut written);
        let (nodes, most) = load::reckoned(&written);
        prop_assert!(nodes <= most, "{}", written);
        prop_assert_eq!(written, document.to_yaml());
        // Only the name changes.
        let (head, rest) = plain.around_name(text).unwrap();
        let body = [head, rest].concat();
        prop_assert_eq!(PlainDescription::of_body(&body, plain.name()), Some(plain.clone()));
        prop_assert_eq!(PlainDescription::text_of(&body, plain.name()), text);
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
            ("[2, 3]", "[2, t]"),
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

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
