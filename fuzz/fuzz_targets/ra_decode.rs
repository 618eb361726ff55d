//! Any bytes as a RawArray: every reader agrees, and what is written again is read the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ra_pack::ra::{Header, ReadError, decode};
use ra_pack::{AnyArray, RawArray};

fuzz_target!(|file: &[u8]| {
    let len = file.len().try_into().unwrap();
    let decoded = decode(file);
    let header = Header::read(&mut &*file);
    assert!(header.is_ok() || decoded.is_err(), "a file without header was decoded");
    let streamed = AnyArray::read_from(file);
    let sized = AnyArray::read_sized(file, len);
    assert_eq!(streamed.is_ok(), sized.is_ok());
    let typed = RawArray::<f32>::read_from(file);
    assert_eq!(typed.is_ok(), RawArray::<f32>::from_bytes(file).is_ok());
    assert_eq!(typed.is_ok(), RawArray::<f32>::read_sized(file, len).is_ok());
    let (Ok(decoded), Ok(array)) = (decoded, streamed) else { return };

    let mut written = Vec::new();
    array.write_to(&mut written).unwrap();
    let again = decode(&written).unwrap();
    // Truth values are written as `uint8`, which has their width.
    let expected = decoded.header.decoded();
    assert_eq!(again.header.dims(), expected.dims());
    assert_eq!(again.header.element().elbyte(), expected.element().elbyte());
    assert_eq!(again.data, decoded.data);
    match AnyArray::read_sized(&*written, written.len().try_into().unwrap()) {
        Ok(_) => {}
        Err(ReadError::Decode(error)) => panic!("what was written cannot be read: {error}"),
        Err(error) => panic!("{error}"),
    }
});
