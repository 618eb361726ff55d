//! What many files of a pack have in common, kept once: most arrays of a data set have one header, and
//! most descriptions differ in nothing but a name.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use super::inspect::{ArrayFacts, Content, Inspector};

/// Most values that are known at a time. When there are more, those after them are compared with each
/// other: files that are alike lie together.
const MAX_KNOWN: usize = 1024;

/// Values that were met, each behind a pointer that can be had again. The hashes are keyed: nobody can
/// choose values that all come to lie together.
#[derive(Debug)]
pub(super) struct Known<P> {
    /// The last one, which most often comes again.
    last: Option<P>,
    all: HashSet<P>,
}

impl<P> Default for Known<P> {
    fn default() -> Self {
        Self { last: None, all: HashSet::new() }
    }
}

impl<P: Clone + Eq + Hash> Known<P> {
    /// Puts the first of its kind in the place of a value.
    pub(super) fn share(&mut self, value: &mut P) {
        if let Some(last) = self.last.as_ref().filter(|last| *last == value) {
            *value = last.clone();
            return;
        }
        match self.all.get(value) {
            Some(first) => *value = first.clone(),
            None => {
                if self.all.len() >= MAX_KNOWN {
                    self.all.clear();
                }
                self.all.insert(value.clone());
            }
        }
        self.last = Some(value.clone());
    }
}

impl Known<Arc<str>> {
    /// The text that is made of two pieces. The last one is known without putting them together.
    pub(super) fn of_pieces(&mut self, head: &str, rest: &str) -> Arc<str> {
        let is_it = |last: &&Arc<str>| last.strip_prefix(head) == Some(rest);
        if let Some(last) = self.last.as_ref().filter(is_it) {
            return Arc::clone(last);
        }
        let mut text = Arc::from([head, rest].concat());
        self.share(&mut text);
        text
    }
}

/// What one job has met.
#[derive(Debug, Default)]
pub(crate) struct Alike {
    pub(super) bodies: Known<Arc<str>>,
    arrays: Known<Arc<ArrayFacts>>,
}

impl Alike {
    /// Keeps the facts of an array together with those of others, when they are the same.
    pub(super) fn share(&mut self, facts: &mut Arc<ArrayFacts>) {
        if facts.is_faultless() {
            self.arrays.share(facts);
        }
    }
}

/// The same for jobs that have nothing of their own.
#[derive(Debug)]
pub(crate) struct AlikeOfJobs(Box<[Mutex<Alike>]>);

impl AlikeOfJobs {
    /// For as many jobs.
    pub(crate) fn new(jobs: usize) -> Self {
        Self((0..jobs.max(1)).map(|_| Mutex::default()).collect())
    }

    /// As [`Inspector::finish_among`].
    pub(crate) fn finish(&self, inspector: Inspector, name: &str, len: u64) -> Content {
        // While others are at it, there is one that none of them has; what is not shared takes room only.
        match self.0.iter().find_map(|alike| alike.try_lock().ok()) {
            Some(mut alike) => inspector.finish_among(name, len, &mut alike),
            None => inspector.finish(name, len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_kept_once() {
        let mut known = Known::default();
        let mut values: Vec<Arc<str>> = ["a", "a", "b", "a", "b"].map(Arc::from).to_vec();
        for value in &mut values {
            known.share(value);
        }
        assert_eq!(values.iter().map(|value| &**value).collect::<String>(), "aabab");
        for other in [1, 3] {
            assert!(Arc::ptr_eq(&values[0], &values[other]));
        }
        assert!(Arc::ptr_eq(&values[2], &values[4]));
    }

    #[test]
    fn a_text_is_known_by_its_pieces() {
        let mut known = Known::default();
        let whole = known.of_pieces("ab", "c");
        assert_eq!(&*whole, "abc");
        assert!(Arc::ptr_eq(&whole, &known.of_pieces("a", "bc")));
        for (head, rest) in [("ab", ""), ("a", "c"), ("b", "c"), ("abc", "c")] {
            assert_eq!(*known.of_pieces(head, rest), *format!("{head}{rest}"));
        }
        assert!(Arc::ptr_eq(&whole, &known.of_pieces("", "abc")));
    }

    #[test]
    fn no_more_than_so_many_are_known() {
        let mut known = Known::default();
        for number in 0..3 * MAX_KNOWN {
            known.share(&mut Arc::new(number));
        }
        assert!(known.all.len() <= MAX_KNOWN);
    }
}
