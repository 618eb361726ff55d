//! The source of the worker, and its progress.

use std::cell::RefCell;
use std::io;

use js_sys::{Function, Reflect, Uint8Array};
use ra_pack::Progress;
use ra_pack::read::ReadAt;
use serde_json::json;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The object of the worker.
    type Bytes;

    #[wasm_bindgen(method, catch)]
    fn read(this: &Bytes, offset: f64, length: f64) -> Result<Uint8Array, JsValue>;
}

/// Milliseconds between two reports of progress.
const EVERY: f64 = 100.0;

/// Bytes that are requested at once: each call of the worker takes as long as hashing some kilobytes.
const BLOCK: usize = 256 * 1024;

thread_local! {
    static SOURCE: RefCell<Option<Bytes>> = const { RefCell::new(None) };
    static REPORTS: RefCell<Option<(Function, Progress, f64)>> = const { RefCell::new(None) };
    static PROGRESS: RefCell<Progress> = RefCell::new(Progress::new());
}

/// Sets the source of this worker, which has only one.
pub(crate) fn set(source: JsValue) {
    SOURCE.with_borrow_mut(|it| *it = Some(source.unchecked_into()));
}

/// Returns the progress of all calls.
pub(crate) fn progress() -> Progress {
    PROGRESS.with_borrow(Progress::clone)
}

/// The bytes of the worker's source.
pub(crate) struct Source;

impl Source {
    fn size() -> io::Result<u64> {
        let size = SOURCE.with_borrow(|source| {
            let source = source.as_ref()?;
            Reflect::get(source, &"size".into()).ok()?.as_f64()
        });
        let size = size.ok_or_else(|| io::Error::other("the worker has no source"))?;
        Ok(whole(size))
    }
}

impl ReadAt for Source {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        report();
        let wanted = buffer.len().min(BLOCK);
        let found = SOURCE.with_borrow(|source| {
            let source = source.as_ref().ok_or_else(|| io::Error::other("there is no source"))?;
            source.read(float(offset), float(wanted as u64)).map_err(|error| told(&error))
        })?;
        let count = found.length() as usize;
        match buffer.get_mut(..count) {
            Some(room) => found.copy_to(room),
            None => return Err(io::Error::other("the source returned more bytes than requested")),
        }
        Ok(count)
    }

    fn len(&self) -> io::Result<u64> {
        Self::size()
    }
}

/// Returns the error that the worker threw.
fn told(error: &JsValue) -> io::Error {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|it| it.as_string());
    io::Error::other(message.unwrap_or_else(|| "the source cannot be read".to_owned()))
}

#[expect(clippy::cast_precision_loss, reason = "no source has 2^53 bytes")]
fn float(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn whole(number: f64) -> u64 {
    number as u64
}

/// Reports of progress during one call.
pub(crate) struct Reports;

impl Reports {
    pub(crate) fn new(report: Function) -> Self {
        let now = js_sys::Date::now();
        REPORTS.with_borrow_mut(|it| *it = Some((report, progress(), now)));
        Self
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        REPORTS.with_borrow_mut(|it| *it = None);
    }
}

/// Reports the progress if the last report is old enough.
fn report() {
    REPORTS.with_borrow_mut(|reports| {
        let Some((report, progress, last)) = reports else { return };
        let now = js_sys::Date::now();
        if now - *last < EVERY {
            return;
        }
        *last = now;
        let now = progress.snapshot();
        let text = json!({ "done": now.bytes, "total": now.bytes_total, "phase": now.stage });
        // A page that is gone does not listen.
        let _ = report.call1(&JsValue::NULL, &text.to_string().into());
    });
}
