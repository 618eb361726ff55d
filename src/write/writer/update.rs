//! The archive that an update begins with: the members that stay, in their compressed form.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::staged::{belonging, below, in_the_way};
use crate::archive::{Archive, Fault, Member, MemberKind, Shown, copy};
use crate::digest::{Algorithm, Digests};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, PendingDirectory, Stamp, beside};
use crate::inspect::scan::PackScan;
use crate::manifest::BlockList;
use crate::ndl::{Attribute, Document, Group};
use crate::pack::bag::{BAG_INFO, BagInfo, BagVersion, PAYLOAD_OXUM};
use crate::pack::{
    self, ARCHIVE_DIGEST_SUFFIX, BAG_DECLARATION, BLOCK_LIST, Contents, EXTERNAL_MANIFEST_SUFFIX,
    Layout, PACK_DOCUMENT, Placement,
};
use crate::path::MemberPath;
use crate::pipeline;
use crate::read::blocks::FileBlocks;
use crate::read::manifests::{self, ManifestText, NamedManifest, PresentFiles, RootFiles, rules};
use crate::read::open::Pack;
use crate::write::companions;
use crate::write::create::{CreateOptions, OldMembers};
use crate::write::survey::{EntrySource, KeptMember, SourceEntry};

/// An archive that is being updated.
#[derive(Debug)]
pub(super) struct OldPack {
    pack: Pack,
    stamp: Stamp,
    placement: Placement,
    members: Vec<Member>,
    /// Numbers of the members that stay, by their names in the payload.
    kept: BTreeMap<MemberPath, usize>,
    contents: Contents,
    /// The manifests in the archive, of all algorithms.
    manifests: Vec<NamedManifest>,
    /// The description of the pack, if it is not generated from the other descriptions.
    pub(super) document: Option<Vec<u8>>,
    /// Attributes of the pack and lengths of dimensions without arrays, as written by a
    /// [`PackWriter`](super::PackWriter).
    pub(super) stated: Option<Document>,
    /// Attributes of groups, as written by a [`PackWriter`](super::PackWriter).
    pub(super) group_attributes: Vec<Group>,
    /// Warnings about parts of the old archive that the new one will lack.
    pub(super) warnings: Vec<Finding>,
}

impl OldPack {
    /// Opens the archive at `path`, and sets the options that it determines.
    pub(super) fn open(path: &Path, options: &mut CreateOptions) -> Result<Self> {
        let refuse = |why: String| Err(Error::wrong_target(path, why));
        fs::refuse_url(path)?;
        let path = &*companions::replaceable(path, &options.progress)?;
        let archive = Archive::open_watched(path, &options.progress)?;
        let Some(file) = archive.file() else {
            return refuse("is a directory; change its files directly".to_owned());
        };
        let stamp = file.stamp()?;
        let jobs = pipeline::jobs(options.jobs);
        let scan = PackScan::new(&archive, jobs)?;
        let PackScan { placement, members, mut contents, mut findings, .. } = scan;
        options.container = Some(archive.container());
        options.ro_crate |= contents.ro_crate.is_some();
        let pack = Pack::of_archive(archive, placement.clone());
        let mut lists = Vec::new();
        for algorithm in Algorithm::ALL {
            let name = pack::manifest_name(algorithm);
            let tag = (placement.layout == Layout::BagIt).then(|| format!("tag{name}"));
            for name in std::iter::once(name).chain(tag) {
                let Some(text) = RootFiles::read(&pack, &name)? else { continue };
                let text = ManifestText::decode(name, algorithm, rules(&pack)?, text);
                let text = text.map_err(|finding| pack.damaged(*finding))?;
                lists.push(text.parse(&mut findings));
            }
        }
        let block_list = pack.block_list()?;
        let (mut kept, mut generated) = (BTreeMap::new(), Vec::new());
        for (number, member) in members.iter().enumerate() {
            let is_list =
                block_list.is_some() && placement.relative(&member.name) == Some(BLOCK_LIST);
            if is_list || placement.is_top(&member.name) || is_made(&placement, &member.name) {
                generated.extend((member.kind == MemberKind::File).then_some(number));
                continue;
            }
            let Some(name) = placement.payload(&member.name) else {
                return refuse(format!(
                    "has the file `{}` outside the payload, which would be lost",
                    member.name
                ));
            };
            kept.insert(MemberPath::new(name)?, number);
        }
        confirm(pack.archive(), (&placement, &members, &generated), &lists, jobs, &mut findings)?;
        let (manifests, dropped): (Vec<_>, Vec<_>) =
            lists.into_iter().partition(|named| is_written(&named.name));
        let is_sha256 = |named: &&NamedManifest| named.manifest.algorithm() == Algorithm::Sha256;
        let Some(manifest) = manifests.iter().find(is_sha256) else {
            return refuse("has no SHA-256 manifest".to_owned());
        };
        let outside = beside(path, EXTERNAL_MANIFEST_SUFFIX);
        let text = manifests::read_beside(&outside)?;
        // A stopped run leaves the manifest and the digest that it could not rename.
        let is_left = |path: &Path| !fs::leftovers(path).is_empty();
        options.no_external_manifest = text.is_none() && !is_left(&outside);
        if let Some(text) = text {
            let name = outside.to_string_lossy();
            let outside = ManifestText::outside(name, Algorithm::Sha256, rules(&pack)?.names, text);
            manifest.compare(&outside.parse(&mut findings), &mut findings);
        }
        options.archive_digest = manifests::check_archive_digest(pack.archive(), &mut findings)?
            || is_left(&beside(path, ARCHIVE_DIGEST_SUFFIX));
        options.digests = manifests.iter().map(|named| named.manifest.algorithm()).collect();
        options.layout = placement.layout;
        options.block_digests = block_list.map(BlockList::block_size);
        if placement.layout == Layout::BagIt {
            let text = RootFiles::read(&pack, BAG_INFO)?.unwrap_or_default();
            let text =
                rules(&pack)?.decode(BAG_INFO, &text).map_err(|found| pack.damaged(*found))?;
            let (info, found) = BagInfo::parse(BagVersion::V1_0, &text);
            findings.extend(found);
            let given = info.fields().iter().filter(|field| field.label != PAYLOAD_OXUM);
            let given = given.map(|field| (field.label.clone(), field.value.clone()));
            options.bag_info = given.chain(std::mem::take(&mut options.bag_info)).collect();
        }
        let findings = Error::refuse_bad(path, findings)?;
        // A description generated from the others is generated again.
        contents.forget_repetition();
        let document = contents.pack_document.take();
        let stated = document.as_ref().filter(|facts| pack::is_attributes_document(facts.text()));
        let group_attributes =
            stated.map(|facts| contents.stated_of_groups(facts)).unwrap_or_default();
        let stated = stated.and_then(|facts| facts.document().cloned());
        let document = document.filter(|_| stated.is_none());
        let document = document.map(|facts| facts.text().as_bytes().to_vec());
        let warnings = not_kept(&findings, &placement, &dropped);
        Ok(Self {
            pack,
            stamp,
            placement,
            members,
            kept,
            contents,
            manifests,
            document,
            stated,
            group_attributes,
            warnings,
        })
    }

    /// Returns the path of the archive, without links.
    pub(super) fn path(&self) -> &Path {
        self.pack.archive().path()
    }

    fn is_directory(&self, number: usize) -> bool {
        self.members.get(number).is_some_and(|member| member.kind == MemberKind::Directory)
    }

    /// Returns whether a file of this name stays.
    pub(super) fn has(&self, name: &str) -> bool {
        self.kept.get(name).is_some_and(|number| !self.is_directory(*number))
    }

    /// Returns the attributes of the pack.
    pub(super) fn attributes(&self) -> Vec<Attribute> {
        let root = self.stated.as_ref().and_then(|document| document.group("/"));
        root.map_or(&self.contents.attributes, |root| &root.attributes).clone()
    }

    /// Returns the descriptions that stay: of the array file `target`, or of all arrays in that directory.
    pub(super) fn descriptions(&self, target: &str) -> Vec<(MemberPath, String)> {
        let is_of = |path: &MemberPath| {
            let name = path.as_str();
            let after = name.strip_prefix(target);
            let is_below = target.is_empty() || after.is_some_and(|rest| rest.starts_with('/'));
            (is_below || self.contents.array_of(name) == Some(target)) && self.has(name)
        };
        let found = self.contents.descriptions.iter().filter(|(path, _)| is_of(path));
        found.map(|(path, facts)| (path.clone(), facts.text().to_owned())).collect()
    }

    /// Returns an error if there is no room for a new file. An existing one may be replaced if `force` is true.
    pub(super) fn check_room(&self, path: &MemberPath, force: bool) -> Result<()> {
        let name = path.as_str();
        if self.has(name) && !force {
            return Err(Error::AlreadyExists { path: self.pack.archive().path().join(name) });
        }
        let below = below(&self.kept, name).find(|below| self.has(below));
        if let Some(finding) = in_the_way(name, |above| self.has(above), below) {
            let path = self.pack.archive().path().to_owned();
            return Err(Error::Refused { path, findings: vec![finding] });
        }
        Ok(())
    }

    /// Leaves out the file that a new one replaces.
    pub(super) fn give_way(&mut self, path: &MemberPath) {
        self.kept.remove(path);
    }

    /// Deletes the members that [`members`](Self::members) staged.
    pub(super) fn forget_staged(&self, staged: &PendingDirectory) {
        if self.pack.archive().is_stream() {
            self.kept.keys().for_each(|path| staged.discard(path));
        }
    }

    /// Removes a file, an array with its description, or a directory with its content. Returns whether it existed.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let gone = belonging(&self.kept, name, self.has(name));
        for path in &gone {
            self.kept.remove(path);
        }
        !gone.is_empty()
    }

    /// Returns the members that stay, to be copied in their compressed form. Members of a compressed tar are staged
    /// instead, because it is one stream.
    pub(super) fn members(
        &self,
        staged: &PendingDirectory,
        options: &CreateOptions,
    ) -> Result<OldMembers<'_>> {
        let is_stream = self.pack.archive().is_stream();
        let mut entries = Vec::with_capacity(if is_stream { 0 } else { self.kept.len() });
        let mut files = Vec::new();
        for (path, number) in &self.kept {
            let member = self.members.get(*number).expect("the number is that of a member");
            if member.kind == MemberKind::Directory {
                entries.push(SourceEntry::new(path.clone(), EntrySource::Directory));
                continue;
            }
            let name = self.placement.relative(&member.name).expect("the member is in the pack");
            let mut digests = Vec::new();
            for named in &self.manifests {
                let Some(entry) = named.manifest.get(name) else {
                    return Err(self.pack.damaged(manifests::unlisted(path.as_str(), &named.name)));
                };
                digests.push(entry.digest);
            }
            let mut digests: Digests = digests.into_iter().collect();
            if let Some(list) = self.pack.block_list()?.filter(|_| !is_stream) {
                let blocks = FileBlocks::of(list, name, member.size, name);
                let blocks = blocks.map_err(|finding| self.pack.damaged(*finding))?;
                digests = digests.with_blocks(blocks.digests().to_vec());
            }
            if is_stream {
                files.push((*number, path, digests));
                continue;
            }
            let kept = Box::new(KeptMember { member: member.clone(), digests });
            let mut entry = SourceEntry::new(path.clone(), EntrySource::Kept(kept));
            entry.header_len = self.contents.header_len(path);
            entries.push(entry);
        }
        files.sort_unstable_by_key(|(number, ..)| *number);
        let numbers: Vec<_> = files.iter().map(|(number, ..)| *number).collect();
        let algorithms: Vec<_> =
            self.manifests.iter().map(|named| named.manifest.algorithm()).collect();
        let archive = self.pack.archive();
        let jobs = pipeline::jobs(options.jobs);
        options.progress.stage("unpacking", archive.bytes_to_read(), numbers.len() as u64);
        let write = |(): &mut (), shown: Shown<'_>| {
            let (_, path, listed) =
                files.get(shown.position).expect("the position is that of a file");
            let (file, mut at) = (staged.begin(path)?, 0);
            let sink = |block: &[u8]| {
                file.write_all_at(block, at)?;
                at += block.len() as u64;
                Ok(())
            };
            let found = match copy(shown.content, &algorithms, shown.hashing, sink) {
                Ok(found) => found,
                Err(Fault::Sink(error)) => return Err(error),
                Err(Fault::Source(error)) => {
                    return Err(self.pack.damaged(manifests::unreadable(path.as_str(), error)?));
                }
            };
            let differs = |by: &&Algorithm| found.by(**by) != listed.by(**by);
            algorithms.iter().find(differs).map_or(Ok(()), |by| {
                let (manifest, listed) = (pack::manifest_name(*by), listed.made_by(*by));
                let found = found.made_by(*by);
                Err(self.pack.damaged(manifests::mismatch(
                    path.as_str(),
                    &manifest,
                    &listed,
                    &found,
                )))
            })
        };
        if is_stream {
            archive.revisit(&self.members, &numbers, jobs, || (), write)?;
        }
        let mut contents = if is_stream { Contents::default() } else { self.contents.clone() };
        contents.retain(|path| self.kept.contains_key(path));
        Ok(OldMembers { archive, stamp: self.stamp, entries, contents })
    }
}

/// Compares the files that do not stay with every manifest that lists them: what is taken over from them gets a new
/// digest. The other files stay together with their digests. Also reports listed files that do not exist.
fn confirm<'m>(
    archive: &Archive,
    (placement, members, generated): (&Placement, &'m [Member], &[usize]),
    lists: &[NamedManifest],
    jobs: usize,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    let algorithms: BTreeSet<_> = lists.iter().map(|named| named.manifest.algorithm()).collect();
    let algorithms: Vec<_> = algorithms.into_iter().collect();
    let hash = |(): &mut (), shown: Shown<'_>| {
        Ok(copy(shown.content, &algorithms, shown.hashing, |_| Ok(())))
    };
    let name = |member: &'m Member| placement.relative(&member.name);
    let files = members.iter().filter(|member| member.kind == MemberKind::File);
    let mut present: PresentFiles<'_> =
        files.filter_map(|file| Some((name(file)?, None))).collect();
    let found = archive.revisit(members, generated, jobs, || (), hash)?;
    let mut compared = BTreeSet::new();
    for (number, found) in generated.iter().zip(found) {
        let Some(name) = members.get(*number).and_then(name) else { continue };
        compared.insert(name);
        match found {
            Ok(digests) => drop(present.insert(name, Some(Cow::Owned(digests)))),
            Err(Fault::Sink(error)) => return Err(error),
            Err(Fault::Source(error)) => findings.push(manifests::unreadable(name, error)?),
        }
    }
    for list in lists {
        let must_list = |name: &str| compared.contains(name) && placement.is_payload(name);
        list.check(&present, must_list, findings);
    }
    Ok(())
}

/// Returns warnings about all that the new archive will not have.
fn not_kept(
    findings: &[Finding],
    placement: &Placement,
    dropped: &[NamedManifest],
) -> Vec<Finding> {
    let odd = findings.iter().filter(|finding| finding.code == Code::OddContainer);
    let odd = odd.map(|finding| format!("this was not kept: {}", finding.message));
    let written = |named: &&NamedManifest| pack::manifest_algorithm(&named.name).is_some();
    let dropped = dropped.iter().filter(written);
    let dropped = dropped.map(|named| format!("the new archive has no `{}`", named.name));
    let top = (placement.layout == Layout::Plain).then(|| placement.place_tag(""));
    let top = top.filter(|top| !top.is_empty());
    let top = top.map(|top| format!("the new archive has its files at the top, not in `{top}`"));
    let hint = "pack the original files again with `create` if other programs need it";
    let all = odd.chain(dropped).chain(top);
    all.map(|message| Finding::new(Code::OddContainer, message).hint(hint)).collect()
}

/// Returns whether a manifest of this name is written with each archive.
fn is_written(name: &str) -> bool {
    pack::manifest_algorithm(name).is_some_and(Algorithm::is_written)
}

/// Returns whether a file is generated with each archive.
fn is_made(placement: &Placement, name: &str) -> bool {
    let Some(name) = placement.relative(name) else { return false };
    let is_tag = match placement.layout {
        Layout::Plain => false,
        Layout::BagIt => {
            matches!(name, "data" | BAG_DECLARATION | BAG_INFO)
                || pack::tag_manifest_algorithm(name).is_some()
        }
    };
    is_tag || name == PACK_DOCUMENT || pack::manifest_algorithm(name).is_some()
}
