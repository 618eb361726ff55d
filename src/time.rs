//! Points in time as text (RFC 3339, in UTC), and the calendars that dates use.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::clock::now;

/// Seconds per day.
const DAY: i64 = 86_400;

/// Seconds per hour.
const HOUR: i64 = 3600;

/// Seconds per minute.
const MINUTE: i64 = 60;

/// Nanoseconds per second.
const SECOND: i64 = 1_000_000_000;

/// Nanoseconds per second.
const NANOS: u32 = 1_000_000_000;

/// The first and the last second with a year of four digits, in seconds since 1970.
const RANGE: [i64; 2] = [-62_167_219_200, 253_402_300_799];

/// A point in time, to the nanosecond. Its text is `2026-03-01T06:00:00Z`, with a fraction only if there is one.
///
/// ```
/// use ra_pack::time::Timestamp;
///
/// let start: Timestamp = "2026-03-01T06:00:00Z".parse()?;
/// let end: Timestamp = "2026-03-01T06:00:01.5Z".parse()?;
/// assert_eq!(end.since(start).as_millis(), 1500);
/// assert_eq!(end.to_string(), "2026-03-01T06:00:01.500Z");
/// # Ok::<(), ra_pack::time::InvalidTimestamp>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp {
    /// Seconds since 1970 UTC.
    seconds: i64,
    nanos: u32,
}

/// The error of a text that is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a time such as `2026-03-01T06:00:00Z`, found `{0}`")]
pub struct InvalidTimestamp(String);

impl Timestamp {
    /// Returns the current time, to the millisecond.
    pub fn now() -> Self {
        let Self { seconds, nanos } = now().into();
        Self { seconds, nanos: nanos - nanos % 1_000_000 }
    }

    /// Returns the time from `earlier` to this one; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        let [first, _] = RANGE;
        let parts = |time: Self| {
            Duration::new(u64::try_from(time.seconds - first).unwrap_or(0), time.nanos)
        };
        parts(self).saturating_sub(parts(earlier))
    }

    /// Returns the date, `2026-03-01`.
    pub fn date(self) -> String {
        let (year, month, day) = Calendar::ProlepticGregorian.date(self.day());
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// Returns the number of days since 1970.
    fn day(self) -> i32 {
        i32::try_from(self.seconds.div_euclid(DAY)).expect("a year of four digits")
    }
}

/// Times outside the years 0 to 9999 become the first or the last of that range.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let [first, last] = RANGE;
        let (seconds, nanos) = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => (i64::try_from(since.as_secs()).unwrap_or(last), since.subsec_nanos()),
            Err(before) => {
                let before = before.duration();
                let seconds = i64::try_from(before.as_secs()).map_or(first, |seconds| -seconds);
                match before.subsec_nanos() {
                    0 => (seconds, 0),
                    nanos => (seconds - 1, NANOS - nanos),
                }
            }
        };
        Self { seconds: seconds.clamp(first, last), nanos }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_day = self.seconds.rem_euclid(DAY);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        write!(f, "{}T{hour:02}:{minute:02}:{second:02}", self.date())?;
        match self.nanos {
            0 => {}
            nanos if nanos % 1_000_000 == 0 => write!(f, ".{:03}", nanos / 1_000_000)?,
            nanos => write!(f, ".{nanos:09}")?,
        }
        f.write_str("Z")
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        parse(text).ok_or_else(|| InvalidTimestamp(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let since = day_of(date)?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    if hour >= 24 || minute >= 60 || second >= 60 {
        return None;
    }
    let is_fraction = (1..=9).contains(&fraction.len());
    let nanos = format!("{fraction:0<9}");
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let nanos = Some(nanos).filter(|nanos| is_fraction && digits(nanos))?.parse().ok()?;
    let seconds = i64::from(since) * DAY + i64::from(hour * 3600 + minute * 60 + second);
    Some(Timestamp { seconds, nanos })
}

/// Returns the number of days from 1970 to a date such as `2026-03-01`; `None` if the text is not a date.
pub(crate) fn day_of(date: &str) -> Option<i32> {
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    Calendar::ProlepticGregorian.day(year, month, day)
}

/// Splits a text into three numbers of these lengths.
fn numbers(text: &str, between: char, lengths: [usize; 3]) -> Option<[i32; 3]> {
    let mut parts = text.split(between);
    let mut found = [0; 3];
    for (number, length) in found.iter_mut().zip(lengths) {
        let part = parts.next()?;
        let is_number = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = Some(part).filter(|_| is_number)?.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// A calendar of the CF conventions, which names the days of an axis of time.
///
/// ```
/// use ra_pack::time::Calendar;
///
/// let standard = Calendar::of_name("standard").expect("it is known");
/// let last = standard.day(1582, 10, 4).expect("the last Julian day");
/// assert_eq!(standard.date(last + 1), (1582, 10, 15));
/// assert_eq!(standard.day(1582, 10, 5), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Calendar {
    /// Julian until 1582-10-04, Gregorian from the next day, 1582-10-15: `standard` or `gregorian`.
    #[default]
    Standard,
    /// Gregorian at all times: `proleptic_gregorian`.
    ProlepticGregorian,
    /// Julian at all times: `julian`.
    Julian,
    /// Years of 365 days: `noleap` or `365_day`.
    NoLeap,
    /// Years of 366 days: `all_leap` or `366_day`.
    AllLeap,
    /// Months of 30 days: `360_day`.
    Days360,
}

/// Days from 0000-03-01 to 1970-01-01 in the Gregorian calendar.
const EPOCH: i64 = 719_468;

/// The first Gregorian day of [`Calendar::Standard`], in days from 1970-01-01, and its date.
const REFORM: (i32, (i32, i32, i32)) = (-141_427, (1582, 10, 15));

impl Calendar {
    /// Returns the calendar that an attribute `calendar` names.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "standard" | "gregorian" => Self::Standard,
            "proleptic_gregorian" => Self::ProlepticGregorian,
            "julian" => Self::Julian,
            "noleap" | "365_day" => Self::NoLeap,
            "all_leap" | "366_day" => Self::AllLeap,
            "360_day" => Self::Days360,
            _ => return None,
        })
    }

    /// Returns the number of days from 1970-01-01 in the Gregorian calendar to a date; in calendars without Gregorian
    /// or Julian years, from another fixed day. `None` if the calendar does not have the date.
    pub fn day(self, year: i32, month: i32, day: i32) -> Option<i32> {
        let (_, first) = REFORM;
        let is_julian = self == Self::Standard && (year, month, day) < first;
        let calendar = if is_julian { Self::Julian } else { self };
        let march = i64::from(if month <= 2 { year } else { year.checked_add(1)? }) - 1;
        let of_year = calendar.before((month.checked_add(9)?).rem_euclid(12));
        let days = calendar.march(march) + i64::from(of_year) + i64::from(day) - 1;
        let days = i32::try_from(days).ok()?;
        (self.date(days) == (year, month, day)).then_some(days)
    }

    /// Returns the year, month and day of a number of days, as [`day`](Self::day) counts them.
    pub fn date(self, day: i32) -> (i32, i32, i32) {
        let (reform, _) = REFORM;
        let is_julian = self == Self::Standard && day < reform;
        let calendar = if is_julian { Self::Julian } else { self };
        let (years, days) = match calendar {
            Self::Standard | Self::ProlepticGregorian => (400, 146_097),
            Self::Julian => (4, 1461),
            Self::NoLeap => (1, 365),
            Self::AllLeap => (1, 366),
            Self::Days360 => (1, 360),
        };
        // The mean length of a year gives the year or one next to it.
        let mut year = ((i64::from(day) + EPOCH) * years).div_euclid(days) + 1;
        while calendar.march(year) > i64::from(day) {
            year -= 1;
        }
        let (year, of_year) = (narrow(year), narrow(i64::from(day) - calendar.march(year)));
        let month = if self == Self::Days360 { of_year / 30 } else { (5 * of_year + 2) / 153 };
        let day = of_year - calendar.before(month) + 1;
        (year + i32::from(month >= 10), (month + 2) % 12 + 1, day)
    }

    /// Whether the year before 1 is 0, as in cftime; it is −1 in the calendars with Julian years.
    fn has_year_zero(self) -> bool {
        !matches!(self, Self::Standard | Self::Julian)
    }

    /// Returns the number of a year, counted with a year 0, from that in a date; `None` if the calendar does not have the
    /// year.
    fn year(self, of_date: i32) -> Option<i32> {
        match of_date {
            0 if !self.has_year_zero() => None,
            ..0 if !self.has_year_zero() => Some(of_date + 1),
            _ => Some(of_date),
        }
    }

    /// Returns the days to the first of March of a year. Years begin in March, so that the leap day is the last.
    fn march(self, year: i64) -> i64 {
        let leap_days = match self {
            Self::Standard | Self::ProlepticGregorian => {
                year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400)
            }
            // Both calendars have the same dates in the third century.
            Self::Julian => year.div_euclid(4) - 2,
            Self::NoLeap => 0,
            Self::AllLeap => year,
            Self::Days360 => -5 * year,
        };
        365 * year + leap_days - EPOCH
    }

    /// Returns the days of a year before a month, counted from March.
    fn before(self, month: i32) -> i32 {
        if self == Self::Days360 { 30 * month } else { (153 * month + 2) / 5 }
    }
}

/// Units of an axis of time, such as `days since 1970-01-01`, with their calendar.
///
/// Times are nanoseconds since the first day of the calendar's count.
///
/// ```
/// use ra_pack::time::TimeUnits;
///
/// let hours = TimeUnits::parse("hours since 2024-06-03", None).expect("they are units of time");
/// let day = hours.period("2024-06-04").expect("it is a date");
/// assert_eq!(hours.of_integer(24), Some(day.start));
/// assert_eq!(hours.text(day.end).unwrap(), "2024-06-05T00:00:00");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeUnits {
    /// The calendar.
    pub calendar: Calendar,
    /// The time that the number 0 means.
    pub epoch: i128,
    /// Nanoseconds per unit.
    pub unit: i64,
}

impl TimeUnits {
    /// Parses the attributes `units` and `calendar`. Returns `None` for an unknown calendar, and for units such as
    /// months in a calendar where they do not always have the same length.
    pub fn parse(units: &str, calendar: Option<&str>) -> Option<Self> {
        let calendar = calendar.map(str::to_ascii_lowercase);
        let calendar = calendar.as_deref().map_or(Some(Calendar::Standard), Calendar::of_name)?;
        let (unit, rest) = units.trim().split_once(char::is_whitespace)?;
        let (word, since) = rest.trim_start().split_once(char::is_whitespace)?;
        if !word.eq_ignore_ascii_case("since") {
            return None;
        }
        let unit = match &*unit.to_ascii_lowercase() {
            "weeks" | "week" => 7 * DAY * SECOND,
            "days" | "day" | "d" => DAY * SECOND,
            "hours" | "hour" | "hrs" | "hr" | "h" => HOUR * SECOND,
            "minutes" | "minute" | "mins" | "min" => MINUTE * SECOND,
            "seconds" | "second" | "secs" | "sec" | "s" => SECOND,
            "milliseconds" | "millisecond" | "millisecs" | "millisec" | "msecs" | "msec" | "ms" => {
                1_000_000
            }
            "microseconds" | "microsecond" | "microsecs" | "microsec" | "us" => 1000,
            "nanoseconds" | "nanosecond" | "ns" => 1,
            "months" | "month" if calendar == Calendar::Days360 => 30 * DAY * SECOND,
            "common_years" | "common_year" if calendar == Calendar::NoLeap => 365 * DAY * SECOND,
            _ => return None,
        };
        let mut units = Self { calendar, epoch: 0, unit };
        let since = since.trim();
        let date = since.trim_start_matches('-').split(['T', ' ']).next()?;
        let is_date = date.split('-').count() == 3;
        units.epoch = units.period(since).filter(|_| is_date)?.start;
        Some(units)
    }

    /// Returns the time of a number; `None` if it is out of range.
    pub fn of_integer(self, number: i128) -> Option<i128> {
        self.epoch.checked_add(number.checked_mul(self.unit.into())?)
    }

    /// Returns the time of a number, to the microsecond; `None` if it is not finite or out of range.
    #[expect(clippy::cast_possible_truncation, reason = "both numbers are whole and in range")]
    pub fn of_float(self, number: f64) -> Option<i128> {
        let is_time = number.is_finite() && number.abs() < 1e30;
        let whole = is_time.then(|| self.of_integer(number.trunc() as i128))??;
        let unit = Duration::from_nanos(self.unit.unsigned_abs()).as_secs_f64() * 1e6;
        whole.checked_add((number.fract() * unit).round() as i128 * 1000)
    }

    /// Returns the time from the start to the end, exclusive, that a text means: a date and a time of day as in ISO 8601,
    /// or their beginning. `2024-06` is a month, and `-4713` a year before our era.
    pub fn period(self, text: &str) -> Option<Range<i128>> {
        let text = text.trim_end_matches("UTC").trim_end_matches('Z').trim();
        let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
        let (date, is_before) = match date.strip_prefix('-') {
            Some(date) => (date, true),
            None => (date, false),
        };
        let mut parts =
            date.split('-').map(|part| part.parse().ok()).collect::<Option<Vec<i32>>>()?;
        let is_plain = parts.len() == 3 || date.split('-').next()?.len() == 4 && time.is_empty();
        let year = parts.first_mut().filter(|year| (0..=9999).contains(*year))?;
        *year = self.calendar.year(if is_before { -*year } else { *year })?;
        let start = |year, month, day| Some(i64::from(self.calendar.day(year, month, day)?) * DAY);
        let (start, next) = match *parts {
            [year] => (start(year, 1, 1)?, start(year.checked_add(1)?, 1, 1)?),
            [year, 12] => (start(year, 12, 1)?, start(year.checked_add(1)?, 1, 1)?),
            [year, month] => (start(year, month, 1)?, start(year, month.checked_add(1)?, 1)?),
            [year, month, day] => (start(year, month, day)?, start(year, month, day)? + DAY),
            _ => return None,
        };
        if !is_plain {
            return None;
        }
        let (time, offset) = time.split_at(time.find(['+', '-']).unwrap_or(time.len()));
        let offset = match offset.split_at_checked(1) {
            // `+0530` is `+05:30`.
            Some((sign, clock)) if clock.len() == 4 && !clock.contains(':') => {
                format!("{sign}{}:{}", clock.get(..2)?, clock.get(2..)?)
            }
            _ => offset.to_owned(),
        };
        let offset = match offset.strip_prefix('-') {
            Some(behind) => -clock(behind)?.0,
            None => clock(offset.trim_start_matches('+'))?.0,
        };
        let [start, next] = [start, next].map(|seconds| i128::from(seconds) * i128::from(SECOND));
        let (of_day, length) = clock(time.trim())?;
        let start = start - i128::from(offset);
        if time.trim().is_empty() {
            return Some(start..next - i128::from(offset));
        }
        let start = start + i128::from(of_day);
        Some(start..start + i128::from(length))
    }

    /// Formats a time as `2024-06-03T12:00:00`, with milliseconds, microseconds or nanoseconds only if there are any.
    /// Returns `None` for a year beyond those of the calendars, about ±5.8 million.
    pub fn text(self, time: i128) -> Option<String> {
        let day = i128::from(DAY * SECOND);
        let of_day = i64::try_from(time.rem_euclid(day)).ok()?;
        let (year, month, day) = self.calendar.date(i32::try_from(time.div_euclid(day)).ok()?);
        let year = year - i32::from(year <= 0 && !self.calendar.has_year_zero());
        let sign = if year < 0 { "-" } else { "" };
        let year = year.unsigned_abs();
        let (seconds, mut fraction) = (of_day / SECOND, format!(".{:09}", of_day % SECOND));
        while let Some(short) = fraction.strip_suffix("000") {
            fraction.truncate(short.len());
        }
        let fraction = fraction.trim_end_matches('.');
        let (hour, minute, second) = (seconds / HOUR, seconds / MINUTE % 60, seconds % 60);
        Some(format!(
            "{sign}{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}"
        ))
    }

    /// Whether integers are days that begin at midnight.
    pub(crate) fn is_of_whole_days(self) -> bool {
        let day = DAY * SECOND;
        self.unit % day == 0 && self.epoch.rem_euclid(day.into()) == 0
    }
}

/// Parses `12`, `12:30` or `12:30:07.5` to nanoseconds; an empty text is 0. Also returns the length of the last unit.
fn clock(text: &str) -> Option<(i64, i64)> {
    let units = [(HOUR, 24), (MINUTE, 60), (1, 60)];
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let parts: Vec<&str> = if whole.is_empty() { Vec::new() } else { whole.split(':').collect() };
    let is_digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().chain([&fraction]).all(is_digits) {
        return None;
    }
    let (mut sum, mut length) = (0, DAY * SECOND);
    for (part, (unit, end)) in parts.iter().zip(units) {
        let number: i64 = part.parse().ok().filter(|number| *number < end)?;
        sum += number * unit * SECOND;
        length = unit * SECOND;
    }
    if text.contains('.') {
        let is_of_second = parts.len() == 3;
        let nanos: i64 =
            format!("{fraction:0<9}").get(..9)?.parse().ok().filter(|_| is_of_second)?;
        return Some((sum + nanos, 1));
    }
    Some((sum, length))
}

/// Converts a year or a day of a year.
fn narrow(number: i64) -> i32 {
    i32::try_from(number).expect("the number is less than that of a day")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_texts_agree() {
        for (seconds, nanos, text) in [
            (0, 0, "1970-01-01T00:00:00Z"),
            (951_782_399, 0, "2000-02-28T23:59:59Z"),
            (951_868_799, 120_000_000, "2000-02-29T23:59:59.120Z"),
            (1_780_000_000, 1, "2026-05-28T20:26:40.000000001Z"),
            (-1, 500_000_000, "1969-12-31T23:59:59.500Z"),
        ] {
            let time = Timestamp { seconds, nanos };
            assert_eq!(time.to_string(), text);
            assert_eq!(text.parse(), Ok(time));
        }
        let half: Timestamp = "1969-12-31T23:59:59.5Z".parse().unwrap();
        assert_eq!(Timestamp::from(UNIX_EPOCH - Duration::from_millis(500)), half);
        assert_eq!(half.since(Timestamp::default()), Duration::ZERO);
        assert_eq!(Timestamp::default().since(half), Duration::from_millis(500));
        let far = UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert_eq!(Timestamp::from(far).to_string(), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn other_texts_are_not_times() {
        for text in [
            "",
            "2026-03-01",
            "2026-03-01T06:00:00",
            "2026-03-01 06:00:00Z",
            "2026-02-30T06:00:00Z",
            "2026-13-01T06:00:00Z",
            "2026-03-01T24:00:00Z",
            "2026-03-01T06:00:00.Z",
            "2026-03-01T06:00:00.0000000001Z",
            "2026-03-01T06:00:00.+1Z",
            "+026-03-01T06:00:00Z",
            "2026-03-01T06:00:00+01:00",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
    #[test]
    fn every_day_of_every_calendar_has_its_own_date() {
        for name in ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"] {
            let calendar = Calendar::of_name(name).unwrap();
            let mut before = calendar.date(-200_001);
            for day in -200_000..50_000 {
                let date = calendar.date(day);
                assert!(date > before, "{name} {date:?}");
                before = date;
                assert_eq!(calendar.day(date.0, date.1, date.2), Some(day), "{name} {date:?}");
            }
            for day in [i32::MIN, -1_500_000, 1_500_000, i32::MAX] {
                let (year, month, of_month) = calendar.date(day);
                assert_eq!(calendar.day(year, month, of_month), Some(day), "{name}");
            }
            for (year, month, day) in
                [(2001, 0, 1), (2001, 13, 1), (2001, 1, 0), (i32::MAX, i32::MAX, 1)]
            {
                assert_eq!(calendar.day(year, month, day), None, "{name} {year}-{month}-{day}");
            }
        }
    }
}
