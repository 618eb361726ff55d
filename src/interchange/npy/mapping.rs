//! Converts NumPy dtypes to element types, datatypes and attributes, and back.

use std::collections::HashSet;

use super::dtype::{ByteOrder, Descr, DtypeKind, DtypeScalar, Field, MAX_ITEM, TimeUnit};
use crate::interchange::literal::quoted;
use crate::interchange::{
    FormatError, NUMPY_CALENDAR, Variable, element_of_word, fillvalue, is_truth, member_path,
    truth, units_name,
};
use crate::message::Message;
use crate::ndl::{Attribute, Datatype, Integer, Ndarray, Value};
use crate::ra::{ElementKind, ElementType, Flags};
use crate::time::Calendar;

/// The tag of opaque elements that are text of single bytes.
const BYTES_TAG: &str = "text";
/// The tag of opaque elements that are text of four bytes per character.
const TEXT_TAG: &str = "utf-32le";
/// The tag of a void that has the name of padding but is not padding.
const VOID_TAG: &str = "void";
/// The attribute with the calendar of dates.
const CALENDAR: &str = "calendar";
/// The number that means "not a time".
const NOT_A_TIME: Value = Value::Int(i64::MIN);

/// Returns the word for a number with a counterpart, or for the parts of a complex one.
fn number_word(kind: DtypeKind, size: u64) -> Option<Datatype> {
    let (kind, width) = match kind {
        DtypeKind::Int | DtypeKind::UInt | DtypeKind::Float => (kind, size),
        DtypeKind::Complex if size >= 8 => (DtypeKind::Float, size / 2),
        _ => return None,
    };
    let element = ElementType::new(element_kind(kind).eltype(), width).ok()?;
    Datatype::from_word(&element.to_string()).filter(|_| width <= 8)
}

/// The kinds of numbers with a counterpart.
const NUMBERS: [(DtypeKind, ElementKind); 4] = [
    (DtypeKind::Int, ElementKind::Int),
    (DtypeKind::UInt, ElementKind::UInt),
    (DtypeKind::Float, ElementKind::Float),
    (DtypeKind::Complex, ElementKind::Complex),
];

fn element_kind(kind: DtypeKind) -> ElementKind {
    let number = match kind {
        DtypeKind::Bool => DtypeKind::UInt,
        kind if kind.is_time() => DtypeKind::Int,
        kind => kind,
    };
    let row = NUMBERS.iter().find(|row| row.0 == number);
    row.map_or(ElementKind::User, |row| row.1)
}

/// Converts a dtype. With `bfloat16`, voids of two bytes become bfloat16.
pub(super) fn from_dtype(
    descr: &Descr,
    bfloat16: bool,
) -> Result<(ElementType, Datatype, FromDtype), FormatError> {
    if descr.any(|scalar| scalar.kind == DtypeKind::Object) {
        return Err(FormatError::no_counterpart(
            "the array contains Python objects, stored as a pickle, and loading a pickle can run any program",
            "load the file with NumPy, if you trust it, and save an array of numbers or text",
        ));
    }
    let mut mapper = FromDtype::default();
    let (eltype, datatype) = match descr {
        Descr::Scalar(DtypeScalar { kind: DtypeKind::Void, size: 2, .. }) if bfloat16 => {
            (ElementKind::BFloat, Datatype::BFloat16)
        }
        Descr::Scalar(scalar) => {
            let datatype = mapper.scalar(*scalar, "")?;
            mapper.fillvalue = scalar.kind.is_time().then_some(NOT_A_TIME);
            (element_kind(scalar.kind), datatype)
        }
        Descr::Struct(_) if descr.size() == Some(0) => return Err(empty("the dtype", descr)),
        Descr::Struct(fields) => (ElementKind::User, mapper.compound(fields, "")?),
        // NumPy does not write such a file.
        Descr::Subarray { .. } => {
            return Err(FormatError::no_counterpart(
                format!(
                    "the dtype is the subarray `{descr}`, whose dimensions belong in the shape"
                ),
                "load the file with NumPy and save it again",
            ));
        }
    };
    let element = ElementType::new(eltype.eltype(), descr.checked_size())
        .map_err(|_| empty("the dtype", descr))?;
    Ok((element, datatype, mapper))
}

fn empty(what: &str, descr: &Descr) -> FormatError {
    FormatError::no_counterpart(
        format!("{what} is `{descr}`, elements of no bytes"),
        "give it a width of at least 1 with `astype`, or leave it out",
    )
}

/// Returns whether a name is that of padding.
fn names_padding(name: &str) -> bool {
    name.strip_prefix("_pad").is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The information in a dtype that the datatype cannot store.
#[derive(Default)]
pub(super) struct FromDtype {
    pub(super) attributes: Vec<Attribute>,
    /// The element that means "not a time".
    pub(super) fillvalue: Option<Value>,
    pub(super) losses: Vec<String>,
}

impl FromDtype {
    fn scalar(&mut self, scalar: DtypeScalar, path: &str) -> Result<Datatype, FormatError> {
        let DtypeScalar { kind, size, .. } = scalar;
        let descr = Descr::Scalar(scalar);
        let subject = match path {
            "" => "the dtype".to_owned(),
            path => format!("the dtype of the field {}", quoted(path)),
        };
        if size == 0 {
            return Err(empty(&subject, &descr));
        }
        if let Some(word) = number_word(kind, size) {
            let part = |name: &str| (name.to_owned(), word.clone());
            let is_complex = kind == DtypeKind::Complex;
            return Ok(if is_complex {
                Datatype::Compound(vec![part("r"), part("i")])
            } else {
                word
            });
        }
        let opaque = |tag: Option<&str>| Datatype::Opaque { size, tag: tag.map(str::to_owned) };
        let (why, instead) = match kind {
            DtypeKind::Bool => return Ok(truth()),
            DtypeKind::Bytes => return Ok(opaque(Some(BYTES_TAG))),
            DtypeKind::Text => return Ok(opaque(Some(TEXT_TAG))),
            DtypeKind::Void => return Ok(opaque(None)),
            DtypeKind::Date(unit) | DtypeKind::Duration(unit) => {
                let is_date = matches!(kind, DtypeKind::Date(_));
                let words = if is_date { unit.words_since_epoch() } else { unit.words() };
                self.attributes.extend(Attribute::short(units_name(path), words));
                if is_date && path.is_empty() {
                    self.attributes.extend(Attribute::short(CALENDAR, NUMPY_CALENDAR));
                }
                return Ok(Datatype::Int64);
            }
            DtypeKind::Int | DtypeKind::UInt => {
                ("integers without a NumPy type", "make them 8 bytes or fewer")
            }
            DtypeKind::Float if size == 1 => (
                "an 8-bit float of unknown format",
                "save it as `float16`, or its bytes with `view('u1')`",
            ),
            DtypeKind::Float => (
                "a long double, whose format depends on the machine",
                "save it with `astype('f8')`",
            ),
            DtypeKind::Complex => (
                "a pair of long doubles, whose format depends on the machine",
                "save it with `astype('c16')`",
            ),
            DtypeKind::Object => ("a Python object", "save numbers or text"),
        };
        Err(FormatError::no_counterpart(format!("{subject} is `{descr}`, {why}"), instead))
    }

    fn nested(&mut self, descr: &Descr, path: &str) -> Result<Datatype, FormatError> {
        match descr {
            Descr::Scalar(scalar) => self.scalar(*scalar, path),
            Descr::Struct(fields) => self.compound(fields, path),
            Descr::Subarray { shape, .. } if shape.contains(&0) => {
                Err(empty(&format!("the field {}", quoted(path)), descr))
            }
            Descr::Subarray { base, shape } => {
                let base = Box::new(self.nested(base, path)?);
                Ok(Datatype::Array { base, shape: shape.clone() })
            }
        }
    }

    fn compound(&mut self, fields: &[Field], path: &str) -> Result<Datatype, FormatError> {
        if fields.is_empty() {
            let subject = if path.is_empty() { "the dtype" } else { path };
            return Err(empty(subject, &Descr::Struct(Vec::new())));
        }
        let named = fields.iter().filter(|field| !field.is_padding());
        let mut taken: HashSet<String> = named.map(|field| field.name.clone()).collect();
        let mut paddings = 0;
        let mut members = Vec::with_capacity(fields.len());
        for (index, field) in fields.iter().enumerate() {
            if field.is_padding() {
                let size = field.descr.checked_size();
                if size > 0 {
                    let name = free_name(&mut taken, "_pad", &mut paddings);
                    members.push((name, Datatype::Opaque { size, tag: None }));
                }
                continue;
            }
            let mut name = field.name.clone();
            if name.is_empty() {
                name = free_name(&mut taken, "f", &mut index.clone());
                let own = quoted(&member_path(path, &name));
                self.losses.push(format!("a field without a name is called {own}"));
            }
            let own = member_path(path, &name);
            if let Some(title) = &field.title {
                let (title, own) = (quoted(title), quoted(&own));
                self.losses.push(format!("the title {title} of the field {own} is dropped"));
            }
            let mut datatype = self.nested(&field.descr, &own)?;
            if let Datatype::Opaque { tag: tag @ None, .. } = &mut datatype
                && names_padding(&name)
            {
                *tag = Some(VOID_TAG.to_owned());
            }
            members.push((name, datatype));
        }
        if members.is_empty() {
            return Err(empty("the dtype", &Descr::Struct(fields.to_vec())));
        }
        Ok(Datatype::Compound(members))
    }
}

/// Takes the first free name made of `word` and a number from `from` on.
fn free_name(taken: &mut HashSet<String>, word: &str, from: &mut usize) -> String {
    loop {
        let name = format!("{word}{from}");
        *from += 1;
        if taken.insert(name.clone()) {
            return name;
        }
    }
}

/// Returns the dtype of an array, with messages about metadata that it cannot store. With `as_void`, elements without a
/// dtype become bytes.
pub(super) fn to_dtype(
    variable: &Variable,
    as_void: bool,
) -> Result<(Descr, Vec<String>), FormatError> {
    let Variable { header, description, .. } = variable;
    if header.is_encoded() || header.element() == ElementType::BITS {
        return Err(FormatError::no_counterpart(
            "the data is encoded, according to the flags of its header",
            "decode it first",
        ));
    }
    let mut mapper = ToDtype { description, as_void, used: Vec::new(), losses: Vec::new() };
    let mut descr = mapper.element(header.element())?;
    if descr.size().is_none_or(|size| size > MAX_ITEM) {
        let size = header.element().elbyte();
        return Err(FormatError::no_counterpart(
            format!("an element has {size} bytes, but the limit of NumPy is {MAX_ITEM}"),
            "make it an array of smaller elements with one more dimension",
        ));
    }
    if header.flags().contains(Flags::BIG_ENDIAN) {
        descr = big_endian(descr)?;
    }
    let ToDtype { used, mut losses, .. } = mapper;
    let names = description.attributes.iter().map(|attribute| &attribute.name);
    let lost: Vec<_> = names.filter(|name| !used.contains(name)).map(|name| quoted(name)).collect();
    match &lost[..] {
        [] => {}
        [only] => losses.push(format!("the attribute {only} is dropped")),
        all => losses.push(format!("the attributes {} are dropped", all.join(", "))),
    }
    let is_time = matches!(&descr, Descr::Scalar(scalar) if scalar.kind.is_time());
    if fillvalue(description).is_some() && !is_time {
        losses.push("`storage.fillvalue` is dropped".to_owned());
    }
    Ok((descr, losses))
}

/// Returns the dtype for bytes in the other order.
fn big_endian(descr: Descr) -> Result<Descr, FormatError> {
    match descr {
        Descr::Scalar(DtypeScalar { size: 1, .. } | DtypeScalar { kind: DtypeKind::Bytes, .. }) => {
            Ok(descr)
        }
        // A bfloat16 is a void with a byte order; other voids have none, and text is not swapped.
        Descr::Scalar(scalar)
            if scalar.kind != DtypeKind::Text && scalar.order != ByteOrder::None =>
        {
            Ok(Descr::Scalar(DtypeScalar { order: ByteOrder::Big, ..scalar }))
        }
        _ => Err(FormatError::no_counterpart(
            format!(
                "elements of the dtype `{descr}` are flagged as big-endian, but NumPy has no byte order for them"
            ),
            "make the data little-endian first",
        )),
    }
}

/// Returns the dtype of a number, if NumPy has it.
fn number(element: ElementType) -> Option<Descr> {
    let size = element.elbyte();
    if element == ElementType::BFLOAT16 {
        // In the notation of `ml_dtypes`.
        return Some(Descr::Scalar(DtypeScalar {
            kind: DtypeKind::Void,
            order: ByteOrder::Little,
            size,
        }));
    }
    let (kind, _) = *NUMBERS.iter().find(|row| row.1 == element.kind())?;
    number_word(kind, size).map(|_| Descr::scalar(kind, size))
}

/// Returns the dtype of a compound that is a complex number.
fn complex(members: &[(String, Datatype)]) -> Option<Descr> {
    let [(real, first), (imaginary, second)] = members else { return None };
    if (real.as_str(), imaginary.as_str()) != ("r", "i") || first != second {
        return None;
    }
    let is_part = matches!(first, Datatype::Float32 | Datatype::Float64);
    is_part.then(|| Descr::scalar(DtypeKind::Complex, 2 * first.packed_size().unwrap_or_default()))
}

struct ToDtype<'a> {
    description: &'a Ndarray,
    as_void: bool,
    /// Attributes that the dtype contains.
    used: Vec<String>,
    losses: Vec<String>,
}

impl ToDtype<'_> {
    fn element(&mut self, element: ElementType) -> Result<Descr, FormatError> {
        let datatype = &self.description.datatype;
        let size = element.elbyte();
        let contradicts = || {
            FormatError::no_counterpart(
                format!("the type is `{datatype}` in the description, but {element} in the header"),
                "make both agree",
            )
        };
        let has_size = datatype.packed_size() == Some(size);
        let is_user = element.kind() == ElementKind::User;
        let fits = match datatype {
            truth if is_truth(truth, None) && size == 1 => {
                return Ok(Descr::scalar(DtypeKind::Bool, 1));
            }
            Datatype::String => {
                if element != ElementType::UINT8 || !self.description.shape.is_empty() {
                    return Err(contradicts());
                }
                return Ok(Descr::scalar(DtypeKind::Bytes, 1));
            }
            Datatype::Compound(members) if is_user && has_size => {
                return self.compound(members, "");
            }
            Datatype::Opaque { tag, .. } if is_user && has_size => {
                return Ok(opaque(size, tag.as_deref()));
            }
            Datatype::Array { .. } if is_user && has_size => {
                let reason = format!("elements are arrays of `{datatype}`");
                return self.nothing(size, &reason, "add their dimensions to the shape");
            }
            _ if is_user => false,
            Datatype::Opaque { .. } => has_size,
            Datatype::Compound(_) => element.kind() == ElementKind::Complex && has_size,
            Datatype::Enum { members, .. } => {
                self.lose_names(members, "the enum");
                let base = datatype.resolved_base().map(Integer::datatype);
                base.and_then(|base| element_of_word(&base)) == Some(element)
            }
            word => element_of_word(word) == Some(element),
        };
        if !fits {
            return Err(contradicts());
        }
        let time = if element == ElementType::INT64 { self.time("") } else { None };
        match time.or_else(|| number(element)) {
            Some(descr) => Ok(descr),
            None => self.nothing(size, &format!("elements are {element}"), "make them narrower"),
        }
    }

    fn lose_names(&mut self, members: &[(String, i128)], of: &str) {
        let names: Vec<_> = members.iter().map(|(name, _)| quoted(name)).collect();
        self.losses.push(format!("the names {} of {of} are dropped", names.join(", ")));
    }

    /// Returns the dtype of elements without a counterpart: bytes, or an error.
    fn nothing(&self, size: u64, reason: &str, instead: &str) -> Result<Descr, FormatError> {
        if self.as_void {
            return Ok(Descr::scalar(DtypeKind::Void, size));
        }
        Err(FormatError::no_counterpart(
            format!("{reason}, for which NumPy has no dtype"),
            Message::from(format!("{instead}, or write the bytes as `|V{size}`, by "))
                .call("convert", ("reinterpret", "void")),
        ))
    }

    /// Returns the dtype for the attribute with the unit of an `int64`.
    ///
    /// The fill value distinguishes a duration from another number with a unit.
    fn time(&mut self, path: &str) -> Option<Descr> {
        let name = units_name(path);
        let attribute = self.description.attributes.iter().find(|one| one.name == name)?;
        let (unit, is_date) = TimeUnit::from_words(attribute.value.as_str()?)?;
        let fillvalue = fillvalue(self.description);
        let is_filled = fillvalue == Some(&NOT_A_TIME);
        let is_time = !path.is_empty() || is_filled || (is_date && fillvalue.is_none());
        let calendar = self.description.attribute(CALENDAR).and_then(Value::as_str);
        let is_other = calendar.is_some_and(|named| {
            let named = Calendar::of_name(named);
            !matches!(named, Some(Calendar::Standard | Calendar::ProlepticGregorian))
        });
        if !is_time || !attribute.shape.is_empty() || is_date && is_other {
            return None;
        }
        self.used.push(name);
        if path.is_empty() && calendar == Some(NUMPY_CALENDAR) {
            self.used.push(CALENDAR.to_owned());
        }
        let kind = if is_date { DtypeKind::Date(unit) } else { DtypeKind::Duration(unit) };
        Some(Descr::scalar(kind, 8))
    }

    fn compound(
        &mut self,
        members: &[(String, Datatype)],
        path: &str,
    ) -> Result<Descr, FormatError> {
        let mut fields = Vec::with_capacity(members.len());
        for (name, datatype) in members {
            let is_padding =
                names_padding(name) && matches!(datatype, Datatype::Opaque { tag: None, .. });
            let descr = self.member(datatype, &member_path(path, name))?;
            let name = if is_padding { String::new() } else { name.clone() };
            fields.push(Field { title: None, name, descr });
        }
        Ok(Descr::Struct(fields))
    }

    fn member(&mut self, datatype: &Datatype, path: &str) -> Result<Descr, FormatError> {
        let Some(size) = datatype.packed_size().filter(|size| *size > 0) else {
            return Err(FormatError::no_counterpart(
                format!("the member {} is `{datatype}`, which has no fixed size", quoted(path)),
                "leave it out, or store it as a separate array",
            ));
        };
        match datatype {
            truth if is_truth(truth, None) => Ok(Descr::scalar(DtypeKind::Bool, 1)),
            Datatype::Opaque { size, tag } => Ok(opaque(*size, tag.as_deref())),
            Datatype::Compound(members) => match complex(members) {
                Some(descr) => Ok(descr),
                None => self.compound(members, path),
            },
            Datatype::Array { base, shape } => {
                let base = self.member(base, path)?;
                Ok(match shape.as_slice() {
                    [] => base,
                    _ => Descr::Subarray { base: Box::new(base), shape: shape.clone() },
                })
            }
            Datatype::Enum { members, .. } => {
                self.lose_names(members, &quoted(path));
                let base = datatype.resolved_base().expect("a type with a size has a base");
                self.member(&base.datatype(), path)
            }
            _ => {
                let time = if *datatype == Datatype::Int64 { self.time(path) } else { None };
                match time.or_else(|| element_of_word(datatype).and_then(number)) {
                    Some(descr) => Ok(descr),
                    None => {
                        let reason = format!("the member {} is `{datatype}`", quoted(path));
                        self.nothing(size, &reason, "make it narrower")
                    }
                }
            }
        }
    }
}

fn opaque(size: u64, tag: Option<&str>) -> Descr {
    match tag {
        Some(BYTES_TAG) => Descr::scalar(DtypeKind::Bytes, size),
        Some(TEXT_TAG) if size.is_multiple_of(4) => Descr::scalar(DtypeKind::Text, size),
        _ => Descr::scalar(DtypeKind::Void, size),
    }
}
