//! An open pack: what all its clones share, and what it has read so far.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use crate::archive::{Archive, Member};
use crate::digest::Algorithm;
use crate::error::Result;
use crate::fs::FileMap;
use crate::manifest::{BlockList, ManifestIndex};
use crate::ndl::Ndarray;
use crate::pack::{DescriptionFacts, Placement};
use crate::ra::Header;
use crate::read::manifests::TagRules;

/// A pack (zip, tar, compressed tar or directory) opened for reading, or an array file with its description as a pack
/// of one array.
///
/// Opening a zip reads only its end record. Reading a stored array finds its directory entry and its manifest line,
/// reads the member, and checks it against the digest. If the directory and the manifest are large and sorted, as
/// [`create`](crate::create()) writes them, both are found with binary search. Problems elsewhere in the archive, such
/// as a second member with the same name, are then not noticed: use [`verify`](crate::verify()) to check the whole
/// archive. If no digest confirms the bytes, as for slices and views of large arrays, the whole directory is read.
///
/// After many reads, the directory and the manifest are kept in memory with an index. A tar is read once to index it. A
/// compressed tar can only be decoded from its beginning, so read its arrays in the order of the archive;
/// [`decoded`](Self::decoded) returns the bytes decoded so far.
///
/// Clones are cheap and share everything. Methods take `&self` and can be called from several threads.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ndarray::s;
/// use ra_pack::Pack;
///
/// # let directory = tempfile::tempdir()?;
/// # let zip = directory.path().join("mooring.zip");
/// # ra_pack::create("examples/experiment", &zip, &Default::default())?;
/// let pack = Pack::open(&zip)?;
/// let temperature = pack.array("thermistors/temperature.ra")?;
/// let all: ndarray::ArrayD<f32> = temperature.read()?;
/// let first: ndarray::ArrayD<f32> = temperature.slice(s![.., 0])?;
/// assert_eq!(first, all.slice(s![.., 0]).into_dyn());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Pack {
    pub(super) state: Arc<PackState>,
    /// Maximum number of bytes that one read may take.
    pub(super) max_bytes: u64,
}

/// The state that all clones of a [`Pack`] share.
#[derive(Debug)]
pub(super) struct PackState {
    pub(super) archive: Archive,
    /// Path of the array file, as given, and its name in the pack.
    pub(super) lone: Option<(PathBuf, String)>,
    pub(super) map: Option<FileMap>,
    /// Determined when it is first needed.
    pub(super) placement: OnceLock<Placement>,
    pub(super) known: Known,
}

/// The parts of a pack that are read when they are first needed.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) manifest: OnceLock<Option<PackManifest>>,
    /// The list of block digests, if a manifest covers one.
    pub(super) block_list: OnceLock<Option<BlockList>>,
    pub(super) last_block: LastBlock,
    /// The description of the pack, which may describe any number of arrays.
    pub(super) document: OnceLock<Option<Arc<DescriptionFacts>>>,
    /// The coordinates in this description, by path.
    pub(super) dimcoords: OnceLock<BTreeMap<String, Ndarray>>,
    /// Members of an archive by the names that were given for them. Members of a directory are not kept because it may
    /// change.
    pub(super) found: RwLock<HashMap<Arc<str>, Arc<FoundMember>>>,
}

impl PackState {
    pub(super) fn new(archive: Archive, placement: OnceLock<Placement>) -> Self {
        Self { archive, lone: None, map: None, placement, known: Known::default() }
    }
}

/// A member that was found by its name.
#[derive(Debug)]
pub(super) struct FoundMember {
    /// The name that was given.
    pub(super) name: Arc<str>,
    pub(super) member: Member,
    /// The header of the array, once it is read and a digest confirmed it or no other member has the name.
    pub(super) header: OnceLock<Header>,
    /// Set once the digest of its block has confirmed the header.
    pub(super) is_header_proved: OnceLock<()>,
}

/// The manifest of an open pack.
#[derive(Debug)]
pub(super) struct PackManifest {
    pub(super) name: String,
    pub(super) algorithm: Algorithm,
    pub(super) member: Member,
    pub(super) rules: TagRules,
    pub(super) searches: AtomicUsize,
    pub(super) index: OnceLock<ManifestIndex>,
}

/// A block that was read and compared with its digest.
#[derive(Debug)]
pub(super) struct ProvedBlock {
    /// The offset of the file in the archive, and the number of the block.
    pub(super) place: (u64, u64),
    pub(super) bytes: Vec<u8>,
}

/// The block that was read last, because small parts of an array are often read one after the other.
#[derive(Debug, Default)]
pub(super) struct LastBlock(pub(super) Mutex<Option<Arc<ProvedBlock>>>);

/// Returns the value of a cell, which `make` makes when it is first needed.
pub(crate) fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}
