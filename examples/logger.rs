//! An instrument that writes 1,000 small arrays a second.
//!
//! If it is killed, `ra-pack salvage run.zip.unfinished -o run.zip` has every array that it reported.
//!
//! `cargo run --example logger -- run.zip 60`
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use ndarray::Array1;
use ra_pack::write::JournalOptions;
use ra_pack::{PackWriter, WriteOptions};

/// Arrays between two reports.
const REPORTED: u32 = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or("run.zip".to_owned());
    let seconds: u32 = arguments.next().map_or(Ok(1), |text| text.parse())?;

    // Nothing is synced before it is reported, so that the disk is not the limit.
    let journal = Some(JournalOptions { sync_every: 0 });
    let mut pack = PackWriter::create(&path, WriteOptions { journal, ..WriteOptions::default() })?;
    let begun = Instant::now();
    for number in 0..seconds * 1000 {
        let due = begun + Duration::from_millis(number.into());
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let sample = Array1::from_elem(16, number);
        let name = format!("{:04}/{number:07}", number / 1000);
        pack.array(name, &sample).dims(["channel"]).units("V").write()?;
        if (number + 1) % REPORTED == 0 {
            pack.sync()?;
            println!("{} arrays are on the disk", number + 1);
        }
    }
    let report = pack.finish()?;
    println!("wrote {} arrays to {path}", report.arrays);
    Ok(())
}
