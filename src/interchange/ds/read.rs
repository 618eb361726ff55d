//! Reads a file: the header at once, each variable when it is asked for.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::attributes;
use super::body::{Body, count, mask_len};
use super::chunks::{Chunk, Chunks, What, numbers};
use super::fill::{self, Fill};
use super::header::{self, Element, Entry, VERSION_LINE};
use super::json::MAX_LEN;
use super::mapping;
use super::strings::{self, Texts, Utf8};
use crate::interchange::{Error, Variable};
use crate::ndl::{Attribute, Datatype, Endian, Ndarray, Value};
use crate::ra::{ElementType, Header};

/// Most bytes of texts that are no UTF-8, once each has the room of the longest.
const MAX_PADDED: u64 = 64 << 20;

/// How to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// Give the mask of `NAME`, when it has missing elements, as a variable `NAME.mask` of truth values
    /// behind it.
    pub masks: bool,
}

/// A file, of which the header is read.
///
/// The places of its variables are checked when it is opened, so that what comes later can fail only when
/// reading fails or a variable has no counterpart. Names are as the file has them: who makes paths of
/// them has to check them.
///
/// ```
/// use std::io::{Cursor, Read};
/// use ra_pack::interchange::ds::{Content, ReadOptions, Reader};
///
/// let file = b"ds-1.0\n{\"x\": {\".size\": [2], \".offset\": 0, \".len\": 2, \".type\": \"int8\", \
///              \".endian\": \"b\", \"units\": \"m\"}, \".\": {}}\n\x01\xFF";
/// let mut reader = Reader::open(Cursor::new(file), ReadOptions::default())?;
/// assert_eq!(reader.names().collect::<Vec<_>>(), ["x"]);
/// let array = reader.array(0)?;
/// let Content::Data(variable) = &array.content else { panic!("numbers have data") };
/// assert_eq!(variable.header.dims(), [2]);
/// assert_eq!(variable.description.attributes[0].name, "units");
/// let mut data = Vec::new();
/// reader.data(&array).read_to_end(&mut data)?;
/// assert_eq!(data, [1, 0xFF]);
/// # Ok::<(), ra_pack::interchange::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    body: Body<R>,
    entries: Vec<Entry>,
    /// Where in the body each of them lies.
    places: Vec<u64>,
    arrays: Vec<Output>,
    coordinates: HashSet<String>,
    attributes: Vec<Attribute>,
    losses: Vec<String>,
}

/// What is given for a variable.
#[derive(Debug)]
struct Output {
    name: String,
    /// Which variable.
    entry: usize,
    is_mask: bool,
}

/// An array of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// What it is.
    pub content: Content,
    /// Whether it is the coordinate of the dimension of its name, to which the shapes of other arrays refer: its
    /// description is that of a dimcoord.
    pub is_coordinate: bool,
    source: Source,
}

/// What an array is.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// An array with data.
    Data(Variable),
    /// Texts, which stand as `value` in the description: they have no RawArray.
    Inline {
        /// The description.
        description: Ndarray,
        /// What the file says and the description does not, one sentence each.
        losses: Vec<String>,
    },
}

impl Array {
    /// Its description.
    pub fn description(&self) -> &Ndarray {
        match &self.content {
            Content::Data(variable) => &variable.description,
            Content::Inline { description, .. } => description,
        }
    }
}

/// Where the data come from.
#[derive(Debug, Clone, PartialEq)]
enum Source {
    Body { what: What, mask: Option<u64>, data: u64, elements: u64, fill: u64 },
    Memory(Vec<u8>),
}

impl<R: Read + Seek> Reader<R> {
    /// Reads the header of a file, which is the whole of `reader` wherever that stands.
    ///
    /// # Errors
    ///
    /// When it is no file of version 1.0, the header is not what the format demands, variables lie
    /// outside of the file, or reading fails.
    pub fn open(mut reader: R, options: ReadOptions) -> Result<Self, Error> {
        let file_len = reader.seek(SeekFrom::End(0))?;
        reader.seek(SeekFrom::Start(0))?;
        let mut lines = BufReader::new(&mut reader);
        version(&mut lines)?;
        let base = count(VERSION_LINE.len());
        let mut line = Vec::new();
        lines.by_ref().take(MAX_LEN).read_until(b'\n', &mut line)?;
        let len = count(line.len());
        if line.pop() != Some(b'\n') {
            let end = base.saturating_add(len);
            let reason = if len == MAX_LEN {
                format!("expected a header of at most {MAX_LEN} bytes, found more")
            } else {
                "expected a line end behind the header, found the end of the file".to_owned()
            };
            return Err(Error::malformed(end, reason));
        }
        let header = header::parse(&line, base)?;
        let start = base.saturating_add(len);
        let mut body = Body { inner: reader, start, len: file_len.saturating_sub(start) };
        let (places, unused) = body.places(&header.variables)?;
        let mut losses = header.losses;
        if unused > 0 {
            losses.push(format!("{unused} bytes of the file belong to no variable"));
        }
        let facts = header.attributes.iter();
        let facts = facts.map(|fact| attributes::read(fact, "the dataset", &mut losses)).collect();
        let entries = header.variables;
        let arrays = outputs(&entries, options, &mut losses)?;
        let coordinates = entries.iter().filter(|entry| mapping::is_coordinate(entry));
        let coordinates = coordinates.map(|entry| entry.name.clone()).collect();
        Ok(Self { body, entries, places, arrays, coordinates, attributes: facts, losses })
    }

    /// The name of each array, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|array| array.name.as_str())
    }

    /// What is known about the whole: attributes of the group that the arrays come into.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// What the file says besides its arrays and attributes, one sentence each.
    pub fn losses(&self) -> &[String] {
        &self.losses
    }

    /// Describes the array at `index` of [`names`](Self::names). Where elements are missing all of its data
    /// are read, to find one that stands for them.
    ///
    /// # Errors
    ///
    /// When the array has no counterpart, texts are no UTF-8, there is none at `index`, or reading fails.
    pub fn array(&mut self, index: usize) -> Result<Array, Error> {
        let Self { body, entries, places, arrays, coordinates, .. } = self;
        let found = arrays.get(index);
        let found = found.and_then(|output| {
            Some((output, entries.get(output.entry)?, *places.get(output.entry)?))
        });
        let Some((output, entry, at)) = found else {
            let reason = format!("there are {} arrays, and none at index {index}", arrays.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason).into());
        };
        let mut losses = Vec::new();
        let description = mapping::describe(entry, &output.name, coordinates, &mut losses);
        let is_coordinate = mapping::is_coordinate(entry) && !output.is_mask;
        let (content, source) = if output.is_mask {
            mask(entry, at, description)?
        } else {
            let array = Described { entry, at, description, losses };
            match &entry.element {
                Element::Number(datatype, width) => array.numbers(body, datatype, *width)?,
                Element::Bool => array.bools()?,
                Element::Str | Element::Unicode if mapping::is_text(entry) => array.text(body)?,
                Element::Str | Element::Unicode => array.texts(body)?,
            }
        };
        Ok(Array { content, is_coordinate, source })
    }

    /// The data of an array of this file, little-endian, the last index fastest; nothing of an
    /// array of texts.
    pub fn data(&mut self, array: &Array) -> Data<'_, R> {
        let (chunks, fill, buffer) = match &array.source {
            Source::Body { what, mask, data, elements, fill } => {
                (Some(Chunks::new(*what, *mask, *data, *elements)), *fill, Vec::new())
            }
            Source::Memory(bytes) => (None, 0, bytes.clone()),
        };
        Data { body: &mut self.body, chunks, fill, chunk: Chunk::default(), buffer, at: 0 }
    }
}

fn version(lines: &mut impl BufRead) -> Result<(), Error> {
    let mut line = Vec::new();
    lines.take(64).read_until(b'\n', &mut line)?;
    if line == VERSION_LINE {
        return Ok(());
    }
    let at = line.iter().zip(VERSION_LINE).take_while(|(found, known)| found == known).count();
    let shown = line.get(..line.len().min(16)).unwrap_or_default().escape_ascii();
    let expected = "expected `ds-1.0` and a line end";
    Err(Error::malformed(count(at), format!("{expected}, found `{shown}`")))
}

fn outputs(
    entries: &[Entry],
    options: ReadOptions,
    losses: &mut Vec<String>,
) -> Result<Vec<Output>, Error> {
    let names: HashSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let mut outputs = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        if entry.size.is_none() {
            let mut loss = format!("the variable {:?} has no data, and is left out", entry.name);
            for (at, fact) in entry.attributes.iter().enumerate() {
                let link = if at == 0 { " with its attributes" } else { "," };
                loss.extend([link, " ", &format!("{:?}", fact.name), ": ", &fact.text]);
            }
            losses.push(loss);
            continue;
        }
        outputs.push(Output { name: entry.name.clone(), entry: index, is_mask: false });
        if options.masks && entry.missing {
            let name = format!("{}.mask", entry.name);
            if names.contains(name.as_str()) {
                return Err(Error::no_counterpart(
                    format!(
                        "the mask of {:?} would be {name:?}, which is another variable",
                        entry.name
                    ),
                    "rename that, or read without masks",
                ));
            }
            outputs.push(Output { name, entry: index, is_mask: true });
        }
    }
    Ok(outputs)
}

fn mask(entry: &Entry, at: u64, mut description: Ndarray) -> Result<(Content, Source), Error> {
    description.datatype = mapping::truth(false);
    let variable = mapping::variable(entry, ElementType::UINT8, description, Vec::new())?;
    let elements = entry.count();
    let source = Source::Body { what: What::Mask, mask: Some(at), data: at, elements, fill: 0 };
    Ok((Content::Data(variable), source))
}

/// A variable whose datatype is to be found.
struct Described<'a> {
    entry: &'a Entry,
    at: u64,
    description: Ndarray,
    losses: Vec<String>,
}

impl Described<'_> {
    fn source(&self, what: What, fill: u64) -> Source {
        let mask = self.entry.missing.then_some(self.at);
        let data = self.at.saturating_add(mask_len(self.entry));
        Source::Body { what, mask, data, elements: self.entry.count(), fill }
    }

    fn numbers<R: Read + Seek>(
        mut self,
        body: &mut Body<R>,
        datatype: &Datatype,
        width: u64,
    ) -> Result<(Content, Source), Error> {
        let what = What::Numbers { width, endian: self.entry.endian };
        let mut bits = 0;
        if self.entry.missing {
            let fill = self.fill(body, datatype, what)?;
            bits = fill.bits;
            mapping::set_fill(&mut self.description, fill.value);
        }
        let source = self.source(what, bits);
        let element = mapping::element_of(datatype).unwrap_or(ElementType::FLOAT64);
        self.description.datatype = datatype.clone();
        let variable = mapping::variable(self.entry, element, self.description, self.losses)?;
        Ok((Content::Data(variable), source))
    }

    fn fill<R: Read + Seek>(
        &mut self,
        body: &mut Body<R>,
        datatype: &Datatype,
        what: What,
    ) -> Result<Fill, Error> {
        let wanted = mapping::wanted_fill(self.entry);
        let bits = wanted.as_ref().and_then(|wanted| fill::to_bits(wanted, datatype));
        let data = self.at.saturating_add(mask_len(self.entry));
        let chunks = Chunks::new(what, Some(self.at), data, self.entry.count());
        let chosen = fill::choose(datatype, width_of(what), bits, |each| {
            let mut chunks = chunks.clone();
            let mut chunk = Chunk::default();
            while chunks.next(body, &mut chunk)? {
                numbers(&chunk.values, chunks.width()).for_each(&mut *each);
            }
            Ok(())
        })?;
        let Some(chosen) = chosen else {
            return Err(Error::no_counterpart(
                format!(
                    "{:?} has missing elements and every number of `{datatype}`, so that none is left to \
                     stand for them",
                    self.entry.name
                ),
                "store it as a wider type",
            ));
        };
        if wanted.is_some() && bits != Some(chosen.bits) {
            self.losses.push(format!(
                "`_FillValue` of {:?} is an element of its data or none of `{datatype}`, so that another one \
                 stands for what is missing",
                self.entry.name
            ));
        }
        Ok(chosen)
    }

    fn bools(mut self) -> Result<(Content, Source), Error> {
        let source = self.source(What::Bools, mapping::MISSING_BOOL.into());
        self.description.datatype = mapping::truth(self.entry.missing);
        if self.entry.missing {
            mapping::set_fill(&mut self.description, Value::Int(mapping::MISSING_BOOL.into()));
        }
        let variable =
            mapping::variable(self.entry, ElementType::UINT8, self.description, self.losses)?;
        Ok((Content::Data(variable), source))
    }

    /// A text alone: its bytes are an array.
    fn text<R: Read + Seek>(mut self, body: &mut Body<R>) -> Result<(Content, Source), Error> {
        let len = match body.present(self.entry, self.at)? {
            0 => {
                mapping::set_fill(&mut self.description, Value::from(""));
                0
            }
            _ => body
                .real_len(self.entry, self.at)?
                .saturating_sub(mask_len(self.entry))
                .saturating_sub(8),
        };
        let data = self.at.saturating_add(mask_len(self.entry)).saturating_add(8);
        let (mut utf8, mut fault) = (Utf8::default(), None);
        body.scan(data, len, |bytes| {
            if fault.is_none() {
                fault = utf8.push(bytes).err();
            }
            Ok(())
        })?;
        let (element, dims) = match fault.or(utf8.finish().err()) {
            None => (ElementType::UINT8, vec![len]),
            Some(place) if self.entry.element == Element::Unicode => {
                let at = body.start.saturating_add(data).saturating_add(place);
                return Err(strings::not_utf8(at, self.entry));
            }
            Some(_) => {
                self.description.datatype = opaque(len);
                let element = ElementType::new(0, len);
                (element.map_err(|error| io::Error::other(error.to_string()))?, Vec::new())
            }
        };
        let header = Header::new(element, dims)
            .map_err(|error| mapping::no_header(&self.entry.name, &error.to_string()))?;
        let what = What::Numbers { width: 1, endian: Endian::Little };
        let source = Source::Body { what, mask: None, data, elements: len, fill: 0 };
        let (description, losses) = (self.description, self.losses);
        Ok((Content::Data(Variable { header, description, losses }), source))
    }

    /// Texts: their values stand in the description, or when they are no UTF-8 each has the same room.
    fn texts<R: Read + Seek>(mut self, body: &mut Body<R>) -> Result<(Content, Source), Error> {
        let texts = strings::read(body, self.entry, self.at)?;
        if texts.iter().flatten().any(|text| str::from_utf8(text).is_err()) {
            return self.padded(&texts);
        }
        let mut fill = None;
        if self.entry.missing {
            let wanted = mapping::wanted_fill(self.entry);
            let chosen = strings::fill(&texts, wanted.as_ref().and_then(Value::as_str));
            mapping::set_fill(&mut self.description, Value::from(chosen.clone()));
            fill = Some(chosen);
        }
        let text = |text: Option<Vec<u8>>| match text {
            Some(text) => String::from_utf8_lossy(&text).into_owned(),
            None => fill.clone().unwrap_or_default(),
        };
        let mut leaves = texts.into_iter().map(|found| Value::String(text(found)));
        let size = self.entry.size.as_deref().unwrap_or_default();
        if size.len() > crate::ra::MAX_NDIMS {
            let reason = format!("there are {} dimensions", size.len());
            return Err(mapping::no_header(&self.entry.name, &reason));
        }
        self.description.value = Some(nest(size, self.entry, &mut leaves)?);
        let (description, losses) = (self.description, self.losses);
        Ok((Content::Inline { description, losses }, Source::Memory(Vec::new())))
    }

    fn padded(mut self, texts: &Texts) -> Result<(Content, Source), Error> {
        let name = &self.entry.name;
        let refuse = |reason: &str| {
            let reason = format!("{name:?} has texts that are not UTF-8, and {reason}");
            Err(Error::no_counterpart(reason, "store them as `unicode`, or as numbers"))
        };
        let width = texts.iter().flatten().map(Vec::len).max().unwrap_or(0);
        if texts.iter().flatten().any(|text| text.ends_with(b"\0")) {
            return refuse("some end in zero bytes, which is what fills them up");
        }
        if self.entry.missing && texts.iter().flatten().any(Vec::is_empty) {
            return refuse("some are empty, which is what stands for a missing one");
        }
        let total = count(width).checked_mul(self.entry.count());
        if total.is_none_or(|total| total > MAX_PADDED) {
            return refuse(&format!("in equal room they take more than {MAX_PADDED} bytes"));
        }
        let mut bytes = Vec::new();
        for text in texts {
            let end = bytes.len().saturating_add(width);
            bytes.extend_from_slice(text.as_deref().unwrap_or_default());
            bytes.resize(end, 0);
        }
        if self.entry.missing {
            self.losses.push(format!("what is missing in {name:?} is filled with zero bytes"));
        }
        self.losses.push(format!("{name:?} is not UTF-8: each text is filled up to {width} bytes"));
        self.description.datatype = opaque(count(width));
        let element = ElementType::new(0, count(width));
        let element = element.map_err(|error| io::Error::other(error.to_string()))?;
        let variable = mapping::variable(self.entry, element, self.description, self.losses)?;
        Ok((Content::Data(variable), Source::Memory(bytes)))
    }
}

fn opaque(size: u64) -> Datatype {
    Datatype::Opaque { size, tag: Some("text".to_owned()) }
}

fn width_of(what: What) -> u64 {
    match what {
        What::Numbers { width, .. } => width,
        What::Bools | What::Mask => 1,
    }
}

/// Lists nested as deep as there are extents; the lists themselves are as few as the texts may be.
fn nest(
    size: &[u64],
    entry: &Entry,
    leaves: &mut impl Iterator<Item = Value>,
) -> Result<Value, Error> {
    // Of `[1000000000, 0]` there are no texts, but many lists.
    let mut lists = 1_u64;
    for extent in size {
        lists = lists.saturating_mul(*extent);
        if lists > strings::MAX_TEXTS {
            return Err(mapping::no_header(&entry.name, "there are too many lists in its value"));
        }
    }
    Ok(nest_within(size, leaves))
}

fn nest_within(size: &[u64], leaves: &mut impl Iterator<Item = Value>) -> Value {
    match size.split_first() {
        None => leaves.next().unwrap_or(Value::Null),
        Some((extent, rest)) => {
            Value::List((0..*extent).map(|_| nest_within(rest, leaves)).collect())
        }
    }
}

/// The data of an array: little-endian, the last index fastest.
#[derive(Debug)]
pub struct Data<'a, R> {
    body: &'a mut Body<R>,
    chunks: Option<Chunks>,
    fill: u64,
    chunk: Chunk,
    buffer: Vec<u8>,
    /// How much of the buffer was given.
    at: usize,
}

impl<R: Read + Seek> Read for Data<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.buffer.len()
            && let Some(chunks) = &mut self.chunks
        {
            self.buffer.clear();
            self.at = 0;
            if chunks.next(self.body, &mut self.chunk)? {
                let fill = self.fill.to_le_bytes();
                let fill = fill.get(..chunks.width()).unwrap_or_default();
                self.chunk.expand(chunks.width(), fill, &mut self.buffer);
            }
        }
        let mut left = self.buffer.get(self.at..).unwrap_or_default();
        let read = left.read(out)?;
        self.at = self.at.saturating_add(read);
        Ok(read)
    }
}
