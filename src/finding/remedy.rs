//! What to do about each kind of finding, where whoever reports it has nothing better to say.

use std::borrow::Cow;

use super::Code;

/// What to do about an archive whose bytes are not what they were.
const COPY: &str = "take the archive from another copy";
/// What to do about an archive that programs understand differently.
const ANEW: &str = "do not trust the archive; pack the source again, or take another copy";

impl Code {
    /// The next step, in a few words.
    #[expect(clippy::too_many_lines, reason = "a table is as long as it has rows")]
    pub(crate) fn remedy(self) -> Cow<'static, str> {
        // Without a `_`, so that nobody adds a code that leaves people alone with it.
        Cow::Borrowed(match self {
            Self::Ndl(code) => {
                return Cow::Owned(format!("`ra-pack explain {}` shows it right", code.id()));
            }
            Self::InvalidName => "rename the file and make the archive anew",
            Self::Link => "pack what the link leads to: `ra-pack create --dereference`",
            Self::SpecialFile => "make the archive anew without it: `ra-pack create --exclude`",
            Self::CaseTwins | Self::NormalizationTwins => "rename one of the two",
            Self::ControlInName | Self::UnportableName | Self::DecomposedName => "rename the file",
            Self::LegacyNameEncoding => "make the archive anew with a program that writes UTF-8",

            Self::NotAnArchive | Self::BadChecksum | Self::BadMemberData | Self::DamagedStream => {
                COPY
            }
            Self::DuplicateName
            | Self::FileAndDirectory
            | Self::StrayBytes
            | Self::BadDirectory
            | Self::HeadersDisagree
            | Self::Overlap
            | Self::PrependedBytes
            | Self::TrailingBytes
            | Self::HiddenMember
            | Self::TwoFormats
            | Self::Zip64Mismatch
            | Self::BadDescriptor
            | Self::SecondEndRecord
            | Self::BadExtraField
            | Self::SignatureInComment
            | Self::TrailingCompressed
            | Self::DirectoryWithData
            | Self::BadTarHeader
            | Self::BadExtendedHeader => ANEW,
            Self::Unsupported | Self::Encrypted | Self::UnknownMethod => {
                "unpack the archive with the program that made it, then pack it anew"
            }
            Self::MissingEndMark => {
                "compare the archive with another copy: it may be cut off between two members"
            }
            Self::OddContainer | Self::UnknownExtraField | Self::LesserFieldsDiffer => {
                "pack the files anew to be rid of it; what the manifest lists is not affected"
            }
            Self::SplitArchive => "join the parts with the program that made them",
            Self::DirtyPadding => {
                "compare the archive with another copy: no manifest covers these bytes"
            }

            Self::NoManifest => {
                "pack the source again: `ra-pack create`; a manifest kept elsewhere is for `ra-pack verify --manifest FILE`"
            }
            Self::BadManifestLine => "take the manifest from another copy",
            Self::DigestMismatch | Self::MissingMember => "take the file from another copy",
            Self::UnlistedMember => {
                "ask whoever added it, then pack anew with or without it: nothing vouches for it"
            }
            Self::ManifestsDisagree => "find out which of the two was made with the archive",
            Self::WeakDigest => "pack anew, which lists the files by SHA-256",
            Self::ArchiveDigestMismatch => {
                "take the archive from another copy; if it is the right one, remove that file"
            }
            Self::EmptyManifest => "take the manifest from another copy, or pack the source again",

            Self::BadHeader | Self::BadData => {
                "take the file from another copy, or write the array again from its source"
            }
            Self::TrailingMetadata => "keep these bytes in a file of their own",
            Self::UnusualEncoding => "read the array with the library and write it again",
            Self::NoArrays => "add the arrays as RawArray files: `ra-pack convert` makes them",

            Self::Undescribed => "`ra-pack describe --write DIR` writes what the headers say",
            Self::DescribedTwice => "keep one of the two, or make both say the same",
            Self::NoArrayDescribed => "give the entry of the array the array's name",
            Self::ShapeMismatch | Self::TypeMismatch | Self::StorageMismatch => {
                "correct the description, or the array if that is what is wrong"
            }
            Self::UnknownCoordinate => "correct the name, or add the coordinate to the pack",
            Self::CoordinateLength => "correct whichever of the two is wrong",
            Self::LooseDescription => "write the description in the expected way",
            Self::MissingArray => "add the array's file, or remove its entry",
            Self::BadPackDocument => "rename the file if it is meant for something else",
            Self::PartialDocument => "`ra-pack create` adds what the document lacks",
            Self::ValueMismatch => "correct the value, or leave it out: the array has it",

            Self::BadBag => "write `bagit.txt` again as the two lines that RFC 8493 gives",
            Self::BadTagFile | Self::BadFetchList => {
                "correct the line, then write the tag manifest again"
            }
            Self::UnknownTagEncoding => "write the tag files again in UTF-8",
            Self::PayloadOxum => {
                "compare the payload with another copy: files were lost, added or changed"
            }
            Self::NotFetched => "get the file from where `fetch.txt` says, and verify again",
            Self::WrongManifestEntry => {
                "take the manifest from another copy, or make the bag again: `ra-pack create \
                 --layout bagit`"
            }
            Self::UnlistedTagFile => {
                "make sure of the file by other means, then list it in a tag manifest"
            }
            Self::BesideBag => "take it out: an archive holds one bag and nothing else",
            Self::BagAtRoot => "unpack it into a new directory",
            Self::LegacyManifestLine => "write the line as digest, two blanks and path",
            Self::NormalizedName => "write the name alike in the bag and in its manifest",
            Self::OddPercent => "write `%25` where the name has a `%`",
            Self::UnknownDigest => {
                "check it with a program that knows the algorithm, or add a manifest by sha256"
            }
            Self::UnfitForBag => "rename the file, or use the plain layout",
            Self::PartlyListed => "list the file in every manifest of the payload",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_next_step_in_the_form_of_a_message() {
        for code in Code::all() {
            let remedy = code.remedy();
            let first = remedy.chars().next().unwrap();
            assert!(first.is_lowercase() || first == '`', "{}: {remedy}", code.id());
            assert!(remedy.len() > 12 && !remedy.ends_with('.'), "{}: {remedy}", code.id());
        }
    }
}
