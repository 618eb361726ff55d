//! `ra-pack extract`: packed files are extracted, and nothing is written outside the target.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use crate::bytes::{Part, link, part, tar, with_manifest, zip};
use crate::experiment::{Experiment, ra_pack, read_tree};
use crate::run::{ENDINGS, create, extract, names_in, pack, ra, run_as};

/// Name of the file that a hostile archive tries to write.
const EVIL: &str = "evil";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the same members in each kind of container.
fn containers(parts: &[Part]) -> [(&'static str, Vec<u8>); 3] {
    [("x.zip", zip(parts)), ("x.tar", tar(parts)), ("x.tar.gz", gzip(&tar(parts)))]
}

#[test]
fn a_file_that_the_manifest_does_not_list_is_written_and_reported() {
    let mut parts = with_manifest(vec![part("a.txt", "a"), part("d/b.txt", "b")]);
    parts.push(part("d/new.txt", "who knows"));
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in containers(&parts) {
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        let into = scratch.path().join(format!("{name}-out"));
        let ran = extract(&archive, &into, &["--json"]).exits(1);
        assert_eq!(ran.findings(), [("MAN005".to_owned(), "d/new.txt".to_owned())], "{name}");
        assert_eq!(fs::read(into.join("d/new.txt")).unwrap(), b"who knows");
        let part = scratch.path().join(format!("{name}-part"));
        ra("extract", &[&archive, Path::new("d/b.txt"), Path::new("-C"), &part], &[]).exits(0);
    }
}

#[test]
#[ignore = "slow"]
fn a_damaged_archive_replaces_only_files_that_a_manifest_confirms() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    let (good, target) = (scratch.path().join("good"), scratch.path().join("target"));
    for ending in [".tar", ".tar.gz", ".tar.zst", ".zip"] {
        let name = format!("x{ending}");
        let archive = pack(&experiment, scratch.path(), &name, &["--no-external-manifest"]);
        let sound = fs::read(&archive).unwrap();
        for path in [&good, &target] {
            extract(&archive, path, &["--force"]).exits(0);
        }
        let intact = read_tree(&good);
        let options = ra_pack::write::ExtractOptions {
            force: true,
            ..ra_pack::write::ExtractOptions::default()
        };
        for at in (0..sound.len()).step_by(sound.len() / 60) {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x10;
            fs::write(&archive, damaged).unwrap();
            let _ = ra_pack::extract(&archive, &target, &options);
            let found = read_tree(&target);
            let replaced: Vec<_> =
                intact.iter().filter(|(name, bytes)| found.get(*name) != Some(*bytes)).collect();
            // A manifest confirms other files; nothing confirms it.
            let is_other = |name: &str| name != "manifest-sha256.txt";
            let replaced: Vec<_> = replaced.iter().filter(|(name, _)| is_other(name)).collect();
            assert!(replaced.is_empty(), "{ending} at {at}: {:?}", replaced[0].0);
        }
    }
}

#[test]
fn an_unlisted_member_replaces_no_file() {
    let mut parts = with_manifest(vec![part("a.txt", "a")]);
    parts.push(part("new.txt", "who knows"));
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in containers(&parts) {
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        let into = scratch.path().join(format!("{name}-out"));
        fs::create_dir(&into).unwrap();
        fs::write(into.join("new.txt"), "mine").unwrap();
        fs::write(into.join("a.txt"), "old").unwrap();
        extract(&archive, &into, &["--force"]).exits(1).says(&["new.txt", "was not replaced"]);
        assert_eq!(fs::read(into.join("new.txt")).unwrap(), b"mine", "{name}");
        assert_eq!(fs::read(into.join("a.txt")).unwrap(), b"a", "{name}");
    }
}

#[test]
fn packed_files_are_extracted_from_every_container() {
    let experiment = Experiment::standard();
    let source = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        for jobs in ["1", "3"] {
            let name = format!("{jobs}{ending}");
            let archive = pack(&experiment, scratch.path(), &name, &["--jobs", jobs]);
            let into = scratch.path().join(format!("{name}-out/deep/er"));
            let json = extract(&archive, &into, &["--jobs", jobs, "--json"]).exits(0).json();
            let mut tree = read_tree(&into);
            assert!(tree.remove("manifest.yaml").is_some());
            let manifest = tree.remove("manifest-sha256.txt").unwrap();
            assert_eq!(tree, source, "{ending}");
            crate::foreign::assert_sha256sum_passes(&into, "manifest-sha256.txt");
            let listed = String::from_utf8(manifest).unwrap().lines().count();
            assert_eq!(json["verified"], listed, "{ending}");
            assert_eq!(json["files"], listed + 1);
            assert_eq!(json["findings"].to_string(), "[]");
            let bytes = read_tree(&into).values().map(Vec::len).sum::<usize>();
            assert_eq!(json["bytes"], bytes);
            // Packing the files again gives the same archive.
            let again = scratch.path().join(format!("again-{name}"));
            create(&into, &again, &[]).exits(0);
            assert!(fs::read(again).unwrap() == fs::read(archive).unwrap(), "{ending}");
        }
    }
}

#[test]
fn the_payload_of_a_bag_is_checked_against_its_manifest_too() {
    let experiment = Experiment::standard();
    let files = read_tree(experiment.path()).keys().filter(|name| !name.ends_with('/')).count();
    for ending in ENDINGS {
        for external in [&[][..], &["--no-external-manifest"]] {
            let scratch = TempDir::new().unwrap();
            let options = [&["--layout", "bagit"], external].concat();
            let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &options);
            let into = TempDir::new().unwrap();
            let json = extract(&archive, into.path(), &["--json"]).exits(0).json();
            let verified = json["verified"].as_u64().unwrap();
            assert!(verified >= u64::try_from(files).unwrap(), "{ending} {external:?}: {json}");
        }
    }
}

#[test]
fn patterns_choose_members() {
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&Experiment::standard(), scratch.path(), &format!("x{ending}"), &[]);
        let into = TempDir::new().unwrap();
        extract(&archive, into.path(), &["run1/*.ra", "time.yaml"]).exits(0);
        let names: Vec<_> = read_tree(into.path()).into_keys().collect();
        let arrays =
            ["depth", "gain", "image", "temperature"].map(|stem| format!("run1/{stem}.ra"));
        assert_eq!(names, [&arrays[..], &["time.yaml".to_owned()]].concat(), "{ending}");
        let into = TempDir::new().unwrap();
        extract(&archive, into.path(), &["nothing like it"])
            .exits(2)
            .says(&["no member of", "matches `nothing like it`"]);
        assert_eq!(names_in(into.path()), [""; 0]);
    }
}

#[test]
fn an_existing_file_is_refused_before_anything_is_written() {
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&Experiment::standard(), scratch.path(), &format!("x{ending}"), &[]);
        let into = Experiment::new().file("run2/quality.yaml", "mine").file("other.txt", "mine");
        let before = read_tree(into.path());
        let ran = extract(&archive, into.path(), &[]).exits(2);
        ran.says(&["run2/quality.yaml", "--force"]);
        assert_eq!(read_tree(into.path()), before, "{ending}");
        // Members that are not extracted do not matter.
        extract(&archive, into.path(), &["run1"]).exits(0);
        let into = Experiment::new().file("run2/quality.yaml", "mine").file("other.txt", "mine");
        extract(&archive, into.path(), &["--force"]).exits(0);
        let tree = read_tree(into.path());
        assert_ne!(tree["run2/quality.yaml"], b"mine");
        assert_eq!(tree["other.txt"], b"mine");
        assert!(tree.contains_key("time.ra"));
    }
}

#[test]
fn an_existing_directory_with_the_name_of_a_file_is_refused() {
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&Experiment::standard(), scratch.path(), &format!("x{ending}"), &[]);
        let into = Experiment::new().file("time.ra/mine.txt", "mine");
        for options in [&[][..], &["--force"]] {
            extract(&archive, into.path(), options).exits(2).says(&["time.ra"]);
        }
        assert_eq!(fs::read(into.path().join("time.ra/mine.txt")).unwrap(), b"mine");
        // A file with the name of a directory.
        let into = Experiment::new().file("run1", "mine");
        for options in [&[][..], &["--force"]] {
            extract(&archive, into.path(), options).exits(2).says(&["run1"]);
        }
        assert_eq!(fs::read(into.path().join("run1")).unwrap(), b"mine");
    }
}

#[test]
fn a_link_in_the_target_is_never_followed() {
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let archive = pack(&Experiment::standard(), scratch.path(), &format!("x{ending}"), &[]);
        for options in [&[][..], &["--force"]] {
            let outside = Experiment::new().file("kept.txt", "mine");
            let before = read_tree(outside.path());
            let into = TempDir::new().unwrap();
            symlink(outside.path(), into.path().join("run1")).unwrap();
            extract(&archive, into.path(), options).exits(2).says(&["run1"]);
            assert_eq!(read_tree(outside.path()), before, "{ending}");

            let into = TempDir::new().unwrap();
            symlink(outside.path(), into.path().join("run2")).unwrap();
            extract(&archive, into.path(), &[options, &["run2/nothing yet"]].concat());
            assert_eq!(read_tree(outside.path()), before, "{ending}");

            let into = TempDir::new().unwrap();
            symlink(outside.path().join("kept.txt"), into.path().join("README.txt")).unwrap();
            symlink(outside.path().join("new.txt"), into.path().join("time.yaml")).unwrap();
            let ran = extract(&archive, into.path(), options);
            assert_eq!(read_tree(outside.path()), before, "{ending}");
            if options.is_empty() {
                ran.exits(2);
            } else {
                ran.exits(0);
                let metadata = fs::symlink_metadata(into.path().join("README.txt")).unwrap();
                assert!(metadata.is_file(), "the link itself was replaced");
            }
        }
    }
}

#[test]
fn the_target_itself_may_be_a_link() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let into = TempDir::new().unwrap();
    let link = scratch.path().join("link");
    symlink(into.path(), &link).unwrap();
    extract(&archive, &link, &[]).exits(0);
    assert!(into.path().join("run1/temperature.ra").is_file());
}

#[test]
fn hostile_names_and_links_write_nothing_outside_of_the_target() {
    let root = TempDir::new().unwrap();
    let outside = root.path().join("outside");
    let absolute = outside.join("absolute").into_os_string().into_string().unwrap();
    let hostile: Vec<Vec<Part>> = vec![
        vec![part("../outside/up", EVIL)],
        vec![part("a/../../outside/up", EVIL)],
        vec![part("run1/../../outside/up", EVIL)],
        vec![part("./../outside/up", EVIL)],
        vec![part("..", EVIL)],
        vec![part("../", EVIL)],
        vec![part(&absolute, EVIL)],
        vec![part(&format!("/{absolute}"), EVIL)],
        vec![part(&format!("./{absolute}"), EVIL)],
        vec![part("..\\outside\\up", EVIL)],
        vec![part("C:\\evil", EVIL)],
        vec![part("C:evil", EVIL)],
        vec![part("a/./b", EVIL)],
        vec![part("a//b", EVIL)],
        vec![part("nul\0.txt", EVIL)],
        vec![link("l", outside.to_str().unwrap()), part("l/through", EVIL)],
        vec![link("l", "../outside"), part("l/through", EVIL)],
        vec![link("l", outside.join("through").to_str().unwrap()), part("l", EVIL)],
        vec![Part { kind: b'1', ..link("hard", "../outside/kept.txt") }, part("hard", EVIL)],
        vec![Part { kind: b'3', ..part("device", "") }],
        vec![Part { kind: b'6', ..part("pipe", "") }],
    ];
    for parts in hostile {
        let names: Vec<_> = parts.iter().map(|part| part.name.clone()).collect();
        let all = [vec![part("first.txt", "1")], parts, vec![part("last.txt", "2")]].concat();
        for (name, bytes) in containers(&with_manifest(all)) {
            fs::create_dir(&outside).unwrap();
            fs::write(outside.join("kept.txt"), "mine").unwrap();
            let archive = root.path().join(name);
            fs::write(&archive, bytes).unwrap();
            let into = root.path().join("into");
            for options in [&[][..], &["--force"]] {
                let ran = extract(&archive, &into, options);
                let is_file =
                    name == "x.zip" && names.iter().any(|name| name == "device" || name == "pipe");
                if !is_file && options.is_empty() {
                    assert!(matches!(ran.code, Some(1 | 2)), "{names:?} {name}: {}", ran.said());
                }
                assert!(!ran.said().contains("panicked"), "{}", ran.said());
                assert_eq!(names_in(&outside), ["kept.txt"], "{names:?} in {name}");
                assert_eq!(fs::read(outside.join("kept.txt")).unwrap(), b"mine");
                // The target does not exist if the whole archive is refused.
                fs::create_dir_all(&into).unwrap();
                let there = names_in(root.path());
                assert_eq!(there, ["into", "outside", name], "{names:?} in {name}");
                for (name, _) in read_tree(&into) {
                    assert!(!name.contains("unfinished"), "{name}");
                    let metadata = fs::symlink_metadata(into.join(&name)).unwrap();
                    assert!(metadata.is_file() || metadata.is_dir(), "{name}");
                }
            }
            fs::remove_dir_all(&into).unwrap();
            fs::remove_dir_all(&outside).unwrap();
            fs::remove_file(&archive).unwrap();
        }
    }
}

#[test]
fn other_members_of_a_hostile_archive_are_unpacked() {
    let parts = with_manifest(vec![part("a.txt", "1"), part("../b", "2"), part("c.txt", "3")]);
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in containers(&parts) {
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        let into = TempDir::new().unwrap();
        extract(&archive, into.path(), &[]).exits(1).says(&["NAME001", "../b"]);
        assert_eq!(names_in(into.path()), ["a.txt", "c.txt", "manifest-sha256.txt"], "{name}");
    }
}

#[test]
fn a_repeated_name_is_reported() {
    let parts = with_manifest(vec![part("a.txt", "1"), part("a.txt", "2"), part("b.txt", "3")]);
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in containers(&parts) {
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        for options in [&[][..], &["--force"]] {
            let into = TempDir::new().unwrap();
            let ran = extract(&archive, into.path(), options);
            assert!(matches!(ran.code, Some(1 | 2)), "{name}: {}", ran.said());
        }
    }
}

#[test]
fn only_a_damaged_member_is_removed_from_disk() {
    let mut parts = with_manifest(vec![
        part("a/a.txt", "whole"),
        part("a/b.txt", "wrong"),
        part("c.txt", "whole"),
    ]);
    parts[1].data = b"false".to_vec();
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in containers(&parts) {
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        let into = TempDir::new().unwrap();
        let ran = extract(&archive, into.path(), &["--json"]).exits(1);
        assert_eq!(ran.findings(), [("MAN003".to_owned(), "a/b.txt".to_owned())]);
        let json = ran.json();
        assert_eq!((&json["files"], &json["verified"]), (&3.into(), &2.into()), "{name}");
        let names: Vec<_> = read_tree(into.path()).into_keys().collect();
        assert_eq!(names, ["a/a.txt", "c.txt", "manifest-sha256.txt"], "{name}");
        // Also if the pattern does not match the manifest.
        let into = TempDir::new().unwrap();
        let ran = extract(&archive, into.path(), &["a"]);
        if name != "x.tar.gz" {
            ran.exits(1);
            let names: Vec<_> = read_tree(into.path()).into_keys().collect();
            assert_eq!(names, ["a/a.txt"], "{name}");
        }
    }
    // Damage that the checksum of the zip detects.
    let mut bytes = zip(&with_manifest(vec![part("a.txt", "whole"), part("b.txt", "wrong")]));
    let at = bytes.windows(5).position(|window| window == b"wrong").unwrap();
    bytes[at] ^= 1;
    let archive = scratch.path().join("crc.zip");
    fs::write(&archive, bytes).unwrap();
    let into = TempDir::new().unwrap();
    extract(&archive, into.path(), &[]).exits(1).says(&["ARC006", "b.txt"]);
    assert_eq!(names_in(into.path()), ["a.txt", "manifest-sha256.txt"]);
}

#[test]
fn complete_members_of_a_truncated_stream_are_extracted_with_an_error() {
    let numbers = (0..50_000_u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes());
    let experiment =
        Experiment::new().file("a.txt", "first").file("b.bin", numbers.collect::<Vec<u8>>());
    let scratch = TempDir::new().unwrap();
    for ending in [".tar.gz", ".tar.zst", ".tar"] {
        let archive =
            pack(&experiment, scratch.path(), &format!("x{ending}"), &["--no-external-manifest"]);
        let bytes = fs::read(&archive).unwrap();
        fs::write(&archive, &bytes[..bytes.len() / 2]).unwrap();
        let into = TempDir::new().unwrap();
        let ran = extract(&archive, into.path(), &[]);
        assert_eq!(ran.code, Some(1), "{ending}: {}", ran.said());
        assert!(names_in(into.path()).iter().all(|name| name == "a.txt"), "{ending}");
    }
}

#[test]
fn max_size_limits_the_written_bytes() {
    let experiment = Experiment::new().file("zeros", vec![0; 1 << 20]).file("a", vec![1; 1000]);
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        let method = if ending == ".zip" { "deflate" } else { "stored" };
        let name = format!("x{ending}");
        let archive = pack(&experiment, scratch.path(), &name, &["--compression", method]);
        for limit in ["0", "999", "100K", "1M"] {
            let into = TempDir::new().unwrap();
            extract(&archive, into.path(), &["--max-size", limit]).exits(2).says(&["--max-size"]);
            let tree = read_tree(into.path());
            let written: usize = tree.values().map(Vec::len).sum();
            assert!(written <= 1 << 20, "{written}");
            assert!(tree.keys().all(|name| !name.contains("unfinished")), "{:?}", tree.keys());
        }
        let into = TempDir::new().unwrap();
        extract(&archive, into.path(), &["--max-size", "2M"]).exits(0);
    }
    for wrong in ["", "x", "1X", "-1", "99999999999T"] {
        extract(Path::new("x"), scratch.path(), &[&format!("--max-size={wrong}")]).exits(2);
    }
}

#[test]
fn an_archive_without_a_manifest_is_unpacked_with_a_warning() {
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in containers(&[part("a.txt", "1")]) {
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        let into = TempDir::new().unwrap();
        extract(&archive, into.path(), &[])
            .exits(0)
            .says(&["warning[MAN001]", "not verified: no manifest"]);
        assert_eq!(names_in(into.path()), ["a.txt"]);
    }
}

#[test]
fn a_failed_command_exits_with_2_and_a_damaged_archive_with_1() {
    let scratch = TempDir::new().unwrap();
    let into = scratch.path().join("into");
    extract(&scratch.path().join("none.zip"), &into, &[]).exits(2).says(&["none.zip"]);
    let text = scratch.path().join("text.zip");
    fs::write(&text, "hello").unwrap();
    extract(&text, &into, &[]).exits(1).says(&["ARC001"]);
    assert!(!into.exists());
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    extract(&archive, &text, &[]).exits(2).says(&["text.zip"]);
    assert_eq!(fs::read_to_string(text).unwrap(), "hello");
    ra("extract", &[], &[]).exits(2);
}

#[test]
fn files_have_ordinary_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let into = TempDir::new().unwrap();
    extract(&archive, into.path(), &[]).exits(0);
    let plain = scratch.path().join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&into.path().join("time.ra")), mode(&plain));
    assert_eq!(mode(&archive), mode(&plain));
    assert_eq!(mode(&scratch.path().join("x.zip.manifest-sha256.txt")), mode(&plain));
}

/// A local attacker who owns a directory in the target replaces it by a link, again and again.
#[test]
#[ignore = "slow"]
fn a_directory_replaced_by_a_link_during_extraction_is_not_followed() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let experiment = (0..400).fold(Experiment::new(), |experiment, index| {
        experiment.file(&format!("d/e/{index}.txt"), format!("content {index}"))
    });
    let scratch = TempDir::new().unwrap();
    let mut swapped = 0;
    for ending in [".zip", ".tar.gz"] {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        let outside = TempDir::new().unwrap();
        fs::create_dir(outside.path().join("e")).unwrap();
        let before = read_tree(outside.path());
        let into = TempDir::new().unwrap();
        let (there, aside) = (into.path().join("d"), into.path().join("aside"));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let attacker = scope.spawn(|| {
                let mut swapped = 0;
                while !done.load(Ordering::Relaxed) {
                    if fs::rename(&there, &aside).is_ok() && symlink(outside.path(), &there).is_ok()
                    {
                        swapped += 1;
                        let _ = fs::remove_file(&there);
                    }
                    // The directory may exist again.
                    if fs::rename(&aside, &there).is_err() {
                        let _ = fs::remove_dir_all(&aside);
                    }
                }
                swapped
            });
            for _ in 0..15 {
                let ran = extract(&archive, into.path(), &["--force", "-j", "2"]);
                assert!(matches!(ran.code, Some(0..=2)), "{}", ran.said());
                assert!(!ran.said().contains("panicked"), "{}", ran.said());
            }
            done.store(true, Ordering::Relaxed);
            swapped += attacker.join().unwrap();
        });
        assert_eq!(read_tree(outside.path()), before, "{ending}: something was written outside");
    }
    assert!(swapped > 20, "{swapped}");
}

#[test]
fn files_missing_from_the_archive_are_reported() {
    let parts: Vec<_> =
        with_manifest(vec![part("a.txt", "1"), part("b.txt", "2"), part("c.txt", "3")])
            .into_iter()
            .filter(|part| part.name != "b.txt")
            .collect();
    let scratch = TempDir::new().unwrap();
    for (name, bytes) in containers(&parts) {
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        let into = TempDir::new().unwrap();
        let ran = extract(&archive, into.path(), &["--json"]).exits(1);
        assert_eq!(ran.findings(), [("MAN004".to_owned(), "b.txt".to_owned())], "{name}");
        assert_eq!(names_in(into.path()), ["a.txt", "c.txt", "manifest-sha256.txt"]);
        // With patterns, missing files are not reported.
        let into = TempDir::new().unwrap();
        extract(&archive, into.path(), &["a.txt"]).exits(0);
    }
}

#[test]
fn no_dangerous_mode_is_restored() {
    use std::os::unix::fs::PermissionsExt;
    let mut zip = crate::raw_zip::Zip::default();
    let mut entry = crate::raw_zip::Entry::stored("run.sh", b"#!/bin/sh\n");
    entry.external = 0o104_777 << 16;
    zip.entries.push(entry);
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("x.zip");
    fs::write(&archive, zip.to_bytes()).unwrap();
    let into = TempDir::new().unwrap();
    extract(&archive, into.path(), &[]).exits(0);
    let mode = fs::metadata(into.path().join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7111, 0, "{mode:o}");
}

#[test]
fn an_archive_is_unpacked_into_a_directory_named_after_it() {
    let experiment = Experiment::standard();
    let source = read_tree(experiment.path());
    for (ending, options) in [
        (".zip", &[][..]),
        (".tar.gz", &[]),
        (".tgz", &[]),
        (".tar.zst", &[]),
        (".zip", &["--layout", "bagit"]),
    ] {
        let scratch = TempDir::new().unwrap();
        let name = format!("exp.v2{ending}");
        let archive = pack(&experiment, scratch.path(), &name, options);
        let here = || {
            let mut command = ra_pack();
            command.current_dir(scratch.path()).arg("extract").arg(&archive);
            command
        };
        run_as(&mut here()).exits(0);
        let top = scratch.path().join("exp.v2");
        // A bag already has a directory of that name.
        let payload = if options.is_empty() { top } else { top.join("data") };
        let unpacked = read_tree(&payload);
        let files = source.iter().filter(|(name, _)| !name.ends_with('/'));
        for (name, content) in files {
            assert_eq!(unpacked.get(name), Some(content), "{ending}: {name}");
        }
        assert_eq!(names_in(scratch.path()).len(), 3, "{:?}", names_in(scratch.path()));
        // Existing files stay.
        run_as(&mut here()).exits(2).says(&["exp.v2"]);
        for option in ["-d", "-o", "--output", "-C", "--directory"] {
            let to = scratch.path().join(format!("to{option}"));
            run_as(here().arg(option).arg(&to)).exits(0);
            assert!(!read_tree(&to).is_empty());
        }
    }
    // An archive without an extension has no name for a directory.
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "exp.zip", &[]);
    let nameless = scratch.path().join("pack");
    fs::rename(archive, &nameless).unwrap();
    ra("extract", &[&nameless], &[]).exits(2).says(&["no extension", "-C DIR"]);
    ra("extract", &[experiment.path()], &[]).exits(2).says(&["is a directory"]);
}
