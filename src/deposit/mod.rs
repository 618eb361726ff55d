//! Records for repositories, made from what a pack says about itself: RO-Crate, `DataCite` and Croissant. All are
//! functions of one model, and nothing is read from the network.

mod croissant;
mod datacite;
mod json;
mod model;
mod ro_crate;
mod variable;

pub(crate) use self::model::About;
pub(crate) use self::ro_crate::check_crate;

use self::model::{CREATOR, LICENCE, PUBLISHED, PUBLISHER, SUMMARY, TITLE};
use crate::finding::{Code, Finding};
use crate::message::Message;
use crate::pack::{Contents, PACK_DOCUMENT, RO_CRATE};

/// The media type of arrays, as registered programs write it.
const MEDIA_TYPE: &str = "application/x-rawarray";

/// A format of records about a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordFormat {
    /// The metadata file of an RO-Crate 1.2.
    RoCrate,
    /// A record of `DataCite`, in the JSON of kernel 4.
    DataCite,
    /// A dataset of Croissant 1.1, without record sets.
    Croissant,
}

/// An archive file.
pub(crate) struct ArchiveFile {
    pub(crate) name: String,
    pub(crate) media_type: &'static str,
    /// Size in bytes.
    pub(crate) size: u64,
    pub(crate) sha256: Option<String>,
}

impl RecordFormat {
    fn name(self) -> &'static str {
        match self {
            Self::RoCrate => "an RO-Crate",
            Self::DataCite => "a record of DataCite",
            Self::Croissant => "a dataset of Croissant",
        }
    }
}

impl About {
    /// Returns a finding for each fact that a record must have and the pack lacks. `hint` says how to set an attribute.
    pub(crate) fn lacking(
        &self,
        format: RecordFormat,
        hint: impl Fn(&str) -> Message,
    ) -> Vec<Finding> {
        let is_datacite = format == RecordFormat::DataCite;
        let needed = [
            (self.title.is_some(), TITLE, "title", "'A few words'"),
            (is_datacite || self.summary.is_some(), SUMMARY, "summary", "'A few sentences'"),
            (is_datacite || self.licence.is_some(), LICENCE, "licence", "CC-BY-4.0"),
            (self.published.is_some(), PUBLISHED, "date such as 2024-05-31", "YYYY-MM-DD"),
            (!is_datacite || !self.creators.is_empty(), CREATOR, "creator", "'Lovelace, Ada'"),
            (!is_datacite || self.publisher.is_some(), PUBLISHER, "publisher", "'An institute'"),
        ];
        // A pack that is salvaged without these attributes has no crate.
        let member = if format == RecordFormat::RoCrate { RO_CRATE } else { PACK_DOCUMENT };
        let lacking = needed.into_iter().filter(|(is_there, ..)| !is_there);
        let finding = |(_, names, what, example): (bool, &[&str], &str, &str)| {
            let name = names.first().copied().unwrap_or_default();
            let message = format!("the pack has no {what}, which {} must have", format.name());
            let finding = Finding::new(Code::IncompleteRecord, message).in_member(member);
            let expected = format!("the attribute `{name}`");
            finding.expected(expected, "none").hint(hint(&format!("{name}={example}")))
        };
        lacking.map(finding).collect()
    }
}

/// Returns a record about a pack. `archive` is the file that contains the arrays, if there is one; a dataset of Croissant
/// needs it.
pub(crate) fn record(
    format: RecordFormat,
    about: &About,
    contents: &Contents,
    archive: Option<&ArchiveFile>,
) -> String {
    let json = match format {
        RecordFormat::RoCrate => return ro_crate::text(about, contents),
        RecordFormat::DataCite => datacite::record(about, contents.arrays.len(), archive),
        RecordFormat::Croissant => {
            croissant::dataset(about, archive.expect("only archives have a dataset"))
        }
    };
    let mut text = String::new();
    json.push(0, &mut text);
    text + "\n"
}
