//! Reading packs: arrays, slices, values and statistics.

pub(crate) mod blocks;
#[cfg(feature = "full")]
pub(crate) mod content;
pub(crate) mod corners;
pub(crate) mod manifests;
pub(crate) mod open;
pub(crate) mod sample;
pub(crate) mod select;
pub(crate) mod single_file;
pub(crate) mod statistics;
pub(crate) mod values;

pub use self::corners::{Corners, CornersOptions};
pub use self::manifests::check_apart;
pub use self::open::{Axis, Block, Blocks, Coordinate, FileReader, MemberInfo, Pack, PackedArray};
pub use self::sample::{
    Column, ComplexPart, FixedAxis, Grid, Line, Point, Quantity, Sample, SampleOptions, SampledAxis,
};
pub use self::single_file::{is_array_file, is_pack};
pub use self::statistics::{
    Category, Histogram, NameStatistics, NumberStatistics, Statistics, StatisticsOptions,
};
pub use self::values::{
    Decoded, Decoder, Number, date_of, member_type_name, scale_and_offset, time_units, type_name,
};
pub use crate::fs::{ReadAt, Seekable};
pub use crate::pack::{datatype, shape_of};
