//! The same archives with other commands and the library: every one refuses untrusted members, and reads members that the
//! error does not affect.

use std::fs;
use std::path::Path;

use ra_pack::Pack;
use tempfile::TempDir;

use super::{Case, MANIFEST, NOTES, bounded, containers, files, members, names, tars};

/// A case of the catalogue, a member that its error affects, and the output of `get`: a code, with exit status 1, or the
/// kind of the member, with exit status 2.
const TOUCHED: &[(&str, &str, &str)] = &[
    ("8 count too high", "a.ra", "ARC003"),
    ("9 count too low", "a.ra", "ARC003"),
    ("12 another name in the local header", "a.ra", "ARC004"),
    ("13 another size in the local header", "a.ra", "ARC004"),
    ("14 another CRC in the local header", "a.ra", "ARC004"),
    ("15 another method in the local header", "a.ra", "ARC004"),
    ("16 other flags in the local header", "a.ra", "ARC004"),
    ("17 a member twice, identical", NOTES, "NAME002"),
    ("18 a member twice, the first good", NOTES, "NAME002"),
    ("19 a member twice, the last good", NOTES, "NAME002"),
    ("20 two manifests of one name", MANIFEST, "NAME002"),
    ("23 a record of the directory without a member", "ghost", "ARC00"),
    ("29 an end record that is the end of a far longer comment", "a.ra", "ARC020"),
    ("30 two members of the same bytes", "twin.txt", "ARC00"),
    ("30 two members of the same bytes", "a.ra", "ARC005"),
    ("31 a member within another", "outer", "ARC005"),
    ("31 a member within another", "a.ra", "ARC005"),
    ("32 inflates to more", NOTES, "ARC007"),
    ("33 inflates to less", NOTES, "ARC007"),
    ("34 inflates to 256 MiB", NOTES, "ARC007"),
    ("35 claims 4 GiB", NOTES, "ARC007"),
    ("36 past the end of the file", MANIFEST, "ARC005"),
    ("37 deflate corrupt", NOTES, "ARC007"),
    ("38 deflate cut", NOTES, "ARC007"),
    ("39 bytes after the deflated data", NOTES, "ARC024"),
    ("42 unknown method", NOTES, "ARC018"),
    ("44 a member on another disk", NOTES, "ARC019"),
    ("46 an extra field twice", NOTES, "ARC021"),
    ("47 an extra field past its end", NOTES, "ARC021"),
    ("48 a wrong data descriptor", NOTES, "ARC016"),
    ("49 another name in the Unicode Path field", NOTES, "ARC004"),
    ("50 a directory with data", "sub", "ARC010"),
    ("51 a directory by its mode, without a slash", "sub", "a special file, not a file"),
    ("51 a directory by its DOS attribute, without a slash", "sub", "a special file, not a file"),
    ("52 a file and a directory of one name", "dir", "NAME003"),
    ("52 a file below a file", "a.ra", "NAME003"),
    ("54 climbs in the middle", "a/../../x", "NAME001"),
    ("56 absolute", "/x", "NAME001"),
    ("57 climbs as on Windows", "..\\x", "NAME001"),
    ("62 a dot", "./x", "NAME001"),
    ("0 a name with a dot and without", "a.ra", "NAME002"),
    ("0 a dot in one of two headers", "a.ra", "ARC004"),
    ("0 a file below a file with a dot", "a.ra", "NAME003"),
    ("63 a link out", "link", "a link, not a file"),
    ("66 a device", "special", "a special file, not a file"),
    ("145 a hard link", "hard", "a link, not a file"),
    ("146 a member twice", NOTES, "NAME002"),
    ("146 a member twice, compressed", NOTES, "NAME002"),
];

/// Cases with an error in the archive as a whole, after which no member is trusted.
const OF_THE_WHOLE: &[&str] = &["8 ", "9 ", "29 an end record", "146 "];

fn catalogue() -> Vec<Case> {
    [containers::cases(), members::cases(), names::cases(), tars::cases()]
        .into_iter()
        .flatten()
        .collect()
}

/// Runs `get` with some options and returns exit status, output and messages.
fn get(directory: &Path, arguments: &[&str]) -> (Option<i32>, Vec<u8>, String) {
    let output = bounded(&[&["get"], arguments].concat(), directory);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), output.stdout, said)
}

#[test]
fn an_untrusted_member_is_refused_by_every_command() {
    let catalogue = catalogue();
    for (name, member, word) in TOUCHED {
        let found: Vec<_> = catalogue.iter().filter(|case| case.name == *name).collect();
        assert!(!found.is_empty(), "there is no case `{name}`");
        for case in found {
            let directory = TempDir::new().unwrap();
            let archive = directory.path().join(case.file);
            fs::write(&archive, &case.bytes).unwrap();
            let is_code =
                word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
            let status = Some(if is_code { 1 } else { 2 });
            let mut ways = vec![
                vec![case.file, *member],
                vec![case.file, *member, "--no-check"],
                vec![case.file, *member, "--no-check", "-o", "out"],
            ];
            if *member == "a.ra" {
                ways.push(vec![case.file, *member, "--slice", "0:1"]);
                ways.push(vec![case.file, *member, "--slice", "0:1", "--no-check"]);
                ways.push(vec![case.file, *member, "--format", "raw"]);
            }
            for way in ways {
                let (code, _, said) = get(directory.path(), &way);
                assert_eq!(code, status, "{name}: get {way:?}: {said}");
                assert!(said.contains(word), "{name}: get {way:?}: {said}");
                let left = fs::read_dir(directory.path()).unwrap().count();
                assert_eq!(left, 1, "{name}: get {way:?} left a file");
            }
            if *member == "a.ra" {
                let output = bounded(&["info", case.file, member], directory.path());
                assert_eq!(output.status.code(), Some(1), "{name}: info");
                assert!(output.stdout.is_empty(), "{name}: info printed something");
                assert_library_refuses(&archive, name);
            }
        }
    }
}

#[expect(unsafe_code, reason = "no other program changes the archive")]
fn assert_library_refuses(archive: &Path, name: &str) {
    let is_refused = |pack: ra_pack::Result<Pack>| match pack {
        Err(error) => error.is_finding(),
        Ok(pack) => {
            pack.read("a.ra").is_err_and(|error| error.is_finding())
                && pack.array("a.ra").is_err_and(|error| error.is_finding())
        }
    };
    assert!(is_refused(Pack::open(archive)), "{name}: Pack::open");
    // SAFETY: no other program writes to the directory of this test.
    assert!(is_refused(unsafe { Pack::map(archive) }), "{name}: Pack::map");
}

#[test]
fn list_and_info_of_such_an_archive_exit_with_1() {
    let catalogue = catalogue();
    for (name, _, word) in TOUCHED {
        // These errors are only found by reading the data.
        if matches!(*word, "ARC007" | "ARC024") {
            continue;
        }
        for case in catalogue.iter().filter(|case| case.name == *name) {
            let directory = TempDir::new().unwrap();
            fs::write(directory.path().join(case.file), &case.bytes).unwrap();
            for command in ["list", "info"] {
                let output = bounded(&[command, case.file], directory.path());
                assert_eq!(output.status.code(), Some(1), "{name}: {command}: {output:?}");
            }
        }
    }
}

/// If two headers disagree, neither is shown.
#[test]
fn list_shows_no_facts_about_a_contradicting_array() {
    let catalogue = catalogue();
    for (name, member, _) in TOUCHED.iter().filter(|(_, member, _)| *member == "a.ra") {
        let case = catalogue.iter().find(|case| case.name == *name).unwrap();
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join(case.file), &case.bytes).unwrap();
        let output = bounded(&["list", case.file, member], directory.path());
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let is_of_the_whole = OF_THE_WHOLE.iter().any(|whole| name.starts_with(whole));
        // An overlap is reported for the member that extends too far.
        assert!(
            is_of_the_whole || name.starts_with("31") || !shown.contains("float32"),
            "{name}: {shown}"
        );
    }
}

#[test]
fn unaffected_members_can_be_read() {
    let catalogue = catalogue();
    let whole = files();
    let mut had = 0;
    for (name, _, _) in TOUCHED {
        if OF_THE_WHOLE.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let touched: Vec<_> = TOUCHED
            .iter()
            .filter(|(other, ..)| other == name)
            .map(|(_, member, _)| *member)
            .collect();
        for case in catalogue.iter().filter(|case| case.name == *name) {
            let directory = TempDir::new().unwrap();
            fs::write(directory.path().join(case.file), &case.bytes).unwrap();
            for (member, bytes) in
                whole.iter().filter(|(name, _)| !touched.contains(&name.as_str()))
            {
                let (code, out, said) = get(directory.path(), &[case.file, member, "--no-check"]);
                assert_eq!(code, Some(0), "{name}: {member}: {said}");
                assert_eq!(out, *bytes, "{name}: {member}");
                had += 1;
            }
        }
    }
    assert!(had > 80, "{had}");
}

/// Every command gives the original content of a member or nothing.
#[test]
#[ignore = "slow"]
fn no_command_ever_gives_other_bytes() {
    for case in catalogue() {
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join(case.file), &case.bytes).unwrap();
        for (member, bytes) in files() {
            let (code, out, said) = get(directory.path(), &[case.file, &member]);
            match code {
                Some(0) => assert_eq!(out, bytes, "{}: {member}", case.name),
                Some(1 | 2) => assert!(!said.is_empty(), "{}: {member}", case.name),
                _ => panic!("{}: {member}: {said}", case.name),
            }
        }
    }
}
