//! Choosing members by patterns.

use std::collections::BTreeSet;

use glob::{MatchOptions, Pattern};

/// How patterns match: `*` and `?` stay within a directory, `**` does not.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// A set of patterns.
///
/// A pattern without a slash is compared with every part of a name, so that `*.tmp` matches in every
/// directory and `cache` matches a directory and all that is in it. A pattern with a slash is compared
/// with the name from its beginning, and matches what lies below it as well.
///
/// ```
/// let patterns = ra_pack::list::Patterns::new(["*.tmp", "run1/raw"])?;
/// assert!(patterns.matches("run2/a.tmp"));
/// assert!(patterns.matches("run1/raw/b.ra"));
/// assert!(!patterns.matches("run2/raw/b.ra"));
/// # Ok::<(), ra_pack::list::InvalidPattern>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    patterns: Vec<Pattern>,
    /// Names as they are; nothing else is wanted where there are such, and none is among them.
    names: Option<BTreeSet<String>>,
}

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{}` cannot be read: {reason}", crate::path::escape(pattern))]
#[non_exhaustive]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Patterns {
    /// Reads patterns.
    ///
    /// # Errors
    ///
    /// When one of them has unbalanced brackets or misplaced stars.
    pub fn new<T: AsRef<str>>(
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidPattern> {
        patterns
            .into_iter()
            .map(|pattern| {
                let pattern = pattern.as_ref().trim_end_matches('/');
                Pattern::new(pattern).map_err(|error| InvalidPattern {
                    pattern: pattern.to_owned(),
                    reason: error.msg,
                })
            })
            .collect::<Result<_, _>>()
            .map(|patterns| Self { patterns, names: None })
    }

    /// These patterns and names, in which no letter has a meaning: each matches what has it, and what lies
    /// below that. No name at all matches nothing, and still is not the same as no pattern.
    ///
    /// ```
    /// let patterns = ra_pack::list::Patterns::default().and_names(["a*.ra", "run1"]);
    /// assert!(patterns.matches("a*.ra") && patterns.matches("run1/b.ra"));
    /// assert!(!patterns.matches("ab.ra") && !patterns.matches("run2/a*.ra"));
    /// ```
    #[must_use]
    pub fn and_names<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        let names = names.into_iter().map(Into::into).map(|mut name: String| {
            name.truncate(name.trim_end_matches('/').len());
            name
        });
        self.names.get_or_insert_default().extend(names);
        self
    }

    /// Whether there are none, so that everything is meant.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.names.is_none()
    }

    /// The first of the names that none of `members` has, nor a directory above any.
    pub(super) fn missing<'m>(&self, members: impl Iterator<Item = &'m str>) -> Option<&str> {
        let names = self.names.as_ref()?;
        let mut missing: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        for member in members {
            if missing.is_empty() {
                break;
            }
            for name in with_parents(member) {
                missing.remove(name);
            }
        }
        missing.pop_first()
    }

    /// Whether one of them matches `name`.
    pub fn matches(&self, name: &str) -> bool {
        let is_named = self
            .names
            .as_ref()
            .is_some_and(|names| with_parents(name).any(|name| names.contains(name)));
        is_named
            || self.patterns.iter().any(|pattern| {
                if pattern.as_str().contains('/') {
                    with_parents(name).any(|name| pattern.matches_with(name, MATCHING))
                } else {
                    name.split('/').any(|part| pattern.matches_with(part, MATCHING))
                }
            })
    }
}

/// A name, and those of the directories that it lies in.
fn with_parents(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| name.rsplit_once('/').map(|(parent, _)| parent))
}
