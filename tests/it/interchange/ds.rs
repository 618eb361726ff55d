//! `.ds` files: we read those of ds-format 5.0.2 and 4.1.0, and they read ours.

use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::path::Path;

use ra_pack::interchange::ds::{DsReader, DsWriter};
use ra_pack::interchange::{ExportOptions, ImportOptions, Variable};
use ra_pack::ndl::{Attribute, Datatype, Extent, Integer, Ndarray, Order, Storage, Value};
use ra_pack::ra::{ElementType, Header};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::hex;
use crate::python::Python;

/// Returns the installed ones of both versions.
fn pythons() -> impl Iterator<Item = Python> {
    let modules = &["numpy", "ds_format"];
    [Python::with(modules), Python::with_other("ds-format-4.1.0", modules)].into_iter().flatten()
}

fn run(python: &Python, script: &str, arguments: &[&str]) -> Json {
    let script = Path::new("tests/it/interchange").join(script);
    let output = python.command().arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn unhex(hex: &Json) -> Vec<u8> {
    super::unhex(hex.as_str().unwrap())
}

/// Collects the texts of a value, from nested lists.
fn texts(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::List(list) => list.iter().for_each(|value| texts(value, into)),
        _ => into.push(value.as_str().unwrap().to_owned()),
    }
}

#[test]
#[ignore = "slow"]
fn files_of_both_versions_are_read_bit_for_bit() {
    for python in pythons() {
        for wrong in [&[][..], &["wrong"]] {
            let scratch = TempDir::new().unwrap();
            let path = scratch.path().join("x.ds");
            let arguments = [&[path.to_str().unwrap()], wrong].concat();
            let expected = run(&python, "write_ds.py", &arguments);
            compare(&path, &expected);
            no_truncation_is_read(&fs::read(&path).unwrap());
        }
    }
}

fn compare(path: &Path, expected: &Json) {
    let options = ImportOptions { masks: true, ..ImportOptions::default() };
    let mut reader = DsReader::open(File::open(path).unwrap(), options).unwrap();
    assert_eq!(reader.losses(), [""; 0]);
    assert_eq!(reader.attributes()[0].value, "Tést".into());
    let names: Vec<String> = reader.names().map(str::to_owned).collect();
    let mut compared = 0;
    for (index, name) in names.iter().enumerate().filter(|(_, name)| !name.contains(".mask")) {
        let array = reader.array(index).unwrap();
        let expected = &expected[name];
        let mut mask = vec![0; unhex(&expected["mask"]).len()];
        if let Some(at) = names.iter().position(|other| *other == format!("{name}.mask")) {
            let array = reader.array(at).unwrap();
            mask.clear();
            reader.data(&array).read_to_end(&mut mask).unwrap();
        }
        assert_eq!(hex(&mask), expected["mask"], "{name}");
        let description = &array.description;
        let shape = expected["shape"].as_array().unwrap();
        assert_eq!(description.shape.len(), shape.len());
        for (found, expected) in description.shape.iter().zip(shape) {
            match found {
                Extent::Fixed(found) => assert_eq!(Some(*found), expected.as_u64()),
                Extent::Coord(found) => {
                    assert_eq!((found.as_str(), expected.as_u64()), ("time", Some(3)));
                }
                Extent::Unlimited => panic!("{name} is unlimited"),
            }
        }
        assert_eq!(array.is_coordinate, name == "time");
        let mut data = Vec::new();
        reader.data(&array).read_to_end(&mut data).unwrap();
        if let Some(bytes) = expected["texts"].as_array() {
            let bytes: Vec<Vec<u8>> = bytes.iter().map(unhex).collect();
            let present = |at: usize| mask[at] == 0;
            match &array.header {
                None => {
                    let mut found = Vec::new();
                    texts(description.value.as_ref().unwrap(), &mut found);
                    for (at, text) in found.iter().enumerate().filter(|(at, _)| present(*at)) {
                        assert_eq!(text.as_bytes(), bytes[at], "{name}");
                    }
                }
                Some(header) => {
                    let width = usize::try_from(header.element().elbyte()).unwrap();
                    for (at, text) in data.chunks_exact(width).enumerate() {
                        assert_eq!(
                            text.strip_suffix(&vec![0; width - bytes[at].len()][..]),
                            Some(&*bytes[at])
                        );
                    }
                }
            }
        } else {
            let width = data.len() / mask.len().max(1);
            for (at, missing) in mask.iter().enumerate().filter(|(_, missing)| **missing == 1) {
                data[at * width..][..width].fill(1 - missing);
            }
            assert_eq!(hex(&data), expected["data"], "{name}");
        }
        compared += 1;
    }
    assert_eq!(compared, expected.as_object().unwrap().len());
    let at = names.iter().position(|name| name == "temperature").unwrap();
    let found = reader.array(at).unwrap().description.attributes.clone();
    let found: Vec<_> = found.iter().map(|found| (found.name.as_str(), &found.value)).collect();
    let range = vec![1.5, f64::NAN].into();
    assert_eq!(found, [("units", &"K".into()), ("range", &range), ("long_name", &"té".into())]);
}

fn no_truncation_is_read(file: &[u8]) {
    for len in 0..file.len() {
        // All of the first and last lengths, and every 13th between.
        if len % 13 == 0 || len < 100 || len + 100 > file.len() {
            assert!(
                DsReader::open(Cursor::new(&file[..len]), ImportOptions::default()).is_err(),
                "{len}"
            );
        }
    }
}

fn variable(name: &str, size: &[u64], datatype: Datatype, element: ElementType) -> Variable {
    let order = if size.len() > 1 { Order::Row } else { Order::Column };
    Variable {
        header: Header::new(element, size.iter().rev().copied().collect()).unwrap(),
        description: Ndarray {
            name: name.to_owned(),
            shape: size.iter().map(|extent| Extent::Fixed(*extent)).collect(),
            datatype,
            value: None,
            attributes: Vec::new(),
            storage: Some(Storage { order, ..Storage::default() }),
        },
        losses: Vec::new(),
    }
}

#[test]
fn both_versions_read_our_files_bit_for_bit() {
    let (mut options, mut expected) = (ExportOptions::default(), serde_json::Map::new());
    options.mask_fill = true;
    let mut writer = DsWriter::new(Cursor::new(Vec::new()), options);
    let mut add = |writer: &mut DsWriter<Cursor<Vec<u8>>>,
                   variable: &Variable,
                   word: &str,
                   data: &[u8],
                   more: Json| {
        writer.array(variable, variable.description.name == "time", data).unwrap();
        let count = usize::try_from(variable.header.elements()).unwrap();
        let shape: Vec<u64> = variable.header.dims().iter().rev().copied().collect();
        let mut facts =
            json!({"type": word, "shape": shape, "mask": "00".repeat(count), "data": hex(data)});
        for (key, value) in more.as_object().unwrap() {
            facts[key] = value.clone();
        }
        expected.insert(variable.description.name.clone(), facts);
    };
    let numbers = [
        ("int8", Datatype::Int8, ElementType::INT8),
        ("int16", Datatype::Int16, ElementType::INT16),
        ("int32", Datatype::Int32, ElementType::INT32),
        ("int64", Datatype::Int64, ElementType::INT64),
        ("uint8", Datatype::UInt8, ElementType::UINT8),
        ("uint16", Datatype::UInt16, ElementType::UINT16),
        ("uint32", Datatype::UInt32, ElementType::UINT32),
        ("uint64", Datatype::UInt64, ElementType::UINT64),
        ("float32", Datatype::Float32, ElementType::FLOAT32),
        ("float64", Datatype::Float64, ElementType::FLOAT64),
    ];
    // As floats: NaN with a payload, -0.0, infinities, the largest and the smallest number.
    let data: Vec<u8> =
        [u64::MAX, 0x7FF8_0000_7FC0_0001, 1 << 63, 0x7FF0_0000_8000_0000, 1, 0xFF80_0000]
            .iter()
            .flat_map(|bits| bits.to_le_bytes())
            .collect();
    for (word, datatype, element) in numbers {
        let count = 48 / element.elbyte();
        let x = variable(word, &[2, count / 2], datatype, element);
        add(&mut writer, &x, word, &data, json!({}));
    }
    let members = vec![("false".to_owned(), 0), ("true".to_owned(), 1), ("gap".to_owned(), 9)];
    let truth = Datatype::Enum { base: Some(Integer::UInt8), members };
    let mut bools = variable("bools", &[16], truth, ElementType::UINT8);
    let values = [1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1];
    let flags = json!({"flag_values": [0, 1, 9], "flag_meanings": "false true gap"});
    add(&mut writer, &bools, "uint8", &values, json!({"attributes": flags}));
    let members = vec![("false".to_owned(), 0), ("true".to_owned(), 1)];
    bools.description.datatype = Datatype::Enum { base: Some(Integer::UInt8), members };
    bools.description.name = "truth".to_owned();
    add(&mut writer, &bools, "bool", &values, json!({}));
    bools.description.name = "gaps".to_owned();
    bools.description.storage.as_mut().unwrap().fillvalue = Some(Value::Int(9));
    let missing = json!({"mask": "00000101010100000101010100000000", "data": "01000000000000010000000000000001"});
    add(&mut writer, &bools, "bool", &[1, 0, 9, 9, 9, 9, 0, 1, 9, 9, 9, 9, 0, 0, 0, 1], missing);
    let mut holes = variable("holes", &[3], Datatype::Int16, ElementType::INT16);
    holes.description.storage.as_mut().unwrap().fillvalue = Some(Value::Int(-1));
    let missing = json!({
        "mask": "000100", "data": "010000000200", "attributes": {"_FillValue": -1},
    });
    add(&mut writer, &holes, "int16", &[1, 0, 255, 255, 2, 0], missing);
    let time = variable("time", &[2], Datatype::Int8, ElementType::INT8);
    add(&mut writer, &time, "int8", &[1, 2], json!({"dims": ["time"]}));
    let mut x = variable(".x", &[2], Datatype::Int8, ElementType::INT8);
    x.description.shape = vec![Extent::Coord("time".to_owned())];
    x.description.attributes.extend(Attribute::short("units", "µm"));
    add(&mut writer, &x, "int8", &[3, 4], json!({"dims": ["time"], "attributes": {"units": "µm"}}));
    let scalar = variable("scalar", &[], Datatype::Float32, ElementType::FLOAT32);
    add(&mut writer, &scalar, "float32", &1.5_f32.to_le_bytes(), json!({"dims": []}));
    let mut text = variable("text", &[], Datatype::String, ElementType::UINT8);
    text.header = Header::new(ElementType::UINT8, vec![3]).unwrap();
    add(
        &mut writer,
        &text,
        "unicode",
        "aé".as_bytes(),
        json!({"data": null, "texts": ["aé"], "shape": [], "mask": "00"}),
    );
    let mut texts = variable("texts", &[3], Datatype::String, ElementType::UINT8).description;
    texts.value = Some(vec!["a", "", "žluť"].into());
    writer.inline(&texts, false).unwrap();
    expected.insert(
        "texts".to_owned(),
        json!({"type": "unicode", "shape": [3], "mask": "000000", "texts": ["a", "", "žluť"]}),
    );
    let scratch = TempDir::new().unwrap();
    let path = scratch.path().join("x.ds");
    writer.write_to(&mut File::create(&path).unwrap()).unwrap();

    for python in pythons() {
        let found = run(&python, "read_ds.py", &[path.to_str().unwrap()]);
        assert_eq!(found.as_object().unwrap().len(), expected.len());
        for (name, expected) in &expected {
            for (key, expected) in expected.as_object().unwrap() {
                assert_eq!(
                    found[name].get(key).unwrap_or(&Json::Null),
                    expected,
                    "{key} of {name}"
                );
            }
        }
    }
}
