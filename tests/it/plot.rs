use std::fs;
use std::path::Path;

use ra_pack::Pack;

use crate::experiment::{Experiment, FLOAT64, UINT8, ra_pack};

fn sample() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/experiment"))
}

/// Draws an array and returns the picture.
fn plot(home: &Path, array: &[&str], name: &str, options: &[&str]) -> Vec<u8> {
    let out = home.join(name);
    let mut plot = ra_pack();
    plot.arg("plot").args(array).arg("-o").arg(&out).args(options);
    plot.assert().success().stdout("");
    fs::read(out).unwrap()
}

/// Checks that a picture can be decoded, and that every element of an SVG is closed.
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
    assert_eq!(text.matches("<g ").count(), text.matches("</g>").count());
    for line in lines {
        let ends = ["/>", "</text>", "</linearGradient>", "</g>"];
        let is_group = line.starts_with("<g transform=");
        assert!(is_group || ends.into_iter().any(|end| line.ends_with(end)), "{line}");
        let numbers = line.replace("infinite", "");
        assert!(!numbers.contains("NaN") && !numbers.contains("inf"), "{line}");
    }
    assert!(
        !text.replace("http://www.w3.org/2000/svg", "").contains("http"),
        "no external references"
    );
}

#[test]
#[ignore = "slow"]
fn pictures_of_the_sample_are_always_the_same() {
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
#[ignore = "slow"]
fn unusual_arrays_are_drawn() {
    let home = tempfile::tempdir().unwrap();
    let cases: [(&[u64], Vec<f64>); 6] = [
        (&[1], vec![f64::NAN]),
        (&[2, 2], vec![f64::NAN; 4]),
        (&[3], vec![5e-324, 1e-320, 0.0]),
        (&[2, 2], vec![-f64::MAX, f64::MAX, f64::INFINITY, 0.0]),
        (&[4], vec![f64::MAX, -f64::MAX, 0.0, f64::NEG_INFINITY]),
        (&[3, 3], vec![7.0; 9]),
    ];
    for (nth, (dims, data)) in cases.iter().enumerate() {
        let bytes: Vec<u8> = data.iter().flat_map(|number| number.to_le_bytes()).collect();
        let array = Experiment::new().array("x.ra", FLOAT64, dims, &bytes);
        let file = array.path().join("x.ra");
        for options in [
            &["-q"][..],
            &["-q", "--log"],
            &["-q", "--range", "-1:1"],
            &["-q", "--range", "2%:98%", "--transpose"],
            &["-q", "--scale", "0.3", "--title", ""],
        ] {
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

/// Reads the width and height of a PNG file.
fn size(png: &[u8]) -> [u32; 2] {
    [16, 20].map(|at| u32::from_be_bytes(png[at..][..4].try_into().unwrap()))
}

#[test]
fn a_picture_is_labelled_by_its_description() {
    let home = tempfile::tempdir().unwrap();
    let sample = sample().to_str().unwrap();
    let draw = |array: &str, options: &[&str]| {
        let options = [options, &["--force", "-q"]].concat();
        String::from_utf8(plot(home.path(), &[sample, array], "x.svg", &options)).unwrap()
    };
    let temperature = draw("thermistors/temperature.ra", &[]);
    for text in [
        ">temperature of the water<",
        ">thermistors/temperature<",
        ">[°C]<",
        ">depth of the thermistor below the surface [m]<",
        ">middle of the sampled hour [2024-Jun, UTC]<",
        ">04<",
        "<linearGradient ",
        ">missing<",
    ] {
        assert!(temperature.contains(text), "{text}: {temperature}");
    }
    let deep = draw("thermistors/temperature.ra", &["--slice", "3,:"]);
    assert!(deep.contains(">depth = 10 m  ·  thermistors/temperature<"), "{deep}");
    let northward = draw("currents/velocity.ra", &["--slice", "1,:,:"]);
    assert!(northward.contains(">northward  ·  currents/velocity<"), "{northward}");
    assert!(
        northward.contains(">velocity of the water<") && northward.contains(">[m s⁻¹]<"),
        "{northward}"
    );
    let morning = draw("currents/velocity.ra", &["--slice", "1,:,8"]);
    assert!(morning.contains("northward, time = 2024-06-03 08:00 UTC"), "{morning}");
    let titled = draw("time.ra", &["--title", "Hours <of> it"]);
    assert!(titled.contains(">Hours &lt;of&gt; it<") && !titled.contains(">time<"), "{titled}");
}

#[test]
fn scale_and_offset_are_applied() {
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("counts.svg");
    let mut plot = ra_pack();
    plot.arg("plot").arg(sample()).args(["thermistors/counts.ra", "-o"]).arg(&out);
    let ran = plot.assert().success();
    let said = String::from_utf8_lossy(&ran.get_output().stderr).into_owned();
    assert!(said.contains("applied scale_factor 0.0005 and add_offset 10"), "{said}");
    let drawn = fs::read_to_string(out).unwrap();
    assert!(drawn.contains("stored × 0.0005 + 10"), "{drawn}");
    // From 6 to 20, not from -8000 to 20000.
    assert!(drawn.contains(">10<") && drawn.contains("url(#viridis)"), "{drawn}");
}

#[test]
fn options_set_the_size_the_range_and_the_axes() {
    let home = tempfile::tempdir().unwrap();
    let sample = sample().to_str().unwrap();
    let array = [sample, "thermistors/temperature.ra"];
    let png = |options: &[&str]| {
        plot(home.path(), &array, "x.png", &[options, &["--force", "-q"]].concat())
    };
    assert_eq!(size(&png(&[])), [800, 500]);
    assert_eq!(size(&png(&["--scale", "2.5"])), [2000, 1250]);
    assert_eq!(size(&png(&["--size", "300x200", "--scale", "3"])), [900, 600]);
    let svg = |options: &[&str]| {
        let options = [options, &["--force", "-q"]].concat();
        String::from_utf8(plot(home.path(), &array, "x.svg", &options)).unwrap()
    };
    // The colour bar has pointed ends for values beyond the percentiles.
    assert!(!svg(&[]).contains("<polygon"));
    assert_eq!(svg(&["--range", "2%:98%"]).matches("<polygon").count(), 1);
    assert_eq!(svg(&["--range", "10:12"]).matches("<polygon").count(), 2);
    let label = |svg: &str| {
        let depth = svg.find("depth of the thermistor below").unwrap();
        let start = svg[..depth].rfind("<text").unwrap();
        svg[start..depth].contains("rotate")
    };
    assert!(label(&svg(&[])) && !label(&svg(&["--transpose"])));
}

#[test]
fn a_degree_has_the_same_length_on_both_axes_of_a_map() {
    let numbers = |from: f64, count: u32| -> Vec<u8> {
        (0..count).flat_map(|nth| (from + f64::from(nth)).to_le_bytes()).collect()
    };
    let coordinate = |name: &str, units: &str, size: u32| {
        format!(
            "dimcoords:\n  {name}:\n    type: float64\n    size: {size}\n    attributes:\n      units: {units}\n"
        )
    };
    let pack = Experiment::new()
        .array("lat.ra", FLOAT64, &[40], &numbers(0.0, 40))
        .file("lat.yaml", coordinate("lat", "degrees_north", 40))
        .array("lon.ra", FLOAT64, &[40], &numbers(5.0, 40))
        .file("lon.yaml", coordinate("lon", "degrees_east", 40))
        .array("t.ra", FLOAT64, &[40, 40], &numbers(0.0, 1600))
        .describe("t.yaml", "[lat, lon]", "float64")
        .array("u.ra", FLOAT64, &[40, 40], &numbers(0.0, 1600))
        .describe("u.yaml", "[lon, lat]", "float64");
    let home = tempfile::tempdir().unwrap();
    let path = pack.path().to_str().unwrap();
    for (array, options, across) in [
        ("t.ra", &["-q"][..], "lon [°E]"),
        ("u.ra", &["-q"], "lon [°E]"),
        ("u.ra", &["-q", "--transpose"], "lat [°N]"),
    ] {
        let options = [options, &["--force"]].concat();
        let drawn = plot(home.path(), &[path, array], "t.svg", &options);
        let drawn = String::from_utf8(drawn).unwrap();
        let image = &drawn[drawn.find("<image").unwrap()..];
        let side =
            |name: &str| image.split(name).nth(1).unwrap().split('"').next().unwrap().to_owned();
        assert_eq!(side(" width=\""), side(" height=\""));
        let label = drawn.lines().find(|line| line.contains(across)).unwrap();
        assert!(!label.contains("rotate"), "{array}: {label}");
    }
}

#[test]
fn several_lines_have_a_legend() {
    let home = tempfile::tempdir().unwrap();
    let sample = sample().to_str().unwrap();
    let draw = |array: &str, options: &[&str]| {
        let options = [options, &["--line", "--force", "-q"]].concat();
        let drawn = plot(home.path(), &[sample, array], "x.svg", &options);
        check(home.path(), "x.svg", &drawn);
        String::from_utf8(drawn).unwrap()
    };
    let deep = draw("thermistors/temperature.ra", &["--slice", "7:,:"]);
    for name in [">depth = 32 m<", ">depth = 44 m<", ">depth = 60 m<", ">thermistors/temperature<"]
    {
        assert!(deep.contains(name), "{name} {deep}");
    }
    // The array of counts has the depths as columns.
    assert!(draw("thermistors/counts.ra", &["--transpose"]).contains(">depth = 60 m<"));
    let of_components = draw("currents/velocity.ra", &["--slice", ":,1,:"]);
    assert!(of_components.contains(">northward<") && of_components.contains(">bin = 16 m  ·"));
    assert!(draw("currents/spectrum.ra", &["--log"]).contains(">magnitude of rotary spectrum"));
    assert!(draw("time.ra", &[]).contains("<polyline"));
    let large = Experiment::new().array("x.ra", FLOAT64, &[11, 20], &[0; 8 * 220]);
    let mut plot = ra_pack();
    plot.arg("plot").arg(large.path().join("x.ra")).args(["--line", "-o", "large.svg"]);
    let ran = plot.current_dir(&home).assert().code(2);
    let said = String::from_utf8_lossy(&ran.get_output().stderr).into_owned();
    assert!(
        said.contains("--line draws at most 10 lines, not 11; select some with --slice"),
        "{said}"
    );
}

#[test]
fn a_picture_without_values_says_so() {
    let home = tempfile::tempdir().unwrap();
    for (value, options, said) in [
        (f64::NAN, &[][..], ">all values are missing<"),
        (f64::INFINITY, &[], ">all values are missing or infinite<"),
        (-1.0, &["--log"], ">all values are not above 0<"),
    ] {
        for dims in [&[4][..], &[2, 2]] {
            let data: Vec<u8> = [value; 4].into_iter().flat_map(f64::to_le_bytes).collect();
            let array = Experiment::new().array("x.ra", FLOAT64, dims, &data);
            let file = array.path().join("x.ra");
            let options = [options, &["-q", "--force"]].concat();
            let drawn = plot(home.path(), &[file.to_str().unwrap()], "x.svg", &options);
            let drawn = String::from_utf8(drawn).unwrap();
            // An image would cover the text in a PNG.
            assert!(drawn.contains(said) && !drawn.contains("<image"), "{said} {drawn}");
        }
    }
}

#[test]
fn the_hint_slices_the_time_dimension_first() {
    let numbers = |count: usize| vec![0_u8; 8 * count];
    let coordinate = |name: &str, units: &str, size: usize| {
        format!(
            "dimcoords:\n  {name}:\n    type: float64\n    size: {size}\n    attributes:\n      units: {units}\n"
        )
    };
    let pack = Experiment::new()
        .array("t.ra", FLOAT64, &[24], &numbers(24))
        .file("t.yaml", coordinate("t", "days since 1970-01-01", 24))
        .array("a.ra", FLOAT64, &[24, 5, 8], &numbers(24 * 40))
        .describe("a.yaml", "[t, 5, 8]", "float64");
    let mut plot = ra_pack();
    plot.arg("plot").arg(pack.path()).args(["a.ra", "-o", "a.svg"]);
    let ran = plot.assert().code(2);
    let said = String::from_utf8_lossy(&ran.get_output().stderr).into_owned();
    assert!(said.contains("--slice '12,:,:'"), "{said}");
}

#[test]
fn arrays_that_cannot_be_drawn_are_refused_with_a_next_step() {
    let home = tempfile::tempdir().unwrap();
    let sample = sample().to_str().unwrap();
    let refused = |arguments: &[&str]| {
        let mut plot = ra_pack();
        let ran = plot.arg("plot").args(arguments).current_dir(&home).assert().code(2).stdout("");
        String::from_utf8_lossy(&ran.get_output().stderr).into_owned()
    };
    let scalar = refused(&[sample, "sea_floor_depth.ra", "-o", "x.png"]);
    assert!(scalar.contains("`sea_floor_depth.ra` is a single number; use `ra-pack show "));
    let empty = refused(&[sample, "time.ra", "--slice", "3:3", "-o", "x.png"]);
    assert!(empty.contains("is empty; use `ra-pack show ") && empty.contains("--slice 3:3`"));
    let large = refused(&[sample, "time.ra", "-o", "x.png", "--size", "5000x100", "--scale", "3"]);
    assert!(large.contains("than 10000 pixels"), "{large}");
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
    assert!(refused(&[file.to_str().unwrap(), "-o", "x.png"]).contains("cannot plot"));
}

#[test]
fn a_picture_of_many_dimensions_is_a_map() {
    let coordinate = |name: &str, size: u64, units: &str| {
        format!(
            "dimcoords: {{{name}: {{size: {size}, type: uint8, attributes: {{units: {units}}}}}}}\n"
        )
    };
    let mut experiment = Experiment::new();
    for (name, size, units) in
        [("depth", 9, "m"), ("lat", 2, "degrees_north"), ("lon", 3, "degrees_east")]
    {
        let data = vec![0; usize::try_from(size).unwrap()];
        experiment = experiment
            .array(&format!("{name}.ra"), UINT8, &[size], &data)
            .file(&format!("{name}.yaml"), coordinate(name, size, units));
    }
    let experiment = experiment.array("x.ra", UINT8, &[4, 9, 2, 3], &[0; 216]).describe(
        "x.yaml",
        "[4, depth, lat, lon]",
        "uint8",
    );
    let array = Pack::open(experiment.path()).unwrap().array("x").unwrap();
    assert_eq!(array.picture_slice().unwrap().as_deref(), Some("0,4,:,:"));
}
