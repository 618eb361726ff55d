//! Measures ra-pack against other tools and against the bare work, and makes the tables of
//! `docs/performance.md`: `cargo bench --bench compare -- --help`.
//!
//! What is measured runs as a process of its own, round by round with its competitors, and its result
//! is checked. The samples are kept under `--results`, one file for each table of each workload, so that
//! a long run can be made in pieces; the tables are made from all that lies there.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a measurement that cannot go on must stop, and say where"
)]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::format_push_string,
    clippy::naive_bytecount,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a program by itself, whose figures are for people and whose files are its own"
)]

mod check; // whether a result is right
mod commands; // who competes in create, verify, get, extract, list, and compressed archives
mod contestant; // a competitor: its commands and what they must leave behind
mod convert; // arrays of numpy into RawArray
mod in_process; // readers of zips as programs of their own
mod library; // arrays read in one process: the library against other crates and Python
mod limit; // the bare work: what the machine can do
mod limit_zip; // just enough of the zip format for it
mod machine; // what the figures were taken on
mod measure; // one command: time, processor, memory
mod memory; // the peak of every command
mod options; // the command line
mod page; // tables put into a page
mod plot; // cost per member as a picture
mod random; // the same numbers every time
mod runner; // rounds
mod samples; // what was measured, kept as text
mod scaling; // from a thousand members to a million
mod slices; // parts of a large array
mod smoke; // a run of a moment, for `cargo test`
mod statistics; // medians, and ratios of the same round
mod tables; // samples as Markdown
mod workloads; // the directories that are packed

use std::process::ExitCode;

use options::{Operation, Options};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The program starts itself for what must not share its memory.
    if let Some((role, rest)) = arguments.split_first() {
        match role.as_str() {
            "measure" => return measure::role(rest),
            "limit" => return limit::role(rest),
            "reader" => return in_process::role(rest),
            "library" => return library::role(rest),
            "slices" => return slices::role(rest),
            _ => {}
        }
    }
    if !arguments.iter().any(|word| word == "--bench") {
        // `cargo test`, which may have words for other tests.
        smoke::run();
        return ExitCode::SUCCESS;
    }
    match Options::parse(&arguments) {
        Ok(Some(options)) => {
            run(&options);
            ExitCode::SUCCESS
        }
        Ok(None) => {
            print!("{}", options::HELP);
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("compare: {message}; see --help");
            ExitCode::from(2)
        }
    }
}

/// Measures, and gives the tables of all that has been measured.
fn measured(options: &Options) -> Vec<(String, String)> {
    let bench = runner::Bench::new(options);
    for operation in &options.operations {
        match operation {
            Operation::Library => library::run(&bench),
            Operation::Slices => slices::run(&bench),
            Operation::Convert => convert::run(&bench),
            Operation::Scaling => scaling::run(&bench),
            Operation::Memory => memory::run(&bench),
            Operation::StartUp => commands::start_up(&bench),
            other => {
                for workload in &options.workloads {
                    commands::run(&bench, *other, *workload);
                }
            }
        }
    }
    tables::all(&options.results)
}

fn run(options: &Options) {
    let tables = measured(options);
    match &options.out {
        Some(page) => page::update(page, &tables, &options.results),
        None => {
            for (name, table) in &tables {
                println!("## {name}\n\n{table}");
            }
        }
    }
}
