use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::archive::MemberKind;
use crate::digest::{Algorithm, Digest};
use crate::fs::scratch_file;
use crate::progress::Progress;

const COMPRESSIONS: [Compression; 4] = [
    Compression::Deflate { level: None },
    Compression::Deflate { level: Some(9) },
    Compression::Zstd { level: None },
    Compression::Zstd { level: Some(12) },
];

/// Bytes that compress more or less well.
fn content() -> impl Strategy<Value = Vec<u8>> {
    (0..200_000_usize, 1..60_u64, any::<u64>()).prop_map(|(length, kinds, seed)| {
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            u8::try_from((state >> 33) % kinds).unwrap()
        };
        (0..length).map(|_| next()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn earlier_members_do_not_affect_the_output(contents in prop::collection::vec(content(), 1..8)) {
        let file = scratch_file(&std::env::temp_dir().join("x"), &Progress::default()).unwrap();
        for compression in COMPRESSIONS {
            let packer = || Packer::new(compression, Wanted::from(&[]), &file);
            let mut kept = packer();
            let mut all = Vec::new();
            for content in &contents {
                let mut fresh = Vec::new();
                let method = packer().compress(content, &mut fresh).unwrap();
                let start = all.len();
                prop_assert_eq!(kept.compress(content, &mut all).unwrap(), method);
                prop_assert_eq!(&all[start..], &fresh);
                prop_assert!(fresh.len() <= content.len());
            }
        }
    }

    #[test]
    fn threads_do_not_affect_the_output_and_contents_round_trip(
        content in content(),
        before in content(),
        times_before in 1..20_usize,
        times in 1..12_usize,
        by_one in any::<bool>(),
    ) {
        let content = content.repeat(times);
        for compression in COMPRESSIONS {
            let pack = |engine: Engine, content: &[u8]| {
                let mut encoder = engine.begin(Vec::new()).unwrap();
                encoder.write_all(content).unwrap();
                encoder.end().unwrap()
            };
            // The number of threads and earlier members do not affect the output either.
            let packed = [(1, ""), (3, "used")].map(|(threads, used)| {
                let threads = (!by_one).then_some(threads);
                let mut fresh = compression.engine(threads).unwrap();
                if !used.is_empty() {
                    (_, fresh) = pack(fresh, &before.repeat(times_before));
                }
                pack(fresh, &content).0
            });
            prop_assert_eq!(&packed[0], &packed[1]);
            let mut back = Vec::new();
            match compression.method() {
                Method::Zstd => zstd::stream::copy_decode(&packed[0][..], &mut back).unwrap(),
                _ => {
                    let mut decoder = flate2::read::DeflateDecoder::new(&packed[0][..]);
                    io::copy(&mut decoder, &mut back).map(drop).unwrap();
                }
            }
            prop_assert!(back == content);
        }
    }
}

#[test]
fn moved_bytes_do_not_change() {
    let directory = tempfile::tempdir().unwrap();
    let pending = PendingFile::create(&directory.path().join("a"), true).unwrap();
    for (length, to) in
        [0, 1, COPY_BLOCK, 3 * COPY_BLOCK + 7].map(|length| [(length, 50), (length, 3)]).concat()
    {
        let bytes: Vec<u8> = (0..=250).cycle().take(length).collect();
        pending.file().write_all_at(&bytes, 30).unwrap();
        move_within(pending.file(), 30..30 + length as u64, to).unwrap();
        let mut moved = vec![0; length];
        pending.file().read_exact_at(&mut moved, to).unwrap();
        assert!(moved == bytes);
    }
}

#[test]
fn a_member_that_arrives_or_moves_has_the_header_of_its_length() {
    let directory = tempfile::tempdir().unwrap();
    let pending = PendingFile::create(&directory.path().join("a"), true).unwrap();
    let file = Arc::new(pending.file().try_clone().unwrap());
    let bytes: Vec<u8> = (0..=250).cycle().take(3_000_000).collect();
    for container in [Container::Zip, Container::Tar] {
        // The header of a member of unknown or expected length is shorter or longer.
        for size in [0, 3_000_000, 5 << 32] {
            let member = |size| NewMember {
                path: "Größe.ra".into(),
                kind: MemberKind::File,
                size,
                modified: 0,
                align: Some(Alignment::of_data(56)),
            };
            let algorithms = [Algorithm::Sha256];
            let begin = Arriving::begin(&file, container, (&algorithms).into(), member(size), 9);
            let mut arriving = begin.unwrap();
            arriving.write(&bytes[..7]).unwrap();
            arriving.place(&bytes[7..1000], 7).unwrap();
            arriving.hash_placed(1000).unwrap();
            arriving.write(&bytes[1000..]).unwrap();
            let mut written = arriving.finish().unwrap();
            for at in [9, 9, 4, 0] {
                written.move_to(&file, at).unwrap();
                let meant = Record::stored(&member(3_000_000), at, crc32fast::hash(&bytes));
                let mut meant = new_header(container, &member(3_000_000), &meant).unwrap();
                meant.extend_from_slice(&bytes);
                meant.extend_from_slice(padding(container, &member(3_000_000)));
                let mut found = vec![0; meant.len()];
                file.read_exact_at(&mut found, at).unwrap();
                assert!(found == meant, "{container} {size} {at}");
                assert_eq!(written.range(), at..at + meant.len() as u64);
            }
            assert_eq!(written.placed.digests.made_by(Algorithm::Sha256), Digest::sha256(&bytes));
        }
    }
}
