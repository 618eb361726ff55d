//! `ra-pack list`

mod row;
mod table;
mod tree;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ra_pack::{ListOptions, ListOrder, Listing, MemberKind, Patterns, escape};

use self::row::Row;
use self::table::Table;
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
    for finding in &listing.findings {
        output.message(&diagnostics::finding(&args.target, finding, output.color_err()));
    }
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
        output.json_pieces(&listing)?;
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

/// What there is of everything that is listed.
#[derive(Debug, Default, Clone, Copy)]
struct Totals {
    arrays: u64,
    files: u64,
    bytes: u64,
    packed: u64,
}

impl Totals {
    fn add(&mut self, member: &ra_pack::Listed<'_>) {
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

type Take<'a> = dyn FnMut(&Row, Option<&ra_pack::Listed<'_>>) -> io::Result<()> + 'a;

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
