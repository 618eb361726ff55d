//! Comparison of a file with the length and the checksums that S3 keeps with an object.

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use crc_fast::CrcAlgorithm;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::VerifyOptions;
use super::store_word::{StoreChecksums, StoreOutcome, StoreWord};
use crate::digest::{Algorithm, Hasher};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::remote::{Attributes, attributes, url_of};
use crate::fs::{File, Version, is_directory};
use crate::message::counted;
use crate::path::url::{conceal, is_url};
use crate::path::{escape, escape_path};
use crate::progress::Progress;

const MIB: u64 = 1 << 20;
/// Usual sizes of parts in MiB: programs have such defaults, or let users choose them.
const PARTS: [u64; 18] =
    [5, 8, 10, 15, 16, 20, 25, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1000, 1024];
/// Bytes of a part in the command `aws s3 cp`, which sends shorter files whole.
const USUAL_PART: u64 = 8 * MIB;
/// Bytes that are read at once.
const AT_ONCE: usize = 1 << 20;
/// Characters of a file name that a URL cannot have.
const IN_URL: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#');

/// A checksum of bytes that arrive.
#[derive(Clone)]
enum State {
    /// A cyclic redundancy check of this number of bytes.
    Crc(crc_fast::Digest, usize),
    Sha256(Hasher),
}

impl State {
    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Crc(digest, _) => digest.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Crc(digest, bytes) => {
                let all = digest.finalize().to_be_bytes();
                all.split_at(all.len() - bytes).1.to_vec()
            }
            Self::Sha256(hasher) => hasher.finish().as_bytes().to_vec(),
        }
    }
}

/// Returns the checksums that can be compared, with the ends of their headers and their names.
fn known() -> [(&'static str, &'static str, State); 4] {
    let crc = |algorithm, bytes| State::Crc(crc_fast::Digest::new(algorithm), bytes);
    [
        ("crc64nvme", "CRC64NVME", crc(CrcAlgorithm::Crc64Nvme, 8)),
        ("sha256", "SHA-256", State::Sha256(Hasher::new(Algorithm::Sha256))),
        ("crc32c", "CRC32C", crc(CrcAlgorithm::Crc32Iscsi, 4)),
        ("crc32", "CRC32", crc(CrcAlgorithm::Crc32IsoHdlc, 4)),
    ]
}

/// A checksum of a file, or of the checksums of its parts, as its bytes arrive.
struct Sum {
    /// Bytes of a part; `None` if the file has no parts.
    part: Option<u64>,
    /// Bytes that the part in `state` lacks.
    room: u64,
    state: State,
    of_parts: State,
    empty: State,
}

impl Sum {
    fn new(empty: &State, part: Option<u64>) -> Self {
        let [state, of_parts, empty] = [(); 3].map(|()| empty.clone());
        Self { part, room: part.unwrap_or(u64::MAX), state, of_parts, empty }
    }

    fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.room == 0 {
                self.end_part();
                self.room = self.part.unwrap_or(u64::MAX);
            }
            let room = usize::try_from(self.room).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.state.update(now);
            self.room -= now.len() as u64;
            bytes = later;
        }
    }

    fn end_part(&mut self) {
        let part = std::mem::replace(&mut self.state, self.empty.clone());
        self.of_parts.update(&part.finish());
    }

    /// Returns the checksum in base64, without the number of parts.
    fn finish(mut self) -> String {
        if self.part.is_some() {
            self.end_part();
            return BASE64_STANDARD.encode(self.of_parts.finish());
        }
        BASE64_STANDARD.encode(self.state.finish())
    }
}

/// Reads a file once, and adds its bytes to all checksums.
fn compute(file: &File, length: u64, sums: &mut [Sum]) -> Result<()> {
    file.progress().stage("comparing with the store", length, 0);
    let mut block = vec![0; AT_ONCE];
    let mut at = 0;
    while at < length {
        let read = file.read_at(&mut block, at)?;
        if read == 0 {
            return Err(file.changed(format!("it ends after {at} of {length} bytes")));
        }
        for sum in &mut *sums {
            sum.update(block.split_at(read).0);
        }
        at += read as u64;
    }
    Ok(())
}

/// Computes the checksums that S3 will show for a file.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read.
pub fn store_checksums(file: impl AsRef<Path>, progress: &Progress) -> Result<StoreChecksums> {
    let file = File::open_watched(file.as_ref(), progress)?;
    let length = file.len()?;
    let part = (length >= USUAL_PART).then_some(USUAL_PART);
    let [(.., crc64), (.., sha256), ..] = known();
    let mut sums = [Sum::new(&crc64, None), Sum::new(&sha256, part)];
    compute(&file, length, &mut sums)?;
    let [crc64nvme, sha256] = sums.map(Sum::finish);
    let count = part.map_or(String::new(), |part| format!("-{}", length.div_ceil(part)));
    Ok(StoreChecksums { crc64nvme, sha256: sha256 + &count, part_size: USUAL_PART })
}

/// A checksum that a store keeps, and the sizes of parts that it may be of.
struct Kept {
    name: &'static str,
    empty: State,
    /// As the store shows it: in base64, and usually with the number of parts.
    value: String,
    /// The same without that number.
    sum: String,
    count: u64,
    /// `None` is for the whole file.
    sizes: Vec<Option<u64>>,
}

impl Kept {
    /// Returns the checksums for a file of `length` bytes that can be compared.
    fn all(attributes: &Attributes, length: u64) -> Vec<Self> {
        let Attributes { parts, checksums, .. } = attributes;
        let of_whole = checksums.get("type").map(|it| it == "FULL_OBJECT");
        let kept = known().into_iter().filter_map(|(header, name, empty)| {
            let value = checksums.get(header)?.clone();
            let (sum, shown) = match value.split_once('-') {
                Some((sum, count)) => (sum, Some(count.parse().ok()?)),
                None => (&*value, None),
            };
            let bytes = empty.clone().finish().len();
            BASE64_STANDARD.decode(sum).ok().filter(|sum| sum.len() == bytes)?;
            let count = shown.or(*parts).unwrap_or_default();
            let sizes = match (shown, of_whole) {
                (Some(_), Some(true)) => Vec::new(),
                (None, Some(true)) => vec![None],
                // Some stores say neither the kind nor, with the checksum, the number of parts.
                (None, None) => [vec![None], sizes(length, count)].concat(),
                _ => sizes(length, count),
            };
            Some(Self { name, empty, sum: sum.to_owned(), value, count, sizes })
        });
        kept.filter(|kept| !kept.sizes.is_empty()).collect()
    }

    /// Returns the name of the checksum of parts of this size.
    fn named(&self, size: Option<u64>) -> String {
        let Some(size) = size else { return self.name.to_owned() };
        let size = if self.count > 1 { format!(" of {} MiB", size / MIB) } else { String::new() };
        format!("{} of {}{size}", self.name, counted(self.count, "part"))
    }
}

/// Returns the usual sizes of `count` parts of a file of `length` bytes.
fn sizes(length: u64, count: u64) -> Vec<Option<u64>> {
    if count <= 1 {
        return if count == 1 && length > 0 { vec![Some(length)] } else { Vec::new() };
    }
    // Programs make parts of some MiB longer until there are few enough.
    let least = length.div_ceil(count).next_multiple_of(MIB);
    let all: BTreeSet<u64> = PARTS.into_iter().map(|size| size * MIB).chain([least]).collect();
    let fits = |size: &u64| *size > 0 && length.div_ceil(*size) == count;
    all.into_iter().filter(fits).map(Some).collect()
}

/// The answer of a store about the object that is compared with a target.
pub(super) struct Asked {
    url: String,
    attributes: Option<Attributes>,
}

/// Asks a store about the object at a URL, or of the name of the target below a URL that ends in `/`.
pub(super) fn ask(store: &str, target: &Path, options: &VerifyOptions) -> Result<Asked> {
    check_store(store)?;
    if options.shard.is_some() {
        let why =
            "a shard does not read the whole file, which alone can be compared with an object";
        return Err(Error::options(why));
    }
    if is_url(target) || is_directory(target)? {
        return Err(Error::wrong_target(
            target,
            "is not a file, which alone can be compared with an object",
        ));
    }
    let name = target.file_name().filter(|_| store.ends_with('/'));
    let name = name.map_or(Some(""), std::ffi::OsStr::to_str).ok_or_else(|| {
        Error::wrong_target(target, "has a name that is not UTF-8, which no object has")
    })?;
    let url = format!("{store}{}", utf8_percent_encode(name, IN_URL));
    let attributes = attributes(&url, &options.progress)?;
    Ok(Asked { url, attributes })
}

/// Checks a URL for [`VerifyOptions::store`].
///
/// # Errors
///
/// [`Error::WrongTarget`] if it is not of S3, or has a user, query or fragment.
pub fn check_store(store: &str) -> Result<()> {
    // The command line may have left the secret parts out of the name.
    let url = url_of(store.as_ref());
    let url = url.to_string_lossy();
    if conceal(&url) != url {
        return Err(Error::wrong_target(store, "has a user, query or fragment; leave it out"));
    }
    if !store.starts_with("s3://") {
        let why = "is not in S3, which alone keeps checksums that can be compared; expected `s3://BUCKET/PATH`";
        return Err(Error::wrong_target(store, why));
    }
    Ok(())
}

impl Asked {
    /// Compares the target, which must be of this version, with the object.
    pub(super) fn compare(
        self,
        target: &Path,
        version: &Version,
        progress: &Progress,
    ) -> Result<(StoreWord, Option<Finding>)> {
        let Self { url, attributes } = self;
        let object = escape(&url).to_string();
        let word = |outcome| StoreWord { url, outcome, checksum: None, value: None };
        let Some(attributes) = attributes else {
            let found = Finding::new(Code::NoObject, format!("there is no object `{object}`"));
            return Ok((word(StoreOutcome::NoObject), Some(found)));
        };
        let file = File::open_watched(target, progress)?;
        if file.version()? != *version {
            return Err(file.changed("it is another file than the one that was verified"));
        }
        let length = file.len()?;
        if let Some(other) = attributes.length.filter(|other| *other != length) {
            let said = format!("the object `{object}` has another length than the file");
            let found = Finding::new(Code::StoreDiffers, said);
            let found = found.expected(format!("{length} bytes"), format!("{other} bytes"));
            return Ok((word(StoreOutcome::Differs), Some(found)));
        }
        let kept = Kept::all(&attributes, length);
        if kept.is_empty() {
            let path = escape_path(target);
            let hint = format!(
                "upload the file again: `aws s3 cp --checksum-algorithm CRC64NVME '{path}' '{object}'`"
            );
            let said = format!("the store keeps no checksum of `{object}` that can be compared");
            let found = Finding::new(Code::NoStoreChecksum, said).hint(hint);
            return Ok((word(StoreOutcome::NoChecksum), Some(found)));
        }
        let sums =
            kept.iter().flat_map(|it| it.sizes.iter().map(|size| Sum::new(&it.empty, *size)));
        let mut sums: Vec<_> = sums.collect();
        compute(&file, length, &mut sums)?;
        let mut sums = sums.into_iter().map(Sum::finish);
        let mut agreed = None;
        for it in &kept {
            let own = it.sizes.iter().map(|size| it.named(*size)).zip(sums.by_ref());
            let own: Vec<_> = own.collect();
            let Some((name, _)) = own.iter().find(|(_, sum)| *sum == it.sum) else {
                let own: Vec<_> = own.iter().map(|(name, sum)| format!("{name} {sum}")).collect();
                let said = format!("the object `{object}` has another checksum than the file");
                let found = Finding::new(Code::StoreDiffers, said);
                let found = found.expected(own.join(" or "), format!("{} {}", it.name, it.value));
                return Ok((word(StoreOutcome::Differs), Some(found)));
            };
            agreed.get_or_insert_with(|| (name.clone(), it.value.clone()));
        }
        let (checksum, value) = agreed.unzip();
        Ok((StoreWord { checksum, value, ..word(StoreOutcome::Agrees) }, None))
    }
}
