//! Passes are judged apart: what is slow in a cold pass is not slow beside a warm one.

use std::collections::BTreeSet;
use std::sync::Arc;

use slowpath_core::record::RunRecord;
use slowpath_core::sample::Sample;
use slowpath_core::samples::SampleRef;

use crate::diagnosis::{Blind, Cleared, EndpointFigures, ErrorExample, TraceView, Unexplained};
use crate::judge::Judged;
use crate::trial::Ranked;

/// One pass over all repeats, as a record of its own.
pub(crate) struct Part {
    /// The pass's name.
    name: String,
    pub(crate) record: RunRecord,
    /// For each window of the part, its number in the whole run.
    windows: Vec<u16>,
}

/// The passes of a record, in their order; each is a copy of its requests, so one at a time.
pub(crate) fn split(record: &RunRecord) -> impl Iterator<Item = Part> {
    let plan = &record.manifest.plan;
    let names = (0..).zip(&plan.scenario.load.passes);
    names.map(|(number, name)| part(record, number, name))
}

/// One pass of a run over all repeats, as a record of its own; without windows if there is no such
/// pass.
pub fn of_pass(record: &RunRecord, pass: &str) -> RunRecord {
    let passes = &record.manifest.plan.scenario.load.passes;
    let number = passes.iter().position(|name| name == pass);
    part(record, number.unwrap_or(usize::from(u16::MAX)) as u16, pass).record
}

fn part(record: &RunRecord, number: u16, name: &str) -> Part {
    let plan = &record.manifest.plan;
    let of_pass = |repeat: u16| plan.pass_of(repeat) == number;
    let mut manifest = record.manifest.clone();
    manifest.repeats.retain(|window| of_pass(window.repeat));
    let windows: Vec<u16> = manifest.repeats.iter().map(|w| w.repeat).collect();
    let place = |repeat: u16| windows.binary_search(&repeat).ok();
    for (place, window) in (0..).zip(&mut manifest.repeats) {
        window.repeat = place;
    }
    manifest.plan.scenario.load.passes.clear();
    let own = |sample: SampleRef<'_>| {
        let repeat = place(sample.repeat())? as u16;
        Some(Sample {
            repeat,
            ..sample.to_sample()
        })
    };
    Part {
        name: name.to_owned(),
        record: RunRecord {
            manifest,
            samples: record.samples.iter().filter_map(own).collect(),
            keys: record.keys.clone(),
            timeline: record.timeline.clone(),
            trace: Arc::clone(&record.trace),
            spans: Arc::new(record.spans.renumbered(|r| place(r).map(|p| p as u16))),
            collections: Arc::clone(&record.collections),
            timings: Arc::new(record.timings.renumbered(|r| place(r).map(|p| p as u16))),
            profiles: Arc::new(record.profiles.renumbered(|r| place(r).map(|p| p as u16))),
        },
        windows,
    }
}

impl Part {
    /// Gives what was found in the part the numbers and the name of the whole.
    pub(crate) fn label(&self, judged: &mut Judged) {
        let seed = self.record.manifest.plan.seed;
        for figures in &mut judged.endpoints {
            figures.pass = Some(self.name.clone());
            let errors = figures.errors.iter_mut();
            for example in errors.flat_map(|error| &mut error.examples) {
                self.renumber(seed, example);
            }
        }
        for ranked in &mut judged.findings {
            if ranked.finding.endpoint.is_some() {
                ranked.finding.pass = Some(self.name.clone());
            }
        }
        for attribution in &mut judged.attribution {
            attribution.pass = Some(self.name.clone());
        }
        for unexplained in &mut judged.unexplained {
            unexplained.pass = Some(self.name.clone());
        }
        for inside in judged
            .trace
            .iter_mut()
            .flat_map(|trace| &mut trace.endpoints)
        {
            inside.pass = Some(self.name.clone());
        }
    }

    fn renumber(&self, seed: u64, example: &mut ErrorExample) {
        if let Some(&window) = self.windows.get(usize::from(example.repeat)) {
            let trace_id = Sample::trace_id(seed, window, example.serial);
            example.repeat = window;
            example.trace_id = format!("{trace_id:032x}");
        }
    }
}

/// What the passes say together: everything that was found in one, and what was cleared in all.
pub(crate) fn merge(parts: Vec<Judged>) -> Judged {
    let passes = parts.len();
    let mut whole = Judged::default();
    let mut cleared: Vec<(Cleared, usize)> = Vec::new();
    let mut blind: Vec<Blind> = Vec::new();
    let mut endpoints: Vec<Vec<EndpointFigures>> = Vec::new();
    for part in parts {
        for ranked in part.findings {
            // What touches everything is the same in every pass.
            let is_same = |other: &Ranked| {
                other.finding.endpoint.is_none() && other.finding.cause == ranked.finding.cause
            };
            if ranked.finding.endpoint.is_some() || !whole.findings.iter().any(is_same) {
                whole.findings.push(ranked);
            }
        }
        for one in part.cleared {
            match cleared
                .iter_mut()
                .find(|(known, _)| known.cause == one.cause)
            {
                Some((_, times)) => *times += 1,
                None => cleared.push((one, 1)),
            }
        }
        for one in part.blind {
            if !blind.iter().any(|known| known.cause == one.cause) {
                blind.push(one);
            }
        }
        whole.attribution.extend(part.attribution);
        whole
            .unexplained
            .extend::<Vec<Unexplained>>(part.unexplained);
        endpoints.push(part.endpoints);
        merge_trace(&mut whole.trace, part.trace);
    }
    let named: BTreeSet<&str> = whole
        .findings
        .iter()
        .map(|ranked| ranked.finding.cause.as_str())
        .collect();
    blind.retain(|one| !named.contains(one.cause.as_str()));
    let everywhere = cleared.into_iter().filter(|(_, times)| *times == passes);
    whole.cleared = everywhere.map(|(one, _)| one).collect();
    whole.blind = blind;
    whole.endpoints = by_endpoint(endpoints);
    whole
}

/// What tracing showed in all passes: what it recorded is the same for each, what was joined adds
/// up.
fn merge_trace(whole: &mut Option<TraceView>, part: Option<TraceView>) {
    let (Some(whole), Some(part)) = (whole.as_mut(), part.clone()) else {
        if whole.is_none() {
            *whole = part;
        }
        return;
    };
    whole.requests += part.requests;
    whole.within += part.within;
    whole.joined += part.joined;
    whole.endpoints.extend(part.endpoints);
    for one in part.unjoined {
        match whole.unjoined.iter_mut().find(|known| known.why == one.why) {
            Some(known) => known.requests += one.requests,
            None => whole.unjoined.push(one),
        }
    }
    whole
        .unjoined
        .sort_by_key(|one| std::cmp::Reverse(one.requests));
}

/// Figures endpoint by endpoint, with the passes of each beside each other.
fn by_endpoint(passes: Vec<Vec<EndpointFigures>>) -> Vec<EndpointFigures> {
    let mut passes: Vec<_> = passes.into_iter().map(Vec::into_iter).collect();
    let mut all = Vec::new();
    loop {
        let row: Vec<EndpointFigures> = passes.iter_mut().filter_map(Iterator::next).collect();
        if row.is_empty() {
            return all;
        }
        all.extend(row);
    }
}
