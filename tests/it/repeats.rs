//! Every part that an input can repeat, as often as fits into 1 MB: each command has bounded time and memory.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::bytes::sha256;
use crate::experiment::{UINT8, raw_array};
use crate::raw_tar::{self, pax_record};
use crate::raw_zip::{self, DEFLATE, Entry, Zip};
use crate::skips::one_of;

/// Limit of the data memory of a run, in KiB.
const MEMORY_KIB: u32 = 256 << 10;
/// Largest input in bytes.
const INPUT: usize = 1 << 20;
/// Limit of the CPU time of a run, in seconds. A program that is not optimized takes about ten times as long, and gets
/// input that expands less.
const CPU: u32 = 20;
/// Limit of the time of a run on a busy machine.
const TIME: Duration = Duration::from_mins(10);
/// Most bytes that an input expands to. More would cost time even if nothing looked at them.
const EXPANDED: usize = if cfg!(debug_assertions) { 8 << 20 } else { 1 << 30 };

/// The commands that read an archive.
const OF_ARCHIVES: &[&str] = &[
    "verify -j 8 NAME",
    "list --json NAME",
    "info NAME",
    "validate NAME",
    "extract NAME -C out -f --max-size 1000000",
    "salvage NAME -o new.zip -f",
];
const OF_TABLES: &[&str] = &["describe a.ra --apply NAME"];
const OF_LOGS: &[&str] =
    &["audit NAME", "audit NAME --json", "verify a.ra --log NAME --max-age 1d --history NAME"];
const OF_LISTS: &[&str] = &["verify -j 1 --files-from NAME", "audit log --files-from NAME"];
const OF_DESCRIPTIONS: &[&str] =
    &["validate NAME", "verify NAME", "describe NAME --set x=1", "info NAME"];
const OF_NPZ: &[&str] = &["convert NAME out -f", "info NAME"];

/// A part that an input repeats: the name of the input, the commands, the bytes that each repetition expands to, and
/// the input with a number of them.
struct Part {
    what: &'static str,
    name: &'static str,
    commands: &'static [&'static str],
    expands: usize,
    make: fn(usize) -> Vec<u8>,
}

const PARTS: &[Part] = &[
    Part {
        what: "pax records of members",
        name: "x.tar.zst",
        commands: OF_ARCHIVES,
        expands: 700 << 10,
        make: |count| {
            tar(count, |number| {
                [raw_tar::Entry::pax(&b"6 a=b\n".repeat(110_000)), empty(number)].into()
            })
        },
    },
    Part {
        what: "pax headers of members",
        name: "x.tar.zst",
        commands: OF_ARCHIVES,
        expands: 1536,
        make: |count| {
            tar(count, |number| {
                [raw_tar::Entry::pax(&pax_record("comment", "x")), empty(number)].into()
            })
        },
    },
    Part {
        what: "global pax records",
        name: "x.tar.zst",
        commands: OF_ARCHIVES,
        expands: 700 << 10,
        make: |count| tar(count, |_| [global(&b"6 a=b\n".repeat(110_000))].into()),
    },
    Part {
        what: "global pax headers",
        name: "x.tar.zst",
        commands: OF_ARCHIVES,
        expands: 1024,
        make: |count| tar(count, |_| [global(b"6 a=b\n")].into()),
    },
    Part {
        what: "odd values of pax records",
        name: "x.tar.zst",
        commands: OF_ARCHIVES,
        expands: 700 << 10,
        make: |count| {
            tar(count, |number| {
                [raw_tar::Entry::pax(&b"11 mtime=x\n".repeat(60_000)), empty(number)].into()
            })
        },
    },
    Part {
        what: "long names",
        name: "x.tar.zst",
        commands: OF_ARCHIVES,
        expands: 5 << 10,
        make: |count| tar(count, |number| [long_name(number), empty(number)].into()),
    },
    Part {
        what: "members of a tar",
        name: "x.tar.zst",
        commands: OF_ARCHIVES,
        expands: 512,
        make: |count| tar(count, |number| [empty(number)].into()),
    },
    Part {
        what: "directories of a tar",
        name: "x.tar.zst",
        commands: OF_ARCHIVES,
        expands: 512,
        make: |count| {
            tar(count, |number| [raw_tar::Entry::typed(format!("{number}/"), b'5', "")].into())
        },
    },
    Part {
        what: "members of a tar.gz",
        name: "x.tar.gz",
        commands: OF_ARCHIVES,
        expands: 512,
        make: |count| gz(&raw_tar::tar(&(0..count).map(empty).collect::<Vec<_>>())),
    },
    Part {
        what: "zeros after a tar",
        name: "x.tar.zst",
        commands: OF_ARCHIVES,
        expands: 512,
        make: |count| zst(&vec![0; count * 512]),
    },
    Part {
        what: "members of a zip",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 100,
        make: |count| {
            zip((0..count).map(|number| Entry::stored(number.to_string(), b"")).collect())
        },
    },
    Part {
        what: "directories in names",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 100,
        make: |count| {
            zip((0..count.div_ceil(1000))
                .map(|number| Entry::stored(format!("{}{number}", "a/".repeat(1000)), b""))
                .collect())
        },
    },
    Part {
        what: "extra fields",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 8,
        make: |count| {
            zip((0..count.div_ceil(16_000))
                .map(|number| with_extra(number, count.min(16_000)))
                .collect())
        },
    },
    Part {
        what: "lines of a manifest",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 80,
        make: |count| {
            text(
                "manifest-sha256.txt",
                &lines(count, |number| format!("{number:064x}  {number}\n")),
            )
        },
    },
    Part {
        what: "the same line of a manifest",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 70,
        make: |count| text("manifest-sha256.txt", &format!("{:064x}  x.ra\n", 0).repeat(count)),
    },
    Part {
        what: "invalid lines of a manifest",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 2,
        make: |count| text("manifest-sha256.txt", &"x\n".repeat(count)),
    },
    Part {
        what: "lines of a block list",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 72,
        make: |count| {
            text(
                "blocks-sha256.txt",
                &("# block-size 4096\n".to_owned()
                    + &lines(count, |number| format!("{number:064x}  {number}  x.ra\n"))),
            )
        },
    },
    Part {
        what: "files of a block list",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 72,
        make: |count| {
            text(
                "blocks-sha256.txt",
                &("# block-size 4096\n".to_owned()
                    + &lines(count, |number| format!("{number:064x}  0  {number:07}\n"))),
            )
        },
    },
    Part {
        what: "keys of YAML",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 12,
        make: |count| text("x.yaml", &lines(count, |number| format!("k{number}: 1\n"))),
    },
    Part {
        what: "items of YAML",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 2,
        make: |count| text("x.yaml", &format!("a: [{}1]\n", "1,".repeat(count))),
    },
    Part {
        what: "depth of YAML",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 2,
        make: |count| text("x.yaml", &format!("a: {}{}\n", "[".repeat(count), "]".repeat(count))),
    },
    Part {
        what: "aliases of YAML",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 3,
        make: |count| text("x.yaml", &format!("a: &a [1]\nb: [{}1]\n", "*a,".repeat(count))),
    },
    Part {
        what: "attributes",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 14,
        make: |count| {
            text(
                "x.yaml",
                &format!(
                    "ndarrays: {{x: {{shape: [1], type: uint8, attributes: {{{}}}}}}}\n",
                    lines(count, |number| format!("a{number}: 1, "))
                ),
            )
        },
    },
    Part {
        what: "arrays of a description of the pack",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 40,
        make: |count| {
            text(
                "manifest.yaml",
                &lines(count, |number| {
                    if number == 0 {
                        "ndarrays:\n".to_owned()
                    } else {
                        format!("  a{number}: {{shape: [1], type: uint8}}\n")
                    }
                }),
            )
        },
    },
    Part {
        what: "groups of a description of the pack",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 20,
        make: |count| text("manifest.yaml", &lines(count, |number| format!("/g{number}: {{}}\n"))),
    },
    Part {
        what: "entries of bag-info.txt",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 5,
        make: |count| bag("bag-info.txt", &"a: b\n".repeat(count)),
    },
    Part {
        what: "continued lines of bag-info.txt",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 3,
        make: |count| bag("bag-info.txt", &("a: b\n".to_owned() + &" b\n".repeat(count))),
    },
    Part {
        what: "entries of fetch.txt",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 30,
        make: |count| {
            bag("fetch.txt", &lines(count, |number| format!("http://a/ - data/{number}\n")))
        },
    },
    Part {
        what: "lines of a tag manifest",
        name: "x.zip",
        commands: OF_ARCHIVES,
        expands: 80,
        make: |count| {
            bag(
                "tagmanifest-sha256.txt",
                &lines(count, |number| format!("{number:064x}  {number}\n")),
            )
        },
    },
    Part {
        what: "members of an npz",
        name: "x.npz",
        commands: OF_NPZ,
        expands: 260,
        make: |count| {
            zip((0..count).map(|number| Entry::stored(format!("a{number}.npy"), &npy())).collect())
        },
    },
    Part {
        what: "columns of a table",
        name: "x.csv",
        commands: OF_TABLES,
        expands: 8,
        make: |count| {
            format!(
                "name{}\na{}\n",
                lines(count, |number| format!(",c{number}")),
                ",1".repeat(count)
            )
            .into_bytes()
        },
    },
    Part {
        what: "rows of a table",
        name: "x.csv",
        commands: OF_TABLES,
        expands: 8,
        make: |count| format!("name,units\n{}", "a,m\n".repeat(count)).into_bytes(),
    },
    Part {
        what: "rows and columns of a table",
        name: "x.csv",
        commands: OF_TABLES,
        expands: 2000,
        make: |count| {
            format!(
                "name{}\n{}",
                lines(999, |number| format!(",c{number}")),
                format!("a{}\n", ",1".repeat(999)).repeat(count)
            )
            .into_bytes()
        },
    },
    Part {
        what: "quotes of a table",
        name: "x.csv",
        commands: OF_TABLES,
        expands: 2,
        make: |count| format!("name,units\na,\"{}\"\n", "\"\"".repeat(count)).into_bytes(),
    },
    Part {
        what: "dimensions in a table",
        name: "x.csv",
        commands: OF_TABLES,
        expands: 2,
        make: |count| format!("name,dims\na,{}\n", "x ".repeat(count)).into_bytes(),
    },
    Part {
        what: "targets of a log",
        name: "x.jsonl",
        commands: OF_LOGS,
        expands: 300,
        make: |count| lines(count, |number| log_line(number, "null", "valid", 0)).into_bytes(),
    },
    Part {
        what: "shards of a log",
        name: "x.jsonl",
        commands: OF_LOGS,
        expands: 300,
        make: |count| {
            lines(count, |number| {
                log_line(0, &format!("\"{}/100000\"", count - number), "valid", number)
            })
            .into_bytes()
        },
    },
    Part {
        what: "bad shards of a log",
        name: "x.jsonl",
        commands: OF_LOGS,
        expands: 300,
        make: |count| {
            lines(count, |number| {
                log_line(
                    0,
                    &format!("\"{}/100000\"", count - number),
                    ["valid", "not_valid"][number % 2],
                    number,
                )
            })
            .into_bytes()
        },
    },
    Part {
        what: "counts of shards of a log",
        name: "x.jsonl",
        commands: OF_LOGS,
        expands: 300,
        make: |count| {
            lines(count, |number| log_line(0, &format!("\"1/{}\"", number + 1), "valid", number))
                .into_bytes()
        },
    },
    Part {
        what: "bad results of a log",
        name: "x.jsonl",
        commands: OF_LOGS,
        expands: 300,
        make: |count| {
            lines(count, |number| log_line(0, "null", "not_valid", count - number)).into_bytes()
        },
    },
    Part {
        what: "corrupt lines of a log",
        name: "x.jsonl",
        commands: OF_LOGS,
        expands: 4,
        make: |count| (log_line(0, "null", "valid", 0) + &"{\n".repeat(count)).into_bytes(),
    },
    Part {
        what: "names of a list",
        name: "x.txt",
        commands: OF_LISTS,
        expands: 4,
        make: |count| "a/x\n".repeat(count.min(20_000)).into_bytes(),
    },
    Part {
        what: "keys of a description",
        name: "a.yaml",
        commands: OF_DESCRIPTIONS,
        expands: 12,
        make: |count| lines(count, |number| format!("k{number}: 1\n")).into_bytes(),
    },
    Part {
        what: "attributes of a description",
        name: "a.yaml",
        commands: OF_DESCRIPTIONS,
        expands: 14,
        make: |count| {
            format!(
                "ndarrays: {{a: {{shape: [1], type: uint8, attributes: {{{}}}}}}}\n",
                lines(count, |number| format!("a{number}: 1, "))
            )
            .into_bytes()
        },
    },
    Part {
        what: "comments of a description",
        name: "a.yaml",
        commands: OF_DESCRIPTIONS,
        expands: 2,
        make: |count| {
            format!("ndarrays: {{a: {{shape: [1], type: uint8}}}}\n{}", "#\n".repeat(count))
                .into_bytes()
        },
    },
];

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        text.push_str(&line(number));
        text
    })
}

fn log_line(target: usize, shard: &str, verdict: &str, second: usize) -> String {
    let time = format!(
        "2026-01-{:02}T{:02}:{:02}:{:02}Z",
        1 + second / 86_400 % 28,
        second / 3600 % 24,
        second / 60 % 60,
        second % 60
    );
    let mut line =
        format!("{{\"target\":\"{target}\",\"verdict\":\"{verdict}\",\"started\":\"{time}\",");
    writeln!(line, "\"shard\":{shard},\"findings\":[]}}").unwrap();
    line
}

fn empty(number: usize) -> raw_tar::Entry {
    raw_tar::Entry::file(number.to_string(), b"")
}

fn global(records: &[u8]) -> raw_tar::Entry {
    raw_tar::Entry { typeflag: b'g', ..raw_tar::Entry::pax(records) }
}

fn long_name(number: usize) -> raw_tar::Entry {
    let name = format!("{}{number}\0", "a".repeat(4000));
    raw_tar::Entry { typeflag: b'L', ..raw_tar::Entry::file("././@LongLink", name.as_bytes()) }
}

fn tar(count: usize, unit: impl Fn(usize) -> Vec<raw_tar::Entry>) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    for number in 0..count {
        encoder.write_all(&raw_tar::unended(&unit(number))).unwrap();
    }
    encoder.write_all(&[0; 1024]).unwrap();
    encoder.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(mut entries: Vec<Entry>) -> Vec<u8> {
    // More would need a zip64, which is larger.
    entries.truncate(65_000);
    Zip { entries, ..Zip::default() }.to_bytes()
}

fn with_extra(number: usize, fields: usize) -> Entry {
    let mut entry = Entry::stored(number.to_string(), b"");
    let extra = raw_zip::extra_field(0xcafe, b"").repeat(fields);
    entry.both(|header| header.extra.clone_from(&extra));
    entry
}

fn deflated(name: &str, content: &str) -> Entry {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content.as_bytes()).unwrap();
    Entry::packed(name, DEFLATE, encoder.finish().unwrap(), content.as_bytes())
}

/// Returns a zip with an array and this text, which is listed in a manifest unless it is one.
fn text(name: &str, content: &str) -> Vec<u8> {
    let mut entries =
        vec![Entry::stored("x.ra", &raw_array(UINT8, &[1], &[0])), deflated(name, content)];
    if name == "blocks-sha256.txt" {
        let manifest = format!("{}  {name}\n", sha256(content.as_bytes()));
        entries.push(Entry::stored("manifest-sha256.txt", manifest.as_bytes()));
    }
    zip(entries)
}

fn bag(name: &str, content: &str) -> Vec<u8> {
    let declaration = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
    let array = raw_array(UINT8, &[1], &[0]);
    let manifest = format!("{}  data/x.ra\n", sha256(&array));
    zip(vec![
        Entry::stored("bagit.txt", declaration),
        Entry::stored("data/x.ra", &array),
        Entry::stored("manifest-sha256.txt", manifest.as_bytes()),
        deflated(name, content),
    ])
}

fn npy() -> Vec<u8> {
    let mut header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }".to_vec();
    header.resize(117, b' ');
    [b"\x93NUMPY\x01\0\x76\0", &*header, b"\n\0"].concat()
}

impl Part {
    /// Returns the largest input, to a factor of two.
    fn largest(&self) -> Vec<u8> {
        let mut count = (EXPANDED / self.expands).max(2);
        loop {
            let input = (self.make)(count);
            if input.len() < INPUT {
                return input;
            }
            count = (count * 9 / 10).min(count * INPUT / input.len());
        }
    }

    fn bear(&self) {
        let place = TempDir::new().unwrap();
        let directory = place.path();
        fs::write(directory.join("a.ra"), raw_array(UINT8, &[1], &[0])).unwrap();
        fs::write(directory.join("log"), log_line(0, "null", "valid", 0)).unwrap();
        let input = self.largest();
        for command in self.commands {
            fs::write(directory.join(self.name), &input).unwrap();
            run(self.what, directory, &command.replace("NAME", self.name));
        }
    }
}

/// Runs the binary in a shell that limits its memory.
fn run(what: &str, directory: &Path, arguments: &str) {
    let binary = assert_cmd::cargo::cargo_bin!("ra-pack").display().to_string();
    let line = format!("ulimit -d {MEMORY_KIB} -t {CPU}; exec {binary} {arguments}");
    let mut command = Command::new("sh");
    let start = std::time::Instant::now();
    let output = command.current_dir(directory).args(["-c", &line]).timeout(TIME).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let end = said.get(said.len().saturating_sub(500)..).unwrap_or(&said);
    assert!(
        matches!(output.status.code(), Some(0..=2)),
        "{what}: {arguments}: {:?} after {:?}: {end}",
        output.status,
        start.elapsed()
    );
    assert!(!said.contains("panicked"), "{what}: {arguments}: {end}");
}

/// Tries every fourth part from this one on, so that the parts run on several threads; all of them in a long run.
fn bear_every_fourth(first: usize) {
    PARTS.iter().skip(first).step_by(4 * one_of(11)).for_each(Part::bear);
}

#[test]
#[ignore = "slow"]
fn repeated_parts_cost_bounded_time_and_memory_0() {
    bear_every_fourth(0);
}

#[test]
#[ignore = "slow"]
fn repeated_parts_cost_bounded_time_and_memory_1() {
    bear_every_fourth(1);
}

#[test]
#[ignore = "slow"]
fn repeated_parts_cost_bounded_time_and_memory_2() {
    bear_every_fourth(2);
}

#[test]
#[ignore = "slow"]
fn repeated_parts_cost_bounded_time_and_memory_3() {
    bear_every_fourth(3);
}

#[test]
fn all_extended_headers_of_a_tar_together_are_bounded() {
    let large = pax_record("comment", &"x".repeat((1 << 20) - 100));
    let place = TempDir::new().unwrap();
    for header in [raw_tar::Entry::pax, global as fn(&[u8]) -> raw_tar::Entry] {
        let archive = tar(100, |number| {
            let header = header(&large);
            let member = empty(number);
            if header.typeflag == b'g' { vec![header] } else { vec![header, member] }
        });
        assert!(archive.len() < INPUT / 10);
        fs::write(place.path().join("x.tar.zst"), archive).unwrap();
        let binary = assert_cmd::cargo::cargo_bin!("ra-pack");
        let ran = Command::new(binary)
            .current_dir(place.path())
            .args(["verify", "x.tar.zst"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        assert!(
            ran.status.code() == Some(1) && said.contains("expected extended headers of at most"),
            "{said}"
        );
    }
}
