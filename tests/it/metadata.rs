//! Metadata without an editor: `describe --set`, `--dims`, `--template` and `--apply`, attributes of the pack, and
//! `validate --metadata`.

use std::fs;
use std::path::Path;

use crate::experiment::{COMPLEX64, Experiment, FLOAT32, FLOAT64, INT16, UINT8, le, ra_pack};
use crate::run::{ENDINGS, Ran, create, ra, run_as};

/// Returns arrays of which only the time is described.
fn undescribed() -> Experiment {
    let doubles = |count: u8| le(f64::to_le_bytes, (0..count).map(f64::from));
    Experiment::new()
        .array("time.ra", FLOAT64, &[4], &doubles(4))
        .array("lat.ra", FLOAT64, &[2], &doubles(2))
        .array("run1/temperature.ra", FLOAT32, &[4, 2], &[0; 32])
        .array("run1/counts.ra", INT16, &[4], &[0; 8])
        .file("time.yaml", TIME)
}

/// A description with comments.
const TIME: &str =
    "# the clock\ndimcoords:\n  time: # of the mooring\n    size: 4\n    type:  float64\n";

fn text(home: &Experiment, name: &str) -> String {
    fs::read_to_string(home.path().join(name)).unwrap()
}

fn describe(home: &Experiment, options: &[&str]) -> Ran {
    ra("describe", &[home.path()], options)
}

#[test]
fn units_names_dimensions_and_a_title_are_set_with_one_command() {
    let home = undescribed();
    let given = [
        "--set",
        "temperature.units=degree_Celsius",
        "--set",
        "time.long_name=time of day",
        "--dims",
        "run1/temperature=time,lat",
        "--set",
        "title=Mooring 7",
    ];
    let dry: Vec<_> = given.iter().copied().chain(["--dry-run"]).collect();
    describe(&home, &dry).exits(0).says(&[
        "would write",
        "temperature.yaml",
        "nothing was changed",
    ]);
    assert_eq!(text(&home, "time.yaml"), TIME);
    assert!(!home.path().join("run1/temperature.yaml").exists());
    describe(&home, &given).exits(0).says(&[
        "wrote ",
        "manifest.yaml",
        "time.yaml:7: long_name of time.ra: time of day",
        "run1/temperature.yaml:3: shape of run1/temperature.ra: 4, 2 is now time, lat",
        "title of the pack: Mooring 7",
    ]);
    assert_eq!(
        text(&home, "time.yaml"),
        format!("{TIME}    attributes:\n      long_name: time of day\n")
    );
    assert_eq!(
        text(&home, "run1/temperature.yaml"),
        "ndarrays:\n  temperature:\n    shape: [time, lat]\n    type: float32\n    attributes:\n      units: degree_Celsius\n"
    );
    ra("validate", &[home.path()], &["--allow", "DESC001"]).exits(0);
    // The document with the title need not list the arrays.
    ra("manifest", &[home.path()], &["--write"]).exits(0);
    let verified = ra("verify", &[home.path()], &[]).exits(1);
    assert!(!verified.said().contains("DESC013"), "{}", verified.said());
    fs::remove_file(home.path().join("manifest-sha256.txt")).unwrap();
    // A second run changes nothing, and an empty value removes an attribute.
    describe(&home, &given).exits(0).says(&["3 descriptions already up to date"]);
    describe(&home, &["--set", "time.long_name=", "--json"])
        .exits(0)
        .says(&["\"from\":\"time of day\""]);
    assert_eq!(text(&home, "time.yaml"), TIME);
}

#[test]
fn a_table_is_filled_in_and_applied() {
    let home = undescribed();
    let table = String::from_utf8(describe(&home, &["--template"]).exits(0).out).unwrap();
    assert_eq!(
        table,
        "name,shape,dims,units,long_name,standard_name\nlat,2,2,,,\nrun1/counts,4,4,,,\nrun1/temperature,4x2,4 2,,,\ntime,4,time,,,\n"
    );
    let filled = table
        .replace("lat,2,2,,,", "lat,2,2,degrees_north,\"latitude, north\",latitude")
        .replace("run1/temperature,4x2,4 2,,,", "run1/temperature,4x2,time lat,K,,");
    let file = home.path().join("meta.csv");
    // As written by a spreadsheet in a locale with decimal commas.
    fs::write(&file, format!("\u{feff}{}", filled.replace('\n', "\r\n"))).unwrap();
    describe(&home, &["--apply", file.to_str().unwrap()]).exits(0);
    let lat = text(&home, "lat.yaml");
    assert!(lat.contains("long_name: latitude, north\n      standard_name: latitude\n"), "{lat}");
    assert!(text(&home, "run1/temperature.yaml").contains("shape: [time, lat]"));
    assert!(
        home.path().join("run1/counts.yaml").exists(),
        "an array without a description gets one"
    );
    let again = String::from_utf8(describe(&home, &["--template"]).exits(0).out).unwrap();
    assert_eq!(again, filled.replace("lat,2,2", "lat,2,lat"));
    let wrong = run_as(
        ra_pack()
            .args(["describe", "--apply", "-"])
            .arg(home.path())
            .write_stdin("name,units\ntiem,s\n"),
    );
    wrong.exits(2).says(&["`tiem`", "did you mean `time`?"]);
}

#[test]
fn a_table_that_contradicts_an_array_is_rejected_with_its_line() {
    let home = undescribed();
    let file = home.path().join("meta.csv");
    for (table, words) in [
        (
            "lat,2,deg\ncounts,3,1\n",
            "line 3 of the table: expected `4`, the shape of `run1/counts.ra`, found `3`",
        ),
        (
            "temperature,2x4,K\n",
            "line 2 of the table: expected `4x2`, the shape of `run1/temperature.ra`, found `2x4`",
        ),
        (
            "lat,2,m\nlat,2,K\n",
            "line 3 of the table: the array `lat.ra` has two lines; the first is line 2",
        ),
        (
            "lat,2,m\nlat.ra,2,K\n",
            "line 3 of the table: the array `lat.ra` has two lines; the first is line 2",
        ),
        (
            "counts,4,1\nlat,2,m\nrun1/counts,4,K\n",
            "line 4 of the table: the array `run1/counts.ra` has two lines",
        ),
    ] {
        fs::write(&file, format!("name,shape,units\n{table}")).unwrap();
        describe(&home, &["--apply", file.to_str().unwrap()]).exits(2).says(&[words]);
        assert!(!home.path().join("lat.yaml").exists(), "{table}");
    }
    fs::write(&file, "name,shape,units\ncounts,,1\ntemperature,4 x 2,K\n").unwrap();
    describe(&home, &["--apply", file.to_str().unwrap()]).exits(0);
}

#[test]
fn dimension_names_are_compared_with_those_of_other_arrays() {
    let mut home = Experiment::new();
    for name in ["u.ra", "v.ra", "backscatter.ra", "run1/w.ra"] {
        home = home.array(name, UINT8, &[12, 8], &[0; 96]);
    }
    describe(&home, &["--dims", "u=time,bin", "--dims", "v=time,bin"]).exits(0);
    let reversed = ["--dims", "backscatter=bin,time"];
    let ran = describe(&home, &reversed).exits(2);
    let ran = ran.says(&[
        "`backscatter.ra`: dimension 0 has length 12, but the coordinate `bin` has 8",
        "the names fit in this order: time,bin",
    ]);
    assert!(!ran.err.contains(".yaml"), "{}", ran.err);
    // Another directory has its own dimensions.
    describe(&home, &["--dims", "w=bin,time"]).exits(0);
    // Names that the same command gives to two arrays.
    let both = ["--dims", "backscatter=a,b", "--dims", "u=b,a"];
    describe(&home, &both).exits(2).says(&["`u.ra`", "the names fit in this order: a,b"]);
    describe(&home, &["--dims", "u=a,a"]).exits(2).says(&["`u.ra`", "dimension 1 has length 8"]);
    assert!(!home.path().join("backscatter.yaml").exists());
    describe(&home, &["--dims", "backscatter=time,bin"]).exits(0);
}

/// Returns the dims of 16 dimensions, of which only some have more than one element.
fn sixteen(long: &[(usize, u64)]) -> Vec<u64> {
    let mut dims = vec![1; 16];
    for (axis, length) in long {
        dims[*axis] = *length;
    }
    dims
}

#[test]
fn dimensions_get_the_names_of_bart() {
    const ROW: &str = "ndarrays:\n  row:\n    shape: [5, 1, 3]\n    type: complex64\n    storage:\n      order: row\n";
    let array = |home: Experiment, name: &str, dims: &[u64]| {
        let elements = usize::try_from(dims.iter().product::<u64>()).unwrap();
        home.array(name, COMPLEX64, dims, &vec![0; elements * 8])
    };
    let mut home = Experiment::new();
    home = array(home, "scan/kspace.ra", &sixteen(&[(0, 4), (1, 6), (3, 8), (15, 2)]));
    home = array(home, "scan/image.ra", &sixteen(&[(0, 4), (1, 6), (13, 5)]));
    home = array(home, "few.ra", &[3, 1, 5]);
    home = array(home, "row.ra", &[3, 1, 5]).file("row.yaml", ROW);
    home = array(home, "many.ra", &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 7]);
    // Not an array of BART.
    home = home.array("time.ra", FLOAT64, &[4], &[0; 32]);
    let ran = describe(&home, &["--dims", "bart"]).exits(0);
    assert!(!ran.err.contains("time.yaml"), "{}", ran.err);
    for (name, shape) in [
        ("scan/kspace", "[read, phs1, 1, coil, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, batch]"),
        ("scan/image", "[read, phs1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, slice, 1, 1]"),
        ("few", "[read, 1, phs2]"),
        ("row", "[phs2, 1, read]"),
        ("many", "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, batch, 7]"),
    ] {
        let text = text(&home, &format!("{name}.yaml"));
        assert!(text.contains(&format!("shape: {shape}\n")), "{name}: {text}");
    }
    ra("validate", &[home.path()], &["--allow", "DESC001"]).exits(0);

    // A trajectory has other dimensions. Names of a single array take precedence.
    let home = array(array(Experiment::new(), "image.ra", &[4, 6]), "traj.ra", &[3, 6, 1, 1]);
    describe(&home, &["--dims", "traj=x"]).exits(2).says(&["1 dimension name", "[3, 6, 1, 1]"]);
    describe(&home, &["--dims", "bart"])
        .exits(2)
        .says(&["`traj.ra`: dimension 0 has length 3, but the coordinate `read` has 4"]);
    describe(&home, &["--dims", "traj=,spoke", "--dims", "bart"]).exits(0);
    assert!(text(&home, "traj.yaml").contains("shape: [3, spoke, 1, 1]\n"));
    assert!(text(&home, "image.yaml").contains("shape: [read, phs1]\n"));

    // One array, by its name in a directory or as the target.
    let home = array(array(Experiment::new(), "a.ra", &[4, 6]), "b.ra", &[4, 6]);
    describe(&home, &["--dims", "a=bart"]).exits(0);
    assert!(!home.path().join("b.yaml").exists());
    ra("describe", &[&home.path().join("b.ra")], &["--dims", "bart"]).exits(0);
    assert_eq!(text(&home, "b.yaml"), text(&home, "a.yaml").replace("  a:", "  b:"));
}

#[test]
fn rejected_edits_change_nothing() {
    let home = undescribed();
    for (options, status, words) in [
        (&["--dims", "temperature=lat,time"][..], 2, &["fit in this order: time,lat"][..]),
        (&["--dims", "temperature=time"], 2, &["1 dimension name", "[4, 2]"]),
        (&["--dims", "temperature=4,3"], 2, &["length 2, not 3"]),
        (&["--set", "tempreature.units=K"], 2, &["did you mean `run1/temperature`?"]),
        (&["--dims", "time,lat"], 2, &["expected NAME=DIM,DIM"]),
        (&["--dims", "time=lat"], 2, &["cannot have another coordinate"]),
        (
            &["--set", "temperature=K", "--set", "lat.units=m", "--dims", "lat=/time"],
            2,
            &["has length 2"],
        ),
    ] {
        describe(&home, options).exits(status).says(words);
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 4);
    // A name without an array is only a dimension, and is reported if it looks like a typing error.
    describe(&home, &["--dims", "temperature=tiem,x"]).exits(0).says(&["did you mean `time`?"]);
    let temperature = text(&home, "run1/temperature.yaml");
    assert!(temperature.contains("  x:\n    size: 2\n    type: int64\n"), "{temperature}");
    ra("validate", &[home.path()], &["--allow", "DESC001"]).exits(0);
    // Two arrays of one directory share one `x`.
    describe(&home, &["--dims", "counts=x"]).exits(2).says(&["`run1/counts.ra`", "`x` has 2"]);
    assert!(!home.path().join("run1/counts.yaml").exists());
    // A document that cannot be changed safely.
    let odd = "ndarrays:\n  lat: &l\n    shape: [2] # one\n    type: float64\n    attributes: # none\n      valid_range: {shape: [2], type: float64, value: [0, # low\n        9]}\n";
    fs::write(home.path().join("lat.yaml"), odd).unwrap();
    describe(&home, &["--set", "lat.valid_range=7"]).exits(1).says(&["a comment", "by hand"]);
    assert_eq!(text(&home, "lat.yaml"), odd);
}

#[test]
fn one_array_is_described_by_its_own_path() {
    let home = undescribed();
    let lat = home.path().join("lat.ra");
    ra("describe", &[&lat], &["--set", "units=degree_nrth", "--dry-run"])
        .exits(0)
        .says(&["META002", "did you mean `degree_north`?"]);
    let yaml = lat.with_extension("yaml");
    ra("describe", &[&lat], &["--set", "units=degrees_north", "--set", "lat.valid_max=90"])
        .exits(0)
        .says(&[&format!("{}:6: units of lat.ra: degrees_north", yaml.display())]);
    assert!(text(&home, "lat.yaml").ends_with("units: degrees_north\n      valid_max: 90\n"));
    let counts = home.path().join("run1/counts.ra");
    run_as(ra_pack().current_dir(home.path()).args(["describe", "--dims", "time"]).arg(&counts))
        .exits(0);
    assert!(text(&home, "run1/counts.yaml").contains("shape: [time]"));
}

#[test]
#[ignore = "slow"]
fn an_edited_archive_equals_one_created_from_edited_files() {
    let edits: [&[&str]; 5] = [
        &["--set", "title=Mooring 7", "--set", "lat.units=degrees_north"],
        &["--dims", "run1/temperature=time,lat", "--set", "time.long_name=time of day"],
        &["--set", "title=", "--set", "comment=moved"],
        &["--dims", "counts=time", "--set", "lat.units=m", "--set", "lat.long_name=latitude"],
        &["--apply"],
    ];
    let table = Experiment::new().file("t.csv", "name,dims,units\nrun1/temperature,,K\nlat,,\n");
    let table = table.path().join("t.csv");
    let layouts: [&[&str]; 2] = [&[], &["--layout", "bagit"]];
    for (ending, layout) in ENDINGS.into_iter().flat_map(|it| layouts.map(|layout| (it, layout))) {
        let (home, scratch) = (undescribed(), Experiment::new());
        describe(&home, &["--write"]).exits(0);
        let archive = |part: &str| {
            let directory = scratch.path().join(part);
            fs::create_dir_all(&directory).unwrap();
            directory.join(format!("x{ending}"))
        };
        let mut layout = layout.to_vec();
        if !layout.is_empty() {
            layout.extend(["--bag-info", "Bagging-Date=2024-06-03"]);
        }
        let edited = archive("edited");
        create(home.path(), &edited, &layout).exits(0);
        for (number, edit) in edits.into_iter().enumerate() {
            let mut edit = edit.to_vec();
            if edit == ["--apply"] {
                edit.push(table.to_str().unwrap());
            }
            let before = fs::read(&edited).unwrap();
            let dry = [&edit[..], &["-n"]].concat();
            let dry = ra("describe", &[&edited], &dry).exits(0).says(&["nothing was changed"]);
            assert!(fs::read(&edited).unwrap() == before);
            let said = ra("describe", &[&edited], &edit).exits(0).said();
            let changes = said.replace("wrote ", "would write ") + "dry run: nothing was changed\n";
            assert_eq!(dry.said(), changes);
            describe(&home, &edit).exits(0);
            let created = archive(&number.to_string());
            create(home.path(), &created, &layout).exits(0);
            assert!(fs::read(&edited).unwrap() == fs::read(created).unwrap(), "{ending} {edit:?}");
        }
        // An edit that is not possible changes nothing.
        let before = fs::read(&edited).unwrap();
        ra("describe", &[&edited], &["--dims", "lat=time"]).exits(2).says(&["has length 2"]);
        ra("describe", &[&edited], &["--set", "nothing.units=m"]).exits(2).says(&["nothing"]);
        assert!(fs::read(&edited).unwrap() == before);
    }
}

#[test]
fn an_archive_can_be_longer_than_the_longest_description() {
    let (home, scratch) = (undescribed(), Experiment::new());
    let archive = scratch.path().join("a.zip");
    let long = fs::File::create(home.path().join("long.bin")).unwrap();
    long.set_len(ra_pack::ndl::MAX_TEXT as u64 + 1).unwrap();
    create(home.path(), &archive, &["--describe"]).exits(0);
    ra("describe", &[&archive], &["--set", "lat.units=m"]).exits(0).says(&["units of lat.ra: m"]);
}

#[test]
fn missing_descriptions_are_written_into_an_archive() {
    let home = undescribed().file("manifest.yaml", "# by hand\n/:\n  attributes: {title: T}\n");
    let scratch = Experiment::new();
    let (written, created) = (scratch.path().join("a.zip"), scratch.path().join("b.zip"));
    describe(&home, &["--set", "title=M"]).exits(0);
    let document = text(&home, "manifest.yaml");
    assert!(document.contains("# by hand") && document.contains("title: M"), "{document}");
    let whole = "
  dimcoords:
    lat: {size: 2, type: float64}
/run1:
  ndarrays:
    temperature: {shape: [4, 2], type: float32}
    counts: {shape: [time], type: int16}
";
    let home = home.file("manifest.yaml", document.trim_end().to_owned() + whole);
    create(home.path(), &written, &[]).exits(0);
    ra("describe", &[&written], &["--write", "--dry-run"]).exits(0).says(&["already described"]);
    ra("describe", &[&written], &["--set", "title=", "--set", "counts.units=1"])
        .exits(0)
        .says(&["title of the pack: M was removed", "units of run1/counts.ra: \"1\""]);
    describe(&home, &["--set", "title=", "--set", "counts.units=1"]).exits(0);
    create(home.path(), &created, &[]).exits(0);
    assert!(fs::read(&written).unwrap() == fs::read(&created).unwrap());
    ra("describe", &[&home.path().join("time.yaml")], &["--write"])
        .exits(2)
        .says(&["neither a directory nor an archive"]);
}

#[test]
fn dry_runs_of_reshape_and_update_show_the_changes() {
    let home = Experiment::new()
        .array("a.ra", UINT8, &[4], &[0; 4])
        .file("a.yaml", "ndarrays: {a: {shape: [3], type: uint8}} # x\n");
    describe(&home, &["--update", "-n"]).exits(0).says(&["3 is now 4", "nothing was changed"]);
    assert!(text(&home, "a.yaml").contains("[3]"));
    describe(&home, &["--update"]).exits(0);
    let before = fs::read(home.path().join("a.ra")).unwrap();
    ra("reshape", &[&home.path().join("a.ra")], &["2", "2", "--dry-run"])
        .exits(0)
        .says(&["[4] is now [2, 2]", "nothing was changed"]);
    assert_eq!(fs::read(home.path().join("a.ra")).unwrap(), before);
    assert!(text(&home, "a.yaml").contains("[4]"));
    describe(&home, &["--write", "--dry-run"]).exits(0).says(&["already described"]);
}

/// Returns the document in an archive.
fn manifest(archive: &Path) -> String {
    let got = ra("get", &[archive], &["manifest.yaml"]).exits(0);
    String::from_utf8(got.out).unwrap()
}

#[test]
fn attributes_of_the_pack_are_kept_with_the_descriptions_of_all_arrays() {
    let home = undescribed();
    describe(&home, &["--write"]).exits(0);
    let zips = tempfile::tempdir().unwrap();
    let zip = |name: &str| zips.path().join(name);
    create(home.path(), &zip("plain.zip"), &[]).exits(0);
    let given = ["--attribute", "title=Mooring 7", "--attribute", "doi=10.1/x"];
    create(home.path(), &zip("a.zip"), &given).exits(0);
    let (plain, stated) = (manifest(&zip("plain.zip")), manifest(&zip("a.zip")));
    let expected =
        plain.replacen("/:\n", "/:\n  attributes:\n    title: Mooring 7\n    doi: 10.1/x\n", 1);
    assert!(stated.ends_with(&expected), "{stated}");
    ra("verify", &[&zip("a.zip")], &["--strict"]).exits(0);
    for (command, options) in [("info", &[][..]), ("list", &["--long"][..])] {
        let shown = ra(command, &[&zip("a.zip")], options).exits(0).says(&["title", "10.1/x"]);
        let all = shown.said();
        assert!(all.find("Mooring 7").unwrap() < all.find("time").unwrap(), "{all}");
        let json = ra(command, &[&zip("a.zip")], &["--json"]).exits(0).json();
        assert_eq!(json["attributes"]["title"], "Mooring 7");
    }
    // Attributes survive changes to the descriptions and to the archive.
    let out = zips.path().join("out");
    ra("extract", &[&zip("a.zip"), Path::new("-C"), &out], &[]).exits(0);
    fs::remove_file(out.join("manifest-sha256.txt")).unwrap();
    ra("describe", &[&out], &["--set", "time.units=s"]).exits(0);
    create(&out, &zip("b.zip"), &["--attribute", "title=Mooring 8"]).exits(0);
    let stated = manifest(&zip("b.zip"));
    assert!(
        stated.contains("title: Mooring 8\n    doi: 10.1/x") && stated.contains("units: s"),
        "{stated}"
    );
    ra("verify", &[&zip("b.zip")], &["--strict"]).exits(0);
    ra("add", &[&zip("b.zip")], &["--attribute", "licence=CC0-1.0"]).exits(0);
    assert!(
        manifest(&zip("b.zip")).contains("title: Mooring 8\n    doi: 10.1/x\n    licence: CC0-1.0")
    );
    // A hand-written document is completed, and its text stays.
    let by_hand = "# by me\n\nattributes: {title: a} # short\n";
    fs::write(home.path().join("manifest.yaml"), by_hand).unwrap();
    create(home.path(), &zip("c.zip"), &["--attribute", "title=b", "--attribute", "n=1"]).exits(0);
    let completed = manifest(&zip("c.zip"));
    assert!(
        completed.starts_with("# by me\n\n/:\n  attributes: {title: b, \"n\": 1} # short\n"),
        "{completed}"
    );
    assert!(completed.contains("/run1:\n") && completed.contains("temperature:"), "{completed}");
    ra("verify", &[&zip("c.zip")], &[]).exits(0);
}

#[test]
fn missing_metadata_is_reported_at_the_end() {
    let home = undescribed();
    describe(&home, &["--write"]).exits(0);
    describe(&home, &["--set", "time.units=s", "--set", "time.long_name=time"]).exits(0);
    let zip = home.path().join("a.zip");
    let lacks = "3 of 4 arrays lack units and a long name; `ra-pack validate --metadata ";
    let made = create(home.path(), &zip, &["--exclude", "a.zip*"]).exits(0);
    assert!(made.err.lines().last().unwrap().starts_with(lacks), "{}", made.err);
    ra("verify", &[&zip], &[]).exits(0).says(&[lacks]);
    let quiet = ra("verify", &[&zip], &["-q"]).exits(0);
    assert_eq!(quiet.err, "");
    let json = ra("verify", &[&zip], &["--json"]).exits(0).json();
    assert_eq!(json["metadata"]["without_units"], 3);
    let whole = Experiment::new().array("a.ra", FLOAT32, &[1], &[0; 4]).file(
        "a.yaml",
        "ndarrays: {a: {shape: [1], type: float32, attributes: {units: m, long_name: a}}}\n",
    );
    let made = create(whole.path(), &whole.path().join("a.zip"), &["--exclude", "a.zip*"]).exits(0);
    assert!(!made.err.contains("lack"), "{}", made.err);
}

#[test]
fn metadata_is_checked_on_request() {
    let times = le(f64::to_le_bytes, [0.0, 1.0, 3.0, 2.0]);
    let home = Experiment::new()
        .array("time.ra", FLOAT64, &[4], &times)
        .file("time.yaml", "dimcoords: {time: {size: 4, type: float64, attributes: {units: hous since 2000-01-01, long_name: t}}}\n")
        .array("a.ra", INT16, &[4], &[0; 8])
        .file("a.yaml", "ndarrays:\n  aa:\n    shape: [time]\n    type: int16\n    attributes:\n      _FillValue: -99999\n      standard_name: a\n")
        .array("flags.ra", UINT8, &[4], &[0; 4])
        .file("flags.yaml", "ndarrays: {flags: {shape: [4], type: {enum: {base: uint8, members: {ok: 0}}}, attributes: {units: 1, longname: quality}}}\n")
        .file("tiem.yaml", "dimcoords: {time: {size: 4, type: float64}}\n");
    assert_eq!(ra("validate", &[home.path()], &["--json"]).exits(0).findings().len(), 1);
    let found = ra("validate", &[home.path()], &["--metadata", "--json"]).exits(0).findings();
    let found: Vec<_> =
        found.iter().map(|(code, member)| (code.as_str(), member.as_str())).collect();
    assert_eq!(
        found,
        [
            ("META001", "a.yaml"),
            ("META002", "time.yaml"),
            ("META003", "flags.yaml"),
            ("META004", "time.ra"),
            ("META005", "a.yaml"),
            ("META006", "a.yaml"),
            ("META007", "tiem.yaml"),
            ("META008", "manifest.yaml"),
        ]
    );
    ra("validate", &[home.path()], &["--metadata", "--strict"]).exits(1).says(&[
        "did you mean `hour",
        "did you mean `time.yaml`?",
        "other programs do not know the attribute `longname`: did you mean `long_name`?",
        "`ra-pack describe --set a.units=UNITS ",
        "more than 3 at index 3",
        "found: 2",
        "or the entry: `sed -i.old '2s/aa:/a:/' ",
    ]);
    // A single file, without the allowed codes.
    let file = home.path().join("a.yaml");
    let found = ra("validate", &[&file], &["--metadata", "--json", "--allow", "META006"]).exits(0);
    let codes: Vec<_> = found.findings().into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["META001", "META005"]);
    // An archive gives the same findings.
    let zip = home.path().join("a.zip");
    create(home.path(), &zip, &["--exclude", "a.zip*"]).exits(0);
    let found = ra("validate", &[&zip], &["--metadata", "--json"]).exits(0).findings();
    assert_eq!(found.iter().filter(|(code, _)| code.starts_with("META")).count(), 8, "{found:?}");
}

#[cfg(unix)]
#[test]
fn links_of_descriptions_are_named() {
    let home = undescribed();
    let path = |name: &str| home.path().join(name);
    fs::rename(path("time.yaml"), path("real.txt")).unwrap();
    std::os::unix::fs::symlink("real.txt", path("time.yaml")).unwrap();
    for options in [&["--set", "time.units=s"][..], &["--write"]] {
        let ran = describe(&home, options).exits(2).says(&["time.yaml", "not an ordinary file"]);
        assert!(!ran.said().contains("--force"), "{}", ran.said());
        assert!(!path("lat.yaml").exists(), "nothing is written");
    }
}
