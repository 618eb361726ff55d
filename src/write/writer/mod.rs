//! Creation of packs from memory: arrays and files are written one after the other.

mod array;
mod members;
mod staged;
mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use ndarray::{ArrayBase, ArrayViewD, Data, Dimension};

pub use self::array::{ArrayStream, NewArray};
use self::staged::{NamedDimension, StagedMember};
use self::update::OldPack;
use crate::archive::MemberKind;
use crate::error::{Error, Result};
use crate::finding::{Finding, count_errors};
use crate::fs::{self, Below, PendingDirectory};
use crate::inspect::select::Patterns;
use crate::ndl::{Attribute, Document, Form, Group, Value, candidates, split_path};
use crate::pack::{
    self, ARCHIVE_DIGEST_SUFFIX, ARRAY_EXTENSION, EXTERNAL_MANIFEST_SUFFIX, PACK_DOCUMENT, RO_CRATE,
};
use crate::path::{MemberPath, escape};
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{Element, Header};
use crate::write::create::{self, BegunArchive, CreateOptions, CreateReport};
use crate::write::survey::{self, EntrySource};

/// Options for [`PackWriter`]: those of [`create`](crate::create()).
pub type WriteOptions = CreateOptions;

/// A writer of packs. Arrays, files and attributes are added in any order, from memory or from readers.
///
/// The archive has the members and manifests of the one that [`create`](crate::create()) makes from a directory with the
/// same content, and the same checks apply. Until [`finish`](Self::finish), up to 64 MiB of short files are kept in memory.
/// Files of more than 32 KiB are written to the archive at once, in the order of the calls, under a hidden name. If members
/// are compressed, they are staged in a hidden directory next to the archive instead, which needs twice the space on that
/// disk. The archive is then identical to that of `create`. Hidden files are deleted if the writer is dropped, if it fails,
/// or if the process is [terminated](crate::files::remove_unfinished_and_exit).
///
/// If a member is refused, the writer is unchanged and can still be used. If the content of a member fails, or the writer
/// of an array is dropped, the member is incomplete: [`finish`](Self::finish) returns an error until the member is added
/// again or [removed](Self::remove). Also after another error of `finish`, you can add and remove members, and call it
/// again.
///
/// ```
/// use ndarray::array;
/// use ra_pack::{Pack, PackWriter, WriteOptions};
///
/// # let scratch = tempfile::tempdir()?;
/// # let path = scratch.path().join("mooring.zip");
/// let temperature = array![[9.5_f32, 9.1], [9.4, 9.0], [9.6, 9.2]];
///
/// let mut pack = PackWriter::create(&path, WriteOptions::default())?;
/// pack.attribute("title", "Mooring 7, June 2024")?;
/// pack.array("depth", &array![5.0, 20.0]).units("m").write()?;
/// pack.array("temperature", &temperature).dims(["time", "depth"]).units("degree_Celsius").write()?;
/// pack.file("notes.txt", "calibrated in May".as_bytes())?;
/// let report = pack.finish()?;
///
/// assert_eq!(report.arrays, 2);
/// assert_eq!(Pack::open(&path)?.array("temperature.ra")?.read::<f32>()?, temperature.into_dyn());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PackWriter<'w> {
    options: CreateOptions,
    /// Files that [`add`](Self::add) leaves out.
    exclude: Patterns,
    /// The archive, and the members that it has already.
    begun: BegunArchive<'w>,
    /// The directory with other files of the pack.
    staged: PendingDirectory,
    /// The files that were added.
    members: BTreeMap<MemberPath, StagedMember>,
    /// Directories that are added even if they are empty.
    directories: BTreeSet<MemberPath>,
    /// The bytes of files in memory.
    memory: usize,
    /// Attributes of the pack.
    attributes: Vec<Attribute>,
    /// Attributes of groups, by the path of the group.
    group_attributes: BTreeMap<String, Vec<Attribute>>,
    /// Named dimensions, by the group of the array and the name in it.
    dims: BTreeMap<(String, String), NamedDimension>,
    /// Members that failed or are not complete.
    incomplete: BTreeSet<MemberPath>,
    /// The archive that is updated.
    old: Option<OldPack>,
    /// Whether files of that archive may be replaced.
    replaces: bool,
    warnings: Vec<Finding>,
    is_finished: bool,
}

impl fmt::Debug for PackWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackWriter").field("archive", &self.archive()).finish_non_exhaustive()
    }
}

impl PackWriter<'static> {
    /// Begins an archive at the path or URL `archive`, as [`create`](crate::create()) writes it. Its extension determines
    /// the container, unless the options do.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`] if the archive exists and `force` is false; [`Error::Options`] for options that
    /// contradict each other; [`Error::Io`] if the directory cannot be written.
    pub fn create(archive: impl AsRef<Path>, options: WriteOptions) -> Result<Self> {
        Self::with(create::begin(archive.as_ref(), &options)?, options)
    }

    /// Begins a new version of the archive at the path `archive`. You can add members, replace them if the option
    /// `force` is true, and remove them with [`remove`](Self::remove).
    ///
    /// Other members are copied in their compressed form, without decoding or hashing: their digests are copied from
    /// the manifests. Call [`verify`](crate::verify()) first to check them. The members of a compressed tar are
    /// decoded, checked and compressed again. Generated files, such as `manifest.yaml`, are compared with all manifests. The new archive keeps the container, the layout, the algorithms and the
    /// files next to the old one; the options cannot change these. All members get the times of the options. The old
    /// archive exists until the new one replaces it.
    ///
    /// ```
    /// # use ndarray::array;
    /// # use ra_pack::{PackWriter, WriteOptions};
    /// # let scratch = tempfile::tempdir()?;
    /// # let path = scratch.path().join("mooring.zip");
    /// # PackWriter::create(&path, WriteOptions::default())?.finish()?;
    /// let mut pack = PackWriter::update(&path, WriteOptions::default())?;
    /// pack.array("salinity", &array![35.1, 35.2]).dims(["time"]).write()?;
    /// pack.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the archive is not valid; [`Error::WrongTarget`] for a directory, an archive without a
    /// SHA-256 manifest, or one with files that a new archive would not have; [`Error::NotAPack`] for another kind of
    /// file; [`Error::Io`] if it cannot be read. [`PackWriter::finish`] returns [`Error::Damaged`] if the manifest does
    /// not list a member that stays, and [`Error::Changed`] if the archive was changed after this call.
    pub fn update(archive: impl AsRef<Path>, options: WriteOptions) -> Result<Self> {
        let mut options = options;
        if options.journal.is_some() {
            return Err(Error::options("an update cannot have a journal".to_owned()));
        }
        let replaces = std::mem::replace(&mut options.force, true);
        let mut old = OldPack::open(archive.as_ref(), &mut options)?;
        let (attributes, warnings) = (old.attributes(), std::mem::take(&mut old.warnings));
        let groups = std::mem::take(&mut old.group_attributes).into_iter();
        let group_attributes = groups.map(|group| (group.path, group.attributes)).collect();
        let this = Self::create(old.path(), options)?;
        Ok(Self { old: Some(old), attributes, group_attributes, replaces, warnings, ..this })
    }
}

impl<'w> PackWriter<'w> {
    /// Begins an archive that is written to `sink`, such as a `&mut Vec<u8>`. It is a zip unless the options set
    /// another container.
    ///
    /// The archive is created in the system's temporary directory and copied when it is complete. Reports, messages and
    /// the top directory of a bag use the name `pack`. The external manifest is written only to the path in the options.
    ///
    /// # Errors
    ///
    /// As [`PackWriter::create`].
    pub fn new(sink: impl Write + Send + 'w, options: WriteOptions) -> Result<Self> {
        Self::with(BegunArchive::for_writer(sink, &options)?, options)
    }

    fn with(begun: BegunArchive<'w>, mut options: CreateOptions) -> Result<Self> {
        let staged = PendingDirectory::beside(begun.path())?;
        let exclude = std::mem::take(&mut options.exclude);
        // Staged files have no meaningful times.
        options.preserve_mtime = false;
        // Asking the system takes longer than writing a small array.
        options.jobs = Some(pipeline::jobs(options.jobs));
        Ok(Self {
            replaces: options.force,
            options,
            exclude,
            begun,
            staged,
            members: BTreeMap::new(),
            directories: BTreeSet::new(),
            memory: 0,
            attributes: Vec::new(),
            group_attributes: BTreeMap::new(),
            dims: BTreeMap::new(),
            incomplete: BTreeSet::new(),
            old: None,
            warnings: Vec::new(),
            is_finished: false,
        })
    }

    /// Sets an attribute of the pack, such as its title, to a number, a text, or a list of numbers or texts.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for any other value, and [`Error::Refused`] if the name is empty.
    pub fn attribute(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Result<()> {
        self.group_attribute("", name, value)
    }

    /// Replaces all attributes of the pack.
    pub(crate) fn set_attributes(&mut self, attributes: Vec<Attribute>) {
        self.attributes = attributes;
    }

    /// Sets an attribute of a group, which is a directory such as `run1`, to a number, a text, or a list of numbers or
    /// texts.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for any other value, [`Error::InvalidPath`] if the name of the group is not valid, and
    /// [`Error::Refused`] if the name of the attribute is empty.
    pub fn group_attribute(
        &mut self,
        group: impl AsRef<str>,
        name: impl Into<String>,
        value: impl Into<Value>,
    ) -> Result<()> {
        let attribute = new_attribute(&name.into(), value.into())?;
        self.typed_attribute(group, attribute)
    }

    /// Sets an attribute of a group, or of the pack if `group` is empty, with its datatype, such as a `float32`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidPath`] if the name of the group is not valid, and [`Error::Refused`] if the attribute breaks a
    /// rule of the language.
    pub fn typed_attribute(&mut self, group: impl AsRef<str>, attribute: Attribute) -> Result<()> {
        let attributes = vec![attribute.clone()];
        let alone =
            Document { form: Form::Flat, groups: vec![Group { attributes, ..Group::new("/") }] };
        let mut findings = alone.validate();
        if count_errors(&findings) > 0 {
            for finding in &mut findings {
                finding.member = Some(PACK_DOCUMENT.to_owned());
            }
            return Err(self.refused(findings));
        }
        let group = group.as_ref().trim_matches('/');
        let attributes = if group.is_empty() {
            &mut self.attributes
        } else {
            let path = format!("/{}", MemberPath::new(group)?.as_str());
            self.group_attributes.entry(path).or_default()
        };
        attribute.put_into(attributes);
        Ok(())
    }

    /// Returns a builder for an array with its description, in the file `name`. The extension `.ra` is added if it is
    /// missing.
    ///
    /// The array may have any layout in memory. The same index selects the same element in the pack. Nothing is written
    /// before [`NewArray::write`].
    pub fn array<'p, 'a, T: Element, S: Data<Elem = T>, D: Dimension>(
        &'p mut self,
        name: impl Into<String>,
        array: &'a ArrayBase<S, D>,
    ) -> NewArray<'p, 'w, ArrayViewD<'a, T>> {
        NewArray::new(self, name.into(), array.view().into_dyn())
    }

    /// Returns a builder for an array that is written in pieces, in the order of the file: the first dimension of the
    /// header varies fastest. Nothing is written before [`NewArray::begin`].
    ///
    /// ```
    /// use ra_pack::ra::{ElementType, Header};
    /// use ra_pack::{PackWriter, WriteOptions};
    ///
    /// let mut archive = Vec::new();
    /// let mut pack = PackWriter::new(&mut archive, WriteOptions::default())?;
    /// let header = Header::new(ElementType::UINT16, vec![512, 1000])?;
    /// let mut frames = pack.array_stream("frames", header).dims(["pixel", "time"]).begin()?;
    /// for frame in 0..1000_u16 {
    ///     frames.write_elements(&[frame; 512])?;
    /// }
    /// frames.finish()?;
    /// pack.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn array_stream(
        &mut self,
        name: impl Into<String>,
        header: Header,
    ) -> NewArray<'_, 'w, Header> {
        NewArray::new(self, name.into(), header)
    }

    /// Adds a file with the bytes of `content`. It can be of any kind, including an array or a description.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidPath`] if the name is not valid; [`Error::Refused`] if it is in use, or in an update
    /// [`Error::AlreadyExists`] without the option `force`; [`Error::Io`] if the content cannot be read or written.
    pub fn file(&mut self, name: impl AsRef<str>, content: impl Read) -> Result<()> {
        let path = MemberPath::new(name.as_ref())?;
        let mut content = Watched { reader: content, progress: self.options.progress.clone() };
        self.stage(&path, |this| this.read_content(&path, 0, &mut content))
    }

    /// Adds the file or directory `name` of `directory` under the same name. A directory is added with its content, and
    /// `.` adds the content of `directory`. Links and special files are treated as in [`create`](crate::create()), and
    /// the archive itself is left out.
    ///
    /// # Errors
    ///
    /// As [`PackWriter::file`]; [`Error::Refused`] also for links and special files; [`Error::Changed`] if a file
    /// changes while it is read.
    pub fn add(&mut self, directory: impl AsRef<Path>, name: impl AsRef<str>) -> Result<()> {
        let (directory, name) = (directory.as_ref(), name.as_ref());
        let name = name.strip_suffix('/').unwrap_or(name);
        let (root, follow) = (directory.join(name), self.options.dereference);
        let mut below = Below::new(directory, follow);
        let link = if follow || name == "." { None } else { fs::link_below(directory, name) };
        if let Some(link) = link {
            let findings = vec![survey::link(link, follow)];
            return Err(Error::Refused { path: directory.to_owned(), findings });
        }
        if !fs::is_directory(&root)? {
            return self.copy(&mut below, &MemberPath::new(name)?);
        }
        let archive = fs::name_below(&root, self.archive());
        let own = archive.into_iter().flat_map(|name| {
            ["", EXTERNAL_MANIFEST_SUFFIX, ARCHIVE_DIGEST_SUFFIX].map(|end| format!("{name}{end}"))
        });
        let begun = self.begun.kept().filter_map(|path| fs::name_below(&root, &path));
        let own: Vec<_> = own.chain(begun).collect();
        let staged = fs::name_below(&root, self.staged.path()).map(PathBuf::from);
        let (entries, findings) =
            survey::names(&root, &self.exclude, &own, follow, &self.options.progress)?;
        if count_errors(&findings) > 0 {
            return Err(Error::Refused { path: root, findings });
        }
        self.warnings.extend(findings);
        let is_own = |path: &MemberPath| {
            staged.as_ref().is_some_and(|staged| Path::new(path.as_str()).starts_with(staged))
        };
        for entry in entries.into_iter().filter(|entry| !is_own(&entry.path)) {
            let path = if name == "." {
                entry.path
            } else {
                MemberPath::new(format!("{name}/{}", entry.path.as_str()))?
            };
            match entry.source {
                EntrySource::Directory => {
                    self.directory(path.as_str())?;
                }
                _ => self.copy(&mut below, &path)?,
            }
        }
        Ok(())
    }

    /// Adds a copy of a file.
    fn copy(&mut self, from: &mut Below, path: &MemberPath) -> Result<()> {
        let mut source = from.open(path)?.watched(&self.options.progress);
        self.stage(path, |this| {
            let stamp = source.stamp()?;
            let content = this.read_content(path, stamp.len(), &mut source)?;
            source.check_unchanged(&stamp)?;
            Ok(content)
        })
    }

    /// Returns the path of the archive until it is copied to its target.
    pub(crate) fn archive(&self) -> &Path {
        self.begun.path()
    }

    /// Returns the descriptions in the archive that is updated, if files may be replaced: of the array file `target`, or
    /// of all arrays in that directory.
    pub(crate) fn replaceable_descriptions(&self, target: &str) -> Vec<(MemberPath, String)> {
        let Some(old) = self.old.as_ref().filter(|_| self.replaces) else { return Vec::new() };
        old.descriptions(target)
    }

    /// Adds an empty directory, which is a group without arrays.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidPath`] if the name is not valid, and [`Error::Refused`] if a file has it.
    pub fn directory(&mut self, name: impl AsRef<str>) -> Result<()> {
        let path = MemberPath::new(name.as_ref())?;
        self.check_name(&path, MemberKind::Directory)?;
        self.directories.insert(path);
        Ok(())
    }

    /// Removes a member that was added, is incomplete, or is in the archive that is updated: a file, an array with its
    /// description, or a directory with its content. If it is incomplete, only the new content is removed.
    /// Dimensions in the description of an archive that is updated remain.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`] if there is no such member.
    pub fn remove(&mut self, name: impl AsRef<str>) -> Result<()> {
        let name = name.as_ref().trim_end_matches('/');
        let names = [name, &format!("{name}.{ARRAY_EXTENSION}")];
        let is_incomplete = names.iter().any(|name| self.incomplete.contains(*name));
        if self.options.journal.is_some() && !is_incomplete {
            let why = "a writer with a journal cannot remove what it has finished".to_owned();
            return Err(Error::unsupported(why));
        }
        for name in names {
            let removed = self.incomplete.remove(name)
                || self.withdraw(name) | self.old.as_mut().is_some_and(|old| old.remove(name));
            if removed {
                self.options.ro_crate &= name != RO_CRATE;
                return Ok(());
            }
        }
        let (archive, member) = (self.archive().to_owned(), name.to_owned());
        Err(self.in_words(Error::NoSuchMember { archive, member, suggestion: None }))
    }

    /// Syncs everything that was added to disk and lists it in the [journal](super::JournalOptions). Does nothing without one.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the disk or the journal cannot be written.
    pub fn sync(&mut self) -> Result<()> {
        let synced = self.begun.sync();
        synced.map_err(|error| self.in_words(error))
    }

    /// Checks the content, writes the archive and its manifests, and renames them. After an error, the writer still has
    /// all members, so that you can correct the cause and call this again. A sink that failed may have received a part
    /// of the archive.
    ///
    /// # Errors
    ///
    /// As [`create`](crate::create()); [`Error::Incomplete`] if a member is not complete; [`Error::Unsupported`] if the
    /// pack is finished.
    pub fn finish(&mut self) -> Result<CreateReport> {
        if self.is_finished {
            return Err(Error::unsupported("the pack is finished".to_owned()));
        }
        if let Some(path) = self.incomplete.first() {
            return Err(Error::Incomplete { name: path.as_str().to_owned() });
        }
        let mut options = self.options.clone();
        let document = self.document(&mut options);
        let entries = self.entries(document).map_err(|error| self.in_words(error))?;
        let Self { begun, staged, old, .. } = self;
        let kept = old.as_ref().map(|old| old.members(staged, &options)).transpose();
        let mut made =
            kept.and_then(|kept| create::complete(staged, begun, &options, entries, kept));
        if let Ok(report) = &mut made {
            report.findings.splice(0..0, self.warnings.iter().cloned());
            self.is_finished = true;
            begun.end_journal()?;
            staged.clear();
            // Staged files that cannot be deleted are among them.
            report.leftovers = fs::leftovers(begun.path());
        } else if let Some(old) = old {
            old.forget_staged(staged);
        }
        made
    }

    /// Returns whether the pack has a file of this name.
    fn has(&self, name: &str) -> bool {
        self.members.contains_key(name) || self.old.as_ref().is_some_and(|old| old.has(name))
    }

    /// Replaces the staging directories in the error by the archive.
    fn in_words(&self, error: Error) -> Error {
        self.in_archive(error, self.staged.path())
    }

    /// Replaces the directory `staged` in the error by the archive.
    pub(crate) fn in_archive(&self, error: Error, staged: &Path) -> Error {
        self.begun.in_words(error, Some(staged))
    }

    /// Returns the description of the pack if there are attributes, or named dimensions without an array. If there is
    /// another description, the attributes are added to the options instead.
    fn document(&self, options: &mut CreateOptions) -> Option<Vec<u8>> {
        let mut root = Group::new("/");
        root.attributes.clone_from(&self.attributes);
        let mut groups = BTreeMap::from([("/".to_owned(), root)]);
        for (path, attributes) in &self.group_attributes {
            let group = Group { attributes: attributes.clone(), ..Group::new(&**path) };
            groups.insert(path.clone(), group);
        }
        let dims = self.dims.iter().map(|((home, name), used)| (&**home, &**name, used.length));
        let stated = self.old.as_ref().and_then(|old| old.stated.as_ref());
        let stated = stated.into_iter().flat_map(Document::dimcoords);
        let stated = stated.filter_map(|(group, coordinate)| {
            Some((&*group.path, &*coordinate.name, coordinate.known_size()?))
        });
        for (home, name, length) in dims.chain(stated) {
            let paths = candidates(home, name);
            let is_array = |path: &String| {
                self.has(&format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/')))
            };
            if paths.iter().any(is_array) {
                continue;
            }
            let Some((group, name)) = paths.first().and_then(|path| split_path(path)) else {
                continue;
            };
            let group = groups.entry(group.to_owned()).or_insert_with(|| Group::new(group));
            if group.dimcoords.iter().all(|coordinate| coordinate.name != name) {
                group.dimcoords.push(pack::dimension(name, length));
            }
        }
        groups.retain(|_, group| !group.attributes.is_empty() || !group.dimcoords.is_empty());
        let old = self.old.as_ref().and_then(|old| old.document.as_ref());
        if old.is_some() || self.members.contains_key(PACK_DOCUMENT) {
            // This description defines the dimensions.
            if let Some(root) = groups.remove("/").filter(|root| !root.attributes.is_empty()) {
                let stated = std::mem::replace(&mut options.attributes, root.attributes);
                for attribute in stated {
                    attribute.put_into(&mut options.attributes);
                }
            }
            let old = old.filter(|_| !self.members.contains_key(PACK_DOCUMENT));
            return old.cloned();
        }
        let groups = (!groups.is_empty()).then(|| groups.into_values().collect());
        groups.map(|groups| pack::attributes_document(groups).into_bytes())
    }
}

/// A reader that stops when the operation is cancelled.
struct Watched<R> {
    reader: R,
    progress: Progress,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.progress.check().map_err(Error::from)?;
        self.reader.read(buffer)
    }
}

/// Adds an attribute, or replaces the one with this name.
pub(crate) fn set_attribute(
    attributes: &mut Vec<Attribute>,
    name: &str,
    value: Value,
) -> Result<()> {
    new_attribute(name, value)?.put_into(attributes);
    Ok(())
}

/// Makes an attribute with the datatype of its value.
fn new_attribute(name: &str, value: Value) -> Result<Attribute> {
    Attribute::new(name, value).ok_or_else(|| {
        Error::unsupported(format!(
            "the attribute `{}` must be a number, a text, or a list of at least one number or text",
            escape(name)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_cores_is_asked_once() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.zip");
        let pack = PackWriter::create(path, WriteOptions::default()).unwrap();
        assert_eq!(pack.options.jobs, Some(pipeline::jobs(None)));
    }
}
