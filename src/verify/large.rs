//! Large files, which are read after the others: several at once, or by their blocks.

use super::Verification;
use super::blocks::ListedBlocks;
use crate::archive::{Archive, Copying, Fault, Member, MemberReader, OpenContents, Revisit, Shown};
use crate::digest::{Digest, Hashers, Lane, at_once, hash_side_by_side};
use crate::error::Result;
use crate::finding::Finding;
use crate::inspect::visit::{Read, Reading, Visited, Visitor};
use crate::pack::Content;

/// Number of files to read at once: the data for locating them takes more memory than their results.
const FILES_AT_ONCE: usize = 1 << 16;

impl Verification<'_> {
    /// Reads the large files that the scan left out.
    pub(super) fn read_large(
        &self,
        visitor: &Visitor,
        mut blocks: Option<&mut ListedBlocks>,
        scanned: &mut [(Visited, Content)],
    ) -> Result<()> {
        for scanned in scanned.chunks_mut(FILES_AT_ONCE) {
            let [mut whole, mut proved, mut elsewhere, mut known] =
                <[(Vec<Member>, Vec<_>); 4]>::default();
            for (member, content) in scanned {
                let Some(large) = member.extras().and_then(|extras| extras.large.take()) else {
                    continue;
                };
                if self.share.is_some_and(|share| !share.has(&large.name)) {
                    continue;
                }
                let (members, places) = match &blocks {
                    _ if self.options.known.contains_key(&*large.name) => &mut known,
                    Some(blocks) if blocks.prove(&large) => &mut proved,
                    _ if self.chosen.has(&large) => &mut whole,
                    _ => &mut elsewhere,
                };
                members.push(large);
                places.push((&mut member.read, content));
            }
            let wanted: Vec<usize> = (0..whole.0.len()).collect();
            let visit = LargeFiles { visitor, members: &whole.0 };
            let mut found = self.archive.revisit_by(&whole.0, &wanted, self.jobs, &visit)?;
            let mut faults = Vec::new();
            if let Some(blocks) = &mut blocks {
                faults = blocks.check(self.archive, &proved.0, self.chosen, self.jobs)?;
                blocks.count(&proved.0, self.chosen);
            }
            let looked = proved.0.iter().zip(faults);
            let looked = looked.chain(elsewhere.0.iter().map(|member| (member, None)));
            found.extend(
                looked.map(|(member, fault)| read_header(visitor, member, fault, self.archive)),
            );
            found.extend(known.0.iter().map(|member| self.read_known(visitor, member)));
            if let Some(blocks) = &mut blocks {
                known.0.retain(|member| self.digests_of(member).is_empty());
                blocks.count(&known.0, self.chosen);
            }
            let places = [whole.1, proved.1, elsewhere.1, known.1].into_iter().flatten();
            for ((read, content), found) in places.zip(found) {
                (*read, *content) = (Some(found.0), found.1);
            }
        }
        Ok(())
    }

    /// Returns the digests of a file that another worker read; none if block digests proved it.
    fn digests_of(&self, member: &Member) -> &[Digest] {
        self.options.known.get(&*member.name).map_or(&[], |digests| digests)
    }

    /// Reads only the header of a file that another worker read.
    fn read_known(&self, visitor: &Visitor, member: &Member) -> (Read, Content) {
        let (read, content) = read_header(visitor, member, None, self.archive);
        let digests = Some(self.digests_of(member)).filter(|digests| !digests.is_empty());
        let digests = digests.map(|digests| digests.iter().copied().collect());
        (Read { digests: digests.or(read.digests), ..read }, content)
    }
}

/// Reads only the header of a file that was left out. `fault` is what the comparison of its blocks showed.
fn read_header(
    visitor: &Visitor,
    member: &Member,
    fault: Option<Finding>,
    archive: &Archive,
) -> (Read, Content) {
    let mut reading = Reading::new(visitor, member, false);
    let looked = match archive.read(member) {
        Ok(mut content) => reading.read_member(&mut content),
        Err(error) => Err(Fault::Sink(error)),
    };
    reading.len = member.size;
    reading.fault = fault.map(Box::new);
    reading.finish(looked.map(|()| None))
}

/// Large files, which are read after the others, several at once if that is faster.
struct LargeFiles<'v> {
    visitor: &'v Visitor,
    members: &'v [Member],
}

impl LargeFiles<'_> {
    fn reading(&self, position: usize) -> Reading<'_> {
        let member = self.members.get(position).expect("the position is that of a member");
        Reading::new(self.visitor, member, true)
    }
}

impl Revisit for LargeFiles<'_> {
    type Worker = ();
    type Output = (Read, Content);

    fn worker(&self) {}

    fn one(&self, (): &mut (), shown: Shown<'_>) -> Result<(Read, Content)> {
        Ok(self.reading(shown.position).read(shown.content))
    }

    fn at_once(&self) -> &'static [usize] {
        at_once(&self.visitor.algorithms)
    }

    fn several(
        &self,
        (): &mut (),
        width: usize,
        contents: &mut OpenContents<'_>,
    ) -> Result<Vec<(usize, (Read, Content))>> {
        let begin = |opened: Result<(usize, MemberReader)>| {
            let (label, mut content) = opened?;
            let sink = self.reading(label);
            // Several such files at once would take too much memory.
            Ok(if sink.keeps_much() {
                Err((label, sink.read(&mut content)))
            } else {
                let hashers = Hashers::new(&self.visitor.algorithms);
                Ok(Lane { label, content: Copying { content, sink }, hashers })
            })
        };
        hash_side_by_side(width, None, contents.map(begin), |position, copying, digests| {
            let Copying { sink: reading, .. } = copying;
            Ok((position, reading.finish(digests.map(Some))))
        })
    }
}
