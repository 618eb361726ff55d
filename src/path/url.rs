//! URLs of packs, and their form without secrets.

use std::borrow::Cow;
use std::path::Path;

/// The beginnings of URLs that name a pack.
const SCHEMES: [&str; 7] =
    ["https://", "http://", "s3://", "gs://", "az://", "abfs://", "abfss://"];

/// Splits a text that looks like a URL after the slashes that follow its scheme. Also splits one that names no pack, such
/// as `ftp://` or `http:/`: it may have a password, too.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let (scheme, rest) = text.split_once(":/")?;
    let rest = rest.trim_start_matches('/');
    let is_scheme = scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let scheme = text.split_at(text.len() - rest.len()).0;
    let is_port =
        |port: &str| port.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit());
    let (_, host) = split_host(rest);
    // A password may have a `/`, `?` or `#` as well, though these end the host of a URL.
    let is_password = host.rsplit_once(':').is_some_and(|(_, port)| !is_port(port));
    let rest =
        if is_password { rest.rsplit_once('@').map_or("", |(_, after)| after) } else { rest };
    is_scheme.then_some((scheme, rest))
}

/// Returns the user information, with its `@`, and the host at the beginning of the rest of a URL.
fn split_host(rest: &str) -> (&str, &str) {
    let authority = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len())).0;
    authority.split_at(authority.rfind('@').map_or(0, |at| at + 1))
}

/// Returns whether a path is the URL of a pack: it begins with `https://`, `http://`, `s3://`, `gs://`, `az://`,
/// `abfs://` or `abfss://`.
pub fn is_url(path: &Path) -> bool {
    let starts = |text: &str, scheme: &str| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    path.to_str().is_some_and(|text| SCHEMES.iter().any(|scheme| starts(text, scheme)))
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
    let shown = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len())).0;
    let (user, host) = split_host(shown);
    let path = shown.split_at(user.len() + host.len()).1;
    // abfs://CONTAINER@ACCOUNT has no secret there.
    let is_container = scheme.starts_with("abfs") && !user.contains(':');
    let user = if is_container { user } else { "" };
    if scheme.len() + user.len() + host.len() + path.len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{scheme}{user}{host}{path}"))
}

/// Returns the query of a URL; `None` for other text.
pub(crate) fn query(text: &str) -> Option<&str> {
    let (_, rest) = split(text)?;
    let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
    Some(rest.split_once('?').map_or("", |(_, query)| query))
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
            ("http://u:pa/ss@h:80/x", "http://h:80/x"),
            ("http://u:p#a?ss@h/x?y", "http://h/x"),
            ("http://u:pass/x", "http://"),
            ("http://[::1]:80/x@y", "http://[::1]:80/x@y"),
            ("http://[::1]/x", "http://[::1]/x"),
            (" http://u:p@h/x", "http://h/x"),
            ("ftp://u:p@h/x?y", "ftp://h/x"),
            ("http:/u:p@h/x", "http:/h/x"),
            ("C:/x@y?", "C:/x@y?"),
            ("exp.zip?x#y", "exp.zip?x#y"),
        ] {
            assert_eq!(conceal(url), shown, "{url}");
        }
    }
}
