//! The seeds of each target, always the same.

mod archives;
mod interchange;
mod made;
mod scripts;

use std::error::Error;

/// A file in `seeds/`.
pub struct Seed {
    /// The target.
    pub target: &'static str,
    /// The file name.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether ra-pack wrote it, so that another version may write different bytes.
    pub made: bool,
}

/// Returns all seeds.
///
/// # Errors
///
/// An error if temporary files cannot be written.
pub fn seeds() -> Result<Vec<Seed>, Box<dyn Error>> {
    let mut seeds = made::seeds()?;
    let mut add = |target, name: &str, bytes: Vec<u8>| {
        seeds.push(Seed { target, name: name.to_owned(), bytes, made: false });
    };
    texts(&mut add);
    npy(&mut add);
    archives::seeds(&mut add);
    scripts::seeds(&mut add);
    interchange::seeds(&mut add);
    crate::signatures::seeds(&mut add);
    Ok(seeds)
}

pub(crate) type Add<'a> = dyn FnMut(&'static str, &str, Vec<u8>) + 'a;

const NDL: &str = "dimcoords:\n  t: {type: float64, size: 2}\nndarrays:\n  a:\n    shape: [t, 3]\n    \
                   type: {enum: {base: int8, members: {no: 0, yes: 1}}}\n    storage: {order: row}\n    \
                   attributes: {units: m, x: {shape: [2], type: int8, value: [1, 2]}}\n";

const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Adds NumPy files made by hand: each kind of dtype, order and version.
fn npy(add: &mut Add<'_>) {
    let mut file = |name: &str, version: u8, descr: &str, rest: &str, data: usize| {
        let text = format!("{{'descr': {descr}, {rest}}}\n");
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        let len = u32::try_from(text.len()).unwrap().to_le_bytes();
        bytes.extend(&len[..if version == 1 { 2 } else { 4 }]);
        bytes.extend(text.as_bytes());
        bytes.extend((1..=255).cycle().take(data));
        add("npy", name, bytes);
    };
    let row = "'fortran_order': False, 'shape': (2, 3), ";
    let column = "'fortran_order': True, 'shape': (2, 3)";
    let one = "'fortran_order': False, 'shape': (1,)";
    file("float64", 1, "'<f8'", row, 48);
    file("big", 2, "'>c8'", column, 48);
    file("python2", 1, "u'>i2'", "\"shape\": (2L, 3), 'fortran_order': False", 12);
    file("text", 1, "'|S3'", "'fortran_order': False, 'shape': ()", 3);
    file("utf32", 1, "'>U2'", one, 8);
    file("date", 1, "'<M8[25s]'", one, 8);
    file("duration", 1, "'>m8'", one, 8);
    file("void", 1, "'<V2'", row, 12);
    file("bool", 1, "'|b1'", row, 7);
    file("empty", 1, "'<f2'", "'fortran_order': True, 'shape': (0, 9223372036854775807)", 0);
    let packed = "[('a', '>i4'), ('', '|V3'), (('T', 'b'), [('r', '<f4'), ('i', '<f4')], (2,))]";
    file("structure", 1, packed, one, 23);
    let nested =
        "[('a.b', ('>u2', (2,)), (1, 2)), ('_pad0', '|V1'), ('\\u017e', '<m8[D]'), ('', 'i1')]";
    file("nested", 3, nested, one, 18);
}

/// Adds descriptions, manifests and tag files.
fn texts(add: &mut Add<'_>) {
    add("ndl", "flat", NDL.into());
    let grouped = NDL.replace('\n', "\n  ");
    add("ndl", "grouped", format!("/a/b:\n  {}", grouped.trim_end()).into());
    add("manifest", "gnu", format!("{ABC}  a b\n\\{ABC}  c\\nd\n").into());
    add("manifest", "bsd", format!("SHA256 (a b) = {ABC}\n").into());
    add("manifest", "percent", format!("{ABC} data/a%0Ab%25\r\n{ABC}\t*data/c\r").into());
    let blocks = format!("# block-size 4096\n{ABC}  0  a b\n{ABC}  1  a b\n\\{ABC}  0  c\\nd\n");
    add("block_list", "gnu", blocks.into());
    add("block_list", "gap", format!("# block-size 4096\n{ABC}  0  a\n{ABC}  2  a\n").into());
    add("block_list", "percent", format!("# block-size 67108864\r\n{ABC}  0  data/a%0A").into());

    let declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
    let info = "Contact-Name: A. Scientist\nExternal-Description: A long text\n  that goes on\n\
                Payload-Oxum: 3.2\nBagging-Date: 2024-02-29\n";
    let fetch = "https://example.org/a 3 data/a\nhttp://example.org/b - data/b%25\n";
    add("bag_tags", "bagit", declaration.into());
    add(
        "bag_tags",
        "bagit-0.93",
        "BagIt-Version : 0.93\nTag-File-Character-Encoding:UTF-16\n".into(),
    );
    add("bag_tags", "info", info.into());
    add("bag_tags", "info-utf16", info.encode_utf16().flat_map(u16::to_be_bytes).collect());
    add("bag_tags", "fetch", fetch.into());
    add("bag_tags", "oxum", "18446744073709551615.0".into());
    add("bag_tags", "added", "Label\u{2}a  value \u{a0} that\u{1}Other: one\u{2}x".into());
    add("bag_tags", "manifest", format!("{ABC} data/a%2\n# {ABC}\n{ABC} *data/%TEMP%\n").into());

    let manifest = format!("{ABC}  data/a\n{EMPTY}  data/b\n");
    let bag = |parts: &[&str]| parts.join("\n----\n").replace("\n\n----", "\n----").into_bytes();
    add(
        "bag_verify",
        "sound",
        bag(&[declaration, &manifest, info, &format!("{ABC}  bagit.txt\n")]),
    );
    add("bag_verify", "plain", bag(&[declaration, &manifest]));
    add("bag_verify", "no-bag", bag(&["", &manifest]));
    add("bag_verify", "fetch", bag(&[declaration, &manifest, "", "", fetch]));
    let old = declaration.replace("1.0", "0.97").replace('\n', "\r\n");
    let sums = format!("{} *data/a\n{}\tdata/b\n", "0".repeat(32), "f".repeat(32));
    add("bag_verify", "old", bag(&[&old, &manifest.replace('\n', "\r\n"), info, "", "", &sums]));
}
