//! Choosing members by patterns.

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
/// let patterns = ra_pack::Patterns::new(["*.tmp", "run1/raw"])?;
/// assert!(patterns.matches("run2/a.tmp"));
/// assert!(patterns.matches("run1/raw/b.ra"));
/// assert!(!patterns.matches("run2/raw/b.ra"));
/// # Ok::<(), ra_pack::InvalidPattern>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Patterns(Vec<Pattern>);

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{}` cannot be read: {reason}", crate::path::escape(pattern))]
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
            .map(Self)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them matches `name`.
    pub fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| {
            if pattern.as_str().contains('/') {
                let above = std::iter::successors(Some(name), |name| {
                    name.rsplit_once('/').map(|(parent, _)| parent)
                });
                above.into_iter().any(|name| pattern.matches_with(name, MATCHING))
            } else {
                name.split('/').any(|part| pattern.matches_with(part, MATCHING))
            }
        })
    }
}
