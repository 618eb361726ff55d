//! Compares generated documents with the reading of another YAML reader.

use crate::ndl::{self, Attribute, Document, Form, Group, Misread, write};
use crate::pack::document::{DocumentPart, PackDocument};

/// Number of arrays of a group that are read at once.
const PIECE_LEN: usize = 128;

/// Most pieces that are read: those of longer documents are taken from all parts. They take less than a tenth of the
/// time of packing.
const MAX_PIECES: usize = 16;

/// Some entities of a group, and the attributes of the group if there are no entities.
struct Piece<'p> {
    path: &'p str,
    attributes: &'p [Attribute],
    is_dimcoord: bool,
    parts: &'p [DocumentPart<'p>],
}

impl PackDocument<'_> {
    /// Compares the document with its reading: all of it, or a part of a long one.
    pub(crate) fn read_back(&self) -> Result<(), Misread> {
        let pieces: Vec<_> = self
            .groups
            .iter()
            .flat_map(|(path, group)| {
                let piece =
                    |is_dimcoord, parts| Piece { path, attributes: &[], is_dimcoord, parts };
                let head = Piece { attributes: &group.attributes, ..piece(false, &[]) };
                let coords = group.dimcoords.chunks(PIECE_LEN).map(move |parts| piece(true, parts));
                let arrays = group.ndarrays.chunks(PIECE_LEN).map(move |parts| piece(false, parts));
                let head = Some(head).filter(|head| !head.attributes.is_empty());
                head.into_iter().chain(coords).chain(arrays)
            })
            .collect();
        let step = pieces.len().div_ceil(MAX_PIECES).max(1);
        pieces.iter().step_by(step).try_for_each(Piece::read_back)
    }
}

impl Piece<'_> {
    fn read_back(&self) -> Result<(), Misread> {
        let Self { path, attributes, is_dimcoord, parts } = *self;
        let mut text = String::new();
        write::push_group(&mut text, path, attributes);
        if !parts.is_empty() {
            text.push_str(if is_dimcoord { write::DIMCOORDS } else { write::NDARRAYS });
        }
        for part in parts {
            part.push(is_dimcoord, &mut text);
        }
        let mut group = Group { attributes: attributes.to_vec(), ..Group::new(path) };
        let arrays = if is_dimcoord { &mut group.dimcoords } else { &mut group.ndarrays };
        arrays.extend(parts.iter().map(|part| part.array().into_owned()));
        let document = Document { form: Form::Grouped, groups: vec![group] };
        ndl::compare(&text, &document.to_value())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::pack::{ArrayFacts, Content, Contents, DescriptionFacts};
    use crate::path::MemberPath;
    use crate::ra::{ElementType, Header};

    #[test]
    fn a_fault_in_the_text_of_an_array_is_found_by_its_keys() {
        let mut contents = Contents::default();
        for number in 0..=PIECE_LEN {
            let header = Header::new(ElementType::INT8, vec![2]).unwrap();
            let text = format!("ndarrays:\n  a{number}:\n    shape: [2]\n    type: int8\n");
            let facts = DescriptionFacts::parse("a.yaml", text);
            let array = Content::Array(Arc::new(ArrayFacts::of_header(header)));
            contents.add(MemberPath::new(format!("g/a{number}.ra")).unwrap(), array);
            let path = MemberPath::new(format!("g/a{number}.yaml")).unwrap();
            contents.add(path, Content::Description(Arc::new(facts)));
        }
        contents.attributes = vec![Attribute::new("title", "no").unwrap()];
        let mut document = PackDocument::new(&contents, None);
        assert_eq!(document.read_back(), Ok(()));
        let last = document.groups.get_mut("/g").unwrap().ndarrays.last_mut().unwrap();
        let DocumentPart::Plain { path, extents, .. } = last else { panic!("it is plain") };
        let key = format!("/g.ndarrays.{}.shape.0", path.stem());
        *extents = "5.0".into(); // a name for this writer, and a number for others
        assert_eq!(document.read_back().unwrap_err().key, key);
    }
}
