//! Progress: a line on a terminal that is erased at the end, lines of JSON, or no output.

use std::fs::{self, File};
use std::process::Command;
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

use crate::experiment::{Experiment, ra_pack};
use crate::foreign::installed;

/// Runs its arguments on a terminal of 100 columns and prints their exit status and output. If `INT` is set, sends SIGINT
/// this many seconds after the first output. If `FEED` is set, passes it with `--files-from`, again after each report,
/// until enough time has passed.
const ON_A_TERMINAL: &str = r"
import fcntl, os, pty, select, signal, struct, sys, termios, time
feed, start = os.environ.pop('FEED', None), time.time()
names, give = os.pipe()
os.set_inheritable(names, True)
arguments = sys.argv[1:] + (['--files-from', '/dev/fd/%d' % names] if feed else [])
pid, terminal = pty.fork()
if pid == 0:
    os.environ['TERM'] = os.environ.get('WANTED_TERM', 'xterm')
    os.environ.setdefault('PAGER', 'cat')
    time.sleep(0.2)
    os.close(give)
    os.execv(arguments[0], arguments)
os.close(names)
given = 0
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 100, 0, 0))
written, stop = b'', None
while True:
    if feed and written.count(b'not verified') == given:
        if time.time() - start > 1.9:
            os.close(give)
            feed = None
        else:
            os.write(give, feed.encode() + b'\n')
            given += 1
    ready = select.select([terminal], [], [], 0.05)[0]
    try:
        piece = os.read(terminal, 65536) if ready else None
    except OSError:
        break
    if piece == b'':
        break
    written += piece or b''
    if written and stop is None and os.environ.get('INT'):
        stop = time.time() + float(os.environ['INT'])
    if stop and time.time() > stop:
        os.kill(pid, signal.SIGINT)
        stop = float('inf')
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(b'%d\n' % status + written)
";

/// Runs arguments on a terminal. Returns the exit status and the output.
fn on_a_terminal(arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String) {
    let mut python = Command::new("python3");
    python.args(["-c", ON_A_TERMINAL]).arg(ra_pack().get_program()).args(arguments);
    let ran = python.envs(environment.iter().copied()).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    let (status, written) = said.split_once('\n').unwrap_or_else(|| panic!("{errors}"));
    (status.parse().unwrap(), written.to_owned())
}

/// Returns the text that remains on the terminal, without erased lines.
fn left(written: &str) -> String {
    let lines = written.split('\n').map(|line| {
        let line = line.trim_end_matches('\r').rsplit("\r\u{1b}[K").next().unwrap();
        line.rsplit('\r').next().unwrap().trim_end_matches("\u{1b}[K")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns a directory with a sparse array of `gigabytes`, and some small ones.
fn source(gigabytes: u64) -> Experiment {
    let bytes = gigabytes << 30;
    let mut header = b"rawarray".to_vec();
    for field in [0, 2, 1, bytes, 1, bytes] {
        header.extend(u64::to_le_bytes(field));
    }
    let experiment = Experiment::new().file("huge.ra", header).file("notes.txt", "small");
    let experiment = experiment.describe("huge.yaml", &format!("[{bytes}]"), "uint8");
    let array = File::options().write(true).open(experiment.path().join("huge.ra")).unwrap();
    array.set_len(56 + bytes).unwrap();
    experiment
}

#[test]
#[ignore = "slow"]
fn a_line_is_drawn_on_a_terminal_and_erased_at_the_end() {
    if !installed(&["python3"]) {
        return;
    }
    // A directory without a manifest, so that the run ends with findings.
    let source = source(1);
    let target = source.path().to_str().unwrap();
    let watched = |options: &[&str], environment: &[(&str, &str)]| {
        on_a_terminal(
            &[&["verify"], options].concat(),
            &[environment, &[("FEED", target)]].concat(),
        )
    };
    thread::scope(|scope| {
        for (options, environment) in [
            (&["--quiet"][..], &[][..]),
            (&["--progress", "never"], &[]),
            (&[], &[("WANTED_TERM", "dumb")]),
        ] {
            scope.spawn(move || {
                let (_, written) = watched(options, environment);
                assert!(
                    !written.contains("checking") && !written.contains("\u{1b}[K"),
                    "{written}"
                );
                assert!(written.contains("not verified"), "{written}");
            });
        }
        let piped = ra_pack().args(["verify", target]).assert().code(1).stderr("");
        assert!(!String::from_utf8_lossy(&piped.get_output().stdout).contains("checking"));
    });
    let (status, written) = watched(&[], &[]);
    assert_eq!(status, 1, "{written}");
    assert!(written.matches("\rchecking").count() > 2, "{written}");
    assert!(written.contains("huge.ra") && written.contains("/s  "), "{written}");
    let left = left(&written);
    assert!(!left.contains("checking") && !left.contains("\u{1b}[K"), "{left}");
    assert!(left.contains("MAN001") && left.contains("not verified"), "{left}");
    // Lines are cut to the width of the terminal.
    let lines = written.split("\u{1b}[K").filter_map(|line| line.strip_prefix("\rchecking"));
    assert!(
        lines.clone().count() > 0 && lines.into_iter().all(|line| line.len() < 92),
        "{written}"
    );
}

#[test]
fn the_line_is_erased_when_a_run_is_interrupted() {
    if !installed(&["python3"]) {
        return;
    }
    let (source, scratch) = (source(64), TempDir::new().unwrap());
    let archive = scratch.path().join("x.tar.gz");
    let create = ["create", source.path().to_str().unwrap(), "-o", archive.to_str().unwrap()];
    let (status, written) = on_a_terminal(&create, &[("INT", "0.5")]);
    assert_eq!(status, 130, "{written}");
    assert!(written.contains("\rpacking ["), "{written}");
    assert_eq!(left(&written), "ra-pack: interrupted\n");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "slow"]
fn lines_of_json_match_their_schema_and_the_last_one_is_marked() {
    let (source, scratch) = (source(1), TempDir::new().unwrap());
    let schema =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/progress.schema.json"));
    let schema: Value = serde_json::from_str(&schema.unwrap()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let run = |arguments: &[&str]| {
        let ran = ra_pack().args(arguments).args(["--progress", "json"]).output().unwrap();
        let text = String::from_utf8(ran.stderr).unwrap();
        let lines = text.lines().filter(|line| line.starts_with('{'));
        let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
        for line in &lines {
            assert!(validator.is_valid(line), "{line}");
            let known = schema["properties"].as_object().unwrap();
            assert!(line.as_object().unwrap().keys().all(|key| known.contains_key(key)), "{line}");
        }
        let (last, before) = lines.split_last().unwrap();
        assert!(last["done"] == true && before.iter().all(|line| line["done"] == false), "{text}");
        lines
    };
    let archive = scratch.path().join("x.tar.gz");
    let archive = archive.to_str().unwrap();
    let directory = source.path().to_str().unwrap();
    let packed = run(&["create", directory, "-o", archive]);
    let of = |lines: &[Value], stage: &str| -> Vec<Value> {
        lines.iter().filter(|line| line["stage"] == stage).cloned().collect()
    };
    let packing = of(&packed, "packing");
    assert!(packing.len() > 1, "{packed:#?}");
    assert!(
        packing.iter().all(|line| line["bytes_total"].as_u64() > Some(1 << 30)),
        "{packing:#?}"
    );
    assert!(packing.iter().any(|line| line["current"] == "huge.ra"), "{packing:#?}");
    assert!(packing.iter().any(|line| line["seconds_left"].is_number()), "{packing:#?}");
    let bytes: Vec<_> = packing.iter().map(|line| line["bytes"].as_u64().unwrap()).collect();
    assert!(bytes.is_sorted() && bytes.last() > Some(&(1 << 20)), "{bytes:?}");
    // Computing the digest of the archive is a stage, and so is listing all files.
    let zip = scratch.path().join("x.zip");
    let zip = zip.to_str().unwrap();
    let options = ["--compression", "deflate", "--archive-digest"];
    let packed = run(&[&["create", directory, "-o", zip], &options[..]].concat());
    assert!(packed.last().unwrap()["bytes_total"].is_number(), "{packed:#?}");
    // Commands that read much data report bytes and files.
    let array = source.path().join("huge.ra");
    let (array, out) = (array.to_str().unwrap(), scratch.path().join("out.npy"));
    let out = out.to_str().unwrap();
    for (stage, arguments) in [
        ("reading", &["get", zip, "huge.ra", "--format", "ra", "-o", out][..]),
        ("converting", &["convert", array, out, "--force"]),
        ("checking", &["diff", directory, zip]),
        ("comparing", &["diff", array, array]),
    ] {
        let lines = run(arguments);
        let seen = |line: &Value| {
            line["stage"] == stage
                && line["bytes"].as_u64() > Some(0)
                && line["bytes_total"].is_number()
                && line["current"].is_string()
        };
        assert!(lines.iter().any(seen), "{arguments:?}: {lines:#?}");
    }
    for command in ["list", "info", "validate", "describe", "manifest"] {
        let last = run(&[command, archive]).pop().unwrap();
        assert!(last["stage"] == "reading" && last["files"].as_u64() > Some(3), "{last:#}");
        assert!(last["bytes"].is_number() && last["bytes"] == last["bytes_total"], "{last:#}");
    }
    // Quiet, short and failed runs also end with the last line.
    assert_eq!(run(&["explain", "MAN001", "--quiet"]).len(), 1);
    assert_eq!(run(&["verify", "/nowhere.zip"]).len(), 1);
    let verified = run(&["verify", archive]);
    assert!(verified.iter().all(|line| line["bytes_total"].is_null() || line["bytes"].is_number()));
}

#[test]
#[ignore = "slow"]
fn long_results_are_paged_on_a_terminal() {
    let scratch = TempDir::new().unwrap();
    let seen = scratch.path().join("seen");
    let tee = format!("tee {}", seen.display());
    let lines = |text: &str| text.replace("\r\n", "\n");
    for (arguments, status) in [
        (["explain", "DESC004"], 0),
        (["list", "examples/experiment"], 0),
        (["list", "examples/none"], 2),
    ] {
        let (direct, text) = on_a_terminal(&arguments, &[]);
        assert!(!seen.exists());
        for pager in ["", "cat", "/no/such/pager"] {
            assert_eq!(on_a_terminal(&arguments, &[("PAGER", pager)]), (direct, text.clone()));
        }
        let (paged, shown) = on_a_terminal(&arguments, &[("PAGER", &tee)]);
        assert_eq!((paged, direct, &shown), (status, status, &text));
        assert_eq!(fs::read_to_string(&seen).unwrap(), lines(&text));
        fs::remove_file(&seen).unwrap();
        // The user leaves the pager before the end.
        let (status, part) = on_a_terminal(&arguments, &[("PAGER", "head -n 1")]);
        assert_eq!((status, part.lines().next()), (direct, text.lines().next()));
        // Only texts to read are paged.
        on_a_terminal(&["get", "examples/experiment", "time", "--stats"], &[("PAGER", &tee)]);
        on_a_terminal(&["verify", "examples/experiment"], &[("PAGER", &tee)]);
        let piped = ra_pack().args(arguments).env("PAGER", &tee).output().unwrap();
        assert_eq!(piped.status.code(), Some(status));
        assert!(!seen.exists());
    }
}
