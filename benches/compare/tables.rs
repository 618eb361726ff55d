//! Samples as Markdown.

use std::path::Path;

use super::contestant::Kind;
use super::machine;
use super::memory;
use super::samples::{Group, Row};
use super::statistics::Spread;
use super::workloads::Workload;

/// Returns every table that can be made from the samples in a directory, by its name in the page.
pub(crate) fn all(results: &Path) -> Vec<(String, String)> {
    let groups = Group::load_all(results);
    let of = |operation: &str| -> Vec<&Group> {
        let mut found: Vec<&Group> =
            groups.iter().filter(|group| group.operation == operation).collect();
        found.sort_by_key(|group| group.workload.trim_start_matches('N').parse::<u64>().ok());
        found
    };
    let mut tables = Vec::new();
    tables.extend(machine::noted(results).map(|text| ("machine".to_owned(), text)));
    tables.push(("workloads".to_owned(), workloads(&groups)));
    for operation in
        ["create", "verify", "get", "extract", "library_write", "library_read", "library_one"]
    {
        tables.push((operation.to_owned(), against_ours(&of(operation))));
    }
    for operation in ["list", "compressed", "library_view", "slices", "convert", "startup"] {
        // Compressed archives of the largest measured workload.
        let groups = of(operation);
        let shown = if operation == "compressed" { groups.len().saturating_sub(1) } else { 0 };
        tables.push((operation.to_owned(), one_by_one(&groups[shown..])));
    }
    tables.push(("jobs".to_owned(), speed_up(&of("jobs"))));
    tables.push(("scaling".to_owned(), per_member(&of("scaling"))));
    tables.push(("memory".to_owned(), peaks(&of("memory"))));
    tables.retain(|(_, table)| !table.is_empty());
    tables
}

/// Makes a table from its cells; the first row is the head. Numbers are aligned right.
fn markdown(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        text.push_str(&format!("| {} |\n", row.join(" | ")));
        if index == 0 {
            text.push_str(&format!("|---|{}\n", "--:|".repeat(row.len() - 1)));
        }
    }
    text
}

fn notes(groups: &[&Group]) -> String {
    let mut notes: Vec<&String> = groups.iter().flat_map(|group| &group.notes).collect();
    notes.sort();
    notes.dedup();
    let lines: Vec<String> = notes.iter().map(|note| format!("- {note}\n")).collect();
    if lines.is_empty() { String::new() } else { format!("\n{}", lines.concat()) }
}

fn median(row: &Row) -> f64 {
    Spread::of(row.samples.iter().map(|sample| sample.wall)).map_or(f64::NAN, |wall| wall.median)
}

/// Formats a time with three significant digits and a suitable unit.
fn seconds(value: f64) -> String {
    let (value, unit) = match value {
        value if value >= 1.0 => (value, "s"),
        value if value >= 1e-3 => (value * 1e3, "ms"),
        value => (value * 1e6, "µs"),
    };
    format!("{} {unit}", figures(value))
}

fn figures(value: f64) -> String {
    let digits = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 0.1 || value == 0.0 => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

fn ratio(spread: Spread) -> String {
    let Spread { median, least, most } = spread;
    format!("{} ({}–{})", figures(median), figures(least), figures(most))
}

const MIB: f64 = 1024.0 * 1024.0;

fn size(bytes: u64) -> String {
    match bytes as f64 {
        0.0 => "–".to_owned(),
        bytes if bytes >= MIB => format!("{} MiB", figures(bytes / MIB)),
        bytes => format!("{} KiB", figures(bytes / 1024.0)),
    }
}

fn find<'a>(group: &'a Group, name: &str) -> Option<&'a Row> {
    group.rows.iter().find(|row| row.name == name)
}

fn of_kind(group: &Group, kind: Kind) -> Option<&Row> {
    group.rows.iter().find(|row| row.kind == kind)
}

fn workloads(groups: &[Group]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for group in groups.iter().filter(|group| group.workload.starts_with('W')) {
        let [arrays, files, bytes] = group.facts;
        let row = vec![group.workload.clone(), arrays.to_string(), files.to_string(), size(bytes)];
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows.sort();
    rows.insert(0, ["workload", "arrays", "files", "bytes"].map(str::to_owned).to_vec());
    if rows.len() > 1 { markdown(&rows) } else { String::new() }
}

/// Makes a table of times, with multiples of the time of ra-pack in the same round. ra-pack is first, then the fastest
/// contestant, and the baseline is last.
fn against_ours(groups: &[&Group]) -> String {
    let Some(first) = groups.first() else { return String::new() };
    let mut head = vec![String::new()];
    head.extend(groups.iter().map(|group| heading(group).to_owned()));
    let ours = of_kind(first, Kind::Ours).map(|row| row.name.as_str());
    let multiple = |group: &Group, name: &str| {
        Spread::of_ratios(&find(group, name)?.samples, &find(group, ours?)?.samples)
    };
    let mut order: Vec<&Row> = groups.iter().flat_map(|group| &group.rows).collect();
    // By the first workload that has both.
    order.sort_by(|a, b| {
        let key = |row: &Row| {
            let known = groups.iter().find_map(|group| multiple(group, &row.name));
            let place = match row.kind {
                _ if ours == Some(&row.name) => 0,
                Kind::Ours => 1,
                Kind::Peer => 2,
                Kind::Limit => 3,
            };
            (place, known.map_or(f64::MAX, |spread| spread.median))
        };
        key(a).partial_cmp(&key(b)).unwrap()
    });
    let mut rows = vec![head];
    for row in order {
        let title = titled(row);
        if rows.iter().any(|other| other.first() == Some(&title)) {
            continue;
        }
        let mut cells = vec![title];
        cells.extend(groups.iter().map(|group| {
            let Some(found) = find(group, &row.name) else { return "–".to_owned() };
            let time = seconds(median(found));
            match multiple(group, &row.name) {
                Some(spread) if ours != Some(&row.name) => {
                    format!("{time} ({})", figures(spread.median))
                }
                _ => format!("**{time}**"),
            }
        }));
        rows.push(cells);
    }
    let rounds = first.rows.first().map_or(0, |row| row.samples.len());
    format!(
        "Counted rounds: {rounds}. {}\n\n{}{}",
        variation(groups),
        markdown(&rows),
        notes(groups)
    )
}

fn heading(group: &Group) -> &'static str {
    Workload::from_name(&group.workload).map_or("other", Workload::heading)
}

/// Says how far the times of the same cell are apart.
fn variation(groups: &[&Group]) -> String {
    let rows = groups.iter().flat_map(|group| &group.rows);
    let longer = rows
        .filter_map(|row| Spread::of(row.samples.iter().map(|sample| sample.wall)))
        .map(|wall| (wall.most / wall.least - 1.0) * 100.0);
    let Spread { median, most, .. } = Spread::of(longer).unwrap();
    format!(
        "The slowest round takes up to {most:.0} % longer than the fastest; in half of the cells, less \
         than {median:.0} %."
    )
}

/// Returns the first cell of a row.
fn titled(row: &Row) -> String {
    match (row.kind, row.what.as_str()) {
        (Kind::Ours, "") => format!("**{}**", row.name),
        (Kind::Ours, what) => format!("**{}**: {what}", row.name),
        (_, "") => row.name.clone(),
        (_, what) => format!("{}: {what}", row.name),
    }
}

/// Makes a table for each workload: time, processor, output size, and the ratio to the first contestant of the same
/// kind, which is the part of the name before the colon.
fn one_by_one(groups: &[&Group]) -> String {
    let mut text = String::new();
    for group in groups {
        let first = |name: &str| {
            let kind = |name: &str| name.split_once(": ").map(|(kind, _)| kind.to_owned());
            group.rows.iter().find(|row| kind(&row.name) == kind(name)).unwrap()
        };
        let head = ["", "time", "× the first of its kind", "processor / time", "bytes"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let has_cpu = group.rows.iter().any(|row| row.samples.iter().any(|s| s.peak > 0));
        for row in &group.rows {
            let wall = median(row);
            let busy = row.samples.iter().map(|sample| sample.cpu / sample.wall);
            rows.push(vec![
                titled(row),
                seconds(wall),
                Spread::of_ratios(&row.samples, &first(&row.name).samples)
                    .map_or(String::new(), ratio),
                Spread::of(busy)
                    .filter(|_| has_cpu)
                    .map_or("–".to_owned(), |busy| figures(busy.median)),
                size(row.bytes),
            ]);
        }
        if !text.is_empty() {
            text.push('\n');
        }
        if groups.len() > 1 {
            text.push_str(&format!("{}:\n\n", group.workload));
        }
        text.push_str(&markdown(&rows));
    }
    text + &notes(groups)
}

fn speed_up(groups: &[&Group]) -> String {
    let mut rows = vec![vec!["`--jobs 2` is faster by".to_owned()]];
    rows[0].extend(groups.iter().map(|group| group.workload.clone()));
    for verb in ["create", "verify"] {
        let mut cells = vec![verb.to_owned()];
        cells.extend(groups.iter().map(|group| {
            let row = |jobs: u8| find(group, &format!("ra-pack {verb} --jobs {jobs}"));
            row(1)
                .zip(row(2))
                .and_then(|(one, two)| Spread::of_ratios(&one.samples, &two.samples))
                .map_or("–".to_owned(), ratio)
        }));
        rows.push(cells);
    }
    if groups.is_empty() { String::new() } else { markdown(&rows) }
}

/// Returns microseconds per member, by command and number of members, for the table and the plot.
pub(crate) fn costs(groups: &[&Group]) -> Vec<(String, Vec<(f64, f64)>)> {
    let Some(first) = groups.first() else { return Vec::new() };
    let cost = |group: &Group, name: &str| {
        let members = group.facts[1] as f64;
        find(group, name).map(|row| (members, median(row) * 1e6 / members))
    };
    first
        .rows
        .iter()
        .map(|row| {
            (row.name.clone(), groups.iter().filter_map(|group| cost(group, &row.name)).collect())
        })
        .collect()
}

fn per_member(groups: &[&Group]) -> String {
    let mut rows = vec![vec!["µs per member".to_owned()]];
    rows[0].extend(groups.iter().map(|group| format!("{} members", group.facts[1])));
    for (name, costs) in costs(groups) {
        let mut cells = vec![name];
        cells.extend(costs.iter().map(|(_, cost)| figures(*cost)));
        rows.push(cells);
    }
    let mut whole = vec!["get, in all".to_owned()];
    whole.extend(
        groups
            .iter()
            .map(|group| find(group, "get").map_or(String::new(), |row| seconds(median(row)))),
    );
    rows.push(whole);
    if groups.is_empty() { String::new() } else { markdown(&rows) }
}

/// Makes a table of the peaks of the first workload: a row for each command, a column for each container.
fn peaks(groups: &[&Group]) -> String {
    let Some(group) = groups.first() else { return String::new() };
    let kind =
        |row: &Row| row.name.split_once(' ').map_or("directory", |(_, kind)| kind).to_owned();
    let command = |row: &Row| row.name.split(' ').next().unwrap_or_default().to_owned();
    let mut rows = vec![vec!["peak in MiB".to_owned()]];
    for row in &group.rows {
        if !rows[0].contains(&kind(row)) {
            rows[0].push(kind(row));
        }
        if !rows.iter().any(|cells| cells[0] == command(row)) {
            rows.push(vec![command(row)]);
        }
    }
    let kinds = rows[0].split_off(1);
    for cells in &mut rows[1..] {
        for kind in &kinds {
            let name =
                if kind == "directory" { cells[0].clone() } else { format!("{} {kind}", cells[0]) };
            cells.push(peak(group, &name));
        }
    }
    rows[0].extend(kinds);
    let bound = figures(memory::bound(group.facts[1]) as f64 / 1024.0);
    format!("Bound: {bound} MiB ({}).\n\n{}", heading(group), markdown(&rows))
}

/// Formats the peak of a command, marked if it is above the limit.
fn peak(group: &Group, name: &str) -> String {
    let peaks = find(group, name).map(|row| row.samples.iter().map(|sample| sample.peak));
    let Some(peak) = peaks.and_then(Iterator::max) else { return "–".to_owned() };
    let text = figures(peak as f64 / 1024.0);
    if peak > memory::bound(group.facts[1]) { format!("**{text}**") } else { text }
}
