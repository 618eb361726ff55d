//! BagIt profiles: the rules of a repository for bags (BagIt Profiles Specification 1.4.0). Nothing is fetched.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{BAG_INFO, BagField, BagInfo, FETCH, PACKAGE_INFO};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding, count_errors};
use crate::fs;
use crate::manifest::beginning;
use crate::message::{Message, counted, listed};
use crate::ndl;
use crate::pack::{BAG_DECLARATION, BAG_PAYLOAD};

/// The label in `bag-info.txt` for the profile of a bag.
pub(crate) const PROFILE_IDENTIFIER: &str = "BagIt-Profile-Identifier";

/// Maximum size of a profile in bytes. Profiles in use have a few thousand.
const MAX_PROFILE: u64 = 1 << 20;
/// Maximum number of asterisks in a list, because the text after each is searched in the name of each file.
const MAX_STARS: usize = 256;
/// Maximum number of names in one message.
const MAX_NAMED: usize = 8;
/// The versions of the specification.
const VERSIONS: [&str; 5] = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0"];
/// The version of profiles that state none.
const UNSTATED_VERSION: &str = "1.1.0";
/// The section about the profile itself.
const INFO: &str = "BagIt-Profile-Info";
/// The section of labels in `bag-info.txt`.
const TAGS: &str = "Bag-Info";
/// Returns an error if a value has another type than a rule needs.
type Check = fn(&Value) -> serde_json::Result<()>;

/// The rules: the name, the version that introduced it as an index of [`VERSIONS`], and the check of its type.
const RULES: [(&str, usize, Check); 16] = [
    (INFO, 0, typed::<BTreeMap<String, String>>),
    (TAGS, 0, typed::<BTreeMap<String, TagRule>>),
    ("Manifests-Required", 0, typed::<Vec<String>>),
    ("Allow-Fetch.txt", 0, typed::<bool>),
    ("Serialization", 0, typed::<Serialization>),
    ("Accept-Serialization", 0, typed::<Vec<String>>),
    ("Accept-BagIt-Version", 0, typed::<Vec<String>>),
    ("Tag-Manifests-Required", 0, typed::<Vec<String>>),
    ("Tag-Files-Required", 0, typed::<Vec<String>>),
    ("Tag-Files-Allowed", 2, typed::<Vec<String>>),
    ("Manifests-Allowed", 3, typed::<Vec<String>>),
    ("Tag-Manifests-Allowed", 3, typed::<Vec<String>>),
    ("Fetch.txt-Required", 4, typed::<bool>),
    ("Data-Empty", 4, typed::<bool>),
    ("Payload-Files-Required", 4, typed::<Vec<String>>),
    ("Payload-Files-Allowed", 4, typed::<Vec<String>>),
];
/// The rules about names: the beginning of the rule, the code, and the beginning and end of the name of a file.
const NAMES: [(&str, Code, &str, &str); 4] = [
    ("Manifests", Code::ProfileManifest, "manifest-", ".txt"),
    ("Tag-Manifests", Code::ProfileManifest, "tagmanifest-", ".txt"),
    ("Tag-Files", Code::ProfileFile, "", ""),
    ("Payload-Files", Code::ProfileFile, "", ""),
];
const EXISTS: &str = "the file exists";
const MISSING: &str = "the file is missing";
/// The MIME types of archives by their extensions, the most usual first.
const MIME_TYPES: [(&str, &[&str]); 4] = [
    (".zip", &["application/zip", "application/x-zip-compressed"]),
    (".tar", &["application/x-tar", "application/tar"]),
    (".tar.gz", &["application/gzip", "application/x-gzip", "application/x-compressed-tar"]),
    (".tar.zst", &["application/zstd"]),
];

/// The rules of a profile.
#[derive(Debug, Clone, Default)]
pub(crate) struct BagProfile {
    rules: Map<String, Value>,
    tags: BTreeMap<String, TagRule>,
}

/// The rule of a label in `bag-info.txt`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct TagRule {
    required: bool,
    values: Vec<String>,
    repeatable: Option<bool>,
    #[serde(rename = "description")]
    _description: Option<String>,
}

/// Whether bags are archives.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Serialization {
    Forbidden,
    Required,
    Optional,
}

/// The parts of a bag that profiles have rules for.
pub(crate) struct ProfiledBag<'a> {
    /// The extension of the archive; empty for a directory.
    pub(crate) extension: &'static str,
    /// The version in `bagit.txt`.
    pub(crate) version: &'a str,
    pub(crate) info: Cow<'a, BagInfo>,
    /// Sizes of all files by their names in the bag. Names of directories end with a slash.
    pub(crate) files: BTreeMap<Cow<'a, str>, u64>,
}

impl BagProfile {
    /// Reads a profile from a JSON file. Also returns warnings about it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read, and [`Error::Refused`] with all errors of the profile.
    pub(crate) fn read(path: &Path) -> Result<(Self, Vec<Finding>)> {
        let (profile, findings) = Self::parse(&fs::read_limited(path, MAX_PROFILE)?);
        Ok((profile, Error::refuse_bad(path, findings)?))
    }

    fn parse(text: &[u8]) -> (Self, Vec<Finding>) {
        let (mut this, mut findings) = (Self::default(), Vec::new());
        match serde_json::from_slice(text) {
            Ok(rules) => this.rules = rules,
            Err(error) => {
                let line = error.line().max(1) as u64;
                findings.push(bad(format!("the profile is not valid: {error}")).at_line(line));
                return (this, findings);
            }
        }
        let stated = this.rules.get(INFO).and_then(|info| info.get("BagIt-Profile-Version"));
        let stated = stated.map_or(UNSTATED_VERSION, |it| it.as_str().unwrap_or_default());
        let (stated, names) = (beginning(stated), RULES.map(|(rule, ..)| rule));
        let version = VERSIONS.iter().position(|version| stated == *version);
        if version.is_none() {
            let finding = bad("the version of the specification is unknown".to_owned());
            findings.push(finding.expected(VERSIONS.join(", "), &*stated));
        }
        this.rules.retain(|name, value| {
            let rule = RULES.iter().find(|(rule, ..)| rule == name);
            findings.push(match (rule, rule.and_then(|(.., check)| check(value).err())) {
                (None, _) => {
                    let finding = bad(format!("the rule `{}` is unknown", beginning(name)));
                    let near = ndl::nearest(name, names);
                    let hint =
                        near.map_or("delete it".to_owned(), |it| format!("did you mean `{it}`?"));
                    finding.warning().hint(hint)
                }
                (Some(_), Some(error)) => {
                    bad(format!("`{name}`: {}", beginning(&error.to_string())))
                }
                (Some((_, since, _)), None) if version.is_some_and(|version| version < *since) => {
                    let finding =
                        bad(format!("`{name}` does not apply to profiles of this version"));
                    finding
                        .warning()
                        .expected(VERSIONS.get(*since..).unwrap_or_default().join(" or "), &*stated)
                }
                (Some(_), None) => return true,
            });
            false
        });
        let tags = this.rules.get(TAGS).map(BTreeMap::deserialize);
        this.tags = tags.transpose().expect("the types were checked").unwrap_or_default();
        // Rules of wrong types are missing here.
        if count_errors(&findings) == u64::from(version.is_none()) {
            this.check_itself(&mut findings);
        }
        (this, findings)
    }

    /// Returns the texts of a list; none if the profile does not have the list.
    fn list(&self, rule: &str) -> Vec<&str> {
        let list = self.rules.get(rule).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).collect()
    }

    fn is_set(&self, rule: &str, value: impl Into<Value>) -> bool {
        self.rules.get(rule) == Some(&value.into())
    }

    /// Returns a text about the profile itself.
    fn text(&self, name: &str) -> &str {
        let info = self.rules.get(INFO);
        info.and_then(|info| info.get(name)?.as_str()).unwrap_or_default().trim()
    }

    /// Returns the URI of the profile, which bags have in `bag-info.txt`.
    pub(crate) fn identifier(&self) -> &str {
        self.text(PROFILE_IDENTIFIER)
    }

    /// Checks the rules of the specification for profiles.
    fn check_itself(&self, findings: &mut Vec<Finding>) {
        let mut check =
            |is_broken: bool, message: String| findings.extend(is_broken.then(|| bad(message)));
        for name in ["Source-Organization", "External-Description", "Version", PROFILE_IDENTIFIER] {
            check(self.text(name).is_empty(), format!("`{INFO}` has no `{name}`"));
        }
        let is_archive = !self.is_set("Serialization", "forbidden");
        for (rule, is_needed) in
            [("Accept-BagIt-Version", true), ("Accept-Serialization", is_archive)]
        {
            check(is_needed && self.list(rule).is_empty(), format!("`{rule}` has no element"));
        }
        let contradicts =
            self.is_set("Fetch.txt-Required", true) && self.is_set("Allow-Fetch.txt", false);
        check(contradicts, "`Fetch.txt-Required` contradicts `Allow-Fetch.txt`".to_owned());
        for (kind, ..) in NAMES {
            let [required, allowed] = ["Required", "Allowed"].map(|end| format!("{kind}-{end}"));
            let (names, list, is_payload) =
                (self.list(&required), self.list(&allowed), kind == "Payload-Files");
            let patterns = Allowed::new(&list);
            let count = patterns.patterns.iter().map(|it| it.matches('*').count()).sum::<usize>();
            check(count > MAX_STARS, format!("`{allowed}` has {count} `*`, more than {MAX_STARS}"));
            for name in names.into_iter().take(MAX_STARS) {
                let shown = beginning(name);
                let is_outside = is_payload && !name.starts_with(BAG_PAYLOAD);
                check(
                    is_outside,
                    format!("`{required}` has a path outside `{BAG_PAYLOAD}`: `{shown}`"),
                );
                let lacks =
                    count <= MAX_STARS && self.rules.contains_key(&allowed) && !patterns.has(name);
                check(
                    lacks,
                    format!("`{required}` has a name that `{allowed}` does not: `{shown}`"),
                );
            }
            for name in list.into_iter().filter(|name| is_payload && name.ends_with('/')) {
                check(
                    true,
                    format!(
                        "`{allowed}` has a directory that does not end with `/*`: `{}`",
                        beginning(name)
                    ),
                );
            }
        }
    }

    /// Returns a finding for each rule that the bag breaks.
    pub(crate) fn check(&self, bag: &ProfiledBag<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        self.check_form(bag, &mut findings);
        self.check_tags(&bag.info, &mut findings);
        self.check_files(bag, &mut findings);
        findings
    }

    /// Checks the container and the version.
    fn check_form(&self, bag: &ProfiledBag<'_>, findings: &mut Vec<Finding>) {
        let accepted = self.list("Accept-Serialization");
        let is_usable = |types: &[&str]| types.iter().any(|it| accepted.contains(it));
        let usable = MIME_TYPES.iter().filter(|(_, types)| is_usable(types));
        let usable = listed(usable.map(|(extension, _)| extension), MAX_NAMED);
        let archive = MIME_TYPES.iter().find(|(extension, _)| *extension == bag.extension);
        let expected = listed(&accepted, MAX_NAMED);
        let found = archive.map_or("a directory".to_owned(), |(_, types)| types.join(" or "));
        let is = |serialization: &str| self.is_set("Serialization", serialization);
        let is_other = archive.is_some_and(|(_, types)| !is_usable(types));
        let versions = self.list("Accept-BagIt-Version");
        let is_old = !versions.contains(&bag.version);
        for (is_broken, rule, expected, found) in [
            (is("forbidden") && archive.is_some(), "Serialization", "a directory", &*found),
            (is("required") && archive.is_none(), "Serialization", &expected, &found),
            (!is("forbidden") && is_other, "Accept-Serialization", &expected, &found),
            (is_old, "Accept-BagIt-Version", &listed(&versions, MAX_NAMED), bag.version),
        ] {
            let finding = broken(Code::ProfileForm, rule, "the bag has another form");
            let has_hint =
                rule.ends_with("Serialization") && !is("forbidden") && !usable.is_empty();
            let hint = format!("create the archive with the extension {usable}");
            let finding = finding.expected(expected, found);
            findings.extend(is_broken.then(|| if has_hint { finding.hint(hint) } else { finding }));
        }
    }

    /// Checks `bag-info.txt`.
    fn check_tags(&self, info: &BagInfo, findings: &mut Vec<Finding>) {
        let mut add = |label: &str, line: u64, message: &str, expected: &str, found: &str| {
            let rule = if label == PROFILE_IDENTIFIER { INFO } else { TAGS };
            let finding = broken(Code::ProfileTag, rule, &format!("`{label}` {message}"));
            let finding = finding.in_member(BAG_INFO).expected(expected, found);
            let label = if is_plain(label) { label } else { "LABEL" };
            let option = match rule {
                INFO => ("profile", "FILE".to_owned()),
                _ => ("bag_info", format!("'{label}=VALUE'")),
            };
            let finding = finding.hint(made_with(option));
            findings.push(if line == 0 { finding } else { finding.at_line(line) });
        };
        let identifiers: Vec<_> =
            info.with_label(PROFILE_IDENTIFIER).map(|field| &*field.value).collect();
        if !identifiers.contains(&self.identifier()) {
            let found =
                if identifiers.is_empty() { "none" } else { &listed(&identifiers, MAX_NAMED) };
            add(PROFILE_IDENTIFIER, 0, "does not name the profile", self.identifier(), found);
        }
        for (label, TagRule { required, values, repeatable, .. }) in &self.tags {
            let fields: Vec<_> = info.with_label(label).collect();
            let allowed = if values.is_empty() { "a value" } else { &listed(values, MAX_NAMED) };
            if *required && fields.is_empty() {
                add(label, 0, "is missing", allowed, "none");
            }
            if let (Some(false), [_, second, ..]) = (repeatable, &fields[..]) {
                add(
                    label,
                    second.line,
                    "is repeated",
                    "1 line",
                    &counted(fields.len() as u64, "line"),
                );
            }
            for BagField { value, line, .. } in fields {
                if !values.is_empty() && !values.contains(value) {
                    add(label, *line, "has another value", allowed, value);
                }
            }
        }
    }

    /// Checks the names and sizes of files.
    fn check_files(&self, bag: &ProfiledBag<'_>, findings: &mut Vec<Finding>) {
        let mut add = |code, rule: &str, member: &str, message: &str| {
            let member = member.strip_prefix(BAG_PAYLOAD).unwrap_or(member);
            let finding = broken(code, rule, message).in_member(member);
            let name = if is_plain(member) { member } else { "GLOB" };
            let digests = if message == EXISTS { "sha256" } else { "sha256,sha512" };
            findings.push(match rule {
                "Payload-Files-Allowed" => {
                    finding.hint(made_with(("exclude", format!("'{name}'"))))
                }
                _ if member.ends_with("manifest-sha512.txt") => {
                    finding.hint(made_with(("digests", digests.to_owned())))
                }
                _ => finding,
            });
        };
        let is_there = |name: &str| {
            let mut inside = bag.files.range::<str, _>((Excluded(name), Unbounded));
            bag.files.contains_key(name) && !name.ends_with('/')
                || name.ends_with('/')
                    && inside.next().is_some_and(|(next, _)| next.starts_with(name))
        };
        for (rule, value) in [("Allow-Fetch.txt", false), ("Fetch.txt-Required", true)] {
            if self.is_set(rule, value) && is_there(FETCH) != value {
                add(Code::ProfileFile, rule, FETCH, if value { MISSING } else { EXISTS });
            }
        }
        for (kind, code, start, end) in NAMES {
            let [required, allowed] = ["Required", "Allowed"].map(|end| format!("{kind}-{end}"));
            for name in self.list(&required).iter().map(|name| format!("{start}{name}{end}")) {
                if !is_there(&name) {
                    add(code, &required, &name, MISSING);
                }
            }
            let list = self.list(&allowed);
            let list = Allowed::new(&list);
            for name in bag
                .files
                .keys()
                .filter(|name| !name.ends_with('/') && self.rules.contains_key(&allowed))
            {
                let is_of_kind = is_of_bag(name) != start.is_empty()
                    && name.starts_with(BAG_PAYLOAD) == (kind == "Payload-Files");
                let short = name.strip_prefix(start).and_then(|name| name.strip_suffix(end));
                if is_of_kind && short.is_some_and(|short| !list.has(short)) {
                    add(code, &allowed, name, EXISTS);
                }
            }
        }
        let payload = bag
            .files
            .iter()
            .filter(|(name, _)| name.starts_with(BAG_PAYLOAD) && !name.ends_with('/'));
        let (count, bytes) = payload
            .fold((0_u64, 0_u64), |(count, sum), (_, size)| (count + 1, sum.saturating_add(*size)));
        if self.is_set("Data-Empty", true) && (count > 1 || bytes > 0) {
            let found = format!("{}, {}", counted(count, "file"), counted(bytes, "byte"));
            let finding = broken(Code::ProfileFile, "Data-Empty", "the bag has a payload");
            findings.push(finding.in_member("data").expected("no file, or one of 0 bytes", found));
        }
    }
}

/// Returns an error if a value has another type.
fn typed<T: DeserializeOwned>(value: &Value) -> serde_json::Result<()> {
    T::deserialize(value).map(drop)
}

fn bad(message: String) -> Finding {
    Finding::new(Code::BadProfile, message)
}

/// Returns the hint that an option of `create` makes a bag that keeps a rule.
fn made_with(option: (&'static str, String)) -> Message {
    Message::from("make the bag with ").call("create", option)
}

/// Returns whether a name can be quoted, and has no characters that are special in a pattern.
fn is_plain(name: &str) -> bool {
    name.chars().all(|letter| letter.is_alphanumeric() || "-_./ ".contains(letter))
}

/// Makes a finding about a rule that a bag breaks.
fn broken(code: Code, rule: &str, message: &str) -> Finding {
    Finding::new(code, format!("{message}, against `{rule}` of the profile"))
}

/// Returns whether BagIt itself, or another rule, says whether the tag file may exist.
fn is_of_bag(name: &str) -> bool {
    let is_manifest = name.strip_prefix("tag").unwrap_or(name).starts_with("manifest-");
    is_manifest && name.strip_suffix(".txt").is_some() && !name.contains('/')
        || [BAG_DECLARATION, BAG_INFO, PACKAGE_INFO, FETCH].contains(&name)
}

/// Names, and patterns in which `*` matches any characters, also slashes.
struct Allowed<'a> {
    names: HashSet<&'a str>,
    patterns: Vec<&'a str>,
}

impl<'a> Allowed<'a> {
    fn new(list: &[&'a str]) -> Self {
        let (patterns, names) = list.iter().partition::<Vec<_>, _>(|name| name.contains('*'));
        Self { names: names.into_iter().collect(), patterns }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name) || self.patterns.iter().any(|pattern| matches(pattern, name))
    }
}

/// Returns whether a name matches a pattern. Each part is found once, so that no pattern takes long.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}
