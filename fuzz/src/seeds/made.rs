//! Files that ra-pack itself writes.

use std::error::Error;
use std::fs;

use ra_pack::archive::Compression;
use ra_pack::write::CreateOptions;
use ra_pack::{RawArray, create};

use super::Seed;

pub(super) fn seeds() -> Result<Vec<Seed>, Box<dyn Error>> {
    let mut seeds = Vec::new();
    let mut add = |target, name: &str, bytes| {
        seeds.push(Seed { target, name: name.to_owned(), bytes, made: true });
    };
    let scratch = tempfile::tempdir()?;
    let source = scratch.path().join("source");
    fs::create_dir_all(source.join("empty"))?;
    RawArray::new(vec![1, 2], vec![1_i16, 2])?.write(source.join("a.ra"))?;
    fs::write(source.join("b.txt"), "b".repeat(200))?;

    add("ra_decode", "int16", fs::read(source.join("a.ra"))?);
    let mut array = Vec::new();
    RawArray::from(vec![1.0_f32]).with_metadata(b"meta".to_vec()).write_to(&mut array)?;
    add("ra_decode", "float32", array);
    // Flagged as encoded: six literals as an LZ4 block.
    let mut encoded = Vec::new();
    RawArray::from(vec![0_u8; 6]).write_to(&mut encoded)?;
    encoded.truncate(56);
    encoded[8] = 2;
    encoded[32] = 7;
    encoded.extend([0x60, 1, 2, 3, 4, 5, 6]);
    add("ra_decode", "lz4", encoded);

    let zstd = Compression::Zstd { level: None };
    let deflate = Compression::Deflate { level: None };
    for (target, name, compression) in [
        ("zip_verify", "stored.zip", Compression::Stored),
        ("zip_verify", "deflated.zip", deflate),
        ("zip_verify", "zstd.zip", zstd),
        ("tar_verify", "plain.tar", Compression::Stored),
        ("tar_verify", "plain.tar.gz", Compression::Stored),
        ("tar_verify", "plain.tar.zst", Compression::Stored),
    ] {
        let archive = scratch.path().join(name);
        let options = CreateOptions { describe: true, compression, ..CreateOptions::default() };
        create(&source, &archive, &options)?;
        add(target, name, fs::read(archive)?);
    }
    Ok(seeds)
}
