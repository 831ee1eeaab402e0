//! The questions that a run answers, and those that it leaves open.

use slowpath_diagnose::diagnosis::{
    Diagnosis, EndpointFigures, ErrorCount, Finding, Place, Unexplained,
};

use super::inside;
use crate::quantity;

/// So many kinds of failures that no cause explains are named; all stand among the figures.
const FAILURES_TOLD: usize = 3;

/// A question ("why the slowest 2.1 % of search") and its answers, the best first.
pub(crate) struct Question<'a> {
    /// The question.
    pub(crate) title: String,
    /// The causes that answer it.
    pub(crate) findings: Vec<&'a Finding>,
    /// What they leave unanswered.
    pub(crate) rest: Option<Rest>,
    /// What tracing showed of it, in a few lines.
    pub(crate) inside: Vec<String>,
    /// Whether it is worth an answer: a cause is named, requests fail, or what is slow and not explained is felt.
    pub(crate) matters: bool,
}

/// What no cause explains.
pub(crate) struct Rest {
    /// Its share, from 0 to 1.
    pub(crate) share: f64,
    /// Why, in words; empty if nothing is known.
    pub(crate) split: String,
}

/// The questions in the order of their best answers, then those without any.
pub(crate) fn questions(diagnosis: &Diagnosis) -> Vec<Question<'_>> {
    let mut asked: Vec<(Place, Option<String>, Vec<&Finding>)> = Vec::new();
    for finding in &diagnosis.findings {
        let endpoint = finding.label();
        match asked
            .iter_mut()
            .find(|(place, of, _)| *place == finding.place && *of == endpoint)
        {
            Some((_, _, findings)) => findings.push(finding),
            None => asked.push((finding.place, endpoint, vec![finding])),
        }
    }
    for unexplained in &diagnosis.unexplained {
        let endpoint = Some(unexplained.label());
        let covered = asked
            .iter()
            .any(|(place, of, _)| *place == unexplained.place && (of.is_none() || *of == endpoint));
        if !covered {
            asked.push((unexplained.place, endpoint, Vec::new()));
        }
    }
    asked.extend(
        failing(diagnosis)
            .into_iter()
            .map(|of| (Place::Errors, of, Vec::new())),
    );
    let own: Vec<(Place, String)> = asked
        .iter()
        .filter_map(|(place, of, _)| Some((*place, of.clone()?)))
        .collect();
    asked
        .into_iter()
        .map(|(place, endpoint, findings)| {
            let excess = excess_of(diagnosis, place, endpoint.as_deref(), &own);
            let title = title(diagnosis, place, endpoint.as_deref(), &excess);
            let is_unanswered = place == Place::Errors && findings.is_empty();
            let is_felt = excess.iter().any(|unexplained| unexplained.material);
            Question {
                title,
                matters: is_unanswered || is_felt || !findings.is_empty(),
                findings,
                rest: if is_unanswered {
                    Some(failed(diagnosis, endpoint.as_deref()))
                } else {
                    rest(&excess)
                },
                inside: inside::told(diagnosis, endpoint.as_deref(), place),
            }
        })
        .collect()
}

/// The excess that a question is about: that of its endpoint, or of all that ask for none.
fn excess_of<'a>(
    diagnosis: &'a Diagnosis,
    place: Place,
    endpoint: Option<&str>,
    own: &[(Place, String)],
) -> Vec<&'a Unexplained> {
    let about = |unexplained: &&Unexplained| match endpoint {
        Some(endpoint) => unexplained.label() == endpoint,
        None => !own.contains(&(place, unexplained.label())),
    };
    let here = diagnosis
        .unexplained
        .iter()
        .filter(|one| one.place == place);
    here.filter(about).collect()
}

fn title(
    diagnosis: &Diagnosis,
    place: Place,
    endpoint: Option<&str>,
    excess: &[&Unexplained],
) -> String {
    let of = endpoint.unwrap_or("all endpoints");
    let figures = endpoint
        .and_then(|name| {
            diagnosis
                .endpoints
                .iter()
                .find(|figures| figures.label() == name)
        })
        .or_else(|| only(&diagnosis.endpoints));
    match place {
        Place::Tail => tail_title(of, excess),
        Place::Floor => match figures.and_then(|figures| figures.latency_ms.p50.value) {
            Some(p50) => format!(
                "why every request of {of} takes {}",
                quantity::duration(p50)
            ),
            None => format!("why every request of {of} takes so long"),
        },
        Place::Errors => {
            let concerned: Vec<&EndpointFigures> = diagnosis
                .endpoints
                .iter()
                .filter(|f| endpoint.is_none_or(|e| e == f.label()))
                .collect();
            let failed: u64 = concerned.iter().map(|f| f.failed()).sum();
            let offered: u64 = concerned.iter().map(|f| f.offered).sum();
            let share = failed as f64 / offered.max(1) as f64;
            format!(
                "why {} of {of} fail ({})",
                quantity::percent(share),
                quantity::count(failed)
            )
        }
        Place::Throughput => format!("why less is done than is asked of {of}"),
    }
}

/// Whose failures no cause explains: `None` means all endpoints, where there are several and all fail.
fn failing(diagnosis: &Diagnosis) -> Vec<Option<String>> {
    let failing: Vec<Option<String>> = diagnosis
        .unexplained_failures()
        .map(|figures| Some(figures.label()))
        .collect();
    if failing.len() > 1 && failing.len() == diagnosis.endpoints.len() {
        return vec![None];
    }
    failing
}

/// Failures that no cause explains: what the most of them are.
fn failed(diagnosis: &Diagnosis, endpoint: Option<&str>) -> Rest {
    let mut kinds: Vec<&ErrorCount> = diagnosis
        .endpoints
        .iter()
        .filter(|figures| endpoint.is_none_or(|endpoint| endpoint == figures.label()))
        .flat_map(|figures| &figures.errors)
        .collect();
    kinds.sort_by_key(|error| std::cmp::Reverse(error.count));
    let told: Vec<String> = kinds
        .iter()
        .take(FAILURES_TOLD)
        .map(|kind| super::error(kind))
        .collect();
    Rest {
        share: 1.0,
        split: told.join(", "),
    }
}

fn tail_title(of: &str, excess: &[&Unexplained]) -> String {
    let slow: u64 = excess.iter().map(|one| one.slow).sum();
    let requests: u64 = excess.iter().map(|one| one.of).sum();
    if requests == 0 {
        return format!("why the slowest requests of {of}");
    }
    let share = quantity::percent(slow as f64 / requests as f64);
    let seconds = quantity::number(excess.iter().map(|one| one.excess_s).sum());
    match only(excess) {
        Some(one) => {
            let fast = quantity::duration(one.fast_ms);
            format!("why the slowest {share} of {of} ({seconds} s of excess over the {fast} mode)")
        }
        None => format!("why the slowest {share} of {of} ({seconds} s of excess)"),
    }
}

pub(super) fn only<T>(items: &[T]) -> Option<&T> {
    if let [one] = items { Some(one) } else { None }
}

fn rest(excess: &[&Unexplained]) -> Option<Rest> {
    let total: f64 = excess.iter().map(|one| one.excess_s).sum();
    let share = match only(excess) {
        Some(one) => one.share,
        None if total > 0.0 => {
            excess
                .iter()
                .map(|one| one.share * one.excess_s)
                .sum::<f64>()
                / total
        }
        None => return None,
    };
    let split = only(excess).map_or_else(String::new, |one| {
        let part = |part: &slowpath_diagnose::diagnosis::Part| {
            format!("{} {}", part.why, quantity::percent(part.share))
        };
        one.split.iter().map(part).collect::<Vec<_>>().join(", ")
    });
    Some(Rest { share, split })
}
