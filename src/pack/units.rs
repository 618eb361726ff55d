//! Checks of units against the names of UDUNITS and the CF conventions.
//!
//! A unit is a product of names, symbols and numbers with powers, such as `kg m-2 s-1`; or a unit of time since a date,
//! such as `hours since 2024-06-03T00:00:00Z`. Nothing is converted, so the sizes of units do not matter.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::ndl;

/// A problem with units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnitsFault {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// The names of UDUNITS 2.2.28: headings that end with a colon, and words.
const UDUNITS: &str = include_str!("udunits.txt");

/// Words that people use for numbers without units.
const NOTHING: &[&str] =
    &["none", "unitless", "dimensionless", "no units", "n/a", "na", "-", "null", "nd"];

/// Checks units.
pub(super) fn check_units(units: &str) -> Result<(), UnitsFault> {
    let units = units.trim();
    let fault = |message: String, hint: Option<&str>| {
        Err(UnitsFault { message, hint: hint.map(str::to_owned) })
    };
    let lower = units.to_lowercase();
    if units.is_empty() || NOTHING.contains(&&*lower) {
        let message = format!("`{units}` is not a unit");
        return fault(message, Some("write `1` for numbers without a unit"));
    }
    if lower == "psu" {
        let message = format!("`{units}` is not a unit of UDUNITS");
        return fault(message, Some("write `1` for practical salinity, which has no unit"));
    }
    let words: Vec<_> = lower.split_whitespace().collect();
    let scale = match words[..] {
        ["deg" | "deg." | "degree" | "degrees", "c"] => Some("degree_Celsius"),
        ["deg" | "deg." | "degree" | "degrees", "f"] => Some("degree_Fahrenheit"),
        _ => None,
    };
    if let Some(scale) = scale {
        return fault(
            format!("programs would misread `{units}`"),
            Some(&format!("write `{scale}`")),
        );
    }
    let since = [" since ", " after ", " from ", " ref "].into_iter();
    let since = since.filter_map(|word| Some((lower.find(word)?, word.len()))).min();
    if let Some((at, len)) = since
        && let (Some(unit), Some(date)) = (units.get(..at), units.get(at + len..))
    {
        return check_time(unit.trim(), date.trim());
    }
    let unit = units.split_once('@').map_or(units, |(unit, _)| unit);
    check_product(unit)
}

/// Checks a unit of time and the date since which it counts.
fn check_time(unit: &str, date: &str) -> Result<(), UnitsFault> {
    let number = |word: &&str| word.parse::<f64>().is_ok();
    let last = unit.split_whitespace().find(|word| !number(word)).unwrap_or_default();
    let is_time = base(last).is_some_and(|base| is_in(TIMES, base)) && unit.ends_with(last);
    if !is_time {
        check_product(unit)?;
        // For example `K from 273.15`.
        if date.parse::<f64>().is_ok() {
            return Ok(());
        }
        let near = ndl::nearest(unit, list(TIMES));
        let message = format!("`{unit}` is not a unit of time");
        return Err(UnitsFault {
            message,
            hint: near.map(|near| format!("did you mean `{near}s`?")),
        });
    }
    if is_date(date) {
        return Ok(());
    }
    let message = format!("`{date}` is not a date");
    let hint = Some(format!("write a date such as `{unit} since 2000-01-01T00:00:00Z`"));
    Err(UnitsFault { message, hint })
}

/// Returns whether a text is a date, perhaps with a time and a time zone.
fn is_date(text: &str) -> bool {
    let text =
        text.trim_end_matches(['Z', 'z']).trim_end_matches("UTC").trim_end_matches("GMT").trim();
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
    let within = |text: Option<&str>, most: u32| {
        text.is_none_or(|text| {
            text.len() <= 2 && text.parse::<u32>().is_ok_and(|number| number <= most)
        })
    };
    let mut parts = date.trim_start_matches(['-', '+']).split('-');
    let year = parts.next().unwrap_or_default();
    let is_year = (1..=8).contains(&year.len()) && year.bytes().all(|byte| byte.is_ascii_digit());
    let (month, day) = (parts.next(), parts.next());
    let is_zero = |part: Option<&str>| part.is_some_and(|part| part.parse() == Ok(0_u32));
    let is_date = is_year
        && within(month, 12)
        && within(day, 31)
        && !is_zero(month)
        && parts.next().is_none();
    // A time zone follows the time after a space or sign.
    let time = time.split([' ', '+', '-']).next().unwrap_or_default();
    let mut parts = time.split(':');
    let hour = parts.next().filter(|hour| !hour.is_empty());
    let is_packed = |text: &str| text.len() > 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_hour = within(hour, 24) || hour.is_some_and(is_packed);
    let minute = within(parts.next(), 59);
    let second =
        parts.next().map(|second| second.split_once('.').map_or(second, |(whole, _)| whole));
    is_date && is_hour && minute && within(second, 60)
}

/// Checks a product of units and numbers with powers.
fn check_product(text: &str) -> Result<(), UnitsFault> {
    let mut rest = text;
    let (mut depth, mut is_empty) = (0_usize, true);
    let malformed = |what: &str| {
        let message = format!("`{text}` is not a product of units: {what}");
        Err(UnitsFault { message, hint: Some("write it as `kg m-2 s-1`".to_owned()) })
    };
    let is_reference = text.contains("(re") || text.contains("(RE");
    let mut follows = None;
    while let Some(first) = rest.chars().next() {
        let is_operator = matches!(first, '.' | '*' | '·' | '/' | '^');
        let is_power = rest.starts_with("**");
        let len = match first {
            _ if first.is_whitespace() => first.len_utf8(),
            _ if is_operator && follows.is_none_or(|before| before) => {
                return malformed("an operator has no unit before it");
            }
            _ if is_operator => first.len_utf8() + usize::from(is_power),
            '(' => {
                depth += 1;
                1
            }
            ')' if depth == 0 => return malformed("a `)` has no `(`"),
            ')' => {
                depth -= 1;
                1
            }
            _ if first.is_ascii_digit() => {
                is_empty = false;
                number_len(rest)
            }
            _ if is_exponent(first) => first.len_utf8(),
            _ => {
                is_empty = false;
                let end = rest.find(|next: char| !is_of_word(next)).unwrap_or(rest.len());
                let (word, _) = rest.split_at(end.max(first.len_utf8()));
                if !(is_reference && ["lg", "ln", "lb", "re"].contains(&&*word.to_lowercase())) {
                    check_word(word)?;
                }
                word.len()
            }
        };
        follows = if first.is_whitespace() { follows } else { Some(is_operator || first == '(') };
        rest = rest.get(len..).unwrap_or_default();
    }
    if follows == Some(true) {
        return malformed("an operator has no unit after it");
    }
    match (depth, is_empty) {
        (0, false) => Ok(()),
        (0, true) => malformed("it contains no unit"),
        _ => malformed("a `(` has no `)`"),
    }
}

/// Returns whether a character belongs to a number or a power.
fn is_exponent(letter: char) -> bool {
    letter.is_ascii_digit()
        || matches!(letter, '+' | '-' | '⁺' | '⁻' | '⁰' | '¹' | '²' | '³' | '⁴'..='⁹')
}

/// Returns whether a character may be in the name of a unit.
pub(super) fn is_of_word(letter: char) -> bool {
    letter.is_alphabetic()
        || letter.is_ascii_digit()
        || matches!(letter, '_' | '%' | '‰' | '°' | '\'' | '"' | '′' | '″' | '℃' | '℉')
}

/// Returns the length of a number at the beginning of a text.
pub(super) fn number_len(text: &str) -> usize {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|at: char| at.is_ascii_digit()).len();
    let at = |from: usize| text.get(from..).unwrap_or_default();
    let mut len = digits(text);
    if at(len).starts_with('.') {
        len += 1 + digits(at(len + 1));
    }
    let sign = usize::from(at(len + 1).starts_with(['+', '-']));
    match digits(at(len + 1 + sign)) {
        0 => len,
        power if at(len).starts_with(['e', 'E']) => len + 1 + sign + power,
        _ => len,
    }
}

/// Checks a word with its power, such as `s2`.
fn check_word(word: &str) -> Result<(), UnitsFault> {
    let name = word.trim_end_matches(|last: char| last.is_ascii_digit());
    if base(name).is_some() || name.eq_ignore_ascii_case("per") || name.is_empty() {
        return Ok(());
    }
    let degrees = ["degree_Celsius", "degrees_north", "degrees_east"];
    let symbols = list("symbols").filter(|symbol| symbol.len() > 2);
    let known = degrees.into_iter().chain(list(REGULAR)).chain(list(OTHER)).chain(symbols);
    let near = ndl::nearest(name, known).map(|near| format!("did you mean `{near}`?"));
    Err(UnitsFault { message: format!("`{name}` is not a unit of UDUNITS"), hint: near })
}

const REGULAR: &str = "names with a regular plural";
const OTHER: &str = "other names and plurals";
const TIMES: &str = "units of time";

/// Returns a word without its prefixes if it is a unit: UDUNITS takes the longest prefix each time, any number by name
/// and one by symbol.
pub(super) fn base(word: &str) -> Option<&str> {
    let (mut rest, mut has_symbol) = (word, false);
    while !is_name(rest) && !list("symbols").any(|it| it == rest) {
        let begins = |prefix: &&str| {
            let begin = rest.get(..prefix.len());
            begin.is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
        };
        let longest = |prefix: &&str| prefix.len();
        let by_name = list("prefix names").filter(begins).max_by_key(longest);
        let by_symbol = list("prefix symbols").filter(|symbol| rest.starts_with(symbol));
        let by_symbol = by_symbol.max_by_key(longest).filter(|_| !has_symbol);
        has_symbol |= by_name.is_none();
        rest = rest.get(by_name.or(by_symbol)?.len()..)?;
    }
    let is_bare = rest == word || !["'", "\"", "%"].contains(&rest);
    is_bare.then_some(rest)
}

/// Returns the words below a heading.
fn list(heading: &str) -> impl Iterator<Item = &'static str> + use<> {
    let mut parts = UDUNITS.split(":\n");
    let is_wanted = |part: &str| part.rsplit('\n').next() == Some(heading);
    let before = parts.find(|part| is_wanted(part));
    let words = before.and_then(|_| parts.next()).unwrap_or_default();
    // The next heading is the last line, except at the end.
    let end = if words.ends_with('\n') { words.len() } else { words.rfind('\n').unwrap_or(0) };
    words.get(..end).unwrap_or_default().split_whitespace()
}

/// Returns whether a name or its singular is in a list, in any case.
fn is_in(heading: &str, word: &str) -> bool {
    /// The words of each list. Packs have a unit for each array, so the list is read once.
    static FORMS: LazyLock<HashMap<&str, HashSet<String>>> =
        LazyLock::new(|| [REGULAR, OTHER, TIMES].map(|heading| (heading, forms(heading))).into());
    let forms = FORMS.get(heading).expect("the list has names");
    forms.contains(&word.to_ascii_lowercase())
}

/// Returns whether a word is the name of a unit, not a symbol.
pub(super) fn is_name(word: &str) -> bool {
    is_in(REGULAR, word) || is_in(OTHER, word)
}

/// Returns the regular plural of a name.
pub(super) fn plural(name: &str) -> String {
    match name.as_bytes() {
        [.., before, b'y'] if !b"aeiou".contains(before) => {
            format!("{}ies", name.strip_suffix('y').unwrap_or(name))
        }
        [.., b's' | b'x' | b'z'] | [.., b'c' | b's', b'h'] => format!("{name}es"),
        _ => format!("{name}s"),
    }
}

/// Returns the words of a list and their regular plurals, in lower case.
fn forms(heading: &str) -> HashSet<String> {
    let plurals = list(heading).filter(|_| heading != OTHER).map(plural);
    plurals.chain(list(heading).map(str::to_owned)).map(|name| name.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::{Seek, Write};
    use std::process::Command;

    use super::*;

    #[test]
    fn units_of_udunits_and_cf_are_known() {
        for units in [
            "m",
            "1",
            "K",
            "m s-1",
            "m/s",
            "m.s-1",
            "m*s^-1",
            "m s**-2",
            "kg m-2 s-1",
            "W m-2",
            "hPa",
            "degree_Celsius",
            "degrees_Celsius",
            "celsius",
            "°C",
            "degC",
            "degrees_north",
            "degree_E",
            "degreesE",
            "degrees",
            "1e-3",
            "0.001",
            "10 m",
            "1e-6 kg/m3",
            "percent",
            "%",
            "m2 s-2",
            "m²",
            "m s⁻¹",
            "µm",
            "mmHg",
            "dBZ",
            "kilometers",
            "Kelvin",
            "meters",
            "feet",
            "inches",
            "counts",
            "umol kg-1",
            "W/(m2 sr)",
            "mol m-3",
            "hours since 2024-06-03T00:00:00Z",
            "days since 1970-01-01",
            "seconds since 2000-02-28 23:59:59.5 +1:00",
            "days since 1-1-1",
            "months since 1900-01-01 00:00:00 UTC",
            "s",
            "ms",
            "day-1",
            "cm H2O",
            "MHz",
            "lg(re 1 mW)",
            "J kg-1 K-1",
            "microseconds",
            "electronvolt",
            "deg_C",
            "micromol/L",
            "kilokilometer",
            "KILOMETER",
            "25 hours since 1990-01-01",
            "1E-3 kg",
            "keV",
            "nm",
            "rad/s",
            "m per second",
        ] {
            assert_eq!(check_units(units), Ok(()), "{units}");
        }
    }

    /// Compares with the program `udunits2`, if it is installed.
    #[test]
    #[expect(clippy::print_stderr, reason = "says that nothing was compared")]
    fn udunits_accepts_the_same_words() {
        let mut words: Vec<String> = Vec::new();
        let names = list(REGULAR).chain(list(OTHER)).chain(list("symbols"));
        for (nth, name) in names.enumerate() {
            let forms = [format!("{name}s"), format!("{name}es"), name.to_uppercase()];
            let prefixes = ["k", "kilo", "da", "microm", "mk"].map(|it| format!("{it}{name}"));
            words.push(name.to_owned());
            words.extend(forms.get(nth % 3).cloned());
            words.extend(prefixes.get(nth % 5).cloned());
        }
        words.extend(
            [
                "m//s", "m s-1", "m**2", "m^2", "m^-2", "(m", "1e-3 kg", "m per s", "m.s", "deg",
                "psu",
            ]
            .map(str::to_owned),
        );
        // It asks for a unit, and for another one to convert it to, for which an empty line is an answer.
        let mut questions = tempfile::tempfile().unwrap();
        questions.write_all((words.join("\n\n") + "\n\n").as_bytes()).unwrap();
        questions.rewind().unwrap();
        let answers = Command::new("udunits2").arg("-U").stdin(questions).output();
        let Ok(answers) = answers else {
            let is_required = std::env::var_os("RA_PACK_REQUIRE_TOOLS").is_some_and(|it| it == "1");
            assert!(!is_required, "udunits2 is not installed");
            return eprintln!("SKIPPED: udunits2 is not installed");
        };
        assert!(answers.status.success());
        let answers = String::from_utf8(answers.stderr).unwrap();
        let is_unknown =
            |line: &str| Some(line.split_once("recognize \"")?.1.strip_suffix('"')?.to_owned());
        let unknown: BTreeSet<String> = answers.lines().filter_map(is_unknown).collect();
        assert!(unknown.contains("m//s"), "{answers}");
        let ours = words.into_iter().filter(|word| check_units(word).is_err());
        assert_eq!(ours.collect::<BTreeSet<_>>(), unknown);
    }

    #[test]
    fn mistakes_get_a_suggestion() {
        for (units, hint) in [
            ("degrees_Celsuis", "did you mean `degrees_Celsius`?"),
            ("celcius", "did you mean `celsius`?"),
            ("kelvn", "did you mean `kelvin`?"),
            ("metters", "did you mean `meter`?"),
            ("none", "write `1`"),
            ("deg C", "write `degree_Celsius`"),
            ("hous since 2000-01-01", "did you mean `hour"),
            ("hours since yesterday", "write a date such as `hours since 2000-01-01T00:00:00Z`"),
            ("days since 2000-13-01", "write a date such as"),
            ("m (s", "write it as"),
            ("/", "write it as"),
        ] {
            let fault = check_units(units).unwrap_err();
            assert!(
                fault.hint.as_ref().is_some_and(|text| text.contains(hint)),
                "{units}: {fault:?}"
            );
        }
        for units in [
            "psu",
            "dB",
            "deg",
            "PSU",
            "m//s",
            "m/",
            "m s−1",
            "foots",
            "level",
            "gizmos",
            "x",
            "MM",
            "KG",
            "furlongs since 2000-01-01",
        ] {
            assert!(check_units(units).is_err(), "{units}");
        }
    }
}
