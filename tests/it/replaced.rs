//! Files that are replaced keep their permissions, and links keep their meaning, for every command that writes.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use tempfile::TempDir;

use crate::experiment::{Experiment, UINT8};
use crate::run::{Ran, create, ra, run};

/// Commands that replace the file `{out}`; `{source}` is a directory, `{archive}` a pack of it.
const COMMANDS: [&str; 17] = [
    "create {source} -o {out}.zip --force",
    "create {source} -o {out}.tar.zst --force --layout=bagit",
    "add {out}.zip -C {source} README.txt --force",
    "add {out}.tar.gz -C {source} README.txt --force",
    "get {archive} README.txt -o {out}.txt --force",
    "get {archive} a.ra -o {out}.npy --force",
    "convert {archive} --member a.ra {out}.npy --force",
    "convert {archive} --member a.ra {out}.ra --force",
    "convert {archive} {out}.npz --force",
    "convert {archive} {out}.zip --force",
    "manifest {archive} -o {out}.txt --force",
    "refs {archive} -o {out}.json --force",
    "report {archive} -o {out}.html --force",
    "plot {source}/a.ra -o {out}.svg --force",
    "describe {out}.yaml --set units=m",
    "describe {out}.yaml --update",
    "reshape {out}.ra 3 2",
];

struct Place {
    scratch: TempDir,
    source: Experiment,
}

impl Place {
    fn new() -> Self {
        let source = Experiment::new()
            .file("README.txt", "The measured data.\n")
            .array("a.ra", UINT8, &[2, 3], b"abcdef")
            .describe("a.yaml", "[2, 3]", "uint8");
        let scratch = TempDir::new().unwrap();
        create(source.path(), &scratch.path().join("packed.zip"), &[]).exits(0);
        Self { scratch, source }
    }

    fn path(&self, name: &str) -> String {
        self.scratch.path().join(name).to_str().unwrap().to_owned()
    }

    /// Returns the words of a command, and the name of the file that it replaces, which is made.
    fn command(&self, line: &str, out: &str) -> (Vec<String>, String) {
        let source = self.source.path().to_str().unwrap();
        let fill = |word: &str| {
            let word = word.replace("{source}", source).replace("{out}", &self.path(out));
            word.replace("{archive}", &self.path("packed.zip"))
        };
        let words: Vec<String> = line.split(' ').map(fill).collect();
        let ending = line.split("{out}").nth(1).unwrap().split(' ').next().unwrap();
        (words, format!("{out}{ending}"))
    }

    /// Makes an old file of the kind that the command replaces.
    fn make(&self, line: &str, name: &str) {
        let path = self.path(name);
        let source = self.source.path();
        match line.split(' ').next().unwrap() {
            "add" => drop(create(source, Path::new(&path), &[]).exits(0)),
            "describe" | "reshape" => {
                let stem = path.rsplit_once('.').unwrap().0.to_owned();
                fs::copy(source.join("a.ra"), format!("{stem}.ra")).unwrap();
                let text = fs::read_to_string(source.join("a.yaml")).unwrap();
                let name = Path::new(&stem).file_name().unwrap().to_str().unwrap();
                let text = text.replacen("a:", &format!("{name}:"), 1);
                let text =
                    if line.contains("--update") { text.replace("[2, 3]", "[2, 4]") } else { text };
                fs::write(format!("{stem}.yaml"), text).unwrap();
            }
            _ => fs::write(&path, "an earlier file").unwrap(),
        }
    }
}

#[test]
fn replaced_files_keep_their_permissions() {
    let place = Place::new();
    for (number, line) in COMMANDS.into_iter().enumerate() {
        let (words, name) = place.command(line, &format!("out{number}"));
        place.make(line, &name);
        let path = place.path(&name);
        let old = fs::metadata(&path).unwrap().ino();
        for mode in [0o600, 0o664] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            run(&words).exits(0);
            let new = fs::metadata(&path).unwrap();
            assert_eq!(new.mode() & 0o7777, mode, "{line}");
            if mode == 0o600 {
                assert_ne!(new.ino(), old, "{line}: the file was not replaced");
            }
        }
    }
}

#[test]
fn extracted_files_keep_the_permissions_of_those_that_they_replace() {
    let place = Place::new();
    let (archive, target) = (place.path("packed.zip"), place.path("target"));
    run(["extract", &archive, "-C", &target]).exits(0);
    let path = format!("{target}/README.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, "an earlier file").unwrap();
    run(["extract", &archive, "-C", &target, "--force"]).exits(0);
    run(["convert", &archive, &target, "--force"]).exits(0);
    assert_eq!(fs::read_to_string(&path).unwrap(), "The measured data.\n");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
}

#[test]
fn a_file_is_replaced_through_a_link_and_the_link_stays() {
    let place = Place::new();
    fs::create_dir(place.path("real")).unwrap();
    fs::create_dir(place.path("links")).unwrap();
    // `describe` and `reshape` have rules of their own for links.
    let lines = COMMANDS
        .into_iter()
        .filter(|line| !line.starts_with("describe") && !line.starts_with("reshape"));
    for (number, line) in lines.enumerate() {
        let (words, name) = place.command(line, &format!("links/out{number}"));
        let real = name.replace("links/", "real/");
        place.make(line, &real);
        let old = fs::read(place.path(&real)).unwrap();
        symlink(format!("../{real}"), place.path(&name)).unwrap();
        run(&words).exits(0);
        assert!(fs::symlink_metadata(place.path(&name)).unwrap().is_symlink(), "{line}");
        let new = fs::read(place.path(&real)).unwrap();
        assert!(line.starts_with("add") || new != old, "{line}");
        if line.starts_with("create") || line.starts_with("add") {
            for path in [&name, &real] {
                run(["verify", &place.path(path), "--strict"]).exits(0);
            }
        }
    }
}

/// Adds a file to an archive.
fn add(archive: &str, source: &Experiment, name: &str) -> Ran {
    ra("add", &[Path::new(archive), Path::new("-C"), source.path()], &[name])
}

#[test]
fn files_next_to_a_link_to_an_archive_are_never_left_behind() {
    let place = Place::new();
    let (archive, link) = (place.path("packed.zip"), place.path("link.zip"));
    symlink("packed.zip", &link).unwrap();
    let manifest = |archive: &str| format!("{archive}.manifest-sha256.txt");
    fs::copy(manifest(&archive), manifest(&link)).unwrap();
    let before = fs::read(&archive).unwrap();
    let new = Experiment::new().file("new.txt", "new");
    add(&link, &new, "new.txt").exits(2).says(&["link.zip.manifest-sha256.txt"]);
    assert!(fs::read(&archive).unwrap() == before);
    fs::remove_file(manifest(&link)).unwrap();
    symlink("packed.zip.manifest-sha256.txt", manifest(&link)).unwrap();
    add(&link, &new, "new.txt").exits(0);
    for archive in [archive, link] {
        run(["verify", &archive, "--strict"]).exits(0);
    }
}
