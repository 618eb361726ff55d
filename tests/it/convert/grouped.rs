//! `NetCDF` and HDF5 files of the libraries of Python, and damaged ones.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ra_pack::interchange::grouped::{ByteRanges, GroupedFile};
use tempfile::TempDir;

use super::{convert, description};
use crate::python::Python;
use crate::run::ra;

const SCRIPT: &str = include_str!("grouped.py");

/// Most bytes of an array that are read of a damaged file.
const READ: u64 = 1 << 20;

/// Runs the script in a directory, and returns what it prints.
fn run(python: &Python, home: &Path, command: &str) -> String {
    let ran = python.command().args(["-c", SCRIPT, command]).current_dir(home).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// Writes the files, and returns their paths.
fn files() -> Option<(TempDir, Python, Vec<PathBuf>)> {
    let python = Python::with(&["numpy", "h5py", "netCDF4"])?;
    let home = TempDir::new().unwrap();
    run(&python, home.path(), "write");
    let entries = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.collect();
    files.sort();
    Some((home, python, files))
}

#[test]
#[ignore = "slow"]
fn every_array_equals_what_the_libraries_read() {
    let Some((home, python, files)) = files() else { return };
    for file in &files {
        let out = file.with_extension("");
        convert(file, &out, &["-q", "--order", "row"]).exits(0);
        ra("validate", &[&out], &["-q"]).exits(0);
        convert(file, &file.with_extension("zip"), &["-q"]).exits(0);
        ra("verify", &[&file.with_extension("zip")], &["-q"]).exits(0);
    }
    let counts = run(&python, home.path(), "compare");
    assert_eq!(counts.trim(), "[8, 8, 13, 21, 8, 76, 76, 76]");
}

#[test]
fn dimensions_attributes_and_types_are_described() {
    let Some((home, _, _)) = files() else { return };
    let path = |name: &str| home.path().join(name);
    for form in ["NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4"] {
        let (file, out) = (path(&format!("{form}.nc")), path(form));
        convert(&file, &out, &["-q"]).exits(0);
        assert_eq!(
            description(&out.join("sst.ra")),
            "attributes:
  title: Ünïcode
  version:
    shape: []
    type: float32
    value: 2.5
  list:
    shape: [3]
    type: int16
    value: [0, 1, 2]
dimcoords:
  lon:
    size: 4
    type: int64
ndarrays:
  sst:
    shape: [time, lat, lon]
    type: int16
    attributes:
      scale_factor: 0.01
      add_offset:
        shape: []
        type: float32
        value: 5.0
      missing_value:
        shape: []
        type: int16
        value: -999
    storage:
      fillvalue: -999
",
            "{form}"
        );
        let time = description(&out.join("time.ra"));
        let coordinate = "dimcoords:
  time:
    size: 5
    type: float64
    attributes:
      units: days since 2000-01-01
      calendar: noleap
";
        assert!(time.ends_with(coordinate), "{time}");
        let text = description(&out.join("text.ra"));
        assert!(text.contains(
            "shape: [lat]\n    type:\n      opaque:\n        size: 5\n        tag: text"
        ));
    }
    let own = |name: &str| {
        let text = description(&path("NETCDF4").join(name));
        text.split_once("\nndarrays:\n").unwrap().1.to_owned()
    };
    assert!(
        own("flag.ra")
            .contains("base: uint8\n        members:\n          good: 0\n          bad: 3")
    );
    assert!(own("station.ra").contains("_Encoding: utf-8"));
    assert!(own("obs/deep/x.ra").contains("shape: [/lat]"));
    // No other array can have the name of this array as that of a dimension.
    assert!(own("obs/deep/p.ra").contains("shape: [2, 3]"));
    assert!(own("obs/deep/p.ra").contains("_ARRAY_DIMENSIONS"));
    assert!(own("none.ra").contains("value: [empty, lat]"));

    let ran = convert(&path("latest.h5"), &path("latest"), &[]).exits(0);
    ran.says(&[
        "\"ragged\" is not converted: its elements are lists of any length",
        "\"ref\" is not converted: it has references to other objects",
        "\"null\" is not converted: it has neither a shape nor elements",
        "\"g/loop\" is another name of \"/g\" and is left out",
        "links to the file \"other.h5\" are not followed",
    ]);
    let own = |name: &str| description(&path("latest").join(name));
    assert!(own("g/x.ra").contains("shape: [/time, 2]"));
    assert!(
        own("g/h/t_bool.ra").contains("'false': 0")
            || own("g/h/t_bool.ra").contains("\"false\": 0")
    );
    assert!(own("g/h/t_c8.ra").contains("- r: float32\n        - i: float32"));
    assert!(own("time.ra").contains("units: s"));
}

#[test]
fn attributes_of_groups_without_arrays_are_those_of_the_pack() {
    let Some(python) = Python::with(&["h5py"]) else { return };
    let home = TempDir::new().unwrap();
    // words: imports a Python module
    let script = "import h5py; f = h5py.File('a.h5', 'w'); f.attrs['title'] = 'A'; f['g/x'] = [1]; f.close()";
    assert!(
        python.command().args(["-c", script]).current_dir(home.path()).status().unwrap().success()
    );
    let (input, out) = (home.path().join("a.h5"), home.path().join("out"));
    convert(&input, &out, &["-q"]).exits(0);
    let document = || fs::read_to_string(out.join("manifest.yaml")).unwrap();
    assert_eq!(document(), "/:\n  attributes:\n    title: A\n");
    // An existing description of the pack is kept.
    fs::write(out.join("manifest.yaml"), "{}\n").unwrap();
    let again = convert(&input, &out, &["--force"]).exits(0);
    again.says(&["the attributes of the group \"/\" are lost: title"]);
    assert_eq!(document(), "{}\n");
    // In a directory, the file becomes a group.
    fs::remove_dir_all(&out).unwrap();
    let tree = home.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::rename(&input, tree.join("a.h5")).unwrap();
    convert(&tree, &out, &["-q"]).exits(0);
    assert_eq!(document(), "/a:\n  attributes:\n    title: A\n");
    assert!(out.join("a/g/x.ra").exists());
}

#[test]
fn a_dataset_of_another_length_than_its_dimension_has_no_names() {
    let Some(python) = Python::with(&["numpy", "h5py"]) else { return };
    let home = TempDir::new().unwrap();
    // words: imports a Python module
    let script = "import h5py, numpy as np
f = h5py.File('a.nc', 'w')
t = f.create_dataset('t', data=np.arange(5.0))
t.make_scale('t')
t.attrs['_Netcdf4Dimid'] = np.int32(0)
f.create_dataset('v', data=np.arange(3.0)).dims[0].attach_scale(t)
f.close()";
    let ran = python.command().args(["-c", script]).current_dir(home.path()).status().unwrap();
    assert!(ran.success());
    let out = home.path().join("out");
    convert(&home.path().join("a.nc"), &out, &[]).exits(0).says(&[
        "the names of dimensions of \"v\" are dropped: its shape is [3], and their lengths are [5]",
    ]);
    ra("validate", &[&out], &[]).exits(0);
}

#[test]
fn datasets_that_cannot_be_read_are_named() {
    let Some(python) = Python::with(&["numpy", "h5py"]) else { return };
    let home = TempDir::new().unwrap();
    // words: imports a Python module
    let script = "import h5py, numpy as np
f = h5py.File('a.h5', 'w')
f['x'] = [1]
f.create_dataset('long', data=np.arange(3), dtype='float128')
odd = h5py.h5t.STD_I16LE.copy()
odd.set_precision(12)
h5py.h5d.create(f.id, b'odd', odd, h5py.h5s.create_simple((3,)))
# HDF5 reads zeros where nothing was written, whatever the attribute says.
part = f.create_dataset('part', shape=(10, 10), dtype='i4', chunks=(5, 5))
part.attrs['_FillValue'] = np.int32(-1)
part[0, 0] = 3
huge = f.create_dataset('huge', shape=(1 << 20, 1 << 20), dtype='f8', chunks=(64, 64))
f.close()
for version in ['earliest', 'latest']:
    f = h5py.File(f'{version}.h5', 'w', libver=version, userblock_size=512)
    layout = h5py.VirtualLayout((1, 3), 'i4')
    layout[0] = h5py.VirtualSource('a.h5', 'long', (3,))
    f.create_virtual_dataset('v', layout)
    f.create_virtual_dataset('g/v', layout)
    f['g/alias'] = f['v']
    f['g/x'] = [1]
    # The first bytes of the header of an object are overwritten.
    f['damaged'] = [1]
    at = h5py.h5o.get_info(f['damaged'].id).addr
    f.close()
    with open(f'{version}.h5', 'r+b') as file:
        file.seek(512 + at)
        file.write(b'?')";
    let ran = python.command().args(["-c", script]).current_dir(home.path()).status().unwrap();
    assert!(ran.success());
    let out = home.path().join("out");
    convert(&home.path().join("a.h5"), &out, &[]).exits(0).says(&[
        "wrote 1 array",
        "\"long\" is not converted: it has floats of 16 bytes",
        "\"odd\" is not converted: it has numbers of 2 bytes of an unusual format",
        "\"part\" is not converted: not all of its elements were written",
        "\"huge\" is not converted: its shape [1048576, 1048576] has more than 268435456 bytes",
    ]);
    let one = |member| {
        convert(&home.path().join("a.h5"), &home.path().join("x.ra"), &["--member", member])
    };
    one("odd").exits(2).says(&["\"odd\" is not converted: it has numbers of 2 bytes"]);
    assert!(!one("x").exits(0).err.contains("not converted"));
    for version in ["earliest.h5", "latest.h5"] {
        let path = home.path().join(version);
        convert(&path, &path.with_extension(""), &[]).exits(0).says(&[
            "wrote 1 array",
            "\"v\" is not converted: it is a virtual dataset, whose elements are in other datasets",
            "\"g/v\" is not converted: it is a virtual dataset",
            ".npy or NetCDF",
            "\"damaged\" is not converted: unsupported object header version",
        ]);
        let one = convert(&path, &home.path().join("v.ra"), &["--member", "v"]);
        one.exits(2).says(&["\"v\" is not converted: it is a virtual dataset"]);
    }
}

/// Reads everything of a file that may be damaged. Errors are allowed.
fn read(bytes: Vec<u8>) -> Result<u64, Box<dyn std::error::Error>> {
    let len = bytes.len() as u64;
    let bytes = ByteRanges::new(len, move |buffer, at| {
        let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
        rest.ok_or(io::ErrorKind::UnexpectedEof)?.read_exact(buffer)
    });
    let file = GroupedFile::open(&bytes)?;
    let mut read = 0;
    for index in 0..file.names().count() {
        let array = file.array(index)?;
        let found = io::copy(&mut file.data(index).take(READ), &mut io::sink())?;
        assert_eq!(found, array.header.data_len().min(READ), "{}", array.description.name);
        read += found;
    }
    Ok(read)
}

#[test]
#[ignore = "slow"]
fn damaged_files_are_errors_or_arrays_of_the_stated_length() {
    let Some((_home, _, files)) = files() else { return };
    for file in files {
        let bytes = fs::read(&file).unwrap();
        assert!(read(bytes.clone()).unwrap() > 100);
        for at in (0..bytes.len()).step_by((bytes.len() / 200).max(1)) {
            for damage in [0x01, 0xFF] {
                let mut damaged = bytes.clone();
                damaged[at] ^= damage;
                drop(read(damaged));
            }
            drop(read(bytes[..at].to_vec()));
        }
    }
}

#[test]
fn a_file_that_claims_more_than_it_has_is_an_error() {
    let Some((home, _, _)) = files() else { return };
    for (name, said) in [
        ("NETCDF3_CLASSIC.nc", "found 900 and the end of the file"),
        ("latest.h5", "bytes, as its superblock says, found 900"),
    ] {
        let path = home.path().join(name);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..900]).unwrap();
        let out = home.path().join("out");
        convert(&path, &out, &[]).exits(1).says(&[name, said]);
        assert!(!out.exists());
    }
}

#[test]
fn a_zarr_store_is_left_to_python() {
    let home = TempDir::new().unwrap();
    for name in ["zarr.json", ".zgroup", ".zarray"] {
        let store = home.path().join(format!("{name}.zarr"));
        fs::create_dir(&store).unwrap();
        fs::write(store.join(name), "{}").unwrap();
        let said = ["is a Zarr store", ".npy or NetCDF"];
        convert(&store, &home.path().join("out"), &[]).exits(2).says(&said);
    }
}
