//! The parts of a pack and the rules that join them. Only this module knows both RawArray and NDL.
//!
//! | name | content |
//! |---|---|
//! | `X.ra` | an array |
//! | `X.yaml`, `X.yml` | its description, if `X.ra` exists |
//! | `manifest.yaml` | the description of the pack |
//! | `ro-crate-metadata.json` | the metadata of an RO-Crate, if ra-pack made it |
//! | `blocks-sha256.txt` | the digests of the blocks of large files |
//! | `manifest-<algorithm>.txt` | the digests of all other files |

mod array_facts;
mod attributes;
pub mod bag;
mod check;
mod contents;
mod conventions;
mod coordinates;
mod describe;
mod described;
mod differences;
mod dimensions;
mod document;
mod facts;
mod findings;
mod generated;
mod inspect;
mod metadata;
mod stated;
mod units;
#[cfg(feature = "full")]
mod writing;

pub use self::conventions::conventions;
pub use self::coordinates::CoordinateInfo;
pub use self::describe::{datatype, describe, shape_of};
pub use self::metadata::MetadataCounts;

pub(crate) use self::array_facts::ArrayFacts;
pub(crate) use self::contents::Contents;
pub(crate) use self::describe::is_made_of;
pub(crate) use self::described::{Described, Sources, group_in_pack};
pub(crate) use self::facts::{DescriptionFacts, Interner};
pub(crate) use self::generated::CRATE_HEAD;
pub(crate) use self::inspect::{Content, Inspector};
#[cfg(feature = "full")]
pub(crate) use self::writing::{
    Convention, DescribedArray, FORMAT_VERSION, NamedShape, PackDocument, as_coordinate, as_stated,
    attributes_document, describe_missing, dimension, is_attributes_document, is_generated,
    pack_document, update,
};
pub(crate) use crate::ndl::{Entity, candidates, entity_path};

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::digest::Algorithm;
use crate::path::{self, MemberPath};

/// The extension of an array.
pub(crate) const ARRAY_EXTENSION: &str = "ra";
/// The extensions of a description; the first one is written.
pub(crate) const DESCRIPTION_EXTENSIONS: [&str; 2] = ["yaml", "yml"];
/// The description of the complete pack.
pub(crate) const PACK_DOCUMENT: &str = "manifest.yaml";
/// The metadata of an RO-Crate, which is part of the payload.
pub(crate) const RO_CRATE: &str = "ro-crate-metadata.json";
/// The list of the digests of blocks.
pub(crate) const BLOCK_LIST: &str = "blocks-sha256.txt";
/// The suffix that the name of an archive gets for the manifest next to it.
pub(crate) const EXTERNAL_MANIFEST_SUFFIX: &str = ".manifest-sha256.txt";
/// The suffix that the name of an archive gets for the digest of the archive itself.
pub(crate) const ARCHIVE_DIGEST_SUFFIX: &str = ".sha256";

/// The extensions that programs append to the name of a file for its signature: minisign, `OpenSSH` and signify,
/// `GnuPG`, Sigstore; and time-stamp authorities.
pub(crate) const SIGNATURE_EXTENSIONS: [&str; 5] =
    ["minisig", "sig", "asc", "sigstore.json", TIME_STAMP_EXTENSION];
/// The extension of files from which a damaged archive is repaired (PAR2).
pub(crate) const PARITY_EXTENSION: &str = "par2";
/// The extension of the response of a time-stamp authority (RFC 3161).
pub(crate) const TIME_STAMP_EXTENSION: &str = "tsr";

/// Returns the name of a manifest.
pub(crate) fn manifest_name(algorithm: Algorithm) -> String {
    format!("manifest-{}.txt", algorithm.name())
}

/// Returns the algorithm of the manifest with that name.
pub(crate) fn manifest_algorithm(name: &str) -> Option<Algorithm> {
    Algorithm::from_name(name.strip_prefix("manifest-")?.strip_suffix(".txt")?)
}

/// Returns the algorithm of the tag manifest with that name.
pub(crate) fn tag_manifest_algorithm(name: &str) -> Option<Algorithm> {
    manifest_algorithm(name.strip_prefix("tag")?)
}

/// Returns whether the name is that of a signature of a manifest. No manifest can list it.
pub(crate) fn is_signature(name: &str) -> bool {
    signed_by(name).is_some()
}

/// Returns whether the name is that of a file that is generated with each pack, or of a signature.
#[cfg(feature = "full")]
pub(crate) fn is_reserved(name: &str) -> bool {
    matches!(name, BAG_DECLARATION | BLOCK_LIST)
        || is_signature(name)
        || manifest_algorithm(name).is_some()
}

/// Returns the manifest that a signature with this name is for.
pub(crate) fn signed_by(name: &str) -> Option<&str> {
    let mut manifests = SIGNATURE_EXTENSIONS
        .iter()
        .filter_map(|extension| name.strip_suffix(extension)?.strip_suffix('.'));
    manifests.find(|manifest| manifest_algorithm(manifest).is_some())
}

/// Returns whether a file is an array, judging by its name.
pub(crate) fn is_array(name: &str) -> bool {
    path::extension(name) == Some(ARRAY_EXTENSION)
}

/// Returns whether a file could be a description, judging by its name.
pub(crate) fn may_be_description(name: &str) -> bool {
    path::extension(name).is_some_and(|extension| DESCRIPTION_EXTENSIONS.contains(&extension))
}

/// Returns the group of a pack that contains the files of a directory: `/run1/day2` for `run1/day2`.
pub(crate) fn group_of(path: &MemberPath) -> String {
    match path.parent() {
        Some(parent) => format!("/{parent}"),
        None => "/".to_owned(),
    }
}

/// The file that declares a bag (RFC 8493 §2.1.1).
pub(crate) const BAG_DECLARATION: &str = "bagit.txt";
/// The directory of a bag's payload (§2.1.2).
pub(crate) const BAG_PAYLOAD: &str = "data/";

/// The layout of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Layout {
    /// The files with their paths in the directory, and the manifests next to them.
    #[default]
    Plain,
    /// A BagIt 1.0 bag: one top directory, with the files below its `data/`.
    BagIt,
}

/// The positions of the parts of a pack in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) layout: Layout,
    /// The prefix of every name: empty, or the top directory and its slash.
    base: String,
}

impl Placement {
    pub(crate) fn plain() -> Self {
        Self { layout: Layout::Plain, base: String::new() }
    }

    pub(crate) fn bag(top: &str) -> Self {
        Self { layout: Layout::BagIt, base: format!("{top}/") }
    }

    /// Returns whether a manifest lists the file. In a plain pack, it lists every file except manifests at the root and
    /// signatures of these; in a bag, every file below `data/`.
    pub(crate) fn is_payload(&self, name: &str) -> bool {
        match self.layout {
            Layout::Plain => manifest_algorithm(name).is_none() && !is_signature(name),
            Layout::BagIt => self.payload(&self.place_tag(name)).is_some(),
        }
    }

    /// Detects the layout of a pack from the names in it.
    pub(crate) fn detect<'a>(names: &(impl Iterator<Item = &'a str> + Clone)) -> Self {
        let in_base = |base: &str| {
            let (mut bag, mut manifest) = (false, false);
            for name in names.clone().filter_map(|name| below(base, name)) {
                bag |= name == BAG_DECLARATION;
                manifest |= manifest_algorithm(name).is_some();
            }
            let layout = if bag { Layout::BagIt } else { Layout::Plain };
            (bag || manifest).then(|| Self { layout, base: base.to_owned() })
        };
        if let Some(placement) = in_base("") {
            return placement;
        }
        // One directory that contains everything, as `zip -r exp.zip exp` makes it.
        let mut tops = BTreeSet::new();
        for name in names.clone() {
            tops.insert(name.split_once('/').map_or("", |(top, _)| top));
            if tops.len() > 2 {
                return Self::bag_among(names);
            }
        }
        // The entry of a directory itself has no slash, so its top is empty.
        let mut tops = tops.into_iter().filter(|top| !top.is_empty());
        match (tops.next(), tops.next()) {
            (Some(top), None) if names.clone().all(|name| within(name, top)) => {
                in_base(&format!("{top}/")).unwrap_or_else(Self::plain)
            }
            _ => Self::bag_among(names),
        }
    }

    /// Returns the first bag that has other files next to it, which is not allowed.
    fn bag_among<'a>(names: &(impl Iterator<Item = &'a str> + Clone)) -> Self {
        let tops = names.clone().filter_map(|name| {
            let (top, rest) = name.split_once('/')?;
            (rest == BAG_DECLARATION).then_some(top)
        });
        tops.min().map_or_else(Self::plain, Self::bag)
    }

    /// Returns whether the name is that of the top directory.
    pub(crate) fn is_top(&self, name: &str) -> bool {
        self.base.strip_suffix('/') == Some(name)
    }

    /// Returns whether names have no prefix.
    pub(crate) fn is_at_root(&self) -> bool {
        self.base.is_empty()
    }

    /// Returns the name relative to the root of the pack, as manifests and tag files write it.
    pub(crate) fn relative<'a>(&self, name: &'a str) -> Option<&'a str> {
        below(&self.base, name).filter(|name| !name.is_empty())
    }

    /// Returns the name of a payload file; `None` for all other files.
    pub(crate) fn payload<'a>(&self, name: &'a str) -> Option<&'a str> {
        let relative = self.relative(name)?;
        match self.layout {
            Layout::Plain => Some(relative),
            Layout::BagIt => relative.strip_prefix(BAG_PAYLOAD).filter(|name| !name.is_empty()),
        }
    }

    /// Returns the name of a member to show: its payload name, which every command accepts; or else its name in the
    /// pack; or else, outside of the pack, its full name.
    pub(crate) fn shown<'a>(&self, name: &'a str) -> &'a str {
        self.payload(name).or_else(|| self.relative(name)).unwrap_or(name)
    }

    /// Returns the name to show for a name relative to the root of the pack.
    pub(crate) fn shown_relative<'a>(&self, name: &'a str) -> &'a str {
        let payload = match self.layout {
            Layout::Plain => None,
            Layout::BagIt => name.strip_prefix(BAG_PAYLOAD),
        };
        payload.filter(|name| !name.is_empty()).unwrap_or(name)
    }

    /// Returns the name of a payload file in the archive.
    pub(crate) fn place_payload(&self, path: &str) -> String {
        self.placed(path).into_owned()
    }

    /// Returns the name of a payload file in the archive; borrowed if it is unchanged.
    pub(crate) fn placed<'a>(&self, path: &'a str) -> Cow<'a, str> {
        match self.layout {
            Layout::Plain if self.base.is_empty() => Cow::Borrowed(path),
            Layout::Plain => Cow::Owned(format!("{}{path}", self.base)),
            Layout::BagIt => Cow::Owned(format!("{}{BAG_PAYLOAD}{path}", self.base)),
        }
    }

    /// Returns the payload directory of a bag.
    pub(crate) fn payload_directory(&self) -> Option<String> {
        let name = BAG_PAYLOAD.trim_end_matches('/');
        (self.layout == Layout::BagIt).then(|| format!("{}{name}", self.base))
    }

    /// Returns the name in the archive of a file outside of the payload.
    pub(crate) fn place_tag(&self, name: &str) -> String {
        format!("{}{name}", self.base)
    }
}

/// Returns the rest of `name` after `base`. The base is usually empty, and this case is checked first because it is the
/// faster test.
fn below<'a>(base: &str, name: &'a str) -> Option<&'a str> {
    if base.is_empty() { Some(name) } else { name.strip_prefix(base) }
}

fn within(name: &str, top: &str) -> bool {
    name.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(names: &[&str]) -> (Layout, String) {
        let placement = Placement::detect(&names.iter().copied());
        (placement.layout, placement.base)
    }

    #[test]
    fn packs_are_recognized_by_their_names() {
        assert_eq!(detect(&["a.ra", "manifest-sha256.txt"]), (Layout::Plain, String::new()));
        assert_eq!(
            detect(&["exp", "exp/a.ra", "exp/manifest-md5.txt"]),
            (Layout::Plain, "exp/".into())
        );
        assert_eq!(detect(&["exp/bagit.txt", "exp/data/a.ra"]), (Layout::BagIt, "exp/".into()));
        assert_eq!(detect(&["bagit.txt", "data/a.ra"]), (Layout::BagIt, String::new()));
        assert_eq!(detect(&["exp/manifest-sha256.txt", "other"]), (Layout::Plain, String::new()));
        assert_eq!(detect(&["a.ra"]), (Layout::Plain, String::new()));
        let beside = ["b/bagit.txt", "a/bagit.txt", "c/x", "README"];
        assert_eq!(detect(&beside), (Layout::BagIt, "a/".into()));
    }

    #[test]
    fn names_are_placed_and_recovered() {
        for placement in [Placement::plain(), Placement::bag("exp")] {
            let placed = placement.place_payload("run1/a.ra");
            assert_eq!(placement.payload(&placed), Some("run1/a.ra"));
        }
        assert_eq!(Placement::bag("exp").payload("exp/bagit.txt"), None);
        assert_eq!(Placement::bag("exp").relative("exp/bagit.txt"), Some("bagit.txt"));
        let shown = |name| Placement::bag("exp").shown(name);
        assert_eq!(shown("exp/data/a.ra"), "a.ra");
        assert_eq!(shown("exp/bagit.txt"), "bagit.txt");
        assert_eq!(shown("other"), "other");
        assert_eq!(Placement::bag("exp").shown_relative("data/data/a.ra"), "data/a.ra");
        assert_eq!(Placement::plain().shown_relative("data/a.ra"), "data/a.ra");
    }
}
