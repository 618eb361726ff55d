//! Checks of the signatures of a pack, with the feature `signatures`.

#[cfg(feature = "signatures")]
use std::path::Path;
use std::path::PathBuf;

use super::VerifyOptions;
use super::proof::Proof;
use crate::archive::Archive;
use crate::error::Result;
use crate::finding::Finding;
#[cfg(feature = "signatures")]
use crate::fs::{self, File};
#[cfg(feature = "signatures")]
use crate::pack;
#[cfg(feature = "signatures")]
use crate::read::manifests::MAX_MANIFEST;
use crate::signature::Signature;
#[cfg(feature = "signatures")]
use crate::signature::SignatureState;

/// Maximum size of a signature in bytes.
pub(super) const MAX_SIGNATURE: usize = 1 << 20;

/// Reads the manifest outside the pack if its signature is checked: the bytes that are signed are those that the files
/// are compared with.
#[cfg(feature = "signatures")]
pub(super) fn manifest_text(options: &VerifyOptions, archive: &Archive) -> Result<Option<Vec<u8>>> {
    let outside = options.trusted.as_ref().and_then(|_| options.outside_manifest(archive));
    outside.map(|(path, _)| fs::read_limited(&path, MAX_MANIFEST)).transpose()
}

/// Reads nothing.
#[cfg(not(feature = "signatures"))]
#[expect(clippy::unnecessary_wraps, reason = "the manifest may not be readable")]
pub(super) fn manifest_text(_: &VerifyOptions, _: &Archive) -> Result<Option<Vec<u8>>> {
    Ok(None)
}

#[cfg(feature = "signatures")]
impl Proof<'_> {
    /// Checks signatures in the pack, and those with a path outside it.
    pub(super) fn checked(
        &self,
        signatures: impl Iterator<Item = (String, Option<PathBuf>)>,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<Signature>> {
        let (mut all, mut kinds) = (Vec::new(), Vec::new());
        for (name, path) in signatures {
            let mut signature = Signature::not_checked(name);
            if let Some(trusted) = &self.options.trusted {
                let (bytes, manifest) = self.texts_of(&signature.name, path.as_deref())?;
                let checked = manifest.and_then(|it| trusted.check(&signature.name, &bytes, it));
                if let Some((kind, checked)) = checked {
                    kinds.push(kind);
                    match checked {
                        Ok(proved) => signature.prove(proved),
                        Err(wrong) => {
                            signature.state = SignatureState::Bad;
                            findings.push(wrong.into_finding(&signature.name));
                        }
                    }
                }
            }
            all.push(signature);
        }
        let trusted = self.options.trusted.iter();
        findings.extend(trusted.flat_map(|trusted| trusted.missing(&kinds)));
        Ok(all)
    }

    /// Returns the bytes of a signature, and of its manifest, unless that has digests that can be forged.
    fn texts_of(&self, name: &str, path: Option<&Path>) -> Result<(Vec<u8>, Option<&[u8]>)> {
        let Some(path) = path else {
            let signed = pack::signed_by(name).expect("it is a signature");
            let text = |name: &str| self.texts.get(name).copied();
            let is_strong = pack::manifest_algorithm(signed).is_some_and(|it| !it.is_weak());
            let bytes = text(name).unwrap_or_default();
            return Ok((bytes.to_vec(), text(signed).filter(|_| is_strong)));
        };
        // A longer file is not a signature.
        let mut bytes = vec![0; MAX_SIGNATURE];
        let read = File::open(path)?.read_at(&mut bytes, 0)?;
        bytes.truncate(read);
        let outside = self.options.outside_manifest(self.archive);
        let is_strong = outside.is_some_and(|(_, algorithm)| !algorithm.is_weak());
        Ok((bytes, self.piped.as_deref().filter(|_| is_strong)))
    }
}

#[cfg(not(feature = "signatures"))]
impl Proof<'_> {
    /// Checks nothing.
    #[expect(clippy::unnecessary_wraps, reason = "checks fail if a file cannot be read")]
    #[expect(clippy::unused_self, reason = "checks read the manifests")]
    pub(super) fn checked(
        &self,
        signatures: impl Iterator<Item = (String, Option<PathBuf>)>,
        _findings: &mut Vec<Finding>,
    ) -> Result<Vec<Signature>> {
        Ok(signatures.map(|(name, _)| Signature::not_checked(name)).collect())
    }
}
