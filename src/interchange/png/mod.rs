//! PNG pictures: arrays of `uint8` or `uint16` with the shape `[height, width]` or
//! `[height, width, channels]`, the channels of a pixel side by side.
//!
//! | PNG | here |
//! | --- | --- |
//! | grey | `[height, width]` |
//! | grey and alpha, RGB, RGB and alpha | `[height, width, 2]`, 3, 4 |
//! | samples of 16 bits | `uint16` |
//! | samples of 1, 2, 4 bits | `uint8`, scaled to 0 to 255, and a loss |
//! | a palette | RGB, or with transparent colours RGB and alpha, and a loss |
//! | a transparent colour | an alpha channel, and a loss |
//! | texts, colour profiles, times, further pictures of an animation | a loss |
//!
//! Rows are read and written one at a time. Only an interlaced picture is held as a whole, up to
//! [`MAX_WHOLE`].

mod chunks;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{MAX_WHOLE, Reader};
pub use write::write;
