#![doc = include_str!("../README.md")]

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
pub use crate::finding::{Code, Excerpt, Finding, Place, Severity, UnknownCode, count_errors};
pub use crate::fs::{remove_unfinished_and_exit, write_new};
pub use crate::ops::{
    ArrayChange, ArrayDiff, ArrayFormat, ArrayInfo, Axis, BagReport, Category, Change, Column,
    ConvertOptions, ConvertReport, Converted, Coordinate, Corners, CornersOptions, CreateOptions,
    CreateReport, DescribeOptions, DescribeReport, DescriptionDifference, DiffCounts, DiffOptions,
    DiffPlace, DiffSide, Distance, ElementsDiff, ExtractOptions, ExtractReport, FieldDifference,
    FileDifference, GetOptions, GetReport, Grid, GridMethod, Histogram, Intact, InvalidPattern,
    Line, ListOptions, ListOrder, Listed, ListedArray, Listing, ManifestInfo, ManifestOptions,
    ManifestReport, MemberChange, MemberDiff, MemberInfo, NameStatistics, Number, NumberStatistics,
    Pack, PackDiff, PackInfo, PackedArray, Patterns, Quantity, Reinterpret, ReshapeReport, Sample,
    SampleOptions, SampledAxis, Statistics, StatisticsOptions, UnknownFormat, UpdateReport,
    ValidateOptions, ValidateReport, VerifyOptions, VerifyReport, array_file_info, array_info,
    check_apart, convert, create, describe_target, diff_arrays, diff_members, diff_packs, extract,
    get, get_to, is_array_file, is_pack, list, manifest_of, pack_info, reshape,
    update_descriptions, validate, validate_text, verify, write_descriptions, write_manifest,
};
pub use crate::pack::{CoordinateInfo, Layout, bag, describe, shape_of};
pub use crate::path::{
    InvalidPath, MAX_PATH_BYTES, MemberPath, PathFault, escape, escape_path, is_unsafe,
};
pub use crate::progress::{Progress, Snapshot};
pub use crate::ra::{AnyArray, DecodeError, ElementType, RawArray};

/// The programs of the guide, compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod guide {}
