//! The `ra-pack` command.

mod cli;

use std::process::ExitCode;
#[cfg(unix)]
use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
};

use cli::Ending;

// What unwinds the stack after a panic, as a part of the program: as a library of its own it takes a tenth of a
// millisecond to load, and `get` of a small array takes less than two.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[link(name = "gcc_eh")]
#[expect(unsafe_code, reason = "nothing is declared that could be called")]
unsafe extern "C" {}

fn main() -> ExitCode {
    let ending = cli::parse().map_or_else(
        |ending| ending,
        |cli| {
            stop_on_signals();
            cli::run(&cli)
        },
    );
    match ending {
        Ending::Clean => ExitCode::SUCCESS,
        Ending::Findings => ExitCode::from(1),
        Ending::Failed => ExitCode::from(2),
    }
}

/// Has signals end the program with the status that says so, by a thread of its own, which no work keeps waiting.
#[cfg(unix)]
fn stop_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag::{register, register_conditional_shutdown};

    // Shells know a program that was stopped by 128 and the number of the signal.
    const SHELL: i32 = 128;
    // With a handler, a write beyond the largest file that is allowed fails, and says so. Unlike a signal that is
    // ignored, programs that are called do not inherit that.
    let _ = register(SIGXFSZ, Arc::default());
    let signals = [SIGHUP, SIGINT, SIGTERM];
    // Without the handler the system ends the program, and the next run explains the temporary file that it leaves.
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
fn stop_on_signals() {
    const INTERRUPTED: i32 = 130;
    let _ = ctrlc::set_handler(|| stop(INTERRUPTED));
}

/// Cleans up and ends with this status.
fn stop(status: i32) {
    cli::erase_progress();
    ra_pack::files::remove_unfinished_and_exit(status)
}
