//! `ra-pack info`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::styling::Style;
use ra_pack::ndl::{Extent, Ndarray, Order};
use ra_pack::ra::ElementKind;
use ra_pack::{
    ArrayFormat, ArrayInfo, Container, CoordinateInfo, Layout, ManifestInfo, PackInfo, escape,
};
use serde::Serialize;

use super::array::label;
use super::numbers::{counted, human_bytes};
use super::output::Output;
use super::width::columns;
use super::{Ending, Failure, diagnostics, shell};

/// Findings that are drawn: who looks at a pack wants to know whether it is sound, not all that is not.
const MOST_FINDINGS: usize = 10;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack info exp.zip
  ra-pack info exp.zip run1/temperature.ra
  ra-pack info temperature.ra --field dims
  ra-pack info --json exp.zip | jq .types")]
pub(crate) struct Info {
    /// An array, an archive or a directory.
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// An array of the archive.
    #[arg(value_name = "MEMBER")]
    member: Option<String>,

    /// Print the value of one field of the JSON result alone, a list on one line.
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,

    /// Print the result as JSON on standard output.
    #[arg(long, conflicts_with = "field")]
    json: bool,
}

pub(super) fn run(args: &Info, output: &Output) -> Result<Ending, Failure> {
    let target = args.target.as_path();
    let color = output.color_out();
    if let Some(member) = &args.member {
        let info = ra_pack::array_info(target, member)?;
        return show(args, output, &info, || array_text(&info, Some((target, member)), color));
    }
    if ra_pack::is_array_file(target)? {
        let info = ra_pack::array_file_info(target)?;
        return show(args, output, &info, || array_text(&info, None, color));
    }
    refuse_npz(target)?;
    let info = ra_pack::pack_info(target, &output.progress())?;
    if args.field.is_none() && !args.json {
        let shown = info.findings.get(..MOST_FINDINGS).unwrap_or(&info.findings);
        diagnostics::show(target, shown, &[], output);
        if let more @ 1.. = info.findings.len().saturating_sub(MOST_FINDINGS) {
            let target = shell::path(target);
            output.message(&format!(
                "ra-pack: {more} more findings; `ra-pack verify --fast {target}` shows them all\n"
            ));
        }
    }
    show(args, output, &info, || pack_text(&info, color))?;
    Ok(Ending::of(&info.findings))
}

fn show(
    args: &Info,
    output: &Output,
    info: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<Ending, Failure> {
    match &args.field {
        Some(field) => {
            if let Err(known) = output.field(info, field)? {
                return Err(Failure::unsupported(format!(
                    "there is no field `{}`; there are {known}",
                    escape(field)
                )));
            }
        }
        None if args.json => output.json(info)?,
        None => output.result(&text())?,
    }
    Ok(Ending::Clean)
}

/// A zip of NumPy's arrays has nothing in it that this reads.
fn refuse_npz(target: &Path) -> Result<(), ra_pack::Error> {
    if target.is_dir() || ArrayFormat::from_extension(target) != Some(ArrayFormat::Npz) {
        return Ok(());
    }
    Err(ra_pack::Error::Unsupported(format!(
        "`{}` holds arrays of NumPy, which info does not read; see them as RawArray: `ra-pack convert {} {}`",
        ra_pack::escape_path(target),
        shell::path(target),
        shell::path(&target.with_extension("zip")),
    )))
}

/// Coordinates that are shown; a pack of many runs has one for each.
const MOST_COORDINATES: usize = 20;

fn pack_text(info: &PackInfo, color: bool) -> String {
    let mut page = Page::new(color);
    let container = match info.container {
        Container::Directory => "a directory".to_owned(),
        container => format!("a {container}"),
    };
    let layout = match info.layout {
        Layout::Plain => "",
        Layout::BagIt => " laid out as a BagIt bag",
    };
    page.title(&escape(&info.name).to_string(), &format!(": {container}{layout}"));

    let others = info.files.saturating_sub(info.arrays);
    let undescribed = match info.undescribed {
        0 => String::new(),
        count => format!(", {count} not described"),
    };
    let groups = match info.groups {
        0 | 1 => String::new(),
        groups => format!(" in {}", counted(groups, "group")),
    };
    let mut rows = vec![[
        counted(info.arrays, "array"),
        format!("{}{groups}{undescribed}", human_bytes(info.array_bytes)),
    ]];
    let other_bytes = info.bytes.saturating_sub(info.array_bytes);
    rows.push([counted(others, "other file"), human_bytes(other_bytes)]);
    let packed = match info.packed_bytes {
        packed if packed == info.bytes => String::new(),
        packed => format!(", {} in the archive", human_bytes(packed)),
    };
    rows.push(["in all".to_owned(), format!("{}{packed}", human_bytes(info.bytes))]);
    page.table([Side::Left, Side::Left], &rows);

    if !info.types.is_empty() {
        page.head("types");
        let types = info.types.iter();
        let types: Vec<_> = types.map(|(name, count)| [name.clone(), count.to_string()]).collect();
        page.table([Side::Left, Side::Right], &types);
    }
    if !info.coordinates.is_empty() {
        page.head("coordinates");
        let rows: Vec<_> = info.coordinates.iter().take(MOST_COORDINATES).map(coordinate).collect();
        page.table([Side::Left, Side::Right, Side::Left, Side::Left, Side::Left], &rows);
        match info.coordinates.len().saturating_sub(MOST_COORDINATES) {
            0 => {}
            more => page.line(&format!("… and {more} more; --json has them all")),
        }
    }
    page.head("manifests");
    if info.manifests.is_empty() {
        page.line("none, so that nothing can be proved");
    }
    page.table(
        [Side::Left, Side::Left, Side::Left],
        &info.manifests.iter().map(manifest).collect::<Vec<_>>(),
    );

    page.head("contradictions, as far as they show without reading contents");
    page.line(&verdict(info));
    if !info.manifests.is_empty() {
        page.line(&format!(
            "`ra-pack verify {}` reads every file and proves it",
            shell::path(Path::new(&info.name))
        ));
    }
    page.finish()
}

/// A coordinate: path, length, units, first and last element, users.
fn coordinate(coordinate: &CoordinateInfo) -> [String; 5] {
    let range = match (&coordinate.first, &coordinate.last) {
        (Some(first), Some(last)) => format!("{} … {}", escape(first), escape(last)),
        _ => String::new(),
    };
    [
        escape(&coordinate.name).to_string(),
        coordinate.length.map_or("?".to_owned(), |length| length.to_string()),
        coordinate.units.as_deref().map_or(String::new(), |units| format!("[{}]", escape(units))),
        range,
        match coordinate.arrays {
            0 => "not used".to_owned(),
            count => format!("used by {}", counted(count, "array")),
        },
    ]
}

fn manifest(manifest: &ManifestInfo) -> [String; 3] {
    let agreement = match (manifest.outside, manifest.agrees) {
        (true, Some(true)) => "outside, agrees with the one inside",
        (true, Some(false)) => "outside, DISAGREES with the one inside",
        (true, None) => "outside",
        (false, _) => "",
    };
    let entries = match manifest.entries {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    };
    [
        escape(&manifest.name).to_string(),
        format!("{} of {entries}", manifest.algorithm),
        agreement.to_owned(),
    ]
}

fn verdict(info: &PackInfo) -> String {
    match diagnostics::counts(&info.findings) {
        (0, 0) => "none".to_owned(),
        (0, warnings) => format!("{}, said above", counted(warnings, "warning")),
        (errors, 0) => format!("{}, said above", counted(errors, "error")),
        (errors, warnings) => {
            format!("{} and {}, said above", counted(errors, "error"), counted(warnings, "warning"))
        }
    }
}

/// Bytes of each field of the header.
const FIELD: u64 = 8;

/// The text; `member` is the archive, and the member of it, that was asked for.
fn array_text(info: &ArrayInfo, member: Option<(&Path, &str)>, color: bool) -> String {
    let mut page = Page::new(color);
    let ndarray = info.description.as_ref().and_then(|all| Some(all.ndarrays().next()?.1));
    let target = member.map(|(target, _)| ra_pack::escape_path(target).to_string());
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
    for line in shell::lines(info, member) {
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
    let title = label(ndarray).map_or_else(String::new, |label| format!(": {label}"));
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
        let at = rows.len() as u64 * FIELD;
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

/// Blanks before the lines below a heading.
const INDENT: &str = "  ";

/// To which side a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A text that is written from top to bottom.
struct Page {
    text: String,
    color: bool,
}

impl Page {
    fn new(color: bool) -> Self {
        Self { text: String::new(), color }
    }

    /// Writes the subject of the page: a name, and where it is.
    fn title(&mut self, name: &str, rest: &str) {
        self.bold(name);
        self.text.push_str(rest);
        self.text.push('\n');
    }

    /// Writes the heading of the lines below, after an empty line.
    fn head(&mut self, text: &str) {
        self.text.push('\n');
        self.bold(text);
        self.text.push('\n');
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(INDENT);
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Lines whose cells stand below one another.
    fn table<const N: usize>(&mut self, sides: [Side; N], rows: &[[String; N]]) {
        let mut widths = [0; N];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell));
            }
        }
        for row in rows {
            let mut line = String::new();
            for ((cell, width), side) in row.iter().zip(widths).zip(sides) {
                if width == 0 {
                    continue;
                }
                if !line.is_empty() {
                    line.push_str(INDENT);
                }
                let blanks = " ".repeat(width.saturating_sub(columns(cell)));
                match side {
                    Side::Left => line.extend([cell.as_str(), &blanks]),
                    Side::Right => line.extend([blanks.as_str(), cell]),
                }
            }
            self.line(line.trim_end());
        }
    }

    fn finish(self) -> String {
        self.text
    }

    fn bold(&mut self, text: &str) {
        if self.color {
            let style = Style::new().bold();
            // A text takes everything.
            let _ = write!(self.text, "{style}{text}{style:#}");
        } else {
            self.text.push_str(text);
        }
    }
}
