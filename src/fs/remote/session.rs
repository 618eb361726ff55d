//! The URLs that this process has opened: their names without secrets, and the open objects.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use object_store::ObjectStore;

use super::cache::CachedObject;
use super::object::{Fault, Object};
use super::options::{RemoteOptions, configured};
use super::runtime::wait;
use super::store::{Located, locate};
use crate::error::{Error, Result};
use crate::fs::file::File;
use crate::fs::positional;
use crate::fs::source::Source;
use crate::fs::stamp::Version;
use crate::path::url::{conceal, is_url, shown};
use crate::progress::Progress;

/// Number of objects that are kept open: those of one operation, and not all of a long list.
const MOST_KEPT: usize = 4;
/// Bytes copied at once to a temporary file.
const COPIED_AT_ONCE: usize = 1 << 20;

#[derive(Default)]
struct Session {
    /// URLs by their names, if they differ.
    urls: HashMap<String, String>,
    open: HashMap<String, Arc<dyn Source>>,
}

/// A copy of an object without a name, and its length.
struct Downloaded(fs::File, u64);

impl Source for Downloaded {
    fn read_at(&self, buffer: &mut [u8], offset: u64, _: &Progress) -> io::Result<usize> {
        positional::read(&self.0, buffer, offset)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.1)
    }
}

fn session() -> MutexGuard<'static, Session> {
    static SESSION: OnceLock<Mutex<Session>> = OnceLock::new();
    SESSION.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a name for a URL, without its secrets. This process can open the URL under this name, so that no message or
/// report contains a secret. Other text is returned unchanged.
///
/// ```
/// use ra_pack::remote::name;
///
/// assert_eq!(name("https://example.org/exp.zip?signature=abc"), "https://example.org/exp.zip");
/// assert_eq!(name("https://example.org/exp.zip?signature=def"), "https://example.org/exp.zip#2");
/// assert_eq!(name("exp.zip"), "exp.zip");
/// ```
pub fn name(url: &str) -> String {
    let concealed = conceal(url);
    if concealed == url || !is_url(url.as_ref()) {
        return url.to_owned();
    }
    let mut session = session();
    let mut name = concealed.clone().into_owned();
    let mut number = 1;
    while session.urls.get(&name).is_some_and(|known| known != url) {
        number += 1;
        name = format!("{concealed}#{number}");
    }
    session.urls.insert(name.clone(), url.to_owned());
    name
}

/// Returns the URL that is given or named by `path`.
pub(crate) fn url_of(path: &Path) -> Cow<'_, Path> {
    let url = path.to_str().and_then(|name| session().urls.get(name).cloned());
    url.map_or(Cow::Borrowed(path), |url| Cow::Owned(url.into()))
}

/// Opens the URL that is given or named by `path`. Returns it with its name.
pub(crate) fn open(path: &Path, progress: &Progress) -> Result<(Arc<dyn Source>, PathBuf)> {
    try_open(path, progress).map_err(Error::io("open", &*shown(path)))
}

fn try_open(path: &Path, progress: &Progress) -> io::Result<(Arc<dyn Source>, PathBuf)> {
    let text = path.to_string_lossy();
    let (options, url, opened) = {
        let session = session();
        let opened = session.open.get(&*text).cloned();
        (configured(), session.urls.get(&*text).cloned(), opened)
    };
    let named = PathBuf::from(if url.is_some() { text.to_string() } else { name(&text) });
    if let Some(opened) = opened {
        return Ok((opened, named));
    }
    let located = locate(url.as_deref().unwrap_or(&text), options.timeout)?;
    let opened: Arc<dyn Source> = if options.download {
        let file = download(located, &options, progress)?;
        let len = file.metadata()?.len();
        Arc::new(Downloaded(file, len))
    } else {
        let (object, tail) = Object::open(located, options.timeout, progress)?;
        Arc::new(CachedObject::new(object, tail))
    };
    if options.keep {
        let mut session = session();
        if session.open.len() >= MOST_KEPT {
            session.open.clear();
        }
        session.open.insert(text.into_owned(), Arc::clone(&opened));
    }
    Ok((opened, named))
}

/// Returns the version of the object at the URL that is given or named by `path`.
pub(crate) fn version(path: &Path) -> Result<Version> {
    let (timeout, url) = (configured().timeout, url_of(path));
    let located = locate(&url.to_string_lossy(), timeout);
    let object = located.and_then(|it| Object::look_at(it, timeout, &Progress::default()));
    Ok(object.map_err(Error::io("open", &*shown(path)))?.version())
}

/// Opens an object of a store of the program.
pub(crate) fn open_store(
    store: Arc<dyn ObjectStore>,
    path: &str,
    progress: &Progress,
) -> Result<File> {
    let timeout = configured().timeout;
    let parsed = object_store::path::Path::parse(path)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error));
    let opened = parsed.and_then(|path| {
        let located = Located { store, writer: None, path, scheme: String::new() };
        Object::open(located, timeout, progress)
    });
    let (object, tail) = opened.map_err(Error::io("open", path))?;
    Ok(File::of_object(Arc::new(CachedObject::new(object, tail)), path.into()))
}

/// Copies an object to a temporary file without a name.
fn download(
    located: Located,
    options: &RemoteOptions,
    progress: &Progress,
) -> io::Result<fs::File> {
    let mut file = tempfile::tempfile()?;
    let again = located.clone();
    match Object::open(located, options.timeout, progress) {
        Ok((object, tail)) => {
            let object = CachedObject::new(object, tail);
            let len = object.len()?;
            progress.stage("downloading", len, 0);
            object.announce(0..len);
            let (mut at, mut block) = (0, vec![0; COPIED_AT_ONCE]);
            while at < len {
                let count = object.read_at(&mut block, at, progress)?;
                progress.add(count);
                file.write_all(block.split_at(count).0)?;
                at += count as u64;
            }
            return Ok(file);
        }
        Err(error) if !is_only_whole(&error) => return Err(error),
        Err(_) => {}
    }
    progress.stage("downloading", 0, 0);
    let (mut copy, counted) = (file.try_clone()?, progress.clone());
    wait(progress, async move {
        Object::stream(&again, |bytes| {
            counted.add(bytes.len());
            copy.write_all(bytes).map_err(|error| Fault::Failed {
                kind: error.kind(),
                message: format!("the temporary file cannot be written: {error}"),
            })
        })
        .await
    })?;
    Ok(file)
}

/// Returns whether the server serves only whole files.
fn is_only_whole(error: &io::Error) -> bool {
    let fault = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(fault, Some(Fault::OnlyWhole(_)))
}
