//! The JSON of the header, as Python's `json` writes it: `NaN`, `Infinity` and `-Infinity` stand bare.
//!
//! A reader of its own, since every value needs its place in the file for messages, the three bare words
//! are no JSON, and a key that is there twice is an error.

use std::collections::HashSet;

use crate::interchange::Error;
use crate::interchange::text::{Charset, HeaderText, Language};
use crate::ndl::Value;

/// Most bytes of a header.
pub(super) const MAX_LEN: u64 = 16 << 20;

/// Most values, so that many short ones do not take many times the memory of their text.
const MAX_VALUES: usize = 1 << 20;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Json {
    /// The byte of the file at which it begins.
    pub(super) at: u64,
    /// The byte behind it.
    pub(super) end: u64,
    /// What it is.
    pub(super) kind: JsonKind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum JsonKind {
    Null,
    Bool(bool),
    /// An integer of 64 bits, or a float.
    Number(Value),
    /// An integer that no 64 bits hold.
    Huge,
    Text(String),
    List(Vec<Json>),
    /// Keys with the place of each, in the order of the text; none is there twice.
    Map(Vec<(u64, String, Json)>),
}

impl Json {
    /// What it is, for messages.
    pub(super) fn describe(&self) -> &'static str {
        match &self.kind {
            JsonKind::Null => "null",
            JsonKind::Bool(_) => "a boolean",
            JsonKind::Number(Value::Float(_)) => "a float",
            JsonKind::Number(_) | JsonKind::Huge => "an integer",
            JsonKind::Text(_) => "a text",
            JsonKind::List(_) => "a list",
            JsonKind::Map(_) => "an object",
        }
    }

    /// That something else was expected here.
    pub(super) fn unexpected(&self, expected: &str) -> Error {
        Error::malformed(self.at, format!("expected {expected}, found {}", self.describe()))
    }
}

/// Reads the one value of `text`, which begins at byte `base` of the file.
pub(super) fn parse(text: &[u8], base: u64) -> Result<Json, Error> {
    let json = Language {
        charset: Charset::Utf8,
        not_utf8: "expected UTF-8 in the header",
        blanks: b" \t\r\n",
        nesting: "values",
        trailing_commas: false,
        end: "the end of the header",
    };
    HeaderText::read(text, base, json, |text| value(text, &mut 0))
}

fn value(text: &mut HeaderText<'_>, values: &mut usize) -> Result<Json, Error> {
    let at = text.offset();
    *values += 1;
    if *values > MAX_VALUES {
        let reason = format!("expected a header of at most {MAX_VALUES} values, found more");
        return Err(Error::malformed(at, reason));
    }
    let kind = match text.peek() {
        Some(b'{') => map(text, values)?,
        Some(b'[') => {
            let mut list = Vec::new();
            text.items("]", |text| {
                list.push(value(text, values)?);
                Ok(())
            })?;
            JsonKind::List(list)
        }
        Some(b'"') => JsonKind::Text(string(text)?),
        Some(b'-' | b'0'..=b'9' | b'N' | b'I') => number(text)?,
        _ if text.take("null") => JsonKind::Null,
        _ if text.take("true") => JsonKind::Bool(true),
        _ if text.take("false") => JsonKind::Bool(false),
        _ => return Err(text.expected("a value")),
    };
    Ok(Json { at, end: text.offset(), kind })
}

fn map(text: &mut HeaderText<'_>, values: &mut usize) -> Result<JsonKind, Error> {
    let (mut map, mut keys) = (Vec::new(), HashSet::new());
    text.items("}", |text| {
        let at = text.offset();
        if text.peek() != Some(b'"') {
            return Err(text.expected("a key"));
        }
        let key = string(text)?;
        if !keys.insert(key.clone()) {
            let reason = format!("expected each key once, found {key:?} again");
            return Err(Error::malformed(at, reason));
        }
        text.blanks();
        if !text.take(":") {
            return Err(text.expected("`:`"));
        }
        text.blanks();
        map.push((at, key, value(text, values)?));
        Ok(())
    })?;
    Ok(JsonKind::Map(map))
}

fn number(text: &mut HeaderText<'_>) -> Result<JsonKind, Error> {
    let words = [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];
    for (word, number) in words {
        if text.take(word) {
            return Ok(JsonKind::Number(Value::Float(number)));
        }
    }
    let digits = |text: &mut HeaderText<'_>| {
        let digits = text.text_while(|byte| byte.is_ascii_digit());
        if digits.is_empty() { Err(text.expected("a digit")) } else { Ok(digits) }
    };
    let mut number = if text.take("-") { "-".to_owned() } else { String::new() };
    // Nothing follows a zero at the beginning.
    number += &if text.take("0") { "0".to_owned() } else { digits(text)? };
    let mut is_float = false;
    if text.take(".") {
        is_float = true;
        number.extend([".", &digits(text)?]);
    }
    if text.take("e") || text.take("E") {
        is_float = true;
        let sign = if !text.take("+") && text.take("-") { "-" } else { "" };
        number.extend(["e", sign, &digits(text)?]);
    }
    if is_float {
        // Out of range it is infinite, as in Python.
        let number = number.parse().map_err(|_| text.expected("a number"))?;
        return Ok(JsonKind::Number(Value::Float(number)));
    }
    let integer = number.parse().map(Value::Int);
    let integer = integer.or_else(|_| number.parse::<u64>().map(Value::from));
    Ok(integer.map_or(JsonKind::Huge, JsonKind::Number))
}

fn string(text: &mut HeaderText<'_>) -> Result<String, Error> {
    text.next();
    let mut string = String::new();
    loop {
        string += &text.text_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20));
        match text.peek() {
            Some(b'"') => {
                text.next();
                return Ok(string);
            }
            Some(b'\\') => string.push(escape(text)?),
            Some(_) => return Err(text.expected("an escape instead of a control character")),
            None => return Err(text.expected("`\"` at the end of a text")),
        }
    }
}

fn escape(text: &mut HeaderText<'_>) -> Result<char, Error> {
    let at = text.offset();
    text.next();
    Ok(match text.next() {
        Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let mut units = vec![unit(text)?];
            if matches!(units[..], [0xD800..0xDC00]) && text.take("\\u") {
                units.push(unit(text)?);
            }
            let Ok(decoded) = String::from_utf16(&units) else {
                let reason = "expected a character, found half of a surrogate pair";
                return Err(Error::malformed(at, reason));
            };
            decoded.chars().next().expect("there is at least one unit")
        }
        _ => {
            let reason = "expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u";
            return Err(Error::malformed(at, reason));
        }
    })
}

fn unit(text: &mut HeaderText<'_>) -> Result<u16, Error> {
    let unit = text.number(16, [4, 4], "four hexadecimal digits")?;
    Ok(u16::try_from(unit).expect("four digits are 16 bits"))
}

/// A value as Python's `json` writes it, in ASCII.
pub(super) fn write(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => "NaN".to_owned(),
        Value::Float(f64::INFINITY) => "Infinity".to_owned(),
        Value::Float(f64::NEG_INFINITY) => "-Infinity".to_owned(),
        // The shortest that reads back the same, with a point or an exponent, so that it stays a float.
        Value::Float(number) => format!("{number:?}"),
        Value::String(text) => write_text(text),
        Value::List(list) => write_list(list.iter().map(write)),
        Value::Map(map) => write_map(map.iter().map(|(key, value)| (&**key, write(value)))),
    }
}

/// A list of values that are JSON already.
pub(super) fn write_list(list: impl Iterator<Item = String>) -> String {
    format!("[{}]", list.collect::<Vec<_>>().join(", "))
}

/// An object of values that are JSON already.
pub(super) fn write_map(map: impl Iterator<Item = (impl AsRef<str>, String)>) -> String {
    let entries = map.map(|(key, json)| format!("{}: {json}", write_text(key.as_ref())));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// A text in quotes.
pub(super) fn write_text(text: &str) -> String {
    let mut out = "\"".to_owned();
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out += &format!("\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(text: &str) -> JsonKind {
        parse(text.as_bytes(), 7).unwrap().kind
    }

    fn fault(text: &[u8]) -> String {
        parse(text, 7).unwrap_err().to_string()
    }

    #[test]
    fn every_kind_of_value_is_read() {
        assert_eq!(kind(" null "), JsonKind::Null);
        assert_eq!(kind("true"), JsonKind::Bool(true));
        assert_eq!(kind("-12"), JsonKind::Number(Value::Int(-12)));
        assert_eq!(kind("18446744073709551615"), JsonKind::Number(Value::UInt(u64::MAX)));
        assert_eq!(kind("18446744073709551616"), JsonKind::Huge);
        assert_eq!(kind("-0.0"), JsonKind::Number(Value::Float(-0.0)));
        assert_eq!(kind("1e-3"), JsonKind::Number(Value::Float(0.001)));
        assert_eq!(kind("1E999"), JsonKind::Number(Value::Float(f64::INFINITY)));
        assert_eq!(kind("NaN"), JsonKind::Number(Value::Float(f64::NAN)));
        assert_eq!(kind("-Infinity"), JsonKind::Number(Value::Float(f64::NEG_INFINITY)));
        assert_eq!(kind(r#""a\u00e9\ud83d\ude00\n\/é""#), JsonKind::Text("aé😀\n/é".to_owned()));
        let JsonKind::Map(map) = kind(r#"{"a": [1, []], "b": {}}"#) else { panic!() };
        assert_eq!((map[0].0, map[0].1.as_str(), map[0].2.at, map[0].2.end), (8, "a", 13, 20));
    }

    #[test]
    fn every_fault_has_its_place() {
        let cases: &[(&[u8], &str)] = &[
            (b"", "byte 7: expected a value, found the end of the header"),
            (b"[1 2]", "byte 10: expected `,` or `]`, found `2`"),
            (b"{\"a\" 1}", "byte 12: expected `:`, found `1`"),
            (b"{\"a\": 1 1}", "byte 15: expected `,` or `}`, found `1`"),
            (b"{1: 1}", "byte 8: expected a key, found `1`"),
            (b"{\"a\": 1, \"a\": 2}", "byte 16: expected each key once, found \"a\" again"),
            (b"1 x", "byte 9: expected the end of the header, found `x`"),
            (b"01", "byte 8: expected the end of the header, found `1`"),
            (b"-", "byte 8: expected a digit, found the end of the header"),
            (b"-NaN", "byte 8: expected a digit, found `N`"),
            (b"1.", "byte 9: expected a digit, found the end of the header"),
            (b"\"a", "byte 9: expected `\"` at the end of a text, found the end of the header"),
            (b"\"\t\"", "byte 8: expected an escape instead of a control character, found `\\t`"),
            (
                b"\"\\x\"",
                "byte 8: expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u",
            ),
            (b"\"\\u+123\"", "byte 10: expected four hexadecimal digits, found `+`"),
            (b"\"\\ud800\"", "byte 8: expected a character, found half of a surrogate pair"),
            (b"\"\\ud800\\u0041\"", "byte 8: expected a character, found half of a surrogate pair"),
            (b"\"\xFF\"", "byte 8: expected UTF-8 in the header"),
            (b"nul", "byte 7: expected a value, found `n`"),
        ];
        for (text, message) in cases {
            assert_eq!(fault(text), *message);
        }
        let deep = "[".repeat(1_000_000);
        assert_eq!(
            fault(deep.as_bytes()),
            "byte 71: expected values nested at most 64 deep, found more"
        );
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert!(fault(many.as_bytes()).contains("at most 1048576 values"));
    }

    #[test]
    fn it_is_written_in_ascii_as_python_does() {
        let list = vec![
            Value::Float(1.0),
            Value::Float(f64::NAN),
            Value::Float(f64::NEG_INFINITY),
            Value::Float(1e300),
            Value::from("é😀\"\\\u{7f}\u{1}"),
            Value::Map(vec![("k".to_owned(), Value::Null), ("l".to_owned(), Value::Bool(false))]),
        ];
        assert_eq!(
            write(&Value::List(list)),
            "[1.0, NaN, -Infinity, 1e300, \"\\u00e9\\ud83d\\ude00\\\"\\\\\\u007f\\u0001\", \
             {\"k\": null, \"l\": false}]"
        );
    }

    proptest! {
        #[test]
        fn numbers_and_texts_come_back(number: f64, integer: i64, large: u64, text: String) {
            for value in [number.into(), integer.into(), large.into()] {
                prop_assert_eq!(kind(&write(&value)), JsonKind::Number(value));
            }
            let written = write_text(&text);
            prop_assert!(written.is_ascii());
            prop_assert_eq!(kind(&written), JsonKind::Text(text));
        }

        #[test]
        fn no_text_panics(text: Vec<u8>) {
            let _ = parse(&text, u64::MAX);
        }
    }
}
