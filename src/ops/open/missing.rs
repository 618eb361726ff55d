//! Why a name is not found, and which other may be meant.

use super::Pack;
use crate::archive::{Member, MemberKind};
use crate::error::{Error, Result};
use crate::pack::{self, Placement};

impl Pack {
    /// Adds to [`Error::NoSuchMember`] a name that is there and looks like the one that was asked for, or says that
    /// it is that of a directory. This looks at all members.
    #[must_use]
    pub fn explain(&self, error: Error) -> Error {
        match error {
            Error::NoSuchMember { member, .. } => {
                self.not_found(&member, false).unwrap_or_else(|error| error)
            }
            error => error,
        }
    }

    /// Why there is no file of that name: it may be a directory, or another may be meant.
    pub(super) fn not_found(&self, name: &str, is_directory: bool) -> Result<Error> {
        let placement = self.placement()?;
        let directory = name.trim_end_matches('/');
        let is_in = |member: &Member| {
            let below = placement.payload(&member.name)?.strip_prefix(directory)?;
            (member.kind == MemberKind::File && below.starts_with('/')).then_some(())
        };
        let members = self.state.archive.members()?;
        let files = members.iter().filter_map(is_in).count();
        let (archive, member) = (self.state.archive.path().to_owned(), name.to_owned());
        if is_directory || files > 0 {
            return Ok(Error::IsDirectory { archive, member, files });
        }
        let suggestion = suggestion(&members, placement, name);
        Ok(Error::NoSuchMember { archive, member, suggestion })
    }
}

/// A name that is there and that may be meant.
fn suggestion(members: &[Member], placement: &Placement, name: &str) -> Option<String> {
    let lower = |name: &str| name.strip_suffix(".ra").unwrap_or(name).to_lowercase();
    let last = |name: &str| name.rsplit_once('/').map_or(name, |(_, last)| last).to_owned();
    let wanted = lower(name.trim_start_matches("./").trim_start_matches('/'));
    let files = members.iter().filter(|member| member.kind == MemberKind::File);
    let mut payloads = files.filter_map(|member| placement.payload(&member.name));
    let is_like = |name: &&str| pack::is_array(name) && last(&lower(name)) == last(&wanted);
    let like = payloads.clone().find(is_like);
    payloads.find(|name| lower(name) == wanted).or(like).map(str::to_owned)
}
