//! All values as text: a table (CSV) or nested lists (JSON).
//!
//! Values are written as what they mean (see [`Decoder`]), or as the stored numbers. Every number is written with
//! enough digits to distinguish it from all others of its type, so that reading the text gives the same number. In a
//! table, NaN and infinities are `nan`, `inf` and `-inf`, as NumPy and pandas read them; missing values are `nan`, and
//! missing dates `NaT`. In JSON they are the strings `"NaN"`, `"Infinity"` and `"-Infinity"`, and `null`; integers
//! beyond 64 bits are strings.

use std::fmt::Write as _;
use std::io::{self, BufReader, Read, Write};

use crate::interchange::{FormatError, Variable, row_order_extents, wrong_length};
use crate::json;
use crate::message::Message;
use crate::ndl::Datatype;
use crate::ra::Header;
use crate::read::{Decoded, Decoder, Number};

/// Bytes that are read or written at once.
const TEXT_BUFFER: usize = 64 * 1024;

/// Largest element that is written, in bytes.
const MAX_ELEMENT: u64 = 1 << 20;

/// Formats for elements that are not text.
const OTHERWISE: &str = "write them as npy, ra or raw";

/// Maximum number of lists or lines for an array without elements, which can have any number of them.
const MAX_EMPTY: u64 = 1 << 20;

/// Writes values of one or two dimensions: one line for each first index. Structures of one dimension are written with
/// a column for each member, and a line of their names. `data` has the last index fastest.
///
/// # Errors
///
/// [`FormatError::NoCounterpart`] if the shape has other dimensions; [`FormatError::Malformed`] if `data` is shorter or
/// longer than the header says; [`FormatError::Io`] if reading or writing fails.
pub fn write_csv(
    variable: &Variable,
    mut data: impl Read,
    mut out: impl Write,
    raw: bool,
) -> Result<(), FormatError> {
    let (bytes, single) = single_text(variable, &mut data)?;
    if let Some(single) = single {
        let mut field = String::new();
        push_field(&mut field, &single);
        return Ok(writeln!(out, "{field}")?);
    }
    let mut text = TextWriter::new(variable, bytes.chain(data), out, raw)?;
    let names = text.decoder.columns();
    let (rows, columns) = match *text.shape {
        [] => (1, 1),
        [rows] => (rows, 1),
        [rows, columns] if names.is_empty() => (rows, columns),
        ref more => {
            let (what, most) = if names.is_empty() {
                ("a table has two dimensions", "two")
            } else {
                ("a table of structures has one dimension", "one")
            };
            return Err(FormatError::no_counterpart(
                format!("{what}, but the array has {}", more.len()),
                Message::from(format!("select {most} with "))
                    .option("slice")
                    .text(", or write it as json"),
            ));
        }
    };
    for (nth, name) in names.iter().enumerate() {
        text.buffer.push_str(if nth > 0 { "," } else { "" });
        push_field(&mut text.buffer, name);
    }
    text.buffer.push_str(if names.is_empty() { "" } else { "\n" });
    for _ in 0..rows {
        for column in 0..columns {
            if column > 0 {
                text.buffer.push(',');
            }
            let value = text.next()?;
            push_cells(&mut text.buffer, &value);
            text.flush(TEXT_BUFFER)?;
        }
        text.buffer.push('\n');
    }
    text.finish(variable)
}

/// Writes values as nested lists, the outermost for the first index; a single text as a string. Structures are objects,
/// complex numbers are lists of both parts.
///
/// # Errors
///
/// As [`write_csv`], for any shape.
pub fn write_json(
    variable: &Variable,
    mut data: impl Read,
    mut out: impl Write,
    raw: bool,
) -> Result<(), FormatError> {
    let (bytes, single) = single_text(variable, &mut data)?;
    if let Some(single) = single {
        return Ok(writeln!(out, "{}", json_string(&single))?);
    }
    let mut text = TextWriter::new(variable, bytes.chain(data), out, raw)?;
    text.nest(&text.shape.clone())?;
    text.buffer.push('\n');
    text.finish(variable)
}

/// Returns the text of an array that is a single one. Also returns the bytes that were read, whether they are text or not.
fn single_text(
    variable: &Variable,
    data: &mut impl Read,
) -> Result<(io::Cursor<Vec<u8>>, Option<String>), FormatError> {
    let (description, mut bytes) = (&variable.description, Vec::new());
    if description.datatype != Datatype::String || !description.shape.is_empty() {
        return Ok((io::Cursor::new(bytes), None));
    }
    data.read_to_end(&mut bytes)?;
    // NumPy fills a text of fixed width with zeros.
    let text = str::from_utf8(&bytes).ok().map(|text| text.trim_end_matches('\0').to_owned());
    Ok((io::Cursor::new(bytes), text))
}

/// A writer of elements as text, in blocks.
struct TextWriter<R, W> {
    header: Header,
    /// Lengths of the dimensions in the order of the indices.
    shape: Vec<u64>,
    decoder: Decoder,
    /// The next element.
    element: Vec<u8>,
    data: BufReader<R>,
    out: W,
    buffer: String,
}

impl<R: Read, W: Write> TextWriter<R, W> {
    fn new(variable: &Variable, data: R, out: W, raw: bool) -> Result<Self, FormatError> {
        let element = variable.header.element();
        if element.elbyte() > MAX_ELEMENT {
            let reason = format!("elements of {} bytes are too large for text", element.elbyte());
            return Err(FormatError::no_counterpart(reason, OTHERWISE));
        }
        let decoder = Decoder::new(element, Some(&variable.description), raw);
        let shape = row_order_extents(variable, "text")?;
        let before = shape.iter().take_while(|extent| **extent > 0);
        let lists = before.fold(1, |product: u64, extent| product.saturating_mul(*extent)); // used only for comparison
        if variable.header.data_len() == 0 && lists > MAX_EMPTY {
            let reason = format!("an array without elements would make {lists} empty lists");
            return Err(FormatError::no_counterpart(reason, "exclude it"));
        }
        let data = BufReader::with_capacity(TEXT_BUFFER, data);
        let header = variable.header.clone();
        let element = vec![0; decoder.elbyte()];
        Ok(Self { header, shape, decoder, element, data, out, buffer: String::new() })
    }

    /// Writes the next lists of this shape. The recursion is shallow, because arrays have few dimensions.
    fn nest(&mut self, shape: &[u64]) -> Result<(), FormatError> {
        let Some((extent, inner)) = shape.split_first() else {
            let value = self.next()?;
            push_json(&mut self.buffer, &value);
            return self.flush(TEXT_BUFFER);
        };
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

    /// Decodes the next element.
    fn next(&mut self) -> Result<Decoded, FormatError> {
        self.data.read_exact(&mut self.element)?;
        let swapped = self.header.swap_to_native(&mut self.element);
        swapped.map_err(|error| FormatError::no_counterpart(error.to_string(), OTHERWISE))?;
        Ok(self.decoder.decode(&self.element))
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

/// Appends a value to a line of a table; a structure has several cells.
fn push_cells(line: &mut String, value: &Decoded) {
    match value {
        Decoded::Struct(members) => push_each(line, members.iter().map(|(_, value)| value)),
        Decoded::List(list) => push_each(line, list.iter()),
        Decoded::Missing => line.push_str("nan"),
        Decoded::NotATime => line.push_str("NaT"),
        Decoded::Bool(truth) => line.push_str(if *truth { "true" } else { "false" }),
        Decoded::Number(number) => push_number(line, *number),
        Decoded::Complex(real, imaginary) => {
            push_number(line, *real);
            let at = line.len();
            push_number(line, *imaginary);
            if !line.get(at..).is_some_and(|imaginary| imaginary.starts_with('-')) {
                line.insert(at, '+');
            }
            line.push('j');
        }
        Decoded::Date(text) | Decoded::Text(text) => push_field(line, text),
        Decoded::Name(name) => push_field(line, name),
        Decoded::Bytes(bytes) => push_hex(line, bytes),
    }
}

fn push_each<'v>(line: &mut String, values: impl Iterator<Item = &'v Decoded>) {
    for (nth, value) in values.enumerate() {
        line.push_str(if nth > 0 { "," } else { "" });
        push_cells(line, value);
    }
}

/// Appends a text to a line of a table, in quotes if it would be read as another one without.
fn push_field(line: &mut String, text: &str) {
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    text.push_str("0x");
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}

/// Appends a number with all its digits.
fn push_number(text: &mut String, number: Number) {
    let float = number.to_f64();
    // Writing to a String cannot fail.
    let _ = match number {
        _ if float.is_nan() => write!(text, "nan"),
        _ if float.is_infinite() => write!(text, "{}inf", if float < 0.0 { "-" } else { "" }),
        Number::Int(number) => write!(text, "{number}"),
        Number::UInt(number) => write!(text, "{number}"),
        Number::Float32(number) => write!(text, "{number:?}"),
        number => write!(text, "{:?}", number.shortest()),
    };
}

/// Appends a value as JSON.
fn push_json(text: &mut String, value: &Decoded) {
    let list = |text: &mut String, values: &mut dyn Iterator<Item = (Option<&str>, &Decoded)>| {
        for (nth, (name, value)) in values.enumerate() {
            text.push_str(if nth > 0 { "," } else { "" });
            if let Some(name) = name {
                text.push_str(&json_string(name));
                text.push(':');
            }
            push_json(text, value);
        }
    };
    match value {
        Decoded::Missing | Decoded::NotATime => text.push_str("null"),
        Decoded::Bool(truth) => text.push_str(if *truth { "true" } else { "false" }),
        Decoded::Number(number) => {
            let float = number.to_f64();
            let is_wide = match *number {
                Number::Int(number) => i64::try_from(number).is_err(),
                Number::UInt(number) => u64::try_from(number).is_err(),
                _ => false,
            };
            if float.is_nan() {
                text.push_str("\"NaN\"");
            } else if float.is_infinite() {
                text.push_str(if float < 0.0 { "\"-Infinity\"" } else { "\"Infinity\"" });
            } else {
                text.push_str(if is_wide { "\"" } else { "" });
                push_number(text, *number);
                text.push_str(if is_wide { "\"" } else { "" });
            }
        }
        Decoded::Complex(real, imaginary) => {
            let parts = [Decoded::Number(*real), Decoded::Number(*imaginary)];
            text.push('[');
            list(text, &mut parts.iter().map(|part| (None, part)));
            text.push(']');
        }
        Decoded::Date(written) | Decoded::Text(written) => text.push_str(&json_string(written)),
        Decoded::Name(name) => text.push_str(&json_string(name)),
        Decoded::Bytes(bytes) => {
            text.push('"');
            push_hex(text, bytes);
            text.push('"');
        }
        Decoded::Struct(members) => {
            text.push('{');
            list(text, &mut members.iter().map(|(name, value)| (Some(&**name), value)));
            text.push('}');
        }
        Decoded::List(values) => {
            text.push('[');
            list(text, &mut values.iter().map(|value| (None, value)));
            text.push(']');
        }
    }
}

/// Quotes a text for JSON, without control characters.
fn json_string(text: &str) -> String {
    let mut quoted = Vec::new();
    json::write(&mut quoted, &text).expect("writing to memory does not fail");
    String::from_utf8(quoted).expect("JSON is UTF-8")
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
        write_csv(&variable(element, shape), data, &mut out, false)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn json(element: ElementType, shape: &[u64], data: &[u8]) -> Result<String, FormatError> {
        let mut out = Vec::new();
        write_json(&variable(element, shape), data, &mut out, false)?;
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
        assert_eq!(json_string("a\"\\\n"), "\"a\\\"\\\\\\n\"");
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
