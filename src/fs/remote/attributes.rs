//! The attributes that S3 keeps with an object, asked with one `HEAD` request.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use object_store::ClientOptions;
use object_store::aws::AmazonS3;
use object_store::client::{HttpClient, HttpConnector as _, HttpRequest, HttpRequestBody};
use object_store::path::Path as ObjectPath;
use object_store::signer::{SignedUrlOptions, Signer as _};
use reqwest::Method;
use reqwest::header::{CONTENT_LENGTH, ETAG, HeaderMap, HeaderName, HeaderValue};

use super::client::Connector;
use super::object::{Failure, Object};
use super::options::configured;
use super::runtime::wait;
use super::store::{is_anonymous, locate, s3, why};
use crate::error::{Error, Result};
use crate::progress::Progress;

/// The beginning of the names of headers with checksums.
const CHECKSUM: &str = "x-amz-checksum-";
/// The header that asks for checksums.
const MODE: HeaderName = HeaderName::from_static("x-amz-checksum-mode");
/// Time for which a signature is used.
const EXPIRES: Duration = Duration::from_secs(300);

/// The attributes of an object.
#[derive(Debug)]
pub(crate) struct Attributes {
    /// Length in bytes, if the store says it.
    pub(crate) length: Option<u64>,
    /// Number of parts that the object was sent in, if its entity tag says it.
    pub(crate) parts: Option<u64>,
    /// The values of the headers `x-amz-checksum-…` by the ends of their names, in lower case.
    pub(crate) checksums: BTreeMap<String, String>,
}

/// Asks S3 for the attributes of the object at a URL without a query. Returns `None` if there is no such object.
pub(crate) fn attributes(url: &str, progress: &Progress) -> Result<Option<Attributes>> {
    match ask(url, progress) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        asked => asked.map(Some).map_err(Error::io("open", Path::new(url))),
    }
}

fn ask(url: &str, progress: &Progress) -> io::Result<Attributes> {
    let timeout = configured().timeout;
    let connector = || Connector { timeout, authorization: None };
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, why(&error));
    let object = Object::new(locate(url, timeout)?, timeout);
    let store = s3(url, connector()).map_err(invalid)?;
    let client = connector().connect(&ClientOptions::new()).map_err(invalid)?;
    wait(progress, async move {
        let path = &object.located.path;
        let answer =
            object.repeat(async || head(&store, path, &client).await.map_err(Failure::Store));
        answer.await
    })
}

async fn head(
    store: &AmazonS3,
    path: &ObjectPath,
    client: &HttpClient,
) -> object_store::Result<Attributes> {
    let enabled = HeaderValue::from_static("ENABLED");
    let options = SignedUrlOptions::default().with_signed_header(MODE, enabled.clone());
    let mut url = store.signed_url_opts(Method::HEAD, path, EXPIRES, &options).await?;
    if is_anonymous() {
        url.set_query(None);
    }
    let mut request = HttpRequest::new(HttpRequestBody::empty());
    *request.method_mut() = Method::HEAD;
    *request.uri_mut() = url.as_str().parse().map_err(failed)?;
    request.headers_mut().insert(MODE, enabled);
    Ok(of_headers(client.execute(request).await.map_err(failed)?.headers()))
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> object_store::Error {
    object_store::Error::Generic { store: "S3", source: error.into() }
}

fn of_headers(headers: &HeaderMap) -> Attributes {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let tag =
        headers.get(ETAG).and_then(|tag| tag.to_str().ok()?.trim_matches('"').split_once('-'));
    let parts = tag.and_then(|(_, parts)| parts.parse().ok());
    let checksums = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(CHECKSUM)?;
        Some((name.to_owned(), value.to_str().ok()?.to_owned()))
    });
    Attributes { length, parts, checksums: checksums.collect() }
}
