//! Names that lead outside the target or cause trouble on some systems, rows 53 to 79.

use std::fmt::Write as _;

use super::{
    Accept, Case, MANIFEST, Reject, Warn, case, files, listed, manifest_of, named, sha256,
    with_files, zip,
};
use crate::raw_zip::{Entry, Zip};

pub(super) fn cases() -> Vec<Case> {
    let linked = |target: &str, made_by: u16| {
        zip(|zip| {
            let mut link = Entry::stored("link", target.as_bytes());
            (link.made_by, link.external) = (made_by, 0o120_777 << 16);
            zip.entries.insert(0, link);
            zip.entries.push(Entry::stored("link/below.txt", b"content"));
        })
    };
    let special = |mode: u32| {
        zip(|zip| {
            let mut entry = Entry::stored("special", b"");
            entry.external = mode << 16;
            zip.entries.push(entry);
        })
    };
    let below_dot = |change: fn(&mut Zip)| {
        zip(|zip| {
            for entry in &mut zip.entries {
                entry.both(|header| header.name.splice(..0, *b"./").for_each(drop));
            }
            zip.entries.insert(0, Entry::stored("./", b""));
            change(zip);
        })
    };
    let unsafe_name =
        |name: &'static str, path: &str| case(name, "a.zip", named(path), Reject("NAME001"));
    vec![
        unsafe_name("53 climbs", "../x"),
        unsafe_name("54 climbs in the middle", "a/../../x"),
        unsafe_name("55 climbs and comes back", "a/../x").never(&["x"]),
        unsafe_name("56 absolute", "/x").never(&["x"]),
        unsafe_name("57 climbs as on Windows", "..\\x"),
        unsafe_name("58 absolute on a drive", "C:\\x"),
        unsafe_name("59 relative to a drive", "C:x"),
        unsafe_name("60 on a server", "\\\\srv\\x"),
        unsafe_name("61 NUL", "x\0.txt").never(&["x"]),
        unsafe_name("62 no name", ""),
        unsafe_name("62 an empty part", "p//x").never(&["p"]),
        unsafe_name("62 a dot", "././x").never(&["x"]),
        // As written by `bsdtar --format zip` for `.`.
        case("0 everything below a dot", "a.zip", below_dot(|_| {}), Accept),
        case(
            "0 a name with a dot and without",
            "a.zip",
            below_dot(|zip| zip.entries.push(Entry::stored("a.ra", b"evil"))),
            Reject("NAME002"),
        )
        .never(&["a.ra"]),
        case(
            "0 a dot in one of two headers",
            "a.zip",
            below_dot(|zip| zip.entry("./a.ra").central.name = b"a.ra".to_vec()),
            Reject("ARC004"),
        )
        .never(&["a.ra"]),
        case(
            "0 data in the directory that was packed",
            "a.zip",
            below_dot(|zip| zip.entries.push(Entry::stored("./", b"evil"))),
            Reject("ARC010"),
        ),
        case(
            "0 a file below a file with a dot",
            "a.zip",
            below_dot(|zip| zip.entries.push(Entry::stored("a.ra/x", b"evil"))),
            Reject("NAME003"),
        ),
        case("63 a link out", "a.zip", linked("../outside", 3 << 8), Reject("NAME004")),
        case("64 a link in", "a.zip", linked("dir", 3 << 8), Reject("NAME004")),
        case("65 through a link", "a.zip", linked("/tmp", 3 << 8), Reject("NAME004")),
        case("63 a link made on macOS", "a.zip", linked("../outside", 19 << 8), Reject("NAME004")),
        case("66 a device", "a.zip", special(0o020_644), Reject("NAME005")).never(&["special"]),
        case("67 a pipe", "a.zip", special(0o010_644), Reject("NAME005")).never(&["special"]),
        case("68 twins by case", "a.zip", named("DIR/NOTES.TXT"), Warn("NAME006")),
        case("68 directories that are twins by case", "a.zip", named("DIR/b.txt"), Warn("NAME006")),
        case(
            "69 twins by composition",
            "a.zip",
            with_files(|files| {
                files.push(("\u{e9}.txt".to_owned(), b"composed".to_vec()));
                files.push(("e\u{301}.txt".to_owned(), b"apart".to_vec()));
            }),
            Warn("NAME010"),
        ),
        case(
            "70 twins by composition and case",
            "a.zip",
            with_files(|files| {
                files.push(("\u{c9}.txt".to_owned(), b"composed".to_vec()));
                files.push(("e\u{301}.txt".to_owned(), b"apart".to_vec()));
            }),
            Warn("NAME010"),
        ),
        case("69 decomposed characters", "a.zip", named("e\u{301}.txt"), Warn("NAME011")),
        case("71 a device on Windows", "a.zip", named("aux.txt"), Warn("NAME009")),
        case("71 a device on Windows, deeper", "a.zip", named("d/Com1"), Warn("NAME009")),
        case("72 a dot at the end", "a.zip", named("name."), Warn("NAME009")),
        case("73 a space at the end", "a.zip", named("name "), Warn("NAME009")),
        case("73 a version of VMS", "a.zip", named("name.txt;1"), Warn("NAME009")),
        case(
            "73 a version of VMS, and the name without it",
            "a.zip",
            with_files(|files| {
                files.push(("f.txt".to_owned(), b"one".to_vec()));
                files.push(("f.txt;1".to_owned(), b"other".to_vec()));
            }),
            Reject("NAME009"),
        ),
        case(
            "77 twins by control characters",
            "a.zip",
            with_files(|files| {
                files.push(("f.txt".to_owned(), b"one".to_vec()));
                files.push(("f\u{1}.txt".to_owned(), b"other".to_vec()));
            }),
            Reject("NAME009"),
        ),
        case("74 a colon", "a.zip", named("10:30.txt"), Warn("NAME009")),
        case("75 a part of 300 bytes", "a.zip", named(&"n".repeat(300)), Warn("NAME009")),
        case(
            "76 a name in code page 437",
            "a.zip",
            {
                let mut files = files();
                files.push(("Müller.txt".to_owned(), b"content".to_vec()));
                let mut zip = Zip::of(&listed(files));
                zip.entry("Müller.txt").both(|header| {
                    header.flags = 0;
                    header.name = b"M\x81ller.txt".to_vec();
                });
                zip.to_bytes()
            },
            Warn("NAME007"),
        ),
        case(
            "76 UTF-8 without its flag",
            "a.zip",
            {
                let mut files = files();
                files.push(("Müller.txt".to_owned(), b"content".to_vec()));
                let mut zip = Zip::of(&listed(files));
                zip.entry("Müller.txt").both(|header| header.flags = 0);
                zip.to_bytes()
            },
            Warn("NAME007"),
        ),
        case(
            "76 UTF-8 with its flag, from DOS",
            "a.zip",
            {
                let mut files = files();
                files.push(("Müller.txt".to_owned(), b"content".to_vec()));
                let mut zip = Zip::of(&listed(files));
                zip.entry("Müller.txt").made_by = 20;
                zip.to_bytes()
            },
            Warn("NAME007"),
        ),
        case(
            "77 a line end in a name",
            "a.zip",
            {
                let mut files = files();
                let mut manifest = manifest_of(&files);
                writeln!(manifest, "\\{}  two\\nlines.txt", sha256(b"content")).unwrap();
                files.push(("two\nlines.txt".to_owned(), b"content".to_vec()));
                files.push((MANIFEST.to_owned(), manifest.into_bytes()));
                Zip::of(&files).to_bytes()
            },
            Warn("NAME008"),
        ),
        case("78 a terminal escape in a name", "a.zip", named("\u{1b}[2Jx"), Warn("NAME008")),
        case("79 right to left in a name", "a.zip", named("\u{202e}gnp.exe"), Warn("NAME008")),
        case("62 a name of 21000 parts", "a.zip", named(&["d"; 21_000].join("/")), Warn("NAME009")),
        case(
            "62 8 names of 16000 parts",
            "a.zip",
            with_files(|files| {
                let stem = ["d"; 16_000].join("/");
                files.extend((0..8).map(|file| (format!("{stem}/{file}/x"), b"x".to_vec())));
            }),
            Warn("NAME009"),
        ),
    ]
}
