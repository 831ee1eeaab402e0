//! What a host excuses: a prediction that fails on one that was unfit, and was not when it was made, has
//! not been tested.

use slowpath_core::figures::{Better, HostNoise, RunFigures, Unit};
use slowpath_core::investigation::Prediction;
use slowpath_core::nanos::MILLISECOND;

use crate::history::{Typical, may_have_moved};

/// Why a figure that is worse than was predicted may be the doing of the host of `now` and not of `then`,
/// the runs on which it was predicted; `None` if it is not.
pub(super) fn excuse(
    prediction: &Prediction,
    value: f64,
    then: &[&RunFigures],
    now: &[&RunFigures],
) -> Option<String> {
    let unit = prediction.unit();
    let (low, high) = prediction.range();
    let worse_by = match unit.better() {
        Better::Lower => value - high,
        Better::Higher => low - value,
        Better::Neither => return None,
    };
    let noise = |runs: &[&RunFigures]| {
        runs.iter()
            .filter_map(|run| run.host)
            .collect::<Vec<HostNoise>>()
    };
    let (before, after) = (noise(then), noise(now));
    let host = Typical::of(&after).filter(|host| host.is_unfit())?;
    let may_be = match unit {
        Unit::Ns => may_have_moved(&before, &after, worse_by),
        // How a lack of CPU moves other figures is not known.
        _ => !Typical::of(&before).is_some_and(Typical::is_unfit),
    };
    (worse_by > 0.0 && may_be).then(|| {
        format!(
            "the host scored {:.0} of 100 and its timers were late by {:.1} ms, which may be all that is worse \
             than predicted: measure again on one without other users",
            host.score,
            host.late_ns / MILLISECOND as f64
        )
    })
}
