//! The JSON of the header, as Python's `json` writes it: `NaN`, `Infinity` and `-Infinity` stand bare.
//!
//! A reader of its own, since every value needs its place in the file for messages, the three bare words
//! are no JSON, and keys given twice must be told.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::interchange::Error;
use crate::ndl::Value;

/// Most bytes of a header.
pub(super) const MAX_LEN: u64 = 16 << 20;

/// Deepest nesting of lists and objects.
const MAX_DEPTH: usize = 64;

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
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
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
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(Value::Float(_)) => "a float",
            Kind::Number(_) | Kind::Huge => "an integer",
            Kind::Text(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "an object",
        }
    }
}

/// Reads the one value of `text`, which begins at byte `base` of the file.
pub(super) fn parse(text: &[u8], base: u64) -> Result<Json, Error> {
    let text = str::from_utf8(text).map_err(|error| {
        Error::malformed(place(base, error.valid_up_to()), "expected UTF-8 in the header")
    })?;
    let mut parser = Parser { text, at: 0, base, values: 0 };
    parser.blank();
    let value = parser.value(0)?;
    parser.blank();
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.fault("the end of the header")),
    }
}

fn place(base: u64, at: usize) -> u64 {
    base.saturating_add(u64::try_from(at).unwrap_or(u64::MAX))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    base: u64,
    values: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn here(&self) -> u64 {
        place(self.base, self.at)
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.skip(word.len());
        }
        found
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.skip(1);
        }
    }

    fn fault(&self, expected: &str) -> Error {
        let found = match self.rest().chars().next() {
            Some(found) => format!("`{}`", found.escape_default()),
            None => "the end of the header".to_owned(),
        };
        Error::malformed(self.here(), format!("expected {expected}, found {found}"))
    }

    fn value(&mut self, depth: usize) -> Result<Json, Error> {
        self.values = self.values.saturating_add(1);
        if self.values > MAX_VALUES {
            let reason = format!("expected a header of at most {MAX_VALUES} values, found more");
            return Err(Error::malformed(self.here(), reason));
        }
        let at = self.here();
        let kind = match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => {
                let reason = format!("expected values nested at most {MAX_DEPTH} deep, found more");
                return Err(Error::malformed(at, reason));
            }
            Some(b'{') => self.map(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Kind::Text(self.string()?),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => self.number()?,
            _ if self.eat("null") => Kind::Null,
            _ if self.eat("true") => Kind::Bool(true),
            _ if self.eat("false") => Kind::Bool(false),
            _ => return Err(self.fault("a value")),
        };
        Ok(Json { at, end: self.here(), kind })
    }

    fn list(&mut self, depth: usize) -> Result<Kind, Error> {
        let mut list = Vec::new();
        self.skip(1);
        self.blank();
        if self.eat("]") {
            return Ok(Kind::List(list));
        }
        loop {
            self.blank();
            list.push(self.value(depth.saturating_add(1))?);
            self.blank();
            if self.eat("]") {
                return Ok(Kind::List(list));
            }
            if !self.eat(",") {
                return Err(self.fault("`,` or `]`"));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Kind, Error> {
        let mut map = Vec::new();
        let mut keys = HashSet::new();
        self.skip(1);
        self.blank();
        if self.eat("}") {
            return Ok(Kind::Map(map));
        }
        loop {
            self.blank();
            let at = self.here();
            if self.peek() != Some(b'"') {
                return Err(self.fault("a key"));
            }
            let key = self.string()?;
            if !keys.insert(key.clone()) {
                let reason = format!("expected each key once, found {key:?} again");
                return Err(Error::malformed(at, reason));
            }
            self.blank();
            if !self.eat(":") {
                return Err(self.fault("`:`"));
            }
            self.blank();
            map.push((at, key, self.value(depth.saturating_add(1))?));
            self.blank();
            if self.eat("}") {
                return Ok(Kind::Map(map));
            }
            if !self.eat(",") {
                return Err(self.fault("`,` or `}`"));
            }
        }
    }

    fn digits(&mut self) -> Result<(), Error> {
        let rest = self.rest();
        let len = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        if len == 0 {
            return Err(self.fault("a digit"));
        }
        self.skip(len);
        Ok(())
    }

    fn number(&mut self) -> Result<Kind, Error> {
        let words =
            [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];
        for (word, number) in words {
            if self.eat(word) {
                return Ok(Kind::Number(Value::Float(number)));
            }
        }
        let from = self.at;
        self.eat("-");
        if !self.eat("0") {
            self.digits()?;
        }
        let mut is_float = false;
        if self.eat(".") {
            is_float = true;
            self.digits()?;
        }
        if self.eat("e") || self.eat("E") {
            is_float = true;
            let _ = self.eat("+") || self.eat("-");
            self.digits()?;
        }
        let text = self.text.get(from..self.at).unwrap_or_default();
        if is_float {
            // Out of range it is infinite, as in Python.
            return match text.parse() {
                Ok(number) => Ok(Kind::Number(Value::Float(number))),
                Err(_) => Err(self.fault("a number")),
            };
        }
        let integer = text.parse::<i64>().map(Value::Int);
        Ok(match integer.or_else(|_| text.parse::<u64>().map(Value::from)) {
            Ok(number) => Kind::Number(number),
            Err(_) => Kind::Huge,
        })
    }

    fn string(&mut self) -> Result<String, Error> {
        let mut text = String::new();
        self.skip(1);
        loop {
            let rest = self.rest();
            let plain = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            let Some(plain) = plain else {
                self.skip(rest.len());
                return Err(self.fault("`\"` at the end of a text"));
            };
            text.push_str(rest.get(..plain).unwrap_or_default());
            self.skip(plain);
            match self.peek() {
                Some(b'"') => {
                    self.skip(1);
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(self.fault("an escape instead of a control character")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        let at = self.here();
        self.skip(1);
        let escape = self.peek();
        self.skip(1);
        Ok(match escape {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let mut units = vec![self.unit()?];
                if matches!(units.first(), Some(0xD800..0xDC00)) && self.eat("\\u") {
                    units.push(self.unit()?);
                }
                let mut decoded = char::decode_utf16(units);
                match (decoded.next(), decoded.next()) {
                    (Some(Ok(found)), None) => found,
                    _ => {
                        let reason = "expected a character, found half of a surrogate pair";
                        return Err(Error::malformed(at, reason));
                    }
                }
            }
            _ => {
                let reason = "expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u";
                return Err(Error::malformed(at, reason));
            }
        })
    }

    fn unit(&mut self) -> Result<u16, Error> {
        let digits = self.rest().get(..4).filter(|digits| {
            // `from_str_radix` would take a sign.
            digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        match digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            Some(unit) => {
                self.skip(4);
                Ok(unit)
            }
            None => Err(self.fault("four hexadecimal digits")),
        }
    }
}

/// Adds a value as Python's `json` writes it, in ASCII.
pub(super) fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Int(number) => write_display(out, number),
        Value::UInt(number) => write_display(out, number),
        Value::Float(number) if number.is_nan() => out.push_str("NaN"),
        Value::Float(f64::INFINITY) => out.push_str("Infinity"),
        Value::Float(f64::NEG_INFINITY) => out.push_str("-Infinity"),
        // The shortest that reads back the same, with a point or an exponent, so that it stays a float.
        Value::Float(number) => write_display(out, format_args!("{number:?}")),
        Value::String(text) => write_text(out, text),
        Value::List(list) => write_list(out, list, write),
        Value::Map(map) => {
            out.push('{');
            for (at, (key, value)) in map.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write_text(out, key);
                out.push_str(": ");
                write(out, value);
            }
            out.push('}');
        }
    }
}

/// Adds a list.
pub(super) fn write_list<T>(out: &mut String, list: &[T], one: fn(&mut String, &T)) {
    out.push('[');
    for (at, item) in list.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        one(out, item);
    }
    out.push(']');
}

/// Adds a text in quotes.
pub(super) fn write_text(out: &mut String, text: &(impl AsRef<str> + ?Sized)) {
    out.push('"');
    for character in text.as_ref().chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write_display(out, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

/// Adds what a number shows itself as.
pub(super) fn write_display(out: &mut String, shown: impl std::fmt::Display) {
    // A `String` takes everything.
    let _ = write!(out, "{shown}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(text: &str) -> Kind {
        parse(text.as_bytes(), 7).unwrap().kind
    }

    fn fault(text: &[u8]) -> String {
        parse(text, 7).unwrap_err().to_string()
    }

    #[test]
    fn every_kind_of_value_is_read() {
        assert_eq!(kind(" null "), Kind::Null);
        assert_eq!(kind("true"), Kind::Bool(true));
        assert_eq!(kind("-12"), Kind::Number(Value::Int(-12)));
        assert_eq!(kind("18446744073709551615"), Kind::Number(Value::UInt(u64::MAX)));
        assert_eq!(kind("18446744073709551616"), Kind::Huge);
        assert_eq!(kind("-0.0"), Kind::Number(Value::Float(-0.0)));
        assert_eq!(kind("1e-3"), Kind::Number(Value::Float(0.001)));
        assert_eq!(kind("1E999"), Kind::Number(Value::Float(f64::INFINITY)));
        assert_eq!(kind("NaN"), Kind::Number(Value::Float(f64::NAN)));
        assert_eq!(kind("-Infinity"), Kind::Number(Value::Float(f64::NEG_INFINITY)));
        assert_eq!(kind(r#""a\u00e9\ud83d\ude00\n\/é""#), Kind::Text("aé😀\n/é".to_owned()));
        let Kind::Map(map) = kind(r#"{"a": [1, []], "b": {}}"#) else { panic!() };
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
        let mut text = String::new();
        let list = vec![
            Value::Float(1.0),
            Value::Float(f64::NAN),
            Value::Float(f64::NEG_INFINITY),
            Value::Float(1e300),
            Value::from("é😀\"\\\u{7f}\u{1}"),
            Value::Map(vec![("k".to_owned(), Value::Null), ("l".to_owned(), Value::Bool(false))]),
        ];
        write(&mut text, &Value::List(list));
        assert_eq!(
            text,
            "[1.0, NaN, -Infinity, 1e300, \"\\u00e9\\ud83d\\ude00\\\"\\\\\\u007f\\u0001\", \
             {\"k\": null, \"l\": false}]"
        );
    }

    proptest! {
        #[test]
        fn numbers_and_texts_come_back(number: f64, integer: i64, large: u64, text: String) {
            for value in [number.into(), integer.into(), large.into()] {
                let mut written = String::new();
                write(&mut written, &value);
                prop_assert_eq!(kind(&written), Kind::Number(value));
            }
            let mut written = String::new();
            write_text(&mut written, &text);
            prop_assert!(written.is_ascii());
            prop_assert_eq!(kind(&written), Kind::Text(text));
        }

        #[test]
        fn no_text_panics(text: Vec<u8>) {
            let _ = parse(&text, u64::MAX);
        }
    }
}
