//! Selection of members with patterns.

use std::collections::BTreeSet;

use glob::{MatchOptions, Pattern};

/// The rules of patterns: `*` and `?` match within a directory, `**` also across directories.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Patterns of member names.
///
/// A pattern without a slash is compared with every part of a name: `*.tmp` matches in every directory, and `cache`
/// matches a directory with its content. A pattern with a slash is compared with the name from its beginning, and also
/// matches everything below.
///
/// ```
/// let patterns = ra_pack::inspect::Patterns::new(["*.tmp", "run1/raw"])?;
/// assert!(patterns.matches("run2/a.tmp"));
/// assert!(patterns.matches("run1/raw/b.ra"));
/// assert!(!patterns.matches("run2/raw/b.ra"));
/// # Ok::<(), ra_pack::inspect::InvalidPattern>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    patterns: Vec<Pattern>,
    /// Literal names. An empty set matches nothing.
    names: Option<BTreeSet<String>>,
}

/// A pattern that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{}` is not valid: {reason}", crate::path::escape(pattern))]
#[non_exhaustive]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// The reason.
    pub reason: &'static str,
}

impl Patterns {
    /// Parses patterns.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern`] if a pattern has unbalanced brackets or misplaced stars.
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

    /// Adds literal names, in which no character is special. A name matches itself and everything below it. An empty
    /// list of names matches nothing, unlike an empty list of patterns.
    ///
    /// ```
    /// let patterns = ra_pack::inspect::Patterns::default().and_names(["a*.ra", "run1"]);
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

    /// Returns whether there are no patterns and no names, which selects everything.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.names.is_none()
    }

    /// Returns the first literal name that is neither a member nor a directory of one.
    pub fn missing<'m>(&self, members: impl Iterator<Item = &'m str>) -> Option<&str> {
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

    /// Returns whether a pattern or name matches `name`.
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

/// Returns a name, and the names of the directories above it.
fn with_parents(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| name.rsplit_once('/').map(|(parent, _)| parent))
}
