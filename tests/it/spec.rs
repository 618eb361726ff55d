//! The specification in `docs/spec` and the test vectors in `tests/vectors` agree with the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ra_pack::digest::Digest;
use ra_pack::inspect::{InfoOptions, ValidateOptions, validate_text};
use ra_pack::ndl::{self, Attribute, Extent, Ndarray, Value};
use ra_pack::verify::VerifyOptions;
use ra_pack::write::{ExtractOptions, Layout};
use ra_pack::{Code, Finding, extract, ra};
use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;

use crate::experiment::{Experiment, UINT8, ra_pack};
use crate::foreign::installed;

/// Unpacks a zip with `extract`, and returns the names of all files below `directory`.
fn files_below(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_str().unwrap();
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// Returns the names that a manifest lists.
fn listed(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap();
    text.lines().map(|line| line.split_once("  ").unwrap().1.to_owned()).collect()
}

/// The comment at the beginning of `manifest.yaml` names the files of arrays, and the files that each manifest lists.
/// Someone who has only this comment must not be misled in any layout.
#[test]
fn the_head_comment_of_a_pack_is_true_in_both_layouts() {
    let home = TempDir::new().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    for (layout, top, payload) in [("plain", "", ""), ("bagit", "exp/", "data/")] {
        let archive = home.path().join(layout).join("exp.zip");
        fs::create_dir(archive.parent().unwrap()).unwrap();
        let options = ["--layout", layout, "--digest", "sha256,sha512", "--block-digests=4K"];
        ra_pack().args(["create", "-o"]).args([&archive, &source]).args(options).assert().success();
        let unpacked = home.path().join(layout).join("unpacked");
        ra_pack().args(["extract", "-C"]).args([&unpacked, &archive]).assert().success();
        let root = unpacked.join(top);
        let all = files_below(&root);
        let head: String = {
            let text = fs::read_to_string(root.join("manifest.yaml")).unwrap();
            text.split_inclusive('\n').take_while(|line| line.starts_with('#')).collect()
        };

        for said in [
            "The array NAME of group /a/b is the file a/b/NAME.ra; in a bag (next to bagit.txt), data/a/b/NAME.ra.",
            "manifest-sha256.txt has the SHA-256 of every file except manifest-*.txt and signatures of manifests.",
            "In a bag, it has those of the files in data/, and tagmanifest-sha256.txt those of the other files.",
            "To check them: sha256sum -c manifest-sha256.txt",
            "docs/spec",
        ] {
            assert!(head.contains(said), "{head}");
        }
        assert_eq!(all.contains("bagit.txt"), layout == "bagit");
        assert!(all.contains(&format!("{payload}thermistors/temperature.ra")));
        let is_manifest = |name: &&String| name.starts_with("manifest-");
        let is_tag_manifest = |name: &&String| name.starts_with("tagmanifest-");
        let rest: BTreeSet<_> = all.iter().filter(|name| !is_tag_manifest(name)).cloned().collect();
        for algorithm in ["sha256", "sha512"] {
            let of_files = listed(&root.join(format!("manifest-{algorithm}.txt")));
            let tags = root.join(format!("tagmanifest-{algorithm}.txt"));
            if layout == "plain" {
                let expected = all.iter().filter(|name| !is_manifest(name)).cloned().collect();
                assert_eq!(of_files, expected);
                assert!(!tags.exists());
            } else {
                let (data, others): (BTreeSet<_>, BTreeSet<_>) =
                    rest.iter().cloned().partition(|name| name.starts_with("data/"));
                assert_eq!((of_files, listed(&tags)), (data, others));
            }
        }
        // `manifest --check` and `verify` mean the same files.
        for checked in [&["manifest", "--check"][..], &["verify"]] {
            ra_pack().args(checked).arg(&root).assert().success();
            ra_pack().args(checked).arg(&archive).assert().success();
        }
        let more = root.join(payload).join("more.txt");
        fs::write(&more, "").unwrap();
        for checked in [&["manifest", "--check"][..], &["verify"]] {
            ra_pack().args(checked).arg(&root).assert().code(1);
        }
        fs::remove_file(more).unwrap();
        // The length of a header, and where the data begins, as the comment says.
        let time = fs::read(root.join(format!("{payload}time.ra"))).unwrap();
        let number = |at: usize| u64::from_le_bytes(time[at..at + 8].try_into().unwrap());
        assert_eq!(&time[..8], b"rawarray");
        assert_eq!([8, 16, 24, 32, 40, 48].map(number), [0, 3, 8, 1192, 1, 149]);
        assert_eq!(time.len(), 48 + 8 + 1192);
        if installed(&["sha256sum"]) {
            for manifest in all.iter().filter(|name| name.ends_with("manifest-sha256.txt")) {
                let mut check = Command::new("sha256sum");
                let ran = check.args(["--quiet", "-c", manifest]).current_dir(&root).output();
                let ran = ran.unwrap();
                assert!(
                    ran.status.success(),
                    "{manifest}: {}",
                    String::from_utf8_lossy(&ran.stderr)
                );
            }
        }
    }
}

/// Whether a file is a manifest at the root of a plain pack, or a signature of one, as section 6.2 of the page means them.
fn is_manifest_or_signature(name: &str) -> bool {
    let signed = [".minisig", ".sig", ".asc", ".sigstore.json", ".tsr"];
    let name = signed.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
        .iter()
        .any(|algorithm| name == format!("manifest-{algorithm}.txt"))
}

/// Returns the files that a list has, by the table of section 6.2 of the page.
fn every_file(list: &str, all: &BTreeSet<String>) -> BTreeSet<String> {
    let is_bag = all.contains("bagit.txt");
    let is_listed = |name: &&String| match list {
        _ if list.starts_with("tagmanifest-") => {
            !name.starts_with("data/") && !name.starts_with("tagmanifest-")
        }
        _ if is_bag => name.starts_with("data/"),
        _ => !is_manifest_or_signature(name),
    };
    all.iter().filter(is_listed).cloned().collect()
}

/// "Every file" means the same on the page, in the manifests that `create` writes, and for `manifest`,
/// `manifest --check`, `verify` and `sha256sum -c`, in each layout and container.
#[test]
#[ignore = "slow"]
fn every_file_means_the_same_everywhere() {
    let home = TempDir::new().unwrap();
    // Names that resemble those of the pack itself, but are payload.
    let source = Experiment::new()
        .array("a.ra", UINT8, &[2], &[1, 2])
        .array("run/b.ra", UINT8, &[1], &[3])
        .file("run/manifest-sha256.txt", "")
        .file("run/manifest.yaml", "")
        .file("run/manifest-md5.txt.sig", "")
        .file("manifest-other.txt", "")
        .file("other.sig", "");
    let codes = |arguments: &[&str], target: &Path| {
        ra_pack().args(arguments).arg(target).assert().get_output().status.code().unwrap()
    };
    let run = |target: &Path| [codes(&["manifest", "--check"], target), codes(&["verify"], target)];
    for (layout, ending) in [
        ("plain", ".zip"),
        ("plain", ".tar"),
        ("plain", ".tar.gz"),
        ("bagit", ".zip"),
        ("bagit", ".tar.gz"),
    ] {
        let at = home.path().join(format!("{layout}{ending}"));
        fs::create_dir(&at).unwrap();
        let archive = at.join(format!("exp{ending}"));
        let digests =
            ["--describe", "--digest", "sha256,sha512", "--block-digests=4K", "--layout", layout];
        ra_pack()
            .args(["create", "-o"])
            .args([&archive, source.path()])
            .args(digests)
            .assert()
            .success();
        assert_eq!(run(&archive), [0, 0], "{layout} {ending}");
        let top = at.join("unpacked");
        ra_pack().args(["extract", "-q", "-C"]).args([&top, &archive]).assert().success();
        let root = if layout == "plain" { top } else { top.join("exp") };
        // A signature of the manifest is added by another program later.
        let signature = root.join("manifest-sha256.txt.minisig");
        if layout == "plain" {
            fs::write(&signature, "signature").unwrap();
        }
        let all = files_below(&root);
        let lists: Vec<_> = all
            .iter()
            .filter(|name| name.ends_with("manifest-sha256.txt") && !name.contains('/'))
            .collect();
        for list in &lists {
            for list in [(*list).clone(), list.replace("sha256", "sha512")] {
                assert_eq!(listed(&root.join(&list)), every_file(&list, &all), "{layout} {list}");
            }
        }
        for target in [&archive, &root] {
            let printed = ra_pack().arg("manifest").arg(target).assert().success();
            let text = String::from_utf8(printed.get_output().stdout.clone()).unwrap();
            let names = text.lines().map(|line| line.split_once("  ").unwrap().1.to_owned());
            assert_eq!(names.collect::<BTreeSet<_>>(), every_file("manifest-sha256.txt", &all));
        }
        let sums = || {
            let check = |list: &&String| {
                let mut command = Command::new("sha256sum");
                let ran = command.args(["--status", "-c", list]).current_dir(&root).status();
                ran.unwrap().success()
            };
            !installed(&["sha256sum"]) || lists.iter().all(check)
        };
        assert_eq!((run(&root), sums()), ([0, 0], true), "{layout}");
        // A change of a file is found exactly if a list has it.
        for name in all.iter().filter(|name| !name.contains("manifest-sha") || name.contains('/')) {
            let file = root.join(name);
            let before = fs::read(&file).unwrap();
            fs::write(&file, [&before[..], b"\n"].concat()).unwrap();
            let is_listed = lists.iter().any(|list| every_file(list, &all).contains(name));
            assert_eq!(run(&root), [i32::from(is_listed); 2], "{layout} {name}");
            assert_eq!(sums(), !is_listed || !installed(&["sha256sum"]), "{layout} {name}");
            fs::write(&file, before).unwrap();
        }
        // A file that no list has is found where a list must have it.
        let more = root.join(if layout == "plain" { "more.txt" } else { "data/more.txt" });
        fs::write(&more, "").unwrap();
        assert_eq!((run(&root), sums()), ([1, 1], true), "{layout}");
        fs::remove_file(more).unwrap();
        assert_eq!((run(&root), sums()), ([0, 0], true), "{layout}");
    }
}

/// The version is in the program, in generated documents and on the pages of the specification.
#[test]
fn the_version_of_the_format_is_the_same_everywhere() {
    let version = ra_pack::write::FORMAT_VERSION;
    let printed = ra_pack().arg("--version").assert().success();
    let printed = String::from_utf8(printed.get_output().stdout.clone()).unwrap();
    let expected = format!("ra-pack {}\npack format {version}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(printed, expected);
    for words in [["--version", "--json"], ["--json", "--version"], ["-V", "--json"]] {
        let printed = ra_pack().args(words).assert().success();
        let printed: Json = serde_json::from_slice(&printed.get_output().stdout).unwrap();
        let expected = json!({
            "program": "ra-pack",
            "version": env!("CARGO_PKG_VERSION"),
            "pack_format": version,
            "rawarray": version,
            "ndl": ndl::VERSION,
        });
        assert_eq!(printed, expected);
    }
    for (name, expected) in [("plain", Some(version)), ("newer", Some("1.1")), ("deflate", None)] {
        let pack = vector(&format!("packs/{name}.zip"));
        let info = ra_pack::info(&pack, &InfoOptions::default()).unwrap();
        assert_eq!(info.format_version.as_deref(), expected, "{name}");
        let text = ra_pack().arg("info").arg(&pack).assert().get_output().stdout.clone();
        let text = String::from_utf8(text).unwrap();
        let stated = expected.map(|version| format!(": a zip, pack format {version}\n"));
        assert!(text.contains(&stated.unwrap_or(": a zip\n".to_owned())), "{text}");
    }
    for (page, ..) in PAGES {
        let text = fs::read_to_string(root().join(format!("docs/spec/{page}.md"))).unwrap();
        assert!(text.contains(&format!("- **Version.** This is version {version}")), "{page}");
    }
    let document = fs::read_to_string(root().join("docs/spec/pack.md")).unwrap();
    assert!(document.contains(&format!("# Pack format {version}. Specification: docs/spec")));
    let language = format!("Ndarray Data Language {}, which is YAML", ndl::VERSION);
    assert!(document.contains(&language));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn vector(file: &str) -> PathBuf {
    root().join("tests/vectors").join(file)
}

/// Returns the expected results of one kind of vectors.
pub(crate) fn vectors(kind: &str) -> Vec<Json> {
    let text = fs::read_to_string(vector(&format!("{kind}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the codes that a vector expects, errors and warnings apart.
fn expected(vector: &Json) -> [BTreeSet<String>; 2] {
    ["errors", "warnings"].map(|key| {
        let codes = vector[key].as_array().unwrap().iter();
        codes.map(|code| code.as_str().unwrap().to_owned()).collect()
    })
}

/// Returns the codes of findings, errors and warnings apart.
fn found<'f>(findings: impl Iterator<Item = &'f Finding>) -> [BTreeSet<String>; 2] {
    let mut codes = [BTreeSet::new(), BTreeSet::new()];
    for finding in findings {
        codes[usize::from(!finding.is_error())].insert(finding.code.id().to_owned());
    }
    codes
}

#[test]
fn the_vectors_are_made_again_byte_for_byte() {
    if !installed(&["python3"]) {
        return;
    }
    let ran = Command::new("python3").args([&vector("make.py")]).arg("--check").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let size: u64 =
        files_below(&vector("")).iter().map(|name| vector(name).metadata().unwrap().len()).sum();
    assert!(size < 400 * 1024, "{size}");
    for kind in ["arrays", "descriptions", "packs"] {
        let all = vectors(kind);
        let rejected = all.iter().filter(|vector| vector["valid"] == false).count();
        assert!(rejected * 3 >= all.len(), "{kind}: {rejected} of {}", all.len());
    }
}

#[test]
fn every_array_of_the_vectors_is_read_as_expected() {
    let home = TempDir::new().unwrap();
    let all = vectors("arrays");
    for vector in &all {
        let file = vector["file"].as_str().unwrap();
        let to = home.path().join(Path::new(file).file_name().unwrap());
        fs::copy(self::vector(file), to).unwrap();
    }
    let report = ra_pack::validate(home.path(), &ValidateOptions::default()).unwrap();
    for vector in &all {
        let file = vector["file"].as_str().unwrap();
        let name = file.strip_prefix("arrays/").unwrap();
        let findings = report.findings.iter().filter(|finding| {
            finding.member.as_deref() == Some(name) && finding.code.id().starts_with("RA")
        });
        assert_eq!(found(findings), expected(vector), "{name}");
        let bytes = fs::read(self::vector(file)).unwrap();
        let decoded = ra::decode(&bytes);
        let Some(sha256) = vector["decoded_sha256"].as_str() else {
            assert!(decoded.is_err(), "{name}");
            continue;
        };
        let decoded = decoded.unwrap();
        let header = &decoded.header;
        assert_eq!(
            json!({
                "flags": header.flags().bits(),
                "eltype": header.element().eltype(),
                "elbyte": header.element().elbyte(),
                "type": header.element().to_string(),
                "dims": header.dims(),
                "encoding": decoded.encoding.to_string(),
                "trailing": decoded.metadata.len(),
            }),
            json!({
                "flags": vector["flags"],
                "eltype": vector["eltype"],
                "elbyte": vector["elbyte"],
                "type": vector["type"],
                "dims": vector["dims"],
                "encoding": vector["encoding"],
                "trailing": vector["trailing"],
            }),
            "{name}"
        );
        if cfg!(target_endian = "little") {
            assert_eq!(Digest::sha256(&decoded.data).to_string(), sha256, "{name}");
        }
        let (pack, member) = ra_pack::Pack::of_array(self::vector(file)).unwrap();
        let content = pack.array(&member).unwrap().content_digest().unwrap().to_string();
        assert_eq!(json!(content), vector["content_sha256"], "{name}");
    }
}

fn value(value: &Value) -> Json {
    match value {
        Value::Float(number) if number.is_nan() => json!("nan"),
        Value::Float(number) if number.is_infinite() => {
            json!(if *number > 0.0 { "inf" } else { "-inf" })
        }
        Value::List(list) => list.iter().map(self::value).collect(),
        Value::Map(map) => {
            map.iter().map(|(key, entry)| (key.clone(), self::value(entry))).collect()
        }
        scalar => serde_json::to_value(scalar).unwrap(),
    }
}

/// Returns the entry of a key with these entries, if there are any.
fn section(key: &str, entries: Map<String, Json>) -> Map<String, Json> {
    let entries = (!entries.is_empty()).then_some((key.to_owned(), Json::Object(entries)));
    entries.into_iter().collect()
}

fn attributes(list: &[Attribute]) -> Map<String, Json> {
    let entries = list.iter().map(|it| {
        let body = json!({
            "shape": it.shape,
            "type": datatype(&it.datatype),
            "value": value(&it.value),
        });
        (it.name.clone(), body)
    });
    section("attributes", entries.collect())
}

fn datatype(datatype: &ndl::Datatype) -> Json {
    serde_yaml::from_str(&datatype.to_flow()).unwrap()
}

fn array(array: &Ndarray) -> Json {
    let shape = array.shape.iter().map(|extent| match extent {
        Extent::Fixed(length) => json!(length),
        Extent::Unlimited => Json::Null,
        Extent::Coord(name) => json!(name),
    });
    let mut body = Map::new();
    body.insert("shape".to_owned(), shape.collect());
    body.insert("type".to_owned(), datatype(&array.datatype));
    body.extend(array.value.as_ref().map(|it| ("value".to_owned(), value(it))));
    body.extend(attributes(&array.attributes));
    if let Some(storage) = &array.storage {
        let mut keys = Map::new();
        keys.extend(storage.shape.as_ref().map(|it| ("shape".to_owned(), json!(it))));
        keys.extend(storage.chunk.as_ref().map(|it| ("chunk".to_owned(), json!(it))));
        if !storage.filter.is_empty() {
            keys.insert("filter".to_owned(), storage.filter.iter().map(value).collect());
        }
        keys.extend(storage.endian.map(|it| ("endian".to_owned(), json!(it.word()))));
        keys.extend(storage.charset.as_ref().map(|it| ("charset".to_owned(), json!(it))));
        keys.extend(storage.fillvalue.as_ref().map(|it| ("fillvalue".to_owned(), value(it))));
        if storage.order != ndl::Order::Column {
            keys.insert("order".to_owned(), json!(storage.order.word()));
        }
        keys.extend(storage.other.iter().map(|(key, it)| (key.clone(), value(it))));
        body.extend(section("storage", keys));
    }
    Json::Object(body)
}

#[test]
fn every_description_of_the_vectors_is_read_as_expected() {
    for vector in vectors("descriptions") {
        let file = vector["file"].as_str().unwrap();
        let text = fs::read(self::vector(file)).unwrap();
        let report = validate_text(&text, &ValidateOptions::default());
        assert_eq!(found(report.findings.iter()), expected(&vector), "{file}");
        if vector["valid"] == false {
            continue;
        }
        let document = ndl::parse(&text).document.unwrap();
        let groups = document.groups.iter().map(|group| {
            let arrays = |list: &[Ndarray]| {
                list.iter().map(|it| (it.name.clone(), array(it))).collect::<Map<_, _>>()
            };
            let mut body = attributes(&group.attributes);
            body.extend(section("dimcoords", arrays(&group.dimcoords)));
            body.extend(section("ndarrays", arrays(&group.ndarrays)));
            (group.path.clone(), Json::Object(body))
        });
        assert_eq!(Json::Object(groups.collect()), vector["groups"], "{file}");
    }
}

/// `extract` reports no error in a pack that `verify` accepts, and confirms each file that must be listed.
#[test]
fn every_valid_pack_of_the_vectors_is_unpacked_without_an_error() {
    for vector in vectors("packs") {
        let file = vector["file"].as_str().unwrap();
        if vector["valid"] == false || self::vector(file).is_dir() {
            continue;
        }
        let home = TempDir::new().unwrap();
        let report = extract(self::vector(file), home.path(), &ExtractOptions::default()).unwrap();
        let [errors, _] = found(report.findings.iter());
        assert!(errors.is_empty(), "{file}: {errors:?}");
    }
}

/// `packs.py` writes packs from the specification. If `create` writes the same bytes from the same files, the page says
/// everything that a second writer needs.
#[test]
fn every_pack_of_the_vectors_is_verified_and_written_as_expected() {
    for vector in vectors("packs") {
        let file = vector["file"].as_str().unwrap();
        let pack = self::vector(file);
        let report = ra_pack::verify(&pack, &VerifyOptions::default()).unwrap();
        assert_eq!(found(report.findings.iter()), expected(&vector), "{file}");
        assert_eq!(json!(report.layout), vector["layout"], "{file}");
        let Some(files) = vector["files"].as_object() else {
            continue;
        };
        let home = TempDir::new().unwrap();
        let unpacked = home.path().join("unpacked");
        ra_pack().args(["extract", "-q", "-C"]).args([&unpacked, &pack]).assert().success();
        let name = pack.file_name().unwrap().to_str().unwrap();
        let stem = name.split('.').next().unwrap();
        let has_manifest = |top: &PathBuf| {
            let mut names = fs::read_dir(top).into_iter().flatten();
            names.any(|entry| entry.unwrap().file_name().to_str().unwrap().starts_with("manifest-"))
        };
        let top =
            [unpacked.join(stem), unpacked.join("bag"), unpacked.join("exp"), unpacked.clone()];
        let top = top.into_iter().find(has_manifest).unwrap();
        let digests = files_below(&top).into_iter().map(|name| {
            let digest = Digest::sha256(&fs::read(top.join(&name)).unwrap());
            (name, json!(digest.to_string()))
        });
        assert_eq!(digests.collect::<Map<_, _>>(), *files, "{file}");
        let Some(written) = vector["written_from"].as_object() else {
            continue;
        };
        let source = home.path().join("source");
        fs::create_dir(&source).unwrap();
        let payload = if report.layout == Layout::BagIt { top.join("data") } else { top };
        for name in written["payload"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            let to = source.join(name);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            match name.strip_suffix('/') {
                Some(_) => fs::create_dir_all(to).unwrap(),
                None => drop(fs::copy(payload.join(name), to).unwrap()),
            }
        }
        let archive = home.path().join(name);
        let options = written["options"].as_array().unwrap();
        let options = options.iter().map(|option| option.as_str().unwrap());
        ra_pack()
            .args(["create", "-q", "-o"])
            .args([&archive, &source])
            .args(options)
            .env_remove("SOURCE_DATE_EPOCH")
            .assert()
            .success();
        assert!(fs::read(&archive).unwrap() == fs::read(&pack).unwrap(), "{file}: other bytes");
    }
}

/// The pages of the specification, and the vectors of each.
const PAGES: [(&str, &str, &str); 3] =
    [("rawarray", "arrays", ".ra"), ("ndl", "descriptions", ".yaml"), ("pack", "packs", "")];

/// The texts between backticks.
fn code_spans(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The codes in a text, such as `MAN003`.
fn codes(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words
        .filter(|word| word.parse::<Code>().is_ok_and(|code| code.id() == *word))
        .map(str::to_owned)
        .collect()
}

/// Families of codes for rules of others, which a pack need not keep.
const OF_OTHERS: [&str; 6] = ["CONV", "META", "PROF", "REPO", "SIG", "STORE"];

/// Each row of the tables of rules names vectors that expect its codes, and each vector is in a row. Each code of an error
/// is on one of the pages.
#[test]
fn the_tables_of_the_specification_name_the_vectors_that_hold_each_rule() {
    let mut on_pages = BTreeSet::new();
    for (page, kind, ending) in PAGES {
        let text = fs::read_to_string(root().join(format!("docs/spec/{page}.md"))).unwrap();
        on_pages.extend(codes(&text));
        let (_, table) = text.split_once("codes and vectors\n").unwrap();
        let name = |vector: &Json| {
            let file = vector["file"].as_str().unwrap().rsplit_once('/').unwrap().1;
            file.strip_suffix(ending).unwrap().to_owned()
        };
        let expected: BTreeMap<String, BTreeSet<String>> = vectors(kind)
            .iter()
            .map(|vector| (name(vector), expected(vector).into_iter().flatten().collect()))
            .collect();
        let mut held_by = BTreeSet::new();
        for row in table.lines().skip_while(|line| !line.starts_with("|---")).skip(1) {
            let Some((rule, names)) = row.trim_end_matches([' ', '|']).rsplit_once(" | ") else {
                break;
            };
            let names = code_spans(names);
            let held = names.iter().flat_map(|name| {
                let codes = expected.get(name);
                codes.unwrap_or_else(|| panic!("{page}: there is no vector {name}")).clone()
            });
            let held: BTreeSet<_> = held.collect();
            let missing: Vec<_> = codes(rule).difference(&held).cloned().collect();
            assert!(missing.is_empty(), "{page}: no vector of `{rule}` expects {missing:?}");
            held_by.extend(names);
        }
        let unnamed: Vec<_> = expected.keys().filter(|name| !held_by.contains(*name)).collect();
        assert!(unnamed.is_empty(), "{page}: no row names {unnamed:?}");
    }
    let unknown: Vec<_> = Code::ALL
        .iter()
        .map(|code| code.id())
        .filter(|id| !OF_OTHERS.iter().any(|family| id.starts_with(family)))
        .collect();
    let missing: Vec<_> = unknown.into_iter().filter(|id| !on_pages.contains(*id)).collect();
    assert!(missing.is_empty(), "the specification does not name {missing:?}");
}
