//! Where more connections stop buying throughput.

use serde::{Deserialize, Serialize};

use super::level::Level;

/// Throughput within a tenth of the most is the plateau: repeats on a shared host scatter by as
/// much.
const PLATEAU: f64 = 0.9;
/// A plateau reaches over at least this factor of levels: throughput that still grows in
/// proportion would have grown from nine tenths to well above the most in it. Levels that lie close
/// together make no plateau by their number.
const PLATEAU_SPAN: f64 = 1.5;

/// The knee of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Knee {
    /// Where the asymptotes of light and heavy load cross: the largest throughput times the time
    /// one user needs at the lowest level (Lazowska et al. 1984, chapter 5). Below, users are what
    /// is scarce; above, the target is.
    pub at: f64,
    /// Lower end, from the extremes of the runs at both levels.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The largest median throughput, a second.
    pub plateau_per_s: f64,
    /// The level that had it.
    pub plateau_level: f64,
    /// The lowest level with nine tenths of it.
    pub reached_at: f64,
}

/// The knee of levels in ascending order; `None` if throughput still grows at the end or is at
/// its most from the lowest level on, or for fewer than three levels.
pub fn knee(levels: &[&Level]) -> Option<Knee> {
    let first = levels.first().filter(|_| levels.len() >= 3)?;
    let best = levels
        .iter()
        .max_by(|a, b| a.per_s.median.total_cmp(&b.per_s.median))?;
    let most = best.per_s.median;
    let on_plateau = |level: &&&Level| level.per_s.median >= PLATEAU * most;
    let reached = levels.iter().find(on_plateau)?;
    let span = levels.last()?.level / reached.level;
    // What it would be in proportion, at its least, is more than it ever was.
    let is_flat = span >= PLATEAU_SPAN && best.per_s.high < span * reached.per_s.low;
    // A plateau from the lowest level on has its knee below it, at an unknown place.
    if reached.level <= first.level || most <= 0.0 || first.per_s.low <= 0.0 || !is_flat {
        return None;
    }
    let crossing = |most: f64, light: f64| most * first.level / light;
    Some(Knee {
        at: crossing(most, first.per_s.median),
        low: crossing(best.per_s.low, first.per_s.high),
        high: crossing(best.per_s.high, first.per_s.low),
        plateau_per_s: most,
        plateau_level: best.level,
        reached_at: reached.level,
    })
}
