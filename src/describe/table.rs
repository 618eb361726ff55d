//! The metadata of many arrays as a CSV table for spreadsheets: one line per array.

use std::collections::BTreeSet;
use std::path::Path;

use super::DescribeOptions;
use super::edit::{EditedDescriptions, MetadataEdits, wrong_line};
use crate::error::Result;
use crate::ndl::{Attribute, Entity, Extent, Value};
use crate::pack::shape_of;

/// The column of array names.
const NAME: &str = "name";
/// The column of shapes, which cannot be changed. They are compared with the arrays.
const SHAPE: &str = "shape";
/// The column of dimension names.
const DIMS: &str = "dims";
/// The columns of attributes in a new table.
const ATTRIBUTES: [&str; 3] = ["units", "long_name", "standard_name"];

/// Largest number of columns. No array has more attributes, and the time to set them grows with their square.
const MOST_COLUMNS: usize = 1000;

/// Makes a table of all arrays of a directory, or of one array: CSV with the columns `name`, `shape`, `dims`, `units`,
/// `long_name` and `standard_name`. A dimension without a name is given by its length. With the option `dimcoords`,
/// arrays without a description get the names of coordinates for their dimensions.
///
/// # Errors
///
/// [`Error::Io`](crate::Error::Io) if the target cannot be read.
pub fn metadata_table(target: impl AsRef<Path>, options: &DescribeOptions) -> Result<String> {
    let mut place = EditedDescriptions::open(target.as_ref(), options)?;
    place.describe(options, |_| true)?;
    let contents = &place.contents;
    let coordinates: BTreeSet<_> = contents.coordinates().into_iter().map(|it| it.name).collect();
    let mut table = String::new();
    push_line(&mut table, [NAME, SHAPE, DIMS].into_iter().chain(ATTRIBUTES));
    for (path, facts) in &contents.arrays {
        let described = contents.description(path, &mut Vec::new());
        let Some((header, described)) = facts.header.as_ref().ok().zip(described) else { continue };
        let array = described.entity.array();
        let lengths = shape_of(header.dims(), described.order());
        let at = format!("/{}", path.without_extension());
        let is_itself =
            matches!(described.entity, Entity::DimCoord(_)) || coordinates.contains(&at);
        let name = |(axis, length): (usize, &u64)| match array.shape.get(axis) {
            Some(Extent::Coord(name)) => name.clone(),
            _ if is_itself && lengths.len() == 1 => path.stem().to_owned(),
            _ => length.to_string(),
        };
        let names: Vec<_> = lengths.iter().enumerate().map(name).collect();
        let blank =
            if names.iter().any(|name| name.contains(char::is_whitespace)) { "," } else { " " };
        let lengths: Vec<_> = lengths.iter().map(u64::to_string).collect();
        let text = |name: &str| match array.attribute(name) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_line(),
            None => String::new(),
        };
        let [units, long_name, standard_name] = ATTRIBUTES.map(text);
        let (shape, dims) = (lengths.join("x"), names.join(blank));
        let cells = [path.without_extension(), &shape, &dims, &units, &long_name, &standard_name];
        push_line(&mut table, cells.into_iter());
    }
    Ok(table)
}

impl MetadataEdits {
    /// Reads a table like that of [`metadata_table`]: CSV, separated by commas, semicolons or tabs. The column `name`
    /// is required. The column `dims` has dimension names, separated by spaces or commas. Every other column except
    /// `shape`, which must be that of the array, sets the attribute of its name. An empty cell changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Options`](crate::Error::Options) if the text is not such a table, with the line.
    pub fn of_table(text: &str) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let refuse = |line: usize, why: String| Err(wrong_line(line, why));
        let first = text.lines().next().unwrap_or_default();
        let separator = [',', ';', '\t'].into_iter().max_by_key(|separator| {
            // Prefers commas if both are equally frequent.
            (first.matches(*separator).count(), *separator == ',')
        });
        let mut rows = match rows(text, separator.unwrap_or(',')) {
            Ok(rows) => rows.into_iter(),
            Err(line) => return refuse(line, "a quoted cell does not end".to_owned()),
        };
        let (_, columns) = rows.next().unwrap_or_default();
        let columns: Vec<_> = columns.iter().map(|cell| cell.trim().to_owned()).collect();
        if columns.len() > MOST_COLUMNS {
            let why = format!("expected at most {MOST_COLUMNS} columns, found {}", columns.len());
            return refuse(1, why);
        }
        let Some(name) = columns.iter().position(|column| column == NAME) else {
            return refuse(
                1,
                format!(
                    "there is no column `{NAME}`; the first line must contain the names of the columns"
                ),
            );
        };
        let shape = columns.iter().position(|column| column == SHAPE);
        let mut edits = Self::default();
        for (line, cells) in rows {
            let array = cells.get(name).map_or("", |cell| cell.trim());
            if cells.iter().all(|cell| cell.trim().is_empty()) {
                continue;
            }
            if array.is_empty() || cells.len() > columns.len() {
                let why =
                    format!("expected the name of an array and at most {} cells", columns.len());
                return refuse(line, why);
            }
            let shape = shape.and_then(|shape| cells.get(shape)).map_or("", |cell| cell.trim());
            edits.row(array, line, shape);
            for (column, cell) in columns.iter().zip(&cells) {
                let cell = cell.trim();
                match column.as_str() {
                    "" | NAME | SHAPE => {}
                    _ if cell.is_empty() => {}
                    DIMS => {
                        let by_comma = cell.contains(',');
                        let names =
                            cell.split(
                                |at: char| if by_comma { at == ',' } else { at.is_whitespace() },
                            );
                        let names =
                            names.map(str::trim).filter(|name| by_comma || !name.is_empty());
                        edits.dims(array, names);
                    }
                    attribute => {
                        edits.attribute(array, attribute, Attribute::read(attribute, cell).value);
                    }
                }
            }
        }
        Ok(edits)
    }
}

/// Returns the rows with their lines, counted from 1, or the line of a quoted cell that does not end.
fn rows(text: &str, separator: char) -> Result<Vec<(usize, Vec<String>)>, usize> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut begin, mut quoted) = (1, 1, None);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted.is_some() && letters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' if quoted.is_some() => quoted = None,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted = Some(line);
            }
            '\r' if quoted.is_none() && letters.peek() == Some(&'\n') => {}
            '\n' if quoted.is_none() => {
                row.push(std::mem::take(&mut cell));
                rows.push((begin, std::mem::take(&mut row)));
                (line, begin) = (line + 1, line + 1);
            }
            _ if letter == separator && quoted.is_none() => row.push(std::mem::take(&mut cell)),
            _ => {
                line += usize::from(letter == '\n');
                cell.push(letter);
            }
        }
    }
    if let Some(line) = quoted {
        return Err(line);
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell);
        rows.push((begin, row));
    }
    Ok(rows)
}

fn push_line<'c>(table: &mut String, cells: impl Iterator<Item = &'c str>) {
    for (at, cell) in cells.enumerate() {
        table.push_str(if at > 0 { "," } else { "" });
        if cell.contains([',', ';', '"', '\n', '\r', '\t']) || cell.trim() != cell {
            table.extend(["\"", &cell.replace('"', "\"\""), "\""]);
        } else {
            table.push_str(cell);
        }
    }
    table.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, separator: char) -> Vec<Vec<String>> {
        rows(text, separator).unwrap().into_iter().map(|(_, row)| row).collect()
    }

    #[test]
    fn cells_are_quoted_if_needed_and_read_back() {
        let cells = ["a", "x, y", "say \"m\"", "two\nlines", " blank", ""];
        let mut table = String::new();
        push_line(&mut table, cells.into_iter());
        assert_eq!(read(&table, ','), [cells]);
    }

    #[test]
    fn tables_of_other_programs_are_read() {
        assert_eq!(read("a;b\r\n1;\"2;3\"", ';'), [["a", "b"], ["1", "2;3"]]);
        assert_eq!(rows("a,b\n1,\"2\n3", ',').unwrap_err(), 2);
        for text in ["\u{feff}name;units\nt;m\n", "name\tunits\r\nt\tm\r\n\r\n", "units,name\nm,t"]
        {
            assert_eq!(
                format!("{:?}", MetadataEdits::of_table(text).unwrap()).matches("units").count(),
                1
            );
        }
    }

    #[test]
    fn a_text_that_is_not_a_table_is_rejected_with_its_line() {
        for (text, why) in [
            ("", "line 1 of the table: there is no column `name`"),
            (
                &format!("name{}", ",x".repeat(1000)),
                "line 1 of the table: expected at most 1000 columns, found 1001",
            ),
            ("name,units\nt,m,K\n", "line 2 of the table: expected the name"),
            ("name,units\n\nt,m\n,m\n", "line 4 of the table"),
        ] {
            let error = MetadataEdits::of_table(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
