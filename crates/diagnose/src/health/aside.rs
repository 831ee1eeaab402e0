//! Which repeats comparisons exclude, and why: on evidence about the host alone, which was
//! recorded with the repeat before its result was examined.

use slowpath_core::figures::POOR_BELOW;

use super::{Circumstances, clock_event};

/// At least this many repeats stay, or none is excluded: fewer have no spread.
pub const STAY_FEWEST: usize = 3;

/// A repeat that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Its position.
    pub repeat: usize,
    /// Why.
    pub reason: String,
}

/// The repeats to exclude, in order, given the circumstances of each (`None` where nothing was
/// recorded, which is no evidence).
///
/// A repeat in which the wall clock was stepped or the host slept never counts. One that the host
/// disturbed badly (a score below [`POOR_BELOW`] without what the measurement itself says) is put
/// aside only if most repeats are not and [`STAY_FEWEST`] are left: if the host is bad in most of
/// them, that is how it is, and picking the best would be choosing the result.
pub fn put_aside(repeats: &[Option<Circumstances>]) -> Vec<Aside> {
    let reasons: Vec<Option<Reason>> = repeats.iter().map(|one| reason(one.as_ref()?)).collect();
    let poor = reasons.iter().flatten().filter(|r| !r.voids).count();
    let void = reasons.iter().flatten().filter(|r| r.voids).count();
    let stay = repeats.len() - poor - void;
    let exceptional = stay > poor && stay >= STAY_FEWEST;
    let aside = |(repeat, reason): (usize, Option<Reason>)| {
        let reason = reason.filter(|reason| reason.voids || exceptional)?;
        Some(Aside {
            repeat,
            reason: reason.text,
        })
    };
    reasons.into_iter().enumerate().filter_map(aside).collect()
}

struct Reason {
    voids: bool,
    text: String,
}

fn reason(circumstances: &Circumstances) -> Option<Reason> {
    let events = circumstances.clock_events.iter().flatten();
    if let Some(event) = events.into_iter().find(|event| event.kind.voids()) {
        return Some(Reason {
            voids: true,
            text: clock_event(event),
        });
    }
    // Only what does not know the results.
    let of_host = Circumstances {
        p99_ns: None,
        generator: None,
        ..circumstances.clone()
    };
    let score = of_host.score();
    let costly = score.components.iter().filter(|c| c.cost > 0);
    let texts: Vec<&str> = costly.map(|c| c.text.as_str()).collect();
    (score.of_host < POOR_BELOW).then(|| Reason {
        voids: false,
        text: format!("the host scored {}: {}", score.of_host, texts.join("; ")),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slowpath_core::Nanos;
    use slowpath_core::health::clocks::{ClockEvent, ClockEventKind};
    use slowpath_core::nanos::Span;

    use super::*;

    const NONE: [usize; 0] = [];

    fn calm() -> Circumstances {
        Circumstances {
            clock_events: Some(Vec::new()),
            work_cv: Some(0.001),
            ..Circumstances::default()
        }
    }

    fn poor() -> Circumstances {
        Circumstances {
            steal_share: Some(0.05),
            work_cv: Some(0.5),
            ..Circumstances::default()
        }
    }

    fn with_event(kind: ClockEventKind) -> Circumstances {
        let at = Nanos::new(1);
        Circumstances {
            clock_events: Some(vec![ClockEvent {
                kind,
                between: Span::new(at, at.plus(1)),
                by_ns: 5e7,
            }]),
            ..Circumstances::default()
        }
    }

    /// What is excluded of repeats that all have their circumstances recorded.
    fn asides(repeats: &[Circumstances]) -> Vec<Aside> {
        let known: Vec<_> = repeats.iter().cloned().map(Some).collect();
        put_aside(&known)
    }

    fn positions(repeats: &[Circumstances]) -> Vec<usize> {
        asides(repeats).iter().map(|aside| aside.repeat).collect()
    }

    #[test]
    fn a_stepped_clock_is_put_aside_whatever_the_others_are() {
        let step = with_event(ClockEventKind::Step);
        assert_eq!(positions(&[calm(), step.clone(), calm()]), [1]);
        assert_eq!(positions(std::slice::from_ref(&step)), [0]);
        let text = asides(&[step]).remove(0).reason;
        assert_eq!(text, "the wall clock was stepped by 50.0 ms");
        assert_eq!(
            positions(&[with_event(ClockEventKind::Pause), calm()]),
            NONE
        );
    }

    #[test]
    fn a_disturbed_repeat_is_put_aside_only_as_an_exception() {
        assert_eq!(positions(&[calm(), poor(), calm(), calm()]), [1]);
        assert_eq!(
            positions(&[calm(), poor(), calm()]),
            NONE,
            "too few would stay"
        );
        assert_eq!(
            positions(&[poor(), poor(), poor(), calm(), calm(), calm()]),
            NONE
        );
        assert_eq!(positions(&vec![poor(); 5]), NONE);
        assert_eq!(put_aside(&vec![None; 5]), []);
        let reason = asides(&[calm(), poor(), calm(), calm()]).remove(0).reason;
        assert!(
            reason.starts_with("the host scored 30: the hypervisor took"),
            "{reason}"
        );
    }

    #[test]
    fn what_was_measured_puts_nothing_aside() {
        let slow_and_late = Circumstances {
            late_p99_ns: Some(50_000_000),
            p99_ns: Some(1),
            generator: Some("it was late".to_owned()),
            work_cv: Some(0.05),
            ..Circumstances::default()
        };
        assert_eq!(positions(&[slow_and_late, calm(), calm(), calm()]), NONE);
    }

    proptest! {
        #[test]
        fn results_never_matter_and_most_stay(
            kinds in prop::collection::vec(0..3_u8, 0..12),
            p99_ns in prop::collection::vec(prop::option::of(1_u64..1_000_000_000), 12),
        ) {
            let of = |kind: &u8| match kind {
                0 => calm(),
                1 => poor(),
                _ => with_event(ClockEventKind::Suspend),
            };
            let plain: Vec<_> = kinds.iter().map(of).collect();
            let mut measured = plain.clone();
            for (one, p99_ns) in measured.iter_mut().zip(p99_ns) {
                one.p99_ns = p99_ns;
                one.late_p99_ns = p99_ns;
            }
            let aside = asides(&plain);
            prop_assert_eq!(&aside, &asides(&measured));
            let disturbed = aside.iter().filter(|a| kinds[a.repeat] == 1).count();
            prop_assert!(disturbed == 0 || kinds.len() - aside.len() >= STAY_FEWEST);
            for (i, &kind) in kinds.iter().enumerate() {
                prop_assert!(kind != 2 || aside.iter().any(|a| a.repeat == i));
            }
            prop_assert!(aside.iter().all(|a| !a.reason.is_empty() && kinds[a.repeat] != 0));
        }
    }
}
