//! Signatures of manifests, made by other programs: keys are none of this program's business.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::fs;
use crate::pack::SIGNATURE_EXTENSIONS;
use crate::path::escape;

/// The signatures that stand beside a manifest.
pub(super) fn of(manifest: &Path) -> Vec<PathBuf> {
    let name = |extension: &&str| {
        let mut name = manifest.as_os_str().to_owned();
        name.push(".");
        name.push(extension);
        PathBuf::from(name)
    };
    SIGNATURE_EXTENSIONS.iter().map(name).filter(|path| fs::exists(path)).collect()
}

/// Runs `command`, a line for the shell, with the path of the manifest behind it, and gives the
/// signature that it made beside the manifest.
pub(super) fn sign(manifest: &Path, command: &str) -> Result<PathBuf> {
    let failed = |why: String| {
        Error::Unsupported(format!(
            "the archive is whole, but its manifest is not signed: `{}` {why}",
            escape(command)
        ))
    };
    let status = shell(command)
        .arg(manifest)
        .status()
        .map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !status.success() {
        return Err(failed(format!("ended with {status}")));
    }
    of(manifest).into_iter().next().ok_or_else(|| {
        let known: Vec<_> =
            SIGNATURE_EXTENSIONS.iter().map(|extension| format!(".{extension}")).collect();
        failed(format!(
            "left no signature beside `{}`; expected the same name with {} behind it",
            escape(&manifest.to_string_lossy()),
            known.join(", ")
        ))
    })
}

/// The shell, about to run `command` with the arguments that are added.
#[cfg(not(windows))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{command} \"$@\"")).arg("ra-pack");
    shell
}

/// The shell, about to run `command` with the arguments that are added.
#[cfg(windows)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").args(command.split_whitespace());
    shell
}
