//! One object of a store: opened with one request, then read in ranges of exactly the same version.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::StreamExt as _;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::{GetOptions, GetRange, GetResult};

use super::client::{Refusal, count_bytes};
use super::runtime::wait;
use super::store::{Located, credentials, why};
use crate::message::Message;
use crate::progress::Progress;

/// Number of last bytes requested when an object is opened: the directory, the manifests and the description of packs
/// with some hundreds of arrays.
pub(super) const TAIL: u64 = 256 * 1024;

/// Number of times a range is requested before its error is reported.
const ATTEMPTS: u32 = 5;
/// Wait after the first failed request; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Longest wait that a server may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Bytes per second below which a server is given up, so that an answer cannot last for ever.
const SLOWEST: u64 = 4 * 1024;

/// Maximum length in bytes of an `ETag` that is shown as it is.
const MAX_TAG: usize = 80;

/// The reason why an object was not read.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Fault {
    /// The object is another one than at its opening.
    #[error("{0}")]
    Changed(String),
    /// The server serves no ranges.
    #[error("{0}")]
    OnlyWhole(#[source] Message),
    /// The server did not give the bytes.
    #[error("{message}")]
    Failed { kind: io::ErrorKind, message: String },
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        let kind = match &fault {
            Fault::Failed { kind, .. } => *kind,
            Fault::Changed(_) | Fault::OnlyWhole(_) => io::ErrorKind::Other,
        };
        Self::new(kind, fault)
    }
}

/// Returns what changed if the error is that of a changed object.
pub(crate) fn change(error: &io::Error) -> Option<String> {
    match error.get_ref()?.downcast_ref()? {
        Fault::Changed(what) => Some(what.clone()),
        Fault::OnlyWhole(_) | Fault::Failed { .. } => None,
    }
}

/// The version of an object, which later answers must repeat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Version {
    len: u64,
    e_tag: Option<String>,
    /// Seconds since 1970; 0 if the server does not say it.
    modified: i64,
}

impl Version {
    fn of(result: &GetResult) -> Self {
        let meta = &result.meta;
        let modified = meta.last_modified.timestamp();
        Self { len: meta.size, e_tag: meta.e_tag.clone(), modified }
    }

    /// Returns the entity tag if it names the exact bytes. A weak one may name several versions.
    fn strong(&self) -> Option<&String> {
        self.e_tag.as_ref().filter(|tag| !tag.starts_with("W/"))
    }

    /// Returns how another version differs.
    fn change(&self, now: &Self) -> Option<String> {
        if now.len != self.len {
            return Some(format!("its length changed from {} to {} bytes", self.len, now.len));
        }
        if now.e_tag != self.e_tag {
            return Some("the server reports another `ETag`".to_owned());
        }
        let differs = self.strong().is_none() && now.modified != self.modified;
        differs.then(|| "the server reports another `Last-Modified`".to_owned())
    }
}

/// An open object. Clones are the same object.
#[derive(Clone)]
pub(super) struct Object {
    pub(super) located: Arc<Located>,
    version: Version,
    timeout: Duration,
}

/// Returns an entity tag for reports and logs. Another tag than usual may have the query of the URL, which is secret, so
/// its digest replaces it.
fn noted(tag: &str) -> String {
    let (kind, name) = tag.strip_prefix("W/").map_or(("", tag), |name| ("W/", name));
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"\"-.:_".contains(&byte);
    if tag.len() <= MAX_TAG && name.bytes().all(is_usual) {
        return tag.to_owned();
    }
    format!("{kind}\"{}\"", crate::digest::Digest::sha256(name.as_bytes()))
}

/// The failure of one request.
pub(super) enum Failure {
    Store(object_store::Error),
    Fault(Fault),
    /// The answer ended early.
    Short {
        expected: u64,
        found: u64,
    },
    Slow,
    /// A store of the program did not answer.
    Silent,
}

impl Object {
    pub(super) fn new(located: Located, timeout: Duration) -> Self {
        Self { located: Arc::new(located), version: Version::default(), timeout }
    }

    /// Opens an object. Returns its last bytes too.
    pub(super) fn open(
        located: Located,
        timeout: Duration,
        progress: &Progress,
    ) -> io::Result<(Self, Vec<u8>)> {
        let mut object = Self::new(located, timeout);
        wait(progress, async move {
            let tail = object.start().await?;
            Ok::<_, Fault>((object, tail))
        })
    }

    /// Requests the first byte of an object to learn its version.
    pub(super) fn look_at(
        located: Located,
        timeout: Duration,
        progress: &Progress,
    ) -> io::Result<Self> {
        let mut object = Self::new(located, timeout);
        wait(progress, async move {
            (object.version, _) = object.request(GetRange::Bounded(0..1), true).await?;
            Ok::<_, Fault>(object)
        })
    }

    /// Requests the last bytes, and notes the version of the object.
    async fn start(&mut self) -> Result<Vec<u8>, Fault> {
        let fault = match self.request(GetRange::Suffix(TAIL), true).await {
            Ok((version, tail)) => {
                self.version = version;
                return Ok(tail);
            }
            Err(fault) => fault,
        };
        // Some servers do not know ranges that count from the end. Others are not asked again.
        let is_unknown = match &fault {
            Fault::Failed { kind, .. } => {
                matches!(kind, io::ErrorKind::Unsupported | io::ErrorKind::UnexpectedEof)
            }
            Fault::OnlyWhole(_) => true,
            Fault::Changed(_) => false,
        };
        if !is_unknown {
            return Err(fault);
        }
        let first = self.request(GetRange::Bounded(0..1), true).await;
        self.version = match first {
            Ok((version, _)) => version,
            Err(Fault::Failed { kind: io::ErrorKind::UnexpectedEof, .. }) => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
        };
        let len = self.version.len;
        self.fetch(len.saturating_sub(TAIL)..len).await
    }

    pub(super) fn len(&self) -> u64 {
        self.version.len
    }

    /// Returns the version that was opened.
    pub(super) fn version(&self) -> crate::fs::Version {
        let Version { len, e_tag, modified } = &self.version;
        let since = u64::try_from(*modified).ok().filter(|seconds| *seconds > 0);
        let time = since.and_then(|since| UNIX_EPOCH.checked_add(Duration::from_secs(since)));
        let modified = time.map(crate::time::Timestamp::from);
        crate::fs::Version { length: Some(*len), modified, e_tag: e_tag.as_deref().map(noted) }
    }

    /// Reads a range of the version that was opened.
    pub(super) async fn fetch(&self, range: Range<u64>) -> Result<Vec<u8>, Fault> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        self.request(GetRange::Bounded(range), false).await.map(|(_, bytes)| bytes)
    }

    /// Requests a range, again if that may help.
    async fn request(&self, range: GetRange, is_first: bool) -> Result<(Version, Vec<u8>), Fault> {
        self.repeat(|| self.once(range.clone(), is_first)).await
    }

    /// Sends a request, again if that may help.
    pub(super) async fn repeat<T, A: Future<Output = Result<T, Failure>>>(
        &self,
        request: impl Fn() -> A,
    ) -> Result<T, Fault> {
        let mut attempt = 1;
        loop {
            let failure = match request().await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match failure.wait(attempt).filter(|_| attempt < ATTEMPTS) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(self.fault(failure, attempt)),
            }
            attempt += 1;
        }
    }

    async fn once(&self, range: GetRange, is_first: bool) -> Result<(Version, Vec<u8>), Failure> {
        let length = match &range {
            GetRange::Bounded(range) => range.end - range.start,
            GetRange::Suffix(length) => *length,
            GetRange::Offset(_) => self.version.len,
        };
        let limit = self.timeout.saturating_add(Duration::from_secs(length / SLOWEST));
        let answer = tokio::time::timeout(limit, self.answer(range, is_first)).await;
        answer.unwrap_or(Err(Failure::Slow))
    }

    async fn answer(&self, range: GetRange, is_first: bool) -> Result<(Version, Vec<u8>), Failure> {
        let if_match = if is_first { None } else { self.version.strong().cloned() };
        let options = GetOptions { range: Some(range), if_match, ..GetOptions::default() };
        let Located { store, path, .. } = &*self.located;
        let answer = store.get_opts(path, options);
        // Nothing else limits the time of another client, whose connections may wait for the thread that waits for this.
        let result = match tokio::time::timeout(self.silence(), answer).await {
            Ok(result) => result.map_err(Failure::Store)?,
            Err(_) => return Err(Failure::Silent),
        };
        let version = Version::of(&result);
        if !is_first && let Some(what) = self.version.change(&version) {
            return Err(Failure::Fault(Fault::Changed(what)));
        }
        let expected = result.range.end.saturating_sub(result.range.start);
        let bytes = collect(result, expected).await?;
        Ok((version, bytes))
    }

    /// Reads the whole object with one request, and passes its bytes to `sink`. The length is checked.
    pub(super) async fn stream(
        located: &Located,
        mut sink: impl FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let this = Self::new(located.clone(), Duration::ZERO);
        let failed = |failure| this.fault(failure, 1);
        let result = located.store.get_opts(&located.path, GetOptions::default()).await;
        let result = result.map_err(|error| failed(Failure::Store(error)))?;
        let expected = result.meta.size;
        let mut found = 0;
        let mut stream = result.into_stream();
        while let Some(piece) = stream.next().await {
            let piece = piece.map_err(|error| failed(Failure::Store(error)))?;
            count_bytes(piece.len());
            found += piece.len() as u64;
            sink(&piece)?;
        }
        if found != expected {
            return Err(failed(Failure::Short { expected, found }));
        }
        Ok(())
    }

    /// Returns the longest time without an answer.
    fn silence(&self) -> Duration {
        if self.located.scheme.is_empty() { self.timeout } else { Duration::MAX }
    }

    /// Returns the fault of a failure that is final.
    pub(super) fn fault(&self, failure: Failure, attempts: u32) -> Fault {
        use io::ErrorKind;
        let times = if attempts > 1 { format!(", {attempts} times") } else { String::new() };
        let failed = |kind, message: String| Fault::Failed { kind, message: message + &times };
        let error = match failure {
            Failure::Fault(fault) => return fault,
            Failure::Silent => {
                let message = format!(
                    "the store did not answer for {} s; in async code, open the pack in `spawn_blocking`, or make the \
                     store with `ra_pack::remote::SharedClient`",
                    self.timeout.as_secs_f64()
                );
                return failed(ErrorKind::TimedOut, message);
            }
            Failure::Slow => {
                return failed(ErrorKind::TimedOut, "the server answers too slowly".to_owned());
            }
            Failure::Short { expected, found } => {
                let message = format!(
                    "the answer of the server was cut short: expected {expected} bytes, found {found}"
                );
                return failed(ErrorKind::ConnectionAborted, message);
            }
            Failure::Store(error) => error,
        };
        let refusal = cause::<Refusal>(&error).cloned();
        let kind = match (&error, &refusal) {
            (_, Some(Refusal::Status { status: 412, .. }))
            | (object_store::Error::Precondition { .. }, _) => {
                return Fault::Changed("the server has another version".to_owned());
            }
            (_, Some(whole @ Refusal::Whole)) => {
                let message = Message::from(format!("{whole}; ")).option("download");
                return Fault::OnlyWhole(message.text(" reads such a file"));
            }
            (_, Some(Refusal::Status { status: 401 | 403, .. }))
            | (
                object_store::Error::PermissionDenied { .. }
                | object_store::Error::Unauthenticated { .. },
                _,
            ) => ErrorKind::PermissionDenied,
            (_, Some(Refusal::Status { status: 404 | 410, .. }))
            | (object_store::Error::NotFound { .. }, _) => ErrorKind::NotFound,
            // An empty object has no range.
            (_, Some(Refusal::Status { status: 416, .. })) => ErrorKind::UnexpectedEof,
            (_, Some(Refusal::Status { status: 400 | 405 | 501, .. }))
            | (
                object_store::Error::NotSupported { .. }
                | object_store::Error::NotImplemented { .. },
                _,
            ) => ErrorKind::Unsupported,
            _ => ErrorKind::Other,
        };
        let message = match (&refusal, cause::<HttpError>(&error).map(HttpError::kind)) {
            (Some(refusal), _) => refusal.to_string(),
            (None, Some(HttpErrorKind::Timeout)) => {
                let seconds = self.timeout.as_secs_f64();
                return failed(
                    ErrorKind::TimedOut,
                    format!("the server did not answer for {seconds} s"),
                );
            }
            (None, Some(HttpErrorKind::Connect)) => {
                format!("the server cannot be reached: {}", why(&error))
            }
            (None, _) => why(&error),
        };
        let hint =
            credentials(&self.located.scheme).filter(|_| kind == ErrorKind::PermissionDenied);
        failed(kind, hint.map_or(message.clone(), |hint| format!("{message}; {hint}")))
    }
}

impl Failure {
    /// Returns the time to wait before the request is repeated; `None` if that does not help.
    fn wait(&self, attempt: u32) -> Option<Duration> {
        let usual = FIRST_WAIT.saturating_mul(1 << attempt.min(8));
        match self {
            Self::Fault(_) | Self::Slow | Self::Silent => None,
            Self::Short { .. } => Some(usual),
            Self::Store(error) => match (cause::<Refusal>(error), cause::<HttpError>(error)) {
                // The others say that the server does not know such requests.
                (
                    Some(Refusal::Status {
                        status: 408 | 429 | 500 | 502..=504 | 506..=599,
                        wait,
                        ..
                    }),
                    _,
                ) => Some(wait.unwrap_or(usual).min(LONGEST_WAIT)),
                (Some(_), _) | (None, None) => None,
                (None, Some(http)) => match http.kind() {
                    HttpErrorKind::Request | HttpErrorKind::Interrupted => Some(usual),
                    // Several seconds have passed already.
                    HttpErrorKind::Connect | HttpErrorKind::Timeout => {
                        Some(usual).filter(|_| attempt < 2)
                    }
                    _ => Some(usual).filter(|_| is_of_body(error)),
                },
            },
        }
    }
}

/// Returns whether a connection broke in the content of an answer.
fn is_of_body(error: &object_store::Error) -> bool {
    let is_broken =
        |error: &reqwest::Error| error.is_body() || error.is_request() || error.is_decode();
    cause::<reqwest::Error>(error).is_some_and(is_broken)
}

/// Finds an error of this type among the causes.
fn cause<E: std::error::Error + 'static>(error: &object_store::Error) -> Option<&E> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// Reads an answer of exactly `expected` bytes.
async fn collect(result: GetResult, expected: u64) -> Result<Vec<u8>, Failure> {
    let too_long = || {
        let message = format!(
            "the answer of the server is longer than the {expected} bytes that it announced"
        );
        Failure::Fault(Fault::Failed { kind: io::ErrorKind::InvalidData, message })
    };
    let room = usize::try_from(expected).map_err(|_| too_long())?;
    let mut bytes = Vec::with_capacity(room);
    let mut stream = result.into_stream();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(Failure::Store)?;
        count_bytes(piece.len());
        if piece.len() > room - bytes.len() {
            return Err(too_long());
        }
        bytes.extend_from_slice(&piece);
    }
    if bytes.len() < room {
        return Err(Failure::Short { expected, found: bytes.len() as u64 });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;
    use object_store::throttle::{ThrottleConfig, ThrottledStore};

    use super::*;

    #[test]
    fn a_store_that_does_not_answer_is_given_up() {
        let wait =
            ThrottleConfig { wait_get_per_call: Duration::from_secs(60), ..Default::default() };
        let store = Arc::new(ThrottledStore::new(InMemory::new(), wait));
        let (writer, scheme) = (None, String::new());
        let located = Located { store, writer, path: "x.zip".into(), scheme };
        let error = Object::open(located, Duration::from_millis(50), &Progress::default());
        let said = error.map(|_| ()).unwrap_err().to_string();
        assert!(said.contains("did not answer for 0.05 s; in async code"), "{said}");
    }

    #[test]
    fn unusual_entity_tags_are_noted_as_digests() {
        for tag in ["\"5f3-61a\"", "W/\"5f3-61a\"", "\"v1\"", "0x8DC"] {
            assert_eq!(noted(tag), tag);
        }
        let (one, other) = (noted("\"?sig=1\""), noted("\"?sig=2\""));
        assert!(one.len() == 66 && one != other, "{one}");
        assert!(noted("W/\"?sig=1\"").starts_with("W/\""));
        assert_eq!(noted(&"x".repeat(60_000)).len(), 66);
    }
}
