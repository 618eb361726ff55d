//! Checks of attributes against conventions: CF for arrays, ACDD for the discovery of data sets. `conventions.txt` has the
//! rules about single attributes, and `standard_names.txt.gz` the standard names of CF.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::LazyLock;

use flate2::read::GzDecoder;

use super::contents::Contents;
use super::described::{Described, Sources};
use super::dimensions::dimension;
use super::units::check_units;
use super::{PACK_DOCUMENT, group_of};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding, Severity};
use crate::ndl::{self, Ndarray, Step, Value, candidates, entity_path};
use crate::path::MemberPath;
use crate::time::{Calendar, TimeUnits};

const TABLE: &str = include_str!("conventions.txt");

/// A rule about one attribute: convention, level, place, attribute, form and source.
type Rule = [&'static str; 6];

/// The axis of each coordinate that has one, by path.
type Axes = BTreeMap<String, String>;

/// A finding about an attribute.
type About = (&'static str, Finding);

/// Returns the rules of all conventions.
fn rules() -> impl Iterator<Item = Rule> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let words: Vec<_> = line.split(' ').collect();
        words.try_into().expect("each line has six words")
    })
}

/// Returns the names of the conventions that [`ValidateOptions::conventions`](crate::inspect::ValidateOptions) can have.
///
/// ```
/// assert_eq!(ra_pack::inspect::conventions(), ["cf", "acdd"]);
/// ```
pub fn conventions() -> Vec<&'static str> {
    let mut names: Vec<_> = rules().map(|[convention, ..]| convention).collect();
    names.dedup();
    names
}

/// The canonical units of each standard name of CF.
static NAMES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let (mut text, table) = (String::new(), include_bytes!("standard_names.txt.gz"));
    GzDecoder::new(&table[..]).read_to_string(&mut text).expect("the table is compressed text");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entries = lines.filter_map(|line| line.split_once(' '));
    entries.map(|(name, units)| (name.to_owned(), units.to_owned())).collect()
});

/// The words that can follow a standard name, first those after which the array still has the units of the name.
const MODIFIERS: [&str; 5] =
    ["", "detection_minimum", "standard_error", "number_of_observations", "status_flag"];

impl Contents {
    /// Returns findings about optional metadata, and about attributes that break the rules of conventions; with `of_pack`
    /// also about the pack as a whole.
    pub(crate) fn rule_findings(&self, wanted: &[String], of_pack: bool) -> Result<Vec<Finding>> {
        let known = conventions();
        if let Some(unknown) = wanted.iter().find(|name| !known.contains(&name.as_str())) {
            let expected = known.join(", ");
            let message = format!("expected the convention {expected}, found `{unknown}`");
            return Err(Error::options(message));
        }
        let mut findings = self.metadata_findings(of_pack);
        let is_wanted = |name: &str| wanted.iter().any(|wanted| wanted == name);
        let rules: Vec<_> = rules().filter(|[convention, ..]| is_wanted(convention)).collect();
        if of_pack && !self.arrays.is_empty() {
            findings.extend(self.about_pack(&rules));
        }
        if !is_wanted("cf") {
            return Ok(findings);
        }
        // CF requires units of UDUNITS.
        let units = findings.iter_mut().filter(|finding| finding.code == Code::UnknownUnits);
        units.for_each(|finding| finding.severity = Severity::Error);
        let described = |path| self.description(path, &mut Vec::new());
        let arrays = self.arrays.keys().filter_map(|path| Some((path, described(path)?)));
        let axis = |(path, described): (&MemberPath, Described<'_>)| {
            let axis = described.entity.array().attribute("axis")?.as_str()?.to_owned();
            Some((entity_path(&group_of(path), path.stem()), axis))
        };
        let (known, mut sources) = (arrays.clone().filter_map(axis).collect(), Sources::default());
        for (path, described) in arrays {
            let array = described.entity.array();
            let mut found = of_cf(array, &rules);
            found.extend(self.repeated_axis(path, array, &known));
            findings.extend(found.into_iter().map(|(attribute, finding)| {
                let place = [Step::Key("attributes"), Step::Key(attribute)];
                sources.at(&described, finding.about_array(path.as_str()), &place)
            }));
        }
        Ok(findings)
    }

    /// Returns findings about the attributes of the pack.
    fn about_pack(&self, rules: &[Rule]) -> Vec<Finding> {
        let own = self.own_attributes();
        let (mut findings, mut missing) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        for rule @ [convention, level, _, attribute, ..] in
            rules.iter().filter(|rule| rule[2] == "pack")
        {
            match own.iter().find(|known| known.name == *attribute) {
                Some(attribute) => findings.extend(check(rule, &attribute.value)),
                None if *level == "optional" => {}
                None => missing.entry((convention, level)).or_default().push(*attribute),
            }
        }
        findings.extend(missing.into_iter().map(|((convention, level), names)| {
            let (level, convention_name) = (level.replace('-', " "), convention.to_uppercase());
            let what = format!("the pack lacks {level} attributes of {convention_name}");
            Finding::new(code_of(convention), what).expected(names.join(", "), "none of them")
        }));
        findings.into_iter().map(|finding| finding.in_member(PACK_DOCUMENT)).collect()
    }

    /// Returns a finding if several coordinates of an array have the same axis.
    fn repeated_axis(&self, path: &MemberPath, array: &Ndarray, known: &Axes) -> Option<About> {
        let named = self.named_extents(path).into_iter().filter_map(|it| Some(it.coordinate?.path));
        let listed = array.attribute("coordinates").and_then(Value::as_str);
        let home = group_of(path);
        let find = |name| candidates(&home, name).into_iter().find(|path| known.contains_key(path));
        let listed = listed.into_iter().flat_map(str::split_whitespace).filter_map(find);
        let (all, mut first): (BTreeSet<_>, _) = (named.chain(listed).collect(), BTreeMap::new());
        all.iter().find_map(|path| {
            let axis = known.get(path)?;
            let found = format!("`{}` and `{path}`", first.insert(axis, path)?);
            let what = "coordinates of one array have the same axis (CF §5)";
            Some(broken(
                "coordinates",
                what,
                &format!("one coordinate with the axis `{axis}`"),
                &found,
            ))
        })
    }
}

/// Returns a finding if a value does not have the form of a rule.
fn check([convention, _, _, attribute, form, source]: &Rule, value: &Value) -> Option<Finding> {
    let text = value.as_str().map_or_else(|| value.to_line(), str::to_owned);
    let (kind, list) = form.split_at(form.len().min(1));
    let (mut one_of, listed) = (list.split('|'), list.replace('|', ", "));
    let (is_good, expected) = match *form {
        "text" => (!text.trim().is_empty(), "a text"),
        "number" => (text.trim().parse::<f64>().is_ok(), "a number"),
        "date" => (is_date(&text), "a date of ISO 8601, such as `2024-06-03T12:00:00Z`"),
        _ if kind == "^" => {
            let begin = list.trim_end_matches(|last: char| last.is_ascii_digit());
            (text.split([',', ' ']).any(|word| word.starts_with(begin)), list)
        }
        _ if kind == "=" => (one_of.any(|one| one == text), &*listed),
        _ => (one_of.any(|one| one.eq_ignore_ascii_case(&text)), &*listed),
    };
    let what = format!("`{attribute}` breaks a rule of {} {source}", convention.to_uppercase());
    (!is_good).then(|| Finding::new(code_of(convention), what).expected(expected, text))
}

/// Returns whether a text is a date of ISO 8601, perhaps with a time.
fn is_date(text: &str) -> bool {
    let utc = TimeUnits { calendar: Calendar::ProlepticGregorian, epoch: 0, unit: 1 };
    let date = text.split('T').next().unwrap_or_default();
    utc.period(text).is_some() || date.len() == 8 && date.bytes().all(|it| it.is_ascii_digit())
}

fn code_of(convention: &str) -> Code {
    if convention == "cf" { Code::AgainstConvention } else { Code::ConventionAdvice }
}

fn broken(attribute: &'static str, what: &str, expected: &str, found: &str) -> About {
    (attribute, Finding::new(Code::AgainstConvention, what).expected(expected, found))
}

/// Returns findings about the attributes of an array that break rules of CF.
fn of_cf(array: &Ndarray, rules: &[Rule]) -> Vec<About> {
    let text = |name| array.attribute(name).and_then(Value::as_str).map(str::trim);
    let standard = text("standard_name");
    let mut words = standard.unwrap_or_default().split_whitespace();
    let [name, modifier] = [words.next(), words.next()].map(Option::unwrap_or_default);
    let of_name = if modifier.is_empty() { name } else { modifier };
    let places = ["array", of_name, text("axis").unwrap_or_default()];
    let units = text("units").filter(|units| check_units(units).is_ok());
    // Another code is about unknown units. The lengths of months define a calendar.
    let is_ruled = |attribute: &str| match attribute {
        "units" => units.is_some(),
        "calendar" => array.attribute("month_lengths").is_none(),
        _ => true,
    };
    let of_array = rules.iter().filter(|rule| places.contains(&rule[2]) && is_ruled(rule[3]));
    let broken_rule = |rule: &Rule| Some((rule[3], check(rule, array.attribute(rule[3])?)?));
    let mut found: Vec<_> = of_array.filter_map(broken_rule).collect();
    let canonical = NAMES.get(name);
    if let Some(standard) = standard.filter(|_| canonical.is_none()) {
        let what = format!("`{name}` is not a standard name of CF §3.3");
        let alike = NAMES.keys().filter(|known| known.get(..1) == name.get(..1));
        let alike = alike.filter(|known| known.len().abs_diff(name.len()) <= 2);
        let near = ndl::nearest(name, alike.map(String::as_str)).unwrap_or("a name in the table");
        found.push(broken("standard_name", &what, near, standard));
    }
    let known = MODIFIERS.iter().position(|known| *known == modifier);
    if known.is_none() {
        let what = format!("`{modifier}` does not modify a standard name of CF §3.3");
        let expected = MODIFIERS.join(" ");
        found.push(broken("standard_name", &what, expected.trim(), modifier));
    }
    // These count from a date.
    let is_time = ["time", "forecast_reference_time"].contains(&name);
    let has_units_of_name = known.is_some_and(|at| at < 3) && !is_time;
    if let Some((canonical, units)) = canonical.zip(units).filter(|_| has_units_of_name) {
        let dimensions = dimension(canonical).zip(dimension(units));
        if dimensions.is_some_and(|(one, other)| one != other) || units.contains(" since ") {
            let what = format!("the units do not fit the standard name `{name}` (CF §3.1)");
            let expected = format!("`{canonical}`, or units that can be converted to it");
            found.push(broken("units", &what, &expected, units));
        }
    }
    let meanings = text("flag_meanings").map_or(0, |text| text.split_whitespace().count());
    let flags = ["flag_values", "flag_masks"].into_iter().filter_map(|name| array.attribute(name));
    let length = |flags: &Value| if let Value::List(list) = flags { list.len() } else { 1 };
    let lengths: Vec<_> = flags.map(length).collect();
    let unexplained = || (lengths.is_empty() && meanings > 0).then_some(0);
    let other = lengths.iter().copied().find(|count| *count != meanings).or_else(unexplained);
    if let Some(other) = other {
        let what = "flags and their meanings differ in number (CF §3.5)";
        let expected = format!("{other}, as many as there are flags");
        found.push(broken("flag_meanings", what, &expected, &meanings.to_string()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_units_have_dimensions() {
        assert!(NAMES.len() > 5000, "{}", NAMES.len());
        for (name, units) in NAMES.iter().filter(|(_, units)| !["", "dB"].contains(&&***units)) {
            assert!(dimension(units).is_some(), "{name}: {units}");
        }
    }

    #[test]
    fn dates_of_iso_8601_are_known() {
        for date in
            ["2024", "2024-06", "2024-06-03", "20240603T120000Z", "2024-06-03T12:00:00.5+02:00"]
        {
            assert!(is_date(date), "{date}");
        }
        for other in ["", "June", "03.06.2024", "2024-13-01", "2024-06-03T25", "2024060"] {
            assert!(!is_date(other), "{other}");
        }
    }
}
