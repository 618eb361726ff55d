//! `ra-pack add` and `PackWriter::update`: changing an archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ndarray::array;
use ra_pack::verify::VerifyOptions;
use ra_pack::write::Layout;
use ra_pack::{Error, Pack, PackWriter, WriteOptions, verify};
use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT32, UINT8, le, ra_pack, read_tree};
use crate::foreign::complaint;
use crate::run::{Ran, create, extract, names_in, pack, ra};
use crate::skips::skip;

/// Runs `ra-pack add ARCHIVE -C SOURCE OPTION…`.
fn add(archive: &Path, source: &Path, options: &[&str]) -> Ran {
    ra("add", &[archive, Path::new("-C"), source], options)
}

/// Kinds of archives, and the options that create them.
const KINDS: [(&str, &[&str]); 12] = [
    ("a.zip", &[]),
    ("a.tar", &[]),
    ("a.tar.gz", &[]),
    ("a.tar.zst", &[]),
    ("bag.zip", &["--layout", "bagit", "--bag-info", "Contact-Name=A. Scientist"]),
    ("bag.tar", &["--layout", "bagit", "--digest", "sha256,sha512"]),
    ("b.zip", &["--no-external-manifest", "--archive-digest"]),
    ("blocks.zip", &["--block-digests=64K"]),
    ("blocks.tar.zst", &["--block-digests=64K"]),
    ("blocks-bag.tar", &["--block-digests=64K", "--layout", "bagit"]),
    ("crate.zip", &CRATE),
    ("crate.tar.gz", &CRATE),
];

/// The options for an RO-Crate.
const CRATE: [&str; 9] = [
    "--ro-crate",
    "--attribute",
    "title=a",
    "--attribute",
    "summary=b",
    "--attribute",
    "license=MIT",
    "--attribute",
    "date_issued=2024-01-01",
];

#[test]
fn an_updated_archive_has_the_members_of_one_created_from_the_same_files() {
    // A large member is copied from file to file.
    let big: Vec<u8> = (0..=250).cycle().take(700_000).collect();
    let source = Experiment::standard().file("run2/nothing yet/now.txt", "").file("big.bin", &big);
    let changes = Experiment::new()
        .array("run1/gain.ra", UINT8, &[2], b"hi")
        .describe("run1/gain.yaml", "[2]", "uint8")
        .array("run3/new.ra", FLOAT32, &[2, 5], &le(f32::to_le_bytes, (0..10_u8).map(f32::from)))
        .describe("run3/new.yaml", "[2, /time]", "float32")
        .file("run3/large.bin", &big[1..])
        .file("A first.txt", "first")
        .empty_directory("run4/empty");
    for (name, options) in KINDS {
        let scratch = TempDir::new().unwrap();
        let home = |part: &str| {
            let home = scratch.path().join(part);
            fs::create_dir(&home).unwrap();
            home
        };
        let (one, other, next) = (home("one"), home("other"), home("next"));
        let archive = pack(&source, &one, name, options);
        let removed = ["--remove", "run2/half.ra", "--remove", "run1/deep"];
        let options_of_add = [&removed[..], &["--force", "."]].concat();
        add(&archive, changes.path(), &options_of_add).exits(0);

        let mut wanted = read_tree(source.path());
        wanted.extend(read_tree(changes.path()));
        wanted.retain(|name, _| !name.starts_with("run2/half.") && !name.starts_with("run1/deep"));
        for (file, bytes) in wanted {
            let path = next.join(&file);
            if file.ends_with('/') {
                fs::create_dir_all(path).unwrap();
                continue;
            }
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        create(&next, &other.join(name), options).exits(0);
        assert_eq!(names_in(&one), names_in(&other), "{name}");
        for file in names_in(&one) {
            let [one, other] = [&one, &other].map(|home| fs::read(home.join(&file)).unwrap());
            // Long new members are the first in a zip or a tar. The manifests are the same.
            let may_differ = (file == name && !name.contains(".tar.")) || file.ends_with(".sha256");
            assert!(one == other || may_differ, "{file}");
        }
        let names = |home: &Path| {
            let members = Pack::open(home.join(name)).unwrap().members().unwrap();
            let mut names: Vec<_> = members.into_iter().map(|member| member.name).collect();
            if name.contains(".tar") {
                names.sort();
            }
            names
        };
        assert_eq!(names(&one), names(&other), "{name}");
        ra("verify", &[&archive], &["--strict"]).exits(0);
    }
}

#[test]
fn foreign_tools_read_an_updated_archive() {
    let scratch = TempDir::new().unwrap();
    let archive =
        pack(&Experiment::standard(), scratch.path(), "x.zip", &["--compression", "deflate"]);
    let new = Experiment::new().file("später.txt", "new");
    add(&archive, new.path(), &["später.txt"]).exits(0).says(&["packed"]);
    let out = scratch.path().join("out");
    extract(&archive, &out, &[]).exits(0);
    assert_eq!(fs::read(out.join("später.txt")).unwrap(), b"new");
    complaint(
        Command::new("sha256sum").args(["-c", "--quiet", "manifest-sha256.txt"]).current_dir(&out),
    )
    .unwrap();
    if Command::new("unzip").arg("-v").output().is_err() {
        return skip("`unzip` is not installed");
    }
    complaint(Command::new("unzip").arg("-tqq").arg(&archive)).unwrap();
}

#[test]
fn unchanged_members_keep_their_packed_bytes() {
    let scratch = TempDir::new().unwrap();
    let text = "all the same ".repeat(1000);
    let source = Experiment::new().file("a.txt", &text).file("b.txt", &text);
    let archive = pack(&source, scratch.path(), "x.zip", &["--compression", "deflate:9"]);
    let info = |name: &str| {
        let mut members = Pack::open(&archive).unwrap().members().unwrap().into_iter();
        members.find(|member| member.name == name).unwrap()
    };
    let before = info("a.txt");
    add(&archive, source.path(), &["b.txt", "--force"]).exits(0);
    let (after, stored) = (info("a.txt"), info("b.txt"));
    assert_eq!((before.method, before.packed_size), (after.method, after.packed_size));
    assert_eq!(stored.packed_size, stored.size);
}

#[test]
fn files_are_replaced_only_by_force_and_a_refusal_changes_nothing() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let before = read_tree(scratch.path());
    let source = Experiment::new()
        .file("README.txt", "another")
        .array("bad.ra", UINT8, &[2], b"hi")
        .describe("bad.yaml", "[3]", "uint8")
        .array("bare.ra", UINT8, &[2], b"hi")
        .file("run1", "no directory")
        .file("time.ra/x", "no array");
    let cases: [(&[&str], i32, &[&str]); 8] = [
        (&["README.txt"], 2, &["x.zip/README.txt", "--force"]),
        (&["bad.ra", "bad.yaml"], 1, &["bad.yaml:3:13", "x.zip"]),
        (&["bare.ra"], 1, &["bare.ra"]),
        (&["run1", "--force"], 1, &["run1/"]),
        (&["time.ra/x", "--force"], 1, &["time.ra"]),
        (&["../not there"], 2, &["../not there"]),
        (&["none.txt"], 2, &["none.txt"]),
        (&["--remove", "none.txt"], 2, &["none.txt"]),
    ];
    for (options, code, words) in cases {
        let ran = add(&archive, source.path(), options).exits(code).says(words);
        assert!(!ran.said().contains("unfinished"), "{}", ran.said());
        assert!(read_tree(scratch.path()) == before, "{options:?}");
    }
    add(&archive, source.path(), &["bare.ra", "--describe"]).exits(0);
    assert!(Pack::open(&archive).unwrap().read("bare.yaml").is_ok());
    // Elements in a new description are compared with an existing array.
    let said = "ndarrays:\n  image:\n    shape: [3, 2, 4]\n    type: uint8\n    value: [";
    let rows = "[[1, 1, 1, 1], [1, 1, 1, 1]], ".repeat(3);
    let wrong = Experiment::new()
        .file("run1/image.yaml", format!("{said}{}]\n", rows.trim_end_matches(", ")));
    add(&archive, wrong.path(), &["run1", "--force"]).exits(1).says(&["run1/image"]);
}

#[test]
fn files_of_other_formats_are_converted_and_descriptions_stay() {
    let described = "ndarrays:\n  t: # of the water\n    shape: [time, 2]\n    type: float32\n    attributes: {units: K}\n";
    let source = Experiment::new()
        .array("time.ra", FLOAT32, &[3], &[0; 12])
        .describe("time.yaml", "[time]", "float32")
        .array("run1/t.ra", FLOAT32, &[3, 2], &[0; 24])
        .file("run1/t.yaml", described);
    let long = "{'descr': '<f8', 'fortran_order': False, 'shape': (LENGTH, 2)}";
    let npy = |length: u8| {
        let mut head = long.replace("LENGTH", &length.to_string());
        head.push_str(&" ".repeat(117 - head.len()));
        let elements = (0..2 * length).map(|count| f64::from(count) + 0.5);
        let elements = le(f64::to_le_bytes, elements);
        [b"\x93NUMPY\x01\0\x76\0", head.as_bytes(), b"\n", &elements].concat()
    };
    for (name, options) in KINDS {
        let scratch = TempDir::new().unwrap();
        let archive = pack(&source, scratch.path(), name, options);
        let before = read_tree(scratch.path());
        let new = Experiment::new()
            .file("run1/t.npy", npy(3))
            .file("run2/long.npy", npy(5))
            .file("run2/notes.txt", "x");
        let convert = ["--convert", "run1/t.npy"];
        add(&archive, new.path(), &convert).exits(2).says(&["run1/t.ra` exists", "--force"]);
        add(&archive, new.path(), &["--convert", "../t.npy"]).exits(2).says(&[" -C "]);
        let longer = Experiment::new().file("run1/t.npy", npy(5));
        add(&archive, longer.path(), &[&convert[..], &["--force"]].concat()).exits(1).says(&[
            "DESC004",
            "run1/t.yaml:3:13",
            "[time (3), 2]",
        ]);
        assert!(read_tree(scratch.path()) == before);
        add(&archive, new.path(), &["--force", "--convert", "."]).exits(0).says(&[
            "run1/t.npy -> run1/t.ra: float64 [3, 2]",
            "warning: run1/t.npy: `t.yaml` is kept with another type",
            "run2/notes.txt: copied",
            "packed 3 arrays",
        ]);
        verify(&archive, &VerifyOptions::default()).unwrap().is_valid().then_some(()).unwrap();
        let pack = Pack::open(&archive).unwrap();
        let text = pack.read("run1/t.yaml").unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), described.replace("float32", "float64"));
        let elements = pack.array("run1/t").unwrap().read::<f64>().unwrap();
        assert_eq!(elements, array![[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]].into_dyn());
        assert_eq!(names_in(scratch.path()).len(), before.len(), "temporary files are deleted");
    }
}

#[test]
fn an_array_brings_its_description() {
    let home = Experiment::new()
        .array("old/a.ra", UINT8, &[2], b"hi")
        .describe("old/a.yaml", "[2]", "uint8")
        .array("new/b.ra", UINT8, &[3], b"you")
        .describe("new/b.yaml", "[3]", "uint8");
    let (new, archive) = (home.path().join("new"), home.path().join("a.zip"));
    create(&home.path().join("old"), &archive, &[]).exits(0);
    add(&archive, &new, &["./b.ra"]).exits(0);
    let names = || ra("list", &[&archive], &["--names"]).exits(0).said();
    let before = names();
    assert!(before.contains("b.ra") && before.contains("b.yaml"), "{before}");
    // A description that is named, too, is added once.
    add(&archive, &new, &["b.ra", "b.yaml", "--force"]).exits(0);
    assert_eq!(names(), before);
}

#[test]
fn an_archive_without_a_manifest_is_refused() {
    let scratch = TempDir::new().unwrap();
    let source = Experiment::standard();
    let new = Experiment::new().file("new.txt", "new");
    let archive = pack(&source, scratch.path(), "x.zip", &[]);
    let outside = scratch.path().join("x.zip.manifest-sha256.txt");
    let text = fs::read_to_string(&outside).unwrap();
    let other =
        text.replacen(char::is_alphanumeric, if text.starts_with('0') { "1" } else { "0" }, 1);
    fs::write(&outside, other).unwrap();
    add(&archive, new.path(), &["new.txt"]).exits(1).says(&["disagree"]);
    fs::write(&outside, text).unwrap();
    let mut bytes = fs::read(&archive).unwrap();
    bytes.extend(b"after the end");
    fs::write(&archive, &bytes).unwrap();
    add(&archive, new.path(), &["new.txt"]).exits(1);
    assert!(fs::read(&archive).unwrap() == bytes);
    add(source.path(), new.path(), &["new.txt"]).exits(2).says(&["is a directory"]);
    // A member that the manifest does not list must be replaced.
    let tar = pack(&source, scratch.path(), "x.tar", &[]);
    let append = |name: &str| {
        let mut command = Command::new("tar");
        complaint(command.arg("-rf").arg(&tar).arg("-C").arg(new.path()).arg(name)).unwrap();
    };
    append("new.txt");
    let later = Experiment::new().file("later.txt", "later");
    add(&tar, later.path(), &["later.txt"]).exits(1).says(&["MAN", "new.txt", "not listed"]);
    add(&tar, new.path(), &["new.txt", "--force"]).exits(0);
    ra("verify", &[&tar], &[]).exits(0);
    let plain = scratch.path().join("plain.tar");
    complaint(Command::new("tar").arg("-cf").arg(&plain).arg("-C").arg(new.path()).arg("new.txt"))
        .unwrap();
    add(&plain, source.path(), &["README.txt"]).exits(2).says(&["manifest"]);
}

#[test]
fn an_archive_inside_the_added_directory_is_excluded() {
    let source = Experiment::new().file("a.txt", "a");
    let scratch = TempDir::new().unwrap();
    let archive = pack(&source, scratch.path(), "x.zip", &[]);
    fs::write(scratch.path().join("b.txt"), "b").unwrap();
    add(&archive, scratch.path(), &["."]).exits(0);
    let names: Vec<_> = Pack::open(&archive)
        .unwrap()
        .members()
        .unwrap()
        .into_iter()
        .map(|member| member.name)
        .collect();
    assert_eq!(names, ["a.txt", "b.txt", "manifest.yaml", "manifest-sha256.txt"]);
}

#[test]
fn two_updates_of_one_archive_are_never_mixed() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let begin = || PackWriter::update(&archive, WriteOptions::default()).unwrap();
    let (mut one, mut other) = (begin(), begin());
    one.file("one.txt", "1".as_bytes()).unwrap();
    other.file("other.txt", "2".as_bytes()).unwrap();
    one.finish().unwrap();
    assert!(matches!(other.finish(), Err(Error::Changed { .. })));
    drop(other);
    assert!(verify(&archive, &VerifyOptions::default()).unwrap().is_valid());
    let pack = Pack::open(&archive).unwrap();
    assert!(pack.read("one.txt").is_ok() && pack.read("other.txt").is_err());
    assert_eq!(names_in(scratch.path()), ["x.zip", "x.zip.manifest-sha256.txt"]);
}

#[test]
fn attributes_and_dimensions_of_a_pack_survive_an_update() {
    let scratch = TempDir::new().unwrap();
    for (name, layout) in
        [("x.zip", Layout::Plain), ("x.tar.zst", Layout::Plain), ("bag.tar", Layout::BagIt)]
    {
        let path = scratch.path().join(name);
        let options = WriteOptions { layout, ..WriteOptions::default() };
        let mut pack = PackWriter::create(&path, options).unwrap();
        pack.attribute("title", "First").unwrap();
        pack.array("a", &array![1_u8, 2]).dims(["time"]).write().unwrap();
        pack.array("b", &array![1_u8, 2]).dims(["time"]).write().unwrap();
        pack.finish().unwrap();

        let options = || WriteOptions { force: true, ..WriteOptions::default() };
        let mut pack = PackWriter::update(&path, options()).unwrap();
        pack.attribute("title", "Second").unwrap();
        pack.array("c/d", &array![[1_u8, 2]]).dims(["depth", "/time"]).write().unwrap();
        pack.finish().unwrap();
        // An array replaces a stated length.
        let mut pack = PackWriter::update(&path, options()).unwrap();
        pack.array("time", &array![0.0, 1.0]).units("s").write().unwrap();
        pack.remove("b.ra").unwrap();
        assert!(matches!(pack.remove("b.yaml"), Err(Error::NoSuchMember { .. })));
        pack.finish().unwrap();

        let verified = verify(&path, &VerifyOptions::default()).unwrap();
        assert_eq!(verified.findings.len(), 0, "{:?}", verified.findings);
        let text = Pack::open(&path).unwrap().read("manifest.yaml").unwrap();
        let document = ra_pack::ndl::parse(&text).document.unwrap();
        let title = &document.group("/").unwrap().attributes;
        assert_eq!(title.len(), 1);
        assert_eq!(title[0].value.as_str(), Some("Second"));
        let coords: Vec<_> =
            document.dimcoords().map(|(_, one)| (&*one.name, one.datatype.to_string())).collect();
        assert_eq!(
            coords,
            [("time", "float64".to_owned()), ("depth", "int64".to_owned())],
            "{name}"
        );
    }
}

#[test]
fn a_killed_add_leaves_the_old_archive_or_the_new_one() {
    let scratch = TempDir::new().unwrap();
    let mut source = Experiment::standard();
    for number in 0..200 {
        source = source.file(&format!("many/{number}.bin"), vec![7; 20_000]);
    }
    let archive = pack(&source, scratch.path(), "x.zip", &[]);
    let new = Experiment::new().file("new.bin", vec![3; 30_000_000]);
    let old = fs::read(&archive).unwrap();
    let manifest = PathBuf::from(format!("{}.manifest-sha256.txt", archive.display()));
    let said = fs::read(&manifest).unwrap();
    let start = || {
        let mut command = Command::new(ra_pack().get_program());
        command.arg("add").arg(&archive).arg("-C").arg(new.path()).args(["new.bin", "--force"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let begin = Instant::now();
    assert!(start().wait().unwrap().success());
    let whole = begin.elapsed();
    for (moment, signal) in [(1, "KILL"), (3, "INT"), (5, "KILL"), (7, "INT"), (9, "KILL")] {
        fs::write(&archive, &old).unwrap();
        fs::write(&manifest, &said).unwrap();
        let mut child = start();
        thread::sleep(whole.mul_f64(f64::from(moment) / 10.0).max(Duration::from_millis(5)));
        let _ =
            complaint(Command::new("sh").arg("-c").arg(format!("kill -{signal} {}", child.id())));
        let ended = child.wait().unwrap();
        let report = verify(&archive, &VerifyOptions::default()).unwrap();
        assert!(report.is_valid(), "{signal} at {moment}: {:?}", report.findings);
        assert!(ended.success() || fs::read(&archive).unwrap() == old || report.files > 0);
        if signal == "INT" {
            let left = names_in(scratch.path());
            assert!(left.iter().all(|name| name.starts_with("x.zip")), "{left:?}");
        }
        for name in names_in(scratch.path()).iter().filter(|name| name.starts_with('.')) {
            let path = scratch.path().join(name);
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_with_the_option() {
    use std::os::unix::fs::symlink;
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let outside = Experiment::new().file("secret.txt", "secret");
    let new = Experiment::new().file("real/sub/own.txt", "own");
    symlink(outside.path().join("secret.txt"), new.path().join("link.txt")).unwrap();
    symlink(outside.path(), new.path().join("out")).unwrap();
    symlink("real", new.path().join("inner")).unwrap();
    let before = read_tree(scratch.path());
    for name in ["link.txt", "out", "out/secret.txt", "inner/sub", "inner/sub/own.txt", "."] {
        add(&archive, new.path(), &[name]).exits(1).says(&["NAME004", "--dereference"]);
        assert!(read_tree(scratch.path()) == before, "{name}");
    }
    add(&archive, new.path(), &["out/secret.txt", "inner/sub", "link.txt", "--dereference"])
        .exits(0);
    let pack = Pack::open(&archive).unwrap();
    assert_eq!(pack.read("out/secret.txt").unwrap(), b"secret");
    assert_eq!(pack.read("inner/sub/own.txt").unwrap(), b"own");
    // The directory itself may be a link.
    let through = scratch.path().join("through");
    symlink(new.path(), &through).unwrap();
    add(&archive, &through, &["real"]).exits(0);
}

#[test]
fn what_an_update_does_not_keep_is_said() {
    let scratch = TempDir::new().unwrap();
    let source = Experiment::standard();
    let tree = scratch.path().join("tree");
    extract(&pack(&source, scratch.path(), "x.zip", &[]), &tree.join("exp"), &[]).exits(0);
    let md5 = "cd exp && find . -type f ! -name 'manifest-*' | cut -c3- | LC_ALL=C sort | tr '\\n' '\\0' | xargs -0 md5sum > manifest-md5.txt";
    complaint(Command::new("sh").arg("-c").arg(md5).current_dir(&tree)).unwrap();
    let tar = scratch.path().join("y.tar");
    complaint(Command::new("tar").arg("-cf").arg(&tar).arg("-C").arg(&tree).arg("exp")).unwrap();
    let new = Experiment::new().file("new.txt", "new");
    add(&tar, new.path(), &["new.txt"]).exits(0).says(&["no `manifest-md5.txt`", "not in `exp/`"]);
    let zip = pack(&source, scratch.path(), "z.zip", &[]);
    let mut bytes = fs::read(&zip).unwrap();
    let end = bytes.len();
    bytes[end - 2..].copy_from_slice(&7_u16.to_le_bytes());
    bytes.extend(b"comment");
    fs::write(&zip, bytes).unwrap();
    add(&zip, new.path(), &["new.txt"]).exits(0).says(&["not kept: the archive has a comment"]);
    for archive in [tar, zip] {
        let ran = add(&archive, new.path(), &["new.txt", "--force"]).exits(0);
        assert!(!ran.err.contains("warning"), "{}", ran.err);
    }
}

#[test]
fn an_archive_that_differs_from_its_digest_is_not_updated() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &["--archive-digest"]);
    let new = Experiment::new().file("new.txt", "new");
    let digest = PathBuf::from(format!("{}.sha256", archive.display()));
    let text = fs::read_to_string(&digest).unwrap();
    fs::write(&digest, format!("{}{}", "0".repeat(64), &text[64..])).unwrap();
    add(&archive, new.path(), &["new.txt"]).exits(1).says(&["does not match the digest"]);
    fs::write(&digest, text).unwrap();
    add(&archive, new.path(), &["new.txt"]).exits(0);
}

#[test]
fn an_archive_that_lacks_a_listed_file_is_not_updated() {
    let scratch = TempDir::new().unwrap();
    let tar = pack(&Experiment::standard(), scratch.path(), "x.tar", &[]);
    let tree = scratch.path().join("tree");
    extract(&tar, &tree, &[]).exits(0);
    fs::remove_file(tree.join("README.txt")).unwrap();
    complaint(Command::new("sh").args(["-c", "tar -cf ../x.tar *"]).current_dir(&tree)).unwrap();
    let new = Experiment::new().file("new.txt", "new");
    add(&tar, new.path(), &["new.txt"]).exits(1).says(&["README.txt", "missing"]);
}

#[test]
fn attributes_of_groups_stay_in_an_update() {
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("x.zip");
    let mut pack = PackWriter::create(&path, WriteOptions::default()).unwrap();
    pack.array("run1/t", &array![1.0, 2.0]).write().unwrap();
    pack.attribute("title", "T").unwrap();
    pack.group_attribute("run1", "operator", "A").unwrap();
    pack.finish().unwrap();
    let text =
        || String::from_utf8(Pack::open(&path).unwrap().read("manifest.yaml").unwrap()).unwrap();
    let before = text();
    assert!(before.contains("operator: A"), "{before}");
    let mut pack = PackWriter::update(&path, WriteOptions::default()).unwrap();
    pack.file("x.txt", "x".as_bytes()).unwrap();
    pack.finish().unwrap();
    assert_eq!(text(), before);
}
