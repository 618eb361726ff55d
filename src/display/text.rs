//! Formatting of numbers, and of text in the columns of a screen.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the float nearest to a count.
#[expect(clippy::cast_precision_loss, reason = "the nearest float is wanted")]
pub fn float(number: impl TryInto<u64>) -> f64 {
    wide(number) as f64
}

/// Converts a count to `u64`.
fn wide(count: impl TryInto<u64>) -> u64 {
    count.try_into().unwrap_or(u64::MAX)
}

/// Returns the whole part of a float; 0 if it is negative or NaN.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
pub fn count(number: f64) -> usize {
    number as usize
}

/// Rounds down to a whole number; 0 for NaN.
#[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
pub fn floor(number: f64) -> i32 {
    number.floor() as i32
}

/// Formats a number with `count` significant digits without trailing zeros, like `%g` in C.
pub fn digits(number: f64, count: u8) -> String {
    let places = i32::from(count) - 1;
    match scientific(number, usize::from(count) - 1) {
        (_, Some(exponent @ -4..)) if exponent <= places => {
            let places = (places - exponent).unsigned_abs() as usize;
            trimmed(&format!("{number:.places$}")).to_owned()
        }
        (text, _) => text,
    }
}

/// Formats the mean of numbers with `count` significant digits, or as many as the standard deviation has at their place.
pub fn mean_text(mean: f64, std: Option<f64>, count: u8) -> String {
    let power = |number: f64| libm::log10(number.abs());
    let apart =
        std.filter(|std| *std > 0.0 && mean != 0.0).map_or(0.0, |std| power(mean) - power(std));
    // A float has 17 digits at most.
    let more = (2..17).find(|more| f64::from(*more) >= apart + 3.0).unwrap_or(17);
    digits(mean, count.max(more))
}

/// Formats a number with at most six significant digits, and with a power of ten if it is very large or small.
pub fn short(number: f64) -> String {
    match (number.to_string(), scientific(number, 4)) {
        (plain, _) if plain.len() <= 7 => plain,
        (_, (_, Some(-3..=5))) => digits(number, 6),
        (_, (text, _)) => text,
    }
}

/// Formats a number with a power of ten and `places` decimals without trailing zeros. Also returns the power.
fn scientific(number: f64, places: usize) -> (String, Option<i32>) {
    let text = format!("{number:.places$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            (format!("{}e{exponent}", trimmed(digits)), exponent.parse().ok())
        }
        None => (text, None),
    }
}

/// Formats a number with as many decimals as the step between numbers has.
pub fn stepped(number: f64, step: f64) -> String {
    let (magnitude, power) = (libm::log10(number.abs()).floor(), libm::log10(step).floor());
    if number == 0.0 {
        return "0".to_owned();
    }
    if !number.is_finite() || !step.is_finite() || step <= 0.0 {
        return digits(number, 5);
    }
    if (-4.0..7.0).contains(&magnitude) {
        let places = count(-power).min(17);
        return format!("{number:.places$}");
    }
    scientific(number, count(magnitude - power).min(17)).0
}

/// Removes trailing zeros after the decimal point.
pub fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// Formats a count with separated thousands.
pub fn grouped(count: impl TryInto<u64>) -> String {
    let mut text = wide(count).to_string();
    let len = text.len();
    for nth in 1..len.div_ceil(3) {
        text.insert(len - 3 * nth, ',');
    }
    text
}

/// Formats a number of bytes with a binary unit, such as `5.8 KiB`.
pub fn human_bytes(bytes: u64) -> String {
    let mut unit = 0;
    let mut tenths = u128::from(bytes) * 10;
    while tenths >= 10_240 {
        tenths /= 1024;
        unit += 1;
    }
    let unit = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].get(unit).unwrap_or(&"");
    match tenths {
        _ if bytes < 1024 => format!("{bytes} B"),
        ..100 => format!("{}.{} {unit}", tenths / 10, tenths % 10),
        _ => format!("{} {unit}", tenths / 10),
    }
}

/// Formats a part of a whole in percent, never rounded to 0 or 100.
pub fn percent(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    match (part * 2000 + whole) / (whole * 2) {
        _ if part == whole => "100 %".to_owned(),
        0 => "< 0.1 %".to_owned(),
        tenths => format!("{}.{} %", tenths.min(999) / 10, tenths.min(999) % 10),
    }
}

/// Mark of text that is cut off.
pub const CUT: char = '…';

/// Returns the width of a text in columns. ASCII, the common case, is counted in bytes.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Cuts a text at its end to this many columns, with [`CUT`] as mark.
pub fn fit(text: &str, room: usize) -> String {
    match room {
        _ if columns(text) <= room => text.to_owned(),
        0 => String::new(),
        _ => format!("{}{CUT}", fitting(text.chars(), room - 1).trim_end()),
    }
}

/// Cuts a text at its beginning to this many columns, with [`CUT`] as mark: the end of a name matters more.
pub fn fit_end(text: &str, room: usize) -> String {
    match room {
        _ if columns(text) <= room => text.to_owned(),
        0 => String::new(),
        _ => format!(
            "{CUT}{}",
            fitting(text.chars().rev(), room - 1).chars().rev().collect::<String>()
        ),
    }
}

/// Returns the first characters that fit.
fn fitting(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut taken = 0;
    let fits = |character: &char| {
        taken += character.width().unwrap_or(0);
        taken <= room
    };
    characters.take_while(fits).collect()
}

/// Pads a text with spaces to this many columns.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Joins lines, each indented.
pub fn indented(lines: Vec<String>) -> String {
    lines.into_iter().flat_map(|line| ["  ".to_owned(), line, "\n".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_but_neither_to_nothing_nor_to_all() {
        for (part, whole, said) in [
            (1, 149, "0.7 %"),
            (2, 3, "66.7 %"),
            (1, 2000, "0.1 %"),
            (1, 3000, "< 0.1 %"),
            (1999, 2000, "99.9 %"),
            (7, 7, "100 %"),
            (u64::MAX - 1, u64::MAX, "99.9 %"),
        ] {
            assert_eq!(percent(part, whole), said);
        }
    }

    #[test]
    fn numbers_have_useful_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-12.345_678_9, "-12.3457"),
            (0.000_123_456_78, "0.000123457"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e6"),
            (1e-300, "1e-300"),
            (100_000.0, "100000"),
            (f64::NAN, "NaN"),
        ];
        for (number, text) in cases {
            assert_eq!(digits(number, 6), text);
        }
        let cases = [
            (0.0005, "0.0005"),
            (0.000_999, "9.99e-4"),
            (0.000_123_456_7, "1.2346e-4"),
            (0.001_234_567_8, "0.00123457"),
            (123_456.7, "123457"),
            (1_000_000.0, "1000000"),
            (12_345_678.0, "1.2346e7"),
            (f64::INFINITY, "inf"),
        ];
        for (number, text) in cases {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn steps_of_any_size_have_digits() {
        assert_eq!(stepped(0.25, 0.1), "0.2");
        assert_eq!((stepped(7.0, 0.0), stepped(7.0, f64::NAN)), ("7".into(), "7".into()));
        assert_eq!(stepped(0.5, f64::MIN_POSITIVE), "0.50000000000000000");
        assert_eq!(stepped(1.5e300, 1e299), "1.5e300");
    }

    #[test]
    fn bytes_have_binary_units() {
        assert_eq!(human_bytes(0), "0 B");
        assert_eq!(human_bytes(1023), "1023 B");
        assert_eq!(human_bytes(1024), "1.0 KiB");
        assert_eq!(human_bytes(1536), "1.5 KiB");
        assert_eq!(human_bytes(10 * 1024 * 1024), "10 MiB");
        assert_eq!(human_bytes(4 << 40), "4.0 TiB");
        assert_eq!(human_bytes(u64::MAX), "15 EiB");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(grouped(999_u64), "999");
        assert_eq!(grouped(1_234_567_u64), "1,234,567");
    }

    #[test]
    fn both_ends_of_a_text_are_cut_by_columns() {
        assert_eq!(fit("温度計.ra", 6), "温度…");
        assert_eq!(fit_end("温度計.ra", 6), "…計.ra");
        assert_eq!(fit_end("depth.ra", 8), "depth.ra");
        assert_eq!(padded("温", 4), "温  ");
    }
}
