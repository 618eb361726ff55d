//! Codes of findings. Each has a row in the table below and a page in `codes/`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::Severity;
use crate::message::Message;

/// The explanation of a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Explanation {
    /// The stable identifier, such as `MAN003`.
    pub code: &'static str,
    /// The meaning of the code, in one phrase.
    pub title: &'static str,
    /// The problem and why it matters, on one line.
    pub text: String,
    /// The document that defines the rule.
    pub source: &'static str,
    /// An example with the problem.
    pub wrong: Example,
    /// The same example, corrected.
    pub right: Example,
}

/// A wrong or a correct example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Example {
    /// A complete description.
    Document(&'static str),
    /// A layout, a command or a phrase, where a description cannot show the problem.
    Sketch(&'static str),
}

impl Example {
    /// Returns the text of the example.
    pub fn text(self) -> &'static str {
        match self {
            Self::Document(text) | Self::Sketch(text) => text,
        }
    }

    /// Parses a fenced block: `yaml` is a document, `text` a sketch.
    fn parse(block: &'static str) -> Option<Self> {
        let inside = block.trim().strip_prefix("```")?.strip_suffix("```")?;
        match inside.split_once('\n')? {
            ("yaml", text) => Some(Self::Document(text)),
            ("text", text) => Some(Self::Sketch(text)),
            _ => None,
        }
    }
}

impl Explanation {
    /// Parses the page of a code.
    ///
    /// # Panics
    ///
    /// Panics if the page lacks a part. A test reads every page.
    pub(crate) fn parse(code: &'static str, title: &'static str, page: &'static str) -> Self {
        let read = || {
            let (text, rest) = page.split_once("\n\nSource: ")?;
            let (source, rest) = rest.split_once("\n\nWrong:\n")?;
            let (wrong, right) = rest.split_once("\n\nRight:\n")?;
            let (wrong, right) = (Example::parse(wrong)?, Example::parse(right)?);
            Some(Self { code, title, text: text.replace('\n', " "), source, wrong, right })
        };
        read().expect("the page of every code has a text, a source and two examples")
    }
}

/// The hint for an archive whose bytes changed.
const RESTORE: &str = "restore the archive from another copy";
/// The hint for an archive that programs interpret differently.
const REPACK: &str = "do not use this archive; pack the source again, or restore another copy";

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal $severity:ident $(, $hint:expr)?;)*) => {
        /// A kind of error or warning. Identifiers are stable: a code keeps its number, and the numbers of removed
        /// codes are not used again.
        ///
        /// ```
        /// use ra_pack::Code;
        ///
        /// assert_eq!(Code::DigestMismatch.id(), "MAN003");
        /// assert!(Code::ALL.contains(&Code::DigestMismatch));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Code {
            /// Every code, those of the Ndarray Data Language (NDL) first.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Returns the stable identifier, such as `MAN003`.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// Returns the meaning of the code, in one phrase.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_ascii(),)*
                }
            }

            /// Returns the usual severity of the code.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)*
                }
            }

            /// Returns the default hint: the next step, in a few words.
            pub(crate) fn hint(self) -> Message {
                match self {
                    $($(Self::$name => $hint.into(),)?)*
                    _ => format!("`ra-pack explain {}` shows a correct example", self.id()).into(),
                }
            }

            /// Returns the meaning and reason of the code, with a wrong and a right example.
            pub fn explanation(self) -> Explanation {
                let page = match self {
                    $(Self::$name => include_str!(concat!("codes/", $id, ".md")),)*
                };
                Explanation::parse(self.id(), self.title(), page)
            }
        }
    };
}

codes! {
    // Text and YAML.
    /// The text is not UTF-8.
    NotUtf8 = "NDL001" Error;
    /// The document is too large.
    TooLarge = "NDL002" Error;
    /// The text is not valid YAML.
    Syntax = "NDL003" Error;
    /// More than one YAML document.
    ManyDocuments = "NDL004" Error;
    /// A duplicate key.
    DuplicateKey = "NDL005" Error;
    /// A tag outside the core schema, or one that contradicts its value.
    Tag = "NDL006" Error;
    /// A merge key.
    MergeKey = "NDL007" Error;
    /// An alias that contains itself or expands too far.
    Alias = "NDL008" Error;
    /// Nesting that is too deep.
    TooDeep = "NDL009" Error;
    /// A key that is not text.
    KeyNotText = "NDL010" Error;
    /// A number that does not fit any 64-bit type.
    NumberRange = "NDL011" Error;
    /// Too many problems in one document.
    TooManyFindings = "NDL012" Error;
    // Structure of the document.
    /// An unknown key.
    UnknownKey = "NDL020" Error;
    /// A required key is missing.
    MissingKey = "NDL021" Error;
    /// A value of the wrong kind.
    WrongKind = "NDL022" Error;
    /// Flat and grouped keys in one document.
    MixedForms = "NDL023" Error;
    /// A malformed group path.
    GroupPath = "NDL024" Error;
    /// A malformed name.
    Name = "NDL025" Error;
    /// A dimcoord and an ndarray with the same name.
    NameTwice = "NDL026" Error;
    // Attributes.
    /// A list in the short form of an attribute.
    ShortList = "NDL030" Error;
    /// Null or a boolean in the short form of an attribute.
    ShortNotScalar = "NDL031" Error;
    // Datatypes.
    /// An unknown datatype.
    UnknownDatatype = "NDL040" Error;
    /// A malformed datatype.
    DatatypeForm = "NDL041" Error;
    /// An opaque datatype whose size is not positive.
    OpaqueSize = "NDL042" Error;
    /// An enum without members, or with members that are not integers.
    EnumMembers = "NDL043" Error;
    /// Two enum members with the same value.
    EnumTwice = "NDL044" Error;
    /// An enum member outside the range of its base.
    EnumRange = "NDL045" Error;
    /// An enum base that is not an integer type.
    EnumBase = "NDL046" Error;
    /// An unknown selection in a region reference.
    Selection = "NDL047" Error;
    /// A malformed compound member.
    CompoundMember = "NDL048" Error;
    /// Two compound members with the same name.
    CompoundTwice = "NDL049" Error;
    /// A datatype whose elements are too large.
    DatatypeSize = "NDL050" Error;
    /// An extension to NDL, rejected by strict checking.
    Extension = "NDL051" Error;
    // Shapes.
    /// A malformed dimension in a shape.
    Extent = "NDL060" Error;
    /// A kind of dimension that is not allowed here.
    ExtentKind = "NDL061" Error;
    /// A malformed reference to a dimcoord.
    CoordPath = "NDL062" Error;
    /// A reference to a dimcoord that does not exist.
    UnresolvedCoord = "NDL063" Error;
    /// A dimcoord whose size is not positive.
    CoordSize = "NDL064" Error;
    /// A shape with too many elements.
    ShapeSize = "NDL065" Error;
    // Values.
    /// A value that does not match its shape.
    ValueShape = "NDL070" Error;
    /// A value that does not match its datatype.
    ValueType = "NDL071" Error;
    /// A number outside the range of its datatype.
    ValueRange = "NDL072" Error;
    /// A value that is not a member of its enum.
    EnumValue = "NDL073" Error;
    /// A reference to an object that does not exist.
    UnresolvedTarget = "NDL074" Error;
    /// A region outside its target.
    RegionBounds = "NDL075" Error;
    // Storage.
    /// A storage list of the wrong length.
    StorageRank = "NDL080" Error;
    /// A stored dimension larger than the declared one.
    StorageBound = "NDL081" Error;
    /// A storage key that has no meaning here.
    StoragePlace = "NDL082" Error;
    /// An unknown storage key.
    StorageKey = "NDL083" Error;
    /// An unknown byte order.
    Endian = "NDL084" Error;
    /// An unknown order of dimensions.
    Order = "NDL085" Error;
    /// A fill value that does not match its datatype.
    FillValue = "NDL086" Error;
    /// A malformed filter.
    Filter = "NDL087" Error;

    /// A name that a member must not have.
    InvalidName = "NAME001" Error, "rename the file and make the archive again";
    /// Two members with the same name.
    DuplicateName = "NAME002" Error, REPACK;
    /// A file with the name of a directory.
    FileAndDirectory = "NAME003" Error, REPACK;
    /// A symbolic or hard link.
    Link = "NAME004" Error, Message::from("pack the linked files: ").call("create", "dereference");
    /// A device, a pipe, or another special file.
    SpecialFile = "NAME005" Error,
        Message::from("leave it out of the archive: ").call("create", "exclude");
    /// Two names that differ only in case.
    CaseTwins = "NAME006" Warning, "rename one of the two files";
    /// A name in an old single-byte encoding.
    LegacyNameEncoding = "NAME007" Warning,
        "make the archive again with a program that writes UTF-8";
    /// A name with control characters or line ends.
    ControlInName = "NAME008" Warning, "rename the file";
    /// A name that some systems cannot store.
    UnportableName = "NAME009" Warning, "rename the file";
    /// Two names that differ only in Unicode normalization.
    NormalizationTwins = "NAME010" Warning, "rename one of the two files";
    /// A name in decomposed Unicode.
    DecomposedName = "NAME011" Warning, "rename the file";

    /// The file is not an archive of the expected kind, or is cut off.
    NotAnArchive = "ARC001" Error, RESTORE;
    /// Bytes that belong to no member.
    StrayBytes = "ARC002" Error, REPACK;
    /// The directory of the archive contradicts itself.
    BadDirectory = "ARC003" Error, REPACK;
    /// The two headers of a member differ.
    HeadersDisagree = "ARC004" Error, REPACK;
    /// Two members that overlap.
    Overlap = "ARC005" Error, REPACK;
    /// The container's checksum does not match the bytes.
    BadChecksum = "ARC006" Error, RESTORE;
    /// Member data that cannot be decoded or has the wrong length.
    BadMemberData = "ARC007" Error, RESTORE;
    /// A feature of the container that is not supported.
    Unsupported = "ARC008" Error,
        "unpack the archive with the program that made it, then pack it with `ra-pack create`";
    /// The end mark of the tar is missing or incomplete.
    MissingEndMark = "ARC009" Warning,
        "compare the archive with another copy: it may be cut off between two members";
    /// A directory entry with data.
    DirectoryWithData = "ARC010" Error, REPACK;
    /// An uncommon but harmless feature of the container.
    OddContainer = "ARC011" Warning,
        "pack the files again to remove it; the files in the manifest are not affected";
    /// Bytes before the archive.
    PrependedBytes = "ARC012" Error, REPACK;
    /// Bytes after the end of the archive.
    TrailingBytes = "ARC013" Error, REPACK;
    /// A member that is not in the directory of the archive.
    HiddenMember = "ARC014" Error, REPACK;
    /// The zip64 records differ from the others.
    Zip64Mismatch = "ARC015" Error, REPACK;
    /// The data descriptor of a member is missing or wrong.
    BadDescriptor = "ARC016" Error, REPACK;
    /// An encrypted member.
    Encrypted = "ARC017" Error,
        "unpack the archive with the program that made it, then pack it with `ra-pack create`";
    /// A compression method that is not supported.
    UnknownMethod = "ARC018" Error,
        "unpack the archive with the program that made it, then pack it with `ra-pack create`";
    /// One part of a split archive.
    SplitArchive = "ARC019" Error, "join the parts with the program that made them";
    /// More than one end record.
    SecondEndRecord = "ARC020" Error, REPACK;
    /// A malformed or duplicate extra field of a zip.
    BadExtraField = "ARC021" Error, REPACK;
    /// A comment that looks like part of the archive.
    SignatureInComment = "ARC022" Error, REPACK;
    /// Padding that is not zero.
    DirtyPadding = "ARC023" Warning,
        "compare the archive with another copy: no manifest covers these bytes";
    /// Bytes after the end of compressed data.
    TrailingCompressed = "ARC024" Error, REPACK;
    /// The compressed stream is damaged.
    DamagedStream = "ARC025" Error, RESTORE;
    /// A tar header that programs interpret differently.
    BadTarHeader = "ARC026" Error, REPACK;
    /// An extended tar header that is malformed or has no entry.
    BadExtendedHeader = "ARC027" Error, REPACK;
    /// The time or version of a member differs between its headers.
    LesserFieldsDiffer = "ARC028" Warning,
        "pack the files again to remove this; the files in the manifest are not affected";
    /// An unknown extra field.
    UnknownExtraField = "ARC029" Warning,
        "pack the files again to remove it; the files in the manifest are not affected";
    /// A file that is both a zip and a tar.
    TwoFormats = "ARC030" Error, REPACK;

    /// The pack has no manifest.
    NoManifest = "MAN001" Error,
        Message::from("pack the source again: `ra-pack create`; or verify with a manifest stored elsewhere: ")
            .call("verify", ("manifest", "FILE"));
    /// A line of a manifest is malformed or repeated.
    BadManifestLine = "MAN002" Error, "restore the manifest from another copy";
    /// The file differs from the manifest.
    DigestMismatch = "MAN003" Error, "restore the file from another copy";
    /// A file in the manifest does not exist.
    MissingMember = "MAN004" Error, "restore the file from another copy";
    /// A file that is not in the manifest.
    UnlistedMember = "MAN005" Error, "find out who added it, then pack again with or without it";
    /// Two manifests differ.
    ManifestsDisagree = "MAN006" Error, "find out which of the two was made with the archive";
    /// Only digests that can be forged.
    WeakDigest = "MAN007" Warning, "pack again to list the files with SHA-256";
    /// The archive differs from its digest file.
    ArchiveDigestMismatch = "MAN008" Error,
        "restore the archive from another copy; if it is the correct one, delete the digest file";
    /// The manifest is empty.
    EmptyManifest = "MAN009" Error,
        "restore the manifest from another copy, or pack the source again";
    /// A block of a file differs from its digest.
    DamagedBlock = "MAN010" Error,
        "restore these bytes or the whole file from another copy";
    /// The list of block digests is malformed, or does not fit the files.
    BadBlockList = "MAN011" Error,
        "restore the archive from another copy, or pack the files again";
    // Signatures.
    /// The signature or time-stamp is damaged, or not of this manifest.
    BadSignature = "SIG001" Error, "restore the manifest and its signature from another copy; do not trust the pack until they match";
    /// The signature or time-stamp is not by a trusted key.
    UntrustedSigner = "SIG002" Error, "ask the maker of the pack for the key, or do not trust the pack";
    /// There is no signature or time-stamp that the given keys could check.
    NoSignature = "SIG003" Error, "restore the signature from another copy, or ask the maker of the pack for it";

    // Objects in stores.
    /// The object in the store is not the file that was verified.
    StoreDiffers = "STORE001" Error, "upload the file again, or find out who replaced the object";
    /// There is no such object in the store.
    NoObject = "STORE002" Error, "correct the URL, or upload the file";
    /// The store keeps no checksum that can be compared.
    NoStoreChecksum = "STORE003" Error, "upload the file again: `aws s3 cp --checksum-algorithm CRC64NVME`";

    /// The header of an array is not valid.
    BadHeader = "RA001" Error,
        "restore the file from another copy, or write the array again from its source";
    /// The data of an array is not valid.
    BadData = "RA002" Error,
        "restore the file from another copy, or write the array again from its source";
    /// Bytes after the data of an array.
    TrailingMetadata = "RA003" Warning, "store these bytes in a separate file";
    /// An array in an encoding that other programs misread.
    UnusualEncoding = "RA004" Warning, "read the array with the library and write it again";
    /// Arrays in other formats, or no arrays at all.
    NoArrays = "RA005" Warning, "convert the arrays to RawArray files with `ra-pack convert`";

    /// An array without a description.
    Undescribed = "DESC001" Error,
        Message::from("write descriptions from the headers: ").call_on_pack("describe", "write");
    /// Descriptions of one array or coordinate that contradict each other.
    DescribedTwice = "DESC002" Error, "delete one of the two, or make them agree";
    /// A description with no entry for its array.
    NoArrayDescribed = "DESC003" Error, "give the entry the name of the array";
    /// The shape of a description differs from the header.
    ShapeMismatch = "DESC004" Error, "correct the description, or the array";
    /// The datatype of a description differs from the header.
    TypeMismatch = "DESC005" Error, "correct the description, or the array";
    /// The storage directives differ from the header.
    StorageMismatch = "DESC006" Error, "correct the description, or the array";
    /// A dimension coordinate that does not exist.
    UnknownCoordinate = "DESC007" Error, "correct the name, or add the coordinate to the pack";
    /// A dimension coordinate of the wrong length.
    CoordinateLength = "DESC008" Error, "correct the length of the array or of the coordinate";
    /// A description that other readers may misunderstand.
    LooseDescription = "DESC009" Warning, "write the description in the expected way";
    /// A described array that does not exist.
    MissingArray = "DESC010" Warning, "add the array's file, or remove its entry";
    /// The document of the pack is not a description.
    BadPackDocument = "DESC012" Error, "rename the file if it is not meant as a description";
    /// The document of the pack does not describe every array.
    PartialDocument = "DESC013" Warning, "add the missing entries with `ra-pack create`";
    /// A value in a description differs from the array.
    ValueMismatch = "DESC014" Error, "correct the value, or remove it: the array file has it";
    /// A pack of a newer version of the format.
    NewerFormat = "DESC015" Warning, "verify it with a newer version of ra-pack, which may know more rules";

    /// An array of numbers without units.
    NoUnits = "META001" Warning, "add `units`, or `1` for numbers without a unit";
    /// Unknown units.
    UnknownUnits = "META002" Warning, "write units as in UDUNITS, such as `kg m-2 s-1`";
    /// An array without a `long_name`.
    NoLongName = "META003" Warning, "add a `long_name`, or a `standard_name` of the CF conventions";
    /// A coordinate whose values neither increase nor decrease.
    NotMonotone = "META004" Warning, "sort the values together with the data, or rename the array";
    /// An attribute number outside the type of the array.
    OutsideType = "META005" Warning, "use a number of the type of the array";
    /// An entry whose name differs from its file.
    OtherName = "META006" Warning, "give the entry the name of the file";
    /// A description without an array.
    DescribesNothing = "META007" Warning, "rename the description, or remove it";
    /// A pack without a title.
    NoTitle = "META008" Warning,
        Message::from("add a title: ").call("create", ("attribute", "title='A few words'"));
    /// A pack without an attribute that a record about it must have.
    IncompleteRecord = "META009" Error, "add the attribute";
    /// A generated RO-Crate that differs from the pack.
    CrateMismatch = "META010" Error,
        Message::from("pack the files again with their attributes: ").call("create", "ro_crate");

    /// The declaration of a bag is not valid.
    BadBag = "BAG001" Error, "write the two lines of `bagit.txt` again as in RFC 8493";
    /// A malformed tag file of a bag.
    BadTagFile = "BAG002" Error, "correct the line, then write the tag manifest again";
    /// Tag files in an encoding that is not supported.
    UnknownTagEncoding = "BAG003" Error, "write the tag files again in UTF-8";
    /// The payload of a bag does not match `Payload-Oxum`.
    PayloadOxum = "BAG004" Error,
        "compare the payload with another copy: files were lost, added or changed";
    /// A payload file that has not been downloaded yet.
    NotFetched = "BAG005" Error, "download the file from the URL in `fetch.txt`, then verify again";
    /// A malformed line of `fetch.txt`.
    BadFetchList = "BAG006" Error, "correct the line, then write the tag manifest again";
    /// A bag manifest with wrong or missing entries.
    WrongManifestEntry = "BAG007" Error,
        Message::from("restore the manifest from another copy, or make the bag again: ")
            .call("create", ("layout", "bagit"));
    /// A tag file that is not in any tag manifest.
    UnlistedTagFile = "BAG008" Warning,
        "check the file by other means, then add it to a tag manifest";
    /// A file outside the bag in its archive.
    BesideBag = "BAG009" Error, "remove it: an archive of a bag must contain only the bag";
    /// A bag without its own directory in the archive.
    BagAtRoot = "BAG010" Warning, "unpack it into a new directory";
    /// A line of a bag manifest in the format of `md5sum`.
    LegacyManifestLine = "BAG011" Warning, "write the line as digest, two spaces and path";
    /// A name that matches the manifest only after normalization.
    NormalizedName = "BAG012" Warning, "write the same name in the bag and in its manifest";
    /// A `%` in a bag manifest that encodes nothing.
    OddPercent = "BAG013" Warning, "write `%25` for each `%` in the name";
    /// A bag manifest with an unknown algorithm.
    UnknownDigest = "BAG014" Error,
        "check it with a program that supports the algorithm, or add a manifest with sha256";
    /// A name that other readers of bags misread.
    UnfitForBag = "BAG015" Error, "rename the file, or use the plain layout";
    /// A payload file that some manifests of the bag do not list.
    PartlyListed = "BAG016" Error, "list the file in every payload manifest";
    /// A BagIt profile that breaks its specification.
    BadProfile = "PROF001" Error, "correct the profile, or ask its publisher for a newer version";
    /// A bag in a container or version that its profile does not accept.
    ProfileForm = "PROF002" Error, "make the bag again with a program that writes this version";
    /// A line of `bag-info.txt` that its profile does not accept, or a missing one.
    ProfileTag = "PROF003" Error, "correct the line, then write the tag manifest again";
    /// A bag manifest that its profile requires or forbids.
    ProfileManifest = "PROF004" Error,
        "make the bag again with a program that writes the manifests of the profile";
    /// A file of a bag that its profile requires or forbids.
    ProfileFile = "PROF005" Error,
        "add or remove the file, then write the manifests of the bag again";
    /// More files or larger files than a repository takes.
    TooMuch = "REPO001" Error,
        "divide the data into several packs, or ask the repository for a larger quota";
    /// A name of a file that a repository does not take.
    UnfitForRepository = "REPO002" Error, "rename the file";
    /// A repository that changes what is uploaded.
    ChangedUpload = "REPO003" Warning,
        "upload a tar, or put the zip into another zip";
    /// An attribute that breaks a rule of a convention.
    AgainstConvention = "CONV001" Error, "set the attribute as the convention says";
    /// An attribute that is not as a convention recommends.
    ConventionAdvice = "CONV002" Warning,
        Message::from("set the attributes: ").call_on_pack("describe", ("set", "NAME=VALUE"));
}

impl Code {
    /// Returns whether this error makes it ambiguous which bytes are the member, so that its content must not be shown
    /// or written. Errors about the rest of the archive do not: reading a truncated member fails by itself.
    pub(super) fn forbids_reading(self) -> bool {
        let is_of_container = self.id().starts_with("NAME") || self.id().starts_with("ARC");
        let is_around_members = matches!(
            self,
            Self::NotAnArchive
                | Self::StrayBytes
                | Self::PrependedBytes
                | Self::TrailingBytes
                | Self::HiddenMember
        );
        self.severity() == Severity::Error && is_of_container && !is_around_members
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

/// The error for text that is not a code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownCode {
    /// The most similar code, if any is similar.
    pub nearest: Option<Code>,
}

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such code")?;
        if let Some(code) = self.nearest {
            write!(f, "; the nearest is `{}` ({})", code.id(), code.title().trim_end_matches('.'))?;
        }
        f.write_str("; `ra-pack explain` lists them all")
    }
}

impl std::error::Error for UnknownCode {}

/// Parses an identifier such as `NDL021` or `desc004`.
impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let id = text.trim().to_ascii_uppercase();
        let exact = Self::ALL.iter().find(|code| code.id() == id).copied();
        exact.ok_or_else(|| {
            let near = Self::ALL.iter().filter_map(|code| Some((distance(code.id(), &id)?, code)));
            UnknownCode {
                nearest: near.min_by_key(|(distance, _)| *distance).map(|(_, code)| *code),
            }
        })
    }
}

/// Returns the distance of two identifiers: the number of different letters, then the difference of the numbers.
/// `None` if no letter is the same.
fn distance(id: &str, typed: &str) -> Option<(usize, u32)> {
    let split = |id: &str| {
        let at = id.find(|character: char| character.is_ascii_digit()).unwrap_or(id.len());
        let (family, number) = id.split_at(at);
        (family.to_owned(), number.parse::<u32>().unwrap_or(0))
    };
    let ((family, number), (other, wanted)) = (split(id), split(typed));
    let common = family.chars().zip(other.chars()).filter(|(a, b)| a == b).count();
    let longest = family.len().max(other.chars().count());
    (common > 0).then(|| (longest - common, number.abs_diff(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_distinct_explanation() {
        let mut texts: Vec<_> = Code::ALL.iter().map(|code| code.explanation().text).collect();
        let thin: Vec<_> =
            texts.iter().filter(|text| text.len() < 50 || !text.ends_with('.')).collect();
        assert!(thin.is_empty(), "{thin:?}");
        let all = texts.len();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!((texts.len(), all), (all, Code::ALL.len()));
        for code in Code::ALL {
            let Explanation { wrong, right, source, .. } = code.explanation();
            assert_ne!(wrong.text(), right.text(), "{}", code.id());
            assert!(!source.is_empty() && wrong.text().ends_with('\n'), "{}", code.id());
        }
    }

    #[test]
    fn every_code_has_a_hint_in_the_style_of_a_message() {
        for code in Code::ALL {
            let hint = code.hint().to_string();
            let first = hint.chars().next().unwrap();
            assert!(first.is_lowercase() || first == '`', "{}: {hint}", code.id());
            assert!(hint.len() > 12 && !hint.ends_with('.'), "{}: {hint}", code.id());
        }
    }

    #[test]
    fn codes_are_unique() {
        let mut ids: Vec<_> = Code::ALL.iter().map(|code| code.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Code::ALL.len());
    }

    #[test]
    fn ids_are_parsed_in_either_case() {
        for code in Code::ALL {
            assert_eq!(code.id().parse(), Ok(*code));
            assert_eq!(code.id().to_lowercase().parse(), Ok(*code));
        }
    }

    #[test]
    fn unknown_codes_suggest_the_nearest() {
        let nearest = |text: &str| text.parse::<Code>().unwrap_err().nearest.unwrap().id();
        assert_eq!(nearest("NDL088"), "NDL087");
        assert_eq!(nearest("DESC099"), "DESC015");
        assert_eq!(nearest("ND021"), "NDL021");
        assert_eq!(nearest("mam003"), "MAN003");
        assert_eq!(nearest("NDL99999999999999"), "NDL001");
        for word in ["wxyz", "\u{e9}", ""] {
            assert_eq!(word.parse::<Code>().unwrap_err().nearest, None);
        }
    }
}
