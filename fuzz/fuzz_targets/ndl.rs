//! Any bytes as a description: what is read, written and read again is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ra_pack::ndl;

fuzz_target!(|text: &[u8]| {
    let parsed = ndl::parse(text);
    for finding in &parsed.diagnostics {
        assert!(finding.span.start.offset <= finding.span.end.offset);
    }
    if parsed.has_errors() {
        return;
    }
    let Some(document) = parsed.document else { return };
    let yaml = document.to_yaml();
    let again = ndl::parse(yaml.as_bytes());
    assert!(!again.has_errors(), "{:?}\n{yaml}", again.diagnostics);
    let again = again.document.unwrap();
    // By the text: a NaN differs from itself.
    assert_eq!(again.to_yaml(), yaml);
    assert_eq!(format!("{again:?}"), format!("{document:?}"));
});
