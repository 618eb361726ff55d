//! Dimensions of units: whether one can be converted to another. `dimensions.txt` has the units of `udunits.txt` by
//! dimension.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::units::{base, is_name, is_of_word, number_len, plural};

const TABLE: &str = include_str!("dimensions.txt");

/// The exponents of metre, kilogram, second, ampere, kelvin, mole and candela. Angles and counts have none.
pub(super) type Dimension = [i32; 7];

/// Returns the dimension of units; `None` for units that are not a product, or whose dimension is not in the table.
pub(super) fn dimension(units: &str) -> Option<Dimension> {
    let units: String = units.chars().map(lowered).collect();
    let mut rest = units.split('@').next()?.trim();
    let product = product(&mut rest, 0)?;
    rest.is_empty().then_some(product)
}

/// Returns the ordinary form of a superscript digit or sign, and other characters as they are.
fn lowered(letter: char) -> char {
    let mut ordinary = "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars().zip("+-0123456789".chars());
    ordinary.find(|(raised, _)| *raised == letter).map_or(letter, |(_, plain)| plain)
}

/// Most parentheses in each other.
const MAX_DEPTH: usize = 16;

/// Reads a product up to the end or a `)`.
fn product(rest: &mut &str, depth: usize) -> Option<Dimension> {
    let (mut product, mut sign) = (Dimension::default(), 1);
    loop {
        product = with_power(product, factor(rest, depth)?, sign)?;
        *rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with(')') {
            return Some(product);
        }
        let divides = rest.strip_prefix('/').or(rest.strip_prefix("per "));
        sign = if divides.is_some() { -1 } else { 1 };
        let multiplies = rest.strip_prefix(['.', '*', '·']).unwrap_or(rest);
        *rest = divides.unwrap_or(multiplies).trim_start();
    }
}

/// Multiplies a product by a power of a factor.
fn with_power(mut product: Dimension, factor: Dimension, power: i32) -> Option<Dimension> {
    for (sum, exponent) in product.iter_mut().zip(factor) {
        *sum = exponent.checked_mul(power)?.checked_add(*sum)?;
    }
    Some(product)
}

/// Reads a factor: a number, a unit or a product in parentheses, with a power.
fn factor(rest: &mut &str, depth: usize) -> Option<Dimension> {
    let mut factor = Dimension::default();
    if let Some(inner) = rest.strip_prefix('(').filter(|_| depth < MAX_DEPTH) {
        *rest = inner.trim_start();
        factor = product(rest, depth + 1)?;
        *rest = rest.strip_prefix(')')?;
    } else if rest.starts_with(|first: char| first.is_ascii_digit()) {
        *rest = rest.get(number_len(rest)..)?;
    } else {
        let word = rest.split(|next| !is_of_word(next)).next()?;
        let name = word.trim_end_matches(|last: char| last.is_ascii_digit());
        *rest = rest.get(name.len()..)?;
        factor = of_unit(name)?;
    }
    let marked = rest.strip_prefix("**").or(rest.strip_prefix('^'));
    let power = marked.unwrap_or(rest);
    let after =
        power.trim_start_matches(['+', '-']).trim_start_matches(|it: char| it.is_ascii_digit());
    let power = power.strip_suffix(after)?;
    *rest = after;
    let power = if power.is_empty() && marked.is_none() { 1 } else { power.parse().ok()? };
    with_power(Dimension::default(), factor, power)
}

/// Returns the dimension of a unit, with or without prefixes.
fn of_unit(word: &str) -> Option<Dimension> {
    static UNITS: LazyLock<HashMap<String, Dimension>> = LazyLock::new(|| {
        let mut units = HashMap::new();
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let (exponents, words) = line.split_once(": ").expect("each line has a dimension");
            let exponents: Vec<_> = exponents.split(' ').flat_map(str::parse).collect();
            let dimension: Dimension = exponents.try_into().expect("it has seven exponents");
            for word in words.split(' ') {
                units.insert(word.to_owned(), dimension);
                if is_name(word) {
                    units.insert(word.to_lowercase(), dimension);
                    units.insert(plural(word).to_lowercase(), dimension);
                }
            }
        }
        units
    });
    let base = base(word)?;
    UNITS.get(base).or_else(|| UNITS.get(&base.to_lowercase())).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_in_different_notations_have_one_dimension() {
        for (one, others) in [
            (
                "m s-1",
                &[
                    "m/s",
                    "km h^-1",
                    "m s**-1",
                    "m.s-1",
                    "m·s⁻¹",
                    "(s/m)-1",
                    "knots",
                    "meters per second",
                ][..],
            ),
            ("K", &["degC", "degree_Fahrenheit", "°C", "millikelvin", "degC @ 20"]),
            ("1", &["%", "1e-3", "rad", "degrees_north", "kg/kg", "m-1 m", "10 counts"]),
            ("W m-2 sr-1 (m-1)-1", &["W m-1", "kg m s-3", "J s⁻¹ m^-1"]),
            ("kg m-1 s-2", &["Pa", "hPa", "mbar", "dbar", "mmHg", "N m-2", "W s m⁻³"]),
            ("m2", &["km²", "ha m0 m0", "are", "1 m 2 m"]),
        ] {
            let expected = dimension(one);
            assert!(expected.is_some(), "{one}");
            for other in others {
                assert_eq!(dimension(other), expected, "{other}");
            }
        }
        assert_ne!(dimension("m"), dimension("m-1"));
        assert_ne!(dimension("J"), dimension("W"));
    }

    #[test]
    fn what_is_no_product_of_units_has_no_dimension() {
        for units in [
            "",
            "m^",
            "m//s",
            "(m",
            "m)",
            "gizmo",
            "m--1",
            "m99999999999",
            "dB",
            "/s",
            "m.",
            "m 9 ^ 9-",
        ] {
            assert_eq!(dimension(units), None, "{units}");
        }
        assert_eq!(dimension(&"(".repeat(100_000)), None);
        assert_eq!(dimension("((m2147483647)2147483647)"), None);
    }
}
