//! The codes of findings: one row each in a table, and one page each in `codes/`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::Severity;

/// The meaning of the code of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Explanation {
    /// The stable identifier.
    pub code: &'static str,
    /// The meaning of the code, in a sentence.
    pub title: &'static str,
    /// The fault and why it matters, as one line.
    pub text: String,
    /// The document that the rule comes from.
    pub source: &'static str,
    /// An example that has the fault.
    pub wrong: Example,
    /// The same, put right.
    pub right: Example,
}

/// An example of a fault or of how to put it right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Example {
    /// A whole description.
    Document(&'static str),
    /// A layout, a command, or words, where a description cannot show it.
    Sketch(&'static str),
}

impl Example {
    /// The text of the example.
    pub fn text(self) -> &'static str {
        match self {
            Self::Document(text) | Self::Sketch(text) => text,
        }
    }

    /// Reads a fenced block: `yaml` for a document, `text` for everything else.
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
    /// Reads the page of a code, which is part of the program.
    ///
    /// # Panics
    ///
    /// When the page lacks a part. A test reads every page.
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

/// The remedy for an archive whose bytes are not what they were.
const COPY: &str = "take the archive from another copy";
/// The remedy for an archive that programs understand differently.
const ANEW: &str = "do not trust the archive; pack the source again, or take another copy";

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal $severity:ident $(, $remedy:expr)?;)*) => {
        /// A kind of thing that can be wrong. The identifiers are stable: a code keeps its number for ever, and the
        /// number of a code that is given up is not used again.
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
            /// Every code, the rules of the Ndarray Data Language first.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable identifier.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// The meaning of the code, in a sentence.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_ascii(),)*
                }
            }

            /// How much it usually matters.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)*
                }
            }

            /// The next step, in a few words, where the reporter has nothing more exact to say.
            pub(crate) fn remedy(self) -> &'static str {
                match self {
                    $(Self::$name => {
                        [$($remedy,)? concat!("`ra-pack explain ", $id, "` shows it right")][0]
                    })*
                }
            }

            /// The meaning of the code and its reason, with a wrong and a right example.
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
    // The text and its YAML.
    /// the text is not UTF-8
    NotUtf8 = "NDL001" Error;
    /// the document is too large
    TooLarge = "NDL002" Error;
    /// the text is not YAML
    Syntax = "NDL003" Error;
    /// more than one YAML document
    ManyDocuments = "NDL004" Error;
    /// a key is given twice
    DuplicateKey = "NDL005" Error;
    /// a tag outside the core schema, or one that its value contradicts
    Tag = "NDL006" Error;
    /// a merge key
    MergeKey = "NDL007" Error;
    /// an alias that contains itself or expands too far
    Alias = "NDL008" Error;
    /// nesting is too deep
    TooDeep = "NDL009" Error;
    /// a key is not text
    KeyNotText = "NDL010" Error;
    /// a number that no 64-bit type holds
    NumberRange = "NDL011" Error;
    /// too many findings
    TooManyFindings = "NDL012" Error;
    // The frame of the document.
    /// an unknown key
    UnknownKey = "NDL020" Error;
    /// a required key is missing
    MissingKey = "NDL021" Error;
    /// a value of the wrong kind
    WrongKind = "NDL022" Error;
    /// flat and grouped form mixed
    MixedForms = "NDL023" Error;
    /// a malformed group path
    GroupPath = "NDL024" Error;
    /// a malformed name
    Name = "NDL025" Error;
    /// a dimcoord and an ndarray of one name
    NameTwice = "NDL026" Error;
    // Attributes.
    /// a list as the short form of an attribute
    ShortList = "NDL030" Error;
    /// null or a boolean as the short form of an attribute
    ShortNotScalar = "NDL031" Error;
    // Datatypes.
    /// an unknown datatype
    UnknownDatatype = "NDL040" Error;
    /// a malformed datatype
    DatatypeForm = "NDL041" Error;
    /// a size of opaque elements that is not positive
    OpaqueSize = "NDL042" Error;
    /// an enum without members, or with members that are not integers
    EnumMembers = "NDL043" Error;
    /// two members of an enum with one value
    EnumTwice = "NDL044" Error;
    /// a member of an enum outside its base
    EnumRange = "NDL045" Error;
    /// a base of an enum that is no integer type
    EnumBase = "NDL046" Error;
    /// an unknown selection of a region reference
    Selection = "NDL047" Error;
    /// a malformed member of a compound
    CompoundMember = "NDL048" Error;
    /// two members of a compound with one name
    CompoundTwice = "NDL049" Error;
    /// a datatype whose elements are too large
    DatatypeSize = "NDL050" Error;
    /// an extension of the language, refused by strict checking
    Extension = "NDL051" Error;
    // Shapes.
    /// a malformed extent
    Extent = "NDL060" Error;
    /// an extent of a kind that is not allowed here
    ExtentKind = "NDL061" Error;
    /// a malformed reference to a dimcoord
    CoordPath = "NDL062" Error;
    /// a reference to a dimcoord that is not there
    UnresolvedCoord = "NDL063" Error;
    /// a size of a dimcoord that is not positive
    CoordSize = "NDL064" Error;
    /// a shape with too many elements
    ShapeSize = "NDL065" Error;
    // Values.
    /// a value that does not fit its shape
    ValueShape = "NDL070" Error;
    /// a value that does not fit its datatype
    ValueType = "NDL071" Error;
    /// a number outside its datatype
    ValueRange = "NDL072" Error;
    /// a value that is no member of its enum
    EnumValue = "NDL073" Error;
    /// a reference to an object that is not there
    UnresolvedTarget = "NDL074" Error;
    /// a region outside its target
    RegionBounds = "NDL075" Error;
    // Storage.
    /// a storage list of the wrong length
    StorageRank = "NDL080" Error;
    /// a storage extent larger than the declared one
    StorageBound = "NDL081" Error;
    /// a storage key without meaning here
    StoragePlace = "NDL082" Error;
    /// an unknown storage key
    StorageKey = "NDL083" Error;
    /// an unknown byte order
    Endian = "NDL084" Error;
    /// an unknown order of dimensions
    Order = "NDL085" Error;
    /// a fill value that does not fit its datatype
    FillValue = "NDL086" Error;
    /// a malformed filter
    Filter = "NDL087" Error;

    /// A name that no member may have.
    InvalidName = "NAME001" Error, "rename the file and make the archive anew";
    /// Two members of one name.
    DuplicateName = "NAME002" Error, ANEW;
    /// A file where another member needs a directory.
    FileAndDirectory = "NAME003" Error, ANEW;
    /// A symbolic or hard link.
    Link = "NAME004" Error, "pack what the link leads to: `create` with the option `dereference`";
    /// A device, a pipe, or another special file.
    SpecialFile = "NAME005" Error, "make the archive anew without it: `create` with the option `exclude`";
    /// Two names that are one on systems that ignore case.
    CaseTwins = "NAME006" Warning, "rename one of the two";
    /// A name in an old single-byte encoding.
    LegacyNameEncoding = "NAME007" Warning,
        "make the archive anew with a program that writes UTF-8";
    /// A name that a terminal would obey, or that has a line end.
    ControlInName = "NAME008" Warning, "rename the file";
    /// A name that some system cannot write.
    UnportableName = "NAME009" Warning, "rename the file";
    /// Two names that are one on systems that compose letters and accents.
    NormalizationTwins = "NAME010" Warning, "rename one of the two";
    /// A name whose letters and accents are not composed.
    DecomposedName = "NAME011" Warning, "rename the file";

    /// The file is not what its kind of archive must be, or is cut off.
    NotAnArchive = "ARC001" Error, COPY;
    /// Bytes between the members that belong to none.
    StrayBytes = "ARC002" Error, ANEW;
    /// The directory of the archive contradicts itself.
    BadDirectory = "ARC003" Error, ANEW;
    /// The directory and the member's own header disagree.
    HeadersDisagree = "ARC004" Error, ANEW;
    /// Two members share bytes.
    Overlap = "ARC005" Error, ANEW;
    /// The container's own checksum does not fit the bytes.
    BadChecksum = "ARC006" Error, COPY;
    /// The member's bytes cannot be decoded, or are more or fewer than declared.
    BadMemberData = "ARC007" Error, COPY;
    /// A feature of the container that is not supported.
    Unsupported = "ARC008" Error,
        "unpack the archive with the program that made it, then pack it anew";
    /// The end of the tar is not marked as it should be.
    MissingEndMark = "ARC009" Warning,
        "compare the archive with another copy: it may be cut off between two members";
    /// A directory entry that has data.
    DirectoryWithData = "ARC010" Error, ANEW;
    /// A peculiarity of the container that harms nothing.
    OddContainer = "ARC011" Warning,
        "pack the files anew to be rid of it; what the manifest lists is not affected";
    /// Bytes before the archive.
    PrependedBytes = "ARC012" Error, ANEW;
    /// Bytes after the end of the archive.
    TrailingBytes = "ARC013" Error, ANEW;
    /// A member that the archive does not list.
    HiddenMember = "ARC014" Error, ANEW;
    /// The zip64 records and the others disagree.
    Zip64Mismatch = "ARC015" Error, ANEW;
    /// The record behind a member's data is missing or wrong.
    BadDescriptor = "ARC016" Error, ANEW;
    /// An encrypted member.
    Encrypted = "ARC017" Error,
        "unpack the archive with the program that made it, then pack it anew";
    /// A compression method that is not supported.
    UnknownMethod = "ARC018" Error,
        "unpack the archive with the program that made it, then pack it anew";
    /// One part of an archive that is spread over several files.
    SplitArchive = "ARC019" Error, "join the parts with the program that made them";
    /// More than one end record.
    SecondEndRecord = "ARC020" Error, ANEW;
    /// An extra field of a zip that is malformed or there twice.
    BadExtraField = "ARC021" Error, ANEW;
    /// A comment that looks like a part of the archive.
    SignatureInComment = "ARC022" Error, ANEW;
    /// Padding that is not zero.
    DirtyPadding = "ARC023" Warning,
        "compare the archive with another copy: no manifest covers these bytes";
    /// Bytes after the end of compressed data.
    TrailingCompressed = "ARC024" Error, ANEW;
    /// The compressed stream is damaged.
    DamagedStream = "ARC025" Error, COPY;
    /// A header of a tar that readers would understand differently.
    BadTarHeader = "ARC026" Error, ANEW;
    /// An extended header of a tar that is malformed or describes nothing.
    BadExtendedHeader = "ARC027" Error, ANEW;
    /// Time or version of a member differ between its header and the directory.
    LesserFieldsDiffer = "ARC028" Warning,
        "pack the files anew to be rid of it; what the manifest lists is not affected";
    /// An extra field of a kind that nobody knows.
    UnknownExtraField = "ARC029" Warning,
        "pack the files anew to be rid of it; what the manifest lists is not affected";
    /// A file that is an archive of two kinds.
    TwoFormats = "ARC030" Error, ANEW;

    /// There is no manifest, so nothing can be proved.
    NoManifest = "MAN001" Error,
        "pack the source again: `ra-pack create`; a manifest kept elsewhere is for `verify` \
         with the option `manifest: FILE`";
    /// A line of a manifest is at fault.
    BadManifestLine = "MAN002" Error, "take the manifest from another copy";
    /// The content differs from the manifest.
    DigestMismatch = "MAN003" Error, "take the file from another copy";
    /// The manifest lists a file that is not there.
    MissingMember = "MAN004" Error, "take the file from another copy";
    /// A file that the manifest does not list.
    UnlistedMember = "MAN005" Error,
        "ask whoever added it, then pack anew with or without it: nothing vouches for it";
    /// Two manifests disagree.
    ManifestsDisagree = "MAN006" Error, "find out which of the two was made with the archive";
    /// Only digests that can be forged.
    WeakDigest = "MAN007" Warning, "pack anew, which lists the files by SHA-256";
    /// The digest of the archive file is wrong.
    ArchiveDigestMismatch = "MAN008" Error,
        "take the archive from another copy; if it is the right one, remove that file";
    /// The manifest lists nothing.
    EmptyManifest = "MAN009" Error, "take the manifest from another copy, or pack the source again";

    /// The header of an array is at fault.
    BadHeader = "RA001" Error,
        "take the file from another copy, or write the array again from its source";
    /// The data of an array is at fault.
    BadData = "RA002" Error,
        "take the file from another copy, or write the array again from its source";
    /// Bytes follow the data of an array.
    TrailingMetadata = "RA003" Warning, "keep these bytes in a file of their own";
    /// The array is stored in a form that other readers of RawArray misread.
    UnusualEncoding = "RA004" Warning, "read the array with the library and write it again";
    /// Arrays that are plain files of the pack, or no arrays at all.
    NoArrays = "RA005" Warning, "add the arrays as RawArray files: `ra-pack convert` makes them";

    /// An array without a description.
    Undescribed = "DESC001" Error, "`describe` with the option `write: PACK` writes what the headers say";
    /// More than one description for one array or coordinate, and they contradict each other.
    DescribedTwice = "DESC002" Error, "keep one of the two, or make both say the same";
    /// A description in which no array can be meant.
    NoArrayDescribed = "DESC003" Error, "give the entry of the array the array's name";
    /// The shape of the description is not that of the header.
    ShapeMismatch = "DESC004" Error,
        "correct the description, or the array if that is what is wrong";
    /// The type of the description is not that of the header.
    TypeMismatch = "DESC005" Error,
        "correct the description, or the array if that is what is wrong";
    /// The storage directives contradict the header.
    StorageMismatch = "DESC006" Error,
        "correct the description, or the array if that is what is wrong";
    /// A dimension coordinate that cannot be found.
    UnknownCoordinate = "DESC007" Error, "correct the name, or add the coordinate to the pack";
    /// A dimension coordinate of another length.
    CoordinateLength = "DESC008" Error, "correct whichever of the two is wrong";
    /// A description that says the same in an uncommon way.
    LooseDescription = "DESC009" Warning, "write the description in the expected way";
    /// A described array that is not there.
    MissingArray = "DESC010" Warning, "add the array's file, or remove its entry";
    /// The pack's own document is not a description.
    BadPackDocument = "DESC012" Error, "rename the file if it is meant for something else";
    /// The pack's own document does not describe every array.
    PartialDocument = "DESC013" Warning, "`ra-pack create` adds what the document lacks";
    /// An inline value is not what the array holds.
    ValueMismatch = "DESC014" Error, "correct the value, or leave it out: the array has it";

    /// An array of numbers without units.
    NoUnits = "META001" Warning, "give the units, or `1` for numbers without a unit";
    /// Units that are not known.
    UnknownUnits = "META002" Warning, "write units as UDUNITS does, such as `kg m-2 s-1`";
    /// An array without a name for people.
    NoLongName = "META003" Warning, "add a `long_name`, or a `standard_name` of the CF conventions";
    /// A coordinate whose values neither rise nor fall throughout.
    NotMonotone = "META004" Warning, "sort the values with the data, or call the array something else";
    /// A number in an attribute that the array cannot have.
    OutsideType = "META005" Warning, "give a number of the type of the array";
    /// An entry of another name than its file.
    OtherName = "META006" Warning, "give the entry the name of the file";
    /// A description without an array.
    DescribesNothing = "META007" Warning, "rename the description, or remove it";
    /// A pack without a title.
    NoTitle = "META008" Warning, "give the pack a title: `create` with the option `attribute: title='A few words'`";

    /// The declaration of a bag is at fault.
    BadBag = "BAG001" Error, "write `bagit.txt` again as the two lines that RFC 8493 gives";
    /// A tag file of a bag has another form than it must have.
    BadTagFile = "BAG002" Error, "correct the line, then write the tag manifest again";
    /// The tag files of a bag are in an encoding that is not supported.
    UnknownTagEncoding = "BAG003" Error, "write the tag files again in UTF-8";
    /// The payload of a bag is not as large as `Payload-Oxum` says.
    PayloadOxum = "BAG004" Error,
        "compare the payload with another copy: files were lost, added or changed";
    /// Payload of a bag that has not been fetched yet.
    NotFetched = "BAG005" Error, "get the file from where `fetch.txt` says, and verify again";
    /// A line of `fetch.txt` is at fault.
    BadFetchList = "BAG006" Error, "correct the line, then write the tag manifest again";
    /// A manifest of a bag lists what it must not list, or lacks what it must.
    WrongManifestEntry = "BAG007" Error,
        "take the manifest from another copy, or make the bag again: `create` with the \
         option `layout: bagit`";
    /// A tag file that no tag manifest lists.
    UnlistedTagFile = "BAG008" Warning,
        "make sure of the file by other means, then list it in a tag manifest";
    /// Something lies beside the directory of a bag in its archive.
    BesideBag = "BAG009" Error, "take it out: an archive holds one bag and nothing else";
    /// A bag without a directory of its own in its archive.
    BagAtRoot = "BAG010" Warning, "unpack it into a new directory";
    /// A manifest of a bag is written as `md5sum` writes.
    LegacyManifestLine = "BAG011" Warning, "write the line as digest, two blanks and path";
    /// A name that is the listed one only after normalisation.
    NormalizedName = "BAG012" Warning, "write the name alike in the bag and in its manifest";
    /// A `%` in a manifest of a bag that encodes nothing.
    OddPercent = "BAG013" Warning, "write `%25` where the name has a `%`";
    /// A manifest of a bag by an algorithm that is not known.
    UnknownDigest = "BAG014" Error,
        "check it with a program that knows the algorithm, or add a manifest by sha256";
    /// A name that other readers of bags would misread.
    UnfitForBag = "BAG015" Error, "rename the file, or use the plain layout";
    /// Payload that some manifests of a bag list and others do not.
    PartlyListed = "BAG016" Error, "list the file in every manifest of the payload";
}

impl Code {
    /// Whether the code, as an error, leaves open which bytes are the member, so that its content is neither
    /// shown nor written. Errors about the archive around a member do not: reading a member that is cut off
    /// fails by itself.
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

/// A text that is no code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownCode {
    /// The code that is written most like it, if any has a letter of it in its place.
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

/// Reads an id such as `NDL021` or `desc004`.
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

/// How far two ids are apart: other letters first, then how far the numbers are. Nothing when no letter is the same.
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
    fn every_code_is_explained_in_its_own_words() {
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
    fn every_code_has_a_next_step_in_the_form_of_a_message() {
        for code in Code::ALL {
            let remedy = code.remedy();
            let first = remedy.chars().next().unwrap();
            assert!(first.is_lowercase() || first == '`', "{}: {remedy}", code.id());
            assert!(remedy.len() > 12 && !remedy.ends_with('.'), "{}: {remedy}", code.id());
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
    fn every_id_is_found_whatever_its_case() {
        for code in Code::ALL {
            assert_eq!(code.id().parse(), Ok(*code));
            assert_eq!(code.id().to_lowercase().parse(), Ok(*code));
        }
    }

    #[test]
    fn what_is_no_code_gets_the_nearest() {
        let nearest = |text: &str| text.parse::<Code>().unwrap_err().nearest.unwrap().id();
        assert_eq!(nearest("NDL088"), "NDL087");
        assert_eq!(nearest("DESC099"), "DESC014");
        assert_eq!(nearest("ND021"), "NDL021");
        assert_eq!(nearest("mam003"), "MAN003");
        assert_eq!(nearest("NDL99999999999999"), "NDL001");
        for word in ["foo", "\u{e9}", ""] {
            assert_eq!(word.parse::<Code>().unwrap_err().nearest, None);
        }
    }
}
