//! Target for NetCDF and HDF5 files.

use std::io::{Error, ErrorKind, Read};

use ra_pack::interchange::grouped::{ByteRanges, GroupedFile};
use ra_pack::ndl::Extent;

/// Most bytes of an array that are read.
const READ: u64 = 1 << 20;

/// Reads any bytes as a file. Each array that can be read has as many bytes as its header says.
pub fn grouped(file: &[u8]) {
    let (len, bytes) = (u64::try_from(file.len()).unwrap(), file.to_vec());
    let bytes = ByteRanges::new(len, move |buffer, at| {
        let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
        rest.ok_or_else(|| Error::from(ErrorKind::UnexpectedEof))?.read_exact(buffer)
    });
    let Ok(file) = GroupedFile::open(&bytes) else { return };
    for index in 0..file.names().count() {
        let Ok(array) = file.array(index) else { continue };
        let mut data = Vec::new();
        if file.data(index).take(READ).read_to_end(&mut data).is_ok() {
            let expected = array.header.data_len().min(READ);
            assert_eq!(u64::try_from(data.len()).unwrap(), expected);
        }
        for (name, _) in &array.dimensions {
            assert!(array.description.shape.contains(&Extent::Coord(name.clone())));
        }
    }
}
