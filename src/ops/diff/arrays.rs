//! How two arrays differ: in their headers, and element by element in their own type.

use std::io::{BufReader, Read as _};
use std::path::Path;

use super::DiffOptions;
use super::blob::{self, Blob};
use super::report::{DiffPlace, Distance, ElementsDiff, FieldDifference};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::ndl::Order;
use crate::ops::open::{check_decoded, tell};
use crate::ops::single_file;
use crate::ops::values::{Number, ReadNumber, read_number, real_type};
use crate::pack::shape_of;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{DecodeError, Decoder, ElementType, Encoding, Flags, Header, Reversal, ShapeError};

/// Elements are compared in blocks of so many bytes, or one element.
const BLOCK: u64 = 1 << 20;

/// What two headers say differently, and how the elements differ where they have counterparts.
pub(super) fn compare(
    first: &OpenArray,
    mut second: OpenArray,
    options: &DiffOptions,
) -> Result<(Vec<FieldDifference>, Option<ElementsDiff>)> {
    let header = differences(first, &second)?;
    if header.iter().any(|field| field.field != "metadata") {
        return Ok((header, None));
    }
    if first.is_row() != second.is_row() {
        second.reverse()?;
    }
    let mut tally = Comparison::new(first.element(), options);
    let mut blocks = (Vec::new(), Vec::new());
    for (at, len) in first.blocks() {
        blocks.0.resize(len?, 0);
        blocks.1.resize(blocks.0.len(), 0);
        first.read(&mut blocks.0, at)?;
        second.read(&mut blocks.1, at)?;
        tally.add(&blocks.0, &blocks.1);
    }
    Ok((header, Some(tally.finish(|number| first.index(number)))))
}

/// In what ways two arrays are stored differently.
pub(super) fn stored_otherwise(a: &OpenArray, b: &OpenArray) -> Vec<FieldDifference> {
    let pairs = a.storage().into_iter().zip(b.storage());
    let others = pairs.filter(|((_, a), (_, b))| a != b);
    let mut fields: Vec<_> =
        others.map(|((field, a), (_, b))| FieldDifference { field, a, b }).collect();
    // Flags are told only where nothing else tells what they say.
    if fields.len() > 1 {
        fields.retain(|field| field.field != "flags");
    }
    fields
}

fn differences(a: &OpenArray, b: &OpenArray) -> Result<Vec<FieldDifference>> {
    let mut fields = Vec::new();
    // A truth value of Julia is read as the number that all others write.
    let read_as = |element| if element == ElementType::BOOL { ElementType::UINT8 } else { element };
    if read_as(a.element()) != read_as(b.element()) {
        let (a, b) = (a.element().to_string(), b.element().to_string());
        fields.push(FieldDifference { field: "type", a, b });
    }
    if a.shape() != b.shape() {
        let (a, b) = (format!("{:?}", a.shape()), format!("{:?}", b.shape()));
        fields.push(FieldDifference { field: "shape", a, b });
    }
    if blob::compare(&a.metadata, &b.metadata)?.is_some() {
        let say = |side: &OpenArray| match side.metadata.len {
            0 => "none".to_owned(),
            1 => "1 byte".to_owned(),
            many => format!("{many} bytes"),
        };
        let (a, b) = (say(a), say(b));
        let b = if a == b { format!("{b}, others") } else { b };
        fields.push(FieldDifference { field: "metadata", a, b });
    }
    Ok(fields)
}

/// An array, opened.
pub(super) struct OpenArray {
    name: String,
    blob: Blob,
    /// As it stands in the file.
    stored: Header,
    /// Of the elements as they are read.
    header: Header,
    order: Order,
    /// The order before the elements were reordered.
    stored_order: Order,
    encoding: Encoding,
    data: ElementSource,
    /// The bytes that follow the elements.
    metadata: Blob,
}

/// Where the elements are.
enum ElementSource {
    /// In the file, from an offset on, in the byte order that its header says.
    Stored(u64),
    /// In a file without a name, decoded or reordered, in this machine's byte order.
    Scratch(File),
}

impl OpenArray {
    /// The array in a file.
    pub(super) fn open(path: &Path, progress: &Progress) -> Result<Self> {
        let blob = Blob::whole(File::open(path)?.watched(progress))?;
        let name = path.to_string_lossy().into_owned();
        let described = single_file::description_beside(path)?;
        Self::new(&name, blob, described.map_or(Order::Column, |ndarray| ndarray.order()))
    }

    /// The array in `blob`.
    pub(super) fn new(name: &str, blob: Blob, order: Order) -> Result<Self> {
        let unreadable = |error| Error::array_file(name.as_ref(), error);
        let damaged = |error: DecodeError| unreadable(error.into());
        let stored = Header::read(&mut blob.reader_from(0)).map_err(unreadable)?;
        let trailing = stored.check_file_len(blob.len).map_err(damaged)?;
        let mut side = Self {
            header: stored.decoded(),
            order,
            stored_order: order,
            encoding: Encoding::Raw,
            metadata: blob.part(blob.len - trailing, trailing),
            data: ElementSource::Stored(stored.header_len()),
            stored,
            blob,
            name: name.to_owned(),
        };
        if side.stored.is_encoded() {
            // An encoded section can only be decoded as a whole.
            check_decoded(name, &side.stored)?;
            let start = side.stored.header_len();
            let mut section = BufReader::new(side.blob.reader_from(start));
            let (encoding, used) = tell(side.stored.clone(), &mut section).map_err(unreadable)?;
            drop(section);
            let end = start + used;
            side.metadata = side.blob.part(end, side.blob.len - end);
            side.encoding = encoding;
            side.data = ElementSource::Scratch(side.decode()?);
        }
        Ok(side)
    }

    /// Decodes the elements into a file.
    fn decode(&self) -> Result<File> {
        let unreadable = |error| Error::array_file(self.name.as_ref(), error);
        let section = BufReader::new(self.blob.reader_from(self.stored.header_len()));
        let mut decoder = Decoder::new(section, self.stored.clone(), self.encoding);
        let (scratch, mut buffer) = (blob::scratch()?, Vec::new());
        for (at, len) in self.blocks() {
            buffer.resize(len?, 0);
            decoder.read_exact(&mut buffer).map_err(|error| unreadable(error.into()))?;
            decoder.swap_to_native(&mut buffer).map_err(|error| unreadable(error.into()))?;
            scratch.write_all_at(&buffer, at)?;
        }
        Ok(scratch)
    }

    pub(super) fn element(&self) -> ElementType {
        self.header.element()
    }

    pub(super) fn shape(&self) -> Vec<u64> {
        shape_of(self.header.dims(), self.order)
    }

    pub(super) fn data_len(&self) -> u64 {
        self.header.data_len()
    }

    /// The offsets and lengths of blocks of whole elements.
    fn blocks(&self) -> impl Iterator<Item = (u64, Result<usize>)> + use<> {
        let (elbyte, all) = (self.element().elbyte(), self.data_len());
        let step = (BLOCK / elbyte).max(1) * elbyte;
        (0..all.div_ceil(step)).map(move |nth| {
            let len = usize::try_from(step.min(all - nth * step));
            let too_large =
                |_| Error::Unsupported(format!("elements of {elbyte} bytes are too large"));
            (nth * step, len.map_err(too_large))
        })
    }

    /// Whether the last index of the shape runs fastest.
    fn is_row(&self) -> bool {
        self.order != Order::Column
    }

    /// How it is stored: a word for each way in which files of the same elements may differ.
    fn storage(&self) -> [(&'static str, String); 5] {
        let flags = self.stored.flags();
        let is_big = flags.contains(Flags::BIG_ENDIAN);
        let encoding = match self.encoding {
            Encoding::Raw => "none".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        [
            ("type", self.stored.element().to_string()),
            ("order", self.stored_order.word().to_owned()),
            ("byte order", if is_big { "big-endian" } else { "little-endian" }.to_owned()),
            ("encoding", encoding),
            ("flags", format!("{:#x}", flags.bits())),
        ]
    }

    /// The index, in the order of the shape, of an element by its number in the file.
    fn index(&self, number: u64) -> Vec<u64> {
        let mut left = number;
        let next = |extent: &u64| {
            let index = left % extent;
            left /= extent;
            index
        };
        let mut shape = self.shape();
        if self.is_row() {
            shape.reverse();
        }
        let mut index: Vec<_> = shape.iter().map(next).collect();
        if self.is_row() {
            index.reverse();
        }
        index
    }

    /// Reads whole elements at an offset of the data, in this machine's byte order.
    fn read(&self, buffer: &mut [u8], at: u64) -> Result<()> {
        match &self.data {
            ElementSource::Scratch(file) => file.read_exact_at(buffer, at),
            ElementSource::Stored(start) => {
                self.blob.read_exact_at(buffer, start + at)?;
                let swapped = self.stored.swap_to_native(buffer);
                swapped.map_err(|source| Error::array(self.name.clone(), source))
            }
        }
    }

    /// Brings the elements into the other order of dimensions.
    fn reverse(&mut self) -> Result<()> {
        // The order of a file that says `row-unreversed` is that of one that says `row` with its dims reversed.
        let header = match self.order {
            Order::RowUnreversed => self.header.reversed(),
            _ => self.header.clone(),
        };
        let scratch = blob::scratch()?;
        let reversal = Reversal::new(&header);
        let done = reversal.reverse_at(
            pipeline::default_jobs(),
            |run, at| Ok(self.read(run, at)?),
            |run, at| Ok(scratch.write_all_at(run, at)?),
        );
        done.map_err(Error::io("reorder", &self.name))?;
        let shape = self.shape();
        self.order = if self.is_row() { Order::Column } else { Order::Row };
        let refuse = |error: ShapeError| Error::Unsupported(error.to_string());
        self.header =
            Header::new(header.element(), shape_of(&shape, self.order)).map_err(refuse)?;
        self.data = ElementSource::Scratch(scratch);
        Ok(())
    }
}

/// An element that is a number: its real and its imaginary part, if it has one.
type Parts = (Number, Option<Number>);

/// The differences of elements that were found so far.
struct Comparison {
    elbyte: usize,
    /// How elements are read that are numbers, or each of their two parts.
    read: Option<ReadNumber>,
    is_complex: bool,
    tolerance: f64,
    relative: f64,
    found: ElementsDiff,
    distance: Distance,
    /// The sum of the squares of the distances.
    squares: f64,
    /// The number of an element, and it in both arrays.
    first: Option<(u64, [String; 2])>,
    furthest: Option<(u64, [String; 2])>,
}

impl Comparison {
    fn new(element: ElementType, options: &DiffOptions) -> Self {
        let element = if element == ElementType::BOOL { ElementType::UINT8 } else { element };
        Self {
            elbyte: usize::try_from(element.elbyte()).unwrap_or(usize::MAX),
            read: read_number(real_type(element)),
            is_complex: real_type(element) != element,
            tolerance: options.tolerance,
            relative: options.relative,
            found: ElementsDiff::default(),
            distance: Distance::default(),
            squares: 0.0,
            first: None,
            furthest: None,
        }
    }

    /// Compares the next elements of both.
    fn add(&mut self, a: &[u8], b: &[u8]) {
        let elements = a.chunks_exact(self.elbyte).zip(b.chunks_exact(self.elbyte));
        let first = self.found.count;
        self.found.count += elements.len() as u64;
        if a == b {
            return;
        }
        for (number, (a, b)) in (first..).zip(elements).filter(|(_, (a, b))| a != b) {
            if self.differ(number, a, b) {
                self.found.differing += 1;
                if self.first.is_none() {
                    self.first = Some((number, [self.text(a), self.text(b)]));
                }
            }
        }
    }

    /// Whether two elements, whose bytes are not the same, differ by more than is tolerated.
    fn differ(&mut self, number: u64, bytes_a: &[u8], bytes_b: &[u8]) -> bool {
        let Some((a, b)) = self.parts(bytes_a).zip(self.parts(bytes_b)) else { return true };
        match (size(a).is_nan(), size(b).is_nan()) {
            (true, true) => return false,
            (false, false) => {}
            _ => {
                self.found.nan += 1;
                return true;
            }
        }
        let imaginary = a.1.zip(b.1).map_or(0.0, |(a, b)| apart(a, b));
        let distance = libm::hypot(apart(a.0, b.0), imaginary);
        let (magnitude, larger) = (size(b), size(b).max(size(a)));
        if distance == 0.0 {
            return false;
        }
        self.distance.l1 += distance;
        self.squares += distance * distance;
        // Nothing is further from an infinity than that is large.
        let part = if larger.is_finite() { distance / larger } else { 1.0 };
        self.distance.relative = self.distance.relative.max(part);
        if distance > self.distance.max {
            self.distance.max = distance;
            self.furthest = Some((number, [self.text(bytes_a), self.text(bytes_b)]));
        }
        // An infinite magnitude would tolerate everything.
        let relative = if magnitude.is_finite() { self.relative * magnitude } else { 0.0 };
        distance > self.tolerance.max(relative)
    }

    /// What was found; `index` gives the index of an element by its number.
    fn finish(self, index: impl Fn(u64) -> Vec<u64>) -> ElementsDiff {
        let place = |(number, [a, b]): (u64, [String; 2])| DiffPlace { index: index(number), a, b };
        let distance = Distance { l2: self.squares.sqrt(), ..self.distance };
        ElementsDiff {
            first: self.first.map(place),
            furthest: self.furthest.map(place),
            distance: self.read.map(|_| distance),
            ..self.found
        }
    }

    fn parts(&self, bytes: &[u8]) -> Option<Parts> {
        let read = self.read?;
        let (re, im) = bytes.split_at(if self.is_complex { self.elbyte / 2 } else { self.elbyte });
        Some((read(re), self.is_complex.then(|| read(im))))
    }

    fn text(&self, bytes: &[u8]) -> String {
        /// Most bytes that are shown of one element.
        const SHOWN: usize = 16;
        match self.parts(bytes) {
            Some((re, None)) => re.to_string(),
            Some((re, Some(im))) => {
                let sign = if im.to_f64().is_sign_negative() { "" } else { "+" };
                format!("{re}{sign}{im}i")
            }
            None => {
                let hex = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}"));
                let more = if bytes.len() > SHOWN { "…" } else { "" };
                format!("0x{}{more}", hex.collect::<String>())
            }
        }
    }
}

/// How far two parts of one type are from each other.
fn apart(a: Number, b: Number) -> f64 {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Number::UInt(a.abs_diff(b)).to_f64(),
        (Number::UInt(a), Number::UInt(b)) => Number::UInt(a.abs_diff(b)).to_f64(),
        // Of two infinities of one sign the difference would be no number.
        #[expect(clippy::float_cmp, reason = "the same number is at no distance")]
        (a, b) => {
            if a.to_f64() == b.to_f64() {
                0.0
            } else {
                (a.to_f64() - b.to_f64()).abs()
            }
        }
    }
}

/// The magnitude of an element; NaN when one of its parts is.
fn size((re, im): Parts) -> f64 {
    let (re, im) = (re.to_f64(), im.map_or(0.0, Number::to_f64));
    if re.is_nan() || im.is_nan() { f64::NAN } else { libm::hypot(re, im) }
}
