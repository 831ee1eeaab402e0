//! Timers that run out inside the measured window: what they expire is paid for again.

use slowpath_core::scenario::Timer;

use super::{View, finding};
use crate::occupancy::Expiry;
use crate::percentiles::SHOWN;
use crate::report::{Finding, Severity};
use crate::wording::{count, duration, percent, percentile, plural};
use crate::workload::warming_ns;

/// Misses that reach p99.
const REACHES_P99: f64 = 0.01;

/// What a timer is for, by the words in its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Something is kept for so long.
    Expiry,
    /// An idle connection is kept for so long.
    KeepAlive,
    /// Something is given up after so long.
    Limit,
    /// Anything else: a period, a delay.
    Other,
}

const EXPIRY: [&str; 8] = [
    "ttl", "cache", "expiry", "expires", "expire", "age", "stale", "refresh",
];
const KEEP_ALIVE: [&str; 4] = ["keepalive", "alive", "keep", "idle"];
const LIMIT: [&str; 3] = ["timeout", "deadline", "limit"];

/// What a timer of this name is for.
pub(super) fn purpose(name: &str) -> Purpose {
    let words = words(name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if has(&EXPIRY) {
        Purpose::Expiry
    } else if has(&KEEP_ALIVE) {
        Purpose::KeepAlive
    } else if has(&LIMIT) {
        Purpose::Limit
    } else {
        Purpose::Other
    }
}

fn words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Timers shorter than the window, with the misses to expect.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let window_ns = view.scenario.load.duration_ns;
    let timers = view.scenario.timers.iter();
    timers
        .filter(|timer| timer.period_ns < window_ns)
        .filter_map(|timer| match purpose(&timer.name) {
            Purpose::Expiry => expiring(view, timer),
            Purpose::Other => Some(periodic(view, timer)),
            Purpose::KeepAlive | Purpose::Limit => None,
        })
        .collect()
}

/// Misses expected at one endpoint, at least and at most.
struct Misses {
    endpoint: usize,
    low: f64,
    high: f64,
    requests: f64,
}

impl Misses {
    fn share(&self) -> f64 {
        self.high / self.requests
    }
}

fn expiring(view: &View<'_>, timer: &Timer) -> Option<Finding> {
    let mut touched: Vec<Misses> = endpoints_of(view, timer)
        .into_iter()
        .filter_map(|endpoint| misses(view, timer, endpoint))
        .collect();
    touched.sort_by(|a, b| b.share().total_cmp(&a.share()));
    let worst = touched.first()?;
    if worst.share() < REACHES_P99 {
        return None;
    }
    let mut found = finding(
        "short-timers",
        Severity::Warning,
        view.at_timer(&timer.name),
    );
    let fires = misses_of_a_key(view, timer, worst.endpoint);
    let name = &view.scenario.endpoints[worst.endpoint].name;
    found.place.endpoint = Some(name.clone());
    found.text = format!(
        "{} ({}) runs out inside the window of {}: up to {} {} for each key, {} of the {} \
         requests of {name} ({}), seen from {} on{}",
        timer.name,
        duration(timer.period_ns as f64),
        duration(view.scenario.load.duration_ns as f64),
        count(fires),
        plural(fires, "miss", "misses"),
        range(worst.low, worst.high),
        count(worst.requests),
        shares(worst),
        lowest_touched(worst.share()),
        match touched.len() - 1 {
            0 => String::new(),
            1 => "; another endpoint may be touched too".to_owned(),
            more => format!("; {more} other endpoints may be touched too"),
        }
    );
    found
        .remedy
        .push_str("measure within one lifetime, or over many, or judge the misses apart");
    found.share = Some(worst.share());
    Some(found)
}

/// Misses of one key at most: one fewer where the only one there is was renewed in the warm-up and
/// is not as old as the timer when the window begins.
fn misses_of_a_key(view: &View<'_>, timer: &Timer, endpoint: usize) -> f64 {
    let load = &view.scenario.load;
    let all = expirations(view, timer);
    let keys = view.spaces[endpoint].keys.as_ref();
    let single = keys.is_none_or(|keys| keys.count() < 1.5);
    if single && view.touched_before(endpoint) >= 1.0 {
        let since_warmup = (load.duration_ns + warming_ns(load)) / timer.period_ns;
        all.min(since_warmup as f64)
    } else {
        all
    }
}

/// `floor(window / TTL) + 1` at most: at the start, and each time it has run out.
fn expirations(view: &View<'_>, timer: &Timer) -> f64 {
    (view.scenario.load.duration_ns / timer.period_ns) as f64 + 1.0
}

fn misses(view: &View<'_>, timer: &Timer, endpoint: usize) -> Option<Misses> {
    let requests = view.workload.demands[endpoint].requests;
    let keys = view.spaces[endpoint].keys.as_ref()?;
    if requests < 1.0 {
        return None;
    }
    let before = view.touched_before(endpoint);
    let spans = Expiry {
        before,
        warmup_s: warming_ns(&view.scenario.load) as f64 / 1e9,
        window_s: view.window_s(),
        ttl_s: timer.period_ns as f64 / 1e9,
    };
    let (low, high) = keys.expiry_misses(requests, &spans);
    // First touches miss whatever the timer says.
    if high - keys.touched_after(before, requests) < REACHES_P99 * requests {
        return None;
    }
    Some(Misses {
        endpoint,
        low,
        high,
        requests,
    })
}

/// The endpoints that a timer names; all of them where it names none.
fn endpoints_of(view: &View<'_>, timer: &Timer) -> Vec<usize> {
    let said = words(&timer.name);
    let names = |i: &usize| {
        let own = words(&view.scenario.endpoints[*i].name);
        !own.is_empty() && own.iter().all(|word| said.contains(word))
    };
    let all = 0..view.scenario.endpoints.len();
    let named: Vec<usize> = all.clone().filter(names).collect();
    if named.is_empty() {
        all.collect()
    } else {
        named
    }
}

fn periodic(view: &View<'_>, timer: &Timer) -> Finding {
    let mut found = finding("short-timers", Severity::Note, view.at_timer(&timer.name));
    let fires = expirations(view, timer);
    found.text = format!(
        "{} ({}) comes round up to {} times inside the window of {}",
        timer.name,
        duration(timer.period_ns as f64),
        count(fires),
        duration(view.scenario.load.duration_ns as f64)
    );
    found.remedy.push_str(
        "look for that period in the latencies; say ttl in its name if it expires a \
                    cache",
    );
    found
}

fn range(low: f64, high: f64) -> String {
    // Whole numbers are reached from below.
    let tenths = |value: f64| (value * 10.0).round() / 10.0;
    let (low, high) = (count(tenths(low)), count(tenths(high)));
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

fn shares(misses: &Misses) -> String {
    let (low, high) = (
        percent(misses.low / misses.requests),
        percent(misses.share()),
    );
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

/// The lowest percentile shown that lies among so large a share of slow requests.
fn lowest_touched(share: f64) -> String {
    let touched = SHOWN.into_iter().find(|p| 1.0 - p <= share + 1e-9);
    percentile(touched.unwrap_or(SHOWN[SHOWN.len() - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{found, only};

    #[test]
    fn names_say_what_a_timer_is_for() {
        assert_eq!(purpose("uptime_cache_ttl"), Purpose::Expiry);
        assert_eq!(purpose("server-keep-alive"), Purpose::KeepAlive);
        assert_eq!(purpose("request_timeout"), Purpose::Limit);
        assert_eq!(purpose("flush_interval"), Purpose::Other);
        assert_eq!(purpose("storage"), Purpose::Other);
    }

    #[test]
    fn two_or_three_of_twenty_five_are_seen_at_p90() {
        assert_eq!(lowest_touched(3.0 / 25.0), "p90");
        assert_eq!(lowest_touched(2.0 / 25.0), "p95");
        assert_eq!(lowest_touched(0.01), "p99");
    }

    fn closed(timer: &str) -> String {
        format!(
            "[load]\nwarmup = \"1ms\"\nusers = 1\nthink = \"5s\"\nduration = \"120s\"\n\
             [[endpoint]]\nname = \"uptime\"\nrequest = \"GET /uptime\"\n[timers]\n{timer}\n"
        )
    }

    #[test]
    fn a_cache_that_expires_once_is_missed_up_to_three_times() {
        let one = only(
            &found(check, &closed("uptime_cache_ttl = \"60s\"")),
            &[
                "up to 3 misses",
                "2 to 3 of the 24 requests of uptime",
                "p90",
            ],
        );
        assert_eq!(one.place.timer.as_deref(), Some("uptime_cache_ttl"));
        // Kept since the warm-up, it is missed once less.
        let warm = closed("uptime_cache_ttl = \"60s\"").replace("1ms", "10s");
        only(
            &found(check, &warm),
            &["up to 2 misses", "1 to 2 of the 24 requests", "p95"],
        );
        assert_eq!(one.severity, Severity::Warning);
    }

    #[test]
    fn longer_timers_and_timeouts_are_fine_and_periods_are_noted() {
        for timer in ["uptime_cache_ttl = \"24h\"", "connect_timeout = \"1s\""] {
            assert_eq!(found(check, &closed(timer)), [], "{timer}");
        }
        let one = only(&found(check, &closed("flush = \"500ms\"")), &["241 times"]);
        assert_eq!(one.severity, Severity::Note);
    }
}
