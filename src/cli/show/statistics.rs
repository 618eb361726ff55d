//! Statistics as text, with a histogram drawn in letters.

use super::super::numbers::{digits, float, stepped};
use ra_pack::{NameStatistics, NumberStatistics, Statistics};

/// Letters of the longest bar that is worth drawing.
const WIDEST: usize = 60;

/// Eighths of a block.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

pub(super) fn text(statistics: &Statistics, unit: &str, width: usize, unicode: bool) -> String {
    match statistics {
        Statistics::Numbers(numbers) => of_numbers(numbers, "", unit, width, unicode),
        Statistics::Magnitudes(numbers) => {
            of_numbers(numbers, " (of magnitudes)", unit, width, unicode)
        }
        Statistics::Names(names) => of_names(names, width, unicode),
        Statistics::Nothing { count, reason } => {
            format!("Statistics: none of {count} elements, which are {reason}\n")
        }
        _ => String::new(),
    }
}

fn of_numbers(
    numbers: &NumberStatistics,
    of: &str,
    unit: &str,
    width: usize,
    unicode: bool,
) -> String {
    let mut text = format!("Statistics{of}:\n");
    let mut line = |name: &str, value: String| {
        text.extend([format!("  {name:<9}{value}\n")]);
    };
    line("elements", numbers.count.to_string());
    for (name, count) in [
        ("missing", numbers.missing),
        ("NaN", numbers.nan),
        ("+inf", numbers.positive_infinite),
        ("-inf", numbers.negative_infinite),
    ] {
        if count > 0 {
            line(name, count.to_string());
        }
    }
    if numbers.finite < numbers.count {
        line("values", numbers.finite.to_string());
    }
    let text_of = |number: Option<f64>| {
        number.map_or_else(|| "beyond what a float holds".to_owned(), |number| digits(number, 7))
    };
    if let (Some(min), Some(max)) = (numbers.min, numbers.max) {
        line("min", format!("{min}{unit}"));
        line("max", format!("{max}{unit}"));
        line("mean", text_of(numbers.mean) + unit);
        line("std", text_of(numbers.std) + unit);
    }
    if let Some(histogram) = &numbers.histogram {
        let rows: Vec<(String, u64)> = histogram
            .edges
            .windows(2)
            .zip(&histogram.counts)
            .map(|(edges, count)| {
                let middle = match edges {
                    [low, high] => low / 2.0 + high / 2.0,
                    _ => 0.0,
                };
                (rounded(middle, &histogram.edges), *count)
            })
            .collect();
        text.push('\n');
        text.push_str(&bars(&rows, true, width, unicode));
    }
    text
}

fn of_names(names: &NameStatistics, width: usize, unicode: bool) -> String {
    let mut text = format!("Statistics:\n  elements {}\n\n", names.count);
    let mut rows: Vec<(String, u64)> = names
        .categories
        .iter()
        .map(|category| (ra_pack::escape(&category.name).to_string(), category.count))
        .collect();
    if names.unnamed > 0 {
        rows.push(("(no name)".to_owned(), names.unnamed));
    }
    text.push_str(&bars(&rows, false, width, unicode));
    text
}

/// A bar for each row, below each other.
fn bars(rows: &[(String, u64)], to_right: bool, width: usize, unicode: bool) -> String {
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let labels = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let counts = most.to_string().len();
    let room =
        width.saturating_sub(labels.saturating_add(counts).saturating_add(6)).clamp(8, WIDEST);
    let mut text = String::new();
    for (label, count) in rows {
        let bar = bar(*count, most, room, unicode);
        let label =
            if to_right { format!("{label:>labels$}") } else { format!("{label:<labels$}") };
        text.push_str(format!("  {label}  {count:>counts$}  {bar}").trim_end());
        text.push('\n');
    }
    text
}

fn bar(count: u64, most: u64, room: usize, unicode: bool) -> String {
    let parts = if unicode { 8 } else { 1 };
    let room = u128::try_from(room).unwrap_or(0).saturating_mul(parts);
    let filled = u128::from(count).saturating_mul(room).checked_div(most.into()).unwrap_or(0);
    // What is there is seen.
    let filled = filled.max(u128::from(count > 0));
    let whole = usize::try_from(filled.checked_div(parts).unwrap_or(0)).unwrap_or(0);
    if !unicode {
        return "#".repeat(whole);
    }
    let mut bar = "█".repeat(whole);
    let rest = usize::try_from(filled.checked_rem(8).unwrap_or(0)).unwrap_or(0);
    if let Some(rest) = rest.checked_sub(1) {
        bar.extend(EIGHTHS.get(rest));
    }
    bar
}

/// A number with no more digits than tell the bins apart.
fn rounded(number: f64, edges: &[f64]) -> String {
    let step = match edges {
        [low, .., high] => (high / 2.0 - low / 2.0) / float(edges.len()) * 2.0,
        _ => f64::NAN,
    };
    let has_whole_steps = edges.array_windows().all(|[low, high]| (high - low - 1.0).abs() < 1e-9);
    stepped(number, if has_whole_steps { 1.0 } else { step / 10.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_counts() {
        assert_eq!(bar(8, 8, 10, true), "██████████");
        assert_eq!(bar(1, 16, 2, true), "▏");
        assert_eq!(bar(1, 1_000_000, 10, true), "▏");
        assert_eq!(
            (bar(0, 8, 10, true), bar(4, 8, 10, false)),
            (String::new(), "#####".to_owned())
        );
        assert_eq!(bar(0, 0, 10, true), "");
    }
}
