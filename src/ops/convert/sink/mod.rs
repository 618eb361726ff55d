//! Where arrays go to. What is written gets its name when all of it is there.

mod file;
mod npy;
mod packed;

use std::path::Path;

use super::data::Arranged;
use super::form::Form;
use super::item::Item;
use super::options::ConvertOptions;
use super::plan::Planned;
use super::rawarray::Metadata;
use super::report::Converted;
use crate::error::{Error, Result};
use crate::fs::{File, PendingFile};
use crate::interchange;
use crate::ndl::Document;
use crate::pack;
use crate::parallel;

/// An output that is being written.
pub(super) struct Sink<'o> {
    kind: Kind<'o>,
    /// The output; what is needed on the way lies beside it.
    output: &'o Path,
    /// Where what follows the elements is written, when it is asked for.
    metadata: Option<PendingFile>,
    options: &'o ConvertOptions,
    jobs: usize,
}

enum Kind<'o> {
    Ra(file::RawArraySink),
    Npy(npy::NpySink),
    Pack(packed::PackSink<'o>),
}

impl<'o> Sink<'o> {
    /// Begins an output that will hold everything that is planned.
    pub(super) fn begin(
        output: &'o Path,
        to: Form,
        planned: &mut [Planned],
        options: &'o ConvertOptions,
    ) -> Result<Self> {
        let metadata = match &options.keep_metadata {
            None => None,
            Some(_) if planned.len() != 1 => {
                return Err(Error::Unsupported(
                    "--keep-metadata is for one array; choose it by --member".to_owned(),
                ));
            }
            Some(path) => Some(PendingFile::create(path, options.force)?),
        };
        let kind = match to {
            Form::Ra => Kind::Ra(file::RawArraySink::begin(output, options.force)?),
            Form::Npy => Kind::Npy(npy::NpySink::begin(output, options.force)?),
            Form::Pack(container) => {
                Kind::Pack(packed::PackSink::begin(output, container, options)?)
            }
            other => return Err(Error::Unsupported(format!("{other} cannot be written yet"))),
        };
        let jobs = options.jobs.unwrap_or_else(parallel::default_jobs);
        Ok(Self { kind, output, metadata, options, jobs })
    }

    /// Writes one array.
    pub(super) fn write(
        &mut self,
        name: &str,
        item: &Item,
        data: Arranged<'_>,
        metadata: &Metadata,
        converted: &mut Converted,
    ) -> Result<()> {
        let way = Way { beside: self.output, jobs: self.jobs };
        let none = Metadata::None;
        let kept = if self.options.drop_metadata { &none } else { metadata };
        let carried = match &mut self.kind {
            Kind::Ra(sink) => sink.write(item, data, kept, way).map(|()| true),
            Kind::Npy(sink) => {
                sink.write(item, data, self.options, &mut converted.losses, way).map(|()| false)
            }
            Kind::Pack(sink) => sink.write(name, item, data, kept, way).map(|()| true),
        }?;
        if let Some(pending) = &self.metadata {
            metadata.write_at(pending.file(), 0)?;
        } else if metadata.len() > 0 && !carried {
            converted.losses.push(format!(
                "{} bytes follow its elements; --keep-metadata FILE writes them to a file",
                metadata.len()
            ));
        }
        Ok(())
    }

    /// Writes one array whose elements are all in its description.
    pub(super) fn write_inline(&mut self, name: &str, item: &Item) -> Result<()> {
        match &mut self.kind {
            Kind::Pack(sink) => sink.write_inline(name, item),
            Kind::Ra(_) | Kind::Npy(_) => item.to_variable().map(drop),
        }
    }

    /// Gives everything its name, and answers how many bytes that are.
    pub(super) fn finish(self, losses: &mut Vec<String>) -> Result<u64> {
        if let Some(pending) = self.metadata {
            pending.sync()?;
            pending.persist()?;
        }
        match self.kind {
            Kind::Ra(sink) => sink.finish(),
            Kind::Npy(sink) => sink.finish(),
            Kind::Pack(sink) => sink.finish(losses),
        }
    }
}

/// How elements get where they are written.
#[derive(Debug, Clone, Copy)]
struct Way<'o> {
    /// Where there is room for what has to lie in a file on the way.
    beside: &'o Path,
    jobs: usize,
}

/// Writes a RawArray file; answers how long it is.
fn write_rawarray(
    file: &File,
    item: &Item,
    data: Arranged<'_>,
    metadata: &Metadata,
    way: Way<'_>,
) -> Result<u64> {
    let header = item.to_variable()?.header;
    file.write_all_at(&header.encode_flagged(), 0)?;
    let end = header.header_len().saturating_add(header.data_len());
    data.write_at(file, header.header_len(), way.beside, way.jobs)?;
    metadata.write_at(file, end)?;
    Ok(end.saturating_add(metadata.len()))
}

/// Why an array cannot be written in another format.
fn refused(item: &Item, source: interchange::Error) -> Error {
    match source {
        interchange::Error::Io(error) => super::data::failed(error, "write", item.name.as_ref()),
        source => Error::Interchange { name: item.name.clone(), source },
    }
}

/// The text that describes an array.
fn description(item: &Item) -> String {
    let mut document = Document::flat();
    if let Some(root) = document.groups.first_mut() {
        root.attributes.clone_from(&item.shared);
        let ndarray = item.description.clone();
        if item.is_coordinate {
            root.dimcoords.push(pack::as_coordinate(ndarray));
        } else {
            root.ndarrays.push(ndarray);
        }
    }
    document.to_yaml()
}
