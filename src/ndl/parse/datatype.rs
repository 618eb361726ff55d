//! Datatypes: a word, or a mapping with one key.

use std::collections::{HashMap, HashSet};

use super::{DocumentReader, one_of};
use crate::finding::Code;
use crate::ndl::datatype::{Datatype, Integer, RegionSelection, WORDS};
use crate::ndl::node::{Node, NodeKey, NodeKind, child};
use crate::ndl::report::{hint, quote};

/// The keys of datatypes that are mappings, and how to write each.
const FORMS: [(&str, &str); 6] = [
    ("opaque", "add a size: `opaque: {size: 16}`"),
    ("enum", "add members: `enum: {members: {off: 0, on: 1}}`"),
    ("regref", "add a selection: `regref: {selection: block}`"),
    ("compound", "add members: `compound: [{x: float32}, {y: float32}]`"),
    ("vlen", "add a base: `vlen: {base: uint8}`"),
    ("array", "add a base and a shape: `array: {base: float32, shape: [3, 3]}`"),
];

/// Other languages' and libraries' words for the types.
const ALIASES: [(&str, &str); 25] = [
    (
        "bool boolean logical",
        "an enum: `enum: {base: uint8, members: {\"false\": 0, \"true\": 1}}`",
    ),
    ("float real", "`float32` or `float64`"),
    ("single f32 f4", "`float32`"),
    ("double f64 f8", "`float64`"),
    ("half f16", "`float16`"),
    ("bf16", "`bfloat16`"),
    ("int integer", "`int32` or `int64`"),
    ("uint unsigned", "`uint32` or `uint64`"),
    ("byte", "`int8` or `uint8`"),
    ("char", "`int8`, `uint8` or `string`"),
    ("i8", "`int8`"),
    ("short i16", "`int16`"),
    ("i32", "`int32`"),
    ("long i64", "`int64`"),
    ("i128", "`int128`"),
    ("ubyte uchar u8", "`uint8`"),
    ("ushort u16", "`uint16`"),
    ("u32", "`uint32`"),
    ("ulong u64", "`uint64`"),
    ("u128", "`uint128`"),
    ("complex", "`complex64` or `complex128`"),
    ("c64", "`complex64`"),
    ("c128", "`complex128`"),
    ("str text", "`string`"),
    ("datetime date time", "a string, or numbers with an attribute `units`"),
];

impl<'n> DocumentReader<'n, '_, '_> {
    /// Reads a datatype and checks that the size of its elements fits 64 bits.
    pub(in crate::ndl) fn datatype(&mut self, node: &'n Node) -> Option<Datatype> {
        let datatype = self.any_datatype(node)?;
        if datatype.is_fixed_size() && datatype.packed_size().is_none() {
            self.report(Code::DatatypeSize, node.at, "the elements of the datatype are too large")
                .expected("fewer than 2^64 bytes");
            return None;
        }
        Some(datatype)
    }

    /// Reads a datatype of any size. Recursive, as deep as the text is nested.
    fn any_datatype(&mut self, node: &'n Node) -> Option<Datatype> {
        let forms = FORMS.map(|(form, _)| form);
        let map = match &node.kind {
            NodeKind::Scalar(scalar) if !node.is_null() => return self.word(&scalar.text, node),
            NodeKind::Map(map) => map,
            NodeKind::Scalar(_) | NodeKind::List(_) => {
                let finding = self.wrong_kind(node, "the datatype", "a datatype");
                if matches!(node.kind, NodeKind::List(_)) {
                    finding.hint("put the members of a compound under the key `compound`");
                }
                return None;
            }
        };
        let mut entries = map.iter();
        let (Some((key, body)), None) = (entries.next(), entries.next()) else {
            let message = "a datatype is not a word or a mapping with one key";
            self.refuse(Code::DatatypeForm, node, message, one_of(&forms));
            return None;
        };
        match &*key.text {
            "opaque" => self.opaque(body),
            "enum" => self.enumeration(body),
            "regref" => {
                let [selection] = self.parts(body, "`regref`", "`selection`", ["selection"])?;
                let hint = "add `selection: block` or `selection: element`";
                let node = self.required(selection, "selection", body.at, "`regref`", hint)?;
                let choices = [RegionSelection::Block, RegionSelection::Element];
                let choices = choices.map(|selection| (selection.word(), selection));
                let selection =
                    self.choice(node, choices, &[], Code::Selection, "unknown selection")?;
                Some(Datatype::RegRef { selection })
            }
            "compound" => self.compound(body),
            "vlen" => {
                let [base] = self.parts(body, "`vlen`", "`base`", ["base"])?;
                Some(Datatype::Vlen(Box::new(self.base(base, body, "`vlen`")?)))
            }
            "array" => {
                let [base, shape] =
                    self.parts(body, "`array`", "`base` and `shape`", ["base", "shape"])?;
                let base = self.base(base, body, "`array`");
                let hint = "add its shape: `shape: [3, 3]`";
                let node = self.required(shape, "shape", body.at, "`array`", hint)?;
                let shape = self.fixed_shape(node, "the shape of an array datatype")?;
                if let Some(axis) = shape.iter().position(|extent| *extent == 0) {
                    let message = "a length in the shape of an array datatype is zero";
                    self.report(Code::Extent, child(node, axis), message)
                        .expected("an integer, at least 1")
                        .found("0");
                    return None;
                }
                Some(Datatype::Array { base: Box::new(base?), shape })
            }
            other => {
                let message = format!("unknown datatype {}", quote(other));
                self.report(Code::UnknownDatatype, key.at, message)
                    .expected(one_of(&forms))
                    .maybe_hint(hint(other, forms));
                None
            }
        }
    }

    /// Returns the values of the keys that the mapping of a datatype may have.
    fn parts<const N: usize>(
        &mut self,
        body: &'n Node,
        what: &str,
        keys: &str,
        known: [&'static str; N],
    ) -> Option<[Option<&'n Node>; N]> {
        let map = self.map(body, what, keys)?;
        Some(self.fields(map, known, what))
    }

    fn base(&mut self, base: Option<&'n Node>, body: &Node, what: &str) -> Option<Datatype> {
        let hint = "add the type of its elements: `base: float32`";
        let base = self.required(base, "base", body.at, what, hint)?;
        self.any_datatype(base)
    }

    fn word(&mut self, word: &str, node: &Node) -> Option<Datatype> {
        let Some(datatype) = Datatype::from_word(word) else {
            self.unknown_word(word, node);
            return None;
        };
        if !self.strict || !datatype.is_extension() {
            return Some(datatype);
        }
        let hint = match (&datatype, datatype.packed_size()) {
            (Datatype::Complex64, _) => "write `compound: [{r: float32}, {i: float32}]`".to_owned(),
            (Datatype::Complex128, _) => {
                "write `compound: [{r: float64}, {i: float64}]`".to_owned()
            }
            (_, size) => format!("write `opaque: {{size: {}, tag: {word}}}`", size.unwrap_or(0)),
        };
        let message = format!("`{word}` is not a datatype of NDL 0.6.1");
        self.report(Code::Extension, node.at, message).hint(hint);
        None
    }

    fn unknown_word(&mut self, word: &str, node: &Node) {
        if let Some((_, form)) = FORMS.iter().find(|(form, _)| *form == word) {
            let message = format!("the datatype `{word}` is incomplete");
            self.report(Code::DatatypeForm, node.at, message).hint(*form);
            return;
        }
        let folded = word.to_lowercase();
        let mut aliases = ALIASES.iter();
        let alias = aliases.find(|(aliases, _)| aliases.split(' ').any(|alias| alias == folded));
        let known = WORDS.iter().map(|(word, ..)| *word).chain(FORMS.map(|(form, _)| form));
        let hint = match alias {
            Some((_, meant)) => Some(format!("write {meant}")),
            None => hint(word, known),
        };
        let message = format!("unknown datatype {}", quote(word));
        self.report(Code::UnknownDatatype, node.at, message).maybe_hint(hint);
    }

    fn opaque(&mut self, body: &'n Node) -> Option<Datatype> {
        let [size, tag] =
            self.parts(body, "`opaque`", "`size` and optionally `tag`", ["size", "tag"])?;
        let tag = match tag {
            Some(tag) => Some(self.text(tag, "`tag`")?),
            None => None,
        };
        let hint = "add the size of an element in bytes: `size: 16`";
        let size = self.required(size, "size", body.at, "`opaque`", hint)?;
        let message = "invalid size of opaque elements";
        let expected = "a number of bytes, at least 1";
        let size = self.integer(size, 1, Code::OpaqueSize, message, expected)?;
        Some(Datatype::Opaque { size, tag })
    }

    fn enumeration(&mut self, body: &'n Node) -> Option<Datatype> {
        let keys = ["base", "members"];
        let [base, members] =
            self.parts(body, "`enum`", "`members` and optionally `base`", keys)?;
        let base = match base {
            Some(node) => {
                let choices = Integer::ALL.map(|integer| (integer.word(), integer));
                let message = "the base of an enum is not an integer type";
                Some(self.choice(node, choices, &[], Code::EnumBase, message)?)
            }
            None => None,
        };
        let hint = "add the names with their numbers: `members: {off: 0, on: 1}`";
        let node = self.required(members, "members", body.at, "`enum`", hint)?;
        let map = self.map(node, "`members`", "a number for each name")?;
        if map.len() == 0 {
            self.report(Code::EnumMembers, node.at, "the enum has no members")
                .expected("a number for each name");
            return None;
        }
        let before = self.sink.len();
        let mut members = Vec::with_capacity(map.len());
        let mut seen = HashMap::with_capacity(map.len());
        for (key, node) in map.iter() {
            self.member_name(key, "an enum");
            let Some(number) = self.value(node)?.as_integer() else {
                let message = format!("the member {} is not an integer", quote(&key.text));
                self.refuse(Code::EnumMembers, node, message, "an integer");
                continue;
            };
            if let Some(base) = base.filter(|base| !base.holds(number)) {
                let (low, high) = base.range();
                let message = format!("the member {} does not fit the base", quote(&key.text));
                self.report(Code::EnumRange, node.at, message)
                    .expected(format!("{low} to {high} for `{}`", base.word()))
                    .found(number.to_string());
            }
            // A file cannot distinguish two names with the same number.
            if let Some(first) = seen.insert(number, &key.text) {
                self.report(
                    Code::EnumTwice,
                    node.at,
                    format!("two members have the number {number}"),
                )
                .found(format!("{} and {}", quote(first), quote(&key.text)));
            }
            members.push((key.text.clone().into_string(), number));
        }
        if self.sink.len() != before {
            return None;
        }
        let datatype = Datatype::Enum { base, members };
        if datatype.resolved_base().is_none() {
            self.report(Code::EnumRange, node.at, "no integer type holds all members").hint(
                "an enum cannot have both numbers below 0 and numbers above 9223372036854775807",
            );
            return None;
        }
        Some(datatype)
    }

    fn member_name(&mut self, key: &NodeKey, what: &str) -> bool {
        if key.text.is_empty() {
            let message = format!("the name of a member of {what} is empty");
            self.report(Code::Name, key.at, message);
        }
        !key.text.is_empty()
    }

    fn compound(&mut self, body: &'n Node) -> Option<Datatype> {
        let NodeKind::List(list) = &body.kind else {
            let message = "the members of a compound are not a list";
            let expected = "a list, because the order of members matters";
            self.refuse(Code::CompoundMember, body, message, expected)
                .hint("write `- name: type` for each member");
            return None;
        };
        if list.is_empty() {
            self.report(Code::CompoundMember, body.at, "the compound has no members");
            return None;
        }
        let mut members = Vec::with_capacity(list.len());
        let mut seen = HashSet::with_capacity(list.len());
        let mut complete = true;
        for node in list {
            let entry = match &node.kind {
                NodeKind::Map(map) if map.len() == 1 => map.iter().next(),
                _ => None,
            };
            let Some((key, node)) = entry else {
                let message = "a member of a compound is not a mapping with one key";
                self.refuse(Code::CompoundMember, node, message, "`name: type`")
                    .hint("begin each member with its own `- `");
                complete = false;
                continue;
            };
            complete &= self.member_name(key, "a compound");
            if !seen.insert(&*key.text) {
                let message = format!("two members have the name {}", quote(&key.text));
                self.report(Code::CompoundTwice, key.at, message);
                complete = false;
            }
            // A member may be called `array`; then its type is also one of the mappings.
            let is_form = |key: &NodeKey| FORMS.iter().any(|(form, _)| *form == &*key.text);
            if is_form(key)
                && matches!(&node.kind, NodeKind::Map(map) if !map.iter().all(|(key, _)| is_form(key)))
            {
                self.report(Code::CompoundMember, key.at, "the member has no name")
                    .expected("`name: type`")
                    .found(format!("the type {}", quote(&key.text)))
                    .hint(format!("write `- name: {{{}: …}}`", key.text));
                complete = false;
                continue;
            }
            match self.any_datatype(node) {
                Some(datatype) => members.push((key.text.clone().into_string(), datatype)),
                None => complete = false,
            }
        }
        complete.then_some(Datatype::Compound(members))
    }
}
