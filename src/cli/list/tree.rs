//! The members as a tree: a directory for each part of a name, and what lies in it below.
//!
//! The members stand in the order of the tree already, so that a directory is a stretch of them and nothing is
//! built. A directory that holds nothing but another is one line with it: so there are never more lines than
//! twice the members, however deep somebody's names are.

use std::io;
use std::ops::Range;
use std::path::Path;

use ra_pack::{Listing, MemberKind, escape};

/// The facts of one member that the tree needs.
struct Leaf<'a> {
    name: &'a str,
    size: u64,
    kind: MemberKind,
    is_array: bool,
}

/// The members of a listing, by directory.
pub(super) struct Tree<'a> {
    root: String,
    leaves: Vec<Leaf<'a>>,
}

/// One line of the drawing.
pub(super) struct Line {
    /// The branches before it and the name.
    pub(super) name: String,
    pub(super) what: Branch,
}

/// The subject of a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Branch {
    /// A directory, with what is in it.
    Group { arrays: u64, bytes: u64 },
    /// The member of this number; the numbers rise from line to line.
    Member(usize),
}

/// A directory whose lines are being drawn.
struct Open {
    /// Members that are left.
    rest: Range<usize>,
    /// Bytes of their names that lead here.
    at: usize,
    /// Bytes of the lead that stand before its lines.
    lead: usize,
}

impl<'a> Tree<'a> {
    /// Makes the tree of a listing in the order of a tree.
    pub(super) fn new(listing: &'a Listing, target: &Path) -> Self {
        let arrays = listing.members().map(|member| (member.size, member.array.is_some()));
        let leaves = listing.names().zip(arrays);
        let leaves = leaves.map(|((name, kind), (size, is_array))| {
            let size = if kind == MemberKind::Directory { 0 } else { size };
            Leaf { name, size, kind, is_array }
        });
        Self { root: ra_pack::escape_path(target).to_string(), leaves: leaves.collect() }
    }

    /// Gives every line from the top.
    pub(super) fn walk(&self, take: &mut dyn FnMut(Line) -> io::Result<()>) -> io::Result<()> {
        let all = 0..self.leaves.len();
        take(Line { name: self.root.clone(), what: self.group(&all) })?;
        let mut lead = String::new();
        let mut open = vec![Open { rest: all, at: 0, lead: 0 }];
        while let Some(Open { rest, at, lead: end }) = open.last_mut() {
            if rest.start == rest.end {
                open.pop();
                continue;
            }
            lead.truncate(*end);
            let (mut at, stretch) = (*at, self.stretch(rest, *at));
            rest.start = stretch.end;
            let is_last = rest.start == rest.end;
            let branch = |is_last| if is_last { "└── " } else { "├── " };
            let begin = at;
            let mut below = self.below(&stretch, at);
            // A file of the name of a directory, which only a malformed archive has, stands before it.
            let alone = if below.is_empty() { stretch.clone() } else { stretch.start..below.start };
            for index in alone {
                let Some(member) = self.leaves.get(index) else { continue };
                if below.is_empty() || member.kind != MemberKind::Directory {
                    let last = is_last && index.saturating_add(1) == stretch.end;
                    let name = member.name.get(begin..).unwrap_or_default();
                    let name = format!("{lead}{}{}", branch(last), escape(name));
                    take(Line { name, what: Branch::Member(index) })?;
                }
            }
            if below.is_empty() {
                continue;
            }
            at = self.end_of_part(below.start, at).saturating_add(1);
            while let Some((inner, end)) = self.only_directory(&below, at) {
                (below, at) = (inner, end.saturating_add(1));
            }
            let label = self.leaves.get(below.start).and_then(|leaf| leaf.name.get(begin..at));
            let label = escape(label.unwrap_or_default());
            take(Line {
                name: format!("{lead}{}{label}", branch(is_last)),
                what: self.group(&below),
            })?;
            lead.push_str(if is_last { "    " } else { "│   " });
            open.push(Open { rest: below, at, lead: lead.len() });
        }
        Ok(())
    }

    /// Where the part of a name ends that begins at `at`.
    fn end_of_part(&self, index: usize, at: usize) -> usize {
        let rest = self.leaves.get(index).and_then(|leaf| leaf.name.get(at..)).unwrap_or_default();
        at.saturating_add(rest.find('/').unwrap_or(rest.len()))
    }

    fn part(&self, index: usize, at: usize) -> &str {
        let name = self.leaves.get(index).map_or("", |leaf| leaf.name);
        name.get(at..self.end_of_part(index, at)).unwrap_or_default()
    }

    /// The first members of `range` that share the part of their names at `at`.
    fn stretch(&self, range: &Range<usize>, at: usize) -> Range<usize> {
        let part = self.part(range.start, at);
        let leaves = self.leaves.get(range.clone()).unwrap_or_default();
        let is_same = |leaf: &Leaf<'_>| {
            let rest = leaf.name.get(at..).unwrap_or_default();
            rest.split('/').next() == Some(part)
        };
        range.start..range.start.saturating_add(leaves.partition_point(is_same).max(1))
    }

    /// Those of a stretch that lie in the directory that they share a part of.
    fn below(&self, stretch: &Range<usize>, at: usize) -> Range<usize> {
        let leaves = self.leaves.get(stretch.clone()).unwrap_or_default();
        let end = self.end_of_part(stretch.start, at);
        let own = leaves.partition_point(|leaf| leaf.name.len() <= end);
        stretch.start.saturating_add(own)..stretch.end
    }

    /// The directory that is all there is in another, and where its name ends.
    fn only_directory(&self, range: &Range<usize>, at: usize) -> Option<(Range<usize>, usize)> {
        if self.stretch(range, at).end != range.end {
            return None;
        }
        let below = self.below(range, at);
        let own = self.leaves.get(range.start..below.start).unwrap_or_default();
        let is_directory = own.iter().all(|leaf| leaf.kind == MemberKind::Directory);
        (!below.is_empty() && is_directory)
            .then(|| (below.clone(), self.end_of_part(below.start, at)))
    }

    fn group(&self, range: &Range<usize>) -> Branch {
        let leaves = self.leaves.get(range.clone()).unwrap_or_default();
        let arrays = leaves.iter().filter(|leaf| leaf.is_array).count();
        Branch::Group {
            arrays: arrays as u64,
            bytes: leaves.iter().fold(0, |sum, leaf| leaf.size.saturating_add(sum)),
        }
    }
}
