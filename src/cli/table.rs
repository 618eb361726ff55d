//! Tables: rows of cells in aligned columns, at most as wide as the screen.

use clap::builder::styling::Style;

use super::text::{CUT, DIM, columns, fit, styled};

/// Text with its style.
#[derive(Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) style: Style,
}

/// Layout of a table: each column is as wide as its widest cell, and empty columns take no room.
pub(super) struct Table<const N: usize> {
    /// Headings of the columns, and whether they are aligned to the right, as numbers are.
    headings: [(&'static str, bool); N],
    /// Widths of the columns. Cells of columns without width are not shown.
    pub(super) widths: [usize; N],
    /// Width of the screen, in columns.
    pub(super) limit: usize,
    color: bool,
    /// Whether the last cell of each row has a line of its own, below the other cells.
    pub(super) is_last_below: bool,
}

/// Spaces between columns.
pub(super) const GAP: usize = 2;
/// End of the branches of a tree, which are not part of a name.
pub(super) const BRANCH: &str = "── ";
/// Indent of cells below the others.
const BELOW: &str = "    ";

impl<const N: usize> Table<N> {
    pub(super) fn new(headings: [(&'static str, bool); N], limit: usize, color: bool) -> Self {
        Self { headings, widths: [0; N], limit, color, is_last_below: false }
    }

    /// Widens the columns to fit these cells.
    pub(super) fn make_room(&mut self, cells: &[Cell; N]) {
        for (width, cell) in self.widths.iter_mut().zip(cells) {
            *width = (*width).max(columns(&cell.text));
        }
        // A single long name exceeds its column rather than pushing the others off the screen.
        if let Some(name) = self.widths.first_mut() {
            *name = (*name).min((self.limit / 2).max(1));
        }
    }

    /// Returns the width of all columns with the gaps between them.
    pub(super) fn width(&self) -> usize {
        let shown = self.widths.iter().filter(|width| **width > 0);
        shown.map(|width| width + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// Formats the headings, and widens the columns to fit them. Empty columns have none.
    pub(super) fn heading(&mut self) -> String {
        let mut cells = [(); N].map(|()| Cell::default());
        for ((cell, width), (text, _)) in cells.iter_mut().zip(&mut self.widths).zip(self.headings)
        {
            if *width > 0 {
                *width = (*width).max(text.len());
                *cell = Cell { text: text.to_owned(), style: DIM };
            }
        }
        self.line(&cells)
    }

    /// Formats one row.
    pub(super) fn line(&self, cells: &[Cell; N]) -> String {
        let mut line = String::new();
        let (mut used, mut start) = (0, 0);
        for (nth, ((cell, width), (_, to_right))) in
            cells.iter().zip(self.widths).zip(self.headings).enumerate()
        {
            let begins = start;
            start += if width > 0 { width + GAP } else { 0 };
            let is_below = self.is_last_below && nth + 1 == N;
            if cell.text.is_empty() || (width == 0 && !is_below) {
                continue;
            }
            if is_below {
                let room = self.limit.saturating_sub(BELOW.len());
                line.extend(["\n", BELOW, &self.painted(cell, room)]);
                break;
            }
            let taken = columns(&cell.text);
            let indent = if to_right { width.saturating_sub(taken) } else { 0 };
            let gap = if used > 0 { GAP } else { 0 };
            let blanks = (begins + indent).saturating_sub(used).max(gap);
            let room = self.limit.saturating_sub(used + blanks);
            if taken > room && room < 2 {
                line.extend((used < self.limit).then_some(CUT));
                break;
            }
            line += &" ".repeat(blanks);
            line += &self.painted(cell, room);
            if taken > room {
                break;
            }
            used += blanks + taken;
        }
        line + "\n"
    }

    /// Cuts a cell to this many columns, and adds its style.
    pub(super) fn painted(&self, cell: &Cell, room: usize) -> String {
        let text = fit(&cell.text, room);
        let (branches, text) = text.split_at(text.find(BRANCH).map_or(0, |at| at + BRANCH.len()));
        format!("{branches}{}", styled(text, cell.style, self.color))
    }
}

/// Aligns cells without styles, some of them to the right. If they need more columns than the limit, the last cell is
/// on a line of its own.
pub(super) fn aligned<const N: usize>(
    rows: &[[String; N]],
    to_right: [bool; N],
    limit: usize,
) -> Vec<String> {
    let mut table = Table::new(to_right.map(|to_right| ("", to_right)), usize::MAX, false);
    let cells = |row: &[String; N]| row.clone().map(|text| Cell { text, style: Style::new() });
    let rows: Vec<_> = rows.iter().map(cells).collect();
    for row in &rows {
        table.make_room(row);
    }
    if table.width() > limit {
        (table.limit, table.is_last_below) = (limit, true);
    }
    rows.iter().map(|row| table.line(row).trim_end().to_owned()).collect()
}
