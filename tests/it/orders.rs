//! All ways of reading use the same order of indices, for every order in the description and every container.

use std::fmt::Debug;

use ndarray::{Array3, ArrayD, SliceInfo, SliceInfoElem};
use num_complex::Complex;
use ra_pack::convert::ArrayFormat;
use ra_pack::convert::{GetOptions, get_to};
use ra_pack::ra::{self, ElementType, Header, parse_slice};
use ra_pack::read::{CornersOptions, Statistics, StatisticsOptions};
use ra_pack::{AnyArray, Pack, PackedArray, RawArray};

use crate::experiment::Experiment;
use crate::library::Packs;

const SHAPE: [usize; 3] = [2, 3, 4];

/// Slices of the shape and of its reverse.
const SLICES: [&str; 7] = ["...", "1", "0, 1:", ":, 2, ::-1", "::-1, 1:, ::-2", "1, 2, 1", "2:"];

/// Returns the expected elements by index.
fn meant() -> ArrayD<u8> {
    let number = |(i, j, k)| u8::try_from(100 * i + 10 * j + k).unwrap();
    Array3::from_shape_fn((2, 3, 4), number).into_dyn()
}

/// Returns the elements by the indices of the header, column-major.
fn by_header(dims: &[usize], data: &[u8]) -> ArrayD<u8> {
    let reversed: Vec<usize> = dims.iter().rev().copied().collect();
    ArrayD::from_shape_vec(reversed, data.to_vec()).unwrap().reversed_axes()
}

fn wide(numbers: &[usize]) -> Vec<u64> {
    numbers.iter().map(|&number| number.try_into().unwrap()).collect()
}

fn part(whole: &ArrayD<u8>, slice: &str) -> (Vec<SliceInfoElem>, ArrayD<u8>) {
    let elements = parse_slice(slice, &wide(whole.shape())).unwrap();
    let info: SliceInfo<_, ndarray::IxDyn, ndarray::IxDyn> =
        SliceInfo::try_from(&*elements).unwrap();
    let part = whole.slice(info).to_owned();
    (elements, part)
}

/// Returns an array of unknown type as one of type `T`.
fn typed<T: ra::Element>(array: &AnyArray) -> ArrayD<T> {
    let mut file = Vec::new();
    array.write_to(&mut file).unwrap();
    ArrayD::try_from(RawArray::<T>::from_bytes(&file).unwrap()).unwrap()
}

/// Checks that every way to read an array gives these elements.
fn all_ways_give<T: ra::Element + PartialEq + Debug>(
    array: &PackedArray,
    whole: &ArrayD<u8>,
    of: fn(u8) -> T,
    slices: &[&str],
    context: &str,
) {
    let slice_of = |text: &str| Some(text.to_owned());
    let values = |part: &ArrayD<u8>| part.mapv(of);
    let extents = wide(whole.shape());
    assert_eq!(array.shape().unwrap(), extents, "{context}");
    let axes: Vec<u64> = array.axes().unwrap().iter().map(|axis| axis.extent).collect();
    assert_eq!(axes, extents, "{context}");
    assert_eq!(array.read::<T>().unwrap(), values(whole), "{context}");
    let any = array.read_any().unwrap();
    assert_eq!(any.dims(), extents, "{context}");
    assert_eq!(typed::<T>(&any), values(whole), "{context}");
    // The elements in the file are in the order of the array in memory.
    let mut out = vec![of(0); whole.len()];
    array.read_into(&mut out).unwrap();
    let read = array.read::<T>().unwrap();
    assert_eq!(Some(&*out), read.as_slice_memory_order(), "{context}");
    for text in slices {
        let context = format!("{context} [{text}]");
        let (slice, expected) = part(whole, text);
        assert_eq!(array.slice::<T>(&slice).unwrap(), values(&expected), "{context}");
        assert_eq!(typed::<T>(&array.slice_any(&slice).unwrap()), values(&expected), "{context}");
        let options =
            CornersOptions { slice: slice_of(text), threshold: 0, ..CornersOptions::default() };
        let corners = array.corners(&options).unwrap();
        let bytes: Vec<T> = expected.iter().copied().map(of).collect();
        assert_eq!(corners.shape, wide(expected.shape()), "{context}");
        assert_eq!(corners.bytes, bytemuck::cast_slice::<T, u8>(&bytes), "{context}");
        let slice = slice_of(text);
        let options = StatisticsOptions { slice, ..StatisticsOptions::default() };
        if let Statistics::Numbers(found) = array.statistics(&options).unwrap() {
            let numbers: Vec<f64> = expected.iter().copied().map(f64::from).collect();
            let least = numbers.iter().copied().reduce(f64::min);
            assert_eq!(found.count, u64::try_from(expected.len()).unwrap(), "{context}");
            assert_eq!(found.min.map(|min| min.to_string().parse().unwrap()), least, "{context}");
            let sum: f64 = numbers.iter().sum();
            let count = f64::from(u32::try_from(numbers.len()).unwrap());
            let far = found.mean.unwrap_or_default() * count - sum;
            assert!(far.abs() < 1e-6, "{context}");
        }
    }
}

/// Checks arrays of one type in every order and every kind of pack.
fn one_order_for_all<T: ra::Element + PartialEq + Debug + Send>(
    datatype: &str,
    of: fn(u8) -> T,
    slices: &[&str],
) {
    let meant = meant();
    let rows: Vec<u8> = meant.iter().copied().collect();
    let columns: Vec<u8> = meant.t().iter().copied().collect();
    let reversed: Vec<usize> = SHAPE.iter().rev().copied().collect();
    let orders = [
        ("column", &SHAPE[..], columns),
        ("row", &*reversed, rows.clone()),
        ("row-unreversed", &SHAPE[..], rows),
    ];
    let mut experiment = Experiment::new();
    for (order, dims, data) in &orders {
        let elements: Vec<T> = data.iter().copied().map(of).collect();
        let mut bytes = bytemuck::cast_slice::<T, u8>(&elements).to_vec();
        let plain = Header::new(ElementType::of::<T>(), wide(dims)).unwrap();
        experiment =
            experiment.file(&format!("{order}.ra"), [plain.encode(), bytes.clone()].concat());
        let text = format!("{{shape: [2, 3, 4], type: {datatype}, storage: {{order: {order}}}}}");
        experiment =
            experiment.file(&format!("{order}.yaml"), format!("ndarrays:\n  {order}: {text}\n"));
        // The same in the other byte order, if the element type has one.
        if let Some(width) = plain.element().swap_width() {
            bytes.chunks_mut(width.try_into().unwrap()).for_each(<[u8]>::reverse);
            let file = [plain.big_endian().encode(), bytes].concat();
            experiment = experiment
                .file(&format!("{order}-big.ra"), file)
                .file(&format!("{order}-big.yaml"), format!("ndarrays:\n  {order}-big: {text}\n"));
        }
    }
    let packs = Packs::of(experiment);
    packs.each(|kind, pack| {
        for (order, dims, data) in &orders {
            for suffix in ["", "-big"] {
                let name = format!("{order}{suffix}.ra");
                let Ok(array) = pack.array(&name) else { continue };
                let context = format!("{kind} {name} {datatype}");
                let by_header = by_header(dims, data);
                all_ways_give(&array, &by_header, of, slices, &format!("{context} by its header"));
                let in_shape_order = array.clone().in_shape_order().unwrap();
                all_ways_give(&in_shape_order, &meant, of, slices, &context);
                // Raw elements are in the order of the file.
                let raw = in_shape_order.read_raw::<T>().unwrap();
                assert_eq!(raw.dims(), wide(dims), "{context}");
                assert_eq!(raw.data(), array.read_raw::<T>().unwrap().data(), "{context}");
                let of_header = [by_header.mapv(of)];
                let each: Vec<ArrayD<T>> =
                    pack.read_each(&[&name], None, |array| array.read()).unwrap();
                assert_eq!(each, of_header, "{context}");
                let of_shape: Vec<ArrayD<T>> =
                    pack.read_each(&[&name], None, |array| array.in_shape_order()?.read()).unwrap();
                assert_eq!(of_shape, [meant.mapv(of)], "{context}");
            }
        }
    });
    // SAFETY: no other program changes the archive.
    #[expect(unsafe_code, reason = "mapping a file needs a promise")]
    let mapped = unsafe { Pack::map(packs.path("stored.zip")) }.unwrap();
    for (order, dims, data) in &orders {
        let array = mapped.array(&format!("{order}.ra")).unwrap();
        assert_eq!(array.view::<T>().unwrap(), by_header(dims, data).mapv(of), "{order}");
        let array = array.in_shape_order().unwrap();
        assert_eq!(array.view::<T>().unwrap(), meant.mapv(of), "{order}");
    }
}

#[test]
#[ignore = "slow"]
fn every_way_to_read_an_array_uses_the_same_order_of_indices() {
    let few = &["::-1, 1:, ::-2"];
    one_order_for_all::<i16>("int16", i16::from, &SLICES);
    one_order_for_all::<f64>("float64", f64::from, few);
    one_order_for_all::<u128>("uint128", u128::from, few);
    let complex = |number| Complex::new(f32::from(number), -f32::from(number));
    one_order_for_all::<Complex<f32>>("complex64", complex, few);
    let opaque = "{opaque: {size: 3, tag: rgb}}";
    one_order_for_all::<[u8; 3]>(opaque, |number| [number, 1, number], few);
}

/// The command uses the order of the shape for every order of the file.
#[test]
fn slices_of_the_command_are_in_the_order_of_the_shape() {
    let meant = meant();
    let rows: Vec<u8> = meant.iter().copied().collect();
    let mut experiment = Experiment::new();
    for (order, dims, data) in [
        ("column", [2, 3, 4], meant.t().iter().copied().collect()),
        ("row", [4, 3, 2], rows.clone()),
        ("row-unreversed", [2, 3, 4], rows),
    ] {
        let text = format!("{{shape: [2, 3, 4], type: uint8, storage: {{order: {order}}}}}");
        experiment = experiment
            .array(&format!("{order}.ra"), crate::experiment::UINT8, &dims, &data)
            .file(&format!("{order}.yaml"), format!("ndarrays:\n  {order}: {text}\n"));
    }
    let packs = Packs::of(experiment);
    for kind in ["stored.zip", "deflated.zip", "plain.tar.zst"] {
        for order in ["column", "row", "row-unreversed"] {
            for text in SLICES {
                let context = format!("{kind} {order} [{text}]");
                let (_, expected) = part(&meant, text);
                let got = |format| {
                    let slice = Some(text.to_owned());
                    let options =
                        GetOptions { slice, format: Some(format), ..GetOptions::default() };
                    let mut out = Vec::new();
                    get_to(packs.path(kind), &format!("{order}.ra"), &mut out, &options).unwrap();
                    out
                };
                let json: serde_json::Value =
                    serde_json::from_slice(&got(ArrayFormat::Json)).unwrap();
                assert_eq!(
                    numbers(&json),
                    expected.iter().copied().collect::<Vec<_>>(),
                    "{context}"
                );
                // The file is column-major: its dims are the reversed shape unless the order is column.
                let file = RawArray::<u8>::from_bytes(&got(ArrayFormat::Ra)).unwrap();
                let file = ArrayD::try_from(file).unwrap();
                let file = if order == "column" { file } else { file.reversed_axes() };
                assert_eq!(file, expected, "{context}");
            }
        }
    }
}

/// Returns all numbers in nested lists.
fn numbers(json: &serde_json::Value) -> Vec<u8> {
    match json {
        serde_json::Value::Array(list) => list.iter().flat_map(numbers).collect(),
        number => vec![number.as_u64().unwrap().try_into().unwrap()],
    }
}
