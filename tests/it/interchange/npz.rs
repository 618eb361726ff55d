//! `.npz` files: we read those of NumPy, NumPy reads ours, and malformed zips are refused.

use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use ra_pack::interchange::npz::{NpzReader, NpzWriter};
use ra_pack::interchange::{ExportOptions, FormatError, ImportOptions, Variable};
use ra_pack::{describe, ra};
use tempfile::TempDir;

use crate::python::Python;

fn run(python: &Python, script: &str, directory: &Path) {
    let ran = python.command().args(["-c", script]).arg(directory).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// Reads every array of a file: key, variable, data.
fn read_all(file: &[u8]) -> Result<Vec<(String, Variable, Vec<u8>)>, FormatError> {
    let mut reader = NpzReader::new(Cursor::new(file))?;
    let mut arrays = Vec::new();
    for index in 0..reader.members().len() {
        let Some(key) = reader.members()[index].key().map(str::to_owned) else { continue };
        let mut array = reader.open(index, ImportOptions::default())?;
        let variable = array.variable("x")?;
        let mut data = Vec::new();
        array.read_to_end(&mut data)?;
        arrays.push((key, variable, data));
    }
    Ok(arrays)
}

fn variable(dims: &[u64]) -> Variable {
    let header = ra::Header::new(ra::ElementType::UINT16, dims.to_vec()).unwrap();
    let description = describe("x", &header, ra::Encoding::Raw);
    Variable { header, description, losses: Vec::new() }
}

fn written(is_deflated: bool) -> Vec<u8> {
    let mut writer = NpzWriter::new(Cursor::new(Vec::new()), is_deflated);
    let data: Vec<u8> = (0..=255).cycle().take(80_000).collect();
    for (key, dims, data) in [
        ("z", &[200, 200][..], &data[..]),
        ("a/b/x", &[2], &data[..4]),
        ("žluť", &[], &data[..2]),
        ("", &[0, 3], &[]),
    ] {
        writer.add(key, &variable(dims), data, ExportOptions::default()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn numpy_reads_our_files_and_they_are_always_the_same() {
    for (name, is_deflated) in [("stored", false), ("deflated", true)] {
        let file = written(is_deflated);
        assert_eq!(written(is_deflated), file);
        let arrays = read_all(&file).unwrap();
        let keys: Vec<_> = arrays.iter().map(|(key, ..)| key.as_str()).collect();
        assert_eq!(keys, ["z", "a/b/x", "žluť", ""]);
        assert_eq!(arrays[0].1, variable(&[200, 200]));
        assert_eq!(arrays[3].2, [0; 0]);
        let Some(python) = Python::with(&["numpy"]) else { continue };
        let scratch = TempDir::new().unwrap();
        fs::write(scratch.path().join("x.npz"), &file).unwrap();
        // words: imports a Python module
        let script = r"
import sys, zipfile
import numpy as np
path = sys.argv[1] + '/x.npz'
assert zipfile.ZipFile(path).testzip() is None
assert {one.date_time for one in zipfile.ZipFile(path).infolist()} == {(1980, 1, 1, 0, 0, 0)}
with np.load(path) as z:
    assert z.files == ['z', 'a/b/x', '\u017elu\u0165', ''], z.files
    assert z['z'].shape == (200, 200) and z['z'].flags.f_contiguous
    assert z['z'].tobytes('F') == bytes(range(256)) * 312 + bytes(range(128))
    assert z['a/b/x'].tolist() == [256, 770]
    assert z['\u017elu\u0165'].shape == () and z[''].shape == (0, 3)
";
        run(&python, script, scratch.path());
        assert!(name == "stored" || file.len() < 10_000);
    }
}

#[test]
fn files_of_numpy_are_read() {
    let Some(python) = Python::with(&["numpy"]) else { return };
    let scratch = TempDir::new().unwrap();
    // words: imports a Python module
    let script = r"
import sys, zipfile
import numpy as np
arrays = {'x': np.arange(6, dtype='>i4').reshape(2, 3), 'a/b': np.array(1.5), 'x.npy': np.array(['ab', 'c']),
          'w w': np.zeros(0), '': np.full(50000, 7, 'u1')}
np.savez(sys.argv[1] + '/stored.npz', **arrays)
np.savez_compressed(sys.argv[1] + '/deflated.npz', **arrays)
np.savez(sys.argv[1] + '/none.npz')
np.savez(sys.argv[1] + '/object.npz', x=np.arange(3), o=np.array([None]))
with zipfile.ZipFile(sys.argv[1] + '/stored.npz', 'a') as z:
    z.writestr('README', 'no array')
with zipfile.ZipFile(sys.argv[1] + '/bzip2.npz', 'w', zipfile.ZIP_BZIP2) as z:
    z.writestr('x.npy', b'1')
";
    run(&python, script, scratch.path());
    let file = |name: &str| fs::read(scratch.path().join(name)).unwrap();
    let stored = read_all(&file("stored.npz")).unwrap();
    assert_eq!(read_all(&file("deflated.npz")).unwrap(), stored);
    let keys: Vec<_> = stored.iter().map(|(key, ..)| key.as_str()).collect();
    assert_eq!(keys, ["x", "a/b", "x.npy", "w w", ""]);
    assert_eq!(stored[0].1.header.dims(), [3, 2]);
    assert_eq!(stored[0].2[..8], [0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(stored[1].2, 1.5_f64.to_le_bytes());
    assert_eq!(stored[4].2, vec![7; 50_000]);
    let reader = NpzReader::new(Cursor::new(file("stored.npz"))).unwrap();
    let others: Vec<_> = reader.members().iter().filter(|member| member.key().is_none()).collect();
    assert_eq!(others.iter().map(|member| &member.name).collect::<Vec<_>>(), ["README"]);
    assert_eq!(read_all(&file("none.npz")).unwrap(), []);
    // Other members can be read despite an unreadable one.
    let mut reader = NpzReader::new(Cursor::new(file("object.npz"))).unwrap();
    assert!(reader.open(0, ImportOptions::default()).is_ok());
    let error = reader.open(1, ImportOptions::default()).unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with("in the member `o.npy`: ") && said.contains("pickle"), "{said}");
    assert!(reader.open(0, ImportOptions::default()).unwrap().finish().is_ok());
    let error = read_all(&file("bzip2.npz")).unwrap_err().to_string();
    assert!(error.starts_with("the member `x.npy` is compressed with method"), "{error}");
}

/// Returns the offsets of `wanted` in a file.
fn find(file: &[u8], wanted: &[u8]) -> Vec<usize> {
    (0..file.len()).filter(|at| file[*at..].starts_with(wanted)).collect()
}

#[test]
fn a_repeated_name_is_an_error_with_both_offsets() {
    let mut writer = NpzWriter::new(Cursor::new(Vec::new()), false);
    for key in ["a", "b"] {
        writer.add(key, &variable(&[1]), &[1, 2][..], ExportOptions::default()).unwrap();
    }
    let mut file = writer.finish().unwrap().into_inner();
    for at in find(&file, b"b.npy") {
        file[at] = b'a';
    }
    let second = find(&file, b"PK\x03\x04")[1];
    let error = read_all(&file).unwrap_err().to_string();
    let expected = format!(
        "byte {second}: expected each name once, found the member `a.npy` again, first at byte 0"
    );
    assert_eq!(error, expected);
}

#[test]
fn a_key_is_added_once() {
    let mut writer = NpzWriter::new(Cursor::new(Vec::new()), false);
    let mut add =
        |key: &str| writer.add(key, &variable(&[1]), &[1, 2][..], ExportOptions::default());
    add("a").unwrap();
    for key in ["a", "nul\0", &"a".repeat(65_532)] {
        assert!(matches!(add(key), Err(FormatError::NoCounterpart { .. })), "{key:.9}");
    }
    add("b").unwrap();
    let file = writer.finish().unwrap().into_inner();
    assert_eq!(read_all(&file).unwrap().len(), 2);
}

#[test]
fn checksums_find_every_flipped_bit_of_the_data() {
    for is_deflated in [false, true] {
        let mut writer = NpzWriter::new(Cursor::new(Vec::new()), is_deflated);
        let data = [1, 2, 3, 4, 5, 6, 7, 8];
        writer.add("a", &variable(&[4]), &data[..], ExportOptions::default()).unwrap();
        let file = writer.finish().unwrap().into_inner();
        let sound = read_all(&file).unwrap();
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut bytes = file.clone();
                bytes[at] ^= 1 << bit;
                // Bytes outside the contents of members may change without an effect on the array.
                if let Ok(arrays) = read_all(&bytes) {
                    assert!(arrays.iter().all(|(_, _, found)| *found == data), "bit {bit} of {at}");
                }
            }
        }
        let begin = usize::from(u16::from_le_bytes([file[26], file[27]])) + 30;
        let end = find(&file, b"PK\x01\x02")[0];
        for at in begin..end {
            let mut bytes = file.clone();
            bytes[at] ^= 1;
            match read_all(&bytes) {
                Err(FormatError::Malformed { .. } | FormatError::NoCounterpart { .. }) => {}
                // Padding bits in the last byte of a deflate stream have no meaning.
                Ok(arrays) if is_deflated => assert_eq!(arrays, sound),
                other => panic!("byte {at}: {other:?}"),
            }
        }
        for len in 0..file.len() {
            assert!(
                matches!(read_all(&file[..len]), Err(FormatError::Malformed { .. })),
                "{len} bytes"
            );
        }
    }
}

#[test]
fn data_is_not_returned_before_its_checksum_is_verified() {
    let mut file = written(false);
    let at = find(&file, b"PK\x03\x04")[1] - 1;
    file[at] ^= 1;
    let mut reader = NpzReader::new(Cursor::new(&*file)).unwrap();
    let mut array = reader.open(0, ImportOptions::default()).unwrap();
    let mut data = vec![0; 80_000];
    let error = FormatError::from(array.read_exact(&mut data).unwrap_err()).to_string();
    assert!(
        error.starts_with("byte 0: in the member `z.npy`, whose header is here: expected its data"),
        "{error}"
    );
}

#[test]
fn encrypted_members_are_refused() {
    let mut file = written(false);
    let (local, central) = (find(&file, b"PK\x03\x04"), find(&file, b"PK\x01\x02"));
    file[local[0] + 6] |= 1;
    file[central[0] + 8] |= 1;
    let error = read_all(&file).unwrap_err().to_string();
    assert!(error.contains("encrypted"), "{error}");
}
