//! The Zarr store of a pack: a stream of its groups and arrays, and the JSON document with the references.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::array::{Refusal, ZarrArray, attributes, path};
use super::dimensions::DimensionNames;
use crate::archive::{Archive, Container, Member};
use crate::error::{Error, Result};
use crate::inspect::outline::{Outline, OutlineArray};
use crate::ndl::ancestors;
use crate::pack::{self, Placement};
use crate::path::is_unsafe;
use crate::progress::Progress;

/// The key `.zgroup`.
const GROUP: &str = r#"{"zarr_format":2}"#;

/// A group or an array of the store, or the reason why an array is not in it.
#[derive(Debug)]
pub(super) enum Node<'s> {
    /// The path of a group, such as `run1`, and its attributes.
    Group(String, Map<String, Json>, Vec<String>),
    Array(Box<ZarrArray<'s>>),
    /// The name of the member.
    Refused(String, Refusal),
}

/// A pack as a Zarr store.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) outline: Outline,
    /// The members by their names in the payload.
    members: HashMap<String, Member>,
    /// Length of the archive; `None` for a directory.
    file_len: Option<u64>,
    /// The paths of all groups, those without arrays included.
    groups: BTreeSet<String>,
    /// The address of the archive or directory.
    pub(super) url: String,
    progress: Progress,
}

impl Store {
    pub(super) fn new(
        outline: Outline,
        archive: &Archive,
        (members, placement): (Vec<Member>, &Placement),
        url: String,
    ) -> Result<Self> {
        let named = members.into_iter().filter_map(|member| {
            let name = placement.payload(&member.name).filter(|name| pack::is_array(name))?;
            Some((name.to_owned(), member))
        });
        let file_len = match archive.container() {
            Container::Directory => None,
            _ => archive.file().map(|file| file.len()).transpose()?,
        };
        let paths: Vec<_> = outline.groups().map(|group| group.path).collect();
        let all = paths.iter().flat_map(|path| ancestors(path)).map(str::to_owned);
        let groups = all.chain(["/".to_owned()]).collect();
        let progress = archive.progress().clone();
        Ok(Self { members: named.collect(), file_len, groups, url, outline, progress })
    }

    /// Calls `each` with every group and array, always in the same order.
    fn nodes<'s>(&'s self, mut each: impl FnMut(Node<'s>) -> Result<()>) -> Result<()> {
        let mut names = DimensionNames::default();
        let mut bare = self.groups.clone();
        let no_slash = |path: &str| path.trim_start_matches('/').to_owned();
        for group in self.outline.groups() {
            let is_root = group.path == "/";
            let own = if is_root { &self.outline.attributes[..] } else { group.attributes };
            let mut notes = Vec::new();
            let attributes = attributes(own, &mut notes);
            bare.remove(&group.path);
            each(Node::Group(no_slash(&group.path), attributes, notes))?;
            for array in group.coordinates().chain(group.variables()) {
                self.progress.check()?;
                // A coordinate without a file.
                let Some(name) = array.member else { continue };
                each(match self.array(&group.path, &array, name, &mut names) {
                    Ok(array) => Node::Array(Box::new(array)),
                    Err(refusal) => Node::Refused(name.to_owned(), refusal),
                })?;
            }
        }
        let is_empty_pack = bare.contains("/");
        bare.into_iter().try_for_each(|path| {
            let own = if path == "/" && is_empty_pack { &self.outline.attributes[..] } else { &[] };
            let mut notes = Vec::new();
            each(Node::Group(no_slash(&path), attributes(own, &mut notes), notes))
        })
    }

    fn array<'s>(
        &'s self,
        group: &str,
        array: &OutlineArray<'_>,
        name: &str,
        names: &mut DimensionNames,
    ) -> Result<ZarrArray<'s>, Refusal> {
        if self.groups.contains(&format!("/{}", path(group, array.name))) {
            let reason = "a group has the same name, which Zarr does not allow";
            return Err(Refusal::Inexpressible(reason.to_owned()));
        }
        let member = self.members.get(name).ok_or_else(|| {
            Refusal::Inexpressible("the archive has no single member of this name".to_owned())
        })?;
        ZarrArray::new(group, array, (member, self.file_len.unwrap_or(member.size)), names)
    }

    /// Calls `each` with every group and array, without writing them.
    pub(super) fn survey(&self, each: impl FnMut(Node<'_>)) -> Result<()> {
        let mut each = each;
        self.nodes(|node| {
            each(node);
            Ok(())
        })
    }

    /// Writes the references, and leaves out arrays that cannot be in the store. `output` is the name of the output.
    pub(super) fn write(&self, out: &mut dyn Write, output: &Path) -> Result<()> {
        let failed = |error| Error::io("write", output)(error);
        let mut out = Keys { out, is_first: true };
        out.begin().map_err(failed)?;
        self.nodes(|node| {
            let put = |out: &mut Keys<'_>| match node {
                Node::Group(path, attributes, _) => {
                    out.text(&key(&path, ".zgroup"), GROUP)?;
                    out.text(&key(&path, ".zattrs"), &serde_json::to_string(&attributes)?)
                }
                Node::Array(array) => {
                    out.text(&key(&array.path, ".zarray"), &array.metadata()?)?;
                    out.text(&key(&array.path, ".zattrs"), &array.attributes()?)?;
                    self.chunks(&array, out)
                }
                Node::Refused(..) => Ok(()),
            };
            put(&mut out).map_err(failed)
        })?;
        self.consolidated(&mut out, failed)?;
        out.end().map_err(failed)
    }

    /// Writes the references to the chunks of an array.
    fn chunks(&self, array: &ZarrArray<'_>, out: &mut Keys<'_>) -> io::Result<()> {
        let url = serde_json::to_string(&self.url_of(array.member))?;
        let url = url.strip_prefix('"').and_then(|url| url.strip_suffix('"')).unwrap_or_default();
        let len = array.chunks.len();
        let mut name = String::new();
        array.chunks.try_for_each(|index, offset| {
            self.progress.check().map_err(Error::from)?;
            name.clear();
            name.push_str(&array.path);
            for (nth, place) in index.iter().enumerate() {
                name.push(if nth == 0 { '/' } else { '.' });
                name.push_str(&place.to_string());
            }
            if index.is_empty() {
                name.push_str("/0");
            }
            out.key(&name)?;
            out.out.write_all(b"[\"")?;
            put_safe(out.out, url)?;
            write!(out.out, "\",{},{len}]", array.start + offset)
        })
    }

    /// Returns the address of the file with a member.
    fn url_of(&self, member: &Member) -> String {
        if self.file_len.is_some() {
            return self.url.clone();
        }
        let base = self.url.trim_end_matches('/');
        let is_web = ["http://", "https://"].iter().any(|scheme| base.starts_with(scheme));
        let mut url = format!("{base}/");
        for byte in member.name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    url.push(char::from(byte));
                }
                _ if is_web => url.extend(["%", &format!("{byte:02X}")]),
                _ => return format!("{base}/{}", member.name),
            }
        }
        url
    }

    /// Writes the metadata of all groups and arrays once more, under one key, so that readers need not list the store.
    fn consolidated(&self, out: &mut Keys<'_>, failed: impl Fn(io::Error) -> Error) -> Result<()> {
        let begin = |out: &mut Keys<'_>| {
            out.key(".zmetadata")?;
            out.out.write_all(b"\"")?;
            put_json(out.out, r#"{"zarr_consolidated_format":1,"metadata":{"#)
        };
        begin(out).map_err(&failed)?;
        let mut separator = "";
        let mut entry = |out: &mut dyn Write, key: String, value: &str| {
            put_json(out, separator)?;
            separator = ",";
            put_json(out, &format!("{}:{value}", json!(key)))
        };
        self.nodes(|node| {
            let mut put = |path: &str, name: &str, own: &str, attributes: &str| {
                entry(out.out, key(path, name), own)?;
                entry(out.out, key(path, ".zattrs"), attributes)
            };
            match node {
                Node::Group(path, attributes, _) => {
                    put(&path, ".zgroup", GROUP, &Json::Object(attributes).to_string())
                }
                Node::Array(array) => array
                    .metadata()
                    .and_then(|own| {
                        let attributes = array.attributes()?;
                        Ok((own, attributes))
                    })
                    .map_err(io::Error::from)
                    .and_then(|(own, attributes)| put(&array.path, ".zarray", &own, &attributes)),
                Node::Refused(..) => Ok(()),
            }
            .map_err(&failed)
        })?;
        put_json(out.out, "}}").and_then(|()| out.out.write_all(b"\"")).map_err(failed)
    }
}

/// Returns the key of a group or array; the root has an empty path.
fn key(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// A JSON object with one entry per line.
struct Keys<'w> {
    out: &'w mut dyn Write,
    is_first: bool,
}

impl Keys<'_> {
    fn begin(&mut self) -> io::Result<()> {
        self.out.write_all(br#"{"version":1,"refs":{"#)
    }

    fn key(&mut self, key: &str) -> io::Result<()> {
        self.out.write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        self.quoted(key)?;
        self.out.write_all(b":")
    }

    /// Writes an entry with JSON as text.
    fn text(&mut self, key: &str, json: &str) -> io::Result<()> {
        self.key(key)?;
        self.out.write_all(b"\"")?;
        put_json(self.out, json)?;
        self.out.write_all(b"\"")
    }

    fn quoted(&mut self, text: &str) -> io::Result<()> {
        put_safe(self.out, &serde_json::to_string(text)?)
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n}}\n")
    }
}

/// Writes JSON inside of a JSON string. JSON has no control characters, so only quotes and backslashes are escaped.
fn put_json(out: &mut dyn Write, json: &str) -> io::Result<()> {
    for part in json.split_inclusive(['"', '\\']) {
        match part.strip_suffix(['"', '\\']) {
            Some(plain) => {
                put_safe(out, plain)?;
                out.write_all(b"\\")?;
                out.write_all(part.strip_prefix(plain).unwrap_or_default().as_bytes())?;
            }
            None => put_safe(out, part)?,
        }
    }
    Ok(())
}

/// Writes a part of a JSON string. Characters that change how a terminal shows text are escaped.
fn put_safe(out: &mut dyn Write, text: &str) -> io::Result<()> {
    for part in text.split_inclusive(is_unsafe) {
        let plain = part.trim_end_matches(is_unsafe);
        out.write_all(plain.as_bytes())?;
        for unit in part.strip_prefix(plain).unwrap_or_default().encode_utf16() {
            write!(out, "\\u{unit:04x}")?;
        }
    }
    Ok(())
}
