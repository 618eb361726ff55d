//! `describe --update` and `describe --dimcoords`: changes, and bytes that must not change.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use ra_pack::describe::{DescribeOptions, update_descriptions};
use ra_pack::inspect::ValidateOptions;
use ra_pack::{ndl, validate};
use tempfile::TempDir;

use crate::experiment::{
    Element, Experiment, FLOAT32, FLOAT64, INT16, UINT8, le, ra_pack, raw_array,
};

/// Returns a valid array of zeros.
fn zeros(element: Element, dims: &[u64]) -> Vec<u8> {
    let Element(_, elbyte) = element;
    let size = elbyte * dims.iter().product::<u64>();
    raw_array(element, dims, &vec![0; usize::try_from(size).unwrap()])
}

/// Updates the description of one array and returns it, or the findings if the update was refused.
fn updated(text: &str, element: Element, dims: &[u64]) -> Result<String, Vec<String>> {
    let source = Experiment::new().file("a.yaml", text).file("a.ra", zeros(element, dims));
    let report =
        update_descriptions(source.path().join("a.ra"), &DescribeOptions::default()).unwrap();
    let after = fs::read_to_string(source.path().join("a.yaml")).unwrap();
    if report.is_clean() {
        let valid = validate(source.path().join("a.yaml"), &ValidateOptions::default()).unwrap();
        assert_eq!(valid.findings, [], "{after}");
        return Ok(after);
    }
    assert_eq!(after, text, "a refused document stays");
    Err(report.findings.iter().map(ToString::to_string).collect())
}

#[test]
fn only_wrong_values_change() {
    let text = "# head\r\nndarrays:   # all\r\n  a:\r\n    shape: [ 3,  4 ]  # old\r\n    \
                attributes: { note: \"shape: [3, 4]\" }\r\n    type:   float32\r\n    \
                storage:\r\n      endian: 'little'\r\n";
    assert_eq!(
        updated(text, INT16, &[3, 7]).unwrap(),
        text.replace("[ 3,  4 ]", "[ 3,  7 ]").replace("float32", "int16")
    );
    assert_eq!(updated(text, FLOAT32, &[3, 4]).unwrap(), text);
    assert_eq!(updated(text, FLOAT32, &[9, 8, 7]).unwrap(), text.replace("[ 3,  4 ]", "[9, 8, 7]"));
}

#[test]
fn blocks_stay_blocks() {
    let text = "ndarrays:\n  a:\n    shape:\n      - 3\n      - 4  # second\n    type:\n      \
                compound:\n        - r: float32\n        - i: float32\n    attributes: {n: 1}\n";
    assert_eq!(updated(text, Element(4, 8), &[3, 5]).unwrap(), text.replace("- 4  #", "- 5  #"));
    assert_eq!(
        updated(text, Element(4, 8), &[3, 4, 5]).unwrap(),
        text.replace("- 4  #", "- 4\n      - 5  #")
    );
    assert_eq!(
        updated(text, FLOAT64, &[3, 4]).unwrap(),
        text.replace("compound:\n        - r: float32\n        - i: float32", "float64")
    );
}

#[test]
fn ambiguous_updates_are_refused() {
    let cases = [
        // Dims in the other order.
        ("ndarrays: {a: {shape: [3, 4], type: int16}}\n", &[4, 3][..], "other order"),
        // A coordinate that was not changed.
        (
            "dimcoords: {t: {size: 4, type: int8}}\nndarrays: {a: {shape: [t, 2], type: int16}}\n",
            &[5, 2],
            "coordinate `t` has 4",
        ),
        // A new number of dimensions, with a name among the lengths.
        (
            "dimcoords: {t: {size: 4, type: int8}}\nndarrays: {a: {shape: [t], type: int16}}\n",
            &[4, 2],
            "contains `t`",
        ),
        // Values that would not fit.
        ("ndarrays: {a: {shape: [2], type: int16, value: [1, 2]}}\n", &[3], "break a rule"),
        // A comment inside.
        ("ndarrays:\n  a:\n    shape: [2, # two\n      3]\n    type: int16\n", &[3], "a comment"),
        // Errors in the document.
        ("ndarrays: {a: {shape: [2], type: int16, tpye: 1}}\n", &[3], "unknown key"),
    ];
    for (text, dims, why) in cases {
        let refused = updated(text, INT16, dims).unwrap_err();
        assert!(refused.iter().any(|finding| finding.contains(why)), "{text}: {refused:?}");
    }
}

#[test]
fn a_name_stays_when_its_coordinate_has_the_new_length() {
    let source = Experiment::new()
        .file("time.ra", zeros(FLOAT64, &[6]))
        .file("time.yaml", "dimcoords:\n  time: {size: 5, type: float64} # s\n")
        .file("run1/a.ra", zeros(UINT8, &[6, 9]))
        .file(
            "run1/a.yaml",
            "ndarrays: {a: {shape: [time, 8], type: int8, storage: {shape: [5, 8]}}}\n",
        )
        .file("run1/b.ra", zeros(UINT8, &[2]))
        .describe("run1/b.yaml", "[null]", "uint8");
    let ran = ra_pack().args(["describe", "--update", "--json"]).arg(source.path()).assert();
    let report: serde_json::Value =
        serde_json::from_slice(&ran.success().get_output().stdout).unwrap();
    assert_eq!((report["changes"].as_array().unwrap().len(), &report["unchanged"]), (5, &1.into()));
    let text = |name: &str| fs::read_to_string(source.path().join(name)).unwrap();
    assert_eq!(text("time.yaml"), "dimcoords:\n  time: {size: 6, type: float64} # s\n");
    assert_eq!(
        text("run1/a.yaml"),
        "ndarrays: {a: {shape: [time, 9], type: uint8, storage: {shape: [6, 9]}}}\n"
    );
    ra_pack().arg("validate").arg(source.path()).assert().success();
    // A second run changes nothing.
    let again = update_descriptions(source.path(), &DescribeOptions::default()).unwrap();
    assert_eq!((again.changes.len(), again.unchanged), (0, 3));
}

#[test]
fn the_document_of_a_whole_pack_is_updated_in_place() {
    let text = "/r:\n  dimcoords: {t: {size: 2, type: int8}} # time\n  ndarrays:\n    a: {shape: &s [t, 3], type: int8}\n    b: {shape: *s, type: int8}\n";
    let pack = |dims: [u64; 2]| {
        Experiment::new()
            .file("manifest.yaml", text)
            .file("r/t.ra", zeros(Element(1, 1), &[4]))
            .file("r/a.ra", zeros(UINT8, &[4, 5]))
            .file("r/b.ra", zeros(UINT8, &dims))
    };
    let source = pack([4, 5]);
    let report =
        update_descriptions(source.path().join("manifest.yaml"), &DescribeOptions::default())
            .unwrap();
    assert_eq!(report.findings, []);
    let after = fs::read_to_string(source.path().join("manifest.yaml")).unwrap();
    let wanted = text.replace("size: 2", "size: 4").replace("[t, 3]", "[t, 5]");
    assert_eq!(
        after,
        wanted
            .replace("], type: int8", "], type: uint8")
            .replace("*s, type: int8", "*s, type: uint8")
    );
    // One shape shared by two arrays cannot become two.
    let source = pack([4, 6]);
    let report = update_descriptions(source.path(), &DescribeOptions::default()).unwrap();
    assert!(!report.is_clean() && report.changes.is_empty(), "{report:?}");
    assert_eq!(fs::read_to_string(source.path().join("manifest.yaml")).unwrap(), text);
}

#[test]
fn conventional_coordinates_are_described_as_such() {
    let source = Experiment::new()
        .array("time.ra", FLOAT64, &[5], &le(f64::to_le_bytes, (0..5_u8).map(f64::from)))
        .array("run1/depth.ra", FLOAT32, &[3], &le(f32::to_le_bytes, [5.0, 2.5, 1.0]))
        .file("run1/temperature.ra", zeros(FLOAT32, &[3, 5]))
        .file("run1/square.ra", zeros(FLOAT32, &[5, 5]));
    let ran = ra_pack().args(["describe", "--dimcoords"]).arg(source.path()).assert().success();
    let whole = String::from_utf8(ran.get_output().stdout.clone()).unwrap();
    assert!(whole.contains("shape: [depth, time]"), "{whole}");
    ra_pack().args(["describe", "--write", "--dimcoords"]).arg(source.path()).assert().success();
    let text = |name: &str| fs::read_to_string(source.path().join(name)).unwrap();
    assert_eq!(text("time.yaml"), "dimcoords:\n  time:\n    size: 5\n    type: float64\n");
    assert!(text("run1/temperature.yaml").contains("shape: [depth, time]"));
    assert!(text("run1/square.yaml").contains("shape: [5, 5]"));
    let out = source.path().with_extension("zip");
    ra_pack().arg("create").arg(source.path()).arg("-o").arg(&out).assert().success();
    ra_pack().args(["verify", "--strict"]).arg(&out).assert().success();
    fs::remove_file(&out).unwrap();
    fs::remove_file(source.path().with_extension("zip.manifest-sha256.txt")).unwrap();
    // The document of the pack is equivalent to the single ones.
    for name in ["time", "run1/depth", "run1/temperature", "run1/square"] {
        fs::remove_file(source.path().join(format!("{name}.yaml"))).unwrap();
    }
    fs::write(source.path().join("manifest.yaml"), whole).unwrap();
    ra_pack().args(["validate", "--strict"]).arg(source.path()).assert().success();
}

/// Generates headers of every element type with a size, little- or big-endian, and dims.
fn header() -> impl Strategy<Value = Vec<u8>> {
    let elements = [
        (0, 3),
        (1, 1),
        (1, 2),
        (1, 4),
        (1, 8),
        (1, 16),
        (2, 1),
        (2, 2),
        (2, 4),
        (2, 8),
        (2, 16),
        (3, 2),
        (3, 4),
        (3, 8),
        (3, 16),
        (4, 4),
        (4, 8),
        (4, 16),
        (5, 2),
    ];
    let element = proptest::sample::select(elements.to_vec());
    (element, proptest::collection::vec(0..5_u64, 0..4), any::<bool>()).prop_map(
        |((eltype, elbyte), dims, is_big)| {
            let mut file = zeros(Element(eltype, elbyte), &dims);
            file[8] = u8::from(is_big);
            file
        },
    )
}

fn describe_and_pack(directory: &Path, file: &[u8]) {
    fs::write(directory.join("a.ra"), file).unwrap();
    ra_pack::describe::write_descriptions(directory, &DescribeOptions::default()).unwrap();
    let zip = directory.with_extension("zip");
    let options =
        ra_pack::write::CreateOptions { force: true, ..ra_pack::write::CreateOptions::default() };
    ra_pack::create(directory, &zip, &options).unwrap();
    let report = ra_pack::verify(&zip, &ra_pack::verify::VerifyOptions::default()).unwrap();
    assert!(report.is_valid(), "{:?}", report.findings);
    fs::remove_file(&zip).unwrap();
}

/// Returns the text without the values that an update may change, and those values.
fn frame(text: &str) -> String {
    let parsed = ndl::parse(text.as_bytes());
    let mut spans: Vec<_> = [&["shape"][..], &["type"], &["storage", "endian"]]
        .into_iter()
        .filter_map(|path| {
            let keys = ["ndarrays", "a"].iter().chain(path);
            let steps: Vec<_> = keys.map(|key| ndl::Step::Key(key)).collect();
            parsed.source.value_span(&steps)
        })
        .collect();
    spans.sort();
    let mut frame = String::new();
    let mut at = 0;
    for span in spans {
        frame.push_str(&text[at..span.start]);
        frame.push('_');
        at = span.end;
    }
    frame + &text[at..]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn generated_descriptions_can_be_packed_and_updated(first in header(), second in header()) {
        let home = TempDir::new().unwrap();
        let directory = home.path().join("exp");
        fs::create_dir(&directory).unwrap();
        describe_and_pack(&directory, &first);
        let description = directory.join("a.yaml");
        let text = fs::read_to_string(&description).unwrap();
        let text = text.replace("    type", "    # a comment\n    attributes: {units: m}\n    type");
        fs::write(&description, &text).unwrap();

        fs::write(directory.join("a.ra"), &second).unwrap();
        let before = validate(&description, &ValidateOptions::default()).unwrap();
        let report = update_descriptions(&directory, &DescribeOptions::default()).unwrap();
        let after = fs::read_to_string(&description).unwrap();
        if report.is_clean() {
            let now = validate(&description, &ValidateOptions::default()).unwrap();
            prop_assert!(now.is_valid(), "{:?}\n{}", now.findings, after);
            prop_assert_eq!(frame(&after), frame(&text));
            prop_assert_eq!(before.is_valid(), report.changes.is_empty());
        } else {
            // Only reversed dims are refused.
            prop_assert!(report.findings[0].message.contains("other order"), "{:?}", report.findings);
            prop_assert_eq!(after, text);
        }
    }
}
