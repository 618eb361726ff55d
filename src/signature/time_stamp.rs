//! Time-stamps (RFC 3161): signed statements of an authority that a manifest existed at a time.

use std::path::Path;
use std::time::Duration;

use cms::cert::CertificateChoices;
use cms::cert::x509::Certificate;
use cms::cert::x509::der::asn1::{ObjectIdentifier, OctetString, OctetStringRef};
use cms::cert::x509::der::{self, Any, Decode, Encode, Tag, Tagged};
use cms::cert::x509::ext::pkix::SubjectKeyIdentifier;
use cms::content_info::ContentInfo;
use cms::signed_data::{SignedAttributes, SignedData, SignerIdentifier, SignerInfo};
use ring::digest::{self, Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime};
use webpki::{
    ALL_VERIFICATION_ALGS, EndEntityCert, Error as Reason, KeyUsage, anchor_from_trusted_cert,
};

use super::outcome::{Proved, Wrong};
use crate::error::{Error, Result};
use crate::path::escape_path;
use crate::time::Timestamp;

const SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");
const TST_INFO: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.1.4");
const CONTENT_TYPE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.3");
const MESSAGE_DIGEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.4");
const SIGNING_CERTIFICATE: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.12");
const SIGNING_CERTIFICATE_V2: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.47");

/// The value of the key usage `id-kp-timeStamping`, 1.3.6.1.5.5.7.3.8.
const TIME_STAMPING: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 8];

/// Digests that a time-stamp may use, weakest first. SHA-1 identifies certificates in tokens of RFC 3161; RFC 5816 allows
/// others.
const DIGESTS: [(&str, &Algorithm); 4] = [
    ("1.3.14.3.2.26", &SHA1_FOR_LEGACY_USE_ONLY),
    ("2.16.840.1.101.3.4.2.1", &SHA256),
    ("2.16.840.1.101.3.4.2.2", &SHA384),
    ("2.16.840.1.101.3.4.2.3", &SHA512),
];

/// Reads certificates of authorities.
pub(super) fn read_authorities(path: &Path, text: &[u8]) -> Result<Vec<TrustAnchor<'static>>> {
    let invalid = |why: String| Error::options(format!("`{}`: {why}", escape_path(path)));
    let certificates = CertificateDer::pem_slice_iter(text);
    let anchors = certificates.zip(1..).map(|(certificate, number)| {
        let certificate = certificate.map_err(|error| invalid(error.to_string()))?;
        let anchor = anchor_from_trusted_cert(&certificate);
        let anchor = anchor.map_err(|why| invalid(format!("certificate {number}: {why}")))?;
        Ok(anchor.to_owned())
    });
    let anchors = anchors.collect::<Result<Vec<_>>>()?;
    if anchors.is_empty() {
        return Err(invalid("expected certificates in the PEM format, found none".to_owned()));
    }
    Ok(anchors)
}

/// The statement of a time-stamp (RFC 3161, section 2.4.2).
struct Statement {
    /// The digest of what existed.
    digest: (ObjectIdentifier, Vec<u8>),
    time: Timestamp,
}

/// Checks a time-stamp of `manifest` by one of the authorities. `bytes` are the response of the authority, or the token in
/// it.
pub(super) fn check(
    authorities: &[TrustAnchor<'_>],
    bytes: &[u8],
    manifest: &[u8],
) -> Result<Proved, Wrong> {
    let token = read_token(bytes)?;
    let content = token.encap_content_info.econtent.as_ref();
    let content = content.filter(|_| token.encap_content_info.econtent_type == TST_INFO);
    let content = content.and_then(|any| any.decode_as::<OctetString>().ok());
    let content = content.ok_or_else(|| unreadable("it contains something else"))?;
    let content = content.as_bytes();
    let Statement { digest: (algorithm, stated), time } = Statement::read(content)?;
    let found = digest_by(algorithm, manifest, &DIGESTS[1..])?;
    if found.as_ref() != stated {
        return Err(Wrong::bad("the time-stamp is of something else, or the manifest was changed")
            .expected(format!("the digest {}", hex(&stated)), hex(found.as_ref())));
    }
    let [signer] = token.signer_infos.0.as_slice() else {
        return Err(unreadable("it does not have one signer"));
    };
    let attributes = signer.signed_attrs.as_ref();
    let attributes = attributes.ok_or_else(|| unreadable("the signer states no attributes"))?;
    let choices = token.certificates.as_ref().map_or(&[][..], |all| all.0.as_slice());
    let mut others = Vec::new();
    let mut own = None;
    for choice in choices {
        let CertificateChoices::Certificate(certificate) = choice else { continue };
        let der = certificate.to_der().map_err(unreadable)?;
        if own.is_none() && is_of(signer, certificate) && is_named(attributes, &der)? {
            own = Some((certificate, CertificateDer::from(der)));
        } else {
            others.push(CertificateDer::from(der));
        }
    }
    let (certificate, der) =
        own.ok_or_else(|| unreadable("the certificate of its signer is not in it"))?;
    let by = certificate.tbs_certificate.subject.to_string();
    let entity = EndEntityCert::try_from(&der).map_err(unreadable)?;
    let digest = digest_by(signer.digest_alg.oid, content, &DIGESTS[1..])?;
    let has = |oid, value: &dyn Fn(&Any) -> bool| attribute(attributes, oid).is_some_and(value);
    let is_whole = has(CONTENT_TYPE, &|any| {
        any.decode_as().is_ok_and(|oid: ObjectIdentifier| oid == TST_INFO)
    }) && has(MESSAGE_DIGEST, &|any| {
        any.decode_as::<OctetStringRef<'_>>().is_ok_and(|it| it.as_bytes() == digest.as_ref())
    });
    let message = attributes.to_der().map_err(unreadable)?;
    let signature = signer.signature.as_bytes();
    // Each of the algorithms is safe, so the one that fits proves the signature.
    let mut algorithms = ALL_VERIFICATION_ALGS.iter();
    if !is_whole || !algorithms.any(|by| entity.verify_signature(*by, &message, signature).is_ok())
    {
        return Err(Wrong::bad("the time-stamp was changed: its signature does not match"));
    }
    check_chain(&entity, authorities, &others, time, &by)?;
    Ok(Proved { by, time: Some(time) })
}

/// Checks that the certificate of a signer was valid at `time`, and that an authority issued it for time-stamps.
fn check_chain(
    entity: &EndEntityCert<'_>,
    authorities: &[TrustAnchor<'_>],
    others: &[CertificateDer<'_>],
    time: Timestamp,
    by: &str,
) -> Result<(), Wrong> {
    let epoch = "1970-01-01T00:00:00Z".parse().expect("a time");
    let at = UnixTime::since_unix_epoch(Duration::from_secs(time.since(epoch).as_secs()));
    let usage = KeyUsage::required(TIME_STAMPING);
    let verified =
        entity.verify_for_usage(ALL_VERIFICATION_ALGS, authorities, others, at, usage, None, None);
    verified.map(drop).map_err(|reason| {
        Wrong::untrusted(match reason {
            Reason::CertExpired { .. } => {
                format!("the certificate of {by} had expired when the time-stamp was made, at {time}")
            }
            Reason::CertNotValidYet { .. } => {
                format!("the certificate of {by} was not valid yet when the time-stamp was made, at {time}")
            }
            // A certificate of another purpose on the way to the authority causes the last of these.
            Reason::UnknownIssuer
            | Reason::InvalidSignatureForPublicKey
            | Reason::RequiredEkuNotFoundContext(_) => format!(
                "the time-stamp is by {by}, whose certificate no trusted authority issued for time-stamps"
            ),
            other => format!("the certificate of {by} cannot be trusted: {other}"),
        })
    })
}

/// Reads the token in a response (RFC 3161, section 2.4.2), or a token alone.
fn read_token(bytes: &[u8]) -> Result<SignedData, Wrong> {
    let parts = Vec::<Any>::from_der(bytes).map_err(unreadable)?;
    let token = match &parts[..] {
        [first, ..] if first.tag() == Tag::ObjectIdentifier => ContentInfo::from_der(bytes),
        [_, token] => token.decode_as(),
        [status] => {
            let status = status.to_der().map_err(unreadable)?;
            return Err(Wrong::bad("the authority refused the time-stamp")
                .expected("a token", format!("the status {}", hex(&status))));
        }
        _ => return Err(unreadable("it is neither a response nor a token")),
    };
    let token = token.map_err(unreadable)?;
    if token.content_type != SIGNED_DATA {
        return Err(unreadable("it is not signed data"));
    }
    token.content.decode_as().map_err(unreadable)
}

impl Statement {
    /// Reads the fields of a `TSTInfo` that are used.
    fn read(bytes: &[u8]) -> Result<Self, Wrong> {
        let read = || {
            let fields = Vec::<Any>::from_der(bytes).ok()?;
            let [_version, _policy, imprint, _serial, time, ..] = &fields[..] else { return None };
            let imprint = imprint.decode_as::<Vec<Any>>().ok()?;
            let [algorithm, digest] = &imprint[..] else { return None };
            let algorithm = algorithm.decode_as::<Vec<Any>>().ok()?;
            let algorithm = algorithm.first()?.decode_as().ok()?;
            let digest = digest.decode_as::<OctetString>().ok()?.into_bytes();
            let is_time = time.tag() == Tag::GeneralizedTime;
            let time = is_time.then(|| generalized_time(time.value())).flatten()?;
            Some(Self { digest: (algorithm, digest), time })
        };
        read().ok_or_else(|| unreadable("its statement has another form"))
    }
}

/// Reads `YYYYMMDDhhmmss[.s...]Z`.
fn generalized_time(text: &[u8]) -> Option<Timestamp> {
    let text = str::from_utf8(text).ok().filter(|text| text.is_ascii())?;
    let part = |range| text.get(range);
    let date = [part(0..4)?, part(4..6)?, part(6..8)?].join("-");
    format!("{date}T{}:{}:{}", part(8..10)?, part(10..12)?, text.get(12..)?).parse().ok()
}

/// Returns whether a certificate is the one of the signer, according to its identifier.
fn is_of(signer: &SignerInfo, certificate: &Certificate) -> bool {
    let certificate = &certificate.tbs_certificate;
    match &signer.sid {
        SignerIdentifier::IssuerAndSerialNumber(it) => {
            it.issuer == certificate.issuer && it.serial_number == certificate.serial_number
        }
        SignerIdentifier::SubjectKeyIdentifier(id) => certificate
            .get::<SubjectKeyIdentifier>()
            .is_ok_and(|it| it.is_some_and(|(_, it)| it == *id)),
    }
}

/// Returns whether the signed attributes name a certificate by its digest (RFC 5035; RFC 5816).
fn is_named(attributes: &SignedAttributes, certificate: &[u8]) -> Result<bool, Wrong> {
    for (oid, usual) in [(SIGNING_CERTIFICATE_V2, DIGESTS[1]), (SIGNING_CERTIFICATE, DIGESTS[0])] {
        let Some(value) = attribute(attributes, oid) else { continue };
        // SigningCertificateV2 ::= SEQUENCE { certs SEQUENCE OF SEQUENCE { algorithm OPTIONAL, digest, ... }, ... }
        let first = |any: &Any| any.decode_as::<Vec<Any>>().ok()?.into_iter().next();
        let fields = first(value).as_ref().and_then(first);
        let fields = fields.and_then(|it| it.decode_as::<Vec<Any>>().ok()).unwrap_or_default();
        let (algorithm, digest) = match &fields[..] {
            [algorithm, digest, ..] if digest.tag() == Tag::OctetString => {
                let algorithm = first(algorithm).and_then(|it| it.decode_as().ok());
                (
                    algorithm
                        .ok_or_else(|| unreadable("it names its certificate in another form"))?,
                    digest,
                )
            }
            [digest, ..] => (ObjectIdentifier::new_unwrap(usual.0), digest),
            [] => return Err(unreadable("it names no certificate")),
        };
        return Ok(digest_by(algorithm, certificate, &DIGESTS)?.as_ref() == digest.value());
    }
    Err(unreadable("it does not say which certificate signed it"))
}

/// Returns the value of an attribute that has one.
fn attribute(attributes: &SignedAttributes, oid: ObjectIdentifier) -> Option<&Any> {
    let mut named = attributes.iter().filter(|attribute| attribute.oid == oid);
    match (named.next()?.values.as_slice(), named.next()) {
        ([value], None) => Some(value),
        _ => None,
    }
}

fn digest_by(
    oid: ObjectIdentifier,
    bytes: &[u8],
    allowed: &[(&str, &'static Algorithm)],
) -> Result<digest::Digest, Wrong> {
    let algorithm = allowed.iter().find(|(name, _)| oid.to_string() == *name);
    match algorithm {
        Some((_, algorithm)) => Ok(digest::digest(algorithm, bytes)),
        None => Err(Wrong::bad("the time-stamp uses a weak or unknown digest")
            .expected("SHA-256, SHA-384 or SHA-512", oid.to_string())),
    }
}

fn unreadable(why: impl std::fmt::Display) -> Wrong {
    Wrong::bad(format!("the time-stamp cannot be read: {why}"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

impl From<der::Error> for Wrong {
    fn from(error: der::Error) -> Self {
        unreadable(error)
    }
}
