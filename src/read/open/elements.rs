//! The one reader of elements: of a whole array, a part of it, or a stream.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use ndarray::SliceInfoElem;

use super::array::PackedArray;
use super::blocks::BlockProof;
use super::prefetch::{Ahead, Extents};
use super::stream::CheckedReader;
use crate::archive::Method;
use crate::error::{Error, Result};
use crate::fs::File;
use crate::path::escape;
use crate::ra::{self, Encoding, EncodingProbe, Header, ReadError, SlicePlan};

/// Maximum size in bytes to which an encoded array is decoded in one pass. A file of 60 MiB may decode to 15 GiB, and
/// an archive of 3 KB may contain such a file. No current writer encodes arrays.
const MAX_DECODED: u64 = 1 << 28;

/// Fills a buffer from an offset of the data section. Offsets increase from call to call.
pub(crate) type ReadElements<'r> = dyn FnMut(u64, &mut [u8]) -> io::Result<()> + 'r;

impl PackedArray {
    /// Reads the whole file with `read`, and returns the result with the fastest index first.
    pub(super) fn read_laid_out<R>(
        &self,
        read: impl FnOnce(&Header, &mut CheckedReader, Option<u64>) -> Result<R, ReadError>,
    ) -> Result<R> {
        self.read_with(
            |header| self.check_room(header),
            |header, reader, len| read(&self.laid_out(header.clone()), reader, len),
        )
    }

    /// Plans to read a slice with the fastest index first.
    pub(super) fn plan(&self, slice: &[SliceInfoElem]) -> Result<SlicePlan> {
        let decoded = self.laid_out(self.header()?.decoded());
        let mut slice = slice.to_vec();
        if self.is_reversed() {
            slice.reverse();
        }
        let plan = SlicePlan::new(decoded.dims(), decoded.element().elbyte(), &slice);
        plan.map_err(|error| self.unreadable(error.into()))
    }

    /// Reads a slice with the fastest index first. Also returns the number of blocks whose digests prove it.
    pub(super) fn part<R>(
        &self,
        slice: &[SliceInfoElem],
        read: impl FnOnce(&Header, u64, &[SliceInfoElem], &mut ReadElements<'_>) -> Result<R, ReadError>,
    ) -> Result<(R, Option<u64>)> {
        let (header, plan, mut slice) = (self.header()?, self.plan(slice)?, slice.to_vec());
        self.pack.check_room(self.name(), plan.data_len())?;
        if self.is_reversed() {
            slice.reverse();
        }
        self.read_data(header, self.stored(header)?, Some(&plan), |header, read_at| {
            let header = self.laid_out(header.clone());
            read(&header, header.header_len() + header.data_len(), &slice, read_at)
        })
    }

    /// Calls `look` to read elements at increasing offsets of the data section, and returns whether a manifest lists
    /// the array and confirms it. If the member is stored and `whole` is false, only the requested bytes are read, and
    /// they are not checked unless the pack has block digests. Otherwise the whole member is read and checked. Encoded
    /// data is read twice: the first pass finds the encoding.
    pub(crate) fn with_data<R>(
        &self,
        whole: bool,
        look: impl FnOnce(&Header, &mut ReadElements<'_>) -> Result<R, ReadError>,
    ) -> Result<(R, bool)> {
        let header = self.header()?;
        let stored = if whole { None } else { self.stored(header)? };
        let is_whole = stored.is_none();
        let (result, blocks) = self.read_data(header, stored, None, look)?;
        Ok((result, blocks.is_some() || is_whole && self.verify && self.pack.has_manifest()?))
    }

    /// Reads elements from `stored`, or from the stream of all elements. Those of a `plan` are requested ahead. Also returns
    /// the number of blocks whose digests prove what was read from `stored`.
    pub(super) fn read_data<R>(
        &self,
        header: &Header,
        stored: Option<(Arc<File>, u64)>,
        plan: Option<&SlicePlan>,
        look: impl FnOnce(&Header, &mut ReadElements<'_>) -> Result<R, ReadError>,
    ) -> Result<(R, Option<u64>)> {
        if let Some((file, data)) = stored {
            let start = data - header.header_len();
            let mut proof =
                if self.verify { self.pack.proof(&self.found, &file, start)? } else { None };
            if let Some(proof) = &mut proof {
                self.prove_header(header, proof)?;
            }
            let (header_len, len) = (header.header_len(), self.found.member.size);
            let block_size = proof.as_ref().map(|proof| proof.size);
            let member = Extents { start, len, header_len, block_size };
            let mut ahead = plan.map(|plan| Ahead::new(&file, member, plan));
            let mut read_at = |at: u64, out: &mut [u8]| {
                if let Some(ahead) = &mut ahead {
                    ahead.reach(at + out.len() as u64)?;
                }
                match &mut proof {
                    Some(proof) => Ok(proof.read_at(header_len + at, out)?),
                    None => Ok(file.read_exact_at(out, data + at)?),
                }
            };
            let result = look(header, &mut read_at).map_err(|error| self.unreadable(error))?;
            return Ok((result, proof.map(|proof| proof.count)));
        }
        let encoding = self.encoding(header)?;
        let check = |found: &Header| self.must_be_header(header, found);
        let result = self.read_with(check, |_, reader, _| {
            let mut passed = 0;
            if let Some(encoding) = encoding {
                let reader = BufReader::new(reader);
                let mut decoder = ra::Decoder::new(reader, header.clone(), encoding);
                let mut read_at = |at: u64, out: &mut [u8]| {
                    read_passing(&mut decoder, &mut passed, at, out)?;
                    Ok(decoder.swap_to_native(out)?)
                };
                return look(&header.decoded(), &mut read_at);
            }
            let mut read_at = |at: u64, out: &mut [u8]| read_passing(reader, &mut passed, at, out);
            look(header, &mut read_at)
        })?;
        Ok((result, None))
    }

    /// Checks the header against the digest of its block. It was read before, without a check.
    fn prove_header(&self, header: &Header, proof: &mut BlockProof<'_>) -> Result<()> {
        if self.found.is_header_proved.get().is_some() {
            return Ok(());
        }
        let len = usize::try_from(header.header_len()).unwrap_or(usize::MAX);
        let mut start = vec![0; len];
        proof.read_at(0, &mut start)?;
        let found = Header::parse(&start).map_err(|error| self.undecodable(error))?;
        self.must_be_header(header, &found)?;
        self.found.is_header_proved.get_or_init(|| ());
        Ok(())
    }

    /// Returns the encoding of the data if the header says that it is encoded.
    pub(super) fn encoding(&self, header: &Header) -> Result<Option<Encoding>> {
        if !header.is_encoded() {
            return Ok(None);
        }
        check_decoded(&self.found.name, header)?;
        let mut reader = self.pack.state.archive.read(&self.found.member)?;
        let found = Header::read(&mut reader).and_then(|header| find_encoding(header, &mut reader));
        found.map(|(encoding, _)| Some(encoding)).map_err(|error| self.unreadable(error))
    }

    /// Returns the file that stores the elements, and the offset of the first one.
    pub(super) fn stored(&self, header: &Header) -> Result<Option<(Arc<File>, u64)>> {
        if header.is_encoded() {
            return Ok(None);
        }
        let stored = self.pack.state.archive.stored(&self.found.member)?;
        Ok(stored.map(|(file, start)| (file, start + header.header_len())))
    }

    /// Reads the whole member and checks it against the manifest. `check` gets the header; `read` gets the rest, and
    /// the length of the file if the container confirms it.
    pub(super) fn read_with<R>(
        &self,
        check: impl FnOnce(&Header) -> Result<()>,
        read: impl FnOnce(&Header, &mut CheckedReader, Option<u64>) -> Result<R, ReadError>,
    ) -> Result<R> {
        let mut reader = self.checked_reader()?;
        let len = (self.found.member.method == Method::Stored).then_some(self.found.member.size);
        let header = Header::read(&mut reader).map_err(|error| self.unreadable(error))?;
        check(&header)?;
        let result = read(&header, &mut reader, len).map_err(|error| self.unreadable(error))?;
        let is_listed = reader.finish()?;
        self.must_be_listed(is_listed)?;
        self.found.header.get_or_init(|| header);
        Ok(result)
    }

    /// Returns a reader of the whole file that checks it against the manifest at its end.
    pub(super) fn checked_reader(&self) -> Result<CheckedReader> {
        if !self.verify && self.found.header.get().is_none() {
            self.pack.must_be_alone(&self.found.member)?;
        }
        CheckedReader::new(&self.pack, &self.found, self.verify)
    }

    /// Returns an error if the manifest does not list the array, unless the manifest is not used.
    pub(super) fn must_be_listed(&self, is_listed: bool) -> Result<()> {
        if self.verify { self.pack.must_be_listed(&self.found.member, is_listed) } else { Ok(()) }
    }

    /// Reads the header again, and returns an error if it changed.
    pub(super) fn must_begin_with(&self, header: &Header, reader: &mut impl Read) -> Result<()> {
        let found = Header::read(reader).map_err(|error| self.unreadable(error))?;
        self.must_be_header(header, &found)
    }

    fn must_be_header(&self, header: &Header, found: &Header) -> Result<()> {
        if found == header {
            return Ok(());
        }
        Err(self.unreadable(io::Error::other("the header changed while it was read").into()))
    }
}

/// Checks that an encoded array does not decode to more than [`MAX_DECODED`] bytes.
pub(crate) fn check_decoded(name: &str, header: &Header) -> Result<()> {
    let decoded = header.data_len();
    if !header.is_encoded() || decoded <= MAX_DECODED {
        return Ok(());
    }
    Err(Error::Limit(
        format!(
            "`{}` decodes to {decoded} bytes; the limit is {MAX_DECODED}; \
         convert it with `ra-pack convert` first, after `ra-pack extract` if it is in an archive",
            escape(name)
        )
        .into(),
    ))
}

/// Finds the encoding of the data section. `section` gives the data and the trailing metadata; also returns the number
/// of bytes that the encoded data takes.
pub(crate) fn find_encoding(
    header: Header,
    section: &mut dyn BufRead,
) -> Result<(Encoding, u64), ReadError> {
    let mut probe = EncodingProbe::new(header);
    loop {
        let block = section.fill_buf()?;
        if block.is_empty() {
            return Ok(probe.finish()?);
        }
        probe.update(block);
        let count = block.len();
        section.consume(count);
    }
}

/// Fills `out` from an offset of the data, of which `passed` bytes have been read.
fn read_passing(data: &mut impl Read, passed: &mut u64, at: u64, out: &mut [u8]) -> io::Result<()> {
    let between = at.checked_sub(*passed).ok_or(io::ErrorKind::InvalidInput)?;
    io::copy(&mut data.take(between), &mut io::sink())?;
    data.read_exact(out)?;
    *passed = at + out.len() as u64;
    Ok(())
}
