//! What the page says of the pack as a whole: what it is, whether it is whole, and how to see that by hand.

use std::collections::{BTreeMap, BTreeSet};

use ra_pack::{Container, Finding, Layout, Place, VerifyReport, count_errors, escape};

use super::super::output::human_bytes;
use super::card::stem;
use super::html::Html;
use super::numbers::{counted, grouped};

/// Findings that are shown; a pack of which nothing is right has as many as files.
pub(super) const MOST_FINDINGS: usize = 1000;

/// What is counted.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    /// What the page calls the pack.
    pub(super) name: &'a str,
    pub(super) container: Option<Container>,
    pub(super) layout: Layout,
    pub(super) arrays: usize,
    pub(super) groups: usize,
    pub(super) undescribed: usize,
    pub(super) files: usize,
    pub(super) bytes: u64,
    /// How many arrays have elements of each type.
    pub(super) types: BTreeMap<&'a str, usize>,
    /// The manifests at the root, by their names.
    pub(super) manifests: BTreeSet<&'a str>,
}

pub(super) fn facts(facts: &Facts<'_>, html: &mut Html) {
    html.raw("<dl class=\"facts\">");
    let mut fact = |name: &'static str, value: String| {
        html.raw("<div><dt>").raw(name).raw("</dt><dd>").text(value).raw("</dd></div>");
    };
    fact("Arrays", grouped(facts.arrays));
    fact("Groups", grouped(facts.groups));
    fact("Files", grouped(facts.files));
    fact("Size", human_bytes(facts.bytes));
    let container = facts.container.map_or_else(|| "unknown".to_owned(), |it| it.to_string());
    fact("Container", container);
    fact(
        "Layout",
        match facts.layout {
            Layout::Plain => "plain".to_owned(),
            Layout::BagIt => "BagIt bag".to_owned(),
        },
    );
    html.raw("</dl>");
    if !facts.types.is_empty() {
        html.raw("<p class=\"types\"><b>Types</b>");
        for (name, count) in &facts.types {
            html.raw(" <span>").text(escape(name)).raw(" <i>").text(grouped(*count));
            html.raw("</i></span>");
        }
        if facts.undescribed > 0 {
            html.raw(" <span class=\"w\">not described <i>").text(grouped(facts.undescribed));
            html.raw("</i></span>");
        }
        html.raw("</p>");
    }
}

/// The verdict, and everything that is wrong.
pub(super) fn verification(report: Option<&VerifyReport>, findings: &[Finding], html: &mut Html) {
    let errors = count_errors(findings);
    let warnings = findings.len().saturating_sub(errors);
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
    html.raw("<section class=\"verdict ")
        .text(class)
        .raw("\" id=\"/verification\" aria-label=\"Verification\">");
    html.raw("<p class=\"mark\"><span aria-hidden=\"true\">").text(mark).raw("</span> <b>");
    html.text(verdict).raw("</b></p>");
    match report {
        None => {
            html.raw(
                "<p>The contents were not held against a manifest when this page was made.</p>",
            );
        }
        Some(report) => checked(report, html),
    }
    if !findings.is_empty() {
        list(findings, html);
    }
    html.raw("</section>");
}

/// What the verdict rests on.
fn checked(report: &VerifyReport, html: &mut Html) {
    html.raw("<p>");
    if report.manifests.is_empty() {
        html.raw("No manifest vouches for the contents; ");
    } else {
        html.text(counted(report.members, "file")).raw(" (").text(human_bytes(report.bytes));
        html.raw(") held against ").text(escape(&report.manifests.join(", "))).raw("; ");
    }
    html.raw("container, headers and descriptions checked.");
    if let Some(bag) = &report.bag {
        html.raw(" BagIt ").text(escape(bag.version.as_deref().unwrap_or("of no version")));
        html.raw(match (bag.complete, bag.valid) {
            (_, true) => ": valid.",
            (true, false) => ": complete, not valid.",
            (false, false) => ": incomplete.",
        });
    }
    if let Some(ro_crate) = &report.ro_crate {
        html.raw(" RO-Crate ").text(escape(ro_crate)).raw(".");
    }
    for signature in &report.signatures {
        html.raw(" Signature <code>").text(escape(signature)).raw("</code>, not checked.");
    }
    html.raw("</p>");
    if !report.is_sound()
        && let Some(intact) = &report.intact
    {
        html.raw("<p>Intact: ").text(grouped(intact.arrays)).raw(" of ");
        html.text(counted(report.arrays, "array")).raw(", ").text(grouped(intact.members));
        html.raw(" of ").text(counted(report.members, "file")).raw(".</p>");
    }
}

fn list(findings: &[Finding], html: &mut Html) {
    html.raw("<ol class=\"findings\">");
    for (number, finding) in findings.iter().enumerate().take(MOST_FINDINGS) {
        html.raw(if finding.is_error() { "<li class=\"bad\"" } else { "<li class=\"warn\"" });
        html.raw(" id=\"/finding/").text(number).raw("\"><p><code>").text(finding.code.id());
        html.raw("</code> <b>").raw(if finding.is_error() { "error" } else { "warning" });
        html.raw("</b> ").text(escape(&finding.message)).raw("</p>");
        place(finding, html);
        let mut fact = |name: &'static str, text: &Option<String>| {
            if let Some(text) = text {
                html.raw("<p class=\"n\">").raw(name).text(escape(text)).raw("</p>");
            }
        };
        fact("expected: ", &finding.expected);
        fact("found: ", &finding.found);
        fact("next: ", &finding.hint);
        html.raw("</li>");
    }
    html.raw("</ol>");
    if let Some(more @ 1..) = findings.len().checked_sub(MOST_FINDINGS) {
        html.raw("<p>")
            .text(counted(more, "more finding"))
            .raw(" are left out here; <code>ra-pack verify</code> lists all.</p>");
    }
}

fn place(finding: &Finding, html: &mut Html) {
    let array = finding.array.as_deref();
    let member = finding.member.as_deref();
    if member.is_none() && array.is_none() && finding.place.is_none() {
        return;
    }
    html.raw("<p class=\"n\">in ");
    html.raw("<code>").text(escape(member.unwrap_or("the container"))).raw("</code>");
    match finding.place {
        Some(Place::Byte { offset }) => {
            html.raw(", byte ").text(grouped(offset));
        }
        Some(Place::Line { line }) => {
            html.raw(", line ").text(line);
        }
        Some(Place::Text { line, column, .. }) => {
            html.raw(", line ").text(line).raw(", column ").text(column);
        }
        None => {}
    }
    if let Some(array) = array {
        html.raw(" · <a href=\"#").id(stem(array)).raw("\">").text(escape(stem(array))).raw("</a>");
    }
    html.raw("</p>");
}

/// How anybody sees that the pack is whole, with tools that have nothing to do with it.
pub(super) fn by_hand(facts: &Facts<'_>, html: &mut Html) {
    html.raw("<section class=\"hand\" aria-label=\"Checking by hand\"><details><summary>Check it by hand</summary>");
    let wanted = ["sha512", "sha384", "sha256", "sha224", "sha1", "md5"];
    let found = wanted
        .into_iter()
        .find(|algorithm| facts.manifests.contains(&*format!("manifest-{algorithm}.txt")));
    let found =
        if facts.manifests.contains("manifest-sha256.txt") { Some("sha256") } else { found };
    match found {
        None => {
            html.raw("<p>The pack holds no manifest, so nothing in it says what its contents should be.</p>");
        }
        Some(algorithm) => {
            html.raw(
                "<p>With the pack in the current directory, and no tool but these:</p><pre><code>",
            );
            let archive = quoted(facts.name);
            let into = "unpacked";
            let unpack = match facts.container {
                Some(Container::Zip) => format!("unzip -q {archive} -d {into}\n"),
                Some(Container::Tar | Container::TarGz) => {
                    format!("mkdir {into} && tar -xf {archive} -C {into}\n")
                }
                Some(Container::TarZst) => {
                    format!("mkdir {into} && tar --zstd -xf {archive} -C {into}\n")
                }
                _ => String::new(),
            };
            let root = match (facts.container, facts.layout) {
                (Some(Container::Directory) | None, _) => archive,
                (_, Layout::BagIt) => format!("{into}/*/"),
                (_, Layout::Plain) => into.to_owned(),
            };
            html.text(escape(unpack.trim_end()));
            html.raw(if unpack.is_empty() { "" } else { "\n" });
            html.text(escape(&format!(
                "cd {root} && {algorithm}sum --quiet -c manifest-{algorithm}.txt"
            )));
            html.raw("</code></pre><p>Nothing is printed when every file is what it was.</p>");
        }
    }
    html.raw("</details></section>");
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+/".contains(&byte);
    let name = if name.starts_with('-') { format!("./{name}") } else { name.to_owned() };
    if name.bytes().all(is_plain) { name } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_for_a_shell() {
        assert_eq!(quoted("exp-1.zip"), "exp-1.zip");
        assert_eq!(quoted("my exp's.zip"), "'my exp'\\''s.zip'");
        assert_eq!(quoted("-rf.zip"), "./-rf.zip");
    }
}
