//! Did you mean: the known word nearest to one that is not known.

/// Most candidates that are looked at: help must not make reading a long document slow.
pub(super) const MAX_CANDIDATES: usize = 1000;

/// Longest word that is compared, in characters.
const MAX_LENGTH: usize = 64;

/// A hint that names the candidate nearest to `word`, when one is near enough.
pub(super) fn hint<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates)
        .map(|near| format!("did you mean {}?", super::diagnostic::quote(near)))
}

/// The candidate nearest to `word`: equal but for case, or with few letters changed.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let folded: Vec<char> = word.to_lowercase().chars().take(MAX_LENGTH).collect();
    let limit = (folded.len() / 3).max(1);
    let near = candidates.into_iter().take(MAX_CANDIDATES).filter_map(|candidate| {
        let other: Vec<char> = candidate.to_lowercase().chars().take(MAX_LENGTH).collect();
        if other.len().abs_diff(folded.len()) > limit {
            return None;
        }
        let distance = distance(&folded, &other);
        (distance <= limit && distance < folded.len()).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, two letters in the wrong order counting as one change.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let mut last = None;
    for (i, &letter) in a.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        let mut left = i.saturating_add(1);
        next.push(left);
        for (j, &other) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX);
            let changed = at(&row, j).saturating_add(usize::from(letter != other));
            let removed = at(&row, j.saturating_add(1)).saturating_add(1);
            let mut cost = changed.min(removed).min(left.saturating_add(1));
            if let Some(previous) = j.checked_sub(1)
                && last == Some(other)
                && b.get(previous) == Some(&letter)
            {
                cost = cost.min(at(&before, previous).saturating_add(1));
            }
            next.push(cost);
            left = cost;
        }
        before = std::mem::replace(&mut row, next);
        last = Some(letter);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["float32", "float64", "int8", "string"];
        assert_eq!(nearest("flaot32", words), Some("float32"));
        assert_eq!(nearest("Float64", words), Some("float64"));
        assert_eq!(nearest("int", words), Some("int8"));
        assert_eq!(nearest("strng", words), Some("string"));
        assert_eq!(nearest("complex", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn a_swap_is_one_change() {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&letters("shpae"), &letters("shape")), 1);
        assert_eq!(distance(&letters(""), &letters("ab")), 2);
        assert_eq!(distance(&letters("kitten"), &letters("sitting")), 3);
    }
}
