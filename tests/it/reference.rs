//! The pages of commands and of codes are what `--help` and `explain` print.
//!
//! `RA_PACK_WRITE_DOCS=1 cargo test generated` writes them.

use std::fmt::Write as _;

use ra_pack::Code;

use crate::help::{commands, help};
use crate::page::check_page;

/// The letters that codes begin with, and the title of their section.
const FAMILIES: &[(&str, &str)] = &[
    ("NDL", "Descriptions"),
    ("DESC", "Descriptions and their arrays"),
    ("META", "Units, names and values in descriptions"),
    ("RA", "Arrays"),
    ("ARC", "Archives"),
    ("MAN", "Manifests"),
    ("BAG", "Bags"),
    ("PROF", "BagIt profiles"),
    ("NAME", "Names of files"),
    ("SIG", "Signatures and time-stamps"),
    ("STORE", "Objects in stores"),
    ("REPO", "Repositories"),
    ("CONV", "Conventions"),
];

#[test]
fn the_page_of_commands_is_generated_from_their_help() {
    let (top, global) = split(&help(&[]));
    let mut page = String::from(
        "# Commands\n\n`ra-pack help COMMAND` prints the same text. `ra-pack man` writes manual pages.\n\
         The options of all commands are in the first section only.\n\n## Overview\n",
    );
    write!(page, "\n```text\n{top}\n\n{global}\n```\n").unwrap();
    for command in commands() {
        let (text, of_all) = split(&help(&[&command]));
        assert!(of_all.contains("--color"), "{command}: {of_all}");
        write!(page, "\n## {command}\n\n```text\n{text}\n```\n").unwrap();
    }
    check_page("docs/cli.md", &page);
}

/// Divides a help text: all but the options of all commands, and these.
fn split(help: &str) -> (String, String) {
    let begins = |part: &&str| {
        part.starts_with("Global options:") || part.starts_with("Options:\n      --color")
    };
    let (global, rest): (Vec<_>, Vec<_>) = help.trim_end().split("\n\n").partition(begins);
    (rest.join("\n\n"), global.join("\n\n"))
}

#[test]
fn the_page_of_codes_is_generated_from_their_explanations() {
    let mut page = String::from(
        "# Codes of errors and warnings\n\nEach problem that a command reports has a code, which never changes its meaning.\n`ra-pack explain CODE` prints the same text.\n",
    );
    let family = |code: &Code| {
        let letters = code.id().trim_end_matches(|c: char| c.is_ascii_digit());
        let known = FAMILIES.iter().position(|(known, _)| *known == letters);
        known.unwrap_or_else(|| panic!("no title for the codes that begin with {letters}"))
    };
    for (number, (letters, title)) in FAMILIES.iter().enumerate() {
        write!(page, "\n## {title}: {letters}\n").unwrap();
        for code in Code::ALL.iter().filter(|code| family(code) == number) {
            let about = code.explanation();
            let title = about.title.trim_end_matches('.');
            write!(page, "\n### {}: {title}\n\n{}\n", about.code, about.text).unwrap();
            for (word, example) in [("Wrong", about.wrong), ("Right", about.right)] {
                let example = example.text().trim_end();
                write!(page, "\n{word}:\n\n```text\n{example}\n```\n").unwrap();
            }
            write!(page, "\nSource of the rule: {}.\n", about.source).unwrap();
        }
    }
    check_page("docs/codes.md", &page);
}
