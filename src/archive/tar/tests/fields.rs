//! Tests of fields and records that readers may interpret differently.

use super::*;

/// Returns a header with some bytes changed.
fn with(magic: [u8; 8], typeflag: u8, at: usize, bytes: &[u8]) -> Vec<u8> {
    let header = changed(b"a", b'0', 0, |header| {
        header.as_old_mut().linkflag = [typeflag];
        let block = header.as_mut_bytes();
        block[257..265].copy_from_slice(&magic);
        block[at..at + bytes.len()].copy_from_slice(bytes);
    });
    ended(&[&header])
}

const LINK_NAME: &str = "expected a link name only in the headers of a link";

const MAGICS: [[u8; 8]; 3] = [*b"ustar\x0000", *b"ustar  \0", [0; 8]];

#[test]
fn bytes_outside_all_fields_are_rejected() {
    for magic in MAGICS {
        // All text fields, which may be empty.
        let bytes = (0..100).chain(157..257).chain(265..329).chain(345..512);
        for at in bytes {
            let faults = read(&with(magic, b'0', at, b"1")).1;
            // One more letter of a name, of an owner or of a prefix. v7 and GNU headers lack some of these fields.
            let is_first = match &magic {
                b"ustar\x0000" => matches!(at, 0 | 1 | 265 | 297 | 345),
                b"ustar  \0" => matches!(at, 0 | 1 | 265 | 297),
                _ => matches!(at, 0 | 1),
            };
            let refused = messages(&faults).into_iter().any(|message| {
                message.starts_with("expected zeros ") || message.starts_with(LINK_NAME)
            });
            assert_eq!(refused, !is_first, "{magic:?} {at}");
        }
    }
}

#[test]
fn a_number_that_only_some_readers_accept_is_a_warning() {
    let late = [&[0x80][..], &[0xff; 11]].concat();
    for magic in MAGICS {
        let cases: [(usize, &[u8]); 11] = [
            (100, b"x"),
            (108, b"x"),
            (116, b"        "),
            (108, &[0xff; 8]),
            (108, b"\x80\0\0\x01\0\0\0\0"),
            (100, b"\x80\0\0\0\0\0\0\x01"),
            (329, b"\x80\0\0\0\0\0\0\x01"),
            (136, b"0226326400x"),
            (136, &late),
            (329, b"x"),
            (337, b"00000 x"),
        ];
        for (at, bytes) in cases {
            let fault = fault(&with(magic, b'0', at, bytes));
            assert!(fault.message.ends_with("; some readers stop here"), "{at} {bytes:?}");
            assert_eq!((fault.code, fault.is_error()), (Code::BadTarHeader, false));
        }
        let cases: [(usize, &[u8]); 5] = [
            (100, &[0; 8]),
            (108, b"\x80\0\0\0\xff\xff\xff\xff"),
            (136, &[0xff; 12]),
            (136, b"\x80\0\0\0\0\0\0\x3a\xff\xf4\x41\x7f"),
            (329, b"000000 \0"),
        ];
        for (at, bytes) in cases {
            assert_eq!(read(&with(magic, b'0', at, bytes)).1, [], "{at} {bytes:?}");
        }
    }
}

#[test]
fn only_links_have_a_link_name() {
    let name = entry(b"././@LongLink", b'K', b"b\0");
    for extension in [pax(&[("linkpath", "b")]), name] {
        for member in [file("a"), block(b"a/", b'5', 0)] {
            check(&ended(&[&extension, &member]), Code::BadTarHeader, LINK_NAME);
        }
    }
}

#[test]
fn a_directory_without_a_type_needs_both_names() {
    let (short, long) = (pax(&[("path", "f")]), pax(&[("path", "f/")]));
    for (extension, name) in [(&short, b"x/"), (&long, b"xy")] {
        let header = changed(name, b'0', 0, |header| header.as_old_mut().linkflag = [0]);
        let message = "expected a `/` at the end of both names of an entry or of none";
        check(&ended(&[extension, &header]), Code::BadTarHeader, message);
    }
    let header = changed(b"x/", b'0', 0, |header| header.as_old_mut().linkflag = [0]);
    assert_eq!(names(&ended(&[&long, &header])), ["f/"]);
    assert_eq!(names(&ended(&[&pax(&[("path", "f/")]), &block(b"x", b'5', 0)])), ["f/"]);
}

#[test]
fn records_that_other_readers_interpret_are_rejected_or_warned_of() {
    let member = file("a");
    for key in ["GNU.sparse.map", "SCHILY.realsize", "SUN.holesdata"] {
        let bytes = ended(&[&pax(&[(key, "3")]), &member]);
        check(&bytes, Code::Unsupported, "a sparse file is not supported");
        let mut global = pax(&[(key, "3")]);
        global[156] = b'g';
        let sum = u64::from(b'x' - b'g');
        let old = u64::from_str_radix(str::from_utf8(&global[148..155]).unwrap(), 8).unwrap();
        global[148..155].copy_from_slice(format!("{:07o}", old - sum).as_bytes());
        check(&ended(&[&global, &member]), Code::BadExtendedHeader, GLOBAL);
    }
    let odd = [
        ("GNU.dumpdir", "Ya"),
        ("VENDOR.thing", "1"),
        ("mtime", "nan"),
        ("mtime", "9223372036854775807"),
        ("atime", ".5"),
        ("ctime", ""),
        ("uid", "x"),
        ("gid", "4294967296"),
        ("hdrcharset", "ISO-IR 8859 1 1998"),
    ];
    for record in odd {
        let fault = fault(&ended(&[&pax(&[record]), &member]));
        assert!(fault.message.starts_with("the record at byte 0 of the PAX header "), "{fault}");
        assert_eq!((fault.code, fault.is_error()), (Code::BadExtendedHeader, false));
    }
    let harmless = [
        ("mtime", "-315619200.25"),
        ("atime", "1."),
        ("uid", "4294967295"),
        ("uname", "größe"),
        ("hdrcharset", "BINARY"),
        ("SCHILY.xattr.user.a", "\u{1}\n"),
        ("comment", "x"),
    ];
    for record in harmless {
        assert_eq!(names(&ended(&[&pax(&[record]), &member])), ["a"], "{record:?}");
    }
}
