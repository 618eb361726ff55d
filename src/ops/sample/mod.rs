//! What a picture of an array needs: no more columns and cells than it has pixels, in bounded memory.

mod axis;
mod grid;
mod line;

use super::open::PackedArray;
use super::values::{Converter, Meaning, Part};
use crate::error::{Error, Result};
use crate::ndl::Ndarray;
use crate::pipeline;

pub use self::axis::SampledAxis;
pub use self::grid::{Grid, GridMethod};
pub use self::line::{Column, Line};

/// What to take.
#[derive(Debug, Clone)]
pub struct SampleOptions {
    /// The part of the array, as in `0:10,:,3`, in the order of its indices.
    pub slice: Option<String>,
    /// Most columns: points of a line, cells of a grid from left to right.
    pub columns: usize,
    /// Most cells of a grid from top to bottom.
    pub rows: usize,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self { slice: None, columns: 1024, rows: 1024, jobs: None }
    }
}

/// A picture's worth of an array.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Sample {
    /// Of one dimension, or none.
    Line(Box<Line>),
    /// Of two dimensions.
    Grid(Box<Grid>),
}

/// What the numbers of a sample are.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Quantity {
    /// The name of the array.
    pub name: String,
    /// Its description, when there is one.
    pub description: Option<Ndarray>,
    /// Whether the numbers are the magnitudes of complex ones.
    pub is_magnitude: bool,
    /// The names of the numbers, when they are those of an enum or truth values.
    pub names: Vec<(String, i128)>,
}

impl Quantity {
    /// The text of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        text_attribute(self.description.as_ref()?, name)
    }
}

fn text_attribute<'d>(description: &'d Ndarray, name: &str) -> Option<&'d str> {
    let mut attributes = description.attributes.iter();
    attributes.find(|attribute| attribute.name == name)?.value.as_str()
}

impl PackedArray<'_> {
    /// As much of an array, or of a part of it, as a picture of so many columns and rows can show.
    ///
    /// A line gets the least and the greatest value in each column, so that no spike is lost; every element
    /// is looked at. A grid gets the mean in each cell, or one of its elements where the names of an enum
    /// have no mean, and where an array is stored and larger than 1 GiB: of that, only what is
    /// shown is read. What is missing by the description is NaN (see [`statistics`](Self::statistics)).
    /// Dimensions of one element are left out when there are more than two.
    ///
    /// ```
    /// # fn main() -> ra_pack::Result<()> {
    /// use ra_pack::{Pack, Sample};
    ///
    /// let pack = Pack::open("examples/experiment")?;
    /// let temperature = pack.array("thermistors/temperature.ra")?;
    /// let Sample::Grid(grid) = temperature.sample(&Default::default())? else {
    ///     panic!("it has two dimensions");
    /// };
    /// assert_eq!((grid.rows.cells, grid.columns.cells), (10, 149));
    /// assert_eq!(grid.columns.attribute("standard_name"), Some("time"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When the array cannot be read, the slice does not fit it, it leaves more than two dimensions (the
    /// message proposes one that does not), or elements are no numbers.
    pub fn sample(&self, options: &SampleOptions) -> Result<Sample> {
        let part = Part::new(self, options.slice.as_deref())?;
        let jobs = pipeline::jobs(options.jobs);
        let (converter, quantity) = converter(&part)?;
        let shown = axis::shown(&part);
        let columns = options.columns.max(1);
        match *shown.as_slice() {
            [] => line::sample(&part, &converter, quantity, None, columns, jobs)
                .map(|line| Sample::Line(Box::new(line))),
            [axis] => line::sample(&part, &converter, quantity, Some(axis), columns, jobs)
                .map(|line| Sample::Line(Box::new(line))),
            [down, across] => {
                let most = (options.rows.max(1), columns);
                grid::sample(&part, &converter, quantity, (down, across), most, jobs)
                    .map(|grid| Sample::Grid(Box::new(grid)))
            }
            _ => Err(axis::too_many(&part, options.slice.as_deref())),
        }
    }
}

fn converter(part: &Part<'_>) -> Result<(Converter, Quantity)> {
    let refused = |what: &str| {
        Error::Unsupported(format!(
            "`{}`: there is no picture of {what}",
            crate::path::escape(part.array.name())
        ))
    };
    let mut quantity = Quantity {
        name: member_name(part.array.name()).to_owned(),
        description: part.description.clone(),
        is_magnitude: false,
        names: Vec::new(),
    };
    let converter = match part.meaning() {
        Meaning::Numbers(converter) => converter,
        Meaning::Magnitudes(converter) => {
            quantity.is_magnitude = true;
            converter
        }
        Meaning::Names(element, names) => {
            quantity.names = names;
            Converter::of_names(element).ok_or_else(|| refused(&format!("names of `{element}`")))?
        }
        Meaning::Other(what) => return Err(refused(&what)),
    };
    Ok((converter, quantity))
}

fn member_name(member: &str) -> &str {
    let last = member.rsplit('/').next().unwrap_or(member);
    last.strip_suffix(".ra").unwrap_or(last)
}

/// The least and the greatest finite one of some numbers.
fn range(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let mut finite = numbers.filter(|number| number.is_finite());
    let first = finite.next()?;
    Some(finite.fold((first, first), |(low, high), number| (low.min(number), high.max(number))))
}
