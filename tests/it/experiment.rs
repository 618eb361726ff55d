//! Source directories for tests. Arrays are written here by hand, not by the library, so that the same error in its
//! writer and reader is noticed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// Returns a command for the built `ra-pack`.
pub(crate) fn ra_pack() -> Command {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("ra-pack");
    command
        .env_remove("SOURCE_DATE_EPOCH")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("RUST_BACKTRACE");
    command
}

/// Element type in a RawArray header: `eltype`, `elbyte`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element(pub(crate) u64, pub(crate) u64);

pub(crate) const INT16: Element = Element(1, 2);
pub(crate) const INT64: Element = Element(1, 8);
pub(crate) const UINT8: Element = Element(2, 1);
pub(crate) const FLOAT16: Element = Element(3, 2);
pub(crate) const FLOAT32: Element = Element(3, 4);
pub(crate) const FLOAT64: Element = Element(3, 8);
pub(crate) const COMPLEX64: Element = Element(4, 8);

/// Returns a complete RawArray file, little-endian, flags 0.
pub(crate) fn raw_array(element: Element, dims: &[u64], data: &[u8]) -> Vec<u8> {
    let Element(eltype, elbyte) = element;
    let size = elbyte * dims.iter().product::<u64>();
    assert_eq!(u64::try_from(data.len()).unwrap(), size, "the data of {dims:?} × {elbyte} bytes");
    let ndims = u64::try_from(dims.len()).unwrap();
    let mut file = b"rawarray".to_vec();
    for field in [0, eltype, elbyte, size, ndims].iter().chain(dims) {
        file.extend(field.to_le_bytes());
    }
    file.extend(data);
    file
}

/// Returns the bytes of numbers: `le(f32::to_le_bytes, [1.0, 2.0])`.
pub(crate) fn le<T, const N: usize>(
    to_le_bytes: fn(T) -> [u8; N],
    values: impl IntoIterator<Item = T>,
) -> Vec<u8> {
    values.into_iter().flat_map(to_le_bytes).collect()
}

/// Temporary directory of arrays, descriptions and other files.
#[derive(Debug)]
pub(crate) struct Experiment {
    directory: TempDir,
}

impl Experiment {
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file and creates its directories.
    pub(crate) fn file(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    /// Writes an array; `data` is column-major.
    pub(crate) fn array(self, path: &str, element: Element, dims: &[u64], data: &[u8]) -> Self {
        self.file(path, raw_array(element, dims, data))
    }

    /// Writes a description of one array: the name is the stem of `path`, shape and type are YAML.
    pub(crate) fn describe(self, path: &str, shape: &str, datatype: &str) -> Self {
        let stem = Path::new(path).file_stem().unwrap().to_str().unwrap();
        let text = format!("ndarrays:\n  {stem}:\n    shape: {shape}\n    type: {datatype}\n");
        self.file(path, text)
    }

    /// Creates an empty directory.
    pub(crate) fn empty_directory(self, path: &str) -> Self {
        fs::create_dir_all(self.path().join(path)).unwrap();
        self
    }

    /// Returns a small valid experiment with all kinds of files, and every array described.
    pub(crate) fn standard() -> Self {
        let half = 0x3800_u16; // 0.5
        Self::new()
            .file("README.txt", "The temperature of the sea.\n")
            .file("run1/empty.log", "")
            .file("run1/deep/er/notes with spaces.txt", "first line\r\nsecond line\n")
            .file("run1/Größe ≠ 0.txt", "Namen sind UTF-8.\n")
            .empty_directory("run2/nothing yet")
            // Coordinates, in the root and in a group.
            .array("time.ra", FLOAT64, &[5], &le(f64::to_le_bytes, (0..5).map(f64::from)))
            .file(
                "time.yaml",
                "dimcoords:\n  time:\n    type: float64\n    size: 5\n    attributes:\n      \
                 units: hours since 2024-06-03T00:00:00Z\n",
            )
            .array("run1/depth.ra", INT16, &[3], &le(i16::to_le_bytes, [10, 20, 40]))
            .file(
                "run1/depth.yaml",
                "dimcoords:\n  depth: {type: int16, size: 3, attributes: {units: m}}\n",
            )
            // Zero, two (with coordinates), three and four dimensions, and an empty array.
            .array("run1/gain.ra", INT64, &[], &(-7_i64).to_le_bytes())
            .describe("run1/gain.yaml", "[]", "int64")
            .array(
                "run1/temperature.ra",
                FLOAT32,
                &[3, 5],
                &le(f32::to_le_bytes, (0..15_u8).map(f32::from)),
            )
            .describe("run1/temperature.yaml", "[depth, time]", "float32")
            .array("run1/image.ra", UINT8, &[3, 2, 4], &(0..24).collect::<Vec<u8>>())
            .describe("run1/image.yaml", "[3, 2, 4]", "uint8")
            .array("run2/block.ra", INT16, &[2, 1, 3, 2], &le(i16::to_le_bytes, -6..6))
            .describe("run2/block.yaml", "[2, 1, 3, 2]", "int16")
            .array("run2/none.ra", FLOAT32, &[4, 0, 2], &[])
            .describe("run2/none.yaml", "[4, 0, 2]", "float32")
            // Types other than plain numbers.
            .array("run2/half.ra", FLOAT16, &[4], &le(u16::to_le_bytes, [half; 4]))
            .describe("run2/half.yaml", "[4]", "float16")
            .array(
                "run2/spectrum.ra",
                COMPLEX64,
                &[2, 2],
                &le(f32::to_le_bytes, (0..8_u8).map(f32::from)),
            )
            .describe("run2/spectrum.yaml", "[2, 2]", "{compound: [re: float32, im: float32]}")
            .array("run2/quality.ra", UINT8, &[5], &[0, 1, 1, 4, 9])
            .describe(
                "run2/quality.yaml",
                "[/time]",
                "{enum: {base: uint8, members: {unknown: 0, good: 1, bad: 4, missing: 9}}}",
            )
            // Row-major: the dims of the header are the reversed shape.
            .array("run2/counts.ra", INT16, &[3, 5], &le(i16::to_le_bytes, 0..15))
            .file(
                "run2/counts.yml",
                "ndarrays:\n  counts:\n    shape: [5, 3]\n    type: int16\n    storage: {order: row}\n",
            )
    }
}

/// Reads every file below `directory`. An empty directory is listed as its path and `/`.
pub(crate) fn read_tree(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut tree = BTreeMap::new();
    read_below(directory, "", &mut tree);
    tree
}

fn read_below(directory: &Path, below: &str, tree: &mut BTreeMap<String, Vec<u8>>) {
    let before = tree.len();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read_below(&entry.path(), &format!("{name}/"), tree);
        } else {
            tree.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    if tree.len() == before && !below.is_empty() {
        tree.insert(below.to_owned(), Vec::new());
    }
}

#[test]
fn arrays_are_written_in_the_format() {
    let file = raw_array(INT16, &[3, 1], &[1, 0, 2, 0, 3, 0]);
    assert_eq!(file.len(), 48 + 2 * 8 + 6);
    assert_eq!(&file[..8], 0x7961_7272_6177_6172_u64.to_le_bytes());
    assert_eq!(file[32], 6, "size");
    assert_eq!(file[48], 3, "the first of dims");
}

#[test]
fn the_standard_experiment_describes_every_array() {
    let tree = read_tree(Experiment::standard().path());
    let arrays = tree.keys().filter_map(|name| name.strip_suffix(".ra"));
    let undescribed: Vec<_> = arrays
        .filter(|stem| {
            !["yaml", "yml"].iter().any(|end| tree.contains_key(&format!("{stem}.{end}")))
        })
        .collect();
    assert_eq!(undescribed, [""; 0]);
    assert!(tree["run2/nothing yet/"].is_empty());
    assert!(tree.contains_key("run1/Größe ≠ 0.txt"));
}

#[test]
fn the_binary_under_test_is_built() {
    assert!(Path::new(ra_pack().get_program()).is_file());
}
