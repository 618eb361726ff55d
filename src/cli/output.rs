//! The only place that prints. Results go to standard output, everything else to standard error.

use std::cell::Cell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Arc, MutexGuard};

use ra_pack::Progress;
use ra_pack::path::{escape, is_unsafe};
use serde::Serialize;

use super::args::Color;
use super::progress::{Meter, When};

/// Bytes of a long result that are printed at once.
const PIECE: usize = 64 * 1024;

/// Where and how to print.
#[derive(Debug)]
pub(crate) struct Output {
    out: io::Stdout,
    /// Whether nobody wants to read anything.
    pub(crate) quiet: bool,
    pub(crate) color_out: bool,
    pub(crate) color_err: bool,
    meter: Option<Arc<Meter>>,
    /// Nobody reads results any more.
    closed: Cell<bool>,
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
        let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let meter = match progress {
            When::Json => Some(Meter::new(true)),
            When::Auto if !quiet && err.is_terminal() && !is_dumb() => Some(Meter::new(false)),
            When::Auto | When::Never => None,
        };
        Self { out, quiet, color_out, color_err, meter, closed: Cell::new(false) }
    }

    /// Shows what is told to it, if anybody wants to see that.
    pub(crate) fn progress(&self) -> Progress {
        self.meter.as_ref().map(Meter::watch).unwrap_or_default()
    }

    /// Ends what is shown of the progress.
    pub(crate) fn finish(&self) {
        if let Some(meter) = &self.meter {
            meter.finish();
        }
    }

    /// Keeps the line of progress away while something is printed.
    fn hold(&self) -> Option<MutexGuard<'_, bool>> {
        self.meter.as_ref().map(|meter| meter.hold())
    }

    /// Whether nobody reads results any more, as behind `head`.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Prints a part of the result.
    pub(crate) fn result(&self, text: &str) -> io::Result<()> {
        let line_end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
        self.pieces(|out| out.write_all(text.as_bytes()).and_then(|()| out.write_all(line_end)))
    }

    /// Prints a result that is too long to be held whole. When its reader is gone, that is noted: what was found out
    /// still decides how the run ends.
    pub(crate) fn pieces(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let _held = self.hold();
        let mut out = BufWriter::with_capacity(PIECE, self.out.lock());
        let printed = write(&mut out).and_then(|()| out.flush());
        // The rest is not worth printing.
        drop(out.into_parts());
        match printed {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed.set(true);
                Ok(())
            }
            printed => printed,
        }
    }

    /// Prints a file that others read: to a terminal with [`escape`], elsewhere as it is.
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
            write_json(out, value)?;
            out.write_all(b"\n")
        })
    }

    /// Prints one field of a result: a list on one line, anything deeper as JSON.
    pub(crate) fn field(
        &self,
        value: &impl Serialize,
        name: &str,
    ) -> io::Result<Result<(), String>> {
        let value = serde_json::to_value(value).map_err(io::Error::other)?;
        let name = name.replace('-', "_");
        let Some(field) = value.get(&name) else {
            let known = value.as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>());
            return Ok(Err(known.unwrap_or_default().join(", ")));
        };
        let plain = |value: &serde_json::Value| match value {
            serde_json::Value::String(text) => Ok(escape(text).to_string()),
            other => json_text(other),
        };
        let text = match field.as_array() {
            Some(list) => list.iter().map(plain).collect::<io::Result<Vec<_>>>()?.join(" "),
            None => plain(field)?,
        };
        self.result(&text).map(Ok)
    }

    /// Gives standard output to somebody who writes bytes.
    pub(crate) fn bytes(&self) -> io::StdoutLock<'static> {
        self.out.lock()
    }

    /// Whether bytes would go to a screen.
    pub(crate) fn is_terminal(&self) -> bool {
        self.out.is_terminal()
    }

    /// How many columns the screen has, if that is where results go.
    pub(crate) fn width(&self) -> Option<usize> {
        self.is_terminal().then(|| self.size().0)
    }

    /// Columns and rows of the terminal that results go to; 80 and 24 when they go elsewhere.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size = terminal_size::terminal_size_of(&self.out);
        size.map_or((80, 24), |(width, height)| (width.0.into(), height.0.into()))
    }

    /// Whether what shows results has letters beyond ASCII, as far as the environment says.
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

    /// Tells what was done, unless nobody wants to know.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.message(text);
        }
    }

    /// Tells what is wrong. A closed standard error has nobody to tell.
    pub(crate) fn message(&self, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let _held = self.hold();
        to_stderr(&[text, end].concat());
    }
}

/// Writes a value as JSON in which nothing acts on a terminal: what [`escape`] escapes is escaped as JSON does.
fn write_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, SafeJson);
    value
        .serialize(&mut serializer)
        .map_err(|error| if error.is_io() { error.into() } else { io::Error::other(error) })
}

/// The same as a text.
pub(super) fn json_text(value: &impl Serialize) -> io::Result<String> {
    let mut text = Vec::new();
    write_json(&mut text, value)?;
    String::from_utf8(text).map_err(io::Error::other)
}

struct SafeJson;

impl serde_json::ser::Formatter for SafeJson {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for part in fragment.split_inclusive(is_unsafe) {
            let plain = part.trim_end_matches(is_unsafe);
            out.write_all(plain.as_bytes())?;
            for unit in part.strip_prefix(plain).unwrap_or_default().encode_utf16() {
                write!(out, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

/// Writes to standard error in one go. A closed one has nobody to tell.
pub(super) fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// How many columns the terminal of standard error has.
pub(super) fn columns() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stderr())?;
    Some(width.0.into())
}
