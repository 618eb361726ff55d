//! The label of an array, its attributes and dimensions, and its numbers as dates.

use super::text::{count, digits, floor};
use super::values::{UNFOLDED, flow};
use crate::ndl::{Attribute, Ndarray, Order};
use crate::read::{Number, scale_and_offset, time_units};
use crate::time::{Calendar, TimeUnits};

/// Largest number of elements shown of a list.
const MAX_LIST: u64 = 20;

/// Returns the text of an attribute.
pub fn attribute_text<'d>(description: Option<&'d Ndarray>, name: &str) -> Option<&'d str> {
    description?.attribute(name)?.as_str()
}

/// Returns the text of an attribute, escaped for a terminal.
pub fn attribute(description: Option<&Ndarray>, name: &str) -> Option<String> {
    attribute_text(description, name).map(|text| crate::path::escape(text).to_string())
}

/// Returns names and values of attributes, as rows of a table.
pub fn attribute_rows(attributes: &[Attribute]) -> Vec<[String; 2]> {
    let rows = attributes.iter().map(|attribute| {
        let name = crate::path::escape(&attribute.name).to_string();
        [name, flow(&attribute.value, MAX_LIST)]
    });
    rows.collect()
}

/// Returns whether the units are not those of the stored numbers, which are to be scaled first.
pub fn is_scaled(description: &Ndarray) -> bool {
    scale_and_offset(description).is_some()
}

/// Formats a factor and an offset: `× 0.01 + 10`, or the one that changes a number.
pub fn scaling((factor, offset): (f64, f64)) -> String {
    let sign = if offset < 0.0 { '−' } else { '+' };
    let (factor, offset) = (digits(factor, 6), digits(offset.abs(), 6));
    match (&*factor, &*offset) {
        (_, "0") => format!("× {factor}"),
        ("1", _) => format!("{sign} {offset}"),
        _ => format!("× {factor} {sign} {offset}"),
    }
}

/// Returns whether values are shown as dates.
pub fn is_date(description: Option<&Ndarray>, raw: bool) -> bool {
    !raw && description.and_then(time_units).is_some()
}

/// Returns `long_name [units]`, or the one that the description has. With `raw`, the numbers are to be scaled before
/// they have these units. Dates have no units.
pub fn label(description: Option<&Ndarray>, raw: bool) -> Option<String> {
    let scaling = description.filter(|_| raw).and_then(scale_and_offset).map(scaling);
    let units = attribute(description, "units").filter(|_| !is_date(description, raw));
    let units = units.map(|units| match &scaling {
        Some(scaling) => format!("[{units} after {scaling}]"),
        None => format!("[{units}]"),
    });
    let parts = [attribute(description, "long_name"), units];
    parts.into_iter().flatten().reduce(|name, units| format!("{name} {units}"))
}

/// Formats the lengths and names of dimensions, and the order if it is not column-major: `[depth 10, time 149] row`.
pub fn extents<'n>(axes: impl Iterator<Item = (Option<&'n str>, &'n u64)>, order: Order) -> String {
    let axes = axes.map(|(name, length)| match name {
        Some(name) => format!("{} {length}", crate::path::escape(name)),
        None => length.to_string(),
    });
    let order = if order == Order::Column { "" } else { order.word() };
    format!("[{}] {order}", folded(&axes.collect::<Vec<_>>())).trim_end().to_owned()
}

/// Joins the texts of dimensions. In arrays of many dimensions, neighbours of length 1 without names are counted:
/// `32, 32, 1 ×14`.
pub fn folded(extents: &[String]) -> String {
    let is_folded = extents.len() > UNFOLDED;
    let runs = extents.chunk_by(|one, other| is_folded && one == "1" && other == "1");
    let text = |run: &[String]| match run {
        [one, _, _, ..] => format!("{one} ×{}", run.len()),
        few => few.join(", "),
    };
    runs.map(text).collect::<Vec<_>>().join(", ")
}

/// Returns the conversion from the numbers of an array, after scaling, to dates, if its units count from a date.
pub fn dates(description: Option<&Ndarray>) -> Option<Dates> {
    description.and_then(time_units).map(Dates::new)
}

/// Conversion of numbers that count from a date, such as `days since 1970-01-01`, to dates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dates {
    pub calendar: Calendar,
    /// Origin, in seconds since the first day of the calendar's count.
    epoch: f64,
    /// Seconds per unit.
    unit: f64,
}

/// Seconds per day.
pub const DAY: f64 = 86_400.0;

impl Dates {
    pub fn new(TimeUnits { calendar, epoch, unit, .. }: TimeUnits) -> Self {
        let seconds = |nanos| Number::Int(nanos).to_f64() / 1e9;
        Self { calendar, epoch: seconds(epoch), unit: seconds(unit.into()) }
    }

    /// Returns the time zone, or the name of a calendar that is not that of the world.
    pub fn zone(self) -> &'static str {
        match self.calendar {
            Calendar::Julian => "julian",
            Calendar::NoLeap => "noleap",
            Calendar::AllLeap => "all_leap",
            Calendar::Days360 => "360_day",
            _ => "UTC",
        }
    }

    /// Converts the number to seconds since the first day of the calendar's count.
    pub fn seconds(self, number: f64) -> f64 {
        self.epoch + number * self.unit
    }

    /// Converts these seconds to the number.
    pub fn number(self, seconds: f64) -> f64 {
        (seconds - self.epoch) / self.unit
    }

    /// Returns the date, or `None` if it is not a whole second or out of range.
    pub fn exact(self, number: f64) -> Option<String> {
        let seconds = self.seconds(number);
        ((seconds - seconds.round()).abs() < 1e-6).then(|| self.date(seconds)).flatten()
    }

    /// Formats these seconds as `2024-06-03T00:00:00Z`; `None` for a year without four digits.
    pub fn date(self, seconds: f64) -> Option<String> {
        let seconds = seconds.round();
        let day = floor(seconds / DAY);
        let rest = count(seconds - f64::from(day) * DAY);
        let (year @ 1..=9999, month, day) = self.calendar.date(day) else { return None };
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        let is_finite = seconds.is_finite();
        is_finite
            .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_length_1_are_counted() {
        let cases: [(&[u64], &str); 7] = [
            (&[], ""),
            (&[1, 1, 1, 1], "1, 1, 1, 1"),
            (&[1, 1, 1, 1, 1], "1 ×5"),
            (&[1, 128, 128, 1, 8, 1, 1], "1, 128, 128, 1, 8, 1, 1"),
            (&[1, 128, 128, 1, 8, 1, 1, 1], "1, 128, 128, 1, 8, 1 ×3"),
            (&[1, 1, 1, 11, 11, 11, 1], "1 ×3, 11, 11, 11, 1"),
            (&[0, 1, 1, 1, 1, 2, 1, 1, 1], "0, 1 ×4, 2, 1 ×3"),
        ];
        for (shape, expected) in cases {
            assert_eq!(folded(&shape.iter().map(u64::to_string).collect::<Vec<_>>()), expected);
        }
        let shape = [1, 1, 1, 1, 1];
        let names = [None, Some("a"), None, None, None];
        let shown = extents(names.into_iter().zip(&shape), Order::Row);
        assert_eq!(shown, "[1, a 1, 1 ×3] row");
    }

    #[test]
    fn units_since_a_date_are_dates() {
        let cases = [
            ("days since 1970-01-01", 0.0, "1970-01-01T00:00:00Z"),
            ("hours since 2024-06-03T00:00:00Z", 148.0, "2024-06-09T04:00:00Z"),
            ("seconds since 2000-02-28 23:59:59", 86_401.0, "2000-03-01T00:00:00Z"),
            ("days since 1900-01-01 00:00:00.0", -1.0, "1899-12-31T00:00:00Z"),
            ("hours since 2000-01-01 00:00 +05:30", 6.0, "2000-01-01T00:30:00Z"),
            ("hours since 2000-01-01T00:00:00-0600", 6.0, "2000-01-01T12:00:00Z"),
            ("nanoseconds since 1970-01-01", 1.5e18, "2017-07-14T02:40:00Z"),
            ("days since 1950-01-01", -200_000.0, "1402-05-25T00:00:00Z"),
        ];
        for (units, number, expected) in cases {
            let dates = Dates::new(TimeUnits::parse(units, None).unwrap());
            assert_eq!(dates.exact(number).as_deref(), Some(expected), "{units}");
        }
        for units in [
            "m",
            "days since yesterday",
            "months since 1970-01-01",
            "days since 1970-13-01",
            "days since 1970-01-01 25:00",
            "days since 1970-01-01 00:00:00:00",
            "days since 1582-10-10",
        ] {
            assert_eq!(TimeUnits::parse(units, None), None, "{units}");
        }
        assert_eq!(TimeUnits::parse("days since 1970-01-01", Some("none")), None);
    }
}
