//! The pack as a whole: its facts, the verdict on it, and how to check it by hand.

use std::collections::BTreeMap;
use std::path::Path;

use ra_pack::{Container, Finding, Layout, Listed, MemberKind, Place, VerifyReport};

use super::super::diagnostics;
use super::super::shell;
use super::super::text::{grouped, human_bytes};
use super::card::{Subject, split, stem};
use super::{Html, Id, counted, html};

/// Findings that are shown; a pack of which nothing is right has as many as files.
pub(super) const MOST_FINDINGS: usize = 1000;

/// The facts of the pack as a whole.
#[derive(Debug)]
pub(super) struct PackFacts<'a> {
    /// The name of the pack in the page.
    pub(super) name: &'a str,
    pub(super) container: Option<Container>,
    pub(super) layout: Layout,
    pub(super) members: &'a [Listed<'a>],
    pub(super) arrays: &'a [Subject<'a>],
    pub(super) groups: usize,
}

impl PackFacts<'_> {
    fn files(&self) -> impl Iterator<Item = &Listed<'_>> {
        self.members.iter().filter(|member| member.kind == MemberKind::File)
    }
}

pub(super) fn facts(facts: &PackFacts<'_>, html: &mut Html) {
    let layout = match facts.layout {
        Layout::Plain => "plain",
        Layout::BagIt => "BagIt bag",
    };
    let bytes = facts.files().fold(0, |sum: u64, file| sum.saturating_add(file.size));
    html.raw("<dl class=\"facts\">");
    for (name, value) in [
        ("Arrays", grouped(facts.arrays.len())),
        ("Groups", grouped(facts.groups)),
        ("Files", grouped(facts.files().count())),
        ("Size", human_bytes(bytes)),
        ("Container", facts.container.map_or_else(|| "unknown".to_owned(), |it| it.to_string())),
        ("Layout", layout.to_owned()),
    ] {
        html!(html, "<div><dt>{}</dt><dd>{}</dd></div>", name, value);
    }
    html.raw("</dl>");
    let mut types: BTreeMap<&str, usize> = BTreeMap::new();
    for Subject { array, .. } in facts.arrays {
        *types.entry(array.element.split(':').next().unwrap_or_default()).or_default() += 1;
    }
    if !types.is_empty() {
        html.raw("<p class=\"types\"><b>Types</b>");
        for (name, count) in &types {
            html!(html, " <span>{} <i>{}</i></span>", name, grouped(*count));
        }
        let undescribed = facts.arrays.iter().filter(|subject| !subject.array.described).count();
        if undescribed > 0 {
            let count = grouped(undescribed);
            html!(html, " <span class=\"w\">not described <i>{}</i></span>", count);
        }
        html.raw("</p>");
    }
}

/// The verdict, and everything that is wrong.
pub(super) fn verification(report: Option<&VerifyReport>, findings: &[Finding], html: &mut Html) {
    let (errors, warnings) = diagnostics::counts(findings);
    let also = match warnings {
        0 => String::new(),
        count => format!(", {}", counted(count, "warning")),
    };
    let (class, mark, verdict) = match report {
        _ if errors > 0 => ("bad", "✗", format!("Not valid: {}{also}", counted(errors, "error"))),
        None => ("open", "?", format!("Not verified{also}")),
        Some(report) if !report.contents_read => {
            ("open", "?", format!("No fault found, contents not read{also}"))
        }
        Some(_) if warnings > 0 => ("warn", "✓", format!("Valid{also}")),
        Some(_) => ("good", "✓", "Valid".to_owned()),
    };
    html!(
        html,
        "<section class=\"verdict {}\" id=\"/verification\" aria-label=\"Verification\"><p \
         class=\"mark\"><span aria-hidden=\"true\">{}</span> <b>{}</b></p>",
        class,
        mark,
        verdict
    );
    match report {
        None => html
            .raw("<p>The contents were not held against a manifest when this page was made.</p>"),
        Some(report) => checked(report, html),
    }
    if !findings.is_empty() {
        list(findings, html);
    }
    html.raw("</section>");
}

/// The reasons for the verdict.
fn checked(report: &VerifyReport, html: &mut Html) {
    html.raw("<p>");
    let members = counted(report.members, "file");
    if report.manifests.is_empty() {
        html.raw("No manifest vouches for the contents; ");
    } else {
        let (size, manifests) = (human_bytes(report.bytes), report.manifests.join(", "));
        html!(html, "{} ({}) held against {}; ", members, size, manifests);
    }
    html.raw("container, headers and descriptions checked.");
    if let Some(bag) = &report.bag {
        let version = bag.version.as_deref().unwrap_or("of no version");
        let state = match (bag.complete, bag.valid) {
            (_, true) => "valid",
            (true, false) => "complete, not valid",
            (false, false) => "incomplete",
        };
        html!(html, " BagIt {}: {}.", version, state);
    }
    if let Some(ro_crate) = &report.ro_crate {
        html!(html, " RO-Crate {}.", ro_crate);
    }
    for signature in &report.signatures {
        html!(html, " Signature <code>{}</code>, not checked.", signature);
    }
    html.raw("</p>");
    if let Some(intact) = report.intact.as_ref().filter(|_| !report.is_sound()) {
        let (arrays, files) = (grouped(intact.arrays), grouped(intact.members));
        let all = counted(report.arrays, "array");
        html!(html, "<p>Intact: {} of {}, {} of {}.</p>", arrays, all, files, members);
    }
}

fn list(findings: &[Finding], html: &mut Html) {
    html.raw("<ol class=\"findings\">");
    for (number, finding) in findings.iter().enumerate().take(MOST_FINDINGS) {
        let (class, word) = if finding.is_error() { ("bad", "error") } else { ("warn", "warning") };
        html!(html, r#"<li class="{}" id="/finding/{}"><p>"#, class, number);
        let (code, message) = (finding.code.id(), &finding.message);
        html!(html, "<code>{}</code> <b>{}</b> {}</p>", code, word, message);
        place(finding, html);
        let facts =
            [("expected", &finding.expected), ("found", &finding.found), ("next", &finding.hint)];
        for (name, text) in facts {
            if let Some(text) = text {
                html!(html, "<p class=\"n\">{}: {}</p>", name, text);
            }
        }
        html.raw("</li>");
    }
    html.raw("</ol>");
    if let Some(more @ 1..) = findings.len().checked_sub(MOST_FINDINGS) {
        let more = counted(more, "more finding");
        html!(html, "<p>{} are left out here; <code>ra-pack verify</code> lists all.</p>", more);
    }
}

fn place(finding: &Finding, html: &mut Html) {
    let (array, member) = (finding.array.as_deref(), finding.member.as_deref());
    if member.is_none() && array.is_none() && finding.place.is_none() {
        return;
    }
    html!(html, "<p class=\"n\">in <code>{}</code>", member.unwrap_or("the container"));
    match finding.place {
        Some(Place::Byte { offset }) => html!(html, ", byte {}", grouped(offset)),
        Some(Place::Line { line }) => html!(html, ", line {}", line),
        Some(Place::Text { line, column, .. }) => html!(html, ", line {}, column {}", line, column),
        None => {}
    }
    if let Some(array) = array.map(stem) {
        html!(html, " · <a href=\"#{}\">{}</a>", Id(array), array);
    }
    html.raw("</p>");
}

/// The commands that check the pack with tools that have nothing to do with it.
pub(super) fn by_hand(facts: &PackFacts<'_>, html: &mut Html) {
    html.raw("<section class=\"hand\" aria-label=\"Checking by hand\"><details><summary>Check it by hand</summary>");
    let algorithms = ["sha256", "sha512", "sha384", "sha224", "sha1", "md5"];
    let is_there = |algorithm: &&str| {
        let manifest = format!("manifest-{algorithm}.txt");
        facts.files().any(|file| split(file.name).1 == manifest)
    };
    match algorithms.into_iter().find(is_there) {
        None => html.raw(
            "<p>The pack holds no manifest, so nothing in it says what its contents should be.</p>",
        ),
        Some(algorithm) => {
            let archive = shell::path(Path::new(facts.name));
            let unpack = match facts.container {
                Some(Container::Zip) => format!("unzip -q {archive} -d unpacked\n"),
                Some(Container::Tar | Container::TarGz) => {
                    format!("mkdir unpacked && tar -xf {archive} -C unpacked\n")
                }
                Some(Container::TarZst) => {
                    format!("mkdir unpacked && tar --zstd -xf {archive} -C unpacked\n")
                }
                _ => String::new(),
            };
            let root = match (facts.container, facts.layout) {
                (Some(Container::Directory) | None, _) => &archive,
                (_, Layout::BagIt) => "unpacked/*/",
                (_, Layout::Plain) => "unpacked",
            };
            let check = format!("cd {root} && {algorithm}sum --quiet -c manifest-{algorithm}.txt");
            html.raw(
                "<p>With the pack in the current directory, and no tool but these:</p><pre><code>",
            );
            html.lines(&(unpack + &check));
            html.raw("</code></pre><p>Nothing is printed when every file is what it was.</p>");
        }
    }
    html.raw("</details></section>");
}
