//! `ra-pack diff`

mod text;

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use ra_pack::{ArrayDiff, DiffOptions, Distance, ElementsDiff, Pack, Patterns, escape_path};

use self::text::{Places, array_text, print_packs};
use super::args::jobs;
use super::output::Output;
use super::{Ending, Failure, diagnostics};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").args(["l1", "l2", "max", "json", "stat"]))]
#[command(after_long_help = "\
Examples:
  ra-pack diff before.ra after.ra
  ra-pack diff --tolerance 1e-6 before.ra after.ra
  ra-pack diff --max before.ra after.ra
  ra-pack diff exp.zip exp/
  ra-pack diff --stat monday.tar.gz friday.tar.gz 'run1/*'
  ra-pack diff --member run1/temperature.ra monday.zip friday.zip")]
pub(crate) struct Diff {
    /// An array (.ra), an archive or a directory.
    #[arg(value_name = "A")]
    a: PathBuf,

    /// What to compare it with.
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Of packs, what to compare; everything when there are none.
    #[arg(value_name = "GLOB")]
    patterns: Vec<String>,

    /// Compare this array of both, or with the array file that one of them is.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["patterns", "read", "verbose", "stat"])]
    member: Option<String>,

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

    /// Of packs, print one line for each member that differs.
    #[arg(long)]
    stat: bool,

    /// Of packs, read everything, whatever the manifests say.
    #[arg(long)]
    read: bool,

    /// Of packs, tell of manifests and tag files too; they do not count.
    #[arg(short, long)]
    verbose: bool,

    /// Threads to use [default: one for each core].
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    jobs: Option<usize>,

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
    let options = DiffOptions {
        tolerance: args.tolerance,
        relative: args.relative,
        patterns: Patterns::new(&args.patterns)?,
        read_all: args.read,
        generated: args.verbose,
        jobs: args.jobs,
        progress: output.progress(),
    };
    if let Some(member) = &args.member {
        let diff = ra_pack::diff_members(&args.a, &args.b, member, &options)?;
        return two_arrays(args, output, &diff);
    }
    match (ra_pack::is_pack(&args.a)?, ra_pack::is_pack(&args.b)?) {
        (true, true) => two_packs(args, output, &options),
        (false, false) => {
            refuse_options_of_packs(args)?;
            two_arrays(args, output, &ra_pack::diff_arrays(&args.a, &args.b, &options)?)
        }
        (a_is_pack, _) => {
            let (pack, array) = if a_is_pack { (&args.a, &args.b) } else { (&args.b, &args.a) };
            if !ra_pack::is_array_file(array)? {
                // Which says what it is instead.
                Pack::open(array)?;
            }
            Err(Failure::unsupported(format!(
                "`{}` is a pack and `{}` is an array: --member NAME compares it with that array of the pack",
                escape_path(pack),
                escape_path(array),
            )))
        }
    }
}

fn refuse_options_of_packs(args: &Diff) -> Result<(), Failure> {
    let given = [
        (!args.patterns.is_empty(), "a GLOB"),
        (args.stat, "--stat"),
        (args.read, "--read"),
        (args.verbose, "--verbose"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, what)) => {
            Err(Failure::unsupported(format!("{what} is for two packs, not for two arrays")))
        }
        None => Ok(()),
    }
}

fn two_packs(args: &Diff, output: &Output, options: &DiffOptions) -> Result<Ending, Failure> {
    if args.l1 || args.l2 || args.max {
        return Err(Failure::unsupported(
            "packs have no distance: --member NAME names an array of both that has".to_owned(),
        ));
    }
    let mut diff = ra_pack::diff_packs(&args.a, &args.b, options)?;
    for side in [&mut diff.a, &mut diff.b] {
        diagnostics::show(&side.target, &mut side.findings, &[], output);
    }
    if diff.counts.total() == 0 && !args.patterns.is_empty() {
        return Err(Failure::unsupported("no member of either matches".to_owned()));
    }
    if args.json {
        output.json(&diff)?;
    } else if !output.quiet {
        let (color, places) = (output.color_out, Places::of(&args.b, None));
        output.pieces(|out| print_packs(&diff, args.stat, color, &places, out))?;
    }
    Ok(match (diff.is_whole(), diff.is_same()) {
        (false, _) => Ending::Failed,
        (_, false) => Ending::Findings,
        (_, true) => Ending::Clean,
    })
}

fn two_arrays(args: &Diff, output: &Output, diff: &ArrayDiff) -> Result<Ending, Failure> {
    if args.json {
        output.json(diff)?;
    } else if args.l1 || args.l2 || args.max {
        let elements = diff.elements.as_ref();
        let Some((Distance { l1, l2, max, .. }, elements)) =
            elements.and_then(|elements| Some((elements.distance?, elements)))
        else {
            return Err(Failure::unsupported(no_distance(diff)));
        };
        let number = match (args.l1, args.l2) {
            // A number without a partner has no distance, and no other distance stands for it.
            _ if is_nan_alone(elements) => f64::NAN,
            (true, _) => l1,
            (_, true) => l2,
            _ => max,
        };
        output.result(&number.to_string())?;
    } else if !output.quiet {
        let places = Places::of(&args.b, args.member.as_deref());
        let text = array_text(diff, &places);
        if !text.is_empty() {
            output.result(&text)?;
        }
    }
    Ok(if diff.is_same() { Ending::Clean } else { Ending::Findings })
}

/// Whether arrays differ in nothing but numbers that the other has not.
fn is_nan_alone(elements: &ElementsDiff) -> bool {
    elements.nan > 0 && elements.furthest.is_none()
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
