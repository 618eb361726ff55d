//! Keys that are trusted to sign manifests, and authorities that are trusted to state when these existed.

use std::path::{Path, PathBuf};

use rustls_pki_types::TrustAnchor;

use super::outcome::{Proved, Wrong};
use super::{minisign, ssh, time_stamp};
use crate::error::Result;
use crate::finding::{Code, Finding};
use crate::fs;

/// Maximum size of a file of keys in bytes. The certificates that a system trusts take 300 kB.
const MAX_KEYS: u64 = 16 << 20;

/// Keys that are trusted to sign manifests, and authorities that are trusted to state when these existed.
///
/// [`verify`](crate::verify()) then requires a good signature or time-stamp of each kind of which there are keys here.
/// Other kinds are not checked.
#[derive(Debug, Clone, Default)]
pub struct TrustedKeys {
    signers: Option<Vec<ssh::Signer>>,
    minisign: Vec<minisign::Key>,
    authorities: Vec<TrustAnchor<'static>>,
}

/// A kind of signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ssh,
    Minisign,
    TimeStamp,
}

impl TrustedKeys {
    /// Reads files of keys. Returns `None` if none are given.
    ///
    /// - `signers` is a list of allowed signers, as `ssh-keygen -Y verify -f` reads it. Signatures must have the namespace
    ///   `file`. Lines of certificate authorities are ignored. Times without `Z` are UTC.
    /// - `minisign_keys` are public keys of minisign: their files, or the keys themselves in Base64.
    /// - `time_ca` has the certificates (PEM) of authorities whose time-stamps (RFC 3161) are trusted.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if a file cannot be read, [`Error::Options`](crate::Error::Options) if it has no
    /// keys, or a line that is not understood.
    pub fn read(
        signers: Option<&Path>,
        minisign_keys: &[PathBuf],
        time_ca: Option<&Path>,
    ) -> Result<Option<Self>> {
        let read = |path: &Path| fs::read_limited(path, MAX_KEYS);
        let minisign = minisign_keys.iter().map(|key| {
            let own = key.to_str().and_then(minisign::Key::parse);
            own.map_or_else(|| minisign::Key::read(key, &read(key)?), Ok)
        });
        let minisign = minisign.collect::<Result<Vec<_>>>()?;
        let signers = signers.map(|path| ssh::read_signers(path, &read(path)?)).transpose()?;
        let authorities = time_ca.map(|path| time_stamp::read_authorities(path, &read(path)?));
        let authorities = authorities.transpose()?.unwrap_or_default();
        let is_given = signers.is_some() || !minisign.is_empty() || !authorities.is_empty();
        Ok(is_given.then_some(Self { signers, minisign, authorities }))
    }

    /// Checks the signature with this `name`. Returns `None` if it is of a kind for which there are no keys.
    pub(crate) fn check(
        &self,
        name: &str,
        signature: &[u8],
        manifest: &[u8],
    ) -> Option<(Kind, Result<Proved, Wrong>)> {
        let (_, extension) = name.rsplit_once('.')?;
        let signers = self.signers.as_deref().filter(|_| ssh::is_signature(signature));
        match (extension, signers) {
            ("sig", Some(signers)) => Some((Kind::Ssh, ssh::check(signers, signature, manifest))),
            ("minisig", _) if !self.minisign.is_empty() => {
                Some((Kind::Minisign, minisign::check(&self.minisign, signature, manifest)))
            }
            ("tsr", _) if !self.authorities.is_empty() => {
                Some((Kind::TimeStamp, time_stamp::check(&self.authorities, signature, manifest)))
            }
            _ => None,
        }
    }

    /// Returns a finding for each kind of which there are keys, but no signature among those that were `checked`.
    pub(crate) fn missing(&self, checked: &[Kind]) -> impl Iterator<Item = Finding> {
        let wanted = [
            (Kind::Ssh, self.signers.is_some(), "signature by an SSH key", "sig"),
            (Kind::Minisign, !self.minisign.is_empty(), "signature by minisign", "minisig"),
            (Kind::TimeStamp, !self.authorities.is_empty(), "time-stamp", "tsr"),
        ];
        let wanted = wanted
            .into_iter()
            .filter(|(kind, is_wanted, ..)| *is_wanted && !checked.contains(kind));
        wanted.map(|(_, _, what, extension)| {
            Finding::new(Code::NoSignature, format!("the manifest has no {what}")).expected(
                format!("a file with the name of the manifest and `.{extension}`"),
                "none",
            )
        })
    }
}
