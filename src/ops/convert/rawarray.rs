//! RawArray files and their descriptions: one file, a directory of them, an archive of one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::create::{CreateOptions, create_staged};
use super::super::open::{Pack, check_decoded};
use super::super::scan::{PackScan, ScanFor};
use super::super::single_file::{self, SingleFile};
use super::data::{RawArrayFile, failed};
use super::plan::{ArrayItem, listed, member_name, name_of, stem};
use super::{
    ArrayFormat, ArraySink, ConvertOptions, Destination, OutgoingArray, SourceArrays, TakeElements,
    WriteArrays,
};
use crate::archive::{Archive, Container, MemberKind};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, count_errors};
use crate::fs::{self, File, PendingDirectory, PendingFile, Turn};
use crate::interchange;
use crate::ndl::{Document, MAX_TEXT, Ndarray};
use crate::pack::{
    self, ARRAY_EXTENSION, Content, Contents, DESCRIPTION_EXTENSIONS, Described, Inspector, Layout,
};
use crate::path::{MemberPath, escape};
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::{Header, ReadError};

/// Names that a message lists at most.
const MAX_LISTED: usize = 5;

/// A RawArray file, with the description beside it.
pub(super) fn open_file(path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    let file = File::open(path)?.watched(&options.progress);
    let malformed = |path: &Path, error| {
        let name = path.to_string_lossy().into_owned();
        match error {
            ReadError::Decode(error) => {
                let source =
                    interchange::FormatError::malformed(error.offset, error.kind.to_string());
                Error::Interchange { name, source }
            }
            ReadError::Io(error) => failed(error, "read", path),
            ReadError::Slice(source) => Error::Slice { name, source },
        }
    };
    let file = RawArrayFile::open(file).map_err(|error| malformed(path, error))?;
    let keep_big = options.keep_endian;
    let single_file = described_beside(path)?;
    let described = single_file.as_ref().and_then(|file| {
        let described = file.contents.description(&file.subject, &mut Vec::new())?;
        Some((described, file.subject.stem()))
    });
    let item = item(name_of(path), &file.header, described, keep_big)?;
    let path = path.to_owned();
    Ok(SourceArrays::single(item, move || {
        let elements = file.elements(&path.to_string_lossy(), keep_big);
        elements.map_err(|error| malformed(&path, error))
    }))
}

/// The document beside the file, or that of the directory.
fn described_beside(path: &Path) -> Result<Option<SingleFile>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !pack::is_array(&name) {
        return Ok(None);
    }
    let single_file = single_file::gather(path, None)?;
    let findings: Vec<_> = single_file.findings().into_iter().filter(is_in_the_way).collect();
    if findings.is_empty() {
        Ok(Some(single_file))
    } else {
        Err(Error::Refused { path: single_file.root, findings })
    }
}

/// The array of a file with this header, with the description that is known as of the array of that name.
fn item(
    name: String,
    header: &Header,
    described: Option<(Described<'_>, &str)>,
    keep_big: bool,
) -> Result<ArrayItem> {
    let Some((described, known_as)) = described else {
        return ArrayItem::rawarray(name, header, None, keep_big);
    };
    let is_coordinate = matches!(described.entity, pack::Entity::DimCoord(_));
    let name_in_it = stem(known_as).to_owned();
    let description = Ndarray { name: name_in_it, ..described.entity.array().clone() };
    let item = ArrayItem::rawarray(name, header, Some(description), keep_big)?;
    Ok(ArrayItem { is_coordinate, shared: described.group.attributes.clone(), ..item })
}

/// Whether a finding makes it doubtful what the array is. Coordinates may lie elsewhere; data that cannot be
/// decoded are told of when they are.
fn is_in_the_way(finding: &Finding) -> bool {
    let is_said_elsewhere = matches!(
        finding.code,
        Code::BadData
            | Code::Undescribed
            | Code::UnknownCoordinate
            | Code::CoordinateLength
            | Code::UnresolvedCoord
            | Code::UnresolvedTarget
    );
    finding.is_error() && !is_said_elsewhere
}

pub(super) fn open_pack(path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    let archive = Archive::open_watched(path, &options.progress)?;
    let jobs = pipeline::jobs(options.jobs);
    let PackScan { placement, members, contents, mut findings, .. } =
        PackScan::new(&archive, jobs, ScanFor::Contents)?;
    findings.extend(contents.findings());
    findings.retain(|finding| finding.is_error() && finding.code != Code::Undescribed);
    if let Some(member) = &options.member {
        // Only what is wrong with that one.
        let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
        findings.retain(|finding| {
            let named = finding.array.as_deref().or(finding.member.as_deref());
            named.is_none_or(|named| stem(named) == member_name(member))
        });
    }
    finding::cut(&mut findings);
    if count_errors(&findings) > 0 {
        return Err(Error::Refused { path: path.to_owned(), findings });
    }
    let files = members.iter().filter(|member| member.kind == MemberKind::File);
    let names: HashSet<&str> = files.filter_map(|member| placement.payload(&member.name)).collect();
    let left = left_behind(&names, &contents).filter(|_| options.member.is_none());
    let is_directory =
        archive.container() == Container::Directory && placement.layout == Layout::Plain;
    let items = pack_items(&contents, options.keep_endian)?;
    let directory = is_directory.then(|| path.to_owned());
    let (path, keep_big, progress) =
        (path.to_owned(), options.keep_endian, options.progress.clone());
    let pack = Pack::open_watched(&path, &progress.part())?;
    let give = move |_: usize, name: &str, beside: &Path, take: &mut TakeElements<'_>| {
        let member = format!("{name}.{ARRAY_EXTENSION}");
        let damaged = |error| match error {
            ReadError::Io(error) => failed(error, "read", &path),
            error => Error::array_file(member.as_ref(), error),
        };
        let mut verified = false;
        let (file, is_copy) = if let Some(directory) = &directory
            && pack.array(&member)?.listed_digest()?.is_none()
        {
            (File::open(directory.join(&member))?.watched(&progress), false)
        } else {
            // Nothing of a member is used before all of it is known to be what the manifest says.
            let scratch = fs::scratch_file(beside, &progress)?;
            (_, verified) = pack.copy_to(&member, &mut &scratch)?;
            (scratch, true)
        };
        let file = RawArrayFile::open(file).map_err(damaged)?;
        if is_copy {
            check_decoded(&member, &file.header)?;
        }
        let (data, metadata) = file.elements(&member, keep_big).map_err(damaged)?;
        take(data, metadata, verified)
    };
    Ok(SourceArrays { items, losses: left.into_iter().collect(), give: Box::new(give) })
}

fn pack_items(contents: &Contents, keep_endian: bool) -> Result<Vec<ArrayItem>> {
    let mut items = Vec::new();
    for (path, facts) in &contents.arrays {
        let Ok(header) = &facts.header else { continue };
        let name = path.without_extension().to_owned();
        let described = contents.description(path, &mut Vec::new());
        let described = described.map(|described| (described, path.without_extension()));
        items.push(item(name, header, described, keep_endian)?);
    }
    for (path, facts) in contents.unattached() {
        let described = facts.document().into_iter().flat_map(Document::ndarrays);
        for (group, ndarray) in described.filter(|(_, ndarray)| ndarray.value.is_some()) {
            let group_path = pack::group_in_pack(path.as_str(), &group.path);
            let name = pack::entity_path(&group_path, &ndarray.name);
            let name = name.trim_start_matches('/').to_owned();
            let shared = group.attributes.clone();
            items.push(ArrayItem { shared, ..ArrayItem::inline(name, ndarray.clone()) });
        }
    }
    items.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(items)
}

/// The files of a pack besides arrays and their descriptions, in a sentence.
fn left_behind(names: &HashSet<&str>, contents: &Contents) -> Option<String> {
    let unattached: HashSet<_> = contents.unattached().map(|(path, _)| path.as_str()).collect();
    let others = names.iter().copied().filter(|name| {
        contents.array_of(name).is_none()
            && !unattached.contains(name)
            && *name != pack::PACK_DOCUMENT
            && pack::manifest_algorithm(name).is_none()
    });
    let mut others: Vec<_> = others.collect();
    others.sort_unstable();
    let listed = listed(others.iter(), MAX_LISTED, |name| format!("`{name}`"));
    let sentence = format!("files that are no arrays are left where they are: {listed}");
    (!others.is_empty()).then_some(sentence)
}

/// A RawArray file and its description, both being written.
struct FileSink {
    array: PendingFile,
    description: PendingFile,
    target: PathBuf,
    described_in: PathBuf,
    /// Whether the description takes the place of another.
    is_replaced: bool,
    bytes: u64,
}

pub(super) fn begin_file<'o>(out: &Destination<'o>) -> Result<ArraySink<'o>> {
    let force = out.options.force;
    let array = PendingFile::create(out.path, force)?;
    let [first, second] = DESCRIPTION_EXTENSIONS.map(|end| out.path.with_extension(end));
    // Two descriptions of one array are an error wherever they are read.
    let described_in = match [&first, &second].map(|path| fs::exists(path)) {
        [_, false] => first,
        _ if !force => return Err(Error::AlreadyExists { path: second }),
        [false, true] => second,
        [true, true] => {
            let [first, second] =
                [first, second].map(|path| escape(&path.to_string_lossy()).to_string());
            return Err(Error::Unsupported(format!(
                "`{first}` and `{second}` both describe what would be replaced; remove one of them"
            )));
        }
    };
    let is_replaced = fs::exists(&described_in);
    let description = PendingFile::create(&described_in, force)?;
    let target = out.path.to_owned();
    Ok(Box::new(FileSink { array, description, target, described_in, is_replaced, bytes: 0 }))
}

impl WriteArrays for FileSink {
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>> {
        let item = array.item;
        let len = write_rawarray(self.array.file(), array)?;
        let mut text = description(item).into_bytes();
        let mut losses = Vec::new();
        if self.is_replaced {
            let name = escape(&self.described_in.to_string_lossy()).to_string();
            if let Some(old) = self.valid_description(item)? {
                losses.push(format!("`{name}` still describes it, and stays as it is"));
                text = old;
            } else {
                losses.push(format!("`{name}` describes something else, and was replaced"));
            }
        }
        self.description.file().write_all_at(&text, 0)?;
        self.bytes = len + text.len() as u64;
        Ok(losses)
    }

    /// The description gets its name first: without an array it is an ordinary file, while an array without
    /// its description may be read in the wrong order.
    fn finish(self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        let Self { array, description, described_in, is_replaced, bytes, .. } = *self;
        array.sync()?;
        description.sync()?;
        let _turn = Turn::beside(&described_in, &Progress::default())?;
        description.persist()?;
        if let Err(error) = array.persist() {
            if !is_replaced {
                fs::remove(&described_in)?;
            }
            return Err(error);
        }
        fs::sync_directory(&described_in)?;
        Ok(bytes)
    }
}

impl FileSink {
    /// The text of the old description, when it describes what is written as well as what was there: new elements
    /// of the same type, shape and order. Nothing when the source itself says more than that.
    fn valid_description(&self, item: &ArrayItem) -> Result<Option<Vec<u8>>> {
        let member = |path: &Path| MemberPath::new(path.file_name()?.to_str()?).ok();
        let (Some(subject), Some(document)) = (member(&self.target), member(&self.described_in))
        else {
            return Ok(None);
        };
        if !item.description.attributes.is_empty() || !item.shared.is_empty() {
            return Ok(None);
        }
        let text = fs::read_limited(&self.described_in, MAX_TEXT as u64)?;
        let header = Ok(item.to_variable()?.header);
        let facts = pack::ArrayFacts { header, encoding: None, trailing: 0, data: Ok(()) };
        let mut inspector = Inspector::new(document.as_str());
        inspector.update(&text);
        let content = inspector.finish(document.as_str(), text.len() as u64);
        let mut contents = Contents::default();
        contents.add(subject.clone(), Content::Array(Arc::new(facts)));
        contents.add(document, content);
        let described = contents.description(&subject, &mut Vec::new());
        let order = item.description.order();
        let is_valid = described.is_some_and(|described| described.order() == order)
            && !contents.findings().iter().any(is_in_the_way);
        Ok(is_valid.then_some(text))
    }
}

/// A directory that is being written, and perhaps packed afterwards.
struct PackSink<'o> {
    directory: PendingDirectory,
    archive: Option<(&'o Path, Container)>,
    options: &'o ConvertOptions,
    bytes: u64,
}

pub(super) fn begin_pack<'o>(out: &Destination<'o>) -> Result<ArraySink<'o>> {
    let Destination { path, options, .. } = *out;
    let archive = match out.to {
        ArrayFormat::Pack(container) if container != Container::Directory => {
            Some((path, container))
        }
        _ => None,
    };
    if archive.is_some() && !options.force && fs::exists(path) {
        return Err(Error::AlreadyExists { path: path.to_owned() });
    }
    let directory = match archive {
        Some(_) => PendingDirectory::beside(path)?,
        None => PendingDirectory::create(path, options.force)?,
    };
    Ok(Box::new(PackSink { directory, archive, options, bytes: 0 }))
}

impl PackSink<'_> {
    /// Begins the file of an array or a description, has it written and adds what is the answer: its length. A file
    /// that will stay gets to the disk.
    fn write(
        &mut self,
        name: &str,
        extension: &str,
        write: impl FnOnce(&File) -> Result<u64>,
    ) -> Result<()> {
        let file = self.directory.begin(&MemberPath::new(format!("{name}.{extension}"))?)?;
        self.bytes += write(&file)?;
        if self.archive.is_some() { Ok(()) } else { file.sync() }
    }
}

impl WriteArrays for PackSink<'_> {
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>> {
        let (name, item) = (array.name, array.item);
        self.write(name, ARRAY_EXTENSION, |file| write_rawarray(file, array))?;
        self.inline(name, item)?;
        Ok(Vec::new())
    }

    fn inline(&mut self, name: &str, item: &ArrayItem) -> Result<()> {
        let text = description(item);
        self.write(name, DESCRIPTION_EXTENSIONS[0], |file| {
            file.write_all_at(text.as_bytes(), 0)?;
            Ok(text.len() as u64)
        })
    }

    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64> {
        let Self { directory, archive, options, bytes } = *self;
        let Some((archive, container)) = archive else {
            directory.persist(options.force)?;
            return Ok(bytes);
        };
        let options = CreateOptions {
            container: Some(container),
            compression: options.compression.unwrap_or_default(),
            force: options.force,
            jobs: options.jobs,
            progress: options.progress.silent(),
            ..CreateOptions::default()
        };
        let report = create_staged(&directory, archive, &options, None)?;
        losses.extend(report.findings.iter().map(ToString::to_string));
        Ok(report.archive_bytes)
    }
}

/// Writes a RawArray file; answers how long it is.
fn write_rawarray(file: &File, array: OutgoingArray<'_>) -> Result<u64> {
    let OutgoingArray { item, data, metadata, .. } = array;
    let header = item.to_variable()?.header;
    file.write_all_at(&header.encode(), 0)?;
    let end = header.header_len() + header.data_len();
    data.write_at(file, header.header_len())?;
    metadata.write_at(file, end)?;
    Ok(end + metadata.len)
}

/// The text that describes an array.
fn description(item: &ArrayItem) -> String {
    let ndarray = item.description.clone();
    let ndarray = if item.is_coordinate { pack::as_coordinate(ndarray) } else { ndarray };
    let mut document = Document::of(ndarray, item.is_coordinate);
    let root = document.groups.first_mut().expect("a flat document has one group");
    root.attributes.clone_from(&item.shared);
    document.to_yaml()
}
