//! A page for people: headings, and aligned lines below them.

use std::fmt::Write as _;

use clap::builder::styling::Style;
use unicode_width::UnicodeWidthStr;

/// What stands before the lines below a heading.
const INDENT: &str = "  ";

/// To which side a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A text that is written from top to bottom.
pub(super) struct Page {
    text: String,
    color: bool,
}

impl Page {
    pub(super) fn new(color: bool) -> Self {
        Self { text: String::new(), color }
    }

    /// What the page is about: a name, and where it is.
    pub(super) fn title(&mut self, name: &str, rest: &str) {
        self.bold(name);
        self.text.push_str(rest);
        self.text.push('\n');
    }

    /// What the lines below are about, after an empty line.
    pub(super) fn head(&mut self, text: &str) {
        self.text.push('\n');
        self.bold(text);
        self.text.push('\n');
    }

    pub(super) fn line(&mut self, text: &str) {
        self.text.push_str(INDENT);
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Lines whose cells stand below one another.
    pub(super) fn table<const N: usize>(&mut self, sides: [Side; N], rows: &[[String; N]]) {
        let mut widths = [0; N];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        for row in rows {
            let mut line = String::new();
            for ((cell, width), side) in row.iter().zip(widths).zip(sides) {
                if width == 0 {
                    continue;
                }
                if !line.is_empty() {
                    line.push_str(INDENT);
                }
                let blanks = " ".repeat(width.saturating_sub(cell.width()));
                match side {
                    Side::Left => line.extend([cell.as_str(), &blanks]),
                    Side::Right => line.extend([blanks.as_str(), cell]),
                }
            }
            self.line(line.trim_end());
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn bold(&mut self, text: &str) {
        if self.color {
            let style = Style::new().bold();
            // A text takes everything.
            let _ = write!(self.text, "{style}{text}{style:#}");
        } else {
            self.text.push_str(text);
        }
    }
}
