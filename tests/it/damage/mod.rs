//! Every bit flipped, every length cut, every block swapped, doubled, dropped or zeroed: `verify` reports each change,
//! or a hand-written list shows that it is harmless.
//!
//! There is no manifest and no digest next to the archives.

mod changes;
mod harmless;
mod kinds;
mod page;
mod run;
mod update;

use std::collections::BTreeMap;

use self::changes::Change;
use self::kinds::Kind;
use self::run::unreported;
use crate::skips::is_long;

/// A test of seconds tries one in this many bits, lengths and ranges.
const STRIDE: usize = 61;

/// Number of changes to one kind of pack, with their results.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Size of the archive, or of all files of a directory, in bytes.
    bytes: usize,
    /// Number of changes, by kind.
    made: BTreeMap<&'static str, usize>,
    /// Number of unreported changes, by the reason why they are harmless.
    harmless: BTreeMap<&'static str, usize>,
}

/// Makes the changes, and fails if one is neither reported nor harmless.
fn count(kind: &Kind, step: usize) -> Count {
    let sound = kind.make();
    let mut count = Count { bytes: sound.len(), ..Count::default() };
    let changes: Vec<Change> = changes::all(kind, &sound)
        .into_iter()
        .enumerate()
        .filter(|(index, change)| {
            *count.made.entry(change.what()).or_default() += 1;
            index % step == 0 || change.is_large()
        })
        .map(|(_, change)| change)
        .collect();
    let mut unexplained = Vec::new();
    for change in unreported(kind, &sound, &changes) {
        match harmless::why(kind, &sound, &change) {
            Some(why) => *count.harmless.entry(why).or_default() += 1,
            None => unexplained.push(change),
        }
    }
    let first: Vec<_> = unexplained.iter().take(20).collect();
    assert!(unexplained.is_empty(), "{}: {} unreported: {first:?}", kind.name, unexplained.len());
    count
}

#[test]
#[ignore = "slow"]
fn damage_is_reported_or_harmless() {
    for kind in kinds::all() {
        count(&kind, STRIDE);
    }
}

#[test]
#[ignore = "takes minutes"]
fn the_tables_of_damage_are_generated_from_every_bit() {
    if !is_long() {
        return;
    }
    let found: BTreeMap<_, _> =
        kinds::all().into_iter().map(|kind| (kind.name, count(&kind, 1))).collect();
    crate::page::check_tables("docs/reliability.md", &page::write(&found));
}

#[test]
#[ignore = "slow"]
fn the_digest_of_the_archive_finds_every_change() {
    for kind in kinds::all().iter().filter(|kind| !kind.ending.is_empty()) {
        let sound = kind.make();
        let mut changes = changes::all(kind, &sound);
        let mut index = 0;
        changes.retain(|change| {
            index += 1;
            index % 499 == 0 || change.is_large()
        });
        let missed = run::unreported_beside_digest(kind, &sound, &changes);
        assert!(missed.is_empty(), "{}: {missed:?}", kind.name);
    }
}
