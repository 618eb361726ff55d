//! The forms of a data section that is flagged as encoded, and how they are told apart.

use std::fmt;

use super::element::{ElementKind, ElementType};
use super::error::{DecodeError, DecodeErrorKind};
use super::flags::Flags;
use super::header::{Header, count};

/// How a data section was stored.
///
/// Flag bit 1 means different things to the implementations, and nothing in the header tells which
/// of them wrote the file. They are tried in this order:
///
/// 1. With bit 2, `eltype` 5 and `elbyte` 8: Julia's `BitArray`, 64 elements in each 8 bytes, the
///    lowest bit first.
/// 2. An LZ4 block of the C tool: `size` bytes that decode to exactly the data.
/// 3. Julia's LEB128, for integers and truth values: everything after the header is exactly as many
///    values as there are elements, signed ones zigzag-coded. `size` is the decoded length.
/// 4. Plain data: Julia sets the flag on floats too and then stores them as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// Plain elements, no flag.
    Raw,
    /// One LZ4 block, as the C tool compresses.
    Lz4,
    /// LEB128 integers, as Julia compresses.
    Leb128,
    /// One bit per element, as Julia stores a `BitArray`.
    Bits,
    /// Plain elements, although the flag says otherwise.
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

/// Most bytes that one byte of an LZ4 block can stand for: a byte of 255 in a match length.
const LZ4_RATIO: u64 = 255;

/// Most bytes that one byte of LEB128 can stand for: a small value of a 16-byte integer.
const LEB128_RATIO: u64 = 16;

/// Elements in one 64-bit chunk of packed bits.
const CHUNK_BITS: u64 = 64;

/// That `section` bytes after the header can hold the encoded data at all. To be called before memory
/// for the decoded data is taken: the header alone proves nothing.
pub(super) fn check_plausible(header: &Header, section: u64) -> Result<(), DecodeError> {
    if header.element() == ElementType::BITS {
        return packed_len(header, section).map(|_| ());
    }
    let most = section.saturating_mul(LZ4_RATIO.max(LEB128_RATIO));
    if header.data_len() > most { Err(undecodable(header, section)) } else { Ok(()) }
}

/// Decodes `section`, which is everything after the header, into `data`, whose length is the header's
/// `data_len`. Gives the encoding and how many bytes it took; the elements are in native byte order.
pub(super) fn decode_into(
    header: &Header,
    section: &[u8],
    data: &mut [u8],
) -> Result<(Encoding, usize), DecodeError> {
    if header.element() == ElementType::BITS {
        let packed = packed_len(header, count(section.len()))?;
        let chunks = section.get(..packed).unwrap_or(section);
        unpack_bits(chunks, header.flags().contains(Flags::BIG_ENDIAN), data);
        return Ok((Encoding::Bits, packed));
    }
    if let Some(block) = lz4_block(header, section)
        && lz4_flex::block::decompress_into(block, data).is_ok_and(|len| len == data.len())
    {
        header.swap_to_native(data)?;
        return Ok((Encoding::Lz4, block.len()));
    }
    if decode_leb128(header.element(), section, data).is_some() {
        return Ok((Encoding::Leb128, section.len()));
    }
    if section.len() == data.len() && header.stored_len() == header.data_len() {
        data.copy_from_slice(section);
        header.swap_to_native(data)?;
        return Ok((Encoding::StrayFlag, section.len()));
    }
    Err(undecodable(header, count(section.len())))
}

fn undecodable(header: &Header, found: u64) -> DecodeError {
    let kind =
        DecodeErrorKind::Encoding { expected: header.data_len(), found, size: header.stored_len() };
    DecodeError::new(header.header_len(), kind)
}

fn lz4_block<'a>(header: &Header, section: &'a [u8]) -> Option<&'a [u8]> {
    section.get(..usize::try_from(header.stored_len()).ok()?)
}

/// Bytes of the chunks that hold the bits, checked against `size` and what is there.
fn packed_len(header: &Header, section: u64) -> Result<usize, DecodeError> {
    let packed = header.elements().div_ceil(CHUNK_BITS).saturating_mul(8);
    if packed != header.stored_len() {
        return Err(header.wrong_size(packed));
    }
    if packed > section {
        let kind = DecodeErrorKind::DataTruncated { expected: packed, found: section };
        return Err(DecodeError::new(header.header_len().saturating_add(section), kind));
    }
    usize::try_from(packed).map_err(|_| header.not_indexable())
}

fn unpack_bits(chunks: &[u8], big_endian: bool, data: &mut [u8]) {
    let (chunks, _) = chunks.as_chunks::<8>();
    for (chunk, elements) in chunks.iter().zip(data.chunks_mut(64)) {
        let mut bits =
            if big_endian { u64::from_be_bytes(*chunk) } else { u64::from_le_bytes(*chunk) };
        for element in elements {
            *element = u8::from(bits & 1 == 1);
            bits >>= 1;
        }
    }
}

/// Decodes exactly as many values as `data` has elements, using up all of `input`.
fn decode_leb128(element: ElementType, input: &[u8], data: &mut [u8]) -> Option<()> {
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
    // A value takes at least one byte: what cannot fit is refused without a look at the bytes.
    if data.len().div_ceil(width) > input.len() {
        return None;
    }
    let bits = u32::try_from(width).ok()?.checked_mul(8)?;
    let mut input = input.iter();
    for element in data.chunks_exact_mut(width) {
        let coded = next_leb128(&mut input, bits)?;
        let value = if signed { (coded >> 1) ^ (coded & 1).wrapping_neg() } else { coded };
        // Truncation to the width is exact: the coded value fits in it, and zigzag keeps that.
        if cfg!(target_endian = "big") {
            element.copy_from_slice(value.to_be_bytes().get(16_usize.checked_sub(width)?..)?);
        } else {
            element.copy_from_slice(value.to_le_bytes().get(..width)?);
        }
    }
    input.as_slice().is_empty().then_some(())
}

/// The next value, which must fit in `bits`.
fn next_leb128(input: &mut std::slice::Iter<'_, u8>, bits: u32) -> Option<u128> {
    let mut value: u128 = 0;
    let mut shift: u32 = 0;
    loop {
        let byte = *input.next()?;
        let part = u128::from(byte & 0x7f);
        let room = bits.checked_sub(shift).filter(|&room| room > 0)?;
        if room < 7 && part >> room != 0 {
            return None;
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        shift = shift.saturating_add(7);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Codes as Julia does, for the property below.
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

    fn leb128(element: ElementType, input: &[u8], len: usize) -> Option<Vec<u8>> {
        let mut data = vec![0; len];
        decode_leb128(element, input, &mut data).map(|()| data)
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
    fn values_that_do_not_fit_or_are_not_used_up_are_refused() {
        let bytes = |input: &[u8], len| leb128(ElementType::UINT8, input, len);
        assert_eq!(bytes(&[0xff, 0x01], 1), Some(vec![255]));
        assert_eq!(bytes(&[0xff, 0x02], 1), None, "256 + 127 does not fit in a byte");
        assert_eq!(bytes(&[0x80, 0x80, 0x00], 1), None, "three bytes for one");
        assert_eq!(bytes(&[0x80], 1), None, "cut off");
        assert_eq!(bytes(&[1, 2], 1), None, "one too many");
        assert_eq!(bytes(&[], 0), Some(vec![]));
        assert_eq!(leb128(ElementType::FLOAT32, &[0], 4), None);
        let longest = [[0xff; 18].as_slice(), &[0x03]].concat();
        assert_eq!(leb128(ElementType::UINT128, &longest, 16), Some(vec![0xff; 16]));
    }

    #[test]
    fn bits_come_lowest_first_in_both_byte_orders() {
        let mut expected = [0; 70];
        for set in [0, 9, 63, 65] {
            expected[set] = 1;
        }
        let chunks: [u64; 2] = [1 | 1 << 9 | 1 << 63, 2];
        let mut data = [7; 70];
        unpack_bits(&chunks.map(u64::to_le_bytes).concat(), false, &mut data);
        assert_eq!(data, expected);
        unpack_bits(&chunks.map(u64::to_be_bytes).concat(), true, &mut data);
        assert_eq!(data, expected);
    }
}
