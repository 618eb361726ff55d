//! Support: arrays as the pair of files in a pack.

use std::fs;
use std::io::Read;
use std::path::Path;

use ra_pack::inspect::ValidateOptions;
use ra_pack::interchange::{ExportOptions, ImportOptions, Variable, npy};
use ra_pack::ndl::Document;
use ra_pack::{Code, validate};

/// Reads the variable and the data of an `.npy` file without trailing bytes.
#[track_caller]
pub(crate) fn read(file: &[u8], options: ImportOptions) -> (Variable, Vec<u8>) {
    let mut reader = npy::NpyReader::new(file, options).unwrap();
    let variable = reader.variable("x").unwrap();
    let mut data = Vec::new();
    reader.read_to_end(&mut data).unwrap();
    assert_eq!(reader.finish().unwrap(), 0);
    (variable, data)
}

/// Returns the `.npy` file of an array.
#[track_caller]
pub(crate) fn written(variable: &Variable, data: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    npy::write(&mut file, variable, data, ExportOptions::default()).unwrap();
    file
}

/// Writes `NAME.ra` and `NAME.yaml`.
pub(crate) fn save(directory: &Path, name: &str, variable: &Variable, data: &[u8]) {
    let mut file = variable.header.encode();
    file[8] = variable.header.flags().bits().try_into().unwrap();
    file.extend(data);
    fs::write(directory.join(format!("{name}.ra")), file).unwrap();
    let mut document = Document::flat();
    let mut description = variable.description.clone();
    name.clone_into(&mut description.name);
    document.groups[0].ndarrays.push(description);
    fs::write(directory.join(format!("{name}.yaml")), document.to_yaml()).unwrap();
}

/// Validates all pairs in a directory.
#[track_caller]
pub(crate) fn assert_valid(directory: &Path, arrays: u64) {
    // Big-endian arrays cause warnings.
    let options =
        ValidateOptions { allow: vec![Code::UnusualEncoding], ..ValidateOptions::default() };
    let report = validate(directory, &options).unwrap();
    assert_eq!((report.findings, report.arrays), (Vec::new(), arrays));
}
