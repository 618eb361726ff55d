//! Bringing a description in line with a changed header by editing nothing but the shape, type and
//! storage in its text.

use std::ops::Range;

use super::contents::{Contents, Described, Entity};
use super::coordinates::Resolved;
use super::describe::{Fit, datatype_of, filter_word, fit};
use super::{entity_path, shape_of};
use crate::finding::{Code, Finding};
use crate::ndl::{
    self, Datatype, Document, Endian, Extent, Ndarray, Order, SourceMap, Step, Storage, Value,
};
use crate::path::MemberPath;
use crate::ra::{Encoding, Flags, Header};

/// One change of a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The bytes of the text that are replaced.
    pub(crate) span: Range<usize>,
    /// The line that they begin on, counted from 1.
    pub(crate) line: u32,
    /// What they become.
    pub(crate) text: String,
    /// What they say: `shape`, `storage.endian`.
    pub(crate) key: String,
}

/// The text of one document while it is brought in line with headers.
pub(crate) struct Update<'a> {
    contents: &'a Contents,
    member: &'a str,
    text: &'a str,
    source: SourceMap,
    /// What the document says when all edits are made.
    wanted: Document,
    edits: Vec<(MemberPath, Edit)>,
    /// Whether dims in the other order may just as well be an array that has that order.
    doubts_order: bool,
}

/// What became of a document.
#[derive(Debug, Default)]
pub(crate) struct Updated {
    /// The new text; nothing when it stays as it is.
    pub(crate) text: Option<String>,
    /// What was changed, and for which array.
    pub(crate) edits: Vec<(MemberPath, Edit)>,
}

impl<'a> Update<'a> {
    /// Begins with the document that describes an array; `None` when it has errors, which forbid to
    /// change it.
    pub(crate) fn new(contents: &'a Contents, described: &Described<'a>) -> Option<Self> {
        if described.facts.findings().iter().any(Finding::is_error) {
            return None;
        }
        let parsed = ndl::parse(described.facts.text().as_bytes());
        Some(Self {
            contents,
            member: described.member,
            text: described.facts.text(),
            source: parsed.source,
            wanted: parsed.document?,
            edits: Vec::new(),
            doubts_order: true,
        })
    }

    /// Takes new dims for what they say, even when they are the old shape in the other order.
    pub(crate) fn of_known_order(self) -> Self {
        Self { doubts_order: false, ..self }
    }

    /// Collects what has to change for one array, or says why nothing may.
    pub(crate) fn add(
        &mut self,
        path: &MemberPath,
        header: &Header,
        encoding: Option<Encoding>,
        described: &Described<'a>,
    ) -> Result<(), Box<Finding>> {
        let mut entity = Editor { update: self, path, header, described, edits: Vec::new() };
        let datatype = entity.datatype();
        let (shape, stored) = match described.entity {
            Entity::Ndarray(ndarray) => entity.shape(ndarray, datatype.as_ref())?,
            Entity::DimCoord(dimcoord) => entity.size(dimcoord.size)?,
        };
        let storage = entity.storage(encoding, &stored);
        let edits = std::mem::take(&mut entity.edits);
        if edits.is_empty() {
            return Ok(());
        }
        self.edits.extend(edits.into_iter().map(|edit| (path.clone(), edit)));
        self.expect(described, datatype, shape, storage);
        Ok(())
    }

    /// Notes what the entity says when it is edited.
    fn expect(
        &mut self,
        described: &Described<'_>,
        datatype: Option<Datatype>,
        shape: Option<Vec<Extent>>,
        storage: Option<Storage>,
    ) {
        let path = entity_path(&described.group.path, described.entity.name());
        let Some((group, nth)) = described.facts.position(&path) else { return };
        let Some(group) = self.wanted.groups.get_mut(group) else { return };
        match described.entity {
            Entity::Ndarray(_) => {
                let Some(ndarray) = group.ndarrays.get_mut(nth) else { return };
                ndarray.datatype = datatype.unwrap_or_else(|| ndarray.datatype.clone());
                ndarray.shape = shape.unwrap_or_else(|| ndarray.shape.clone());
                ndarray.storage = storage.or_else(|| ndarray.storage.take());
            }
            Entity::DimCoord(_) => {
                let Some(dimcoord) = group.dimcoords.get_mut(nth) else { return };
                dimcoord.datatype = datatype.unwrap_or_else(|| dimcoord.datatype.clone());
                if let Some([Extent::Fixed(size)]) = shape.as_deref() {
                    dimcoord.size = Some(*size);
                }
                dimcoord.storage = storage.or_else(|| dimcoord.storage.take());
            }
        }
    }

    /// Makes the edits. The new text must say what the old one says, but for the edits; when it does
    /// not, because an anchor is shared or a comment would go, nothing is changed.
    pub(crate) fn finish(mut self) -> Result<Updated, Box<Finding>> {
        if self.edits.is_empty() {
            return Ok(Updated::default());
        }
        self.edits.sort_by_key(|(_, edit)| edit.span.start);
        self.edits.dedup_by(|(_, later), (_, earlier)| later == earlier);
        let mut text = String::with_capacity(self.text.len().saturating_add(64));
        let mut at = 0;
        for (path, edit) in &self.edits {
            let (Some(kept), Some(removed)) =
                (self.text.get(at..edit.span.start), self.text.get(edit.span.clone()))
            else {
                return Err(self.refusal(path, edit, "two edits are in each other's way"));
            };
            if removed.contains('#') {
                return Err(self.refusal(path, edit, "a comment stands in what would be replaced"));
            }
            text.push_str(kept);
            text.push_str(&edit.text);
            at = edit.span.end;
        }
        text.push_str(self.text.get(at..).unwrap_or_default());
        let parsed = ndl::parse(text.as_bytes());
        let fault = parsed.diagnostics.iter().find(|fault| fault.severity == ndl::Severity::Error);
        if let (Some(fault), Some((path, edit))) = (fault, self.edits.first()) {
            let why =
                format!("the document would break a rule ({}: {})", fault.code, fault.message);
            return Err(self.refusal(path, edit, &why));
        }
        if let (false, Some((path, edit))) =
            (parsed.document.as_ref() == Some(&self.wanted), self.edits.first())
        {
            return Err(self.refusal(path, edit, "more than this array would be described anew"));
        }
        Ok(Updated { text: Some(text), edits: self.edits })
    }

    fn refusal(&self, path: &MemberPath, edit: &Edit, why: &str) -> Box<Finding> {
        let code = if edit.key == "type" { Code::TypeMismatch } else { Code::ShapeMismatch };
        let message = format!("the description of `{path}` cannot be updated safely: {why}");
        let finding = Finding::new(code, message)
            .expected(format!("`{}: {}`", edit.key, edit.text), "another one")
            .hint("change it by hand");
        Box::new(finding.in_member(self.member).at_line(edit.line.into()))
    }
}

/// What has to change in one entity.
struct Editor<'e, 'a> {
    update: &'e Update<'a>,
    path: &'e MemberPath,
    header: &'e Header,
    described: &'e Described<'a>,
    edits: Vec<Edit>,
}

/// A new shape, and the extents that `storage` must have.
type Shaped = (Option<Vec<Extent>>, Vec<u64>);

impl Editor<'_, '_> {
    fn datatype(&mut self) -> Option<Datatype> {
        let datatype = match self.described.entity {
            Entity::Ndarray(ndarray) => &ndarray.datatype,
            Entity::DimCoord(dimcoord) => &dimcoord.datatype,
        };
        let element = self.header.element();
        if !matches!(fit(datatype, element), Fit::Not(_)) {
            return None;
        }
        let new = datatype_of(element);
        self.replace(&[Step::Key("type")], new.to_flow());
        Some(new)
    }

    fn shape(
        &mut self,
        ndarray: &Ndarray,
        new_type: Option<&Datatype>,
    ) -> Result<Shaped, Box<Finding>> {
        let dims = self.header.dims();
        let order = ndarray.order();
        let actual = shape_of(dims, order);
        let is_text = ndarray.datatype == Datatype::String && new_type.is_none();
        if ndarray.shape.is_empty() && ((is_text && dims.len() == 1) || dims == [1]) {
            return Ok((None, Vec::new()));
        }
        let shape = &ndarray.shape;
        if shape.len() != actual.len() {
            if let Some(Extent::Coord(name)) =
                shape.iter().find(|extent| matches!(extent, Extent::Coord(_)))
            {
                let message = format!(
                    "the shape of `{}` names `{name}`, and which of its new dims that is cannot be \
                     told",
                    self.path
                );
                return Err(self.refuse(message, &actual, None));
            }
            let new: Vec<_> = actual.iter().copied().map(Extent::Fixed).collect();
            self.replace_list(&[Step::Key("shape")], &actual);
            return Ok((Some(new), actual));
        }
        let fits = |lengths: &[u64]| {
            shape.iter().zip(lengths).all(|(extent, length)| match extent {
                Extent::Fixed(fixed) => fixed == length,
                _ => true,
            })
        };
        let other = if order == Order::Row { Order::Column } else { Order::Row };
        if self.update.doubts_order && !fits(&actual) && fits(&shape_of(dims, other)) {
            let message = format!(
                "the shape of `{}` is its dims in the other order of dimensions",
                self.path
            );
            return Err(self.refuse(message, &actual, None));
        }
        let mut new = shape.clone();
        for (axis, (extent, length)) in new.iter_mut().zip(&actual).enumerate() {
            match extent {
                Extent::Fixed(fixed) if fixed != length => {
                    self.replace(&[Step::Key("shape"), Step::Index(axis)], length.to_string());
                    *fixed = *length;
                }
                Extent::Coord(name) => {
                    let resolved = self.update.contents.resolve(self.path, self.described, name);
                    let known = match resolved {
                        Resolved::Found { length, .. } => length,
                        Resolved::Nowhere => None,
                    };
                    if known.is_some_and(|known| known != *length) {
                        let known = known.unwrap_or_default();
                        let message = format!(
                            "axis {axis} of `{}` is {length} long, its coordinate `{name}` {known}",
                            self.path
                        );
                        return Err(self.refuse(message, &actual, Some(axis)));
                    }
                }
                _ => {}
            }
        }
        Ok(((new != *shape).then_some(new), actual))
    }

    fn size(&mut self, size: Option<u64>) -> Result<Shaped, Box<Finding>> {
        let dims = self.header.dims();
        match (size, dims) {
            (Some(size), [length]) if size == *length => Ok((None, dims.to_vec())),
            (None, [_]) => Ok((None, dims.to_vec())),
            (Some(_), [length]) if *length > 0 => {
                self.replace(&[Step::Key("size")], length.to_string());
                Ok((Some(vec![Extent::Fixed(*length)]), dims.to_vec()))
            }
            _ => {
                let message = format!("`{}` is no longer a coordinate", self.path);
                Err(self.refuse(message, dims, None))
            }
        }
    }

    /// Edits what is stated under `storage`; what is not stated stays so.
    fn storage(&mut self, encoding: Option<Encoding>, extents: &[u64]) -> Option<Storage> {
        let stated = match self.described.entity {
            Entity::Ndarray(ndarray) => ndarray.storage.as_ref(),
            Entity::DimCoord(dimcoord) => dimcoord.storage.as_ref(),
        };
        let stated = stated?;
        let mut new = stated.clone();
        let at = |key| [Step::Key("storage"), Step::Key(key)];
        if let Some(shape) = stated.shape.as_ref().filter(|shape| **shape != *extents) {
            if shape.len() == extents.len() {
                for (axis, (old, length)) in shape.iter().zip(extents).enumerate() {
                    if old != length {
                        let [storage, key] = at("shape");
                        self.replace(&[storage, key, Step::Index(axis)], length.to_string());
                    }
                }
            } else {
                self.replace_list(&at("shape"), extents);
            }
            new.shape = Some(extents.to_vec());
        }
        if let (Some(size), [length]) = (stated.size, extents)
            && size != *length
        {
            self.replace(&at("size"), length.to_string());
            new.size = Some(*length);
        }
        let is_big = self.header.flags().contains(Flags::BIG_ENDIAN);
        let ordered = self.header.element().elbyte() > 1;
        let endian = if is_big { Endian::Big } else { Endian::Little };
        if stated.endian.is_some_and(|stated| stated != endian) && ordered {
            self.replace(&at("endian"), endian.word().to_owned());
            new.endian = Some(endian);
        }
        let known = !self.header.is_encoded() || encoding.is_some();
        let word = encoding.and_then(filter_word);
        let said: Vec<Option<&str>> = stated.filter.iter().map(Value::as_str).collect();
        let wrong = match word {
            Some(word) => said != [Some(word)],
            None => encoding != Some(Encoding::StrayFlag),
        };
        if known && wrong && !stated.filter.is_empty() {
            self.replace(&at("filter"), word.map_or("[]".to_owned(), |word| format!("[{word}]")));
            new.filter = word.into_iter().map(Value::from).collect();
        }
        (new != *stated).then_some(new)
    }

    /// Replaces the value at a path of the entity.
    fn replace(&mut self, place: &[Step<'_>], text: String) {
        let name = self.described.entity.name();
        let span = self.update.source.entity_span(&self.described.group.path, name, place);
        let Some(span) = span else { return };
        let keys: Vec<_> = place
            .iter()
            .filter_map(|step| match step {
                Step::Key(key) => Some(*key),
                Step::Index(_) => None,
            })
            .collect();
        self.edits.push(Edit {
            span: span.start.offset..span.end.offset,
            line: span.start.line,
            text,
            key: keys.join("."),
        });
    }

    /// Replaces a list of numbers, and keeps it a list of lines when it is one.
    fn replace_list(&mut self, place: &[Step<'_>], extents: &[u64]) {
        let name = self.described.entity.name();
        let span = self.update.source.entity_span(&self.described.group.path, name, place);
        let old = span
            .and_then(|span| self.update.text.get(span.start.offset..span.end.offset))
            .unwrap_or_default();
        let numbers: Vec<_> = extents.iter().map(u64::to_string).collect();
        let is_block = old.starts_with('-') && !extents.is_empty();
        let text = if let (true, Some(span)) = (is_block, span) {
            let line_end = if old.contains("\r\n") { "\r\n" } else { "\n" };
            let indent = usize::try_from(span.start.column).unwrap_or(1).saturating_sub(1);
            let next = format!("{line_end}{}- ", " ".repeat(indent));
            format!("- {}", numbers.join(&next))
        } else {
            format!("[{}]", numbers.join(", "))
        };
        self.replace(place, text);
    }

    fn refuse(&self, message: String, actual: &[u64], axis: Option<usize>) -> Box<Finding> {
        let Described { member, facts, group, entity, .. } = *self.described;
        let shape = [Step::Key("shape"), Step::Index(axis.unwrap_or_default())];
        let place = if axis.is_some() { &shape[..] } else { shape.get(..1).unwrap_or_default() };
        let finding = Finding::new(Code::ShapeMismatch, message)
            .expected(format!("the dims {actual:?} of the header"), "another shape")
            .hint("change the description by hand, and its coordinates if they are wrong")
            .in_member(member);
        let span = self.update.source.entity_span(&group.path, entity.name(), place);
        Box::new(match span {
            Some(span) => finding.at_span(facts.text(), span),
            None => finding,
        })
    }
}
