//! The viewer in a browser: it opens, shows and verifies packs, and says what the command says.
//!
//! `bash viewer/build` makes the page that these tests open.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT32, UINT8, le, ra_pack};
use crate::foreign::installed;
use crate::hostile;
use crate::python::Python;
use crate::run::ra;
use crate::skips::{is_long, skip};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A directory with the page and with packs; `None` if the page is not built or the browser is not installed.
struct Room(TempDir);

impl Room {
    fn new() -> Option<Self> {
        let page = root().join("target/viewer/viewer.html");
        if !page.exists() {
            skip("`bash viewer/build` has not made target/viewer/viewer.html");
            return None;
        }
        if !installed(&["chromium", "chromedriver", "python3"]) {
            return None;
        }
        let home = TempDir::new().unwrap();
        fs::copy(page, home.path().join("viewer.html")).unwrap();
        Some(Self(home))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn pack(&self, name: &str, source: &Path, options: &[&str]) -> PathBuf {
        let archive = self.file(name);
        ra_pack()
            .arg("create")
            .arg(source)
            .arg("-o")
            .arg(&archive)
            .args(options)
            .assert()
            .success();
        archive
    }

    /// Packs the sample.
    fn sample(&self) -> PathBuf {
        self.pack("mooring.zip", &root().join("examples/experiment"), &[])
    }

    /// Packs arrays of 8 MiB, so that verifying takes long enough to be stopped.
    fn large(&self, arrays: usize) -> u64 {
        let source = Experiment::new();
        let data: Vec<u8> =
            (0..8_u32 << 20).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
        let source = (0..arrays).fold(source, |source, nth| {
            let name = format!("part{nth}");
            let pack = source.array(&format!("{name}.ra"), UINT8, &[8 << 20], &data);
            pack.describe(&format!("{name}.yaml"), "[8388608]", "uint8")
        });
        fs::metadata(self.pack("large.zip", source.path(), &[])).unwrap().len()
    }

    /// Runs a scenario of `scenarios.py`.
    #[track_caller]
    fn look(&self, scenario: &str, wanted: &Value) {
        let script = root().join("tests/it/viewer/scenarios.py");
        let mut run = Command::new("python3");
        run.arg("-B").arg(script).arg(scenario).arg(self.file("viewer.html")).arg(self.0.path());
        fs::write(self.file("expected.json"), wanted.to_string()).unwrap();
        let looked = run.output().unwrap();
        let told = String::from_utf8_lossy(&looked.stderr);
        assert!(looked.status.success(), "{scenario}: {told}");
    }
}

/// Returns what the command says about the arrays of the sample.
fn arrays(archive: &Path) -> Vec<Value> {
    let listed = ra("list", &[archive], &["--json"]).exits(0).json();
    let members = listed["members"].as_array().unwrap();
    let arrays = members.iter().filter(|member| !member["array"].is_null());
    arrays
        .map(|member| {
            let name = member["name"].as_str().unwrap();
            let path = name.strip_suffix(".ra").unwrap();
            let array = &member["array"];
            let title = array["title"].as_str().unwrap_or(path);
            // As the viewer selects at first: a table has two dimensions.
            let slice = if path == "currents/velocity" { "0" } else { "..." };
            let options = ["--format", "csv", "--slice", slice];
            let csv = ra("get", &[archive, Path::new(name)], &options).exits(0);
            let csv = String::from_utf8(csv.out).unwrap();
            // The first column of the first lines.
            let values = csv.lines().skip(1).take(3).map(|line| line.split(',').next().unwrap());
            json!({
                "path": path,
                "title": title,
                "type": array["type"],
                "plot": array["shape"].as_array().is_some_and(|shape| !shape.is_empty()),
                "values": values.collect::<Vec<_>>(),
            })
        })
        .collect()
}

#[test]
#[ignore = "slow"]
fn the_viewer_shows_every_array_of_the_sample() {
    let Some(room) = Room::new() else { return };
    let archive = room.sample();
    let texts = ["manifest-sha256.txt", "A mooring in the Sildefjord", "Not verified yet"];
    room.look("shows", &json!({ "arrays": arrays(&archive), "texts": texts }));
}

#[test]
#[ignore = "slow"]
fn the_viewer_searches_and_selects_parts() {
    let Some(room) = Room::new() else { return };
    room.sample();
    let hits =
        json!({ "velocity": 2, "degree_celsius": 1, "thermistors": 4, "nothing of this": 0 });
    room.look("selects", &json!({ "hits": hits }));
}

#[test]
#[ignore = "slow"]
fn the_viewer_saves_what_the_command_saves_and_opens_single_files() {
    let Some(room) = Room::new() else { return };
    let archive = room.sample();
    for ending in ["npy", "csv", "ra"] {
        let wanted = room.file(&format!("wanted.{ending}"));
        let options = ["-q", "--no-verify"];
        ra(
            "get",
            &[&archive, Path::new("thermistors/temperature"), Path::new("-o"), &wanted],
            &options,
        );
    }
    let depth = root().join("examples/experiment/thermistors/depth.ra");
    ra("convert", &[&depth, &room.file("depth.npy")], &["-q"]);
    fs::copy(depth, room.file("depth.ra")).unwrap();
    fs::copy(room.file("depth.npy"), room.file(&format!("x{}.npy", "ö".repeat(60)))).unwrap();
    let Some(python) = Python::with(&["numpy"]) else { return };
    let python = python.command().get_program().to_str().unwrap().to_owned();
    room.look("downloads", &json!({ "python": python }));
}

#[test]
#[ignore = "slow"]
fn a_report_with_the_viewer_inside_needs_no_other_file() {
    let Some(room) = Room::new() else { return };
    let archive = room.sample();
    let page = room.file("inside.html");
    ra("report", &[&archive, Path::new("-o"), &page], &["--viewer"]).exits(0);
    room.look("inside", &json!({}));
}

/// Changes one byte of an array.
fn damaged(archive: &Path) {
    let mut bytes = fs::read(archive).unwrap();
    let name = b"thermistors/temperature.ra";
    let found = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[found + 400] ^= 0x55;
    fs::write(archive.with_file_name("damaged.zip"), bytes).unwrap();
}

#[test]
#[ignore = "slow"]
fn the_viewer_finds_what_the_command_finds() {
    let Some(room) = Room::new() else { return };
    let archive = room.sample();
    damaged(&archive);
    let bytes = fs::read(&archive).unwrap();
    fs::write(room.file("short.zip"), &bytes[..bytes.len() - 30]).unwrap();
    let sample = root().join("examples/experiment");
    for ending in ["tar", "tar.gz", "tar.zst"] {
        room.pack(&format!("mooring.{ending}"), &sample, &[]);
    }
    room.pack("deflated.zip", &sample, &["--compression", "deflate"]);
    room.pack("zstd.zip", &sample, &["--compression", "zstd"]);
    // Its finding has an expected and a found value.
    fs::copy(root().join("tests/vectors/packs/bad-shape.zip"), room.file("bad-shape.zip")).unwrap();
    let names = [
        "mooring.zip",
        "damaged.zip",
        "bad-shape.zip",
        "mooring.tar",
        "mooring.tar.gz",
        "mooring.tar.zst",
        "deflated.zip",
        "zstd.zip",
    ];
    let packs: BTreeMap<&str, Value> = names
        .into_iter()
        .map(|name| (name, ra("verify", &[&room.file(name)], &["--json"]).json()))
        .collect();
    let manifest = fs::read_to_string(room.file("mooring.zip.manifest-sha256.txt")).unwrap();
    let (digest, rest) = manifest.split_once(' ').unwrap();
    let other = format!("{} {rest}", digest.chars().rev().collect::<String>());
    fs::write(room.file("other.manifest-sha256.txt"), other).unwrap();
    room.large(24);
    room.look("verifies", &json!({ "packs": packs, "large": 24 }));
}

/// Returns what the command says about a file, as the viewer says it.
fn verdict(file: &Path) -> Value {
    let report = ra("verify", &[file], &["--json"]).json();
    let findings = report["findings"].as_array().unwrap();
    let count = |severity: &str| -> u64 {
        let of_it = findings.iter().filter(|finding| finding["severity"] == severity);
        // The last one can be a count of others.
        let message = |finding: &Value| finding["message"].as_str().unwrap().to_owned();
        let unlisted = |text: String| {
            let number = text.strip_suffix(" more problems of this kind are not listed");
            number.map_or(1, |number| number.parse::<u64>().unwrap())
        };
        of_it.map(message).map(unlisted).sum()
    };
    let words = |finding: &Value| json!([finding["code"], finding["severity"], finding["message"]]);
    json!({
        "verdict": report["verdict"],
        "errors": count("error"),
        "warnings": count("warning"),
        "findings": findings.iter().take(1000).map(words).collect::<Vec<_>>(),
    })
}

#[test]
#[ignore = "takes a minute"]
fn the_viewer_agrees_with_the_command_about_every_vector_and_malformed_pack() {
    if !is_long() {
        return;
    }
    let Some(room) = Room::new() else { return };
    let vectors = fs::read_dir(root().join("tests/vectors/packs")).unwrap();
    let vectors = vectors.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let vectors = vectors.map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(path).unwrap())
    });
    let malformed = hostile::malformed().into_iter().map(|(name, bytes)| (name.to_owned(), bytes));
    let files = vectors.filter(|(name, _)| !name.ends_with("sha256.txt")).chain(malformed);
    let verdicts: BTreeMap<String, Value> = files
        .enumerate()
        .map(|(nth, (name, bytes))| {
            let path = format!("{nth}/{name}");
            let file = room.file(&path);
            fs::create_dir(file.parent().unwrap()).unwrap();
            fs::write(&file, bytes).unwrap();
            (path, verdict(&file))
        })
        .collect();
    assert!(verdicts.len() > 300, "{}", verdicts.len());
    room.look("agrees", &json!(verdicts));
}

#[test]
#[ignore = "slow"]
fn the_viewer_reads_servers_and_explains_what_they_lack() {
    let Some(room) = Room::new() else { return };
    room.sample();
    let size = room.large(4);
    room.look("servers", &json!({ "large": 4, "large_size": size }));
}

#[test]
#[ignore = "slow"]
fn the_viewer_works_with_keys_alone() {
    let Some(room) = Room::new() else { return };
    room.sample();
    room.look("keyboard", &json!({}));
}

#[test]
#[ignore = "slow"]
fn nothing_in_a_pack_runs_in_the_viewer() {
    let Some(room) = Room::new() else { return };
    let evil = "</script><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">";
    let quoted = serde_json::to_string(&format!("{evil}\u{202e}\u{7}\u{0}")).unwrap();
    let names = [
        "a \"b\" 'c' & <i>d</i>",
        "</noscript></table><script>document.title='hit'<script>",
        "javascript:document.title=1",
        "100% ünï\u{202e}cod 한국어 #hash?query",
        "<img src=x onerror=document.title='hit'>",
    ];
    let mut source = Experiment::new()
        .file("README.md", format!("# {evil}\n\n[a](javascript:document.title='hit')\n"));
    for (nth, name) in names.into_iter().enumerate() {
        let endless = "endless ".repeat(if nth == 0 { 200_000 } else { 1000 });
        let last = serde_json::to_string(name.rsplit('/').next().unwrap()).unwrap();
        let data = le(f32::to_le_bytes, (0..12_u8).map(f32::from));
        source = source.array(&format!("{name}.ra"), FLOAT32, &[3, 4], &data).file(
            &format!("{name}.yaml"),
            format!(
                "ndarrays:\n  {last}:\n    shape: [3, 4]\n    type: float32\n    attributes:\n      long_name: {quoted}\n      \
                 units: \"<b>&\"\n      {quoted}: \"{endless}\"\n"
            ),
        );
    }
    source = source.file("manifest.yaml", format!("attributes:\n  title: {quoted}\n"));
    room.pack("hostile.zip", source.path(), &[]);
    // Zeros that expand to far more than the page may hold.
    let zeros = vec![0; 64 << 20];
    let bomb = Experiment::new().array("zeros.ra", UINT8, &[64 << 20], &zeros);
    let bomb = bomb.describe("zeros.yaml", "[67108864]", "uint8");
    room.pack("bomb.zip", bomb.path(), &["--compression", "deflate"]);
    let mut packs = vec!["hostile.zip".to_owned(), "bomb.zip".to_owned()];
    for (nth, text) in
        [&b"not a pack"[..], b"PK\x05\x06", b"rawarray", b"\x93NUMPY\x01\0"].iter().enumerate()
    {
        fs::write(room.file(&format!("{nth}.zip")), text).unwrap();
        packs.push(format!("{nth}.zip"));
    }
    room.look("hostile", &json!({ "packs": packs }));
}

#[test]
#[ignore = "takes a minute"]
fn the_viewer_opens_100_000_arrays() {
    if !is_long() {
        return;
    }
    let Some(room) = Room::new() else { return };
    room.sample();
    let hits = json!({ "speed0123": 100, "run042/": 1000, "speed099999": 1 });
    // Twice the goal on a machine that runs other tests at the same time.
    let last = json!({ "many": 100_000, "hits": hits, "last_group": "run099", "last": "run099/speed099999", "patience": 3.0 });
    room.look("many", &last);
}
