//! How many connections the server had open when another one was made, and what became of that.

use std::collections::BTreeMap;

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::sample::{NONE, Outcome, Phase};
use slowpath_core::samples::SampleRef;
use slowpath_core::signal::{PROCESS_FDS, PROCESS_FDS_LIMIT};
use slowpath_core::timeline::Series;

use crate::case::Case;
use crate::hazard::{self, Met, Step};

/// A process has no descriptors left from this share of its limit on: they are read once a second,
/// and come and go in between.
const NO_FILES: f64 = 0.95;
/// Dials this close to each other meet the same state of the server: connections made in one burst
/// overtake each other.
const TOGETHER_NS: u64 = MILLISECOND;

/// Whether a connection was made, or refused, and no answer came on it: what happens to one that a
/// server has no room for.
pub(crate) fn is_turned_away(sample: SampleRef<'_>) -> bool {
    let phase = match sample.outcome() {
        Outcome::Reset | Outcome::Closed | Outcome::BrokenPipe => {
            matches!(
                sample.phase(),
                Phase::Send | Phase::FirstByte | Phase::Handshake
            )
        }
        Outcome::Timeout => matches!(sample.phase(), Phase::FirstByte | Phase::Handshake),
        Outcome::Refused => true,
        _ => false,
    };
    phase && sample.index_on_connection() == 0 && sample.received_bytes() == 0
}

/// A connection that carried answers.
struct Used {
    since: Nanos,
    last: Nanos,
    /// The longest time in which it was unused.
    gap_ns: u64,
}

impl Used {
    const fn from(since: Nanos) -> Self {
        Self {
            since,
            last: since,
            gap_ns: 0,
        }
    }

    fn again(&mut self, sample: SampleRef<'_>) {
        self.gap_ns = self.gap_ns.max(sample.ready().since(self.last));
        self.last = self.last.max(sample.done());
    }

    /// It is not known when the server closed it; it was there for as long as it had been kept before.
    fn until(&self) -> Nanos {
        self.last.plus(self.gap_ns)
    }
}

/// Connections that were made, with how many others had been answered before and were still in use.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// Those that were answered.
    fine: Vec<Met>,
    /// Those that were not.
    away: Vec<Met>,
}

impl Room {
    /// Of a run, warm-up included.
    pub(crate) fn of(case: &Case<'_>) -> Self {
        let mut room = Self::default();
        for (repeat, facts) in (0..).zip(&case.record.manifest.repeats) {
            room.add(case, repeat, facts.load);
        }
        room
    }

    fn add(&mut self, case: &Case<'_>, repeat: u16, load: Span) {
        let mut used: BTreeMap<u32, Used> = BTreeMap::new();
        let mut dials: Vec<(Nanos, bool)> = Vec::new();
        let samples = case.record.samples.iter().filter(|s| s.repeat() == repeat);
        for sample in samples {
            let answered = sample.outcome() == Outcome::Ok;
            let fresh = sample.index_on_connection() == 0;
            if let Some(begin) = sample.connect_begin().filter(|_| fresh)
                && (answered || is_turned_away(sample))
            {
                dials.push((begin, answered));
            }
            if answered && sample.connection() != NONE {
                let since = sample.connection_since().unwrap_or(sample.ready());
                let own = used.entry(sample.connection());
                own.or_insert_with(|| Used::from(since)).again(sample);
            }
        }
        let mut begins: Vec<Nanos> = used.values().map(|used| used.since).collect();
        let mut ends: Vec<Nanos> = used.values().map(Used::until).collect();
        begins.sort_unstable();
        ends.sort_unstable();
        dials.sort_unstable();
        let mut last: Option<Nanos> = None;
        for (at, answered) in dials {
            let before = |all: &[Nanos]| all.partition_point(|&one| one < at) as u64;
            let value = before(&begins).saturating_sub(before(&ends));
            let second = at.since(load.begin) / slowpath_core::nanos::SECOND;
            let met = Met {
                value,
                half: hazard::half(repeat, second),
            };
            if answered {
                self.fine.push(met);
            } else if last.is_none_or(|last| at.since(last) >= TOGETHER_NS) {
                last = Some(at);
                self.away.push(met);
            }
        }
    }

    /// At how many instants connections were turned away.
    pub(crate) const fn events(&self) -> usize {
        self.away.len()
    }

    /// From how many connections on others are turned away.
    pub(crate) fn step(&self) -> Option<Step> {
        let (fine, away) = (self.fine.iter().copied(), self.away.iter().copied());
        hazard::step(&fine, &away)
    }

    /// How many others there were when connections were turned away, ascending.
    pub(crate) fn when_away(&self) -> Vec<u64> {
        let mut values: Vec<u64> = self.away.iter().map(|met| met.value).collect();
        values.sort_unstable();
        values
    }
}

/// The descriptors of the target's processes against their limits.
pub(crate) struct Files<'a> {
    /// Used, and the limit.
    each: Vec<(&'a Series, &'a Series)>,
}

impl<'a> Files<'a> {
    /// `None` if neither could be read.
    pub(crate) fn of(case: &Case<'a>) -> Option<Self> {
        let used = case.timeline().all(&PROCESS_FDS);
        let with_limit =
            |used: &'a Series| Some((used, case.series(&PROCESS_FDS_LIMIT, &used.subject, "")?));
        let each: Vec<_> = used.filter_map(with_limit).collect();
        (!each.is_empty()).then_some(Self { each })
    }

    /// The process that used the largest part of its limit when it was last read before an instant:
    /// how many it used, and the limit.
    pub(crate) fn at(&self, at: Nanos) -> Option<(f64, f64)> {
        let last = |series: &Series| {
            let before = series.points.partition_point(|p| p.window.end <= at);
            series
                .points
                .get(before.max(1) - 1)
                .map(|point| point.value)
        };
        let each = self
            .each
            .iter()
            .filter_map(|(used, limit)| Some((last(used)?, last(limit)?)));
        each.max_by(|a, b| (a.0 / a.1.max(1.0)).total_cmp(&(b.0 / b.1.max(1.0))))
    }

    /// Whether a process had none left then.
    pub(crate) fn exhausted(&self, at: Nanos) -> bool {
        self.at(at)
            .is_some_and(|(used, limit)| used >= NO_FILES * limit)
    }
}

/// Why the target's descriptors were not read, and what would help.
pub(crate) fn unread_files(case: &Case<'_>) -> (String, String) {
    case.target_hidden().unwrap_or_else(|| {
        let gap = case.timeline().gap(&PROCESS_FDS);
        let why = gap.map_or("the target's descriptors were not read", |gap| &gap.reason);
        let remedy = gap.map_or_else(String::new, |gap| gap.remedy.clone());
        (why.to_owned(), remedy)
    })
}
