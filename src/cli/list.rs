//! `ra-pack list`

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use ra_pack::{Listed, ListedArray, Listing, MemberKind, Patterns, escape};

use super::args::Common;
use super::output::{Output, human_bytes};
use super::{Ending, Failure, diagnostics};

/// Show members with type, shape, order, size and description.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack list exp.zip
  ra-pack list exp.zip 'run1/*.ra'
  ra-pack list --json exp.zip | jq '.members[].array.shape'")]
pub(crate) struct List {
    /// The archive or directory.
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// What to show; everything when there are none.
    #[arg(value_name = "GLOB")]
    patterns: Vec<String>,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &List, output: &Output) -> Result<Ending, Failure> {
    let patterns = Patterns::new(&args.patterns)?;
    let listing = ra_pack::list(&args.target, &patterns, args.common.jobs)?;
    for finding in &listing.findings {
        output.message(&diagnostics::finding(&args.target, finding, output.color_err()));
    }
    let ending = if listing.findings.iter().any(ra_pack::Finding::is_error) {
        Ending::Findings
    } else if listing.members().len() == 0 && !patterns.is_empty() {
        output.message("ra-pack: no member matches");
        Ending::Failed
    } else {
        Ending::Clean
    };
    if args.common.json {
        output.json_pieces(&listing)?;
    } else {
        output.pieces(|out| table(&listing, out))?;
    }
    Ok(ending)
}

/// Aligned columns: name, size, type, shape, what it is.
fn table(listing: &Listing, out: &mut dyn Write) -> io::Result<()> {
    let mut row = Row::default();
    let mut widths = [0; 5];
    for member in listing.members() {
        row.fill(&member);
        for (width, cell) in widths.iter_mut().zip(&row.cells) {
            *width = (*width).max(columns(cell));
        }
    }
    for member in listing.members() {
        row.fill(&member);
        out.write_all(row.line(widths).as_bytes())?;
    }
    if listing.members().len() == 0 {
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The cells of one member, in room that is used for the next one again.
#[derive(Default)]
struct Row {
    cells: [String; 5],
    line: String,
}

impl Row {
    fn fill(&mut self, member: &Listed<'_>) {
        self.cells.iter_mut().for_each(String::clear);
        let [name, size, element, shape, title] = &mut self.cells;
        put(name, format_args!("{}", escape(member.name)));
        if member.kind == MemberKind::Directory {
            name.push('/');
        } else {
            size.push_str(&human_bytes(member.size));
        }
        if let Some(array) = &member.array {
            element.push_str(&array.element);
            push_shape(shape, array);
            match (&array.title, array.described) {
                (Some(text), _) => put(title, format_args!("{}", escape(text))),
                (None, true) => {}
                (None, false) => title.push_str("not described"),
            }
        }
        if !matches!(&*member.method, "stored" | "solid") {
            let comma = if title.is_empty() { "" } else { ", " };
            let packed = human_bytes(member.packed_size);
            put(title, format_args!("{comma}{} to {packed}", member.method));
        }
    }

    fn line(&mut self, widths: [usize; 5]) -> &str {
        let Self { cells, line } = self;
        line.clear();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let padding = width.saturating_sub(columns(cell));
            line.push_str(if column == 0 { "" } else { "  " });
            // Sizes are numbers, so they stand to the right.
            if column == 1 {
                pad(line, padding);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                pad(line, padding);
            }
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// How many columns a cell takes. Most are ASCII, which is quickly seen.
fn columns(cell: &str) -> usize {
    if cell.is_ascii() { cell.len() } else { cell.chars().count() }
}

fn pad(line: &mut String, mut padding: usize) {
    const BLANKS: &str = "                                ";
    while padding > 0 {
        let blanks = BLANKS.get(..padding).unwrap_or(BLANKS);
        line.push_str(blanks);
        padding = padding.saturating_sub(blanks.len());
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
