//! Elements as numbers: exact ones, or blocks of floats with NaN for missing values.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use bytemuck::Pod;
use half::{bf16, f16};
use serde::{Serialize, Serializer};

use crate::ndl::{Datatype, Ndarray, Value};
use crate::ra::{ElementKind, ElementType};

/// An exact number from an array.
///
/// It is displayed and serialized with the fewest digits that distinguish it from all others of its type. Integers
/// beyond 64 bits are serialized as text.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Number {
    /// A signed integer.
    Int(i128),
    /// An unsigned integer.
    UInt(u128),
    /// A float of 2 bytes.
    Float16(f16),
    /// The upper half of a float of 4 bytes.
    BFloat16(bf16),
    /// A float of 4 bytes.
    Float32(f32),
    /// A float of 8 bytes, or the magnitude of a complex number.
    Float64(f64),
}

impl Number {
    /// Returns the nearest float.
    #[expect(clippy::cast_precision_loss, reason = "the function returns the nearest float")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::UInt(number) => number as f64,
            Self::Float16(number) => number.into(),
            Self::BFloat16(number) => number.into(),
            Self::Float32(number) => number.into(),
            Self::Float64(number) => number,
        }
    }

    /// Returns the float with the fewest digits that distinguish it from all others of the number's type.
    pub fn shortest(self) -> f64 {
        match self {
            Self::Float16(number) => shortest(number),
            Self::BFloat16(number) => shortest(number),
            Self::Float32(number) => number.to_string().parse().unwrap_or(number.into()),
            number => number.to_f64(),
        }
    }

    /// Returns the number as an integer; `None` if it is not one or too large for a signed integer.
    pub(crate) fn to_integer(self) -> Option<i128> {
        match self {
            Self::Int(number) => Some(number),
            Self::UInt(number) => number.try_into().ok(),
            _ => None,
        }
    }

    /// Returns whether the number is less than another of the same type.
    pub(crate) fn is_less(self, other: Self) -> bool {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => one < other,
            (Self::UInt(one), Self::UInt(other)) => one < other,
            (one, other) => one.to_f64() < other.to_f64(),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::UInt(number) => number.fmt(f),
            // Debug uses exponents where Display would write hundreds of digits.
            Self::Float32(number) => f.pad(&short(&format!("{number:?}"))),
            number => f.pad(&short(&format!("{:?}", number.shortest()))),
        }
    }
}

/// Returns the float with the fewest digits from which the same number of a smaller type is read.
fn shortest<T: Copy + Into<f64> + FromStr + PartialEq>(number: T) -> f64 {
    let exact: f64 = number.into();
    let reads = |text: &String| text.parse::<T>().is_ok_and(|read| read == number);
    let mut texts = (0..9_usize).map(|digits| format!("{exact:.digits$e}"));
    texts.find(reads).and_then(|text| text.parse().ok()).unwrap_or(exact)
}

/// Removes the `.0` of whole numbers.
fn short(text: &str) -> String {
    text.strip_suffix(".0").unwrap_or(text).to_owned()
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(number) => match i64::try_from(*number) {
                Ok(number) => serializer.serialize_i64(number),
                Err(_) => serializer.collect_str(number),
            },
            Self::UInt(number) => match u64::try_from(*number) {
                Ok(number) => serializer.serialize_u64(number),
                Err(_) => serializer.collect_str(number),
            },
            number => serializer.serialize_f64(number.shortest()),
        }
    }
}

/// Returns the nearest float of a number in a description.
pub(crate) fn float_of(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        value => value.as_integer().map(|number| Number::Int(number).to_f64()),
    }
}

/// Returns the factor and the offset that convert stored numbers to physical values, as in `NetCDF`: the attributes
/// `scale_factor` (default 1) and `add_offset` (default 0). `None` if the description has neither.
pub fn scale_and_offset(description: &Ndarray) -> Option<(f64, f64)> {
    let number = |name| {
        let attribute = description.attributes.iter().find(|attribute| attribute.name == name)?;
        let number = match &attribute.value {
            Value::List(list) => match list.as_slice() {
                [value] => float_of(value),
                _ => None,
            },
            value => float_of(value),
        };
        // The text of such a float has only the digits that identify it.
        let is_single = attribute.datatype == Datatype::Float32;
        number.map(|number| if is_single { nearest(number).into() } else { number })
    };
    let (factor, offset) = (number("scale_factor"), number("add_offset"));
    factor.or(offset)?;
    let both = (factor.unwrap_or(1.0), offset.unwrap_or(0.0));
    (both.0.is_finite() && both.0 != 0.0 && both.1.is_finite()).then_some(both)
}

/// The conversion of stored numbers to physical values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scaling {
    factor: f64,
    offset: f64,
    /// Whether the values are floats of 4 bytes, as NumPy has them: those of numbers of at most 2 bytes, or of such
    /// floats, if factor and offset are floats of 4 bytes.
    pub(crate) is_single: bool,
}

impl Scaling {
    /// Returns the conversion that a description states, if it states any.
    pub(crate) fn of(element: ElementType, description: Option<&Ndarray>) -> Option<Self> {
        let description = description?;
        let (factor, offset) = scale_and_offset(description)?;
        let stated = ["scale_factor", "add_offset"].into_iter();
        let mut stated = stated.filter_map(|name| {
            description.attributes.iter().find(|attribute| attribute.name == name)
        });
        let is_short = element.elbyte() <= 2 || element == ElementType::FLOAT32;
        let is_single = is_short && stated.all(|it| it.datatype == Datatype::Float32);
        Some(Self { factor, offset, is_single })
    }

    #[expect(clippy::cast_possible_truncation, reason = "NumPy computes with floats of 4 bytes")]
    fn apply(self, number: f64) -> f64 {
        if self.is_single {
            return (number as f32 * self.factor as f32 + self.offset as f32).into();
        }
        number * self.factor + self.offset
    }
}

/// Applies a factor and an offset, if there are any.
#[expect(clippy::cast_possible_truncation, reason = "a single value is a float of 4 bytes")]
pub(crate) fn scaled(number: Number, scaling: Option<Scaling>) -> Number {
    let Some(scaling) = scaling else { return number };
    match scaling.apply(number.to_f64()) {
        value if scaling.is_single => Number::Float32(value as f32),
        value => Number::Float64(value),
    }
}

/// A type of real numbers.
trait Real: Pod + PartialOrd + Send + Sync {
    /// Whether a float may not represent all digits.
    const IS_WIDE: bool;
    fn to_float(self) -> f64;
    fn number(self) -> Number;
    /// Returns the number of a description: the nearest one for a float, and `None` for an integer out of range. With
    /// `wraps`, an integer is one of the signed or unsigned type with the same bits.
    fn of_value(value: &Value, wraps: bool) -> Option<Self>;
}

macro_rules! integers {
    ($variant:ident: $($integer:ty)+) => {
        $(impl Real for $integer {
            const IS_WIDE: bool = size_of::<Self>() > 4;

            #[allow(
                clippy::cast_precision_loss, clippy::cast_lossless,
                reason = "numbers that no float represents are rounded to the nearest"
            )]
            fn to_float(self) -> f64 {
                self as f64
            }

            fn number(self) -> Number {
                Number::$variant(self.into())
            }

            #[allow(
                clippy::cast_possible_truncation, clippy::cast_sign_loss,
                reason = "the bits are those of the other type"
            )]
            fn of_value(value: &Value, wraps: bool) -> Option<Self> {
                let number = value.as_integer()?;
                let other = || wraps && number.unsigned_abs() >> (Self::BITS - 1) <= 1;
                number.try_into().ok().or_else(|| other().then_some(number as Self))
            }
        })+
    };
}

integers! { Int: i8 i16 i32 i64 i128 }
integers! { UInt: u8 u16 u32 u64 u128 }

macro_rules! floats {
    ($($float:ty = $variant:ident, $nearest:expr;)+) => {
        $(impl Real for $float {
            const IS_WIDE: bool = false;

            fn to_float(self) -> f64 {
                self.into()
            }

            fn number(self) -> Number {
                Number::$variant(self)
            }

            fn of_value(value: &Value, _wraps: bool) -> Option<Self> {
                float_of(value).map($nearest)
            }
        })+
    };
}

floats! {
    f16 = Float16, f16::from_f64;
    bf16 = BFloat16, bf16::from_f64;
    f32 = Float32, nearest;
    f64 = Float64, std::convert::identity;
}

#[expect(clippy::cast_possible_truncation, reason = "the conversion rounds to the nearest")]
fn nearest(number: f64) -> f32 {
    number as f32
}

/// Calls a generic function with the Rust type of real elements; `None` for other elements.
macro_rules! for_real {
    ($element:expr, $function:ident $arguments:tt) => {
        match $element {
            ElementType::INT8 => Some($function::<i8> $arguments),
            ElementType::INT16 => Some($function::<i16> $arguments),
            ElementType::INT32 => Some($function::<i32> $arguments),
            ElementType::INT64 => Some($function::<i64> $arguments),
            ElementType::INT128 => Some($function::<i128> $arguments),
            ElementType::UINT8 => Some($function::<u8> $arguments),
            ElementType::UINT16 => Some($function::<u16> $arguments),
            ElementType::UINT32 => Some($function::<u32> $arguments),
            ElementType::UINT64 => Some($function::<u64> $arguments),
            ElementType::UINT128 => Some($function::<u128> $arguments),
            ElementType::FLOAT16 => Some($function::<f16> $arguments),
            ElementType::BFLOAT16 => Some($function::<bf16> $arguments),
            ElementType::FLOAT32 => Some($function::<f32> $arguments),
            ElementType::FLOAT64 => Some($function::<f64> $arguments),
            _ => None,
        }
    };
}

/// Returns the type of both parts of complex elements, and other types unchanged.
pub(crate) fn real_type(element: ElementType) -> ElementType {
    match element {
        ElementType::COMPLEX32 => ElementType::FLOAT16,
        ElementType::COMPLEX64 => ElementType::FLOAT32,
        ElementType::COMPLEX128 => ElementType::FLOAT64,
        real => real,
    }
}

/// Reads one element as a number.
pub(crate) type ReadNumber = fn(&[u8]) -> Number;

/// Returns the function that reads exact numbers of a type; `None` for types that are not real.
pub(crate) fn read_number(element: ElementType) -> Option<ReadNumber> {
    fn read<T: Real>() -> ReadNumber {
        |bytes| bytemuck::pod_read_unaligned::<T>(bytes).number()
    }
    for_real!(element, read())
}

/// Returns the type of the numbers that elements mean. With the attribute `_Unsigned` of `NetCDF`, signed integers are
/// unsigned ones, or the reverse.
pub(crate) fn meant_type(element: ElementType, description: Option<&Ndarray>) -> ElementType {
    let is_unsigned = description.and_then(|found| found.attribute("_Unsigned"));
    let text = is_unsigned.and_then(Value::as_str).map(str::to_ascii_lowercase);
    let kind = match (element.kind(), text.as_deref()) {
        (ElementKind::Int, Some("true")) => ElementKind::UInt,
        (ElementKind::UInt, Some("false")) => ElementKind::Int,
        _ => return element,
    };
    ElementType::new(kind.eltype(), element.elbyte()).expect("integers have any width")
}

/// Returns the integer of a description as elements of this type have it.
pub(super) fn integer_of(element: ElementType, value: &Value) -> Option<i128> {
    fn of<T: Real>(value: &Value) -> Option<i128> {
        T::of_value(value, true)?.number().to_integer()
    }
    for_real!(element, of(value)).flatten().or_else(|| value.as_integer())
}

/// Reads one element, and whether it is missing.
pub(crate) type ReadPresent = Box<dyn Fn(&[u8]) -> (Number, bool) + Send + Sync>;

/// Returns the function that reads exact numbers of a type, and finds those that are missing according to the
/// description; `None` for types that are not real.
pub(crate) fn read_present(
    element: ElementType,
    description: Option<&Ndarray>,
) -> Option<ReadPresent> {
    fn read<T: Real>(description: Option<&Ndarray>) -> ReadPresent {
        let missing = missing::<T>(description);
        Box::new(move |bytes| {
            let element = bytemuck::pod_read_unaligned::<T>(bytes);
            (element.number(), missing.as_ref().is_some_and(|is_missing| is_missing(element)))
        })
    }
    for_real!(element, read(description))
}

/// Returns the function that reads numbers with names, as [`read_present`]. A number with a name is not missing.
pub(crate) fn read_named(
    element: ElementType,
    description: Option<&Ndarray>,
    names: &[(String, i128)],
) -> Option<ReadPresent> {
    let element = if element.reads_as::<u8>() { ElementType::UINT8 } else { element };
    let is_integer = matches!(element.kind(), ElementKind::Int | ElementKind::UInt);
    let read = read_present(element, description).filter(|_| is_integer)?;
    let known: HashSet<i128> = names.iter().map(|(_, number)| *number).collect();
    Some(Box::new(move |bytes| {
        let (number, is_missing) = read(bytes);
        let has_name = number.to_integer().is_some_and(|number| known.contains(&number));
        (number, is_missing && !has_name)
    }))
}

/// Returns whether an element equals the number of a description, converted to its type.
pub(crate) fn is_number(element: ElementType, bytes: &[u8], value: &Value) -> bool {
    fn is<T: Real>(bytes: &[u8], value: &Value) -> bool {
        let stored = bytemuck::pod_read_unaligned::<T>(bytes);
        T::of_value(value, false).is_some_and(|said| is_same(said, stored))
    }
    for_real!(element, is(bytes, value)).unwrap_or(false)
}

/// Returns whether two numbers are equal. NaN equals NaN.
fn is_same<T: Real>(one: T, other: T) -> bool {
    one == other || (one.to_float().is_nan() && other.to_float().is_nan())
}

fn elements<T: Pod>(bytes: &[u8]) -> impl Iterator<Item = T> + '_ {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned)
}

/// The elements of a block as floats.
#[derive(Debug, Default)]
pub(crate) struct Floats {
    /// The floats; NaN for missing values.
    pub(crate) numbers: Vec<f64>,
    /// Number of missing values according to the description.
    pub(crate) missing: u64,
    /// The smallest and the largest number, for types whose digits a float may not represent.
    pub(crate) exact: Option<(Number, Number)>,
}

/// Returns the range that covers two ranges.
pub(crate) fn hull(one: (Number, Number), other: (Number, Number)) -> (Number, Number) {
    let low = if other.0.is_less(one.0) { other.0 } else { one.0 };
    (low, if one.1.is_less(other.1) { other.1 } else { one.1 })
}

type Conversion = dyn Fn(&[u8]) -> Floats + Sync + Send;

/// Converts elements of one type to floats, after scale and offset; complex elements to their magnitudes.
pub(crate) struct Converter {
    convert: Box<Conversion>,
    /// A number of the original type.
    like: Number,
}

impl fmt::Debug for Converter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Converter").field("like", &self.like).finish_non_exhaustive()
    }
}

impl Converter {
    /// Makes a converter for a type; `None` for elements that are not numbers or that no float represents. With `raw`,
    /// numbers are not scaled.
    pub(super) fn new(
        element: ElementType,
        description: Option<&Ndarray>,
        raw: bool,
    ) -> Option<Self> {
        fn real<T: Real>(
            element: ElementType,
            description: Option<&Ndarray>,
            raw: bool,
        ) -> Converter {
            let missing = missing::<T>(description.filter(|_| !raw));
            let Some(scaling) = Scaling::of(element, description.filter(|_| !raw)) else {
                let convert = Box::new(move |bytes: &[u8]| convert(bytes, missing.as_ref()));
                return Converter { convert, like: T::zeroed().number() };
            };
            let convert = move |bytes: &[u8]| {
                let mut floats = Floats { exact: None, ..convert(bytes, missing.as_ref()) };
                floats.numbers.iter_mut().for_each(|number| *number = scaling.apply(*number));
                floats
            };
            let like = scaled(Number::Float64(0.0), Some(scaling));
            Converter { convert: Box::new(convert), like }
        }
        if element.kind() == ElementKind::Complex {
            return Self::of_complex(element, magnitude);
        }
        for_real!(element, real(element, description, raw))
    }

    /// Makes a converter from complex elements, given by both parts; `None` for other elements.
    fn of_complex(element: ElementType, number: fn([f64; 2]) -> f64) -> Option<Self> {
        let Self { convert: parts, .. } =
            Self::new(Some(real_type(element)).filter(|real| *real != element)?, None, true)?;
        let convert = move |bytes: &[u8]| {
            let parts = parts(bytes).numbers;
            let numbers = parts.as_chunks().0.iter().copied().map(number).collect();
            Floats { numbers, ..Floats::default() }
        };
        Some(Self { convert: Box::new(convert), like: Number::Float64(0.0) })
    }

    /// Makes a converter from complex elements to their phases in radians, from −π to π; `None` for other elements.
    pub(crate) fn of_phases(element: ElementType) -> Option<Self> {
        Self::of_complex(element, |[re, im]| libm::atan2(im, re))
    }

    /// Makes a converter for numbers with names; `None` for elements that are not integers. A missing number with a name
    /// is not missing.
    pub(crate) fn of_names(
        element: ElementType,
        description: Option<&Ndarray>,
        names: &[(String, i128)],
    ) -> Option<Self> {
        let width = usize::try_from(element.elbyte()).ok()?;
        let read = read_named(element, description, names)?;
        let number = move |element: &[u8]| match read(element) {
            (_, true) => f64::NAN,
            (number, false) => number.to_f64(),
        };
        let convert = move |bytes: &[u8]| {
            let numbers = bytes.chunks_exact(width).map(&number).collect();
            Floats { numbers, ..Floats::default() }
        };
        Some(Self { convert: Box::new(convert), like: Number::Int(0) })
    }

    pub(crate) fn convert(&self, bytes: &[u8]) -> Floats {
        (self.convert)(bytes)
    }

    /// Returns whether the elements are integers.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.like, Number::Int(_) | Number::UInt(_))
    }

    /// Converts a float back to the element, for types whose digits a float represents.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the float was an element of the type"
    )]
    pub(crate) fn number(&self, float: f64) -> Number {
        match self.like {
            Number::Int(_) => Number::Int(float as i128),
            Number::UInt(_) => Number::UInt(float as u128),
            Number::Float16(_) => Number::Float16(f16::from_f64(float)),
            Number::BFloat16(_) => Number::BFloat16(bf16::from_f64(float)),
            Number::Float32(_) => Number::Float32(float as f32),
            Number::Float64(_) => Number::Float64(float),
        }
    }
}

/// Returns the magnitude of a complex number; NaN if a part is NaN.
fn magnitude([re, im]: [f64; 2]) -> f64 {
    if re.is_nan() || im.is_nan() { f64::NAN } else { libm::hypot(re, im) }
}

fn convert<T: Real>(bytes: &[u8], missing: Option<&impl Fn(T) -> bool>) -> Floats {
    let extremes = |elements: &mut dyn Iterator<Item = T>| {
        let first = elements.next().filter(|_| T::IS_WIDE)?;
        let (low, high) = elements.fold((first, first), |(low, high), element| {
            (if element < low { element } else { low }, if element > high { element } else { high })
        });
        Some((low.number(), high.number()))
    };
    let Some(is_missing) = missing else {
        let numbers = elements::<T>(bytes).map(T::to_float).collect();
        return Floats { numbers, missing: 0, exact: extremes(&mut elements(bytes)) };
    };
    let mut count = 0;
    let number = |element: T| {
        let is_missing = is_missing(element);
        count += u64::from(is_missing);
        if is_missing { f64::NAN } else { element.to_float() }
    };
    let numbers = elements(bytes).map(number).collect();
    let exact = extremes(&mut elements(bytes).filter(|element| !is_missing(*element)));
    Floats { numbers, missing: count, exact }
}

/// Attributes whose numbers mark missing values.
const FILLS: [&str; 2] = ["_FillValue", "missing_value"];

/// Returns a function that recognizes missing elements, if the description defines any. They equal `storage.fillvalue`
/// or the attributes `_FillValue` and `missing_value`, or are outside `valid_range`, `valid_min` and `valid_max`.
/// Numbers that the type cannot represent match no elements.
fn missing<T: Real>(
    description: Option<&Ndarray>,
) -> Option<impl Fn(T) -> bool + Sync + Send + use<T>> {
    let description = description?;
    let attribute = |name| description.attribute(name);
    let value_of = |value| T::of_value(value, attribute("_Unsigned").is_some());
    let mut fills: Vec<T> = Vec::new();
    let stored = description.storage.as_ref().and_then(|storage| storage.fillvalue.as_ref());
    for value in stored.into_iter().chain(FILLS.into_iter().filter_map(attribute)) {
        let values = if let Value::List(list) = value { list } else { std::slice::from_ref(value) };
        fills.extend(values.iter().filter_map(value_of));
    }
    let (low, high) = match attribute("valid_range") {
        Some(Value::List(range)) => match range.as_slice() {
            [low, high] => (Some(low), Some(high)),
            _ => (None, None),
        },
        _ => (attribute("valid_min"), attribute("valid_max")),
    };
    let [low, high] = [low, high].map(|bound| bound.and_then(value_of));
    let is_nothing = fills.is_empty() && low.is_none() && high.is_none();
    // Infinities do not count as outside a range.
    (!is_nothing).then_some(move |element: T| {
        fills.iter().any(|fill| is_same(*fill, element))
            || (element.to_float().is_finite()
                && (low.is_some_and(|low| element < low)
                    || high.is_some_and(|high| element > high)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_displayed_with_the_fewest_digits() {
        let cases = [
            (Number::Float32(0.1), "0.1"),
            (Number::Float64(0.1 + 0.2), "0.30000000000000004"),
            (Number::Float64(5.0), "5"),
            (Number::Float64(-1e300), "-1e300"),
            (Number::Int(i128::MIN), "-170141183460469231731687303715884105728"),
            (Number::UInt(7), "7"),
            (Number::Float16(f16::from_f32(0.1)), "0.1"),
            (Number::Float16(f16::MAX), "65500"),
            (Number::BFloat16(bf16::from_f32(2.5e-3)), "0.0025"),
        ];
        for (number, text) in cases {
            assert_eq!(number.to_string(), text);
        }
    }
}
