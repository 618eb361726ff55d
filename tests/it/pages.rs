//! Pages are correct: each fenced block is run, each link has a target, and each command and option between backticks
//! exists. `RA_PACK_WRITE_DOCS=1 cargo test generated -- --include-ignored` writes the outputs on the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::experiment::ra_pack;
use crate::help::commands;
use crate::page::{blocks, read};
use crate::remote::server::{Server, serve};
use crate::remote::store::attributes;

/// A test for each page with commands or descriptions: the programs that the commands need, a Python program that
/// writes the first files, and the Python modules that are needed. A test of seconds is ignored.
macro_rules! pages {
    (
        $($(#[$slow:meta])? $name:ident $page:literal $tools:tt $($($program:literal)? [$($module:literal),+])?)*
    ) => {
        const RUN: &[&str] = &[$($page),*];

        #[cfg(target_os = "linux")] // GNU coreutils, as the pages use them
        mod generated {
            use crate::foreign::installed;
            use crate::page::Home;
            use crate::python::Python;

            $(
                #[test]
                $(#[$slow])?
                fn $name() {
                    if !installed(&$tools) {
                        return;
                    }
                    let home = Home::new();
                    $(
                        let Some(python) = Python::with(&[$($module),+]) else { return };
                        home.prepare(&python, &[$($program)?]);
                    )?
                    home.show($page);
                }
            )*
        }
    };
}

pages! {
    readme "README.md" ["dd", "python3"] "tests/it/tutorial.py" ["numpy"]
    #[ignore = "slow"]
    auditing "docs/auditing.md" ["jq", "parallel", "sbatch", "slurmctld", "slurmd"]
    bart "docs/bart.md" ["bart"]
    bagit "docs/bagit.md" ["sha256sum", "unzip"]
    choosing "docs/choosing.md" ["python3", "sha256sum", "tar"] "tests/it/tutorial.py" ["numpy"]
    coming_from_ra "docs/coming-from-ra.md" []
    comparing "docs/comparing.md" []
    concepts "docs/concepts.md" [] "tests/it/tutorial.py" ["numpy"]
    converting "docs/converting.md" []
    depositing "docs/depositing.md" ["jq", "sed"]
    describing "docs/describing.md" []
    format "docs/format.md" ["cc", "dd", "od", "python3", "sha256sum", "split", "unzip"]
    #[ignore = "slow"]
    from_other_formats "docs/from-other-formats.md" ["python3"] "tests/it/other_formats.py"
        ["astropy", "h5py", "netCDF4", "pandas", "pyarrow", "scipy", "xarray", "zarr"]
    keeping "docs/keeping.md" ["bsdtar", "dd", "minisign", "par2", "sha256sum", "ssh-keygen", "zip"]
    looking "docs/looking.md" []
    reporting "docs/reporting.md" []
    schemas "docs/schemas.md" []
    spec_ndl "docs/spec/ndl.md" []
    spec_pack "docs/spec/pack.md" ["od", "tail", "unzip"]
    spec_rawarray "docs/spec/rawarray.md" ["od"]
    #[ignore = "slow"]
    scripting "docs/scripting.md" ["jq", "man", "parallel", "sbatch", "slurmctld", "slurmd", "xargs"]
    tutorial "docs/tutorial.md" ["dd", "par2", "python3", "sha256sum", "unzip"] ["numpy"]
    #[ignore = "slow"]
    zarr "docs/zarr.md" ["jq", "python3"] ["dask", "fsspec", "xarray", "zarr"]
}

/// Pages whose blocks of Python need the Python module: `python/tests/test_pages.py` runs them and compares the output,
/// or makes the page from docstrings, whose examples `python/tests/test_types.py` runs.
const RUN_BY_PYTEST: &[&str] = &["docs/python.md", "docs/python-api.md"];

/// The page about remote packs, whose commands read a server of this test.
const REMOTE: &str = "docs/remote.md";

#[cfg(target_os = "linux")]
#[test]
fn generated_remote() {
    let options = ra_pack::write::CreateOptions::default();
    let pack = |name: &str| {
        let place = tempfile::TempDir::new().unwrap();
        let archive = place.path().join(name);
        ra_pack::create(root().join("examples/experiment"), &archive, &options).unwrap();
        (name.to_owned(), fs::read(archive).unwrap())
    };
    let mut files: BTreeMap<_, _> = ["exp.zip", "exp.tar.gz"].map(pack).into();
    files.insert("bucket/exp.zip".to_owned(), files["exp.zip"].clone());
    let server = Server::start(files, std::time::Duration::ZERO, |request, file| {
        if request.method == "HEAD" { attributes(file) } else { serve(request, file) }
    });
    crate::page::Home::new().with_server(&server.host()).show(REMOTE);
}

/// Pages with a shell block that no test runs: it runs all tests, builds packages, or takes hours.
const NOT_RUN: &[&str] =
    &["README.md", "CONTRIBUTING.md", "benches/README.md", "docs/packaging.md", "docs/python.md"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Markdown pages of the repository's root and of `docs`.
fn pages() -> Vec<String> {
    let root_pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
    let mut pages: Vec<_> = root_pages.map(str::to_owned).into();
    for directory in ["docs", "docs/spec", "benches"] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(format!("{directory}/{}", path.file_name().unwrap().display()));
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn every_block_of_every_page_is_run() {
    let library = read("src/lib.rs");
    for page in pages() {
        let text = read(&page);
        // `blocks` does not find an indented fence.
        for line in text.lines().filter(|line| line.trim_start().starts_with("```")) {
            assert!(line.starts_with("```"), "{page}: an indented fence: {line}");
        }
        for block in blocks(&text) {
            let is_run = match &*block.kind {
                "console" if page == REMOTE => true,
                "python" => RUN.contains(&&*page) || RUN_BY_PYTEST.contains(&&*page),
                "console" | "yaml" => RUN.contains(&&*page),
                // `layers.rs` reads the block of the architecture.
                // `reference.rs` generates the pages of commands and codes.
                "text" => {
                    let others = ["docs/architecture.md", "docs/cli.md", "docs/codes.md"];
                    let others = [RUN_BY_PYTEST, &others].concat();
                    RUN.contains(&&*page) || others.contains(&&*page)
                }
                "rust" => library.contains(&format!("include_str!(\"../{page}\")")),
                "sh" => {
                    NOT_RUN.contains(&&*page)
                        || ["docs/auditing.md", "docs/scripting.md"].contains(&&*page)
                }
                _ => false,
            };
            assert!(is_run, "{page}: no test runs its block of `{}`", block.kind);
        }
    }
}

#[test]
fn the_times_in_readme_are_measured() {
    let readme = read("README.md");
    let (_, table) = readme.split_once("| time on two cores |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let measured = read("docs/performance.md") + &read("benches/README.md");
    let words: Vec<_> = table.split_whitespace().collect();
    let times = words.windows(2).filter(|pair| {
        let unit = pair[1].trim_end_matches(',');
        ["s", "ms", "µs"].contains(&unit) && pair[0].parse::<f64>().is_ok()
    });
    let times: Vec<_> = times.map(|pair| pair.join(" ")).collect();
    assert!(times.len() >= 6, "{times:?}");
    for time in times.iter().map(|time| time.trim_end_matches(',')) {
        assert!(measured.contains(time), "no measurement has {time}");
    }
}

/// The headings of a page as addresses, in the way of GitHub.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let words = heading.trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    anchors
}

/// Returns the targets of the links of a page: the texts between `](` and `)`, outside of code.
fn links(text: &str) -> Vec<String> {
    let prose: String = prose(text);
    let parts = prose.split("](").skip(1);
    parts.map(|part| part.split(')').next().unwrap().to_owned()).collect()
}

/// Removes the fenced blocks from a page.
fn prose(text: &str) -> String {
    text.split("\n```").step_by(2).collect()
}

#[test]
fn every_link_between_pages_has_a_target() {
    let mut seen = 0;
    for page in pages() {
        let text = read(&page);
        for link in links(&text) {
            if link.starts_with("https://") {
                continue;
            }
            seen += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let directory = Path::new(&page).parent().unwrap();
            let target = if path.is_empty() { PathBuf::from(&page) } else { directory.join(path) };
            assert!(root().join(&target).exists(), "{page}: `{link}` has no target");
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(root().join(&target)).unwrap());
                assert!(there.contains(anchor), "{page}: `{link}`: only {there:?}");
            }
        }
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn the_index_names_every_page() {
    let index = read("docs/README.md");
    let linked: BTreeSet<_> = links(&index).into_iter().collect();
    for page in pages() {
        if let Some(name) = page.strip_prefix("docs/").filter(|name| *name != "README.md") {
            assert!(linked.contains(name), "docs/README.md does not name {name}");
        }
    }
}

/// The index, the heading of the page and the title in the site are one title.
#[test]
fn the_index_names_pages_by_their_titles() {
    let index = read("docs/README.md");
    for part in index.split("](").collect::<Vec<_>>().windows(2) {
        let (_, title) = part[0].rsplit_once('[').unwrap();
        let (link, _) = part[1].split_once(')').unwrap();
        let page = read(&format!("docs/{link}"));
        let heading = page.lines().find_map(|line| line.strip_prefix("# "));
        assert!(link == "../README.md" || heading == Some(title), "{link}: {title:?}, {heading:?}");
    }
}

/// Pages for readers end with the pages to read next. References are read in any order.
#[test]
fn every_guide_ends_with_the_next_pages() {
    let index = read("docs/README.md");
    let (guides, _) = index.split_once("## Reference").unwrap();
    let (_, guides) = guides.split_once("## ").unwrap();
    for link in links(guides) {
        let page = read(&format!("docs/{link}"));
        let (_, end) = page.rsplit_once("\n## ").unwrap();
        assert!(
            end.starts_with("Next\n") && end.contains("]("),
            "{link} does not end with `## Next`"
        );
    }
}

/// Returns the texts between single backticks.
fn code(text: &str) -> Vec<String> {
    let prose = prose(text).replace('\n', " ");
    prose.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_command_and_option_on_a_page_exists() {
    let helps: Vec<_> = commands()
        .into_iter()
        .map(|command| {
            let ran = ra_pack().args([&*command, "--help"]).assert().success();
            (command, String::from_utf8(ran.get_output().stdout.clone()).unwrap())
        })
        .collect();
    let (mut seen, mut wrong) = (0, Vec::new());
    for page in pages() {
        for code in code(&read(&page)) {
            let (is_ours, line) = match code.strip_prefix("ra-pack ") {
                Some(line) => (true, line),
                None => (false, &*code),
            };
            let mut words = line.split_whitespace();
            let command = words.next().unwrap_or_default();
            let Some((_, help)) = helps.iter().find(|(name, _)| name == command) else {
                let known = ["help", "--help", "--version"].contains(&command);
                if is_ours && !known {
                    wrong.push(format!("{page}: `{code}`"));
                }
                continue;
            };
            seen += 1;
            // In `--help`, an option is followed by a space, a comma, an equals sign or a bracket.
            let options = words.filter(|word| word.starts_with("--"));
            let options = options.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric()));
            for option in options.map(|word| word.split('=').next().unwrap()) {
                let stands = help.match_indices(option).any(|(at, _)| {
                    let next = help[at + option.len()..].chars().next();
                    next.is_none_or(|c| !c.is_alphanumeric() && c != '-')
                });
                if !stands {
                    wrong.push(format!("{page}: `{code}`: no `{option}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 40, "{seen}");
}
