//! Targets that are not files. The archive is created in the temporary directory of the system, and copied when it is
//! complete.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::options::CreateOptions;
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::fs::remote::{self, NewObject};
use crate::fs::{self, File, PendingDirectory};
use crate::progress::Progress;
use crate::read::manifests::companions;

/// Bytes copied at once to a writer.
const COPIED_AT_ONCE: usize = 1 << 20;

/// The target of an archive that is created elsewhere.
pub(crate) struct Delivery<'w> {
    /// The directory in which the archive is created.
    home: PathBuf,
    /// The temporary directory with it, which is deleted with this value.
    _temporary: PendingDirectory,
    to: Receiver<'w>,
}

enum Receiver<'w> {
    Writer(Box<dyn Write + Send + 'w>),
    Store(Objects),
}

/// The objects of an archive and of the files next to it.
struct Objects {
    archive: NewObject,
    /// The places of files that may belong to it.
    companions: Vec<NewObject>,
}

impl Objects {
    fn all(&self) -> impl Iterator<Item = &NewObject> {
        [&self.archive].into_iter().chain(&self.companions)
    }
}

impl<'w> Delivery<'w> {
    /// Prepares an archive for a writer. Returns its path, where it is called `pack`.
    pub(crate) fn to_writer(
        sink: impl Write + Send + 'w,
        container: Container,
    ) -> Result<(Self, PathBuf)> {
        let to = Receiver::Writer(Box::new(sink));
        Self::prepare(to, &format!("pack{}", container.extension()))
    }

    /// Prepares an archive for the URL of an object. Returns its path. Objects that exist are errors, unless they are to
    /// be replaced.
    pub(super) fn to_url(
        url: &Path,
        replace: bool,
        progress: &Progress,
    ) -> Result<(Self, PathBuf)> {
        let archive = NewObject::at(url, progress)?;
        let at = |path: PathBuf| NewObject::at(&path, progress);
        let companions = companions(url).into_iter().map(at).collect::<Result<Vec<_>>>()?;
        let objects = Objects { archive, companions };
        let existing = objects.all().find(|object| object.exists());
        if let Some(existing) = existing.filter(|_| !replace) {
            return Err(Error::AlreadyExists { path: existing.url().to_owned() });
        }
        let name = objects.archive.file_name().to_owned();
        Self::prepare(Receiver::Store(objects), &name)
    }

    fn prepare(to: Receiver<'w>, name: &str) -> Result<(Self, PathBuf)> {
        let (temporary, home) = PendingDirectory::of_system("archive")?;
        let archive = home.join(name);
        Ok((Self { home, _temporary: temporary, to }, archive))
    }

    /// Returns the path of a file of the archive for messages and reports.
    pub(super) fn name(&self, path: PathBuf) -> PathBuf {
        let Ok(below) = path.strip_prefix(&self.home) else { return path };
        match &self.to {
            Receiver::Writer(_) => below.to_owned(),
            Receiver::Store(Objects { archive, .. }) => archive.sibling(below),
        }
    }

    /// Returns whether the target has the file at this path of the archive already.
    pub(super) fn exists(&self, path: &Path) -> bool {
        let Receiver::Store(objects) = &self.to else { return false };
        let url = self.name(path.to_owned());
        objects.all().any(|object| object.url() == url && object.exists())
    }

    /// Returns whether the target has a place for files next to the archive.
    pub(super) fn has_companions(&self) -> bool {
        matches!(self.to, Receiver::Store(_))
    }

    /// Copies the complete archive and the files next to it.
    pub(super) fn deliver(&mut self, archive: &Path, options: &CreateOptions) -> Result<()> {
        let progress = &options.progress;
        let objects = match &mut self.to {
            Receiver::Writer(sink) => {
                let mut source = File::open(archive)?.watched(progress);
                progress.stage("copying", source.len()?, 0);
                let mut reader = io::BufReader::with_capacity(COPIED_AT_ONCE, &mut source);
                let copied = io::copy(&mut reader, sink).and_then(|_| sink.flush());
                return copied.map_err(Error::io("copy", archive));
            }
            Receiver::Store(objects) => objects,
        };
        let local = companions(archive).into_iter().zip(&objects.companions);
        let (new, stale): (Vec<_>, Vec<_>) = local.partition(|(path, _)| fs::exists(path));
        let new = new.into_iter().map(|(path, object)| (object, path));
        let all = [(&objects.archive, archive.to_owned())].into_iter().chain(new);
        let files = all.map(|(object, path)| Ok((object, File::open(&path)?)));
        let stale = stale.into_iter().map(|(_, object)| object);
        let stale: Vec<_> = stale.filter(|object| object.exists()).collect();
        remote::upload(files.collect::<Result<Vec<_>>>()?, &stale, options.force, progress)
    }
}
