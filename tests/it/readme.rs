//! Every shell line of README does what README shows.

use std::path::Path;
use std::process::Command;

use crate::page::{Home, blocks, read};

#[test]
#[cfg(target_os = "linux")] // GNU sed and coreutils, as README uses them
fn the_console_sessions_are_real() {
    let home = Home::new();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/experiment");
    let copied =
        Command::new("cp").arg("-r").arg(sample).arg(home.file("examples/experiment")).status();
    assert!(copied.unwrap().success());
    let blocks = blocks(&read("README.md"));
    let sessions = blocks.iter().filter(|block| block.kind == "console");
    let commands: usize = sessions.map(|block| home.run(&block.text)).sum();
    assert!(commands > 5, "README shows how to use the tool");
}
