//! The imports between the files below `src` run one way.

use std::collections::{BTreeMap, BTreeSet};

use crate::layers::sources;

/// Files that are two halves of one thing, so that each imports the other.
const HALVES: [(&str, &str); 2] = [
    // The instructions work on the blocks and the number of lanes that choose them.
    ("digest/lanes", "digest/lanes/x86"),
    // An element may have a structure, whose parts are elements.
    ("ra/element", "ra/structure"),
];

/// Returns the paths of an import, such as `a::b` and `a::c` of `a::{b, c}`.
fn paths(import: &str) -> Vec<String> {
    let Some((before, list)) = import.split_once('{') else {
        return vec![import.split(" as ").next().unwrap().trim().to_owned()];
    };
    let (before, list) = (before.trim(), list.trim().strip_suffix('}').unwrap());
    let (mut depth, mut found, mut start) = (0_usize, Vec::new(), 0);
    for (at, letter) in list.char_indices().chain([(list.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = list[start..at].trim();
                start = at + 1;
                if !part.is_empty() {
                    found.extend(paths(part).into_iter().map(|path| format!("{before}{path}")));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the import without `crate`, `self` and `super`; `None` if it is of another crate.
fn absolute(module: &str, path: &str, modules: &BTreeSet<&str>) -> Option<Vec<String>> {
    let own = || module.split('/').map(str::to_owned).collect::<Vec<_>>();
    let parts: Vec<_> = path.split("::").map(str::to_owned).collect();
    let above = parts.iter().take_while(|part| *part == "super").count();
    match &*parts[0] {
        "crate" => Some(parts[1..].to_vec()),
        "self" => Some([own(), parts[1..].to_vec()].concat()),
        "super" => Some([own()[..own().len() - above].to_vec(), parts[above..].to_vec()].concat()),
        child if modules.contains(&*format!("{module}/{child}")) => Some([own(), parts].concat()),
        _ => None,
    }
}

/// The imports of each module, each with whether it is exported again.
type Imports = BTreeMap<String, Vec<(Vec<String>, bool)>>;

fn imports(sources: &[(String, String)]) -> Imports {
    let modules = sources.iter().map(|(module, _)| &**module).collect();
    let of = |(module, text): &(String, String)| {
        let mut found = Vec::new();
        for statement in text.split(';') {
            let Some((before, import)) = statement.rsplit_once("use ") else { continue };
            let start = before.rsplit('\n').next().unwrap().trim();
            let is_path = |letter: char| letter.is_alphanumeric() || " \n_:{},*".contains(letter);
            if !start.is_empty() && !start.starts_with("pub") || !import.chars().all(is_path) {
                continue;
            }
            let all = paths(&import.replace('\n', " ")).into_iter();
            let all = all.filter_map(|path| absolute(module, &path, &modules));
            found.extend(all.map(|path| (path, !start.is_empty())));
        }
        (module.clone(), found)
    };
    sources.iter().map(of).collect()
}

/// Returns the module that has the imported item, which another may export again.
fn origin(path: &[String], imports: &Imports, depth: usize) -> Option<String> {
    let home = |len: &usize| imports.contains_key(&path[..*len].join("/"));
    let len = (1..=path.len()).rev().find(home)?;
    let (module, rest) = (path[..len].join("/"), &path[len..]);
    let exported = imports[&module].iter().find(|(other, is_exported)| {
        *is_exported && depth < 8 && rest.first().is_some_and(|name| other.last() == Some(name))
    });
    match exported {
        Some((other, _)) => origin(&[other, &rest[1..]].concat(), imports, depth + 1),
        None => Some(module),
    }
}

/// Returns pairs of modules that import each other, directly or through others.
fn circles(sources: &[(String, String)]) -> BTreeSet<(String, String)> {
    let imports = imports(sources);
    let mut reached: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (module, paths) in &imports {
        let direct = paths.iter().filter_map(|(path, is_exported)| {
            let other = origin(path, &imports, 0)?;
            // A module that exports what its own files have does not use it.
            let is_own = *is_exported && other.starts_with(&format!("{module}/"));
            (other != *module && !is_own).then_some(other)
        });
        reached.insert(module, direct.collect());
    }
    loop {
        let further: Vec<(&str, BTreeSet<String>)> = reached
            .iter()
            .map(|(module, others)| {
                let theirs = others.iter().flat_map(|other| &reached[&**other]);
                (*module, theirs.filter(|other| !others.contains(*other)).cloned().collect())
            })
            .filter(|(_, more): &(&str, BTreeSet<String>)| !more.is_empty())
            .collect();
        if further.is_empty() {
            break;
        }
        for (module, more) in further {
            reached.get_mut(module).unwrap().extend(more);
        }
    }
    let is_circle = |module: &str, other: &str| reached[other].contains(module);
    let pairs = reached.iter().flat_map(|(module, others)| {
        let others = others.iter().filter(|other| *module < other.as_str());
        others
            .filter(|other| is_circle(module, other))
            .map(|other| ((*module).to_owned(), other.clone()))
    });
    pairs.collect()
}

#[test]
fn no_imports_form_a_circle_except_halves_of_one_thing() {
    let expected = HALVES.map(|(one, other)| (one.to_owned(), other.to_owned()));
    assert_eq!(circles(&sources()), expected.into());
}

#[test]
fn circles_are_found_through_exports_and_other_files() {
    let source = |module: &str, text: &str| (module.to_owned(), text.to_owned());
    let direct = [
        source("a", "mod b;\npub(crate) use self::b::{B, C as D};\n"),
        source("a/b", "use super::c::X;\nuse std::io;\n"),
        source("a/c", "use super::B;\n"),
    ];
    assert_eq!(circles(&direct), [("a/b".to_owned(), "a/c".to_owned())].into());
    let long = [
        source("a", "use crate::b::{\n    one,\n    two,\n};\n"),
        source("b", "use crate::c::{self, x::{y, z}};\n"),
        source("c", "fn f() {\n    use crate::a::f;\n}\n"),
    ];
    assert_eq!(circles(&long).len(), 3);
    let none = [source("a", "use crate::b::x;\n"), source("b", "use crate::c;\n"), source("c", "")];
    assert!(circles(&none).is_empty());
}
