//! The store of a URL, with credentials from the usual variables of the environment.
//!
//! Without credentials there, requests are anonymous. The addresses at which clouds give credentials to their machines
//! are never asked, unless a variable names one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use object_store::aws::{AmazonS3, AmazonS3Builder, Checksum};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::multipart::MultipartStore;
use object_store::path::Path as ObjectPath;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::HeaderValue;

use super::client::Connector;

/// An object by its store and its path in it.
#[derive(Clone)]
pub(super) struct Located {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The same store, if objects can be written to it.
    #[cfg_attr(not(feature = "full"), expect(dead_code, reason = "only archives are written"))]
    pub(super) writer: Option<Arc<dyn MultipartStore>>,
    pub(super) path: ObjectPath,
    /// The scheme of the URL, which determines the credentials; empty for a store of the program.
    pub(super) scheme: String,
}

/// Variables that give credentials to S3, Google and Azure, or name where to get them.
const AWS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
];
const GOOGLE: [&str; 5] = [
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "SERVICE_ACCOUNT",
];
const AZURE: [&str; 9] = [
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_TOKEN",
    "AZURE_STORAGE_CLIENT_SECRET",
    "AZURE_CLIENT_SECRET",
    "AZURE_FEDERATED_TOKEN_FILE",
    "AZURE_MSI_ENDPOINT",
];

fn is_set(name: &&str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Returns the command or variables that give credentials for a URL.
pub(super) fn credentials(scheme: &str) -> Option<&'static str> {
    Some(match scheme {
        "s3" => {
            "credentials are read from `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`; \
             `aws configure export-credentials --format env` prints them for a profile"
        }
        "gs" => "credentials are read from the file that `GOOGLE_APPLICATION_CREDENTIALS` names",
        "az" | "abfs" | "abfss" => {
            "credentials are read from `AZURE_STORAGE_ACCOUNT_NAME` and `AZURE_STORAGE_ACCOUNT_KEY` or \
             `AZURE_STORAGE_SAS_TOKEN`"
        }
        _ => return None,
    })
}

/// Finds the store of a URL.
pub(super) fn locate(url: &str, timeout: Duration) -> io::Result<Located> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    let mut url =
        Url::parse(url).map_err(|error| invalid(format!("the URL is not valid: {error}")))?;
    let mut connector = Connector { timeout, authorization: None };
    let (retry, options) = usual();
    let failed = |error: object_store::Error| invalid(why(&error));
    let scheme = url.scheme().to_owned();
    if matches!(&*scheme, "http" | "https") {
        connector.authorization = authorization(&url);
        url.set_fragment(None);
        if url.set_username("").and_then(|()| url.set_password(None)).is_err() {
            return Err(invalid("the URL has no host".to_owned()));
        }
        let store = HttpBuilder::new()
            .with_url(String::from(url))
            .with_client_options(options)
            .with_http_connector(connector)
            .with_retry(retry)
            .build()
            .map_err(failed)?;
        // The URL of the store is that of the object, because its query would otherwise be lost.
        let (store, path) = (Arc::new(store), ObjectPath::default());
        return Ok(Located { store, writer: None, path, scheme });
    }
    let path = ObjectPath::from_url_path(url.path())
        .map_err(|error| invalid(format!("the path in the URL is not valid: {error}")))?;
    url.set_query(None);
    url.set_fragment(None);
    if path.as_ref().is_empty() {
        return Err(invalid("the URL names a bucket; add the path of a pack in it".to_owned()));
    }
    let url = String::from(url);
    let (store, writer) = match &*scheme {
        "s3" => both(s3(url, connector).map_err(failed)?),
        "gs" => {
            let mut builder = GoogleCloudStorageBuilder::from_env()
                .with_url(url)
                .with_client_options(options)
                .with_http_connector(connector)
                .with_retry(retry);
            if !GOOGLE.iter().any(is_set) {
                builder = builder.with_skip_signature(true);
            }
            both(builder.build().map_err(failed)?)
        }
        _ => {
            let mut builder = MicrosoftAzureBuilder::from_env()
                .with_url(url)
                .with_client_options(options)
                .with_http_connector(connector)
                .with_retry(retry);
            if !AZURE.iter().any(is_set) {
                builder = builder.with_skip_signature(true);
            }
            both(builder.build().map_err(failed)?)
        }
    };
    Ok(Located { store, writer, path, scheme })
}

fn usual() -> (RetryConfig, ClientOptions) {
    // Requests are repeated in `object`, which knows why one failed.
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    (retry, ClientOptions::new().with_allow_http(true))
}

/// Returns whether the environment has no credentials for S3.
pub(super) fn is_anonymous() -> bool {
    !AWS.iter().any(is_set)
}

/// Returns the store of a URL of S3 without a query.
pub(super) fn s3(url: impl Into<String>, connector: Connector) -> object_store::Result<AmazonS3> {
    let (retry, options) = usual();
    let builder = AmazonS3Builder::from_env()
        .with_url(url)
        .with_client_options(options)
        .with_http_connector(connector)
        // The store compares each part with its digest, which its signature needs anyway.
        .with_checksum_algorithm(Checksum::SHA256)
        .with_retry(retry);
    if is_anonymous() {
        // Signed addresses need any key; without a key, the addresses of clouds for their machines would be asked.
        let builder = builder.with_access_key_id("none").with_secret_access_key("none");
        return builder.with_skip_signature(true).build();
    }
    builder.build()
}

fn both<S: ObjectStore + MultipartStore>(
    store: S,
) -> (Arc<dyn ObjectStore>, Option<Arc<dyn MultipartStore>>) {
    let store = Arc::new(store);
    (Arc::<S>::clone(&store), Some(store))
}

/// Returns the header for the user and password in a URL.
fn authorization(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut text: Vec<u8> = percent_decode_str(url.username()).collect();
    text.push(b':');
    text.extend(percent_decode_str(url.password().unwrap_or_default()));
    let text = format!("Basic {}", BASE64_STANDARD.encode(text));
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns the cause of an error of a store. Its own text may contain a URL with secrets.
pub(super) fn why(error: &object_store::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    crate::path::escape(&without_urls(&cause.to_string())).to_string()
}

/// Conceals every URL in a text.
fn without_urls(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let start = word.find("http").unwrap_or(word.len());
        let (before, url) = word.split_at(start);
        format!("{before}{}", crate::path::url::conceal(url))
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_information_becomes_a_header() {
        let header = |url: &str| authorization(&Url::parse(url).unwrap());
        assert_eq!(header("https://h/x"), None);
        let value = header("https://user:p%40ss@h/x").unwrap();
        assert_eq!(value.to_str().unwrap(), "Basic dXNlcjpwQHNz");
        assert!(value.is_sensitive());
    }

    #[test]
    fn a_text_keeps_no_secret_of_a_url() {
        let text = "error for url (http://u:p@h/x?sig=1) in 3 s";
        assert_eq!(without_urls(text), "error for url (http://h/x in 3 s");
    }

    #[test]
    fn a_bucket_alone_is_not_an_object() {
        let located = |url| locate(url, Duration::from_secs(1)).map(|_| ());
        assert!(located("s3://bucket").unwrap_err().to_string().contains("names a bucket"));
        assert!(located("https://").is_err());
        assert!(located("s3://bucket/exp.zip").is_ok());
    }
}
