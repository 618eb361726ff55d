//! Files made by hand, with each kind of variable.

use std::io::{Cursor, Read as _};

use super::{Array, DsReader, unused_text};
use crate::interchange::{FormatError, ImportOptions, Variable};
use crate::ndl::{Attribute, Datatype, Extent, Order, Value};

fn file(header: &str, body: &[u8]) -> Vec<u8> {
    [b"ds-1.0\n", header.as_bytes(), b"\n", body].concat()
}

fn open(file: &[u8]) -> Result<DsReader<Cursor<&[u8]>>, FormatError> {
    DsReader::open(Cursor::new(file), ImportOptions { masks: true, ..ImportOptions::default() })
}

fn read(file: &[u8]) -> Result<Vec<(Array, Vec<u8>)>, FormatError> {
    let mut reader = open(file)?;
    let mut arrays = Vec::new();
    for index in 0..reader.names().count() {
        let array = reader.array(index)?;
        let mut data = Vec::new();
        reader.data(&array).read_to_end(&mut data)?;
        if let Some(header) = &array.header {
            assert_eq!(u64::try_from(data.len()).unwrap(), header.data_len());
        }
        arrays.push((array, data));
    }
    Ok(arrays)
}

#[track_caller]
fn one(header: &str, body: &[u8]) -> (Variable, Vec<u8>) {
    let (array, data) = read(&file(header, body)).unwrap().remove(0);
    (array.variable().unwrap(), data)
}

#[track_caller]
fn inline(header: &str, body: &[u8]) -> (crate::ndl::Ndarray, Vec<String>) {
    let (array, data) = read(&file(header, body)).unwrap().remove(0);
    assert!(data.is_empty());
    assert!(array.header.is_none());
    (array.description, array.losses)
}

fn fault(header: &str, body: &[u8]) -> String {
    read(&file(header, body)).unwrap_err().to_string()
}

fn fillvalue(variable: &Variable) -> Option<Value> {
    variable.description.storage.as_ref()?.fillvalue.clone()
}

#[test]
fn numbers_are_read_little_endian_and_in_their_order() {
    let header = r#"{"x": {".dims": ["a", "b"], ".size": [2, 3], ".len": 12, ".type": "int16", ".endian": "b"}}"#;
    let (variable, data) = one(header, &[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0xFF, 0xFE]);
    assert_eq!(data, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0xFE, 0xFF]);
    assert_eq!(variable.header.dims(), [3, 2]);
    assert_eq!(variable.description.shape, [Extent::Fixed(2), Extent::Fixed(3)]);
    assert_eq!(variable.description.order(), Order::Row);
    assert_eq!(variable.description.datatype, Datatype::Int16);
    let names = &variable.description.attributes[0];
    assert_eq!((names.name.as_str(), &names.value), ("_dims", &vec!["a", "b"].into()));
    assert_eq!(variable.losses, [""; 0]);
}

#[test]
fn a_scalar_needs_only_its_number() {
    let (variable, data) = one(r#"{"x": {}}"#, &1.5_f64.to_be_bytes());
    assert_eq!(data, 1.5_f64.to_le_bytes());
    assert_eq!((variable.header.ndims(), variable.description.storage), (0, None));
}

#[test]
fn booleans_need_no_byte_order_and_no_multiple_of_8() {
    for endian in ["", r#", ".endian": "b""#] {
        let header = format!(
            r#"{{"x": {{".size": [10], ".offset": 0, ".len": 2, ".type": "bool"{endian}}},
                "y": {{".size": [1], ".offset": 2, ".len": 1, ".type": "uint8", ".endian": "b"}}}}"#
        )
        .replace('\n', " ");
        let arrays = read(&file(&header, &[0b1011_0000, 0b0100_0000, 7])).unwrap();
        assert_eq!(arrays[0].1, [1, 0, 1, 1, 0, 0, 0, 0, 0, 1]);
        assert_eq!(arrays[1].1, [7]);
        assert_eq!(arrays[0].0.description.datatype, super::truth(false));
    }
    // Eight of them take one byte, and none take no bytes.
    let (_, data) = one(r#"{"x": {".size": [8], ".len": 1, ".type": "bool"}}"#, &[0x81]);
    assert_eq!(data, [1, 0, 0, 0, 0, 0, 0, 1]);
    let (variable, data) = one(r#"{"x": {".size": [0], ".len": 0, ".type": "bool"}}"#, &[]);
    assert_eq!((variable.header.dims(), data.len()), (&[0][..], 0));
}

#[test]
fn missing_booleans_are_a_third_member() {
    // Elements 1, 3, …, 9 are missing; the others are packed without gaps.
    let header = r#"{"x": {".size": [10], ".len": 3, ".type": "bool", ".missing": true}}"#;
    let file = file(header, &[0b0101_0101, 0b0111_1111, 0b1100_0000]);
    let arrays = read(&file).unwrap();
    assert_eq!(arrays[0].1, [1, 2, 1, 2, 0, 2, 0, 2, 0, 2]);
    let variable = &arrays[0].0.variable().unwrap();
    assert_eq!(fillvalue(variable), Some(Value::Int(2)));
    assert_eq!(variable.description.datatype, super::truth(true));
    assert_eq!(arrays[1].0.description.name, "x.mask");
    assert_eq!(arrays[1].1, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn missing_numbers_get_an_unused_number() {
    let header = |attribute: &str| {
        format!(
            r#"{{"x": {{".dims": ["p", "q"], ".size": [2, 3], ".len": 5, ".type": "int8", ".missing": true{attribute}}}}}"#
        )
    };
    let body = [0b0101_0000, 9, 9, 0x80, 1];
    let (variable, data) = one(&header(""), &body);
    assert_eq!(data, [9, 0, 9, 0, 0x80, 1]);
    assert_eq!(fillvalue(&variable), Some(Value::Int(0)));
    assert_eq!(variable.description.order(), Order::Row);
    let (variable, data) = one(&header(r#", "_FillValue": -1"#), &body);
    assert_eq!(data, [9, 0xFF, 9, 0xFF, 0x80, 1]);
    assert_eq!(fillvalue(&variable), Some(Value::Int(-1)));
    assert_eq!(variable.losses, [""; 0]);
    let (variable, data) = one(&header(r#", "_FillValue": 9"#), &body);
    assert_eq!(data, [9, 0, 9, 0, 0x80, 1]);
    assert_eq!(variable.losses.len(), 1);
    assert_eq!(variable.description.attributes[0].value, Value::Int(9));
}

#[test]
fn many_numbers_may_all_be_missing() {
    let count = 20_001;
    let mask = vec![0xFF; count / 8 + 1];
    let header = format!(
        r#"{{"x": {{".size": [{count}], ".len": {}, ".type": "float32", ".missing": true, ".endian": "l"}}}}"#,
        mask.len()
    );
    let (variable, data) = one(&header, &mask);
    assert!(data.as_chunks::<4>().0.iter().all(|number| f32::from_le_bytes(*number).is_nan()));
    assert_eq!(fillvalue(&variable), Some(Value::Float(f64::NAN)));
}

#[test]
fn without_an_unused_number_missing_elements_are_refused() {
    let mut body = vec![0; 32];
    body.extend(1..=255);
    body[0] = 0x80;
    body.push(0);
    body.pop();
    let header = r#"{"x": {".size": [256], ".len": 287, ".type": "uint8", ".missing": true}}"#;
    let (variable, data) = one(header, &body);
    assert_eq!((fillvalue(&variable), data[0]), (Some(Value::Int(0)), 0));
    let mut body = vec![0; 33];
    body.extend(0..=255);
    body[0] = 0x80;
    let header = r#"{"x": {".size": [257], ".len": 289, ".type": "uint8", ".missing": true}}"#;
    assert_eq!(
        fault(header, &body),
        "\"x\" has missing elements, but every number of `uint8` occurs in it, so none can mark them; \
         store it with a wider type"
    );
}

#[test]
fn a_single_text_has_its_bytes_as_data() {
    let body = [&[0, 0, 0, 0, 0, 0, 0, 3][..], "aé".as_bytes()].concat();
    for word in ["str", "unicode"] {
        let header = format!(r#"{{"x": {{".len": 11, ".type": "{word}"}}}}"#);
        let (variable, data) = one(&header, &body);
        assert_eq!(data, "aé".as_bytes());
        assert_eq!(variable.header.dims(), [3]);
        assert_eq!(variable.description.datatype, Datatype::String);
        assert_eq!(variable.description.shape, []);
    }
    let body = [&[0, 0, 0, 0, 0, 0, 0, 3][..], b"a\xC3b"].concat();
    let (variable, data) = one(r#"{"x": {".len": 11, ".type": "str"}}"#, &body);
    assert_eq!(data, b"a\xC3b");
    assert_eq!((variable.header.element().elbyte(), variable.header.ndims()), (3, 0));
    assert_eq!(
        fault(r#"{"x": {".len": 11, ".type": "unicode"}}"#, &body),
        "byte 56: expected UTF-8 in \"x\", found other bytes"
    );
}

fn texts(endian: &str, texts: &[&[u8]]) -> Vec<u8> {
    let lengths = texts.iter().flat_map(|text| {
        let length = u64::try_from(text.len()).unwrap();
        if endian == "l" { length.to_le_bytes() } else { length.to_be_bytes() }
    });
    lengths.chain(texts.concat()).collect()
}

#[test]
fn texts_are_values_in_the_description() {
    for endian in ["l", "b"] {
        let body = texts(endian, &[b"a", b"", "é\n".as_bytes(), b"d"]);
        let header = format!(
            r#"{{"x": {{".size": [2, 2], ".len": {}, ".type": "unicode", ".endian": "{endian}"}}}}"#,
            body.len()
        );
        let (description, losses) = inline(&header, &body);
        let rows = Value::from(vec![vec!["a", ""], vec!["é\n", "d"]]);
        assert_eq!(description.value, Some(rows));
        assert_eq!((description.datatype, losses), (Datatype::String, vec![]));
    }
}

#[test]
fn missing_texts_get_an_unused_text() {
    let body = [&[0b0100_0000][..], &texts("l", &[b"", b"b"])].concat();
    let header =
        r#"{"x": {".size": [3], ".len": 18, ".type": "str", ".endian": "l", ".missing": true}}"#;
    let (description, _) = inline(header, &body);
    assert_eq!(description.value, Some(vec!["", "missing", "b"].into()));
    assert_eq!(description.storage.unwrap().fillvalue, Some("missing".into()));
}

#[test]
fn texts_that_are_not_utf_8_are_padded() {
    let header = r#"{"x": {".size": [2], ".len": 20, ".type": "str", ".endian": "l"}}"#;
    let (variable, data) = one(header, &texts("l", &[b"\xFF", b"a\0b"]));
    assert_eq!(data, b"\xFF\0\0a\0b");
    assert_eq!(variable.header.element().elbyte(), 3);
    assert_eq!(variable.losses.len(), 1);
    let message = fault(header, &texts("l", &[b"\xFF", b"a\0\0"]));
    assert!(message.contains("some end in zero bytes"), "{message}");
    let header = header.replace("str", "unicode");
    let message = fault(&header, &texts("l", &[b"a", b"\xFFbc"]));
    assert_eq!(message, "byte 94: expected UTF-8 in \"x\", found other bytes");
}

#[test]
fn wrong_lengths_of_texts_are_measured() {
    // The reference implementation writes three more bytes for each byte string of an object array.
    let numbers = 7_i64.to_le_bytes();
    let body = [&texts("l", &[b"abc", b"\xFFd"])[..], &numbers].concat();
    let header = r#"{"s": {".size": [2], ".offset": 0, ".len": 27, ".type": "str", ".endian": "l"}, "y": {".size": [1], ".offset": 27, ".len": 8, ".type": "int64", ".endian": "l"}}"#;
    let arrays = read(&file(header, &body)).unwrap();
    assert_eq!(arrays[0].1, b"abc\xFFd\0");
    assert_eq!(arrays[1].1, numbers);
    // For masked texts, it also counts the missing ones.
    let body = [&[0b0100_0000][..], &texts("l", &[b"a", b"b"]), &numbers].concat();
    let header = r#"{"s": {".size": [3], ".offset": 0, ".len": 23, ".type": "unicode", ".endian": "l", ".missing": true}, "y": {".size": [1], ".offset": 23, ".len": 8, ".type": "int64", ".endian": "l"}}"#;
    let arrays = read(&file(header, &body)).unwrap();
    assert_eq!(arrays[0].0.description.value, Some(vec!["a", "", "b"].into()));
    assert_eq!(arrays[2].1, numbers);
    // A wrong length with no explanation.
    assert_eq!(
        fault(r#"{"x": {".size": [1], ".len": 7, ".type": "int8"}}"#, &[1, 2]),
        "byte 8: expected 1 for `.len` of \"x\", found 7"
    );
}

#[test]
fn unused_bytes_are_reported() {
    let header = r#"{"x": {".size": [1], ".offset": 1, ".len": 1, ".type": "int8"}}"#;
    let file = file(header, &[0, 5, 0]);
    assert_eq!(open(&file).unwrap().losses(), ["2 bytes of the file belong to no variable"]);
    assert_eq!(read(&file).unwrap()[0].1, [5]);
}

#[test]
fn variables_without_data_are_reported() {
    let header = r#"{"x": {".size": null, ".type": null, ".len": 0, "a": [1], "b": null}, "y": {".size": [0, 2], ".len": 0, ".offset": 9}}"#;
    let file = file(header, &[]);
    let reader = open(&file).unwrap();
    assert_eq!(
        reader.losses(),
        [
            "the variable \"x\" has no data and is dropped with its attributes \"a\": [1], \"b\": \"null\""
        ]
    );
    let arrays = read(&file).unwrap();
    assert_eq!(arrays.len(), 1);
    assert_eq!(arrays[0].0.description.shape, [Extent::Fixed(0), Extent::Fixed(2)]);
}

#[test]
fn a_variable_of_its_dimension_is_a_coordinate() {
    let header = r#"{"time": {".dims": ["time"], ".size": [2], ".len": 2, ".type": "int8"}, "x": {".dims": ["time", "y"], ".size": [2, 1], ".offset": 2, ".len": 2, ".type": "int8", "_dims": 5}, "z": {".dims": ["time"], ".size": [2], ".offset": 4, ".len": 2, ".type": "int8", "_dims": 5}, "empty": {".dims": ["empty"], ".size": [0], ".len": 0}, "a/b": {".dims": ["a/b"], ".size": [1], ".offset": 6, ".len": 1, ".type": "int8"}}"#;
    let arrays = read(&file(header, &[1, 2, 3, 4, 5, 6, 7])).unwrap();
    let is_coordinate: Vec<_> = arrays.iter().map(|(array, _)| array.is_coordinate).collect();
    assert_eq!(is_coordinate, [true, false, false, false, false]);
    let shape = |at: usize| arrays[at].0.description.shape.clone();
    assert_eq!(shape(0), [Extent::Fixed(2)]);
    assert_eq!(shape(1), [Extent::Coord("time".to_owned()), Extent::Fixed(1)]);
    assert_eq!(shape(2), [Extent::Coord("time".to_owned())]);
    let names = |at: usize| {
        let attributes = &arrays[at].0.description.attributes;
        attributes.iter().find(|attribute| attribute.name == "_dims").map(|found| &found.value)
    };
    assert_eq!(names(0), None);
    assert_eq!(names(1), Some(&vec!["time", "y"].into()));
    let x = &arrays[1].0.variable().unwrap();
    assert_eq!(x.losses.len(), 1);
    // An attribute with that name is kept if there are no dimensions to name.
    assert_eq!(names(2), Some(&Value::Int(5)));
    assert_eq!(names(3), Some(&vec!["empty"].into()));
    assert_eq!(names(4), Some(&vec!["a/b"].into()));
}

#[test]
fn attributes_of_the_dataset_are_those_of_the_group() {
    let file = file(r#"{".": {"title": "T", "g": [0, 1], "n": null}}"#, &[]);
    let reader = open(&file).unwrap();
    let title = Attribute::short("title", "T").unwrap();
    assert_eq!(reader.attributes()[0], title);
    assert_eq!(reader.attributes()[1].shape, [2]);
    assert_eq!(reader.attributes()[2].value, "null".into());
    assert_eq!(
        reader.losses(),
        ["the attribute \"n\" of the dataset has no counterpart, and is kept as its JSON text"]
    );
}

#[test]
fn the_mask_must_have_an_unused_name() {
    let header = r#"{"x": {".size": [8], ".len": 8, ".type": "int8", ".missing": true}, "x.mask": {".size": [0]}}"#;
    let file = file(header, &[0x80, 1, 2, 3, 4, 5, 6, 7]);
    let message = open(&file).unwrap_err().to_string();
    assert!(message.starts_with("the mask of \"x\" would get the name \"x.mask\""), "{message}");
    assert!(DsReader::open(Cursor::new(&*file), ImportOptions::default()).is_ok());
}

#[test]
fn every_error_has_its_offset() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "byte 0: expected `ds-1.0` and a line end, found ``"),
        (b"ds-2.0\n{}\n", "byte 3: expected `ds-1.0` and a line end, found `ds-2.0\\n`"),
        (b"ds-1.0", "byte 6: expected `ds-1.0` and a line end, found `ds-1.0`"),
        (b"ds-1.0\n{}", "byte 9: expected a line end after the header, found the end of the file"),
        (b"ds-1.0\n{}\n\n", "no error"),
    ];
    for (file, message) in cases {
        let found = match open(file) {
            Ok(_) => "no error".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, *message);
    }
    let cases = [
        (
            r#"{"x": {".size": [2], ".len": 2, ".type": "int8"}}"#,
            "expected 2 bytes of \"x\", found 1",
        ),
        (
            r#"{"x": {".size": [1152921504606846975], ".len": 2, ".type": "int64"}}"#,
            "expected 9223372036854775800 bytes of \"x\", found 1",
        ),
        (
            r#"{"x": {".size": [1], ".len": 8, ".type": "str"}}"#,
            "expected 8 bytes of \"x\", found 1",
        ),
        (
            r#"{"x": {".size": [1], ".offset": 9, ".type": "int8"}}"#,
            "expected 1 bytes of \"x\", found 0",
        ),
    ];
    for (header, message) in cases {
        let found = fault(header, &[1]);
        assert!(found.ends_with(message), "{found}");
    }
    let many = [0xFF; 8];
    let header = r#"{"x": {".size": [2], ".type": "unicode"}}"#;
    let found = fault(header, &[many, many].concat());
    assert_eq!(found, "byte 49: expected more bytes than 64 bits can count of \"x\", found 16");
    let twice = r#"{"x": {".size": [1], ".type": "int8"}, "y": {".size": [1], ".type": "int8"}}"#;
    assert!(fault(twice, &[1]).contains("expected variables that do not overlap, found \"y\""));
    let deep = format!(r#"{{"x": {{".size": {:?}, ".len": 8, ".type": "int8"}}}}"#, [1; 65]);
    assert!(fault(&deep, &[1; 8]).contains("`.len`"));
    let deep = deep.replace("\".len\": 8", "\".len\": 1");
    assert!(
        fault(&deep, &[1]).ends_with("reshape it to fewer dimensions"),
        "{}",
        fault(&deep, &[1])
    );
    let lists = r#"{"x": {".size": [4000000000, 0], ".len": 0, ".type": "str"}}"#;
    assert!(fault(lists, &[]).contains("too many lists"));
}

#[test]
fn no_truncation_is_read() {
    let header = r#"{"b": {".size": [9], ".offset": 0, ".len": 2, ".type": "bool"}, "s": {".size": [2], ".offset": 2, ".len": 19, ".type": "str", ".endian": "l"}, "x": {".size": [3], ".offset": 21, ".len": 9, ".type": "int32", ".missing": true, ".endian": "l"}}"#;
    let body = [&[1, 0x80][..], &texts("l", &[b"a", b"bc"]), &[0x20], &[1; 8]].concat();
    let file = file(header, &body);
    assert_eq!(read(&file).unwrap().len(), 4);
    for len in 0..file.len() {
        let Err(FormatError::Malformed { offset, .. }) = open(&file[..len]).map(drop) else {
            panic!("{len} bytes are read")
        };
        assert!(offset <= u64::try_from(len).unwrap());
    }
}

#[test]
fn a_fill_is_not_one_of_the_texts() {
    let texts =
        |texts: &[&str]| texts.iter().map(|text| Some((*text).to_owned())).collect::<Vec<_>>();
    assert_eq!(unused_text(&texts(&["a"]), Some("b")), "b");
    assert_eq!(unused_text(&texts(&["a"]), Some("a")), "");
    assert_eq!(unused_text(&texts(&["", "missing"]), None), "missing_");
}
