//! Descriptions made from headers, for arrays that have none, and descriptions that change with headers: brought in line
//! with those that changed, or changed together with the shape of an array.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::scan::{PackScan, ScanFor};
use super::single_file::{self, SingleFile, look};
use super::survey::{Survey, survey};
use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::finding::{self, Finding, count_errors};
use crate::fs::{self, File, Stamp, Turn};
use crate::ndl::{Document, Order};
use crate::pack::{self, Contents, Convention, Described, DescribedArray, shape_of};
use crate::path::{MemberPath, escape_path};
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{Encoding, Header};

/// Options of [`describe_target`] and [`write_descriptions`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DescribeOptions {
    /// Turn 1-D arrays that have no description and the name of a coordinate, such as `time` or `lat`,
    /// into dimension coordinates, and name the extents of other arrays that are as long.
    pub dimcoords: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Who is told how far it is.
    pub progress: Progress,
}

/// The description of one array file, or of a whole directory or archive as one document.
///
/// What is described already is taken over; the rest is what the headers say.
///
/// # Errors
///
/// When the target cannot be read, or a header is at fault.
pub fn describe_target(target: impl AsRef<Path>, options: &DescribeOptions) -> Result<String> {
    let target = target.as_ref();
    if !fs::is_directory(target)? && target.extension().is_some_and(|extension| extension == "ra") {
        return describe_file(target, options);
    }
    let archive = Archive::open_watched(target, &options.progress)?;
    let jobs = pipeline::jobs(options.jobs);
    let PackScan { contents, .. } = PackScan::new(&archive, jobs, ScanFor::Contents)?;
    refuse_bad_headers(target, &contents)?;
    let convention = options.dimcoords.then(|| Convention::new(&contents));
    Ok(pack::pack_document(&contents, convention.as_ref()))
}

fn describe_file(path: &Path, options: &DescribeOptions) -> Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let member = MemberPath::new(name.as_str())?;
    let mut contents = Contents::default();
    contents.add(member.clone(), look(path, &member)?);
    refuse_bad_headers(path, &contents)?;
    let texts = describe_missing(&contents, options.dimcoords);
    let text = texts.into_values().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn refuse_bad_headers(target: &Path, contents: &Contents) -> Result<()> {
    let mut findings = Vec::new();
    for (path, facts) in &contents.arrays {
        facts.findings(path, &mut findings);
    }
    finding::cut(&mut findings);
    if count_errors(&findings) > 0 {
        return Err(Error::Refused { path: target.to_owned(), findings });
    }
    Ok(())
}

/// The descriptions that were written.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DescribeReport {
    /// The directory.
    pub target: PathBuf,
    /// Descriptions that were written, by their paths below the directory.
    pub written: Vec<String>,
    /// Arrays that were described already.
    pub described: u64,
    /// Files in the directories of the arrays, left by an interrupted run; they can be deleted.
    pub leftovers: Vec<PathBuf>,
    /// Arrays whose headers cannot be read, and other things that are wrong.
    pub findings: Vec<Finding>,
}

/// Writes a description beside every array below the directory `target` that has none. Nothing that
/// is there is touched.
///
/// # Errors
///
/// When the system refuses.
pub fn write_descriptions(
    target: impl AsRef<Path>,
    options: &DescribeOptions,
) -> Result<DescribeReport> {
    let target = target.as_ref();
    if !fs::is_directory(target)? {
        return Err(Error::Unsupported(format!(
            "`{}` is not a directory; without the option `write` its description is printed",
            escape_path(target)
        )));
    }
    let jobs = pipeline::jobs(options.jobs);
    let Survey { contents, mut findings, .. } = survey(target, jobs, &options.progress)?;
    for (path, facts) in &contents.arrays {
        if facts.header.is_err() {
            facts.findings(path, &mut findings);
        }
    }
    let missing = describe_missing(&contents, options.dimcoords);
    let arrays = contents.arrays.len() as u64;
    let undescribed = contents.undescribed().count() as u64;
    let mut written = Vec::with_capacity(missing.len());
    for (path, text) in missing {
        fs::write_new(&target.join(path.as_str()), false, |out| out.write_all(&text))?;
        written.push(path.as_str().to_owned());
    }
    Ok(DescribeReport {
        target: target.to_owned(),
        written,
        described: arrays - undescribed,
        leftovers: leftovers(target, &contents),
        findings,
    })
}

/// What an interrupted run left in the directories where descriptions are written.
fn leftovers(target: &Path, contents: &Contents) -> Vec<PathBuf> {
    let directories: BTreeSet<_> =
        contents.arrays.keys().map(|path| path.parent().unwrap_or_default()).collect();
    let below = directories.into_iter().map(|directory| target.join(directory));
    below.flat_map(|directory| fs::leftovers_in(&directory, ".")).collect()
}

/// The text of a description for every array that has none, by the name of its file.
pub(super) fn describe_missing(
    contents: &Contents,
    dimcoords: bool,
) -> BTreeMap<MemberPath, Vec<u8>> {
    let convention = dimcoords.then(|| Convention::new(contents));
    contents
        .undescribed()
        .filter_map(|(path, facts)| {
            let header = facts.header.as_ref().ok()?;
            let encoding = facts.encoding.unwrap_or(Encoding::Raw);
            let mut ndarray = pack::describe(path.stem(), header, encoding);
            let is_coordinate = convention.as_ref().is_some_and(|it| it.is_coordinate(path));
            if is_coordinate {
                ndarray = pack::as_coordinate(ndarray);
            } else if let Some(convention) = &convention {
                convention.name_extents(path, &mut ndarray);
            }
            let document = Document::of(ndarray, is_coordinate);
            let name = format!("{}.yaml", path.without_extension());
            Some((MemberPath::new(name).ok()?, document.to_yaml().into_bytes()))
        })
        .collect()
}

/// The descriptions that were brought in line with changed headers.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UpdateReport {
    /// The directory, document or array.
    pub target: PathBuf,
    /// The changes, which are all that were made.
    pub changes: Vec<Change>,
    /// Documents that say what the headers say, as they stand.
    pub unchanged: u64,
    /// The findings about arrays that could not be brought in line, and all others.
    pub findings: Vec<Finding>,
}

/// One value of one description.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// The path of the document.
    pub document: PathBuf,
    /// The array, by its name in the pack.
    pub array: String,
    /// The line where the change begins, counted from 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub line: u32,
    /// The key that was changed, such as `shape`, `type` or `storage.endian`.
    pub key: String,
    /// The old value.
    pub from: String,
    /// The new value.
    pub to: String,
}

impl UpdateReport {
    /// Whether everything is in line now; warnings do not count.
    pub fn is_clean(&self) -> bool {
        count_errors(&self.findings) == 0
    }
}

/// Brings the shape and type that existing descriptions state, and the storage where they state it, in
/// line with the headers of the arrays. `target` is an array, its description, or a directory. Of the options
/// only threads and progress matter.
///
/// Nothing else in a description changes, not a byte. A document in which that cannot be done for every
/// one of its arrays is left as it is, and the report says why. Arrays without description stay so.
///
/// # Errors
///
/// [`Error::NotAnArray`] for a file that is neither an array nor a description, and when the system refuses.
pub fn update_descriptions(
    target: impl AsRef<Path>,
    options: &DescribeOptions,
) -> Result<UpdateReport> {
    let target = target.as_ref();
    let mut report = UpdateReport { target: target.to_owned(), ..UpdateReport::default() };
    if fs::is_directory(target)? {
        let jobs = pipeline::jobs(options.jobs);
        let Survey { contents, findings, .. } = survey(target, jobs, &options.progress)?;
        report.findings = findings;
        update(target, &contents, |_| true, &mut report)?;
    } else {
        let single_file = single_file::gather(target, None)?;
        if single_file.is_ordinary() {
            return Err(single_file::not_an_array(target));
        }
        let SingleFile { root, subject, contents, .. } = single_file;
        let stem = subject.without_extension().to_owned();
        let is_pack_document = subject.as_str() == pack::PACK_DOCUMENT;
        let counts = |path: &MemberPath| is_pack_document || path.without_extension() == stem;
        update(&root, &contents, counts, &mut report)?;
    }
    Ok(report)
}

fn update(
    root: &Path,
    contents: &Contents,
    counts: impl Fn(&MemberPath) -> bool,
    report: &mut UpdateReport,
) -> Result<()> {
    // Every document with the arrays that it describes.
    let mut documents: BTreeMap<&str, Vec<DescribedArray<'_>>> = BTreeMap::new();
    for (path, facts) in contents.arrays.iter().filter(|(path, _)| counts(path)) {
        let Ok(header) = &facts.header else {
            facts.findings(path, &mut report.findings);
            continue;
        };
        let described = contents.description(path, &mut report.findings);
        for described in with_pack_document(contents, path, described) {
            let array = DescribedArray { path, header, encoding: facts.encoding, described };
            documents.entry(described.member).or_default().push(array);
        }
    }
    for (member, arrays) in documents {
        let Some(DescribedArray { described: first, .. }) = arrays.first() else {
            continue;
        };
        match pack::update(contents, &arrays, false) {
            // The findings of a document beside an array are reported with it.
            Err(_) if first.facts.has_errors() && !first.is_of_pack() => {}
            Err(findings) => report.findings.extend(findings),
            Ok(None) => report.unchanged += 1,
            Ok(Some((text, edits))) => {
                let document = root.join(member);
                let old = first.facts.text();
                let _turn = Turn::beside(&document, &Progress::default())?;
                fs::replace(&document, old.as_bytes(), text.as_bytes())?;
                report.changes.extend(edits.into_iter().map(|edit| Change {
                    document: document.clone(),
                    array: edit.array.as_str().to_owned(),
                    line: u32::try_from(edit.line).expect("a description has fewer lines"),
                    key: edit.key,
                    from: old.get(edit.span).unwrap_or_default().to_owned(),
                    to: edit.text,
                }));
            }
        }
    }
    Ok(())
}

/// The description of an array, and that in the document of the pack where it is another.
fn with_pack_document<'c>(
    contents: &'c Contents,
    path: &MemberPath,
    described: Option<Described<'c>>,
) -> impl Iterator<Item = Described<'c>> {
    let of_pack = match described {
        Some(described) if described.is_of_pack() => None,
        _ => contents.in_pack_document(path),
    };
    described.into_iter().chain(of_pack)
}

/// The array that was reshaped.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReshapeReport {
    /// The array, by its path as given.
    pub array: PathBuf,
    /// Its shape before, in the order of its description.
    pub from: Vec<u64>,
    /// Its shape now.
    pub to: Vec<u64>,
    /// The paths of the descriptions that were changed with it.
    pub documents: Vec<PathBuf>,
}

/// Gives the array at `path` another shape, which must make as many elements; of one extent, `None`, the
/// length follows from the others. Extents are in the order of the description's shape.
///
/// Data and trailing metadata stay what they are, and so do flags: nothing is decoded. What describes the
/// array is brought in line; when that cannot be done, nothing is changed. Each file is replaced as a whole,
/// the array first.
///
/// # Errors
///
/// When the shape makes another number of elements, the array or its description is at fault, or the
/// system refuses.
pub fn reshape(path: impl AsRef<Path>, shape: &[Option<u64>]) -> Result<ReshapeReport> {
    let path = path.as_ref();
    let place = described_place(path)?;
    let _turn = Turn::beside(&place, &Progress::default())?;
    let file = File::open(path)?;
    let stamp = file.stamp()?;
    let SingleFile { root, subject, contents, .. } = single_file::gather(&place, None)?;
    let Some((subject, facts)) = contents.arrays.get_key_value(subject.as_str()) else {
        return Err(single_file::not_an_array(path));
    };
    let name = || path.to_string_lossy().into_owned();
    let header = match &facts.header {
        Ok(header) => header,
        Err(source) => return Err(Error::array(name(), (**source).clone())),
    };
    header.check_file_len(stamp.len()).map_err(|source| Error::array(name(), source))?;
    let mut findings = Vec::new();
    let described = contents.description(subject, &mut findings);
    let order = described.map_or(Order::Column, |described| described.order());
    let to = complete(path, header, shape)?;
    let new = header
        .with_dims(shape_of(&to, order))
        .map_err(|error| Error::mismatch(path.to_string_lossy(), error))?;
    let refused = |mut findings| {
        finding::cut(&mut findings);
        Error::Refused { path: path.to_owned(), findings }
    };
    if count_errors(&findings) > 0 {
        return Err(refused(findings));
    }
    let mut revised = Vec::new();
    for described in with_pack_document(&contents, subject, described) {
        let (header, encoding) = (&new, facts.encoding);
        let array = DescribedArray { path: subject, header, encoding, described };
        if let Some((text, _)) = pack::update(&contents, &[array], true).map_err(refused)? {
            revised.push((root.join(described.member), described.facts, text));
        }
    }
    let from = shape_of(header.dims(), order);
    if new != *header {
        rewrite(path, (&file, &stamp), header, &new)?;
    }
    let mut documents = Vec::new();
    for (document, old, new) in revised {
        fs::replace(&document, old.text().as_bytes(), new.as_bytes())?;
        documents.push(document);
    }
    Ok(ReshapeReport { array: path.to_owned(), from, to, documents })
}

/// Where the array lies that its description is beside: for a link, that is where it leads to.
fn described_place(path: &Path) -> Result<PathBuf> {
    if !fs::is_link(path) {
        return Ok(path.to_owned());
    }
    let SingleFile { subject, contents, .. } = single_file::gather(path, None)?;
    let place = fs::real_path(path)?;
    if contents.description(&subject, &mut Vec::new()).is_some() {
        return Err(Error::Unsupported(format!(
            "`{}` is a link to `{}`, but is described where the link lies; reshape the array itself, and then \
             see to that description",
            escape_path(path),
            escape_path(&place)
        )));
    }
    Ok(place)
}

/// The shape with the extent that follows from the others.
fn complete(path: &Path, header: &Header, shape: &[Option<u64>]) -> Result<Vec<u64>> {
    let refuse = |reason: String| Err(Error::mismatch(path.to_string_lossy(), reason));
    if shape.iter().filter(|extent| extent.is_none()).count() > 1 {
        return refuse("only one extent can follow from the others".to_owned());
    }
    let known = shape.iter().flatten().try_fold(1_u64, |product, n| product.checked_mul(*n));
    let elements = header.elements();
    let missing = known.filter(|known| *known > 0 && elements.is_multiple_of(*known));
    let missing = missing.and_then(|known| elements.checked_div(known));
    match missing {
        None if shape.contains(&None) => {
            refuse(format!("the given extents do not divide its {elements} elements"))
        }
        _ => Ok(shape.iter().map(|extent| extent.or(missing).unwrap_or(0)).collect()),
    }
}

/// Writes the new header and everything that follows the old one.
fn rewrite(path: &Path, (file, stamp): (&File, &Stamp), old: &Header, new: &Header) -> Result<()> {
    fs::rewrite(path, |_, pending| {
        let header = new.encode();
        pending.write_all_at(&header, 0)?;
        let from = old.header_len();
        file.copy_to(from, stamp.len() - from, pending, new.header_len())?;
        file.check_unchanged(stamp)
    })
}
