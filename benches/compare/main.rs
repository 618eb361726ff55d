//! Measures ra-pack against other tools and a baseline, and makes the tables of `docs/performance.md`:
//! `cargo bench --bench compare -- --help`.
//!
//! Every command runs as a separate process, round by round with its competitors, and its result is checked. The
//! samples are stored under `--results`, one file for each table of each workload, so that a long run can be done in
//! parts. The tables are made from all samples there.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a measurement that fails must stop with a message"
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
    reason = "a program for developers, which writes only its own files"
)]

mod check; // whether a result is correct
mod commands; // the contestants of create, verify, get, extract, list, and compressed archives
mod contestant; // a contestant: its commands and their expected results
mod convert; // NumPy arrays to RawArray
mod in_process; // zip readers as separate programs
mod library; // arrays read in one process: the library against other crates and Python
mod limit; // the baseline
mod limit_zip; // the zip format for the baseline
mod machine; // the machine of the measurements
mod measure; // one command: time, processor, memory
mod memory; // the peak of every command
mod options; // the command line
mod page; // insertion of tables into a page
mod plot; // the plot of the cost per member
mod random; // reproducible random numbers
mod runner; // rounds
mod samples; // samples as text files
mod scaling; // from a thousand members to a million
mod slices; // slices of a large array
mod smoke; // a short run for `cargo test --bench compare`
mod statistics; // medians, and ratios of the same round
mod tables; // samples as Markdown
mod workloads; // the directories that are packed

use std::process::ExitCode;

use options::{Operation, Options};
use workloads::Workload;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The program starts itself for work that needs a separate process.
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
        // This is `cargo test --bench compare`.
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

/// Measures, and returns the tables of all samples.
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
                // One small matrix is for the library only.
                let workloads = options.workloads.iter().filter(|one| **one != Workload::Matrix);
                for workload in workloads {
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
