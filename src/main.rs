//! The `ra-pack` command.

mod cli;

use std::process::ExitCode;

use cli::Ending;

fn main() -> ExitCode {
    let ending = cli::parse().map_or_else(
        |ending| ending,
        |cli| {
            // Without a handler an interrupted run leaves its temporary file, which the next one explains.
            let _ = stop_on_signals();
            cli::run(&cli)
        },
    );
    match ending {
        Ending::Clean => ExitCode::SUCCESS,
        Ending::Findings => ExitCode::from(1),
        Ending::Failed => ExitCode::from(2),
    }
}

/// Has signals to stop handled by a thread of its own, so that no work keeps them waiting.
#[cfg(unix)]
fn stop_on_signals() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            stop(signal);
        }
    })?;
    Ok(())
}

/// The same where all of them are one.
#[cfg(not(unix))]
fn stop_on_signals() -> Result<(), ctrlc::Error> {
    const SIGINT: i32 = 2;
    ctrlc::set_handler(|| stop(SIGINT))
}

/// Cleans up and ends as shells know a program that was stopped: with 128 and the number of the signal.
fn stop(signal: i32) {
    cli::erase_progress();
    ra_pack::remove_unfinished();
    exit(signal.saturating_add(128));
}

#[expect(clippy::exit, reason = "a signal handler has no way back to `main`")]
fn exit(status: i32) -> ! {
    std::process::exit(status)
}
