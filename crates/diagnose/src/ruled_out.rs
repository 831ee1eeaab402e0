//! The causes that are not named: ruled out by mass balance, or inconclusive.
//!
//! A detector that did not see its pattern says no more than that. A cause is ruled out for an endpoint
//! and frame only if what it could be at most is small: what it claims itself, what was not observed,
//! and the time in states that it could be and that no supported finding claims
//! ([`slowpath_attribution::mass`]). Where the kernel did not record writes on connections, states of the trace
//! look like others, and no cause is ruled out that could be one of those that writes show.

use std::collections::BTreeMap;

use slowpath_attribution::mass::{Largest, Most};
use slowpath_attribution::{Mass, State, StateSet};
use slowpath_core::nanos::Span;

use crate::case::Case;
use crate::diagnosis::{Blind, Cleared, Place};
use crate::ledger::NAMED_SHARE;
use crate::overlap::merged;
use crate::trial::{Answer, Ranked, Weight};
use crate::verdict::{Claim, Verdict, percent};

/// The gap of the tracepoint that records writes on connections (Linux 6.3).
const WRITES: &str = "trace.sock:sock_send_length";

/// What shows why another server is slow.
const BEYOND_REMEDY: &str = "measure that server itself with slowpath";

/// What the excess of one endpoint and frame is made of, beside what is named for it.
#[derive(Clone, Debug)]
pub(crate) struct FrameMass {
    /// The endpoint's name.
    pub(crate) endpoint: String,
    /// The frame.
    pub(crate) place: Place,
    /// Shares of its excess.
    pub(crate) mass: Mass,
    /// Shares of its excess that a cause describes, also where another one is named for them.
    pub(crate) described: [(&'static str, f64); 2],
    /// The phrase of the largest line of each kind of state, for people.
    pub(crate) phrases: Vec<(usize, String)>,
}

/// The time of requests that supported findings explain, by request, ascending and disjoint.
#[derive(Debug, Default)]
pub(crate) struct Explained {
    /// By any of them.
    pub(crate) by_any: BTreeMap<u32, Vec<Span>>,
    /// By those that say why. That another server is slow says where to look: why it is, is open.
    pub(crate) why: BTreeMap<u32, Vec<Span>>,
}

impl Explained {
    /// Adds claims on one request.
    pub(crate) fn add(&mut self, of_request: &[Claim], says_why: bool) {
        let spans = || of_request.iter().map(|claim| claim.span);
        let sample = of_request[0].sample;
        self.by_any.entry(sample).or_default().extend(spans());
        if says_why {
            self.why.entry(sample).or_default().extend(spans());
        }
    }

    /// Makes the time of each request ascending and disjoint.
    pub(crate) fn settle(&mut self) {
        for spans in self.by_any.values_mut().chain(self.why.values_mut()) {
            *spans = merged(std::mem::take(spans));
        }
    }
}

/// The causes that are named for no endpoint: ruled out, or inconclusive.
pub(crate) fn ruled_out(
    case: &Case<'_>,
    (answers, findings): (&[Answer], &[Ranked]),
    weights: &[Vec<Weight>],
    masses: &[FrameMass],
) -> (Vec<Cleared>, Vec<Blind>) {
    let mut cleared = Vec::new();
    let mut blind = Vec::new();
    for (answer, weights) in answers.iter().zip(weights) {
        if weights.iter().any(|w| matches!(w, Weight::Named)) {
            continue;
        }
        let cause = answer.entry.name.to_owned();
        let unseen = alternative(findings, answer.entry.name)
            .or_else(|| unseen(answer, weights))
            .or_else(|| unwritten(case, answer))
            .or_else(|| could_be(answer, weights, masses));
        match unseen {
            Some((missing, remedy)) => blind.push(Blind {
                cause,
                missing,
                remedy,
            }),
            None => cleared.push(Cleared {
                cause,
                text: text(case, answer, weights),
            }),
        }
    }
    (cleared, blind)
}

/// That the evidence of what is named fits a cause as well, which is ruled out by nothing then.
fn alternative(findings: &[Ranked], cause: &str) -> Option<(String, String)> {
    let mut named = findings.iter().map(|ranked| &ranked.finding);
    let named = named.find(|finding| finding.or.iter().any(|or| or == cause))?;
    let missing = format!("what distinguishes it from {}, which is named", named.cause);
    Some((missing, String::new()))
}

/// What a detector could not see, and the remedy.
fn unseen(answer: &Answer, weights: &[Weight]) -> Option<(String, String)> {
    let mut all = answer.verdicts().zip(weights);
    all.find_map(|(verdict, weight)| match (verdict, weight) {
        (Verdict::Blind { missing, remedy }, _) => Some((missing.clone(), remedy.clone())),
        (
            Verdict::Lead {
                missing, remedy, ..
            },
            weight,
        ) if !weight.is_small() => Some((missing.clone(), remedy.clone())),
        (
            Verdict::Found(_),
            Weight::Light {
                share, episodes, ..
            },
        ) if !weight.is_small() => Some(unsure(*share, *episodes)),
        _ => None,
    })
}

/// That the kernel did not record writes, if the cause takes that to be ruled out: a thread that asks
/// others looks then as if it asked none, and one that serves many by turns as if it served one.
fn unwritten(case: &Case<'_>, answer: &Answer) -> Option<(String, String)> {
    let gap = case.timeline().gap_named(&[WRITES])?;
    let by_writes = answer.entry.detector.could_be.meets(StateSet::BY_WRITES);
    by_writes.then(|| {
        let missing = format!(
            "writes on connections, which show which server threads ask and which request they serve: {}",
            gap.reason
        );
        (missing, gap.remedy.clone())
    })
}

/// Why mass balance does not rule a cause out, if so.
fn could_be(answer: &Answer, weights: &[Weight], masses: &[FrameMass]) -> Option<(String, String)> {
    let claim = weights.iter().map(|weight| match weight {
        Weight::Light { most, .. } => *most,
        _ => 0.0,
    });
    let claim = claim.fold(0.0, f64::max);
    let states = answer.entry.detector.could_be;
    let open = masses.iter().filter_map(|frame| {
        let mut own = frame.described.iter();
        let own = own.find(|(cause, _)| *cause == answer.entry.name);
        let claim = own.map_or(claim, |(_, share)| share.max(claim));
        let most = frame.mass.rule_out(claim, states).err()?;
        Some((frame, most))
    });
    let (frame, most) = open.max_by(|a, b| a.1.share.total_cmp(&b.1.share))?;
    Some(reason(frame, &most, states))
}

/// The largest part of what a cause could be, in words, with what would show more.
fn reason(frame: &FrameMass, most: &Most, states: StateSet) -> (String, String) {
    let of = match frame.place {
        Place::Floor => format!("of the time of {}", frame.endpoint),
        _ => format!("of what makes {} slow", frame.endpoint),
    };
    match most.largest {
        Largest::Claim => (
            format!(
                "whether it is at work beside what is named: it could explain {} {of}",
                percent(most.share)
            ),
            String::new(),
        ),
        Largest::Unobserved => (
            format!(
                "{} {of}: not traced, or too seldom",
                percent(frame.mass.unobserved)
            ),
            "measure longer, and as root or with the capabilities that slowpath doctor names"
                .to_owned(),
        ),
        Largest::Compatible => {
            let kinds = || (0..StateSet::KINDS).filter(|&kind| states.has(kind));
            let largest = |shares: &[f64; StateSet::KINDS]| {
                let shares = kinds().map(|kind| (kind, shares[kind]));
                shares
                    .max_by(|a, b| a.1.total_cmp(&b.1))
                    .unwrap_or_default()
            };
            let phrase = |kind: usize| {
                let mut phrases = frame.phrases.iter();
                let own = phrases.find(|(own, _)| *own == kind)?;
                Some(own.1.as_str())
            };
            let (kind, share) = largest(&frame.mass.unclaimed);
            let (_, beyond) = largest(&frame.mass.beyond);
            if beyond > share {
                let known = phrase(StateSet::REPLY.first());
                let words = known.unwrap_or("not explained");
                let remedy = known.map_or("", |_| BEYOND_REMEDY);
                let missing = format!("why, for {} {of}: {words}", percent(beyond));
                return (missing, remedy.to_owned());
            }
            let phrase = phrase(kind).unwrap_or("not explained");
            let missing = format!("{} {of}, which nothing explains: {phrase}", percent(share));
            (missing, String::new())
        }
    }
}

/// Too much of the excess to be ruled out, and not enough to be named, or on so few episodes that it
/// may be chance.
fn unsure(share: f64, episodes: usize) -> (String, String) {
    if share < NAMED_SHARE {
        let missing = format!(
            "the rest of what is slow: it is at work and explains {} of the excess, and a cause is \
             named from {} on",
            percent(share),
            percent(NAMED_SHARE)
        );
        return (missing, String::new());
    }
    let missing = format!(
        "too few episodes ({episodes}) to be sure that it explains {} of the excess",
        percent(share)
    );
    (missing, "measure longer, or more repeats".to_owned())
}

/// Why a cause is ruled out, with the figure.
fn text(case: &Case<'_>, answer: &Answer, weights: &[Weight]) -> String {
    let largest = |of: fn(&Weight) -> Option<f64>| weights.iter().filter_map(of).reduce(f64::max);
    let light = largest(|w| match w {
        Weight::Light { share, .. } => Some(*share),
        _ => None,
    });
    let rare = largest(|w| match w {
        Weight::Rare(part) => Some(*part),
        _ => None,
    });
    match (light, rare) {
        (Some(part), _) => return format!("explains {} of the excess", percent(part)),
        (None, Some(part)) => return format!("makes {} of the requests fail", percent(part)),
        (None, None) => {}
    }
    let several = answer.endpoints.len() > 1;
    let texts = answer.verdicts().enumerate().filter_map(|(i, v)| match v {
        Verdict::Absent(text) if several => Some(format!("{}: {text}", case.endpoints[i].name)),
        Verdict::Absent(text) => Some(text.clone()),
        Verdict::Found(_) | Verdict::Lead { .. } => {
            Some("present, but its effect is negligible".to_owned())
        }
        Verdict::Blind { .. } => None,
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// The phrase of the largest line of each kind of state.
pub(crate) fn phrases(lines: &[(State, String)]) -> Vec<(usize, String)> {
    let mut phrases: Vec<(usize, String)> = Vec::new();
    for (state, phrase) in lines {
        let kind = StateSet::kind(*state);
        if phrases.iter().all(|(known, _)| *known != kind) {
            phrases.push((kind, phrase.clone()));
        }
    }
    phrases
}
