//! BagIt: hand-written bags that keep or break each rule of RFC 8493, and bags of `create`.

mod broken;
mod good;
mod profile;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::bytes::{self, Part, part, sha256};
use crate::run::{Ran, ra, unhelpful};

/// Content of every payload file, with its published digests.
const CONTENT: &str = "abc";
const DIGESTS: [(&str, &str); 6] = [
    ("md5", "900150983cd24fb0d6963f7d28e17f72"),
    ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ("sha224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    (
        "sha384",
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
    ),
    ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        "sha512",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd\
         454d4423643ce80e2a9ac94fa54ca49f",
    ),
];

fn digest(algorithm: &str) -> &'static str {
    DIGESTS.iter().find(|(name, _)| *name == algorithm).unwrap().1
}

fn line(name: &str) -> String {
    format!("{}  {name}\n", digest("sha256"))
}

/// A bag as a map of files; the tag manifest is made when it is written.
#[derive(Debug, Clone)]
struct Bag {
    files: Vec<(String, Vec<u8>)>,
    /// Whether the bag has a tag manifest that lists every tag file.
    tagged: bool,
    /// Files next to the bag.
    next_to: Vec<(String, Vec<u8>)>,
    /// Top directory in an archive.
    top: &'static str,
}

impl Bag {
    fn new() -> Self {
        let bag = Self { files: Vec::new(), tagged: true, next_to: Vec::new(), top: "exp/" };
        bag.version("1.0")
            .file("bag-info.txt", "Contact-Name: A. Scientist\nPayload-Oxum: 6.2\n")
            .file("data/a.txt", CONTENT)
            .file("data/deep/b c.txt", CONTENT)
            .file("manifest-sha256.txt", line("data/a.txt") + &line("data/deep/b c.txt"))
    }

    fn version(self, version: &str) -> Self {
        let text = format!("BagIt-Version: {version}\nTag-File-Character-Encoding: UTF-8\n");
        self.file("bagit.txt", text)
    }

    /// Adds a file or replaces it.
    fn file(mut self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.files.retain(|(other, _)| other != name);
        self.files.push((name.to_owned(), bytes.as_ref().to_vec()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.files.retain(|(other, _)| other != name);
        self
    }

    fn next_to(mut self, name: &str, bytes: &str) -> Self {
        self.next_to.push((name.to_owned(), bytes.as_bytes().to_vec()));
        self
    }

    /// Adds lines to a file.
    fn append(self, name: &str, text: &str) -> Self {
        let old =
            self.files.iter().find(|(other, _)| other == name).map(|(_, bytes)| bytes.clone());
        self.file(name, [old.unwrap_or_default(), text.as_bytes().to_vec()].concat())
    }

    fn untagged(mut self) -> Self {
        self.tagged = false;
        self
    }

    /// Replaces the lines of the tag manifest.
    fn tags(self, text: &str) -> Self {
        self.untagged().file("tagmanifest-sha256.txt", text)
    }

    /// Returns the lines of the correct tag manifest.
    fn tag_lines(&self) -> String {
        let tags = self.files.iter().filter(|(name, _)| !name.starts_with("data/"));
        let lines: Vec<_> =
            tags.map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect();
        lines.concat()
    }

    fn whole(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = self.files.clone();
        if self.tagged {
            files.push(("tagmanifest-sha256.txt".to_owned(), self.tag_lines().into_bytes()));
        }
        files
    }

    fn parts(&self) -> Vec<Part> {
        let inside =
            self.whole().into_iter().map(|(name, bytes)| (self.top.to_owned() + &name, bytes));
        inside.chain(self.next_to.clone()).map(|(name, bytes)| part(&name, bytes)).collect()
    }

    /// Writes the bag as an archive, or as a directory for the ending `/`.
    fn write(&self, scratch: &Path, ending: &str) -> PathBuf {
        let target = scratch.join(format!("bag{}", ending.trim_end_matches('/')));
        match ending {
            ".zip" => fs::write(&target, bytes::zip(&self.parts())).unwrap(),
            ".tar" => fs::write(&target, bytes::tar(&self.parts())).unwrap(),
            _ => {
                for (name, bytes) in self.whole() {
                    let path = target.join(name);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, bytes).unwrap();
                }
            }
        }
        target
    }

    fn verify(&self, ending: &str, options: &[&str]) -> Ran {
        let scratch = TempDir::new().unwrap();
        let target = self.write(scratch.path(), ending);
        let ran = ra("verify", &[&target], &[&["--json"], options].concat());
        assert!(unhelpful(&ran.json()).is_empty(), "{}", ran.said());
        ran
    }
}

/// Containers of bags in these tests.
const CONTAINERS: [&str; 3] = ["/", ".zip", ".tar"];
const ARCHIVES: [&str; 2] = [".zip", ".tar"];

/// Returns codes and severities of the findings.
fn codes(json: &Value) -> Vec<(String, String)> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let findings = json["findings"].as_array().unwrap().iter();
    findings.map(|finding| (text(finding, "code"), text(finding, "severity"))).collect()
}
