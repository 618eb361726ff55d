//! The encodings of a data section that is flagged as encoded, and how to detect them.

use std::fmt;
use std::io::{self, BufRead, Read};

use super::element::{ElementKind, ElementType, Flags};
use super::header::{Header, count};
use super::{DecodeError, DecodeErrorKind, ReadError};

/// Value of a length that continues in the next byte.
const LONG_LENGTH: u64 = 15;

/// The shortest match, in bytes.
const MIN_MATCH: u64 = 4;

/// The encoding of a data section.
///
/// Flag bit 1 has a different meaning in each implementation, and the header does not name the writer. The encodings
/// are tried in this order:
///
/// 1. With bit 2, `eltype` 5 and `elbyte` 8: Julia's `BitArray`, 64 elements in each 8 bytes, the lowest bit first.
/// 2. An LZ4 block of the C tool: `size` bytes that decode to exactly the length of the data.
/// 3. Julia's LEB128, for integers and booleans: `size` is the decoded length, and the bytes after the header are exactly
///    as many values as there are elements, signed ones in zigzag code.
/// 4. Unencoded data: Julia also sets the flag for floats, but does not encode them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// Unencoded elements, no flag.
    Raw,
    /// One LZ4 block, as the C tool writes it.
    Lz4,
    /// LEB128 integers, as Julia writes them.
    Leb128,
    /// One bit per element, as Julia writes a `BitArray`.
    Bits,
    /// Unencoded elements, although the flag is set.
    StrayFlag,
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Raw => "raw",
            Self::Lz4 => "lz4",
            Self::Leb128 => "leb128",
            Self::Bits => "bits",
            Self::StrayFlag => "raw (flagged as encoded)",
        })
    }
}

/// Number of elements in one chunk of packed bits.
const CHUNK_BITS: u64 = 64;

/// How far back an LZ4 block may refer, in bytes.
const HISTORY: usize = 64 * 1024;

/// Number of bytes that are decoded at once.
const AT_ONCE: usize = 64 * 1024;

/// Detects the encoding of a data section while its bytes are read. It keeps neither the bytes nor the data: 60 MiB may
/// decode to 15 GiB.
#[derive(Debug, Clone)]
pub(crate) struct EncodingProbe {
    header: Header,
    /// Number of bytes read.
    passed: u64,
    /// The LZ4 block and how many of its bytes are missing; `None` once the bytes cannot be one.
    lz4: Option<(Sequences, u64)>,
    /// The LEB128 values; `None` once the bytes cannot be such values.
    leb128: Option<Values>,
}

impl EncodingProbe {
    /// Begins with the first byte after `header`.
    pub(crate) fn new(header: Header) -> Self {
        let is_bits = header.element() == ElementType::BITS;
        let lz4 = (!is_bits).then(|| (Sequences::default(), header.stored_len()));
        let leb128 = Values::new(header.element()).filter(|_| !is_bits);
        Self { header, passed: 0, lz4, leb128 }
    }

    /// Takes the next bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.passed = self.passed.saturating_add(count(bytes.len()));
        if let Some((block, left)) = &mut self.lz4 {
            let within = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
            *left -= count(within);
            if !block.pass_over(bytes.split_at(within).0, self.header.data_len()) {
                self.lz4 = None;
            }
        }
        if let Some(values) = &mut self.leb128
            && !values.pass_over(bytes, self.header.elements())
        {
            self.leb128 = None;
        }
    }

    /// Returns the encoding and the number of bytes that the data takes. Call it after the last byte of the file.
    pub(crate) fn finish(self) -> Result<(Encoding, u64), DecodeError> {
        let Self { header, passed, lz4, leb128 } = self;
        if header.element() == ElementType::BITS {
            return Ok((Encoding::Bits, packed_len(&header, passed)?));
        }
        let (data_len, stored_len) = (header.data_len(), header.stored_len());
        if lz4.is_some_and(|(block, left)| left == 0 && block.makes(data_len)) {
            return Ok((Encoding::Lz4, stored_len));
        }
        let is_of_data = stored_len == data_len;
        if is_of_data && leb128.is_some_and(|values| values.are(header.elements())) {
            return Ok((Encoding::Leb128, passed));
        }
        if is_of_data && passed == data_len {
            return Ok((Encoding::StrayFlag, passed));
        }
        let kind =
            DecodeErrorKind::Encoding { expected: data_len, found: passed, size: stored_len };
        Err(DecodeError::new(header.header_len(), kind))
    }
}

/// Returns the encoding of `section`, which is everything after the header, and the number of bytes that the data
/// takes.
pub(super) fn probe(header: &Header, section: &[u8]) -> Result<(Encoding, usize), DecodeError> {
    let mut probe = EncodingProbe::new(header.clone());
    probe.update(section);
    let (encoding, used) = probe.finish()?;
    Ok((encoding, usize::try_from(used).unwrap_or(section.len())))
}

/// Decodes a `section` with the encoding that [`probe`] found into `data`, whose length is the header's `data_len`. The
/// elements are in native byte order.
pub(super) fn decode_into(
    header: &Header,
    encoding: Encoding,
    section: &[u8],
    data: &mut [u8],
) -> Result<(), ReadError> {
    let mut decoder = Decoder::new(section, header.clone(), encoding);
    decoder.read_exact(data)?;
    Ok(decoder.swap_to_native(data)?)
}

/// Returns the length of the packed bits in bytes, checked against `size` and the section.
fn packed_len(header: &Header, section: u64) -> Result<u64, DecodeError> {
    let packed = header.elements().div_ceil(CHUNK_BITS).saturating_mul(8);
    if packed != header.stored_len() {
        return Err(header.wrong_size(packed));
    }
    if packed > section {
        let kind = DecodeErrorKind::DataTruncated { expected: packed, found: section };
        return Err(DecodeError::new(header.header_len().saturating_add(section), kind));
    }
    Ok(packed)
}

/// Decodes the elements of an encoded data section from the first to the last, in constant memory.
#[derive(Debug)]
pub(crate) struct Decoder<R> {
    section: R,
    header: Header,
    encoding: Encoding,
    block: Sequences,
    values: Option<Values>,
    /// Decoded bytes, preceded by those that an LZ4 block may refer to.
    decoded: Vec<u8>,
    /// How many of these bytes were returned.
    given: usize,
    /// Number of data bytes that are left to return.
    left: u64,
}

impl<R: BufRead> Decoder<R> {
    /// Decodes the encoding that [`EncodingProbe`] found. `section` begins after the header.
    pub(crate) fn new(section: R, header: Header, encoding: Encoding) -> Self {
        let values = Values::new(header.element());
        Self {
            section,
            encoding,
            block: Sequences::default(),
            values,
            decoded: Vec::new(),
            given: 0,
            left: header.data_len(),
            header,
        }
    }

    /// Returns the section, of which nothing after the data is decoded.
    pub(crate) fn section_mut(&mut self) -> &mut R {
        &mut self.section
    }

    /// Converts complete elements that were read to native byte order.
    pub(crate) fn swap_to_native(&self, elements: &mut [u8]) -> Result<(), DecodeError> {
        match self.encoding {
            Encoding::Raw | Encoding::Lz4 | Encoding::StrayFlag => {
                self.header.swap_to_native(elements)
            }
            Encoding::Leb128 | Encoding::Bits => Ok(()),
        }
    }

    /// Decodes the next bytes; none at the end of the section.
    fn decode(&mut self) -> io::Result<()> {
        let Self { section, header, encoding, block, values, decoded, .. } = self;
        let history = decoded.len().min(HISTORY);
        decoded.drain(..decoded.len() - history);
        self.given = history;
        // Bytes after the data are metadata.
        let wanted = usize::try_from(self.left).unwrap_or(AT_ONCE).min(AT_ONCE);
        let full = history + wanted;
        loop {
            let before = decoded.len();
            let Some(room) = full.checked_sub(before).filter(|room| *room > 0) else {
                return Ok(());
            };
            if *encoding == Encoding::Bits {
                let mut chunk = [0; 8];
                section.read_exact(&mut chunk)?;
                decoded.extend(unpacked(chunk, header.flags().contains(Flags::BIG_ENDIAN)));
                continue;
            }
            let input = section.fill_buf()?;
            let mut rest = input;
            let is_sound = match (*encoding, &mut *values) {
                (Encoding::Lz4, _) => block.decode(&mut rest, room, decoded),
                (Encoding::Leb128, Some(values)) => values.decode(&mut rest, room, decoded),
                (Encoding::Leb128, None) => false,
                (Encoding::Raw | Encoding::StrayFlag | Encoding::Bits, _) => {
                    unreachable!("these are read without the decoder")
                }
            };
            if !is_sound {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let taken = input.len() - rest.len();
            section.consume(taken);
            if taken == 0 && decoded.len() == before {
                return Ok(());
            }
        }
    }
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        if matches!(self.encoding, Encoding::Raw | Encoding::StrayFlag) {
            let now = self.section.read(out.split_at_mut(wanted).0)?;
            self.left -= count(now);
            return Ok(now);
        }
        if wanted > 0 && self.given >= self.decoded.len() {
            self.decode()?;
        }
        let now = self.decoded.split_at(self.given).1.read(out.split_at_mut(wanted).0)?;
        self.given += now;
        self.left -= count(now);
        Ok(now)
    }
}

/// Returns the elements of a 64-bit chunk.
fn unpacked(chunk: [u8; 8], big_endian: bool) -> impl Iterator<Item = u8> {
    let bits = if big_endian { u64::from_be_bytes(chunk) } else { u64::from_le_bytes(chunk) };
    (0..u64::BITS).map(move |at| u8::from(bits >> at & 1 == 1))
}

/// The sequences of an LZ4 block: literal bytes, then the distance and the length of a repetition.
#[derive(Debug, Clone, Default)]
struct Sequences {
    next: Next,
    /// Number of literal bytes to come.
    literals: u64,
    offset: usize,
    /// Number of bytes to repeat.
    repeated: u64,
    /// Number of bytes that the block has produced.
    made: u64,
}

/// The next part of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Next {
    #[default]
    Token,
    LiteralsLen,
    Literals,
    OffsetLow,
    OffsetHigh,
    RepeatedLen,
    Repeated,
}

/// The output of a part of a block.
enum SequencePart<'i> {
    Literals(&'i [u8]),
    Repeated { offset: usize, len: usize },
}

impl Sequences {
    /// Reads input until it produces output, at most `room` bytes; `None` at the end of the input. An error means that
    /// the block is not valid.
    fn take<'i>(
        &mut self,
        input: &mut &'i [u8],
        room: usize,
    ) -> Result<Option<SequencePart<'i>>, ()> {
        loop {
            match self.next {
                Next::Literals if self.literals == 0 => self.next = Next::OffsetLow,
                Next::Repeated if self.repeated == 0 => self.next = Next::Token,
                Next::Literals => {
                    let most = usize::try_from(self.literals).unwrap_or(usize::MAX);
                    let (now, later) = input.split_at(most.min(room).min(input.len()));
                    *input = later;
                    self.literals -= count(now.len());
                    self.made = self.made.saturating_add(count(now.len()));
                    return Ok((!now.is_empty()).then_some(SequencePart::Literals(now)));
                }
                Next::Repeated => {
                    let len = usize::try_from(self.repeated).unwrap_or(usize::MAX).min(room);
                    self.repeated -= count(len);
                    self.made = self.made.saturating_add(count(len));
                    let offset = self.offset;
                    return Ok((len > 0).then_some(SequencePart::Repeated { offset, len }));
                }
                _ => {
                    let Some((byte, later)) = input.split_first() else { return Ok(None) };
                    *input = later;
                    self.byte(*byte)?;
                }
            }
        }
    }

    /// Reads a byte that is not a literal.
    fn byte(&mut self, byte: u8) -> Result<(), ()> {
        self.next = match self.next {
            Next::Token => {
                self.literals = u64::from(byte >> 4);
                self.repeated = u64::from(byte & 15).saturating_add(MIN_MATCH);
                if self.literals == LONG_LENGTH { Next::LiteralsLen } else { Next::Literals }
            }
            Next::LiteralsLen => {
                self.literals = self.literals.saturating_add(byte.into());
                if byte == u8::MAX { Next::LiteralsLen } else { Next::Literals }
            }
            Next::OffsetLow => {
                self.offset = byte.into();
                Next::OffsetHigh
            }
            Next::OffsetHigh => {
                self.offset |= usize::from(byte) << 8;
                if self.offset == 0 || count(self.offset) > self.made {
                    return Err(());
                }
                let is_long = self.repeated == LONG_LENGTH.saturating_add(MIN_MATCH);
                if is_long { Next::RepeatedLen } else { Next::Repeated }
            }
            Next::RepeatedLen => {
                self.repeated = self.repeated.saturating_add(byte.into());
                if byte == u8::MAX { Next::RepeatedLen } else { Next::Repeated }
            }
            Next::Literals | Next::Repeated => return Err(()),
        };
        Ok(())
    }

    /// Reads bytes for their output length only, at most `most` bytes of output in all. Returns whether the block is
    /// valid.
    fn pass_over(&mut self, mut input: &[u8], most: u64) -> bool {
        loop {
            match self.take(&mut input, usize::MAX) {
                Ok(Some(_)) if self.made <= most => {}
                Ok(None) => return true,
                Ok(Some(_)) | Err(()) => return false,
            }
        }
    }

    /// Returns whether the block may end here and has produced `len` bytes.
    fn makes(&self, len: u64) -> bool {
        let is_end = self.next == Next::OffsetLow || self.next == Next::Literals;
        is_end && self.literals == 0 && self.made == len
    }

    /// Appends the output of the input, at most `room` bytes. Returns `false` if the block is not valid.
    fn decode(&mut self, input: &mut &[u8], mut room: usize, out: &mut Vec<u8>) -> bool {
        while room > 0 {
            let before = out.len();
            match self.take(input, room) {
                Ok(None) => return true,
                Ok(Some(SequencePart::Literals(bytes))) => out.extend_from_slice(bytes),
                Ok(Some(SequencePart::Repeated { offset, len })) => {
                    let Some(start) = before.checked_sub(offset) else { return false };
                    let mut left = len;
                    while left > 0 {
                        // A repetition may overlap its own output, which is then repeated too.
                        let now = left.min(out.len() - start);
                        out.extend_from_within(start..start + now);
                        left -= now;
                    }
                }
                Err(()) => return false,
            }
            room -= out.len() - before;
        }
        true
    }
}

/// Integers in LEB128.
#[derive(Debug, Clone)]
struct Values {
    width: usize,
    signed: bool,
    /// The bits of the next value so far, and their number.
    value: u128,
    shift: usize,
    /// Number of complete values.
    count: u64,
}

impl Values {
    /// Returns the decoder for an element type, if that type is encoded in this way.
    fn new(element: ElementType) -> Option<Self> {
        let signed = match element.kind() {
            ElementKind::Int => true,
            ElementKind::UInt => false,
            ElementKind::BFloat if element == ElementType::BOOL => false,
            _ => return None,
        };
        let width = match element.elbyte() {
            width @ (1 | 2 | 4 | 8 | 16) => usize::try_from(width).ok()?,
            _ => return None,
        };
        Some(Self { width, signed, value: 0, shift: 0, count: 0 })
    }

    /// Reads a byte, and returns the value that it completes. An error means that the value does not fit the type.
    fn take(&mut self, byte: u8) -> Result<Option<u128>, ()> {
        let part = u128::from(byte & 0x7f);
        let room = (8 * self.width).checked_sub(self.shift).filter(|&room| room > 0).ok_or(())?;
        if room < 7 && part >> room != 0 {
            return Err(());
        }
        self.value |= part << self.shift;
        if byte & 0x80 != 0 {
            self.shift += 7;
            return Ok(None);
        }
        let coded = std::mem::take(&mut self.value);
        self.shift = 0;
        self.count = self.count.saturating_add(1);
        // The cast is exact: the value fits the width, and zigzag preserves that.
        Ok(Some(if self.signed { (coded >> 1) ^ (coded & 1).wrapping_neg() } else { coded }))
    }

    /// Reads bytes of at most `most` values. Returns whether they are valid.
    fn pass_over(&mut self, bytes: &[u8], most: u64) -> bool {
        bytes.iter().all(|byte| self.count < most && self.take(*byte).is_ok())
    }

    /// Returns whether there were exactly `count` values and nothing after them.
    fn are(&self, count: u64) -> bool {
        self.shift == 0 && self.count == count
    }

    /// Appends values until `room` bytes are full.
    fn decode(&mut self, input: &mut &[u8], room: usize, out: &mut Vec<u8>) -> bool {
        let full = out.len().saturating_add(room);
        while out.len() < full
            && let Some((byte, later)) = input.split_first()
        {
            *input = later;
            let Ok(value) = self.take(*byte) else { return false };
            let Some(value) = value else { continue };
            let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
            let native = if cfg!(target_endian = "big") {
                big.get(big.len().saturating_sub(self.width)..)
            } else {
                little.get(..self.width)
            };
            out.extend_from_slice(native.unwrap_or_default());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encodes a value as Julia does, for the property test below.
    fn encode_leb128(value: i128, width: u32) -> Vec<u8> {
        let mask = u128::MAX >> (128 - width * 8);
        let mut coded = ((value << 1) ^ (value >> 127)).cast_unsigned() & mask;
        let mut bytes = Vec::new();
        loop {
            let byte = u8::try_from(coded & 0x7f).unwrap();
            coded >>= 7;
            if coded == 0 {
                bytes.push(byte);
                return bytes;
            }
            bytes.push(byte | 0x80);
        }
    }

    fn leb128(element: ElementType, mut input: &[u8], len: usize) -> Option<Vec<u8>> {
        let (mut values, mut data) = (Values::new(element)?, Vec::new());
        let is_sound = values.decode(&mut input, usize::MAX, &mut data);
        let elements = data.len() / values.width;
        (is_sound && data.len() == len && values.are(count(elements))).then_some(data)
    }

    fn encoded(data: &[u8], block: &[u8]) -> Header {
        let mut file = Header::new(ElementType::UINT8, vec![count(data.len())]).unwrap().encode();
        file[8] = 2;
        file[32..40].copy_from_slice(&count(block.len()).to_le_bytes());
        Header::parse(&file).unwrap()
    }

    /// Returns the detected encoding and the decoded data of a section that is read in steps.
    fn in_steps(header: &Header, section: &[u8], step: usize) -> Option<(Encoding, Vec<u8>)> {
        let mut probe = EncodingProbe::new(header.clone());
        section.chunks(step).for_each(|bytes| probe.update(bytes));
        let (encoding, _) = probe.finish().ok()?;
        let section = io::BufReader::with_capacity(step, section);
        let mut decoder = Decoder::new(section, header.clone(), encoding);
        let mut data = Vec::new();
        decoder.read_to_end(&mut data).unwrap();
        assert_eq!(count(data.len()), header.data_len());
        Some((encoding, data))
    }

    proptest! {
        #[test]
        fn lz4_blocks_are_those_that_another_decoder_accepts(
            seed in prop::collection::vec(any::<u8>(), 0..60), times in 0..5000_usize,
            at in any::<prop::sample::Index>(), to in any::<u8>(), step in 1..5000_usize,
        ) {
            let data = seed.repeat(times);
            let mut block = lz4_flex::block::compress(&data);
            for is_damaged in [false, true] {
                if is_damaged {
                    let at = at.index(block.len());
                    block[at] = to;
                }
                let mut expected = vec![0; data.len()];
                let made = lz4_flex::block::decompress_into(&block, &mut expected);
                let found = in_steps(&encoded(&data, &block), &block, step);
                let found = found.filter(|(encoding, _)| *encoding == Encoding::Lz4);
                if made.is_ok_and(|len| len == data.len()) {
                    prop_assert_eq!(found.map(|(_, data)| data), Some(expected));
                } else {
                    prop_assert!(found.is_none());
                }
            }
        }
    }

    #[test]
    fn a_claim_of_many_bytes_is_checked_without_decoding_them() {
        // One literal, repeated: each byte expands to 255 bytes.
        let mut block = [vec![0x1f, 7, 1, 0], vec![255; 1 << 20]].concat();
        block.extend([0, 0]);
        let data_len = 1 + 19 + 255 * (1 << 20);
        let mut file = Header::new(ElementType::UINT8, vec![data_len]).unwrap().encode();
        file[8] = 2;
        file[32..40].copy_from_slice(&count(block.len()).to_le_bytes());
        let header = Header::parse(&file).unwrap();
        assert_eq!(probe(&header, &block).unwrap(), (Encoding::Lz4, block.len()));
        let mut decoder = Decoder::new(block.as_slice(), header, Encoding::Lz4);
        let mut start = [0; 1000];
        decoder.read_exact(&mut start).unwrap();
        assert_eq!(start, [7; 1000]);
        assert!(decoder.decoded.capacity() < 1 << 20);
    }

    proptest! {
        #[test]
        fn signed_values_of_every_width_survive(values: Vec<i128>, width in 0_u32..5) {
            let width = 1 << width;
            let element = ElementType::new(1, width.into()).unwrap();
            let drop = 128 - width * 8;
            let values: Vec<i128> = values.into_iter().map(|value| value << drop >> drop).collect();
            let coded: Vec<u8> = values.iter().flat_map(|v| encode_leb128(*v, width)).collect();
            let width = usize::try_from(width).unwrap();
            let expected: Vec<u8> = values
                .iter()
                .flat_map(|value| {
                    let little = value.to_le_bytes()[..width].to_vec();
                    if cfg!(target_endian = "big") { little.into_iter().rev().collect() } else { little }
                })
                .collect();
            prop_assert_eq!(leb128(element, &coded, expected.len()), Some(expected));
        }
    }

    #[test]
    fn values_that_do_not_fit_or_are_incomplete_are_refused() {
        let bytes = |input: &[u8], len| leb128(ElementType::UINT8, input, len);
        assert_eq!(bytes(&[0xff, 0x01], 1), Some(vec![255]));
        assert_eq!(bytes(&[0xff, 0x02], 1), None, "256 + 127 does not fit in a byte");
        assert_eq!(bytes(&[0x80, 0x80, 0x00], 1), None, "two bytes too many");
        assert_eq!(bytes(&[0x80], 1), None, "cut off");
        assert_eq!(bytes(&[1, 2], 1), None, "one value too many");
        assert_eq!(bytes(&[], 0), Some(vec![]));
        assert_eq!(leb128(ElementType::FLOAT32, &[0], 4), None);
        let longest = [[0xff; 18].as_slice(), &[0x03]].concat();
        assert_eq!(leb128(ElementType::UINT128, &longest, 16), Some(vec![0xff; 16]));
    }

    #[test]
    fn bits_come_lowest_first_in_both_byte_orders() {
        let mut expected = [0; 128];
        for set in [0, 9, 63, 65] {
            expected[set] = 1;
        }
        let chunks: [u64; 2] = [1 | 1 << 9 | 1 << 63, 2];
        for (big_endian, packed) in
            [(false, chunks.map(u64::to_le_bytes)), (true, chunks.map(u64::to_be_bytes))]
        {
            let data: Vec<u8> =
                packed.into_iter().flat_map(|chunk| unpacked(chunk, big_endian)).collect();
            assert_eq!(data, expected);
        }
    }
}
