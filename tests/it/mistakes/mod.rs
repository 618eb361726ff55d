//! Mistakes that people make with files: each is refused or warned of in words that are true, and what is
//! offered to do next works when it is pasted.
//!
//! A new mistake is one line in [`MISTAKES`], or one in [`FAULTS`] if it is a mistake in the files to pack.

mod faults;
mod table;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use self::faults::FAULTS;
use self::table::MISTAKES;
use crate::experiment::{COMPLEX64, Experiment, FLOAT32, FLOAT64, UINT8, le, ra_pack};
use crate::run::{create, run_as};

/// A header of `.npy` and three bytes.
fn npy() -> Vec<u8> {
    with_header("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }")
}

fn with_header(header: &str) -> Vec<u8> {
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
        .describe("sub/count.yaml", "[3]", "uint8")
        .array("thermistors/temperature.ra", FLOAT32, &[2, 5], &[0; 40])
        .describe("thermistors/temperature.yaml", "[2, time]", "float32")
        .array("thermistors/cube.ra", UINT8, &[2, 2, 2], &[0; 8])
        .describe("thermistors/cube.yaml", "[2, 2, 2]", "uint8")
        .array("thermistors/wave.ra", COMPLEX64, &[2], &[0; 16])
        .describe("thermistors/wave.yaml", "[2]", "complex64");
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
    let flip = zip.windows(8).position(|window| window == b"rawarray").unwrap() + 4;
    let flipped =
        zip.iter().enumerate().map(|(at, byte)| if at == flip { byte ^ 1 } else { *byte });
    write("flip.zip", &flipped.collect::<Vec<_>>());
    write("cut.npy", &npy()[..100]);
    write("object.npy", &with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"));
    write("plain.ra", &fs::read(path("exp/sub/count.ra")).unwrap());
    write("hdf5.ra", hdf5);
    write("cut.ra", &fs::read(path("exp/time.ra")).unwrap()[..60]);
    write("results.npz", &crate::bytes::zip(&[crate::bytes::part("a.npy", npy())]));
    let listed = fs::read_to_string(path("exp.zip.manifest-sha256.txt")).unwrap();
    write("kept/time.ra", &fs::read(path("exp/time.ra")).unwrap());
    write("kept/manifest-sha256.txt", listed.as_bytes());
    for name in ["twins/one/a", "twins/two/a", "misnamed/time"] {
        write(&format!("{name}.ra"), &fs::read(path("exp/sub/count.ra")).unwrap());
    }
    create(&path("twins"), &path("twins.zip"), &["--describe"]).exits(0);
    write("misnamed/tiem.yaml", b"ndarrays: {time: {shape: [3], type: uint8}}\n");
    for name in ["away/temperature.ra", "away/temperature.yaml"] {
        write(name, &fs::read(path(&name.replace("away", "exp/thermistors"))).unwrap());
    }
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
    let mut wrong = Vec::new();
    for (line, code, said, not_said) in MISTAKES {
        let mut command = ra_pack();
        command.current_dir(workspace.path()).args(line.split(' '));
        let ran = run_as(&mut command);
        let all = ran.said();
        let mut check = |is_right: bool, what: &dyn std::fmt::Debug| {
            if !is_right {
                wrong.push(format!("{line}: {what:?}\n{all}"));
            }
        };
        check(ran.code == Some(*code), &ran.code);
        check(!all.contains("panicked"), &"a panic");
        for word in *said {
            check(all.contains(word), &("no", word));
        }
        for word in *not_said {
            check(!all.contains(word), word);
        }
        let after = tree(workspace.path());
        let made: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
        check(*code == 0 || made.is_empty(), &made);
        for path in made.into_iter().rev() {
            fs::remove_file(path).unwrap();
        }
        assert_eq!(tree(workspace.path()), before, "{line}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_mistake_in_the_files_is_answered_with_its_cause() {
    let workspace = workspace();
    for (file, content, said, not_said) in FAULTS {
        let path = workspace.path().join("exp").join(file);
        let before = fs::read(&path).ok();
        match content {
            Some(content) => fs::write(&path, content).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let mut command = ra_pack();
        let line = ["create", "exp", "-o", "e.zip"];
        let ran = run_as(command.current_dir(workspace.path()).args(line)).exits(1).says(said);
        for word in *not_said {
            assert!(!ran.said().contains(word), "{file}: {word:?} in\n{}", ran.said());
        }
        match before {
            Some(before) => fs::write(&path, before).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_of_what_is_written() {
    let workspace = workspace();
    for line in
        ["get exp.zip time.ra", "get exp.zip time.ra --slice 0 --format csv", "list exp.zip"]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ra-pack"));
        command.current_dir(workspace.path()).args(line.split(' ')).stdout(full);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = "ra-pack: cannot write to standard output: No space left on device\n";
        assert_eq!((output.status.code(), &*said), (Some(2), expected), "{line}");
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
