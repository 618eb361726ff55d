//! The first scan of a remote zip, from its directory and the description of the pack. Both are at its end, so a pack
//! with large arrays is listed with one request.

use std::io::Read as _;

use crate::archive::{Archive, Member, MemberKind, NameTable};
use crate::error::Result;
use crate::inspect::scan::{PackScan, placed};
use crate::pack::{
    self, ArrayFacts, Content, Contents, Inspector, Interner, PACK_DOCUMENT, Placement,
};
use crate::path::MemberPath;
use crate::ra::Header;
use crate::read::open::LONGEST_HEADER;

/// Smallest size of an archive, relative to the description of the pack, from which reading the description takes less
/// than reading all headers.
const LESS: u64 = 4;
/// Length in bytes up to which the description of a pack with small members is read.
const SHORT: u64 = 2 * 1024 * 1024;
/// Average size in bytes of members whose headers are received one by one.
const APART: u64 = 16 * 1024;
/// Number of bytes that contain the headers of a member. More would be read for nothing.
const START: u64 = 4 * 1024;
/// Number of headers that are requested at once.
const AT_ONCE: usize = 64;

impl PackScan {
    /// Reads the structure of an archive, and the headers and descriptions in it.
    ///
    /// From a remote zip, only the directory and the description of the pack are read if that is less. Types and shapes
    /// are then those in this description; problems of headers and of other descriptions are not found.
    pub(crate) fn of_contents(archive: &Archive, jobs: usize) -> Result<Self> {
        if !archive.is_at_hand()
            && !archive.is_stream()
            && let Some(scan) = Self::of_document(archive)?
        {
            return Ok(scan);
        }
        Self::new(archive, jobs)
    }

    /// Reads only the directory of a zip. Problems of headers and contents are not found.
    pub(crate) fn of_names(archive: &Archive) -> Result<Self> {
        let members = archive.members()?;
        let placement = Placement::detect(&members.iter().map(|member| &*member.name));
        let names = NameTable::new(members.iter().map(Member::named));
        let findings = names.errors(archive.container()).collect();
        Ok(Self::listed_only(placement, members, findings))
    }

    /// Reads the directory, the description of the pack, and the headers that it does not state. `None` if all headers
    /// and descriptions should be read.
    fn of_document(archive: &Archive) -> Result<Option<Self>> {
        let mut scan = Self::of_names(archive)?;
        let name = scan.placement.place_tag(PACK_DOCUMENT);
        let Some(document) = scan.members.iter().find(|member| *member.name == *name) else {
            return Ok(None);
        };
        let (len, count) = (archive.bytes_to_read(), scan.members.len() as u64);
        // The headers of small members are received together, and a long document takes more memory than they do.
        let is_short = document.size <= SHORT || len / count >= APART;
        let is_less = is_short && document.packed_size.saturating_mul(LESS) <= len;
        if !is_less && !archive.is_member_at_hand(&name)? {
            return Ok(None);
        }
        let interner = Interner::default();
        let Some(content) = read_document(archive, &name, &interner)? else { return Ok(None) };
        scan.contents.add(MemberPath::new(PACK_DOCUMENT)?, content);
        let files = scan.members.iter().filter(|member| member.kind == MemberKind::File);
        let arrays =
            files.filter_map(|member| Some((placed(&scan.placement, &member.name)?, member)));
        let mut arrays: Vec<_> = arrays.filter(|(path, _)| pack::is_array(path.as_str())).collect();
        // The lengths of some dimensions are those of other arrays.
        for _ in 0..2 {
            arrays.retain(|(path, member)| {
                let header = scan.contents.stated_header(path, member.size);
                let is_open = header.is_none();
                if let Some(header) = header {
                    add(&mut scan.contents, path, header, &interner);
                }
                is_open
            });
        }
        for arrays in arrays.chunks(AT_ONCE) {
            let mut starts = Vec::new();
            for (_, member) in arrays {
                let range = archive.range_of(&member.name)?.map(|(range, _)| range);
                starts.extend(range.map(|it| it.start..it.end.min(it.start + START)));
            }
            archive.fetch(starts)?;
            for (path, member) in arrays {
                match read_header(archive, member)? {
                    Some(header) => add(&mut scan.contents, path, header, &interner),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(scan))
    }
}

fn add(contents: &mut Contents, path: &MemberPath, header: Header, interner: &Interner) {
    contents.add(path.clone(), Content::Array(interner.array(ArrayFacts::of_header(header))));
}

/// Reads the description of the pack. `None` if the complete scan should report why it cannot be read.
fn read_document(archive: &Archive, name: &str, interner: &Interner) -> Result<Option<Content>> {
    if let Some((range, _)) = archive.range_of(name)? {
        archive.announce_range(range);
    }
    let Some(member) = archive.find(name)? else { return Ok(None) };
    let mut inspector = Inspector::within(PACK_DOCUMENT, &archive.allowance()?);
    let is_read = inspector.read(&mut archive.read(&member)?).is_ok();
    archive.progress().check()?;
    let content = inspector.finish_interned(PACK_DOCUMENT, member.size, interner);
    let is_usable = match &content {
        Content::Description(facts) => !facts.has_errors(),
        Content::Array(_) | Content::Crate(_) | Content::Other => false,
    };
    Ok(Some(content).filter(|_| is_read && is_usable))
}

/// Reads the header of an array that is stored and not encoded.
fn read_header(archive: &Archive, member: &Member) -> Result<Option<Header>> {
    let Some(member) = archive.find(&member.name)? else { return Ok(None) };
    let Some(start) = archive.start_of(&member, LONGEST_HEADER) else { return Ok(None) };
    let Ok(header) = Header::read(&mut start.take(LONGEST_HEADER)) else { return Ok(None) };
    let is_plain = header.check_file_len(member.size).is_ok_and(|trailing| trailing == 0);
    Ok(Some(header).filter(|header| is_plain && !header.is_encoded()))
}
