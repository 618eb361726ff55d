//! Compares an array with its description: shape, type, order and storage must match the header. Two descriptions of
//! one array or coordinate must agree on everything that is not in a header.

use std::cell::OnceCell;

use super::array_facts::ArrayFacts;
use super::contents::Contents;
use super::coordinates::{Coordinates, Resolved};
use super::describe::{Fit, datatype_of, filter_word, fit};
use super::described::{Described, Sources};
use super::differences::{Contrast, Difference, differences, push, short};
use super::shape_of;
use crate::finding::{Code, Finding};
use crate::message::Message;
use crate::ndl::{
    Datatype, Endian, Entity, Extent, Ndarray, Order, PlainDescription, Step, Storage, Value,
};
use crate::path::MemberPath;
use crate::ra::{ElementKind, Encoding, Flags, Header};

/// The shared state of all checks.
pub(super) struct CheckContext<'a> {
    pub(super) coordinates: Coordinates<'a>,
    pub(super) sources: Sources,
    /// Whether ra-pack made the document of the pack; computed on request.
    is_own: OnceCell<bool>,
    /// How many times similar coordinates were searched.
    searches: usize,
}

/// Most searches for a coordinate similar to an unknown one, for all arrays together.
const MOST_SEARCHES: usize = 100;

impl<'a> CheckContext<'a> {
    pub(super) fn new(contents: &'a Contents) -> Self {
        Self {
            coordinates: Coordinates::new(contents),
            sources: Sources::default(),
            is_own: OnceCell::new(),
            searches: 0,
        }
    }

    pub(super) fn is_own_document(&self) -> bool {
        *self.is_own.get_or_init(|| self.coordinates.contents.has_own_document())
    }

    /// Reports problems of coordinates, after every array is checked.
    pub(super) fn findings(mut self, findings: &mut Vec<Finding>) {
        self.coordinates.findings(&mut self.sources, findings);
    }
}

/// Returns whether a header matches a plain description exactly, so that [`array`] would find nothing.
pub(super) fn is_plainly(
    header: &Header,
    plain: &PlainDescription<'_>,
    has_length: impl Fn(&str, u64) -> bool,
) -> bool {
    let shape = shape_of(header.dims(), plain.order());
    let mut extents = plain.extents();
    let shape_fits = shape.into_iter().all(|length| match extents.next() {
        Some(Ok(extent)) => extent == length,
        Some(Err(name)) => has_length(name, length),
        None => false,
    });
    (shape_fits && extents.next().is_none())
        && header.flags() == Flags::NONE
        && fit(plain.datatype(), header.element()) == Fit::Exact
        && (!plain.is_dimcoord() || header.dims().len() == 1)
}

/// Compares an array with its description and reports mismatches.
pub(super) fn array<'a>(
    path: &MemberPath,
    facts: &ArrayFacts,
    header: &Header,
    described: &Described<'a>,
    context: &mut CheckContext<'a>,
    findings: &mut Vec<Finding>,
) {
    let mut check = Check { path, facts, header, described, context, findings };
    check.datatype();
    match described.entity {
        Entity::Ndarray(ndarray) if ndarray.datatype == Datatype::String => {
            check.text(ndarray.shape.is_empty());
        }
        Entity::Ndarray(ndarray) => check.shape(ndarray),
        Entity::DimCoord(coord) => check.coordinate(coord.known_size()),
    }
    check.storage();
}

struct Check<'c, 'a> {
    path: &'c MemberPath,
    facts: &'c ArrayFacts,
    header: &'c Header,
    described: &'c Described<'a>,
    context: &'c mut CheckContext<'a>,
    findings: &'c mut Vec<Finding>,
}

impl Check<'_, '_> {
    fn datatype(&mut self) {
        let datatype = &self.described.entity.array().datatype;
        let element = self.header.element();
        match fit(datatype, element) {
            Fit::Exact => self.tag(datatype),
            Fit::Loose(hint) => {
                let message = format!("the type fits `{}` only loosely", self.path);
                let finding = Finding::new(Code::LooseDescription, message);
                self.push(finding.hint(hint), &[Step::Key("type")]);
            }
            Fit::Not(reason) => {
                let message = format!("the type does not match `{}`", self.path);
                let finding = Finding::new(Code::TypeMismatch, message).expected(
                    format!(
                        "a type of {element} elements (eltype {}, elbyte {})",
                        element.eltype(),
                        element.elbyte()
                    ),
                    format!("`{datatype}`"),
                );
                let hint = reason.unwrap_or_else(|| {
                    format!(
                        "if the file is correct, write `type: {}`",
                        datatype_of(element).to_flow()
                    )
                });
                self.push(finding.hint(hint), &[Step::Key("type")]);
            }
        }
    }

    /// Checks the tag of opaque elements. Readers may misunderstand a tag that is the name of a type.
    fn tag(&mut self, datatype: &Datatype) {
        let Datatype::Opaque { tag: Some(tag), .. } = datatype else { return };
        let element = self.header.element();
        if element.kind() != ElementKind::User || Datatype::from_word(tag).is_none() {
            return;
        }
        let message = format!(
            "the tag `{tag}` is the name of a type, but `{}` has opaque elements",
            self.path
        );
        let finding = Finding::new(Code::LooseDescription, message)
        .expected(format!("another tag, because the header has {element}"), format!("`{tag}`"))
        .hint(format!(
            "if the elements are `{tag}`, store them with that type and write `type: {tag}`; otherwise \
             choose another tag"
        ));
        self.push(finding, &[Step::Key("type")]);
    }

    /// Checks a string. It is stored as bytes, so the only dimension is its length.
    fn text(&mut self, is_scalar: bool) {
        if !is_scalar {
            let message =
                format!("RawArray cannot store an array of strings, but `{}` exists", self.path);
            let finding = Finding::new(Code::TypeMismatch, message).hint(
                "give the strings as `value` and remove the file, or store text of a fixed width as `opaque`",
            );
            return self.push(finding, &[Step::Key("shape")]);
        }
        if self.header.dims().len() != 1 {
            let message =
                format!("the string in `{}` is not a one-dimensional array of bytes", self.path);
            let finding = Finding::new(Code::ShapeMismatch, message).expected(
                format!("dims {} of the header", list(self.header.dims())),
                "a string, which has 1 dimension, its length in bytes",
            );
            self.push(finding, &[Step::Key("shape")]);
        }
    }

    fn shape(&mut self, ndarray: &Ndarray) {
        let (shape, order) = (&ndarray.shape[..], ndarray.order());
        let declared = ndarray.storage.as_ref().and_then(|storage| storage.shape.as_deref());
        let dims = self.header.dims();
        if shape.is_empty() && dims == [1] {
            let message = format!(
                "the shape is that of a scalar, but `{}` is a vector of one element",
                self.path
            );
            let finding = Finding::new(Code::LooseDescription, message)
                .hint("write `shape: [1]`, or store the scalar without dimensions");
            return self.push(finding, &[Step::Key("shape")]);
        }
        let actual = shape_of(dims, order);
        let wanted = self.extents(shape, declared);
        if agrees(&wanted, &actual) {
            for (axis, (wanted, length)) in wanted.into_iter().zip(&actual).enumerate() {
                if let Some(path) = wanted.coordinate {
                    let coordinates = &mut self.context.coordinates;
                    coordinates.used(path, *length, self.path, self.described, axis);
                }
            }
            if let Some(declared) = declared.filter(|declared| *declared != actual) {
                let message = format!("`storage.shape` does not match `{}`", self.path);
                let finding = Finding::new(Code::StorageMismatch, message)
                    .expected(list(&actual), list(declared));
                self.push(finding, &[Step::Key("storage"), Step::Key("shape")]);
            }
            return;
        }
        let other = if order == Order::Row { Order::Column } else { Order::Row };
        let hint = if actual.len() > 1 && agrees(&wanted, &shape_of(dims, other)) {
            match other {
                Order::Row => {
                    "the header has the reverse of this shape: if the last index varies fastest, add \
                     `storage: {order: row}`"
                        .into()
                }
                _ => {
                    "the header has this shape unreversed: remove `storage.order`, or write \
                     `order: row-unreversed` if the last index still varies fastest"
                        .into()
                }
            }
        } else {
            Message::from("if the file is correct, write its shape, or run ")
                .call("describe", "update")
        };
        let finding =
            Finding::new(Code::ShapeMismatch, format!("the shape does not match `{}`", self.path))
                .expected(
                    format!("{}, from dims {} of the header", list(&actual), list(dims)),
                    shown(shape, &wanted),
                )
                .hint(hint);
        // A single wrong length is shown at its position; if the number of dimensions differs, the whole shape is
        // shown.
        let wrong: Vec<usize> = if wanted.len() == actual.len() {
            let pairs = wanted.iter().zip(&actual).enumerate();
            pairs
                .filter(|(_, (wanted, actual))| wanted.length.is_some_and(|len| len != **actual))
                .map(|(axis, _)| axis)
                .collect()
        } else {
            Vec::new()
        };
        let [axis] = wrong[..] else { return self.push(finding, &[Step::Key("shape")]) };
        let CheckContext { coordinates, sources, .. } = &mut *self.context;
        let coordinate = wanted.get(axis).and_then(|wanted| wanted.coordinate.as_ref());
        let origin = coordinate.and_then(|path| coordinates.origin(path, sources));
        let finding = match origin {
            Some(origin) => finding.hint(format!("{origin}: one of the two is wrong")),
            None => finding,
        };
        self.push(finding, &[Step::Key("shape"), Step::Index(axis)]);
    }

    /// Returns the lengths that a shape requires.
    fn extents(&mut self, shape: &[Extent], declared: Option<&[u64]>) -> Vec<WantedExtent> {
        let mut wanted = Vec::with_capacity(shape.len());
        for (axis, extent) in shape.iter().enumerate() {
            let length = match extent {
                Extent::Fixed(length) => Some(*length),
                Extent::Unlimited => declared.and_then(|declared| declared.get(axis).copied()),
                Extent::Coord(name) => {
                    let contents = self.context.coordinates.contents;
                    if let Some(Resolved { path, length }) = contents.resolve(self.described, name)
                    {
                        wanted.push(WantedExtent { length, coordinate: Some(path) });
                        continue;
                    }
                    let message = format!("there is no dimension coordinate `{name}`");
                    let expected = format!(
                        "a dimcoord of this document, or a 1-D array `{}.ra`",
                        name.trim_start_matches('/')
                    );
                    self.context.searches += 1;
                    let is_searched = self.context.searches <= MOST_SEARCHES;
                    let near = || contents.coordinate_like(self.described, name);
                    let hint = match is_searched.then(near).flatten() {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            "a bare name means a coordinate in the same directory or one above \
                                 it; a name that begins with `/` starts at the root of the pack"
                                .to_owned()
                        }
                    };
                    let finding = Finding::new(Code::UnknownCoordinate, message)
                        .expected(expected, "neither")
                        .hint(hint);
                    self.push(finding, &[Step::Key("shape"), Step::Index(axis)]);
                    None
                }
            };
            wanted.push(WantedExtent { length, coordinate: None });
        }
        wanted
    }

    fn coordinate(&mut self, wanted: Option<u64>) {
        let dims = self.header.dims();
        let fits = match dims {
            [length] => wanted.is_none_or(|wanted| wanted == *length),
            _ => false,
        };
        if !fits {
            let found = match wanted {
                Some(wanted) if dims.len() == 1 => format!("size {wanted}"),
                _ => "a coordinate, which has 1 dimension".to_owned(),
            };
            let message = format!("the size of the coordinate does not match `{}`", self.path);
            let mut finding = Finding::new(Code::ShapeMismatch, message)
                .expected(format!("dims {} of the header", list(dims)), found);
            if let [length] = dims {
                finding = finding.hint(format!("if the file is correct, write `size: {length}`"));
            }
            self.push(finding, &[Step::Key("size")]);
        }
    }

    fn storage(&mut self) {
        let none = Storage::default();
        let storage = self.described.entity.array().storage.as_ref().unwrap_or(&none);
        let is_big = self.header.flags().contains(Flags::BIG_ENDIAN);
        let ordered = self.header.element().elbyte() > 1;
        let stated = storage.endian.filter(|_| ordered);
        if stated.is_some_and(|endian| (endian == Endian::Big) != is_big) {
            let message =
                format!("`storage.endian` does not match the byte order of `{}`", self.path);
            let finding = Finding::new(Code::StorageMismatch, message).expected(
                format!("{}, from the flags of the header", if is_big { "big" } else { "little" }),
                if is_big { "little" } else { "big" },
            );
            self.push(finding, &[Step::Key("storage"), Step::Key("endian")]);
        }
        self.filter(storage);
        if storage.chunk.is_some() {
            let message = format!(
                "`storage.chunk` has no meaning for `{}`, because RawArray has no chunks",
                self.path
            );
            let finding = Finding::new(Code::LooseDescription, message);
            self.push(finding, &[Step::Key("storage"), Step::Key("chunk")]);
        }
    }

    fn filter(&mut self, storage: &Storage) {
        let found = match (self.header.is_encoded(), self.facts.encoding) {
            (true, None) => return,
            (_, encoding) => encoding.and_then(filter_word),
        };
        let stray = self.facts.encoding == Some(Encoding::StrayFlag);
        let stated: Vec<Option<&str>> = storage.filter.iter().map(Value::as_str).collect();
        let agrees = match found {
            Some(word) => stated == [Some(word)],
            None => stated.is_empty() || stray,
        };
        if agrees {
            return;
        }
        let shown = |words: &[Option<&str>]| {
            let words: Vec<_> = words.iter().map(|word| word.unwrap_or("?")).collect();
            format!("[{}]", words.join(", "))
        };
        let expected: Vec<_> = found.into_iter().map(Some).collect();
        let message = format!("`storage.filter` does not match the encoding of `{}`", self.path);
        let finding =
            Finding::new(Code::StorageMismatch, message).expected(shown(&expected), shown(&stated));
        // A missing filter is only a warning: the header has the flag.
        let finding = if stated.is_empty() { finding.warning() } else { finding };
        self.push(finding, &[Step::Key("storage"), Step::Key("filter")]);
    }

    /// Adds a finding that points at a key of the entity.
    fn push(&mut self, finding: Finding, place: &[Step<'_>]) {
        self.findings.push(self.context.sources.at(self.described, finding, place));
    }
}

/// The length that a shape requires for one dimension.
struct WantedExtent {
    /// The length; `None` if any length fits.
    length: Option<u64>,
    /// The path of the coordinate named in the shape.
    coordinate: Option<String>,
}

fn agrees(wanted: &[WantedExtent], actual: &[u64]) -> bool {
    let mut pairs = wanted.iter().zip(actual);
    wanted.len() == actual.len()
        && pairs.all(|(wanted, actual)| wanted.length.is_none_or(|length| length == *actual))
}

fn list(extents: &[u64]) -> String {
    let extents: Vec<_> = extents.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}

/// Returns a shape as written, with the length of each coordinate.
fn shown(shape: &[Extent], wanted: &[WantedExtent]) -> String {
    let extents: Vec<_> = shape
        .iter()
        .zip(wanted)
        .map(|(extent, wanted)| match (extent, wanted.length) {
            (Extent::Fixed(length), _) => length.to_string(),
            (Extent::Unlimited, _) => "null".to_owned(),
            (Extent::Coord(name), Some(length)) => format!("{name} ({length})"),
            (Extent::Coord(name), None) => name.clone(),
        })
        .collect();
    format!("[{}]", extents.join(", "))
}

/// Compares two descriptions of one array in everything that is not in the header. The description next to the array
/// takes precedence.
pub(super) fn agree(
    path: &MemberPath,
    beside: &Described<'_>,
    of_pack: &Described<'_>,
    context: &mut CheckContext<'_>,
    findings: &mut Vec<Finding>,
) {
    let mut all = differences(beside, of_pack, true);
    compare_order(&mut all, beside, of_pack);
    compare_extents(&mut all, beside, of_pack, context.coordinates.contents);
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
            .expected(format!("{one}, as in `{}`", beside.member), other)
            .hint(REMEDY);
        let finding = if contrast == Contrast::Form { finding.warning() } else { finding };
        findings.push(context.sources.at(of_pack, finding, &place));
    }
    if !silent.is_empty() {
        let message = format!(
            "for `{path}`, only one of `{}` and `{}` has {}",
            beside.member,
            of_pack.member,
            short(silent.join(", "))
        );
        let finding = Finding::new(Code::DescribedTwice, message).hint(REMEDY);
        // A document that ra-pack made repeats the other description, unless it was changed.
        let finding = if context.is_own_document() { finding } else { finding.warning() };
        findings.push(context.sources.at(of_pack, finding, &[]));
    }
}

const REMEDY: &str = "make both agree; a `manifest.yaml` that ra-pack made can be removed, and \
                      `ra-pack create` generates it again";

fn compare_order(all: &mut Vec<Difference<'_>>, beside: &Described<'_>, of_pack: &Described<'_>) {
    let (one, other) = (beside.order(), of_pack.order());
    // With fewer than two dimensions, there is no order.
    let is_line = matches!(beside.entity, Entity::Ndarray(ndarray) if ndarray.shape.len() < 2);
    if one != other && !is_line {
        let shown = [one, other].map(|order| format!("{} order", order.word()));
        let place = vec![Step::Key("storage"), Step::Key("order")];
        push(all, Some(Contrast::Contradiction), "the order", place, shown);
    }
}

/// Compares the names of dimensions; their lengths are compared with the header.
fn compare_extents(
    all: &mut Vec<Difference<'_>>,
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
        Extent::Coord(name) => contents.resolve(described, name).map(|found| found.path),
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
        push(all, contrast, &format!("the coordinate of dimension {axis}"), place, shown);
    }
}
