//! `ra-pack info`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::Container;
use ra_pack::archive::Method;
use ra_pack::display::values;
use ra_pack::inspect::{
    ArrayInfo, CoordinateInfo, InfoOptions, ManifestInfo, PackInfo, RecordFormat,
};
use ra_pack::ndl::{Extent, Ndarray, Order};
use ra_pack::path::escape;
use ra_pack::ra::ElementKind;
use ra_pack::write::Layout;
use serde::Serialize;

use super::array::{attribute_rows, extents, label};
use super::common::{Choices, Common, words};
use super::output::Output;
use super::table::aligned;
use super::text::{BOLD, counted, human_bytes, styled};
use super::{Ending, Failure, diagnostics, shell};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack info exp.zip
  ra-pack info exp.zip run1/temperature.ra
  ra-pack info temperature.ra --field dims
  ra-pack info --json exp.zip | jq .types")]
pub(crate) struct InfoArgs {
    /// Archive, directory or array (.ra).
    #[arg(value_name = "TARGET")]
    pub(super) target: PathBuf,

    /// Array of the pack, as shown by `list`.
    #[arg(value_name = "MEMBER")]
    pub(super) member: Option<String>,

    /// Print only this field of the JSON result, or this attribute, such as units; a list on one line.
    #[arg(long, value_name = "FIELD", conflicts_with = "json")]
    field: Option<String>,

    /// Print a record of the pack for a repository.
    #[arg(long, value_name = "FORMAT", value_parser = words(RECORDS))]
    #[arg(conflicts_with_all = ["json", "field", "member"])]
    metadata: Option<RecordFormat>,

    #[command(flatten)]
    common: Common,
}

const RECORDS: &Choices<RecordFormat> = &[
    ("ro-crate", RecordFormat::RoCrate, "The metadata file of an RO-Crate 1.2"),
    ("datacite", RecordFormat::DataCite, "A record of DataCite, kernel 4, in JSON"),
    ("croissant", RecordFormat::Croissant, "A dataset of Croissant 1.1, without record sets"),
];

pub(super) fn run(args: &InfoArgs, output: &Output) -> Result<Ending, Failure> {
    let target = args.target.as_path();
    let color = output.color_out;
    if let Some(format) = args.metadata {
        let options = InfoOptions { jobs: args.common.jobs, progress: output.progress() };
        let out = &mut output.bytes();
        ra_pack::inspect::write_record(target, format, &options, out)?;
        return Ok(Ending::Clean);
    }
    if let Some(member) = &args.member {
        let info = ra_pack::inspect::array_info(target, member)?;
        let other = output.other_file().unwrap_or(target);
        return show(args, output, &info, || {
            array_text(&info, Some((other, member)), (color, output.other_file().is_some()))
        });
    }
    if ra_pack::files::is_array_file(target)? {
        let info = ra_pack::inspect::array_file_info(target)?;
        return show(args, output, &info, || array_text(&info, None, (color, false)));
    }
    let options = InfoOptions { jobs: args.common.jobs, progress: output.progress() };
    let info = ra_pack::info(target, &options)?;
    if args.field.is_none() && !args.common.json {
        diagnostics::show(target, &info.findings, &[], output);
    }
    show(args, output, &info, || pack_text(&info, output.other_file(), color))?;
    Ok(Ending::of(&info.findings))
}

fn show(
    args: &InfoArgs,
    output: &Output,
    info: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<Ending, Failure> {
    match &args.field {
        Some(field) => {
            if let Err(known) = output.field(info, field)? {
                return Err(Failure::options(format!(
                    "no field `{}`; the fields are {known}",
                    escape(field)
                )));
            }
        }
        None if args.common.json => output.json(info)?,
        None => output.result(&text())?,
    }
    Ok(Ending::Clean)
}

/// Largest number of coordinates that are shown.
const MOST_COORDINATES: usize = 20;

fn pack_text(info: &PackInfo, file: Option<&Path>, color: bool) -> String {
    let mut page = Page { text: String::new(), color };
    let container = match info.container {
        Container::Directory => match file.and_then(Path::extension) {
            Some(end) => format!(".{} file", escape(&end.to_string_lossy())),
            None => "directory".to_owned(),
        },
        container => container.to_string(),
    };
    let layout = match info.layout {
        Layout::BagIt => " laid out as a BagIt bag",
        _ => "",
    };
    let stated = info.format_version.as_ref();
    let version = stated.map_or_else(String::new, |it| format!(", pack format {}", escape(it)));
    page.title(&info.target, &format!(": a {container}{layout}{version}"));

    if !info.attributes.is_empty() {
        page.table([false; 2], &attribute_rows(&info.attributes));
        page.text.push('\n');
    }
    let mut arrays = human_bytes(info.array_bytes);
    if info.groups > 1 {
        let _ = write!(arrays, " in {}", counted(info.groups, "group"));
    }
    if info.undescribed > 0 {
        let _ = write!(arrays, ", {} not described", info.undescribed);
    }
    let mut all = human_bytes(info.bytes);
    if info.packed_bytes != info.bytes {
        let _ = write!(all, ", {} in the archive", human_bytes(info.packed_bytes));
    }
    let others = human_bytes(info.bytes.saturating_sub(info.array_bytes));
    page.table(
        [false; 2],
        &[
            [counted(info.arrays, "array"), arrays],
            [counted(info.files.saturating_sub(info.arrays), "other file"), others],
            ["in all".to_owned(), all],
        ],
    );

    if !info.named_types.is_empty() {
        page.head("types");
        let types = info.named_types.iter();
        let types: Vec<_> = types.map(|(name, count)| [name.clone(), count.to_string()]).collect();
        page.table([false, true], &types);
    }
    if !info.coordinates.is_empty() {
        page.head("coordinates");
        let rows: Vec<_> = info.coordinates.iter().take(MOST_COORDINATES).map(coordinate).collect();
        page.table([false, true, false, false, false], &rows);
        if let Some(more @ 1..) = info.coordinates.len().checked_sub(MOST_COORDINATES) {
            page.line(&format!("… and {more} more; --json lists them all"));
        }
    }
    page.head("manifests");
    if info.manifests.is_empty() {
        page.line("none; contents cannot be verified");
    }
    page.table([false; 3], &info.manifests.iter().map(manifest).collect::<Vec<_>>());

    page.head("problems found without reading contents");
    match diagnostics::counts_text(&info.findings).collect::<Vec<_>>().join(" and ") {
        none if none.is_empty() => page.line("none"),
        said => page.line(&format!("{said}, listed above")),
    }
    if !info.manifests.is_empty() {
        page.line(&format!(
            "`ra-pack verify {}` reads and checks every file",
            shell::path(Path::new(&info.target))
        ));
    }
    page.text
}

/// Returns the row of a coordinate: path, length, units, first and last element, number of arrays that use it.
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
    let entries = if manifest.entries == 1 { "entry" } else { "entries" };
    [
        escape(&manifest.name).to_string(),
        format!("{} of {} {entries}", manifest.algorithm.name(), manifest.entries),
        agreement.to_owned(),
    ]
}

/// Formats an array. `member` is its archive and its name, if it is in one. The bytes of an array in another format are
/// not those of a RawArray file.
fn array_text(
    info: &ArrayInfo,
    member: Option<(&Path, &str)>,
    (color, is_converted): (bool, bool),
) -> String {
    let mut page = Page { text: String::new(), color };
    let ndarray = info.description.as_ref().and_then(|all| Some(all.ndarrays().next()?.1));
    let within = member
        .map(|(target, _)| format!("in {}", ra_pack::path::escape_path(target)))
        .unwrap_or_default();
    page.title(&info.name, format!(" {within}").trim_end());
    page.line(&summary(info, ndarray));

    if !is_converted {
        page.head("header");
        page.table([true, false, false, false], &header(info, ndarray));

        page.head("offsets");
        page.table([false, true, true], &places(info, within));
        match info.method {
            Some(Method::Stored) | None => {}
            Some(Method::Solid) => page.line("compressed together with the whole archive"),
            Some(method) => page.line(&format!("compressed in the archive with {method}")),
        }

        page.head("read it without ra-pack");
        for line in shell::lines(info, member) {
            page.line(&line);
        }
    }

    page.head("description");
    match &info.description {
        None => page.line("none; `ra-pack describe` generates one"),
        Some(document) => {
            for line in document.to_yaml().lines() {
                page.line(&escape(line).to_string());
            }
        }
    }
    if member.is_some() && !is_converted {
        page.head("digest in the manifest");
        match &info.sha256 {
            Some(digest) => page.line(&format!("sha256 {digest}")),
            None => page.line("none"),
        }
    }
    page.text
}

/// Formats `float32 [depth 10, time 149], 5.8 KiB: temperature of the water [degree_Celsius]`.
fn summary(info: &ArrayInfo, ndarray: Option<&Ndarray>) -> String {
    let lengths = info.shape.as_ref().unwrap_or(&info.dims);
    let names = (0..).map(|axis| axis_name(ndarray, axis));
    let shape = extents(names.zip(lengths), info.order.unwrap_or_default());
    let title = label(ndarray, true).map_or_else(String::new, |label| format!(": {label}"));
    let kind = values::type_name(ndarray, info.element);
    format!("{kind} {shape}, {}{title}", human_bytes(info.header.data_len()))
}

/// Returns the name of a dimension in the shape of the description.
fn axis_name(ndarray: Option<&Ndarray>, axis: usize) -> Option<&str> {
    match ndarray?.shape.get(axis)? {
        Extent::Coord(name) => Some(name),
        _ => None,
    }
}

/// Size of a header field, in bytes.
const FIELD: usize = 8;

/// Returns a row for each header field: offset in the file, name, value, meaning.
fn header(info: &ArrayInfo, ndarray: Option<&Ndarray>) -> Vec<[String; 4]> {
    let kind = match info.header.element().kind() {
        ElementKind::User => "defined by the user",
        ElementKind::Int => "signed integers",
        ElementKind::UInt => "unsigned integers",
        ElementKind::Float => "floats",
        ElementKind::Complex => "complex numbers",
        ElementKind::BFloat => "bfloat16, or booleans",
        _ => "",
    };
    let flags = match info.flags {
        0 => "little-endian, not encoded".to_owned(),
        _ => info.header.flags().to_string(),
    };
    let size = if info.header.is_encoded() {
        "bytes of data, encoded".to_owned()
    } else {
        let factors = std::iter::once(&info.elbyte).chain(&info.dims);
        let factors: Vec<_> = factors.map(u64::to_string).collect();
        format!("bytes of data: {}", factors.join(" × "))
    };
    let magic = "8 bytes of text; all other fields are 64-bit integers".to_owned();
    let element = format!("bytes per element: {}", values::type_name(ndarray, info.element));
    let scalar = if info.ndims == 0 { "dimensions: a scalar" } else { "dimensions" };
    let mut fields = vec![
        ("magic", "rawarray".to_owned(), magic),
        ("flags", info.flags.to_string(), flags),
        ("eltype", info.eltype.to_string(), kind.to_owned()),
        ("elbyte", info.elbyte.to_string(), element),
        ("size", info.size.to_string(), size),
        ("ndims", info.ndims.to_string(), scalar.to_owned()),
    ];
    let order = ndarray.map(Ndarray::order).unwrap_or_default();
    let last = info.dims.len().saturating_sub(1);
    fields.extend(info.dims.iter().enumerate().map(|(nth, length)| {
        let axis = if order == Order::Row { last - nth } else { nth };
        let name = axis_name(ndarray, axis).map(|name| escape(name).to_string());
        let speed = match nth {
            _ if last == 0 => None,
            0 => Some("changes fastest".to_owned()),
            nth => (nth == last).then(|| "changes slowest".to_owned()),
        };
        let meaning = name.into_iter().chain(speed).collect::<Vec<_>>().join(", ");
        (if nth == 0 { "dims" } else { "" }, length.to_string(), meaning)
    }));
    let rows = fields.into_iter().enumerate().map(|(nth, (name, value, meaning))| {
        [(nth * FIELD).to_string(), name.to_owned(), value, meaning]
    });
    rows.collect()
}

/// Returns the offset of each part of the file, in the file and `within` the archive.
fn places(info: &ArrayInfo, within: String) -> Vec<[String; 3]> {
    let start = info.archive_header_offset;
    let data_end = info.data_offset.saturating_add(info.size);
    let mut parts = vec![("header", 0), ("data", info.data_offset)];
    if data_end < info.bytes && !info.header.is_encoded() {
        parts.push(("metadata", data_end));
    }
    parts.push(("end", info.bytes));
    let within = start.map_or(String::new(), |_| within);
    let mut rows = vec![[String::new(), "in the file".to_owned(), within]];
    rows.extend(parts.into_iter().map(|(name, at)| {
        let there = start.map(|start| start.saturating_add(at).to_string());
        [name.to_owned(), at.to_string(), there.unwrap_or_default()]
    }));
    rows
}

/// Text of the result.
struct Page {
    text: String,
    color: bool,
}

impl Page {
    /// Writes the title: a name, and its container.
    fn title(&mut self, name: &str, rest: &str) {
        let name = styled(&escape(name).to_string(), BOLD, self.color);
        let _ = writeln!(self.text, "{name}{rest}");
    }

    /// Writes an empty line and a heading.
    fn head(&mut self, text: &str) {
        let _ = writeln!(self.text, "\n{}", styled(text, BOLD, self.color));
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
    }

    fn table<const N: usize>(&mut self, to_right: [bool; N], rows: &[[String; N]]) {
        for line in aligned(rows, to_right, usize::MAX) {
            self.line(&line);
        }
    }
}
