//! What was converted, and what was lost on the way.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::form::Form;

/// What was converted.
#[derive(Debug, Clone, Serialize)]
pub struct ConvertReport {
    /// What was read.
    pub input: PathBuf,
    /// Its form.
    pub from: Form,
    /// What was written.
    pub output: PathBuf,
    /// Its form.
    pub to: Form,
    /// Each array, in the order of the output.
    pub arrays: Vec<Converted>,
    /// What the input holds besides and the output does not, one sentence each.
    pub losses: Vec<String>,
    /// Bytes of everything that was written.
    pub bytes: u64,
    /// Files beside the output that an interrupted run left.
    pub leftovers: Vec<PathBuf>,
}

/// One array that was converted.
#[derive(Debug, Clone, Serialize)]
pub struct Converted {
    /// What it is called in the input.
    pub from: String,
    /// What it is called in the output.
    pub to: String,
    /// Whether that is another name than it would have had: no file may have it, or something has it already.
    pub renamed: bool,
    /// The type of its elements, such as `float32`.
    #[serde(rename = "type")]
    pub element: String,
    /// Extents in the order of indices.
    pub shape: Vec<u64>,
    /// Which index runs fastest in the output: the first, `column`, or the last, `row`.
    pub order: &'static str,
    /// Whether its elements were reordered.
    pub reordered: bool,
    /// Whether the manifest of the input vouches for it.
    pub verified: bool,
    /// Bytes that follow its elements in the input.
    pub trailing: u64,
    /// What the input says of it and the output does not, one sentence each.
    pub losses: Vec<String>,
}

impl ConvertReport {
    pub(super) fn new(input: &Path, output: &Path, from: Form, to: Form) -> Self {
        Self {
            input: input.to_owned(),
            from,
            output: output.to_owned(),
            to,
            arrays: Vec::new(),
            losses: Vec::new(),
            bytes: 0,
            leftovers: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, converted: Converted) {
        self.arrays.push(converted);
    }
}
