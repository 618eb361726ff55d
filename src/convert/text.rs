//! Numbers as text: a table (CSV) or nested lists (JSON).
//!
//! Every number is written with enough digits to distinguish it from all others of its type, so that reading the text
//! gives the same number. In a table, NaN and infinities are `nan`, `inf` and `-inf`, as NumPy and pandas read them. In
//! JSON they are the strings `"NaN"`, `"Infinity"` and `"-Infinity"`, and integers of 16 bytes are strings as well.

#![expect(clippy::indexing_slicing, reason = "no number is wider than 16 bytes")]

use std::fmt::Write as _;
use std::io::{BufReader, Read, Write};

use crate::interchange::{FormatError, Variable, row_order_extents, wrong_length};
use crate::message::Message;
use crate::ndl::Datatype;
use crate::ra::Header;
use crate::read::values::{Number, ReadNumber, read_number};

/// Bytes that are read or written at once.
const TEXT_BUFFER: usize = 64 * 1024;

/// Maximum number of lists or lines for an array without elements, which can have any number of them.
const MAX_EMPTY: u64 = 1 << 20;

/// Writes numbers of one or two dimensions: one line for each first index. `data` has the last index fastest.
///
/// # Errors
///
/// [`FormatError::NoCounterpart`] if the elements are not numbers or the shape has other dimensions;
/// [`FormatError::Malformed`] if `data` is shorter or longer than the header says; [`FormatError::Io`] if reading or
/// writing fails.
pub(super) fn write_csv(
    variable: &Variable,
    data: impl Read,
    out: impl Write,
) -> Result<(), FormatError> {
    let mut text = TextWriter::new(variable, data, out, false)?;
    let (rows, columns) = match *text.shape {
        [] => (1, 1),
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        ref more => {
            return Err(FormatError::no_counterpart(
                format!("a table has two dimensions, but the array has {}", more.len()),
                Message::from("select two with ").option("slice").text(", or write it as json"),
            ));
        }
    };
    for _ in 0..rows {
        for column in 0..columns {
            if column > 0 {
                text.buffer.push(',');
            }
            text.number()?;
        }
        text.buffer.push('\n');
        text.flush(TEXT_BUFFER)?;
    }
    text.finish(variable)
}

/// Writes numbers as nested lists, the outermost for the first index; a single text as a string.
///
/// # Errors
///
/// As [`write_csv`], for any shape.
pub(super) fn write_json(
    variable: &Variable,
    mut data: impl Read,
    mut out: impl Write,
) -> Result<(), FormatError> {
    let description = &variable.description;
    let mut bytes = Vec::new();
    if description.datatype == Datatype::String && description.shape.is_empty() {
        data.read_to_end(&mut bytes)?;
        if let Ok(text) = str::from_utf8(&bytes) {
            return Ok(writeln!(out, "{}", json_string(text))?);
        }
    }
    let mut text = TextWriter::new(variable, bytes.chain(data), out, true)?;
    text.nest(&text.shape.clone())?;
    text.buffer.push('\n');
    text.finish(variable)
}

/// A writer of elements as text, in blocks.
struct TextWriter<R, W> {
    header: Header,
    /// Lengths of the dimensions in the order of the indices.
    shape: Vec<u64>,
    number: ReadNumber,
    data: BufReader<R>,
    out: W,
    buffer: String,
    is_json: bool,
}

impl<R: Read, W: Write> TextWriter<R, W> {
    fn new(variable: &Variable, data: R, out: W, is_json: bool) -> Result<Self, FormatError> {
        let element = variable.header.element();
        let Some(number) = read_number(element) else {
            let reason = format!("elements of type `{element}` cannot be written as text");
            return Err(FormatError::no_counterpart(reason, "write them as npy, ra or raw"));
        };
        let shape = row_order_extents(variable, "text")?;
        let before = shape.iter().take_while(|extent| **extent > 0);
        let lists = before.fold(1, |product: u64, extent| product.saturating_mul(*extent)); // used only for comparison
        if variable.header.data_len() == 0 && lists > MAX_EMPTY {
            let reason = format!("an array without elements would make {lists} empty lists");
            return Err(FormatError::no_counterpart(reason, "exclude it"));
        }
        let data = BufReader::with_capacity(TEXT_BUFFER, data);
        let header = variable.header.clone();
        Ok(Self { header, shape, number, data, out, buffer: String::new(), is_json })
    }

    /// Writes the next lists of this shape. The recursion is shallow, because arrays have few dimensions.
    fn nest(&mut self, shape: &[u64]) -> Result<(), FormatError> {
        let Some((extent, inner)) = shape.split_first() else { return self.number() };
        self.buffer.push('[');
        for at in 0..*extent {
            if at > 0 {
                self.buffer.push(',');
            }
            self.nest(inner)?;
        }
        self.buffer.push(']');
        self.flush(TEXT_BUFFER)
    }

    /// Writes the next element.
    fn number(&mut self) -> Result<(), FormatError> {
        let mut bytes = [0; 16];
        let width = self.header.element().elbyte();
        let bytes = &mut bytes[..usize::try_from(width).expect("no number has more bytes")];
        self.data.read_exact(bytes)?;
        self.header.swap_to_native(bytes).expect("every number has a byte order");
        let number = (self.number)(bytes);
        let float = number.to_f64();
        let is_special = self.is_json && (width == 16 || !float.is_finite());
        let quote = if is_special { "\"" } else { "" };
        let (nan, infinity) = if self.is_json { ("NaN", "Infinity") } else { ("nan", "inf") };
        let sign = if float < 0.0 { "-" } else { "" };
        // Writing to a String cannot fail.
        let _ = match number {
            _ if float.is_nan() => write!(self.buffer, "{quote}{nan}{quote}"),
            _ if float.is_infinite() => write!(self.buffer, "{quote}{sign}{infinity}{quote}"),
            Number::Int(number) => write!(self.buffer, "{quote}{number}{quote}"),
            Number::UInt(number) => write!(self.buffer, "{quote}{number}{quote}"),
            Number::Float32(number) => write!(self.buffer, "{number:?}"),
            Number::Float64(number) => write!(self.buffer, "{number:?}"),
        };
        self.flush(TEXT_BUFFER)
    }

    fn flush(&mut self, from: usize) -> Result<(), FormatError> {
        if self.buffer.len() >= from {
            self.out.write_all(self.buffer.as_bytes())?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Writes the rest, and checks that the data ends here.
    fn finish(mut self, variable: &Variable) -> Result<(), FormatError> {
        self.flush(0)?;
        match self.data.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(wrong_length(&variable.description.name, variable.header.data_len())(None)),
        }
    }
}

/// Quotes a text for JSON.
fn json_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::ndl::{Extent, Ndarray, Order, Storage};
    use crate::ra::ElementType;
    use half::f16;

    fn variable(element: ElementType, shape: &[u64]) -> Variable {
        let description = Ndarray {
            name: "x".to_owned(),
            shape: shape.iter().copied().map(Extent::Fixed).collect(),
            datatype: Datatype::UInt8,
            value: None,
            attributes: Vec::new(),
            storage: Some(Storage { order: Order::Row, ..Storage::default() }),
        };
        let header = Header::new(element, shape.iter().rev().copied().collect()).unwrap();
        Variable { header, description, losses: Vec::new() }
    }

    fn csv(element: ElementType, shape: &[u64], data: &[u8]) -> Result<String, FormatError> {
        let mut out = Vec::new();
        write_csv(&variable(element, shape), data, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn json(element: ElementType, shape: &[u64], data: &[u8]) -> Result<String, FormatError> {
        let mut out = Vec::new();
        write_json(&variable(element, shape), data, &mut out)?;
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
    fn values_without_a_json_number_are_strings() {
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
    fn digits_distinguish_every_number_from_all_others() {
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
