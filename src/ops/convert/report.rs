//! What [`convert`](super::convert()) reports.

use std::path::PathBuf;

use serde::{Serialize, Serializer};

use super::ArrayFormat;
use crate::error::Error;
use crate::finding::Finding;
use crate::ndl::Order;
use crate::ra::ElementType;

/// The arrays that were converted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ConvertReport {
    /// The input, by its path as given; the first of several.
    pub input: PathBuf,
    /// The format of the input; of several, `directory`.
    pub from: ArrayFormat,
    /// The output, by its path as given.
    pub output: PathBuf,
    /// The format of the output.
    pub to: ArrayFormat,
    /// Each array, in the order of the output.
    pub arrays: Vec<Converted>,
    /// Files that were copied as they are, by their names in the output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<String>,
    /// Files and arrays that could not be converted, and are not in the output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Unconverted>,
    /// The other contents of the input that the output does not have, one sentence each.
    pub losses: Vec<String>,
    /// Bytes of everything that was written.
    pub bytes: u64,
    /// Files beside the output that an interrupted run left; they can be deleted.
    pub leftovers: Vec<PathBuf>,
}

/// One array that was converted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Converted {
    /// The name of the array in the input. In a directory, and among several inputs, an array of another format has
    /// the path of its file, followed by its own name if the file has several.
    pub from: String,
    /// The name of the array in the output.
    pub to: String,
    /// Whether it has another name than it would have had: no file may have that, or something has it already.
    pub renamed: bool,
    /// The type of its elements, such as `float32`; for text, which has none, `string`.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type", serialize_with = "element_or_string")]
    pub element: Option<ElementType>,
    /// Extents in the order of indices.
    pub shape: Vec<u64>,
    /// Names of the dimensions in the output, in the same order: of each the name of its coordinate, or an empty text.
    /// Empty when none has a name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<String>,
    /// The index that is the fastest in the output.
    pub order: Order,
    /// Whether its elements were reordered.
    pub reordered: bool,
    /// Whether the manifest of the input vouches for it.
    pub verified: bool,
    /// Bytes that follow its elements in the input.
    pub trailing: u64,
    /// The facts of the array that the output does not have, one sentence each.
    pub losses: Vec<String>,
}

#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
fn element_or_string<S: Serializer>(
    element: &Option<ElementType>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match element {
        Some(element) => element.serialize(serializer),
        None => serializer.serialize_str("string"),
    }
}

impl Converted {
    /// The name of the type of its elements.
    pub fn type_name(&self) -> String {
        self.element.map_or("string".to_owned(), |element| element.to_string())
    }
}

/// A file or array that could not be converted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Unconverted {
    /// Its name, as [`Converted::from`] would be.
    pub name: String,
    /// The reason, in a sentence.
    pub reason: String,
    /// The errors of its header or of its description, if these are the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl Unconverted {
    /// That `name` could not be converted because of an error, which is about that alone.
    pub(super) fn new(name: String, error: Error) -> Self {
        let mut findings = Vec::new();
        let reason = match error {
            Error::Refused { findings: found, .. } => {
                findings = found;
                findings.retain(Finding::is_error);
                let first = findings.first().map(|finding| finding.message.clone());
                first.unwrap_or_default()
            }
            Error::Interchange { source, .. } => source.to_string(),
            Error::Array { source, .. } => source.to_string(),
            Error::Mismatch { reason, .. } => reason,
            error => error.to_string(),
        };
        Self { name, reason, findings }
    }
}
