//! Names for the dimensions of all arrays of a store.
//!
//! xarray requires that all dimensions of a name have the same length in a group, and in the groups below it.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::ndl::ancestors;

/// The lengths of named dimensions, by group.
#[derive(Debug, Default)]
pub(super) struct DimensionNames {
    groups: HashMap<String, HashMap<String, u64>>,
}

impl DimensionNames {
    /// Returns the names of an array's dimensions. `given` are the names or paths in its description. A dimension
    /// without a name, or with a name that already has another length, gets a name of its own: `ARRAY_dim_N`, where N is
    /// its position in the description. `is_reversed` says that the dimensions are given in reverse.
    pub(super) fn of_array(
        &mut self,
        group: &str,
        array: &str,
        shape: &[u64],
        given: &[Option<Cow<'_, str>>],
        is_reversed: bool,
    ) -> Vec<String> {
        let mut names: Vec<String> = Vec::with_capacity(shape.len());
        for (nth, extent) in shape.iter().enumerate() {
            let given = given.get(nth).and_then(Option::as_deref);
            let name = given.and_then(|path| path.rsplit('/').next());
            // A variable with the name of a dimension has only this dimension.
            let is_own = |name: &str| name == array && shape.len() > 1;
            let name = name.filter(|name| {
                !is_own(name)
                    && names.iter().all(|other| other != name)
                    && self.length(group, name).is_none_or(|length| length == *extent)
            });
            names.push(match name {
                Some(name) => {
                    let known = self.groups.entry(group.to_owned()).or_default();
                    known.insert(name.to_owned(), *extent);
                    name.to_owned()
                }
                None => {
                    let stated = if is_reversed { shape.len() - 1 - nth } else { nth };
                    format!("{array}_dim_{stated}")
                }
            });
        }
        names
    }

    /// Returns the length of a name in a group or the nearest group above it.
    fn length(&self, group: &str, name: &str) -> Option<u64> {
        let known = |group: &str| self.groups.get(group)?.get(name).copied();
        ancestors(group).find_map(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(
        all: &mut DimensionNames,
        (group, array): (&str, &str),
        dimensions: &[(u64, &'static str)],
    ) -> Vec<String> {
        let shape: Vec<_> = dimensions.iter().map(|(extent, _)| *extent).collect();
        let given = dimensions.iter().map(|(_, name)| Some(*name).filter(|name| !name.is_empty()));
        let given: Vec<_> = given.map(|name| name.map(Cow::Borrowed)).collect();
        all.of_array(group, array, &shape, &given, false)
    }

    #[test]
    fn the_number_is_the_position_in_the_description() {
        let mut all = DimensionNames::default();
        let named = all.of_array("/", "v", &[9, 2], &[Some("t".into()), None], true);
        assert_eq!(named, ["t", "v_dim_0"]);
    }

    #[test]
    fn a_name_has_one_length_in_a_group_and_below() {
        let mut all = DimensionNames::default();
        assert_eq!(names(&mut all, ("/", "time"), &[(5, "time")]), ["time"]);
        assert_eq!(names(&mut all, ("/a", "x"), &[(5, "/time"), (3, "")]), ["time", "x_dim_1"]);
        assert_eq!(names(&mut all, ("/a", "y"), &[(3, "/b/time")]), ["y_dim_0"]);
        assert_eq!(names(&mut all, ("/a", "z"), &[(3, "depth")]), ["depth"]);
        // A group next to it has its own names.
        assert_eq!(names(&mut all, ("/b", "z"), &[(4, "depth")]), ["depth"]);
    }

    #[test]
    fn a_name_is_used_once_in_an_array_and_not_by_an_array_of_that_name() {
        let mut all = DimensionNames::default();
        assert_eq!(names(&mut all, ("/", "c"), &[(2, "x"), (2, "x")]), ["x", "c_dim_1"]);
        assert_eq!(names(&mut all, ("/", "y"), &[(2, "x"), (4, "y")]), ["x", "y_dim_1"]);
        assert_eq!(names(&mut all, ("/", "y"), &[(4, "y")]), ["y"]);
    }
}
