//! Edits of hand-written and generated documents.

use proptest::prelude::*;

use super::super::Datatype;
use super::super::model::{Attribute, Extent, Ndarray};
use super::super::strategies::{document, text};
use super::*;

fn group(path: &str, name: &str) -> Group {
    let ndarray = Ndarray {
        name: name.to_owned(),
        shape: vec![Extent::Fixed(3)],
        datatype: Datatype::Int8,
        value: None,
        attributes: Vec::new(),
        storage: None,
    };
    Group { ndarrays: vec![ndarray], ..Group::new(path) }
}

fn completed(text: &str, more: &[(&str, &str)]) -> Option<String> {
    let more: Vec<_> = more.iter().map(|(path, name)| group(path, name)).collect();
    complete(text, &more)
}

#[test]
fn additions_follow_existing_entries_and_every_comment_stays() {
    let text = "# mine\n/:\n  ndarrays:  # all\n    # first\n    b: {shape: [2],   type: uint8} # b\n\n    # end\n/run1:\n  attributes: {note: 'x # y'}\n";
    let new = completed(text, &[("/", "a"), ("/run1", "c"), ("/run2", "d")]).unwrap();
    assert_eq!(
        new,
        "# mine\n/:\n  ndarrays:  # all\n    # first\n    b: {shape: [2],   type: uint8} # b\n    a:\n      shape: [3]\n      type: int8\n\n    # end\n/run1:\n  attributes: {note: 'x # y'}\n  ndarrays:\n    c:\n      shape: [3]\n      type: int8\n/run2:\n  ndarrays:\n    d:\n      shape: [3]\n      type: int8\n"
    );
}

#[test]
fn a_flat_document_becomes_the_root_group_when_others_are_added() {
    let text =
        "# mine\n\nattributes:\n  note: |\n    one\n\n      two\n  title: \"a\n    b\" # end";
    let flat = completed(text, &[("/", "a")]).unwrap();
    assert!(
        flat.starts_with(text)
            && flat.ends_with("\nndarrays:\n  a:\n    shape: [3]\n    type: int8\n"),
        "{flat}"
    );
    let new = completed(text, &[("/", "a"), ("/run1", "c")]).unwrap();
    assert!(
        new.starts_with("# mine\n\n/:\n  attributes:\n    note: |\n      one\n\n        two\n"),
        "{new}"
    );
    assert_eq!(parse(new.as_bytes()).document.unwrap().groups.len(), 2);
    for text in [
        "{}",
        "# x\n{}\n",
        "ndarrays: {}\n",
        "\u{feff}attributes: {a: 1}\r\n",
        "{ndarrays: {b: {shape: [], type: int8}}}\n",
        "---\n{}\n",
    ] {
        for more in [&[("/", "a")][..], &[("/", "a"), ("/x", "c")]] {
            assert!(completed(text, more).is_some(), "{text:?}");
        }
    }
}

#[test]
fn an_edit_that_would_mean_something_else_is_refused() {
    let text = "/: &x\n  ndarrays: &y\n    b: {shape: [2], type: uint8}\n/z: *x\n";
    assert_eq!(completed(text, &[("/z", "a")]), None);
    assert_eq!(completed("ndarrays:\n", &[("/", "a")]), None);
}

/// Returns the text after attributes of its only array are set, or removed if `None`.
fn with(text: &str, attributes: &[(&str, Option<&str>)]) -> Result<String, String> {
    let mut wanted = parse(text.as_bytes()).document.unwrap();
    let array = &mut wanted.groups[0].ndarrays[0];
    for (name, value) in attributes {
        array.attributes.retain(|known| known.name != *name || value.is_some());
        let Some(value) = value.and_then(|value| Attribute::new(*name, value)) else {
            continue;
        };
        match array.attributes.iter_mut().find(|known| known.name == *name) {
            Some(known) => *known = value,
            None => array.attributes.push(value),
        }
    }
    revise(text, &wanted).map(|new| new.text).map_err(|refusal| refusal.why)
}

#[test]
fn attributes_are_added_changed_and_removed_and_everything_else_stays() {
    let text = "# mine\nndarrays:\n  a: # one\n    shape: [ 2 ]\n    type:  int8\n    attributes:\n      units:   m # short\n\n      # what it is\n      note: 'x'\n    # end\n";
    assert_eq!(with(text, &[("units", Some("K"))]).unwrap(), text.replace("m #", "K #"));
    assert_eq!(
        with(text, &[("long_name", Some("a: b"))]).unwrap(),
        text.replace("'x'\n", "'x'\n      long_name: \"a: b\"\n")
    );
    assert_eq!(
        with(text, &[("units", None)]).unwrap(),
        text.replace("units:   m # short", "# short")
    );
    let flow = "ndarrays: {a: {shape: [2], type: int8, attributes: {units: m, note: 1}}} # x\n";
    assert_eq!(with(flow, &[("units", None)]).unwrap(), flow.replace("units: m, ", ""));
    assert_eq!(
        with(flow, &[("units", Some("hours since 2000-01-01T00:00:00Z"))]).unwrap(),
        flow.replace("units: m", "units: \"hours since 2000-01-01T00:00:00Z\"")
    );
    assert_eq!(
        with(flow, &[("units", None), ("note", None)]).unwrap(),
        flow.replace(", attributes: {units: m, note: 1}", "")
    );
}

#[test]
fn a_canonical_text_stays_canonical() {
    let text =
        "# mine\nndarrays:\n  a:\n    shape: [2]\n    type: int8\n    storage:\n      order: row\n";
    let new = with(text, &[("units", Some("m"))]).unwrap();
    let body = new.strip_prefix("# mine\n").unwrap();
    assert_eq!(parse(new.as_bytes()).document.unwrap().to_yaml(), body);
    assert!(new.find("units") < new.find("storage"));
}

#[test]
fn line_ends_stay_what_they_are() {
    let text = "ndarrays:\r\n  a: {shape: [2], type: int8}\r\n  # end\r\n";
    let new = with(text, &[("units", Some("m"))]).unwrap();
    assert_eq!(new, text.replace("int8", "int8, attributes: {units: m}"));
    let text = "ndarrays:\r\n  a:\r\n    shape: [2]\r\n    type: int8\r\n";
    let new = with(text, &[("units", Some("m"))]).unwrap();
    assert_eq!(new, format!("{text}    attributes:\r\n      units: m\r\n"));
}

#[test]
fn changes_give_their_lines_in_the_new_text() {
    let text = "# mine\nndarrays:\n  a:\n    shape: [2]\n    type: int8 # small\n";
    let mut wanted = parse(text.as_bytes()).document.unwrap();
    let array = &mut wanted.groups[0].ndarrays[0];
    array.shape = vec![Extent::Coord("x".to_owned())];
    array.attributes = ["units", "note"].map(|name| Attribute::new(name, "m").unwrap()).into();
    let changes = revise(text, &wanted).unwrap().changes;
    let told = |change: &ValueChange| {
        let path = change.path.get(2..).unwrap().join(".");
        (path, change.line, change.from.clone(), change.to.clone().unwrap())
    };
    let of = |path: &str, line, from: Option<&str>, to: &str| {
        (path.to_owned(), line, from.map(str::to_owned), to.to_owned())
    };
    assert_eq!(
        changes.iter().map(told).collect::<Vec<_>>(),
        [
            of("a.shape", 4, Some("2"), "x"),
            of("a.attributes.units", 7, None, "m"),
            of("a.attributes.note", 8, None, "m"),
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// For any two documents: the text becomes the wanted one and keeps every comment, or nothing is changed.
    #[test]
    fn a_revised_text_means_what_is_wanted(
        (old, new) in (document(), document()),
        attribute in (text(), text()),
        by_hand in any::<bool>(),
    ) {
        let text = old.to_yaml() + if by_hand { "# by hand\n" } else { "" };
        let mut named = old.clone();
        named.set_attributes(&[Attribute::read(attribute.0, &attribute.1)]);
        for wanted in [&old, &new, &named] {
            let Ok(revised) = revise(&text, wanted) else { continue };
            let said = parse(revised.text.as_bytes());
            prop_assert_eq!(said.document.as_ref(), Some(wanted));
            prop_assert!(!by_hand || revised.text.contains("# by hand\n"), "{}", revised.text);
            prop_assert!(revised.changes.is_empty() || revised.text != text);
            // Empty groups and the form of a document have no values that could be reported.
            let has_values = |group: &Group| {
                !group.attributes.is_empty() || !group.dimcoords.is_empty() || !group.ndarrays.is_empty()
            };
            let is_reported = old.form == wanted.form
                && old.groups.iter().chain(&wanted.groups).all(has_values);
            prop_assert!(!is_reported || revised.text == text || !revised.changes.is_empty());
        }
        // Canonical texts can always be changed.
        if !by_hand && old.form == new.form {
            prop_assert!(revise(&text, &new).is_ok(), "{text}\n{}", new.to_yaml());
        }
    }
}
