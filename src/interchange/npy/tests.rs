//! The conversion of each dtype in both directions, arrays read and written back, and files that are truncated or
//! wrong.

use std::io::Read;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{
    ByteOrder, Descr, DtypeKind, DtypeScalar, Field, NpyHeader, NpyPlan, NpyReader, TimeUnit, write,
};
use crate::interchange::{ExportOptions, FormatError, ImportOptions, Variable};
use crate::ndl::{Attribute, Datatype, Endian, Extent, Integer, Ndarray, Order, Storage, Value};
use crate::ra::{self, ElementType};

fn any_scalar() -> impl Strategy<Value = DtypeScalar> {
    let unit = TimeUnit::parse("[25s]").unwrap();
    let kinds = vec![
        (DtypeKind::Bool, 1),
        (DtypeKind::Int, 1),
        (DtypeKind::Int, 2),
        (DtypeKind::Int, 8),
        (DtypeKind::UInt, 4),
        (DtypeKind::Float, 2),
        (DtypeKind::Float, 8),
        (DtypeKind::Complex, 8),
        (DtypeKind::Complex, 16),
        (DtypeKind::Bytes, 3),
        (DtypeKind::Text, 8),
        (DtypeKind::Void, 5),
        (DtypeKind::Date(unit), 8),
        (DtypeKind::Duration(TimeUnit::GENERIC), 8),
    ];
    (select(kinds), any::<bool>()).prop_map(|((kind, size), is_big)| {
        let made = DtypeScalar::new(kind, size);
        let is_big = is_big && made.order == ByteOrder::Little;
        DtypeScalar { order: if is_big { ByteOrder::Big } else { made.order }, ..made }
    })
}

/// Any dtype with a counterpart, except for special names of fields.
pub(in crate::interchange::npy) fn any_descr() -> impl Strategy<Value = Descr> {
    let leaf = any_scalar().prop_map(Descr::Scalar).boxed();
    leaf.prop_recursive(3, 24, 4, |inner| {
        let shaped = (inner, vec(1..4_u64, 0..3)).prop_map(|(base, shape)| {
            if shape.is_empty() { base } else { Descr::Subarray { base: Box::new(base), shape } }
        });
        let name = "[a-zé\u{17e}'\"\\\\ \u{200b}\n]{1,3}";
        let padding =
            (1..9_u64).prop_map(|size| (None, String::new(), Descr::scalar(DtypeKind::Void, size)));
        let named = (proptest::option::of(name), name, shaped)
            .prop_map(|(title, name, descr)| (title, name, descr));
        vec(prop_oneof![4 => named, 1 => padding], 1..5).prop_map(|fields| {
            let field =
                |(index, (title, name, descr)): (usize, (Option<String>, String, Descr))| {
                    let name = if name.is_empty() { name } else { format!("{name}{index}") };
                    Field { title, name, descr }
                };
            Descr::Struct(fields.into_iter().enumerate().map(field).collect())
        })
    })
}

/// Returns a file of zeros.
fn file(descr: &str, shape: &str) -> Vec<u8> {
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x03\0".to_vec();
    bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend([0; 4096]);
    bytes
}

fn read(descr: &str, options: ImportOptions) -> Result<Variable, FormatError> {
    NpyReader::new(&*file(descr, "(2,)"), options)?.variable("x")
}

fn plain(descr: &str) -> Variable {
    read(descr, ImportOptions::default()).unwrap_or_else(|error| panic!("{descr}: {error}"))
}

fn back(variable: &Variable) -> String {
    let plan = NpyPlan::new(variable, ExportOptions::default()).unwrap();
    assert_eq!(plan.losses, [""; 0]);
    plan.header.descr.to_string()
}

fn flow(variable: &Variable) -> String {
    variable.description.datatype.to_flow()
}

#[test]
fn every_dtype_of_the_table_converts_both_ways() {
    let truth = "{enum: {base: uint8, members: {\"false\": 0, \"true\": 1}}}";
    for (descr, eltype, elbyte, datatype) in [
        ("'|b1'", 2, 1, truth),
        ("'|i1'", 1, 1, "int8"),
        ("'<i2'", 1, 2, "int16"),
        ("'<i4'", 1, 4, "int32"),
        ("'<i8'", 1, 8, "int64"),
        ("'|u1'", 2, 1, "uint8"),
        ("'<u2'", 2, 2, "uint16"),
        ("'<u4'", 2, 4, "uint32"),
        ("'<u8'", 2, 8, "uint64"),
        ("'<f2'", 3, 2, "float16"),
        ("'<f4'", 3, 4, "float32"),
        ("'<f8'", 3, 8, "float64"),
        ("'<c8'", 4, 8, "{compound: [{r: float32}, {i: float32}]}"),
        ("'<c16'", 4, 16, "{compound: [{r: float64}, {i: float64}]}"),
        ("'|S5'", 0, 5, "{opaque: {size: 5, tag: text}}"),
        ("'<U3'", 0, 12, "{opaque: {size: 12, tag: utf-32le}}"),
        ("'|V6'", 0, 6, "{opaque: {size: 6}}"),
        ("'|V2'", 0, 2, "{opaque: {size: 2}}"),
        ("'<M8[ns]'", 1, 8, "int64"),
        ("'<m8[25s]'", 1, 8, "int64"),
        ("'<M8'", 1, 8, "int64"),
    ] {
        let variable = plain(descr);
        let element = ElementType::new(eltype, elbyte).unwrap();
        assert_eq!(variable.header, ra::Header::new(element, vec![2]).unwrap(), "{descr}");
        assert_eq!(flow(&variable), datatype);
        assert_eq!(variable.losses, [""; 0]);
        assert_eq!(back(&variable), descr);
    }
}

#[test]
fn structures_keep_names_padding_and_subarrays() {
    for (descr, size, datatype) in [
        (
            "[('a', '|i1'), ('', '|V7'), ('b', '<f8'), ('c', '<i2'), ('', '|V6')]",
            24,
            "{compound: [{a: int8}, {_pad0: {opaque: {size: 7}}}, {b: float64}, {c: int16}, \
             {_pad1: {opaque: {size: 6}}}]}",
        ),
        (
            "[('p', '<f4', (3, 2)), ('q', [('x', '<c8'), ('z', '|S3', (2,))], (2,)), ('h', '<f2')]",
            24 + 28 + 2,
            "{compound: [{p: {array: {base: float32, shape: [3, 2]}}}, {q: {array: {base: {compound: \
             [{x: {compound: [{r: float32}, {i: float32}]}}, {z: {array: {base: {opaque: {size: 3, \
             tag: text}}, shape: [2]}}}]}, shape: [2]}}}, {h: float16}]}",
        ),
        ("[('r', '<f4'), ('i', '<f4')]", 8, "{compound: [{r: float32}, {i: float32}]}"),
        (
            "[('café', '<i4'), ('žluť', '<U1')]",
            8,
            "{compound: [{café: int32}, {žluť: {opaque: {size: 4, tag: utf-32le}}}]}",
        ),
        // A void with the name of padding is not padding.
        (
            "[('_pad0', '|V2'), ('', '|V1')]",
            3,
            "{compound: [{_pad0: {opaque: {size: 2, tag: void}}}, {_pad1: {opaque: {size: 1}}}]}",
        ),
        (
            "[('_pad0', '<i2'), ('', '|V1')]",
            3,
            "{compound: [{_pad0: int16}, {_pad1: {opaque: {size: 1}}}]}",
        ),
    ] {
        let variable = plain(descr);
        let element = ElementType::new(0, size).unwrap();
        assert_eq!(variable.header.element(), element, "{descr}");
        assert_eq!(flow(&variable), datatype);
        assert_eq!(back(&variable), descr);
    }
}

#[test]
fn dropped_titles_and_missing_names_are_reported() {
    let variable = plain("[(('T', 'a'), '<f4'), ('', '<i2')]");
    assert_eq!(flow(&variable), "{compound: [{a: float32}, {f1: int16}]}");
    assert_eq!(
        variable.losses,
        ["the title `T` of the field `a` is dropped", "a field without a name is called `f1`"]
    );
    assert_eq!(back(&variable), "[('a', '<f4'), ('f1', '<i2')]");
}

#[test]
fn times_have_a_unit_and_a_fillvalue() {
    let units = |variable: &Variable| {
        let attributes = variable.description.attributes.iter();
        attributes.map(|one| (one.name.clone(), one.value.clone())).collect::<Vec<_>>()
    };
    let one = |name: &str, value: &str| vec![(name.to_owned(), Value::from(value))];
    let date = plain("'<M8[ns]'");
    let mut expected = one("units", "nanoseconds since 1970-01-01");
    expected.extend(one("calendar", "proleptic_gregorian"));
    assert_eq!(units(&date), expected);
    assert_eq!(back(&date), "'<M8[ns]'");
    let duration = plain("'<m8[25s]'");
    assert_eq!(units(&duration), one("units", "25 seconds"));
    for variable in [&date, &duration] {
        let storage = variable.description.storage.clone().unwrap();
        assert_eq!(storage.fillvalue, Some(Value::Int(i64::MIN)));
    }
    let nested = plain("[('a', [('t', '>M8[D]')]), ('d', '<m8[h]', (2,))]");
    let mut expected = one("a.t.units", "days since 1970-01-01");
    expected.extend(one("d.units", "hours"));
    assert_eq!(units(&nested), expected);
    assert_eq!(back(&nested), "[('a', [('t', '<M8[D]')]), ('d', '<m8[h]', (2,))]");
}

#[test]
fn fields_with_dots_keep_their_own_units() {
    let descr = "[('a.b', '<i8'), ('a', [('b', '<m8[s]'), ('c', '<i8')]), ('a.c', '<M8[D]')]";
    let variable = plain(descr);
    let attributes = variable.description.attributes.iter();
    let names: Vec<_> = attributes.map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a.b.units", "a\\.c.units"]);
    assert_eq!(back(&variable), descr);
}

fn variable(element: ElementType, dims: &[u64], datatype: Datatype) -> Variable {
    let extents = dims.iter().copied().map(Extent::Fixed);
    Variable {
        header: ra::Header::new(element, dims.to_vec()).unwrap(),
        description: Ndarray {
            name: "x".to_owned(),
            shape: extents.collect(),
            datatype,
            value: None,
            attributes: Vec::new(),
            storage: None,
        },
        losses: Vec::new(),
    }
}

#[test]
fn numbers_with_a_unit_are_not_durations() {
    let with = |units: &str, fillvalue: Option<i64>| {
        let mut variable = variable(ElementType::INT64, &[2], Datatype::Int64);
        variable.description.attributes.extend(Attribute::short("units", units));
        let fillvalue = fillvalue.map(Value::Int);
        variable.description.storage = Some(Storage { fillvalue, ..Storage::default() });
        let plan = NpyPlan::new(&variable, ExportOptions::default()).unwrap();
        (plan.header.descr.to_string(), plan.losses.len())
    };
    assert_eq!(with("seconds", None), ("'<i8'".to_owned(), 1));
    assert_eq!(with("seconds", Some(-1)), ("'<i8'".to_owned(), 2));
    assert_eq!(with("seconds", Some(i64::MIN)), ("'<m8[s]'".to_owned(), 0));
    assert_eq!(with("days since 1970-01-01", None), ("'<M8[D]'".to_owned(), 0));
    assert_eq!(with("days since 1970-01-01", Some(0)), ("'<i8'".to_owned(), 2));
    assert_eq!(with("days since 1900-01-01", None), ("'<i8'".to_owned(), 1));
    let of_calendar = |calendar: &str| {
        let mut variable = plain("'<M8[D]'");
        variable.description.attributes.retain(|one| one.name != "calendar");
        variable.description.attributes.extend(Attribute::short("calendar", calendar));
        NpyPlan::new(&variable, ExportOptions::default()).unwrap().header.descr.to_string()
    };
    for (calendar, descr) in [("standard", "'<M8[D]'"), ("noleap", "'<i8'"), ("lunar", "'<i8'")] {
        assert_eq!(of_calendar(calendar), descr);
    }
}

#[test]
fn a_single_text_is_a_string_and_empty_text_has_a_nul() {
    let read = |bytes: &[u8]| {
        let mut file = file("'|S4'", "()");
        file.truncate(file.len() - 4096);
        file.extend(bytes);
        let mut reader = NpyReader::new(&*file, ImportOptions::default()).unwrap();
        let mut data = Vec::new();
        reader.read_to_end(&mut data).unwrap();
        assert_eq!(data, bytes);
        reader.variable("x").unwrap()
    };
    let text = read("abü".as_bytes());
    assert_eq!(text.description.datatype, Datatype::String);
    assert_eq!(text.description.shape, []);
    assert_eq!(text.header, ra::Header::new(ElementType::UINT8, vec![4]).unwrap());
    let plan = NpyPlan::new(&text, ExportOptions::default()).unwrap();
    assert_eq!((back(&text).as_str(), &*plan.header.shape), ("'|S4'", &[][..]));
    let bytes = read(b"ab\xff\xff");
    assert_eq!(flow(&bytes), "{opaque: {size: 4, tag: text}}");
    assert!(bytes.header.dims().is_empty());

    let mut empty = variable(ElementType::UINT8, &[0], Datatype::String);
    empty.description.shape = Vec::new();
    let mut written = Vec::new();
    let plan = NpyPlan::new(&empty, ExportOptions::default()).unwrap();
    plan.write(&mut written, std::io::empty()).unwrap();
    assert_eq!(plan.header.descr.to_string(), "'|S1'");
    assert_eq!(written.len(), usize::try_from(plan.file_len()).unwrap());
    assert_eq!(NpyReader::new(&*written, ImportOptions::default()).unwrap().finish().unwrap(), 0);
}

#[test]
fn bfloat16_is_read_on_request() {
    for descr in ["'<V2'", "'|V2'", "'>V2'"] {
        let variable =
            read(descr, ImportOptions { bfloat16: true, ..ImportOptions::default() }).unwrap();
        assert_eq!(variable.header.element(), ElementType::BFLOAT16);
        assert_eq!(back(&variable), "'<V2'");
        assert_eq!(plain(descr).header.element(), ElementType::new(0, 2).unwrap());
    }
    let mut big = file("'>V2'", "(1,)");
    let end = big.len() - 4096;
    big[end] = 0x3f;
    for (keep, descr, bytes) in [(false, "'<V2'", [0, 0x3f]), (true, "'>V2'", [0x3f, 0])] {
        let options =
            ImportOptions { keep_endian: keep, bfloat16: true, ..ImportOptions::default() };
        let mut reader = NpyReader::new(&*big, options).unwrap();
        let mut data = Vec::new();
        reader.read_to_end(&mut data).unwrap();
        assert_eq!(data, bytes);
        assert_eq!(back(&reader.variable("x").unwrap()), descr);
    }
    let other =
        read("'<i2'", ImportOptions { bfloat16: true, ..ImportOptions::default() }).unwrap();
    assert_eq!(other.header.element(), ElementType::INT16);
}

#[test]
fn big_endian_is_swapped_or_kept() {
    let keep = ImportOptions { keep_endian: true, ..ImportOptions::default() };
    for descr in ["'>i2'", "'>u4'", "'>f2'", "'>f8'", "'>c8'", "'>M8[s]'", "'>m8[s]'"] {
        let swapped = plain(descr);
        assert_eq!(swapped.header.flags(), ra::Flags::NONE);
        assert_eq!(back(&swapped), descr.replace('>', "<"));
        let kept = read(descr, keep).unwrap();
        assert_eq!(kept.header.flags(), ra::Flags::BIG_ENDIAN);
        assert_eq!(kept.description.storage.clone().unwrap().endian, Some(Endian::Big));
        assert_eq!(back(&kept), descr);
    }
    // Text and structures are swapped even if the option says to keep the order.
    for descr in ["'>U2'", "[('a', '>i4')]", "'<i4'", "'|u1'", "'|S2'", "'>V2'"] {
        assert_eq!(read(descr, keep).unwrap().header.flags(), ra::Flags::NONE, "{descr}");
    }
}

#[test]
fn arrays_without_a_counterpart_are_refused_with_advice() {
    for (descr, reason) in [
        ("'|O'", "Python objects"),
        ("[('a', [('b', '|O', (2,))])]", "Python objects"),
        ("'<f16'", "long double"),
        ("'<f12'", "long double"),
        ("'<c32'", "long doubles"),
        ("'<c24'", "long doubles"),
        ("'<f1'", "8-bit float"),
        ("'|f1'", "8-bit float"),
        ("'<i16'", "integers without a NumPy type"),
        ("'|S0'", "no bytes"),
        ("'<U0'", "no bytes"),
        ("'|V0'", "no bytes"),
        ("[]", "no bytes"),
        ("[('', '|V0')]", "no bytes"),
        ("[('a', '|S0'), ('b', '<i4')]", "no bytes"),
        ("[('a', []), ('b', '<i4')]", "no bytes"),
        ("[('a', '<i4', (0,)), ('b', '<i4')]", "no bytes"),
        ("[('a', '<f16')]", "the dtype of the field `a` is `'<f16'`"),
        ("('<f4', (2,))", "subarray"),
    ] {
        let error = read(descr, ImportOptions::default()).unwrap_err();
        let FormatError::NoCounterpart { reason: found, .. } = error else {
            panic!("{descr}: {error}")
        };
        assert!(found.contains(reason), "{descr}: {found}");
    }
    assert!(
        NpyReader::new(&*file("'<f8'", "()"), ImportOptions::default())
            .unwrap()
            .variable("a/b")
            .is_err()
    );
    assert!(
        NpyReader::new(&*file("'<f8'", "()"), ImportOptions::default())
            .unwrap()
            .variable("")
            .is_err()
    );
}

#[test]
fn elements_without_a_dtype_are_bytes_only_on_request() {
    let opaque = |size, tag: &str| Datatype::Opaque { size, tag: Some(tag.to_owned()) };
    for (eltype, elbyte, datatype) in [
        (1, 16, Datatype::Int128),
        (2, 16, Datatype::UInt128),
        (3, 16, Datatype::Float128),
        (4, 4, opaque(4, "complex32")),
        (1, 3, opaque(3, "int24")),
        (3, 3, opaque(3, "float24")),
        (0, 12, Datatype::Array { base: Box::new(Datatype::Float32), shape: vec![3] }),
    ] {
        let element = ElementType::new(eltype, elbyte).unwrap();
        let variable = variable(element, &[2], datatype);
        let error = NpyPlan::new(&variable, ExportOptions::default()).unwrap_err().to_string();
        assert!(error.contains("NumPy has no dtype"), "{error}");
        let plan =
            NpyPlan::new(&variable, ExportOptions { as_void: true, ..ExportOptions::default() })
                .unwrap();
        assert_eq!(plan.header.descr.to_string(), format!("'|V{elbyte}'"));
    }
    let nested = Datatype::Compound(vec![("a".to_owned(), Datatype::Int128)]);
    let nested = variable(ElementType::new(0, 16).unwrap(), &[2], nested);
    assert!(NpyPlan::new(&nested, ExportOptions::default()).is_err());
    let plan =
        NpyPlan::new(&nested, ExportOptions { as_void: true, ..ExportOptions::default() }).unwrap();
    assert_eq!(plan.header.descr.to_string(), "[('a', '|V16')]");
}

#[test]
fn other_ways_to_describe_the_same_elements() {
    let pair = |part: &Datatype| {
        Datatype::Compound(vec![("re".to_owned(), part.clone()), ("im".to_owned(), part.clone())])
    };
    let truth = |base, words: [&str; 2]| Datatype::Enum {
        base,
        members: vec![(words[0].to_owned(), 0), (words[1].to_owned(), 1)],
    };
    let opaque = |size, tag: Option<&str>| Datatype::Opaque { size, tag: tag.map(str::to_owned) };
    for (element, datatype, descr) in [
        (ElementType::COMPLEX64, Datatype::Complex64, "'<c8'"),
        (ElementType::COMPLEX128, pair(&Datatype::Float64), "'<c16'"),
        (ElementType::FLOAT16, opaque(2, Some("float16")), "'<f2'"),
        (ElementType::BFLOAT16, opaque(2, Some("bfloat16")), "'<V2'"),
        (ElementType::BFLOAT16, Datatype::BFloat16, "'<V2'"),
        (ElementType::INT8, truth(Some(Integer::Int8), ["FALSE", "TRUE"]), "'|b1'"),
        (ElementType::BOOL, truth(None, ["false", "true"]), "'|b1'"),
        (ElementType::new(0, 1).unwrap(), truth(None, ["false", "true"]), "'|b1'"),
        (ElementType::new(0, 6).unwrap(), opaque(6, Some("utf-32le")), "'|V6'"),
        (ElementType::new(0, 6).unwrap(), opaque(6, Some("image/png")), "'|V6'"),
    ] {
        assert_eq!(back(&variable(element, &[2], datatype)), descr);
    }
}

#[test]
fn descriptions_that_contradict_the_header_are_refused() {
    for (element, datatype) in [
        (ElementType::INT32, Datatype::Float32),
        (ElementType::INT32, Datatype::Int64),
        (ElementType::new(0, 4).unwrap(), Datatype::Int32),
        (ElementType::new(0, 5).unwrap(), Datatype::Opaque { size: 4, tag: None }),
        (ElementType::UINT8, Datatype::String),
    ] {
        let error = NpyPlan::new(&variable(element, &[2], datatype), ExportOptions::default());
        assert!(error.unwrap_err().to_string().contains("make both agree"));
    }
    let mut other = variable(ElementType::INT8, &[2], Datatype::Int8);
    other.description.shape.clear();
    assert!(NpyPlan::new(&other, ExportOptions::default()).is_err());
    let text = Datatype::Compound(vec![("a".to_owned(), Datatype::String)]);
    let text = variable(ElementType::new(0, 4).unwrap(), &[2], text);
    assert!(NpyPlan::new(&text, ExportOptions::default()).is_err());
}

#[test]
fn encoded_and_swapped_data_is_refused() {
    let mut bytes = ra::Header::new(ElementType::INT32, vec![2]).unwrap().encode();
    bytes[8] = 2;
    let mut encoded = variable(ElementType::INT32, &[2], Datatype::Int32);
    encoded.header = ra::Header::parse(&bytes).unwrap();
    let error = NpyPlan::new(&encoded, ExportOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("decode it first"), "{error}");
    let compound = Datatype::Compound(vec![("a".to_owned(), Datatype::Int32)]);
    let mut swapped = variable(ElementType::new(0, 4).unwrap(), &[2], compound);
    swapped.header = swapped.header.big_endian();
    let error = NpyPlan::new(&swapped, ExportOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("make the data little-endian first"), "{error}");
}

#[test]
fn dropped_metadata_is_reported() {
    let members = vec![("off".to_owned(), 0), ("on".to_owned(), 1)];
    let datatype = Datatype::Enum { base: Some(Integer::UInt8), members };
    let mut variable = variable(ElementType::UINT8, &[2], datatype);
    variable.description.attributes.extend(Attribute::short("units", "m"));
    let fillvalue = Some(Value::Int(0));
    variable.description.storage = Some(Storage { fillvalue, ..Storage::default() });
    let plan = NpyPlan::new(&variable, ExportOptions::default()).unwrap();
    assert_eq!(plan.header.descr.to_string(), "'|u1'");
    assert_eq!(
        plan.losses,
        [
            "the names `off`, `on` of the enum are dropped",
            "the attribute `units` is dropped",
            "`storage.fillvalue` is dropped",
        ]
    );
}

#[test]
fn orders_become_fortran_order_as_numpy_has_it() {
    let order = |shape: &str, fortran: &str| {
        let text = format!("{{'descr': '|u1', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend(text.as_bytes());
        let variable =
            NpyReader::new(&*bytes, ImportOptions::default()).unwrap().variable("x").unwrap();
        let plan = NpyPlan::new(&variable, ExportOptions::default()).unwrap();
        let written = NpyHeader::read(&mut &*plan.header.encode()).unwrap();
        assert_eq!(written.shape, NpyHeader::read(&mut &*bytes).unwrap().shape);
        let dims = variable.header.dims().to_vec();
        (variable.description.order(), dims, written.fortran_order)
    };
    assert_eq!(order("(2, 3)", "False"), (Order::Row, vec![3, 2], false));
    assert_eq!(order("(2, 3)", "True"), (Order::Column, vec![2, 3], true));
    // If an array is both row-major and column-major, NumPy calls it row-major.
    assert_eq!(order("(1, 3)", "True"), (Order::Column, vec![1, 3], false));
    assert_eq!(order("(2, 0)", "True"), (Order::Column, vec![2, 0], false));
    for fortran in ["True", "False"] {
        assert_eq!(order("(3,)", fortran), (Order::Column, vec![3], false));
        assert_eq!(order("()", fortran), (Order::Column, vec![], false));
    }
}

fn read_whole(file: &[u8]) -> Result<(Variable, Vec<u8>), FormatError> {
    let mut reader = NpyReader::new(file, ImportOptions::default())?;
    let variable = reader.variable("x")?;
    let mut data = Vec::new();
    reader.read_to_end(&mut data)?;
    assert_eq!(data.len(), usize::try_from(variable.header.data_len()).unwrap());
    Ok((variable, data))
}

fn filled_file(descr: Descr, fortran_order: bool, shape: &[u64]) -> Vec<u8> {
    let size = shape.iter().product::<u64>() * descr.size().unwrap();
    let mut file = NpyHeader::new(descr, fortran_order, shape.to_vec()).encode();
    file.extend((0..=255).cycle().take(usize::try_from(size).unwrap()));
    file
}

proptest! {
    #[test]
    fn a_rewritten_array_is_the_same(
        descr in any_descr(), fortran_order in any::<bool>(), shape in vec(0..4_u64, 0..4),
    ) {
        let first = filled_file(descr, fortran_order, &shape);
        let (variable, data) = read_whole(&first).unwrap();
        let mut second = Vec::new();
        write(&mut second, &variable, &*data, ExportOptions::default()).unwrap();
        let (mut again, data_again) = read_whole(&second).unwrap();
        // Titles are lost on the first conversion.
        again.losses.clone_from(&variable.losses);
        // If both orders are the same, NumPy prefers row-major.
        if NpyHeader::read(&mut &*second).unwrap().fortran_order == fortran_order {
            prop_assert_eq!(again, variable);
        } else {
            prop_assert_eq!(again.description.datatype, variable.description.datatype);
        }
        prop_assert_eq!(data_again, data);
    }

    #[test]
    fn no_truncation_panics_and_each_error_has_its_offset(
        descr in any_descr(), shape in vec(1..3_u64, 0..3),
    ) {
        let whole = filled_file(descr, false, &shape);
        for len in 0..whole.len() {
            match read_whole(&whole[..len]) {
                Err(FormatError::Malformed { offset, .. }) => prop_assert_eq!(offset, u64::try_from(len).unwrap()),
                other => prop_assert!(false, "{} bytes: {:?}", len, other),
            }
        }
        prop_assert!(read_whole(&whole).is_ok());
    }

    #[test]
    fn no_changed_byte_panics(descr in any_descr(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = filled_file(descr, false, &[2]);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok((variable, data)) = read_whole(&bytes) {
            let mut again = Vec::new();
            if write(&mut again, &variable, &*data, ExportOptions::default()).is_ok() {
                prop_assert_eq!(read_whole(&again).unwrap().1, data);
            }
        }
    }
}

#[test]
fn bytes_after_the_data_are_counted() {
    let mut bytes = filled_file(Descr::scalar(DtypeKind::Int, 4), false, &[3]);
    assert_eq!(NpyReader::new(&*bytes, ImportOptions::default()).unwrap().finish().unwrap(), 0);
    bytes.extend([0; 7]);
    assert_eq!(NpyReader::new(&*bytes, ImportOptions::default()).unwrap().finish().unwrap(), 7);
    let mut reader = NpyReader::new(&*bytes, ImportOptions::default()).unwrap();
    reader.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(reader.into_inner(), [0; 7]);
    bytes.truncate(bytes.len() - 8);
    let error = NpyReader::new(&*bytes, ImportOptions::default()).unwrap().finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 139: expected 12 bytes of data, found the end of the file after 11"
    );
}

#[test]
fn data_of_another_length_is_not_written() {
    let bytes = filled_file(Descr::scalar(DtypeKind::Int, 4), false, &[3]);
    let (variable, data) = read_whole(&bytes).unwrap();
    for wrong in [&data[..11], &[&*data, b"x"].concat()] {
        let error = write(Vec::new(), &variable, wrong, ExportOptions::default()).unwrap_err();
        assert!(matches!(error, FormatError::Malformed { .. }), "{error}");
    }
}

#[test]
fn a_false_length_costs_no_memory() {
    let text = |shape: &str, descr: &str| {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend([0; 20]);
        read_whole(&bytes).unwrap_err().to_string()
    };
    let cut = "found the end of the file after 20";
    assert!(text("(1000000000000,)", "'<f8'").contains(cut));
    assert!(text("(1000000,)", "[('a', '>f8'), ('b', '|V2000000000')]").contains(cut));
    assert!(text("()", "'|S2000000000'").contains(cut));
    assert!(text("()", "'|S60000'").contains(cut));
    let overflow = text("(9223372036854775807, 3)", "'<f8'");
    assert!(
        overflow.starts_with("byte 60: expected a shape whose data fits 64 bits"),
        "{overflow}"
    );
    let rank = text(&format!("({})", "1, ".repeat(65)), "'<f8'");
    assert!(rank.contains("byte 60"), "{rank}");
}
