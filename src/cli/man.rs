//! `ra-pack man`

use std::io::Write as _;
use std::path::PathBuf;

use clap::builder::StyledStr;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man as Page;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use super::args::Cli;
use super::files;
use super::numbers::counted;
use super::output::Output;
use super::{Ending, Failure};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack man | man -l -
  ra-pack man create > ra-pack-create.1
  ra-pack man -o share/man/man1")]
pub(crate) struct Man {
    /// The command; ra-pack itself when there is none.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,

    /// Write the page to this directory, or without COMMAND those of all commands; it is made when it is
    /// not there, and pages in it are replaced.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Man, output: &Output) -> Result<Ending, Failure> {
    let mut top = Cli::command();
    top.build();
    let mut pages: Vec<&Command> = vec![&top];
    // `help` has nothing to say that the others do not.
    pages.extend(top.get_subcommands().filter(|command| command.get_name() != "help"));
    match &args.command {
        None if args.output.is_none() => pages.truncate(1),
        None => {}
        Some(wanted) => pages.retain(|command| command.get_name() == wanted),
    }
    if let (Some(wanted), true) = (&args.command, pages.is_empty()) {
        return Err(ra_pack::Error::Unsupported(format!(
            "there is no command `{}`",
            ra_pack::escape(wanted)
        ))
        .into());
    }
    let Some(directory) = &args.output else {
        for command in pages {
            output.result(&page(command)?)?;
        }
        return Ok(Ending::Clean);
    };
    for command in &pages {
        files::write(directory, &format!("{}.1", name(command)), &page(command)?)?;
    }
    let count = counted(u64::try_from(pages.len()).unwrap_or(u64::MAX), "page");
    output.note(&format!("wrote {count} to {}", ra_pack::escape(&directory.to_string_lossy())));
    Ok(Ending::Clean)
}

/// What the page of a command is called: `ra-pack-create`.
fn name(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_owned()
}

/// The page of a command in the language of `man`.
fn page(command: &Command) -> std::io::Result<String> {
    let name = name(command);
    let sections = sections(command);
    let text = text_of(command.get_long_about().or(command.get_about()));
    let bin_name = name.replacen("ra-pack-", "ra-pack ", 1);
    let page = Page::new(command.clone().display_name(&name).bin_name(bin_name));
    let mut out = Vec::new();
    // Without a date, so that the same program has the same pages.
    writeln!(out, ".TH {name} 1 \"\" \"ra-pack {}\" ra-pack", env!("CARGO_PKG_VERSION"))?;
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    paragraphs("DESCRIPTION", &text).to_writer(&mut out)?;
    page.render_options_section(&mut out)?;
    if command.get_subcommands().next().is_some() {
        commands(command).to_writer(&mut out)?;
    }
    for (title, body) in &sections {
        section(title, body).to_writer(&mut out)?;
    }
    see_also(command).to_writer(&mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn text_of(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// What stands below the options in `--help`, by its headings. Every page has the exit status, unless it
/// has words of its own for it, and the environment.
fn sections(command: &Command) -> Vec<(String, String)> {
    let below = command.get_after_long_help().or(command.get_after_help());
    let mut sections = split(&text_of(below));
    for (title, body) in split(super::args::SHARED) {
        match sections.iter_mut().find(|(known, _)| *known == title) {
            Some((_, own)) if title == "ENVIRONMENT" && !own.contains("NO_COLOR") => {
                own.push('\n');
                own.push_str(&body);
            }
            Some(_) => {}
            None => sections.push((title, body)),
        }
    }
    sections
}

/// Headings are lines that end in a colon and are followed by something indented.
fn split(text: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let heading = line.strip_suffix(':').filter(|line| !line.starts_with(' '));
        match (heading, sections.last_mut()) {
            (Some(title), _) => sections.push((title.to_uppercase(), String::new())),
            (None, Some((_, body))) => {
                body.push_str(line);
                body.push('\n');
            }
            (None, None) => sections.push(("NOTES".to_owned(), format!("{line}\n"))),
        }
    }
    for (_, body) in &mut sections {
        body.truncate(body.trim_end().len());
    }
    sections
}

/// Lines as they stand: they are examples and tables.
fn section(title: &str, body: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    roff.control("nf", []);
    for line in body.lines() {
        roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    roff.control("fi", []);
    roff
}

fn paragraphs(title: &str, text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (nth, paragraph) in text.split("\n\n").enumerate() {
        if nth > 0 {
            roff.control("PP", []);
        }
        roff.text([roman(paragraph.trim())]);
    }
    roff
}

/// The commands, each with the page that it has.
fn commands(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        roff.control("TP", []);
        roff.text([bold(name(command)), roman("(1)")]);
        roff.text([roman(text_of(command.get_about()))]);
    }
    roff
}

fn see_also(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    let others: [Inline; 2] = match command.get_subcommands().next() {
        None => [bold("ra-pack"), roman("(1)")],
        Some(_) => [bold("sha256sum"), roman("(1), zip(1), tar(1)")],
    };
    roff.text(others);
    roff
}
