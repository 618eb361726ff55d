//! Edits of generated documents that have comments wherever YAML allows them.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::edit::revise;
use super::super::{Attribute, Document, Extent, Value, parse};

/// Texts of scalars in each style, and whether only a block may contain them.
const SCALARS: [(&str, bool); 12] = [
    ("m s-1", false),
    ("'it''s # no comment'", false),
    ("\"say \\\"m\\\" # no comment\"", false),
    ("\"\"", false),
    ("!!str 12", false),
    ("&a{} 'anchored'", false),
    ("*t", false),
    ("-1.5e3", false),
    ("\"two\n          lines # no comment\"", false),
    ("plain\n          lines", true),
    ("|-{}\n          # no comment\n\n          x", true),
    (">{}\n          folded\n          text", true),
];

const COMMENTS: [&str; 6] = [
    "",
    " # short",
    "  # \"do not\" change 'it",
    "\t# [x, {y: *z}], &a !b | > - c: d",
    " #",
    " # m # km",
];

/// A document with one array, and the places of its values.
#[derive(Debug, Default)]
struct Sample {
    text: String,
    choices: Vec<u8>,
    taken: usize,
    comments: Vec<String>,
    entries: Vec<Entry>,
    extents: Vec<Range<usize>>,
}

/// An attribute in the text.
#[derive(Debug)]
struct Entry {
    name: String,
    /// From the key to the end of the value.
    at: Range<usize>,
    /// Where the value begins.
    value: usize,
    /// The comment in the header of a block scalar.
    header: String,
}

impl Sample {
    fn new(choices: Vec<u8>) -> Self {
        let mut new = Self { choices, ..Self::default() };
        new.lines("");
        new.push("ndarrays:");
        new.end("  ");
        new.push("  'a':");
        new.end("    ");
        new.push("    type: &t int8");
        new.end("    ");
        new.push("    \"shape\" :");
        new.list();
        new.end("    ");
        new.push("    attributes: ");
        if new.pick(2) == 0 {
            new.push("{");
            for nth in 0..3 {
                new.break_in_flow();
                new.entry(nth, true);
                new.break_in_flow();
                new.push(if nth < 2 { "," } else { "}" });
            }
        } else {
            for nth in 0..3 {
                new.end("      ");
                new.push("      ");
                new.entry(nth, false);
            }
        }
        new.end("    ");
        new
    }

    fn pick(&mut self, of: usize) -> usize {
        self.taken += 1;
        usize::from(self.choices[self.taken % self.choices.len()]) % of
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Chooses a comment and notes it.
    fn comment(&mut self) -> String {
        let comment = COMMENTS[self.pick(COMMENTS.len())];
        if !comment.is_empty() {
            self.comments.push(comment.trim_start().to_owned());
        }
        comment.to_owned()
    }

    /// Ends a line, perhaps with a comment, and adds comments on lines of their own.
    fn end(&mut self, indent: &str) {
        // The last line of a block scalar cannot have a comment.
        let is_text = self.entries.last().is_some_and(|entry| {
            entry.at.end == self.text.len() && self.text[entry.value..].starts_with(['|', '>'])
        });
        if !is_text {
            let comment = self.comment();
            self.push(&comment);
        }
        self.push("\n");
        self.lines(indent);
    }

    fn lines(&mut self, indent: &str) {
        for _ in 0..self.pick(3) {
            let comment = self.comment();
            self.push(&format!("{indent}{}\n", comment.trim_start()));
        }
    }

    fn break_in_flow(&mut self) {
        if self.pick(3) == 0 {
            self.end("          ");
            self.push("          ");
        }
    }

    /// Adds a shape with two extents.
    fn list(&mut self) {
        if self.pick(2) == 0 {
            self.push(" [");
            for text in ["\"x\"", "3"] {
                self.break_in_flow();
                let start = self.text.len();
                self.push(text);
                self.extents.push(start..self.text.len());
                self.break_in_flow();
                self.push(if text == "3" { "]" } else { "," });
            }
        } else {
            for text in ["'x'", "3"] {
                self.end("      ");
                self.push("      - ");
                let start = self.text.len();
                self.push(text);
                self.extents.push(start..self.text.len());
            }
        }
    }

    fn entry(&mut self, nth: usize, in_flow: bool) {
        let name = format!("k{nth}");
        let start = self.text.len();
        let key = ["{}", "'{}'", "\"{}\"", "\"{}\" "][self.pick(4)].replace("{}", &name);
        self.push(&format!("{key}: "));
        let value = self.text.len();
        let all = SCALARS.iter().filter(|(_, in_block)| !(in_flow && *in_block));
        let all: Vec<_> = all.map(|(text, _)| *text).collect();
        let text = all[self.pick(all.len())];
        let header = if text.starts_with(['|', '>']) { self.comment() } else { nth.to_string() };
        self.push(&text.replace("{}", &header));
        let header = if text.starts_with(['|', '>']) { header } else { String::new() };
        self.entries.push(Entry { name, at: start..self.text.len(), value, header });
    }

    fn document(&self) -> Document {
        let parsed = parse(self.text.as_bytes());
        assert!(!parsed.has_errors(), "{}\n{:?}", self.text, parsed.findings);
        parsed.document.unwrap()
    }

    /// Revises the text so that it has these attributes and this shape.
    fn revised(
        &self,
        change: impl FnOnce(&mut Vec<Attribute>, &mut Vec<Extent>),
    ) -> Result<String, String> {
        let mut wanted = self.document();
        let array = &mut wanted.groups[0].ndarrays[0];
        change(&mut array.attributes, &mut array.shape);
        let new = revise(&self.text, &wanted);
        let new = new.map_err(|refusal| format!("{}: {refusal:?}", self.text))?.text;
        let mut from = 0;
        for comment in &self.comments {
            let at = new[from..].find(&**comment);
            from += at.unwrap_or_else(|| panic!("`{comment}` is lost:\n{}\n{new}", self.text));
            from += comment.len();
        }
        assert_eq!(read(&new), read(&wanted.to_yaml()), "{new}");
        Ok(new)
    }

    /// Checks that only these bytes differ, and returns what replaces them.
    fn replaced<'n>(&self, at: &Range<usize>, header: &str, new: &'n str) -> &'n str {
        let after = format!("{header}{}", &self.text[at.end..]);
        let inner = new.strip_prefix(&self.text[..at.start]);
        inner
            .and_then(|new| new.strip_suffix(&*after))
            .unwrap_or_else(|| panic!("{}\n{new}", self.text))
    }
}

/// Reads a document with another parser.
fn read(text: &str) -> serde_yaml::Value {
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn only_the_edited_value_differs_whatever_the_comments(
        choices in vec(any::<u8>(), 64),
        nth in 0_usize..3,
        value in prop_oneof![
            Just(Value::from("km")),
            Just(Value::from("it's # one: \"two\"")),
            Just(Value::from("two\nlines")),
            Just(Value::Int(7)),
            Just(Value::List(vec![Value::Int(1), Value::Int(2)])),
        ],
    ) {
        let sample = Sample::new(choices);
        let entry = &sample.entries[nth];
        let named = |attribute: &Attribute| attribute.name == entry.name;

        let new = sample.revised(|all, _| {
            let new = Attribute::new(&*entry.name, value.clone()).unwrap();
            *all.iter_mut().find(|one| named(one)).unwrap() = new;
        }).unwrap();
        let new = sample.replaced(&(entry.value..entry.at.end), &entry.header, &new);
        let expected = match &value {
            Value::List(_) => read("{shape: [2], type: int64, value: [1, 2]}"),
            value => serde_yaml::to_value(value).unwrap(),
        };
        prop_assert_eq!(read(new), expected);

        let new = sample.revised(|all, _| {
            all.push(Attribute::new("added", value.clone()).unwrap());
        }).unwrap();
        let same = |(a, b): &(u8, u8)| a == b;
        let begin = sample.text.bytes().zip(new.bytes()).take_while(same).count();
        let end = sample.text.bytes().rev().zip(new.bytes().rev()).take_while(same).count();
        prop_assert!(begin + end >= sample.text.len(), "{}\n{}", sample.text, new);

        for (nth, at) in sample.extents.iter().enumerate() {
            let extent = [Extent::Coord("y z".to_owned()), Extent::Fixed(5)][nth].clone();
            let new = sample.revised(|_, shape| shape[nth] = extent).unwrap();
            let new = sample.replaced(at, "", &new);
            prop_assert_eq!(read(new), [read("y z"), read("5")][nth].clone());
        }

        // A value with a comment inside cannot be removed without the comment.
        if let Ok(new) = sample.revised(|all, _| all.retain(|one| !named(one))) {
            let before = sample.text[..entry.at.start].trim_end_matches([' ', '\n', ',', '{']);
            let after = sample.text[entry.at.end..].trim_start_matches([' ', '\t', '\n', ',']);
            prop_assert!(new.starts_with(before) && new.ends_with(after), "{}\n{new}", sample.text);
        }
    }
}
