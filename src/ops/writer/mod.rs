//! Creation of packs from memory: arrays and files are staged in a directory, which is then packed.

mod array;
mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Read, Write};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use ndarray::{ArrayBase, ArrayViewD, Data, Dimension};

pub use self::array::{ArrayStream, NewArray};
use self::update::OldPack;
use super::create::{self, CreateOptions, CreateReport, create_staged};
use super::select::Patterns;
use super::survey::{self, EntrySource, SourceEntry};
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding, count_errors};
use crate::fs::{self, File, PendingDirectory};
use crate::ndl::{Attribute, Group, Value, candidates, split_path};
use crate::pack::{
    self, ARCHIVE_DIGEST_SUFFIX, ARRAY_EXTENSION, BAG_DECLARATION, BLOCK_LIST,
    EXTERNAL_MANIFEST_SUFFIX, PACK_DOCUMENT,
};
use crate::path::{MemberPath, escape};
use crate::progress::Progress;
use crate::ra::{Element, Header, read_full};

/// Number of bytes written at once.
const BLOCK: usize = 256 * 1024;
/// Maximum size in bytes of arrays that are kept in memory: making a file takes longer than writing this many bytes.
const SHORT: u64 = 32 * 1024;
/// Bytes of short arrays and their descriptions that one writer keeps in memory.
const IN_MEMORY: usize = 64 * 1024 * 1024;

/// Options for [`PackWriter`]: those of [`create`](crate::create()).
pub type WriteOptions = CreateOptions;

/// A writer of packs. Arrays, files and attributes are added in any order, from memory or from readers.
///
/// The archive is identical to the one that [`create`](crate::create()) makes from a directory with the same content,
/// and the same checks apply. Until [`finish`](Self::finish), up to 64 MiB of small arrays are kept in memory, and all
/// other content is staged in a hidden directory next to the archive. This needs twice the space on that disk. The
/// directory is deleted if the writer is dropped, if it fails, or if the process is
/// [terminated](crate::files::remove_unfinished_and_exit).
///
/// If a name is rejected, the writer is unchanged and can still be used. If writing a member fails, the member is
/// incomplete, and [`finish`](Self::finish) returns an error.
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
    archive: PathBuf,
    options: CreateOptions,
    /// Files that [`add`](Self::add) leaves out.
    exclude: Patterns,
    /// The directory with the files of the pack.
    staged: PendingDirectory,
    /// The other files of the pack.
    in_memory: Vec<(MemberPath, Vec<u8>)>,
    /// The bytes of these files.
    memory: usize,
    names: BTreeSet<MemberPath>,
    /// Attributes of the pack.
    attributes: Vec<Attribute>,
    /// Attributes of groups, by the path of the group.
    group_attributes: BTreeMap<String, Vec<Attribute>>,
    /// Lengths of named dimensions, by the group of the array and the name in it.
    dims: BTreeMap<(String, String), u64>,
    /// Members that are not complete, including those that failed.
    incomplete: BTreeSet<String>,
    /// The archive that is updated.
    old: Option<OldPack>,
    /// Whether files of that archive may be replaced.
    replaces: bool,
    warnings: Vec<Finding>,
    /// The directory of the archive and the writer to copy it to, if there is one.
    sink: Option<(PendingDirectory, Box<dyn Write + Send + 'w>)>,
}

impl fmt::Debug for PackWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackWriter").field("archive", &self.archive).finish_non_exhaustive()
    }
}

impl PackWriter<'static> {
    /// Begins an archive at the path `archive`. Its extension determines the container, unless the options do.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`] if the archive exists and `force` is false; [`Error::Unsupported`] for options that
    /// contradict each other; [`Error::Io`] if the directory cannot be written.
    pub fn create(archive: impl AsRef<Path>, options: WriteOptions) -> Result<Self> {
        let archive = archive.as_ref();
        create::check(archive, &options)?;
        let staged = PendingDirectory::beside(archive)?;
        Ok(Self::begin(archive.to_owned(), options, staged))
    }

    /// Begins a new version of the archive at the path `archive`. You can add members, replace them if the option
    /// `force` is true, and remove them with [`remove`](Self::remove).
    ///
    /// Other members are copied in their compressed form, without decoding or hashing: their digests are copied from
    /// the manifests. Call [`verify`](crate::verify()) first to check them. The members of a compressed tar are
    /// decoded, checked and compressed again. The new archive keeps the container, the layout, the algorithms and the
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
    /// [`Error::Refused`] if the archive is not valid; [`Error::Unsupported`] for a directory, an archive without a
    /// SHA-256 manifest, or one with files that a new archive would not have; [`Error::NotAPack`] for another kind of
    /// file; [`Error::Io`] if it cannot be read. [`PackWriter::finish`] returns [`Error::Damaged`] if the manifest does
    /// not list a member that stays, and [`Error::Changed`] if the archive was changed after this call.
    pub fn update(archive: impl AsRef<Path>, options: WriteOptions) -> Result<Self> {
        let (archive, mut options) = (archive.as_ref(), options);
        let replaces = std::mem::replace(&mut options.force, true);
        let old = OldPack::open(archive, &mut options)?;
        create::check(archive, &options)?;
        let staged = PendingDirectory::beside(archive)?;
        let attributes = old.attributes();
        let this = Self::begin(archive.to_owned(), options, staged);
        Ok(Self { old: Some(old), attributes, replaces, ..this })
    }
}

impl<'w> PackWriter<'w> {
    /// Begins an archive that is written to `sink`, such as a `&mut Vec<u8>`. It is a zip unless the options set
    /// another container.
    ///
    /// The archive is created in the system's temporary directory and copied when it is complete. Reports, messages and
    /// the top directory of a bag use the name `pack`. There is no manifest next to the archive.
    ///
    /// # Errors
    ///
    /// As [`PackWriter::create`].
    pub fn new(sink: impl Write + Send + 'w, options: WriteOptions) -> Result<Self> {
        let options = CreateOptions { no_external_manifest: true, ..options };
        let container = options.container.unwrap_or(Container::Zip);
        let directory = PendingDirectory::beside(&std::env::temp_dir().join("pack"))?;
        // A subdirectory, because a pending directory cannot be locked.
        let home = directory.path().join("archive");
        fs::create_root(&home)?;
        let archive = home.join(format!("pack{}", container.extension()));
        create::check(&archive, &options)?;
        let mut this = Self::begin(archive.clone(), options, PendingDirectory::beside(&archive)?);
        this.sink = Some((directory, Box::new(sink)));
        Ok(this)
    }

    fn begin(archive: PathBuf, options: CreateOptions, staged: PendingDirectory) -> Self {
        let (names, attributes, group_attributes, dims, incomplete, warnings) = <_>::default();
        let (in_memory, memory) = <_>::default();
        let (replaces, old, sink) = (options.force, None, None);
        let mut options = options;
        let exclude = std::mem::take(&mut options.exclude);
        // Staged files have no meaningful times.
        options.preserve_mtime = false;
        Self {
            archive,
            options,
            exclude,
            staged,
            in_memory,
            memory,
            names,
            attributes,
            group_attributes,
            dims,
            incomplete,
            old,
            replaces,
            warnings,
            sink,
        }
    }

    /// Sets an attribute of the pack, such as its title, to a number, a text, or a list of numbers or texts.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for any other value.
    pub fn attribute(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Result<()> {
        set_attribute(&mut self.attributes, &name.into(), value.into())
    }

    /// Sets an attribute of a group, which is a directory such as `run1`, to a number, a text, or a list of numbers or
    /// texts.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for any other value, and [`Error::InvalidPath`] if the name of the group is not valid.
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
    /// [`Error::InvalidPath`] if the name of the group is not valid.
    pub fn typed_attribute(&mut self, group: impl AsRef<str>, attribute: Attribute) -> Result<()> {
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
        let name = name.as_ref();
        let file = self.stage_file(&MemberPath::new(name)?)?;
        let mut content = Watched { reader: content, progress: self.options.progress.clone() };
        let (mut block, mut at) = (vec![0; BLOCK], 0);
        loop {
            let count = read_full(&mut content, &mut block).map_err(Error::io("read", file.path()));
            let block = block.split_at(count.map_err(|error| self.in_words(error))?).0;
            file.write_all_at(block, at).map_err(|error| self.in_words(error))?;
            at += block.len() as u64;
            if block.len() < BLOCK {
                self.incomplete.remove(name);
                return Ok(());
            }
        }
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
        let root = directory.join(name);
        if !fs::is_directory(&root)? {
            return self.copy(&root, &MemberPath::new(name)?);
        }
        let archive = fs::name_below(&root, &self.archive);
        let own = archive.into_iter().flat_map(|name| {
            ["", EXTERNAL_MANIFEST_SUFFIX, ARCHIVE_DIGEST_SUFFIX].map(|end| format!("{name}{end}"))
        });
        let own: Vec<_> = own.collect();
        let staged = fs::name_below(&root, self.staged.path()).map(PathBuf::from);
        let follow = self.options.dereference;
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
            let below = entry.path.as_str();
            let path = if name == "." { below.to_owned() } else { format!("{name}/{below}") };
            let path = MemberPath::new(path)?;
            match entry.source {
                EntrySource::Directory => self.staged.make_directory(&path)?,
                _ => self.copy(&root.join(below), &path)?,
            }
        }
        Ok(())
    }

    /// Stages a copy of a file.
    fn copy(&mut self, from: &Path, path: &MemberPath) -> Result<()> {
        let source = File::open(from)?.watched(&self.options.progress);
        let stamp = source.stamp()?;
        let file = self.stage_file(path)?;
        let copied = source.copy_to(0, stamp.len(), &file, 0);
        copied
            .and_then(|()| source.check_unchanged(&stamp))
            .map_err(|error| self.in_words(error))?;
        self.incomplete.remove(path.as_str());
        Ok(())
    }

    /// Removes a member from the archive that is updated: a file, an array with its description, or a directory with
    /// its content. Dimensions in the description of the pack remain.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`] if the archive has no such member.
    pub fn remove(&mut self, name: impl AsRef<str>) -> Result<()> {
        let name = name.as_ref().trim_end_matches('/');
        let array = format!("{name}.{ARRAY_EXTENSION}");
        if self.old.as_mut().is_some_and(|old| old.remove(name) || old.remove(&array)) {
            return Ok(());
        }
        let (archive, member) = (self.archive.clone(), name.to_owned());
        Err(Error::NoSuchMember { archive, member, suggestion: None })
    }

    /// Checks the content, writes the archive and its manifests, and renames them.
    ///
    /// # Errors
    ///
    /// As [`create`](crate::create()); [`Error::Incomplete`] if a member is not complete.
    pub fn finish(mut self) -> Result<CreateReport> {
        if let Some(name) = self.incomplete.pop_first() {
            return Err(Error::Incomplete { name });
        }
        self.add_document()?;
        let Self { archive, options, staged, in_memory, sink, mut old, mut warnings, .. } = self;
        let old = old.as_mut().map(|old| old.members(&staged, &options)).transpose()?;
        let in_memory = with_directories(in_memory)?;
        let made = create_staged(&staged, &archive, &options, in_memory, old).map(|mut report| {
            warnings.append(&mut report.findings);
            CreateReport { findings: warnings, ..report }
        });
        let Some((_directory, mut sink)) = sink else { return made };
        let copied = made.and_then(|report| {
            let mut file = Watched { reader: File::open(&archive)?, progress: options.progress };
            let copied = io::copy(&mut file, &mut sink).and_then(|_| sink.flush());
            copied.map_err(Error::io("write", &archive))?;
            Ok(CreateReport { archive: file_name(&archive, archive.clone()), ..report })
        });
        copied.map_err(|error| error.with_path(|path| file_name(&archive, path)))
    }

    /// Begins a file of the pack under a new name, in the directory of staged files.
    fn stage_file(&mut self, path: &MemberPath) -> Result<File> {
        self.reserve(path)?;
        self.staged.begin(path).map_err(|error| self.in_words(error))
    }

    /// Returns memory for a file of `len` bytes, if it is short and there is room.
    fn memory_for(&self, len: u64) -> Option<Vec<u8>> {
        let len = usize::try_from(len).ok().filter(|_| len <= SHORT)?;
        (self.memory + len <= IN_MEMORY).then(|| Vec::with_capacity(len))
    }

    /// Adds a complete file in memory.
    fn keep(&mut self, path: MemberPath, content: Vec<u8>) {
        self.incomplete.remove(path.as_str());
        self.memory += content.len();
        self.in_memory.push((path, content));
    }

    /// Adds a description.
    fn description(&mut self, path: MemberPath, text: &str) -> Result<()> {
        let Some(mut content) = self.memory_for(text.len() as u64) else {
            return self.file(path, text.as_bytes());
        };
        self.reserve(&path)?;
        content.extend_from_slice(text.as_bytes());
        self.keep(path, content);
        Ok(())
    }

    /// Reserves a new name for a file that is not complete.
    fn reserve(&mut self, path: &MemberPath) -> Result<()> {
        let name = path.as_str();
        let is_generated = name == BAG_DECLARATION
            || name == BLOCK_LIST
            || pack::is_signature(name)
            || pack::manifest_algorithm(name).is_some();
        if is_generated {
            let name = escape(name);
            return Err(Error::Unsupported(format!(
                "`{name}` is reserved for a file that is generated"
            )));
        }
        let finding = if self.names.contains(path) {
            let finding =
                Finding::new(Code::DuplicateName, "a member of this name was already added");
            Some(finding.in_member(name).hint("choose another name"))
        } else {
            let directory = format!("{name}/");
            let below =
                self.names.range::<str, _>((Bound::Included(&*directory), Bound::Unbounded));
            let below = below.map(MemberPath::as_str).next();
            let below = below.filter(|below| below.starts_with(&directory));
            in_the_way(name, |above| self.names.contains(above), below)
        };
        if let Some(finding) = finding {
            let findings = vec![finding];
            return Err(self.in_words(Error::Refused { path: self.archive.clone(), findings }));
        }
        if let Some(old) = &mut self.old {
            old.make_room(path, self.replaces)?;
        }
        self.names.insert(path.clone());
        self.incomplete.insert(name.to_owned());
        Ok(())
    }

    /// Returns whether the pack has a file of this name.
    fn has(&self, name: &str) -> bool {
        self.names.contains(name) || self.old.as_ref().is_some_and(|old| old.has(name))
    }

    /// Replaces the staging directories in the error by the archive.
    fn in_words(&self, error: Error) -> Error {
        let error = error.with_path(|path| create::in_archive(&self.staged, &self.archive, path));
        match &self.sink {
            Some(_) => error.with_path(|path| file_name(&self.archive, path)),
            None => error,
        }
    }

    /// Stages the description of the pack if there are attributes, or named dimensions without an array.
    fn add_document(&mut self) -> Result<()> {
        let mut root = Group::new("/");
        root.attributes = std::mem::take(&mut self.attributes);
        let mut groups = BTreeMap::from([("/".to_owned(), root)]);
        for (path, attributes) in std::mem::take(&mut self.group_attributes) {
            let group = Group { attributes, ..Group::new(&*path) };
            groups.insert(path, group);
        }
        let mut dims = std::mem::take(&mut self.dims);
        let stated = self.old.as_ref().and_then(|old| old.stated.as_ref());
        for (group, coordinate) in stated.iter().flat_map(|document| document.dimcoords()) {
            if let Some(length) = coordinate.known_size() {
                dims.entry((group.path.clone(), coordinate.name.clone())).or_insert(length);
            }
        }
        for ((home, name), length) in dims {
            let paths = candidates(&home, &name);
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
        let document = self.old.as_mut().and_then(|old| old.document.take());
        if let Some(text) = document.filter(|_| !self.names.contains(PACK_DOCUMENT)) {
            self.file(PACK_DOCUMENT, text.as_slice())?;
        }
        groups.retain(|_, group| !group.attributes.is_empty() || !group.dimcoords.is_empty());
        if groups.is_empty() {
            return Ok(());
        }
        if self.names.contains(PACK_DOCUMENT) {
            // The caller added a description, which defines the dimensions.
            let root = groups.remove("/").unwrap_or_default();
            let stated = std::mem::replace(&mut self.options.attributes, root.attributes);
            for attribute in stated {
                attribute.put_into(&mut self.options.attributes);
            }
            return Ok(());
        }
        let text = pack::attributes_document(groups.into_values().collect());
        self.file(PACK_DOCUMENT, text.as_bytes())
    }
}

/// Returns the entries of files in memory and of the directories above them.
fn with_directories(files: Vec<(MemberPath, Vec<u8>)>) -> Result<Vec<SourceEntry>> {
    let mut directories = BTreeSet::new();
    for (path, _) in &files {
        let ends = path.as_str().rmatch_indices('/').map(|(end, _)| path.as_str().split_at(end).0);
        for directory in ends {
            if !directories.insert(directory) {
                break;
            }
        }
    }
    let directories = directories.into_iter().map(MemberPath::new);
    let directory = |path| Ok(SourceEntry::new(path?, EntrySource::Directory));
    let mut entries = directories.map(directory).collect::<Result<Vec<_>>>()?;
    entries.extend(files.into_iter().map(|(path, content)| {
        SourceEntry::new(path, EntrySource::InMemory(content.into_boxed_slice()))
    }));
    Ok(entries)
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

/// Returns an error if a file exists where `name` needs a directory, or if there are files `below` it.
fn in_the_way(name: &str, is_file: impl Fn(&str) -> bool, below: Option<&str>) -> Option<Finding> {
    let mut above = name.match_indices('/').map(|(end, _)| name.split_at(end).0);
    let other = above.find(|above| is_file(above)).or(below)?;
    let message = format!("the file cannot be added: `{}` exists", escape(other));
    let finding = Finding::new(Code::FileAndDirectory, message).in_member(name);
    Some(finding.hint("choose another name, or remove the other file"))
}

/// Returns the path of a file relative to the directory of `archive`.
fn file_name(archive: &Path, path: PathBuf) -> PathBuf {
    let below = archive.parent().and_then(|directory| path.strip_prefix(directory).ok());
    below.map(Path::to_owned).unwrap_or(path)
}

/// Adds an attribute, or replaces the one with this name.
pub(super) fn set_attribute(
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
        Error::Unsupported(format!(
            "the attribute `{}` must be a number, a text, or a list of at least one number or text",
            escape(name)
        ))
    })
}
