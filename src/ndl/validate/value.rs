//! Whether a value fits a shape and a datatype.

use crate::ndl::datatype::{Datatype, Integer};
use crate::ndl::diagnostic::{Code, Place, quote};
use crate::ndl::model::Value;
use crate::ndl::node::{Kind, Node};
use crate::ndl::parse::{Reader, count};
use crate::ndl::suggest;

use super::Target;

/// Most findings about one value: a list of a million wrong elements is one mistake.
const MAX_FINDINGS: usize = 5;

/// What a value has to fit.
#[derive(Debug, Clone)]
pub(in crate::ndl) struct Expected<'a> {
    /// The extents; an unknown one is taken from the first list, so that all are equally long.
    pub(in crate::ndl) extents: Vec<Option<u64>>,
    pub(in crate::ndl) datatype: &'a Datatype,
}

/// Why an element does not fit its datatype.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ndl) struct Fault {
    pub(in crate::ndl) code: Code,
    pub(in crate::ndl) expected: String,
    pub(in crate::ndl) hint: Option<String>,
}

impl Fault {
    fn new(code: Code, expected: impl Into<String>) -> Self {
        Self { code, expected: expected.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl<'n> Reader<'n, '_, '_> {
    /// Checks a value; the references in it are kept for later.
    pub(in crate::ndl) fn check_value(
        &mut self,
        value: &Value,
        node: &'n Node,
        expected: Expected<'_>,
        place: Place<'n>,
    ) {
        let limit = self.sink.len().saturating_add(MAX_FINDINGS);
        let mut expected = expected;
        self.check_level(value, node, 0, &mut expected, place, limit);
    }

    fn check_level(
        &mut self,
        value: &Value,
        node: &'n Node,
        axis: usize,
        expected: &mut Expected<'_>,
        place: Place<'n>,
        limit: usize,
    ) {
        if self.sink.len() >= limit {
            return;
        }
        let rank = expected.extents.len();
        let Some(extent) = expected.extents.get_mut(axis) else {
            self.check_element(value, node, rank, expected.datatype, place);
            return;
        };
        let (Value::List(values), Kind::List(nodes)) = (value, &node.kind) else {
            let wanted = match extent {
                Some(extent) => format!("a list of {extent}"),
                None => "a list".to_owned(),
            };
            let message = match axis {
                0 => "the value is no list, but the shape has dimensions".to_owned(),
                _ => format!(
                    "the value is nested {axis} deep, but the shape has {}",
                    count(rank, "dimension")
                ),
            };
            self.sink
                .error(Code::ValueShape, node.at, place, message)
                .expected(wanted)
                .found(node.describe())
                .maybe_hint((axis == 0).then(|| "the shape of a scalar is `[]`".to_owned()));
            return;
        };
        let length = u64::try_from(values.len()).unwrap_or(u64::MAX);
        let wanted = *extent.get_or_insert(length);
        if wanted != length {
            let dimension = axis.saturating_add(1);
            self.sink
                .error(
                    Code::ValueShape,
                    node.at,
                    place,
                    format!("the list has the wrong length for dimension {dimension}"),
                )
                .expected(wanted.to_string())
                .found(length.to_string());
            return;
        }
        for (value, node) in values.iter().zip(nodes) {
            self.check_level(value, node, axis.saturating_add(1), expected, place, limit);
        }
    }

    fn check_element(
        &mut self,
        value: &Value,
        node: &'n Node,
        rank: usize,
        datatype: &Datatype,
        place: Place<'n>,
    ) {
        if matches!(value, Value::List(_)) && is_one(datatype) {
            let message =
                format!("the value is nested deeper than the shape has dimensions, {rank}");
            self.sink
                .error(Code::ValueShape, node.at, place, message)
                .expected(format!("an element of `{datatype}`"))
                .found(node.describe());
            return;
        }
        if let Err(fault) = scalar(value, datatype) {
            let message = match fault.code {
                Code::ValueRange => format!("the number does not fit `{datatype}`"),
                Code::EnumValue => "the value is no member of the enum".to_owned(),
                _ => format!("the value does not fit `{datatype}`"),
            };
            self.sink
                .error(fault.code, node.at, place, message)
                .expected(fault.expected)
                .found(node.describe())
                .maybe_hint(fault.hint);
            return;
        }
        self.targets.extend(Target::of(node, datatype, place));
    }
}

/// Whether an element is written as one scalar.
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

/// Whether a value can be one element.
///
/// The language has no syntax for the values of `opaque`, `compound`, `vlen`, `array` and `regref`
/// (nor have we for complex numbers), so everything is taken for them.
pub(in crate::ndl) fn scalar(value: &Value, datatype: &Datatype) -> Result<(), Fault> {
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
            _ => Err(Fault::new(Code::ValueType, "a text").hint("quotes make it a text")),
        },
        Datatype::ObjRef => match value {
            Value::String(path) if path.starts_with('/') => Ok(()),
            _ => Err(Fault::new(Code::ValueType, "the path of an object, such as `/a/b`")),
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

fn in_range(value: &Value, low: i128, high: i128, truth: bool) -> Result<(), Fault> {
    let bounds = || match (low, high) {
        (i128::MIN, _) => "an integer".to_owned(),
        (0, i128::MAX) => "an integer of at least 0".to_owned(),
        _ => format!("an integer from {low} to {high}"),
    };
    match value.as_integer() {
        Some(number) if (low..=high).contains(&number) => Ok(()),
        Some(_) => Err(Fault::new(Code::ValueRange, bounds())),
        None => {
            let fault = Fault::new(Code::ValueType, bounds());
            Err(match value {
                Value::Bool(_) if truth => {
                    fault.hint("write 0 and 1, or make the datatype an enum")
                }
                Value::Float(number) if number.fract() == 0.0 => {
                    fault.hint(format!("write `{number:.0}`, without a point or exponent"))
                }
                Value::String(text) if text.parse::<i128>().is_ok() => {
                    fault.hint("quotes make it a text: leave them out")
                }
                _ => fault,
            })
        }
    }
}

/// The first number that rounds to infinity: half a step above the largest of the type.
const HALF_LIMIT: f64 = 65_520.0;
const BFLOAT_LIMIT: f64 = power_of_two(128) - power_of_two(119);
const SINGLE_LIMIT: f64 = power_of_two(128) - power_of_two(103);

/// 2 to the power of a number that is not negative and small.
const fn power_of_two(exponent: u64) -> f64 {
    f64::from_bits((1023 + exponent) << 52)
}

fn float(value: &Value, limit: f64) -> Result<(), Fault> {
    let fits = |number: f64| {
        if number.is_finite() && number.abs() >= limit {
            return Err(Fault::new(Code::ValueRange, "a number that does not round to infinity"));
        }
        Ok(())
    };
    match value {
        Value::Float(number) => fits(*number),
        Value::Int(_) | Value::UInt(_) => {
            // Integers of 64 bits are finite in every type but binary16.
            let over = value.as_integer().is_some_and(|number| number.unsigned_abs() >= 65_520);
            fits(if over { 65_520.0 } else { 0.0 })
        }
        other => {
            let fault = Fault::new(Code::ValueType, "a number");
            Err(match other {
                Value::Null => fault.hint("write `.nan` for a missing value"),
                Value::String(text) => match text.to_lowercase().as_str() {
                    "nan" => fault.hint("YAML writes `.nan`"),
                    "inf" | "infinity" | "+inf" => fault.hint("YAML writes `.inf`"),
                    "-inf" | "-infinity" => fault.hint("YAML writes `-.inf`"),
                    text if text.parse::<f64>().is_ok() => {
                        fault.hint("quotes make it a text: leave them out")
                    }
                    _ => fault,
                },
                _ => fault,
            })
        }
    }
}

/// A member by its name or by its number. Names that YAML reads as booleans or null are names here.
fn member(value: &Value, members: &[(String, i128)]) -> Result<(), Fault> {
    let named = |name: &str| members.iter().any(|(member, _)| member.eq_ignore_ascii_case(name));
    let found = match value {
        Value::Int(_) | Value::UInt(_) => {
            let number = value.as_integer();
            members.iter().any(|(_, member)| Some(*member) == number)
        }
        Value::String(name) => members.iter().any(|(member, _)| member == name),
        Value::Bool(truth) => named(if *truth { "true" } else { "false" }),
        Value::Null => named("null"),
        Value::Float(_) | Value::List(_) | Value::Map(_) => false,
    };
    if found {
        return Ok(());
    }
    let mut shown: Vec<String> = members.iter().take(5).map(|(name, _)| quote(name)).collect();
    if members.len() > shown.len() {
        shown.push("…".to_owned());
    }
    let fault =
        Fault::new(Code::EnumValue, format!("a member or its number: {}", shown.join(", ")));
    let near = value
        .as_str()
        .and_then(|name| suggest::hint(name, members.iter().map(|(member, _)| &**member)));
    Err(match near {
        Some(hint) => fault.hint(hint),
        None => fault,
    })
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
