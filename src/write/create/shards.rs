//! Archives that several processes write: the place of every large file follows from the names and sizes of all files, so
//! each process writes its shard of them into the same file. The last one writes the rest.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::options::CreateOptions;
use super::payload::PayloadMembers;
use crate::archive::{How, Reserved};
use crate::digest::{Algorithm, BlockDigest, Digest, Digests};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs::{self, Stamp, Turn, UNFINISHED_SUFFIX, Walked, beside, write_new};
use crate::message::{Message, listed};
use crate::path::escape_path;
use crate::read::manifests::MAX_MANIFEST;
use crate::time::Timestamp;
use crate::verify::Shard;
use crate::write::survey::SourceEntry;

/// Suffix of the directory with the records of the shards.
const SHARDS_SUFFIX: &str = ".shards";

/// Number of names in an error.
const MOST_NAMES: usize = 8;

/// The shard of an archive that was packed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShardReport {
    /// The archive, which does not exist before all shards are joined.
    pub target: PathBuf,
    /// The shard that was written, such as `2/8`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub shard: Shard,
    /// Number of files in the shard. Files of at most 32 KiB belong to no shard.
    pub files: u64,
    /// Size of these files in bytes.
    pub bytes: u64,
    /// Warnings. Nothing is written if there are errors.
    pub findings: Vec<Finding>,
}

/// The shards of an archive.
pub(super) struct Shards {
    archive: PathBuf,
    /// The directory of the records.
    directory: PathBuf,
    /// Processes that write shards share the lock; the one that joins them has it alone.
    _turn: Turn,
    /// The files that were written, by name.
    written: HashMap<String, (Shard, WrittenFile)>,
}

/// A file that a process wrote into the archive.
#[derive(Serialize, Deserialize)]
struct WrittenFile {
    name: String,
    size: u64,
    modified: Option<Timestamp>,
    /// Offset of its header in the archive.
    at: u64,
    crc32: u32,
    /// Digests in hexadecimal, by algorithm.
    digests: BTreeMap<String, String>,
    /// The SHA-256 of each block.
    blocks: Vec<String>,
}

/// Returns the name of the record of a shard.
fn name_of(shard: Shard) -> String {
    format!("{}-of-{}.json", shard.number(), shard.count())
}

impl Shards {
    /// Prepares the directory of the records.
    pub(super) fn begin(archive: &Path, options: &CreateOptions) -> Result<Self> {
        let directory = beside(archive, SHARDS_SUFFIX);
        if fs::exists(archive) && !options.force {
            return Err(Error::AlreadyExists { path: archive.to_owned() });
        }
        let unfinished = beside(archive, UNFINISHED_SUFFIX);
        if fs::exists(&unfinished) && !fs::exists(&directory) {
            return Err(fs::left_unfinished(unfinished));
        }
        fs::create_root(&directory)?;
        Self::locked(archive, directory, true, options)
    }

    /// Records the files of a shard, which are in the archive. Returns their number and bytes.
    pub(super) fn record(&self, shard: Shard, written: &[SourceEntry]) -> Result<(u64, u64)> {
        let files: Vec<_> = written.iter().map(WrittenFile::of).collect();
        let path = self.directory.join(name_of(shard));
        write_new(&path, true, |sink| Ok(serde_json::to_writer(sink, &files)?))?;
        Ok((files.len() as u64, files.iter().map(|file| file.size).sum()))
    }

    /// Reads the records of all shards.
    pub(super) fn join(archive: &Path, options: &CreateOptions) -> Result<Self> {
        let directory = beside(archive, SHARDS_SUFFIX);
        let mut this = Self::locked(archive, directory, false, options)?;
        let shard_of = |found: Walked| {
            let name = found.path.ok()?;
            let (number, count) = name.as_str().strip_suffix(".json")?.split_once("-of-")?;
            format!("{number}/{count}").parse().ok()
        };
        let names = fs::entries(&this.directory)?;
        let mut packed: Vec<Shard> = names.into_iter().filter_map(shard_of).collect();
        packed.sort_unstable();
        let count = packed.first().map_or(0, |shard| shard.count());
        if let Some(other) = packed.iter().find(|shard| shard.count() != count) {
            let why = format!(
                "has shards of {count} and of {}; delete it, and pack all shards of one number",
                other.count()
            );
            return Err(Error::wrong_target(&this.directory, why));
        }
        let all = (1..=count.max(1)).filter_map(|number| Shard::new(number, count.max(1)));
        let missing: Vec<_> = all.filter(|shard| packed.binary_search(shard).is_err()).collect();
        if !missing.is_empty() {
            return Err(this.incomplete("lacks shards", &missing));
        }
        for shard in packed {
            let path = this.directory.join(name_of(shard));
            let text = fs::read_limited(&path, MAX_MANIFEST)?;
            let files: Vec<WrittenFile> = serde_json::from_slice(&text).map_err(|error| {
                Error::wrong_target(&path, format!("is not a record of a shard: {error}"))
            })?;
            let by_name = files.into_iter().map(|file| (file.name.clone(), (shard, file)));
            this.written.extend(by_name);
        }
        Ok(this)
    }

    fn locked(
        archive: &Path,
        directory: PathBuf,
        is_shared: bool,
        options: &CreateOptions,
    ) -> Result<Self> {
        let turn = Turn::take(&directory, is_shared, &options.progress)?;
        // Another process may have joined the shards while this one waited.
        if !fs::exists(&directory) {
            if fs::exists(archive) && !options.force {
                return Err(Error::AlreadyExists { path: archive.to_owned() });
            }
            let why = "does not exist: no shard is packed, or the shards are joined already";
            return Err(Error::wrong_target(directory, why));
        }
        let (archive, written) = (archive.to_owned(), HashMap::new());
        Ok(Self { archive, directory, _turn: turn, written })
    }

    /// Makes the error about shards that must be packed.
    fn incomplete(&self, why: &str, shards: &[Shard]) -> Error {
        let message = format!("{why}: {}; pack them with ", listed(shards, MOST_NAMES));
        let message = Message::from(message);
        let message = message.option("shard").text(", and join again");
        Error::wrong_target(&self.archive, message)
    }

    /// Places the large files that are in the archive, and completes their members.
    pub(super) fn place(
        &self,
        entries: &mut [SourceEntry],
        members: PayloadMembers<'_>,
        archive: &Reserved<'_>,
        algorithms: &[Algorithm],
    ) -> Result<()> {
        let (mut elsewhere, mut changed) = (Vec::new(), Vec::new());
        for entry in entries.iter_mut().filter(|entry| entry.how == Some(How::Reserved)) {
            let name = entry.path.as_str();
            let at = entry.placed.as_ref().expect("its space was reserved").record.at;
            let found = self.written.get(name);
            let Some((shard, file)) = found.filter(|(_, file)| file.at == at) else {
                elsewhere.push(name.to_owned());
                continue;
            };
            let digests = file.digests(algorithms);
            match digests.filter(|_| file.size == entry.size() && file.modified == modified(entry))
            {
                Some(digests) => {
                    let member = members.of(entry);
                    let placed = archive.complete(&member, at, file.crc32, digests)?;
                    entry.placed = Some(placed);
                }
                None => changed.push(*shard),
            }
        }
        if !elsewhere.is_empty() {
            let message = Message::from(format!(
                "has no place for {} in its shards: files of `{}` were added, removed or resized, or \
                 the options changed; pack all shards again with ",
                listed(&elsewhere, MOST_NAMES),
                escape_path(members.source),
            ));
            return Err(Error::wrong_target(&self.archive, message.option("shard")));
        }
        changed.dedup();
        if changed.is_empty() {
            Ok(())
        } else {
            Err(self.incomplete("has files that changed in shards", &changed))
        }
    }

    /// Deletes the records of a complete archive.
    pub(super) fn remove(self) -> Result<()> {
        fs::remove_directory(&self.directory)
    }
}

fn modified(entry: &SourceEntry) -> Option<Timestamp> {
    entry.stamp().and_then(Stamp::time)
}

impl WrittenFile {
    fn of(entry: &SourceEntry) -> Self {
        let placed = entry.placed.as_ref().expect("it was written");
        let digests = placed.digests.iter();
        let block = |block: &BlockDigest| Digest::of_block(block).to_string();
        Self {
            name: entry.path.as_str().to_owned(),
            size: entry.size(),
            modified: modified(entry),
            at: placed.record.at,
            crc32: placed.record.crc,
            digests: digests.map(|it| (it.algorithm().name().to_owned(), it.to_string())).collect(),
            blocks: placed.digests.blocks().iter().map(block).collect(),
        }
    }

    /// Returns the digests with these algorithms, if all are recorded.
    fn digests(&self, algorithms: &[Algorithm]) -> Option<Digests> {
        let digest = |algorithm: &Algorithm| {
            Digest::from_hex(*algorithm, self.digests.get(algorithm.name())?.as_bytes())
        };
        let block = |hex: &String| {
            let digest = Digest::from_hex(Algorithm::Sha256, hex.as_bytes())?;
            BlockDigest::try_from(digest.as_bytes()).ok()
        };
        let whole: Option<Digests> = algorithms.iter().map(digest).collect();
        let blocks: Option<Vec<_>> = self.blocks.iter().map(block).collect();
        Some(whole?.with_blocks(blocks?))
    }
}
