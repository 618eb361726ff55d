//! Everything about one array, as text.

use std::path::Path;

use ra_pack::ndl::{Extent, Ndarray, Order};
use ra_pack::ra::ElementKind;
use ra_pack::{ArrayInfo, escape};

use super::super::numbers::human_bytes;
use super::page::{Page, Side};
use super::paste;

/// Bytes of each field of the header.
const FIELD: u64 = 8;

/// The text; `member` is the archive, and the member of it, that was asked for.
pub(super) fn text(info: &ArrayInfo, member: Option<(&Path, &str)>, color: bool) -> String {
    let mut page = Page::new(color);
    let ndarray = info.description.as_ref().and_then(|all| Some(all.ndarrays().next()?.1));
    let target = member.map(|(target, _)| escape(&target.to_string_lossy()).to_string());
    let within = target.as_ref().map_or(String::new(), |target| format!(" in {target}"));
    page.title(&escape(&info.name).to_string(), &within);
    page.line(&summary(info, ndarray));

    page.head("header");
    page.table([Side::Right, Side::Left, Side::Left, Side::Left], &header(info, ndarray));

    page.head("places");
    page.table([Side::Left, Side::Right, Side::Right], &places(info, target.as_deref()));
    match info.method.as_deref() {
        Some("stored") | None => {}
        Some("solid") => page.line("the archive is compressed as a whole"),
        Some(method) => page.line(&format!("compressed in the archive by {method}")),
    }

    page.head("read it without this program");
    for line in paste::lines(info, member) {
        page.line(&line);
    }

    page.head("description");
    match &info.description {
        None => page.line("none; `ra-pack describe` writes one to begin with"),
        Some(document) => {
            for line in document.to_yaml().lines() {
                page.line(&escape(line).to_string());
            }
        }
    }
    if member.is_some() {
        page.head("digest in the manifest");
        match &info.sha256 {
            Some(digest) => page.line(&format!("sha256 {digest}")),
            None => page.line("none"),
        }
    }
    page.finish()
}

/// `float32 [depth 10, time 149], 5.8 KiB: temperature of the water [degree_Celsius]`
fn summary(info: &ArrayInfo, ndarray: Option<&Ndarray>) -> String {
    let lengths = info.shape.as_ref().unwrap_or(&info.dims);
    let names = ndarray.map(|ndarray| ndarray.shape.as_slice()).unwrap_or_default();
    let mut shape = Vec::new();
    for (axis, length) in lengths.iter().enumerate() {
        shape.push(match names.get(axis) {
            Some(Extent::Coord(name)) => format!("{} {length}", escape(name)),
            _ => length.to_string(),
        });
    }
    let order = match info.order {
        Some("column") | None => String::new(),
        Some(order) => format!(" {order}"),
    };
    let text = |wanted: &str| {
        let attributes = ndarray.map(|ndarray| ndarray.attributes.iter());
        let mut attributes = attributes.into_iter().flatten();
        let found = attributes.find(|attribute| attribute.name == wanted)?;
        found.value.as_str().map(|text| escape(text).to_string())
    };
    let title = match (text("long_name"), text("units")) {
        (Some(name), Some(units)) => format!(": {name} [{units}]"),
        (Some(name), None) => format!(": {name}"),
        (None, Some(units)) => format!(": [{units}]"),
        (None, None) => String::new(),
    };
    let (shape, bytes) = (shape.join(", "), human_bytes(info.header.data_len()));
    format!("{} [{shape}]{order}, {bytes}{title}", info.element)
}

/// Each field: its byte in the file, its name, its value, what that means.
fn header(info: &ArrayInfo, ndarray: Option<&Ndarray>) -> Vec<[String; 4]> {
    let kind = match info.header.element().kind() {
        ElementKind::User => "defined by the user",
        ElementKind::Int => "signed integers",
        ElementKind::UInt => "unsigned integers",
        ElementKind::Float => "floats",
        ElementKind::Complex => "complex numbers",
        ElementKind::BFloat => "brain floats, or truth values",
        _ => "",
    };
    let flags = match info.flags {
        0 => "little-endian, nothing encoded".to_owned(),
        _ => info.header.flags().to_string(),
    };
    let size = if info.header.is_encoded() {
        "bytes of data, encoded".to_owned()
    } else {
        let factors = std::iter::once(&info.elbyte).chain(&info.dims);
        let factors: Vec<_> = factors.map(u64::to_string).collect();
        format!("bytes of data: {}", factors.join(" × "))
    };
    let mut rows = Vec::new();
    let mut put = |name: &str, value: String, meaning: String| {
        let at = u64::try_from(rows.len()).unwrap_or(u64::MAX).saturating_mul(FIELD);
        rows.push([at.to_string(), name.to_owned(), value, meaning]);
    };
    put(
        "magic",
        "rawarray".to_owned(),
        "8 letters; all that follows are 64-bit integers".to_owned(),
    );
    put("flags", info.flags.to_string(), flags);
    put("eltype", info.eltype.to_string(), kind.to_owned());
    put("elbyte", info.elbyte.to_string(), format!("bytes of an element: {}", info.element));
    put("size", info.size.to_string(), size);
    let scalar = if info.ndims == 0 { "dimensions: a scalar" } else { "dimensions" };
    put("ndims", info.ndims.to_string(), scalar.to_owned());
    let order = ndarray.map(Ndarray::order).unwrap_or_default();
    for (nth, length) in info.dims.iter().enumerate() {
        let last = info.dims.len().saturating_sub(1);
        let axis = if order == Order::Row { last.saturating_sub(nth) } else { nth };
        let name = match ndarray.and_then(|ndarray| ndarray.shape.get(axis)) {
            Some(Extent::Coord(name)) => escape(name).to_string(),
            _ => String::new(),
        };
        let comma = if name.is_empty() { "" } else { ", " };
        let speed = match nth {
            _ if last == 0 => "",
            0 => "the fastest in the file",
            nth if nth == last => "the slowest",
            _ => "",
        };
        let comma = if speed.is_empty() { "" } else { comma };
        let label = if nth == 0 { "dims" } else { "" };
        put(label, length.to_string(), format!("{name}{comma}{speed}"));
    }
    rows
}

/// Where each part of the file begins, in the file and in the archive.
fn places(info: &ArrayInfo, target: Option<&str>) -> Vec<[String; 3]> {
    let start = info.archive_header_offset;
    let data_end = info.data_offset.saturating_add(info.size);
    let mut parts = vec![("header", 0), ("data", info.data_offset)];
    if data_end < info.file_size && !info.header.is_encoded() {
        parts.push(("metadata", data_end));
    }
    parts.push(("end", info.file_size));
    let in_archive = match (start, target) {
        (Some(_), Some(target)) => format!("in {target}"),
        _ => String::new(),
    };
    let mut rows = vec![[String::new(), "in the file".to_owned(), in_archive]];
    for (name, at) in parts {
        let there = start.map(|start| start.saturating_add(at).to_string());
        rows.push([name.to_owned(), at.to_string(), there.unwrap_or_default()]);
    }
    rows
}
