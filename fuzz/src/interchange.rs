//! Targets for files of ds-format and PNG images.

use std::io::{Cursor, Read};

use ra_pack::interchange::ds::{Array, DsReader, DsWriter};
use ra_pack::interchange::{ExportOptions, FormatError, ImportOptions, png as pictures};
use ra_pack::ndl::{Attribute, Datatype, Extent};

/// Reads any bytes as a file of ds-format. If it can be read, writing and reading it again gives the same.
pub fn ds(file: &[u8]) {
    let Ok(first) = read(file) else { return };
    for masks in [false, true] {
        let body = Cursor::new(Vec::new());
        let options = ExportOptions { mask_fill: masks, ..ExportOptions::default() };
        let mut writer = DsWriter::new(body, options);
        writer.attributes(&first.attributes, "x");
        let arrays: Vec<_> = first.arrays.iter().filter(|(array, _)| writable(array)).collect();
        for (array, data) in &arrays {
            add(&mut writer, array, data).unwrap();
        }
        let mut written = Vec::new();
        writer.write_to(&mut written).unwrap();
        let second = read(&written).unwrap();
        assert_eq!(second.losses, [""; 0]);
        assert_eq!(shown(&second.attributes), shown(&first.attributes));
        assert_eq!(second.arrays.len(), arrays.len());
        for ((first, first_data), (second, second_data)) in arrays.into_iter().zip(&second.arrays) {
            compare(first, second, masks);
            // Without a mask, fill values do not change; with one, another value may be chosen.
            if !masks || !has_fill(first) {
                assert_eq!(first_data, second_data);
            } else {
                assert_eq!(first_data.len(), second_data.len());
            }
        }
    }
}

/// Returns whether the format can store the array: bytes that are not text become opaque.
fn writable(array: &Array) -> bool {
    !matches!(array.description.datatype, Datatype::Opaque { .. })
}

fn has_fill(array: &Array) -> bool {
    array.description.storage.as_ref().is_some_and(|storage| storage.fillvalue.is_some())
}

fn add(
    writer: &mut DsWriter<Cursor<Vec<u8>>>,
    array: &Array,
    data: &[u8],
) -> Result<(), FormatError> {
    match array.variable() {
        Some(variable) => writer.array(&variable, array.is_coordinate, data),
        None => writer.inline(&array.description, array.is_coordinate),
    }
}

fn compare(first: &Array, second: &Array, masks: bool) {
    let (a, b) = (&first.description, &second.description);
    assert_eq!(a.name, b.name);
    assert_eq!(first.is_coordinate, second.is_coordinate);
    let lengths = |shape: &[Extent]| {
        shape
            .iter()
            .map(|extent| match extent {
                Extent::Fixed(length) => Some(*length),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    for (a, b) in lengths(&a.shape).into_iter().zip(lengths(&b.shape)) {
        assert!(a == b || a.is_none() || b.is_none());
    }
    let is_enum = matches!(a.datatype, Datatype::Enum { .. });
    assert!(a.datatype == b.datatype || (is_enum && has_fill(first)), "{a:?}\n{b:?}");
    assert_eq!(a.order(), b.order());
    assert_eq!(first.header, second.header);
    if first.header.is_none() {
        assert!(a.value == b.value || (masks && has_fill(first)), "{a:?}\n{b:?}");
    }
    for attribute in &a.attributes {
        // Dimension names from a coordinate are not repeated in the attribute.
        if attribute.name != "_dims" {
            let again = b.attributes.iter().find(|other| other.name == attribute.name);
            assert_eq!(shown(again), shown(Some(attribute)));
        }
    }
}

/// Compared as text, because a NaN differs from itself, and 0.0 equals -0.0.
fn shown<'a>(attributes: impl IntoIterator<Item = &'a Attribute>) -> Vec<String> {
    attributes.into_iter().map(|attribute| format!("{attribute:?}")).collect()
}

struct Whole {
    attributes: Vec<Attribute>,
    losses: Vec<String>,
    arrays: Vec<(Array, Vec<u8>)>,
}

/// Reads everything in a file.
fn read(file: &[u8]) -> Result<Whole, FormatError> {
    let masked = ImportOptions { masks: true, ..ImportOptions::default() };
    let _ = DsReader::open(Cursor::new(file), masked).map(|mut reader| {
        for index in 0..reader.names().count() {
            if let Ok(array) = reader.array(index) {
                drain(&mut reader, &array);
            }
        }
    });
    let mut reader = DsReader::open(Cursor::new(file), ImportOptions::default())?;
    let mut arrays = Vec::new();
    for index in 0..reader.names().count() {
        if let Ok(array) = reader.array(index) {
            let data = drain(&mut reader, &array);
            arrays.push((array, data));
        }
    }
    let attributes = reader.attributes().to_vec();
    Ok(Whole { attributes, losses: reader.losses().to_vec(), arrays })
}

/// Reads the data of an array, whose length must match its header.
fn drain(reader: &mut DsReader<Cursor<&[u8]>>, array: &Array) -> Vec<u8> {
    let mut data = Vec::new();
    let expected = array.header.as_ref().map_or(0, |header| header.data_len());
    reader.data(array).read_to_end(&mut data).unwrap();
    assert_eq!(u64::try_from(data.len()).unwrap(), expected);
    data
}

/// Reads any bytes as an image. If it can be read, writing and reading it again gives the same.
pub fn png(file: &[u8]) {
    let read = |file: &[u8]| {
        let mut reader = pictures::PngReader::open(Cursor::new(file), "x")?;
        let len = reader.variable().header.data_len();
        // Only the beginning of a large image.
        let mut data = Vec::new();
        reader.by_ref().take(1 << 20).read_to_end(&mut data)?;
        if len < 1 << 20 {
            assert_eq!(u64::try_from(data.len()).unwrap(), len);
        }
        Ok::<_, FormatError>((reader.variable().clone(), data, len <= 1 << 20))
    };
    let Ok((variable, data, true)) = read(file) else { return };
    let mut written = Vec::new();
    pictures::write(&variable, &*data, &mut written).unwrap();
    let (again, pixels, _) = read(&written).unwrap();
    assert_eq!((again.header, again.description), (variable.header, variable.description));
    assert_eq!(pixels, data);
    assert_eq!(again.losses, [""; 0]);
}
