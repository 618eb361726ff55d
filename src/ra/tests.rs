//! Tests of complete files: files as other implementations write them, made by hand, and properties.

use half::{bf16, f16};
use ndarray::{ArrayD, Axis, IxDyn, ShapeBuilder, SliceInfoElem, array, s};
use num_complex::Complex;
use proptest::prelude::*;

use super::*;
use crate::digest::{Algorithm, Hasher};

/// Returns a file with these header fields, unchecked.
fn file(fields: &[u64], data: &[u8]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    file.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
    file.extend_from_slice(data);
    file
}

fn kind(file: &[u8]) -> DecodeErrorKind {
    decode(file).unwrap_err().kind
}

/// Returns the array of the RawArray paper: the k-th element is k - i/k.
fn paper() -> RawArray<Complex<f32>> {
    let data = (0_u8..12).map(|k| Complex::new(f32::from(k), -1.0 / f32::from(k))).collect();
    RawArray::new(vec![3, 4], data).unwrap()
}

fn written<T: Element>(array: &RawArray<T>) -> Vec<u8> {
    let mut file = Vec::new();
    array.write_to(&mut file).unwrap();
    file
}

#[test]
fn the_array_of_the_paper_has_the_published_digest() {
    let mut hasher = Hasher::new(Algorithm::Md5);
    hasher.update(&written(&paper()));
    assert_eq!(hasher.finish().to_string(), "1dd9f98a0d57ec3c4d8ad50343bd20cd");
}

#[test]
fn an_lz4_block_decodes_to_exactly_the_data() {
    let data: Vec<u8> = [1_u16, 2, 3].repeat(100).iter().flat_map(|v| v.to_le_bytes()).collect();
    let block = lz4_flex::block::compress(&data);
    let size = block.len().try_into().unwrap();
    let whole = file(&[2, 2, 2, size, 2, 3, 100], &[&block[..], b"meta"].concat());
    let decoded = decode(&whole).unwrap();
    assert_eq!(decoded.encoding, Encoding::Lz4);
    assert_eq!(*decoded.data, *bytemuck::cast_slice::<u16, u8>(&[1, 2, 3].repeat(100)));
    assert_eq!(decoded.metadata, b"meta");
    assert_eq!(decoded.header.decoded().encode()[..48], file(&[0, 2, 2, 600, 2], b"")[..48]);

    let array = RawArray::<u16>::read_from(whole.as_slice()).unwrap();
    assert_eq!((array.data(), array.metadata()), (&[1, 2, 3].repeat(100)[..], &b"meta"[..]));
    assert_eq!(RawArray::<u16>::from_bytes(&whole).unwrap(), array);

    let other_len = file(&[2, 2, 2, size, 2, 3, 99], &block);
    assert!(matches!(kind(&other_len), DecodeErrorKind::Encoding { expected: 594, .. }));
}

#[test]
fn an_lz4_block_may_be_longer_than_its_data() {
    // Sixteen literals: a token of one byte, and a length of one byte.
    let mut block = vec![0xf0, 1];
    block.extend(0..16);
    let decoded = file(&[2, 2, 1, 18, 1, 16], &block);
    assert_eq!(decode(&decoded).unwrap().data.len(), 16);
    let empty = file(&[2, 2, 1, 1, 1, 0], &[0]);
    assert_eq!(decode(&empty).unwrap().encoding, Encoding::Lz4);
}

#[test]
fn a_big_endian_lz4_block_is_swapped_after_decoding() {
    let data: Vec<u8> = (0..64_u32).flat_map(u32::to_be_bytes).collect();
    let block = lz4_flex::block::compress(&data);
    let whole = file(&[3, 2, 4, block.len().try_into().unwrap(), 1, 64], &block);
    assert_eq!(RawArray::<u32>::from_bytes(&whole).unwrap().data(), (0..64).collect::<Vec<_>>());
}

#[test]
fn leb128_of_julia_is_read_with_its_raw_size() {
    // 1, 0, -2, -70000, 300 in zigzag code: 8 bytes for 40 bytes of elements.
    let coded = [2, 0, 3, 0xdf, 0xc5, 0x08, 0xd8, 0x04];
    let whole = file(&[2, 1, 8, 40, 1, 5], &coded);
    let decoded = decode(&whole).unwrap();
    assert_eq!((decoded.encoding, decoded.metadata), (Encoding::Leb128, &b""[..]));
    let array = RawArray::<i64>::from_bytes(&whole).unwrap();
    assert_eq!(array.data(), [1, 0, -2, -70000, 300]);

    let longer = file(&[2, 2, 1, 5, 1, 5], &[0, 1, 127, 0x80, 1, 0xff, 1]);
    assert_eq!(RawArray::<u8>::from_bytes(&longer).unwrap().data(), [0, 1, 127, 128, 255]);
    let truth = file(&[2, 5, 1, 3, 1, 3], &[1, 0, 1]);
    assert_eq!(decode(&truth).unwrap().encoding, Encoding::Leb128);
    let other_size = file(&[2, 1, 8, 8, 1, 5], &coded);
    assert!(matches!(kind(&other_size), DecodeErrorKind::Encoding { expected: 40, size: 8, .. }));
}

#[test]
fn packed_bits_become_one_byte_each() {
    let chunks = [[0b101_u64, 1].map(u64::to_le_bytes).concat(), b"meta".to_vec()].concat();
    let whole = file(&[6, 5, 8, 16, 2, 5, 13], &chunks);
    let decoded = decode(&whole).unwrap();
    assert_eq!((decoded.encoding, decoded.metadata), (Encoding::Bits, &b"meta"[..]));
    let array = RawArray::<u8>::from_bytes(&whole).unwrap();
    assert_eq!(array.dims(), [5, 13]);
    assert_eq!(array.data()[..4], [1, 0, 1, 0]);
    assert_eq!((array.data()[64], array.data().iter().sum::<u8>()), (1, 3));
    assert_eq!(RawArray::<u8>::from_bytes(&written(&array)).unwrap().data(), array.data());

    let short = file(&[6, 5, 8, 16, 2, 5, 13], &chunks[..15]);
    assert!(matches!(kind(&short), DecodeErrorKind::DataTruncated { expected: 16, found: 15 }));
    let size = file(&[6, 5, 8, 8, 2, 5, 13], &chunks);
    assert!(matches!(kind(&size), DecodeErrorKind::Size { expected: 16, found: 8, .. }));
}

#[test]
fn a_stray_flag_leaves_plain_data() {
    let data = [1.5_f64, -2.5].map(f64::to_le_bytes).concat();
    let whole = file(&[2, 3, 8, 16, 1, 2], &data);
    assert_eq!(decode(&whole).unwrap().encoding, Encoding::StrayFlag);
    assert_eq!(RawArray::<f64>::from_bytes(&whole).unwrap().data(), [1.5, -2.5]);
    let with_more = file(&[2, 3, 8, 16, 1, 2], &[&data[..], &[0xff]].concat());
    assert!(matches!(kind(&with_more), DecodeErrorKind::Encoding { .. }));
}

#[test]
fn big_endian_elements_are_swapped_by_their_parts() {
    let number = file(&[1, 3, 4, 8, 1, 2], &[1.0_f32, -2.0].map(f32::to_be_bytes).concat());
    assert_eq!(RawArray::<f32>::read_from(number.as_slice()).unwrap().data(), [1.0, -2.0]);
    let complex = file(&[1, 4, 8, 8, 0], &[1.0_f32, -2.0].map(f32::to_be_bytes).concat());
    let array = RawArray::<Complex<f32>>::from_bytes(&complex).unwrap();
    assert_eq!(array.data(), [Complex::new(1.0, -2.0)]);
    let bytes = file(&[1, 0, 1, 3, 1, 3], b"abc");
    assert_eq!(*decode(&bytes).unwrap().data, *b"abc");
    let structure = file(&[1, 0, 3, 3, 1, 1], b"abc");
    let error = decode(&structure).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the byte order of user3 elements cannot be changed: their layout is not known (at byte 8)"
    );
}

#[test]
fn a_claimed_length_takes_no_memory() {
    let huge = 1_u64 << 40;
    for flags in [0, 2] {
        let whole = file(&[flags, 3, 8, huge * 8, 1, huge], &[0; 100]);
        assert!(decode(&whole).is_err());
        assert!(matches!(
            RawArray::<f64>::read_from(whole.as_slice()),
            Err(ReadError::Decode(DecodeError { .. }))
        ));
        assert!(RawArray::<f64>::read_sized(whole.as_slice(), 156).is_err());
    }
    let bits = file(&[6, 5, 8, huge / 8, 1, huge], &[0; 100]);
    assert!(decode(&bits).is_err());
    assert!(AnyArray::read_from(bits.as_slice()).is_err());
}

#[test]
fn an_array_longer_than_the_first_allocation_is_read_completely() {
    let array = RawArray::from((0..700_000_u32).collect::<Vec<_>>());
    let whole = written(&array);
    assert_eq!(RawArray::read_from(whole.as_slice()).unwrap(), array);
    assert_eq!(
        RawArray::read_sized(whole.as_slice(), whole.len().try_into().unwrap()).unwrap(),
        array
    );
    let error = RawArray::<u32>::read_from(&whole[..whole.len() - 3]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected 2800000 bytes of data, found 2799997 (at byte 2800053)"
    );
}

#[test]
fn another_type_is_an_error_that_names_both() {
    let whole = written(&RawArray::from(vec![1.0_f32, 2.0]));
    assert_eq!(
        RawArray::<f64>::from_bytes(&whole).unwrap_err().to_string(),
        "expected elements of `f64` (float64), found float32 (at byte 16)"
    );
    let user = written(&RawArray::from(vec![[1.0_f32, 2.0]]));
    assert_eq!(RawArray::<[f32; 2]>::from_bytes(&user).unwrap().data(), [[1.0, 2.0]]);
    assert_eq!(RawArray::<[u8; 8]>::from_bytes(&user).unwrap().dims(), [1]);
    assert!(RawArray::<f64>::from_bytes(&user).is_err());
}

#[test]
fn elements_must_match_dims() {
    assert!(matches!(
        RawArray::new(vec![2, 3], vec![0_u8; 5]),
        Err(ShapeError::Length { expected: 6, found: 5, .. })
    ));
    assert!(RawArray::new(vec![], vec![0_u8]).is_ok());
    assert!(RawArray::new(vec![], Vec::<u8>::new()).is_err());
    let deep: ArrayD<u8> = ArrayD::zeros(vec![1; MAX_NDIMS + 1]);
    let error = RawArray::from(deep).write_to(Vec::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn metadata_is_kept_and_written_only_if_there_is_any() {
    let array = RawArray::from(vec![1_u8]);
    assert_eq!(written(&array).len(), 57);
    let whole = written(&array.with_metadata(b"note".to_vec()));
    let again = RawArray::<u8>::read_from(whole.as_slice()).unwrap();
    assert_eq!((again.metadata(), written(&again)), (&b"note"[..], whole.clone()));
    assert_eq!(decode(&whole).unwrap().metadata, b"note");
}

#[test]
fn every_memory_layout_is_stored_with_its_indices() {
    let rows = array![[1, 2, 3], [4, 5, 6]];
    let columns = RawArray::from(&rows);
    assert_eq!((columns.dims(), columns.data()), (&[2, 3][..], &[1, 4, 2, 5, 3, 6][..]));
    assert_eq!(RawArray::from(rows.clone()), columns);
    assert_eq!(RawArray::from(&rows.t()).data(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(RawArray::from(&rows.slice(s![.., ..;-2])).data(), [3, 6, 1, 4]);
    assert_eq!(RawArray::from(&rows.broadcast((2, 2, 3)).unwrap()).dims(), [2, 2, 3]);
    assert_eq!(columns.view().unwrap(), rows.view().into_dyn());
    let part = ndarray::Array2::from_shape_vec((2, 3).f(), vec![1, 2, 3, 4, 5, 6]).unwrap();
    let part = part.slice_move(s![.., 1..]);
    assert_eq!(RawArray::from(part).data(), [3, 4, 5, 6]);
}

#[test]
fn a_large_array_in_another_order_is_copied_completely() {
    let mut rows = ndarray::Array3::from_shape_fn((70, 1, 53), |(i, _, k)| 100 * i + k);
    rows.invert_axis(Axis(2));
    let stored = RawArray::from(&rows);
    assert_eq!(stored.dims(), [70, 1, 53]);
    assert_eq!(stored.data(), rows.t().iter().copied().collect::<Vec<_>>());
}

#[test]
fn an_array_in_column_order_is_moved_and_not_copied() {
    let array = RawArray::new(vec![2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap();
    let place = array.data().as_ptr();
    let array: ArrayD<i32> = array.try_into().unwrap();
    assert_eq!((array.as_ptr(), array[[1, 2]], array[[0, 1]]), (place, 6, 3));
    let array = RawArray::from(array);
    assert_eq!(array.data().as_ptr(), place);
    let data: Vec<i32> = array.into();
    assert_eq!(data.as_ptr(), place);
}

#[test]
fn dims_beyond_memory_are_an_error_only_where_they_matter() {
    let whole = file(&[0, 3, 8, 0, 3, 0, 1 << 63, 1 << 63], b"");
    let array = RawArray::<f64>::from_bytes(&whole).unwrap();
    assert_eq!(array.dims(), [0, 1 << 63, 1 << 63]);
    assert!(matches!(array.view(), Err(ShapeError::NotIndexable { .. })));
    assert!(matches!(ArrayD::try_from(array), Err(ShapeError::NotIndexable { .. })));
    assert!(AnyArray::read_from(whole.as_slice()).is_err());
}

#[test]
fn a_view_needs_plain_aligned_elements() {
    let mut whole = vec![0_u64; 21];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut whole);
    let stored = written(&paper());
    bytes[..stored.len()].copy_from_slice(&stored);
    let seen = view::<Complex<f32>>(&bytes[..stored.len()]).unwrap();
    assert_eq!(seen, paper().view().unwrap());

    bytes.copy_within(..stored.len(), 1);
    let error = view::<Complex<f32>>(&bytes[1..=stored.len()]).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::Misaligned { expected: 4 });
    bytes[1 + 8] = u8::from(cfg!(target_endian = "little"));
    let error = view::<Complex<f32>>(&bytes[1..=stored.len()]).unwrap_err();
    assert!(matches!(error.kind, DecodeErrorKind::NotInPlace { .. }));
}

#[test]
fn a_slice_reads_only_its_bytes_in_either_order() {
    let data = (0..24_u16).map(u16::to_be_bytes).collect::<Vec<_>>().concat();
    let whole = file(&[1, 2, 2, 48, 2, 4, 6], &data);
    let header = Header::parse(&whole).unwrap();
    let read_at = |offset: u64, buffer: &mut [u8]| {
        buffer.copy_from_slice(&data[usize::try_from(offset).unwrap()..][..buffer.len()]);
        Ok(())
    };
    let slice = s![1..3, ..;-2];
    let expected = array![[21, 13, 5], [22, 14, 6]].into_dyn();
    assert_eq!(read_slice::<u16>(&header, 112, slice.as_ref(), read_at).unwrap(), expected);
    assert_eq!(
        AnyArray::read_slice(&header, 112, slice.as_ref(), read_at).unwrap(),
        AnyArray::U16(expected)
    );
    assert!(read_slice::<i16>(&header, 112, slice.as_ref(), read_at).is_err());
    let outside = read_slice::<u16>(&header, 112, s![4, ..].as_ref(), read_at).unwrap_err();
    assert!(matches!(outside, ReadError::Slice(SliceError::Outside { .. })));
    let short = read_slice::<u16>(&header, 111, slice.as_ref(), read_at).unwrap_err();
    assert!(matches!(short, ReadError::Decode(_)));
    let encoded = Header::parse(&file(&[2, 2, 2, 9, 1, 1], b"")).unwrap();
    assert!(read_slice::<u16>(&encoded, 112, s![..].as_ref(), read_at).is_err());
}

#[test]
fn the_file_decides_the_type_of_any_array() {
    for eltype in 0..=5 {
        for elbyte in 1..=17_u8 {
            let Ok(element) = ElementType::new(eltype, elbyte.into()) else { continue };
            if element == ElementType::BITS {
                continue;
            }
            let data: Vec<u8> = (0..elbyte * 6).map(|byte| byte % 60).collect();
            let len = u64::from(elbyte) * 6;
            let whole = file(&[0, eltype, elbyte.into(), len, 2, 2, 3], &data);
            let array = AnyArray::read_from(whole.as_slice()).unwrap();
            let plain = if element == ElementType::BOOL { ElementType::UINT8 } else { element };
            assert_eq!((array.element(), array.dims()), (plain, vec![2, 3]));
            let header = Header::parse(&whole).unwrap();
            let slice = |slice: &[SliceInfoElem]| {
                AnyArray::read_slice(&header, whole.len() as u64, slice, |at, out| {
                    let at = 64 + usize::try_from(at).unwrap();
                    out.copy_from_slice(&whole[at..][..out.len()]);
                    Ok(())
                })
            };
            let last = slice(s![1, ..;-1].as_ref()).unwrap();
            assert_eq!((last.element(), last.dims()), (plain, vec![3]));
            let mut row = Vec::new();
            last.write_to(&mut row).unwrap();
            let width = usize::from(elbyte);
            let pick = |k: usize| &whole[64 + k * width..][..width];
            assert_eq!(
                row,
                file(
                    &[0, plain.eltype(), elbyte.into(), len / 2, 1, 3],
                    &[pick(5), pick(3), pick(1)].concat()
                )
            );
            assert!(slice(s![2, ..].as_ref()).is_err());
            let mut again = Vec::new();
            array.write_to(&mut again).unwrap();
            assert_eq!(again[64..], whole[64..], "{element}");
        }
    }
    let sliced = file(&[0, 3, 16, 48, 1, 3], &(0..48).collect::<Vec<_>>());
    let header = Header::parse(&sliced).unwrap();
    let read_at = |offset: u64, buffer: &mut [u8]| {
        buffer.copy_from_slice(&sliced[56..][usize::try_from(offset).unwrap()..][..buffer.len()]);
        Ok(())
    };
    let array = AnyArray::read_slice(&header, 104, s![1..2].as_ref(), read_at).unwrap();
    let AnyArray::Opaque(array) = array else { panic!("{array:?}") };
    assert_eq!((array.element(), array.dims()), (ElementType::FLOAT128, &[1][..]));
    assert_eq!(array.bytes(), (16..32).collect::<Vec<_>>());
}

#[test]
fn no_truncation_and_no_flipped_bit_panics() {
    let block = lz4_flex::block::compress(&[7; 96]);
    let files = [
        file(&[0, 4, 8, 96, 2, 3, 4], &[7; 96]),
        file(&[1, 3, 2, 12, 1, 6], &[7; 14]),
        file(&[2, 4, 8, block.len().try_into().unwrap(), 2, 3, 4], &block),
        file(&[2, 1, 8, 40, 1, 5], &[2, 0, 3, 0xdf, 0xc5, 0x08, 0xd8, 0x04]),
        file(&[6, 5, 8, 16, 1, 70], &[0x55; 16]),
        file(&[2, 3, 8, 16, 1, 2], &[0x3f; 16]),
    ];
    for whole in files {
        let array = AnyArray::read_from(whole.as_slice()).unwrap();
        for len in 0..whole.len() {
            let both = (decode(&whole[..len]).is_ok(), AnyArray::read_from(&whole[..len]).is_ok());
            assert_eq!(both.0, both.1);
        }
        let mut changed = 0;
        for bit in 0..whole.len() * 8 {
            let mut whole = whole.clone();
            whole[bit / 8] ^= 1 << (bit % 8);
            let decoded = decode(&whole);
            match AnyArray::read_sized(whole.as_slice(), whole.len().try_into().unwrap()) {
                Ok(other) => {
                    assert!(decoded.is_ok());
                    changed += usize::from(other != array);
                }
                // The file is valid if only the memory does not suffice.
                Err(ReadError::Decode(DecodeError {
                    kind: DecodeErrorKind::Shape(ShapeError::NotIndexable { .. }),
                    ..
                })) => {}
                Err(_) => assert!(decoded.is_err()),
            }
        }
        assert!(changed > 0);
    }
}

fn dims() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..5_usize, 0..5)
}

fn survives<T: Element + PartialEq + std::fmt::Debug>(
    dims: &[usize],
    seed: &[u8],
) -> Result<(), TestCaseError>
where
    AnyArray: From<ArrayD<T>>,
{
    let elements: usize = dims.iter().product();
    let bytes: Vec<u8> = seed.iter().copied().cycle().take(elements * size_of::<T>()).collect();
    let data: Vec<T> = bytemuck::pod_collect_to_vec(&bytes);
    let array = RawArray::new(dims.iter().map(|&d| d.try_into().unwrap()).collect(), data).unwrap();
    let whole = written(&array);
    let len = whole.len().try_into().unwrap();
    let same = |other: &RawArray<T>| {
        other.dims() == array.dims()
            && bytemuck::cast_slice::<T, u8>(other.data())
                == bytemuck::cast_slice::<T, u8>(array.data())
    };
    prop_assert!(same(&RawArray::read_from(whole.as_slice()).unwrap()));
    prop_assert!(same(&RawArray::read_sized(whole.as_slice(), len).unwrap()));
    prop_assert!(same(&RawArray::from_bytes(&whole).unwrap()));
    prop_assert_eq!(&*decode(&whole).unwrap().data, bytemuck::cast_slice::<T, u8>(array.data()));
    let any = AnyArray::read_from(whole.as_slice()).unwrap();
    prop_assert_eq!(any.element(), ElementType::of::<T>());
    let mut again = Vec::new();
    any.write_to(&mut again).unwrap();
    prop_assert_eq!(again, whole);

    // The same elements as a big-endian machine writes them.
    let mut swapped = written(&array);
    swapped[8] = 1;
    let start = usize::try_from(array.header().header_len()).unwrap();
    let width = ElementType::of::<T>().swap_width().unwrap().try_into().unwrap();
    header::reverse_each(&mut swapped[start..], width);
    prop_assert!(same(&RawArray::read_from(swapped.as_slice()).unwrap()));
    Ok(())
}

proptest! {
    #[test]
    fn arrays_of_all_types_survive(dims in dims(), seed in prop::collection::vec(any::<u8>(), 1..64)) {
        survives::<i8>(&dims, &seed)?;
        survives::<i16>(&dims, &seed)?;
        survives::<i32>(&dims, &seed)?;
        survives::<i64>(&dims, &seed)?;
        survives::<i128>(&dims, &seed)?;
        survives::<u8>(&dims, &seed)?;
        survives::<u16>(&dims, &seed)?;
        survives::<u32>(&dims, &seed)?;
        survives::<u64>(&dims, &seed)?;
        survives::<u128>(&dims, &seed)?;
        survives::<f16>(&dims, &seed)?;
        survives::<bf16>(&dims, &seed)?;
        survives::<f32>(&dims, &seed)?;
        survives::<f64>(&dims, &seed)?;
        survives::<Complex<f16>>(&dims, &seed)?;
        survives::<Complex<f32>>(&dims, &seed)?;
        survives::<Complex<f64>>(&dims, &seed)?;
    }

    #[test]
    fn every_layout_of_ndarray_survives(dims in dims(), fortran: bool, flip: bool, permute: bool) {
        let len: usize = dims.iter().product();
        let mut array: ArrayD<u32> =
            ArrayD::from_shape_vec(IxDyn(&dims).set_f(fortran), (0..).take(len).collect()).unwrap();
        if flip && !dims.is_empty() {
            array.invert_axis(Axis(dims.len() - 1));
        }
        if permute {
            array = array.reversed_axes();
        }
        for stored in [RawArray::from(&array), RawArray::from(array.clone())] {
            let again = RawArray::<u32>::from_bytes(&written(&stored)).unwrap();
            prop_assert_eq!(ArrayD::try_from(again).unwrap(), array.clone());
        }
    }

    #[test]
    fn lz4_and_plain_data_are_told_apart(seed in prop::collection::vec(any::<u8>(), 1..40), times in 1..20_usize) {
        let data = seed.repeat(times);
        let block = lz4_flex::block::compress(&data);
        let whole = file(&[2, 3, 1, block.len().try_into().unwrap(), 1, data.len().try_into().unwrap()], &block);
        let decoded = decode(&whole).unwrap();
        prop_assert_eq!(decoded.encoding, Encoding::Lz4);
        prop_assert_eq!(&*decoded.data, data);
    }

    #[test]
    fn noise_after_a_flagged_header_never_panics(
        flags in prop::sample::select(vec![0_u64, 1, 2, 3, 6, 7]),
        eltype in 0..6_u64, elbyte in prop::sample::select(vec![1_u64, 2, 4, 8, 16]),
        size in 0..64_u64, extent in 0..300_u64, noise in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let whole = file(&[flags, eltype, elbyte, size, 1, extent], &noise);
        if let Ok(decoded) = decode(&whole) {
            prop_assert_eq!(u64::try_from(decoded.data.len()).unwrap(), decoded.header.data_len());
        }
    }
}

#[test]
fn parts_are_indices_ranges_and_one_ellipsis() {
    let dims = [20, 5, 3];
    let cases = [
        ("0:10,:,2", s![0..10, .., 2].as_ref().to_vec()),
        ("...", s![.., .., ..].as_ref().to_vec()),
        ("", s![.., .., ..].as_ref().to_vec()),
        ("-1", s![-1, .., ..].as_ref().to_vec()),
        ("...,1", s![.., .., 1].as_ref().to_vec()),
        ("1,...,1", s![1, .., 1].as_ref().to_vec()),
        ("1,2,...,0", s![1, 2, 0].as_ref().to_vec()),
        (" -9 : -1 : 3 , ::2 ", s![-9..-1;3, ..;2, ..].as_ref().to_vec()),
        ("::-1", s![..;-1, .., ..].as_ref().to_vec()),
        ("10:5:-2", s![6..11;-2, .., ..].as_ref().to_vec()),
        ("-1:0:-1", s![1..20;-1, .., ..].as_ref().to_vec()),
        ("0:99999999999999999999", s![0..20, .., ..].as_ref().to_vec()),
        ("-21:-99", s![-20..-20, .., ..].as_ref().to_vec()),
        ("20:0:-1", s![1..20;-1, .., ..].as_ref().to_vec()),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_slice(text, &dims), Ok(expected), "{text}");
    }
    assert_eq!(parse_slice("", &[]), Ok(vec![]));
    assert_eq!(parse_slice("[]", &[]), Ok(vec![]));
    assert_eq!(parse_slice("[0, 1:3]", &[4, 3]), parse_slice("0,1:3", &[4, 3]));
    assert!(parse_slice("[0", &[4]).is_err());
}

#[test]
fn errors_name_the_part() {
    let fault = |text| parse_slice(text, &[20, 5]).unwrap_err().to_string();
    let expected = "expected an index, `start:stop:step` or `...`, found";
    assert_eq!(fault("1,x"), format!("{expected} `x`"));
    assert_eq!(fault("1:2:3:4"), format!("{expected} `1:2:3:4`"));
    assert_eq!(fault("1,"), format!("{expected} ``"));
    assert_eq!(fault("99999999999999999999"), format!("{expected} `99999999999999999999`"));
    assert_eq!(fault("\u{1b}[2J"), format!("{expected} `\\u{{1b}}[2J`"));
    assert_eq!(fault("1,2,3"), "expected 2 parts in the slice, found 3");
    assert_eq!(fault("...,..."), "expected `...` at most once");
    assert_eq!(fault("...,7"), "index 7 is out of range for dimension 1 of length 5");
    assert_eq!(fault("-21"), "index -21 is out of range for dimension 0 of length 20");
    assert_eq!(fault("::0"), "the step of dimension 0 is 0");
}

#[test]
fn a_range_longer_than_one_read_is_complete() {
    let bytes: Vec<u8> = (0..3_000_000).map(|i: u32| u8::try_from(i % 251).unwrap()).collect();
    let expected = ndarray::ArrayView1::from(&bytes);
    for step in [-9000, -4096, -3, -1, 1, 2, 1000, 4096, 4097] {
        let slice = s![17..;step];
        let plan = SlicePlan::new(&[3_000_000], 1, slice.as_ref()).unwrap();
        let mut read = vec![0; usize::try_from(plan.data_len()).unwrap()];
        plan.read_into(&mut read, |offset, buffer| {
            buffer.copy_from_slice(&bytes[usize::try_from(offset).unwrap()..][..buffer.len()]);
            Ok(())
        })
        .unwrap();
        assert_eq!(read, expected.slice(slice).to_vec(), "step {step}");
    }
}

#[test]
fn an_array_of_any_type_converts_to_its_type_or_to_floats() {
    use ndarray::{ArrayD, arr0, arr1};
    let counts = AnyArray::from(arr1(&[1_i64, (1 << 53) + 1, i64::MAX, i64::MIN]).into_dyn());
    let floats = arr1(&[
        1.0,
        9_007_199_254_740_992.0,
        9_223_372_036_854_775_808.0,
        -9_223_372_036_854_775_808.0,
    ]);
    assert_eq!(counts.to_f64().unwrap(), floats.into_dyn());
    let same = ArrayD::<i64>::try_from(counts.clone()).unwrap();
    assert_eq!(AnyArray::from(same), counts);
    let refused = ArrayD::<f32>::try_from(counts).unwrap_err();
    assert_eq!(
        refused,
        DecodeErrorKind::WrongType {
            rust: "f32",
            expected: ElementType::FLOAT32,
            found: ElementType::INT64,
        }
    );
    let half = AnyArray::from(arr0(bf16::from_f32(0.25)).into_dyn());
    assert_eq!(half.to_f64().unwrap(), arr0(0.25).into_dyn());
    let complex = AnyArray::from(arr0(Complex::new(1.0_f32, 0.0)).into_dyn());
    assert_eq!(complex.to_f64(), None);
}
