//! Writes a file: all variables are announced, then the header is known and the data follow it.

#![expect(clippy::indexing_slicing, reason = "names and bits are as many as was compared before")]

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};

use super::body::{
    BitPacker, EncodedElements, OpenData, OutgoingData, Utf8Check, copy, in_memory, packed_len,
};
use super::header::{VERSION_LINE, escape, product};
use super::values::{
    self, DIMS, FILL_VALUE, NumberType, disagree, json_list, json_map, json_text, to_json, to_value,
};
use crate::interchange::{Error, Variable, WriteOptions, fillvalue, is_truth, row_order_extents};
use crate::ndl::{Attribute, Datatype, Endian, Extent, Ndarray, Value};
use crate::ra::{ElementType, Flags};

/// A file to be written.
///
/// ```
/// use std::io::{Cursor, Read};
/// use ra_pack::interchange::{Variable, WriteOptions, ds};
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
/// let mut writer = ds::DsWriter::new(WriteOptions::default());
/// writer.array(&variable, false, || Ok(Box::new(data.as_slice()) as Box<dyn Read>))?;
/// let mut file = Vec::new();
/// writer.write_to(&mut file)?;
/// assert!(file.starts_with(b"ds-1.0\n{\"x\": {\".dims\": [\"d0\"], \".size\": [2], "));
/// assert!(file.ends_with(&data));
/// # Ok::<(), ra_pack::interchange::Error>(())
/// ```
#[derive(Default)]
pub struct DsWriter<'a> {
    options: WriteOptions,
    /// Names and JSON of what is known about the whole.
    attributes: Vec<(String, String)>,
    arrays: Vec<AnnouncedArray<'a>>,
    names: HashSet<String>,
    /// How long each named dimension is, and of which array that is known.
    lengths: HashMap<String, (u64, String)>,
    losses: Vec<String>,
}

impl std::fmt::Debug for DsWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.arrays.iter().map(|array| &array.name).collect();
        f.debug_struct("DsWriter").field("arrays", &names).finish_non_exhaustive()
    }
}

/// An array that was announced.
struct AnnouncedArray<'a> {
    name: String,
    /// Names and JSON of its attributes.
    attributes: Vec<(String, String)>,
    /// The dimensions that have names.
    dims: Vec<Option<String>>,
    size: Vec<u64>,
    /// Bytes of mask and data.
    len: u64,
    word: &'static str,
    endian: Endian,
    is_masked: bool,
    data: OutgoingData<'a>,
}

/// An array before it is decided how it is written.
struct ArrayToWrite<'d> {
    description: &'d Ndarray,
    size: Vec<u64>,
    is_coordinate: bool,
}

impl ArrayToWrite<'_> {
    /// The names of dimensions, and whether the attribute `_dims` gave some.
    fn dims(&self) -> (Vec<Option<String>>, bool) {
        if self.is_coordinate && self.size.len() == 1 {
            return (vec![Some(self.description.name.clone())], false);
        }
        let mut attributes = self.description.attributes.iter();
        let attribute = attributes.find(|attribute| attribute.name == DIMS);
        let names: Option<Vec<&str>> = attribute.and_then(|attribute| match &attribute.value {
            Value::List(list) => list.iter().map(Value::as_str).collect(),
            _ => None,
        });
        let names = names.filter(|names| names.len() == self.size.len());
        let mut uses_names = false;
        let dims = self.description.shape.iter().enumerate().map(|(at, extent)| match extent {
            // From the root: there are no groups here.
            Extent::Coord(path) => Some(path.strip_prefix('/').unwrap_or(path).to_owned()),
            Extent::Fixed(_) | Extent::Unlimited => {
                uses_names |= names.is_some();
                names.as_ref().map(|names| names[at].to_owned())
            }
        });
        (dims.collect(), uses_names)
    }
}

impl<'a> DsWriter<'a> {
    /// A file without arrays.
    pub fn new(options: WriteOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Adds what is known about the whole.
    ///
    /// # Errors
    ///
    /// When two attributes have one name.
    pub fn attributes(&mut self, attributes: &[Attribute]) -> Result<(), Error> {
        let known = std::mem::take(&mut self.attributes);
        self.attributes = self.written(known, attributes.iter(), "the dataset")?;
        Ok(())
    }

    /// Announces an array with data. `open` gives the data from their beginning, in the order that the description
    /// states; it is called once or several times, now and when all is written.
    ///
    /// Dimensions have the names of their coordinates, else those of the attribute `_dims`, else new ones. A
    /// coordinate has its own name.
    ///
    /// # Errors
    ///
    /// When the format has no counterpart for it (datatype, first index fastest, two lengths of one
    /// dimension, a name used twice), header and description disagree, or reading fails.
    pub fn array(
        &mut self,
        variable: &Variable,
        is_coordinate: bool,
        open: impl FnMut() -> io::Result<Box<dyn Read + 'a>> + 'a,
    ) -> Result<(), Error> {
        let Variable { header, description, .. } = variable;
        let mut size = row_order_extents(variable, "this format")?;
        let is_text = description.datatype == Datatype::String && description.shape.is_empty();
        let mut fits = true;
        if is_text {
            fits = header.element() == ElementType::UINT8 && size.len() == 1;
            size.clear();
        }
        let fixed = description.shape.iter().zip(&size);
        let mut fixed = fixed.map(|(extent, size)| match extent {
            Extent::Fixed(length) => length == size,
            Extent::Unlimited | Extent::Coord(_) => true,
        });
        if !fits || description.shape.len() != size.len() || !fixed.all(|fits| fits) {
            return Err(disagree(&description.name));
        }
        let is_big = header.flags().contains(Flags::BIG_ENDIAN);
        let endian = if is_big { Endian::Big } else { Endian::Little };
        let array = ArrayToWrite { description, size, is_coordinate };
        if is_text {
            return self.text(&array, header.data_len(), Box::new(open));
        }
        self.numbers(&array, Some(header.element()), endian, Box::new(open))
    }

    /// Announces an array whose elements stand as `value` in the description.
    ///
    /// # Errors
    ///
    /// As [`array`](Self::array), and when the value does not fit the shape or the datatype.
    pub fn inline(&mut self, description: &Ndarray, is_coordinate: bool) -> Result<(), Error> {
        let name = &description.name;
        let Some(value) = &description.value else {
            let reason = format!("{name:?} has neither data nor a value");
            return Err(Error::no_counterpart(reason, "give its values, or leave it out"));
        };
        let size = extents(value, &description.shape);
        let leaves = size.as_ref().and_then(|size| values::leaves(value, size));
        let (size, leaves) = size.zip(leaves).ok_or_else(|| disagree(name))?;
        let array = ArrayToWrite { description, size, is_coordinate };
        if description.datatype == Datatype::String {
            return self.texts(&array, &leaves);
        }
        let number = NumberType::of(description, None)?;
        let mut bytes = Vec::new();
        for leaf in leaves {
            let bits = number.bits(leaf).ok_or_else(|| disagree(name))?.to_le_bytes();
            bytes.extend_from_slice(&bits[..number.width]);
        }
        let open = move || Ok(Box::new(io::Cursor::new(bytes.clone())) as Box<dyn Read + 'a>);
        self.numbers(&array, None, Endian::Little, Box::new(open))
    }

    /// What the file will not say, one sentence each.
    pub fn losses(&self) -> &[String] {
        &self.losses
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// When reading or writing fails, the data of an array are shorter or longer than its header says, or
    /// truth values are neither true nor false.
    pub fn write_to(self, out: &mut impl Write) -> Result<(), Error> {
        out.write_all(VERSION_LINE)?;
        out.write_all(self.header().as_bytes())?;
        for AnnouncedArray { name, data, .. } in self.arrays {
            data.write(&name, out)?;
        }
        Ok(())
    }

    fn header(&self) -> String {
        let mut dim_names = DimNames::default();
        let mut offset = 0_u64;
        let mut variables = Vec::new();
        for array in &self.arrays {
            let AnnouncedArray { size, len, word, is_masked, .. } = array;
            let dims = dim_names.complete(array, |name| {
                self.names.contains(name) || self.lengths.contains_key(name)
            });
            let endian = if array.endian == Endian::Little { "l" } else { "b" };
            let before = (".dims", json_list(dims.iter().map(|dim| json_text(dim))));
            let after = [
                (".size", json_list(size.iter().map(u64::to_string))),
                (".offset", offset.to_string()),
                (".len", len.to_string()),
                (".type", json_text(word)),
                (".missing", is_masked.to_string()),
                (".endian", json_text(endian)),
            ];
            let own = |(key, json): (&str, String)| (key.to_owned(), json);
            let members = [own(before)].into_iter().chain(escaped(&array.attributes));
            let members = members.chain(after.map(own));
            variables.push((escape(&array.name), json_map(members)));
            offset += len;
        }
        variables.push((".".to_owned(), json_map(escaped(&self.attributes))));
        json_map(variables.into_iter()) + "\n"
    }

    /// Adds names and JSON of `attributes` of `of` to those that are known.
    fn written<'f>(
        &mut self,
        mut known: Vec<(String, String)>,
        attributes: impl Iterator<Item = &'f Attribute>,
        of: &str,
    ) -> Result<Vec<(String, String)>, Error> {
        let mut names: HashSet<_> = known.iter().map(|(name, _)| name.clone()).collect();
        for attribute in attributes {
            if !names.insert(attribute.name.clone()) {
                let reason = format!("{of} has two attributes of one name");
                return Err(Error::no_counterpart(reason, "rename one of them"));
            }
            let json = values::write(attribute, of, &mut self.losses);
            known.push((attribute.name.clone(), json));
        }
        Ok(known)
    }

    /// An array of which everything but the data is known.
    fn announce(&mut self, array: &ArrayToWrite<'_>) -> Result<AnnouncedArray<'a>, Error> {
        let name = array.description.name.clone();
        if self.names.contains(&name) {
            let reason = format!("two arrays are called {name:?}");
            return Err(Error::no_counterpart(reason, "rename one of them"));
        }
        let (dims, uses_names) = array.dims();
        for (dim, &length) in dims.iter().zip(&array.size) {
            let Some(dim) = dim else { continue };
            let known = self.lengths.entry(dim.clone()).or_insert((length, name.clone()));
            if known.0 != length {
                return Err(Error::no_counterpart(
                    format!(
                        "the dimension {dim:?} has {} elements in {:?} and {length} in {name:?}",
                        known.0, known.1
                    ),
                    "give one of them another name in its attribute `_dims`",
                ));
            }
        }
        let kept = array.description.attributes.iter();
        let kept = kept.filter(|attribute| !(uses_names && attribute.name == DIMS));
        let attributes = self.written(Vec::new(), kept, &format!("{name:?}"))?;
        self.names.insert(name.clone());
        Ok(AnnouncedArray {
            name,
            attributes,
            dims,
            size: array.size.clone(),
            len: 0,
            word: "unicode",
            endian: Endian::Little,
            is_masked: false,
            data: in_memory(Vec::new()),
        })
    }

    /// Numbers and truth values. Without `element` the data are those of the datatype.
    fn numbers(
        &mut self,
        array: &ArrayToWrite<'_>,
        element: Option<ElementType>,
        endian: Endian,
        mut open: OpenData<'a>,
    ) -> Result<(), Error> {
        let name = &array.description.name;
        let number = NumberType::of(array.description, element)?;
        let (datatype, width) = (number.datatype.clone(), number.width);
        let fill = fillvalue(array.description).map(|fill| number.bits(fill));
        let masked = fill.flatten().filter(|_| self.options.mask_fill);
        let masked_number = masked.and_then(|bits| to_value(bits, &datatype).as_integer());
        let is_truth = is_truth(&array.description.datatype, masked_number);
        let mut announced = self.announce(array)?;
        if let Some((numbers, names, is_changed)) = number.flags().filter(|_| !is_truth) {
            if is_changed {
                self.losses.push(format!("blanks in the members of {name:?} are written as `_`"));
            }
            announced.add_attribute("flag_values", &numbers);
            announced.add_attribute("flag_meanings", &Value::String(names));
        }
        match fill {
            Some(None) => {
                self.losses.push(format!("the fillvalue of {name:?} is none of `{datatype}`"));
            }
            Some(Some(bits)) if !is_truth => {
                announced.add_attribute(FILL_VALUE, &to_value(bits, &datatype));
            }
            _ => {}
        }
        let count = product(&array.size).ok_or_else(|| disagree(name))?;
        let word = datatype.word().expect("every number of the format is a word");
        let mut elements = EncodedElements {
            datatype,
            width,
            endian,
            count,
            fill: masked,
            present: count,
            is_truth,
        };
        let mut missing = 0;
        if masked.is_some() {
            elements.each(&mut open, name, |bits, _| {
                missing += u64::from(elements.is_missing(bits));
                Ok(())
            })?;
        }
        announced.is_masked = missing > 0;
        if !announced.is_masked {
            elements.fill = None;
        }
        // The byte order of single bytes and of bits is said to be big.
        announced.endian = if width == 1 { Endian::Big } else { endian };
        let present = count - missing;
        elements.present = present;
        let len = if is_truth { packed_len(present) } else { present * width as u64 };
        announced.len = len + if announced.is_masked { packed_len(count) } else { 0 };
        announced.word = if is_truth { "bool" } else { word };
        if is_truth && present % 8 != 0 {
            self.losses.push(format!(
                "{name:?} has {present} truth values, and ds-format reads no file in which that is no \
                 multiple of 8; ra-pack reads it"
            ));
        }
        announced.data = if is_truth || announced.is_masked {
            OutgoingData::Elements(open, elements)
        } else {
            OutgoingData::Copied(open, len)
        };
        self.arrays.push(announced);
        Ok(())
    }

    /// A text alone: `unicode`, or `str` when it is not UTF-8.
    fn text(
        &mut self,
        array: &ArrayToWrite<'_>,
        len: u64,
        mut open: OpenData<'a>,
    ) -> Result<(), Error> {
        let mut announced = self.announce(array)?;
        let mut utf8 = Utf8Check::default();
        copy(&mut open, &announced.name, len, |bytes| {
            utf8.push(bytes);
            Ok(())
        })?;
        if utf8.fault().is_some() {
            announced.word = "str";
        }
        let fill = fillvalue(array.description);
        // One that cannot be told from the text without reading all of it is no text.
        if self.options.mask_fill && len == 0 && fill.and_then(Value::as_str) == Some("") {
            announced.is_masked = true;
            announced.len = 1;
            announced.data = in_memory(vec![0x80]);
            self.arrays.push(announced);
            return Ok(());
        }
        if let Some(fill) = fill {
            announced.add_attribute(FILL_VALUE, fill);
        }
        announced.len = len.checked_add(8).ok_or_else(|| disagree(&announced.name))?;
        let open = move || {
            let before = io::Cursor::new(len.to_le_bytes());
            Ok(Box::new(before.chain(open()?)) as Box<dyn Read + 'a>)
        };
        announced.data = OutgoingData::Copied(Box::new(open), announced.len);
        self.arrays.push(announced);
        Ok(())
    }

    fn texts(&mut self, array: &ArrayToWrite<'_>, leaves: &[&Value]) -> Result<(), Error> {
        let mut announced = self.announce(array)?;
        let texts: Option<Vec<&str>> = leaves.iter().map(|leaf| leaf.as_str()).collect();
        let texts = texts.ok_or_else(|| disagree(&announced.name))?;
        let fill = fillvalue(array.description);
        if let Some(fill) = fill {
            announced.add_attribute(FILL_VALUE, fill);
        }
        let fill = fill.and_then(Value::as_str).filter(|_| self.options.mask_fill);
        let is_missing = |text: &&str| Some(*text) == fill;
        let mut bytes = Vec::new();
        announced.is_masked = texts.iter().any(is_missing);
        if announced.is_masked {
            let mut mask = BitPacker::default();
            for text in &texts {
                mask.push(is_missing(text), &mut bytes);
            }
            mask.finish(&mut bytes);
        }
        let present = texts.iter().filter(|text| !is_missing(text));
        bytes.extend(present.clone().flat_map(|text| (text.len() as u64).to_le_bytes()));
        bytes.extend(present.flat_map(|text| text.bytes()));
        announced.len = bytes.len() as u64;
        announced.data = in_memory(bytes);
        self.arrays.push(announced);
        Ok(())
    }
}

impl AnnouncedArray<'_> {
    /// Adds an attribute, unless there is one of that name.
    fn add_attribute(&mut self, name: &str, value: &Value) {
        if self.attributes.iter().all(|(known, _)| known != name) {
            self.attributes.push((name.to_owned(), to_json(value)));
        }
    }
}

/// Attributes by the names that they have in the file.
fn escaped(attributes: &[(String, String)]) -> impl Iterator<Item = (String, String)> {
    attributes.iter().map(|(name, json)| (escape(name), json.clone()))
}

/// Names for dimensions that have none: the same for the same length, but never twice in one array.
#[derive(Default)]
struct DimNames {
    names: HashMap<(u64, usize), String>,
    next: usize,
}

impl DimNames {
    fn complete(
        &mut self,
        array: &AnnouncedArray<'_>,
        is_used: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut dims = Vec::new();
        for (dim, &length) in array.dims.iter().zip(&array.size) {
            if let Some(dim) = dim {
                dims.push(dim.clone());
                continue;
            }
            let nth = seen.entry(length).or_default();
            let name = self.names.entry((length, *nth)).or_insert_with(|| {
                let mut names = (self.next..).map(|next| (next, format!("d{next}")));
                let free = names.find(|(_, name)| !is_used(name));
                let (number, name) = free.expect("there are endless names");
                self.next = number + 1;
                name
            });
            *nth += 1;
            dims.push(name.clone());
        }
        dims
    }
}

/// The extents of nested lists, as deep as the shape is long; nothing when they do not fit it.
fn extents(value: &Value, shape: &[Extent]) -> Option<Vec<u64>> {
    let mut first = Some(value);
    let length = |extent: &Extent| {
        let length = match (first, extent) {
            (Some(Value::List(list)), _) => {
                first = list.first();
                list.len() as u64
            }
            (Some(_), _) => return None,
            // Of no lists the shape alone tells how long they are.
            (None, Extent::Fixed(length)) => *length,
            (None, Extent::Unlimited | Extent::Coord(_)) => 0,
        };
        let fits = !matches!(extent, Extent::Fixed(fixed) if *fixed != length);
        fits.then_some(length)
    };
    shape.iter().map(length).collect()
}
