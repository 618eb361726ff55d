//! Manifests of a pack and their signatures: finding, decoding, parsing and checking.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use crate::archive::{Archive, DataFault, Fault, copy};
use crate::digest::{Algorithm, Digest, Digests, Hashing};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding, Place};
use crate::fs::{self, File, beside};
use crate::manifest::{Manifest, ManifestFault, ManifestIndex, NameEncoding};
use crate::pack::bag::{BagDeclaration, TagEncoding, not_text};
use crate::pack::{
    self, ARCHIVE_DIGEST_SUFFIX, BAG_DECLARATION, EXTERNAL_MANIFEST_SUFFIX, Layout,
    PARITY_EXTENSION, SIGNATURE_EXTENSIONS,
};
use crate::path::MemberPath;
use crate::progress::Progress;

/// Bytes that are read and hashed at once.
const HASHED_AT_ONCE: usize = 256 * 1024;

/// Maximum size in bytes of all manifests of a pack together: five million files with names of forty bytes. It bounds
/// the memory that a compressed manifest can take.
pub(crate) const MAX_MANIFEST: u64 = 512 * 1024 * 1024;

/// Returns the maximum number of bytes to read of the manifests in an archive. An entry takes three times the memory
/// of its line.
pub(crate) fn longest(archive: &Archive) -> Result<u64> {
    Ok((archive.allowance()?.limit() >> 2).min(MAX_MANIFEST))
}

/// Returns the digest of a whole open file.
pub(crate) fn digest_file(file: &File, name: &str, progress: &Progress) -> Result<Digest> {
    let len = file.len()?;
    progress.stage("finishing", len, 0);
    progress.at(name);
    file.rewind()?;
    let mut content = BufReader::with_capacity(HASHED_AT_ONCE, file.try_clone()?.watched(progress));
    let digests = digest_reader(&mut content, &[Algorithm::Sha256]);
    Ok(digests.map_err(Error::io("read", file.path()))?.made_by(Algorithm::Sha256))
}

/// Reads `reader` to its end, and returns the digests.
pub(crate) fn digest_reader(
    reader: &mut dyn BufRead,
    algorithms: &[Algorithm],
) -> io::Result<Digests> {
    copy(reader, algorithms, Hashing::Here, |_| Ok(())).map_err(|fault| match fault {
        Fault::Source(error) => error,
        Fault::Sink(error) => error.into(),
    })
}

/// Returns the path next to an archive with this suffix; `None` for an archive without a file.
pub(crate) fn beside_archive(archive: &Archive, suffix: &str) -> Option<PathBuf> {
    archive.is_at_path().then(|| beside(archive.path(), suffix))
}

/// Makes the finding about a line that is not valid.
pub(crate) fn fault_finding(manifest: &str, fault: &ManifestFault) -> Finding {
    let finding = Finding::new(Code::BadManifestLine, fault.message.as_str())
        .in_member(manifest)
        .at_line(fault.line);
    if fault.is_warning { finding.warning() } else { finding }
}

/// Makes the finding about a file whose content does not match its digest.
pub(crate) fn mismatch(path: &str, manifest: &str, expected: &Digest, found: &Digest) -> Finding {
    Finding::new(
        Code::DigestMismatch,
        format!("the content does not match its digest in `{manifest}`"),
    )
    .in_member(path)
    .expected(format!("{} {expected}", expected.algorithm().name()), found.to_string())
    .hint("restore the file from another copy; the file or the manifest was changed or damaged")
}

/// Makes the finding about a listed file that does not exist.
pub(crate) fn missing(path: &str, manifest: &str, line: u64) -> Finding {
    Finding::new(Code::MissingMember, format!("the file is listed in `{manifest}` but missing"))
        .in_member(path)
        .expected(format!("a file, from line {line} of `{manifest}`"), "nothing")
        .hint("restore the file from another copy")
}

/// Makes the finding about a file that is not listed.
pub(crate) fn unlisted(path: &str, manifest: &str) -> Finding {
    Finding::new(Code::UnlistedMember, format!("the file is not listed in `{manifest}`"))
        .in_member(path)
        .hint("find out who added it, then pack the files again with or without it")
}

/// The files that a manifest may list by their names in the pack, with digests if they could be read.
pub(crate) type PresentFiles<'a> = BTreeMap<&'a str, Option<Cow<'a, Digests>>>;

/// A manifest and its name.
#[derive(Debug)]
pub(crate) struct NamedManifest {
    pub(crate) name: String,
    pub(crate) manifest: Manifest,
}

impl NamedManifest {
    /// Checks files against the manifest. `present` contains all files that it may list, with digests if they could be
    /// read. `must_list` returns whether it must list a file.
    pub(crate) fn check(
        &self,
        present: &PresentFiles<'_>,
        must_list: impl Fn(&str) -> bool,
        findings: &mut Vec<Finding>,
    ) {
        for entry in self.manifest.entries() {
            let path = entry.path.as_str();
            findings.extend(match present.get(path) {
                None => Some(missing(path, &self.name, entry.line)),
                // The reason why it could not be read is reported separately.
                Some(digests) => digests
                    .as_ref()
                    .and_then(|digests| digests.by(self.manifest.algorithm()))
                    .filter(|found| *found != entry.digest)
                    .map(|found| mismatch(path, &self.name, &entry.digest, &found)),
            });
        }
        let is_unlisted = |path: &&&str| must_list(path) && self.manifest.get(path).is_none();
        findings.extend(present.keys().filter(is_unlisted).map(|path| unlisted(path, &self.name)));
    }

    /// Matches listed names of a bag with `files` whose names differ only by normalization.
    pub(crate) fn rename_normalized(&mut self, files: &HashSet<&str>, findings: &mut Vec<Finding>) {
        let is_there = |path: &MemberPath| files.contains(path.as_str());
        if self.manifest.entries().iter().all(|entry| is_there(&entry.path)) {
            return;
        }
        let mut normalized: HashMap<String, Option<&str>> = HashMap::new();
        for name in files.iter().filter(|name| self.manifest.get(name).is_none()) {
            // If two names are equal after normalization, neither is matched.
            normalized
                .entry(name.nfc().collect())
                .and_modify(|one| *one = None)
                .or_insert(Some(name));
        }
        let Self { name: manifest, manifest: list } = self;
        list.rename(|entry| {
            if is_there(&entry.path) {
                return None;
            }
            let path: String = entry.path.as_str().nfc().collect();
            let there = (*normalized.get(&path)?)?;
            findings.push(
                Finding::new(
                    Code::NormalizedName,
                    format!("the name equals the one in `{manifest}` only after normalization"),
                )
                .in_member(there)
                .expected(format!("the name in line {}", entry.line), "another form of it")
                .hint("use the same spelling in both; other readers may not find the file"),
            );
            MemberPath::new(there).ok()
        });
    }

    /// Returns a warning if the manifest does not list all `files` that a stronger manifest lists.
    pub(crate) fn lists_less_than<'n>(
        &self,
        files: impl Iterator<Item = &'n str>,
    ) -> Option<Finding> {
        let mut unlisted = files.filter(|name| self.manifest.get(name).is_none());
        let first = unlisted.next()?;
        let count = unlisted.count() + 1;
        let message =
            format!("{count} files are listed only in a stronger manifest, such as `{first}`");
        let hint =
            "create all manifests again; readers that use only this one do not check these files";
        let finding = Finding::new(Code::ManifestsDisagree, message).warning();
        Some(finding.in_member(&*self.name).hint(hint))
    }

    /// Adds the differences between two manifests with the same algorithm.
    pub(crate) fn compare(&self, other: &Self, findings: &mut Vec<Finding>) {
        let entries = [self, other].map(|named| named.manifest.entries().iter());
        let paths: BTreeSet<_> = entries.into_iter().flatten().map(|entry| &entry.path).collect();
        for path in paths {
            let digests =
                [self, other].map(|named| Some(named.manifest.get(path.as_str())?.digest));
            if digests[0] == digests[1] {
                continue;
            }
            let message = format!("`{}` and `{}` disagree", self.name, other.name);
            let [one, other] =
                digests.map(|digest| digest.map_or("no entry".to_owned(), |it| it.to_string()));
            let hint =
                "find out which of the two was created with the pack; the other was changed later";
            let finding = Finding::new(Code::ManifestsDisagree, message).expected(one, other);
            findings.push(finding.in_member(path.as_str()).hint(hint));
        }
    }
}

/// Returns an error if a file that the caller named as a manifest has no valid line.
pub(crate) fn must_be_one(named: &NamedManifest, faults: &[Finding]) -> Result<()> {
    let Some(Finding { message, place: Some(Place::Line { line }), .. }) = faults.first() else {
        return Ok(());
    };
    if !named.manifest.entries().is_empty() {
        return Ok(());
    }
    Err(Error::wrong_target(&named.name, format!("is not a manifest (line {line}: {message})")))
}

/// Returns the algorithm of a manifest outside the pack, from its name; SHA-256 by default.
pub(crate) fn algorithm_of(path: &Path) -> Algorithm {
    path.file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.find("manifest-").and_then(|at| name.get(at..)))
        .and_then(pack::manifest_algorithm)
        .unwrap_or(Algorithm::Sha256)
}

/// Reads a manifest next to the archive.
pub(crate) fn read_beside(path: &Path) -> Result<Option<Vec<u8>>> {
    if !fs::exists(path) {
        return Ok(None);
    }
    fs::read_limited(path, MAX_MANIFEST).map(Some)
}

/// Returns the digest of an archive file: the one in the file next to it, or else that of its bytes.
#[cfg(feature = "full")]
pub(crate) fn archive_digest(archive: &Archive) -> Result<Digest> {
    let path = beside_archive(archive, ARCHIVE_DIGEST_SUFFIX);
    let text = path.as_deref().map(read_beside).transpose()?.flatten().unwrap_or_default();
    let (manifest, _) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &text);
    if let Some(entry) = manifest.entries().first() {
        return Ok(entry.digest);
    }
    if archive.costly_seek() {
        let why = "has no digest next to it, and it is far away; download it first";
        return Err(Error::wrong_target(archive.path(), why));
    }
    digest_archive(archive)
}

/// Hashes an archive file.
fn digest_archive(archive: &Archive) -> Result<Digest> {
    let file = File::open(archive.path())?;
    digest_file(&file, &file.path().to_string_lossy(), archive.progress())
}

/// Checks an archive file against the digest next to it. Returns whether there is one.
pub(crate) fn check_archive_digest(archive: &Archive, findings: &mut Vec<Finding>) -> Result<bool> {
    let Some(path) = beside_archive(archive, ARCHIVE_DIGEST_SUFFIX) else { return Ok(false) };
    let Some(text) = read_beside(&path)? else { return Ok(false) };
    let name = path.to_string_lossy();
    let (manifest, faults) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &text);
    findings.extend(faults.iter().map(|fault| fault_finding(&name, fault)));
    let Some(entry) = manifest.entries().first() else { return Ok(true) };
    let found = digest_archive(archive)?;
    if found != entry.digest {
        let message = format!("the archive does not match the digest in `{name}`");
        findings.push(
            Finding::new(Code::ArchiveDigestMismatch, message)
                .expected(entry.digest.to_string(), found.to_string())
                .hint("restore both files from another copy; one of them was changed or damaged"),
        );
    }
    Ok(true)
}

/// Returns the finding about a damaged member, or the system error, which says nothing about the archive.
pub(crate) fn unreadable(member: &str, error: io::Error) -> Result<Finding> {
    if error.raw_os_error().is_some() {
        return Err(Error::io("read", Path::new(member))(error));
    }
    match error.downcast::<Error>() {
        Ok(refused) => Err(refused),
        Err(error) => Ok(data_finding(member, &error)),
    }
}

/// Makes the finding for an error while reading a member.
pub(crate) fn data_finding(member: &str, error: &io::Error) -> Finding {
    let (code, message) = match DataFault::of(error) {
        Some(fault @ DataFault::Checksum { .. }) => (Code::BadChecksum, fault.to_string()),
        Some(fault @ DataFault::Unused { .. }) => (Code::TrailingCompressed, fault.to_string()),
        Some(fault @ DataFault::Window) => {
            return Finding::new(Code::Unsupported, fault.to_string()).in_member(member);
        }
        Some(fault) => (Code::BadMemberData, fault.to_string()),
        None => (Code::BadMemberData, format!("the content cannot be read: {error}")),
    };
    Finding::new(code, message)
        .in_member(member)
        .hint("restore it from another copy; other members of the archive may be intact")
}

/// Checks that writing `output` would not replace the input: the archive or array at `input`, a file in a directory
/// there, or the manifest next to it.
///
/// # Errors
///
/// [`Error::WrongTarget`] if it would.
pub fn check_apart(input: impl AsRef<Path>, output: impl AsRef<Path>) -> Result<()> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let (Ok(read), Ok(written)) = (fs::real_path(input), fs::real_path(output)) else {
        // A path that does not exist cannot be replaced.
        return Ok(());
    };
    let what = if written == read {
        "is the input"
    } else if written.starts_with(&read) {
        "is inside the input directory"
    } else if written == beside(&read, EXTERNAL_MANIFEST_SUFFIX) {
        "is the manifest of the input"
    } else {
        return Ok(());
    };
    Err(Error::wrong_target(output, format!("{what}; choose another output")))
}

/// The order of preference among several manifests for checking a single file: the algorithm that every reader of packs
/// knows, then the strongest.
pub(crate) const BY_PREFERENCE: [Algorithm; 6] = [
    Algorithm::Sha256,
    Algorithm::Sha512,
    Algorithm::Sha384,
    Algorithm::Sha224,
    Algorithm::Sha1,
    Algorithm::Md5,
];

/// The files at the root of a pack, by their names there.
pub(crate) trait RootFiles {
    /// Returns the layout of the pack. It is called only after a manifest was found.
    fn layout(&self) -> Result<Layout>;

    /// Reads a whole file, if it exists. The error is damage or a system error.
    fn read(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>>;

    /// Makes an error of a finding about the pack.
    fn damaged(&self, finding: Finding) -> Error;
}

/// The encoding of the tag files of a pack, and of names in its manifests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TagRules {
    pub(crate) names: NameEncoding,
    /// `None` if the bag declares an encoding that is not supported.
    encoding: Option<TagEncoding>,
}

impl TagRules {
    /// Returns the rules of a pack with this layout and, for a bag, the text of `bagit.txt`.
    pub(crate) fn of(layout: Layout, declaration: Option<&[u8]>) -> Self {
        match layout {
            Layout::Plain => Self { names: NameEncoding::Gnu, encoding: Some(TagEncoding::Utf8) },
            Layout::BagIt => {
                Self::declared(&BagDeclaration::parse(declaration.unwrap_or_default()).0)
            }
        }
    }

    /// Returns the rules that a bag declares; by default those of BagIt 1.0 in UTF-8.
    pub(crate) fn declared(declaration: &BagDeclaration) -> Self {
        // Without a valid line, UTF-8 is assumed, which nearly every bag uses.
        let assumed = declaration.stated_encoding.is_none().then(TagEncoding::default);
        let names = declaration.rules().name_encoding();
        Self { names, encoding: declaration.encoding.or(assumed) }
    }

    /// Decodes a tag file to UTF-8 with plain line ends. Manifests of a plain pack are not changed, because their names
    /// may contain characters that a bag would encode.
    ///
    /// # Errors
    ///
    /// A finding if the text is not in the declared encoding, or if that is unknown.
    pub(crate) fn decode<'t>(
        self,
        name: &str,
        text: &'t [u8],
    ) -> Result<Cow<'t, [u8]>, Box<Finding>> {
        if self.names == NameEncoding::Gnu {
            return Ok(Cow::Borrowed(text));
        }
        let encoding = self.encoding.ok_or_else(|| {
            const MESSAGE: &str = "the encoding of the bag's manifests is not supported";
            Finding::new(Code::UnknownTagEncoding, MESSAGE).in_member(BAG_DECLARATION)
        })?;
        encoding.decode(text).ok_or_else(|| Box::new(not_text(encoding, name, 1)))
    }
}

/// The text of a manifest in UTF-8.
#[derive(Debug)]
pub(crate) struct ManifestText<'t> {
    pub(crate) name: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) names: NameEncoding,
    text: Cow<'t, [u8]>,
}

impl<'t> ManifestText<'t> {
    /// Decodes the text of a manifest with the rules of its pack.
    ///
    /// # Errors
    ///
    /// As [`TagRules::decode`].
    pub(crate) fn decode(
        name: impl Into<String>,
        algorithm: Algorithm,
        rules: TagRules,
        text: impl Into<Cow<'t, [u8]>>,
    ) -> Result<Self, Box<Finding>> {
        let name = name.into();
        let text = match text.into() {
            Cow::Borrowed(text) => rules.decode(&name, text)?,
            Cow::Owned(text) => match rules.decode(&name, &text)? {
                Cow::Owned(decoded) => Cow::Owned(decoded),
                Cow::Borrowed(_) => Cow::Owned(text),
            },
        };
        Ok(Self { name, algorithm, names: rules.names, text })
    }

    /// Makes the text of a manifest outside the pack, where no declaration of a bag applies.
    pub(crate) fn outside(
        name: impl Into<String>,
        algorithm: Algorithm,
        names: NameEncoding,
        text: Vec<u8>,
    ) -> Self {
        Self { name: name.into(), algorithm, names, text: Cow::Owned(text) }
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Parses every line, and adds the errors.
    pub(crate) fn parse(self, findings: &mut Vec<Finding>) -> NamedManifest {
        let (manifest, faults) = Manifest::parse(self.algorithm, self.names, &self.text);
        findings.extend(faults.iter().map(|fault| fault_finding(&self.name, fault)));
        NamedManifest { name: self.name, manifest }
    }

    /// Makes an index of all lines.
    pub(crate) fn index(&self) -> ManifestIndex {
        ManifestIndex::new(self.algorithm, self.names, &self.text)
    }
}

/// Returns the rules for reading the manifests of a pack.
pub(crate) fn rules(files: &impl RootFiles) -> Result<TagRules> {
    let layout = files.layout()?;
    let declaration = match layout {
        Layout::Plain => None,
        Layout::BagIt => files.read(BAG_DECLARATION)?,
    };
    Ok(TagRules::of(layout, declaration.as_deref()))
}

/// Returns the signatures next to a manifest.
pub(crate) fn signatures_of(manifest: &Path) -> Vec<PathBuf> {
    let mut signatures = possible_signatures(manifest);
    signatures.retain(|path| fs::exists(path));
    signatures
}

/// Returns the paths of all files that may belong to an archive next to it: manifest, digest and signatures.
pub(crate) fn companions(archive: &Path) -> Vec<PathBuf> {
    let manifest = beside(archive, EXTERNAL_MANIFEST_SUFFIX);
    let mut all = possible_signatures(&manifest);
    all.extend([beside(archive, ARCHIVE_DIGEST_SUFFIX), manifest]);
    all
}

/// Returns the paths that signatures of a manifest may have.
fn possible_signatures(manifest: &Path) -> Vec<PathBuf> {
    SIGNATURE_EXTENSIONS.iter().map(|end| beside(manifest, &format!(".{end}"))).collect()
}

/// Returns the parity files next to an archive: `NAME.par2`, and others such as `NAME.vol00+10.par2`.
pub(crate) fn parity_files(archive: &Path) -> Vec<PathBuf> {
    let first = beside(archive, &format!(".{PARITY_EXTENSION}"));
    if !fs::exists(&first) {
        return Vec::new();
    }
    let more = fs::names_beside(archive).filter(|name| {
        let middle = archive.file_name().and_then(|own| name.strip_prefix(own.to_str()?));
        let middle = middle.and_then(|rest| rest.strip_prefix(".vol")?.strip_suffix(".par2"));
        middle.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'+'))
    });
    let mut more: Vec<_> = more.map(|name| archive.with_file_name(name)).collect();
    more.sort();
    [first].into_iter().chain(more).collect()
}
