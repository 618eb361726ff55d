//! `ra-pack diff`

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use ra_pack::{ArrayDiff, DiffOptions, DiffPlace, Distance, ElementsDiff, escape};

use super::output::{Output, counted};
use super::{Ending, Failure};

/// Compare two arrays, element by element in their own type.
///
/// Two elements that are not numbers (NaN) are equal. Byte order, encoding and, where descriptions tell of
/// it, the order of dimensions may differ: elements with the same index are compared. With --l1, --l2 or
/// --max one number is printed, the distance over all elements.
///
/// Exit status: 0 nothing differs by more than is tolerated; 1 something does; 2 they could not be compared.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["l1", "l2", "max", "json"]))]
#[command(after_long_help = "\
Examples:
  ra-pack diff before.ra after.ra
  ra-pack diff --tolerance 1e-6 before.ra after.ra
  ra-pack diff --max before.ra after.ra")]
pub(crate) struct Diff {
    /// An array (.ra).
    #[arg(value_name = "A")]
    a: PathBuf,

    /// The array to compare it with.
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Count elements as equal whose distance is no more than this.
    #[arg(long, value_name = "DISTANCE", default_value_t = 0.0, value_parser = distance, allow_negative_numbers = true)]
    tolerance: f64,

    /// Count elements as equal whose distance is no more than this part of the magnitude in B.
    #[arg(long, value_name = "PART", default_value_t = 0.0, value_parser = distance, allow_negative_numbers = true)]
    relative: f64,

    /// Print the sum of all distances, and nothing else.
    #[arg(long)]
    l1: bool,

    /// Print the square root of the sum of all squared distances, and nothing else.
    #[arg(long)]
    l2: bool,

    /// Print the largest distance, and nothing else.
    #[arg(long)]
    max: bool,

    /// Print the result as JSON on standard output.
    #[arg(long)]
    json: bool,
}

fn distance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        _ => Err("expected a number of at least 0".to_owned()),
    }
}

pub(super) fn run(args: &Diff, output: &Output) -> Result<Ending, Failure> {
    let options = DiffOptions { tolerance: args.tolerance, relative: args.relative };
    let diff = ra_pack::diff_arrays(&args.a, &args.b, &options)?;
    if args.json {
        output.json(&diff)?;
    } else if args.l1 || args.l2 || args.max {
        let Some(Distance { l1, l2, max }) = diff.elements.as_ref().and_then(|e| e.distance) else {
            return Err(ra_pack::Error::Unsupported(no_distance(&diff)).into());
        };
        let number = match (args.l1, args.l2) {
            (true, _) => l1,
            (_, true) => l2,
            _ => max,
        };
        output.result(&number.to_string())?;
    } else if !diff.is_same() || has_distance(&diff) {
        output.result(&text(&diff))?;
    }
    Ok(if diff.is_same() { Ending::Clean } else { Ending::Findings })
}

/// Why there is no number to print.
fn no_distance(diff: &ArrayDiff) -> String {
    match diff.elements {
        Some(_) => format!("{} elements are no numbers, and have no distance", diff.element),
        None => {
            let fields: Vec<_> = diff
                .header
                .iter()
                .map(|field| format!("{} {} and {}", field.field, field.a, field.b))
                .collect();
            format!("the arrays have no distance: {}", fields.join("; "))
        }
    }
}

/// Whether elements differ within what is tolerated.
fn has_distance(diff: &ArrayDiff) -> bool {
    diff.elements.as_ref().is_some_and(|elements| elements.furthest.is_some())
}

fn text(diff: &ArrayDiff) -> String {
    let name = |path: &PathBuf| escape(&path.to_string_lossy()).to_string();
    let mut lines = vec![format!("{} and {}\n", name(&diff.a), name(&diff.b))];
    let mut line = |label: &str, what: String| lines.push(format!("  {label:<10}{what}\n"));
    for field in &diff.header {
        line(field.field, format!("{} | {}", field.a, field.b));
    }
    let Some(ElementsDiff { count, differing, nan, first, furthest, distance }) = &diff.elements
    else {
        line("elements", "not compared".to_owned());
        return lines.concat();
    };
    let of = format!("{differing} of {} differ", counted(*count, "element"));
    let with_nan =
        if *nan > 0 { format!(", {nan} of them NaN in one alone") } else { String::new() };
    line("elements", format!("{of}{with_nan}"));
    let place = |place: &DiffPlace| format!("{} | {} at {:?}", place.a, place.b, place.index);
    if let Some(first) = first {
        line("first", place(first));
    }
    if let Some(furthest) = furthest {
        line("furthest", place(furthest));
    }
    if let Some(Distance { l1, l2, max }) = distance {
        line("distance", format!("max {max}, L1 {l1}, L2 {l2}"));
    }
    lines.concat()
}
