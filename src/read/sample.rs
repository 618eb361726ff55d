//! Samples of an array for pictures: at most one value per pixel, in bounded memory.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::message::Message;
use crate::ndl::{Ndarray, Order, Value};
use crate::path::{escape, file_name};
use crate::pipeline;
use crate::read::open::{Axis, PackedArray};
use crate::read::values::{
    ArrayPart, ArraySelection, Converter, Meaning, Taken, float, float_of, for_each,
    scale_and_offset, without_meaning,
};

/// Size in bytes above which a stored array is not read completely for a picture.
const WHOLE: u64 = 1 << 30;

/// Options for [`PackedArray::sample`]: the part of the array, and the size of the picture.
#[derive(Debug, Clone)]
pub struct SampleOptions {
    /// Part of the array, such as `0:10,:,3`, in the order of its indices.
    pub slice: Option<String>,
    /// Maximum number of columns: points of a line, or cells of a grid from left to right.
    pub columns: usize,
    /// Maximum number of cells of a grid from top to bottom.
    pub rows: usize,
    /// Part of complex numbers; the magnitude if `None`. Real numbers have no part.
    pub part: Option<ComplexPart>,
    /// Whether numbers are those that are stored: without scale and offset, dates, names and missing values.
    pub raw: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self { slice: None, columns: 1024, rows: 1024, part: None, raw: false, jobs: None }
    }
}

/// A real number of a complex number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ComplexPart {
    /// The magnitude.
    Magnitude,
    /// The phase in radians, from −π to π.
    Phase,
}

/// A sample of an array, small enough for a picture.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Sample {
    /// A sample with one dimension, or none.
    Line(Box<Line>),
    /// A sample with two dimensions.
    Grid(Box<Grid>),
}

/// The name and the meaning of the numbers in a sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Quantity {
    /// The name of the array.
    pub name: String,
    /// Its description, if there is one.
    pub description: Option<Ndarray>,
    /// The part that the numbers are of complex numbers; `None` for real numbers.
    pub part: Option<ComplexPart>,
    /// Names of the numbers, for enums and booleans.
    pub names: Vec<(String, i128)>,
    /// Factor and offset that were applied to the stored numbers, if the description has any.
    pub scale_and_offset: Option<(f64, f64)>,
    /// The dimensions at a fixed index, in the order of the shape. Dimensions of length 1 without a name are left out.
    pub fixed: Vec<FixedAxis>,
    /// Whether an element of the sample is infinite; it is not drawn.
    pub has_infinite: bool,
}

/// A dimension at a fixed index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FixedAxis {
    /// Name of the dimension, if the description has one.
    pub name: Option<String>,
    /// The index in the array.
    pub index: u64,
    /// The coordinate at this index, if the pack has it and it is a number.
    pub position: Option<f64>,
    /// Name of this index: a coordinate that is text, or an entry of the array's attribute `components` or `labels`.
    pub label: Option<String>,
    /// Description of the coordinate, if there is one.
    pub coordinate: Option<Ndarray>,
}

/// A sample of an array with one dimension.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Line {
    /// The meaning of the numbers.
    pub quantity: Quantity,
    /// The dimension; `None` for a single number.
    pub axis: Option<SampledAxis>,
    /// A column for each cell of the dimension.
    pub columns: Vec<Column>,
    /// Whether a manifest confirms the elements.
    pub verified: bool,
}

/// The elements in one column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Column {
    /// The elements with the first, the smallest, the largest and the last finite value, each once, in the order of the
    /// selected part. Empty if there are no finite values.
    pub points: Vec<Point>,
    /// Whether an element is missing or not finite.
    pub has_gap: bool,
}

/// An element of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// The coordinate of the element, which may be NaN. Its index in the array if the pack has no coordinates that are
    /// numbers.
    pub position: f64,
    /// The finite value of the element.
    pub value: f64,
}

/// A sample of an array with two dimensions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Grid {
    /// The meaning of the numbers.
    pub quantity: Quantity,
    /// The first dimension.
    pub rows: SampledAxis,
    /// The second dimension.
    pub columns: SampledAxis,
    /// The cells, row by row; NaN if a cell has no finite element.
    pub cells: Vec<f64>,
    /// Whether each cell is one element near its middle; otherwise it is the mean of its finite elements.
    pub is_nearest: bool,
    /// Whether a manifest confirms the elements.
    pub verified: bool,
}

/// A dimension of a sample. Each cell covers `step` consecutive elements of the selected part; the last cell covers the
/// rest.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SampledAxis {
    /// Name of the dimension, if the description has one.
    pub name: Option<String>,
    /// Number of elements in the selected part.
    pub extent: u64,
    /// Number of cells.
    pub cells: usize,
    /// Number of elements in each cell.
    pub step: u64,
    /// Index in the array of an element near the middle of each cell.
    pub indices: Vec<u64>,
    /// Coordinates of these elements, if the pack has them and they are numbers.
    pub positions: Option<Vec<f64>>,
    /// Description of the coordinate, if there is one.
    pub coordinate: Option<Ndarray>,
}

/// The elements of a column that are drawn, each as its number in the order of the file and its value: the first, the
/// smallest, the largest and the last.
#[derive(Debug, Clone, Copy, Default)]
struct Extremes {
    drawn: Option<[(u64, f64); 4]>,
    has_gap: bool,
}

impl Extremes {
    fn add(&mut self, nth: u64, number: f64) {
        if !number.is_finite() {
            self.has_gap = true;
            return;
        }
        let [_, low, high, last] = self.drawn.get_or_insert([(nth, number); 4]);
        *last = (nth, number);
        if number < low.1 {
            *low = *last;
        }
        if number > high.1 {
            *high = *last;
        }
    }
}

impl PackedArray {
    /// Returns a sample of an array, or of a part of it, for a picture with a limited number of columns and rows.
    ///
    /// A line has the smallest and the largest value in each column, so that no peak is lost; every element is read. A
    /// grid has the mean in each cell. It has one element per cell for enums and phases, and for stored arrays larger
    /// than 1 GiB, of which only these elements are read. Missing values are NaN (see [`statistics`](Self::statistics)).
    /// [`scale_and_offset`](crate::read::scale_and_offset) is applied to stored numbers and to coordinates. If there
    /// are more than two dimensions, those of length 1 are left out.
    ///
    /// ```
    /// # fn main() -> ra_pack::Result<()> {
    /// use ra_pack::Pack;
    /// use ra_pack::read::Sample;
    ///
    /// let pack = Pack::open("examples/experiment")?;
    /// let temperature = pack.array("thermistors/temperature.ra")?;
    /// let Sample::Grid(grid) = temperature.sample(&Default::default())? else {
    ///     panic!("it has two dimensions");
    /// };
    /// assert_eq!((grid.rows.cells, grid.columns.cells), (10, 149));
    /// let time = grid.columns.coordinate.expect("it is described");
    /// assert_eq!(time.attribute("standard_name").and_then(|name| name.as_str()), Some("time"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`PackedArray::read`]; [`Error::Slice`] or [`Error::SliceText`] if the slice does not fit;
    /// [`Error::Options`] if more than two dimensions remain (the message suggests a slice); [`Error::Unsupported`] if
    /// elements are not numbers, or if real numbers have no such part.
    pub fn sample(&self, options: &SampleOptions) -> Result<Sample> {
        let part = ArrayPart::new(self, options.slice.as_deref())?;
        let (converter, quantity) = converter(&part, options.part, options.raw)?;
        let shown = shown(&part);
        if shown.len() > 2 {
            return Err(too_many(&part, options.slice.as_deref()));
        }
        let (rows, columns) = (options.rows.max(1), options.columns.max(1));
        let mut axes = self.axes()?;
        if part.order == Order::Row {
            axes.reverse();
        }
        let jobs = pipeline::jobs(options.jobs);
        let mut sampler = Sampler { part, axes, converter, quantity, jobs };
        sampler.quantity.fixed = sampler.fixed(&shown)?;
        match *shown.as_slice() {
            [down, across] => sampler.grid((down, rows), (across, columns)),
            _ => sampler.line(shown.first().copied(), columns),
        }
    }

    /// Returns a slice that leaves the two dimensions that suit a picture best, in the order of the indices; `None` if
    /// the array has at most two dimensions.
    ///
    /// Dimensions of length 1 at the end are not in the slice. Dimensions with named indices, and short dimensions without a name among named ones, are fixed at their first
    /// index. Then time is fixed at its middle, then all but longitude and latitude, and then the shorter of the others.
    ///
    /// ```
    /// # fn main() -> ra_pack::Result<()> {
    /// let pack = ra_pack::Pack::open("examples/experiment")?;
    /// let velocity = pack.array("currents/velocity.ra")?;
    /// assert_eq!(velocity.picture_slice()?.as_deref(), Some("0,:,:"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Array`], [`Error::Damaged`] or [`Error::Io`] if the array or a description cannot be read.
    pub fn picture_slice(&self) -> Result<Option<String>> {
        let axes = self.axes()?;
        if axes.iter().filter(|axis| axis.extent != 1).count() <= 2 {
            return Ok(None);
        }
        let description = self.description()?;
        let has_names = axes.iter().any(|axis| axis.name.is_some());
        let is_component = |axis: &Axis| {
            let is_short = axis.name.is_none() && axis.extent <= MOST_COMPONENTS;
            has_names && is_short || names(axis, description.as_ref()).is_some()
        };
        let rank = |axis: &Axis| {
            let kind = u8::from(is_time(axis)) + 2 * u8::from(is_component(axis));
            (axis.extent == 1, kind, !is_horizontal(axis), std::cmp::Reverse(axis.extent))
        };
        let mut best: Vec<(usize, &Axis)> = axes.iter().enumerate().collect();
        best.sort_by_key(|(_, axis)| rank(axis));
        best.truncate(2);
        let part = |(nth, axis): (usize, &Axis)| match axis {
            _ if best.iter().any(|(kept, _)| *kept == nth) => ":".to_owned(),
            component if is_component(component) => "0".to_owned(),
            other => (other.extent / 2).to_string(),
        };
        // A slice may end early. Dimensions of length 1 are left out of the picture.
        let count = axes.iter().rposition(|axis| axis.extent != 1).map_or(0, |last| last + 1);
        Ok(Some(axes.iter().take(count).enumerate().map(part).collect::<Vec<_>>().join(",")))
    }
}

/// Maximum length of an unnamed dimension that is taken for components, such as those of a vector or a colour.
const MOST_COMPONENTS: u64 = 4;

/// Returns whether a dimension is time, according to the description of its coordinate or its name.
fn is_time(axis: &Axis) -> bool {
    let attribute = |name| axis.described().and_then(|found| found.attribute(name)?.as_str());
    axis.name.as_deref() == Some("time")
        || attribute("standard_name") == Some("time")
        || attribute("axis") == Some("T")
        || attribute("units").is_some_and(|units| units.contains(" since "))
}

/// Returns whether a dimension is longitude or latitude, or another direction on a map, according to the description of
/// its coordinate.
fn is_horizontal(axis: &Axis) -> bool {
    let attribute = |name| axis.described().and_then(|found| found.attribute(name)?.as_str());
    matches!(attribute("axis"), Some("X" | "Y"))
        || attribute("units").is_some_and(|units| matches!(units, "degrees_north" | "degrees_east"))
}

/// Attributes that name the indices of a dimension without a coordinate.
const NAMES: [&str; 2] = ["components", "labels"];

/// Returns the names of the indices of a dimension: its coordinate if it is text, or, without a coordinate, an
/// attribute of the array with the same number of names.
fn names<'d>(axis: &'d Axis, description: Option<&'d Ndarray>) -> Option<&'d [Value]> {
    let own = match &axis.coordinate {
        Some(coordinate) => coordinate.description.as_ref()?.value.as_ref(),
        None => description.and_then(|found| NAMES.iter().find_map(|name| found.attribute(name))),
    };
    let Value::List(names) = own? else { return None };
    let is_each = names.len() as u64 == axis.extent && names.iter().all(|it| it.as_str().is_some());
    is_each.then_some(names)
}

fn converter(
    part: &ArrayPart<'_>,
    of: Option<ComplexPart>,
    raw: bool,
) -> Result<(Converter, Quantity)> {
    let refused = |what: &str| {
        Error::unsupported(format!("`{}`: cannot plot {what}", escape(part.array.name())))
    };
    let last = file_name(part.array.name());
    let mut quantity = Quantity {
        name: last.strip_suffix(".ra").unwrap_or(last).to_owned(),
        description: part
            .description
            .clone()
            .map(|found| if raw { without_meaning(found) } else { found }),
        part: None,
        names: Vec::new(),
        scale_and_offset: None,
        fixed: Vec::new(),
        has_infinite: false,
    };
    let element = part.header.element();
    let meaning = Meaning::new(element, quantity.description.as_ref(), raw);
    let converter = match (meaning, of) {
        (Meaning::Magnitudes(_), Some(ComplexPart::Phase)) => {
            quantity.part = of;
            Converter::of_phases(element).expect("elements with a magnitude are complex")
        }
        (Meaning::Magnitudes(converter), _) => {
            quantity.part = Some(ComplexPart::Magnitude);
            converter
        }
        (_, Some(_)) => {
            return Err(refused(&format!("a part of `{element}`, which is not complex")));
        }
        (Meaning::Numbers(converter), None) => {
            quantity.scale_and_offset = quantity.description.as_ref().and_then(scale_and_offset);
            converter
        }
        (Meaning::Names(element, names), None) => {
            let converter = Converter::of_names(element, quantity.description.as_ref(), &names);
            quantity.names = names;
            converter.ok_or_else(|| refused(&format!("names of `{element}`")))?
        }
        (Meaning::Other(what), None) => return Err(refused(&what)),
    };
    Ok((converter, quantity))
}

/// A dimension that is shown, with its number in the file.
#[derive(Debug, Clone, Copy)]
struct ShownAxis {
    of_file: usize,
    taken: Taken,
}

/// Returns the dimensions that a slice leaves, in the order of the shape. Those of length 1 are dropped if there are
/// more than two.
fn shown(part: &ArrayPart<'_>) -> Vec<ShownAxis> {
    let all = part.kept().into_iter();
    let mut all: Vec<_> = all.map(|(of_file, taken)| ShownAxis { of_file, taken }).collect();
    if all.len() > 2 {
        all.retain(|axis| axis.taken.count != 1);
    }
    all
}

/// Makes the error for too many dimensions, with a slice that leaves two.
fn too_many(part: &ArrayPart<'_>, slice: Option<&str>) -> Error {
    let proposed = match part.array.picture_slice() {
        Ok(proposed) => proposed.unwrap_or_default(),
        Err(error) => return error,
    };
    let shape = crate::pack::shape_of(part.header.dims(), part.order);
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    let after =
        slice.map_or_else(String::new, |slice| format!(" and `{slice}` leaves more than two"));
    let problem = format!(
        "`{}` has {} dimensions ({}){after}; select two, for example with ",
        escape(part.array.name()),
        shape.len(),
        extents.join(" x "),
    );
    Error::options(Message::from(problem).option(("slice", format!("'{proposed}'"))))
}

/// Returns the number of elements in each cell, and the number of cells, for at most `most` cells.
fn cells(extent: u64, most: usize) -> (u64, usize) {
    let step = extent.div_ceil(most as u64).max(1);
    (step, usize::try_from(extent.div_ceil(step)).expect("there are at most `most` cells"))
}

/// Returns the elements in the middle of the cells. In the last cell, the element continues the regular distance.
fn middles(taken: Taken, step: u64) -> Taken {
    let Some(last) = taken.count.checked_sub(1) else { return taken };
    taken.part(((step - 1) / 2).min(last % step), step, taken.count.div_ceil(step))
}

/// The cells along one dimension, for elements in the order of the file.
struct CellAxis {
    /// Number of elements in the dimension, and in each cell except the last.
    count: u64,
    step: u64,
    is_flipped: bool,
    /// The distance between the cells in the picture.
    stride: usize,
}

impl CellAxis {
    /// Returns the cell of an element, and the number of elements in the cell from that one on.
    fn cell(&self, nth: u64) -> (usize, u64) {
        let left = self.count - nth;
        let (cell, len) = if self.is_flipped {
            ((left - 1) / self.step, (left - 1) % self.step + 1)
        } else {
            (nth / self.step, left.min(self.step - nth % self.step))
        };
        (usize::try_from(cell).expect("the cells are in memory") * self.stride, len)
    }
}

/// An array to sample.
struct Sampler<'a> {
    part: ArrayPart<'a>,
    /// The dimensions in the order of the file.
    axes: Vec<Axis>,
    converter: Converter,
    quantity: Quantity,
    jobs: usize,
}

impl Sampler<'_> {
    fn axis(&self, of_file: usize) -> &Axis {
        self.axes.get(of_file).expect("the dimensions are those of the header")
    }

    /// Returns the dimensions that are not shown, in the order of the shape.
    fn fixed(&self, shown: &[ShownAxis]) -> Result<Vec<FixedAxis>> {
        let all = self.part.selection.axes().iter().enumerate();
        let description = self.part.description.as_ref();
        let is_fixed = |of_file: usize| {
            let axis = self.axis(of_file);
            let is_known =
                axis.extent != 1 || axis.name.is_some() || names(axis, description).is_some();
            is_known && shown.iter().all(|axis| axis.of_file != of_file)
        };
        let fixed = |(of_file, taken): (usize, &Taken)| {
            let axis = self.axis(of_file);
            let name_of = |names: &[Value]| {
                let name = names.get(usize::try_from(taken.first).ok()?)?;
                name.as_str().map(str::to_owned)
            };
            Ok(FixedAxis {
                name: axis.name.clone(),
                index: taken.first,
                position: self
                    .positions(axis, *taken, |_| true)?
                    .and_then(|all| all.first().copied()),
                label: names(axis, description).and_then(name_of),
                coordinate: axis.described().cloned(),
            })
        };
        let mut all =
            all.filter(|(nth, _)| is_fixed(*nth)).map(fixed).collect::<Result<Vec<_>>>()?;
        if self.part.order == Order::Row {
            all.reverse();
        }
        Ok(all)
    }

    /// Returns a dimension of the sample.
    fn describe(&self, shown: ShownAxis, most: usize) -> Result<SampledAxis> {
        let (step, cells) = cells(shown.taken.count, most);
        let middles = middles(shown.taken, step);
        let mut indices: Vec<u64> = (0..middles.count).map(|nth| middles.nth(nth)).collect();
        let axis = self.axis(shown.of_file);
        let mut positions = self.positions(axis, middles, |_| true)?;
        if shown.taken.is_flipped {
            indices.reverse();
            if let Some(positions) = &mut positions {
                positions.reverse();
            }
        }
        let (name, extent) = (axis.name.clone(), shown.taken.count);
        let coordinate = axis.described().cloned();
        Ok(SampledAxis { name, extent, cells, step, indices, positions, coordinate })
    }

    /// Returns the coordinates of the wanted ones of some elements along a dimension, if they are numbers.
    fn positions(
        &self,
        axis: &Axis,
        taken: Taken,
        mut is_wanted: impl FnMut(u64) -> bool,
    ) -> Result<Option<Vec<f64>>> {
        let Some(coordinate) = &axis.coordinate else { return Ok(None) };
        let description = coordinate.description.as_ref();
        if let Some(member) = &coordinate.member {
            let array = self.part.array.pack().array(member)?;
            let part = ArrayPart::new(&array, None)?;
            let Meaning::Numbers(converter) = part.meaning() else { return Ok(None) };
            let selection = part.selection.with_axes(vec![taken]);
            let (mut all, mut nths) = (Vec::new(), 0..);
            let look = |block: &[u8]| converter.convert(block).numbers;
            for_each(&array, &selection, 1, look, |numbers| {
                let wanted = numbers.iter().zip(&mut nths).filter(|(_, nth)| is_wanted(*nth));
                all.extend(wanted.map(|(number, _)| *number));
            })?;
            return Ok(Some(all));
        }
        let Some(Value::List(list)) = description.and_then(|found| found.value.as_ref()) else {
            return Ok(None);
        };
        let (factor, offset) = description.and_then(scale_and_offset).unwrap_or((1.0, 0.0));
        let number = |nth| {
            let value = list.get(usize::try_from(taken.nth(nth)).ok()?)?;
            Some(float_of(value)? * factor + offset)
        };
        Ok((0..taken.count).filter(|nth| is_wanted(*nth)).map(number).collect())
    }

    /// Passes the elements of a selection to `add`, cell by cell in the order of the file. Returns whether a manifest
    /// confirms them.
    fn fill(
        &self,
        array: &PackedArray,
        selection: &ArraySelection,
        (fast, slow): (&CellAxis, &CellAxis),
        mut add: impl FnMut(usize, &[f64]),
    ) -> Result<bool> {
        let mut at = 0;
        let look = |block: &[u8]| self.converter.convert(block).numbers;
        for_each(array, selection, self.jobs, look, |numbers| {
            let mut numbers = numbers.as_slice();
            while !numbers.is_empty() {
                let (cell, len) = fast.cell(at % fast.count);
                let len = usize::try_from(len).map_or(numbers.len(), |len| len.min(numbers.len()));
                let now;
                (now, numbers) = numbers.split_at(len);
                add(cell + slow.cell(at / fast.count).0, now);
                at += len as u64;
            }
        })
    }

    fn line(mut self, shown: Option<ShownAxis>, most: usize) -> Result<Sample> {
        let axis = shown.map(|shown| self.describe(shown, most)).transpose()?;
        let (step, cells) = axis.as_ref().map_or((1, 1), |axis| (axis.step, axis.cells));
        let is_flipped = shown.is_some_and(|shown| shown.taken.is_flipped);
        let mut columns = vec![Extremes::default(); cells];
        let selection = &self.part.selection;
        let fast = CellAxis { count: selection.elements(), step, is_flipped, stride: 1 };
        let slow = CellAxis { count: 1, step: 1, is_flipped: false, stride: 0 };
        let (mut nths, mut has_infinite) = (0.., false);
        let verified = self.fill(self.part.array, selection, (&fast, &slow), |cell, numbers| {
            let column = columns.get_mut(cell).expect("every element has a column");
            for (number, nth) in numbers.iter().zip(&mut nths) {
                column.add(nth, *number);
                has_infinite |= number.is_infinite();
            }
        })?;
        self.quantity.has_infinite = has_infinite;
        let drawn = columns.iter().filter_map(|column| column.drawn).flatten();
        let drawn: BTreeMap<u64, f64> = drawn.collect();
        let positions = match shown {
            Some(shown) => {
                let mut wanted = drawn.keys().peekable();
                let is_wanted = |nth| wanted.next_if_eq(&&nth).is_some();
                let stated = self.positions(self.axis(shown.of_file), shown.taken, is_wanted)?;
                let index = |nth: &u64| float(shown.taken.nth(*nth));
                stated.unwrap_or_else(|| drawn.keys().map(index).collect())
            }
            None => vec![0.0; drawn.len()],
        };
        let positions: BTreeMap<&u64, f64> = drawn.keys().zip(positions).collect();
        let column = |Extremes { drawn, has_gap }: Extremes| {
            let each: BTreeMap<u64, f64> = drawn.into_iter().flatten().collect();
            let point = |(nth, value): (&u64, &f64)| {
                let position = positions.get(nth).copied().unwrap_or(f64::NAN);
                Point { position, value: *value }
            };
            let mut points: Vec<Point> = each.iter().map(point).collect();
            if is_flipped {
                points.reverse();
            }
            Column { points, has_gap }
        };
        let columns = columns.into_iter().map(column).collect();
        Ok(Sample::Line(Box::new(Line { quantity: self.quantity, axis, columns, verified })))
    }

    fn grid(
        mut self,
        (down, most_rows): (ShownAxis, usize),
        (across, most_columns): (ShownAxis, usize),
    ) -> Result<Sample> {
        let (rows, columns) =
            (self.describe(down, most_rows)?, self.describe(across, most_columns)?);
        let part = &self.part;
        let is_large = part.selection.bytes() > WHOLE && part.array.is_placed()?;
        // A mean of names or phases has no meaning: the middle of −3 and 3 is 0, the opposite phase.
        let has_mean =
            self.quantity.names.is_empty() && self.quantity.part != Some(ComplexPart::Phase);
        let is_nearest = rows.step.max(columns.step) > 1 && (is_large || !has_mean);
        let mut axes = part.selection.axes().to_vec();
        let mut lane = |shown: ShownAxis, step: u64, stride| {
            let taken = axes.get_mut(shown.of_file).expect("the number is that of a dimension");
            if is_nearest {
                *taken = middles(shown.taken, step);
            }
            let step = if is_nearest { 1 } else { step };
            CellAxis { count: taken.count, step, is_flipped: taken.is_flipped, stride }
        };
        let row = lane(down, rows.step, columns.cells);
        let column = lane(across, columns.step, 1);
        // In the order of the file, either can be the faster one.
        let lanes = if down.of_file < across.of_file { (&row, &column) } else { (&column, &row) };
        let mut sums = vec![(0.0, 0_u64); rows.cells * columns.cells];
        let mut has_infinite = false;
        // A proof of scattered elements would read the whole file.
        let is_sparse = is_nearest && is_large;
        let array = part.array.clone();
        let array = if is_sparse { array.unverified() } else { array };
        let selection = part.selection.with_axes(axes);
        let verified = self.fill(&array, &selection, lanes, |cell, numbers| {
            let (sum, count) = sums.get_mut(cell).expect("every element has a cell");
            for number in numbers.iter().filter(|number| number.is_finite()) {
                *sum += number;
                *count += 1;
            }
            has_infinite |= numbers.iter().any(|number| number.is_infinite());
        })?;
        self.quantity.has_infinite = has_infinite;
        // A sum that overflows stays infinite after the division.
        let mean = |(sum, count): (f64, u64)| {
            if count == 0 { f64::NAN } else { sum / float(count) }
        };
        let cells = sums.into_iter().map(mean).collect();
        let quantity = self.quantity;
        Ok(Sample::Grid(Box::new(Grid { quantity, rows, columns, cells, is_nearest, verified })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_cover_all_elements_and_contain_their_middles() {
        for extent in 1..60 {
            for most in 1..20 {
                let (step, cells) = cells(extent, most);
                let count = u64::try_from(cells).unwrap();
                assert!(cells <= most && step * count >= extent);
                let middles = middles(Taken::all(extent), step);
                assert_eq!(middles.count, count);
                for nth in 0..middles.count {
                    let index = middles.first + nth * middles.step;
                    assert!(index >= nth * step && index < ((nth + 1) * step).min(extent));
                }
            }
        }
        assert_eq!(cells(0, 10), (1, 0));
    }
}
