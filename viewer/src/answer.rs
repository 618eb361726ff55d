//! Arguments, answers and errors as JSON.

use std::error::Error as _;

use ra_pack::message::Words;
use ra_pack::path::escape;
use serde_json::{Map, Value, json};

pub(crate) type Result<T = Answer> = std::result::Result<T, Failure>;

/// JSON, and bytes if the call asks for them.
pub(crate) struct Answer {
    pub(crate) text: Value,
    pub(crate) bytes: Option<Vec<u8>>,
}

impl From<Value> for Answer {
    fn from(text: Value) -> Self {
        Self { text, bytes: None }
    }
}

/// The reason why a call has no answer.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
}

impl Failure {
    pub(crate) fn to_json(&self) -> Value {
        json!({ "message": self.message })
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { message }
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl From<ra_pack::Error> for Failure {
    fn from(error: ra_pack::Error) -> Self {
        let mut message = error.message().in_words(Words::Library);
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !message.contains(&cause_text) {
                message = format!("{message}: {cause_text}");
            }
            source = cause.source();
        }
        escape(&message).to_string().into()
    }
}

/// The arguments of a call.
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            _ => Err("the arguments of a call are a JSON object".into()),
        }
    }

    /// Returns an argument; `None` if it is absent or null.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        usize::try_from(self.get(name)?.as_u64()?).ok()
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    /// Returns two numbers, such as a row and a column.
    pub(crate) fn pair(&self, name: &str) -> Option<[u64; 2]> {
        match &self.get(name)?.as_array()?[..] {
            [one, other] => Some([one.as_u64()?, other.as_u64()?]),
            _ => None,
        }
    }

    /// Returns the name of an array.
    pub(crate) fn path(&self) -> Result<&str> {
        self.text("path").ok_or_else(|| "the call lacks the name of an array".into())
    }

    /// Returns the slice, without one that selects everything.
    pub(crate) fn slice(&self) -> Option<String> {
        let slice = self.text("slice")?.trim();
        let is_all = slice.split(',').all(|part| matches!(part.trim(), "" | ":"));
        (!is_all).then(|| slice.to_owned())
    }

    /// Returns whether numbers are shown as they are stored.
    pub(crate) fn is_raw(&self) -> bool {
        self.flag("decode") == Some(false)
    }
}
