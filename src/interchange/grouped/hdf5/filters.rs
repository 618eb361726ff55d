//! Filters of chunks that the reader does not have: LZF, which h5py uses, and Zstandard, which `NetCDF` uses.

use std::io::Read;

use hdf5_reader::FilterRegistry;
use hdf5_reader::error::Error;
use hdf5_reader::filters::{FILTER_DEFLATE, FILTER_SCALEOFFSET};
use hdf5_reader::messages::filter_pipeline::FilterDescription;

/// The registered numbers of filters.
const LZF: u16 = 32000;
const ZSTANDARD: u16 = 32015;

/// Most bytes of a chunk, which is the default of the reader.
const MAX_CHUNK: usize = hdf5_reader::DEFAULT_MAX_CHUNK_BYTES;

/// Returns all filters.
pub(super) fn registry() -> FilterRegistry {
    let mut registry = FilterRegistry::new();
    registry.register(
        LZF,
        Box::new(|filter, data, _| {
            // The third parameter is the size of the chunk.
            let most = filter.client_data.get(2).and_then(|len| usize::try_from(*len).ok());
            lzf(data, most.unwrap_or(MAX_CHUNK).min(MAX_CHUNK)).ok_or_else(|| wrong("LZF"))
        }),
    );
    registry.register(
        ZSTANDARD,
        Box::new(|_, data, _| {
            let mut decoded = Vec::new();
            let mut input = zstd::Decoder::with_buffer(data)?.take(MAX_CHUNK as u64);
            let read = input.read_to_end(&mut decoded);
            read.map(|_| decoded).map_err(|_| wrong("Zstandard"))
        }),
    );
    registry.register(
        ZSTANDARD,
        Box::new(|_, data, _| {
            let mut decoded = Vec::new();
            let input = zstd::Decoder::with_buffer(data).map_err(Error::Io)?;
            input
                .take(MAX_CHUNK as u64)
                .read_to_end(&mut decoded)
                .map_err(|_| wrong("Zstandard"))?;
            Ok(decoded)
        }),
    );
    registry
}

fn wrong(filter: &str) -> Error {
    Error::FilterError(format!("a chunk is not valid {filter}"))
}

/// Checks that all filters of a dataset are known.
pub(super) fn check(filters: &[FilterDescription]) -> Result<(), String> {
    // The first filters are those of HDF5 itself.
    let is_known = |filter: &&FilterDescription| {
        matches!(filter.id, FILTER_DEFLATE..=FILTER_SCALEOFFSET | LZF | ZSTANDARD)
    };
    let Some(other) = filters.iter().find(|filter| !is_known(filter)) else { return Ok(()) };
    let name = other.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    Err(format!("it is compressed with the filter {}{name}", other.id))
}

/// Decodes LZF, literal bytes and copies of earlier bytes, to at most this many bytes.
fn lzf(mut data: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    let byte = |data: &mut &[u8]| data.split_off_first().copied().map(usize::from);
    while let Some(control) = byte(&mut data) {
        if control < 32 {
            out.extend_from_slice(data.split_off(..=control)?);
        } else {
            let more = if control >> 5 == 7 { byte(&mut data)? } else { 0 };
            let distance = ((control & 0x1f) << 8) + byte(&mut data)? + 1;
            let from = out.len().checked_sub(distance)?;
            // A copy may read bytes that it has written.
            for at in from..from + (control >> 5) + more + 2 {
                out.push(*out.get(at)?);
            }
        }
        if out.len() > most {
            return None;
        }
    }
    Some(out)
}
