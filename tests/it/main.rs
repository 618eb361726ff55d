//! Every integration test, in one binary: it links once, and its modules share what they need.
//!
//! `cargo test --test it layers` runs the tests of one module.

#![cfg(test)] // says to clippy that nothing here is anything but tests

#[cfg(unix)] // signals
mod add; // `ra-pack add`: the next archive from the last one
mod agreement; // what a pack says twice is the same both times
mod bag; // BagIt: each rule kept and broken, and what bagit-python says
mod bytes; // support: archives and digests made by hand
mod cancel; // an operation that is cancelled ends and leaves nothing
mod convert; // `ra-pack convert`: every form into every other
#[cfg(target_os = "linux")] // memory that the shell can limit
mod cost; // a few kilobytes that stand for gigabytes: bounded memory and output
#[cfg(unix)] // links, pipes, signals
mod create; // `ra-pack create`: what goes in, and what is refused
mod damage; // every bit flipped, every length cut: reported, or harmless by a map made by hand
mod describe; // `ra-pack describe`: what headers imply
mod describe_update; // what `describe --update` changes, and what it must not
mod diff; // `ra-pack diff`: two arrays, element by element
mod diff_packs; // `ra-pack diff`: two packs
#[cfg(unix)] // links, a shell
mod differential; // what `verify` calls sound is read the same by other people's readers
mod digests; // what hashlib gives is what manifests have
mod docs; // the page of the language, and `explain`
mod examples; // every program of examples/ runs
mod experiment; // support: a source directory, written without the library
#[cfg(unix)] // links, pipes, signals
mod extract; // `ra-pack extract`: what was packed comes out, and nothing goes elsewhere
#[cfg(unix)] // links, pipes, signals
mod faults; // killed, interrupted, full, changed: nothing half-made, nothing lost
mod foreign; // support: what other people's tools say about an archive
mod get; // `ra-pack get`: members and slices
mod help; // what `--help` shows is run
mod hostile; // archives that lie, and the answer to each
mod info; // `ra-pack info`: what is known of an array or a pack, and the lines of the shell that read it
mod interchange; // formats of other tools, with those tools
mod interop; // other people's tools accept what we make, and we accept theirs
mod layers; // the direction of imports, and the room of each kind of line
mod library; // arrays out of packs, by the public interface
mod list; // `ra-pack list`: members at a glance
#[cfg(unix)] // names, links
mod manifest; // `ra-pack manifest`: made, written and checked by itself
mod metadata; // units, names and titles without an editor, and what lacks them
mod mistakes; // a wrong file, a wrong name: what is said is true, and what is offered works
mod orders; // one order of indices for all ways of reading
mod page; // support: blocks of a page, and a place to run them
mod pages; // every block of every page is run, every link leads somewhere
mod plot; // `ra-pack plot`: pictures that others read, the same each time
#[cfg(unix)] // terminals, signals
mod progress; // how far a run is, on a terminal and as JSON
mod properties; // whole packs: what goes in comes out
mod python; // support: Python with the libraries whose files are read and written
mod raw_tar; // support: tar files by hand
mod raw_zip; // support: zip files by hand
mod readers; // small readers in other languages, by what the page of the format says
mod report; // `ra-pack report`: the page, in a browser
mod reshape; // `ra-pack reshape`: other dims, the same elements
mod run; // support: the binary run, and what it said
mod sample; // examples/experiment is what its generator writes
mod schemas; // what --json prints is what schemas/ says
mod scripts; // exit status, lists of names
#[cfg(unix)] // shells
mod shells; // completions and manual pages, taken by what they are for
mod show; // `ra-pack show`: numbers and layout as numpy has them
mod skips; // support: tests that could not be made, summed up at the end
mod sources; // packs in memory, in readers, in stores of a program's own
mod streams; // blocks of elements, readers of files
mod validate; // `validate`, and packs that one hand-written document describes
#[cfg(unix)] // links, pipes, signals
mod verify; // `ra-pack verify`: every kind of damage is found and named
mod writer; // packs written from memory
