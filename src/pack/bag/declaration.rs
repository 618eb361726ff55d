//! `bagit.txt`: which rules a bag follows, and how its tag files are encoded (RFC 8493 §2.1.1).

use super::fault::{BagFault, BagFaultKind, beginning};
use super::tag_text::{TagEncoding, as_text, numbered_lines};
use crate::manifest::NameEncoding;

/// A version of BagIt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BagVersion {
    /// 0.93
    V0_93,
    /// 0.94
    V0_94,
    /// 0.95
    V0_95,
    /// 0.96
    V0_96,
    /// 0.97
    V0_97,
    /// 1.0, which is RFC 8493.
    V1_0,
}

impl BagVersion {
    /// Every version, oldest first.
    pub const ALL: [Self; 6] =
        [Self::V0_93, Self::V0_94, Self::V0_95, Self::V0_96, Self::V0_97, Self::V1_0];

    /// How a bag writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::V0_93 => "0.93",
            Self::V0_94 => "0.94",
            Self::V0_95 => "0.95",
            Self::V0_96 => "0.96",
            Self::V0_97 => "0.97",
            Self::V1_0 => "1.0",
        }
    }

    /// The version of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// How manifests and `fetch.txt` of this version write names.
    pub fn name_encoding(self) -> NameEncoding {
        if self == Self::V1_0 { NameEncoding::Percent } else { NameEncoding::Verbatim }
    }
}

/// What a bag declares. What it does not declare, or not in a way that is known, is absent.
///
/// ```
/// use ra_pack::bag::{BagDeclaration, BagVersion};
///
/// let text = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
/// let (declaration, faults) = BagDeclaration::parse(text);
/// assert_eq!((declaration.version, faults), (Some(BagVersion::V1_0), vec![]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BagDeclaration {
    /// The version.
    pub version: Option<BagVersion>,
    /// The version as it stands there.
    pub stated_version: Option<String>,
    /// The encoding of the other tag files.
    pub encoding: Option<TagEncoding>,
}

const VERSION: &str = "BagIt-Version";
const ENCODING: &str = "Tag-File-Character-Encoding";

/// What a bag of the newest version declares.
pub(crate) const DECLARATION: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

impl BagDeclaration {
    /// Reads `bagit.txt`, which is in UTF-8 whatever it says of the others.
    pub fn parse(bytes: &[u8]) -> (Self, Vec<BagFault>) {
        let mut declaration = Self::default();
        let mut faults = Vec::new();
        let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) => {
                faults.push(BagFault { line: 1, kind: BagFaultKind::ByteOrderMark });
                rest
            }
            None => bytes,
        };
        // Two lines are looked at, and what follows them is only counted.
        let plain = TagEncoding::Utf8.decode(bytes).unwrap_or_default();
        let text = match as_text(&plain) {
            Ok(text) => text,
            Err(fault) => {
                faults.push(fault);
                return (declaration, faults);
            }
        };
        let found = numbered_lines(text).count();
        if found != 2 {
            let line = u64::try_from(found.clamp(1, 3)).unwrap_or(1);
            faults.push(BagFault { line, kind: BagFaultKind::DeclarationLength { found } });
        }
        let lines: Vec<_> = numbered_lines(text).take(2).collect();
        let version = lines.first().and_then(|(_, line)| value(VERSION, line));
        declaration.stated_version = version.map(|(version, _)| beginning(version));
        declaration.version = version.and_then(|(version, _)| BagVersion::from_name(version));
        // Before 1.0 blanks around the colon were free.
        let strict = declaration.version == Some(BagVersion::V1_0);
        let wanted = [VERSION, ENCODING];
        for ((number, line), label) in lines.iter().zip(wanted) {
            let fault = match value(label, line) {
                Some((_, exact)) if exact || !strict => continue,
                _ => BagFaultKind::DeclarationLine { label, found: beginning(line) },
            };
            faults.push(BagFault { line: *number, kind: fault });
        }
        if let (None, Some(found)) = (declaration.version, &declaration.stated_version) {
            let kind = BagFaultKind::UnknownVersion { found: found.clone() };
            faults.push(BagFault { line: 1, kind });
        }
        if let Some((encoding, _)) = lines.get(1).and_then(|(_, line)| value(ENCODING, line)) {
            declaration.encoding = TagEncoding::from_name(encoding);
            if declaration.encoding.is_none() {
                let kind = BagFaultKind::UnknownEncoding { found: beginning(encoding) };
                faults.push(BagFault { line: 2, kind });
            }
        }
        (declaration, faults)
    }

    /// The version whose rules hold: the newest, when none is declared that is known.
    pub fn rules(&self) -> BagVersion {
        self.version.unwrap_or(BagVersion::V1_0)
    }
}

/// The value after a label, and whether exactly one blank stands between them.
fn value<'a>(label: &str, line: &'a str) -> Option<(&'a str, bool)> {
    let rest = line.strip_prefix(label)?;
    let value = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    let trimmed = value.trim_matches([' ', '\t']);
    let exact = rest.strip_prefix(": ") == Some(trimmed);
    Some((trimmed, exact && !trimmed.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<u64> {
        BagDeclaration::parse(text.as_bytes()).1.iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn what_is_written_is_read_without_a_fault() {
        let (declaration, faults) = BagDeclaration::parse(DECLARATION.as_bytes());
        assert_eq!(faults, []);
        assert_eq!(declaration.version, Some(BagVersion::V1_0));
        assert_eq!(declaration.encoding, Some(TagEncoding::Utf8));
    }

    #[test]
    fn the_form_is_exact_from_1_0_on() {
        let text = |version: &str, blank: &str| {
            format!("BagIt-Version{blank}: {version}\nTag-File-Character-Encoding: UTF-8\n")
        };
        assert_eq!(faults(&text("1.0", " ")), [1]);
        assert_eq!(faults(&text("0.97", " ")), [0_u64; 0]);
        assert_eq!(faults(&text("1.0", "").replace('\n', "\r")), [0_u64; 0]);
        assert_eq!(faults(text("1.0", "").trim_end()), [0_u64; 0]);
        assert_eq!(faults(&text(" 1.0", "")), [1]);
        assert_eq!(faults(&text("2.0", "")), [1]);
        assert_eq!(faults(&format!("\u{feff}{}", text("1.0", ""))), [1]);
        assert_eq!(faults(&format!("{}more\n", text("1.0", ""))), [3]);
        assert_eq!(faults("BagIt-Version: 1.0\n"), [1]);
        assert_eq!(faults("BagIt-version: 1.0\nTag-File-Character-Encoding: UTF-8\n"), [1]);
        assert_eq!(faults("Tag-File-Character-Encoding: UTF-8\nBagIt-Version: 1.0\n"), [1, 2]);
        assert_eq!(faults("BagIt-Version: 1.0\nTag-File-Character-Encoding: KOI8-R\n"), [2]);
        assert_eq!(faults(""), [1]);
    }
}
