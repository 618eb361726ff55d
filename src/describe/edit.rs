//! Edits of attributes and dimension names in descriptions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::place::{NewText, PackTexts, write_texts};
use super::update::with_pack_document;
use super::{DescribeOptions, UpdateReport};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, count_errors};
use crate::ndl::{self, Attribute, Datatype, Document, Group, Ndarray, Order, Value};
use crate::pack::{
    self, ARRAY_EXTENSION, ArrayFacts, Contents, Described, DescriptionFacts, NamedShape,
    PACK_DOCUMENT, shape_of,
};
use crate::path::{MemberPath, escape};
use crate::ra::ElementType;
use crate::read::single_file::{self, SingleFile};
use crate::write::writer::set_attribute;

/// Attributes and dimension names for arrays, and attributes for the pack.
///
/// ```
/// use ra_pack::describe::{DescribeOptions, MetadataEdits, edit_descriptions};
/// use ra_pack::{RawArray, describe};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// RawArray::from(vec![9.5_f32, 9.4]).write(directory.join("temperature.ra"))?;
/// let mut edits = MetadataEdits::default();
/// edits.set("temperature.units", "degree_Celsius");
/// edits.dims("temperature", ["time"]);
/// edits.set("title", "Mooring 7");
/// let report = edit_descriptions(directory, &edits, &DescribeOptions::default())?;
/// assert_eq!(report.changes.len(), 4); // the length of the dimension `time`, too
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MetadataEdits {
    edits: Vec<Edit>,
}

#[derive(Debug, Clone)]
enum Edit {
    /// An attribute, named `ARRAY.ATTRIBUTE` for an array, or `ATTRIBUTE` for the pack.
    Set {
        key: String,
        value: Value,
    },
    Attribute {
        array: String,
        name: String,
        value: Value,
    },
    Dims {
        array: String,
        names: Vec<String>,
    },
    /// The dimension names of BART, for an array, or for all arrays of its type.
    BartDims {
        array: String,
    },
    /// The line of an array in a table, and its shape there.
    Row {
        array: String,
        line: usize,
        shape: String,
    },
}

impl MetadataEdits {
    /// Sets an attribute: `temperature.units` of an array, or `title` of the pack. If a single array is edited, `units`
    /// is an attribute of that array. The value is a number, a text, or a list of numbers or texts; [`Value::Null`]
    /// removes the attribute.
    ///
    /// Name an array by its path in the pack, such as `run1/temperature`, or by the end of the path if it is unique.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.edits.push(Edit::Set { key: key.into(), value: value.into() });
    }

    /// Names the dimensions of an array, in the order of its description's shape. Each name is that of a coordinate in
    /// the directory of the array or above, or of a dimension without an array. An empty name, or the length of the
    /// dimension, leaves the dimension unchanged. Names may be missing at the end for dimensions of length 1. If a single
    /// array is edited, `array` may be empty.
    pub fn dims(
        &mut self,
        array: impl Into<String>,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) {
        let names = names.into_iter().map(Into::into).collect();
        self.edits.push(Edit::Dims { array: array.into(), names });
    }

    /// Names the dimensions of an array as [BART](https://mrirecon.github.io/bart/) does, in the order of the file:
    /// `read`, `phs1`, `phs2`, `coil`, `maps`, `te`, `coeff`, `coeff2`, `iter`, `cshift`, `time`, `time2`, `level`,
    /// `slice`, `avg`, `batch`. Dimensions of length 1 get no name, because BART uses them for dimensions that an array
    /// does not have.
    ///
    /// If `array` is empty and several arrays are edited, this names the dimensions of all arrays of `complex64`, the
    /// only type of BART. Names of [`dims`](Self::dims) take precedence.
    pub fn bart_dims(&mut self, array: impl Into<String>) {
        self.edits.push(Edit::BartDims { array: array.into() });
    }

    /// Begins a line of a table.
    pub(super) fn row(&mut self, array: &str, line: usize, shape: &str) {
        self.edits.push(Edit::Row { array: array.to_owned(), line, shape: shape.to_owned() });
    }

    /// Sets an attribute of an array.
    pub(super) fn attribute(&mut self, array: &str, name: &str, value: Value) {
        let (array, name) = (array.to_owned(), name.to_owned());
        self.edits.push(Edit::Attribute { array, name, value });
    }
}

/// Applies edits to the descriptions of a directory or an archive, or to that of one array. Arrays without a description
/// get one. Attributes of the pack are written to its `manifest.yaml`. An archive is updated as by
/// [`PackWriter::update`](crate::PackWriter::update).
///
/// The rest of a description does not change, including comments and whitespace. Nothing is written unless all edits
/// are possible and cause no new errors in the descriptions.
///
/// # Errors
///
/// [`Error::NoSuchMember`] if an array does not exist; [`Error::Mismatch`] if dimension names do not fit the shape;
/// [`Error::Refused`] if a document cannot be edited safely, or for an archive that is not valid; [`Error::Io`] for
/// system errors.
pub fn edit_descriptions(
    target: impl AsRef<Path>,
    edits: &MetadataEdits,
    options: &DescribeOptions,
) -> Result<UpdateReport> {
    let mut place = EditedDescriptions::open(target.as_ref(), options)?;
    let wanted = place.resolve(edits)?;
    place.describe_missing(&wanted, options)?;
    let mut editing = Editing::new(&place, &wanted);
    for (path, edit) in &wanted.arrays {
        editing.edit(path, edit)?;
    }
    editing.set_attributes(&wanted.pack)?;
    editing.finish(options)
}

/// The requested edits by array.
#[derive(Default)]
struct Wanted {
    arrays: BTreeMap<MemberPath, ArrayEdit>,
    pack: Vec<(String, Value)>,
}

#[derive(Default)]
struct ArrayEdit {
    attributes: Vec<(String, Value)>,
    dims: Option<DimensionNames>,
    /// The line of the table that edits the array, and its shape there.
    row: Option<(usize, String)>,
}

enum DimensionNames {
    /// Names in the order of the shape.
    Given(Vec<String>),
    Bart,
}

/// Attributes that a pack does not have.
const OF_ARRAYS: [&str; 3] = ["units", "long_name", "standard_name"];

/// The names of `enum mri_dims` of BART, `READ_DIM` to `BATCH_DIM`.
const BART_DIMENSIONS: [&str; 16] = [
    "read", "phs1", "phs2", "coil", "maps", "te", "coeff", "coeff2", "iter", "cshift", "time",
    "time2", "level", "slice", "avg", "batch",
];

impl DimensionNames {
    /// Returns the names in the order of the shape, for [`Contents::named_shape`].
    fn in_order(&self, dims: &[u64], order: Order) -> Vec<String> {
        let Self::Given(names) = self else {
            let name = |(axis, length): (usize, &u64)| match BART_DIMENSIONS.get(axis) {
                Some(name) if *length != 1 => (*name).to_owned(),
                _ => String::new(),
            };
            let names = dims.iter().enumerate().map(name);
            return if order == Order::Row { names.rev().collect() } else { names.collect() };
        };
        names.clone()
    }
}

/// The descriptions that can be edited.
pub(super) struct EditedDescriptions {
    target: PathBuf,
    root: PathBuf,
    pub(super) contents: Contents,
    /// The only array, if a single one is edited.
    subject: Option<MemberPath>,
    is_archive: bool,
    /// Documents to create.
    made: BTreeSet<MemberPath>,
    findings: Vec<Finding>,
}

impl EditedDescriptions {
    pub(super) fn open(target: &Path, options: &DescribeOptions) -> Result<Self> {
        let (target, made) = (target.to_owned(), BTreeSet::new());
        if let Some(pack) = PackTexts::read(&target, options)? {
            let PackTexts { contents, findings, is_archive } = pack;
            let (root, subject) = (target.clone(), None);
            return Ok(Self { target, root, contents, subject, is_archive, made, findings });
        }
        let single_file = single_file::gather(&target, None)?;
        if single_file.unattached.is_some() {
            return Err(single_file::not_an_array(&target));
        }
        let is_pack = single_file.is_pack_document();
        let SingleFile { root, subject, contents, .. } = single_file;
        let array = format!("{}.{ARRAY_EXTENSION}", subject.without_extension());
        let subject = contents.arrays.get_key_value(&*array).map(|(path, _)| path.clone());
        if subject.is_none() && !is_pack {
            return Err(Error::wrong_target(
                target,
                format!("does not describe an array: `{array}` does not exist"),
            ));
        }
        let (is_archive, findings) = (false, Vec::new());
        Ok(Self { target, root, contents, subject, is_archive, made, findings })
    }

    /// Finds an array by its name. The extension and, if the name is unique, the directories may be missing.
    fn array(&self, name: &str) -> Result<&MemberPath> {
        self.find(name).ok_or_else(|| {
            let arrays = || self.contents.arrays.keys();
            let last = name.rsplit('/').next().unwrap_or(name);
            let near = ndl::nearest(last, arrays().map(MemberPath::stem));
            let near = arrays().find(|path| near == Some(path.stem()));
            let suggestion = near.map(|near| near.without_extension().to_owned());
            let (archive, member) = (self.target.clone(), name.to_owned());
            Error::NoSuchMember { archive, member, suggestion }
        })
    }

    fn find(&self, name: &str) -> Option<&MemberPath> {
        let is_subject =
            |path: &&MemberPath| name.is_empty() || name.rsplit('/').next() == Some(path.stem());
        if let Some(subject) = self.subject.as_ref().filter(is_subject) {
            return Some(subject);
        }
        let arrays = &self.contents.arrays;
        let file = format!("{name}.{ARRAY_EXTENSION}");
        let exact = arrays.get_key_value(name).or_else(|| arrays.get_key_value(&*file));
        if let Some((path, _)) = exact {
            return Some(path);
        }
        let ends = |path: &&MemberPath| {
            let before =
                |end: &str| path.as_str().strip_suffix(end).is_some_and(|rest| rest.ends_with('/'));
            before(name) || before(&file)
        };
        let mut found = arrays.keys().filter(ends);
        found.next().filter(|_| found.next().is_none())
    }

    fn resolve(&self, edits: &MetadataEdits) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        for edit in &edits.edits {
            let (array, name, value) = match edit {
                Edit::Dims { array, names } => {
                    let edit = wanted.arrays.entry(self.array(array)?.clone()).or_default();
                    edit.dims = Some(DimensionNames::Given(names.clone()));
                    continue;
                }
                Edit::BartDims { array } => {
                    let of_bart = |(path, facts): (&MemberPath, &Arc<ArrayFacts>)| {
                        let header = facts.header.as_ref().ok()?;
                        (header.element() == ElementType::COMPLEX64).then(|| path.clone())
                    };
                    let paths: Vec<_> = if array.is_empty() && self.subject.is_none() {
                        self.contents.arrays.iter().filter_map(of_bart).collect()
                    } else {
                        vec![self.array(array)?.clone()]
                    };
                    for path in paths {
                        let edit = wanted.arrays.entry(path).or_default();
                        edit.dims.get_or_insert(DimensionNames::Bart);
                    }
                    continue;
                }
                Edit::Row { array, line, shape } => {
                    let path = self.array(array)?;
                    let edit = wanted.arrays.entry(path.clone()).or_default();
                    if let Some((first, _)) = edit.row.replace((*line, shape.clone())) {
                        let why =
                            format!("the array `{path}` has two lines; the first is line {first}");
                        return Err(wrong_line(*line, why));
                    }
                    continue;
                }
                Edit::Attribute { array, name, value } => {
                    (self.array(array)?, name.as_str(), value)
                }
                Edit::Set { key, value } => {
                    let mut parts = key.rmatch_indices('.').map(|(at, _)| key.split_at(at));
                    let of_array = parts.find_map(|(array, name)| {
                        let name = name.strip_prefix('.').filter(|name| !name.is_empty())?;
                        Some((self.find(array)?, name))
                    });
                    match (of_array, &self.subject, key.rsplit_once('.')) {
                        (Some((array, name)), ..) => (array, name, value),
                        (None, Some(array), _) => (array, key.as_str(), value),
                        (None, None, Some((array, name))) => (self.array(array)?, name, value),
                        (None, None, None) if OF_ARRAYS.contains(&&**key) => {
                            let any = self.contents.arrays.keys().next();
                            let name = any.map_or("NAME", MemberPath::without_extension);
                            let why =
                                format!("has no `{key}`; name an array, as in `{name}.{key}`");
                            return Err(Error::wrong_target(&self.target, why));
                        }
                        (None, None, None) => {
                            wanted.pack.push((key.clone(), value.clone()));
                            continue;
                        }
                    }
                }
            };
            let edit = wanted.arrays.entry(array.clone()).or_default();
            edit.attributes.push((name.to_owned(), value.clone()));
        }
        Ok(wanted)
    }

    /// Adds descriptions for the arrays to edit that have none.
    fn describe_missing(&mut self, wanted: &Wanted, options: &DescribeOptions) -> Result<()> {
        for path in wanted.arrays.keys() {
            if let Some(facts) = self.contents.arrays.get(path)
                && let Err(source) = &facts.header
            {
                let name = self.root.join(path.as_str()).to_string_lossy().into_owned();
                return Err(Error::array(name, (**source).clone()));
            }
        }
        self.describe(options, |array| wanted.arrays.contains_key(array))
    }

    /// Adds descriptions for arrays that have none and are chosen by their names.
    pub(super) fn describe(
        &mut self,
        options: &DescribeOptions,
        is_chosen: impl Fn(&str) -> bool,
    ) -> Result<()> {
        for (document, text) in pack::describe_missing(&self.contents, options.dimcoords)? {
            if is_chosen(&format!("{}.{ARRAY_EXTENSION}", document.without_extension())) {
                let facts = DescriptionFacts::parse(document.as_str(), text);
                self.contents.descriptions.insert(document.clone(), Arc::new(facts));
                self.made.insert(document);
            }
        }
        Ok(())
    }

    /// Returns the path of a document next to the target, in the style of the target.
    fn path(&self, member: &str) -> PathBuf {
        let directory =
            |member: &str| member.rsplit_once('/').map(|(directory, _)| directory.to_owned());
        match &self.subject {
            Some(subject) if directory(subject.as_str()) == directory(member) => {
                self.target.with_file_name(member.rsplit('/').next().unwrap_or(member))
            }
            _ => self.root.join(member),
        }
    }

    fn new_text(&self, member: &str, old: Option<String>, text: String) -> NewText {
        NewText { member: member.to_owned(), document: self.path(member), old, text }
    }

    fn refused(&self, mut findings: Vec<Finding>) -> Error {
        finding::cut(&mut findings);
        Error::Refused { path: self.target.clone(), findings }
    }
}

/// Documents that are being edited.
struct Editing<'p> {
    place: &'p EditedDescriptions,
    /// Lengths of coordinates by path, without those that only arrays use whose dimensions get names.
    lengths: BTreeMap<String, u64>,
    drafts: BTreeMap<&'p str, Draft<'p>>,
    /// Attributes for a description of the pack that does not exist yet.
    new: Option<Group>,
    findings: Vec<Finding>,
}

/// A document, and its intended content.
struct Draft<'p> {
    facts: &'p DescriptionFacts,
    wanted: Document,
    arrays: Vec<(&'p MemberPath, Described<'p>)>,
    /// Whether attributes of the pack are edited.
    is_of_all: bool,
}

impl<'p> Editing<'p> {
    fn new(place: &'p EditedDescriptions, wanted: &Wanted) -> Self {
        let mut others = place.contents.clone();
        let is_kept =
            |path: &MemberPath| wanted.arrays.get(path).is_none_or(|it| it.dims.is_none());
        others.arrays.retain(|path, _| is_kept(path));
        let lengths = others.coordinates().into_iter().filter_map(|it| Some((it.name, it.length?)));
        let (drafts, findings) = <_>::default();
        Self { place, lengths: lengths.collect(), drafts, new: None, findings }
    }

    fn draft(&mut self, member: &'p str, facts: &'p DescriptionFacts) -> Result<&mut Draft<'p>> {
        let wanted = facts.document().filter(|_| !facts.has_errors());
        let wanted = wanted.ok_or_else(|| self.place.refused(facts.findings(member)))?;
        let new = || Draft { facts, wanted: wanted.clone(), arrays: Vec::new(), is_of_all: false };
        Ok(self.drafts.entry(member).or_insert_with(new))
    }

    fn edit(&mut self, path: &MemberPath, edit: &ArrayEdit) -> Result<()> {
        let contents = &self.place.contents;
        let Some((path, facts)) = contents.arrays.get_key_value(path) else { return Ok(()) };
        let Ok(header) = &facts.header else { return Ok(()) };
        let mut findings = Vec::new();
        let described = contents.description(path, &mut findings);
        if count_errors(&findings) > 0 {
            return Err(self.place.refused(findings));
        }
        for described in with_pack_document(contents, path, described) {
            let mut array = described.entity.array().clone();
            if let Some((line, shape)) = &edit.row {
                let lengths = shape_of(header.dims(), described.order());
                let lengths: Vec<_> = lengths.iter().map(u64::to_string).collect();
                let found = shape.split(|letter: char| !letter.is_ascii_digit());
                if !shape.is_empty() && !found.filter(|number| !number.is_empty()).eq(&lengths) {
                    let (lengths, found) = (lengths.join("x"), escape(shape));
                    let why =
                        format!("expected `{lengths}`, the shape of `{path}`, found `{found}`");
                    return Err(wrong_line(*line, why));
                }
            }
            for (name, value) in &edit.attributes {
                set(&mut array, name, value)?;
            }
            let mut new = Vec::new();
            if let Some(names) = &edit.dims {
                let given = names.in_order(header.dims(), described.order());
                let known = &mut self.lengths;
                let named = contents.named_shape(path, header, &described, &given, known);
                let named = named.map_err(|why| Error::mismatch(path.as_str(), why))?;
                let NamedShape { shape, new: dimensions, findings } = named;
                (array.shape, new) = (shape, dimensions);
                self.findings.extend(findings);
            }
            let draft = self.draft(described.member, described.facts)?;
            described.change(&mut draft.wanted, array, &[]);
            draft.arrays.push((path, described));
            let group = draft.wanted.groups.iter_mut().find(|it| it.path == described.group.path);
            let group = group.expect("the group contains the array");
            for (name, length) in new {
                if group.dimcoords.iter().all(|known| known.name != name) {
                    group.dimcoords.push(pack::dimension(&name, length));
                }
            }
        }
        Ok(())
    }

    /// Sets attributes of the pack.
    fn set_attributes(&mut self, attributes: &[(String, Value)]) -> Result<()> {
        if attributes.is_empty() {
            return Ok(());
        }
        let contents = &self.place.contents;
        let Some(facts) = &contents.pack_document else {
            let mut root = Group::new("/");
            for (name, value) in attributes {
                put(&mut root.attributes, name, value)?;
            }
            self.new = Some(root);
            return Ok(());
        };
        let draft = self.draft(PACK_DOCUMENT, facts)?;
        draft.is_of_all = true;
        let groups = &mut draft.wanted.groups;
        let at = groups.iter().position(|group| group.path == "/").unwrap_or_else(|| {
            groups.push(Group::new("/"));
            groups.len() - 1
        });
        let root = groups.get_mut(at).expect("the group was found or added");
        attributes.iter().try_for_each(|(name, value)| put(&mut root.attributes, name, value))
    }

    /// Makes the texts, checks all of them together, and writes them.
    fn finish(self, options: &DescribeOptions) -> Result<UpdateReport> {
        let Self { place, drafts, new, findings, .. } = self;
        let mut report = UpdateReport { target: place.target.clone(), ..UpdateReport::default() };
        report.findings = place.findings.iter().cloned().chain(findings).collect();
        let (mut texts, mut refused) = (Vec::new(), Vec::new());
        for (member, draft) in drafts {
            let Draft { facts, wanted, arrays, is_of_all } = draft;
            let is_made = place.made.contains(member);
            match ndl::revise(facts.text(), &wanted) {
                Ok(revision) if revision.changes.is_empty() && !is_made => report.unchanged += 1,
                Ok(revision) => {
                    let text =
                        if is_of_all { pack::as_stated(revision.text) } else { revision.text };
                    report.add(&place.path(member), revision.changes, &arrays);
                    let old = Some(facts.text().to_owned()).filter(|_| !is_made);
                    texts.push(place.new_text(member, old, text));
                }
                Err(refusal) => refused.push(unsafe_change(member, refusal)),
            }
        }
        if let Some(root) = new {
            let document = place.root.join(PACK_DOCUMENT);
            let (none, groups) = (pack::attributes_document(vec![Group::new("/")]), vec![root]);
            let wanted = Document { groups: groups.clone(), ..Document::grouped() };
            match ndl::revise(&none, &wanted) {
                Ok(revision) => report.add(&document, revision.changes, &[]),
                Err(refusal) => refused.push(unsafe_change(PACK_DOCUMENT, refusal)),
            }
            texts.push(place.new_text(PACK_DOCUMENT, None, pack::attributes_document(groups)));
        }
        let after = place.contents_with(&texts);
        refused.extend(place.new_errors(&after));
        // Warns about mistakes such as unknown units at once.
        let changed: BTreeSet<&str> = texts.iter().map(|text| &*text.member).collect();
        report.findings.extend(after.metadata_findings(false).into_iter().filter(|finding| {
            matches!(finding.code, Code::UnknownUnits | Code::OutsideType)
                && finding.member.as_deref().is_some_and(|member| changed.contains(member))
        }));
        if !refused.is_empty() {
            return Err(place.refused(refused));
        }
        let archive = place.is_archive.then_some(&*place.target);
        report.findings.extend(write_texts(archive, &texts, options)?);
        let new = texts.into_iter().filter(|text| text.old.is_none());
        report.written = new.map(|text| text.document).collect();
        Ok(report)
    }
}

impl EditedDescriptions {
    /// Returns the contents of the pack with the new texts.
    fn contents_with(&self, texts: &[NewText]) -> Contents {
        let mut contents = self.contents.clone();
        for NewText { member, text, .. } in texts {
            let facts = DescriptionFacts::parse(member, text.as_bytes());
            if member == PACK_DOCUMENT {
                contents.pack_document = Some(facts.into());
            } else if let Some(old) = contents.descriptions.get_mut(&**member) {
                *old = Arc::new(facts);
            }
        }
        contents
    }

    /// Returns the errors that the edits cause.
    fn new_errors(&self, contents: &Contents) -> Vec<Finding> {
        let key = |finding: &Finding| {
            (finding.code.id(), finding.member.clone(), finding.message.clone())
        };
        let before: BTreeSet<_> = self.contents.findings().iter().map(key).collect();
        let mut after = contents.findings();
        after.retain(|finding| finding.is_error() && !before.contains(&key(finding)));
        after
    }
}

/// Makes the error for a line of a table.
pub(super) fn wrong_line(line: usize, why: impl Display) -> Error {
    Error::options(format!("line {line} of the table: {why}"))
}

/// Makes the finding about a document that cannot be edited.
fn unsafe_change(member: &str, refusal: ndl::Refusal) -> Finding {
    let message = format!("the document cannot be edited safely: {}", refusal.why);
    let finding = Finding::new(Code::LooseDescription, message).in_member(member);
    let finding = Finding { severity: finding::Severity::Error, ..finding };
    let Some(change) = refusal.change else { return finding.hint("edit it by hand") };
    let key = change.path.last().map_or("", String::as_str);
    let to = change.to.unwrap_or_default();
    finding.at_line(change.line as u64).hint(format!("edit it by hand: `{key}: {to}`"))
}

/// Sets an attribute of an array. An attribute with an explicit type keeps it.
fn set(array: &mut Ndarray, name: &str, value: &Value) -> Result<()> {
    let typed = array.attributes.iter_mut().find(|known| known.name == name && !known.short);
    if let Some(known) = typed
        && known.shape.is_empty()
        && Datatype::of_scalar(value).is_some_and(|datatype| {
            (datatype == Datatype::String) == (known.datatype == Datatype::String)
        })
    {
        known.value = value.clone();
        return Ok(());
    }
    put(&mut array.attributes, name, value)
}

/// Sets or removes an attribute.
fn put(attributes: &mut Vec<Attribute>, name: &str, value: &Value) -> Result<()> {
    if matches!(value, Value::Null) {
        attributes.retain(|known| known.name != name);
        return Ok(());
    }
    set_attribute(attributes, name, value.clone())
}
