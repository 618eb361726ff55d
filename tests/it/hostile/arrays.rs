//! Arrays and descriptions that are malformed or contradict each other, rows 106 to 140.

use std::fmt::Write as _;

use super::{
    Accept, Case, Reject, Warn, YAML, array, case, described, replace, with_array, with_file,
    with_files, with_header, with_yaml,
};
use crate::experiment::{FLOAT16, FLOAT32, raw_array};

pub(super) fn cases() -> Vec<Case> {
    let bad = |name, bytes| case(name, "a.zip", bytes, Reject("RA001"));
    let whole = array();
    vec![
        bad("106 bad magic", with_array([b"RAWARRAY", &whole[8..]].concat())),
        bad("107 empty", with_array(b"")),
        bad("108 a short header", with_array(&whole[..40])),
        bad("108 cut in the dims", with_array(&whole[..52])),
        bad("109 short data", with_array(&whole[..whole.len() - 1])),
        bad("110 size is not the product", with_header([0, 3, 4, 8, 1], &[3])),
        bad("111 a size of 2^63", with_header([0, 3, 4, 1 << 63, 1], &[3])),
        bad("111 a size and a length to match", with_header([0, 3, 4, 1 << 62, 1], &[1 << 60])),
        bad("112 2^60 dims", with_header([0, 3, 4, 12, 1 << 60], &[3])),
        bad("113 dims that overflow", with_header([0, 3, 4, 12, 2], &[1 << 40, 1 << 40])),
        bad(
            "113 dims that wrap to the right size",
            with_header([0, 3, 4, 12, 2], &[(1 << 62) + 3, 1]),
        ),
        bad("114 elements of no bytes", with_header([0, 3, 0, 12, 1], &[3])),
        case(
            "114 elements of three bytes",
            "a.zip",
            with_header([0, 3, 3, 9, 1], &[3]),
            Reject("DESC005"),
        ),
        bad("114 an unknown type", with_header([0, 9, 4, 12, 1], &[3])),
        case(
            "117 an unknown flag",
            "a.zip",
            with_header([1 << 40, 3, 4, 12, 1], &[3]),
            Reject("RA001"),
        ),
        case(
            "118 bytes after the data",
            "a.zip",
            with_array([&whole[..], b"metadata"].concat()),
            Warn("RA003"),
        ),
        case("119 another shape", "a.zip", described("[4]", "float32"), Reject("DESC004")),
        case(
            "120 the shape reversed",
            "a.zip",
            with_files(|files| {
                replace(files, "a.ra", raw_array(FLOAT32, &[3, 2], &[0; 24]));
                replace(files, "a.yaml", YAML.replace("[3]", "[2, 3]"));
            }),
            Reject("DESC004"),
        ),
        case(
            "121 the shape flattened",
            "a.zip",
            with_files(|files| {
                replace(files, "a.ra", raw_array(FLOAT32, &[3, 2], &[0; 24]));
                replace(files, "a.yaml", YAML.replace("[3]", "[6]"));
            }),
            Reject("DESC004"),
        ),
        case(
            "122 a length of one too many",
            "a.zip",
            described("[3, 1]", "float32"),
            Reject("DESC004"),
        ),
        case("123 another type", "a.zip", described("[3]", "int32"), Reject("DESC005")),
        case("124 another width", "a.zip", described("[3]", "float64"), Reject("DESC005")),
        case(
            "125 no description",
            "a.zip",
            with_files(|files| files.retain(|(name, _)| name != "a.yaml")),
            Reject("DESC001"),
        ),
        case(
            "126 two descriptions",
            "a.zip",
            with_file("a.yml", YAML.as_bytes()),
            Reject("DESC002"),
        ),
        case(
            "127 two documents",
            "a.zip",
            with_yaml(format!("{YAML}---\n{YAML}")),
            Reject("NDL004"),
        ),
        case(
            "128 a key twice",
            "a.zip",
            with_yaml(format!("{YAML}    type: float32\n")),
            Reject("NDL005"),
        ),
        case("129 not YAML", "a.zip", with_yaml("ndarrays: [}\n"), Reject("NDL003")),
        case("130 not UTF-8", "a.zip", with_yaml(b"ndarrays: \xff\n"), Reject("NDL001")),
        case(
            "131 no shape",
            "a.zip",
            with_yaml("ndarrays:\n  a:\n    type: float32\n"),
            Reject("NDL021"),
        ),
        case(
            "131 no type",
            "a.zip",
            with_yaml("ndarrays:\n  a:\n    shape: [3]\n"),
            Reject("NDL021"),
        ),
        case("132 a bomb of aliases", "a.zip", with_yaml(alias_bomb()), Reject("NDL008")),
        case("133 nested 20000 deep", "a.zip", with_yaml("[".repeat(20_000)), Reject("NDL003")),
        case(
            "133 nested 20000 deep by blocks",
            "a.zip",
            with_yaml("- ".repeat(20_000)),
            Reject("NDL009"),
        ),
        case(
            "134 a tag of a language",
            "a.zip",
            with_yaml(format!(
                "{YAML}    attributes: {{x: !!python/object/apply:os.system [id]}}\n"
            )),
            Reject("NDL006"),
        ),
        case("135 a negative length", "a.zip", described("[-3]", "float32"), Reject("NDL060")),
        case("136 no such coordinate", "a.zip", described("[time]", "float32"), Reject("DESC007")),
        case("138 a length of null", "a.zip", described("[null]", "float32"), Accept),
        case(
            "139 float16",
            "a.zip",
            with_files(|files| {
                replace(files, "a.ra", raw_array(FLOAT16, &[3], &[0; 6]));
                replace(files, "a.yaml", YAML.replace("float32", "float16"));
            }),
            Accept,
        ),
        case(
            "140 a YAML file without an array",
            "a.zip",
            with_file("b.yaml", YAML.as_bytes()),
            Accept,
        ),
        case(
            "0 a document that describes 3000 arrays wrongly",
            "a.zip",
            wrong_document(),
            Reject("DESC005"),
        ),
    ]
}

fn alias_bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        writeln!(text, "a{level}: &a{level} [{}]", [before.as_str(); 9].join(", ")).unwrap();
    }
    text
}

/// Returns a document in which every entry is wrong, so that each must be located in the text.
fn wrong_document() -> Vec<u8> {
    with_files(|files| {
        let mut text = "ndarrays:\n".to_owned();
        for array in 0..3000 {
            writeln!(text, "  w{array}: {{shape: [3], type: float64}}").unwrap();
            files.push((format!("w{array}.ra"), raw_array(FLOAT32, &[3], &[0; 12])));
        }
        files.push(("manifest.yaml".to_owned(), text.into_bytes()));
    })
}
