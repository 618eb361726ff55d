//! Messages that name options, operations and files. Each front end has its own words for these.

use std::borrow::Cow;
use std::fmt;
use std::iter;

use serde::{Serialize, Serializer};

/// The words of a front end for options and operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Words {
    /// Those of the library, as "the option `layout: bagit`".
    Library,
    /// Those of the command, as `--layout bagit`. JSON has them as well, because its format is that of the command.
    Command,
    /// Those of the Python module, as `layout="bagit"`.
    Python,
}

/// Formats a number with its noun.
///
/// ```
/// use ra_pack::message::counted;
///
/// assert_eq!([counted(1, "array"), counted(2, "array")], ["1 array", "2 arrays"]);
/// ```
pub fn counted(number: impl fmt::Display + Copy + PartialEq + From<u8>, noun: &str) -> String {
    let ending = if number == 1.into() { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// Joins the first `most` names, and adds the number of the others.
///
/// ```
/// use ra_pack::message::listed;
///
/// assert_eq!(listed(["a", "b", "c"], 1), "a and 2 more");
/// ```
pub fn listed(names: impl IntoIterator<Item = impl fmt::Display>, most: usize) -> String {
    let mut names = names.into_iter().map(|name| name.to_string());
    let shown = names.by_ref().take(most).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A message or a hint, in parts. `Display` has the words of the library.
///
/// ```
/// use ra_pack::message::{Message, Words};
///
/// let hint = Message::from("leave it out with ").option("exclude");
/// assert_eq!(hint.to_string(), "leave it out with the option `exclude`");
/// assert_eq!(hint.in_words(Words::Command), "leave it out with --exclude");
/// assert_eq!(hint.in_words(Words::Python), "leave it out with `exclude=`");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The parts in their order.
    pub parts: Vec<Part>,
}

/// A part of a [`Message`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Text that is the same for every front end.
    Text(Cow<'static, str>),
    /// An option of the operation that the message is about.
    Option(Choice),
    /// Another operation with an option.
    Call {
        /// The name of the operation.
        operation: &'static str,
        /// The option.
        option: Choice,
        /// The file or directory that the command needs after the option.
        target: Option<Box<Self>>,
    },
    /// A file of the pack that the message is about; the pack itself if the name is empty, and its directory for `/`.
    File(String),
    /// The number of a system error, as ` (os error 2)`. The command does not show it.
    ErrorNumber(i32),
}

/// An option by its name in the library, and its value if the message gives one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The name of the option.
    pub name: &'static str,
    /// The value.
    pub value: Option<String>,
}

impl From<&'static str> for Choice {
    fn from(name: &'static str) -> Self {
        Self { name, value: None }
    }
}

impl<V: Into<String>> From<(&'static str, V)> for Choice {
    fn from((name, value): (&'static str, V)) -> Self {
        Self { name, value: Some(value.into()) }
    }
}

impl Choice {
    fn in_words(&self, words: Words) -> String {
        let value = self.value.as_deref();
        match words {
            Words::Library => {
                let value = value.map_or_else(String::new, |value| format!(": {value}"));
                format!("the option `{}{value}`", self.name)
            }
            Words::Command => {
                let name = match self.name {
                    "reinterpret" => "as",
                    "digests" => "digest",
                    "to" => "format",
                    name => name,
                };
                let value = value.map_or_else(String::new, |value| format!(" {value}"));
                format!("--{}{value}", name.replace('_', "-"))
            }
            Words::Python => self.in_python(),
        }
    }

    fn in_python(&self) -> String {
        let is_placeholder = |value: &str| value.bytes().all(|byte| byte.is_ascii_uppercase());
        // Quotes around a value are those of the shell.
        let literal = |value: &str| match value {
            value if is_placeholder(value) => value.to_owned(),
            value => format!("{:?}", value.trim_matches('\'')),
        };
        let (name, value) = match (self.name, self.value.as_deref()) {
            ("no_external_manifest", _) => ("external_manifest", "False".to_owned()),
            ("exclude", Some(value)) => ("exclude", format!("[{}]", literal(value))),
            ("digests", Some(value)) => {
                ("digests", format!("{:?}", value.split(',').collect::<Vec<_>>()))
            }
            (name @ ("attribute" | "set" | "bag_info"), Some(value)) => {
                let (key, value) = value.split_once('=').unwrap_or((value, "VALUE"));
                let value = value.trim_matches('\'');
                let name = if name == "attribute" { "attrs" } else { name };
                (name, format!("{{{:?}: {}}}", key.replace('\'', ""), literal(value)))
            }
            (name, value) => (name, value.map(literal).unwrap_or_default()),
        };
        format!("`{name}={value}`")
    }

    /// Returns whether the function of Python for an operation has the option. Python installs the command for others.
    fn is_in_python(&self, operation: &str) -> bool {
        matches!(operation, "convert" | "create" | "describe" | "verify")
            && self.name != "sign_with"
    }
}

impl Part {
    fn in_words(&self, words: Words, file: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::Text(text) => text.clone().into_owned(),
            Self::Option(option) => option.in_words(words),
            Self::File(name) => file(name),
            Self::ErrorNumber(_) if words == Words::Command => String::new(),
            Self::ErrorNumber(number) => format!(" (os error {number})"),
            Self::Call { operation, option, target } => match words {
                Words::Library => format!("`{operation}` with {}", option.in_words(words)),
                Words::Python if (*operation, option.name) == ("verify", "recursive") => {
                    "`audit`".to_owned()
                }
                Words::Python if option.is_in_python(operation) => {
                    format!("`{operation}` with {}", option.in_words(words))
                }
                Words::Command | Words::Python => {
                    let words = Words::Command;
                    let target = target.iter().map(|target| target.in_words(words, file));
                    let words: Vec<_> = iter::once(option.in_words(words)).chain(target).collect();
                    format!("`ra-pack {operation} {}`", words.join(" "))
                }
            },
        }
    }
}

impl Message {
    /// Adds text.
    #[must_use]
    pub fn text(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// Adds an option of the operation: its name, or its name and a value.
    #[must_use]
    pub fn option(mut self, option: impl Into<Choice>) -> Self {
        self.parts.push(Part::Option(option.into()));
        self
    }

    /// Adds another operation with an option.
    #[must_use]
    pub fn call(mut self, operation: &'static str, option: impl Into<Choice>) -> Self {
        self.parts.push(Part::Call { operation, option: option.into(), target: None });
        self
    }

    /// Adds another operation on the pack that the message is about.
    #[must_use]
    pub fn call_on_pack(mut self, operation: &'static str, option: impl Into<Choice>) -> Self {
        let target = Some(Box::new(Part::File("/".to_owned())));
        self.parts.push(Part::Call { operation, option: option.into(), target });
        self
    }

    /// Adds a file of the pack, or the pack if `name` is empty.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>) -> Self {
        self.parts.push(Part::File(name.into()));
        self
    }

    /// Adds the parts of another message.
    #[must_use]
    pub fn join(mut self, other: impl Into<Self>) -> Self {
        self.parts.extend(other.into().parts);
        self
    }

    /// Changes the texts, names of files and values of options.
    pub(crate) fn map_texts(mut self, change: impl Fn(&str) -> String) -> Self {
        for part in &mut self.parts {
            match part {
                Part::Text(text) => *text = change(text).into(),
                Part::File(name) => *name = change(name),
                Part::ErrorNumber(_) => {}
                Part::Option(option) | Part::Call { option, .. } => {
                    option.value = option.value.as_deref().map(&change);
                }
            }
        }
        self
    }

    /// Returns the text in the words of a front end. The pack is called `PACK`, and its files are relative to that.
    pub fn in_words(&self, words: Words) -> String {
        self.naming_files(words, |name| match name {
            "" | "/" => "PACK".to_owned(),
            name => format!("PACK/{name}"),
        })
    }

    /// Returns the text in the words of a front end. `file` returns the path of a file of the pack, of the pack for an
    /// empty name, or of the directory that was packed for `/`.
    pub fn naming_files(&self, words: Words, file: impl Fn(&str) -> String) -> String {
        self.parts.iter().map(|part| part.in_words(words, &file)).collect()
    }
}

impl From<&'static str> for Message {
    fn from(text: &'static str) -> Self {
        Self::default().text(text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::default().text(text)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(Words::Library))
    }
}

impl std::error::Error for Message {}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.in_words(Words::Command))
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_front_end_has_its_words() {
        for (message, library, command, python) in [
            (
                Message::from("choose a part with ").option("slice"),
                "choose a part with the option `slice`",
                "choose a part with --slice",
                "choose a part with `slice=`",
            ),
            (
                Message::default().option(("reinterpret", "void")).text(" is for .npy"),
                "the option `reinterpret: void` is for .npy",
                "--as void is for .npy",
                "`reinterpret=\"void\"` is for .npy",
            ),
            (
                Message::from("give ").option(("keep_metadata", "FILE")),
                "give the option `keep_metadata: FILE`",
                "give --keep-metadata FILE",
                "give `keep_metadata=FILE`",
            ),
            (
                Message::from("`a`: ").call("create", ("layout", "bagit")),
                "`a`: `create` with the option `layout: bagit`",
                "`a`: `ra-pack create --layout bagit`",
                "`a`: `create` with `layout=\"bagit\"`",
            ),
            (
                Message::default().call_on_pack("describe", "write"),
                "`describe` with the option `write`",
                "`ra-pack describe --write PACK`",
                "`describe` with `write=`",
            ),
            (
                Message::default().call("describe", ("set", "'a b'.units=UNITS")),
                "`describe` with the option `set: 'a b'.units=UNITS`",
                "`ra-pack describe --set 'a b'.units=UNITS`",
                "`describe` with `set={\"a b.units\": UNITS}`",
            ),
            (
                Message::default().call("create", ("attribute", "title='A few words'")),
                "`create` with the option `attribute: title='A few words'`",
                "`ra-pack create --attribute title='A few words'`",
                "`create` with `attrs={\"title\": \"A few words\"}`",
            ),
            (
                Message::default()
                    .option(("exclude", "'a*'"))
                    .text(" or ")
                    .option("no_external_manifest"),
                "the option `exclude: 'a*'` or the option `no_external_manifest`",
                "--exclude 'a*' or --no-external-manifest",
                "`exclude=[\"a*\"]` or `external_manifest=False`",
            ),
            (
                Message::default()
                    .call_on_pack("verify", "recursive")
                    .text(", ")
                    .call("create", "sign_with"),
                "`verify` with the option `recursive`, `create` with the option `sign_with`",
                "`ra-pack verify --recursive PACK`, `ra-pack create --sign-with`",
                "`audit`, `ra-pack create --sign-with`",
            ),
            (
                Message::from("`x ").file("").text(" ").file("a.ra").text("`"),
                "`x PACK PACK/a.ra`",
                "`x PACK PACK/a.ra`",
                "`x PACK PACK/a.ra`",
            ),
        ] {
            assert_eq!(message.to_string(), library);
            assert_eq!(message.in_words(Words::Command), command);
            assert_eq!(message.in_words(Words::Python), python);
        }
    }
}
