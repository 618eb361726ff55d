//! `.npy` files: every dtype, order and shape of NumPy is read bit for bit, and written files equal those of NumPy byte
//! for byte.

use std::fs;
use std::path::Path;

use ra_pack::interchange::{ImportOptions, npy::NpyHeader};
use tempfile::TempDir;

use super::pair::{assert_valid, read, save, written};
use crate::python::Python;

/// Writes `N.npy` for each combination, and its source bytes to `N.raw`: little-endian, in the order of the file. No
/// arithmetic is applied, so that NaNs keep their payload.
// words: imports a Python module
const WRITE: &str = r#"
import random, sys
import numpy as np
from numpy.lib import format
random.seed(5)
plain = ['b1', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16', 'S1', 'S7', 'U1',
         'U3', 'V1', 'V5', 'M8[Y]', 'M8[ns]', 'M8[3D]', 'M8', 'm8[25s]', 'm8[as]', 'm8']
fields = [
    [('a', 'i4'), ('b', 'f8')],
    [('p', 'f4', (3, 2)), ('q', [('x', 'c8'), ('s', 'S3', (2,)), ('t', 'M8[s]')], (2,)), ('o', 'b1'), ('u', 'U2')],
    [('caf\xe9', 'u2'), ("it's", 'f2'), ('a"b\'c\\\n\u200b', 'i8')],
    [('\u017elu\u0165', 'i4'), ('v', 'V3')],
    [('f%04d' % i, 'u1') for i in range(6000)],
]
dtypes = [np.dtype(t) for t in plain + fields]
dtypes.append(np.dtype([('a', 'i1'), ('b', 'f8'), ('c', [('x', 'i1'), ('y', 'i4')]), ('d', 'i2')], align=True))
shapes = [(), (1,), (5,), (0,), (2, 3), (1, 4), (4, 1), (0, 3), (2, 0, 2), (2, 3, 4), (1, 2, 1, 3), (2,) * 8]
patterns = [b'\xff', b'\x00', b'\x7f\xff', b'\x80\x00', b'\x00\x80', b'\x00\x00\x80\x7f\x01', b'\x01\x00\xf0\x7f',
            b'\x01' + b'\x00' * 7, b'\x00' * 7 + b'\x80']

def raw(dtype, count):
    if dtype.names and any(dtype[n].kind == 'b' for n in dtype.names) or dtype.kind == 'b':
        return bytes(random.getrandbits(1) for _ in range(count * dtype.itemsize))
    size = count * dtype.itemsize
    start = b''.join((p * 16)[:max(dtype.itemsize, len(p))] for p in patterns)
    return (start + random.randbytes(size))[:size] if random.random() < 0.7 else random.randbytes(size)

names = open(sys.argv[1] + '/names', 'w')
number = 0
for dtype in dtypes:
    for shape in shapes if dtype.itemsize < 1000 else shapes[:3]:
        for order in 'CF' if len(shape) > 1 else 'C':
            for big in [False, True]:
                swapped = dtype.newbyteorder('>')
                if big and swapped == dtype:
                    continue
                count = int(np.prod(shape))
                data = raw(dtype, count)
                array = np.frombuffer(bytearray(data), dtype, count)
                if big: # in place: a copy would not keep padding
                    array = array.byteswap(inplace=True).view(swapped)
                array = array.reshape(shape, order=order)
                path = '%s/%d' % (sys.argv[1], number)
                with open(path + '.npy', 'wb') as f:
                    format.write_array(f, array, allow_pickle=False)
                open(path + '.raw', 'wb').write(data)
                print(number, 'big' if big else 'little', dtype.str, file=names)
                number += 1
"#;

/// Compares `N.back.npy` with the array in `N.npy`.
const COMPARE: &str = r"
import sys
import numpy as np
for line in open(sys.argv[1] + '/names'):
    number, order, _ = line.split(' ', 2)
    path = '%s/%s' % (sys.argv[1], number)
    load = lambda path: np.load(path, allow_pickle=False, max_header_size=10**6)
    first, back = load(path + '.npy'), load(path + '.back.npy')
    assert back.shape == first.shape, (line, back.shape)
    assert back.dtype == first.dtype.newbyteorder('<'), (line, back.dtype)
    raw = open(path + '.raw', 'rb').read()
    # Compares bytes, since NaNs are never equal and padding is not compared.
    order = 'F' if back.flags.f_contiguous and not back.flags.c_contiguous else 'C'
    assert back.tobytes(order) == raw, line
";

fn run(python: &Python, script: &str, directory: &Path) {
    let ran = python.command().args(["-c", script]).arg(directory).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
#[ignore = "slow"]
fn every_dtype_order_and_shape_of_numpy_survives_conversion() {
    let Some(python) = Python::with(&["numpy"]) else { return };
    let scratch = TempDir::new().unwrap();
    let pairs = TempDir::new().unwrap();
    run(&python, WRITE, scratch.path());
    let names = fs::read_to_string(scratch.path().join("names")).unwrap();
    let mut arrays = 0;
    for line in names.lines() {
        let (number, rest) = line.split_once(' ').unwrap();
        let bytes =
            |ending: &str| fs::read(scratch.path().join(format!("{number}.{ending}"))).unwrap();
        let (file, raw) = (bytes("npy"), bytes("raw"));
        let (variable, data) = read(&file, ImportOptions::default());
        assert!(data == raw, "{line}");
        assert_eq!(variable.losses, [""; 0], "{line}");
        let back = written(&variable, &data);
        fs::write(scratch.path().join(format!("{number}.back.npy")), &back).unwrap();
        if rest.starts_with("little") {
            assert!(back == file, "{line}");
        } else {
            // Plain numbers may stay big-endian.
            let options = ImportOptions { keep_endian: true, ..ImportOptions::default() };
            let (kept, data) = read(&file, options);
            if !kept.header.flags().is_empty() {
                assert!(written(&kept, &data) == file, "{line}");
                save(pairs.path(), &format!("kept{number}"), &kept, &data);
                arrays += 1;
            }
        }
        save(pairs.path(), &format!("x{number}"), &variable, &data);
        arrays += 1;
    }
    assert!(arrays > 1000, "{arrays} arrays");
    assert_valid(pairs.path(), arrays);
    run(&python, COMPARE, scratch.path());
}

#[test]
fn all_header_versions_are_read_and_unsupported_types_refused() {
    let Some(python) = Python::with(&["numpy"]) else { return };
    let scratch = TempDir::new().unwrap();
    let script = r"
import sys
import numpy as np
from numpy.lib import format
array = np.arange(6, dtype='<i4').reshape(2, 3)
for version in [(1, 0), (2, 0), (3, 0)]:
    with open('%s/%d.npy' % (sys.argv[1], version[0]), 'wb') as f:
        format.write_array(f, array, version=version)
titled = np.zeros(2, np.dtype({'names': ['a'], 'formats': ['<f4'], 'titles': ['A title']}))
np.save(sys.argv[1] + '/titled.npy', titled)
np.save(sys.argv[1] + '/object.npy', np.array([{}, None]), allow_pickle=True)
np.save(sys.argv[1] + '/nested.npy', np.zeros(2, [('a', 'i4'), ('b', 'O')]), allow_pickle=True)
np.save(sys.argv[1] + '/long.npy', np.zeros(2, 'g'))
np.save(sys.argv[1] + '/longs.npy', np.zeros(2, 'G'))
np.save(sys.argv[1] + '/empty.npy', np.zeros(2, 'V0'))
";
    run(&python, script, scratch.path());
    let file = |name: &str| fs::read(scratch.path().join(name)).unwrap();
    let (first, data) = read(&file("1.npy"), ImportOptions::default());
    for version in [1, 2, 3] {
        let bytes = file(&format!("{version}.npy"));
        assert_eq!(NpyHeader::read(&mut &*bytes).unwrap().version, (version, 0));
        assert_eq!(read(&bytes, ImportOptions::default()), (first.clone(), data.clone()));
    }
    let (titled, _) = read(&file("titled.npy"), ImportOptions::default());
    assert_eq!(titled.losses, ["the title `A title` of the field `a` is dropped"]);
    for (name, reason) in [
        ("object.npy", "pickle"),
        ("nested.npy", "pickle"),
        ("long.npy", "long double"),
        ("longs.npy", "long double"),
        ("empty.npy", "no bytes"),
    ] {
        let error =
            ra_pack::interchange::npy::NpyReader::new(&*file(name), ImportOptions::default())
                .unwrap_err()
                .to_string();
        assert!(error.contains(reason), "{name}: {error}");
    }
}

#[test]
fn bfloat16_of_ml_dtypes_survives_conversion() {
    let Some(python) = Python::with(&["numpy", "ml_dtypes"]) else { return };
    let scratch = TempDir::new().unwrap();
    let script = r"
import sys
import numpy as np
import ml_dtypes
bits = np.array([0x3f80, 0x7fc1, 0xffff, 0x8000, 1, 0x7f7f], '<u2').reshape(2, 3)
np.save(sys.argv[1] + '/x.npy', bits.view(ml_dtypes.bfloat16))
";
    run(&python, script, scratch.path());
    let path = scratch.path().join("x.npy");
    let file = fs::read(&path).unwrap();
    let options = ImportOptions { bfloat16: true, ..ImportOptions::default() };
    let (variable, data) = read(&file, options);
    assert_eq!(variable.header.element(), ra_pack::ElementType::BFLOAT16);
    assert_eq!(data[..4], [0x80, 0x3f, 0xc1, 0x7f]);
    assert_eq!(written(&variable, &data), file);
    let (bytes, _) = read(&file, ImportOptions::default());
    assert_eq!(bytes.description.datatype.to_flow(), "{opaque: {size: 2}}");
    let pairs = TempDir::new().unwrap();
    save(pairs.path(), "brain", &variable, &data);
    save(pairs.path(), "bytes", &bytes, &data);
    assert_valid(pairs.path(), 2);
}

#[test]
fn numpy_reads_texts() {
    let Some(python) = Python::with(&["numpy"]) else { return };
    let scratch = TempDir::new().unwrap();
    let text = "ndarrays:\n  x: {shape: [], type: string}\n";
    let parsed = ra_pack::ndl::parse(text.as_bytes()).document.unwrap();
    let variable = |bytes: &[u8]| ra_pack::interchange::Variable {
        header: ra_pack::ra::Header::new(
            ra_pack::ElementType::UINT8,
            vec![bytes.len().try_into().unwrap()],
        )
        .unwrap(),
        description: parsed.groups[0].ndarrays[0].clone(),
        losses: Vec::new(),
    };
    for (name, text) in [("full", "žluť"), ("empty", "")] {
        let file = written(&variable(text.as_bytes()), text.as_bytes());
        fs::write(scratch.path().join(format!("{name}.npy")), file).unwrap();
    }
    let script = r"
import sys
import numpy as np
assert np.load(sys.argv[1] + '/full.npy')[()].decode() == '\u017elu\u0165'
assert np.load(sys.argv[1] + '/empty.npy')[()] == b''
";
    run(&python, script, scratch.path());
}
