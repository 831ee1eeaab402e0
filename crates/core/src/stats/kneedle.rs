//! Kneedle: where a curve bends most, as a marker on a chart.
//!
//! It finds a bend in any curve that is not straight and can only name a level that was measured:
//! it says nothing of capacity. What a target can do is for the scalability law and for limits
//! on latency to say.

/// How many mean steps the curve has to fall after its largest lead before a lead is a knee
/// (the S of the paper, which recommends 1).
const SENSITIVITY: f64 = 1.0;

/// The first knee of a concave, growing curve of points `(x, y)` in ascending `x`, by its `x`
/// (Satopää et al. 2011, on the points as they are); `None` for a curve without one, or for
/// fewer than three points.
pub fn knee(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let span = last.0 - first.0;
    let low = points.iter().map(|point| point.1).reduce(f64::min)?;
    let high = points.iter().map(|point| point.1).reduce(f64::max)?;
    if points.len() < 3 || span <= 0.0 || high <= low {
        return None;
    }
    // How far the curve is ahead of the diagonal of the unit square.
    let lead = |&(x, y): &(f64, f64)| (y - low) / (high - low) - (x - first.0) / span;
    let leads: Vec<f64> = points.iter().map(lead).collect();
    let step = 1.0 / (points.len() as f64 - 1.0);
    let mut candidate: Option<usize> = None;
    for at in 1..points.len() {
        let is_peak =
            leads[at] > leads[at - 1] && leads.get(at + 1).is_some_and(|n| leads[at] >= *n);
        if is_peak {
            candidate = Some(at);
        } else if let Some(peak) = candidate
            && leads[at] < leads[peak] - SENSITIVITY * step
        {
            return Some(points[peak].0);
        }
    }
    None
}
