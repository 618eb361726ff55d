//! What a signal to stop does: while nothing is to be cleaned up it ends the program there and then, and from then on
//! a thread of its own does so, which no work keeps waiting.

#[cfg(unix)]
pub(crate) use self::unix::begin;
#[cfg(unix)]
pub(super) use self::unix::prepare;

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Once, OnceLock};
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag::{register, register_conditional_shutdown};
    use signal_hook::iterator::Signals;

    const SIGNALS: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];

    static STOP: OnceLock<Stop> = OnceLock::new();

    #[derive(Debug)]
    struct Stop {
        /// Cleans up and ends the program with a status.
        clean_up: fn(i32),
        /// Whether a signal ends it without that.
        at_once: Arc<AtomicBool>,
    }

    /// Shells know a program that was stopped by 128 and the number of the signal.
    const fn status(signal: i32) -> i32 {
        signal.saturating_add(128)
    }

    /// From here on signals end the program with the status that says so; by way of `clean_up` once there is something
    /// to be cleaned up.
    pub(crate) fn begin(clean_up: fn(i32)) {
        let at_once = Arc::new(AtomicBool::new(true));
        for signal in SIGNALS {
            // Without the handler the system ends the program, which is as good.
            let _ = register_conditional_shutdown(signal, status(signal), Arc::clone(&at_once));
        }
        // With a handler, a write beyond the largest file that is allowed fails, and says so. Unlike a signal that is
        // ignored, programs that are called do not inherit that.
        let _ = register(SIGXFSZ, Arc::default());
        let _ = STOP.set(Stop { clean_up, at_once });
        ra_pack::before_unfinished(prepare);
    }

    /// Begins the thread, once: from here on there may be something to be cleaned up.
    pub(in crate::cli) fn prepare() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let Some(Stop { clean_up, at_once }) = STOP.get() else { return };
            // Without the thread an interrupted run leaves its temporary file, which the next one explains.
            if watch(*clean_up).is_ok() {
                at_once.store(false, Ordering::Relaxed);
            }
        });
    }

    fn watch(clean_up: fn(i32)) -> io::Result<()> {
        let mut signals = Signals::new(SIGNALS)?;
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                clean_up(status(signal));
            }
        })?;
        Ok(())
    }
}

/// The same where all of them are one, and always have a thread.
#[cfg(not(unix))]
pub(crate) fn begin(clean_up: fn(i32)) {
    const INTERRUPTED: i32 = 130;
    // Without the thread an interrupted run leaves its temporary file, which the next one explains.
    let _ = ctrlc::set_handler(move || clean_up(INTERRUPTED));
}

#[cfg(not(unix))]
pub(super) const fn prepare() {}
