//! What experiments do to findings: confirm or refute them.

use slowpath_diagnose::diagnosis::{Diagnosis, Evidence, Grade, Source};
use slowpath_experiment::{Experiment, Verdict};

/// Applies the verdicts of finished experiments, given in the order in which they were written:
/// each is evidence, and the newest one that decided gives the grade. One that could not decide
/// takes nothing back. A refuted finding goes to the end: it is no answer, but what was tried
/// stays visible.
pub(crate) fn with_experiments(mut diagnosis: Diagnosis, experiments: &[Experiment]) -> Diagnosis {
    for experiment in experiments {
        let Some(outcome) = &experiment.outcome else {
            continue;
        };
        let same = diagnosis
            .findings
            .iter_mut()
            .filter(|f| f.cause == experiment.cause && f.endpoint == experiment.endpoint);
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
    diagnosis
        .findings
        .sort_by_key(|f| f.grade == Grade::Refuted);
    diagnosis
}
