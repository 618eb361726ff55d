//! Values as text, like printed NumPy arrays: aligned columns, and `...` for omitted values.

use crate::ndl::{Datatype, Ndarray, Value};
use crate::ra::{ElementKind, ElementType};
use crate::read::{Corners, Decoded, Decoder, Number};

use super::text::{columns, count, float};

/// Most dimensions that are all shown. In arrays with more, such as those of BART with 16, those of length 1 would hide
/// the others.
pub const UNFOLDED: usize = 4;

/// Width of a line, in columns.
const LINE: usize = 75;

/// Largest number of bytes shown of an element of unknown type.
const BYTES: usize = 16;

/// Formats the corners of an array, with at most `precision` decimals. With `raw`, numbers are those that are stored.
pub fn text(corners: &Corners, precision: usize, raw: bool) -> String {
    if let Some(text) = written(corners) {
        return text;
    }
    if corners.shape.contains(&0) {
        return "[]".to_owned();
    }
    let pairs = corners.shape.iter().copied().zip(corners.leading.iter().copied());
    let is_folded = corners.shape.len() > UNFOLDED;
    let extents: Vec<_> = pairs.filter(|(extent, _)| !is_folded || *extent != 1).collect();
    nest(&extents, &mut words(corners, precision, raw).into_iter(), 0, LINE)
}

/// Formats elements that form one text.
fn written(corners: &Corners) -> Option<String> {
    let description = corners.description.as_ref()?;
    if description.datatype != Datatype::String || corners.shape != corners.leading {
        return None;
    }
    let text = std::str::from_utf8(&corners.bytes).ok()?.trim_end_matches('\0');
    let lines: Vec<String> =
        text.lines().map(|line| crate::path::escape(line).to_string()).collect();
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

/// Formats each element; all have the same width.
pub fn words(corners: &Corners, precision: usize, raw: bool) -> Vec<String> {
    let decoder = Decoder::new(corners.element, corners.description.as_ref(), raw);
    let elements = corners.bytes.chunks_exact(decoder.elbyte());
    column(&elements.map(|element| decoder.decode(element)).collect::<Vec<_>>(), precision)
}

/// Formats values of one kind.
fn column(values: &[Decoded], precision: usize) -> Vec<String> {
    match values.first() {
        Some(Decoded::Struct(members)) => {
            let member = |nth: usize| {
                let own = values.iter().filter_map(|value| match value {
                    Decoded::Struct(members) => members.get(nth).map(|(_, value)| value.clone()),
                    _ => None,
                });
                column(&own.collect::<Vec<_>>(), precision).into_iter()
            };
            let mut columns: Vec<_> = (0..members.len()).map(member).collect();
            let tuple = |_| {
                let parts = columns.iter_mut().filter_map(Iterator::next);
                format!("({})", parts.collect::<Vec<_>>().join(", "))
            };
            values.iter().map(tuple).collect()
        }
        Some(Decoded::List(first)) => {
            let own = values.iter().flat_map(|value| match value {
                Decoded::List(list) => list.clone(),
                _ => Vec::new(),
            });
            let parts = column(&own.collect::<Vec<_>>(), precision);
            let lists = parts.chunks(first.len().max(1));
            let mut lists = lists.map(|parts| format!("[{}]", parts.join(" ")));
            values.iter().map(|_| lists.next().unwrap_or_else(|| "[]".to_owned())).collect()
        }
        _ => scalars(values, precision),
    }
}

/// Formats values without parts.
fn scalars(values: &[Decoded], precision: usize) -> Vec<String> {
    let parts = |part: fn(&Decoded) -> Option<Number>, sign| {
        let all = values.iter().filter_map(part).map(Float::of);
        floats(&all.collect::<Vec<_>>(), precision, sign).into_iter()
    };
    let mut real = parts(real_part, "");
    let mut imaginary = parts(imaginary_part, "+");
    let word = |value: &Decoded| match value {
        Decoded::Bool(truth) => if *truth { "True" } else { "False" }.to_owned(),
        Decoded::Number(number @ (Number::Int(_) | Number::UInt(_))) => number.to_string(),
        Decoded::Number(_) => real.next().expect("each float has a word"),
        Decoded::Complex(..) => {
            let real = real.next().expect("each real part has a word");
            let imaginary = imaginary.next().expect("each imaginary part has a word");
            let digits = imaginary.trim_end();
            format!("{real}{digits}j{}", " ".repeat(imaginary.len() - digits.len()))
        }
        Decoded::Date(text) => text.clone(),
        Decoded::Name(name) => crate::path::escape(name).to_string(),
        Decoded::Text(text) => {
            let quote = if text.contains('\'') { '"' } else { '\'' };
            format!("{quote}{}{quote}", crate::path::escape(text))
        }
        Decoded::Bytes(bytes) => hex(bytes),
        Decoded::NotATime => "NaT".to_owned(),
        _ => "--".to_owned(),
    };
    let is_text = |value: &Decoded| matches!(value, Decoded::Text(_) | Decoded::Name(_));
    let is_to_left = values.iter().any(is_text);
    align(values.iter().map(word).collect(), is_to_left)
}

/// Returns a float, or the real part of a complex number.
fn real_part(value: &Decoded) -> Option<Number> {
    match value {
        Decoded::Number(Number::Int(_) | Number::UInt(_)) => None,
        Decoded::Number(number) | Decoded::Complex(number, _) => Some(*number),
        _ => None,
    }
}

fn imaginary_part(value: &Decoded) -> Option<Number> {
    if let Decoded::Complex(_, number) = value { Some(*number) } else { None }
}

fn hex(bytes: &[u8]) -> String {
    let digits = |byte: &u8| format!("{byte:02x}");
    let shown: String = bytes.iter().take(BYTES).map(digits).collect();
    format!("0x{shown}{}", if bytes.len() > BYTES { "…" } else { "" })
}

fn align(words: Vec<String>, to_left: bool) -> Vec<String> {
    let width = words.iter().map(|word| columns(word)).max().unwrap_or(0);
    let pad = |word: String| {
        let room = " ".repeat(width - columns(&word));
        if to_left { word + &room } else { room + &word }
    };
    words.into_iter().map(pad).collect()
}

/// Float, and the double with the fewest digits that identify it within its type.
#[derive(Debug, Clone, Copy)]
struct Float {
    exact: f64,
    short: f64,
}

impl Float {
    fn of(number: Number) -> Self {
        Self { exact: number.to_f64(), short: number.shortest() }
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
fn floats(numbers: &[Float], precision: usize, sign: &str) -> Vec<String> {
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

/// Returns the name of a type, with the members of a structure.
pub fn type_name(description: Option<&Ndarray>, element: ElementType) -> String {
    let datatype = description.map(|description| &description.datatype);
    match datatype {
        Some(Datatype::Compound(members)) if element.kind() == ElementKind::User => {
            let member = |(name, datatype): &(String, Datatype)| {
                let kind = crate::read::member_type_name(datatype);
                format!("{}: {kind}", crate::path::escape(name))
            };
            format!("({})", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        _ => crate::read::type_name(element, datatype),
    }
}

/// Formats a value on one line, with at most `most` elements of a list.
pub fn flow(value: &Value, most: u64) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::String(text) => crate::path::escape(text).to_string(),
        Value::List(list) => {
            let limit = count(float(most));
            let shown = list.iter().take(limit).map(|value| flow(value, most));
            let more = (list.len() > limit).then(|| "...".to_owned());
            let parts: Vec<_> = shown.chain(more).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Map(map) => {
            let part = |(name, value): &(String, Value)| {
                format!("{}: {}", crate::path::escape(name), flow(value, most))
            };
            format!("{{{}}}", map.iter().map(part).collect::<Vec<_>>().join(", "))
        }
    }
}
