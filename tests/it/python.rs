//! Support: Python with the modules whose files are read and written.
//!
//! The gate installs them into `target/ci-python` and names its interpreter in `RA_PACK_TEST_PYTHON`. The validators of
//! metadata for repositories are in `target/ci-python-deposit`, whose interpreter is in `RA_PACK_DEPOSIT_PYTHON`.
//! Without them, a test is skipped with a message; with `RA_PACK_REQUIRE_TOOLS=1` it fails.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skips::skip;

/// Interpreter that can import the modules of a test.
#[derive(Debug)]
pub(crate) struct Python {
    program: OsString,
    /// First directory to search for modules.
    path: Option<PathBuf>,
}

impl Python {
    /// Returns an interpreter that can import `modules`, if there is one.
    #[track_caller]
    pub(crate) fn with(modules: &[&str]) -> Option<Self> {
        Self::found().able(modules)
    }

    /// Returns an interpreter that imports modules from `directory`, next to the `bin` of the interpreter: other
    /// versions of installed modules.
    #[track_caller]
    pub(crate) fn with_other(directory: &str, modules: &[&str]) -> Option<Self> {
        let mut python = Self::found();
        let prefix = python.command().args(["-c", "import sys; print(sys.prefix)"]).output();
        let prefix = prefix.map(|output| String::from_utf8(output.stdout).unwrap());
        let path = Path::new(prefix.unwrap_or_default().trim_end()).join(directory);
        let is_there = path.is_dir();
        python.path = Some(path);
        if is_there { python.able(modules) } else { missing(directory) }
    }

    /// Returns the interpreter of `RA_PACK_DEPOSIT_PYTHON`, which can import validators of metadata for repositories.
    #[track_caller]
    pub(crate) fn of_deposits(modules: &[&str]) -> Option<Self> {
        Self::named("RA_PACK_DEPOSIT_PYTHON").able(modules)
    }

    fn found() -> Self {
        Self::named("RA_PACK_TEST_PYTHON")
    }

    fn named(variable: &str) -> Self {
        let program = env::var_os(variable).unwrap_or_else(|| "python3".into());
        Self { program, path: None }
    }

    #[track_caller]
    fn able(self, modules: &[&str]) -> Option<Self> {
        let what = modules.join(", ");
        let tried = self.command().args(["-c", &format!("import {what}")]).output();
        if tried.is_ok_and(|output| output.status.success()) {
            return Some(self);
        }
        missing(&what)
    }

    /// Returns the command of the interpreter, with warnings disabled.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["-W", "ignore"]);
        if let Some(path) = &self.path {
            command.env("PYTHONPATH", path);
        }
        command
    }
}

/// Reports that tests with `what` are skipped, or fails if they are required.
#[track_caller]
fn missing(what: &str) -> Option<Python> {
    skip(&format!("Python has no {what}"));
    None
}
