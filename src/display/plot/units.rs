//! Typesetting of units and numbers: °C, m s⁻¹, 2.5×10⁻⁷.

use crate::path::escape;

/// Symbols of units, each with its names.
const SYMBOLS: &[(&str, &str)] = &[
    (
        "°C",
        "degree_Celsius degrees_Celsius degree_celsius degrees_celsius degC deg_C \
         degreeC degreesC degree_C degrees_C celsius Celsius",
    ),
    ("°F", "degree_Fahrenheit degrees_Fahrenheit degF fahrenheit Fahrenheit"),
    ("°N", "degrees_north degree_north degrees_N degree_N degreesN degreeN"),
    ("°E", "degrees_east degree_east degrees_E degree_E degreesE degreeE"),
    ("°W", "degrees_west degree_west degrees_W degree_W"),
    ("°S", "degrees_south degree_south degrees_S degree_S"),
    ("°", "degrees degree deg arc_degree angular_degree"),
    ("%", "percent"),
    ("K", "kelvin Kelvin degK degree_Kelvin degrees_Kelvin"),
    ("m", "meter meters metre metres"),
    ("km", "kilometer kilometers kilometre kilometres"),
    ("s", "second seconds sec"),
    ("kg", "kilogram kilograms"),
    ("g", "gram grams"),
    ("Pa", "pascal pascals Pascal"),
    ("Hz", "hertz Hertz"),
    ("W", "watt watts Watt"),
    ("J", "joule joules Joule"),
    ("N", "newton newtons Newton"),
    ("V", "volt volts Volt"),
    ("mol", "mole moles"),
    ("Ω", "ohm Ohm ohms"),
    ("Å", "angstrom Angstrom angstroms"),
    ("µm", "um micron microns micrometer micrometre micrometers"),
    ("µs", "us usec microsecond microseconds"),
    ("µg", "ug"),
    ("µmol", "umol"),
    ("µPa", "uPa"),
    ("µV", "uV"),
    ("µW", "uW"),
    ("µM", "uM"),
    ("µT", "uT"),
];

/// Units whose power may be written without a sign, as in `kg m2 s-2`. For others, a digit may be part of the name.
const POWERED: [&str; 20] = [
    "m", "km", "cm", "mm", "nm", "µm", "s", "ms", "K", "kg", "g", "Pa", "W", "J", "V", "A", "N",
    "mol", "Hz", "°",
];

/// Typesets units: `degree_Celsius` as °C, `m s-1` as m s⁻¹. Returns units with unknown parts unchanged, and `None` for
/// dimensionless ones.
pub fn typeset(units: &str) -> Option<String> {
    let plain = || escape(units.trim()).to_string();
    if units.trim().is_empty() {
        return None;
    }
    if units.contains(" since ") {
        return Some(plain());
    }
    let units = units.trim().replace("**", "^");
    let mut text = String::new();
    for part in units.split_inclusive([' ', '/', '.', '*', '·']) {
        let word = part.trim_end_matches([' ', '/', '.', '*', '·']);
        let Some(factor) = factor(word) else { return Some(plain()) };
        text.push_str(&factor);
        match part.strip_prefix(word) {
            Some("") | None => {}
            Some("/") => text.push('/'),
            Some(_) => text.push(' '),
        }
    }
    Some(text.trim_end().to_owned())
}

/// Typesets one factor of units: a unit with its power.
fn factor(word: &str) -> Option<String> {
    let is_name = |letter: char| letter.is_alphabetic() || "_%°µΩÅ\"'".contains(letter);
    let end = word.find(|letter| !is_name(letter)).unwrap_or(word.len());
    let (name, power) = word.split_at_checked(end)?;
    if name.is_empty() {
        // For `1/s`, or between two separators.
        return matches!(word, "" | "1").then(|| word.to_owned());
    }
    let symbol = SYMBOLS.iter().find(|(_, names)| names.split(' ').any(|known| known == name));
    let symbol = symbol.map_or(name, |(symbol, _)| symbol);
    if power.is_empty() {
        return Some(escape(symbol).to_string());
    }
    let marked = power.strip_prefix('^');
    let power = marked.unwrap_or(power);
    let digits = power.trim_start_matches(['-', '+', '−']);
    let is_power = matches!(digits.len(), 1..=2)
        && power.len() - digits.len() <= '−'.len_utf8()
        && digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_sure = marked.is_some() || power.len() > digits.len() || POWERED.contains(&symbol);
    (is_power && is_sure).then(|| format!("{symbol}{}", raised(power)))
}

/// Formats a whole number as a superscript.
fn raised(power: &str) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let letter = |letter: char| match letter.to_digit(10) {
        Some(digit) => digits.get(digit as usize).copied(),
        None => (letter != '+').then_some('⁻'),
    };
    power.chars().filter_map(letter).collect()
}

/// Typesets a number with a power of ten: `2.5e-7` as 2.5×10⁻⁷.
pub fn power_of_ten(number: &str) -> String {
    // The name of a month may contain an `e`.
    let parts = number.split_once('e').filter(|_| number.parse::<f64>().is_ok());
    match parts {
        Some(("1", power)) => format!("10{}", raised(power)),
        Some((digits, power)) => format!("{digits}×10{}", raised(power)),
        None => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_typeset() {
        let cases = [
            ("degree_Celsius", "°C"),
            ("m s-1", "m s⁻¹"),
            ("m.s-1", "m s⁻¹"),
            ("m s^-1", "m s⁻¹"),
            ("m s**-1", "m s⁻¹"),
            ("m/s", "m/s"),
            ("day-1", "day⁻¹"),
            ("kg m-2 s-1", "kg m⁻² s⁻¹"),
            ("W/m2", "W/m²"),
            ("degrees_north", "°N"),
            ("umol kg-1", "µmol kg⁻¹"),
            ("1/s", "1/s"),
            ("1", "1"),
            // In these, digits may not be powers.
            ("mol CO2", "mol CO2"),
            ("log10(re 1 mg)", "log10(re 1 mg)"),
            ("0.001 m", "0.001 m"),
            ("days since 1970-01-01", "days since 1970-01-01"),
        ];
        for (units, expected) in cases {
            assert_eq!(typeset(units).as_deref(), Some(expected), "{units}");
        }
        assert_eq!(typeset(" "), None);
    }

    #[test]
    fn numbers_have_powers_of_ten() {
        assert_eq!(power_of_ten("1e-6"), "10⁻⁶");
        assert_eq!(power_of_ten("-2.5e12"), "-2.5×10¹²");
        assert_eq!(power_of_ten("0.25"), "0.25");
        assert_eq!(power_of_ten("Sep"), "Sep");
    }
}
