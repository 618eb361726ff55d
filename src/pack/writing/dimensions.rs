//! Names for the dimensions of an array: coordinates of the pack, or dimensions without values.

use std::collections::BTreeMap;

use crate::finding::{Code, Finding};
use crate::ndl::{self, Datatype, Entity, Extent, Ndarray, candidates, entity_path};
use crate::pack::contents::Contents;
use crate::pack::described::Described;
use crate::pack::shape_of;
use crate::path::MemberPath;
use crate::ra::Header;

/// A shape with dimension names.
#[derive(Debug)]
pub(crate) struct NamedShape {
    pub(crate) shape: Vec<Extent>,
    /// Names that are not coordinates yet, with the lengths of their dimensions.
    pub(crate) new: Vec<(String, u64)>,
    /// Warnings about names that look like those of coordinates.
    pub(crate) findings: Vec<Finding>,
}

/// Returns a dimension with a name but no values.
pub(crate) fn dimension(name: &str, length: u64) -> Ndarray {
    Ndarray {
        name: name.to_owned(),
        shape: vec![Extent::Fixed(length)],
        datatype: Datatype::Int64,
        value: None,
        attributes: Vec::new(),
        storage: None,
    }
}

impl Contents {
    /// Returns the shape of an array whose dimensions get these names, in the order of its description's shape. An
    /// empty name leaves the dimension unchanged; a number must be its length. Names may be missing at the end for
    /// dimensions of length 1. `known` are the lengths of coordinates that other descriptions state, by path; new names
    /// are added.
    ///
    /// # Errors
    ///
    /// A message if the names do not fit.
    pub(crate) fn named_shape(
        &self,
        path: &MemberPath,
        header: &Header,
        described: &Described<'_>,
        names: &[String],
        known: &mut BTreeMap<String, u64>,
    ) -> Result<NamedShape, String> {
        let old = &described.entity.array().shape;
        let lengths = shape_of(header.dims(), described.order());
        let is_one = |length: &u64| *length == 1;
        let has_all = lengths.get(names.len()..).is_some_and(|rest| rest.iter().all(is_one));
        if !has_all || old.len() != lengths.len() {
            return Err(format!(
                "{} for an array of shape {lengths:?}",
                match names.len() {
                    1 => "1 dimension name was given".to_owned(),
                    count => format!("{count} dimension names were given"),
                }
            ));
        }
        let (shape, new, findings) = <_>::default();
        let mut result = NamedShape { shape, new, findings };
        let unnamed = String::new();
        let each = names.iter().chain(std::iter::repeat(&unnamed));
        for (axis, (name, (extent, length))) in each.zip(old.iter().zip(&lengths)).enumerate() {
            let is_itself = lengths.len() == 1 && name == path.stem();
            let extent = match name.parse::<u64>() {
                Ok(number) if number == *length => Extent::Fixed(number),
                Ok(number) => {
                    return Err(format!("dimension {axis} has length {length}, not {number}"));
                }
                Err(_) if name.is_empty() || is_itself => extent.clone(),
                Err(_) if matches!(described.entity, Entity::DimCoord(_)) => {
                    return Err("a dimension coordinate cannot have another coordinate".to_owned());
                }
                Err(_) if *length == 0 => Extent::Fixed(0),
                Err(_) => {
                    let length_of = |name: &str| match self.resolve(described, name) {
                        Some(coordinate) => coordinate.length,
                        None => known.get(&entity_path(&described.home(), name)).copied(),
                    };
                    if let Some(other) = length_of(name).filter(|other| other != length) {
                        let fits = order_that_fits(length_of, names, &lengths);
                        return Err(format!(
                            "dimension {axis} has length {length}, but the coordinate `{name}` has \
                             {other}; the shape is {lengths:?}{fits}"
                        ));
                    }
                    match self.resolve(described, name) {
                        Some(_) => {}
                        None if name.contains('/') => {
                            return Err(format!("there is no coordinate `{name}`"));
                        }
                        None => {
                            result.findings.extend(self.unlike(path, described, name));
                            result.new.push((name.clone(), *length));
                            known.insert(entity_path(&described.home(), name), *length);
                        }
                    }
                    Extent::Coord(name.clone())
                }
            };
            result.shape.push(extent);
        }
        Ok(result)
    }

    /// Returns a warning if the name of a dimension is nearly that of a coordinate.
    fn unlike(&self, path: &MemberPath, described: &Described<'_>, name: &str) -> Option<Finding> {
        let home = described.home();
        let is_near = |array: &&MemberPath| {
            candidates(&home, array.stem())
                .iter()
                .any(|at| *at == format!("/{}", array.without_extension()))
        };
        let vectors = self.arrays.iter().filter(|(_, facts)| {
            facts.header.as_ref().is_ok_and(|header| header.dims().len() == 1)
        });
        let stems = vectors.map(|(array, _)| array).filter(is_near).map(MemberPath::stem);
        let near = ndl::nearest(name, stems)?;
        let message = format!("no array `{name}` has values for the dimension");
        let finding = Finding::new(Code::UnknownCoordinate, message).in_member(path.as_str());
        Some(finding.warning().hint(format!("did you mean `{near}`?")))
    }
}

/// Returns, in words, the order of names in which each has the length of its dimension, if there is one.
fn order_that_fits(
    length_of: impl Fn(&str) -> Option<u64>,
    names: &[String],
    lengths: &[u64],
) -> String {
    let mut left: Vec<_> = names.iter().map(|name| (name, length_of(name))).collect();
    let mut order = Vec::new();
    for length in lengths {
        let at = left.iter().position(|(_, known)| *known == Some(*length));
        let Some(at) = at.or_else(|| left.iter().position(|(_, known)| known.is_none())) else {
            return String::new();
        };
        order.push(left.remove(at).0.as_str());
    }
    format!("; the names fit in this order: {}", order.join(","))
}
