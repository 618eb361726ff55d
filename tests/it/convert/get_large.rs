//! `get` of arrays that are converted in a temporary file.

use std::fs;

use tempfile::TempDir;

use crate::experiment::{Experiment, UINT8};
use crate::run::{pack, ra};

#[test]
#[ignore = "slow"]
fn a_large_array_is_converted_like_a_full_slice() {
    // Larger than arrays that are converted in memory.
    let shape = [4096_u64, 4200];
    let data: Vec<u8> = (0..shape[0] * shape[1]).map(|n| n.to_le_bytes()[1]).collect();
    for order in ["column", "row"] {
        let dims = if order == "row" { [shape[1], shape[0]] } else { shape };
        let document = format!(
            "ndarrays:\n  a:\n    shape: [4096, 4200]\n    type: uint8\n    storage: {{order: {order}}}\n"
        );
        let home =
            Experiment::new().array("x/a.ra", UINT8, &dims, &data).file("x/a.yaml", document);
        let scratch = TempDir::new().unwrap();
        let archive = pack(&home, scratch.path(), "exp.zip", &[]);
        for format in ["npy", "png"] {
            let get = |name: &str, more: &[&str]| {
                let to = scratch.path().join(name);
                let options = [&["x/a.ra", "--format", format, "-o", to.to_str().unwrap()], more];
                let ran = ra("get", &[&archive], &options.concat()).exits(0);
                (fs::read(&to).unwrap(), ran.err)
            };
            let (whole, said) = get("whole", &[]);
            let (sliced, _) = get("sliced", &["--slice", ":,:"]);
            assert!(whole.len() > 100 && said.contains(", verified)"), "{said}");
            if format == "npy" {
                assert!(whole[128..] == sliced[128..] || order == "row", "{order}");
            } else {
                assert!(whole == sliced, "{order} {format}");
            }
            fs::remove_file(scratch.path().join("whole")).unwrap();
            fs::remove_file(scratch.path().join("sliced")).unwrap();
        }
        let to = scratch.path().join("small.npy");
        ra(
            "get",
            &[&archive],
            &["x/a.ra", "--format", "npy", "--max-size", "1M", "-o", to.to_str().unwrap()],
        )
        .exits(2)
        .says(&["--max-size"]);
        assert!(!to.exists());
    }
}
