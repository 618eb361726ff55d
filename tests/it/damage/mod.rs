//! Every bit flipped, every length cut, every block swapped, doubled, dropped or zeroed: `verify`
//! reports each change, or the change is shown to be harmless by a map of the archive made by hand.
//!
//! The archives stand alone here: no manifest and no digest lies beside them.

mod changes;
mod harmless;
mod kinds;
mod page;
mod run;

use std::collections::BTreeMap;

use self::changes::Change;
use self::kinds::Kind;
use self::run::unreported;

/// Of bits, lengths and stretches, a test that takes seconds tries one in so many.
const STRIDE: usize = 61;

/// What was done to one kind of pack, and what became of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Bytes of the archive, or of all files of a directory.
    bytes: usize,
    /// Changes made, by what they are.
    made: BTreeMap<&'static str, usize>,
    /// Changes that nobody reported, by the reason why they are harmless.
    harmless: BTreeMap<&'static str, usize>,
}

/// Makes the changes, and refuses each that is neither reported nor harmless.
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
fn damage_is_reported_or_harmless() {
    for kind in kinds::all() {
        count(&kind, STRIDE);
    }
}

#[test]
#[ignore = "it takes minutes"]
fn the_tables_of_damage_are_generated_from_every_bit() {
    let found: BTreeMap<_, _> =
        kinds::all().into_iter().map(|kind| (kind.name, count(&kind, 1))).collect();
    crate::page::check_tables("docs/reliability.md", &page::write(&found));
}

#[test]
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
