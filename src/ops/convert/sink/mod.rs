//! Where arrays go to. What is written gets its name when all of it is there.

mod ds;
mod file;
mod kept;
mod npy;
mod npz;
mod packed;
mod png;

use std::path::{Path, PathBuf};

use super::data::Arranged;
use super::form::Form;
use super::item::Item;
use super::options::ConvertOptions;
use super::plan::Planned;
use super::rawarray::Metadata;
use super::report::Converted;
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::fs::{self, File, PendingFile};
use crate::interchange;
use crate::ndl::Document;
use crate::pack::{self, DESCRIPTION_EXTENSIONS, EXTERNAL_MANIFEST_SUFFIX};
use crate::parallel;
use crate::path::escape;

/// An output that is being written.
pub(super) struct Sink<'o> {
    writes: Box<dyn WriteArrays + 'o>,
    /// The output; what is needed on the way lies beside it.
    output: &'o Path,
    /// Where what follows the elements is written, when it is asked for.
    metadata: Option<PendingFile>,
    options: &'o ConvertOptions,
    jobs: usize,
}

/// What arrays are written into.
trait WriteArrays {
    /// Writes one array that is called `name`. The answer is whether it has what follows the elements, which is
    /// `metadata`.
    fn array(
        &mut self,
        name: &str,
        item: &Item,
        data: Arranged<'_>,
        metadata: &Metadata,
        losses: &mut Vec<String>,
        way: Way<'_>,
    ) -> Result<bool>;

    /// Writes one whose elements are all in its description.
    fn inline(&mut self, _name: &str, item: &Item) -> Result<()> {
        item.to_variable().map(drop)
    }

    /// Gives everything its name, and answers how many bytes that are.
    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64>;
}

impl<'o> Sink<'o> {
    /// Begins an output that will hold everything that is planned.
    pub(super) fn begin(
        output: &'o Path,
        from: Form,
        to: Form,
        planned: &[Planned],
        options: &'o ConvertOptions,
    ) -> Result<Self> {
        let metadata = match &options.keep_metadata {
            None => None,
            Some(_) if planned.len() != 1 => {
                return Err(Error::Unsupported(
                    "--keep-metadata is for one array; choose it by --member".to_owned(),
                ));
            }
            Some(path) if outputs(output, to).iter().any(|other| fs::is_same_name(path, other)) => {
                return Err(Error::Unsupported(format!(
                    "`{}` cannot be both what is converted to and the file of --keep-metadata",
                    escape(&path.to_string_lossy())
                )));
            }
            Some(path) => Some(PendingFile::create(path, options.force)?),
        };
        let writes: Box<dyn WriteArrays + 'o> = match to {
            Form::Ra => Box::new(file::RawArraySink::begin(output, options.force)?),
            Form::Npy => Box::new(npy::NpySink::begin(output, options)?),
            Form::Npz => Box::new(npz::NpzSink::begin(output, options)?),
            Form::Ds => Box::new(ds::DsSink::begin(output, from, options)?),
            Form::Png => Box::new(png::PngSink::begin(output, options.force)?),
            Form::Pack(container) => Box::new(packed::PackSink::begin(output, container, options)?),
        };
        let jobs = parallel::jobs(options.jobs);
        Ok(Self { writes, output, metadata, options, jobs })
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
        let losses = &mut converted.losses;
        let carried = self.writes.array(name, item, data, kept, losses, way)?;
        if let Some(pending) = &self.metadata {
            metadata.write_at(pending.file(), 0)?;
        } else if kept.len() > 0 && !carried {
            converted.losses.push(format!(
                "{} bytes follow its elements; --keep-metadata FILE writes them to a file",
                metadata.len()
            ));
        }
        Ok(())
    }

    /// Writes one array whose elements are all in its description.
    pub(super) fn write_inline(&mut self, name: &str, item: &Item) -> Result<()> {
        self.writes.inline(name, item)
    }

    /// Gives everything its name, and answers how many bytes that are.
    pub(super) fn finish(self, losses: &mut Vec<String>) -> Result<u64> {
        if let Some(pending) = self.metadata {
            settle(pending)?;
        }
        self.writes.finish(losses)
    }
}

/// Everything that is written for an output.
pub(super) fn places(
    output: &Path,
    to: Form,
    options: &ConvertOptions,
) -> impl Iterator<Item = PathBuf> {
    outputs(output, to).into_iter().chain(options.keep_metadata.clone())
}

/// The output and the files beside it that belong to it.
fn outputs(output: &Path, to: Form) -> Vec<PathBuf> {
    let mut places = vec![output.to_owned()];
    match to {
        Form::Ra => {
            let extensions = DESCRIPTION_EXTENSIONS.into_iter();
            places.extend(extensions.map(|extension| output.with_extension(extension)));
        }
        Form::Pack(container) if container != Container::Directory => {
            let mut manifest = output.as_os_str().to_owned();
            manifest.push(EXTERNAL_MANIFEST_SUFFIX);
            places.push(manifest.into());
        }
        _ => {}
    }
    places
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
    file.write_all_at(&header.encode(), 0)?;
    let end = header.header_len().saturating_add(header.data_len());
    data.write_at(file, header.header_len(), way.beside, way.jobs)?;
    metadata.write_at(file, end)?;
    Ok(end.saturating_add(metadata.len()))
}

/// Gives a file its name.
fn settle(file: PendingFile) -> Result<()> {
    file.sync()?;
    file.persist()
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
