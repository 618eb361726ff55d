//! Arrays of other formats for a pack that is being written.

use std::path::Path;

use super::convert;
use super::format::ArrayFormat;
use super::options::ConvertOptions;
use super::report::ConvertReport;
use crate::error::Result;
use crate::fs::{self, PendingDirectory};
use crate::pack::ARRAY_EXTENSION;
use crate::path::MemberPath;
use crate::write::writer::PackWriter;

/// The directory with the output of a conversion.
const CONVERTED: &str = "pack";

/// Converts the file `name` of `directory` to arrays and adds them to a pack: `run1/x.npy` becomes `run1/x.ra`, and
/// `results.npz` becomes arrays in `results`. A directory is converted with everything below it. Another file, such as a
/// RawArray, is added as by [`PackWriter::add`], and gives no report.
///
/// If the writer [updates](PackWriter::update) an archive and may replace files, an array keeps its description where it
/// still fits. A description that does not is kept as `NAME.yaml.old`.
///
/// ```
/// use ra_pack::convert::{ConvertOptions, add_converted};
/// use ra_pack::{PackWriter, WriteOptions};
///
/// # let scratch = tempfile::tempdir()?;
/// # let (data, path) = (scratch.path(), scratch.path().join("mooring.zip"));
/// # let counts = ra_pack::RawArray::from(vec![1_u8, 2]);
/// # counts.write(data.join("counts.ra"))?;
/// # ra_pack::convert(data.join("counts.ra"), data.join("counts.npy"), &ConvertOptions::default())?;
/// let mut pack = PackWriter::create(&path, WriteOptions::default())?;
/// add_converted(&mut pack, data, "counts.npy", &ConvertOptions::default())?;
/// assert_eq!(pack.finish()?.arrays, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// As [`convert`] and [`PackWriter::add`].
pub fn add_converted(
    pack: &mut PackWriter<'_>,
    directory: impl AsRef<Path>,
    name: impl AsRef<str>,
    options: &ConvertOptions,
) -> Result<Option<ConvertReport>> {
    let (directory, name) = (directory.as_ref(), name.as_ref());
    // `.` is everything in the directory.
    let path = (name != ".").then(|| MemberPath::new(name)).transpose()?;
    let stem = path.as_ref().map_or("", MemberPath::without_extension);
    let input = directory.join(name);
    let is_directory = fs::is_directory(&input)?;
    let target = match ArrayFormat::in_tree(name.as_ref(), true) {
        _ if is_directory => path.as_ref().map_or("", MemberPath::as_str).to_owned(),
        Some(format) if format.holds_many() => stem.to_owned(),
        Some(format) if format != ArrayFormat::Ra => format!("{stem}.{ARRAY_EXTENSION}"),
        _ => return pack.add(directory, name).map(|()| None),
    };
    // The conversion keeps descriptions that it finds next to its output.
    let scratch = PendingDirectory::beside(pack.archive())?;
    let staged = |name: &str| MemberPath::new(format!("{CONVERTED}/{name}").trim_end_matches('/'));
    scratch.make_directory(&staged(target.rsplit_once('/').map_or("", |(parent, _)| parent))?)?;
    for (path, text) in pack.replaceable_descriptions(&target) {
        scratch.begin(&staged(path.as_str())?)?.write_all_at(text.as_bytes(), 0)?;
    }
    let root = scratch.path().join(CONVERTED);
    let archive = pack.archive().to_owned();
    let options = ConvertOptions { force: true, ..options.clone() };
    let report = convert(&input, root.join(&target), &options);
    let report = report.map_err(|error| pack.in_archive(error, &root))?;
    pack.add(&root, ".")?;
    Ok(Some(ConvertReport { output: archive.join(target), ..report }))
}
