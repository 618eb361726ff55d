//! Numbers as text: rows of decimals, or nested lists.
//!
//! Every number is written with as many digits as tell it from all others of its type, so that reading the
//! text gives the same number.

use std::fmt::Write as _;
use std::io::{self, Write};

use half::{bf16, f16};

use crate::error::{Error, Result};
use crate::ra::{ElementKind, ElementType};

/// Bytes of text that are written at once.
const BLOCK: usize = 64 * 1024;

/// Most lists or lines that are written for an array without elements, which can have any number of them.
const MAX_EMPTY: u64 = 1 << 20;

/// How to write one element.
type WriteNumber = fn(&[u8], &mut String);

/// The elements of an array with the last index fastest, little-endian.
pub(super) struct Numbers<'d> {
    shape: &'d [u64],
    data: &'d [u8],
    width: usize,
    number: WriteNumber,
}

/// What is not a number in JSON has no form there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `nan`, `inf`, `-inf`, as numpy and pandas read them.
    Plain,
    /// `"NaN"`, `"Infinity"`, `"-Infinity"`, and integers of 16 bytes as strings too.
    Json,
}

impl<'d> Numbers<'d> {
    pub(super) fn new(
        element: ElementType,
        shape: &'d [u64],
        data: &'d [u8],
        style: Style,
    ) -> Result<Self> {
        let Some(number) = writer_of(element, style) else {
            return Err(Error::Unsupported(format!(
                "elements of `{element}` have no form as text; use the option `format: npy`, ra or raw"
            )));
        };
        let before = shape.iter().take_while(|extent| **extent > 0);
        let lists = before.fold(1, |product: u64, extent| product.saturating_mul(*extent));
        if data.is_empty() && lists > MAX_EMPTY {
            return Err(Error::Unsupported(format!(
                "an array without elements would make {lists} empty lists"
            )));
        }
        let width = usize::try_from(element.elbyte()).unwrap_or(usize::MAX).max(1);
        Ok(Self { shape, data, width, number })
    }

    /// One line for each first index; of one dimension, one for each element.
    pub(super) fn write_csv(&self, out: &mut dyn Write) -> Result<Result<(), io::Error>> {
        let (rows, columns) = match *self.shape {
            [] => (1, 1),
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                return Err(Error::Unsupported(format!(
                    "a table has two dimensions, and the array {}; choose two by the option `slice`, \
                     or use the option `format: json`",
                    self.shape.len()
                )));
            }
        };
        let mut text = Text { out, buffer: String::new() };
        let mut elements = self.data.chunks_exact(self.width);
        let mut write = || {
            for _ in 0..rows {
                for column in 0..columns {
                    if column > 0 {
                        text.buffer.push(',');
                    }
                    (self.number)(elements.next().unwrap_or_default(), &mut text.buffer);
                    text.flush(BLOCK)?;
                }
                text.buffer.push('\n');
            }
            text.flush(0)
        };
        Ok(write())
    }

    /// Lists nested as deep as the shape is long, the outermost for the first index.
    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut text = Text { out, buffer: String::new() };
        let mut elements = self.data.chunks_exact(self.width);
        self.nest(self.shape, &mut elements, &mut text)?;
        text.buffer.push('\n');
        text.flush(0)
    }

    /// As deep as an array has dimensions, which are few.
    fn nest<'e>(
        &self,
        shape: &[u64],
        elements: &mut impl Iterator<Item = &'e [u8]>,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        let Some((extent, inner)) = shape.split_first() else {
            (self.number)(elements.next().unwrap_or_default(), &mut text.buffer);
            return text.flush(BLOCK);
        };
        text.buffer.push('[');
        for at in 0..*extent {
            if at > 0 {
                text.buffer.push(',');
            }
            self.nest(inner, elements, text)?;
        }
        text.buffer.push(']');
        Ok(())
    }
}

/// Text that is written in blocks.
struct Text<'w> {
    out: &'w mut dyn Write,
    buffer: String,
}

impl Text<'_> {
    fn flush(&mut self, from: usize) -> io::Result<()> {
        if self.buffer.len() >= from {
            self.out.write_all(self.buffer.as_bytes())?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// A text in quotes as JSON has it.
pub(super) fn json_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter < ' ' => {
                // A String takes whatever is written to it.
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

macro_rules! writes {
    ($number:ty, $as:expr) => {
        |bytes: &[u8], text: &mut String| {
            if let Ok(bytes) = bytes.try_into() {
                let show: fn($number, &mut String) = $as;
                show(<$number>::from_le_bytes(bytes), text);
            }
        }
    };
    ($number:ty) => {
        writes!($number, |number, text| {
            let _ = write!(text, "{number}");
        })
    };
}

macro_rules! float {
    ($number:ty, $style:expr) => {
        match $style {
            Style::Plain => {
                writes!($number, |number, text| push_float(&number, text, ["nan", "inf", "-inf"]))
            }
            Style::Json => writes!($number, |number, text| {
                push_float(&number, text, ["\"NaN\"", "\"Infinity\"", "\"-Infinity\""]);
            }),
        }
    };
}

fn writer_of(element: ElementType, style: Style) -> Option<WriteNumber> {
    Some(match (element.kind(), element.elbyte()) {
        (ElementKind::Int, 1) => writes!(i8),
        (ElementKind::Int, 2) => writes!(i16),
        (ElementKind::Int, 4) => writes!(i32),
        (ElementKind::Int, 8) => writes!(i64),
        (ElementKind::UInt | ElementKind::BFloat, 1) => writes!(u8),
        (ElementKind::UInt, 2) => writes!(u16),
        (ElementKind::UInt, 4) => writes!(u32),
        (ElementKind::UInt, 8) => writes!(u64),
        (ElementKind::Int, 16) if style == Style::Plain => writes!(i128),
        (ElementKind::UInt, 16) if style == Style::Plain => writes!(u128),
        (ElementKind::Int, 16) => writes!(i128, |number, text| {
            let _ = write!(text, "\"{number}\"");
        }),
        (ElementKind::UInt, 16) => writes!(u128, |number, text| {
            let _ = write!(text, "\"{number}\"");
        }),
        (ElementKind::Float, 2) => float!(f16, style),
        (ElementKind::BFloat, 2) => float!(bf16, style),
        (ElementKind::Float, 4) => float!(f32, style),
        (ElementKind::Float, 8) => float!(f64, style),
        _ => return None,
    })
}

/// A number with its shortest digits.
trait Shortest {
    fn push(&self, text: &mut String);
    /// 0 for NaN, 1 and 2 for the infinities.
    fn special(&self) -> Option<usize>;
}

macro_rules! shortest {
    ($($number:ty: $as:expr;)+) => {
        $(impl Shortest for $number {
            fn push(&self, text: &mut String) {
                let shown = $as(*self);
                let _ = write!(text, "{shown:?}");
            }

            fn special(&self) -> Option<usize> {
                let wide = f64::from(*self);
                if wide.is_nan() {
                    Some(0)
                } else if wide.is_infinite() {
                    Some(if wide > 0.0 { 1 } else { 2 })
                } else {
                    None
                }
            }
        })+
    };
}

shortest! {
    f32: f32::from;
    f64: f64::from;
    f16: f16::to_f32;
    bf16: bf16::to_f32;
}

fn push_float(number: &impl Shortest, text: &mut String, special: [&str; 3]) {
    match number.special().and_then(|which| special.get(which)) {
        Some(word) => text.push_str(word),
        None => number.push(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(element: ElementType, shape: &[u64], data: &[u8]) -> Result<String> {
        let mut out = Vec::new();
        Numbers::new(element, shape, data, Style::Plain)?.write_csv(&mut out)?.unwrap();
        Ok(String::from_utf8(out).unwrap())
    }

    fn json(element: ElementType, shape: &[u64], data: &[u8]) -> Result<String> {
        let mut out = Vec::new();
        Numbers::new(element, shape, data, Style::Json)?.write_json(&mut out).unwrap();
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn tables_and_lists_have_the_shape_of_the_array() {
        let data = [1, 2, 3, 4, 5, 6];
        let bytes = |shape: &[u64], data: &[u8]| {
            (
                csv(ElementType::UINT8, shape, data).ok(),
                json(ElementType::UINT8, shape, data).unwrap(),
            )
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            bytes(&[2, 3], &data),
            (some("1,2,3\n4,5,6\n"), "[[1,2,3],[4,5,6]]\n".to_owned())
        );
        assert_eq!(bytes(&[6], &data), (some("1\n2\n3\n4\n5\n6\n"), "[1,2,3,4,5,6]\n".to_owned()));
        assert_eq!(bytes(&[], &[7]), (some("7\n"), "7\n".to_owned()));
        assert_eq!(bytes(&[1, 2, 1], &[1, 2]), (None, "[[[1],[2]]]\n".to_owned()));
        assert_eq!(bytes(&[2, 0], &[]), (some("\n\n"), "[[],[]]\n".to_owned()));
        assert_eq!(bytes(&[0, 1 << 40], &[]), (some(""), "[]\n".to_owned()));
        assert!(json(ElementType::UINT8, &[1 << 40, 0], &[]).is_err());
    }

    #[test]
    fn what_is_no_number_in_json_is_a_string_there() {
        let data: Vec<u8> = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.1, 1e-40, 1e30]
            .into_iter()
            .flat_map(f32::to_le_bytes)
            .collect();
        assert_eq!(
            csv(ElementType::FLOAT32, &[7], &data).unwrap(),
            "nan\ninf\n-inf\n-0.0\n0.1\n1e-40\n1e30\n"
        );
        assert_eq!(
            json(ElementType::FLOAT32, &[7], &data).unwrap(),
            "[\"NaN\",\"Infinity\",\"-Infinity\",-0.0,0.1,1e-40,1e30]\n"
        );
        let wide = i128::MIN.to_le_bytes();
        assert_eq!(json(ElementType::INT128, &[], &wide).unwrap(), format!("\"{}\"\n", i128::MIN));
        assert!(csv(ElementType::COMPLEX64, &[], &[0; 8]).is_err());
        assert_eq!(json_string("a\"\\\n"), "\"a\\\"\\\\\\u000a\"");
    }

    #[test]
    fn digits_tell_every_number_from_all_others() {
        for bits in 0..=u16::MAX {
            let number = f16::from_bits(bits);
            let text = csv(ElementType::FLOAT16, &[], &bits.to_le_bytes()).unwrap();
            let read: f32 = text.trim().parse().unwrap();
            assert!(number.is_nan() || f16::from_f32(read).to_bits() == bits, "{text}");
        }
        for number in [f64::MIN_POSITIVE, f64::MAX, 5e-324, 0.1 + 0.2, 1e16, 123_456_789.123] {
            let text = csv(ElementType::FLOAT64, &[], &number.to_le_bytes()).unwrap();
            assert_eq!(text.trim().parse::<f64>().unwrap().to_bits(), number.to_bits());
        }
    }
}
