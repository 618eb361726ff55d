//! Packs a directory of arrays into one zip or tar that stays readable and checkable, and reads single arrays back.
//!
//! A *pack* holds arrays as [RawArray](ra) files, each with a [description](ndl) in YAML beside it, and a
//! [`manifest`] of the SHA-256 digests of all files. It is an ordinary zip, tar, compressed tar or directory.
//! This library does everything that the command `ra-pack` does.
//!
//! # Read
//!
//! [`Pack::open`] opens a pack in any container. [`PackedArray`] reads an array whole, compared with the manifest, or
//! a slice of it without reading the rest:
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
//! # Write
//!
//! [`create`] packs a directory. It compares every description with the header of its array, and gives the archive
//! its name when everything is on the disk:
//!
//! ```
//! use ra_pack::{CreateOptions, create};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let archive = scratch.path().join("mooring.zip");
//! let report = create("examples/experiment".as_ref(), &archive, &CreateOptions::default())?;
//! assert_eq!(report.arrays, 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`PackWriter`] makes the same archive of arrays in memory:
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
//! [`verify`] checks every byte of a pack and reports each fault as a [`Finding`] with a code and a place. Damage is no
//! [`Error`]: an error says that something could not be done.
//!
//! ```
//! use ra_pack::{VerifyOptions, verify};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let archive = scratch.path().join("mooring.zip");
//! # ra_pack::create("examples/experiment".as_ref(), &archive, &Default::default())?;
//! let report = verify(&archive, &VerifyOptions::default())?;
//! for finding in &report.findings {
//!     println!("{finding}");
//! }
//! assert!(report.is_sound());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to look
//!
//! | for | look at |
//! |---|---|
//! | arrays of a pack: elements, slices, views without a copy, statistics | [`Pack`], [`PackedArray`] |
//! | whole packs | [`PackWriter`], [`create`], [`verify`], [`extract`], [`list`], [`pack_info`], [`diff_packs`] |
//! | descriptions | [`describe`], [`validate`], [`update_descriptions`], the module [`ndl`] |
//! | other formats: `.npy`, `.npz`, `.ds`, PNG, CSV, JSON | [`convert`], [`get`], the module [`interchange`] |
//! | single `.ra` files, readers, bytes | [`RawArray`], [`AnyArray`], the module [`ra`] |
//! | manifests and bags | [`write_manifest`], the modules [`manifest`] and [`bag`] |
//! | the progress of a long operation | [`Progress`], in the options of each |
//!
//! The guide in `docs/library.md` has longer programs.

mod allowance;
mod archive;
mod bisect;
mod digest;
mod error;
mod file_kind;
mod finding;
mod fs;
pub mod interchange;
pub mod manifest;
pub mod ndl;
mod ops;
mod pack;
mod path;
mod pipeline;
mod progress;
pub mod ra;

pub use crate::archive::{Compression, Container, MemberKind, Method};
pub use crate::digest::{Algorithm, Digest, Hasher, UnknownAlgorithm};
pub use crate::error::{Error, Result};
pub use crate::file_kind::FileKind;
pub use crate::finding::{
    Code, Example, Excerpt, Explanation, Finding, Place, Severity, Span, UnknownCode, count_errors,
};
pub use crate::fs::{remove_unfinished_and_exit, write_new};
pub use crate::ops::{
    ArrayChange, ArrayDiff, ArrayFormat, ArrayInfo, ArrayStream, Axis, BagReport, Category, Change,
    Column, ConvertOptions, ConvertReport, Converted, Coordinate, Corners, CornersOptions,
    CreateOptions, CreateReport, DescribeOptions, DescribeReport, DescriptionDifference,
    DiffCounts, DiffOptions, DiffPlace, DiffSide, Distance, ElementsDiff, ExtractOptions,
    ExtractReport, FieldDifference, FileDifference, GetOptions, GetReport, Grid, Histogram, Intact,
    InvalidPattern, Line, ListOptions, ListOrder, Listed, ListedArray, Listing, ManifestInfo,
    ManifestOptions, ManifestReport, MemberChange, MemberDiff, MemberInfo, NameStatistics,
    NewArray, Number, NumberStatistics, Pack, PackDiff, PackInfo, PackWriter, PackedArray,
    Patterns, Quantity, Reinterpret, ReshapeReport, Sample, SampleOptions, SampledAxis, Statistics,
    StatisticsOptions, UnknownFormat, UpdateReport, ValidateOptions, ValidateReport, VerifyOptions,
    VerifyReport, WriteOptions, array_file_info, array_info, check_apart, convert, create,
    describe_target, diff_arrays, diff_members, diff_packs, extract, get, get_to, is_array_file,
    is_pack, list, manifest_of, pack_info, reshape, update_descriptions, validate, validate_text,
    verify, write_descriptions, write_manifest,
};
pub use crate::pack::{CoordinateInfo, Layout, bag, describe, shape_of};
pub use crate::path::{
    InvalidPath, MAX_PATH_BYTES, MemberPath, PathFault, escape, escape_path, is_unsafe,
};
pub use crate::progress::{Progress, Snapshot};
pub use crate::ra::{AnyArray, DecodeError, ElementType, RawArray};

/// The program of the README, compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// The programs of the guide, compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod guide {}
