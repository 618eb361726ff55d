//! Values that are given as text outside of documents, such as on a command line.

use super::datatype::Datatype;
use super::load;
use super::model::Attribute;
use super::report::Reporter;
use super::scalar;
use super::source::SourceText;
use super::value::Value;

/// Attributes that are always text, even if they look like numbers.
const TEXTS: [&str; 13] = [
    "units",
    "long_name",
    "standard_name",
    "title",
    "institution",
    "creator",
    "licence",
    "license",
    "history",
    "source",
    "comment",
    "references",
    "version",
];

/// Reads a number, or a list of numbers and strings in brackets; `None` for any other text.
pub(super) fn read_value(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with('[') {
        let value = scalar::resolve(text).ok()??;
        return Datatype::of_scalar(&value).map(|_| value);
    }
    let source = SourceText::new(text.to_owned());
    let mut sink = Reporter::new(&source);
    let value = load::load(&mut sink)?.value().ok()?;
    (sink.len() == 0 && matches!(value, Value::List(_))).then_some(value)
}

impl Attribute {
    /// Reads the value of an attribute from text: a number, a list of numbers or strings in brackets, or else the text
    /// itself. Attributes such as `units` and `long_name` are always text.
    ///
    /// ```
    /// use ra_pack::ndl::{Attribute, Value};
    ///
    /// assert_eq!(Attribute::read("scale_factor", "0.01").value, Value::Float(0.01));
    /// assert_eq!(Attribute::read("units", "1").value, Value::from("1"));
    /// assert_eq!(Attribute::read("valid_range", "[0, 40]").value, Value::from(vec![0, 40]));
    /// ```
    pub fn read(name: impl Into<String>, text: &str) -> Self {
        let name = name.into();
        let value = (!TEXTS.contains(&&*name)).then(|| read_value(text)).flatten();
        let attribute = value.and_then(|value| Self::new(&*name, value));
        attribute.unwrap_or_else(|| Self {
            name,
            shape: Vec::new(),
            datatype: Datatype::String,
            value: Value::from(text),
            storage: None,
            short: true,
        })
    }
}
