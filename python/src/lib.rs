//! The compiled part of the Python module `ra_pack`. It calls the library and contains no format.

mod array;
mod audit;
#[path = "../../src/cli/mod.rs"]
mod cli;
mod convert;
mod describe;
mod errors;
mod index;
mod interrupt;
mod memory;
mod numpy;
mod operations;
mod options;
mod outline;
mod pack;
mod plot;
mod source;
mod values;
mod writer;

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Run the command `ra-pack`.
///
/// Parameters
/// ----------
/// words : list of str
///     The words of the command line. The first is the name of the program.
/// viewer : str, optional
///     The viewer that is installed with this package.
///
/// Returns
/// -------
/// int
///     The exit status.
#[pyfunction]
#[pyo3(signature = (words, viewer=None))]
fn run(py: Python<'_>, words: Vec<OsString>, viewer: Option<PathBuf>) -> u8 {
    if let Some(viewer) = viewer {
        let _ = cli::report::viewer::OF_PACKAGE.set(viewer); // a process has one package
    }
    interrupt::detached(py, || cli::main(words))
}

#[pymodule]
fn _ra_pack(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<pack::Pack>()?;
    module.add_class::<array::Array>()?;
    module.add_class::<writer::Writer>()?;
    module.add_class::<writer::BlockWriter>()?;
    module.add_class::<audit::AuditLog>()?;
    module.add_class::<plot::Drawing>()?;
    module.add_function(wrap_pyfunction!(pack::open, module)?)?;
    module.add_function(wrap_pyfunction!(operations::create, module)?)?;
    module.add_function(wrap_pyfunction!(operations::verify, module)?)?;
    module.add_function(wrap_pyfunction!(operations::validate, module)?)?;
    module.add_function(wrap_pyfunction!(operations::extract, module)?)?;
    module.add_function(wrap_pyfunction!(operations::diff, module)?)?;
    module.add_function(wrap_pyfunction!(convert::convert, module)?)?;
    module.add_function(wrap_pyfunction!(convert::refs, module)?)?;
    module.add_function(wrap_pyfunction!(describe::describe, module)?)?;
    module.add_function(wrap_pyfunction!(audit::verify_lines, module)?)?;
    module.add_function(wrap_pyfunction!(audit::line_without_result, module)?)?;
    module.add_function(wrap_pyfunction!(audit::plan, module)?)?;
    module.add_function(wrap_pyfunction!(audit::audit_report, module)?)?;
    module.add_function(wrap_pyfunction!(plot::write_file, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    let end = wrap_pyfunction!(interrupt::end, module)?;
    module.py().import("atexit")?.call_method1("register", (end,))?;
    Ok(())
}
