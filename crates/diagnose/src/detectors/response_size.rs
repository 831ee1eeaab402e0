//! Responses are so large that carrying them takes the time: the larger, the longer after the
//! first byte.

use slowpath_attribution::StateSet;
use slowpath_core::nanos::{MILLISECOND, Span, scaled};
use slowpath_core::stats::explain::{Explained, Row, levels};
use slowpath_core::stats::quantile::type_1;
use slowpath_core::stats::trend::{mann_kendall, slope};

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::predict::without_claims;
use crate::trace::ticked::{Word, word};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Sizes show something of what they cost if the largest twentieth is this many times the smallest.
const RANGE_LEAST: f64 = 4.0;
/// Classes of sizes whose medians have to ascend.
const CLASSES: usize = 8;
/// Chance of their ascending like that.
const CHANCE: f64 = 0.01;
/// No order of fewer sizes says anything: that five medians ascend is put at a chance of 3 % by the test
/// (Mann-Kendall, in the normal approximation), that six do at 0.9 %.
const CLASSES_FEW: usize = 6;
/// Of so few the time for each byte has to be the same instead: within this factor.
const SAME_RATE: f64 = 2.0;
/// Shorter reading is what a machine needs to wake up once or twice.
const READING_LEAST_NS: u64 = MILLISECOND;
/// A byte of a gigabit a second. Where each takes less …
const QUICK_BYTE_NS: f64 = 8.0;
/// … and the largest responses less than this, as large ones do on a fast network, nothing is slow.
const QUICK_LEAST_NS: f64 = 10.0 * MILLISECOND as f64;
/// Stretches of a repeat whose halves are compared with each other, and the most requests examined.
const BLOCKS: u64 = 20;
const MOST: usize = 20_000;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    // A server that limits the bandwidth of each response sleeps between its parts.
    could_be: StateSet::CLIENT
        .and(StateSet::NETWORK)
        .and(StateSet::SEND_BLOCKED)
        .and(StateSet::SLEEP)
        .and(StateSet::UNTRACED),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let scenario = &case.record.manifest.plan.scenario;
    let own = scenario.endpoints.get(usize::from(endpoint.index));
    if own.is_some_and(|own| own.read_bytes_per_s.is_some()) {
        let text = "the scenario asks for a slow client here";
        return Verdict::Absent(text.to_owned());
    }
    let read = read(case, endpoint);
    let Some(law) = Law::of(&read) else {
        let text = "larger responses do not take longer behind their first byte, or hardly";
        return Verdict::Absent(text.to_owned());
    };
    let claim = |one: &Read| {
        (one.span.len_ns() >= READING_LEAST_NS).then_some(Claim {
            sample: one.sample,
            span: one.span,
        })
    };
    let claims: Vec<Claim> = read.iter().filter_map(claim).collect();
    // What sleeps between two pieces depends on their bytes, as a limit of their rate does.
    if let Word::Other(text) = word(case, endpoint, &claims) {
        return Verdict::Absent(format!(
            "larger responses take longer after their first byte, but {text}: producing them takes the time"
        ));
    }
    let place = endpoint.place_of(&claims);
    let grows = format!(
        "from {:.0} to {:.0} bytes the median after the first byte grows from {} to {}: {} for \
         each further kilobyte",
        law.low.0,
        law.high.0,
        human(law.low.1),
        human(law.high.1),
        human(law.byte_ns * 1e3)
    );
    let held = format!(
        "the size explains {} of the scatter of that time, in one half of the run what was learned \
         from the other",
        percent(law.explained.removed)
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "reading the response takes the time, {} for each kilobyte of it; send less, compress \
             it, or look for what lies between: the network, or a server that produces it as slowly",
            human(law.byte_ns * 1e3)
        ),
        evidence: vec![
            evidence(Source::Client, "received_bytes", grows),
            evidence(Source::Client, "first_byte_ns", held),
        ],
        culprit: Culprit::default(),
    })
}

/// One response.
struct Read {
    sample: u32,
    bytes: f64,
    span: Span,
    block: u32,
}

fn read(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Read> {
    let stride = endpoint.completed.len().div_ceil(MOST).max(1);
    let of = |&i: &u32| {
        let sample = case.sample(i);
        let window = case.windows.get(usize::from(sample.repeat()))?;
        let into_ns = sample.scheduled().since(window.begin);
        Some(Read {
            sample: i,
            bytes: sample.received_bytes() as f64,
            span: Span::new(sample.first_byte()?, sample.done()),
            block: scaled(into_ns, BLOCKS, window.len_ns().max(1)) as u32,
        })
    };
    let some = endpoint.completed.iter().step_by(stride);
    some.filter_map(of).collect()
}

/// How reading goes with the size.
struct Law {
    /// Bytes and median of the smallest and of the largest class.
    low: (f64, f64),
    high: (f64, f64),
    byte_ns: f64,
    explained: Explained,
}

impl Law {
    fn of(read: &[Read]) -> Option<Self> {
        let mut sizes: Vec<f64> = read.iter().map(|one| one.bytes).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let (small, large) = (type_1(&sizes, 0.05)?, type_1(&sizes, 0.95)?);
        if large < RANGE_LEAST * small.max(1.0) {
            return None;
        }
        let mut edges: Vec<f64> = (1..CLASSES)
            .map(|k| sizes[k * sizes.len() / CLASSES])
            .collect();
        edges.dedup_by(|a, b| a.total_cmp(b).is_eq());
        let mut classes: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); edges.len() + 1];
        for one in read {
            let class = &mut classes[edges.partition_point(|&edge| edge <= one.bytes)];
            class.0.push(one.bytes);
            class.1.push(one.span.len_ns() as f64);
        }
        let middle = |values: &mut Vec<f64>| slowpath_core::stats::median::median(values);
        let medians: Vec<(f64, f64)> = classes
            .iter_mut()
            .filter_map(|(bytes, spans)| middle(bytes).zip(middle(spans)))
            .collect();
        let spans: Vec<f64> = medians.iter().map(|m| m.1).collect();
        let byte_ns = slope(medians.iter().copied())?;
        let (low, high) = (*medians.first()?, *medians.last()?);
        let ascends = mann_kendall(&spans) < CHANCE || goes_with_bytes(&medians);
        let grows = high.1 > low.1 && ascends;
        let is_quick = byte_ns < QUICK_BYTE_NS && high.1 < QUICK_LEAST_NS;
        if !grows || high.1 < READING_LEAST_NS as f64 || is_quick {
            return None;
        }
        let row = |one: &Read| Row {
            x: one.bytes,
            y: one.span.len_ns() as f64,
            block: one.block,
        };
        let rows: Vec<Row> = read.iter().map(row).collect();
        let explained = levels(&rows).filter(Explained::is_enough)?;
        Some(Self {
            low,
            high,
            byte_ns,
            explained,
        })
    }
}

/// Whether the time goes with the bytes, of few sizes: the larger the longer, and of those of which reading takes
/// any time, two at least, each byte takes about as long.
fn goes_with_bytes(medians: &[(f64, f64)]) -> bool {
    if !(3..CLASSES_FEW).contains(&medians.len()) {
        return false;
    }
    let long = medians
        .iter()
        .filter(|(_, ns)| *ns >= READING_LEAST_NS as f64);
    let rates: Vec<f64> = long.map(|(bytes, ns)| ns / bytes.max(1.0)).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    medians.is_sorted_by(|a, b| a.1 <= b.1) && rates.len() >= 2 && most <= SAME_RATE * least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_sizes_go_with_the_time_if_each_byte_takes_as_long() {
        let told = |of: &[(f64, f64)]| {
            let ns: Vec<(f64, f64)> = of.iter().map(|&(bytes, ms)| (bytes, ms * 1e6)).collect();
            goes_with_bytes(&ns)
        };
        assert!(told(&[(1e3, 0.0), (1e4, 0.0), (1e5, 22.0), (1e6, 222.0)]));
        // One size is slow, of two nothing is known, and the larger one is not in proportion.
        assert!(!told(&[(1e3, 0.0), (1e4, 0.0), (1e6, 222.0)]));
        assert!(!told(&[(1e5, 22.0), (1e6, 222.0)]));
        assert!(!told(&[(1e3, 20.0), (1e4, 30.0), (1e6, 222.0)]));
    }
}
