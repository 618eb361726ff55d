//! The pages in `docs` hold to the code: what they show is read, found and printed as they say.

use std::fs;

use ra_pack::ndl;

use crate::experiment::ra_pack;
use crate::foreign::installed;
use crate::page::{Home, blocks, read};

#[path = "../../examples/make_ocean.rs"]
#[expect(dead_code, reason = "an example's `main`")]
mod make_ocean;

/// What is wrong with a document, one finding on each line.
fn findings(text: &str) -> String {
    let parsed = ndl::parse(text.as_bytes());
    let unresolved = parsed.unresolved_diagnostics();
    let mut lines: Vec<_> =
        parsed.diagnostics.iter().chain(&unresolved).map(ToString::to_string).collect();
    // Every line ends.
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.join("\n")
}

#[test]
#[cfg(target_os = "linux")] // GNU sed, as the page uses it
fn the_tutorial_shows_what_happens() {
    let home = Home::new();
    make_ocean::write_to(&home.file("ocean/time.ra").with_file_name("")).unwrap();
    let blocks = blocks(&read("docs/describing.md"));
    let (mut documents, mut wrong, mut commands) = (0, 0, 0);
    for (at, block) in blocks.iter().enumerate() {
        match &*block.kind {
            "yaml" => {
                documents += 1;
                let shown = blocks.get(at + 1).filter(|next| next.kind == "text");
                match (block.text.strip_prefix("# "), shown) {
                    // A file of the directory: its coordinates may be in others.
                    (Some(named), _) => {
                        let found = ndl::parse(block.text.as_bytes()).diagnostics;
                        assert_eq!(found, [], "{}", block.text);
                        let name = named.lines().next().unwrap();
                        fs::write(home.file(name), &block.text).unwrap();
                    }
                    (None, Some(shown)) => {
                        wrong += 1;
                        assert_eq!(findings(&block.text), shown.text, "{}", block.text);
                    }
                    (None, None) => assert_eq!(findings(&block.text), "", "{}", block.text),
                }
            }
            "console" => commands += home.run(&block.text),
            "text" => {}
            other => panic!("a block of `{other}` is not tested"),
        }
    }
    assert!(documents > 10 && wrong > 3 && commands > 3, "{documents} {wrong} {commands}");
}

#[test]
#[cfg(target_os = "linux")] // GNU coreutils, as the page uses them
fn the_recipes_for_keeping_a_pack_work() {
    if installed(&["bsdtar", "minisign", "ssh-keygen", "par2", "sha256sum", "zip"]) {
        assert!(Home::with_sample().run_all("docs/keeping.md") > 15);
    }
}

#[test]
#[cfg(unix)] // cp, cat
fn what_the_ra_tools_did_is_done() {
    assert!(Home::with_sample().run_all("docs/coming-from-ra.md") > 8);
}

#[test]
#[cfg(target_os = "linux")] // GNU coreutils, as the page uses them
fn the_page_about_converting_shows_what_happens() {
    assert!(Home::with_sample().run_all("docs/converting.md") > 10);
}

#[test]
#[cfg(target_os = "linux")] // GNU sed and coreutils, as the page uses them
fn the_page_about_comparing_shows_what_happens() {
    assert!(Home::with_sample().run_all("docs/comparing.md") > 10);
}

#[test]
#[cfg(target_os = "linux")] // GNU coreutils, as the page uses them
fn the_page_about_looking_shows_what_happens() {
    assert!(Home::with_sample().run_all("docs/looking.md") > 8);
}

#[test]
#[cfg(target_os = "linux")] // GNU coreutils, as the page uses them
fn the_page_about_bags_shows_what_happens() {
    if installed(&["unzip", "sha256sum"]) {
        assert!(Home::with_sample().run_all("docs/bagit.md") > 4);
    }
}

#[test]
#[cfg(target_os = "linux")] // GNU coreutils and grep, as the page uses them
fn the_page_about_reports_shows_what_happens() {
    assert!(Home::with_sample().run_all("docs/reporting.md") > 4);
}

#[test]
fn explain_knows_every_code_and_names_the_nearest_of_others() {
    let explain = |args: &[&str]| ra_pack().arg("explain").args(args).assert();
    let printed = |args: &[&str]| {
        String::from_utf8(explain(args).success().get_output().stdout.clone()).unwrap()
    };
    let list = printed(&[]);
    for code in ra_pack::Code::all() {
        assert!(list.lines().any(|line| line.starts_with(code.id())), "{}", code.id());
    }
    let page = printed(&["ndl040"]);
    assert!(page.starts_with("NDL040: An unknown datatype\n"), "{page}");
    assert!(
        page.contains("\n        type: double\n") && page.contains("\n        type: float64\n")
    );
    let json: serde_json::Value = serde_json::from_str(&printed(&["--json", "MAN003"])).unwrap();
    assert_eq!(json["code"], "MAN003");
    assert!(json["wrong"]["sketch"].is_string() && json["source"].is_string());
    let codes: serde_json::Value = serde_json::from_str(&printed(&["--json"])).unwrap();
    assert_eq!(codes.as_array().unwrap().len(), ra_pack::Code::all().count());
    let unknown = explain(&["NDL088"]).code(2);
    let message = String::from_utf8_lossy(&unknown.get_output().stderr).into_owned();
    assert!(message.contains("the nearest is `NDL087`"), "{message}");
}

/// `RA_PACK_WRITE_DOCS=1 cargo test generated` writes the table.
#[test]
fn the_table_of_rules_is_generated_from_the_codes() {
    let page = read("docs/ndl.md");
    let (before, listed) = page.split_at(page.find("| NDL0").unwrap());
    let end =
        listed.lines().take_while(|line| line.starts_with("| NDL0")).map(|line| line.len() + 1);
    let (listed, after) = listed.split_at(end.sum());
    let row = |code: &ndl::Code| format!("| {code} | {} |\n", code.title());
    let rules: String = ndl::Code::ALL.iter().map(row).collect();
    if std::env::var_os("RA_PACK_WRITE_DOCS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ndl.md");
        fs::write(path, [before, &*rules, after].concat()).unwrap();
        return;
    }
    assert_eq!(listed, rules);
}

#[test]
fn the_page_of_the_language_decides_all_that_is_open() {
    let page = read("docs/ndl.md");
    let open = |number: usize| page.lines().any(|line| line.starts_with(&format!("| {number} | ")));
    assert!((1..=20).all(open));
    for word in ["float16", "bfloat16", "float128", "complex64", "complex128", "int128", "uint128"]
    {
        assert!(ndl::Datatype::from_word(word).is_some_and(|word| word.is_extension()));
        assert!(page.contains(&format!("`{word}`")), "{word}");
    }
}
