//! Several files as one source: those of a directory, or several inputs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::format::ArrayFormat;
use super::item::{ArrayItem, set_order};
use super::names::member_name;
use super::options::ConvertOptions;
use super::rawarray::{OpenedPack, is_in_the_way, stated};
use super::source::{OpenSource, OtherFile, SourceArrays, TakeElements};
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::fs::{self, File};
use crate::ndl::{Extent, Group, MAX_TEXT, Order};
use crate::pack::{
    ARRAY_EXTENSION, ArrayFacts, Content, Contents, DESCRIPTION_EXTENSIONS, DescriptionFacts,
    Entity,
};
use crate::path::{MemberPath, file_name};
use crate::ra::Header;
use crate::read::open::Pack;
use crate::write::plain_arrays;

/// Opens the arrays of a directory and everything below it, in any format that can be read.
pub(super) fn open_directory(
    root: &Path,
    options: &ConvertOptions,
    open: OpenSource,
) -> Result<SourceArrays> {
    let OpenedPack { source, contents, others, pack } = OpenedPack::new(root, options)?;
    let mut tree = Tree::new(options, open);
    tree.add_opened(ArrayFormat::Ra, root, source, None);
    let has_manifest = pack.has_manifest()?;
    let format = |name: &str| ArrayFormat::in_tree(name.as_ref(), options.images);
    for other in others.iter().filter(|other| other.is_file) {
        if let Some(format) = format(&other.payload) {
            let mut file = TreeFile::new(&other.payload, root.join(&other.name), format);
            file.listed = has_manifest.then(|| (pack.clone(), other.payload.clone()));
            tree.add(file, root, &contents);
        }
    }
    for other in &others {
        let name = other.payload.as_str();
        let is_array = other.is_file && format(name).is_some();
        if !is_array && !tree.descriptions.contains(name) {
            tree.others.push(other.copied_from(&pack));
        }
    }
    Ok(tree.into_source())
}

/// Opens the arrays of several inputs, each under its own name.
pub(super) fn open_all(
    inputs: &[&Path],
    options: &ConvertOptions,
    open: OpenSource,
) -> Result<SourceArrays> {
    let mut tree = Tree::new(options, open);
    let (mut files, mut others, mut contents) = (Vec::new(), Vec::new(), Contents::default());
    for input in inputs {
        let name = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = MemberPath::new(name.as_str())?;
        let format = match options.from {
            Some(format) => format,
            None => match ArrayFormat::of_input(input) {
                Ok(format) => format,
                // A file without arrays, for example from a shell pattern.
                Err(_) if input.extension().is_some() && fs::exists(input) => {
                    others.push((path, *input));
                    continue;
                }
                Err(error) => return Err(error),
            },
        };
        if let ArrayFormat::Pack(container) = format {
            let stem = match container {
                Container::Directory => &*name,
                _ => name.split_once('.').map_or(&*name, |(stem, _)| stem),
            };
            let source = open(format, input, &tree.options)?;
            tree.add_opened(format, input, source, Some(stem));
        } else {
            files.push(TreeFile::new(&name, (*input).to_owned(), format));
        }
    }
    for (path, input) in &others {
        if path.extension().is_some_and(|end| DESCRIPTION_EXTENSIONS.contains(&end)) {
            let text = fs::read_limited(input, MAX_TEXT as u64)?;
            let facts = DescriptionFacts::parse(path.as_str(), text);
            contents.add(path.clone(), Content::Description(Arc::new(facts)));
        }
    }
    for mut file in files {
        file.origin = file.path.to_string_lossy().into_owned();
        let root = file.path.clone();
        tree.add(file, &root, &contents);
    }
    for (path, input) in others {
        if !tree.descriptions.contains(path.as_str()) {
            let (input, name) = (input.to_owned(), path.as_str().to_owned());
            let copy = move |out: &mut dyn std::io::Write| {
                let mut file = File::open(&input)?;
                std::io::copy(&mut file, out).map_err(Error::io("read", &input))
            };
            tree.others.push(OtherFile { name, copy: Some(Box::new(copy)) });
        }
    }
    Ok(tree.into_source())
}

/// A file of another format in a directory.
struct TreeFile {
    /// Its path in the directory without the extension.
    stem: String,
    /// Its name in reports.
    origin: String,
    path: PathBuf,
    format: ArrayFormat,
    /// The pack whose manifest may list it, and its name there.
    listed: Option<(Pack, String)>,
}

impl TreeFile {
    fn new(name: &str, path: PathBuf, format: ArrayFormat) -> Self {
        let extension = file_name(name).rsplit_once('.').map_or(0, |(_, end)| end.len() + 1);
        let stem = name.split_at(name.len() - extension).0.to_owned();
        Self { stem, origin: name.to_owned(), path, format, listed: None }
    }

    /// Opens the file without reading elements, with the names of its arrays in the directory.
    fn open(&self, options: &ConvertOptions, open: OpenSource) -> Result<SourceArrays> {
        let mut source = open(self.format, &self.path, options)?;
        let coordinates = source.items.iter().filter(|item| item.is_coordinate);
        let coordinates: BTreeSet<_> = coordinates.map(|item| item.name.clone()).collect();
        let Self { stem, origin, .. } = self;
        for item in &mut source.items {
            if !self.format.holds_many() {
                item.name.clone_from(stem);
                item.origin.clone_from(origin);
                continue;
            }
            item.name = format!("{stem}/{}", item.name);
            item.origin = format!("{origin}/{}", item.origin);
            for extent in &mut item.description.shape {
                if let Extent::Coord(name) = extent
                    && coordinates.contains(name)
                {
                    *name = format!("{stem}/{name}");
                }
            }
        }
        for group in &mut source.groups {
            let inner = group.path.trim_end_matches('/');
            group.path = format!("/{stem}{inner}");
        }
        for (name, _) in &mut source.failed {
            *name = format!("{origin}/{name}");
        }
        for loss in &mut source.losses {
            *loss = format!("{origin}: {loss}");
        }
        Ok(source)
    }
}

/// A source among several.
struct Part {
    file: TreeFile,
    /// The source, while it is open.
    source: Option<SourceArrays>,
    /// Headers of its arrays.
    headers: Vec<Option<Header>>,
    /// Whether it stays open. Single files are closed until their elements are read.
    stays: bool,
}

impl Part {
    /// Opens the source again, and checks that its arrays are the same.
    fn open(&mut self, options: &ConvertOptions, open: OpenSource) -> Result<&mut SourceArrays> {
        if self.source.is_none() {
            if let Some((pack, name)) = &self.file.listed {
                pack.copy_to(name, &mut std::io::sink())?;
            }
            let source = self.file.open(options, open)?;
            let headers = source.items.iter().map(|item| &item.header);
            if !headers.eq(&self.headers) {
                return Err(File::open(&self.file.path)?.changed("its arrays are different"));
            }
            self.source = Some(source);
        }
        Ok(self.source.as_mut().expect("the source is open"))
    }
}

/// Several sources that become one.
struct Tree {
    /// Options for each file.
    options: Rc<ConvertOptions>,
    open: OpenSource,
    member: Option<String>,
    parts: Vec<Part>,
    /// Each array with the number of its part and its position there.
    items: Vec<(ArrayItem, (usize, usize))>,
    others: Vec<OtherFile>,
    failed: Vec<(String, Error)>,
    losses: Vec<String>,
    groups: Vec<Group>,
    /// Descriptions of arrays in other formats.
    descriptions: BTreeSet<String>,
}

impl Tree {
    fn new(options: &ConvertOptions, open: OpenSource) -> Self {
        let member = options.member.clone();
        let options = Rc::new(ConvertOptions { member: None, from: None, ..options.clone() });
        let (parts, items, others, failed, losses, groups, descriptions) = <_>::default();
        Self { options, open, member, parts, items, others, failed, losses, groups, descriptions }
    }

    /// Adds an open source that stays open, below a directory if a name is given.
    fn add_opened(
        &mut self,
        format: ArrayFormat,
        path: &Path,
        mut source: SourceArrays,
        directory: Option<&str>,
    ) {
        let origin = path.to_string_lossy().into_owned();
        if let Some(directory) = directory {
            for item in &mut source.items {
                item.name = format!("{directory}/{}", item.name);
                item.origin = format!("{origin}/{}", item.origin);
            }
            for other in &mut source.others {
                other.name = format!("{directory}/{}", other.name);
            }
            for (name, _) in &mut source.failed {
                *name = format!("{origin}/{name}");
            }
        }
        let file = TreeFile::new(&origin, path.to_owned(), format);
        self.push(file, source, true);
    }

    /// Adds a file with its description, which is next to it or in the description of the pack.
    fn add(&mut self, file: TreeFile, root: &Path, contents: &Contents) {
        let mut source = match file.open(&self.options, self.open) {
            Ok(source) => source,
            Err(error) => return self.failed.push((file.origin, error)),
        };
        if let ([item], false) = (&mut source.items[..], file.format.holds_many()) {
            match describe(item, root, contents) {
                Ok(None) => {}
                Ok(Some(document)) => drop(self.descriptions.insert(document)),
                Err(error) => {
                    let own = DESCRIPTION_EXTENSIONS.map(|end| format!("{}.{end}", item.name));
                    self.descriptions.extend(own);
                    return self.failed.push((file.origin, error));
                }
            }
        }
        self.push(file, source, false);
    }

    fn push(&mut self, file: TreeFile, mut source: SourceArrays, stays: bool) {
        let part = self.parts.len();
        let headers = source.items.iter().map(|item| item.header.clone()).collect();
        let items = source.items.drain(..).enumerate();
        self.items.extend(items.map(|(index, item)| (item, (part, index))));
        self.others.append(&mut source.others);
        self.failed.append(&mut source.failed);
        self.losses.append(&mut source.losses);
        self.groups.append(&mut source.groups);
        self.parts.push(Part { file, source: stays.then_some(source), headers, stays });
    }

    fn into_source(self) -> SourceArrays {
        let Self {
            options,
            open,
            member,
            mut parts,
            mut items,
            others,
            mut failed,
            mut losses,
            groups,
            ..
        } = self;
        items.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        if let Some(member) = &member {
            let member = member_name(member);
            failed.retain(|(name, _)| {
                name.rsplit_once('.').map_or(&**name, |(stem, _)| stem) == member
            });
        }
        let names = others.iter().map(|other| other.name.as_str());
        let formats = [plain_arrays::FOREIGN, plain_arrays::TABLES];
        if let Some(counted) = plain_arrays::counted(names, &formats) {
            losses.push(format!("not converted: {counted}; {}", plain_arrays::SAVE));
        }
        let (all, places): (Vec<_>, Vec<_>) = items.into_iter().unzip();
        let mut last = None;
        let give = move |index: usize, beside: &Path, take: &mut TakeElements<'_>| {
            let (part, index) = *places.get(index).expect("each item has a part and a position");
            if let Some(before) = last.replace(part).filter(|before| *before != part)
                && let Some(before) = parts.get_mut(before)
            {
                before.source.take_if(|_| !before.stays);
            }
            let part = parts.get_mut(part).expect("the number is that of a part");
            let given = (part.open(&options, open)?.give)(index, beside, take);
            // The elements of a single array are read once, and may be needed again.
            part.source.take_if(|_| !part.stays && !part.file.format.holds_many());
            given
        };
        SourceArrays { others, failed, groups, ..SourceArrays::new(all, losses, Box::new(give)) }
    }
}

/// Applies the description of a file in another format, which is next to it or in the description of the pack. Returns
/// the document next to it. A description that does not match is an error.
fn describe(item: &mut ArrayItem, root: &Path, contents: &Contents) -> Result<Option<String>> {
    if item.stated.is_some() {
        // The item is a RawArray file.
        return Ok(Some(format!("{}.{}", item.name, DESCRIPTION_EXTENSIONS[0])));
    }
    let path = MemberPath::new(format!("{}.{ARRAY_EXTENSION}", item.name))?;
    let mut own = Contents::default();
    own.pack_document.clone_from(&contents.pack_document);
    for end in DESCRIPTION_EXTENSIONS {
        let name = MemberPath::new(format!("{}.{end}", item.name))?;
        if let Some(facts) = contents.descriptions.get(&name).filter(|facts| facts.describes()) {
            own.add(name, Content::Description(facts.clone()));
        }
    }
    let mut findings = Vec::new();
    let described = own.description(&path, &mut findings);
    let order = described.map(|described| described.order());
    if order == Some(Order::RowUnreversed) {
        return Err(Error::unsupported(
            "its description has `order: row-unreversed`, which can be read but not written; use column or row"
                .to_owned(),
        ));
    }
    if let Some(order) = order {
        let mut arranged = item.clone();
        arranged.put_in(order);
        let facts = ArrayFacts::of_header(arranged.to_variable()?.header);
        own.add(path.clone(), Content::Array(Arc::new(facts)));
        findings = own.findings();
        findings.retain(|finding| finding.array.as_deref() == Some(path.as_str()));
    }
    findings.retain(is_in_the_way);
    if !findings.is_empty() {
        return Err(Error::Refused { path: root.to_owned(), findings });
    }
    let Some(described) = own.description(&path, &mut Vec::new()) else { return Ok(None) };
    let name = item.description.name.clone();
    let stated = stated(&described, &name, contents);
    // The elements keep the order of the file.
    let order = item.description.order();
    item.description = stated.description.clone();
    set_order(&mut item.description, order);
    item.is_coordinate = matches!(described.entity, Entity::DimCoord(_));
    item.shared.clone_from(&described.group.attributes);
    let document = stated.text.is_some().then(|| described.member.to_owned());
    item.stated = Some(stated);
    Ok(document)
}
