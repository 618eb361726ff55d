//! numpy's `.npy` files: one array each, versions 1.0 to 3.0, read and written without numpy.
//!
//! | dtype | datatype | element | back |
//! | --- | --- | --- | --- |
//! | `b1` | enum `{false: 0, true: 1}` of `uint8` | `uint8` | `b1` |
//! | `i1` to `i8`, `u1` to `u8`, `f2`, `f4`, `f8` | the word | the same | the same |
//! | `c8`, `c16` | compound of `r` and `i` | `complex64`, `complex128` | the same |
//! | `Sn` | opaque with the tag `text` | user, n bytes | `Sn` |
//! | one `Sn` without dimensions, in UTF-8 | `string` | `uint8`, n elements | `Sn` |
//! | `Un` | opaque with the tag `utf-32le` | user, 4n bytes | `Un` |
//! | `Vn` | opaque | user, n bytes | `Vn` |
//! | `V2`, when asked for | `bfloat16` | `bfloat16` | `<V2` |
//! | structured | compound; padding is opaque and called `_pad0`, `_pad1` | user | structured |
//! | `M8[ns]` | `int64`, `units: nanoseconds since 1970-01-01` | `int64` | `M8[ns]` |
//! | `m8[25s]` | `int64`, `units: 25 seconds` | `int64` | `m8[25s]` |
//! | `O`, `f16`, `c32`, `f1`, no bytes | refused | | |
//!
//! "Not a time" is the `storage.fillvalue` of times; it tells durations from numbers that have a unit. The unit
//! of the field `t` of a structure is the attribute `t.units`, that of its own field `u` is `t.u.units`. Inside of structures, two floats called `r`
//! and `i` become a complex number again. Titles of fields and bytes after the data are not kept, and told.

mod descr;
mod from_npy;
mod header;
mod literal;
mod read;
mod swap;
#[cfg(test)]
mod tests;
mod time;
mod to_npy;
mod write;

pub use descr::{ByteOrder, Descr, Field, Kind, Scalar};
pub use header::{Header, MAGIC, MAX_HEADER};
pub use read::{ReadOptions, Reader};
pub use time::TimeUnit;
pub use write::{Plan, WriteOptions, write};
