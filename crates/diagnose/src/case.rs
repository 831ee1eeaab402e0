//! The case: a read-only view of a run, cut the way detectors ask for it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Stage};
use slowpath_core::samples::SampleRef;
use slowpath_core::signal::{LISTENER_DROPS, Signal};
use slowpath_core::spread::{InTurn, Spread, both, map};
use slowpath_core::stats::fisher::at_least_of;
use slowpath_core::stats::quantile;
use slowpath_core::timeline::{Series, Subject, Timeline};

use crate::attribute::EndpointAttribution;
use crate::collections::Pauses;
use crate::diagnosis::Place;
use crate::frame::Frame;
use crate::instrument::Load;
use crate::ledger::{Blanks, NAMED_EPISODES};
use crate::slow::{Split, split};
use crate::touches::Touches;
use crate::trace::inside::Inside;
use crate::verdict::Claim;

/// A cause is one of the tail when a slow request has at least this many times as much of it as
/// another one; the scatter of a floor stays below.
const TAIL_HAS_MORE: f64 = 2.0;

/// A run, as detectors see it.
#[derive(Debug)]
pub struct Case<'a> {
    /// The record; detectors read it through the case's own methods where there is one.
    pub record: &'a RunRecord,
    /// One entry an endpoint, in the scenario's order.
    pub endpoints: Vec<EndpointCase>,
    /// The measured windows, by repeat.
    pub windows: Vec<Span>,
    /// One round trip to the target's host, without its application, since the kernel answers a
    /// SYN by itself: the lower quartile of the times to make a connection, or the shortest where
    /// all were made ahead of requests. `None` if none was made.
    pub wire_ns: Option<u64>,
    /// The instant that seconds are counted from: the begin of the run's first measured window.
    zero: Option<Nanos>,
    /// See [`Case::load`].
    load: OnceLock<Load>,
    /// See [`Case::inside`].
    inside: OnceLock<Option<Box<Inside<'a>>>>,
    /// See [`Case::pauses`].
    pauses: OnceLock<Option<Pauses>>,
}

/// The requests of which it could be known whether they wait for something.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) slow: usize,
    pub(crate) others: usize,
    /// Episodes that the slow ones belong to.
    pub(crate) episodes: usize,
}

/// The requests of one endpoint in the measured windows.
#[derive(Debug)]
pub struct EndpointCase {
    /// Its position in the scenario.
    pub index: u16,
    /// Its name.
    pub name: String,
    /// Whole responses that met expectations: positions in the record's samples.
    pub completed: Vec<u32>,
    /// Their latencies, in the same order.
    pub latencies_ns: Vec<u64>,
    /// Failures.
    pub failed: Vec<u32>,
    /// Overtaken by the end of the run.
    pub unfinished: Vec<u32>,
    /// Whole responses that met expectations, before the measured windows.
    pub warmed_up: Vec<u32>,
    /// What the plan wanted sent.
    pub offered: u64,
    /// Of the offered, those never sent.
    pub unsent: u64,
    /// Fast and slow among the completed and timed out.
    pub split: Split,
    /// The slow requests against the fast class; `None` if none is slow.
    pub tail: Option<Frame>,
    /// The requests around the median against the wire; `None` if the wire is not known.
    pub floor: Option<Frame>,
    /// See [`EndpointCase::touches`].
    touches: OnceLock<Option<Touches>>,
    /// See [`EndpointCase::attribution`].
    attribution: OnceLock<EndpointAttribution>,
}

impl<'a> Case<'a> {
    /// Cuts a record.
    pub fn new(record: &'a RunRecord) -> Self {
        Self::cut_by(record, &InTurn)
    }

    /// Cuts a record, endpoints side by side.
    pub(crate) fn cut_by(record: &'a RunRecord, spread: &dyn Spread) -> Self {
        let zero = record.manifest.repeats.first().map(|r| r.window.begin);
        Self::from(record, zero, spread)
    }

    /// Cuts a part of a record; seconds are counted from `zero`.
    pub(crate) fn from(record: &'a RunRecord, zero: Option<Nanos>, spread: &dyn Spread) -> Self {
        let windows: Vec<Span> = record.manifest.repeats.iter().map(|r| r.window).collect();
        let names = record
            .manifest
            .plan
            .scenario
            .endpoints
            .iter()
            .map(|e| e.name.clone());
        let names: Vec<String> = names.collect();
        let (mut endpoints, wire_ns) = both(spread, || deal(record, &names), || wire_ns(record));
        let latencies = map(spread, endpoints.len(), |k| endpoints[k].measure(record));
        for (endpoint, latencies) in endpoints.iter_mut().zip(latencies) {
            endpoint.latencies_ns = latencies;
        }
        let cuts = map(spread, endpoints.len(), |k| {
            Cut::of(record, &endpoints[k], wire_ns, &windows, spread)
        });
        for (endpoint, cut) in endpoints.iter_mut().zip(cuts) {
            (endpoint.split, endpoint.tail, endpoint.floor) = (cut.split, cut.tail, cut.floor);
        }
        Self {
            record,
            endpoints,
            windows,
            wire_ns,
            zero,
            load: OnceLock::new(),
            inside: OnceLock::new(),
            pauses: OnceLock::new(),
        }
    }

    /// What the instrument did.
    pub fn load(&self) -> &Load {
        self.load.get_or_init(|| Load::of(self))
    }

    /// What became of the requests inside of the server; `None` if it was not traced.
    pub fn inside(&self) -> Option<&Inside<'a>> {
        let inside = self.inside.get_or_init(|| Inside::of(self).map(Box::new));
        inside.as_deref()
    }

    /// When the target stood still to collect garbage; `None` if its log reports no collection.
    pub(crate) fn pauses(&self) -> Option<&Pauses> {
        self.pauses.get_or_init(|| Pauses::of(self)).as_ref()
    }

    /// Requests that tracing says nothing of by choice, ascending.
    pub(crate) fn blank(&self) -> Blanks<'_> {
        self.inside().map_or_else(Blanks::default, Inside::blank)
    }

    /// One request.
    pub fn sample(&self, index: u32) -> SampleRef<'a> {
        self.record.samples.at(index as usize)
    }

    /// The timeline.
    pub fn timeline(&self) -> &'a Timeline {
        &self.record.timeline
    }

    /// Measured time over all repeats, in nanoseconds.
    pub fn measured_ns(&self) -> u64 {
        self.windows.iter().map(|w| w.len_ns()).sum()
    }

    /// The one series of a signal.
    pub fn series(&self, signal: &Signal, subject: &Subject, label: &str) -> Option<&'a Series> {
        self.timeline().one(signal, subject, label)
    }

    /// Whether the target's listener dropped connections while load was driven.
    pub(crate) fn listener_drops(&self) -> bool {
        let series = self.series(&LISTENER_DROPS, &Subject::Target, "");
        let mut loads = self.record.manifest.repeats.iter();
        series.is_some_and(|series| loads.any(|r| series.increase(r.load) > Some(0.0)))
    }

    /// What a counter counted in all measured windows; `None` if it was not observed.
    pub fn measured_increase(&self, series: &Series) -> Option<f64> {
        let parts = self
            .windows
            .iter()
            .filter_map(|&window| series.increase(window));
        parts.reduce(|a, b| a + b)
    }

    /// Mean of a gauge over all measured windows.
    pub fn measured_mean(&self, series: &Series) -> Option<f64> {
        let (n, sum) = self
            .measured_points(series)
            .fold((0_u32, 0.0), |(n, sum), value| (n + 1, sum + value));
        (n > 0).then(|| sum / f64::from(n))
    }

    /// The readings of a gauge in the measured windows, added up.
    pub(crate) fn measured_sum(&self, series: &Series) -> f64 {
        self.measured_points(series).sum()
    }

    /// Largest value of a gauge in the measured windows.
    pub fn measured_max(&self, series: &Series) -> Option<f64> {
        self.measured_points(series).reduce(f64::max)
    }

    fn measured_points<'b>(&'b self, series: &'b Series) -> impl Iterator<Item = f64> + 'b {
        let inside = |at: Nanos| self.windows.iter().any(|w| w.begin <= at && at < w.end);
        series
            .points
            .iter()
            .filter(move |p| inside(p.window.end))
            .map(|p| p.value)
    }

    /// The CPU time of the target in the measured windows; `None` if it cannot be seen.
    pub fn target_cpu_ns(&self) -> Option<f64> {
        use slowpath_core::signal::{PROCESS_CPU_SYSTEM, PROCESS_CPU_USER};
        let user = self.timeline().all(&PROCESS_CPU_USER);
        let all = user.chain(self.timeline().all(&PROCESS_CPU_SYSTEM));
        all.filter_map(|series| self.measured_increase(series))
            .reduce(|a, b| a + b)
    }

    /// Whether the target is restarted for each repeat.
    pub(crate) fn restarts(&self) -> bool {
        let scenario = &self.record.manifest.plan.scenario;
        scenario.target.command.is_some() && scenario.load.fresh
    }

    /// Requests of all endpoints that were completed in the measured windows.
    pub fn completed(&self) -> usize {
        self.endpoints.iter().map(|e| e.completed.len()).sum()
    }

    /// CPU time of the target for each completed request; `None` if it cannot be seen.
    pub fn target_cpu_per_request_ns(&self) -> Option<f64> {
        let completed = self.completed();
        (completed > 0).then_some(())?;
        Some(self.target_cpu_ns()? / completed as f64)
    }

    /// Why the target cannot be seen, if it cannot: the missing thing and its remedy.
    pub fn target_hidden(&self) -> Option<(String, String)> {
        let target = &self.record.manifest.target;
        (!target.visible).then(|| {
            let missing = if target.hidden_because.is_empty() {
                "the target's processes".to_owned()
            } else {
                format!("the target's processes: {}", target.hidden_because)
            };
            (
                missing,
                "run slowpath on the target's host, or say --pid PID".to_owned(),
            )
        })
    }

    /// Seconds from the begin of the first measured window.
    pub fn seconds(&self, at: Nanos) -> f64 {
        let zero = self.zero.unwrap_or(at);
        (at.get() as f64 - zero.get() as f64) / 1e9
    }
}

impl EndpointCase {
    /// An endpoint without requests.
    fn new(record: &RunRecord, index: u16, name: String) -> Self {
        let mut case = Self {
            index,
            name,
            completed: Vec::new(),
            latencies_ns: Vec::new(),
            failed: Vec::new(),
            unfinished: Vec::new(),
            warmed_up: Vec::new(),
            offered: 0,
            unsent: 0,
            split: Split::default(),
            tail: None,
            floor: None,
            touches: OnceLock::new(),
            attribution: OnceLock::new(),
        };
        for tally in &record.manifest.repeats {
            let tally = tally
                .endpoints
                .get(usize::from(index))
                .copied()
                .unwrap_or_default();
            case.offered += tally.offered;
            case.unsent += tally.unsent;
        }
        case
    }

    /// Whether its requests ask for what others ask for as well: a keyless request is its own.
    pub(crate) fn is_keyed(&self, case: &Case<'_>) -> bool {
        let endpoints = &case.record.manifest.plan.scenario.endpoints;
        let own = endpoints.get(usize::from(self.index));
        own.is_some_and(|own| own.key.is_some())
    }

    /// The requests for keys with what had become of these; `None` without keys, or if none is slow.
    pub(crate) fn touches(&self, case: &Case<'_>) -> Option<&Touches> {
        let touches = self.touches.get_or_init(|| Touches::of(case, self));
        touches.as_ref()
    }

    /// What its requests waited for. `case` is the one that this belongs to.
    pub(crate) fn attribution(&self, case: &Case<'_>) -> &EndpointAttribution {
        self.attribution
            .get_or_init(|| EndpointAttribution::of(case, self))
    }

    /// The latencies of the completed requests.
    fn measure(&self, record: &RunRecord) -> Vec<u64> {
        let latency = |&i: &u32| record.samples.at(i as usize).latency_ns();
        self.completed.iter().map(latency).collect()
    }

    /// The places of completed requests that follow each other in one repeat, with its number.
    pub(crate) fn stretches<'a>(
        &'a self,
        record: &'a RunRecord,
    ) -> impl Iterator<Item = (u16, Range<usize>)> + 'a {
        let of_repeat = |&i: &u32| record.samples.at(i as usize).repeat();
        let stretches = self
            .completed
            .chunk_by(move |a, b| of_repeat(a) == of_repeat(b));
        stretches.scan(0, move |begin, stretch| {
            let own = *begin..*begin + stretch.len();
            *begin = own.end;
            Some((of_repeat(&stretch[0]), own))
        })
    }

    /// Whether claims explain the tail (slow requests have much more of it than the others) or the
    /// floor (all have it alike). Slow requests of too few episodes name nothing, but all requests
    /// together may.
    pub fn place_of(&self, claims: &[Claim]) -> Place {
        let slow = self.tail.as_ref().map_or(0, |tail| tail.requests.len());
        let others = self
            .split
            .sorted_ns
            .partition_point(|&ns| self.split.cut_ns.is_none_or(|cut| ns < cut));
        let episodes = self.tail.as_ref().map_or(0, |tail| tail.clusters as usize);
        self.place_among(
            claims,
            &Known {
                slow,
                others,
                episodes,
            },
        )
    }

    /// Of how many requests it could be known whether they wait for something, if it could be of these.
    pub(crate) fn known(&self, requests: impl Iterator<Item = u32>) -> Known {
        let (mut slow, mut others) = (0, 0);
        let mut clusters = BTreeSet::new();
        let tail = self.tail.as_ref();
        for request in requests {
            match tail.and_then(|tail| Some(tail.cluster[tail.position(request)?])) {
                Some(cluster) => {
                    slow += 1;
                    clusters.insert(cluster);
                }
                None => others += 1,
            }
        }
        Known {
            slow,
            others,
            episodes: clusters.len(),
        }
    }

    /// The same, of claims that could only be made on some requests.
    pub(crate) fn place_among(&self, claims: &[Claim], known: &Known) -> Place {
        let Some(tail) = &self.tail else {
            return Place::Floor;
        };
        let (mut slow_ns, mut others_ns) = (0.0, 0.0);
        let mut clusters = BTreeSet::new();
        for claim in claims {
            let length_ns = claim.span.len_ns() as f64;
            match tail.position(claim.sample) {
                Some(position) => {
                    slow_ns += length_ns;
                    clusters.insert(tail.cluster[position]);
                }
                None => others_ns += length_ns,
            }
        }
        // Where there is no floor either, it is not named, but described as part of the tail.
        let [all, seen, having] =
            [tail.clusters as usize, known.episodes, clusters.len()].map(|n| n as u64);
        if (at_least_of(all, seen, having) as usize) < NAMED_EPISODES && self.floor.is_some() {
            return Place::Floor;
        }
        if slow_ns * known.others as f64 >= TAIL_HAS_MORE * others_ns * known.slow as f64 {
            Place::Tail
        } else {
            Place::Floor
        }
    }

    /// The share of the excess at a place that claims are at most, even if other causes claim it too; `None` where nothing
    /// is in excess.
    pub(crate) fn share_at_most(&self, place: Place, claims: &[Claim]) -> Option<f64> {
        let frame = self.frame(place).filter(|frame| frame.excess_ns > 0.0)?;
        let of_frame = |claim: &&Claim| frame.position(claim.sample).is_some();
        let own = claims.iter().filter(of_frame);
        Some(own.map(|claim| claim.span.len_ns() as f64).sum::<f64>() / frame.excess_ns)
    }

    /// The frame in which something of that place is weighed.
    pub fn frame(&self, place: Place) -> Option<&Frame> {
        match place {
            Place::Tail => self.tail.as_ref(),
            Place::Floor => self.floor.as_ref(),
            Place::Errors | Place::Throughput => None,
        }
    }

    /// The latency below which a share `p` of the completed requests lies.
    pub fn latency_ns(&self, p: f64) -> Option<u64> {
        quantile::type_1(&self.split.sorted_ns, p)
    }
}

/// Fast and slow among the requests of an endpoint.
struct Cut {
    split: Split,
    tail: Option<Frame>,
    floor: Option<Frame>,
}

impl Cut {
    fn of(
        record: &RunRecord,
        endpoint: &EndpointCase,
        wire_ns: Option<u64>,
        windows: &[Span],
        spread: &dyn Spread,
    ) -> Self {
        let requests = (
            endpoint.completed.as_slice(),
            endpoint.latencies_ns.as_slice(),
        );
        let split = split(record, requests, &endpoint.failed, spread);
        let floor = |wire| Frame::floor(record, requests, &split.sorted_ns, wire, windows);
        let (tail, floor) = both(
            spread,
            || Frame::tail(record, &split, windows),
            || wire_ns.and_then(floor),
        );
        Self { split, tail, floor }
    }
}

/// Deals the requests of a record to its endpoints, which have these names.
fn deal(record: &RunRecord, names: &[String]) -> Vec<EndpointCase> {
    let new = |(index, name): (u16, &String)| EndpointCase::new(record, index, name.clone());
    let mut endpoints: Vec<EndpointCase> = (0..).zip(names).map(new).collect();
    for (position, sample) in (0..).zip(&record.samples) {
        let Some(endpoint) = endpoints.get_mut(usize::from(sample.endpoint())) else {
            continue;
        };
        match (sample.stage(), sample.outcome()) {
            (Stage::Measured, Outcome::Ok) => endpoint.completed.push(position),
            (Stage::Measured, Outcome::Unfinished) => endpoint.unfinished.push(position),
            (Stage::Measured, _) => endpoint.failed.push(position),
            (Stage::Warmup, Outcome::Ok) => endpoint.warmed_up.push(position),
            (Stage::Warmup, _) => {}
        }
    }
    endpoints
}

/// See [`Case::wire_ns`].
fn wire_ns(record: &RunRecord) -> Option<u64> {
    /// A round trip of a whole second is a repeated SYN, not a wire.
    const LONGEST_NS: u64 = 900 * MILLISECOND;
    let dials = record.samples.iter().filter_map(SampleRef::connect_ns);
    let mut dials: Vec<u64> = dials.filter(|&ns| ns < LONGEST_NS).collect();
    dials.sort_unstable();
    let fastest = record
        .manifest
        .repeats
        .iter()
        .filter_map(|r| r.fastest_dial_ns)
        .min();
    quantile::type_1(&dials, 0.25).or(fastest)
}
