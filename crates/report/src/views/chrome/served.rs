//! Which threads served the exported requests, and when: what the diagnosis joins them with.

use std::collections::BTreeSet;

use slowpath_core::nanos::Nanos;
use slowpath_core::record::RunRecord;
use slowpath_core::sample::NONE;
use slowpath_diagnose::diagnosis::Phase;
use slowpath_diagnose::trace::Index;
use slowpath_diagnose::trace::join::{Joined, Joiner};
use slowpath_diagnose::trace::ports::Ports;

use super::choice::Chosen;

/// A thread that reads a request or writes its answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Station {
    pub(super) at: Nanos,
    pub(super) tid: u32,
    /// Position among the exported requests.
    pub(super) request: usize,
}

/// What the server did for the exported requests.
pub(super) struct Served {
    /// By request.
    pub(super) joined: Vec<Option<Joined>>,
    /// In order of time.
    pub(super) stations: Vec<Station>,
    /// By request, the first station that was drawn.
    pub(super) drawn: Vec<Option<Nanos>>,
}

impl Served {
    pub(super) fn of(record: &RunRecord, chosen: &Chosen) -> Self {
        let mut served = Self {
            joined: vec![None; chosen.requests.len()],
            stations: Vec::new(),
            drawn: vec![None; chosen.requests.len()],
        };
        if record.trace.depth().is_none() {
            return served;
        }
        let index = Index::new(&record.trace);
        let joiner = Joiner::new(&index, Ports::default());
        let shared = shared(chosen);
        for (request, one) in chosen.requests.iter().enumerate() {
            let sample = &one.sample;
            if shared.contains(&(sample.repeat, sample.connection)) {
                continue;
            }
            let position = one.position;
            let Ok(joined) = joiner.join(position as u32, record.samples.at(position)) else {
                continue;
            };
            let (read, answered) = joined.part(Phase::Service);
            let had = sample.first_byte.unwrap_or(sample.done);
            let stations = [(read, joined.reader), (answered, joined.writer)];
            let stations = stations.map(|(at, tid)| Station {
                at: Nanos::new(at),
                tid,
                request,
            });
            // The last write of an answer may come after the client had its first byte.
            let stations = stations.into_iter().filter(|station| station.at < had);
            served.stations.extend(stations);
            served.joined[request] = Some(joined);
        }
        served.stations.sort_unstable();
        served
    }
}

/// Connections on which exported requests were under way side by side: their data cannot be
/// distinguished.
fn shared(chosen: &Chosen) -> BTreeSet<(u16, u32)> {
    let samples = chosen.requests.iter().map(|one| &one.sample);
    let used = samples.filter(|sample| sample.connection != NONE);
    let mut uses: Vec<_> = used
        .map(|sample| {
            let begin = sample.sent.unwrap_or(sample.ready);
            ((sample.repeat, sample.connection), begin, sample.done)
        })
        .collect();
    uses.sort_unstable();
    let both = uses.windows(2).filter(|two| two[0].0 == two[1].0);
    both.filter(|two| two[1].1 < two[0].2)
        .map(|two| two[0].0)
        .collect()
}
