//! Resolution of incomplete names, and errors for names that do not exist.

use super::Pack;
use crate::archive::{Member, MemberKind};
use crate::error::{Error, Result};
use crate::ndl;
use crate::pack::{self, ARRAY_EXTENSION, Placement};
use crate::path::file_name;

impl Pack {
    /// Returns the name of the file that `name` means: `name` itself; else `name` with `.ra`; else the only file whose
    /// name ends with a slash and either of these. Backslashes count as slashes in an incomplete name.
    ///
    /// An incomplete name is compared with all members.
    ///
    /// ```
    /// use ra_pack::Pack;
    ///
    /// let pack = Pack::open("examples/experiment")?;
    /// assert_eq!(pack.resolve("temperature")?, "thermistors/temperature.ra");
    /// # Ok::<(), ra_pack::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`], with a similar name if there is one; [`Error::SeveralMembers`] if several files match;
    /// [`Error::IsDirectory`] for a directory; [`Error::Damaged`] if the directory of the archive is not reliable.
    pub fn resolve(&self, name: &str) -> Result<String> {
        self.fetch_start(name)?;
        match self.find(name) {
            Err(Error::NoSuchMember { .. }) => self.meant(name, false),
            Err(Error::IsDirectory { .. }) => self.meant(name, true),
            found => found.map(|_| name.to_owned()),
        }
    }

    fn meant(&self, name: &str, is_directory: bool) -> Result<String> {
        let placement = self.placement()?;
        let members = self.state.archive.members()?;
        let slashed = name.replace('\\', "/");
        let wanted = slashed.trim_start_matches("./").trim_matches('/');
        let array = format!("{wanted}.{ARRAY_EXTENSION}");
        let is_it = |file: &&str| *file == wanted || *file == array;
        if let Some(file) = files(&members, placement).find(is_it) {
            return Ok(file.to_owned());
        }
        let is_below =
            |file: &&str| file.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'));
        let below = files(&members, placement).filter(is_below).count();
        let (archive, member) = (self.given().to_owned(), name.to_owned());
        if is_directory || below > 0 {
            return Err(Error::IsDirectory { archive, member, files: below });
        }
        let ends_in =
            |file: &str, end: &str| file.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'));
        let is_it = |file: &&str| ends_in(file, wanted) || ends_in(file, &array);
        let found: Vec<&str> = files(&members, placement).filter(is_it).collect();
        match found[..] {
            [one] => Ok(one.to_owned()),
            [] => {
                let files: Vec<_> = files(&members, placement).collect();
                Err(self.no_such_member(name, suggestion(&files, wanted)))
            }
            _ => {
                let names = found.into_iter().map(str::to_owned).collect();
                Err(Error::SeveralMembers { archive, member, names })
            }
        }
    }

    /// Returns the error for the name of a directory.
    pub(super) fn is_a_directory(&self, name: &str) -> Error {
        self.meant(name, true).err().unwrap_or_else(|| self.no_such_member(name, None))
    }

    pub(super) fn no_such_member(&self, name: &str, suggestion: Option<String>) -> Error {
        let (archive, member) = (self.given().to_owned(), name.to_owned());
        Error::NoSuchMember { archive, member, suggestion }
    }
}

/// Returns the names of the files of a pack.
fn files<'m>(members: &'m [Member], placement: &Placement) -> impl Iterator<Item = &'m str> {
    let files = members.iter().filter(|member| member.kind == MemberKind::File);
    files.filter_map(|member| placement.payload(&member.name))
}

/// Returns the file with the most similar name: the whole name, or else the part after the last slash, with or without
/// its extension; or else the only array with a name that contains it.
fn suggestion<'m>(files: &[&'m str], wanted: &str) -> Option<String> {
    let stem = |name: &'m str| name.strip_suffix(".ra").unwrap_or(name);
    let plain = |name: &'m str| name.rsplit_once('.').map_or(name, |(plain, _)| plain);
    let wanted = wanted.strip_suffix(".ra").unwrap_or(wanted);
    let end = file_name(wanted);
    let whole = ndl::nearest_of(wanted, files.iter().map(|file| (stem(file), file)));
    let near = || ndl::nearest_of(end, files.iter().map(|file| (file_name(stem(file)), file)));
    let plainly = || ndl::nearest_of(end, files.iter().map(|file| (plain(file_name(file)), file)));
    let only = || {
        let arrays = files.iter().filter(|file| pack::is_array(file));
        let mut arrays = arrays.filter(|file| file_name(file).contains(end));
        arrays.next().filter(|_| end.len() > 1 && arrays.next().is_none())
    };
    whole.or_else(near).or_else(plainly).or_else(only).map(|file| (*file).to_owned())
}
