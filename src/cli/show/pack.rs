//! `ra-pack show` for a pack or group: attributes, dimensions, coordinates and variables, like `ncdump -h`.

use std::borrow::Cow;
use std::io::{self, Write};

use ra_pack::display::values;
use ra_pack::inspect::{Outline, OutlineArray, OutlineDimension, OutlineGroup, OutlineOptions};
use ra_pack::ndl::Attribute;
use ra_pack::path::{escape, escape_path};

use super::super::array::{attribute_rows, folded};
use super::super::output::Output;
use super::super::table::aligned;
use super::super::text::{BOLD, counted, fit, flowing, indented, styled};
use super::super::{Ending, Failure, diagnostics, shell};
use super::ShowArgs;

/// Largest number of groups shown without `--full`.
const MOST_GROUPS: usize = 20;

/// Number of arrays after which no further group is shown without `--full`.
const MANY_ARRAYS: usize = 100;

/// Largest number of coordinates or variables shown per group without `--full`.
const MOST_ARRAYS: usize = 40;

/// Shows the structure of the pack or of one group. Shows nothing if the group does not exist.
pub(super) fn run(
    args: &ShowArgs,
    group: Option<&str>,
    output: &Output,
) -> Result<Option<Ending>, Failure> {
    let options = OutlineOptions {
        group: group.map(str::to_owned),
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    let outline = ra_pack::inspect::outline(&args.archive, &options)?;
    if group.is_some() && outline.groups().len() == 0 {
        return Ok(None);
    }
    diagnostics::show(&args.archive, &outline.findings, &[], output);
    if args.common.json {
        output.json(&outline)?;
    } else {
        output.pieces(|out| Page { args, output, out }.draw(&outline, group.is_some()))?;
    }
    Ok(Some(Ending::of(&outline.findings)))
}

/// Columns before the name of an array.
const INDENT: usize = 2;

/// Output of the command.
struct Page<'a> {
    args: &'a ShowArgs,
    output: &'a Output,
    out: &'a mut dyn Write,
}

impl Page<'_> {
    fn draw(&mut self, outline: &Outline, is_part: bool) -> io::Result<()> {
        let groups = outline.groups().len();
        let in_groups =
            if groups > 1 { format!(" in {}", counted(groups, "group")) } else { String::new() };
        let arrays = counted(outline.arrays, "array");
        let name = escape_path(&outline.target).to_string();
        let name = styled(&name, BOLD, self.output.color_out);
        self.line(&format!("{name}: {arrays}{in_groups} ({})", outline.container))?;
        if !is_part {
            self.attributes(&outline.attributes)?;
        }
        let (mut shown, mut arrays) = (0, 0);
        for group in outline.groups() {
            if !self.args.full && (shown == MOST_GROUPS || arrays >= MANY_ARRAYS) {
                break;
            }
            self.group(&group, groups > 1)?;
            arrays += group.coordinates().len() + group.variables().len();
            shown += 1;
        }
        let target = shell::path(&self.args.archive);
        if groups == 0 {
            self.line(&format!("\nno arrays; `ra-pack list {target}` lists the files"))?;
        }
        if let Some(more @ 1..) = groups.checked_sub(shown) {
            let more = counted(more, "more group");
            self.line("")?;
            self.line(&format!(
                "… and {more}: `ra-pack show {target} GROUP` shows one, --full shows all"
            ))?;
        }
        Ok(())
    }

    fn group(&mut self, group: &OutlineGroup<'_>, is_one_of_many: bool) -> io::Result<()> {
        self.line("")?;
        if is_one_of_many || group.path != "/" {
            let path = escape(&group.path).to_string();
            let path = styled(&path, BOLD, self.output.color_out);
            self.line(&format!("Group {path}"))?;
        }
        self.attributes(group.attributes)?;
        if !group.dimensions.is_empty() {
            let dimensions = group.dimensions.iter().map(|one| dimension(one, &group.path));
            let mut dimensions: Vec<_> = dimensions.collect();
            let last = dimensions.len() - 1;
            dimensions.iter_mut().take(last).for_each(|text| text.push_str(", "));
            let head = "Dimensions:  ";
            let width = self.output.width().unwrap_or(usize::MAX);
            self.line(&format!("{head}{}", flowing(dimensions, head.len(), head.len(), width)))?;
        }
        self.arrays("Coordinates", group.coordinates())?;
        self.arrays("Variables", group.variables())
    }

    fn attributes(&mut self, attributes: &[Attribute]) -> io::Result<()> {
        if attributes.is_empty() {
            return Ok(());
        }
        self.line("Attributes:")?;
        self.lines(&indented(aligned(&attribute_rows(attributes), [false; 2], usize::MAX)))
    }

    fn arrays<'a>(
        &mut self,
        head: &str,
        arrays: impl ExactSizeIterator<Item = OutlineArray<'a>>,
    ) -> io::Result<()> {
        let (count, full) = (arrays.len(), self.args.full);
        if count == 0 {
            return Ok(());
        }
        self.line(&format!("{head}:"))?;
        let shown = if full { count } else { MOST_ARRAYS };
        let arrays: Vec<_> = arrays.take(shown).collect();
        let rows: Vec<_> = arrays.iter().map(row).collect();
        let room = self.output.width().map_or(usize::MAX, |width| width.saturating_sub(INDENT));
        let lines = aligned(&rows, [false; 5], room);
        for (line, array) in lines.iter().zip(&arrays) {
            self.lines(&format!("  {line}\n"))?;
            let rest = array.attributes.iter().filter(|one| full && !is_in_row(one));
            let rest: Vec<_> = rest.cloned().collect();
            for line in aligned(&attribute_rows(&rest), [false; 2], usize::MAX) {
                self.lines(&format!("      {line}\n"))?;
            }
        }
        if let Some(more @ 1..) = count.checked_sub(shown) {
            self.line(&format!("  … and {more} more; --full shows all"))?;
        }
        Ok(())
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// Writes lines, cut to the width of the screen.
    fn lines(&mut self, text: &str) -> io::Result<()> {
        let Some(width) = self.output.width() else { return self.out.write_all(text.as_bytes()) };
        text.lines().try_for_each(|line| self.line(&fit(line, width)))
    }
}

/// Formats a dimension, and the path of its coordinate if it is in another group: `time 149 (/time)`.
fn dimension(dimension: &OutlineDimension, group: &str) -> String {
    let name = short(&dimension.name);
    let own = format!("{}/{name}", group.trim_end_matches('/'));
    let length = dimension.length.map_or("?".to_owned(), |length| length.to_string());
    let path = dimension.coordinate.as_ref().filter(|path| **path != own);
    let path = path.map_or_else(String::new, |path| format!(" ({})", escape(path)));
    format!("{} {length}{path}", escape(name))
}

/// Returns the name of a dimension that may be given as the path of its coordinate.
fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns name, dimensions, type, units and long name of an array.
fn row(array: &OutlineArray<'_>) -> [String; 5] {
    let extent = |(name, length): (&Option<Cow<'_, str>>, &u64)| match name {
        Some(name) => escape(short(name)).to_string(),
        None => length.to_string(),
    };
    let extents = array.dimensions.iter().zip(&array.shape).map(extent);
    let extents = format!("({})", folded(&extents.collect::<Vec<_>>()));
    let description = array.description.as_deref();
    let (extents, element) = match array.element {
        Some(element) => (extents, values::type_name(description, element)),
        // The values are in a description.
        None if array.member.is_none() => (extents, String::new()),
        None => (String::new(), "unreadable".to_owned()),
    };
    let text = |name: &str| {
        let value = array.attributes.iter().find(|one| one.name == name)?.value.as_str()?;
        Some(escape(value).to_string())
    };
    let title = text(LONG_NAME).or_else(|| text(STANDARD_NAME));
    let title = match title {
        None if !array.described => "not described".to_owned(),
        title => title.unwrap_or_default(),
    };
    [escape(array.name).to_string(), extents, element, text(UNITS).unwrap_or_default(), title]
}

const UNITS: &str = "units";
const LONG_NAME: &str = "long_name";
const STANDARD_NAME: &str = "standard_name";

/// Whether the row of an array shows the attribute.
fn is_in_row(attribute: &Attribute) -> bool {
    [UNITS, LONG_NAME].contains(&&*attribute.name) && attribute.value.as_str().is_some()
}
