//! The names of all members in order, side by side in memory: they are looked at again and again, and each
//! by itself would be fetched from another place every time.

use super::super::MemberKind;

/// How many names at the end may be out of order before all are sorted: what a pack itself needs stands
/// behind its payload.
const FEW: usize = 16;

/// The names of members, sorted by their bytes.
#[derive(Debug)]
pub(crate) struct NameTable {
    text: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Where the name begins in the text, and behind that in two bits the kind: no text in memory is so long
    /// that they are missing.
    at_and_kind: u64,
    len: u32,
    /// The number of the member.
    member: u32,
}

/// One name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'t> {
    pub(crate) name: &'t str,
    pub(crate) kind: MemberKind,
    /// The number of the member that is called so.
    pub(crate) member: usize,
}

impl NameTable {
    /// Takes the names and kinds of members, which are numbered as they come.
    pub(crate) fn new<'m>(members: impl Iterator<Item = (&'m str, MemberKind)> + Clone) -> Self {
        let (count, bytes) =
            members.clone().fold((0_usize, 0_usize), |(count, bytes), (name, _)| {
                (count.saturating_add(1), bytes.saturating_add(name.len()))
            });
        let mut text = String::with_capacity(bytes);
        let mut entries = Vec::with_capacity(count);
        for ((name, kind), member) in members.zip(0_u32..) {
            entries.push(Entry {
                at_and_kind: Entry::at_and_kind(text.len(), kind),
                // No container has longer names, nor more members than can be numbered so in memory.
                len: u32::try_from(name.len()).unwrap_or(u32::MAX),
                member,
            });
            text.push_str(name);
        }
        let mut this = Self { text, entries };
        this.sort();
        this
    }

    fn sort(&mut self) {
        let Self { text, entries } = self;
        let name = |entry: &Entry| entry.name(text);
        let pairs = entries.iter().zip(entries.iter().skip(1));
        let in_order = pairs.take_while(|(one, other)| name(one) <= name(other)).count();
        let mut rest = entries.split_off(in_order.saturating_add(1).min(entries.len()));
        if rest.len() > FEW {
            entries.append(&mut rest);
            entries.sort_by(|one, other| name(one).cmp(name(other)));
            return;
        }
        for entry in rest {
            let at = entries.partition_point(|other| name(other) <= name(&entry));
            entries.insert(at, entry);
        }
    }

    /// Every name in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Named<'_>> + Clone {
        self.entries.iter().map(|entry| self.named(entry))
    }

    /// Every name in order, without what it is the name of.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.iter().map(|named| named.name)
    }

    /// The members that are called `name`.
    pub(crate) fn called<'t>(&'t self, name: &'t str) -> impl Iterator<Item = Named<'t>> {
        let first = self.entries.partition_point(|entry| entry.name(&self.text) < name);
        let from = self.entries.get(first..).unwrap_or_default();
        from.iter().map(|entry| self.named(entry)).take_while(move |named| named.name == name)
    }

    fn named(&self, entry: &Entry) -> Named<'_> {
        let member = usize::try_from(entry.member).unwrap_or(usize::MAX);
        Named { name: entry.name(&self.text), kind: entry.kind(), member }
    }
}

impl Entry {
    fn name<'t>(&self, text: &'t str) -> &'t str {
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        let at = usize::try_from(self.at_and_kind >> 2).unwrap_or(usize::MAX);
        text.get(at..at.saturating_add(len)).unwrap_or_default()
    }

    fn at_and_kind(at: usize, kind: MemberKind) -> u64 {
        let kind = match kind {
            MemberKind::File => 0,
            MemberKind::Directory => 1,
            MemberKind::Link => 2,
            MemberKind::Special => 3,
        };
        u64::try_from(at).unwrap_or(u64::MAX) << 2 | kind
    }

    fn kind(&self) -> MemberKind {
        match self.at_and_kind & 3 {
            0 => MemberKind::File,
            1 => MemberKind::Directory,
            2 => MemberKind::Link,
            _ => MemberKind::Special,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_whatever_the_order_of_members() {
        let many: Vec<String> = (0..40).map(|number| format!("{:02}", number * 7 % 40)).collect();
        let late = ["b", "c", "d", "a", "b"].map(str::to_owned).to_vec();
        for names in [Vec::new(), late, many] {
            let kinds =
                [MemberKind::File, MemberKind::Directory, MemberKind::Link, MemberKind::Special];
            let kind = |number: usize| kinds[number % kinds.len()];
            let members = names.iter().zip(0_usize..);
            let members = members.map(|(name, number)| (name.as_str(), kind(number)));
            let table = NameTable::new(members);
            assert!(table.iter().all(|named| named.kind == kind(named.member)));
            let mut expected: Vec<_> = names.iter().zip(0_usize..).collect();
            expected.sort();
            let found = table.iter().map(|named| (named.name, named.member));
            assert!(found.eq(expected.iter().map(|(name, number)| (name.as_str(), *number))));
            let called = |name: &str| table.called(name).count();
            for name in &names {
                assert_eq!(called(name), names.iter().filter(|other| *other == name).count());
            }
            assert_eq!(called("x"), 0);
        }
    }
}
