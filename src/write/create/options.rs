//! Options for packing a directory.

use std::path::PathBuf;

use crate::archive::{Compression, Container};
use crate::digest::Algorithm;
use crate::inspect::select::Patterns;
use crate::ndl::Attribute;
use crate::pack::Layout;
use crate::progress::Progress;

/// 1980-01-01 00:00:00 UTC in seconds since 1970: the earliest time that a zip can store, and the default time of
/// members.
pub(super) const FIXED_TIME: u64 = 315_532_800;

/// Options for [`create`](super::create()): container, layout, compression, manifests and checks.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    /// Container of the archive; determined by the extension of its name if `None`.
    pub container: Option<Container>,
    /// Layout of the pack.
    pub layout: Layout,
    /// Labels and values for `bag-info.txt`, in this order.
    pub bag_info: Vec<(String, String)>,
    /// File of a BagIt profile. A bag that breaks its rules is refused. `bag-info.txt` gets its `BagIt-Profile-Identifier`.
    pub profile: Option<PathBuf>,
    /// Attributes of the pack, such as its title. They replace attributes of the same names in its description.
    pub attributes: Vec<Attribute>,
    /// Whether to write `ro-crate-metadata.json`, the metadata of an RO-Crate, from the attributes and arrays of the pack.
    pub ro_crate: bool,
    /// Algorithms of the manifests, including SHA-256; SHA-256 alone if empty.
    pub digests: Vec<Algorithm>,
    /// Bytes per block of the list of block digests; `None` to write no list. The usual number is
    /// [`BLOCK_SIZE`](crate::manifest::BlockList::BLOCK_SIZE). The list has the SHA-256 of each block of every file that is
    /// longer than one block.
    pub block_digests: Option<u64>,
    /// Compression of the members of a zip, or of the whole compressed tar.
    pub compression: Compression,
    /// Whether a zip without compression shares the blocks of files above 32 KiB with the source, on file systems that
    /// can, such as btrfs and XFS. The archive then takes almost no space and is not written, only hashed. The content of
    /// these files begins at multiples of 4,096 bytes in the archive, so array data is aligned to 8 bytes instead of 64.
    /// Only [`create`](super::create()) and its shards do so.
    pub clone: bool,
    /// Whether to add descriptions made from the headers for arrays that have none. Only the archive gets them.
    pub describe: bool,
    /// Patterns of files to leave out.
    pub exclude: Patterns,
    /// Whether to pack the targets of symbolic links. By default links are errors.
    pub dereference: bool,
    /// Whether to replace an existing archive.
    pub force: bool,
    /// Whether to treat warnings and extension words in descriptions as errors.
    pub strict: bool,
    /// Whether names that cannot be used on every system are errors. By default they are warnings.
    pub portable: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Where to write the external manifest instead of next to the archive.
    pub manifest: Option<PathBuf>,
    /// Whether to omit the manifest next to the archive.
    pub no_external_manifest: bool,
    /// Whether to write the SHA-256 digest of the archive to a file next to it.
    pub archive_digest: bool,
    /// Shell command that signs the external manifest after everything is written. The path of the manifest is appended
    /// to it. It must write the signature next to the manifest.
    pub sign_with: Option<String>,
    /// Shell command that requests a time-stamp (RFC 3161) of the external manifest. The path of the manifest is appended
    /// to it. It must write the response of the authority to a file with this path and `.tsr`.
    pub time_with: Option<String>,
    /// Shell command that makes parity files (PAR2) of the archive. The path of the archive is appended to it. It must
    /// write `ARCHIVE.par2`.
    pub parity_with: Option<String>,
    /// Whether to store the modification times of the files. The bytes of the archive then depend on them.
    pub preserve_mtime: bool,
    /// Time of every member, in seconds since 1970 UTC; 1980-01-01 if `None`.
    pub timestamp: Option<u64>,
    /// Keeps what a [`PackWriter`](crate::PackWriter) has finished if its process is killed. Only the writer of a new
    /// zip or tar in the plain layout without compression uses it.
    pub journal: Option<JournalOptions>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// Options for the journal of a [`PackWriter`](crate::PackWriter): a manifest next to the archive that is written.
///
/// Until it is complete, the archive has its name and `.unfinished`, such as `run.zip.unfinished`. The journal,
/// `run.zip.unfinished.manifest-sha256.txt`, lists each file that is on the disk. If the process ends early,
/// [`salvage`](crate::write::salvage()) makes a pack of both. They are never deleted or replaced by another writer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalOptions {
    /// Number of files after which they are synced to disk and listed. An array is two files: itself and its
    /// description. With 0, this happens only in [`PackWriter::sync`](crate::PackWriter::sync).
    pub sync_every: u64,
}
