//! Objects that are written. Their parts are sent side by side, and each object appears when it is complete.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, TryFutureExt as _, TryStreamExt as _, stream};
use object_store::multipart::{MultipartStore, PartId};
use object_store::{MultipartId, ObjectStoreExt as _, PutPayload};

use super::object::{Failure, Fault, Object};
use super::options::configured;
use super::runtime::wait;
use super::session::url_of;
use super::store::{Located, locate};
use crate::error::{Error, Result};
use crate::fs::beside;
use crate::fs::file::File;
use crate::path::url::conceal;
use crate::progress::Progress;

/// Bytes of a part, if an object does not need longer ones.
const PART: u64 = 8 << 20;
/// Number of parts that all stores accept.
const MOST_PARTS: u64 = 10_000;
/// Bytes of the parts that are sent at once.
const AT_ONCE: u64 = 64 << 20;
/// Bytes per second below which a store is given up.
const SLOWEST: u64 = 128 << 10;
/// Longest time for giving up an upload when the program ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// A place for an object.
pub(crate) struct NewObject {
    url: PathBuf,
    /// The object that is there.
    old: Option<Object>,
    /// The object to write.
    object: Object,
}

impl NewObject {
    /// Looks at the place that a URL names.
    pub(crate) fn at(url: &Path, progress: &Progress) -> Result<Self> {
        let failed = || Error::io("open", url);
        let text = url_of(url).to_string_lossy().into_owned();
        if conceal(&text) != text {
            return Err(Error::wrong_target(url, "has a user, query or fragment; leave it out"));
        }
        let timeout = configured().timeout;
        let located = locate(&text, timeout).map_err(failed())?;
        if located.writer.is_none() {
            return Err(Error::wrong_target(
                url,
                "is the URL of a web server, which can only be read; write to a bucket (`s3:`, `gs:`, `az:` or `abfs:`) \
                 or to a file",
            ));
        }
        let old = Self::look_at(&Object::new(located, timeout), progress).map_err(failed())?;
        // An answer comes after the parts that are sent at the same time.
        let timeout = timeout.saturating_add(Duration::from_secs(AT_ONCE / SLOWEST));
        let object = Object::new(locate(&text, timeout).map_err(failed())?, timeout);
        Ok(Self { url: url.to_owned(), old, object })
    }

    /// Returns the object that is there.
    fn look_at(object: &Object, progress: &Progress) -> io::Result<Option<Object>> {
        let located = Located::clone(&object.located);
        match Object::look_at(located, configured().timeout, progress) {
            Ok(old) => Ok(Some(old)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // An empty object has no first byte.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Some(object.clone())),
            Err(error) => Err(error),
        }
    }

    fn delete(&self, progress: &Progress) -> Result<()> {
        let object = self.object.clone();
        let deleted = wait(progress, async move {
            let Located { store, path, .. } = &*object.located;
            ask(&object, || store.delete(path)).await
        });
        deleted.map_err(Error::io("delete", &self.url))
    }

    pub(crate) fn url(&self) -> &Path {
        &self.url
    }

    /// Returns whether an object was there.
    pub(crate) fn exists(&self) -> bool {
        self.old.is_some()
    }

    /// Returns the last part of the path of the object.
    pub(crate) fn file_name(&self) -> &str {
        self.object.located.path.filename().expect("a path that is not empty")
    }

    /// Returns the URL of a name next to the object: that of the object, or one that it begins.
    pub(crate) fn sibling(&self, name: &Path) -> PathBuf {
        let name = name.to_string_lossy();
        match name.strip_prefix(self.file_name()) {
            Some(suffix) => beside(&self.url, suffix),
            None => self.url.with_file_name(&*name),
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io("write", &self.url)(error)
    }
}

/// Writes files as objects, and deletes the `stale` ones. All parts of all files are sent before. Then the stale objects
/// are deleted, and the new ones appear in the order of the files. After an error, parts that were sent are deleted.
pub(crate) fn upload(
    files: Vec<(&NewObject, File)>,
    stale: &[&NewObject],
    replace: bool,
    progress: &Progress,
) -> Result<()> {
    let lens = files.iter().map(|(_, file)| file.len()).collect::<Result<Vec<_>>>()?;
    progress.stage("uploading", lens.iter().sum(), 0);
    let mut begun = Vec::new();
    let done = (|| {
        for (new, file) in files {
            let upload = Upload::begin(new, progress)?;
            begun.push((upload, Vec::new()));
            let (upload, parts) = begun.last_mut().expect("one was added");
            *parts = upload.send(file, progress)?;
        }
        for stale in stale {
            stale.delete(progress)?;
        }
        begun.iter_mut().try_for_each(|(upload, parts)| {
            upload.complete(std::mem::take(parts), replace, progress)
        })
    })();
    let left: Vec<_> = begun.iter().filter_map(|(upload, _)| upload.give_up().err()).collect();
    match (done, left.first()) {
        (Err(Error::Io { action, path, source }), Some(left)) => {
            let message = format!("{source}; {left}");
            Err(Error::Io { action, path, source: io::Error::new(source.kind(), message) })
        }
        (done, _) => done,
    }
}

/// The uploads of this process that are not complete, by the order of their beginning.
static UPLOADS: Mutex<BTreeMap<u64, (Object, MultipartId)>> = Mutex::new(BTreeMap::new());

fn uploads() -> MutexGuard<'static, BTreeMap<u64, (Object, MultipartId)>> {
    UPLOADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Deletes the parts of all uploads of this process that are not complete.
pub(crate) fn give_up_uploads() {
    let unfinished = std::mem::take(&mut *uploads());
    for (object, id) in unfinished.into_values() {
        // The program ends and cannot say more. Stores delete such parts by a rule of the bucket.
        let _ = abort(object, id);
    }
}

/// An object of which parts may be in the store.
struct Upload<'n> {
    new: &'n NewObject,
    id: MultipartId,
    number: u64,
}

impl<'n> Upload<'n> {
    fn begin(new: &'n NewObject, progress: &Progress) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let object = new.object.clone();
        let begun = wait(progress, async move {
            let path = &object.located.path;
            let id = ask(&object, || writer(&object).create_multipart(path)).await?;
            uploads().insert(number, (object, id.clone()));
            Ok::<_, Fault>(id)
        });
        let id = begun.map_err(|error| new.failed(error))?;
        Ok(Self { new, id, number })
    }

    /// Sends the content of a file, several parts at once.
    fn send(&self, file: File, progress: &Progress) -> Result<Vec<PartId>> {
        let len = file.len()?;
        let size = len.div_ceil(MOST_PARTS).next_multiple_of(1 << 20).max(PART);
        let at_once = usize::try_from(AT_ONCE / size).unwrap_or(1).max(1);
        let parts =
            (0..len.div_ceil(size)).map(move |number| number * size..len.min((number + 1) * size));
        let (object, id, counted) = (self.new.object.clone(), self.id.clone(), progress.clone());
        let sent = wait(progress, async move {
            let send = |(number, range): (usize, Range<u64>)| {
                let (object, id, file, counted) = (&object, &id, &file, &counted);
                async move {
                    let count = usize::try_from(range.end - range.start).expect("a short part");
                    let mut content = vec![0; count];
                    file.read_exact_at(&mut content, range.start).map_err(|error| {
                        Fault::Failed { kind: io::ErrorKind::Other, message: error.to_string() }
                    })?;
                    let content = PutPayload::from(content);
                    let path = &object.located.path;
                    let put = || writer(object).put_part(path, id, number, content.clone());
                    let part = ask(object, put).await?;
                    counted.add(count);
                    Ok::<_, Fault>(part)
                }
            };
            stream::iter(parts.enumerate()).map(send).buffered(at_once).try_collect().await
        });
        sent.map_err(|error| self.new.failed(error))
    }

    /// Makes the object appear.
    fn complete(&self, parts: Vec<PartId>, replace: bool, progress: &Progress) -> Result<()> {
        let NewObject { url, old, object } = self.new;
        let now = || NewObject::look_at(object, progress).map_err(|error| self.new.failed(error));
        if !replace && now()?.is_some() {
            return Err(Error::AlreadyExists { path: url.clone() });
        }
        let (sent, id) = (object.clone(), self.id.clone());
        let completed = wait(progress, async move {
            let path = &sent.located.path;
            ask(&sent, || writer(&sent).complete_multipart(path, &id, parts.clone())).await
        });
        if let Err(error) = completed {
            // If the answer to an earlier request was lost, the upload is gone, and its object is there.
            let version = |object: &Option<Object>| object.as_ref().map(Object::version);
            let is_there = error.kind() == io::ErrorKind::NotFound && {
                let now = version(&now()?);
                now.is_some() && now != version(old)
            };
            if !is_there {
                return Err(self.new.failed(error));
            }
        }
        uploads().remove(&self.number);
        Ok(())
    }

    /// Deletes the parts, unless the object is complete. Returns what remains.
    fn give_up(&self) -> Result<(), String> {
        let Some((object, id)) = uploads().remove(&self.number) else { return Ok(()) };
        let Err(error) = abort(object, id) else { return Ok(()) };
        let url = self.new.url.to_string_lossy();
        let s3 = url.strip_prefix("s3://").and_then(|rest| rest.split_once('/'));
        let how = s3.map_or(String::new(), |(bucket, _)| {
            let (id, key) = (&self.id, &self.new.object.located.path);
            format!(": `aws s3api abort-multipart-upload --bucket {bucket} --key '{key}' --upload-id {id}` deletes them")
        });
        Err(format!("parts of it remain in the store, because deleting them failed ({error}){how}"))
    }
}

/// Deletes the parts of an upload.
fn abort(object: Object, id: MultipartId) -> io::Result<()> {
    wait(&Progress::default(), async move {
        let path = &object.located.path;
        let abort = ask(&object, || writer(&object).abort_multipart(path, &id));
        let aborted = tokio::time::timeout(PATIENCE, abort).await;
        aborted.unwrap_or_else(|_| Err(object.fault(Failure::Slow, 1)))
    })
}

/// Sends a request to the store of an object, again if that may help.
async fn ask<T, A: Future<Output = object_store::Result<T>>>(
    object: &Object,
    request: impl Fn() -> A,
) -> Result<T, Fault> {
    object.repeat(|| request().map_err(Failure::Store)).await
}

fn writer(object: &Object) -> &dyn MultipartStore {
    object.located.writer.as_deref().expect("a place for an object has one")
}
