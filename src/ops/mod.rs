//! The operations: each is one function with one options struct and one report.
//!
//! | operation | reads | writes |
//! |---|---|---|
//! | [`create`] | a directory | an archive and its manifest |
//! | [`PackWriter`] | arrays in memory, readers | an archive and its manifest |
//! | [`verify`] | a pack | nothing |
//! | [`manifest_of`], [`write_manifest`] | a pack or a directory | its manifest |
//! | [`info`], [`array_info`] | headers and descriptions | nothing |
//! | [`list`] | headers and descriptions | nothing |
//! | [`extract`] | a pack | a directory |
//! | [`convert`] | arrays of any form | arrays of another |
//! | [`validate`] | headers and descriptions | nothing |
//! | [`describe_target`] | headers | the missing descriptions |
//! | [`update_descriptions`] | headers and descriptions | changed descriptions |
//! | [`get`] | one member | a file |
//! | [`diff_arrays`] | two arrays | nothing |
//! | [`Pack`]'s arrays: `statistics`, `sample` | one array in blocks | nothing |
//! | [`diff`] | what differs of two packs | nothing |
//! | [`reshape`] | an array and its description | both, with another shape |
//! | [`Pack`] | one member at a time | nothing |

mod bag;
mod convert;
mod corners;
mod create;
mod describe;
mod diff;
mod extract;
mod get;
mod info;
mod inlined;
mod list;
mod make_manifest;
mod manifests;
mod open;
mod sample;
mod scan;
mod select;
mod single_file;
mod statistics;
mod survey;
mod validate;
mod values;
mod verify;
mod writer;

#[cfg(test)]
mod tests;

pub use self::bag::BagReport;
pub use self::convert::{
    ArrayFormat, ConvertOptions, ConvertReport, Converted, Reinterpret, UnknownFormat, convert,
};
pub use self::corners::{Corners, CornersOptions};
pub use self::create::{CreateOptions, CreateReport, create};
pub use self::describe::{
    Change, DescribeOptions, DescribeReport, ReshapeReport, UpdateReport, describe_target, reshape,
    update_descriptions, write_descriptions,
};
pub use self::diff::{
    ArrayChange, ArrayDiff, DescriptionDifference, DiffCounts, DiffOptions, DiffPlace, DiffSide,
    Distance, ElementsDiff, FieldDifference, FileDifference, MemberChange, MemberDiff, PackDiff,
    diff, diff_arrays, diff_members,
};
pub use self::extract::{ExtractOptions, ExtractReport, extract};
pub use self::get::{GetOptions, GetReport, get, get_to};
pub use self::info::{
    ArrayInfo, ManifestInfo, PackInfo, array_file_info, array_info, info, is_pack,
};
pub use self::list::{ListOptions, ListOrder, Listed, ListedArray, Listing, list};
pub use self::make_manifest::{ManifestOptions, ManifestReport, manifest_of, write_manifest};
pub use self::manifests::check_apart;
pub use self::open::{Axis, Block, Blocks, Coordinate, FileReader, MemberInfo, Pack, PackedArray};
pub use self::sample::{Column, Grid, Line, Quantity, Sample, SampleOptions, SampledAxis};
pub use self::select::{InvalidPattern, Patterns};
pub use self::single_file::is_array_file;
pub use self::statistics::{
    Category, Histogram, NameStatistics, NumberStatistics, Statistics, StatisticsOptions,
};
pub use self::validate::{ValidateOptions, ValidateReport, validate, validate_text};
pub use self::values::Number;
pub use self::verify::{Intact, VerifyOptions, VerifyReport, verify};
pub use self::writer::{ArrayStream, NewArray, PackWriter, WriteOptions};
