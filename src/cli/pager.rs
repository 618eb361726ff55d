//! A pager for results that are longer than the screen, as git has one.

use std::io::{self, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The pager, while it runs.
static PAGER: Mutex<Option<Child>> = Mutex::new(None);

fn running() -> MutexGuard<'static, Option<Child>> {
    PAGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the pager that the variable PAGER names, or `less`. Nothing is paged if it is empty or `cat`, or cannot be
/// started.
pub(super) fn start() {
    let named = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let mut words = named.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat" && cfg!(unix)) else {
        return;
    };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Ends at once if everything fits on the screen, shows colours, and leaves the text there.
        command.env("LESS", "FRX");
    }
    *running() = command.spawn().ok();
}

/// Writes text to the pager. `None` if there is none.
pub(super) fn write(bytes: &[u8]) -> Option<io::Result<()>> {
    Some(running().as_mut()?.stdin.as_mut()?.write_all(bytes))
}

/// Waits until the user has left the pager.
pub(super) fn wait() {
    let pager = &mut *running();
    if let Some(child) = pager {
        drop(child.stdin.take());
        // Its exit status says nothing about the result.
        let _ = child.wait();
    }
    *pager = None;
}

/// Writes to the pager, or to standard output if there is none.
pub(super) struct PagedOutput<'o>(pub(super) io::StdoutLock<'o>);

impl io::Write for PagedOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match write(bytes) {
            Some(written) => written.map(|()| bytes.len()),
            None => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
