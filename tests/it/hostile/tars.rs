//! Tars, plain and compressed, rows 141 to 159.

use super::{Accept, Case, NOTES, Reject, Warn, case, files, gzip, listed, replace, tar};
use crate::raw_tar::{self, pax_record};
use crate::raw_zip::deflate_stored;

/// Corrects the checksum of a header.
fn seal(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header[..512].iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// Returns a tar with some bytes of one header changed.
fn patched(tar: &[u8], header: usize, at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut tar = tar.to_vec();
    tar[header + at..][..bytes.len()].copy_from_slice(bytes);
    seal(&mut tar[header..header + 512]);
    tar
}

/// Returns a tar that also ends as a zip: an unlisted last member holds an empty zip whose comment covers the end mark.
fn ends_as_zip(tar: &[u8]) -> Vec<u8> {
    let mut zip = b"PK\x05\x06".to_vec();
    zip.resize(20, 0);
    let (padding, end) = (512 - 22, 1024);
    zip.extend(u16::to_le_bytes(padding + end));
    let last = raw_tar::unended(&[raw_tar::Entry::file("last.zip", &zip)]);
    [&tar[..tar.len() - 1024], &last, &[0; 1024]].concat()
}

/// Returns a gzip member of stored deflate blocks.
fn gzip_stored(bytes: &[u8]) -> Vec<u8> {
    // The trailer is part of the comment.
    let mut bytes = bytes.to_vec();
    let end = bytes.windows(4).rposition(|four| four == b"PK\x05\x06").unwrap();
    let length = u16::from_le_bytes([bytes[end + 20], bytes[end + 21]]) + 8;
    bytes[end + 20..end + 22].copy_from_slice(&length.to_le_bytes());
    let mut crc = flate2::Crc::new();
    crc.update(&bytes);
    let size = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let header = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";
    [&header[..], &deflate_stored(&bytes), &crc.sum().to_le_bytes(), &size].concat()
}

/// Returns a zstd frame of one raw block (RFC 8878, 3.1.1.2).
fn zstd_raw(bytes: &[u8]) -> Vec<u8> {
    let size = u32::try_from(bytes.len()).unwrap();
    // The content size has four bytes, and is also the window size.
    let header = [&b"\x28\xb5\x2f\xfd\xa0"[..], &size.to_le_bytes()].concat();
    [&header, &((size << 3) | 1).to_le_bytes()[..3], bytes].concat()
}

/// Returns a zip whose first member completes the header of a tar.
fn begins_as_tar() -> Vec<u8> {
    // The data begins after a header of 30 bytes and a name of one.
    const BEFORE: usize = 31;
    let zip = |data: &[u8]| {
        let files = listed([vec![("0".to_owned(), data.to_vec())], files()].concat());
        let entries = files.iter().map(|(name, data)| super::Entry::stored(name, data)).collect();
        super::Zip { entries, ..super::Zip::default() }.to_bytes()
    };
    let mut header = zip(&[0; 512 - BEFORE])[..512].to_vec();
    header[BEFORE..].fill(0);
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(b"00000000000\0");
    seal(&mut header);
    // The CRC-32 of the data is part of the header, so search for a filler with the right checksum.
    let sealed = (0..u32::MAX).find(|fill| {
        header[500..504].copy_from_slice(&fill.to_le_bytes());
        let mut crc = flate2::Crc::new();
        crc.update(&header[BEFORE..]);
        header[14..18].copy_from_slice(&crc.sum().to_le_bytes());
        let mut copy = header.clone();
        seal(&mut copy);
        copy == header
    });
    assert!(sealed.is_some());
    zip(&header[BEFORE..])
}

pub(super) fn cases() -> Vec<Case> {
    let whole = tar(|_| {});
    let with_entry = |entry: raw_tar::Entry| tar(|entries| entries.push(entry));
    let sized = |size: &[u8; 12]| tar(|entries| entries[0].size = Some(*size));
    let bad = |name, bytes, code| case(name, "a.tar", bytes, Reject(code));
    let long = raw_tar::Entry {
        typeflag: b'L',
        ..raw_tar::Entry::file("././@LongLink", b"long-name.txt\0")
    };
    let sized_pax = raw_tar::Entry::pax(&pax_record("size", "7"));
    let zipped = gzip(&whole);
    let trailer = zipped.len() - 8;
    let mut other = files();
    replace(&mut other, "a.yaml", "other");
    let of_form = |magic| tar(|entries| entries.iter_mut().for_each(|entry| entry.magic = magic));
    let (gnu, v7) = (of_form(*b"ustar  \0"), of_form([0; 8]));
    vec![
        case("0 a valid GNU tar", "a.tar", gnu.clone(), Accept),
        case("0 a valid v7 tar", "a.tar", v7.clone(), Accept),
        case("0 a valid tar", "a.tar", whole.clone(), Accept),
        case("0 a valid tar.gz", "a.tar.gz", zipped.clone(), Accept),
        bad("141 cut in a header", whole[..700].to_vec(), "ARC001"),
        bad("141 cut in the data", whole[..600].to_vec(), "ARC001"),
        bad(
            "142 a bad checksum",
            tar(|entries| entries[1].checksum = Some(*b"000001\0 ")),
            "ARC006",
        ),
        bad(
            "143 a negative size",
            sized(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xf4"),
            "ARC026",
        ),
        bad("143 a huge size", sized(b"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff"), "ARC001"),
        bad("143 a size beyond the end", sized(b"00077777777\0"), "ARC001"),
        bad("144 a size that is not octal", sized(b"0000000009z\0"), "ARC026"),
        case(
            "145 a hard link",
            "a.tar",
            with_entry(raw_tar::Entry::typed("hard", b'1', "a.ra")),
            Reject("NAME004"),
        )
        .never(&["hard"]),
        case(
            "63 a symbolic link and a file through it",
            "a.tar",
            tar(|entries| {
                entries.insert(0, raw_tar::Entry::typed("out", b'2', ".."));
                entries.push(raw_tar::Entry::file("out/escaped.txt", b"content"));
            }),
            Reject("NAME004"),
        ),
        case(
            "67 a pipe",
            "a.tar",
            with_entry(raw_tar::Entry::typed("pipe", b'6', "")),
            Reject("NAME005"),
        )
        .never(&["pipe"]),
        case(
            "67 a device",
            "a.tar.gz",
            gzip(&with_entry(raw_tar::Entry::typed("device", b'3', ""))),
            Reject("NAME005"),
        )
        .never(&["device"]),
        case(
            "53 climbs",
            "a.tar",
            with_entry(raw_tar::Entry::file("../escaped.txt", b"content")),
            Reject("NAME001"),
        ),
        case(
            "0 a name that is not UTF-8",
            "a.tar",
            with_entry(raw_tar::Entry::file(b"caf\xe9.txt", b"content")),
            Reject("NAME001"),
        )
        .never(&["caf\u{fffd}.txt"]),
        case(
            "146 a member twice",
            "a.tar",
            with_entry(raw_tar::Entry::file(NOTES, b"evil")),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "146 a member twice, compressed",
            "a.tar.gz",
            gzip(&with_entry(raw_tar::Entry::file(NOTES, b"evil"))),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "147 a second tar after the first",
            "a.tar",
            [whole.clone(), raw_tar::tar(&[raw_tar::Entry::file("evil", b"evil")])].concat(),
            Reject("ARC014"),
        )
        .never(&["evil"]),
        case(
            "148 garbage after the end",
            "a.tar",
            [whole.clone(), b"garbage".to_vec()].concat(),
            Reject("ARC013"),
        ),
        bad(
            "149 a PAX record of a wrong length",
            with_entry(raw_tar::Entry::pax(b"99 path=x\n")),
            "ARC027",
        ),
        case(
            "150 a PAX path climbs",
            "a.tar",
            tar(|entries| {
                entries.push(raw_tar::Entry::pax(&pax_record("path", "../escaped.txt")));
                entries.push(raw_tar::Entry::file("harmless.txt", b"content"));
            }),
            Reject("NAME001"),
        )
        .never(&["harmless.txt"]),
        case(
            "150 a PAX path of 500000 parts",
            "a.tar",
            tar(|entries| {
                entries.push(raw_tar::Entry::pax(&pax_record("path", &["d"; 500_000].join("/"))));
                entries.push(raw_tar::Entry::file("harmless.txt", b"content"));
            }),
            Reject("NAME001"),
        ),
        bad(
            "151 a PAX size other than the header's",
            tar(|entries| {
                entries.push(raw_tar::Entry::pax(&pax_record("size", "3")));
                entries.push(raw_tar::Entry::file("sized.txt", b"content"));
            }),
            "ARC004",
        ),
        bad(
            "152 a PAX size before a long name",
            tar(|entries| {
                entries.extend([sized_pax, long]);
                entries.push(raw_tar::Entry::file("sized.txt", b"content"));
            }),
            "ARC004",
        ),
        case(
            "153 sparse",
            "a.tar",
            with_entry(raw_tar::Entry::typed("sparse", b'S', "")),
            Reject("ARC008"),
        )
        .never(&["sparse"]),
        case("154 the trailer cut", "a.tar.gz", zipped[..trailer + 3].to_vec(), Reject("ARC001")),
        case(
            "155 the CRC wrong",
            "a.tar.gz",
            {
                let mut zipped = zipped.clone();
                zipped[trailer] ^= 1;
                zipped
            },
            Reject("ARC025"),
        ),
        case(
            "156 garbage after the trailer",
            "a.tar.gz",
            [zipped.clone(), b"garbage".to_vec()].concat(),
            Reject("ARC024"),
        ),
        case(
            "157 a second member with another tar",
            "a.tar.gz",
            [zipped.clone(), gzip(&raw_tar::tar(&raw_tar::files(&other)))].concat(),
            Reject("ARC014"),
        ),
        case(
            "0 padding that is not zero",
            "a.tar",
            {
                let mut bytes = whole.clone();
                // After the data of the first file.
                bytes[1000] = b'x';
                bytes
            },
            Warn("ARC023"),
        ),
        case("0 many zero blocks", "a.tar", [whole.clone(), vec![0; 10 * 512]].concat(), Accept),
        case(
            "0 a magic of no tar",
            "a.tar",
            tar(|entries| entries[1].magic = *b"ustar\x0099"),
            Reject("ARC026"),
        ),
        case(
            "0 a PAX header without an entry",
            "a.tar",
            with_entry(raw_tar::Entry::pax(&pax_record("path", "x"))),
            Reject("ARC027"),
        ),
        case(
            "0 a PAX name and a GNU name that differ",
            "a.tar",
            tar(|entries| {
                entries.push(raw_tar::Entry::pax(&pax_record("path", "one.txt")));
                entries.push(raw_tar::Entry {
                    typeflag: b'L',
                    ..raw_tar::Entry::file("././@LongLink", b"two.txt\0")
                });
                entries.push(raw_tar::Entry::file("three.txt", b"content"));
            }),
            Reject("ARC004"),
        ),
        case(
            "156 a line end after the trailer",
            "a.tar.gz",
            [&zipped[..], b"\n"].concat(),
            Reject("ARC024"),
        ),
        case(
            "0 the same tar in two gzip members",
            "a.tar.gz",
            [gzip(&whole[..700]), gzip(&whole[700..])].concat(),
            Accept,
        ),
        case(
            "0 a PAX header that claims 4 GiB",
            "a.tar",
            with_entry(raw_tar::Entry {
                size: Some(*b"37777777777\0"),
                ..raw_tar::Entry::pax(&pax_record("path", "x"))
            }),
            Reject("ARC027"),
        ),
        case(
            "0 64 MiB of zeros after the end",
            "a.tar.gz",
            [&zipped[..], &gzip(&vec![0; 64 << 20])].concat(),
            Accept,
        ),
        case("0 a tar that is called a zip", "a.zip", whole.clone(), Warn("ARC011")),
        case("0 a tar.gz that is called a tar", "a.tar", zipped.clone(), Warn("ARC011")),
        case("0 a zip that is called a tar", "a.tar", super::zip(|_| {}), Warn("ARC011")),
        case(
            "0 a directory without a name",
            "a.tar",
            with_entry(raw_tar::Entry::typed("", b'5', "")),
            Reject("NAME001"),
        ),
        case("0 a tar that ends as a zip", "a.tar", ends_as_zip(&whole), Reject("ARC030")),
        case(
            "0 a tar.gz that ends as a zip",
            "a.tar.gz",
            gzip_stored(&ends_as_zip(&whole)),
            Reject("ARC030"),
        ),
        case(
            "0 a tar.zst that ends as a zip",
            "a.tar.zst",
            zstd_raw(&ends_as_zip(&whole)),
            Reject("ARC030"),
        ),
        case("0 a zip that begins as a tar", "a.zip", begins_as_tar(), Reject("ARC030")),
        case(
            "0 a tar.gz that begins as a tar",
            "a.tar.gz",
            {
                // The name in a gzip header may be long.
                let mut start = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff".to_vec();
                start.resize(148, b'n');
                start.extend(b"    1234");
                start.resize(512, b'n');
                seal(&mut start);
                [&start, &b"\0"[..], &gzip(&whole)[10..]].concat()
            },
            Reject("ARC030"),
        ),
        case(
            "0 a name that continues after its NUL",
            "a.tar",
            patched(&whole, 0, 5, b"z"),
            Reject("ARC026"),
        )
        .never(&["a.ra"]),
        case("0 a prefix without ustar", "a.tar", patched(&gnu, 0, 345, b"z"), Reject("ARC026"))
            .never(&["a.ra"]),
        case("0 a sparse map", "a.tar", patched(&gnu, 0, 386, b"00000000000"), Reject("ARC026")),
        case("0 a real size", "a.tar", patched(&gnu, 0, 483, b"00000000000"), Reject("ARC026")),
        case("0 a prefix of v7", "a.tar", patched(&v7, 0, 345, b"z"), Reject("ARC026")),
        case(
            "0 a directory by the short one of two names",
            "a.tar",
            tar(|entries| {
                entries.push(raw_tar::Entry::pax(&pax_record("path", "f")));
                entries
                    .push(raw_tar::Entry { typeflag: 0, ..raw_tar::Entry::file("x/", b"content") });
            }),
            Reject("ARC026"),
        )
        .never(&["f", "x"]),
        case(
            "0 a PAX record of a real size",
            "a.tar",
            tar(|entries| {
                entries.push(raw_tar::Entry::pax(&pax_record("SCHILY.realsize", "3")));
                entries.push(raw_tar::Entry::file("f", b"content"));
            }),
            Reject("ARC008"),
        )
        .never(&["f"]),
        case("0 a letter in the mode", "a.tar", patched(&whole, 0, 102, b"x"), Warn("ARC026")),
        case("0 a letter in the owner", "a.tar", patched(&whole, 0, 110, b"x"), Warn("ARC026")),
        case("0 a letter in the time", "a.tar", patched(&whole, 0, 140, b"x"), Warn("ARC026")),
        case("0 a letter in the device", "a.tar", patched(&whole, 0, 329, b"x"), Warn("ARC026")),
        case(
            "0 an unknown PAX record",
            "a.tar",
            tar(|entries| {
                entries.insert(0, raw_tar::Entry::pax(&pax_record("VENDOR.key", "3")));
            }),
            Warn("ARC027"),
        ),
        case(
            "0 a comment in the gzip header",
            "a.tar.gz",
            {
                let mut bytes = zipped.clone();
                bytes[3] |= 0x10;
                bytes.splice(10..10, *b"unseen\0");
                bytes
            },
            Warn("ARC011"),
        ),
        case(
            "0 a zstd frame that is skipped",
            "a.tar.zst",
            [b"\x50\x2a\x4d\x18\x06\0\0\0unseen", &*zstd::encode_all(&whole[..], 3).unwrap()]
                .concat(),
            Warn("ARC011"),
        ),
        case(
            "0 the same after the stream",
            "a.tar.zst",
            [&*zstd::encode_all(&whole[..], 3).unwrap(), b"\x50\x2a\x4d\x18\x06\0\0\0unseen"]
                .concat(),
            Warn("ARC011"),
        ),
        case(
            "158 no end blocks",
            "a.tar",
            raw_tar::unended(&raw_tar::files(&listed(files()))),
            Warn("ARC009"),
        ),
        case("159 one end block", "a.tar", whole[..whole.len() - 512].to_vec(), Warn("ARC009")),
    ]
}
