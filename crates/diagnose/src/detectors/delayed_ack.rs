//! Nagle's algorithm on the server holds the end of a response until the client's delayed
//! acknowledgement of its beginning (RFC 896, RFC 1122 4.2.3.2; Linux `TCP_DELACK_MIN` = 40 ms).

use slowpath_attribution::StateSet;
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;
use slowpath_core::signal::{NET_COUNTER, SERVER_SOCKETS_HELD_BACK};
use slowpath_core::stats::fisher::{Table, fisher};
use slowpath_core::stats::quantile::type_1;
use slowpath_core::timeline::Subject;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Source};
use crate::predict::without_claims;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, ms, percent};

/// The timer is `HZ / 25` = 40 ms, minus the part of a jiffy that had passed when it was set …
const GAP_LEAST_NS: u64 = 38 * MILLISECOND;
/// … and plus up to two jiffies of 4 ms and the way back on a busy machine.
const GAP_MOST_NS: u64 = 50 * MILLISECOND;
/// Silences shorter than this are scheduling, not waiting.
const SILENCE_NS: u64 = 5 * MILLISECOND;
/// Of the silences inside responses, so many must be of that length.
const OF_SILENCES: f64 = 0.7;
/// Fewer silences than this are coincidence.
const FEWEST: usize = 30;
/// By Little's law the server has `rate x gap` sockets held back at a time. Seeing this share of
/// them is agreement …
const HELD_AGREES: f64 = 0.5;
/// … and seeing less than this share of them means that nothing was held back: the application
/// had not written the rest.
const HELD_REFUTES: f64 = 0.2;
/// A new connection acknowledges at once (quick-ack mode, `TCP_MAX_QUICKACKS`), so first requests
/// are fast. Chance allowed for that pattern.
const FIRST_P: f64 = 0.001;
/// The client's own count of delayed acknowledgements may exceed the silences by others' traffic
/// and by warm-up, but not fall short of this share of them.
const ACKS_AGREE: f64 = 0.8;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::CLIENT
        .and(StateSet::REPLY)
        .and(StateSet::NETWORK)
        .and(StateSet::SEND_BLOCKED)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let silent: Vec<u32> = endpoint
        .completed
        .iter()
        .filter(|&&i| case.sample(i).gap_ns() >= SILENCE_NS)
        .copied()
        .collect();
    let held: Vec<u32> = silent
        .iter()
        .filter(|&&i| is_gap(case.sample(i)))
        .copied()
        .collect();
    if held.len() < FEWEST || (held.len() as f64) < OF_SILENCES * silent.len() as f64 {
        return Verdict::Absent(format!(
            "{} of {} responses fell silent for 38 to 50 ms",
            held.len(),
            endpoint.completed.len()
        ));
    }
    let witness = match server_side(case, &held) {
        Some(Witness::Refutes(text)) => return Verdict::Absent(text),
        Some(Witness::Agrees(proof)) => Some(proof),
        None => None,
    };
    let first = first_requests(case, endpoint);
    if witness.is_none() && first.is_none() {
        return Verdict::Blind {
            missing: "the server's sockets, and new connections to compare with".to_owned(),
            remedy: "run slowpath on the server's host".to_owned(),
        };
    }
    let grade = if witness.is_some() {
        Grade::Supported
    } else {
        Grade::Suspected
    };
    found(
        case,
        endpoint,
        &held,
        grade,
        witness.into_iter().chain(first).collect(),
    )
}

fn is_gap(sample: SampleRef<'_>) -> bool {
    (GAP_LEAST_NS..=GAP_MOST_NS).contains(&sample.gap_ns())
}

enum Witness {
    Agrees(Evidence),
    Refutes(String),
}

/// What the server's own sockets say: data written, unsent, and earlier data unacknowledged.
fn server_side(case: &Case<'_>, held: &[u32]) -> Option<Witness> {
    let series = case.series(&SERVER_SOCKETS_HELD_BACK, &Subject::Target, "")?;
    let seen = case.measured_mean(series)?;
    let gaps_ns: u64 = held.iter().map(|&i| case.sample(i).gap_ns()).sum();
    let expected = gaps_ns as f64 / case.measured_ns() as f64;
    let share = seen / expected;
    if share < HELD_REFUTES {
        return Some(Witness::Refutes(format!(
            "responses fall silent for about 40 ms, but the server's sockets held nothing back \
             ({seen:.2} on average where {expected:.2} would be): the rest was not written yet"
        )));
    }
    let text = format!(
        "the server's sockets hold written data back until earlier data is acknowledged: {seen:.2} at a \
         time, {expected:.2} expected from the silences"
    );
    (share >= HELD_AGREES)
        .then(|| Witness::Agrees(evidence(Source::Proc, SERVER_SOCKETS_HELD_BACK.id, text)))
}

/// What new connections say: their first responses are not held up. Warm-up counts here.
fn first_requests(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Evidence> {
    let mut table = Table {
        with_hit: 0,
        with_miss: 0,
        without_hit: 0,
        without_miss: 0,
    };
    let all = case.record.samples.iter();
    for sample in all.filter(|s| s.endpoint() == endpoint.index && s.outcome() == Outcome::Ok) {
        let cell = match (sample.index_on_connection() > 0, is_gap(sample)) {
            (true, true) => &mut table.with_hit,
            (true, false) => &mut table.with_miss,
            (false, true) => &mut table.without_hit,
            (false, false) => &mut table.without_miss,
        };
        *cell += 1;
    }
    if fisher(table).greater > FIRST_P {
        return None;
    }
    let firsts = table.without_hit + table.without_miss;
    let counted = acknowledgements(case, table.with_hit)?;
    let text = format!(
        "{} of {firsts} first responses on a connection fell silent, {} of {} later ones; {counted}",
        table.without_hit,
        table.with_hit,
        table.with_hit + table.with_miss
    );
    Some(evidence(Source::Client, "index_on_connection", text))
}

/// What the client's kernel says, where it could be read: as many delayed acknowledgements as
/// silences. `None` if it contradicts.
fn acknowledgements(case: &Case<'_>, silences: u64) -> Option<String> {
    let Some(series) = case.series(&NET_COUNTER, &Subject::Target, "TcpExt.DelayedACKs") else {
        return Some("delayed acknowledgements were not counted".to_owned());
    };
    let loads = case.record.manifest.repeats.iter();
    let counted: f64 = loads.filter_map(|r| series.increase(r.load)).sum();
    (counted >= ACKS_AGREE * silences as f64)
        .then(|| format!("{counted:.0} acknowledgements of this host were delayed"))
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    held: &[u32],
    grade: Grade,
    mut proofs: Vec<Evidence>,
) -> Verdict {
    let mut gaps: Vec<u64> = held.iter().map(|&i| case.sample(i).gap_ns()).collect();
    gaps.sort_unstable();
    let gap = type_1(&gaps, 0.5).unwrap_or_default() as f64;
    let of = endpoint.completed.len();
    let share = held.len() as f64 / of as f64;
    proofs.insert(
        0,
        evidence(
            Source::Client,
            "gap_ns",
            format!(
                "{} of {of} responses fall silent after their first bytes, for {} in the median",
                held.len(),
                human(gap)
            ),
        ),
    );
    let claims: Vec<Claim> = held.iter().filter_map(|&i| claim(case, i)).collect();
    Verdict::Found(Found {
        place: endpoint.place_of(&claims),
        prediction: without_claims(case, endpoint, endpoint.place_of(&claims), &claims),
        amount: Amount::Claims(claims),
        grade,
        summary: format!(
            "{} of the responses are sent in small pieces, and the server's TCP (Nagle's \
             algorithm) holds the last piece for {} until the client's delayed acknowledgement; \
             set TCP_NODELAY or write the response at once",
            percent(share),
            human(gap)
        ),
        evidence: proofs,
        culprit: Culprit {
            constant_ms: Some(ms(gap)),
            ..Culprit::default()
        },
    })
}

fn claim(case: &Case<'_>, i: u32) -> Option<Claim> {
    let sample = case.sample(i);
    let begin = sample.gap_begin()?;
    let span = slowpath_core::nanos::Span::new(begin, begin.plus(sample.gap_ns()));
    Some(Claim { sample: i, span })
}
