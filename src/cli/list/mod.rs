//! `ra-pack list`

mod table;
mod tree;

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ra_pack::{ListOptions, ListOrder, Listed, ListedArray, Listing, MemberKind, Patterns, escape};

use self::table::{COLUMNS, Cells, Look, Table};
use self::tree::{Branch, Tree};
use super::args::Common;
use super::numbers::{counted, human_bytes};
use super::output::Output;
use super::{Ending, Failure, diagnostics};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Patterns: `*` and `?` stay within a directory, `**` does not. One without a slash matches in every
directory, one with a slash from the top; what matches a directory matches all that is in it.

Examples:
  ra-pack list exp.zip
  ra-pack list exp.zip 'run1/*.ra' '**/time.*'
  ra-pack list exp.zip --tree --arrays
  ra-pack list exp.zip --sort size | head
  ra-pack list exp.zip --arrays -0 | xargs -0 -n1 ra-pack info exp.zip --
  ra-pack list --json exp.zip | jq '.members[].array.shape'")]
pub(crate) struct List {
    /// The archive or directory.
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// What to show; everything when there are none.
    #[arg(value_name = "GLOB")]
    patterns: Vec<String>,

    /// Show arrays alone.
    #[arg(short, long)]
    arrays: bool,

    /// Show the packed size, where the data begins in the archive, and the digest in the manifest.
    #[arg(short, long)]
    long: bool,

    /// Draw the directories as a tree, each with its arrays and bytes.
    #[arg(short, long, conflicts_with_all = ["sort", "reverse", "json"])]
    tree: bool,

    /// What stands first.
    #[arg(short, long, value_name = "KEY", default_value = "name")]
    sort: Sort,

    /// Show the last first.
    #[arg(short, long)]
    reverse: bool,

    /// Print names alone, one on each line; what a terminal would obey is escaped.
    #[arg(long, conflicts_with_all = ["tree", "long", "json"])]
    names: bool,

    /// Print names alone, as they are, each followed by a NUL byte: for `xargs -0`.
    #[arg(short = '0', long, conflicts_with_all = ["tree", "long", "json"])]
    null: bool,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sort {
    /// By name.
    Name,
    /// The largest first.
    Size,
    /// By the type of elements, other files last.
    Type,
    /// What takes most room in the archive first.
    Packed,
}

impl From<Sort> for ListOrder {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Name => Self::Name,
            Sort::Size => Self::Size,
            Sort::Type => Self::Type,
            Sort::Packed => Self::Packed,
        }
    }
}

pub(super) fn run(args: &List, output: &Output) -> Result<Ending, Failure> {
    let options = ListOptions {
        patterns: Patterns::new(&args.patterns)?,
        arrays: args.arrays,
        order: if args.tree { ListOrder::Tree } else { args.sort.into() },
        reverse: args.reverse,
        digests: args.long,
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    let listing = ra_pack::list(&args.target, &options)?;
    diagnostics::show(&args.target, &listing.findings, &[], output);
    let ending = if listing.findings.iter().any(ra_pack::Finding::is_error) {
        Ending::Findings
    } else if listing.members().len() == 0 && (!args.patterns.is_empty() || args.arrays) {
        let noun = if args.arrays { "array" } else { "member" };
        output.message(&diagnostics::nothing_matches(&args.target, noun, &args.patterns));
        Ending::Failed
    } else {
        Ending::Clean
    };
    if args.common.json {
        output.json(&listing)?;
    } else if args.null || args.names {
        output.pieces(|out| names(&listing, args.null, out))?;
    } else {
        output.pieces(|out| table(&listing, args, output, out))?;
    }
    Ok(ending)
}

/// Every name, for programs.
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

/// Sums over everything that is listed.
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
            let is_array = u64::from(member.array.is_some());
            self.arrays = self.arrays.saturating_add(is_array);
            self.files = self.files.saturating_add(1);
            self.bytes = self.bytes.saturating_add(member.size);
            self.packed = self.packed.saturating_add(member.packed_size);
        }
    }

    /// `8 arrays and 2 other files, 13 KiB`
    fn in_words(&self) -> String {
        let others = self.files.saturating_sub(self.arrays);
        let files = match (self.arrays, others) {
            (0, others) => counted(others, "file"),
            (arrays, 0) => counted(arrays, "array"),
            (arrays, others) => {
                format!("{} and {}", counted(arrays, "array"), counted(others, "other file"))
            }
        };
        let packed = match self.packed {
            packed if packed == self.bytes => String::new(),
            packed => format!(", {} packed", human_bytes(packed)),
        };
        format!("{files}, {}{packed}", human_bytes(self.bytes))
    }
}

/// Aligned columns, each as wide as its widest cell: every row is made twice, since none is kept.
fn table(listing: &Listing, args: &List, output: &Output, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(output.width(), output.color_out());
    let mut row = Row::new(args.long, output.is_terminal());
    let has_heading = output.is_terminal() && !output.is_quiet();
    let mut totals = Totals::default();
    let tree = args.tree.then(|| Tree::new(listing, &args.target));
    each_row(listing, tree.as_ref(), &mut row, &mut |row, member| {
        table.make_room(&row.cells);
        if let Some(member) = member {
            totals.add(member);
        }
        Ok(())
    })?;
    if has_heading && totals.files > 0 {
        out.write_all(table.heading().as_bytes())?;
    }
    each_row(listing, tree.as_ref(), &mut row, &mut |row, _| {
        out.write_all(table.line(&row.cells, row.looks()).as_bytes())
    })?;
    if has_heading && listing.members().len() > 0 && !args.tree {
        out.write_all(table.remark(&totals.in_words()).as_bytes())?;
    }
    Ok(())
}

type Take<'a> = dyn FnMut(&Row, Option<&Listed<'_>>) -> io::Result<()> + 'a;

/// Fills the row for every line of the table.
fn each_row(
    listing: &Listing,
    tree: Option<&Tree<'_>>,
    row: &mut Row,
    take: &mut Take<'_>,
) -> io::Result<()> {
    let mut members = listing.members();
    let Some(tree) = tree else {
        return members.try_for_each(|member| {
            row.fill(&member, None);
            take(row, Some(&member))
        });
    };
    let mut next = 0_usize;
    tree.walk(&mut |line| {
        match line.what {
            Branch::Group { arrays, bytes } => row.fill_group(&line.name, arrays, bytes),
            Branch::Member(index) => {
                let Some(member) = members.nth(index.saturating_sub(next)) else { return Ok(()) };
                next = index.saturating_add(1);
                row.fill(&member, Some(&line.name));
                return take(row, Some(&member));
            }
        }
        take(row, None)
    })
}

/// Digits of a digest that are shown on a screen: enough to tell two files apart.
const DIGITS: usize = 12;

/// The cells of one line.
struct Row {
    cells: Cells,
    long: bool,
    /// Whether people read it on a screen.
    short: bool,
    name: Look,
    title: Look,
}

impl Row {
    fn new(long: bool, short: bool) -> Self {
        Self { cells: Cells::default(), long, short, name: Look::Plain, title: Look::Plain }
    }

    /// A member; `branch` is what a tree shows in the place of its name.
    fn fill(&mut self, member: &Listed<'_>, branch: Option<&str>) {
        self.cells.iter_mut().for_each(String::clear);
        let [name, size, packed, at, element, shape, method, digest, title] = &mut self.cells;
        match branch {
            Some(branch) => name.push_str(branch),
            None => put(name, format_args!("{}", escape(member.name))),
        }
        self.name = Look::Plain;
        self.title = Look::Plain;
        match member.kind {
            MemberKind::Directory => {
                name.push('/');
                self.name = Look::Directory;
                return;
            }
            MemberKind::Link => title.push_str("a link"),
            MemberKind::Special => title.push_str("a special file"),
            MemberKind::File => {}
        }
        size.push_str(&human_bytes(member.size));
        if let Some(array) = &member.array {
            self.name = Look::Array;
            match array.element.strip_prefix("unreadable: ") {
                Some(why) => {
                    element.push_str("unreadable");
                    put(title, format_args!("{}", escape(why)));
                    self.title = Look::Warning;
                }
                None => {
                    element.push_str(&array.element);
                    push_shape(shape, array);
                    match (&array.title, array.described) {
                        (Some(text), _) => put(title, format_args!("{}", escape(text))),
                        (None, true) => {}
                        (None, false) => {
                            title.push_str("not described");
                            self.title = Look::Warning;
                        }
                    }
                }
            }
        }
        if !matches!(&*member.method, "stored" | "solid") {
            method.push_str(&member.method);
            let parts = u128::from(member.packed_size).saturating_mul(100);
            if let Some(percent) = parts.checked_div(member.size.into()) {
                put(method, format_args!(" {percent}%"));
            }
        }
        if self.long {
            packed.push_str(&human_bytes(member.packed_size));
            if let Some(offset) = member.archive_data_offset {
                put(at, format_args!("{offset}"));
            }
            if let Some(sha256) = &member.sha256 {
                digest.push_str(sha256);
                if self.short {
                    digest.truncate(DIGITS);
                }
            }
        }
    }

    /// A directory of a tree.
    fn fill_group(&mut self, branch: &str, arrays: u64, bytes: u64) {
        self.cells.iter_mut().for_each(String::clear);
        let [name, size, _, _, element, ..] = &mut self.cells;
        name.push_str(branch);
        size.push_str(&human_bytes(bytes));
        element.push_str(&counted(arrays, "array"));
        self.name = Look::Directory;
    }

    /// How its cells look.
    fn looks(&self) -> [Look; COLUMNS] {
        let (plain, dim) = (Look::Plain, Look::Dim);
        [self.name, plain, plain, dim, Look::Type, plain, dim, dim, self.title]
    }
}

fn push_shape(shape: &mut String, array: &ListedArray<'_>) {
    shape.push('[');
    for (nth, (length, name)) in array.shape.iter().zip(&array.dimensions).enumerate() {
        shape.push_str(if nth == 0 { "" } else { ", " });
        match name {
            Some(name) => put(shape, format_args!("{} {length}", escape(name))),
            None => put(shape, format_args!("{length}")),
        }
    }
    shape.push(']');
    if array.order != "column" {
        put(shape, format_args!(" {}", array.order));
    }
}

/// Appends what is formatted; a text takes everything.
fn put(text: &mut String, what: fmt::Arguments<'_>) {
    let _ = text.write_fmt(what);
}
