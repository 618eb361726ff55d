//! The writer of packs. Its public class is `PackWriter` in `ra_pack/_writer.py`.

use std::fs::File;
use std::io::{Cursor, Read as _, Write as _};
use std::mem;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc::{SendError, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ra_pack::interchange::npy::NpyReader;
use ra_pack::interchange::{FormatError, ImportOptions, Variable};
use ra_pack::ndl::{Attribute, Order, Value};
use ra_pack::write::{ArrayStream, CreateOptions};
use ra_pack::{Error, PackWriter, Progress, Result};

use crate::interrupt::{Stopped, detached, long, short};
use crate::operations::create_report;
use crate::options::{journal, shared};
use crate::{errors, memory, values};

/// Bytes from which writing an array is a long call.
const LONG: usize = 4 << 20;

/// The fewest bytes that a [`BlockWriter`] passes to its thread at once, except at the end.
const PIECE: usize = 1 << 20;

/// The most pieces that wait for the thread: 16 MiB, as Dask computes at once, or one longer block. So they are written
/// while the next ones are computed.
const WAITING: usize = 16;

/// A writer of packs.
#[pyclass(frozen, module = "ra_pack._ra_pack")]
pub(crate) struct Writer {
    /// Locked only with the lock of the interpreter and not during calls of the library.
    state: Mutex<State>,
    progress: Progress,
    /// The process that began the archive.
    process: u32,
}

enum State {
    Idle(Box<PackWriter<'static>>),
    /// Another thread writes.
    Busy,
    /// The archive is complete, or writing ended without one.
    Ended,
}

impl Writer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the writer for a call.
    fn take(&self) -> PyResult<Box<PackWriter<'static>>> {
        if self.process != std::process::id() {
            let message = "the writer belongs to the process that created it";
            return Err(PyValueError::new_err(message));
        }
        let mut state = self.state();
        match mem::replace(&mut *state, State::Busy) {
            State::Idle(writer) => Ok(writer),
            State::Busy => Err(PyValueError::new_err(
                "another thread uses the writer, or an array that grows is not finished",
            )),
            State::Ended => {
                *state = State::Ended;
                Err(PyValueError::new_err("the writer has ended"))
            }
        }
    }

    /// Calls `work` with the writer. A signal ends the writer, because its operations are cancelled.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        is_long: bool,
        work: impl FnOnce(&mut PackWriter<'static>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let mut writer = self.take()?;
        let work = || work(&mut writer);
        let result = if is_long { long(py, &self.progress, work) } else { short(py, work) };
        if matches!(result, Err(Stopped::Signal(_))) {
            detached(py, || drop(writer));
            *self.state() = State::Ended;
        } else {
            *self.state() = State::Idle(writer);
        }
        Ok(result?)
    }
}

#[pymethods]
impl Writer {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        update: bool,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let journal = journal(options)?;
        let options = CreateOptions { journal, ..shared(options)? };
        let progress = options.progress.clone();
        let begin = if update { PackWriter::update } else { PackWriter::create };
        let writer = long(py, &progress, || begin(path, options))?;
        let state = Mutex::new(State::Idle(Box::new(writer)));
        Ok(Self { state, progress, process: std::process::id() })
    }

    /// Set attributes of a group; of the pack if the name is empty. Without any, add an empty group.
    fn group(&self, py: Python<'_>, name: &str, attrs: &Bound<'_, PyAny>) -> PyResult<()> {
        let attributes = values::entries(Some(attrs))?;
        self.run(py, false, |writer| {
            if attributes.is_empty() && !name.is_empty() {
                return writer.directory(name);
            }
            attributes.into_iter().try_for_each(|attribute| writer.typed_attribute(name, attribute))
        })
    }

    /// Add a contiguous array. The header is that of an `.npy` file with the array.
    #[expect(clippy::too_many_arguments, reason = "the arguments of `PackWriter.add`")]
    fn add(
        &self,
        py: Python<'_>,
        name: &str,
        array: &Bound<'_, PyAny>,
        bytes: usize,
        header: &[u8],
        bfloat16: bool,
        dims: Option<Vec<String>>,
        attrs: Option<&Bound<'_, PyAny>>,
        fill_value: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let attributes = values::entries(attrs)?;
        let fill_value = fill_value.map(values::value_of).transpose()?;
        memory::look(array, bytes, |data| {
            let grows = false;
            let parts = Parts { name, header, data, bfloat16, grows, dims, attributes, fill_value };
            self.run(py, data.len() >= LONG, |writer| parts.write(writer))
        })?
    }

    /// Begin an array whose elements come in blocks. If it grows, its header has one slice.
    #[expect(clippy::needless_pass_by_value, reason = "the arguments of a method of Python")]
    #[expect(clippy::too_many_arguments, reason = "the arguments of `PackWriter.add_blocks`")]
    fn begin_blocks(
        slf: Bound<'_, Self>,
        name: String,
        header: Vec<u8>,
        bfloat16: bool,
        grows: bool,
        dims: Option<Vec<String>>,
        attrs: Option<Bound<'_, PyAny>>,
        fill_value: Option<Bound<'_, PyAny>>,
    ) -> PyResult<BlockWriter> {
        let attributes = values::entries(attrs.as_ref())?;
        let fill_value = fill_value.as_ref().map(values::value_of).transpose()?;
        let mut writer = slf.get().take()?;
        let (blocks, given) = sync_channel::<Next>(WAITING);
        let work = move || {
            let (data, header) = (&[][..], &*header);
            let name = &*name;
            let parts = Parts { name, header, data, bfloat16, grows, dims, attributes, fill_value };
            let result = parts.write_with(&mut writer, |mut stream| {
                loop {
                    match given.recv() {
                        Ok(Next::Block(block)) => put(&mut stream, name, &block)?,
                        Ok(Next::Place(to)) => {
                            let place = stream.place()?;
                            to.send(place).expect("the other thread waits for it");
                        }
                        Ok(Next::End { is_placed: true }) => return stream.finish_placed(),
                        Ok(Next::End { is_placed: false }) => return stream.finish(),
                        // The program raised an exception.
                        Err(_) => return Err(Error::Interrupted),
                    }
                }
            });
            (writer, result)
        };
        let open = Open { blocks, piece: Vec::new(), thread: thread::spawn(work) };
        Ok(BlockWriter { writer: slf.unbind(), open: Mutex::new(Some(open)) })
    }

    /// Add a file with this content.
    fn add_bytes(&self, py: Python<'_>, name: &str, content: &[u8]) -> PyResult<()> {
        self.run(py, content.len() >= LONG, |writer| writer.file(name, content))
    }

    /// Add a copy of a file.
    fn add_path(&self, py: Python<'_>, name: &str, path: PathBuf) -> PyResult<()> {
        self.run(py, true, |writer| {
            let file = File::open(&path);
            let file = file.map_err(|source| Error::Io { action: "open", path, source })?;
            writer.file(name, file)
        })
    }

    /// Remove a member of the archive that is updated.
    fn remove(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.run(py, false, |writer| writer.remove(name))
    }

    /// Sync what was added, and list it in the journal.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, true, PackWriter::sync)
    }

    /// Write the archive. Return a report.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut writer = self.take()?;
        let result = long(py, &self.progress, || writer.finish());
        py.detach(|| drop(writer));
        *self.state() = State::Ended;
        create_report(py, &result?)
    }

    /// End without an archive.
    fn abort(&self, py: Python<'_>) {
        if let Ok(writer) = self.take() {
            detached(py, || drop(writer));
            *self.state() = State::Ended;
        }
    }
}

impl Drop for Writer {
    /// Leaves the unfinished files to the process that began them. A copy of the writer after a fork must not delete
    /// them.
    fn drop(&mut self) {
        if self.process != std::process::id() {
            mem::forget(mem::replace(&mut *self.state(), State::Ended));
        }
    }
}

/// An array to write.
struct Parts<'a> {
    name: &'a str,
    header: &'a [u8],
    data: &'a [u8],
    bfloat16: bool,
    grows: bool,
    dims: Option<Vec<String>>,
    attributes: Vec<Attribute>,
    fill_value: Option<Value>,
}

/// A message to the thread of a [`BlockWriter`].
enum Next {
    Block(Vec<u8>),
    /// Sends the place of the data.
    Place(SyncSender<Option<(PathBuf, u64)>>),
    End {
        /// Whether other processes wrote the data.
        is_placed: bool,
    },
}

/// The result of a thread that writes an array, with the writer.
type Written = (Box<PackWriter<'static>>, Result<()>);

/// A writer of an array whose elements come in blocks. A thread of its own writes what waits while the program makes the
/// next block: no function of Rust waits for code of Python, which the end of the interpreter may stop.
#[pyclass(frozen, module = "ra_pack._ra_pack")]
pub(crate) struct BlockWriter {
    writer: Py<Writer>,
    /// Locked only with the lock of the interpreter.
    open: Mutex<Option<Open>>,
}

struct Open {
    blocks: SyncSender<Next>,
    /// The bytes of blocks that are not passed on.
    piece: Vec<u8>,
    thread: JoinHandle<Written>,
}

impl BlockWriter {
    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on the bytes of a block in whole pieces, and at the end all of them. Returns whether the thread still writes.
    fn send(&self, py: Python<'_>, mut data: &[u8], is_end: bool) -> bool {
        let state =
            self.open().as_mut().map(|open| (open.blocks.clone(), mem::take(&mut open.piece)));
        let Some((blocks, mut piece)) = state else { return false };
        let most = PIECE.max(data.len().div_ceil(WAITING));
        let sent = detached(py, || {
            loop {
                let (now, rest) = data.split_at(data.len().min(most - piece.len()));
                piece.extend_from_slice(now);
                data = rest;
                if piece.len() < PIECE {
                    break;
                }
                blocks.send(Next::Block(mem::take(&mut piece)))?;
            }
            if is_end {
                blocks.send(Next::Block(mem::take(&mut piece)))?;
                blocks.send(Next::End { is_placed: false })?;
            }
            Ok::<_, SendError<_>>(piece)
        });
        match (sent, self.open().as_mut()) {
            (Ok(piece), Some(open)) => open.piece = piece,
            _ => return false,
        }
        true
    }

    /// Waits for the thread and returns the writer to its owner.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        let Some(Open { blocks, thread, .. }) = self.open().take() else { return Ok(()) };
        let written = detached(py, || {
            drop(blocks);
            thread.join()
        });
        let (writer, result) = written.unwrap_or_else(|panic| resume_unwind(panic));
        *self.writer.get().state() = State::Idle(writer);
        result.map_err(errors::raised)
    }
}

#[pymethods]
impl BlockWriter {
    /// Write a contiguous array.
    fn write(&self, py: Python<'_>, block: &Bound<'_, PyAny>, bytes: usize) -> PyResult<()> {
        let is_sent = memory::look(block, bytes, |data| self.send(py, data, false))?;
        if is_sent { Ok(()) } else { self.end(py) }
    }

    /// Return the file and the offset where other processes can write the data; None if only this one can.
    fn place(&self, py: Python<'_>) -> PyResult<Option<(PathBuf, u64)>> {
        let blocks = self.open().as_ref().map(|open| open.blocks.clone());
        let (to, from) = sync_channel(1);
        // The thread ends if there is an error.
        let placed = detached(py, move || blocks?.send(Next::Place(to)).ok().and(from.recv().ok()));
        if let Some(place) = placed { Ok(place) } else { self.end(py).map(|()| None) }
    }

    /// End an array whose data other processes wrote to its place.
    fn finish_placed(&self, py: Python<'_>) -> PyResult<()> {
        let blocks = self.open().as_ref().map(|open| open.blocks.clone());
        detached(py, || blocks.map(|blocks| blocks.send(Next::End { is_placed: true })));
        self.end(py)
    }

    /// End the array.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.send(py, &[], true);
        self.end(py)
    }

    /// End without the array.
    fn abort(&self, py: Python<'_>) {
        let _ = self.end(py); // the exception that the program raised is the reason
    }
}

/// Writes elements.
fn put(stream: &mut ArrayStream<'_, '_>, name: &str, data: &[u8]) -> Result<()> {
    stream.write_all(data).map_err(|error| {
        let path = PathBuf::from(name);
        match error.downcast::<Error>() {
            Ok(error) => error,
            Err(source) => Error::Io { action: "write", path, source },
        }
    })
}

impl Parts<'_> {
    fn write(self, writer: &mut PackWriter<'_>) -> Result<()> {
        let (name, data) = (self.name, self.data);
        self.write_with(writer, |mut stream| {
            put(&mut stream, name, data)?;
            stream.finish()
        })
    }

    /// Writes the header and the description, and passes the stream of the elements to `fill`.
    fn write_with(
        self,
        writer: &mut PackWriter<'_>,
        fill: impl FnOnce(ArrayStream<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let failed =
            |source: FormatError| Error::Interchange { name: self.name.to_owned(), source };
        let options = ImportOptions { bfloat16: self.bfloat16, ..ImportOptions::default() };
        // A text without dimensions is read with the header.
        let reader = NpyReader::new(Cursor::new(self.header).chain(self.data), options);
        let variable = reader.and_then(|reader| reader.variable("array")).map_err(failed)?;
        let Variable { header, description, .. } = variable;
        let storage = description.storage.unwrap_or_default();
        let mut attributes = description.attributes;
        attributes.extend(self.attributes);
        let is_coordinate = self.dims.as_ref().is_some_and(
            |dims| matches!(&dims[..], [dim] if self.name.rsplit('/').next() == Some(dim)),
        );
        let (datatype, fill_value) = (&description.datatype, self.fill_value.or(storage.fillvalue));
        let named = (!is_coordinate)
            .then(|| values::take_enum(datatype, &mut attributes, fill_value.as_ref()))
            .flatten();
        let datatype = named.unwrap_or(description.datatype);
        let mut array = writer.array_stream(self.name, header).datatype(datatype);
        if storage.order == Order::Row {
            array = array.order(Order::Row);
        }
        if let Some(dims) = self.dims {
            array = array.dims(dims);
        }
        if let Some(value) = fill_value {
            array = array.fill_value(value);
        }
        for attribute in attributes {
            array = array.typed_attribute(attribute);
        }
        fill(if self.grows { array.grows().begin()? } else { array.begin()? })
    }
}
