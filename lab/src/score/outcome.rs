//! What came of one run: its report compared with what was expected.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::{ExpectedLine, Variant, is_state};

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
    #[serde(alias = "behind")]
    AmongThree,
    /// It is first, and what must be found beside it is not.
    Half,
    /// Nothing about the server is named, though something is wrong.
    Missed,
    /// The same, and the report says that it cannot decide whether it is the expected cause.
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
            Self::AmongThree => "among first three",
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
    /// Causes of which the report says that it cannot decide.
    #[serde(default)]
    pub(crate) blind: Vec<String>,
    /// Expected causes that the report rules out.
    #[serde(default)]
    pub(crate) cleared_truth: Vec<Cleared>,
    /// Whether the report says where the time went.
    #[serde(default)]
    pub(crate) is_attributed: bool,
    /// The first line of that, for the expected finding or the slowest slow set.
    pub(crate) first_line: Option<Line>,
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

/// A cause that is ruled out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cleared {
    pub(crate) cause: String,
    pub(crate) text: String,
}

/// A line of the attribution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) share: f64,
    /// In lower case with hyphens.
    pub(crate) state: String,
    pub(crate) text: String,
    /// Names of the culprit: process, thread, stack, peer.
    pub(crate) culprit: Vec<String>,
}

impl Line {
    fn read(line: &Value) -> Self {
        let culprit = &line["culprit"];
        let names = ["process", "thread", "peer"].map(|key| text(&culprit[key]));
        let stack = list(culprit, "stack").map(text);
        Self {
            share: line["share"].as_f64().unwrap_or(0.0),
            state: hyphened(&text(&line["state"])),
            text: text(&line["text"]),
            culprit: names
                .into_iter()
                .chain(stack)
                .filter(|name| !name.is_empty())
                .collect(),
        }
    }

    fn is_as(&self, expected: &ExpectedLine) -> bool {
        let said = std::iter::once(&self.text).chain(&self.culprit);
        let said: Vec<String> = said.map(|text| text.to_lowercase()).collect();
        let has = |word: &String| said.iter().any(|text| text.contains(&word.to_lowercase()));
        expected
            .state
            .iter()
            .any(|state| is_state(&self.state, state))
            && expected.words.iter().any(has)
    }
}

/// A name in lower case with hyphens between its words.
fn hyphened(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        let is_joint = !letter.is_ascii_alphanumeric();
        let begins_word = letter.is_ascii_uppercase() || is_joint;
        if begins_word && !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if !is_joint {
            out.push(letter.to_ascii_lowercase());
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// What is not explained of one endpoint.
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
    said.is_attributed = report["attribution"].is_array();
    let slow_set = slow_set(report, &said, variant);
    said.first_line = slow_set.and_then(|set| list(set, "lines").next().map(Line::read));
    said.cleared_truth = cleared_truth(report, slow_set, &said, variant);
    let shares = list(&report["run"]["health"], "repeats");
    let shares = shares.filter_map(|repeat| repeat["others_share"].as_f64());
    said.others_share = shares.fold(0.0, f64::max);
    said
}

/// The entry of the attribution that belongs to the expected finding, or to the first one; without a
/// finding the one with the largest excess.
fn slow_set<'a>(report: &'a Value, said: &Said, variant: &Variant) -> Option<&'a Value> {
    let finding = found(said, variant).or(said.named.first());
    let is_at = |entry: &&Value, finding: &Named| {
        let place = match finding.place.as_str() {
            "errors" => "failures",
            place => place,
        };
        let endpoint = finding.endpoint.as_deref();
        entry["where"] == place && endpoint.is_none_or(|endpoint| entry["endpoint"] == endpoint)
    };
    let all = || list(report, "attribution");
    finding
        .and_then(|finding| all().find(|entry| is_at(entry, finding)))
        .or_else(|| all().max_by(|a, b| excess(a).total_cmp(&excess(b))))
}

fn excess(entry: &Value) -> f64 {
    entry["excess_s"].as_f64().unwrap_or(0.0)
}

/// Expected causes that are ruled out, for the slow endpoint or for all, and not named.
fn cleared_truth(
    report: &Value,
    slow_set: Option<&Value>,
    said: &Said,
    variant: &Variant,
) -> Vec<Cleared> {
    let slow = slow_set.map(|set| &set["endpoint"]);
    let is_there = |one: &&Value| {
        one["endpoint"].is_null() || slow.is_none_or(|slow| one["endpoint"] == *slow)
    };
    let cleared = list(report, "cleared").filter(is_there).map(|one| Cleared {
        cause: text(&one["cause"]),
        text: text(&one["text"]),
    });
    let is_named = |cause: &str| said.named.iter().any(|named| named.cause == cause);
    cleared
        .filter(|one| is_wanted(variant, &one.cause) && !is_named(&one.cause))
        .collect()
}

/// Whether the first line of the attribution is right; nothing where none is expected, or where the
/// report has no attribution.
pub(crate) fn is_line_right(said: &Said, variant: &Variant) -> Option<bool> {
    let expected = variant.line.as_ref().filter(|_| said.is_attributed)?;
    let line = said.first_line.as_ref();
    Some(line.is_some_and(|line| line.is_as(expected)))
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
        Some(place) if place < TOP => Verdict::AmongThree,
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
mod tests;
