//! The chunks of a file, by their headers: what there is, and that all of it is there.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Seek, SeekFrom};

use crate::interchange::Error;

/// The first bytes of every file.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1A\n";

/// Bytes of a chunk beside its data: length, name and checksum.
const BESIDE: u64 = 12;

/// Most bytes that one byte of deflate becomes; it is 1032, and a little more at the ends.
const MAX_RATIO: u64 = 1100;

/// What the headers tell.
#[derive(Debug)]
pub(super) struct Chunks {
    /// Bytes of compressed pixels.
    compressed: u64,
    /// How many chunks of each name there are.
    counts: BTreeMap<[u8; 4], u64>,
    /// Bytes behind the last chunk.
    trailing: u64,
}

impl Chunks {
    /// Goes over the whole file, and leaves the reader at its beginning.
    pub(super) fn scan(reader: &mut (impl Read + Seek)) -> Result<Self, Error> {
        let len = reader.seek(SeekFrom::End(0))?;
        reader.seek(SeekFrom::Start(0))?;
        let mut buffered = BufReader::new(&mut *reader);
        let mut signature = Vec::new();
        buffered.by_ref().take(8).read_to_end(&mut signature)?;
        if signature != SIGNATURE {
            let same = signature.iter().zip(&SIGNATURE).take_while(|(a, b)| a == b).count();
            let at = u64::try_from(same).unwrap_or(0);
            let found = signature.escape_ascii();
            let reason = format!("expected the signature of PNG, found `{found}`");
            return Err(Error::malformed(at, reason));
        }
        let mut chunks = Self { compressed: 0, counts: BTreeMap::new(), trailing: 0 };
        let mut at = 8_u64;
        loop {
            let left = len.saturating_sub(at);
            if left < BESIDE {
                let reason = format!("expected another chunk, found {left} bytes");
                return Err(Error::malformed(len, reason));
            }
            let (mut size, mut name) = ([0; 4], [0; 4]);
            buffered.read_exact(&mut size)?;
            buffered.read_exact(&mut name)?;
            let size = u64::from(u32::from_be_bytes(size));
            let whole = size.saturating_add(BESIDE);
            if whole > left {
                let name = name.escape_ascii();
                let reason = format!("expected {whole} bytes of the chunk `{name}`, found {left}");
                return Err(Error::malformed(at, reason));
            }
            // Of a palette or a text that many times there is no end to be seen, but of this number.
            let count = chunks.counts.entry(name).or_default();
            *count = count.saturating_add(1);
            // The decoder takes any length, and panics over a colour of less than three bytes.
            if name == *b"PLTE" && !(size.is_multiple_of(3) && (3..=768).contains(&size)) {
                let reason = format!("expected a palette of 1 to 256 colours, found {size} bytes");
                return Err(Error::malformed(at, reason));
            }
            if name == *b"IDAT" {
                chunks.compressed = chunks.compressed.saturating_add(size);
            }
            at = at.saturating_add(whole);
            if name == *b"IEND" {
                chunks.trailing = len.saturating_sub(at);
                reader.seek(SeekFrom::Start(0))?;
                return Ok(chunks);
            }
            buffered.seek_relative(i64::try_from(size).unwrap_or(0).saturating_add(4))?;
        }
    }

    /// That the compressed pixels can be so many bytes.
    pub(super) fn check(&self, pixels: u64) -> Result<(), Error> {
        let most = self.compressed.saturating_add(16).saturating_mul(MAX_RATIO);
        if pixels <= most {
            return Ok(());
        }
        let compressed = self.compressed;
        let reason =
            format!("expected {pixels} bytes of pixels, found only {compressed} compressed");
        // The extents stand there.
        Err(Error::malformed(16, reason))
    }

    /// What is in the file besides the pixels, one sentence each.
    pub(super) fn losses(&self) -> Vec<String> {
        let mut losses = Vec::new();
        for (name, count) in &self.counts {
            let what = match name {
                b"IHDR" | b"IDAT" | b"IEND" | b"PLTE" | b"tRNS" | b"fcTL" | b"fdAT" => continue,
                b"tEXt" | b"zTXt" | b"iTXt" => "text",
                b"gAMA" | b"cHRM" | b"sRGB" | b"iCCP" | b"cICP" | b"mDCV" | b"cLLI" => {
                    "what the colours are"
                }
                b"acTL" => "an animation, of which only the first picture is kept",
                b"sBIT" => "how many bits of the samples matter",
                b"bKGD" => "a colour for the background",
                b"pHYs" => "the size of a pixel",
                b"tIME" => "the time of the last change",
                b"eXIf" => "facts about the camera",
                b"hIST" | b"sPLT" => "a palette that is only proposed",
                _ => "something that is not known",
            };
            let name = name.escape_ascii();
            let times = if *count > 1 { format!(", {count} times") } else { String::new() };
            losses.push(format!("the chunk `{name}` is left out: {what}{times}"));
        }
        if self.trailing > 0 {
            losses.push(format!("{} bytes behind the picture are left out", self.trailing));
        }
        losses
    }
}
