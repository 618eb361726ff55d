//! Rules over the whole document: the lengths of dimcoords, the values, and the references.

use std::collections::{BTreeSet, HashSet};

use super::datatype::{Datatype, Integer};
use super::model::{Document, Entity, Extent, Group, Index, Ndarray, candidates, entity_path};
use super::node::{Node, NodeKind, child};
use super::parse::{DocumentReader, Site};
use super::report::{Reported, hint, quote};
use super::value::Value;
use crate::finding::{Code, Finding, Span};
use crate::message::{Message, counted};

/// A reference to something that is not in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedReference {
    /// The name or path as written.
    pub name: String,
    /// The position of the name.
    pub span: Span,
    /// The part of the model that refers to it.
    pub by: Referrer,
}

/// A part of the model that refers to something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Referrer {
    /// A dimension of a shape, which refers to a dimcoord.
    Extent {
        /// The path of the group of the ndarray.
        group: String,
        /// The name of the ndarray.
        ndarray: String,
    },
    /// A value, which refers to a group, dimcoord or ndarray.
    Value,
}

impl UnresolvedReference {
    /// Returns the finding for a reference that cannot be resolved elsewhere either. `text` is the text of the
    /// document, and `known` are the names and paths that could have been meant.
    pub fn finding(&self, text: &str, known: &[impl AsRef<str>]) -> Finding {
        let (code, noun, expected) = match &self.by {
            Referrer::Extent { group, .. } => {
                let expected = match &**group {
                    _ if self.name.starts_with('/') => "a dimcoord at this path".to_owned(),
                    "/" => "a dimcoord in the group `/`".to_owned(),
                    group => format!("a dimcoord in the group {} or one above it", quote(group)),
                };
                (Code::UnresolvedCoord, "dimcoord", expected)
            }
            Referrer::Value => {
                let expected = "the path of a group, dimcoord or ndarray".to_owned();
                (Code::UnresolvedTarget, "object", expected)
            }
        };
        let finding = Finding::new(code, format!("there is no {noun} {}", quote(&self.name)));
        let hint =
            hint(&self.name, known.iter().map(AsRef::as_ref)).map(Message::from).or(finding.hint);
        Finding { expected: Some(expected), hint, ..finding }.at_span(text, self.span)
    }
}

/// Checks everything that needs the whole document.
pub(super) fn whole(
    document: &Document,
    mut reader: DocumentReader<'_, '_, '_>,
) -> Vec<UnresolvedReference> {
    let mut unresolved = Vec::new();
    let index = document.index();
    let broken: HashSet<String> =
        reader.broken.iter().map(|(group, name)| entity_path(group, name)).collect();
    let [of_dimcoords, of_ndarrays] = std::mem::take(&mut reader.sites);
    let sites = document.dimcoords().zip(of_dimcoords);
    for ((group, ndarray), site) in sites.chain(document.ndarrays().zip(of_ndarrays)) {
        let storage = ndarray.storage.as_ref();
        let stored_shape = storage.and_then(|storage| storage.shape.as_deref());
        let chunk = storage.and_then(|storage| storage.chunk.as_deref());
        let mut extents = lengths(group, ndarray, &index);
        for (axis, (extent, known)) in ndarray.shape.iter().zip(&extents).enumerate() {
            // The chunks of a dimension that can grow may be longer than it is.
            let fixed = match extent {
                Extent::Fixed(_) => *known,
                Extent::Unlimited => None,
                Extent::Coord(name) => {
                    reader.follow(site, axis, name, &index, &broken, &mut unresolved);
                    let coord = index.resolve_coord(&group.path, name);
                    known.filter(|_| {
                        coord.is_some_and(|(_, coord)| coord.shape != [Extent::Unlimited])
                    })
                }
            };
            let (key, message) = if site.is_dimcoord {
                ("size", "`storage.size` is larger than `size`")
            } else {
                ("shape", "the shape in the file is larger than the declared shape")
            };
            reader.check_bound(site, key, stored_shape, axis, *known, message);
            // A chunk has at least one element, even if the array is empty.
            let fixed = fixed.map(|bound| bound.max(1)).filter(|_| !site.is_dimcoord);
            let message = "the chunk is larger than the array";
            if let Some(finding) = reader.check_bound(site, "chunk", chunk, axis, fixed, message) {
                finding.warning();
            }
        }
        if let (Some(value), Some(node)) = (&ndarray.value, site.value) {
            // A value has the shape of the file.
            if let Some(shape) = stored_shape {
                extents = shape.iter().copied().map(Some).collect();
            }
            reader.check_value(value, node, extents, &ndarray.datatype);
        }
    }
    // References of ndarrays with other errors are checked too.
    for (site, shape) in std::mem::take(&mut reader.stray) {
        for (axis, extent) in shape.iter().enumerate() {
            if let Extent::Coord(name) = extent {
                reader.follow(site, axis, name, &index, &broken, &mut unresolved);
            }
        }
    }
    reader.references(document, &index, &broken, &mut unresolved);
    unresolved
}

fn is_broken(broken: &HashSet<String>, group: &str, name: &str) -> bool {
    !broken.is_empty() && candidates(group, name).iter().any(|path| broken.contains(path))
}

/// Shapes and references.
impl<'n> DocumentReader<'n, '_, '_> {
    /// Records the name of a dimcoord that is not in the document.
    fn follow(
        &self,
        site: Site<'n>,
        axis: usize,
        name: &str,
        index: &Index<'_>,
        broken: &HashSet<String>,
        unresolved: &mut Vec<UnresolvedReference>,
    ) {
        if index.resolve_coord(site.group, name).is_some() || is_broken(broken, site.group, name) {
            return;
        }
        let (group, ndarray) = (site.group.to_owned(), site.key.text.clone().into_string());
        unresolved.push(UnresolvedReference {
            name: name.to_owned(),
            span: self.sink.source.span(child(site.shape, axis)),
            by: Referrer::Extent { group, ndarray },
        });
    }

    /// Reports a length under `storage` that is larger than its bound.
    fn check_bound(
        &mut self,
        site: Site<'n>,
        key: &str,
        stored: Option<&[u64]>,
        axis: usize,
        bound: Option<u64>,
        message: &str,
    ) -> Option<Reported<'_>> {
        let (stored, bound) = (*stored?.get(axis)?, bound?);
        if stored <= bound {
            return None;
        }
        let node = site.storage.and_then(|node| node.entry(key));
        let at = node.map_or(site.key.at, |(_, node)| child(node, axis));
        let finding = self.report(Code::StorageBound, at, message);
        Some(finding.expected(format!("at most {bound}")).found(stored.to_string()))
    }

    /// Resolves the references in values.
    fn references(
        &mut self,
        document: &Document,
        index: &Index<'_>,
        broken: &HashSet<String>,
        unresolved: &mut Vec<UnresolvedReference>,
    ) {
        let targets = std::mem::take(&mut self.targets);
        if targets.is_empty() {
            return;
        }
        // A group may contain groups without being listed itself.
        let listed: BTreeSet<&str> = document.groups.iter().map(|group| &*group.path).collect();
        let is_group = |path: &str| {
            let below = format!("{path}/");
            let next = listed.range(&*below..).next();
            let holds_groups = next.is_some_and(|group| group.starts_with(&below));
            path == "/" || listed.contains(path) || holds_groups
        };
        for (node, region) in targets {
            let path = node.word();
            if !path.starts_with('/') {
                let expected = "the path of an ndarray, such as `/a/b`";
                self.refuse(Code::ValueType, node, "invalid target of a region", expected);
                continue;
            }
            // Only arrays have regions, so a group with the same path is not meant.
            match (index.entity(path), region) {
                (Some((group, Entity::Ndarray(ndarray))), Some(region)) => {
                    self.region(&lengths(group, ndarray, index), region);
                }
                (Some((_, Entity::DimCoord(coord))), Some(region)) => {
                    self.region(&[coord.known_size()], region);
                }
                (None, Some(_)) if is_group(path) => {
                    let expected = "the path of an ndarray or dimcoord";
                    self.refuse(
                        Code::ValueType,
                        node,
                        "a region needs an array, not a group",
                        expected,
                    );
                }
                (None, _) if !is_group(path) && !is_broken(broken, "/", path) => {
                    unresolved.push(UnresolvedReference {
                        name: path.to_owned(),
                        span: self.sink.source.span(node.at),
                        by: Referrer::Value,
                    });
                }
                _ => {}
            }
        }
    }

    /// Checks that both corners of a block are inside the target, as far as its shape is known.
    fn region(&mut self, extents: &[Option<u64>], region: &'n Node) {
        for corner in ["start", "opposite"] {
            let Some((_, node)) = region.entry(corner) else { continue };
            let NodeKind::List(list) = &node.kind else {
                let expected = "a list with an index for each dimension";
                self.refuse(Code::ValueType, node, format!("`{corner}` is not a list"), expected);
                continue;
            };
            if list.len() != extents.len() {
                let message = format!("`{corner}` has the wrong length");
                self.report(Code::RegionBounds, node.at, message)
                    .expected(counted(extents.len(), "index").replace("indexs", "indices"))
                    .found(list.len().to_string());
                continue;
            }
            for (index, length) in list.iter().zip(extents) {
                let number = index.value().ok().and_then(|value| value.as_integer());
                let end = length.map_or(i128::from(u64::MAX), i128::from);
                if number.is_none_or(|number| !(0..end).contains(&number)) {
                    let expected = match length {
                        Some(length) => format!("an index from 0 to less than {length}"),
                        None => "an index of at least 0".to_owned(),
                    };
                    let message = "the region is outside its target";
                    self.refuse(Code::RegionBounds, index, message, expected);
                }
            }
        }
    }
}

/// Returns the lengths of the dimensions of an array, as far as the document gives them.
fn lengths(group: &Group, ndarray: &Ndarray, index: &Index<'_>) -> Vec<Option<u64>> {
    let stored = ndarray.storage.as_ref().and_then(|storage| storage.shape.as_deref());
    let length = |(axis, extent): (usize, &Extent)| match extent {
        Extent::Fixed(size) => Some(*size),
        Extent::Unlimited => stored.and_then(|shape| shape.get(axis).copied()),
        Extent::Coord(name) => {
            index.resolve_coord(&group.path, name).and_then(|(_, coord)| coord.known_size())
        }
    };
    ndarray.shape.iter().enumerate().map(length).collect()
}

/// Most findings for one value: a list of a million wrong elements is one mistake.
const MAX_PER_VALUE: usize = 5;

/// Why an element does not fit its datatype.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misfit {
    code: Code,
    pub(super) expected: String,
    pub(super) hint: Option<String>,
}

impl Misfit {
    fn new(code: Code, expected: impl Into<String>) -> Self {
        Self { code, expected: expected.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Values.
impl<'n> DocumentReader<'n, '_, '_> {
    /// Checks a value, and keeps its references for later. An unknown length is taken from the first list, so that all
    /// lists of the dimension must be equally long.
    pub(super) fn check_value(
        &mut self,
        value: &Value,
        node: &'n Node,
        mut extents: Vec<Option<u64>>,
        datatype: &Datatype,
    ) {
        let limit = self.sink.len() + MAX_PER_VALUE;
        self.check_level(value, node, 0, &mut extents, datatype, limit);
    }

    fn check_level(
        &mut self,
        value: &Value,
        node: &'n Node,
        axis: usize,
        extents: &mut [Option<u64>],
        datatype: &Datatype,
        limit: usize,
    ) {
        if self.sink.len() >= limit {
            return;
        }
        let rank = extents.len();
        let Some(extent) = extents.get_mut(axis) else {
            self.check_element(value, node, rank, datatype);
            return;
        };
        let (Value::List(values), NodeKind::List(nodes)) = (value, &node.kind) else {
            let wanted = extent.map_or("a list".to_owned(), |extent| format!("a list of {extent}"));
            let message = match axis {
                0 => "the value is not a list, but the shape has dimensions".to_owned(),
                _ => {
                    let dimensions = counted(rank, "dimension");
                    format!("the value is nested {axis} deep, but the shape has {dimensions}")
                }
            };
            self.refuse(Code::ValueShape, node, message, wanted)
                .maybe_hint((axis == 0).then(|| "write `[]` for the shape of a scalar".to_owned()));
            return;
        };
        let (length, dimension) = (values.len() as u64, axis + 1);
        let wanted = *extent.get_or_insert(length);
        if wanted != length {
            let message = format!("the list has the wrong length for dimension {dimension}");
            self.report(Code::ValueShape, node.at, message)
                .expected(wanted.to_string())
                .found(length.to_string());
            return;
        }
        for (value, node) in values.iter().zip(nodes) {
            self.check_level(value, node, dimension, extents, datatype, limit);
        }
    }

    fn check_element(&mut self, value: &Value, node: &'n Node, rank: usize, datatype: &Datatype) {
        if matches!(value, Value::List(_)) && is_one(datatype) {
            let message = format!("the value is nested deeper than the {rank} of the shape");
            self.refuse(Code::ValueShape, node, message, format!("an element of `{datatype}`"));
            return;
        }
        if let Err(fault) = scalar(value, datatype) {
            let message = match fault.code {
                Code::ValueRange => format!("the number does not fit `{datatype}`"),
                Code::EnumValue => "the value is not a member of the enum".to_owned(),
                _ => format!("the value does not fit `{datatype}`"),
            };
            self.refuse(fault.code, node, message, fault.expected).maybe_hint(fault.hint);
            return;
        }
        let target = match datatype {
            Datatype::ObjRef => Some((node, None)),
            Datatype::RegRef { .. } => node.entry("target").map(|(_, path)| (path, Some(node))),
            _ => None,
        };
        self.targets.extend(target);
    }
}
/// Returns whether an element is written as one scalar.
fn is_one(datatype: &Datatype) -> bool {
    !matches!(
        datatype,
        Datatype::Opaque { .. }
            | Datatype::Compound(_)
            | Datatype::Vlen(_)
            | Datatype::Array { .. }
            | Datatype::RegRef { .. }
            | Datatype::Complex64
            | Datatype::Complex128
    )
}

/// Checks whether a value can be one element.
///
/// NDL has no syntax for values of `opaque`, `compound`, `vlen`, `array` and `regref`, nor does ra-pack for complex
/// numbers: any value is accepted for these.
pub(super) fn scalar(value: &Value, datatype: &Datatype) -> Result<(), Misfit> {
    if !is_one(datatype) {
        return Ok(());
    }
    if let Some(integer) = datatype.integer() {
        let (low, high) = integer.range();
        return in_range(value, low, high, integer == Integer::UInt8);
    }
    match datatype {
        Datatype::String => match value {
            Value::String(_) => Ok(()),
            _ => Err(Misfit::new(Code::ValueType, "a string").hint("quote it to make it a string")),
        },
        Datatype::ObjRef => match value {
            Value::String(path) if path.starts_with('/') => Ok(()),
            _ => Err(Misfit::new(Code::ValueType, "the path of an object, such as `/a/b`")),
        },
        Datatype::Int128 => in_range(value, i128::MIN, i128::MAX, false),
        Datatype::UInt128 => in_range(value, 0, i128::MAX, false),
        Datatype::Float16 => float(value, HALF_LIMIT),
        Datatype::BFloat16 => float(value, BFLOAT_LIMIT),
        Datatype::Float32 => float(value, SINGLE_LIMIT),
        Datatype::Float64 | Datatype::Float128 => float(value, f64::INFINITY),
        Datatype::Enum { members, .. } => member(value, members),
        _ => Ok(()),
    }
}

fn in_range(value: &Value, low: i128, high: i128, truth: bool) -> Result<(), Misfit> {
    let bounds = || match (low, high) {
        (i128::MIN, _) => "an integer".to_owned(),
        (0, i128::MAX) => "an integer of at least 0".to_owned(),
        _ => format!("an integer from {low} to {high}"),
    };
    match value.as_integer() {
        Some(number) if (low..=high).contains(&number) => Ok(()),
        Some(_) => Err(Misfit::new(Code::ValueRange, bounds())),
        None => {
            let fault = Misfit::new(Code::ValueType, bounds());
            Err(match value {
                Value::Bool(_) if truth => {
                    fault.hint("write 0 and 1, or use an enum as the datatype")
                }
                Value::Float(number) if number.fract() == 0.0 => {
                    fault.hint(format!("write `{number:.0}`, without a point or exponent"))
                }
                Value::String(text) if text.parse::<i128>().is_ok() => {
                    fault.hint("remove the quotes: they make it a string")
                }
                _ => fault,
            })
        }
    }
}

/// The smallest number that rounds to infinity: half a step above the largest binary16.
const HALF_LIMIT: f64 = 65_520.0;
const BFLOAT_LIMIT: f64 = power_of_two(128) - power_of_two(119);
const SINGLE_LIMIT: f64 = power_of_two(128) - power_of_two(103);

/// Returns 2 to the power of a small number.
const fn power_of_two(exponent: u64) -> f64 {
    f64::from_bits((1023 + exponent) << 52)
}

fn float(value: &Value, limit: f64) -> Result<(), Misfit> {
    let fits = |number: f64| {
        if number.is_finite() && number.abs() >= limit {
            return Err(Misfit::new(Code::ValueRange, "a number that does not round to infinity"));
        }
        Ok(())
    };
    match value {
        Value::Float(number) => fits(*number),
        Value::Int(_) | Value::UInt(_) => {
            // Every 64-bit integer is finite in all floating-point types except binary16.
            let over = value.as_integer().is_some_and(|number| number.unsigned_abs() >= 65_520);
            fits(if over { 65_520.0 } else { 0.0 })
        }
        other => {
            let fault = Misfit::new(Code::ValueType, "a number");
            Err(match other {
                Value::Null => fault.hint("write `.nan` for a missing value"),
                Value::String(text) => match text.to_lowercase().as_str() {
                    "nan" => fault.hint("write `.nan`"),
                    "inf" | "infinity" | "+inf" => fault.hint("write `.inf`"),
                    "-inf" | "-infinity" => fault.hint("write `-.inf`"),
                    text if text.parse::<f64>().is_ok() => {
                        fault.hint("remove the quotes: they make it a string")
                    }
                    _ => fault,
                },
                _ => fault,
            })
        }
    }
}

/// Returns the number that a value means in an enum. A value is the name of a member, even if YAML reads it as another
/// type, or a number.
pub(crate) fn enum_number(value: &Value, members: &[(String, i128)]) -> Option<i128> {
    let named = |is_it: &dyn Fn(&str) -> bool| {
        members.iter().find(|(member, _)| is_it(member)).map(|(_, number)| *number)
    };
    match value {
        Value::String(name) => named(&|member| member == name),
        Value::Bool(truth) => named(&|member| member.eq_ignore_ascii_case(&truth.to_string())),
        Value::Null => named(&|member| member.eq_ignore_ascii_case("null")),
        _ => value.as_integer(),
    }
}

/// Checks that a value is the name or the number of a member.
fn member(value: &Value, members: &[(String, i128)]) -> Result<(), Misfit> {
    let number = enum_number(value, members);
    if number.is_some_and(|number| members.iter().any(|(_, member)| *member == number)) {
        return Ok(());
    }
    let mut shown: Vec<String> = members.iter().take(5).map(|(name, _)| quote(name)).collect();
    if members.len() > shown.len() {
        shown.push("…".to_owned());
    }
    let fault =
        Misfit::new(Code::EnumValue, format!("a member or its number: {}", shown.join(", ")));
    let known = members.iter().map(|(member, _)| &**member);
    Err(Misfit { hint: value.as_str().and_then(|name| hint(name, known)), ..fault })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_edge_of_their_types() {
        let fits = |value: f64, datatype| scalar(&Value::Float(value), &datatype).is_ok();
        assert!(fits(f64::from(f32::MAX), Datatype::Float32));
        assert!(fits(3.402_823_5e38, Datatype::Float32));
        assert!(!fits(3.402_823_6e38, Datatype::Float32));
        assert!(fits(f64::NEG_INFINITY, Datatype::Float32));
        assert!(fits(65_519.9, Datatype::Float16));
        assert!(!fits(65_520.0, Datatype::Float16));
        assert!(fits(half::bf16::MAX.to_f64(), Datatype::BFloat16));
        assert!(!fits(3.4e38, Datatype::BFloat16));
        assert!(fits(f64::MAX, Datatype::Float64));
        let whole = |value: i128, datatype| {
            let value = u64::try_from(value)
                .map_or(Value::Int(i64::try_from(value).unwrap_or(0)), Value::from);
            scalar(&value, &datatype).is_ok()
        };
        for integer in Integer::ALL {
            let (low, high) = integer.range();
            assert!(whole(low, integer.datatype()) && whole(high, integer.datatype()));
            if integer.size() < 8 {
                assert!(
                    !whole(low - 1, integer.datatype()) && !whole(high + 1, integer.datatype())
                );
            }
        }
        assert!(whole(65_519, Datatype::Float16) && !whole(-65_520, Datatype::Float16));
        assert!(whole(u64::MAX.into(), Datatype::Float32));
        assert!(!whole(-1, Datatype::UInt128));
    }
}
