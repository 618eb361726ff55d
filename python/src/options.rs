//! Options of `create` and `PackWriter` from the arguments of Python.

use std::path::Path;
use std::str::FromStr as _;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ra_pack::archive::Compression;
use ra_pack::digest::Algorithm;
use ra_pack::write::{CreateOptions, Layout};
use ra_pack::{Container, Progress};

use crate::operations::parsed;
use crate::{errors, values};

/// Returns an option from a dict.
pub(crate) fn option<'py, T: FromPyObjectOwned<'py>>(
    options: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<T> {
    options.as_any().get_item(name)?.extract().map_err(Into::into)
}

/// Options that `create` and `PackWriter` share, from a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
#[expect(clippy::struct_excessive_bools, reason = "the options of the library")]
pub(crate) struct SharedOptions<'py> {
    attrs: Option<Bound<'py, PyAny>>,
    layout: String,
    container: Option<String>,
    compression: Option<String>,
    digests: Vec<String>,
    force: bool,
    strict: bool,
    portable: bool,
    jobs: Option<usize>,
    external_manifest: bool,
    archive_digest: bool,
    timestamp: Option<u64>,
}

impl SharedOptions<'_> {
    /// Returns the options of the library.
    pub(crate) fn options(&self, py: Python<'_>) -> PyResult<CreateOptions> {
        let refused = |message: &str| errors::named(py, "InvalidOption", message);
        let mut options = CreateOptions {
            attributes: values::entries(self.attrs.as_ref())?,
            layout: match &*self.layout {
                "plain" => Layout::Plain,
                "bagit" => Layout::BagIt,
                other => {
                    return Err(refused(&format!(
                        "expected the layout `plain` or `bagit`, found `{other}`"
                    )));
                }
            },
            container: self
                .container
                .as_ref()
                .map(|name| {
                    let found = Container::from_extension(Path::new(&format!("pack.{name}")));
                    found.ok_or_else(|| {
                        let expected = "`zip`, `tar`, `tar.gz` or `tar.zst`";
                        refused(&format!("expected the container {expected}, found `{name}`"))
                    })
                })
                .transpose()?,
            ..CreateOptions::default()
        };
        if let Some(text) = &self.compression {
            options.compression = compression(text).map_err(|message| refused(&message))?;
        }
        for name in &self.digests {
            let algorithm = Algorithm::from_str(name);
            options.digests.push(algorithm.map_err(|error| refused(&error.to_string()))?);
        }
        options.force = self.force;
        options.strict = self.strict;
        options.portable = self.portable;
        options.jobs = self.jobs;
        options.no_external_manifest = !self.external_manifest;
        options.archive_digest = self.archive_digest;
        options.timestamp = self.timestamp;
        options.progress = Progress::new();
        Ok(options)
    }
}

/// Returns the compression that a text such as `zstd:9` means.
pub(crate) fn compression(text: &str) -> Result<Compression, String> {
    let (method, level) = text.split_once(':').map_or((text, None), |(one, two)| (one, Some(two)));
    let number = || level.map(str::parse).transpose().ok();
    let found = match method {
        "stored" if level.is_none() => Some(Compression::Stored),
        "deflate" => number()
            .filter(|level| level.is_none_or(|level| (2..=9).contains(&level)))
            .map(|level| Compression::Deflate { level }),
        "zstd" => number()
            .filter(|level| level.is_none_or(|level| (1..=19).contains(&level)))
            .map(|level| Compression::Zstd { level: level.map(u32::cast_signed) }),
        _ => None,
    };
    found.ok_or_else(|| {
        format!(
            "expected the compression `stored`, `deflate` with a level from 2 to 9, such as `deflate:6`, or `zstd` \
             with a level from 1 to 19, found `{text}`"
        )
    })
}

/// Options of `create` for the directory, from a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DirectoryOptions {
    describe: bool,
    exclude: Vec<String>,
    dereference: bool,
    preserve_mtime: bool,
}

impl DirectoryOptions {
    /// Adds these options.
    pub(crate) fn add_to(
        self,
        py: Python<'_>,
        mut options: CreateOptions,
    ) -> PyResult<CreateOptions> {
        options.exclude = parsed(py, &self.exclude)?;
        options.describe = self.describe;
        options.dereference = self.dereference;
        options.preserve_mtime = self.preserve_mtime;
        Ok(options)
    }
}
