//! The attribution as reports hold it.

use slowpath_attribution::breakdown::shares;
use slowpath_attribution::words::phrase;
use slowpath_attribution::{Line, Mass, Path, Slice, State, StateSet};

use super::EndpointAttribution;
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{AttributionLine, FrameAttribution, LineCulprit, Place};
use crate::figures::{round, share};
use crate::frame::Frame;
use crate::overlap::parts;
use crate::ruled_out::{Explained, FrameMass, phrases};
use crate::rules::{DESCRIBED, describes, may_be_held};
use slowpath_core::nanos::Span;
use std::collections::BTreeMap;

/// Frames of an endpoint that have excess, each with its paths.
const PLACES: [Place; 2] = [Place::Tail, Place::Floor];

/// The attribution of every frame that has excess.
pub(crate) fn frames(case: &Case<'_>) -> Vec<FrameAttribution> {
    let mut all = Vec::new();
    for endpoint in &case.endpoints {
        for place in PLACES {
            if let Some(frame) = endpoint.frame(place).filter(|frame| frame.excess_ns > 0.0) {
                all.push(of_frame(case, endpoint, frame, place));
            }
        }
    }
    all
}

fn of_frame(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    frame: &Frame,
    place: Place,
) -> FrameAttribution {
    let attribution = endpoint.attribution(case);
    let breakdown = attribution.breakdown(&attribution.frame(case, frame, place));
    let lines = breakdown.lines.iter().map(|line| view(attribution, line));
    FrameAttribution {
        endpoint: endpoint.name.clone(),
        pass: None,
        place,
        requests: frame.requests.len() as u64,
        excess_s: round(frame.excess_ns / 1e9, 1e3),
        lines: lines.collect(),
    }
}

fn view(attribution: &EndpointAttribution, line: &Line) -> AttributionLine {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let actor = &line.actor;
    let name = |state: State| state.name().to_owned();
    AttributionLine {
        share: share(line.share),
        state: line.state.map_or_else(|| "other".to_owned(), name),
        phase: line.phase,
        holder: line.holder,
        activity: name(line.activity),
        basis: line.basis,
        text: attribution.phrase(line),
        culprit: LineCulprit {
            process: some(&actor.process),
            thread: some(&actor.thread),
            peer: some(&actor.peer),
            stack: actor.stack.clone(),
        },
    }
}

impl EndpointAttribution {
    /// A line in plain words.
    pub(crate) fn phrase(&self, line: &Line) -> String {
        let station = match (line.state, &self.station) {
            (Some(State::Queued(place)), Some(station)) if station.place == place => {
                Some(station.words())
            }
            _ => None,
        };
        phrase(line, station.as_ref())
    }

    /// What a frame is made of, beside the time that is explained.
    pub(crate) fn mass(
        &self,
        case: &Case<'_>,
        endpoint: &EndpointCase,
        place: Place,
        explained: &Explained,
    ) -> Option<FrameMass> {
        let frame = endpoint
            .frame(place)
            .filter(|frame| frame.excess_ns > 0.0)?;
        let paths = self.frame(case, frame, place);
        let known = 1.0 - paths.unobserved;
        let within = |claims: &BTreeMap<u32, Vec<Span>>, path: &Path, slice: &Slice| -> u64 {
            let claimed = claims.get(&path.sample).map_or(&[][..], Vec::as_slice);
            let at = |ns: u64| slowpath_core::nanos::Nanos::new(ns.max(1));
            let span = Span::new(at(slice.begin), at(slice.end));
            parts(claimed, span).map(Span::len_ns).sum()
        };
        let left = |claims, path: &Path, slice: &Slice| {
            slice.len_ns().saturating_sub(within(claims, path, slice)) as f64
        };
        let taken = |path: &Path, slice: &Slice| within(&explained.by_any, path, slice);
        let unclaimed = shares(&paths.paths, known, |path, slice| {
            left(&explained.by_any, path, slice)
        });
        let mut beyond = shares(&others_do(&paths.paths), known, |path, slice| {
            left(&explained.why, path, slice)
        });
        beyond[StateSet::REPLY.first()] = 0.0;
        let described = DESCRIBED.map(|cause| {
            let shares = shares(&paths.paths, known, |path, slice| {
                if may_be_held(cause, slice) {
                    slice.len_ns() as f64
                } else if describes(cause, slice) {
                    taken(path, slice) as f64
                } else {
                    0.0
                }
            });
            (cause, shares.iter().sum())
        });
        let breakdown = self.breakdown(&paths);
        let lines: Vec<(State, String)> = breakdown
            .lines
            .iter()
            .filter_map(|line| Some((line.state?, self.phrase(line))))
            .collect();
        Some(FrameMass {
            endpoint: endpoint.name.clone(),
            place,
            mass: Mass {
                unclaimed,
                beyond,
                unobserved: unobserved(case, frame, &explained.by_any, paths.unobserved),
            },
            described,
            phrases: phrases(&lines),
        })
    }
}

/// Paths with what the other server does in place of the wait for its reply, and of all else a reply.
fn others_do(paths: &[Path]) -> Vec<Path> {
    let mut paths = paths.to_vec();
    for slice in paths.iter_mut().flat_map(|path| &mut path.slices) {
        slice.state = match slice.state {
            State::Reply => slice.activity,
            _ => State::Reply,
        };
    }
    paths
}

/// The share of the excess that no path covers and no claim explains.
fn unobserved(
    case: &Case<'_>,
    frame: &Frame,
    claims: &BTreeMap<u32, Vec<Span>>,
    share: f64,
) -> f64 {
    let claimed: f64 = (0..frame.requests.len())
        .map(|position| {
            let spans = claims
                .get(&frame.requests[position])
                .map_or(&[][..], Vec::as_slice);
            let own: u64 = spans.iter().map(|span| span.len_ns()).sum();
            own.min(frame.excess_of_ns(case.record, position)) as f64
        })
        .sum();
    let left = 1.0 - claimed / frame.excess_ns.max(1.0);
    share.min(left.max(0.0))
}
