//! Which dtype elements have that a header and a description are of.

use super::descr::{ByteOrder, Descr, Field, Kind, MAX_ITEM, Scalar};
use super::from_npy::{BYTES_TAG, NOT_A_TIME, TEXT_TAG, join, padding_number, units_name};
use super::literal::quoted;
use super::time::TimeUnit;
use crate::interchange::{Error, Variable, element_of_word};
use crate::ndl::{Datatype, Integer, Ndarray, Value};
use crate::ra::{ElementKind, ElementType, Flags};

/// What elements are for numpy.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mapped {
    pub(super) descr: Descr,
    pub(super) losses: Vec<String>,
}

/// The dtype of an array. With `as_void`, what numpy has no dtype for is its bytes.
pub(super) fn mapped(variable: &Variable, as_void: bool) -> Result<Mapped, Error> {
    let Variable { header, description, .. } = variable;
    if header.is_encoded() || header.element() == ElementType::BITS {
        return Err(Error::no_counterpart(
            "the data is encoded, as the flags of its header say",
            "decode it first",
        ));
    }
    let mut mapper = Mapper { description, as_void, used: Vec::new(), losses: Vec::new() };
    let mut descr = mapper.element(header.element())?;
    let too_large = |size: u64| size > MAX_ITEM;
    if descr.size().is_none_or(too_large) {
        return Err(Error::no_counterpart(
            format!(
                "an element has {} bytes, numpy counts to {MAX_ITEM}",
                header.element().elbyte()
            ),
            "make it an array of smaller elements with one more dimension",
        ));
    }
    if header.flags().contains(Flags::BIG_ENDIAN) {
        descr = big_endian(descr)?;
    }
    let used = mapper.used;
    let mut losses = mapper.losses;
    let attributes = description.attributes.iter().map(|attribute| attribute.name.as_str());
    losses.extend(
        attributes
            .filter(|name| !used.iter().any(|used| used == name))
            .map(|name| format!("the attribute {} is not kept", quoted(name))),
    );
    let fillvalue = description.storage.as_ref().and_then(|storage| storage.fillvalue.as_ref());
    if fillvalue.is_some() && !is_time(&descr) {
        losses.push("`storage.fillvalue` is not kept".to_owned());
    }
    Ok(Mapped { descr, losses })
}

fn is_time(descr: &Descr) -> bool {
    matches!(descr, Descr::Scalar(Scalar { kind: Kind::Date(_) | Kind::Duration(_), .. }))
}

/// The same dtype for bytes in the other order.
fn big_endian(descr: Descr) -> Result<Descr, Error> {
    match descr {
        Descr::Scalar(scalar) if scalar.swap_width() == 1 && scalar.kind != Kind::Void => {
            Ok(Descr::Scalar(scalar))
        }
        Descr::Scalar(scalar) if !matches!(scalar.kind, Kind::Void | Kind::Text) => {
            Ok(Descr::Scalar(Scalar { order: ByteOrder::Big, ..scalar }))
        }
        // A brain float: other voids have no order.
        Descr::Scalar(scalar @ Scalar { order: ByteOrder::Little, kind: Kind::Void, .. }) => {
            Ok(Descr::Scalar(Scalar { order: ByteOrder::Big, ..scalar }))
        }
        Descr::Scalar(Scalar { size: 1, .. }) => Ok(descr),
        _ => Err(Error::no_counterpart(
            format!(
                "elements of the dtype `{descr}` are flagged as big-endian, and numpy swaps none"
            ),
            "make the data little-endian first",
        )),
    }
}

/// The dtype of a number, if numpy has it.
fn number(element: ElementType) -> Option<Descr> {
    let kind = match element.kind() {
        ElementKind::Int => Kind::Int,
        ElementKind::UInt => Kind::UInt,
        ElementKind::Float => Kind::Float,
        ElementKind::Complex => Kind::Complex,
        ElementKind::BFloat | ElementKind::User => return brain(element),
    };
    let size = element.elbyte();
    let exists = match kind {
        Kind::Int | Kind::UInt => matches!(size, 1 | 2 | 4 | 8),
        Kind::Float => matches!(size, 2 | 4 | 8),
        _ => matches!(size, 8 | 16),
    };
    exists.then(|| Descr::scalar(kind, size))
}

/// As `ml_dtypes` has them written.
fn brain(element: ElementType) -> Option<Descr> {
    let little = Scalar { kind: Kind::Void, order: ByteOrder::Little, size: 2 };
    (element == ElementType::BFLOAT16).then_some(Descr::Scalar(little))
}

/// Whether a datatype is that of truth values, by whatever letters.
fn is_truth(datatype: &Datatype) -> bool {
    let Datatype::Enum { members, .. } = datatype else { return false };
    let is = |name: &str, number: i128| {
        members.iter().any(|(own, value)| own.eq_ignore_ascii_case(name) && *value == number)
    };
    let is_byte = matches!(datatype.resolved_base(), Some(Integer::UInt8 | Integer::Int8));
    members.len() == 2 && is_byte && is("false", 0) && is("true", 1)
}

/// The datatype of the parts, when a compound is a complex number.
fn complex(members: &[(String, Datatype)]) -> Option<Descr> {
    let [(real, first), (imaginary, second)] = members else { return None };
    if (real.as_str(), imaginary.as_str()) != ("r", "i") || first != second {
        return None;
    }
    match first {
        Datatype::Float32 => Some(Descr::scalar(Kind::Complex, 8)),
        Datatype::Float64 => Some(Descr::scalar(Kind::Complex, 16)),
        _ => None,
    }
}

struct Mapper<'a> {
    description: &'a Ndarray,
    as_void: bool,
    /// Attributes that the dtype says.
    used: Vec<String>,
    losses: Vec<String>,
}

impl Mapper<'_> {
    fn element(&mut self, element: ElementType) -> Result<Descr, Error> {
        let datatype = &self.description.datatype;
        let size = element.elbyte();
        let contradicts = || {
            Error::no_counterpart(
                format!("the description says `{datatype}`, the header {element}"),
                "make both say the same",
            )
        };
        if is_truth(datatype) && size == 1 {
            return Ok(Descr::scalar(Kind::Bool, 1));
        }
        if *datatype == Datatype::String {
            return match (element, self.description.shape.as_slice()) {
                (ElementType::UINT8, []) => Ok(Descr::scalar(Kind::Bytes, 1)),
                _ => Err(contradicts()),
            };
        }
        if element.kind() == ElementKind::User {
            let fits = datatype.packed_size() == Some(size);
            return match datatype {
                Datatype::Compound(members) if fits => self.compound(members, ""),
                Datatype::Opaque { tag, .. } if fits => Ok(opaque(size, tag.as_deref())),
                Datatype::Array { .. } if fits => self.nothing(
                    size,
                    &format!("elements are arrays themselves, `{datatype}`"),
                    "add their extents to the shape",
                ),
                _ => Err(contradicts()),
            };
        }
        let fits = match datatype {
            Datatype::Opaque { size: own, .. } => *own == size,
            Datatype::Compound(_) => {
                element.kind() == ElementKind::Complex && datatype.packed_size() == Some(size)
            }
            Datatype::Enum { members, .. } => {
                let base = datatype.resolved_base().map(Integer::datatype);
                let kind = base.and_then(|base| element_of_word(&base));
                let names: Vec<_> = members.iter().map(|(name, _)| quoted(name)).collect();
                self.losses
                    .push(format!("the names {} of the enum are not kept", names.join(", ")));
                kind == Some(element)
            }
            word => element_of_word(word) == Some(element),
        };
        if !fits {
            return Err(contradicts());
        }
        if element == ElementType::INT64
            && let Some(time) = self.time("")
        {
            return Ok(time);
        }
        match number(element) {
            Some(descr) => Ok(descr),
            None => self.nothing(size, &format!("elements are {element}"), "make them narrower"),
        }
    }

    /// What has no dtype: its bytes, or a refusal.
    fn nothing(&self, size: u64, reason: &str, instead: &str) -> Result<Descr, Error> {
        if self.as_void {
            return Ok(Descr::scalar(Kind::Void, size));
        }
        let reason = format!("{reason}, for which numpy has no dtype");
        Err(Error::no_counterpart(
            reason,
            format!("{instead}, or ask for the bytes as `|V{size}`, by `convert --as void`"),
        ))
    }

    /// The dtype that the attribute with the unit of an `int64` says.
    ///
    /// Durations are told from plain numbers with a unit by the fillvalue that reading one gives.
    fn time(&mut self, path: &str) -> Option<Descr> {
        let name = units_name(path);
        let attribute = self.description.attributes.iter().find(|one| one.name == name)?;
        let (unit, is_date) = TimeUnit::from_words(attribute.value.as_str()?)?;
        let fillvalue =
            self.description.storage.as_ref().and_then(|storage| storage.fillvalue.as_ref());
        let is_filled = *fillvalue.unwrap_or(&Value::Null) == Value::Int(NOT_A_TIME);
        let is_time = match path {
            "" if is_date => is_filled || fillvalue.is_none(),
            "" => is_filled,
            _ => true,
        };
        if !is_time || !attribute.shape.is_empty() {
            return None;
        }
        self.used.push(name);
        let kind = if is_date { Kind::Date(unit) } else { Kind::Duration(unit) };
        Some(Descr::scalar(kind, 8))
    }

    fn compound(&mut self, members: &[(String, Datatype)], path: &str) -> Result<Descr, Error> {
        let mut fields = Vec::with_capacity(members.len());
        for (name, datatype) in members {
            let is_padding = padding_number(name).is_some()
                && matches!(datatype, Datatype::Opaque { tag: None, .. });
            let descr = self.member(datatype, &join(path, name))?;
            let name = if is_padding { String::new() } else { name.clone() };
            fields.push(Field { title: None, name, descr });
        }
        Ok(Descr::Struct(fields))
    }

    fn member(&mut self, datatype: &Datatype, path: &str) -> Result<Descr, Error> {
        let Some(size) = datatype.packed_size().filter(|size| *size > 0) else {
            return Err(Error::no_counterpart(
                format!("the member {} is `{datatype}`, which has no fixed width", quoted(path)),
                "leave it out, or store it as an array of its own",
            ));
        };
        if is_truth(datatype) {
            return Ok(Descr::scalar(Kind::Bool, 1));
        }
        match datatype {
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
                let names: Vec<_> = members.iter().map(|(name, _)| quoted(name)).collect();
                let names = names.join(", ");
                self.losses.push(format!("the names {names} of {} are not kept", quoted(path)));
                match datatype.resolved_base() {
                    Some(base) => self.member(&base.datatype(), path),
                    None => {
                        self.nothing(size, &format!("the member {}", quoted(path)), "name a base")
                    }
                }
            }
            Datatype::Int64 => Ok(self.time(path).unwrap_or_else(|| Descr::scalar(Kind::Int, 8))),
            _ => match element_of_word(datatype).and_then(number) {
                Some(descr) => Ok(descr),
                None => {
                    let reason = format!("the member {} is `{datatype}`", quoted(path));
                    self.nothing(size, &reason, "make it narrower")
                }
            },
        }
    }
}

fn opaque(size: u64, tag: Option<&str>) -> Descr {
    match tag {
        Some(BYTES_TAG) => Descr::scalar(Kind::Bytes, size),
        Some(TEXT_TAG) if size.is_multiple_of(4) => Descr::scalar(Kind::Text, size),
        _ => Descr::scalar(Kind::Void, size),
    }
}
