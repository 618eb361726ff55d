//! Datatypes: a word, or a mapping with one key.

use super::{Reader, child, one_of};
use crate::ndl::datatype::{Datatype, EXTENSIONS, Integer, Selection, WORDS};
use crate::ndl::diagnostic::{Code, Place, quote};
use crate::ndl::node::{Key, Kind, Node};
use crate::ndl::suggest;

const FORMS: [&str; 6] = ["opaque", "enum", "regref", "compound", "vlen", "array"];

/// What other languages and libraries call the types.
const ALIASES: [(&str, &str); 44] = [
    ("bool", "an enum: `enum: {base: uint8, members: {\"false\": 0, \"true\": 1}}`"),
    ("boolean", "an enum: `enum: {base: uint8, members: {\"false\": 0, \"true\": 1}}`"),
    ("logical", "an enum: `enum: {base: uint8, members: {\"false\": 0, \"true\": 1}}`"),
    ("float", "`float32` or `float64`"),
    ("real", "`float32` or `float64`"),
    ("single", "`float32`"),
    ("double", "`float64`"),
    ("half", "`float16`"),
    ("int", "`int32` or `int64`"),
    ("integer", "`int32` or `int64`"),
    ("uint", "`uint32` or `uint64`"),
    ("unsigned", "`uint32` or `uint64`"),
    ("short", "`int16`"),
    ("ushort", "`uint16`"),
    ("long", "`int64`"),
    ("ulong", "`uint64`"),
    ("byte", "`int8` or `uint8`"),
    ("ubyte", "`uint8`"),
    ("char", "`int8`, `uint8` or `string`"),
    ("uchar", "`uint8`"),
    ("str", "`string`"),
    ("text", "`string`"),
    ("i8", "`int8`"),
    ("i16", "`int16`"),
    ("i32", "`int32`"),
    ("i64", "`int64`"),
    ("i128", "`int128`"),
    ("u8", "`uint8`"),
    ("u16", "`uint16`"),
    ("u32", "`uint32`"),
    ("u64", "`uint64`"),
    ("u128", "`uint128`"),
    ("f16", "`float16`"),
    ("f32", "`float32`"),
    ("f64", "`float64`"),
    ("bf16", "`bfloat16`"),
    ("f4", "`float32`"),
    ("f8", "`float64`"),
    ("complex", "`complex64` or `complex128`"),
    ("c64", "`complex64`"),
    ("c128", "`complex128`"),
    ("datetime", "a string, or numbers with an attribute `units`"),
    ("date", "a string, or numbers with an attribute `units`"),
    ("time", "a string, or numbers with an attribute `units`"),
];

impl<'n> Reader<'n, '_, '_> {
    /// Reads a datatype and checks that its elements have a size that can be.
    pub(in crate::ndl) fn datatype(
        &mut self,
        node: &'n Node,
        place: Place<'_>,
    ) -> Option<Datatype> {
        let datatype = self.any_datatype(node, place)?;
        if datatype.is_fixed_size() && datatype.packed_size().is_none() {
            self.sink
                .error(
                    Code::DatatypeSize,
                    node.at,
                    place,
                    "the elements of the datatype are too large",
                )
                .expected("fewer than 2^64 bytes");
            return None;
        }
        Some(datatype)
    }

    /// Calls itself for datatypes in datatypes, as deep as the text is nested.
    fn any_datatype(&mut self, node: &'n Node, place: Place<'_>) -> Option<Datatype> {
        let map = match &node.kind {
            Kind::Scalar(scalar) if !node.is_null() => return self.word(&scalar.text, node, place),
            Kind::Map(map) => map,
            Kind::Scalar(_) | Kind::List(_) => {
                let finding = self.wrong_kind(node, place, "the datatype", "a datatype");
                if matches!(node.kind, Kind::List(_)) {
                    finding.hint("the members of a compound stand under the key `compound`");
                }
                return None;
            }
        };
        let mut entries = map.iter();
        let (Some((key, body)), None) = (entries.next(), entries.next()) else {
            self.sink
                .error(Code::DatatypeForm, node.at, place, "a datatype is a word or has one key")
                .expected(one_of(&FORMS))
                .found(node.describe());
            return None;
        };
        match &*key.text {
            "opaque" => self.opaque(body, place),
            "enum" => self.enumeration(body, place),
            "regref" => self.regref(body, place),
            "compound" => self.compound(body, place),
            "vlen" => {
                let map = self.map(body, place, "`vlen`", "`base`")?;
                let [base] = self.fields(map, ["base"], place, "`vlen`");
                Some(Datatype::Vlen(Box::new(self.base(base, body, place, "`vlen`")?)))
            }
            "array" => {
                let map = self.map(body, place, "`array`", "`base` and `shape`")?;
                let [base, shape] = self.fields(map, ["base", "shape"], place, "`array`");
                let base = self.base(base, body, place, "`array`");
                let Some(shape) = shape else {
                    self.missing(
                        "shape",
                        body.at,
                        place,
                        "`array`",
                        "add its extents: `shape: [3, 3]`",
                    );
                    return None;
                };
                let node = shape;
                let shape = self.fixed_shape(node, place, "the shape of an array datatype")?;
                if let Some(axis) = shape.iter().position(|extent| *extent == 0) {
                    self.sink
                        .error(
                            Code::Extent,
                            child(node, axis),
                            place,
                            "the extent of an array datatype is not positive",
                        )
                        .expected("an integer, at least 1: elements have a size")
                        .found("0");
                    return None;
                }
                Some(Datatype::Array { base: Box::new(base?), shape })
            }
            other => {
                self.sink
                    .error(
                        Code::UnknownDatatype,
                        key.at,
                        place,
                        format!("unknown datatype {}", quote(other)),
                    )
                    .expected(one_of(&FORMS))
                    .maybe_hint(suggest::hint(other, FORMS));
                None
            }
        }
    }

    fn base(
        &mut self,
        base: Option<&'n Node>,
        body: &Node,
        place: Place<'_>,
        what: &str,
    ) -> Option<Datatype> {
        let Some(base) = base else {
            self.missing(
                "base",
                body.at,
                place,
                what,
                "add the type of its elements: `base: float32`",
            );
            return None;
        };
        self.any_datatype(base, place)
    }

    fn word(&mut self, word: &str, node: &Node, place: Place<'_>) -> Option<Datatype> {
        let Some(datatype) = Datatype::from_word(word) else {
            self.unknown_word(word, node, place);
            return None;
        };
        if self.strict && datatype.is_extension() {
            let hint = match (&datatype, datatype.packed_size()) {
                (Datatype::Complex64, _) => {
                    "write `compound: [{r: float32}, {i: float32}]`".to_owned()
                }
                (Datatype::Complex128, _) => {
                    "write `compound: [{r: float64}, {i: float64}]`".to_owned()
                }
                (_, size) => {
                    format!("write `opaque: {{size: {}, tag: {word}}}`", size.unwrap_or(0))
                }
            };
            self.sink
                .error(
                    Code::Extension,
                    node.at,
                    place,
                    format!("`{word}` is not a datatype of NDL 0.6.1"),
                )
                .hint(hint);
            return None;
        }
        Some(datatype)
    }

    fn unknown_word(&mut self, word: &str, node: &Node, place: Place<'_>) {
        let form = match word {
            "opaque" => Some("it needs a size: `opaque: {size: 16}`"),
            "enum" => Some("it needs members: `enum: {members: {off: 0, on: 1}}`"),
            "regref" => Some("it needs a selection: `regref: {selection: block}`"),
            "compound" => Some("it needs members: `compound: [{x: float32}, {y: float32}]`"),
            "vlen" => Some("it needs a base: `vlen: {base: uint8}`"),
            "array" => Some("it needs a base and a shape: `array: {base: float32, shape: [3, 3]}`"),
            _ => None,
        };
        if let Some(form) = form {
            let message = format!("the datatype `{word}` is incomplete");
            self.sink.error(Code::DatatypeForm, node.at, place, message).hint(form);
            return;
        }
        let folded = word.to_lowercase();
        let known = WORDS.iter().chain(&EXTENSIONS).map(|(word, _)| *word).chain(FORMS);
        let hint = match ALIASES.iter().find(|(alias, _)| *alias == folded) {
            Some((_, meant)) => Some(format!("NDL says {meant}")),
            None => suggest::hint(word, known),
        };
        self.sink
            .error(
                Code::UnknownDatatype,
                node.at,
                place,
                format!("unknown datatype {}", quote(word)),
            )
            .maybe_hint(hint);
    }

    fn opaque(&mut self, body: &'n Node, place: Place<'_>) -> Option<Datatype> {
        let map = self.map(body, place, "`opaque`", "`size` and perhaps `tag`")?;
        let [size, tag] = self.fields(map, ["size", "tag"], place, "`opaque`");
        let tag = match tag {
            Some(tag) => Some(self.text(tag, place, "`tag`")?),
            None => None,
        };
        let Some(size) = size else {
            self.missing(
                "size",
                body.at,
                place,
                "`opaque`",
                "add the bytes of an element: `size: 16`",
            );
            return None;
        };
        let number = self.value(size, place)?.as_integer();
        let number = number.and_then(|number| u64::try_from(number).ok());
        let Some(size) = number.filter(|number| *number > 0) else {
            self.sink
                .error(Code::OpaqueSize, size.at, place, "the size of opaque elements is malformed")
                .expected("a number of bytes, at least 1")
                .found(size.describe());
            return None;
        };
        Some(Datatype::Opaque { size, tag })
    }

    fn enumeration(&mut self, body: &'n Node, place: Place<'_>) -> Option<Datatype> {
        let map = self.map(body, place, "`enum`", "`members` and perhaps `base`")?;
        let [base, members] = self.fields(map, ["base", "members"], place, "`enum`");
        let base = match base {
            Some(node) => Some(self.enum_base(node, place)?),
            None => None,
        };
        let Some(node) = members else {
            let hint = "add the names with their numbers: `members: {off: 0, on: 1}`";
            self.missing("members", body.at, place, "`enum`", hint);
            return None;
        };
        let map = self.map(node, place, "`members`", "a number for each name")?;
        if map.len() == 0 {
            self.sink
                .error(Code::EnumMembers, node.at, place, "the enum has no members")
                .expected("a number for each name");
            return None;
        }
        let before = self.sink.len();
        let mut members = Vec::with_capacity(map.len());
        for (key, node) in map.iter() {
            self.member_name(key, place, "an enum");
            let Some(number) = self.value(node, place)?.as_integer() else {
                let message = format!("the member {} is not an integer", quote(&key.text));
                self.sink
                    .error(Code::EnumMembers, node.at, place, message)
                    .expected("an integer")
                    .found(node.describe());
                continue;
            };
            if let Some(base) = base
                && !base.holds(number)
            {
                let (low, high) = base.range();
                let message = format!("the member {} does not fit the base", quote(&key.text));
                self.sink
                    .error(Code::EnumRange, node.at, place, message)
                    .expected(format!("{low} to {high} for `{}`", base.word()))
                    .found(number.to_string());
            }
            members.push((key.text.clone().into_string(), number));
        }
        self.members_once(map.iter().map(|(_, node)| node), &members, place);
        if self.sink.len() != before {
            return None;
        }
        let datatype = Datatype::Enum { base, members };
        if datatype.resolved_base().is_none() {
            self.sink
                .error(Code::EnumRange, node.at, place, "no integer type holds all members")
                .hint("numbers below 0 and above 9223372036854775807 cannot be in one enum");
            return None;
        }
        Some(datatype)
    }

    fn member_name(&mut self, key: &Key, place: Place<'_>, what: &str) -> bool {
        if key.text.is_empty() {
            let message = format!("the name of a member of {what} is empty");
            self.sink.error(Code::Name, key.at, place, message);
        }
        !key.text.is_empty()
    }

    /// Two names for one number cannot be told apart in a file.
    fn members_once(
        &mut self,
        nodes: impl Iterator<Item = &'n Node>,
        members: &[(String, i128)],
        place: Place<'_>,
    ) {
        let mut sorted: Vec<_> = members.iter().zip(nodes).enumerate().collect();
        if sorted.len() != members.len() {
            return;
        }
        sorted.sort_by_key(|(at, ((_, number), _))| (*number, *at));
        for pair in sorted.windows(2) {
            let [(_, ((first, a), _)), (_, ((second, b), node))] = pair else { continue };
            if a == b {
                let message = format!("two members have the number {a}");
                self.sink.error(Code::EnumTwice, node.at, place, message).found(format!(
                    "{} and {}",
                    quote(first),
                    quote(second)
                ));
            }
        }
    }

    fn enum_base(&mut self, node: &'n Node, place: Place<'_>) -> Option<Integer> {
        let word = match &node.kind {
            Kind::Scalar(scalar) => &*scalar.text,
            _ => "",
        };
        let words = Integer::ALL.map(Integer::word);
        let base = Integer::ALL.into_iter().find(|integer| integer.word() == word);
        if base.is_none() {
            self.sink
                .error(Code::EnumBase, node.at, place, "the base of an enum is an integer type")
                .expected("`int8` to `int64` or `uint8` to `uint64`")
                .found(node.describe())
                .maybe_hint(suggest::hint(word, words));
        }
        base
    }

    fn regref(&mut self, body: &'n Node, place: Place<'_>) -> Option<Datatype> {
        let map = self.map(body, place, "`regref`", "`selection`")?;
        let [selection] = self.fields(map, ["selection"], place, "`regref`");
        let Some(node) = selection else {
            self.missing(
                "selection",
                body.at,
                place,
                "`regref`",
                "add `selection: block` or `selection: element`",
            );
            return None;
        };
        let word = match &node.kind {
            Kind::Scalar(scalar) => &*scalar.text,
            _ => "",
        };
        match word {
            "block" => Some(Datatype::RegRef { selection: Selection::Block }),
            "element" => Some(Datatype::RegRef { selection: Selection::Element }),
            _ => {
                self.sink
                    .error(Code::Selection, node.at, place, "unknown selection")
                    .expected("`block` or `element`")
                    .found(node.describe())
                    .maybe_hint(suggest::hint(word, ["block", "element"]));
                None
            }
        }
    }

    fn compound(&mut self, body: &'n Node, place: Place<'_>) -> Option<Datatype> {
        let Kind::List(list) = &body.kind else {
            self.sink
                .error(Code::CompoundMember, body.at, place, "the members of a compound are a list")
                .expected("a list, because their order counts")
                .found(body.describe())
                .hint("write `- name: type` for each member");
            return None;
        };
        if list.is_empty() {
            self.sink.error(Code::CompoundMember, body.at, place, "the compound has no members");
            return None;
        }
        let mut members = Vec::with_capacity(list.len());
        let mut seen = std::collections::HashSet::with_capacity(list.len());
        let mut complete = true;
        for node in list {
            let entry = match &node.kind {
                Kind::Map(map) if map.len() == 1 => map.iter().next(),
                _ => None,
            };
            let Some((key, node)) = entry else {
                self.sink
                    .error(
                        Code::CompoundMember,
                        node.at,
                        place,
                        "a member is a mapping of one name to its type",
                    )
                    .expected("`name: type`")
                    .found(node.describe())
                    .hint("give each member its own `- `");
                complete = false;
                continue;
            };
            complete &= self.member_name(key, place, "a compound");
            if !seen.insert(&*key.text) {
                let message = format!("two members are called {}", quote(&key.text));
                self.sink.error(Code::CompoundTwice, key.at, place, message);
                complete = false;
            }
            // A member may be called `array`, and then its type is one of the forms as well.
            let is_form = |(key, _): &(Key, Node)| FORMS.contains(&&*key.text);
            if FORMS.contains(&&*key.text)
                && matches!(&node.kind, Kind::Map(map) if !map.iter().all(is_form))
            {
                self.sink
                    .error(Code::CompoundMember, key.at, place, "the member has no name")
                    .expected("`name: type`")
                    .found(format!("the type {}", quote(&key.text)))
                    .hint(format!("write `- name: {{{}: …}}`", key.text));
                complete = false;
                continue;
            }
            match self.any_datatype(node, place) {
                Some(datatype) => members.push((key.text.clone().into_string(), datatype)),
                None => complete = false,
            }
        }
        complete.then_some(Datatype::Compound(members))
    }
}
