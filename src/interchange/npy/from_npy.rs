//! What a dtype is as element type, datatype and attributes.

use std::collections::HashSet;

use super::descr::{Descr, Field, Kind, Scalar};
use super::literal::quoted;
use crate::interchange::Error;
use crate::ndl::{Attribute, Datatype, Integer, Value};
use crate::ra::ElementType;

/// The tag of opaque elements that are text of single bytes.
pub(super) const BYTES_TAG: &str = "text";
/// The tag of opaque elements that are text of four bytes each.
pub(super) const TEXT_TAG: &str = "utf-32le";
/// The tag of a void that has the name of padding but is none.
pub(super) const VOID_TAG: &str = "void";
/// The attribute with the unit of a time.
pub(super) const UNITS: &str = "units";
/// The number that stands for "not a time".
pub(super) const NOT_A_TIME: i64 = i64::MIN;

/// What a dtype is here.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mapped {
    pub(super) element: ElementType,
    pub(super) datatype: Datatype,
    pub(super) attributes: Vec<Attribute>,
    /// The element that stands for none.
    pub(super) fillvalue: Option<Value>,
    pub(super) losses: Vec<String>,
}

/// What elements of a dtype are here. With `bfloat16`, voids of two bytes are brain floats.
pub(super) fn mapped(descr: &Descr, bfloat16: bool) -> Result<Mapped, Error> {
    if descr.has_object() {
        return Err(Error::no_counterpart(
            "the array holds Python objects, as a pickle: reading one can run any program",
            "load the file with numpy, if you trust it, and save an array of numbers or text",
        ));
    }
    let size = descr.size().unwrap_or(0);
    let width = |code: u64| ElementType::new(code, size).map_err(|_| empty("the dtype", descr));
    let mut mapper = Mapper::default();
    let (element, datatype) = match descr {
        Descr::Scalar(Scalar { kind: Kind::Void, size: 2, .. }) if bfloat16 => {
            (ElementType::BFLOAT16, Datatype::BFloat16)
        }
        Descr::Scalar(scalar) => {
            let datatype = mapper.scalar(*scalar, "")?;
            let element = match scalar.kind {
                Kind::Int | Kind::Date(_) | Kind::Duration(_) => width(1)?,
                Kind::UInt | Kind::Bool => width(2)?,
                Kind::Float => width(3)?,
                Kind::Complex => width(4)?,
                Kind::Bytes | Kind::Text | Kind::Void | Kind::Object => width(0)?,
            };
            (element, datatype)
        }
        Descr::Struct(fields) => (width(0)?, mapper.compound(fields, "")?),
        // Not in a file that numpy wrote.
        Descr::Subarray { .. } => {
            return Err(Error::no_counterpart(
                format!("the dtype is the subarray `{descr}`, which belongs into the shape"),
                "load the file with numpy and save it again",
            ));
        }
    };
    let is_time =
        matches!(descr, Descr::Scalar(Scalar { kind: Kind::Date(_) | Kind::Duration(_), .. }));
    Ok(Mapped {
        element,
        datatype,
        attributes: mapper.attributes,
        fillvalue: is_time.then_some(Value::Int(NOT_A_TIME)),
        losses: mapper.losses,
    })
}

fn empty(what: &str, descr: &Descr) -> Error {
    Error::no_counterpart(
        format!("{what} is `{descr}`, elements of no bytes"),
        "give it a width of at least 1 with `astype`, or leave it out",
    )
}

/// The datatype of truth values.
pub(super) fn truth() -> Datatype {
    let members = vec![("false".to_owned(), 0), ("true".to_owned(), 1)];
    Datatype::Enum { base: Some(Integer::UInt8), members }
}

/// The attribute that says the unit of the member at `path`, of the whole element when that is empty.
pub(super) fn units_name(path: &str) -> String {
    if path.is_empty() { UNITS.to_owned() } else { format!("{path}.{UNITS}") }
}

/// The path of a member. Dots in a name have a backslash, so that two members never have one path.
pub(super) fn join(path: &str, name: &str) -> String {
    let name = name.replace('\\', "\\\\").replace('.', "\\.");
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

/// The number of padding that a name is, if it is one.
pub(super) fn padding_number(name: &str) -> Option<&str> {
    let digits = name.strip_prefix("_pad")?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

#[derive(Default)]
struct Mapper {
    attributes: Vec<Attribute>,
    losses: Vec<String>,
}

impl Mapper {
    fn scalar(&mut self, scalar: Scalar, path: &str) -> Result<Datatype, Error> {
        let descr = Descr::Scalar(scalar);
        let what = match path {
            "" => "the dtype".to_owned(),
            path => format!("the dtype of the field {}", quoted(path)),
        };
        let refuse = |why: &str, instead: &str| {
            Err(Error::no_counterpart(format!("{what} is `{descr}`, {why}"), instead))
        };
        let pair = |part: Datatype| {
            Datatype::Compound(vec![("r".to_owned(), part.clone()), ("i".to_owned(), part)])
        };
        let opaque =
            |tag: Option<&str>| Datatype::Opaque { size: scalar.size, tag: tag.map(str::to_owned) };
        Ok(match (scalar.kind, scalar.size) {
            (_, 0) => return Err(empty(&what, &descr)),
            (Kind::Bool, _) => truth(),
            (Kind::Int, 1) => Datatype::Int8,
            (Kind::Int, 2) => Datatype::Int16,
            (Kind::Int, 4) => Datatype::Int32,
            (Kind::Int, 8) => Datatype::Int64,
            (Kind::UInt, 1) => Datatype::UInt8,
            (Kind::UInt, 2) => Datatype::UInt16,
            (Kind::UInt, 4) => Datatype::UInt32,
            (Kind::UInt, 8) => Datatype::UInt64,
            (Kind::Int | Kind::UInt, _) => {
                return refuse("integers that numpy does not have", "make them 8 bytes or fewer");
            }
            (Kind::Float, 2) => Datatype::Float16,
            (Kind::Float, 4) => Datatype::Float32,
            (Kind::Float, 8) => Datatype::Float64,
            (Kind::Float, 1) => {
                return refuse(
                    "an 8-bit float of which the file does not say which kind it is",
                    "save it as `float16`, or its bytes with `view('u1')`",
                );
            }
            (Kind::Float, _) => {
                return refuse(
                    "a long double, which is another number on each kind of machine",
                    "save it with `astype('f8')`",
                );
            }
            (Kind::Complex, 8) => pair(Datatype::Float32),
            (Kind::Complex, 16) => pair(Datatype::Float64),
            (Kind::Complex, _) => {
                return refuse(
                    "a pair of long doubles, which are other numbers on each kind of machine",
                    "save it with `astype('c16')`",
                );
            }
            (Kind::Bytes, _) => opaque(Some(BYTES_TAG)),
            (Kind::Text, _) => opaque(Some(TEXT_TAG)),
            (Kind::Void, _) => opaque(None),
            (Kind::Date(unit), _) => self.time(unit.words_since_epoch(), path),
            (Kind::Duration(unit), _) => self.time(unit.words(), path),
            (Kind::Object, _) => return refuse("a Python object", "save numbers or text"),
        })
    }

    fn time(&mut self, units: String, path: &str) -> Datatype {
        self.attributes.extend(Attribute::short(units_name(path), units));
        Datatype::Int64
    }

    fn nested(&mut self, descr: &Descr, path: &str) -> Result<Datatype, Error> {
        match descr {
            Descr::Scalar(scalar) => self.scalar(*scalar, path),
            Descr::Struct(fields) => self.compound(fields, path),
            Descr::Subarray { base, shape } => {
                if shape.contains(&0) {
                    return Err(empty(&format!("the field {}", quoted(path)), descr));
                }
                let base = Box::new(self.nested(base, path)?);
                Ok(Datatype::Array { base, shape: shape.clone() })
            }
        }
    }

    fn compound(&mut self, fields: &[Field], path: &str) -> Result<Datatype, Error> {
        if fields.is_empty() {
            let what = if path.is_empty() { "the dtype" } else { path };
            return Err(empty(what, &Descr::Struct(Vec::new())));
        }
        let mut taken: HashSet<String> = fields
            .iter()
            .filter(|field| !field.is_padding())
            .map(|field| field.name.clone())
            .collect();
        let mut paddings = 0_usize;
        let mut members = Vec::with_capacity(fields.len());
        for (index, field) in fields.iter().enumerate() {
            if field.is_padding() {
                let size = field.descr.size().unwrap_or(0);
                if size == 0 {
                    continue;
                }
                let name = free_name(&mut taken, "_pad", &mut paddings);
                members.push((name, Datatype::Opaque { size, tag: None }));
                continue;
            }
            let name = if field.name.is_empty() {
                let name = free_name(&mut taken, "f", &mut index.clone());
                self.losses.push(format!(
                    "a field without a name is now called {}",
                    quoted(&join(path, &name))
                ));
                name
            } else {
                field.name.clone()
            };
            let own = join(path, &name);
            if let Some(title) = &field.title {
                self.losses.push(format!(
                    "the title {} of the field {} is not kept",
                    quoted(title),
                    quoted(&own)
                ));
            }
            let mut datatype = self.nested(&field.descr, &own)?;
            if let Datatype::Opaque { tag: tag @ None, .. } = &mut datatype
                && padding_number(&name).is_some()
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

/// The first name of `word` and a number from `from` on that is free, which it then is not.
fn free_name(taken: &mut HashSet<String>, word: &str, from: &mut usize) -> String {
    loop {
        let name = format!("{word}{from}");
        *from = from.saturating_add(1);
        if taken.insert(name.clone()) {
            return name;
        }
    }
}
