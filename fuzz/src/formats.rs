//! Targets for bytes in memory: an array, a description, a manifest.

use ra_pack::digest::Algorithm;
use ra_pack::finding::Place;
use ra_pack::manifest::{BlockList, Manifest, NameEncoding};
use ra_pack::ra::{Header, ReadError, decode};
use ra_pack::{AnyArray, RawArray};

/// Reads any bytes as a manifest. If it can be read, writing and reading it again gives the same.
pub fn manifest(text: &[u8]) {
    // BagIt before 1.0 cannot write line ends in names, so it is left out.
    for names in [NameEncoding::Gnu, NameEncoding::Percent] {
        let (manifest, _) = Manifest::parse(Algorithm::Sha256, names, text);
        // In a bag, spaces before a name separate it from the digest. No name there begins with one, because the
        // payload is below `data/`.
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
    }
    let _ = Manifest::parse(Algorithm::Md5, NameEncoding::Verbatim, text);
}

/// Reads any bytes as a list of block digests. If it can be read, each line after the first is one block.
pub fn block_list(text: &[u8]) {
    for names in [NameEncoding::Gnu, NameEncoding::Percent, NameEncoding::Verbatim] {
        let Some(Ok(list)) = BlockList::parse(names, text) else { continue };
        assert!(BlockList::BLOCK_SIZES.contains(&list.block_size()));
        let paths: Vec<_> = list.paths().collect();
        assert!(paths.is_sorted_by(|one, other| one < other));
        let mut lines = 1;
        for path in paths {
            let count = list.count(path.as_str());
            assert!(count > 0 && list.digest(path.as_str(), count - 1).is_some());
            assert!(list.digest(path.as_str(), count).is_none());
            lines += usize::try_from(count).expect("the blocks are in memory");
        }
        let ends = text.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, ends + usize::from(!text.ends_with(b"\n")));
    }
}

/// Reads any bytes as a description. If it can be read, writing and reading it again gives the same.
pub fn ndl(text: &[u8]) {
    let parsed = ra_pack::ndl::parse(text);
    for finding in &parsed.findings {
        let Some(Place::Text { start, end, .. }) = finding.place else { panic!("{finding}") };
        assert!(start <= end);
    }
    // The fast reader and the parser agree.
    let plain = str::from_utf8(text).ok().and_then(ra_pack::ndl::PlainDescription::read);
    if let Some(plain) = plain {
        assert_eq!(parsed.findings, []);
        let names = plain.extents().filter(Result::is_err);
        assert_eq!(parsed.unresolved.len(), names.count());
        let document = parsed.document.as_ref().unwrap();
        let (_, entity) = document.entities().next().unwrap();
        assert_eq!(entity.array().name, plain.name());
        assert_eq!(&entity.array().datatype, plain.datatype());
        assert_eq!(entity.order(), plain.order());
    }
    if parsed.has_errors() {
        return;
    }
    let Some(document) = parsed.document else { return };
    let yaml = document.to_yaml();
    let again = ra_pack::ndl::parse(yaml.as_bytes());
    assert!(!again.has_errors(), "{:?}\n{yaml}", again.findings);
    let again = again.document.unwrap();
    // Compared as text, because a NaN differs from itself.
    assert_eq!(again.to_yaml(), yaml);
    assert_eq!(format!("{again:?}"), format!("{document:?}"));
}

/// Reads any bytes as a RawArray. All readers agree, and writing and reading it again gives the same.
pub fn ra_decode(file: &[u8]) {
    let len = file.len().try_into().unwrap();
    let decoded = decode(file);
    let header = Header::read(&mut &*file);
    assert!(header.is_ok() || decoded.is_err(), "a file without header was decoded");
    let streamed = AnyArray::read_from(file);
    let sized = AnyArray::read_sized(file, len);
    assert_eq!(streamed.is_ok(), sized.is_ok());
    let typed = RawArray::<f32>::read_from(file);
    assert_eq!(typed.is_ok(), RawArray::<f32>::from_bytes(file).is_ok());
    assert_eq!(typed.is_ok(), RawArray::<f32>::read_sized(file, len).is_ok());
    let (Ok(decoded), Ok(array)) = (decoded, streamed) else { return };

    let mut written = Vec::new();
    array.write_to(&mut written).unwrap();
    let again = decode(&written).unwrap();
    // Booleans are written as `uint8`, which has the same width.
    let expected = decoded.header.decoded();
    assert_eq!(again.header.dims(), expected.dims());
    assert_eq!(again.header.element().elbyte(), expected.element().elbyte());
    assert_eq!(again.data, decoded.data);
    match AnyArray::read_sized(&*written, written.len().try_into().unwrap()) {
        Ok(_) => {}
        Err(ReadError::Decode(error)) => panic!("a written file cannot be read: {error}"),
        Err(error) => panic!("{error}"),
    }
}
