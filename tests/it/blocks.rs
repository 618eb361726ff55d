//! Block digests: slices are proved by their blocks alone, damaged blocks are reported, and lists that do not fit are
//! reported.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ndarray::{ArrayD, s};
use proptest::prelude::*;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::{CreateOptions, Layout};
use ra_pack::{Code, Error, Finding, Pack, create, verify};
use tempfile::TempDir;

use crate::bytes::{MAKERS, Make, Part, offset_of, part, sha256, with_manifest, zip, zip_entries};
use crate::experiment::{Experiment, UINT8, raw_array, read_tree};
use crate::raw_zip;
use crate::run::{extract, names_in, pack, ra};

const BLOCK: usize = 4096;
const LIST: &str = "blocks-sha256.txt";

/// Bytes that differ from block to block.
pub(crate) fn content(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Compressible.
        state.to_le_bytes()[3] & 63
    };
    (0..len).map(|_| next()).collect()
}

/// Returns a list of these files in the form of `docs/format.md`.
fn list(files: &[(&str, &[u8])]) -> String {
    let mut text = format!("# block-size {BLOCK}\n");
    for (name, data) in files {
        for (index, block) in data.chunks(BLOCK).enumerate() {
            writeln!(text, "{}  {index}  {name}", sha256(block)).unwrap();
        }
    }
    text
}

/// Changes one bit of the archive at an offset of a file that is stored in it.
pub(crate) fn damage(archive: &Path, file: &[u8], at: usize) {
    let mut bytes = fs::read(archive).unwrap();
    let start = offset_of(&file[..64], &bytes);
    bytes[start + at] ^= 1;
    fs::write(archive, bytes).unwrap();
}

/// Returns the finding of a damaged pack.
#[track_caller]
fn damaged<T: std::fmt::Debug>(result: Result<T, Error>) -> Finding {
    match result {
        Err(Error::Damaged { finding, .. }) => *finding,
        other => panic!("{other:?}"),
    }
}

/// A long array, a long file and a short array.
fn source() -> (Experiment, Vec<u8>) {
    let data = content(20 * BLOCK, 1);
    let source = Experiment::new()
        .array("run1/long.ra", UINT8, &[20 * 4096], &data)
        .describe("run1/long.yaml", &format!("[{}]", 20 * BLOCK), "uint8")
        .array("run1/short.ra", UINT8, &[9], b"nine here")
        .describe("run1/short.yaml", "[9]", "uint8")
        .file("notes and more.txt", content(2 * BLOCK + 1, 2))
        .file("one block.bin", content(BLOCK, 3));
    (source, data)
}

/// Kinds of packs, and the options that create them.
const KINDS: [(&str, &[&str]); 6] = [
    ("a.zip", &[]),
    ("a.tar", &[]),
    ("a.tar.gz", &[]),
    ("c.zip", &["--compression", "deflate", "--digest", "sha256,sha512"]),
    ("bag.zip", &["--layout", "bagit"]),
    ("bag.tar", &["--layout", "bagit"]),
];

fn packed(source: &Experiment, scratch: &Path, name: &str, options: &[&str]) -> PathBuf {
    pack(source, scratch, name, &[&["--block-digests=4K"], options].concat())
}

#[test]
fn a_list_has_each_block_of_files_longer_than_one_block() {
    let data = content(2 * BLOCK + 1, 2);
    let source = Experiment::new()
        .file("b/long.bin", &data)
        .file("b/more\n.bin", &data)
        .file("exactly.bin", content(2 * BLOCK, 4))
        .file("one.bin", content(BLOCK, 3));
    let scratch = TempDir::new().unwrap();
    let archive = packed(&source, scratch.path(), "a.zip", &[]);
    let found = ra("get", &[&archive, Path::new(LIST)], &[]).exits(0).out;
    let exactly = content(2 * BLOCK, 4);
    let expected = list(&[("b/long.bin", &data), ("b/more.bin", &data), ("exactly.bin", &exactly)]);
    let escaped = |line: &str| match line.strip_suffix("b/more.bin") {
        Some(rest) => format!("\\{rest}b/more\\n.bin\n"),
        None => format!("{line}\n"),
    };
    let expected: String = expected.lines().map(escaped).collect();
    assert_eq!(String::from_utf8(found).unwrap(), expected);
}

#[test]
fn a_slice_is_proved_by_its_blocks_in_every_kind_of_pack() {
    let (source, data) = source();
    for (name, options) in KINDS {
        let scratch = TempDir::new().unwrap();
        let archive = packed(&source, scratch.path(), name, options);
        let is_stored = !name.ends_with("gz") && !options.contains(&"deflate");
        let pack = Pack::open(&archive).unwrap();
        let array = pack.array("run1/long.ra").unwrap();
        assert_eq!(array.block_size().unwrap(), is_stored.then_some(4096), "{name}");
        let part: ArrayD<u8> = array.slice(s![5000..5100]).unwrap();
        assert_eq!(part.into_raw_vec_and_offset().0, &data[5000..5100], "{name}");
        let all: ArrayD<u8> = array.slice(s![..]).unwrap();
        assert_eq!(all.into_raw_vec_and_offset().0, data, "{name}");
        let short: ArrayD<u8> = pack.array("run1/short.ra").unwrap().slice(s![5..]).unwrap();
        assert_eq!(short.into_raw_vec_and_offset().0, b"here", "{name}");
        let part = scratch.path().join("part.ra");
        let run = ra(
            "get",
            &[&archive, Path::new("long.ra")],
            &["--slice", "5000:5100", "-o", part.to_str().unwrap()],
        );
        // The header is in block 0, and the elements are in block 1.
        run.exits(0).says(&[if is_stored { "verified: 2 blocks" } else { "verified)" }]);
        if !is_stored {
            continue;
        }
        let array = raw_array(UINT8, &[20 * 4096], &data);
        // The header has 56 bytes.
        damage(&archive, &array, 3 * BLOCK + 17);
        let pack = Pack::open(&archive).unwrap();
        let long = pack.array("run1/long.ra").unwrap();
        let touches: ArrayD<u8> = long.slice(s![4 * 4096 - 56..;4096]).unwrap();
        assert_eq!(touches[[0]], data[4 * BLOCK - 56], "{name}");
        let finding = damaged(long.slice::<u8>(s![4 * 4096 - 57..]));
        assert_eq!(
            (finding.code, finding.member.as_deref()),
            (Code::DamagedBlock, Some("run1/long.ra"))
        );
        assert!(finding.message.starts_with("bytes 12288 to 16383 "), "{finding}");
        damaged(long.slice::<u8>(s![12_300..12_301]));
        // Without the proof, the damaged byte is read.
        let wrong: ArrayD<u8> = long.clone().unverified().slice(s![3 * 4096 + 17 - 56]).unwrap();
        assert_eq!(wrong[[]], data[3 * BLOCK + 17 - 56] ^ 1, "{name}");
        let run = ra("get", &[&archive, Path::new("long.ra")], &["--slice", "12288", "-o", "-"]);
        run.exits(1).says(&["MAN010", "bytes 12288 to 16383"]);
        ra("show", &[&archive, Path::new("long.ra")], &["--slice", "0:3"]).exits(0);
        ra("show", &[&archive, Path::new("long.ra")], &["--slice", "12288:12290"]).exits(1);
    }
}

#[test]
fn a_damaged_header_is_found_by_a_slice_of_other_blocks() {
    let (source, data) = source();
    let scratch = TempDir::new().unwrap();
    let archive = packed(&source, scratch.path(), "a.zip", &[]);
    let array = raw_array(UINT8, &[20 * 4096], &data);
    // The number of dimensions stays, and the element type becomes a signed integer.
    let mut bytes = fs::read(&archive).unwrap();
    let start = offset_of(&array[..64], &bytes);
    bytes[start + 16] = 1;
    fs::write(&archive, bytes).unwrap();
    let long = Pack::open(&archive).unwrap().array("run1/long.ra").unwrap();
    let finding = damaged(long.slice::<i8>(s![50_000..50_001]));
    assert_eq!(finding.code, Code::DamagedBlock);
    assert!(finding.message.starts_with("bytes 0 to 4095 "), "{finding}");
}

#[test]
fn a_damaged_short_array_does_not_match_the_manifest() {
    let (source, _) = source();
    let scratch = TempDir::new().unwrap();
    let archive = packed(&source, scratch.path(), "a.tar", &[]);
    damage(&archive, &raw_array(UINT8, &[9], b"nine here"), 60);
    let short = Pack::open(&archive).unwrap().array("run1/short.ra").unwrap();
    assert_eq!(damaged(short.slice::<u8>(s![0..1])).code, Code::DigestMismatch);
}

#[test]
#[ignore = "slow"]
fn any_number_of_jobs_writes_the_same_bytes_and_other_members_do_not_change() {
    let (source, _) = source();
    let source =
        source.file("large.bin", content(3_000_000, 5)).file("larger.bin", content(3_500_000, 6));
    for (name, options) in KINDS {
        let scratch = TempDir::new().unwrap();
        let archives = ["1", "2", "7"].map(|jobs| {
            let home = scratch.path().join(jobs);
            fs::create_dir(&home).unwrap();
            fs::read(packed(&source, &home, name, &[options, &["--jobs", jobs]].concat())).unwrap()
        });
        assert!(archives[0] == archives[1] && archives[1] == archives[2], "{name}");
        // The stem of the name is the top directory of a bag.
        let home = scratch.path().join("without");
        fs::create_dir(&home).unwrap();
        let without = pack(&source, &home, name, options);
        let with = scratch.path().join("1").join(name);
        let trees = [&with, &without].map(|archive| {
            let target = scratch.path().join("unpacked");
            extract(archive, &target, &[]).exits(0);
            let tree = read_tree(&target);
            fs::remove_dir_all(&target).unwrap();
            tree
        });
        let [mut with_list, without_list] = trees;
        with_list.retain(|name, _| !name.ends_with(LIST));
        with_list.retain(|name, _| !name.contains("manifest-"));
        let mut others = without_list;
        others.retain(|name, _| !name.contains("manifest-"));
        assert!(with_list == others, "{name}");
        ra("diff", &[&with, &without], &["--verify"]).exits(0);
    }
}

#[test]
fn an_extracted_pack_is_verified_and_packed_again_to_the_same_bytes() {
    let (source, _) = source();
    let source = source.file("large.bin", content(3_000_000, 5));
    let scratch = TempDir::new().unwrap();
    let archive = packed(&source, scratch.path(), "a.zip", &[]);
    let target = scratch.path().join("unpacked");
    extract(&archive, &target, &[]).exits(0);
    ra("verify", &[&target], &[]).exits(0).says(&["1 file by blocks of 4.0 KiB"]);
    ra("verify", &[&target], &["--full"]).exits(0);
    let again = scratch.path().join("again.zip");
    ra("create", &[&target, Path::new("-o"), &again], &["--block-digests=4K"])
        .exits(0)
        .says(&["the list of block digests is not packed"]);
    assert!(fs::read(&again).unwrap() == fs::read(&archive).unwrap());
    // A change of one byte is found in its block.
    let mut bytes = fs::read(target.join("large.bin")).unwrap();
    bytes[1_000_000] ^= 1;
    fs::write(target.join("large.bin"), bytes).unwrap();
    ra("verify", &[&target], &[]).exits(1).says(&["MAN010", "bytes 999424 to 1003519"]);
}

#[test]
fn damaged_blocks_of_files_that_are_hashed_as_a_whole_are_reported() {
    let (source, data) = source();
    let array = raw_array(UINT8, &[20 * 4096], &data);
    for (name, options) in KINDS
        .into_iter()
        .filter(|(name, options)| !name.ends_with("gz") && !options.contains(&"deflate"))
    {
        let scratch = TempDir::new().unwrap();
        let archive = packed(&source, scratch.path(), name, options);
        damage(&archive, &array, 2 * BLOCK);
        damage(&archive, &array, 3 * BLOCK);
        damage(&archive, &array, 20 * BLOCK);
        let run = ra("verify", &[&archive], &["--json"]).exits(1);
        let report = run.json();
        let findings = report["findings"].as_array().unwrap();
        let found: Vec<_> = findings.iter().filter(|finding| finding["code"] == "MAN010").collect();
        assert_eq!(found.len(), 1, "{name}: {report}");
        assert_eq!(found[0]["member"], "run1/long.ra", "{name}");
        let message = found[0]["message"].as_str().unwrap();
        assert!(message.starts_with("bytes 8192 to 16383, 81920 to 81975 do"), "{name}: {message}");
        assert_eq!(report["intact"]["files"].as_u64(), Some(report["files"].as_u64().unwrap() - 1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn one_changed_byte_is_found_in_its_block(
        sizes in proptest::collection::vec(
            prop_oneof![
                0_usize..3 * BLOCK,
                (1_usize..400, 0_usize..3).prop_map(|(blocks, more)| blocks * BLOCK + more - 1),
                1_000_000_usize..2_500_000,
            ],
            1..4,
        ),
        block_size in prop_oneof![Just(4096_u64), 4096_u64..3_000_000],
        kind in 0_usize..2,
        changed in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        full in any::<bool>(),
    ) {
        let files: Vec<_> = (0..).zip(&sizes).map(|(seed, size)| content(*size, seed)).collect();
        let source = files.iter().enumerate().fold(
            Experiment::new(),
            |source, (number, file)| source.file(&format!("{number}.bin"), file),
        );
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join(["a.zip", "a.tar"][kind]);
        let options = CreateOptions {
            block_digests: Some(block_size),
            ..CreateOptions::default()
        };
        create(source.path(), &archive, &options).unwrap();
        let options = VerifyOptions { full, ..VerifyOptions::default() };
        let report = verify(&archive, &options).unwrap();
        prop_assert!(report.is_valid(), "{:?}", report.findings);
        let by_blocks = sizes.iter().map(|size| *size as u64).filter(|size| !full && *size > block_size.max(1 << 20));
        prop_assert_eq!(report.blocks.map_or(0, |blocks| blocks.files), by_blocks.count() as u64);

        let number = changed.index(files.len());
        prop_assume!(sizes[number] >= 64);
        let at = at.index(sizes[number]);
        damage(&archive, &files[number], at);
        let report = verify(&archive, &options).unwrap();
        let name = format!("{number}.bin");
        prop_assert!(report.findings.iter().all(|finding| finding.member.as_deref() == Some(&*name)), "{:?}", report.findings);
        let told = report.findings.iter().find(|finding| finding.code == Code::DamagedBlock);
        let len = sizes[number] as u64;
        prop_assert_eq!(told.is_some(), len > block_size);
        prop_assert!(!report.is_valid());
        if let Some(told) = told {
            let start = at as u64 / block_size * block_size;
            let end = (start + block_size).min(len) - 1;
            let expected = format!("bytes {start} to {end} do not match");
            prop_assert!(told.message.starts_with(&expected), "{} {}", expected, told);
        }
    }
}

/// A pack with a list, and the code and the member of the problem that `verify` must report.
type HostileCase = (&'static str, String, &'static str, &'static str);

#[test]
fn lists_that_do_not_fit_the_files_are_reported() {
    let data = content(3 * BLOCK, 7);
    let good = list(&[("a.bin", &data)]);
    let zeros = "0".repeat(64);
    let line = |number: usize| good.lines().nth(number).unwrap().to_owned() + "\n";
    let head = line(0);
    let cases: [HostileCase; 12] = [
        ("empty", head.clone(), "MAN011", "a.bin"),
        ("lacks the last block", [line(0), line(1), line(2)].concat(), "MAN011", "a.bin"),
        ("lacks a block", [line(0), line(1), line(3)].concat(), "MAN011", LIST),
        ("repeats a block", [line(0), line(1), line(1)].concat(), "MAN011", LIST),
        ("has a block more", format!("{good}{zeros}  3  a.bin\n"), "MAN011", "a.bin"),
        (
            "unknown file",
            format!("{good}{zeros}  0  b.bin\n{zeros}  1  b.bin\n"),
            "MAN011",
            "b.bin",
        ),
        ("short file", format!("{good}{zeros}  0  short.txt\n"), "MAN011", "short.txt"),
        ("another size", good.replace("4096", "8192"), "MAN011", "a.bin"),
        ("size 0", good.replace("4096", "0"), "MAN011", LIST),
        ("huge size", good.replace("4096", "99999999999999999999"), "MAN011", LIST),
        ("not sorted", format!("{good}{zeros}  0  A.bin\n{zeros}  1  A.bin\n"), "MAN011", LIST),
        ("a line of a manifest", format!("{good}{zeros}  b.bin\n"), "MAN011", LIST),
    ];
    for (ending, make) in MAKERS {
        let parts = |text: &str| {
            let parts = vec![part("a.bin", &data), part(LIST, text), part("short.txt", "short")];
            with_manifest(parts)
        };
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join(format!("x{ending}"));
        fs::write(&archive, make(&parts(&good))).unwrap();
        ra("verify", &[&archive], &[]).exits(0);
        for (what, text, code, member) in &cases {
            fs::write(&archive, make(&parts(text))).unwrap();
            let found = ra("verify", &[&archive], &["--json"]).exits(1).findings();
            assert_eq!(found, [((*code).to_owned(), (*member).to_owned())], "{what}{ending}");
        }
        // A wrong digest of an intact file.
        fs::write(&archive, make(&parts(&good.replace(&line(2)[..64], &zeros)))).unwrap();
        for options in [&["--json"][..], &["--full", "--json"]] {
            let found = ra("verify", &[&archive], options).exits(1).findings();
            assert_eq!(found, [("MAN011".to_owned(), "a.bin".to_owned())], "{ending}");
        }
        // Any other text is an ordinary file.
        for text in ["", "my blocks\n", "#block-size 4096\n"] {
            fs::write(&archive, make(&parts(text))).unwrap();
            ra("verify", &[&archive], &[]).exits(0);
        }
    }
}

/// Returns a zip of deflated members.
fn deflated(parts: &[Part]) -> Vec<u8> {
    let entry = |part: &Part| {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&part.data).unwrap();
        raw_zip::Entry::packed(&part.name, raw_zip::DEFLATE, encoder.finish().unwrap(), &part.data)
    };
    let entries = parts.iter().map(entry).collect();
    raw_zip::Zip { entries, ..raw_zip::Zip::default() }.to_bytes()
}

#[test]
fn blocks_are_compared_in_compressed_packs() {
    let data = content(3 * BLOCK, 7);
    let good = list(&[("a.bin", &data)]);
    let wrong = good.replace(&sha256(&data[BLOCK..2 * BLOCK]), &"0".repeat(64));
    let makers: [(&str, Make); 3] = [
        ("x.zip", deflated),
        ("x.tar.gz", |parts| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(&crate::bytes::tar(parts)).unwrap();
            encoder.finish().unwrap()
        }),
        ("x.tar.zst", |parts| zstd::encode_all(&*crate::bytes::tar(parts), 3).unwrap()),
    ];
    for (name, make) in makers {
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join(name);
        for (list, expected) in
            [(&good, vec![]), (&wrong, vec![("MAN011".to_owned(), "a.bin".to_owned())])]
        {
            let parts = with_manifest(vec![part("a.bin", &data), part(LIST, list)]);
            fs::write(&archive, make(&parts)).unwrap();
            let code = i32::from(!expected.is_empty());
            let ran = ra("verify", &[&archive], &["--json"]).exits(code);
            assert_eq!(ran.findings(), expected, "{name}");
            assert!(ran.json().get("blocks").is_none(), "{name}: the whole digest was compared");
        }
    }
}

#[test]
#[ignore = "slow"]
fn a_digest_that_was_not_compared_is_said() {
    // Long enough that its blocks are compared instead.
    let source = Experiment::new().file("long.bin", content(3 << 20, 5)).file("short.txt", "short");
    let scratch = TempDir::new().unwrap();
    let log = scratch.path().join("log");
    let log = ["--log", log.to_str().unwrap()];
    for name in ["x.tar", "x.zip", "dir"] {
        let options = ["--block-digests=64K"];
        let archive =
            pack(&source, scratch.path(), if name == "dir" { "y.zip" } else { name }, &options);
        let (archive, manifest) = if name == "dir" {
            let target = scratch.path().join(name);
            extract(&archive, &target, &[]).exits(0);
            (target.clone(), target.join("manifest-sha256.txt"))
        } else {
            (archive.clone(), archive)
        };
        let outside = scratch.path().join(format!("{name}.manifest-sha256.txt"));
        let kept = fs::read(&outside).ok();
        let _ = fs::remove_file(&outside);
        let said = "1 file by blocks of 64 KiB instead of digests of whole files";
        let ran = ra("verify", &[&archive], &log).exits(0).says(&[said]);
        assert!(!ran.said().contains("warning"), "{}", ran.said());
        let json = ra("verify", &[&archive], &["--json"]).json();
        assert_eq!(json["blocks"]["unchecked_digests"], 1, "{name}");
        ra("audit", &[Path::new(log[1])], &[])
            .exits(0)
            .says(&["1 pack: block digests were compared"]);
        // A digit of the digest of the whole file.
        let time = fs::metadata(&manifest).unwrap().modified().unwrap();
        let mut bytes = fs::read(&manifest).unwrap();
        let line = b"  long.bin\n";
        let at = bytes.windows(line.len()).rposition(|window| window == line).unwrap() - 3;
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        fs::write(&manifest, bytes).unwrap();
        fs::File::options().write(true).open(&manifest).unwrap().set_modified(time).unwrap();
        ra("verify", &[&archive], &["--full"]).exits(1).says(&["long.bin"]);
        if name == "x.zip" {
            // A zip has a checksum of the manifest.
            ra("verify", &[&archive], &[]).exits(1);
        } else {
            ra("verify", &[&archive], &log).exits(0).says(&[said]);
        }
        if name == "x.tar" {
            // Only the manifest has changed since the last verification.
            ra("audit", &[Path::new(log[1])], &[]).exits(1).says(&["its manifest changed"]);
        }
        if let Some(kept) = kept {
            fs::write(&outside, kept).unwrap();
            ra("verify", &[&archive], &[]).exits(1).says(&["long.bin"]);
        }
        fs::remove_file(log[1]).unwrap();
    }
}

/// Returns a pack with a long array, a list, and a manifest.
fn hand_made(list: &str, data: &[u8]) -> Vec<Part> {
    with_manifest(vec![part("a.ra", data), part(LIST, list), part("note.txt", "note")])
}

#[test]
fn a_slice_is_not_proved_by_a_list_that_no_manifest_confirms() {
    let data = raw_array(UINT8, &[3 * 4096], &content(3 * BLOCK, 8));
    let good = list(&[("a.ra", &data)]);
    let slice = |parts: &[Part]| {
        let array = Pack::open_source(zip(parts)).unwrap().array("a.ra").unwrap();
        (array.block_size(), array.slice::<u8>(s![0..4]))
    };
    let (size, part_of) = slice(&hand_made(&good, &data));
    assert_eq!((size.unwrap(), part_of.unwrap().len()), (Some(4096), 4));
    // The list is not in the manifest.
    let mut parts = with_manifest(vec![part("a.ra", &data)]);
    parts.push(part(LIST, &good));
    assert_eq!(slice(&parts).0.unwrap(), None);
    // There is no manifest.
    let parts = vec![part("a.ra", &data), part(LIST, &good)];
    assert_eq!(slice(&parts).0.unwrap(), None);
    // The list was changed after the manifest was made.
    let mut parts = hand_made(&good, &data);
    parts[1] = part(LIST, good.replace("  2  ", "  3  "));
    assert_eq!(damaged(slice(&parts).1).code, Code::DigestMismatch);
    // The list lacks a block.
    let short: String = good.split_inclusive('\n').take(3).collect();
    let finding = damaged(slice(&hand_made(&short, &data)).1);
    assert_eq!((finding.code, finding.member.as_deref()), (Code::BadBlockList, Some("a.ra")));
    // The list is not in its form.
    let finding = damaged(slice(&hand_made(&good.replace("  1  ", "  7  "), &data)).1);
    assert_eq!((finding.code, finding.member.as_deref()), (Code::BadBlockList, Some(LIST)));
}

#[test]
fn block_digests_that_a_kept_manifest_does_not_confirm_prove_nothing() {
    let old = content(2_000_000, 9);
    let mut new = old.clone();
    new[1_500_000] ^= 1;
    let scratch = TempDir::new().unwrap();
    let create = |data: &[u8], name: &str, options: &[&str]| {
        let home = scratch.path().join(name);
        fs::create_dir(&home).unwrap();
        pack(&Experiment::new().file("a.bin", data), &home, "x.zip", options)
    };
    let beside = |archive: &Path| archive.with_file_name("x.zip.manifest-sha256.txt");
    let blocks = ["--block-digests=64K"];
    let (good, forged, plain) = (
        create(&old, "good", &blocks),
        create(&new, "forged", &blocks),
        create(&old, "plain", &[]),
    );
    ra("verify", &[&good], &[]).exits(0).says(&["1 file by blocks of 64 KiB"]);
    ra("verify", &[&forged], &[]).exits(0);
    for kept in [&good, &plain] {
        let kept = beside(kept);
        let kept = kept.to_str().unwrap();
        // Files and all lists of the forged pack agree with each other, but not with the manifest that was kept.
        ra("verify", &[&forged], &["--manifest", kept]).exits(1);
        // Also if the manifest inside is removed.
        let bytes = fs::read(&forged).unwrap();
        let entries = zip_entries(&bytes);
        let parts = entries.iter().filter(|entry| entry.name != "manifest-sha256.txt");
        let parts: Vec<_> = parts
            .map(|entry| part(&entry.name, &bytes[entry.data..entry.data + entry.size]))
            .collect();
        let bare = scratch.path().join("bare.zip");
        fs::write(&bare, zip(&parts)).unwrap();
        let found = ra("verify", &[&bare], &["--manifest", kept, "--json"]).exits(1);
        let wrong = found
            .findings()
            .into_iter()
            .any(|(code, member)| code == "MAN003" && member == "a.bin");
        assert!(wrong, "{}", found.said());
    }
}

#[test]
fn a_bag_lists_block_digests_as_a_tag_file_and_verifies_whole_files() {
    let source = Experiment::new().file("large.bin", content(2_000_000, 10));
    let scratch = TempDir::new().unwrap();
    let archive = packed(&source, scratch.path(), "bag.zip", &["--layout", "bagit"]);
    let text = |name: &str| {
        String::from_utf8(ra("get", &[&archive, Path::new(name)], &[]).exits(0).out).unwrap()
    };
    assert!(text("tagmanifest-sha256.txt").contains(&format!("  {LIST}\n")));
    assert!(!text("manifest-sha256.txt").contains(LIST));
    assert!(text(LIST).lines().skip(1).all(|line| line.ends_with("  data/large.bin")));
    let report = verify(&archive, &VerifyOptions::default()).unwrap();
    assert!(report.is_valid() && report.bag.unwrap().valid);
    assert_eq!(report.blocks, None);
    assert_eq!(report.layout, Layout::BagIt);
}

#[test]
fn a_file_with_the_name_of_the_list_is_not_packed_silently() {
    let scratch = TempDir::new().unwrap();
    let source = Experiment::new().file(LIST, "my own blocks\n").file("a.bin", "a");
    let archive = scratch.path().join("a.zip");
    ra("create", &[source.path(), Path::new("-o"), &archive], &[])
        .exits(2)
        .says(&["give it another name"]);
    assert_eq!(names_in(scratch.path()), Vec::<String>::new());
    for size in ["1", "4095", "64.5M", "65M", "x"] {
        let option = format!("--block-digests={size}");
        ra("create", &[source.path(), Path::new("-o"), &archive], &[&option])
            .exits(2)
            .says(&["from 4K to 64M"]);
    }
    let options = CreateOptions { block_digests: Some(100), ..CreateOptions::default() };
    let refused = create(source.path(), &archive, &options).unwrap_err();
    assert!(refused.to_string().contains("4096 to 67108864"), "{refused}");
}

#[test]
fn a_list_is_left_out_of_a_conversion() {
    let (source, _) = source();
    let scratch = TempDir::new().unwrap();
    let archive = packed(&source, scratch.path(), "a.zip", &[]);
    let tree = scratch.path().join("tree");
    ra("convert", &[&archive, &tree], &[]).exits(0);
    assert!(!read_tree(&tree).contains_key(LIST));
}
