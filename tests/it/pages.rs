//! Every page is true: a test runs each fenced block, each link leads somewhere, and each command and option that
//! is named between backticks is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::experiment::ra_pack;
use crate::help::commands;
use crate::page::{blocks, read};

/// What makes sure that the blocks of one kind on a page are right.
enum Held {
    /// A test in a file of `tests/it`.
    By(&'static str, &'static str),
    /// The tests of documentation, which `src/lib.rs` takes the page into.
    Compiled,
    /// Nothing here does, and why.
    Not(&'static str),
}

use Held::{By, Compiled, Not};

/// Each page with each kind of block on it. A block that is not in this list fails the tests.
const BLOCKS: &[(&str, &str, Held)] = &[
    (
        "README.md",
        "sh",
        Not("it builds and runs all tests; `examples.rs` runs the example, the gate both"),
    ),
    ("README.md", "console", By("readme.rs", "the_console_sessions_are_real")),
    ("README.md", "rust", Compiled),
    ("CONTRIBUTING.md", "sh", Not("it is the gate, which runs this")),
    ("docs/architecture.md", "text", By("layers.rs", "imports_point_down_and_every_room_is_kept")),
    ("docs/bagit.md", "console", By("docs.rs", "the_page_about_bags_shows_what_happens")),
    ("docs/coming-from-ra.md", "console", By("docs.rs", "what_the_ra_tools_did_is_done")),
    ("docs/comparing.md", "console", By("docs.rs", "the_page_about_comparing_shows_what_happens")),
    (
        "docs/converting.md",
        "console",
        By("docs.rs", "the_page_about_converting_shows_what_happens"),
    ),
    ("docs/describing.md", "console", By("docs.rs", "the_tutorial_shows_what_happens")),
    ("docs/describing.md", "yaml", By("docs.rs", "the_tutorial_shows_what_happens")),
    ("docs/describing.md", "text", By("docs.rs", "the_tutorial_shows_what_happens")),
    ("docs/format.md", "console", By("readers.rs", "the_page_about_the_format_shows_what_happens")),
    ("docs/format.md", "yaml", By("readers.rs", "the_page_about_the_format_shows_what_happens")),
    ("docs/keeping.md", "console", By("docs.rs", "the_recipes_for_keeping_a_pack_work")),
    ("docs/library.md", "rust", Compiled),
    ("docs/looking.md", "console", By("docs.rs", "the_page_about_looking_shows_what_happens")),
    (
        "docs/performance.md",
        "sh",
        Not("it takes hours and 20 GB; `cargo test` runs the same program on a few files"),
    ),
    ("docs/reporting.md", "console", By("docs.rs", "the_page_about_reports_shows_what_happens")),
    ("docs/schemas.md", "console", By("schemas.rs", "the_docs_show_what_an_editor_needs")),
    ("docs/schemas.md", "yaml", By("schemas.rs", "the_docs_show_what_an_editor_needs")),
    ("docs/scripting.md", "console", By("scripts.rs", "the_page_about_scripts_shows_what_happens")),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages for people: README, and what lies in `docs`.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(format!("docs/{}", path.file_name().unwrap().display()));
        }
    }
    pages.sort();
    pages
}

/// The body of a test, up to the next item.
fn body<'a>(file: &'a str, test: &str) -> Option<&'a str> {
    let (_, after) = file.split_once(&format!("\nfn {test}() {{\n"))?;
    after.split("\n}\n").next()
}

#[test]
fn every_block_of_every_page_is_held_by_a_test() {
    let mut there = BTreeSet::new();
    for page in pages() {
        let text = read(&page);
        // A fence that is indented would be seen by readers, and not by `blocks`.
        for line in text.lines().filter(|line| line.trim_start().starts_with("```")) {
            assert!(line.starts_with("```"), "{page}: an indented fence: {line}");
        }
        there.extend(blocks(&text).into_iter().map(|block| (page.clone(), block.kind)));
    }
    let held: BTreeSet<_> =
        BLOCKS.iter().map(|(page, kind, _)| ((*page).to_owned(), (*kind).to_owned())).collect();
    let loose: Vec<_> = there.difference(&held).collect();
    assert!(loose.is_empty(), "no test runs these blocks: {loose:?}");
    let stale: Vec<_> = held.difference(&there).collect();
    assert!(stale.is_empty(), "these blocks are gone: {stale:?}");
}

#[test]
fn what_holds_a_block_is_there() {
    let library = read("src/lib.rs");
    for (page, _, held) in BLOCKS {
        match held {
            By(file, test) => {
                let file = read(&format!("tests/it/{file}"));
                let body = body(&file, test);
                let names_it = body.is_some_and(|body| body.contains(&format!("\"{page}\"")));
                assert!(names_it, "{page}: `{test}` does not read it");
            }
            Compiled => {
                let included = format!("include_str!(\"../{page}\")");
                assert!(library.contains(&included), "{page}: src/lib.rs has no `{included}`");
            }
            Not(why) => assert!(!why.is_empty()),
        }
    }
}

/// The headings of a page as addresses, in the way of GitHub.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let words = heading.trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    anchors
}

/// What links of a page lead to: all that stands between `](` and `)`, outside of code.
fn links(text: &str) -> Vec<String> {
    let prose: String = prose(text);
    let parts = prose.split("](").skip(1);
    parts.map(|part| part.split(')').next().unwrap().to_owned()).collect()
}

/// A page without its fenced blocks.
fn prose(text: &str) -> String {
    text.split("\n```").step_by(2).collect()
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let mut seen = 0;
    for page in pages() {
        let text = read(&page);
        for link in links(&text) {
            if link.starts_with("https://") {
                continue;
            }
            seen += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let directory = Path::new(&page).parent().unwrap();
            let target = if path.is_empty() { PathBuf::from(&page) } else { directory.join(path) };
            assert!(root().join(&target).exists(), "{page}: `{link}` leads nowhere");
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(root().join(&target)).unwrap());
                assert!(there.contains(anchor), "{page}: `{link}`: only {there:?}");
            }
        }
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn the_index_names_every_page() {
    let index = read("docs/README.md");
    let linked: BTreeSet<_> = links(&index).into_iter().collect();
    for page in pages() {
        if let Some(name) = page.strip_prefix("docs/").filter(|name| *name != "README.md") {
            assert!(linked.contains(name), "docs/README.md does not name {name}");
        }
    }
}

/// What stands between single backticks.
fn code(text: &str) -> Vec<String> {
    let prose = prose(text).replace('\n', " ");
    prose.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_command_and_option_that_a_page_names_is_there() {
    let helps: Vec<_> = commands()
        .into_iter()
        .map(|command| {
            let ran = ra_pack().args([&*command, "--help"]).assert().success();
            (command, String::from_utf8(ran.get_output().stdout.clone()).unwrap())
        })
        .collect();
    let (mut seen, mut wrong) = (0, Vec::new());
    for page in pages() {
        for code in code(&read(&page)) {
            let (is_ours, line) = match code.strip_prefix("ra-pack ") {
                Some(line) => (true, line),
                None => (false, &*code),
            };
            let mut words = line.split_whitespace();
            let command = words.next().unwrap_or_default();
            let Some((_, help)) = helps.iter().find(|(name, _)| name == command) else {
                let known = ["help", "--help", "--version"].contains(&command);
                if is_ours && !known {
                    wrong.push(format!("{page}: `{code}`"));
                }
                continue;
            };
            seen += 1;
            // An option stands in `--help` with a blank, a comma, an equals sign or a bracket behind it.
            let options = words.filter(|word| word.starts_with("--"));
            let options = options.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric()));
            for option in options.map(|word| word.split('=').next().unwrap()) {
                let stands = help.match_indices(option).any(|(at, _)| {
                    let next = help[at + option.len()..].chars().next();
                    next.is_none_or(|c| !c.is_alphanumeric() && c != '-')
                });
                if !stands {
                    wrong.push(format!("{page}: `{code}`: no `{option}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 40, "{seen}");
}
