//! Checks of units against the names of UDUNITS and the CF conventions.
//!
//! A unit is a product of names, symbols and numbers with powers, such as `kg m-2 s-1`; or a unit of time since a date,
//! such as `hours since 2024-06-03T00:00:00Z`. Nothing is converted, so the sizes of units do not matter.

use crate::ndl;

/// A problem with units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnitsFault {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// Names of units, separated by spaces. Case does not matter, and an `s` may follow.
const NAMES: &str = "\
    meter metre gram kilogram second sec ampere amp kelvin mole candela radian steradian hertz newton \
    pascal joule watt coulomb volt farad ohm siemens weber tesla henry henries lumen lux becquerel gray \
    sievert katal celsius fahrenheit rankine degC degF degK degR minute hour hr day week fortnight month \
    year yr common_year leap_year julian_year gregorian_year tropical_year sidereal_year sidereal_day \
    century centuries decade millennium shake liter litre tonne metric_ton ton carat electronvolt \
    electron_volt dalton amu unified_atomic_mass_unit atomic_mass_unit astronomical_unit parsec \
    light_year angstrom micron fermi are hectare barn bar atmosphere standard_atmosphere torr mmHg inHg \
    cmHg mmH2O cmH2O inH2O psi dyne erg calorie btu horsepower watthour kWh knot mile nautical_mile foot \
    feet inch inches yard fathom furlong league pound ounce slug stone grain gallon quart pint acre \
    acre_foot acre_feet degree deg arc_degree angular_degree arcdeg arc_minute arcminute arcmin \
    angular_minute arc_second arcsecond arcsec angular_second grade gon circle turn cycle revolution rpm \
    percent permille ppm ppmv ppb ppbv ppt pptv psu practical_salinity_unit dobson dobson_unit sverdrup \
    gal bit byte octet baud bel decibel neper gauss maxwell oersted gilbert curie roentgen rem jansky \
    count level layer sigma_level event particle molecule atom photon einstein pixel voxel poise stokes \
    langley clo rhe gravity standard_gravity water mercury conventional_water conventional_mercury pi \
    avogadro_constant beaufort okta";

/// Suffixes of `degree` or `degrees`, with or without a `_`: units of direction and temperature.
const OF_DEGREE: &str = "\
    north n south s east e west w true t celsius c fahrenheit f kelvin k rankine r";

/// Symbols of units that may have prefixes.
const SYMBOLS: &str = "\
    m g s A K mol cd rad sr Hz N Pa J W C V F Ω Ω S Wb T H lm lx Bq Gy Sv kat eV u Da L l t bar b a pc \
    Ci R Gal G Mx Oe P St dyn erg cal Wh B bit Jy sec Np yr torr Torr atm gauss bps byte rd";

/// Symbols of units that have no prefixes.
const PLAIN_SYMBOLS: &str = "\
    min h d in ft yd mi nmi kt kts kn lb lbs lbf oz kph mph ha au AU ua ly Å Å ° ' \" ′ ″ % ‰ °C °F °K \
    °R °N °S °E °W ℃ ℉ PSU DU dBZ dBz dBm BZ hPa gpm dam Ah VA var H2O Hg lg ln lb log re e";

/// Prefixes by name, and then by symbol.
const PREFIX_NAMES: &str = "\
    quetta ronna yotta zetta exa peta tera giga mega kilo hecto deca deka deci centi milli micro nano \
    pico femto atto zepto yocto ronto quecto kibi mebi gibi tebi";
const PREFIX_SYMBOLS: &str = "\
    Q R Y Z E P T G M k h da d c m u µ μ n p f a z y r q Ki Mi Gi Ti";

/// Units of time, without prefixes.
const TIMES: &str = "\
    second sec s minute min hour hr h day d week fortnight month year yr a common_year julian_year \
    gregorian_year tropical_year msec ms millisecond us µs microsecond ns nanosecond century decade";

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
    if !is_in(TIMES, unit) {
        check_product(unit)?;
        // For example `K from 273.15`.
        if date.parse::<f64>().is_ok() {
            return Ok(());
        }
        let near = ndl::nearest(unit, TIMES.split(' '));
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
    while let Some(first) = rest.chars().next() {
        let len = match first {
            _ if first.is_whitespace() => first.len_utf8(),
            '.' | '*' | '·' | '/' | '^' | '⋅' | '×' => first.len_utf8(),
            '(' => {
                depth += 1;
                1
            }
            ')' if depth == 0 => return malformed("a `)` has no `(`"),
            ')' => {
                depth -= 1;
                1
            }
            _ if is_exponent(first) => {
                is_empty = false;
                first.len_utf8()
            }
            _ => {
                is_empty = false;
                let end = rest.find(|next: char| !is_of_word(next)).unwrap_or(rest.len());
                let (word, _) = rest.split_at(end.max(first.len_utf8()));
                check_word(word)?;
                word.len()
            }
        };
        rest = rest.get(len..).unwrap_or_default();
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
        || matches!(letter, '+' | '-' | '−' | '⁺' | '⁻' | '⁰' | '¹' | '²' | '³' | '⁴'..='⁹')
}

/// Returns whether a character may be in the name of a unit.
fn is_of_word(letter: char) -> bool {
    letter.is_alphabetic()
        || letter.is_ascii_digit()
        || matches!(letter, '_' | '%' | '‰' | '°' | '\'' | '"' | '′' | '″' | '℃' | '℉')
}

/// Checks a word with its power, such as `s` in `s-1`, or the exponent of a number.
fn check_word(word: &str) -> Result<(), UnitsFault> {
    let name = word.trim_end_matches(|last: char| last.is_ascii_digit());
    if is_unit(word) || is_unit(name) || name == "per" || name.is_empty() {
        return Ok(());
    }
    let symbols = SYMBOLS.split(' ').chain(PLAIN_SYMBOLS.split(' '));
    let symbols = symbols.filter(|symbol| symbol.len() > 2);
    let degrees = ["degree_Celsius", "degree_Fahrenheit", "degrees_north", "degrees_east"];
    let known = degrees.into_iter().chain(NAMES.split(' ')).chain(symbols);
    let near = ndl::nearest(name, known).map(|near| format!("did you mean `{near}`?"));
    Err(UnitsFault { message: format!("`{name}` is not a known unit"), hint: near })
}

fn is_unit(word: &str) -> bool {
    let lower = word.to_lowercase();
    let of_degree = lower.strip_prefix("degrees").or_else(|| lower.strip_prefix("degree"));
    let of_degree = of_degree.map(|rest| rest.strip_prefix('_').unwrap_or(rest));
    is_in(NAMES, word)
        || has(SYMBOLS, word)
        || has(PLAIN_SYMBOLS, word)
        || of_degree.is_some_and(|rest| has(OF_DEGREE, rest))
        || PREFIX_NAMES.split(' ').any(|prefix| {
            lower
                .strip_prefix(prefix)
                .is_some_and(|rest| is_in(NAMES, rest.trim_start_matches('_')))
        })
        || PREFIX_SYMBOLS
            .split(' ')
            .any(|prefix| word.strip_prefix(prefix).is_some_and(|rest| has(SYMBOLS, rest)))
}

/// Returns whether a symbol is in a list.
fn has(list: &str, symbol: &str) -> bool {
    list.split(' ').any(|known| known == symbol)
}

/// Returns whether a word or its singular is in a list; case matters only for symbols.
fn is_in(list: &str, word: &str) -> bool {
    let is = |word: &str| {
        let mut known = list.split(' ');
        known.any(|it| it.eq_ignore_ascii_case(word) && (it.len() > 2 || it == word))
    };
    let singular = |end| word.strip_suffix(end).filter(|word| word.len() > 2);
    is(word) || singular("s").is_some_and(is) || singular("es").is_some_and(is)
}

#[cfg(test)]
mod tests {
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
            "psu",
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
            "dB",
            "lg(re 1 mW)",
            "J kg-1 K-1",
            "microseconds",
            "electron_volt",
            "keV",
            "nm",
            "rad/s",
            "m per second",
        ] {
            assert_eq!(check_units(units), Ok(()), "{units}");
        }
    }

    #[test]
    fn mistakes_get_a_suggestion() {
        for (units, hint) in [
            ("degrees_Celsuis", "did you mean `degree_Celsius`?"),
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
        for units in ["gizmos", "x", "MM", "KG", "furlongs since 2000-01-01"] {
            assert!(check_units(units).is_err(), "{units}");
        }
    }
}
