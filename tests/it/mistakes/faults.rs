//! The mistakes that are made in the files to pack.

/// A file of the directory that is packed, its wrong content, or nothing if it is missing, and what `create` has to
/// say of it, and must not say.
pub(super) type Fault =
    (&'static str, Option<&'static str>, &'static [&'static str], &'static [&'static str]);

const TEMPERATURE: &str = "thermistors/temperature.yaml";
const NOTHING: &[&str] = &[];

pub(super) const FAULTS: &[Fault] = &[
    // 11
    (
        "time.yaml",
        None,
        &["error[DESC001]", "exp/time.ra", "`ra-pack describe --write exp` writes"],
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
        &["[NDL003]", "the `[` in line 3 is not closed"],
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
    // 21 and 22: the cause alone, not those that need the array.
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
        &["[DESC002]", "`time.yaml` and by `time.yml`", "keep one of them"],
        NOTHING,
    ),
    // 26
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [2, time], type: float32, attributes: {a: true}}}\n"),
        &["[NDL031]", "found: the boolean `true`", "write `\"true\"` for the text"],
        NOTHING,
    ),
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [2, time], type: float32, attributes: {a: null}}}\n"),
        &["[NDL031]", "found: null", "leave the attribute out"],
        NOTHING,
    ),
    // 27
    (
        TEMPERATURE,
        Some("ndarrays: {temperature: {shape: [2, time], type: double}}\n"),
        &["[NDL040]", "unknown datatype `double`", "NDL says `float64`"],
        NOTHING,
    ),
];
