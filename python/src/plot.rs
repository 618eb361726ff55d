//! Pictures of arrays, which are those of the command.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ra_pack::display::plot::color::COLOR_MAPS;
use ra_pack::display::plot::frame::Range;
use ra_pack::display::plot::scene::Scene;
use ra_pack::{Error, PackedArray, Result};

use crate::array::Array;
use crate::cli::plot::{Chart, PARTS, Picture, nothing_in, png_of, range_of};
use crate::errors;
use crate::interrupt::short;
use crate::options::of_word;

/// The drawing of a plot.
#[pyclass(frozen, module = "ra_pack._ra_pack")]
pub(crate) struct Drawing {
    scene: Scene,
    scale: f64,
}

#[pymethods]
impl Drawing {
    fn svg(&self) -> PyResult<String> {
        self.scene.to_svg().map_err(errors::raised)
    }

    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = short(py, || png_of(&self.scene, self.scale))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

#[pymethods]
impl Array {
    /// Draw the array as the command ``ra-pack plot`` does: a line or an image with its coordinates, units and title.
    ///
    /// Parameters
    /// ----------
    /// slice : str, optional
    ///     The part to draw, in the syntax of NumPy: ``"0:10,:,3"``. An array of more than two dimensions needs it.
    /// title : str, optional
    ///     The title; none if empty. By default it is made of the long name, the slice and the name of the array.
    /// log : bool
    ///     Use a logarithmic scale.
    /// transpose : bool
    ///     Exchange the axes.
    /// line : bool
    ///     Draw two dimensions as lines with a legend: one for each index of the shorter one, at most ten.
    /// part : {"magnitude", "phase"}, optional
    ///     The part of complex numbers. By default both are drawn side by side.
    /// raw : bool
    ///     Use numbers as they are stored, without scale and offset, dates, names and missing values.
    /// cmap : str, optional
    ///     The colour map, such as "viridis", "magma", "RdBu" or "twilight". By default the data choose it.
    /// range : tuple of two floats or str, optional
    ///     The lowest and highest value of the colours or the axis, or percentiles such as ``"2%:98%"``.
    /// size : tuple of two ints
    ///     Width and height in units; text is 12 units high.
    /// scale : float
    ///     Pixels per unit of a PNG; use 2 or 3 for print.
    /// jobs : int, optional
    ///     The number of threads; by default one per core.
    ///
    /// Returns
    /// -------
    /// Plot
    ///     The picture, which notebooks show. It can be saved as PNG or SVG.
    ///
    /// Raises
    /// ------
    /// InvalidOption
    ///     If the part has more than two dimensions, or an option is not valid.
    /// Unsupported
    ///     If the elements have no picture.
    #[pyo3(signature = (
        slice=None, *, title=None, log=false, transpose=false, line=false, part=None, raw=false, cmap=None,
        range=None, size=(800, 500), scale=1.0, jobs=None,
    ))]
    #[expect(clippy::doc_markdown, reason = "the notation of NumPy")]
    #[expect(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "the parameters of Python"
    )]
    fn plot<'py>(
        &self,
        py: Python<'py>,
        slice: Option<String>,
        title: Option<String>,
        log: bool,
        transpose: bool,
        line: bool,
        part: Option<&str>,
        raw: bool,
        cmap: Option<&str>,
        range: Option<&Bound<'py, PyAny>>,
        size: (u32, u32),
        scale: f64,
        jobs: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.facts(py)?; // they have the order of the indices
        let parts = || PARTS.iter().map(|(word, part, _)| (*word, *part));
        let maps = || COLOR_MAPS.iter().map(|(word, map, _)| (*word, *map));
        let picture = Picture {
            slice,
            part: part.map(|given| of_word(py, "part", given, parts())).transpose()?,
            raw,
            jobs,
            is_line: line,
            style: Chart {
                width: size.0,
                height: size.1,
                scale,
                map: cmap.map(|given| of_word(py, "cmap", given, maps())).transpose()?,
                range: range.map(range_of_python).transpose()?,
                is_log: log,
                is_turned: transpose,
                title,
                path: self.member.clone(),
                ..Chart::default()
            },
        };
        let (scene, is_proved) = self.run(py, u64::MAX, |packed| draw(packed, &picture))?;
        self.note(is_proved);
        py.import("ra_pack._array")?.getattr("Plot")?.call1((Drawing { scene, scale },))
    }
}

/// Writes a new file, in one step.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "the interface of PyO3")]
pub(crate) fn write_file(
    py: Python<'_>,
    path: PathBuf,
    content: &[u8],
    force: bool,
) -> PyResult<()> {
    short(py, || ra_pack::files::write_new(&path, force, |out| out.write_all(content)))?;
    Ok(())
}

/// Draws an array. Also returns whether digests proved what was read.
fn draw(array: &PackedArray, picture: &Picture) -> Result<(Scene, bool)> {
    picture.check()?;
    let cells = picture.cells(array)?;
    let first = picture.sample(array, cells)?;
    if let Some(what) = nothing_in(&first) {
        let name = ra_pack::path::escape(array.name());
        return Err(Error::Unsupported(format!("`{name}` has no picture: it is {what}").into()));
    }
    picture.draw(array, cells, &first)
}

/// Returns a range of values: two numbers, or text as the command takes it.
fn range_of_python(given: &Bound<'_, PyAny>) -> PyResult<Range> {
    let text = match given.extract::<(f64, f64)>() {
        Ok((low, high)) => format!("{low}:{high}"),
        Err(_) => given.extract()?,
    };
    range_of(&text).map_err(|expected| {
        let message = format!("`range=`: {expected}; found `{given}`");
        errors::named(given.py(), "InvalidOption", &message)
    })
}
