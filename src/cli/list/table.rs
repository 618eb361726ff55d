//! Columns: how wide they are, how they look, and where a line ends on a screen.

use clap::builder::styling::{AnsiColor, Style};

use super::super::width::{CUT, columns, cut};

/// Columns of the table.
pub(super) const COLUMNS: usize = 9;

/// The cells of one row.
pub(super) type Cells = [String; COLUMNS];

/// Headings of the columns, and whether they are numbers, which are aligned to the right.
const HEADINGS: [(&str, bool); COLUMNS] = [
    ("NAME", false),
    ("SIZE", true),
    ("PACKED", true),
    ("DATA AT", true),
    ("TYPE", false),
    ("SHAPE", false),
    ("PACKED TO", false),
    ("SHA-256", false),
    ("TITLE", false),
];

/// Blanks between columns.
const GAP: usize = 2;

/// The end of the branches of a tree.
const BRANCH: &str = "── ";

/// How a cell looks where there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Dim,
    Array,
    Directory,
    Type,
    Warning,
}

impl Look {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Dim => Style::new().dimmed(),
            Self::Array => Style::new().bold(),
            Self::Directory => AnsiColor::Blue.on_default().bold(),
            Self::Type => AnsiColor::Cyan.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
        }
    }
}

/// The layout of a table.
pub(super) struct Table {
    widths: [usize; COLUMNS],
    /// Columns of the screen.
    limit: Option<usize>,
    color: bool,
    line: String,
}

impl Table {
    pub(super) fn new(limit: Option<usize>, color: bool) -> Self {
        Self { widths: [0; COLUMNS], limit, color, line: String::new() }
    }

    /// Makes each column wide enough for these cells.
    pub(super) fn make_room(&mut self, cells: &Cells) {
        for (width, cell) in self.widths.iter_mut().zip(cells) {
            *width = (*width).max(columns(cell));
        }
        // One long name does not push everything else off the screen; it stands out of its column.
        if let (Some(limit), Some(name)) = (self.limit, self.widths.first_mut()) {
            *name = (*name).min(limit / 2);
        }
    }

    /// The line above the rows. Columns without a cell have no heading.
    pub(super) fn heading(&mut self) -> &str {
        for (width, (text, _)) in self.widths.iter_mut().zip(HEADINGS) {
            if *width > 0 {
                *width = (*width).max(text.len());
            }
        }
        let mut cells = Cells::default();
        for ((cell, width), (text, _)) in cells.iter_mut().zip(self.widths).zip(HEADINGS) {
            cell.push_str(if width > 0 { text } else { "" });
        }
        self.line(&cells, [Look::Dim; COLUMNS])
    }

    /// A line that is no row.
    pub(super) fn remark(&mut self, text: &str) -> &str {
        self.line.clear();
        self.push(text, Look::Dim);
        self.line.push('\n');
        &self.line
    }

    /// One row.
    pub(super) fn line(&mut self, cells: &Cells, looks: [Look; COLUMNS]) -> &str {
        self.line.clear();
        let (mut used, mut start) = (0_usize, 0_usize);
        let columns_of = cells.iter().zip(self.widths).zip(HEADINGS).zip(looks);
        for (((cell, width), (_, right)), look) in columns_of {
            if width == 0 {
                continue;
            }
            let begins = start;
            start = start.saturating_add(width).saturating_add(GAP);
            if cell.is_empty() {
                continue;
            }
            let taken = columns(cell);
            let indent = if right { width.saturating_sub(taken) } else { 0 };
            let mut blanks = begins.saturating_add(indent).saturating_sub(used);
            if used > 0 {
                blanks = blanks.max(GAP);
            }
            let end = used.saturating_add(blanks).saturating_add(taken);
            match self.limit {
                Some(limit) if end > limit => {
                    self.push_cut(cell, look, used, blanks, limit);
                    break;
                }
                _ => {
                    pad(&mut self.line, blanks);
                    self.push(cell, look);
                    used = end;
                }
            }
        }
        self.line.push('\n');
        &self.line
    }

    /// As much of a cell as there is room for.
    fn push_cut(&mut self, cell: &str, look: Look, used: usize, blanks: usize, limit: usize) {
        let room = limit.saturating_sub(used).saturating_sub(blanks);
        if room < 2 {
            if used < limit {
                self.line.push(CUT);
            }
            return;
        }
        pad(&mut self.line, blanks);
        let cut = cut(cell, room);
        self.push(&cut, look);
    }

    fn push(&mut self, text: &str, look: Look) {
        if self.color && look != Look::Plain {
            let style = look.style();
            // The branches of a tree are no part of the name.
            let branches = text.find(BRANCH).map_or(0, |at| at.saturating_add(BRANCH.len()));
            let (branches, text) = text.split_at_checked(branches).unwrap_or(("", text));
            self.line.push_str(branches);
            self.line.push_str(&style.render().to_string());
            self.line.push_str(text);
            self.line.push_str(&style.render_reset().to_string());
        } else {
            self.line.push_str(text);
        }
    }
}

fn pad(line: &mut String, mut padding: usize) {
    const BLANKS: &str = "                                ";
    while padding > 0 {
        let blanks = BLANKS.get(..padding).unwrap_or(BLANKS);
        line.push_str(blanks);
        padding = padding.saturating_sub(blanks.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(name: &str, size: &str, title: &str) -> Cells {
        let mut cells = Cells::default();
        cells[0] = name.to_owned();
        cells[1] = size.to_owned();
        cells[8] = title.to_owned();
        cells
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = Table::new(None, false);
        let (wide, other) = (cells("温度.ra", "9 B", "x"), cells("depth.ra", "10 B", "y"));
        table.make_room(&wide);
        table.make_room(&other);
        let looks = [Look::Plain; COLUMNS];
        assert_eq!(table.line(&wide, looks), "温度.ra    9 B  x\n");
        assert_eq!(table.line(&other, looks), "depth.ra  10 B  y\n");
    }

    proptest! {
        /// However narrow the screen and wide the cells, a line fits; where all fits, nothing is cut.
        #[test]
        fn no_line_is_wider_than_the_screen(
            rows in proptest::collection::vec(("[a温é]{1,30}", "[0-9]{1,7}", "[b度 ]{0,40}"), 1..6),
            limit in 4_usize..100,
        ) {
            let (mut table, mut free) = (Table::new(Some(limit), false), Table::new(None, false));
            let rows: Vec<_> = rows.iter().map(|(a, b, c)| cells(a, b, c.trim())).collect();
            for row in &rows { table.make_room(row); free.make_room(row); }
            for row in &rows {
                let looks = [Look::Plain; COLUMNS];
                let line = table.line(row, looks).to_owned();
                prop_assert!(columns(line.trim_end()) <= limit, "{line:?}");
                let whole = free.line(row, looks);
                prop_assert!(!whole.contains(CUT));
                if columns(whole.trim_end()) <= limit && columns(&row[0]) <= limit / 2 {
                    prop_assert!(!line.contains(CUT));
                }
            }
        }
    }
}
