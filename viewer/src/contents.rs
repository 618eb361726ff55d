//! The open pack: what it has, its tree, and the search in it.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use ra_pack::archive::MemberKind;
use ra_pack::display::array::{attribute_rows, folded};
use ra_pack::display::markdown::of_markdown;
use ra_pack::inspect::{ListOptions, ListOrder, Listed, Listing};
use ra_pack::path::escape;
use ra_pack::{Pack, PackedArray};
use serde_json::{Value, json};

use crate::answer::{Answer, Arguments, Result};
use crate::single;
use crate::source::Source;
use crate::values::Export;

/// Bytes of memory that one read may take. A browser gives a page about 2 GiB.
const MOST_MEMORY: u64 = 512 << 20;

/// Largest README that is shown, in bytes.
const MOST_README: usize = 32 * 1024;

/// Largest number of rows in an answer.
const MOST_ROWS: usize = 1000;

/// Names of READMEs, as in a report.
const READMES: [&str; 4] = ["readme.md", "readme.txt", "readme", "readme.rst"];

/// A pack that is open.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) pack: Pack,
    /// Bytes of the file.
    size: u64,
    /// Whether the source is a single array.
    pub(crate) is_single: bool,
    listing: Listing,
    /// Numbers of the arrays in the listing, in the order of the tree.
    arrays: Vec<usize>,
    groups: BTreeMap<String, Group>,
    /// A file that is being passed on.
    pub(crate) export: Option<Export>,
    /// What the search looks in: names, titles, types and dimensions, in small letters.
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
        let options = ListOptions { order: ListOrder::Tree, ..ListOptions::default() };
        let listing = pack.list(&options)?;
        let mut arrays = Vec::new();
        let mut groups = BTreeMap::from([(String::new(), Group::default())]);
        for (number, member) in listing.members().enumerate() {
            if member.array.is_none() {
                continue;
            }
            let group = member.name.rsplit_once('/').map_or("", |(group, _)| group);
            add(&mut groups, group, Some(arrays.len()));
            arrays.push(number);
        }
        let (name, index, export) = (name.to_owned(), OnceCell::new(), None);
        Ok(Self { name, pack, size, is_single, listing, arrays, groups, export, index })
    }

    /// Returns an array in the order of its description.
    pub(crate) fn array(&self, arguments: &Arguments) -> Result<PackedArray> {
        Ok(self.pack.array(arguments.path()?)?.in_shape_order()?)
    }

    /// Returns the member of an array.
    pub(crate) fn member(&self, path: &str) -> Option<Listed<'_>> {
        self.members().find(|member| member.name == path)
    }

    /// Returns all arrays in the order of the tree.
    pub(crate) fn members(&self) -> impl Iterator<Item = Listed<'_>> {
        self.arrays.iter().map(|number| self.listing.member(*number))
    }

    pub(crate) fn facts(&self) -> Result {
        let files = || self.listing.names().filter(|(_, kind)| *kind == MemberKind::File);
        let at_root = |name: &&str| !name.contains('/');
        let manifests: Vec<&str> = files().map(|(name, _)| name).filter(at_root).collect();
        let has_blocks = manifests.contains(&"blocks-sha256.txt");
        let manifests: Vec<&str> =
            manifests.into_iter().filter(|name| name.starts_with("manifest-")).collect();
        let attributes = attribute_rows(&self.listing.attributes);
        let title = attributes.iter().find(|[name, _]| name == "title");
        let bytes =
            self.listing.members().fold(0_u64, |sum, member| sum.saturating_add(member.bytes));
        let only = (self.arrays.len() == 1).then(|| self.members().next()).flatten();
        Ok(json!({
            "name": self.name,
            "container": if self.is_single { "array".into() } else { self.pack.container().to_string() },
            "size": self.size,
            "title": title.map(|[_, title]| title),
            "attributes": attributes,
            "readme": self.readme(),
            "counts": {
                "arrays": self.arrays.len(),
                "members": files().count(),
                "groups": self.groups.len() - 1,
                "bytes": bytes,
            },
            "manifests": manifests,
            "block_digests": has_blocks,
            "only": only.filter(|_| self.is_single).map(|member| member.name.to_owned()),
        })
        .into())
    }

    /// Returns the README of the pack, if there is one that can be read. `verify` reports why another cannot.
    fn readme(&self) -> Option<Value> {
        let of_name = |wanted: &&str| {
            let mut names = self.listing.names();
            let found = names.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(name, _)| name)
        };
        let name = READMES.iter().find_map(of_name)?;
        let text = self.pack.clone().max_bytes(1 << 20).read(name).ok()?;
        let text = String::from_utf8_lossy(text.get(..MOST_README).unwrap_or(&text)).into_owned();
        let is_markdown = name.to_ascii_lowercase().ends_with(".md");
        let html = is_markdown.then(|| of_markdown(&text));
        Some(json!({ "name": name, "text": lines(&text), "html": html }))
    }

    /// Answers with rows of the arrays that have all words of a search.
    pub(crate) fn list(&self, arguments: &Arguments) -> Result {
        let (from, count) = window(arguments);
        let words = arguments.text("search").unwrap_or_default().to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let matched: Vec<usize> = if words.is_empty() {
            (0..self.arrays.len()).collect()
        } else {
            let index = self.index.get_or_init(|| self.members().map(|it| searched(&it)).collect());
            let all = index.iter().enumerate();
            let found = all.filter(|(_, text)| words.iter().all(|word| text.contains(word)));
            found.map(|(at, _)| at).collect()
        };
        let rows = matched.iter().skip(from).take(count).filter_map(|at| self.row(*at));
        let rows: Vec<Value> = rows.collect();
        Ok(json!({ "total": self.arrays.len(), "matched": matched.len(), "rows": rows }).into())
    }

    /// Answers with the groups and arrays of one level.
    pub(crate) fn groups(&self, arguments: &Arguments) -> Result {
        let (from, count) = window(arguments);
        let path = arguments.text("group").unwrap_or_default();
        let group = self.groups.get(path).ok_or_else(|| format!("there is no group `{path}`"))?;
        let groups = group.groups.iter().map(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let arrays = self.groups.get(path).map_or(0, |group| group.all);
            json!({ "kind": "group", "path": path, "name": escape(name).to_string(), "arrays": arrays })
        });
        let rows = groups.chain(group.arrays.iter().filter_map(|at| self.row(*at)));
        let rows: Vec<Value> = rows.skip(from).take(count).collect();
        let total = group.groups.len() + group.arrays.len();
        Ok(Answer::from(json!({ "total": total, "rows": rows })))
    }

    fn row(&self, at: usize) -> Option<Value> {
        let member = self.listing.member(*self.arrays.get(at)?);
        let array = member.array.as_ref()?;
        let lengths: Vec<String> = array.shape.iter().map(u64::to_string).collect();
        Some(json!({
            "kind": "array",
            "path": member.name,
            "name": escape(stem(member.name)).to_string(),
            "type": array.type_name(),
            "shape": folded(&lengths).replace(", ", " × "),
            "dims": array.dimensions,
            "title": array.title.as_ref().map(|title| escape(title).to_string()),
            "bytes": member.bytes,
        }))
    }
}

/// Adds an array to its group, and the group to those above.
fn add(groups: &mut BTreeMap<String, Group>, path: &str, array: Option<usize>) {
    let is_new = !groups.contains_key(path);
    let group = groups.entry(path.to_owned()).or_default();
    group.arrays.extend(array);
    let mut above = Some(path);
    if is_new && let Some((parent, _)) = path.rsplit_once('/').or(Some(("", path))) {
        add(groups, parent, None);
        groups.entry(parent.to_owned()).or_default().groups.push(path.to_owned());
    }
    while let Some(path) = above.filter(|_| array.is_some()) {
        groups.entry(path.to_owned()).or_default().all += 1;
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        above = (!path.is_empty()).then_some(parent);
    }
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
