//! Selection by coordinates: `time=2024-06-03,depth=10` as a slice.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::message::Message;
use crate::ndl::{Value, nearest};
use crate::pack::ARRAY_EXTENSION;
use crate::path::escape;
use crate::ra::ElementType;
use crate::read::open::{Axis, PackedArray};
use crate::read::values::{
    ArrayPart, Decoded, Decoder, Meaning, Number, Scaling, float_of, for_each, meant_type,
    read_present, scaled, time_of, time_units,
};
use crate::time::TimeUnits;

/// Why the number of a dimension is an index.
const FOUND: &str = "the dimension was found by its name";

/// A coordinate value that can be compared with the others of its dimension.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
enum Label {
    /// The nearest float, and what an integer has more than it.
    Number(f64, i128),
    /// Nanoseconds, as [`TimeUnits`] counts them.
    Time(i128),
    Text(String),
}

impl Label {
    #[expect(clippy::cast_possible_truncation, reason = "the float is the nearest to an integer")]
    fn of_number(number: Number) -> Self {
        let float = number.to_f64();
        let rest = number.to_integer().map_or(0, |whole| whole.saturating_sub(float as i128));
        Self::Number(float, rest)
    }

    /// Returns the distance to another value; `None` for texts and if it is not a number.
    fn distance(&self, other: &Self) -> Option<f64> {
        let distance = match (self, other) {
            (Self::Number(one, rest), Self::Number(two, more)) => {
                (one - two + Number::Int(rest - more).to_f64()).abs()
            }
            (Self::Time(one), Self::Time(two)) => Number::UInt(one.abs_diff(*two)).to_f64(),
            _ => return None,
        };
        (!distance.is_nan()).then_some(distance)
    }
}

/// The values of a coordinate. `None` is a missing value, which nothing selects.
struct Labels {
    all: Vec<Option<Label>>,
    units: Option<TimeUnits>,
    /// Whether numbers are to be rounded as those of the coordinate are.
    is_single: bool,
}

/// The first and the last label that a text means: `2024-06` is all of a month.
type Meant = (Label, Label);

impl Labels {
    /// Reads the values of the coordinate of a dimension; `None` if there are none that can be selected.
    fn read(array: &PackedArray, axis: &Axis) -> Result<Option<Self>> {
        let Some(coordinate) = &axis.coordinate else { return Ok(None) };
        let description = coordinate.description.as_ref();
        let units = description.and_then(time_units);
        let scaling = |element| Scaling::of(element, description);
        let mut labels = Self { all: Vec::new(), units, is_single: false };
        if let Some(member) = &coordinate.member {
            let values = array.pack().array(member)?;
            let part = ArrayPart::new(&values, None)?;
            let element = meant_type(part.header.element(), part.description.as_ref());
            let meaning = part.meaning();
            if let Meaning::Other(_) = meaning {
                return Self::texts(&values, &part);
            }
            let (is_number, scaling) = (matches!(meaning, Meaning::Numbers(_)), scaling(element));
            let read = read_present(element, part.description.as_ref()).filter(|_| is_number);
            let Some(read) = read else { return Ok(None) };
            labels.is_single = scaling.map_or(element == ElementType::FLOAT32, |it| it.is_single);
            let width = usize::try_from(element.elbyte()).expect("elements of numbers are small");
            let numbers = |block: &[u8]| block.chunks_exact(width).map(&read).collect::<Vec<_>>();
            let mut all = Vec::new();
            for_each(&values, &part.selection, 1, numbers, |numbers| all.extend(numbers))?;
            let label = |(number, is_missing): (_, bool)| {
                labels.label(number, scaling).filter(|_| !is_missing)
            };
            labels.all = all.into_iter().map(label).collect();
            return Ok(Some(labels));
        }
        let Some(Value::List(list)) = description.and_then(|found| found.value.as_ref()) else {
            return Ok(None);
        };
        labels.all = list
            .iter()
            .map(|value| match value {
                Value::String(text) => Some(Label::Text(text.clone())),
                value => {
                    let number = value.as_integer().map(Number::Int);
                    let number = number.or_else(|| float_of(value).map(Number::Float64));
                    labels.label(number?, scaling(ElementType::FLOAT64))
                }
            })
            .collect();
        Ok(Some(labels))
    }

    /// Reads the labels of a coordinate that is text; `None` for other elements.
    fn texts(values: &PackedArray, part: &ArrayPart<'_>) -> Result<Option<Self>> {
        let decoder = Decoder::new(part.header.element(), part.description.as_ref(), false);
        let decode = |block: &[u8]| -> Vec<_> {
            block.chunks_exact(decoder.elbyte()).map(|element| decoder.decode(element)).collect()
        };
        let mut all = Vec::new();
        for_each(values, &part.selection, 1, decode, |block| all.extend(block))?;
        let label = |decoded| match decoded {
            Decoded::Text(text) => Some(Label::Text(text)),
            _ => None,
        };
        let all: Vec<_> = all.into_iter().map(label).collect();
        let has_text = all.iter().any(Option::is_some);
        Ok(has_text.then_some(Self { all, units: None, is_single: false }))
    }

    fn label(&self, number: Number, scaling: Option<Scaling>) -> Option<Label> {
        let number = match scaled(number, scaling) {
            // A product such as 3 × 0.1 has the label that people write.
            Number::Float64(float) if scaling.is_some() => {
                Number::Float64(format!("{float:.14e}").parse().expect("it is a float"))
            }
            number => number,
        };
        if number.to_f64().is_nan() {
            return None;
        }
        match self.units {
            Some(units) => time_of(units, number).map(Label::Time),
            None => Some(Label::of_number(number)),
        }
    }
}

impl Labels {
    /// Returns the labels that a text means.
    fn meant(&self, text: &str) -> Option<Meant> {
        if let Some(units) = self.units {
            let period = units.period(text)?;
            return Some((Label::Time(period.start), Label::Time(period.end - 1)));
        }
        let label = if self.all.iter().flatten().any(|label| matches!(label, Label::Text(_))) {
            Label::Text(text.to_owned())
        } else if let Ok(whole) = text.parse() {
            Label::of_number(Number::Int(whole))
        } else if self.is_single {
            Label::of_number(Number::Float32(text.parse().ok()?))
        } else {
            Label::of_number(Number::Float64(text.parse().ok().filter(|it: &f64| !it.is_nan())?))
        };
        Some((label.clone(), label))
    }

    /// Returns the longest time, in nanoseconds, of which all times are multiples: a day at most.
    fn step(&self) -> i128 {
        const STEPS: [i128; 4] =
            [86_400_000_000_000, 3_600_000_000_000, 60_000_000_000, 1_000_000_000];
        let all = || self.all.iter().flatten();
        let fits = |step: &i128| {
            all().all(|label| matches!(label, Label::Time(time) if time.rem_euclid(*step) == 0))
        };
        STEPS.into_iter().find(fits).unwrap_or(1)
    }

    /// Returns the positions of a range of labels; `None` if the labels are not in order.
    fn range(&self, from: Option<&Meant>, to: Option<&Meant>) -> Option<Range<usize>> {
        let all = self.all.iter().map(Option::as_ref).collect::<Option<Vec<_>>>()?;
        let count =
            |is_before: &dyn Fn(&Label) -> bool| all.partition_point(|label| is_before(label));
        let (start, end) = if all.is_sorted() {
            (
                from.map_or(0, |(low, _)| count(&|label| label < low)),
                to.map_or(all.len(), |(_, high)| count(&|label| label <= high)),
            )
        } else if all.is_sorted_by(|one, next| one >= next) {
            (
                from.map_or(0, |(_, high)| count(&|label| label > high)),
                to.map_or(all.len(), |(low, _)| count(&|label| label >= low)),
            )
        } else {
            return None;
        };
        Some(start..end.max(start))
    }

    /// Returns the label nearest to another, the larger of two.
    fn nearest(&self, wanted: &Label) -> Option<&Label> {
        let labels = self.all.iter().flatten();
        let near = labels.filter_map(|label| Some((label.distance(wanted)?, label)));
        let nearer = |one: (f64, &'_ Label), two: (f64, &'_ Label)| match two.0.total_cmp(&one.0) {
            Ordering::Equal => two.1 > one.1,
            order => order.is_lt(),
        };
        near.reduce(|best, next| if nearer(best, next) { next } else { best })
            .map(|(_, label)| label)
    }

    /// Returns the labels on both sides of another one as text, or the first ones.
    fn near(&self, wanted: &Label) -> Vec<String> {
        let mut all: Vec<&Label> = self.all.iter().flatten().collect();
        if !matches!(wanted, Label::Text(_)) {
            all.sort_by(|one, two| one.partial_cmp(two).expect("no label is NaN"));
            let at = all.partition_point(|label| *label < wanted);
            all = all.split_off(at.saturating_sub(1));
            all.truncate(if at == 0 { 1 } else { 2 });
        }
        all.truncate(6);
        all.into_iter().map(|label| self.text(label)).collect()
    }

    #[expect(clippy::cast_possible_truncation, reason = "the float was one of 4 bytes")]
    fn text(&self, label: &Label) -> String {
        match label {
            Label::Number(number, 0) if self.is_single => {
                Number::Float32(*number as f32).to_string()
            }
            Label::Number(number, 0) => Number::Float64(*number).to_string(),
            Label::Number(number, rest) => (*number as i128).saturating_add(*rest).to_string(),
            Label::Time(time) => {
                let text = self.units.and_then(|units| units.text(*time));
                text.unwrap_or_else(|| time.to_string())
            }
            Label::Text(text) => escape(text).to_string(),
        }
    }

    /// Returns the part of a slice for one value, or a range of two.
    fn select(&self, name: &str, text: &str, is_nearest: bool) -> Result<String> {
        let refused =
            |reason: String| Error::options(format!("dimension `{}`: {reason}", escape(name)));
        let expected = || {
            let expected =
                if self.units.is_some() { "a date such as `2024-06-03T12:00`" } else { "a number" };
            refused(format!("expected {expected}, found `{}`", escape(text)))
        };
        let unordered = || {
            refused("its coordinate neither ascends nor descends, so it has no ranges".to_owned())
        };
        let Some(meant) = self.meant(text).filter(|_| !self.is_range(text)) else {
            let (from, to) = self.ends(text).ok_or_else(expected)?;
            let range = self.range(from.as_ref(), to.as_ref()).ok_or_else(unordered)?;
            return Ok(format!("{}:{}", range.start, range.end));
        };
        let (low, high) = &meant;
        if let (Label::Time(from), Label::Time(to)) = (low, high)
            && !is_nearest
            && to - from >= self.step()
        {
            let range = self.range(Some(&meant), Some(&meant)).ok_or_else(unordered)?;
            if !range.is_empty() {
                return Ok(format!("{}:{}", range.start, range.end));
            }
        }
        let wanted = if is_nearest { self.nearest(low).unwrap_or(low) } else { low };
        let places =
            self.all.iter().enumerate().filter(|(_, label)| label.as_ref() == Some(wanted));
        let places: Vec<String> = places.map(|(at, _)| at.to_string()).collect();
        match &*places {
            [place] => Ok(place.clone()),
            [] => {
                let near = self.near(low);
                let reason = format!(
                    "dimension `{}` has no coordinate `{}`; {} {}; take the nearest with ",
                    escape(name),
                    escape(text),
                    if near.len() == 1 { "the nearest is" } else { "near it are" },
                    near.join(" and "),
                );
                Err(Error::options(Message::from(reason).option("nearest")))
            }
            several => Err(refused(format!(
                "the coordinate `{}` is at the positions {}",
                self.text(wanted),
                several.join(", ")
            ))),
        }
    }

    /// Whether a text is a range rather than one label.
    fn is_range(&self, text: &str) -> bool {
        let is_label = || self.all.contains(&Some(Label::Text(text.to_owned())));
        self.units.is_none() && text.contains(':') && !is_label()
    }

    /// Returns both ends of a range. A colon may also be part of a time.
    fn ends(&self, text: &str) -> Option<(Option<Meant>, Option<Meant>)> {
        text.match_indices(':').find_map(|(at, _)| {
            let end = |text: &str| match text.trim() {
                "" => Some(None),
                text => self.meant(text).map(Some),
            };
            Some((end(text.get(..at)?)?, end(text.get(at + 1..)?)?))
        })
    }
}

impl PackedArray {
    /// Returns the slice of a selection by coordinates, such as `time=2024-06-03,depth=10:50`, in the order of the
    /// indices. All readers take it as their slice.
    ///
    /// Each name is a dimension: its short name, or the path of its coordinate. A value removes its dimension. A range
    /// includes both ends. For times, a date without a time is the whole day, and `2024-06` the whole month, if the
    /// coordinate has finer steps. Dimensions that are not named are taken whole. With `nearest`, a single value selects the nearest
    /// coordinate, and the larger of two equally near ones. Missing coordinates are never selected.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for an unknown dimension, a dimension without coordinate values, a value that is not a
    /// coordinate or is one several times, and a range of a coordinate that neither ascends nor descends. As
    /// [`axes`](Self::axes) and [`read`](Self::read).
    #[expect(clippy::missing_panics_doc, reason = "a dimension that was found has its place")]
    pub fn slice_at(&self, selection: &str, nearest: bool) -> Result<String> {
        let axes = self.axes()?;
        let mut parts = vec![":".to_owned(); axes.len()];
        for part in selection.split(',') {
            let Some((name, value)) = part.split_once('=') else {
                return Err(Error::options(format!(
                    "expected `dimension=value`, such as `depth=10`, found `{}`",
                    escape(part)
                )));
            };
            let at = dimension(&axes, name.trim())?;
            let labels = Labels::read(self, axes.get(at).expect(FOUND))?;
            let Some(labels) = labels.filter(|labels| !labels.all.is_empty()) else {
                let reason = format!(
                    "dimension `{}` has no coordinate values; choose positions with ",
                    escape(name.trim())
                );
                return Err(Error::options(Message::from(reason).option("slice")));
            };
            let chosen = parts.get_mut(at).expect(FOUND);
            if chosen != ":" {
                return Err(Error::options(format!(
                    "dimension `{}` is selected twice",
                    escape(name.trim())
                )));
            }
            *chosen = labels.select(name.trim(), value.trim(), nearest)?;
        }
        Ok(parts.join(","))
    }
}

/// Returns the number of the dimension with a name.
fn dimension(axes: &[Axis], name: &str) -> Result<usize> {
    let stem = |axis: &Axis| {
        let member = axis.coordinate.as_ref()?.member.clone()?;
        Some(member.strip_suffix(&format!(".{ARRAY_EXTENSION}"))?.to_owned())
    };
    let is_it = |axis: &Axis| {
        axis.name.as_deref() == Some(name)
            || stem(axis).as_deref() == Some(name.trim_start_matches('/'))
    };
    let mut found = axes.iter().enumerate().filter(|(_, axis)| is_it(axis));
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at),
        (Some(_), Some(_)) => {
            let reason =
                format!("several dimensions are called `{}`; choose positions with ", escape(name));
            Err(Error::options(Message::from(reason).option("slice")))
        }
        (None, _) => {
            let names: Vec<&str> = axes.iter().filter_map(|axis| axis.name.as_deref()).collect();
            let hint = nearest(name, names.iter().copied())
                .map_or_else(String::new, |near| format!("; did you mean `{}`?", escape(near)));
            let all: Vec<_> = names.iter().map(|name| escape(name).to_string()).collect();
            let all = if all.is_empty() {
                "have no names".to_owned()
            } else {
                format!("are {}", all.join(", "))
            };
            Err(Error::options(format!(
                "the array has no dimension `{}`; its dimensions {all}{hint}",
                escape(name)
            )))
        }
    }
}
