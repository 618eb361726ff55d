//! One array that is added to a pack: its description, and its elements at once or in pieces.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use ndarray::ArrayViewD;

use super::staged::ArrivingContent;
use super::{PackWriter, StagedMember, new_attribute};
use crate::archive::MemberKind;
use crate::error::{Error, Result};
use crate::finding::Code;
use crate::ndl::{Attribute, Datatype, Document, Extent, Order, Storage, Value, candidates};
use crate::pack::{
    self, ARRAY_EXTENSION, ArrayFacts, Content, Contents, DESCRIPTION_EXTENSIONS, DescriptionFacts,
    group_of, is_made_of, shape_of,
};
use crate::path::MemberPath;
use crate::pipeline;
use crate::ra::{Element, Encoding, Header, Part, Reversal, Structure};

/// Bytes of elements that are reordered at once.
const REORDERED_AT_ONCE: usize = 1 << 20;

/// A builder for an array of a pack and its description. `C` is a view of all elements, or the header of an array that
/// is written in pieces.
#[derive(Debug)]
#[must_use = "nothing is written before `write` or `begin`"]
pub struct NewArray<'p, 'w, C> {
    pack: &'p mut PackWriter<'w>,
    content: C,
    plan: Plan,
    grows: bool,
    /// The first attribute that has no counterpart in NDL.
    refused: Option<Error>,
}

/// The parts of a description that the header of the array does not give.
#[derive(Debug, Default)]
struct Plan {
    name: String,
    dims: Option<Vec<String>>,
    order: Order,
    datatype: Option<Datatype>,
    fill_value: Option<Value>,
    attributes: Vec<Attribute>,
}

impl<'p, 'w, C> NewArray<'p, 'w, C> {
    pub(super) fn new(pack: &'p mut PackWriter<'w>, name: String, content: C) -> Self {
        let plan = Plan { name, ..Plan::default() };
        Self { pack, content, plan, grows: false, refused: None }
    }

    /// Sets the names of the dimensions, in the order of the shape.
    ///
    /// A name refers to a coordinate: a 1-D array of the pack in the same directory or the nearest one above, or
    /// anywhere if the name is a path that begins with `/`. If there is no such array, the description of the pack
    /// defines the name and its length. A 1-D array whose dimension has its own name is itself a coordinate. A
    /// dimension of length 0 has no name.
    pub fn dims<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.plan.dims = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the attribute `units`.
    pub fn units(self, units: impl Into<String>) -> Self {
        self.attribute("units", units.into())
    }

    /// Sets the attribute `long_name`.
    pub fn long_name(self, name: impl Into<String>) -> Self {
        self.attribute("long_name", name.into())
    }

    /// Sets an attribute to a number, a text, or a list of numbers or texts.
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        match new_attribute(&name.into(), value.into()) {
            Ok(attribute) => attribute.put_into(&mut self.plan.attributes),
            Err(error) => self.refused = self.refused.or(Some(error)),
        }
        self
    }

    /// Sets an attribute with its datatype, such as a `float32`. [`attribute`](Self::attribute) chooses the datatype.
    pub fn typed_attribute(mut self, attribute: Attribute) -> Self {
        attribute.put_into(&mut self.plan.attributes);
        self
    }

    /// Sets the datatype in the description, such as an enum, if it is not that of the Rust type or of the header. For
    /// an array of structures that is written in pieces, [`datatype`](crate::read::datatype()) returns
    /// the datatype.
    pub fn datatype(mut self, datatype: Datatype) -> Self {
        self.plan.datatype = Some(datatype);
        self
    }

    /// Sets the element that means "nothing was written", as `storage.fillvalue` of the description.
    pub fn fill_value(mut self, value: impl Into<Value>) -> Self {
        self.plan.fill_value = Some(value.into());
        self
    }

    /// Sets the order of the elements in the file: [`Order::Column`] (the default) or [`Order::Row`], which lists the
    /// dims of the header in reverse. A row-major [`ArrayViewD`] is then written without reordering.
    pub fn order(mut self, order: Order) -> Self {
        self.plan.order = order;
        self
    }

    /// Stages the description and the header.
    fn stage(self, header: Header) -> Result<ArrayStream<'p, 'w>> {
        let Self { pack, plan, grows, refused, .. } = self;
        if let Some(error) = refused {
            return Err(error);
        }
        let described = plan.described(&header)?;
        let Described { path, description, dims } = &described;
        for path in [path, &description.0] {
            pack.check_name(path, MemberKind::File)?;
        }
        if !grows {
            pack.check_lengths(path, header.dims(), dims)?;
        }
        pack.check_description(path, &header, description)?;
        let size = header.header_len().saturating_add(if grows { 0 } else { header.data_len() });
        let content = pack.begin_content(path, size, Some(header.header_len()), false);
        let content = content.map_err(|error| pack.in_words(error))?;
        let Described { path, description, dims } = described;
        let mut stream = ArrayStream {
            pack,
            path,
            description,
            dims,
            content,
            header,
            datatype: plan.datatype.clone(),
            grows: grows.then_some(plan),
            written: 0,
            is_shared: false,
            is_complete: false,
        };
        let encoded = stream.header.encode();
        if !grows {
            stream.put(&encoded)?;
        } else if let ArrivingContent::Memory(content) = &mut stream.content {
            content.extend(encoded);
        }
        Ok(stream)
    }
}

/// An array as the pack describes it.
struct Described {
    path: MemberPath,
    /// The name and the text of the description.
    description: (MemberPath, String),
    /// The names and lengths of dimensions.
    dims: Vec<(String, u64)>,
}

impl Plan {
    /// Makes the error for an array that cannot be added.
    fn mismatch(&self, reason: impl ToString) -> Error {
        Error::mismatch(&*self.name, reason)
    }

    /// Returns the path and the description of an array with this header.
    fn described(&self, header: &Header) -> Result<Described> {
        if self.order == Order::RowUnreversed || header.is_encoded() {
            return Err(self.mismatch("cannot write an array with this order or encoding"));
        }
        let suffix = format!(".{ARRAY_EXTENSION}");
        let stem = self.name.strip_suffix(&suffix).unwrap_or(&self.name);
        let path = MemberPath::new(format!("{}{suffix}", MemberPath::new(stem)?.as_str()))?;
        let mut array = pack::describe(path.stem(), header, Encoding::Raw);
        let shape = shape_of(header.dims(), self.order);
        array.shape = shape.iter().copied().map(Extent::Fixed).collect();
        array.datatype = self.datatype.clone().unwrap_or(array.datatype);
        if array.datatype == Datatype::String {
            array.shape.clear(); // one text, whose bytes are the elements
        }
        if self.order == Order::Row {
            array.storage.get_or_insert_with(Storage::default).order = Order::Row;
        }
        if let Some(value) = &self.fill_value {
            array.storage.get_or_insert_with(Storage::default).fillvalue = Some(value.clone());
        }
        let mut is_coordinate = false;
        if let Some(names) = &self.dims {
            let expected = array.shape.len();
            if names.len() != expected {
                let reason = format!("expected {expected} dimension names, found {}", names.len());
                return Err(self.mismatch(reason));
            }
            is_coordinate = **names == [path.stem()];
            if !is_coordinate {
                // NDL has no coordinates of length 0.
                let named = array
                    .shape
                    .iter_mut()
                    .zip(names)
                    .filter(|(extent, _)| **extent != Extent::Fixed(0));
                named.for_each(|(extent, name)| *extent = Extent::Coord(name.clone()));
            }
        }
        array.attributes.clone_from(&self.attributes);
        let mut document = Document::flat();
        let group = document.groups.first_mut().expect("a flat document has one group");
        if is_coordinate {
            group.dimcoords.push(pack::as_coordinate(array));
        } else {
            group.ndarrays.push(array);
        }
        let dims = if is_coordinate { None } else { self.dims.clone() };
        let dims = dims.into_iter().flatten().zip(shape).filter(|(_, length)| *length > 0);
        let dims: Vec<_> = dims.collect();
        let description = format!("{}.{}", path.without_extension(), DESCRIPTION_EXTENSIONS[0]);
        let text = document.to_compared_yaml();
        let text = text.map_err(|misread| Error::misread(&description, &misread))?;
        let description = (MemberPath::new(description)?, text);
        Ok(Described { path, description, dims })
    }
}

impl PackWriter<'_> {
    /// Returns an error if a dimension contradicts those of the group. Arrays that are added later may be nearer
    /// coordinates for other groups.
    fn check_lengths(
        &self,
        path: &MemberPath,
        header: &[u64],
        dims: &[(String, u64)],
    ) -> Result<()> {
        let home = group_of(path);
        let mismatch = |name: &str, expected: u64, other: &MemberPath, found: u64| {
            let reason = format!(
                "expected length {expected} for the dimension `{name}`, as in `{other}`, found {found}"
            );
            Err(Error::mismatch(path.as_str(), reason))
        };
        for (name, length) in dims {
            let nearest = candidates(&home, name).swap_remove(0);
            let coordinate = format!("{}.{ARRAY_EXTENSION}", nearest.trim_start_matches('/'));
            let added = self.members.get_key_value(&*coordinate);
            if let Some((other, expected)) = added.and_then(|(path, one)| Some((path, one.length?)))
                && expected != *length
            {
                return mismatch(name, expected, other, *length);
            }
        }
        let own = [(path.stem().to_owned(), header.first().copied().unwrap_or_default())];
        let own = own.iter().filter(|_| header.len() == 1);
        for (name, length) in dims.iter().chain(own) {
            if let Some(used) = self.dims.get(&(home.clone(), name.clone()))
                && used.length != *length
                && let Some(other) = used.arrays.first()
            {
                return mismatch(name, used.length, other, *length);
            }
        }
        Ok(())
    }

    /// Returns an error if the description breaks a rule of the language, or contradicts the header.
    fn check_description(
        &self,
        path: &MemberPath,
        header: &Header,
        (name, text): &(MemberPath, String),
    ) -> Result<()> {
        let mut contents = Contents::default();
        let facts = ArrayFacts::of_header(header.clone());
        contents.add(path.clone(), Content::Array(Arc::new(facts)));
        let facts = DescriptionFacts::parse(name.as_str(), text.as_bytes());
        contents.add(name.clone(), Content::Description(Arc::new(facts)));
        let mut findings = contents.findings();
        // The coordinates are elsewhere in the pack.
        findings.retain(|finding| finding.is_error() && finding.code != Code::UnknownCoordinate);
        if findings.is_empty() { Ok(()) } else { Err(self.refused(findings)) }
    }
}

impl<T: Element> NewArray<'_, '_, ArrayViewD<'_, T>> {
    /// Writes the array and its description.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidPath`] if the name is not valid; [`Error::Refused`] if it is in use, or in an update
    /// [`Error::AlreadyExists`] without the option `force`; [`Error::Mismatch`] if the number of dimension names is
    /// wrong, or for [`Order::RowUnreversed`]; [`Error::Unsupported`] for an attribute that NDL cannot express;
    /// [`Error::Io`] if writing fails.
    pub fn write(self) -> Result<()> {
        let shape: Vec<_> = self.content.shape().iter().map(|length| *length as u64).collect();
        let header = Header::new(T::ELEMENT_TYPE, shape_of(&shape, self.plan.order));
        let header = header.map_err(|error| self.plan.mismatch(error))?;
        let (view, order) = (self.content.clone(), self.plan.order);
        let in_order =
            if order == Order::Row { view.clone() } else { view.clone().reversed_axes() };
        let jobs = pipeline::jobs(self.pack.options.jobs);
        let described = T::STRUCTURE != Structure::Plain && self.plan.datatype.is_none();
        let this = if described { self.datatype(pack::datatype::<T>()) } else { self };
        let mut stream = this.stage(header)?;
        if let Some(elements) = in_order.as_slice() {
            stream.write_elements(elements)?;
        } else if let Some(elements) = view.as_slice()
            && stream.header.is_native()
            && !matches!(stream.content, ArrivingContent::Memory(_))
        {
            stream.write_reversed(bytemuck::cast_slice(elements), jobs)?;
        } else {
            let mut elements = in_order.iter().copied();
            let mut block = Vec::new();
            loop {
                block.extend(
                    elements.by_ref().take((REORDERED_AT_ONCE / size_of::<T>().max(1)).max(1)),
                );
                if block.is_empty() {
                    break;
                }
                stream.write_elements(&block)?;
                block.clear();
            }
        }
        stream.finish()
    }
}

impl<'p, 'w> NewArray<'p, 'w, Header> {
    /// Lets the array grow along its slowest dimension, which is the last one of the header, until it is finished. The
    /// header's length of this dimension has no meaning. [`ArrayStream::finish`] computes it from what was written,
    /// compares it with the other lengths of the same dimension, and reads the array once for its digests.
    pub fn grows(mut self) -> Self {
        self.grows = true;
        self
    }

    /// Writes the description, and begins the array.
    ///
    /// # Errors
    ///
    /// As [`NewArray::write`], and [`Error::Mismatch`] for a header with the flag of encoded data, or if the array
    /// [grows](Self::grows) and has no dimensions or another one of length 0.
    pub fn begin(self) -> Result<ArrayStream<'p, 'w>> {
        let header = if self.grows {
            let slice = self.content.with_slices(1).filter(|slice| slice.data_len() > 0);
            let reason =
                "an array cannot grow without dimensions, or if another one has the length 0";
            slice.ok_or_else(|| self.plan.mismatch(reason))?
        } else {
            self.content.clone()
        };
        self.stage(header)
    }
}

/// A writer for an array in pieces. Write elements with [`write_elements`](Self::write_elements), or bytes of the data
/// section with [`Write`]. Call [`finish`](Self::finish) at the end; otherwise the array is incomplete, and the pack cannot
/// be finished until it is added again or [removed](PackWriter::remove).
#[derive(Debug)]
pub struct ArrayStream<'p, 'w> {
    pack: &'p mut PackWriter<'w>,
    path: MemberPath,
    /// The name and the text of the description.
    description: (MemberPath, String),
    /// The names and lengths of dimensions.
    dims: Vec<(String, u64)>,
    /// Taken at the end.
    content: ArrivingContent,
    header: Header,
    /// The datatype that was set.
    datatype: Option<Datatype>,
    /// The plan of an array that grows; its header has one slice.
    grows: Option<Plan>,
    /// Bytes of data written so far.
    written: u64,
    /// Whether other processes may write the data.
    is_shared: bool,
    is_complete: bool,
}

impl ArrayStream<'_, '_> {
    /// Writes the next elements.
    ///
    /// # Errors
    ///
    /// [`Error::Array`] if the array has another element type; [`Error::Structure`] if its
    /// [description](NewArray::datatype) does not match a structure; [`Error::Mismatch`] if there are too many
    /// elements; [`Error::Io`] if writing fails.
    pub fn write_elements<T: Element>(&mut self, elements: &[T]) -> Result<()> {
        let failed = |source| Error::array(self.path.as_str().to_owned(), source);
        self.header.check_type::<T>().map_err(failed)?;
        let is_compound = matches!(T::STRUCTURE, Structure::Compound(_));
        let described = self.datatype.as_ref();
        if is_compound && !described.is_some_and(|datatype| is_made_of(datatype, &Part::of::<T>()))
        {
            let plain = || pack::describe("", &self.header, Encoding::Raw).datatype;
            return Err(Error::Structure {
                name: self.path.as_str().to_owned(),
                described: Box::new(described.cloned().unwrap_or_else(plain)),
                wanted: Box::new(pack::datatype::<T>()),
            });
        }
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        if self.header.is_native() {
            return self.append(bytes);
        }
        for block in bytes.chunks(REORDERED_AT_ONCE / size_of::<T>().max(1) * size_of::<T>().max(1))
        {
            let mut block = block.to_vec();
            let swapped = self.header.swap_to_native(&mut block);
            let failed = |source| Error::array(self.path.as_str().to_owned(), source);
            swapped.map_err(failed)?;
            self.append(&block)?;
        }
        Ok(())
    }

    /// Completes the array.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`] if elements are missing, or if a dimension of an array that [grew](NewArray::grows) has another
    /// length than in the pack.
    pub fn finish(mut self) -> Result<()> {
        self.end_growth()?;
        let (expected, found) = (self.header.data_len(), self.written);
        if found != expected {
            return Err(self.mismatch(format!("expected {expected} bytes of data, found {found}")));
        }
        let (name, text) = &self.description;
        let (pack, empty) = (&mut *self.pack, ArrivingContent::Memory(Vec::new()));
        let content = std::mem::replace(&mut self.content, empty);
        // Readers fetch an array together with its description.
        let near = matches!(content, ArrivingContent::Archive(_));
        let staged = pack.end_content(content).and_then(|content| {
            let mut arriving = pack.begin_content(name, text.len() as u64, None, near)?;
            arriving.append(text.as_bytes())?;
            Ok((content, pack.end_content(arriving)?))
        });
        let (content, description) = staged.map_err(|error| pack.in_words(error))?;
        self.is_complete = true;
        pack.put(name.clone(), StagedMember { content: description, length: None })?;
        let other = format!("{}.{}", self.path.without_extension(), DESCRIPTION_EXTENSIONS[1]);
        pack.old.as_mut().map(|old| old.remove(&other));
        for (name, length) in self.dims.drain(..) {
            pack.dimension(&self.path, &name, length);
        }
        let length = if let [length] = self.header.dims() { Some(*length) } else { None };
        pack.put(self.path.clone(), StagedMember { content, length })
    }

    /// Returns the file and the offset where other processes can write the data section, instead of this writer. Call
    /// [`finish_placed`](Self::finish_placed) when all of them have ended. They must write every byte, and see the same
    /// file: its name is random, and it has the length that it needs. On a network file system, they must write without
    /// mapping the file into memory, and sync what they wrote.
    ///
    /// Returns `None` if this writer must write: for an array that has begun or is short enough to wait in memory, an
    /// archive with compression or a [journal](crate::write::JournalOptions), or one that is not written to a file.
    ///
    /// If the array is then dropped, processes may still write. The members that were added before are copied to another
    /// file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be synced.
    pub fn place(&mut self) -> Result<Option<(PathBuf, u64)>> {
        let (ArrivingContent::Archive(arriving), 0, None) =
            (&self.content, self.written, &self.grows)
        else {
            return Ok(None);
        };
        let offset = arriving.data() + self.header.header_len();
        let shared = self.pack.begun.share(offset + self.header.data_len());
        let path = shared.map_err(|error| self.pack.in_words(error))?;
        self.is_shared = path.is_some();
        Ok(path.map(|path| (path, offset)))
    }

    /// Completes an array whose data other processes wrote to its [`place`](Self::place). The data is read once for its
    /// digests. A process that still writes changes the array after that: `verify` then reports it as damaged, unless
    /// the bytes are the same.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`] if the array has no place or this writer wrote elements; [`Error::Io`] if the data cannot be
    /// read.
    pub fn finish_placed(mut self) -> Result<()> {
        if !self.is_shared || self.written > 0 {
            return Err(self.mismatch("other processes did not write this array".to_owned()));
        }
        let len = self.header.data_len();
        let (begun, content) = (&self.pack.begun, &mut self.content);
        let read = begun.take_back().and_then(|()| content.placed(self.header.header_len() + len));
        read.map_err(|error| self.pack.in_words(error))?;
        self.written = len;
        self.finish()
    }

    fn mismatch(&self, reason: String) -> Error {
        Error::mismatch(self.path.as_str(), reason)
    }

    /// Completes the header and the description of an array that grows.
    fn end_growth(&mut self) -> Result<()> {
        let Some(plan) = self.grows.take() else { return Ok(()) };
        let (slice, found) = (self.header.data_len(), self.written);
        if !found.is_multiple_of(slice) {
            let reason = format!("expected whole slices of {slice} bytes, found {found} bytes");
            return Err(self.mismatch(reason));
        }
        let header = self.header.with_slices(found / slice);
        let too_long = || self.mismatch(format!("{found} bytes are too many for one array"));
        self.header = header.ok_or_else(too_long)?;
        let Described { path, description, dims } = plan.described(&self.header)?;
        self.pack.check_lengths(&path, self.header.dims(), &dims)?;
        self.pack.check_description(&path, &self.header, &description)?;
        (self.description, self.dims) = (description, dims);
        let (header, content) = (self.header.encode(), &mut self.content);
        let placed = if let ArrivingContent::Memory(content) = content {
            drop(content.splice(..header.len(), header));
            Ok(())
        } else {
            let len = header.len() as u64 + found;
            content.place(&header, 0).and_then(|()| content.placed(len))
        };
        placed.map_err(|error| self.pack.in_words(error))
    }

    /// Appends bytes to the data.
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.grows.is_none() {
            let left = self.header.data_len() - self.written;
            if bytes.len() as u64 > left {
                let reason = format!("expected {left} more bytes of data, found {}", bytes.len());
                return Err(self.mismatch(reason));
            }
        }
        self.put(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Writes all elements, given in row-major order.
    fn write_reversed(&mut self, elements: &[u8], jobs: usize) -> Result<()> {
        let read = |block: &mut [u8], at: u64| {
            let at = usize::try_from(at).expect("the elements are in memory");
            let found = elements.get(at..).and_then(|rest| rest.get(..block.len()));
            block.copy_from_slice(found.expect("the header counts them"));
            Ok(())
        };
        let (header, content, progress) =
            (&self.header, &mut self.content, &self.pack.options.progress);
        let write = |block: &[u8], at: u64| {
            progress.check().map_err(Error::from)?;
            Ok(content.place(block, header.header_len() + at)?)
        };
        let reversed = Reversal::new(&header.reversed()).reverse_at(jobs, read, write);
        progress.check()?;
        let reversed = reversed.map_err(Error::io("write", self.pack.archive()));
        self.written = header.data_len();
        let placed = reversed.and_then(|()| content.placed(header.header_len() + self.written));
        placed.map_err(|error| self.pack.in_words(error))
    }

    /// Appends bytes to the file.
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let Self { pack, content, .. } = self;
        pack.options.progress.check()?;
        let put = if self.grows.is_some() { self.grow(bytes) } else { content.append(bytes) };
        put.map_err(|error| self.pack.in_words(error))
    }

    /// Appends bytes to the file of an array that grows. Its header and so its digests are not known.
    fn grow(&mut self, bytes: &[u8]) -> Result<()> {
        let Self { pack, path, content, header, written, .. } = self;
        if let ArrivingContent::Memory(before) = content {
            let len = (before.len() + bytes.len()) as u64;
            if pack.memory_for(len).is_some() {
                return content.append(bytes);
            }
            let longer = pack.begin_content(path, len, Some(header.header_len()), false)?;
            longer.place(before, 0)?;
            *content = longer;
        }
        content.place(bytes, header.header_len() + *written)
    }
}

impl Drop for ArrayStream<'_, '_> {
    fn drop(&mut self) {
        if !self.is_complete {
            self.pack.staged.discard(&self.description.0);
            self.pack.fail(&self.path);
            if self.is_shared {
                self.pack.begun.abandon();
            }
        }
    }
}

impl Write for ArrayStream<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
