//! The page from its beginning to its end; no more of it is held than the cards that are being made.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, absolute};

use ra_pack::{
    Container, Digest, Finding, Layout, ListOptions, Listed, Listing, MemberKind, Pack,
    VerifyReport, escape,
};

use super::super::Failure;
use super::super::plot::base64;
use super::card::{Card, Context, Subject, split, stem};
use super::head::{self, Facts};
use super::html::Html;
use super::numbers::{counted, day, grouped};
use super::picture::Room;
use super::{files, tree, work};

const CSS: &str = include_str!("report.css");
const JS: &str = include_str!("report.js");

/// Cards that are made before they are written.
const BATCH: usize = 128;

/// Arrays of at least so many bytes are made one after the other, each by all threads.
const LARGE: u64 = 32 << 20;

/// Elements, or bytes of files that have more of them, that are read of an archive of any size.
const ELEMENTS: u64 = 128 << 20;
/// And for each byte of the archive so many: numbers that somebody measured cannot be compressed so much.
const ELEMENTS_PER_BYTE: u64 = 64;

/// Bytes that a compressed tar of any size is decoded to, which is quicker.
const DECODED: u64 = 2 << 30;
/// And for each byte of it so many.
const DECODED_PER_BYTE: u64 = 2048;

/// How the page is made.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) reads_data: bool,
    pub(super) jobs: usize,
}

/// What is in the page.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) arrays: u64,
    pub(super) files: u64,
    /// What is wrong with the pack, as far as anybody looked.
    pub(super) findings: Vec<Finding>,
    /// Arrays that cannot be read.
    pub(super) unreadable: Vec<String>,
}

/// Writes the page of the pack at `target`.
pub(super) fn write(
    target: &Path,
    verified: Option<&VerifyReport>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<Made, Failure> {
    let listed = ListOptions { jobs: Some(options.jobs), ..ListOptions::default() };
    let listing = match ra_pack::list(target, &listed) {
        Ok(listing) => listing,
        // What cannot be opened is what its findings say.
        Err(error) if error.is_finding() && verified.is_some_and(|report| !report.is_sound()) => {
            return write_unopened(target, verified, out);
        }
        Err(error) => return Err(error.into()),
    };
    let pack = Pack::open(target)?;
    let members: Vec<Listed<'_>> = listing.members().collect();
    let mut sorted = sort(&members);
    let within = |least: u64, per_byte: u64| -> Result<u64, Failure> {
        let size = pack.file_size()?.unwrap_or(u64::MAX);
        Ok(size.saturating_mul(per_byte).saturating_add(least))
    };
    let mut left = within(ELEMENTS, ELEMENTS_PER_BYTE)?;
    for subject in &mut sorted.arrays {
        let elements =
            subject.array.shape.iter().fold(1, |all: u64, next| all.saturating_mul(*next));
        let rest = left.checked_sub(elements.max(subject.member.size));
        subject.is_within = rest.is_some();
        left = rest.unwrap_or(left);
    }
    let findings = match verified {
        Some(report) => report.findings.clone(),
        None => listing.findings.clone(),
    };
    let name = name_of(target);
    let groups = tree::groups(sorted.arrays.iter().map(|subject| split(subject.member.name).0));
    let facts = facts(&name, &listing, &members, &sorted, groups.len());
    let context = Context {
        pack: &pack,
        reads_data: options.reads_data,
        is_verified: verified.is_some(),
        room: Room::for_each_of(sorted.arrays.len()),
        most_decoded: within(DECODED, DECODED_PER_BYTE)?,
        findings: by_array(&findings),
    };
    let mut html = Html::default();
    begin(&name, &mut html);
    html.raw("<div class=\"page\"><nav class=\"tree\" aria-label=\"Groups\"><details open><summary>Groups</summary>");
    tree::draw(&groups, &mut html);
    html.raw("<p><a href=\"#/files\">Other files</a> <span>").text(grouped(sorted.files.len()));
    html.raw("</span></p></details></nav><main>");
    summary(verified, &findings, &facts, &mut html);
    tools(sorted.arrays.len(), &mut html);
    html.raw("<div class=\"arrays\">");
    flush(&mut html, out)?;
    let unreadable = arrays(&context, &sorted.arrays, options.jobs, out)?;
    html.raw("</div>");
    files::begin(sorted.files.len(), &mut html);
    flush(&mut html, out)?;
    for batch in sorted.files.chunks(BATCH) {
        for row in work::each(options.jobs, batch, |file| files::row(&pack, file)) {
            out.write_all(row.as_str().as_bytes())?;
        }
    }
    files::end(sorted.descriptions, &mut html);
    end(&mut html);
    flush(&mut html, out)?;
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Ok(Made {
        arrays: wide(sorted.arrays.len()),
        files: wide(sorted.files.len().saturating_add(sorted.descriptions)),
        findings,
        unreadable,
    })
}

/// The page of something that cannot be opened.
fn write_unopened(
    target: &Path,
    verified: Option<&VerifyReport>,
    out: &mut dyn Write,
) -> Result<Made, Failure> {
    let name = name_of(target);
    let findings = verified.map(|report| report.findings.clone()).unwrap_or_default();
    let facts = Facts {
        name: &name,
        container: verified.and_then(|report| report.container),
        layout: Layout::Plain,
        arrays: 0,
        groups: 0,
        undescribed: 0,
        files: 0,
        bytes: 0,
        types: BTreeMap::new(),
        manifests: BTreeSet::new(),
    };
    let mut html = Html::default();
    begin(&name, &mut html);
    html.raw("<div class=\"page\"><main id=\"/arrays\">");
    summary(verified, &findings, &facts, &mut html);
    end(&mut html);
    flush(&mut html, out)?;
    Ok(Made { findings, ..Made::default() })
}

/// What the page calls a pack: its name, wherever it lies.
fn name_of(target: &Path) -> String {
    let whole = absolute(target).unwrap_or_else(|_| target.to_owned());
    let last = whole.file_name().unwrap_or(target.as_os_str());
    last.to_string_lossy().into_owned()
}

/// The members by what they are.
struct Sorted<'a> {
    arrays: Vec<Subject<'a>>,
    files: Vec<&'a Listed<'a>>,
    descriptions: usize,
}

fn sort<'a>(members: &'a [Listed<'a>]) -> Sorted<'a> {
    let stems: HashMap<&str, usize> = members
        .iter()
        .enumerate()
        .filter(|(_, member)| member.array.is_some())
        .map(|(nth, member)| (stem(member.name), nth))
        .collect();
    let mut described = HashMap::new();
    let mut files = Vec::new();
    for member in members {
        let name = member.name;
        let before = [".yaml", ".yml"].into_iter().find_map(|end| name.strip_suffix(end));
        match before.and_then(|before| stems.get(before)) {
            _ if member.array.is_some() => {}
            Some(array) if member.kind == MemberKind::File && !described.contains_key(array) => {
                described.insert(*array, member);
            }
            _ if member.kind == MemberKind::Directory => {}
            _ => files.push(member),
        }
    }
    let mut arrays: Vec<_> = members
        .iter()
        .enumerate()
        .filter_map(|(nth, member)| {
            let array = member.array.as_ref()?;
            Some(Subject {
                member,
                array,
                description: described.get(&nth).copied(),
                is_within: true,
            })
        })
        .collect();
    arrays.sort_by(|one, other| {
        let ((one_group, one), (other_group, other)) =
            (split(one.member.name), split(other.member.name));
        tree::compare(one_group, other_group).then_with(|| one.cmp(other))
    });
    Sorted { arrays, files, descriptions: described.len() }
}

fn facts<'a>(
    name: &'a str,
    listing: &Listing,
    members: &'a [Listed<'a>],
    sorted: &'a Sorted<'a>,
    groups: usize,
) -> Facts<'a> {
    let mut types = BTreeMap::new();
    for subject in &sorted.arrays {
        let element = subject.array.element.as_str();
        let element = if element.starts_with("unreadable") { "unreadable" } else { element };
        let count: &mut usize = types.entry(element).or_default();
        *count = count.saturating_add(1);
    }
    let files = || members.iter().filter(|member| member.kind == MemberKind::File);
    Facts {
        name,
        container: Some(listing.container),
        layout: listing.layout,
        arrays: sorted.arrays.len(),
        groups,
        undescribed: sorted.arrays.iter().filter(|subject| !subject.array.described).count(),
        files: files().count(),
        bytes: files().fold(0, |sum: u64, file| sum.saturating_add(file.size)),
        types,
        manifests: files()
            .map(|file| split(file.name).1)
            .filter(|name| name.starts_with("manifest-"))
            .collect(),
    }
}

fn by_array(findings: &[Finding]) -> BTreeMap<&str, Vec<(usize, &Finding)>> {
    let mut by_array: BTreeMap<&str, Vec<(usize, &Finding)>> = BTreeMap::new();
    for (number, finding) in findings.iter().enumerate().take(head::MOST_FINDINGS) {
        let about = [finding.array.as_deref(), finding.member.as_deref()];
        for name in about.into_iter().flatten().collect::<BTreeSet<_>>() {
            by_array.entry(name).or_default().push((number, finding));
        }
    }
    by_array
}

fn begin(name: &str, html: &mut Html) {
    html.raw(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'unsafe-inline'; script-src 'sha256-",
    );
    // No script but this one runs, whatever a name or a text of the pack may do to the page.
    html.text(base64(Digest::sha256(JS.as_bytes()).as_bytes()));
    html.raw(
        "'; base-uri 'none'; form-action 'none'\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <meta name=\"referrer\" content=\"no-referrer\">\
         <meta name=\"generator\" content=\"ra-pack ",
    );
    html.raw(env!("CARGO_PKG_VERSION")).raw("\"><title>").text(escape(name));
    html.raw(" · ra-pack report</title><style>").raw(CSS).raw("</style></head>\n<body>");
    html.raw("<a class=\"skip\" href=\"#/arrays\">Skip to the arrays</a><header><p>ra-pack report</p><h1>");
    html.text(escape(name)).raw("</h1></header>");
}

fn summary(
    verified: Option<&VerifyReport>,
    findings: &[Finding],
    facts: &Facts<'_>,
    html: &mut Html,
) {
    head::facts(facts, html);
    head::verification(verified, findings, html);
    head::by_hand(facts, html);
}

/// What only works with the script, and is shown by it.
fn tools(arrays: usize, html: &mut Html) {
    html.raw("<div class=\"tools\" id=\"/arrays\"><h2>Arrays</h2><form hidden role=\"search\"><input type=\"search\" id=\"/search\" aria-label=\"Search arrays and files\" placeholder=\"Search names, units, types, attributes\" autocomplete=\"off\" spellcheck=\"false\"><kbd aria-hidden=\"true\">/</kbd><label>Sort <select aria-label=\"Sort arrays\"><option value=\"name\">by name</option><option value=\"size\">by size</option><option value=\"type\">by type</option></select></label></form><output aria-live=\"polite\">");
    html.text(counted(arrays, "array")).raw("</output></div>");
}

/// Writes all cards, group by group.
fn arrays(
    context: &Context<'_>,
    arrays: &[Subject<'_>],
    jobs: usize,
    out: &mut dyn Write,
) -> io::Result<Vec<String>> {
    let mut unreadable = Vec::new();
    let mut frame = Frame { arrays, group: None, end: 0, left: 0 };
    let mut html = Html::default();
    // The order in which contents of a stream are asked for decides how often it is decoded.
    let is_stream = matches!(context.pack.container(), Container::TarGz | Container::TarZst);
    let at_once = if is_stream { 1 } else { jobs };
    for (batch, first) in arrays.chunks(BATCH).zip((0..).step_by(BATCH)) {
        let is_large = |subject: &Subject<'_>| subject.member.size >= LARGE;
        let small = work::each(at_once, batch, |subject| {
            (!is_large(subject)).then(|| context.card(subject, 1))
        });
        for ((subject, card), nth) in batch.iter().zip(small).zip(first..) {
            let Card { html: card, error } = card.unwrap_or_else(|| context.card(subject, jobs));
            if error.is_some() {
                unreadable.push(subject.member.name.to_owned());
            }
            frame.before(nth, subject, &mut html);
            html.piece(&card);
            flush(&mut html, out)?;
        }
    }
    html.raw(if frame.group.is_some() { "</div></details></section>\n" } else { "" });
    flush(&mut html, out)?;
    Ok(unreadable)
}

/// Cards that a browser lays out together, once they are to be seen.
const TOGETHER: usize = 50;

/// What stands around the cards: groups, and in them as many cards as are laid out together.
struct Frame<'a> {
    arrays: &'a [Subject<'a>],
    group: Option<&'a str>,
    /// The array after the last of the group.
    end: usize,
    /// Cards that the part that is open still takes.
    left: usize,
}

impl<'a> Frame<'a> {
    /// Begins what the n-th array is the first of.
    fn before(&mut self, nth: usize, subject: &Subject<'a>, html: &mut Html) {
        let (group, _) = split(subject.member.name);
        if self.group != Some(group) {
            html.raw(if self.group.is_some() { "</div></details></section>\n" } else { "" });
            let of = |subject: &Subject<'_>| tree::compare(split(subject.member.name).0, group);
            self.end = self.arrays.partition_point(|subject| of(subject).is_le());
            self.group = Some(group);
            begin_group(group, self.end.saturating_sub(nth), html);
            self.begin(nth, html);
        } else if self.left == 0 {
            html.raw("</div>");
            self.begin(nth, html);
        }
        self.left = self.left.saturating_sub(1);
    }

    fn begin(&mut self, nth: usize, html: &mut Html) {
        self.left = self.end.saturating_sub(nth).min(TOGETHER);
        // Until it is laid out it is as high as that many cards mostly are.
        html.raw("<div class=\"u\" style=\"--n:").text(self.left).raw("\">\n");
    }
}

fn begin_group(group: &str, arrays: usize, html: &mut Html) {
    html.raw("<section class=\"group\"><details open><summary><h2 id=\"").id(group).raw("/\">");
    html.text(escape(if group.is_empty() { "/" } else { group })).raw("</h2> <span>");
    html.text(grouped(arrays)).raw("</span></summary>\n");
}

fn end(html: &mut Html) {
    html.raw("</main></div><footer><p>Made by ra-pack ").raw(env!("CARGO_PKG_VERSION"));
    // Without it the same pack gives the same page.
    let made = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    if let Some(seconds) = made {
        html.raw(" on ").text(day(seconds));
    }
    html.raw(". This page needs no network and asks for none.</p></footer><script>").raw(JS);
    html.raw("</script></body></html>\n");
}

fn flush(html: &mut Html, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(html.as_str().as_bytes())?;
    html.clear();
    Ok(())
}
