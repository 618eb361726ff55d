//! Head of the page: facts about the pack, the verdict, and how to check it by hand.

use std::collections::BTreeMap;
use std::path::Path;

use ra_pack::archive::MemberKind;
use ra_pack::display::markdown::{MOST_README, of_markdown};
use ra_pack::finding::{Place, counts};
use ra_pack::inspect::Listed;
use ra_pack::message::Words;
use ra_pack::ndl::Attribute;
use ra_pack::signature::Signature;
use ra_pack::verify::{Verdict, VerifyReport};
use ra_pack::write::Layout;
use ra_pack::{Container, Finding};

use super::super::shell;
use super::super::text::{grouped, human_bytes};
use super::card::{self, Subject, cut, split, stem};
use super::{Html, Id, counted, html, lines};

/// Largest number of findings that are shown; a badly damaged pack has at least one per file.
pub(super) const MOST_FINDINGS: usize = 1000;

/// Facts about the pack.
#[derive(Debug)]
pub(super) struct PackFacts<'a> {
    /// Name of the pack in the page.
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

/// Returns the attributes of the pack, and its README.
pub(super) fn about(attributes: &[Attribute], readme: Option<(&str, &str)>) -> Html {
    let table = card::attributes(attributes, "About this pack");
    let table = table.map(|table| {
        html!("<section class=\"about\" aria-label=\"About this pack\">{}</section>", table)
    });
    let readme = readme.map(|(name, text)| {
        let (start, rest) = cut(text, MOST_README);
        let more = (!rest.is_empty())
            .then(|| html!("\n… and {} more characters", grouped(rest.chars().count())));
        let is_markdown = name.to_ascii_lowercase().ends_with(".md");
        let start = if is_markdown {
            html!("{}{}", Html(of_markdown(start)), more.map(|more| html!("<p>{}</p>", more)))
        } else {
            html!("<pre tabindex=\"0\">{}{}</pre>", lines(start), more)
        };
        html!(
            "<section class=\"readme\" aria-label=\"{}\"><details open><summary><h2>{}</h2></summary>\
             {}</details></section>",
            name,
            name,
            start
        )
    });
    html!("{}{}", table, readme)
}

pub(super) fn facts(facts: &PackFacts<'_>) -> Html {
    let layout = match facts.layout {
        Layout::BagIt => "BagIt bag",
        _ => "plain",
    };
    let bytes = facts.files().fold(0, |sum: u64, file| sum.saturating_add(file.bytes));
    let rows = [
        ("Arrays", grouped(facts.arrays.len())),
        ("Groups", grouped(facts.groups)),
        ("Files", grouped(facts.files().count())),
        ("Size", human_bytes(bytes)),
        ("Container", facts.container.map_or_else(|| "unknown".to_owned(), |it| it.to_string())),
        ("Layout", layout.to_owned()),
    ];
    let rows = rows.map(|(name, value)| html!("<div><dt>{}</dt><dd>{}</dd></div>", name, value));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for Subject { array, .. } in facts.arrays {
        *counts.entry(array.type_name()).or_default() += 1;
    }
    let count = |(name, count): (&String, &usize)| {
        html!(" <span>{} <i>{}</i></span>", name, grouped(*count))
    };
    let undescribed = facts.arrays.iter().filter(|subject| !subject.array.described).count();
    let undescribed = (undescribed > 0)
        .then(|| html!(" <span class=\"w\">not described <i>{}</i></span>", grouped(undescribed)));
    let types: Vec<_> = counts.iter().map(count).collect();
    let types = (!types.is_empty())
        .then(|| html!("<p class=\"types\"><b>Types</b>{}{}</p>", types, undescribed));
    html!("<dl class=\"facts\">{}</dl>{}", Vec::from(rows), types)
}

/// Returns the verdict and all findings.
pub(super) fn verification(report: Option<&VerifyReport>, findings: &[Finding]) -> Html {
    let (errors, warnings) = counts(findings);
    let also = match warnings {
        0 => String::new(),
        count => format!(", {}", counted(count, "warning")),
    };
    let (class, mark, verdict) = match report {
        _ if Verdict::of(findings, true) == Verdict::NotVerified => {
            ("open", "?", format!("Not verified: no manifest{also}"))
        }
        _ if errors > 0 => ("bad", "✗", format!("Not valid: {}{also}", counted(errors, "error"))),
        None => ("open", "?", format!("Not verified{also}")),
        Some(report) if !report.contents_read => {
            ("open", "?", format!("No errors found, contents not read{also}"))
        }
        Some(_) if warnings > 0 => ("warn", "✓", format!("Valid{also}")),
        Some(_) => ("good", "✓", "Valid".to_owned()),
    };
    let unchecked = "The contents were not checked against a manifest for this page.";
    html!(
        "<section class=\"verdict {}\" id=\"/verification\" aria-label=\"Verification\"><p \
         class=\"mark\"><span aria-hidden=\"true\">{}</span> <b>{}</b></p>{}{}</section>",
        class,
        mark,
        verdict,
        report.map_or_else(|| html!("<p>{}</p>", unchecked), checked),
        (!findings.is_empty()).then(|| list(findings))
    )
}

/// Returns the reasons for the verdict.
fn checked(report: &VerifyReport) -> Html {
    let members = counted(report.files, "file");
    let manifests = if report.manifests.is_empty() {
        html!("No manifest to check the contents against; ")
    } else {
        let (size, manifests) = (human_bytes(report.bytes), report.manifests.join(", "));
        html!("{} ({}) checked against {}; ", members, size, manifests)
    };
    let bag = report.bag.as_ref().map(|bag| {
        let state = match (bag.complete, bag.valid) {
            (_, true) => "valid",
            (true, false) => "complete, not valid",
            (false, false) => "incomplete",
        };
        html!(" BagIt {}: {}.", bag.version.as_deref().unwrap_or("without a version"), state)
    });
    let signature =
        |it: &Signature| html!(" Signature <code>{}</code>: {}.", it.name.as_str(), it.summary());
    let intact = report.intact.as_ref().filter(|_| !report.is_valid()).map(|intact| {
        let (arrays, files) = (grouped(intact.arrays), grouped(intact.files));
        let all = counted(report.arrays, "array");
        html!("<p>Intact: {} of {}, {} of {}.</p>", arrays, all, files, members)
    });
    html!(
        "<p>{}container, headers and descriptions checked.{}{}{}</p>{}",
        manifests,
        bag,
        report.ro_crate.as_ref().map(|it| html!(" RO-Crate {}.", it)),
        report.signatures.iter().map(signature).collect::<Vec<_>>(),
        intact
    )
}

fn list(findings: &[Finding]) -> Html {
    let item = |(number, finding): (usize, &Finding)| {
        let (class, word) = if finding.is_error() { ("bad", "error") } else { ("warn", "warning") };
        let next = finding.hint.as_ref().map(|hint| hint.in_words(Words::Command));
        let facts = [("expected", &finding.expected), ("found", &finding.found), ("next", &next)];
        let facts = facts.map(|(name, text)| {
            text.as_ref().map(|text| html!("<p class=\"n\">{}: {}</p>", name, coded(text)))
        });
        html!(
            "<li class=\"{}\" id=\"/finding/{}\"><p><code>{}</code> <b>{}</b> {}</p>{}{}</li>",
            class,
            number,
            finding.code.id(),
            word,
            coded(&finding.message),
            place(finding),
            Vec::from(facts)
        )
    };
    let shown = findings.iter().enumerate().take(MOST_FINDINGS).map(item);
    let more = findings.len().checked_sub(MOST_FINDINGS).filter(|more| *more > 0).map(|more| {
        let more = counted(more, "more finding");
        html!("<p>{} omitted; <code>ra-pack verify</code> lists all.</p>", more)
    });
    html!("<ol class=\"findings\">{}</ol>{}", shown.collect::<Vec<_>>(), more)
}

/// Returns a message, with the parts between backticks as code.
fn coded(text: &str) -> Html {
    let parts: Vec<_> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html!("{}", text);
    }
    let part = |(number, part): (usize, &str)| match number % 2 {
        0 => html!("{}", part),
        _ => html!("<code>{}</code>", part),
    };
    html!("{}", parts.into_iter().enumerate().map(part).collect::<Vec<_>>())
}

fn place(finding: &Finding) -> Option<Html> {
    let (array, member) = (finding.array.as_deref(), finding.member.as_deref());
    if member.is_none() && array.is_none() && finding.place.is_none() {
        return None;
    }
    let place = finding.place.map(|place| match place {
        Place::Byte { offset } => format!(", byte {}", grouped(offset)),
        Place::Line { line } => format!(", line {line}"),
        Place::Text { line, column, .. } => format!(", line {line}, column {column}"),
        _ => String::new(),
    });
    let array = array.map(stem).map(|array| html!(" · <a href=\"#{}\">{}</a>", Id(array), array));
    let member = member.unwrap_or("the container");
    Some(html!("<p class=\"n\">in <code>{}</code>{}{}</p>", member, place, array))
}

/// Returns commands that check the pack without ra-pack.
pub(super) fn by_hand(facts: &PackFacts<'_>) -> Html {
    let algorithms = ["sha256", "sha512", "sha384", "sha224", "sha1", "md5"];
    let is_there = |algorithm: &&str| {
        let manifest = format!("manifest-{algorithm}.txt");
        facts.files().any(|file| split(file.name).1 == manifest)
    };
    let check = match algorithms.into_iter().find(is_there) {
        None => html!("<p>The pack has no manifest, so its contents cannot be checked.</p>"),
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
                _ => "unpacked",
            };
            let check = format!("cd {root} && {algorithm}sum --quiet -c manifest-{algorithm}.txt");
            html!(
                "<p>With the pack in the current directory:</p><pre><code>{}\
                 </code></pre><p>The last command prints nothing if every file is intact.</p>",
                lines(&(unpack + &check))
            )
        }
    };
    html!(
        "<section class=\"hand\" aria-label=\"Checking by hand\"><details><summary>Check it by \
         hand</summary>{}</details></section>",
        check
    )
}
