//! A pack of the source: a pack as it is, and a single array as a tar of one array that has no bytes of its own except
//! the headers.

use std::io;
use std::ops::Range;

use ra_pack::Pack;
use ra_pack::interchange::npy::{MAGIC, NpyHeader, NpyReader};
use ra_pack::interchange::{FormatError, ImportOptions};
use ra_pack::message::Words;
use ra_pack::ndl::Document;
use ra_pack::ra::Flags;
use ra_pack::read::ReadAt;

use crate::answer::Result;
use crate::contents::stem;
use crate::source::{Source, progress};

/// Block of a tar.
const BLOCK: u64 = 512;

/// Opens the source. Also returns whether it is a single array.
pub(crate) fn open(name: &str) -> Result<(Pack, bool)> {
    let size = ReadAt::len(&Source).map_err(|error| error.to_string())?;
    let mut start = [0; 8];
    let count = Source.read_at(0, &mut start).map_err(|error| error.to_string())?;
    let start = start.get(..count).unwrap_or_default();
    let progress = progress();
    if start == b"rawarray" {
        let mut tar = Tar::default();
        tar.member(&format!("{}.ra", short_stem(name)), &[], 0..size);
        return Ok((Pack::open_source_watched(tar, name, &progress)?, true));
    }
    if start.starts_with(&MAGIC) {
        return Ok((Pack::open_source_watched(of_npy(name, size)?, name, &progress)?, true));
    }
    Ok((Pack::open_source_watched(Source, name, &progress)?, false))
}

/// Returns the name of an array without its extension, as far as a plain tar header has room for it.
fn short_stem(name: &str) -> &str {
    let stem = stem(name);
    let mut end = stem.len().min(90);
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    stem.split_at(end).0
}

/// Returns the pack of an `.npy` file: a header of its own, the data of the file, and a description.
fn of_npy(name: &str, size: u64) -> Result<Tar> {
    let stem = short_stem(name.strip_suffix(".npy").unwrap_or(name));
    let failed = |error: FormatError| error.message().in_words(Words::Library);
    let mut input = Cursor { at: 0 };
    let header = NpyHeader::read(&mut input).map_err(failed)?;
    let begin = header.len;
    let options = ImportOptions { keep_endian: true, ..ImportOptions::default() };
    let reader = NpyReader::new(Cursor { at: 0 }, options).map_err(failed)?;
    let variable = reader.variable(stem).map_err(failed)?;
    let is_swapped = header.descr.to_string().contains('>');
    if is_swapped && !variable.header.flags().contains(Flags::BIG_ENDIAN) {
        return Err("it has big-endian structures; convert it with `ra-pack convert`".into());
    }
    let data = begin..begin.saturating_add(variable.header.data_len());
    if data.end > size {
        return Err(
            format!("expected {} bytes, found {size}: the file is cut off", data.end).into()
        );
    }
    let yaml = Document::of(variable.description, false).to_yaml();
    let mut tar = Tar::default();
    tar.member(&format!("{stem}.ra"), &variable.header.encode(), data);
    tar.member(&format!("{stem}.yaml"), yaml.as_bytes(), 0..0);
    Ok(tar)
}

/// Reads the source from its beginning.
struct Cursor {
    at: u64,
}

impl io::Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = Source.read_at(self.at, buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// A tar whose members have bytes of the source.
#[derive(Default)]
struct Tar {
    /// Where each piece begins, and what it is.
    pieces: Vec<(u64, Piece)>,
    len: u64,
}

enum Piece {
    Bytes(Vec<u8>),
    OfSource(Range<u64>),
}

impl Tar {
    /// Adds a member: some bytes, and a part of the source.
    fn member(&mut self, name: &str, bytes: &[u8], part: Range<u64>) {
        let len = bytes.len() as u64 + (part.end - part.start);
        let mut header = vec![0; 512];
        let mut put = |at: usize, text: &str| {
            let room = header.iter_mut().skip(at);
            room.zip(text.bytes()).for_each(|(place, byte)| *place = byte);
        };
        put(0, name);
        put(100, "0000644\0");
        put(108, "0000000\0");
        put(116, "0000000\0");
        put(136, "00000000000\0");
        put(148, "        ");
        put(156, "0");
        put(257, "ustar\x0000");
        // As a binary number, which begins with 128: an octal one has room for 8 GiB.
        let size = [[128, 0, 0, 0].as_slice(), &len.to_be_bytes()].concat();
        header.iter_mut().skip(124).zip(size).for_each(|(place, byte)| *place = byte);
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        let sum = format!("{sum:06o}\0 ");
        header.iter_mut().skip(148).zip(sum.bytes()).for_each(|(place, byte)| *place = byte);
        header.extend(bytes);
        self.put(Piece::Bytes(header));
        self.put(Piece::OfSource(part));
        let filler = len.next_multiple_of(BLOCK) - len;
        self.put(Piece::Bytes(vec![0; usize::try_from(filler).unwrap_or(0)]));
    }

    fn put(&mut self, piece: Piece) {
        let len = match &piece {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::OfSource(part) => part.end - part.start,
        };
        self.pieces.push((self.len, piece));
        self.len += len;
    }
}

impl ReadAt for Tar {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let after = self.pieces.partition_point(|(begin, _)| *begin <= offset);
        // Empty pieces begin where the next one does.
        let Some((begin, piece)) = after.checked_sub(1).and_then(|at| self.pieces.get(at)) else {
            return Ok(0);
        };
        let within = offset - begin;
        let count = match piece {
            Piece::Bytes(bytes) => bytes.as_slice().read_at(within, buffer)?,
            Piece::OfSource(part) => {
                let left = (part.end - part.start).saturating_sub(within);
                let room = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                Source.read_at(part.start + within, buffer.get_mut(..room).unwrap_or_default())?
            }
        };
        let end = self.len + 2 * BLOCK;
        if count > 0 || offset < self.len || offset >= end {
            return Ok(count);
        }
        // The end of a tar is two blocks of zeros.
        let room = buffer.len().min(usize::try_from(end - offset).unwrap_or(usize::MAX));
        buffer.get_mut(..room).unwrap_or_default().fill(0);
        Ok(room)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.len + 2 * BLOCK)
    }
}
