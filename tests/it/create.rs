//! `ra-pack create`: input, output, refusals, and that no other file changes.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::bytes::{sha256, zip_entries};
use crate::experiment::{Experiment, FLOAT32, INT16, UINT8, le, ra_pack, read_tree};
use crate::foreign::{complaint, installed};
use crate::run::{
    ENDINGS, Ran, create, extract, is_array, names_in, pack, ra, run_into_closed_pipe,
};

/// A described array and a note.
fn small() -> Experiment {
    Experiment::new()
        .array("a.ra", UINT8, &[3], &[1, 2, 3])
        .describe("a.yaml", "[3]", "uint8")
        .file("notes.txt", "nothing wrong here\n")
}

/// Packs an experiment that must be refused with this status, leaving no output and the source unchanged.
#[track_caller]
fn refused(experiment: &Experiment, options: &[&str], code: i32) -> Ran {
    let before = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    let ran = create(experiment.path(), &scratch.path().join("x.zip"), options).exits(code);
    assert_eq!(names_in(scratch.path()), [""; 0], "no output is left");
    assert_eq!(read_tree(experiment.path()), before, "the source was changed");
    ran
}

#[test]
fn packs_of_every_container_layout_and_compression_are_valid_and_extract_to_the_source() {
    let experiment = Experiment::standard();
    let source = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    let methods = |ending: &str| match ending {
        ".zip" => vec!["stored", "deflate", "deflate:9", "zstd", "zstd:19"],
        ".tar.gz" => vec!["stored", "deflate:2"],
        ".tar.zst" => vec!["stored", "zstd:1"],
        _ => vec!["stored"],
    };
    for ending in ENDINGS {
        for layout in ["plain", "bagit"] {
            for method in methods(ending) {
                let name = format!("{}-{layout}{ending}", method.replace(':', "-"));
                let options = ["--layout", layout, "--compression", method];
                let archive = pack(&experiment, scratch.path(), &name, &options);
                ra("verify", &[&archive], &[]).exits(0).says(&[": valid ("]);
                let into = TempDir::new().unwrap();
                extract(&archive, into.path(), &[]).exits(0);
                let mut tree = read_tree(into.path());
                let mut expected = source.clone();
                if layout == "plain" {
                    tree.retain(|name, _| name != "manifest.yaml" && name != "manifest-sha256.txt");
                } else {
                    let top = format!("{}/data/", name.strip_suffix(ending).unwrap());
                    tree = tree
                        .into_iter()
                        .filter_map(|(name, bytes)| {
                            Some((name.strip_prefix(&top)?.to_owned(), bytes))
                        })
                        .collect();
                    // A bag cannot hold an empty directory.
                    expected.retain(|name, _| !name.ends_with('/'));
                }
                assert_eq!(tree, expected, "{name}");
            }
        }
    }
    assert_eq!(read_tree(experiment.path()), source, "the source was changed");
}

#[test]
fn a_compression_that_the_container_does_not_support_is_refused() {
    let experiment = small();
    let scratch = TempDir::new().unwrap();
    for (name, method) in
        [("a.tar", "deflate"), ("a.tar", "zstd"), ("a.tar.gz", "zstd"), ("a.tar.zst", "deflate")]
    {
        let archive = scratch.path().join(name);
        create(experiment.path(), &archive, &["--compression", method]).exits(2);
    }
    let archive = scratch.path().join("a.zip");
    for method in ["deflate:1", "deflate:10", "zstd:0", "zstd:20", "stored:1", "lzma", ""] {
        create(experiment.path(), &archive, &["--compression", method]).exits(2);
    }
    assert_eq!(names_in(scratch.path()), [""; 0]);
}

#[test]
fn compressed_members_of_a_zip_are_marked_and_smaller() {
    let experiment = small().file("zeros.bin", vec![0; 2_000_000]).file("few", "x");
    let scratch = TempDir::new().unwrap();
    for (method, number) in [("stored", 0), ("deflate", 8), ("zstd", 93)] {
        let name = format!("{method}.zip");
        let archive = pack(&experiment, scratch.path(), &name, &["--compression", method]);
        let entries = zip_entries(&fs::read(archive).unwrap());
        let zeros = entries.iter().find(|entry| entry.name == "zeros.bin").unwrap();
        assert_eq!((zeros.method, zeros.size), (number, 2_000_000));
        assert!(number == 0 || zeros.packed < 10_000, "{zeros:?}");
        let few = entries.iter().find(|entry| entry.name == "few").unwrap();
        assert_eq!((few.method, few.packed), (0, 1), "members that do not shrink are stored");
    }
}

/// Sets the modification time of every file below `directory`.
fn touch(directory: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    for name in read_tree(directory).keys().filter(|name| !name.ends_with('/')) {
        let file = File::options().append(true).open(directory.join(name)).unwrap();
        file.set_modified(time).unwrap();
    }
}

#[test]
#[ignore = "slow"]
fn the_same_content_gives_the_same_bytes_for_any_jobs_and_times() {
    let large: Vec<u8> =
        (0..5_000_000_u32).map(|i| (i.wrapping_mul(i) >> 7).to_le_bytes()[0]).collect();
    let standard = || {
        Experiment::standard()
            .file("large.bin", &large)
            .file("larger.bin", &large)
            .file("less.bin", &large[..700_000])
    };
    let (experiment, copy) = (standard(), standard());
    touch(copy.path(), 1_000_000_000);
    for (ending, options) in [
        (".zip", vec![]),
        (".zip", vec!["--compression", "deflate"]),
        (".zip", vec!["--compression", "zstd"]),
        (".tar", vec![]),
        (".tar.gz", vec![]),
        (".tar.zst", vec![]),
        (".zip", vec!["--layout", "bagit"]),
    ] {
        let mut first = None;
        for (source, jobs) in
            [(&experiment, "1"), (&experiment, "2"), (&experiment, "7"), (&copy, "2")]
        {
            let scratch = TempDir::new().unwrap();
            let mut options = options.clone();
            options.extend(["--jobs", jobs]);
            pack(source, scratch.path(), &format!("x{ending}"), &options);
            let tree = read_tree(scratch.path());
            assert_eq!(tree.len(), 2);
            let same = *first.get_or_insert_with(|| tree.clone()) == tree;
            assert!(same, "{ending} {options:?}");
        }
    }
}

/// Small files are compressed by the worker until a large one has come before them.
#[test]
#[ignore = "slow"]
fn compressed_files_around_large_ones_are_extracted_for_any_jobs() {
    let content = |number: usize, length: usize| -> Vec<u8> {
        let text = (0..length).map(|at| u8::try_from((at * at * number / 100) % 50).unwrap());
        text.collect()
    };
    let tree = |large: &[(usize, usize)]| {
        let mut experiment = small();
        for number in 0..300 {
            let large = large.iter().find(|(which, _)| *which == number);
            let length = large.map_or(number * 7, |(_, length)| *length);
            let name = format!("d{}/{number:03}", number / 50);
            experiment = experiment.file(&name, content(number, length));
        }
        fs::create_dir_all(experiment.path().join("d2/empty")).unwrap();
        fs::create_dir_all(experiment.path().join("d4/empty")).unwrap();
        experiment
    };
    for large in [&[][..], &[(0, 40_000)], &[(100, 32_769), (101, 32_768), (200, 600_000)]] {
        let experiment = tree(large);
        touch(experiment.path(), 1_500_000_000);
        let source = read_tree(experiment.path());
        for (ending, compression, option) in [
            (".zip", "deflate", "--preserve-mtime"),
            (".zip", "zstd", "--strict"),
            (".tar.gz", "stored", "--describe"),
            (".tar.zst", "stored", "--preserve-mtime"),
        ] {
            let mut first = None;
            for jobs in ["1", "2", "9"] {
                let scratch = TempDir::new().unwrap();
                let options = ["--compression", compression, "--jobs", jobs, option];
                let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &options);
                let files = read_tree(scratch.path());
                assert!(*first.get_or_insert_with(|| files.clone()) == files, "{ending} {jobs}");
                let json = ra("verify", &[&archive], &["--json"]).exits(0).json();
                assert_eq!(json["findings"].to_string(), "[]");
                let into = TempDir::new().unwrap();
                extract(&archive, into.path(), &[]).exits(0);
                if ending == ".zip" {
                    let kept = 37 << 25 | 7 << 21 | 0xe << 16 | 2 << 11 | 40 << 5; // 2017-07-14 02:40
                    let fixed = 1 << 21 | 1 << 16;
                    let is_kept = option == "--preserve-mtime";
                    for entry in zip_entries(&fs::read(&archive).unwrap()) {
                        let is_file =
                            source.contains_key(&entry.name) && !entry.name.ends_with('/');
                        let expected = if is_kept && is_file { kept } else { fixed };
                        assert_eq!(entry.modified, expected, "{entry:?}");
                    }
                }
                let mut tree = read_tree(into.path());
                tree.retain(|name, _| name != "manifest.yaml" && name != "manifest-sha256.txt");
                assert!(tree == source, "{ending} {jobs}");
            }
        }
    }
}

/// Generated descriptions are in the same order as those from files.
#[test]
fn generated_descriptions_are_compressed_in_the_order_of_their_names() {
    let mut experiment = small().file("b.bin", vec![7; 100_000]);
    for number in 0..40 {
        experiment = experiment.array(&format!("c{number:02}.ra"), INT16, &[2], &[1, 0, 2, 0]);
        if number % 3 == 0 {
            experiment = experiment.describe(&format!("c{number:02}.yaml"), "[2]", "int16");
        }
    }
    let source = read_tree(experiment.path());
    for (ending, compression) in [(".zip", "deflate"), (".tar.zst", "stored")] {
        let mut first = None;
        for jobs in ["1", "4"] {
            let scratch = TempDir::new().unwrap();
            let options = ["--compression", compression, "--jobs", jobs, "--describe"];
            let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &options);
            let files = read_tree(scratch.path());
            assert!(*first.get_or_insert_with(|| files.clone()) == files, "{ending} {jobs}");
            ra("verify", &[&archive], &[]).exits(0);
            let into = TempDir::new().unwrap();
            extract(&archive, into.path(), &[]).exits(0);
            let tree = read_tree(into.path());
            assert!(source.iter().all(|(name, bytes)| tree.get(name) == Some(bytes)));
            if ending == ".zip" {
                let entries = zip_entries(&fs::read(&archive).unwrap());
                let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
                let (payload, _) = names.split_at(names.len() - 2);
                assert!(payload.is_sorted());
            }
            for number in 0..40 {
                assert!(tree.contains_key(&format!("c{number:02}.yaml")), "{number}");
            }
        }
    }
}

/// Each large member is compressed by several threads, two members at a time, between small ones.
#[test]
#[ignore = "slow"]
fn large_members_are_compressed_to_the_same_bytes_for_any_jobs() {
    let mut experiment = Experiment::new();
    for group in 0..5_usize {
        let content: Vec<u8> = (0..4_400_000 + group * 100_000)
            .map(|at| u8::try_from((at * (at + group) / 1000) % 60).unwrap())
            .collect();
        experiment = experiment.file(&format!("g{group}/large"), &content);
        experiment = experiment.file(&format!("g{group}/middling"), &content[..500_000]);
        for number in 0..20 {
            experiment = experiment.file(&format!("g{group}/{number}"), format!("{number}"));
        }
    }
    let source = read_tree(experiment.path());
    for compression in ["deflate", "zstd", "zstd:10"] {
        let mut first = None;
        for jobs in ["1", "2", "5"] {
            let scratch = TempDir::new().unwrap();
            let options = ["--compression", compression, "--jobs", jobs];
            let archive = pack(&experiment, scratch.path(), "x.zip", &options);
            let files = read_tree(scratch.path());
            assert!(*first.get_or_insert_with(|| files.clone()) == files, "{compression} {jobs}");
            let into = TempDir::new().unwrap();
            extract(&archive, into.path(), &[]).exits(0);
            let mut tree = read_tree(into.path());
            tree.retain(|name, _| name != "manifest.yaml" && name != "manifest-sha256.txt");
            assert!(tree == source, "{compression} {jobs}");
        }
    }
}

/// The directory after many members, and large members of a compressed zip, are written and read back in steps.
#[test]
#[ignore = "slow"]
fn the_end_of_an_archive_is_the_same_for_any_jobs() {
    let mut experiment = Experiment::new();
    for number in 0..5000 {
        experiment = experiment.file(&format!("{number:064}"), "");
    }
    for number in 0..700 {
        let name = format!("n{}/{number}", number % 3);
        experiment = experiment.array(&format!("{name}.ra"), INT16, &[2], &[1, 0, 2, 0]);
        experiment = experiment.describe(&format!("{name}.yaml"), "[2]", "int16");
    }
    for (name, compression, layout) in [
        ("x.zip", "stored", "plain"),
        ("x.zip", "stored", "bagit"),
        ("x.zip", "deflate", "plain"),
        ("x.zip", "zstd", "bagit"),
        ("x.tar", "stored", "plain"),
    ] {
        let mut first = None;
        for jobs in ["1", "3"] {
            let scratch = TempDir::new().unwrap();
            let options = ["--compression", compression, "--layout", layout, "--jobs", jobs];
            let archive = pack(&experiment, scratch.path(), name, &options);
            if name == "x.zip" {
                let entries = zip_entries(&fs::read(&archive).unwrap());
                let manifest =
                    entries.iter().find(|entry| entry.name.ends_with("manifest-sha256.txt"));
                assert!(manifest.unwrap().size > 600_000);
            }
            ra("verify", &[&archive], &[]).exits(0);
            let files = read_tree(scratch.path());
            let same = *first.get_or_insert_with(|| files.clone()) == files;
            assert!(same, "{name} {compression} {layout} {jobs}");
        }
    }
}

/// Errors before and after the first compressed member.
#[test]
fn a_refused_compressed_archive_leaves_no_output() {
    let mut experiment = small().array("z.ra", UINT8, &[3], &[1, 2, 3]);
    for number in 0..100 {
        experiment = experiment.file(&format!("b/{number}"), vec![1; 1000]);
    }
    let before = read_tree(experiment.path());
    for (ending, compression) in
        [(".zip", "deflate"), (".zip", "zstd"), (".tar.gz", "stored"), (".tar.zst", "stored")]
    {
        for jobs in ["1", "3"] {
            let scratch = TempDir::new().unwrap();
            let archive = scratch.path().join(format!("x{ending}"));
            let options = ["--compression", compression, "--jobs", jobs];
            create(experiment.path(), &archive, &options).exits(1).says(&["z.ra"]);
            assert_eq!(names_in(scratch.path()), [""; 0]);
        }
    }
    assert_eq!(read_tree(experiment.path()), before);
}

#[test]
fn times_are_fixed_or_those_of_the_environment_or_of_the_files() {
    let experiment = small();
    touch(experiment.path(), 1_000_000_000); // 2001-09-09 01:46:40
    let scratch = TempDir::new().unwrap();
    let dos = |year: u32, month: u32, day: u32, hour: u32, minute: u32, second: u32| {
        ((year - 1980) << 25 | month << 21 | day << 16) | (hour << 11 | minute << 5 | (second / 2))
    };
    let times = |name: &str, epoch: Option<&str>, options: &[&str]| {
        let archive = scratch.path().join(name);
        let mut command = ra_pack();
        command.arg("create").arg(experiment.path()).arg("-o").arg(&archive).args(options);
        epoch.map(|epoch| command.env("SOURCE_DATE_EPOCH", epoch));
        command.assert().success();
        let entries = zip_entries(&fs::read(archive).unwrap());
        for entry in &entries {
            assert_eq!(entry.mode, 0o100_644, "{entry:?}");
        }
        entries.into_iter().map(|entry| entry.modified).collect::<Vec<_>>()
    };
    let fixed = dos(1980, 1, 1, 0, 0, 0);
    let own = dos(2001, 9, 9, 1, 46, 40);
    assert_eq!(times("a.zip", None, &[]), [fixed; 5]);
    let epoch = Some("1700000000"); // 2023-11-14 22:13:20
    assert_eq!(times("b.zip", epoch, &[]), [dos(2023, 11, 14, 22, 13, 20); 5]);
    assert_eq!(times("c.zip", None, &["--preserve-mtime"]), [own, own, own, fixed, fixed]);
    for wrong in ["yesterday", "-1", ""] {
        let archive = scratch.path().join("d.zip");
        let mut command = ra_pack();
        command.arg("create").arg(experiment.path()).arg("-o").arg(&archive);
        command.env("SOURCE_DATE_EPOCH", wrong).assert().code(2);
        assert!(!archive.exists());
    }
}

#[test]
fn times_that_some_tar_readers_reject_are_refused() {
    let scratch = TempDir::new().unwrap();
    let experiment = Experiment::new().file("a.txt", "a");
    let year_10000 = 253_402_300_800_u64;
    for (ending, seconds) in [("tar", year_10000), ("tar.gz", 1 << 62), ("tar.zst", u64::MAX)] {
        let archive = scratch.path().join(format!("a.{ending}"));
        let mut command = ra_pack();
        command.arg("create").arg(experiment.path()).arg("-o").arg(&archive);
        let ran = command.env("SOURCE_DATE_EPOCH", seconds.to_string()).assert().code(2);
        let said = String::from_utf8_lossy(&ran.get_output().stderr).into_owned();
        assert!(said.contains("year 10000") && said.contains("SOURCE_DATE_EPOCH"), "{said}");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
        command.env("SOURCE_DATE_EPOCH", (year_10000 - 1).to_string()).assert().success();
        ra_pack().arg("verify").arg(&archive).arg("--strict").assert().success();
        fs::remove_dir_all(scratch.path()).unwrap();
        fs::create_dir(scratch.path()).unwrap();
    }
}

#[test]
fn times_out_of_range_of_a_zip_are_accepted() {
    let scratch = TempDir::new().unwrap();
    for (index, seconds) in
        [0, 1, 4_354_819_199, 4_354_819_200, 9_000_000_000].into_iter().enumerate()
    {
        let experiment = small();
        touch(experiment.path(), seconds);
        for ending in [".zip", ".tar"] {
            let name = format!("{index}{ending}");
            let archive = pack(&experiment, scratch.path(), &name, &["--preserve-mtime"]);
            ra("verify", &[&archive], &["--strict"]).exits(0);
        }
    }
}

#[test]
fn the_array_data_of_every_stored_array_is_aligned_for_names_and_dims_of_any_length() {
    let mut experiment = Experiment::new();
    for length in 1..=130 {
        let dims = vec![1; length % 9];
        experiment = experiment.array(&format!("{}.ra", "n".repeat(length)), UINT8, &dims, &[7]);
    }
    let scratch = TempDir::new().unwrap();
    for options in [&["--describe"][..], &["--describe", "--layout", "bagit"]] {
        let name = format!("{}.zip", options.len());
        let archive = pack(&experiment, scratch.path(), &name, options);
        let entries = zip_entries(&fs::read(archive).unwrap());
        let arrays: Vec<_> = entries.iter().filter(|entry| is_array(&entry.name)).collect();
        assert_eq!(arrays.len(), 130);
        for entry in arrays {
            // The data is one element after the header.
            assert_eq!((entry.data + entry.size - 1) % 64, 0, "{entry:?}");
        }
    }
}

#[test]
fn odd_names_are_packed_and_extracted() {
    let mut experiment = small()
        .file(" leading and trailing ", "1")
        .file("Größe/日本語/🦀.txt", "2")
        .file("tab\t\"quote'$(x)`;|&", "5")
        .file("-o", "6")
        .file("...", "7")
        .file(".hidden/.more", "9")
        .file("e\u{301} and é", "10")
        .file("#hash: yaml", "11");
    experiment = experiment.file(&format!("{}/{}", "d".repeat(200), "f".repeat(255)), "long");
    let scratch = TempDir::new().unwrap();
    // The plain layout is last: a bag cannot hold names with line ends or `%`.
    for layout in ["bagit", "plain"] {
        if layout == "plain" {
            experiment = experiment
                .file("line\nend.txt", "3")
                .file("carriage\rreturn", "4")
                .file("100% %20.txt", "8");
        }
        let source = read_tree(experiment.path());
        for ending in ENDINGS {
            let name = format!("{layout}{ending}");
            let archive = pack(&experiment, scratch.path(), &name, &["--layout", layout]);
            // A control character in a name causes a warning.
            ra("verify", &[&archive], &[]).exits(0).says(&[": valid", "NAME008"]);
            let into = TempDir::new().unwrap();
            extract(&archive, into.path(), &[]).exits(0);
            let payload = if layout == "plain" { "" } else { "bagit/data" };
            let mut tree = read_tree(&into.path().join(payload));
            tree.retain(|name, _| name != "manifest.yaml" && name != "manifest-sha256.txt");
            assert!(tree == source, "{name}: {:?}", tree.keys());
            if layout == "plain" {
                crate::foreign::assert_sha256sum_passes(into.path(), "manifest-sha256.txt");
            }
        }
    }
}

#[test]
fn names_that_no_archive_may_hold_are_refused_together() {
    let experiment = small().file("back\\slash", "").file("C:/x", "");
    let ran = refused(&experiment, &[], 1);
    ran.says(&["NAME001", "back\\slash", "C:/x", "3 errors"]);
}

#[test]
fn empty_directories_are_kept() {
    let experiment = small().empty_directory("a/b/c").empty_directory("z");
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        let into = TempDir::new().unwrap();
        extract(&archive, into.path(), &[]).exits(0);
        let tree = read_tree(into.path());
        assert!(tree.contains_key("a/b/c/") && tree.contains_key("z/"), "{:?}", tree.keys());
    }
}

#[test]
fn an_empty_directory_is_a_pack_of_nothing() {
    let experiment = Experiment::new();
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        for layout in ["plain", "bagit"] {
            let name = format!("{layout}{ending}");
            let archive = pack(&experiment, scratch.path(), &name, &["--layout", layout]);
            ra("verify", &[&archive], &["--strict"]).exits(0).says(&[": valid"]);
        }
    }
}

#[test]
fn existing_files_are_not_changed_without_force() {
    let experiment = small();
    for taken in ["x.zip", "x.zip.manifest-sha256.txt", "x.zip.sha256"] {
        let scratch = TempDir::new().unwrap();
        fs::write(scratch.path().join(taken), "mine").unwrap();
        let archive = scratch.path().join("x.zip");
        let ran = create(experiment.path(), &archive, &["--archive-digest"]).exits(2);
        ran.says(&[taken, "--force"]);
        assert_eq!(names_in(scratch.path()), [taken]);
        assert_eq!(fs::read_to_string(scratch.path().join(taken)).unwrap(), "mine");
        create(experiment.path(), &archive, &["--archive-digest", "--force"]).exits(0);
        ra("verify", &[&archive], &["--strict"]).exits(0);
        assert_eq!(
            names_in(scratch.path()),
            ["x.zip", "x.zip.manifest-sha256.txt", "x.zip.sha256"]
        );
    }
}

#[test]
fn files_of_an_earlier_archive_never_remain_next_to_a_new_one() {
    let experiment = small();
    for (stale, options) in
        [("x.zip.sha256", &[][..]), ("x.zip.manifest-sha256.txt", &["--no-external-manifest"])]
    {
        let scratch = TempDir::new().unwrap();
        fs::write(scratch.path().join(stale), "mine").unwrap();
        let archive = scratch.path().join("x.zip");
        for force in [&[][..], &["--force"]] {
            let options = [options, force].concat();
            create(experiment.path(), &archive, &options).exits(2).says(&[stale, "earlier"]);
            assert_eq!(names_in(scratch.path()), [stale]);
            assert_eq!(fs::read_to_string(scratch.path().join(stale)).unwrap(), "mine");
        }
    }
}

#[test]
fn a_dangling_link_as_the_target_is_refused_too() {
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    std::os::unix::fs::symlink("nowhere", &archive).unwrap();
    create(small().path(), &archive, &[]).exits(2);
    assert_eq!(names_in(scratch.path()), ["x.zip"]);
}

#[test]
fn the_external_manifest_equals_the_one_inside_or_is_not_written() {
    let experiment = small();
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    let beside = fs::read(scratch.path().join("x.zip.manifest-sha256.txt")).unwrap();
    let inside = ra("get", &[&archive], &["manifest-sha256.txt"]).exits(0);
    assert_eq!(inside.out, beside);
    let expected = |name: &str| {
        let content = ra("get", &[&archive], &[name]).exits(0).out;
        format!("{}  {name}\n", sha256(&content))
    };
    let all: String = ["a.ra", "a.yaml", "manifest.yaml", "notes.txt"].map(expected).concat();
    assert_eq!(String::from_utf8(beside).unwrap(), all);

    let alone = TempDir::new().unwrap();
    let archive = pack(&experiment, alone.path(), "x.zip", &["--no-external-manifest"]);
    assert_eq!(names_in(alone.path()), ["x.zip"]);
    ra("verify", &[&archive], &["--strict"]).exits(0);
}

#[test]
fn the_digest_of_the_archive_is_that_of_its_bytes() {
    let experiment = Experiment::standard();
    for ending in ENDINGS {
        let scratch = TempDir::new().unwrap();
        let name = format!("x{ending}");
        let archive = scratch.path().join(&name);
        let ran = create(experiment.path(), &archive, &["--archive-digest", "--json"]).exits(0);
        let digest = sha256(&fs::read(&archive).unwrap());
        assert_eq!(ran.json()["archive_sha256"], digest);
        let line = fs::read_to_string(scratch.path().join(format!("{name}.sha256"))).unwrap();
        assert_eq!(line, format!("{digest}  {name}\n"));
        if installed(&["sha256sum"]) {
            let mut command = Command::new("sha256sum");
            command.args(["-c", "--strict", &format!("{name}.sha256")]);
            complaint(command.current_dir(scratch.path())).unwrap();
        }
    }
}

#[test]
fn an_archive_in_its_own_source_must_be_excluded() {
    let experiment = small();
    let archive = experiment.path().join("x.zip");
    let options = ["--archive-digest", "--strict", "--exclude", "x.zip*"];
    for some in [&options[..2], &["--exclude", "*.zip"]] {
        create(experiment.path(), &archive, some).exits(2).says(&["--exclude 'x.zip*'"]);
        assert_eq!(names_in(experiment.path()), ["a.ra", "a.yaml", "notes.txt"]);
    }
    let ran = create(experiment.path(), &archive, &options).exits(0);
    assert!(!ran.said().contains("unfinished"), "{}", ran.said());
    let first = fs::read(&archive).unwrap();
    let names: Vec<_> = zip_entries(&first).into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["a.ra", "a.yaml", "notes.txt", "manifest.yaml", "manifest-sha256.txt"]);
    create(experiment.path(), &archive, &[&options[..], &["--force"]].concat()).exits(0);
    assert_eq!(fs::read(&archive).unwrap(), first);
}

#[test]
fn leftovers_of_an_interrupted_run_are_reported_and_not_packed() {
    let experiment = small().file(".y.zip.abc.ra-pack-unfinished", "half");
    let scratch = TempDir::new().unwrap();
    fs::write(scratch.path().join(".x.zip.abc.ra-pack-unfinished"), "half").unwrap();
    let archive = scratch.path().join("x.zip");
    let ran = create(experiment.path(), &archive, &["--json"]).exits(0);
    let leftovers = ran.json()["leftovers"].to_string();
    assert!(leftovers.contains(".x.zip.abc.ra-pack-unfinished"), "{leftovers}");
    let said = ran.err;
    assert!(
        said.contains(".x.zip.abc.ra-pack-unfinished` was left by an interrupted run"),
        "{said}"
    );
    assert!(said.contains("warning[ARC011]") && said.contains(".y.zip.abc"), "{said}");
    assert!(
        zip_entries(&fs::read(archive).unwrap()).iter().all(|entry| !entry.name.contains(".y."))
    );
}

#[test]
fn links_are_refused_all_at_once_or_followed() {
    use std::os::unix::fs::symlink;
    let outside = small().file("deep/er.txt", "far");
    let experiment = small();
    symlink(outside.path().join("notes.txt"), experiment.path().join("l1.txt")).unwrap();
    symlink(outside.path().join("deep"), experiment.path().join("l2")).unwrap();
    symlink("nowhere", experiment.path().join("l3")).unwrap();
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    let ran = create(experiment.path(), &archive, &[]).exits(1);
    let ran = ran.says(&["NAME004", "l1.txt", "l2", "l3", "3 errors", "--dereference"]);
    assert_eq!(ran.said().matches("error[NAME004]").count(), 3);
    assert_eq!(names_in(scratch.path()), [""; 0]);

    create(experiment.path(), &archive, &["--dereference"])
        .exits(1)
        .says(&["l3", "leads to nothing"]);
    fs::remove_file(experiment.path().join("l3")).unwrap();
    create(experiment.path(), &archive, &["--dereference"]).exits(0);
    let deep = ra("get", &[&archive], &["l2/er.txt"]).exits(0);
    assert_eq!(deep.out, b"far");
    let names: Vec<_> =
        zip_entries(&fs::read(&archive).unwrap()).into_iter().map(|entry| entry.name).collect();
    assert!(names.contains(&"l1.txt".to_owned()), "{names:?}");

    symlink(".", experiment.path().join("loop")).unwrap();
    symlink("loop2", experiment.path().join("loop2")).unwrap();
    create(experiment.path(), &archive, &["--dereference", "--force"]).exits(1).says(&[
        "loop2",
        "to a directory that contains it",
        "2 errors in",
    ]);
    create(experiment.path(), &archive, &["--dereference", "--exclude", "loop*", "-f"]).exits(0);
    create(experiment.path(), &archive, &["--exclude", "l*", "--force"]).exits(0);
}

#[test]
fn a_pipe_is_refused_and_never_opened() {
    if !installed(&["mkfifo"]) {
        return;
    }
    let experiment = small();
    complaint(Command::new("mkfifo").arg(experiment.path().join("pipe.ra"))).unwrap();
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    for options in [&[][..], &["--dereference"]] {
        create(experiment.path(), &archive, options).exits(1).says(&["NAME005", "pipe.ra"]);
    }
    create(experiment.path(), &archive, &["--exclude", "pipe.ra"]).exits(0);
}

#[test]
fn excluded_files_are_not_packed() {
    let experiment = small()
        .file("run1/a.tmp", "")
        .file("run1/raw/deep/b", "")
        .file("run2/raw/c", "")
        .file("cache/d/e", "")
        .array("bad.ra", UINT8, &[1], &[0]);
    let kept = |excluded: &[&str]| {
        let scratch = TempDir::new().unwrap();
        let mut options = vec!["--exclude", "bad.ra"];
        options.extend(excluded.iter().flat_map(|pattern| ["--exclude", pattern]));
        let archive = pack(&experiment, scratch.path(), "x.zip", &options);
        let entries = zip_entries(&fs::read(archive).unwrap());
        let names = entries.into_iter().map(|entry| entry.name);
        names.filter(|name| name.contains('/')).collect::<Vec<_>>()
    };
    assert_eq!(kept(&[]), ["cache/d/e", "run1/a.tmp", "run1/raw/deep/b", "run2/raw/c"]);
    assert_eq!(kept(&["*.tmp"]), ["cache/d/e", "run1/raw/deep/b", "run2/raw/c"]);
    assert_eq!(kept(&["run1/raw"]), ["cache/d/e", "run1/a.tmp", "run2/raw/c"]);
    assert_eq!(kept(&["raw"]), ["cache/d/e", "run1/a.tmp", "run2/"]);
    assert_eq!(kept(&["cache/"]), ["run1/a.tmp", "run1/raw/deep/b", "run2/raw/c"]);
    assert_eq!(
        kept(&["**/deep/*", "run?/raw/c", "[c]ache"]),
        ["run1/a.tmp", "run1/raw/deep/", "run2/raw/"]
    );
    refused(&experiment, &["--exclude", "[", "--exclude", "bad.ra"], 2);
}

#[test]
fn a_manifest_in_the_source_is_checked() {
    let line = |name: &str, content: &str| format!("{}  {name}\n", sha256(content.as_bytes()));
    let right = line("notes.txt", "nothing wrong here\n");
    let scratch = TempDir::new().unwrap();
    let experiment = small().file("manifest-sha256.txt", &right);
    for (ending, layout) in [(".zip", "plain"), (".tar.gz", "plain"), (".tar", "bagit")] {
        let archive =
            pack(&experiment, scratch.path(), &format!("x{ending}"), &["--layout", layout]);
        ra("verify", &[&archive], &["--strict"]).exits(0);
    }

    let wrong = line("notes.txt", "something else");
    let missing = line("lost/file.txt", "");
    let text = format!("{wrong}{missing}{}not a line\n", line("manifest.yaml", "old"));
    let experiment = small().file("manifest-sha256.txt", text);
    let ran = refused(&experiment, &[], 1);
    let found = sha256(b"nothing wrong here\n");
    let expected = sha256(b"something else");
    ran.says(&["MAN003", "notes.txt", &found, &expected, "MAN004", "lost/file.txt", "MAN002"])
        .says(&["manifest-sha256.txt:4", "3 errors"]);

    // Excluded files do not count as missing.
    let experiment = small().file("manifest-sha256.txt", line("notes.txt", "other"));
    pack(&experiment, scratch.path(), "y.zip", &["--exclude", "notes.txt"]);
}

#[test]
fn a_hand_written_document_of_the_pack_is_kept_and_describes() {
    let text = "# mine\n/:\n  ndarrays:\n    b: {shape: [2],   type: uint8}\n/run1:\n  ndarrays:\n    c:\n      \
                shape: [1, 2]\n      type: int16\n";
    let experiment = Experiment::new()
        .array("b.ra", UINT8, &[2], &[1, 2])
        .array("run1/c.ra", INT16, &[1, 2], &[0; 4])
        .file("manifest.yaml", text);
    let scratch = TempDir::new().unwrap();
    for layout in ["plain", "bagit"] {
        let name = format!("{layout}.zip");
        let archive = pack(&experiment, scratch.path(), &name, &["--layout", layout]);
        let member = if layout == "plain" { "manifest.yaml" } else { "bagit/manifest.yaml" };
        assert_eq!(ra("get", &[&archive], &[member]).exits(0).out, text.as_bytes());
        ra("verify", &[&archive], &[]).exits(0);
    }
    // The document is checked like any other description.
    let experiment = experiment.file("manifest.yaml", text.replace("[2]", "[3]"));
    refused(&experiment, &[], 1).says(&["DESC004", "manifest.yaml:4:17", "b.ra", "[2]", "[3]"]);
}

#[test]
fn a_manifest_yaml_that_is_not_a_description_is_refused_with_a_next_step() {
    for text in ["just: a config\n", "[1, 2]\n", "- x\n", "a: [\n", ""] {
        let experiment = small().file("manifest.yaml", text);
        refused(&experiment, &[], 1).says(&["manifest.yaml", "error["]);
    }
    let experiment = small().file("manifest.yaml", "just: a config\n");
    refused(&experiment, &[], 1).says(&["rename"]);
}

#[test]
fn all_arrays_without_a_description_are_listed_with_a_next_step() {
    let experiment = small()
        .array("b.ra", UINT8, &[1], &[1])
        .array("run1/c.ra", FLOAT32, &[2], &[0; 8])
        .array("run1/d.ra", FLOAT32, &[], &[0; 4]);
    let ran = refused(&experiment, &[], 1);
    let ran = ran.says(&["b.ra", "run1/c.ra", "run1/d.ra", "3 errors"]);
    let ran = ran.says(&["ra-pack describe --write"]);
    assert_eq!(ran.said().matches("error[DESC001]").count(), 3);
}

#[test]
fn describe_adds_descriptions_to_the_archive_and_nothing_to_the_source() {
    let experiment = small().array("run1/c.ra", FLOAT32, &[2, 3], &[0; 24]).array(
        "d.with dots.ra",
        INT16,
        &[],
        &[1, 0],
    );
    let before = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    let ran = create(experiment.path(), &archive, &["--describe", "--json"]).exits(0);
    assert_eq!(ran.json()["described"].to_string(), r#"["d.with dots.yaml","run1/c.yaml"]"#);
    assert_eq!(read_tree(experiment.path()), before);
    let text = String::from_utf8(ra("get", &[&archive], &["run1/c.yaml"]).exits(0).out).unwrap();
    assert!(text.contains("[2, 3]") && text.contains("float32"), "{text}");
    ra("verify", &[&archive], &["--strict"]).exits(0);
    // The extracted files are packed without `--describe` and give the same archive.
    let into = TempDir::new().unwrap();
    extract(&archive, into.path(), &[]).exits(0);
    let again = scratch.path().join("again.zip");
    create(into.path(), &again, &[]).exits(0);
    assert_eq!(fs::read(again).unwrap(), fs::read(archive).unwrap());
}

#[test]
fn two_descriptions_of_one_array_are_refused() {
    let experiment = small().describe("a.yml", "[3]", "uint8");
    refused(&experiment, &[], 1).says(&["DESC002", "a.yaml", "a.yml", "remove one"]);
}

#[test]
fn a_yaml_file_without_an_array_is_an_ordinary_file() {
    let experiment = small().file("config.yaml", "{not: [ndl\n").file("run1/other.yml", "\u{1}");
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &["--strict"]);
    ra("verify", &[&archive], &["--strict"]).exits(0);
}

#[test]
fn every_mismatch_is_reported_in_one_run_with_place_expected_and_found() {
    let experiment = Experiment::new()
        .array("shape.ra", UINT8, &[3, 4], &[0; 12])
        .describe("shape.yaml", "[3, 5]", "uint8")
        .array("rank.ra", UINT8, &[3, 4], &[0; 12])
        .describe("rank.yaml", "[12]", "uint8")
        .array("reversed.ra", UINT8, &[3, 4], &[0; 12])
        .describe("reversed.yaml", "[4, 3]", "uint8")
        .array("kind.ra", FLOAT32, &[2], &[0; 8])
        .describe("kind.yaml", "[2]", "int32")
        .array("order.ra", INT16, &[2], &[0; 4])
        .file(
            "order.yaml",
            "ndarrays:\n  order:\n    shape: [2]\n    type: int16\n    storage: {endian: big}\n",
        )
        .array("coordinate.ra", UINT8, &[2], &[0; 2])
        .describe("coordinate.yaml", "[nowhere]", "uint8")
        .array("t.ra", UINT8, &[5], &[0; 5])
        .file("t.yaml", "dimcoords:\n  t: {type: uint8, size: 5}\n")
        .array("run1/user.ra", UINT8, &[2, 6], &[0; 12])
        .describe("run1/user.yaml", "[2, t]", "uint8")
        .array("syntax.ra", UINT8, &[1], &[0])
        .file("syntax.yaml", "ndarrays:\n  syntax: [\n")
        .file("header.ra", b"rawarray too short")
        .describe("header.yaml", "[1]", "uint8")
        .array("wrong.ra", UINT8, &[1], &[0])
        .file(
            "wrong.yaml",
            "ndarrays:\n  a: {shape: [1], type: uint8}\n  b: {shape: [1], type: uint8}\n",
        );
    let ran = refused(&experiment, &[], 1);
    for (code, place, words) in [
        ("DESC004", "shape.yaml:3:16", &["[3, 4]", "[3, 5]"][..]),
        ("DESC004", "rank.yaml:3:12", &["[3, 4]", "[12]"]),
        ("DESC004", "reversed.yaml:3:12", &["[3, 4]", "[4, 3]", "storage: {order: row}"]),
        ("DESC005", "kind.yaml:4:11", &["float32", "int32"]),
        ("DESC006", "order.yaml:5:", &["little", "big"]),
        ("DESC007", "coordinate.yaml:3:13", &["`nowhere`", "neither"]),
        ("DESC004", "run1/user.yaml:3:16", &["[2, 6]", "t (5)"]),
        ("NDL", "syntax.yaml:", &[]),
        ("RA001", "header.ra", &[]),
        ("DESC003", "wrong.yaml", &["`wrong`", "`a`, `b`"]),
    ] {
        let said = ran.said();
        let blocks: Vec<_> = said.split("\n\n").collect();
        let block = blocks.iter().find(|block| block.contains(place));
        let block = block.unwrap_or_else(|| panic!("nothing at {place}:\n{said}"));
        for word in [code].iter().chain(words) {
            assert!(block.contains(word), "no {word:?} in:\n{block}");
        }
        if !words.is_empty() {
            assert!(block.contains("expected") && block.contains("found"), "{block}");
        }
    }
    ran.says(&[" errors in `"]);
}

#[test]
fn users_of_one_coordinate_who_disagree_are_named() {
    // No file states the length of `x`, so its users are compared with each other.
    let document = "dimcoords:\n  x: {type: uint8, size: null}\nndarrays:\n  a: {shape: [x], type: \
                    uint8}\n  b: {shape: [x], type: uint8}\n";
    let experiment = Experiment::new()
        .array("a.ra", UINT8, &[2], &[0; 2])
        .array("b.ra", UINT8, &[3], &[0; 3])
        .file("manifest.yaml", document);
    refused(&experiment, &[], 1).says(&[
        "DESC008",
        "`/x`",
        "a.ra",
        "b.ra",
        "expected: 2, because `manifest.yaml:4:15` uses it",
        "found: 3, because `manifest.yaml:5:15` uses it",
    ]);
}

#[test]
fn strict_refuses_extensions_and_warnings() {
    let half = Experiment::new()
        .array("h.ra", crate::experiment::FLOAT16, &[1], &[0, 0])
        .describe("h.yaml", "[1]", "float16");
    let scratch = TempDir::new().unwrap();
    pack(&half, scratch.path(), "h.zip", &[]);
    refused(&half, &["--strict"], 1).says(&["float16", "h.yaml"]);
    let loose =
        Experiment::new().array("s.ra", UINT8, &[1], &[1]).describe("s.yaml", "[]", "uint8");
    create(loose.path(), &scratch.path().join("s.zip"), &[]).exits(0).says(&["warning[DESC009]"]);
    refused(&loose, &["--strict"], 1).says(&["error[DESC009]"]);
}

#[test]
fn json_reports_the_packed_files() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    let json = create(experiment.path(), &archive, &["--json"]).exits(0).json();
    assert_eq!(json["target"], archive.to_str().unwrap());
    assert_eq!((&json["container"], &json["layout"]), (&"zip".into(), &"plain".into()));
    let tree = read_tree(experiment.path());
    let files = tree.keys().filter(|name| !name.ends_with('/')).count();
    assert_eq!(json["files"], files + 2);
    assert_eq!(json["arrays"], tree.keys().filter(|name| is_array(name)).count());
    assert_eq!(json["archive_bytes"], fs::metadata(&archive).unwrap().len());
    let members: usize =
        zip_entries(&fs::read(&archive).unwrap()).iter().map(|entry| entry.size).sum();
    assert_eq!(json["bytes"], members);
    for (key, empty) in [("described", "[]"), ("leftovers", "[]"), ("findings", "[]")] {
        assert_eq!(json[key].to_string(), empty);
    }
    let external = json["external_manifest"].as_str().unwrap();
    assert!(Path::new(external).is_file());
}

#[test]
fn a_failed_command_exits_with_2() {
    let experiment = small();
    let scratch = TempDir::new().unwrap();
    let at = |name: &str| scratch.path().join(name);
    create(&at("no such directory"), &at("x.zip"), &[]).exits(2).says(&["no such directory"]);
    let file = experiment.path().join("notes.txt");
    create(&file, &at("x.zip"), &[]).exits(2).says(&["not a directory"]);
    create(experiment.path(), &at("x.rar"), &[]).exits(2).says(&[".tar.zst"]);
    create(experiment.path(), &at("zip"), &[]).exits(2);
    create(experiment.path(), &at("nowhere/x.zip"), &[]).exits(2).says(&["nowhere"]);
    create(experiment.path(), &at("x.zip"), &["--jobs", "0"]).exits(2);
    create(experiment.path(), &at("x.zip"), &["--no-such-option"]).exits(2);
    ra("create", &[experiment.path()], &[]).exits(2);
    let directory = scratch.path().join("d.zip");
    fs::create_dir(&directory).unwrap();
    create(experiment.path(), &directory, &[]).exits(2);
    create(experiment.path(), &directory, &["--force"]).exits(2).says(&["directory"]);
    assert_eq!(names_in(scratch.path()), ["d.zip"]);
}

#[test]
fn a_bag_is_not_packed_into_a_bag() {
    let experiment = small().file("bagit.txt", "BagIt-Version: 1.0\n");
    refused(&experiment, &[], 2).says(&["is a bag already"]);
}

#[test]
fn values_of_an_array_keep_their_bytes() {
    let values = le(f32::to_le_bytes, [f32::NAN, -0.0, f32::INFINITY, f32::MIN_POSITIVE]);
    let experiment = Experiment::new()
        .array("v.ra", FLOAT32, &[4], &values)
        .describe("v.yaml", "[4]", "float32");
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        let raw = ra("get", &[&archive], &["v.ra", "--format", "raw"]).exits(0);
        assert_eq!(raw.out, values);
    }
}

#[test]
fn a_manifest_with_another_algorithm_is_not_packed_with_a_warning() {
    let experiment = Experiment::standard().file("manifest-md5.txt", "0123  stale\n");
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    let ran = create(experiment.path(), &archive, &[]).exits(0);
    ran.says(&["ARC011", "manifest-md5.txt", "md5sum -c"]);
    ra("verify", &[&archive], &[]).exits(0);
}

#[test]
fn a_command_signs_the_manifest_and_no_stale_signature_remains() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    let signature = scratch.path().join("x.zip.manifest-sha256.txt.sig");
    // The path of the manifest is the last argument, with any characters.
    let sign = r#"--sign-with=sh -c 'sha256sum < "$1" > "$1.sig"' sign"#;
    create(experiment.path(), &archive, &[sign])
        .exits(0)
        .says(&["signature: ", "x.zip.manifest-sha256.txt.sig"]);
    let first = fs::read(&signature).unwrap();
    ra("verify", &[&archive], &[]).exits(0).says(&[
        "valid",
        "signature: ",
        "x.zip.manifest-sha256.txt.sig",
        "not checked",
    ]);

    let experiment = experiment.file("more.txt", "more");
    fs::remove_file(&archive).unwrap();
    fs::remove_file(scratch.path().join("x.zip.manifest-sha256.txt")).unwrap();
    create(experiment.path(), &archive, &[sign]).exits(2).says(&["x.zip.manifest-sha256.txt.sig"]);
    assert_eq!(fs::read(&signature).unwrap(), first, "it is removed only with --force");
    create(experiment.path(), &archive, &["--force"]).exits(0);
    assert!(!signature.exists(), "it would look like a signature of the new manifest");
    let report = create(experiment.path(), &archive, &["--force", "--json", sign]).exits(0).json();
    assert_eq!(report["signature"].as_str(), signature.to_str());
    assert_ne!(fs::read(&signature).unwrap(), first);
}

#[test]
fn an_archive_is_complete_if_signing_fails_and_the_exit_status_is_2() {
    let experiment = Experiment::standard();
    for (command, said) in [("false", "exit status"), ("true", "created none")] {
        let scratch = TempDir::new().unwrap();
        let archive = scratch.path().join("x.zip");
        create(experiment.path(), &archive, &["--sign-with", command])
            .exits(2)
            .says(&["the archive is complete, but lacks its signature", said]);
        ra("verify", &[&archive], &[]).exits(0);
    }
}

#[test]
fn names_that_are_not_portable_cause_warnings_or_errors_if_requested() {
    let names = ["aux.txt", "Twin.txt", "twin.txt", "e\u{301}.txt", "\u{e9}.txt", "blank "];
    let codes = ["NAME006", "NAME009", "NAME009", "NAME010", "NAME011"];
    let scratch = TempDir::new().unwrap();
    for layout in ["plain", "bagit"] {
        let mut experiment = Experiment::standard();
        // A bag always refuses names that are equal after normalization.
        let is_bag = layout == "bagit";
        for name in names.iter().filter(|name| !is_bag || **name != "\u{e9}.txt") {
            experiment = experiment.file(name, "x");
        }
        let codes: Vec<_> =
            codes.iter().copied().filter(|code| !is_bag || *code != "NAME010").collect();
        for ending in ENDINGS {
            let archive = scratch.path().join(format!("{layout}{ending}"));
            let options = ["--layout", layout];
            let portable = [&options[..], &["--portable"]].concat();
            let ran = create(experiment.path(), &archive, &portable).exits(1);
            for code in &codes {
                assert!(ran.err.contains(&format!("error[{code}]")), "{code}: {}", ran.err);
            }
            assert!(!archive.exists());
            let ran = create(experiment.path(), &archive, &[&options[..], &["--json"]].concat());
            let ran = ran.exits(0);
            let mut found: Vec<_> = ran.findings().into_iter().map(|(code, _)| code).collect();
            found.sort();
            assert_eq!(found, codes, "{layout} {ending}");
            // `verify` of the archive gives the same warnings.
            let mut verified: Vec<_> = ra("verify", &[&archive], &["--json"]).exits(0).findings();
            let mut found = ran.findings();
            verified.sort();
            found.sort();
            assert_eq!(found, verified, "{layout} {ending}");
        }
    }
}

#[test]
fn the_signature_of_an_older_manifest_is_not_packed() {
    let experiment = Experiment::standard()
        .file("manifest-sha256.txt.minisig", "of an older manifest")
        .file("deep/manifest-sha256.txt.minisig", "of another pack's");
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    create(experiment.path(), &archive, &[]).exits(0).says(&["the signature is not packed"]);
    ra("list", &[&archive, "*minisig".as_ref()], &[]).exits(0).says(&["deep/manifest-sha256"]);
    let unpacked = scratch.path().join("unpacked");
    extract(&archive, &unpacked, &[]).exits(0);
    assert!(!unpacked.join("manifest-sha256.txt.minisig").exists());
    // A signature made in the directory without ra-pack.
    fs::write(unpacked.join("manifest-sha256.txt.asc"), "a signature").unwrap();
    ra("verify", &[&unpacked], &[]).exits(0).says(&["signature: manifest-sha256.txt.asc"]);
}

#[test]
fn portable_names_pass_and_the_path_in_a_bag_counts() {
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    create(Experiment::standard().path(), &archive, &["--portable"]).exits(0);
    // 252 characters in the source, but in a bag `x/data/` precedes them.
    let name = ["d".repeat(126), "n".repeat(125)].join("/");
    let experiment = Experiment::new().file(&name, "x");
    create(experiment.path(), &archive, &["--portable", "--force"]).exits(0);
    let options = ["--portable", "--force", "--layout", "bagit"];
    create(experiment.path(), &archive, &options)
        .exits(1)
        .says(&["NAME009", "characters; many Windows programs"]);
}

#[test]
fn a_long_name_with_a_line_break_fits_every_container() {
    let name = format!("{}/a\nb", "long".repeat(30));
    let experiment = Experiment::new().file(&name, "x");
    let scratch = TempDir::new().unwrap();
    for archive in ["x.zip", "x.tar", "x.tar.gz", "x.tar.zst"] {
        let archive = pack(&experiment, scratch.path(), archive, &[]);
        ra("verify", &[&archive], &[]).exits(0);
    }
}

#[test]
fn the_magic_of_a_tar_in_the_first_file_of_a_zip_is_text() {
    const MAGIC: usize = 257;
    let name = "0.txt";
    let text = |at: usize| {
        let mut text = vec![b'x'; 1000];
        text[at..at + 5].copy_from_slice(b"ustar");
        Experiment::new().file(name, text)
    };
    let scratch = TempDir::new().unwrap();
    let before = fs::read(pack(&text(0), scratch.path(), "x.zip", &[])).unwrap();
    let start = before.windows(5).position(|part| part == b"ustar").unwrap();
    let archive = pack(&text(MAGIC - start), scratch.path(), "y.zip", &[]);
    assert_eq!(fs::read(&archive).unwrap()[MAGIC..MAGIC + 5], *b"ustar");
    ra("verify", &[&archive], &[]).exits(0);
    extract(&archive, &scratch.path().join("out"), &[]).exits(0);
    // Without the extension, it is recognized by its content.
    let other = scratch.path().join("y");
    fs::copy(&archive, &other).unwrap();
    ra("list", &[&other], &["--names"]).exits(0).says(&[name]);
}

#[test]
fn standard_output_gets_the_bytes_of_a_file() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    for container in ["zip", "tar", "tar.gz", "tar.zst"] {
        let file = scratch.path().join(format!("pack.{container}"));
        create(experiment.path(), &file, &["--layout", "bagit"]).exits(0);
        let (manifest, temporary) = (scratch.path().join("m.txt"), scratch.path().join("tmp"));
        fs::create_dir_all(&temporary).unwrap();
        let output = ra_pack()
            .env("TMPDIR", &temporary)
            .args(["create", "-o", "-", "--layout", "bagit", "--force"])
            .args(["--container", container, "--manifest"])
            .args([&manifest, experiment.path()])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == fs::read(&file).unwrap(), "{container}");
        let beside = scratch.path().join(format!("pack.{container}.manifest-sha256.txt"));
        assert_eq!(fs::read(&manifest).unwrap(), fs::read(beside).unwrap());
        assert_eq!(names_in(&temporary), [""; 0], "nothing remains");
    }
    let refused = |args: &[&str], why: &str| {
        let source = experiment.path().display().to_string();
        let output = ra_pack().args(["create", &source, "-o", "-"]).args(args).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(why), "{said}");
        assert!(output.stdout.is_empty());
    };
    refused(&[], "give --container");
    refused(&["--container", "zip", "--json"], "both use standard output");
    refused(&["--container", "zip", "--archive-digest"], "next to the archive");
    refused(&["--container", "zip", "--sign-with", "true"], "give --manifest");
    refused(&["--container", "zip", "--manifest", "m", "--no-external-manifest"], "cannot be used");
}

#[cfg(unix)]
#[test]
fn a_reader_of_a_pipe_that_ends_early_is_a_failure() {
    let source = Experiment::new().file("long.bin", "x".repeat(1 << 20));
    let source = source.path().display().to_string();
    run_into_closed_pipe(["create", &source, "-o", "-", "--container", "tar"])
        .exits(2)
        .says(&["cannot write to standard output: its reader ended"]);
}

#[test]
fn the_external_manifest_can_be_elsewhere() {
    let experiment = small();
    let scratch = TempDir::new().unwrap();
    let (archive, manifest) = (scratch.path().join("x.zip"), scratch.path().join("m.txt"));
    let text = manifest.display().to_string();
    create(experiment.path(), &archive, &["--manifest", &text]).exits(0).says(&["m.txt"]);
    assert_eq!(names_in(scratch.path()), ["m.txt", "x.zip"]);
    crate::run::run(["verify", &archive.display().to_string(), "--manifest", &text]).exits(0);
    // It is not replaced without being asked, and not packed by the next run.
    let other = scratch.path().join("y.zip");
    create(experiment.path(), &other, &["--manifest", &text]).exits(2).says(&["m.txt", "exists"]);
    assert!(!other.exists());
    let inside = experiment.path().join("m.txt").display().to_string();
    create(experiment.path(), &other, &["--manifest", &inside]).exits(2).says(&["would be inside"]);
    // A manifest that is next to the archive would belong to another one.
    create(experiment.path(), &archive, &["--force"]).exits(0);
    fs::remove_file(&archive).unwrap();
    let elsewhere = scratch.path().join("n.txt").display().to_string();
    create(experiment.path(), &archive, &["--manifest", &elsewhere])
        .exits(2)
        .says(&["belongs to an earlier archive", "--force without --manifest"]);
}
