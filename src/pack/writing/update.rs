//! Updates descriptions to match changed headers: only shape, type and storage change in their texts.

use crate::finding::{Code, Finding};
use crate::ndl::{
    self, Attribute, Datatype, Document, Endian, Entity, Extent, Ndarray, Order, Refusal, Revision,
    Step, Value, ValueChange, entity_path,
};
use crate::pack::contents::Contents;
use crate::pack::coordinates::Resolved;
use crate::pack::describe::{Fit, datatype_of, filter_word, fit};
use crate::pack::described::{Described, Sources};
use crate::pack::shape_of;
use crate::path::MemberPath;
use crate::ra::{ElementKind, Encoding, Flags, Header};

/// An array and the description that must match its header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DescribedArray<'a> {
    pub(crate) path: &'a MemberPath,
    pub(crate) header: &'a Header,
    pub(crate) encoding: Option<Encoding>,
    pub(crate) described: Described<'a>,
    /// A description of the elements whose order, attributes and names replace those of the document.
    pub(crate) known: Option<&'a Ndarray>,
    /// Attributes of the group of these elements, which replace those of the document.
    pub(crate) shared: &'a [Attribute],
}

/// Returns the new text of the document that describes `arrays`, and its changes; `None` if nothing changes. Dimensions
/// that are the old shape in the other order are accepted only if the order is known.
///
/// # Errors
///
/// Findings about the reasons why the document cannot be changed.
pub(crate) fn update(
    contents: &Contents,
    arrays: &[DescribedArray<'_>],
) -> Result<Option<Revision>, Vec<Finding>> {
    let Some(DescribedArray { described: Described { member, facts, .. }, .. }) = arrays.first()
    else {
        return Ok(None);
    };
    let document = facts.document().filter(|_| !facts.has_errors());
    let mut wanted = document.ok_or_else(|| facts.findings(member))?.clone();
    let (mut sources, mut refused) = (Sources::default(), Vec::new());
    for array in arrays {
        match array.in_line(contents) {
            Ok(new) => array.described.change(&mut wanted, new, array.shared),
            Err((message, axis)) => {
                let actual = shape_of(array.header.dims(), array.described.order());
                let place = [Step::Key("shape"), Step::Index(axis.unwrap_or_default())];
                let place = place.split_at(if axis.is_some() { 2 } else { 1 }).0;
                let stated = match array.described.entity.to_value() {
                    Value::Map(entries) => entries,
                    _ => Vec::new(),
                };
                let stated = stated.iter().find(|(key, _)| key == "shape" || key == "size");
                let stated =
                    stated.map_or("another shape".to_owned(), |(_, value)| value.to_line());
                let finding = Finding::new(Code::ShapeMismatch, message)
                    .expected(format!("the dims {actual:?} of the header"), stated)
                    .hint(format!(
                        "correct the coordinate if it is wrong; or write `shape: {actual:?}` in the description \
                         and try again"
                    ));
                refused.push(sources.at(&array.described, finding, place));
            }
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    match ndl::revise(facts.text(), &wanted) {
        Ok(revision) => Ok(Some(revision).filter(|revision| !revision.changes.is_empty())),
        Err(Refusal { change: None, why }) => {
            let message = format!("the document cannot be updated safely: {why}");
            Err(vec![Finding::new(Code::ShapeMismatch, message).in_member(*member)])
        }
        Err(Refusal { change: Some(change), why }) => {
            let key = change.key().join(".");
            let name = change.path.get(2).map_or("", String::as_str);
            let code = if key == "type" { Code::TypeMismatch } else { Code::ShapeMismatch };
            let message = format!("the description of `{name}` cannot be updated safely: {why}");
            let ValueChange { line, to, .. } = change;
            let finding = Finding::new(code, message)
                .expected(format!("`{key}: {}`", to.unwrap_or_default()), "another one")
                .hint("edit it by hand");
            Err(vec![finding.in_member(*member).at_line(line as u64)])
        }
    }
}

impl Described<'_> {
    /// Replaces the array in a copy of its document, and sets attributes of its group.
    pub(crate) fn change(&self, document: &mut Document, new: Ndarray, shared: &[Attribute]) {
        let Self { facts, group, entity, .. } = self;
        let path = entity_path(&group.path, &entity.array().name);
        let (at, nth) = facts
            .index()
            .and_then(|index| index.position(&path))
            .expect("the entity is in the document");
        let group = document.groups.get_mut(at).expect("a copy has as many groups");
        let arrays = match entity {
            Entity::Ndarray(_) => &mut group.ndarrays,
            Entity::DimCoord(_) => &mut group.dimcoords,
        };
        *arrays.get_mut(nth).expect("a copy has as many arrays") = new;
        for attribute in shared.iter().cloned() {
            attribute.put_into(&mut group.attributes);
        }
    }
}

/// The reason why an array cannot be described, and the dimension that causes it.
type Misfit = (String, Option<usize>);

impl DescribedArray<'_> {
    /// Returns the new description; a dimcoord as an array.
    fn in_line(&self, contents: &Contents) -> Result<Ndarray, Misfit> {
        let Self { header, encoding, described, known, .. } = self;
        let mut new = described.entity.array().clone();
        if matches!(fit(&new.datatype, header.element()), Fit::Not(_)) {
            let datatype = known.map(|known| known.datatype.clone());
            let datatype = datatype.unwrap_or_else(|| datatype_of(header.element()));
            if known.is_some() {
                forget(&mut new, &datatype, header.element().kind() == ElementKind::Complex);
            }
            new.datatype = datatype;
        }
        if let Some(known) = known {
            let units = known.attribute("units");
            if units.is_some() && units != new.attribute("units") {
                new.unpack();
                new.forget_missing();
            }
            take_over(known, &mut new);
        }
        let extents = match described.entity {
            Entity::Ndarray(_) => self.shape(contents, &mut new)?,
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
        // Missing keys stay missing.
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

    /// Corrects the shape. Returns the shape that `storage` must have.
    fn shape(&self, contents: &Contents, new: &mut Ndarray) -> Result<Vec<u64>, Misfit> {
        let (path, dims, order) = (self.path, self.header.dims(), new.order());
        let actual = shape_of(dims, order);
        let is_text = new.datatype == Datatype::String && dims.len() == 1;
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
                    "the shape of `{path}` contains `{name}`, and it is not clear which of the new dims that is"
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
        if self.known.is_none() && !fits(&actual) && fits(&shape_of(dims, other)) {
            let message = format!("the dims of `{path}` have its shape in the other order");
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
                            "dimension {axis} of `{path}` has length {length}, but its coordinate `{name}` has {known}"
                        );
                        return Err((message, Some(axis)));
                    }
                }
            }
        }
        Ok(actual)
    }
}

/// Removes what a description says about its elements and elements of another type cannot have: packing for physical
/// values; units, missing values and names for elements that are not real numbers.
fn forget(description: &mut Ndarray, datatype: &Datatype, is_complex: bool) {
    if !description.datatype.is_float() && datatype.is_float() {
        description.unpack();
    }
    let is_real = |it: &Datatype| it.integer().is_some() || it.is_float();
    if is_real(&description.datatype) && !is_real(datatype) {
        let is_date = description.attribute("units").and_then(Value::as_str);
        let is_date = is_date.is_some_and(|units| units.contains(" since "));
        let is_gone = |name: &str| match name {
            "units" => !is_complex || is_date,
            "calendar" | "flag_values" | "flag_meanings" | "flag_masks" => true,
            _ => false,
        };
        description.attributes.retain(|attribute| !is_gone(&attribute.name));
        description.unpack();
        description.forget_missing();
    }
}

/// Replaces what a description says about elements by what is `known` about new ones.
fn take_over(known: &Ndarray, new: &mut Ndarray) {
    new.value.clone_from(&known.value);
    for attribute in known.attributes.iter().cloned() {
        attribute.put_into(&mut new.attributes);
    }
    for (extent, name) in new.shape.iter_mut().zip(&known.shape) {
        if matches!(name, Extent::Coord(_)) {
            extent.clone_from(name);
        }
    }
    let fillvalue = known.storage.as_ref().and_then(|storage| storage.fillvalue.clone());
    let is_reordered = known.shape.len() > 1 && known.order() != new.order();
    if is_reordered || fillvalue.is_some() {
        let storage = new.storage.get_or_insert_default();
        storage.order = if is_reordered { known.order() } else { storage.order };
        storage.fillvalue = fillvalue.or(storage.fillvalue.take());
    }
}
