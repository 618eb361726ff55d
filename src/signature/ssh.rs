//! Signatures by SSH keys (`PROTOCOL.sshsig` of OpenSSH), and files of allowed signers (`ssh-keygen`, "ALLOWED SIGNERS").

use std::path::Path;

use glob::Pattern;
use ring::digest::{SHA256, digest};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA512, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use ssh_key::public::KeyData;
use ssh_key::{Algorithm, EcdsaCurve, HashAlg, PublicKey, SshSig};

use super::outcome::{Proved, Wrong};
use crate::error::{Error, Result};
use crate::path::escape_path;
use crate::time::Timestamp;

/// The namespace of signatures of files, as the manual of `ssh-keygen` recommends it.
const NAMESPACE: &str = "file";

/// Bytes that a security key appends to its signature: flags, and a counter.
const SECURITY_KEY_END: usize = 5;

/// A line of a file of allowed signers.
#[derive(Debug, Clone)]
pub(super) struct Signer {
    principals: String,
    key: KeyData,
    /// The patterns of its namespaces; any if `None`.
    namespaces: Option<String>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

/// Returns whether a file is a signature by an SSH key. Other programs also use its extension.
pub(super) fn is_signature(bytes: &[u8]) -> bool {
    bytes.starts_with(b"-----BEGIN SSH SIGNATURE-----")
}

/// Reads a file of allowed signers.
pub(super) fn read_signers(path: &Path, text: &[u8]) -> Result<Vec<Signer>> {
    let lines = String::from_utf8_lossy(text);
    let lines = lines.lines().map(str::trim).zip(1..);
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let signers = lines.filter_map(|(line, number)| {
        read_signer(line).transpose().map(|read| {
            let place = format!("`{}`, line {number}", escape_path(path));
            read.map_err(|why| Error::options(format!("{place}: {why}")))
        })
    });
    signers.collect()
}

/// Reads a line of a file of allowed signers; `None` for an authority that signs keys.
fn read_signer(line: &str) -> Result<Option<Signer>, String> {
    let words = split(line, ' ');
    let key = |words: &[&str]| PublicKey::from_openssh(&words.get(..2)?.join(" ")).ok();
    let (principals, rest) = words.split_first().expect("the line is not empty");
    let (options, key) = match (key(rest), rest.split_first()) {
        (Some(key), _) => ("", Some(key)),
        (None, Some((options, rest))) => (*options, key(rest)),
        (None, None) => ("", None),
    };
    let key = key.ok_or("expected principals, options and an SSH key")?.key_data().clone();
    let principals = principals.trim_matches('"').to_owned();
    let mut signer = Signer { principals, key, namespaces: None, from: None, until: None };
    for option in split(options, ',') {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value.trim_matches('"');
        let time = || {
            read_time(value).ok_or(format!("expected a time such as `20261231Z`, found `{value}`"))
        };
        match &*name.to_ascii_lowercase() {
            "cert-authority" => return Ok(None),
            "namespaces" => signer.namespaces = Some(value.to_owned()),
            "valid-after" => signer.from = Some(time()?),
            "valid-before" => signer.until = Some(time()?),
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    Ok(Some(signer))
}

/// Splits a text at each separator outside of quotation marks. A tab separates as a space does.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut is_quoted = false;
    let parts = text.split(|char| {
        is_quoted ^= char == '"';
        !is_quoted && (char == separator || separator == ' ' && char == '\t')
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// Reads a time: `YYYYMMDD[HHMM[SS]]`, and `Z` for UTC.
fn read_time(text: &str) -> Option<Timestamp> {
    let digits = text.strip_suffix('Z').unwrap_or(text);
    let is_time =
        matches!(digits.len(), 8 | 12 | 14) && digits.bytes().all(|it| it.is_ascii_digit());
    let digits = is_time.then(|| format!("{digits:0<14}"))?;
    let part = |range| digits.get(range).expect("14 digits");
    let (date, time) =
        ([part(0..4), part(4..6), part(6..8)], [part(8..10), part(10..12), part(12..14)]);
    format!("{}T{}Z", date.join("-"), time.join(":")).parse().ok()
}

impl Signer {
    /// Checks that the key may sign files now.
    fn check_use(&self, now: Timestamp) -> Result<(), Wrong> {
        let matches = |pattern: &str| Pattern::new(pattern).is_ok_and(|it| it.matches(NAMESPACE));
        let is_for_files = self.namespaces.as_deref().is_none_or(|patterns| {
            let mut patterns = patterns.split(',');
            patterns.clone().any(matches)
                && !patterns.any(|it| it.strip_prefix('!').is_some_and(matches))
        });
        let Self { principals, from, until, .. } = self;
        if !is_for_files {
            return Err(Wrong::untrusted(format!("the key of {principals} must not sign files"))
                .expected("the namespace `file`", format!("{:?}", self.namespaces)));
        }
        if let Some(until) = until.filter(|until| now >= *until) {
            let message = format!("the key of {principals} expired at {until}");
            return Err(Wrong::untrusted(message));
        }
        if let Some(from) = from.filter(|from| now < *from) {
            let message = format!("the key of {principals} is valid only from {from}");
            return Err(Wrong::untrusted(message));
        }
        Ok(())
    }
}

/// Checks a signature of `manifest` by one of the signers.
pub(super) fn check(
    signers: &[Signer],
    signature: &[u8],
    manifest: &[u8],
) -> Result<Proved, Wrong> {
    let signature = SshSig::from_pem(signature).map_err(|error| {
        Wrong::bad(format!("the file is not a signature by an SSH key: {error}"))
    })?;
    if signature.namespace() != NAMESPACE {
        return Err(Wrong::bad("the signature is for another purpose than a file")
            .expected("the namespace `file`", format!("{:?}", signature.namespace())));
    }
    let key = signature.public_key();
    let fingerprint = key.fingerprint(HashAlg::Sha256);
    match is_signed(&signature, manifest) {
        Some(true) => {}
        Some(false) => {
            let message = "the signature does not match the manifest: one of the two was changed";
            return Err(Wrong::bad(message));
        }
        None => {
            let message =
                format!("signatures by keys of the kind {} cannot be checked", key.algorithm());
            return Err(Wrong::untrusted(message));
        }
    }
    let now = Timestamp::now();
    let mut refused = None;
    for signer in signers.iter().filter(|signer| signer.key == *key) {
        match signer.check_use(now) {
            Ok(()) => {
                return Ok(Proved {
                    by: format!("{}, {fingerprint}", signer.principals),
                    time: None,
                });
            }
            Err(why) => refused = Some(why),
        }
    }
    Err(refused.unwrap_or_else(|| {
        Wrong::untrusted(format!(
            "the signature is by the key {fingerprint}, which is not one of the signers'"
        ))
    }))
}

/// Returns whether a signature is of `manifest`, by the key that it names; `None` if such keys are not supported.
fn is_signed(signature: &SshSig, manifest: &[u8]) -> Option<bool> {
    let message = SshSig::signed_data(NAMESPACE, signature.hash_alg(), manifest).ok()?;
    let (bytes, algorithm) = (signature.signature_bytes(), signature.algorithm());
    let is_by = |algorithm: &'static dyn VerificationAlgorithm,
                 key: &[u8],
                 message: &[u8],
                 signature: &[u8]| {
        UnparsedPublicKey::new(algorithm, key).verify(message, signature).is_ok()
    };
    // A security key signs the digest of the message with its own state.
    let split_end = || bytes.split_at_checked(bytes.len().checked_sub(SECURITY_KEY_END)?);
    let of_security_key = |application: &str, end: &[u8]| {
        let [application, message] =
            [application.as_bytes(), &message].map(|it| digest(&SHA256, it));
        [application.as_ref(), end, message.as_ref()].concat()
    };
    Some(match (signature.public_key(), algorithm) {
        (KeyData::Ed25519(key), Algorithm::Ed25519) => {
            is_by(&ED25519, key.as_ref(), &message, bytes)
        }
        (KeyData::Ecdsa(key), Algorithm::Ecdsa { curve }) if curve == key.curve() => {
            let (algorithm, size): (&'static dyn VerificationAlgorithm, _) = match curve {
                EcdsaCurve::NistP256 => (&ECDSA_P256_SHA256_FIXED, 32),
                EcdsaCurve::NistP384 => (&ECDSA_P384_SHA384_FIXED, 48),
                EcdsaCurve::NistP521 => return None,
            };
            is_by(algorithm, key.as_sec1_bytes(), &message, &fixed(bytes, size)?)
        }
        (KeyData::Rsa(key), Algorithm::Rsa { hash: Some(hash) }) => {
            let (n, e) = (key.n.as_positive_bytes()?, key.e.as_positive_bytes()?);
            let algorithm = match hash {
                HashAlg::Sha256 => &RSA_PKCS1_2048_8192_SHA256,
                _ => &RSA_PKCS1_2048_8192_SHA512,
            };
            RsaPublicKeyComponents { n, e }.verify(algorithm, &message, bytes).is_ok()
        }
        (KeyData::SkEd25519(key), Algorithm::SkEd25519) => {
            let (bytes, end) = split_end()?;
            is_by(
                &ED25519,
                key.public_key().as_ref(),
                &of_security_key(key.application(), end),
                bytes,
            )
        }
        (KeyData::SkEcdsaSha2NistP256(key), Algorithm::SkEcdsaSha2NistP256) => {
            let (bytes, end) = split_end()?;
            let message = of_security_key(key.application(), end);
            is_by(&ECDSA_P256_SHA256_FIXED, key.ec_point().as_ref(), &message, &fixed(bytes, 32)?)
        }
        _ => return None,
    })
}

/// Returns the two numbers of an ECDSA signature with `size` bytes each. SSH writes them with their lengths (RFC 5656,
/// section 3.1.2).
fn fixed(mut bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut all = Vec::with_capacity(2 * size);
    for _ in 0..2 {
        let (length, rest) = bytes.split_first_chunk()?;
        let (number, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        let number = number.strip_prefix(&[0]).unwrap_or(number);
        all.resize(all.len() + size.checked_sub(number.len())?, 0);
        all.extend(number);
        bytes = rest;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqNNIEUrUrCdMuMfeZXlMv4XZs8ev9TbsMaJQ1HcnCP";

    #[test]
    fn lines_of_signers_are_read_as_openssh_reads_them() {
        let text = format!(
            "# comment\n\n\"a b@example.org\" {KEY} text\n*@lab\tnamespaces=\"git,file\",valid-before=\"20261231Z\" {KEY}\n\
             ca cert-authority {KEY}\n"
        );
        let signers = read_signers("signers".as_ref(), text.as_bytes()).unwrap();
        let [first, second] = &signers[..] else { panic!("{signers:?}") };
        assert_eq!((&*first.principals, &first.namespaces), ("a b@example.org", &None));
        assert_eq!(second.namespaces.as_deref(), Some("git,file"));
        let before = "2026-12-30T23:59:59Z".parse().unwrap();
        assert!(second.check_use(before).is_ok());
        assert!(second.check_use("2026-12-31T00:00:00Z".parse().unwrap()).is_err());
        for (namespaces, is_allowed) in [("fi?e", true), ("git", false), ("*,!file", false)] {
            let signer = Signer { namespaces: Some(namespaces.into()), ..first.clone() };
            assert_eq!(signer.check_use(before).is_ok(), is_allowed, "{namespaces}");
        }
    }

    #[test]
    fn a_line_without_a_key_is_an_error_with_its_place() {
        for line in ["someone", "someone ssh-ed25519 AAAA", &format!("someone force=\"x\" {KEY}")] {
            let error =
                read_signers("signers".as_ref(), format!("\n{line}").as_bytes()).unwrap_err();
            assert!(error.to_string().contains("`signers`, line 2: "), "{error}");
        }
    }

    #[test]
    fn times_have_eight_to_fourteen_digits() {
        for (text, time) in [
            ("20261129", "2026-11-29T00:00:00Z"),
            ("202611291530Z", "2026-11-29T15:30:00Z"),
            ("20261129153059", "2026-11-29T15:30:59Z"),
        ] {
            assert_eq!(read_time(text).map(|time| time.to_string()).as_deref(), Some(time));
        }
        assert_eq!([read_time("2026"), read_time("20261332"), read_time("2026112é")], [None; 3]);
    }
}
