//! The only module that prints. Results go to standard output, everything else to standard error.

use std::cell::Cell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, MutexGuard};

use ra_pack::path::escape;
use ra_pack::{Progress, json};
use serde::Serialize;

use super::common::Color;
use super::pager::{self, PagedOutput};
use super::progress::{Meter, When};
use super::stderr;

/// Size of the pieces in which a long result is printed, in bytes.
const PIECE: usize = 64 * 1024;

/// Settings of standard output and standard error.
#[derive(Debug)]
pub(crate) struct Output {
    out: io::Stdout,
    /// Whether only errors, warnings and requested data are printed.
    pub(crate) quiet: bool,
    pub(crate) color_out: bool,
    pub(crate) color_err: bool,
    meter: Option<Arc<Meter>>,
    /// Whether the reader of results is gone.
    closed: Cell<bool>,
    /// A path that is never printed, and the one that is printed instead.
    named: Option<[String; 2]>,
}

/// Returns an attribute of the pack or of the array that a result describes.
fn attribute<'a>(value: &'a serde_json::Value, name: &str) -> Option<&'a serde_json::Value> {
    let described = ["ndarrays", "dimcoords"].into_iter().find_map(|kind| {
        value.get("description")?.get(kind)?.as_object()?.values().next()?.get("attributes")
    });
    described.or_else(|| value.get("attributes"))?.get(name)
}

impl Output {
    pub(crate) fn new(color: Color, quiet: bool, progress: When) -> Self {
        let is_set = |name: &str, unlike: &str| {
            std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != unlike)
        };
        let wanted = |is_terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                !is_set("NO_COLOR", "") && (is_terminal || is_set("CLICOLOR_FORCE", "0"))
            }
        };
        let (out, err) = (io::stdout(), io::stderr());
        let (color_out, color_err) = (wanted(out.is_terminal()), wanted(err.is_terminal()));
        let meter = match progress {
            When::Json => Some(Meter::new(true)),
            When::Auto if !quiet && err.is_terminal() && Self::is_capable() => {
                Some(Meter::new(false))
            }
            When::Auto | When::Never => None,
        };
        Self { out, quiet, color_out, color_err, meter, closed: Cell::new(false), named: None }
    }

    /// Prints the second path instead of the first one.
    pub(crate) fn name_instead(&mut self, paths: [String; 2]) {
        self.named = Some(paths);
    }

    /// Returns the file in another format that the target was made from, if it was.
    pub(crate) fn other_file(&self) -> Option<&Path> {
        self.named.as_ref().map(|[_, file]| Path::new(file))
    }

    /// Returns a progress that is shown as `--progress` asks.
    pub(crate) fn progress(&self) -> Progress {
        self.meter.as_ref().map(Meter::watch).unwrap_or_default()
    }

    /// Stops showing progress, and waits for the pager.
    pub(crate) fn finish(&self) {
        if let Some(meter) = &self.meter {
            meter.finish();
        }
        pager::wait();
    }

    /// Hides the progress line while the guard exists.
    fn hold(&self) -> Option<MutexGuard<'_, bool>> {
        self.meter.as_ref().map(|meter| meter.hold())
    }

    /// Whether the reader of results is gone, such as `head`.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Prints part of the result.
    pub(crate) fn result(&self, text: &str) -> io::Result<()> {
        let line_end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
        self.pieces(|out| out.write_all(text.as_bytes()).and_then(|()| out.write_all(line_end)))
    }

    /// Prints a long result in pieces. A closed pipe is noted and is not an error: the outcome of the operation
    /// decides the exit status.
    pub(crate) fn pieces(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let _held = self.hold();
        let mut out = BufWriter::with_capacity(PIECE, PagedOutput(self.out.lock()));
        let printed = match &self.named {
            None => write(&mut out),
            Some([hidden, shown]) => {
                let mut bytes = Vec::new();
                write(&mut bytes).and_then(|()| match str::from_utf8(&bytes) {
                    Ok(text) => out.write_all(text.replace(hidden, shown).as_bytes()),
                    Err(_) => out.write_all(&bytes),
                })
            }
        };
        let printed = printed.and_then(|()| out.flush());
        // Drops the rest without printing it.
        drop(out.into_parts());
        match printed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed.set(true);
                Ok(())
            }
            printed => printed,
        }
    }

    /// Prints the contents of a file: escaped to a terminal, otherwise unchanged.
    pub(crate) fn file(&self, bytes: &[u8]) -> io::Result<()> {
        if !self.is_terminal() {
            return self.pieces(|out| out.write_all(bytes));
        }
        let text = String::from_utf8_lossy(bytes);
        self.pieces(|out| text.lines().try_for_each(|line| writeln!(out, "{}", escape(line))))
    }

    /// Prints a result as one line of JSON.
    pub(crate) fn json(&self, value: &impl Serialize) -> io::Result<()> {
        self.pieces(|out| {
            json::write(out, value)?;
            out.write_all(b"\n")
        })
    }

    /// Prints one field of a result, or an attribute: a list on one line, a deeper value as JSON.
    pub(crate) fn field(
        &self,
        value: &impl Serialize,
        name: &str,
    ) -> io::Result<Result<(), String>> {
        let value = serde_json::to_value(value).map_err(io::Error::other)?;
        let name = name.replace('-', "_");
        let Some(field) = value.get(&name).or_else(|| attribute(&value, &name)) else {
            let known = value.as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>());
            return Ok(Err(known.unwrap_or_default().join(", ")));
        };
        let plain = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => Ok(escape(text).to_string()),
            other => json::text(other),
        };
        let text = match field.as_array() {
            Some(list) => list.iter().map(plain).collect::<io::Result<Vec<_>>>()?.join(" "),
            None => plain(field)?,
        };
        self.result(&text).map(Ok)
    }

    /// Returns standard output for writing bytes.
    pub(crate) fn bytes(&self) -> io::StdoutLock<'static> {
        self.out.lock()
    }

    /// Returns standard output for a thread that writes bytes.
    pub(crate) fn pipe() -> impl Write + Send {
        io::stdout()
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.out.is_terminal()
    }

    /// Whether the terminal can move its cursor, as far as the environment says.
    pub(crate) fn is_capable() -> bool {
        std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// Returns the width of the terminal in columns, if standard output is one.
    pub(crate) fn width(&self) -> Option<usize> {
        self.is_terminal().then(|| self.size().0)
    }

    /// Returns columns and rows of the terminal, or 80 and 24 if standard output is not one.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size = terminal_size::terminal_size_of(&self.out);
        size.map_or((80, 24), |(width, height)| (width.0.into(), height.0.into()))
    }

    /// Whether the locale in the environment is UTF-8.
    pub(crate) fn is_unicode() -> bool {
        if cfg!(windows) {
            return true;
        }
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
        let locale = locale.unwrap_or_default().to_uppercase();
        variable("TERM").is_none_or(|term| term != "dumb")
            && (locale.contains("UTF-8") || locale.contains("UTF8"))
    }

    /// Prints a note on standard error, unless `--quiet` is given.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.message(text);
        }
    }

    /// Prints an error or a warning on standard error, or in the pager that has the terminal. A closed standard error is
    /// ignored.
    pub(crate) fn message(&self, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let _held = self.hold();
        let text = [text, end].concat();
        let text = match &self.named {
            None => text,
            Some([hidden, shown]) => text.replace(hidden, shown),
        };
        if !(io::stderr().is_terminal() && pager::write(text.as_bytes()).is_some()) {
            stderr::write(&text);
        }
    }
}
