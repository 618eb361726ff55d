//! The tables of docs/reliability.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Count;

/// Columns of changes on the page.
const COLUMNS: [&str; 5] = ["bits", "lengths", "zeros", "blocks", "records"];

/// Returns the tables for these counts.
pub(crate) fn write(counts: &BTreeMap<&'static str, Count>) -> String {
    let mut page = String::from("| kind | bytes |");
    for column in COLUMNS {
        write!(page, " {column} |").unwrap();
    }
    page.push_str(" not reported |\n|---|---|---|---|---|---|---|---|\n");
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (kind, count) in counts {
        write!(page, "| {kind} | {} |", count.bytes).unwrap();
        for column in COLUMNS {
            write!(page, " {} |", count.made.get(column).unwrap_or(&0)).unwrap();
        }
        writeln!(page, " {} |", count.harmless.values().sum::<usize>()).unwrap();
        for (why, changes) in &count.harmless {
            reasons.entry(why).or_default().push(format!("{kind}: {changes}"));
        }
    }
    page.push_str("\n| not reported, because | changes |\n|---|---|\n");
    for (why, kinds) in reasons {
        writeln!(page, "| {why} | {} |", kinds.join("; ")).unwrap();
    }
    page
}
