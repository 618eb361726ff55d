//! A valid pack from what is left of a damaged one.
//!
//! The archive is read in passes: one for its manifests, one for the contents, and one for the contents that no manifest
//! confirms, if they are wanted. A file is taken if a manifest lists its name with its digest. So it does not matter how
//! its header was found, or whether the manifest itself is damaged: two independent parts of the archive agree.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{CreateOptions, CreateReport, PackWriter};
use crate::allowance::Allowance;
use crate::archive::{Judged, Remains};
use crate::digest::{Algorithm, Digest, Digests, Hashers, Wanted};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, count_errors};
use crate::fs::{self, Target, beside};
use crate::manifest::BlockList;
use crate::pack::{
    self, BAG_DECLARATION, BLOCK_LIST, Contents, EXTERNAL_MANIFEST_SUFFIX, Inspector, Layout,
    PACK_DOCUMENT, Placement,
};
use crate::path::MemberPath;
use crate::progress::Progress;
use crate::read::blocks::FileBlocks;
use crate::read::check_apart;
use crate::read::manifests::{self, MAX_MANIFEST, ManifestText, NamedManifest, TagRules};

/// Bytes of memory for a name, in addition to its own.
const NAME_MEMORY: u64 = 200;

/// Options for [`salvage`]: the manifest, and where to put files that no manifest confirms.
#[derive(Debug, Clone, Default)]
pub struct SalvageOptions {
    /// Path of the only manifest to use. By default, those in the archive and next to it are used.
    pub manifest: Option<PathBuf>,
    /// A new directory for the files that no manifest confirms, as far as they can be read.
    pub unconfirmed: Option<PathBuf>,
    /// Whether to replace an existing output.
    pub force: bool,
    /// Number of threads that complete the new archive; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// The files that were confirmed, and those that are lost.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SalvageReport {
    /// Path of the damaged archive, as given.
    pub target: PathBuf,
    /// Path of the new archive; absent if no file is confirmed, so that there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
    /// Names of the manifests that were used.
    pub manifests: Vec<String>,
    /// Number of files that a manifest confirms.
    pub confirmed: u64,
    /// Number of arrays in the new archive.
    pub arrays: u64,
    /// Number of files that are lost: listed and not confirmed, or found and not listed.
    pub lost: u64,
    /// Number of files in the directory for unconfirmed files.
    pub unconfirmed: u64,
    /// An error for each file that is lost, with the damaged ranges if there are block digests; and warnings.
    pub findings: Vec<Finding>,
}

impl SalvageReport {
    /// Returns whether nothing is lost.
    pub fn is_whole(&self) -> bool {
        count_errors(&self.findings) == 0
    }
}

/// Makes a valid pack, `output`, of the files in a damaged archive that a manifest confirms.
///
/// Headers are searched in the whole file, so the end of the archive, its directory and any member may be missing or
/// damaged. A file is confirmed if a manifest lists its name with its digest: a manifest in the archive, the one next to
/// it, or only [`SalvageOptions::manifest`]. Nothing else is in the new pack, except generated files: manifests, the
/// description of the pack, and descriptions for arrays that lost theirs. Empty directories and the `bag-info.txt` of a
/// bag are not kept.
///
/// # Errors
///
/// [`Error::AlreadyExists`] if the output exists and `force` is false, or if the directory for unconfirmed files
/// exists; [`Error::NotAPack`] for another kind of file; [`Error::WrongTarget`] if the output is the archive itself;
/// [`Error::Limit`] if the archive has too many names for its size; [`Error::Io`] for system errors. Damage is not an
/// error: the report lists it.
///
/// ```no_run
/// use ra_pack::write::{SalvageOptions, salvage};
///
/// let report = salvage("broken.zip", "intact.zip", &SalvageOptions::default())?;
/// for finding in &report.findings {
///     println!("{finding}");
/// }
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn salvage(
    archive: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &SalvageOptions,
) -> Result<SalvageReport> {
    let (archive, output) = (archive.as_ref(), output.as_ref());
    check_apart(archive, output)?;
    if let Some(path) = options.unconfirmed.as_ref().filter(|path| fs::exists(path)) {
        return Err(Error::AlreadyExists { path: path.clone() });
    }
    let remains = Remains::open(archive, &options.progress)?;
    let bytes = remains.len()?;
    options.progress.stage("reading", bytes, 0);
    let mut known = Known::read(&remains, archive, options)?;
    options.progress.stage("checking", bytes, 0);
    let mut taking = Taking::begin(output, &known, options)?;
    let on_the_way = remains.each(&mut |member, content| {
        options.progress.check()?;
        taking.take(&mut known, &member.name, content)
    })?;
    let made = taking.finish(&mut known)?;
    let mut report = SalvageReport {
        target: archive.to_owned(),
        output: made.as_ref().map(|_| output.to_owned()),
        confirmed: known.listed.values().filter(|listed| listed.is_confirmed).count() as u64,
        arrays: made.as_ref().map_or(0, |made| made.arrays),
        ..SalvageReport::default()
    };
    report.findings.extend(made.into_iter().flat_map(|made| made.findings));
    if let Some(directory) = &options.unconfirmed {
        options.progress.stage("unpacking", bytes, 0);
        report.unconfirmed = known.unpack(&remains, directory, options)?;
    }
    known.report(on_the_way, &mut report);
    finding::cut(&mut report.findings);
    Ok(report)
}

/// A file that a manifest lists.
struct Listed {
    digests: Vec<Digest>,
    is_confirmed: bool,
    /// Why it is lost.
    reason: Finding,
}

/// The files that the manifests list.
struct Known {
    placement: Placement,
    manifests: Vec<String>,
    /// Files by their names relative to the root of the pack.
    listed: BTreeMap<String, Listed>,
    /// Files that no manifest lists.
    unlisted: BTreeSet<String>,
    algorithms: BTreeSet<Algorithm>,
    blocks: Option<BlockList>,
    allowance: Allowance,
    findings: Vec<Finding>,
}

impl Known {
    /// Reads the names of all files that are found, and the texts of manifests and other lists.
    fn read(remains: &Remains, archive: &Path, options: &SalvageOptions) -> Result<Self> {
        let allowance = Allowance::of_file(remains.len()?);
        let longest = (allowance.limit() >> 2).min(MAX_MANIFEST);
        let mut names = BTreeSet::new();
        // The text, and whether it is complete.
        let mut texts: BTreeMap<String, (Vec<u8>, bool)> = BTreeMap::new();
        remains.each(&mut |member, content| {
            options.progress.check()?;
            let name = &*member.name;
            if !names.contains(name) {
                if !allowance.take(name.len() as u64 + NAME_MEMORY) {
                    let limit = allowance.limit();
                    let why = format!("the names of the files need more than {limit} bytes");
                    return Err(Error::Limit(why.into()));
                }
                names.insert(name.to_owned());
            }
            // At the root, or in a single directory that contains the whole pack.
            let last = name.split_once('/').map_or(name, |(_, last)| last);
            let is_list = matches!(last, BAG_DECLARATION | BLOCK_LIST)
                || pack::manifest_algorithm(last).is_some_and(Algorithm::is_written);
            if !is_list || texts.get(name).is_some_and(|(_, is_whole)| *is_whole) {
                return Ok(Judged::Unread);
            }
            let mut text = Vec::new();
            let room = if allowance.take(longest) { longest } else { 0 };
            let is_whole = content.take(room).read_to_end(&mut text).is_ok();
            options.progress.check()?;
            allowance.give_back(room - text.len() as u64);
            texts.insert(name.to_owned(), (text, is_whole));
            Ok(Judged::Unconfirmed)
        })?;
        let placement = Placement::detect(&names.iter().map(|name| &**name));
        let text = |name: &str| texts.get(&placement.place_tag(name));
        let declaration = text(BAG_DECLARATION).map(|(text, _)| &**text);
        let rules = TagRules::of(placement.layout, declaration);
        let blocks = text(BLOCK_LIST).and_then(|(text, _)| BlockList::parse(rules.names, text));
        let mut this = Self {
            placement: placement.clone(),
            manifests: Vec::new(),
            listed: BTreeMap::new(),
            unlisted: BTreeSet::new(),
            algorithms: BTreeSet::from([Algorithm::Sha256]),
            blocks: blocks.and_then(Result::ok),
            findings: Vec::new(),
            allowance,
        };
        let outside = |path: &Path, text| {
            let (name, algorithm) = (path.to_string_lossy(), manifests::algorithm_of(path));
            ManifestText::outside(name, algorithm, rules.names, text)
        };
        if let Some(path) = &options.manifest {
            let text = outside(path, fs::read_limited(path, MAX_MANIFEST)?);
            let manifest = text.parse(&mut this.findings);
            manifests::must_be_one(&manifest, &this.findings)?;
            this.list(manifest);
            return Ok(this.placed(&names));
        }
        let beside = beside(archive, EXTERNAL_MANIFEST_SUFFIX);
        if let Some(text) = manifests::read_beside(&beside)? {
            let manifest = outside(&beside, whole_lines(text)).parse(&mut this.findings);
            this.list(manifest);
        }
        for algorithm in Algorithm::ALL {
            let name = pack::manifest_name(algorithm);
            let Some((text, _)) = text(&name) else { continue };
            match ManifestText::decode(name, algorithm, rules, whole_lines(text.clone())) {
                Ok(text) => {
                    let manifest = text.parse(&mut this.findings);
                    this.list(manifest);
                }
                Err(finding) => this.findings.push(*finding),
            }
        }
        Ok(this.placed(&names))
    }

    /// Finds the top directory of a bag by the names in its manifest, because its declaration may be lost.
    fn placed(mut self, names: &BTreeSet<String>) -> Self {
        let top = names.iter().find_map(|name| {
            let (top, rest) = name.split_once('/')?;
            let is_payload = Placement::bag(top).payload(name).is_some();
            (is_payload && self.listed.contains_key(rest)).then_some(top)
        });
        if let Some(top) = top.filter(|_| self.placement.layout == Layout::Plain) {
            self.placement = Placement::bag(top);
        }
        self
    }

    /// Adds the entries of a manifest.
    fn list(&mut self, named: NamedManifest) {
        self.algorithms.insert(named.manifest.algorithm());
        for entry in named.manifest.entries() {
            let name = entry.path.as_str();
            let listed = self.listed.entry(name.to_owned()).or_insert_with(|| Listed {
                digests: Vec::new(),
                is_confirmed: false,
                reason: manifests::missing(name, &named.name, entry.line),
            });
            listed.digests.push(entry.digest);
        }
        self.manifests.push(named.name);
    }

    /// Returns whether a member is a file that a manifest confirmed.
    fn is_confirmed(&self, member: &str) -> bool {
        let name = self.placement.relative(member);
        name.and_then(|name| self.listed.get(name)).is_some_and(|listed| listed.is_confirmed)
    }

    /// Writes the files that are not confirmed to a new directory, as far as they can be read. Returns their number.
    fn unpack(&self, remains: &Remains, directory: &Path, options: &SalvageOptions) -> Result<u64> {
        fs::create_root(directory)?;
        let target = Target::open(directory)?;
        let (mut writer, mut written) = (target.writer(), BTreeSet::new());
        remains.each(&mut |member, content| {
            let name = &*member.name;
            let in_pack = self.placement.relative(name).unwrap_or(name);
            let is_wanted = MemberPath::new(name).is_ok_and(|path| path.as_str() == name)
                && pack::manifest_algorithm(in_pack).is_none();
            if !is_wanted || self.is_confirmed(name) || written.contains(name) {
                return Ok(Judged::Unread);
            }
            let pending = match writer.begin(name, false) {
                // A file has the name of a directory.
                Err(Error::AlreadyExists { .. }) => return Ok(Judged::Unread),
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotADirectory => {
                    return Ok(Judged::Unread);
                }
                pending => pending?,
            };
            let mut at = 0;
            while let Ok(block) = content.fill_buf()
                && !block.is_empty()
            {
                options.progress.check()?;
                pending.file().write_all_at(block, at)?;
                let count = block.len();
                at += count as u64;
                content.consume(count);
            }
            options.progress.check()?;
            pending.persist()?;
            written.insert(name.to_owned());
            Ok(Judged::Unconfirmed)
        })?;
        Ok(written.len() as u64)
    }

    /// Adds the findings.
    fn report(self, on_the_way: Vec<Finding>, report: &mut SalvageReport) {
        let mut reasons: BTreeMap<String, Finding> = BTreeMap::new();
        for finding in on_the_way {
            match &finding.member {
                Some(member) => drop(reasons.entry(member.clone()).or_insert(finding)),
                None => report.findings.push(finding.warning()),
            }
        }
        let first = self.manifests.first().map_or("", |name| name);
        let mut lost = Vec::new();
        for (name, listed) in &self.listed {
            if listed.is_confirmed {
                continue;
            }
            let found = reasons.get(&self.placement.place_tag(name));
            let found = found.filter(|_| listed.reason.code == Code::MissingMember);
            let member = Some(self.placement.shown_relative(name).to_owned());
            lost.push(Finding { member, ..found.unwrap_or(&listed.reason).clone() });
        }
        lost.extend(self.unlisted.iter().map(|name| manifests::unlisted(name, first)));
        if self.manifests.is_empty() {
            let message = "there is no manifest, so no file is confirmed";
            lost = vec![Finding::new(Code::NoManifest, message)];
        }
        report.lost = (self.listed.len() as u64 - report.confirmed) + self.unlisted.len() as u64;
        // A damaged manifest is used as far as it can be read.
        report.findings.extend(self.findings.into_iter().map(Finding::warning));
        report.findings.append(&mut lost);
        report.manifests = self.manifests;
    }
}

/// Removes an incomplete line from the end of a list that may be cut.
fn whole_lines(mut text: Vec<u8>) -> Vec<u8> {
    text.truncate(memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1));
    text
}

/// The new pack.
struct Taking<'o> {
    writer: PackWriter<'static>,
    algorithms: Vec<Algorithm>,
    contents: Contents,
    options: &'o SalvageOptions,
}

impl<'o> Taking<'o> {
    fn begin(output: &Path, known: &Known, options: &'o SalvageOptions) -> Result<Self> {
        let algorithms: Vec<_> = known.algorithms.iter().copied().collect();
        let written = algorithms.iter().copied().filter(|algorithm| algorithm.is_written());
        let create = CreateOptions {
            layout: known.placement.layout,
            digests: written.collect(),
            block_digests: known.blocks.as_ref().map(BlockList::block_size),
            describe: true,
            force: options.force,
            jobs: options.jobs,
            progress: options.progress.clone(),
            ..CreateOptions::default()
        };
        let writer = PackWriter::create(output, create)?;
        Ok(Self { writer, algorithms, contents: Contents::default(), options })
    }

    /// Adds a file if it is confirmed.
    fn take(
        &mut self,
        known: &mut Known,
        member: &str,
        content: &mut dyn BufRead,
    ) -> Result<Judged> {
        let Known { placement, listed, unlisted, blocks, allowance, .. } = known;
        let name = placement.relative(member);
        let Some((name, listed)) = name.and_then(|name| Some((name, listed.get_mut(name)?))) else {
            if name.is_none_or(|name| placement.is_payload(name)) {
                unlisted.insert(placement.shown(member).to_owned());
            }
            return Ok(Judged::Unread);
        };
        if listed.is_confirmed {
            return Ok(Judged::Unread);
        }
        let path = MemberPath::new(placement.payload(member).unwrap_or(name))?;
        let wanted = Wanted {
            algorithms: &self.algorithms,
            block_size: blocks.as_ref().map(BlockList::block_size),
        };
        let mut judging = Judging {
            content,
            hashers: Some(Hashers::new(wanted)),
            found: None,
            inspector: Inspector::within(path.as_str(), allowance),
            len: 0,
            fault: None,
        };
        let added = if path.as_str() == PACK_DOCUMENT || pack::is_reserved(path.as_str()) {
            io::copy(&mut judging, &mut io::sink()).map_err(Error::io("read", member))?;
            Ok(judging.matches(&listed.digests))
        } else {
            let digests = &listed.digests;
            self.writer.add_confirmed(&path, &mut judging, |judging| judging.matches(digests))
        };
        // Cancellation may have caused read errors.
        self.options.progress.check()?;
        let Judging { found, inspector, len, fault, .. } = judging;
        listed.is_confirmed = match added {
            Err(Error::Refused { findings, .. }) => {
                listed.reason = findings.into_iter().next().unwrap_or(listed.reason.clone());
                false
            }
            added => added?,
        };
        if listed.is_confirmed {
            self.contents.add(path.clone(), inspector.finish(path.as_str(), len));
            return Ok(Judged::Confirmed);
        }
        if let (Some(found), Code::MissingMember) = (found, listed.reason.code) {
            let by_blocks = blocks.as_ref().and_then(|list| {
                // The length is that in the header, of which nothing is known.
                let all = list.count(name).saturating_mul(list.block_size());
                let len = if list.expected(len) == list.count(name) { len } else { all };
                FileBlocks::of(list, name, len, path.as_str()).ok()?.compare(found.blocks())
            });
            let manifest = known.manifests.first().map_or("", |name| name);
            listed.reason = match (by_blocks, fault, listed.digests.first()) {
                (Some(damaged), ..) => damaged,
                (None, Some(fault), _) => manifests::data_finding(member, &fault),
                (None, None, expected) => {
                    let expected = expected.expect("a listed file has a digest");
                    let found = found.made_by(expected.algorithm());
                    manifests::mismatch(member, manifest, expected, &found)
                }
            };
        }
        Ok(Judged::Unconfirmed)
    }

    /// Completes the pack with the attributes and dimensions of the old one. Files that are not valid without those
    /// that are lost are left out. Returns `None` if no file is confirmed.
    fn finish(mut self, known: &mut Known) -> Result<Option<CreateReport>> {
        if !known.listed.values().any(|listed| listed.is_confirmed) {
            return Ok(None);
        }
        if let Some(facts) = self.contents.pack_document.take() {
            let text = facts.text();
            if pack::is_attributes_document(text) {
                let root = facts.document().and_then(|document| document.group("/")).cloned();
                for group in root.into_iter().chain(self.contents.stated_of_groups(&facts)) {
                    for attribute in group.attributes {
                        self.writer.typed_attribute(&group.path, attribute)?;
                    }
                }
            } else if !pack::is_generated(text.as_bytes()) {
                self.writer.file(PACK_DOCUMENT, text.as_bytes())?;
                self.contents.pack_document = Some(facts);
            }
        }
        for array in self.contents.arrays.keys() {
            for extent in self.contents.named_extents(array) {
                if let (None, Some(length)) = (extent.coordinate, extent.length) {
                    self.writer.dimension(array, extent.name, length);
                }
            }
        }
        loop {
            let findings = match self.writer.finish() {
                Err(Error::Refused { findings, .. }) => findings,
                made => return made.map(Some),
            };
            let mut is_changed = false;
            for finding in findings.iter().filter(|finding| finding.is_error()) {
                let Some(member) = &finding.member else { continue };
                let placed = known.placement.place_payload(member);
                let listed = known.placement.relative(&placed);
                if let Some(listed) = listed.and_then(|name| known.listed.get_mut(name))
                    && self.writer.remove(member).is_ok()
                {
                    (listed.is_confirmed, is_changed) = (false, true);
                    listed.reason = finding.clone();
                }
            }
            if !is_changed {
                let path = self.writer.archive().to_owned();
                return Err(Error::Refused { path, findings });
            }
        }
    }
}

/// A reader that hashes and inspects what it reads. Damage is the end of the content.
struct Judging<'c> {
    content: &'c mut dyn BufRead,
    hashers: Option<Hashers>,
    found: Option<Digests>,
    inspector: Inspector,
    len: u64,
    fault: Option<io::Error>,
}

impl Judging<'_> {
    /// Returns whether the content has one of these digests.
    fn matches(&mut self, listed: &[Digest]) -> bool {
        let found = self.found.insert(self.hashers.take().expect("it is read once").finish());
        listed.iter().any(|listed| found.by(listed.algorithm()) == Some(*listed))
    }
}

impl Read for Judging<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.content.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.fault = Some(error);
                Ok(0)
            }
            read => {
                let block = buffer.split_at(*read.as_ref().unwrap_or(&0)).0;
                self.hashers.as_mut().expect("it is read once").update(block);
                self.inspector.update(block);
                self.len += block.len() as u64;
                read
            }
        }
    }
}
