//! The properties of one array file.

use std::hash::{Hash, Hasher};

use crate::finding::{Code, Finding};
use crate::path::MemberPath;
use crate::ra::{DecodeError, Encoding, Flags, Header};

/// The properties of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrayFacts {
    pub(crate) header: Result<Header, Box<DecodeError>>,
    /// The encoding of an array that is flagged as encoded, if it was found.
    pub(crate) encoding: Option<Encoding>,
    /// Number of bytes after the data.
    pub(crate) trailing: u64,
    /// The result of checking the data.
    pub(crate) data: Result<(), Box<DecodeError>>,
}

impl Hash for ArrayFacts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.header.as_ref().ok().hash(state);
    }
}

impl ArrayFacts {
    /// Returns the facts about an array of which only the header is known.
    pub(crate) fn of_header(header: Header) -> Self {
        Self { header: Ok(header), encoding: None, trailing: 0, data: Ok(()) }
    }

    /// Returns whether there is nothing to report about the file except its header.
    pub(super) fn is_faultless(&self) -> bool {
        let Self { header, encoding, trailing, data } = self;
        header.is_ok() && encoding.is_none() && *trailing == 0 && data.is_ok()
    }

    /// Reports the problems of the array itself.
    pub(crate) fn findings(&self, path: &MemberPath, findings: &mut Vec<Finding>) {
        let at = |code, offset, message: String| {
            Finding::new(code, message).in_member(path.as_str()).at_byte(offset)
        };
        let of_error = |code, error: &DecodeError| at(code, error.offset, error.kind.to_string());
        let header = match &self.header {
            Ok(header) => header,
            Err(error) => return findings.push(of_error(Code::BadHeader, error)),
        };
        findings.extend(self.data.as_ref().err().map(|error| of_error(Code::BadData, error)));
        if self.trailing > 0 {
            let end = header.header_len().saturating_add(header.stored_len());
            let message = format!("{} bytes follow the data of the array", self.trailing);
            findings.push(
                at(Code::TrailingMetadata, end, message).hint(
                    "store them in a file: the format allows trailing bytes, but most programs drop them",
                ),
            );
        }
        let mut unusual = |how: &str, hint: &'static str| {
            let message = format!("the data is {how}, which most RawArray readers misread");
            findings.push(at(Code::UnusualEncoding, 8, message).hint(hint));
        };
        if header.flags().contains(Flags::BIG_ENDIAN) {
            unusual("big-endian", "`ra-pack convert` writes little-endian data");
        }
        if header.is_encoded() {
            let how = self.encoding.map_or("encoded".to_owned(), |encoding| encoding.to_string());
            unusual(&how, "`ra-pack convert` writes it unencoded");
        }
    }
}
