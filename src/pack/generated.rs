//! The texts by which documents of a pack that ra-pack made are recognized.

/// The comment above the document, for readers who no longer have any software for the format. Its first line identifies
/// a generated document.
pub(super) const HEAD: &str = "\
# This file describes every array of this pack, in the Ndarray Data Language 0.6.1, which is YAML.
# Pack format 1.0. Specification: docs/spec (pack.md, rawarray.md, ndl.md) in the source code of ra-pack.
# The array NAME of group /a/b is the file a/b/NAME.ra; in a bag (next to bagit.txt), data/a/b/NAME.ra.
#
# A .ra file (RawArray) is a header and then the data. The header is the letters \"rawarray\" and unsigned
# 64-bit integers, little-endian: flags, eltype, elbyte, size, ndims, dims[0] ... dims[ndims-1].
#   flags:  0; bit 0: the data is big-endian; bit 1: the data is encoded (rawarray.md)
#   eltype: 0 user-defined, 1 signed integer, 2 unsigned integer, 3 IEEE 754 float,
#           4 complex (real part, imaginary part), 5 bfloat16 (upper half of a 32-bit float)
#   elbyte: bytes of one element
#   size:   bytes of the data, which begin at byte 48 + 8*ndims
# The first index of dims varies fastest. shape below equals dims, except where an array says
# storage: {order: row}: there shape is dims reversed, so the last index of shape varies fastest.
# With order: row-unreversed, shape equals dims, and the last index varies fastest.
#
# manifest-sha256.txt has the SHA-256 of every file except manifest-*.txt and signatures of manifests.
# In a bag, it has those of the files in data/, and tagmanifest-sha256.txt those of the other files.
# To check them: sha256sum -c manifest-sha256.txt
";

/// Returns whether the beginning of a text is that of a generated document.
pub(crate) fn is_generated(start: &[u8]) -> bool {
    HEAD.lines().next().is_some_and(|line| start.starts_with(line.as_bytes()))
}

/// The beginning of the metadata file of an RO-Crate that ra-pack made, which identifies it.
pub(crate) const CRATE_HEAD: &str = r#"{
  "@context": "https://w3id.org/ro/crate/1.2/context",
  "@graph": [
    {
      "@id": "ro-crate-metadata.json",
      "@type": "CreativeWork",
      "name": "RO-Crate metadata",
      "description": "ra-pack made this file from the attributes and arrays of the pack, and compares them when it verifies the pack.",
      "conformsTo": {
        "@id": "https://w3id.org/ro/crate/1.2"
      },
      "about": {
        "@id": "./"
      }
    },
"#;

/// The version of the pack format that is written, as `docs/spec/pack.md` specifies it.
pub(crate) const FORMAT_VERSION: &str = "1.0";

/// Returns the version of the pack format that a generated document states.
pub(super) fn stated_version(text: &str) -> Option<&str> {
    let text = text.strip_prefix(STATED).unwrap_or(text);
    let line = text.lines().nth(1)?;
    let (version, _) = line.strip_prefix("# Pack format ")?.split_once(". ")?;
    is_generated(text.as_bytes()).then_some(version)
}

/// Returns the version that a generated document states, if it is newer than [`FORMAT_VERSION`].
pub(super) fn newer_version(text: &str) -> Option<&str> {
    let number = |version: &str| -> Option<(u64, u64)> {
        let (major, minor) = version.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let version = stated_version(text)?;
    (number(version)? > number(FORMAT_VERSION)?).then_some(version)
}

/// The first line of a document that states attributes of the pack.
pub(super) const STATED: &str = "# The maker of this pack stated attributes or dimensions here.\n";

/// Returns whether a document of a pack states only attributes and coordinates.
pub(crate) fn is_attributes_document(text: &str) -> bool {
    text.strip_prefix(STATED).is_some_and(|rest| rest.starts_with(HEAD))
}

/// Returns the part of a document that ra-pack wrote.
pub(super) fn written_part(text: &str) -> Option<&str> {
    text.strip_prefix(STATED).unwrap_or(text).strip_prefix(HEAD)
}
