//! Round trips of the writer and the reader, and tars with false values.

mod fields;

use std::io::{self, Read};

use proptest::prelude::*;

use super::write::push_record;
use super::*;
use crate::allowance::Allowance;
use crate::archive::NewMember;
use crate::archive::data::tests::{in_file, streaming};

/// Returns a header block as another program would write it, with its checksum.
fn block(name: &[u8], typeflag: u8, size: u64) -> Vec<u8> {
    changed(name, typeflag, size, |_| {})
}

fn changed(name: &[u8], typeflag: u8, size: u64, change: impl FnOnce(&mut tar::Header)) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(tar::EntryType::new(typeflag));
    header.set_size(size);
    header.set_mode(0o644);
    change(&mut header);
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn padded(data: &[u8]) -> Vec<u8> {
    [data, &vec![0; data.len().next_multiple_of(BLOCK) - data.len()]].concat()
}

/// Returns a header block and its data.
fn entry(name: &[u8], typeflag: u8, data: &[u8]) -> Vec<u8> {
    [block(name, typeflag, data.len() as u64), padded(data)].concat()
}

fn file(name: &str) -> Vec<u8> {
    entry(name.as_bytes(), b'0', b"12345")
}

fn ended(parts: &[&[u8]]) -> Vec<u8> {
    [&parts.concat(), &end_mark()[..]].concat()
}

type Found = (Vec<(TarEntry, Vec<u8>)>, Vec<Finding>);

fn walk(mut reader: TarReader<impl Skip>, read_data: bool) -> Found {
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        let mut data = Vec::new();
        if read_data && let Err(error) = reader.read_to_end(&mut data) {
            let TarFault(fault) = error.downcast().unwrap();
            assert_eq!(reader.faults().last(), Some(&fault));
        }
        entries.push((entry, data));
    }
    (entries, reader.finish().unwrap())
}

/// Reads `bytes` in every possible way. All must agree on whether the tar is valid.
fn read(bytes: &[u8]) -> Found {
    let total = Some(bytes.len() as u64);
    let found = walk(TarReader::new(streaming(bytes), None, Allowance::unlimited()), true);
    let skipped = walk(TarReader::new(streaming(bytes), None, Allowance::unlimited()), false);
    let file = walk(TarReader::new(in_file(bytes), total, Allowance::unlimited()), true);
    let passed = walk(TarReader::new(in_file(bytes), total, Allowance::unlimited()), false);
    for other in [&skipped, &file, &passed] {
        assert_eq!(messages(&found.1), messages(&other.1));
    }
    for (entry, data) in &file.0 {
        let from = usize::try_from(entry.data_offset).unwrap();
        assert_eq!(&bytes[from..from + data.len()], data);
        assert_eq!(data.len() as u64, entry.size);
    }
    found
}

fn messages(faults: &[Finding]) -> Vec<&str> {
    faults.iter().map(|fault| &*fault.message).collect()
}

fn place(fault: &Finding) -> u64 {
    match fault.place {
        Some(Place::Byte { offset }) => offset,
        _ => panic!("{fault}"),
    }
}

/// Returns the only fault of `bytes`.
fn fault(bytes: &[u8]) -> Finding {
    let (_, faults) = read(bytes);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.into_iter().next().unwrap()
}

/// Checks that the only fault of `bytes` has that code, and that its message begins with `message`.
fn check(bytes: &[u8], code: Code, message: &str) {
    let fault = fault(bytes);
    assert_eq!(fault.code, code);
    assert!(fault.message.starts_with(message), "{fault}");
}

fn names(bytes: &[u8]) -> Vec<String> {
    let (entries, faults) = read(bytes);
    assert_eq!(faults, []);
    entries.into_iter().map(|(entry, _)| String::from_utf8(entry.name).unwrap()).collect()
}

fn pax(records: &[(&str, &str)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (key, value) in records {
        push_record(&mut payload, key, value.as_bytes());
    }
    entry(b"././@PaxHeader", b'x', &payload)
}

fn member(path: &str, kind: MemberKind, size: u64, modified: u64) -> NewMember<'_> {
    NewMember { path: path.into(), kind, size, modified, align: None }
}

/// Writes a tar with one plain member, a directory, and a member that needs PAX.
fn sample() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, kind, data) in [
        ("a.ra", MemberKind::File, &b"12345"[..]),
        ("run", MemberKind::Directory, b""),
        ("run/größe.ra", MemberKind::File, &[7; 600]),
    ] {
        let member = member(path, kind, data.len() as u64, 315_532_800);
        bytes.extend(entry_header(&member).unwrap());
        bytes.extend(padded(data));
    }
    bytes.extend(end_mark());
    bytes
}

#[test]
fn written_entries_are_read_back() {
    let (entries, faults) = read(&sample());
    assert_eq!(faults, []);
    let found: Vec<_> = entries
        .iter()
        .map(|(entry, data)| {
            let name = str::from_utf8(&entry.name).unwrap();
            (name, &entry.kind, entry.header_offset, entry.data_offset, data.len())
        })
        .collect();
    let expected = [
        ("a.ra", &MemberKind::File, 0, 512, 5),
        ("run/", &MemberKind::Directory, 1024, 1536, 0),
        ("run/größe.ra", &MemberKind::File, 1536, 3072, 600),
    ];
    assert_eq!(found, expected);
}

#[test]
fn every_truncation_is_detected() {
    let bytes = sample();
    for length in 0..bytes.len() {
        let (_, faults) = read(&bytes[..length]);
        assert_eq!(faults.len(), 1, "{length}: {faults:?}");
        let at_a_boundary = [0, 1024, 1536, 4096, 4608].contains(&length);
        assert_eq!(!faults[0].is_error(), at_a_boundary, "{length}: {faults:?}");
    }
}

#[test]
fn every_flipped_bit_outside_the_data_is_detected() {
    let bytes = sample();
    let data = [512..517, 3072..3672];
    let around_checksums = [148, 155].map(|at| [at, 1024 + at, 1536 + at, 2560 + at]).concat();
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (entries, faults) = read(&damaged);
        if data.iter().any(|data| data.contains(&(bit / 8))) {
            assert_eq!((entries.len(), faults.len()), (3, 0), "byte {}", bit / 8);
        } else if around_checksums.contains(&(bit / 8)) && damaged[bit / 8] == b' ' {
            // The same number.
            assert_eq!(faults, []);
        } else if (2048..2560).contains(&(bit / 8)) {
            // A flipped bit in a PAX path gives another path.
            assert!(faults.len() <= 1, "byte {}", bit / 8);
        } else {
            assert_eq!(faults.len(), 1, "byte {}", bit / 8);
        }
    }
}

#[test]
fn a_missing_end_mark_is_a_warning() {
    let none = fault(&file("a"));
    let message = "expected two blocks of zeros at the end, found";
    assert_eq!((&none.message, place(&none)), (&format!("{message} none"), 1024));
    let one = fault(&[file("a"), vec![0; 512]].concat());
    assert_eq!((&one.message, place(&one)), (&format!("{message} one"), 1024));
    assert!(!none.is_error() && !one.is_error());
    check(b"", Code::MissingEndMark, &none.message);
}

#[test]
fn only_zeros_may_follow_the_end_mark() {
    let mut bytes = ended(&[&file("a")]);
    bytes.resize(200_000, 0);
    assert_eq!(names(&bytes), ["a"]);
    bytes.extend(b"hidden");
    assert_eq!(fault(&bytes).code, Code::TrailingBytes);
    assert_eq!(place(&fault(&bytes)), 199_680 + 512 * u64::from(bytes.len() > 200_192));
    let hidden = ended(&[&file("b")]);
    for zeros in [512_u16, 1024, 1536, 10_240, 50_176] {
        let fault = fault(&[file("a"), vec![0; zeros.into()], hidden.clone()].concat());
        assert_eq!((fault.code, place(&fault)), (Code::HiddenMember, 1024 + u64::from(zeros)));
    }
}

#[test]
fn truncated_data_names_its_member() {
    let bytes = [file("a"), block(b"run/b.ra", b'0', 2000), vec![1; 700]].concat();
    let fault = fault(&bytes);
    assert_eq!(fault.code, Code::NotAnArchive);
    assert_eq!((fault.member.as_deref(), place(&fault)), (Some("run/b.ra"), 1536));
    assert_eq!(
        TarFault(fault).to_string(),
        "byte 1536 of the tar, member `run/b.ra`: \
         expected 2000 bytes of data, found 700 before the end of the file"
    );
}

#[test]
fn truncated_padding_is_not_truncated_data() {
    let bytes = [block(b"a", b'0', 5), b"12345\0\0".to_vec()].concat();
    let message = "expected 507 zeros after the data, found the end of the file after 2 bytes";
    check(&bytes, Code::NotAnArchive, message);
}

#[test]
fn nonzero_padding_is_a_warning_and_reading_continues() {
    let mut first = file("a");
    first[512 + 100] = 1;
    let (entries, faults) = read(&ended(&[&first, &file("b")]));
    assert_eq!((entries.len(), faults.len(), faults[0].code), (2, 1, Code::DirtyPadding));
    assert!(!faults[0].is_error());
    assert_eq!((place(&faults[0]), faults[0].member.as_deref()), (517, Some("a")));
}

#[test]
fn false_sizes_end_reading_and_binary_ones_are_read() {
    let with_size = |size: &[u8; 12]| {
        let header = changed(b"a", b'0', 0, |header| header.as_old_mut().size = *size);
        fault(&ended(&[&header, &file("b")]))
    };
    assert_eq!(with_size(b"77777777777\0").code, Code::NotAnArchive);
    for size in [b"\x80\0\0\0\0\0\0\xff\0\0\0\0", b"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"] {
        assert_eq!(with_size(size).code, Code::NotAnArchive);
    }
    // Some readers skip a tab, others find no number.
    let large = b"\x80\x01\0\0\0\0\0\0\0\0\0\0";
    for size in [&[0xff; 12], large, b"0000000008a\0", b"\t0000000003\0", &[0; 12]] {
        let fault = with_size(size);
        assert!(fault.message.starts_with("the size field is "), "{fault}");
    }
    let header = changed(b"a", b'0', 0, |header| {
        header.as_old_mut().size = *b"\x80\0\0\0\0\0\0\0\0\0\0\x05";
    });
    let (entries, faults) = read(&ended(&[&header, &padded(b"12345")]));
    assert_eq!((entries[0].1.as_slice(), faults.len()), (&b"12345"[..], 0));
}

#[test]
fn headers_without_a_magic_and_of_gnu_are_read() {
    let mut old = tar::Header::new_old();
    old.as_old_mut().name[..2].copy_from_slice(b"d/");
    old.as_old_mut().linkflag = [0];
    old.set_size(0);
    old.set_cksum();
    let gnu = changed(b"g", b'0', 0, |header| {
        header.as_mut_bytes()[257..265].copy_from_slice(b"ustar  \0");
    });
    let (entries, faults) = read(&ended(&[old.as_bytes(), &gnu]));
    assert_eq!(faults, []);
    assert_eq!((&entries[0].0.kind, &entries[0].0.name[..]), (&MemberKind::Directory, &b"d/"[..]));
    assert_eq!((&entries[1].0.kind, &entries[1].0.name[..]), (&MemberKind::File, &b"g"[..]));
}

#[test]
fn gnu_long_names_are_read() {
    let long = "a/".repeat(200) + "b";
    let name = entry(b"././@LongLink", b'L', format!("{long}\0").as_bytes());
    let link = entry(b"././@LongLink", b'K', format!("{long}-target\0").as_bytes());
    let bytes = ended(&[&link, &name, &block(b"short", b'2', 0), &name, &file("short")]);
    let (entries, faults) = read(&bytes);
    assert_eq!(faults, []);
    assert_eq!(entries[0].0.name, long.as_bytes());
    assert_eq!(entries[0].0.kind, MemberKind::Link);
    assert_eq!((entries[1].0.name.as_slice(), &entries[1].1[..]), (long.as_bytes(), &b"12345"[..]));
    assert_eq!(entries[1].0.header_offset, 1024 * 2 + 512);
}

#[test]
fn a_name_after_a_nul_is_rejected() {
    let name = entry(b"././@LongLink", b'L', b"a\0b\0");
    let (entries, _) = read(&ended(&[&name, &file("short")]));
    assert_eq!(entries[0].0.name, b"a\0b");
}

#[test]
fn pax_records_override_the_header() {
    let records =
        pax(&[("path", "größe/\n.ra"), ("size", "5"), ("mtime", "1.5"), ("comment", "x")]);
    let (entries, faults) = read(&ended(&[&records, &file("a")]));
    assert_eq!(faults, []);
    let (entry, data) = &entries[0];
    assert_eq!(str::from_utf8(&entry.name).unwrap(), "größe/\n.ra");
    assert_eq!((entry.header_offset, data.as_slice()), (0, &b"12345"[..]));
}

#[test]
fn pax_sizes_must_match_the_header_below_8_gib() {
    let with =
        |size, header| ended(&[&pax(&[("size", size)]), &block(b"a", b'0', header), &[0; 1024]]);
    let message = "expected the size 512 of the header also in its PAX header, found";
    check(&with("1024", 512), Code::HeadersDisagree, &format!("{message} 1024"));
    check(&with("0", 512), Code::HeadersDisagree, &format!("{message} 0"));
    // From 8 GiB on, the header cannot store the size, so its value is ignored.
    let message = format!("expected {OCTAL_END} bytes of data, found ");
    check(&with("8589934592", 0), Code::NotAnArchive, &message);
}

#[test]
fn a_pax_size_must_not_precede_a_long_name() {
    let (size, plain) = (pax(&[("size", "5")]), pax(&[("comment", "x")]));
    let name = entry(b"././@LongLink", b'L', b"long\0");
    let message = "expected a PAX header with a size just before its entry, \
                   found a GNU long name between";
    for bytes in [[&size[..], &name], [&plain, &name]] {
        let (entries, faults) = read(&ended(&[&bytes.concat(), &file("a")]));
        if faults.is_empty() {
            assert_eq!(entries[0].0.name, b"long");
        } else {
            assert_eq!(messages(&faults), [message]);
        }
    }
    check(&ended(&[&size, &name, &file("a")]), Code::HeadersDisagree, message);
    assert_eq!(names(&ended(&[&name, &size, &file("a")])), ["long"]);
}

#[test]
fn two_names_must_agree() {
    let name = entry(b"././@LongLink", b'L', b"one\0");
    assert_eq!(names(&ended(&[&name, &pax(&[("path", "one")]), &file("a")])), ["one"]);
    let bytes = ended(&[&name, &pax(&[("path", "two")]), &file("a")]);
    let message =
        "expected the same name, found `two` in the PAX header and `one` in the GNU long name";
    check(&bytes, Code::HeadersDisagree, message);
}

#[test]
fn extensions_without_an_entry_or_repeated_are_rejected() {
    let name = entry(b"././@LongLink", b'L', b"long\0");
    let (local, global) = (pax(&[("path", "b")]), entry(b"g", b'g', b"13 comment=x\n"));
    for part in [&name, &local] {
        let dangling = "expected an entry after its extended headers, found ";
        for bytes in [part, &ended(&[part]), &ended(&[part, &global, &file("a")])] {
            check(bytes, Code::BadExtendedHeader, dangling);
        }
        let twice = ended(&[part, part, &file("a")]);
        check(&twice, Code::BadExtendedHeader, "expected one header of type `");
    }
    assert_eq!(names(&ended(&[&global, &global, &file("a")])), ["a"]);
}

const GLOBAL: &str = "expected no `";

#[test]
fn a_global_header_must_not_rename_or_resize() {
    for (payload, key) in [(&b"10 path=b\n"[..], "path"), (b"10 size=5\n", "size")] {
        let bytes = ended(&[&entry(b"g", b'g', payload), &file("a")]);
        check(&bytes, Code::BadExtendedHeader, &format!("{GLOBAL}{key}`"));
    }
}

#[test]
fn extended_headers_are_limited_before_they_are_read() {
    for typeflag in [b'x', b'g', b'L', b'K'] {
        let message = "expected an extended header of at most 1048576 bytes, found 4294967296";
        check(&ended(&[&block(b"x", typeflag, 1 << 32)]), Code::BadExtendedHeader, message);
        let message = "expected 1048576 bytes of data, found 900 before the end";
        let bytes = [block(b"x", typeflag, 1 << 20), vec![0; 900]].concat();
        check(&bytes, Code::NotAnArchive, message);
    }
}

#[test]
fn a_false_pax_length_is_rejected() {
    for payload in [&b"8 path=b\n"[..], b"11 path=b\n", b"999999999 path=b\n", b"10 path=b\n\0"] {
        let bytes = ended(&[&entry(b"x", b'x', payload), &file("a")]);
        check(&bytes, Code::BadExtendedHeader, "the record at byte ");
        assert!(fault(&bytes).is_error());
    }
}

#[test]
fn sparse_files_are_not_supported() {
    let old = block(b"a", b'S', 0);
    let new = [pax(&[("GNU.sparse.major", "1")]), file("GNUSparseFile.0/a")].concat();
    for bytes in [old, new] {
        check(&ended(&[&bytes]), Code::Unsupported, "a sparse file is not supported");
    }
}

#[test]
fn links_and_special_files_are_distinguished() {
    let link = |header: &mut tar::Header| header.as_old_mut().linkname[..3].copy_from_slice(b"../");
    let bytes = ended(&[
        &changed(b"h", b'1', 0, link),
        &changed(b"s", b'2', 0, link),
        &block(b"p", b'6', 0),
        &entry(b"d", b'D', b"listing"),
        &entry(b"c", b'7', b"12345"),
    ]);
    let (entries, faults) = read(&bytes);
    assert_eq!(faults, []);
    let expected = [
        MemberKind::Link,
        MemberKind::Link,
        MemberKind::Special,
        MemberKind::Special,
        MemberKind::File,
    ];
    assert!(entries.iter().map(|(entry, _)| &entry.kind).eq(&expected));
}

#[test]
fn only_files_have_data() {
    for typeflag in [b'1', b'2', b'3', b'4', b'5', b'6'] {
        let fault = fault(&ended(&[&entry(b"a", typeflag, b"12345")]));
        assert!(fault.message.ends_with(" without data, found a size of 5 bytes"), "{fault}");
    }
    for typeflag in [b'0', b'7'] {
        let bytes = ended(&[&entry(b"a/", typeflag, b"12345")]);
        check(&bytes, Code::DirectoryWithData, "expected a directory without data");
    }
}

#[test]
fn a_header_without_a_magic_must_not_be_an_extension() {
    for typeflag in [b'x', b'g', b'L', b'K'] {
        let header = changed(b"a", typeflag, 0, |header| header.as_mut_bytes()[257..265].fill(0));
        let message = "expected the magic of ustar or GNU in a header of type `";
        check(&ended(&[&header, &file("a")]), Code::BadExtendedHeader, message);
    }
}

#[test]
fn a_directory_name_with_the_type_of_a_file_is_rejected() {
    let named = |typeflag| {
        let header = changed(b"a/", b'0', 0, |header| header.as_old_mut().linkflag = [typeflag]);
        ended(&[&header])
    };
    for typeflag in [b'0', b'7'] {
        let fault = fault(&named(typeflag));
        assert!(fault.message.starts_with("expected the type of a directory "), "{fault}");
        assert_eq!(fault.member.as_deref(), Some("a/"));
    }
    for typeflag in [b'5', 0] {
        let (entries, faults) = read(&named(typeflag));
        assert_eq!((&entries[0].0.kind, faults), (&MemberKind::Directory, vec![]));
    }
}

#[test]
fn many_warnings_are_limited_and_hide_no_fault() {
    let mut one = file("a");
    one[600] = 1;
    let bytes = [one.repeat(150), vec![1; 512]].concat();
    let (entries, faults) =
        walk(TarReader::new(streaming(&bytes[..]), None, Allowance::unlimited()), false);
    assert_eq!((entries.len(), faults.len()), (150, 101));
    assert_eq!(faults.last().unwrap().code, Code::BadChecksum);
}

#[test]
fn an_error_of_the_source_is_not_a_fault() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::PermissionDenied))
        }
    }
    for length in [0, 100, 512, 514, 600, 1024, 1536] {
        let bytes = ended(&[&file("a")]);
        let source = bytes[..length].chain(Broken);
        let mut reader = TarReader::new(streaming(source), None, Allowance::unlimited());
        let error = loop {
            match reader.next_entry() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("no error after {length} bytes"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(reader.faults(), []);
        assert!(reader.next_entry().unwrap().is_none());
    }
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z/]{0,120}[a-z]".prop_filter("parts", |path| !path.starts_with('/')),
        "[ -~\n\u{e0}-\u{17f}\u{4e00}-\u{4e10}]{0,150}[a-zé]",
        "([a-z]{1,99}/){1,4}[a-z]{1,110}",
    ]
}

proptest! {
    #[test]
    fn any_written_header_is_read_back(
        path in path(),
        directory in any::<bool>(),
        size in prop_oneof![any::<u64>(), 0..10_000_u64, OCTAL_END - 2..OCTAL_END + 2],
        mtime in prop_oneof![0..TIME_END, 0..2_000_000_000_u64, OCTAL_END - 2..OCTAL_END + 2],
    ) {
        let kind = if directory { MemberKind::Directory } else { MemberKind::File };
        let size = if directory { 0 } else { size };
        let mode = if directory { 0o755 } else { 0o644 };
        let bytes = entry_header(&member(&path, kind, size, mtime)).unwrap();
        prop_assert_eq!(bytes.len() % BLOCK, 0);
        let mut reader = TarReader::new(streaming(&bytes[..]), None, Allowance::unlimited());
        let name = if directory { path + "/" } else { path }.into_bytes();
        let (header_offset, data_offset) = (0, bytes.len() as u64);
        let header = tar::Header::from_byte_slice(&bytes[bytes.len() - BLOCK..]);
        prop_assert_eq!((header.mode().unwrap(), header.mtime().unwrap()), (mode, mtime));
        let expected = TarEntry { name, kind, size, header_offset, data_offset };
        prop_assert_eq!(reader.next_entry().unwrap(), Some(expected));
    }

    #[test]
    fn any_members_are_read_by_us_and_by_the_tar_crate(
        members in proptest::collection::vec((path(), proptest::collection::vec(any::<u8>(), 0..1500)), 0..6),
    ) {
        let mut bytes = Vec::new();
        for (path, data) in &members {
            let member = member(path, MemberKind::File, data.len() as u64, 1);
            bytes.extend(entry_header(&member).unwrap());
            bytes.extend(padded(data));
        }
        bytes.extend(end_mark());
        let (entries, faults) = read(&bytes);
        prop_assert_eq!(faults, []);
        let ours: Vec<_> = entries
            .into_iter()
            .map(|(entry, data)| (String::from_utf8(entry.name).unwrap(), data))
            .collect();
        prop_assert_eq!(&ours, &members);
        let mut theirs = Vec::new();
        for (entry, (path, _)) in tar::Archive::new(&bytes[..]).entries().unwrap().zip(&members) {
            let mut entry = entry.unwrap();
            let mut name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
            if path.contains('\n') && !path.is_ascii() {
                // The crate ends a PAX record at any line feed.
                name.clone_from(path);
            }
            let mut data = Vec::new();
            entry.read_to_end(&mut data).unwrap();
            theirs.push((name, data));
        }
        prop_assert_eq!(&theirs, &members);
    }

    #[test]
    fn arbitrary_headers_never_panic(
        changes in proptest::collection::vec((0..512_usize, any::<u8>()), 0..12),
        typeflag in proptest::sample::select(&b"\x000123456789xgLKSD"[..]),
        data in proptest::collection::vec(any::<u8>(), 0..1200),
    ) {
        let header = changed(b"a", typeflag, data.len() as u64, |header| {
            for (at, byte) in changes {
                header.as_mut_bytes()[at] = byte;
            }
        });
        let _ = read(&ended(&[&header, &padded(&data), &file("b")]));
    }
}
