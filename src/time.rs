//! Points in time as text (RFC 3339, in UTC), and the calendar that dates use.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Seconds per day.
const DAY: i64 = 86_400;

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
        let Self { seconds, nanos } = SystemTime::now().into();
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
        let (year, month, day) = civil(self.day());
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
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let since = days(year, month, day);
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_time = hour < 24 && minute < 60 && second < 60;
    // A day that the month does not have would become another date.
    if !is_date || !is_time || civil(since) != (year, month, day) {
        return None;
    }
    let is_fraction = (1..=9).contains(&fraction.len());
    let nanos = format!("{fraction:0<9}");
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let nanos = Some(nanos).filter(|nanos| is_fraction && digits(nanos))?.parse().ok()?;
    let seconds = i64::from(since) * DAY + i64::from(hour * 3600 + minute * 60 + second);
    Some(Timestamp { seconds, nanos })
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

/// Returns the number of days from 1970-01-01 to a date. Years begin in March, so that the leap day is the last.
pub fn days(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns the year, month and day `days` days after 1970-01-01.
pub fn civil(days: i32) -> (i32, i32, i32) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i32::from(month <= 2), month, day)
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
}
