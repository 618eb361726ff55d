//! The HTTP client below all stores. It follows only safe redirects, refuses answers that are not what was asked, and
//! counts requests and bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use reqwest::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue,
    LAST_MODIFIED, RANGE, RETRY_AFTER,
};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Method, StatusCode, Url};
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::options::configured;
use super::process::PerProcess;
use super::runtime::runtime;

/// Number of redirects that one request follows.
const MOST_REDIRECTS: usize = 5;
/// Longest time to connect. An address that does not answer is given up before the time limit of a request.
const CONNECT: Duration = Duration::from_secs(10);

/// Maximum length in bytes of a response header that is shown as it is.
const MAX_HEADER_SHOWN: usize = 64;

static REQUESTS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Numbers of requests and bytes of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Requests sent, including redirects and repeated ones.
    pub requests: u64,
    /// Bytes of content received.
    pub bytes: u64,
}

/// Returns the numbers of requests and bytes of this process so far.
pub fn traffic() -> Traffic {
    Traffic { requests: REQUESTS.load(Ordering::Relaxed), bytes: BYTES.load(Ordering::Relaxed) }
}

/// Counts bytes of content.
pub(super) fn count_bytes(bytes: usize) {
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// The reason why an answer is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// The status is that of an error.
    #[error("the server answered with status {status}{}", meaning(*status, code.as_deref()))]
    Status {
        status: u16,
        /// The name of the error in the answer to a request that writes.
        code: Option<String>,
        /// The time to wait that the server asks for.
        wait: Option<Duration>,
    },
    /// The bucket is in another region.
    #[error("the bucket is in the region `{0}`; set the variable `AWS_REGION` to it")]
    Region(String),
    #[error("the server does not serve ranges: expected status 206, found 200 with the whole file")]
    Whole,
    #[error(
        "the server compressed a range (`Content-Encoding: {0}`), so its bytes cannot be placed"
    )]
    Encoded(String),
    #[error("the server redirects from https to http, which is not followed")]
    Unsafe,
    #[error("the server redirects more than {MOST_REDIRECTS} times")]
    Redirects,
    #[error(
        "the answer to a range has no valid `Content-Range`: expected `{expected}`, found `{found}`"
    )]
    Range { expected: String, found: String },
}

/// Returns a text of a server for a message. Another text than usual may be the query of the URL, which is secret.
fn quoted(text: &str) -> String {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b" -*/,._".contains(&byte);
    if text.len() <= MAX_HEADER_SHOWN && text.bytes().all(is_usual) {
        return text.to_owned();
    }
    format!("a text of {} bytes", text.len())
}

/// Returns what a status means for the reader.
fn meaning(status: u16, code: Option<&str>) -> Cow<'static, str> {
    if let Some(code) = code {
        return Cow::Owned(format!(" (`{code}`)"));
    }
    Cow::Borrowed(match status {
        401 | 403 => ": access is denied, or credentials are missing",
        404 | 410 => ": there is no such object",
        408 | 429 | 503 => ": it is overloaded",
        _ => "",
    })
}

impl From<Refusal> for HttpError {
    fn from(refusal: Refusal) -> Self {
        // Nothing below repeats a request; `object` decides about that.
        Self::new(HttpErrorKind::Decode, refusal)
    }
}

/// Makes the client of a store.
#[derive(Debug)]
pub(super) struct Connector {
    /// Longest time without a byte of an answer.
    pub(super) timeout: Duration,
    /// The value of the header `Authorization`, from the user information in a URL.
    pub(super) authorization: Option<HeaderValue>,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = client(self.timeout)?;
        let service = Checked { client, authorization: self.authorization.clone() };
        Ok(HttpClient::new(service))
    }
}

/// Connects a store that a program makes itself to the servers, with the HTTP client and the threads that URLs use. The
/// options of such a client are ignored.
///
/// ```
/// use ra_pack::remote::SharedClient;
/// use ra_pack::remote::object_store::http::HttpBuilder;
///
/// let url = "https://example.org/packs";
/// let store = HttpBuilder::new().with_url(url).with_http_connector(SharedClient).build()?;
/// # Ok::<(), ra_pack::remote::object_store::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SharedClient;

impl HttpConnector for SharedClient {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(OnOurThreads(client(configured().timeout)?)))
    }
}

/// A client whose connections belong to the threads for requests, and not to the runtime of the caller, which may wait.
#[derive(Debug)]
struct OnOurThreads(Client);

#[async_trait]
impl HttpService for OnOurThreads {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let client = self.0.clone();
        let ended = |error| HttpError::new(HttpErrorKind::Unknown, error);
        let threads = runtime().map_err(ended)?;
        let answer = threads.spawn(async move { client.call(request).await }).await;
        answer.unwrap_or_else(|error| Err(HttpError::new(HttpErrorKind::Interrupted, error)))
    }
}

/// Returns the settings for TLS. The default of the process is left to the program.
fn tls() -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions()?.with_platform_verifier()?;
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = [b"h2".to_vec(), b"http/1.1".to_vec()].into();
    Ok(config)
}

/// Returns the client of this process. All stores share it and its connections.
fn client(timeout: Duration) -> object_store::Result<Client> {
    static CLIENTS: PerProcess<Arc<Mutex<HashMap<Duration, Client>>>> = PerProcess::new();
    let Ok(clients) = CLIENTS.get_or_make(|| Ok::<_, Infallible>(Arc::default()));
    let mut clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(client) = clients.get(&timeout) {
        return Ok(client.clone());
    }
    let refused = |source| object_store::Error::Generic { store: "HTTP", source };
    let client = Client::builder()
        .tls_backend_preconfigured(tls().map_err(|error| refused(error.into()))?)
        .user_agent(concat!("ra-pack/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::custom(redirect))
        // The URL may have a secret query, which another server would get.
        .referer(false)
        .connect_timeout(CONNECT.min(timeout))
        .read_timeout(timeout)
        .build()
        .map_err(|error| refused(error.without_url().into()))?;
    clients.insert(timeout, client.clone());
    Ok(client)
}

/// Follows redirects from http to http or https, and from https to https.
fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let is_secure = |url: &Url| url.scheme() == "https";
    if attempt.previous().len() > MOST_REDIRECTS {
        return attempt.error(Refusal::Redirects);
    }
    if attempt.previous().iter().any(is_secure) && !is_secure(attempt.url()) {
        return attempt.error(Refusal::Unsafe);
    }
    REQUESTS.fetch_add(1, Ordering::Relaxed);
    attempt.follow()
}

/// A client that checks each answer before the store sees it.
#[derive(Debug)]
struct Checked {
    client: Client,
    authorization: Option<HeaderValue>,
}

#[async_trait]
impl HttpService for Checked {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        let asked = request.headers().get(RANGE).cloned();
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let mut response = self.client.call(request).await?;
        let status = response.status();
        if !status.is_success() {
            let mut refused = refused(status, response.headers());
            if let Refusal::Status { code, .. } = &mut refused
                && !is_read
                && let Some(Ok(text)) = response.into_body().bytes_stream().next().await
            {
                *code = error_code(&String::from_utf8_lossy(&text));
            }
            return Err(refused.into());
        }
        let Some(asked) = asked else { return Ok(response) };
        if status != StatusCode::PARTIAL_CONTENT {
            return Err(Refusal::Whole.into());
        }
        check_partial(&asked, response.headers_mut())?;
        Ok(response)
    }
}

/// Returns the reason in an answer with the status of an error.
fn refused(status: StatusCode, headers: &HeaderMap) -> Refusal {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(region) = text("x-amz-bucket-region").filter(|_| status.is_redirection()) {
        return Refusal::Region(quoted(region));
    }
    let seconds = text(RETRY_AFTER.as_str()).and_then(|text| text.trim().parse().ok());
    let (status, wait) = (status.as_u16(), seconds.map(Duration::from_secs));
    Refusal::Status { status, code: None, wait }
}

/// Returns the name of the error in an answer of S3, Google or Azure.
fn error_code(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    Some(quoted(code))
}

/// Checks the headers of an answer to a range, and removes those that `object_store` would refuse without need.
fn check_partial(asked: &HeaderValue, headers: &mut HeaderMap) -> Result<(), Refusal> {
    let text = |headers: &HeaderMap, name| {
        let value = headers.get(name).map(HeaderValue::as_bytes).map(String::from_utf8_lossy);
        value.map(Cow::into_owned)
    };
    if let Some(encoding) = text(headers, CONTENT_ENCODING)
        // Some programs store the latter with an object of S3 that is not encoded.
        && !matches!(&*encoding, "" | "identity" | "aws-chunked")
    {
        return Err(Refusal::Encoded(quoted(&encoding)));
    }
    let found = text(headers, CONTENT_RANGE).unwrap_or_default();
    let Some((first, last, total)) = content_range(&found) else {
        let expected = String::from_utf8_lossy(asked.as_bytes()).into_owned();
        return Err(Refusal::Range { expected, found: quoted(&found) });
    };
    // An answer in chunks has no length.
    let length = (last - first).saturating_add(1).min(total);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    for name in [ETAG, LAST_MODIFIED] {
        let is_whole = |text: &str| name == ETAG || text.ends_with("GMT");
        let is_valid = |value: &HeaderValue| value.to_str().is_ok_and(is_whole);
        if headers.get(&name).is_some_and(|value| !is_valid(value)) {
            headers.remove(&name);
        }
    }
    Ok(())
}

/// Parses `bytes FIRST-LAST/TOTAL` with `FIRST <= LAST < TOTAL`.
fn content_range(text: &str) -> Option<(u64, u64, u64)> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last, total) = (first.parse().ok()?, last.parse().ok()?, total.parse().ok()?);
    (first <= last && last < total).then_some((first, last, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_content_ranges_are_parsed() {
        assert_eq!(content_range("bytes 0-9/20"), Some((0, 9, 20)));
        for text in ["", "bytes 0-9/*", "bytes 9-0/20", "bytes 0-20/20", "items 0-9/20", "0-9/20"] {
            assert_eq!(content_range(text), None, "{text}");
        }
    }

    #[test]
    fn a_compressed_range_is_refused() {
        let asked = HeaderValue::from_static("bytes=0-9");
        let with = |encoding| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_RANGE, HeaderValue::from_static("bytes 0-9/20"));
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
            check_partial(&asked, &mut headers)
        };
        assert_eq!(with("identity"), Ok(()));
        assert_eq!(with("gzip"), Err(Refusal::Encoded("gzip".to_owned())));
    }
}
