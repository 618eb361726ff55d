//! One array of a pack by its name: viewed, read, and read into existing memory.

use std::collections::HashMap;
use std::fs;

use divan::Bencher;
use ndarray::{Array1, Array2};
use ra_pack::write::CreateOptions;
use ra_pack::{Pack, RawArray, create, ra};
use tempfile::TempDir;

/// Number of arrays in the pack, each of 2,000 bytes.
const ARRAYS: usize = 3_000;

/// A stored zip, and the names of its arrays in random order.
struct Zip {
    scratch: TempDir,
    names: Vec<String>,
}

impl Zip {
    fn new() -> Self {
        let scratch = TempDir::new().unwrap();
        let source = scratch.path().join("source");
        let name = |number: usize| format!("group{:02}/v{number:04}.ra", number % 30);
        for group in 0..30 {
            fs::create_dir_all(source.join(format!("group{group:02}"))).unwrap();
        }
        for number in 0..ARRAYS {
            let array = Array2::<f64>::from_elem((50, 5), 0.5);
            RawArray::from(array).write(source.join(name(number))).unwrap();
        }
        let options = CreateOptions { describe: true, ..CreateOptions::default() };
        create(&source, scratch.path().join("x.zip"), &options).unwrap();
        let names = (0..ARRAYS).map(|number| name(number * 7919 % ARRAYS)).collect();
        Self { scratch, names }
    }

    #[expect(unsafe_code, reason = "mapping a file needs a promise")]
    fn map(&self) -> Pack {
        // SAFETY: no other program knows this file.
        unsafe { Pack::map(self.scratch.path().join("x.zip")) }.unwrap()
    }
}

/// Measures `look` with the names in turn, after looking up each once.
fn each(bencher: Bencher<'_, '_>, look: impl Fn(&Pack, &str)) {
    let zip = Zip::new();
    let pack = zip.map();
    zip.names.iter().for_each(|name| look(&pack, name));
    let mut names = zip.names.iter().cycle();
    bencher.bench_local(|| look(&pack, names.next().unwrap()));
}

/// A map of names to offsets in the archive: the lower bound.
#[divan::bench]
fn view_by_hash_map(bencher: Bencher<'_, '_>) {
    let zip = Zip::new();
    let (pack, file) = (zip.map(), fs::read(zip.scratch.path().join("x.zip")).unwrap());
    let place = |name: &String| {
        let array = pack.array(name).unwrap();
        let start = usize::try_from(array.offsets().unwrap().unwrap().0).unwrap();
        (name.clone(), start..start + usize::try_from(array.file_size()).unwrap())
    };
    let places: HashMap<_, _> = zip.names.iter().map(place).collect();
    let mut names = zip.names.iter().cycle();
    bencher.bench_local(|| {
        let bytes = &file[places[names.next().unwrap().as_str()].clone()];
        divan::black_box(ra::view::<f64>(bytes).unwrap()[[1, 1]])
    });
}

#[divan::bench]
fn view(bencher: Bencher<'_, '_>) {
    each(bencher, |pack, name| {
        divan::black_box(pack.array(name).unwrap().view::<f64>().unwrap()[[1, 1]]);
    });
}

#[divan::bench]
fn read(bencher: Bencher<'_, '_>) {
    each(bencher, |pack, name| {
        drop(divan::black_box(pack.array(name).unwrap().read::<f64>().unwrap()));
    });
}

#[divan::bench]
fn read_into(bencher: Bencher<'_, '_>) {
    let out = std::cell::RefCell::new(Array1::<f64>::zeros(250));
    each(bencher, |pack, name| {
        let mut out = out.borrow_mut();
        pack.array(name).unwrap().read_into(out.as_slice_mut().unwrap()).unwrap();
    });
}
