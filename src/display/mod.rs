//! Values, statistics and plots as text and SVG, for the command and the viewer. Any version may change them.

pub mod array;
pub mod export;
pub mod markdown;
pub mod plot;
pub mod snippet;
pub mod statistics;
pub mod text;
pub mod values;
