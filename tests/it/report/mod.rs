//! `ra-pack report`: the content of the page, and its behaviour in a browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT32, UINT8, le, ra_pack};
use crate::foreign::installed;
use crate::python::Python;
use crate::run::{Ran, ra};

/// Packs the sample. Returns a directory for pages and the archive.
fn home() -> (TempDir, PathBuf) {
    let home = TempDir::new().unwrap();
    let archive = home.path().join("mooring.zip");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    ra_pack().arg("create").arg(sample).arg("-o").arg(&archive).assert().success();
    (home, archive)
}

fn report(archive: &Path, page: &Path, options: &[&str]) -> Ran {
    ra("report", &[archive, Path::new("-o"), page], options)
}

/// Opens a page in a browser and compares it with the expected content.
#[track_caller]
fn assert_works(page: &Path, expected: &Value) {
    if !installed(&["chromium", "chromedriver", "python3"]) {
        return;
    }
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/report/check.py");
    let looked = Command::new("python3")
        .args(["-B".as_ref(), check.as_os_str(), page.as_os_str()])
        .arg(expected.to_string())
        .output()
        .unwrap();
    assert!(looked.status.success(), "{}", String::from_utf8_lossy(&looked.stderr));
}

#[test]
#[ignore = "slow"]
fn only_the_script_of_the_page_runs() {
    let (home, archive) = home();
    let page = home.path().join("mooring.html");
    report(&archive, &page, &[]).exits(0);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("script-src 'sha256-"), "{}", &text[..600]);
    if !installed(&["chromium"]) {
        return;
    }
    let added = "<script>document.body.append('it '+'ran')</script>";
    let dom_of = |text: String| {
        let page = home.path().join("changed.html");
        fs::write(&page, text).unwrap();
        let mut browser = Command::new("chromium");
        browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
        String::from_utf8(browser.arg(page).output().unwrap().stdout).unwrap()
    };
    let changed = text.replace("</body>", &format!("{added}</body>"));
    let dom = dom_of(changed.clone());
    assert!(dom.contains("mooring.zip") && !dom.contains("it ran"));
    // Without the policy the script runs, so this test can fail.
    assert!(dom_of(changed.replace("Content-Security-Policy", "none")).contains("it ran"));
}

#[test]
#[ignore = "slow"]
fn the_page_of_the_sample_works_in_a_browser() {
    let (home, archive) = home();
    let page = home.path().join("mooring.html");
    report(&archive, &page, &[]).exits(0).says(&["wrote ", "10 arrays, valid)"]);
    assert_works(
        &page,
        &json!({
            "cards": 10,
            "texts": ["mooring.zip", "Valid", "temperature of the water", "[°C]", "eastward",
                "manifest-sha256.txt", "deployment.txt", "grey: missing", "Coordinates", "Variables",
                // words: the README of the sample
                "2024-06-03", "2024-06-09 04:00 UTC", "numpy.frombuffer", "The six days show"],
            "hits": {"velocity": 2, "degree_celsius": 2, "FLOAT64": 5, "nothing of this": 0,
                "depth float32 thermistors": 2},
            "links": {"thermistors/temperature": "thermistors/temperature", "time": "time"},
        }),
    );
}

#[test]
#[ignore = "slow"]
fn the_code_snippets_of_the_page_open_their_arrays() {
    let Some(python) = Python::with(&["numpy"]) else { return };
    let (home, zip) = home();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    for container in ["mooring.zip", "packed.zip", "m.tar", "m.tar.gz", "m.tar.zst", "directory"] {
        let target = home.path().join(container);
        let mut make = ra_pack();
        match container {
            "directory" => make.arg("extract").arg(&zip).arg("-C").arg(&target),
            "packed.zip" => make
                .arg("create")
                .arg(&sample)
                .arg("-o")
                .arg(&target)
                .args(["--compression", "deflate"]),
            _ => make.arg("create").arg(&sample).arg("-o").arg(&target).arg("--force"),
        };
        make.assert().success();
        let page = home.path().join(format!("{container}.html"));
        report(&target, &page, &[]).exits(0);
        let text = fs::read_to_string(&page).unwrap();
        let programs = text.split("<p class=\"n\">Python</p><pre><code>").skip(1);
        let programs: Vec<String> = programs
            .map(|rest| rest.split("</code>").next().unwrap().replace("&quot;", "\""))
            .map(|text| text.replace("&lt;", "<").replace("&#39;", "'"))
            .collect();
        // All except arrays of compounds and the scalar.
        assert!(programs.len() >= 8, "{}: {programs:?}", programs.len());
        for (name, expected) in [
            ("thermistors/temperature.ra", "(10, 149) 15.7375"),
            ("thermistors/counts.ra", "(149, 10) 8125"),
        ] {
            let program = programs.iter().find(|program| program.contains(name)).unwrap();
            let program = format!("{program}\nprint(x.shape, x[3, 5])");
            let mut run = python.command();
            let ran = run.args(["-c", &program]).current_dir(home.path()).output().unwrap();
            let said = String::from_utf8_lossy(&ran.stdout);
            assert_eq!(said.trim(), expected, "{program} {}", String::from_utf8_lossy(&ran.stderr));
        }
    }
}

#[test]
fn attributes_and_the_readme_of_a_pack_come_first() {
    let pack = Experiment::new()
        .array("x.ra", UINT8, &[4], &[0, 1, 2, 99])
        .describe("x.yaml", "[4]", "uint8")
        .file("README", "Read <me> *first*.\n")
        .file(
            "manifest.yaml",
            "attributes:\n  title: Mooring <7>\n  institution: Institute of \"Sea\"\n",
        );
    let home = TempDir::new().unwrap();
    let page = home.path().join("page.html");
    report(pack.path(), &page, &[]).exits(1);
    let text = fs::read_to_string(&page).unwrap();
    let places =
        ["<h1>Mooring &lt;7&gt;</h1>", "Institute of &quot;Sea&quot;", "Read &lt;me&gt; *first*."];
    let places = places.map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));
    // Markdown is only what is named so.
    fs::rename(pack.path().join("README"), pack.path().join("readme.md")).unwrap();
    report(pack.path(), &page, &["--force"]).exits(1);
    let rendered = fs::read_to_string(&page).unwrap();
    assert!(rendered.contains("Read &lt;me&gt; <em>first</em>."));
    assert!(places.is_sorted() && places[2] < text.find("id=\"/verification\"").unwrap());
}

#[test]
fn the_same_pack_gives_the_same_page() {
    let (home, archive) = home();
    let page = |name: &str| home.path().join(name);
    for (name, jobs) in [("one.html", "1"), ("four.html", "4")] {
        report(&archive, &page(name), &["--jobs", jobs]).exits(0);
    }
    let one = fs::read(page("one.html")).unwrap();
    assert!(one == fs::read(page("four.html")).unwrap(), "the number of jobs changes the page");
    let printed = report(&archive, "-".as_ref(), &[]).exits(0);
    assert!(one == printed.out, "the page on standard output differs");
}

#[test]
fn an_existing_page_is_replaced_only_by_force() {
    let (home, archive) = home();
    let page = home.path().join("page.html");
    fs::write(&page, "mine").unwrap();
    report(&archive, &page, &[]).exits(2).says(&["exists; use --force"]);
    assert_eq!(fs::read(&page).unwrap(), b"mine");
    report(&archive, &page, &["--force"]).exits(0);
    assert!(fs::read(&page).unwrap().starts_with(b"<!doctype html>"));
    report(Path::new("no such.zip"), &home.path().join("new.html"), &[]).exits(2);
    let names: Vec<_> =
        fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(
        names
            .iter()
            .all(|name| name != "new.html" && !name.to_string_lossy().contains("unfinished"))
    );
    report(&archive, "-".as_ref(), &["--json"]).exits(2);
}

#[test]
fn omitted_data_is_not_read() {
    let (home, archive) = home();
    let page = home.path().join("page.html");
    report(&archive, &page, &["--no-verify", "--no-statistics"]).exits(0).says(&["not verified)"]);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("Not verified") && !text.contains("<img") && !text.contains("<svg"));
    assert!(text.contains("temperature of the water") && text.contains("class=\"a\""));
}

/// Copies the archive with a byte changed in the data of one array.
fn damaged(archive: &Path) -> PathBuf {
    let mut bytes = fs::read(archive).unwrap();
    let name = b"thermistors/temperature.ra";
    let found = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[found + 400] ^= 0x55;
    let damaged = archive.with_file_name("damaged.zip");
    fs::write(&damaged, bytes).unwrap();
    damaged
}

#[test]
#[ignore = "slow"]
fn damaged_and_intact_arrays_are_shown() {
    let (home, archive) = home();
    let archive = damaged(&archive);
    let page = home.path().join("damaged.html");
    let ran = report(&archive, &page, &["--json"]).exits(1);
    let json = ran.json();
    let unreadable: Vec<_> = json["unreadable"].as_array().unwrap().iter().collect();
    assert_eq!(unreadable, ["thermistors/temperature.ra"]);
    let codes = ra("verify", &[&archive], &["--json"]).exits(1);
    assert_eq!(json["findings"], codes.json()["findings"], "as `verify` has them");
    assert_works(
        &page,
        &json!({
            "cards": 10,
            "texts": ["Not valid: ", "Intact: 9 of 10 arrays", "unreadable"],
            "hits": {"temperature": 2},
            "links": {"thermistors/temperature": "thermistors/temperature"},
        }),
    );
    // Reading the array finds the damage without `verify`.
    let again = report(&archive, &page, &["--force", "--no-verify"]).exits(1);
    again.says(&["`thermistors/temperature.ra` cannot be read"]);

    let bytes = fs::read(&archive).unwrap();
    let short = archive.with_file_name("short.zip");
    fs::write(&short, &bytes[..bytes.len() - 30]).unwrap();
    let page = home.path().join("short.html");
    report(&short, &page, &[]).exits(1);
    assert_works(&page, &json!({"cards": 0, "texts": ["Not valid: ", "short.zip"]}));
}

#[test]
#[ignore = "slow"]
fn nothing_in_a_pack_becomes_markup() {
    let evil = "</script><script>document.title='hit'</script>";
    let attribute = format!("'\"\u{202e}{evil}<img src=x onerror=\"document.title=1\">&amp; ünï'");
    let attribute = attribute.replace('\\', "\\\\").replace('"', "\\\"").replace('\'', "\u{2019}");
    let names = [
        "a \"b\" 'c' & <i>d</i>",
        "</noscript></table><script>document.title='hit'</script>",
        "javascript:document.title=1",
        "100% ünï\u{202e}cod 한국어 #hash?query",
        "search",
        "files/",
    ];
    let mut pack = Experiment::new();
    for (nth, name) in names.iter().enumerate() {
        let name = format!("{name}{}", if name.ends_with('/') { "x" } else { "" });
        let last = name.rsplit('/').next().unwrap().to_owned();
        let data = le(f32::to_le_bytes, (0..12_u8).map(f32::from));
        let quoted = serde_json::to_string(&last).unwrap();
        pack = pack.array(&format!("{name}.ra"), FLOAT32, &[3, 4], &data).file(
            &format!("{name}.yaml"),
            format!(
                "ndarrays:\n  {quoted}:\n    shape: [3, 4]\n    type: float32\n    attributes:\n      \
                 long_name: \"{attribute}\"\n      units: \"<b>&\"\n      \"<k{nth}>\": \"{}\"\n",
                "long".repeat(2000)
            ),
        );
    }
    let members: Vec<_> = (0..80).map(|nth| format!("\"<{nth}>\": {nth}, ")).collect();
    let members = members.concat();
    let pack = pack
        .file("<b>notes</b>.txt", evil)
        .array("many names.ra", UINT8, &[4], &[0, 1, 2, 99])
        .describe(
            "many names.yaml",
            "[4]",
            &format!("{{enum: {{base: uint8, members: {{{members}}}}}}}"),
        );
    let home = TempDir::new().unwrap();
    let archive = home.path().join("<i> '$(x)' \"&.tar");
    ra_pack().arg("create").arg(pack.path()).arg("-o").arg(&archive).assert().success();
    let page = home.path().join("page.html");
    report(&archive, &page, &[]).exits(0);
    let text = fs::read_to_string(&page).unwrap();
    assert!(!text.contains('\u{202e}') && !text.contains("<script>document"), "{text}");
    assert_eq!(text.matches("<script>").count(), 1);
    assert_works(
        &page,
        &json!({
            "cards": names.len() + 1,
            "texts": ["<i> '$(x)' \"&.tar", "\\u{202e}", "<b>notes</b>.txt"],
            "hits": {"<i>d": 1, "<b>&": names.len(), "<k3>": 1},
            "links": {"search": "search", "files/x": "files/x"},
        }),
    );
}

#[test]
#[ignore = "slow"]
fn every_kind_of_array_has_its_card() {
    let pack = Experiment::standard();
    let home = TempDir::new().unwrap();
    let page = home.path().join("page.html");
    let archive = home.path().join("all.tar.zst");
    ra_pack().arg("create").arg(pack.path()).arg("-o").arg(&archive).assert().success();
    report(&archive, &page, &[]).exits(0);
    let arrays = fs::read_to_string(&page).unwrap().matches("<article").count();
    assert_works(
        &page,
        &json!({
            "cards": arrays,
            "texts": ["hours since 2024-06-03T00:00:00Z", "missing = 9", "magnitude", "-7", "empty"],
            "hits": {"enum": 1},
        }),
    );
    // A directory without a manifest is not verified.
    let page = home.path().join("directory.html");
    report(pack.path(), &page, &[]).exits(1);
    assert!(fs::read_to_string(&page).unwrap().contains("The pack has no manifest"));
}
