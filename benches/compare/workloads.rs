//! The directories that are packed: generated, and identical every time.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use ra_pack::ElementType;
use ra_pack::ra::Header;

use super::random::Random;

/// Arrays per directory in workloads with many arrays.
const PER_DIRECTORY: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workload {
    Tiny,
    Vectors,
    Squares,
    Digits,
    Images,
    Large,
    Mixed,
    Matrix,
    /// As `Vectors`, with names of digits, units, a name and a list in each description, and a named dimension.
    Described,
    /// This number of members: arrays of ten numbers, each with its description.
    Members(u64),
}

impl Workload {
    pub(crate) const SEVEN: [Self; 7] = [
        Self::Vectors,
        Self::Squares,
        Self::Digits,
        Self::Images,
        Self::Large,
        Self::Mixed,
        Self::Matrix,
    ];

    /// A million numbers in three forms, and two sets of images.
    pub(crate) const OF_THE_PAPER: [Self; 5] =
        [Self::Vectors, Self::Squares, Self::Matrix, Self::Digits, Self::Images];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Tiny, Self::Described]
            .into_iter()
            .chain(Self::SEVEN)
            .find(|workload| workload.name() == name)
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Tiny => "tiny".to_owned(),
            Self::Vectors => "W1".to_owned(),
            Self::Squares => "W2".to_owned(),
            Self::Digits => "W3".to_owned(),
            Self::Images => "W4".to_owned(),
            Self::Large => "W5".to_owned(),
            Self::Mixed => "W6".to_owned(),
            Self::Described => "W8".to_owned(),
            Self::Matrix => "W7".to_owned(),
            Self::Members(count) => format!("N{count}"),
        }
    }

    /// Returns the name of the workload in a table.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Vectors => "100,000 vectors",
            Self::Squares => "10,000 matrices",
            Self::Digits => "60,000 digits",
            Self::Images => "60,000 images",
            Self::Large => "4 cubes",
            Self::Mixed => "200 arrays",
            Self::Matrix => "one matrix",
            Self::Tiny | Self::Described | Self::Members(_) => "other",
        }
    }

    /// Writes the workload under `data` unless it exists.
    pub(crate) fn make(self, data: &Path) -> Tree {
        let root = data.join(self.name());
        let made = data.join(format!("{}.made", self.name()));
        if !made.exists() {
            let _ = fs::remove_dir_all(&root);
            let random = Random::new(0x7261);
            self.write(&mut Making { root: root.clone(), random, is_rich: false });
            fs::write(&made, "").unwrap();
        }
        Tree::read(&root)
    }

    fn write(self, making: &mut Making) {
        match self {
            Self::Tiny => making.many(20, &[3, 4], f32_type(), normal),
            Self::Vectors => making.many(100_000, &[10], f32_type(), normal),
            Self::Squares => making.many(10_000, &[10, 10], f32_type(), normal),
            Self::Digits => making.many(60_000, &[28, 28], u8_type(), digit),
            Self::Images => making.many(60_000, &[32, 32, 3], u8_type(), image),
            Self::Matrix => making.many(1, &[100_000, 10], f32_type(), normal),
            Self::Members(count) => making.many(count / 2, &[10], f32_type(), normal),
            Self::Large => {
                for number in 0..4 {
                    making.field(&format!("large{number}"), &[512, 512, 512]);
                }
            }
            Self::Mixed => making.mixed(200),
            Self::Described => {
                making.is_rich = true;
                making.many(100_000, &[10], f32_type(), normal);
                let header = Header::new(f32_type(), vec![10]).unwrap().encode();
                fs::write(making.root.join("x.ra"), [header, vec![0; 40]].concat()).unwrap();
                let text = "dimcoords:\n  x:\n    size: 10\n    type: float32\n";
                fs::write(making.root.join("x.yaml"), text).unwrap();
            }
        }
    }
}

fn f32_type() -> ElementType {
    ElementType::of::<f32>()
}

fn u8_type() -> ElementType {
    ElementType::of::<u8>()
}

/// A workload that is being written.
struct Making {
    root: PathBuf,
    random: Random,
    /// Whether the descriptions have more than shape and type.
    is_rich: bool,
}

impl Making {
    fn many(
        &mut self,
        count: u64,
        dims: &[u64],
        element: ElementType,
        content: fn(&mut Random, usize, &mut Vec<u8>),
    ) {
        let header = Header::new(element, dims.to_vec()).unwrap();
        let elements = usize::try_from(header.elements()).unwrap();
        let mut file = Vec::new();
        for number in 0..count {
            let directory = number / PER_DIRECTORY;
            let name = if self.is_rich {
                format!("{directory:03}/{number:06}")
            } else {
                format!("s{directory:03}/a{number:06}")
            };
            let path = self.root.join(&name);
            if number % PER_DIRECTORY == 0 {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
            }
            file.clear();
            file.extend_from_slice(&header.encode());
            content(&mut self.random, elements, &mut file);
            fs::write(path.with_extension("ra"), &file).unwrap();
            if self.is_rich { describe_richly(&path) } else { describe(&path, dims, element) }
        }
    }

    /// Writes a field like that of an instrument: a slow oscillation with noise, in steps of 2⁻¹³.
    fn field(&mut self, name: &str, dims: &[u64]) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let header = Header::new(f32_type(), dims.to_vec()).unwrap();
        let mut out =
            BufWriter::with_capacity(1 << 20, File::create(path.with_extension("ra")).unwrap());
        out.write_all(&header.encode()).unwrap();
        for index in 0..header.elements() {
            let slow = ((index % 4_194_304) as f32 * 2e-4).sin();
            let value = ((slow + 0.05 * self.random.normal()) * 8192.0).round() / 8192.0;
            out.write_all(&value.to_le_bytes()).unwrap();
        }
        out.into_inner().unwrap();
        describe(&path, dims, f32_type());
    }

    /// Writes arrays of 1 KiB to 64 MiB in random order, with logarithmically distributed sizes.
    fn mixed(&mut self, count: u64) {
        let mut elements: Vec<u64> = (0..count)
            .map(|number| {
                let place = (number as f32 + self.random.between(0.0, 1.0)) / count as f32;
                (1.31 * 1024.0 * 65536_f32.powf(place)).min(64.0 * 1024.0 * 1024.0) as u64 / 4
            })
            .collect();
        for last in (1..elements.len()).rev() {
            let other = usize::try_from(self.random.next()).unwrap() % (last + 1);
            elements.swap(last, other);
        }
        for (number, elements) in elements.into_iter().enumerate() {
            let dims = match number % 4 {
                1 if elements >= 1024 => vec![elements.isqrt(), elements / elements.isqrt()],
                2 if elements >= 1024 => {
                    let side = (elements as f64).cbrt() as u64;
                    vec![side, side, elements / (side * side)]
                }
                3 if elements >= 1024 => vec![64, elements / 64],
                _ => vec![elements],
            };
            self.field(&format!("run{:02}/ch{}/m{number:03}", number / 20, number % 4), &dims);
        }
    }
}

fn describe(path: &Path, dims: &[u64], element: ElementType) {
    let name = path.file_name().unwrap().to_str().unwrap();
    let datatype = if element == u8_type() { "uint8" } else { "float32" };
    let text = format!("ndarrays:\n  {name}:\n    shape: {dims:?}\n    type: {datatype}\n");
    fs::write(path.with_extension("yaml"), text).unwrap();
}

fn describe_richly(path: &Path) {
    let name = path.file_name().unwrap().to_str().unwrap();
    let text = format!(
        "ndarrays:\n  \"{name}\":\n    shape: [x]\n    type: float32\n    attributes:\n      \
         units: degree_Celsius\n      long_name: temperature at station {name}\n      valid_range:\n        \
         shape: [2]\n        type: float64\n        value: [-5.0, 40.0]\n    storage:\n      \
         fillvalue: -9999.0\n"
    );
    fs::write(path.with_extension("yaml"), text).unwrap();
}

fn normal(random: &mut Random, elements: usize, out: &mut Vec<u8>) {
    for _ in 0..elements {
        out.extend_from_slice(&random.normal().to_le_bytes());
    }
}

/// Makes something like a written digit: three strokes on a field that is mostly zero.
fn digit(random: &mut Random, _: usize, out: &mut Vec<u8>) {
    let strokes: Vec<[f32; 5]> = (0..3)
        .map(|_| {
            let (sine, cosine) = random.between(0.0, std::f32::consts::PI).sin_cos();
            let length = random.between(3.0, 7.0);
            [random.between(8.0, 20.0), random.between(8.0, 20.0), sine, cosine, length]
        })
        .collect();
    for pixel in 0..28 * 28_u16 {
        let (x, y) = (f32::from(pixel % 28), f32::from(pixel / 28));
        let ink = strokes.iter().fold(0.0_f32, |ink, [x0, y0, sine, cosine, length]| {
            let along = (((x - x0) * cosine + (y - y0) * sine).abs() - length).max(0.0);
            let across = (y - y0) * cosine - (x - x0) * sine;
            ink.max((1.9 - along.hypot(across)).clamp(0.0, 1.0))
        });
        out.push((ink * 255.0) as u8);
    }
}

/// Makes something like a small photograph: smooth colours, enlarged from 6×6 points, with two bits of noise.
fn image(random: &mut Random, _: usize, out: &mut Vec<u8>) {
    let points: Vec<f32> = (0..6 * 6 * 3).map(|_| random.between(0.0, 255.0)).collect();
    let point = |x: usize, y: usize, colour: usize| points[(colour * 6 + y.min(5)) * 6 + x.min(5)];
    for colour in 0..3 {
        for y in 0..32_u8 {
            for x in 0..32_u8 {
                let (fx, fy) = (f32::from(x) / 6.4, f32::from(y) / 6.4);
                let (x0, y0) = (fx as usize, fy as usize);
                let (dx, dy) = (fx - fx.floor(), fy - fy.floor());
                let upper = point(x0, y0, colour) * (1.0 - dx) + point(x0 + 1, y0, colour) * dx;
                let lower =
                    point(x0, y0 + 1, colour) * (1.0 - dx) + point(x0 + 1, y0 + 1, colour) * dx;
                let value = upper * (1.0 - dy) + lower * dy + random.between(0.0, 4.0);
                out.push(value.clamp(0.0, 255.0) as u8);
            }
        }
    }
}

/// The files of a workload.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    /// Paths from the root and sizes, sorted.
    pub(crate) files: Vec<(String, u64)>,
}

impl Tree {
    fn read(root: &Path) -> Self {
        let mut files = Vec::new();
        let mut open = vec![String::new()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(root.join(&directory)).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
                if entry.file_type().unwrap().is_dir() {
                    open.push(path);
                } else {
                    files.push((path, entry.metadata().unwrap().len()));
                }
            }
        }
        files.sort();
        Self { root: root.to_owned(), files }
    }

    pub(crate) fn arrays(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.files.iter().map(|(path, _)| path.as_str()).filter(|path| path.ends_with(".ra"))
    }

    /// Returns arrays near the beginning, in the middle and near the end.
    pub(crate) fn picks(&self) -> Vec<&str> {
        let arrays: Vec<&str> = self.arrays().collect();
        [10, 50, 90].iter().map(|percent| arrays[arrays.len() * percent / 100]).collect()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, size)| size).sum()
    }
}
