//! Layout of the help: commands in groups, and each option on its own line.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory as _, Error};

use super::args::Cli;

/// Groups of commands.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Create and unpack", &["create", "add", "convert", "extract", "get", "salvage"]),
    ("Inspect", &["list", "show", "info", "plot", "report", "refs"]),
    ("Check", &["verify", "audit", "validate", "manifest", "diff", "explain"]),
    ("Describe", &["describe", "reshape", "schema"]),
    ("Shell", &["completions", "man", "help"]),
];

/// Replaces a request for help with the help in this layout. Returns other errors of the command line unchanged.
pub(super) fn answer(error: Error, mut words: Vec<OsString>) -> Error {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // Parses the command line again, with the other layout. `help COMMAND` is `COMMAND --help`.
            if words.get(1).is_some_and(|word| word == "help") {
                words.remove(1);
                words.push("--help".into());
            }
            let is_long = words.iter().any(|word| word == "--help");
            laid_out(is_long).try_get_matches_from(words).err().unwrap_or(error)
        }
        _ => error,
    }
}

/// Returns the definitions with each option on one line of help. The long help adds rare options, the values of options,
/// details and examples.
fn laid_out(is_long: bool) -> Command {
    let mut top = Cli::command();
    top.build();
    let template = template(&top);
    let top = top.mut_subcommands(|command| with_layout(command, is_long));
    // Only the help on -h has clap's short layout.
    with_layout(top, is_long).help_template(template)
}

fn with_layout(command: Command, is_long: bool) -> Command {
    let command = command.mut_args(|arg| {
        let is_help = arg.get_id() == "help";
        let arg = if is_help { arg.action(clap::ArgAction::HelpShort) } else { arg };
        if is_long { arg.hide_short_help(false) } else { arg.hide_possible_values(true) }
    });
    if !is_long {
        return command;
    }
    let about = command.get_long_about().or(command.get_about()).cloned();
    let after = command.get_after_long_help().or(command.get_after_help()).cloned();
    let command = command.about(about.unwrap_or_default());
    match after {
        Some(after) => command.after_help(after),
        None => command,
    }
}

/// Returns the help of the program: commands by group, and options of all commands.
fn template(top: &Command) -> StyledStr {
    let header = top.get_styles().get_header();
    let literal = top.get_styles().get_literal();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "\n{header}{title}:{header:#}");
        for name in names {
            let command = top.find_subcommand(name);
            let about = command.and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:<11}{literal:#}  {about}");
        }
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut top = Cli::command();
        top.build();
        let mut known: Vec<_> =
            top.get_subcommands().map(|one| one.get_name().to_owned()).collect();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }
}
