//! An array in the format that was asked for.

use std::io::{self, Write};
use std::path::Path;

use super::ArrayFormat;
use super::text::{Numbers, Style, json_string};
use crate::error::{Error, Result};
use crate::interchange::{self, npy, png};
use crate::ndl::{Datatype, Extent, Ndarray, Order};
use crate::ops::convert::{Described, Item, member_name};
use crate::ra::{AnyArray, Header, Reversal};

/// An array that was read, and what is known of it.
pub(super) struct Part<'p> {
    pub(super) array: AnyArray,
    pub(super) member: &'p str,
    pub(super) description: Option<Ndarray>,
}

/// Writes it; answers what it says and the output does not.
pub(super) fn write(
    part: Part<'_>,
    format: ArrayFormat,
    output: &Path,
    out: &mut dyn Write,
) -> Result<Vec<String>> {
    let failed = |error| Error::io("write", output)(error);
    if format == ArrayFormat::Ra {
        part.array.write_to(out).map_err(failed)?;
        return Ok(Vec::new());
    }
    let mut file = Vec::new();
    part.array.write_to(&mut file).map_err(failed)?;
    let Part { array, member, description } = part;
    drop(array);
    let undecodable = |source| Error::array(member.to_owned(), source);
    let header = Header::parse(&file).map_err(undecodable)?;
    let start = usize::try_from(header.header_len()).unwrap_or(0);
    let data = file.get(start..).unwrap_or_default();
    if format == ArrayFormat::Raw {
        out.write_all(data).map_err(failed)?;
        return Ok(Vec::new());
    }
    let (mut item, mut losses) = item(member, &header, description)?;
    let refused = |source| match source {
        interchange::Error::Io(error) => Error::io("write", output)(error),
        source => Error::Interchange { name: member.to_owned(), source },
    };
    if format == ArrayFormat::Npy {
        let plan = npy::write(out, &item.to_variable()?, data, &npy::WriteOptions::new());
        losses.extend(plan.map_err(refused)?.losses);
        return Ok(losses);
    }
    // Everything else has the last index fastest.
    let before = item.to_variable()?.header;
    let mut reversed = Vec::new();
    let data = if item.put_in(Order::Row) {
        reversed.resize(data.len(), 0);
        let moved = Reversal::new(&before).reverse(data, &mut reversed);
        moved.map_err(|error| Error::io("reorder", member)(error))?;
        &reversed
    } else {
        data
    };
    match format {
        ArrayFormat::Png => {
            let written = png::write(&item.to_variable()?, data, out);
            losses.extend(written.map_err(refused)?);
            Ok(losses)
        }
        ArrayFormat::Csv => {
            let (element, shape) = (before.element(), item.extents());
            let table = Numbers::new(element, &shape, data, Style::Plain)?;
            table.write_csv(out)?.map_err(failed)?;
            Ok(Vec::new())
        }
        _ => write_json(&item, &before, data, out)?.map(|()| Vec::new()).map_err(failed),
    }
}

fn write_json(
    item: &Item,
    header: &Header,
    data: &[u8],
    out: &mut dyn Write,
) -> Result<io::Result<()>> {
    if item.description.datatype == Datatype::String
        && item.description.shape.is_empty()
        && let Ok(text) = std::str::from_utf8(data)
    {
        return Ok(writeln!(out, "{}", json_string(text)));
    }
    let shape = item.extents();
    Ok(Numbers::new(header.element(), &shape, data, Style::Json)?.write_json(out))
}

/// The array with the description of what it is a part of, and what that loses.
fn item(
    member: &str,
    header: &Header,
    description: Option<Ndarray>,
) -> Result<(Item, Vec<String>)> {
    let name = member_name(member).to_owned();
    let described = description.map(|description| Described {
        description,
        is_coordinate: false,
        shared: Vec::new(),
    });
    let mut item = Item::rawarray(name, header, described, false)?;
    let names = item.fix_extents();
    let lost = format!("the names of its axes ({}) are left out", names.join(", "));
    let losses = if names.is_empty() { Vec::new() } else { vec![lost] };
    let is_text = item.description.datatype == Datatype::String;
    if !(is_text && item.description.shape.is_empty()) {
        item.description.shape = item.extents().into_iter().map(Extent::Fixed).collect();
        if let Some(storage) = &mut item.description.storage {
            storage.shape = None;
        }
    }
    Ok((item, losses))
}
