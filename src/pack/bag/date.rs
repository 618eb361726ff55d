//! Days as `Bagging-Date` writes them.

/// The day in UTC of a time in seconds since 1970, as YYYY-MM-DD; nothing after the year 9999.
pub(crate) fn date_of(seconds: u64) -> Option<String> {
    const DAY: u64 = 24 * 60 * 60;
    let mut days = seconds / DAY;
    let mut year = 1970_u64;
    while year <= 9999 {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            return month(year, days).map(|(month, day)| format!("{year:04}-{month:02}-{day:02}"));
        }
        days = days.saturating_sub(length);
        year = year.saturating_add(1);
    }
    None
}

fn month(year: u64, mut days: u64) -> Option<(u64, u64)> {
    for month in 1..=12 {
        let length = days_of(year, month)?;
        if days < length {
            return Some((month, days.saturating_add(1)));
        }
        days = days.saturating_sub(length);
    }
    None
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(year: u64, month: u64) -> Option<u64> {
    match month {
        2 => Some(if is_leap(year) { 29 } else { 28 }),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}

/// Whether `text` is a day of the calendar as YYYY-MM-DD.
pub(super) fn is_date(text: &str) -> bool {
    let number = |digits: &str, length: usize| {
        let all = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| digits.parse::<u64>().ok()).flatten()
    };
    let mut parts = text.splitn(3, '-');
    let mut next = |length| parts.next().and_then(|part| number(part, length));
    match (next(4), next(2), next(2)) {
        (Some(year), Some(month), Some(day)) => {
            days_of(year, month).is_some_and(|length| (1..=length).contains(&day))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_the_day_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_400, "2000-02-29"),
            (1_717_372_800, "2024-06-03"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date_of(seconds).as_deref(), Some(date));
            assert!(is_date(date));
        }
        assert_eq!(date_of(u64::MAX), None);
    }

    #[test]
    fn what_is_no_day_is_none() {
        for text in
            ["2023-02-29", "2024-13-01", "2024-1-1", "24-01-01", "2024-01-00", "", "+024-01-01"]
        {
            assert!(!is_date(text), "{text}");
        }
    }
}
