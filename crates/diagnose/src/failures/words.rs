//! A kind of failure in one sentence.

use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::samples::SampleRef;

use super::{Fine, age_when_sent_ns, alike, quantiles};
use crate::case::Case;
use crate::diagnosis::{ErrorCount, Quantiles};
use crate::figures::millis;
use crate::verdict::{human, percent};

/// Fewer failures have nothing in common that could not be chance: six alike of two equally
/// likely kinds happen once in 64.
const ALIKE_LEAST: usize = 6;

/// Ages this close to their median are a constant of the server: timers of event loops and worker
/// supervisors are late by a few percent at most.
const SAME_AGE: f64 = 0.05;

/// A property that at least this share of the completed requests has too says nothing.
const COMMON: f64 = 0.5;

/// Failures within less than this share of the window came in one burst.
const BURST_SHARE: f64 = 0.25;

/// `2.0 % of the requests: the server reset …, 12 ms after the first byte, on connections of …`.
pub(super) fn summary(
    case: &Case<'_>,
    (outcome, phase): (Outcome, Phase),
    error: &ErrorCount,
    failed: &[SampleRef<'_>],
    fine: &Fine<'_, '_>,
) -> String {
    let share = match percent(error.offered_share) {
        rare if rare == "0.0 %" => "less than 0.1 %".to_owned(),
        share => share,
    };
    let manifest = &case.record.manifest;
    let (timeout, expects) = match &manifest.imported {
        None => (
            human(manifest.plan.scenario.load.timeout_ns as f64),
            "the scenario expects".to_owned(),
        ),
        Some(imported) => (
            format!("the time that {} waits", imported.tool),
            format!("{} was set to expect", imported.tool),
        ),
    };
    let mut text = format!(
        "{share} of the requests: {}",
        what(outcome, phase, &timeout, &expects)
    );
    if let Some(errno) = error.errno.as_ref().filter(|_| outcome == Outcome::Io) {
        text.push_str(&[" (", errno, ")"].concat());
    }
    if let Some(reason) = reason(case, outcome, phase).filter(|_| error.errno.is_none()) {
        text.push_str(&[" (", reason, ")"].concat());
    }
    if let Some(status) = error.status {
        text.push_str(&[" ", &status.to_string()].concat());
    }
    let parts = [
        when(outcome, phase, error, failed),
        which(error, failed, fine),
        burst(case, error),
    ];
    for part in parts.into_iter().flatten() {
        text += ", ";
        text += &part;
    }
    text
}

/// What the load noted of the first such failure.
fn reason<'a>(case: &Case<'a>, outcome: Outcome, phase: Phase) -> Option<&'a str> {
    let repeats = case.record.manifest.repeats.iter();
    let mut reasons = repeats.flat_map(|repeat| &repeat.reasons);
    let found = reasons.find(|reason| (reason.outcome, reason.phase) == (outcome, phase));
    found.map(|reason| reason.text.as_str())
}

/// What happened.
fn what(outcome: Outcome, phase: Phase, timeout: &str, expects: &str) -> String {
    let text = match (outcome, phase) {
        (Outcome::Refused, _) => "the target refused the connection",
        (Outcome::Reset, Phase::Connect) => "the connection was reset while it was made",
        (Outcome::Reset, Phase::Handshake) => "the server reset the connection in the handshake",
        (Outcome::Reset, Phase::Send) => {
            "the server reset the connection while the request was written"
        }
        (Outcome::Reset, Phase::FirstByte) => {
            "the server reset the connection before the first byte of the response"
        }
        (Outcome::Reset, _) => "the server reset the connection inside the response",
        (Outcome::BrokenPipe, _) => "the server had closed the connection the request went to",
        (Outcome::Closed, Phase::Handshake) => "the server closed the connection in the handshake",
        (Outcome::Closed, _) => "the server closed the connection without a byte of the response",
        (Outcome::Truncated, _) => "the server closed the connection inside the response",
        (Outcome::Timeout, Phase::Connect) => {
            return format!("no connection was made within {timeout}");
        }
        (Outcome::Timeout, Phase::Handshake) => {
            return format!("the TLS handshake was not over within {timeout}");
        }
        (Outcome::Timeout, Phase::Send) => {
            return format!("the request could not be written within {timeout}");
        }
        (Outcome::Timeout, Phase::FirstByte) => {
            return format!("no byte of a response came within {timeout}");
        }
        (Outcome::Timeout, _) => return format!("the response was not whole within {timeout}"),
        (Outcome::BadResponse, _) => "what came is not an HTTP response",
        (Outcome::Status, _) => "the server answered with status",
        (Outcome::Check, _) => return format!("a whole response is not what {expects}"),
        (Outcome::Events, _) => {
            return format!("a whole stream has not the events that {expects}");
        }
        (Outcome::Unreachable, _) => "the target's host or network cannot be reached",
        (Outcome::PortsExhausted, _) => "this host had no local port left to dial from",
        (Outcome::FilesExhausted, _) => "slowpath had no file descriptor left",
        (Outcome::Tls, Phase::Handshake) => "the TLS handshake failed",
        (Outcome::Tls, _) => "what came breaks the TLS protocol",
        (Outcome::StreamReset, _) => "the server reset the stream of this request",
        (Outcome::Io, _) => "the operating system reported an error of the connection",
        (Outcome::Ok | Outcome::Unfinished, _) => "nothing is wrong",
    };
    text.to_owned()
}

/// How long after the last thing that went well.
fn when(
    outcome: Outcome,
    phase: Phase,
    error: &ErrorCount,
    failed: &[SampleRef<'_>],
) -> Option<String> {
    if outcome == Outcome::Timeout || phase == Phase::Check {
        return None;
    }
    if let Some(since) = &error.since_first_byte_ms {
        return Some(format!("{} after the first byte", range(since)));
    }
    let mut since_sent: Vec<u64> = failed
        .iter()
        .filter_map(|sample| sample.service_ns())
        .collect();
    since_sent.sort_unstable();
    let since = quantiles(&since_sent, millis)?;
    Some(format!("{} after the request was sent", range(&since)))
}

/// The median, or the span of most where they differ.
fn range(ms: &Quantiles) -> String {
    let show = |ms: f64| human(ms * 1e6);
    if ms.p90 > 2.0 * ms.p10 && ms.n > 1 {
        format!("{} to {}", show(ms.p10), show(ms.p90))
    } else {
        show(ms.p50)
    }
}

/// What the connections have in common that those of completed requests have not.
fn which(error: &ErrorCount, failed: &[SampleRef<'_>], fine: &Fine<'_, '_>) -> Option<String> {
    let mut ages: Vec<u64> = failed.iter().filter_map(|s| age_when_sent_ns(*s)).collect();
    ages.sort_unstable();
    let age = quantiles(&ages, millis)?;
    let index = error.index_on_connection.as_ref()?;
    let all_had_one = index.n as usize == failed.len();
    if failed.len() < ALIKE_LEAST || !all_had_one {
        return None;
    }
    if let Some(gaps) = &error.idle_gaps
        && gaps.failed == error.count
    {
        let (low, high) = (human(gaps.low_ms * 1e6), human(gaps.high_ms * 1e6));
        return Some(format!(
            "always after the connection had been idle for {low} to {high}"
        ));
    }
    if index.max < 1.0 && fine.index().next().is_none() {
        // A failure ends its connection, so where nothing else happens each is on a new one.
        return None;
    }
    let nth = index.min as u64;
    let rarely = |(alike, all): (usize, usize)| (alike as f64) < COMMON * all as f64;
    if index.min >= index.max && rarely(alike(fine.index(), |i| i == nth)) {
        return Some(match nth {
            0 => "always on the first request of a connection".to_owned(),
            _ => format!("always on request {} of a connection", nth + 1),
        });
    }
    let near = |ms: f64| (ms - age.p50).abs() <= SAME_AGE * age.p50;
    let of_that_age = || alike(fine.age_ns(), |ns| near(ns as f64 / 1e6));
    let (low, high) = (human(age.min * 1e6), human(age.max * 1e6));
    if near(age.min) && near(age.max) && rarely(of_that_age()) {
        return Some(format!("always on connections {low} to {high} old"));
    }
    let [young, old] = fine.age_quartiles_ns().map(|ns| ns as f64 / 1e6);
    if fine.age_ns().next().is_some() && age.min <= young && age.max >= old {
        return Some("on connections of any age".to_owned());
    }
    Some(format!("on connections {low} to {high} old"))
}

/// When in the window, if not all over it: in one burst, or from some instant on.
fn burst(case: &Case<'_>, error: &ErrorCount) -> Option<String> {
    let longest_ns = case.windows.iter().map(|w| w.len_ns()).max()?;
    if (error.count as usize) < ALIKE_LEAST || case.windows.len() != 1 {
        return None;
    }
    let lasted_s = error.last_s - error.first_s;
    let long_s = BURST_SHARE * longest_ns as f64 / 1e9;
    if lasted_s < long_s {
        let lasted = human(lasted_s * 1e9);
        return Some(format!(
            "all within {lasted} from {:.2} s on",
            error.first_s
        ));
    }
    (error.first_s >= long_s).then(|| format!("none before {:.2} s", error.first_s))
}
