//! Writes a file: all variables are announced, then the header is known and the data follow it.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};

use super::attributes::{self, DIMS};
use super::bits::{Packer, packed_len};
use super::body::count;
use super::fill::to_value;
use super::header::{Element, VERSION_LINE, escape, product};
use super::json;
use super::kind::{Kind, disagree};
use super::mapping::FILL_VALUE;
use super::stream::{Counted, Numbers, Open, Plan, copy, each};
use super::strings::Utf8;
use crate::interchange::{Error, Variable};
use crate::ndl::{Attribute, Datatype, Endian, Extent, Ndarray, Order, Value};
use crate::ra::{ElementType, Flags};

/// How to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// Write elements that are `storage.fillvalue` as missing: the mask tells of them, and they are not stored.
    pub mask_fill: bool,
}

/// A file to be written.
///
/// ```
/// use std::io::{Cursor, Read};
/// use ra_pack::interchange::{Variable, ds};
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
/// let mut writer = ds::Writer::new(ds::WriteOptions::default());
/// writer.array(&variable, false, || Ok(Box::new(data.as_slice()) as Box<dyn Read>))?;
/// let mut file = Vec::new();
/// writer.write_to(&mut file)?;
/// assert!(file.starts_with(b"ds-1.0\n{\"x\": {\".dims\": [\"d0\"], \".size\": [2], "));
/// assert!(file.ends_with(&data));
/// # Ok::<(), ra_pack::interchange::Error>(())
/// ```
#[derive(Default)]
pub struct Writer<'a> {
    options: WriteOptions,
    attributes: Vec<(String, String)>,
    planned: Vec<Planned<'a>>,
    names: HashSet<String>,
    /// How long each named dimension is, and of which array that is known.
    lengths: HashMap<String, (u64, String)>,
    losses: Vec<String>,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.planned.iter().map(|planned| &planned.name).collect();
        f.debug_struct("Writer").field("arrays", &names).finish_non_exhaustive()
    }
}

/// An array that was announced.
struct Planned<'a> {
    name: String,
    /// Names and JSON of its attributes.
    facts: Vec<(String, String)>,
    /// The dimensions that have names.
    dims: Vec<Option<String>>,
    size: Vec<u64>,
    /// Bytes of mask and data.
    len: u64,
    word: &'static str,
    endian: Endian,
    missing: bool,
    data: Plan<'a>,
}

/// What an array is, before how it is written.
struct Subject<'d> {
    description: &'d Ndarray,
    size: Vec<u64>,
    is_coordinate: bool,
}

impl<'a> Writer<'a> {
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
        let facts = self.facts(attributes.iter(), "the dataset")?;
        self.attributes.extend(facts);
        let names: HashSet<_> = self.attributes.iter().map(|(name, _)| name).collect();
        if names.len() == self.attributes.len() { Ok(()) } else { Err(twice("the dataset")) }
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
        let name = &description.name;
        if header.is_encoded() {
            let reason = format!("the data of {name:?} are encoded");
            return Err(Error::no_counterpart(reason, "decode them first"));
        }
        let mut size = header.dims().to_vec();
        match description.order() {
            Order::Column if description.shape.len() > 1 => {
                return Err(Error::no_counterpart(
                    format!(
                        "the first index of {name:?} runs fastest, and in this format the last does"
                    ),
                    "reorder its data first",
                ));
            }
            Order::Row => size.reverse(),
            Order::Column | Order::RowUnreversed => {}
        }
        let text = description.datatype == Datatype::String && description.shape.is_empty();
        if text {
            size.clear();
        }
        let fits = description.shape.len() == size.len()
            && description.shape.iter().zip(&size).all(|(extent, size)| match extent {
                Extent::Fixed(length) => length == size,
                Extent::Unlimited | Extent::Coord(_) => true,
            });
        let of_text = header.element() == ElementType::UINT8 && header.ndims() == 1;
        if !fits || (text && !of_text) {
            return Err(disagree(name));
        }
        let endian =
            if header.flags().contains(Flags::BIG_ENDIAN) { Endian::Big } else { Endian::Little };
        let subject = Subject { description, size, is_coordinate };
        if text {
            return self.text(&subject, header.data_len(), Box::new(open));
        }
        self.numbers(&subject, header.element(), endian, Box::new(open))
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
        let mut leaves = Vec::new();
        let size = flatten(value, &description.shape, &mut leaves).ok_or_else(|| disagree(name))?;
        let subject = Subject { description, size, is_coordinate };
        if description.datatype == Datatype::String {
            return self.texts(&subject, &leaves);
        }
        let kind = Kind::of(description, None)?;
        let width = kind.element.elbyte();
        let mut bytes = Vec::new();
        for leaf in leaves {
            let bits = kind.bits(leaf).ok_or_else(|| disagree(name))?.to_le_bytes();
            let width = usize::try_from(width).unwrap_or(bits.len());
            bytes.extend_from_slice(bits.get(..width).unwrap_or_default());
        }
        let open = move || {
            let data: Box<dyn Read + 'a> = Box::new(io::Cursor::new(bytes.clone()));
            Ok(data)
        };
        self.numbers(&subject, kind.element, Endian::Little, Box::new(open))
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
    pub fn write_to(mut self, out: &mut impl Write) -> Result<(), Error> {
        out.write_all(VERSION_LINE)?;
        out.write_all(self.header().as_bytes())?;
        for planned in self.planned {
            let mut out = Counted { out: &mut *out, written: 0 };
            planned.data.write(&planned.name, &mut out)?;
            if out.written != planned.len {
                return Err(changed(&planned.name));
            }
        }
        Ok(())
    }

    fn header(&mut self) -> String {
        let mut unnamed = Unnamed::default();
        let mut out = "{".to_owned();
        let mut offset = 0_u64;
        for planned in &self.planned {
            let dims = unnamed.complete(planned, |name| {
                self.names.contains(name) || self.lengths.contains_key(name)
            });
            json::write_text(&mut out, &escape(&planned.name));
            out.push_str(": {\".dims\": ");
            json::write_list(&mut out, &dims, json::write_text);
            out.push_str(", ");
            for (name, json) in &planned.facts {
                json::write_text(&mut out, &escape(name));
                out.extend([": ", json, ", "]);
            }
            out.push_str("\".size\": ");
            json::write_list(&mut out, &planned.size, |out, extent| {
                json::write_display(out, extent);
            });
            let Planned { len, word, missing, endian, .. } = planned;
            let endian = if *endian == Endian::Little { "l" } else { "b" };
            json::write_display(
                &mut out,
                format_args!(
                    ", \".offset\": {offset}, \".len\": {len}, \".type\": \"{word}\", \".missing\": {missing}, \
                     \".endian\": \"{endian}\"}}, "
                ),
            );
            offset = offset.saturating_add(*len);
        }
        out.push_str("\".\": {");
        for (at, (name, json)) in self.attributes.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { ", " });
            json::write_text(&mut out, &escape(name));
            out.extend([": ", json]);
        }
        out.push_str("}}\n");
        out
    }

    fn facts<'f>(
        &mut self,
        attributes: impl Iterator<Item = &'f Attribute>,
        of: &str,
    ) -> Result<Vec<(String, String)>, Error> {
        let mut names = HashSet::new();
        let mut facts = Vec::new();
        for attribute in attributes {
            if !names.insert(&attribute.name) {
                return Err(twice(of));
            }
            facts
                .push((attribute.name.clone(), attributes::write(attribute, of, &mut self.losses)));
        }
        Ok(facts)
    }

    /// An array of which everything but the data is known.
    fn plan(&mut self, subject: &Subject<'_>) -> Result<Planned<'a>, Error> {
        let name = subject.description.name.clone();
        if self.names.contains(&name) {
            let reason = format!("two arrays are called {name:?}");
            return Err(Error::no_counterpart(reason, "rename one of them"));
        }
        let (dims, uses_names) = dims(subject);
        for (dim, &length) in dims.iter().zip(&subject.size) {
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
        let kept = subject.description.attributes.iter();
        let kept = kept.filter(|attribute| !(uses_names && attribute.name == DIMS));
        let facts = self.facts(kept, &format!("{name:?}"))?;
        self.names.insert(name.clone());
        Ok(Planned {
            name,
            facts,
            dims,
            size: subject.size.clone(),
            len: 0,
            word: "",
            endian: Endian::Little,
            missing: false,
            data: Plan::Memory(Vec::new()),
        })
    }

    fn numbers(
        &mut self,
        subject: &Subject<'_>,
        element: ElementType,
        endian: Endian,
        mut open: Open<'a>,
    ) -> Result<(), Error> {
        let name = &subject.description.name;
        let kind = Kind::of(subject.description, Some(element))?;
        let fill = subject.description.storage.as_ref().and_then(|all| all.fillvalue.as_ref());
        let fill_bits = fill.and_then(|fill| kind.bits(fill));
        let truth = kind.truth(fill_bits.filter(|_| self.options.mask_fill));
        let mut planned = self.plan(subject)?;
        if truth.is_none() {
            self.flags(&kind, &mut planned);
        }
        if fill.is_some() {
            if fill_bits.is_none() {
                self.losses
                    .push(format!("the fillvalue of {name:?} is none of `{}`", kind.datatype));
            }
            let value = fill_bits.map(|bits| to_value(bits, &kind.datatype));
            if let (None, Some(value)) = (truth, value) {
                add_fact(&mut planned, FILL_VALUE, &value);
            }
        }
        let elements = product(&subject.size).ok_or_else(|| disagree(name))?;
        let mut numbers = Numbers {
            datatype: kind.datatype.clone(),
            width: usize::try_from(element.elbyte()).unwrap_or(1),
            endian,
            elements,
            fill: fill_bits.filter(|_| self.options.mask_fill),
            truth: truth.unwrap_or_default(),
        };
        let mut missing = 0_u64;
        if numbers.fill.is_some() {
            each(&mut open, name, &numbers, |bits, _| {
                missing = missing.saturating_add(u64::from(numbers.is_missing(bits)));
                Ok(())
            })?;
        }
        let mask = if missing > 0 { packed_len(elements) } else { 0 };
        let present = elements.saturating_sub(missing);
        if missing == 0 {
            numbers.fill = None;
        }
        planned.missing = missing > 0;
        // The byte order of single bytes and of bits is said to be big.
        planned.endian = if numbers.width == 1 { Endian::Big } else { endian };
        if truth.is_some() {
            if present % 8 != 0 {
                self.losses.push(format!(
                    "{name:?} has {present} truth values, and ds-format reads no file in which that is no \
                     multiple of 8; ra-pack reads it"
                ));
            }
            planned.word = Element::Bool.word();
            planned.len = mask.saturating_add(packed_len(present));
            planned.data = Plan::Bools(open, numbers);
        } else {
            planned.word = kind.datatype.word().unwrap_or_default();
            let len = present.saturating_mul(element.elbyte());
            planned.len = mask.saturating_add(len);
            planned.data = match missing {
                0 => Plan::Copied(open, len),
                _ => Plan::Numbers(open, numbers),
            };
        }
        self.planned.push(planned);
        Ok(())
    }

    /// Says as attributes what the members of an enum are.
    fn flags(&mut self, kind: &Kind<'_>, planned: &mut Planned<'_>) {
        let Some((numbers, names, is_changed)) = kind.flags() else { return };
        if is_changed {
            let name = &planned.name;
            self.losses.push(format!("blanks in the members of {name:?} are written as `_`"));
        }
        add_fact(planned, "flag_values", &numbers);
        add_fact(planned, "flag_meanings", &Value::String(names));
    }

    /// A text alone: `unicode`, or `str` when it is not UTF-8.
    fn text(&mut self, subject: &Subject<'_>, len: u64, mut open: Open<'a>) -> Result<(), Error> {
        let mut planned = self.plan(subject)?;
        let (mut utf8, mut is_utf8) = (Utf8::default(), true);
        copy(&mut open, &planned.name, len, |bytes| {
            is_utf8 = is_utf8 && utf8.push(bytes).is_ok();
            Ok(())
        })?;
        let is_utf8 = is_utf8 && utf8.finish().is_ok();
        planned.word = if is_utf8 { Element::Unicode.word() } else { Element::Str.word() };
        let fill = subject.description.storage.as_ref().and_then(|all| all.fillvalue.as_ref());
        // One that cannot be told from the text without reading all of it is no text.
        let is_missing = len == 0 && fill.and_then(Value::as_str) == Some("");
        if self.options.mask_fill && is_missing {
            planned.missing = true;
            planned.len = 1;
            planned.data = Plan::Memory(vec![0x80]);
            self.planned.push(planned);
            return Ok(());
        }
        if let Some(fill) = fill {
            add_fact(&mut planned, FILL_VALUE, fill);
        }
        planned.len = len.checked_add(8).ok_or_else(|| disagree(&planned.name))?;
        let open = move || {
            let before = io::Cursor::new(len.to_le_bytes());
            let data: Box<dyn Read + 'a> = Box::new(before.chain(open()?));
            Ok(data)
        };
        planned.data = Plan::Copied(Box::new(open), planned.len);
        self.planned.push(planned);
        Ok(())
    }

    fn texts(&mut self, subject: &Subject<'_>, leaves: &[&Value]) -> Result<(), Error> {
        let mut planned = self.plan(subject)?;
        let texts: Option<Vec<&str>> = leaves.iter().map(|leaf| leaf.as_str()).collect();
        let texts = texts.ok_or_else(|| disagree(&planned.name))?;
        let fill = subject.description.storage.as_ref().and_then(|all| all.fillvalue.as_ref());
        if let Some(fill) = fill {
            add_fact(&mut planned, FILL_VALUE, fill);
        }
        let fill = fill.and_then(Value::as_str).filter(|_| self.options.mask_fill);
        let is_missing = |text: &str| Some(text) == fill;
        let mut bytes = Vec::new();
        planned.missing = texts.iter().any(|text| is_missing(text));
        if planned.missing {
            let mut mask = Packer::default();
            for text in &texts {
                mask.push(is_missing(text), &mut bytes);
            }
            mask.finish(&mut bytes);
        }
        let present = || texts.iter().filter(|text| !is_missing(text));
        for text in present() {
            bytes.extend(count(text.len()).to_le_bytes());
        }
        for text in present() {
            bytes.extend_from_slice(text.as_bytes());
        }
        planned.word = Element::Unicode.word();
        planned.len = count(bytes.len());
        planned.data = Plan::Memory(bytes);
        self.planned.push(planned);
        Ok(())
    }
}

/// Adds an attribute, unless there is one of that name.
fn add_fact(planned: &mut Planned<'_>, name: &str, value: &Value) {
    if planned.facts.iter().all(|(known, _)| known != name) {
        let mut json = String::new();
        json::write(&mut json, value);
        planned.facts.push((name.to_owned(), json));
    }
}

fn twice(of: &str) -> Error {
    Error::no_counterpart(format!("{of} has two attributes of one name"), "rename one of them")
}

fn changed(name: &str) -> Error {
    let reason = format!("the data of {name:?} changed while they were written");
    io::Error::new(io::ErrorKind::InvalidData, reason).into()
}

/// The names of dimensions, and whether the attribute `_dims` gave some.
fn dims(subject: &Subject<'_>) -> (Vec<Option<String>>, bool) {
    let Subject { description, size, is_coordinate } = subject;
    if *is_coordinate && size.len() == 1 {
        return (vec![Some(description.name.clone())], false);
    }
    let attribute = description.attributes.iter().find(|attribute| attribute.name == DIMS);
    let names: Option<Vec<&str>> = attribute.and_then(|attribute| match &attribute.value {
        Value::List(list) => list.iter().map(Value::as_str).collect(),
        _ => None,
    });
    let names = names.filter(|names| names.len() == size.len()).unwrap_or_default();
    let mut uses_names = false;
    let mut dims = Vec::new();
    for (at, extent) in description.shape.iter().enumerate() {
        dims.push(match extent {
            // From the root: there are no groups here.
            Extent::Coord(path) => Some(path.strip_prefix('/').unwrap_or(path).to_owned()),
            Extent::Fixed(_) | Extent::Unlimited => {
                uses_names |= names.get(at).is_some();
                names.get(at).map(|name| (*name).to_owned())
            }
        });
    }
    (dims, uses_names)
}

/// Names for dimensions that have none: the same for the same length, but never twice in one array.
#[derive(Default)]
struct Unnamed {
    names: HashMap<(u64, usize), String>,
    next: usize,
}

impl Unnamed {
    fn complete(&mut self, planned: &Planned<'_>, is_used: impl Fn(&str) -> bool) -> Vec<String> {
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut dims = Vec::new();
        for (dim, &length) in planned.dims.iter().zip(&planned.size) {
            if let Some(dim) = dim {
                dims.push(dim.clone());
                continue;
            }
            let nth = seen.entry(length).or_default();
            let next = &mut self.next;
            let name = self.names.entry((length, *nth)).or_insert_with(|| {
                loop {
                    let name = format!("d{next}");
                    *next = next.saturating_add(1);
                    if !is_used(&name) {
                        return name;
                    }
                }
            });
            *nth = nth.saturating_add(1);
            dims.push(name.clone());
        }
        dims
    }
}

/// The extents of nested lists, as deep as the shape is long, and what is in them.
fn flatten<'v>(
    value: &'v Value,
    shape: &[Extent],
    leaves: &mut Vec<&'v Value>,
) -> Option<Vec<u64>> {
    let Some((extent, rest)) = shape.split_first() else {
        leaves.push(value);
        return Some(Vec::new());
    };
    let Value::List(list) = value else { return None };
    let length = count(list.len());
    if matches!(extent, Extent::Fixed(fixed) if *fixed != length) {
        return None;
    }
    let mut inner: Option<Vec<u64>> = None;
    for value in list {
        let found = flatten(value, rest, leaves)?;
        if inner.get_or_insert_with(|| found.clone()) != &found {
            return None;
        }
    }
    // Of no lists the shape alone tells how long they are.
    let inner = inner.unwrap_or_else(|| {
        let length = |extent: &Extent| match extent {
            Extent::Fixed(length) => *length,
            Extent::Unlimited | Extent::Coord(_) => 0,
        };
        rest.iter().map(length).collect()
    });
    Some([length].into_iter().chain(inner).collect())
}
