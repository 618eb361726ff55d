//! Finding members by their names, complete or not, and deciding which of them can be trusted.

use std::io::Read as _;
use std::sync::{Arc, PoisonError};

use super::{FoundMember, Pack, once};
use crate::archive::{Container, Member, MemberKind};
use crate::digest::Digests;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::ndl;
use crate::pack::{self, ARRAY_EXTENSION, Placement};
use crate::path::file_name;
use crate::read::manifests::RootFiles as _;

/// Maximum number of members in [`Known::found`](super::Known), about 300 bytes each. When there are more, all are dropped.
const MOST_FOUND: usize = 1 << 15;

/// Size in bytes from which reading the directory can take less time than confirming a member.
const MAX_CONFIRMED: u64 = 64 * 1024;

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

    /// Returns the layout of the pack, derived from the names of all members.
    pub(super) fn placement(&self) -> Result<&Placement> {
        once(&self.state.placement, || {
            let members = self.state.archive.members()?;
            Ok(Placement::detect(&members.iter().map(|member| &*member.name)))
        })
    }

    /// Finds a member by its place in the pack. Most packs are plain, and other names need not be read.
    pub(super) fn find_placed(
        &self,
        place: impl Fn(&Placement) -> String,
    ) -> Result<Option<Member>> {
        let plain = Placement::plain();
        let name = place(&plain);
        if let Some(member) = self.state.archive.find_by_order(&name, true)? {
            return Ok(Some(member));
        }
        let placement = self.placement()?;
        if *placement == plain {
            return Ok(None);
        }
        self.state.archive.find(&place(placement))
    }

    /// Finds a file of the payload by its name, after another one was found. If that needed no placement, the names of
    /// all members need not be read to know that this one is missing.
    pub(super) fn find_beside(&self, name: &str, must_be_sure: bool) -> Result<Option<Member>> {
        match self.state.placement.get() {
            Some(placement) => self.state.archive.find(&placement.place_payload(name)),
            None => self.state.archive.find_by_order(name, must_be_sure),
        }
    }

    /// Finds a file outside the payload.
    pub(super) fn find_tag(&self, name: &str) -> Result<Option<Member>> {
        self.find_placed(|placement| placement.place_tag(name))
    }

    /// Finds a file; in an archive each name is searched once.
    pub(super) fn find(&self, name: &str) -> Result<Arc<FoundMember>> {
        let found = self.state.known.found.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = found.get(name) {
            return Ok(Arc::clone(found));
        }
        drop(found);
        let (name, member) = (Arc::<str>::from(name), self.look_for(name)?);
        let (header, is_header_proved) = Default::default();
        let found = Arc::new(FoundMember { name: name.clone(), member, header, is_header_proved });
        if self.container() != Container::Directory {
            let mut all = self.state.known.found.write().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= MOST_FOUND {
                all.clear();
            }
            all.insert(name, Arc::clone(&found));
        }
        Ok(found)
    }

    fn look_for(&self, name: &str) -> Result<Member> {
        let found = match self.find_placed(|placement| placement.place_payload(name))? {
            // Files of a bag outside its payload have their names in the bag.
            None if *self.placement()? != Placement::plain() => self.find_tag(name)?,
            found => found,
        };
        match found {
            Some(member) if member.kind == MemberKind::File => Ok(member),
            None => Err(self.no_such_member(name, None)),
            Some(Member { kind: MemberKind::Directory, .. }) => Err(self.is_a_directory(name)),
            Some(member) => Err(Error::wrong_target(
                name,
                format!(
                    "is {}, not a file",
                    if member.kind == MemberKind::Link { "a link" } else { "a special file" }
                ),
            )),
        }
    }

    /// Returns whether the pack has a manifest.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the directory of the archive or the manifest is not reliable.
    pub fn has_manifest(&self) -> Result<bool> {
        Ok(self.manifest()?.is_some())
    }

    /// Returns the content of a small member of a zip if the manifest confirms it. Then no other member can be meant, and
    /// [`must_be_alone`](Self::must_be_alone) need not read the directory. `None` if the directory has been read.
    pub(super) fn confirmed(&self, member: &Member) -> Option<Vec<u8>> {
        let archive = &self.state.archive;
        if self.container() != Container::Zip || member.size > MAX_CONFIRMED || archive.is_indexed()
        {
            return None;
        }
        // After an error, the caller reads the member in the ordinary way and reports it.
        let expected = self.expected_digest(member).ok()?;
        let listed = expected.listing.ok().flatten()?;
        let mut content = Vec::new();
        let reader = archive.read(member).ok()?;
        reader.take(MAX_CONFIRMED).read_to_end(&mut content).ok()?;
        let digests = Digests::of(&[expected.algorithm], &content);
        (digests.made_by(expected.algorithm) == listed).then_some(content)
    }

    /// Checks that no other member has the name of a member that no manifest confirms.
    pub(super) fn must_be_alone(&self, member: &Member) -> Result<()> {
        if self.container() != Container::Zip {
            return Ok(());
        }
        match self.state.archive.find(&member.name)? {
            Some(found) if found == *member => Ok(()),
            _ => Err(self.damaged(
                Finding::new(Code::BadDirectory, "the directory is inconsistent about this member")
                    .in_member(&*member.name)
                    .hint("check the archive with `ra-pack verify`"),
            )),
        }
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
