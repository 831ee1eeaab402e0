//! What pauses of garbage collection have of slow requests, in words.

use std::fmt::Write as _;

use slowpath_diagnose::diagnosis::EndpointPauses;

use crate::quantity;

/// `pauses by Go's gctrace: 62 in the window, median 18 ms, longest 24 ms, placed to 2 ms; …`.
pub(super) fn told(pauses: &EndpointPauses) -> String {
    let ms = quantity::duration;
    let lengths = pauses
        .median_ms
        .zip(pauses.max_ms)
        .map(|(median, max)| format!(", median {}, longest {}", ms(median), ms(max)));
    let placed = ms(pauses.clock_error_ms);
    let mut text = format!(
        "garbage collection by {}: {}{}, placed to {placed}",
        pauses.log,
        quantity::plural(pauses.pauses, "pause"),
        lengths.unwrap_or_default()
    );
    let shares = pauses.excess_share.zip(pauses.chance_share);
    if let Some((own, chance)) = shares.filter(|_| pauses.pauses > 0) {
        let (met, slow) = (quantity::count(pauses.met), quantity::count(pauses.slow));
        let _ = write!(
            text,
            "; {} of what slow requests take longer lies in them ({met} of {slow} slow requests \
             met one; by chance {})",
            quantity::percent(own),
            quantity::percent(chance)
        );
    }
    if pauses
        .median_ms
        .is_some_and(|median| median < pauses.clock_error_ms)
    {
        text += "; most are shorter than they can be placed";
    }
    if pauses.log_cut {
        text += "; the log is longer than what was looked through";
    }
    text
}
