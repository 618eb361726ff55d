//! Scripts for the builders of zips and tars: one for each feature.

use super::Add;

pub(super) fn seeds(add: &mut Add<'_>) {
    zips(add);
    tars(add);
}

fn zips(add: &mut Add<'_>) {
    // Number of members minus one; content; repetitions; name; method; unusual features up to a zero; end; changes;
    // other files.
    let one = |method: u8, oddities: &[u8], rest: &[u8]| {
        [&[0, 3, b'a', b'b', b'c', 0, 0, method], oddities, &[0], rest].concat()
    };
    add("zip_structure", "ordinary", one(0, &[], &[]));
    add("zip_structure", "deflate", one(1, &[], &[]));
    add("zip_structure", "zstd", one(3, &[], &[]));
    add("zip_structure", "deflate-stored", one(4, &[], &[]));
    add("zip_structure", "skipped-frame", one(7, &[], &[]));
    for style in 0..4 {
        add("zip_structure", &format!("descriptor-{style}"), one(1, &[1, style], &[]));
        add("zip_structure", &format!("descriptor-foretold-{style}"), one(0, &[1, style, 2], &[]));
        add("zip_structure", &format!("descriptor-zip64-{style}"), one(1, &[1, style, 3], &[]));
    }
    add("zip_structure", "zip64-local", one(0, &[3], &[]));
    add("zip_structure", "zip64-directory", one(0, &[4, 1, 1, 1], &[]));
    add("zip_structure", "zip64-both", one(0, &[3, 4, 1, 0, 1], &[]));
    add("zip_structure", "aligned", one(0, &[5, 2, 10, 0], &[]));
    add("zip_structure", "unicode-path", one(0, &[6, 3, 1, 0], &[]));
    // The mode of a link: in ASi's field, in libarchive's, and in the attributes of another system.
    add("zip_structure", "asi-link", one(0, &[6, 6, 0xff, 0xa1, 0], &[]));
    add("zip_structure", "libarchive-link", one(0, &[6, 7, 5, 6, 20, 3, 0, 0, 0xff, 0xa1], &[]));
    add("zip_structure", "link-of-vms", one(0, &[8, 20, 2, 9, 0xff, 0xa1, 0, 0], &[]));
    add("zip_structure", "newer-reader", one(0, &[13, 47, 47], &[]));
    add("zip_structure", "version-of-vms", [&[0, 1, b'x', 0, 31, 7][..], b"a.txt;1"].concat());
    add("zip_structure", "two-names", one(0, &[12, 1], &[]));
    add("zip_structure", "size", one(1, &[14, 1], &[]));
    for style in 1..5 {
        let more: &[u8] = if style > 2 { &[style, 4, 1, 2, 3, 4] } else { &[style] };
        add("zip_structure", &format!("end-{style}"), one(0, &[], more));
    }
    let two =
        [&[1, 0, 0, 2, 0, 0][..], &[5, 1, 2, 3, 4, 5, 1, 3, 1, 0], &[0, 1, 7, 0, 0, 1]].concat();
    add("zip_structure", "directory-and-change", two);
    add("zip_structure", "legacy-name", vec![0, 1, b'x', 0, 26]);
    add("zip_structure", "beside", one(0, &[], &[0, 0, 1, 3, 1, 2, 3]));
}

fn tars(add: &mut Add<'_>) {
    // Number of entries minus one; for each: extension, its own fields, name, content, repetitions, type, size, size
    // field, magic, rest, padding.
    let entry = [0, 3, b'a', b'b', b'c', 0, 0, 0, 0, 0, 0, 0];
    let one = |extension: &[u8], rest: &[u8]| [&[0][..], extension, &entry, rest].concat();
    add("tar_structure", "ordinary", one(&[0], &[]));
    for (name, record) in [("path", 0), ("size", 1), ("link", 2), ("sparse", 4), ("charset", 6)] {
        // Name 1, one record (two bytes for a number), size, size field, magic, rest, padding.
        let extension = [1, 1, 0, 3, 0, record, 0, 0, 0, 0, 0];
        add("tar_structure", &format!("pax-{name}"), one(&extension, &[]));
    }
    add("tar_structure", "long-name", one(&[2, 32, 30, 0, 0, 0, 0, 0, 0, 0, 0], &[]));
    add("tar_structure", "global", one(&[3, 1, 0, 1, 0, 7, 0, 0, 0, 0], &[]));
    let with = |name: u8, kind: &[u8], rest: &[u8]| {
        [&[0, 0, name, 2, b'x', b'y', 1][..], kind, rest].concat()
    };
    add("tar_structure", "directory", with(2, &[2, 0], &[]));
    add("tar_structure", "prefix", with(3, &[0, 0, 1], &[]));
    add("tar_structure", "old-file", with(0, &[1, 0, 0, 2], &[]));
    add("tar_structure", "gnu", with(0, &[0, 0, 1, 1], &[]));
    add("tar_structure", "link", with(0, &[4, 1, 0, 0, 0, 0], &[]));
    add("tar_structure", "dirty-padding", with(0, &[0, 0, 0, 0, 0, 1, 9], &[]));
    for end in 1..5 {
        let end = [end, 3, 1, 2, 3];
        add("tar_structure", &format!("end-{}", end[0]), one(&[0], &end));
    }
    add("tar_structure", "change", one(&[0], &[0, 2, 5, 0, 0, 7, 1, 1, 0, 1, 5, 0]));
}
