//! Mistakes of users: each causes a correct message, and the suggested command works when pasted.
//!
//! A new mistake is one line in [`MISTAKES`], or one in [`FAULTS`] if it is a mistake in the files to pack.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::experiment::{Experiment, UINT8, ra_pack};
use crate::mistake_table::MISTAKES;
use crate::mistaken::{FAULTS, workspace};
use crate::run::{pack, ra, run_as};

/// Reads everything below a directory, by path.
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

/// Returns the commands in a message that can be run unchanged, without placeholders.
fn commands(said: &str) -> impl Iterator<Item = &str> {
    let quoted = said.split('`').skip(1).step_by(2);
    // A command without arguments is a name, not a suggestion.
    let quoted = quoted.filter(|text| text.split(' ').count() > 2);
    let is_word = |word: &str| word.chars().all(|letter| letter.is_ascii_uppercase());
    quoted.filter(move |text| {
        text.starts_with("ra-pack ")
            && !text.split(' ').any(|word| !word.is_empty() && is_word(word))
    })
}

#[test]
#[ignore = "slow"]
fn every_mistake_causes_a_correct_message() {
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
            let remove = if path.is_dir() { fs::remove_dir } else { fs::remove_file };
            remove(path).unwrap();
        }
        assert_eq!(tree(workspace.path()), before, "{line}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_mistake_in_the_files_is_reported_with_its_cause() {
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

#[test]
fn an_entry_with_another_name_than_its_file_is_renamed_by_the_suggested_command() {
    let workspace = workspace();
    let path = workspace.path().join("exp/sub/count.yaml");
    let wrong = fs::read_to_string(&path).unwrap().replace("count:", "counts:");
    fs::write(&path, wrong).unwrap();
    let run = |line: &str| {
        let mut command = ra_pack();
        run_as(command.current_dir(workspace.path()).args(line.split(' '))).exits(0)
    };
    for line in ["validate exp/sub/count.yaml", "create exp -o e.zip", "validate exp"] {
        run(line).says(&["warning[META006]", "has the name `counts`", "exp/sub/count.yaml"]);
    }
    let said = run("validate exp").said();
    let command = said.split('`').find(|text| text.starts_with("sed ")).unwrap();
    let mut shell = assert_cmd::Command::new("sh");
    shell.current_dir(workspace.path()).args(["-c", command]).assert().success();
    assert!(!run("validate exp").said().contains("META006"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_for_standard_output() {
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
fn a_cause_is_reported_before_its_consequences() {
    let workspace = workspace();
    for archive in ["cut.tar.zst", "cut.tar"] {
        let mut command = ra_pack();
        let ran = run_as(command.current_dir(workspace.path()).args(["verify", archive]));
        let said = ran.exits(1).said();
        let place = |code: &str| said.find(code).unwrap_or_else(|| panic!("no {code} in\n{said}"));
        assert!(place("[ARC001]") < place("[MAN001]"), "{said}");
    }
    // The coordinate and the manifest are beyond the end.
    let mut command = ra_pack();
    let ran = run_as(command.current_dir(workspace.path()).args(["verify", "early.tar"]));
    let said = ran.exits(1).says(&["early.tar: time.ra", "[MAN001]"]).said();
    assert!(said.starts_with("error[ARC0"), "{said}");
    assert!(!said.contains("DESC"), "{said}");
}

/// The reader of a pipe wraps lines, if it wants to.
#[test]
fn lines_of_a_difference_are_not_wrapped_in_a_pipe() {
    let workspace = workspace();
    let path = workspace.path().join("exp/time.yaml");
    let [old, new] = ["old", "new"].map(|word| format!("{word} {}", "and long ".repeat(9)));
    for title in [&old, &new] {
        let text = "ndarrays:\n  time:\n    shape: [5]\n    type: float64\n    attributes:\n";
        fs::write(&path, format!("{text}      comment: {title}end\n")).unwrap();
        let mut command = ra_pack();
        let line = ["create", "-f", "exp", "-o", &format!("{}.zip", &title[..3])];
        run_as(command.current_dir(workspace.path()).args(line)).exits(0);
    }
    let mut command = ra_pack();
    let line = ["diff", "old.zip", "new.zip"];
    let said = run_as(command.current_dir(workspace.path()).args(line)).exits(1).said();
    assert!(said.contains(&format!("{old}end → {new}end\n")), "{said}");
}

#[test]
#[ignore = "slow"]
fn every_suggested_command_works() {
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
            // The output may exist from another mistake.
            let is_there = ran.said().contains("exists; use --force");
            // Something is lost of every damaged archive.
            let is_damaged = offered.starts_with("ra-pack salvage") && ran.code == Some(1);
            assert!(
                ran.code == Some(0) || is_there || is_damaged,
                "{line}: {offered}\n{}",
                ran.said()
            );
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn a_slice_that_takes_long_to_check_names_ways_to_avoid_it() {
    let experiment = Experiment::new()
        .array("x.ra", UINT8, &[64 << 20], &vec![0; 64 << 20])
        .describe("x.yaml", &format!("[{}]", 64 << 20), "uint8");
    let scratch = tempfile::TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    let part = |options: &[&str]| {
        let slice = ["x", "--slice", "0:3", "--format", "csv"];
        ra("get", &[&archive], &[&slice, options].concat()).exits(0).said()
    };
    let said = part(&[]);
    for text in ["all 64 MiB of the array", "--no-verify", "`create --block-digests`"] {
        assert!(said.contains(text), "{said}");
    }
    assert!(!part(&["--no-verify"]).contains("64 MiB"));
}
