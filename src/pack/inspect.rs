//! Inspects one file while its bytes are read: the header of an array, or the text of a description.

use std::io::{self, BufRead};
use std::sync::Arc;

use super::array_facts::ArrayFacts;
use super::facts::{DescriptionFacts, Interner};
use super::generated::CRATE_HEAD;
use super::{RO_CRATE, is_array, may_be_description};
use crate::allowance::Allowance;
use crate::ndl;
use crate::path;
use crate::ra::{EncodingProbe, FIXED_LEN, Header, MAX_NDIMS};

/// Length of the longest header of an array in bytes.
const MAX_HEADER: usize = FIXED_LEN + 8 * MAX_NDIMS;

/// Most bytes of an encoded array that are read to find its encoding. Such arrays are rare, and no current program
/// writes them.
const MAX_PROBED: u64 = 64 * 1024 * 1024;

/// The content of a file.
#[derive(Debug)]
pub(crate) enum Content {
    Array(Arc<ArrayFacts>),
    Description(Arc<DescriptionFacts>),
    /// The metadata file of an RO-Crate that ra-pack made; empty if it is too long.
    Crate(Arc<str>),
    Other,
}

/// Reads the bytes of one file once and keeps the parts that are needed.
#[derive(Debug)]
pub(crate) struct Inspector {
    wanted: Kept,
    kept: Vec<u8>,
    /// Finds the encoding of the data if the header has the flag.
    probe: Option<EncodingProbe>,
    len: u64,
    allowance: Allowance,
    /// The memory taken for the kept bytes; `None` if the allowance was exceeded.
    taken: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// The header, and the beginning of the data if the header is flagged as encoded.
    Header,
    Everything,
    /// Everything, unless the beginning is not that of an RO-Crate that ra-pack made.
    Crate,
    Nothing,
}

impl Inspector {
    /// Begins a file on disk; its name decides how it is read.
    pub(crate) fn new(name: &str) -> Self {
        Self::within(name, &Allowance::unlimited())
    }

    /// Begins a file in an archive.
    pub(crate) fn within(name: &str, allowance: &Allowance) -> Self {
        let wanted = if is_array(name) {
            Kept::Header
        } else if may_be_description(name) {
            Kept::Everything
        } else if path::file_name(name) == RO_CRATE {
            Kept::Crate
        } else {
            Kept::Nothing
        };
        let allowance = allowance.clone();
        Self { wanted, kept: Vec::new(), probe: None, len: 0, allowance, taken: Some(0) }
    }

    /// Reads a file from its beginning, as far as needed.
    pub(crate) fn read(&mut self, reader: &mut dyn BufRead) -> io::Result<()> {
        while self.wants_more() {
            let block = match reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                block => block?,
            };
            if block.is_empty() {
                break;
            }
            self.update(block);
            let count = block.len();
            reader.consume(count);
        }
        Ok(())
    }

    /// Returns whether more bytes are needed.
    pub(crate) fn wants_more(&self) -> bool {
        self.room() > 0 || (self.probe.is_some() && self.len < MAX_PROBED)
    }

    /// Returns whether more than a header is kept of the file.
    pub(crate) fn keeps_much(&self) -> bool {
        matches!(self.wanted, Kept::Everything | Kept::Crate)
    }

    fn room(&self) -> usize {
        let limit = match self.wanted {
            Kept::Everything | Kept::Crate if self.taken.is_none() => 0,
            Kept::Crate
                if !self.kept.iter().zip(CRATE_HEAD.as_bytes()).all(|(it, own)| it == own) =>
            {
                0
            }
            Kept::Everything | Kept::Crate => ndl::MAX_TEXT + 1,
            Kept::Header => MAX_HEADER,
            Kept::Nothing => 0,
        };
        limit.saturating_sub(self.kept.len())
    }

    /// Begins to look for the encoding once the header is read, if it has the flag.
    fn begin_probe(&mut self) {
        let header = Header::parse(&self.kept).ok().filter(Header::is_encoded);
        self.probe = header.map(|header| {
            let start = usize::try_from(header.header_len()).unwrap_or(usize::MAX);
            let mut probe = EncodingProbe::new(header);
            probe.update(self.kept.get(start..).unwrap_or_default());
            probe
        });
    }

    /// Takes the next bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.len = self.len.saturating_add(bytes.len() as u64);
        let room = self.room();
        let (kept, rest) = bytes.split_at(room.min(bytes.len()));
        if self.keeps_much() {
            // The buffer grows by doubling.
            let more = (kept.len() as u64).saturating_mul(2);
            if !self.allowance.take(more) {
                self.kept = Vec::new();
                self.allowance.give_back(self.taken.take().unwrap_or(0));
                return;
            }
            self.taken = self.taken.map(|taken| taken.saturating_add(more));
        }
        self.kept.extend_from_slice(kept);
        if let Some(probe) = &mut self.probe {
            probe.update(rest);
        } else if room > 0 && self.room() == 0 && self.wanted == Kept::Header {
            self.begin_probe();
            self.probe.iter_mut().for_each(|probe| probe.update(rest));
        }
    }

    /// Returns the content of the file, which is `len` bytes long.
    pub(crate) fn finish(self, name: &str, len: u64) -> Content {
        self.finish_interned(name, len, &Interner::default())
    }

    /// Returns the content like [`Inspector::finish`], but shares equal headers and texts.
    pub(crate) fn finish_interned(self, name: &str, len: u64, interner: &Interner) -> Content {
        match self.wanted {
            Kept::Nothing => Content::Other,
            Kept::Crate => {
                self.allowance.give_back(self.taken.unwrap_or_default() >> 1);
                match String::from_utf8(self.kept) {
                    // An empty text differs from every crate.
                    _ if self.taken.is_none() => Content::Crate("".into()),
                    Ok(text) if text.starts_with(CRATE_HEAD) => Content::Crate(text.into()),
                    _ => Content::Other,
                }
            }
            Kept::Everything => {
                let Self { allowance, kept, taken, .. } = self;
                let Some(taken) = taken else {
                    let facts = DescriptionFacts::too_long(&allowance);
                    return Content::Description(Arc::new(facts));
                };
                let facts = DescriptionFacts::parse_interned(name, kept, &allowance, interner);
                // Little is kept of plain descriptions, and one copy of the text of others.
                allowance.give_back(if facts.is_plain() { taken } else { taken >> 1 });
                Content::Description(Arc::new(facts))
            }
            Kept::Header => Content::Array(interner.array(self.into_array(len))),
        }
    }

    fn into_array(mut self, len: u64) -> ArrayFacts {
        if self.room() > 0 {
            self.begin_probe();
        }
        let header = Header::parse(&self.kept)
            .and_then(|header| header.check_file_len(len).map(|trailing| (header, trailing)));
        let (header, trailing) = match header {
            Ok((header, trailing)) => (header, trailing),
            Err(error) => {
                return ArrayFacts {
                    header: Err(Box::new(error)),
                    encoding: None,
                    trailing: 0,
                    data: Ok(()),
                };
            }
        };
        let mut facts = ArrayFacts { header: Ok(header), encoding: None, trailing, data: Ok(()) };
        let section =
            facts.header.as_ref().map_or(0, |header| len.saturating_sub(header.header_len()));
        if let Some(probe) = self.probe.filter(|_| self.len == len) {
            match probe.finish() {
                Ok((encoding, used)) => {
                    facts.encoding = Some(encoding);
                    facts.trailing = section.saturating_sub(used);
                }
                Err(error) => facts.data = Err(Box::new(error)),
            }
        }
        facts
    }
}
