//! Statistics of an array, and its values as files.

use std::io::Read as _;

use ra_pack::describe;
use ra_pack::display::{export, statistics};
use ra_pack::interchange::{ExportOptions, FormatError, Variable, npy};
use ra_pack::message::Words;
use ra_pack::ndl::{Extent, Order};
use ra_pack::ra::{Encoding, Header};
use ra_pack::read::{CornersOptions, FileReader, Statistics, StatisticsOptions};
use serde_json::json;

use crate::answer::{Answer, Arguments, Result};
use crate::contents::{Opened, stem};

/// Bytes of a file in one answer.
const PIECE: usize = 8 << 20;

/// Answers with the statistics of the selected part.
pub(crate) fn statistics(opened: &Opened, arguments: &Arguments) -> Result {
    let array = opened.array(arguments)?;
    let raw = arguments.is_raw();
    let options =
        StatisticsOptions { slice: arguments.slice(), raw, ..StatisticsOptions::default() };
    let found = array.statistics(&options)?;
    let description = array.description()?;
    let (rows, verified) = match &found {
        Statistics::Numbers(numbers) | Statistics::Magnitudes(numbers) => {
            let rows = statistics::rows(numbers, (description.as_ref(), raw));
            (
                rows.into_iter().map(|(name, text)| (name.to_owned(), text)).collect(),
                numbers.verified,
            )
        }
        Statistics::Names(names) => {
            let rows = statistics::names(names).into_iter();
            (rows.map(|(name, count)| (name, count.to_string())).collect(), names.verified)
        }
        _ => (Vec::new(), false),
    };
    Ok(json!({ "rows": rows, "verified": if verified { "whole" } else { "no" } }).into())
}

/// A file that is passed on in pieces.
#[derive(Debug)]
pub(crate) struct Export {
    path: String,
    reader: FileReader,
    next: u64,
}

/// Answers with a file, or with the next piece of it.
pub(crate) fn export(opened: &mut Opened, arguments: &Arguments) -> Result {
    let format = arguments.text("format").unwrap_or("npy");
    let path = arguments.path()?;
    let slice = arguments.slice();
    if format == "ra" && slice.is_none() {
        return whole(opened, path, arguments.number("from").unwrap_or(0) as u64);
    }
    let array = opened.array(arguments)?;
    let options = CornersOptions { slice: slice.clone(), edge: None, threshold: u64::MAX };
    let corners = array.corners(&options)?;
    let dims: Vec<u64> = corners.shape.iter().rev().copied().collect();
    let header = Header::new(corners.element, dims).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    if format == "ra" {
        bytes = header.encode();
        bytes.extend(corners.bytes);
    } else {
        let name = stem(array.name());
        let described =
            corners.description.unwrap_or_else(|| describe(name, &header, Encoding::Raw));
        let mut description = described;
        description.shape = corners.shape.iter().copied().map(Extent::Fixed).collect();
        let storage = description.storage.get_or_insert_default();
        (storage.order, storage.endian) = (Order::Row, None);
        let variable = Variable { header, description, losses: Vec::new() };
        let data = &corners.bytes[..];
        let failed = |error: FormatError| error.message().in_words(Words::Library);
        if format == "csv" {
            export::write_csv(&variable, data, &mut bytes, arguments.is_raw()).map_err(failed)?;
        } else {
            npy::write(&mut bytes, &variable, data, ExportOptions::default()).map_err(failed)?;
        }
    }
    let part = slice.map_or_else(String::new, |slice| format!("[{}]", slice.replace(':', "-")));
    let name = format!("{}{part}.{format}", stem(path));
    Ok(Answer { text: json!({ "name": name, "done": true }), bytes: Some(bytes) })
}

/// Answers with a piece of an array file as it is.
fn whole(opened: &mut Opened, path: &str, from: u64) -> Result {
    let mut export = match opened.export.take() {
        Some(export) if export.path == path && export.next == from && from > 0 => export,
        _ => Export { path: path.to_owned(), reader: opened.pack.reader(path)?, next: 0 },
    };
    let mut bytes = Vec::new();
    let count = export.reader.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
    let count = count.map_err(|error| error.to_string())?;
    export.next += count as u64;
    let (next, is_done) = (export.next, count < PIECE);
    let is_verified = export.reader.is_verified();
    opened.export = (!is_done).then_some(export);
    let name = format!("{}.ra", stem(path));
    let text = json!({ "name": name, "next": next, "done": is_done, "verified": is_verified });
    Ok(Answer { text, bytes: Some(bytes) })
}
