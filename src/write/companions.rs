//! Files next to an archive to write: its manifest, its digest, and signatures, time-stamps and parity files, which
//! commands of the user make.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::fs::{self, beside};
use crate::pack::{PARITY_EXTENSION, SIGNATURE_EXTENSIONS, TIME_STAMP_EXTENSION};
use crate::path::{escape, escape_path};
use crate::progress::Progress;
use crate::read::manifests::{companions, parity_files};

/// Returns the path of the archive to write or replace: the target, for a link. Brings back the files next to it if an
/// interrupted run set them aside.
///
/// # Errors
///
/// [`Error::WrongTarget`] if files next to the link would then belong to an older archive.
pub(crate) fn replaceable(archive: &Path, progress: &Progress) -> Result<PathBuf> {
    let target = fs::followed(archive)?;
    let ours = companions(&target);
    fs::restore(&target, &ours, progress)?;
    let real = |path: &Path| fs::real_path(path).ok();
    let is_other =
        |(own, other): &(&PathBuf, PathBuf)| fs::exists(other) && real(own) != real(other);
    match ours.iter().zip(companions(archive)).find(is_other) {
        Some((own, other)) => Err(Error::wrong_target(
            archive,
            format!(
                "is a link, but `{}` is not a link to `{}`, and would not match the new archive; \
             replace it with a link, or delete it",
                escape_path(&other),
                escape_path(own),
            ),
        )),
        None => Ok(target),
    }
}

/// Runs the shell command `command` with the path of the manifest appended, and returns the signature that it created
/// next to the manifest.
pub(crate) fn sign(manifest: &Path, command: &str) -> Result<PathBuf> {
    let extensions = SIGNATURE_EXTENSIONS.into_iter().filter(|it| *it != TIME_STAMP_EXTENSION);
    run("signature", manifest, command, &extensions.collect::<Vec<_>>())
}

/// Runs a command that makes a time-stamp of the manifest, as [`sign`] does.
pub(crate) fn stamp(manifest: &Path, command: &str) -> Result<PathBuf> {
    run("time-stamp", manifest, command, &[TIME_STAMP_EXTENSION])
}

/// Runs a command that makes parity files of the archive, as [`sign`] does.
pub(crate) fn protect(archive: &Path, command: &str) -> Result<Vec<PathBuf>> {
    run("parity", archive, command, &[PARITY_EXTENSION])?;
    Ok(parity_files(archive))
}

/// Runs a command with the path of `file` appended, and returns the file that it created next to it.
fn run(lacks: &'static str, file: &Path, command: &str, extensions: &[&str]) -> Result<PathBuf> {
    let failed = |reason: String| Error::Command { lacks, command: command.to_owned(), reason };
    let status = shell(command)
        .arg(file)
        .status()
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    if !status.success() {
        return Err(failed(format!("ended with {status}")));
    }
    let mut made = extensions.iter().map(|extension| beside(file, &format!(".{extension}")));
    made.find(|path| fs::exists(path)).ok_or_else(|| {
        let extensions: Vec<_> = extensions.iter().map(|it| format!(".{it}")).collect();
        failed(format!(
            "created none; expected `{}` followed by {}",
            escape(&file.to_string_lossy()),
            extensions.join(", ")
        ))
    })
}

/// Returns a shell that runs `command` with further arguments.
#[cfg(not(windows))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{command} \"$@\"")).arg("ra-pack");
    shell
}

/// Returns a shell that runs `command` with further arguments.
#[cfg(windows)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/C").args(command.split_whitespace());
    shell
}
