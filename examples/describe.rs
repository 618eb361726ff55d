//! Writes arrays and their descriptions, and packs them.
//!
//! `cargo run --example describe`
#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::fs;

use ndarray::array;
use ra_pack::ndl::{Attribute, Document, Extent, Form, Group, Ndarray};
use ra_pack::ra::Encoding;
use ra_pack::write::CreateOptions;
use ra_pack::{Pack, RawArray, create, describe};

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let run = scratch.path().join("voltages/run1");
    fs::create_dir_all(&run)?;

    // A coordinate: the time of each column.
    let time = RawArray::from(vec![0.0_f64, 0.5, 1.0, 1.5]);
    time.write(run.join("time.ra"))?;
    let implied = describe("time", time.header(), Encoding::Raw);
    let attributes = Attribute::short("units", "s").into_iter().collect();
    let coordinate = Ndarray { attributes, ..implied };
    let group = Group { dimcoords: vec![coordinate], ..Group::new("/") };
    fs::write(run.join("time.yaml"), yaml(group))?;

    // An array: the type comes from the header; add the metadata that only you know.
    let voltage = RawArray::from(array![[1.5_f32, 1.4, 1.2, 0.9], [0.0, 0.1, 0.3, 0.6]]);
    voltage.write(run.join("voltage.ra"))?;
    let mut described = describe("voltage", voltage.header(), Encoding::Raw);
    described.shape = vec![Extent::Fixed(2), Extent::Coord("time".to_owned())];
    described.attributes.extend(Attribute::short("units", "mV"));
    let group = Group { ndarrays: vec![described], ..Group::new("/") };
    fs::write(run.join("voltage.yaml"), yaml(group))?;

    // `create` refuses a description that does not match its array.
    let archive = scratch.path().join("voltages.tar.zst");
    create(scratch.path().join("voltages"), &archive, &CreateOptions::default())?;

    // The pack has a document with the descriptions of all arrays.
    let document = Pack::open(&archive)?.read("manifest.yaml")?;
    println!("{}", String::from_utf8(document)?);
    Ok(())
}

fn yaml(group: Group) -> String {
    Document { form: Form::Flat, groups: vec![group] }.to_yaml()
}
