//! Options of a conversion, and which of them fit together.

use std::path::PathBuf;

use super::format::ArrayFormat;
use crate::archive::{Compression, Container};
use crate::error::{Error, Result};
use crate::inspect::Patterns;
use crate::interchange::{ExportOptions, ImportOptions};
use crate::message::Message;
use crate::ndl::Order;
use crate::progress::Progress;

/// Options for [`convert`](super::convert()) and [`convert_all`](super::convert_all()): formats, the order of elements, and metadata that a format cannot
/// express.
#[derive(Debug, Clone, Default)]
pub struct ConvertOptions {
    /// Format of the input; determined by its name if `None`.
    pub from: Option<ArrayFormat>,
    /// Format of the output; determined by its name if `None`.
    pub to: Option<ArrayFormat>,
    /// The only array to convert; all arrays if `None`.
    pub member: Option<String>,
    /// Order of the elements in the output: [`Order::Column`] (first index fastest) or [`Order::Row`] (last index
    /// fastest). If `None`, arrays in other formats become column-major RawArray, and other arrays keep their order if
    /// the output format allows.
    pub order: Option<Order>,
    /// Whether to keep big-endian numbers and describe them as such. By default their bytes are swapped.
    pub keep_endian: bool,
    /// Whether to drop the bytes that follow the elements of a RawArray. By default another RawArray keeps them.
    pub drop_metadata: bool,
    /// File for the bytes that follow the elements, if a single RawArray is converted.
    pub keep_metadata: Option<PathBuf>,
    /// Another meaning for elements of types that a format does not have.
    pub reinterpret: Option<Reinterpret>,
    /// Whether to convert the masks of a `.ds` to arrays `NAME.mask`, and missing elements back to masks.
    pub masks: bool,
    /// Compression of the members of an `.npz` or of an archive; stored if `None`.
    pub compression: Option<Compression>,
    /// Whether to turn 1-D arrays without a description whose name is that of a coordinate, such as `time` or `lat`,
    /// into coordinates. Dimensions of other arrays with the same length get their names.
    pub dimcoords: bool,
    /// Whether to leave out the files of a directory that contain no arrays. By default they are copied.
    pub arrays_only: bool,
    /// Files of a directory or an archive to leave out.
    pub exclude: Patterns,
    /// Whether to follow symbolic links below a directory instead of rejecting them.
    pub dereference: bool,
    /// Whether to convert the pictures of a directory. By default they are copied.
    pub images: bool,
    /// Whether text has the numbers as they are stored, without scale and offset, dates, names and missing values.
    pub raw: bool,
    /// Whether to replace existing files.
    pub force: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// Another meaning for elements of types that a format does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reinterpret {
    /// Reads NumPy's `V2`, as saved by `ml_dtypes`, as bfloat16.
    BFloat16,
    /// Writes elements of types that NumPy does not have as untyped bytes (`Vn`).
    Void,
}

impl ConvertOptions {
    pub(super) fn read(&self) -> ImportOptions {
        let bfloat16 = self.reinterpret == Some(Reinterpret::BFloat16);
        ImportOptions { keep_endian: self.keep_endian, bfloat16, masks: self.masks }
    }

    pub(super) fn write(&self) -> ExportOptions {
        let as_void = self.reinterpret == Some(Reinterpret::Void);
        ExportOptions { as_void, mask_fill: self.masks }
    }

    /// Checks that each option is meaningful for these formats.
    pub(super) fn check(&self, from: ArrayFormat, to: ArrayFormat) -> Result<()> {
        let is_numpy = |form| matches!(form, ArrayFormat::Npy | ArrayFormat::Npz);
        // A directory may contain files of any format.
        let is_tree = from == ArrayFormat::Pack(Container::Directory);
        let remove =
            |why: String, option: &'static str| Message::from(why).text("; remove ").option(option);
        let is_zstd = matches!(self.compression, Some(Compression::Zstd { .. }));
        let reason = if !to.is_written() {
            let netcdf = "; with Python, xarray writes NetCDF: \
                          `xarray.open_datatree(PACK, engine=\"ra-pack\").to_netcdf(FILE)`";
            let is_netcdf = matches!(to, ArrayFormat::NetCdf | ArrayFormat::Hdf5);
            let how = if is_netcdf { netcdf } else { "" };
            format!("the format `{to}` can be read but not written{how}").into()
        } else if self.order == Some(Order::RowUnreversed) {
            "the order `row-unreversed` can be read but not written; use column or row".into()
        } else if self.order == Some(Order::Column) && to.is_row_only() {
            remove(format!("a .{to} is always row-major"), "order")
        } else if self.keep_endian && !to.is_rawarray() && !is_numpy(to) {
            remove(format!("a .{to} cannot be big-endian"), "keep_endian")
        } else if self.masks && from != ArrayFormat::Ds && to != ArrayFormat::Ds && !is_tree {
            remove("only a .ds has masks".to_owned(), "masks")
        } else if self.compression.is_some()
            && !matches!(to, ArrayFormat::Npz | ArrayFormat::Pack(_))
        {
            remove(format!("a .{to} cannot be compressed"), "compression")
        } else if to == ArrayFormat::Npz && is_zstd {
            "NumPy cannot read Zstandard in an .npz; use stored or deflate".into()
        } else if self.keep_metadata.is_some() && !from.is_rawarray() {
            format!("a .{from} has no trailing metadata to keep").into()
        } else if self.reinterpret == Some(Reinterpret::BFloat16) && !is_numpy(from) && !is_tree {
            let option = Message::default().option(("reinterpret", "bfloat16"));
            option.text(" requires .npy or .npz as input")
        } else if self.reinterpret == Some(Reinterpret::Void) && !is_numpy(to) {
            let option = Message::default().option(("reinterpret", "void"));
            option.text(" requires .npy or .npz as output")
        } else if self.dimcoords && !to.is_rawarray() {
            remove(format!("a .{to} has no dimension names"), "dimcoords")
        } else {
            return Ok(());
        };
        Err(Error::options(reason))
    }
}
