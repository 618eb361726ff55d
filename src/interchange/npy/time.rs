//! The units of `datetime64` and `timedelta64`, and the words that a description has for them.

use std::fmt;

/// Codes of numpy and words, coarsest first.
const UNITS: [(&str, &str); 13] = [
    ("Y", "years"),
    ("M", "months"),
    ("W", "weeks"),
    ("D", "days"),
    ("h", "hours"),
    ("m", "minutes"),
    ("s", "seconds"),
    ("ms", "milliseconds"),
    ("us", "microseconds"),
    ("ns", "nanoseconds"),
    ("ps", "picoseconds"),
    ("fs", "femtoseconds"),
    ("as", "attoseconds"),
];

/// The word for times that have no unit.
const GENERIC: &str = "generic units";

/// What a datetime counts from.
const EPOCH: &str = " since 1970-01-01";

/// What one step of a time is: so many of a unit.
///
/// Displays as numpy writes it, brackets included: `[25s]`, and nothing for times without a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    /// How many of the unit; at least 1, and 1 for times without a unit.
    multiple: u32,
    /// The unit by its place in `UNITS`, when there is one.
    unit: Option<usize>,
}

impl TimeUnit {
    /// Times without a unit.
    pub const GENERIC: Self = Self { multiple: 1, unit: None };

    /// Reads what follows `M8` or `m8`, such as `[25s]`; nothing at all are times without a unit.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || text == "[generic]" {
            return Some(Self::GENERIC);
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let code = inner.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let digits = inner.strip_suffix(code)?;
        let multiple = if digits.is_empty() { 1 } else { digits.parse().ok()? };
        // numpy counts in a signed integer of 32 bits.
        if !(1..=2_147_483_647).contains(&multiple) {
            return None;
        }
        let unit = UNITS.iter().position(|(known, _)| *known == code)?;
        Some(Self { multiple, unit: Some(unit) })
    }

    /// The words for a duration, such as `25 seconds`.
    pub(super) fn words(self) -> String {
        match self.unit.and_then(|unit| UNITS.get(unit)) {
            None => GENERIC.to_owned(),
            Some((_, word)) if self.multiple == 1 => (*word).to_owned(),
            Some((_, word)) => format!("{} {word}", self.multiple),
        }
    }

    /// The words for a date, such as `days since 1970-01-01`.
    pub(super) fn words_since_epoch(self) -> String {
        format!("{}{EPOCH}", self.words())
    }

    /// The unit that the words mean, and whether they are those of a date.
    pub(super) fn from_words(words: &str) -> Option<(Self, bool)> {
        let (duration, is_date) = match words.strip_suffix(EPOCH) {
            Some(duration) => (duration, true),
            None => (words, false),
        };
        if duration == GENERIC {
            return Some((Self::GENERIC, is_date));
        }
        let (multiple, word) = duration.split_once(' ').unwrap_or(("1", duration));
        let (code, _) = UNITS.iter().find(|(_, known)| *known == word)?;
        let unit = Self::parse(&format!("[{multiple}{code}]"))?;
        // Only what is written is read: not `1 days`, not `01 days`.
        (unit.words() == duration).then_some((unit, is_date))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit.and_then(|unit| UNITS.get(unit)) {
            None => Ok(()),
            Some((code, _)) if self.multiple == 1 => write!(f, "[{code}]"),
            Some((code, _)) => write!(f, "[{}{code}]", self.multiple),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_has_words_and_comes_back() {
        for (code, word) in UNITS {
            for multiple in ["", "2", "25", "2147483647"] {
                let text = format!("[{multiple}{code}]");
                let unit = TimeUnit::parse(&text).unwrap();
                assert_eq!(unit.to_string(), text);
                assert_eq!(unit.words(), format!("{multiple} {word}").trim_start());
                assert_eq!(TimeUnit::from_words(&unit.words()), Some((unit, false)));
                assert_eq!(TimeUnit::from_words(&unit.words_since_epoch()), Some((unit, true)));
            }
        }
        let generic = TimeUnit::parse("").unwrap();
        assert_eq!(generic.to_string(), "");
        assert_eq!(TimeUnit::from_words(&generic.words_since_epoch()), Some((generic, true)));
    }

    #[test]
    fn other_units_are_none() {
        for text in ["[x]", "[0s]", "[2147483648s]", "[s", "s", "[]", "[5]", "[s/2]", "[-1s]"] {
            assert_eq!(TimeUnit::parse(text), None, "{text}");
        }
        for words in ["metres", "1 days", "days since 1900-01-01", "", "02 days", "+2 days"] {
            assert_eq!(TimeUnit::from_words(words), None, "{words}");
        }
    }
}
