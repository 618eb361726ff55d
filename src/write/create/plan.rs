//! The content of the archive, and the order in which it is written.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use unicode_normalization::UnicodeNormalization as _;

use super::payload::PayloadMembers;
use super::shards::Shards;
use super::texts;
use super::{BegunArchive, CreateOptions};
use crate::archive::names::{are_surely_portable, check_portable};
use crate::archive::{
    ArchiveWriter, Container, ContentPieces, MemberKind, NewContent, NewMember, Placed, Record,
    Records, Sampled,
};
use crate::digest::{Algorithm, BlockDigest, Digest, Digests};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, Severity, count_errors};
use crate::fs::{self, File};
use crate::inspect::late::LateArrays;
use crate::manifest::block_list::BLOCK_HEAD;
use crate::manifest::{BlockList, Manifest, NameEncoding, push_line};
use crate::message::Message;
use crate::pack::bag::profile::ProfiledBag;
use crate::pack::bag::{BAG_INFO, BagInfo, BagVersion, DECLARATION, PayloadOxum};
use crate::pack::{
    self, BAG_DECLARATION, BAG_PAYLOAD, BLOCK_LIST, Contents, EXTERNAL_MANIFEST_SUFFIX, Layout,
    MetadataCounts, PACK_DOCUMENT, PackDocument, Placement,
};
use crate::path::{MemberPath, escape_path};
use crate::read::manifests;
use crate::verify::Shard;
use crate::write::plain_arrays::{self, CONVERTIBLE, FOREIGN, SAVE, TABLES};
use crate::write::survey::{EntrySource, SourceEntry, Survey};

/// Bytes of text that are passed on at once.
const PASSED_AT_ONCE: usize = 64 * 1024;

/// Maximum number of files.
const MAX_SAMPLED: usize = 32;

/// Bytes to read from a small archive.
const SAMPLED_BYTES: u64 = 256 * 1024;

/// Part of a large archive to read: it takes a thousandth of the time of hashing it, or a hundredth if sixteen jobs
/// hashed it.
const SAMPLED_PART: u64 = 1024;

/// The content of the archive.
pub(super) struct CreatePlan<'a> {
    members: PayloadMembers<'a>,
    contents: Contents,
    entries: Vec<SourceEntry>,
    /// Names of descriptions made for arrays that have none.
    described: Vec<String>,
    /// A description of the pack in the source, also if it is generated again.
    pack_document: Option<SourceEntry>,
    /// The same description with the missing parts added.
    completed: Option<String>,
    /// A manifest in the source.
    manifest: Option<SourceEntry>,
    findings: Vec<Finding>,
}

impl<'a> CreatePlan<'a> {
    /// Decides what is packed, and returns the errors of the source.
    pub(super) fn new(
        survey: Survey,
        members: PayloadMembers<'a>,
        begun: &BegunArchive<'_>,
    ) -> Result<Self> {
        let PayloadMembers { source, placement, options, container, .. } = members;
        let Survey { mut entries, mut contents, mut findings } = survey;
        entries.retain(|entry| {
            let is_signature = pack::is_signature(entry.path.as_str());
            if is_signature {
                let message = "the signature is not packed: the archive gets a new manifest";
                findings.push(
                    Finding::new(Code::OddContainer, message)
                        .in_member(entry.path.as_str())
                        .hint(Message::from("sign the new manifest: ").call("create", "sign_with")),
                );
            }
            !is_signature
        });
        let mut take = |name: &str| {
            let index = entries.binary_search_by(|entry| entry.path.as_str().cmp(name)).ok()?;
            Some(entries.remove(index))
        };
        if take(BAG_DECLARATION).is_some() {
            return Err(Error::wrong_target(
                source,
                "is a bag already; check it with `ra-pack verify`, or pack its `data` directory",
            ));
        }
        let manifest = take(&pack::manifest_name(Algorithm::Sha256));
        for algorithm in Algorithm::ALL {
            // The manifest does not list generated files, and its digests have not been checked.
            if let Some(entry) = take(&pack::manifest_name(algorithm)) {
                let message = "the manifest is not packed: the archive gets its own";
                findings.push(
                    Finding::new(Code::OddContainer, message)
                        .in_member(entry.path.as_str())
                        .hint(format!("check the files with `{}sum -c` first", algorithm.name())),
                );
            }
        }
        if let Some(entry) = take(BLOCK_LIST) {
            findings.push(own_block_list(members, &entry)?);
        }
        let pack_document = take(PACK_DOCUMENT);
        let described = if options.describe {
            texts::describe(members, &mut contents, &mut entries)?
        } else {
            Vec::new()
        };
        findings.extend(contents.forget_generated());
        if contents.pack_document.is_none() {
            let attributes = options.attributes.iter().cloned();
            attributes.for_each(|attribute| attribute.put_into(&mut contents.attributes));
        }
        let mut of_names = unportable_names(&entries, placement, container, options.portable);
        if options.layout == Layout::BagIt {
            of_names.extend(unfit_names(entries.iter().map(|entry| &entry.path)));
        }
        findings.extend(contents.findings());
        findings.extend(contents.other_names());
        let open = |name: &str| members.open(&entries, name);
        let arrays = LateArrays::of_values(&contents, &mut findings);
        findings.extend(arrays.check_each(open)?);
        findings.extend(of_names);
        let completed = contents.complete_document(&options.attributes).transpose();
        let completed = completed.unwrap_or_else(|finding| {
            findings.push(finding);
            None
        });
        let is_right = count_errors(&findings) == 0;
        findings.extend(texts::make_crate(
            members,
            &mut contents,
            &mut entries,
            completed.as_deref(),
            is_right,
        )?);
        findings.extend(earlier_archives(&entries));
        findings.extend(plain_arrays(members, &begun.path, &entries, &contents));
        if let Some((profile, warnings)) = &begun.profile {
            findings.extend(warnings.iter().cloned());
            findings.extend(profile.check(&profiled(&entries, begun, options)));
        }
        if options.strict {
            findings.extend(contents.extension_words());
            for finding in &mut findings {
                finding.severity = Severity::Error;
            }
        }
        let findings = Error::refuse_bad(source, findings)?;
        Ok(Self {
            members,
            contents,
            entries,
            described,
            pack_document,
            completed,
            manifest,
            findings,
        })
    }

    /// Writes the large files of a shard into their places. Returns these files and the warnings.
    pub(super) fn write_shard(
        mut self,
        mut writer: ArchiveWriter<'_>,
        algorithms: &[Algorithm],
        shard: Shard,
        jobs: usize,
    ) -> Result<(Vec<SourceEntry>, Vec<Finding>)> {
        let Self { members, entries, .. } = &mut self;
        members.write_shard(entries, &mut writer, algorithms, shard, jobs)?;
        Ok((self.entries, self.findings))
    }

    /// Writes the remaining entries, and then the members that belong to the pack itself.
    pub(super) fn write(
        self,
        mut writer: ArchiveWriter<'_>,
        external: Option<&File>,
        shards: Option<&Shards>,
        algorithms: &[Algorithm],
        mut info: BagInfo,
        jobs: usize,
    ) -> Result<PackedFiles> {
        let Self { members, contents, mut entries, .. } = self;
        members.write_rest(&mut entries, &mut writer)?;
        match shards {
            Some(shards) => shards.place(&mut entries, members, &writer.reserved(), algorithms)?,
            None => members.write_reserved(&mut entries, &writer, algorithms, jobs)?,
        }
        let payload = Payload { entries: &entries, members };
        let document = self.pack_document.map(|entry| members.read(&entry)).transpose()?;
        if let Some(manifest) = &self.manifest {
            payload.check_manifest(manifest, document.as_deref())?;
        }
        // A generated description replaces the one in the source.
        let mut document = document.filter(|_| contents.pack_document.is_some());
        if let (Some(document), Some(completed)) = (&mut document, self.completed) {
            *document = completed.into();
        }
        let (mut bytes, mut files) = (0_u64, 0);
        for (_, size, _) in payload.files() {
            bytes = bytes.saturating_add(size);
            files += 1;
        }
        info.set_payload(PayloadOxum { bytes, files });
        let (arrays, metadata) = (contents.arrays.len() as u64, contents.metadata_counts());

        let mut generated = Generated { writer, members, written: Vec::new() };
        if let Some(directory) = members.payload_directory().filter(|_| files == 0) {
            generated.write(directory, NewContent::Bytes(b""))?;
        }
        let is_bag = members.options.layout == Layout::BagIt;
        let mut tags = Vec::new();
        if is_bag {
            tags.push(generated.add_text(BAG_DECLARATION, DECLARATION.as_bytes())?);
            tags.push(generated.add_text(BAG_INFO, info.to_text().as_bytes())?);
        }
        let document = match document {
            Some(text) => generated.add_text(PACK_DOCUMENT, &text)?,
            None => {
                let document = PackDocument::new(&contents, None);
                document.read_back().map_err(|misread| Error::misread(PACK_DOCUMENT, &misread))?;
                generated.add(PACK_DOCUMENT, &|sink| {
                    document.each_block(|block| sink(block.as_bytes()))
                })?
            }
        };
        drop(contents);
        let list = members
            .options
            .block_digests
            .map(|size| generated.add(BLOCK_LIST, &|sink| payload.each_block_of_list(size, sink)));
        let mut own: Vec<_> = list.transpose()?.into_iter().chain([document]).collect();
        // A bag lists files outside the payload in its tag manifest.
        if is_bag {
            tags.append(&mut own);
        }
        let own = &*own;
        for algorithm in algorithms.iter().copied() {
            let name = pack::manifest_name(algorithm);
            tags.push(generated.add(&name, &|sink| payload.each_block(algorithm, own, sink))?);
        }
        if let Some(external) = external {
            let mut at = 0;
            payload.each_block(Algorithm::Sha256, own, &mut |block| {
                external.write_all_at(block, at)?;
                at += block.len() as u64;
                Ok(())
            })?;
        }
        for algorithm in algorithms.iter().copied().filter(|_| is_bag) {
            let tags = tags.iter().map(|(path, digests)| {
                let name = members.placement.relative(path.as_str()).unwrap_or(path.as_str());
                Ok((MemberPath::new(name)?, digests.made_by(algorithm)))
            });
            let manifest = Manifest::new(algorithm, tags.collect::<Result<Vec<_>>>()?);
            let name = format!("tag{}", pack::manifest_name(algorithm));
            generated.add_text(&name, &manifest.to_text(NameEncoding::Percent))?;
        }
        let Generated { writer, written, .. } = generated;
        let own = written.iter().filter(|(member, _)| member.kind == MemberKind::File);
        let bytes = own.clone().fold(bytes, |sum, (member, _)| sum.saturating_add(member.size));
        let members = files + own.count() as u64;
        let sample = payload.sample(writer.is_stream());
        let records = || -> Records<'_, '_> {
            let own = written.iter().map(|(member, record)| (member.clone(), *record));
            Box::new(payload.records().chain(own))
        };
        writer.finish(&records, &sample)?;
        let (described, findings) = (self.described, self.findings);
        Ok(PackedFiles { members, bytes, arrays, metadata, described, findings })
    }
}

/// Returns the bag that is written.
fn profiled(
    entries: &[SourceEntry],
    begun: &BegunArchive<'_>,
    options: &CreateOptions,
) -> ProfiledBag<'static> {
    let tags = [BAG_DECLARATION, BAG_INFO, PACK_DOCUMENT].map(str::to_owned).into_iter();
    let list = options.block_digests.map(|_| BLOCK_LIST.to_owned());
    let manifests = begun.algorithms.iter().map(|it| pack::manifest_name(*it));
    let manifests = manifests.flat_map(|name| [format!("tag{name}"), name]);
    let payload = || entries.iter().filter(|entry| entry.is_file());
    let bytes = payload().fold(0, |sum: u64, entry| sum.saturating_add(entry.size()));
    let mut info = begun.info.clone();
    info.set_payload(PayloadOxum { bytes, files: payload().count() as u64 });
    let payload = payload().map(|entry| (format!("{BAG_PAYLOAD}{}", entry.path), entry.size()));
    let files = tags.chain(list).chain(manifests).map(|name| (name, 0)).chain(payload);
    ProfiledBag {
        extension: begun.container.extension(),
        version: BagVersion::V1_0.name(),
        info: Cow::Owned(info),
        files: files.map(|(name, size)| (name.into(), size)).collect(),
    }
}

/// The content of a written archive, for its report.
#[derive(Debug)]
pub(super) struct PackedFiles {
    /// Number of files, including generated ones.
    pub(super) members: u64,
    /// Size of all files in bytes before compression.
    pub(super) bytes: u64,
    pub(super) arrays: u64,
    pub(super) metadata: MetadataCounts,
    pub(super) described: Vec<String>,
    pub(super) findings: Vec<Finding>,
}

/// The members of the payload in the order of their names.
#[derive(Clone, Copy)]
struct Payload<'p> {
    entries: &'p [SourceEntry],
    members: PayloadMembers<'p>,
}

impl<'p> Payload<'p> {
    /// Returns the files that were written.
    fn written(self) -> impl Iterator<Item = (&'p SourceEntry, &'p Placed)> {
        self.entries
            .iter()
            .filter_map(|entry| Some((entry, entry.placed.as_ref().filter(|_| entry.is_file())?)))
    }

    /// Returns the files by their names in the archive, with lengths and digests.
    fn files(self) -> impl Iterator<Item = (Cow<'p, str>, u64, &'p Digests)> {
        self.written().map(move |(entry, placed)| {
            let name = self.members.placement.placed(entry.path.as_str());
            (name, entry.size(), &placed.digests)
        })
    }

    /// Returns files whose contents are read back: few enough to take almost no time, from all parts of the archive. In
    /// a stream they are at its beginning, because everything before a file must be read.
    fn sample(self, is_stream: bool) -> Vec<Sampled<'p>> {
        let sizes = || self.files().map(|(_, size, _)| size);
        let mut left =
            sizes().fold(0, u64::saturating_add).div_euclid(SAMPLED_PART).max(SAMPLED_BYTES);
        let ends = sizes().scan(0_u64, |end, size| {
            *end = end.saturating_add(size);
            Some(*end)
        });
        let count =
            if is_stream { ends.take_while(|end| *end <= left).count() } else { ends.count() };
        let some = self.written().take(count).step_by(count.div_ceil(MAX_SAMPLED).max(1));
        let sampled = some.filter_map(|(entry, placed)| {
            let size = entry.size();
            // Skips files that are too large for the rest of the budget.
            left = left.checked_sub(size)?;
            Some(Sampled {
                name: self.members.placement.placed(entry.path.as_str()),
                record: placed.record,
                size,
                sha256: placed.digests.made_by(Algorithm::Sha256),
            })
        });
        sampled.collect()
    }

    /// Returns the members with their records.
    fn records(self) -> impl Iterator<Item = (NewMember<'p>, Record)> {
        let of = move |entry: &'p SourceEntry| {
            Some((self.members.of(entry), entry.placed.as_ref()?.record))
        };
        self.entries.iter().filter_map(of)
    }

    /// Passes the manifest with one algorithm to `each` in blocks, because the whole text takes more memory than its
    /// entries. `own` are the files of the pack itself, sorted by name.
    fn each_block(
        self,
        algorithm: Algorithm,
        own: &[(MemberPath, Digests)],
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let encoding = self.name_encoding();
        let own = own.iter().map(|(name, digests)| (Cow::Borrowed(name.as_str()), digests));
        let mut own = own.peekable();
        let mut files = self.files().map(|(name, _, digests)| (name, digests)).peekable();
        let mut block = Vec::new();
        loop {
            let is_next = |(own, _): &(Cow<'_, str>, &Digests)| {
                files.peek().is_none_or(|(name, _)| *name > *own)
            };
            let file = own.next_if(is_next).or_else(|| files.next());
            let Some((name, digests)) = file else { return sink(&block) };
            push_line(&mut block, encoding, self.listed(&name), &digests.made_by(algorithm));
            pass_full(&mut block, sink)?;
        }
    }

    /// Passes the list of block digests to `sink` in blocks, as [`Self::each_block`] does.
    fn each_block_of_list(
        self,
        block_size: u64,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (encoding, mut block) = (self.name_encoding(), Vec::new());
        push_block_head(&mut block, block_size);
        for (name, _, digests) in self.files() {
            for (index, digest) in digests.blocks().iter().enumerate() {
                push_block_line(&mut block, encoding, self.listed(&name), index, digest);
                pass_full(&mut block, sink)?;
            }
        }
        sink(&block)
    }

    fn name_encoding(self) -> NameEncoding {
        match self.members.options.layout {
            Layout::Plain => NameEncoding::Gnu,
            Layout::BagIt => NameEncoding::Percent,
        }
    }

    /// Returns the name that lists use. In a bag, it is relative to the top directory.
    fn listed(self, name: &str) -> &str {
        self.members.placement.relative(name).unwrap_or(name)
    }

    /// Checks the packed files, and the `document` of the source, against the manifest of the source.
    fn check_manifest(self, manifest: &SourceEntry, document: Option<&[u8]>) -> Result<()> {
        let (name, text) = (manifest.path.as_str(), self.members.read(manifest)?);
        let (manifest, faults) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &text);
        let mut findings: Vec<Finding> =
            faults.iter().map(|fault| manifests::fault_finding(name, fault)).collect();
        let document = document.map(|text| (PACK_DOCUMENT.to_owned(), Digest::sha256(text)));
        let payload: BTreeMap<String, Digest> = self
            .files()
            .filter_map(|(name, _, digests)| {
                let name = self.members.placement.payload(&name)?.to_owned();
                Some((name, digests.made_by(Algorithm::Sha256)))
            })
            .chain(document)
            .collect();
        let source = self.members.source;
        for entry in manifest.entries() {
            let path = entry.path.as_str();
            let would_be_packed = || {
                !fs::exists(&source.join(path))
                    || self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).is_ok()
            };
            match payload.get(path) {
                Some(digest) if *digest == entry.digest => {}
                Some(digest) => {
                    findings.push(manifests::mismatch(path, name, &entry.digest, digest));
                }
                // The description of the pack is generated, and other files were left out on purpose.
                None if path == PACK_DOCUMENT || !would_be_packed() => {}
                None => findings.push(manifests::missing(path, name, entry.line)),
            }
        }
        Error::refuse_bad(source, findings).map(drop)
    }
}

/// Passes on a text that has become long.
fn pass_full(block: &mut Vec<u8>, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    if block.len() > PASSED_AT_ONCE {
        sink(block)?;
        block.clear();
    }
    Ok(())
}

/// Returns the warning that a list of block digests in the source is not packed.
fn own_block_list(members: PayloadMembers<'_>, entry: &SourceEntry) -> Result<Finding> {
    let is_list = matches!(entry.source, EntrySource::File(_))
        && BlockList::parse(NameEncoding::Gnu, &members.read(entry)?).is_some();
    if !is_list {
        return Err(Error::wrong_target(
            BLOCK_LIST,
            "is the name of the list of block digests, but the file is no such list; give it another name",
        ));
    }
    let message = "the list of block digests is not packed";
    let hint = match members.options.block_digests {
        Some(_) => "the archive gets a new list".into(),
        None => Message::default().option("block_digests").text(" writes a new list"),
    };
    Ok(Finding::new(Code::OddContainer, message).in_member(BLOCK_LIST).hint(hint))
}

/// Writes the members of the pack itself: its description, its manifests, and the tag files of a bag.
struct Generated<'a, 'p> {
    writer: ArchiveWriter<'a>,
    members: PayloadMembers<'p>,
    written: Vec<(NewMember<'static>, Record)>,
}

impl Generated<'_, '_> {
    fn add_text(&mut self, name: &str, text: &[u8]) -> Result<(MemberPath, Digests)> {
        self.add(name, &|sink| sink(text))
    }

    /// Adds a member from pieces that are generated twice: first to count them, then to write them.
    fn add(&mut self, name: &str, pieces: &ContentPieces<'_>) -> Result<(MemberPath, Digests)> {
        let path = MemberPath::new(self.members.placement.place_tag(name))?;
        let count = Cell::new(0_u64);
        let counted: &ContentPieces<'_> = &|sink| {
            count.set(0);
            pieces(&mut |block| {
                count.set(count.get() + block.len() as u64);
                sink(block)
            })
        };
        counted(&mut |_| Ok(()))?;
        let size = count.get();
        let member = NewMember {
            path: path.as_str().to_owned().into(),
            kind: MemberKind::File,
            size,
            modified: self.members.time(),
            align: None,
        };
        let digests = self.write(member, NewContent::Pieces(counted))?;
        assert_eq!(count.get(), size, "the header has the length that was counted");
        Ok((path, digests))
    }

    fn write(&mut self, member: NewMember<'static>, content: NewContent<'_>) -> Result<Digests> {
        let Placed { digests, record } = self.writer.write(&member, content)?;
        self.written.push((member, record));
        Ok(digests)
    }
}

/// Returns archives that have a manifest next to them, most likely from earlier runs.
fn earlier_archives(entries: &[SourceEntry]) -> impl Iterator<Item = Finding> {
    let is_there =
        |name: &str| entries.binary_search_by(|entry| entry.path.as_str().cmp(name)).is_ok();
    let names = entries.iter().map(|entry| entry.path.as_str());
    let archives = names.filter(move |name| {
        Container::from_extension(name.as_ref()).is_some()
            && is_there(&format!("{name}{EXTERNAL_MANIFEST_SUFFIX}"))
    });
    archives.map(|name| {
        Finding::new(Code::OddContainer, "an archive of an earlier run is packed as a member")
            .in_member(name)
            .hint(Message::from("leave it out with ").option(("exclude", format!("'{name}*'"))))
    })
}

/// Warns that arrays are packed as plain files, or that a pack contains no array.
fn plain_arrays(
    members: PayloadMembers<'_>,
    archive: &Path,
    entries: &[SourceEntry],
    contents: &Contents,
) -> Option<Finding> {
    let has_arrays =
        !contents.arrays.is_empty() || contents.unattached().any(|(_, facts)| facts.describes());
    let names = || entries.iter().map(|entry| entry.path.as_str());
    // A table next to arrays is often part of their documentation.
    let tables: &[&str] = if has_arrays { &[] } else { TABLES };
    let Some(counted) = plain_arrays::counted(names(), &[CONVERTIBLE, FOREIGN, tables]) else {
        return (!has_arrays).then(|| Finding::new(Code::NoArrays, "the pack contains no array"));
    };
    let is_one = counted.starts_with("1 ") && !counted.contains(" and ");
    let verb = if is_one { "is packed as a plain file" } else { "are packed as plain files" };
    let is_convertible = plain_arrays::counted(names(), &[CONVERTIBLE]).is_some();
    let is_foreign = plain_arrays::counted(names(), &[FOREIGN, tables]).is_some();
    let mut hints = Vec::new();
    if is_convertible {
        let (source, archive) = (escape_path(members.source), escape_path(archive));
        hints.push(format!("`ra-pack convert {source} {archive} --force` converts them to arrays"));
    }
    if is_foreign {
        hints.push(SAVE.to_owned());
    }
    let found = if has_arrays { "arrays that are not described" } else { "no array" };
    let mut finding = Finding::new(Code::NoArrays, format!("{counted} {verb}"));
    // Staged files are gone when the user runs the command.
    finding.hint = (!(members.is_staged && is_convertible)).then(|| hints.join("; ").into());
    Some(finding.expected("`X.ra` with its description `X.yaml`", found))
}

/// Checks the names that the payload has in the archive; problems are errors if `portable` is set.
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

/// Checks for names that other readers of bags confuse with each other.
fn unfit_names<'a>(paths: impl Iterator<Item = &'a MemberPath>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut normalized: HashMap<String, &MemberPath> = HashMap::new();
    for path in paths {
        let name = path.as_str();
        if name.contains(['%', '\n', '\r']) {
            findings.push(
                Finding::new(
                    Code::UnfitForBag,
                    "the name has a line end or a `%`, which bags encode and most readers \
                     of bags do not decode",
                )
                .in_member(name)
                .hint(
                    Message::from("rename the file, leave it out with ")
                        .option("exclude")
                        .text(", or use ")
                        .option(("layout", "plain")),
                ),
            );
        }
        // Names in ASCII are their own normalization, so two of them never collide.
        if let Some(other) = normalized.insert(name.nfc().collect(), path) {
            findings.push(
                Finding::new(
                    Code::UnfitForBag,
                    format!("the name equals `{other}` after normalization"),
                )
                .in_member(name)
                .hint("rename one of them; on some systems both names mean the same file"),
            );
        }
    }
    findings
}

/// Appends the first line of a list.
pub(crate) fn push_block_head(text: &mut Vec<u8>, block_size: u64) {
    text.extend_from_slice(format!("{BLOCK_HEAD}{block_size}\n").as_bytes());
}

/// Appends the line of one block.
pub(crate) fn push_block_line(
    text: &mut Vec<u8>,
    names: NameEncoding,
    path: &str,
    index: usize,
    digest: &BlockDigest,
) {
    let start = text.len();
    push_line(text, names, path, &Digest::of_block(digest));
    let is_escaped = text.get(start) == Some(&b'\\');
    let after_digest = start + usize::from(is_escaped) + Algorithm::Sha256.digest_len() * 2;
    let column = format!("  {index}");
    text.splice(after_digest..after_digest, column.into_bytes());
}
