//! Two arrays that differ, as text.

use std::path::PathBuf;

use ra_pack::{ArrayDiff, DiffPlace, Distance, ElementsDiff, escape};

use super::super::numbers::{counted, digits, percent};

/// What differs of two arrays; nothing when nothing does.
pub(super) fn text(diff: &ArrayDiff, place: Place<'_>) -> String {
    let is_silent =
        diff.is_same() && diff.elements.as_ref().is_none_or(|elements| elements.furthest.is_none());
    if is_silent {
        return String::new();
    }
    let name = |path: &PathBuf| escape(&path.to_string_lossy()).to_string();
    let mut lines = vec![format!("{} and {}\n", name(&diff.a), name(&diff.b))];
    let mut line = |label: &str, what: &str| lines.push(format!("  {label:<10}{what}\n"));
    for field in &diff.header {
        line(field.field, &format!("{} | {}", field.a, field.b));
    }
    match &diff.elements {
        Some(elements) => {
            for (label, what) in rows(elements, Style::Full, place) {
                line(label, &what);
            }
        }
        None => line("elements", "not compared"),
    }
    lines.concat()
}

/// How elements are told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Numbers in full.
    Full,
    /// So that they can be taken in among many.
    Short,
}

/// What the coordinates say of an index.
pub(super) type Place<'a> = &'a dyn Fn(&[u64]) -> Option<String>;

/// What is told of elements that differ: labels, and what stands behind them.
pub(super) fn rows(
    elements: &ElementsDiff,
    style: Style,
    coordinates: Place<'_>,
) -> Vec<(&'static str, String)> {
    let ElementsDiff { count, differing, nan, first, furthest, distance } = elements;
    let with_nan = if *nan > 0 { format!(", {nan} NaN in one alone") } else { String::new() };
    let share = match style {
        Style::Short if *differing > 0 => format!(" ({})", percent(*differing, *count)),
        _ => String::new(),
    };
    let of = format!("{differing} of {} differ{share}{with_nan}", counted(*count, "element"));
    let mut rows = vec![("elements", of)];
    let between = if style == Style::Full { "|" } else { "→" };
    let place = |place: &DiffPlace| {
        let said = coordinates(&place.index).map(|said| format!(" ({said})")).unwrap_or_default();
        format!("{} {between} {} at {:?}{said}", place.a, place.b, place.index)
    };
    rows.extend(first.as_ref().map(|first| ("first", place(first))));
    let is_news = |furthest: &&DiffPlace| {
        style == Style::Full || first.as_ref().is_none_or(|first| first.index != furthest.index)
    };
    rows.extend(furthest.as_ref().filter(is_news).map(|furthest| ("furthest", place(furthest))));
    if let Some(Distance { l1, l2, max, relative }) = distance
        && (style == Style::Full || furthest.is_some())
    {
        rows.push((
            "distance",
            match style {
                Style::Full => format!("max {max}, L1 {l1}, L2 {l2}"),
                Style::Short => format!(
                    "max {} (relative {}), L1 {}, L2 {}",
                    digits(*max, 6),
                    digits(*relative, 6),
                    digits(*l1, 6),
                    digits(*l2, 6)
                ),
            },
        ));
    }
    rows
}
