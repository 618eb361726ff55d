//! Bytes of an array for callers that know its element type only at run time, such as bindings for other languages.

use ndarray::SliceInfoElem;

use super::PackedArray;
use crate::error::{NotViewable, Result};

impl PackedArray {
    /// Reads the bytes of all elements into `out`, in the order of the file as [`read_into`](Self::read_into) does. The
    /// element type is not checked.
    ///
    /// The bytes keep the byte order of the file, which is in the flags of the [`header`](Self::header). Encoded
    /// elements are decoded to the byte order of this machine. The number of bytes is [`Header::data_len`](crate::ra::Header::data_len).
    ///
    /// ```
    /// use ra_pack::Pack;
    ///
    /// let depth = Pack::open("examples/experiment")?.array("thermistors/depth.ra")?;
    /// let mut bytes = vec![0; 40];
    /// depth.read_bytes_into(&mut bytes)?;
    /// assert_eq!(bytes[..4], 1.0_f32.to_le_bytes());
    /// # Ok::<(), ra_pack::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`], and [`Error::Mismatch`](crate::Error::Mismatch) if `out` does not have this number of bytes.
    pub fn read_bytes_into(&self, out: &mut [u8]) -> Result<()> {
        let header = self.header()?;
        self.check_len(header.data_len(), out.len())?;
        if header.is_encoded() {
            self.check_room(header)?;
        }
        self.read_data(header, None, None, |_, read_at| Ok(read_at(0, out)?)).map(drop)
    }

    /// Reads the bytes of a part of the array into `out`. The slice, the number of bytes and the order of the elements
    /// are those of [`slice`](Self::slice): in column order, the first index is the fastest. The byte order is that of
    /// [`read_bytes_into`](Self::read_bytes_into).
    ///
    /// ```
    /// use ndarray::s;
    /// use ra_pack::Pack;
    ///
    /// let depth = Pack::open("examples/experiment")?.array("thermistors/depth.ra")?;
    /// let mut last = [0; 4];
    /// depth.slice_bytes_into(s![-1], &mut last)?;
    /// assert_eq!(f32::from_le_bytes(last), 60.0);
    /// # Ok::<(), ra_pack::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`PackedArray::slice`], and [`Error::Mismatch`](crate::Error::Mismatch) if `out` does not have the number of bytes of the slice.
    pub fn slice_bytes_into(
        &self,
        slice: impl AsRef<[SliceInfoElem]>,
        out: &mut [u8],
    ) -> Result<()> {
        let plan = self.plan(slice.as_ref())?;
        self.check_len(plan.data_len(), out.len())?;
        self.part(slice.as_ref(), |_, _, _, read_at| Ok(plan.read_into(out, read_at)?)).map(drop)
    }

    /// Returns the bytes of all elements in a [mapped](crate::Pack::map) archive, without reading or copying them. They
    /// are not checked against the manifest, may have any alignment, and keep the byte order of the file.
    ///
    /// # Errors
    ///
    /// [`Error::NotViewable`](crate::Error::NotViewable) if the pack is not mapped, the member is compressed, or its elements are encoded.
    pub fn view_bytes(&self) -> Result<&[u8]> {
        let (file, header) = (self.mapped()?, self.header()?);
        if header.is_encoded() {
            return Err(self.not_viewable(NotViewable::Flags(header.flags())));
        }
        let size = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
        let data = file.get(size(header.header_len())..).unwrap_or_default();
        data.get(..size(header.data_len())).ok_or_else(|| self.mismatch("the array is incomplete"))
    }

    /// Checks that memory to read into has `expected` bytes.
    fn check_len(&self, expected: u64, found: usize) -> Result<()> {
        if expected == found as u64 {
            return Ok(());
        }
        Err(self.mismatch(format!("expected memory for {expected} bytes, found {found}")))
    }
}
