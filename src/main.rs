//! The `ra-pack` command.

mod cli;

use std::process::ExitCode;

use cli::Ending;

fn main() -> ExitCode {
    let ending = cli::parse().map_or_else(
        |ending| ending,
        |cli| {
            cli::stop_on_signals(stop);
            cli::run(&cli)
        },
    );
    match ending {
        Ending::Clean => ExitCode::SUCCESS,
        Ending::Findings => ExitCode::from(1),
        Ending::Failed => ExitCode::from(2),
    }
}

/// Cleans up and ends with this status.
fn stop(status: i32) {
    cli::erase_progress();
    ra_pack::remove_unfinished();
    exit(status);
}

#[expect(clippy::exit, reason = "what handles signals has no way back to `main`")]
fn exit(status: i32) -> ! {
    std::process::exit(status)
}
