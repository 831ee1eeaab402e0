//! A constant wait on a timer inside the server: a sleep in the handler, a fixed pause.
//!
//! The client sees a phase of requests whose length hardly varies. That alone could be work or a
//! dependency; what makes it a timer is that the target neither computes nor talks to anybody in
//! that time, and that its threads are seen in timed waits just when requests wait.

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::sample::Sample;
use slowpath_core::stats::quantile::type_1;
use slowpath_core::stats::tightness::shortest;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::predict::without_claims;
use crate::sleepers::{Sleepers, sleepers};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, ms, percent};

/// Shorter waits cannot be told from scheduling on a shared machine.
const DELAY_LEAST_NS: u64 = MILLISECOND;
/// A floor that is not this many times the wire is the wire (signatures 11).
const TIMES_WIRE: u64 = 10;
/// Half of the requests must agree on the length to within this share of it (signatures 11).
const TIGHT: f64 = 0.1;
/// … in which "half" means this share of requests.
const TIGHT_HALF: f64 = 0.5;
/// A sleep cannot end early: at most this share of requests may be shorter than 90 % of it.
const EARLY_SHARE: f64 = 0.02;
/// A floor is in every request but those that go another way, like the first on a connection; a
/// slow mode may hold as many again that are slow for another reason.
const HAVE_IT: (f64, f64) = (0.9, 0.5);
/// Fewer requests than this do not show a constant.
const FEWEST: usize = 30;
/// From this share of the delay on, CPU time is what the request takes, not a timer.
const CPU_SHARE: f64 = 0.5;
/// Where the constant's low edge is read: a sleep never ends early, so its length is the low end
/// of what is seen; the first percents may be clock granularity.
const EDGE_P: f64 = 0.05;

/// See the module.
pub(super) static DETECTOR: Detector =
    Detector { examine: Examine::Endpoint(examine), may_be_the_work: true };

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let Some(delay) = constant(case, endpoint) else {
        return Verdict::Cleared("no phase of the requests has a constant length".to_owned());
    };
    if let Some((missing, remedy)) = case.target_hidden() {
        let constant = human(delay.constant_ns as f64);
        let missing = format!("{missing}; a constant of {constant} may be a timer or the work");
        return Verdict::Blind { missing, remedy };
    }
    let Some(cpu_ns) = case.target_cpu_per_request_ns() else {
        return Verdict::Blind {
            missing: "the target's CPU time".to_owned(),
            remedy: "run slowpath as the target's user".to_owned(),
        };
    };
    if cpu_ns >= CPU_SHARE * delay.constant_ns as f64 {
        return Verdict::Cleared(format!(
            "{} recurs in every request, but the target computes for {} of it",
            human(delay.constant_ns as f64),
            human(cpu_ns)
        ));
    }
    let sleepers = sleepers(case, &delay.waits);
    judge(case, endpoint, &delay, cpu_ns, &sleepers)
}

/// Weighs what the target's threads and sockets say about a constant that was seen.
fn judge(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    delay: &Delay,
    cpu_ns: f64,
    sleepers: &Sleepers,
) -> Verdict {
    let constant = human(delay.constant_ns as f64);
    if let Some(text) = sleepers.agrees() {
        let proof = evidence(Source::Proc, sleepers.pointer, text);
        return found(case, endpoint, delay, Grade::Supported, vec![proof, idle(cpu_ns)]);
    }
    let some = (delay.place == Place::Tail).then(|| "only some requests have it".to_owned());
    let before = delay.phase == Part::BeforeFirstByte;
    if let Some(why) = sleepers.waits_elsewhere(before).or(some) {
        return Verdict::Lead {
            place: delay.place,
            claims: delay.claims(),
            missing: format!(
                "what the target waits for: {constant} recurs, {why}, and no thread is seen \
                 sleeping in that time"
            ),
            remedy: "slowpath prove RUN --cause fixed-delay (root)".to_owned(),
        };
    }
    found(case, endpoint, delay, Grade::Suspected, vec![idle(cpu_ns)])
}

fn idle(cpu_ns: f64) -> Evidence {
    let text = format!("the target computes for {} a request", human(cpu_ns));
    evidence(Source::Proc, "process.cpu.user_ns", text)
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    delay: &Delay,
    grade: Grade,
    mut proofs: Vec<Evidence>,
) -> Verdict {
    let constant = human(delay.constant_ns as f64);
    let text = format!(
        "{} of {} requests spend {constant} {}; half of them agree to within {}",
        delay.waits.len(),
        endpoint.completed.len(),
        delay.phase.describe(),
        human(delay.width_ns as f64)
    );
    proofs.insert(0, evidence(Source::Client, delay.phase.column(), text));
    let claims = delay.claims();
    let whom = match delay.place {
        Place::Floor => "every request".to_owned(),
        _ => percent(delay.waits.len() as f64 / endpoint.completed.len() as f64) + " of requests",
    };
    Verdict::Found(Found {
        place: delay.place,
        prediction: without_claims(case, endpoint, &claims),
        amount: Amount::Claims(claims),
        grade,
        summary: format!(
            "{whom} waits {constant} on a timer in the server, {}, while the server does nothing; \
             look for a sleep, a fixed pause or a poll interval of that length",
            delay.phase.describe()
        ),
        evidence: proofs,
        culprit: Culprit { constant_ms: Some(ms(delay.constant_ns as f64)), ..Culprit::default() },
    })
}

/// The part of a request in which the constant lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    BeforeFirstByte,
    InsideResponse,
}

impl Part {
    fn describe(self) -> &'static str {
        match self {
            Self::BeforeFirstByte => "before the first byte",
            Self::InsideResponse => "inside the response",
        }
    }

    fn column(self) -> &'static str {
        match self {
            Self::BeforeFirstByte => "first_byte_ns",
            Self::InsideResponse => "gap_ns",
        }
    }

    fn of(self, sample: &Sample) -> Option<Span> {
        let span = match self {
            Self::BeforeFirstByte => Span::new(sample.sent?, sample.first_byte?),
            Self::InsideResponse => {
                let begin = sample.gap_begin?;
                Span::new(begin, begin.plus(sample.gap_ns))
            }
        };
        (span.len_ns() >= DELAY_LEAST_NS).then_some(span)
    }
}

/// A phase of constant length.
struct Delay {
    place: Place,
    phase: Part,
    constant_ns: u64,
    width_ns: u64,
    /// The waits, by request.
    waits: Vec<(u32, Span)>,
}

impl Delay {
    fn claims(&self) -> Vec<Claim> {
        self.waits.iter().map(|&(sample, span)| Claim { sample, span }).collect()
    }
}

/// Looks for a constant in all requests, then in those that met an idle server (others' queueing
/// would blur it), then in the slow ones.
fn constant(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Delay> {
    let alone = |i: &&u32| case.sample(**i).in_flight == 0 && case.sample(**i).queued_ns() == 0;
    let all: Vec<u32> = endpoint.completed.clone();
    let quiet: Vec<u32> = all.iter().filter(alone).copied().collect();
    let least = DELAY_LEAST_NS.max(TIMES_WIRE * case.wire_ns.unwrap_or_default());
    for phase in [Part::BeforeFirstByte, Part::InsideResponse] {
        let tight = |requests, have_it| tight(case, requests, phase, least, have_it);
        let floor = [&all, &quiet].into_iter().find_map(|requests| tight(requests, HAVE_IT.0));
        let floor = floor.map(|found| (Place::Floor, &all, found));
        let slow = endpoint.split.bimodal.then_some(&endpoint.split.slow);
        let tail = || Some((Place::Tail, slow?, tight(slow?, HAVE_IT.1)?));
        if let Some((place, requests, (constant_ns, width_ns))) = floor.or_else(tail) {
            let waits = waits(case, requests, phase, constant_ns);
            return Some(Delay { place, phase, constant_ns, width_ns, waits });
        }
    }
    None
}

/// The constant (its low edge) and the width that half of the requests agree to.
fn tight(
    case: &Case<'_>,
    requests: &[u32],
    phase: Part,
    least_ns: u64,
    have_it: f64,
) -> Option<(u64, u64)> {
    let lengths = requests.iter().filter_map(|&i| phase.of(case.sample(i))).map(Span::len_ns);
    let mut lengths: Vec<u64> = lengths.collect();
    if lengths.len() < FEWEST || (lengths.len() as f64) < have_it * requests.len() as f64 {
        return None;
    }
    lengths.sort_unstable();
    let (low, high) = shortest(&lengths, TIGHT_HALF)?;
    let inside = lengths.partition_point(|&l| l < low)..lengths.partition_point(|&l| l <= high);
    let constant = type_1(&lengths[inside], EDGE_P)?;
    let early = lengths.partition_point(|&l| (l as f64) < (1.0 - TIGHT) * constant as f64);
    let is_tight = (high - low) as f64 <= TIGHT * constant as f64
        && early as f64 <= EARLY_SHARE * lengths.len() as f64
        && constant >= least_ns;
    is_tight.then_some((constant, high - low))
}

/// The first `constant` nanoseconds of the phase in each request that is that long, before the
/// end of the phase: queueing comes before the handler sleeps.
fn waits(case: &Case<'_>, requests: &[u32], phase: Part, constant_ns: u64) -> Vec<(u32, Span)> {
    let of = |&i: &u32| {
        let span = phase.of(case.sample(i))?;
        (span.len_ns() as f64 >= (1.0 - TIGHT) * constant_ns as f64).then(|| {
            let begin: Nanos = span.end.minus(constant_ns.min(span.len_ns()));
            (i, Span::new(begin, span.end))
        })
    };
    requests.iter().filter_map(of).collect()
}
