//! Date ticks along an axis, each with only the part of the date that differs from the previous one.

use super::super::array::{DAY, Dates};
use super::super::text::{float, floor};
use super::ticks::{MAX_TICKS, Omitted, Ticks, multiples};

/// Largest number of smaller ticks.
const MOST_MINOR: usize = 400;

/// Step from one tick to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Seconds(f64),
    Days(i32),
    Months(i32),
}

use Step::{Days, Months, Seconds};

/// Round steps, each with the step of its smaller ticks.
const STEPS: [(Step, Step); 35] = [
    (Seconds(1.0), Seconds(0.5)),
    (Seconds(2.0), Seconds(1.0)),
    (Seconds(5.0), Seconds(1.0)),
    (Seconds(10.0), Seconds(5.0)),
    (Seconds(15.0), Seconds(5.0)),
    (Seconds(30.0), Seconds(10.0)),
    (Seconds(60.0), Seconds(30.0)),
    (Seconds(120.0), Seconds(60.0)),
    (Seconds(300.0), Seconds(60.0)),
    (Seconds(600.0), Seconds(300.0)),
    (Seconds(900.0), Seconds(300.0)),
    (Seconds(1800.0), Seconds(600.0)),
    (Seconds(3600.0), Seconds(900.0)),
    (Seconds(7200.0), Seconds(3600.0)),
    (Seconds(10_800.0), Seconds(3600.0)),
    (Seconds(21_600.0), Seconds(3600.0)),
    (Seconds(43_200.0), Seconds(10_800.0)),
    (Days(1), Seconds(21_600.0)),
    (Days(2), Days(1)),
    (Days(5), Days(1)),
    (Days(10), Days(5)),
    (Months(1), Days(10)),
    (Months(2), Months(1)),
    (Months(3), Months(1)),
    (Months(6), Months(1)),
    (Months(12), Months(3)),
    (Months(24), Months(12)),
    (Months(60), Months(12)),
    (Months(120), Months(24)),
    (Months(240), Months(60)),
    (Months(600), Months(120)),
    (Months(1200), Months(240)),
    (Months(2400), Months(600)),
    (Months(6000), Months(1200)),
    (Months(12_000), Months(2400)),
];

impl Step {
    /// Returns the approximate length of the step in seconds.
    fn seconds(self) -> f64 {
        match self {
            Seconds(seconds) => seconds,
            Days(days) => f64::from(days) * DAY,
            Months(months) => f64::from(months) * 30.44 * DAY,
        }
    }

    /// Returns the ticks between two times that have a date, in seconds as [`Dates`] counts them.
    fn moments(self, dates: Dates, first: f64, last: f64, most: usize) -> Vec<f64> {
        let calendar = dates.calendar;
        let at = |day: i32| f64::from(day) * DAY;
        let within = |moment: &f64| (first..=last).contains(moment);
        match self {
            Seconds(seconds) => multiples(first, last, seconds, most),
            // Counts from the first day of each month, and omits a tick just before the next month.
            Days(step) => (floor(first / DAY)..=floor(last / DAY))
                .filter(|day| {
                    let (_, _, day) = calendar.date(*day);
                    (day - 1) % step == 0 && day <= 31 - step / 2
                })
                .map(at)
                .filter(within)
                .take(most)
                .collect(),
            Months(step) => {
                let year = |seconds: f64| calendar.date(floor(seconds / DAY)).0;
                let from = year(first) - year(first).rem_euclid((step / 12).max(1));
                (0..)
                    .map(|nth| from * 12 + nth * step)
                    .take_while(|month| month.div_euclid(12) <= year(last))
                    .filter_map(|month| {
                        calendar.day(month.div_euclid(12), month.rem_euclid(12) + 1, 1).map(at)
                    })
                    .filter(within)
                    .take(most)
                    .collect()
            }
        }
    }

    /// Formats a date as a larger unit where one begins: `12:00`, `Jun-04`; `04`, `Jul`; `2025`. The text of a time
    /// names the year only if `has_year`.
    fn text(self, date: &str, has_year: bool) -> Option<String> {
        let (year, month) = (date.get(..4)?, month(date)?);
        let (day, time) = (date.get(8..10)?, date.get(11..19)?);
        let is_new_year = day == "01" && month == "Jan";
        Some(match self {
            Seconds(_) if time == "00:00:00" && is_new_year && has_year => {
                format!("{year}-{month}-{day}")
            }
            Seconds(_) if time == "00:00:00" => format!("{month}-{day}"),
            Seconds(..60.0) => time.to_owned(),
            Seconds(_) => time.get(..5)?.to_owned(),
            _ if is_new_year => year.to_owned(),
            Days(_) if day != "01" => day.to_owned(),
            Days(_) | Months(..12) => month.to_owned(),
            Months(_) => year.to_owned(),
        })
    }

    /// Returns the part of the date that the texts omit and all dates, in ascending order, have in common.
    fn context(self, dates: &[String]) -> Option<String> {
        let (first, last) = (dates.first()?, dates.last()?);
        let (year, month) = (first.get(..4)?, month(first)?);
        let is_same = |end: usize| first.get(..end) == last.get(..end);
        match self {
            Seconds(_) if is_same(10) => Some(format!("{year}-{month}-{}", first.get(8..10)?)),
            Seconds(_) | Days(_) if is_same(7) => Some(format!("{year}-{month}")),
            // The texts of longer steps include the year.
            Seconds(_) | Days(_) | Months(..12) if is_same(4) => Some(year.to_owned()),
            _ => None,
        }
    }
}

fn month(date: &str) -> Option<&'static str> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month: usize = date.get(5..7)?.parse().ok()?;
    MONTHS.get(month.checked_sub(1)?).copied()
}

/// Returns about `count` date ticks between two numbers. `None` if they are not dates, or less than a second apart.
pub fn dated(dates: Dates, low: f64, high: f64, count: usize) -> Option<Ticks> {
    let (first, last) = (dates.seconds(low), dates.seconds(high));
    let each = (last - first) / float(count.max(1));
    dates.date(first).and(dates.date(last))?;
    let (step, minor) = STEPS.into_iter().find(|(step, _)| step.seconds() >= each)?;
    if each < 0.5 {
        return None;
    }
    let moments = step.moments(dates, first, last, MAX_TICKS);
    let texts: Vec<String> = moments.iter().filter_map(|seconds| dates.date(*seconds)).collect();
    let context = step.context(&texts);
    let major = |(seconds, date): (&f64, &String)| {
        Some((dates.number(*seconds), step.text(date, context.is_none())?))
    };
    let minor = minor.moments(dates, first, last, MOST_MINOR);
    let date = [context.as_deref(), Some(dates.zone())].into_iter().flatten().collect::<Vec<_>>();
    let omitted = Omitted { date: date.join(", "), ..Omitted::default() };
    Some(Ticks {
        major: moments.iter().zip(&texts).filter_map(major).collect(),
        minor: minor.into_iter().map(|seconds| dates.number(seconds)).collect(),
        omitted,
    })
    .filter(|ticks| !ticks.major.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::TimeUnits;

    fn of_units(units: &str) -> Dates {
        Dates::new(TimeUnits::parse(units, None).unwrap())
    }

    fn shown(units: &str, low: f64, high: f64, count: usize) -> (Vec<String>, String) {
        let ticks = dated(of_units(units), low, high, count).unwrap();
        (ticks.major.into_iter().map(|(_, text)| text).collect(), ticks.omitted.date)
    }

    #[test]
    fn date_ticks_are_round_and_short() {
        let hours = "hours since 2024-06-03T00:00:00Z";
        let (week, context) = shown(hours, 0.0, 148.0, 10);
        assert_eq!(week, ["03", "04", "05", "06", "07", "08", "09"]);
        assert_eq!(context, "2024-Jun, UTC");
        let (day, context) = shown(hours, 0.0, 26.0, 5);
        assert_eq!(day, ["Jun-03", "06:00", "12:00", "18:00", "Jun-04"]);
        assert_eq!(context, "2024-Jun, UTC");
        let days = "days since 1970-01-01";
        assert_eq!(shown(days, 0.0, 36_500.0, 5).0[..2], ["1980", "2000"]);
        let (year, context) = shown(days, 10.0, 400.0, 5);
        assert_eq!(year, ["Apr", "Jul", "Oct", "1971"]);
        assert_eq!(context, "UTC");
        assert_eq!(shown(days, 20.0, 50.0, 6).0, ["21", "26", "Feb", "06", "11", "16"]);
        assert_eq!(shown(days, 0.0, 0.001, 5).0[..2], ["Jan-01", "00:00:30"]);
    }

    #[test]
    fn times_out_of_range_are_numbers() {
        let days = of_units("days since 1970-01-01");
        for (low, high) in [(0.0, 1e300), (-1e300, 1.0), (0.0, 1e-9), (0.0, 1e7), (f64::NAN, 1.0)] {
            assert!(dated(days, low, high, 5).is_none(), "{low} {high}");
        }
    }

    #[test]
    fn smaller_date_ticks_are_between_the_others() {
        let days = of_units("days since 1970-01-01");
        let ticks = dated(days, 0.0, 20.0, 10).unwrap();
        assert_eq!((ticks.major.len(), ticks.minor.len()), (11, 21));
    }
}
