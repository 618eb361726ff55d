//! What two descriptions of one array, or of one coordinate, say otherwise than each other where no header decides.

use std::collections::BTreeMap;

use super::check::CheckContext;
use super::contents::{Contents, Described};
use super::describe::{Fit, fit};
use crate::finding::{Code, Finding};
use crate::interchange::element_of_word;
use crate::ndl::{Attribute, Datatype, Entity, Extent, Step, Storage, Value};
use crate::path::MemberPath;

/// How two statements differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contrast {
    /// Both cannot be true.
    Contradiction,
    /// The same in two ways, such as 1 and 1.0.
    Form,
    /// One of the two says more.
    Silence,
}

/// One thing that two descriptions say otherwise.
#[derive(Debug)]
pub(super) struct Difference<'a> {
    pub(super) contrast: Contrast,
    pub(super) what: String,
    /// Where it is in either description.
    pub(super) place: Vec<Step<'a>>,
    pub(super) one: String,
    pub(super) other: String,
}

/// What is compared of a description.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statements<'a> {
    pub(super) entity: Entity<'a>,
    /// Attributes of its group, which are about it as well.
    pub(super) shared: &'a [Attribute],
}

impl<'a> Statements<'a> {
    fn of(described: &Described<'a>) -> Self {
        Self { entity: described.entity, shared: &described.group.attributes }
    }
}

/// Everything that two descriptions say otherwise, but for extents.
pub(super) fn differences<'a>(one: Statements<'a>, other: Statements<'a>) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    let types = (one.entity.datatype(), other.entity.datatype());
    let key = Step::Key;
    let shown = [types.0.to_flow(), types.1.to_flow()].map(short);
    push(&mut found, compare_types(types.0, types.1), "the type", vec![key("type")], shown);
    let values = (one.entity.value(), other.entity.value());
    compare_stated(&mut found, values, "the value", vec![key("value")]);
    compare_attributes(&mut found, one, other);
    compare_storage(&mut found, one.entity.storage(), other.entity.storage());
    found
}

fn push<'a>(
    found: &mut Vec<Difference<'a>>,
    contrast: Option<Contrast>,
    what: &str,
    place: Vec<Step<'a>>,
    [one, other]: [String; 2],
) {
    let what = what.to_owned();
    found.extend(contrast.map(|contrast| Difference { contrast, what, place, one, other }));
}

fn compare_stated<'a>(
    found: &mut Vec<Difference<'a>>,
    (one, other): (Option<&Value>, Option<&Value>),
    what: &str,
    place: Vec<Step<'a>>,
) {
    let contrast = match (one, other) {
        (Some(one), Some(other)) => compare_values(one, other),
        (None, None) => None,
        _ => Some(Contrast::Silence),
    };
    let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), line);
    push(found, contrast, what, place, [shown(one), shown(other)]);
}

fn compare_attributes<'a>(
    found: &mut Vec<Difference<'a>>,
    one: Statements<'a>,
    other: Statements<'a>,
) {
    /// The array's own attributes count before those of its group.
    fn all(side: Statements<'_>) -> BTreeMap<&str, &Attribute> {
        let own = side.entity.attributes();
        side.shared.iter().chain(own).map(|fact| (fact.name.as_str(), fact)).collect()
    }
    let (ones, others) = (all(one), all(other));
    for (name, fact) in &ones {
        let contrast = match others.get(name) {
            Some(same) => compare_facts(fact, same),
            None => Some(Contrast::Silence),
        };
        let said = others.get(name).map_or_else(|| "nothing".to_owned(), |fact| line(&fact.value));
        let place = vec![Step::Key("attributes"), Step::Key(name)];
        push(found, contrast, &format!("`{name}`"), place, [line(&fact.value), said]);
    }
    // What else is said of the group is about the group.
    for fact in other.entity.attributes() {
        if !ones.contains_key(fact.name.as_str()) {
            let place = vec![Step::Key("attributes"), Step::Key(&fact.name)];
            let shown = ["nothing".to_owned(), line(&fact.value)];
            push(found, Some(Contrast::Silence), &format!("`{}`", fact.name), place, shown);
        }
    }
}

fn compare_facts(one: &Attribute, other: &Attribute) -> Option<Contrast> {
    if one.shape != other.shape {
        return Some(Contrast::Contradiction);
    }
    let form = one.datatype != other.datatype || one.storage != other.storage;
    compare_values(&one.value, &other.value).or(form.then_some(Contrast::Form))
}

fn compare_storage<'a>(
    found: &mut Vec<Difference<'a>>,
    one: Option<&'a Storage>,
    other: Option<&'a Storage>,
) {
    let none = Storage::default();
    let (one, other) = [one, other].map(|storage| storage.unwrap_or(&none)).into();
    let unknown =
        |storage: &Storage| (!storage.other.is_empty()).then(|| Value::Map(storage.other.clone()));
    let stated = |storage: &Storage, key: &str| match key {
        "storage" => unknown(storage),
        _ => storage.get(key),
    };
    // Extents and order are compared with the header.
    for key in ["chunk", "filter", "endian", "charset", "fillvalue", "storage"] {
        let place = vec![Step::Key("storage"), Step::Key(key)];
        let values = (stated(one, key), stated(other, key));
        let what = format!("`storage.{key}`");
        compare_stated(found, (values.0.as_ref(), values.1.as_ref()), &what, place);
    }
}

/// How two types of one element differ; nothing where both are words for the same.
fn compare_types(one: &Datatype, other: &Datatype) -> Option<Contrast> {
    let members = |members: &[(String, i128)]| members.iter().cloned().collect::<BTreeMap<_, _>>();
    match (one, other) {
        _ if one == other => None,
        (Datatype::Enum { members: a, .. }, Datatype::Enum { members: b, .. })
            if one.resolved_base() == other.resolved_base() && members(a) == members(b) =>
        {
            None
        }
        (Datatype::Enum { .. }, Datatype::Enum { .. }) => Some(Contrast::Contradiction),
        // A name for each number, a text or the parts of an element is more than its size.
        (Datatype::Enum { .. } | Datatype::String, _)
        | (_, Datatype::Enum { .. } | Datatype::String) => Some(Contrast::Silence),
        _ => {
            let element = element_of_word(one).or_else(|| element_of_word(other));
            let is_both =
                |element| [one, other].iter().all(|datatype| fit(datatype, element) == Fit::Exact);
            match (element, one, other) {
                (Some(element), ..) if is_both(element) => None,
                (_, Datatype::Opaque { .. }, _) | (_, _, Datatype::Opaque { .. }) => {
                    Some(Contrast::Silence)
                }
                _ => Some(Contrast::Contradiction),
            }
        }
    }
}

/// How two values differ: integers are compared as integers, and with floats exactly.
pub(super) fn compare_values(one: &Value, other: &Value) -> Option<Contrast> {
    let worst = |all: &mut dyn Iterator<Item = Option<Contrast>>| {
        all.fold(None, |worst, next| match (worst, next) {
            (Some(Contrast::Contradiction), _) | (_, Some(Contrast::Contradiction)) => {
                Some(Contrast::Contradiction)
            }
            (worst, next) => worst.or(next),
        })
    };
    match (one, other) {
        _ if one == other => None,
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            worst(&mut a.iter().zip(b).map(|(a, b)| compare_values(a, b)))
        }
        (Value::Map(a), Value::Map(b)) if a.len() == b.len() => {
            let others: BTreeMap<_, _> = b.iter().map(|(key, value)| (key, value)).collect();
            worst(&mut a.iter().map(|(key, value)| match others.get(key) {
                Some(other) => compare_values(value, other),
                None => Some(Contrast::Contradiction),
            }))
        }
        (Value::Float(a), Value::Float(b)) if *a == 0.0 && *b == 0.0 => Some(Contrast::Form),
        (number, Value::Float(float)) | (Value::Float(float), number)
            if number.as_integer().is_some_and(|integer| is_integer(*float, integer)) =>
        {
            Some(Contrast::Form)
        }
        _ => Some(Contrast::Contradiction),
    }
}

/// Whether a float is exactly this integer.
fn is_integer(float: f64, integer: i128) -> bool {
    float.fract() == 0.0 && format!("{float:.0}").parse() == Ok(integer)
}

fn line(value: &Value) -> String {
    short(value.to_line())
}

/// A text as far as one line of a message has room.
fn short(text: String) -> String {
    const ROOM: usize = 80;
    match text.char_indices().nth(ROOM) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Compares what two documents say of one array where the header does not decide. The one beside the array is
/// what holds.
pub(super) fn agree(
    path: &MemberPath,
    beside: &Described<'_>,
    of_pack: &Described<'_>,
    context: &mut CheckContext<'_>,
    findings: &mut Vec<Finding>,
) {
    let mut all = differences(Statements::of(beside), Statements::of(of_pack));
    compare_order(&mut all, beside, of_pack);
    compare_extents(&mut all, path, beside, of_pack, context.coordinates.contents);
    let mut silent = Vec::new();
    for difference in all {
        let Difference { contrast, what, place, one, other } = difference;
        if contrast == Contrast::Silence {
            silent.push(what);
            continue;
        }
        let message = format!(
            "`{}` and `{}` disagree about {what} of `{path}`",
            beside.member, of_pack.member
        );
        let finding = Finding::new(Code::DescribedTwice, message)
            .expected(format!("{one}, as `{}` says", beside.member), other)
            .hint(REMEDY);
        let finding = if contrast == Contrast::Form { finding.warning() } else { finding };
        findings.push(context.sources.at(of_pack, finding, &place));
    }
    if !silent.is_empty() {
        let message = format!(
            "only one of `{}` and `{}` says of `{path}`: {}",
            beside.member,
            of_pack.member,
            short(silent.join(", "))
        );
        let finding = Finding::new(Code::DescribedTwice, message).hint(REMEDY);
        // What ra-pack made says what the other says, or it is not what was made.
        let finding = if context.is_own_document() { finding } else { finding.warning() };
        findings.push(context.sources.at(of_pack, finding, &[]));
    }
}

const REMEDY: &str = "make both say the same; a `manifest.yaml` that ra-pack made can be removed, since \
                      `ra-pack create` makes it anew";

fn compare_order(all: &mut Vec<Difference<'_>>, beside: &Described<'_>, of_pack: &Described<'_>) {
    let (one, other) = (beside.order(), of_pack.order());
    // Of less than two dimensions there is no order.
    let is_line = matches!(beside.entity, Entity::Ndarray(ndarray) if ndarray.shape.len() < 2);
    if one != other && !is_line {
        let shown = [one, other].map(|order| format!("{} order", order.word()));
        let place = vec![Step::Key("storage"), Step::Key("order")];
        push(all, Some(Contrast::Contradiction), "the order", place, shown);
    }
}

/// Compares what the extents are called; how long they are is compared with the header.
fn compare_extents(
    all: &mut Vec<Difference<'_>>,
    path: &MemberPath,
    beside: &Described<'_>,
    of_pack: &Described<'_>,
    contents: &Contents,
) {
    let (Entity::Ndarray(one), Entity::Ndarray(other)) = (beside.entity, of_pack.entity) else {
        return;
    };
    if one.shape.len() != other.shape.len() || beside.order() != of_pack.order() {
        return;
    }
    let found = |described: &Described<'_>, extent: &Extent| match extent {
        Extent::Coord(name) => contents.resolve(path, described, name).map(|found| found.path),
        Extent::Fixed(_) | Extent::Unlimited => None,
    };
    for (axis, (one, other)) in one.shape.iter().zip(&other.shape).enumerate() {
        let paths = (found(beside, one), found(of_pack, other));
        let contrast = match (&paths.0, &paths.1) {
            (Some(one), Some(other)) => (one != other).then_some(Contrast::Contradiction),
            (None, None) => None,
            _ => Some(Contrast::Silence),
        };
        let shown = [paths.0, paths.1].map(|path| path.unwrap_or_else(|| "a number".to_owned()));
        let place = vec![Step::Key("shape"), Step::Index(axis)];
        push(all, contrast, &format!("the coordinate of axis {axis}"), place, shown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_values() {
        let compare = |one: Value, other: Value| compare_values(&one, &other);
        assert_eq!(compare(Value::Int(1), Value::Float(1.0)), Some(Contrast::Form));
        assert_eq!(compare(Value::Float(f64::NAN), Value::Float(f64::NAN)), None);
        assert_eq!(compare(Value::Int(1), Value::from("1")), Some(Contrast::Contradiction));
        // Beyond 2^53 a float is not each integer near it.
        let (exact, near) = (9_007_199_254_740_992_i64, 9_007_199_254_740_993_i64);
        let float = Value::Float(9_007_199_254_740_992.0);
        assert_eq!(compare(Value::Int(exact), float.clone()), Some(Contrast::Form));
        assert_eq!(compare(Value::Int(near), float), Some(Contrast::Contradiction));
        let lists = (Value::from(vec![1_i64, 2]), Value::from(vec![1.0_f64, 2.5]));
        assert_eq!(compare(lists.0, lists.1), Some(Contrast::Contradiction));
    }

    #[test]
    fn two_words_for_one_type_are_the_same() {
        let pair = |part: Datatype| {
            Datatype::Compound(vec![("r".to_owned(), part.clone()), ("i".to_owned(), part)])
        };
        let tagged = Datatype::Opaque { size: 2, tag: Some("float16".to_owned()) };
        assert_eq!(compare_types(&Datatype::Complex64, &pair(Datatype::Float32)), None);
        assert_eq!(compare_types(&tagged, &Datatype::Float16), None);
        let other = compare_types(&Datatype::Complex64, &pair(Datatype::Float64));
        assert_eq!(other, Some(Contrast::Contradiction));
        let names = |first: &str| Datatype::Enum {
            base: None,
            members: vec![(first.to_owned(), 0), ("on".to_owned(), 1)],
        };
        assert_eq!(compare_types(&names("off"), &names("no")), Some(Contrast::Contradiction));
        assert_eq!(compare_types(&names("off"), &Datatype::UInt8), Some(Contrast::Silence));
    }
}
