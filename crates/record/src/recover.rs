//! The facts of a run that was killed before they were written, rebuilt from marks and samples.

use std::collections::BTreeSet;

use slowpath_core::facts::{EndpointTally, RepeatFacts};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::record::Manifest;
use slowpath_core::sample::{NONE, Stage};
use slowpath_core::samples::{SampleRef, Samples};
use slowpath_core::timeline::{MarkKind, Subject, Timeline};

/// What a rebuilt repeat says about its end.
const CUT_SHORT: &str = "slowpath was killed";

/// Adds the facts of every repeat that left samples or marks and has none in the manifest.
///
/// Requests under way at the kill, and those never sent, left no trace: what was offered is only
/// known as far as it ended. Stale connections are not known, and count as none.
pub(crate) fn complete(manifest: &mut Manifest, samples: &Samples, timeline: &Timeline) {
    manifest.recovered = true;
    let began = timeline
        .marks
        .iter()
        .filter(|mark| mark.kind == MarkKind::LoadBegan);
    let mut missing: BTreeSet<u16> = began.map(|mark| mark.repeat).collect();
    missing.extend(samples.iter().map(SampleRef::repeat));
    for facts in &manifest.repeats {
        missing.remove(&facts.repeat);
    }
    let endpoints = manifest.plan.scenario.endpoints.len();
    for repeat in missing {
        let facts = rebuild(repeat, samples, timeline, endpoints);
        manifest.repeats.extend(facts);
    }
    manifest.repeats.sort_by_key(|facts| facts.repeat);
}

/// The facts of one repeat; `None` if neither a mark nor a sample says when it was.
fn rebuild(
    repeat: u16,
    samples: &Samples,
    timeline: &Timeline,
    endpoints: usize,
) -> Option<RepeatFacts> {
    let mark = |kind| {
        let found = timeline
            .marks
            .iter()
            .find(|m| m.repeat == repeat && m.kind == kind);
        found.map(|mark| mark.at)
    };
    let samples = || samples.iter().filter(move |s| s.repeat() == repeat);
    let scheduled = |s: SampleRef<'_>| s.scheduled();
    let measured = || samples().filter(|sample| sample.stage() == Stage::Measured);
    let load_begin = mark(MarkKind::LoadBegan).or_else(|| samples().map(scheduled).min())?;
    let load_end = mark(MarkKind::LoadEnded)
        .or_else(|| samples().map(slowpath_core::samples::SampleRef::done).max());
    let load = Span::new(load_begin, load_end.unwrap_or(load_begin));

    // Without a measured request the window is empty, and stands where the load ended.
    let window_begin = mark(MarkKind::WindowBegan)
        .or_else(|| measured().map(scheduled).min())
        .unwrap_or(load.end);
    // A window is half open, and its last request lies inside.
    let last = measured().map(|sample| sample.scheduled().plus(1)).max();
    let window_end = mark(MarkKind::WindowEnded).or(last).unwrap_or(window_begin);
    let window = Span::new(window_begin, window_end);

    let mut tallies = vec![EndpointTally::default(); endpoints];
    for sample in measured() {
        if let Some(tally) = tallies.get_mut(usize::from(sample.endpoint())) {
            tally.offered += 1;
        }
    }
    let connections = samples()
        .map(slowpath_core::samples::SampleRef::connection)
        .filter(|&number| number != NONE);
    Some(RepeatFacts {
        endpoints: tallies,
        // They are numbered in the order in which they are opened.
        connections_opened: connections.max().map_or(0, |last| u64::from(last) + 1),
        target_pids: pids(timeline, load),
        cut_short: CUT_SHORT.to_owned(),
        ..RepeatFacts::new(repeat, window, load)
    })
}

/// The processes that were read while the load went on.
fn pids(timeline: &Timeline, load: Span) -> Vec<u32> {
    let inside = |at: Nanos| at >= load.begin && at <= load.end;
    let mut pids = BTreeSet::new();
    for series in &timeline.series {
        if let Subject::Process { pid } | Subject::Thread { pid, .. } = series.subject
            && series.points.iter().any(|point| inside(point.window.end))
        {
            pids.insert(pid);
        }
    }
    pids.into_iter().collect()
}
