//! Synthetic runs, written in a few lines of TOML: a small server is simulated event by event,
//! and what the probes would have read of it becomes the record.
//!
//! Same text, same record: everything is drawn from the seed that the text names.

mod acts;
pub(crate) mod dist;
mod ends;
pub(crate) mod kernel;
mod keyed;
mod lock;
mod machine;
mod profiled;
pub(crate) mod record;
mod request;
mod script;
mod series;
mod sim;
pub(crate) mod spec;
mod tests;
mod traced;

use slowpath_core::record::RunRecord;
use slowpath_diagnose::diagnosis::{Diagnosis, Finding};
use slowpath_diagnose::judge;

use spec::{Case, Expect};

/// The record of a case.
pub(crate) fn build(case: &Case) -> RunRecord {
    record::record(case, &sim::run(case))
}

/// Builds and judges.
pub(crate) fn diagnose(case: &Case) -> Diagnosis {
    judge(&build(case))
}

/// Whether the judgement is what the case expects for that cause; the error says what it is.
pub(crate) fn check(case: &Case, cause: &str, diagnosis: &Diagnosis) -> Result<(), String> {
    let actual = match case.expect {
        Expect::Nothing if diagnosis.findings.is_empty() => return Ok(()),
        Expect::Nothing => "a finding",
        _ if diagnosis.findings.iter().any(|f| f.cause == cause) => "found",
        _ if diagnosis.blind.iter().any(|b| b.cause == cause) => "blind",
        _ if diagnosis.cleared.iter().any(|c| c.cause == cause) => "cleared",
        _ => "never mentioned",
    };
    if actual == case.expect.name() {
        return Ok(());
    }
    let mut text = format!(
        "{}: {cause} was expected to be {}, but is {actual}",
        case.name,
        case.expect.name()
    );
    text.push_str(&explain(diagnosis));
    Err(text)
}

/// What the judgement says, for people who look for a mistake in it.
pub(crate) fn explain(diagnosis: &Diagnosis) -> String {
    let mut text = String::new();
    let mut say = |line: String| {
        text.push_str("\n    ");
        text.push_str(&line);
    };
    for e in &diagnosis.endpoints {
        let modes: Vec<String> = e
            .modes
            .iter()
            .map(|m| format!("{:.2} ms {:.3}", m.at_ms, m.weight))
            .collect();
        say(format!(
            "endpoint {}: {} completed, p50 {:?} p99 {:?}, modes {modes:?}",
            e.name, e.completed, e.latency_ms.p50.value, e.latency_ms.p99.value
        ));
    }
    for f in &diagnosis.findings {
        say(format!("found {}: {}", finding_line(f), f.summary));
        for proof in &f.evidence {
            say(format!("  {}: {}", proof.pointer, proof.text));
        }
    }
    for c in &diagnosis.cleared {
        say(format!("cleared {}: {}", c.cause, c.text));
    }
    for b in &diagnosis.blind {
        say(format!("blind {}: {}", b.cause, b.missing));
    }
    for u in &diagnosis.unexplained {
        say(format!(
            "unexplained of {}: {:.3}, {} slow of {}, {:?}",
            u.endpoint, u.share, u.slow, u.of, u.split
        ));
    }
    text
}

/// One finding in the words of a snapshot: cause, grade, place, endpoint, share.
pub(crate) fn finding_line(finding: &Finding) -> String {
    let grade = format!("{:?}", finding.grade).to_lowercase();
    let place = format!("{:?}", finding.place).to_lowercase();
    let endpoint = finding.endpoint.as_deref().unwrap_or("all");
    let percent = (finding.share * 100.0).round();
    format!("{} {grade} {place} {endpoint} {percent}%", finding.cause)
}
