//! Texts made to hurt: no panic, no overflow of the stack, no memory beyond the bounds.

use std::fmt::Write;

use proptest::prelude::*;

use super::places;
use crate::ndl::{Code, MAX_DIAGNOSTICS, MAX_TEXT, parse, strategies};

/// A document with something of everything.
const SAMPLE: &str = "\
attributes: {title: \"Größe\\n\", n: 0x1F, long: {shape: [2], type: string, value: [a, 'b']}}
dimcoords:
  t: &coord
    size: 3
    type: float32
    value: [1, .5, 2e0]
  u: *coord
ndarrays:
  z:
    shape: [t, null, 4]
    type: {compound: [{x: float32}, {y: {array: {base: int8, shape: [2]}}}]}
    storage: {endian: little, chunk: [1, 1, 1], order: row}
  s:
    shape: []
    type: string
    value: |
      two
      lines
";

#[test]
fn the_sample_breaks_no_rule() {
    assert_eq!(places(&parse(SAMPLE.as_bytes())), Vec::<String>::new());
}

#[test]
fn every_truncation_and_every_changed_byte_is_survived() {
    for end in 0..SAMPLE.len() {
        let _ = parse(&SAMPLE.as_bytes()[..end]);
    }
    for at in 0..SAMPLE.len() {
        for byte in [
            0, b'\t', b'\n', b'\r', b' ', b'"', b'#', b'&', b'\'', b'*', b'-', b':', b'?', b'[',
            b']', b'{', b'}', b'!', b'|', b'%', b'~', b'9', 0x80, 0xC3, 0xFF,
        ] {
            let mut bytes = SAMPLE.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = parse(&bytes);
            bytes.insert(at, byte);
            let _ = parse(&bytes);
        }
    }
}

proptest! {
    #[test]
    fn soups_of_indicators_are_survived(text in "([-?:,\\[\\]{}#&*!|>'\"%@`a~<0 \t\n\r]|: |- |: \\||\n  |\n---\n|&a |\\*a|!!int |é|\u{feff}){0,60}") {
        let parsed = parse(text.as_bytes());
        for finding in &parsed.diagnostics {
            prop_assert!(finding.span.start.offset <= text.len());
        }
    }

    #[test]
    fn bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn mutations_of_documents_are_survived(
        document in strategies::document(),
        at in any::<prop::sample::Index>(),
        insert in "[-?:,\\[\\]{}#&*!|>'\"%@` \n\t]{1,3}",
    ) {
        let mut text = document.to_yaml();
        let mut at = at.index(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, &insert);
        let _ = parse(text.as_bytes());
    }
}

#[test]
fn deep_nesting_is_refused_before_it_is_built() {
    let depths = [200, 20_000];
    for depth in depths {
        for text in [
            "[".repeat(depth),
            "{a: ".repeat(depth),
            "- ".repeat(depth),
            "? ".repeat(depth),
            (0..depth).fold(String::new(), |text, level| {
                if level > 500 { text } else { text + &" ".repeat(level) + "a:\n" }
            }),
            "a: ".to_owned() + &"[".repeat(depth) + &"]".repeat(depth),
        ] {
            let parsed = parse(text.as_bytes());
            assert!(parsed.document.is_none());
            let code = parsed.diagnostics.last().unwrap().code;
            let refused = matches!(code, Code::TooDeep | Code::Syntax | Code::KeyNotText);
            assert!(refused, "{code} {}", &text[..20]);
        }
    }
    let parsed = parse(format!("attributes: {}{}", "[".repeat(101), "]".repeat(101)).as_bytes());
    assert_eq!(places(&parsed), ["NDL009 1:112"]);
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = level - 1;
        let list = vec![format!("*a{before}"); 9].join(", ");
        writeln!(text, "a{level}: &a{level} [{list}]").unwrap();
    }
    let parsed = parse(text.as_bytes());
    assert!(parsed.document.is_none());
    assert_eq!(parsed.diagnostics.last().map(|finding| finding.code), Some(Code::Alias));
}

#[test]
fn aliases_cannot_nest_deeper_than_the_text_may() {
    let mut text = String::from("a0: &a0 [x]\n");
    for level in 1..200 {
        writeln!(text, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.diagnostics.last().map(|finding| finding.code), Some(Code::TooDeep));
}

#[test]
fn a_long_text_cannot_be_multiplied_by_aliases() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 1000].join(","));
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.diagnostics.last().map(|finding| finding.code), Some(Code::Alias));
}

#[test]
fn an_alias_inside_its_own_anchor_is_refused() {
    assert_eq!(places(&parse(b"a: &a\n  - *a\n")), ["NDL008 2:5"]);
}

#[test]
fn a_text_over_the_limit_is_not_read() {
    let parsed = parse(&vec![b' '; MAX_TEXT + 1]);
    assert_eq!(places(&parsed), ["NDL002 1:1"]);
}

#[test]
fn what_the_scanner_reads_ahead_is_bounded() {
    let text = format!("attributes: {{a: [{}]}}", "1,".repeat(3 << 20));
    assert_eq!(places(&parse(text.as_bytes())), ["NDL002 1:1"]);
}

#[test]
fn datatypes_may_nest_as_deep_as_the_text() {
    let levels = 47;
    let datatype = format!("{}int8{}", "{vlen: {base: ".repeat(levels), "}}".repeat(levels));
    let text = format!("ndarrays: {{z: {{shape: [], type: {datatype}}}}}");
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), Vec::<String>::new());
    let document = parsed.document.unwrap();
    assert_eq!(parse(document.to_yaml().as_bytes()).document, Some(document));
}

#[test]
fn findings_are_bounded() {
    let lines: Vec<String> = (0..5000).map(|key| format!("k{key}: 1\nk{key}: 2\n")).collect();
    let text = lines.concat();
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.diagnostics.len(), MAX_DIAGNOSTICS + 1);
    assert_eq!(parsed.diagnostics.last().map(|finding| finding.code), Some(Code::TooManyFindings));
}

#[test]
fn long_mappings_find_their_duplicates_and_their_keys() {
    let lines: Vec<String> = (0..1000).map(|key| format!("  k{key}: {key}\n")).collect();
    let text = format!("attributes:\n{}  k500: again\n", lines.concat());
    let parsed = parse(text.as_bytes());
    assert_eq!(places(&parsed), ["NDL005 1002:3"]);
    assert_eq!(parsed.diagnostics[0].hint.as_deref(), Some("it is first given on line 502"));
    let span = parsed.source.attribute_span("/", None, "k777").unwrap();
    assert_eq!(span.start.line, 779);
}

#[test]
fn what_a_terminal_would_obey_is_escaped_in_findings() {
    let parsed = parse("ndarrays: {z: {shape: [1], type: \"a\\e[2Jb\\u202e\"}}\n".as_bytes());
    let text = parsed.diagnostics[0].to_string();
    assert!(text.contains("\\u{1b}[2Jb\\u{202e}") && !text.contains('\u{1b}'), "{text}");
    let name = parse("ndarrays: {\"a\\e[2Jb\": {shape: [1], type: x}}\n".as_bytes());
    assert!(!name.diagnostics[0].to_string().contains('\u{1b}'));
}
