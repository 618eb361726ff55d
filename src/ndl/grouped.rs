//! A grouped document written piece by piece, as [`Document::to_yaml`](super::Document::to_yaml) writes it
//! whole: nobody has to hold the model of a hundred thousand arrays to write them.

use super::form;
use super::model::{Attribute, DimCoord, Document, Form, Group, Ndarray, Value};
use super::write;

/// The two lists of entities that a group has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    DimCoords,
    Ndarrays,
}

/// Appends the beginning of a group: its path and its attributes. Sections follow.
pub(crate) fn push_group(out: &mut String, path: &str, attributes: &[Attribute]) {
    write::key(out, path, 0);
    out.push_str(":\n");
    if !attributes.is_empty() {
        write::block_map(out, &form::attributes(attributes), 2, false);
    }
}

/// Appends the beginning of a section: entities follow.
pub(crate) fn push_section(out: &mut String, section: Section) {
    out.push_str(match section {
        Section::DimCoords => "  dimcoords:\n",
        Section::Ndarrays => "  ndarrays:\n",
    });
}

/// Appends a dimension coordinate.
pub(crate) fn push_dimcoord(out: &mut String, coord: &DimCoord) {
    push_entity(out, &coord.name, form::dimcoord(coord));
}

/// Appends an array.
pub(crate) fn push_ndarray(out: &mut String, array: &Ndarray) {
    push_entity(out, &array.name, form::ndarray(array));
}

fn push_entity(out: &mut String, name: &str, body: Value) {
    write::block_map(out, &[(name.to_owned(), body)], 4, false);
}

/// Whether a text is this document as it is written here, to the last blank.
pub(crate) fn is_written_so(document: &Document, text: &str) -> bool {
    if document.groups.is_empty() {
        return text == "{}\n";
    }
    let (mut rest, mut piece) = (text, String::new());
    let mut goes_on = |write: &dyn Fn(&mut String)| {
        piece.clear();
        write(&mut piece);
        let behind = rest.strip_prefix(piece.as_str());
        rest = behind.unwrap_or(rest);
        behind.is_some()
    };
    document.form == Form::Grouped
        && document.groups.iter().all(|group| {
            let Group { path, attributes, dimcoords, ndarrays } = group;
            goes_on(&|out| push_group(out, path, attributes))
                && (dimcoords.is_empty() || goes_on(&|out| push_section(out, Section::DimCoords)))
                && dimcoords.iter().all(|coord| goes_on(&|out| push_dimcoord(out, coord)))
                && (ndarrays.is_empty() || goes_on(&|out| push_section(out, Section::Ndarrays)))
                && ndarrays.iter().all(|array| goes_on(&|out| push_ndarray(out, array)))
        })
        && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::strategies;
    use super::*;

    proptest! {
        #[test]
        fn the_pieces_make_up_the_whole(document in strategies::document()) {
            let mut document = document;
            document.form = Form::Grouped;
            let is_empty = |group: &Group| {
                group.attributes.is_empty() && group.dimcoords.is_empty() && group.ndarrays.is_empty()
            };
            document.groups.retain(|group| !is_empty(group));
            prop_assume!(!document.groups.is_empty());
            let mut text = String::new();
            for group in &document.groups {
                push_group(&mut text, &group.path, &group.attributes);
                if !group.dimcoords.is_empty() {
                    push_section(&mut text, Section::DimCoords);
                    group.dimcoords.iter().for_each(|coord| push_dimcoord(&mut text, coord));
                }
                if !group.ndarrays.is_empty() {
                    push_section(&mut text, Section::Ndarrays);
                    group.ndarrays.iter().for_each(|array| push_ndarray(&mut text, array));
                }
            }
            prop_assert_eq!(&text, &document.to_yaml());
            prop_assert!(is_written_so(&document, &text));
            prop_assert!(!is_written_so(&document, &(text + "# by hand\n")));
        }
    }
}
