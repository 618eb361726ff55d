//! Arrays of an open pack.

use std::io::Read as _;
use std::sync::Arc;

use ndarray::{ArrayD, ArrayViewD, SliceInfoElem};

use super::{FoundMember, Pack, once};
use crate::archive::Method;
use crate::digest::Digest;
use crate::error::{Error, NotViewable, Result};
use crate::finding::{Code, Finding};
use crate::manifest::BlockList;
use crate::message::Message;
use crate::ndl::{Ndarray, Order};
use crate::pack::{self, Contents};
use crate::path::{MemberPath, escape};
use crate::ra::{
    self, AnyArray, DecodeErrorKind, Element, Header, Part, RawArray, ReadError, Structure,
};
use crate::read::manifests::RootFiles as _;

/// Bytes that contain any header.
pub(crate) const LONGEST_HEADER: u64 = 1024;

/// Number of elements that may be processed one by one per byte of memory that the archive may take. Numbers compressed
/// with deflate always stay below this.
const LOOKED_AT: u64 = 16;

/// Bytes of elements that may be kept in memory for any archive: a mask of zeros is large and compresses to almost
/// nothing.
const ALWAYS_KEPT: u64 = 192 << 20;

/// An array of a pack: its elements, slices, views, description and statistics.
///
/// ```
/// use ndarray::{ArrayD, s};
/// use ra_pack::Pack;
///
/// let depth = Pack::open("examples/experiment")?.array("thermistors/depth.ra")?;
/// assert_eq!(depth.shape()?, [10]);
/// let all: ArrayD<f32> = depth.read()?;
/// let last: ArrayD<f32> = depth.slice(s![-1..])?;
/// assert_eq!(last[[0]], all[[9]]);
/// # Ok::<(), ra_pack::Error>(())
/// ```
///
/// Reading a whole array checks it against the manifest of the pack, if there is one. An array that the manifest does
/// not list is an error; [`unverified`](Self::unverified) reads it without the check.
///
/// Slices, shapes, axes, statistics and elements that are read all use one order of indices. By default it is that of
/// the header's `dims`, with the first index fastest. After [`in_shape_order`](Self::in_shape_order) it is that of the
/// description's `shape`. The two differ only if the description has `storage: {order: row}` or `row-unreversed`.
/// [`header`](Self::header), [`read_raw`](Self::read_raw) and [`read_into`](Self::read_into) always use the order of
/// the file.
///
/// The array keeps the pack open. It can be stored next to the pack and sent to other threads. The header is read once.
#[derive(Debug, Clone)]
pub struct PackedArray {
    pub(super) pack: Pack,
    pub(super) found: Arc<FoundMember>,
    pub(super) verify: bool,
    order: Order,
}

impl PackedArray {
    pub(super) fn new(pack: Pack, found: Arc<FoundMember>) -> Self {
        Self { pack, found, verify: true, order: Order::Column }
    }

    /// Returns the pack of the array.
    pub fn pack(&self) -> &Pack {
        &self.pack
    }

    /// Returns the offset of the member in the container.
    pub(super) fn start(&self) -> u64 {
        self.found.member.start()
    }

    /// Returns whether a part of the array can be read without the rest.
    pub(crate) fn is_placed(&self) -> Result<bool> {
        Ok(self.stored(self.header()?)?.is_some())
    }

    /// Returns the name of the array in the payload.
    pub fn name(&self) -> &str {
        &self.found.name
    }

    /// Returns the name of the member in the archive. In a bag it is longer than [`name`](Self::name).
    pub fn archive_name(&self) -> &str {
        &self.found.member.name
    }

    /// Reads without checking the content against the manifest. If a whole member is read, the checksum of the
    /// container is still checked.
    #[must_use]
    pub fn unverified(mut self) -> Self {
        self.verify = false;
        self
    }

    /// Limits the bytes of memory that one read may take for elements; see [`Pack::max_bytes`].
    #[must_use]
    pub fn max_bytes(mut self, limit: u64) -> Self {
        self.pack.max_bytes = limit;
        self
    }

    /// Changes the order of indices to that of the description's `shape`. This reads the description and moves no
    /// elements.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::description`].
    pub fn in_shape_order(self) -> Result<Self> {
        let description = self.description()?;
        Ok(self.in_order(description.map_or(Order::Column, |ndarray| ndarray.order())))
    }

    /// Changes the order of indices as [`in_shape_order`](Self::in_shape_order) does, if the order is known from the
    /// [description](Self::description).
    #[must_use]
    pub fn in_order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Returns the header. It is read once; for a stored member nothing else is read.
    ///
    /// # Errors
    ///
    /// [`Error::Array`] or [`Error::NotAnArray`] if the member is not a RawArray file, and [`Error::Io`] or
    /// [`Error::Damaged`] if it cannot be read.
    pub fn header(&self) -> Result<&Header> {
        once(&self.found.header, || {
            let (member, archive) = (&self.found.member, &self.pack.state.archive);
            let header = if let Some(content) = self.pack.confirmed(member) {
                Header::read(&mut &*content)
            } else {
                self.pack.must_be_alone(member)?;
                match archive.start_of(member, LONGEST_HEADER) {
                    Some(mut start) => Header::read(&mut start),
                    None => Header::read(&mut archive.read(member)?),
                }
            };
            let header = header.map_err(|error| self.unreadable(error))?;
            header.check_file_len(member.size).map_err(|error| self.undecodable(error))?;
            Ok(header)
        })
    }

    /// Returns the description, from the document next to the array or from the description of the pack.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the description is not valid, and [`Error::Io`] if it cannot be read.
    pub fn description(&self) -> Result<Option<Ndarray>> {
        let (path, contents) = self.contents()?;
        if let Some(plain) = contents.plain(&path) {
            return Ok(Some(plain.ndarray()));
        }
        let mut findings = Vec::new();
        let ndarray = contents
            .description(&path, &mut findings)
            .map(|described| described.entity.array().clone());
        match findings.into_iter().find(Finding::is_error) {
            Some(finding) => Err(self.pack.damaged(finding)),
            None => Ok(ndarray),
        }
    }

    /// Returns the name in the payload, the header and the description.
    pub(super) fn contents(&self) -> Result<(MemberPath, Contents)> {
        self.pack.contents_about(&self.found, self.header()?)
    }

    /// Returns the header with the fastest index first, and the order of the indices.
    pub(crate) fn layout(&self) -> Result<(Header, Order)> {
        let order = if self.is_reversed() { Order::Row } else { Order::Column };
        Ok((self.laid_out(self.header()?.clone()), order))
    }

    /// Returns the header with the fastest index first. Some files list it last.
    pub(crate) fn laid_out(&self, header: Header) -> Header {
        if self.order == Order::RowUnreversed { header.reversed() } else { header }
    }

    /// Returns whether the last index is the fastest.
    pub(crate) fn is_reversed(&self) -> bool {
        self.order != Order::Column
    }

    /// Returns the lengths of the dimensions, in the order of the indices.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::header`].
    pub fn shape(&self) -> Result<Vec<u64>> {
        Ok(pack::shape_of(self.header()?.dims(), self.order))
    }

    /// Returns the size of the array file in bytes.
    pub fn file_size(&self) -> u64 {
        self.found.member.size
    }

    /// Returns how the container compresses the array.
    pub fn method(&self) -> Method {
        self.found.member.method
    }

    /// Returns the SHA-256 digest that the manifest lists for the array.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the manifest is not valid, and [`Error::Io`] if it cannot be read.
    pub fn listed_digest(&self) -> Result<Option<Digest>> {
        self.pack.listed_digest(&self.found.member)
    }

    /// Returns the offsets of the header and of the first element in the archive file, in bytes; `None` if the member
    /// is not stored.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] or [`Error::Io`] if the member cannot be read.
    pub fn offsets(&self) -> Result<Option<(u64, u64)>> {
        let Some(start) = self.found.member.data_offset() else { return Ok(None) };
        Ok(Some((start, start + self.header()?.header_len())))
    }

    /// Reads the whole array. The elements have the same order in memory as in the file and are not copied.
    ///
    /// # Errors
    ///
    /// [`Error::Array`] if the elements are not of type `T`; [`Error::Structure`] if `T` is a structure and the
    /// description does not match; [`Error::Damaged`] if the member is damaged or not what the manifest lists;
    /// [`Error::TooLarge`] if it needs more memory than the limit.
    ///
    /// ```
    /// use ndarray::{Array2, ArrayD, Ix2};
    /// use ra_pack::Pack;
    ///
    /// let array = Pack::open("examples/experiment")?.array("thermistors/temperature.ra")?;
    /// let all: ArrayD<f32> = array.read()?;
    /// // With a fixed number of dimensions. ndarray returns an error if the number differs.
    /// let matrix: Array2<f32> = all.into_dimensionality::<Ix2>()?;
    /// assert_eq!(matrix.dim(), (10, 149));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read<T: Element>(&self) -> Result<ArrayD<T>> {
        self.check_structure::<T>()?;
        let array = ArrayD::try_from(self.read_laid_out(RawArray::<T>::read_after)?)
            .map_err(|error| self.mismatch(error.to_string()))?;
        Ok(self.ordered(array, ArrayD::reversed_axes))
    }

    /// Reads the whole array with the dims and the trailing metadata of the file. The first index is always the one
    /// that the header lists first.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`].
    pub fn read_raw<T: Element>(&self) -> Result<RawArray<T>> {
        self.check_structure::<T>()?;
        self.read_with(|header| self.check_room(header), RawArray::read_after)
    }

    /// Reads the whole array with the element type of the file.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`].
    pub fn read_any(&self) -> Result<AnyArray> {
        Ok(self.ordered(self.read_laid_out(AnyArray::read_after)?, AnyArray::reversed_axes))
    }

    /// Reads the elements into `out` in the order of the file: the first index is the fastest. In shape order, the last
    /// index is the fastest if the order of the array is `row` or `row-unreversed`.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`], and [`Error::Length`] if the length of `out` is not the number of elements.
    pub fn read_into<T: Element>(&self, out: &mut [T]) -> Result<()> {
        self.check_structure::<T>()?;
        let found = out.len();
        let check = |header: &Header| {
            header.check_type::<T>().map_err(|error| self.undecodable(error))?;
            let (expected, found) = (header.elements(), found as u64);
            if expected == found {
                return if header.is_encoded() { self.check_room(header) } else { Ok(()) };
            }
            Err(Error::Length { name: self.name().to_owned(), expected, found })
        };
        self.read_with(check, |header, reader, len| {
            if header.is_encoded() {
                out.copy_from_slice(RawArray::read_after(header, reader, len)?.data());
                return Ok(());
            }
            let bytes = bytemuck::cast_slice_mut(out);
            reader.read_exact(bytes)?;
            header.swap_to_native(bytes)?;
            Ok(())
        })
    }

    /// Returns the number of bytes in a block if the digests of blocks prove the slices of the array; `None` if a slice
    /// of it is not checked, or only together with the whole file.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the list of block digests differs from the manifest or is not valid.
    pub fn block_size(&self) -> Result<Option<u64>> {
        let is_proved = self.is_placed()? && self.verify;
        let list = if is_proved { self.pack.block_list()? } else { None };
        Ok(list.map(BlockList::block_size))
    }

    /// Returns whether a digest proves what is read of the array: all of it, or only a part.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the manifest or the list of block digests is not reliable.
    pub fn is_proved(&self, is_whole: bool) -> Result<bool> {
        if !self.verify {
            return Ok(false);
        }
        if is_whole || !self.is_placed()? {
            return self.pack.has_manifest();
        }
        Ok(self.pack.block_list()?.is_some())
    }

    /// Reads a part of the array, selected with [`ndarray::s!`] or [`parse_slice`](ra::parse_slice). For a stored
    /// member, only the bytes of the slice are read, and they are not checked against the manifest.
    ///
    /// If the pack has block digests (see [`block_size`](Self::block_size)), the complete blocks of the slice are read
    /// and compared with their digests.
    ///
    /// # Errors
    ///
    /// [`Error::Slice`] if the slice does not fit the array, and as [`PackedArray::read`]. For a damaged block,
    /// [`Error::Damaged`] names its bytes.
    pub fn slice<T: Element>(&self, slice: impl AsRef<[SliceInfoElem]>) -> Result<ArrayD<T>> {
        self.check_structure::<T>()?;
        self.header()?.check_type::<T>().map_err(|error| self.undecodable(error))?;
        let (array, _) = self.part(slice.as_ref(), |header, len, slice, read_at| {
            ra::read_slice(header, len, slice, read_at)
        })?;
        Ok(self.ordered(array, ArrayD::reversed_axes))
    }

    /// Reads a part of the array with the element type of the file.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::slice`].
    pub fn slice_any(&self, slice: impl AsRef<[SliceInfoElem]>) -> Result<AnyArray> {
        Ok(self.ordered(self.part_for_file(slice.as_ref())?.0, AnyArray::reversed_axes))
    }

    /// Reads a slice to be written as a file: with the fastest index first. Also returns the number of blocks whose
    /// digests prove it.
    pub(crate) fn part_for_file(&self, slice: &[SliceInfoElem]) -> Result<(AnyArray, Option<u64>)> {
        self.part(slice, |header, len, slice, read_at| {
            AnyArray::read_slice(header, len, slice, read_at)
        })
    }

    /// Returns a view of the array in a [mapped](Pack::map) archive, without reading or copying it. The view is not
    /// checked against the manifest.
    ///
    /// In a zip made by ra-pack, the elements of a stored array are aligned to 64 bytes. In a tar, they begin
    /// [`Header::header_len`] bytes after a multiple of 512. They are aligned to 16 bytes if the number of dimensions
    /// is even, and otherwise to 8 bytes, which is not enough for `u128` and `i128`. [`read`](Self::read) works with
    /// any alignment.
    ///
    /// # Errors
    ///
    /// [`Error::NotViewable`] if the pack is not mapped, the member is compressed, or its elements do not have the byte
    /// order of this machine and the alignment of `T`: use [`read`](Self::read). [`Error::Array`] if the elements are
    /// not of type `T`.
    ///
    /// ```
    /// use ndarray::CowArray;
    /// use ra_pack::{Error, Pack};
    ///
    /// let array = Pack::open("examples/experiment")?.array("thermistors/depth.ra")?;
    /// let depths: CowArray<'_, f32, _> = match array.view() {
    ///     Err(Error::NotViewable { .. }) => array.read()?.into(),
    ///     view => view?.into(),
    /// };
    /// assert_eq!(depths.len(), 10);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn view<T: Element>(&self) -> Result<ArrayViewD<'_, T>> {
        let bytes = self.mapped()?;
        self.check_structure::<T>()?;
        self.header()?;
        let view = ra::view(bytes).map_err(|error| {
            self.not_viewable(match error.kind {
                DecodeErrorKind::NotInPlace { flags } => NotViewable::Flags(flags),
                DecodeErrorKind::Misaligned { expected } => NotViewable::Misaligned(expected),
                _ => return self.undecodable(error),
            })
        })?;
        if self.order == Order::RowUnreversed {
            let shape = view.raw_dim();
            let rows = view.reversed_axes().into_shape_with_order(shape);
            return rows.map_err(|error| self.mismatch(error.to_string()));
        }
        Ok(self.ordered(view, ArrayViewD::reversed_axes))
    }

    /// Returns the bytes of the file in a mapped archive.
    pub(super) fn mapped(&self) -> Result<&[u8]> {
        let Some(map) = &self.pack.state.map else {
            return Err(self.not_viewable(NotViewable::NotMapped));
        };
        let Some(start) = self.found.member.data_offset() else {
            return Err(self.not_viewable(NotViewable::Compressed));
        };
        let end = start.saturating_add(self.found.member.size);
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        range.and_then(|(start, end)| map.bytes().get(start..end)).ok_or_else(|| {
            let finding = Finding::new(Code::BadMemberData, "the archive was truncated");
            self.pack.damaged(finding.in_member(self.name().to_owned()))
        })
    }

    /// Checks that the description has the fields of `T`.
    pub(super) fn check_structure<T: Element>(&self) -> Result<()> {
        if T::STRUCTURE == Structure::Plain || !self.header()?.element().reads_as::<T>() {
            return Ok(());
        }
        match self.description()? {
            Some(array) if !pack::is_made_of(&array.datatype, &Part::of::<T>()) => {
                Err(Error::Structure {
                    name: self.name().to_owned(),
                    described: Box::new(array.datatype),
                    wanted: Box::new(pack::datatype::<T>()),
                })
            }
            _ => Ok(()),
        }
    }

    /// Reverses the axes if the last index is the fastest. No elements are moved.
    fn ordered<A>(&self, array: A, reversed: fn(A) -> A) -> A {
        if self.is_reversed() { reversed(array) } else { array }
    }

    /// Begins to count the bytes that are read.
    pub(crate) fn begin(&self, bytes: Option<u64>) {
        self.pack.begin(&self.found.name, &self.found.member, bytes);
    }

    /// Bytes of the array that may be kept in memory at once in another format than the stored one.
    pub(crate) fn memory_limit(&self) -> Result<u64> {
        Ok(self.pack.state.archive.allowance()?.limit().max(ALWAYS_KEPT))
    }

    /// Checks that the archive is large enough for `elements` elements to be processed one by one.
    pub(crate) fn check_elements(&self, elements: u64) -> Result<()> {
        let limit = self.pack.state.archive.allowance()?.limit().saturating_mul(LOOKED_AT);
        if elements <= limit {
            return Ok(());
        }
        let problem = format!(
            "`{}` has {elements} elements to process; the limit for an archive of this size is {limit}; choose a \
             part with ",
            escape(&self.found.name)
        );
        let message = Message::from(problem).option("slice");
        Err(Error::Limit(message.text(", or unpack it with `ra-pack extract`")))
    }

    pub(super) fn unreadable(&self, error: ReadError) -> Error {
        match error {
            ReadError::Decode(source) => self.undecodable(source),
            ReadError::Slice(source) => Error::Slice { name: self.name().to_owned(), source },
            ReadError::Io(error) => self.pack.unreadable(&self.found.name, error),
        }
    }

    pub(super) fn not_viewable(&self, reason: NotViewable) -> Error {
        Error::NotViewable { name: self.name().to_owned(), reason }
    }

    /// Checks that the whole array fits into the memory limit: its elements, the trailing metadata, and the encoded
    /// data.
    pub(super) fn check_room(&self, header: &Header) -> Result<()> {
        let stored = self.found.member.size.saturating_sub(header.header_len());
        let decoded = if header.is_encoded() { header.data_len() } else { 0 };
        self.pack.check_room(self.name(), stored.saturating_add(decoded))
    }

    pub(super) fn undecodable(&self, source: ra::DecodeError) -> Error {
        Error::array(self.name().to_owned(), source)
    }

    pub(super) fn mismatch(&self, reason: impl ToString) -> Error {
        Error::mismatch(self.name(), reason)
    }
}
