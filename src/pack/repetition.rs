//! The document of the whole pack that says once more what the descriptions beside arrays say, as `create`
//! writes it: parsed, it would take more memory than everything else that is known of a pack.

use super::contents::Contents;
use crate::finding::Finding;
use crate::ndl;
use crate::path::MemberPath;

impl Contents {
    /// The same as [`Contents::findings`]. The document of the whole pack is not parsed where that is known
    /// to tell nothing: when it is made of plain descriptions that nothing is wrong with.
    pub(crate) fn findings_sparingly(&mut self) -> Vec<Finding> {
        let Some(document) = self.pack_document.take() else { return self.findings() };
        let text = document.1.text();
        let is_repetition =
            ndl::is_surely_small(text) && self.is_plain_throughout() && self.makes(text, 1);
        let findings = is_repetition.then(|| self.findings());
        self.pack_document = Some(document);
        // What is wrong with a description is wrong with the document as well, at a place of its own there.
        // What is wrong with an array by itself is not.
        let findings = findings.filter(|all| all.is_empty() || all.len() == self.of_arrays().len());
        findings.unwrap_or_else(|| self.findings())
    }

    /// Whether every array has one description and that a plain one, and a name that is nothing else in a
    /// document.
    fn is_plain_throughout(&self) -> bool {
        let is_plain = |path: &MemberPath| self.plain_facts(path).is_some();
        self.arrays.keys().all(|path| is_ordinary(path) && is_plain(path))
    }

    /// What is wrong with arrays by themselves.
    fn of_arrays(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        self.arrays.iter().for_each(|(path, facts)| facts.findings(path, &mut findings));
        findings
    }
}

/// Whether a path makes a group and a name that no rule of the language is about.
fn is_ordinary(path: &MemberPath) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let of_name = |byte: u8| is_letter(byte) || matches!(byte, b'/' | b'-' | b'.');
    let bytes = path.as_str().as_bytes();
    bytes.len() <= 255
        && bytes.iter().copied().all(of_name)
        && path.stem().bytes().next().is_some_and(is_letter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{ArrayFacts, Content, DescriptionFacts, PACK_DOCUMENT, pack_document};
    use super::*;
    use crate::ra::{ElementType, Header};

    /// What is said of an array whose dims are `[2, 3]`, or `[3]`.
    const DESCRIPTIONS: [&str; 9] = [
        "ndarrays:\n  a:\n    shape: [2, 3]\n    type: float32\n",
        "ndarrays:\n  a:\n    shape: [3, 2]\n    type: float32\n    storage:\n      order: row\n",
        "ndarrays:\n  a:\n    shape: [3]\n    type: float32\n    attributes:\n      units: m\n",
        "dimcoords:\n  t:\n    size: 3\n    type: float32\n",
        "dimcoords:\n  t:\n    size: 4\n    type: float32\n",
        "ndarrays:\n  a:\n    shape: [2, t]\n    type: float32\n",
        "ndarrays: {a: {shape: [2, 3], type: float32}}\nattributes: {title: one}\n",
        "ndarrays: {a: {shape: [2, t], type: float32}}\ndimcoords: {t: {size: 3, type: int8}}\n",
        "something: else\n",
    ];

    fn array(is_vector: bool, trailing: u64) -> Content {
        let dims = if is_vector { vec![3] } else { vec![2, 3] };
        let header = Header::new(ElementType::FLOAT32, dims).unwrap();
        let facts = ArrayFacts { header: Ok(header), encoding: None, trailing, data: Ok(()) };
        Content::Array(std::sync::Arc::new(facts))
    }

    fn description(path: &str, text: &str) -> Content {
        Content::Description(Box::new(DescriptionFacts::parse(path, text)))
    }

    prop_compose! {
        fn contents()(
            arrays in proptest::collection::btree_map(
                "(g/|a/|h i/)?(a|t|u|\\.\\.)",
                // The plain and right ones are the most, or nothing would be sparing.
                (any::<bool>(), prop_oneof![9 => Just(0), 1 => Just(5_u64)],
                    prop_oneof![9 => 0..3_usize, 1 => 0..DESCRIPTIONS.len()], 0..40_u8),
                0..6,
            ),
            changed in prop_oneof![8 => Just(None), 1 => Just(Some("# by hand\n")), 1 => Just(Some("x: 1\n"))],
        ) -> Contents {
            let mut contents = Contents::default();
            let mut add = |path: String, content| {
                contents.add(MemberPath::new(path).unwrap(), content);
            };
            for (stem, (is_wrong, trailing, which, others)) in arrays {
                add(format!("{stem}.ra"), array((which == 2) ^ (is_wrong && others < 5), trailing));
                if others > 0 {
                    let path = format!("{stem}.yaml");
                    let content = description(&path, DESCRIPTIONS[which]);
                    add(path, content);
                }
                if others == 39 {
                    let path = format!("{stem}.yml");
                    let content = description(&path, DESCRIPTIONS[0]);
                    add(path, content);
                }
            }
            let text = pack_document(&contents, None) + changed.unwrap_or_default();
            let content = description(PACK_DOCUMENT, &text);
            contents.add(MemberPath::new(PACK_DOCUMENT).unwrap(), content);
            contents
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn what_is_found_sparingly_is_all_that_there_is(contents in contents()) {
            let mut contents = contents;
            let expected = contents.findings();
            let text = contents.pack_document.as_ref().map(|(_, facts)| facts.text().to_owned());
            prop_assert_eq!(contents.findings_sparingly(), expected);
            let document = contents.pack_document.map(|(_, facts)| facts.text().to_owned());
            prop_assert_eq!(document, text);
        }
    }

    #[test]
    fn a_document_that_repeats_is_not_parsed() {
        let mut contents = Contents::default();
        for stem in ["a", "g/b"] {
            let path = format!("{stem}.yaml");
            let content = description(&path, DESCRIPTIONS[0]);
            contents.add(MemberPath::new(path).unwrap(), content);
            contents.add(MemberPath::new(format!("{stem}.ra")).unwrap(), array(false, 5));
        }
        let text = pack_document(&contents, None);
        for (text, is_parsed) in [(text.clone(), false), (text + "# by hand\n", true)] {
            let content = description(PACK_DOCUMENT, &text);
            contents.add(MemberPath::new(PACK_DOCUMENT).unwrap(), content);
            assert_eq!(contents.findings_sparingly().len(), 2);
            let (_, document) = contents.pack_document.as_ref().unwrap();
            assert_eq!(document.is_parsed(), is_parsed);
        }
    }
}
