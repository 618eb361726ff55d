//! Numbers that count from a date, such as `days since 1970-01-01`, as dates.

/// How numbers become dates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dates {
    /// The first moment, in seconds since 1970.
    epoch: i64,
    /// Seconds of a unit.
    seconds: f64,
}

/// Seconds around 1970 that are told as dates: those with years of four digits.
const TOLD: std::ops::Range<f64> = -62_167_219_200.0..253_402_300_800.0;

impl Dates {
    /// Reads the attribute `units`, and `calendar` where there is one; nothing for other calendars than ours.
    pub(super) fn new(units: &str, calendar: Option<&str>) -> Option<Self> {
        let ours = ["gregorian", "standard", "proleptic_gregorian"];
        if calendar.is_some_and(|calendar| !ours.contains(&calendar)) {
            return None;
        }
        let (unit, since) = units.split_once(" since ")?;
        let seconds = match unit.trim() {
            "days" | "day" | "d" => 86_400.0,
            "hours" | "hour" | "hr" | "h" => 3600.0,
            "minutes" | "minute" | "min" => 60.0,
            "seconds" | "second" | "sec" | "s" => 1.0,
            "milliseconds" | "ms" => 0.001,
            _ => return None,
        };
        let epoch = moment(since.trim())?;
        // Before 1582-10-15 the calendars of that name differ.
        (epoch >= -12_219_292_800).then_some(Self { epoch, seconds })
    }

    /// The number as seconds since 1970.
    pub(super) fn seconds(self, number: f64) -> f64 {
        let days = i32::try_from(self.epoch.div_euclid(86_400)).unwrap_or(0);
        let rest = i32::try_from(self.epoch.rem_euclid(86_400)).unwrap_or(0);
        f64::from(days) * 86_400.0 + f64::from(rest) + number * self.seconds
    }

    /// The number that has so many seconds since 1970.
    pub(super) fn number(self, seconds: f64) -> f64 {
        (seconds - self.seconds(0.0)) / self.seconds
    }

    /// The date, to the second; nothing when it is no whole second, or not told.
    pub(super) fn exact(self, number: f64) -> Option<String> {
        let seconds = self.seconds(number);
        let whole = seconds.round();
        ((seconds - whole).abs() < 1e-6).then(|| date(whole)).flatten()
    }
}

/// Seconds since 1970 as `2024-06-03T00:00:00Z`.
pub(super) fn date(seconds: f64) -> Option<String> {
    if !TOLD.contains(&seconds) {
        return None;
    }
    let seconds: i64 = format!("{seconds:.0}").parse().ok()?;
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// A date with or without a time, in UTC, as seconds since 1970.
fn moment(text: &str) -> Option<i64> {
    let text = text.trim_end_matches("UTC").trim_end_matches('Z').trim();
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut seconds = 0;
    let time = time.strip_suffix(".0").unwrap_or(time).trim();
    if !time.is_empty() {
        let parts: Option<Vec<i64>> = time.split(':').map(|part| part.parse().ok()).collect();
        let parts = parts.filter(|parts| (1..=3).contains(&parts.len()))?;
        for (part, unit) in parts.iter().zip([3600, 60, 1]) {
            seconds += Some(*part).filter(|part| (0..60).contains(part))? * unit;
        }
    }
    (1..=9999).contains(&year).then(|| days(year, month, day) * 86_400 + seconds)
}

/// Days from 1970 to a date: years begin in March, so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date so many days after 1970.
pub(super) fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
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
