//! Ticks of axes at round numbers.

use std::ops::RangeInclusive;

use super::super::text::{self, digits, float, grouped, trimmed};
use super::units::power_of_ten;

/// Position on an axis, with its text.
pub type Tick = (f64, String);

/// Ticks of an axis.
#[derive(Debug, Clone, Default)]
pub struct Ticks {
    /// Ticks with a text.
    pub major: Vec<Tick>,
    /// Smaller ticks between them.
    pub minor: Vec<f64>,
    /// Parts of the numbers that the texts omit.
    pub omitted: Omitted,
}

/// Parts that all numbers of an axis have in common, which its label says instead.
#[derive(Debug, Clone, Default)]
pub struct Omitted {
    /// Part of the dates, with the time zone; empty for other numbers.
    pub date: String,
    /// Power of ten by which the numbers are divided, or nothing.
    pub factor: String,
    /// Number that is subtracted, or nothing.
    pub offset: String,
}

impl Ticks {
    /// Moves all ticks, and removes those outside the axis.
    #[must_use]
    pub fn placed(mut self, place: impl Fn(f64) -> Option<f64>) -> Self {
        let place = |value: f64| place(value).filter(|it| (-1e-9..=1.0 + 1e-9).contains(it));
        let tick = |(value, text): Tick| Some((place(value)?, text));
        self.major = self.major.into_iter().filter_map(tick).collect();
        self.minor = self.minor.into_iter().filter_map(place).collect();
        self
    }

    /// Returns the ticks counted from the other end.
    #[must_use]
    pub fn reversed(self) -> Self {
        self.placed(|place| Some(1.0 - place))
    }
}

/// Largest number of ticks with a text.
pub const MAX_TICKS: usize = 24;

/// Largest number of smaller ticks.
const MOST_MINOR: usize = 200;

/// Returns ticks at about `count` round numbers from `low` to `high`.
pub fn linear(low: f64, high: f64, count: usize) -> Ticks {
    let (step, parts) = good_step((high / 2.0 - low / 2.0) / float(count.max(1)) * 2.0);
    let places = multiples(low, high, step, MAX_TICKS);
    if places.is_empty() || !step.is_finite() {
        let major = [low, high].map(|end| (end, digits(end, 5))).into();
        return Ticks { major, ..Ticks::default() };
    }
    let minor = multiples(low, high, step / parts, MOST_MINOR);
    Ticks { minor, ..in_one_notation(&places, step) }
}

/// Returns ticks with texts that have the same number of decimals. Long ones omit what all have in common.
fn in_one_notation(places: &[f64], step: f64) -> Ticks {
    let power = |number: f64| (libm::log10(number) + 1e-9).floor();
    let top =
        |offset: f64| power(places.iter().map(|place| (place - offset).abs()).fold(step, f64::max));
    let last = power(step);
    let unit = libm::pow(10.0, last + 3.0);
    let is_long = top(0.0) - last > if top(0.0) < 6.0 { 5.0 } else { 3.0 };
    let common = places.last().filter(|_| is_long);
    let offset = common.map_or(0.0, |place| (place / unit).floor() * unit);
    let factor = Some(top(offset)).filter(|top| !(-3.0..6.0).contains(top));
    let (scale, decimals) = match factor {
        Some(top) => (libm::pow(10.0, top), text::count(top - last)),
        None => (1.0, text::count(-last)),
    };
    let omitted = Omitted {
        date: String::new(),
        factor: factor.map_or_else(String::new, |top| power_of_ten(&format!("1e{top:.0}"))),
        offset: if is_long { whole(offset, text::count(-3.0 - last)) } else { String::new() },
    };
    let text = |place: &f64| (*place, format!("{:.decimals$}", (place - offset) / scale));
    Ticks { major: places.iter().map(text).collect(), omitted, ..Ticks::default() }
}

/// Formats a number with separated thousands, or with a power of ten if it is too large.
fn whole(number: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", number.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if number < 0.0 { "-" } else { "" };
    match whole.parse::<u64>() {
        Ok(whole) => trimmed(&format!("{sign}{}{rest}", grouped(whole))).to_owned(),
        Err(_) => power_of_ten(&format!("{number:e}")),
    }
}

/// Returns the smallest step of at least `least` that is 1, 2 or 5 times a power of ten, and the number of its parts.
fn good_step(least: f64) -> (f64, f64) {
    let power = libm::pow(10.0, libm::log10(least).floor());
    let steps = [(1.0, 5.0), (2.0, 4.0), (5.0, 5.0), (10.0, 5.0)];
    let steps = steps.map(|(digit, parts)| (digit * power, parts));
    steps.into_iter().find(|(step, _)| *step >= least * 0.9).unwrap_or((least, 5.0))
}

pub fn multiples(low: f64, high: f64, step: f64, most: usize) -> Vec<f64> {
    // Multiples of a step below the smallest normal float are not round.
    if step.is_nan() || step < f64::MIN_POSITIVE || step < low.abs() * 1e-15 {
        return Vec::new();
    }
    let first = (low / step - 1e-9).ceil();
    (0..most)
        .map(|nth| (first + float(nth)) * step)
        .take_while(|place| place.is_finite() && *place <= high + step * 1e-9)
        .map(|place| if place.abs() < step * 1e-9 { 0.0 } else { place })
        .collect()
}

/// Powers of ten that are written without an exponent.
const SHORT: RangeInclusive<f64> = -3.0..=4.0;

/// Returns ticks at 1, 2 and 5 times powers of ten between numbers of similar size; `None` if there are fewer than three.
fn between_powers(low: f64, high: f64) -> Option<Ticks> {
    let (first, last) = (libm::log10(low).floor(), libm::log10(high));
    if !SHORT.contains(&first) {
        return None;
    }
    let all = |digits: &[f64]| -> Vec<f64> {
        let powers = multiples(first, last, 1.0, MAX_TICKS).into_iter();
        let places =
            powers.flat_map(|power| digits.iter().map(move |it| it * libm::pow(10.0, power)));
        places.filter(|place| (low..=high).contains(place)).collect()
    };
    let decimals = text::count(-first);
    let major = all(&[1.0, 2.0, 5.0]).into_iter();
    let major: Vec<_> = major.map(|place| (place, format!("{place:.decimals$}"))).collect();
    let minor = all(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    (major.len() > 2).then(|| Ticks { major, minor, ..Ticks::default() })
}

/// Returns ticks at powers of ten from `low` to `high`, or at round numbers if there are fewer than two.
pub fn logarithmic(low: f64, high: f64, count: usize) -> Ticks {
    let (first, last) = (libm::log10(low), libm::log10(high));
    let step = ((last - first) / float(count.max(1))).ceil().max(1.0);
    let powers = multiples(first, last, step, MAX_TICKS);
    if powers.len() < 2 {
        if let Some(ticks) = between_powers(low, high) {
            return ticks;
        }
        let mut ticks = linear(low, high, count);
        ticks.major.retain(|(place, _)| *place > 0.0);
        ticks.minor.retain(|place| *place > 0.0);
        return ticks;
    }
    // All ticks have the same notation.
    let is_short = powers.iter().all(|power| SHORT.contains(power));
    let text = |power: f64| {
        if is_short {
            return format!("{:.*}", text::count(-power), libm::pow(10.0, power));
        }
        format!("1e{power:.0}")
    };
    let place = |power: f64| libm::pow(10.0, power);
    // Smaller ticks are multiples between consecutive powers, otherwise the omitted powers.
    let digits = if step < 1.5 { 2..10 } else { 1..2 };
    let minor = multiples(first.floor(), last, 1.0, MOST_MINOR).into_iter();
    let minor = minor.flat_map(|power| digits.clone().map(move |it| f64::from(it) * place(power)));
    Ticks {
        minor: minor.take(MOST_MINOR).collect(),
        major: powers.into_iter().map(|power| (place(power), text(power))).collect(),
        ..Ticks::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|(_, text)| &**text).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(texts(&linear(0.0, 10.0, 5)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(&linear(-0.31, 0.29, 4)), ["-0.2", "0.0", "0.2"]);
        assert!(
            !linear(-f64::MAX, f64::MAX, 5).major.is_empty()
                && !linear(1.0, 1.0 + f64::EPSILON, 5).major.is_empty()
        );
        assert_eq!(texts(&logarithmic(0.01, 1e6, 4)), ["1e-2", "1e0", "1e2", "1e4", "1e6"]);
        assert_eq!(texts(&logarithmic(0.01, 1e4, 4)), ["0.01", "1", "100", "10000"]);
        assert_eq!(texts(&logarithmic(0.013, 0.9, 6)), ["0.02", "0.05", "0.10", "0.20", "0.50"]);
        assert_eq!(texts(&logarithmic(1e-20, 9e-20, 6)), texts(&linear(1e-20, 9e-20, 6)));
    }

    #[test]
    fn long_numbers_omit_what_they_have_in_common() {
        let omitted = |low, high, count| {
            let ticks = linear(low, high, count);
            let Omitted { factor, offset, .. } = &ticks.omitted;
            let texts: Vec<String> = texts(&ticks).into_iter().map(str::to_owned).collect();
            (texts, factor.clone(), offset.clone())
        };
        for (low, high, texts, factor, offset) in [
            (1e10, 3e10, ["1", "2", "3"], "10¹⁰", ""),
            (1.4e6, 1.8e6, ["1.4", "1.6", "1.8"], "10⁶", ""),
            (-2e-7, 2e-7, ["-2", "0", "2"], "10⁻⁷", ""),
            (1e9 - 0.2, 1e9 + 0.2, ["-0.2", "0.0", "0.2"], "", "1,000,000,000"),
            (101_324.98, 101_325.02, ["4.98", "5.00", "5.02"], "", "101,320"),
            (5_400_000.0, 5_400_400.0, ["0", "200", "400"], "", "5,400,000"),
            (-12.345_672, -12.345_668, ["3.28", "3.30", "3.32"], "10⁻⁴", "-12.346"),
            (2e20, 2e20 + 4e14, ["0", "2", "4"], "10¹⁴", "2×10²⁰"),
            (0.001, 0.005, ["0.002", "0.004", ""], "", ""),
        ] {
            let texts = texts.into_iter().filter(|text| !text.is_empty()).map(str::to_owned);
            let expected = (texts.collect(), factor.to_owned(), offset.to_owned());
            assert_eq!(omitted(low, high, 2), expected, "{low} to {high}");
        }
    }

    #[test]
    fn smaller_ticks_are_between_the_others() {
        assert_eq!(linear(0.0, 10.0, 5).minor.len(), 21);
        assert_eq!(
            logarithmic(1.0, 100.0, 5).minor[..9],
            [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 20.0]
        );
    }
}
