//! Commands that read take files of other formats.

use std::fs;

use crate::experiment::ra_pack;
use crate::mistaken::workspace;
use crate::run::run_as;

#[test]
fn files_of_other_formats_are_read_like_packs() {
    let workspace = workspace();
    let temporary = tempfile::TempDir::new().unwrap();
    let run = |line: &str| {
        let mut command = ra_pack();
        command.current_dir(workspace.path()).env("TMPDIR", temporary.path());
        let ran = run_as(command.args(line.split(' ')));
        assert!(!ran.said().contains("unfinished"), "{line}: {}", ran.said());
        let left: Vec<_> = fs::read_dir(temporary.path()).unwrap().collect();
        assert!(left.is_empty(), "{line}: {left:?}");
        ran
    };
    let before = fs::read_dir(workspace.path()).unwrap().count();
    for (line, words) in [
        ("show a.npy", &["a.ra ("][..]),
        ("show a.npy --json", &["\"target\":\"a.npy\""]),
        ("info a.npy", &["a.npy: a .npy file"]),
        ("list data.h5", &[".ra"]),
        ("show data.nc", &["data.nc: 1 array"]),
        ("list results.npz --names", &[".ra"]),
        ("info results.npz", &["results.npz: "]),
        ("info results.npz --json", &["\"target\":\"results.npz\""]),
        ("info a.npy a", &["a.ra in a.npy", "description"]),
        ("get a.npy --format csv", &["\n"]),
    ] {
        run(line).exits(0).says(words);
    }
    // The bytes are not those of a RawArray file.
    assert!(!run("info a.npy a").said().contains("offsets"));
    run("get a.npy --slice 99").exits(2).says(&["out of range"]);
    run("show cut.h5").exits(1).says(&["`cut.h5`"]);
    run("list cut.nc").exits(1).says(&["`cut.nc`"]);
    assert_eq!(fs::read_dir(workspace.path()).unwrap().count(), before);
}
