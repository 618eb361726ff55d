//! `schemas/` describes all JSON output completely, and `ra-pack schema` and docs/schemas.md show it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::experiment::{Element, Experiment, FLOAT32, UINT8, ra_pack, raw_array};
use crate::page::{Block, blocks, read};
use crate::remote::server::Server;
use crate::remote::store::attributes;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads every file in `schemas/`, by its name in the command.
fn texts() -> BTreeMap<String, String> {
    let files = fs::read_dir(root().join("schemas")).unwrap();
    files
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let name = name.strip_suffix(".schema.json").expect("the directory holds only schemas");
            (name.to_owned(), fs::read_to_string(&path).unwrap())
        })
        .collect()
}

fn schemas() -> BTreeMap<String, Value> {
    let parse = |text: String| serde_json::from_str(&text).unwrap();
    texts().into_iter().map(|(name, text)| (name, parse(text))).collect()
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap()
}

/// Returns a part of the schema `whole` that rejects every key that it does not describe.
fn closed(whole: &Value, part: &Value) -> Value {
    match part {
        Value::Object(map) if map.contains_key("$ref") && map.contains_key("properties") => {
            // Combines the keys of both.
            let mut both = target(whole, part).unwrap().clone();
            both["required"]
                .as_array_mut()
                .unwrap()
                .extend(map["required"].as_array().unwrap().clone());
            both["properties"]
                .as_object_mut()
                .unwrap()
                .extend(map["properties"].as_object().unwrap().clone());
            closed(whole, &both)
        }
        Value::Object(map) => {
            let mut map: serde_json::Map<_, _> =
                map.iter().map(|(key, value)| (key.clone(), closed(whole, value))).collect();
            if map
                .get("properties")
                .is_some_and(|properties| !properties.get("type").is_some_and(Value::is_string))
            {
                map.entry("additionalProperties").or_insert(json!(false));
            }
            Value::Object(map)
        }
        Value::Array(list) => list.iter().map(|part| closed(whole, part)).collect(),
        other => other.clone(),
    }
}

/// Returns the definition that a part of the schema refers to.
fn target<'a>(whole: &'a Value, part: &Value) -> Option<&'a Value> {
    let target = part["$ref"].as_str()?.strip_prefix('#').unwrap();
    Some(whole.pointer(target).expect("it is in the file"))
}

/// Calls `visit` with every schema that describes a value, not with conditions, and its path.
fn visit_schemas(schema: &Value, path: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, schema);
    for section in ["properties", "patternProperties", "$defs"] {
        for (key, schema) in schema[section].as_object().into_iter().flatten() {
            visit_schemas(schema, &format!("{path}/{section}/{key}"), visit);
        }
    }
    for key in ["items", "additionalProperties", "propertyNames"] {
        if schema[key].is_object() {
            visit_schemas(&schema[key], &format!("{path}/{key}"), visit);
        }
    }
    for key in ["oneOf", "anyOf"] {
        for form in schema[key].as_array().into_iter().flatten() {
            if form.get("description").is_some() || form.get("required").is_none() {
                visit(&format!("{path}/{key}/{form}"), form);
            }
        }
    }
}

#[test]
fn each_is_a_schema_with_a_name_and_hover_texts_everywhere() {
    for (name, schema) in schemas() {
        jsonschema::draft202012::meta::validate(&schema).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert_eq!(schema["$id"], format!("urn:ra-pack:schema:{name}"));
        visit_schemas(&schema, &name, &mut |path, part| {
            let says = |key: &str| {
                let text = part.get(key).or_else(|| target(&schema, part)?.get(key));
                text.and_then(Value::as_str).map(str::to_owned)
            };
            // Generated schemas have no inner titles, and entries of plain lists have no descriptions.
            let titled = path == name || name == "ndl" && !path.contains("/oneOf/");
            assert!(
                !titled || says("title").is_some_and(|text| !text.is_empty()),
                "{path}: no title"
            );
            let is_entry =
                ["/items", "/additionalProperties"].iter().any(|end| path.ends_with(end));
            let plain = name != "ndl" && is_entry && part.get("properties").is_none();
            let description = says("description").unwrap_or_default();
            assert!(plain || description.ends_with('.'), "{path}: {description}");
        });
    }
}

#[test]
fn the_command_prints_each_and_lists_them_all() {
    let list = ra_pack().arg("schema").assert().success();
    let list = String::from_utf8(list.get_output().stdout.clone()).unwrap();
    let mut listed: Vec<_> = list.lines().map(|line| line.split_once("  ").unwrap()).collect();
    listed.sort_unstable();
    let texts = texts();
    assert_eq!(
        listed.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        texts.keys().collect::<Vec<_>>()
    );
    for (name, title) in listed {
        let schema: Value = serde_json::from_str(&texts[name]).unwrap();
        assert_eq!(title.trim_start(), schema["title"]);
        ra_pack().args(["schema", name]).assert().success().stdout(texts[name].clone()).stderr("");
    }
}

#[test]
fn an_unknown_name_is_an_error_with_a_hint() {
    let refused = ra_pack().args(["schema", "info-aray"]).assert().code(2).stdout("");
    let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(message.contains("'info-array'"), "{message}");
}

/// Outputs of the binary, each validated against its schema.
struct Outputs {
    schemas: BTreeMap<String, (Value, Validator)>,
    /// Paths of the keys in the outputs, by schema.
    seen: BTreeSet<(String, String)>,
}

impl Outputs {
    fn new() -> Self {
        let closed = |schema: Value| {
            let validator = validator(&closed(&schema, &schema));
            (schema, validator)
        };
        let schemas = schemas().into_iter();
        Self {
            schemas: schemas.map(|(name, schema)| (name, closed(schema))).collect(),
            seen: BTreeSet::new(),
        }
    }

    /// Runs a command with `--json` and validates each line of its output against the schema `name`.
    fn check(&mut self, name: &str, status: i32, command: &mut Command) -> Vec<Value> {
        let ran = command.arg("--json").assert().code(status);
        let text = std::str::from_utf8(&ran.get_output().stdout).unwrap();
        let results: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(!results.is_empty(), "{command:?}");
        for result in &results {
            // The second line of `verify --against`.
            let is_second = name == "verify" && result["source"].is_string();
            let name = if is_second { "verify-against" } else { name };
            let faults: Vec<_> = self.schemas[name]
                .1
                .iter_errors(result)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(faults.is_empty(), "{command:?}\n{faults:#?}\n{result:#}");
            let mut result = result.clone();
            if let Some(description) = result.get_mut("description") {
                let description = description.take();
                assert!(self.schemas["ndl"].1.is_valid(&description), "{description:#}");
            }
            let mut keys = BTreeSet::new();
            collect_keys(&result, "", &mut keys);
            self.seen.extend(keys.into_iter().map(|key| (name.to_owned(), key)));
        }
        results
    }

    /// Returns the keys that a schema describes and no output has.
    fn unseen(&self, name: &str) -> Vec<String> {
        let schema = &self.schemas[name].0;
        let mut described = BTreeSet::new();
        described_keys(schema, schema, "", &mut described);
        let unseen = |key: &String| !self.seen.contains(&(name.to_owned(), key.clone()));
        described.into_iter().filter(unseen).collect()
    }
}

/// Collects the paths of keys; entries of lists add no component.
fn collect_keys(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}/{key}");
        collect_keys(value, &path, keys);
        keys.insert(path);
    }
    for value in value.as_array().into_iter().flatten() {
        collect_keys(value, path, keys);
    }
}

fn described_keys(whole: &Value, schema: &Value, path: &str, keys: &mut BTreeSet<String>) {
    if let Some(target) = target(whole, schema) {
        described_keys(whole, target, path, keys);
    }
    for form in ["oneOf", "anyOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
        described_keys(whole, form, path, keys);
    }
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}/{key}");
        described_keys(whole, schema, &path, keys);
        keys.insert(path);
    }
    if schema["items"].is_object() {
        described_keys(whole, &schema["items"], path, keys);
    }
}

/// Packs the sample in every container and layout, and makes a copy of each with a byte changed in an array.
fn archives(home: &Path, outputs: &mut Outputs) -> Vec<(PathBuf, PathBuf)> {
    let sample = root().join("examples/experiment");
    let kinds: [(&str, &[&str]); 4] = [
        (
            "plain.zip",
            &[
                "--archive-digest",
                "--store-checksums",
                "--sign-with",
                r#"sh -c 'cp "$1" "$1.sig"' sign"#,
                "--time-with",
                r#"sh -c 'cp "$1" "$1.tsr"' time"#,
                "--parity-with",
                r#"sh -c 'cp "$1" "$1.par2"' protect"#,
            ],
        ),
        ("deflated.zip", &["--compression", "deflate", "--no-external-manifest"]),
        ("bag.zip", &["--layout", "bagit"]),
        ("bag.tar", &["--layout", "bagit"]),
    ];
    let mut archives = Vec::new();
    for (name, options) in kinds {
        let whole = home.join(name);
        let mut create = ra_pack();
        create.arg("create").arg(&sample).arg("-o").arg(&whole).args(options);
        outputs.check("create", 0, &mut create);
        if name == "plain.zip" {
            let mut shard = ra_pack();
            shard.arg("create").arg(&sample).arg("-o").arg(home.join("shared.zip"));
            outputs.check("create-shard", 0, shard.args(["--shard", "1/2"]));
        }
        let damaged = home.join(format!("damaged-{name}"));
        let mut bytes = fs::read(&whole).unwrap();
        // After the header that begins with the name, 512 bytes in a tar.
        let after = if name == "bag.tar" { 560 } else { 200 };
        let data = bytes.windows(4).position(|window| window == b"bin.").unwrap() + after;
        bytes[data] ^= 0x55;
        fs::write(&damaged, bytes).unwrap();
        archives.push((whole, damaged));
    }
    let profile = sample.with_file_name("profiles").join("moorings.json");
    let mut validate = ra_pack();
    validate.arg("validate").arg(home.join("bag.zip")).arg("--profile").arg(profile);
    outputs.check("validate", 1, &mut validate);
    archives
}

/// Verifies an archive on a server, and compares one with an object in a store.
fn remote(home: &Path, outputs: &mut Outputs) {
    let server = Server::of("plain.zip", fs::read(home.join("plain.zip")).unwrap());
    let mut remote = ra_pack();
    remote.env("no_proxy", "127.0.0.1").arg("verify").arg(server.url("plain.zip"));
    outputs.check("verify", 0, &mut remote);
    let (copy, log) = (home.join("plain.zip"), home.join("store.jsonl"));
    let store =
        Server::answering("bucket/plain.zip", fs::read(&copy).unwrap(), |_, file| attributes(file));
    let mut beside = ra_pack();
    beside.env("no_proxy", "127.0.0.1").env("AWS_ENDPOINT_URL", format!("http://{}", store.host()));
    beside.args(["verify", "--store", "s3://bucket/", "--log"]).arg(&log).arg(&copy);
    outputs.check("verify", 0, &mut beside);
    outputs.check("audit", 0, ra_pack().arg("audit").arg(&log));
}

#[test]
#[ignore = "slow"]
fn every_result_on_the_sample_is_described_key_by_key() {
    let home = TempDir::new().unwrap();
    let mut outputs = Outputs::new();
    let array = "currents/spectrum.ra";
    for (at, (whole, damaged)) in archives(home.path(), &mut outputs).into_iter().enumerate() {
        let verified = outputs.check("verify", 0, ra_pack().arg("verify").arg(&whole));
        assert_eq!(verified[0]["findings"], json!([]));
        let found = outputs.check("verify", 1, ra_pack().arg("verify").arg(&damaged).arg(&whole));
        assert_eq!(found.len(), 2, "one line for each target");
        assert_ne!(found[0]["findings"], json!([]));
        outputs.check("manifest", 0, ra_pack().arg("manifest").arg(&whole));
        let mut check = ra_pack();
        outputs.check("verify", 0, check.args(["manifest", "--check"]).arg(&whole));
        let mut written = ra_pack();
        written.arg("manifest").arg(&whole).arg("-o").arg(home.path().join(format!("{at}.txt")));
        outputs.check("manifest", 0, &mut written);
        outputs.check("list", 0, ra_pack().arg("list").arg("--long").arg(&whole));
        let next = home.path().join(format!("next-{}", whole.file_name().unwrap().display()));
        fs::copy(&whole, &next).unwrap();
        let mut add = ra_pack();
        add.arg("add").arg(&next).args(["--remove", "README.md"]);
        outputs.check("create", 0, &mut add);
        let mut report = ra_pack();
        report.arg("report").arg(&damaged).arg("-o").arg(home.path().join(format!("{at}.html")));
        let report = &outputs.check("report", 1, &mut report)[0];
        assert_eq!(report["findings"], found[0]["findings"], "as `verify` has them");
        outputs.check("info-pack", 0, ra_pack().arg("info").arg(&whole));
        let info = outputs.check("info-array", 0, ra_pack().arg("info").arg(&whole).arg(array));
        assert_eq!(info[0]["type"], "complex64");
        outputs.check("show-pack", 0, ra_pack().arg("show").arg(&whole));
        for member in [array, "thermistors/quality.ra", "thermistors/temperature.ra"] {
            let mut show = ra_pack();
            outputs.check("show", 0, show.arg("show").arg(&whole).arg(member).arg("--stats"));
        }
        let out = home.path().join(format!("out{at}"));
        let mut get = ra_pack();
        get.arg("get").arg(&whole).arg(array).arg("-o").arg(out.with_extension("ra"));
        outputs.check("get", 0, &mut get);
        let mut part = ra_pack();
        part.arg("get").arg(&whole).args([array, "--slice", "..."]).arg("-o");
        outputs.check("get", 0, part.arg(out.with_extension("npy")));
        outputs.check("extract", 0, ra_pack().arg("extract").arg(&whole).arg("-C").arg(&out));
        let new = home.path().join(format!("new{at}.zip"));
        for (target, code) in [(&whole, 0), (&damaged, 1)] {
            let mut salvage = ra_pack();
            salvage.arg("salvage").arg(target).arg("-fo").arg(&new);
            outputs.check("salvage", code, &mut salvage);
        }
        let out = home.path().join(format!("damaged{at}"));
        outputs.check("extract", 1, ra_pack().arg("extract").arg(&damaged).arg("-C").arg(&out));
    }
    let sample = root().join("examples/experiment");
    outputs.check("verify", 1, ra_pack().arg("verify").arg(&sample)); // without a manifest
    outputs.check("list", 0, ra_pack().arg("list").arg(&sample));
    outputs.check("info-pack", 0, ra_pack().arg("info").arg(&sample));
    outputs.check("info-array", 0, ra_pack().arg("info").arg(sample.join("time.ra")));

    let group = Experiment::new()
        .array("a/x.ra", UINT8, &[2], &[1, 2])
        .file("a/x.yaml", "attributes: {title: x}\nndarrays: {x: {shape: [y], type: uint8}}\n");
    outputs.check("show-pack", 0, ra_pack().arg("show").arg(group.path()));
    let titled = Experiment::new().file("manifest.yaml", "attributes: {title: A, n: 1}\n");
    outputs.check("list", 0, ra_pack().arg("list").arg(titled.path()));
    outputs.check("info-pack", 0, ra_pack().arg("info").arg(titled.path()));

    let opaque = Experiment::new().array("x.ra", Element(0, 3), &[2], &[1, 2, 3, 4, 5, 6]);
    let mut show = ra_pack();
    show.arg("show").arg(opaque.path().join("x.ra")).arg("--stats");
    assert_eq!(outputs.check("show", 0, &mut show)[0]["statistics"]["of"], "nothing");

    let convert = |output: &str| {
        let mut convert = ra_pack();
        convert.arg("convert").arg(&sample).arg(home.path().join(output));
        convert
    };
    outputs.check("convert", 0, &mut convert("converted"));
    let mut one = convert("velocity.npy");
    outputs.check("convert", 0, one.args(["--member", "currents/velocity"]));
    let cut = Experiment::new().array("x.ra", FLOAT32, &[1], &[0; 4]).file("cut.ra", "rawarray");
    let mut broken = ra_pack();
    broken.arg("convert").arg(cut.path()).arg(home.path().join("broken"));
    outputs.check("convert", 1, &mut broken);

    outputs.check("explain-list", 0, ra_pack().arg("explain"));
    outputs.check("schema-list", 0, ra_pack().arg("schema"));
    outputs.check("version", 0, ra_pack().arg("--version"));
    let described = outputs.check("ndl", 0, ra_pack().arg("describe").arg(&sample));
    assert!(described[0]["/currents"]["ndarrays"]["velocity"].is_object());
    let mut command = ra_pack();
    outputs.check("ndl", 0, command.arg("describe").arg(sample.join("time.ra")));

    remote(home.path(), &mut outputs);
    faulty(home.path(), &mut outputs);
    block_digests(home.path(), &mut outputs);
    two_arrays(&mut outputs);
    contents(&mut outputs);
    two_packs(&mut outputs);
    // Every described key occurs. Findings have the same keys everywhere, and `verify` covers all.
    for name in outputs.schemas.keys().filter(|name| !["ndl", "progress"].contains(&name.as_str()))
    {
        let mut unseen = outputs.unseen(name);
        unseen.retain(|key| name == "verify" || !key.contains("/findings/"));
        assert_eq!(unseen, [""; 0], "{name}");
    }
}

/// Exports a slice that block digests prove, and verifies a shard of a file that they divide.
fn block_digests(home: &Path, outputs: &mut Outputs) {
    let long = Experiment::new()
        .array("long.ra", UINT8, &[2_000_000], &vec![1; 2_000_000])
        .describe("long.yaml", "[2000000]", "uint8");
    let pack = home.join("blocks.zip");
    let mut create = ra_pack();
    create.arg("create").arg(long.path()).args(["--block-digests=64K", "-o"]).arg(&pack);
    outputs.check("create", 0, &mut create);
    let mut get = ra_pack();
    get.arg("get").arg(&pack).args(["long.ra", "--slice", "0:9", "-o"]).arg(home.join("part.ra"));
    outputs.check("get", 0, &mut get);
    let mut shard = ra_pack();
    shard.arg("verify").arg(&pack).args(["--shard", "2/2"]);
    outputs.check("verify", 0, &mut shard);
}

/// Compares arrays that differ in every way, and reshapes one.
fn two_arrays(outputs: &mut Outputs) {
    let home = Experiment::new()
        .array("a.ra", UINT8, &[2, 3], &[1, 2, 3, 4, 5, 6])
        .file(
            "a.yaml",
            "ndarrays: {a: {shape: [2, 3], type: uint8, attributes: {scale_factor: 0.5}}}\n",
        )
        .array("b.ra", UINT8, &[2, 3], &[1, 2, 3, 4, 5, 9])
        .file("c.ra", [raw_array(UINT8, &[1], &[3]), b"more".to_vec()].concat());
    let file = |name: &str| home.path().join(name);
    for (other, status) in [("a.ra", 0), ("b.ra", 1), ("c.ra", 1)] {
        let mut diff = ra_pack();
        diff.arg("diff").arg(file("a.ra")).arg(file(other));
        outputs.check("diff-arrays", status, &mut diff);
    }
    outputs.check("reshape", 0, ra_pack().arg("reshape").arg(file("a.ra")).args(["3", "2"]));
}

/// Lists content digests, and compares a pack with a source that differs.
fn contents(outputs: &mut Outputs) {
    let scaled = "ndarrays: {a: {shape: [2], type: uint8, attributes: {scale_factor: 0.5}}}\n";
    let home = Experiment::new()
        .array("p/a.ra", UINT8, &[2], &[1, 2])
        .file("p/a.yaml", scaled)
        .array("s/a.ra", Element(2, 2), &[2], &[1, 0, 3, 0])
        .array("s/b.ra", UINT8, &[1], &[1])
        .file("s/cut.ra", "rawarray");
    let at = |name: &str| home.path().join(name);
    let mut content = ra_pack();
    outputs.check("manifest-content", 1, content.args(["manifest", "--content"]).arg(at("s")));
    fs::remove_file(at("s/cut.ra")).unwrap();
    ra_pack().arg("create").arg(at("p")).arg("-o").arg(at("p.zip")).assert().success();
    let mut against = ra_pack();
    against.arg("verify").arg(at("p.zip")).arg("--against").arg(at("s"));
    assert_eq!(outputs.check("verify", 1, &mut against).len(), 2);
}

/// Compares packs that differ in every way.
fn two_packs(outputs: &mut Outputs) {
    let described = |units: &str| {
        format!(
            "ndarrays: {{a: {{shape: [2], type: uint8, attributes: {{units: {units}, add_offset: 1}}}}}}\n"
        )
    };
    let pack = || Experiment::new().file("kept.txt", "kept");
    let mut big = raw_array(Element(2, 2), &[1], &[0, 1]);
    big[8] = 1;
    let ours = pack()
        .array("a.ra", UINT8, &[2], &[1, 2])
        .file("a.yaml", described("m"))
        .array("b.ra", Element(2, 2), &[1], &[1, 0])
        .array("c.ra", UINT8, &[1], &[1])
        .array("same.ra", UINT8, &[1], &[7])
        .describe("same.yaml", "[1]", "uint8")
        .file("d.txt", "one\n")
        .file("old.txt", "moved")
        .file("manifest-sha256.txt", "")
        .file("gone.txt", "gone away");
    let theirs = pack()
        .array("a.ra", UINT8, &[2], &[1, 3])
        .file("a.yaml", described("km"))
        .file("b.ra", big)
        .array("c.ra", UINT8, &[2], &[1, 1])
        .array("same.ra", UINT8, &[1], &[7])
        .file("same.yaml", "ndarrays: {same: {shape: [1], type: uint8}}\n")
        .file("d.txt", "two\n")
        .file("new.txt", "moved");
    let mut diff = ra_pack();
    diff.arg("diff").arg("--all").arg(ours.path()).arg(theirs.path());
    outputs.check("diff-packs", 1, &mut diff);
}

/// Produces findings with every key.
fn faulty(home: &Path, outputs: &mut Outputs) {
    // Warnings, generated descriptions, leftovers of an interrupted run.
    let untidy = Experiment::new()
        .array("a.ra", UINT8, &[2], &[1, 2])
        .array("x.ra", UINT8, &[2], &[1, 2])
        .file("x.yaml", "dimcoords:\n  x: {type: uint8, size: 2, value: [1, 2]}\n")
        .file("b.ra", [raw_array(UINT8, &[1], &[3]), b"more".to_vec()].concat())
        .file("NAME.txt", "one")
        .file("name.txt", "two")
        .file("ro-crate-metadata.json", "{}");
    let archive = home.join("untidy.zip");
    fs::write(home.join(".untidy.zip.ra-pack-unfinished"), "").unwrap();
    let mut create = ra_pack();
    create.arg("create").arg(untidy.path()).arg("-o").arg(&archive).arg("--describe");
    let made = outputs.check("create", 0, &mut create);
    assert_ne!(made[0]["findings"], json!([]));
    for (name, verb) in
        [("verify", "verify"), ("list", "list"), ("info-pack", "info"), ("show-pack", "show")]
    {
        outputs.check(name, 0, ra_pack().arg(verb).arg(&archive));
    }
    outputs.check(
        "extract",
        0,
        ra_pack().arg("extract").arg(&archive).arg("-C").arg(home.join("untidy")),
    );

    // Headers, descriptions and a manifest that are not valid.
    let broken = Experiment::new()
        .array("a.ra", UINT8, &[2], &[1, 2])
        .describe("a.yaml", "[3]", "uint8")
        .array("b.ra", UINT8, &[1], &[3])
        .describe("b.yaml", "[1]", "flaot32")
        .file("c.ra", &raw_array(Element(1, 4), &[3], &[0; 12])[..50])
        .array("d.ra", UINT8, &[1], &[3])
        .file("manifest-sha256.txt", "no digest  a.ra\n");
    outputs.check("verify", 1, ra_pack().arg("verify").arg(broken.path()));
    outputs.check("list", 0, ra_pack().arg("list").arg(broken.path()));
    outputs.check("info-pack", 1, ra_pack().arg("info").arg(broken.path()));
    outputs.check("validate", 1, ra_pack().arg("validate").arg(broken.path()).arg(&archive));

    // Written descriptions, and one that does not match its header.
    let stale = Experiment::new()
        .array("a.ra", UINT8, &[2], &[1, 2])
        .describe("a.yaml", "[3]", "uint8")
        .array("b.ra", UINT8, &[1], &[3]);
    let mut describe = ra_pack();
    outputs.check("describe-write", 0, describe.arg("describe").arg("--write").arg(stale.path()));
    let mut describe = ra_pack();
    outputs.check("describe-update", 0, describe.arg("describe").arg("--update").arg(stale.path()));
    outputs.check("explain", 0, ra_pack().arg("explain").arg("NDL040"));
    outputs.check("explain", 0, ra_pack().arg("explain").arg("NAME001"));
    let none = home.join("none.zip");
    fs::write(&none, "PK, it said").unwrap();
    outputs.check("verify", 1, ra_pack().arg("verify").arg(&none));

    // Targets that cannot be read, a shard, and logs with a line that cannot be read.
    let log = home.join("audit.jsonl");
    let mut verify = ra_pack();
    verify.arg("verify").arg(home.join("no.zip")).arg(&none).arg("--log").arg(&log);
    outputs.check("verify", 2, &mut verify);
    let mut verify = ra_pack();
    verify.arg("verify").arg(&archive).args(["--shard", "1/2", "--log"]).arg(&log);
    outputs.check("verify", 0, &mut verify);
    fs::write(&log, fs::read_to_string(&log).unwrap() + "{\n").unwrap();
    let lines = fs::read_to_string(&log).unwrap();
    let future = lines.replace("\"started\":\"20", "\"started\":\"29");
    fs::write(&log, lines + &future).unwrap();
    let mut audit = ra_pack();
    outputs.check("audit", 1, audit.arg("audit").arg(&log).args(["--max-age", "1d"]));
}

#[test]
fn the_docs_show_what_an_editor_needs() {
    let validator = validator(&schemas()["ndl"]);
    let blocks = blocks(&read("docs/schemas.md"));
    let documents: Vec<_> = blocks.iter().filter(|block| block.kind == "yaml").collect();
    assert!(!documents.is_empty());
    for Block { text, .. } in documents {
        // A language server reads the comment and loads the file that it names.
        assert!(text.starts_with("# yaml-language-server: $schema=ndl.schema.json\n"), "{text}");
        let document = ra_pack::ndl::parse(text.as_bytes()).document.unwrap();
        let document = serde_json::to_value(document).unwrap();
        assert!(validator.is_valid(&document), "{document:#}");
    }
}
