//! Facts about an array, from its header and description.

use ra_pack::display::array::attribute_rows;
use ra_pack::display::plot::drawn_dims;
use ra_pack::display::snippet::snippets;
use ra_pack::ndl::Document;
use ra_pack::path::escape;
use ra_pack::ra::{ElementKind, Flags, split_slice};
use ra_pack::read::{Axis, Sample, SampleOptions, type_name};
use ra_pack::{PackedArray, display};
use serde_json::{Value, json};

use crate::answer::{Arguments, Result};
use crate::contents::{Opened, stem};

/// Answers with all facts about an array.
pub(crate) fn facts(opened: &Opened, arguments: &Arguments) -> Result {
    let array = opened.array(arguments)?;
    let header = array.header()?;
    let mut warnings = Vec::new();
    let axes = array.axes()?;
    let description = array.description()?;
    let shape = array.shape()?;
    let slice = array.picture_slice()?;
    let parts = split_slice(slice.as_deref().unwrap_or_default(), shape.len());
    let parts: Vec<&str> = parts.map_err(|error| error.to_string())?;
    let kept = drawn_dims(&parts, &shape);
    let is_drawn = !shape.contains(&0) && !kept.is_empty() && is_drawn(&array, &parts);
    let is_proved = array.block_size();
    let verified = match &is_proved {
        Ok(Some(_)) => "blocks",
        Ok(None) => "no",
        Err(error) => {
            warnings.push(escape(&error.to_string()).to_string());
            "no"
        }
    };
    let storage = description.as_ref().and_then(|found| found.storage.as_ref());
    let order = storage.map(|storage| storage.order).unwrap_or_default();
    let snippets = snippets(&opened.name, opened.pack.container(), &array, order).into_iter();
    let mut python = snippets.filter(|(language, _)| *language == "Python" && !opened.is_single);
    let kind = display::values::type_name(description.as_ref(), header.element());
    let is_big = header.flags().contains(Flags::BIG_ENDIAN);
    let text = description.clone().map(|description| Document::of(description, false).to_yaml());
    let attributes = description.as_ref().map(|found| attribute_rows(&found.attributes));
    let units = display::array::attribute(description.as_ref(), "units");
    let title = display::array::attribute(description.as_ref(), "long_name");
    let missing = storage.and_then(|storage| storage.fillvalue.as_ref());
    let stored = type_name(header.element(), None);
    // Across is the last dimension that is shown.
    let shown: Vec<usize> = kept.iter().rev().copied().collect();
    Ok(json!({
        "path": array.name(),
        "name": escape(stem(array.name())).to_string(),
        "shown": escape(array.name().strip_suffix(".ra").unwrap_or(array.name())).to_string(),
        "type": kind,
        "stored_type": (stored != kind).then_some(stored),
        "shape": shape,
        "dims": axes.iter().map(dimension).collect::<Vec<_>>(),
        "units": units,
        "title": title,
        "text": text.map_or_else(Vec::new, |text| text.lines().map(|line| escape(line).to_string()).collect()),
        "attributes": attributes.unwrap_or_default(),
        "missing": missing.map(|value| display::values::flow(value, 20)),
        "byte_order": if is_big { "big-endian" } else { "little-endian" },
        "bytes": header.data_len(),
        "python": python.next().map(|(_, code)| code),
        "verified": verified,
        "default": parts,
        "axes": shown,
        "plot": is_drawn.then_some(if kept.len() == 2 { "image" } else { "line" }),
        "complex": header.element().kind() == ElementKind::Complex,
        "warnings": warnings,
    })
    .into())
}

/// Returns whether elements can be drawn, by a sample of one of them.
fn is_drawn(array: &PackedArray, parts: &[&str]) -> bool {
    let one: Vec<&str> = parts.iter().map(|_| "0").collect();
    let options = SampleOptions { slice: Some(one.join(",")), ..SampleOptions::default() };
    match array.sample(&options) {
        Err(ra_pack::Error::Unsupported(_)) | Ok(Sample::Grid(_)) => false,
        // Damage is shown where the values are.
        Ok(_) | Err(_) => true,
    }
}

/// Returns a dimension with its coordinate.
fn dimension(axis: &Axis) -> Value {
    let coordinate = axis.coordinate.as_ref();
    let description = coordinate.and_then(|coordinate| coordinate.description.as_ref());
    json!({
        "name": axis.name.as_ref().map(|name| escape(name).to_string()),
        "size": axis.extent,
        "coordinate": coordinate.and_then(|coordinate| coordinate.member.as_ref()),
        "shown": coordinate.and_then(|it| it.member.as_ref()).map(|name| escape(name).to_string()),
        "units": display::array::attribute(description, "units"),
    })
}
