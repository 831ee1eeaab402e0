//! Whether the host or the service is to blame when repeats differ.

use slowpath_core::health::Health;
use slowpath_core::stats::spread::{FEWEST_RUNS, Spread, UNSTEADY_ABOVE, spread};

use crate::verdict::percent;

/// A calibration loop that varies by less than this over repeats clears the host: it is a seventh
/// of what makes a service unsteady, and the loop's own scatter on a calm machine is a tenth of
/// it.
pub const CALM_BELOW: f64 = 0.03;

/// Who is to blame for a wide spread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The same fixed work took as different times as the service did.
    Host,
    /// The same fixed work took the same time, and the service did not.
    Service,
    /// There is no evidence for either, for this reason.
    Unknown(String),
}

/// Who is to blame for the spread of a service's figures over repeats (in any unit), given the
/// mean times of the calibration loop around them, and what is known to have `disturbed` the host
/// in between. `None` if the service is steady, or has too few repeats to say.
///
/// Disturbances never put the blame on the host, since a repeat may have borne them; but they keep it from
/// being cleared, because the loop was not run while they were there.
pub fn blame(service: &[f64], calibration: &[f64], disturbed: Option<&str>) -> Option<Blame> {
    let unsteady = |s: &Spread| s.runs >= FEWEST_RUNS && s.comparable > UNSTEADY_ABOVE;
    spread(service).filter(unsteady)?;
    let Some(host) = spread(calibration).filter(|host| host.runs >= FEWEST_RUNS) else {
        let n = calibration.len();
        let reason = format!("the host was heard around only {n} of the repeats");
        return Some(Blame::Unknown(reason));
    };
    let varied = percent(host.comparable);
    Some(if host.comparable > UNSTEADY_ABOVE {
        Blame::Host
    } else if host.comparable >= CALM_BELOW {
        Blame::Unknown(format!(
            "the calibration loop varied by {varied}: too much to clear the host, too little to \
             blame it"
        ))
    } else if let Some(disturbed) = disturbed {
        Blame::Unknown(format!(
            "the calibration loop varied by {varied}, but {disturbed}"
        ))
    } else {
        Blame::Service
    })
}

/// The mean times of the calibration loop, one for each repeat that was heard by itself: repeats
/// that share what was heard are one witness.
pub fn calibrations<'a>(healths: impl IntoIterator<Item = &'a Health>) -> Vec<f64> {
    let mut heard = Vec::new();
    let mut means = Vec::new();
    for health in healths {
        let when = (health.before.span, health.after.span);
        if let Some(mean) = health.work_mean_ns()
            && !heard.contains(&when)
        {
            heard.push(when);
            means.push(mean);
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CALM: [f64; 5] = [1.0, 1.001, 1.002, 1.0, 1.003];
    const WILD: [f64; 5] = [1.0, 1.4, 1.1, 1.0, 1.3];

    #[test]
    fn high_and_high_is_the_host_and_high_and_low_the_service() {
        assert_eq!(blame(&WILD, &WILD, None), Some(Blame::Host));
        assert_eq!(blame(&WILD, &CALM, None), Some(Blame::Service));
        assert_eq!(blame(&CALM, &WILD, None), None);
        assert_eq!(blame(&CALM, &CALM, None), None);
    }

    #[test]
    fn in_between_and_without_witnesses_nobody_is_blamed() {
        let some = [1.0, 1.05, 1.1, 1.02, 1.04];
        let unknown = |calibration: &[f64], disturbed| match blame(&WILD, calibration, disturbed) {
            Some(Blame::Unknown(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert!(unknown(&some, None).contains("too much to clear"));
        assert!(unknown(&CALM[..2], None).contains("around only 2"));
        assert!(unknown(&[], None).contains("around only 0"));
        assert!(unknown(&CALM, Some("others were there")).contains("but others were there"));
        assert_eq!(blame(&WILD, &WILD, Some("others")), Some(Blame::Host));
    }

    #[test]
    fn too_few_repeats_ask_no_question() {
        assert_eq!(blame(&[1.0, 3.0], &CALM, None), None);
        assert_eq!(blame(&[], &[], None), None);
    }

    proptest! {
        #[test]
        fn units_do_not_matter(
            service in prop::collection::vec(0.5..2.0_f64, 0..8),
            calibration in prop::collection::vec(0.9..1.2_f64, 0..8),
            scale in 1e-3..1e6_f64,
        ) {
            let kind = |blame: Option<Blame>| blame.map(|blame| std::mem::discriminant(&blame));
            let scaled: Vec<f64> = service.iter().map(|s| s * scale).collect();
            let turned: Vec<f64> = calibration.iter().rev().copied().collect();
            prop_assert_eq!(
                kind(blame(&service, &calibration, None)),
                kind(blame(&scaled, &turned, None))
            );
        }
    }
}
