//! The operations. Each is a function with an options struct and a report.
//!
//! | operation | reads | writes |
//! |---|---|---|
//! | [`create`] | a directory | an archive and its manifest |
//! | [`PackWriter`] | arrays in memory, readers | an archive and its manifest |
//! | [`verify`], [`verify_each`] | packs | nothing |
//! | [`audit`], [`plan`] | logs of verifications | nothing |
//! | [`manifest_of`], [`write_manifest`] | a pack or a directory | its manifest |
//! | [`info`], [`array_info`] | headers and descriptions | nothing |
//! | [`list`], [`outline`] | headers and descriptions | nothing |
//! | [`extract`] | a pack | a directory |
//! | [`convert`] | arrays in any format | arrays in another format |
//! | [`validate`] | headers and descriptions | nothing |
//! | [`describe_target`] | headers | the missing descriptions |
//! | [`update_descriptions`] | headers and descriptions | changed descriptions |
//! | [`edit_descriptions`] | headers, descriptions, given metadata | changed descriptions |
//! | [`metadata_table`] | headers and descriptions | nothing |
//! | [`get`] | one member | a file |
//! | [`write_refs`] | headers and descriptions | references for Zarr readers |
//! | [`diff_arrays`] | two arrays | nothing |
//! | [`Pack`]'s arrays: `statistics`, `sample` | one array in blocks | nothing |
//! | [`diff`] | two packs | nothing |
//! | [`reshape`] | an array and its description | both, with another shape |
//! | [`Pack`] | one member at a time | nothing |

#[cfg(feature = "inspect")]
mod ascending;
#[cfg(feature = "audit")]
mod audit;
#[cfg(feature = "inspect")]
mod bag;
#[cfg(feature = "convert")]
mod convert;
#[cfg(feature = "inspect")]
mod corners;
#[cfg(feature = "write")]
mod create;
#[cfg(feature = "write")]
mod describe;
#[cfg(feature = "write")]
mod diff;
#[cfg(feature = "write")]
mod extract;
#[cfg(feature = "convert")]
mod get;
#[cfg(feature = "inspect")]
mod info;
#[cfg(feature = "inspect")]
mod inlined;
#[cfg(feature = "inspect")]
mod list;
#[cfg(feature = "write")]
mod make_manifest;
mod manifests;
mod open;
#[cfg(feature = "inspect")]
mod outline;
#[cfg(feature = "write")]
mod plain_arrays;
#[cfg(feature = "convert")]
mod refs;
#[cfg(feature = "inspect")]
mod remote_scan;
#[cfg(feature = "inspect")]
mod sample;
#[cfg(feature = "inspect")]
mod scan;
#[cfg(feature = "inspect")]
mod select;
mod single_file;
#[cfg(feature = "inspect")]
mod statistics;
#[cfg(feature = "write")]
mod survey;
#[cfg(feature = "inspect")]
mod validate;
#[cfg(feature = "inspect")]
mod values;
#[cfg(feature = "inspect")]
mod verify;
#[cfg(feature = "write")]
mod writer;

#[cfg(test)]
mod tests;

#[cfg(feature = "audit")]
pub use self::audit::{
    AuditLog, AuditOptions, AuditPlan, AuditReport, AuditState, AuditedTarget, Budget, CorruptLine,
    PlanOptions, PlannedPart, audit, plan,
};
pub use self::open::{Axis, Block, Blocks, Coordinate, FileReader, MemberInfo, Pack, PackedArray};
pub use self::single_file::{is_array_file, is_pack};
#[cfg(feature = "inspect")]
pub use self::{
    bag::BagReport,
    corners::{Corners, CornersOptions},
    info::{ArrayInfo, InfoOptions, ManifestInfo, PackInfo, array_file_info, array_info, info},
    list::{ListOptions, ListOrder, Listed, ListedArray, Listing, list},
    outline::{Outline, OutlineArray, OutlineDimension, OutlineGroup, OutlineOptions, outline},
    sample::{Column, FixedAxis, Grid, Line, Quantity, Sample, SampleOptions, SampledAxis},
    select::{InvalidPattern, Patterns},
    statistics::{
        Category, Histogram, NameStatistics, NumberStatistics, Statistics, StatisticsOptions,
    },
    validate::{ValidateOptions, ValidateReport, validate, validate_text},
    values::{Number, scale_and_offset},
    verify::{
        Intact, InvalidShard, ProvedByBlocks, Shard, TargetError, TargetErrorKind, Verdict,
        Verified, VerifyOptions, VerifyReport, verify, verify_each,
    },
};
#[cfg(feature = "convert")]
pub use self::{
    convert::{
        ArrayFormat, ConvertOptions, ConvertReport, Converted, Reinterpret, Unconverted,
        UnknownFormat, convert, convert_all,
    },
    get::{GetOptions, GetReport, get, get_to},
    refs::{RefsOptions, RefsReport, SkippedArray, refs_to, write_refs},
};
#[cfg(feature = "write")]
pub use self::{
    create::{CreateOptions, CreateReport, create},
    describe::{
        Change, DescribeOptions, DescribeReport, MetadataEdits, ReshapeReport, UpdateReport,
        describe_target, edit_descriptions, metadata_table, reshape, update_descriptions,
        write_descriptions,
    },
    diff::{
        ArrayChange, ArrayDiff, DescriptionDifference, DiffCounts, DiffOptions, DiffPlace,
        DiffSide, Distance, ElementsDiff, FieldDifference, FileDifference, MemberChange,
        MemberDiff, PackDiff, diff, diff_arrays, diff_members,
    },
    extract::{ExtractOptions, ExtractReport, extract},
    make_manifest::{ManifestOptions, ManifestReport, manifest_of, write_manifest},
    manifests::check_apart,
    writer::{ArrayStream, NewArray, PackWriter, WriteOptions},
};
