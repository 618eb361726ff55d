//! Any array and any pack survives conversion, bit for bit.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use ra_pack::convert::ConvertOptions;
use ra_pack::ndl;
use tempfile::TempDir;

use crate::experiment::{Element, Experiment, raw_array, read_tree};

/// Element types that NumPy has, too, with their names in NDL.
const TYPES: [(Element, &str); 9] = [
    (Element(1, 1), "int8"),
    (Element(1, 8), "int64"),
    (Element(2, 2), "uint16"),
    (Element(2, 8), "uint64"),
    (Element(3, 2), "float16"),
    (Element(3, 4), "float32"),
    (Element(3, 8), "float64"),
    (Element(4, 8), "{compound: [r: float32, i: float32]}"),
    (Element(4, 16), "{compound: [r: float64, i: float64]}"),
];

#[derive(Debug, Clone)]
struct Array {
    element: Element,
    word: &'static str,
    dims: Vec<u64>,
    is_row: bool,
    data: Vec<u8>,
}

impl Array {
    fn file(&self) -> Vec<u8> {
        raw_array(self.element, &self.dims, &self.data)
    }

    fn description(&self, name: &str) -> String {
        let mut shape = self.dims.clone();
        if self.is_row {
            shape.reverse();
        }
        let order = if self.is_row { "\n    storage: {order: row}" } else { "" };
        format!("ndarrays:\n  {name}:\n    shape: {shape:?}\n    type: {}{order}\n", self.word)
    }
}

prop_compose! {
    /// Generates arrays of any bytes, including payloads of NaN, subnormal numbers and negative zeros.
    fn arrays()(
        (element, word) in select(&TYPES[..]),
        dims in vec(0_u64..5, 0..5),
        is_row in any::<bool>(),
    )(
        data in vec(
            any::<u8>(),
            usize::try_from(dims.iter().product::<u64>() * element.1).unwrap(),
        ),
        (element, word, dims, is_row) in Just((element, word, dims, is_row)),
    ) -> Array {
        let is_row = is_row && dims.len() > 1;
        Array { element, word, dims, is_row, data }
    }
}

fn keep() -> ConvertOptions {
    ConvertOptions { force: true, ..ConvertOptions::default() }
}

fn ordered(order: ndl::Order) -> ConvertOptions {
    let mut options = keep();
    options.order = Some(order);
    options
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    #[test]
    fn an_array_survives_conversion_to_npy(array in arrays()) {
        let home = TempDir::new().unwrap();
        let path = |name: &str| home.path().join(name);
        fs::write(path("x.ra"), array.file()).unwrap();
        fs::write(path("x.yaml"), array.description("x")).unwrap();
        let order = if array.is_row { ndl::Order::Row } else { ndl::Order::Column };
        for way in [keep(), ordered(ndl::Order::Row), ordered(ndl::Order::Column)] {
            ra_pack::convert(path("x.ra"), path("x.npy"), &way).unwrap();
            ra_pack::convert(path("x.npy"), path("y.ra"), &ordered(order)).unwrap();
            prop_assert_eq!(fs::read(path("y.ra")).unwrap(), array.file());
        }
    }

    #[test]
    fn a_pack_survives_conversion_to_npz(
        arrays in vec(arrays(), 1..5),
        deflate in any::<bool>(),
    ) {
        let mut experiment = Experiment::new();
        for (number, array) in arrays.iter().enumerate() {
            // An `.npz` has no order of its own, so all arrays have the same.
            let array = Array { is_row: false, ..array.clone() };
            let name = format!("g{}/x{number}", number % 2);
            experiment = experiment
                .file(&format!("{name}.ra"), array.file())
                .file(&format!("{name}.yaml"), array.description(&format!("x{number}")));
        }
        let home = TempDir::new().unwrap();
        let path = |name: &str| home.path().join(name);
        ra_pack::convert(experiment.path(), path("a.zip"), &keep()).unwrap();
        let compression = deflate.then_some(ra_pack::archive::Compression::Deflate { level: None });
        let mut packed = keep();
        packed.compression = compression;
        ra_pack::convert(path("a.zip"), path("a.npz"), &packed).unwrap();
        ra_pack::convert(path("a.npz"), path("b.zip"), &keep()).unwrap();
        ra_pack::convert(path("a.zip"), path("a"), &keep()).unwrap();
        ra_pack::convert(path("b.zip"), path("b"), &keep()).unwrap();
        // Descriptions keep their type names or get those of ra-pack.
        let [one, other] = ["a", "b"].map(|name| {
            let mut tree = read_tree(&path(name));
            let names: Vec<_> = tree.keys().cloned().collect();
            tree.retain(|name, _| name.strip_suffix(".ra").is_some());
            (names, tree)
        });
        prop_assert_eq!(one, other);
    }

    #[test]
    fn an_array_survives_conversion_to_ds(array in arrays()) {
        if array.word == "float16" || array.word.contains("compound") {
            return Ok(());
        }
        let home = TempDir::new().unwrap();
        let path = |name: &str| home.path().join(name);
        fs::write(path("x.ra"), array.file()).unwrap();
        fs::write(path("x.yaml"), array.description("x")).unwrap();
        let order = if array.is_row { ndl::Order::Row } else { ndl::Order::Column };
        ra_pack::convert(path("x.ra"), path("x.ds"), &keep()).unwrap();
        ra_pack::convert(path("x.ds"), path("y.ra"), &ordered(order)).unwrap();
        prop_assert_eq!(fs::read(path("y.ra")).unwrap(), array.file());
    }
}
