//! Hostile archives, made by the same code as those of the tests.

#[allow(dead_code, reason = "only the tests use all of it")]
#[path = "../../../tests/it/raw_tar.rs"]
mod raw_tar;
#[allow(dead_code, reason = "only the tests use all of it")]
#[path = "../../../tests/it/raw_zip.rs"]
mod raw_zip;

use self::raw_tar::{pax_record, tar, unended};
use self::raw_zip::{End64, Zip, deflate_stored, extra_field};
use super::Add;

pub(super) fn seeds(add: &mut Add<'_>) {
    zips(add);
    tars(add);
}

fn zips(add: &mut Add<'_>) {
    use self::raw_zip::{DEFLATE, Entry};
    let a = || Entry::stored("a.txt", b"abc");
    let b = || Entry::stored("dir/b", b"");
    let mut zip = |name: &str, change: &dyn Fn(&mut Zip)| {
        let mut zip = Zip { entries: vec![a(), b()], ..Zip::default() };
        change(&mut zip);
        add("zip_verify", name, zip.to_bytes());
    };
    zip("hidden.zip", &|zip| zip.entries[0].has_central = false);
    zip("nothing-there.zip", &|zip| zip.entries[0].has_local = false);
    zip("twice.zip", &|zip| zip.entries.push(a()));
    zip("overlap.zip", &|zip| zip.entries[1].offset = Some(0));
    zip("other-name.zip", &|zip| zip.entries[0].local.name = b"b.txt".to_vec());
    zip("outside.zip", &|zip| zip.entries.push(Entry::stored("../outside", b"x")));
    zip("absolute.zip", &|zip| zip.entries.push(Entry::stored("/outside", b"x")));
    zip("file-as-directory.zip", &|zip| zip.entries.push(Entry::stored("a.txt/b", b"x")));
    zip("directory-with-data.zip", &|zip| zip.entries.push(Entry::stored("sub/", b"x")));
    zip("link.zip", &|zip| zip.entries[0].external = 0o120_777 << 16);
    zip("descriptor.zip", &|zip| zip.entries[0].with_descriptor());
    zip("inflates-to-more.zip", &|zip| {
        let mut entry = Entry::packed("c", DEFLATE, deflate_stored(b"abcdef"), b"abcdef");
        entry.both(|header| header.size -= 1);
        zip.entries.push(entry);
    });
    zip("name-in-extra.zip", &|zip| {
        zip.entries[0].both(|header| header.extra = extra_field(0x7075, b"\x01\0\0\0\0evil"));
    });
    zip("zip64.zip", &|zip| zip.end.zip64 = Some(End64::default()));
    zip("zip64-elsewhere.zip", &|zip| {
        zip.end.zip64 = Some(End64 { located: Some(3), ..End64::default() });
    });
    zip("two-ends.zip", &|zip| zip.end.comment = Zip::default().to_bytes());
    zip("prepended.zip", &|zip| zip.prefix = b"#!/bin/sh\n".to_vec());
    zip("appended.zip", &|zip| zip.suffix = b"more".to_vec());
    zip("fewer-counted.zip", &|zip| zip.end.entries = Some(1));
}

fn tars(add: &mut Add<'_>) {
    use self::raw_tar::Entry;
    let a = || Entry::file("a.txt", b"abc");
    let pax = |key: &str, value: &str| Entry::pax(&pax_record(key, value));
    let long_name = |name: &[u8]| Entry { typeflag: b'L', ..Entry::file("././@LongLink", name) };
    let mut put = |name: &str, entries: &[Entry]| add("tar_verify", name, tar(entries));
    put("twice.tar", &[a(), a()]);
    put("outside.tar", &[a(), Entry::file("../outside", b"x")]);
    put("link.tar", &[Entry::typed("a", b'2', "/"), Entry::file("a/b", b"x")]);
    put("hard-link.tar", &[a(), Entry::typed("b", b'1', "a.txt")]);
    put("device.tar", &[Entry::typed("a", b'3', "")]);
    put("long-name.tar", &[long_name(b"a/long/name\0"), a()]);
    put("two-names.tar", &[long_name(b"one\0"), pax("path", "two"), a()]);
    put("pax-path.tar", &[pax("path", "gr\u{f6}\u{df}e/a"), a()]);
    put("pax-size.tar", &[pax("size", "1024"), a()]);
    put("size-before-name.tar", &[pax("size", "3"), long_name(b"one\0"), a()]);
    put("dangling.tar", &[a(), pax("path", "two")]);
    let wide = *b"\x80\0\0\0\0\0\0\0\0\0\0\x03";
    put("wide-size.tar", &[Entry { size: Some(wide), ..a() }]);
    put("negative-size.tar", &[Entry { size: Some([0xff; 12]), ..a() }]);
    put("old-header.tar", &[Entry { magic: [0; 8], ..a() }]);
    put("sparse.tar", &[pax("GNU.sparse.name", "b"), a()]);
    add("tar_verify", "unended.tar", unended(&[a()]));
    add("tar_verify", "two-archives.tar", [tar(&[a()]), tar(&[a()])].concat());
}
