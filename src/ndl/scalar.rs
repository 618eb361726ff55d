//! Plain scalars by the core schema of YAML 1.2: `no`, dates and `12:30:00` are strings, and `010` is ten.

use std::num::ParseIntError;

use super::value::Value;

/// A number in the syntax of the core schema that no 64-bit type holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutOfRange;

/// Reads a plain scalar; `None` if it is a string.
pub(super) fn resolve(text: &str) -> Result<Option<Value>, OutOfRange> {
    let Some(first) = text.bytes().next() else { return Ok(Some(Value::Null)) };
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text),
        b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' => Ok(word(text)),
        _ => Ok(None),
    }
}

fn word(text: &str) -> Option<Value> {
    match text {
        "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn number(text: &str) -> Result<Option<Value>, OutOfRange> {
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Ok(Some(Value::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY })));
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Ok(Some(Value::Float(f64::NAN)));
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return integer(text.parse());
    }
    if !is_float(unsigned) {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some(Value::Float(number))),
        _ => Err(OutOfRange),
    }
}

fn radix(digits: &str, radix: u32) -> Result<Option<Value>, OutOfRange> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Ok(None);
    }
    integer(i128::from_str_radix(digits, radix))
}

fn integer(number: Result<i128, ParseIntError>) -> Result<Option<Value>, OutOfRange> {
    number.ok().and_then(Value::of_integer).map(Some).ok_or(OutOfRange)
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
        }
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema_decides() {
        let int = |number| Ok(Some(Value::Int(number)));
        let float = |number| Ok(Some(Value::Float(number)));
        let cases = [
            ("", Ok(Some(Value::Null))),
            ("~", Ok(Some(Value::Null))),
            ("NULL", Ok(Some(Value::Null))),
            ("nULL", Ok(None)),
            ("True", Ok(Some(Value::Bool(true)))),
            ("no", Ok(None)),
            ("OFF", Ok(None)),
            ("y", Ok(None)),
            ("2008-12-31", Ok(None)),
            ("12:30:00", Ok(None)),
            ("064119.981830Z", Ok(None)),
            ("1_000", Ok(None)),
            ("0b11", Ok(None)),
            ("010", int(10)),
            ("0o17", int(15)),
            ("0o18", Ok(None)),
            ("0x1F", int(31)),
            ("0x", Ok(None)),
            ("-0x1F", Ok(None)),
            ("+5", int(5)),
            ("-9223372036854775808", int(i64::MIN)),
            ("18446744073709551615", Ok(Some(Value::UInt(u64::MAX)))),
            ("18446744073709551616", Err(OutOfRange)),
            ("-9223372036854775809", Err(OutOfRange)),
            ("0x1ffffffffffffffff", Err(OutOfRange)),
            ("1e3", float(1000.0)),
            ("1e", Ok(None)),
            ("1e999", Err(OutOfRange)),
            (".5", float(0.5)),
            ("5.", float(5.0)),
            (".", Ok(None)),
            ("..5", Ok(None)),
            ("-", Ok(None)),
            ("+", Ok(None)),
            ("e3", Ok(None)),
            (".e3", Ok(None)),
            ("-.inf", float(f64::NEG_INFINITY)),
            (".NaN", float(f64::NAN)),
            ("-.nan", Ok(None)),
            ("infinity", Ok(None)),
            ("nan", Ok(None)),
        ];
        for (text, expected) in cases {
            assert_eq!(resolve(text), expected, "{text:?}");
        }
    }
}
