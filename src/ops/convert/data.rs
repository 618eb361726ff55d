//! The elements of an array on their way from one file to another.

use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Result};
use crate::fs::{self, File, Stamp};
use crate::interchange;
use crate::ra::{Header, Reversal};

/// Bytes that are moved at once.
const BLOCK: usize = 1 << 20;

/// Where the elements of an array come from: as they are to be written, but perhaps in another order.
pub(super) enum Data<'s> {
    /// They lie in a file together.
    Placed(Placed),
    /// They pass by once. Errors are about the file of that name.
    Passing(Box<dyn Read + 's>, String),
}

/// Elements that lie in a file together.
#[derive(Debug)]
pub(super) struct Placed {
    file: File,
    offset: u64,
    /// What the file looked like when its header was read, unless it is our own.
    stamp: Option<Stamp>,
}

impl Placed {
    /// In a file that looked so, if it is one of others.
    pub(super) fn new(file: File, offset: u64, stamp: Option<Stamp>) -> Self {
        Self { file, offset, stamp }
    }

    /// In a file that nobody else knows.
    pub(super) fn own(file: File, offset: u64) -> Self {
        Self { file, offset, stamp: None }
    }

    /// Reads `len` bytes of them, and sees at the end that the file is what it was.
    pub(super) fn into_reader(self, len: u64) -> impl Read {
        Positional { placed: self, at: 0, len }
    }

    fn check_unchanged(&self) -> Result<()> {
        self.stamp.as_ref().map_or(Ok(()), |stamp| self.file.check_unchanged(stamp))
    }
}

/// The elements of an array, and what has to be done to them.
pub(super) struct Arranged<'s> {
    pub(super) data: Data<'s>,
    /// Bytes of all elements.
    pub(super) len: u64,
    /// How the axes are reversed on the way.
    pub(super) reversal: Option<Reversal>,
}

impl<'s> Arranged<'s> {
    /// The elements of an array with this header, as they come or with the axes reversed.
    pub(super) fn new(data: Data<'s>, source: &Header, reverse: bool) -> Self {
        let reversal = reverse.then(|| Reversal::new(source)).filter(|way| !way.is_identity());
        Self { data, len: source.data_len(), reversal }
    }

    /// Writes them into `target`, from `offset` on. What has to lie in a file before it can be written
    /// does so beside `beside`.
    pub(super) fn write_at(
        self,
        target: &File,
        offset: u64,
        beside: &Path,
        jobs: usize,
    ) -> Result<()> {
        let Self { data, len, reversal } = self;
        match (data, reversal) {
            (Data::Placed(placed), None) => {
                placed.file.copy_to(placed.offset, len, target, offset)?;
                placed.check_unchanged()
            }
            (Data::Passing(mut reader, name), None) => {
                pour(&mut reader, len, &name, target, offset)
            }
            (data, Some(reversal)) => {
                let placed = data.placed(len, beside)?;
                let from = |at: u64| placed.offset.saturating_add(at);
                let to = |at: u64| offset.saturating_add(at);
                reversal
                    .reverse_at(
                        jobs,
                        |bytes, at| Ok(placed.file.read_exact_at(bytes, from(at))?),
                        |bytes, at| Ok(target.write_all_at(bytes, to(at))?),
                    )
                    .map_err(|error| failed(error, "reorder", target.path()))?;
                placed.check_unchanged()
            }
        }
    }

    /// Gives them one after the other.
    pub(super) fn into_passing(self, beside: &Path, jobs: usize) -> Result<Data<'s>> {
        let Self { data, len, reversal } = self;
        if reversal.is_none() {
            return Ok(data);
        }
        let scratch = fs::scratch_file(beside)?;
        Self { data, len, reversal }.write_at(&scratch, 0, beside, jobs)?;
        Ok(Data::Placed(Placed::own(scratch, 0)))
    }
}

impl Data<'_> {
    /// Puts them into a file, if they do not lie in one.
    fn placed(self, len: u64, beside: &Path) -> Result<Placed> {
        match self {
            Self::Placed(placed) => Ok(placed),
            Self::Passing(mut reader, name) => {
                let scratch = fs::scratch_file(beside)?;
                pour(&mut reader, len, &name, &scratch, 0)?;
                Ok(Placed::own(scratch, 0))
            }
        }
    }

    /// Has `write` read all `len` bytes of them.
    pub(super) fn read_by<T>(self, len: u64, write: impl FnOnce(&mut dyn Read) -> T) -> T {
        match self {
            Self::Placed(placed) => write(&mut placed.into_reader(len)),
            Self::Passing(mut reader, name) if len == 0 => {
                // Even nothing may have a sum that is wrong, which is told at the end.
                let end = io::copy(&mut (&mut reader).take(1), &mut io::sink()).err();
                write(&mut Named { reader: Ended(end), name })
            }
            Self::Passing(reader, name) => write(&mut Named { reader: reader.take(len), name }),
        }
    }
}

/// Reads elements from where they lie.
struct Positional {
    placed: Placed,
    at: u64,
    len: u64,
}

impl Read for Positional {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.len.saturating_sub(self.at);
        if left == 0 {
            self.placed.check_unchanged()?;
            return Ok(0);
        }
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(out.len());
        let out = out.get_mut(..room).unwrap_or_default();
        let at = self.placed.offset.saturating_add(self.at);
        let count = self.placed.file.read_at(out, at)?;
        if count < out.len() {
            return Err(self.placed.file.changed("it became shorter").into());
        }
        self.at = self.at.saturating_add(wide(count));
        Ok(count)
    }
}

/// Nothing, or an error instead.
struct Ended(Option<io::Error>);

impl Read for Ended {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Says of errors which file they are about.
struct Named<R> {
    reader: R,
    name: String,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.reader.read(out).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => failed(error, "read", self.name.as_ref()).into(),
        })
    }
}

/// Writes `len` bytes of `reader` into a file.
fn pour(reader: &mut dyn Read, len: u64, name: &str, target: &File, offset: u64) -> Result<()> {
    let room = usize::try_from(len).unwrap_or(BLOCK).min(BLOCK);
    let mut block = vec![0; room];
    let mut done = 0;
    while done < len {
        let wanted = usize::try_from(len.saturating_sub(done)).unwrap_or(BLOCK).min(BLOCK);
        let block = block.get_mut(..wanted).unwrap_or_default();
        reader.read_exact(block).map_err(|error| failed(error, "read", name.as_ref()))?;
        target.write_all_at(block, offset.saturating_add(done))?;
        done = done.saturating_add(wide(wanted));
    }
    // Whoever reads may have to say something at the end: a sum that is wrong.
    let end = io::copy(&mut reader.take(1), &mut io::sink());
    end.map(drop).map_err(|error| failed(error, "read", name.as_ref()))
}

/// The error behind an error of reading or writing, which says more than that it failed.
pub(super) fn failed(error: io::Error, action: &'static str, path: &Path) -> Error {
    match error.downcast::<Error>() {
        Ok(ours) => ours,
        Err(error) => match interchange::Error::from(error) {
            interchange::Error::Io(source) => Error::io(action, path)(source),
            source => Error::Interchange { name: path.to_string_lossy().into_owned(), source },
        },
    }
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
