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
use crate::json::{self, write_safe};
use crate::ndl::ancestors;
use crate::pack::{self, Placement};
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
            return Err(Refusal::because("a group has the same name, which Zarr does not allow"));
        }
        let reason = "the archive has no single member of this name";
        let member = self.members.get(name).ok_or_else(|| Refusal::because(reason))?;
        ZarrArray::new(group, array, (member, self.file_len.unwrap_or(member.size)), names)
    }

    /// Calls `each` with every group and array, without writing them.
    pub(super) fn survey(&self, mut each: impl FnMut(Node<'_>)) -> Result<()> {
        self.nodes(|node| {
            each(node);
            Ok(())
        })
    }

    /// Writes the references, and leaves out arrays that cannot be in the store. `output` is the name of the output.
    ///
    /// The metadata of all groups and arrays is written once more, under one key, so that readers need not list the
    /// store.
    pub(super) fn write(&self, out: &mut dyn Write, output: &Path) -> Result<()> {
        let failed = |error| Error::io("write", output)(error);
        let mut out = Keys { out, separator: "" };
        out.plain(r#"{"version":1,"refs":{"#).map_err(failed)?;
        self.nodes(|node| {
            let mut put = || {
                for (key, json) in node.documents()?.iter().flatten() {
                    out.key(key)?;
                    out.plain("\"")?;
                    put_json(out.out, json)?;
                    out.plain("\"")?;
                }
                if let Node::Array(array) = &node { self.chunks(array, &mut out) } else { Ok(()) }
            };
            put().map_err(failed)
        })?;
        out.key(".zmetadata").map_err(failed)?;
        out.plain("\"").map_err(failed)?;
        let mut before = r#"{"zarr_consolidated_format":1,"metadata":{"#;
        self.nodes(|node| {
            let mut put = || {
                for (key, json) in node.documents()?.iter().flatten() {
                    put_json(out.out, &format!("{before}{}:{json}", json!(key)))?;
                    before = ",";
                }
                Ok(())
            };
            put().map_err(failed)
        })?;
        put_json(out.out, "}}").and_then(|()| out.plain("\"\n}}\n")).map_err(failed)
    }

    /// Writes the references to the chunks of an array.
    fn chunks(&self, array: &ZarrArray<'_>, out: &mut Keys<'_>) -> io::Result<()> {
        let url = json::text(&self.url_of(array.member))?;
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
            write!(out.out, "[{url},{},{len}]", array.start + offset)
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
}

impl Node<'_> {
    /// Returns the keys and texts of its metadata and attributes; `None` for an array that is not in the store.
    fn documents(&self) -> io::Result<Option<[(String, String); 2]>> {
        let (path, name, metadata, attributes) = match self {
            Self::Group(path, attributes, _) => (path, ".zgroup", GROUP.to_owned(), attributes),
            Self::Array(array) => {
                let metadata = serde_json::to_string(&array.metadata)?;
                (&array.path, ".zarray", metadata, &array.attributes)
            }
            Self::Refused(..) => return Ok(None),
        };
        // The root has an empty path.
        let slash = if path.is_empty() { "" } else { "/" };
        let key = |name| format!("{path}{slash}{name}");
        Ok(Some([(key(name), metadata), (key(".zattrs"), serde_json::to_string(attributes)?)]))
    }
}

/// A JSON object with one entry per line.
struct Keys<'w> {
    out: &'w mut dyn Write,
    separator: &'static str,
}

impl Keys<'_> {
    fn plain(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    fn key(&mut self, key: &str) -> io::Result<()> {
        writeln!(self.out, "{}", self.separator)?;
        self.separator = ",";
        json::write(self.out, &key)?;
        self.plain(":")
    }
}

/// Writes JSON inside of a JSON string. JSON has no control characters, so only quotes and backslashes are escaped.
fn put_json(out: &mut dyn Write, json: &str) -> io::Result<()> {
    for part in json.split_inclusive(['"', '\\']) {
        let plain = part.trim_end_matches(['"', '\\']);
        write_safe(out, plain)?;
        if plain != part {
            write!(out, "\\{}", part.strip_prefix(plain).unwrap_or_default())?;
        }
    }
    Ok(())
}
