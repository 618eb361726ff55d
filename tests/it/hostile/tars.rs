//! Tars, plain and compressed, rows 141 to 159.

use super::{Accept, Case, NOTES, Reject, Warn, case, files, gzip, listed, replace, tar};
use crate::raw_tar::{self, pax_record};

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
    vec![
        case("0 a sound tar", "a.tar", whole.clone(), Accept),
        case("0 a sound tar.gz", "a.tar.gz", zipped.clone(), Accept),
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
            "147 a second tar behind the first",
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
                // Behind the data of the first file.
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
            "0 64 MiB of zeros behind the end",
            "a.tar.gz",
            [&zipped[..], &gzip(&vec![0; 64 << 20])].concat(),
            Accept,
        ),
        case(
            "0 a zstd frame that asks for a window of 2 GiB",
            "a.tar.zst",
            // One raw block, the last, of a byte.
            b"\x28\xb5\x2f\xfd\x00\xa8\x09\x00\x00x".to_vec(),
            Reject("ARC025"),
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
            "0 the same behind the stream",
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
