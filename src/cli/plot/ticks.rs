//! Good numbers along an axis, and what to write at them.

use super::super::dates::{Dates, date};
use super::scene::{float, whole};

/// A place on an axis, with what is written there.
pub(crate) type Tick = (f64, String);

/// Most places on an axis.
const MOST: usize = 24;

/// About `count` good numbers between two, each with its text.
pub(crate) fn linear(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let step = good_step((high / 2.0 - low / 2.0) / float(count.max(1)) * 2.0);
    let places = multiples(low, high, step);
    if places.is_empty() || !step.is_finite() {
        return vec![(low, label(low, f64::NAN)), (high, label(high, f64::NAN))];
    }
    places.into_iter().map(|place| (place, label(place, step))).collect()
}

/// The next larger of 1, 2 and 5 times a power of ten.
fn good_step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(least).floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step >= least * 0.999)
        .unwrap_or(least)
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    if step.is_nan() || step <= 0.0 || step < low.abs() * 1e-15 {
        return Vec::new();
    }
    let first = (low / step - 1e-9).ceil();
    (0..MOST)
        .map(|nth| (first + float(nth)) * step)
        .take_while(|place| *place <= high + step * 1e-9)
        .map(|place| if place.abs() < step * 1e-9 { 0.0 } else { place })
        .collect()
}

/// A number with no more digits than the step between numbers has.
fn label(number: f64, step: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let magnitude = libm::log10(number.abs()).floor();
    if !step.is_finite() {
        return tidy(&format!("{number:.4e}"));
    }
    let power = libm::log10(step).floor();
    if !(-4.0..7.0).contains(&magnitude) {
        let digits: usize = usize::try_from(whole(magnitude - power)).unwrap_or(0).min(17);
        return tidy(&format!("{number:.digits$e}"));
    }
    let behind = usize::try_from(whole(-power)).unwrap_or(0);
    format!("{number:.behind$}")
}

/// Without zeros at the end of the digits before a power.
fn tidy(text: &str) -> String {
    match text.split_once('e') {
        Some((digits, power)) if digits.contains('.') => {
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits}e{power}")
        }
        _ => text.to_owned(),
    }
}

/// Powers of ten between two positive numbers; good numbers where there are fewer than two.
pub(crate) fn logarithmic(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (first, last) = (libm::log10(low), libm::log10(high));
    let step = ((last - first) / float(count.max(1))).ceil().max(1.0);
    let places = multiples(first, last, step);
    if places.len() < 2 {
        let good = linear(low, high, count);
        return good.into_iter().filter(|(place, _)| *place > 0.0).collect();
    }
    let text = |power: f64| match power {
        power if (-3.0..=4.0).contains(&power) => {
            let behind = usize::try_from(whole(-power)).unwrap_or(0);
            format!("{:.behind$}", libm::pow(10.0, power))
        }
        power => format!("1e{power:.0}"),
    };
    places.into_iter().map(|power| (libm::pow(10.0, power), text(power))).collect()
}

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3600.0;
const DAY: f64 = 86_400.0;

/// About `count` good moments between two numbers.
pub(crate) fn dated(dates: Dates, low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (first, last) = (dates.seconds(low), dates.seconds(high));
    let each = (last - first) / float(count.max(1));
    let steps = [
        1.0,
        2.0,
        5.0,
        10.0,
        15.0,
        30.0,
        MINUTE,
        2.0 * MINUTE,
        5.0 * MINUTE,
        10.0 * MINUTE,
        15.0 * MINUTE,
        30.0 * MINUTE,
        HOUR,
        2.0 * HOUR,
        3.0 * HOUR,
        6.0 * HOUR,
        12.0 * HOUR,
        DAY,
        2.0 * DAY,
        5.0 * DAY,
        10.0 * DAY,
    ];
    let step = steps.into_iter().find(|step| *step >= each);
    let moments = match step {
        Some(step) if each >= 0.5 => multiples(first, last, step),
        Some(_) => return linear(low, high, count),
        None => months(first, last, each),
    };
    let text = |seconds: f64| {
        let date = date(seconds)?;
        let shown = match step {
            Some(step) if step < MINUTE => date.get(11..19),
            Some(step) if step < DAY => date.get(5..16),
            Some(_) => date.get(..10),
            None if each > 300.0 * DAY => date.get(..4),
            None => date.get(..7),
        };
        shown.map(|shown| shown.replace('T', " "))
    };
    let ticks: Vec<Tick> = moments
        .into_iter()
        .filter_map(|seconds| Some((dates.number(seconds), text(seconds)?)))
        .collect();
    if ticks.is_empty() { linear(low, high, count) } else { ticks }
}

/// Beginnings of months or years.
fn months(first: f64, last: f64, each: f64) -> Vec<f64> {
    let month = 30.44 * DAY;
    let steps = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200];
    let step = steps.into_iter().find(|step| f64::from(*step) * month >= each).unwrap_or(2400);
    let year = |seconds: f64| date(seconds).and_then(|date| date.get(..4)?.parse::<i32>().ok());
    let (Some(from), Some(to)) = (year(first), year(last)) else { return Vec::new() };
    let from = from - from.rem_euclid((step / 12).max(1));
    let mut moments = Vec::new();
    let mut nth = 0;
    while moments.len() < MOST {
        let (year, month) = (from + nth * step / 12, nth * step % 12 + 1);
        nth += 1;
        if year > to {
            break;
        }
        let units = format!("seconds since {year:04}-{month:02}-01");
        let Some(moment) = Dates::new(&units, None).map(|dates| dates.seconds(0.0)) else {
            continue;
        };
        if (first..=last).contains(&moment) {
            moments.push(moment);
        }
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|(_, text)| &**text).collect()
    }

    #[test]
    fn numbers_are_good() {
        assert_eq!(texts(&linear(0.0, 10.0, 5)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(&linear(-0.31, 0.29, 4)), ["-0.2", "0", "0.2"]);
        assert_eq!(texts(&linear(1e10, 3e10, 2)), ["1e10", "2e10", "3e10"]);
        assert!(
            !linear(-f64::MAX, f64::MAX, 5).is_empty()
                && !linear(1.0, 1.0 + f64::EPSILON, 5).is_empty()
        );
        assert_eq!(texts(&logarithmic(0.01, 1e6, 4)), ["0.01", "1", "100", "10000", "1e6"]);
    }

    #[test]
    fn moments_are_good() {
        let hours = Dates::new("hours since 2024-06-03T00:00:00Z", None).unwrap();
        let week = dated(hours, 0.0, 148.0, 6);
        assert_eq!(texts(&week)[..2], ["2024-06-04", "2024-06-06"]);
        assert_eq!(texts(&dated(hours, 0.0, 5.0, 5))[..2], ["06-03 00:00", "06-03 01:00"]);
        let days = Dates::new("days since 1970-01-01", None).unwrap();
        assert_eq!(texts(&dated(days, 0.0, 36_500.0, 5))[..2], ["1980", "2000"]);
        assert_eq!(texts(&dated(days, 0.0, 365.0, 5))[..2], ["1970-01", "1970-04"]);
    }
}
