//! Bags: what `create` writes beside the payload of one, and what `verify` asks of one.

mod check;
pub(super) mod write;

pub use self::check::BagReport;
pub(super) use self::check::{Bag, Listed};

use std::borrow::Cow;

use crate::finding::Finding;
use crate::manifest::NameEncoding;
use crate::pack::bag::{BagDeclaration, BagFault, BagVersion, TagEncoding};
use crate::pack::{BAG_DECLARATION, Layout};

/// How the tag files of a pack are encoded, and how its manifests write names.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct TagRules {
    pub(in crate::ops) names: NameEncoding,
    /// Nothing when the bag declares an encoding that is not known.
    encoding: Option<TagEncoding>,
}

impl TagRules {
    /// The rules of a pack of this layout, with the text of `bagit.txt` when there is one.
    pub(in crate::ops) fn of(layout: Layout, declaration: Option<&[u8]>) -> Self {
        match layout {
            Layout::Plain => Self { names: NameEncoding::Gnu, encoding: Some(TagEncoding::Utf8) },
            Layout::BagIt => {
                Self::declared(&BagDeclaration::parse(declaration.unwrap_or_default()).0)
            }
        }
    }

    /// The rules that a bag declares; where it declares none, those of BagIt 1.0 in UTF-8.
    fn declared(declaration: &BagDeclaration) -> Self {
        // Two lines may be at fault in every way; UTF-8 is what nearly every bag is in.
        let unknown = declaration.encoding.is_none() && declaration.version.is_some();
        let encoding = declaration.encoding.unwrap_or_default();
        let names = declaration.version.unwrap_or(BagVersion::V1_0).name_encoding();
        Self { names, encoding: (!unknown).then_some(encoding) }
    }

    /// The text of a tag file in UTF-8 with plain line ends. The manifests of a plain pack stay as
    /// they are, because their names may hold what a bag would encode.
    ///
    /// # Errors
    ///
    /// A finding when it is no text in the declared encoding; nothing when that is not known, which
    /// is a finding of the declaration.
    pub(in crate::ops) fn decode<'t>(
        self,
        name: &str,
        text: &'t [u8],
    ) -> Result<Cow<'t, [u8]>, Option<Box<Finding>>> {
        if self.names == NameEncoding::Gnu {
            return Ok(Cow::Borrowed(text));
        }
        let Some(encoding) = self.encoding else { return Err(None) };
        encoding
            .decode(text)
            .map_err(|kind| Some(Box::new(BagFault { line: 1, kind }.finding(name))))
    }
}

/// Whether a member may be the declaration of a bag.
pub(in crate::ops) fn is_declaration(name: &str) -> bool {
    name.rsplit('/').next() == Some(BAG_DECLARATION)
}
