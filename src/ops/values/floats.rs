//! Elements as floats, a block at a time, with NaN where there is no value.

use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;

use super::missing::{Bounded, Missing, Rules};
use super::number::Number;
use crate::ra::ElementType;

/// What was noticed while elements became floats.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::ops) struct Found {
    /// Elements that stand for no value by the description.
    pub(in crate::ops) missing: u64,
    /// The least and the greatest one, of types of which a float may not hold all digits.
    pub(in crate::ops) exact: Option<(Number, Number)>,
}

impl Found {
    /// Adds what was noticed of the elements behind these.
    pub(in crate::ops) fn add(&mut self, more: Self) {
        self.missing = self.missing.saturating_add(more.missing);
        self.exact = match (self.exact, more.exact) {
            (Some((low, high)), Some((least, most))) => {
                Some((low.least(least), high.greatest(most)))
            }
            (ours, theirs) => ours.or(theirs),
        };
    }
}

type Convert = dyn Fn(&[u8], &mut Vec<f64>) -> Found + Sync + Send;

/// Makes floats of elements of one type; of complex ones, of their magnitudes.
pub(in crate::ops) struct Converter {
    convert: Box<Convert>,
    number: fn(f64) -> Number,
}

impl std::fmt::Debug for Converter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Converter")
    }
}

impl Converter {
    /// For elements of this type; nothing for those that are no numbers, or that no float holds.
    pub(super) fn new(element: ElementType, rules: &Rules) -> Option<Self> {
        fn numbers<T: Numeric>(rules: &Rules) -> Converter {
            let missing = rules.of::<T>();
            Converter {
                convert: Box::new(move |bytes, out| convert(bytes, &missing, out)),
                number: T::number_of,
            }
        }
        fn magnitudes<T: Pod>(magnitude: fn(T) -> f64) -> Converter {
            let convert = move |bytes: &[u8], out: &mut Vec<f64>| {
                out.clear();
                out.extend(elements::<T>(bytes).map(magnitude));
                Found::default()
            };
            Converter { convert: Box::new(convert), number: Number::Float64 }
        }
        Some(match element {
            ElementType::INT8 => numbers::<i8>(rules),
            ElementType::INT16 => numbers::<i16>(rules),
            ElementType::INT32 => numbers::<i32>(rules),
            ElementType::INT64 => numbers::<i64>(rules),
            ElementType::INT128 => numbers::<i128>(rules),
            ElementType::UINT8 => numbers::<u8>(rules),
            ElementType::UINT16 => numbers::<u16>(rules),
            ElementType::UINT32 => numbers::<u32>(rules),
            ElementType::UINT64 => numbers::<u64>(rules),
            ElementType::UINT128 => numbers::<u128>(rules),
            ElementType::FLOAT16 => numbers::<f16>(rules),
            ElementType::BFLOAT16 => numbers::<bf16>(rules),
            ElementType::FLOAT32 => numbers::<f32>(rules),
            ElementType::FLOAT64 => numbers::<f64>(rules),
            ElementType::COMPLEX32 => {
                magnitudes::<Complex<f16>>(|number| magnitude(number.re.into(), number.im.into()))
            }
            ElementType::COMPLEX64 => {
                magnitudes::<Complex<f32>>(|number| magnitude(number.re.into(), number.im.into()))
            }
            ElementType::COMPLEX128 => {
                magnitudes::<Complex<f64>>(|number| magnitude(number.re, number.im))
            }
            _ => return None,
        })
    }

    /// For the numbers of an enum, or truth values; nothing for elements that are no integers.
    pub(in crate::ops) fn of_names(element: ElementType) -> Option<Self> {
        let element = if element.reads_as::<u8>() { ElementType::UINT8 } else { element };
        Self::new(element, &Rules::default())
    }

    /// Puts the elements of a block into `out`, in the place of what was there.
    pub(in crate::ops) fn convert(&self, bytes: &[u8], out: &mut Vec<f64>) -> Found {
        (self.convert)(bytes, out)
    }

    /// A float that was an element, as the type has it.
    pub(in crate::ops) fn number(&self, float: f64) -> Number {
        (self.number)(float)
    }
}

/// The distance from zero; none when a part is no number.
fn magnitude(re: f64, im: f64) -> f64 {
    if re.is_nan() || im.is_nan() { f64::NAN } else { libm::hypot(re, im) }
}

fn elements<T: Pod>(bytes: &[u8]) -> impl Iterator<Item = T> + '_ {
    bytes.chunks_exact(size_of::<T>().max(1)).map(bytemuck::pod_read_unaligned)
}

fn convert<T: Numeric>(bytes: &[u8], missing: &Missing<T>, out: &mut Vec<f64>) -> Found {
    out.clear();
    if missing.is_nothing() {
        out.extend(elements::<T>(bytes).map(T::to_float));
        let extremes = if T::IS_WIDE { extremes(elements::<T>(bytes)) } else { None };
        return Found { missing: 0, exact: exact(extremes) };
    }
    let mut found = 0_u64;
    out.extend(elements::<T>(bytes).map(|element| {
        if missing.has(element) {
            found = found.saturating_add(1);
            f64::NAN
        } else {
            element.to_float()
        }
    }));
    let valid = elements::<T>(bytes).filter(|element| !missing.has(*element));
    let extremes = if T::IS_WIDE { extremes(valid) } else { None };
    Found { missing: found, exact: exact(extremes) }
}

fn extremes<T: Numeric>(mut elements: impl Iterator<Item = T>) -> Option<(T, T)> {
    let first = elements.next()?;
    Some(elements.fold((first, first), |(low, high), element| {
        (if element < low { element } else { low }, if element > high { element } else { high })
    }))
}

fn exact<T: Numeric>(extremes: Option<(T, T)>) -> Option<(Number, Number)> {
    extremes.map(|(low, high)| (low.number(), high.number()))
}

/// A number that elements can be.
trait Numeric: Pod + Bounded + Send + Sync {
    /// Whether a float may not hold all of its digits.
    const IS_WIDE: bool;
    fn to_float(self) -> f64;
    fn number(self) -> Number;
    /// The number that became this float, of types that are not wide.
    fn number_of(float: f64) -> Number;
}

macro_rules! integers {
    ($($integer:ty = $variant:ident, $is_wide:literal;)+) => {
        $(impl Numeric for $integer {
            const IS_WIDE: bool = $is_wide;

            #[allow(
                clippy::cast_precision_loss, clippy::cast_lossless,
                reason = "the nearest float is what is wanted of those that no float holds"
            )]
            fn to_float(self) -> f64 {
                self as f64
            }

            fn number(self) -> Number {
                Number::$variant(self.into())
            }

            fn number_of(float: f64) -> Number {
                // Only of numbers that a float holds.
                format!("{float:.0}")
                    .parse::<$integer>()
                    .map_or(Number::Float64(float), Self::number)
            }
        })+
    };
}

integers! {
    i8 = Int, false;
    i16 = Int, false;
    i32 = Int, false;
    i64 = Int, true;
    i128 = Int, true;
    u8 = UInt, false;
    u16 = UInt, false;
    u32 = UInt, false;
    u64 = UInt, true;
    u128 = UInt, true;
}

macro_rules! floats {
    ($($float:ty)+) => {
        $(impl Numeric for $float {
            const IS_WIDE: bool = false;

            fn to_float(self) -> f64 {
                self.into()
            }

            fn number(self) -> Number {
                Number::Float32(self.into())
            }

            #[allow(
                clippy::cast_possible_truncation,
                reason = "it was one of this type"
            )]
            fn number_of(float: f64) -> Number {
                Number::Float32(float as f32)
            }
        })+
    };
}

floats! { f16 bf16 f32 }

impl Numeric for f64 {
    const IS_WIDE: bool = false;

    fn to_float(self) -> f64 {
        self
    }

    fn number(self) -> Number {
        Number::Float64(self)
    }

    fn number_of(float: f64) -> Number {
        Number::Float64(float)
    }
}
