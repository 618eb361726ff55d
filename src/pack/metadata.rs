//! Checks of optional metadata: known units, long names, a title, and attributes with the wrong name or type.

use std::collections::BTreeMap;

use serde::Serialize;

use super::contents::Contents;
use super::described::{Described, Sources};
use super::units::{UnitsFault, check_units};
use super::{ArrayFacts, PACK_DOCUMENT};
use crate::finding::{Code, Finding, Place};
use crate::message::Message;
use crate::ndl::{self, Attribute, Datatype, Ndarray, Step, Value};
use crate::path::MemberPath;
use crate::ra::{ElementKind, Header};

/// The number of arrays without common metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MetadataCounts {
    /// Number of arrays.
    pub arrays: u64,
    /// Number of numeric arrays without units.
    pub without_units: u64,
    /// Number of arrays without a long name and without a standard name.
    pub without_name: u64,
}

impl MetadataCounts {
    /// Returns whether every array is complete.
    pub fn is_complete(&self) -> bool {
        self.without_units == 0 && self.without_name == 0
    }
}

/// The missing metadata of an array.
#[derive(Debug, Clone, Copy)]
struct Lacks {
    units: bool,
    name: bool,
}

/// Attributes that describe an array in words.
const NAMES: [&str; 2] = ["long_name", "standard_name"];
/// Attributes of integers that are flags or categories instead of quantities.
const FLAGS: [&str; 3] = ["flag_values", "flag_masks", "flag_meanings"];
/// Attributes with numbers of the same type as the array.
const VALUES: [&str; 5] = ["_FillValue", "missing_value", "valid_min", "valid_max", "valid_range"];

impl Contents {
    /// Counts the arrays that lack metadata.
    pub(crate) fn metadata_counts(&self) -> MetadataCounts {
        let mut counts = MetadataCounts { arrays: self.arrays.len() as u64, ..Default::default() };
        // Neighbouring arrays often have the same description except for the name.
        let mut last: Option<(&str, Lacks)> = None;
        for (path, facts) in &self.arrays {
            let body = self.plain_facts(path).and_then(|facts| facts.body()).map(|body| &**body);
            let lacks = match (body, last) {
                (Some(body), Some((known, lacks))) if std::ptr::eq(body, known) => lacks,
                _ => self.lacks(path, facts),
            };
            last = body.map(|body| (body, lacks));
            counts.without_units += u64::from(lacks.units);
            counts.without_name += u64::from(lacks.name);
        }
        counts
    }

    fn lacks(&self, path: &MemberPath, facts: &ArrayFacts) -> Lacks {
        if let Some(plain) = self.plain(path) {
            let is_flag = FLAGS.iter().any(|name| plain.has(name));
            return Lacks {
                units: is_number(plain.datatype())
                    && !is_flag
                    && !plain.attributes().any(is_of_units),
                name: !NAMES.iter().any(|name| plain.has(name)),
            };
        }
        match self.description(path, &mut Vec::new()) {
            Some(described) => lacks(described.entity.array()),
            None => {
                let kind = facts.header.as_ref().ok().map(|header| header.element().kind());
                let units = kind.is_some_and(|kind| kind != ElementKind::User);
                Lacks { units, name: true }
            }
        }
    }

    /// Returns findings about missing or wrong metadata of all arrays; with `of_pack` also about the pack as a whole.
    pub(crate) fn metadata_findings(&self, of_pack: bool) -> Vec<Finding> {
        let (mut findings, mut sources) = (Vec::new(), Sources::default());
        for (path, facts) in &self.arrays {
            let described = self.description(path, &mut Vec::new());
            let Some((described, Ok(_))) = described.zip(Some(&facts.header)) else { continue };
            let first = findings.len();
            of_array(path, &described, &mut sources, &mut findings);
            for finding in findings.iter_mut().skip(first) {
                finding.array = Some(path.as_str().to_owned());
            }
        }
        let mut unattached = self.unattached().map(|(path, _)| path).peekable();
        if unattached.peek().is_some() {
            let undescribed = by_directory(self.undescribed().map(|(path, _)| path));
            let arrays = by_directory(self.arrays.keys());
            findings.extend(unattached.map(|path| describes_nothing(path, &undescribed, &arrays)));
        }
        let has_title = || self.own_attributes().iter().any(|attribute| attribute.name == "title");
        if of_pack && !self.arrays.is_empty() && !has_title() {
            let finding = Finding::new(Code::NoTitle, "the pack has no title");
            let set =
                Message::from("run ").call_on_pack("describe", ("set", "title='A few words'"));
            findings.push(finding.in_member(PACK_DOCUMENT).hint(set));
        }
        findings
    }

    /// Returns findings about entries that have another name than their files.
    pub(crate) fn other_names(&self) -> impl Iterator<Item = Finding> {
        let is_other =
            |path: &&MemberPath| self.plain(path).is_none_or(|it| it.name() != path.stem());
        let described = self.arrays.keys().filter(is_other).filter_map(|path| {
            let described = self.description(path, &mut Vec::new())?;
            let name = &described.entity.array().name;
            (name != path.stem() && !described.is_of_pack()).then_some((path, described))
        });
        described.map(|(path, described)| {
            let (name, stem) = (&described.entity.array().name, path.stem());
            let message = format!("the entry has the name `{name}`, but its file is `{path}`");
            let finding = Finding::new(Code::OtherName, message).about_array(path.as_str());
            let finding = Sources::default().at(&described, finding, &[]);
            let is_plain = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
            let hint = match finding.place {
                Some(Place::Text { line, .. }) if format!("{name}{stem}").chars().all(is_plain) => {
                    Message::from(format!(
                        "rename the files, or the entry: `sed -i.old '{line}s/{name}:/{stem}:/' "
                    ))
                    .file(described.member)
                    .text("`")
                }
                _ => format!("rename the entry to `{stem}`, or rename the files").into(),
            };
            finding.hint(hint)
        })
    }

    /// Returns the 1-D arrays that are coordinates with values that should be in order.
    pub(crate) fn coordinate_arrays(&self) -> Vec<(&MemberPath, &Header)> {
        let coordinates = self.coordinates().into_iter();
        let arrays = coordinates.filter_map(|coordinate| self.array_at(&coordinate.name));
        let headers = arrays.filter_map(|(path, facts)| Some((path, facts.header.as_ref().ok()?)));
        let vectors =
            headers.filter(|(_, header)| header.dims().len() == 1 && !header.is_encoded());
        vectors
            .filter(|(path, _)| {
                let described = self.description(path, &mut Vec::new());
                described.is_none_or(|described| is_number(&described.entity.array().datatype))
            })
            .collect()
    }
}

/// Stems of arrays, by directory.
type Directories<'a> = BTreeMap<Option<&'a str>, Vec<&'a str>>;

fn by_directory<'a>(arrays: impl Iterator<Item = &'a MemberPath>) -> Directories<'a> {
    let mut directories = Directories::new();
    for path in arrays {
        directories.entry(path.parent()).or_default().push(path.stem());
    }
    directories
}

/// Makes the finding about a description without an array. It is probably meant for an array with a similar name, first
/// of those that have no description.
fn describes_nothing(
    document: &MemberPath,
    undescribed: &Directories<'_>,
    arrays: &Directories<'_>,
) -> Finding {
    let (stem, directory) = (document.stem(), document.parent());
    let message = format!("the document describes no array, because `{stem}.ra` does not exist");
    let finding = Finding::new(Code::DescribesNothing, message).in_member(document.as_str());
    let near = |known: &Directories<'_>| {
        let names = known.get(&directory).into_iter().flatten().copied();
        ndl::nearest(stem, names).map(str::to_owned)
    };
    match near(undescribed).or_else(|| near(arrays)) {
        Some(near) => finding.hint(format!("did you mean `{near}.yaml`?")),
        None => finding,
    }
}

fn of_array(
    path: &MemberPath,
    described: &Described<'_>,
    sources: &mut Sources,
    findings: &mut Vec<Finding>,
) {
    let array = described.entity.array();
    let name = path.without_extension();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    let is_word = name.chars().all(is_plain) || name.contains('\'');
    let word = if is_word { name.to_owned() } else { format!("'{name}'") };
    let Lacks { units, name: lacks_name } = lacks(array);
    if units {
        let finding = Finding::new(Code::NoUnits, format!("`{name}` has no units"));
        let hint = slip(array, "units").unwrap_or_else(|| {
            Message::from("run ")
                .call_on_pack("describe", ("set", format!("{word}.units=UNITS")))
                .text("; UNITS is 1 for numbers without a unit")
        });
        findings.push(sources.at(described, finding.hint(hint), &[]));
    }
    if lacks_name {
        let message = format!("`{name}` has neither a long name nor a standard name");
        let hint = NAMES.iter().find_map(|known| slip(array, known)).unwrap_or_else(|| {
            Message::from("run ")
                .call_on_pack("describe", ("set", format!("{word}.long_name='A FEW WORDS'")))
        });
        let finding = Finding::new(Code::NoLongName, message).hint(hint);
        findings.push(sources.at(described, finding, &[]));
    }
    if let Some(units) = array.attribute("units") {
        let text = units.as_str().map_or_else(|| units.to_line(), str::to_owned);
        if let Err(UnitsFault { message, hint }) = check_units(&text) {
            let finding = Finding::new(Code::UnknownUnits, message)
                .expected("units in the notation of UDUNITS, such as `m s-1`", format!("`{text}`"));
            let finding = match hint {
                Some(hint) => finding.hint(hint),
                None => finding,
            };
            let place = [Step::Key("attributes"), Step::Key("units")];
            findings.push(sources.at(described, finding, &place));
        }
    }
    for attribute in array.attributes.iter().filter(|it| VALUES.contains(&&*it.name)) {
        if let Some(value) = numbers(attribute).find(|value| !holds(&array.datatype, value)) {
            let message = format!("`{}` is not a value that `{path}` can contain", attribute.name);
            let finding = Finding::new(Code::OutsideType, message)
                .expected(format!("a number of type `{}`", array.datatype), value.to_line());
            let place = [Step::Key("attributes"), Step::Key(&attribute.name)];
            findings.push(sources.at(described, finding, &place));
        }
    }
}

/// Returns a hint if the name of an attribute is nearly the one that is missing.
fn slip(array: &Ndarray, wanted: &str) -> Option<Message> {
    let near = ndl::nearest(wanted, array.attributes.iter().map(|attribute| &*attribute.name))?;
    let unknown = format!("other programs do not know the attribute `{near}`");
    Some(format!("{unknown}: did you mean `{wanted}`?").into())
}

fn lacks(array: &Ndarray) -> Lacks {
    let has = |name: &&str| array.attribute(name).is_some();
    let is_of_units = array.attributes.iter().any(|attribute| is_of_units(&attribute.name));
    let units = is_number(&array.datatype) && !FLAGS.iter().any(has) && !is_of_units;
    Lacks { units, name: !NAMES.iter().any(has) }
}

/// Returns whether an attribute gives units, either of the array or of its scaled values.
fn is_of_units(name: &str) -> bool {
    name.starts_with("units")
}

/// Returns whether elements are numbers that may have units.
fn is_number(datatype: &Datatype) -> bool {
    match datatype {
        Datatype::String
        | Datatype::Enum { .. }
        | Datatype::Opaque { .. }
        | Datatype::ObjRef
        | Datatype::RegRef { .. }
        | Datatype::Vlen(_) => false,
        // Complex numbers are compounds of their two parts.
        Datatype::Compound(members) => {
            matches!(&members[..], [(_, one), (_, other)] if one == other && one.is_float())
        }
        Datatype::Array { base, .. } => is_number(base),
        _ => true,
    }
}

fn numbers(attribute: &Attribute) -> Box<dyn Iterator<Item = &Value> + '_> {
    match &attribute.value {
        Value::List(list) => Box::new(list.iter()),
        value => Box::new(std::iter::once(value)),
    }
}

/// Returns whether a type can represent this number; true for types without numbers.
fn holds(datatype: &Datatype, value: &Value) -> bool {
    let number = match value {
        Value::Float(number) => *number,
        Value::Int(_) | Value::UInt(_) => {
            let integer = datatype.integer().zip(value.as_integer());
            return integer.is_none_or(|(integer, number)| integer.holds(number));
        }
        _ => return !is_number(datatype),
    };
    match datatype.integer() {
        Some(integer) => {
            let (low, high) = integer.range();
            #[expect(clippy::cast_precision_loss, reason = "the nearest float is good enough")]
            let range = low as f64..=high as f64;
            number.fract() == 0.0 && range.contains(&number)
        }
        None if *datatype == Datatype::Float32 => {
            !number.is_finite() || number.abs() <= f64::from(f32::MAX)
        }
        None => true,
    }
}
