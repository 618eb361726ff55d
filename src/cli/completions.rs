//! `ra-pack completions`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::args::Cli;
use super::output::Output;
use super::{Ending, Failure};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack completions bash > ra-pack.bash
  ra-pack completions zsh > _ra-pack
  ra-pack completions fish > ra-pack.fish
  ra-pack completions powershell > ra-pack.ps1

Installation:
  bash         ~/.local/share/bash-completion/completions/ra-pack
  zsh          _ra-pack in a directory of $fpath, before compinit runs
  fish         ~/.config/fish/completions/ra-pack.fish
  powershell   a line `. PATH/ra-pack.ps1` in $PROFILE
  elvish       ra-pack.elv in ~/.config/elvish/lib, and `use ra-pack` in rc.elv")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &Completions, output: &Output) -> Result<Ending, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ra-pack", &mut text);
    // For bash, clap_complete 4.6 looks for the options of commands under another name than it gives them
    // when the name of the program has a hyphen.
    let text = String::from_utf8_lossy(&text).replace("ra__subcmd__pack__", "ra__pack__");
    output.result(&text)?;
    Ok(Ending::Clean)
}
