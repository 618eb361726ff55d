//! Files of other formats, given to commands that read arrays.

use std::path::PathBuf;

use ra_pack::convert::TemporaryPack;
use ra_pack::path::escape_path;

use super::Failure;
use super::args::Command;
use super::output::Output;

/// Converts the target of a command that only reads, if it is a file of another format, and makes the result its
/// target. The output names the file.
pub(super) fn open(
    command: &mut Command,
    output: &mut Output,
) -> Result<Option<TemporaryPack>, Failure> {
    let is_info = matches!(command, Command::Info(_));
    let target: &mut PathBuf = match command {
        Command::Get(args) => &mut args.archive,
        Command::Info(args) => &mut args.target,
        Command::List(args) => &mut args.target,
        Command::Plot(args) => &mut args.archive,
        Command::Show(args) => &mut args.archive,
        _ => return Ok(None),
    };
    let Some(pack) = TemporaryPack::of(&*target, &output.progress())? else { return Ok(None) };
    let path = if is_info { pack.directory() } else { pack.path() };
    output.name_instead([path, target].map(|path| escape_path(path).to_string()));
    path.clone_into(target);
    if let Command::Get(args) = command {
        // It has no manifest.
        args.no_verify = true;
    }
    Ok(Some(pack))
}
