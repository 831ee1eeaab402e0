//! What came of one run: its report held against what was expected.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::Variant;

/// Names that say something of the load generator or of the host, and nothing of the server.
const HOST: &[&str] = &[
    "client-saturation",
    "clock-jump",
    "coordinated-omission",
    "observer-effect",
    "noisy-neighbour",
    "cpu-steal",
];
/// Names the host if others have the CPUs, and the server if its own threads do.
const WAITS_FOR_A_CPU: &str = "run-queue-delay";
/// What its summary says in the first of these cases.
const OTHERS: &str = "a CPU that others have";
/// How far down a name still counts as one that the user sees.
const TOP: usize = 3;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// The expected cause is first; all that must be found is.
    Right,
    /// It is among the first three.
    Behind,
    /// It is first, and what must be found beside it is not.
    Half,
    /// Nothing about the server is named, though something is wrong.
    Missed,
    /// The same, and the report says that it cannot tell whether it is the expected cause.
    Blind,
    /// Something else is named.
    Wrong,
    /// Nothing is wrong, and nothing is named.
    Quiet,
    /// Nothing is wrong, and something is named.
    FalseName,
    /// The report calls its own measurement invalid.
    Invalid,
    /// The server was not as sick, or as healthy, as it was asked to be.
    NotInduced,
    /// Something that it needs is missing here.
    Skipped,
    /// There is no report.
    Failed,
}

impl Verdict {
    /// Whether it says anything of the judgement.
    pub(crate) fn counts(self) -> bool {
        use Verdict::{Failed, Invalid, NotInduced, Skipped};
        !matches!(self, Invalid | NotInduced | Skipped | Failed)
    }

    /// Whether slowpath did what it should.
    pub(crate) fn is_good(self) -> bool {
        matches!(self, Self::Right | Self::Quiet)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Right => "right",
            Self::Behind => "behind",
            Self::Half => "half",
            Self::Missed => "missed",
            Self::Blind => "blind",
            Self::Wrong => "WRONG",
            Self::Quiet => "quiet",
            Self::FalseName => "FALSE NAME",
            Self::Invalid => "invalid",
            Self::NotInduced => "not induced",
            Self::Skipped => "skipped",
            Self::Failed => "FAILED",
        })
    }
}

/// One finding of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) cause: String,
    pub(crate) share: f64,
    pub(crate) grade: String,
    /// `tail`, `floor`, `errors` or `throughput`.
    pub(crate) place: String,
    pub(crate) endpoint: Option<String>,
}

/// What a report says, as far as it is scored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Said {
    /// About the server, the answer first.
    pub(crate) named: Vec<Named>,
    /// About the host or the load generator.
    pub(crate) host: Vec<Named>,
    /// The checks of the measurement that are not `ok`.
    pub(crate) checks: Vec<String>,
    pub(crate) is_valid: bool,
    /// Causes of which the report says that it cannot tell.
    #[serde(default)]
    pub(crate) blind: Vec<String>,
    /// Unexplained shares by endpoint and place.
    pub(crate) unexplained: Vec<Unexplained>,
    /// The largest share of the CPUs that others used in a repeat.
    pub(crate) others_share: f64,
    /// The host's score, of 100.
    pub(crate) host_score: f64,
    /// When the run began (RFC 3339).
    pub(crate) began: String,
    /// The processor, the number of CPUs and the kernel.
    pub(crate) machine: String,
}

/// What nobody explains of one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unexplained {
    pub(crate) endpoint: Option<String>,
    pub(crate) place: String,
    pub(crate) share: f64,
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Reads a report for this variant: names of the host that are expected are no names of the host.
pub(crate) fn read(report: &Value, variant: &Variant) -> Said {
    let mut said = Said {
        is_valid: report["run"]["valid"] == true,
        host_score: report["run"]["health"]["score"].as_f64().unwrap_or(0.0),
        began: text(&report["run"]["began"]),
        machine: machine(&report["run"]["host"]),
        ..Said::default()
    };
    for finding in list(report, "findings") {
        let named = Named {
            cause: text(&finding["cause"]),
            share: finding["share"].as_f64().unwrap_or(0.0),
            grade: text(&finding["grade"]),
            place: text(&finding["where"]),
            endpoint: finding["endpoint"].as_str().map(str::to_owned),
        };
        let is_wanted = is_wanted(variant, &named.cause) || variant.allows.contains(&named.cause);
        let known = if is_of_host(finding) && !is_wanted {
            &mut said.host
        } else {
            &mut said.named
        };
        // A cause of several endpoints is one name.
        if !known.iter().any(|other: &Named| other.cause == named.cause) {
            known.push(named);
        }
    }
    for check in list(report, "validity").filter(|check| check["status"] != "ok") {
        let [name, status, detail] = ["check", "status", "detail"].map(|key| text(&check[key]));
        said.checks.push(format!("{name} {status}: {detail}"));
    }
    said.blind = list(report, "blind")
        .map(|one| text(&one["cause"]))
        .collect();
    for entry in list(report, "unexplained") {
        said.unexplained.push(Unexplained {
            endpoint: entry["endpoint"].as_str().map(str::to_owned),
            place: text(&entry["where"]),
            share: entry["share"].as_f64().unwrap_or(0.0),
        });
    }
    let shares = list(&report["run"]["health"], "repeats");
    let shares = shares.filter_map(|repeat| repeat["others_share"].as_f64());
    said.others_share = shares.fold(0.0, f64::max);
    said
}

fn machine(host: &Value) -> String {
    let [model, kernel] = ["cpu_model", "kernel"].map(|key| text(&host[key]));
    format!("{model}, {} CPUs, Linux {kernel}", host["cpus"])
}

fn is_wanted(variant: &Variant, cause: &str) -> bool {
    let mut wanted = variant.expects.iter().chain(&variant.also);
    wanted.any(|name| name == cause)
}

fn is_of_host(finding: &Value) -> bool {
    let cause = text(&finding["cause"]);
    let summary = text(&finding["summary"]);
    HOST.contains(&cause.as_str()) || cause == WAITS_FOR_A_CPU && summary.contains(OTHERS)
}

/// Holds what was said against what was expected.
pub(crate) fn judge(said: &Said, variant: &Variant) -> Verdict {
    // What voids a measurement may be what is to be found.
    let is_about_host = variant
        .expects
        .iter()
        .any(|name| HOST.contains(&name.as_str()));
    if !said.is_valid && !is_about_host {
        return Verdict::Invalid;
    }
    let mut names = said.named.iter().map(|named| &named.cause);
    if variant.expects.is_empty() {
        let is_quiet = names.all(|name| variant.allows.contains(name));
        return if is_quiet {
            Verdict::Quiet
        } else {
            Verdict::FalseName
        };
    }
    let names: Vec<&String> = names.collect();
    let place = names.iter().position(|name| variant.expects.contains(name));
    match place {
        Some(0) if variant.also.iter().all(|name| names.contains(&name)) => Verdict::Right,
        Some(0) => Verdict::Half,
        Some(place) if place < TOP => Verdict::Behind,
        _ if names.iter().any(|name| !variant.allows.contains(name)) => Verdict::Wrong,
        _ if variant.expects.iter().any(|name| said.blind.contains(name)) => Verdict::Blind,
        _ => Verdict::Missed,
    }
}

/// The finding that was expected, wherever it stands.
pub(crate) fn found<'a>(said: &'a Said, variant: &Variant) -> Option<&'a Named> {
    let mut named = said.named.iter();
    named.find(|named| variant.expects.contains(&named.cause))
}

/// Names that are neither expected nor true beside what is expected.
pub(crate) fn false_names(said: &Said, variant: &Variant) -> Vec<String> {
    let names = said.named.iter().map(|named| &named.cause);
    let is_false = |name: &&String| !is_wanted(variant, name) && !variant.allows.contains(name);
    names.filter(is_false).cloned().collect()
}

/// What is left unexplained where the expected cause was found; all of it where it was not.
/// Failures have no such share.
pub(crate) fn unexplained(said: &Said, variant: &Variant) -> Option<f64> {
    let Some(found) = found(said, variant) else {
        return Some(1.0);
    };
    let there = said.unexplained.iter().filter(|entry| {
        entry.place == found.place && (found.endpoint.is_none() || entry.endpoint == found.endpoint)
    });
    there.map(|entry| entry.share).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn variant(expects: &[&str], also: &[&str], allows: &[&str]) -> Variant {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Variant {
            expects: owned(expects),
            also: owned(also),
            allows: owned(allows),
            ..Variant::default()
        }
    }

    fn report(valid: bool, causes: &[&str]) -> Value {
        let findings: Vec<Value> = causes
            .iter()
            .map(|cause| {
                let (cause, summary) = cause.split_once('/').unwrap_or((cause, ""));
                json!({"cause": cause, "share": 0.8, "grade": "supported", "where": "tail",
                       "endpoint": "page", "summary": summary})
            })
            .collect();
        json!({"run": {"valid": valid}, "findings": findings, "validity": [
            {"check": "host", "status": "warn", "detail": "busy"},
            {"check": "clock-jump", "status": "ok", "detail": ""}],
            "unexplained": [{"endpoint": "page", "where": "tail", "share": 0.2},
                            {"endpoint": "page", "where": "floor", "share": 0.9}]})
    }

    fn verdict(variant: &Variant, valid: bool, causes: &[&str]) -> Verdict {
        judge(&read(&report(valid, causes), variant), variant)
    }

    #[test]
    fn the_first_name_decides() {
        let sick = variant(&["fixed-delay"], &[], &["queueing"]);
        for (causes, expected) in [
            (&["fixed-delay", "queueing"][..], Verdict::Right),
            (&["queueing", "fixed-delay"], Verdict::Behind),
            (&["queueing", "a", "b", "fixed-delay"], Verdict::Wrong),
            (&["lock-contention"], Verdict::Wrong),
            (&["queueing"], Verdict::Missed),
            (&[], Verdict::Missed),
        ] {
            assert_eq!(verdict(&sick, true, causes), expected, "{causes:?}");
        }
    }

    #[test]
    fn to_say_that_it_cannot_be_told_is_more_than_to_miss_it() {
        let sick = variant(&["fixed-delay"], &[], &[]);
        let mut report = report(true, &[]);
        report["blind"] = json!([{"cause": "fixed-delay", "missing": "", "remedy": ""}]);
        assert_eq!(judge(&read(&report, &sick), &sick), Verdict::Blind);
        report["blind"] = json!([{"cause": "lock-contention"}]);
        assert_eq!(judge(&read(&report, &sick), &sick), Verdict::Missed);
    }

    #[test]
    fn both_of_a_combination_must_be_found() {
        let both = variant(&["fixed-delay"], &["lock-contention"], &[]);
        let causes = &["fixed-delay", "lock-contention"];
        assert_eq!(verdict(&both, true, causes), Verdict::Right);
        assert_eq!(verdict(&both, true, &causes[..1]), Verdict::Half);
    }

    #[test]
    fn nothing_may_be_named_in_a_healthy_server() {
        let healthy = variant(&[], &[], &["queueing"]);
        assert_eq!(verdict(&healthy, true, &[]), Verdict::Quiet);
        assert_eq!(verdict(&healthy, true, &["queueing"]), Verdict::Quiet);
        assert_eq!(
            verdict(&healthy, true, &["fixed-delay"]),
            Verdict::FalseName
        );
    }

    #[test]
    fn the_host_is_no_name_of_the_server() {
        let healthy = variant(&[], &[], &[]);
        let causes = &[
            "client-saturation",
            "run-queue-delay/threads wait for a CPU that others have",
        ];
        assert_eq!(verdict(&healthy, true, causes), Verdict::Quiet);
        let said = read(&report(true, causes), &healthy);
        assert_eq!((said.named.len(), said.host.len()), (0, 2));
        assert_eq!(said.checks, ["host warn: busy"]);
        let own = &["run-queue-delay/the server has more threads than CPUs"];
        assert_eq!(verdict(&healthy, true, own), Verdict::FalseName);
        let starved = variant(&["run-queue-delay"], &[], &[]);
        assert_eq!(
            verdict(
                &starved,
                true,
                &["run-queue-delay/for a CPU that others have"]
            ),
            Verdict::Right
        );
    }

    #[test]
    fn an_invalid_run_decides_nothing_unless_that_is_expected() {
        let sick = variant(&["fixed-delay"], &[], &[]);
        assert_eq!(verdict(&sick, false, &["fixed-delay"]), Verdict::Invalid);
        let jumps = variant(&["clock-jump"], &[], &[]);
        assert_eq!(verdict(&jumps, false, &["clock-jump"]), Verdict::Right);
    }

    #[test]
    fn what_is_unexplained_is_that_of_the_place_where_the_cause_is() {
        let sick = variant(&["fixed-delay"], &[], &[]);
        let said = read(&report(true, &["fixed-delay", "queueing"]), &sick);
        assert_eq!(unexplained(&said, &sick), Some(0.2));
        assert_eq!(false_names(&said, &sick), ["queueing"]);
        let said = read(&report(true, &["queueing"]), &sick);
        assert_eq!(unexplained(&said, &sick), Some(1.0));
        let mut said = read(&report(true, &["fixed-delay"]), &sick);
        said.named[0].place = "errors".to_owned();
        assert_eq!(unexplained(&said, &sick), None);
    }
}
