//! Plot primitives: scales with their ticks, frames with axes, lines, heat maps, bins of time.
//!
//! The data layer of a plot is an SVG stretched over its frame (`viewBox` 0 0 1000 1000), so that
//! a page fits any width; all text is HTML placed in per cent, so that it is never stretched.

mod bins;
mod frame;
mod heat;
mod path;
mod scale;

pub(crate) use bins::Bins;
pub(crate) use frame::{Axis, Frame};
pub(crate) use heat::{Heat, LEVELS};
pub(crate) use path::{dot, line, rect, steps};
pub(crate) use scale::Scale;
