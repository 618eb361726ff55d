//! The manifests of a pack as text: found, decoded and read in one place, whoever asks for them.

use std::borrow::Cow;

use super::bag::TagRules;
use super::manifests::{self, NamedManifest};
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::manifest::{Manifest, ManifestIndex, NameEncoding};
use crate::pack::{self, BAG_DECLARATION, Layout};

/// Which manifest a single file is held against when there are several: the one that every reader of
/// packs knows, then the strongest.
pub(super) const BY_PREFERENCE: [Algorithm; 6] = [
    Algorithm::Sha256,
    Algorithm::Sha512,
    Algorithm::Sha384,
    Algorithm::Sha224,
    Algorithm::Sha1,
    Algorithm::Md5,
];

/// The files at the root of a pack, by their names there.
pub(super) trait RootFiles {
    /// How the pack is laid out; not asked before one of its manifests was found.
    fn layout(&self) -> Result<Layout>;

    /// A whole file, if there is one. What it cannot be read for is damage, or a refusal of the system.
    fn read(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>>;

    /// An error that is a finding about the pack.
    fn damaged(&self, finding: Finding) -> Error;
}

/// A manifest as it stands, in UTF-8.
#[derive(Debug)]
pub(super) struct ManifestText<'t> {
    pub(super) name: String,
    pub(super) algorithm: Algorithm,
    pub(super) names: NameEncoding,
    text: Cow<'t, [u8]>,
}

impl<'t> ManifestText<'t> {
    /// Decodes the text of a manifest by the rules of its pack.
    ///
    /// # Errors
    ///
    /// As [`TagRules::decode`].
    pub(super) fn decode(
        name: impl Into<String>,
        algorithm: Algorithm,
        rules: TagRules,
        text: impl Into<Cow<'t, [u8]>>,
    ) -> Result<Self, Option<Box<Finding>>> {
        let name = name.into();
        let text = match text.into() {
            Cow::Borrowed(text) => rules.decode(&name, text)?,
            Cow::Owned(text) => match rules.decode(&name, &text)? {
                Cow::Owned(decoded) => Cow::Owned(decoded),
                Cow::Borrowed(_) => Cow::Owned(text),
            },
        };
        Ok(Self { name, algorithm, names: rules.names, text })
    }

    /// A manifest that lies outside of the pack, where no rules of a bag say how it is encoded.
    pub(super) fn outside(
        name: impl Into<String>,
        algorithm: Algorithm,
        names: NameEncoding,
        text: Vec<u8>,
    ) -> Self {
        Self { name: name.into(), algorithm, names, text: Cow::Owned(text) }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Reads every line, and adds what is wrong with any.
    pub(super) fn parse(self, findings: &mut Vec<Finding>) -> NamedManifest {
        let (manifest, faults) = Manifest::parse(self.algorithm, self.names, &self.text);
        findings.extend(faults.iter().map(|fault| manifests::fault_finding(&self.name, fault)));
        NamedManifest { name: self.name, manifest }
    }

    /// An index of all its lines.
    pub(super) fn index(&self) -> ManifestIndex {
        ManifestIndex::new(self.algorithm, self.names, &self.text)
    }
}

/// The manifest that a single file of a pack is held against.
pub(super) fn preferred(files: &impl RootFiles) -> Result<Option<ManifestText<'_>>> {
    for algorithm in BY_PREFERENCE {
        let name = pack::manifest_name(algorithm);
        let Some(text) = files.read(&name)? else { continue };
        let rules = rules(files)?;
        return match ManifestText::decode(name, algorithm, rules, text) {
            Ok(text) => Ok(Some(text)),
            Err(finding) => Err(files.damaged(undecodable(finding))),
        };
    }
    Ok(None)
}

/// How the manifests of a pack are to be read.
pub(super) fn rules(files: &impl RootFiles) -> Result<TagRules> {
    let layout = files.layout()?;
    let declaration = match layout {
        Layout::Plain => None,
        Layout::BagIt => files.read(BAG_DECLARATION)?,
    };
    Ok(TagRules::of(layout, declaration.as_deref()))
}

/// What is wrong with a manifest that [`ManifestText::decode`] could not decode.
pub(super) fn undecodable(finding: Option<Box<Finding>>) -> Finding {
    finding.map_or_else(unknown_encoding, |found| *found)
}

fn unknown_encoding() -> Finding {
    Finding::new(
        Code::UnknownTagEncoding,
        "the manifests of the bag are in an encoding that is not supported",
    )
    .in_member(BAG_DECLARATION)
}
