//! A cause that says which requests are slow gives way to one that says what they do.
//!
//! Requests for one value of a key are slow each time (`hot-input`), and each of them opens a connection, asks many times, or waits
//! for a timer: the value is what makes the server do so, and no work for it is expensive.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::catalogue as name;

use crate::case::Case;
use crate::diagnosis::{Grade, Place};
use crate::trial::Answer;
use crate::verdict::{Amount, Claim, Verdict, percent};

/// What a request does beside computing, so that its input is not what takes long.
const DOES: [&str; 10] = [
    name::SEQUENTIAL_FANOUT,
    name::CONNECTION_PER_CALL,
    name::RETRY_BACKOFF,
    name::UPSTREAM_TIMEOUT,
    name::DELAYED_ACK,
    name::FIXED_DELAY,
    name::POLL_TICK,
    name::RATE_LIMIT,
    name::DNS_LOOKUP,
    name::BATCH_WINDOW,
];
/// So many of the followed requests that are slow for their input do so …
const REQUESTS_LEAST: f64 = 0.8;
/// … for so much of the time that they are slow: the rest is what belongs to it, as making the objects of a session does.
const TIME_LEAST: f64 = 0.3;

/// Takes `hot-input` back where what these requests do is named.
pub(crate) fn give_way(case: &Case<'_>, answers: &mut [Answer]) {
    let Some(hot) = answers.iter().position(|a| a.entry.name == name::HOT_INPUT) else {
        return;
    };
    for (position, endpoint) in case.endpoints.iter().enumerate() {
        let Some((place, input)) = claimed(&answers[hot], position) else {
            continue;
        };
        let paths = endpoint.attribution(case).paths.iter();
        let followed: BTreeSet<u32> = paths.map(|path| path.sample).collect();
        let does = answers.iter().filter(|a| DOES.contains(&a.entry.name));
        let mut parts = does.filter_map(|answer| {
            let (at, does) = claimed(answer, position)?;
            let part = part(&followed, &input, &does).filter(|_| at == place)?;
            Some((answer.entry.name, part))
        });
        if let Some((cause, part)) = parts.next() {
            let text = format!(
                "what requests for these values do for {} of that time is named: {cause}",
                percent(part)
            );
            answers[hot].endpoints[position] = Verdict::Absent(text);
        }
    }
}

/// What a cause claims of each request of an endpoint, if that is more than suspected or the cause is one that says which.
fn claimed(answer: &Answer, position: usize) -> Option<(Place, BTreeMap<u32, u64>)> {
    let Some(Verdict::Found(found)) = answer.endpoints.get(position) else {
        return None;
    };
    let counts = found.grade == Grade::Supported || answer.entry.name == name::HOT_INPUT;
    match &found.amount {
        Amount::Claims(claims) if counts => Some((found.place, times(claims))),
        _ => None,
    }
}

/// Which part of the time that followed requests are slow for their input they do something else, if nearly all of them do.
fn part(
    followed: &BTreeSet<u32>,
    input: &BTreeMap<u32, u64>,
    does: &BTreeMap<u32, u64>,
) -> Option<f64> {
    let known = input.iter().filter(|(sample, _)| followed.contains(sample));
    let (mut requests, mut doing, mut all_ns, mut does_ns) = (0_u32, 0_u32, 0, 0);
    for (sample, &ns) in known {
        let own_ns = does.get(sample).copied().unwrap_or(0).min(ns);
        requests += 1;
        doing += u32::from(own_ns > 0);
        all_ns += ns;
        does_ns += own_ns;
    }
    let part = does_ns as f64 / all_ns.max(1) as f64;
    let do_so = f64::from(doing) >= REQUESTS_LEAST * f64::from(requests.max(1));
    (do_so && part >= TIME_LEAST).then_some(part)
}

/// The claimed time of each request.
fn times(claims: &[Claim]) -> BTreeMap<u32, u64> {
    let mut times = BTreeMap::new();
    for claim in claims {
        *times.entry(claim.sample).or_default() += claim.span.len_ns();
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_the_requests_do_so_for_a_part_of_their_time() {
        let followed = BTreeSet::from([1, 2, 3, 4, 5]);
        let input: BTreeMap<u32, u64> = (1..=6).map(|sample| (sample, 100)).collect();
        let does = |samples: &[u32], ns: u64| samples.iter().map(|&sample| (sample, ns)).collect();
        assert_eq!(
            part(&followed, &input, &does(&[1, 2, 3, 4, 5], 40)),
            Some(0.4)
        );
        assert_eq!(part(&followed, &input, &does(&[1, 2, 3, 4], 50)), Some(0.4));
        assert_eq!(
            part(&followed, &input, &does(&[1, 2, 3], 90)),
            None,
            "two of five do not"
        );
        assert_eq!(
            part(&followed, &input, &does(&[1, 2, 3, 4, 5], 20)),
            None,
            "it is a small part"
        );
    }
}
