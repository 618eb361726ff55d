//! Examples in `--help`: every line below `Examples:` is run, in a directory with the files that they name.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT32, FLOAT64, UINT8, le, ra_pack, raw_array};
use crate::foreign::installed;

/// Programs that the examples need.
const TOOLS: [&str; 5] = ["jq", "minisign", "man", "find", "od"];

/// Returns the long help of a command, or of the program.
pub(crate) fn help(arguments: &[&str]) -> String {
    let ran = ra_pack().args(arguments).arg("--help").assert().success();
    String::from_utf8(ran.get_output().stdout.clone()).unwrap()
}

/// Returns the names of all commands, as listed by `--help`.
pub(crate) fn commands() -> Vec<String> {
    let help = help(&[]);
    let lines = help.lines().skip_while(|line| !line.starts_with("Usage: ")).skip(1);
    let entries = lines.take_while(|line| *line != "Options:");
    let entries = entries.filter(|line| line.starts_with("  "));
    let names = entries.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

#[test]
fn help_is_short_and_ends_with_the_options_of_all_commands() {
    for command in commands() {
        let short = ra_pack().args([&*command, "-h"]).assert().success();
        let short = String::from_utf8(short.get_output().stdout.clone()).unwrap();
        let long = help(&[&command]);
        for text in [&short, &long] {
            assert!(text.contains("\nGlobal options:\n"), "{command}: {text}");
        }
        let lines = |text: &str| text.lines().count();
        // The global options, with heading and empty line, are half of most help texts.
        assert!(lines(&short) <= 50, "{command} -h has {} lines:\n{short}", lines(&short));
        assert!(lines(&long) <= 80, "{command} --help has {} lines:\n{long}", lines(&long));
        assert!(!short.contains("Examples:") && !short.contains("possible values"), "{short}");
        let again = ra_pack().args(["help", &*command]).assert().success();
        assert_eq!(String::from_utf8_lossy(&again.get_output().stdout), long);
    }
    let top = help(&[]);
    for heading in ["Create and unpack:", "Inspect:", "Check:", "Describe:", "Shell:", "Options:"] {
        assert!(top.contains(&format!("\n{heading}\n")), "{top}");
    }
}

/// Returns the lines below `Examples:`; a line that ends in a bar continues in the next.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let mut examples: Vec<String> = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        match examples.last_mut() {
            Some(last) if last.ends_with('|') => *last = format!("{last} {}", line.trim()),
            _ => examples.push(line.trim().to_owned()),
        }
    }
    examples
}

/// Temporary directory with all files that the examples name.
struct Place {
    home: TempDir,
    path: String,
}

impl Place {
    fn new() -> Self {
        let binaries = assert_cmd::cargo::cargo_bin!("ra-pack").parent().unwrap();
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
        Self { home: TempDir::new().unwrap(), path }
    }

    /// Returns a copy of the directory with all its files.
    fn copied(&self) -> Self {
        let place = Self::new();
        place.run(&format!("cp -a {}/. .", self.home.path().display()));
        place
    }

    fn file(&self, name: &str, bytes: &[u8]) {
        let path = self.home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn fill(&self) {
        let numbers = |count: u16| le(f32::to_le_bytes, (0..count).map(f32::from));
        let experiment = Experiment::new()
            .array("run1/time.ra", FLOAT64, &[9], &le(f64::to_le_bytes, (0..9).map(f64::from)))
            .file("run1/time.yaml", TIME)
            .array("run1/temperature.ra", FLOAT32, &[12, 9], &numbers(108))
            .describe("run1/temperature.yaml", "[12, time]", "float32")
            .array("run1/velocity.ra", FLOAT32, &[12, 9, 4], &numbers(432))
            .describe("run1/velocity.yaml", "[12, time, 4]", "float32")
            .file("notes.txt", "The measured data.\n")
            .file("scratch/a.tmp", "");
        let sample = experiment.path().to_str().unwrap();
        self.file("temperature.ra", &raw_array(FLOAT32, &[3], &numbers(3)));
        self.file("before.ra", &raw_array(FLOAT32, &[3], &numbers(3)));
        self.file("after.ra", &raw_array(FLOAT32, &[3], &[numbers(2), vec![0; 4]].concat()));
        // An LZ4 block: a token for six literals, then the literals.
        let mut lz4 = raw_array(UINT8, &[7], &[0x60, 1, 2, 3, 4, 5, 6]);
        lz4[8] = 2;
        lz4[48] = 6;
        self.file("lz4.ra", &lz4);
        // A row-major NumPy file.
        let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 9), }";
        let npy = format!("\u{1}\u{0}\u{76}\u{0}{dict:117}\n");
        let npy = [b"\x93NUMPY", npy.as_bytes(), &numbers(108)].concat();
        self.file("big.npy", &npy);
        self.file("temperature.npy", &npy);
        // A NetCDF-3 file with the scalar `x`: no records, dimensions and attributes; one variable and its place.
        let variable = b"\0\0\0\x0b\0\0\0\x01\0\0\0\x01x\0\0\0";
        let place = b"\0\0\0\x04\0\0\0\x04\0\0\0\x40\0\0\0\x07";
        let netcdf = [&b"CDF\x01"[..], &[0; 20], variable, &[0; 12], place].concat();
        self.file("surface.nc", &netcdf);
        self.file("meta.csv", b"name,dims,units\nrun1/temperature,\"depth,time\",K\n");
        self.run(&format!("cp -r {sample} exp && cp -r exp/run1 run1 && mkdir packs safe"));
        self.run("mkdir data && cp big.npy exp/notes.txt data");
        self.run("ra-pack convert exp results.npz && ra-pack create exp -o exp.zip");
        self.file("profile.json", include_bytes!("../../examples/profiles/moorings.json"));
        self.run(
            "ra-pack create -q exp -o bag.zip --layout bagit --digest sha256,sha512 --profile profile.json \
             --bag-info Contact-Email=a@example.org",
        );
        self.run("cp exp.zip monday.zip && cp exp.zip friday.zip");
        self.run("ra-pack create -q exp -o monday.tar.gz && cp monday.tar.gz friday.tar.gz");
        self.run("cp exp.zip packs && cp exp.zip.manifest-sha256.txt safe");
        // Fifty million elements in a sparse file.
        let mut frames = raw_array(UINT8, &[0, 512, 100], &[]);
        frames[32..40].copy_from_slice(&52_428_800_u64.to_le_bytes());
        frames[48..56].copy_from_slice(&1024_u64.to_le_bytes());
        self.file("run1/frames.ra", &frames);
        let file = fs::File::options().write(true).open(self.home.path().join("run1/frames.ra"));
        file.unwrap().set_len(72 + 52_428_800).unwrap();
        let description = "ndarrays: {frames: {shape: [1024, 512, 100], type: uint8}}\n";
        self.file("run1/frames.yaml", description.as_bytes());
        self.run("ra-pack verify exp.zip packs/exp.zip --log audit.jsonl && cp exp.zip huge.zip");
        self.run("cp audit.jsonl worker-1.jsonl && cp audit.jsonl worker-2.jsonl");
        if installed(&["minisign"]) {
            self.run("mkdir -p .minisign && minisign -G -W -f >/dev/null");
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        let home = self.home.path();
        command.args(["-c", line]).current_dir(home).env("HOME", home).env("PATH", &self.path);
        command.env_remove("SOURCE_DATE_EPOCH");
        command
    }

    #[track_caller]
    fn run(&self, line: &str) {
        let ran = self.command(line).output().unwrap();
        assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// The coordinate that examples select by.
const TIME: &str =
    "dimcoords: {time: {size: 9, type: float64, attributes: {units: hours since 2024-06-03}}}\n";

#[test]
#[ignore = "slow"]
#[cfg(unix)]
fn every_example_of_every_command_works() {
    let commands = commands();
    assert!(commands.len() > 14, "{commands:?}");
    let mut faults = Vec::new();
    let filled = Place::new();
    filled.fill();
    for command in &commands {
        let help = help(&[command]);
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{command} --help shows no example");
        for line in examples {
            let words: Vec<_> = line.split([' ', '|']).collect();
            let mut tools = TOOLS.to_vec();
            tools.retain(|tool| words.iter().any(|word| word.trim_matches('\'') == *tool));
            if !installed(&tools) {
                continue;
            }
            let place = filled.copied();
            // Removes the output of earlier examples.
            let made = match line.split_once(" -o ").or(line.split_once(" -C ")) {
                Some((_, made)) => made.split(' ').next(),
                None if command == "convert" => line.split(' ').nth_back(0),
                None => None,
            };
            if let Some(made) = made.filter(|made| *made != "-") {
                place.run(&format!("rm -rf {made} {made}.manifest*"));
            }
            let ran = place.command(&line).output().unwrap();
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            // `diff` may find differences; a preview needs a terminal.
            let is_clean = match ran.status.code() {
                Some(1) => command == "diff",
                Some(2) => command == "plot" && said.contains("is not a terminal"),
                code => code == Some(0),
            };
            if !is_clean {
                faults.push(format!("{line}: {}\n{said}", ran.status));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_help_of_all_names_the_exit_status_and_the_environment() {
    let help = help(&[]);
    for word in ["Exit status:", "Environment:", "  130 ", "NO_COLOR", "no configuration files"] {
        assert!(help.contains(word), "{word}");
    }
    // The code reads no variable that the help does not name.
    let mut asked = Vec::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut |text| {
        let calls = text.split("env::var").skip(1);
        let names = calls.filter_map(|call| call.split('"').nth(1).map(str::to_owned));
        // Only tests read these variables.
        let is_of_tests =
            |name: &str| matches!(name, "RA_PACK_WRITE_DOCS" | "RA_PACK_REQUIRE_TOOLS");
        let names = names.filter(|name| !is_of_tests(name));
        asked.extend(names.filter(|name| name.chars().all(|c| c.is_ascii_uppercase() || c == '_')));
    });
    assert!(asked.len() >= 3, "{asked:?}");
    for name in asked {
        assert!(help.contains(&name), "{name} is not in --help");
    }
}

fn visit(directory: &Path, look: &mut dyn FnMut(&str)) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, look);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            look(&fs::read_to_string(path).unwrap());
        }
    }
}
