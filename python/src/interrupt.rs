//! Long calls: they run without the interpreter's lock, and a signal such as Ctrl-C stops them.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use ra_pack::{Progress, Result};

/// Time between two checks for signals. Together with the time that the library takes to stop, Ctrl-C takes less than
/// 0.3 s.
const POLL: Duration = Duration::from_millis(50);

/// The end of a call.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The operation failed.
    Failed(ra_pack::Error),
    /// A signal handler of Python raised an exception.
    Signal(PyErr),
}

impl From<Stopped> for PyErr {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Failed(error) => crate::errors::raised(error),
            Stopped::Signal(error) => error,
        }
    }
}

/// Runs `work` on another thread, while this thread handles signals. Python calls signal handlers only on its main
/// thread. An exception of a handler cancels `progress`, which `work` must use.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is for one lifetime")]
pub(crate) fn long<T: Send>(
    py: Python<'_>,
    progress: &Progress,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T, Stopped> {
    py.detach(|| {
        thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let run = scope.spawn(move || {
                let _ended = ended; // dropped at the end, even if `work` panics
                work()
            });
            let mut signal = None;
            while end.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if signal.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    progress.cancel();
                    signal = Some(error);
                }
            }
            let result = run.join().unwrap_or_else(|panic| resume_unwind(panic));
            match signal {
                Some(error) => Err(Stopped::Signal(error)),
                None => result.map_err(Stopped::Failed),
            }
        })
    })
}

/// Runs `work` on this thread, without the lock of the interpreter.
pub(crate) fn short<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T, Stopped> {
    py.detach(work).map_err(Stopped::Failed)
}
