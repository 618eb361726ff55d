//! Numbers for people.

use super::super::dates::civil;

/// Six digits of a number, without those that say nothing.
pub(super) fn short(number: f64) -> String {
    digits(number, 6)
}

/// So many digits of a number, without those that say nothing.
pub(super) fn digits(number: f64, count: u8) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    let places = count.saturating_sub(1);
    let scientific = format!("{number:.*e}", usize::from(places));
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    match exponent {
        -4..=5 => {
            let places = i32::from(places).saturating_sub(exponent);
            let places = usize::try_from(places).unwrap_or(0);
            trimmed(&format!("{number:.places$}")).to_owned()
        }
        _ => format!("{}e{exponent}", trimmed(digits)),
    }
}

fn trimmed(digits: &str) -> &str {
    if !digits.contains('.') {
        return digits;
    }
    digits.trim_end_matches('0').trim_end_matches('.')
}

/// A count with its thousands apart.
pub(super) fn grouped(count: impl TryInto<u64>) -> String {
    let digits = count.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len().saturating_mul(2));
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && digits.len().saturating_sub(nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun.
pub(super) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let s = if count == 1 { "" } else { "s" };
    format!("{} {noun}{s}", grouped(count))
}

/// Where between `low` and `high` a number lies, in so many steps; the middle where they are one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the float lies between 0 and a number of this type"
)]
pub(super) fn step(number: f64, (low, high): (f64, f64), steps: u16) -> u16 {
    // Halves, since the difference of two finite numbers may be infinite.
    let (number, low, high) = (number / 2.0, low / 2.0, high / 2.0);
    let part = if high > low { (number - low) / (high - low) } else { 0.5 };
    (part.clamp(0.0, 1.0) * f64::from(steps)).round() as u16
}

/// The parts of a whole as steps; what is there at all is one at least.
pub(super) fn height(count: u64, most: u64, steps: u64) -> u64 {
    let wide = u128::from(count) * u128::from(steps);
    let part = u64::try_from(wide.checked_div(u128::from(most)).unwrap_or(0)).unwrap_or(steps);
    part.max(u64::from(count > 0))
}

/// The day, in UTC, that is so many seconds after the beginning of 1970.
pub(super) fn day(seconds: u64) -> String {
    let days = i64::try_from(seconds / 86_400).unwrap_or(i64::MAX);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_help() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-12.345_678_9, "-12.3457"),
            (0.000_123_456_78, "0.000123457"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e6"),
            (1e-300, "1e-300"),
            (100_000.0, "100000"),
        ];
        for (number, text) in cases {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_603_200, "2024-12-31"),
            (4_107_542_400, "2100-03-01"),
            (13_574_563_200, "2400-02-29"),
        ];
        for (seconds, text) in cases {
            assert_eq!(day(seconds), text);
        }
    }

    #[test]
    fn counts_and_steps() {
        assert_eq!(grouped(999_u64), "999");
        assert_eq!(grouped(1_234_567_u64), "1,234,567");
        assert_eq!(counted(1_u64, "array"), "1 array");
        assert_eq!(step(5.0, (0.0, 10.0), 100), 50);
        assert_eq!(step(7.0, (7.0, 7.0), 100), 50);
        assert_eq!(step(f64::MAX, (f64::MIN, f64::MAX), 9), 9);
        assert_eq!(height(1, 1000, 20), 1);
        assert_eq!(height(1000, 1000, 20), 20);
        assert_eq!(height(0, 0, 20), 0);
    }
}
