//! One member as the cells of a row, in room that is used for the next one again.

use std::fmt::{self, Write as _};

use ra_pack::{Listed, ListedArray, MemberKind, escape};

use super::super::numbers::{counted, human_bytes};
use super::table::{COLUMNS, Cells, Look};

/// Digits of a digest that are shown on a screen: enough to tell two files apart.
const DIGITS: usize = 12;

/// The cells of one line.
pub(super) struct Row {
    pub(super) cells: Cells,
    long: bool,
    /// Whether people read it on a screen.
    short: bool,
    name: Look,
    title: Look,
}

impl Row {
    pub(super) fn new(long: bool, short: bool) -> Self {
        Self { cells: Cells::default(), long, short, name: Look::Plain, title: Look::Plain }
    }

    /// A member; `branch` is what a tree shows in the place of its name.
    pub(super) fn fill(&mut self, member: &Listed<'_>, branch: Option<&str>) {
        self.cells.iter_mut().for_each(String::clear);
        let [name, size, packed, at, element, shape, method, digest, title] = &mut self.cells;
        match branch {
            Some(branch) => name.push_str(branch),
            None => put(name, format_args!("{}", escape(member.name))),
        }
        self.name = Look::Plain;
        self.title = Look::Plain;
        match member.kind {
            MemberKind::Directory => {
                name.push('/');
                self.name = Look::Directory;
                return;
            }
            MemberKind::Link => title.push_str("a link"),
            MemberKind::Special => title.push_str("a special file"),
            MemberKind::File => {}
        }
        size.push_str(&human_bytes(member.size));
        if let Some(array) = &member.array {
            self.name = Look::Array;
            match array.element.strip_prefix("unreadable: ") {
                Some(why) => {
                    element.push_str("unreadable");
                    put(title, format_args!("{}", escape(why)));
                    self.title = Look::Warning;
                }
                None => {
                    element.push_str(&array.element);
                    push_shape(shape, array);
                    match (&array.title, array.described) {
                        (Some(text), _) => put(title, format_args!("{}", escape(text))),
                        (None, true) => {}
                        (None, false) => {
                            title.push_str("not described");
                            self.title = Look::Warning;
                        }
                    }
                }
            }
        }
        if !matches!(&*member.method, "stored" | "solid") {
            method.push_str(&member.method);
            let parts = u128::from(member.packed_size).saturating_mul(100);
            if let Some(percent) = parts.checked_div(member.size.into()) {
                put(method, format_args!(" {percent}%"));
            }
        }
        if self.long {
            packed.push_str(&human_bytes(member.packed_size));
            if let Some(offset) = member.archive_data_offset {
                put(at, format_args!("{offset}"));
            }
            if let Some(sha256) = &member.sha256 {
                digest.push_str(sha256);
                if self.short {
                    digest.truncate(DIGITS);
                }
            }
        }
    }

    /// A directory of a tree.
    pub(super) fn fill_group(&mut self, branch: &str, arrays: u64, bytes: u64) {
        self.cells.iter_mut().for_each(String::clear);
        let [name, size, _, _, element, ..] = &mut self.cells;
        name.push_str(branch);
        size.push_str(&human_bytes(bytes));
        element.push_str(&counted(arrays, "array"));
        self.name = Look::Directory;
    }

    /// How its cells look.
    pub(super) fn looks(&self) -> [Look; COLUMNS] {
        let (plain, dim) = (Look::Plain, Look::Dim);
        [self.name, plain, plain, dim, Look::Type, plain, dim, dim, self.title]
    }
}

fn push_shape(shape: &mut String, array: &ListedArray<'_>) {
    shape.push('[');
    for (nth, (length, name)) in array.shape.iter().zip(&array.dimensions).enumerate() {
        shape.push_str(if nth == 0 { "" } else { ", " });
        match name {
            Some(name) => put(shape, format_args!("{} {length}", escape(name))),
            None => put(shape, format_args!("{length}")),
        }
    }
    shape.push(']');
    if array.order != "column" {
        put(shape, format_args!(" {}", array.order));
    }
}

/// Appends what is formatted; a text takes everything.
fn put(text: &mut String, what: fmt::Arguments<'_>) {
    let _ = text.write_fmt(what);
}
