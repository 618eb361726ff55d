//! Zips whose records contradict each other, rows 1 to 31.

use super::{
    Accept, Case, MANIFEST, NOTE, NOTES, Reject, Warn, case, files, listed, with_manifest, zip,
};
use crate::raw_zip::{DEFLATE, End64, Entry, Zip};

pub(super) fn cases() -> Vec<Case> {
    let whole = zip(|_| {});
    let cut = |keep: usize| whole[..keep].to_vec();
    let half = whole.len() / 2;
    vec![
        case("0 a valid zip", "a.zip", whole.clone(), Accept),
        case("1 cut in the middle", "a.zip", cut(half), Reject("ARC001")),
        case("1 cut by one byte", "a.zip", cut(whole.len() - 1), Reject("ARC001")),
        case("2 zero bytes", "a.zip", Vec::new(), Reject("ARC001")),
        case("2 a tar of zero bytes", "a.tar", Vec::new(), Reject("ARC001")),
        case("2 a tar.gz of zero bytes", "a.tar.gz", Vec::new(), Reject("ARC001")),
        case("3 not an archive", "a.zip", b"hello, world\n".repeat(99), Reject("ARC001")),
        case(
            "4 comment length past the end",
            "a.zip",
            zip(|zip| zip.end.comment_len = Some(9)),
            Reject("ARC001"),
        ),
        case("5 empty zip", "a.zip", Zip::default().to_bytes(), Reject("MAN001")),
        case("6 no manifest", "a.zip", Zip::of(&files()).to_bytes(), Reject("MAN001")),
        case("7 empty manifest", "a.zip", with_manifest(|_| Vec::new()), Reject("MAN009")),
        case("8 count too high", "a.zip", zip(|zip| zip.end.entries = Some(5)), Reject("ARC003")),
        case("9 count too low", "a.zip", zip(|zip| zip.end.entries = Some(3)), Reject("ARC003")),
        case(
            "10 directory offset wrong",
            "a.zip",
            zip(|zip| zip.end.directory_offset = Some(7)),
            Reject("ARC003"),
        ),
        case(
            "11 directory size wrong",
            "a.zip",
            zip(|zip| zip.end.directory_len = Some(46)),
            Reject("ARC003"),
        ),
        case(
            "12 another name in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.name = b"b.ra".to_vec()),
            Reject("ARC004"),
        ),
        case(
            "13 another size in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.size += 1),
            Reject("ARC004"),
        ),
        case(
            "14 another CRC in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.crc ^= 1),
            Reject("ARC004"),
        ),
        case(
            "15 another method in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.method = DEFLATE),
            Reject("ARC004"),
        ),
        case(
            "16 other flags in the local header",
            "a.zip",
            zip(|zip| zip.entry("a.ra").local.flags = 2),
            Reject("ARC004"),
        ),
        case(
            "17 a member twice, identical",
            "a.zip",
            zip(|zip| {
                let twin = zip.entry(NOTES).clone();
                zip.entries.push(twin);
            }),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "18 a member twice, the first good",
            "a.zip",
            zip(|zip| zip.entries.push(Entry::stored(NOTES, b"evil"))),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "19 a member twice, the last good",
            "a.zip",
            zip(|zip| zip.entries.insert(0, Entry::stored(NOTES, b"evil"))),
            Reject("NAME002"),
        )
        .never(&[NOTES]),
        case(
            "20 two manifests of one name",
            "a.zip",
            zip(|zip| {
                let twin = zip.entry(MANIFEST).clone();
                zip.entries.push(twin);
            }),
            Reject("NAME002"),
        ),
        case(
            "21 a hidden member between two others",
            "a.zip",
            zip(|zip| zip.entry("a.yaml").gap = Entry::stored("evil", b"evil").local_bytes()),
            Reject("ARC014"),
        )
        .never(&["evil"]),
        case(
            "21 a hidden member before the directory",
            "a.zip",
            zip(|zip| zip.before_directory = Entry::stored("evil", b"evil").local_bytes()),
            Reject("ARC014"),
        )
        .never(&["evil"]),
        case(
            "22 bytes between two members",
            "a.zip",
            zip(|zip| zip.entry("a.yaml").gap = vec![0; 3]),
            Reject("ARC002"),
        ),
        case(
            "23 a record of the directory without a member",
            "a.zip",
            zip(|zip| {
                let mut ghost = Entry::stored("ghost", b"boo");
                ghost.has_local = false;
                zip.entries.push(ghost);
            }),
            Reject("ARC003"),
        )
        .never(&["ghost"]),
        case(
            "24 the zip64 end record counts otherwise",
            "a.zip",
            zip(|zip| zip.end.zip64 = Some(End64 { entries: Some(3), ..End64::default() })),
            Reject("ARC015"),
        ),
        case(
            "24 the zip64 end record has another directory",
            "a.zip",
            zip(|zip| {
                zip.end.zip64 = Some(End64 { directory_offset: Some(0), ..End64::default() });
            }),
            Reject("ARC015"),
        ),
        case(
            "0 zip64 records that agree",
            "a.zip",
            zip(|zip| zip.end.zip64 = Some(End64::default())),
            Accept,
        ),
        case(
            "25 bytes after the end",
            "a.zip",
            zip(|zip| zip.suffix = b"trailing".to_vec()),
            Reject("ARC013"),
        ),
        case(
            "26 a line end after the end",
            "a.zip",
            zip(|zip| zip.suffix = b"\n".to_vec()),
            Reject("ARC013"),
        ),
        case(
            "27 junk before the start, offsets as before",
            "a.zip",
            [b"junk".to_vec(), whole.clone()].concat(),
            Reject("ARC012"),
        ),
        case(
            "27 junk before the start, offsets adjusted",
            "a.zip",
            zip(|zip| zip.prefix = b"junk".to_vec()),
            Reject("ARC012"),
        ),
        case(
            "28 two zips glued together",
            "a.zip",
            [whole.clone(), whole.clone()].concat(),
            Reject("ARC012"),
        ),
        case(
            "29 a second end record in the comment",
            "a.zip",
            zip(|zip| zip.end.comment = Zip::default().to_bytes()),
            Reject("ARC020"),
        ),
        case(
            "29 a second end record in the comment, not at its end",
            "a.zip",
            zip(|zip| zip.end.comment = [Zip::default().to_bytes(), vec![b' '; 9]].concat()),
            Reject("ARC020"),
        ),
        case(
            "29 an end record that is the end of a far longer comment",
            "a.zip",
            far_end_record(),
            Reject("ARC020"),
        ),
        case(
            "0 a comment",
            "a.zip",
            zip(|zip| zip.end.comment = b"measured at night".to_vec()),
            Warn("ARC011"),
        ),
        case(
            "30 two members of the same bytes",
            "a.zip",
            zip(|zip| {
                let mut twin = Entry::stored("twin.txt", NOTE);
                twin.has_local = false;
                twin.offset = Some(0);
                zip.entries.push(twin);
            }),
            Reject("ARC005"),
        )
        .never(&["twin.txt"]),
        case("31 a member within another", "a.zip", quoted_overlap(), Reject("ARC005"))
            .never(&["outer"]),
    ]
}

/// Returns a zip whose comment is a complete zip, longer than the range in which an end record is usually searched for.
fn far_end_record() -> Vec<u8> {
    let inner = zip(|_| {});
    let outer = zip(|zip| zip.end.comment = vec![b' '; 2000 + inner.len()]);
    let at = u32::try_from(outer.len() - inner.len()).unwrap();
    let mut zip = Zip::of(&listed(files()));
    // The inner zip is complete, with offsets from the beginning of the file.
    zip.prefix = outer[..outer.len() - inner.len()].to_vec();
    assert_eq!(zip.prefix.len(), usize::try_from(at).unwrap());
    zip.to_bytes()
}

/// Returns a zip in which the data of `outer` begins with the complete next member, as in a quine or Fifield's bomb.
fn quoted_overlap() -> Vec<u8> {
    zip(|zip| {
        let inner = zip.entry("a.ra").local_bytes();
        let mut outer = Entry::stored("outer", &inner);
        outer.data = Vec::new();
        zip.entries.insert(0, outer);
    })
}
