//! Tests of round trips, damage, and compressed tars.

use std::io::{self, Read, Write};

use proptest::prelude::*;

use super::encoder::BLOCK_LEN;
use super::{Encoder, StreamCompression, StreamDecoder, StreamFault};
use crate::allowance::Allowance;
use crate::archive::tar;
use crate::file_kind::FileKind;
use crate::finding::{Code, Finding, Place};

const FORMATS: [StreamCompression; 3] =
    [StreamCompression::None, StreamCompression::Gzip, StreamCompression::Zstd];
const COMPRESSED: [StreamCompression; 2] = [StreamCompression::Gzip, StreamCompression::Zstd];

/// Bytes that compress a little, like measurements.
fn measurements(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let sample = |i: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u8::try_from((i / 64) % 100).unwrap() ^ u8::try_from(state >> 30).unwrap()
    };
    (0..len).map(sample).collect()
}

fn encode(format: StreamCompression, level: Option<i32>, jobs: usize, parts: &[&[u8]]) -> Vec<u8> {
    let mut encoder = Encoder::new(Vec::new(), format, level, jobs).unwrap();
    for part in parts {
        encoder.write_all(part).unwrap();
        encoder.flush().unwrap();
    }
    encoder.finish().unwrap()
}

fn decode(format: StreamCompression, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    StreamDecoder::new(bytes, format).read_to_end(&mut decoded)?;
    Ok(decoded)
}

fn fault(format: StreamCompression, bytes: &[u8]) -> Finding {
    let error = decode(format, bytes).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    let StreamFault(finding) = error.downcast().unwrap();
    finding
}

#[test]
fn output_does_not_depend_on_jobs_or_division_of_the_input() {
    let input = measurements(2 * BLOCK_LEN + 12_345);
    for format in FORMATS {
        for level in [None, Some(*format.levels().1.start())] {
            let one = encode(format, level, 1, &[&input]);
            assert_eq!(decode(format, &one).unwrap(), input);
            for jobs in [0, 2, 3, 7] {
                let (head, tail) = input.split_at(BLOCK_LEN + 175_713);
                assert!(
                    encode(format, level, jobs, &[head, &[], tail]) == one,
                    "{format:?} {jobs}"
                );
            }
        }
    }
}

#[test]
fn zstd_output_does_not_depend_on_job_boundaries() {
    // Jobs of the library have 2 MiB.
    let input = measurements(20 << 20);
    let format = StreamCompression::Zstd;
    let one = encode(format, None, 1, &[&input]);
    let parts: Vec<_> = input.chunks(1_000_003).collect();
    assert!(encode(format, None, 4, &parts) == one);
    assert!(decode(format, &one).unwrap() == input);
}

#[test]
fn lengths_around_a_block_round_trip() {
    for length in [0, 1, BLOCK_LEN - 1, BLOCK_LEN, BLOCK_LEN + 1, 2 * BLOCK_LEN] {
        let input = measurements(length);
        for format in FORMATS {
            for jobs in [1, 2] {
                let bytes = encode(format, None, jobs, &[&input]);
                assert!(decode(format, &bytes).unwrap() == input, "{format:?} {length} {jobs}");
            }
        }
    }
}

#[test]
fn incompressible_input_round_trips_at_every_level() {
    let mut state = 7_u64;
    let noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    };
    let input: Vec<u8> = std::iter::repeat_with(noise).take(BLOCK_LEN + 99).collect();
    for format in COMPRESSED {
        for level in format.levels().1 {
            let bytes = encode(format, Some(level), 2, &[&input]);
            assert!(decode(format, &bytes).unwrap() == input, "{format:?} {level}");
            assert!(bytes.len() < input.len() + input.len() / 1000 + 100, "{format:?} {level}");
        }
    }
}

#[test]
fn a_block_refers_to_the_one_before() {
    // Repeated noise within the window costs almost nothing.
    let input = measurements(20 << 10).repeat(30);
    let blocks = encode(StreamCompression::Gzip, None, 2, &[&input]).len();
    let first = encode(StreamCompression::Gzip, None, 2, &[&input[..BLOCK_LEN]]).len();
    assert!(blocks < first + first / 2, "{blocks} against {first}");
}

#[test]
fn the_gzip_header_does_not_identify_the_system() {
    let bytes = encode(StreamCompression::Gzip, None, 2, &[b"abc"]);
    assert_eq!(bytes[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    assert_eq!(bytes[bytes.len() - 4..], [3, 0, 0, 0]);
}

#[test]
fn formats_are_detected_from_the_first_bytes() {
    for format in FORMATS {
        let bytes = encode(format, None, 1, &[b"plain bytes"]);
        assert_eq!(StreamCompression::of(FileKind::of(&bytes[..4])), format);
    }
    let compression = |start: &[u8]| StreamCompression::of(FileKind::of(start));
    assert_eq!(compression(b"\x53\x2a\x4d\x18"), StreamCompression::Zstd);
    assert_eq!(compression(b"\x1f"), StreamCompression::None);
}

#[test]
fn unsupported_levels_are_rejected() {
    for (format, level) in COMPRESSED.into_iter().zip([10, 20]) {
        for level in [0, -1, level] {
            let error = Encoder::new(Vec::new(), format, Some(level), 1).err().unwrap();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains(" level from "), "{error}");
        }
    }
}

#[test]
fn every_truncation_is_detected() {
    let input = measurements(3000);
    for format in COMPRESSED {
        let bytes = encode(format, None, 1, &[&input]);
        for length in 0..bytes.len() {
            let fault = fault(format, &bytes[..length]);
            assert_eq!(fault.code, Code::NotAnArchive, "{format:?} {length}: {fault}");
        }
    }
}

#[test]
fn every_flipped_bit_is_detected_or_harmless() {
    let input = measurements(1000);
    for format in COMPRESSED {
        let bytes = encode(format, None, 1, &[&input]);
        let mut harmless = 0;
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            match decode(format, &damaged) {
                Ok(decoded) => {
                    assert!(decoded == input, "{format:?} bit {bit}");
                    harmless += 1;
                }
                // A flipped bit of a window descriptor may exceed the memory limit.
                Err(error) if is_unsupported(&error) => {}
                Err(error) => {
                    let fault = error.downcast::<StreamFault>();
                    assert!(fault.is_ok(), "{format:?} bit {bit}: {fault:?}");
                }
            }
        }
        // Harmless: time, system and flags of the gzip header; the window and a spare bit of the zstd frame.
        assert!(harmless <= 60, "{format:?}: {harmless}");
    }
}

#[test]
fn several_members_and_frames_are_decoded() {
    for format in COMPRESSED {
        let (first, second) = (encode(format, None, 1, &[b"ab"]), encode(format, None, 1, &[b"c"]));
        let empty = encode(format, None, 1, &[]);
        let bytes = [&first[..], &empty, &second, &empty].concat();
        assert_eq!(decode(format, &bytes).unwrap(), b"abc");
        for length in 1..second.len() {
            let cut = &bytes[..first.len() + empty.len() + length];
            assert_eq!(fault(format, cut).code, Code::NotAnArchive);
        }
    }
}

#[test]
fn other_bytes_after_the_stream_are_rejected_with_their_offset() {
    for format in COMPRESSED {
        let bytes = encode(format, None, 1, &[b"abc"]);
        for trailing in [&b"\0"[..], b"\n", b"garbage", &[0; 512]] {
            let fault = fault(format, &[&bytes, trailing].concat());
            let offset = u64::try_from(bytes.len()).unwrap();
            assert_eq!(fault.code, Code::TrailingCompressed);
            assert_eq!(fault.place, Some(Place::Byte { offset }));
        }
    }
}

#[test]
fn a_skippable_frame_has_no_content() {
    let frame = encode(StreamCompression::Zstd, None, 1, &[b"abc"]);
    let skippable = b"\x50\x2a\x4d\x18\x04\0\0\0abcd";
    for bytes in [[&skippable[..], &frame].concat(), [&frame, &skippable[..]].concat()] {
        assert_eq!(decode(StreamCompression::Zstd, &bytes).unwrap(), b"abc");
    }
}

#[test]
fn a_zstd_window_above_the_limit_is_rejected_before_allocation() {
    // Magic, multiple segments, window descriptor of 2^41 bytes, then an empty last raw block.
    let bytes = b"\x28\xb5\x2f\xfd\x00\xf8\x01\0\0";
    assert!(is_unsupported(&decode(StreamCompression::Zstd, bytes).unwrap_err()));
}

fn is_unsupported(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(inner, Some(crate::error::Error::Unsupported(_)))
}

#[test]
fn an_error_of_the_source_is_kept() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::PermissionDenied))
        }
    }
    for format in COMPRESSED {
        let start = encode(format, None, 1, &[&measurements(1000)]);
        for taken in [0, 4, 12, 200] {
            let source = start[..taken].chain(Broken);
            let error =
                StreamDecoder::new(source, format).read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{format:?} {taken}");
        }
    }
}

#[test]
fn an_error_of_the_writer_ends_the_encoder() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let input = measurements(3 * BLOCK_LEN);
    for format in COMPRESSED {
        let result = Encoder::new(Full, format, None, 2).and_then(|mut encoder| {
            encoder.write_all(&input)?;
            encoder.finish()
        });
        assert_eq!(result.err().unwrap().kind(), io::ErrorKind::StorageFull);
        // Dropped with blocks in progress.
        let mut encoder = Encoder::new(Vec::new(), format, None, 2).unwrap();
        encoder.write_all(&input).unwrap();
    }
}

fn small_tar(name: &str) -> Vec<u8> {
    let entry = crate::archive::NewMember {
        path: name.into(),
        kind: super::super::MemberKind::File,
        size: 5,
        modified: 0,
        align: None,
    };
    let mut bytes = tar::entry_header(&entry).unwrap();
    bytes.extend(b"12345");
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes.extend(tar::end_mark());
    bytes
}

fn walk(format: StreamCompression, bytes: &[u8]) -> io::Result<Vec<Code>> {
    let mut reader = tar::TarReader::new(
        tar::Streaming::new(StreamDecoder::new(bytes, format).blocks()),
        None,
        Allowance::unlimited(),
    );
    while reader.next_entry()?.is_some() {}
    Ok(reader.finish()?.into_iter().map(|fault| fault.code).collect())
}

#[test]
fn reading_a_compressed_tar_reaches_the_trailer() {
    for format in COMPRESSED {
        let bytes = encode(format, None, 1, &[&small_tar("a")]);
        assert_eq!(walk(format, &bytes).unwrap(), []);
        // The tar is complete long before the last byte of the stream.
        walk(format, &bytes[..bytes.len() - 1]).unwrap_err();
        walk(format, &[&bytes[..], b"garbage"].concat()).unwrap_err();
        let second = encode(format, None, 1, &[&small_tar("b")]);
        let codes = walk(format, &[bytes, second].concat()).unwrap();
        assert_eq!(codes, [Code::HiddenMember]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_in_any_pieces_round_trip(
        parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..5000), 0..6),
        jobs in 0_usize..4,
    ) {
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        for format in FORMATS {
            let bytes = encode(format, None, jobs, &parts);
            prop_assert_eq!(decode(format, &bytes).unwrap(), parts.concat());
        }
    }

    #[test]
    fn arbitrary_bytes_after_a_magic_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..300)) {
        for (format, magic) in COMPRESSED.into_iter().zip([&b"\x1f\x8b\x08"[..], b"\x28\xb5\x2f\xfd"]) {
            let _ = decode(format, &[magic, &tail].concat());
        }
    }
}
