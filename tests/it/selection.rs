//! Slices select what NumPy selects.

use std::fmt::Write as _;

use ra_pack::ra::{SlicePlan, parse_slice};

use crate::python::Python;

#[test]
fn slices_select_what_numpy_selects() {
    let Some(python) = Python::with(&["numpy"]) else { return };
    let bounds = ["", "0", "1", "3", "6", "7", "8", "999", "-1", "-6", "-7", "-8", "-999"];
    let mut cases = Vec::new();
    for len in [0, 1, 7_u64] {
        for start in bounds {
            cases.push((len, start.to_owned()));
            for stop in bounds {
                for step in ["", "1", "3", "99", "-1", "-2", "-99"] {
                    cases.push((len, format!("{start}:{stop}:{step}")));
                }
            }
        }
    }
    cases.retain(|(_, text)| !text.is_empty());
    let mut script = "import numpy\ndef pick(n, text):\n    try: found = eval(f'numpy.arange(n)[{text}]')\n    \
         except IndexError: return 'error'\n    return ' '.join(map(str, numpy.atleast_1d(found)))\n"
        .to_owned();
    writeln!(script, "for n, text in {cases:?}: print(pick(n, text))").unwrap();
    let output = python.command().args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = String::from_utf8(output.stdout).unwrap();
    assert_eq!(expected.lines().count(), cases.len());
    for ((len, text), expected) in cases.iter().zip(expected.lines()) {
        let found = parse_slice(text, &[*len]).map_or("error".to_owned(), |slice| {
            let plan = SlicePlan::new(&[*len], 1, &slice).unwrap();
            let mut read = vec![0; usize::try_from(plan.data_len()).unwrap()];
            let positions: Vec<u8> = (0..7).collect();
            let read_at = |at: u64, out: &mut [u8]| {
                let at = usize::try_from(at).unwrap();
                out.copy_from_slice(&positions[at..at + out.len()]);
                Ok(())
            };
            plan.read_into(&mut read, read_at).unwrap();
            read.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(found, expected, "{text} of {len}");
    }
}
