//! Content digests: what identifies the elements of an array in any file and format.

use std::io;

use crate::digest::{Algorithm, Digest, Hasher};
use crate::error::Result;
use crate::fs;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{ElementType, Header, ReadError, Reversal};
use crate::read::open::PackedArray;

/// Number of bytes hashed at once. Longer elements are hashed in parts.
const HASHED_AT_ONCE: u64 = 1 << 20;

impl PackedArray {
    /// Returns the content digest: the SHA-256 of the array as a RawArray file with little-endian elements, the last
    /// index of the shape fastest, without encoding and trailing bytes. Arrays with the same type, shape and elements
    /// have the same digest in any container and format; `docs/spec/rawarray.md` specifies it.
    ///
    /// The file is read once and checked as by [`read`](Self::read). Memory does not grow with the array. If the first
    /// index is the fastest, the elements are reordered in temporary files.
    ///
    /// ```
    /// use ra_pack::Pack;
    ///
    /// let depth = Pack::open("examples/experiment")?.array("thermistors/depth.ra")?;
    /// // The file of an array with one dimension is mostly in this form already.
    /// let file = std::fs::read("examples/experiment/thermistors/depth.ra").unwrap();
    /// assert_eq!(depth.content_digest()?, ra_pack::digest::Digest::sha256(&file));
    /// # Ok::<(), ra_pack::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`], except for memory, and [`Error::Array`](crate::Error::Array) for big-endian elements
    /// without a known layout.
    pub fn content_digest(&self) -> Result<Digest> {
        let array = self.clone().in_shape_order()?;
        let progress = self.pack().archive().progress();
        let (digest, _) = array.with_data(true, |header, read_at| {
            let (plain, mut at) = (header.decoded(), 0);
            if !header.is_native() && plain.element().elbyte() > HASHED_AT_ONCE {
                return Err(header.unswappable().into());
            }
            let given = array.laid_out(plain.clone());
            content_digest(&given, array.is_reversed(), progress, |block| {
                read_at(at, block)?;
                at += block.len() as u64;
                header.swap_to_native(block)?;
                Ok(plain.swap_to_native(block)?)
            })
        })?;
        Ok(digest)
    }
}

/// Returns the content digest of an array whose elements `next` gives in little-endian blocks, in the order of `header`.
/// With `is_row`, the fastest index is the last of the shape, and otherwise the first.
pub(crate) fn content_digest(
    header: &Header,
    is_row: bool,
    progress: &Progress,
    mut next: impl FnMut(&mut [u8]) -> Result<(), ReadError>,
) -> Result<Digest, ReadError> {
    let element = match header.element() {
        ElementType::BOOL => ElementType::UINT8,
        element => element,
    };
    let file = if is_row { header.clone() } else { header.reversed() };
    let file = Header::new(element, file.dims().to_vec()).expect("both types have this width");
    let mut hasher = Hasher::new(Algorithm::Sha256);
    hasher.update(&file.encode());
    let reversal = (!is_row).then(|| Reversal::new(header)).filter(|way| !way.is_identity());
    let Some(reversal) = reversal else {
        each_block(header, |block, _| {
            next(block)?;
            hasher.update(block);
            Ok(())
        })?;
        return Ok(hasher.finish());
    };
    let beside = std::env::temp_dir().join("content");
    let scratch = || fs::scratch_file(&beside, progress).map_err(io::Error::from);
    let (source, target) = (scratch()?, scratch()?);
    each_block(header, |block, at| {
        next(block)?;
        Ok(source.write_all_at(block, at).map_err(io::Error::from)?)
    })?;
    reversal.reverse_at(
        pipeline::default_jobs(),
        |run, at| Ok(source.read_exact_at(run, at)?),
        |run, at| Ok(target.write_all_at(run, at)?),
    )?;
    each_block(header, |block, at| {
        target.read_exact_at(block, at).map_err(io::Error::from)?;
        hasher.update(block);
        Ok(())
    })?;
    Ok(hasher.finish())
}

/// Calls `work` with a buffer for each block of elements, and its offset in them.
fn each_block(
    header: &Header,
    mut work: impl FnMut(&mut [u8], u64) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let (len, width) = (header.data_len(), header.element().elbyte());
    let step = HASHED_AT_ONCE.checked_div(width).filter(|count| *count > 0);
    let step = step.map_or(HASHED_AT_ONCE, |count| count * width);
    let size = |len| usize::try_from(len).expect("a block fits into memory");
    let mut block = Vec::new();
    (0..len).step_by(size(step)).try_for_each(|at| {
        block.resize(size(step.min(len - at)), 0);
        work(&mut block, at)
    })
}
