//! Mistakes that people make with files: each is refused or warned of in words that are true, and what is
//! offered to do next works when it is pasted.
//!
//! A new mistake is one line in [`MISTAKES`].

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT64, UINT8, le, ra_pack};
use crate::run::{create, run_as};

/// A command line in the directory that [`workspace`] makes, its exit status, what it has to say on either
/// stream, and what it must not say.
type Mistake = (&'static str, i32, &'static [&'static str], &'static [&'static str]);

/// Never said of a file that was not a pack.
const FALSE_ALARM: &[&str] = &["damaged", "NOT VALID", "ARC001", "another copy"];
const NOTHING: &[&str] = &[];

const MISTAKES: &[Mistake] = &[
    // A file of another kind is not a damaged pack.
    (
        "verify exp/time.ra",
        2,
        &["`exp/time.ra` is a RawArray file, not a pack", "ra-pack info exp/time.ra"],
        FALSE_ALARM,
    ),
    (
        "list exp/time.ra",
        2,
        &["`exp/time.ra` is a RawArray file, not a pack", "ra-pack show exp/time.ra"],
        FALSE_ALARM,
    ),
    ("get exp/time.ra time.ra", 2, &["`exp/time.ra` is a RawArray file, not a pack"], FALSE_ALARM),
    (
        "report exp/time.ra -o time.html",
        2,
        &["`exp/time.ra` is a RawArray file, not a pack"],
        FALSE_ALARM,
    ),
    (
        "extract exp/time.ra -C out",
        2,
        &["`exp/time.ra` is a RawArray file, not a pack"],
        FALSE_ALARM,
    ),
    (
        "manifest --check exp/time.ra",
        2,
        &["`exp/time.ra` is a RawArray file, not a pack"],
        FALSE_ALARM,
    ),
    ("info data.h5", 2, &["`data.h5` is an HDF5 file, not a pack"], FALSE_ALARM),
    ("verify data.h5", 2, &["`data.h5` is an HDF5 file, not a pack"], FALSE_ALARM),
    ("verify hdf5.zip", 2, &["`hdf5.zip` is an HDF5 file, not a pack"], FALSE_ALARM),
    ("list data.nc", 2, &["`data.nc` is a NetCDF file, not a pack"], FALSE_ALARM),
    (
        "list a.npy",
        2,
        &["`a.npy` is a NumPy file, not a pack", "ra-pack convert a.npy a.ra"],
        FALSE_ALARM,
    ),
    (
        "info a.npy",
        2,
        &["`a.npy` is a NumPy file, not a pack", "ra-pack convert a.npy a.ra"],
        FALSE_ALARM,
    ),
    ("describe README.md", 2, &["`README.md` is a text file, not a pack"], FALSE_ALARM),
    ("verify README.md", 2, &["`README.md` is a text file, not a pack"], FALSE_ALARM),
    ("verify README.md --json", 2, &["`README.md` is a text file, not a pack"], FALSE_ALARM),
    (
        "verify README.md.gz",
        2,
        &["`README.md.gz` is a file compressed with gzip, not a pack"],
        FALSE_ALARM,
    ),
    ("verify noise.bin", 2, &["`noise.bin` is not a pack"], FALSE_ALARM),
    ("verify empty.bin", 2, &["`empty.bin` is an empty file, not a pack"], FALSE_ALARM),
    ("validate README.md.gz", 2, &["`README.md.gz` is a file compressed with gzip"], FALSE_ALARM),
    (
        "diff exp.zip data.h5",
        2,
        &["`data.h5` is an HDF5 file, not a pack"],
        &["an array: --member"],
    ),
    (
        "verify exp.zip README.md",
        2,
        &["exp.zip: valid", "1 valid, 1 could not be read"],
        FALSE_ALARM,
    ),
    ("validate data.h5", 2, &["`data.h5` is an HDF5 file, not a description"], FALSE_ALARM),
    ("describe --update data.h5", 2, &["`data.h5` is an HDF5 file, not an array"], FALSE_ALARM),
    ("describe --update README.md", 2, &["`README.md` is a text file, not an array"], FALSE_ALARM),
    // What was a pack is damaged.
    ("verify cut.zip", 1, &["NOT VALID", "ARC001"], &["not a pack"]),
    ("verify blank.zip", 1, &["NOT VALID", "ARC001"], &["not a pack"]),
    ("verify noise.tar.gz", 1, &["NOT VALID", "ARC001"], &["not a pack"]),
    ("verify cut", 1, &["NOT VALID", "ARC001"], &["not a pack"]),
    ("verify empty.zip", 1, &["NOT VALID", "the file is empty"], &["not a pack"]),
    // What is not an array.
    (
        "show a.npy",
        2,
        &["`a.npy` is a NumPy file, not an array", "ra-pack convert a.npy a.ra"],
        &["is a pack"],
    ),
    ("show exp/time.yaml", 2, &["`exp/time.yaml` is a text file, not an array"], &["is a pack"]),
    ("plot README.md -o x.png", 2, &["`README.md` is a text file, not an array"], &["is a pack"]),
    (
        "show array.dat",
        2,
        &["`array.dat`", "needs a name that ends in .ra"],
        &["is a pack", "not an array"],
    ),
    ("show exp.zip", 2, &["`exp.zip` is a pack", "ra-pack list --arrays exp.zip"], NOTHING),
    ("show exp.zip README.md", 2, &["`README.md` is a text file, not an array"], &["rawarray"]),
    (
        "plot exp.zip README.md -o x.png",
        2,
        &["`README.md` is a text file, not an array"],
        &["rawarray"],
    ),
    ("info exp.zip README.md", 2, &["`README.md` is a text file, not an array"], &["rawarray"]),
    (
        "get exp.zip README.md --format csv",
        2,
        &["`README.md` is a text file, not an array"],
        &["rawarray"],
    ),
    (
        "get exp.zip empty.log --slice 0",
        2,
        &["`empty.log` is an empty file, not an array"],
        &["header of 48"],
    ),
    (
        "diff README.md exp/README.md",
        2,
        &["`README.md` is a text file, not an array"],
        &["rawarray"],
    ),
    ("reshape README.md 3", 2, &["`README.md` is a text file, not an array"], NOTHING),
    (
        "convert data.nc x.zip",
        2,
        &["`data.nc` is a NetCDF file, which ra-pack cannot read"],
        &["--from"],
    ),
    (
        "convert data.h5 x.zip",
        2,
        &["`data.h5` is an HDF5 file, which ra-pack cannot read"],
        &["--from"],
    ),
    (
        "convert data.csv x.zip",
        2,
        &["`data.csv` is a text file, which ra-pack cannot read"],
        &["--from"],
    ),
    // What holds no array.
    (
        "create data -o data.zip",
        0,
        &[
            "warning[RA005]",
            "1 .nc file and 3 .npy files are packed as plain files",
            "ra-pack convert data data.zip --force",
            "docs/from-other-formats.md",
        ],
        NOTHING,
    ),
    ("create data -o data.zip --json --force", 0, &["RA005"], NOTHING),
    ("create data -o strict.zip --strict", 1, &["error[RA005]"], NOTHING),
    (
        "create foreign -o foreign.zip",
        0,
        &["warning[RA005]", "1 .csv file and 1 .h5 file", "docs/from-other-formats.md"],
        NOTHING,
    ),
    ("create texts -o texts.zip", 0, &["warning[RA005]", "no array in the pack"], NOTHING),
    // Outputs.
    ("get exp.zip time.ra -o t.nc", 2, &["`t.nc`", ".ra, .npy, .png, .csv or .json"], NOTHING),
    ("get exp.zip time.ra -o t.txt", 2, &["`t.txt`", ".ra, .npy, .png, .csv or .json"], NOTHING),
    ("get exp.zip time.ra --slice 0:2 -o t.dat", 2, &["`t.dat`", "--format"], NOTHING),
    ("report exp.zip -o exp.pdf", 2, &["`exp.pdf`", ".html"], NOTHING),
    (
        "create exp -o exp/a.zip",
        2,
        &["`exp/a.zip` would be inside of `exp`", "--exclude 'a.zip*'"],
        NOTHING,
    ),
    (
        "create exp -o exp/sub/a.zip --exclude *.zip",
        2,
        &["a.zip.manifest-sha256.txt", "--exclude 'sub/a.zip*'"],
        NOTHING,
    ),
    (
        "create packs -o packs.zip",
        0,
        &["old.zip", "an archive of an earlier run", "--exclude 'old.zip*'"],
        NOTHING,
    ),
    ("get exp.zip time.ra -o exp", 2, &["`exp` exists; it is a directory"], &["--force"]),
    // Names that are not there.
    (
        "list exp.zip foo*",
        2,
        &["no member of `exp.zip` matches `foo*`", "ra-pack list exp.zip"],
        &["temperature"],
    ),
    (
        "extract exp.zip nothing* -C z",
        2,
        &["no member of `exp.zip` matches `nothing*`"],
        &["unpacked", "-C"],
    ),
    ("get exp.zip tiem.ra", 2, &["holds no member `tiem.ra`", "ra-pack list exp.zip"], NOTHING),
    (
        "get exp.zip sub",
        2,
        &["`sub` is a directory of 2 files", "ra-pack extract exp.zip sub -C DIR"],
        &["holds no member"],
    ),
    (
        "get exp sub",
        2,
        &["`sub` is a directory of 2 files", "ra-pack extract exp sub -C DIR"],
        &["holds no member"],
    ),
    // Arguments that are wrong, and not the pack.
    (
        "verify exp.zip --manifest README.md",
        2,
        &["`README.md` is not a manifest (line 3: expected 64 hexadecimal digits"],
        &["another copy", "NOT VALID"],
    ),
    (
        "manifest --check exp.zip --manifest data.h5",
        2,
        &["`data.h5` is not a manifest"],
        &["another copy", "NOT VALID"],
    ),
    ("verify exp.zip --manifest other.txt", 1, &["MAN006", "NOT VALID"], &["is not a manifest"]),
    // What was not done.
    (
        "diff exp.zip same.zip",
        0,
        &["all by their manifests and not read (--read reads them)"],
        NOTHING,
    ),
    ("diff exp.zip same.zip --read", 0, &["The same: "], &["manifests"]),
];

/// A header of `.npy` and three bytes.
fn npy() -> Vec<u8> {
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }";
    let mut npy = b"\x93NUMPY\x01\0\x76\0".to_vec();
    npy.extend(format!("{header:117}\n").bytes());
    npy.extend([1, 2, 3]);
    npy
}

/// Sound packs, and what is easily taken for one.
fn workspace() -> TempDir {
    let scratch = TempDir::new().unwrap();
    let path = |name: &str| scratch.path().join(name);
    let write = |name: &str, bytes: &[u8]| {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), bytes).unwrap();
    };
    let readme = b"# A mooring\n\nWhat was measured.\n";
    let experiment = Experiment::new()
        .file("README.md", readme)
        .file("empty.log", "")
        .array("time.ra", FLOAT64, &[5], &le(f64::to_le_bytes, (0..5).map(f64::from)))
        .describe("time.yaml", "[5]", "float64")
        .array("sub/count.ra", UINT8, &[3], &[1, 2, 3])
        .describe("sub/count.yaml", "[3]", "uint8");
    fs::rename(experiment.path(), path("exp")).unwrap();
    for name in ["exp.zip", "same.zip", "exp.tar.zst"] {
        create(&path("exp"), &path(name), &[]).exits(0);
    }
    let zip = fs::read(path("exp.zip")).unwrap();
    write("cut.zip", &zip[..zip.len() / 2]);
    write("cut", &zip[..zip.len() / 2]);
    let tar = fs::read(path("exp.tar.zst")).unwrap();
    write("cut.tar.zst", &tar[..tar.len() - 9]);
    write("blank.zip", &[0; 300]);
    write("empty.zip", b"");
    write("empty.bin", b"");
    write("noise.bin", &[0xd1; 700]);
    write("noise.tar.gz", &[0xd1; 700]);
    write("README.md", readme);
    write(
        "README.md.gz",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x4b\x4c\x4a\xe6\x02\0\x4e\x81\x88\x47\x04\0\0\0",
    );
    let hdf5 = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0";
    write("data.h5", hdf5);
    write("hdf5.zip", hdf5);
    write("data.nc", b"CDF\x01\0\0\0\0\0\0\0\x0a");
    write("data.csv", b"time,depth\n1,2\n");
    write("a.npy", &npy());
    write("array.dat", &fs::read(path("exp/time.ra")).unwrap());
    for name in ["data/a.npy", "data/b.npy", "data/c.npy"] {
        write(name, &npy());
    }
    write("data/d.nc", b"CDF\x01");
    write("foreign/a.csv", b"1,2\n");
    write("foreign/a.h5", hdf5);
    write("texts/README.md", readme);
    write("packs/time.ra", &fs::read(path("exp/time.ra")).unwrap());
    write("packs/time.yaml", &fs::read(path("exp/time.yaml")).unwrap());
    write("packs/old.zip", &zip);
    write("packs/old.zip.manifest-sha256.txt", b"");
    let other = format!("{}  time.ra\n", "ab".repeat(32));
    write("other.txt", other.as_bytes());
    scratch
}

/// Everything below a directory, by path.
fn tree(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let content = path.is_file().then(|| fs::read(&path).unwrap());
            if content.is_none() {
                left.push(path.clone());
            }
            found.insert(path, content);
        }
    }
    found
}

/// The commands in a message that can be run as they are: those without a word that stands for another.
fn commands(said: &str) -> impl Iterator<Item = &str> {
    let quoted = said.split('`').skip(1).step_by(2);
    // One without arguments is named, not offered.
    let quoted = quoted.filter(|text| text.split(' ').count() > 2);
    let is_word = |word: &str| word.chars().all(|letter| letter.is_ascii_uppercase());
    quoted.filter(move |text| {
        text.starts_with("ra-pack ")
            && !text.split(' ').any(|word| !word.is_empty() && is_word(word))
    })
}

#[test]
fn every_mistake_is_answered_in_words_that_are_true() {
    let workspace = workspace();
    let before = tree(workspace.path());
    for (line, code, said, not_said) in MISTAKES {
        let mut command = ra_pack();
        command.current_dir(workspace.path()).args(line.split(' '));
        let ran = run_as(&mut command);
        let all = ran.said();
        assert_eq!(ran.code, Some(*code), "{line}\n{all}");
        assert!(!all.contains("panicked"), "{line}\n{all}");
        for word in *said {
            assert!(all.contains(word), "{line}: no {word:?} in\n{all}");
        }
        for word in *not_said {
            assert!(!all.contains(word), "{line}: {word:?} in\n{all}");
        }
        if *code != 0 {
            let after = tree(workspace.path());
            let is_new = |path: &&PathBuf| !before.contains_key(*path);
            let made: Vec<_> = after.keys().filter(is_new).collect();
            assert!(made.is_empty(), "{line} left {made:?}");
        }
        for path in tree(workspace.path()).keys().rev().filter(|path| !before.contains_key(*path)) {
            fs::remove_file(path).unwrap();
        }
        assert_eq!(tree(workspace.path()), before, "{line}");
    }
}

#[test]
fn the_cause_is_said_before_what_follows_from_it() {
    let workspace = workspace();
    let mut command = ra_pack();
    let ran = run_as(command.current_dir(workspace.path()).args(["verify", "cut.tar.zst"]));
    let said = ran.exits(1).said();
    let place = |code: &str| said.find(code).unwrap_or_else(|| panic!("no {code} in\n{said}"));
    assert!(place("[ARC001]") < place("[MAN001]"), "{said}");
}

#[test]
fn every_command_that_is_offered_after_a_mistake_works() {
    let bin = Path::new(env!("CARGO_BIN_EXE_ra-pack")).parent().unwrap();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin.to_owned()).chain(std::env::split_paths(&paths));
    let paths = std::env::join_paths(paths).unwrap();
    let mut count = 0;
    let workspace = workspace();
    for (line, ..) in MISTAKES {
        let mut command = ra_pack();
        let ran = run_as(command.current_dir(workspace.path()).args(line.split(' ')));
        for offered in commands(&ran.said()) {
            let mut shell = assert_cmd::Command::new("sh");
            shell.current_dir(workspace.path()).env("PATH", &paths);
            let ran = run_as(shell.args([OsStr::new("-c"), offered.as_ref()]));
            // What the command makes may be there from another mistake.
            let is_there = ran.said().contains("exists; use --force");
            assert!(ran.code == Some(0) || is_there, "{line}: {offered}\n{}", ran.said());
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
}
