//! The `ra-pack` command.

mod cli;

use std::process::ExitCode;

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
    const MAPPED_FROM: i32 = 8 << 20;
    // SAFETY: the function takes two numbers, and no other thread runs yet. A refusal changes nothing.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM) };
}

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    free_large_buffers_at_once();
    ExitCode::from(cli::main(std::env::args_os().collect()))
}
