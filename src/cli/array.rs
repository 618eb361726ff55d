//! One array, given as a member of a pack or as a file, and the options that select a part of it.

use std::path::Path;

pub(super) use ra_pack::display::array::*;
use ra_pack::{Pack, PackedArray, Progress, Result};

use super::shell;

/// The part of an array by its coordinates.
#[derive(Debug, clap::Args)]
pub(super) struct ByCoordinate {
    /// Select a part by coordinates: `time=2024-06-03,depth=10:50`. A range includes both ends, and
    /// `2024-06` is a whole month. Dimensions without a selection are taken whole.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "slice")]
    sel: Option<String>,

    /// Take the nearest coordinate for each single value of --sel.
    #[arg(long, requires = "sel")]
    nearest: bool,
}

impl ByCoordinate {
    pub(super) fn is_given(&self) -> bool {
        self.sel.is_some()
    }

    /// Returns the slice of the selection, or the given one.
    pub(super) fn slice(
        &self,
        array: &PackedArray,
        slice: Option<&String>,
    ) -> Result<Option<String>> {
        match &self.sel {
            Some(selection) => array.slice_at(selection, self.nearest).map(Some),
            None => Ok(slice.cloned()),
        }
    }
}

/// Whether values are shown as they are stored.
#[derive(Debug, clap::Args)]
pub(super) struct Stored {
    /// Use numbers as they are stored, without scale and offset, dates, names and missing values.
    #[arg(long)]
    pub(super) raw: bool,
}

/// The note that part of a remote array is shown without any check.
pub(super) const NOT_VERIFIED: &str = "ra-pack: not verified: only these values were read, and the pack has no block digests that prove them";

/// Opens the pack, or the directory of a single array file. Returns it with the name of the array.
pub(super) fn open(
    target: &Path,
    member: Option<&str>,
    progress: &Progress,
) -> Result<(Pack, String)> {
    match member {
        Some(member) => {
            let pack = Pack::open_watched(target, progress)?;
            let member = pack.resolve(member)?;
            Ok((pack, member))
        }
        None if ra_pack::files::is_pack(target)? => {
            // Fails with the reason for a file that only looks like a pack.
            Pack::open(target)?;
            let list = format!("`ra-pack list --arrays {}`", shell::path(target));
            let reason = format!("is a pack; name one of its arrays, which {list} shows").into();
            Err(ra_pack::Error::WrongTarget { target: target.to_owned(), reason })
        }
        None => Pack::of_array_watched(target, progress),
    }
}
