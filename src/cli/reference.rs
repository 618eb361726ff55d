//! Commands that print the reference of ra-pack: codes, schemas, manual pages and completions.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, StyledStr};
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man as Page;
use clap_mangen::roff::{Roff, bold, roman};
use ra_pack::Code;
use ra_pack::finding::{Example, Explanation};
use ra_pack::write::FORMAT_VERSION;
use serde::Serialize;
use serde_json::Value;

use super::common::SHARED;
use super::files;
use super::output::Output;
use super::table::aligned;
use super::text::{counted, flowing};
use super::{Ending, Failure};

#[cfg(test)]
#[path = "../tests/generated.rs"]
mod generated;

/// A finding code.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ListedCode {
    /// The stable identifier.
    code: &'static str,
    /// The meaning of the code, as a sentence.
    title: &'static str,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack explain DESC004
  ra-pack explain")]
pub(crate) struct ExplainArgs {
    /// Code of an error or warning, such as DESC004 [default: list all codes].
    #[arg(value_name = "CODE")]
    code: Option<Code>,

    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn explain(args: &ExplainArgs, output: &Output) -> Result<Ending, Failure> {
    match args.code {
        Some(code) if args.json => output.json(&code.explanation())?,
        Some(code) => output.result(&explained(code))?,
        None if args.json => {
            let listed = |code: &Code| ListedCode { code: code.id(), title: code.title() };
            output.json(&Code::ALL.iter().map(listed).collect::<Vec<_>>())?;
        }
        None => {
            let line = |code: &Code| format!("{:<8} {}\n", code.id(), sentence(code.title()));
            output.result(&Code::ALL.iter().map(line).collect::<String>())?;
        }
    }
    Ok(Ending::Clean)
}

fn explained(code: Code) -> String {
    let Explanation { text, source, wrong, right, .. } = code.explanation();
    let mut page = format!("{}: {}\n\n", code.id(), sentence(code.title()));
    let _ = writeln!(page, "{}", flowing(text.split_inclusive(' '), 0, 0, WIDTH));
    let _ = write!(page, "\nSource of the rule: {source}.\n");
    for (word, example) in [("Wrong", wrong), ("Right", right)] {
        let kind = match example {
            Example::Document(_) => ", a complete document",
            Example::Sketch(_) => "",
        };
        let _ = write!(page, "\n{word}{kind}:\n\n");
        for line in example.text().lines() {
            let _ = writeln!(page, "    {line}");
        }
    }
    page
}

/// Converts a sentence to a title: lower case, without a final period.
fn sentence(title: &str) -> String {
    let title = title.trim_end_matches('.');
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The versions of the program and of the specifications that it follows.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Versions {
    /// Name of the program.
    program: &'static str,
    /// Version of the program.
    version: &'static str,
    /// Version of the pack format that it writes (`docs/spec/pack.md`).
    pack_format: &'static str,
    /// Version of the specification of arrays (`docs/spec/rawarray.md`).
    rawarray: &'static str,
    /// Version of the Ndarray Data Language, which `docs/spec/ndl.md` specifies with extensions.
    ndl: &'static str,
}

/// Prints the versions as JSON.
pub(super) fn versions(output: &Output) -> Result<Ending, Failure> {
    output.json(&Versions {
        program: "ra-pack", // also in the crate of the Python module
        version: env!("CARGO_PKG_VERSION"),
        pack_format: FORMAT_VERSION,
        rawarray: FORMAT_VERSION,
        ndl: ra_pack::ndl::VERSION,
    })?;
    Ok(Ending::Clean)
}

/// Longest line of a paragraph, in characters.
const WIDTH: usize = 80;

macro_rules! schemas {
    ($($name:literal)*) => {
        /// JSON Schemas by name: that of descriptions, then those of the commands' `--json`.
        const SCHEMAS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../schemas/", $name, ".schema.json"))),)*];
    };
}

schemas! {
    "ndl" "create" "create-shard" "verify" "verify-against" "audit" "manifest" "manifest-content" "list" "info-array"
    "info-pack" "convert" "get" "show" "show-pack" "extract" "salvage" "validate" "describe-write" "describe-update"
    "diff-arrays" "diff-packs" "reshape" "report" "explain" "explain-list" "schema-list" "version" "progress"
}

/// Returns the names of the schemas.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(name, _)| *name)
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack schema
  ra-pack schema ndl > ndl.schema.json
  ra-pack schema verify | jq .properties")]
pub(crate) struct SchemaArgs {
    /// Name of the schema [default: list all names].
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    name: Option<String>,

    /// Print the result as JSON on one line.
    #[arg(long)]
    json: bool,
}

/// A schema that `ra-pack schema NAME` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ListedSchema {
    /// The name for `ra-pack schema NAME`.
    name: &'static str,
    /// The subject of the schema.
    title: String,
}

pub(super) fn schema(args: &SchemaArgs, output: &Output) -> Result<Ending, Failure> {
    let named = SCHEMAS.iter().find(|(name, _)| args.name.as_deref() == Some(name));
    match named {
        Some((_, text)) if args.json => output.json(&parsed(text))?,
        Some((_, text)) => output.result(text)?,
        None if args.json => output.json(&schemas().collect::<Vec<_>>())?,
        None => {
            let rows: Vec<_> = schemas().map(|it| [it.name.to_owned(), it.title]).collect();
            output.result(&aligned(&rows, [false; 2], usize::MAX).join("\n"))?;
        }
    }
    Ok(Ending::Clean)
}

fn schemas() -> impl Iterator<Item = ListedSchema> {
    SCHEMAS.iter().map(|(name, text)| {
        let title =
            parsed(text).get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
        ListedSchema { name, title }
    })
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack man | man -l -
  ra-pack man create > ra-pack-create.1
  ra-pack man -o share/man/man1")]
pub(crate) struct ManArgs {
    /// Command to describe [default: ra-pack itself].
    #[arg(value_name = "COMMAND")]
    command: Option<String>,

    /// Write the page, or without COMMAND all pages, to this directory, which is created if needed.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(super) fn man(args: &ManArgs, mut top: Command, output: &Output) -> Result<Ending, Failure> {
    top.build();
    let mut pages: Vec<&Command> = vec![&top];
    pages.extend(commands(&top));
    match &args.command {
        None if args.output.is_none() => pages.truncate(1),
        None => {}
        Some(wanted) => pages.retain(|command| command.get_name() == wanted),
    }
    if pages.is_empty() {
        let wanted = ra_pack::path::escape(args.command.as_deref().unwrap_or_default()).to_string();
        return Err(Failure::options(format!("no command `{wanted}`")));
    }
    let Some(directory) = &args.output else {
        for command in pages {
            output.result(&page(command)?)?;
        }
        return Ok(Ending::Clean);
    };
    for command in &pages {
        files::write(directory, &format!("{}.1", page_name(command)), &page(command)?)?;
    }
    let count = counted(pages.len() as u64, "page");
    output.note(&format!("wrote {count} to {}", ra_pack::path::escape_path(directory)));
    Ok(Ending::Clean)
}

/// Returns all commands except `help`.
fn commands(top: &Command) -> impl Iterator<Item = &Command> {
    top.get_subcommands().filter(|command| command.get_name() != "help")
}

/// Returns the name of the page of a command: `ra-pack-create`.
fn page_name(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_owned()
}

/// Returns the page of a command as roff.
fn page(command: &Command) -> std::io::Result<String> {
    let name = page_name(command);
    let bin_name = name.replacen("ra-pack-", "ra-pack ", 1);
    let page = Page::new(command.clone().display_name(&name).bin_name(bin_name));
    let mut out = Vec::new();
    // Has no date, so that the same version gives the same pages.
    writeln!(out, ".TH {name} 1 \"\" \"ra-pack {}\" ra-pack", env!("CARGO_PKG_VERSION"))?;
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;

    let is_top = command.has_subcommands();
    let mut roff = Roff::new();
    if is_top {
        roff.control("SH", ["COMMANDS"]);
        for command in commands(command) {
            roff.control("TP", []).text([bold(page_name(command)), roman("(1)")]);
            roff.text([roman(text_of(command.get_about()))]);
        }
    }
    for (title, body) in &sections(command) {
        // Keeps line breaks: these are examples and tables.
        roff.control("SH", [title.as_str()]).control("nf", []);
        for line in body.lines() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        roff.control("fi", []);
    }
    let [other, rest] =
        if is_top { ["sha256sum", "(1), zip(1), tar(1)"] } else { ["ra-pack", "(1)"] };
    roff.control("SH", ["SEE ALSO"]).text([bold(other), roman(rest)]);
    roff.to_writer(&mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn text_of(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// Returns the text after the options in `--help`, by heading. Every page has the exit status, unless the command
/// describes its own, and the environment.
fn sections(command: &Command) -> Vec<(String, String)> {
    let below = command.get_after_long_help().or(command.get_after_help());
    let mut sections = split(&text_of(below));
    for (title, body) in split(SHARED) {
        match sections.iter_mut().find(|(known, _)| *known == title) {
            Some((_, own)) if title == "ENVIRONMENT" && !own.contains("NO_COLOR") => {
                own.push('\n');
                own.push_str(&body);
            }
            Some(_) => {}
            None => sections.push((title, body)),
        }
    }
    sections
}

/// Splits a text by its headings: lines that end in a colon before an indented line.
fn split(text: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let heading = line.strip_suffix(':').filter(|line| !line.starts_with(' '));
        match (heading, sections.last_mut()) {
            (Some(title), _) => sections.push((title.to_uppercase(), String::new())),
            (None, Some((_, body))) => {
                body.push_str(line);
                body.push('\n');
            }
            (None, None) => sections.push(("NOTES".to_owned(), format!("{line}\n"))),
        }
    }
    for (_, body) in &mut sections {
        body.truncate(body.trim_end().len());
    }
    sections
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack completions bash > ra-pack.bash
  ra-pack completions zsh > _ra-pack
  ra-pack completions fish > ra-pack.fish
  ra-pack completions powershell > ra-pack.ps1

Installation:
  bash         ~/.local/share/bash-completion/completions/ra-pack
  zsh          _ra-pack in a directory of $fpath, before compinit runs
  fish         ~/.config/fish/completions/ra-pack.fish
  powershell   add the line `. PATH/ra-pack.ps1` to $PROFILE
  elvish       ra-pack.elv in ~/.config/elvish/lib; add `use ra-pack` to rc.elv")]
pub(crate) struct CompletionsArgs {
    /// Shell that the script is for.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn completions(
    args: &CompletionsArgs,
    mut top: Command,
    output: &Output,
) -> Result<Ending, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut top, "ra-pack", &mut text);
    // If the name of the program has a hyphen, the bash script of clap_complete 4.6 uses two different names for the
    // options of a command.
    let text = String::from_utf8_lossy(&text).replace("ra__subcmd__pack__", "ra__pack__");
    output.result(&text)?;
    Ok(Ending::Clean)
}

#[cfg(test)]
pub(crate) mod tests {
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::super::progress::ProgressLine;
    use super::super::report::WrittenPage;
    use super::super::show::ShownArray;
    use super::generated::{check, kept, schema};
    use super::{ListedCode, ListedSchema, Versions};

    /// Returns the schema of a list of findings.
    pub(in crate::cli) fn findings(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "$ref": "#/$defs/Finding" } })
    }

    pub(in crate::cli) fn statistics(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "$ref": "#/$defs/Statistics" })
    }

    pub(in crate::cli) fn object(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }

    /// Checks a schema. The library's own test generates the definitions of its types.
    fn check_result<T: JsonSchema>(name: &str, title: &str) {
        let mut schema = schema::<T>(true);
        if let Some(definitions) = kept(name).remove("$defs") {
            schema.insert("$defs".to_owned(), definitions);
        }
        check(name, title, schema);
    }

    #[test]
    fn schemas_are_generated_from_the_results() {
        macro_rules! check_all {
            ($($name:literal $title:literal $result:ty;)*) => {
                $(check_result::<$result>($name, $title);)*
            };
        }
        check_all! {
            "show" "output of `show --json` for an array" ShownArray;
            "report" "output of `report --json`" WrittenPage;
            "explain-list" "output of `explain --json`" Vec<ListedCode>;
            "schema-list" "output of `schema --json`" Vec<ListedSchema>;
            "version" "output of `--version --json`" Versions;
            "progress" "line of `--progress json`" ProgressLine<'static>;
        }
    }
}
