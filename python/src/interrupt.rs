//! Long calls: they run without the interpreter's lock, and a signal such as Ctrl-C stops them.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use ra_pack::{Progress, Result};

/// Time between two checks for signals. Together with the time that the library takes to stop, Ctrl-C takes less than
/// 0.3 s.
const POLL: Duration = Duration::from_millis(50);

/// Whether the interpreter ends.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// The number of threads that may request the lock of the interpreter while functions of Rust are on their stacks.
static RETURNING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread ends the interpreter.
    static ENDS: Cell<bool> = const { Cell::new(false) };
    /// Whether [`RETURNING`] counts this thread, because it is in [`attached`].
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` without the lock of the interpreter.
///
/// Before version 3.14, an interpreter that ends stops each other thread that requests its lock. That aborts the process
/// if the thread has functions of Rust on its stack. Such threads sleep instead, as they do in later versions.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let is_counted = COUNTED.get();
    let result = py.detach(|| {
        if is_counted {
            RETURNING.fetch_sub(1, SeqCst);
        }
        let result = work();
        RETURNING.fetch_add(1, SeqCst);
        if is_stopped() {
            RETURNING.fetch_sub(1, SeqCst);
            sleep();
        }
        result
    });
    if !is_counted {
        RETURNING.fetch_sub(1, SeqCst);
    }
    result
}

/// Runs `work`, which calls functions of Python or NumPy. They may release the lock of the interpreter and request it
/// again, as `numpy.zeros` does.
pub(crate) fn attached<T>(py: Python<'_>, work: impl FnOnce() -> T) -> T {
    /// The count of this thread.
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            COUNTED.set(false);
            RETURNING.fetch_sub(1, SeqCst);
        }
    }
    if COUNTED.get() {
        return work();
    }
    if is_stopped() {
        py.detach(sleep);
    }
    RETURNING.fetch_add(1, SeqCst);
    COUNTED.set(true);
    let _counted = Counted;
    work()
}

/// Runs `work` with the lock of the interpreter, on a thread that does not have it.
pub(crate) fn reattached<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    RETURNING.fetch_add(1, SeqCst);
    if is_stopped() {
        RETURNING.fetch_sub(1, SeqCst);
        sleep();
    }
    let result = Python::attach(work);
    RETURNING.fetch_sub(1, SeqCst);
    result
}

/// Returns whether the interpreter ends, in another thread.
fn is_stopped() -> bool {
    IS_ENDING.load(SeqCst) && !ENDS.get()
}

/// Sleeps until the process ends.
fn sleep() {
    loop {
        thread::park();
    }
}

/// Prepare the threads of this module for the end of the interpreter.
#[pyfunction]
pub(crate) fn end(py: Python<'_>) {
    /// Time for threads to get the lock. A process that was forked may count threads that it does not have.
    const MOST: Duration = Duration::from_secs(1);
    ENDS.set(true);
    IS_ENDING.store(true, SeqCst);
    py.detach(|| {
        let begin = Instant::now();
        while RETURNING.load(SeqCst) > 0 && begin.elapsed() < MOST {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

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
    detached(py, || {
        thread::scope(|scope| {
            let (ended, end) = channel::<()>();
            let run = scope.spawn(move || {
                let _ended = ended; // dropped at the end, even if `work` panics
                work()
            });
            let mut signal = None;
            while end.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                RETURNING.fetch_add(1, SeqCst);
                if signal.is_none()
                    && !is_stopped()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    progress.cancel();
                    signal = Some(error);
                }
                RETURNING.fetch_sub(1, SeqCst);
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
    detached(py, work).map_err(Stopped::Failed)
}
