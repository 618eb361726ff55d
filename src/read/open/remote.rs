//! Packs at URLs and in object stores, and requests for several parts of them at once.

#[cfg(feature = "remote")]
use std::sync::Arc;

use super::Pack;
use super::manifest::{LARGE, PackManifest, line_of};
#[cfg(feature = "remote")]
use crate::archive::Archive;
use crate::digest::Algorithm;
#[cfg(feature = "remote")]
use crate::error::Error;
use crate::error::Result;
#[cfg(feature = "remote")]
use crate::fs::File;
use crate::manifest::ranges_near;
use crate::pack::{self, ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS};
#[cfg(feature = "remote")]
use crate::progress::Progress;

impl Pack {
    /// Opens the archive at a URL: `https`, `http`, `s3`, `gs`, `az` or `abfs`. [`Pack::open`] also accepts URLs.
    /// [`remote::configure`](crate::remote::configure) sets the options.
    ///
    /// A whole array is checked against the manifest. A slice is checked only if the pack has block digests. If the object
    /// changes while the pack is open, reads return [`Error::Changed`].
    ///
    /// ```no_run
    /// use ra_pack::Pack;
    ///
    /// let pack = Pack::open_url("s3://bucket/exp.zip")?;
    /// let temperature = pack.array("run1/temperature.ra")?.read::<f32>()?;
    /// # Ok::<(), ra_pack::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Pack::open`], and [`Error::Io`] if the server does not give the bytes.
    #[cfg(feature = "remote")]
    pub fn open_url(url: &str) -> Result<Self> {
        if !crate::path::url::is_url(url.as_ref()) {
            return Err(Error::Unsupported(format!(
                "`{}` is not a URL of https, http, s3, gs, az or abfs",
                crate::path::escape(url)
            )));
        }
        Self::open(crate::fs::remote::name(url))
    }

    /// Opens an archive in an object store of the program. Messages call it by its `path` in the store.
    ///
    /// This and every read wait for the server. In async code, make the store with
    /// [`SharedClient`](crate::remote::SharedClient), or use the pack in a thread where waiting is allowed, such as that of
    /// `tokio::task::spawn_blocking`: a store with connections of its own may need the thread that waits. Requests to such
    /// a store end after the time of [`RemoteOptions`](crate::remote::RemoteOptions).
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::sync::Arc;
    ///
    /// use ra_pack::Pack;
    /// use ra_pack::remote::object_store::{ObjectStore, memory::InMemory};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let zip = directory.path().join("mooring.zip");
    /// # ra_pack::create("examples/experiment", &zip, &Default::default())?;
    /// # let store = Arc::new(InMemory::new());
    /// # let content = std::fs::read(&zip)?.into();
    /// # let path = "mooring.zip".into();
    /// # futures_lite(async { ra_pack::remote::object_store::ObjectStoreExt::put(&*store, &path, content).await })?;
    /// let pack = Pack::open_store(store, "mooring.zip")?;
    /// assert_eq!(pack.arrays()?.len(), 10);
    /// # Ok(())
    /// # }
    /// # fn futures_lite<T>(future: impl Future<Output = T>) -> T {
    /// #     let mut future = std::pin::pin!(future);
    /// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// #     loop {
    /// #         if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) { return value; }
    /// #     }
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Pack::open_url`].
    #[cfg(feature = "remote")]
    pub fn open_store(store: Arc<dyn object_store::ObjectStore>, path: &str) -> Result<Self> {
        let progress = Progress::default();
        let object = crate::fs::remote::open_store(store, path, &progress);
        let object = object.map_err(Error::io("open", path))?;
        Ok(Self::searching(Archive::open_file(File::of_object(object, path.into()))?))
    }

    /// Announces that a whole member will be read and compared with the manifest, so that a remote one needs few requests.
    /// A name that is not found is not announced.
    pub(crate) fn announce(&self, name: &str) -> Result<()> {
        let array = format!("{name}.{ARRAY_EXTENSION}");
        for name in [name, &array] {
            if self.state.archive.range_of(name)?.is_some() {
                self.state.archive.announce(name)?;
                return self.fetch_with_line(name);
            }
        }
        Ok(())
    }

    /// Returns whether the archive is at a URL or in an object store, so that reads may wait for a server.
    pub fn is_remote(&self) -> bool {
        self.state.archive.is_remote()
    }

    /// Requests the beginning of a remote array and its description at once, before they are read one after the other.
    pub(super) fn fetch_start(&self, name: &str) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        let stem = name.strip_suffix(&format!(".{ARRAY_EXTENSION}")).unwrap_or(name);
        let extensions = DESCRIPTION_EXTENSIONS.iter().copied().chain([ARRAY_EXTENSION]);
        let names: Vec<_> = extensions.map(|extension| format!("{stem}.{extension}")).collect();
        self.state.archive.fetch_starts(&names)
    }

    /// Requests a member of a remote zip at once with the part of the manifest that probably lists it. These would be
    /// several requests, one after the other.
    pub(super) fn fetch_with_line(&self, member: &str) -> Result<()> {
        /// Number of bytes requested of a member. The rest of a longer one is requested while these are read.
        const FIRST: u64 = 8 * 1024 * 1024;
        /// Number of bytes that contain a local header.
        const HEADER: u64 = 512;
        let (archive, algorithm) = (&self.state.archive, Algorithm::Sha256);
        let is_indexed = || {
            let manifest = self.state.manifest.get().and_then(Option::as_ref);
            manifest.is_some_and(PackManifest::is_indexed)
        };
        if !archive.is_remote() || is_indexed() {
            return Ok(());
        }
        let name = pack::manifest_name(algorithm);
        let Some((content, _)) = archive.range_of(member)? else { return Ok(()) };
        let Some((range, len)) = archive.range_of(&name)? else { return Ok(()) };
        let end = content.end.min(content.start.saturating_add(FIRST));
        let mut ranges: Vec<_> = std::iter::once(content.start..end).collect();
        if len < LARGE {
            ranges.push(range);
        } else if let Some(guess) = archive.lines_before(member, line_of(&name, algorithm))? {
            // The content ends where the next member begins.
            let start = range.end.saturating_sub(len);
            ranges.push(range.start..range.end.min(range.start + HEADER));
            ranges.extend(ranges_near(len, guess).map(|near| near.start + start..near.end + start));
        }
        archive.fetch(ranges)
    }
}
