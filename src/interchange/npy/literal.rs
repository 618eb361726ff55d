//! The Python literal that the header of an `.npy` file is: dicts, lists, tuples, strings, integers and
//! the three words. Nothing is evaluated.

use std::str;

use crate::interchange::Error;

/// How deep literals may nest.
const MAX_DEPTH: usize = 64;

/// How the characters of a header are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// One byte each: versions 1.0 and 2.0.
    Latin1,
    /// Version 3.0.
    Utf8,
}

/// A value, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literal {
    pub(super) offset: u64,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Text(String),
    Integer(i128),
    Bool(bool),
    None,
    Tuple(Vec<Literal>),
    List(Vec<Literal>),
    Dict(Vec<(Literal, Literal)>),
}

impl Literal {
    /// What it is, for messages.
    pub(super) fn describe(&self) -> String {
        match &self.kind {
            Kind::Text(text) => format!("the text {}", quoted(text)),
            Kind::Integer(number) => format!("the number {number}"),
            Kind::Bool(true) => "`True`".to_owned(),
            Kind::Bool(false) => "`False`".to_owned(),
            Kind::None => "`None`".to_owned(),
            Kind::Tuple(_) => "a tuple".to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Dict(_) => "a dict".to_owned(),
        }
    }

    /// That something else was expected here.
    pub(super) fn unexpected(&self, expected: &str) -> Error {
        Error::malformed(self.offset, format!("expected {expected}, found {}", self.describe()))
    }
}

/// A text in backquotes, cut where it becomes long.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Reads the one literal that `text` is. `base` is the offset of `text` in the file.
pub(super) fn parse(text: &[u8], base: u64, encoding: Encoding) -> Result<Literal, Error> {
    if encoding == Encoding::Utf8
        && let Err(error) = str::from_utf8(text)
    {
        let at = base.saturating_add(count(error.valid_up_to()));
        return Err(Error::malformed(at, "expected UTF-8, which a header of version 3.0 is in"));
    }
    let mut parser = Parser { text, at: 0, base, encoding };
    let literal = parser.value(MAX_DEPTH)?;
    parser.blanks();
    match parser.peek() {
        None => Ok(literal),
        Some(_) => Err(parser.expected("nothing but blanks after the dict")),
    }
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    base: u64,
    encoding: Encoding,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    /// Takes `byte` when it is next.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        if is_next {
            self.step();
        }
        is_next
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0c)) {
            self.step();
        }
    }

    fn offset(&self) -> u64 {
        self.base.saturating_add(count(self.at))
    }

    fn expected(&self, what: &str) -> Error {
        let found = match self.peek() {
            None => "the end of the header".to_owned(),
            Some(byte @ b' '..=b'~') => format!("`{}`", char::from(byte)),
            Some(byte) => format!("the byte {byte:#04x}"),
        };
        Error::malformed(self.offset(), format!("expected {what}, found {found}"))
    }

    fn value(&mut self, depth: usize) -> Result<Literal, Error> {
        self.blanks();
        let offset = self.offset();
        let Some(depth) = depth.checked_sub(1) else {
            let reason = format!("expected lists nested at most {MAX_DEPTH} deep, found more");
            return Err(Error::malformed(offset, reason));
        };
        let kind = match self.peek() {
            Some(b'{') => self.dict(depth)?,
            Some(b'[') => {
                self.step();
                Kind::List(self.items(b']', depth)?.0)
            }
            Some(b'(') => {
                self.step();
                match self.items(b')', depth)? {
                    // Without a comma the parentheses only group.
                    (mut items, false) if items.len() == 1 => {
                        return items.pop().ok_or_else(|| self.expected("a value"));
                    }
                    (items, _) => Kind::Tuple(items),
                }
            }
            Some(quote @ (b'\'' | b'"')) => {
                self.step();
                Kind::Text(self.string(quote)?)
            }
            // A text of Python 2.
            Some(b'u' | b'U') if matches!(self.ahead(), Some(b'\'' | b'"')) => {
                self.step();
                return self.value(depth).map(|literal| Literal { offset, ..literal });
            }
            Some(b'+' | b'-' | b'0'..=b'9') => Kind::Integer(self.integer()?),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => self.word()?,
            _ => return Err(self.expected("a value")),
        };
        Ok(Literal { offset, kind })
    }

    fn ahead(&self) -> Option<u8> {
        self.text.get(self.at.saturating_add(1)).copied()
    }

    /// The items up to `close`, and whether there was a comma.
    fn items(&mut self, close: u8, depth: usize) -> Result<(Vec<Literal>, bool), Error> {
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            self.blanks();
            if self.take(close) {
                return Ok((items, comma));
            }
            items.push(self.value(depth)?);
            self.blanks();
            let is_first = items.len() == 1;
            let follows = self.take(b',');
            if !follows {
                if !self.take(close) {
                    return Err(self.expected(&format!("`,` or `{}`", char::from(close))));
                }
                return Ok((items, comma && !is_first));
            }
            comma = true;
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Kind, Error> {
        self.step();
        let mut entries: Vec<(Literal, Literal)> = Vec::new();
        loop {
            self.blanks();
            if self.take(b'}') {
                return Ok(Kind::Dict(entries));
            }
            let key = self.value(depth)?;
            self.blanks();
            if !self.take(b':') {
                return Err(self.expected("`:`"));
            }
            let value = self.value(depth)?;
            entries.push((key, value));
            self.blanks();
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }

    fn word(&mut self) -> Result<Kind, Error> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = rest.iter().take_while(|byte| is_word(byte)).count();
        let kind = match rest.get(..length).unwrap_or_default() {
            b"True" => Kind::Bool(true),
            b"False" => Kind::Bool(false),
            b"None" => Kind::None,
            word => {
                let found = quoted(&String::from_utf8_lossy(word));
                let reason = format!("expected a value, found the word {found}");
                return Err(Error::malformed(self.offset(), reason));
            }
        };
        self.at = self.at.saturating_add(length);
        Ok(kind)
    }

    /// Decimal digits; an `L` after them is Python 2's.
    fn integer(&mut self) -> Result<i128, Error> {
        let offset = self.offset();
        let negative = self.peek() == Some(b'-');
        if negative || self.peek() == Some(b'+') {
            self.step();
        }
        let mut number: Option<i128> = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            let digit = i128::from(digit.wrapping_sub(b'0'));
            let larger = number.unwrap_or(0).checked_mul(10).and_then(|ten| ten.checked_add(digit));
            number = Some(larger.ok_or_else(|| {
                Error::malformed(offset, "expected an integer of 64 bits, found a larger one")
            })?);
            self.step();
        }
        let Some(number) = number else { return Err(self.expected("a digit")) };
        self.take(b'L');
        if matches!(self.peek(), Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.')) {
            return Err(self.expected("the end of an integer"));
        }
        Ok(if negative { number.wrapping_neg() } else { number })
    }

    fn string(&mut self, quote: u8) -> Result<String, Error> {
        let mut text = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let ends = |byte: &u8| *byte == quote || matches!(byte, b'\\' | b'\n');
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            let plain = rest.get(..length).unwrap_or_default();
            match self.encoding {
                Encoding::Latin1 => text.extend(plain.iter().copied().map(char::from)),
                // Cut at ASCII bytes out of what is UTF-8, so nothing is replaced.
                Encoding::Utf8 => text.push_str(&String::from_utf8_lossy(plain)),
            }
            self.at = self.at.saturating_add(length);
            if self.take(quote) {
                return Ok(text);
            }
            if !self.take(b'\\') {
                return Err(self.expected("the quote that ends a text"));
            }
            text.extend(self.escape()?);
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<Option<char>, Error> {
        let Some(byte) = self.peek() else {
            return Err(self.expected("the quote that ends a text"));
        };
        let plain = match byte {
            b'\\' | b'\'' | b'"' => char::from(byte),
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'a' => '\x07',
            b'b' => '\x08',
            b'f' => '\x0c',
            b'v' => '\x0b',
            b'\n' => {
                self.step();
                return Ok(None);
            }
            b'x' => return self.code(2, 16).map(Some),
            b'u' => return self.code(4, 16).map(Some),
            b'U' => return self.code(8, 16).map(Some),
            b'0'..=b'7' => {
                self.at = self.at.saturating_sub(1); // all three digits are the code's
                return self.code(3, 8).map(Some);
            }
            _ => return Err(self.expected("an escape that Python writes")),
        };
        self.step();
        Ok(Some(plain))
    }

    /// A character by its number: `digits` of them after one more byte; of octal ones there may be fewer.
    fn code(&mut self, digits: usize, radix: u32) -> Result<char, Error> {
        let offset = self.offset();
        self.step();
        let mut number: u32 = 0;
        for index in 0..digits {
            match self.peek().and_then(|byte| char::from(byte).to_digit(radix)) {
                Some(digit) => number = number.saturating_mul(radix).saturating_add(digit),
                None if radix == 8 && index > 0 => break,
                None => return Err(self.expected("a digit of an escape")),
            }
            self.step();
        }
        char::from_u32(number).ok_or_else(|| {
            let reason = format!("expected the code of a character, found {number:#x}");
            Error::malformed(offset, reason)
        })
    }
}

/// A text as Python writes it in quotes.
pub(super) fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len().saturating_add(2));
    out.push(quote);
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if letter == quote => {
                out.push('\\');
                out.push(letter);
            }
            _ if is_printable(letter) => out.push(letter),
            _ => {
                let code = u32::from(letter);
                let (mark, digits) = match code {
                    0..=0xff => ('x', 2),
                    0x100..=0xffff => ('u', 4),
                    _ => ('U', 8),
                };
                out.extend(['\\', mark]);
                out.extend(format!("{code:0digits$x}").chars());
            }
        }
    }
    out.push(quote);
    out
}

/// Whether Python prints a character as it is: all but controls, formats, blanks other than the space, and
/// private use. Characters that no version of Unicode has yet are written as they are.
fn is_printable(letter: char) -> bool {
    const HIDDEN: [(u32, u32); 28] = [
        (0x0, 0x1f),
        (0x7f, 0xa0),
        (0xad, 0xad),
        (0x600, 0x605),
        (0x61c, 0x61c),
        (0x6dd, 0x6dd),
        (0x70f, 0x70f),
        (0x890, 0x891),
        (0x8e2, 0x8e2),
        (0x1680, 0x1680),
        (0x180e, 0x180e),
        (0x2000, 0x200f),
        (0x2028, 0x202f),
        (0x205f, 0x2064),
        (0x2066, 0x206f),
        (0x3000, 0x3000),
        (0xd800, 0xf8ff),
        (0xfeff, 0xfeff),
        (0xfff9, 0xfffb),
        (0x110bd, 0x110bd),
        (0x110cd, 0x110cd),
        (0x13430, 0x13438),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0001, 0xe0001),
        (0xe0020, 0xe007f),
        (0xf0000, 0xf_fffd),
        (0x100_000, 0x10_fffd),
    ];
    let code = u32::from(letter);
    matches!(letter, ' '..='~')
        || !HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn latin(text: &[u8]) -> Result<Literal, Error> {
        parse(text, 0, Encoding::Latin1)
    }

    fn kind(text: &str) -> Kind {
        parse(text.as_bytes(), 0, Encoding::Utf8).unwrap().kind
    }

    fn fault(text: &[u8]) -> String {
        latin(text).unwrap_err().to_string()
    }

    #[test]
    fn a_header_in_any_style_is_read() {
        let header = kind(" {\"shape\": (3L,2), 'fortran_order' :False,'descr': [u'<f8' , ], } \n");
        let Kind::Dict(entries) = header else { panic!() };
        let keys: Vec<_> = entries.iter().map(|(key, _)| key.kind.clone()).collect();
        let text = |text: &str| Kind::Text(text.to_owned());
        assert_eq!(keys, [text("shape"), text("fortran_order"), text("descr")]);
        let Kind::Tuple(shape) = &entries[0].1.kind else { panic!() };
        assert_eq!(shape.iter().map(|one| one.offset).collect::<Vec<_>>(), [12, 15]);
        assert_eq!(entries[2].1.kind, Kind::List(vec![Literal { offset: 52, kind: text("<f8") }]));
    }

    #[test]
    fn tuples_have_a_comma_or_nothing_in_them() {
        assert_eq!(kind("()"), Kind::Tuple(Vec::new()));
        assert_eq!(kind("(5)"), Kind::Integer(5));
        assert_eq!(kind("((5))"), Kind::Integer(5));
        assert!(matches!(kind("(5,)"), Kind::Tuple(items) if items.len() == 1));
        assert!(matches!(kind("(5, 6)"), Kind::Tuple(items) if items.len() == 2));
        assert!(matches!(kind("[5]"), Kind::List(items) if items.len() == 1));
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
            assert_eq!(kind(text), Kind::Text(expected.to_owned()), "{text}");
        }
        assert_eq!(latin(b"'caf\xe9'").unwrap().kind, Kind::Text("café".to_owned()));
        for bad in [r"'\ud800'", r"'\q'", r"'\x4'", "'a", "'a\n'", r"'\"] {
            assert!(latin(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn faults_have_their_place() {
        assert_eq!(fault(b"{'a' 5}"), "byte 5: expected `:`, found `5`");
        assert_eq!(fault(b"{'a': 5"), "byte 7: expected `,` or `}`, found the end of the header");
        assert_eq!(fault(b"{'a': eval}"), "byte 6: expected a value, found the word `eval`");
        assert_eq!(
            fault(b"10**30"),
            "byte 2: expected nothing but blanks after the dict, found `*`"
        );
        assert_eq!(fault(b"1.5"), "byte 1: expected the end of an integer, found `.`");
        assert_eq!(
            fault(b"5\0"),
            "byte 1: expected nothing but blanks after the dict, found the byte 0x00"
        );
        let huge = fault("9".repeat(60).as_bytes());
        assert_eq!(huge, "byte 0: expected an integer of 64 bits, found a larger one");
        let deep = fault("(".repeat(100_000).as_bytes());
        assert_eq!(deep, "byte 64: expected lists nested at most 64 deep, found more");
        let utf8 = parse(b"'a\xff'", 10, Encoding::Utf8).unwrap_err().to_string();
        assert!(utf8.starts_with("byte 12: expected UTF-8"), "{utf8}");
    }

    proptest! {
        #[test]
        fn a_written_text_is_read_the_same(text in ".*", escaped in any::<char>()) {
            let text = format!("{text}{escaped}");
            prop_assert_eq!(kind(&repr(&text)), Kind::Text(text));
        }

        #[test]
        fn no_text_panics(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = latin(&text);
            let _ = parse(&text, u64::MAX, Encoding::Utf8);
        }
    }
}
