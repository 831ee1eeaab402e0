//! Spans that the target's telemetry reports of the exported requests, by service.

use std::collections::BTreeMap;
use std::io::{self, Write};

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::Sample;
use slowpath_core::spans::AppSpan;

use super::choice::Chosen;
use super::out::{Out, args};
use super::{FIRST_SERVICE, requests};

/// Tracks of spans have ids above those of connections.
const FIRST_TRACK: u32 = 2 * requests::FIRST_TRACK;

/// A track: the ends of the spans that are open on it, the outermost first.
#[derive(Default)]
struct Lane(Vec<Nanos>);

impl Lane {
    /// Takes a span if it lies beside or inside of what is on the track.
    fn takes(&mut self, span: Span) -> bool {
        while self.0.last().is_some_and(|&end| end <= span.begin) {
            self.0.pop();
        }
        let fits = self.0.last().is_none_or(|&end| span.end <= end);
        if fits {
            self.0.push(span.end);
        }
        fits
    }
}

/// Writes the spans; returns how many, and how many had no room.
pub(super) fn write<W: Write>(
    record: &RunRecord,
    chosen: &Chosen,
    out: &mut Out<W>,
) -> io::Result<(u64, u64)> {
    let of_request = |sample: &Sample| record.spans.of_request(sample.repeat, sample.serial);
    let mut spans: Vec<(&AppSpan, &Sample)> = Vec::new();
    let mut left_out = 0;
    for request in &chosen.requests {
        let own = of_request(&request.sample);
        let room = chosen.most_spans.saturating_sub(spans.len());
        let taken = own.len().min(room);
        spans.extend(own.iter().take(taken).map(|span| (span, &request.sample)));
        left_out += (own.len() - taken) as u64;
    }
    // A track is written in order of time; of spans that begin together the longer is outside.
    spans.sort_by_key(|(span, _)| (span.begin, std::cmp::Reverse(span.end), span.id));
    let mut services: BTreeMap<u32, Vec<Lane>> = BTreeMap::new();
    let mut tracks: BTreeMap<(u32, usize), u32> = BTreeMap::new();
    for (span, sample) in &spans {
        let lanes = services.entry(span.service).or_default();
        if lanes.is_empty() {
            let name = record.spans.services.get(span.service as usize);
            let name = format!("spans: {}", name.map_or("", |name| name));
            out.process(FIRST_SERVICE.saturating_add(span.service), &name, 5)?;
        }
        let place = lanes.iter_mut().position(|lane| lane.takes(span.span()));
        let place = place.unwrap_or_else(|| {
            lanes.push(Lane(vec![span.span().end]));
            lanes.len() - 1
        });
        let fresh = FIRST_TRACK + tracks.len() as u32;
        let tid = *tracks.entry((span.service, place)).or_insert(fresh);
        let pid = FIRST_SERVICE.saturating_add(span.service);
        if tid == fresh {
            out.thread(pid, tid, &format!("spans {}", place + 1), i64::from(tid))?;
        }
        slice(record, out, (pid, tid), (span, sample))?;
    }
    Ok((spans.len() as u64, left_out))
}

fn slice<W: Write>(
    record: &RunRecord,
    out: &mut Out<W>,
    (pid, tid): (u32, u32),
    (span, sample): (&AppSpan, &Sample),
) -> io::Result<()> {
    let seed = record.manifest.plan.seed;
    let trace_id = Sample::trace_id(seed, sample.repeat, sample.serial);
    let facts = args([
        ("trace_id", format!("{trace_id:032x}").into()),
        ("span_id", format!("{:016x}", span.id).into()),
        ("serial", sample.serial.into()),
        ("kind", format!("{:?}", span.kind).to_lowercase().into()),
        ("error", span.error.into()),
    ]);
    let name = record.spans.name(span);
    out.slice(pid, tid, "span", name, span.span(), facts)
}
