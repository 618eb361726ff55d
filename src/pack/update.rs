//! Bringing a description in line with changed headers by editing nothing but the shape, type and storage in its text.

use std::ops::Range;

use super::contents::{Contents, Described};
use super::coordinates::Resolved;
use super::describe::{Fit, datatype_of, filter_word, fit};
use super::facts::Sources;
use super::shape_of;
use crate::finding::{Code, Finding};
use crate::ndl::{
    self, Document, Endian, Entity, Extent, Ndarray, Order, Step, Value, entity_path,
};
use crate::path::MemberPath;
use crate::ra::{Encoding, Flags, Header};

/// One change of a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The array that it is about.
    pub(crate) array: MemberPath,
    /// The bytes of the text that are replaced.
    pub(crate) span: Range<usize>,
    /// The line that they begin on, counted from 1.
    pub(crate) line: usize,
    /// What they become.
    pub(crate) text: String,
    /// What they say: `shape`, `storage.endian`.
    pub(crate) key: String,
}

/// An array, and a description that is to say what its header says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DescribedArray<'a> {
    pub(crate) path: &'a MemberPath,
    pub(crate) header: &'a Header,
    pub(crate) encoding: Option<Encoding>,
    pub(crate) described: Described<'a>,
}

/// The new text of the document that describes `arrays`, and its changes; `None` when it stays as it is. New dims that
/// are the old shape in the other order are taken for what they say only if `order_is_known`.
///
/// The new text must say what the old one says, but for the changes. When it does not, because an anchor is shared or a
/// comment would go, nothing is changed.
///
/// # Errors
///
/// Findings about what keeps the document from being changed.
pub(crate) fn update(
    contents: &Contents,
    arrays: &[DescribedArray<'_>],
    order_is_known: bool,
) -> Result<Option<(String, Vec<Edit>)>, Vec<Finding>> {
    let Some(DescribedArray { described: Described { member, facts, .. }, .. }) = arrays.first()
    else {
        return Ok(None);
    };
    let document = facts.document().filter(|_| !facts.has_errors());
    let mut wanted = document.ok_or_else(|| facts.findings(member))?.clone();
    let mut sources = Sources::default();
    let (mut edits, mut refused) = (Vec::new(), Vec::new());
    for array in arrays {
        match array.in_line(contents, order_is_known) {
            Ok(new) => array.edit(&new, &mut wanted, &mut sources, &mut edits),
            Err((message, axis)) => {
                let actual = shape_of(array.header.dims(), array.described.order());
                let place = [Step::Key("shape"), Step::Index(axis.unwrap_or_default())];
                let place = place.split_at(if axis.is_some() { 2 } else { 1 }).0;
                let entity = array.described.entity.to_value();
                let stated = entry(&entity, "shape").or(entry(&entity, "size"));
                let stated = stated.map_or("another shape".to_owned(), Value::to_line);
                let finding = Finding::new(Code::ShapeMismatch, message)
                    .expected(format!("the dims {actual:?} of the header"), stated)
                    .hint(format!(
                        "correct the coordinate if that is wrong; or write `shape: {actual:?}` in the description, \
                         and try again"
                    ));
                refused.push(sources.at(&array.described, finding, place));
            }
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    edits.sort_by_key(|edit| edit.span.start);
    edits.dedup_by(|later, earlier| (&later.span, &later.text) == (&earlier.span, &earlier.text));
    if edits.is_empty() {
        return Ok(None);
    }
    match edited(facts.text(), &edits, &wanted) {
        Ok(text) => Ok(Some((text, edits))),
        Err((Edit { array, line, text, key, .. }, why)) => {
            let code = if key == "type" { Code::TypeMismatch } else { Code::ShapeMismatch };
            let message = format!("the description of `{array}` cannot be updated safely: {why}");
            let finding = Finding::new(code, message)
                .expected(format!("`{key}: {text}`"), "another one")
                .hint("change it by hand");
            Err(vec![finding.in_member(*member).at_line(*line as u64)])
        }
    }
}

/// The text with the edits, which has to be what is `wanted`; or the edit that cannot be made, and why.
fn edited<'e>(
    old: &str,
    edits: &'e [Edit],
    wanted: &Document,
) -> Result<String, (&'e Edit, String)> {
    let mut text = String::with_capacity(old.len() + 64);
    let mut at = 0;
    for edit in edits {
        let (kept, removed) = (old.get(at..edit.span.start), old.get(edit.span.clone()));
        let Some((kept, removed)) = kept.zip(removed) else {
            return Err((edit, "two edits are in each other's way".to_owned()));
        };
        if removed.contains('#') {
            return Err((edit, "a comment stands in what would be replaced".to_owned()));
        }
        text.push_str(kept);
        text.push_str(&edit.text);
        at = edit.span.end;
    }
    text.push_str(old.get(at..).unwrap_or_default());
    let parsed = ndl::parse(text.as_bytes());
    let fault = parsed.findings.iter().find(|fault| fault.is_error());
    let why = match fault {
        Some(fault) => {
            format!("the document would break a rule ({}: {})", fault.code.id(), fault.message)
        }
        None if parsed.document.as_ref() == Some(wanted) => return Ok(text),
        None => "more than this array would be described anew".to_owned(),
    };
    Err((edits.first().expect("a text without edits is not made"), why))
}

/// Why an array cannot be described, and the axis of its shape that is the reason.
type Refusal = (String, Option<usize>);

impl DescribedArray<'_> {
    /// What the description should say; a dimcoord as an array.
    fn in_line(&self, contents: &Contents, order_is_known: bool) -> Result<Ndarray, Refusal> {
        let Self { header, encoding, described, .. } = self;
        let mut new = described.entity.array().clone();
        if matches!(fit(&new.datatype, header.element()), Fit::Not(_)) {
            new.datatype = datatype_of(header.element());
        }
        let extents = match described.entity {
            Entity::Ndarray(_) => self.shape(contents, order_is_known, &mut new)?,
            Entity::DimCoord(_) => {
                match (&mut new.shape[..], header.dims()) {
                    ([Extent::Unlimited], [_]) => {}
                    ([Extent::Fixed(size)], [length]) if *size == *length || *length > 0 => {
                        *size = *length;
                    }
                    _ => return Err((format!("`{}` is no longer a coordinate", self.path), None)),
                }
                header.dims().to_vec()
            }
        };
        // What is not stated stays so.
        let Some(storage) = &mut new.storage else { return Ok(new) };
        storage.shape = storage.shape.as_ref().map(|_| extents);
        if let Some(endian) = storage.endian.as_mut().filter(|_| header.element().elbyte() > 1) {
            let is_big = header.flags().contains(Flags::BIG_ENDIAN);
            *endian = if is_big { Endian::Big } else { Endian::Little };
        }
        let is_known = !header.is_encoded() || encoding.is_some();
        if is_known && !storage.filter.is_empty() && *encoding != Some(Encoding::StrayFlag) {
            let word = encoding.and_then(filter_word);
            storage.filter = word.into_iter().map(Value::from).collect();
        }
        Ok(new)
    }

    /// Corrects the shape. The answer has the extents that `storage` must have.
    fn shape(
        &self,
        contents: &Contents,
        order_is_known: bool,
        new: &mut Ndarray,
    ) -> Result<Vec<u64>, Refusal> {
        let (path, dims, order) = (self.path, self.header.dims(), new.order());
        let actual = shape_of(dims, order);
        let is_text = new.datatype == ndl::Datatype::String && dims.len() == 1;
        if new.shape.is_empty() && (is_text || dims == [1]) {
            return Ok(Vec::new());
        }
        if new.shape.len() != actual.len() {
            let names = new.shape.iter().find_map(|extent| match extent {
                Extent::Coord(name) => Some(name),
                _ => None,
            });
            if let Some(name) = names {
                let message = format!(
                    "the shape of `{path}` names `{name}`, and which of its new dims that is cannot be told"
                );
                return Err((message, None));
            }
            new.shape = actual.iter().copied().map(Extent::Fixed).collect();
            return Ok(actual);
        }
        let fits = |lengths: &[u64]| {
            new.shape.iter().zip(lengths).all(|(extent, length)| match extent {
                Extent::Fixed(fixed) => fixed == length,
                _ => true,
            })
        };
        let other = if order == Order::Row { Order::Column } else { Order::Row };
        if !order_is_known && !fits(&actual) && fits(&shape_of(dims, other)) {
            let message =
                format!("the shape of `{path}` is its dims in the other order of dimensions");
            return Err((message, None));
        }
        for (axis, (extent, length)) in new.shape.iter_mut().zip(&actual).enumerate() {
            match extent {
                Extent::Fixed(fixed) => *fixed = *length,
                Extent::Unlimited => {}
                Extent::Coord(name) => {
                    let resolved = contents.resolve(&self.described, name);
                    if let Some(Resolved { length: Some(known), .. }) = resolved
                        && known != *length
                    {
                        let message = format!(
                            "axis {axis} of `{path}` is {length} long, its coordinate `{name}` {known}"
                        );
                        return Err((message, Some(axis)));
                    }
                }
            }
        }
        Ok(actual)
    }

    /// Has the `wanted` document say what is `new`, and adds the edits that make it.
    fn edit(
        &self,
        new: &Ndarray,
        wanted: &mut Document,
        sources: &mut Sources,
        edits: &mut Vec<Edit>,
    ) {
        let Described { facts, group, entity, .. } = self.described;
        let path = entity_path(&group.path, &entity.array().name);
        let (at, nth) = facts.index().and_then(|index| index.position(&path)).expect("it is there");
        let group = wanted.groups.get_mut(at).expect("a copy has as many groups");
        let (arrays, entity_of): (_, fn(_) -> _) = match entity {
            Entity::Ndarray(_) => (&mut group.ndarrays, Entity::Ndarray),
            Entity::DimCoord(_) => (&mut group.dimcoords, Entity::DimCoord),
        };
        arrays.get_mut(nth).expect("a copy has as many arrays").clone_from(new);
        let (old, new) = (entity.to_value(), entity_of(new).to_value());
        for keys in [
            &["type"][..],
            &["shape"],
            &["size"],
            &["storage", "shape"],
            &["storage", "size"],
            &["storage", "endian"],
            &["storage", "filter"],
        ] {
            let stated = |value| keys.iter().try_fold(value, |value, key| entry(value, key));
            let (old, new) = (stated(&old), stated(&new));
            let mut place: Vec<_> = keys.iter().copied().map(Step::Key).collect();
            match (old, new) {
                _ if old == new => {}
                // The extents that differ, or the whole list when it has another length.
                (Some(Value::List(old)), Some(Value::List(new)))
                    if old.len() == new.len() && keys.contains(&"shape") =>
                {
                    for (axis, (old, new)) in old.iter().zip(new).enumerate() {
                        if old != new {
                            place.truncate(keys.len());
                            place.push(Step::Index(axis));
                            edits.extend(self.replacement(&place, keys, new, sources));
                        }
                    }
                }
                _ => {
                    let none = Value::List(Vec::new());
                    edits.extend(self.replacement(&place, keys, new.unwrap_or(&none), sources));
                }
            }
        }
    }

    /// The edit that puts a value in a place of the entity. Numbers that are a list of lines stay one.
    fn replacement(
        &self,
        place: &[Step<'_>],
        keys: &[&str],
        value: &Value,
        sources: &mut Sources,
    ) -> Option<Edit> {
        let span = sources.span(&self.described, place)?;
        let old = self.described.facts.text().get(span.start..span.end).unwrap_or_default();
        let text = match value {
            Value::List(list)
                if old.starts_with('-') && !list.is_empty() && keys.contains(&"shape") =>
            {
                let line_end = if old.contains("\r\n") { "\r\n" } else { "\n" };
                let indent = " ".repeat(span.column - 1);
                let lines: Vec<_> =
                    list.iter().map(|value| format!("- {}", value.to_line())).collect();
                lines.join(&format!("{line_end}{indent}"))
            }
            value => value.to_line(),
        };
        let (array, key) = (self.path.clone(), keys.join("."));
        Some(Edit { array, span: span.start..span.end, line: span.line, text, key })
    }
}

fn entry<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    let Value::Map(map) = value else { return None };
    map.iter().find(|(other, _)| other == key).map(|(_, value)| value)
}
