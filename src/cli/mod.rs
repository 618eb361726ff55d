//! The command-line tool: converts arguments to options, and reports to text and an exit status.

mod add;
mod args;
mod array;
mod audit;
pub(crate) mod common;
mod convert;
mod create;
mod describe;
mod diagnostics;
pub(crate) mod diff;
mod ending;
pub(crate) mod files;
mod foreign;
mod get;
mod help;
mod hints;
mod info;
mod list;
mod output;
mod pager;
pub(crate) mod plot;
mod progress;
mod reference;
mod refs;
pub(crate) mod report;
mod salvage;
mod shell;
mod show;
mod signals;
mod stderr;
mod table;
mod text;
mod verify;

use std::ffi::OsString;
use std::io;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use ra_pack::remote::{RemoteOptions, conceal};

use self::args::{Cli, Command};
pub(crate) use self::ending::{Ending, Failure};
use self::output::Output;

/// Runs the program with these words of the command line, of which the first is its name. Returns the exit status.
pub(crate) fn main(words: Vec<OsString>) -> u8 {
    let words = without_secrets(words);
    let ending = parse(&words).map_or_else(
        |ending| ending,
        |cli| {
            signals::stop_on_signals();
            run(cli, &words)
        },
    );
    match ending {
        Ending::Clean => 0,
        Ending::Findings => 1,
        Ending::Failed => 2,
    }
}

/// Parses the command line. Prints help, the version or an error if there is no command to run.
///
/// # Errors
///
/// The [`Ending`] if there is no command to run.
fn parse(words: &[OsString]) -> Result<Cli, Ending> {
    // clap prints the version as text at the first of these words.
    if let [_, one, other] = words
        && [one, other].iter().any(|word| *word == "--json")
        && [one, other].iter().any(|word| *word == "--version" || *word == "-V")
    {
        let output = Output::new(common::Color::Never, false, progress::When::Never);
        let printed = reference::versions(&output);
        return Err(printed.unwrap_or_else(|failure| complain(failure, words, &output)));
    }
    Cli::try_parse_from(words).map_err(|error| {
        // Words that are no URLs of packs are not replaced before, but may look like others with a password.
        let concealed = words.iter().map(|word| {
            word.to_str().map_or(word.clone(), |text| conceal(text).into_owned().into())
        });
        let words: Vec<OsString> = concealed.collect();
        let error = Cli::try_parse_from(words.clone()).err().unwrap_or(error);
        let is_unsafe =
            words.iter().any(|typed| typed.to_string_lossy().contains(ra_pack::path::is_unsafe));
        let ours = hints::tip(&error, &words);
        let mut error = help::answer(error, words);
        only_helpful_tips(&mut error, ours);
        if is_unsafe {
            let text = error.render().to_string();
            let lines: Vec<_> =
                text.lines().map(|line| ra_pack::path::escape(line).to_string()).collect();
            stderr::write(&(lines.join("\n") + "\n"));
        } else {
            // Help and version go to standard output, where a closed pipe does not matter.
            let _ = error.print();
        }
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ending::Clean,
            _ => Ending::Failed,
        }
    })
}

/// Replaces URLs in arguments by their names, which have no secrets. From here on, no message can contain one. The
/// address that `refs` writes is not changed.
fn without_secrets(words: Vec<OsString>) -> Vec<OsString> {
    const WRITTEN: &str = "--url";
    let mut is_written = false;
    let named = words.into_iter().map(|word| {
        let was_written = std::mem::replace(&mut is_written, word == WRITTEN);
        let Some(text) = word.to_str() else { return word };
        let (option, value) = match text.split_once('=').filter(|_| text.starts_with("--")) {
            Some((option, value)) => (Some(option), value),
            None => (None, text),
        };
        if was_written || option == Some(WRITTEN) {
            return word;
        }
        let name = ra_pack::remote::name(value);
        option.map_or_else(|| name.clone(), |option| format!("{option}={name}")).into()
    });
    named.collect()
}

/// Adds our tip, keeps only the most similar command among clap's suggestions, and removes the advice to pass an unknown
/// option as a name.
fn only_helpful_tips(error: &mut clap::Error, ours: Option<String>) {
    let mut tips: Vec<StyledStr> = ours.into_iter().map(StyledStr::from).collect();
    if let Some(ContextValue::StyledStrs(more)) = error.remove(ContextKind::Suggested) {
        tips.extend(more.into_iter().filter(|tip| !tip.to_string().starts_with("to pass")));
    }
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    // The last one is the most similar.
    if let Some(ContextValue::Strings(mut known)) = error.remove(ContextKind::SuggestedSubcommand)
        && let Some(nearest) = known.pop()
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![nearest]));
    }
}

/// Runs the command.
fn run(mut cli: Cli, words: &[OsString]) -> Ending {
    let mut output = Output::new(cli.shared.color, cli.shared.quiet, cli.shared.progress);
    let options =
        RemoteOptions { timeout: cli.shared.timeout, download: cli.shared.download, keep: true };
    ra_pack::remote::configure(options);
    if is_read_by_people(&cli.command) && output.is_terminal() && Output::is_capable() {
        pager::start();
    }
    let result = match foreign::open(&mut cli.command, &mut output) {
        // The pack is deleted after the command.
        Ok(_pack) => dispatch(&cli.command, &output),
        Err(failure) => Err(failure),
    };
    let ending = match result {
        Ok(ending) => ending,
        Err(failure) => match (&cli.command, complain(failure, words, &output)) {
            // Otherwise an unreadable array would look like one that differs.
            (Command::Diff(_), Ending::Findings) => Ending::Failed,
            (_, ending) => ending,
        },
    };
    if cli.shared.verbose {
        let traffic = ra_pack::remote::traffic();
        let (requests, bytes) = (text::counted(traffic.requests, "request"), traffic.bytes);
        output.message(&format!("ra-pack: {requests}, {bytes} bytes received"));
    }
    output.finish();
    ending
}

/// Returns whether the result of a command is a text for the terminal, of any length.
fn is_read_by_people(command: &Command) -> bool {
    use Command::{Diff, Explain, Info, List, Show};
    matches!(command, Diff(_) | Explain(_) | Info(_) | List(_) | Show(_))
}

/// Runs the command of a name.
fn dispatch(command: &Command, output: &Output) -> Result<Ending, Failure> {
    match command {
        Command::Create(args) => create::run(args, output),
        Command::Add(args) => add::run(args, output),
        Command::Verify(args) => verify::run(args, output),
        Command::Audit(args) => audit::run(args, output),
        Command::List(args) => list::run(args, output),
        Command::Info(args) => info::run(args, output),
        Command::Convert(args) => convert::run(args, output),
        Command::Get(args) => get::run(args, output),
        Command::Extract(args) => get::extract(args, output),
        Command::Describe(args) => describe::run(args, output),
        Command::Diff(args) => diff::run(args, output),
        Command::Refs(args) => refs::run(args, output),
        Command::Report(args) => report::run(args, output),
        Command::Reshape(args) => describe::reshape(args, output),
        Command::Explain(args) => reference::explain(args, output),
        Command::Plot(args) => plot::run(args, output),
        Command::Show(args) => show::run(args, output),
        Command::Manifest(args) => verify::manifest(args, output),
        Command::Salvage(args) => salvage::run(args, output),
        Command::Schema(args) => reference::schema(args, output),
        Command::Validate(args) => verify::validate(args, output),
        Command::Completions(args) => reference::completions(args, Cli::command(), output),
        Command::Man(args) => reference::man(args, Cli::command(), output),
    }
}

fn complain(failure: Failure, words: &[OsString], output: &Output) -> Ending {
    use ra_pack::Error;
    let (mut error, next) = match failure {
        Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            return Ending::Clean;
        }
        Failure::Output(error) => return unwritten(&error, output),
        Failure::Operation(error, next) => (error, next),
    };
    let next = next.or_else(|| hints::pack_first(&error, words));
    match &mut *error {
        Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
            return Ending::Clean;
        }
        Error::Io { action: "write", path, source } if path.as_os_str() == "standard output" => {
            return unwritten(source, output);
        }
        Error::Refused { path, findings } => {
            diagnostics::show(path, findings, &[], output);
            output.message(&diagnostics::error(&error, next));
        }
        Error::Damaged { archive, finding } => {
            diagnostics::show(archive, std::slice::from_ref(&**finding), &[], output);
            output
                .message(&format!("ra-pack: `{}` is damaged", ra_pack::path::escape_path(archive)));
        }
        _ => output.message(&diagnostics::error(&error, next)),
    }
    if error.is_finding() { Ending::Findings } else { Ending::Failed }
}

/// Reports that standard output cannot be written.
fn unwritten(error: &io::Error, output: &Output) -> Ending {
    let why = diagnostics::without_numbers(&error.to_string());
    output.message(&format!("ra-pack: cannot write to standard output: {why}"));
    Ending::Failed
}
