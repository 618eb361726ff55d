//! Writes the files of `seeds/`.

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    if home.is_dir() {
        fs::remove_dir_all(&home)?;
    }
    for seed in ra_pack_fuzz::seeds()? {
        let directory = home.join(seed.target);
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(seed.name), seed.bytes)?;
    }
    Ok(())
}
