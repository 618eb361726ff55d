use std::fs;
use std::path::Path;

use ra_pack::Pack;

use crate::experiment::{Experiment, FLOAT64, ra_pack};

fn sample() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/experiment"))
}

/// Draws, and answers what was written.
fn plot(home: &Path, array: &[&str], name: &str, options: &[&str]) -> Vec<u8> {
    let out = home.join(name);
    let mut plot = ra_pack();
    plot.arg("plot").args(array).arg("-o").arg(&out).args(options);
    plot.assert().success().stdout("");
    fs::read(out).unwrap()
}

/// A picture can be decoded, and every element of an SVG is closed.
fn check(home: &Path, name: &str, bytes: &[u8]) {
    if Path::new(name).extension().is_some_and(|end| end == "png") {
        assert!(bytes.starts_with(b"\x89PNG"));
        let into = home.join("decoded.ra");
        let mut convert = ra_pack();
        convert.arg("convert").arg(home.join(name)).arg(&into).arg("--force");
        convert.assert().success();
        let (pack, array) = Pack::of_array(&into).unwrap();
        let shape = pack.array(&array).unwrap().in_shape_order().unwrap().shape().unwrap();
        assert_eq!(shape.last(), Some(&3));
        fs::remove_file(into).unwrap();
        return;
    }
    let text = std::str::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
    assert_eq!(lines.next_back(), Some("</svg>"));
    for line in lines {
        assert!(line.ends_with("/>") || line.ends_with("</text>"), "{line}");
        assert!(!line.contains("NaN") && !line.contains("inf"), "{line}");
    }
    assert!(!text.replace("http://www.w3.org/2000/svg", "").contains("http"), "nothing outside");
}

#[test]
fn arrays_of_the_sample_are_drawn_and_always_the_same() {
    let home = tempfile::tempdir().unwrap();
    let sample = sample().to_str().unwrap();
    for (nth, (array, slice)) in [
        ("thermistors/temperature.ra", None),
        ("thermistors/quality.ra", None),
        ("thermistors/counts.ra", Some("::-1,3:")),
        ("currents/velocity.ra", Some("0,:,:")),
        ("currents/velocity.ra", Some("1,-1,::2")),
        ("currents/spectrum.ra", None),
        ("time.ra", None),
        ("sea_floor_depth.ra", None),
    ]
    .into_iter()
    .enumerate()
    {
        let slice: Vec<&str> = slice.map_or(vec![], |slice| vec!["--slice", slice]);
        for extension in ["png", "svg"] {
            let draw = |name: &str, jobs: &str| {
                let name = format!("{nth}{name}.{extension}");
                let options = [&slice[..], &["--jobs", jobs, "-q"]].concat();
                let bytes = plot(home.path(), &[sample, array], &name, &options);
                check(home.path(), &name, &bytes);
                bytes
            };
            assert!(draw("a", "1") == draw("b", "3"), "{array} {extension}");
        }
    }
}

#[test]
fn strange_arrays_are_drawn_too() {
    let home = tempfile::tempdir().unwrap();
    let cases: [(&[u64], Vec<f64>); 10] = [
        (&[], vec![1.5]),
        (&[0], vec![]),
        (&[0, 7], vec![]),
        (&[1], vec![f64::NAN]),
        (&[2, 2], vec![f64::NAN; 4]),
        (&[3], vec![5e-324, 1e-320, 0.0]),
        (&[2, 2], vec![-f64::MAX, f64::MAX, f64::INFINITY, 0.0]),
        (&[4], vec![f64::MAX, -f64::MAX, 0.0, f64::NEG_INFINITY]),
        (&[3, 3], vec![7.0; 9]),
        (&[1; 64], vec![1.0]),
    ];
    for (nth, (dims, data)) in cases.iter().enumerate() {
        let bytes: Vec<u8> = data.iter().flat_map(|number| number.to_le_bytes()).collect();
        let array = Experiment::new().array("x.ra", FLOAT64, dims, &bytes);
        let file = array.path().join("x.ra");
        for options in [&["-q"][..], &["-q", "--log"], &["-q", "--range", "-1:1"]] {
            for extension in ["png", "svg"] {
                let name = format!("{nth}.{extension}");
                let options = [options, &["--force"]].concat();
                let drawn = plot(home.path(), &[file.to_str().unwrap()], &name, &options);
                check(home.path(), &name, &drawn);
            }
        }
        ra_pack().arg("show").arg(&file).arg("--stats").assert().success();
        ra_pack().arg("show").arg(&file).assert().success();
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_with_the_way_out() {
    let home = tempfile::tempdir().unwrap();
    let sample = sample().to_str().unwrap();
    let refused = |arguments: &[&str]| {
        let mut plot = ra_pack();
        let ran = plot.arg("plot").args(arguments).current_dir(&home).assert().code(2).stdout("");
        String::from_utf8_lossy(&ran.get_output().stderr).into_owned()
    };
    let velocity = "currents/velocity.ra";
    assert!(refused(&[sample, velocity, "-o", "x.png"]).contains("--slice '0,:,:'"));
    assert!(refused(&[sample, velocity]).contains("-o FILE.png"));
    assert!(refused(&[sample, velocity, "-o", "x.gif"]).contains(".png"));
    assert!(refused(&[sample, "-o", "x.png"]).contains("ra-pack list"));
    fs::write(home.path().join("there.png"), "mine").unwrap();
    assert!(refused(&[sample, "time.ra", "-o", "there.png"]).contains("--force"));
    assert_eq!(fs::read(home.path().join("there.png")).unwrap(), b"mine");
    let opaque =
        Experiment::new().array("x.ra", crate::experiment::Element(0, 3), &[1], &[1, 2, 3]);
    let file = opaque.path().join("x.ra");
    assert!(refused(&[file.to_str().unwrap(), "-o", "x.png"]).contains("no picture"));
}
