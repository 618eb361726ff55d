//! Zip members with wrong sizes, data, methods or kinds, rows 32 to 52.

use super::{
    Accept, Case, MANIFEST, NOTES, Reject, Warn, case, deflate_zeros, deflated, files, listed,
    named, zip,
};
use crate::raw_zip::{DEFLATE, End64, Entry, Header, Zip, crc32, deflate_stored, extra_field};

pub(super) fn cases() -> Vec<Case> {
    const CLAIMED: u32 = u32::MAX - 1;
    let zeros = deflate_zeros(256 << 20);
    vec![
        case("0 deflated", "a.zip", deflated(|_| {}), Accept),
        case("0 deflated, sizes after the data", "a.zip", deflated(Entry::with_descriptor), Accept),
        case(
            "32 inflates to more",
            "a.zip",
            deflated(|entry| entry.both(|header| header.size -= 1)),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "33 inflates to less",
            "a.zip",
            deflated(|entry| entry.both(|header| header.size += 1)),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "34 inflates to 256 MiB",
            "a.zip",
            deflated(|entry| {
                entry.data.clone_from(&zeros);
                let packed = u32::try_from(zeros.len()).unwrap();
                entry.both(|header| header.packed_size = packed);
            }),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "35 claims 4 GiB",
            "a.zip",
            deflated(|entry| entry.both(|header| header.size = CLAIMED)),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "36 past the end of the file",
            "a.zip",
            zip(|zip| {
                zip.entry(MANIFEST).both(|header| {
                    header.packed_size = CLAIMED;
                    header.size = CLAIMED;
                });
            }),
            Reject("ARC005"),
        ),
        case("37 deflate corrupt", "a.zip", deflated(|entry| entry.data[0] = 7), Reject("ARC007"))
            .never(&[NOTES]),
        case(
            "38 deflate cut",
            "a.zip",
            deflated(|entry| {
                entry.data.pop();
                entry.both(|header| header.packed_size -= 1);
            }),
            Reject("ARC007"),
        )
        .never(&[NOTES]),
        case(
            "39 bytes after the deflated data",
            "a.zip",
            deflated(|entry| {
                entry.data.push(0);
                entry.both(|header| header.packed_size += 1);
            }),
            Reject("ARC024"),
        )
        .never(&[NOTES]),
        case(
            "40 the sizes of a stored member differ",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.size += 1)),
            Reject("ARC003"),
        )
        .never(&[NOTES]),
        case(
            "41 encrypted",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.flags |= 1)),
            Reject("ARC017"),
        )
        .never(&[NOTES]),
        case(
            "42 unknown method",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.method = 14)),
            Reject("ARC018"),
        )
        .never(&[NOTES]),
        case("43 several disks", "a.zip", zip(|zip| zip.end.disk = 1), Reject("ARC019")),
        case(
            "44 a member on another disk",
            "a.zip",
            zip(|zip| zip.entry(NOTES).disk = 2),
            Reject("ARC019"),
        ),
        case(
            "45 the zip64 locator is wrong",
            "a.zip",
            zip(|zip| zip.end.zip64 = Some(End64 { located: Some(3), ..End64::default() })),
            Reject("ARC015"),
        ),
        case(
            "45 the zip64 end record is longer than usual",
            "a.zip",
            zip(|zip| zip.end.zip64 = Some(End64 { more: b"more".to_vec(), ..End64::default() })),
            Reject("ARC015"),
        ),
        case(
            "46 an extra field twice",
            "a.zip",
            zip(|zip| {
                zip.entry(NOTES).both(|header| header.extra = extra_field(0x9999, b"x").repeat(2));
            }),
            Reject("ARC021"),
        ),
        case(
            "46 an extra field 16000 times",
            "a.zip",
            zip(|zip| {
                zip.entry(NOTES)
                    .both(|header| header.extra = extra_field(0x9999, b"").repeat(16_000));
            }),
            Reject("ARC021"),
        ),
        case(
            "47 an extra field past its end",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.extra = vec![1, 0, 99, 0, 0])),
            Reject("ARC021"),
        ),
        case(
            "48 a wrong data descriptor",
            "a.zip",
            deflated(|entry| {
                entry.with_descriptor();
                entry.descriptor[5] ^= 1;
            }),
            Reject("ARC016"),
        ),
        case(
            "49 another name in the Unicode Path field",
            "a.zip",
            zip(|zip| {
                let mut content = vec![1];
                content.extend(crc32(NOTES.as_bytes()).to_le_bytes());
                content.extend(b"evil");
                zip.entry(NOTES).both(|header| header.extra = extra_field(0x7075, &content));
            }),
            Reject("ARC004"),
        )
        .never(&["evil"]),
        case(
            "50 a directory with data",
            "a.zip",
            zip(|zip| zip.entries.push(Entry::stored("sub/", b"data"))),
            Reject("ARC010"),
        ),
        case(
            "0 a directory that is compressed to nothing, as jar does",
            "a.zip",
            zip(|zip| zip.entries.push(Entry::packed("sub/", DEFLATE, vec![3, 0], b""))),
            Accept,
        ),
        case(
            "0 a directory whose data inflates to nothing in another way",
            "a.zip",
            zip(|zip| zip.entries.push(Entry::packed("sub/", DEFLATE, deflate_stored(b""), b""))),
            Reject("ARC010"),
        ),
        case(
            "5 another time in the local header",
            "a.zip",
            zip(|zip| zip.entry(NOTES).local.time ^= 0x20),
            Warn("ARC028"),
        ),
        case(
            "5 another version in the local header",
            "a.zip",
            zip(|zip| zip.entry(NOTES).local.version = 45),
            Warn("ARC028"),
        ),
        case(
            "7 strongly encrypted",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.flags |= 1 << 6)),
            Reject("ARC017"),
        )
        .never(&[NOTES]),
        case(
            "7 a patch",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.flags |= 1 << 5)),
            Reject("ARC008"),
        ),
        case(
            "7 masked",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.flags |= 1 << 13)),
            Reject("ARC008"),
        ),
        case(
            "5 a data descriptor that is announced and missing",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.flags |= 1 << 3)),
            Reject("ARC016"),
        ),
        case(
            "5 a data descriptor that is not announced",
            "a.zip",
            deflated(|entry| {
                entry.with_descriptor();
                entry.both(|header| header.flags = 0);
                let Header { crc, packed_size, size, .. } = entry.central;
                (entry.local.crc, entry.local.packed_size) = (crc, packed_size);
                entry.local.size = size;
            }),
            Reject("ARC002"),
        ),
        case(
            "5 a data descriptor without its signature",
            "a.zip",
            deflated(|entry| {
                entry.with_descriptor();
                entry.descriptor.drain(..4);
            }),
            Accept,
        ),
        case(
            "2 a zip64 field with other sizes than the header",
            "a.zip",
            zip(|zip| {
                zip.entry(NOTES).both(|header| header.extra = extra_field(1, &[9; 16]));
            }),
            Reject("ARC015"),
        )
        .never(&[NOTES]),
        case(
            "10 an unknown extra field",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.extra = extra_field(0x9999, b"x"))),
            Warn("ARC029"),
        ),
        case(
            "10 data in the field that aligns the data",
            "a.zip",
            zip(|zip| {
                zip.entry(NOTES).local.extra = extra_field(0xd935, b"\x40\0hidden");
            }),
            Warn("ARC023"),
        ),
        case(
            "10 a field that aligns the data",
            "a.zip",
            zip(|zip| zip.entry(NOTES).local.extra = extra_field(0xd935, b"\x40\0\0\0")),
            Accept,
        ),
        case(
            "11 a symbolic link",
            "a.zip",
            zip(|zip| {
                let mut entry = Entry::stored("link", b"/etc/passwd");
                entry.external = 0o120_777 << 16;
                zip.entries.push(entry);
            }),
            Reject("NAME004"),
        )
        .never(&["link"]),
        case(
            "11 a symbolic link, made by a system whose attributes are obeyed by some",
            "a.zip",
            zip(|zip| {
                for host in [0, 2, 5, 11, 16, 30] {
                    let mut entry = Entry::stored(format!("link{host}"), b"/etc/passwd");
                    (entry.made_by, entry.external) = (host << 8 | 0x14, 0o120_777 << 16);
                    zip.entries.push(entry);
                }
            }),
            Reject("NAME004"),
        )
        .never(&["link0", "link2", "link5", "link11", "link16", "link30"]),
        case(
            "11 a link of NTFS",
            "a.zip",
            zip(|zip| (zip.entry(NOTES).made_by, zip.entry(NOTES).external) = (20, 0x400)),
            Reject("NAME004"),
        )
        .never(&[NOTES]),
        case(
            "11 the label of a volume",
            "a.zip",
            zip(|zip| (zip.entry(NOTES).made_by, zip.entry(NOTES).external) = (11 << 8 | 0x14, 8)),
            Reject("NAME005"),
        )
        .never(&[NOTES]),
        case(
            "11 a directory of the Amiga",
            "a.zip",
            zip(|zip| {
                (zip.entry(NOTES).made_by, zip.entry(NOTES).external) =
                    (1 << 8 | 0x14, 0o4755 << 16);
            }),
            Reject("NAME005"),
        )
        .never(&[NOTES]),
        case(
            "11 a link in ASi's field",
            "a.zip",
            zip(|zip| {
                let mut field = vec![0; 4];
                field.extend(0o120_777_u16.to_le_bytes());
                field.extend([0; 8]);
                field.extend(b"/etc/passwd");
                zip.entry(NOTES).external = 0;
                zip.entry(NOTES).both(|header| header.extra = extra_field(0x756e, &field));
            }),
            Reject("ARC004"),
        )
        .never(&[NOTES]),
        case(
            "11 a link in libarchive's field",
            "a.zip",
            zip(|zip| {
                let field = [&[5, 20, 3, 0, 0][..], &0o120_777_u16.to_le_bytes()].concat();
                zip.entry(NOTES).local.extra = extra_field(0x6c78, &field);
            }),
            Reject("ARC004"),
        )
        .never(&[NOTES]),
        case(
            "5 a version that some programs do not support",
            "a.zip",
            zip(|zip| zip.entry(NOTES).both(|header| header.version = 47)),
            Warn("ARC011"),
        ),
        case(
            "5 a stored member with its sizes after the data",
            "a.zip",
            zip(|zip| zip.entry(NOTES).with_descriptor()),
            Warn("ARC011"),
        ),
        case(
            "5 a stored member that ends before its end for a reader of a pipe",
            "a.zip",
            {
                let mut inner = Entry::stored("b", b"x");
                inner.with_descriptor();
                let mut files = files();
                files.push(("stored".to_owned(), inner.local_bytes()));
                let mut zip = Zip::of(&listed(files));
                zip.entry("stored").with_descriptor();
                zip.to_bytes()
            },
            Reject("ARC016"),
        )
        .never(&["stored"]),
        case(
            "5 a data descriptor with wide sizes that were not announced",
            "a.zip",
            deflated(|entry| {
                entry.with_descriptor();
                let sizes = [entry.central.packed_size, entry.central.size].map(u64::from);
                entry.descriptor.truncate(8);
                entry.descriptor.extend(sizes.map(u64::to_le_bytes).concat());
            }),
            Warn("ARC011"),
        ),
        case(
            "11 a file that runs with the rights of its owner",
            "a.zip",
            zip(|zip| zip.entry(NOTES).external = 0o104_755 << 16),
            Warn("ARC011"),
        ),
        case(
            "11 an internal attribute without a meaning",
            "a.zip",
            zip(|zip| zip.entry(NOTES).internal = 0x80),
            Warn("ARC011"),
        ),
        case(
            "13 a comment of a member that holds a signature",
            "a.zip",
            zip(|zip| zip.entry(NOTES).comment = b"PK\x01\x02".to_vec()),
            Reject("ARC022"),
        ),
        case(
            "13 a comment of a member",
            "a.zip",
            zip(|zip| zip.entry(NOTES).comment = b"at night".to_vec()),
            Warn("ARC011"),
        ),
        case(
            "51 a directory by its mode, without a slash",
            "a.zip",
            zip(|zip| {
                let mut entry = Entry::stored("sub", b"");
                entry.external = 0o040_755 << 16;
                zip.entries.push(entry);
            }),
            Reject("NAME005"),
        ),
        case(
            "51 a directory by its DOS attribute, without a slash",
            "a.zip",
            zip(|zip| {
                let mut entry = Entry::stored("sub", b"");
                (entry.made_by, entry.external) = (20, 0x10);
                zip.entries.push(entry);
            }),
            Reject("NAME005"),
        ),
        case(
            "52 a file and a directory of one name",
            "a.zip",
            zip(|zip| zip.entries.push(Entry::stored("dir", b"file"))),
            Reject("NAME003"),
        ),
        case("52 a file below a file", "a.zip", named("a.ra/below"), Reject("NAME003")),
        case(
            "0 zeros, a thousand to one",
            "a.zip",
            {
                let content = vec![0; 4 << 20];
                let mut files = files();
                files.push(("zeros.bin".to_owned(), content.clone()));
                let mut zip = Zip::of(&listed(files));
                *zip.entry("zeros.bin") =
                    Entry::packed("zeros.bin", DEFLATE, deflate_zeros(4 << 20), &content);
                zip.to_bytes()
            },
            Accept,
        ),
    ]
}
