//! The answer in one sentence: the first line that a person reads, and what a program branches on.

use serde::{Deserialize, Serialize};

use super::{AttributionLine, Diagnosis, EndpointFigures, Finding, Place, Status};
use crate::detectors::REGISTRY;
use crate::verdict::{human, percent};

/// A service of which all requests take so long is not called healthy without its being said what for; less is the work of most
/// services.
const SAID_MS: f64 = 20.0;

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Headline {
    /// What kind of answer it is.
    pub standing: Standing,
    /// The answer itself.
    pub sentence: String,
}

/// What is the matter, if anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The measurement cannot be trusted: nothing is said of the service.
    Invalid,
    /// A cause is named.
    Named,
    /// Requests fail, and no cause is named.
    Failing,
    /// Requests are slow, and no cause is named.
    Unexplained,
    /// There was nothing to judge.
    #[default]
    Unknown,
    /// No request failed or was slow in a way that matters.
    Healthy,
}

impl Headline {
    /// The answer of a run that is judged otherwise.
    pub(crate) fn of(diagnosis: &Diagnosis) -> Self {
        let answers = [invalid, named, failing, unexplained, unknown];
        let answer = answers.into_iter().find_map(|answer| answer(diagnosis));
        answer.unwrap_or_else(|| healthy(diagnosis))
    }
}

fn invalid(diagnosis: &Diagnosis) -> Option<Headline> {
    let mut checks = diagnosis.validity.iter();
    let check = checks.find(|check| check.status == Status::Invalid)?;
    Some(Headline {
        standing: Standing::Invalid,
        sentence: format!(
            "the measurement is invalid: {}: {}",
            check.check, check.detail
        ),
    })
}

fn named(diagnosis: &Diagnosis) -> Option<Headline> {
    let finding = diagnosis.findings.first()?;
    let of = finding.label().unwrap_or_else(|| "the service".to_owned());
    let share = percent(finding.share);
    let cause = causes(finding);
    let sentence = match finding.place {
        Place::Tail => {
            format!("{of} is slow because of {cause}: {share} of the excess of its slow requests")
        }
        Place::Floor => {
            format!("every request of {of} waits because of {cause}: {share} of its time")
        }
        Place::Errors => format!("{of} fails because of {cause}: {share} of the failures"),
        Place::Throughput => format!("less is done than is asked of {of} because of {cause}"),
    };
    // What all requests wait for may be what they are for: those that are slow are the question.
    let is_first = may_be_the_work(finding);
    let sentence = match slow_without_a_cause(diagnosis).filter(|_| is_first) {
        Some(tail) => format!("{tail}; {sentence}"),
        None => sentence,
    };
    Some(Headline {
        standing: Standing::Named,
        sentence,
    })
}

/// Whether a finding is of what all requests wait for, and that may be what they are for.
fn may_be_the_work(finding: &Finding) -> bool {
    let mut entries = REGISTRY.iter();
    let entry = entries.find(|entry| entry.name == finding.cause);
    finding.place == Place::Floor && entry.is_some_and(|entry| entry.detector.may_be_the_work)
}

/// `connection-pool-exhaustion`, or with what fits as well: `concurrency-limit or connection-pool-exhaustion`.
fn causes(finding: &Finding) -> String {
    let all: Vec<&str> = std::iter::once(&finding.cause)
        .chain(&finding.or)
        .map(String::as_str)
        .collect();
    all.join(" or ")
}

fn failing(diagnosis: &Diagnosis) -> Option<Headline> {
    let figures = diagnosis.unexplained_failures().next()?;
    let failed = figures.failed();
    let share = failed as f64 / figures.offered.max(failed) as f64;
    let kind = figures
        .errors
        .first()
        .map_or_else(String::new, |error| format!(", most by {}", error.class));
    Some(Headline {
        standing: Standing::Failing,
        sentence: format!(
            "{} of the requests of {} fail{kind}, and no cause is named",
            percent(share),
            figures.label()
        ),
    })
}

fn unexplained(diagnosis: &Diagnosis) -> Option<Headline> {
    Some(Headline {
        standing: Standing::Unexplained,
        sentence: slow_without_a_cause(diagnosis)?,
    })
}

/// How many requests are slow of the endpoint of which most is not explained, and where their time goes.
fn slow_without_a_cause(diagnosis: &Diagnosis) -> Option<String> {
    let open = diagnosis.unexplained.iter().filter(|one| one.material);
    let most = open.max_by(|a, b| {
        let excess = |one: &&super::Unexplained| one.share * one.excess_s;
        excess(a).total_cmp(&excess(b))
    })?;
    let share = percent(most.slow as f64 / most.of.max(1) as f64);
    let time = line(diagnosis, &most.label(), most.place);
    Some(format!(
        "{share} of the requests of {} are slow, and no cause is named{}",
        most.label(),
        time.map_or_else(String::new, |line| format!(
            ": {} of their excess is {}",
            percent(line.share),
            line.text
        ))
    ))
}

/// Without a completed request nothing was judged.
fn unknown(diagnosis: &Diagnosis) -> Option<Headline> {
    let judged = diagnosis.endpoints.iter().any(|e| e.completed > 0);
    (!judged).then(|| Headline {
        standing: Standing::Unknown,
        sentence: "no request was completed, so there is nothing to judge".to_owned(),
    })
}

fn healthy(diagnosis: &Diagnosis) -> Headline {
    let completed: u64 = diagnosis.endpoints.iter().map(|e| e.completed).sum();
    let failed: u64 = diagnosis
        .endpoints
        .iter()
        .map(EndpointFigures::failed)
        .sum();
    let failures = match failed {
        0 => "none failed".to_owned(),
        failed => format!("{failed} failed"),
    };
    let medians = diagnosis.endpoints.iter().filter_map(|figures| {
        let p50 = figures.latency_ms.p50.value.filter(|p50| *p50 >= SAID_MS)?;
        let line = line(diagnosis, &figures.label(), Place::Floor)?;
        Some((figures.label(), p50, line))
    });
    let longest = medians.max_by(|a, b| a.1.total_cmp(&b.1));
    let floor = longest.map(|(label, p50, line)| {
        format!(
            "; half of the requests of {label} take {} or more: {} of it is {}",
            human(p50 * 1e6),
            percent(line.share),
            line.text
        )
    });
    Headline {
        standing: Standing::Healthy,
        sentence: format!(
            "healthy: of {completed} requests {failures} and none is slow in a way that matters{}",
            floor.unwrap_or_default()
        ),
    }
}

/// The largest line of the attribution of an endpoint and frame.
fn line<'a>(diagnosis: &'a Diagnosis, label: &str, place: Place) -> Option<&'a AttributionLine> {
    let mut frames = diagnosis.attribution.iter();
    let frame = frames.find(|frame| frame.place == place && frame.label() == label)?;
    frame.lines.first()
}
