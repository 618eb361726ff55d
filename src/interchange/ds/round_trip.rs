//! Arrays that are written and read back, and arrays that cannot be written.

use std::io::{Cursor, Read as _};

use proptest::prelude::*;

use super::{DsReader, DsWriter};
use crate::interchange::{ExportOptions, FormatError, ImportOptions, Variable};
use crate::ndl::{Attribute, Datatype, Extent, Integer, Ndarray, Order, Storage, Value};
use crate::ra::{ElementType, Header};

/// Returns a row-major array.
fn array(name: &str, size: &[u64], datatype: Datatype, element: ElementType) -> Variable {
    let storage = Storage { order: Order::Row, ..Storage::default() };
    Variable {
        header: Header::new(element, size.iter().rev().copied().collect()).unwrap(),
        description: Ndarray {
            name: name.to_owned(),
            shape: size.iter().map(|extent| Extent::Fixed(*extent)).collect(),
            datatype,
            value: None,
            attributes: Vec::new(),
            storage: (size.len() > 1).then_some(storage),
        },
        losses: Vec::new(),
    }
}

fn text(name: &str, text: &str) -> Variable {
    let mut variable = array(name, &[], Datatype::String, ElementType::UINT8);
    let len = u64::try_from(text.len()).unwrap();
    variable.header = Header::new(ElementType::UINT8, vec![len]).unwrap();
    variable
}

fn new_writer(options: ExportOptions) -> DsWriter<Cursor<Vec<u8>>> {
    DsWriter::new(Cursor::new(Vec::new()), options)
}

fn written(variable: &Variable, data: &[u8], mask_fill: bool) -> Result<String, FormatError> {
    let mut writer = new_writer(ExportOptions { mask_fill, ..ExportOptions::default() });
    writer.array(variable, false, data)?;
    let mut file = Vec::new();
    writer.write_to(&mut file)?;
    Ok(file.escape_ascii().to_string().replace("\\\"", "\"").replace("\\\\", "\\"))
}

#[test]
fn a_written_file_is_as_the_format_specifies() {
    let truth = super::truth(false);
    let variable = array(".b", &[10], truth, ElementType::UINT8);
    let mut writer = new_writer(ExportOptions::default());
    writer.array(&variable, false, &[1, 0, 1, 1, 0, 0, 0, 0, 0, 1][..]).unwrap();
    writer.attributes(&[Attribute::short("title", "é").unwrap()], ".b");
    let mut file = Vec::new();
    writer.write_to(&mut file).unwrap();
    let header = r#"{"\\.b": {".dims": ["d0"], ".size": [10], ".offset": 0, ".len": 2, ".type": "bool", ".missing": false, ".endian": "b"}, ".": {"title": "\u00e9"}}"#;
    let expected = [b"ds-1.0\n", header.as_bytes(), b"\n\xB0\x40"].concat();
    assert_eq!(file.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn dimensions_have_names() {
    let mut writer = new_writer(ExportOptions::default());
    let int8 = |name: &str, size: &[u64]| array(name, size, Datatype::Int8, ElementType::INT8);
    writer.array(&int8("time", &[3]), true, &[1, 2, 3][..]).unwrap();
    let mut x = int8("x", &[3, 2, 2, 3]);
    x.description.shape[0] = Extent::Coord("/time".to_owned());
    writer.array(&x, false, &[0; 36][..]).unwrap();
    let mut y = int8("y", &[2, 3]);
    y.description.attributes.push(super::values::dims(&["d1".to_owned(), "time".to_owned()]));
    writer.array(&y, false, &[0; 6][..]).unwrap();
    writer.array(&int8("d2", &[]), false, &[0][..]).unwrap();
    let mut file = Vec::new();
    writer.write_to(&mut file).unwrap();
    let text = file.escape_ascii().to_string();
    for dims in [
        r#"\"time\": {\".dims\": [\"time\"]"#,
        r#"\"x\": {\".dims\": [\"time\", \"d0\", \"d3\", \"d4\"]"#,
        r#"\"y\": {\".dims\": [\"d1\", \"time\"], \".size\": [2, 3], \".offset\": 39"#,
        r#"\"d2\": {\".dims\": []"#,
    ] {
        assert!(text.contains(dims), "{dims} in {text}");
    }
}

#[test]
fn enums_become_flags() {
    let members = vec![("off".to_owned(), 0), ("on air".to_owned(), 7)];
    let datatype = Datatype::Enum { base: Some(Integer::Int16), members };
    let mut variable = array("x", &[1], datatype, ElementType::INT16);
    variable.description.storage =
        Some(Storage { fillvalue: Some(Value::from("on air")), ..Storage::default() });
    let mut writer = new_writer(ExportOptions::default());
    writer.array(&variable, false, &[7, 0][..]).unwrap();
    assert_eq!(writer.losses(), ["spaces in the members of \"x\" are written as `_`"]);
    let text = written(&variable, &[7, 0], false).unwrap();
    let expected = r#""flag_values": [0, 7], "flag_meanings": "off on_air", "_FillValue": 7, ".size": [1], ".offset": 0, ".len": 2, ".type": "int16", ".missing": false, ".endian": "l""#;
    assert!(text.contains(expected), "{text}");
    let text = written(&variable, &[7, 0], true).unwrap();
    assert!(text.contains(r#"".len": 1, ".type": "int16", ".missing": true"#), "{text}");
    assert!(text.ends_with("\\n\\x80"), "{text}");
}

#[test]
fn truth_values_of_other_programs_are_booleans() {
    let members = vec![("FALSE".to_owned(), 0), ("TRUE".to_owned(), 1)];
    let datatype = Datatype::Enum { base: Some(Integer::Int8), members };
    for element in [ElementType::INT8, ElementType::UINT8, ElementType::BOOL] {
        let variable = array("x", &[2], datatype.clone(), element);
        let text = written(&variable, &[0, 1], false).unwrap();
        assert!(text.contains("\"bool\"") && text.ends_with("\\n@"), "{text}");
        assert_eq!(
            written(&variable, &[0, 3], false).unwrap_err().to_string(),
            "element 1 of \"x\" is 3, neither false nor true; describe it as `uint8`, or make it 0 or 1"
        );
    }
}

#[test]
fn big_endian_numbers_are_kept() {
    let mut header = Header::new(ElementType::INT16, vec![3]).unwrap().encode();
    header[8] = 1;
    let mut variable = array("x", &[3], Datatype::Int16, ElementType::INT16);
    variable.header = Header::parse(&header).unwrap();
    variable.description.storage =
        Some(Storage { fillvalue: Some(Value::Int(2)), ..Storage::default() });
    let data = [1, 0, 0, 2, 0, 3];
    let text = written(&variable, &data, false).unwrap();
    assert!(text.contains(r#"".endian": "b"}"#), "{text}");
    assert!(text.ends_with("\\n\\x01\\x00\\x00\\x02\\x00\\x03"), "{text}");
    let text = written(&variable, &data, true).unwrap();
    assert!(text.ends_with("\\n@\\x01\\x00\\x00\\x03"), "{text}");
}

#[test]
fn texts_are_unicode_when_they_are_utf_8() {
    let variable = text("x", "aé");
    let written_text = written(&variable, "aé".as_bytes(), false).unwrap();
    assert!(written_text.contains(r#"".len": 11, ".type": "unicode""#), "{written_text}");
    let written_text = written(&variable, b"a\xC3b", false).unwrap();
    assert!(written_text.contains(r#"".len": 11, ".type": "str""#), "{written_text}");
}

#[test]
fn arrays_without_a_counterpart_are_refused_with_advice() {
    let pair = vec![("a".to_owned(), Datatype::Int8), ("b".to_owned(), Datatype::Int8)];
    let cases = [
        (Datatype::Float16, ElementType::FLOAT16, "convert its elements to `float32`"),
        (Datatype::BFloat16, ElementType::BFLOAT16, "convert its elements to `float32`"),
        (Datatype::Float128, ElementType::FLOAT128, "convert its elements to `float64`"),
        (Datatype::Int128, ElementType::INT128, "convert its elements to `int64`"),
        (Datatype::UInt128, ElementType::UINT128, "convert its elements to `uint64`"),
        (Datatype::Complex64, ElementType::COMPLEX64, "two arrays of floats"),
        (
            Datatype::Compound(pair),
            ElementType::new(0, 2).unwrap(),
            "each member as a separate array",
        ),
        (
            Datatype::Opaque { size: 2, tag: None },
            ElementType::new(0, 2).unwrap(),
            "describe its bytes as `uint8` with one more dimension",
        ),
        (Datatype::String, ElementType::UINT8, "give the strings as `value`"),
    ];
    for (datatype, element, instead) in cases {
        let variable = array("x", &[1], datatype, element);
        let data = vec![0; usize::try_from(element.elbyte()).unwrap()];
        let message = written(&variable, &data, false).unwrap_err().to_string();
        assert!(message.starts_with("the ds format cannot store elements of `"), "{message}");
        assert!(message.contains(instead), "{message}");
    }
    let mut column = array("x", &[2, 3], Datatype::Int8, ElementType::INT8);
    column.description.storage = None;
    let message = written(&column, &[0; 6], false).unwrap_err().to_string();
    assert!(message.ends_with("; reverse its dimensions first"), "{message}");
    let wrong = array("x", &[2], Datatype::Int16, ElementType::INT8);
    assert!(written(&wrong, &[0; 2], false).unwrap_err().to_string().contains("does not match"));
    let sound = array("x", &[2], Datatype::Int8, ElementType::INT8);
    let message = |data: &[u8]| written(&sound, data, false).unwrap_err().to_string();
    assert!(message(&[0]).contains("ends before its 2 bytes"));
    assert!(message(&[0; 3]).contains("is longer than its 2 bytes"));
}

#[test]
fn names_and_dimensions_must_agree() {
    let mut writer = new_writer(ExportOptions::default());
    let int8 = |name: &str, size: &[u64]| array(name, size, Datatype::Int8, ElementType::INT8);
    writer.array(&int8("n", &[3]), true, &[1, 2, 3][..]).unwrap();
    let again = writer.array(&int8("n", &[3]), true, &[1, 2, 3][..]).unwrap_err();
    assert_eq!(again.to_string(), "two arrays have the name \"n\"; rename one of them");
    let mut x = int8("x", &[2]);
    x.description.shape = vec![Extent::Coord("n".to_owned())];
    assert_eq!(
        writer.array(&x, false, &[1, 2][..]).unwrap_err().to_string(),
        "the dimension \"n\" has 3 elements in \"n\" but 2 in \"x\"; give one of them another name in the attribute \
         `_dims`"
    );
    let mut y = int8("y", &[]);
    y.description.attributes.extend(Attribute::short("a", 1_i64));
    y.description.attributes.extend(Attribute::short("a", 2_i64));
    assert!(
        writer.array(&y, false, &[1][..]).unwrap_err().to_string().contains("with the same name")
    );
    let twice = y.description.attributes.clone();
    writer.attributes(&twice, "y");
    assert_eq!(
        writer.losses().last().unwrap(),
        "the attribute `a` of the group of `y` differs from that of another group, and is dropped"
    );
}

#[test]
fn values_in_the_description_are_written_too() {
    let mut writer = new_writer(ExportOptions { mask_fill: true, ..ExportOptions::default() });
    let mut texts = array("t", &[2, 2], Datatype::String, ElementType::UINT8).description;
    texts.value = Some(vec![vec!["a", "?"], vec!["", "é"]].into());
    texts.storage.as_mut().unwrap().fillvalue = Some("?".into());
    writer.inline(&texts, false).unwrap();
    let mut numbers = array("n", &[2], Datatype::Float32, ElementType::FLOAT32).description;
    numbers.value = Some(Value::List(vec![Value::Int(1), Value::Float(0.1)]));
    writer.inline(&numbers, true).unwrap();
    numbers.name = "m".to_owned();
    numbers.value = Some(vec![1.0].into());
    assert!(writer.inline(&numbers, false).is_err());
    numbers.value = None;
    assert!(writer.inline(&numbers, false).is_err());
    let mut file = Vec::new();
    writer.write_to(&mut file).unwrap();

    let mut reader = DsReader::open(
        Cursor::new(file),
        ImportOptions { masks: true, ..ImportOptions::default() },
    )
    .unwrap();
    let array = reader.array(0).unwrap();
    assert_eq!(array.description.value, texts.value);
    assert_eq!(array.description.storage, texts.storage);
    let array = reader.array(1).unwrap();
    assert_eq!(array.description.name, "t.mask");
    let mut mask = Vec::new();
    reader.data(&array).read_to_end(&mut mask).unwrap();
    assert_eq!(mask, [0, 1, 0, 0]);
    let array = reader.array(2).unwrap();
    assert!(array.is_coordinate);
    let mut data = Vec::new();
    reader.data(&array).read_to_end(&mut data).unwrap();
    assert_eq!(data, [1.0_f32.to_le_bytes(), 0.1_f32.to_le_bytes()].concat());
}

fn kinds() -> impl Strategy<Value = (Datatype, ElementType)> {
    prop_oneof![
        Just((Datatype::Int8, ElementType::INT8)),
        Just((Datatype::Int16, ElementType::INT16)),
        Just((Datatype::Int32, ElementType::INT32)),
        Just((Datatype::Int64, ElementType::INT64)),
        Just((Datatype::UInt8, ElementType::UINT8)),
        Just((Datatype::UInt16, ElementType::UINT16)),
        Just((Datatype::UInt32, ElementType::UINT32)),
        Just((Datatype::UInt64, ElementType::UINT64)),
        Just((Datatype::Float32, ElementType::FLOAT32)),
        Just((Datatype::Float64, ElementType::FLOAT64)),
        Just((super::truth(false), ElementType::UINT8)),
        Just((super::truth(true), ElementType::UINT8)),
    ]
}

prop_compose! {
    /// Arrays with data of few different values, so that the fill value occurs.
    fn arrays()(
        (datatype, element) in kinds(),
        size in prop::collection::vec(prop_oneof![4 => 1_u64..6, 1 => Just(0), 1 => Just(40)], 0..4),
        palette in prop::collection::vec(any::<u64>(), 1..4),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 100),
        is_filled: bool,
    ) -> (Variable, Vec<u8>, bool) {
        let mut variable = array("x", &size, datatype, element);
        let width = usize::try_from(element.elbyte()).unwrap();
        let is_enum = matches!(variable.description.datatype, Datatype::Enum { .. });
        let has_missing = variable.description.datatype == super::truth(true);
        let count = usize::try_from(variable.header.elements()).unwrap();
        let mut data = Vec::new();
        for pick in picks.iter().cycle().take(count) {
            let number = *pick.get(&palette);
            let number = if is_enum { number % if has_missing { 3 } else { 2 } } else { number };
            data.extend_from_slice(&number.to_le_bytes()[..width]);
        }
        let bits = crate::interchange::values::numbers(&palette[0].to_le_bytes()[..width], width).next().unwrap();
        let fill = if has_missing {
            Some(Value::Int(2))
        } else if is_filled && !is_enum {
            Some(crate::interchange::values::to_value(bits, &variable.description.datatype))
        } else {
            None
        };
        if let Some(fill) = fill {
            variable.description.storage.get_or_insert_default().fillvalue = Some(fill);
        }
        (variable, data, has_missing)
    }
}

proptest! {
    #[test]
    fn every_array_is_read_back((variable, data, must_mask) in arrays(), mask_fill: bool) {
        let mask_fill = mask_fill || must_mask;
        let mut writer = new_writer(ExportOptions { mask_fill, ..ExportOptions::default() });
        writer.array(&variable, false, &*data).unwrap();
        let mut file = Vec::new();
        writer.write_to(&mut file).unwrap();
        for len in [file.len() / 3, file.len().saturating_sub(1)] {
            prop_assert!(DsReader::open(Cursor::new(&file[..len]), ImportOptions::default()).is_err());
        }
        let mut reader = DsReader::open(Cursor::new(&file), ImportOptions { masks: true, ..ImportOptions::default() }).unwrap();
        prop_assert_eq!(reader.losses(), [""; 0]);
        let array = reader.array(0).unwrap();
        let found = &array.variable().unwrap();
        prop_assert_eq!(found.header.clone(), variable.header.clone());
        prop_assert_eq!(&found.description.shape, &variable.description.shape);
        prop_assert_eq!(found.description.order(), variable.description.order());
        let mut again = Vec::new();
        reader.data(&array).read_to_end(&mut again).unwrap();
        let width = usize::try_from(variable.header.element().elbyte()).unwrap();
        let number = match &variable.description.datatype {
            Datatype::Enum { .. } => Datatype::UInt8,
            datatype => datatype.clone(),
        };
        let fill = variable.description.storage.as_ref().and_then(|all| all.fillvalue.clone());
        let fill = fill.filter(|_| mask_fill).and_then(|fill| super::values::to_bits(&fill, &number));
        let is_fill = |element: &[u8]| {
            let bits = crate::interchange::values::numbers(element, width).next();
            fill.zip(bits).is_some_and(|(fill, bits)| super::values::is_same(fill, bits, &number))
        };
        let expected = data.chunks_exact(width);
        let pairs: Vec<_> = expected.zip(again.chunks_exact(width)).collect();
        for (expected, found) in &pairs {
            // Both zeros, and all NaNs, are marked as missing.
            prop_assert!(expected == found || (is_fill(expected) && is_fill(found)));
        }
        prop_assert_eq!(data.len(), again.len());
        if pairs.iter().any(|(expected, _)| is_fill(expected)) {
            let mask = reader.array(1).unwrap();
            let mut missing = Vec::new();
            reader.data(&mask).read_to_end(&mut missing).unwrap();
            let expected: Vec<u8> =
                pairs.iter().map(|(expected, _)| u8::from(is_fill(expected))).collect();
            prop_assert_eq!(missing, expected);
        } else {
            // Without missing elements, the third member is not needed.
            let plain = super::truth(false);
            let expected = if must_mask { &plain } else { &variable.description.datatype };
            prop_assert_eq!(&found.description.datatype, expected);
        }
    }
}
