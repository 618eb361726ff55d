//! What a pack holds, as text.

use std::path::Path;

use ra_pack::{Container, CoordinateInfo, Layout, ManifestInfo, PackInfo, Severity, escape};

use super::super::numbers::{counted, human_bytes};
use super::page::{Page, Side};
use super::paste;

/// Coordinates that are shown; a pack of many runs has one for each.
const MOST: usize = 20;

pub(super) fn text(info: &PackInfo, color: bool) -> String {
    let mut page = Page::new(color);
    let container = match info.container {
        Container::Directory => "a directory".to_owned(),
        container => format!("a {container}"),
    };
    let layout = match info.layout {
        Layout::Plain => "",
        Layout::BagIt => " laid out as a BagIt bag",
    };
    page.title(&escape(&info.name).to_string(), &format!(": {container}{layout}"));

    let others = info.files.saturating_sub(info.arrays);
    let undescribed = match info.undescribed {
        0 => String::new(),
        count => format!(", {count} not described"),
    };
    let groups = match info.groups {
        0 | 1 => String::new(),
        groups => format!(" in {}", counted(groups, "group")),
    };
    let mut rows = vec![[
        counted(info.arrays, "array"),
        format!("{}{groups}{undescribed}", human_bytes(info.array_bytes)),
    ]];
    let other_bytes = info.bytes.saturating_sub(info.array_bytes);
    rows.push([counted(others, "other file"), human_bytes(other_bytes)]);
    let packed = match info.packed_bytes {
        packed if packed == info.bytes => String::new(),
        packed => format!(", {} in the archive", human_bytes(packed)),
    };
    rows.push(["in all".to_owned(), format!("{}{packed}", human_bytes(info.bytes))]);
    page.table([Side::Left, Side::Left], &rows);

    if !info.types.is_empty() {
        page.head("types");
        let types = info.types.iter();
        let types: Vec<_> = types.map(|(name, count)| [name.clone(), count.to_string()]).collect();
        page.table([Side::Left, Side::Right], &types);
    }
    if !info.coordinates.is_empty() {
        page.head("coordinates");
        let rows: Vec<_> = info.coordinates.iter().take(MOST).map(coordinate).collect();
        page.table([Side::Left, Side::Right, Side::Left, Side::Left, Side::Left], &rows);
        match info.coordinates.len().saturating_sub(MOST) {
            0 => {}
            more => page.line(&format!("… and {more} more; --json has them all")),
        }
    }
    page.head("manifests");
    if info.manifests.is_empty() {
        page.line("none, so that nothing can be proved");
    }
    page.table(
        [Side::Left, Side::Left, Side::Left],
        &info.manifests.iter().map(manifest).collect::<Vec<_>>(),
    );

    page.head("contradictions, as far as they show without reading contents");
    page.line(&verdict(info));
    if !info.manifests.is_empty() {
        page.line(&format!(
            "`ra-pack verify {}` reads every file and proves it",
            paste::path(Path::new(&info.name))
        ));
    }
    page.finish()
}

/// A coordinate: path, length, units, first and last element, users.
fn coordinate(coordinate: &CoordinateInfo) -> [String; 5] {
    let range = match (&coordinate.first, &coordinate.last) {
        (Some(first), Some(last)) => format!("{} … {}", escape(first), escape(last)),
        _ => String::new(),
    };
    [
        escape(&coordinate.name).to_string(),
        coordinate.length.map_or("?".to_owned(), |length| length.to_string()),
        coordinate.units.as_deref().map_or(String::new(), |units| format!("[{}]", escape(units))),
        range,
        match coordinate.arrays {
            0 => "not used".to_owned(),
            count => format!("used by {}", counted(count, "array")),
        },
    ]
}

fn manifest(manifest: &ManifestInfo) -> [String; 3] {
    let agreement = match (manifest.outside, manifest.agrees) {
        (true, Some(true)) => "outside, agrees with the one inside",
        (true, Some(false)) => "outside, DISAGREES with the one inside",
        (true, None) => "outside",
        (false, _) => "",
    };
    let entries = match manifest.entries {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    };
    [
        escape(&manifest.name).to_string(),
        format!("{} of {entries}", manifest.algorithm),
        agreement.to_owned(),
    ]
}

fn verdict(info: &PackInfo) -> String {
    let count = |severity| {
        let all = info.findings.iter().filter(|finding| finding.severity == severity);
        u64::try_from(all.count()).unwrap_or(u64::MAX)
    };
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => "none".to_owned(),
        (0, warnings) => format!("{}, said above", counted(warnings, "warning")),
        (errors, 0) => format!("{}, said above", counted(errors, "error")),
        (errors, warnings) => {
            format!("{} and {}, said above", counted(errors, "error"), counted(warnings, "warning"))
        }
    }
}
