//! The `ra-pack` command.

mod cli;

use std::process::ExitCode;
#[cfg(unix)]
use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
};

use cli::Ending;

// Links the stack unwinder statically: loading it as a shared library takes a tenth of a millisecond, and `get` of a
// small array takes less than two.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[link(name = "gcc_eh")]
#[expect(unsafe_code, reason = "the block declares nothing that could be called")]
unsafe extern "C" {}

/// Returns large buffers to the system when they are freed. Otherwise each thread keeps one, such as the window of a
/// compressed member, and many threads exceed the limit of memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "a setting of the allocator")]
fn free_large_buffers_at_once() {
    const LARGE: i32 = 8 << 20;
    // SAFETY: the function takes two numbers, and no other thread runs yet. A refusal changes nothing.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
}

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    free_large_buffers_at_once();
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

/// Starts a thread that ends the program on a signal, with the exit status for that signal.
#[cfg(unix)]
fn stop_on_signals() {
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
fn stop_on_signals() {
    const INTERRUPTED: i32 = 130;
    let _ = ctrlc::set_handler(|| stop(INTERRUPTED));
}

/// Cleans up and exits with this status.
fn stop(status: i32) {
    cli::erase_progress();
    ra_pack::files::remove_unfinished_and_exit(status)
}
