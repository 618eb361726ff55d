//! The words of a store about a target, as data.

use serde::{Deserialize, Serialize};

/// The result of the comparison of a target with the attributes of an object in a store. The store was not asked for the
/// content of the object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StoreWord {
    /// URL of the object.
    pub url: String,
    /// Whether the object agrees with the target.
    pub outcome: StoreOutcome,
    /// The checksum that was compared, such as `CRC64NVME` or `SHA-256 of 3 parts of 8 MiB`; absent if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// Its value, as the store shows it; absent if none was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Whether an object agrees with a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoreOutcome {
    /// The lengths and the checksums are the same.
    Agrees,
    /// The length or a checksum is another one.
    Differs,
    /// There is no such object.
    NoObject,
    /// The store keeps no checksum that can be compared.
    NoChecksum,
}

impl StoreOutcome {
    /// Returns the outcome in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::NoObject => "no object",
            Self::NoChecksum => "no checksum",
        }
    }
}

/// The checksums of a file as S3 computes and shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StoreChecksums {
    /// CRC64NVME of the whole file, in base64.
    pub crc64nvme: String,
    /// SHA-256 in base64: of the file if it is shorter than a part, otherwise of the SHA-256 of its parts, with their
    /// number, as in `…=-3`.
    pub sha256: String,
    /// Bytes of a part: the default of the command `aws s3 cp`.
    pub part_size: u64,
}
