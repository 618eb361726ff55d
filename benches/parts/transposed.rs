//! Arrays in another order than that of the file: used without a copy, copied into the other order, and written from a
//! row-major array.

use divan::Bencher;
use divan::counter::BytesCount;
use ndarray::{Array2, ArrayView2, Ix2};
use ra_pack::ra::{RawArray, read_slice, view};

const ROWS: usize = 2048;
const COLUMNS: usize = 1024;

/// Returns the file of a matrix of 8 MiB, and the matrix.
fn file() -> (Vec<u8>, Array2<f32>) {
    let matrix = Array2::from_shape_fn((ROWS, COLUMNS), |(row, column)| {
        f32::from(u16::try_from(row).unwrap()) + f32::from(u16::try_from(column).unwrap()) / 4096.0
    });
    let mut bytes = Vec::new();
    RawArray::from(&matrix).write_to(&mut bytes).unwrap();
    (bytes, matrix)
}

fn viewed(file: &[u8]) -> ArrayView2<'_, f32> {
    view::<f32>(file).unwrap().into_dimensionality::<Ix2>().unwrap()
}

#[divan::bench]
fn view_as_it_lies(bencher: Bencher<'_, '_>) {
    let (file, matrix) = file();
    assert_eq!(viewed(&file), matrix);
    bencher.bench(|| viewed(divan::black_box(&file)).dim());
}

#[divan::bench(max_time = 2)]
fn copy_into_the_order_of_c(bencher: Bencher<'_, '_>) {
    let (file, matrix) = file();
    let copy = || viewed(divan::black_box(&file)).as_standard_layout().into_owned();
    assert!(copy().is_standard_layout() && copy() == matrix);
    bencher.counter(BytesCount::of_slice(&file)).bench(copy);
}

#[divan::bench(max_time = 2)]
fn copy_out_of_the_order_of_c(bencher: Bencher<'_, '_>) {
    let (file, matrix) = file();
    bencher
        .counter(BytesCount::of_slice(&file))
        .bench(|| RawArray::from(divan::black_box(&matrix)));
}

#[divan::bench(max_time = 2)]
fn read_every_fourth_column(bencher: Bencher<'_, '_>) {
    let (file, matrix) = file();
    let (header, data) = {
        let header = ra_pack::ra::Header::parse(&file).unwrap();
        let start = usize::try_from(header.header_len()).unwrap();
        (header, &file[start..])
    };
    let length = u64::try_from(file.len()).unwrap();
    let columns = ndarray::s![.., ..;4];
    let read = || {
        read_slice::<f32>(&header, length, columns.as_ref(), |at, out| {
            let at = usize::try_from(at).unwrap();
            out.copy_from_slice(&data[at..at + out.len()]);
            Ok(())
        })
        .unwrap()
    };
    assert_eq!(read(), matrix.slice(columns).into_dyn());
    bencher.counter(BytesCount::new(file.len() / 4)).bench(read);
}
