//! Outputs for arrays: a RawArray file with its description, or a directory of them.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::data::Arranged;
use super::destination::Destination;
use super::format::ArrayFormat;
use super::item::ArrayItem;
use super::options::ConvertOptions;
use super::plan::PlannedArray;
use super::rawarray::is_in_the_way;
use super::single::write_file;
use super::source::OtherFile;
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs::{self, File, PendingDirectory, PendingFile, Turn};
use crate::message::listed;
use crate::ndl::{Datatype, Document, MAX_TEXT, Revision, ValueChange};
use crate::pack::{
    self, ARRAY_EXTENSION, ArrayFacts, Content, Contents, DESCRIPTION_EXTENSIONS, DescribedArray,
    DescriptionFacts,
};
use crate::path::{MemberPath, escape_path};
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::Header;
use crate::read::single_file::{self, SingleFile};
use crate::write::survey::survey;

pub(super) type ArraySink<'o> = Box<dyn WriteArrays + 'o>;

/// An output for arrays. It appears under its name when it is complete.
pub(super) trait WriteArrays {
    /// Prepares for all arrays that will be written.
    fn announce(&mut self, _planned: &[PlannedArray]) -> Result<()> {
        Ok(())
    }

    /// Writes one array, and returns the facts that the output cannot express, one sentence each.
    fn array(&mut self, name: &str, item: &ArrayItem, data: Arranged<'_>) -> Result<Vec<String>>;

    /// Writes an array whose elements are all in its description.
    fn inline(&mut self, _name: &str, item: &ArrayItem) -> Result<()> {
        item.to_variable().map(drop)
    }

    /// Writes a file that is not an array, if the format has room for it.
    fn other(&mut self, _other: &OtherFile) -> Result<()> {
        Ok(())
    }

    /// Renames all files, and returns their size in bytes.
    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64>;
}

/// Syncs and renames a file, and returns its size in bytes.
pub(super) fn settle(file: PendingFile) -> Result<u64> {
    let bytes = file.file().len()?;
    file.complete()?;
    Ok(bytes)
}

/// The file for the description of an array, next to it.
#[derive(Debug)]
struct DescriptionPlace {
    path: PathBuf,
    /// Whether the description replaces an existing one.
    is_replaced: bool,
}

impl DescriptionPlace {
    /// Returns the file for the description of the array at `target`. An array must not have two descriptions.
    fn of(target: &Path, force: bool) -> Result<Self> {
        let [first, second] = DESCRIPTION_EXTENSIONS.map(|end| target.with_extension(end));
        let path = match [&first, &second].map(|path| fs::exists(path)) {
            [true, false] if !force => return Err(Error::AlreadyExists { path: first }),
            [_, false] => first,
            _ if !force => return Err(Error::AlreadyExists { path: second }),
            [false, true] => second,
            [true, true] => {
                return Err(Error::wrong_target(
                    first,
                    format!(
                        "and `{}` both describe the array to replace; delete one of them",
                        escape_path(&second)
                    ),
                ));
            }
        };
        let is_replaced = fs::exists(&path);
        Ok(Self { path, is_replaced })
    }

    /// Keeps the text of an older description in a file of its own, and returns the name of that.
    fn keep_old(&self, text: &[u8]) -> Result<String> {
        let mut nth = 1;
        loop {
            let mut backup = self.path.as_os_str().to_owned();
            backup.push(if nth == 1 { ".old".to_owned() } else { format!(".old{nth}") });
            let backup = Path::new(&backup);
            if !fs::exists(backup) {
                fs::write_new(backup, false, |out| out.write_all(text))?;
            } else if fs::read_limited(backup, MAX_TEXT as u64).ok().as_deref() != Some(text) {
                nth += 1;
                continue;
            }
            return Ok(file_name(backup));
        }
    }

    /// Returns the description to write for an array, and a sentence about an older one. The older one stays as it is,
    /// apart from what the new array changes. `new` are arrays that are written, too, below the directory `root`.
    fn text(
        &self,
        item: &ArrayItem,
        (root, new): (Option<&Path>, &[NewArray]),
    ) -> Result<(String, Option<String>)> {
        if !self.is_replaced {
            return Ok((description(item)?, None));
        }
        let name = file_name(&self.path);
        if item.stated.is_some() {
            let (old, new) = (fs::read_limited(&self.path, MAX_TEXT as u64)?, description(item)?);
            let kept = (old != new.as_bytes()).then(|| self.keep_old(&old)).transpose()?;
            let says = |kept| {
                format!("`{name}` was replaced by that of the source; the old one is `{kept}`")
            };
            return Ok((new, kept.map(says)));
        }
        let SingleFile { root, subject, mut contents, .. } = single_file::gather(&self.path, root)?;
        let path = MemberPath::new(format!("{}.{ARRAY_EXTENSION}", subject.without_extension()))?;
        for (path, facts) in new {
            contents.add(path.clone(), Content::Array(Arc::clone(facts)));
        }
        let facts = facts_of(item)?;
        let header = facts.header.as_ref().expect("the header was made").clone();
        contents.add(path.clone(), Content::Array(facts));
        let refused = |findings| Error::Refused { path: root.clone(), findings };
        let mut findings = Vec::new();
        let Some(described) = contents.description(&path, &mut findings) else {
            let why = "would be replaced, but it does not describe the array; move it elsewhere";
            let unsupported = || Error::wrong_target(&self.path, why);
            return Err(if findings.is_empty() { unsupported() } else { refused(findings) });
        };
        let known = Some(&item.description);
        let array = DescribedArray {
            path: &path,
            header: &header,
            encoding: None,
            described,
            known,
            shared: &item.shared,
        };
        let revision = pack::update(&contents, &[array]).map_err(refused)?;
        let (text, note) = match revision {
            None => {
                let note = format!("`{name}` is kept: it still describes the array");
                (described.facts.text().to_owned(), note)
            }
            Some(Revision { text, changes }) => {
                // With another type, the names of values or fields are lost.
                let old_type = &described.entity.array().datatype;
                let has_names = matches!(old_type, Datatype::Enum { .. } | Datatype::Compound(_));
                let is_lost = |change: &ValueChange| match change.key().first().map(|key| &**key) {
                    Some("attributes") => change.from.is_some(),
                    Some("type") => has_names,
                    _ => false,
                };
                let mut old = String::new();
                if changes.iter().any(is_lost) {
                    let kept = self.keep_old(described.facts.text().as_bytes())?;
                    old = format!("; the old one is `{kept}`");
                }
                let keys = |is_wanted: fn(&ValueChange) -> bool| -> BTreeSet<_> {
                    let wanted = changes.iter().filter(|change| is_wanted(change));
                    wanted.map(|change| change.key().join(".")).collect()
                };
                let other = listed(keys(|change| change.to.is_some()), usize::MAX);
                let removed = listed(keys(|change| change.to.is_none()), usize::MAX);
                let removed = Some(format!(", without {removed}")).filter(|_| !removed.is_empty());
                let removed = removed.unwrap_or_default();
                (text, format!("`{name}` is kept with another {other}{removed}{old}"))
            }
        };
        let new = DescriptionFacts::parse(subject.as_str(), text.as_bytes());
        contents.add(subject.clone(), Content::Description(Arc::new(new)));
        let mut findings = contents.findings();
        findings.retain(|finding| {
            let member = finding.member.as_deref();
            is_in_the_way(finding)
                && (member == Some(path.as_str()) || member == Some(subject.as_str()))
        });
        if findings.is_empty() { Ok((text, Some(note))) } else { Err(refused(findings)) }
    }
}

/// Returns the name of a file for messages about its directory.
fn file_name(path: &Path) -> String {
    escape_path(path.file_name().unwrap_or_default().as_ref()).to_string()
}

/// An array that is written, by its name.
type NewArray = (MemberPath, Arc<ArrayFacts>);

/// Returns whether the array at `target` has another shape than the one that replaces it.
fn is_reshaped(target: &Path, item: &ArrayItem) -> Result<bool> {
    if !fs::exists(target) {
        return Ok(false);
    }
    let old = Header::read(&mut File::open(target)?);
    let new = item.to_variable()?.header;
    Ok(old.is_ok_and(|old| old.dims() != new.dims()))
}

fn described(path: MemberPath, text: &str) -> (MemberPath, Content) {
    let facts = DescriptionFacts::parse(path.as_str(), text);
    (path, Content::Description(Arc::new(facts)))
}

/// Rejects new arrays and descriptions with which others below the directory `root` no longer agree.
fn check_others(
    root: &Path,
    new: impl Iterator<Item = (MemberPath, Content)>,
    options: &ConvertOptions,
) -> Result<()> {
    let jobs = pipeline::jobs(options.jobs);
    let mut contents = survey(root, jobs, &options.progress.silent())?.contents;
    let problems = |contents: &Contents| -> Vec<Finding> {
        contents.findings().into_iter().filter(Finding::is_error).collect()
    };
    let key = |it: &Finding| (it.code.id(), it.member.clone(), it.message.clone());
    let known: HashSet<_> = problems(&contents).iter().map(key).collect();
    new.for_each(|(path, content)| contents.add(path, content));
    let mut findings = problems(&contents);
    findings.retain(|finding| !known.contains(&key(finding)));
    if findings.is_empty() {
        Ok(())
    } else {
        Err(Error::Refused { path: root.to_owned(), findings })
    }
}

fn facts_of(item: &ArrayItem) -> Result<Arc<ArrayFacts>> {
    Ok(Arc::new(ArrayFacts::of_header(item.to_variable()?.header)))
}

/// A RawArray file and its description.
struct FileSink<'o> {
    target: &'o Path,
    options: &'o ConvertOptions,
    array: PendingFile,
    description: PendingFile,
    place: DescriptionPlace,
    bytes: u64,
}

pub(super) fn begin_file<'o>(out: &Destination<'o>) -> Result<ArraySink<'o>> {
    let force = out.options.force;
    let array = PendingFile::create(out.path, force)?;
    let place = DescriptionPlace::of(out.path, force)?;
    let description = PendingFile::create(&place.path, force)?;
    let (target, options) = (out.path, out.options);
    Ok(Box::new(FileSink { target, options, array, description, place, bytes: 0 }))
}

impl WriteArrays for FileSink<'_> {
    fn array(&mut self, _: &str, item: &ArrayItem, data: Arranged<'_>) -> Result<Vec<String>> {
        let (text, replaced) = self.place.text(item, (None, &[]))?;
        if is_reshaped(self.target, item)? {
            let directories = fs::enclosing_directories(self.target)?;
            let root = directories.first().expect("a file is in a directory");
            let name =
                |path: &Path| MemberPath::new(fs::name_below(root, path).unwrap_or_default());
            let array = (name(self.target)?, Content::Array(facts_of(item)?));
            let new = [array, described(name(&self.place.path)?, &text)];
            check_others(root, new.into_iter(), self.options)?;
        }
        let len = write_rawarray(self.array.file(), item, data)?;
        self.description.file().write_all_at(text.as_bytes(), 0)?;
        self.bytes = len + text.len() as u64;
        Ok(replaced.into_iter().collect())
    }

    /// Renames the description first: without an array it is an ordinary file, while an array without its description
    /// may be read in the wrong order.
    fn finish(self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        let Self { array, description, place, bytes, .. } = *self;
        array.sync()?;
        description.sync()?;
        let _turn = Turn::beside(&place.path, &Progress::default())?;
        description.persist()?;
        if let Err(error) = array.persist() {
            if !place.is_replaced {
                fs::remove(&place.path)?;
            }
            return Err(error);
        }
        fs::sync_directory(&place.path)?;
        Ok(bytes)
    }
}

/// A directory that is written.
struct DirectorySink<'o> {
    directory: PendingDirectory,
    /// The directory into which its files are moved, if there is one.
    existing: Option<&'o Path>,
    /// The format of the arrays, if it is not RawArray.
    single: Option<ArrayFormat>,
    options: &'o ConvertOptions,
    /// All arrays that will be written.
    arrays: Vec<NewArray>,
    /// Descriptions that were written.
    descriptions: Vec<(MemberPath, Content)>,
    /// Whether an array replaces one of another shape.
    is_reshaped: bool,
    /// Names of written files in the order of their renaming: an array after its description.
    names: Vec<String>,
    /// Empty directories.
    directories: Vec<String>,
    bytes: u64,
}

pub(super) fn begin_directory<'o>(out: &Destination<'o>) -> Result<ArraySink<'o>> {
    let Destination { path, options, single, .. } = *out;
    let (existing, directory) = if fs::is_directory(path).is_ok_and(|is| is) {
        (Some(path), PendingDirectory::within(path)?)
    } else {
        (None, PendingDirectory::create(path)?)
    };
    let (arrays, descriptions, names, directories) = <_>::default();
    Ok(Box::new(DirectorySink {
        directory,
        existing,
        single,
        options,
        arrays,
        descriptions,
        is_reshaped: false,
        names,
        directories,
        bytes: 0,
    }))
}

impl DirectorySink<'_> {
    /// Writes and syncs a file with `write` and adds the returned length. An incomplete file is deleted.
    fn write(&mut self, name: String, write: impl FnOnce(&File) -> Result<u64>) -> Result<()> {
        let path = MemberPath::new(name.as_str())?;
        let file = self.directory.begin(&path)?;
        let written = write(&file).and_then(|bytes| file.sync().map(|()| bytes));
        match written {
            Ok(bytes) => {
                self.bytes += bytes;
                self.names.push(name);
                Ok(())
            }
            Err(error) => {
                drop(file);
                fs::remove(&self.directory.path().join(name))?;
                Err(error)
            }
        }
    }

    /// Writes the description of an array, unless the description of the pack contains it. Returns a sentence about an
    /// older one.
    fn describe(&mut self, name: &str, item: &ArrayItem) -> Result<Option<String>> {
        if item.is_described_by_pack() {
            return Ok(None);
        }
        let (mut text, mut note) = (None, None);
        let mut file = format!("{name}.{}", DESCRIPTION_EXTENSIONS[0]);
        if let Some(root) = self.existing {
            let target = root.join(format!("{name}.{ARRAY_EXTENSION}"));
            let place = DescriptionPlace::of(&target, self.options.force)?;
            let end = place.path.extension().unwrap_or_default().to_string_lossy();
            file = format!("{name}.{end}");
            let (found, replaced) = place.text(item, (Some(root), &self.arrays))?;
            self.is_reshaped |= is_reshaped(&target, item)?;
            self.descriptions.push(described(MemberPath::new(file.as_str())?, &found));
            (text, note) = (Some(found), replaced);
        }
        let text = text.map_or_else(|| description(item), Ok)?;
        self.write(file, |file| {
            file.write_all_at(text.as_bytes(), 0)?;
            Ok(text.len() as u64)
        })?;
        Ok(note)
    }
}

impl WriteArrays for DirectorySink<'_> {
    fn announce(&mut self, planned: &[PlannedArray]) -> Result<()> {
        for PlannedArray { name, item, .. } in planned.iter().filter(|it| it.item.header.is_some())
        {
            let path = MemberPath::new(format!("{name}.{ARRAY_EXTENSION}"))?;
            self.arrays.push((path, facts_of(item)?));
        }
        Ok(())
    }

    fn array(&mut self, name: &str, item: &ArrayItem, data: Arranged<'_>) -> Result<Vec<String>> {
        if let Some(single) = self.single {
            let (options, mut losses) = (self.options, Vec::new());
            self.write(format!("{name}.{single}"), |file| {
                losses = write_file(single, item, data, file, options)?;
                file.len()
            })?;
            return Ok(losses);
        }
        let (before, bytes) = (self.names.len(), self.bytes);
        let note = self.describe(name, item)?;
        let file = format!("{name}.{ARRAY_EXTENSION}");
        if let Err(error) = self.write(file, |file| write_rawarray(file, item, data)) {
            // Its description has no array any more.
            for name in self.names.drain(before..) {
                fs::remove(&self.directory.path().join(name))?;
            }
            self.bytes = bytes;
            return Err(error);
        }
        Ok(note.into_iter().collect())
    }

    fn inline(&mut self, name: &str, item: &ArrayItem) -> Result<()> {
        if self.single.is_some() { Ok(()) } else { self.describe(name, item).map(drop) }
    }

    fn other(&mut self, other: &OtherFile) -> Result<()> {
        let name = other.name.clone();
        match &other.copy {
            Some(copy) => self.write(name, |file| copy(&mut { file })),
            None => {
                self.directory.make_directory(&MemberPath::new(name.as_str())?)?;
                self.directories.push(name);
                Ok(())
            }
        }
    }

    fn finish(self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        let Self { directory, existing, options, arrays, descriptions, .. } = *self;
        let Some(path) = existing else {
            directory.persist()?;
            return Ok(self.bytes);
        };
        if self.is_reshaped {
            let arrays = arrays.into_iter().map(|(path, it)| (path, Content::Array(it)));
            check_others(path, arrays.chain(descriptions), options)?;
        }
        let _turn = Turn::take(path, false, &options.progress)?;
        directory.move_into(&self.names, &self.directories, options.force)?;
        Ok(self.bytes)
    }
}

/// Writes a RawArray file, and returns its size in bytes.
fn write_rawarray(file: &File, item: &ArrayItem, data: Arranged<'_>) -> Result<u64> {
    let header = item.to_variable()?.header;
    file.write_all_at(&header.encode(), 0)?;
    data.write_at(file, header.header_len())
}

/// Returns the description of an array: that of the source if it is still correct.
pub(super) fn description(item: &ArrayItem) -> Result<String> {
    if let Some(text) = item.stated.as_ref().and_then(|stated| stated.text.as_ref()) {
        return Ok(text.clone());
    }
    let ndarray = item.description.clone();
    let ndarray = if item.is_coordinate { pack::as_coordinate(ndarray) } else { ndarray };
    let mut document = Document::of(ndarray, item.is_coordinate);
    let root = document.groups.first_mut().expect("a flat document has one group");
    root.attributes.clone_from(&item.shared);
    let dimensions = item.dimensions.iter().filter(|_| !item.is_coordinate);
    root.dimcoords.extend(dimensions.map(|(name, length)| pack::dimension(name, *length)));
    document.to_compared_yaml().map_err(|misread| Error::misread(&item.name, &misread))
}
