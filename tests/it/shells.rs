//! Completions and manual pages work in the programs that use them.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::experiment::ra_pack;
use crate::foreign::{complaint, installed};
use crate::help::commands;

fn completions(shell: &str) -> String {
    let ran = ra_pack().args(["completions", shell]).assert().success().stderr("");
    String::from_utf8(ran.get_output().stdout.clone()).unwrap()
}

/// Runs a program with `script` on its standard input and returns its output.
fn answer(program: &str, arguments: &[&str], script: &str) -> String {
    let mut command = Command::new(program);
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.is_empty(), "{program}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_shell_gets_completions_that_name_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = completions(shell);
        for command in commands() {
            assert!(text.contains(&command), "{shell}: {command}");
        }
    }
    ra_pack().args(["completions", "csh"]).assert().code(2);
}

#[test]
#[cfg(unix)]
fn bash_completes_commands_options_and_their_values() {
    if !installed(&["bash"]) {
        return;
    }
    let script = completions("bash");
    answer("bash", &["-n"], &script);
    let complete = |words: &[&str]| {
        let last = words.len() - 1;
        let before = words[last.saturating_sub(1)];
        let ask = format!(
            "{script}\nCOMP_WORDS=({})\nCOMP_CWORD={last}\n_ra__pack ra-pack '{}' {before}\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            words.join(" "),
            words[last],
        );
        let said = answer("bash", &["--norc"], &ask);
        said.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["ra-pack", "ver"]), ["verify"]);
    assert_eq!(complete(&["ra-pack", "create", "--archive"]), ["--archive-digest"]);
    assert_eq!(complete(&["ra-pack", "create", "--layout", "b"]), ["bagit"]);
    assert_eq!(complete(&["ra-pack", "completions", "po"]), ["powershell"]);
    assert!(complete(&["ra-pack", "schema", "info-"]).contains(&"info-pack".to_owned()));
}

#[test]
#[cfg(unix)]
fn zsh_and_fish_load_their_completions() {
    let home = TempDir::new().unwrap();
    if installed(&["zsh"]) {
        let script = home.path().join("_ra-pack");
        fs::write(&script, completions("zsh")).unwrap();
        complaint(Command::new("zsh").arg("-n").arg(&script)).unwrap();
        let load = format!(
            "fpath=({} $fpath)\nautoload -Uz compinit\ncompinit -u -d {}/dump\n\
             print -r -- $_comps[ra-pack]\nautoload +X -Uz _ra-pack && print loaded\n",
            home.path().display(),
            home.path().display(),
        );
        assert_eq!(answer("zsh", &["-f"], &load), "_ra-pack\nloaded\n");
    }
    if installed(&["fish"]) {
        let script = completions("fish");
        let path = home.path().join("ra-pack.fish");
        fs::write(&path, &script).unwrap();
        complaint(Command::new("fish").arg("--no-execute").arg(&path)).unwrap();
        let ask = |line: &str| {
            let ask = format!("source {}\ncomplete -C '{line}'\n", path.display());
            answer("fish", &["--no-config"], &ask)
        };
        assert!(ask("ra-pack ver").starts_with("verify\t"));
        assert!(ask("ra-pack create --layout b").starts_with("bagit\t"));
    }
}

#[test]
#[cfg(unix)]
fn each_command_has_a_valid_manual_page() {
    let home = TempDir::new().unwrap();
    let pages = home.path().join("share/man1");
    ra_pack().args(["man", "-o"]).arg(&pages).assert().success().stdout("");
    let mut expected: Vec<_> =
        commands().iter().map(|command| format!("ra-pack-{command}.1")).collect();
    expected.push("ra-pack.1".to_owned());
    expected.sort();
    assert_eq!(crate::run::names_in(&pages), expected);
    for name in expected {
        check(&pages.join(&name));
    }
    // A single page equals the one written with all others.
    let one = ra_pack().args(["man", "create"]).assert().success();
    let written = fs::read(pages.join("ra-pack-create.1")).unwrap();
    assert_eq!(one.get_output().stdout, written);
    ra_pack().args(["man", "creat"]).assert().code(2);
}

fn check(page: &Path) {
    let text = fs::read_to_string(page).unwrap();
    let has = |section: &str| text.contains(&format!("\n.SH {section}\n"));
    let is_top = page.ends_with("ra-pack.1");
    for section in ["DESCRIPTION", "\"EXIT STATUS\"", "ENVIRONMENT", "\"SEE ALSO\""] {
        assert!(has(section), "{}: no {section}", page.display());
    }
    assert!(has(if is_top { "COMMANDS" } else { "EXAMPLES" }), "{}", page.display());
    if installed(&["groff"]) {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-ww", "-Tutf8", "-z"]).arg(page);
        let output = groff.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{said}");
    }
    if installed(&["mandoc"]) {
        let lint = Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(page).output();
        let said = String::from_utf8(lint.unwrap().stdout).unwrap();
        // Pages have no date, and a line may be broken at a line end.
        let harmless = ["missing date", "skipping paragraph macro: br"];
        let mut lines = said.lines().filter(|line| !harmless.iter().any(|why| line.contains(why)));
        assert_eq!(lines.next(), None);
    }
}
