//! NumPy reads our files, and we read NumPy's.

use std::fs;

use tempfile::TempDir;

use super::convert;
use crate::python::Python;
use crate::run::ra;

/// Writes every dtype with a counterpart, in both orders. `interchange::npy` has more shapes.
// words: imports a Python module
const SAVE: &str = r"
import numpy as np, sys
r = np.random.default_rng(1)
def fill(dtype, shape):
    n = int(np.prod(shape)) * np.dtype(dtype).itemsize
    b = r.integers(0, 256, n, dtype='u1').tobytes()
    return np.frombuffer(b, dtype).reshape(shape)
n = 0
for dtype in ['i1','<i2','>i4','<i8','u1','>u2','<u4','<u8','<f2','>f2','<f4','>f4','<f8','<c8','>c16',
              'S5','V7','<M8[ns]','<m8[25s]',[('a','<i2'),('b','>f8',(2,))]]:
    for shape in [(), (3, 5), (0, 4)]:
        a = fill(dtype, shape)
        if np.dtype(dtype).kind == 'S' and shape == (): continue
        for order in 'CF':
            np.save(f'{n}.npy', np.asarray(a, order=order)); n += 1
np.save(f'{n}.npy', r.integers(0, 2, (5, 3)).astype(bool)); n += 1
np.save(f'{n}.npy', np.array(['a', 'bcd', ''])); n += 1
print(n)
";

/// Compares the converted arrays with the original ones.
// words: imports a Python module
const COMPARE: &str = r"
import numpy as np, sys
for n in range(int(sys.argv[1])):
    a = np.load(f'{n}.npy')
    for back in (f'{n}.column.npy', f'{n}.row.npy'):
        b = np.load(back)
        assert a.shape == b.shape, (n, a.shape, b.shape)
        little = a.dtype.newbyteorder('<')
        assert b.dtype == little, (n, a.dtype, b.dtype)
        if a.dtype.names:
            for name in a.dtype.names:
                assert a[name].astype(b[name].dtype).tobytes() == b[name].tobytes(), n
        else:
            if a.dtype != b.dtype: a = a.byteswap().view(b.dtype)
            assert a.tobytes() == b.tobytes(), (n, a.dtype)
    assert np.load(f'{n}.row.npy').flags.c_contiguous or a.ndim < 2
";

#[test]
#[ignore = "slow"]
fn every_dtype_survives_conversion_bit_for_bit() {
    let Some(python) = Python::with(&["numpy"]) else { return };
    let home = TempDir::new().unwrap();
    let saved = python.command().args(["-c", SAVE]).current_dir(home.path()).output().unwrap();
    assert!(saved.status.success(), "{saved:?}");
    let count = String::from_utf8(saved.stdout).unwrap().trim().to_owned();
    for number in 0..count.parse().unwrap() {
        let path = |ending: &str| home.path().join(format!("{number}{ending}"));
        convert(&path(".npy"), &path(".ra"), &["-q"]).exits(0);
        ra("validate", &[&path(".ra")], &["-q"]).exits(0);
        convert(&path(".ra"), &path(".column.npy"), &["-q"]).exits(0);
        convert(&path(".npy"), &path(".row.ra"), &["-q", "--order", "row"]).exits(0);
        convert(&path(".row.ra"), &path(".row.npy"), &["-q", "--order", "row"]).exits(0);
    }
    let compared =
        python.command().args(["-c", COMPARE, &count]).current_dir(home.path()).output().unwrap();
    assert!(compared.status.success(), "{}", String::from_utf8_lossy(&compared.stderr));
}

#[test]
fn bfloat16_is_read_on_request() {
    let Some(python) = Python::with(&["numpy", "ml_dtypes"]) else { return };
    let home = TempDir::new().unwrap();
    let path = |name: &str| home.path().join(name);
    // words: imports a Python module
    let save = "import numpy as np, ml_dtypes; \
                np.save('b.npy', np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16))";
    let saved = python.command().args(["-c", save]).current_dir(home.path()).status().unwrap();
    assert!(saved.success());
    convert(&path("b.npy"), &path("v.ra"), &[]).exits(0);
    assert!(super::description(&path("v.ra")).contains("opaque"));
    convert(&path("b.npy"), &path("b.ra"), &["--as", "bfloat16"]).exits(0);
    assert!(super::description(&path("b.ra")).contains("type: bfloat16"));
    assert_eq!(fs::read(path("b.ra")).unwrap()[16], 5);
    convert(&path("b.ra"), &path("c.npy"), &["--order", "row"]).exits(0);
    assert_eq!(fs::read(path("c.npy")).unwrap(), fs::read(path("b.npy")).unwrap());
}
