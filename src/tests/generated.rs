//! JSON Schemas that are generated from types and stored in `schemas/`.

use std::{env, fs};

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The last sentence of the description of every result.
const MORE: &str = "Later versions may add keys; readers must ignore unknown keys.";

/// The keys of a schema, in the order in which they are written.
const KEYS: [&str; 10] = [
    "$schema",
    "$id",
    "title",
    "description",
    "type",
    "items",
    "oneOf",
    "properties",
    "required",
    "$defs",
];

/// Generates the schema of the JSON for a `T`; without definitions if `inline`.
pub(crate) fn schema<T: JsonSchema>(inline: bool) -> Schema {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = inline;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    complete(&mut schema);
    schema
}

/// Keeps the first paragraph of each description, on one line. Removes `null` where a key is omitted instead, and
/// formats of numbers that no standard defines and strict validators reject.
fn complete(schema: &mut Schema) {
    transform_subschemas(&mut complete, schema);
    schema.remove("format");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let first = text.split("\n\n").next().unwrap();
        *text = first.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let required = schema.get("required").cloned().unwrap_or_default();
    let required = |key: &str| required.as_array().is_some_and(|all| all.contains(&key.into()));
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (key, property) in properties.into_iter().flatten() {
        if let (Some(property), false) = (property.as_object_mut(), required(key)) {
            not_null(property);
        }
    }
}

/// Removes `null` from the types of a value.
fn not_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|word| word != "null");
        if let [word] = types.as_slice() {
            let word = word.clone();
            schema.insert("type".to_owned(), word);
        }
    }
    if let Some(Value::Array(mut forms)) = schema.remove("anyOf") {
        forms.retain(|form| form.get("type").is_none_or(|word| word != "null"));
        match forms.pop() {
            Some(Value::Object(only)) if forms.is_empty() => schema.extend(only),
            last => {
                forms.extend(last);
                schema.insert("anyOf".to_owned(), forms.into());
            }
        }
    }
}

/// Returns the stored schema, or an empty one if there is none.
pub(crate) fn kept(name: &str) -> Schema {
    let text = fs::read_to_string(path(name)).unwrap_or_else(|_| "{}".to_owned());
    serde_json::from_str(&text).unwrap()
}

/// Compares the schema of a result with the stored one.
pub(crate) fn check(name: &str, title: &str, mut schema: Schema) {
    schema.insert("$id".to_owned(), format!("urn:ra-pack:schema:{name}").into());
    schema.insert("title".to_owned(), title.into());
    let of_entry = schema.pointer("/items/description");
    let text = schema.get("description").or(of_entry).and_then(Value::as_str).unwrap();
    let text = format!("{text} {MORE}");
    schema.insert("description".to_owned(), text.into());
    compare(name, &schema);
}

/// Compares a schema with the stored one, or writes it with `RA_PACK_WRITE_DOCS=1`.
pub(crate) fn compare(name: &str, schema: &Schema) {
    let unknown: Vec<_> =
        schema.as_object().unwrap().keys().filter(|key| !KEYS.contains(&key.as_str())).collect();
    assert_eq!(unknown, [""; 0], "{name}");
    let part = |key: &str| {
        let part = serde_json::to_string_pretty(schema.get(key)?).unwrap();
        Some(format!("  \"{key}\": {}", part.replace('\n', "\n  ")))
    };
    let parts: Vec<_> = KEYS.into_iter().filter_map(part).collect();
    let text = format!("{{\n{}\n}}\n", parts.join(",\n"));
    if env::var_os("RA_PACK_WRITE_DOCS").is_some() {
        fs::write(path(name), text).unwrap();
    } else {
        let kept = fs::read_to_string(path(name)).unwrap();
        assert_eq!(kept, text, "write it again with `RA_PACK_WRITE_DOCS=1 cargo test generated`");
    }
}

fn path(name: &str) -> String {
    format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"))
}
