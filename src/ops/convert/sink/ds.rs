//! Variables of ds-format.
//!
//! Its header stands before the data and tells how long each of them is, so that everything has to be there
//! before anything is written: it waits in one file without a name.

use std::io::{self, BufWriter, Read, Write as _};
use std::path::Path;
use std::sync::Arc;

use super::super::data::Arranged;
use super::super::form::Form;
use super::super::item::Item;
use super::super::options::ConvertOptions;
use super::super::rawarray::Metadata;
use super::{Way, WriteArrays, refused, settle};
use crate::error::{Error, Result};
use crate::fs::{self, File, PendingFile};
use crate::interchange::{self, ds};
use crate::ndl::Attribute;
use crate::path::escape;

/// Bytes that are written at once.
const BLOCK: usize = 256 * 1024;

/// A `.ds` file that is being written.
pub(super) struct DsSink {
    file: PendingFile,
    writer: ds::Writer<'static>,
    /// The elements of all arrays, one after the other, and where they end.
    scratch: Arc<File>,
    end: u64,
    /// What is said of the whole.
    shared: Vec<Attribute>,
    losses: Vec<String>,
}

impl DsSink {
    pub(super) fn begin(output: &Path, from: Form, options: &ConvertOptions) -> Result<Self> {
        // What is missing in such a file stays missing: the fill was made up on the way.
        let write = ds::WriteOptions { mask_fill: options.masks || from == Form::Ds };
        Ok(Self {
            file: PendingFile::create(output, options.force)?,
            writer: ds::Writer::new(write),
            scratch: Arc::new(fs::scratch_file(output)?),
            end: 0,
            shared: Vec::new(),
            losses: Vec::new(),
        })
    }

    /// Takes over what is said of a whole group: there is only one here.
    fn share(&mut self, item: &Item) {
        for attribute in &item.shared {
            match self.shared.iter().find(|other| other.name == attribute.name) {
                None => self.shared.push(attribute.clone()),
                Some(same) if same == attribute => {}
                Some(_) => self.losses.push(format!(
                    "the attribute `{}` of the group of `{}` is said otherwise of another group",
                    escape(&attribute.name),
                    escape(&item.name)
                )),
            }
        }
    }
}

impl WriteArrays for DsSink {
    fn array(
        &mut self,
        _: &str,
        item: &Item,
        data: Arranged<'_>,
        _: &Metadata,
        _: &mut Vec<String>,
        way: Way<'_>,
    ) -> Result<bool> {
        self.share(item);
        let (variable, len, start) = (item.to_variable()?, data.len, self.end);
        data.write_at(&self.scratch, start, way.beside, way.jobs)?;
        self.end = start.saturating_add(len);
        let scratch = Arc::clone(&self.scratch);
        let open = move || {
            let stretch = Stretch { file: Arc::clone(&scratch), at: start, left: len };
            let reader: Box<dyn Read> = Box::new(stretch);
            Ok(reader)
        };
        let announced = self.writer.array(&variable, item.is_coordinate, open);
        announced.map_err(|source| refused(item, source))?;
        Ok(false)
    }

    fn inline(&mut self, _: &str, item: &Item) -> Result<()> {
        self.share(item);
        let announced = self.writer.inline(&item.description, item.is_coordinate);
        announced.map_err(|source| refused(item, source))
    }

    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64> {
        let Self { file, mut writer, shared, losses: mut lost, .. } = *self;
        let path = file.file().path();
        let failed = |error| match error {
            interchange::Error::Io(error) => super::super::data::failed(error, "write", path),
            source => Error::Interchange { name: path.to_string_lossy().into_owned(), source },
        };
        writer.attributes(&shared).map_err(failed)?;
        losses.append(&mut lost);
        losses.extend_from_slice(writer.losses());
        let mut out = BufWriter::with_capacity(BLOCK, file.file().writer());
        writer.write_to(&mut out).map_err(failed)?;
        out.flush().map_err(Error::io("write", path))?;
        drop(out);
        let bytes = file.file().len()?;
        settle(file)?;
        Ok(bytes)
    }
}

/// A part of a file.
struct Stretch {
    file: Arc<File>,
    at: u64,
    left: u64,
}

impl Read for Stretch {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        let count = self.file.read_at(out.get_mut(..room).unwrap_or_default(), self.at)?;
        let wide = u64::try_from(count).unwrap_or(0);
        self.at = self.at.saturating_add(wide);
        self.left = self.left.saturating_sub(wide);
        Ok(count)
    }
}
