//! The tree of a YAML document, with the position of every key and value. Plain scalars follow the core schema of YAML
//! 1.2: `no`, dates and `12:30:00` are strings, and `010` is ten.

use std::collections::BTreeMap;

use super::report::quote;
use super::scalar::{OutOfRange, resolve};
use super::source::Range;
use super::value::Value;

/// One step from a mapping or list into a value of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The value of a key.
    Key(&'a str),
    /// An entry of a list, from 0.
    Index(usize),
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

/// Returns the range of an entry of a list.
pub(super) fn child(node: &Node, at: usize) -> Range {
    node.get(Step::Index(at)).map_or(node.at, |child| child.at)
}
