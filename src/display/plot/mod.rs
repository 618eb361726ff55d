//! Plots: lines and images with axes, as SVG.

pub mod axis;
pub mod chart;
pub mod color;
pub mod dates;
pub mod frame;
pub mod grid;
pub mod label;
pub mod line;
pub mod scene;
pub mod ticks;
pub mod units;
pub mod words;
