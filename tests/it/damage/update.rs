//! Bits of a pack flipped before it is updated: no update makes the damage valid.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use ra_pack::archive::Compression;
use ra_pack::digest::Algorithm;
use ra_pack::verify::{VerifyOptions, VerifyReport};
use ra_pack::write::{CreateOptions, Layout};
use ra_pack::{Pack, PackWriter, WriteOptions, create, verify};
use tempfile::TempDir;

use crate::experiment::{Experiment, INT16};
use crate::skips::is_long;

/// A test of seconds tries one in this many bits.
const STRIDE: usize = 499;
/// A test of minutes tries one in this many bits: an update and its check take much longer than a check.
const LONG_STRIDE: usize = 23;

/// Extension and options of each kind, and whether its description is written by hand.
fn kinds() -> Vec<(&'static str, CreateOptions, bool)> {
    let options = |change: &dyn Fn(&mut CreateOptions)| {
        let mut options = CreateOptions { no_external_manifest: true, ..CreateOptions::default() };
        change(&mut options);
        options
    };
    let plain = || options(&|_| {});
    let bag = || {
        options(&|options| {
            options.layout = Layout::BagIt;
            options.bag_info = vec![("Contact-Name".to_owned(), "Ada".to_owned())];
        })
    };
    let deflate = Compression::Deflate { level: None };
    vec![
        (".zip", plain(), false),
        (".zip", options(&|options| options.compression = deflate), true),
        (".zip", bag(), true),
        (".zip", options(&|options| options.block_digests = Some(1 << 16)), false),
        (".tar", plain(), false),
        (".tar", bag(), false),
        (
            ".tar",
            options(&|options| options.digests = vec![Algorithm::Sha256, Algorithm::Sha512]),
            true,
        ),
        (".tar", options(&|options| options.no_external_manifest = false), false),
        (".tar.gz", plain(), true),
        (".tar.zst", plain(), false),
    ]
}

fn experiment(by_hand: bool) -> Experiment {
    let experiment = Experiment::new()
        .array("a.ra", INT16, &[2, 2], &[1, 0, 2, 0, 3, 0, 4, 0])
        .describe("a.yaml", "[2, time]", "int16")
        .file("notes.txt", "The temperature of the sea.\n");
    let document =
        "# Mooring seven\nattributes: {title: Seven}\ndimcoords:\n  time: {size: 2, type: int64}\n";
    let stated = "dimcoords:\n  time: {size: 2, type: int64, value: [1, 2]}\n";
    experiment.file("manifest.yaml", if by_hand { document } else { stated })
}

/// Returns every file of a pack.
fn contents(archive: &Path) -> Option<BTreeMap<String, Vec<u8>>> {
    let pack = Pack::open(archive).ok()?;
    let files = pack.members().ok()?.into_iter().filter(|member| !member.name.ends_with('/'));
    let names = files
        .map(|file| file.name.trim_start_matches("x/data/").trim_start_matches("x/").to_owned());
    names.map(|name| pack.read(&name).ok().map(|content| (name, content))).collect()
}

/// Adds a file, and returns the contents if the new archive is valid.
fn updated(archive: &Path) -> Option<BTreeMap<String, Vec<u8>>> {
    let options = WriteOptions { jobs: Some(1), ..WriteOptions::default() };
    let mut pack = PackWriter::update(archive, options).ok()?;
    pack.file("new.txt", "new".as_bytes()).ok()?;
    pack.finish().ok()?;
    let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
    verify(archive, &options).ok().filter(VerifyReport::is_valid)?;
    contents(archive)
}

fn no_update_makes_damage_valid(stride: usize) {
    for (number, (ending, options, by_hand)) in kinds().into_iter().enumerate() {
        let source = experiment(by_hand);
        let memory = Path::new("/dev/shm");
        let scratch =
            || if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.unwrap();
        let home = scratch();
        let archive = home.path().join(format!("x{ending}"));
        create(source.path(), &archive, &options).unwrap();
        let sound = fs::read(&archive).unwrap();
        let beside = format!("x{ending}.manifest-sha256.txt");
        let manifest = fs::read(home.path().join(&beside)).ok();
        let expected = updated(&archive).expect("the archive is valid");
        assert!(expected.contains_key("new.txt") && expected.contains_key("notes.txt"));
        let blessed = Mutex::new(Vec::new());
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let flip = |first: usize| {
            let scratch = scratch();
            let archive = scratch.path().join(format!("x{ending}"));
            for bit in (first * stride..sound.len() * 8).step_by(stride * threads) {
                let mut damaged = sound.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                fs::write(&archive, damaged).unwrap();
                if let Some(manifest) = &manifest {
                    fs::write(scratch.path().join(&beside), manifest).unwrap();
                }
                if updated(&archive).is_some_and(|found| found != expected) {
                    blessed.lock().unwrap().push(bit);
                }
            }
        };
        thread::scope(|scope| {
            for first in 0..threads {
                scope.spawn(move || flip(first));
            }
        });
        let blessed = blessed.into_inner().unwrap();
        assert!(blessed.is_empty(), "kind {number} (x{ending}), bits {blessed:?}");
    }
}

#[test]
fn an_update_of_a_damaged_pack_never_makes_it_valid() {
    no_update_makes_damage_valid(if is_long() { LONG_STRIDE } else { STRIDE });
}
