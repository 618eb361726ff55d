//! What belongs together in a pack, and what contradicts what. The one place that knows both
//! RawArray and the Ndarray Data Language.
//!
//! | name | what |
//! |---|---|
//! | `X.ra` | an array |
//! | `X.yaml`, `X.yml` | its description, when `X.ra` is there |
//! | `manifest.yaml` | the description of the whole pack |
//! | `manifest-<algorithm>.txt` | the digests of every other file |

mod agree;
pub mod bag;
mod check;
mod contents;
mod convention;
mod coordinates;
mod describe;
mod document;
mod facts;
mod inline;
mod inspect;
mod layout;
mod references;
mod repetition;
mod update;

pub use self::coordinates::CoordinateInfo;
pub use self::describe::describe;
pub use self::describe::shape_of;
pub use self::layout::Layout;

pub(crate) use self::contents::{Contents, Described, Entity};
pub(crate) use self::convention::Convention;
pub(crate) use self::coordinates::join_groups;
pub(crate) use self::document::{
    PackDocument, as_coordinate, as_ndarray, is_generated, pack_document,
};
pub(crate) use self::facts::{DescriptionFacts, Interner};
pub(crate) use self::inline::Inlined;
pub(crate) use self::inspect::{ArrayFacts, Content, Inspector};
pub(crate) use self::layout::{BAG_DECLARATION, Placement};
pub(crate) use self::references::candidates;
pub(crate) use self::update::{Update, Updated};

use crate::digest::Algorithm;
use crate::path::{self, MemberPath};

/// Extension of an array.
pub(crate) const ARRAY_EXTENSION: &str = "ra";
/// Extensions of a description, the one that is written first.
pub(crate) const DESCRIPTION_EXTENSIONS: [&str; 2] = ["yaml", "yml"];
/// The description of the whole pack.
pub(crate) const PACK_DOCUMENT: &str = "manifest.yaml";
/// What is appended to the name of an archive for the manifest beside it.
pub(crate) const EXTERNAL_MANIFEST_SUFFIX: &str = ".manifest-sha256.txt";
/// What is appended to the name of an archive for the digest of the archive itself.
pub(crate) const ARCHIVE_DIGEST_SUFFIX: &str = ".sha256";

/// What programs that sign a file put behind its name, after a dot, for the signature: minisign,
/// `OpenSSH` and signify, `GnuPG`, Sigstore.
pub(crate) const SIGNATURE_EXTENSIONS: [&str; 4] = ["minisig", "sig", "asc", "sigstore.json"];

/// The name of a manifest.
pub(crate) fn manifest_name(algorithm: Algorithm) -> String {
    format!("manifest-{}.txt", algorithm.name())
}

/// The algorithm of the manifest of that name.
pub(crate) fn manifest_algorithm(name: &str) -> Option<Algorithm> {
    Algorithm::from_name(name.strip_prefix("manifest-")?.strip_suffix(".txt")?)
}

/// The algorithm of the tag manifest of that name.
pub(crate) fn tag_manifest_algorithm(name: &str) -> Option<Algorithm> {
    manifest_algorithm(name.strip_prefix("tag")?)
}

/// Whether a file is the signature of a manifest by its name. No manifest can list it.
pub(crate) fn is_signature(name: &str) -> bool {
    signed_by(name).is_some()
}

/// The manifest that a file is a signature of, by its name.
pub(crate) fn signed_by(name: &str) -> Option<&str> {
    let mut manifests = SIGNATURE_EXTENSIONS
        .iter()
        .filter_map(|extension| name.strip_suffix(extension)?.strip_suffix('.'));
    manifests.find(|manifest| manifest_algorithm(manifest).is_some())
}

/// Whether a file is an array by its name.
pub(crate) fn is_array(name: &str) -> bool {
    path::extension(name) == Some(ARRAY_EXTENSION)
}

/// Whether a file could be a description by its name.
pub(crate) fn may_be_description(name: &str) -> bool {
    path::extension(name).is_some_and(|extension| DESCRIPTION_EXTENSIONS.contains(&extension))
}

/// The group of a pack that a directory is: `run1/day2` is `/run1/day2`.
pub(crate) fn group_of(path: &MemberPath) -> String {
    match path.parent() {
        Some(parent) => format!("/{parent}"),
        None => "/".to_owned(),
    }
}

/// The path of an entity in the pack: group and name.
pub(crate) fn entity_path(group: &str, name: &str) -> String {
    if group == "/" { format!("/{name}") } else { format!("{group}/{name}") }
}
