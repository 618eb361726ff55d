//! Control characters in names, units and values: no command prints them unescaped.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::experiment::{Experiment, UINT8, ra_pack};

/// One of each kind: ESC, its one-byte equivalent, an ASCII control character, bidirectional controls, invisible
/// characters, line separators, a tag, a variation selector, and a noncharacter.
const HOSTILE: &str = "\u{9b}31m\u{1b}[31m\u{7f}\u{202e}\u{2066}\u{200e}\u{61c}\u{200b}\u{2060}\u{feff}\u{ad}\
                       \u{2028}\u{2029}\u{85}\u{e0041}\u{fe0f}\u{fffe}";

/// Quotes a text for YAML.
fn quoted(text: &str) -> String {
    let escape = |character: char| format!("\\U{:08x}", u32::from(character));
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

fn experiment() -> Experiment {
    let hostile = quoted(HOSTILE);
    let name = format!("a{HOSTILE}");
    let of_array = format!(
        "ndarrays:\n  {}:\n    shape: [2, 2]\n    type: {{enum: {{base: uint8, members: {{{hostile}: 0, ok: 1}}}}}}\n    \
         attributes: {{units: {hostile}, title: {hostile}, long_name: {hostile}, {hostile}: {hostile}}}\n",
        quoted(&name)
    );
    let bare =
        "ndarrays:\n  b:\n    shape: [2]\n    type: uint8\n    attributes: {units: m, comment: ";
    Experiment::new()
        .array(&format!("{name}.ra"), UINT8, &[2, 2], &[0, 1, 1, 7])
        .file(&format!("{name}.yaml"), of_array)
        .array("b.ra", UINT8, &[2], &[0, 1])
        .file("b.yaml", format!("{bare}x}}\n"))
        .file(&format!("notes{HOSTILE}.txt"), "notes")
        .file("manifest.yaml", format!("attributes: {{title: {hostile}, creator: {hostile}}}\n"))
}

/// Returns an unescaped character in the output of a run. Tabs and line ends are allowed.
fn objection(words: &[&str], said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let is_raw = |character: &char| HOSTILE.contains(*character) && !"[31m".contains(*character);
    let raw = said.chars().find(is_raw)?;
    let line = said.lines().find(|line| line.contains(raw)).unwrap_or_default();
    Some(format!("{words:?}: {raw:?} in {line:?}"))
}

#[test]
fn control_characters_are_never_printed() {
    let experiment = experiment();
    let scratch = TempDir::new().unwrap();
    let source = experiment.path().to_str().unwrap();
    let name = &format!("a{HOSTILE}.ra");
    let missing = &format!("c{HOSTILE}.ra");
    let archive = &format!("x{HOSTILE}.zip");
    let out = &format!("o{HOSTILE}");
    let (ra, npy, svg, html) = (
        &format!("{out}.ra"),
        &format!("{out}.npy"),
        &format!("{out}.svg"),
        &format!("{out}.html"),
    );
    // A second, different pack, and a document with an error in a line of unescaped characters.
    let other = TempDir::new().unwrap();
    let copy = other.path().to_str().unwrap();
    for (path, bytes) in crate::experiment::read_tree(experiment.path()) {
        fs::write(other.path().join(path), bytes).unwrap();
    }
    fs::write(other.path().join(format!("notes{HOSTILE}.txt")), "other notes").unwrap();
    fs::write(other.path().join(name), crate::experiment::raw_array(UINT8, &[2, 2], &[1; 4]))
        .unwrap();
    let broken = "bad.yaml";
    let text = format!("ndarrays:\n  b:\n    shape: 7 # {HOSTILE}\n    unknown: \"{HOSTILE}\"\n");
    fs::write(scratch.path().join(broken), text).unwrap();

    let runs: &[&[&str]] = &[
        &["create", source, "-o", archive, "--archive-digest"],
        &["create", source, "-o", archive],
        &["create", source, "-o", archive, "--force", "--archive-digest", "--progress=json"],
        &["create", source, "-o", &format!("nowhere{HOSTILE}/x.zip")],
        &["create", source, "-o", out],
        &["create", source, "-o", "p.zip", "--portable"],
        &["create", missing, "-o", "p.zip"],
        &["verify", archive],
        &["verify", archive, "--json"],
        &["verify", source, copy],
        &["verify", missing],
        &["list", archive],
        &["list", archive, "--json"],
        &["list", archive, "--tree"],
        &["list", archive, "--all"],
        &["list", archive, missing],
        &["info", archive],
        &["info", archive, "--json"],
        &["info", archive, name],
        &["info", archive, name, "--json"],
        &["info", archive, name, "--field", "name"],
        &["info", archive, name, "--field", "units"],
        &["info", archive, name, "--field", "attributes"],
        &["info", archive, name, "--field", missing],
        &["info", archive, missing],
        &["show", archive],
        &["show", archive, "--json"],
        &["show", archive, "--full"],
        &["show", archive, name],
        &["show", archive, name, "--json"],
        &["show", archive, name, "--stats"],
        &["show", archive, name, "--slice", missing],
        &["plot", archive, name],
        &["plot", archive, name, "-o", svg],
        &["plot", archive, name, "-o", out],
        &["report", archive, "-o", html],
        &["report", archive, "-o", html],
        &["get", archive, missing],
        &["get", archive, name, "-o", ra],
        &["get", archive, name, "-o", ra],
        &["get", archive, name, "-o", ra, "--force", "--json"],
        &["get", archive, name, "--format", "json"],
        &["extract", archive, "-C", out],
        &["extract", archive, "-C", out],
        &["extract", archive, missing, "-C", out],
        &["extract", archive, "-C", out, "--force", "--json"],
        &["describe", "--write", out],
        &["describe", "--update", out],
        &["describe", "--write", out, "--json"],
        &["validate", broken],
        &["validate", broken, "--json"],
        &["validate", out],
        &["diff", source, copy],
        &["diff", source, copy, "--json"],
        &["diff", source, missing],
        &["diff", &format!("{source}/{name}"), &format!("{copy}/{name}")],
        &["convert", archive, &format!("{out}.npz")],
        &["convert", archive, &format!("{out}.npz"), "--force", "--json"],
        &["convert", ra, npy],
        &["convert", ra, &format!("{out}.xyz")],
        &["reshape", ra, "5"],
        &["reshape", ra, "4"],
        &["manifest", archive, "--json"],
        &["manifest", archive, "-o", &format!("{out}.manifest-sha256.txt")],
        &["manifest", archive, "-o", &format!("{out}.manifest-sha256.txt")],
        &["manifest", "--check", archive],
        &["explain", missing],
        &["schema", missing],
        &[missing],
        &["list", archive, missing, &format!("--{HOSTILE}")],
    ];
    let mut objections = Vec::new();
    for words in runs {
        let output = ra_pack().args(*words).current_dir(scratch.path()).output().unwrap();
        assert!(output.status.code().is_some_and(|code| code <= 2), "{words:?}: {output:?}");
        objections.extend(objection(words, &output.stdout));
        objections.extend(objection(words, &output.stderr));
    }
    for page in [svg, html] {
        let page: &Path = page.as_ref();
        objections.extend(objection(&["page"], &fs::read(scratch.path().join(page)).unwrap()));
    }
    assert!(objections.is_empty(), "{}: {}", objections.len(), objections.join("\n"));

    let output = ra_pack().args(["list", archive, "--json"]).current_dir(scratch.path()).output();
    let json: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let members = json["members"].as_array().unwrap().iter();
    assert!(members.filter(|member| member["name"] == **name).count() == 1, "the same name");
}
