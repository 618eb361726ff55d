//! JSON texts without control characters, so that a terminal can show them.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::path::is_unsafe;

/// Writes a value as JSON on one line. Control characters and characters that change the direction of text are escaped
/// as `\u001b`.
///
/// # Errors
///
/// The error of `out`, or of a value that JSON cannot express.
pub fn write(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, SafeJson);
    value
        .serialize(&mut serializer)
        .map_err(|error| if error.is_io() { error.into() } else { io::Error::other(error) })
}

/// Returns a value as JSON, written as [`write()`] does.
///
/// # Errors
///
/// The error of a value that JSON cannot express.
///
/// ```
/// assert_eq!(ra_pack::json::text(&["a\u{1b}", "ä"])?, r#"["a\u001b","ä"]"#);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn text(value: &impl Serialize) -> io::Result<String> {
    let mut text = Vec::new();
    write(&mut text, value)?;
    String::from_utf8(text).map_err(io::Error::other)
}

struct SafeJson;

impl Formatter for SafeJson {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        write_safe(out, fragment)
    }
}

/// Writes a part of a JSON text. Characters that change how a terminal shows text are escaped.
pub(crate) fn write_safe<W: Write + ?Sized>(out: &mut W, text: &str) -> io::Result<()> {
    for part in text.split_inclusive(is_unsafe) {
        let plain = part.trim_end_matches(is_unsafe);
        out.write_all(plain.as_bytes())?;
        for unit in part.strip_prefix(plain).unwrap_or_default().encode_utf16() {
            write!(out, "\\u{unit:04x}")?;
        }
    }
    Ok(())
}
