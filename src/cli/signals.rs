//! The end of the program on a signal.

use std::sync::mpsc;
#[cfg(unix)]
use std::sync::{Arc, atomic::AtomicBool};
use std::thread;
use std::time::Duration;

use super::{pager, progress, stderr};

/// Exit status of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Starts a thread that ends the program on a signal, with the exit status for that signal.
#[cfg(unix)]
pub(super) fn stop_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag::{register, register_conditional_shutdown};

    // Shells report a program that a signal ended as 128 plus the number of the signal.
    const SHELL: i32 = 128;
    // With a handler, a write beyond the file size limit fails with an error. Unlike an ignored signal, a handler is
    // not inherited by programs that this one starts.
    let _ = register(SIGXFSZ, Arc::default());
    let signals = [SIGHUP, SIGINT, SIGTERM];
    // Without the handler the system ends the program, and the next run reports the temporary file that it leaves.
    let Ok(mut handler) = signal_hook::iterator::Signals::new(signals) else { return };
    let wait = move || handler.forever().take(1).for_each(|signal| stop(SHELL + signal));
    if thread::Builder::new().name("signals".to_owned()).spawn(wait).is_err() {
        for signal in signals {
            let at_once = Arc::new(AtomicBool::new(true));
            let _ = register_conditional_shutdown(signal, SHELL + signal, at_once);
        }
    }
}

#[cfg(not(unix))]
pub(super) fn stop_on_signals() {
    let _ = ctrlc::set_handler(|| stop(INTERRUPTED));
}

/// Longest wait for a reader of standard error, which may be blocked.
const PATIENCE: Duration = Duration::from_millis(100);

/// Cleans up and exits with this status.
fn stop(status: i32) {
    progress::erase();
    if status == INTERRUPTED {
        // The pager gets the signal, too, and goes on.
        pager::wait();
    }
    let how = if status == INTERRUPTED { "interrupted" } else { "terminated" };
    let (done, said) = mpsc::channel();
    let say = move || {
        stderr::write(&format!("ra-pack: {how}\n"));
        done.send(())
    };
    // Without a thread there is no message.
    if thread::Builder::new().spawn(say).is_ok() {
        let _ = said.recv_timeout(PATIENCE);
    }
    ra_pack::files::remove_unfinished_and_exit(status)
}
