//! The threads that send requests.

use std::future::Future;
use std::io;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::process::PerProcess;
use crate::error::Error;
use crate::progress::Progress;

/// Interval of checks for cancellation.
const CHECK: Duration = Duration::from_millis(20);

/// Returns the threads that send requests. A forked process does not have those of its parent, and starts its own.
pub(super) fn runtime() -> io::Result<Arc<Runtime>> {
    static RUNTIME: PerProcess<Arc<Runtime>> = PerProcess::new();
    RUNTIME.get_or_make(|| {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).thread_name("requests").enable_all().build()?;
        Ok(Arc::new(runtime))
    })
}

/// Runs a future on the threads for requests.
pub(super) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
    runtime()?.spawn(future);
    Ok(())
}

/// Runs a future on the threads for requests, and waits for its result. Also works inside of another runtime.
pub(super) fn wait<T: Send + 'static, E: Into<io::Error> + Send + 'static>(
    progress: &Progress,
    future: impl Future<Output = Result<T, E>> + Send + 'static,
) -> io::Result<T> {
    let (tell, told) = mpsc::sync_channel(1);
    let task = runtime()?.spawn(async move {
        // Nobody waits after a cancellation.
        let _ = tell.send(future.await);
    });
    loop {
        if let Err(cancelled) = progress.check() {
            task.abort();
            return Err(Error::from(cancelled).into());
        }
        match told.recv_timeout(CHECK) {
            Ok(result) => return result.map_err(Into::into),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the thread for requests ended"));
            }
        }
    }
}
