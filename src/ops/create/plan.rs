//! What goes into the archive, and in which order it is written.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use unicode_normalization::UnicodeNormalization as _;

use super::generated::{Generated, Lists, Payload};
use super::payload::PayloadMembers;
use crate::archive::{
    AllRecords, ArchiveWriter, Container, NewContent, are_surely_portable, check_portable,
};
use crate::digest::{Algorithm, Digest, Digests};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, Severity, count_errors};
use crate::fs::{self, File};
use crate::manifest::{Manifest, NameEncoding};
use crate::ops::describe::describe_missing;
use crate::ops::manifests;
use crate::ops::scan::check_values_below;
use crate::ops::survey::{EntrySource, SourceEntry, Survey};
use crate::pack::bag::{BAG_INFO, BagInfo, DECLARATION, PayloadOxum};
use crate::pack::{
    self, BAG_DECLARATION, Contents, DescriptionFacts, EXTERNAL_MANIFEST_SUFFIX, Layout,
    PACK_DOCUMENT, PackDocument, Placement,
};
use crate::path::MemberPath;
use crate::pipeline;

/// What goes into the archive.
pub(super) struct CreatePlan<'a> {
    members: PayloadMembers<'a>,
    contents: Contents,
    entries: Vec<SourceEntry>,
    /// The names of descriptions made for arrays that have none.
    described: Vec<String>,
    /// A hand-written description of the pack.
    pack_document: Option<SourceEntry>,
    /// The same with what it lacks.
    completed: Option<String>,
    /// A manifest that the source already has.
    manifest: Option<SourceEntry>,
    algorithms: &'a [Algorithm],
    /// The metadata of a bag.
    info: BagInfo,
    findings: Vec<Finding>,
}

impl<'a> CreatePlan<'a> {
    /// Decides what goes in, and refuses what is not sound.
    pub(super) fn new(
        survey: Survey,
        members: PayloadMembers<'a>,
        algorithms: &'a [Algorithm],
        info: BagInfo,
        jobs: usize,
    ) -> Result<Self> {
        let PayloadMembers { source, placement, options, container } = members;
        let Survey { mut entries, mut contents, mut findings } = survey;
        entries.retain(|entry| {
            let is_signature = pack::is_signature(entry.path.as_str());
            if is_signature {
                let message = "the signature is not packed: it is of a manifest that is made anew";
                findings.push(
                    Finding::new(Code::OddContainer, message)
                        .in_member(entry.path.as_str())
                        .hint("sign the new manifest: `create` with the option `sign_with`"),
                );
            }
            !is_signature
        });
        let mut take = |name: &str| {
            let index = entries.binary_search_by(|entry| entry.path.as_str().cmp(name)).ok()?;
            Some(entries.remove(index))
        };
        if take(BAG_DECLARATION).is_some() {
            return Err(Error::Unsupported(format!(
                "`{}` is a bag already; `ra-pack verify` checks it, and its `data` directory can be \
                 packed",
                crate::path::escape_path(source)
            )));
        }
        let manifest = take(&pack::manifest_name(Algorithm::Sha256));
        for algorithm in Algorithm::ALL {
            // It would not list what is added here, and nobody has held the files against it.
            if let Some(entry) = take(&pack::manifest_name(algorithm)) {
                let message = "the manifest is not packed: the archive has one of its own";
                findings.push(
                    Finding::new(Code::OddContainer, message)
                        .in_member(entry.path.as_str())
                        .hint(format!("check the files with `{}sum -c` first", algorithm.name())),
                );
            }
        }
        let pack_document = take(PACK_DOCUMENT);
        let mut described = Vec::new();
        if options.describe {
            for (path, text) in describe_missing(&contents, false) {
                let facts = DescriptionFacts::parse(path.as_str(), text.as_slice());
                contents.descriptions.insert(path.clone(), Box::new(facts));
                described.push(path.as_str().to_owned());
                entries.push(SourceEntry::new(path, EntrySource::Made(text.into())));
            }
            entries.sort_by(|one, other| one.path.as_str().cmp(other.path.as_str()));
        }
        contents.forget_repetition();
        findings.extend(contents.forget_own_document());
        // What is made anew needs nothing of what is there.
        let pack_document = pack_document.filter(|_| contents.pack_document.is_some());
        let (of_names, of_contents) = pipeline::join(
            jobs,
            || {
                let portable = options.portable;
                let mut found = unportable_names(&entries, placement, container, portable);
                if options.layout == Layout::BagIt {
                    found.extend(unfit_names(entries.iter().map(|entry| &entry.path)));
                }
                found
            },
            || contents.findings(),
        );
        findings.extend(of_contents);
        findings.extend(check_values_below(source, &contents)?);
        findings.extend(of_names);
        let completed = contents.complete_document().transpose();
        let completed = completed.unwrap_or_else(|finding| {
            findings.push(finding);
            None
        });
        findings.extend(earlier_archives(&entries));
        findings.extend(no_arrays(source, &entries, &contents));
        if options.strict {
            findings.extend(contents.extension_words());
            for finding in &mut findings {
                finding.severity = Severity::Error;
            }
        }
        finding::cut(&mut findings);
        if count_errors(&findings) > 0 {
            return Err(Error::Refused { path: source.to_owned(), findings });
        }
        Ok(Self {
            members,
            contents,
            entries,
            described,
            pack_document,
            completed,
            manifest,
            algorithms,
            info,
            findings,
        })
    }

    /// Writes everything that has not been written, and what the pack itself needs.
    pub(super) fn write(
        mut self,
        mut writer: ArchiveWriter<'_>,
        external: Option<&File>,
        jobs: usize,
    ) -> Result<PackedCounts> {
        let PayloadMembers { placement, options, .. } = self.members;
        self.members.write_rest(&mut self.entries, &mut writer)?;
        self.members.write_reserved(&mut self.entries, &writer, self.algorithms, jobs)?;
        let payload = Payload { entries: &self.entries, members: self.members };
        self.check_existing_manifest(payload)?;
        let names = match options.layout {
            Layout::Plain => NameEncoding::Gnu,
            Layout::BagIt => NameEncoding::Percent,
        };
        let contents = std::mem::take(&mut self.contents);
        let arrays = contents.arrays.len() as u64;
        let text = match &self.pack_document {
            Some(entry) => {
                let text = self.read(entry)?;
                PackText::Whole(self.completed.take().map_or(text, String::into_bytes))
            }
            None => PackText::Made(PackDocument::new(&contents, None)),
        };
        let mut lists = Lists::new(payload, names);
        let is_empty = || self.entries.iter().all(|entry| self.members.of(entry).is_none());
        if let Some(directory) = self.members.payload_directory().filter(|_| is_empty()) {
            let placed = writer.write(&directory, NewContent::Bytes(b""))?;
            writer.list(&directory, &placed);
        }

        let (members, algorithms, bytes, files) = (self.members, self.algorithms, 0, 0);
        let mut generated = Generated { writer, members, algorithms, external, bytes, files };
        let mut packed = PackedCounts {
            members: lists.files,
            arrays,
            bytes: lists.bytes,
            described: std::mem::take(&mut self.described),
            findings: Vec::new(),
        };
        match options.layout {
            Layout::Plain => {
                let (_, digests) = text.add_to(&mut generated)?;
                drop(text);
                drop(contents);
                lists.own = Some((PACK_DOCUMENT, digests));
                generated.add_payload_manifests(&lists)?;
            }
            // A bag lists what is not payload elsewhere.
            Layout::BagIt => {
                let relative = |(path, digests): (MemberPath, Digests)| {
                    let name = placement.relative(path.as_str()).unwrap_or(path.as_str());
                    MemberPath::new(name).map(|path| (path, digests))
                };
                let mut info = self.info.clone();
                info.set_payload(PayloadOxum { bytes: lists.bytes, files: lists.files });
                let mut tags = vec![
                    generated.add(BAG_DECLARATION, DECLARATION.as_bytes())?,
                    generated.add(BAG_INFO, info.to_text().as_bytes())?,
                    text.add_to(&mut generated)?,
                ];
                drop(text);
                drop(contents);
                tags.extend(generated.add_payload_manifests(&lists)?);
                let tags = tags.into_iter().map(relative).collect::<Result<Vec<_>, _>>()?;
                generated.add_tag_manifests(&tags)?;
            }
        }
        packed.bytes = packed.bytes.saturating_add(generated.bytes);
        packed.members += generated.files;
        let records = |range| payload.records(range);
        let sample = payload.sample(generated.writer.is_stream());
        let records = AllRecords { count: payload.entries.len(), of: &records };
        generated.writer.finish(records, &sample)?;
        packed.findings = std::mem::take(&mut self.findings);
        Ok(packed)
    }

    /// Reads a small file of the source whole.
    fn read(&self, entry: &SourceEntry) -> Result<Vec<u8>> {
        let path = self.members.source.join(entry.path.as_str());
        let bytes = fs::read_limited(&path, manifests::MAX_MANIFEST)?;
        let now = File::open(&path)?.stamp()?;
        if entry.stamp() == Some(&now) && now.len() == bytes.len() as u64 {
            return Ok(bytes);
        }
        Err(Error::Changed { path, what: "it was written to".to_owned() })
    }

    /// Holds what was packed against the manifest that the source came with.
    fn check_existing_manifest(&self, packed: Payload<'_>) -> Result<()> {
        let Some(entry) = &self.manifest else { return Ok(()) };
        let text = self.read(entry)?;
        let name = entry.path.as_str();
        let (manifest, faults) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &text);
        let mut findings: Vec<Finding> =
            faults.iter().map(|fault| manifests::fault_finding(name, fault)).collect();
        let payload: BTreeMap<String, Digest> = packed
            .files()
            .filter_map(|(name, _, digests)| {
                let name = self.members.placement.payload(&name)?.to_owned();
                Some((name, digests.made_by(Algorithm::Sha256)))
            })
            .collect();
        for entry in manifest.entries() {
            let path = entry.path.as_str();
            // These are written anew; what was left out was left out on purpose.
            let skipped = path == PACK_DOCUMENT || !self.covers(path);
            match payload.get(path) {
                Some(digest) if *digest == entry.digest => {}
                Some(digest) => {
                    findings.push(manifests::mismatch(path, name, &entry.digest, digest));
                }
                None if skipped => {}
                None => findings.push(manifests::missing(path, name, entry.line)),
            }
        }
        if count_errors(&findings) > 0 {
            finding::cut(&mut findings);
            return Err(Error::Refused { path: self.members.source.to_owned(), findings });
        }
        Ok(())
    }

    /// Whether a file that is there would have been packed under this name.
    fn covers(&self, path: &str) -> bool {
        !fs::exists(&self.members.source.join(path))
            || self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).is_ok()
    }
}

/// Archives with their manifests next to them: most likely of earlier runs.
fn earlier_archives(entries: &[SourceEntry]) -> impl Iterator<Item = Finding> {
    let is_there =
        |name: &str| entries.binary_search_by(|entry| entry.path.as_str().cmp(name)).is_ok();
    let names = entries.iter().map(|entry| entry.path.as_str());
    let archives = names.filter(move |name| {
        Container::from_extension(name.as_ref()).is_some()
            && is_there(&format!("{name}{EXTERNAL_MANIFEST_SUFFIX}"))
    });
    archives.map(|name| {
        Finding::new(Code::OddContainer, "an archive of an earlier run is packed with the rest")
            .in_member(name)
            .hint(format!("leave it out: the option `exclude: '{name}*'`"))
    })
}

/// Files that hold arrays in a format that can be imported, by what their names end in.
const IMPORTED: [&str; 3] = ["npy", "npz", "ds"];
/// The same in formats that cannot.
const FOREIGN: [&str; 11] =
    ["nc", "nc4", "cdf", "h5", "hdf5", "he5", "csv", "tsv", "mat", "fits", "parquet"];

/// Says that a pack has no array, which is seldom what is meant.
fn no_arrays(source: &Path, entries: &[SourceEntry], contents: &Contents) -> Option<Finding> {
    if !contents.arrays.is_empty() || contents.unattached().any(|(_, facts)| facts.describes()) {
        return None;
    }
    let mut counts: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for entry in entries {
        let Some(extension) = entry.path.extension() else { continue };
        if IMPORTED.contains(&extension) || FOREIGN.contains(&extension) {
            counts.entry(extension).or_insert((0, entry.path.as_str())).0 += 1;
        }
    }
    let finding = Finding::new(Code::NoArrays, "there is no array in the pack");
    if counts.is_empty() {
        return Some(finding);
    }
    let files = counts.iter().map(|(extension, (count, _))| match count {
        1 => format!("1 .{extension} file"),
        count => format!("{count} .{extension} files"),
    });
    let files: Vec<_> = files.collect();
    let first = IMPORTED.iter().find_map(|extension| Some((extension, counts.get(extension)?.1)));
    let hint = match first {
        Some((extension, name)) => {
            let from = source.join(name);
            let to = from.with_extension(if *extension == "npy" { "ra" } else { "" });
            format!(
                "`ra-pack convert {} {}` makes an array of one",
                crate::path::escape(&from.to_string_lossy()),
                crate::path::escape(&to.to_string_lossy()),
            )
        }
        None => "write the arrays as .npy or .npz, which `ra-pack convert` takes".to_owned(),
    };
    let found = format!("{}, packed as plain files", files.join(" and "));
    Some(finding.expected("`X.ra` with its description `X.yaml`", found).hint(hint))
}

/// What is wrong with the names that the payload will have in the archive; errors when they have to be
/// portable.
fn unportable_names(
    entries: &[SourceEntry],
    placement: &Placement,
    container: Container,
    portable: bool,
) -> Vec<Finding> {
    let names = || entries.iter().map(|entry| placement.placed(entry.path.as_str()));
    if are_surely_portable(names()) {
        return Vec::new();
    }
    let names: Vec<_> = names().collect();
    let mut findings = Vec::new();
    check_portable(names.iter().map(|name| &**name), container, &mut findings);
    finding::rename(&mut findings, |name| placement.shown(name));
    if portable {
        for finding in &mut findings {
            finding.severity = Severity::Error;
        }
    }
    findings
}

/// Names that other readers of bags take for others, or that may become one.
fn unfit_names<'a>(paths: impl Iterator<Item = &'a MemberPath>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut normalized: HashMap<String, &MemberPath> = HashMap::new();
    for path in paths {
        let name = path.as_str();
        if name.contains(['%', '\n', '\r']) {
            findings.push(
                Finding::new(
                    Code::UnfitForBag,
                    "the name has a line end or a `%`, which a bag has to encode and most readers \
                     of bags do not decode",
                )
                .in_member(name)
                .hint("rename the file, leave it out with the option `exclude`, or use the option `layout: plain`"),
            );
        }
        // Names in ASCII are normalised as they are, and are no twins of each other.
        if let Some(other) = normalized.insert(name.nfc().collect(), path) {
            findings.push(
                Finding::new(
                    Code::UnfitForBag,
                    format!("the name is that of `{other}` after normalisation"),
                )
                .in_member(name)
                .hint("on some systems the two are one file; rename one of them"),
            );
        }
    }
    findings
}

/// The description of the pack.
enum PackText<'c> {
    Whole(Vec<u8>),
    /// Made as it is written.
    Made(PackDocument<'c>),
}

impl PackText<'_> {
    fn add_to(&self, generated: &mut Generated<'_, '_>) -> Result<(MemberPath, Digests)> {
        match self {
            Self::Whole(text) => generated.add(PACK_DOCUMENT, text),
            Self::Made(document) => generated.add_document(document),
        }
    }
}

/// What was packed.
pub(super) struct PackedCounts {
    pub(super) members: u64,
    pub(super) arrays: u64,
    pub(super) bytes: u64,
    pub(super) described: Vec<String>,
    pub(super) findings: Vec<Finding>,
}
