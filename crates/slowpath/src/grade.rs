//! What experiments do to findings: confirm or refute them.

use slowpath_core::scenario::COLD;
use slowpath_diagnose::diagnosis::{Evidence, Finding, Grade, Source};
use slowpath_experiment::{Experiment, Verdict};

/// Applies the verdicts of finished experiments, given in the order in which they were written:
/// each is evidence, and the newest one that decided gives the grade. One that could not decide
/// takes nothing back. A refuted finding goes to the end: it is no answer, but what was tried
/// stays visible.
pub(crate) fn apply(experiments: &[Experiment], findings: &mut [Finding]) {
    for experiment in experiments {
        let Some(outcome) = &experiment.outcome else {
            continue;
        };
        let same = findings
            .iter_mut()
            // Blocks are warm: what is slow in a cold pass only is not what they tested.
            .filter(|f| f.cause == experiment.cause && f.endpoint == experiment.endpoint)
            .filter(|f| f.pass.as_deref() != Some(COLD));
        for finding in same {
            finding.evidence.push(Evidence {
                source: Source::Experiment,
                pointer: format!("experiments/{}.json", experiment.name()),
                text: outcome.reason.clone(),
            });
            match outcome.verdict {
                Verdict::Confirmed => finding.grade = Grade::Confirmed,
                Verdict::Refuted => finding.grade = Grade::Refuted,
                Verdict::Undecided => {}
            }
            finding.next = format!("slowpath causes {}", finding.cause);
        }
    }
    findings.sort_by_key(|f| f.grade == Grade::Refuted);
}

#[cfg(test)]
mod tests {
    use slowpath_core::catalogue::{DELAYED_ACK, FIXED_DELAY};
    use slowpath_diagnose::diagnosis::{Culprit, Place};
    use slowpath_experiment::{Design, FORMAT, Hypothesis, Intervention, judge};

    use super::*;

    fn finding(cause: &str, endpoint: &str) -> Finding {
        Finding {
            or: Vec::new(),
            cause: cause.to_owned(),
            endpoint: Some(endpoint.to_owned()),
            pass: None,
            place: Place::Tail,
            share: 1.0,
            share_low: 1.0,
            share_high: 1.0,
            grade: Grade::Supported,
            summary: String::new(),
            evidence: Vec::new(),
            culprit: Culprit::default(),
            prediction: None,
            next: String::new(),
            episodes_s: Vec::new(),
        }
    }

    /// An experiment on delayed acknowledgements of `a`; without a verdict it was interrupted.
    fn experiment(seed: u64, verdict: Option<Verdict>) -> Experiment {
        let hypothesis = Hypothesis {
            statement: String::new(),
            intervention: Intervention::ClientQuickAck,
            metric: "a.p50".to_owned(),
            baseline_ms: 40.0,
            low_ms: 0.1,
            high_ms: 1.0,
            slow_above_ms: 6.0,
            remains: 0.0,
            written_at: "2026-01-01T00:00:00Z".to_owned(),
        };
        let design = Design::new(seed, 6, 1_000_000_000);
        let outcome = verdict.map(|verdict| {
            let mut outcome = judge(&design, &[], &hypothesis);
            outcome.verdict = verdict;
            outcome
        });
        Experiment {
            format: FORMAT,
            run: String::new(),
            cause: DELAYED_ACK.to_owned(),
            endpoint: Some("a".to_owned()),
            hypothesis,
            design,
            outcome,
        }
    }

    fn grade_after(verdicts: &[Option<Verdict>]) -> Grade {
        let experiments: Vec<Experiment> = verdicts
            .iter()
            .zip(1..)
            .map(|(&verdict, seed)| experiment(seed, verdict))
            .collect();
        let mut findings = [finding(DELAYED_ACK, "a")];
        apply(&experiments, &mut findings);
        findings[0].grade
    }

    #[test]
    fn the_newest_decision_counts_and_no_other_takes_it_back() {
        use Verdict::{Confirmed, Refuted, Undecided};
        assert_eq!(grade_after(&[]), Grade::Supported);
        assert_eq!(grade_after(&[None]), Grade::Supported);
        assert_eq!(grade_after(&[Some(Undecided)]), Grade::Supported);
        assert_eq!(grade_after(&[Some(Confirmed), None]), Grade::Confirmed);
        assert_eq!(
            grade_after(&[Some(Refuted), Some(Undecided)]),
            Grade::Refuted
        );
        assert_eq!(
            grade_after(&[Some(Confirmed), Some(Refuted)]),
            Grade::Refuted
        );
        assert_eq!(
            grade_after(&[Some(Refuted), Some(Confirmed)]),
            Grade::Confirmed
        );
    }

    #[test]
    fn an_experiment_is_about_its_own_cause_and_endpoint() {
        let mut findings = [
            finding(DELAYED_ACK, "a"),
            finding(DELAYED_ACK, "b"),
            finding(FIXED_DELAY, "a"),
        ];
        apply(&[experiment(5, Some(Verdict::Refuted))], &mut findings);
        let order: Vec<_> = findings
            .iter()
            .map(|f| (f.cause.as_str(), f.endpoint.as_deref(), f.grade))
            .collect();
        assert_eq!(
            order,
            [
                (DELAYED_ACK, Some("b"), Grade::Supported),
                (FIXED_DELAY, Some("a"), Grade::Supported),
                (DELAYED_ACK, Some("a"), Grade::Refuted),
            ]
        );
        assert_eq!(
            findings[2].evidence[0].pointer,
            "experiments/delayed-ack-0000000000000005.json"
        );
    }
}
