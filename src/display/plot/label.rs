//! Labels: names with units, which are never cut, and the position of a slice as text.

use crate::ndl::Ndarray;
use crate::path::escape;
use crate::read::{ComplexPart, FixedAxis, Quantity};

use super::super::array::{self, attribute_text};
use super::super::text::{columns, digits, fit};
use super::ticks::Omitted;
use super::units::typeset;

/// Longest name that is laid out, in columns, so that a name of a megabyte takes no time.
const MOST_NAME: usize = 400;

/// Longest units that are laid out, in columns.
const MOST_UNITS: usize = 100;

/// Name and units of numbers.
#[derive(Debug, Clone, Default)]
pub struct Label {
    pub name: String,
    /// Units as printed, such as `m s⁻¹`.
    pub units: Option<String>,
}

impl Label {
    /// Returns the long name and units of a description, or `name` if it has none.
    pub fn new(description: Option<&Ndarray>, name: &str) -> Self {
        let name =
            array::attribute(description, "long_name").unwrap_or_else(|| escape(name).to_string());
        let units = attribute_text(description, "units").and_then(typeset);
        Self { name: fit(&name, MOST_NAME), units: units.map(|units| fit(&units, MOST_UNITS)) }
    }

    /// Returns the label of the values that are drawn.
    pub fn of(quantity: &Quantity) -> Self {
        let description = quantity.description.as_ref();
        let mut label = Self::new(description, &quantity.name);
        // Magnitudes and names are those of the stored numbers.
        if quantity.scale_and_offset.is_none() && description.is_some_and(array::is_scaled) {
            label.units = None;
        }
        match quantity.part {
            Some(ComplexPart::Magnitude) => label.name.insert_str(0, "magnitude of "),
            Some(ComplexPart::Phase) => {
                label.name.insert_str(0, "phase of ");
                label.units = Some("rad".to_owned());
            }
            _ => {}
        }
        label
    }

    /// Adds what the ticks omit to the units: `10⁶ m`, `s from 1,000,000`. Dates have no other units.
    #[must_use]
    pub fn with(mut self, Omitted { date, factor, offset }: &Omitted) -> Self {
        let units = if date.is_empty() { self.units.as_deref() } else { Some(&**date) };
        let offset = (!offset.is_empty()).then(|| format!("from {offset}"));
        let parts = [Some(&**factor), units, offset.as_deref()].into_iter().flatten();
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        self.units = (!parts.is_empty()).then(|| parts.join(" "));
        self
    }

    /// Breaks the label into at most `most` lines of about `room` columns. Cuts the name if necessary, never the units.
    pub fn lines(&self, room: usize, most: usize) -> Vec<String> {
        let all = self.to_string();
        let least = if columns(&all) > room { columns(&all) / most } else { room };
        // Several lines get about the same length.
        let whole = (least..room).map(|room| self.wrapped(room, most)).find(|(_, is_cut)| !is_cut);
        whole.unwrap_or_else(|| self.wrapped(room, most)).0
    }

    /// Returns the lines, and whether any is cut or too long.
    fn wrapped(&self, room: usize, most: usize) -> (Vec<String>, bool) {
        let mut is_cut = false;
        let units = self.units.as_ref().map_or_else(String::new, |units| format!("[{units}]"));
        // Reserves room for the units in the last line.
        let kept = if units.is_empty() { 0 } else { columns(&units) + 1 };
        let mut lines = vec![String::new()];
        let mut words: Vec<&str> = self.name.split_whitespace().rev().collect();
        while let Some(word) = words.pop() {
            let is_last = lines.len() == most;
            let room = if is_last { room.saturating_sub(kept) } else { room };
            let Some(line) = lines.last_mut() else { break };
            let gap = usize::from(!line.is_empty());
            if columns(line) + gap + columns(word) <= room {
                line.push_str(if gap > 0 { " " } else { "" });
                line.push_str(word);
            } else if is_last {
                words.reverse();
                let all = [&[&**line, word][..], &words].concat().join(" ");
                *line = fit(all.trim(), room);
                is_cut = true;
                break;
            } else if gap == 0 {
                *line = fit(word, room);
                is_cut = true;
            } else {
                words.push(word);
                lines.push(String::new());
            }
        }
        let is_full = lines.len() == most;
        match lines.last_mut() {
            _ if units.is_empty() => {}
            Some(line) if line.is_empty() => *line = units,
            Some(line) if is_full || columns(line) + kept <= room => {
                line.push(' ');
                line.push_str(&units);
            }
            _ => lines.push(units),
        }
        is_cut |= lines.iter().any(|line| columns(line) > room);
        (lines, is_cut)
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.wrapped(usize::MAX, 1).0.concat())
    }
}

/// Formats the position of a slice in the dimensions with a single index: `depth = 10 m, northward`.
pub fn place(fixed: &[FixedAxis]) -> String {
    let one = |axis: &FixedAxis| {
        if let Some(label) = &axis.label {
            return escape(label).to_string();
        }
        let name = axis.name.as_ref().map(|name| escape(name).to_string());
        let (Some(name), Some(position)) = (&name, axis.position) else {
            return [name.as_deref(), Some("index"), Some(&axis.index.to_string())]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ");
        };
        let coordinate = axis.coordinate.as_ref();
        let date = array::dates(coordinate).and_then(|dates| dates.exact(position));
        let units = attribute_text(coordinate, "units").and_then(typeset);
        match (date, units) {
            (Some(date), _) => format!("{name} = {}", shortened(&date)),
            (None, Some(units)) => format!("{name} = {} {units}", digits(position, 6)),
            (None, None) => format!("{name} = {}", digits(position, 6)),
        }
    };
    fixed.iter().map(|axis| fit(&one(axis), MOST_NAME)).collect::<Vec<_>>().join(", ")
}

/// Formats a date and time without trailing zeros: `2024-06-03 12:00 UTC`, `2024-06-03`.
pub fn shortened(date: &str) -> String {
    let date = date.trim_end_matches('Z').trim_end_matches(":00");
    match date.strip_suffix("T00") {
        Some(day) => day.to_owned(),
        None if !date.contains('T') => date.to_owned(),
        // An hour is shown with minutes.
        None if date.len() == 13 => format!("{}:00 UTC", date.replace('T', " ")),
        None => format!("{} UTC", date.replace('T', " ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_never_cut() {
        let label = Label {
            name: "frequency, positive where the current turns counterclockwise".to_owned(),
            units: Some("day⁻¹".to_owned()),
        };
        assert_eq!(label.lines(80, 2).len(), 1);
        assert_eq!(
            label.lines(40, 2),
            ["frequency, positive where the current", "turns counterclockwise [day⁻¹]"]
        );
        assert_eq!(label.lines(20, 1), ["frequency,… [day⁻¹]"]);
        assert_eq!(label.lines(2, 1), ["[day⁻¹]"]);
        assert_eq!(label.lines(66, 2).concat().matches("[day⁻¹]").count(), 1);
        for room in 0..80 {
            for most in 1..3 {
                let lines = label.lines(room, most);
                assert!(lines.len() <= most && lines.concat().ends_with("[day⁻¹]"), "{lines:?}");
            }
        }
    }

    #[test]
    fn dates_have_no_zeros_at_their_end() {
        assert_eq!(shortened("2024-06-03T00:00:00Z"), "2024-06-03");
        assert_eq!(shortened("2024-06-03T12:00:00Z"), "2024-06-03 12:00 UTC");
        assert_eq!(shortened("2024-06-03T00:30:00Z"), "2024-06-03 00:30 UTC");
        assert_eq!(shortened("2024-06-03T00:30:07Z"), "2024-06-03 00:30:07 UTC");
    }
}
