//! The core of the viewer: it opens the source that a worker has, and answers the calls of the page as JSON.

mod answer;
mod array;
mod contents;
mod plot;
mod single;
mod source;
mod table;
mod values;
mod verification;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use self::answer::{Answer, Arguments};
use self::contents::Opened;
use self::source::Reports;

/// A source with its pack, once it is open.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Viewer {
    name: String,
    opened: Option<Opened>,
}

#[wasm_bindgen]
impl Viewer {
    /// Makes a viewer of a source: an object with `size`, and `read(offset, length)`, which returns bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(source: JsValue, name: String) -> Self {
        source::set(source);
        Self { name, opened: None }
    }

    /// Answers a call with JSON, or with an array of JSON and bytes. `progress` gets the progress as JSON.
    ///
    /// # Errors
    ///
    /// JSON with `message` if the call cannot be answered.
    pub fn call(
        &mut self,
        name: &str,
        arguments: &str,
        progress: js_sys::Function,
    ) -> Result<JsValue, JsValue> {
        let reports = Reports::new(progress);
        let answer = self.answer(name, arguments);
        drop(reports);
        match answer {
            Ok(Answer { text, bytes: None }) => Ok(text.to_string().into()),
            Ok(Answer { text, bytes: Some(bytes) }) => {
                let parts: [JsValue; 2] =
                    [text.to_string().into(), Uint8Array::from(&bytes[..]).into()];
                Ok(parts.iter().collect::<Array>().into())
            }
            Err(error) => Err(error.to_json().to_string().into()),
        }
    }
}

impl Viewer {
    fn answer(&mut self, name: &str, arguments: &str) -> answer::Result {
        let arguments = Arguments::parse(arguments)?;
        if self.opened.is_none() {
            self.opened = Some(Opened::new(&self.name)?);
        }
        let opened = self.opened.as_mut().ok_or("the pack is not open")?;
        match name {
            "open" => opened.facts(),
            "list" => opened.list(&arguments),
            "rows" => Ok(opened.rows(&arguments)),
            "groups" => opened.groups(&arguments),
            "array" => array::facts(opened, &arguments),
            "table" => table::table(opened, &arguments),
            "statistics" => values::statistics(opened, &arguments),
            "export" => values::export(opened, &arguments),
            "plot" => plot::plot(opened, &arguments),
            "hash" => verification::hash(opened, &arguments),
            "verify" => verification::verify(opened, &arguments),
            _ => Err(format!("there is no call `{name}`").into()),
        }
    }
}
