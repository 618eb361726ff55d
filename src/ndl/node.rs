//! The tree of a YAML document, every key and value with its place.

use super::model::Value;
use super::scalar::{self, OutOfRange};
use super::source::Step;

/// A stretch of the text in bytes. 32 bits are enough for [`MAX_TEXT`](super::MAX_TEXT) and halve
/// the tree.
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
        usize::try_from(self.start).unwrap_or(usize::MAX)
    }

    pub(super) fn end(self) -> usize {
        usize::try_from(self.end).unwrap_or(usize::MAX)
    }
}

/// A value of the document.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) at: Range,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Map),
}

#[derive(Debug, Clone)]
pub(super) struct Scalar {
    pub(super) text: Box<str>,
    pub(super) style: Style,
}

/// What decides the meaning of a scalar's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// The core schema.
    Plain,
    /// Quoted, a block, or `!!str`: it is a string.
    Text,
    /// `!!float`: an integer is a float too.
    Float,
}

#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) at: Range,
    pub(super) text: Box<str>,
}

/// A mapping in the order of the text, without duplicates.
#[derive(Debug, Clone)]
pub(super) struct Map {
    entries: Box<[(Key, Node)]>,
    /// The entries' numbers in the order of their keys, for mappings that are too long to search.
    sorted: Box<[u32]>,
}

/// Up to this many entries are searched one by one.
const SEARCHED: usize = 16;

impl Map {
    /// Takes the entries; the answer has those whose key was there before, with the place of the first.
    pub(super) fn new(mut entries: Vec<(Key, Node)>) -> (Self, Vec<(Key, Range)>) {
        let twice = duplicates(&entries);
        let mut removed = Vec::with_capacity(twice.len());
        if !twice.is_empty() {
            let mut twice = twice.into_iter().peekable();
            let mut kept = Vec::with_capacity(entries.len());
            for (at, entry) in entries.into_iter().enumerate() {
                match twice.next_if(|(number, _)| *number == at) {
                    Some((_, first)) => removed.push((entry.0, first)),
                    None => kept.push(entry),
                }
            }
            entries = kept;
        }
        let sorted = if entries.len() > SEARCHED { order(&entries) } else { Box::default() };
        (Self { entries: entries.into(), sorted }, removed)
    }

    pub(super) fn entry(&self, text: &str) -> Option<(&Key, &Node)> {
        let entry = if self.sorted.is_empty() {
            self.entries.iter().find(|(key, _)| *key.text == *text)
        } else {
            let found = self.sorted.binary_search_by(|at| self.key(*at).cmp(text)).ok()?;
            self.entries.get(usize::try_from(*self.sorted.get(found)?).ok()?)
        };
        entry.map(|(key, node)| (key, node))
    }

    fn key(&self, at: u32) -> &str {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.entries.get(at).map_or("", |(key, _)| &key.text)
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, (Key, Node)> {
        self.entries.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// The numbers of the entries sorted by key; equal keys stay in the order of the text.
fn order(entries: &[(Key, Node)]) -> Box<[u32]> {
    let mut sorted: Vec<(&str, u32)> =
        entries.iter().zip(0_u32..).map(|((key, _), at)| (&*key.text, at)).collect();
    sorted.sort_unstable();
    sorted.into_iter().map(|(_, at)| at).collect()
}

/// The entries whose key was there before, by number, each with the place of the first.
fn duplicates(entries: &[(Key, Node)]) -> Vec<(usize, Range)> {
    let mut twice = Vec::new();
    if entries.len() <= SEARCHED {
        for (at, (key, _)) in entries.iter().enumerate() {
            let mut before = entries.iter().take(at);
            if let Some((first, _)) = before.find(|(earlier, _)| earlier.text == key.text) {
                twice.push((at, first.at));
            }
        }
        return twice;
    }
    let mut first: Option<&Key> = None;
    for at in order(entries) {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let Some((key, _)) = entries.get(at) else { continue };
        match first {
            Some(first) if first.text == key.text => twice.push((at, first.at)),
            _ => first = Some(key),
        }
    }
    twice.sort_unstable_by_key(|(at, _)| *at);
    twice
}

impl Node {
    pub(super) fn get(&self, step: Step<'_>) -> Option<&Self> {
        match (&self.kind, step) {
            (Kind::Map(map), Step::Key(key)) => map.entry(key).map(|(_, node)| node),
            (Kind::List(list), Step::Index(at)) => list.get(at),
            _ => None,
        }
    }

    pub(super) fn entry(&self, key: &str) -> Option<(&Key, &Self)> {
        match &self.kind {
            Kind::Map(map) => map.entry(key),
            _ => None,
        }
    }

    /// Whether this is `null`, written or left out.
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(scalar) if scalar.style == Style::Plain
            && scalar::resolve(&scalar.text) == Ok(Some(Value::Null)))
    }

    /// What the node says; the place of a number that cannot be held otherwise.
    pub(super) fn value(&self) -> Result<Value, Range> {
        match &self.kind {
            Kind::Scalar(scalar) => scalar.value().map_err(|OutOfRange| self.at),
            Kind::List(list) => {
                Ok(Value::List(list.iter().map(Self::value).collect::<Result<_, _>>()?))
            }
            Kind::Map(map) => Ok(Value::Map(
                map.iter()
                    .map(|(key, node)| Ok((key.text.clone().into_string(), node.value()?)))
                    .collect::<Result<_, Range>>()?,
            )),
        }
    }

    /// What stands there, in words.
    pub(super) fn describe(&self) -> String {
        match &self.kind {
            Kind::Scalar(scalar) => match scalar.value() {
                Ok(value) => value.describe(),
                Err(OutOfRange) => format!("the number {}", super::diagnostic::quote(&scalar.text)),
            },
            Kind::List(list) if list.is_empty() => "an empty list".to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(map) if map.len() == 0 => "an empty mapping".to_owned(),
            Kind::Map(_) => "a mapping".to_owned(),
        }
    }

    /// Nodes, this one included, and levels below it; the text of a scalar counts one node for each
    /// 64 bytes.
    pub(super) fn extent(&self) -> (usize, usize) {
        let inner = |nodes: &mut dyn Iterator<Item = &Self>| {
            nodes.fold((1_usize, 0_usize), |(sum, height), node| {
                let (nodes, below) = node.extent();
                (sum.saturating_add(nodes), height.max(below.saturating_add(1)))
            })
        };
        match &self.kind {
            Kind::Scalar(scalar) => ((scalar.text.len() / 64).saturating_add(1), 0),
            Kind::List(list) => inner(&mut list.iter()),
            Kind::Map(map) => inner(&mut map.iter().map(|(_, node)| node)),
        }
    }
}

impl Scalar {
    pub(super) fn value(&self) -> Result<Value, OutOfRange> {
        if self.style == Style::Text {
            return Ok(Value::String(self.text.clone().into_string()));
        }
        let value = match scalar::resolve(&self.text)? {
            Some(value) => value,
            None => Value::String(self.text.clone().into_string()),
        };
        Ok(match value {
            // The text of an integer in decimal is one of a float too; the nearest float is meant.
            Value::Int(_) | Value::UInt(_) if self.style == Style::Float => {
                Value::Float(self.text.parse().unwrap_or(f64::NAN))
            }
            other => other,
        })
    }
}

impl Value {
    /// The value in words, for findings.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => format!("the boolean `{value}`"),
            Self::Int(number) => format!("the integer {number}"),
            Self::UInt(number) => format!("the integer {number}"),
            Self::Float(number) => format!("the float {}", super::write::float(*number)),
            Self::String(text) if text.is_empty() => "an empty string".to_owned(),
            Self::String(text) => format!("the string {}", super::diagnostic::quote(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a mapping".to_owned(),
        }
    }
}
