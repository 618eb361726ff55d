//! Comparison of two arrays: their headers, and their elements in their own type.

use std::io::Read as _;
use std::path::Path;

use super::blob::{self, Blob};
use super::options::DiffOptions;
use super::report::{DiffPlace, Distance, ElementsDiff, FieldDifference};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::ndl::{Ndarray, Order};
use crate::pack::shape_of;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{self, ElementType, Encoding, Flags, Header, ReadError, Reversal};
use crate::read::open::elements::{check_decoded, find_encoding};
use crate::read::single_file;
use crate::read::values::{Decoder, Number, ReadNumber, read_number, real_type, type_name};

/// Size in bytes of the blocks of elements that are compared at once; at least one element.
const COMPARED_AT_ONCE: u64 = 1 << 20;

/// Compares two headers, and the elements if shapes are the same, and types are the same or both numbers.
pub(super) fn compare(
    first: &OpenArray,
    second: &OpenArray,
    options: &DiffOptions,
) -> Result<(Vec<FieldDifference>, Option<ElementsDiff>)> {
    let header = differences(first, second)?;
    let mut comparison = Comparison::new([first, second], options);
    let is_comparable = |field: &FieldDifference| match field.field {
        "type" => comparison.are_numbers(),
        field => field == "metadata",
    };
    if !header.iter().all(is_comparable) {
        return Ok((header, None));
    }
    let is_other_order = first.is_row() != second.is_row();
    let (mut ours, mut theirs) =
        (first.elements(), if is_other_order { second.reversed()? } else { second.elements() });
    let mut blocks = (Vec::new(), Vec::new());
    for len in first.blocks() {
        blocks.0.resize(len?, 0);
        let [width, other] = comparison.elbyte;
        blocks.1.resize(blocks.0.len().checked_div(width).unwrap_or(0) * other, 0);
        ours(&mut blocks.0)?;
        theirs(&mut blocks.1)?;
        comparison.add(&blocks.0, &blocks.1);
    }
    let mut found = comparison.found;
    if let Some(distance) = &mut found.distance {
        distance.l2 = distance.l2.sqrt();
    }
    Ok((header, Some(found)))
}

/// Compares how two arrays are stored.
pub(super) fn stored_otherwise(a: &OpenArray, b: &OpenArray) -> Vec<FieldDifference> {
    let pairs = a.storage().into_iter().zip(b.storage());
    let pairs = pairs.map(|((field, a), (_, b))| FieldDifference { field, a, b });
    let mut fields: Vec<_> = pairs.filter(|field| field.a != field.b).collect();
    // Flags are reported only if no other field shows the difference.
    if fields.len() > 1 {
        fields.retain(|field| field.field != "flags");
    }
    fields
}

fn differences(a: &OpenArray, b: &OpenArray) -> Result<Vec<FieldDifference>> {
    let is_other_type = a.read_as() != b.read_as();
    let mut fields = Vec::new();
    let mut add = |field, a: String, b: String| fields.push(FieldDifference { field, a, b });
    if is_other_type {
        add("type", a.type_name(), b.type_name());
    }
    if a.shape() != b.shape() {
        add("shape", format!("{:?}", a.shape()), format!("{:?}", b.shape()));
    }
    if blob::compare(&a.metadata, &b.metadata)?.is_some() {
        let [a, b] = [a, b].map(|side| match side.metadata.len {
            0 => "none".to_owned(),
            1 => "1 byte".to_owned(),
            many => format!("{many} bytes"),
        });
        let others = if a == b { ", others" } else { "" };
        add("metadata", a, b + others);
    }
    Ok(fields)
}

/// An open array.
pub(super) struct OpenArray {
    name: String,
    stored: Header,
    /// Header of the elements as they are read.
    header: Header,
    description: Option<Ndarray>,
    encoding: Encoding,
    /// All bytes after the header.
    section: Blob,
    /// The bytes after the elements.
    metadata: Blob,
}

/// Reads the next elements, in the byte order of this machine.
type ReadNext<'a> = Box<dyn FnMut(&mut [u8]) -> Result<()> + 'a>;

impl OpenArray {
    /// Opens the array in a file.
    pub(super) fn open(path: &Path, progress: &Progress) -> Result<Self> {
        let blob = Blob::whole(File::open(path)?.watched(progress))?;
        let name = path.to_string_lossy().into_owned();
        let described = single_file::description_beside(path)?;
        Self::new(&name, &blob, described)
    }

    /// Opens the array in `blob`.
    pub(super) fn new(name: &str, blob: &Blob, description: Option<Ndarray>) -> Result<Self> {
        let unreadable = |error| Error::array_file(name.as_ref(), error);
        let stored = Header::read(&mut blob.reader()).map_err(unreadable)?;
        let trailing = stored.check_file_len(blob.len).map_err(|error| unreadable(error.into()))?;
        let section = blob.after(stored.header_len());
        let (encoding, used) = if stored.is_encoded() {
            check_decoded(name, &stored)?;
            find_encoding(stored.clone(), &mut section.reader()).map_err(unreadable)?
        } else {
            (Encoding::Raw, section.len - trailing)
        };
        let (header, metadata) = (stored.decoded(), section.after(used));
        let name = name.to_owned();
        Ok(Self { name, stored, header, description, encoding, section, metadata })
    }

    fn type_name(&self) -> String {
        let datatype = self.description.as_ref().map(|description| &description.datatype);
        type_name(self.element(), datatype)
    }

    /// Returns the header of the elements as they are read.
    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn element(&self) -> ElementType {
        self.header.element()
    }

    /// Returns the type as which elements are compared: booleans of Julia are the numbers that other programs write.
    fn read_as(&self) -> ElementType {
        let element = self.element();
        if element == ElementType::BOOL { ElementType::UINT8 } else { element }
    }

    pub(super) fn shape(&self) -> Vec<u64> {
        shape_of(self.header.dims(), self.order())
    }

    pub(super) fn data_len(&self) -> u64 {
        self.header.data_len()
    }

    /// Returns the lengths in bytes of blocks of whole elements.
    fn blocks(&self) -> impl Iterator<Item = Result<usize>> + use<> {
        let (elbyte, all) = (self.element().elbyte(), self.data_len());
        let step = (COMPARED_AT_ONCE / elbyte).max(1) * elbyte;
        (0..all.div_ceil(step)).map(move |nth| {
            let len = usize::try_from(step.min(all - nth * step));
            len.map_err(|_| {
                Error::Limit(format!("elements of {elbyte} bytes are too large").into())
            })
        })
    }

    fn order(&self) -> Order {
        self.description.as_ref().map(Ndarray::order).unwrap_or_default()
    }

    /// Returns whether the last index of the shape is the fastest.
    fn is_row(&self) -> bool {
        self.order() != Order::Column
    }

    /// Returns how the array is stored: a word for each property in which files with the same elements may differ.
    fn storage(&self) -> [(&'static str, String); 5] {
        let flags = self.stored.flags();
        let is_big = flags.contains(Flags::BIG_ENDIAN);
        let encoding = match self.encoding {
            Encoding::Raw => "none".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        [
            ("type", self.stored.element().to_string()),
            ("order", self.order().word().to_owned()),
            ("byte order", if is_big { "big-endian" } else { "little-endian" }.to_owned()),
            ("encoding", encoding),
            ("flags", format!("{:#x}", flags.bits())),
        ]
    }

    /// Returns the index, in the order of the shape, of an element given by its position in the file.
    fn index(&self, number: u64) -> Vec<u64> {
        let (mut left, mut index) = (number, self.shape());
        let take = |extent: &mut u64| (left, *extent) = (left / *extent, left % *extent);
        if self.is_row() {
            index.iter_mut().rev().for_each(take);
        } else {
            index.iter_mut().for_each(take);
        }
        index
    }

    /// Returns a reader of all elements.
    fn elements(&self) -> ReadNext<'_> {
        let mut decoder =
            ra::Decoder::new(self.section.reader(), self.stored.clone(), self.encoding);
        Box::new(move |buffer| {
            let read = decoder.read_exact(buffer).map_err(ReadError::from);
            let swapped = read.and_then(|()| Ok(decoder.swap_to_native(buffer)?));
            swapped.map_err(|error| Error::array_file(self.name.as_ref(), error))
        })
    }

    /// Returns a reader of all elements with the dimensions reversed.
    fn reversed(&self) -> Result<ReadNext<'static>> {
        let progress = self.section.file.progress();
        let (source, target) = (blob::scratch(progress)?, blob::scratch(progress)?);
        let (mut elements, mut block, mut at) = (self.elements(), Vec::new(), 0);
        for len in self.blocks() {
            block.resize(len?, 0);
            elements(&mut block)?;
            source.write_all_at(&block, at)?;
            at += block.len() as u64;
        }
        // The order `row-unreversed` is `row` with the dims reversed.
        let is_reversed = self.order() == Order::RowUnreversed;
        let header = if is_reversed { self.header.reversed() } else { self.header.clone() };
        let done = Reversal::new(&header).reverse_at(
            pipeline::default_jobs(),
            |run, at| Ok(source.read_exact_at(run, at)?),
            |run, at| Ok(target.write_all_at(run, at)?),
        );
        done.map_err(Error::io("reorder", &self.name))?;
        let mut at = 0;
        Ok(Box::new(move |buffer| {
            target.read_exact_at(buffer, at)?;
            at += buffer.len() as u64;
            Ok(())
        }))
    }
}

/// The real part of a numeric element, and its imaginary part if it has one.
type ElementParts = (Number, Option<Number>);

/// How to read the numbers of an element of one type.
#[derive(Clone, Copy)]
struct ElementNumbers {
    /// Reads the number, or a part of it; `None` if elements are not numbers.
    read: Option<ReadNumber>,
    is_complex: bool,
}

impl ElementNumbers {
    fn of(element: ElementType) -> Self {
        let real = real_type(element);
        Self { read: read_number(real), is_complex: real != element }
    }

    fn parts(&self, bytes: &[u8]) -> Option<ElementParts> {
        let read = self.read?;
        let (re, im) = bytes.split_at(if self.is_complex { bytes.len() / 2 } else { bytes.len() });
        Some((read(re), self.is_complex.then(|| read(im))))
    }
}

/// The comparison of elements so far.
struct Comparison<'a> {
    array: &'a OpenArray,
    /// Decodes the elements of each array as its description says.
    meant: [Decoder; 2],
    /// Decodes the stored numbers of each array.
    stored: [Decoder; 2],
    options: &'a DiffOptions,
    /// Bytes of an element of each array.
    elbyte: [usize; 2],
    numbers: [ElementNumbers; 2],
    is_same_type: bool,
    /// The differences. `l2` is the sum of the squared distances.
    found: ElementsDiff,
}

impl<'a> Comparison<'a> {
    fn new(sides: [&'a OpenArray; 2], options: &'a DiffOptions) -> Self {
        let array = sides[0];
        // A file without a description is compared as a copy of the other one.
        let meant = |one: &OpenArray, other: &OpenArray| {
            let description = one.description.as_ref().or(other.description.as_ref());
            Decoder::new(one.element(), description, false)
        };
        let elements = sides.map(OpenArray::read_as);
        let numbers = elements.map(ElementNumbers::of);
        Self {
            array,
            meant: [meant(sides[0], sides[1]), meant(sides[1], sides[0])],
            stored: elements.map(|element| Decoder::new(element, None, true)),
            options,
            elbyte: elements.map(|element| usize::try_from(element.elbyte()).unwrap_or(usize::MAX)),
            numbers,
            is_same_type: elements[0] == elements[1],
            found: ElementsDiff {
                distance: numbers[0].read.map(|_| Distance::default()),
                ..ElementsDiff::default()
            },
        }
    }

    /// Returns whether elements of both types are real numbers, or of both are complex.
    fn are_numbers(&self) -> bool {
        let [a, b] = &self.numbers;
        a.read.is_some() && b.read.is_some() && a.is_complex == b.is_complex
    }

    /// Compares the next elements of both arrays.
    fn add(&mut self, a: &[u8], b: &[u8]) {
        let elements = a.chunks_exact(self.elbyte[0]).zip(b.chunks_exact(self.elbyte[1]));
        let first = self.found.count;
        self.found.count += elements.len() as u64;
        if self.is_same_type && a == b {
            return;
        }
        for (number, (a, b)) in (first..).zip(elements) {
            if self.is_same_type && a == b {
                continue;
            }
            if self.differ(number, a, b) {
                self.found.differing += 1;
                if self.found.first.is_none() {
                    self.found.first = Some(self.place(number, a, b));
                }
            }
        }
    }

    /// Returns whether two elements with different bytes differ by more than the tolerance.
    fn differ(&mut self, number: u64, bytes_a: &[u8], bytes_b: &[u8]) -> bool {
        let Some((a, b)) = self.numbers[0].parts(bytes_a).zip(self.numbers[1].parts(bytes_b))
        else {
            return true;
        };
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
        let found = self.found.distance.get_or_insert_default();
        found.l1 += distance;
        found.l2 += distance * distance;
        // The relative distance from an infinite number is 1.
        let part = if larger.is_finite() { distance / larger } else { 1.0 };
        found.relative = found.relative.max(part);
        if distance > found.max {
            found.max = distance;
            self.found.furthest = Some(self.place(number, bytes_a, bytes_b));
        }
        // An infinite magnitude would tolerate any distance.
        let DiffOptions { tolerance, relative, .. } = self.options;
        let relative = if magnitude.is_finite() { relative * magnitude } else { 0.0 };
        distance > tolerance.max(relative)
    }

    fn place(&self, number: u64, a: &[u8], b: &[u8]) -> DiffPlace {
        let index = self.array.index(number);
        let [of_a, of_b] = &self.meant;
        let meant = [of_a.decode(a).to_string(), of_b.decode(b).to_string()];
        let [of_a, of_b] = &self.stored;
        let stored = [of_a.decode(a).to_string(), of_b.decode(b).to_string()];
        let is_number = self.numbers[0].read.is_some();
        // Texts may differ after their end.
        let is_plain = meant == stored || (!is_number && meant[0] == meant[1]);
        let ([a, b], stored) =
            if is_plain { (stored, None) } else { (meant, is_number.then_some(stored)) };
        DiffPlace { index, a, b, stored }
    }
}

/// Returns the distance between two numbers. It is 0 only if they are equal.
#[expect(clippy::float_cmp, reason = "equal numbers have the distance 0")]
fn apart(a: Number, b: Number) -> f64 {
    match (a, b, whole(a).zip(whole(b))) {
        (Number::UInt(a), Number::UInt(b), _) => Number::UInt(a.abs_diff(b)).to_f64(),
        (.., Some((a, b))) => Number::UInt(a.abs_diff(b)).to_f64(),
        // The difference of two equal infinities would be NaN.
        (a, b, None) if a.to_f64() == b.to_f64() => 0.0,
        (a, b, None) => (a.to_f64() - b.to_f64()).abs(),
    }
}

/// Returns a number as an integer, if it is one. A large integer is not equal to the float that is nearest to it.
#[expect(clippy::cast_possible_truncation, reason = "the float is an integer of 128 bits")]
fn whole(number: Number) -> Option<i128> {
    let (real, is_integer) = (number.to_f64(), matches!(number, Number::UInt(_)));
    let is_whole = !is_integer && real.fract() == 0.0 && real.abs() < 2_f64.powi(127);
    number.to_integer().or_else(|| is_whole.then_some(real as i128))
}

/// Returns the magnitude of an element; NaN if one of its parts is NaN.
fn size((re, im): ElementParts) -> f64 {
    let (re, im) = (re.to_f64(), im.map_or(0.0, Number::to_f64));
    if re.is_nan() || im.is_nan() { f64::NAN } else { libm::hypot(re, im) }
}
