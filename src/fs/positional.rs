//! Reads at an offset. They may move the position, which nothing else uses.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::unix::fs::FileExt;
#[cfg(windows)]
use std::os::windows::fs::FileExt;

pub(in crate::fs) fn read(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return file.read_at(buffer, offset);
    #[cfg(windows)]
    return file.seek_read(buffer, offset);
    #[cfg(not(any(unix, windows)))]
    return at(file, offset).and_then(|mut file| io::Read::read(&mut file, buffer));
}

/// Returns the file at an offset, on systems without threads.
#[cfg(not(any(unix, windows)))]
pub(in crate::fs) fn at(mut file: &File, offset: u64) -> io::Result<&File> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    Ok(file)
}
