//! The second pass over a pack, for all that only the first shows to be needed: elements that descriptions repeat,
//! coordinates, which should increase or decrease throughout, and other digests.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};
use std::sync::Arc;

use super::ascending::check_order;
use super::inlined::Inlined;
use super::scan::placed;
use crate::archive::{Archive, Fault, Member, MemberReader, copy};
use crate::digest::{Digests, Hashers, Hashing, Wanted};
use crate::error::Result;
use crate::finding::Finding;
use crate::pack::{Contents, Placement};
use crate::path::MemberPath;
use crate::ra::Header;

/// Arrays whose elements are read after all descriptions, by their names in the pack.
#[derive(Default)]
pub(crate) struct LateArrays<'a>(BTreeMap<&'a str, LateArray<'a>>);

#[derive(Default)]
struct LateArray<'a> {
    /// The same elements in descriptions.
    inlined: Vec<Inlined<'a>>,
    coordinate: Option<(&'a MemberPath, &'a Header)>,
}

impl LateArray<'_> {
    /// Returns the number of bytes that are compared with descriptions.
    fn len(&self) -> u64 {
        self.inlined.iter().filter_map(Inlined::len).max().unwrap_or_default()
    }

    /// Damage is reported by the pass that checks contents.
    fn check(&self, content: &mut dyn BufRead) -> Vec<Finding> {
        let mut start = Vec::new();
        if (&mut *content).take(self.len()).read_to_end(&mut start).is_err() {
            return Vec::new();
        }
        let mut findings = self.compare(&start);
        findings.extend(
            self.coordinate
                .and_then(|(path, header)| check_order(path, header, &mut start.chain(content))),
        );
        findings
    }

    fn compare(&self, start: &[u8]) -> Vec<Finding> {
        self.inlined.iter().filter_map(|inlined| inlined.compare(start)).collect()
    }
}

impl<'a> LateArrays<'a> {
    /// Returns the arrays whose elements are also in descriptions. Elements that cannot be compared become findings.
    pub(crate) fn of_values(contents: &'a Contents, findings: &mut Vec<Finding>) -> Self {
        let mut this = Self::default();
        for inlined in contents.inlined() {
            match inlined.len() {
                Some(_) => this.array(inlined.array).inlined.push(inlined),
                None => findings.extend(inlined.incomparable()),
            }
        }
        this
    }

    /// Adds the coordinates.
    pub(crate) fn and_coordinates(mut self, contents: &'a Contents) -> Self {
        for (path, header) in contents.coordinate_arrays() {
            self.array(path).coordinate = Some((path, header));
        }
        self
    }

    fn array(&mut self, path: &'a MemberPath) -> &mut LateArray<'a> {
        self.0.entry(path.as_str()).or_default()
    }

    /// Reads these arrays one by one.
    pub(crate) fn check_each(
        &self,
        open: impl Fn(&str) -> Result<MemberReader>,
    ) -> Result<Vec<Finding>> {
        let found = self.0.iter().map(|(path, array)| Ok(array.check(&mut *open(path)?)));
        Ok(found.collect::<Result<Vec<_>>>()?.concat())
    }

    /// Reads these arrays of an archive, and computes the digests that `hashed` returns for a member, in one pass. If there
    /// is nothing to read, there is no pass.
    pub(crate) fn check_in(
        &self,
        archive: &Archive,
        placement: &Placement,
        jobs: usize,
        hashed: Option<&HashedLate<'_>>,
    ) -> Result<Vec<LateFile>> {
        if self.0.is_empty() && hashed.is_none() {
            return Ok(Vec::new());
        }
        let scan = archive.scan_keeping(jobs, &|member, content| {
            let path = placed(placement, &member.name);
            let array = path.and_then(|path| self.0.get(path.as_str()));
            let wanted = hashed.and_then(|hashed| hashed(member));
            let (name, content) = (Arc::clone(&member.name), content?);
            let Some(wanted) = wanted else {
                return Some(Box::new(LateFile {
                    name,
                    findings: array?.check(content),
                    hashed: None,
                }));
            };
            let (mut hashers, mut start) = (Hashers::new(wanted), Vec::new());
            let len = array.map_or(0, LateArray::len);
            let read = copy(content, &[], Hashing::Here, |block| {
                hashers.update(block);
                let missing = usize::try_from(len - start.len() as u64).unwrap_or(usize::MAX);
                start.extend_from_slice(block.split_at(missing.min(block.len())).0);
                Ok(())
            });
            let is_compared = read.is_ok() || start.len() as u64 == len;
            let array = array.filter(|_| is_compared);
            let findings = array.map(|array| array.compare(&start)).unwrap_or_default();
            let error = read.err().map(|fault| match fault {
                Fault::Source(error) => error,
                Fault::Sink(error) => error.into(),
            });
            Some(Box::new(LateFile { name, findings, hashed: Some((hashers.finish(), error)) }))
        })?;
        archive.progress().check()?;
        Ok(scan.members.into_iter().flatten().map(|file| *file).collect())
    }
}

/// Returns the digests to compute of a member, if any.
pub(crate) type HashedLate<'a> = dyn Fn(&Member) -> Option<Wanted<'a>> + Sync + 'a;

/// A file that was read again.
pub(crate) struct LateFile {
    /// The name in the container.
    pub(crate) name: Arc<str>,
    /// The problems of its elements.
    pub(crate) findings: Vec<Finding>,
    /// The digests of its bytes, up to the error that ended them.
    pub(crate) hashed: Option<(Digests, Option<io::Error>)>,
}
