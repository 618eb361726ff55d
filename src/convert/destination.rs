//! The output of a conversion, and the files that belong to it.

use std::path::{Path, PathBuf};

use super::format::ArrayFormat;
use super::options::ConvertOptions;
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::fs;
use crate::pack::{ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS, EXTERNAL_MANIFEST_SUFFIX};
use crate::path::escape_path;

/// The output of a conversion.
#[derive(Clone, Copy)]
pub(super) struct Destination<'o> {
    pub(super) path: &'o Path,
    pub(super) from: ArrayFormat,
    pub(super) to: ArrayFormat,
    /// The format of each array in a directory, if it is not RawArray.
    pub(super) single: Option<ArrayFormat>,
    pub(super) options: &'o ConvertOptions,
}

impl Destination<'_> {
    /// Rejects several inputs for one array, and an output inside an input, which the next run would convert again.
    pub(super) fn check_inputs(&self, inputs: &[&Path]) -> Result<()> {
        let Self { path, to, .. } = *self;
        let shown = escape_path(path);
        if inputs.len() > 1 && !to.holds_many() {
            return Err(Error::options(format!(
                "{} inputs require a directory or an archive as output, but `{shown}` is a .{to}; name \
                 the output last, such as `arrays/`",
                inputs.len()
            )));
        }
        let is_within = |input: &&&Path| {
            let is_same = || fs::real_path(input).ok() == fs::real_path(path).ok();
            fs::is_directory(input).is_ok_and(|is| is)
                && (fs::name_below(input, path).is_some() || fs::exists(path) && is_same())
        };
        let around = inputs.iter().find(is_within).filter(|_| matches!(to, ArrayFormat::Pack(_)));
        around.map_or(Ok(()), |input| {
            let place = match path.file_name() {
                Some(name) if input.as_os_str() == "." => {
                    format!(", such as `{}`", escape_path(&Path::new("..").join(name)))
                }
                _ => String::new(),
            };
            Err(Error::wrong_target(
                path,
                format!(
                    "would be inside `{}`, where the next run would convert it again; write it \
                 elsewhere{place}",
                    escape_path(input)
                ),
            ))
        })
    }

    /// Returns the format of one array.
    pub(super) fn of_arrays(&self) -> ArrayFormat {
        self.single.unwrap_or(self.to)
    }

    /// Returns the extension of arrays in a directory.
    pub(super) fn extension(&self) -> &'static str {
        self.single.map_or(ARRAY_EXTENSION, ArrayFormat::word)
    }

    /// Returns whether the output is a directory that contains an array of this name.
    pub(super) fn has_array(&self, name: &str) -> bool {
        self.to == ArrayFormat::Pack(Container::Directory)
            && fs::exists(&self.path.join(format!("{name}.{ARRAY_EXTENSION}")))
    }

    /// Returns the output and the files that belong to it.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.path.to_owned()];
        match self.to {
            ArrayFormat::Ra => {
                files.extend(DESCRIPTION_EXTENSIONS.map(|end| self.path.with_extension(end)));
            }
            ArrayFormat::Pack(container) if container != Container::Directory => {
                files.push(fs::beside(self.path, EXTERNAL_MANIFEST_SUFFIX));
            }
            ArrayFormat::Pack(_) if fs::exists(self.path) => {
                files.push(self.path.join(fs::STAGED));
            }
            _ => {}
        }
        files
    }

    /// Returns the files that an interrupted run left next to the output.
    pub(super) fn leftovers(&self) -> Vec<PathBuf> {
        let files = self.files().into_iter().chain(self.options.keep_metadata.clone());
        files.flat_map(|path| fs::leftovers(&path)).collect()
    }
}
