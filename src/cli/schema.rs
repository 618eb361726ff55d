//! `ra-pack schema`

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use serde_json::Value;

use super::output::Output;
use super::{Ending, Failure};

/// The JSON Schemas by name: that of descriptions, then that of each command's `--json`.
const SCHEMAS: [(&str, &str); 22] = [
    ("ndl", include_str!("../../schemas/ndl.schema.json")),
    ("create", include_str!("../../schemas/create.schema.json")),
    ("verify", include_str!("../../schemas/verify.schema.json")),
    ("manifest", include_str!("../../schemas/manifest.schema.json")),
    ("list", include_str!("../../schemas/list.schema.json")),
    ("info-array", include_str!("../../schemas/info-array.schema.json")),
    ("info-pack", include_str!("../../schemas/info-pack.schema.json")),
    ("convert", include_str!("../../schemas/convert.schema.json")),
    ("get", include_str!("../../schemas/get.schema.json")),
    ("show", include_str!("../../schemas/show.schema.json")),
    ("extract", include_str!("../../schemas/extract.schema.json")),
    ("validate", include_str!("../../schemas/validate.schema.json")),
    ("describe-write", include_str!("../../schemas/describe-write.schema.json")),
    ("describe-update", include_str!("../../schemas/describe-update.schema.json")),
    ("diff-arrays", include_str!("../../schemas/diff-arrays.schema.json")),
    ("diff-packs", include_str!("../../schemas/diff-packs.schema.json")),
    ("reshape", include_str!("../../schemas/reshape.schema.json")),
    ("report", include_str!("../../schemas/report.schema.json")),
    ("explain", include_str!("../../schemas/explain.schema.json")),
    ("explain-list", include_str!("../../schemas/explain-list.schema.json")),
    ("schema-list", include_str!("../../schemas/schema-list.schema.json")),
    ("progress", include_str!("../../schemas/progress.schema.json")),
];

/// What the argument can be.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.into_iter().map(|(name, _)| name)
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack schema
  ra-pack schema ndl > ndl.schema.json
  ra-pack schema verify | jq .properties")]
pub(crate) struct Schema {
    /// Which one.
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    name: Option<String>,

    /// Print the result as JSON on one line; a schema is JSON anyway.
    #[arg(long)]
    json: bool,
}

/// A schema in the list.
#[derive(Debug, Serialize)]
struct Listed {
    name: &'static str,
    title: String,
}

pub(super) fn run(args: &Schema, output: &Output) -> Result<Ending, Failure> {
    let named = SCHEMAS.into_iter().find(|(name, _)| args.name.as_deref() == Some(*name));
    match named {
        Some((_, text)) if args.json => output.json(&parsed(text))?,
        Some((_, text)) => output.result(text)?,
        None if args.json => output.json(&listed().collect::<Vec<_>>())?,
        None => output.result(&titles())?,
    }
    Ok(Ending::Clean)
}

/// A line for each schema: its name and its title.
fn titles() -> String {
    let width = names().map(str::len).max().unwrap_or(0);
    let lines = listed().map(|Listed { name, title }| format!("{name:width$}  {title}\n"));
    lines.collect::<Vec<_>>().concat()
}

fn listed() -> impl Iterator<Item = Listed> {
    SCHEMAS.into_iter().map(|(name, text)| {
        let schema = parsed(text);
        let title = schema.get("title").and_then(Value::as_str).unwrap_or_default();
        Listed { name, title: title.to_owned() }
    })
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
