//! Packs arrays and their metadata into ordinary zip or tar files, verifies them, and reads single arrays back.
//!
//! A *pack* contains [RawArray](ra) files, a YAML [description](ndl) next to each, and a [`manifest`] of the SHA-256
//! digests of all files. It is a zip, a tar, a compressed tar or a directory. This library does everything that the
//! command `ra-pack` does.
//!
//! # Read
//!
//! [`Pack::open`] opens a pack in any container. [`PackedArray::read`] reads an array and checks it against the
//! manifest. [`PackedArray::slice`] reads a part of it:
//!
//! ```
//! use ndarray::{ArrayD, s};
//! use ra_pack::Pack;
//!
//! let pack = Pack::open("examples/experiment")?;
//! let temperature = pack.array("thermistors/temperature.ra")?;
//! let all: ArrayD<f32> = temperature.read()?;
//! let first: ArrayD<f32> = temperature.slice(s![0, ..24])?;
//! assert_eq!(all.slice(s![0, ..24]).into_dyn(), first);
//! # Ok::<(), ra_pack::Error>(())
//! ```
//!
//! # Create
//!
//! [`create()`] packs a directory. It checks every description against the header of its array. The archive appears
//! under its name when it is complete and synced to disk:
//!
//! ```
//! use ra_pack::create;
//! use ra_pack::write::CreateOptions;
//!
//! # let scratch = tempfile::tempdir()?;
//! # let archive = scratch.path().join("mooring.zip");
//! let report = create("examples/experiment", &archive, &CreateOptions::default())?;
//! assert_eq!(report.arrays, 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`PackWriter`] creates the same archive from arrays in memory:
//!
//! ```
//! use ndarray::array;
//! use ra_pack::{PackWriter, WriteOptions};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let archive = scratch.path().join("mooring.zip");
//! let mut pack = PackWriter::create(&archive, WriteOptions::default())?;
//! pack.array("temperature", &array![9.5, 9.4]).dims(["time"]).units("degree_Celsius").write()?;
//! pack.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Verify
//!
//! [`verify()`] reads every byte of a pack and reports each problem as a [`Finding`] with a code and a place. Problems
//! are not an [`Error`]: an error means that the operation failed.
//!
//! ```
//! use ra_pack::verify;
//! use ra_pack::verify::VerifyOptions;
//!
//! # let scratch = tempfile::tempdir()?;
//! # let archive = scratch.path().join("mooring.zip");
//! # ra_pack::create("examples/experiment", &archive, &Default::default())?;
//! let report = verify(&archive, &VerifyOptions::default())?;
//! for finding in &report.findings {
//!     println!("{finding}");
//! }
//! assert!(report.is_valid());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Overview
//!
//! | task | item |
//! |---|---|
//! | arrays of a pack: elements, slices, zero-copy views | [`Pack`], [`PackedArray`] |
//! | dimensions, statistics, samples and corners of an array | the module [`read`] |
//! | the structure of a pack: groups, dimensions, coordinates, attributes | [`inspect::outline`] |
//! | operations on packs | [`PackWriter`], [`create()`], [`verify()`], [`extract()`], [`write::salvage`], [`list()`], [`info()`], [`diff()`] |
//! | arrays and files larger than memory | [`PackedArray::blocks`], [`Pack::reader`] |
//! | packs in memory or in your own storage | [`Pack::open_source`] |
//! | packs at URLs and in object stores | [`Pack::open_url`], [`Pack::open_store`], the module [`remote`] |
//! | one member as a file, optionally in another format | [`get()`] |
//! | references for Zarr readers | [`convert::write_refs`] |
//! | descriptions | [`describe()`], [`validate()`], the modules [`mod@describe`] and [`ndl`] |
//! | other formats: `.npy`, `.npz`, `.ds`, PNG, CSV, JSON | [`convert()`], the module [`interchange`] |
//! | single `.ra` files, readers, bytes | [`RawArray`], [`AnyArray`], the module [`ra`] |
//! | manifests and bags | [`write::write_manifest`], the modules [`manifest`] and [`bag`] |
//! | problems: codes, places and explanations | [`Finding`], the module [`finding`] |
//! | audits of many packs | [`verify::verify_each`], the module [`audit`] |
//! | errors | [`Error`], the module [`error`] |
//! | progress and cancellation | [`Progress`] |
//!
//! The modules [`read`], [`inspect`], [`verify`](mod@verify), [`write`](mod@write), [`mod@describe`], [`diff`](mod@diff),
//! [`audit`] and [`convert`](mod@convert) have the options and reports of their operations. Write options as
//! `VerifyOptions { strict: true, ..VerifyOptions::default() }`: later versions may add fields. The crates whose types
//! appear in the interface are re-exported: [`ndarray`], [`half`], [`num_complex`], [`bytemuck`].
//!
//! # Features
//!
//! With `default-features = false`, the library reads and writes `.ra` files. It also reads, inspects and verifies packs
//! in directories, zips, tars and `.tar.gz`. The features add the rest:
//!
//! | feature | adds |
//! |---|---|
//! | `remote` | packs at URLs: `https`, `http`, `s3`, `gs`, `az`, `abfs` |
//! | `full` | the modules `write`, `describe`, `diff`, `audit` and `convert`, and Zstandard |
//! | `cli` (default) | the command `ra-pack`, `full` and `remote` |
//!
//! The guide in `docs/library.md` has longer programs.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod allowance;
pub mod archive;
#[cfg(feature = "full")]
pub mod audit;
mod bisect;
mod clock;
#[cfg(feature = "full")]
pub mod convert;
#[cfg_attr(
    not(feature = "full"),
    expect(dead_code, unreachable_pub, reason = "without features, crates are only compared")
)]
mod deposit;
#[cfg(feature = "full")]
pub mod describe;
#[cfg(feature = "full")]
pub mod diff;
pub mod digest;
#[cfg(feature = "display")]
#[doc(hidden)]
pub mod display;
pub mod error;
mod file_kind;
pub mod finding;
mod fs;
pub mod inspect;
pub mod interchange;
#[cfg(feature = "display")]
pub mod json;
pub mod manifest;
pub mod message;
pub mod ndl;
mod pack;
pub mod path;
mod pipeline;
pub mod progress;
pub mod ra;
pub mod read;
pub mod signature;
#[cfg(test)]
mod tests;
pub mod time;
pub mod verify;
#[cfg(feature = "full")]
pub mod write;

pub use {bytemuck, half, ndarray, num_complex};

#[doc(inline)]
pub use crate::archive::Container;
#[cfg(feature = "full")]
pub use crate::convert::{convert, get};
#[cfg(feature = "full")]
pub use crate::diff::diff;
#[doc(inline)]
pub use crate::error::{Error, Result};
#[doc(inline)]
pub use crate::finding::{Code, Finding, Severity};
pub use crate::inspect::{info, list, validate};
pub use crate::pack::{bag, describe};
#[doc(inline)]
pub use crate::progress::Progress;
#[doc(inline)]
pub use crate::ra::{AnyArray, ElementType, RawArray};
pub use crate::read::{Pack, PackedArray};
pub use crate::verify::verify;
#[cfg(feature = "full")]
pub use crate::write::{PackWriter, WriteOptions, create, extract};

/// Kinds of files, and new files that appear when they are complete.
pub mod files {
    pub use crate::file_kind::FileKind;
    pub use crate::fs::{leave_page_cache, remove_unfinished_and_exit, write_new};
    #[cfg(feature = "full")]
    pub use crate::read::check_apart;
    pub use crate::read::{is_array_file, is_pack};
}

/// Packs at URLs, and in object stores.
pub mod remote {
    #[cfg(feature = "remote")]
    pub use crate::fs::remote::{
        RemoteOptions, SharedClient, Traffic, configure, name, object_store, traffic,
    };
    pub use crate::path::url::{conceal, is_url};
}

/// Compiles and runs the programs in the guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod guide {}
