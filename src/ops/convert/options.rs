//! How to convert.

use std::path::PathBuf;

use super::form::Form;
use crate::archive::Compression;
use crate::error::{Error, Result};
use crate::ndl::Order;
use crate::progress::Progress;

/// How to convert.
#[derive(Debug, Clone, Default)]
pub struct ConvertOptions {
    /// The form of the input; by its name when not given.
    pub from: Option<Form>,
    /// The form of the output; by its name when not given.
    pub to: Option<Form>,
    /// The one array to convert.
    pub member: Option<String>,
    /// How the output is to hold its arrays: [`Order::Column`] with the first index fastest, [`Order::Row`]
    /// with the last. When not given, formats of others come into RawArray with the first index fastest,
    /// and everything else stays as it is where the output allows.
    pub order: Option<Order>,
    /// Leave big-endian numbers as they are and say so, instead of swapping them.
    pub keep_endian: bool,
    /// Leave out what follows the elements of a RawArray, instead of keeping it in another.
    pub drop_metadata: bool,
    /// Write what follows the elements of the one RawArray to this file.
    pub keep_metadata: Option<PathBuf>,
    /// Take elements for something that the formats have no word for.
    pub reinterpret: Option<Reinterpret>,
    /// Give the masks of a `.ds` as arrays `NAME.mask`, and make masks of the elements that stand for none on
    /// the way back.
    pub masks: bool,
    /// How the members of an `.npz` or of an archive are compressed; not at all when not given.
    pub compression: Option<Compression>,
    /// Replace what is there already, but never a directory with something in it.
    pub force: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Who is told how far it is.
    pub progress: Progress,
}

/// What elements are taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reinterpret {
    /// Elements of two bytes without a type are brain floats: `ml_dtypes` saves them so.
    BFloat16,
    /// Elements that numpy has no type for are bytes without a type.
    Void,
}

impl ConvertOptions {
    /// That each option means something for these forms.
    pub(super) fn check(&self, from: Form, to: Form) -> Result<()> {
        let unsupported = |text: String| Err(Error::Unsupported(text));
        if self.order == Some(Order::RowUnreversed) {
            return unsupported("`row-unreversed` is only read; give column or row".to_owned());
        }
        if self.order == Some(Order::Column) && matches!(to, Form::Ds | Form::Png) {
            return unsupported(format!(
                "a .{to} always has the last index fastest; leave --order out"
            ));
        }
        if self.keep_endian && !to.is_rawarray() && !matches!(to, Form::Npy | Form::Npz) {
            return unsupported(format!(
                "a .{to} does not keep the byte order; leave --keep-endian out"
            ));
        }
        if self.masks && from != Form::Ds && to != Form::Ds {
            return unsupported("only a .ds has masks; leave --masks out".to_owned());
        }
        if self.compression.is_some() && !matches!(to, Form::Npz | Form::Pack(_)) {
            return unsupported(format!("a .{to} has no compression to choose"));
        }
        if to == Form::Npz && matches!(self.compression, Some(Compression::Zstd { .. })) {
            return unsupported(
                "numpy does not read zstd in an .npz; give stored or deflate".to_owned(),
            );
        }
        if self.keep_metadata.is_some() && !from.is_rawarray() {
            return unsupported(format!("nothing follows the elements of a .{from}"));
        }
        let is_numpy = |form| matches!(form, Form::Npy | Form::Npz);
        match self.reinterpret {
            Some(Reinterpret::BFloat16) if !is_numpy(from) => {
                unsupported("--as bfloat16 is for what comes out of .npy and .npz".to_owned())
            }
            Some(Reinterpret::Void) if !is_numpy(to) => {
                unsupported("--as void is for what becomes .npy and .npz".to_owned())
            }
            _ => Ok(()),
        }
    }
}
