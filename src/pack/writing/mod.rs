//! Documents to write: descriptions of arrays without one, documents of packs, and changes to both.

pub(super) mod complete;
mod dimensions;
mod read_back;
mod update;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

pub(crate) use self::complete::{as_stated, attributes_document, pack_document};
pub(crate) use self::dimensions::{NamedShape, dimension};
pub(crate) use self::update::{DescribedArray, update};
pub(crate) use super::coordinates::Convention;
pub(crate) use super::document::{PackDocument, as_coordinate};
pub(crate) use super::generated::{FORMAT_VERSION, is_attributes_document, is_generated};

use super::contents::Contents;
use super::{RO_CRATE, describe, group_of};
use crate::error::{Error, Result};
use crate::ndl::Document;
use crate::path::MemberPath;
use crate::ra::Encoding;

/// Conventional names of coordinates, mostly from the CF conventions, and their common abbreviations. Case does not
/// matter.
const NAMES: &str = "altitude angle azimuth band bin channel date depth elevation energy freq frequency \
    height lat latitude lev level lon longitude member plev pressure range station t \
    theta time wavelength wavenumber x xc y yc z zc";

impl<'a> Convention<'a> {
    pub(crate) fn new(contents: &'a Contents) -> Self {
        let mut coordinates: BTreeMap<String, Vec<(&str, u64)>> = BTreeMap::new();
        for (path, facts) in &contents.arrays {
            let Ok(header) = &facts.header else { continue };
            // The size of a dimcoord is positive.
            if let [length] = header.dims()
                && *length > 0
                && is_conventional(path.stem())
                && !contents.unordered.contains(path)
            {
                coordinates.entry(group_of(path)).or_default().push((path.stem(), *length));
            }
        }
        Self { contents, coordinates }
    }
}

fn is_conventional(name: &str) -> bool {
    NAMES.split(' ').any(|known| known.eq_ignore_ascii_case(name))
}

impl Contents {
    /// Adds the content of another pack.
    pub(crate) fn extend(&mut self, other: Self) {
        self.arrays.extend(other.arrays);
        self.descriptions.extend(other.descriptions);
        self.has_yml |= other.has_yml;
        self.ro_crate = self.ro_crate.take().or(other.ro_crate);
    }

    /// Removes the files that are not wanted.
    pub(crate) fn retain(&mut self, is_wanted: impl Fn(&MemberPath) -> bool) {
        self.arrays.retain(|path, _| is_wanted(path));
        self.descriptions.retain(|path, _| is_wanted(path));
        let ro_crate = MemberPath::new(RO_CRATE).expect("the name is valid");
        self.ro_crate = self.ro_crate.take().filter(|_| is_wanted(&ro_crate));
    }

    /// Returns the length of the header of an array in bytes, if it can be read.
    pub(crate) fn header_len(&self, path: &MemberPath) -> Option<NonZeroU64> {
        NonZeroU64::new(self.arrays.get(path)?.header.as_ref().ok()?.header_len())
    }
}

/// Makes the text of a description for every array that has none, by the name of its file.
///
/// # Errors
///
/// [`Error::ReadBack`] if another YAML reader reads a text in another way.
pub(crate) fn describe_missing(
    contents: &Contents,
    dimcoords: bool,
) -> Result<BTreeMap<MemberPath, String>> {
    let convention = dimcoords.then(|| Convention::new(contents));
    contents
        .undescribed()
        .filter_map(|(path, facts)| {
            let header = facts.header.as_ref().ok()?;
            let encoding = facts.encoding.unwrap_or(Encoding::Raw);
            let mut ndarray = describe(path.stem(), header, encoding);
            let is_coordinate = convention.as_ref().is_some_and(|it| it.is_coordinate(path));
            if is_coordinate {
                ndarray = as_coordinate(ndarray);
            } else if let Some(convention) = &convention {
                convention.name_extents(path, &mut ndarray);
            }
            let document = Document::of(ndarray, is_coordinate);
            let name = MemberPath::new(format!("{}.yaml", path.without_extension())).ok()?;
            let text = document.to_compared_yaml();
            let text = text.map_err(|misread| Error::misread(name.as_str(), &misread));
            Some(text.map(|text| (name, text)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_in_lower_case() {
        assert!(NAMES.split(' ').is_sorted());
        assert!(NAMES == NAMES.to_lowercase());
    }
}
