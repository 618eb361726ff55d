//! Writes the files of `seeds/`, which each target begins with; the same ones every time.

use std::error::Error;
use std::fs;
use std::path::Path;

use ra_pack::{Compression, CreateOptions, RawArray, create};

const NDL: &str = "dimcoords:\n  t: {type: float64, size: 2}\nndarrays:\n  a:\n    shape: [t, 3]\n    \
                   type: {enum: {base: int8, members: {no: 0, yes: 1}}}\n    storage: {order: row}\n    \
                   attributes: {units: m, x: {shape: [2], type: int8, value: [1, 2]}}\n";

fn main() -> Result<(), Box<dyn Error>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let seed = |target: &str, name: &str, bytes: &[u8]| {
        let directory = corpus.join(target);
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(name), bytes)
    };
    let scratch = tempfile::tempdir()?;
    let source = scratch.path().join("source");
    fs::create_dir_all(source.join("empty"))?;
    RawArray::new(vec![1, 2], vec![1_i16, 2])?.write(source.join("a.ra"))?;
    fs::write(source.join("b.txt"), "b".repeat(200))?;

    seed("ra_decode", "int16", &fs::read(source.join("a.ra"))?)?;
    let mut array = Vec::new();
    RawArray::from(vec![1.0_f32]).with_metadata(b"meta".to_vec()).write_to(&mut array)?;
    seed("ra_decode", "float32", &array)?;
    // Flagged as encoded: six literals as an LZ4 block.
    let mut encoded = Vec::new();
    RawArray::from(vec![0_u8; 6]).write_to(&mut encoded)?;
    encoded.truncate(56);
    encoded[8] = 2;
    encoded[32] = 7;
    encoded.extend([0x60, 1, 2, 3, 4, 5, 6]);
    seed("ra_decode", "lz4", &encoded)?;
    seed("ndl", "flat", NDL.as_bytes())?;
    seed(
        "ndl",
        "grouped",
        format!("/a/b:\n  {}", NDL.replace('\n', "\n  ").trim_end()).as_bytes(),
    )?;
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    seed("manifest", "gnu", format!("{digest}  a b\n\\{digest}  c\\nd\n").as_bytes())?;
    seed("manifest", "bsd", format!("SHA256 (a b) = {digest}\n").as_bytes())?;

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
        seed(target, name, &fs::read(archive)?)?;
    }
    Ok(())
}
