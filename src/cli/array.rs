//! One array, given as a member of a pack or as a file; its label, and its numbers as dates.

use std::path::Path;

use ra_pack::ndl::{Attribute, Ndarray, Order};
use ra_pack::read::Corners;
use ra_pack::time::{civil, days};
use ra_pack::{Pack, Progress, Result};

use super::shell;
use super::show::{flow, values};
use super::text::{count, floor};

/// The note that part of a remote array is shown without any check.
pub(super) const NOT_VERIFIED: &str = "ra-pack: not verified: only these values were read, and the pack has no block digests that prove them";

/// Opens the pack, or the directory of a single array file. Returns it with the name of the array.
pub(super) fn open(
    target: &Path,
    member: Option<&str>,
    progress: &Progress,
) -> Result<(Pack, String)> {
    match member {
        Some(member) => {
            let pack = Pack::open_watched(target, progress)?;
            let member = pack.resolve(member)?;
            Ok((pack, member))
        }
        None if ra_pack::files::is_pack(target)? => {
            // Fails with the reason for a file that only looks like a pack.
            Pack::open(target)?;
            Err(ra_pack::Error::Unsupported(format!(
                "`{}` is a pack; name one of its arrays, which `ra-pack list --arrays {}` shows",
                ra_pack::path::escape_path(target),
                shell::path(target),
            )))
        }
        None => Pack::of_array_watched(target, progress),
    }
}

/// Returns the text of an attribute.
pub(super) fn attribute_text<'d>(description: Option<&'d Ndarray>, name: &str) -> Option<&'d str> {
    description?.attribute(name)?.as_str()
}

/// Returns the text of an attribute, escaped for a terminal.
pub(super) fn attribute(description: Option<&Ndarray>, name: &str) -> Option<String> {
    attribute_text(description, name).map(|text| ra_pack::path::escape(text).to_string())
}

/// Returns names and values of attributes, as rows of a table.
pub(super) fn attribute_rows(attributes: &[Attribute]) -> Vec<[String; 2]> {
    /// Largest number of elements shown of a list.
    const MOST: u64 = 20;
    let rows = attributes.iter().map(|attribute| {
        let name = ra_pack::path::escape(&attribute.name).to_string();
        [name, flow(&attribute.value, MOST)]
    });
    rows.collect()
}

/// Returns `long_name [units]`, or the one that the description has.
pub(super) fn label(description: Option<&Ndarray>) -> Option<String> {
    let units = attribute(description, "units").map(|units| format!("[{units}]"));
    let parts = [attribute(description, "long_name"), units];
    parts.into_iter().flatten().reduce(|name, units| format!("{name} {units}"))
}

/// Formats the lengths and names of dimensions, and the order if it is not column-major: `[depth 10, time 149] row`.
pub(super) fn extents<'n>(
    axes: impl Iterator<Item = (Option<&'n str>, &'n u64)>,
    order: Order,
) -> String {
    let axes = axes.map(|(name, length)| match name {
        Some(name) => format!("{} {length}", ra_pack::path::escape(name)),
        None => length.to_string(),
    });
    let order = if order == Order::Column { "" } else { order.word() };
    format!("[{}] {order}", axes.collect::<Vec<_>>().join(", ")).trim_end().to_owned()
}

/// Returns the conversion from the numbers of an array to dates, if its units count from a date.
pub(super) fn dates(description: Option<&Ndarray>) -> Option<Dates> {
    let units = attribute(description, "units")?;
    Dates::new(&units, attribute(description, "calendar").as_deref())
}

/// Returns the first and the last element as numbers.
pub(super) fn ends(corners: &Corners) -> Option<(f64, f64)> {
    let words = values::words(corners, 17);
    let number = |word: Option<&String>| word?.trim().parse().ok();
    Some((number(words.first())?, number(words.last())?))
}

/// Conversion of numbers that count from a date, such as `days since 1970-01-01`, to dates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dates {
    /// Origin, in seconds since 1970.
    epoch: f64,
    /// Seconds per unit.
    unit: f64,
}

/// Seconds per day.
const DAY: f64 = 86_400.0;

/// Range of dates with a year of four digits, in seconds since 1970. Other numbers are not shown as dates.
const SHOWN: std::ops::Range<f64> = -62_167_219_200.0..253_402_300_800.0;

impl Dates {
    /// Parses the attributes `units` and `calendar`. Returns `None` for a calendar other than the Gregorian one.
    pub(super) fn new(units: &str, calendar: Option<&str>) -> Option<Self> {
        let ours = ["gregorian", "standard", "proleptic_gregorian"];
        if calendar.is_some_and(|calendar| !ours.contains(&calendar)) {
            return None;
        }
        let (unit, since) = units.split_once(" since ")?;
        let unit = match unit.trim() {
            "days" | "day" | "d" => DAY,
            "hours" | "hour" | "hr" | "h" => 3600.0,
            "minutes" | "minute" | "min" => 60.0,
            "seconds" | "second" | "sec" | "s" => 1.0,
            "milliseconds" | "ms" => 0.001,
            _ => return None,
        };
        let epoch = moment(since.trim())?;
        // The calendars of that name differ before 1582-10-15.
        (epoch >= -12_219_292_800.0).then_some(Self { epoch, unit })
    }

    /// Converts the number to seconds since 1970.
    pub(super) fn seconds(self, number: f64) -> f64 {
        self.epoch + number * self.unit
    }

    /// Converts seconds since 1970 to the number.
    pub(super) fn number(self, seconds: f64) -> f64 {
        (seconds - self.epoch) / self.unit
    }

    /// Returns the date, or `None` if it is not a whole second or out of range.
    pub(super) fn exact(self, number: f64) -> Option<String> {
        let seconds = self.seconds(number);
        ((seconds - seconds.round()).abs() < 1e-6).then(|| date(seconds)).flatten()
    }
}

/// Formats seconds since 1970 as `2024-06-03T00:00:00Z`.
pub(super) fn date(seconds: f64) -> Option<String> {
    let seconds = seconds.round();
    if !SHOWN.contains(&seconds) {
        return None;
    }
    let days = floor(seconds / DAY);
    let rest = count(seconds - f64::from(days) * DAY);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// Parses a date with or without a time, in UTC, to seconds since 1970.
fn moment(text: &str) -> Option<f64> {
    let text = text.trim_end_matches("UTC").trim_end_matches('Z').trim();
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let numbers = |text: &str, between| {
        text.split(between).map(|part| part.parse().ok()).collect::<Option<Vec<i32>>>()
    };
    let [year @ 1..=9999, month @ 1..=12, day @ 1..=31] = numbers(date, '-')?[..] else {
        return None;
    };
    let time = time.strip_suffix(".0").unwrap_or(time).trim();
    let time = if time.is_empty() { Vec::new() } else { numbers(time, ':')? };
    let is_time = time.len() <= 3 && time.iter().all(|part| (0..60).contains(part));
    let seconds: i32 = time.iter().zip([3600, 60, 1]).map(|(part, unit)| part * unit).sum();
    is_time.then(|| f64::from(days(year, month, day)) * DAY + f64::from(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_since_a_date_are_dates() {
        let cases = [
            ("days since 1970-01-01", 0.0, "1970-01-01T00:00:00Z"),
            ("hours since 2024-06-03T00:00:00Z", 148.0, "2024-06-09T04:00:00Z"),
            ("seconds since 2000-02-28 23:59:59", 86_401.0, "2000-03-01T00:00:00Z"),
            ("days since 1900-01-01 00:00:00.0", -1.0, "1899-12-31T00:00:00Z"),
        ];
        for (units, number, expected) in cases {
            let dates = Dates::new(units, None).unwrap();
            assert_eq!(dates.exact(number).as_deref(), Some(expected), "{units}");
        }
        for units in
            ["m", "days since yesterday", "months since 1970-01-01", "days since 1970-13-01"]
        {
            assert_eq!(Dates::new(units, None), None, "{units}");
        }
        assert_eq!(Dates::new("days since 1970-01-01", Some("360_day")), None);
        for day in (-700_000..700_000).step_by(37) {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), day);
        }
    }
}
