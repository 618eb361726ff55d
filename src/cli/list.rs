//! `ra-pack list`

use ra_pack::{Listed, ListedArray, MemberKind, Patterns, escape};

use super::args::List;
use super::output::{Output, human_bytes};
use super::{Ending, Failure, diagnostics};

pub(super) fn run(args: &List, output: &Output) -> Result<Ending, Failure> {
    let patterns = Patterns::new(&args.patterns)?;
    let listing = ra_pack::list(&args.target, &patterns, args.common.jobs)?;
    for finding in &listing.findings {
        output.message(&diagnostics::finding(&args.target, finding, output.color_err()));
    }
    let ending = if listing.findings.iter().any(ra_pack::Finding::is_error) {
        Ending::Findings
    } else if listing.members.is_empty() && !patterns.is_empty() {
        output.message("ra-pack: no member matches");
        Ending::Failed
    } else {
        Ending::Clean
    };
    if args.common.json {
        output.json(&listing)?;
    } else {
        output.result(&table(&listing.members))?;
    }
    Ok(ending)
}

/// Aligned columns: name, size, type, shape, what it is.
fn table(members: &[Listed]) -> String {
    let rows: Vec<[String; 5]> = members.iter().map(row).collect();
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            // Sizes are numbers, so they stand to the right.
            if column == 1 {
                line.extend([gap, padding.as_str(), cell.as_str()]);
            } else {
                line.extend([gap, cell.as_str(), padding.as_str()]);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(member: &Listed) -> [String; 5] {
    let slash = if member.kind == MemberKind::Directory { "/" } else { "" };
    let name = format!("{}{slash}", escape(&member.name));
    let size = if slash.is_empty() { human_bytes(member.size) } else { String::new() };
    let (element, shape, mut title) = match &member.array {
        Some(array) => (array.element.clone(), shape(array), title(array)),
        None => (String::new(), String::new(), String::new()),
    };
    if !matches!(member.method.as_str(), "stored" | "solid") {
        let packed = format!("{} to {}", member.method, human_bytes(member.packed_size));
        title = if title.is_empty() { packed } else { format!("{title}, {packed}") };
    }
    [name, size, element, shape, title]
}

fn shape(array: &ListedArray) -> String {
    let extents: Vec<String> = array
        .shape
        .iter()
        .zip(&array.dimensions)
        .map(|(length, name)| match name {
            Some(name) => format!("{} {length}", escape(name)),
            None => length.to_string(),
        })
        .collect();
    let order = if array.order == "column" { String::new() } else { format!(" {}", array.order) };
    format!("[{}]{order}", extents.join(", "))
}

fn title(array: &ListedArray) -> String {
    match (&array.title, array.described) {
        (Some(title), _) => escape(title).to_string(),
        (None, true) => String::new(),
        (None, false) => "not described".to_owned(),
    }
}
