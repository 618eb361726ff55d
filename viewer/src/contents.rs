//! The open pack: what it has, its tree, and the search in it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use ra_pack::archive::MemberKind;
use ra_pack::display::array::{attribute_rows, folded, label};
use ra_pack::display::markdown::{MOST_README, READ_README, READMES, of_markdown};
use ra_pack::display::values::type_name;
use ra_pack::inspect::{ListOptions, Listed};
use ra_pack::path::escape;
use ra_pack::read::MemberInfo;
use ra_pack::{Pack, PackedArray};
use serde_json::{Value, json};

use crate::answer::{Answer, Arguments, Result};
use crate::single;
use crate::source::Source;
use crate::values::Export;

/// Bytes of memory that one read may take. A browser gives a page about 2 GiB.
const MOST_MEMORY: u64 = 512 << 20;

/// Largest number of rows in an answer.
const MOST_ROWS: usize = 1000;

/// A pack that is open. Opening reads only the names.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) pack: Pack,
    /// Bytes of the file.
    size: u64,
    /// Whether the source is a single array.
    pub(crate) is_single: bool,
    members: Vec<MemberInfo>,
    /// Names of arrays in the order of the tree.
    arrays: Vec<String>,
    groups: BTreeMap<String, Group>,
    /// A file that is being passed on.
    pub(crate) export: Option<Export>,
    /// The text of each array that a search looks in: name, title, type and dimensions, in small letters.
    index: OnceCell<Vec<String>>,
}

/// A group of the tree.
#[derive(Debug, Default)]
struct Group {
    groups: Vec<String>,
    /// Positions in the list of arrays.
    arrays: Vec<usize>,
    /// Number of arrays in it and below it.
    all: usize,
}

impl Opened {
    pub(crate) fn new(name: &str) -> Result<Self> {
        let size = ra_pack::read::ReadAt::len(&Source).map_err(|error| error.to_string())?;
        let (pack, is_single) = single::open(name)?;
        let pack = pack.max_bytes(MOST_MEMORY);
        let members = pack.members()?;
        let mut arrays = pack.arrays()?;
        // The files of a group are together.
        arrays.sort_by_cached_key(|name| name.replace('/', "\0"));
        arrays.dedup();
        let groups = groups(&arrays);
        let (name, index, export) = (name.to_owned(), OnceCell::new(), None);
        Ok(Self { name, pack, size, is_single, members, arrays, groups, export, index })
    }

    /// Returns an array in the order of its description.
    pub(crate) fn array(&self, arguments: &Arguments) -> Result<PackedArray> {
        Ok(self.pack.array(arguments.path()?)?.in_shape_order()?)
    }

    pub(crate) fn facts(&self) -> Result {
        let files = || self.members.iter().filter(|member| member.kind == MemberKind::File);
        let names: Vec<&str> = files().map(|member| in_payload(&member.name)).collect();
        let manifests = files().map(|member| &*member.name);
        let manifests =
            manifests.filter(|name| !name.contains('/') && name.starts_with("manifest-"));
        let groups = self.pack.attributes()?;
        let own = groups.iter().find(|group| group.path.trim_matches('/').is_empty());
        let attributes = own.map(|group| attribute_rows(&group.attributes)).unwrap_or_default();
        let title = attributes.iter().find(|[name, _]| name == "title");
        let bytes = files().fold(0_u64, |sum, member| sum.saturating_add(member.size));
        Ok(json!({
            "name": escape(&self.name).to_string(),
            "container": if self.is_single { "array".into() } else { self.pack.container().to_string() },
            "size": self.size,
            "title": title.map(|[_, title]| title),
            "attributes": attributes,
            "readme": self.readme(&names),
            "counts": {
                "arrays": self.arrays.len(),
                "members": names.len(),
                "groups": self.groups.len() - 1,
                "bytes": bytes,
            },
            "manifests": manifests.filter(|name| !name.contains(".txt.")).collect::<Vec<_>>(),
            "only": self.arrays.first().filter(|_| self.is_single),
        })
        .into())
    }

    /// Returns the README of the pack, if there is one that can be read. `verify` reports why another cannot.
    fn readme(&self, names: &[&str]) -> Option<Value> {
        let of_name = |wanted: &&str| names.iter().find(|name| name.eq_ignore_ascii_case(wanted));
        let name = READMES.iter().find_map(of_name)?;
        let text = self.pack.clone().max_bytes(READ_README).read(name).ok()?;
        let text = String::from_utf8_lossy(text.get(..MOST_README).unwrap_or(&text)).into_owned();
        let is_markdown = name.to_ascii_lowercase().ends_with(".md");
        let html = is_markdown.then(|| of_markdown(&text));
        Some(json!({ "name": name, "text": lines(&text), "html": html }))
    }

    /// Answers with the arrays that have all words of a search: in the name or, if `deep`, also in title, type and
    /// names of dimensions.
    pub(crate) fn list(&self, arguments: &Arguments) -> Result {
        let words = arguments.text("search").unwrap_or_default().to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let has_all = |text: &str| words.iter().all(|word| text.contains(word));
        let found: Vec<&String> = if arguments.flag("deep") == Some(true) {
            let all = self.arrays.iter().zip(self.index()?);
            all.filter(|(_, text)| has_all(text)).map(|(name, _)| name).collect()
        } else {
            self.arrays.iter().filter(|name| has_all(&name.to_lowercase())).collect()
        };
        let (from, count) = window(arguments);
        let rows = found.iter().skip(from).take(count).map(|name| row(name));
        let rows: Vec<Value> = rows.collect();
        Ok(json!({ "total": self.arrays.len(), "matched": found.len(), "rows": rows }).into())
    }

    /// Answers with the groups and arrays of one level.
    pub(crate) fn groups(&self, arguments: &Arguments) -> Result {
        let (from, count) = window(arguments);
        let path = arguments.text("group").unwrap_or_default();
        let group = self.groups.get(path).ok_or_else(|| format!("there is no group `{path}`"))?;
        let groups = group.groups.iter().map(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let arrays = self.groups.get(path).map_or(0, |group| group.all);
            let (name, shown) = (escape(name).to_string(), escape(path).to_string());
            json!({ "kind": "group", "path": path, "name": name, "shown": shown, "arrays": arrays })
        });
        let arrays = group.arrays.iter().filter_map(|at| self.arrays.get(*at));
        let rows: Vec<Value> =
            groups.chain(arrays.map(|name| row(name))).skip(from).take(count).collect();
        let total = group.groups.len() + group.arrays.len();
        Ok(Answer::from(json!({ "total": total, "rows": rows })))
    }

    /// Answers with what headers and descriptions say about some arrays; null for those that cannot be read.
    pub(crate) fn rows(&self, arguments: &Arguments) -> Answer {
        let names = arguments.get("paths").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str).take(MOST_ROWS);
        let rows: Vec<Option<Value>> = names.map(|name| self.described(name).ok()).collect();
        json!({ "rows": rows }).into()
    }

    fn described(&self, name: &str) -> Result<Value> {
        let array = self.pack.array(name)?.in_shape_order()?;
        let description = array.description()?;
        let lengths: Vec<String> = array.shape()?.iter().map(u64::to_string).collect();
        Ok(json!({
            "type": type_name(description.as_ref(), array.header()?.element()),
            "shape": folded(&lengths).replace(", ", " × "),
            "title": label(description.as_ref(), false),
        }))
    }

    /// Returns what a search looks in, from all headers and descriptions.
    fn index(&self) -> Result<&Vec<String>> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let listing = self.pack.list(&ListOptions::default())?;
        let texts: HashMap<&str, String> =
            listing.members().map(|member| (member.name, searched(&member))).collect();
        let texts = self.arrays.iter().map(|name| texts.get(&**name).cloned().unwrap_or_default());
        Ok(self.index.get_or_init(|| texts.collect()))
    }
}

/// Returns a row of the list.
fn row(name: &str) -> Value {
    let shown = escape(name.strip_suffix(".ra").unwrap_or(name)).to_string();
    json!({ "kind": "array", "path": name, "name": escape(stem(name)).to_string(), "shown": shown })
}

/// Returns the group of an array or group.
fn above(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(group, _)| group)
}

/// Returns the groups of sorted arrays, by path.
fn groups(arrays: &[String]) -> BTreeMap<String, Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::from([(String::new(), Group::default())]);
    for (at, name) in arrays.iter().enumerate() {
        let mut path = above(name);
        match groups.get_mut(path) {
            Some(group) => group.arrays.push(at),
            None => {
                groups.insert(path.to_owned(), Group { arrays: vec![at], ..Group::default() });
                // Groups that have only groups.
                while !path.is_empty() {
                    let is_new = !groups.contains_key(above(path));
                    groups.entry(above(path).to_owned()).or_default().groups.push(path.to_owned());
                    path = if is_new { above(path) } else { "" };
                }
            }
        }
    }
    // Groups come before those above them in the reverse order of their paths.
    let paths: Vec<String> = groups.keys().rev().cloned().collect();
    for path in paths {
        let Some(group) = groups.get_mut(&path) else { continue };
        group.all += group.arrays.len();
        let all = group.all;
        if !path.is_empty()
            && let Some(group) = groups.get_mut(above(&path))
        {
            group.all += all;
        }
    }
    groups
}

/// Returns the name of a member as the pack shows it, also in a bag.
fn in_payload(name: &str) -> &str {
    name.strip_prefix("data/").filter(|rest| !rest.contains('/')).unwrap_or(name)
}

/// Returns the name of an array in its group, without the extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".ra").unwrap_or(name)
}

fn searched(member: &Listed<'_>) -> String {
    let Some(array) = &member.array else { return String::new() };
    let dimensions = array.dimensions.iter().flatten().copied();
    let parts = [member.name, array.title.as_deref().unwrap_or_default(), &array.type_name()];
    let parts = parts.into_iter().chain(dimensions).collect::<Vec<_>>();
    parts.join("\n").to_lowercase()
}

/// Escapes a text line by line.
pub(crate) fn lines(text: &str) -> String {
    text.lines().map(|line| escape(line).to_string()).collect::<Vec<_>>().join("\n")
}

fn window(arguments: &Arguments) -> (usize, usize) {
    let count = arguments.number("count").unwrap_or(MOST_ROWS).min(MOST_ROWS);
    (arguments.number("from").unwrap_or(0), count)
}
