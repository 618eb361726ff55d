//! Snippets that break a rule, and snippets that only look as if they did.

use super::{Violation, check};

/// File, text, and the violation in it: its line, and words of its text.
const BROKEN: &[(&str, &str, usize, &str)] = &[
    // Directions, by every way to name a module.
    ("ra/header.rs", "use crate::ops::create;", 1, "points up, from row 2 to 7"),
    ("ra/header.rs", "use crate::ndl::File;", 1, "points sideways, within row 2"),
    ("archive/zip/mod.rs", "use crate::pack::layout;", 1, "points sideways, within row 6"),
    ("path.rs", "\nuse crate::digest::Digest;\n", 2, "points sideways"),
    (
        "ra/mod.rs",
        "use crate::{\n    path::MemberPath,\n    error::Error,\n};",
        3,
        "`crate::error::Error`",
    ),
    (
        "ra/mod.rs",
        "use crate::{path::{self, X}, digest::{A,\n B}, fs::{self as f}};",
        2,
        "`crate::fs`",
    ),
    (
        "ra/mod.rs",
        "pub(crate) use {crate::{path::X,\nops::{a::{b, c as d}}}};",
        2,
        "`crate::ops::a::b`",
    ),
    ("ra/mod.rs", "fn f() -> crate::error::Result<()> { g() }", 1, "`crate::error::Result`"),
    ("ra/mod.rs", "fn f() { g(|x| x + ra_pack::ops::N) }", 1, "points up"),
    (
        "ra/mod.rs",
        "fn f() { match x { crate::finding::Kind::A => 1 } }",
        1,
        "points up, from row 2 to 3",
    ),
    ("ra/mod.rs", "macro_rules! m { () => { $crate::ops::go() } }", 1, "points up"),
    ("ra/mod.rs", "use super::ops::create;", 1, "`crate::ops::create`"),
    ("ra/a/b.rs", "use super::super::super::error::E;", 1, "`crate::error::E`"),
    ("ra/a/b.rs", "fn f() { super::super::super::error::g() }", 1, "`crate::error::g`"),
    ("ra/a.rs", "mod inner { use super::super::super::fs::open; }", 1, "`crate::fs::open`"),
    ("ra/a.rs", "mod inner { mod deeper {} }\nuse super::super::ops::x;", 2, "`crate::ops::x`"),
    ("ra/a.rs", "use self::super::super::ops::x;", 1, "`crate::ops::x`"),
    ("fs.rs", "impl<'a> X<'a> { fn f(&'a self) -> crate::ops::Y { 'x' } }", 1, "points up"),
    ("fs.rs", "const Q: char = '\"'; use crate::ops::x; const R: char = '\"';", 1, "points up"),
    ("fs.rs", "const Q: &str = r#\"a\" \"#; use crate::ops::x;", 1, "points up"),
    ("fs.rs", "/* a /* b */ c */ use crate::ops::x;", 1, "points up"),
    ("fs.rs", "use crate::r#ops::x;", 1, "points up"),
    ("fs.rs", "#[cfg(not(test))]\nuse crate::ops::x;", 2, "points up"),
    ("fs.rs", "#[cfg(any(test, unix))]\nuse crate::ops::x;", 2, "points up"),
    ("fs.rs", "#[cfg(test)]\nmod tests { use crate::cli::a; }\nuse crate::ops::x;", 3, "points up"),
    // Names that hide where they come from.
    ("ra/mod.rs", "use crate::*;", 1, "names the whole crate"),
    ("ra/mod.rs", "use super::*;", 1, "names the whole crate"),
    ("ra/mod.rs", "use crate as root;", 1, "names the whole crate"),
    ("ra/mod.rs", "use crate::{self as root};", 1, "names the whole crate"),
    ("ra/mod.rs", "use crate::Pack;", 1, "`Pack` is in no row"),
    ("frobnicate.rs", "fn f() {}", 1, "module `frobnicate` is in no row"),
    ("utils/mod.rs", "", 1, "module `utils` is in no row"),
    ("ra/mod.rs", "#[path = \"../ops/create.rs\"]\nmod create;", 1, "`#[path]` has no place"),
    ("ra/mod.rs", "include!(\"../ops/create.rs\");", 1, "`include!` has no place"),
    // The two crate roots, and the command.
    ("lib.rs", "mod ra;\nfn logic() {}", 2, "`lib.rs` holds no logic"),
    ("lib.rs", "pub use std::fs::File;", 1, "`std::fs`"),
    ("cli/create.rs", "use crate::ops::create;", 1, "only as `ra_pack::`"),
    ("cli/create.rs", "use super::super::ops::create;", 1, "only as `ra_pack::`"),
    ("main.rs", "mod ops;\nfn main() { ops::run() }", 2, "only as `ra_pack::`"),
    ("ops/create.rs", "use crate::cli::args;", 1, "points up, from row 7 to 8"),
    // Rooms, by every way to name a thing.
    ("ops/create.rs", "use std::fs;", 1, "`std::fs` stands only in src/fs"),
    ("ops/create.rs", "use std::{io, fs::{self as files, File}};", 1, "`std::fs`"),
    ("ops/create.rs", "use std::fs::File;", 1, "`std::fs`"),
    ("ops/create.rs", "use ::std::fs::File;", 1, "`std::fs`"),
    ("ops/create.rs", "use std::*;", 1, "`std::fs`"),
    ("ops/create.rs", "use std as s;\nfn f() { s::fs::read() }", 2, "`std::fs`"),
    ("ops/create.rs", "fn f() { std::fs::read(\"x\") }", 1, "`std::fs`"),
    ("ops/create.rs", "fn f(p: &Path) -> bool { p.exists() }", 1, "`.exists()`"),
    ("fss.rs", "", 1, "module `fss` is in no row"),
    ("ops/zip.rs", "use zip::ZipArchive;", 1, "`zip` stands only in src/archive/zip/read_back"),
    ("archive/mod.rs", "mod zip;\nuse ::zip::ZipArchive;", 2, "`zip`"),
    ("archive/mod.rs", "mod zip;\nfn f() -> ::zip::X { g() }", 2, "`zip`"),
    ("archive/mod.rs", "fn f() { return ::zip::X }", 1, "`zip`"),
    ("archive/zip/mod.rs", "use zip as z;", 1, "`zip`"),
    ("archive/zip/mod.rs", "extern crate zip;", 1, "`zip`"),
    ("archive/zip/read_backwards.rs", "use zip::X;", 1, "`zip`"),
    ("archive/zip/write.rs", "type B = tar::Builder;", 1, "`tar` stands only in src/archive/tar"),
    ("manifest.rs", "use sha2::{Digest, Sha256};", 1, "`sha2` stands only in src/digest"),
    ("manifest.rs", "use md5::Md5;", 1, "`md5`"),
    ("pack/mod.rs", "use saphyr_parser::Event;", 1, "`saphyr_parser` stands only in src/ndl"),
    ("cli/list.rs", "use serde_yaml::to_string;", 1, "src/ndl, src/cli/output"),
    ("ops/list.rs", "#[derive(clap::Args)]\nstruct A;", 1, "`clap` stands only in src/cli"),
    ("ops/list.rs", "fn f() { println!(\"x\") }", 1, "`println!` stands only in src/cli/output"),
    ("ops/list.rs", "fn f() { std::eprintln! { \"x\" } }", 1, "`eprintln!`"),
    ("cli/list.rs", "use std::io::{self, stdout};", 1, "`std::io::stdout`"),
    ("cli/list.rs", "use std::io;\nfn f() { io::stderr().lock() }", 2, "`std::io::stderr`"),
    ("cli/list.rs", "use std::process::ExitCode;", 1, "`ExitCode` stands only in src/main"),
    ("cli/list.rs", "use std::process;\nfn f() { process::exit(1) }", 2, "`std::process::exit`"),
    ("ra/array.rs", "fn f() { unsafe { g() } }", 1, "`unsafe` stands only in src/fs"),
    ("archive/dir.rs", "use memmap2::Mmap;", 1, "`memmap2`"),
    ("ops/extract.rs", "use rustix::fs::openat;", 1, "`rustix`"),
    ("ra/array.rs", "use lz4_flex::block;", 1, "`lz4_flex` stands only in src/ra/encoding"),
    ("archive/dir.rs", "use walkdir::WalkDir;", 1, "`walkdir`"),
    ("ops/create.rs", "fn f() { tempfile::tempdir() }", 1, "`tempfile`"),
];

/// File, and a text without a violation.
const KEPT: &[(&str, &str)] = &[
    // Down, and within one's own folder.
    (
        "ops/create.rs",
        "use crate::{archive::Writer, error::{Error, Result}, fs, path::MemberPath};",
    ),
    ("ra/header.rs", "use super::element::X;\nuse crate::ra::{flags, array::Y};\nuse self::z::Z;"),
    ("ra/mod.rs", "mod header;\npub(crate) use header::Header;\npub(in crate::ra) mod q {}"),
    (
        "ra/a/b.rs",
        "use super::super::c::D; mod inner { use super::*; use super::super::super::E; }",
    ),
    (
        "fs.rs",
        "use crate::path::MemberPath;\nuse std::fs::{self, File};\nfn f() { unsafe { g() } }",
    ),
    ("fs/walk.rs", "use std::fs;\nuse super::open;\nuse walkdir::WalkDir;"),
    ("ops/create.rs", "use crate::fs;\nfn f() { fs::read(p); iter.zip(other); }"),
    // A child may have the name of a crate.
    ("archive/mod.rs", "mod zip;\nmod tar;\nfn f() -> zip::Reader { tar::Reader::new() }"),
    ("archive/dir.rs", "use super::zip;\nfn f() -> zip::Reader { crate::archive::tar::g() }"),
    ("archive/zip/read_back.rs", "use zip::ZipArchive;"),
    ("archive/tar/mod.rs", "fn f() { ::tar::Header::new_gnu() }"),
    // Text is not code.
    (
        "ra/mod.rs",
        "//! use crate::ops;\n/// [`crate::ops::create`] std::fs\n/* use crate::ops::x; unsafe */",
    ),
    (
        "ra/mod.rs",
        "const A: &str = \"use crate::ops::x; \\\" println!(1)\"; const B: &str = r#\"\"unsafe\"\"#;",
    ),
    (
        "ra/mod.rs",
        "const A: &[u8] = b\"crate::ops::x\"; const B: &CStr = c\"std::fs::x\"; const C: u8 = b'\"';",
    ),
    ("ra/mod.rs", "fn not_unsafe() { let ExitCodes = printlns; x != (1) }"),
    ("ra/mod.rs", "#![expect(unsafe_code, reason = \"unsafe\")]"),
    // Tests may see and do everything.
    (
        "ra/mod.rs",
        "#[cfg(test)]\nmod tests {\n use crate::ops::x;\n fn f() { if a { unsafe { std::fs::read() } } }\n}",
    ),
    (
        "ra/mod.rs",
        "#[cfg(all(test, unix))]\n#[allow(x)]\npub(crate) fn f(a: [u8; 2]) { println!(\"\") }",
    ),
    ("ra/mod.rs", "#[cfg(test)]\nuse crate::{ops::x, cli::y};\nfn f() {}"),
    ("ra/mod.rs", "#![cfg(test)]\nuse crate::ops::x;"),
    // The roots, and the command.
    (
        "lib.rs",
        "//! Docs: fn.\nmod ops;\npub use crate::ops::{create, verify};\npub use crate::path::X;",
    ),
    ("main.rs", "mod cli;\nuse std::process::ExitCode;\nfn main() -> ExitCode { cli::run() }"),
    (
        "cli/mod.rs",
        "mod args;\nmod output;\nuse args::Args;\nuse ra_pack::{Pack, ops::create};\nuse crate::cli::output::X;",
    ),
    (
        "cli/output.rs",
        "use std::io::{self, Write};\nfn f() { println!(\"x\"); io::stdout().lock(); serde_yaml::to_string(x) }",
    ),
    ("cli/args.rs", "use clap::{Args, Parser};"),
    (
        "digest.rs",
        "use sha2::Digest as _;\nfn f() -> impl Iterator<Item = u8> + use<'_> { md5::Md5::new() }",
    ),
];

fn violations(files: &[(&str, &str)]) -> Vec<String> {
    check(files.iter().copied()).iter().map(Violation::to_string).collect()
}

#[test]
fn every_kind_of_violation_is_caught() {
    for (file, text, line, expected) in BROKEN {
        let found = violations(&[(file, text)]);
        let place = format!("src/{file}:{line}: ");
        assert!(
            found.iter().any(|found| found.starts_with(&place) && found.contains(expected)),
            "expected `{place}… {expected}` of\n{text}\nfound {found:#?}"
        );
    }
}

#[test]
fn what_only_looks_like_a_violation_is_none() {
    for (file, text) in KEPT {
        assert_eq!(violations(&[(file, text)]), [""; 0], "of {file}\n{text}");
    }
}

#[test]
fn a_file_of_tests_is_known_by_its_declaration_not_by_its_name() {
    let tests = ("ra/tests.rs", "use crate::ops::x;");
    let fixture = ("ra/tests/fixture.rs", "use std::fs;");
    assert_eq!(violations(&[("ra/mod.rs", "#[cfg(test)]\nmod tests;"), tests, fixture]), [""; 0]);
    assert_eq!(violations(&[("ra/mod.rs", "mod tests;"), tests, fixture]).len(), 2);
    assert_eq!(
        violations(&[("ra/mod.rs", "#[cfg(test)]\nmod tests;"), ("ra/tests2.rs", tests.1)]).len(),
        1
    );
}
