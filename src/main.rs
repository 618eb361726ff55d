//! The `ra-pack` command.

mod cli;

use std::process::ExitCode;

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
    ra_pack::remove_unfinished_and_exit(status)
}
