//! Targets for the tag files of bags, alone and in a bag.

use std::fs;

use ra_pack::bag::{
    BagDeclaration, BagInfo, BagVersion, FetchEntry, PayloadOxum, TagEncoding, manifest_notes,
    parse_fetch_list,
};
use ra_pack::finding::Place;
use ra_pack::manifest::NameEncoding;
use ra_pack::verify::VerifyOptions;
use ra_pack::{Finding, verify};

use crate::verified::scratch;
use crate::zips;

const ENCODINGS: [TagEncoding; 6] = [
    TagEncoding::Utf8,
    TagEncoding::Utf16,
    TagEncoding::Utf16Le,
    TagEncoding::Utf16Be,
    TagEncoding::Latin1,
    TagEncoding::Ascii,
];

/// Reads any bytes as each of the tag files. Findings have existing lines, in order, and writing and reading again
/// gives the same.
pub fn bag_tags(bytes: &[u8]) {
    let (declaration, _) = BagDeclaration::parse(bytes);
    assert_eq!(
        declaration.version.map(BagVersion::name),
        declaration.stated_version.as_deref().filter(|_| declaration.version.is_some())
    );
    for encoding in ENCODINGS {
        assert_eq!(TagEncoding::from_name(encoding.name()), Some(encoding));
        let Some(text) = encoding.decode(bytes) else { continue };
        assert!(!text.contains(&b'\r'));
        if encoding != TagEncoding::Utf8 {
            std::str::from_utf8(&text).unwrap();
        }
        for version in BagVersion::ALL {
            one_text(version, &text);
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        transcode(text);
        if let Some(oxum) = PayloadOxum::parse(text) {
            assert_eq!(PayloadOxum::parse(&oxum.to_string()), Some(oxum));
        }
        // Labels and values that no line can contain.
        let mut info = BagInfo::default();
        for pair in text.split('\u{1}') {
            let (label, value) = pair.split_once('\u{2}').unwrap_or((pair, pair));
            let _ = info.add(label, value);
        }
        read_back(info);
    }
}

/// Checks that a text is the same in every encoding.
fn transcode(text: &str) {
    // A leading mark would be read as a byte order mark and not as text.
    if text.starts_with(['\u{feff}', '\u{fffe}']) {
        return;
    }
    let plain = TagEncoding::Utf8.decode(text.as_bytes()).unwrap();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(TagEncoding::Utf16Be.decode(&big).unwrap(), plain);
    assert_eq!(TagEncoding::Utf16.decode(&big).unwrap(), plain);
    assert_eq!(TagEncoding::Utf16Le.decode(&little).unwrap(), plain);
    let marked = [b"\xff\xfe", &little[..]].concat();
    assert_eq!(TagEncoding::Utf16.decode(&marked).unwrap(), plain);
    let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    if let Some(latin) = latin {
        assert_eq!(TagEncoding::Latin1.decode(&latin).unwrap(), plain);
    }
}

fn one_text(version: BagVersion, text: &[u8]) {
    let lines = text.split(|byte| *byte == b'\n').count() as u64;
    let in_order = |findings: &[Finding]| {
        let line = |finding: &Finding| match finding.place {
            Some(Place::Line { line }) => line,
            _ => panic!("{finding:?}"),
        };
        assert!(findings.is_sorted_by_key(line), "{findings:?}");
        assert!(findings.iter().map(line).all(|line| (1..=lines).contains(&line)), "{findings:?}");
    };
    let (read, faults) = BagInfo::parse(version, text);
    in_order(&faults);
    assert!(read.fields().is_sorted_by_key(|field| field.line));
    let mut info = BagInfo::default();
    for field in read.fields() {
        assert!(!field.value.contains('\n') && !field.label.contains('\n'));
        let _ = info.add(&field.label, &field.value);
    }
    read_back(info);

    for names in [NameEncoding::Percent, NameEncoding::Verbatim] {
        let (list, faults) = parse_fetch_list(names, text);
        in_order(&faults);
        let mut written = String::new();
        for entry in &list {
            let path = entry.path.as_str();
            assert!(path.starts_with("data/"), "{path}");
            let path = match names {
                NameEncoding::Percent => {
                    path.replace('%', "%25").replace('\n', "%0A").replace('\r', "%0D")
                }
                _ => path.to_owned(),
            };
            let length = entry.length.map_or("-".to_owned(), |length| length.to_string());
            written.push_str(&format!("{} {length} {path}\n", entry.url));
        }
        if written.starts_with('\u{feff}') {
            continue; // as a first line, it would be a byte order mark
        }
        let (again, _) = parse_fetch_list(names, written.as_bytes());
        let pairs = |list: &[FetchEntry]| {
            let entries = list.iter();
            entries.map(|entry| (entry.url.clone(), entry.length, entry.path.clone())).collect()
        };
        let (first, second): (Vec<_>, Vec<_>) = (pairs(&list), pairs(&again));
        assert_eq!(first, second);
    }
    in_order(&manifest_notes(version, "manifest-sha256.txt", text));
}

/// Checks that every version reads written metadata unchanged.
fn read_back(mut info: BagInfo) {
    let oxum = PayloadOxum { bytes: u64::MAX, files: 0 };
    info.set_payload(oxum);
    let text = info.to_text();
    for version in BagVersion::ALL {
        let (again, faults) = BagInfo::parse(version, text.as_bytes());
        assert!(faults.is_empty(), "{faults:?}\n{text}");
        let pairs = |info: &BagInfo| {
            let fields = info.fields().iter();
            fields.map(|field| (field.label.clone(), field.value.clone())).collect::<Vec<_>>()
        };
        assert_eq!(pairs(&again), pairs(&info), "{text}");
        let found = again.get("payload-oxum").and_then(|field| PayloadOxum::parse(&field.value));
        assert_eq!(found, Some(oxum));
    }
}

/// The files in the input, in order; separated by lines of four dashes.
const TAG_FILES: [&str; 6] = [
    "bagit.txt",
    "manifest-sha256.txt",
    "bag-info.txt",
    "tagmanifest-sha256.txt",
    "fetch.txt",
    "manifest-md5.txt",
];
const PAYLOAD: [(&str, &[u8], &str); 2] = [
    ("data/a", b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ("data/b", b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
];

/// Verifies a bag with tag files from the input. `verify` reports the same for a directory and a zip, and finds no
/// error only if the manifest has the digests of the payload.
pub fn bag_verify(bytes: &[u8]) {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(6).position(|window| window == b"\n----\n") {
        parts.push(&rest[..=at]);
        rest = &rest[at + 6..];
    }
    parts.push(rest);
    let mut files: Vec<(&str, &[u8])> = TAG_FILES.into_iter().zip(parts).collect();
    // An empty part means that the file is missing.
    files.retain(|(_, content)| !content.is_empty());
    files.extend(PAYLOAD.map(|(name, content, _)| (name, content)));

    let bag = scratch().join("bag");
    let _ = fs::remove_dir_all(&bag);
    fs::create_dir_all(bag.join("data")).unwrap();
    for (name, content) in &files {
        fs::write(bag.join(name), content).unwrap();
    }
    let serialized: Vec<_> =
        files.iter().map(|(name, content)| (format!("bag/{name}"), *content)).collect();
    let zip = scratch().join("bag.zip");
    fs::write(&zip, zips::stored(&serialized)).unwrap();

    let options = VerifyOptions { jobs: Some(1), ..VerifyOptions::default() };
    let report = verify(&bag, &options).unwrap();
    let zipped = verify(&zip, &options).unwrap();
    let codes = |findings: &[ra_pack::Finding]| {
        let mut codes: Vec<_> = findings.iter().map(|finding| finding.code.id()).collect();
        codes.sort_unstable();
        codes
    };
    assert_eq!(
        codes(&report.findings),
        codes(&zipped.findings),
        "\n{:#?}\n{:#?}",
        report.findings,
        zipped.findings
    );
    if report.is_valid() && report.bag.is_some() {
        let manifest = files.iter().find(|(name, _)| *name == TAG_FILES[1]);
        let Some((_, text)) = manifest else { return }; // MD5, which is not computed here
        // The digits are the same in every encoding, except for the NULs of UTF-16.
        let digits: Vec<u8> = text.iter().filter(|byte| **byte != 0).copied().collect();
        let digits = String::from_utf8_lossy(&digits).to_lowercase();
        for (name, _, digest) in PAYLOAD {
            assert!(digits.contains(digest), "{name} is called valid without its digest");
        }
    }
}
