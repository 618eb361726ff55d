//! Slices select what NumPy selects, and coordinates what xarray selects.

use std::fmt::Write as _;

use ra_pack::Pack;
use ra_pack::ra::{SlicePlan, parse_slice};
use ra_pack::read::CornersOptions;

use crate::experiment::{Element, Experiment, FLOAT64, UINT8, le};
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

/// Coordinates as their units, calendar and numbers, and selections.
const COORDINATES: &[(&str, &str, &[f64], &[&str])] = &[
    (
        "m",
        "",
        &[10.0, 20.0, 50.0, 100.0, 200.0],
        &["10", "11", "10:50", "11:99", "50:10", "20:", ":20", "-5:5", "300:400", "2e1"],
    ),
    (
        "m",
        "",
        &[200.0, 100.0, 50.0, 20.0, 10.0],
        &["100", "200:10", "10:200", "99:15", ":50", "50:"],
    ),
    ("m", "", &[10.0, 30.0, 20.0, 20.0], &["10", "30"]),
    ("m", "", &[0.5, f64::NAN, 1.5], &["0.5", "1.5", "1"]),
    (
        "hours since 2024-06-03",
        "standard",
        &[0.0, 6.0, 12.0, 18.0, 24.0, 30.0, 720.0],
        &[
            "2024-06-03",
            "2024-06-03T06",
            "2024-06-03T06:00",
            "2024-06-03T06:00:00",
            "2024-06-03T07:00",
            "2024-06",
            "2024-07",
            "2024-08",
            "2024",
            "2024-06-04:2024-07",
            "2024-06-03T06:2024-06-03T18",
            "2024-06-03T06:00:2024-06-03T18:00",
            ":2024-06-03",
            "2024-06-04:",
            "2025",
            "2023:2025",
        ],
    ),
    (
        "days since 1900-01-01",
        "proleptic_gregorian",
        &[0.0, 31.0, 59.0, 90.0],
        &[
            "1900-01-01",
            "1900-02-01",
            "1900-02",
            "1900-02-02",
            "1900",
            "1900-02:1900-03",
            "1900-03-01:",
        ],
    ),
];

/// Numbers of the coordinates above, and single values whose nearest coordinate is selected.
const NEAREST: &[(&[f64], &[&str])] = &[
    (&[10.0, 20.0, 50.0, 100.0, 200.0], &["10", "14", "15", "34.9", "35", "75", "-1e9", "1e9"]),
    (&[200.0, 100.0, 50.0, 20.0, 10.0], &["14", "15", "150", "1e9"]),
    (
        &[0.0, 6.0, 12.0, 18.0, 24.0, 30.0, 720.0],
        &["2024-06-03T04:00", "2024-06-03T03:00:00", "2024-06-03", "1999-01-01", "2025-01-01"],
    ),
];

#[test]
#[ignore = "slow"]
fn coordinates_select_what_xarray_selects() {
    let Some(python) = Python::with(&["numpy", "xarray", "pandas"]) else { return };
    let mut script = r"
import numpy, xarray
from math import nan
def pick(units, calendar, numbers, text, method):
    attrs = {'units': units}
    if calendar: attrs['calendar'] = calendar
    data = xarray.Dataset(coords={'x': ('x', numpy.array(numbers), attrs)})
    data['i'] = ('x', numpy.arange(len(numbers)))
    data = xarray.decode_cf(data)
    is_time = bool(calendar)
    def value(text):
        if text == '': return None
        return text if is_time else float(text)
    ats = [at for at, char in enumerate(text) if char == ':']
    parts = [(text[:at], text[at + 1:]) for at in ats]
    if is_time: parts = [(a, b) for a, b in parts if all(len(one) in (0, 4) or len(one) >= 7 and '-' in one[:5] for one in (a, b))]
    try:
        key = slice(value(parts[0][0]), value(parts[0][1])) if parts else value(text)
        return ' '.join(map(str, numpy.atleast_1d(data['i'].sel(x=key, method=method).values)))
    except (KeyError, ValueError): return 'error'
"
    .to_owned();
    let mut found = Vec::new();
    for (units, calendar, numbers, selections) in COORDINATES {
        let more =
            if calendar.is_empty() { String::new() } else { format!(", calendar: {calendar}") };
        let attributes = format!("attributes: {{units: {units}{more}}}");
        let size = numbers.len();
        let extent = u64::try_from(size).unwrap();
        let experiment = Experiment::new()
            .array("x.ra", FLOAT64, &[extent], &le(f64::to_le_bytes, numbers.iter().copied()))
            .file(
                "x.yaml",
                format!("dimcoords: {{x: {{size: {size}, type: float64, {attributes}}}}}\n"),
            )
            .array(
                "i.ra",
                UINT8,
                &[extent],
                &(0..size).map(|at| u8::try_from(at).unwrap()).collect::<Vec<_>>(),
            )
            .file("i.yaml", "ndarrays: {i: {shape: [x], type: uint8}}\n");
        let array = Pack::open(experiment.path()).unwrap().array("i").unwrap();
        let exact = selections.iter().map(|text| (*text, false));
        let near = NEAREST.iter().filter(|(of, _)| of == numbers);
        let near = near.flat_map(|(_, texts)| texts.iter().map(|text| (*text, true)));
        for (text, is_nearest) in exact.chain(near) {
            let case =
                format!("{units:?}, {calendar:?}, {numbers:?}, {text:?}").replace("NaN", "nan");
            let method = if is_nearest { "'nearest'" } else { "None" };
            writeln!(script, "print(pick({case}, {method}))").unwrap();
            let slice = array.slice_at(&format!("x={text}"), is_nearest);
            let picked = slice.map(|slice| {
                let options = CornersOptions { slice: Some(slice), edge: None, threshold: 100 };
                let bytes = array.corners(&options).unwrap().bytes;
                bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
            });
            found.push((format!("{units} {text}"), picked));
        }
    }
    let output = python.command().args(["-W", "ignore", "-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = String::from_utf8(output.stdout).unwrap();
    assert_eq!(expected.lines().count(), found.len());
    let mut wrong = Vec::new();
    for ((case, picked), expected) in found.into_iter().zip(expected.lines()) {
        let text = picked.as_deref().unwrap_or("error");
        if text != expected {
            wrong.push(format!("{case}: {text} instead of {expected} ({picked:?})"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn text_and_packed_numbers_are_selected_as_they_are_shown() {
    let coordinate = |name: &str, datatype: &str, attributes: &str| {
        format!(
            "dimcoords: {{{name}: {{size: 3, type: {datatype}, attributes: {{{attributes}}}}}}}\n"
        )
    };
    let experiment = Experiment::new()
        .array("name.ra", Element(0, 2), &[3], b"absoci")
        .file("name.yaml", coordinate("name", "{opaque: {size: 2, tag: text}}", ""))
        .array("z.ra", UINT8, &[3], &[1, 2, 3])
        .file("z.yaml", coordinate("z", "uint8", "scale_factor: 0.1"))
        .array("v.ra", UINT8, &[3, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8])
        .describe("v.yaml", "[name, z]", "uint8");
    let array = Pack::open(experiment.path()).unwrap().array("v.ra").unwrap();
    for (selection, slice) in [("name=so", "1,:"), ("z=0.3", ":,2"), ("z=0.1:0.3,name=ci", "2,0:3")]
    {
        assert_eq!(array.slice_at(selection, false).unwrap(), slice, "{selection}");
    }
}
