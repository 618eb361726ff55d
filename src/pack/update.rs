//! Bringing a description in line with a changed header by editing nothing but the shape, type and
//! storage in its text.

use std::ops::Range;

use super::contents::{Contents, Described};
use super::coordinates::Resolved;
use super::describe::{Fit, datatype_of, filter_word, fit};
use super::shape_of;
use crate::finding::{Code, Finding};
use crate::ndl::{
    self, Datatype, Document, Endian, Entity, Extent, Ndarray, Order, SourceMap, Step, Storage,
    Value, entity_path,
};
use crate::path::MemberPath;
use crate::ra::{Encoding, Flags, Header};

/// One change of a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The bytes of the text that are replaced.
    pub(crate) span: Range<usize>,
    /// The line that they begin on, counted from 1.
    pub(crate) line: usize,
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
        let old = described.entity.array();
        let mut new = old.clone();
        let mut editor = Editor { update: self, path, header, described, edits: Vec::new() };
        if matches!(fit(&old.datatype, header.element()), Fit::Not(_)) {
            new.datatype = datatype_of(header.element());
        }
        let extents = match described.entity {
            Entity::Ndarray(ndarray) => editor.shape(ndarray.order(), &mut new)?,
            Entity::DimCoord(_) => editor.size(&mut new)?,
        };
        new.storage = old.storage.as_ref().map(|stated| editor.storage(encoding, &extents, stated));
        editor.edit(old, &new);
        let edits = std::mem::take(&mut editor.edits);
        if !edits.is_empty() {
            self.edits.extend(edits.into_iter().map(|edit| (path.clone(), edit)));
            self.expect(described, new);
        }
        Ok(())
    }

    /// Notes what the entity says when it is edited.
    fn expect(&mut self, described: &Described<'_>, new: Ndarray) {
        let path = entity_path(&described.group.path, &described.entity.array().name);
        let position = described.facts.index().and_then(|index| index.position(&path));
        let Some((group, nth)) = position else { return };
        let Some(group) = self.wanted.groups.get_mut(group) else { return };
        let arrays = match described.entity {
            Entity::Ndarray(_) => &mut group.ndarrays,
            Entity::DimCoord(_) => &mut group.dimcoords,
        };
        if let Some(array) = arrays.get_mut(nth) {
            *array = new;
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
        let mut text = String::with_capacity(self.text.len() + 64);
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
        let fault = parsed.findings.iter().find(|fault| fault.is_error());
        if let (Some(fault), Some((path, edit))) = (fault, self.edits.first()) {
            let why =
                format!("the document would break a rule ({}: {})", fault.code.id(), fault.message);
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
        Box::new(finding.in_member(self.member).at_line(edit.line as u64))
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

impl Editor<'_, '_> {
    /// Corrects the shape. The answer has the extents that `storage` must have.
    fn shape(&self, order: Order, new: &mut Ndarray) -> Result<Vec<u64>, Box<Finding>> {
        let dims = self.header.dims();
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
                    "the shape of `{}` names `{name}`, and which of its new dims that is cannot be \
                     told",
                    self.path
                );
                return Err(self.refuse(message, &actual, None));
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
        if self.update.doubts_order && !fits(&actual) && fits(&shape_of(dims, other)) {
            let message = format!(
                "the shape of `{}` is its dims in the other order of dimensions",
                self.path
            );
            return Err(self.refuse(message, &actual, None));
        }
        for (axis, (extent, length)) in new.shape.iter_mut().zip(&actual).enumerate() {
            match extent {
                Extent::Fixed(fixed) => *fixed = *length,
                Extent::Unlimited => {}
                Extent::Coord(name) => {
                    let resolved = self.update.contents.resolve(self.path, self.described, name);
                    if let Some(Resolved { length: Some(known), .. }) = resolved
                        && known != *length
                    {
                        let message = format!(
                            "axis {axis} of `{}` is {length} long, its coordinate `{name}` {known}",
                            self.path
                        );
                        return Err(self.refuse(message, &actual, Some(axis)));
                    }
                }
            }
        }
        Ok(actual)
    }

    fn size(&self, new: &mut Ndarray) -> Result<Vec<u64>, Box<Finding>> {
        let dims = self.header.dims();
        match (&mut new.shape[..], dims) {
            ([Extent::Fixed(size)], [length]) if size == length || *length > 0 => *size = *length,
            ([Extent::Unlimited], [_]) => {}
            _ => {
                let message = format!("`{}` is no longer a coordinate", self.path);
                return Err(self.refuse(message, dims, None));
            }
        }
        Ok(dims.to_vec())
    }

    /// What is stated under `storage`, corrected; what is not stated stays so.
    fn storage(&self, encoding: Option<Encoding>, extents: &[u64], stated: &Storage) -> Storage {
        let mut new = stated.clone();
        new.shape = stated.shape.as_ref().map(|_| extents.to_vec());
        let is_big = self.header.flags().contains(Flags::BIG_ENDIAN);
        let is_ordered = self.header.element().elbyte() > 1;
        if let Some(endian) = new.endian.as_mut().filter(|_| is_ordered) {
            *endian = if is_big { Endian::Big } else { Endian::Little };
        }
        let is_known = !self.header.is_encoded() || encoding.is_some();
        let word = encoding.and_then(filter_word);
        if is_known && !stated.filter.is_empty() && encoding != Some(Encoding::StrayFlag) {
            new.filter = word.into_iter().map(Value::from).collect();
        }
        new
    }

    /// Edits what is to change.
    fn edit(&mut self, old: &Ndarray, new: &Ndarray) {
        if old.datatype != new.datatype {
            self.replace(&[Step::Key("type")], new.datatype.to_flow());
        }
        let texts = |shape: &[Extent]| shape.iter().map(text_of).collect::<Vec<_>>();
        let (before, after) = (texts(&old.shape), texts(&new.shape));
        self.replace_shape(&[], &before, &after);
        let (Some(old), Some(new)) = (&old.storage, &new.storage) else { return };
        let at = |key| [Step::Key("storage"), Step::Key(key)];
        if let (Some(old), Some(new)) = (&old.shape, &new.shape) {
            let texts = |list: &[u64]| list.iter().map(u64::to_string).collect::<Vec<_>>();
            self.replace_shape(&[Step::Key("storage")], &texts(old), &texts(new));
        }
        if let Some(endian) = new.endian.filter(|_| old.endian != new.endian) {
            self.replace(&at("endian"), endian.word().to_owned());
        }
        if old.filter != new.filter {
            self.replace(&at("filter"), Value::List(new.filter.clone()).to_line());
        }
    }

    /// Replaces a shape, or the size of a dimcoord.
    fn replace_shape(&mut self, at: &[Step<'_>], old: &[String], new: &[String]) {
        match self.described.entity {
            Entity::Ndarray(_) => {
                self.replace_extents(&[at, &[Step::Key("shape")]].concat(), old, new);
            }
            Entity::DimCoord(_) if old == new => {}
            Entity::DimCoord(_) => self.replace(&[at, &[Step::Key("size")]].concat(), new.concat()),
        }
    }

    /// Replaces the extents that differ, or the whole list when it has another length.
    fn replace_extents(&mut self, place: &[Step<'_>], old: &[String], new: &[String]) {
        if old.len() != new.len() {
            return self.replace_list(place, new);
        }
        for (axis, (_, new)) in old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new)
        {
            self.replace(&[place, &[Step::Index(axis)]].concat(), new.clone());
        }
    }

    /// Replaces the value at a path of the entity.
    fn replace(&mut self, place: &[Step<'_>], text: String) {
        let name = &self.described.entity.array().name;
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
            span: span.start..span.end,
            line: span.line,
            text,
            key: keys.join("."),
        });
    }

    /// Replaces a list of numbers, and keeps it a list of lines when it is one.
    fn replace_list(&mut self, place: &[Step<'_>], numbers: &[String]) {
        let name = &self.described.entity.array().name;
        let span = self.update.source.entity_span(&self.described.group.path, name, place);
        let old =
            span.and_then(|span| self.update.text.get(span.start..span.end)).unwrap_or_default();
        let is_block = old.starts_with('-') && !numbers.is_empty();
        let text = if let (true, Some(span)) = (is_block, span) {
            let line_end = if old.contains("\r\n") { "\r\n" } else { "\n" };
            let indent = span.column - 1;
            let next = format!("{line_end}{}- ", " ".repeat(indent));
            format!("- {}", numbers.join(&next))
        } else {
            format!("[{}]", numbers.join(", "))
        };
        self.replace(place, text);
    }

    fn refuse(&self, message: String, actual: &[u64], axis: Option<usize>) -> Box<Finding> {
        let Described { member, facts, group, entity, .. } = *self.described;
        let mut place = vec![Step::Key("shape")];
        place.extend(axis.map(Step::Index));
        let finding = Finding::new(Code::ShapeMismatch, message)
            .expected(format!("the dims {actual:?} of the header"), "another shape")
            .hint("change the description by hand, and its coordinates if they are wrong")
            .in_member(member);
        let span = self.update.source.entity_span(&group.path, &entity.array().name, &place);
        Box::new(match span {
            Some(span) => finding.at_span(facts.text(), span),
            None => finding,
        })
    }
}

fn text_of(extent: &Extent) -> String {
    match extent {
        Extent::Fixed(length) => length.to_string(),
        Extent::Unlimited => "null".to_owned(),
        Extent::Coord(name) => name.clone(),
    }
}
