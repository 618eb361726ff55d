//! The Python literal that the header of an `.npy` file is: dicts, lists, tuples, strings, integers and
//! the three words. Nothing is evaluated.

use crate::interchange::Error;
use crate::interchange::text::{Charset, HeaderText, Language, quoted};

/// A value, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literal {
    pub(super) offset: u64,
    pub(super) kind: LiteralKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LiteralKind {
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
            LiteralKind::Text(text) => format!("the text {}", quoted(text)),
            LiteralKind::Integer(number) => format!("the number {number}"),
            LiteralKind::Bool(true) => "`True`".to_owned(),
            LiteralKind::Bool(false) => "`False`".to_owned(),
            LiteralKind::None => "`None`".to_owned(),
            LiteralKind::Tuple(_) => "a tuple".to_owned(),
            LiteralKind::List(_) => "a list".to_owned(),
            LiteralKind::Dict(_) => "a dict".to_owned(),
        }
    }

    /// That something else was expected here.
    pub(super) fn unexpected(&self, expected: &str) -> Error {
        Error::malformed(self.offset, format!("expected {expected}, found {}", self.describe()))
    }
}

/// Reads the one literal that `text` is. `base` is the offset of `text` in the file.
pub(super) fn parse(text: &[u8], base: u64, charset: Charset) -> Result<Literal, Error> {
    let python = Language {
        charset,
        not_utf8: "expected UTF-8, which a header of version 3.0 is in",
        blanks: b" \t\n\r\x0c",
        nesting: "lists",
        trailing_commas: true,
        end: "nothing but blanks after the dict",
    };
    HeaderText::read(text, base, python, value)
}

fn value(text: &mut HeaderText<'_>) -> Result<Literal, Error> {
    text.blanks();
    let offset = text.offset();
    // The letter before a text of Python 2 says nothing.
    if let [b'u' | b'U', b'\'' | b'"', ..] = text.rest() {
        text.next();
    }
    let kind = match text.peek() {
        Some(b'{') => {
            let mut entries = Vec::new();
            text.items("}", |text| {
                let key = value(text)?;
                text.blanks();
                if !text.take(":") {
                    return Err(text.expected("`:`"));
                }
                entries.push((key, value(text)?));
                Ok(())
            })?;
            LiteralKind::Dict(entries)
        }
        Some(b'[') => LiteralKind::List(items(text, "]")?.0),
        Some(b'(') => match items(text, ")")? {
            // Without a comma the parentheses only group.
            (items, false) if items.len() == 1 => {
                let [item] = <[Literal; 1]>::try_from(items).expect("the length was compared");
                return Ok(item);
            }
            (items, _) => LiteralKind::Tuple(items),
        },
        Some(quote @ (b'\'' | b'"')) => LiteralKind::Text(string(text, quote)?),
        Some(b'+' | b'-' | b'0'..=b'9') => LiteralKind::Integer(integer(text)?),
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
            match text.text_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_').as_str() {
                "True" => LiteralKind::Bool(true),
                "False" => LiteralKind::Bool(false),
                "None" => LiteralKind::None,
                word => {
                    let reason = format!("expected a value, found the word {}", quoted(word));
                    return Err(Error::malformed(offset, reason));
                }
            }
        }
        _ => return Err(text.expected("a value")),
    };
    Ok(Literal { offset, kind })
}

/// The items up to `close`, and whether a comma follows the last.
fn items(text: &mut HeaderText<'_>, close: &str) -> Result<(Vec<Literal>, bool), Error> {
    let mut items = Vec::new();
    let comma = text.items(close, |text| {
        items.push(value(text)?);
        Ok(())
    })?;
    Ok((items, comma))
}

/// Decimal digits; an `L` after them is Python 2's.
fn integer(text: &mut HeaderText<'_>) -> Result<i128, Error> {
    let offset = text.offset();
    let is_negative = text.take("-");
    if !is_negative {
        text.take("+");
    }
    let digits = text.text_while(|byte| byte.is_ascii_digit());
    if digits.is_empty() {
        return Err(text.expected("a digit"));
    }
    let number: i128 = digits.parse().map_err(|_| {
        Error::malformed(offset, "expected an integer of 64 bits, found a larger one")
    })?;
    text.take("L");
    match text.peek() {
        Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.') => {
            Err(text.expected("the end of an integer"))
        }
        _ => Ok(if is_negative { -number } else { number }),
    }
}

fn string(text: &mut HeaderText<'_>, quote: u8) -> Result<String, Error> {
    text.next();
    let mut string = String::new();
    loop {
        let is_plain = |byte| byte != quote && !matches!(byte, b'\\' | b'\n');
        string += &text.text_while(is_plain);
        match text.peek() {
            Some(b'\\') => {
                text.next();
                string.extend(escape(text)?);
            }
            Some(byte) if byte == quote => {
                text.next();
                return Ok(string);
            }
            _ => return Err(text.expected("the quote that ends a text")),
        }
    }
}

/// What follows a backslash.
fn escape(text: &mut HeaderText<'_>) -> Result<Option<char>, Error> {
    let offset = text.offset();
    let (radix, digits) = match text.peek() {
        Some(b'x') => (16, [2, 2]),
        Some(b'u') => (16, [4, 4]),
        Some(b'U') => (16, [8, 8]),
        Some(b'0'..=b'7') => (8, [1, 3]),
        None => return Err(text.expected("the quote that ends a text")),
        Some(byte) => {
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
                    text.next();
                    return Ok(None);
                }
                _ => return Err(text.expected("an escape that Python writes")),
            };
            text.next();
            return Ok(Some(plain));
        }
    };
    if radix == 16 {
        text.next();
    }
    let number = text.number(radix, digits, "a digit of an escape")?;
    let reason = || format!("expected the code of a character, found {number:#x}");
    char::from_u32(number).map(Some).ok_or_else(|| Error::malformed(offset, reason()))
}

/// A text as Python writes it in quotes.
pub(super) fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = quote.to_string();
    for letter in text.chars() {
        out += &match (letter, u32::from(letter)) {
            ('\\', _) => "\\\\".to_owned(),
            ('\n', _) => "\\n".to_owned(),
            ('\r', _) => "\\r".to_owned(),
            ('\t', _) => "\\t".to_owned(),
            _ if letter == quote => format!("\\{quote}"),
            _ if is_printable(letter) => letter.to_string(),
            (_, code @ 0..=0xff) => format!("\\x{code:02x}"),
            (_, code @ 0..=0xffff) => format!("\\u{code:04x}"),
            (_, code) => format!("\\U{code:08x}"),
        };
    }
    out.push(quote);
    out
}

/// Whether Python prints a character as it is: all but controls, formats, blanks other than the space, private
/// use and those that no version of Unicode has yet. Rust's `escape_debug` goes by the same classes.
fn is_printable(letter: char) -> bool {
    // Behind another letter an accent stays as it is.
    matches!(letter, '\'' | '"' | '\\') || format!("a{letter}").escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn latin(text: &[u8]) -> Result<Literal, Error> {
        parse(text, 0, Charset::Latin1)
    }

    fn kind(text: &str) -> LiteralKind {
        parse(text.as_bytes(), 0, Charset::Utf8).unwrap().kind
    }

    fn fault(text: &[u8]) -> String {
        latin(text).unwrap_err().to_string()
    }

    #[test]
    fn a_header_in_any_style_is_read() {
        let header = kind(" {\"shape\": (3L,2), 'fortran_order' :False,'descr': [u'<f8' , ], } \n");
        let LiteralKind::Dict(entries) = header else { panic!() };
        let keys: Vec<_> = entries.iter().map(|(key, _)| key.kind.clone()).collect();
        let text = |text: &str| LiteralKind::Text(text.to_owned());
        assert_eq!(keys, [text("shape"), text("fortran_order"), text("descr")]);
        let LiteralKind::Tuple(shape) = &entries[0].1.kind else { panic!() };
        assert_eq!(shape.iter().map(|one| one.offset).collect::<Vec<_>>(), [12, 15]);
        assert_eq!(
            entries[2].1.kind,
            LiteralKind::List(vec![Literal { offset: 52, kind: text("<f8") }])
        );
    }

    #[test]
    fn tuples_have_a_comma_or_nothing_in_them() {
        assert_eq!(kind("()"), LiteralKind::Tuple(Vec::new()));
        assert_eq!(kind("(5)"), LiteralKind::Integer(5));
        assert_eq!(kind("((5))"), LiteralKind::Integer(5));
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
        let utf8 = parse(b"'a\xff'", 10, Charset::Utf8).unwrap_err().to_string();
        assert!(utf8.starts_with("byte 12: expected UTF-8"), "{utf8}");
    }

    proptest! {
        #[test]
        fn a_written_text_is_read_the_same(text in ".*", escaped in any::<char>()) {
            let text = format!("{text}{escaped}");
            prop_assert_eq!(kind(&repr(&text)), LiteralKind::Text(text));
        }

        #[test]
        fn no_text_panics(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = latin(&text);
            let _ = parse(&text, u64::MAX, Charset::Utf8);
        }
    }
}
