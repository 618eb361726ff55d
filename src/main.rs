//! The `ra-pack` command.

mod cli;

use std::process::ExitCode;

use cli::Ending;

/// What a shell shows of a program that was stopped by Ctrl-C: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

fn main() -> ExitCode {
    // Without a handler an interrupted run leaves its temporary file, which the next one explains.
    let _ = ctrlc::set_handler(|| {
        ra_pack::remove_unfinished();
        exit(INTERRUPTED);
    });
    match cli::run() {
        Ending::Clean => ExitCode::SUCCESS,
        Ending::Findings => ExitCode::from(1),
        Ending::Failed => ExitCode::from(2),
    }
}

#[expect(clippy::exit, reason = "a signal handler has no way back to `main`")]
fn exit(status: i32) -> ! {
    std::process::exit(status)
}
