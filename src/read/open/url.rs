//! Packs at URLs and in object stores.

use std::sync::Arc;

use super::Pack;
use crate::archive::Archive;
use crate::error::{Error, Result};
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
    pub fn open_url(url: &str) -> Result<Self> {
        if !crate::path::url::is_url(url.as_ref()) {
            return Err(Error::wrong_target(
                url,
                "is not a URL of https, http, s3, gs, az or abfs",
            ));
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
    pub fn open_store(store: Arc<dyn object_store::ObjectStore>, path: &str) -> Result<Self> {
        let progress = Progress::default();
        let file = crate::fs::remote::open_store(store, path, &progress)?;
        Ok(Self::searching(Archive::open_file(file)?))
    }
}
