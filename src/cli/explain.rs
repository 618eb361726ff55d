//! `ra-pack explain`

use std::fmt::Write;

use clap::Args;
use ra_pack::Code;
use ra_pack::ndl::{Example, Explanation};
use serde::Serialize;

use super::output::Output;
use super::{Ending, Failure};

/// A code in the list.
#[derive(Debug, Serialize)]
struct Listed {
    code: Code,
    title: &'static str,
}

/// A code with everything about it.
#[derive(Debug, Serialize)]
struct Explained {
    #[serde(flatten)]
    listed: Listed,
    #[serde(flatten)]
    explanation: Explanation,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack explain DESC004
  ra-pack explain")]
pub(crate) struct Explain {
    /// The code, as findings show it in brackets; all codes when there is none.
    #[arg(value_name = "CODE")]
    code: Option<Code>,

    /// Print the result as JSON on standard output.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Explain, output: &Output) -> Result<Ending, Failure> {
    match args.code {
        Some(code) if args.json => {
            output.json(&Explained { listed: listed(code), explanation: code.explanation() })?;
        }
        Some(code) => output.result(&explained(code))?,
        None if args.json => output.json(&Code::all().map(listed).collect::<Vec<_>>())?,
        None => {
            let lines: Vec<_> = Code::all()
                .map(|code| format!("{:<8} {}\n", code.id(), sentence(code.title())))
                .collect();
            output.result(&lines.concat())?;
        }
    }
    Ok(Ending::Clean)
}

fn listed(code: Code) -> Listed {
    Listed { code, title: code.title() }
}

fn explained(code: Code) -> String {
    let Explanation { text, source, wrong, right } = code.explanation();
    let mut page = format!("{}: {}\n\n", code.id(), sentence(code.title()));
    for line in wrapped(&text) {
        let _ = writeln!(page, "{line}");
    }
    let _ = write!(page, "\nRule of {source}.\n");
    for (word, example) in [("Wrong", wrong), ("Right", right)] {
        let kind = match example {
            Example::Document(_) => ", a whole document",
            Example::Sketch(_) => "",
        };
        let _ = write!(page, "\n{word}{kind}:\n\n");
        for line in example.text().lines() {
            let _ = writeln!(page, "    {line}");
        }
    }
    page
}

/// A title without a capital letter or final period that only its own place needs.
fn sentence(title: &str) -> String {
    let title = title.trim_end_matches('.');
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Longest line of a paragraph, in characters.
const WIDTH: usize = 80;

fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count().saturating_add(word.chars().count()) < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
