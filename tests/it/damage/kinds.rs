//! The packs to damage: a small one of each container, compression and layout.

use std::fs;
use std::path::Path;

use ra_pack::archive::Compression;
use ra_pack::write::ExtractOptions;
use ra_pack::write::{CreateOptions, Layout};
use ra_pack::{create, extract};
use tempfile::TempDir;

use crate::experiment::{Experiment, FLOAT32, INT16, le};

/// A kind of pack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Extension of the archive; empty for a directory.
    pub(crate) ending: &'static str,
    pub(crate) compression: Compression,
    pub(crate) layout: Layout,
}

/// Returns all kinds, plain and as bags.
pub(crate) fn all() -> Vec<Kind> {
    let deflate = Compression::Deflate { level: None };
    let zstd = Compression::Zstd { level: None };
    [
        ("zip, stored", "zip, stored, bag", ".zip", Compression::Stored),
        ("zip, deflate", "zip, deflate, bag", ".zip", deflate),
        ("zip, zstd", "zip, zstd, bag", ".zip", zstd),
        ("tar", "tar, bag", ".tar", Compression::Stored),
        ("tar.gz", "tar.gz, bag", ".tar.gz", Compression::Stored),
        ("tar.zst", "tar.zst, bag", ".tar.zst", Compression::Stored),
        ("directory", "directory, bag", "", Compression::Stored),
    ]
    .into_iter()
    .flat_map(|(plain, bag, ending, compression)| {
        let kind = |name, layout| Kind { name, ending, compression, layout };
        [kind(plain, Layout::Plain), kind(bag, Layout::BagIt)]
    })
    .collect()
}

/// The undamaged bytes of an archive, or of all files of a directory.
#[derive(Debug, Clone)]
pub(crate) struct Sound {
    pub(crate) bytes: Vec<u8>,
    /// Name and range of each file of a directory; empty for an archive.
    pub(crate) files: Vec<(String, std::ops::Range<usize>)>,
}

impl Sound {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Returns two described arrays, one of them in a directory, another file, and an empty directory, which a bag cannot
/// hold.
fn experiment(layout: Layout) -> Experiment {
    let experiment = match layout {
        Layout::Plain => Experiment::new().empty_directory("empty"),
        _ => Experiment::new(),
    };
    experiment
        .array("a.ra", FLOAT32, &[3], &le(f32::to_le_bytes, [1.0, 2.0, 3.0]))
        .describe("a.yaml", "[3]", "float32")
        .array("run/b.ra", INT16, &[2, 2], &le(i16::to_le_bytes, [1, -2, 3, -4]))
        .describe("run/b.yaml", "[2, 2]", "int16")
        .file("run/notes.txt", "The temperature of the sea.\n")
}

impl Kind {
    /// Packs the experiment.
    pub(crate) fn make(&self) -> Sound {
        let scratch = TempDir::new().unwrap();
        let ending = if self.ending.is_empty() { ".zip" } else { self.ending };
        let archive = scratch.path().join(format!("x{ending}"));
        let options = CreateOptions {
            layout: self.layout,
            compression: self.compression,
            no_external_manifest: true,
            ..CreateOptions::default()
        };
        create(experiment(self.layout).path(), &archive, &options).unwrap();
        if !self.ending.is_empty() {
            return Sound { bytes: fs::read(archive).unwrap(), files: Vec::new() };
        }
        let into = scratch.path().join("into");
        extract(&archive, &into, &ExtractOptions::default()).unwrap();
        let mut sound = Sound { bytes: Vec::new(), files: Vec::new() };
        for (name, content) in crate::experiment::read_tree(&into) {
            let start = sound.bytes.len();
            sound.bytes.extend(content);
            sound.files.push((name, start..sound.bytes.len()));
        }
        sound
    }

    /// Returns the path of a copy in a scratch directory.
    pub(crate) fn place(&self, scratch: &Path) -> std::path::PathBuf {
        scratch.join(format!("x{}", self.ending))
    }
}
