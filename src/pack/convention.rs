//! One-dimensional arrays that are coordinates by their names, and the extents that they name.

use std::collections::{BTreeMap, BTreeSet};

use super::contents::Contents;
use super::coordinates::Resolved;
use super::{entity_path, group_of};
use crate::ndl::{Extent, Ndarray, ancestors};
use crate::path::MemberPath;

/// Names that coordinates have by convention, mostly those of the CF conventions and their common
/// short forms; upper and lower case are the same.
const NAMES: [&str; 35] = [
    "altitude",
    "angle",
    "azimuth",
    "band",
    "bin",
    "channel",
    "date",
    "depth",
    "elevation",
    "energy",
    "freq",
    "frequency",
    "height",
    "lat",
    "latitude",
    "lev",
    "level",
    "lon",
    "longitude",
    "member",
    "plev",
    "pressure",
    "range",
    "station",
    "t",
    "theta",
    "time",
    "wavelength",
    "wavenumber",
    "x",
    "xc",
    "y",
    "yc",
    "z",
    "zc",
];

/// An axis that is not longer than this is not taken for a coordinate's: too many arrays have one.
const MIN_NAMED: u64 = 2;

/// The conventional coordinates of a pack.
#[derive(Debug)]
pub(crate) struct Convention<'a> {
    contents: &'a Contents,
    /// Names and lengths by group.
    coordinates: BTreeMap<String, Vec<(&'a str, u64)>>,
}

impl<'a> Convention<'a> {
    pub(crate) fn new(contents: &'a Contents) -> Self {
        let mut coordinates: BTreeMap<String, Vec<(&str, u64)>> = BTreeMap::new();
        for (path, facts) in &contents.arrays {
            let Ok(header) = &facts.header else { continue };
            // The size of a dimcoord is positive.
            if let [length] = header.dims()
                && *length > 0
                && is_conventional(path.stem())
            {
                coordinates.entry(group_of(path)).or_default().push((path.stem(), *length));
            }
        }
        Self { contents, coordinates }
    }

    /// Whether an array is a coordinate.
    pub(crate) fn is_coordinate(&self, path: &MemberPath) -> bool {
        let group = self.coordinates.get(&group_of(path));
        group.is_some_and(|names| names.iter().any(|(name, _)| *name == path.stem()))
    }

    /// Names the extents of an array that are as long as exactly one coordinate of its group or of one
    /// above. Two axes are never named by one coordinate. Gives the paths of the coordinates.
    pub(crate) fn name_extents(&self, path: &MemberPath, ndarray: &mut Ndarray) -> Vec<String> {
        let home = group_of(path);
        let mut by_length: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
        for group in ancestors(&home) {
            for (name, length) in self.coordinates.get(group).into_iter().flatten() {
                // A nearer array of the name, whatever its length, is what the name would mean.
                let meant = self.contents.find_coordinate(&home, name);
                if matches!(meant, Some(Resolved::Found { path, .. })
                    if path == entity_path(group, name))
                {
                    by_length.entry(*length).or_default().insert(name);
                }
            }
        }
        let lengths: Vec<_> = ndarray
            .shape
            .iter()
            .filter_map(|extent| match extent {
                Extent::Fixed(length) => Some(*length),
                _ => None,
            })
            .collect();
        let mut paths = Vec::new();
        for extent in &mut ndarray.shape {
            let Extent::Fixed(length) = *extent else { continue };
            let names = by_length.get(&length);
            let mut names = names.into_iter().flatten();
            let (Some(name), None) = (names.next(), names.next()) else { continue };
            let alone = lengths.iter().filter(|other| **other == length).count() == 1;
            if alone && length >= MIN_NAMED {
                *extent = Extent::Coord((*name).to_owned());
                if let Some(Resolved::Found { path, .. }) =
                    self.contents.find_coordinate(&home, name)
                {
                    paths.push(path);
                }
            }
        }
        paths
    }
}

fn is_conventional(name: &str) -> bool {
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::{ArrayFacts, Content, describe};
    use crate::ra::{ElementType, Encoding, Header};

    fn pack(arrays: &[(&str, &[u64])]) -> Contents {
        let mut contents = Contents::default();
        for (path, dims) in arrays {
            let header = Header::new(ElementType::FLOAT32, dims.to_vec()).unwrap();
            let facts =
                ArrayFacts { header: Ok(header), encoding: None, trailing: 0, data: Ok(()) };
            contents
                .add(MemberPath::new(*path).unwrap(), Content::Array(std::sync::Arc::new(facts)));
        }
        contents
    }

    fn shape(contents: &Contents, path: &str) -> Vec<Extent> {
        let path = MemberPath::new(path).unwrap();
        let header = contents.arrays.get(path.as_str()).unwrap().header.as_ref().unwrap();
        let mut ndarray = describe(path.stem(), header, Encoding::Raw);
        Convention::new(contents).name_extents(&path, &mut ndarray);
        ndarray.shape
    }

    fn coord(name: &str) -> Extent {
        Extent::Coord(name.to_owned())
    }

    #[test]
    fn extents_are_named_where_one_coordinate_fits() {
        let contents = pack(&[
            ("time.ra", &[5]),
            ("run1/depth.ra", &[3]),
            ("run1/gain.ra", &[7]),
            ("run1/temperature.ra", &[3, 5, 7]),
            ("run2/temperature.ra", &[3, 5]),
        ]);
        assert_eq!(
            shape(&contents, "run1/temperature.ra"),
            [coord("depth"), coord("time"), Extent::Fixed(7)]
        );
        assert_eq!(shape(&contents, "run2/temperature.ra"), [Extent::Fixed(3), coord("time")]);
    }

    #[test]
    fn what_could_be_two_coordinates_or_two_axes_is_not_named() {
        let contents = pack(&[
            ("x.ra", &[4]),
            ("y.ra", &[4]),
            ("Time.ra", &[5]),
            ("z.ra", &[1]),
            ("a.ra", &[4, 5]),
            ("b.ra", &[5, 5, 1]),
        ]);
        assert_eq!(shape(&contents, "a.ra"), [Extent::Fixed(4), coord("Time")]);
        assert_eq!(shape(&contents, "b.ra"), [5, 5, 1].map(Extent::Fixed));
    }

    #[test]
    fn a_nearer_array_of_the_name_hides_one_above() {
        let contents = pack(&[("t.ra", &[5]), ("a/t.ra", &[6]), ("a/z1.ra", &[5, 6])]);
        assert_eq!(shape(&contents, "a/z1.ra"), [Extent::Fixed(5), coord("t")]);
    }

    #[test]
    fn names_are_sorted_and_in_lower_case() {
        assert!(NAMES.is_sorted());
        assert!(NAMES.iter().all(|name| *name == name.to_lowercase()));
    }
}
