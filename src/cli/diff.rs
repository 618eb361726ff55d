//! `ra-pack diff`: differences between two arrays or two packs, with the coordinates of elements.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::styling::{AnsiColor, Style};
use clap::{ArgGroup, Args};
use ra_pack::diff::{
    Agreement, ArrayDiff, DescriptionDifference, DiffOptions, DiffPlace, Distance, ElementsDiff,
    FieldDifference, MemberChange, MemberDiff, PackDiff,
};
use ra_pack::files::FileKind;
use ra_pack::inspect::Patterns;
use ra_pack::ndl::Value;
use ra_pack::path::{escape, escape_path};
use ra_pack::read::{Axis, CornersOptions};
use ra_pack::{Container, Pack, PackedArray};

use super::common::Common;
use super::output::Output;
use super::text::{
    BOLD, DIM, columns, count, counted, fit, fit_end, float, flowing, human_bytes, padded, percent,
    plain, short, styled,
};
use super::{Ending, Failure, diagnostics, shell};
use ra_pack::display::values::{self, flow};

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
pub(crate) struct DiffArgs {
    /// Archive, directory or array (.ra).
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Target to compare it with.
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Compare members that match [default: all].
    #[arg(value_name = "GLOB")]
    patterns: Vec<String>,

    /// Compare this array of both packs, or of one pack with an array file.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["patterns", "verify", "all", "stat"])]
    member: Option<String>,

    /// Count elements as equal if the stored numbers differ by at most this number.
    #[arg(long, value_name = "DISTANCE", default_value_t = 0.0, value_parser = distance, allow_negative_numbers = true)]
    tolerance: f64,

    /// Count elements as equal if they differ by at most this fraction of the magnitude in B.
    #[arg(long, value_name = "PART", default_value_t = 0.0, value_parser = distance, allow_negative_numbers = true)]
    relative: f64,

    /// Print only the sum of all absolute differences.
    #[arg(long)]
    l1: bool,

    /// Print only the square root of the sum of all squared differences.
    #[arg(long)]
    l2: bool,

    /// Print only the largest absolute difference.
    #[arg(long)]
    max: bool,

    /// Print one line per member that differs.
    #[arg(long, alias = "stats")]
    stat: bool,

    /// Read and check every file instead of trusting the digests in the manifests.
    #[arg(long, alias = "read")]
    verify: bool,

    /// Also show manifests and tag files; they do not change the exit status.
    #[arg(short, long)]
    all: bool,

    #[command(flatten)]
    common: Common,
}

fn distance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        _ => Err("expected a number of at least 0".to_owned()),
    }
}

pub(super) fn run(args: &DiffArgs, output: &Output) -> Result<Ending, Failure> {
    let options = DiffOptions {
        tolerance: args.tolerance,
        relative: args.relative,
        patterns: Patterns::new(&args.patterns)?,
        read_all: args.verify,
        generated: args.all,
        jobs: args.common.jobs,
        progress: output.progress(),
    };
    if let Some(member) = &args.member {
        let diff = ra_pack::diff::diff_members(&args.a, &args.b, member, &options)?;
        return two_arrays(args, output, &diff);
    }
    match (ra_pack::files::is_pack(&args.a)?, ra_pack::files::is_pack(&args.b)?) {
        (true, true) => two_packs(args, output, &options),
        (false, false) => {
            refuse_options_of_packs(args)?;
            let diff = ra_pack::diff::diff_arrays(&args.a, &args.b, &options);
            two_arrays(args, output, &diff.map_err(|error| of_files(error, args))?)
        }
        (a_is_pack, _) => {
            let (pack, array) = if a_is_pack { (&args.a, &args.b) } else { (&args.b, &args.a) };
            if !ra_pack::files::is_array_file(array)? {
                // Fails with the kind of the file.
                Pack::open(array)?;
            }
            Err(Failure::options(format!(
                "`{}` is a pack and `{}` is an array; choose an array of the pack with --member NAME",
                escape_path(pack),
                escape_path(array),
            )))
        }
    }
}

/// Adds the `diff` command to the error for two text files.
fn of_files(error: ra_pack::Error, args: &DiffArgs) -> Failure {
    let failure = match &error {
        ra_pack::Error::NotAnArray { kind: FileKind::Text, .. } => {
            let [a, b] = [&args.a, &args.b].map(|path| shell::path(path));
            Some(format!("`diff {a} {b}` compares text files"))
        }
        _ => None,
    };
    match failure {
        Some(next) => Failure::from(error).next(next),
        None => error.into(),
    }
}

fn refuse_options_of_packs(args: &DiffArgs) -> Result<(), Failure> {
    let given = [
        (!args.patterns.is_empty(), "a GLOB"),
        (args.stat, "--stat"),
        (args.verify, "--verify"),
        (args.all, "--all"),
    ];
    let given = given.into_iter().find(|(is_given, _)| *is_given);
    given.map_or(Ok(()), |(_, what)| {
        Err(Failure::options(format!("{what} works on two packs, not on two arrays")))
    })
}

fn two_packs(args: &DiffArgs, output: &Output, options: &DiffOptions) -> Result<Ending, Failure> {
    if args.l1 || args.l2 || args.max {
        return Err(Failure::options(
            "--l1, --l2 and --max compare two arrays; choose one that is in both packs with --member NAME",
        ));
    }
    let mut diff = ra_pack::diff(&args.a, &args.b, options)?;
    for side in [&mut diff.a, &mut diff.b] {
        diagnostics::show(&side.target, &side.findings, &[], output);
    }
    if diff.counts.total() == 0 && !args.patterns.is_empty() {
        let [a, b] = [&args.a, &args.b].map(|path| escape_path(path).to_string());
        let patterns = diagnostics::alternatives(&args.patterns);
        return Err(Failure::options(format!("no member of `{a}` or `{b}` matches {patterns}"))
            .next(format!("`ra-pack list {}` lists the members", shell::path(&args.b))));
    }
    if args.common.json {
        output.json(&diff)?;
    } else {
        let color = output.color_out;
        let width = if output.is_terminal() { WIDTH } else { usize::MAX };
        output.pieces(|out| print_packs(&diff, args.stat, (color, width), out))?;
        if !output.quiet {
            output.result(&summary(&diff, color))?;
        }
    }
    Ok(match (diff.is_whole(), diff.is_same()) {
        (false, _) => Ending::Failed,
        (_, false) => Ending::Findings,
        (_, true) => Ending::Clean,
    })
}

fn two_arrays(args: &DiffArgs, output: &Output, diff: &ArrayDiff) -> Result<Ending, Failure> {
    if args.common.json {
        output.json(diff)?;
    } else if args.l1 || args.l2 || args.max {
        let distance = |elements: &ElementsDiff| {
            let Distance { l1, l2, max, .. } = elements.distance?;
            Some(match (args.l1, args.l2) {
                // Where one element is NaN and the other is not, there is no distance.
                _ if elements.nan > 0 && elements.furthest.is_none() => f64::NAN,
                (true, _) => l1,
                (_, true) => l2,
                _ => max,
            })
        };
        let Some(number) = diff.elements.as_ref().and_then(distance) else {
            return Err(Failure::options(no_distance(diff)));
        };
        output.result(&number.to_string())?;
    } else {
        let text = array_text(diff, args.member.as_deref());
        if !text.is_empty() {
            output.result(&text)?;
        }
    }
    Ok(if diff.is_same() { Ending::Clean } else { Ending::Findings })
}

/// Returns the reason why two arrays have no distance.
fn no_distance(diff: &ArrayDiff) -> String {
    if diff.elements.is_some() {
        return "elements that are not numbers have no distance".to_owned();
    }
    let fields = diff.header.iter();
    let fields = fields.map(|field| format!("{} {} and {}", field.field, field.a, field.b));
    format!("the arrays have no distance: {}", fields.collect::<Vec<_>>().join("; "))
}

/// Formats the differences between two arrays, or of the array `member` of two packs; empty if there are none.
pub(crate) fn array_text(diff: &ArrayDiff, member: Option<&str>) -> String {
    let is_silent =
        diff.is_same() && diff.elements.as_ref().is_none_or(|elements| elements.furthest.is_none());
    if is_silent {
        return String::new();
    }
    let places = &IndexPlaces::of(&diff.b, member);
    let name = |path: &PathBuf| escape_path(path).to_string();
    let mut lines = vec![format!("{} and {}\n", name(&diff.a), name(&diff.b))];
    let mut line = |label: &str, what: &str| lines.push(format!("  {label:<10}{what}\n"));
    for field in &diff.header {
        line(field.field, &format!("{} | {}", field.a, field.b));
    }
    match &diff.elements {
        Some(elements) if is_only_type(&diff.header, elements) => line("elements", ONLY_TYPE),
        Some(elements) => {
            for (label, what) in rows(elements, false, places, None) {
                line(&label, &what);
            }
        }
        None => line("elements", &not_compared(&diff.header)),
    }
    lines.concat()
}

/// Returns what the differences of two headers and of their elements say, in the words of `verify --against`.
pub(super) fn agreement(header: &[FieldDifference], elements: Option<&ElementsDiff>) -> String {
    let fields = header.iter().map(|field| format!("{} {} and {}", field.field, field.a, field.b));
    let fields = fields.collect::<Vec<_>>().join(", ");
    match (Agreement::of(header, elements), elements) {
        (Agreement::SameNumbers, _) => "same numbers".to_owned(),
        (Agreement::SameNumbersOtherType, _) => format!("{ONLY_TYPE} ({fields})"),
        (_, Some(ElementsDiff { first: Some(first), count, differing, .. })) => {
            let [a, b] = [&first.a, &first.b].map(|element| escape(element).to_string());
            let all = counted(*count, "element");
            format!("differs first at {:?}: {a} vs {b} ({differing} of {all})", first.index)
        }
        _ => format!("differs: {fields}"),
    }
}

/// Text for arrays of different types with the same numbers.
const ONLY_TYPE: &str = "same numbers, other type";

fn is_only_type(header: &[FieldDifference], elements: &ElementsDiff) -> bool {
    Agreement::of(header, Some(elements)) == Agreement::SameNumbersOtherType
        && elements.furthest.is_none()
}

/// Returns labels and texts about elements that differ. `is_short` is for one member among many.
fn rows(
    elements: &ElementsDiff,
    is_short: bool,
    places: &IndexPlaces,
    member: Option<&str>,
) -> Vec<(String, String)> {
    let ElementsDiff { count, differing, nan, first, furthest, distance, .. } = elements;
    let with_nan = if *nan > 0 { format!(", {nan} NaN in only one") } else { String::new() };
    let share = if is_short && *differing > 0 {
        format!(" ({})", percent(*differing, *count))
    } else {
        String::new()
    };
    let of = format!("{differing} of {} differ{share}{with_nan}", counted(*count, "element"));
    let mut rows = vec![("elements", of)];
    let between = if is_short { "→" } else { "|" };
    let place = |place: &DiffPlace| {
        let said = places.text(member, &place.index);
        let said = said.map_or(String::new(), |said| format!(" ({said})"));
        let stored = place.stored.as_ref().map(|[a, b]| format!(" (stored {a} {between} {b})"));
        let stored = stored.unwrap_or_default();
        let [a, b] = [&place.a, &place.b].map(|element| escape(element).to_string());
        format!("{a} {between} {b}{stored} at {:?}{said}", place.index)
    };
    rows.extend(first.as_ref().map(|first| ("first", place(first))));
    let is_news = |furthest: &&DiffPlace| {
        !is_short || first.as_ref().is_none_or(|first| first.index != furthest.index)
    };
    rows.extend(furthest.as_ref().filter(is_news).map(|furthest| ("furthest", place(furthest))));
    if let Some(Distance { l1, l2, max, relative, .. }) = distance {
        if !is_short {
            rows.push(("distance", format!("max {max}, L1 {l1}, L2 {l2}")));
        } else if furthest.is_some() {
            let [max, relative, l1, l2] = [max, relative, l1, l2].map(|number| short(*number));
            rows.push(("distance", format!("max {max} (relative {relative}), L1 {l1}, L2 {l2}")));
        }
    }
    rows.into_iter().map(|(label, what)| (label.to_owned(), what)).collect()
}

/// Width of a line on a terminal, in columns.
const WIDTH: usize = 80;
/// Longest name that is aligned with others, in columns.
const NAME: usize = 44;
/// Shortest length of a cut name, in columns.
const LEAST: usize = 20;
/// Largest number of columns shown of a value.
const VALUE: usize = 160;
/// Largest indentation of a line that continues another, in columns.
const ROOM: usize = 48;
/// Text for a value that does not exist.
const NOTHING: &str = "nothing";
/// Length of the bar for the changed part of a member, in columns.
const BAR: usize = 10;

const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const PLAIN: Style = Style::new();

/// Appearance of a change: style and sign of a member, the text about it, and the text after the number of such
/// members.
type ChangeStyle = (MemberChange, Style, &'static str, &'static str, &'static str);

/// All changes, in the order of the summary.
const CHANGE_STYLES: [ChangeStyle; 7] = [
    (MemberChange::Added, GREEN, "+", "added", "added"),
    (MemberChange::Removed, RED, "-", "removed", "removed"),
    (MemberChange::Changed, YELLOW, "~", "", "changed"),
    (MemberChange::Renamed, CYAN, ">", "renamed", "renamed"),
    (MemberChange::Tolerated, PLAIN, "=", "", "changed within the tolerance"),
    (MemberChange::StoredOtherwise, PLAIN, "=", "stored differently", "stored differently"),
    (MemberChange::Unread, RED, "!", "cannot be read", "unreadable"),
];

fn style_of(change: MemberChange) -> &'static ChangeStyle {
    CHANGE_STYLES.iter().find(|(one, ..)| *one == change).expect("every change has a look")
}

fn paint(style: Style, text: &str) -> String {
    styled(text, style, !text.is_empty())
}

/// Prints every member that differs, with one line or all details.
pub(crate) fn print_packs(
    diff: &PackDiff,
    stat: bool,
    (color, width): (bool, usize),
    out: &mut dyn Write,
) -> io::Result<()> {
    let places = &IndexPlaces::of(&diff.b.target, None);
    let mut print =
        |text: String| out.write_all(if color { text } else { plain(&text) }.as_bytes());
    let widest = |cell: &dyn Fn(&MemberDiff) -> usize, most: usize| {
        diff.members.iter().map(cell).filter(|width| *width <= most).max().unwrap_or(0)
    };
    let name_width = widest(&|member| columns(&shown_name(member)), NAME);
    let said_width = widest(&|member| columns(&briefly(member)), WIDTH);
    // Subtracts the text, the bar and the separators.
    let room = WIDTH.saturating_sub(said_width + BAR + 5).max(LEAST);
    let stat_width = widest(&|member| columns(&shown_name(member)).min(room), room);
    for member in &diff.members {
        print(if stat {
            stat_line(member, stat_width, said_width)
        } else {
            member_text(member, (name_width, width), places)
        })?;
    }
    Ok(())
}

/// Formats one member as a line, like `git diff --stat`.
fn stat_line(member: &MemberDiff, name_width: usize, said_width: usize) -> String {
    let (_, style, sign, ..) = style_of(member.change);
    let name = padded(&fit_end(&shown_name(member), name_width), name_width);
    let said = padded(&briefly(member), said_width);
    let bar = paint(*style, &sign.repeat(bar(member)));
    format!(" {name} | {said} {bar}").trim_end().to_owned() + "\n"
}

/// Formats all details of a member.
fn member_text(
    member: &MemberDiff,
    (name_width, line_width): (usize, usize),
    places: &IndexPlaces,
) -> String {
    let (_, style, sign, ..) = style_of(member.change);
    let name = shown_name(member);
    let mut text = paint(*style, &format!("{sign} {name}"));
    let mut type_and_size = type_and_size(member);
    if member.generated {
        type_and_size.push_str(if type_and_size.is_empty() { "generated" } else { ", generated" });
    }
    if !type_and_size.is_empty() {
        let column = name_width.max(columns(&name)) + 4;
        text.push_str(&" ".repeat(column - columns(&name) - 2));
        text.push_str(&paint(DIM, &type_and_size));
    }
    text.push('\n');
    let rows = member_rows(member, places);
    let width = rows.iter().map(|(label, _)| columns(label)).filter(|w| *w <= 30).max();
    for (label, what) in rows {
        let label = padded(&label, width.unwrap_or(0));
        let indent = columns(&label) + 6;
        let what = flowing(what.split_inclusive(' '), indent, indent.min(ROOM), line_width);
        text.push_str(format!("    {label}  {what}").trim_end());
        text.push('\n');
    }
    text
}

/// Returns the labels and texts of the lines below a member.
fn member_rows(member: &MemberDiff, places: &IndexPlaces) -> Vec<(String, String)> {
    let field =
        |field: &FieldDifference| (field.field.to_owned(), change(Some(&field.a), Some(&field.b)));
    let mut found = Vec::new();
    if let Some(array) = &member.array {
        found.extend(array.header.iter().map(field));
    }
    found.extend(description(member).map(|place| {
        let [a, b] = [&place.a, &place.b]
            .map(|text| text.as_ref().map(|text| fit(&escape(text).to_string(), VALUE)));
        (escape(&place.path).to_string(), change(a.as_deref(), b.as_deref()))
    }));
    if let Some(array) = &member.array {
        found.extend(array.stored.iter().map(field));
        match &array.elements {
            Some(elements) if elements.differing > 0 || elements.furthest.is_some() => {
                found.extend(rows(elements, true, places, Some(&member.name)));
            }
            Some(elements) if is_only_type(&array.header, elements) => {
                found.push(("elements".to_owned(), ONLY_TYPE.to_owned()));
            }
            None if !array.header.is_empty() => {
                found.push(("elements".to_owned(), not_compared(&array.header)));
            }
            _ => {}
        }
    }
    if let Some(file) = &member.file {
        let (first, label, sizes) = match file.line {
            Some(line) => (
                format!("line {line} (byte {})", file.byte),
                "lines",
                file.lines_a.zip(file.lines_b),
            ),
            None => (format!("byte {}", file.byte), "bytes", member.bytes_a.zip(member.bytes_b)),
        };
        found.push(("first".to_owned(), first));
        let sizes = sizes.filter(|(a, b)| a != b);
        found.extend(sizes.map(|(a, b)| (label.to_owned(), format!("{a} → {b}"))));
    }
    found
}

/// Returns the text for elements that are not compared, with the fields that prevent it.
fn not_compared(header: &[FieldDifference]) -> String {
    let fields: Vec<_> = header.iter().map(|field| format!("the {}s", field.field)).collect();
    if fields.is_empty() {
        return "not compared".to_owned();
    }
    format!("not compared, because {} differ", fields.join(" and "))
}

/// Formats the old and the new value.
fn change(a: Option<&str>, b: Option<&str>) -> String {
    if a.is_none() && b.is_none() {
        return "differs".to_owned();
    }
    let [a, b] = [(RED, a), (GREEN, b)].map(|(style, text)| match text {
        Some(text) => paint(style, text),
        None => paint(DIM, NOTHING),
    });
    format!("{a} → {b}")
}

/// Returns the last lines of the text about two packs: how many members differ.
pub(crate) fn summary(diff: &PackDiff, color: bool) -> String {
    let same = diff.counts.same;
    let mut said = Vec::new();
    for (change, style, _, _, what) in CHANGE_STYLES {
        let members = diff.members.iter();
        let members = members.filter(|member| member.change == change && !member.generated);
        if let count @ 1.. = members.count() {
            said.push(paint(style, &format!("{count} {what}")) + ", ");
        }
    }
    let counts = &diff.counts;
    let by = if counts.by_manifest == 0 {
        String::new()
    } else if counts.by_manifests_alone == same && said.is_empty() {
        ", according to their manifests; compare the bytes with --verify".to_owned()
    } else if counts.by_manifest == same {
        ", according to the manifests; compare the bytes with --verify".to_owned()
    } else {
        format!(
            ", {} of them according to the manifests; compare the bytes with --verify",
            counts.by_manifest
        )
    };
    let by = paint(DIM, &by);
    if said.is_empty() {
        let all = counted(same, "member");
        let same = if diff.is_whole() { "The same" } else { "The same, except unreadable members" };
        said.push(format!("{}: {all}{by}", paint(BOLD, same)));
    } else {
        said.push(format!("{same} the same{by}"));
    }
    let text = said.concat() + "\n";
    if color { text } else { plain(&text) }
}

fn shown_name(member: &MemberDiff) -> String {
    let name = escape(&member.name).to_string();
    match &member.renamed_from {
        Some(from) => format!("{} → {name}", escape(from)),
        None => name,
    }
}

/// Returns the type and size of a member, which follow its name.
fn type_and_size(member: &MemberDiff) -> String {
    let array = member.array.as_ref();
    let what = match (array, member.bytes_a, member.bytes_b) {
        (Some(array), ..) => format!("{} {:?}", array.type_name, array.shape),
        (None, Some(a), Some(b)) if a != b => format!("{} → {}", human_bytes(a), human_bytes(b)),
        (None, a, b) => b.or(a).map_or(String::new(), human_bytes),
    };
    let otherwise = match (member.change, array) {
        (MemberChange::Unread, _) => return "cannot be read".to_owned(),
        // The array file differs, not only its description.
        (MemberChange::StoredOtherwise, Some(array)) if array.elements.is_some() => "stored",
        (MemberChange::StoredOtherwise, Some(_)) => "described",
        _ if member.description_rewritten => "description written",
        (MemberChange::StoredOtherwise, None) => "written",
        _ => return what,
    };
    format!("{what}, {otherwise} differently")
}

/// Returns the differences between descriptions that the headers do not show already.
fn description(member: &MemberDiff) -> impl Iterator<Item = &DescriptionDifference> {
    member.description.iter().filter(|place| {
        let says = |field: &FieldDifference| field.field == place.path;
        let order = |field: &FieldDifference| {
            field.field == "order" && matches!(&*place.path, "storage.order" | "storage")
        };
        member
            .array
            .as_ref()
            .is_none_or(|array| !array.header.iter().any(says) && !array.stored.iter().any(order))
    })
}

/// Returns a short text about the change of a member.
fn briefly(member: &MemberDiff) -> String {
    let (_, _, _, change, _) = style_of(member.change);
    let mut said = vec![(*change).to_owned()];
    if let Some(array) = member.array.as_ref() {
        said.extend(array.header.iter().map(|field| field.field.to_owned()));
        if let Some(elements) = array.elements.as_ref().filter(|elements| elements.differing > 0) {
            let share = percent(elements.differing, elements.count);
            said.push(format!("{} of {} elements, {share}", elements.differing, elements.count));
        } else if member.change == MemberChange::Tolerated {
            said.push("elements within the tolerance".to_owned());
        }
    }
    said.push(match description(member).count() {
        0 => String::new(),
        1 => "description".to_owned(),
        many => format!("{many} fields of the description"),
    });
    if let Some(file) = member.file.filter(|_| member.change == MemberChange::Changed) {
        said.push(match file.line {
            Some(line) => format!("from line {line} on"),
            None => format!("from byte {} on", file.byte),
        });
    }
    said.retain(|words| !words.is_empty());
    said.join(", ")
}

/// Returns the length of a member's bar: the part of its elements that differ, at least 1.
fn bar(member: &MemberDiff) -> usize {
    let elements = member.array.as_ref().and_then(|array| array.elements.as_ref());
    match (member.change, elements) {
        (MemberChange::Added | MemberChange::Removed, _) => BAR,
        (MemberChange::Changed, Some(elements)) => {
            count((float(elements.differing) * 10.0 / float(elements.count.max(1))).ceil())
                .clamp(1, BAR)
        }
        _ => 1,
    }
}

/// Digits of a coordinate after the decimal point.
const DIGITS: usize = 6;

/// Coordinates of array elements.
struct IndexPlaces {
    pack: Option<Pack>,
    /// The only array to compare, if there is one.
    member: Option<String>,
}

impl IndexPlaces {
    /// Opens the coordinates of a pack, of one array in it, or of an array file.
    fn of(target: &Path, member: Option<&str>) -> Self {
        // Coordinates are optional: if they cannot be read, only the index is shown.
        let opened = match ra_pack::files::is_array_file(target) {
            Ok(true) => Pack::of_array(target).ok().map(|(pack, member)| (pack, Some(member))),
            _ => Pack::open(target).ok().map(|pack| (pack, member.map(str::to_owned))),
        };
        // In a compressed tar, every coordinate would be decoded from the beginning.
        let is_stream =
            |pack: &Pack| matches!(pack.container(), Container::TarGz | Container::TarZst);
        let (pack, member) = opened.filter(|(pack, _)| !is_stream(pack)).unzip();
        Self { pack, member: member.flatten() }
    }

    /// Returns the coordinates of an array at an index, such as `depth 10, time 17`, if it has any.
    fn text(&self, member: Option<&str>, index: &[u64]) -> Option<String> {
        let pack = self.pack.as_ref()?;
        let member = member.or(self.member.as_deref())?;
        let axes = pack
            .array(member)
            .and_then(PackedArray::in_shape_order)
            .and_then(|array| array.axes())
            .ok()?;
        let said = axes.iter().zip(index).filter_map(|(axis, at)| {
            let name = axis.name.as_ref()?;
            Some(format!("{} {}", escape(name), value(pack, axis, *at)?))
        });
        let said: Vec<_> = said.collect();
        (axes.len() == index.len() && !said.is_empty()).then(|| said.join(", "))
    }
}

/// Returns the coordinate at one index of a dimension.
fn value(pack: &Pack, axis: &Axis, at: u64) -> Option<String> {
    let coordinate = axis.coordinate.as_ref()?;
    let description = coordinate.description.as_ref();
    let Some(member) = &coordinate.member else {
        let Value::List(values) = description?.value.as_ref()? else { return None };
        return values.get(usize::try_from(at).ok()?).map(|value| flow(value, 1));
    };
    let options =
        CornersOptions { slice: Some(at.to_string()), threshold: 1, ..CornersOptions::default() };
    let corners = pack.array(member).and_then(|array| array.corners(&options)).ok()?;
    // Removes the point of `10.`, which would look like the end of a sentence.
    Some(values::text(&corners, DIGITS, false).trim().trim_end_matches('.').to_owned())
}
