//! One array as Zarr: its metadata, its attributes and its chunks.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use serde_json::{Map, Number, Value as Json, json};

use super::chunks::Chunks;
use super::dimensions::DimensionNames;
use crate::archive::Member;
use crate::inspect::outline::OutlineArray;
use crate::interchange::FormatError;
use crate::interchange::npy::{ByteOrder, Descr, DtypeKind, DtypeScalar, Field, dtype_of};
use crate::ndl::{self, Attribute, Datatype, Ndarray, Order, Value};
use crate::pack;
use crate::ra::{DecodeError, Encoding};
use crate::read::values::float_of;

/// The attribute with the names of the dimensions.
const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The attribute with the fill value. In Zarr 2, the metadata of an array has it.
const FILL_VALUE: &str = "_FillValue";

/// Most dimensions of an array in NumPy.
const MAX_DIMENSIONS: usize = 64;

/// An array of a Zarr store.
#[derive(Debug)]
pub(super) struct ZarrArray<'a> {
    /// The path in the store, such as `run1/temperature`.
    pub(super) path: String,
    pub(super) metadata: Metadata,
    pub(super) attributes: Map<String, Json>,
    pub(super) chunks: Chunks,
    /// Offset of the first element in its file.
    pub(super) start: u64,
    /// The member with the elements.
    pub(super) member: &'a Member,
    /// Attributes that are not in the store, with the reason.
    pub(super) notes: Vec<String>,
}

/// The key `.zarray`.
#[derive(Debug, Serialize)]
pub(super) struct Metadata {
    zarr_format: u8,
    shape: Vec<u64>,
    chunks: Vec<u64>,
    dtype: Json,
    fill_value: Json,
    /// Always C: some readers ignore this key. Shape and dimensions are reversed instead.
    order: &'static str,
    compressor: Option<()>,
    filters: Option<()>,
    dimension_separator: &'static str,
}

/// The reason why an array is not in the store.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Zarr or its readers cannot express the array.
    Inexpressible(String),
    /// The file cannot be read.
    Damaged(DecodeError),
}

impl Refusal {
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self::Inexpressible(reason.into())
    }
}

impl<'a> ZarrArray<'a> {
    /// Returns the array with the elements of `member`. `file_len` is the length of the file that contains the member.
    pub(super) fn new(
        group: &str,
        array: &OutlineArray<'_>,
        (member, file_len): (&'a Member, u64),
        names: &mut DimensionNames,
    ) -> Result<Self, Refusal> {
        let facts = array.facts.ok_or_else(|| Refusal::because("it has no readable header"))?;
        let damaged = |error: &DecodeError| Refusal::Damaged(error.clone());
        let header = facts.header.as_ref().map_err(|error| damaged(error))?;
        if header.is_encoded() {
            return Err(Refusal::because(
                "its elements are encoded; `ra-pack convert` decodes them into another file",
            ));
        }
        facts.data.as_ref().map_err(|error| damaged(error))?;
        if member.method.is_compressed() {
            let reason = format!("it is compressed with {} in the archive", member.method);
            return Err(Refusal::because(reason));
        }
        // A directory has no offsets: each member is a file.
        let start = member.data_offset().unwrap_or(0) + header.header_len();
        let generated;
        let description = match &array.description {
            Some(description) => &**description,
            None => {
                generated = pack::describe(array.name, header, Encoding::Raw);
                &generated
            }
        };
        let (mut shape, mut dimensions) = (array.shape.clone(), array.dimensions.clone());
        // The slowest index first.
        if array.order == Order::Column {
            shape.reverse();
            dimensions.reverse();
        }
        let is_text = description.datatype == Datatype::String && shape.len() == 1;
        let (dtype, scalar) = if is_text && header.data_len() > 0 {
            let scalar = DtypeScalar::new(DtypeKind::Bytes, header.data_len());
            (shape, dimensions) = (Vec::new(), Vec::new());
            (json!(scalar.to_string()), Some(scalar))
        } else {
            let descr = dtype_of(header, description).map_err(|error| match error {
                FormatError::NoCounterpart { reason, .. } => Refusal::because(reason),
                error => Refusal::because(error.to_string()),
            })?;
            let scalar = if let Descr::Scalar(scalar) = descr { Some(scalar) } else { None };
            (dtype(&descr, &description.datatype)?, scalar)
        };
        if shape.len() > MAX_DIMENSIONS {
            let count = shape.len();
            let most = format!("it has {count} dimensions, and NumPy has at most {MAX_DIMENSIONS}");
            return Err(Refusal::because(most));
        }
        let width = if is_text { header.data_len() } else { header.element().elbyte() };
        let room = file_len.saturating_sub(start).saturating_sub(header.data_len());
        let chunks = Chunks::new(&shape, width, room);
        let mut notes = Vec::new();
        let fill_value = fill_value(array, description, scalar, &mut notes);
        // A truth value needs no names.
        let flags = description.datatype.flags(&array.attributes);
        let flags = flags.iter().filter(|_| dtype.as_str() != Some("|b1"));
        let mut attributes = attributes(array.attributes.iter().chain(flags), &mut notes);
        // Programs that convert the metadata to Zarr 3, such as VirtualiZarr, find missing elements by this attribute.
        if let Some(coded) = coded_fill_value(&fill_value, scalar) {
            attributes.insert(FILL_VALUE.to_owned(), coded);
        }
        let is_reversed = array.order == Order::Column;
        let dimensions = names.of_array(group, array.name, &shape, &dimensions, is_reversed);
        attributes.insert(DIMENSIONS.to_owned(), json!(dimensions));
        let metadata = Metadata {
            zarr_format: 2,
            chunks: chunks.shape.clone(),
            shape,
            dtype,
            fill_value,
            order: "C",
            compressor: None,
            filters: None,
            dimension_separator: ".",
        };
        let path = path(group, array.name);
        Ok(Self { path, metadata, attributes, chunks, start, member, notes })
    }
}

/// Returns the path of an array in the store: without a slash at the beginning.
pub(super) fn path(group: &str, name: &str) -> String {
    ndl::entity_path(group, name).trim_start_matches('/').to_owned()
}

/// Returns a dtype as Zarr writes it. The names of fields are those of the description.
fn dtype(descr: &Descr, datatype: &Datatype) -> Result<Json, Refusal> {
    match (descr, datatype) {
        // Only bfloat16 is a void with a byte order.
        (Descr::Scalar(DtypeScalar { kind: DtypeKind::Void, order, .. }), _)
            if *order != ByteOrder::None =>
        {
            Err(Refusal::because("its elements are bfloat16, for which Zarr 2 has no type"))
        }
        (Descr::Scalar(scalar), _) => Ok(json!(scalar.to_string())),
        (Descr::Struct(fields), Datatype::Compound(members)) => {
            let field = |(field, (name, datatype)): (&Field, &(String, Datatype))| match field.descr
            {
                Descr::Scalar(_) => Ok(json!([name, dtype(&field.descr, datatype)?])),
                // Zarr 2 has such types, but zarr-python 3 does not open a store with them.
                Descr::Struct(_) | Descr::Subarray { .. } => Err(Refusal::because(format!(
                    "its field `{name}` is `{datatype}`, which zarr-python does not read"
                ))),
            };
            fields.iter().zip(members).map(field).collect::<Result<Vec<_>, _>>().map(Json::Array)
        }
        (descr, _) => {
            Err(Refusal::because(format!("zarr-python does not read elements of `{descr}`")))
        }
    }
}

/// Returns attributes as JSON. Those with numbers that JSON cannot express are reported.
pub(super) fn attributes<'a>(
    given: impl IntoIterator<Item = &'a Attribute>,
    notes: &mut Vec<String>,
) -> Map<String, Json> {
    let mut map = Map::new();
    for Attribute { name, value, .. } in given {
        if name == FILL_VALUE {
            continue;
        }
        match to_json(value) {
            Some(value) => drop(map.insert(name.clone(), value)),
            None => notes.push(format!(
                "the attribute `{name}` is left out: JSON has no NaN and no infinity"
            )),
        }
    }
    map
}

/// Returns a value as JSON; `None` if it contains a number that is not finite.
fn to_json(value: &Value) -> Option<Json> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => json!(truth),
        Value::Int(number) => json!(number),
        Value::UInt(number) => json!(number),
        Value::Float(number) => Json::Number(Number::from_f64(*number)?),
        Value::String(text) => json!(text),
        Value::List(list) => Json::Array(list.iter().map(to_json).collect::<Option<_>>()?),
        Value::Map(entries) => {
            let entry = |(key, value): &(String, Value)| Some((key.clone(), to_json(value)?));
            Json::Object(entries.iter().map(entry).collect::<Option<_>>()?)
        }
    })
}

/// Returns the element that marks missing ones: `storage.fillvalue` or the attribute `_FillValue`; null if there is
/// none, or if Zarr cannot express it.
fn fill_value(
    array: &OutlineArray<'_>,
    description: &Ndarray,
    scalar: Option<DtypeScalar>,
    notes: &mut Vec<String>,
) -> Json {
    let stored = description.storage.as_ref().and_then(|storage| storage.fillvalue.as_ref());
    let attribute = || array.attributes.iter().find(|one| one.name == FILL_VALUE);
    let Some(value) = stored.or_else(|| attribute().map(|attribute| &attribute.value)) else {
        return Json::Null;
    };
    let number = match (value, &description.datatype) {
        (_, Datatype::Enum { members, .. }) => ndl::enum_number(value, members)
            .and_then(|number| i64::try_from(number).ok())
            .map(Value::Int),
        _ => Some(value.clone()),
    };
    let filled = number.zip(scalar).and_then(|(value, scalar)| element(&value, scalar));
    filled.unwrap_or_else(|| {
        let shown = value.to_line();
        notes.push(format!("the fill value `{shown}` is left out: Zarr 2 cannot express it"));
        Json::Null
    })
}

/// Returns an element as Zarr writes a fill value.
fn element(value: &Value, scalar: DtypeScalar) -> Option<Json> {
    let bits = u32::try_from(scalar.size * 8).ok()?;
    match scalar.kind {
        DtypeKind::Bool => match value {
            Value::Bool(truth) => Some(json!(truth)),
            value => value
                .as_integer()
                .filter(|number| (0..2).contains(number))
                .map(|one| json!(one == 1)),
        },
        // CF files often have a float here.
        DtypeKind::Int => {
            let limit = 1_i128 << bits.checked_sub(1)?;
            let number = value.to_integer().filter(|number| (-limit..limit).contains(number))?;
            Some(json!(i64::try_from(number).ok()?))
        }
        DtypeKind::UInt => {
            let number =
                value.to_integer().filter(|number| (0..1_i128 << bits).contains(number))?;
            Some(json!(u64::try_from(number).ok()?))
        }
        DtypeKind::Float => float(value),
        DtypeKind::Complex => match value {
            Value::List(parts) => match &parts[..] {
                [real, imaginary] => Some(json!([float(real)?, float(imaginary)?])),
                _ => None,
            },
            value => Some(json!([float(value)?, 0.0])),
        },
        DtypeKind::Text => value.as_str().map(|text| json!(text)),
        _ => None,
    }
}

/// Returns a fill value as xarray stores it in an attribute: a float is the bytes of a float64 in base64. Programs refuse
/// those of other types.
fn coded_fill_value(value: &Json, scalar: Option<DtypeScalar>) -> Option<Json> {
    let DtypeScalar { kind, size, .. } = scalar?;
    match kind {
        DtypeKind::Int | DtypeKind::UInt => Some(value.clone()).filter(|value| !value.is_null()),
        DtypeKind::Float => {
            let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
            // The element of the array, which may have fewer digits.
            let element = match size {
                2 => half::f16::from_f64(number).to_f64(),
                4 => number.to_string().parse::<f32>().ok()?.into(),
                _ => number,
            };
            Some(json!(BASE64_STANDARD.encode(element.to_le_bytes())))
        }
        _ => None,
    }
}

/// Returns a float; Zarr has names for those that JSON lacks.
fn float(value: &Value) -> Option<Json> {
    Some(match float_of(value)? {
        number if number.is_nan() => json!("NaN"),
        f64::INFINITY => json!("Infinity"),
        f64::NEG_INFINITY => json!("-Infinity"),
        number => json!(number),
    })
}
