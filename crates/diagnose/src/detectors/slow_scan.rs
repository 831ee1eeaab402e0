//! The time before the first byte grows in proportion to a number in the request: what is asked
//! for is searched from one end to the other.

use slowpath_attribution::StateSet;
use std::collections::BTreeMap;

use slowpath_core::nanos::{Span, scaled};
use slowpath_core::sample::NONE;
use slowpath_core::stats::explain::{Explained, Row, levels};
use slowpath_core::stats::median::median;
use slowpath_core::stats::trend::{mann_kendall, slope};

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::predict::without_claims;
use crate::searched::grows_otherwise;
use crate::step::is_step;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Fewer different numbers than this show no law.
const NUMBERS_LEAST: usize = 6;
/// The largest is at least this many times the smallest: a law is seen over some distance.
const RANGE_LEAST: f64 = 4.0;
/// A number counts with at least so many requests.
const EACH_LEAST: usize = 3;
/// Chance of the medians ascending like that.
const CHANCE: f64 = 0.01;
/// Exponent of the law between the upper half of the numbers: a search from end to end has 1, less
/// what does not depend on the number; an index has a logarithm, which is below a fifth here.
const EXPONENT_LEAST: f64 = 0.5;
/// Responses whose medians grow by less than this factor do not carry what is searched.
const SAME_BYTES: f64 = 2.0;
/// Stretches of a repeat whose halves are compared with each other, and the most requests examined.
const BLOCKS: u64 = 20;
const MOST: usize = 20_000;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::ON_CPU
        .and(StateSet::RUNNABLE)
        .and(StateSet::INTERPRETER)
        .and(StateSet::DISK)
        .and(StateSet::REPLY)
        .and(StateSet::UNKNOWN),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let asked = asked(case, endpoint);
    let Some(law) = Law::of(&asked) else {
        let text = "no number in the requests goes with the time before the first byte";
        return Verdict::Absent(text.to_owned());
    };
    let claims = claims(case, &asked, &law);
    let grows = format!(
        "from {} to {} in the request the median before the first byte grows from {} to {}, over \
         {} numbers (exponent {:.2} between the larger ones)",
        law.numbers.0,
        law.numbers.1,
        human(law.base_ns),
        human(law.top_ns),
        law.count,
        law.exponent
    );
    if let Some(other) = grows_otherwise(case, endpoint, (&claims, law.each_ns), &grows) {
        return other;
    }
    if law.bytes_grow >= SAME_BYTES {
        return Verdict::Lead {
            place: endpoint.place_of(&claims),
            claims,
            missing: format!(
                "whether more is searched or more is answered: {grows}, and responses grow by a \
                 factor of {:.1} as well",
                law.bytes_grow
            ),
            remedy: "ask for as many results with each number".to_owned(),
        };
    }
    found(case, endpoint, claims, &law, grows)
}

/// One request that asks for a number.
struct Asked {
    sample: u32,
    number: f64,
    waits: Span,
    bytes: f64,
    block: u32,
}

/// The last number in each key, if it is one above 0.
fn number(key: &str) -> Option<f64> {
    let end = key.rfind(|c: char| c.is_ascii_digit())? + 1;
    let begin = key[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let number: f64 = key[begin..end].parse().ok()?;
    (number > 0.0).then_some(number)
}

fn asked(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Asked> {
    let numbers: Vec<Option<f64>> = case.record.keys.iter().map(|k| number(k)).collect();
    let stride = endpoint.completed.len().div_ceil(MOST).max(1);
    let of = |&i: &u32| {
        let sample = case.sample(i);
        let key = sample.key();
        let number = (key != NONE).then(|| numbers.get(key as usize).copied().flatten())??;
        let window = case.windows.get(usize::from(sample.repeat()))?;
        let into_ns = sample.scheduled().since(window.begin);
        Some(Asked {
            sample: i,
            number,
            waits: Span::new(sample.sent()?, sample.first_byte()?),
            bytes: sample.received_bytes() as f64,
            block: scaled(into_ns, BLOCKS, window.len_ns().max(1)) as u32,
        })
    };
    let some = endpoint.completed.iter().step_by(stride);
    some.filter_map(of).collect()
}

/// How the wait goes with the number.
struct Law {
    numbers: (f64, f64),
    count: usize,
    base_ns: f64,
    top_ns: f64,
    exponent: f64,
    /// How much longer for each 1.
    each_ns: f64,
    bytes_grow: f64,
    explained: Explained,
}

impl Law {
    fn of(asked: &[Asked]) -> Option<Self> {
        let mut by_number: BTreeMap<u64, (f64, Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for one in asked {
            // Positive numbers are in the order of their bits.
            let (_, waits, bytes) = by_number.entry(one.number.to_bits()).or_insert((
                one.number,
                Vec::new(),
                Vec::new(),
            ));
            waits.push(one.waits.len_ns() as f64);
            bytes.push(one.bytes);
        }
        let several = by_number
            .into_values()
            .filter(|of| of.1.len() >= EACH_LEAST);
        let medians: Option<Vec<(f64, f64, f64)>> = several
            .map(|(n, mut waits, mut bytes)| Some((n, median(&mut waits)?, median(&mut bytes)?)))
            .collect();
        let medians = medians.filter(|all| all.len() >= NUMBERS_LEAST)?;
        let (first, last) = (medians.first()?, medians.last()?);
        let waits: Vec<f64> = medians.iter().map(|m| m.1).collect();
        if last.0 < RANGE_LEAST * first.0 || mann_kendall(&waits) >= CHANCE {
            return None;
        }
        let upper = medians[medians.len() / 2..].iter();
        let exponent = slope(upper.map(|m| (m.0.ln(), m.1.max(1.0).ln())))?;
        let row = |one: &Asked| Row {
            x: one.number,
            y: one.waits.len_ns() as f64,
            block: one.block,
        };
        let rows: Vec<Row> = asked.iter().map(row).collect();
        let explained = levels(&rows).filter(Explained::is_enough)?;
        let points: Vec<(f64, f64)> = medians.iter().map(|m| (m.0, m.1.max(1.0))).collect();
        if is_step(&points) {
            return None;
        }
        (exponent >= EXPONENT_LEAST && last.1 > first.1).then_some(Self {
            numbers: (first.0, last.0),
            count: medians.len(),
            base_ns: first.1,
            top_ns: last.1,
            exponent,
            each_ns: slope(points)?,
            bytes_grow: last.2 / first.2.max(1.0),
            explained,
        })
    }
}

/// What each request waits longer than one for the smallest number.
fn claims(case: &Case<'_>, asked: &[Asked], law: &Law) -> Vec<Claim> {
    let base_ns = law.base_ns as u64;
    let longer = asked.iter().filter(|one| one.waits.len_ns() > base_ns);
    longer
        .map(|one| Claim {
            sample: one.sample,
            span: Span::new(one.waits.begin.plus(base_ns), one.waits.end)
                .intersect(case.sample(one.sample).span())
                .unwrap_or(one.waits),
        })
        .collect()
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    claims: Vec<Claim>,
    law: &Law,
    grows: String,
) -> Verdict {
    let place = endpoint.place_of(&claims);
    let held = format!(
        "the number explains {} of the scatter of that time, in one half of the run what was \
         learned from the other; responses are as large for all numbers",
        percent(law.explained.removed)
    );
    let whom = match place {
        Place::Floor => "requests",
        _ => "slow requests",
    };
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "{whom} take the longer the larger a number in them is, in proportion, though the \
             answer is no larger: something is searched from one end to the other, or the number is \
             the work that is asked for; look for a missing index, or a loop over all that is stored"
        ),
        evidence: vec![
            evidence(Source::Client, "first_byte_ns", grows),
            evidence(Source::Client, "key", held),
        ],
        culprit: Culprit::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_of_a_key_counts() {
        for (key, expected) in [
            ("250", Some(250.0)),
            ("limit=40", Some(40.0)),
            ("v2/rows/1000/all", Some(1000.0)),
            ("page 0", None),
            ("nitrogen", None),
        ] {
            assert_eq!(number(key), expected, "{key}");
        }
    }
}
