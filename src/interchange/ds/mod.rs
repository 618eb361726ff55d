//! Files of ds-format (`.ds`, version 1.0): named arrays with named dimensions, attributes and masks.
//!
//! A file is a line `ds-1.0`, a line of JSON, and the data of each variable. [`DsReader`] returns each variable as an
//! [`Array`].
//!
//! | file | array |
//! | --- | --- |
//! | a number | the same type |
//! | `bool` | an enum of `uint8`: false 0, true 1 |
//! | a single `str` or `unicode` | a `string`, whose bytes are the data |
//! | an array of `str` or `unicode` | a `string` with its `value` in the description and no data |
//! | `str` that is not UTF-8 | an `opaque` with the tag `text`, padded with zero bytes |
//! | a variable with the name of its only dimension | a coordinate, to which other shapes refer by name |
//! | another named dimension | an integer length, and all names in the attribute `_dims` |
//! | a mask | an element that does not occur, as `storage.fillvalue`; with [`ImportOptions::masks`] also the mask |
//! | a mask of `bool` | a third member of the enum, `missing` |
//! | an attribute: number, text, lists of one kind | the same |
//! | another attribute | its JSON text, with a loss |
//!
//! [`DsWriter`] does the reverse. An enum other than booleans is written as its base, with the attributes
//! `flag_values` and `flag_meanings`. `storage.fillvalue` becomes the attribute `_FillValue`, and with
//! [`ExportOptions::mask_fill`](super::ExportOptions::mask_fill) a mask.
//!
//! Known errors of the reference implementation are corrected: lengths of texts that do not add up to the file, and
//! booleans without a byte order or in a number that is not a multiple of 8.

#![expect(
    clippy::indexing_slicing,
    reason = "indices of arrays and offsets in buffers are computed here, not read from a file"
)]

mod body;
mod header;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests;
mod values;
mod write;

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

pub use self::write::DsWriter;

use self::body::{DsBody, ElementReader, MAX_TEXTS, StoredAs, Texts, Utf8Check};
use self::header::{DsElement, VERSION_LINE, VariableEntry};
use self::values::{DIMS, FILL_VALUE, to_json};
use super::values::{nest, numbers, to_value};
use super::{BlockReader, FormatError, ImportOptions, Variable, element_of_word};
use crate::ndl::{Attribute, Datatype, Endian, Extent, Ndarray, Order, Storage, Value};
use crate::ra::{ElementType, Header, MAX_NDIMS};

/// Most bytes of texts that are not UTF-8, once each is padded to the longest.
const MAX_PADDED: u64 = 64 << 20;

/// The number of the member `missing` of a boolean.
const MISSING_BOOL: u8 = 2;

/// A `.ds` file opened for reading.
///
/// Opening checks the offsets of all variables. After that, an error is only possible if reading fails or a variable
/// has no counterpart. Names are returned as they are in the file: check them before you use them as paths.
///
/// ```
/// use std::io::{Cursor, Read};
/// use ra_pack::interchange::{ImportOptions, ds::DsReader};
///
/// let file = b"ds-1.0\n{\"x\": {\".size\": [2], \".offset\": 0, \".len\": 2, \".type\": \"int8\", \
///              \".endian\": \"b\", \"units\": \"m\"}, \".\": {}}\n\x01\xFF";
/// let mut reader = DsReader::open(Cursor::new(file), ImportOptions::default())?;
/// assert_eq!(reader.names().collect::<Vec<_>>(), ["x"]);
/// let array = reader.array(0)?;
/// assert_eq!(array.header.as_ref().map(|header| header.dims()), Some(&[2][..]));
/// assert_eq!(array.description.attributes[0].name, "units");
/// let mut data = Vec::new();
/// reader.data(&array).read_to_end(&mut data)?;
/// assert_eq!(data, [1, 0xFF]);
/// # Ok::<(), ra_pack::interchange::FormatError>(())
/// ```
#[derive(Debug)]
pub struct DsReader<R> {
    body: DsBody<R>,
    entries: Vec<VariableEntry>,
    arrays: Vec<ArrayName>,
    coordinates: HashSet<String>,
    attributes: Vec<Attribute>,
    losses: Vec<String>,
}

/// The name of an array: a variable or its mask.
#[derive(Debug)]
struct ArrayName {
    name: String,
    /// The index of the variable.
    entry: usize,
    is_mask: bool,
}

/// An array of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The header of its data; `None` for an array of texts, which are the `value` in the description.
    pub header: Option<Header>,
    /// The description; that of a dimcoord if the array is a coordinate.
    pub description: Ndarray,
    /// Messages about metadata that header and description cannot store.
    pub losses: Vec<String>,
    /// Whether it is the coordinate of the dimension with its name, to which the shapes of other arrays refer.
    pub is_coordinate: bool,
    origin: Origin,
}

impl Array {
    /// Returns the array like one of another format; `None` if it has no data.
    pub fn variable(&self) -> Option<Variable> {
        let (description, losses) = (self.description.clone(), self.losses.clone());
        Some(Variable { header: self.header.clone()?, description, losses })
    }
}

/// The source of the data.
#[derive(Debug, Clone, PartialEq)]
enum Origin {
    /// The body, with the bits of the number for missing elements.
    Body(ElementReader, u64),
    Memory(Vec<u8>),
}

impl<R: Read + Seek> DsReader<R> {
    /// Opens a file and reads its header, from the beginning of `reader`.
    ///
    /// # Errors
    ///
    /// - [`FormatError::Io`] if reading fails.
    /// - [`FormatError::Malformed`] if it is not a file of version 1.0, its header is not valid, or variables are
    ///   outside of the file.
    pub fn open(mut reader: R, options: ImportOptions) -> Result<Self, FormatError> {
        let file_len = reader.seek(SeekFrom::End(0))?;
        reader.seek(SeekFrom::Start(0))?;
        let mut lines = BufReader::new(&mut reader);
        version(&mut lines)?;
        let base = VERSION_LINE.len() as u64;
        let mut line = Vec::new();
        let len = lines.by_ref().take(header::MAX_LEN).read_until(b'\n', &mut line)? as u64;
        if line.pop() != Some(b'\n') {
            let reason = if len == header::MAX_LEN {
                format!("expected a header of at most {len} bytes, found more")
            } else {
                "expected a line end after the header, found the end of the file".to_owned()
            };
            return Err(FormatError::malformed(base + len, reason));
        }
        let header::DsHeader { variables: mut entries, attributes, mut losses } =
            header::parse(&line, base)?;
        let start = base + len;
        // A file that becomes shorter while it is read is truncated.
        let mut body = DsBody { inner: reader, start, len: file_len.saturating_sub(start) };
        let unused = body.place(&mut entries)?;
        if unused > 0 {
            losses.push(format!("{unused} bytes of the file belong to no variable"));
        }
        let arrays = array_names(&entries, options, &mut losses)?;
        let coordinates = entries.iter().filter(|entry| entry.is_coordinate());
        let coordinates = coordinates.map(|entry| entry.name.clone()).collect();
        Ok(Self { body, entries, arrays, coordinates, attributes, losses })
    }

    /// Returns the name of each array, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|array| array.name.as_str())
    }

    /// Returns the attributes of the dataset, which become those of the group of the arrays.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Returns a message for each other part of the file that is dropped.
    pub fn losses(&self) -> &[String] {
        &self.losses
    }

    /// Returns the description of the array at `index` of [`names`](Self::names). If elements are missing, reads all of
    /// its data to find a number or text that can mark them.
    ///
    /// # Errors
    ///
    /// - [`FormatError::NoCounterpart`] if the array has no counterpart.
    /// - [`FormatError::Malformed`] if texts are not UTF-8.
    /// - [`FormatError::Io`] if reading fails, or there is no array at `index`.
    pub fn array(&mut self, index: usize) -> Result<Array, FormatError> {
        let Self { body, entries, arrays, coordinates, .. } = self;
        let Some(ArrayName { name, entry: number, is_mask }) = arrays.get(index) else {
            let reason = format!("there are {} arrays, but none at index {index}", arrays.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason).into());
        };
        let entry = &entries[*number];
        let mut losses = Vec::new();
        let description = describe(entry, name, coordinates, &mut losses);
        let is_coordinate = entry.is_coordinate() && !is_mask;
        let origin = Origin::Memory(Vec::new());
        let array = Array { header: None, description, losses, is_coordinate, origin };
        let mut maker = ArrayMaker { body, entry, array };
        match &entry.size {
            _ if *is_mask || !entry.element.is_text() => maker.elements(*is_mask)?,
            Some(size) if size.is_empty() => maker.text()?,
            _ => maker.texts()?,
        }
        Ok(maker.array)
    }

    /// Returns a reader for the data of an array of this file: little-endian, row-major; empty for an array of texts.
    pub fn data(&mut self, array: &Array) -> impl Read {
        let (body, mut origin) = (&mut self.body, array.origin.clone());
        BlockReader::new(move |block| {
            match &mut origin {
                Origin::Memory(bytes) => block.append(bytes),
                Origin::Body(elements, fill) => {
                    let fill = fill.to_le_bytes();
                    elements.next(body, Some(&fill[..elements.width()]), block)?;
                }
            }
            Ok(())
        })
    }
}

fn version(lines: &mut impl BufRead) -> Result<(), FormatError> {
    let mut line = Vec::new();
    lines.take(64).read_until(b'\n', &mut line)?;
    if line == VERSION_LINE {
        return Ok(());
    }
    let at = line.iter().zip(VERSION_LINE).take_while(|(found, known)| found == known).count();
    let shown = line[..line.len().min(16)].escape_ascii();
    let reason = format!("expected `ds-1.0` and a line end, found `{shown}`");
    Err(FormatError::malformed(at as u64, reason))
}

fn array_names(
    entries: &[VariableEntry],
    options: ImportOptions,
    losses: &mut Vec<String>,
) -> Result<Vec<ArrayName>, FormatError> {
    let names: HashSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut arrays = Vec::new();
    for (index, VariableEntry { name, size, missing, attributes, .. }) in entries.iter().enumerate()
    {
        if size.is_none() {
            let known = attributes.iter();
            let known = known.map(|found| format!("{:?}: {}", found.name, to_json(&found.value)));
            let known = known.collect::<Vec<_>>().join(", ");
            let with = if known.is_empty() { "" } else { " with its attributes " };
            losses.push(format!("the variable {name:?} has no data and is dropped{with}{known}"));
            continue;
        }
        arrays.push(ArrayName { name: name.clone(), entry: index, is_mask: false });
        if options.masks && *missing {
            let mask = format!("{name}.mask");
            if names.contains(mask.as_str()) {
                return Err(FormatError::no_counterpart(
                    format!("the mask of {name:?} would get the name {mask:?} of another variable"),
                    "rename that, or read without masks",
                ));
            }
            arrays.push(ArrayName { name: mask, entry: index, is_mask: true });
        }
    }
    Ok(arrays)
}

/// Describes a variable, or its mask if `name` is that of the mask, without datatype, value and fill value.
fn describe(
    entry: &VariableEntry,
    name: &str,
    coordinates: &HashSet<String>,
    losses: &mut Vec<String>,
) -> Ndarray {
    let size = entry.size.as_deref().expect("only variables with data are arrays");
    let is_own = name == entry.name;
    let mut shape: Vec<Extent> = size.iter().map(|extent| Extent::Fixed(*extent)).collect();
    let mut names = None;
    if let Some(dims) = entry.dims.as_ref().filter(|_| !(is_own && entry.is_coordinate())) {
        for (extent, dim) in shape.iter_mut().zip(dims) {
            if coordinates.contains(dim) {
                *extent = Extent::Coord(dim.clone());
            } else {
                names = Some(values::dims(dims));
            }
        }
    }
    let mut attributes = Vec::new();
    if is_own {
        losses.extend_from_slice(&entry.losses);
        attributes.clone_from(&entry.attributes);
    }
    if names.is_some() {
        attributes.extract_if(.., |found| found.name == DIMS).for_each(|found| {
            losses.push(format!(
                "the attribute {DIMS:?} of {name:?} is dropped, because ra-pack uses it for dimension names: {}",
                to_json(&found.value)
            ));
        });
    }
    attributes.extend(names);
    let storage = (size.len() > 1).then(|| Storage { order: Order::Row, ..Storage::default() });
    let (name, datatype) = (name.to_owned(), Datatype::String);
    Ndarray { name, shape, datatype, value: None, attributes, storage }
}

/// Returns the datatype of booleans, with a third member if some are missing.
fn truth(with_missing: bool) -> Datatype {
    let mut truth = super::truth();
    if let (Datatype::Enum { members, .. }, true) = (&mut truth, with_missing) {
        members.push(("missing".to_owned(), MISSING_BOOL.into()));
    }
    truth
}

/// Returns the type of texts of one length that are not UTF-8.
fn opaque(size: u64) -> (Datatype, ElementType) {
    let element = ElementType::new(0, size).expect("a text that is not UTF-8 has bytes");
    (Datatype::Opaque { size, tag: Some("text".to_owned()) }, element)
}

/// Returns the error for a shape that no RawArray header can have.
fn no_header(name: &str, reason: &str) -> FormatError {
    FormatError::no_counterpart(format!("{name:?}: {reason}"), "reshape it to fewer dimensions")
}

/// An array whose datatype is not known yet.
struct ArrayMaker<'a, R> {
    body: &'a mut DsBody<R>,
    entry: &'a VariableEntry,
    array: Array,
}

impl<R: Read + Seek> ArrayMaker<'_, R> {
    /// Completes an array with these elements; its dimensions are those of the variable unless given.
    fn finish(
        &mut self,
        (datatype, element): (Datatype, ElementType),
        dims: Option<Vec<u64>>,
        origin: Origin,
    ) -> Result<(), FormatError> {
        let own = || self.entry.size.iter().flatten().rev().copied().collect();
        let header = Header::new(element, dims.unwrap_or_else(own))
            .map_err(|error| no_header(&self.entry.name, &error.to_string()))?;
        (self.array.header, self.array.origin) = (Some(header), origin);
        self.array.description.datatype = datatype;
        Ok(())
    }

    /// Sets the element that marks missing ones.
    fn set_fill(&mut self, value: Value) {
        self.array.description.storage.get_or_insert_default().fillvalue = Some(value);
    }

    /// Returns the fill value in the file.
    fn wanted_fill(&self) -> Option<Value> {
        let mut attributes = self.entry.attributes.iter();
        let found = attributes.find(|found| found.name == FILL_VALUE)?;
        found.shape.is_empty().then(|| found.value.clone())
    }

    /// Completes an array of numbers, booleans or a mask.
    fn elements(&mut self, is_mask: bool) -> Result<(), FormatError> {
        let entry = self.entry;
        let (stored, base) = match &entry.element {
            _ if is_mask => (StoredAs::Mask, Datatype::UInt8),
            DsElement::Number(datatype, width) => {
                (StoredAs::Numbers { width: *width, endian: entry.endian }, datatype.clone())
            }
            _ => (StoredAs::Bools, Datatype::UInt8),
        };
        let mask = entry.missing.then_some(entry.offset);
        let data = entry.offset + entry.mask_len();
        let elements = ElementReader::new(stored, mask, data, entry.count());
        let is_masked = entry.missing && !is_mask;
        let mut fill = MISSING_BOOL.into();
        if is_masked {
            if entry.element != DsElement::Bool {
                fill = self.unused_number(&base, &elements)?;
            }
            self.set_fill(to_value(fill, &base));
        }
        let element = element_of_word(&base).expect("every number of the format has a word");
        let is_number = matches!(stored, StoredAs::Numbers { .. });
        let datatype = if is_number { base } else { truth(is_masked) };
        self.finish((datatype, element), None, Origin::Body(elements, fill))
    }

    /// Returns the bits of a number that does not occur in the data.
    fn unused_number(
        &mut self,
        datatype: &Datatype,
        elements: &ElementReader,
    ) -> Result<u64, FormatError> {
        let name = &self.entry.name;
        let wanted = self.wanted_fill();
        let bits = wanted.as_ref().and_then(|wanted| values::to_bits(wanted, datatype));
        let width = elements.width();
        let unused = values::choose_unused(datatype, width, bits, |each| {
            let (mut elements, mut part) = (elements.clone(), Vec::new());
            while elements.next(self.body, None, &mut part)? {
                numbers(&part, width).for_each(&mut *each);
                part.clear();
            }
            Ok(())
        })?;
        let Some(unused) = unused else {
            return Err(FormatError::no_counterpart(
                format!(
                    "{name:?} has missing elements, but every number of `{datatype}` occurs in it, so none can mark \
                     them"
                ),
                "store it with a wider type",
            ));
        };
        if wanted.is_some() && bits != Some(unused) {
            self.array.losses.push(format!(
                "`_FillValue` of {name:?} occurs in its data or is not a value of `{datatype}`; another value marks \
                 missing elements"
            ));
        }
        Ok(unused)
    }

    /// Completes a single text: its bytes are the data.
    fn text(&mut self) -> Result<(), FormatError> {
        let entry = self.entry;
        let before = entry.mask_len() + 8;
        let (mut len, data) = (0, entry.offset + before);
        if self.body.present(entry)? == 0 {
            self.set_fill(Value::from(""));
        } else {
            len = self.body.real_len(entry)? - before;
        }
        let mut utf8 = Utf8Check::default();
        self.body.scan(data, len, |bytes| utf8.push(bytes))?;
        let (elements, dims) = match utf8.fault() {
            None => ((Datatype::String, ElementType::UINT8), vec![len]),
            Some(at) if entry.element == DsElement::Unicode => {
                return Err(self.body.not_utf8(data + at, entry));
            }
            Some(_) => (opaque(len), Vec::new()),
        };
        let stored = StoredAs::Numbers { width: 1, endian: Endian::Little };
        let origin = Origin::Body(ElementReader::new(stored, None, data, len), 0);
        self.finish(elements, Some(dims), origin)
    }

    /// Completes an array of texts: values in the description, or data of equal lengths if they are not UTF-8.
    fn texts(&mut self) -> Result<(), FormatError> {
        let name = &self.entry.name;
        let texts = self.body.texts(self.entry)?;
        let text = |text: &Option<Vec<u8>>| text.clone().map(String::from_utf8).transpose();
        let Ok(texts) = texts.iter().map(text).collect::<Result<Vec<_>, _>>() else {
            return self.padded(&texts);
        };
        let size = self.entry.size.as_deref().expect("only variables with data are arrays");
        if size.len() > MAX_NDIMS {
            return Err(no_header(name, &format!("there are {} dimensions", size.len())));
        }
        // The shape `[1000000000, 0]` has no texts but many lists.
        let mut lists = size.iter().scan(1_u64, |lists, extent| {
            *lists = lists.saturating_mul(*extent);
            Some(*lists)
        });
        if lists.any(|lists| lists > MAX_TEXTS) {
            return Err(no_header(name, "its value has too many lists"));
        }
        let mut fill = String::new();
        if self.entry.missing {
            let wanted = self.wanted_fill();
            fill = unused_text(&texts, wanted.as_ref().and_then(Value::as_str));
            self.set_fill(Value::from(fill.clone()));
        }
        let leaves = texts.into_iter().map(|text| text.unwrap_or_else(|| fill.clone()));
        self.array.description.value = Some(nest(size, &mut leaves.map(Value::String)));
        Ok(())
    }

    fn padded(&mut self, texts: &Texts) -> Result<(), FormatError> {
        let name = &self.entry.name;
        let is_masked = self.entry.missing;
        let refuse = |reason: &str| {
            let reason = format!("{name:?} has texts that are not UTF-8, and {reason}");
            Err(FormatError::no_counterpart(reason, "store them as `unicode`, or as numbers"))
        };
        let mut present = texts.iter().flatten();
        let width = present.clone().map(Vec::len).max().expect("one of them is not UTF-8");
        if present.clone().any(|text| text.ends_with(b"\0")) {
            return refuse("some end in zero bytes, which are the padding");
        }
        if is_masked && present.any(Vec::is_empty) {
            return refuse("some are empty, which marks a missing text");
        }
        let total = (width as u64).checked_mul(texts.len() as u64);
        if total.is_none_or(|total| total > MAX_PADDED) {
            return refuse(&format!(
                "padded to equal lengths, they take more than {MAX_PADDED} bytes"
            ));
        }
        let mut bytes = Vec::new();
        for text in texts {
            let end = bytes.len() + width;
            bytes.extend(text.iter().flatten());
            bytes.resize(end, 0);
        }
        let losses = &mut self.array.losses;
        if is_masked {
            losses.push(format!("missing texts in {name:?} are filled with zero bytes"));
        }
        losses.push(format!("{name:?} is not UTF-8: each text is padded to {width} bytes"));
        self.finish(opaque(width as u64), None, Origin::Memory(bytes))
    }
}

/// Returns a text that is not among `texts`: `wanted`, the empty text, or `missing` with as many `_` as needed.
fn unused_text(texts: &[Option<String>], wanted: Option<&str>) -> String {
    let is_used = |text: &str| texts.iter().flatten().any(|found| found == text);
    if let Some(free) = wanted.into_iter().chain([""]).find(|text| !is_used(text)) {
        return free.to_owned();
    }
    let mut free = "missing".to_owned();
    while is_used(&free) {
        free.push('_');
    }
    free
}
