//! The text and its YAML.

use super::{Example, Explanation, NDL, OURS, YAML, explanation};

pub(super) const NOT_UTF8: Explanation = Explanation {
    source: YAML,
    text: "A description is UTF-8. A byte order mark at its start is allowed. Texts in Latin-1 or \
     UTF-16 would show other letters to other readers, so they are refused; `iconv -f latin1 -t \
     utf-8` makes them UTF-8.",
    wrong: Example::Sketch(
        "\
attributes: {site: Troms<byte F8>}    (Latin-1)
",
    ),
    right: Example::Document(
        "\
attributes: {site: Tromsø}
",
    ),
};

pub(super) const TOO_LARGE: Explanation = Explanation {
    source: OURS,
    text: "A description may have 64 MiB, four million values, and two million commas and brackets. \
     The limits are some times what 100,000 arrays need; they keep a hostile text from taking \
     all memory. Long values belong into an array file, not into its description.",
    wrong: Example::Sketch(
        "\
ndarrays: {z: {shape: [10000000], type: int8, value: [0, 1, 2, ...]}}
",
    ),
    right: Example::Document(
        "\
ndarrays: {z: {shape: [10000000], type: int8}}
",
    ),
};

pub(super) const SYNTAX: Explanation = explanation(
    YAML,
    "The text cannot be read as YAML at all: a bracket that is not closed, a tab as \
     indentation, a text with `: ` in it that needs quotes, a control character. Nothing after \
     this place is read.",
    "\
attributes:
  title: mooring 7: temperatures
",
    "\
attributes:
  title: \"mooring 7: temperatures\"
",
);

pub(super) const MANY_DOCUMENTS: Explanation = explanation(
    OURS,
    "One file is one document. A second one after `---` would describe nothing: no name says \
     which of them belongs to the array.",
    "\
attributes: {a: 1}
---
attributes: {b: 2}
",
    "\
attributes: {a: 1, b: 2}
",
);

pub(super) const DUPLICATE_KEY: Explanation = explanation(
    YAML,
    "A key stands once in its mapping. Readers of YAML that let it stand twice disagree which \
     value holds, so that one file would mean two things.",
    "\
attributes:
  units: m
  units: km
",
    "\
attributes:
  units: km
",
);

pub(super) const TAG: Explanation = explanation(
    OURS,
    "In NDL the datatype is said by `type`. Tags outside the core schema, such as `!!binary` or \
     `!mine`, mean something to one program only, and a core tag must fit its value.",
    "\
attributes: {count: !!int seven}
",
    "\
attributes: {count: 7}
",
);

pub(super) const MERGE_KEY: Explanation = explanation(
    YAML,
    "Merge keys (`<<`) belong to YAML 1.1. Readers of YAML 1.2 take them for an ordinary key, \
     so they are refused instead of being read in one of two ways. A key that is really called \
     so needs quotes.",
    "\
attributes:
  <<: 1
",
    "\
attributes:
  \"<<\": 1
",
);

pub(super) const ALIAS: Explanation = explanation(
    OURS,
    "An alias (`*name`) must stand outside of what it repeats, and all aliases together may \
     stand for about a million values. Otherwise a few lines could expand to more than any \
     memory holds.",
    "\
attributes: &all
  a: *all
",
    "\
attributes: {a: &one 1, b: *one}
",
);

pub(super) const TOO_DEEP: Explanation = explanation(
    OURS,
    "Lists and mappings nest at most 100 deep. Real descriptions need fewer than 20 levels; \
     without a bound a text of brackets would exhaust the stack of its reader.",
    "\
attributes:
  a:
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
    ]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
",
    "\
attributes: {a: {shape: [1, 1], type: int8, value: [[1]]}}
",
);

pub(super) const KEY_NOT_TEXT: Explanation = explanation(
    NDL,
    "Every key of a description is a name, so it is a text. Numbers and words such as `no` are \
     taken as the text they are written as; lists and mappings cannot be a key.",
    "\
attributes:
  ? [a, b]
  : 1
",
    "\
attributes:
  a, b: 1
",
);

pub(super) const NUMBER_RANGE: Explanation = explanation(
    NDL,
    "The integers of NDL have at most 64 bits, and its floats are at most `float64`. A number \
     that no type holds would be rounded by one reader and refused by another. Quotes make it a \
     text.",
    "\
attributes: {serial: 99999999999999999999}
",
    "\
attributes: {serial: \"99999999999999999999\"}
",
);

pub(super) const TOO_MANY_FINDINGS: Explanation = Explanation {
    source: OURS,
    text: "Only the first 1000 findings of a document are shown. A document with more has one fault \
     many times; put the first right and look again.",
    wrong: Example::Sketch(
        "\
a document with more than 1000 faults
",
    ),
    right: Example::Document(
        "\
{}
",
    ),
};
