//! Where the time of slow requests went: slices that tile each request, with what it waited for,
//! who had that, and how it is known. Knows no cause, and does no I/O.
//!
//! [`slice`] is the model, [`breakdown`] sums slices up to lines that add to 100 %, [`stations`]
//! finds anything with k places and a queue from arrivals and departures, and [`mass`] says how
//! much of the time a mechanism could still explain.
#![warn(clippy::disallowed_methods)]

pub mod breakdown;
pub mod mass;
pub mod slice;
pub mod stations;
pub mod words;

pub use breakdown::{Breakdown, Line, breakdown};
pub use mass::{Mass, RuledOut, StateSet};
pub use slice::{Actor, Basis, CpuUser, DiskUse, Holder, Path, Phase, Place, Reason, Slice, State};
pub use stations::{Fit, Visit, fit, fit_behind, fit_places_of};
