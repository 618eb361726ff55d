//! What a Rust source names: paths, macros, methods, words. No parser of the language: use trees,
//! `mod` lines, and paths in code.
//!
//! Items under `#[cfg(test)]` are left out. Names are resolved per file, not per scope: a `zip`
//! that is imported from this crate is that `zip` in the whole file.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, end_of_group, is_word, tokens};

/// Words before `::` that end an expression or begin a type, so that the path starts at `::`.
const KEYWORDS: &[&str] = &[
    "as", "break", "const", "dyn", "else", "for", "if", "impl", "in", "match", "move", "mut",
    "ref", "return", "unsafe", "where", "while", "yield",
];

/// Words that begin an item, after its attributes.
const ITEM_STARTS: &[&str] = &[
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "macro_rules",
    "mod",
    "pub",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "use",
];

/// A path as written: `::a::b` is `global`.
#[derive(Debug)]
struct Named {
    line: usize,
    global: bool,
    segments: Vec<String>,
}

/// One source file, read.
#[derive(Debug)]
pub(super) struct Source {
    file: String,
    module: Vec<String>,
    tokens: Vec<Token>,
    paths: Vec<(usize, Vec<String>)>,
    test_modules: Vec<String>,
}

impl Source {
    /// Reads the text of `file`, a path below `src` such as `ra/header.rs`.
    pub(super) fn parse(file: &str, text: &str) -> Self {
        let stem = file.strip_suffix(".rs").unwrap();
        let module: Vec<_> =
            stem.strip_suffix("/mod").unwrap_or(stem).split('/').map(str::to_owned).collect();
        let (tokens, test_modules) = without_tests(&tokens(text));
        let is_root = module == ["lib"] || module == ["main"];
        let base = if is_root { Vec::new() } else { module.clone() };
        let below = |name: String| [base.as_slice(), &[name]].concat().join("/");
        let test_modules = test_modules.into_iter().map(below).collect();
        let paths = Walk::new(&tokens, base).resolved_paths();
        Self { file: format!("src/{file}"), module, tokens, paths, test_modules }
    }

    /// The path for messages.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// The module that the file is: `ra/header.rs` is `ra`, `header`.
    pub(super) fn module(&self) -> &[String] {
        &self.module
    }

    /// Modules in other files that this one declares for tests only, as `ra/tests`.
    pub(super) fn test_modules(&self) -> impl Iterator<Item = String> + '_ {
        self.test_modules.iter().cloned()
    }

    /// Every path of two or more parts and every import, with what it resolves to.
    pub(super) fn paths(&self) -> impl Iterator<Item = (usize, &[String])> {
        self.paths.iter().map(|(line, path)| (*line, path.as_slice()))
    }

    /// Lines that name `path`, something in it, or everything beside it by a `*`.
    pub(super) fn lines_of_path(&self, path: &str) -> Vec<usize> {
        let wanted: Vec<_> = path.split("::").collect();
        let names = |found: &[String]| match found.split_last() {
            Some((last, parents)) if last == "*" && parents.len() < wanted.len() => {
                wanted.iter().zip(parents).all(|(wanted, found)| wanted == found)
            }
            _ => {
                wanted.len() <= found.len()
                    && wanted.iter().zip(found).all(|(wanted, found)| wanted == found)
            }
        };
        let lines = self.paths().filter(|(_, found)| names(found)).map(|(line, _)| line);
        lines.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Lines that hold `word` as a whole word.
    pub(super) fn lines_of_word(&self, word: &str) -> Vec<usize> {
        self.lines_of(&[word])
    }

    /// Lines that call the macro `name`.
    pub(super) fn lines_of_macro(&self, name: &str) -> Vec<usize> {
        ["(", "[", "{"].iter().flat_map(|open| self.lines_of(&[name, "!", open])).collect()
    }

    /// Lines that call a method `name`.
    pub(super) fn lines_of_method(&self, name: &str) -> Vec<usize> {
        self.lines_of(&[".", name, "("])
    }

    /// Lines with the attribute `name`.
    pub(super) fn lines_of_attribute(&self, name: &str) -> Vec<usize> {
        self.lines_of(&["#", "[", name])
    }

    fn lines_of(&self, texts: &[&str]) -> Vec<usize> {
        let fits =
            |window: &&[Token]| window.iter().zip(texts).all(|(token, text)| token.text == *text);
        self.tokens.windows(texts.len()).filter(fits).map(|window| window[0].line).collect()
    }
}

/// Takes out the items that exist in tests only; the names are of the modules in other files.
fn without_tests(tokens: &[Token]) -> (Vec<Token>, Vec<String>) {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text.as_str());
    let (mut kept, mut modules) = (Vec::new(), Vec::new());
    let mut i = 0;
    while i < tokens.len() {
        if text(i) == "#" && text(i + 1) == "!" && is_test_cfg(tokens, i + 2) {
            return (Vec::new(), modules);
        }
        if text(i) == "#" && is_test_cfg(tokens, i + 1) {
            let mut item = end_of_group(tokens, i + 1);
            while text(item) == "#" {
                item = end_of_group(tokens, item + 1);
            }
            // A field, an arm or a statement is kept: where it ends is not worth knowing.
            if ITEM_STARTS.contains(&text(item)) {
                i = end_of_item(tokens, item);
                if let [.., module, name, end] = &tokens[item..i]
                    && module.text == "mod"
                    && end.text == ";"
                {
                    modules.push(name.text.clone());
                }
                continue;
            }
        }
        kept.push(tokens[i].clone());
        i += 1;
    }
    (kept, modules)
}

/// Whether the bracket at `open` is `[cfg(test)]` or says `test` and more; `not(test)` and
/// `any(test, …)` are code of the library too.
fn is_test_cfg(tokens: &[Token], open: usize) -> bool {
    let group = tokens.get(open..end_of_group(tokens, open)).unwrap_or_default();
    let has = |word: &str| group.iter().any(|token| token.text == word);
    group.get(1).is_some_and(|token| token.text == "cfg")
        && has("test")
        && !has("not")
        && !has("any")
}

/// One past the `;` or the closing brace of the item at `start`.
fn end_of_item(tokens: &[Token], start: usize) -> usize {
    let mut i = start;
    while let Some(token) = tokens.get(i) {
        match token.text.as_str() {
            ";" => return i + 1,
            "{" if tokens[start].text == "use" => i = end_of_group(tokens, i),
            "{" => return end_of_group(tokens, i),
            "(" | "[" => i = end_of_group(tokens, i),
            _ => i += 1,
        }
    }
    i
}

/// Collects the paths of one file, in order.
struct Walk<'a> {
    tokens: &'a [Token],
    base: Vec<String>,
    /// What an import or a `mod` line makes of a name, in this file.
    names: BTreeMap<String, Named>,
    found: Vec<Named>,
}

impl<'a> Walk<'a> {
    fn new(tokens: &'a [Token], base: Vec<String>) -> Self {
        Self { tokens, base, names: BTreeMap::new(), found: Vec::new() }
    }

    fn text(&self, index: usize) -> &'a str {
        self.tokens.get(index).map_or("", |token| token.text.as_str())
    }

    fn line(&self, index: usize) -> usize {
        self.tokens.get(index).map_or(0, |token| token.line)
    }

    fn resolved_paths(mut self) -> Vec<(usize, Vec<String>)> {
        self.collect();
        self.found.iter().map(|named| (named.line, self.resolve(named))).collect()
    }

    fn collect(&mut self) {
        let mut module = self.base.clone();
        let mut open_modules = Vec::new();
        let mut depth = 0_usize;
        let mut i = 0;
        while i < self.tokens.len() {
            match (self.text(i), self.text(i + 1), self.text(i + 2)) {
                ("mod", name, "{") => {
                    module.push(name.to_owned());
                    open_modules.push(depth);
                    depth += 1;
                    i += 3;
                }
                ("mod", name, ";") => {
                    let segments = absolute(&module, &["self".to_owned(), name.to_owned()]);
                    let named = Named { line: self.line(i), global: false, segments };
                    self.names.insert(name.to_owned(), named);
                    i += 3;
                }
                ("extern", "crate", _) => i = self.import(i + 2, false, Vec::new(), &module),
                ("use", next, _) if next != "<" => {
                    let global = next == "::";
                    i = self.import(i + 1 + usize::from(global), global, Vec::new(), &module);
                }
                ("{", ..) => {
                    depth += 1;
                    i += 1;
                }
                ("}", ..) => {
                    depth = depth.saturating_sub(1);
                    if open_modules.last() == Some(&depth) {
                        open_modules.pop();
                        module.pop();
                    }
                    i += 1;
                }
                _ => i = self.inline_path(i, &module),
            }
        }
    }

    /// Reads the use tree at `i`, below `prefix`, and returns where it ends.
    fn import(
        &mut self,
        mut i: usize,
        global: bool,
        prefix: Vec<String>,
        module: &[String],
    ) -> usize {
        let line = self.line(i);
        let mut segments = prefix;
        while is_word(self.text(i)) || self.text(i) == "*" {
            segments.push(self.text(i).to_owned());
            i += 1;
            if self.text(i) != "::" {
                break;
            }
            i += 1;
        }
        if self.text(i) == "{" {
            i += 1;
            while !matches!(self.text(i), "}" | "") {
                let global = global || (segments.is_empty() && self.text(i) == "::");
                i += usize::from(self.text(i) == "::");
                let before = i;
                i = self.import(i, global, segments.clone(), module);
                i += usize::from(self.text(i) == "," || i == before);
            }
            return i + 1;
        }
        if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
            segments.pop();
        }
        let mut name = segments.last().cloned();
        if self.text(i) == "as" {
            name = Some(self.text(i + 1).to_owned());
            i += 2;
        }
        let segments = absolute(module, &segments);
        if let Some(name) = name.filter(|name| name != "_" && name != "*") {
            self.names.insert(name, Named { line, global, segments: segments.clone() });
        }
        if !segments.is_empty() {
            self.found.push(Named { line, global, segments });
        }
        i
    }

    /// Reads the path that starts at `i`, if one of two or more parts does.
    fn inline_path(&mut self, start: usize, module: &[String]) -> usize {
        let global = self.text(start) == "::";
        let before = start.checked_sub(1).map_or("", |before| self.text(before));
        let goes_on = before == ">" || (is_word(before) && !KEYWORDS.contains(&before));
        let is_start = match self.text(start) {
            "::" => !goes_on,
            word => before != "::" && !KEYWORDS.contains(&word),
        };
        if !is_start {
            return start + 1;
        }
        let mut i = start + usize::from(global);
        let mut segments = Vec::new();
        while is_word(self.text(i)) {
            segments.push(self.text(i).to_owned());
            i += 1;
            if self.text(i) != "::" || !is_word(self.text(i + 1)) {
                break;
            }
            i += 1;
        }
        if segments.len() > 1 {
            let segments = absolute(module, &segments);
            self.found.push(Named { line: self.line(start), global, segments });
        }
        i.max(start + 1)
    }

    /// Follows the imports of this file until the first part is a crate's name, or `crate`.
    fn resolve(&self, named: &Named) -> Vec<String> {
        let mut segments = named.segments.clone();
        let mut global = named.global;
        let mut seen = BTreeSet::new();
        while let Some(first) = segments.first().filter(|_| !global)
            && let Some(import) = self.names.get(first)
            && seen.insert(first.clone())
        {
            global = import.global;
            segments.splice(..1, import.segments.iter().cloned());
        }
        segments
    }
}

/// `crate::…` for a path that starts with `self` or `super`; other paths as they are.
fn absolute(module: &[String], segments: &[String]) -> Vec<String> {
    let is_relative = |segment: &&String| *segment == "self" || *segment == "super";
    let relative = segments.iter().take_while(is_relative).count();
    if relative == 0 {
        return segments.to_vec();
    }
    let (relative, rest) = segments.split_at(relative);
    let supers = relative.iter().filter(|segment| *segment == "super").count();
    let above = &module[..module.len().saturating_sub(supers)];
    let root = std::iter::once("crate".to_owned());
    root.chain(above.iter().cloned()).chain(rest.iter().cloned()).collect()
}
