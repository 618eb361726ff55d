//! Which faults leave open what a member is, so that none of it may be shown or written.

use super::Code;

impl Code {
    /// Whether a member with an error of this code is not to be read: programs disagree what it is, or
    /// what it holds is not what it declares. What only digests, arrays or descriptions say against a
    /// member is for their own rules, which see the content.
    #[expect(clippy::match_same_arms, reason = "each group has a reason of its own")]
    pub(crate) fn forbids_reading(self) -> bool {
        // Without a `_`, so that whoever adds a code decides it.
        match self {
            Self::InvalidName
            | Self::DuplicateName
            | Self::FileAndDirectory
            | Self::Link
            | Self::SpecialFile
            | Self::BadDirectory
            | Self::HeadersDisagree
            | Self::Overlap
            | Self::BadChecksum
            | Self::BadMemberData
            | Self::Unsupported
            | Self::DirectoryWithData
            | Self::Zip64Mismatch
            | Self::BadDescriptor
            | Self::Encrypted
            | Self::UnknownMethod
            | Self::SplitArchive
            | Self::SecondEndRecord
            | Self::TwoFormats
            | Self::BadExtraField
            | Self::SignatureInComment
            | Self::TrailingCompressed
            | Self::DamagedStream
            | Self::BadTarHeader
            | Self::BadExtendedHeader => true,

            // Names that trouble some systems, and what no content depends on.
            Self::CaseTwins
            | Self::LegacyNameEncoding
            | Self::ControlInName
            | Self::UnportableName
            | Self::NormalizationTwins
            | Self::DecomposedName
            | Self::MissingEndMark
            | Self::OddContainer
            | Self::DirtyPadding
            | Self::LesserFieldsDiffer
            | Self::UnknownExtraField => false,

            // Of the archive around a member, whose own bytes are beyond doubt. Where it is cut off within
            // one, reading that one fails.
            Self::NotAnArchive
            | Self::StrayBytes
            | Self::PrependedBytes
            | Self::TrailingBytes
            | Self::HiddenMember => false,

            Self::NoManifest
            | Self::BadManifestLine
            | Self::DigestMismatch
            | Self::MissingMember
            | Self::UnlistedMember
            | Self::ManifestsDisagree
            | Self::WeakDigest
            | Self::ArchiveDigestMismatch
            | Self::EmptyManifest => false,

            Self::Ndl(_)
            | Self::BadHeader
            | Self::BadData
            | Self::TrailingMetadata
            | Self::UnusualEncoding
            | Self::NoArrays
            | Self::Undescribed
            | Self::DescribedTwice
            | Self::NoArrayDescribed
            | Self::ShapeMismatch
            | Self::TypeMismatch
            | Self::StorageMismatch
            | Self::UnknownCoordinate
            | Self::CoordinateLength
            | Self::LooseDescription
            | Self::MissingArray
            | Self::BadPackDocument
            | Self::PartialDocument
            | Self::ValueMismatch => false,

            Self::BadBag
            | Self::BadTagFile
            | Self::UnknownTagEncoding
            | Self::PayloadOxum
            | Self::NotFetched
            | Self::BadFetchList
            | Self::WrongManifestEntry
            | Self::UnlistedTagFile
            | Self::BesideBag
            | Self::BagAtRoot
            | Self::LegacyManifestLine
            | Self::NormalizedName
            | Self::OddPercent
            | Self::UnknownDigest
            | Self::UnfitForBag
            | Self::PartlyListed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn only_errors_about_names_and_containers_forbid_reading() {
        for code in Code::all().filter(|code| code.forbids_reading()) {
            let family = code.id().trim_end_matches(|character: char| character.is_ascii_digit());
            assert!(matches!(family, "NAME" | "ARC"), "{}", code.id());
            assert_eq!(code.severity(), Severity::Error, "{}", code.id());
        }
    }

    /// Whoever adds an error about names or containers has to say here that a member with it may be read.
    #[test]
    fn of_the_errors_about_names_and_containers_few_allow_it() {
        let allowed: Vec<_> = Code::all()
            .filter(|code| matches!(code.id().get(..3), Some("NAM" | "ARC")))
            .filter(|code| code.severity() == Severity::Error && !code.forbids_reading())
            .map(Code::id)
            .collect();
        assert_eq!(allowed, ["ARC001", "ARC002", "ARC012", "ARC013", "ARC014"]);
    }
}
