//! `ra-pack list`: a table of the members, or a tree.
//!
//! Members are sorted in the order of the tree, so a directory is a contiguous range and no tree is built. A directory
//! that holds only another directory shares its line, so there are at most twice as many lines as members, however
//! deep the names are.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use clap::builder::styling::{AnsiColor, Style};
use ra_pack::archive::MemberKind;
use ra_pack::inspect::{ListOptions, ListOrder, Listed, Listing, Patterns};
use ra_pack::path::escape;

use super::array::{attribute_rows, extents};
use super::common::{Choices, Common, words};
use super::output::Output;
use super::table::{BRANCH, Cell, GAP, Table, aligned};
use super::text::{BOLD, DIM, counted, fit, human_bytes};
use super::{Ending, Failure, diagnostics};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Patterns: `*` and `?` match within a directory, `**` across directories. A pattern without a slash
matches in every directory, one with a slash from the top. A pattern that matches a directory
matches everything in it.

Examples:
  ra-pack list exp.zip
  ra-pack list exp.zip --all
  ra-pack list exp.zip 'run1/*.ra' '**/time.*'
  ra-pack list exp.zip --tree --arrays
  ra-pack list exp.zip --sort size | head
  ra-pack list exp.zip --arrays -0 | xargs -0 -n1 ra-pack info exp.zip --
  ra-pack list --json exp.zip | jq '.members[].array.shape'")]
pub(crate) struct ListArgs {
    /// Archive, directory or array (.ra).
    #[arg(value_name = "TARGET")]
    pub(super) target: PathBuf,

    /// Show members that match [default: all].
    #[arg(value_name = "GLOB")]
    patterns: Vec<String>,

    /// Also show descriptions of arrays, manifests and tag files of bags.
    #[arg(short, long, conflicts_with = "arrays")]
    all: bool,

    /// Show only arrays.
    #[arg(long)]
    arrays: bool,

    /// Also show the packed size, the offset of the data in the archive, and the digest.
    #[arg(short, long)]
    long: bool,

    /// Show directories as a tree, with the number and size of arrays.
    #[arg(short, long, conflicts_with_all = ["sort", "reverse", "json"])]
    tree: bool,

    /// Sort by this column.
    #[arg(short, long, value_name = "KEY", default_value = "name", value_parser = words(KEYS))]
    sort: ListOrder,

    /// Reverse the order.
    #[arg(short, long)]
    reverse: bool,

    /// Print only names, one per line, with control characters escaped.
    #[arg(long, conflicts_with_all = ["tree", "long", "json"])]
    names: bool,

    /// Print only names, unchanged and ending in a NUL byte, for `xargs -0`.
    #[arg(short = '0', long, conflicts_with_all = ["tree", "long", "json"])]
    null: bool,

    #[command(flatten)]
    common: Common,
}

const KEYS: &Choices<ListOrder> = &[
    ("name", ListOrder::Name, "By name"),
    ("size", ListOrder::Size, "By size, largest first"),
    ("type", ListOrder::Type, "By element type, other files last"),
    ("packed", ListOrder::Packed, "By size in the archive, largest first"),
];

pub(super) fn run(args: &ListArgs, output: &Output) -> Result<Ending, Failure> {
    let mut options = ListOptions {
        patterns: Patterns::new(&args.patterns)?,
        arrays: args.arrays,
        ..ListOptions::default()
    };
    let is_for_programs = args.common.json || args.null || args.names;
    options.hide_descriptions = !args.all && !is_for_programs;
    options.only_names = (args.names || args.null) && !args.common.json;
    options.order = if args.tree { ListOrder::Tree } else { args.sort };
    options.reverse = args.reverse;
    options.digests = args.long;
    options.jobs = args.common.jobs;
    options.progress = output.progress();
    let listing = ra_pack::list(&args.target, &options)?;
    diagnostics::show(&args.target, &listing.findings, &[], output);
    let mut ending = Ending::of(&listing.findings);
    let is_chosen = !args.patterns.is_empty() || args.arrays;
    if ending == Ending::Clean && listing.members().len() == 0 && is_chosen {
        let noun = if args.arrays { "array" } else { "member" };
        output.message(&diagnostics::nothing_matches(&args.target, noun, &args.patterns));
        ending = Ending::Failed;
    }
    if args.common.json {
        output.json(&listing)?;
    } else if args.null || args.names {
        output.pieces(|out| names(&listing, args.null, out))?;
    } else {
        output.pieces(|out| draw(&listing, args, output, out))?;
    }
    Ok(ending)
}

/// Prints all names, for programs.
fn names(listing: &Listing, null: bool, out: &mut dyn Write) -> io::Result<()> {
    for (name, kind) in listing.names() {
        if null {
            out.write_all(name.as_bytes())?;
            out.write_all(b"\0")?;
        } else {
            let slash = if kind == MemberKind::Directory { "/" } else { "" };
            writeln!(out, "{}{slash}", escape(name))?;
        }
    }
    Ok(())
}

/// Totals over all listed members.
#[derive(Debug, Default, Clone, Copy)]
struct Totals {
    arrays: u64,
    files: u64,
    bytes: u64,
    packed: u64,
}

impl Totals {
    fn add(&mut self, member: &Listed<'_>) {
        if member.kind != MemberKind::Directory {
            self.arrays += u64::from(member.array.is_some());
            self.files += 1;
            self.bytes = self.bytes.saturating_add(member.bytes);
            self.packed = self.packed.saturating_add(member.packed_bytes);
        }
    }

    /// Formats `8 arrays and 2 other files, 13 KiB`.
    fn in_words(&self) -> String {
        let arrays = counted(self.arrays, "array");
        let files = match (self.arrays, self.files - self.arrays) {
            (0, others) => counted(others, "file"),
            (_, 0) => arrays,
            (_, others) => format!("{arrays} and {}", counted(others, "other file")),
        };
        let packed = match self.packed {
            packed if packed == self.bytes => String::new(),
            packed => format!(", {} packed", human_bytes(packed)),
        };
        format!("{files}, {}{packed}", human_bytes(self.bytes))
    }
}

/// Prints aligned columns, each as wide as its widest cell. Makes every row twice, so that none is kept in memory.
fn draw(list: &Listing, args: &ListArgs, output: &Output, out: &mut dyn Write) -> io::Result<()> {
    let limit = output.width().unwrap_or(usize::MAX);
    if args.long && !list.attributes.is_empty() {
        for line in aligned(&attribute_rows(&list.attributes), [false; 2], usize::MAX) {
            writeln!(out, "{}", fit(&line, limit))?;
        }
        writeln!(out)?;
    }
    let mut table = Table::new(HEADINGS, limit, output.color_out);
    let has_heading = output.is_terminal() && !output.quiet;
    let mut totals = Totals::default();
    each_row(list, args, output, &mut |cells, member| {
        table.make_room(cells);
        if let Some(member) = member {
            totals.add(member);
        }
        Ok(())
    })?;
    if !args.long {
        shrink(&mut table, args.tree);
    }
    if has_heading && totals.files > 0 {
        out.write_all(table.heading().as_bytes())?;
    }
    each_row(list, args, output, &mut |cells, _| out.write_all(table.line(cells).as_bytes()))?;
    if has_heading && list.members().len() > 0 && !args.tree {
        let mut text = totals.in_words();
        if list.hidden > 0 {
            let hidden = counted(list.hidden, "description");
            text = format!("{text}; --all also shows {hidden} and manifests");
        }
        writeln!(out, "{}", table.painted(&Cell { text, style: DIM }, usize::MAX))?;
    }
    Ok(())
}

/// Makes the rows of the table, each with its member.
fn each_row(
    listing: &Listing,
    args: &ListArgs,
    output: &Output,
    take: &mut dyn FnMut(&Cells, Option<&Listed<'_>>) -> io::Result<()>,
) -> io::Result<()> {
    let short = output.is_terminal();
    if !args.tree {
        return listing.members().try_for_each(|member| {
            let name = escape(member.name).to_string();
            take(&member_row(name, &member, args.long, short), Some(&member))
        });
    }
    let leaves = listing.members().enumerate().map(|(index, member)| {
        let Listed { name, kind, .. } = member;
        let size = if kind == MemberKind::Directory { 0 } else { member.bytes };
        Leaf { index, name, size, kind, is_array: member.array.is_some() }
    });
    let root = ra_pack::path::escape_path(&args.target).to_string();
    walk(root, &leaves.collect::<Vec<_>>(), &mut |name, branch| match branch {
        Branch::Group(leaves) => take(&group_row(name, leaves), None),
        Branch::Member(leaf) => {
            let member = listing.member(leaf.index);
            take(&member_row(name, &member, args.long, short), Some(&member))
        }
    })
}

/// Digits of a digest that are shown on a terminal: enough to distinguish two files.
const DIGITS: usize = 12;

/// Returns the row of a member; `short` is for a terminal.
fn member_row(branch: String, member: &Listed<'_>, long: bool, short: bool) -> Cells {
    let mut cells = Cells::default();
    let [name, size, packed, at, element, shape, method, digest, title] = &mut cells;
    name.text = branch;
    match member.kind {
        MemberKind::Directory => {
            name.text.push('/');
            name.style = DIRECTORY;
            return cells;
        }
        MemberKind::Link => title.text.push_str("a link"),
        MemberKind::Special => title.text.push_str("a special file"),
        _ => {}
    }
    size.text = human_bytes(member.bytes);
    if let Some(array) = &member.array {
        name.style = BOLD;
        element.style = TYPE;
        element.text = array.type_name();
        if let Err(why) = array.element {
            *title = Cell { text: escape(&why.to_string()).to_string(), style: WARNING };
        } else {
            shape.text = extents(array.dimensions.iter().copied().zip(&array.shape), array.order);
            match &array.title {
                Some(text) => title.text = escape(text).to_string(),
                None if array.described => {}
                None => *title = Cell { text: "not described".to_owned(), style: WARNING },
            }
        }
    }
    if member.method.is_compressed() {
        let percent = (u128::from(member.packed_bytes) * 100).checked_div(member.bytes.into());
        let percent = percent.map_or(String::new(), |percent| format!(" {percent}%"));
        *method = Cell { text: format!("{}{percent}", member.method), style: DIM };
    }
    if long {
        packed.text = human_bytes(member.packed_bytes);
        let offset = member.archive_data_offset.map(|offset| offset.to_string());
        *at = Cell { text: offset.unwrap_or_default(), style: DIM };
        let len = if short { DIGITS } else { usize::MAX };
        let digits = member.sha256.map_or(String::new(), |digest| digest.to_string());
        *digest = Cell { text: digits.chars().take(len).collect(), style: DIM };
    }
    cells
}

/// Returns the row of a directory of a tree.
fn group_row(branch: String, leaves: &[Leaf<'_>]) -> Cells {
    let mut cells = Cells::default();
    let [name, size, _, _, element, ..] = &mut cells;
    *name = Cell { text: branch, style: DIRECTORY };
    size.text = human_bytes(leaves.iter().fold(0, |sum: u64, leaf| sum.saturating_add(leaf.size)));
    let arrays = leaves.iter().filter(|leaf| leaf.is_array).count();
    *element = Cell { text: counted(arrays, "array"), style: TYPE };
    cells
}

/// Number of columns of the table.
const COLUMNS: usize = 9;

type Cells = [Cell; COLUMNS];

/// Headings of the columns, and whether they are aligned to the right, as numbers are.
const HEADINGS: [(&str, bool); COLUMNS] = [
    ("NAME", false),
    ("SIZE", true),
    ("PACKED", true),
    ("DATA AT", true),
    ("TYPE", false),
    ("SHAPE", false),
    ("PACKED TO", false),
    ("SHA-256", false),
    ("TITLE", false),
];

const DIRECTORY: Style = AnsiColor::Blue.on_default().bold();
const TYPE: Style = AnsiColor::Cyan.on_default();
const WARNING: Style = AnsiColor::Yellow.on_default();

/// Index of the column of sizes.
const SIZE: usize = 1;
/// Index of the column of titles, the last.
const TITLE: usize = COLUMNS - 1;
/// Smallest width for a column of titles that are longer.
const LEAST_TITLE: usize = 24;
/// Omits sizes if the screen is too narrow for all columns: they follow from shape and type. Where that is not enough,
/// titles go below the other cells, unless these are lines of a tree.
fn shrink(table: &mut Table<COLUMNS>, is_tree: bool) {
    let has_shapes = table.widths.iter().skip(SIZE + 1).any(|width| *width > 0);
    if table.width() <= table.limit || !has_shapes {
        return;
    }
    let size = std::mem::take(&mut table.widths[SIZE]);
    let title = table.widths[TITLE];
    let room = (table.limit + title).saturating_sub(table.width());
    if !is_tree && room < title.min(LEAST_TITLE) {
        table.is_last_below = true;
        table.widths[TITLE] = 0;
        if table.width() + size + GAP <= table.limit {
            table.widths[SIZE] = size;
        }
    }
}

/// Facts about a member that the tree shows.
struct Leaf<'a> {
    /// Index of the member.
    index: usize,
    name: &'a str,
    size: u64,
    kind: MemberKind,
    is_array: bool,
}

/// Subject of a line of the tree.
enum Branch<'t, 'a> {
    /// A directory with its members.
    Group(&'t [Leaf<'a>]),
    /// A member; indices increase from line to line.
    Member(&'t Leaf<'a>),
}

/// Passes every line to `line`: the branches with the name, and its subject.
fn walk(
    root: String,
    leaves: &[Leaf<'_>],
    take: &mut dyn FnMut(String, Branch<'_, '_>) -> io::Result<()>,
) -> io::Result<()> {
    take(root, Branch::Group(leaves))?;
    let mut lead = String::new();
    // For each open directory: remaining members, length of their common path, and length of the branches before its
    // lines.
    let mut open = vec![(leaves, 0, 0)];
    while let Some((rest, begin, indent)) = open.last_mut() {
        let begin = *begin;
        let Some((own, mut below, others)) = split(rest, begin) else {
            open.pop();
            continue;
        };
        *rest = others;
        lead.truncate(*indent);
        let name = |is_last: bool, name: &str, end: usize| {
            let branch = if is_last { '└' } else { '├' };
            format!("{lead}{branch}{BRANCH}{}", escape(name.get(begin..end).unwrap_or_default()))
        };
        // A file with the name of a directory, which only a malformed archive has, comes before it.
        let shown =
            own.iter().filter(|leaf| below.is_empty() || leaf.kind != MemberKind::Directory);
        let last = own.last().filter(|_| below.is_empty() && others.is_empty());
        for leaf in shown {
            let is_last = last.is_some_and(|last| last.index == leaf.index);
            take(name(is_last, leaf.name, leaf.name.len()), Branch::Member(leaf))?;
        }
        let Some(mut first) = below.first() else { continue };
        let mut at = begin + part(first.name, begin).len() + 1;
        while let Some((own, inner @ [next, ..], [])) = split(below, at)
            && own.iter().all(|leaf| leaf.kind == MemberKind::Directory)
        {
            at += part(next.name, at).len() + 1;
            (first, below) = (next, inner);
        }
        take(name(others.is_empty(), first.name, at), Branch::Group(below))?;
        lead.push_str(if others.is_empty() { "    " } else { "│   " });
        open.push((below, at, lead.len()));
    }
    Ok(())
}

/// Returns the component of a name that begins at offset `at`.
fn part(name: &str, at: usize) -> &str {
    name.get(at..).and_then(|rest| rest.split('/').next()).unwrap_or_default()
}

/// Members whose name ends with the first component, members in the directory of that name, and all others.
type Stretches<'t, 'a> = (&'t [Leaf<'a>], &'t [Leaf<'a>], &'t [Leaf<'a>]);

/// Splits members by the component at offset `at` of the first one.
fn split<'t, 'a>(leaves: &'t [Leaf<'a>], at: usize) -> Option<Stretches<'t, 'a>> {
    let shared = part(leaves.first()?.name, at);
    let same = leaves.partition_point(|leaf| part(leaf.name, at) == shared);
    let (same, others) = leaves.split_at(same.max(1));
    let own = same.partition_point(|leaf| leaf.name.len() <= at + shared.len());
    let (own, below) = same.split_at(own);
    Some((own, below, others))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::text::{CUT, columns};
    use super::*;

    fn cells(name: &str, size: &str, title: &str) -> Cells {
        let mut cells = Cells::default();
        cells[0].text = name.to_owned();
        cells[1].text = size.to_owned();
        cells[8].text = title.to_owned();
        cells
    }

    fn table(limit: usize) -> Table<COLUMNS> {
        Table::new(HEADINGS, limit, false)
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = table(usize::MAX);
        let (wide, other) = (cells("温度.ra", "9 B", "x"), cells("depth.ra", "10 B", "y"));
        table.make_room(&wide);
        table.make_room(&other);
        assert_eq!(table.line(&wide), "温度.ra    9 B  x\n");
        assert_eq!(table.line(&other), "depth.ra  10 B  y\n");
    }

    #[test]
    fn long_titles_go_below_on_a_narrow_screen() {
        let mut cells = cells(
            "thermistors/temperature.ra",
            "5.8 KiB",
            "temperature of the water [degree_Celsius]",
        );
        cells[4].text = "float32".to_owned();
        cells[5].text = "[depth 10, time 149]".to_owned();
        let first = "thermistors/temperature.ra  5.8 KiB  float32  [depth 10, time 149]";
        let shown = |limit: usize, is_tree: bool| {
            let mut table = table(limit);
            table.make_room(&cells);
            shrink(&mut table, is_tree);
            table.line(&cells)
        };
        let below = "temperature of the water [degree_Celsius]";
        assert_eq!(shown(120, false), format!("{first}  {below}\n"));
        assert_eq!(shown(80, false), format!("{first}\n    {below}\n"));
        let without_size = first.replace("  5.8 KiB", "");
        assert_eq!(shown(100, false), format!("{without_size}  {below}\n"));
        assert!(shown(80, true).starts_with(&format!("{without_size}  temperature")));
    }

    proptest! {
        /// No line is wider than the screen, and no cell is cut if all fit.
        #[test]
        fn no_line_is_wider_than_the_screen(
            rows in proptest::collection::vec(("[a温é]{1,30}", "[0-9]{1,7}", "[b度 ]{0,40}"), 1..6),
            limit in 4_usize..100,
        ) {
            let (mut table, mut free) = (table(limit), table(usize::MAX));
            let rows: Vec<_> = rows.iter().map(|(a, b, c)| cells(a, b, c.trim())).collect();
            for row in &rows { table.make_room(row); free.make_room(row); }
            for row in &rows {
                let line = table.line(row);
                prop_assert!(columns(line.trim_end()) <= limit, "{line:?}");
                let whole = free.line(row);
                prop_assert!(!whole.contains(CUT));
                if columns(whole.trim_end()) <= limit && columns(&row[0].text) <= limit / 2 {
                    prop_assert!(!line.contains(CUT));
                }
            }
        }
    }
}
