//! Metadata for repositories, with validators that others wrote.

use std::fs;
use std::path::{Path, PathBuf};

use ra_pack::inspect::{InfoOptions, RecordFormat, write_record};
use ra_pack::ndl::{Attribute, Value};
use ra_pack::verify::VerifyOptions;
use ra_pack::write::{CreateOptions, Layout};
use ra_pack::{Error, PackWriter, WriteOptions, create as create_pack, verify};
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT32, UINT8};
use crate::python::Python;
use crate::run::{create, extract, ra};
use crate::skips::is_long;

/// Attributes that every record must have, and others that people write.
const ATTRIBUTES: [(&str, &str); 22] = [
    ("title", "Mooring 7, \"June\" 2024"),
    ("summary", "Temperature of the water at ten depths."),
    ("license", "CC-BY-4.0"),
    ("date_issued", "2024-08-01"),
    ("date_created", "2024-06-10T12:00:00Z"),
    ("creator_name", "Lovelace, Ada; Hopper, Grace"),
    ("creator_email", "ada@example.org; grace@example.org"),
    ("creator_url", "https://orcid.org/0000-0002-1825-0097; https://example.org/grace"),
    ("institution", "University of Tromsø"),
    ("contributor_name", "Berg, Nils"),
    ("publisher_name", "Arctic Data Centre"),
    ("keywords", "ocean, temperature, ocean"),
    ("project", "Nansen Legacy"),
    ("funding", "Research Council of Norway 276730"),
    ("references", "https://doi.org/10.5194/os-17-1; A book; https://example.org/page"),
    ("geospatial_lat_min", "70.5"),
    ("geospatial_lat_max", "71"),
    ("geospatial_lon_min", "-10"),
    ("geospatial_lon_max", "10.25"),
    ("time_coverage_start", "2024-06-01T00:00:00Z"),
    ("time_coverage_end", "2024-06-07"),
    ("product_version", "1.2"),
];

/// Returns the options that set these attributes, and `more`.
fn options(attributes: &[(&str, &str)], more: &[&str]) -> Vec<String> {
    let set = |(name, value): &(&str, &str)| ["--attribute".to_owned(), format!("{name}={value}")];
    let more = more.iter().map(|option| (*option).to_owned());
    attributes.iter().flat_map(set).chain(more).collect()
}

/// Packs a source with attributes.
#[track_caller]
fn pack(source: &Path, archive: &Path, attributes: &[(&str, &str)], more: &[&str]) {
    let options = options(attributes, more);
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    create(source, archive, &options).exits(0);
}

/// Returns what a validator says about a file, or about a directory with an RO-Crate; `None` without validators.
#[track_caller]
fn problems(kind: &str, path: &Path) -> Option<String> {
    let python = Python::of_deposits(&["datacite", "mlcroissant", "rocrate", "rocrate_validator"])?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/deposit/check.py");
    let output = python.command().arg(script).arg(kind).arg(path).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.success(), said.trim().is_empty(), "{said}");
    Some(said)
}

/// Checks the RO-Crate in an archive with the validator, and returns its metadata.
#[track_caller]
fn valid_crate(archive: &Path, below: &str) -> Json {
    let home = TempDir::new().unwrap();
    extract(archive, &home.path().join("all"), &[]).exits(0);
    let root = home.path().join("all").join(below);
    assert_eq!(problems("ro-crate", &root).unwrap_or_default().trim(), "");
    let text = fs::read_to_string(root.join("ro-crate-metadata.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the entity of a crate with this identifier.
#[track_caller]
fn entity<'a>(ro_crate: &'a Json, id: &str) -> &'a Json {
    let graph = ro_crate["@graph"].as_array().unwrap();
    graph.iter().find(|entity| entity["@id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
#[ignore = "slow"]
fn the_validators_find_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("ro-crate-metadata.json");
    let crate_without_root =
        r#"{"@context": "https://w3id.org/ro/crate/1.2/context", "@graph": []}"#;
    for (kind, text, missing) in [
        ("ro-crate", crate_without_root, "no metadata file descriptor in crate"),
        ("datacite", "{}", "'publicationYear' is a required property"),
        ("croissant", "{}", "no node"),
    ] {
        fs::write(&file, text).unwrap();
        let path = if kind == "ro-crate" { home.path() } else { &file };
        let Some(said) = problems(kind, path) else { return };
        assert!(said.contains(missing), "{kind}: {said}");
    }
}

#[test]
#[ignore = "slow"]
fn a_crate_says_what_the_attributes_and_descriptions_say() {
    let home = TempDir::new().unwrap();
    let archive = home.path().join("exp.zip");
    pack(Path::new("examples/experiment"), &archive, &ATTRIBUTES, &["--ro-crate"]);
    ra("verify", &[&archive], &["--strict"]).exits(0).says(&["RO-Crate ro-crate-metadata.json"]);
    let ro_crate = valid_crate(&archive, "");
    let root = entity(&ro_crate, "./");
    assert_eq!(root["name"], ATTRIBUTES[0].1);
    assert_eq!(root["datePublished"], "2024-08-01");
    assert_eq!(root["license"]["@id"], "https://creativecommons.org/licenses/by/4.0/");
    assert_eq!(root["keywords"], serde_json::json!(["ocean", "temperature"]));
    assert_eq!(root["temporalCoverage"], "2024-06-01/2024-06-07");
    assert_eq!(root["hasPart"].as_array().unwrap().len(), 10);
    assert_eq!(entity(&ro_crate, "#box")["box"], "70.5 -10 71 10.25");
    let ada = entity(&ro_crate, "https://orcid.org/0000-0002-1825-0097");
    assert_eq!((&ada["name"], &ada["email"]), (&"Lovelace, Ada".into(), &"ada@example.org".into()));
    let affiliation = ada["affiliation"]["@id"].as_str().unwrap();
    assert_eq!(entity(&ro_crate, affiliation)["name"], "University of Tromsø");
    let file = entity(&ro_crate, "thermistors/temperature.ra");
    let info = ra("info", &[&archive, Path::new("thermistors/temperature.ra")], &["--json"]).json();
    assert_eq!(file["contentSize"], info["bytes"].to_string());
    let variable = entity(&ro_crate, file["about"]["@id"].as_str().unwrap());
    assert_eq!(variable["name"], "temperature");
    assert_eq!(
        (&variable["unitText"], &variable["unitCode"]),
        (&"degree_Celsius".into(), &"CEL".into())
    );
    let property = "http://vocab.nerc.ac.uk/standard_name/sea_water_temperature/";
    assert_eq!(variable["propertyID"], property);
    let printed = ra("info", &[&archive], &["--metadata", "ro-crate"]).exits(0).out;
    let extracted =
        ra("get", &[&archive, Path::new("ro-crate-metadata.json")], &["-o", "-"]).exits(0).out;
    assert_eq!(printed, extracted);
}

#[test]
#[ignore = "slow"]
fn a_crate_is_the_same_in_every_container_and_part_of_the_payload_of_a_bag() {
    let home = TempDir::new().unwrap();
    let source = Experiment::standard().array("a b/ä,1.ra", UINT8, &[2], b"hi");
    let source = source.describe("a b/ä,1.yaml", "[2]", "uint8");
    let mut texts = Vec::new();
    for (name, options) in [
        ("a.zip", &["--ro-crate"][..]),
        ("b.tar", &["--ro-crate", "--jobs", "1"]),
        ("c.tar.gz", &["--ro-crate"]),
        ("d.zip", &["--ro-crate", "--compression", "zstd"]),
        ("e.zip", &["--ro-crate", "--layout", "bagit"]),
    ] {
        let archive = home.path().join(name);
        pack(source.path(), &archive, &ATTRIBUTES[..4], options);
        ra("verify", &[&archive], &[]).exits(0);
        let member = Path::new("ro-crate-metadata.json");
        texts.push(ra("get", &[&archive, member], &["-o", "-"]).exits(0).out);
    }
    assert!(texts.iter().all(|text| *text == texts[0]));
    assert!(String::from_utf8(texts.swap_remove(0)).unwrap().contains("\"a%20b/%C3%A4%2C1.ra\""));
    valid_crate(&home.path().join("e.zip"), "e/data");
}

#[test]
#[ignore = "slow"]
fn records_for_datacite_and_croissant_are_valid() {
    let home = TempDir::new().unwrap();
    let archive = home.path().join("exp.zip");
    let least =
        [ATTRIBUTES[0], ATTRIBUTES[1], ATTRIBUTES[2], ATTRIBUTES[3], ATTRIBUTES[5], ATTRIBUTES[10]];
    for attributes in [&ATTRIBUTES[..], &least] {
        pack(
            Path::new("examples/experiment"),
            &archive,
            attributes,
            &["--force", "--archive-digest"],
        );
        for kind in ["datacite", "croissant"] {
            let record = ra("info", &[&archive], &["--metadata", kind]).exits(0).out;
            let file = home.path().join(format!("{kind}.json"));
            fs::write(&file, &record).unwrap();
            let said = problems(kind, &file).unwrap_or_default();
            // A dataset that has no page yet is a warning.
            assert!(said.trim().is_empty() || said.contains("recommended"), "{said}");
        }
        fs::remove_file(home.path().join("exp.zip.sha256")).unwrap();
    }
    let read = |kind: &str| -> Json {
        serde_json::from_slice(&fs::read(home.path().join(kind)).unwrap()).unwrap()
    };
    let (datacite, croissant) = (read("datacite.json"), read("croissant.json"));
    assert_eq!(datacite["creators"][1]["familyName"], "Hopper");
    assert_eq!(datacite["publicationYear"], "2024");
    assert_eq!(datacite["rightsList"][0]["rightsIdentifier"], "cc-by-4.0");
    let files = croissant["distribution"].as_array().unwrap();
    assert_eq!((files.len(), &files[0]["contentUrl"]), (2, &"exp.zip".into()));
    let digest = ra_pack::digest::Digest::sha256(&fs::read(&archive).unwrap());
    assert_eq!(files[0]["sha256"], digest.to_string());
    assert_eq!(files[1]["containedIn"]["@id"], files[0]["@id"]);
    let said = ra("info", &[Path::new("examples/experiment")], &["--metadata", "croissant"]);
    said.exits(1).says(&["META009"]);
}

#[test]
fn missing_attributes_are_named_before_anything_is_packed() {
    let home = TempDir::new().unwrap();
    let (source, archive) = (Experiment::standard(), home.path().join("exp.zip"));
    let all = ["title", "summary", "license", "date_issued"];
    let said = create(source.path(), &archive, &["--ro-crate"]).exits(1);
    let named = all.map(|name| format!("--attribute {name}="));
    said.says(&["META009"]).says(&named.each_ref().map(String::as_str));
    let options = ["--ro-crate", "--attribute", "date_issued=summer", "--attribute", "title=5"];
    let said = create(source.path(), &archive, &options).exits(1);
    assert!(!said.says(&["date_issued=YYYY-MM-DD"]).said().contains("title="));
    assert!(!archive.exists());
    pack(source.path(), &archive, &[], &[]);
    let said = ra("info", &[&archive], &["--metadata", "datacite"]).exits(1);
    said.says(&[
        "`creator_name`",
        "`publisher_name`",
        &format!("title='A few words' {}", archive.display()),
    ]);
    let written =
        write_record(&archive, RecordFormat::Croissant, &InfoOptions::default(), &mut Vec::new());
    assert!(matches!(written.unwrap_err(), Error::Refused { findings, .. } if findings.len() == 4));
}

#[test]
#[ignore = "slow"]
fn a_crate_of_another_program_is_packed_or_refused_and_never_replaced() {
    let home = TempDir::new().unwrap();
    let source = Experiment::standard().file("ro-crate-metadata.json", "{\"@graph\": []}");
    let archive = home.path().join("exp.zip");
    let options = options(&ATTRIBUTES[..4], &["--ro-crate"]);
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    create(source.path(), &archive, &options)
        .exits(2)
        .says(&["was not made by ra-pack", "--exclude ro-crate-metadata.json"]);
    pack(source.path(), &archive, &ATTRIBUTES[..4], &[]);
    ra("verify", &[&archive], &[]).exits(0).says(&["RO-Crate"]);
    let member = Path::new("ro-crate-metadata.json");
    let kept = ra("get", &[&archive, member], &["-o", "-"]).exits(0).out;
    assert_eq!(kept, b"{\"@graph\": []}");
    let exclude = ["--ro-crate", "--force", "--exclude", "ro-crate-metadata.json"];
    pack(source.path(), &archive, &ATTRIBUTES[..4], &exclude);
    valid_crate(&archive, "");
}

/// Packs the standard experiment with a crate, and returns a directory with its files.
fn unpacked(home: &Path) -> PathBuf {
    let (archive, directory) = (home.join("exp.zip"), home.join("unpacked"));
    pack(Experiment::standard().path(), &archive, &ATTRIBUTES, &["--ro-crate"]);
    extract(&archive, &directory, &[]).exits(0);
    directory
}

#[test]
fn a_crate_that_differs_from_the_pack_is_found_with_its_first_difference() {
    let home = TempDir::new().unwrap();
    let directory = unpacked(home.path());
    let file = directory.join("ro-crate-metadata.json");
    let good = fs::read_to_string(&file).unwrap();
    for (changed, expected, found) in [
        (good.replace("Mooring 7, ", "Mooring 8, "), "Mooring 7, ", "Mooring 8, "),
        (good.replace("\"contentSize\": \"", "\"contentSize\": \"9"), "contentSize", "\"9"),
        (good.replace("by/4.0", "by/3.0"), "by/4.0", "by/3.0"),
        (good.replacen("{\"@id\": \"#variable-1\"},\n", "", 1), "#variable-1", "#variable-2"),
        (format!("{good}\n"), "``", "``"),
        (good.replacen("  ]\n}\n", "  ]\n", 1), "`}`", "``"),
    ] {
        assert_ne!(changed, good);
        fs::write(&file, changed).unwrap();
        ra("manifest", &[&directory], &["--write", "--force"]).exits(0);
        let said = ra("verify", &[&directory], &[]).exits(1);
        said.says(&[
            "META010",
            "ro-crate-metadata.json:",
            "expected: ",
            expected,
            "found: ",
            found,
        ]);
        ra("validate", &[&directory], &[]).exits(1);
        ra("verify", &[&directory], &["--fast"]).exits(1);
    }
    fs::write(&file, &good).unwrap();
    ra("manifest", &[&directory], &["--write", "--force"]).exits(0);
    ra("verify", &[&directory], &[]).exits(0);
    // It is made again on request.
    fs::write(&file, good.replace("Mooring 7, ", "Mooring 8, ")).unwrap();
    fs::remove_file(directory.join("manifest-sha256.txt")).unwrap();
    let again = home.path().join("again.zip");
    create(&directory, &again, &[]).exits(1).says(&["META010", "--ro-crate"]);
    create(&directory, &again, &["--ro-crate"]).exits(0);
    assert_eq!(fs::read(home.path().join("exp.zip")).unwrap(), fs::read(again).unwrap());
}

#[test]
#[ignore = "slow"]
fn changes_of_a_pack_keep_its_crate_right() {
    let home = TempDir::new().unwrap();
    for (name, options, below) in [
        ("a.zip", &["--ro-crate"][..], ""),
        ("b.tar.gz", &["--ro-crate", "--layout", "bagit"], "b/data"),
    ] {
        let archive = home.path().join(name);
        pack(Experiment::standard().path(), &archive, &ATTRIBUTES, options);
        let more =
            Experiment::new().array("new/x.ra", FLOAT32, &[1], &[0; 4]).file("note.txt", "x");
        let more = more.describe("new/x.yaml", "[1]", "float32");
        ra("add", &[&archive, Path::new("-C"), more.path()], &["new", "note.txt"]).exits(0);
        ra("describe", &[&archive], &["--set", "license=MIT", "--set", "new/x.units=K"]).exits(0);
        ra("verify", &[&archive], &[]).exits(0).says(&["RO-Crate"]);
        let ro_crate = valid_crate(&archive, below);
        assert_eq!(entity(&ro_crate, "./")["license"]["@id"], "https://opensource.org/license/mit");
        let x = entity(&ro_crate, entity(&ro_crate, "new/x.ra")["about"]["@id"].as_str().unwrap());
        assert_eq!((&x["name"], &x["unitCode"]), (&"x".into(), &"KEL".into()));
        // A required attribute cannot go while there is a crate.
        ra("describe", &[&archive], &["--set", "summary="]).exits(1).says(&["META009"]);
        let mut writer = PackWriter::update(&archive, WriteOptions::default()).unwrap();
        writer.remove("ro-crate-metadata.json").unwrap();
        writer.finish().unwrap();
        let report = verify(&archive, &VerifyOptions::default()).unwrap();
        assert!(report.is_valid() && report.ro_crate.is_none());
    }
}

#[test]
fn a_conversion_drops_the_crate_and_salvage_keeps_it_if_it_can() {
    let home = TempDir::new().unwrap();
    let archive = home.path().join("exp.zip");
    unpacked(home.path());
    for target in ["converted", "converted.zip"].map(|name| home.path().join(name)) {
        ra("convert", &[&archive, &target], &[]).exits(0);
        ra("validate", &[&target], &[]).exits(0);
    }
    let mut bytes = fs::read(&archive).unwrap();
    let salvaged = home.path().join("salvaged.zip");
    let salvage = || ra("salvage", &[&archive, Path::new("-o"), &salvaged], &["--force"]);
    salvage().exits(0);
    ra("verify", &[&salvaged], &[]).exits(0).says(&["RO-Crate"]);
    // Without the attributes, there is no crate.
    let at = bytes.windows(13).rposition(|window| window == b"date_issued: ").unwrap();
    bytes[at + 13] ^= 1;
    fs::write(&archive, bytes).unwrap();
    salvage().exits(1).says(&["META010", "11 arrays"]);
    ra("verify", &[&salvaged], &[]).exits(0);
}

#[test]
#[ignore = "takes a minute"]
fn hostile_attributes_give_valid_records() {
    if !is_long() {
        return;
    }
    let home = TempDir::new().unwrap();
    let long = "é\u{1f30a}\"\\".repeat(12_500);
    let list = Value::List(vec![Value::Int(7), Value::Int(8)]);
    for (nth, value) in [
        Value::from("a\u{0}\u{1b}[31m\n\t\"}],\\\u{202e}\u{2028}\u{feff}ü"),
        Value::from(long.as_str()),
        Value::from("https://exa mple.org/<\">; http://; https://orcid.org/0000-0002-1825-0098; %zz; https://a.b/%zz"),
        Value::from("10.1234/ü \"; doi:10.1234/; ;;, ,"),
        Value::from("-1"),
        Value::Float(f64::NAN),
        Value::Int(5),
        list,
    ]
    .into_iter()
    .enumerate()
    {
        let names = ATTRIBUTES.iter().map(|(name, _)| *name).chain(["doi", "url", "id", "creator_type"]);
        // A pack can have a megabyte of attributes.
        let names = names.take(if value.as_str() == Some(&long) { 6 } else { usize::MAX });
        let mut attributes: Vec<_> =
            names.filter_map(|name| Attribute::new(name, value.clone())).collect();
        for (name, value) in [("date_issued", "2024-02-29"), ("publisher_name", "\u{7}")] {
            Attribute::new(name, value).unwrap().put_into(&mut attributes);
        }
        let source = Experiment::new().array("a.ra", UINT8, &[2], b"hi");
        let source = source.file(
            "a.yaml",
            "ndarrays:\n  a:\n    shape: [2]\n    type: uint8\n    attributes:\n      units: \"\\e\\0\\\"\"\n      long_name: 5\n      standard_name: \"a b\\u202e\"\n",
        );
        let archive = home.path().join(format!("{nth}.zip"));
        let options = CreateOptions { attributes, ro_crate: true, ..CreateOptions::default() };
        create_pack(source.path(), &archive, &options).unwrap();
        ra("verify", &[&archive], &[]).exits(0);
        // The other values are alike for the validators, which take seconds.
        let is_judged = nth < 4;
        if is_judged {
            valid_crate(&archive, "");
        }
        for (kind, format) in [
            ("ro-crate", RecordFormat::RoCrate),
            ("datacite", RecordFormat::DataCite),
            ("croissant", RecordFormat::Croissant),
        ] {
            let mut record = Vec::new();
            write_record(&archive, format, &InfoOptions::default(), &mut record).unwrap();
            let text = String::from_utf8(record).unwrap();
            let is_shown = |character: char| character == '\n' || !ra_pack::path::is_unsafe(character);
            assert!(text.chars().all(is_shown));
            let _: Json = serde_json::from_str(&text).unwrap();
            if kind == "datacite" && is_judged {
                let file = home.path().join("record.json");
                fs::write(&file, text).unwrap();
                assert_eq!(problems(kind, &file).unwrap_or_default().trim(), "", "{nth}");
            }
        }
    }
}

#[test]
fn a_writer_makes_the_same_crate() {
    let home = TempDir::new().unwrap();
    let options = |layout| CreateOptions { layout, ro_crate: true, ..CreateOptions::default() };
    for layout in [Layout::Plain, Layout::BagIt] {
        let path = home.path().join(format!("{layout:?}.zip"));
        let mut writer = PackWriter::create(&path, options(layout)).unwrap();
        writer.array("x", &ndarray::array![1.0_f32, 2.0]).units("K").write().unwrap();
        assert!(matches!(writer.finish(), Err(Error::Refused { .. })));
        for (name, value) in &ATTRIBUTES[..4] {
            writer.attribute(*name, *value).unwrap();
        }
        writer.finish().unwrap();
        let report = verify(&path, &VerifyOptions::default()).unwrap();
        assert!(report.is_valid() && report.ro_crate.is_some());
        ra("info", &[&path], &["--metadata", "ro-crate"]).exits(0).says(&["\"KEL\""]);
    }
}
