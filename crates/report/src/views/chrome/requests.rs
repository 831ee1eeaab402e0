//! Requests by connection, with their phases, and what the server's sockets say of each.

use std::collections::BTreeMap;
use std::io::{self, Write};

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{NONE, Sample};
use slowpath_diagnose::diagnosis::Phase;
use slowpath_diagnose::trace::join::Joined;

use super::choice::{Chosen, Request};
use super::out::{Args, Flow, Out, args};
use super::served::Served;
use super::{CLIENT, WAITING};

/// Tracks that are no threads have ids above those that Linux gives, as processes do.
pub(super) const FIRST_TRACK: u32 = 5_100_000;

/// Tracks on which nothing overlaps: each with its id and until when it is taken.
type Lanes = Vec<(u32, Nanos)>;

/// Writes the tracks of the connections, and of what waits for one.
pub(super) fn write<W: Write>(
    record: &RunRecord,
    chosen: &Chosen,
    served: &Served,
    out: &mut Out<W>,
) -> io::Result<()> {
    let mut tracks = Tracks {
        record,
        lanes: BTreeMap::new(),
        next: FIRST_TRACK,
        out,
    };
    let mut order: Vec<usize> = (0..chosen.requests.len()).collect();
    order.retain(|&place| chosen.requests[place].sample.connection != NONE);
    // A track is written in order of time, and a request is on it from when it is ready.
    order.sort_by_key(|&place| chosen.requests[place].sample.ready);
    tracks.out.process(CLIENT, "client: connections", 0)?;
    for place in order {
        let joined = served.joined[place].as_ref();
        tracks.request(&chosen.requests[place], joined, served.drawn[place], place)?;
    }
    let mut waits: Vec<&Sample> = chosen.requests.iter().map(|one| &one.sample).collect();
    waits.retain(|sample| sample.queued_ns() > 0 || sample.connection == NONE);
    waits.sort_by_key(|sample| (sample.scheduled, sample.serial));
    if !waits.is_empty() {
        let name = "client: waiting for a connection";
        tracks.out.process(WAITING, name, 1)?;
    }
    for sample in waits {
        tracks.wait(sample)?;
    }
    Ok(())
}

struct Tracks<'a, W> {
    record: &'a RunRecord,
    /// By repeat and connection; what waits for one has [`NONE`].
    lanes: BTreeMap<(u16, u32), Lanes>,
    /// The id of the next track.
    next: u32,
    out: &'a mut Out<W>,
}

impl<W: Write> Tracks<'_, W> {
    /// The first track of a connection that is free for a span; a new one is named.
    fn track(&mut self, pid: u32, (key, name): ((u16, u32), &str), span: Span) -> io::Result<u32> {
        let lanes = self.lanes.entry(key).or_default();
        if let Some((tid, until)) = lanes.iter_mut().find(|(_, until)| *until <= span.begin) {
            *until = span.end;
            return Ok(*tid);
        }
        let tid = self.next;
        self.next += 1;
        lanes.push((tid, span.end));
        let name = match lanes.len() {
            1 => name.to_owned(),
            further => format!("{name}, {further}"),
        };
        self.out.thread(pid, tid, &name, i64::from(tid))?;
        Ok(tid)
    }

    /// A request on the track of its connection; `served` is when it was first seen on the track
    /// of a thread.
    fn request(
        &mut self,
        request: &Request,
        joined: Option<&Joined>,
        served: Option<Nanos>,
        place: usize,
    ) -> io::Result<()> {
        let sample = &request.sample;
        let span = Span::new(sample.ready, sample.done);
        let key = (sample.repeat, sample.connection);
        let name = format!("connection {} (port {})", key.1, sample.local_port);
        let tid = self.track(CLIENT, (key, &name), span)?;
        let name = self.name(sample).to_owned();
        let cat = if request.wanted {
            "request,slow"
        } else {
            "request"
        };
        let facts = self.facts(request);
        self.out.slice(CLIENT, tid, cat, &name, span, facts)?;
        let (track, flow) = ((CLIENT, tid), ("request", place as u64 + 1));
        // What the kernel took may be read before the client has the time to look at the clock.
        let early = served.is_some_and(|at| Some(at) < sample.sent);
        if early {
            self.out.flow(track, span.begin, Flow::Start, flow)?;
        }
        for (name, phase) in phases(sample) {
            if phase.len_ns() > 0 {
                let args = Args::new();
                self.out.slice(CLIENT, tid, "phase", name, phase, args)?;
            }
            if name != AWAITS {
                continue;
            }
            if served.is_some() && !early {
                self.out.flow(track, phase.begin, Flow::Start, flow)?;
            }
            if let Some(joined) = joined {
                self.awaiting(tid, phase, joined)?;
            }
        }
        if served.is_some() {
            // An end of a slice is no longer inside of it.
            let answered = sample.first_byte.unwrap_or(sample.done);
            let answered = answered.min(sample.done.minus(1));
            self.out.flow(track, answered, Flow::End, flow)?;
        }
        Ok(())
    }

    /// What the server's socket says of the time between the request and the response.
    fn awaiting(&mut self, tid: u32, phase: Span, joined: &Joined) -> io::Result<()> {
        let parts = [
            Phase::Network,
            Phase::Unread,
            Phase::Service,
            Phase::Response,
        ];
        for part in parts {
            let (begin, end) = joined.part(part);
            let own = Span::new(Nanos::new(begin), Nanos::new(end));
            if let Some(own) = own.intersect(phase) {
                let name = part.describe();
                let args = Args::new();
                self.out.slice(CLIENT, tid, "segment", name, own, args)?;
            }
        }
        Ok(())
    }

    fn wait(&mut self, sample: &Sample) -> io::Result<()> {
        let end = if sample.connection == NONE {
            sample.done
        } else {
            sample.ready
        };
        let span = Span::new(sample.scheduled, end);
        let tid = self.track(WAITING, ((0, NONE), "waiting"), span)?;
        let name = self.name(sample).to_owned();
        let facts = args([("serial", sample.serial.into())]);
        self.out.slice(WAITING, tid, "queue", &name, span, facts)
    }

    fn name(&self, sample: &Sample) -> &str {
        let endpoints = &self.record.manifest.plan.scenario.endpoints;
        let endpoint = endpoints.get(usize::from(sample.endpoint));
        endpoint.map_or("request", |endpoint| &endpoint.name)
    }

    fn facts(&self, request: &Request) -> Args {
        let sample = &request.sample;
        let seed = self.record.manifest.plan.seed;
        let trace_id = Sample::trace_id(seed, sample.repeat, sample.serial);
        let mut facts = args([
            ("latency_ms", (sample.latency_ns() as f64 / 1e6).into()),
            ("outcome", sample.outcome.name().into()),
            ("repeat", sample.repeat.into()),
            ("serial", sample.serial.into()),
            ("trace_id", format!("{trace_id:032x}").into()),
        ]);
        if sample.status != 0 {
            facts.insert("status".into(), sample.status.into());
        }
        if sample.outcome.is_error() {
            facts.insert("phase".into(), sample.phase.name().into());
        }
        if request.wanted {
            facts.insert("slow".into(), true.into());
        }
        facts
    }
}

/// The phase in which the server is at work.
const AWAITS: &str = "awaiting the response";

/// What the client did between being ready and the end, without gaps.
fn phases(sample: &Sample) -> Vec<(&'static str, Span)> {
    let dialled = sample.secured.or(sample.connected);
    let steps = [
        ("client lag", Some(sample.ready)),
        ("connecting", sample.connect_begin),
        (
            "TLS handshake",
            sample.connected.filter(|_| sample.secured.is_some()),
        ),
        ("client lag", dialled),
        (AWAITS, sample.sent),
        ("reading the response", sample.first_byte),
    ];
    let reached = steps.into_iter().filter_map(|(name, at)| Some((name, at?)));
    let begun: Vec<(&str, Nanos)> = reached.collect();
    let ends = begun.iter().skip(1).map(|&(_, at)| at).chain([sample.done]);
    begun
        .iter()
        .zip(ends)
        .map(|(&(name, begin), end)| (name, Span::new(begin, end)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Nanos {
        Nanos::new(us * 1000)
    }

    #[test]
    fn phases_leave_no_gap() {
        let sample = Sample {
            ready: at(12),
            connect_begin: Some(at(13)),
            connected: Some(at(20)),
            secured: Some(at(30)),
            sent: Some(at(31)),
            first_byte: Some(at(90)),
            done: at(95),
            ..Sample::due(at(10))
        };
        let phases = phases(&sample);
        assert_eq!(phases.first().unwrap().1.begin, sample.ready);
        assert_eq!(phases.last().unwrap().1.end, sample.done);
        assert!(phases.windows(2).all(|two| two[0].1.end == two[1].1.begin));
        let total: u64 = phases.iter().map(|(_, span)| span.len_ns()).sum();
        assert_eq!(total, 83_000);
        assert_eq!(phases.len(), 6);
    }
}
