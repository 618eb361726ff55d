//! The tree of a YAML document, with the position of every key and value. Plain scalars follow the core schema of YAML
//! 1.2: `no`, dates and `12:30:00` are strings, and `010` is ten.

use std::collections::BTreeMap;
use std::num::ParseIntError;

use super::model::Value;
use super::report::quote;
use super::source::Step;

/// A byte range of the text. 32 bits are enough for [`MAX_TEXT`](super::MAX_TEXT) and halve the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Range {
    start: u32,
    end: u32,
}

impl Range {
    pub(super) fn new(start: usize, end: usize) -> Self {
        let clamp = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end.max(start)) }
    }

    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    pub(super) fn end(self) -> usize {
        self.end as usize
    }
}

/// A value of the document.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Range,
    pub(super) kind: NodeKind,
}

#[derive(Debug, Clone)]
pub(super) enum NodeKind {
    Scalar(NodeScalar),
    List(Vec<Node>),
    Map(NodeMap),
}

#[derive(Debug, Clone)]
pub(super) struct NodeScalar {
    pub(super) text: Box<str>,
    pub(super) style: ScalarKind,
}

/// How to interpret the text of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarKind {
    /// By the core schema.
    Plain,
    /// As a string: quoted, a block, or `!!str`.
    Text,
    /// As a float, even if it is an integer: `!!float`.
    Float,
}

#[derive(Debug, Clone)]
pub(super) struct NodeKey {
    pub(super) at: Range,
    pub(super) text: Box<str>,
}

/// A mapping in the order of the text, without duplicates.
#[derive(Debug, Clone)]
pub(super) struct NodeMap {
    entries: Box<[(NodeKey, Node)]>,
    /// The indices of the entries in the order of their keys.
    sorted: Box<[u32]>,
}

impl NodeMap {
    /// Makes a mapping of the entries. Also returns the duplicates, each with the position of the first entry of its
    /// key.
    pub(super) fn new(mut entries: Vec<(NodeKey, Node)>) -> (Self, Vec<(NodeKey, Range)>) {
        let mut sorted = order(&entries);
        let mut twice = BTreeMap::new();
        let key = |at: u32| entries.get(at as usize).map(|(key, _)| key);
        sorted.dedup_by(|later, first| {
            let is_same = key(*later).map(|key| &key.text) == key(*first).map(|key| &key.text);
            twice.extend(key(*first).filter(|_| is_same).map(|key| (*later, key.at)));
            is_same
        });
        let mut numbers = 0..;
        let twice_at =
            |_: &mut (NodeKey, Node)| numbers.next().is_some_and(|at| twice.contains_key(&at));
        let mut removed = Vec::new();
        if !twice.is_empty() {
            let repeated = entries.extract_if(.., twice_at).map(|(key, _)| key);
            removed.extend(repeated.zip(twice.values().copied()));
            sorted = order(&entries);
        }
        (Self { entries: entries.into(), sorted: sorted.into() }, removed)
    }

    pub(super) fn entry(&self, text: &str) -> Option<(&NodeKey, &Node)> {
        let found = self.sorted.binary_search_by(|at| self.key(*at).cmp(text)).ok()?;
        let at = *self.sorted.get(found)?;
        self.entries.get(at as usize).map(|(key, node)| (key, node))
    }

    fn key(&self, at: u32) -> &str {
        self.entries.get(at as usize).map_or("", |(key, _)| &key.text)
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, (NodeKey, Node)> {
        self.entries.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Returns the indices of the entries sorted by key; equal keys stay in the order of the text.
fn order(entries: &[(NodeKey, Node)]) -> Vec<u32> {
    let mut sorted: Vec<(&str, u32)> =
        entries.iter().zip(0..).map(|((key, _), at)| (&*key.text, at)).collect();
    sorted.sort_unstable();
    sorted.into_iter().map(|(_, at)| at).collect()
}

impl Node {
    pub(super) fn get(&self, step: Step<'_>) -> Option<&Self> {
        match (&self.kind, step) {
            (NodeKind::Map(map), Step::Key(key)) => map.entry(key).map(|(_, node)| node),
            (NodeKind::List(list), Step::Index(at)) => list.get(at),
            _ => None,
        }
    }

    pub(super) fn entry(&self, key: &str) -> Option<(&NodeKey, &Self)> {
        match &self.kind {
            NodeKind::Map(map) => map.entry(key),
            _ => None,
        }
    }

    /// Returns the text of a scalar; an empty text for any other node.
    pub(super) fn word(&self) -> &str {
        match &self.kind {
            NodeKind::Scalar(scalar) => &scalar.text,
            _ => "",
        }
    }

    /// Returns whether this is `null`, written or left out.
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.kind, NodeKind::Scalar(scalar) if scalar.style == ScalarKind::Plain
            && resolve(&scalar.text) == Ok(Some(Value::Null)))
    }

    /// Returns the value of the node, or the position of a number that no type holds.
    pub(super) fn value(&self) -> Result<Value, Range> {
        match &self.kind {
            NodeKind::Scalar(scalar) => scalar.value().map_err(|OutOfRange| self.at),
            NodeKind::List(list) => {
                Ok(Value::List(list.iter().map(Self::value).collect::<Result<_, _>>()?))
            }
            NodeKind::Map(map) => Ok(Value::Map(
                map.iter()
                    .map(|(key, node)| Ok((key.text.clone().into_string(), node.value()?)))
                    .collect::<Result<_, Range>>()?,
            )),
        }
    }

    /// Describes the node in words.
    pub(super) fn describe(&self) -> String {
        match &self.kind {
            NodeKind::Scalar(scalar) => match scalar.value() {
                Ok(value) => value.describe(),
                Err(OutOfRange) => format!("the number {}", quote(&scalar.text)),
            },
            NodeKind::List(list) if list.is_empty() => "an empty list".to_owned(),
            NodeKind::List(_) => "a list".to_owned(),
            NodeKind::Map(map) if map.len() == 0 => "an empty mapping".to_owned(),
            NodeKind::Map(_) => "a mapping".to_owned(),
        }
    }

    /// Returns the number of nodes, this one included, and of levels below it. Scalar text counts as one node for each
    /// 64 bytes.
    pub(super) fn extent(&self) -> (usize, usize) {
        let inner = |nodes: &mut dyn Iterator<Item = &Self>| {
            nodes.fold((1_usize, 0_usize), |(sum, height), node| {
                let (nodes, below) = node.extent();
                (sum + nodes, height.max(below + 1))
            })
        };
        match &self.kind {
            NodeKind::Scalar(scalar) => (scalar.text.len() / 64 + 1, 0),
            NodeKind::List(list) => inner(&mut list.iter()),
            NodeKind::Map(map) => inner(&mut map.iter().map(|(_, node)| node)),
        }
    }
}

impl NodeScalar {
    pub(super) fn value(&self) -> Result<Value, OutOfRange> {
        if self.style == ScalarKind::Text {
            return Ok(Value::String(self.text.clone().into_string()));
        }
        let value = match resolve(&self.text)? {
            Some(value) => value,
            None => Value::String(self.text.clone().into_string()),
        };
        Ok(match value {
            // An integer in decimal is also the text of a float; it becomes the nearest one.
            Value::Int(_) | Value::UInt(_) if self.style == ScalarKind::Float => {
                Value::Float(self.text.parse().unwrap_or(f64::NAN))
            }
            other => other,
        })
    }
}

impl Value {
    /// Describes the value in words, for findings.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => format!("the boolean `{value}`"),
            Self::Int(number) => format!("the integer {number}"),
            Self::UInt(number) => format!("the integer {number}"),
            Self::Float(number) => format!("the float {}", super::write::float(*number)),
            Self::String(text) if text.is_empty() => "an empty string".to_owned(),
            Self::String(text) => format!("the string {}", quote(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a mapping".to_owned(),
        }
    }
}

/// Returns the range of an entry of a list.
pub(super) fn child(node: &Node, at: usize) -> Range {
    node.get(Step::Index(at)).map_or(node.at, |child| child.at)
}

/// A number in the syntax of the core schema that no 64-bit type holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfRange;

/// Reads a plain scalar; `None` if it is a string.
pub(super) fn resolve(text: &str) -> Result<Option<Value>, OutOfRange> {
    let Some(first) = text.bytes().next() else { return Ok(Some(Value::Null)) };
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text),
        b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' => Ok(word(text)),
        _ => Ok(None),
    }
}

fn word(text: &str) -> Option<Value> {
    match text {
        "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn number(text: &str) -> Result<Option<Value>, OutOfRange> {
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Ok(Some(Value::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY })));
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Ok(Some(Value::Float(f64::NAN)));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return integer(text.parse());
    }
    if !is_float(unsigned) {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some(Value::Float(number))),
        _ => Err(OutOfRange),
    }
}

fn radix(digits: &str, radix: u32) -> Result<Option<Value>, OutOfRange> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Ok(None);
    }
    integer(i128::from_str_radix(digits, radix))
}

fn integer(number: Result<i128, ParseIntError>) -> Result<Option<Value>, OutOfRange> {
    number.ok().and_then(Value::of_integer).map(Some).ok_or(OutOfRange)
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
        }
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema_decides() {
        let int = |number| Ok(Some(Value::Int(number)));
        let float = |number| Ok(Some(Value::Float(number)));
        let cases = [
            ("", Ok(Some(Value::Null))),
            ("~", Ok(Some(Value::Null))),
            ("NULL", Ok(Some(Value::Null))),
            ("nULL", Ok(None)),
            ("True", Ok(Some(Value::Bool(true)))),
            ("no", Ok(None)),
            ("OFF", Ok(None)),
            ("y", Ok(None)),
            ("2008-12-31", Ok(None)),
            ("12:30:00", Ok(None)),
            ("064119.981830Z", Ok(None)),
            ("1_000", Ok(None)),
            ("0b11", Ok(None)),
            ("010", int(10)),
            ("0o17", int(15)),
            ("0o18", Ok(None)),
            ("0x1F", int(31)),
            ("0x", Ok(None)),
            ("-0x1F", Ok(None)),
            ("+5", int(5)),
            ("-9223372036854775808", int(i64::MIN)),
            ("18446744073709551615", Ok(Some(Value::UInt(u64::MAX)))),
            ("18446744073709551616", Err(OutOfRange)),
            ("-9223372036854775809", Err(OutOfRange)),
            ("0x1ffffffffffffffff", Err(OutOfRange)),
            ("1e3", float(1000.0)),
            ("1e", Ok(None)),
            ("1e999", Err(OutOfRange)),
            (".5", float(0.5)),
            ("5.", float(5.0)),
            (".", Ok(None)),
            ("..5", Ok(None)),
            ("-", Ok(None)),
            ("+", Ok(None)),
            ("e3", Ok(None)),
            (".e3", Ok(None)),
            ("-.inf", float(f64::NEG_INFINITY)),
            (".NaN", float(f64::NAN)),
            ("-.nan", Ok(None)),
            ("infinity", Ok(None)),
            ("nan", Ok(None)),
        ];
        for (text, expected) in cases {
            assert_eq!(resolve(text), expected, "{text:?}");
        }
    }
}
