//! All integration tests in one binary, which links once and shares support modules.
//!
//! `cargo test --test it layers` runs the tests of one module.

#![cfg(test)] // tells clippy that all code here is for tests

#[cfg(unix)] // signals
mod add; // `ra-pack add`: changing an archive
mod agreement; // facts that a pack states twice must agree
#[cfg(unix)] // devices, locks
mod audit; // `verify --log`, shares, and `ra-pack audit`
mod bag; // BagIt: each rule kept and broken, and bagit-python
mod block_shards; // block digests: large files in several shards of `verify`
mod blocks; // block digests: proof of slices, damaged blocks, hostile lists
mod bytes; // support: archives and digests written by hand
mod cancel; // cancelled operations end and leave nothing
mod circles; // imports between files run one way
mod clone; // `ra-pack create --clone`: blocks that the archive shares with the source
mod codes; // each code through the command, and the index of tests by code
mod content; // content digests, and `verify --against`
mod conventions; // `validate --convention`: CF and ACDD, compared with compliance-checker
mod convert; // `ra-pack convert`: every format to every other
#[cfg(target_os = "linux")] // memory that the shell can limit
mod cost; // kilobytes that expand to gigabytes: bounded memory and output
#[cfg(unix)] // links, pipes, signals
mod create; // `ra-pack create`: input, output and refusals
mod damage; // every bit flipped, every length cut: reported, or known to be harmless
mod deposit; // metadata for repositories, with the validators of others
mod describe; // `ra-pack describe`: descriptions from headers
mod describe_update; // `describe --update`: changes, and bytes that must not change
mod diff; // `ra-pack diff`: two arrays, element by element
mod diff_packs; // `ra-pack diff`: two packs
#[cfg(unix)] // links, a shell
mod differential; // other tools read what `verify` accepts in the same way
mod digests; // digests in manifests equal those of hashlib
mod docs; // the page about the language, and `explain`
mod examples; // every program of examples/ runs
mod experiment; // support: a source directory, written without the library
#[cfg(unix)] // links, pipes, signals
mod extract; // `ra-pack extract`: packed files, and nothing outside the target
#[cfg(unix)] // links, pipes, signals
mod faults; // kills, interrupts, full disks, changes: no partial output, no loss
mod foreign; // support: other tools that read archives
mod get; // `ra-pack get`: members and slices
mod growing; // arrays that grow until they are finished
mod help; // examples in `--help` are run
mod hostile; // malformed archives, and the answer to each
mod info; // `ra-pack info`: facts about an array or a pack, and shell commands that read it
mod interchange; // formats of other tools, with those tools
mod interop; // other tools accept our archives, and we accept theirs
mod journal; // writers with a journal: nothing that was promised is lost
mod layers; // the direction of imports, and texts that belong to one module
mod library; // arrays from packs, with the public interface
mod list; // `ra-pack list`: tables, trees and lists
#[cfg(unix)] // names, links
mod manifest; // `ra-pack manifest`: printed, written and checked
mod meaning;
mod metadata; // units, names and titles without an editor
mod mistake_table;
mod mistaken;
mod mistakes; // mistakes: messages are true, and suggested commands work
mod orders; // the same order of indices for all ways of reading
mod page; // support: blocks of a page, and a directory to run them in
mod pages; // every block of every page is run, every link has a target
mod pictures; // numbers and labels of pictures and pages, compared with NumPy and cftime
mod placed; // arrays whose data other processes write in the archive
mod plot; // `ra-pack plot`: valid pictures, the same each time
#[cfg(unix)] // terminals, signals
mod progress; // progress on a terminal and as JSON
mod properties; // properties of packs: extracting gives the packed files
mod python; // support: Python with the libraries whose files are read and written
mod raw_tar; // support: tar files by hand
mod raw_zip; // support: zip files by hand
mod read_formats;
mod readers; // small readers in other languages, written from the page about the format
mod reference;
mod refs;
mod registry; // packaging/registry: other programs recognize arrays and packs
mod remote; // packs at URLs, with servers on this machine
mod repeats; // a megabyte of any part that can be repeated: bounded time and memory
#[cfg(unix)] // permissions, links
mod replaced; // replaced files keep their permissions, and links their meaning
mod report; // `ra-pack report`: the page, in a browser
mod repositories; // `validate --for`: the rules of repositories for uploads
mod reshape; // `ra-pack reshape`: other dims, the same elements
mod run; // support: runs of the binary, and their output
mod salvage; // `ra-pack salvage`: what is confirmed is the original
mod sample; // examples/experiment equals the output of its generator
mod schemas; // the output of --json matches schemas/
mod scripts;
mod selection; // exit status, lists of names
#[cfg(unix)] // shells
mod shards; // `ra-pack create --shard` and `--join`: several processes write one archive
mod shells; // completions and manual pages, in the programs that use them
mod show; // `ra-pack show`: numbers and layout like NumPy
mod signatures; // signatures, time-stamps and parity files, with the programs that make them
mod skips; // support: skipped tests, summarized at the end
mod slurm; // support: a Slurm cluster of one machine
mod sources; // packs in memory, in readers and in custom stores
mod spec; // the specification: its text and its test vectors
mod streams; // blocks of elements, readers of files
mod validate; // `validate`, and packs described by one hand-written document
#[cfg(unix)] // links, pipes, signals
mod verify; // `ra-pack verify`: every kind of damage is found
#[cfg(unix)] // paths
mod viewer; // the viewer in a browser
mod walks; // the walks on the page of the architecture are short and true
mod writer; // packs written from memory
