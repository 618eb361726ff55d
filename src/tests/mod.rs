//! The schemas of reports in `schemas/`. Schemas of results that only the command has are generated in
//! `src/cli/reference.rs`.

mod generated;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use self::generated::{check, compare, kept, schema};
use crate::audit::*;
use crate::convert::*;
use crate::describe::*;
use crate::diff::*;
use crate::finding::Explanation;
use crate::finding::{Code, Finding};
use crate::inspect::*;
use crate::ndl::Document;
use crate::read::*;
use crate::verify::*;
use crate::write::*;

/// Implements the schema of a type that serde writes with its own function.
macro_rules! written_as {
    ($type:ty, $name:literal, $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

written_as!(Code, "Code", json_schema!({ "type": "string", "pattern": "^[A-Z]+[0-9]{3}$" }));
written_as!(Document, "Document", json_schema!({ "type": "object" }));
written_as!(
    ArrayFormat,
    "ArrayFormat",
    json_schema!({ "enum": ArrayFormat::words().collect::<Vec<_>>() })
);
written_as!(Number, "Number", json_schema!({ "type": ["number", "string"] }));

#[test]
fn schemas_are_generated_from_the_reports() {
    macro_rules! check_all {
        ($($name:literal $title:literal $report:ty;)*) => {
            $(check($name, $title, schema::<$report>(false));)*
        };
    }
    check_all! {
        "create" "output of `create --json`" CreateReport;
        "create-shard" "output of `create --shard --json`" ShardReport;
        "verify" "output of `verify --json`" VerifyReport;
        "audit" "output of `audit --json`" AuditReport;
        "manifest" "output of `manifest --json`" ManifestReport;
        "verify-against" "second line of `verify --against --json`" ContentComparison;
        "manifest-content" "output of `manifest --content --json`" ContentReport;
        "list" "output of `list --json`" Listing;
        "info-array" "output of `info --json` for an array" ArrayInfo;
        "info-pack" "output of `info --json` for a pack" PackInfo;
        "show-pack" "output of `show --json` for a pack" Outline;
        "convert" "output of `convert --json`" ConvertReport;
        "get" "output of `get --json`" GetReport;
        "extract" "output of `extract --json`" ExtractReport;
        "salvage" "output of `salvage --json`" SalvageReport;
        "validate" "output of `validate --json`" ValidateReport;
        "describe-write" "output of `describe --write --json`" DescribeReport;
        "describe-update" "output of `describe --update --json`" UpdateReport;
        "diff-arrays" "output of `diff --json` for two arrays" ArrayDiff;
        "diff-packs" "output of `diff --json` for two packs" PackDiff;
        "reshape" "output of `reshape --json`" ReshapeReport;
        "explain" "output of `explain CODE --json`" Explanation;
    }
    check_definitions::<Finding>("report");
    check_definitions::<Statistics>("show");
}

/// Compares the definitions in the schema of a result of the command, which all concern a type of the library.
fn check_definitions<T: JsonSchema>(name: &str) {
    let mut whole = kept(name);
    let definitions = schema::<Vec<T>>(false).remove("$defs").unwrap();
    whole.insert("$defs".to_owned(), definitions);
    compare(name, &whole);
}
