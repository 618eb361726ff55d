//! The elements that stand for no value, by what a description says.

use half::{bf16, f16};

use crate::ndl::{Ndarray, Value};

/// Attributes whose number, or numbers, stand for no value.
const FILLS: [&str; 2] = ["_FillValue", "missing_value"];

/// What a description says of missing values: `storage.fillvalue`, the attributes `_FillValue` and
/// `missing_value` are numbers for them, and so is what lies outside `valid_range`, or of `valid_min` and
/// `valid_max`.
#[derive(Debug, Default)]
pub(in crate::ops) struct Rules {
    fills: Vec<Value>,
    low: Option<Value>,
    high: Option<Value>,
}

impl Rules {
    pub(super) fn new(description: &Ndarray) -> Self {
        let attribute =
            |name: &str| description.attributes.iter().find(|attribute| attribute.name == name);
        let mut rules = Self::default();
        if let Some(storage) = &description.storage {
            rules.fills.extend(storage.fillvalue.clone());
        }
        for attribute in FILLS.iter().filter_map(|name| attribute(name)) {
            match &attribute.value {
                Value::List(list) => rules.fills.extend(list.iter().cloned()),
                value => rules.fills.push(value.clone()),
            }
        }
        let value = |name| attribute(name).map(|attribute| attribute.value.clone());
        (rules.low, rules.high) = match value("valid_range") {
            Some(Value::List(range)) => match range.as_slice() {
                [low, high] => (Some(low.clone()), Some(high.clone())),
                _ => (None, None),
            },
            _ => (value("valid_min"), value("valid_max")),
        };
        rules
    }

    pub(super) fn of<T: Bounded>(&self) -> Missing<T> {
        Missing {
            fills: self.fills.iter().filter_map(T::of_value).collect(),
            low: self.low.as_ref().and_then(T::of_value),
            high: self.high.as_ref().and_then(T::of_value),
        }
    }
}

/// The rules for elements of one type. A number that the type does not hold is none of its elements.
#[derive(Debug)]
pub(super) struct Missing<T> {
    fills: Vec<T>,
    low: Option<T>,
    high: Option<T>,
}

impl<T: Bounded> Missing<T> {
    /// Whether every element has a value.
    pub(super) fn is_nothing(&self) -> bool {
        self.fills.is_empty() && self.low.is_none() && self.high.is_none()
    }

    /// Whether an element stands for no value. An infinity is none that lies outside a range.
    pub(super) fn has(&self, element: T) -> bool {
        self.fills.iter().any(|fill| *fill == element || (fill.is_nan() && element.is_nan()))
            || (element.is_finite()
                && (self.low.is_some_and(|low| element < low)
                    || self.high.is_some_and(|high| element > high)))
    }
}

/// A number that can be written in a description.
pub(super) trait Bounded: Copy + PartialOrd {
    fn of_value(value: &Value) -> Option<Self>;
    fn is_nan(self) -> bool;
    fn is_finite(self) -> bool;
}

macro_rules! integers {
    ($($integer:ty)+) => {
        $(impl Bounded for $integer {
            fn of_value(value: &Value) -> Option<Self> {
                value.as_integer().and_then(|number| Self::try_from(number).ok())
            }

            fn is_nan(self) -> bool {
                false
            }

            fn is_finite(self) -> bool {
                true
            }
        })+
    };
}

integers! { i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 }

macro_rules! floats {
    ($($float:ty)+) => {
        $(impl Bounded for $float {
            /// The nearest one: 0.1 is written for the float that is nearest to it.
            fn of_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Float(number) => number.to_string().parse().ok(),
                    _ => value.as_integer()?.to_string().parse().ok(),
                }
            }

            fn is_nan(self) -> bool {
                self.is_nan()
            }

            fn is_finite(self) -> bool {
                self.is_finite()
            }
        })+
    };
}

floats! { f16 bf16 f32 f64 }
