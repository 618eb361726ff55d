//! Options of `create` and `PackWriter` from the arguments of Python.

use std::path::Path;
use std::str::FromStr as _;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ra_pack::archive::Compression;
use ra_pack::digest::Algorithm;
use ra_pack::write::{CreateOptions, JournalOptions, Layout};
use ra_pack::{Container, Progress};

use crate::{errors, values};

/// Returns an option from a dict.
pub(crate) fn option<'py, T: FromPyObjectOwned<'py>>(
    options: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<T> {
    options.as_any().get_item(name)?.extract().map_err(Into::into)
}

/// Returns the value of an option that is one of these words.
pub(crate) fn word<T: Copy>(
    options: &Bound<'_, PyDict>,
    name: &str,
    words: &[(&str, T)],
) -> PyResult<Option<T>> {
    let Some(given) = option::<Option<String>>(options, name)? else { return Ok(None) };
    of_word(options.py(), name, &given, words.iter().copied()).map(Some)
}

/// Returns the value of a word.
pub(crate) fn of_word<'w, T>(
    py: Python<'_>,
    name: &str,
    given: &str,
    words: impl Iterator<Item = (&'w str, T)> + Clone,
) -> PyResult<T> {
    let found = words.clone().find(|(word, _)| *word == given).map(|(_, value)| value);
    found.ok_or_else(|| {
        let known = words.map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>();
        let message = format!("`{name}=`: expected {}, found `{given}`", known.join(" or "));
        errors::named(py, "InvalidOption", &message)
    })
}

/// Returns the options that `create` and `PackWriter` share, from a dict.
pub(crate) fn shared<'py>(options: &Bound<'py, PyDict>) -> PyResult<CreateOptions> {
    let py = options.py();
    let refused = |message: &str| errors::named(py, "InvalidOption", message);
    let layouts = [("plain", Layout::Plain), ("bagit", Layout::BagIt)];
    let container = |name: String| {
        let found = Container::from_extension(Path::new(&format!("pack.{name}")));
        found.ok_or_else(|| {
            let expected = "`zip`, `tar`, `tar.gz` or `tar.zst`";
            refused(&format!("expected the container {expected}, found `{name}`"))
        })
    };
    let algorithm =
        |name: &String| Algorithm::from_str(name).map_err(|error| refused(&error.to_string()));
    let digests: Vec<String> = option(options, "digests")?;
    let attrs: Option<Bound<'py, PyAny>> = option(options, "attrs")?;
    let mut made = CreateOptions {
        attributes: values::entries(attrs.as_ref())?,
        layout: word(options, "layout", &layouts)?.unwrap_or_default(),
        container: option::<Option<String>>(options, "container")?.map(container).transpose()?,
        digests: digests.iter().map(algorithm).collect::<PyResult<_>>()?,
        force: option(options, "force")?,
        strict: option(options, "strict")?,
        portable: option(options, "portable")?,
        jobs: option(options, "jobs")?,
        no_external_manifest: !option::<bool>(options, "external_manifest")?,
        archive_digest: option(options, "archive_digest")?,
        block_digests: option(options, "block_digests")?,
        timestamp: option(options, "timestamp")?,
        progress: Progress::new(),
        ..CreateOptions::default()
    };
    if let Some(text) = option::<Option<String>>(options, "compression")? {
        made.compression = compression(&text).map_err(|message| refused(&message))?;
    }
    Ok(made)
}

/// Returns the journal of a writer: `True`, or the number of files after which it is synced.
pub(crate) fn journal(options: &Bound<'_, PyDict>) -> PyResult<Option<JournalOptions>> {
    if let Ok(is_wanted) = option::<bool>(options, "journal") {
        return Ok(is_wanted.then(JournalOptions::default));
    }
    Ok(Some(JournalOptions { sync_every: option(options, "journal")? }))
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
