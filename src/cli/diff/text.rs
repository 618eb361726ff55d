//! Differences of two arrays or two packs as text, with the coordinates of elements.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ra_pack::ndl::Value;
use ra_pack::{
    ArrayChange, ArrayDiff, Axis, Container, CornersOptions, DescriptionDifference, DiffCounts,
    DiffPlace, Distance, ElementsDiff, FieldDifference, FileDifference, MemberChange, MemberDiff,
    Pack, PackDiff, PackedArray, escape,
};

use super::super::array;
use super::super::show::{flow, values};
use super::super::text::{columns, fit, fit_end, flowing, padded};
use super::super::text::{counted, digits, human_bytes, percent};

/// The differences of two arrays; nothing when there are none.
pub(super) fn array_text(diff: &ArrayDiff, places: &Places) -> String {
    let is_silent =
        diff.is_same() && diff.elements.as_ref().is_none_or(|elements| elements.furthest.is_none());
    if is_silent {
        return String::new();
    }
    let name = |path: &PathBuf| ra_pack::escape_path(path).to_string();
    let mut lines = vec![format!("{} and {}\n", name(&diff.a), name(&diff.b))];
    let mut line = |label: &str, what: &str| lines.push(format!("  {label:<10}{what}\n"));
    for field in &diff.header {
        line(field.field, &format!("{} | {}", field.a, field.b));
    }
    match &diff.elements {
        Some(elements) => {
            for (label, what) in rows(elements, Style::Full, places, None) {
                line(label, &what);
            }
        }
        None => line("elements", "not compared"),
    }
    lines.concat()
}

/// How elements are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Numbers in full.
    Full,
    /// So that they can be taken in among many.
    Short,
}

/// Elements that differ: labels, and the text after them.
fn rows(
    elements: &ElementsDiff,
    style: Style,
    places: &Places,
    member: Option<&str>,
) -> Vec<(&'static str, String)> {
    let ElementsDiff { count, differing, nan, first, furthest, distance } = elements;
    let with_nan = if *nan > 0 { format!(", {nan} NaN in one alone") } else { String::new() };
    let share = match style {
        Style::Short if *differing > 0 => format!(" ({})", percent(*differing, *count)),
        _ => String::new(),
    };
    let of = format!("{differing} of {} differ{share}{with_nan}", counted(*count, "element"));
    let mut rows = vec![("elements", of)];
    let between = if style == Style::Full { "|" } else { "→" };
    let place = |place: &DiffPlace| {
        let said =
            places.text(member, &place.index).map(|said| format!(" ({said})")).unwrap_or_default();
        format!("{} {between} {} at {:?}{said}", place.a, place.b, place.index)
    };
    rows.extend(first.as_ref().map(|first| ("first", place(first))));
    let is_news = |furthest: &&DiffPlace| {
        style == Style::Full || first.as_ref().is_none_or(|first| first.index != furthest.index)
    };
    rows.extend(furthest.as_ref().filter(is_news).map(|furthest| ("furthest", place(furthest))));
    if let Some(Distance { l1, l2, max, relative }) = distance
        && (style == Style::Full || furthest.is_some())
    {
        rows.push((
            "distance",
            match style {
                Style::Full => format!("max {max}, L1 {l1}, L2 {l2}"),
                Style::Short => format!(
                    "max {} (relative {}), L1 {}, L2 {}",
                    digits(*max, 6),
                    digits(*relative, 6),
                    digits(*l1, 6),
                    digits(*l2, 6)
                ),
            },
        ));
    }
    rows
}

/// Columns that a line should not exceed.
const WIDTH: usize = 80;
/// Columns of the longest name that others are aligned with.
const NAME: usize = 44;
/// Columns that a name has at least, where it is cut.
const LEAST: usize = 20;
/// Columns of a value that are shown.
const VALUE: usize = 160;
/// Columns for what was and what is, behind a label.
const ROOM: usize = 48;
/// The text for a value that is not there.
const NOTHING: &str = "nothing";
/// Cells of the bar that shows how much of a member changed.
const BAR: usize = 10;

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const CYAN: &str = "\x1b[36m";
const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Prints every member that differs, then how many are of each kind; of each one line or all that is known.
pub(super) fn print_packs(
    diff: &PackDiff,
    stat: bool,
    color: bool,
    places: &Places,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paper = Paper { color, places };
    let widest = |cell: &dyn Fn(&MemberDiff) -> usize, most: usize| {
        diff.members.iter().map(cell).filter(|width| *width <= most).max().unwrap_or(0)
    };
    let name_width = widest(&|member| columns(&shown_name(member)), NAME);
    let said_width = widest(&|member| columns(&briefly(member)), WIDTH);
    // Beside what is said and the bar.
    let room = WIDTH.saturating_sub(said_width).saturating_sub(BAR).saturating_sub(5).max(LEAST);
    let stat_width = widest(&|member| columns(&shown_name(member)).min(room), room);
    for member in &diff.members {
        let text = if stat {
            paper.stat(member, stat_width, said_width)
        } else {
            paper.member(member, name_width)
        };
        out.write_all(text.as_bytes())?;
    }
    out.write_all(paper.summary(diff).as_bytes())
}

/// The style of the text, and the coordinates in it.
struct Paper<'a> {
    color: bool,
    places: &'a Places,
}

impl Paper<'_> {
    fn paint(&self, style: &str, text: &str) -> String {
        if self.color && !text.is_empty() && !style.is_empty() {
            format!("{style}{text}{PLAIN}")
        } else {
            text.to_owned()
        }
    }

    /// One line, as `git diff --stat` has it.
    fn stat(&self, member: &MemberDiff, name_width: usize, said_width: usize) -> String {
        let (style, sign) = look(member.change);
        let name = padded(&fit_end(&shown_name(member), name_width), name_width);
        let said = padded(&briefly(member), said_width);
        let bar = self.paint(style, &sign.repeat(bar(member)));
        format!(" {name} | {said} {bar}").trim_end().to_owned() + "\n"
    }

    /// Everything about a member.
    fn member(&self, member: &MemberDiff, name_width: usize) -> String {
        let (style, sign) = look(member.change);
        let name = shown_name(member);
        let mut line = self.paint(style, &format!("{sign} {name}"));
        let mut beside = beside(member);
        if member.generated {
            beside.push_str(if beside.is_empty() { "generated" } else { ", generated" });
        }
        if !beside.is_empty() {
            let column = name_width.max(columns(&name)).saturating_add(4);
            if column.saturating_add(columns(&beside)) > WIDTH {
                line.push_str("\n    ");
            } else {
                let padding = column.saturating_sub(columns(&name)).saturating_sub(2);
                line.push_str(&" ".repeat(padding));
            }
            line.push_str(&self.paint(DIM, &beside));
        }
        line.push('\n');
        let rows = self.rows(member);
        let width = rows.iter().map(|(label, _)| columns(label)).filter(|w| *w <= 30).max();
        for (label, what) in rows {
            let label = padded(&label, width.unwrap_or(0));
            let indent = columns(&label).saturating_add(6);
            let words = what.split_inclusive(' ').map(|word| (plain(word), word.to_owned()));
            let what = flowing(words, indent, indent.min(ROOM), WIDTH);
            line.push_str(format!("    {label}  {what}").trim_end());
            line.push('\n');
        }
        line
    }

    /// The lines below a member: labels, and the text after them.
    fn rows(&self, member: &MemberDiff) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let array = member.array.as_ref();
        for field in array.map(|array| &array.header[..]).unwrap_or_default() {
            found.push((field.field.to_owned(), self.change(Some(&field.a), Some(&field.b))));
        }
        for place in member.description.iter().filter(|place| !is_said(place, array)) {
            let said = |side: &Option<String>| {
                side.as_deref().map(|text| fit(&escape(text).to_string(), VALUE))
            };
            let what = self.change(said(&place.a).as_deref(), said(&place.b).as_deref());
            found.push((escape(&place.path).to_string(), what));
        }
        if let Some(array) = array {
            for field in &array.stored {
                found.push((field.field.to_owned(), self.change(Some(&field.a), Some(&field.b))));
            }
            let differ = array
                .elements
                .as_ref()
                .filter(|elements| elements.differing > 0 || elements.furthest.is_some());
            if let Some(elements) = differ {
                let rows = rows(elements, Style::Short, self.places, Some(&member.name));
                found.extend(rows.into_iter().map(|(label, what)| (label.to_owned(), what)));
            } else if array.elements.is_none() && !array.header.is_empty() {
                found.push(("elements".to_owned(), "not compared".to_owned()));
            }
        }
        if let Some(file) = &member.file {
            found.extend(file_rows(file, member));
        }
        found
    }

    /// The values before and after, on one line where there is room for it.
    fn change(&self, a: Option<&str>, b: Option<&str>) -> String {
        if a.is_none() && b.is_none() {
            return "differs".to_owned();
        }
        let paint = |style, text: Option<&str>| match text {
            Some(text) => self.paint(style, text),
            None => self.paint(DIM, NOTHING),
        };
        let width = |text: Option<&str>| columns(text.unwrap_or(NOTHING));
        let between =
            if width(a).saturating_add(width(b)) > ROOM { "\n      → " } else { " → " };
        format!("{}{between}{}", paint(RED, a), paint(GREEN, b))
    }

    fn summary(&self, diff: &PackDiff) -> String {
        let DiffCounts {
            same,
            by_manifest,
            added,
            removed,
            renamed,
            changed,
            tolerated,
            stored_otherwise,
            unread,
        } = diff.counts;
        let parts = [
            (added, "added", GREEN),
            (removed, "removed", RED),
            (changed, "changed", YELLOW),
            (renamed, "renamed", CYAN),
            (tolerated, "changed within what is tolerated", ""),
            (stored_otherwise, "stored otherwise", ""),
            (unread, "not readable", RED),
        ];
        let mut said: Vec<(String, String)> = parts
            .iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, what, style)| (format!("{count} {what}"), *style))
            .map(|(what, style)| (format!("{what}, "), self.paint(style, &what) + ", "))
            .collect();
        let by = match by_manifest {
            0 => String::new(),
            all if all == same && same > 1 => {
                ", all by their manifests and not read (--read reads them)".to_owned()
            }
            _ if same == 1 => ", by its manifest and not read (--read reads it)".to_owned(),
            some => format!(", {some} of them by their manifests and not read (--read reads them)"),
        };
        let painted = self.paint(DIM, &by);
        if said.is_empty() {
            let all = counted(same, "member");
            let same = if diff.is_whole() { "The same" } else { "The same as far as can be read" };
            return format!("{}: {all}{painted}\n", self.paint(BOLD, same));
        }
        said.push((format!("{same} the same{by}"), format!("{same} the same{painted}")));
        flowing(said, 0, 0, WIDTH) + "\n"
    }
}

/// The colour and the sign of what became of a member.
fn look(change: MemberChange) -> (&'static str, &'static str) {
    match change {
        MemberChange::Added => (GREEN, "+"),
        MemberChange::Removed => (RED, "-"),
        MemberChange::Renamed => (CYAN, ">"),
        MemberChange::Changed => (YELLOW, "~"),
        MemberChange::Tolerated | MemberChange::StoredOtherwise => ("", "="),
        MemberChange::Unread => (RED, "!"),
    }
}

fn shown_name(member: &MemberDiff) -> String {
    let name = escape(&member.name).to_string();
    match &member.renamed_from {
        Some(from) => format!("{} → {name}", escape(from)),
        None => name,
    }
}

/// Type and size of a member, next to its name.
fn beside(member: &MemberDiff) -> String {
    let what = match (&member.array, member.size_b.or(member.size_a)) {
        (Some(array), _) => type_and_shape(array),
        (None, Some(size)) if member.size_a == member.size_b || one_sided(member) => {
            human_bytes(size)
        }
        (None, Some(_)) => {
            let size = |size: Option<u64>| human_bytes(size.unwrap_or(0));
            format!("{} → {}", size(member.size_a), size(member.size_b))
        }
        (None, None) => String::new(),
    };
    match member.change {
        MemberChange::Unread => "cannot be read".to_owned(),
        MemberChange::StoredOtherwise if member.array.is_some() && is_file_other(member) => {
            format!("{what}, stored otherwise")
        }
        MemberChange::StoredOtherwise if member.array.is_some() => {
            format!("{what}, described otherwise")
        }
        _ if member.description_rewritten => {
            format!("{what}, description written otherwise")
        }
        MemberChange::StoredOtherwise => format!("{what}, written otherwise"),
        _ => what,
    }
}

/// Whether the file of an array is not the same, rather than its description alone.
fn is_file_other(member: &MemberDiff) -> bool {
    member.array.as_ref().is_some_and(|array| array.elements.is_some())
}

fn one_sided(member: &MemberDiff) -> bool {
    member.size_a.is_some() != member.size_b.is_some()
}

fn type_and_shape(array: &ArrayChange) -> String {
    format!("{} {:?}", array.element, array.shape)
}

/// Whether the headers say what a place of the description says.
fn is_said(place: &DescriptionDifference, array: Option<&ArrayChange>) -> bool {
    let says = |field: &FieldDifference| field.field == place.path;
    let order = |field: &FieldDifference| {
        field.field == "order" && matches!(&*place.path, "storage.order" | "storage")
    };
    array.is_some_and(|array| array.header.iter().any(says) || array.stored.iter().any(order))
}

fn file_rows(file: &FileDifference, member: &MemberDiff) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let place = match file.line {
        Some(line) => format!("line {line} (byte {})", file.byte),
        None => format!("byte {}", file.byte),
    };
    rows.push(("first".to_owned(), place));
    if let (Some(a), Some(b)) = (file.lines_a, file.lines_b)
        && a != b
    {
        rows.push(("lines".to_owned(), format!("{a} → {b}")));
    } else if file.lines_a.is_none()
        && let (Some(a), Some(b)) = (member.size_a, member.size_b)
        && a != b
    {
        rows.push(("bytes".to_owned(), format!("{a} → {b}")));
    }
    rows
}

/// The change of a member, in a few words.
fn briefly(member: &MemberDiff) -> String {
    let mut said = Vec::new();
    match member.change {
        MemberChange::Added => said.push("added".to_owned()),
        MemberChange::Removed => said.push("removed".to_owned()),
        MemberChange::Renamed => said.push("renamed".to_owned()),
        MemberChange::Unread => said.push("cannot be read".to_owned()),
        MemberChange::StoredOtherwise => said.push("stored otherwise".to_owned()),
        MemberChange::Changed | MemberChange::Tolerated => {}
    }
    if let Some(array) = member.array.as_ref() {
        let fields = array.header.iter().map(|field| field.field);
        said.extend(fields.map(str::to_owned));
        if let Some(elements) = array.elements.as_ref().filter(|elements| elements.differing > 0) {
            let share = percent(elements.differing, elements.count);
            said.push(format!("{} of {} elements, {share}", elements.differing, elements.count));
        } else if member.change == MemberChange::Tolerated {
            said.push("elements, as tolerated".to_owned());
        }
    }
    let places = member.description.iter().filter(|place| !is_said(place, member.array.as_ref()));
    match places.count() {
        0 => {}
        1 => said.push("description".to_owned()),
        many => said.push(format!("{many} places of the description")),
    }
    if let Some(file) = &member.file
        && member.change == MemberChange::Changed
    {
        said.push(match file.line {
            Some(line) => format!("from line {line} on"),
            None => format!("from byte {} on", file.byte),
        });
    }
    said.join(", ")
}

/// How long the bar of a member is: as much of it as differs, and never nothing.
fn bar(member: &MemberDiff) -> usize {
    let elements = member.array.as_ref().and_then(|array| array.elements.as_ref());
    match (member.change, elements) {
        (MemberChange::Added | MemberChange::Removed, _) => BAR,
        (MemberChange::Changed, Some(elements)) => {
            let whole = u128::from(elements.count.max(1));
            let cells = u128::from(elements.differing).saturating_mul(10).div_ceil(whole);
            usize::try_from(cells).unwrap_or(BAR).clamp(1, BAR)
        }
        _ => 1,
    }
}

/// A text without the colours in it.
fn plain(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    std::iter::once(first.as_str()).chain(rest).collect()
}

/// Digits of a coordinate behind the point.
const DIGITS: usize = 6;

/// The coordinates of arrays.
pub(super) struct Places {
    pack: Option<Pack>,
    /// The array that is meant, when there is one alone.
    member: Option<String>,
}

impl Places {
    /// Those of a pack, or of an array in it or by itself.
    pub(super) fn of(target: &Path, member: Option<&str>) -> Self {
        // An index is a place too, so that what cannot be read here is no error.
        let opened = match member {
            _ if ra_pack::is_array_file(target).unwrap_or(false) => {
                Pack::of_array(target).ok().map(|(pack, member)| (pack, Some(member)))
            }
            member => Pack::open(target).ok().map(|pack| (pack, member.map(str::to_owned))),
        };
        // A stream would be read from its beginning for every coordinate.
        let is_stream =
            |pack: &Pack| matches!(pack.container(), Container::TarGz | Container::TarZst);
        match opened.filter(|(pack, _)| !is_stream(pack)) {
            Some((pack, member)) => Self { pack: Some(pack), member },
            None => Self { pack: None, member: None },
        }
    }

    /// The coordinates of an array at an index, such as `depth 10, time 17`; nothing when there
    /// are none.
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
        let said: Vec<String> = said.collect();
        (axes.len() == index.len() && !said.is_empty()).then(|| said.join(", "))
    }
}

/// The coordinate at one place of a dimension.
fn value(pack: &Pack, axis: &Axis, at: u64) -> Option<String> {
    let coordinate = axis.coordinate.as_ref()?;
    let description = coordinate.description.as_ref();
    let Some(member) = &coordinate.member else {
        let Value::List(values) = description?.value.as_ref()? else { return None };
        return values.get(usize::try_from(at).ok()?).map(|value| flow(value, 1));
    };
    let options = CornersOptions { slice: Some(at.to_string()), edge: None, threshold: 1 };
    let corners = pack.array(member).and_then(|array| array.corners(&options)).ok()?;
    let date = array::dates(description).zip(array::ends(&corners));
    let date = date.and_then(|(dates, (number, _))| dates.exact(number));
    // A sentence goes on behind it, where `10.` would seem to be its end.
    date.or_else(|| Some(values::text(&corners, DIGITS).trim().trim_end_matches('.').to_owned()))
}
