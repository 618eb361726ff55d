//! A single document or array with related files in the directories around it: its partner, the coordinates that it
//! names, and the description of the pack.
//!
//! The root of the pack is not known. It is assumed to be the nearest directory above that contains everything that the
//! document refers to. The search ends at the working directory, or at the document's own directory if that is
//! elsewhere.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};

use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::finding::{Code, Finding};
use crate::fs::{self, File};
use crate::message::{Message, Part};
use crate::ndl::{Extent, Ndarray};
use crate::pack::{
    self, ARRAY_EXTENSION, Content, Contents, DESCRIPTION_EXTENSIONS, DescriptionFacts, Inspector,
    PACK_DOCUMENT,
};
use crate::path::{MemberPath, escape_path, file_name};
use crate::ra::{Element, RawArray};

/// Number of bytes read at once.
const READ_AT_ONCE: usize = 64 * 1024;

/// A document or array with related files.
#[derive(Debug)]
pub(crate) struct SingleFile {
    /// Directory to which names are relative.
    pub(crate) root: PathBuf,
    /// The document or array.
    pub(crate) subject: MemberPath,
    /// The subject, its partner, and everything that both refer to.
    pub(crate) contents: Contents,
    /// A document whose name does not match an array.
    pub(crate) unattached: Option<DescriptionFacts>,
}

/// Reads the document or array at `path`. `root` is the root of its pack, if known.
pub(crate) fn gather(path: &Path, root: Option<&Path>) -> Result<SingleFile> {
    let is_pack_document = path.file_name().is_some_and(|name| name == PACK_DOCUMENT);
    let roots = match root {
        Some(root) => vec![root.to_owned()],
        None => fs::enclosing_directories(path)?,
    };
    // The description of a pack is at its root.
    let count = if is_pack_document && root.is_none() { 1 } else { roots.len() };
    let mut widest = None;
    for root in roots.into_iter().take(count) {
        let Some(name) = fs::name_below(&root, path) else { continue };
        let single_file = SingleFile::read(root, MemberPath::new(name)?, path)?;
        if single_file.is_complete() {
            return Ok(single_file);
        }
        widest = Some(single_file);
    }
    widest.ok_or_else(|| {
        let root = escape_path(root.unwrap_or(Path::new(".")));
        Error::wrong_target(path, format!("is not below `{root}`"))
    })
}

impl SingleFile {
    fn read(root: PathBuf, subject: MemberPath, path: &Path) -> Result<Self> {
        let mut contents = Contents::default();
        let mut unattached = None;
        match read_content(path, &subject)? {
            Content::Crate(_) | Content::Other => {
                let text = fs::read_limited(path, crate::ndl::MAX_TEXT as u64)?;
                unattached = Some(DescriptionFacts::parse(subject.as_str(), text));
            }
            content => contents.add(subject.clone(), content),
        }
        let mut single_file = Self { root, subject, contents, unattached };
        let array = single_file.array();
        if single_file.is_attached() {
            single_file.add(&array)?;
            for extension in DESCRIPTION_EXTENSIONS {
                single_file
                    .add(&format!("{}.{extension}", single_file.subject.without_extension()))?;
            }
        }
        single_file.add(PACK_DOCUMENT)?;
        if !single_file.is_pack_document() {
            single_file.contents.pack_document.take_if(|facts| !facts.describes());
        }
        for name in single_file.needed() {
            single_file.add(&name)?;
        }
        Ok(single_file)
    }

    /// Returns the array that the subject is or describes.
    pub(crate) fn array(&self) -> String {
        format!("{}.{ARRAY_EXTENSION}", self.subject.without_extension())
    }

    pub(crate) fn is_pack_document(&self) -> bool {
        self.subject.as_str() == PACK_DOCUMENT
    }

    /// Returns the files that were read, sorted by name.
    pub(crate) fn files(&self) -> Vec<MemberPath> {
        let Contents { arrays, descriptions, pack_document, .. } = &self.contents;
        let document = pack_document.as_ref().and_then(|_| MemberPath::new(PACK_DOCUMENT).ok());
        let files: BTreeSet<_> =
            arrays.keys().chain(descriptions.keys()).cloned().chain(document).collect();
        files.into_iter().collect()
    }

    /// Returns the array, and its description if that is a separate file.
    pub(crate) fn own_files(&self) -> Vec<MemberPath> {
        let stem = self.subject.without_extension();
        self.files().into_iter().filter(|path| path.without_extension() == stem).collect()
    }

    /// Replaces names in findings by paths relative to the same directory as `target`.
    pub(crate) fn name_files(&self, target: &Path, findings: &mut [Finding]) {
        let files = self.files();
        for finding in findings {
            let own = format!("{}.yaml", self.subject.without_extension());
            if finding.code == Code::Undescribed && finding.hint == Some(Code::Undescribed.hint()) {
                let command = Message::from("`ra-pack describe ").file(self.subject.as_str());
                let command = command.text(" > ").file(&*own);
                finding.hint = Some(command.text("` writes a description of its header"));
            }
            for part in finding.hint.iter_mut().flat_map(|hint| &mut hint.parts) {
                if let Part::File(path) = part
                    && (*path == own || files.iter().any(|file| file.as_str() == path))
                {
                    *part = Part::Text(self.shown(target, path).into());
                }
            }
            if let Some(member) = &mut finding.member {
                *member = self.shown(target, member);
            }
        }
    }

    /// Returns the path of a member.
    fn shown(&self, target: &Path, member: &str) -> String {
        let directory =
            |path: &str| path.rsplit_once('/').map_or("", |(above, _)| above).to_owned();
        let subject = self.subject.as_str();
        if member == subject {
            return target.to_string_lossy().into_owned();
        }
        let path = if directory(member) == directory(subject) {
            target.with_file_name(file_name(member))
        } else {
            self.root.join(member)
        };
        path.to_string_lossy().into_owned()
    }

    /// Returns an error if the file at `path` is called an array and has another format.
    pub(crate) fn refuse_other_formats(&self, path: &Path) -> Result<()> {
        let header = self.contents.arrays.get(&self.subject).map(|facts| &facts.header);
        let Some(Err(fault)) = header else { return Ok(()) };
        match Error::array(path.to_string_lossy().into_owned(), (**fault).clone()) {
            error @ Error::NotAnArray { .. } => Err(error),
            _ => Ok(()),
        }
    }

    fn is_attached(&self) -> bool {
        self.unattached.is_none() && !self.is_pack_document()
    }

    /// Adds a file if it exists.
    fn add(&mut self, name: &str) -> Result<()> {
        let Ok(member) = MemberPath::new(name) else { return Ok(()) };
        let path = self.root.join(name);
        if self.contents.arrays.contains_key(member.as_str())
            || self.contents.descriptions.contains_key(member.as_str())
            || (name == PACK_DOCUMENT && self.contents.pack_document.is_some())
            || !fs::is_plain_below(&self.root, name)?
        {
            return Ok(());
        }
        let content = read_content(&path, &member)?;
        self.contents.add(member, content);
        Ok(())
    }

    /// Returns the arrays that may be coordinates of the subject, or all arrays for the description of a pack.
    fn needed(&self) -> Vec<String> {
        let file = |path: &str| format!("{}.{ARRAY_EXTENSION}", path.trim_start_matches('/'));
        let own = self.contents.descriptions.values().map(|facts| &**facts).chain(&self.unattached);
        let own = own.map(|facts| (self.subject.as_str(), facts));
        let of_pack = self.contents.pack_document.iter().filter(|_| self.is_pack_document());
        let whole = own.chain(of_pack.map(|facts| (PACK_DOCUMENT, &**facts)));
        let (mut names, mut arrays) = (Vec::new(), Vec::new());
        for (member, facts) in whole {
            let Some(document) = facts.document() else { continue };
            for (group, ndarray) in document.ndarrays() {
                arrays.push((pack::group_in_pack(member, &group.path), ndarray));
            }
            for (group, dimcoord) in document.dimcoords() {
                let group = pack::group_in_pack(member, &group.path);
                names.push(file(&pack::entity_path(&group, &dimcoord.name)));
            }
        }
        if self.is_pack_document() {
            let paths = arrays.iter().map(|(group, array)| pack::entity_path(group, &array.name));
            names.extend(paths.map(|path| file(&path)));
        } else if let Ok(array) = MemberPath::new(self.array())
            && let Some(described) = self.contents.in_pack_document(&array)
            && let pack::Entity::Ndarray(ndarray) = described.entity
        {
            arrays.push((described.group.path.clone(), ndarray));
        }
        for (group, ndarray) in arrays {
            for extent in &ndarray.shape {
                if let Extent::Coord(name) = extent {
                    names.extend(pack::candidates(&group, name).iter().map(|path| file(path)));
                }
            }
        }
        names
    }

    /// Returns whether everything that the subject refers to was found.
    fn is_complete(&self) -> bool {
        !self.findings().iter().any(|finding| {
            matches!(
                finding.code,
                Code::UnknownCoordinate
                    | Code::Undescribed
                    | Code::UnresolvedCoord
                    | Code::UnresolvedTarget
            )
        })
    }

    /// Returns the problems of the subject and its partner.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.contents.findings();
        if !self.is_pack_document() {
            let stem = self.subject.without_extension();
            findings.retain(|finding| {
                let member = finding.member.as_deref().unwrap_or_default();
                member.rsplit_once('.').is_some_and(|(member, _)| member == stem)
                    || finding.code == Code::CoordinateLength
            });
        }
        let has_array = self.contents.arrays.contains_key(&*self.array());
        let own = self.contents.descriptions.get(self.subject.as_str()).filter(|_| !has_array);
        for facts in own.map(|facts| &**facts).into_iter().chain(&self.unattached) {
            self.contents.document_findings(self.subject.as_str(), facts, &mut findings);
        }
        findings
    }

    /// Returns the findings about extension words in the documents of the subject.
    pub(crate) fn extension_words(&self) -> Vec<Finding> {
        let mut findings = self.contents.extension_words();
        findings.retain(|finding| finding.member.as_deref() == Some(self.subject.as_str()));
        let other = self.unattached.iter();
        findings.extend(other.flat_map(|facts| facts.extension_words(self.subject.as_str())));
        findings
    }
}

/// Returns the description of the array at `path`, if it has one.
pub(crate) fn description_beside(path: &Path) -> Result<Option<Ndarray>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !crate::path::is_valid(name.as_ref()) || !pack::is_array(name.as_ref()) {
        return Ok(None);
    }
    let SingleFile { contents, subject, .. } = gather(path, None)?;
    let Some((array, _)) = contents.arrays.get_key_value(subject.as_str()) else { return Ok(None) };
    let described = contents.description(array, &mut Vec::new());
    Ok(described.map(|described| described.entity.array().clone()))
}

/// Returns whether `path` is an array file, and not a pack.
///
/// # Errors
///
/// [`Error::Io`] if `path` does not exist.
pub fn is_array_file(path: impl AsRef<Path>) -> Result<bool> {
    let path = path.as_ref();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_named = crate::path::is_valid(name.as_ref()) && pack::is_array(name.as_ref());
    Ok(!fs::is_directory(path)? && is_named)
}

/// Returns whether `path` is a pack: a directory, or an archive according to its name or first bytes.
///
/// # Errors
///
/// [`Error::Io`] if `path` does not exist.
pub fn is_pack(path: impl AsRef<Path>) -> Result<bool> {
    let path = path.as_ref();
    Ok(fs::is_directory(path)? || (!is_array_file(path)? && Archive::is_archive(path)?))
}

/// Makes the error for a path that is not called an array.
pub(crate) fn not_an_array(path: &Path) -> Error {
    let name = path.to_string_lossy().into_owned();
    match fs::kind_of(path) {
        Ok(FileKind::RawArray) => Error::mismatch(
            name,
            format!("a single RawArray file must have the extension .{ARRAY_EXTENSION}"),
        ),
        Ok(kind) => Error::NotAnArray { name, kind },
        Err(error) => error,
    }
}

/// Reads the header of an array or the text of a description.
pub(crate) fn read_content(path: &Path, member: &MemberPath) -> Result<Content> {
    let mut file = File::open(path)?;
    let mut inspector = Inspector::new(member.as_str());
    let mut content = BufReader::with_capacity(READ_AT_ONCE, &mut file);
    inspector.read(&mut content).map_err(Error::io("read", path))?;
    Ok(inspector.finish(member.as_str(), file.len()?))
}

impl<T: Element> RawArray<T> {
    /// Reads the file at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read, and [`Error::Array`] or [`Error::NotAnArray`] if it is damaged, is not
    /// a RawArray file, or has another element type.
    ///
    /// ```
    /// use ra_pack::RawArray;
    /// use std::io;
    /// # fn main() -> io::Result<()> {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("myarray.ra");
    /// let vec1: Vec<f32> = vec![1.0, 2.0, 3.0, 4.0];
    /// let ra: RawArray<f32> = vec1.clone().into();
    /// ra.write(&path)?;
    ///
    /// let vec2: Vec<f32> = RawArray::<f32>::read(&path)?.into();
    /// assert_eq!(vec1, vec2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = File::open(path)?;
        let len = file.len()?;
        Self::read_sized(file, len).map_err(|error| Error::array_file(path, error))
    }

    /// Writes the array to the file at `path`, and replaces an existing file. The new file is synced before it is
    /// renamed, which can take milliseconds. To avoid this, use [`write_to`](Self::write_to) with your own file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        fs::write_new(path.as_ref(), true, |out| {
            let mut writer = io::BufWriter::new(out);
            self.write_to(&mut writer)?;
            writer.flush()
        })
    }
}
