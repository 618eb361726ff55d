//! Checks of a bag of any origin against a BagIt profile.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use crate::archive::{Archive, Member, MemberKind};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::message::Message;
use crate::pack::bag::profile::{BagProfile, ProfiledBag};
use crate::pack::bag::{BagDeclaration, BagInfo, MAX_TAG_FILE};
use crate::pack::{BAG_DECLARATION, Layout, Placement};
use crate::read::manifests::{self, TagRules};

/// Checks a bag against the profile in a file. Returns the URI of the profile and the findings.
pub(super) fn check(
    archive: &Archive,
    placement: &Placement,
    members: &[Member],
    profile: &Path,
) -> Result<(String, Vec<Finding>)> {
    let (profile, mut findings) = BagProfile::read(profile)?;
    if placement.layout != Layout::BagIt {
        return Err(not_a_bag(archive.path()));
    }
    let mut read = |name: &str| -> Result<Vec<u8>> {
        let mut text = Vec::new();
        if let Some(member) = archive.find(&placement.place_tag(name))?
            && let Err(error) = archive.read(&member)?.take(MAX_TAG_FILE).read_to_end(&mut text)
        {
            findings.push(manifests::unreadable(name, error)?);
        }
        Ok(text)
    };
    let (declaration, _) = BagDeclaration::parse(&read(BAG_DECLARATION)?);
    let name = BagInfo::file(declaration.rules());
    let text = read(name)?;
    let (info, faults) = match TagRules::declared(&declaration).decode(name, &text) {
        Ok(text) => BagInfo::parse(declaration.rules(), &text),
        Err(finding) => (BagInfo::default(), vec![*finding]),
    };
    findings.extend(faults);
    let files = members.iter().filter_map(|member| {
        let name = Cow::from(placement.relative(&member.name)?);
        let is_directory = member.kind == MemberKind::Directory;
        Some((if is_directory { name + "/" } else { name }, member.size))
    });
    findings.extend(profile.check(&ProfiledBag {
        extension: archive.container().extension(),
        version: declaration.stated_version.as_deref().unwrap_or("none"),
        info: Cow::Owned(info),
        files: files.collect(),
    }));
    Ok((profile.identifier().to_owned(), findings))
}

/// Makes the error about a target that profiles have no rules for.
pub(super) fn not_a_bag(target: &Path) -> Error {
    let why = Message::from("is not a bag, which a profile is for; make one with ");
    Error::wrong_target(target, why.call("create", ("layout", "bagit")))
}
