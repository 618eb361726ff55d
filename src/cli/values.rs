//! Values as text, like printed NumPy arrays: aligned columns, and `...` for omitted values.

use std::str::FromStr;

use half::{bf16, f16};
use ra_pack::ElementType;
use ra_pack::interchange::element_of_word;
use ra_pack::ndl::{Datatype, Ndarray, Value};
use ra_pack::ra::ElementKind;
use ra_pack::read::Corners;

use super::text::{count, float};

/// Most dimensions that are all shown. In arrays with more, such as those of BART with 16, those of length 1 would hide
/// the others.
pub(super) const UNFOLDED: usize = 4;

/// Width of a line, in columns.
const LINE: usize = 75;

/// Largest number of bytes shown of an element of unknown type.
const BYTES: usize = 16;

/// Formats the corners of an array, with at most `precision` decimals.
pub(in crate::cli) fn text(corners: &Corners, precision: usize) -> String {
    if let Some(text) = written(corners) {
        return text;
    }
    if corners.shape.contains(&0) {
        return "[]".to_owned();
    }
    let pairs = corners.shape.iter().copied().zip(corners.leading.iter().copied());
    let is_folded = corners.shape.len() > UNFOLDED;
    let extents: Vec<_> = pairs.filter(|(extent, _)| !is_folded || *extent != 1).collect();
    nest(&extents, &mut words(corners, precision).into_iter(), 0, LINE)
}

/// Formats elements that form one text.
fn written(corners: &Corners) -> Option<String> {
    let description = corners.description.as_ref()?;
    if description.datatype != Datatype::String || corners.shape != corners.leading {
        return None;
    }
    let text = std::str::from_utf8(&corners.bytes).ok()?;
    let lines: Vec<String> =
        text.lines().map(|line| ra_pack::path::escape(line).to_string()).collect();
    Some(lines.join("\n"))
}

/// Formats the next elements, from this dimension on. Each has its length, and the number of leading elements that are
/// shown. The depth is the number of dimensions, at most 64.
fn nest(
    extents: &[(u64, u64)],
    words: &mut impl Iterator<Item = String>,
    axis: usize,
    width: usize,
) -> String {
    let Some((extent, lead)) = extents.get(axis) else {
        return words.next().unwrap_or_default();
    };
    let is_cut = lead < extent;
    let count = if is_cut { lead * 2 } else { *extent };
    let indent = " ".repeat(axis + 1);
    let left = extents.len() - axis;
    let between = if left == 1 { " ".to_owned() } else { "\n".repeat(left - 1) + &indent };
    let (mut text, mut line) = (String::new(), indent.clone());
    let mut put = |word: &str, is_last: bool| {
        let wide = line.chars().count() + word.chars().count();
        if left == 1 && wide > width - 1 && line.len() > indent.len() {
            text.push_str(line.trim_end());
            text.push('\n');
            line.clone_from(&indent);
        }
        line.push_str(word);
        line.push_str(if is_last { "" } else { &between });
    };
    for nth in 0..count {
        if is_cut && nth == *lead {
            put("...", false);
        }
        put(&nest(extents, words, axis + 1, width - 1), nth + 1 == count);
    }
    text.push_str(&line);
    format!("[{}]", text.get(indent.len()..).unwrap_or_default())
}

/// Formats each element; all have the same width if they are shown in columns.
pub(in crate::cli) fn words(corners: &Corners, precision: usize) -> Vec<String> {
    let bytes = &corners.bytes;
    let datatype = corners.description.as_ref().map(|description| &description.datatype);
    if let Some(datatype @ (Datatype::Enum { .. } | Datatype::Compound(_))) = datatype
        && corners.element.kind() != ElementKind::Complex
        && (datatype.packed_size() == Some(corners.element.elbyte())
            || corners.element.elbyte() == 1)
    {
        return of_datatype(datatype, bytes, precision);
    }
    of_element(corners.element, bytes, precision)
}

/// Formats elements of a type in the description.
fn of_datatype(datatype: &Datatype, bytes: &[u8], precision: usize) -> Vec<String> {
    let width = |datatype: &Datatype| {
        datatype.packed_size().and_then(|size| usize::try_from(size).ok()).unwrap_or(0)
    };
    match datatype {
        Datatype::Enum { members, .. } => {
            let size = width(datatype).max(1);
            let is_signed = datatype.resolved_base().is_none_or(|base| base.range().0 < 0);
            let name = |element: &[u8]| {
                let number = integer(element, is_signed);
                let member = members.iter().find(|(_, value)| *value == number);
                member.map_or_else(
                    || number.to_string(),
                    |(name, _)| ra_pack::path::escape(name).to_string(),
                )
            };
            align(bytes.chunks_exact(size).map(name).collect(), true)
        }
        Datatype::Compound(members) => {
            let size = width(datatype).max(1);
            let mut at = 0_usize;
            let mut columns = Vec::new();
            for (_, member) in members {
                let (start, end) = (at, at.saturating_add(width(member)));
                let part = |element| <[u8]>::get(element, start..end).unwrap_or_default();
                let part = bytes.chunks_exact(size).map(part).collect::<Vec<_>>().concat();
                columns.push(of_datatype(member, &part, precision).into_iter());
                at = end;
            }
            let tuple = |_| {
                let parts = columns.iter_mut().map(|column| column.next().unwrap_or_default());
                format!("({})", parts.collect::<Vec<_>>().join(", "))
            };
            bytes.chunks_exact(size).map(tuple).collect()
        }
        Datatype::Array { base, shape } => {
            let each = shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
            let each =
                each.and_then(|each| usize::try_from(each).ok()).unwrap_or(usize::MAX).max(1);
            let parts = of_datatype(base, bytes, precision);
            parts.chunks(each).map(|parts| format!("[{}]", parts.join(" "))).collect()
        }
        _ => match element_of_word(datatype) {
            Some(element) => of_element(element, bytes, precision),
            None => hex(bytes, width(datatype).max(1)),
        },
    }
}

fn of_element(element: ElementType, bytes: &[u8], precision: usize) -> Vec<String> {
    fn read<T: bytemuck::Pod>(bytes: &[u8]) -> impl Iterator<Item = T> + '_ {
        bytes.chunks_exact(size_of::<T>().max(1)).map(bytemuck::pod_read_unaligned)
    }
    let width = usize::try_from(element.elbyte()).unwrap_or(usize::MAX).max(1);
    match element {
        ElementType::BOOL => {
            let word = |byte: &u8| if *byte == 0 { "False" } else { "True" }.to_owned();
            align(bytes.iter().map(word).collect(), false)
        }
        ElementType::FLOAT16 => floats(read::<f16>(bytes).map(Float::of_half), precision, ""),
        ElementType::BFLOAT16 => floats(read::<bf16>(bytes).map(Float::of_half), precision, ""),
        ElementType::FLOAT32 => floats(read::<f32>(bytes).map(Float::of), precision, ""),
        ElementType::FLOAT64 => floats(read::<f64>(bytes).map(Float::of), precision, ""),
        ElementType::COMPLEX32 => complex(read::<f16>(bytes).map(Float::of_half), precision),
        ElementType::COMPLEX64 => complex(read::<f32>(bytes).map(Float::of), precision),
        ElementType::COMPLEX128 => complex(read::<f64>(bytes).map(Float::of), precision),
        _ if width > 16 => hex(bytes, width),
        _ => {
            let word: fn(&[u8]) -> String = match element.kind() {
                ElementKind::Int => |element| integer(element, true).to_string(),
                ElementKind::UInt => |element| integer(element, false).cast_unsigned().to_string(),
                _ => return hex(bytes, width),
            };
            align(bytes.chunks_exact(width).map(word).collect(), false)
        }
    }
}

fn hex(bytes: &[u8], width: usize) -> Vec<String> {
    let word = |element: &[u8]| {
        let digits = |byte: &u8| format!("{byte:02x}");
        let shown: String = element.iter().take(BYTES).map(digits).collect();
        let more = if element.len() > BYTES { "…" } else { "" };
        format!("0x{shown}{more}")
    };
    bytes.chunks_exact(width).map(word).collect()
}

/// Reads an integer of at most 16 bytes in native byte order. An unsigned one of 16 bytes keeps its bits.
fn integer(element: &[u8], is_signed: bool) -> i128 {
    let mut little = element.to_vec();
    if cfg!(target_endian = "big") {
        little.reverse();
    }
    let is_negative = is_signed && little.last().is_some_and(|last| last & 0x80 != 0);
    little.resize(16, if is_negative { 0xFF } else { 0 });
    little.try_into().map_or(0, i128::from_le_bytes)
}

fn align(words: Vec<String>, to_left: bool) -> Vec<String> {
    let width = words.iter().map(|word| word.chars().count()).max().unwrap_or(0);
    let pad =
        |word: String| if to_left { format!("{word:<width$}") } else { format!("{word:>width$}") };
    words.into_iter().map(pad).collect()
}

/// Float, and the double with the fewest digits that identify it within its type.
#[derive(Debug, Clone, Copy)]
struct Float {
    exact: f64,
    short: f64,
}

impl Float {
    fn of<T: Copy + Into<f64> + ToString>(number: T) -> Self {
        let exact = number.into();
        Self { exact, short: number.to_string().parse().unwrap_or(exact) }
    }

    /// Converts a number of a type with fewer digits than a double.
    fn of_half<T: Copy + Into<f64> + FromStr + PartialEq>(number: T) -> Self {
        let exact: f64 = number.into();
        let reads = |text: &String| text.parse::<T>().is_ok_and(|read| read == number);
        let mut texts = (0..9_usize).map(|digits| format!("{exact:.digits$e}"));
        let short = texts.find(reads).and_then(|text| text.parse().ok());
        Self { exact, short: short.unwrap_or(exact) }
    }

    /// Returns the digits before the point, at most `precision` decimals without trailing zeros, and the power of ten.
    fn parts(self, precision: usize, is_scientific: bool) -> (String, String, i32) {
        let Self { exact, short } = self;
        let text = if is_scientific { format!("{short:e}") } else { short.to_string() };
        let parts = split(&text);
        if parts.1.len() <= precision {
            return parts;
        }
        split(&if is_scientific {
            format!("{exact:.precision$e}")
        } else {
            format!("{exact:.precision$}")
        })
    }
}

/// Returns the digits of a number before and after the point, without trailing zeros, and the power of ten.
fn split(text: &str) -> (String, String, i32) {
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    let (before, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    (before.to_owned(), decimals.trim_end_matches('0').to_owned(), power.parse().unwrap_or(0))
}

/// Formats floats with aligned points; `sign` precedes those that are not negative.
fn floats(numbers: impl Iterator<Item = Float>, precision: usize, sign: &str) -> Vec<String> {
    let numbers: Vec<Float> = numbers.collect();
    let magnitudes = numbers.iter().map(|float| float.exact.abs());
    let magnitudes = magnitudes.filter(|number| number.is_finite() && *number > 0.0);
    let (least, most) = magnitudes.fold((f64::INFINITY, 0.0_f64), |(least, most), number| {
        (least.min(number), most.max(number))
    });
    let is_scientific = most > 0.0 && (most >= 1e16 || least < 1e-4 || most / least > 1000.0);
    let signed = |text: String, number: f64| {
        let is_bare = number.is_sign_negative() && !number.is_nan();
        if is_bare { text } else { format!("{sign}{text}") }
    };
    let (mut left, mut decimals, mut power_width) = (0, 0, 0);
    let mut parts = Vec::new();
    for float in numbers.iter().filter(|float| float.exact.is_finite()) {
        let (before, digits, power) = float.parts(precision, is_scientific);
        let before = signed(before, float.exact);
        left = left.max(before.len());
        decimals = decimals.max(digits.len());
        power_width = power_width.max(power.unsigned_abs().to_string().len().max(2));
        parts.push((before, digits));
    }
    let right = if is_scientific { decimals + power_width + 2 } else { decimals };
    let strange = |number: f64| signed(number.to_string().to_lowercase(), number);
    for float in numbers.iter().filter(|float| !float.exact.is_finite()) {
        left = left.max(strange(float.exact).len().saturating_sub(right + 1));
    }
    let mut parts = parts.into_iter();
    let word = |Float { exact, .. }: &Float| {
        if !exact.is_finite() {
            return format!("{:>width$}", strange(*exact), width = left + right + 1);
        }
        let (before, digits) = parts.next().unwrap_or_default();
        if !is_scientific {
            return format!("{before:>left$}.{digits:<decimals$}");
        }
        // Uses the exact digits, like NumPy: the shortest digits may be rounded up.
        let (before, digits, power) = split(&format!("{exact:.decimals$e}"));
        let (before, sign) = (signed(before, *exact), if power < 0 { '-' } else { '+' });
        format!("{before:>left$}.{digits:0<decimals$}e{sign}{:0power_width$}", power.unsigned_abs())
    };
    numbers.iter().map(word).collect()
}

fn complex(numbers: impl Iterator<Item = Float>, precision: usize) -> Vec<String> {
    let numbers: Vec<Float> = numbers.collect();
    let part = |nth: usize| numbers.chunks_exact(2).filter_map(move |pair| pair.get(nth).copied());
    let real = floats(part(0), precision, "");
    let imaginary = floats(part(1), precision, "+");
    let join = |(real, imaginary): (String, String)| {
        let digits = imaginary.trim_end();
        let spaces = imaginary.len() - digits.len();
        format!("{real}{digits}j{}", " ".repeat(spaces))
    };
    real.into_iter().zip(imaginary).map(join).collect()
}

/// Returns the name of a type.
pub(super) fn type_name(description: Option<&Ndarray>, element: ElementType) -> String {
    match description.map(|description| &description.datatype) {
        Some(Datatype::Enum { base, .. }) => {
            let base = base.map_or_else(String::new, |base| format!(" of {}", base.word()));
            format!("enum{base}")
        }
        Some(Datatype::Compound(members)) if element.kind() != ElementKind::Complex => {
            let member = |(name, datatype): &(String, Datatype)| {
                format!("{}: {datatype}", ra_pack::path::escape(name))
            };
            format!("({})", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Some(Datatype::String) => "string".to_owned(),
        _ => element.to_string(),
    }
}

/// Formats a value on one line, with at most `most` elements of a list.
pub(super) fn flow(value: &Value, most: u64) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::String(text) => ra_pack::path::escape(text).to_string(),
        Value::List(list) => {
            let limit = count(float(most));
            let shown = list.iter().take(limit).map(|value| flow(value, most));
            let more = (list.len() > limit).then(|| "...".to_owned());
            let parts: Vec<_> = shown.chain(more).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Map(map) => {
            let part = |(name, value): &(String, Value)| {
                format!("{}: {}", ra_pack::path::escape(name), flow(value, most))
            };
            format!("{{{}}}", map.iter().map(part).collect::<Vec<_>>().join(", "))
        }
    }
}
