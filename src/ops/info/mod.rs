//! What there is to know about one array or one pack without reading data: only directories, headers,
//! descriptions and manifests are read.

mod array;
mod lists;
mod pack;

pub use self::array::{ArrayInfo, array_file_info, array_info, is_array_file, is_pack};
pub use self::pack::{ManifestInfo, PackInfo, pack_info};
