//! Every number and label of pictures and pages, compared with NumPy and cftime on generated arrays.

use std::path::Path;

use crate::python::Python;
use crate::skips::is_long;

#[test]
#[ignore = "takes a minute"]
fn numbers_and_labels_of_pictures_equal_those_of_numpy_and_cftime() {
    if !is_long() {
        return;
    }
    let Some(python) = Python::with(&["numpy", "cftime"]) else { return };
    let home = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pictures.py");
    let mut command = python.command();
    command.arg("-B").arg(script).arg(assert_cmd::cargo::cargo_bin!("ra-pack")).arg(home.path());
    let ran = command.output().unwrap();
    let [said, errors] = [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(ran.status.success(), "{said}\n{errors}");
}
