//! Imports point down only, and some texts appear in only one module.
//!
//! The rows are those of `docs/architecture.md`; the texts are in the table below. Source files are read as text without
//! comments and unit tests. A name in a string counts as used.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Texts that appear only in some modules. `fs` is `src/fs.rs` and all of `src/fs/`.
const ALLOWED: &[(&[&str], &[&str])] = &[
    // Files. `cli/files` has the lists of names and the manual pages, which are not part of any pack.
    (&["std::fs"], &["fs", "cli/files"]),
    (&[".exists()", ".try_exists()", ".canonicalize()", ".read_dir()"], &["fs"]),
    (&[".symlink_metadata()", "walkdir::", "tempfile::", "memmap2::", "rustix::"], &["fs"]),
    (&["libc::"], &["fs", "main"]),
    // `Pack::map` passes the requirement of `File::map` on to its caller; the SHA-256 instructions need a processor with
    // them; the binary links the unwinder with an empty block, and sets an option of the allocator.
    (&["unsafe "], &["fs", "read/open", "digest/lanes/x86", "main"]),
    // Formats.
    (&["zip::result::", "zip::ZipWriter"], &["archive/zip/write", "interchange/npz"]),
    (&["tar::Header", "tar::Builder", "tar::Archive"], &["archive/tar"]),
    (&["sha2::", "sha1::", "md5::"], &["digest"]),
    (&["saphyr_parser::"], &["ndl"]),
    (&["serde_yaml::"], &["ndl/read_back"]),
    // The command line.
    (&["clap", "annotate_snippets"], &["cli"]),
    // References for Zarr readers are JSON, and so are logs of verifications and records of shards.
    (
        &["serde_json::"],
        &["cli", "json", "audit/log", "convert/refs", "pack/bag/profile", "write/create/shards"],
    ),
    // The library names its own options; `cli/diagnostics` replaces them by those of the command.
    (&["by --", "with --", "give --", "use --", "leave --"], &["cli"]),
    (&["ctrlc::", "signal_hook::"], &["cli/signals"]),
    (&["terminal_size::"], &["cli/output", "cli/stderr"]),
    (&["print!(", "println!(", "io::stdout", "io::stderr"], &["cli/output", "cli/stderr"]),
    (&["ExitCode"], &["main"]),
    (&["process::exit", "process::abort"], &["fs/pending"]),
    // Paths are printed with `escape_path`.
    (&[".display()"], &[]),
];

/// Reads the rows on a page: the number of each module. Higher ones import lower ones.
fn rows(page: &str) -> HashMap<String, u8> {
    let blocks = crate::page::blocks(&crate::page::read(page));
    let drawn = blocks.iter().find(|block| block.kind == "text").unwrap();
    let mut rows = HashMap::new();
    let mut row = 0;
    for word in drawn.text.split_whitespace().filter(|word| *word != "|") {
        match word.parse() {
            Ok(number) => row = number,
            Err(_) => {
                let other = rows.insert(word.to_owned(), row);
                assert_eq!(other, None, "`{word}` is there twice");
            }
        }
    }
    rows
}

/// Returns the source without comments and unit tests, as `(module, text)`; `module` is the path without its extension.
pub(crate) fn sources() -> Vec<(String, String)> {
    fn read(directory: &Path, below: &str, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}{}", entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                read(&entry.path(), &format!("{name}/"), files);
            } else if let Some(module) = name.strip_suffix(".rs") {
                let text = fs::read_to_string(entry.path()).unwrap();
                files.push((module.trim_end_matches("/mod").to_owned(), text));
            }
        }
    }
    let mut files = Vec::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut files);
    let mut tests = Vec::new();
    for (module, text) in &mut files {
        let code: Vec<_> =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let code = code.join("\n");
        let mut parts = code.split("#[cfg(test)]\n");
        let mut kept = parts.next().unwrap().to_owned();
        for part in parts {
            // A test module ends the file; another item for tests ends with its line.
            let (item, rest) = part.split_once('\n').unwrap_or((part, ""));
            let declared = item.trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
            let declared = declared.strip_prefix("mod ");
            match declared.and_then(|name| name.strip_suffix(';')) {
                Some(name) if module == "lib" => tests.push(name.to_owned()),
                Some(name) => tests.push(format!("{module}/{name}")),
                None if declared.is_some() => break,
                None => {}
            }
            kept.push_str(rest);
        }
        *text = kept;
    }
    let is_test = |module: &str| {
        tests.iter().any(|test| module.strip_prefix(test.as_str()).is_some_and(is_end))
    };
    files.retain(|(module, _)| !is_test(module));
    files
}

/// Whether a module name begins or ends here.
fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// Returns the violations in one file.
fn violations(rows: &HashMap<String, u8>, module: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let own = module.split('/').next().unwrap();
    let in_binary = own == "main" || own == "cli";
    if own == "lib" {
        return if text.contains("fn ") {
            vec!["`lib.rs` has a function".to_owned()]
        } else {
            found
        };
    }
    let depth = module.split('/').count();
    if text.contains(&"super::".repeat(depth + 1)) || text.contains("crate::{") {
        found.push(format!("{module}: name the module that an import comes from"));
    }
    let is_word = |before: Option<char>| {
        before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$')
    };
    for (at, _) in text.match_indices("crate::") {
        let target: String = text[at + "crate::".len()..]
            .chars()
            .take_while(|letter| is_word(Some(*letter)))
            .collect();
        if target == own || is_word(text[..at].chars().next_back()) {
            continue;
        }
        let (from, to) = (rows.get(own), rows.get(&target));
        if in_binary && target != "cli" || !in_binary && (to.is_none() || from <= to) {
            found.push(format!("{module}: `crate::{target}` does not point down"));
        }
    }
    if !in_binary && !rows.contains_key(own) {
        found.push(format!("{module}: in no row of docs/architecture.md"));
    }
    for (needles, places) in ALLOWED {
        let is_at_home = |place: &&str| module.strip_prefix(*place).is_some_and(is_end);
        if places.iter().any(is_at_home) {
            continue;
        }
        for needle in *needles {
            let mut hits = text.match_indices(needle);
            if hits.any(|(at, _)| !is_word(text[..at].chars().next_back())) {
                found.push(format!("{module}: `{needle}` belongs to {}", places.join(", ")));
            }
        }
    }
    found
}

#[test]
fn imports_point_down_and_texts_are_in_their_modules() {
    let (rows, sources) = (rows("docs/architecture.md"), sources());
    assert!(sources.len() > 100 && rows.len() > 10, "{} {}", sources.len(), rows.len());
    let found: Vec<_> =
        sources.iter().flat_map(|(module, text)| violations(&rows, module, text)).collect();
    assert!(found.is_empty(), "{} violations:\n  {}", found.len(), found.join("\n  "));
}

#[test]
fn every_kind_of_violation_is_found() {
    let rows = rows("docs/architecture.md");
    for (module, text, seen) in [
        ("ra/header", "use crate::write::create;", "does not point down"),
        ("read/open", "use crate::inspect::scan;", "does not point down"),
        ("pack/check", "use crate::archive::Member;", "does not point down"),
        ("cli/get", "use crate::convert::get;", "does not point down"),
        ("fs/file", "use super::super::super::path;", "name the module"),
        ("fs/file", "use crate::{path, error};", "name the module"),
        ("convert/get", "std::fs::read(path)", "belongs to fs"),
        ("convert/get", "println!(\"x\")", "belongs to cli/output"),
        ("odd", "", "in no row of"),
        ("lib", "pub fn open() {}", "has a function"),
    ] {
        let found = violations(&rows, module, text).join("\n");
        assert!(found.contains(seen), "{module}: {text}: {found}");
    }
    let allowed = "use crate::error::Result;\nuse crate::fs::File;\nlet x = $crate::read::y;";
    assert_eq!(violations(&rows, "pack/check", allowed), [""; 0]);
    assert_eq!(violations(&rows, "cli/get", "use ra_pack::read;\nuse crate::cli::x;"), [""; 0]);
}

#[test]
fn the_root_of_the_library_has_at_most_25_names() {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let uses = text.split("\npub use crate::").skip(1).map(|rest| rest.split_once(';').unwrap().0);
    let names: Vec<_> = uses
        .flat_map(|list| list.rsplit("::").next().unwrap().split(','))
        .map(|name| name.trim_matches(['{', '}', ' ', '\n']))
        .filter(|name| !name.is_empty())
        .collect();
    assert!(names.contains(&"Pack") && names.contains(&"verify"), "{names:?}");
    assert!(names.len() <= 25, "{} names: {names:?}", names.len());
}

#[test]
fn options_and_reports_may_grow() {
    let rows = rows("docs/architecture.md");
    // Its items are for the programs of this workspace, and its first line says so.
    let display = crate::page::read("src/display/mod.rs");
    assert!(display.lines().next().unwrap().ends_with("Any version may change them."));
    let is_operation = |module: &str| {
        let room = module.split('/').next().unwrap();
        room != "display" && (rows["read"]..=rows["convert"]).contains(rows.get(room).unwrap_or(&0))
    };
    for (module, text) in sources().iter().filter(|(module, _)| is_operation(module)) {
        for (before, item) in text.match_indices("\npub struct ").map(|(at, _)| text.split_at(at)) {
            let fields = item.split("\n}").next().unwrap();
            let name = item.trim_start_matches("\npub struct ").split([' ', '<', '{']).next();
            let is_closed = before.ends_with("#[non_exhaustive]");
            // Programs write options as literals that end in `..default()`.
            let grows = if name.unwrap().ends_with("Options") {
                !is_closed
            } else {
                is_closed || !fields.contains("\n    pub ")
            };
            assert!(grows, "{module}: {}", fields.trim_start().lines().next().unwrap());
        }
    }
}

#[test]
fn the_page_names_existing_files() {
    let page = crate::page::read("docs/architecture.md");
    let files: Vec<_> = page.split('`').filter(|word| word.starts_with("src/")).collect();
    assert!(files.len() > 30, "{files:?}");
    for file in files {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(file).exists(), "{file}");
    }
}
