//! `ra-pack describe`: descriptions from headers, printed or written next to the arrays.

use std::fs;

use tempfile::TempDir;

use crate::experiment::{
    COMPLEX64, Element, Experiment, FLOAT16, FLOAT32, FLOAT64, INT16, INT64, UINT8, raw_array,
    read_tree,
};
use crate::run::{ENDINGS, create, extract, is_array, names_in, pack, ra};

/// Arrays of many types and numbers of dims, none of them described.
fn undescribed() -> Experiment {
    let elements = [
        ("i1", Element(1, 1)),
        ("i2", INT16),
        ("i4", Element(1, 4)),
        ("i8", INT64),
        ("i16", Element(1, 16)),
        ("u1", UINT8),
        ("u8", Element(2, 8)),
        ("f2", FLOAT16),
        ("f4", FLOAT32),
        ("f8", FLOAT64),
        ("c8", COMPLEX64),
        ("c16", Element(4, 16)),
        ("opaque", Element(0, 5)),
    ];
    let dims: [&[u64]; 4] = [&[], &[3], &[2, 3], &[2, 1, 0, 4]];
    let mut experiment = Experiment::new();
    for (index, (name, element)) in elements.into_iter().enumerate() {
        let dims = dims[index % dims.len()];
        let size = usize::try_from(element.1 * dims.iter().product::<u64>()).unwrap();
        experiment =
            experiment.array(&format!("run{}/{name}.ra", index % 2), element, dims, &vec![0; size]);
    }
    experiment
}

#[test]
fn one_array_is_described_on_stdout() {
    let experiment = Experiment::new().array("a.ra", FLOAT32, &[3, 5], &[0; 60]).array(
        "no: yes.ra",
        INT16,
        &[],
        &[0; 2],
    );
    let ran = ra("describe", &[&experiment.path().join("a.ra")], &[]).exits(0);
    let text = String::from_utf8(ran.out).unwrap();
    assert_eq!(ran.err, "");
    for words in ["ndarrays:", "a:", "[3, 5]", "float32"] {
        assert!(text.contains(words), "{text}");
    }
    // `create` accepts the printed document.
    let odd = ra("describe", &[&experiment.path().join("no: yes.ra")], &[]).exits(0).out;
    let experiment = experiment.file("a.yaml", text).file("no: yes.yaml", odd);
    let scratch = TempDir::new().unwrap();
    pack(&experiment, scratch.path(), "x.zip", &[]);
}

#[test]
fn write_adds_missing_descriptions_and_changes_nothing_else() {
    let experiment = undescribed()
        .array("mine.ra", UINT8, &[1], &[0])
        .file("mine.yml", "# by hand\nndarrays: {mine: {shape: [1],   type: uint8}}\n")
        .file("notes.txt", "kept");
    let before = read_tree(experiment.path());
    let scratch = TempDir::new().unwrap();
    create(experiment.path(), &scratch.path().join("x.zip"), &[]).exits(1);
    let ran = ra("describe", &[experiment.path()], &["--write"]).exits(0);
    ran.says(&["wrote", "run0/i1.yaml"]);
    let mut after = read_tree(experiment.path());
    let written: Vec<_> =
        after.keys().filter(|name| !before.contains_key(*name)).cloned().collect();
    assert_eq!(written.len(), 13);
    for name in &written {
        let array = name.replace(".yaml", ".ra");
        assert!(before.contains_key(&array), "{name}");
        after.remove(name);
    }
    assert_eq!(after, before, "something else was changed");
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    ra("verify", &[&archive], &[]).exits(0).says(&[": valid (14 arrays"]);

    let again = read_tree(experiment.path());
    ra("describe", &[experiment.path()], &["--write"])
        .exits(0)
        .says(&["14 arrays already described"]);
    assert_eq!(read_tree(experiment.path()), again);
}

#[test]
fn written_descriptions_equal_those_that_create_adds() {
    let experiment = undescribed();
    let scratch = TempDir::new().unwrap();
    let added = pack(&experiment, scratch.path(), "added.zip", &["--describe"]);
    ra("describe", &[experiment.path()], &["--write"]).exits(0);
    let written = pack(&experiment, scratch.path(), "written.zip", &[]);
    assert!(fs::read(added).unwrap() == fs::read(written).unwrap());
}

#[test]
fn describe_prints_the_document_that_the_pack_holds() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    for ending in ENDINGS {
        for layout in ["plain", "bagit"] {
            let name = format!("{layout}{ending}");
            let archive = pack(&experiment, scratch.path(), &name, &["--layout", layout]);
            let described = ra("describe", &[&archive], &[]).exits(0).out;
            let into = TempDir::new().unwrap();
            extract(&archive, into.path(), &[]).exits(0);
            let document = if layout == "plain" { "manifest.yaml" } else { "bagit/manifest.yaml" };
            let document = fs::read_to_string(into.path().join(document)).unwrap();
            assert_eq!(String::from_utf8(described).unwrap(), document, "{name}");
        }
    }
    let of_source = ra("describe", &[experiment.path()], &[]).exits(0).out;
    let text = String::from_utf8(of_source).unwrap();
    for words in ["/run1", "/run2", "order: row", "hours since 2024-06-03T00:00:00Z"] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
    // The document of the pack replaces all descriptions.
    let mut bare = Experiment::new().file("manifest.yaml", &text);
    for (name, content) in read_tree(experiment.path()) {
        if is_array(&name) {
            bare = bare.file(&name, content);
        }
    }
    let archive = pack(&bare, scratch.path(), "bare.zip", &[]);
    ra("verify", &[&archive], &[]).exits(0).says(&[": valid (11 arrays"]);
}

#[test]
fn an_unreadable_header_is_reported_and_the_others_are_described() {
    let experiment = undescribed().file("bad.ra", "rawarray, or not").file("flags.ra", {
        let mut array = raw_array(UINT8, &[1], &[0]);
        array[9] = 0x80;
        array
    });
    let ran = ra("describe", &[experiment.path()], &["--write"]).exits(1);
    ran.says(&["error[RA001]", "bad.ra", "flags.ra"]);
    let names = names_in(experiment.path());
    assert!(!names.contains(&"bad.yaml".to_owned()) && !names.contains(&"flags.yaml".to_owned()));
    assert!(experiment.path().join("run0/i1.yaml").is_file());
    ra("describe", &[&experiment.path().join("bad.ra")], &[]).exits(1).says(&["bad.ra"]);
    ra("describe", &[experiment.path()], &[]).exits(1).says(&["bad.ra", "flags.ra"]);
}

#[test]
fn a_failed_command_exits_with_2() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
    ra("describe", &[&scratch.path().join("none.ra")], &[]).exits(2).says(&["none.ra"]);
    ra("describe", &[&archive], &["--update"]).exits(2);
    ra("describe", &[], &[]).exits(2);
    assert_eq!(names_in(scratch.path()), ["x.zip", "x.zip.manifest-sha256.txt"]);
}
