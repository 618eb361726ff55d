//! Pictures of arrays, which are those of the command.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ra_pack::display::plot::frame::Range;
use ra_pack::display::plot::scene::Scene;
use ra_pack::{Error, PackedArray, Result};

use crate::cli::plot::{Picture, nothing_in, png_of, range_of};
use crate::errors;
use crate::interrupt::short;

/// The drawing of a plot.
#[pyclass(frozen, module = "ra_pack._ra_pack")]
pub(crate) struct Drawing {
    pub(crate) scene: Scene,
    pub(crate) scale: f64,
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
pub(crate) fn draw(array: &PackedArray, picture: &Picture) -> Result<(Scene, bool)> {
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
pub(crate) fn range(given: &Bound<'_, PyAny>) -> PyResult<Range> {
    let text = match given.extract::<(f64, f64)>() {
        Ok((low, high)) => format!("{low}:{high}"),
        Err(_) => given.extract()?,
    };
    range_of(&text).map_err(|expected| {
        let message = format!("`range=`: {expected}; found `{given}`");
        errors::named(given.py(), "InvalidOption", &message)
    })
}
