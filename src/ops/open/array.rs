//! One array of an opened pack.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use ndarray::{ArrayD, ArrayViewD, SliceInfoElem};

use super::super::manifests::RootFiles as _;
use super::stream::{Blocks, CheckedReader};
use super::{FoundMember, Pack};
use crate::archive::Method;
use crate::digest::Digest;
use crate::error::{Error, NotViewable, Result};
use crate::finding::{Code, Finding};
use crate::fs::File;
use crate::ndl::{Ndarray, Order};
use crate::pack::{self, Contents};
use crate::path::{MemberPath, escape};
use crate::ra::{
    self, AnyArray, DecodeErrorKind, Element, Encoding, EncodingProbe, Header, Part, RawArray,
    ReadError, SlicePlan, Structure,
};

/// Bytes that hold every header there is.
pub(in crate::ops) const LONGEST_HEADER: u64 = 1024;

/// Most bytes that an encoded array is decoded to on the way, once for each pass over it. A file of 60 MiB may
/// stand for 15 GiB, and an archive of 3 KB may hold such a file. No current writer encodes arrays.
const MAX_DECODED: u64 = 1 << 28;

/// Elements that are looked at one by one for each byte of memory that an archive may make anyone take. What deflate
/// makes of numbers is always less.
const LOOKED_AT: u64 = 16;

/// Bytes of elements that may be kept whatever the archive is: a mask of zeros is large and compresses to nothing.
const ALWAYS_KEPT: u64 = 192 << 20;

/// Fills a buffer from an offset of the data section. Offsets rise from call to call.
pub(in crate::ops) type ReadElements<'r> = dyn FnMut(u64, &mut [u8]) -> io::Result<()> + 'r;

/// One array of a pack: its elements, slices, views, description and statistics.
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
/// Whole arrays are held against the manifest of the pack, if it has one, and one that
/// such a manifest does not list is an error; [`unverified`](Self::unverified) reads it all the same.
///
/// An array has one order of indices, in which everything takes and gives them: slices, extents, axes,
/// statistics, and whatever is read. It is that of the header's `dims`, first index fastest, as every reader
/// of RawArray sees them, until [`in_shape_order`](Self::in_shape_order) makes it the one of the
/// description's `shape`. The two differ only where the description says `storage: {order: row}` or
/// `row-unreversed`. What is the file itself has the file's order whatever that of the indices:
/// [`header`](Self::header), [`read_raw`](Self::read_raw), and the memory that
/// [`read_into`](Self::read_into) fills.
///
/// It keeps the pack open, can be stored next to it and given to other threads. The header is read once.
#[derive(Debug, Clone)]
pub struct PackedArray {
    pack: Pack,
    found: Arc<FoundMember>,
    verify: bool,
    order: Order,
}

impl PackedArray {
    pub(super) fn new(pack: Pack, found: Arc<FoundMember>) -> Self {
        Self { pack, found, verify: true, order: Order::Column }
    }

    /// The pack that it is an array of.
    pub(in crate::ops) fn pack(&self) -> &Pack {
        &self.pack
    }

    /// Where its member begins in the container.
    pub(super) fn start(&self) -> u64 {
        self.found.member.start()
    }

    /// Whether a part of it can be read without the rest.
    pub(in crate::ops) fn is_placed(&self) -> Result<bool> {
        Ok(self.stored(self.header()?)?.is_some())
    }

    /// Its name in the payload.
    pub fn name(&self) -> &str {
        &self.found.name
    }

    /// The name of its member in the archive, which in a bag is longer.
    pub fn archive_name(&self) -> &str {
        &self.found.member.name
    }

    /// Reads without holding the content against the manifest. The container's own checksum is still
    /// checked where a whole member is read.
    #[must_use]
    pub fn unverified(mut self) -> Self {
        self.verify = false;
        self
    }

    /// Limits the memory that one read may take for elements; see [`Pack::max_bytes`].
    #[must_use]
    pub fn max_bytes(mut self, limit: u64) -> Self {
        self.pack.max_bytes = limit;
        self
    }

    /// Takes and gives indices in the order of the description's `shape` from here on. This reads the
    /// description, and moves no element.
    ///
    /// # Errors
    ///
    /// When the description is at fault.
    pub fn in_shape_order(mut self) -> Result<Self> {
        let description = self.description()?;
        self.order = description.map_or(Order::Column, |ndarray| ndarray.order());
        Ok(self)
    }

    /// The header, which is read once; for a stored member nothing else is read.
    ///
    /// # Errors
    ///
    /// When the member cannot be read, or is no RawArray.
    pub fn header(&self) -> Result<&Header> {
        if let Some(header) = self.found.header.get() {
            return Ok(header);
        }
        self.pack.must_be_alone(&self.found.member)?;
        let header = match self.pack.state.archive.start_of(&self.found.member, LONGEST_HEADER) {
            Some(mut start) => Header::read(&mut start),
            None => Header::read(&mut self.pack.state.archive.read(&self.found.member)?),
        };
        let header = header.map_err(|error| self.unreadable(error))?;
        header.check_file_len(self.found.member.size).map_err(|error| self.undecodable(error))?;
        Ok(self.found.header.get_or_init(|| header))
    }

    /// The description: that of the document beside the array, or its entry in the pack's own.
    ///
    /// # Errors
    ///
    /// When it is at fault.
    pub fn description(&self) -> Result<Option<Ndarray>> {
        let (path, contents) = self.contents()?;
        let mut findings = Vec::new();
        let ndarray = contents
            .description(&path, &mut findings)
            .map(|described| described.entity.array().clone());
        match findings.into_iter().find(Finding::is_error) {
            Some(finding) => Err(self.pack.damaged(finding)),
            None => Ok(ndarray),
        }
    }

    /// Its name in the payload, and all that describes it.
    pub(super) fn contents(&self) -> Result<(MemberPath, Contents)> {
        self.pack.contents_about(&self.found, self.header()?)
    }

    /// The array as its indices go: a header whose dims have the fastest index first indeed, and whether the
    /// indices count from the other end.
    pub(in crate::ops) fn layout(&self) -> Result<(Header, Order)> {
        let order = if self.is_reversed() { Order::Row } else { Order::Column };
        Ok((self.laid_out(self.header()?.clone()), order))
    }

    /// The header with the fastest index first, which some files list last.
    fn laid_out(&self, header: Header) -> Header {
        if self.order == Order::RowUnreversed { header.reversed() } else { header }
    }

    /// Whether the last index is the fastest.
    pub(super) fn is_reversed(&self) -> bool {
        self.order != Order::Column
    }

    /// The extents, in the order of the indices.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::header`].
    pub fn shape(&self) -> Result<Vec<u64>> {
        Ok(pack::shape_of(self.header()?.dims(), self.order))
    }

    /// Bytes of the whole array file.
    pub fn file_size(&self) -> u64 {
        self.found.member.size
    }

    /// How the container keeps it.
    pub fn method(&self) -> Method {
        self.found.member.method
    }

    /// The SHA-256 digest that the manifest gives for it.
    ///
    /// # Errors
    ///
    /// When the manifest is damaged.
    pub fn listed_digest(&self) -> Result<Option<Digest>> {
        self.pack.listed_digest(&self.found.member)
    }

    /// Where the data begins in the archive file, for a stored member: `offset` of the header, and of
    /// the first element.
    ///
    /// # Errors
    ///
    /// When the member cannot be read.
    pub fn offsets(&self) -> Result<Option<(u64, u64)>> {
        let Some(start) = self.found.member.data_offset() else { return Ok(None) };
        Ok(Some((start, start + self.header()?.header_len())))
    }

    /// The whole array. Its elements are not copied on the way from the file, and lie in memory as in
    /// the file.
    ///
    /// # Errors
    ///
    /// When the elements are not of type `T`, the member is damaged, or the manifest says otherwise;
    /// [`Error::TooLarge`].
    ///
    /// ```
    /// use ndarray::{Array2, ArrayD, Ix2};
    /// use ra_pack::Pack;
    ///
    /// let array = Pack::open("examples/experiment")?.array("thermistors/temperature.ra")?;
    /// let all: ArrayD<f32> = array.read()?;
    /// // With a fixed number of dimensions; another number is an error of ndarray.
    /// let matrix: Array2<f32> = all.into_dimensionality::<Ix2>()?;
    /// assert_eq!(matrix.dim(), (10, 149));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read<T: Element>(&self) -> Result<ArrayD<T>> {
        self.check_structure::<T>()?;
        let array = ArrayD::try_from(self.read_laid_out(RawArray::<T>::read_after)?)
            .map_err(|error| self.mismatch(error.to_string()))?;
        Ok(self.ordered(array))
    }

    /// The whole array with its dims and trailing metadata, as it stands in the file: whatever the order of
    /// indices, its first one is the one that the header lists first.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`].
    pub fn read_raw<T: Element>(&self) -> Result<RawArray<T>> {
        self.check_structure::<T>()?;
        self.read_with(|header| self.check_room(header), RawArray::read_after)
    }

    /// The whole array, of whatever type the file says.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`].
    pub fn read_any(&self) -> Result<AnyArray> {
        let array = self.read_laid_out(AnyArray::read_after)?;
        Ok(if self.is_reversed() { array.reversed_axes() } else { array })
    }

    /// Reads the elements into `out` one after the other as they stand in the file. The first index is the
    /// fastest; in shape order, of an array of the order `row` or `row-unreversed`, the last one.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`], and when `out` has another length than the array.
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

    /// The elements in blocks of so many and a last one of fewer, one after the other as they stand in the file, as of
    /// [`read_into`](Self::read_into). Memory does not grow with the array, however it is compressed.
    ///
    /// The slowest index is the last one; in shape order, of an array of the order `row` or `row-unreversed`, the first
    /// one. With a multiple of the product of all other extents, each block is a part of the array along it.
    ///
    /// ```
    /// # fn main() -> ra_pack::Result<()> {
    /// use ra_pack::Pack;
    ///
    /// let array = Pack::open("examples/experiment")?.array("thermistors/temperature.ra")?;
    /// let mut blocks = array.blocks::<f32>(1000)?;
    /// let mut warmest = f32::MIN;
    /// for block in &mut blocks {
    ///     let warm = block?.elements.into_iter().filter(|value| value.is_finite());
    ///     warmest = warm.fold(warmest, f32::max);
    /// }
    /// assert!(warmest > 10.0);
    /// assert!(!blocks.is_verified()); // the sample has no manifest
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When the elements are not of type `T`, or the member cannot be read; [`Error::TooLarge`] when a block takes more
    /// memory than a read may take, or than an archive of this size may make it take.
    pub fn blocks<T: Element>(&self, elements: usize) -> Result<Blocks<T>> {
        self.check_structure::<T>()?;
        let header = self.header()?;
        header.check_type::<T>().map_err(|error| self.undecodable(error))?;
        let most = header.elements().min(elements as u64);
        let bytes = most.saturating_mul(header.element().elbyte());
        self.pack.check_room(self.name(), bytes)?;
        let limit = self.memory_limit()?;
        if bytes > limit {
            return Err(Error::TooLarge { name: self.name().to_owned(), bytes, limit });
        }
        let encoding = self.encoding(header)?.unwrap_or(Encoding::Raw);
        Blocks::new(self.clone(), header.clone(), encoding, elements)
    }

    /// A part of the array, by [`ndarray::s!`] or [`parse_slice`](ra::parse_slice). Of a stored member
    /// only the bytes of the slice are read, so they are not held against the manifest.
    ///
    /// # Errors
    ///
    /// When the slice does not fit, the elements are not of type `T`, or the member is damaged.
    pub fn slice<T: Element>(&self, slice: impl AsRef<[SliceInfoElem]>) -> Result<ArrayD<T>> {
        self.check_structure::<T>()?;
        self.header()?.check_type::<T>().map_err(|error| self.undecodable(error))?;
        let array = self.part(slice.as_ref(), |header, len, slice, read_at| {
            ra::read_slice(header, len, slice, read_at)
        })?;
        Ok(self.ordered(array))
    }

    /// A part of the array, of whatever type the file says.
    ///
    /// # Errors
    ///
    /// As [`PackedArray::slice`].
    pub fn slice_any(&self, slice: impl AsRef<[SliceInfoElem]>) -> Result<AnyArray> {
        let part = self.part_for_file(slice.as_ref())?;
        Ok(if self.is_reversed() { part.reversed_axes() } else { part })
    }

    /// The part that a slice takes, to be written as a file of its own: with the fastest index first.
    pub(in crate::ops) fn part_for_file(&self, slice: &[SliceInfoElem]) -> Result<AnyArray> {
        self.part(slice, |header, len, slice, read_at| {
            AnyArray::read_slice(header, len, slice, read_at)
        })
    }

    /// The part that a slice takes, with the fastest index first.
    fn part<R>(
        &self,
        slice: &[SliceInfoElem],
        read: impl FnOnce(&Header, u64, &[SliceInfoElem], &mut ReadElements<'_>) -> Result<R, ReadError>,
    ) -> Result<R> {
        let (header, mut slice) = (self.header()?, slice.to_vec());
        if self.is_reversed() {
            slice.reverse();
        }
        let decoded = self.laid_out(header.decoded());
        let plan = SlicePlan::new(decoded.dims(), decoded.element().elbyte(), &slice);
        let bytes = plan.map_err(|error| self.unreadable(error.into()))?.data_len();
        self.pack.check_room(self.name(), bytes)?;
        self.read_data(header, self.stored(header)?, |header, read_at| {
            let header = self.laid_out(header.clone());
            read(&header, header.header_len() + header.data_len(), &slice, read_at)
        })
    }

    /// The array where it lies in a [mapped](Pack::map) archive, without reading or copying it. It is
    /// not held against the manifest.
    ///
    /// In a zip that ra-pack makes, the elements of a stored array begin at a multiple of 64 bytes. In a tar
    /// they begin where the format puts them, [`Header::header_len`] bytes behind a multiple of 512: at a
    /// multiple of 16 with an even number of dimensions, else of 8, which is too little for `u128` and
    /// `i128`. Such an array can be [read](Self::read).
    ///
    /// # Errors
    ///
    /// [`Error::NotViewable`] when the pack is not mapped, the member is compressed, or its elements are not in this
    /// machine's byte order and aligned as `T` has to be: [`read`](Self::read) reads them. [`Error::Array`] when they
    /// are not of type `T`.
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
        let Some(map) = &self.pack.state.map else {
            return Err(self.not_viewable(NotViewable::NotMapped));
        };
        let Some(start) = self.found.member.data_offset() else {
            return Err(self.not_viewable(NotViewable::Compressed));
        };
        self.check_structure::<T>()?;
        self.header()?;
        let end = start.saturating_add(self.found.member.size);
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let bytes = range.and_then(|(start, end)| map.bytes().get(start..end));
        let bytes = bytes.ok_or_else(|| {
            let finding = Finding::new(Code::BadMemberData, "the archive became shorter");
            self.pack.damaged(finding.in_member(self.name().to_owned()))
        })?;
        let view = ra::view(bytes).map_err(|error| match error.kind {
            DecodeErrorKind::NotInPlace { flags } => self.not_viewable(NotViewable::Flags(flags)),
            DecodeErrorKind::Misaligned { expected } => {
                self.not_viewable(NotViewable::Misaligned(expected))
            }
            _ => self.undecodable(error),
        })?;
        if self.order == Order::RowUnreversed {
            let shape = view.raw_dim();
            let rows = view.reversed_axes().into_shape_with_order(shape);
            return rows.map_err(|error| self.mismatch(error.to_string()));
        }
        Ok(if self.is_reversed() { view.reversed_axes() } else { view })
    }

    /// That the description names the parts that `T` has.
    fn check_structure<T: Element>(&self) -> Result<()> {
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

    /// What `read` makes of the whole file, with the fastest index first.
    fn read_laid_out<R>(
        &self,
        read: impl FnOnce(&Header, &mut CheckedReader, Option<u64>) -> Result<R, ReadError>,
    ) -> Result<R> {
        self.read_with(
            |header| self.check_room(header),
            |header, reader, len| read(&self.laid_out(header.clone()), reader, len),
        )
    }

    /// The elements of an array with the fastest index first, by their indices: reversing the axes moves none.
    fn ordered<T>(&self, array: ArrayD<T>) -> ArrayD<T> {
        if self.is_reversed() { array.reversed_axes() } else { array }
    }

    /// Whoever watches begins to count the bytes that are read of it.
    pub(in crate::ops) fn begin(&self, bytes: Option<u64>) {
        self.pack.begin(&self.found.name, &self.found.member, bytes);
    }

    /// Has `look` read elements at rising offsets of the data, and answers whether a manifest vouches for
    /// them. Of a stored member where not the `whole` is needed, only what is asked for is read and held
    /// against nothing; everything else passes by to its end, and is. Data whose header says that it is
    /// encoded passes by twice: first to tell how.
    pub(in crate::ops) fn with_data<R>(
        &self,
        whole: bool,
        look: impl FnOnce(&Header, &mut ReadElements<'_>) -> Result<R, ReadError>,
    ) -> Result<(R, bool)> {
        let header = self.header()?;
        let stored = if whole { None } else { self.stored(header)? };
        let is_whole = stored.is_none();
        let result = self.read_data(header, stored, look)?;
        Ok((result, is_whole && self.verify && self.pack.has_manifest()?))
    }

    /// Reads elements where they are `stored`, or as all of them pass.
    fn read_data<R>(
        &self,
        header: &Header,
        stored: Option<(Arc<File>, u64)>,
        look: impl FnOnce(&Header, &mut ReadElements<'_>) -> Result<R, ReadError>,
    ) -> Result<R> {
        if let Some((file, data)) = stored {
            let mut read_at = |at: u64, out: &mut [u8]| Ok(file.read_exact_at(out, data + at)?);
            return look(header, &mut read_at).map_err(|error| self.unreadable(error));
        }
        let encoding = self.encoding(header)?;
        let check = |found: &Header| self.must_be_header(header, found);
        self.read_with(check, |_, reader, _| {
            let mut passed = 0;
            if let Some(encoding) = encoding {
                let reader = BufReader::new(reader);
                let mut decoder = ra::Decoder::new(reader, header.clone(), encoding);
                let mut read_at = |at: u64, out: &mut [u8]| {
                    read_passing(&mut decoder, &mut passed, at, out)?;
                    Ok(decoder.swap_to_native(out)?)
                };
                return look(&header.decoded(), &mut read_at);
            }
            let mut read_at = |at: u64, out: &mut [u8]| read_passing(reader, &mut passed, at, out);
            look(header, &mut read_at)
        })
    }

    /// How the data is encoded, when the header says that it is.
    fn encoding(&self, header: &Header) -> Result<Option<Encoding>> {
        if !header.is_encoded() {
            return Ok(None);
        }
        check_decoded(&self.found.name, header)?;
        let mut reader = self.pack.state.archive.read(&self.found.member)?;
        let told = Header::read(&mut reader).and_then(|header| tell(header, &mut reader));
        told.map(|(encoding, _)| Some(encoding)).map_err(|error| self.unreadable(error))
    }

    /// Bytes of it that may be kept in memory at once, in another form than it is stored in.
    fn memory_limit(&self) -> Result<u64> {
        Ok(self.pack.state.archive.allowance()?.limit().max(ALWAYS_KEPT))
    }

    /// Refuses to keep so many bytes of it in memory at once, if that is more than its archive may make anyone take
    /// and more than [`ALWAYS_KEPT`].
    pub(in crate::ops) fn check_memory(&self, bytes: u64) -> Result<()> {
        let limit = self.memory_limit()?;
        if bytes <= limit {
            return Ok(());
        }
        Err(Error::Limit(format!(
            "`{}` takes {bytes} bytes of memory in this format, more than the {limit} that an archive of \
             this size may make it take; choose parts by the option `slice`, or get it as it is by `ra-pack extract`",
            escape(&self.found.name)
        )))
    }

    /// Refuses to look at so many elements one by one, if that would take far longer than the archive is long.
    pub(in crate::ops) fn check_elements(&self, elements: u64) -> Result<()> {
        let limit = self.pack.state.archive.allowance()?.limit().saturating_mul(LOOKED_AT);
        if elements <= limit {
            return Ok(());
        }
        Err(Error::Limit(format!(
            "`{}` has {elements} elements to look at, more than the {limit} of an archive of this size; choose \
             fewer by the option `slice`, or unpack it by `ra-pack extract`",
            escape(&self.found.name)
        )))
    }

    /// The file that holds the elements as they are, and where the first one lies.
    fn stored(&self, header: &Header) -> Result<Option<(Arc<File>, u64)>> {
        if header.is_encoded() {
            return Ok(None);
        }
        let stored = self.pack.state.archive.stored(&self.found.member)?;
        Ok(stored.map(|(file, start)| (file, start + header.header_len())))
    }

    /// Reads the whole member: `check` looks at its header, `read` takes what follows, with the length of the file
    /// where that is more than a claim. What passed is compared with the manifest.
    fn read_with<R>(
        &self,
        check: impl FnOnce(&Header) -> Result<()>,
        read: impl FnOnce(&Header, &mut CheckedReader, Option<u64>) -> Result<R, ReadError>,
    ) -> Result<R> {
        let mut reader = self.checked_reader()?;
        let len = (self.found.member.method == Method::Stored).then_some(self.found.member.size);
        let header = Header::read(&mut reader).map_err(|error| self.unreadable(error))?;
        check(&header)?;
        let result = read(&header, &mut reader, len).map_err(|error| self.unreadable(error))?;
        let is_listed = reader.finish()?;
        self.must_be_listed(is_listed)?;
        self.found.header.get_or_init(|| header);
        Ok(result)
    }

    /// Reads the whole file from its beginning, and compares it with the manifest at its end.
    pub(super) fn checked_reader(&self) -> Result<CheckedReader> {
        if !self.verify && self.found.header.get().is_none() {
            self.pack.must_be_alone(&self.found.member)?;
        }
        CheckedReader::new(&self.pack, &self.found, self.verify)
    }

    /// Refuses an array that the manifest does not list, unless it is not asked.
    pub(super) fn must_be_listed(&self, is_listed: bool) -> Result<()> {
        if self.verify { self.pack.must_be_listed(&self.found.member, is_listed) } else { Ok(()) }
    }

    /// Reads the header, which has to be the one that was read before.
    pub(super) fn must_begin_with(&self, header: &Header, reader: &mut impl Read) -> Result<()> {
        let found = Header::read(reader).map_err(|error| self.unreadable(error))?;
        self.must_be_header(header, &found)
    }

    fn must_be_header(&self, header: &Header, found: &Header) -> Result<()> {
        if found == header {
            return Ok(());
        }
        Err(self.unreadable(io::Error::other("the header changed while it was read").into()))
    }

    pub(super) fn unreadable(&self, error: ReadError) -> Error {
        match error {
            ReadError::Decode(source) => self.undecodable(source),
            ReadError::Slice(source) => Error::Slice { name: self.name().to_owned(), source },
            ReadError::Io(error) => self.pack.unreadable(&self.found.name, error),
        }
    }

    fn not_viewable(&self, reason: NotViewable) -> Error {
        Error::NotViewable { name: self.name().to_owned(), reason }
    }

    /// Refuses to read the whole array when that takes more memory than it may: that of the elements and of what
    /// follows them, and of encoded ones what they are decoded from.
    fn check_room(&self, header: &Header) -> Result<()> {
        let stored = self.found.member.size.saturating_sub(header.header_len());
        let decoded = if header.is_encoded() { header.data_len() } else { 0 };
        self.pack.check_room(self.name(), stored.saturating_add(decoded))
    }

    fn undecodable(&self, source: ra::DecodeError) -> Error {
        Error::array(self.name().to_owned(), source)
    }

    fn mismatch(&self, reason: impl ToString) -> Error {
        Error::mismatch(self.name(), reason)
    }
}

/// That an encoded array is not decoded to more than [`MAX_DECODED`].
pub(in crate::ops) fn check_decoded(name: &str, header: &Header) -> Result<()> {
    let decoded = header.data_len();
    if !header.is_encoded() || decoded <= MAX_DECODED {
        return Ok(());
    }
    Err(Error::Limit(format!(
        "`{}` decodes to {decoded} bytes, more than the {MAX_DECODED} that are decoded here; \
         store it plainly by `ra-pack convert`, after `ra-pack extract` if it is in an archive",
        escape(name)
    )))
}

/// How the data behind `header` is encoded, which `section` gives with all that follows it, and how many bytes
/// of that it took.
pub(in crate::ops) fn tell(
    header: Header,
    section: &mut dyn BufRead,
) -> Result<(Encoding, u64), ReadError> {
    let mut probe = EncodingProbe::new(header);
    loop {
        let block = section.fill_buf()?;
        if block.is_empty() {
            return Ok(probe.finish()?);
        }
        probe.update(block);
        let count = block.len();
        section.consume(count);
    }
}

/// Fills `out` from an offset of the data, of which so many bytes have passed.
fn read_passing(data: &mut impl Read, passed: &mut u64, at: u64, out: &mut [u8]) -> io::Result<()> {
    let between = at.checked_sub(*passed).ok_or(io::ErrorKind::InvalidInput)?;
    io::copy(&mut data.take(between), &mut io::sink())?;
    data.read_exact(out)?;
    *passed = at + out.len() as u64;
    Ok(())
}
