//! Attributes of a pack and its groups: where they are stated, and how they become part of the document of the pack.
//! Coordinates of the document are read in the same way: without its arrays.

use std::collections::BTreeMap;

use super::DescriptionFacts;
use super::contents::Contents;
use super::described::group_in_pack;
use super::generated::{HEAD, STATED, is_attributes_document, written_part};
use crate::ndl::{self, Attribute, Group, Ndarray};

/// Most bytes of such parts that are read in this way.
const MAX_PART: usize = 1 << 20;

/// Returns the attributes of the pack from a document that states some, as far as ra-pack wrote it.
pub(super) fn stated_attributes(text: &str) -> Option<Vec<Attribute>> {
    let groups = groups_with(ATTRIBUTES, text.strip_prefix(STATED)?.strip_prefix(HEAD)?)?;
    Some(groups.into_iter().find(|group| group.path == "/")?.attributes)
}

/// The first line of the attributes of a group.
const ATTRIBUTES: &str = "  attributes:\n";
/// The first line of the coordinates of a group.
const DIMCOORDS: &str = "  dimcoords:\n";

/// Returns the groups of a canonical text that have this part, without their other content. The arrays, which may be
/// many, are not read.
fn groups_with(part: &str, written: &str) -> Option<Vec<Group>> {
    let (mut kept, mut group, mut is_kept) = (String::new(), "", false);
    for line in written.split_inclusive('\n') {
        match line {
            // An empty line inside a text of several lines.
            "\n" => kept.push_str(if is_kept { line } else { "" }),
            _ if line == part => {
                is_kept = true;
                kept.push_str(group);
                kept.push_str(line);
            }
            _ if line.starts_with("    ") => kept.push_str(if is_kept { line } else { "" }),
            // A key of more than one line.
            _ if line.starts_with('?') => return None,
            _ => {
                is_kept = false;
                group = if line.starts_with(' ') { group } else { line };
            }
        }
    }
    if kept.is_empty() {
        return Some(Vec::new());
    }
    // For longer parts, parsing the document limits the memory.
    if kept.len() > MAX_PART {
        return None;
    }
    Some(ndl::parse(kept.as_bytes()).document?.groups)
}

impl DescriptionFacts {
    /// Returns the groups of the document that have attributes, without their other content.
    pub(crate) fn attributes(&self) -> Vec<Group> {
        let of_written = || groups_with(ATTRIBUTES, written_part(self.text())?);
        let of_document = || {
            let groups = self.document().into_iter().flat_map(|document| &document.groups);
            let groups = groups.filter(|group| !group.attributes.is_empty());
            let only = |group: &Group| Group {
                attributes: group.attributes.clone(),
                ..Group::new(group.path.as_str())
            };
            groups.map(only).collect()
        };
        of_written().unwrap_or_else(of_document)
    }

    /// Returns the coordinates of the document by path.
    pub(crate) fn dimcoords(&self) -> BTreeMap<String, Ndarray> {
        let of = |group: &Group| {
            let path = |one: &Ndarray| ndl::entity_path(&group.path, &one.name);
            group.dimcoords.iter().map(|one| (path(one), one.clone())).collect::<Vec<_>>()
        };
        let written = written_part(self.text()).and_then(|text| groups_with(DIMCOORDS, text));
        if let Some(groups) = written {
            return groups.iter().flat_map(of).collect();
        }
        self.document().iter().flat_map(|document| &document.groups).flat_map(of).collect()
    }
}

impl Contents {
    /// Returns the groups that have attributes in the pack's document or in documents next to arrays, without their
    /// other content.
    pub(crate) fn group_attributes(&self) -> Vec<Group> {
        let of_pack = self.pack_document.as_ref().map(|facts| facts.attributes());
        let root = || vec![Group { attributes: self.attributes.clone(), ..Group::new("/") }];
        let groups = of_pack.unwrap_or_else(root).into_iter();
        let mut groups: BTreeMap<_, _> =
            groups.map(|group| (group.path, group.attributes)).collect();
        self.add_attributes_beside(&mut groups);
        let groups = groups.into_iter().filter(|(_, attributes)| !attributes.is_empty());
        groups.map(|(path, attributes)| Group { attributes, ..Group::new(path) }).collect()
    }

    /// Adds the attributes of groups in documents next to arrays.
    fn add_attributes_beside(&self, groups: &mut BTreeMap<String, Vec<Attribute>>) {
        let beside = self.descriptions.iter().filter(|(_, facts)| !facts.is_plain());
        for (path, facts) in beside.filter(|(path, _)| self.array_beside(path).is_some()) {
            for Group { path: inner, attributes, .. } in facts.attributes() {
                let group = groups.entry(group_in_pack(path.as_str(), &inner)).or_default();
                for attribute in attributes {
                    if group.iter().all(|known| known.name != attribute.name) {
                        group.push(attribute);
                    }
                }
            }
        }
    }

    /// Returns the groups with the attributes that a document of the pack states and no document next to an array has,
    /// without those of the pack itself.
    pub(crate) fn stated_of_groups(&self, facts: &DescriptionFacts) -> Vec<Group> {
        if !is_attributes_document(facts.text()) {
            return Vec::new();
        }
        let mut stated = facts.attributes();
        stated.retain(|group| group.path != "/");
        if stated.is_empty() {
            return stated;
        }
        let mut beside = BTreeMap::new();
        self.add_attributes_beside(&mut beside);
        for group in &mut stated {
            let known = beside.get(&group.path);
            group.attributes.retain(|one| !known.is_some_and(|known| known.contains(one)));
        }
        stated.retain(|group| !group.attributes.is_empty());
        stated
    }

    /// Returns the attributes of the pack itself, such as its title.
    pub(crate) fn own_attributes(&self) -> Vec<Attribute> {
        let groups = self.group_attributes().into_iter();
        groups.filter(|group| group.path == "/").flat_map(|group| group.attributes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::PACK_DOCUMENT;
    use crate::pack::writing::complete::with_attributes;

    fn attribute(name: &str, value: &str) -> Attribute {
        Attribute::new(name, value).unwrap()
    }

    fn facts(text: &str) -> DescriptionFacts {
        DescriptionFacts::parse(PACK_DOCUMENT, text)
    }

    /// Returns a generated document with three groups.
    fn written() -> String {
        let array = "  ndarrays:\n    a:\n      shape: [3]\n      type: int8\n      attributes:\n        title: no\n";
        let root = "/:\n  attributes:\n    title: \"a: b\"\n    note: |\n      one\n\n      two\n";
        format!("{HEAD}{root}{array}\"/a b\":\n{array}/c:\n  attributes:\n    n: 1\n{array}")
    }

    #[test]
    fn attributes_are_equal_with_and_without_reading_the_arrays() {
        let text = written();
        let quickly = facts(&text).attributes();
        // With a comment of its own, the complete document is read.
        assert_eq!(facts(&format!("# mine\n{text}")).attributes(), quickly);
        let [root, c] = &quickly[..] else { panic!("{quickly:?}") };
        assert_eq!((&*root.path, root.attributes.len()), ("/", 2));
        assert_eq!((&*c.path, &*c.attributes[0].name), ("/c", "n"));
        assert_eq!(stated_attributes(&text), None);
        assert_eq!(stated_attributes(&format!("{STATED}{text}")).unwrap(), root.attributes);
    }

    #[test]
    fn coordinates_are_equal_with_and_without_reading_the_arrays() {
        let depth = "  dimcoords:\n    depth:\n      size: 2\n      type: float32\n      value: [5.0, 20.0]\n";
        let array = "  ndarrays:\n    a:\n      shape: [\"depth\"]\n      type: int8\n";
        let written = format!("{HEAD}/:\n{array}/b:\n{depth}{array}");
        let text = facts(&written);
        let quickly = text.dimcoords();
        assert!(!text.is_parsed());
        assert_eq!(facts(&format!("# mine\n{written}")).dimcoords(), quickly);
        assert_eq!(quickly.keys().collect::<Vec<_>>(), ["/b/depth"]);
        assert!(quickly["/b/depth"].value.is_some());
    }

    #[test]
    fn a_generated_document_is_marked_when_attributes_are_added() {
        let text = written();
        let new = with_attributes(&text, &[attribute("title", "c")]).unwrap();
        assert_eq!(new, format!("{STATED}{}", text.replace("\"a: b\"", "c")));
        assert_eq!(with_attributes(&new, &[attribute("title", "c")]).unwrap(), new);
    }

    #[test]
    fn a_hand_written_document_keeps_its_text() {
        let text = "# mine\nattributes: # of all\n  title: a # short\n";
        let new = with_attributes(text, &[attribute("title", "b"), attribute("doi", "c")]);
        assert_eq!(new.unwrap(), text.replace("a # short", "b # short") + "  doi: c\n");
        let text = "# mine\n/run1:\n  attributes: {n: 1}\n";
        let new = with_attributes(text, &[attribute("title", "b")]).unwrap();
        assert_eq!(new, format!("{text}/:\n  attributes:\n    title: b\n"));
    }
}
