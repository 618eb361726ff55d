//! Parses the literals in headers: Python literals in `.npy` files, and JSON as written by Python's `json` in `.ds`
//! files, including unquoted `NaN`, `Infinity` and `-Infinity`. Nothing is evaluated.
//!
//! Errors need the offset of every value, nesting and number of values must be limited, and a duplicate key in JSON
//! must be an error, so no existing parser fits.

#![expect(clippy::indexing_slicing, reason = "positions come from searches in the same text")]

use std::collections::HashSet;
use std::fmt;

use super::FormatError;
use crate::ndl::Value;

/// Deepest nesting of lists: hostile text must not overflow the stack.
const MAX_DEPTH: usize = 64;

/// Most values, so that many short ones do not take many times the memory of their text.
const MAX_VALUES: usize = 1 << 20;

/// Maximum number of characters of a text that a message shows.
const MAX_TEXT_SHOWN: usize = 40;

/// The language of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// Python, one byte for each character: `.npy` versions 1.0 and 2.0.
    PythonLatin1,
    /// Python in UTF-8: `.npy` version 3.0.
    PythonUtf8,
    /// JSON as Python writes it.
    Json,
}

/// A value and its offsets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    /// The offset of its beginning in the file, in bytes.
    pub(super) offset: u64,
    /// The offset of its end.
    pub(super) end: u64,
    pub(super) kind: LiteralKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum LiteralKind {
    Null,
    Bool(bool),
    /// An integer of 64 bits; in JSON also a float.
    Number(Value),
    /// An integer in JSON that does not fit 64 bits.
    Huge,
    Text(String),
    /// A tuple; only in Python.
    Tuple(Vec<Literal>),
    List(Vec<Literal>),
    /// Keys and values in the order of the text. Keys in JSON are unique texts.
    Map(Vec<(Literal, Literal)>),
}

impl Literal {
    /// Returns the error that something else was expected.
    pub(super) fn unexpected(&self, expected: &str) -> FormatError {
        FormatError::malformed(self.offset, format!("expected {expected}, found {self}"))
    }

    pub(super) fn text(&self, expected: &str) -> Result<&str, FormatError> {
        match &self.kind {
            LiteralKind::Text(text) => Ok(text),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Returns the boolean.
    pub(super) fn truth(&self, expected: &str) -> Result<bool, FormatError> {
        match self.kind {
            LiteralKind::Bool(truth) => Ok(truth),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Returns an integer of at least 0.
    pub(super) fn count(&self, expected: &str) -> Result<u64, FormatError> {
        let LiteralKind::Number(number) = &self.kind else { return Err(self.unexpected(expected)) };
        let count = number.as_integer().and_then(|number| u64::try_from(number).ok());
        count.ok_or_else(|| self.unexpected(expected))
    }

    /// Returns the keys and values of a map.
    pub(super) fn entries(&self, expected: &str) -> Result<&[(Self, Self)], FormatError> {
        match &self.kind {
            LiteralKind::Map(entries) => Ok(entries),
            _ => Err(self.unexpected(expected)),
        }
    }
}

/// Describes the value for a message.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            LiteralKind::Text(text) => write!(f, "the text {}", quoted(text)),
            LiteralKind::Number(number) => write!(f, "the number {}", number.to_line()),
            LiteralKind::Bool(truth) => write!(f, "the boolean {truth}"),
            LiteralKind::Null => f.write_str("no value"),
            LiteralKind::Huge => f.write_str("an integer of more than 64 bits"),
            LiteralKind::Tuple(_) => f.write_str("a tuple"),
            LiteralKind::List(_) => f.write_str("a list"),
            LiteralKind::Map(_) => f.write_str("a map of keys and values"),
        }
    }
}

/// Parses `text` as a single literal. It begins at the offset `base` of the file.
pub(super) fn parse(text: &[u8], base: u64, language: Language) -> Result<Literal, FormatError> {
    let mut header = HeaderText { text, at: 0, base, depth: 0, values: 0, language };
    let is_utf8 = language != Language::PythonLatin1;
    if let (true, Err(error)) = (is_utf8, str::from_utf8(text)) {
        header.at = error.valid_up_to();
        let of = if header.is_json() {
            " in the header"
        } else {
            ", the encoding of a header of version 3.0"
        };
        return Err(FormatError::malformed(header.offset(), format!("expected UTF-8{of}")));
    }
    let literal = header.value()?;
    header.blanks();
    match header.peek() {
        None => Ok(literal),
        Some(_) if header.is_json() => Err(header.expected("the end of the header")),
        Some(_) => Err(header.expected("nothing but white space after the dict")),
    }
}

/// Returns a text in backquotes, shortened if it is long.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String =
        text.chars().take(MAX_TEXT_SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_TEXT_SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// The keywords of JSON.
const JSON_WORDS: [(&str, LiteralKind); 6] = [
    ("null", LiteralKind::Null),
    ("true", LiteralKind::Bool(true)),
    ("false", LiteralKind::Bool(false)),
    ("NaN", LiteralKind::Number(Value::Float(f64::NAN))),
    ("Infinity", LiteralKind::Number(Value::Float(f64::INFINITY))),
    ("-Infinity", LiteralKind::Number(Value::Float(f64::NEG_INFINITY))),
];

/// A position in the text of a header.
struct HeaderText<'t> {
    text: &'t [u8],
    at: usize,
    /// The offset of the text in the file.
    base: u64,
    depth: usize,
    values: usize,
    language: Language,
}

impl<'t> HeaderText<'t> {
    fn is_json(&self) -> bool {
        self.language == Language::Json
    }

    fn offset(&self) -> u64 {
        self.base.saturating_add(self.at as u64) // the caller chooses any base
    }

    fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// Takes `word` if it is next; returns whether it was.
    fn take(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word.as_bytes());
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    /// Takes bytes while they match, and returns them as text.
    fn take_while(&mut self, is_such: impl Fn(u8) -> bool) -> String {
        let rest = self.rest();
        let len = rest.iter().position(|byte| !is_such(*byte)).unwrap_or(rest.len());
        self.at += len;
        match self.language {
            Language::PythonLatin1 => rest[..len].iter().copied().map(char::from).collect(),
            // The text was UTF-8 and is cut at ASCII bytes, so nothing is replaced.
            _ => String::from_utf8_lossy(&rest[..len]).into_owned(),
        }
    }

    fn blanks(&mut self) {
        let is_json = self.is_json();
        self.take_while(|byte| {
            matches!(byte, b' ' | b'\t' | b'\n' | b'\r') || (byte == 0x0c && !is_json)
        });
    }

    /// Returns the error that `what` was expected here.
    fn expected(&self, what: &str) -> FormatError {
        let letter = match self.language {
            Language::PythonLatin1 => self.peek().map(char::from),
            _ => String::from_utf8_lossy(self.rest()).chars().next(),
        };
        let found = match letter {
            None => "the end of the header".to_owned(),
            Some(plain @ ' '..='~') => format!("`{plain}`"),
            Some(letter) => format!("`{}`", letter.escape_default()),
        };
        FormatError::malformed(self.offset(), format!("expected {what}, found {found}"))
    }

    fn value(&mut self) -> Result<Literal, FormatError> {
        self.blanks();
        let offset = self.offset();
        self.values += 1;
        if self.values > MAX_VALUES {
            let reason = format!("expected a header of at most {MAX_VALUES} values, found more");
            return Err(FormatError::malformed(offset, reason));
        }
        let is_json = self.is_json();
        // The prefix of a text in Python 2 does not matter.
        if let ([b'u' | b'U', b'\'' | b'"', ..], false) = (self.rest(), is_json) {
            self.next();
        }
        let kind = match self.peek() {
            Some(b'{') => self.map()?,
            Some(b'[') => LiteralKind::List(self.list("]")?.0),
            Some(quote @ b'"') => LiteralKind::Text(self.string(quote)?),
            Some(b'-' | b'0'..=b'9') if !self.rest().starts_with(b"-I") => self.number()?,
            _ if is_json => {
                let word = JSON_WORDS.iter().find(|(word, _)| self.take(word));
                word.ok_or_else(|| self.expected("a value"))?.1.clone()
            }
            Some(b'(') => match self.list(")")? {
                // Without a comma, parentheses only group.
                (items, false) if items.len() == 1 => {
                    let [item] = <[Literal; 1]>::try_from(items).expect("the length was compared");
                    return Ok(item);
                }
                (items, _) => LiteralKind::Tuple(items),
            },
            Some(quote @ b'\'') => LiteralKind::Text(self.string(quote)?),
            Some(b'+' | b'-') => self.number()?,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                match &*self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    "True" => LiteralKind::Bool(true),
                    "False" => LiteralKind::Bool(false),
                    "None" => LiteralKind::Null,
                    word => {
                        let reason = format!("expected a value, found the word {}", quoted(word));
                        return Err(FormatError::malformed(offset, reason));
                    }
                }
            }
            _ => return Err(self.expected("a value")),
        };
        Ok(Literal { offset, end: self.offset(), kind })
    }

    /// Takes a bracket, the items that `item` reads, and the bracket `close`. Returns whether a comma follows the last
    /// item.
    fn items(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        if self.depth == MAX_DEPTH {
            let nesting = if self.is_json() { "values" } else { "lists" };
            let reason = format!("expected {nesting} nested at most {MAX_DEPTH} deep, found more");
            return Err(FormatError::malformed(self.offset(), reason));
        }
        self.depth += 1;
        self.next();
        let (mut is_first, mut comma) = (true, false);
        loop {
            self.blanks();
            if (is_first || !self.is_json()) && self.take(close) {
                break;
            }
            item(self)?;
            self.blanks();
            (is_first, comma) = (false, self.take(","));
            if !comma && self.take(close) {
                break;
            }
            if !comma {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
        self.depth -= 1;
        Ok(comma)
    }

    /// Returns the items up to `close`, and whether a comma follows the last.
    fn list(&mut self, close: &str) -> Result<(Vec<Literal>, bool), FormatError> {
        let mut items = Vec::new();
        let comma = self.items(close, |text| {
            items.push(text.value()?);
            Ok(())
        })?;
        Ok((items, comma))
    }

    fn map(&mut self) -> Result<LiteralKind, FormatError> {
        let (mut map, mut keys) = (Vec::new(), HashSet::new());
        self.items("}", |text| {
            if text.is_json() && text.peek() != Some(b'"') {
                return Err(text.expected("a key"));
            }
            let key = text.value()?;
            if let LiteralKind::Text(name) = &key.kind
                && text.is_json()
                && !keys.insert(name.clone())
            {
                let reason = format!("expected each key once, found {name:?} again");
                return Err(FormatError::malformed(key.offset, reason));
            }
            text.blanks();
            if !text.take(":") {
                return Err(text.expected("`:`"));
            }
            map.push((key, text.value()?));
            Ok(())
        })?;
        Ok(LiteralKind::Map(map))
    }

    fn digits(&mut self) -> Result<String, FormatError> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if digits.is_empty() { Err(self.expected("a digit")) } else { Ok(digits) }
    }

    fn number(&mut self) -> Result<LiteralKind, FormatError> {
        let (offset, is_json) = (self.offset(), self.is_json());
        let mut number = if self.take("-") { "-".to_owned() } else { String::new() };
        if number.is_empty() && !is_json {
            self.take("+");
        }
        // In JSON, no digit follows a leading zero.
        let is_zero = is_json && self.take("0");
        number += &if is_zero { "0".to_owned() } else { self.digits()? };
        let whole = number.len();
        if is_json && self.take(".") {
            number.extend([".", &self.digits()?]);
        }
        if is_json && (self.take("e") || self.take("E")) {
            let sign = if !self.take("+") && self.take("-") { "-" } else { "" };
            number.extend(["e", sign, &self.digits()?]);
        }
        if number.len() > whole {
            // A number out of range becomes infinite, as in Python.
            let number = number.parse().map_err(|_| self.expected("a number"))?;
            return Ok(LiteralKind::Number(Value::Float(number)));
        }
        if !is_json {
            self.take("L"); // the suffix of Python 2
            if let Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.') = self.peek() {
                return Err(self.expected("the end of an integer"));
            }
        }
        let unsigned = || number.parse::<u64>().map(Value::from);
        match number.parse().map(Value::Int).or_else(|_| unsigned()) {
            Ok(number) => Ok(LiteralKind::Number(number)),
            Err(_) if is_json => Ok(LiteralKind::Huge),
            Err(_) => {
                let reason = "expected an integer of 64 bits, found a larger one";
                Err(FormatError::malformed(offset, reason))
            }
        }
    }

    fn string(&mut self, quote: u8) -> Result<String, FormatError> {
        let is_json = self.is_json();
        self.next();
        let mut string = String::new();
        loop {
            string += &self.take_while(|byte| {
                let is_control = if is_json { byte < b' ' } else { byte == b'\n' };
                byte != quote && byte != b'\\' && !is_control
            });
            match self.peek() {
                Some(byte) if byte == quote => {
                    self.next();
                    return Ok(string);
                }
                Some(b'\\') => string.extend(self.escape()?),
                _ if !is_json => return Err(self.expected("the quote that ends a text")),
                Some(_) => return Err(self.expected("an escape instead of a control character")),
                None => return Err(self.expected("`\"` at the end of a text")),
            }
        }
    }

    /// Takes at least `least` and up to `most` digits, and returns their number.
    fn code(
        &mut self,
        radix: u32,
        [least, most]: [usize; 2],
        expected: &str,
    ) -> Result<u32, FormatError> {
        let mut number = 0_u32;
        for index in 0..most {
            match self.peek().and_then(|byte| char::from(byte).to_digit(radix)) {
                Some(digit) => number = number * radix + digit,
                None if index >= least => break,
                None => return Err(self.expected(expected)),
            }
            self.next();
        }
        Ok(number)
    }

    /// Takes an escape and returns its character; `None` for an escaped line end in Python.
    fn escape(&mut self) -> Result<Option<char>, FormatError> {
        let (at, is_json) = (self.offset(), self.is_json());
        self.next();
        let offset = self.offset();
        let plain = match (self.peek(), is_json) {
            (Some(plain @ (b'"' | b'\\')), _) => Some(char::from(plain)),
            (Some(b'n'), _) => Some('\n'),
            (Some(b'r'), _) => Some('\r'),
            (Some(b't'), _) => Some('\t'),
            (Some(b'b'), _) => Some('\x08'),
            (Some(b'f'), _) => Some('\x0c'),
            (Some(b'/'), true) => Some('/'),
            (Some(b'\''), false) => Some('\''),
            (Some(b'a'), false) => Some('\x07'),
            (Some(b'v'), false) => Some('\x0b'),
            (Some(b'\n'), false) => None,
            (Some(b'u'), true) => {
                self.next();
                return self.surrogates(at).map(Some);
            }
            (_, true) => {
                let reason = "expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u";
                return Err(FormatError::malformed(at, reason));
            }
            (Some(letter @ (b'x' | b'u' | b'U' | b'0'..=b'7')), false) => {
                let (radix, digits) = match letter {
                    b'x' => (16, [2, 2]),
                    b'u' => (16, [4, 4]),
                    b'U' => (16, [8, 8]),
                    _ => (8, [1, 3]),
                };
                if radix == 16 {
                    self.next();
                }
                let code = self.code(radix, digits, "a digit of an escape")?;
                let reason = || format!("expected the code of a character, found {code:#x}");
                let found = char::from_u32(code);
                return found.map(Some).ok_or_else(|| FormatError::malformed(offset, reason()));
            }
            (None, false) => return Err(self.expected("the quote that ends a text")),
            (Some(_), false) => return Err(self.expected("an escape that Python writes")),
        };
        self.next();
        Ok(plain)
    }

    /// Takes one or two UTF-16 units after `\u`, and returns their character. The escape begins at the offset `at`.
    fn surrogates(&mut self, at: u64) -> Result<char, FormatError> {
        let unit = |text: &mut Self| {
            let code = text.code(16, [4, 4], "four hexadecimal digits")?;
            Ok::<_, FormatError>(u16::try_from(code).expect("four digits are 16 bits"))
        };
        let mut units = vec![unit(self)?];
        if matches!(units[..], [0xD800..0xDC00]) && self.take("\\u") {
            units.push(unit(self)?);
        }
        let decoded = char::decode_utf16(units).next().and_then(Result::ok);
        let reason = "expected a character, found half of a surrogate pair";
        decoded.ok_or_else(|| FormatError::malformed(at, reason))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn latin(text: &[u8]) -> Result<Literal, FormatError> {
        parse(text, 0, Language::PythonLatin1)
    }

    fn kind(text: &str) -> LiteralKind {
        parse(text.as_bytes(), 0, Language::PythonUtf8).unwrap().kind
    }

    fn fault(text: &[u8]) -> String {
        latin(text).unwrap_err().to_string()
    }

    fn json(text: &str) -> LiteralKind {
        parse(text.as_bytes(), 7, Language::Json).unwrap().kind
    }

    fn json_fault(text: &[u8]) -> String {
        parse(text, 7, Language::Json).unwrap_err().to_string()
    }

    #[test]
    fn headers_in_any_style_are_read() {
        let header = kind(" {\"shape\": (3L,2), 'fortran_order' :False,'descr': [u'<f8' , ], } \n");
        let LiteralKind::Map(entries) = header else { panic!() };
        let keys: Vec<_> = entries.iter().map(|(key, _)| key.kind.clone()).collect();
        let text = |text: &str| LiteralKind::Text(text.to_owned());
        assert_eq!(keys, [text("shape"), text("fortran_order"), text("descr")]);
        let LiteralKind::Tuple(shape) = &entries[0].1.kind else { panic!() };
        assert_eq!(shape.iter().map(|one| one.offset).collect::<Vec<_>>(), [12, 15]);
        let descr = Literal { offset: 52, end: 58, kind: text("<f8") };
        assert_eq!(entries[2].1.kind, LiteralKind::List(vec![descr]));
    }

    #[test]
    fn tuples_have_a_comma_or_are_empty() {
        assert_eq!(kind("()"), LiteralKind::Tuple(Vec::new()));
        assert_eq!(kind("(5)"), LiteralKind::Number(Value::Int(5)));
        assert_eq!(kind("((5))"), LiteralKind::Number(Value::Int(5)));
        assert!(matches!(kind("(5,)"), LiteralKind::Tuple(items) if items.len() == 1));
        assert!(matches!(kind("(5, 6)"), LiteralKind::Tuple(items) if items.len() == 2));
        assert!(matches!(kind("[5]"), LiteralKind::List(items) if items.len() == 1));
        assert!(latin(b"(,)").is_err());
        assert!(latin(b"(5,,)").is_err());
        assert!(latin(b"[5 6]").is_err());
    }

    #[test]
    fn strings_have_the_escapes_of_python() {
        let cases = [
            (r"'a\'b'", "a'b"),
            (r#""a'b""#, "a'b"),
            (r"'\x41\u017e\U0001f600\101\0\7a'", "A\u{17e}\u{1f600}A\0\u{7}a"),
            ("'a\\\nb'", "ab"),
            (r"'\n\r\t\a\b\f\v\\'", "\n\r\t\u{7}\u{8}\u{c}\u{b}\\"),
        ];
        for (text, expected) in cases {
            assert_eq!(kind(text), LiteralKind::Text(expected.to_owned()), "{text}");
        }
        assert_eq!(latin(b"'caf\xe9'").unwrap().kind, LiteralKind::Text("café".to_owned()));
        for bad in [r"'\ud800'", r"'\q'", r"'\x4'", "'a", "'a\n'", r"'\"] {
            assert!(latin(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn errors_have_their_offset() {
        assert_eq!(fault(b"{'a' 5}"), "byte 5: expected `:`, found `5`");
        assert_eq!(fault(b"{'a': 5"), "byte 7: expected `,` or `}`, found the end of the header");
        assert_eq!(fault(b"{'a': eval}"), "byte 6: expected a value, found the word `eval`");
        assert_eq!(
            fault(b"10**30"),
            "byte 2: expected nothing but white space after the dict, found `*`"
        );
        assert_eq!(fault(b"1.5"), "byte 1: expected the end of an integer, found `.`");
        assert_eq!(
            fault(b"5\0"),
            "byte 1: expected nothing but white space after the dict, found `\\u{0}`"
        );
        let huge = fault("9".repeat(60).as_bytes());
        assert_eq!(huge, "byte 0: expected an integer of 64 bits, found a larger one");
        let deep = fault("(".repeat(100_000).as_bytes());
        assert_eq!(deep, "byte 64: expected lists nested at most 64 deep, found more");
        let utf8 = parse(b"'a\xff'", 10, Language::PythonUtf8).unwrap_err().to_string();
        assert!(utf8.starts_with("byte 12: expected UTF-8"), "{utf8}");
    }

    #[test]
    fn every_kind_of_json_is_read() {
        assert_eq!(json(" null "), LiteralKind::Null);
        assert_eq!(json("true"), LiteralKind::Bool(true));
        assert_eq!(json("-12"), LiteralKind::Number(Value::Int(-12)));
        assert_eq!(json("18446744073709551615"), LiteralKind::Number(Value::UInt(u64::MAX)));
        assert_eq!(json("18446744073709551616"), LiteralKind::Huge);
        assert_eq!(json("-0.0"), LiteralKind::Number(Value::Float(-0.0)));
        assert_eq!(json("1e-3"), LiteralKind::Number(Value::Float(0.001)));
        assert_eq!(json("1E999"), LiteralKind::Number(Value::Float(f64::INFINITY)));
        assert_eq!(json("NaN"), LiteralKind::Number(Value::Float(f64::NAN)));
        assert_eq!(json("-Infinity"), LiteralKind::Number(Value::Float(f64::NEG_INFINITY)));
        assert_eq!(json(r#""a\u00e9\ud83d\ude00\n\/é""#), LiteralKind::Text("aé😀\n/é".to_owned()));
        let LiteralKind::Map(map) = json(r#"{"a": [1, []], "b": {}}"#) else { panic!() };
        assert_eq!(map[0].0.kind, LiteralKind::Text("a".to_owned()));
        assert_eq!((map[0].0.offset, map[0].1.offset, map[0].1.end), (8, 13, 20));
    }

    #[test]
    fn every_json_error_has_its_offset() {
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
            assert_eq!(json_fault(text), *message);
        }
        let deep = "[".repeat(1_000_000);
        assert_eq!(
            json_fault(deep.as_bytes()),
            "byte 71: expected values nested at most 64 deep, found more"
        );
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert!(json_fault(many.as_bytes()).contains("at most 1048576 values"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = latin(&text);
            let _ = parse(&text, u64::MAX, Language::PythonUtf8);
            let _ = parse(&text, u64::MAX, Language::Json);
        }
    }
}
