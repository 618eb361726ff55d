//! Inserts tables into a page between markers, and keeps the text around them.

use std::fs;
use std::path::Path;

use super::plot;
use super::samples::Group;
use super::tables::costs;

const END: &str = "<!-- end of table -->";

/// Replaces the tables that the page has markers for, and draws the plot next to it.
pub(crate) fn update(page: &Path, tables: &[(String, String)], results: &Path) {
    let mut text = fs::read_to_string(page).unwrap();
    for (name, table) in tables {
        let begin = format!("<!-- table: {name} -->");
        let Some((before, rest)) = text.split_once(&begin) else { continue };
        let (_, after) = rest.split_once(END).expect("the table ends");
        text = format!("{before}{begin}\n{}\n{END}{after}", table.trim_end());
    }
    fs::write(page, text).unwrap();
    let groups = Group::load_all(results);
    let mut scaling: Vec<&Group> =
        groups.iter().filter(|group| group.operation == "scaling").collect();
    scaling.sort_by_key(|group| group.facts[1]);
    if !scaling.is_empty() {
        fs::write(page.with_file_name("scaling.svg"), plot::draw(&costs(&scaling))).unwrap();
    }
}
