//! Each option.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{convert, description, npy};
use crate::experiment::{Element, Experiment, FLOAT32, FLOAT64, INT16, UINT8, raw_array};
use crate::run::ra;

/// Returns an array with these flags.
fn flagged(flags: u8, mut array: Vec<u8>) -> Vec<u8> {
    array[8] = flags;
    array
}

#[test]
fn big_endian_numbers_are_swapped_unless_kept() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let big = flagged(1, raw_array(INT16, &[2, 2], &[0, 1, 0, 2, 0, 3, 0, 4]));
    fs::write(path("b.ra"), &big).unwrap();
    convert(&path("b.ra"), &path("l.ra"), &[]).exits(0);
    let little = raw_array(INT16, &[2, 2], &[1, 0, 2, 0, 3, 0, 4, 0]);
    assert_eq!(fs::read(path("l.ra")).unwrap(), little);
    convert(&path("b.ra"), &path("k.ra"), &["--keep-endian"]).exits(0);
    assert_eq!(fs::read(path("k.ra")).unwrap(), big);
    assert!(description(&path("k.ra")).contains("endian: big"));
    ra("validate", &[&path("k.ra")], &[]).exits(0);
    // Transposed arrays stay big-endian, too.
    convert(&path("b.ra"), &path("t.npy"), &["--keep-endian", "--order", "row"]).exits(0);
    let rows = npy("'>i2'", false, "(2, 2)", &[0, 1, 0, 3, 0, 2, 0, 4]);
    assert_eq!(fs::read(path("t.npy")).unwrap(), rows);
    convert(&path("t.npy"), &path("u.ra"), &["--keep-endian"]).exits(0);
    assert_eq!(fs::read(path("u.ra")).unwrap(), big);
    convert(&path("t.npy"), &path("v.ra"), &[]).exits(0);
    assert_eq!(fs::read(path("v.ra")).unwrap(), little);
}

#[test]
fn trailing_metadata_is_kept_dropped_or_written_to_a_file() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let plain = raw_array(INT16, &[2], &[1, 0, 2, 0]);
    let noted = [plain.clone(), b"a note".to_vec()].concat();
    fs::write(path("n.ra"), &noted).unwrap();
    let read = |name: &str| fs::read(path(name)).unwrap();
    assert_eq!(convert(&path("n.ra"), &path("k.ra"), &["-q"]).exits(0).err, "");
    assert_eq!(read("k.ra"), noted);
    convert(&path("n.ra"), &path("d.ra"), &["--drop-metadata"]).exits(0);
    assert_eq!(read("d.ra"), plain);
    convert(&path("n.ra"), &path("l.npy"), &[])
        .exits(0)
        .says(&["6 bytes after its elements are lost", "--keep-metadata"]);
    let note = path("note.txt");
    let keep = ["--keep-metadata", note.to_str().unwrap()];
    let ran = convert(&path("n.ra"), &path("m.npy"), &keep).exits(0);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    assert_eq!(read("note.txt"), b"a note");
    convert(&path("n.ra"), &path("o.npy"), &keep).exits(2).says(&["note.txt", "--force"]);
    assert!(!path("o.npy").exists());
    convert(&path("n.ra"), &path("dir"), &[]).exits(0);
    assert_eq!(read("dir/n.ra"), noted);
}

#[test]
fn encoded_arrays_are_decoded() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    // Ten booleans in the bits of one chunk, as written by Julia.
    let mut bits = b"rawarray".to_vec();
    for field in [6_u64, 5, 8, 8, 1, 10, 0b10_0000_1001] {
        bits.extend(field.to_le_bytes());
    }
    fs::write(path("bits.ra"), bits).unwrap();
    convert(&path("bits.ra"), &path("b.ra"), &[]).exits(0);
    let bytes = [1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    assert_eq!(fs::read(path("b.ra")).unwrap(), raw_array(Element(2, 1), &[10], &bytes));
    assert!(description(&path("b.ra")).contains("enum"));
    ra("validate", &[&path("b.ra")], &[]).exits(0);
    convert(&path("bits.ra"), &path("b.npy"), &[]).exits(0);
    assert_eq!(fs::read(path("b.npy")).unwrap(), npy("'|b1'", false, "(10,)", &bytes));
    // Zigzag coding, as written by Julia for integers; the flag is 2 and the size is that of the decoded elements.
    let mut leb = flagged(2, raw_array(INT16, &[3], &[0; 6]));
    leb.truncate(56);
    leb.extend([1, 2, 0x80, 0x02]);
    fs::write(path("leb.ra"), leb).unwrap();
    convert(&path("leb.ra"), &path("l.ra"), &[]).exits(0);
    let plain = raw_array(INT16, &[3], &[0xff, 0xff, 1, 0, 128, 0]);
    assert_eq!(fs::read(path("l.ra")).unwrap(), plain);
}

#[test]
fn a_format_may_be_given_instead_of_inferred() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    fs::write(path("x.dat"), npy("'|u1'", false, "(1,)", &[5])).unwrap();
    convert(&path("x.dat"), &path("y.ra"), &[]).exits(2).says(&["x.dat", "--from"]);
    convert(&path("x.dat"), &path("y.dat"), &["--from", "npy"])
        .exits(2)
        .says(&["y.dat", "--format"]);
    convert(&path("x.dat"), &path("y.dat"), &["--from", "npy", "--to", "ra"]).exits(0);
    assert_eq!(fs::read(path("y.dat")).unwrap(), raw_array(Element(2, 1), &[1], &[5]));
    assert!(path("y.yaml").exists());
    convert(&path("y.dat"), &path("z"), &["--from", "ra", "--to", "npy"]).exits(0);
    assert_eq!(fs::read(path("z")).unwrap(), fs::read(path("x.dat")).unwrap());
    convert(&path("z"), &path("w"), &["--from", "numpy"]).exits(2).says(&["npy", "npz"]);
}

#[test]
fn names_of_axes_stay_if_they_have_a_meaning() {
    let experiment = Experiment::standard();
    let next_to = experiment.path().join("run1/copy.ra");
    let source = experiment.path().join("run1/temperature.ra");
    let ran = convert(&source, &next_to, &[]).exits(0);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    assert!(description(&next_to).contains("shape: [depth, time]"));
    ra("validate", &[experiment.path()], &[]).exits(0);
    let home = TempDir::new().unwrap();
    let elsewhere = home.path().join("copy.ra");
    convert(&source, &elsewhere, &[]).exits(0).says(&["dimension names (depth, time)"]);
    assert!(description(&elsewhere).contains("shape: [3, 5]"));
    ra("validate", &[&elsewhere], &[]).exits(0);
    // A coordinate stays a coordinate.
    let time = home.path().join("time.ra");
    let source = experiment.path().join("time.ra");
    convert(&source, &time, &[]).exits(0);
    assert!(description(&time).starts_with("dimcoords:"));
    assert_eq!(description(&time), description(&source));
}

#[test]
fn jobs_change_nothing() {
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    let data: Vec<u8> = (0..=255).cycle().take(300 * 700 * 3).collect();
    fs::write(path("x.npy"), npy("'|V3'", false, "(300, 700)", &data)).unwrap();
    let with = |jobs: &str, out: &Path| {
        convert(&path("x.npy"), out, &["-j", jobs, "--force"]).exits(0);
        fs::read(out).unwrap()
    };
    assert!(with("1", &path("y.ra")) == with("7", &path("y.ra")));
}

#[test]
fn a_description_that_fits_new_elements_is_kept() {
    let experiment = Experiment::new()
        .array("t.ra", FLOAT32, &[2, 3], &[0; 24])
        .array("same.ra", FLOAT32, &[2, 3], &[1; 24])
        .array("other.ra", FLOAT32, &[3, 2], &[2; 24]);
    let path = |name: &str| experiment.path().join(name);
    let described = "ndarrays:\n  t:\n    shape: [2, time]\n    type: float32\n    \
                     attributes: {units: K}\n";
    fs::write(path("t.yaml"), described).unwrap();
    for name in ["same", "other"] {
        let npy = path(&format!("{name}.npy"));
        convert(&path(&format!("{name}.ra")), &npy, &[]).exits(0);
    }
    let said = convert(&path("same.npy"), &path("t.ra"), &["--force"]).exits(0).said();
    assert!(said.contains("still describes the array"), "{said}");
    assert_eq!(fs::read_to_string(path("t.yaml")).unwrap(), described);
    assert_eq!(fs::read(path("t.ra")).unwrap(), fs::read(path("same.ra")).unwrap());
    let said = convert(&path("other.npy"), &path("t.ra"), &["--force"]).exits(0).said();
    assert!(said.contains("is kept with another shape"), "{said}");
    let now = fs::read_to_string(path("t.yaml")).unwrap();
    assert_eq!(now, described.replace("[2, time]", "[3, time]"));
}

#[test]
fn a_description_that_is_replaced_or_loses_names_is_kept_under_another_name() {
    let flags = "ndarrays: {f: {shape: [2], type: {enum: {base: uint8, members: {ok: 0}}}}}\n";
    let home = Experiment::new()
        .array("old/f.ra", UINT8, &[2], &[0, 0])
        .file("old/f.yaml", flags)
        .array("new/f.ra", UINT8, &[2], &[1, 1])
        .describe("new/f.yaml", "[2]", "uint8");
    let path = |name: &str| home.path().join(name);
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    fs::write(path("f.npy"), npy("'<i2'", false, "(2,)", &[0; 4])).unwrap();
    convert(&path("f.npy"), &path("old/f.ra"), &["--force"])
        .exits(0)
        .says(&["f.yaml` is kept with another type; the old one is `", "f.yaml.old`"]);
    assert_eq!(text("old/f.yaml.old"), flags);
    // The layout does not matter, and units of times are lost, too.
    let blocks = flags.replace("{enum: {base: uint8, members: {ok: 0}}}}}", "TYPE}}");
    let blocks = blocks.replace("{f: {shape: [2], type: TYPE}}", "\n  f:\n    shape: [2]\n    type:\n      enum:\n        base: uint8\n        members:\n          ok: 0");
    let days = "ndarrays:\n  f:\n    shape: [2]\n    type: uint8\n    attributes:\n      units: days since 1970-01-01\n";
    let cases = [(&*blocks, "'<i2'", 4, "f.yaml.old2"), (days, "'<M8[h]'", 16, "f.yaml.old3")];
    for (old, dtype, size, backup) in cases {
        fs::write(path("old/f.ra"), raw_array(UINT8, &[2], &[0, 0])).unwrap();
        fs::write(path("old/f.yaml"), old).unwrap();
        fs::write(path("f.npy"), npy(dtype, false, "(2,)", &vec![0; size])).unwrap();
        convert(&path("f.npy"), &path("old/f.ra"), &["--force"]).exits(0);
        assert_eq!(text(&format!("old/{backup}")), old);
    }
    assert_eq!(text("old/f.yaml.old"), flags);
    let before = text("old/f.yaml");
    convert(&path("new"), &path("old"), &["--force"])
        .exits(0)
        .says(&["f.yaml` was replaced by that of the source; the old one is `"]);
    assert_eq!((text("old/f.yaml.old4"), text("old/f.yaml")), (before, text("new/f.yaml")));
    // The same description replaces nothing.
    let said = convert(&path("new"), &path("old"), &["--force"]).exits(0).said();
    assert!(!said.contains("replaced"), "{said}");
}

#[test]
fn physical_values_are_not_packed_any_more() {
    let packed = "ndarrays:\n  f:\n    shape: [2]\n    type: int16\n    attributes:\n      units: K\n      \
                  scale_factor: 0.5\n      _FillValue: -1\n";
    let home = Experiment::new().array("f.ra", INT16, &[2], &[0; 4]).file("f.yaml", packed);
    let path = |name: &str| home.path().join(name);
    fs::write(path("f.npy"), npy("'<f4'", false, "(2,)", &[0; 8])).unwrap();
    convert(&path("f.npy"), &path("f.ra"), &["--force"])
        .exits(0)
        .says(&["without attributes._FillValue, attributes.scale_factor; the old one is `"]);
    let now =
        "ndarrays:\n  f:\n    shape: [2]\n    type: float32\n    attributes:\n      units: K\n";
    assert_eq!(fs::read_to_string(path("f.yaml")).unwrap(), now);
    assert_eq!(fs::read_to_string(path("f.yaml.old")).unwrap(), packed);
    // Other integers are packed as before.
    fs::write(path("f.npy"), npy("'<i4'", false, "(2,)", &[0; 8])).unwrap();
    fs::write(path("f.ra"), raw_array(INT16, &[2], &[0; 4])).unwrap();
    fs::write(path("f.yaml"), packed).unwrap();
    convert(&path("f.npy"), &path("f.ra"), &["--force"]).exits(0);
    assert_eq!(fs::read_to_string(path("f.yaml")).unwrap(), packed.replace("int16", "int32"));
}

#[test]
fn a_coordinate_changes_its_length_only_with_its_arrays() {
    let home = Experiment::new()
        .array("d/t.ra", FLOAT64, &[2], &[0; 16])
        .file("d/t.yaml", "dimcoords:\n  t:\n    size: 2\n    type: float64\n")
        .array("d/run/x.ra", UINT8, &[2], &[0; 2])
        .describe("d/run/x.yaml", "[t]", "uint8")
        .array("new/t.ra", FLOAT64, &[3], &[0; 24])
        .file("new/t.yaml", "dimcoords:\n  t:\n    size: 3\n    type: float64\n");
    let path = |name: &str| home.path().join(name);
    fs::write(path("t.npy"), npy("'<f8'", false, "(3,)", &[0; 24])).unwrap();
    for (from, to) in [("t.npy", "d/t.ra"), ("new", "d")] {
        convert(&path(from), &path(to), &["--force"]).exits(1).says(&[
            "DESC004",
            "run/x.yaml",
            "`t.ra` has length 3",
        ]);
    }
    ra("validate", &[&path("d")], &[]).exits(0);
    fs::create_dir(path("new/run")).unwrap();
    fs::write(path("new/run/x.ra"), raw_array(UINT8, &[3], &[0; 3])).unwrap();
    fs::copy(path("d/run/x.yaml"), path("new/run/x.yaml")).unwrap();
    convert(&path("new"), &path("d"), &["--force"]).exits(0);
    ra("validate", &[&path("d")], &[]).exits(0);
}

#[test]
fn a_new_type_or_length_changes_nothing_else_in_a_description() {
    let experiment = Experiment::new().array("t.ra", FLOAT32, &[2, 3], &[0; 24]).array(
        "time.ra",
        FLOAT64,
        &[3],
        &[0; 24],
    );
    let path = |name: &str| experiment.path().join(name);
    let described = "# mine\nndarrays:\n  t:\n    shape: [2, \"time\"] # names\n    type: \"float32\" # type\n    attributes: {units: K, long_name: 'x'} # kept\n    storage: {fillvalue: -9.0}\n";
    let time = "dimcoords: {time: {size: 3, type: float64, attributes: {units: s, axis: T}}}\n";
    fs::write(path("t.yaml"), described).unwrap();
    fs::write(path("time.yaml"), time).unwrap();
    let force = |from: &str, to: &str, more: &[&str]| {
        convert(&path(from), &path(to), &[&["--force"], more].concat())
    };
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    let valid = || ra("validate", &[experiment.path()], &[]).exits(0);

    fs::write(path("t.npy"), npy("'<f8'", false, "(2, 3)", &[0; 48])).unwrap();
    force("t.npy", "t.ra", &[]).exits(0).says(&["t.yaml` is kept with another type"]);
    let double = described.replace("\"float32\"", "float64");
    assert_eq!(text("t.yaml"), double);
    force("t.npy", "t.ra", &["--order", "row"]).exits(0);
    let row = double.replace("{fillvalue", "{order: row, fillvalue");
    assert_eq!(
        text("t.yaml").replace("{fillvalue: -9.0, order: row}", "{order: row, fillvalue: -9.0}"),
        row
    );
    valid();
    force("t.npy", "t.ra", &[]).exits(0);
    valid();

    // A length that contradicts a coordinate is refused, and both files stay.
    let before = fs::read(path("t.ra")).unwrap();
    fs::write(path("t.npy"), npy("'<f8'", false, "(2, 2)", &[0; 32])).unwrap();
    force("t.npy", "t.ra", &[]).exits(1).says(&["length 2, but its coordinate `time` has 3"]);
    assert_eq!(fs::read(path("t.ra")).unwrap(), before);
    assert!(text("t.yaml").contains("long_name: 'x'"));
    // The fill value does not fit.
    fs::write(path("t.npy"), npy("'|u1'", false, "(2, 3)", &[0; 6])).unwrap();
    force("t.npy", "t.ra", &[]).exits(1);

    // With its coordinate, it is not refused. Attributes of the source replace those of the same name.
    let new = path("new");
    fs::create_dir(&new).unwrap();
    fs::write(new.join("t.npy"), npy("'<f8'", false, "(2, 2)", &[0; 32])).unwrap();
    fs::write(new.join("time.npy"), npy("'<M8[D]'", false, "(2,)", &[0; 16])).unwrap();
    let target = experiment.path().join("all");
    fs::create_dir(&target).unwrap();
    for name in ["t.ra", "t.yaml", "time.ra", "time.yaml"] {
        fs::copy(path(name), target.join(name)).unwrap();
    }
    convert(&new, &target, &["--force"]).exits(0);
    let time = fs::read_to_string(target.join("time.yaml")).unwrap();
    for part in ["size: 2", "type: int64", "units: days since", "axis: T"] {
        assert!(time.contains(part), "{time}");
    }
    ra("validate", &[&target], &[]).exits(0);
}
