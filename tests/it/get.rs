//! `ra-pack get`: one array or file, or a slice of an array, checked before anything is written.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::bytes::{Part, part, tar, with_manifest, zip};
use crate::experiment::{
    Element, Experiment, FLOAT64, INT16, UINT8, le, ra_pack, raw_array, read_tree,
};
use crate::run::{ENDINGS, Ran, names_in, pack, ra, run_as};

fn get(archive: &Path, member: &str, options: &[&str]) -> Ran {
    ra("get", &[archive, member.as_ref()], options)
}

#[test]
fn every_member_of_every_archive_equals_its_file() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    for (index, ending) in ENDINGS.into_iter().enumerate() {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        let tree = read_tree(experiment.path());
        let files = tree.iter().filter(|(name, _)| !name.ends_with('/'));
        // Reads each member from some archives, a few from each.
        for (name, content) in files.skip(index).step_by(3) {
            let ran = get(&archive, name, &[]).exits(0);
            assert!(ran.out == *content, "{ending} {name}");
            assert_eq!(ran.err, "");
        }
    }
    let content = fs::read(experiment.path().join("time.ra")).unwrap();
    let ran = get(experiment.path(), "time.ra", &[])
        .exits(0)
        .says(&["not verified: ", "is not in a manifest"]);
    assert_eq!(ran.out, content);
}

#[test]
fn a_member_of_a_bag_has_its_name_in_the_source_or_in_the_list() {
    let scratch = TempDir::new().unwrap();
    let experiment = Experiment::standard();
    let archive = pack(&experiment, scratch.path(), "x.zip", &["--layout", "bagit"]);
    let content = fs::read(experiment.path().join("run1/image.ra")).unwrap();
    for name in ["run1/image.ra", "x/data/run1/image.ra"] {
        assert_eq!(get(&archive, name, &[]).exits(0).out, content);
    }
}

#[test]
fn leftovers_of_an_interrupted_run_are_reported() {
    let scratch = TempDir::new().unwrap();
    pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let leftover = scratch.path().join(".time.ra.abc.ra-pack-unfinished");
    for name in ["time.ra", ".time.ra.abc.ra-pack-unfinished"] {
        fs::write(scratch.path().join(name), "half").unwrap();
    }
    // The run's own temporary file is not one of them.
    for out in [Path::new("time.ra"), &scratch.path().join("time.ra")] {
        let replace = || {
            let mut command = ra_pack();
            command.current_dir(scratch.path()).args(["get", "x.zip", "time.ra", "--force", "-o"]);
            let ran = run_as(command.arg(out)).exits(0);
            ran.said().matches("was left by an interrupted run").count()
        };
        assert_eq!(replace(), 1);
        fs::rename(&leftover, scratch.path().join("moved")).unwrap();
        assert_eq!(replace(), 0);
        fs::rename(scratch.path().join("moved"), &leftover).unwrap();
    }
}

#[test]
fn a_member_is_found_by_part_of_its_name_or_a_similar_one_is_suggested() {
    let scratch = TempDir::new().unwrap();
    for ending in [".zip", ".tar", ".tar.gz"] {
        let archive = pack(&Experiment::standard(), scratch.path(), &format!("x{ending}"), &[]);
        let whole = get(&archive, "run1/temperature.ra", &[]).exits(0).out;
        for name in ["temperature.ra", "temperature", "/run1/temperature.ra", "./run1/temperature"]
        {
            assert_eq!(get(&archive, name, &[]).exits(0).out, whole, "{name}");
        }
        for name in ["run1/Temperature", "x/TEMPERATURE", "temprature", "run1/temperatrue.ra"] {
            let ran = get(&archive, name, &[]).exits(2);
            let ran = ran.says(&[name, "did you mean `run1/temperature.ra`"]);
            assert_eq!(ran.out, b"");
        }
        let ran = get(&archive, "quite/another/thing", &[]).exits(2);
        assert!(!ran.said().contains("did you mean"), "{}", ran.said());
        for name in ["", "run1", "../x", "/etc/passwd", "run2/nothing yet"] {
            assert_eq!(get(&archive, name, &[]).exits(2).out, b"");
        }
    }
}

/// Returns the numbers of the elements at `positions` of each dimension, column-major.
fn chosen(dims: &[usize], positions: &[Vec<usize>]) -> Vec<usize> {
    let mut numbers = vec![0];
    let mut stride = 1;
    let mut strides = Vec::new();
    for dim in dims {
        strides.push(stride);
        stride *= dim;
    }
    // The last index changes slowest, so it is the outermost loop.
    for (positions, stride) in positions.iter().zip(&strides).rev() {
        let mut next = Vec::new();
        for number in &numbers {
            next.extend(positions.iter().map(|position| number + position * stride));
        }
        numbers = next;
    }
    numbers
}

#[test]
fn a_slice_holds_the_expected_elements() {
    let dims = [4_usize, 3, 5];
    let wide = dims.map(|dim| u64::try_from(dim).unwrap());
    let data = le(f64::to_le_bytes, (0..60).map(f64::from));
    let experiment = Experiment::new()
        .array("column.ra", FLOAT64, &wide, &data)
        .describe("column.yaml", "[4, 3, 5]", "float64")
        .array("row.ra", FLOAT64, &wide, &data)
        .file(
            "row.yaml",
            "ndarrays:\n  row:\n    shape: [5, 3, 4]\n    type: float64\n    storage: {order: row}\n",
        );
    let scratch = TempDir::new().unwrap();
    let archives: Vec<_> =
        [(".zip", "stored"), (".zip", "deflate"), (".tar", "stored"), (".tar.zst", "stored")]
            .into_iter()
            .map(|(ending, method)| {
                let name = format!("{method}{ending}");
                pack(&experiment, scratch.path(), &name, &["--compression", method])
            })
            .collect();
    let all = |extent: usize| (0..extent).collect::<Vec<_>>();
    // Each dimension: its text, its positions, and whether it remains a dimension.
    let parts: [(&str, Vec<usize>, bool); 9] = [
        (":", all(3), true),
        ("1", vec![1], false),
        ("-1", vec![2], false),
        ("1:", vec![1, 2], true),
        (":-1", vec![0, 1], true),
        ("::2", vec![0, 2], true),
        ("::-1", vec![2, 1, 0], true),
        ("2:0:-1", vec![2, 1], true),
        ("1:1", vec![], true),
    ];
    for (index, (text, middle, stays)) in parts.into_iter().enumerate() {
        let archive = &archives[index % archives.len()];
        let first = [3, 1];
        let slice = format!("-1:0:-2,{text},1:4");
        let numbers = chosen(&dims, &[first.to_vec(), middle.clone(), vec![1, 2, 3]]);
        let expected =
            le(f64::to_le_bytes, numbers.iter().map(|n| f64::from(u32::try_from(*n).unwrap())));
        let mut shape = vec![2, u64::try_from(middle.len()).unwrap(), 3];
        if !stays {
            shape.remove(1);
        }
        let options = ["--slice", &slice, "--format", "raw"];
        assert_eq!(get(archive, "column.ra", &options).exits(0).out, expected, "{slice}");
        for unchecked in [&[][..], &["--no-check"]] {
            let options = [&["--slice", &slice], unchecked].concat();
            let whole = raw_array(FLOAT64, &shape, &expected);
            assert!(get(archive, "column.ra", &options).exits(0).out == whole, "{slice}");
            // The same elements with the indices reversed.
            let reversed = format!("1:4,{text},-1:0:-2");
            let options = [&["--slice", &reversed], unchecked].concat();
            let out = get(archive, "row.ra", &options).exits(0).out;
            assert!(out == whole, "{reversed} of row");
        }
    }
    let archive = &archives[0];
    assert_eq!(
        get(archive, "column.ra", &["--slice", "..."]).exits(0).out,
        raw_array(FLOAT64, &wide, &data)
    );
    let one = get(archive, "row.ra", &["--slice", "4,2,3"]).exits(0).out;
    assert_eq!(one, raw_array(FLOAT64, &[], &59_f64.to_le_bytes()));
    let axis = get(archive, "column.ra", &["--slice", "...,4"]).exits(0).out;
    assert_eq!(axis, raw_array(FLOAT64, &[4, 3], &data[48 * 8..]));
}

#[test]
fn an_invalid_slice_is_refused() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    for slice in ["5,0", "0,0,0", "a", "::0", "...,...", "1:2:3:4", "-4,0", "99999999999999999999"]
    {
        let out = scratch.path().join("out.ra");
        let options = ["--slice", slice, "-o", out.to_str().unwrap()];
        get(&archive, "run1/temperature.ra", &options).exits(2).says(&["slice"]);
        assert!(!out.exists());
    }
    get(&archive, "README.txt", &["--slice", "0"]).exits(2).says(&["not an array"]);
}

#[test]
fn raw_elements_are_little_endian_for_any_byte_order() {
    let mut big = raw_array(INT16, &[3], &[0, 1, 0, 2, 255, 254]);
    big[8] = 1;
    let experiment = Experiment::new()
        .file("big.ra", &big)
        .file("big.yaml", "ndarrays:\n  big: {shape: [3], type: int16, storage: {endian: big}}\n");
    let scratch = TempDir::new().unwrap();
    for ending in [".zip", ".tar"] {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        assert_eq!(get(&archive, "big.ra", &[]).exits(0).out, big, "the unchanged member");
        let raw = get(&archive, "big.ra", &["--format", "raw"]).exits(0).out;
        assert_eq!(raw, [1, 0, 2, 0, 254, 255]);
        let ra = get(&archive, "big.ra", &["--format", "ra"]).exits(0).out;
        assert_eq!(ra, raw_array(INT16, &[3], &raw));
        let last = get(&archive, "big.ra", &["--slice", "-1", "--format", "raw"]).exits(0).out;
        assert_eq!(last, [254, 255]);
    }
}

#[test]
fn elements_of_any_size_are_sliced() {
    for (element, datatype) in [
        (Element(0, 3), "{opaque: {size: 3}}"),
        (Element(4, 16), "complex128"),
        (Element(2, 8), "uint64"),
    ] {
        let width = usize::try_from(element.1).unwrap();
        let data: Vec<u8> = (0..6 * width).map(|i| u8::try_from(i).unwrap()).collect();
        let experiment = Experiment::new()
            .array("a.ra", element, &[2, 3], &data)
            .describe("a.yaml", "[2, 3]", datatype);
        let scratch = TempDir::new().unwrap();
        let archive = pack(&experiment, scratch.path(), "x.zip", &[]);
        let out = get(&archive, "a.ra", &["--slice", "1,::-1", "--format", "raw"]).exits(0).out;
        let expected: Vec<u8> =
            [5, 3, 1].iter().flat_map(|n| &data[n * width..(n + 1) * width]).copied().collect();
        assert_eq!(out, expected, "{datatype}");
    }
}

#[test]
fn a_damaged_member_is_not_written() {
    let values: Vec<u8> = (0..200).collect();
    let array = part("a.ra", raw_array(UINT8, &[200], &values));
    let text = part("a.yaml", "ndarrays:\n  a: {shape: [200], type: uint8}\n");
    let parts = with_manifest(vec![array, text, part("b.txt", "whole")]);
    let scratch = TempDir::new().unwrap();
    for (name, sound) in [("x.zip", zip(&parts)), ("x.tar", tar(&parts))] {
        let mut bytes = sound;
        let start = bytes.windows(200).position(|window| window == values).unwrap();
        bytes[start + 150] ^= 4;
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        let out = scratch.path().join("out");
        for options in [&[][..], &["--format", "raw"], &["--slice", "0:3"]] {
            let ran = get(&archive, "a.ra", options).exits(1).says(&["a.ra", "is damaged"]);
            assert_eq!(ran.out, b"", "{options:?}");
            let to_file = [options, &["-o", out.to_str().unwrap()]].concat();
            get(&archive, "a.ra", &to_file).exits(1);
            assert_eq!(
                names_in(scratch.path()).iter().filter(|name| name.contains("out")).count(),
                0
            );
        }
        assert_eq!(get(&archive, "b.txt", &[]).exits(0).out, b"whole");
        // With --no-verify, the intact part can be read.
        let options = ["--slice", "0:3", "--no-check", "--format", "raw"];
        assert_eq!(get(&archive, "a.ra", &options).exits(0).out, [0, 1, 2]);
    }
}

#[test]
fn a_member_that_differs_from_the_manifest_is_refused_in_a_stream_too() {
    let mut parts = with_manifest(vec![part("b.txt", "whole"), part("c.txt", "more")]);
    parts[0].data = b"false".to_vec();
    let scratch = TempDir::new().unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gz, &tar(&parts)).unwrap();
    let archives =
        [("x.zip", zip(&parts)), ("x.tar", tar(&parts)), ("x.tar.gz", gz.finish().unwrap())];
    for (name, bytes) in archives {
        let archive = scratch.path().join(name);
        fs::write(&archive, bytes).unwrap();
        let ran = get(&archive, "b.txt", &[]).exits(1).says(&["MAN003", "b.txt"]);
        assert_eq!(ran.out, b"", "{name}");
        assert_eq!(get(&archive, "b.txt", &["--no-check"]).exits(0).out, b"false");
        assert_eq!(get(&archive, "c.txt", &[]).exits(0).out, b"more");
    }
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let out = scratch.path().join("out.txt");
    fs::write(&out, "mine").unwrap();
    let option = ["-o", out.to_str().unwrap()];
    get(&archive, "README.txt", &option).exits(2).says(&["out.txt", "--force"]);
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    get(&archive, "missing", &[&option[..], &["--force"]].concat()).exits(2);
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    let json = get(&archive, "README.txt", &[&option[..], &["--force", "--json"]].concat());
    let json = json.exits(0).json();
    assert_eq!(fs::read_to_string(&out).unwrap(), "The temperature of the sea.\n");
    assert_eq!((&json["member"], &json["bytes"]), (&"README.txt".into(), &28.into()));
    assert_eq!(json["verified"], true);
    get(&archive, "README.txt", &["-o", scratch.path().to_str().unwrap()]).exits(2);
    get(&archive, "README.txt", &["-o", "/nowhere/at/all"]).exits(2);
    assert_eq!(get(&archive, "README.txt", &["-o", "-"]).exits(0).out.len(), 28);
    get(&archive, "README.txt", &["--json"]).exits(2);
    assert_eq!(names_in(scratch.path()), ["out.txt", "x.zip", "x.zip.manifest-sha256.txt"]);
}

#[test]
fn max_size_limits_the_written_bytes() {
    let experiment = Experiment::standard().file("notes.txt", "0123456789");
    let scratch = TempDir::new().unwrap();
    let out = scratch.path().join("out");
    let to_file = ["-o", out.to_str().unwrap()];
    for ending in [".zip", ".tar", ".tar.gz"] {
        let archive = pack(&experiment, scratch.path(), &format!("x{ending}"), &[]);
        for check in [&[][..], &["--no-check"]] {
            let ran = get(&archive, "notes.txt", &[&["--max-size", "10"], check].concat()).exits(0);
            assert_eq!(ran.out, b"0123456789");
            let ran = get(&archive, "notes.txt", &[&["--max-size", "9"], check].concat()).exits(2);
            assert!(ran.out.is_empty(), "{ending}");
            ran.says(&["--max-size"]);
            get(&archive, "notes.txt", &[&to_file, &["--max-size", "9"], check].concat()).exits(2);
            assert!(!out.exists(), "{ending}");
            // For a slice, its own size counts.
            let slice = ["run1/temperature.ra", "--slice", "0:1,0:1", "--format", "raw"];
            let ran = get(&archive, slice[0], &[&slice[1..], &["--max-size", "4"], check].concat());
            assert_eq!(ran.exits(0).out.len(), 4);
            let ran = get(&archive, slice[0], &[&slice[1..], &["--max-size", "3"], check].concat());
            ran.exits(2).says(&["--max-size"]);
        }
    }
}

#[test]
fn an_array_is_written_in_other_formats() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let text = |member: &str, options: &[&str]| {
        let ran = get(&archive, member, options).exits(0);
        String::from_utf8(ran.out).unwrap()
    };
    // Rows are first indices, for a column-major and a row-major array.
    assert_eq!(
        text("run1/temperature.ra", &["--format", "csv"]),
        "0.0,3.0,6.0,9.0,12.0\n1.0,4.0,7.0,10.0,13.0\n2.0,5.0,8.0,11.0,14.0\n"
    );
    assert_eq!(text("run2/counts.ra", &["--format", "csv", "--slice", "1:3,:"]), "3,4,5\n6,7,8\n");
    assert_eq!(text("run1/gain.ra", &["--format", "json"]), "-7\n");
    assert_eq!(
        text("run1/image.ra", &["--format", "json", "--slice", ":2,:,3"]),
        "[[18,21],[19,22]]\n"
    );
    assert_eq!(text("run2/half.ra", &["--format", "json"]), "[0.5,0.5,0.5,0.5]\n");
    assert_eq!(text("run2/none.ra", &["--format", "json"]), "[[],[],[],[]]\n");
    get(&archive, "run1/image.ra", &["--format", "csv"]).exits(2).says(&["--slice", "json"]);
    assert_eq!(
        text("run2/spectrum.ra", &["--format", "csv"]),
        "0.0+1.0j,4.0+5.0j\n2.0+3.0j,6.0+7.0j\n"
    );
    assert_eq!(text("run2/quality.ra", &["--format", "csv", "--slice", "2:4"]), "good\nbad\n");
    assert_eq!(text("run2/quality.ra", &["--format", "csv", "--slice", "2:4", "--raw"]), "1\n4\n");
    get(&archive, "time.ra", &["--format", "png"]).exits(2);

    let out = scratch.path().join("t.npy");
    let to = ["-o", out.to_str().unwrap(), "--force", "--format"];
    let options = [&to[..], &["npy"]].concat();
    get(&archive, "run2/counts.ra", &options).exits(0);
    let file = fs::read(&out).unwrap();
    let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (5, 3), }";
    assert_eq!(&file[10..10 + header.len()], header.as_bytes());
    assert_eq!(&file[128..], le(i16::to_le_bytes, 0..15));
    let sliced = [&options[..], &["--slice", ":,1", "--json"]].concat();
    let report = get(&archive, "run2/counts.ra", &sliced).exits(0).json();
    assert_eq!(report["verified"], true);
    assert_eq!(&fs::read(&out).unwrap()[128..], le(i16::to_le_bytes, [1, 4, 7, 10, 13]));
    let ran = get(&archive, "run2/quality.ra", &[&to[..], &["npy"]].concat()).exits(0);
    ran.says(&["warning: its dimension names"]);
    let options = [&to[..], &["png", "--slice", ":,:,0"]].concat();
    get(&archive, "run1/image.ra", &options).exits(0);
    assert!(fs::read(&out).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_member_without_a_manifest_is_not_verified() {
    let experiment = Experiment::new().array("a.ra", UINT8, &[2], &[1, 2]);
    let home = TempDir::new().unwrap();
    let out = home.path().join("a.npy");
    for options in [["--format", "npy"].as_slice(), &["--slice", "0:1"], &[]] {
        let mut options = options.to_vec();
        options.extend(["--force", "-o", out.to_str().unwrap()]);
        get(experiment.path(), "a.ra", &options)
            .exits(0)
            .says(&["not verified: not in a manifest"]);
    }
}

/// In a sorted zip of thousands of members, only the entries around the member and its manifest line are read. The
/// content always matches its line in the manifest; `verify` reports errors elsewhere.
#[test]
#[ignore = "slow"]
fn a_member_of_a_large_zip_matches_its_manifest() {
    let names = (0..4000).map(|number| format!("a-directory-of-many-arrays/{number:05}.bin"));
    let members: Vec<_> = names.map(|name| part(&name, name.as_bytes())).collect();
    let sound = with_manifest(members);
    let manifest = sound.len() - 1;
    let wanted = sound[2000].clone();
    let line = |name: &str| {
        let text = std::str::from_utf8(&sound[manifest].data).unwrap();
        text.lines().find(|line| line.ends_with(name)).unwrap().to_owned() + "\n"
    };
    let with_text = |change: &dyn Fn(&mut String)| {
        let mut parts = sound.clone();
        let mut text = String::from_utf8(parts[manifest].data.clone()).unwrap();
        change(&mut text);
        parts[manifest].data = text.into_bytes();
        parts
    };
    let mut changed = sound.clone();
    changed[2000].data[0] ^= 1;
    let mut moved = sound.clone();
    moved.rotate_right(1);
    let mut doubled = sound.clone();
    doubled.insert(10, sound[manifest].clone());
    let mut nested = sound.clone();
    nested.push(part("deeper/manifest-sha256.txt", "no digests\n"));
    let mut other = sound.clone();
    other.push(part("manifest-sha256.txt.txt", "no digests\n"));
    let contradicting = with_text(&|text| {
        text.push_str(&line("00001.bin").replace("00001.bin", "02000.bin"));
    });
    let contradicting_early = with_text(&|text| {
        text.insert_str(0, &line("00001.bin").replace("00001.bin", "02000.bin"));
    });
    let with_another = |at: usize, parts: &[Part]| {
        let mut parts = parts.to_vec();
        parts.insert(at, part(&wanted.name, "another"));
        parts
    };
    let twice = with_another(2001, &sound);
    let twice_at_the_end = with_another(manifest, &sound);
    let faulty = with_text(&|text| text.push_str("a-directory-of-many-arrays/02000.bin\n"));
    let unlisted = with_text(&|text| *text = text.replace(&line("02000.bin"), ""));
    let twice_unlisted = with_another(5, &unlisted);
    let is_verified = ", verified)";
    let cases: [(&str, Vec<_>, i32, &str, &str); 13] = [
        ("unchanged", sound.clone(), 0, is_verified, ""),
        ("changed", changed, 1, "MAN003", "MAN003"),
        ("moved", moved, 0, is_verified, ""),
        ("doubled", doubled, 0, is_verified, "NAME002"),
        ("nested", nested, 0, is_verified, "MAN005"),
        ("other", other, 0, is_verified, "MAN005"),
        ("contradicting", contradicting, 1, "MAN002", "MAN002"),
        ("contradicting early", contradicting_early, 0, is_verified, "MAN002"),
        ("faulty", faulty, 1, "MAN002", "MAN002"),
        ("unlisted", unlisted, 0, "not verified", "MAN005"),
        ("twice", twice, 1, "NAME002", "NAME002"),
        ("twice at the end", twice_at_the_end, 1, "NAME002", "NAME002"),
        ("twice, unlisted", twice_unlisted, 1, "NAME002", "NAME002"),
    ];
    let scratch = TempDir::new().unwrap();
    let out = scratch.path().join("out");
    for (case, parts, code, says, verify_says) in cases {
        let archive = scratch.path().join("x.zip");
        fs::write(&archive, zip(&parts)).unwrap();
        let to_file = ["-o", out.to_str().unwrap(), "--force"];
        let ran = get(&archive, &wanted.name, &to_file);
        let said = ran.said();
        assert!(ran.code == Some(code) && said.contains(says), "{case}: {:?} {said}", ran.code);
        if code == 0 {
            assert_eq!(fs::read(&out).unwrap(), wanted.data, "{case}");
        }
        let verified = ra("verify", &[&archive], &[]);
        assert!(verified.said().contains(verify_says), "{case}: {}", verified.said());
        assert_eq!(verified.code, Some(i32::from(!verify_says.is_empty())), "{case}");
        // A tar of the same members is read without a directory.
        if case != "moved" {
            let archive = scratch.path().join("x.tar");
            fs::write(&archive, tar(&parts)).unwrap();
            // The manifest of the tar is read in the same way.
            let is_elsewhere =
                ["", "MAN005"].contains(&verify_says) || case == "contradicting early";
            let code = get(&archive, &wanted.name, &to_file).code;
            assert_eq!(code, Some(i32::from(!is_elsewhere)), "{case}");
        }
    }
    // A manifest that does not match its checksum in the zip.
    let mut bytes = zip(&sound);
    let at = bytes.windows(70).rposition(|window| window == &sound[manifest].data[..70]).unwrap();
    bytes[at] ^= 1;
    let archive = scratch.path().join("x.zip");
    fs::write(&archive, bytes).unwrap();
    get(&archive, &wanted.name, &[]).exits(0);
    ra("verify", &[&archive], &[]).exits(1).says(&["manifest-sha256.txt", "ARC006"]);
    // A file whose line may be the damaged one is searched for in the whole manifest.
    get(&archive, &sound[0].name, &[]).exits(1).says(&["manifest-sha256.txt", "ARC006"]);
}

#[test]
fn the_name_of_the_output_determines_the_format() {
    let experiment =
        Experiment::new().array("a.ra", UINT8, &[2, 2], &[1, 2, 3, 4]).file("a.npy.txt", "x");
    let path = |name: &str| experiment.path().join(name);
    for (output, begins) in [("o.npy", &b"\x93NUMPY"[..]), ("o.CSV", b"1,3\n"), ("o", b"rawarray")]
    {
        let to = path(output);
        ra("get", &[experiment.path(), Path::new("a.ra"), Path::new("-o"), &to], &[]).exits(0);
        assert!(fs::read(to).unwrap().starts_with(begins), "{output}");
    }
    // A file that is not an array is not converted.
    let to = path("x.npy");
    ra("get", &[experiment.path(), Path::new("a.npy.txt"), Path::new("-o"), &to], &[]).exits(0);
    assert_eq!(fs::read(to).unwrap(), b"x");
}

#[test]
fn the_input_is_never_replaced() {
    let experiment = Experiment::standard();
    let scratch = TempDir::new().unwrap();
    let archive = scratch.path().join("exp.zip");
    ra("create", &[experiment.path(), Path::new("-o"), &archive], &[]).exits(0);
    let beside = scratch.path().join("exp.zip.manifest-sha256.txt");
    let picture = scratch.path().join("exp.png");
    fs::copy(&archive, &picture).unwrap();
    let bytes = |path: &Path| fs::read(path).unwrap();
    let (before, listed) = (bytes(&archive), bytes(&beside));
    let note = experiment.path().join("README.txt");
    let force = Path::new("--force");
    let member = Path::new("run1/temperature.ra");
    let out = Path::new("-o");
    for args in [
        vec!["get".as_ref(), &*archive, member, out, &*archive, force],
        vec!["get".as_ref(), experiment.path(), member, out, &note, force],
        vec!["report".as_ref(), &archive, out, &archive, force],
        vec!["report".as_ref(), &archive, out, &beside, force],
        vec!["manifest".as_ref(), &archive, out, &archive, force],
        vec!["manifest".as_ref(), experiment.path(), out, &note, force],
        vec!["plot".as_ref(), &picture, member, out, &picture, force],
    ] {
        let command = args[0].to_str().unwrap();
        ra(command, &args[1..], &[]).exits(2).says(&["choose another output"]);
    }
    assert_eq!(
        (bytes(&archive), bytes(&beside), bytes(&picture)),
        (before.clone(), listed, before)
    );
    assert_eq!(fs::read_to_string(note).unwrap(), "The temperature of the sea.\n");
}

#[test]
fn an_array_brings_its_description() {
    let scratch = TempDir::new().unwrap();
    let archive = pack(&Experiment::standard(), scratch.path(), "x.zip", &[]);
    let path = |name: &str| scratch.path().join(name);
    let to = |name: &str| ["-o".to_owned(), path(name).to_str().unwrap().to_owned()];
    for (member, name, slice, shape) in [
        ("run2/counts", "all.ra", None, "[5, 3]"),
        ("run2/counts", "part.ra", Some("1:3,::-1"), "[2, 3]"),
        ("run1/image.ra", "row.ra", Some("0"), "[2, 4]"),
        ("time", "clock.ra", None, "[5]"),
    ] {
        let [output, file] = &to(name);
        let mut options = vec![output.as_str(), file, "--json"];
        options.extend(slice.iter().flat_map(|slice| ["--slice", slice]));
        let report = get(&archive, member, &options).exits(0).json();
        let description = path(name).with_extension("yaml");
        assert_eq!(report["description_file"], description.to_str().unwrap());
        let text = fs::read_to_string(&description).unwrap();
        assert!(text.contains(&format!("shape: {shape}")), "{text}");
        ra("validate", &[&path(name)], &[]).exits(0);
        let values = |pack: &Path, member: &str, slice: Option<&str>| {
            let slice = slice.iter().flat_map(|slice| ["--slice", slice]);
            let options: Vec<_> = ["--format", "json"].into_iter().chain(slice).collect();
            get(pack, member, &options).exits(0).out
        };
        assert_eq!(values(&path(name), name, None), values(&archive, member, slice), "{name}");
    }
    // An existing description is not replaced, and an array without one has none.
    fs::write(path("new.yaml"), "mine").unwrap();
    let [output, file] = &to("new.ra");
    get(&archive, "time", &[output, file]).exits(2).says(&["new.yaml", "--force"]);
    assert!(!path("new.ra").exists());
    for name in ["run2/counts", "counts.ra"] {
        ra("extract", &[&archive], &[name, "-C", path("out").to_str().unwrap(), "-f"]).exits(0);
        assert_eq!(
            read_tree(&path("out/run2")).into_keys().collect::<Vec<_>>(),
            ["counts.ra", "counts.yml"]
        );
    }
}
