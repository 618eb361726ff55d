//! The report of [`convert`](super::convert()).

use std::path::PathBuf;

use serde::{Serialize, Serializer};

use super::format::ArrayFormat;
use crate::error::Error;
use crate::finding::Finding;
use crate::message::Message;
use crate::ndl::Order;
use crate::ra::ElementType;

/// The arrays and files that were converted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ConvertReport {
    /// Path of the input, as given; the first of several.
    pub target: PathBuf,
    /// Format of the input; `directory` for several inputs.
    pub from: ArrayFormat,
    /// Path of the output, as given.
    pub output: PathBuf,
    /// Format of the output.
    pub to: ArrayFormat,
    /// Converted arrays, in the order of the output.
    pub arrays: Vec<Converted>,
    /// Names in the output of files that were copied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<String>,
    /// Files and arrays that could not be converted and are not in the output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Unconverted>,
    /// Other contents of the input that are lost, one sentence each.
    pub losses: Vec<String>,
    /// Number of bytes written.
    pub bytes: u64,
    /// Files next to the output that an interrupted run left. You can delete them.
    pub leftovers: Vec<PathBuf>,
}

/// A converted array.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Converted {
    /// Name of the array in the input. In a directory, and among several inputs, an array in another format has the
    /// path of its file, followed by its own name if the file has several.
    pub from: String,
    /// Name of the array in the output.
    pub to: String,
    /// Whether the array was renamed, because its name is not valid for a file or was in use.
    pub renamed: bool,
    /// Element type, such as `float32`; `string` for text, which has no element type.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type", serialize_with = "element_or_string")]
    pub element: Option<ElementType>,
    /// See [`type_name`](Self::type_name).
    #[serde(skip)]
    pub(super) type_name: String,
    /// Lengths of the dimensions in the order of the indices.
    pub shape: Vec<u64>,
    /// Names of the dimensions in the output, in the same order: the name of its coordinate, or an empty text. Empty if
    /// no dimension has a name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<String>,
    /// The fastest index in the output.
    pub order: Order,
    /// Whether the elements were reordered.
    pub reordered: bool,
    /// Whether the manifest of the input confirms the array.
    pub verified: bool,
    /// Number of bytes after its elements in the input.
    pub trailing: u64,
    /// Facts of the array that the output cannot express, one sentence each.
    pub losses: Vec<Message>,
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
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
    /// Returns the name of the type for people, as [`type_name`](crate::read::type_name).
    pub fn type_name(&self) -> &str {
        &self.type_name
    }
}

/// A file or array that could not be converted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Unconverted {
    /// Its name in the input, as for a converted array.
    pub name: String,
    /// The reason, in one sentence.
    pub reason: Message,
    /// Errors of its header or description, if these are the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl Unconverted {
    /// Reports that `name` could not be converted because of an error about it.
    pub(super) fn new(name: String, error: Error) -> Self {
        let mut findings = Vec::new();
        let reason = match error {
            Error::Refused { findings: found, .. } => {
                findings = found;
                findings.retain(Finding::is_error);
                let first = findings.first().map(|finding| finding.message.clone());
                first.unwrap_or_default().into()
            }
            Error::Interchange { source, .. } => source.message(),
            Error::Array { source, .. } => source.to_string().into(),
            Error::Mismatch { reason, .. } => reason.into(),
            error => error.message(),
        };
        Self { name, reason, findings }
    }
}
