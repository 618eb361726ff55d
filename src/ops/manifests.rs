//! The manifests of a pack: found, decoded, read and checked against its files in one place; and their signatures.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::archive::{Archive, DataFault, Fault, copy};
use crate::digest::{Algorithm, Digest, Digests, Hashing};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding, Place};
use crate::fs::{self, File};
use crate::manifest::{Manifest, ManifestFault, ManifestIndex, NameEncoding};
use crate::pack::bag::{BagDeclaration, BagVersion, TagEncoding, not_text};
use crate::pack::{self, BAG_DECLARATION, EXTERNAL_MANIFEST_SUFFIX, Layout, SIGNATURE_EXTENSIONS};
use crate::path::escape;
use crate::progress::Progress;

/// Most bytes of manifests that are read, of one pack together: five million files with names of forty
/// bytes. It bounds the memory that a compressed manifest can ask for.
pub(super) const MAX_MANIFEST: u64 = 512 * 1024 * 1024;

/// Most bytes of the manifests in an archive that are read. An entry takes three times the memory of its line.
pub(super) fn longest(archive: &Archive) -> Result<u64> {
    Ok((archive.allowance()?.limit() >> 2).min(MAX_MANIFEST))
}

/// The digest of a whole open file, which nobody watches.
pub(super) fn digest_file(file: &File, name: &str, progress: &Progress) -> Result<Digest> {
    const BLOCK: usize = 256 * 1024;
    let len = file.len()?;
    progress.stage("finishing", len, 0);
    progress.at(name);
    file.rewind()?;
    let mut content = BufReader::with_capacity(BLOCK, file.try_clone()?.watched(progress));
    let digests = digest_reader(&mut content, &[Algorithm::Sha256], || ());
    Ok(digests.map_err(Error::io("read", file.path()))?.made_by(Algorithm::Sha256))
}

/// Reads `reader` to its end, tells `passed` of every block, and gives the digests of what it held.
pub(super) fn digest_reader(
    reader: &mut dyn BufRead,
    algorithms: &[Algorithm],
    passed: impl Fn(),
) -> io::Result<Digests> {
    let pass = |_: &[u8]| {
        passed();
        Ok(())
    };
    copy(reader, algorithms, Hashing::Here, pass).map_err(|fault| match fault {
        Fault::Source(error) => error,
        Fault::Sink(error) => error.into(),
    })
}

/// The path beside an archive with this suffix; none beside a source.
pub(super) fn beside_archive(archive: &Archive, suffix: &str) -> Option<PathBuf> {
    archive.is_at_path().then(|| beside(archive.path(), suffix))
}

/// A line at fault.
pub(super) fn fault_finding(manifest: &str, fault: &ManifestFault) -> Finding {
    let finding = Finding::new(Code::BadManifestLine, fault.message.as_str())
        .in_member(manifest)
        .at_line(fault.line);
    if fault.is_warning { finding.warning() } else { finding }
}

/// A file whose content is another than listed.
pub(super) fn mismatch(path: &str, manifest: &str, expected: &Digest, found: &Digest) -> Finding {
    Finding::new(Code::DigestMismatch, format!("the content differs from what `{manifest}` says"))
        .in_member(path)
        .expected(format!("{} {expected}", expected.algorithm().name()), found.to_string())
        .hint("take the file from another copy; it or the manifest was changed or damaged")
}

/// A file that is listed and not there.
pub(super) fn missing(path: &str, manifest: &str, line: u64) -> Finding {
    Finding::new(
        Code::MissingMember,
        format!("the file is listed in `{manifest}`, but is not there"),
    )
    .in_member(path)
    .expected(format!("a file, by line {line} of `{manifest}`"), "nothing")
    .hint("take it from another copy")
}

/// A file that is there and not listed.
pub(super) fn unlisted(path: &str, manifest: &str) -> Finding {
    Finding::new(Code::UnlistedMember, format!("the file is not listed in `{manifest}`"))
        .in_member(path)
        .hint("find out who added it, and pack anew with or without it; nothing vouches for it")
}

/// Every file that a manifest may list by its name in the pack, with its digests where it could be read.
pub(super) type PresentFiles<'a> = BTreeMap<&'a str, Option<Cow<'a, Digests>>>;

/// A manifest and what it is called.
#[derive(Debug)]
pub(super) struct NamedManifest {
    pub(super) name: String,
    pub(super) manifest: Manifest,
}

impl NamedManifest {
    /// Holds files against the list. `present` are all files that it may list, with their digests
    /// where they could be read; `must_list` says which of them it has to list.
    pub(super) fn check(
        &self,
        present: &PresentFiles<'_>,
        must_list: impl Fn(&str) -> bool,
        findings: &mut Vec<Finding>,
    ) {
        for entry in self.manifest.entries() {
            let path = entry.path.as_str();
            findings.extend(match present.get(path) {
                None => Some(missing(path, &self.name, entry.line)),
                // What kept it from being read is a finding of its own.
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

    /// That it lists fewer files than a stronger manifest has to, which are all of `files`.
    pub(super) fn lists_less_than<'n>(
        &self,
        files: impl Iterator<Item = &'n str>,
    ) -> Option<Finding> {
        let mut unlisted = files.filter(|name| self.manifest.get(name).is_none());
        let first = unlisted.next()?;
        let count = unlisted.count() + 1;
        let message = format!(
            "{count} of the files are listed in a stronger manifest only, `{first}` among them"
        );
        let hint = "make all manifests anew: who reads this one alone does not check these files";
        let finding = Finding::new(Code::ManifestsDisagree, message).warning();
        Some(finding.in_member(&*self.name).hint(hint))
    }

    /// Everything in which two manifests of one algorithm differ.
    pub(super) fn compare(&self, other: &Self, findings: &mut Vec<Finding>) {
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
                "find out which of the two was made with the pack; the other was changed since";
            let finding = Finding::new(Code::ManifestsDisagree, message).expected(one, other);
            findings.push(finding.in_member(path.as_str()).hint(hint));
        }
    }
}

/// Refuses a file that somebody named as a manifest, and that is none: not one of its lines is.
pub(super) fn must_be_one(named: &NamedManifest, faults: &[Finding]) -> Result<()> {
    let Some(Finding { message, place: Some(Place::Line { line }), .. }) = faults.first() else {
        return Ok(());
    };
    if !named.manifest.entries().is_empty() {
        return Ok(());
    }
    let name = escape(&named.name);
    Err(Error::Unsupported(format!("`{name}` is not a manifest (line {line}: {message})")))
}

/// Reads a file beside the archive that is a manifest.
pub(super) fn read_beside(path: &Path) -> Result<Option<Vec<u8>>> {
    if !fs::exists(path) {
        return Ok(None);
    }
    fs::read_limited(path, MAX_MANIFEST).map(Some)
}

/// The path of a file beside another.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// What it means that a member cannot be read: damage, or that the system refused, which says nothing
/// about the archive.
pub(super) fn unreadable(member: &str, error: io::Error) -> Result<Finding> {
    if error.raw_os_error().is_some() {
        return Err(Error::io("read", Path::new(member))(error));
    }
    match error.downcast::<Error>() {
        Ok(refused) => Err(refused),
        Err(error) => Ok(data_finding(member, &error)),
    }
}

/// What an error while reading a member says about it.
pub(super) fn data_finding(member: &str, error: &io::Error) -> Finding {
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
        .hint("take it from another copy; the archive is damaged here, other members may be whole")
}

/// Refuses an output that would take the place of what is read: of the archive or array at `input`, of a file of
/// the directory there, or of the manifest beside it.
///
/// # Errors
///
/// When it would.
pub fn check_apart(input: impl AsRef<Path>, output: impl AsRef<Path>) -> Result<()> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let (Ok(read), Ok(written)) = (fs::real_path(input), fs::real_path(output)) else {
        // Nothing is there that could be replaced.
        return Ok(());
    };
    let what = if written == read {
        "is what is read"
    } else if written.starts_with(&read) {
        "is a file of the directory that is read"
    } else if written == beside(&read, EXTERNAL_MANIFEST_SUFFIX) {
        "is the manifest of what is read"
    } else {
        return Ok(());
    };
    Err(Error::Unsupported(format!(
        "`{}` {what}; give the output another name",
        escape(&output.to_string_lossy())
    )))
}

/// Which manifest a single file is held against when there are several: the one that every reader of
/// packs knows, then the strongest.
pub(super) const BY_PREFERENCE: [Algorithm; 6] = [
    Algorithm::Sha256,
    Algorithm::Sha512,
    Algorithm::Sha384,
    Algorithm::Sha224,
    Algorithm::Sha1,
    Algorithm::Md5,
];

/// The files at the root of a pack, by their names there.
pub(super) trait RootFiles {
    /// How the pack is laid out; not asked before one of its manifests was found.
    fn layout(&self) -> Result<Layout>;

    /// A whole file, if there is one. What it cannot be read for is damage, or a refusal of the system.
    fn read(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>>;

    /// An error that is a finding about the pack.
    fn damaged(&self, finding: Finding) -> Error;
}

/// How the tag files of a pack are encoded, and how its manifests write names.
#[derive(Debug, Clone, Copy)]
pub(super) struct TagRules {
    pub(super) names: NameEncoding,
    /// Nothing when the bag declares an encoding that is not known.
    encoding: Option<TagEncoding>,
}

impl TagRules {
    /// The rules of a pack of this layout, with the text of `bagit.txt` when there is one.
    pub(super) fn of(layout: Layout, declaration: Option<&[u8]>) -> Self {
        match layout {
            Layout::Plain => Self { names: NameEncoding::Gnu, encoding: Some(TagEncoding::Utf8) },
            Layout::BagIt => {
                Self::declared(&BagDeclaration::parse(declaration.unwrap_or_default()).0)
            }
        }
    }

    /// The rules that a bag declares; where it declares none, those of BagIt 1.0 in UTF-8.
    pub(super) fn declared(declaration: &BagDeclaration) -> Self {
        // Two lines may be at fault in every way; UTF-8 is what nearly every bag is in.
        let unknown = declaration.encoding.is_none() && declaration.version.is_some();
        let encoding = declaration.encoding.unwrap_or_default();
        let names = declaration.version.unwrap_or(BagVersion::V1_0).name_encoding();
        Self { names, encoding: (!unknown).then_some(encoding) }
    }

    /// The text of a tag file in UTF-8 with plain line ends. The manifests of a plain pack stay as
    /// they are, because their names may hold what a bag would encode.
    ///
    /// # Errors
    ///
    /// A finding when it is no text in the declared encoding, or when that is not known.
    pub(super) fn decode<'t>(
        self,
        name: &str,
        text: &'t [u8],
    ) -> Result<Cow<'t, [u8]>, Box<Finding>> {
        if self.names == NameEncoding::Gnu {
            return Ok(Cow::Borrowed(text));
        }
        let encoding = self.encoding.ok_or_else(|| {
            const MESSAGE: &str =
                "the manifests of the bag are in an encoding that is not supported";
            Finding::new(Code::UnknownTagEncoding, MESSAGE).in_member(BAG_DECLARATION)
        })?;
        encoding.decode(text).ok_or_else(|| Box::new(not_text(encoding, name, 1)))
    }
}

/// A manifest as it stands, in UTF-8.
#[derive(Debug)]
pub(super) struct ManifestText<'t> {
    pub(super) name: String,
    pub(super) algorithm: Algorithm,
    pub(super) names: NameEncoding,
    text: Cow<'t, [u8]>,
}

impl<'t> ManifestText<'t> {
    /// Decodes the text of a manifest by the rules of its pack.
    ///
    /// # Errors
    ///
    /// As [`TagRules::decode`].
    pub(super) fn decode(
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

    /// A manifest that lies outside of the pack, where no rules of a bag say how it is encoded.
    pub(super) fn outside(
        name: impl Into<String>,
        algorithm: Algorithm,
        names: NameEncoding,
        text: Vec<u8>,
    ) -> Self {
        Self { name: name.into(), algorithm, names, text: Cow::Owned(text) }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Reads every line, and adds what is wrong with any.
    pub(super) fn parse(self, findings: &mut Vec<Finding>) -> NamedManifest {
        let (manifest, faults) = Manifest::parse(self.algorithm, self.names, &self.text);
        findings.extend(faults.iter().map(|fault| fault_finding(&self.name, fault)));
        NamedManifest { name: self.name, manifest }
    }

    /// An index of all its lines.
    pub(super) fn index(&self) -> ManifestIndex {
        ManifestIndex::new(self.algorithm, self.names, &self.text)
    }
}

/// The manifest that a single file of a pack is held against.
pub(super) fn preferred(files: &impl RootFiles) -> Result<Option<ManifestText<'_>>> {
    for algorithm in BY_PREFERENCE {
        let name = pack::manifest_name(algorithm);
        let Some(text) = files.read(&name)? else { continue };
        let rules = rules(files)?;
        return match ManifestText::decode(name, algorithm, rules, text) {
            Ok(text) => Ok(Some(text)),
            Err(finding) => Err(files.damaged(*finding)),
        };
    }
    Ok(None)
}

/// How the manifests of a pack are to be read.
pub(super) fn rules(files: &impl RootFiles) -> Result<TagRules> {
    let layout = files.layout()?;
    let declaration = match layout {
        Layout::Plain => None,
        Layout::BagIt => files.read(BAG_DECLARATION)?,
    };
    Ok(TagRules::of(layout, declaration.as_deref()))
}

/// The signatures that stand beside a manifest.
pub(super) fn signatures_of(manifest: &Path) -> Vec<PathBuf> {
    let name = |extension: &&str| {
        let mut name = manifest.as_os_str().to_owned();
        name.push(".");
        name.push(extension);
        PathBuf::from(name)
    };
    SIGNATURE_EXTENSIONS.iter().map(name).filter(|path| fs::exists(path)).collect()
}

/// Runs `command`, a line for the shell, with the path of the manifest behind it, and gives the
/// signature that it made beside the manifest.
pub(super) fn sign(manifest: &Path, command: &str) -> Result<PathBuf> {
    let failed = |why: String| {
        Error::Unsupported(format!(
            "the archive is whole, but its manifest is not signed: `{}` {why}",
            escape(command)
        ))
    };
    let status = shell(command)
        .arg(manifest)
        .status()
        .map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !status.success() {
        return Err(failed(format!("ended with {status}")));
    }
    signatures_of(manifest).into_iter().next().ok_or_else(|| {
        let known: Vec<_> =
            SIGNATURE_EXTENSIONS.iter().map(|extension| format!(".{extension}")).collect();
        failed(format!(
            "left no signature beside `{}`; expected the same name with {} behind it",
            escape(&manifest.to_string_lossy()),
            known.join(", ")
        ))
    })
}

/// The shell, about to run `command` with the arguments that are added.
#[cfg(not(windows))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{command} \"$@\"")).arg("ra-pack");
    shell
}

/// The shell, about to run `command` with the arguments that are added.
#[cfg(windows)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").args(command.split_whitespace());
    shell
}
