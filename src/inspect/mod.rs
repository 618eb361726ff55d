//! Facts about packs from headers, descriptions and manifests; checks of descriptions.

pub(crate) mod ascending;
pub(crate) mod info;
mod inlined;
pub(crate) mod late;
pub(crate) mod list;
#[cfg(feature = "full")]
pub(crate) mod listed;
pub(crate) mod outline;
#[cfg(feature = "full")]
mod profile;
#[cfg(feature = "full")]
mod record;
pub(crate) mod remote_scan;
mod repositories;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod validate;
pub(crate) mod visit;

pub use self::info::{
    ArrayInfo, InfoOptions, ManifestInfo, PackInfo, array_file_info, array_info, info,
};
pub use self::list::{ListOptions, ListOrder, Listed, ListedArray, Listing, list};
pub use self::outline::{
    Outline, OutlineArray, OutlineDimension, OutlineGroup, OutlineOptions, outline,
};
#[cfg(feature = "full")]
pub use self::record::{RecordFormat, write_record};
pub use self::repositories::repositories;
pub use self::select::{InvalidPattern, Patterns};
pub use self::validate::{ValidateOptions, ValidateReport, validate, validate_text};
pub use crate::pack::{CoordinateInfo, MetadataCounts, conventions};
