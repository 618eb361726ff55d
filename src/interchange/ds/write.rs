//! Writes a file: the data is collected first, because the header before it depends on all variables.

#![expect(clippy::indexing_slicing, reason = "names and bits have been counted before")]

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::body::{BitPacker, Utf8Check};
use super::header::{VERSION_LINE, escape, packed_len, product};
use super::values::{self, DIMS, FILL_VALUE, NumberType, disagree, is_same, to_json};
use crate::interchange::values::{numbers, to_value};
use crate::interchange::{
    ExportOptions, FormatError, Variable, fillvalue, is_truth, read_all, row_order_extents,
    wrong_length,
};
use crate::ndl::{Attribute, Datatype, Endian, Extent, Ndarray, Value};
use crate::path;
use crate::ra::header::reverse_each;
use crate::ra::{ElementType, Flags};

/// Number of data bytes that are read at once: a multiple of every element size, and complete bytes of a mask.
const PIECE: usize = 1 << 16;

/// A writer for a `.ds` file.
///
/// ```
/// use std::io::Cursor;
/// use ra_pack::interchange::{Variable, ExportOptions, ds};
/// use ra_pack::ndl::{Datatype, Extent, Ndarray};
/// use ra_pack::ra::{ElementType, Header};
///
/// let variable = Variable {
///     header: Header::new(ElementType::INT16, vec![2]).unwrap(),
///     description: Ndarray {
///         name: "x".to_owned(),
///         shape: vec![Extent::Fixed(2)],
///         datatype: Datatype::Int16,
///         value: None,
///         attributes: Vec::new(),
///         storage: None,
///     },
///     losses: Vec::new(),
/// };
/// let data = [1, 0, 2, 0];
/// let mut writer = ds::DsWriter::new(Cursor::new(Vec::new()), ExportOptions::default());
/// writer.array(&variable, false, data.as_slice())?;
/// let mut file = Vec::new();
/// writer.write_to(&mut file)?;
/// assert!(file.starts_with(b"ds-1.0\n{\"x\": {\".dims\": [\"d0\"], \".size\": [2], "));
/// assert!(file.ends_with(&data));
/// # Ok::<(), ra_pack::interchange::FormatError>(())
/// ```
#[derive(Debug)]
pub struct DsWriter<S> {
    options: ExportOptions,
    /// The attributes of the dataset.
    attributes: Vec<(String, Value)>,
    arrays: Vec<WrittenArray>,
    names: HashSet<String>,
    /// The length of each named dimension, and the array that it comes from.
    lengths: HashMap<String, (u64, String)>,
    losses: Vec<String>,
    /// The masks and data of all arrays, and the offset of the next one.
    body: S,
    end: u64,
}

/// An array whose data is in the body.
#[derive(Debug)]
struct WrittenArray {
    name: String,
    attributes: Vec<(String, Value)>,
    /// The names of its dimensions.
    dims: Vec<Option<String>>,
    size: Vec<u64>,
    /// The offset of its mask and data in the body, and their length in bytes.
    at: u64,
    len: u64,
    word: &'static str,
    endian: Endian,
    is_masked: bool,
}

impl<S: Read + Write + Seek> DsWriter<S> {
    /// Begins a file without arrays. `body`, which must be empty, stores the data until all arrays are known.
    pub fn new(body: S, options: ExportOptions) -> Self {
        let (arrays, attributes, losses, names, lengths) = <_>::default();
        Self { options, attributes, arrays, names, lengths, losses, body, end: 0 }
    }

    /// Adds attributes of the dataset, which are those of the group of the array `name`. An attribute that already has
    /// another value is dropped with a message in [`losses`](Self::losses).
    pub fn attributes(&mut self, attributes: &[Attribute], name: &str) {
        for attribute in attributes {
            let mut losses = Vec::new();
            let value = values::write(attribute, "the dataset", &mut losses);
            match self.attributes.iter().find(|(known, _)| *known == attribute.name) {
                None => {
                    self.attributes.push((attribute.name.clone(), value));
                    self.losses.append(&mut losses);
                }
                Some((_, known)) if *known == value => {}
                Some(_) => self.losses.push(format!(
                    "the attribute `{}` of the group of `{}` differs from that of another group, and is dropped",
                    path::escape(&attribute.name),
                    path::escape(name)
                )),
            }
        }
    }

    /// Adds an array with its data, in the order of the description.
    ///
    /// Dimensions have the names of their coordinates, or those in the attribute `_dims`, or new names. A coordinate
    /// has its own name.
    ///
    /// # Errors
    ///
    /// - [`FormatError::NoCounterpart`] if the format cannot store the array: it has another datatype, is column-major,
    ///   has a name that is already used or a dimension of another length, is a boolean with other values, or header
    ///   and description disagree.
    /// - [`FormatError::Io`] if reading or writing fails, or the data does not have the length in the header.
    pub fn array(
        &mut self,
        variable: &Variable,
        is_coordinate: bool,
        data: impl Read,
    ) -> Result<(), FormatError> {
        let Variable { header, description, .. } = variable;
        let size = row_order_extents(variable, "this format")?;
        if description.datatype == Datatype::String && description.shape.is_empty() {
            if header.element() != ElementType::UINT8 || size.len() != 1 {
                return Err(disagree(&description.name));
            }
            let written = self.begin(description, Vec::new(), is_coordinate)?;
            return self.text(written, description, header.data_len(), data);
        }
        let is_big = header.flags().contains(Flags::BIG_ENDIAN);
        let endian = if is_big { Endian::Big } else { Endian::Little };
        let written = self.begin(description, size, is_coordinate)?;
        self.numbers(written, description, (Some(header.element()), endian), data)
    }

    /// Adds an array whose elements are the `value` in its description.
    ///
    /// # Errors
    ///
    /// The errors of [`array`](Self::array), and [`FormatError::NoCounterpart`] if the value does not match the shape
    /// or the datatype.
    pub fn inline(
        &mut self,
        description: &Ndarray,
        is_coordinate: bool,
    ) -> Result<(), FormatError> {
        let name = &description.name;
        let Some(value) = &description.value else {
            let reason = format!("{name:?} has neither data nor a value");
            return Err(FormatError::no_counterpart(reason, "give its values, or leave it out"));
        };
        let mut size = values::extents(value);
        // Empty lists have no lengths; only the shape has them.
        for extent in description.shape.iter().skip(size.len()) {
            size.push(if let Extent::Fixed(length) = extent { *length } else { 0 });
        }
        let leaves = value.elements(&size).ok_or_else(|| disagree(name))?;
        let written = self.begin(description, size, is_coordinate)?;
        if description.datatype == Datatype::String {
            return self.texts(written, description, &leaves);
        }
        let number = NumberType::of(description, None)?;
        let mut bytes = Vec::new();
        for leaf in leaves {
            let bits = number.bits(leaf).ok_or_else(|| disagree(name))?.to_le_bytes();
            bytes.extend_from_slice(&bits[..number.width]);
        }
        self.numbers(written, description, (None, Endian::Little), bytes.as_slice())
    }

    /// Returns a message for each part of the metadata that the file cannot store.
    pub fn losses(&self) -> &[String] {
        &self.losses
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// [`FormatError::Io`] if reading or writing fails.
    pub fn write_to(mut self, out: &mut impl Write) -> Result<(), FormatError> {
        out.write_all(VERSION_LINE)?;
        out.write_all(self.header().as_bytes())?;
        for WrittenArray { at, len, .. } in self.arrays {
            self.body.seek(SeekFrom::Start(at))?;
            io::copy(&mut Read::by_ref(&mut self.body).take(len), out)?;
        }
        Ok(())
    }

    /// Writes a part of the body, and returns the offset of its end.
    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<u64, FormatError> {
        self.body.seek(SeekFrom::Start(at))?;
        self.body.write_all(bytes)?;
        Ok(at + bytes.len() as u64)
    }

    /// Adds an array whose data ends at the offset `end` of the body.
    fn finish(&mut self, array: WrittenArray, end: u64) {
        self.end = end;
        self.arrays.push(WrittenArray { len: end - array.at, ..array });
    }

    fn header(&self) -> String {
        // Dimensions without names get the same name if they have the same length, but never within one array.
        let is_used = |name: &String| self.names.contains(name) || self.lengths.contains_key(name);
        let mut unused = (0_u64..).map(|number| format!("d{number}")).filter(|name| !is_used(name));
        let mut dim_names: HashMap<(u64, usize), String> = HashMap::new();
        let mut offset = 0_u64;
        let mut variables = Vec::new();
        for array in &self.arrays {
            let WrittenArray { size, len, word, is_masked, .. } = array;
            let mut seen = Vec::new();
            let dims = array.dims.iter().zip(size).map(|(dim, length)| {
                if let Some(dim) = dim {
                    return dim.clone();
                }
                let nth = seen.iter().filter(|known| **known == length).count();
                seen.push(length);
                let name = dim_names.entry((*length, nth));
                name.or_insert_with(|| unused.next().expect("the iterator is infinite")).clone()
            });
            let dims = dims.map(Value::String).collect();
            let endian = if array.endian == Endian::Little { "l" } else { "b" };
            let after = [
                (".size", size.clone().into()),
                (".offset", offset.into()),
                (".len", (*len).into()),
                (".type", (*word).into()),
                (".missing", Value::Bool(*is_masked)),
                (".endian", endian.into()),
            ];
            let mut members = vec![(".dims".to_owned(), Value::List(dims))];
            members.extend(escaped(&array.attributes));
            members.extend(after.map(|(key, value)| (key.to_owned(), value)));
            variables.push((escape(&array.name), Value::Map(members)));
            offset += len;
        }
        variables.push((".".to_owned(), Value::Map(escaped(&self.attributes).collect())));
        to_json(&Value::Map(variables)) + "\n"
    }

    /// Begins an array, as one of texts without data; callers change that.
    fn begin(
        &mut self,
        description: &Ndarray,
        size: Vec<u64>,
        is_coordinate: bool,
    ) -> Result<WrittenArray, FormatError> {
        let name = description.name.clone();
        let fits = |(extent, length): (&Extent, &u64)| match extent {
            Extent::Fixed(fixed) => fixed == length,
            Extent::Unlimited | Extent::Coord(_) => true,
        };
        if description.shape.len() != size.len() || !description.shape.iter().zip(&size).all(fits) {
            return Err(disagree(&name));
        }
        if self.names.contains(&name) {
            let reason = format!("two arrays have the name {name:?}");
            return Err(FormatError::no_counterpart(reason, "rename one of them"));
        }
        let names: Option<Vec<&str>> = description.attribute(DIMS).and_then(|names| match names {
            Value::List(list) => list.iter().map(Value::as_str).collect(),
            _ => None,
        });
        let names = names.filter(|names| names.len() == size.len());
        let (mut dims, mut uses_names) = (Vec::new(), false);
        for (at, (extent, &length)) in description.shape.iter().zip(&size).enumerate() {
            let dim = match extent {
                _ if is_coordinate && size.len() == 1 => Some(name.clone()),
                // From the root, because the format has no groups.
                Extent::Coord(path) => Some(path.strip_prefix('/').unwrap_or(path).to_owned()),
                Extent::Fixed(_) | Extent::Unlimited => {
                    uses_names |= names.is_some();
                    names.as_ref().map(|names| names[at].to_owned())
                }
            };
            if let Some(dim) = &dim {
                let known = self.lengths.entry(dim.clone()).or_insert((length, name.clone()));
                if known.0 != length {
                    return Err(FormatError::no_counterpart(
                        format!(
                            "the dimension {dim:?} has {} elements in {:?} but {length} in {name:?}",
                            known.0, known.1
                        ),
                        "give one of them another name in the attribute `_dims`",
                    ));
                }
            }
            dims.push(dim);
        }
        let (mut attributes, mut known) = (Vec::new(), HashSet::new());
        let kept = description.attributes.iter();
        for attribute in kept.filter(|attribute| !(uses_names && attribute.name == DIMS)) {
            if !known.insert(&attribute.name) {
                let reason = format!("{name:?} has two attributes with the same name");
                return Err(FormatError::no_counterpart(reason, "rename one of them"));
            }
            let value = values::write(attribute, &format!("{name:?}"), &mut self.losses);
            attributes.push((attribute.name.clone(), value));
        }
        self.names.insert(name.clone());
        Ok(WrittenArray {
            name,
            attributes,
            dims,
            size,
            at: self.end,
            len: 0,
            word: "unicode",
            endian: Endian::Little,
            is_masked: false,
        })
    }

    /// Writes numbers and booleans. Without `element`, the data has the datatype of the description.
    fn numbers(
        &mut self,
        mut written: WrittenArray,
        description: &Ndarray,
        (element, endian): (Option<ElementType>, Endian),
        data: impl Read,
    ) -> Result<(), FormatError> {
        let name = &description.name;
        let number = NumberType::of(description, element)?;
        let (datatype, width) = (&number.datatype, number.width);
        let fill = fillvalue(description).map(|fill| number.bits(fill));
        let masked = fill.flatten().filter(|_| self.options.mask_fill);
        let masked_number = masked.and_then(|bits| to_value(bits, datatype).as_integer());
        let is_truth = is_truth(&description.datatype, masked_number);
        if let Some((numbers, names, is_changed)) = number.flags().filter(|_| !is_truth) {
            if is_changed {
                self.losses.push(format!("spaces in the members of {name:?} are written as `_`"));
            }
            written.add_attribute("flag_values", &numbers);
            written.add_attribute("flag_meanings", &Value::String(names));
        }
        match fill {
            Some(None) => self.losses.push(format!(
                "the fillvalue of {name:?} is not a value of `{datatype}`, and is dropped"
            )),
            Some(Some(bits)) if !is_truth => {
                written.add_attribute(FILL_VALUE, &to_value(bits, datatype));
            }
            _ => {}
        }
        let count = product(&written.size).ok_or_else(|| disagree(name))?;
        let len = count * width as u64;
        // A mask precedes the data if any element is missing.
        let mask_len = if masked.is_some() { packed_len(count) } else { 0 };
        let (mut mask_at, mut at) = (self.end, self.end + mask_len);
        let (mut mask_bits, mut truth_bits) = (BitPacker::default(), BitPacker::default());
        let (mut place, mut present) = (0_u64, 0_u64);
        let write = |bytes: &mut [u8]| {
            if masked.is_none() && !is_truth {
                at = self.put(at, bytes)?;
                return Ok(());
            }
            let mut plain = bytes.to_vec();
            reverse_each(&mut plain, if endian == Endian::Big { width } else { 1 });
            let (mut mask, mut kept) = (Vec::new(), Vec::new());
            for (bits, bytes) in numbers(&plain, width).zip(bytes.chunks_exact(width)) {
                let is_missing = masked.is_some_and(|fill| is_same(fill, bits, datatype));
                if masked.is_some() {
                    mask_bits.push(is_missing, &mut mask);
                }
                let element = place;
                place += 1;
                if is_missing {
                    continue;
                }
                present += 1;
                if !is_truth {
                    kept.extend_from_slice(bytes);
                } else if bits <= 1 {
                    truth_bits.push(bits == 1, &mut kept);
                } else {
                    return Err(FormatError::no_counterpart(
                        format!("element {element} of {name:?} is {bits}, neither false nor true"),
                        "describe it as `uint8`, or make it 0 or 1",
                    ));
                }
            }
            mask_at = self.put(mask_at, &mask)?;
            at = self.put(at, &kept)?;
            Ok(())
        };
        read_all(data, len, PIECE, write, wrong_length(name, len))?;
        let (mut mask, mut kept) = (Vec::new(), Vec::new());
        mask_bits.finish(&mut mask);
        truth_bits.finish(&mut kept);
        self.put(mask_at, &mask)?;
        let end = self.put(at, &kept)?;
        written.is_masked = masked.is_some() && present < count;
        if !written.is_masked {
            written.at += mask_len;
        }
        // Single bytes and bits are declared big-endian.
        written.endian = if width == 1 { Endian::Big } else { endian };
        let word = datatype.word().expect("every number of the format has a word");
        written.word = if is_truth { "bool" } else { word };
        if is_truth && present % 8 != 0 {
            self.losses.push(format!(
                "{name:?} has {present} booleans; ds-format can only read files where this is a multiple \
                 of 8, but ra-pack can read it"
            ));
        }
        self.finish(written, end);
        Ok(())
    }

    /// Writes a single text: `unicode`, or `str` if it is not UTF-8.
    fn text(
        &mut self,
        mut written: WrittenArray,
        description: &Ndarray,
        len: u64,
        data: impl Read,
    ) -> Result<(), FormatError> {
        let (mut utf8, mut at) = (Utf8Check::default(), self.put(self.end, &len.to_le_bytes())?);
        let write = |bytes: &mut [u8]| {
            utf8.push(bytes);
            at = self.put(at, bytes)?;
            Ok(())
        };
        read_all(data, len, PIECE, write, wrong_length(&written.name, len))?;
        if utf8.fault().is_some() {
            written.word = "str";
        }
        let fill = fillvalue(description);
        // Detecting any other fill value would take reading the complete text.
        if self.options.mask_fill && len == 0 && fill.and_then(Value::as_str) == Some("") {
            written.is_masked = true;
            at = self.put(self.end, &[0x80])?;
        } else if let Some(fill) = fill {
            written.add_attribute(FILL_VALUE, fill);
        }
        self.finish(written, at);
        Ok(())
    }

    fn texts(
        &mut self,
        mut written: WrittenArray,
        description: &Ndarray,
        leaves: &[&Value],
    ) -> Result<(), FormatError> {
        let texts: Option<Vec<&str>> = leaves.iter().map(|leaf| leaf.as_str()).collect();
        let texts = texts.ok_or_else(|| disagree(&written.name))?;
        let fill = fillvalue(description);
        if let Some(fill) = fill {
            written.add_attribute(FILL_VALUE, fill);
        }
        let fill = fill.and_then(Value::as_str).filter(|_| self.options.mask_fill);
        let is_missing = |text: &&str| Some(*text) == fill;
        let mut bytes = Vec::new();
        written.is_masked = texts.iter().any(is_missing);
        if written.is_masked {
            let mut mask = BitPacker::default();
            for text in &texts {
                mask.push(is_missing(text), &mut bytes);
            }
            mask.finish(&mut bytes);
        }
        let present = texts.iter().filter(|text| !is_missing(text));
        bytes.extend(present.clone().flat_map(|text| (text.len() as u64).to_le_bytes()));
        bytes.extend(present.flat_map(|text| text.bytes()));
        let end = self.put(self.end, &bytes)?;
        self.finish(written, end);
        Ok(())
    }
}

impl WrittenArray {
    /// Adds an attribute, unless one with that name exists.
    fn add_attribute(&mut self, name: &str, value: &Value) {
        if self.attributes.iter().all(|(known, _)| known != name) {
            self.attributes.push((name.to_owned(), value.clone()));
        }
    }
}

/// Returns attributes with their escaped names.
fn escaped(attributes: &[(String, Value)]) -> impl Iterator<Item = (String, Value)> {
    attributes.iter().map(|(name, value)| (escape(name), value.clone()))
}
