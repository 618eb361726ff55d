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
//! use ra_pack::create::CreateOptions;
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
//! | dimensions, statistics, samples and corners of an array | [`values`] |
//! | the structure of a pack: groups, dimensions, coordinates, attributes | [`info::outline`] |
//! | operations on packs | [`PackWriter`], [`create()`], [`verify()`], [`extract()`], [`list()`], [`info()`], [`diff()`] |
//! | arrays and files larger than memory | [`PackedArray::blocks`], [`Pack::reader`] |
//! | packs in memory or in your own storage | [`Pack::open_source`], the module [`open`] |
//! | packs at URLs and in object stores | [`Pack::open_url`], [`Pack::open_store`], the module [`remote`] |
//! | one member as a file, optionally in another format | [`get()`] |
//! | references for Zarr readers | [`refs::write_refs`] |
//! | descriptions | [`describe()`], [`validate()`], the modules [`mod@describe`] and [`ndl`] |
//! | other formats: `.npy`, `.npz`, `.ds`, PNG, CSV, JSON | [`convert()`], the module [`interchange`] |
//! | single `.ra` files, readers, bytes | [`RawArray`], [`AnyArray`], the module [`ra`] |
//! | manifests and bags | [`create::write_manifest`], the modules [`manifest`] and [`bag`] |
//! | problems: codes, places and explanations | [`Finding`], the module [`finding`] |
//! | audits of many packs | [`verify::verify_each`], the module [`audit`] |
//! | errors | [`Error`], the module [`error`] |
//! | progress and cancellation | [`Progress`] |
//!
//! Each operation has a module of the same name with its options and its report. Create options with `default()` and
//! set their fields one by one: later versions may add fields. The crates whose types appear in the interface are
//! re-exported: [`ndarray`], [`half`], [`num_complex`], [`bytemuck`].
//!
//! # Features
//!
//! With `default-features = false`, the library reads and writes `.ra` files. It also reads arrays from packs in
//! directories, zips, tars and `.tar.gz`, and checks them against their manifests. The features add the rest:
//!
//! | feature | adds | includes |
//! |---|---|---|
//! | `remote` | packs at URLs: `https`, `http`, `s3`, `gs`, `az`, `abfs` | |
//! | `zstd` | reading `.tar.zst` and zip members compressed with Zstandard | |
//! | `inspect` | `verify`, `validate`, `list`, `info`, and the statistics of an array | |
//! | `write` | [`PackWriter`], `create`, `extract`, `describe`, `diff`, manifests | `inspect`, `zstd` |
//! | `convert` | `convert` and `get`, for `.npy`, `.npz`, `.ds`, CSV and JSON, and the module [`mod@refs`] | `write` |
//! | `png` | PNG pictures for `convert` and `get` | `convert` |
//! | `audit` | logs of verifications and their summaries | `inspect` |
//! | `cli` (default) | the command `ra-pack` | all |
//!
//! The guide in `docs/library.md` has longer programs.

#![cfg_attr(
    not(feature = "convert"),
    allow(rustdoc::broken_intra_doc_links, reason = "links to items that other features add")
)]
#![cfg_attr(
    not(feature = "png"),
    allow(dead_code, unused_imports, unreachable_pub, reason = "items that another feature uses")
)]

mod allowance;
pub mod archive;
mod bisect;
pub mod digest;
pub mod error;
mod file_kind;
pub mod finding;
mod fs;
pub mod interchange;
#[cfg(feature = "audit")]
pub mod json;
pub mod manifest;
pub mod ndl;
mod ops;
mod pack;
pub mod path;
mod pipeline;
pub mod progress;
pub mod ra;
#[cfg(feature = "inspect")]
pub mod time;

pub use {bytemuck, half, ndarray, num_complex};

#[doc(inline)]
pub use crate::archive::Container;
#[doc(inline)]
pub use crate::error::{Error, Result};
#[doc(inline)]
pub use crate::finding::{Code, Finding, Severity};
pub use crate::ops::{Pack, PackedArray};
#[cfg(feature = "write")]
pub use crate::ops::{PackWriter, WriteOptions, create, diff, extract};
#[cfg(feature = "convert")]
pub use crate::ops::{convert, get};
#[cfg(feature = "inspect")]
pub use crate::ops::{info, list, validate, verify};
pub use crate::pack::{bag, describe};
#[doc(inline)]
pub use crate::progress::Progress;
#[doc(inline)]
pub use crate::ra::{AnyArray, ElementType, RawArray};

/// Logs of verifications, their summaries, and the targets to verify next.
#[cfg(feature = "audit")]
pub mod audit {
    pub use crate::ops::{
        AuditLog, AuditOptions, AuditPlan, AuditReport, AuditState, AuditedTarget, Budget,
        CorruptLine, PlanOptions, PlannedPart, audit, plan,
    };
}

/// Conversion between RawArray and the formats of other programs.
#[cfg(feature = "convert")]
pub mod convert {
    pub use crate::ops::{
        ArrayFormat, ConvertOptions, ConvertReport, Converted, Reinterpret, Unconverted,
        UnknownFormat, convert_all,
    };
}

/// Creation of archives from directories or from memory, and of manifests.
#[cfg(feature = "write")]
pub mod create {
    pub use crate::ops::{
        ArrayStream, CreateOptions, CreateReport, ManifestOptions, ManifestReport, NewArray,
        manifest_of, write_manifest,
    };
    pub use crate::pack::Layout;
}

/// Descriptions made from headers, and changes to descriptions.
pub mod describe {
    #[cfg(feature = "write")]
    pub use crate::ops::{
        Change, DescribeOptions, DescribeReport, MetadataEdits, ReshapeReport, UpdateReport,
        describe_target, edit_descriptions, metadata_table, reshape, update_descriptions,
        write_descriptions,
    };
    pub use crate::pack::{datatype, shape_of};
}

/// Comparison of packs and arrays.
#[cfg(feature = "write")]
pub mod diff {
    pub use crate::ops::{
        ArrayChange, ArrayDiff, DescriptionDifference, DiffCounts, DiffOptions, DiffPlace,
        DiffSide, Distance, ElementsDiff, FieldDifference, FileDifference, MemberChange,
        MemberDiff, PackDiff, diff_arrays, diff_members,
    };
}

/// Extraction of packs into directories.
#[cfg(feature = "write")]
pub mod extract {
    pub use crate::ops::{ExtractOptions, ExtractReport};
}

/// Kinds of files, and new files that appear when they are complete.
pub mod files {
    pub use crate::file_kind::FileKind;
    pub use crate::fs::{remove_unfinished_and_exit, write_new};
    #[cfg(feature = "write")]
    pub use crate::ops::check_apart;
    pub use crate::ops::{is_array_file, is_pack};
}

/// Export of one array or file from a pack.
#[cfg(feature = "convert")]
pub mod get {
    pub use crate::ops::{GetOptions, GetReport, get_to};
}

/// Facts about a pack or an array, from headers, descriptions and manifests.
#[cfg(feature = "inspect")]
pub mod info {
    pub use crate::ops::{
        ArrayInfo, InfoOptions, ManifestInfo, Outline, OutlineArray, OutlineDimension,
        OutlineGroup, OutlineOptions, PackInfo, array_file_info, array_info, outline,
    };
    pub use crate::pack::CoordinateInfo;
}

/// Members of a pack, and patterns that select them.
pub mod list {
    pub use crate::ops::MemberInfo;
    #[cfg(feature = "inspect")]
    pub use crate::ops::{
        InvalidPattern, ListOptions, ListOrder, Listed, ListedArray, Listing, Patterns,
    };
}

/// Packs in memory or in other storage, and streams from packs.
pub mod open {
    pub use crate::fs::{ReadAt, Seekable};
    pub use crate::ops::{Block, Blocks, FileReader};
}

/// References that present a pack as a Zarr store.
#[cfg(feature = "convert")]
pub mod refs {
    pub use crate::ops::{RefsOptions, RefsReport, SkippedArray, refs_to, write_refs};
}

/// Packs at URLs, and in object stores.
pub mod remote {
    #[cfg(feature = "remote")]
    pub use crate::fs::remote::{RemoteOptions, Traffic, configure, name, traffic};
    pub use crate::path::url::{conceal, is_url};
    #[cfg(feature = "remote")]
    pub use object_store;
}

/// Checks of descriptions against their arrays.
#[cfg(feature = "inspect")]
pub mod validate {
    pub use crate::ops::{ValidateOptions, ValidateReport, validate_text};
    pub use crate::pack::MetadataCounts;
}

/// Dimensions, statistics, samples and corners of an array.
pub mod values {
    pub use crate::ops::{Axis, Coordinate};
    #[cfg(feature = "inspect")]
    pub use crate::ops::{
        Category, Column, Corners, CornersOptions, FixedAxis, Grid, Histogram, Line,
        NameStatistics, Number, NumberStatistics, Quantity, Sample, SampleOptions, SampledAxis,
        Statistics, StatisticsOptions, scale_and_offset,
    };
}

/// Verification of packs.
#[cfg(feature = "inspect")]
pub mod verify {
    pub use crate::ops::{
        BagReport, Intact, InvalidShard, ProvedByBlocks, Shard, TargetError, TargetErrorKind,
        Verdict, Verified, VerifyOptions, VerifyReport, verify_each,
    };
}

/// Compiles and runs the program in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// Compiles and runs the programs in the guide.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod guide {}
