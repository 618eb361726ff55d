//! The target for NumPy files.

use std::io::Read;

use ra_pack::interchange::npy::{NpyReader, write};
use ra_pack::interchange::{ExportOptions, FormatError, ImportOptions, Variable};
use ra_pack::ndl::Document;

/// Reads any bytes as an `.npy` file. If it can be read, its description is valid, and writing and reading it again
/// gives the same.
pub fn npy(file: &[u8]) {
    let mut other = ImportOptions::default();
    (other.keep_endian, other.bfloat16) = (true, true);
    for options in [ImportOptions::default(), other] {
        let Ok((variable, data)) = read_npy(file, options) else { continue };
        let len = u64::try_from(data.len()).unwrap();
        assert_eq!(len, variable.header.data_len());
        assert_sound(&variable);

        let mut written = Vec::new();
        let plan = write(&mut written, &variable, &*data, ExportOptions::default()).unwrap();
        assert_eq!(plan.losses, [""; 0]);
        assert_eq!(plan.file_len(), u64::try_from(written.len()).unwrap());
        let (again, data_again) = read_npy(&written, options).unwrap();
        assert_eq!(again.description.datatype, variable.description.datatype);
        assert_eq!(again.description.shape, variable.description.shape);
        assert_eq!(again.description.attributes, variable.description.attributes);
        assert_eq!(again.header.element(), variable.header.element());
        assert_eq!(again.losses, [""; 0]);
        assert_eq!(data_again, data);
        let mut same = Vec::new();
        write(&mut same, &again, &*data, ExportOptions::default()).unwrap();
        assert_eq!(same, written);
    }
}

fn read_npy(file: &[u8], options: ImportOptions) -> Result<(Variable, Vec<u8>), FormatError> {
    let mut reader = NpyReader::new(file, options)?;
    let variable = reader.variable("x")?;
    let mut data = Vec::new();
    reader.read_to_end(&mut data)?;
    let rest = reader.finish()?;
    assert!(rest <= u64::try_from(file.len()).unwrap());
    Ok((variable, data))
}

/// Checks that a generated description is valid and that its text loses nothing.
fn assert_sound(variable: &Variable) {
    let mut document = Document::flat();
    document.groups[0].ndarrays.push(variable.description.clone());
    let yaml = document.to_yaml();
    let parsed = ra_pack::ndl::parse(yaml.as_bytes());
    assert_eq!(parsed.findings, [], "{yaml}");
    assert_eq!(parsed.document.unwrap().to_yaml(), yaml);
}
