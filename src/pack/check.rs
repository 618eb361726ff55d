//! One array against its description: shape, type, order and storage must be what the header says.

use std::cell::OnceCell;

use super::contents::{Contents, Described};
use super::coordinates::{Coordinates, Resolved};
use super::describe::{Fit, datatype_of, filter_word, fit};
use super::facts::Sources;
use super::{ArrayFacts, shape_of};
use crate::finding::{Code, Finding};
use crate::ndl::{self, Datatype, Endian, Entity, Extent, Order, PlainDescription, Step, Storage};
use crate::path::MemberPath;
use crate::ra::{ElementKind, Encoding, Flags, Header};

/// What checks share.
pub(super) struct CheckContext<'a> {
    pub(super) coordinates: Coordinates<'a>,
    pub(super) sources: Sources,
    /// Whether the document of the pack is one that ra-pack made, once somebody asked.
    is_own: OnceCell<bool>,
}

impl<'a> CheckContext<'a> {
    pub(super) fn new(contents: &'a Contents) -> Self {
        Self {
            coordinates: Coordinates::new(contents),
            sources: Sources::default(),
            is_own: OnceCell::new(),
        }
    }

    pub(super) fn is_own_document(&self) -> bool {
        *self.is_own.get_or_init(|| self.coordinates.contents.has_own_document())
    }

    /// What is wrong with coordinates, when every array has been checked.
    pub(super) fn findings(mut self, findings: &mut Vec<Finding>) {
        self.coordinates.findings(&mut self.sources, findings);
    }
}

/// Whether a header is exactly what a plain description says, so that [`array`] would find nothing.
pub(super) fn is_plainly(header: &Header, plain: &PlainDescription<'_>) -> bool {
    let dims = header.dims().iter().copied();
    let shape_fits = match plain.order() {
        Order::Column | Order::RowUnreversed => plain.extents().eq(dims),
        Order::Row => plain.extents().eq(dims.rev()),
    };
    shape_fits
        && header.flags() == Flags::NONE
        && fit(plain.datatype(), header.element()) == Fit::Exact
        && (!plain.is_dimcoord() || header.dims().len() == 1)
}

/// Compares an array with its description and adds what does not match.
pub(super) fn array<'a>(
    path: &MemberPath,
    facts: &ArrayFacts,
    header: &Header,
    described: &Described<'a>,
    context: &mut CheckContext<'a>,
    findings: &mut Vec<Finding>,
) {
    let CheckContext { coordinates, sources, .. } = context;
    let mut check = Check { path, facts, header, described, sources, findings };
    check.datatype();
    match described.entity {
        Entity::Ndarray(ndarray) if ndarray.datatype == Datatype::String => {
            check.text(ndarray.shape.is_empty());
        }
        Entity::Ndarray(ndarray) => {
            let order = ndarray.order();
            let declared = ndarray.storage.as_ref().and_then(|storage| storage.shape.as_deref());
            check.shape(&ndarray.shape, order, declared, coordinates);
        }
        Entity::DimCoord(coord) => check.coordinate(coord.known_size()),
    }
    check.storage();
}

struct Check<'c, 'a> {
    path: &'c MemberPath,
    facts: &'c ArrayFacts,
    header: &'c Header,
    described: &'c Described<'a>,
    sources: &'c mut Sources,
    findings: &'c mut Vec<Finding>,
}

impl<'a> Check<'_, 'a> {
    fn datatype(&mut self) {
        let datatype = self.described.entity.datatype();
        let element = self.header.element();
        match fit(datatype, element) {
            Fit::Exact => self.tag(datatype),
            Fit::Loose(hint) => {
                let message =
                    format!("the type describes the header of `{}` only loosely", self.path);
                let finding = Finding::new(Code::LooseDescription, message);
                self.push(finding.hint(hint), &[Step::Key("type")]);
            }
            Fit::Not(reason) => {
                let message = format!("the type is not that of `{}`", self.path);
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
                        "if the file is right, write `type: {}`",
                        datatype_of(element).to_flow()
                    )
                });
                self.push(finding.hint(hint), &[Step::Key("type")]);
            }
        }
    }

    /// A tag is a word of the author's own; one that names a type is misunderstood as that type.
    fn tag(&mut self, datatype: &Datatype) {
        let Datatype::Opaque { tag: Some(tag), .. } = datatype else { return };
        let element = self.header.element();
        if element.kind() != ElementKind::User || Datatype::from_word(tag).is_none() {
            return;
        }
        let message =
            format!("the tag `{tag}` names a type, but `{}` holds opaque elements", self.path);
        let finding = Finding::new(Code::LooseDescription, message)
        .expected(format!("another tag, because the header says {element}"), format!("`{tag}`"))
        .hint(format!(
            "if the elements are `{tag}`, store them as that and write `type: {tag}`; else choose \
             another tag"
        ));
        self.push(finding, &[Step::Key("type")]);
    }

    /// A string is the bytes of one text, so its length is the header's only dim.
    fn text(&mut self, is_scalar: bool) {
        if !is_scalar {
            let message =
                format!("an array of strings has no RawArray form, but `{}` is there", self.path);
            let finding = Finding::new(Code::TypeMismatch, message).hint(
                "give the strings inline as `value`, or store text of a fixed width as `opaque`",
            );
            return self.push(finding, &[Step::Key("shape")]);
        }
        if self.header.dims().len() != 1 {
            let message = format!("the string in `{}` is not one run of bytes", self.path);
            let finding = Finding::new(Code::ShapeMismatch, message).expected(
                format!("dims {} of the header", list(self.header.dims())),
                "a string, which has 1 dim, its length in bytes",
            );
            self.push(finding, &[Step::Key("shape")]);
        }
    }

    fn shape(
        &mut self,
        shape: &[Extent],
        order: Order,
        declared: Option<&[u64]>,
        coordinates: &mut Coordinates<'a>,
    ) {
        let dims = self.header.dims();
        if shape.is_empty() && dims == [1] {
            let message =
                format!("the shape says a scalar, `{}` holds a vector of one element", self.path);
            let finding = Finding::new(Code::LooseDescription, message)
                .hint("write `shape: [1]`, or store the scalar without dims");
            return self.push(finding, &[Step::Key("shape")]);
        }
        let actual = shape_of(dims, order);
        let wanted = self.extents(shape, declared, coordinates);
        if agrees(&wanted, &actual) {
            for (axis, (extent, length)) in shape.iter().zip(&actual).enumerate() {
                if let Extent::Coord(name) = extent
                    && let Some(Resolved { path, .. }) =
                        coordinates.contents.resolve(self.path, self.described, name)
                {
                    coordinates.used(path, *length, self.path, self.described, axis);
                }
            }
            if let Some(declared) = declared.filter(|declared| *declared != actual) {
                let message = format!("`storage.shape` is not the shape of `{}`", self.path);
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
                    "dims are the reverse of shape: if the last index is the fastest, add \
                     `storage: {order: row}`"
                }
                _ => {
                    "dims equal shape as it stands: remove `storage.order`, or write \
                     `order: row-unreversed` if the last index is the fastest all the same"
                }
            }
        } else {
            "if the file is right, write the shape that it has, or let \
             `describe` with the option `update` do it"
        };
        let finding =
            Finding::new(Code::ShapeMismatch, format!("the shape is not that of `{}`", self.path))
                .expected(
                    format!("{}, from dims {} of the header", list(&actual), list(dims)),
                    shown(shape, &wanted),
                )
                .hint(hint);
        // One wrong extent is pointed at, a wrong number of them as a whole.
        let wrong: Vec<usize> = if wanted.len() == actual.len() {
            let pairs = wanted.iter().zip(&actual).enumerate();
            pairs
                .filter(|(_, (wanted, actual))| wanted.is_some_and(|wanted| wanted != **actual))
                .map(|(axis, _)| axis)
                .collect()
        } else {
            Vec::new()
        };
        let [axis] = wrong[..] else { return self.push(finding, &[Step::Key("shape")]) };
        let coordinate = match shape.get(axis) {
            Some(Extent::Coord(name)) => {
                coordinates.contents.resolve(self.path, self.described, name)
            }
            _ => None,
        };
        let origin = coordinate.and_then(|found| coordinates.origin(&found.path, self.sources));
        let finding = match origin {
            Some(origin) => finding.hint(format!("{origin}: one of the two is wrong")),
            None => finding,
        };
        self.push(finding, &[Step::Key("shape"), Step::Index(axis)]);
    }

    /// The lengths that a shape demands; nothing where it leaves one open.
    fn extents(
        &mut self,
        shape: &[Extent],
        declared: Option<&[u64]>,
        coordinates: &Coordinates<'_>,
    ) -> Vec<Option<u64>> {
        let mut wanted = Vec::with_capacity(shape.len());
        for (axis, extent) in shape.iter().enumerate() {
            wanted.push(match extent {
                Extent::Fixed(length) => Some(*length),
                Extent::Unlimited => declared.and_then(|declared| declared.get(axis).copied()),
                Extent::Coord(name) => {
                    match coordinates.contents.resolve(self.path, self.described, name) {
                        Some(Resolved { length, .. }) => length,
                        None => {
                            let message = format!("there is no dimension coordinate `{name}`");
                            let finding = Finding::new(Code::UnknownCoordinate, message)
                        .expected(
                            format!(
                                "a dimcoord of this document, or a 1-D array `{}.ra`",
                                name.trim_start_matches('/')
                            ),
                            "neither",
                        )
                        .hint(
                            "a bare name is looked for in the same directory and in those above \
                             it, a name that begins with `/` from the top of the pack",
                        );
                            self.push(finding, &[Step::Key("shape"), Step::Index(axis)]);
                            None
                        }
                    }
                }
            });
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
                _ => "a coordinate, which has 1 dim".to_owned(),
            };
            let message = format!("the size of the coordinate is not that of `{}`", self.path);
            let finding = Finding::new(Code::ShapeMismatch, message)
                .expected(format!("dims {} of the header", list(dims)), found);
            self.push(finding, &[Step::Key("size")]);
        }
    }

    fn storage(&mut self) {
        let none = Storage::default();
        let storage = self.described.entity.storage().unwrap_or(&none);
        let is_big = self.header.flags().contains(Flags::BIG_ENDIAN);
        let ordered = self.header.element().elbyte() > 1;
        let stated = storage.endian.filter(|_| ordered);
        if stated.is_some_and(|endian| (endian == Endian::Big) != is_big) {
            let message = format!("`storage.endian` is not the byte order of `{}`", self.path);
            let finding = Finding::new(Code::StorageMismatch, message).expected(
                format!("{}, from the flags of the header", if is_big { "big" } else { "little" }),
                if is_big { "little" } else { "big" },
            );
            self.push(finding, &[Step::Key("storage"), Step::Key("endian")]);
        }
        self.filter(storage);
        if storage.chunk.is_some() {
            let message =
                format!("`storage.chunk` means nothing for `{}`, which is one piece", self.path);
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
        let stated: Vec<Option<&str>> = storage.filter.iter().map(ndl::Value::as_str).collect();
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
        let message = format!("`storage.filter` does not say how `{}` is encoded", self.path);
        let finding =
            Finding::new(Code::StorageMismatch, message).expected(shown(&expected), shown(&stated));
        // Silence about an encoding loses nothing: the header tells.
        let finding = if stated.is_empty() { finding.warning() } else { finding };
        self.push(finding, &[Step::Key("storage"), Step::Key("filter")]);
    }

    /// Adds a finding that points at a key of the entity.
    fn push(&mut self, finding: Finding, place: &[Step<'_>]) {
        self.findings.push(self.sources.at(self.described, finding, place));
    }
}

fn agrees(wanted: &[Option<u64>], actual: &[u64]) -> bool {
    wanted.len() == actual.len()
        && wanted
            .iter()
            .zip(actual)
            .all(|(wanted, actual)| wanted.is_none_or(|wanted| wanted == *actual))
}

fn list(extents: &[u64]) -> String {
    let extents: Vec<_> = extents.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}

/// A shape as written, with the length of each coordinate.
fn shown(shape: &[Extent], wanted: &[Option<u64>]) -> String {
    let extents: Vec<_> = shape
        .iter()
        .zip(wanted)
        .map(|(extent, wanted)| match (extent, wanted) {
            (Extent::Fixed(length), _) => length.to_string(),
            (Extent::Unlimited, _) => "null".to_owned(),
            (Extent::Coord(name), Some(length)) => format!("{name} ({length})"),
            (Extent::Coord(name), None) => name.clone(),
        })
        .collect();
    format!("[{}]", extents.join(", "))
}
