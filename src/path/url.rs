//! URLs of packs, and their form without secrets.

use std::borrow::Cow;
use std::path::Path;
use std::path::PathBuf;

/// The beginnings of URLs that name a pack.
const SCHEMES: [&str; 7] =
    ["https://", "http://", "s3://", "gs://", "az://", "abfs://", "abfss://"];

/// Splits the text of a URL after `://`. Returns `None` for anything else.
fn split(text: &str) -> Option<(&str, &str)> {
    let scheme = SCHEMES.iter().find(|scheme| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })?;
    text.split_at_checked(scheme.len())
}

/// Returns whether a path is the URL of a pack: it begins with `https://`, `http://`, `s3://`, `gs://`, `az://`,
/// `abfs://` or `abfss://`.
pub fn is_url(path: &Path) -> bool {
    path.to_str().is_some_and(|text| split(text).is_some())
}

/// Returns a URL without its user information, query and fragment, which may be secret. Other text is not changed.
///
/// ```
/// use ra_pack::remote::conceal;
///
/// let shared = "https://user:secret@example.org/exp.zip?signature=abc";
/// assert_eq!(conceal(shared), "https://example.org/exp.zip");
/// assert_eq!(conceal("exp.zip?"), "exp.zip?");
/// ```
pub fn conceal(text: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = split(text) else { return Cow::Borrowed(text) };
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let shown = rest.split_at(end).0;
    let (authority, path) = shown.split_at(shown.find('/').unwrap_or(shown.len()));
    let host = match authority.rsplit_once('@') {
        // abfs://CONTAINER@ACCOUNT has no secret there.
        Some((container, _)) if scheme.starts_with("abfs") && !container.contains(':') => authority,
        Some((_, host)) => host,
        None => authority,
    };
    if host.len() == authority.len() && end == rest.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{scheme}{host}{path}"))
}

/// Returns a path without the secret parts of a URL.
pub(crate) fn without_secrets(path: &Path) -> PathBuf {
    if is_url(path) { shown(path).into_owned().into() } else { path.to_owned() }
}

/// Returns a path as text; the secret parts of a URL are left out, and bytes that are not UTF-8 are replaced.
pub(crate) fn shown(path: &Path) -> Cow<'_, str> {
    match path.to_string_lossy() {
        Cow::Borrowed(text) => conceal(text),
        Cow::Owned(text) => Cow::Owned(conceal(&text).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_packs_are_urls() {
        for url in ["https://h/x", "HTTP://h", "s3://bucket/key", "abfss://c@a/x"] {
            assert!(is_url(url.as_ref()), "{url}");
        }
        for path in ["https:/h/x", "x/https://h", "file:///x", "ftp://h/x", "s3", ""] {
            assert!(!is_url(path.as_ref()), "{path}");
        }
    }

    #[test]
    fn user_information_query_and_fragment_are_concealed() {
        for (url, shown) in [
            ("https://h/x.zip", "https://h/x.zip"),
            ("https://u:p@h:80/x.zip", "https://h:80/x.zip"),
            ("https://u:p@ss@h/x.zip", "https://h/x.zip"),
            ("http://h/x@y.zip?X-Amz-Signature=1#f", "http://h/x@y.zip"),
            ("https://h?token=1/2@3", "https://h"),
            ("s3://key:secret@bucket/x", "s3://bucket/x"),
            ("abfss://container@account.net/x?sig=1", "abfss://container@account.net/x"),
            ("abfs://a:b@c/x", "abfs://c/x"),
            ("exp.zip?x#y", "exp.zip?x#y"),
        ] {
            assert_eq!(conceal(url), shown, "{url}");
        }
    }
}
