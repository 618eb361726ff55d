//! Any bytes as a manifest: what is read, written and read again is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ra_pack::Algorithm;
use ra_pack::manifest::{Manifest, NameEncoding};

fuzz_target!(|text: &[u8]| {
    // BagIt before 1.0 has no way to write a line end, so it is not written.
    for names in [NameEncoding::Gnu, NameEncoding::Percent] {
        let (manifest, _) = Manifest::parse(Algorithm::Sha256, names, text);
        // In a bag blanks before a name separate it from the digest. No name in one begins so: all
        // payload lies below `data/`.
        let blank = |path: &str| path.starts_with([' ', '\t']);
        if names == NameEncoding::Percent
            && manifest.entries().iter().any(|entry| blank(entry.path.as_str()))
        {
            continue;
        }
        let written = manifest.to_text(names);
        let (again, faults) = Manifest::parse(Algorithm::Sha256, names, &written);
        assert!(faults.is_empty(), "{faults:?}");
        let pairs = |manifest: &Manifest| {
            let entries = manifest.entries().iter();
            entries.map(|entry| (entry.path.clone(), entry.digest)).collect::<Vec<_>>()
        };
        assert_eq!(pairs(&again), pairs(&manifest));
        for entry in manifest.entries() {
            let found = Manifest::look_up(Algorithm::Sha256, names, &written, &entry.path);
            assert_eq!(found, Ok(Some(entry.digest)));
        }
    }
    let _ = Manifest::parse(Algorithm::Md5, NameEncoding::Verbatim, text);
});
