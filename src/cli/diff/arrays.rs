//! Two arrays that differ, as text.

use std::path::PathBuf;

use ra_pack::{ArrayDiff, DiffPlace, Distance, ElementsDiff, escape};

use super::super::output::counted;

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
                    short(*max),
                    short(*relative),
                    short(*l1),
                    short(*l2)
                ),
            },
        ));
    }
    rows
}

/// A number of six digits or fewer.
fn short(number: f64) -> String {
    let plain = number.to_string();
    if plain.len() <= 7 {
        return plain;
    }
    let scientific = format!("{number:.4e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent @ -3..=5) => {
            let places = usize::try_from(5_i32.saturating_sub(exponent)).unwrap_or(0);
            let fixed = format!("{number:.places$}");
            let is_padded = fixed.contains('.');
            let trimmed = fixed.trim_end_matches('0').trim_end_matches('.');
            if is_padded { trimmed.to_owned() } else { fixed }
        }
        _ => format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.')),
    }
}

/// A part of a whole, never rounded to nothing or to all.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part).saturating_mul(1000) / u128::from(whole.max(1));
    match tenths {
        0 => "< 0.1 %".to_owned(),
        1000 => "100 %".to_owned(),
        tenths => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}
