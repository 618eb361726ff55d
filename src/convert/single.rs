//! One array in a file of another program.

use std::io::{BufWriter, Read, Write};
use std::path::Path;

use super::data::{Arranged, failed};
use super::format::ArrayFormat;
use super::item::ArrayItem;
use super::options::ConvertOptions;
use crate::display::export::{write_csv, write_json};
use crate::error::{Error, Result};
use crate::fs::File;
#[cfg(feature = "full")]
use crate::interchange::png;
use crate::interchange::{self, Variable, npy};

/// Number of bytes written at once.
pub(super) const WRITTEN: usize = 256 * 1024;

/// Makes the error for an array that cannot be written in another format, or to the file at `path`.
pub(super) fn unwritable(item: &ArrayItem, path: &Path, error: interchange::FormatError) -> Error {
    let is_io = matches!(error, interchange::FormatError::Io(_));
    failed(error, "write", if is_io { path } else { item.name.as_ref() })
}

/// Writes the elements of a single array in order, and returns the facts that the format cannot express.
pub(super) fn write_single(
    to: ArrayFormat,
    variable: &Variable,
    data: &mut dyn Read,
    out: &mut dyn Write,
    options: &ConvertOptions,
) -> Result<Vec<String>, interchange::FormatError> {
    match to {
        ArrayFormat::Npy => return Ok(npy::write(out, variable, data, options.write())?.losses),
        ArrayFormat::Png => return png::write(variable, data, out),
        ArrayFormat::Csv => write_csv(variable, data, out, options.raw)?,
        ArrayFormat::Json => write_json(variable, data, out, options.raw)?,
        _ => drop(std::io::copy(data, out)?),
    }
    Ok(Vec::new())
}

/// Writes a single array to a file, and returns the facts that the format cannot express.
pub(super) fn write_file(
    to: ArrayFormat,
    item: &ArrayItem,
    data: Arranged<'_>,
    file: &File,
    options: &ConvertOptions,
) -> Result<Vec<String>> {
    let variable = item.to_variable()?;
    let written = data.read_by(|data| {
        let mut out = BufWriter::with_capacity(WRITTEN, file);
        let losses = write_single(to, &variable, data, &mut out, options)?;
        out.flush()?;
        Ok(losses)
    })?;
    written.map_err(|error| unwritable(item, file.path(), error))
}
