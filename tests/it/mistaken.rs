//! Files for tests of mistakes: valid packs, files that look like packs, and mistakes in the files to pack.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::bytes;
use crate::experiment::{COMPLEX64, Experiment, FLOAT32, FLOAT64, UINT8, le};
use crate::run::create;

/// A file of the packed directory, its wrong content (`None` if it is missing), and texts that `create` must print and
/// must not print.
pub(crate) type Fault =
    (&'static str, Option<&'static str>, &'static [&'static str], &'static [&'static str]);

const TEMPERATURE: &str = "thermistors/temperature.yaml";
const NOTHING: &[&str] = &[];

pub(crate) const FAULTS: &[Fault] = &[
    // 11
    (
        "time.yaml",
        None,
        &["error[DESC001]", "exp/time.ra", "headers: `ra-pack describe --write exp`"],
        &["DIR", "PACK"],
    ),
    // 13
    (
        "time.yaml",
        Some("dimcoords: {time: {type: float64, size: 6}}\n"),
        &["[DESC004]", "dims [5] of the header", "found: size 6", "write `size: 5`"],
        NOTHING,
    ),
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [3, time], type: float32}}\n"),
        &["[DESC004]", "expected: [2, 5], from dims [2, 5] of the header", "found: [3, time (5)]"],
        NOTHING,
    ),
    // 14
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [2, time], type: float64}}\n"),
        &["[DESC005]", "found: `float64`", "write `type: float32`"],
        NOTHING,
    ),
    // 15
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [2, tiem], type: float32}}\n"),
        &["[DESC007]", "no dimension coordinate `tiem`", "did you mean `time`?"],
        NOTHING,
    ),
    // 16
    (
        TEMPERATURE,
        Some("ndarrays:\n  temperature:\n    shape: [2, time\n    type: float32\n"),
        &["[NDL003]", "close the `[` on line 3"],
        NOTHING,
    ),
    // 17
    (
        TEMPERATURE,
        Some("ndarrays:\n\ttemperature: {shape: [2, time], type: float32}\n"),
        &["[NDL003]", "indent with spaces"],
        NOTHING,
    ),
    // 18
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [2, time], type: float32, atributes: {}}}\n"),
        &["[NDL020]", "unknown key `atributes`", "did you mean `attributes`?"],
        NOTHING,
    ),
    // 21 and 22: only the cause, not its consequences.
    ("time.ra", Some("rawarray"), &["[RA001]", "exp/time.ra"], &["DESC007"]),
    ("time.ra", Some(""), &["[RA001]", "expected a header of 48 bytes, found 0"], &["DESC007"]),
    // 23
    (
        "time.yaml",
        Some(""),
        &["an empty document", "`ra-pack describe exp/time.ra > exp/time.yaml`"],
        &["`{}`"],
    ),
    // 25
    (
        "time.yml",
        Some("ndarrays: {time: {shape: [5], type: float64}}\n"),
        &["[DESC002]", "`time.yaml` and `time.yml`", "remove one of them"],
        NOTHING,
    ),
    // 26
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [2, time], type: float32, attributes: {a: true}}}\n"),
        &["[NDL031]", "found: the boolean `true`", "write `\"true\"` for the string"],
        NOTHING,
    ),
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [2, time], type: float32, attributes: {a: null}}}\n"),
        &["[NDL031]", "found: null", "remove the attribute"],
        NOTHING,
    ),
    // 27
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [2, time], type: double}}\n"),
        &["[NDL040]", "unknown datatype `double`", "write `float64`"],
        NOTHING,
    ),
];

/// Returns an `.npy` header and three bytes.
fn npy() -> Vec<u8> {
    with_header("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }")
}

fn with_header(header: &str) -> Vec<u8> {
    let mut npy = b"\x93NUMPY\x01\0\x76\0".to_vec();
    npy.extend(format!("{header:117}\n").bytes());
    npy.extend([1, 2, 3]);
    npy
}

/// Returns a directory of valid packs and files that look like packs.
pub(crate) fn workspace() -> TempDir {
    let scratch = TempDir::new().unwrap();
    let path = |name: &str| scratch.path().join(name);
    let write = |name: &str, bytes: &[u8]| {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), bytes).unwrap();
    };
    let readme = b"# A mooring\n\nThe measured data.\n";
    let experiment = Experiment::new()
        .file("README.md", readme)
        .file("empty.log", "")
        .array("time.ra", FLOAT64, &[5], &le(f64::to_le_bytes, (0..5).map(f64::from)))
        .describe("time.yaml", "[5]", "float64")
        .array("sub/count.ra", UINT8, &[3], &[1, 2, 3])
        .describe("sub/count.yaml", "[3]", "uint8")
        .array("thermistors/temperature.ra", FLOAT32, &[2, 5], &[0; 40])
        .describe("thermistors/temperature.yaml", "[2, time]", "float32")
        .array("thermistors/cube.ra", UINT8, &[2, 2, 2], &[0; 8])
        .describe("thermistors/cube.yaml", "[2, 2, 2]", "uint8")
        .array("thermistors/wave.ra", COMPLEX64, &[2], &[0; 16])
        .describe("thermistors/wave.yaml", "[2]", "complex64");
    fs::rename(experiment.path(), path("exp")).unwrap();
    for name in ["exp.zip", "same.zip", "exp.tar.zst"] {
        create(&path("exp"), &path(name), &[]).exits(0);
    }
    let zip = fs::read(path("exp.zip")).unwrap();
    write("cut.zip", &zip[..zip.len() / 2]);
    write("cut", &zip[..zip.len() / 2]);
    let tar = fs::read(path("exp.tar.zst")).unwrap();
    write("cut.tar.zst", &tar[..tar.len() - 9]);
    create(&path("exp"), &path("cut.tar"), &[]).exits(0);
    // Within the content of the first member.
    write("cut.tar", &fs::read(path("cut.tar")).unwrap()[..520]);
    fs::remove_file(path("cut.tar.manifest-sha256.txt")).unwrap();
    create(&path("exp"), &path("early.tar"), &[]).exits(0);
    let early = fs::read(path("early.tar")).unwrap();
    let time = early.windows(8).position(|window| window == b"time.ra\0").unwrap();
    write("early.tar", &early[..time + 600]);
    fs::remove_file(path("early.tar.manifest-sha256.txt")).unwrap();
    write("blank.zip", &[0; 300]);
    write("empty.zip", b"");
    write("empty.bin", b"");
    write("noise.bin", &[0xd1; 700]);
    write("noise.tar.gz", &[0xd1; 700]);
    write("README.md", readme);
    write(
        "README.md.gz",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x4b\x4c\x4a\xe6\x02\0\x4e\x81\x88\x47\x04\0\0\0",
    );
    let hdf5 = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0";
    write("data.h5", include_bytes!("small.h5"));
    write("cut.h5", hdf5);
    write("hdf5.zip", hdf5);
    let variable = b"\0\0\0\x0b\0\0\0\x01\0\0\0\x01x\0\0\0";
    let place = b"\0\0\0\x04\0\0\0\x04\0\0\0\x40\0\0\0\x07";
    let netcdf = [&b"CDF\x01"[..], &[0; 20], variable, &[0; 12], place].concat();
    write("data.nc", &netcdf);
    write("cut.nc", &netcdf[..12]);
    write("data.csv", b"time,depth\n1,2\n");
    write("latin.csv", b"name,units\ntime,\xb5s\n");
    write("odd/a b.ra", &fs::read(path("exp/sub/count.ra")).unwrap());
    write("odd/a b.yaml", b"ndarrays: {a b: {shape: [3], type: uint8}}\n");
    write("a.npy", &npy());
    write("store.zip", &bytes::zip(&[bytes::part(".zgroup", "{}"), bytes::part("a/0", "x")]));
    write("array.dat", &fs::read(path("exp/time.ra")).unwrap());
    for name in ["data/a.npy", "data/b.npy", "data/c.npy"] {
        write(name, &npy());
    }
    write("data/d.mat", b"MATLAB 5");
    write("foreign/a.csv", b"1,2\n");
    write("foreign/a.mat", b"MATLAB 5");
    write("texts/README.md", readme);
    write("packs/time.ra", &fs::read(path("exp/time.ra")).unwrap());
    write("packs/time.yaml", &fs::read(path("exp/time.yaml")).unwrap());
    write("packs/old.zip", &zip);
    write("store/old.zip", &zip);
    write("packs/old.zip.manifest-sha256.txt", b"");
    let flip = zip.windows(8).position(|window| window == b"rawarray").unwrap() + 4;
    let flipped =
        zip.iter().enumerate().map(|(at, byte)| if at == flip { byte ^ 1 } else { *byte });
    write("flip.zip", &flipped.collect::<Vec<_>>());
    write("cut.npy", &npy()[..100]);
    write("object.npy", &with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"));
    write("plain.ra", &fs::read(path("exp/sub/count.ra")).unwrap());
    write("hdf5.ra", hdf5);
    write("cut.ra", &fs::read(path("exp/time.ra")).unwrap()[..60]);
    write("results.npz", &bytes::zip(&[bytes::part("a.npy", npy())]));
    let listed = fs::read_to_string(path("exp.zip.manifest-sha256.txt")).unwrap();
    write("kept/time.ra", &fs::read(path("exp/time.ra")).unwrap());
    write("kept/manifest-sha256.txt", listed.as_bytes());
    for name in ["twins/one/a", "twins/two/a", "misnamed/time"] {
        write(&format!("{name}.ra"), &fs::read(path("exp/sub/count.ra")).unwrap());
    }
    create(&path("twins"), &path("twins.zip"), &["--describe"]).exits(0);
    write("misnamed/tiem.yaml", b"ndarrays: {time: {shape: [3], type: uint8}}\n");
    for name in ["away/temperature.ra", "away/temperature.yaml"] {
        write(name, &fs::read(path(&name.replace("away", "exp/thermistors"))).unwrap());
    }
    let other = format!("{}  time.ra\n", "ab".repeat(32));
    write("other.txt", other.as_bytes());
    name_and_describe(scratch.path());
    scratch
}

/// Adds names of devices, attributes, and a pack with bytes after its end.
fn name_and_describe(root: &Path) {
    let count = fs::read(root.join("exp/sub/count.ra")).unwrap();
    let zip = fs::read(root.join("exp.zip")).unwrap();
    for directory in ["devices", "aux", "deep", "random", "measured"] {
        fs::create_dir(root.join(directory)).unwrap();
    }
    let random = [npy().strip_suffix(&[1, 2, 3]).unwrap(), &[3, 1, 2]].concat();
    let header = count.strip_suffix(&[1, 2, 3]).unwrap();
    let depth = "ndarrays: {depth: {shape: [3], type: uint8, attributes: {units: m}}}\n";
    for (name, content) in [
        ("devices/aux.npy", &*npy()),
        ("random/x.npy", &random),
        ("random/speed.npy", &npy()),
        ("measured/x.ra", &[header, &[3, 1, 2]].concat()),
        ("measured/speed.ra", &count),
        ("aux/aux.ra", &count),
        ("deep/depth.ra", &count),
        ("deep/depth.yaml", depth.as_bytes()),
        ("deep/manifest.yaml", b"attributes: {title: Mooring}\n"),
        ("tail.zip", &[&zip, &b"123456789"[..]].concat()),
    ] {
        fs::write(root.join(name), content).unwrap();
    }
    create(&root.join("aux"), &root.join("aux.zip"), &["--describe"]).exits(0);
}
