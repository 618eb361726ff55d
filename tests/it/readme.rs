//! Every shell line of README does what README shows.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A command and the output that stands below it.
struct Shown {
    command: String,
    output: String,
}

fn console_blocks(text: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match line.strip_prefix("$ ") {
                Some(command) => {
                    shown.push(Shown { command: command.to_owned(), output: String::new() });
                }
                None => {
                    let last = shown.last_mut().expect("output follows a command");
                    last.output.push_str(line);
                    last.output.push('\n');
                }
            },
        }
    }
    shown
}

#[test]
#[cfg(target_os = "linux")] // GNU sed and coreutils, as README uses them
fn the_console_sessions_are_real() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shown = console_blocks(&fs::read_to_string(root.join("README.md")).unwrap());
    assert!(shown.len() > 5, "README shows how to use the tool");
    let binary = assert_cmd::cargo::cargo_bin!("ra-pack");
    let path = format!(
        "{}:{}",
        binary.parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("examples")).unwrap();
    let copied = Command::new("cp")
        .args(["-r", &root.join("examples/experiment").to_string_lossy(), "examples/"])
        .current_dir(home.path())
        .status();
    assert!(copied.unwrap().success());
    for Shown { command, output } in shown {
        let ran = Command::new("sh")
            .args(["-c", &format!("{command} 2>&1")])
            .env("PATH", &path)
            .env_remove("SOURCE_DATE_EPOCH")
            .current_dir(home.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout).trim_end(), output.trim_end(), "{command}");
    }
}
