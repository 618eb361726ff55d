//! Code snippets that open one array in several languages.

use crate::archive::Container;
use crate::archive::Method;
use crate::ndl::Order;
use crate::ra::{ElementType, Header};
use crate::read::PackedArray;

/// Element type in each language: NumPy code, arguments of `readBin` in R, Julia name, Rust name.
type Names = (&'static str, Option<&'static str>, &'static str, &'static str);

fn names(element: ElementType) -> Option<Names> {
    Some(match element {
        ElementType::INT8 => ("i1", Some("\"integer\", {n}, size = 1"), "Int8", "i8"),
        ElementType::INT16 => ("<i2", Some("\"integer\", {n}, size = 2"), "Int16", "i16"),
        ElementType::INT32 => ("<i4", Some("\"integer\", {n}, size = 4"), "Int32", "i32"),
        ElementType::INT64 => ("<i8", None, "Int64", "i64"),
        ElementType::UINT8 => {
            ("u1", Some("\"integer\", {n}, size = 1, signed = FALSE"), "UInt8", "u8")
        }
        ElementType::UINT16 => {
            ("<u2", Some("\"integer\", {n}, size = 2, signed = FALSE"), "UInt16", "u16")
        }
        ElementType::UINT32 => ("<u4", None, "UInt32", "u32"),
        ElementType::UINT64 => ("<u8", None, "UInt64", "u64"),
        ElementType::FLOAT16 => ("<f2", None, "Float16", "ra_pack::half::f16"),
        ElementType::FLOAT32 => ("<f4", Some("\"numeric\", {n}, size = 4"), "Float32", "f32"),
        ElementType::FLOAT64 => ("<f8", Some("\"numeric\", {n}, size = 8"), "Float64", "f64"),
        ElementType::COMPLEX64 => ("<c8", None, "ComplexF32", "ra_pack::num_complex::Complex<f32>"),
        ElementType::COMPLEX128 => {
            ("<c16", Some("\"complex\", {n}"), "ComplexF64", "ra_pack::num_complex::Complex<f64>")
        }
        ElementType::BOOL => ("?", Some("\"logical\", {n}, size = 1"), "Bool", "u8"),
        _ => return None,
    })
}

/// Returns snippets that open an array of this pack, each with its language. Empty if a name needs different quoting in
/// each language.
pub fn snippets(
    pack: &str,
    container: Container,
    array: &PackedArray,
    order: Order,
) -> Vec<(&'static str, String)> {
    let is_plain = |name: &str| {
        !name.contains(['"', '\'', '\\', '$', '`', '*', '?', '[', ']'])
            && !name.contains(crate::path::is_unsafe)
            && !name.starts_with('-')
    };
    let Ok(header) = array.header() else { return Vec::new() };
    let (name, inside) = (array.name(), array.archive_name());
    if ![pack, name, inside].into_iter().all(is_plain) {
        return Vec::new();
    }
    let Some(names) = names(header.element()) else { return Vec::new() };
    let (_, _, _, rust) = names;
    let rust = format!(
        "let pack = ra_pack::Pack::open(\"{pack}\")?;\n\
         let x: ra_pack::ndarray::ArrayD<{rust}> = pack.array(\"{name}\")?.in_shape_order()?.read()?;"
    );
    let mut all = Vec::new();
    // Other arrays would have to be decoded first.
    if header.is_native() && !header.is_encoded() && !header.dims().is_empty() {
        let how = Program { pack, container, inside, header, order };
        let is_zstd = matches!(array.method(), Method::Zstd);
        all.push(("Python", how.python(names.0, is_zstd)));
        all.extend(names.1.map(|arguments| ("R", how.r(arguments))));
        all.push(("Julia", how.julia(names.2)));
    }
    all.push(("Rust", rust));
    all
}

struct Program<'a> {
    pack: &'a str,
    container: Container,
    inside: &'a str,
    header: &'a Header,
    order: Order,
}

impl Program<'_> {
    /// Returns the lengths of the dimensions, in the order of the file or reversed.
    fn dims(&self, is_reversed: bool) -> String {
        let mut dims: Vec<String> = self.header.dims().iter().map(u64::to_string).collect();
        if is_reversed {
            dims.reverse();
        }
        dims.join(", ")
    }

    /// Returns the command that writes a file of an archive to standard output.
    fn command(&self) -> Vec<&str> {
        match self.container {
            Container::Zip => vec!["unzip", "-p", self.pack, self.inside],
            Container::TarZst => vec!["tar", "--zstd", "-xOf", self.pack, self.inside],
            _ => vec!["tar", "-xOf", self.pack, self.inside],
        }
    }

    fn python(&self, code: &str, is_zstd: bool) -> String {
        let Self { pack, inside, header, .. } = self;
        let (import, open) = match self.container {
            Container::Directory => ("", format!("open(\"{pack}/{inside}\", \"rb\").read()")),
            Container::Zip => {
                let note = if is_zstd { "  # Python 3.14 or later" } else { "" };
                (", zipfile", format!("zipfile.ZipFile(\"{pack}\").read(\"{inside}\"){note}"))
            }
            Container::TarZst => {
                (", subprocess", format!("subprocess.check_output({:?})", self.command()))
            }
            _ => {
                (", tarfile", format!("tarfile.open(\"{pack}\").extractfile(\"{inside}\").read()"))
            }
        };
        let (order, is_reversed) = match self.order {
            Order::Row => ("C", true),
            Order::Column => ("F", false),
            Order::RowUnreversed => ("C", false),
        };
        format!(
            // words: imports a Python module
            "import numpy{import}\ndata = {open}\nx = numpy.frombuffer(data, \"{code}\", {}, {})\
             .reshape({}, order=\"{order}\")",
            header.elements(),
            header.header_len(),
            match header.ndims() {
                1 => self.dims(false),
                _ => format!("({})", self.dims(is_reversed)),
            }
        )
    }

    fn r(&self, arguments: &str) -> String {
        let Self { pack, inside, header, .. } = self;
        let (prepare, connection) = match self.container {
            Container::Directory => (String::new(), format!("file(\"{pack}/{inside}\", \"rb\")")),
            Container::Zip => (String::new(), format!("unz(\"{pack}\", \"{inside}\", \"rb\")")),
            _ => (
                format!("untar(\"{pack}\", \"{inside}\")\n"),
                format!("file(\"{inside}\", \"rb\")"),
            ),
        };
        let arguments = arguments.replace("{n}", &header.elements().to_string());
        let read = format!("readBin(con, {arguments}, endian = \"little\")");
        let array = match self.order {
            Order::Column => format!("array({read}, c({}))", self.dims(false)),
            Order::Row => format!("aperm(array({read}, c({})))", self.dims(false)),
            Order::RowUnreversed => format!("aperm(array({read}, c({})))", self.dims(true)),
        };
        format!(
            "{prepare}con <- {connection}\ninvisible(readBin(con, \"raw\", {}))\nx <- {array}\nclose(con)",
            header.header_len()
        )
    }

    fn julia(&self, name: &str) -> String {
        let Self { pack, inside, header, .. } = self;
        let open = match self.container {
            Container::Directory => format!("read(\"{pack}/{inside}\")"),
            _ => {
                let words = self.command().into_iter().map(|word| match word {
                    plain
                        if plain
                            .bytes()
                            .all(|it| it.is_ascii_alphanumeric() || b"/._-".contains(&it)) =>
                    {
                        plain.to_owned()
                    }
                    other => format!("'{other}'"),
                });
                format!("read(`{}`)", words.collect::<Vec<_>>().join(" "))
            }
        };
        let (begin, end) = (header.header_len() + 1, header.header_len() + header.data_len());
        let read = format!("reinterpret({name}, data[{begin}:{end}])");
        let ndims = header.ndims();
        let array = match self.order {
            Order::Column => format!("reshape({read}, {})", self.dims(false)),
            Order::Row | Order::RowUnreversed => {
                let is_reversed = self.order == Order::RowUnreversed;
                let dims = self.dims(is_reversed);
                format!("permutedims(reshape({read}, {dims}), {ndims}:-1:1)")
            }
        };
        format!("data = {open}\nx = {array}")
    }
}
