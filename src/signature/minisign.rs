//! Signatures by minisign.

use std::path::Path;

use minisign_verify::{Error as Reason, PublicKey, Signature};

use super::outcome::{Proved, Wrong};
use crate::error::{Error, Result};
use crate::path::escape_path;

/// A public key.
#[derive(Debug, Clone)]
pub(super) struct Key {
    base64: String,
    key: PublicKey,
}

impl Key {
    /// Reads a key in Base64.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let key = PublicKey::from_base64(text).ok()?;
        Some(Self { base64: text.to_owned(), key })
    }

    /// Reads the file of a key: a comment, and the key.
    pub(super) fn read(path: &Path, text: &[u8]) -> Result<Self> {
        let line = str::from_utf8(text).ok().and_then(|text| text.lines().nth(1));
        line.and_then(|line| Self::parse(line.trim())).ok_or_else(|| {
            Error::options(format!("`{}` is not a public key of minisign", escape_path(path)))
        })
    }
}

/// Checks a signature of `manifest` by one of the keys.
pub(super) fn check(keys: &[Key], signature: &[u8], manifest: &[u8]) -> Result<Proved, Wrong> {
    let text = str::from_utf8(signature).ok().and_then(|text| Signature::decode(text).ok());
    let signature = text.ok_or_else(|| Wrong::bad("the file is not a signature by minisign"))?;
    for Key { base64, key } in keys {
        match key.verify(manifest, &signature, true) {
            Ok(()) => return Ok(Proved { by: base64.clone(), time: None }),
            Err(Reason::UnexpectedKeyId) => {}
            Err(_) => {
                let message =
                    "the signature does not match the manifest: one of the two was changed";
                return Err(Wrong::bad(message));
            }
        }
    }
    Err(Wrong::untrusted("the signature is by another key of minisign than those that are trusted"))
}
