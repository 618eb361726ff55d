//! Arrays out of a file and back into one, and files that are cut or lie.

use std::io::Read;

use proptest::collection::vec;
use proptest::prelude::*;

use super::any_descr;
use crate::interchange::npy::{Descr, Header, Reader, WriteOptions, write};
use crate::interchange::{Error, Variable};

fn read(file: &[u8]) -> Result<(Variable, Vec<u8>), Error> {
    let mut reader = Reader::new(file)?;
    let variable = reader.variable("x")?;
    let mut data = Vec::new();
    reader.read_to_end(&mut data)?;
    assert_eq!(data.len(), usize::try_from(variable.header.data_len()).unwrap());
    Ok((variable, data))
}

fn file(descr: Descr, fortran_order: bool, shape: &[u64]) -> Vec<u8> {
    let size = shape.iter().product::<u64>() * descr.size().unwrap();
    let mut file = Header::new(descr, fortran_order, shape.to_vec()).encode();
    file.extend((0..=255).cycle().take(usize::try_from(size).unwrap()));
    file
}

proptest! {
    #[test]
    fn an_array_written_again_is_the_same(
        descr in any_descr(), fortran_order in any::<bool>(), shape in vec(0..4_u64, 0..4),
    ) {
        let first = file(descr, fortran_order, &shape);
        let (variable, data) = read(&first).unwrap();
        let mut second = Vec::new();
        write(&mut second, &variable, &*data, &WriteOptions::new()).unwrap();
        let (mut again, data_again) = read(&second).unwrap();
        // Titles are lost on the first way.
        again.losses.clone_from(&variable.losses);
        // Where both orders are the same numpy prefers the last index.
        if Header::read(&mut &*second).unwrap().fortran_order() == fortran_order {
            prop_assert_eq!(again, variable);
        } else {
            prop_assert_eq!(again.description.datatype, variable.description.datatype);
        }
        prop_assert_eq!(data_again, data);
    }

    #[test]
    fn no_truncation_panics_and_each_has_its_place(
        descr in any_descr(), shape in vec(1..3_u64, 0..3),
    ) {
        let whole = file(descr, false, &shape);
        for len in 0..whole.len() {
            match read(&whole[..len]) {
                Err(Error::Malformed { offset, .. }) => prop_assert_eq!(offset, u64::try_from(len).unwrap()),
                other => prop_assert!(false, "{} bytes: {:?}", len, other),
            }
        }
        prop_assert!(read(&whole).is_ok());
    }

    #[test]
    fn no_changed_byte_panics(descr in any_descr(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = file(descr, false, &[2]);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok((variable, data)) = read(&bytes) {
            let mut again = Vec::new();
            if write(&mut again, &variable, &*data, &WriteOptions::new()).is_ok() {
                prop_assert_eq!(read(&again).unwrap().1, data);
            }
        }
    }
}

#[test]
fn bytes_after_the_data_are_counted() {
    let mut bytes = file(Descr::scalar(crate::interchange::npy::Kind::Int, 4), false, &[3]);
    assert_eq!(Reader::new(&*bytes).unwrap().finish().unwrap(), 0);
    bytes.extend([0; 7]);
    assert_eq!(Reader::new(&*bytes).unwrap().finish().unwrap(), 7);
    let mut reader = Reader::new(&*bytes).unwrap();
    reader.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(reader.into_inner(), [0; 7]);
    bytes.truncate(bytes.len() - 8);
    let error = Reader::new(&*bytes).unwrap().finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 139: expected 12 bytes of data, found the end of the file after 11"
    );
}

#[test]
fn data_of_another_length_is_not_written() {
    let bytes = file(Descr::scalar(crate::interchange::npy::Kind::Int, 4), false, &[3]);
    let (variable, data) = read(&bytes).unwrap();
    for wrong in [&data[..11], &[&*data, b"x"].concat()] {
        let error = write(Vec::new(), &variable, wrong, &WriteOptions::new()).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
    }
}

#[test]
fn a_lie_about_the_size_costs_no_memory() {
    let text = |shape: &str, descr: &str| {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend([0; 20]);
        read(&bytes).unwrap_err().to_string()
    };
    let cut = "found the end of the file after 20";
    assert!(text("(1000000000000,)", "'<f8'").contains(cut));
    assert!(text("(1000000,)", "[('a', '>f8'), ('b', '|V2000000000')]").contains(cut));
    assert!(text("()", "'|S2000000000'").contains(cut));
    assert!(text("()", "'|S60000'").contains(cut));
    let overflow = text("(9223372036854775807, 3)", "'<f8'");
    assert!(
        overflow.starts_with("byte 60: expected a shape that can be counted in bytes"),
        "{overflow}"
    );
    let rank = text(&format!("({})", "1, ".repeat(65)), "'<f8'");
    assert!(rank.contains("byte 60"), "{rank}");
}
