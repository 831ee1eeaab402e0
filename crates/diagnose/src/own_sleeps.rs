//! Requests for which a thread sleeps, mostly their own: whether it looks again and again whether they may go on, or waits for a time.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_attribution::{Actor, Holder, Path, Phase, Slice, State};
use slowpath_core::catalogue as name;
use slowpath_core::stats::median::median;

use crate::attribute::EndpointAttribution;
use crate::case::{Case, EndpointCase};
use crate::trace::inside::{Inside, Walked};
use crate::trace::own_code::own_frame;

/// From this share of the requests that sleep on, sleeping more than once is how they wait: fewer meet the same pause twice by
/// chance, where a request has two.
const AGAIN_LEAST: f64 = 0.2;
/// Where more of them sleep the same number of times, that is what each of them does, and no poll.
const SAME_MOST: f64 = 0.8;
/// All sleeps are of one length where nine in ten differ from the median by less than this part of it: a timer fires some
/// milliseconds late, and what wakes a thread early makes them shorter.
const ALIKE_WITHIN: f64 = 0.1;
/// Fewer requests that sleep do not show whether they sleep for one length: of ten one may be late.
const DIFFER_FEWEST: usize = 10;
/// So many of the sleeps must be alike.
const ALIKE_LEAST: f64 = 0.9;
/// Requests that were not followed have slept where so many of them took whole numbers of that length longer than usual: by chance
/// one in five does (twice [`ALIKE_WITHIN`]).
const WHOLE_LEAST: f64 = 0.8;

/// From this share of the sleeping requests on, they are served by threads that have one at a time: what is not joined rightly is
/// less.
const ALONE_LEAST: f64 = 0.9;
/// Functions in which a thread waits for another one, for a time at most: of the C library (`pthread_cond_timedwait`, `sem_timedwait`),
/// of OpenJDK (`LockSupport.parkNanos`), of CPython (`Event.wait(timeout)`).
const TIMED_WAITS: [&str; 4] = [
    "pthread_cond_",
    "sem_clockwait",
    "Parker::park",
    "PyThread_acquire_lock_timed",
];

/// What the sleeps of threads are called that serve these requests; `None` if a thread may sleep for another request, or to try
/// again what failed. Pauses between events are what a stream is made of.
pub(crate) fn cause(
    (case, inside): (&Case<'_>, &Inside<'_>),
    endpoint: &EndpointCase,
    attribution: &EndpointAttribution,
) -> Option<&'static str> {
    let mut paths = attribution.paths.iter();
    if paths.any(|path| case.sample(path.sample).events() > 0)
        || !is_served_by_itself(inside, endpoint, attribution)
    {
        return None;
    }
    let unseen = unseen(case, endpoint, &attribution.paths);
    Some(
        match usual(&attribution.paths, &attribution.actors, &unseen)? {
            Waits::Poll => name::POLL_TICK,
            Waits::Delay => name::FIXED_DELAY,
        },
    )
}

/// Whether requests of an endpoint are seen to sleep again and again until they may go on.
pub(crate) fn polls(case: &Case<'_>, endpoint: &EndpointCase) -> bool {
    let attribution = endpoint.attribution(case);
    let inside = case.inside().filter(|_| attribution.traced);
    inside.and_then(|inside| cause((case, inside), endpoint, attribution)) == Some(name::POLL_TICK)
}

/// Whether most requests for which some thread sleeps ask one server before and after: they may try again what has failed.
pub(crate) fn sleep_between_questions(attribution: &EndpointAttribution) -> bool {
    let (mut between, mut sleeping) = (0, 0);
    for path in &attribution.paths {
        match Sleeps::of(path, &attribution.actors, is_slept_for) {
            Sleeps::Times(0) => {}
            Sleeps::Times(_) => sleeping += 1,
            Sleeps::BetweenQuestions => between += 1,
        }
    }
    between > sleeping
}

/// Whether those that sleep for requests (the slow ones, or all where none are slow) are mostly threads that have none of their own, or
/// event loops, which have many.
pub(crate) fn may_be_of_others(
    inside: &Inside<'_>,
    endpoint: &EndpointCase,
    attribution: &EndpointAttribution,
) -> bool {
    let walked = inside.of_endpoint(endpoint).walked.iter();
    let of_loops = walked.filter(|w| inside.is_shared(w) && !inside.parks(w));
    let of_loops: BTreeSet<u32> = of_loops.map(|w| w.joined.sample).collect();
    let some_slow = attribution.paths.iter().any(|path| path.slow);
    let (mut all_ns, mut others_ns) = (0, 0);
    for path in attribution
        .paths
        .iter()
        .filter(|path| path.slow || !some_slow)
    {
        for slice in path.slices.iter().filter(|slice| is_slept_for(slice)) {
            all_ns += slice.len_ns();
            if slice.holder == Holder::Background || of_loops.contains(&path.sample) {
                others_ns += slice.len_ns();
            }
        }
    }
    2 * others_ns > all_ns
}

/// Whether slow requests wait longer until a thread has slept for other requests than some thread sleeps for them.
pub(crate) fn wait_for_sleeps_of_others(attribution: &EndpointAttribution) -> bool {
    slow_ns(&attribution.paths, is_queued_behind_sleep) > slow_ns(&attribution.paths, is_slept_for)
}

/// How long slow requests are in slices of a kind.
fn slow_ns(paths: &[Path], is: fn(&Slice) -> bool) -> u64 {
    let slow = paths.iter().filter(|path| path.slow);
    let slices = slow.flat_map(|path| path.slices.iter().filter(|slice| is(slice)));
    slices
        .map(|slice| slice.end.saturating_sub(slice.begin))
        .sum()
}

/// Whether a request waits for a thread that sleeps for another one, or with a lock.
fn is_queued_behind_sleep(slice: &Slice) -> bool {
    let is_held = match slice.state {
        State::Queued(_) => slice.holder == Holder::AnotherRequest,
        State::Lock | State::Interpreter => slice.holder != Holder::ThisRequest,
        _ => false,
    };
    is_held && slice.activity == State::Sleep
}

/// How often slow requests slept that were not followed, as their time says: those that sleep longest are followed least.
fn unseen(case: &Case<'_>, endpoint: &EndpointCase, paths: &[Path]) -> Vec<usize> {
    let (Some(fast_ns), Some(one_ns)) = (endpoint.split.fast_ns, one_sleep_ns(paths)) else {
        return Vec::new();
    };
    let is_followed = |sample: &u32| {
        paths
            .binary_search_by_key(sample, |path| path.sample)
            .is_ok()
    };
    let slow = endpoint
        .split
        .slow
        .iter()
        .filter(|sample| !is_followed(sample));
    let excess = |&sample: &u32| case.sample(sample).latency_ns().saturating_sub(fast_ns) as f64;
    let all: Vec<f64> = slow.map(|sample| excess(sample) / one_ns).collect();
    let is_whole =
        |times: &&f64| times.round() >= 1.0 && (*times - times.round()).abs() <= ALIKE_WITHIN;
    let whole: Vec<usize> = all
        .iter()
        .filter(is_whole)
        .map(|times| times.round() as usize)
        .collect();
    if whole.len() as f64 >= WHOLE_LEAST * all.len() as f64 {
        whole
    } else {
        Vec::new()
    }
}

/// Words of which one is in the names of functions that let so many pass in a time, in lower case and without underscores: of
/// golang.org/x/time/rate, client-go, Guava, resilience4j, governor, folly.
const LIMITERS: &[&str] = &[
    "limiter",
    "ratelimit",
    "tokenbucket",
    "leakybucket",
    "throttle",
];

/// The same of functions that try again what has failed: of retry-go, cenkalti/backoff, go-retryablehttp, tenacity, Spring Retry,
/// resilience4j, p-retry.
const RETRIERS: &[&str] = &["retry", "retrier", "backoff"];
/// … but who waits for a lock looks again whether it is free, and nothing has failed.
const LOCKS: &[&str] = &["lock", "mutex", "spin", "semaphore", "acquire"];

/// Whether it is a limiter that sleeps.
pub(crate) fn is_in_limiter(stack: &[String]) -> bool {
    stands_in(stack, |function| {
        let joined = function.replace('_', "");
        LIMITERS.iter().any(|word| joined.contains(word))
    })
}

/// Whether it is a function that sleeps before it tries again.
pub(crate) fn is_in_retrier(stack: &[String]) -> bool {
    stands_in(stack, |function| {
        let is_in = |words: &[&str]| words.iter().any(|word| function.contains(word));
        is_in(RETRIERS) && !is_in(LOCKS)
    })
}

/// Whether the innermost function that is no library's of the language is one of these, or one that it calls. What stands further out may
/// be a limiter that has let the request pass, or what would try again, and calls the handler.
fn stands_in(stack: &[String], is: impl Fn(&str) -> bool) -> bool {
    let is_one = |frame: &String| {
        let function = frame.split(" (").next().unwrap_or_default();
        is(&function.to_lowercase())
    };
    own_frame(stack).is_some_and(|own| {
        let called = stack.iter().take_while(|frame| *frame != own);
        called.chain([own]).any(is_one)
    })
}

/// Whether requests are seen to sleep, and not for one length.
pub(crate) fn differ(attribution: &EndpointAttribution) -> bool {
    let slow: Vec<Path> = attribution
        .paths
        .iter()
        .filter(|path| path.slow)
        .cloned()
        .collect();
    let sleeping = slow.iter().filter(|path| path.slices.iter().any(is_asleep));
    sleeping.count() >= DIFFER_FEWEST && one_sleep_ns(&slow).is_none()
}

/// Whether what requests sleep in is, for the most part, a wait for another thread that ends after a time: such a wait is in a function
/// of a condition, a semaphore or a latch, and in none that is called a sleep.
pub(crate) fn have_a_timeout(attribution: &EndpointAttribution) -> bool {
    let slow = attribution.paths.iter().filter(|path| path.slow);
    let sleeps = slow
        .flat_map(|path| &path.slices)
        .filter(|slice| is_asleep(slice));
    let (mut all_ns, mut waits_ns) = (0, 0);
    for slice in sleeps {
        let actor = attribution.actors.get(slice.actor as usize);
        let waits = actor.is_some_and(|actor| is_timed_wait(&actor.stack));
        all_ns += slice.len_ns();
        waits_ns += if waits { slice.len_ns() } else { 0 };
    }
    2 * waits_ns > all_ns
}

/// Whether a stack stands in such a wait.
fn is_timed_wait(stack: &[String]) -> bool {
    let has = |parts: &[&str]| {
        let mut frames = stack.iter();
        frames.any(|frame| parts.iter().any(|part| frame.contains(part)))
    };
    has(&TIMED_WAITS) && !has(&["sleep", "Sleep"])
}

/// How long requests sleep at a time, where that is always the same.
fn one_sleep_ns(paths: &[Path]) -> Option<f64> {
    let mut lengths: Vec<f64> = Vec::new();
    for path in paths {
        let mut was_asleep = false;
        for slice in &path.slices {
            let ns = slice.end.saturating_sub(slice.begin) as f64;
            match lengths.last_mut().filter(|_| was_asleep) {
                _ if !is_asleep(slice) => {}
                Some(last) => *last += ns,
                None => lengths.push(ns),
            }
            was_asleep = is_asleep(slice);
        }
    }
    let middle = median(&mut lengths)?;
    let is_alike = |ns: &&f64| (*ns - middle).abs() <= ALIKE_WITHIN * middle;
    let alike = lengths.iter().filter(is_alike).count();
    (alike as f64 >= ALIKE_LEAST * lengths.len() as f64).then_some(middle)
}

/// Whether the threads that read the requests that sleep have no other request, nearly all: a loop that sleeps may do so for
/// another one.
fn is_served_by_itself(
    inside: &Inside<'_>,
    endpoint: &EndpointCase,
    attribution: &EndpointAttribution,
) -> bool {
    let sleeping: BTreeSet<u32> = attribution
        .paths
        .iter()
        .filter(|path| path.slices.iter().any(is_asleep))
        .map(|path| path.sample)
        .collect();
    let walked = inside.of_endpoint(endpoint).walked.iter();
    let own = walked.filter(|w| sleeping.contains(&w.joined.sample));
    let (others, alone): (Vec<&Walked>, Vec<&Walked>) = own.partition(|w| inside.is_shared(w));
    alone.len() as f64 >= ALONE_LEAST * (alone.len() + others.len()).max(1) as f64
}

/// Whether a request sleeps while it is served.
pub(crate) fn is_asleep(slice: &Slice) -> bool {
    let is_own = slice.state == State::Sleep && slice.holder == Holder::ThisRequest;
    is_own && slice.phase == Phase::Service
}

/// Whether some thread sleeps while a request is served, and not for another one.
fn is_slept_for(slice: &Slice) -> bool {
    slice.state == State::Sleep
        && slice.phase == Phase::Service
        && matches!(slice.holder, Holder::ThisRequest | Holder::Background)
}

/// What requests that sleep wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// A time.
    Delay,
    /// That they may go on, for which they look again and again: how often differs.
    Poll,
}

/// How a request sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleeps {
    /// So many times, and it asks no other server between.
    Times(usize),
    /// Between two questions to one server: it may be that the first one failed.
    BetweenQuestions,
}

impl Sleeps {
    fn of(path: &Path, actors: &[Actor], is_asleep: fn(&Slice) -> bool) -> Self {
        // Servers of one port are one service: a second attempt may be at another one of them.
        let service = |slice: &Slice| {
            let peer = actors.get(slice.actor as usize).map_or("", |own| &own.peer);
            let address = peer.split_whitespace().next().unwrap_or("");
            address.rsplit(':').next().unwrap_or("")
        };
        let (mut times, mut was_asleep, mut asks_again) = (0, false, false);
        let (mut before, mut since) = (BTreeSet::new(), BTreeSet::new());
        for slice in &path.slices {
            if slice.state == State::Reply {
                asks_again |= before.contains(service(slice));
                since.insert(service(slice));
            }
            if is_asleep(slice) && !was_asleep {
                times += 1;
                before.append(&mut since);
            }
            was_asleep = is_asleep(slice);
        }
        if asks_again {
            Self::BetweenQuestions
        } else {
            Self::Times(times)
        }
    }
}

/// What the requests wait for that sleep; `None` if most may try again what has failed. `unseen` is how often those slept that were
/// not followed.
fn usual(paths: &[Path], actors: &[Actor], unseen: &[usize]) -> Option<Waits> {
    let (mut between, mut sleeping, mut again) = (0_u32, 0_u32, 0_u32);
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for sleeps in paths.iter().map(|path| Sleeps::of(path, actors, is_asleep)) {
        match sleeps {
            Sleeps::Times(0) => {}
            Sleeps::Times(times) => {
                sleeping += 1;
                again += u32::from(times > 1);
                *numbers.entry(times).or_default() += 1;
            }
            Sleeps::BetweenQuestions => between += 1,
        }
    }
    let followed = sleeping;
    if followed > 0 {
        for &times in unseen {
            sleeping += 1;
            again += u32::from(times > 1);
            *numbers.entry(times).or_default() += 1;
        }
    }
    let same = numbers.values().max().copied().unwrap_or(0);
    let differ = same as f64 <= SAME_MOST * f64::from(sleeping);
    if between > followed {
        None
    } else if differ && f64::from(again) >= AGAIN_LEAST * f64::from(sleeping.max(1)) {
        Some(Waits::Poll)
    } else {
        Some(Waits::Delay)
    }
}

#[cfg(test)]
mod tests {
    use slowpath_attribution::Basis;

    use super::*;

    /// A request that does these one after the other, each for a millisecond.
    fn path(states: &[State]) -> Path {
        let slice = |(at, &state): (usize, &State)| Slice {
            begin: at as u64 * 1_000_000,
            end: (at as u64 + 1) * 1_000_000,
            phase: Phase::Service,
            state,
            holder: Holder::ThisRequest,
            activity: state,
            actor: 0,
            basis: Basis::Traced,
        };
        Path {
            sample: 0,
            slow: true,
            weight: 1.0,
            slices: states.iter().enumerate().map(slice).collect(),
        }
    }

    #[test]
    fn requests_that_look_again_and_ask_no_server_between_poll() {
        use State::{OnCpu, Reply, Sleep};
        let once = [path(&[OnCpu, Sleep, OnCpu]), path(&[OnCpu, Sleep, Sleep])];
        assert_eq!(usual(&once, &[], &[]), Some(Waits::Delay));
        let twice = path(&[Sleep, OnCpu, Sleep, OnCpu]);
        let thrice = path(&[Sleep, OnCpu, Sleep, OnCpu, Sleep]);
        assert_eq!(usual(&[twice.clone(), thrice], &[], &[]), Some(Waits::Poll));
        assert_eq!(usual(&[twice.clone(), twice], &[], &[]), Some(Waits::Delay));
        // What was not followed sleeps as often as its time says.
        assert_eq!(usual(&once, &[], &[2, 1, 3]), Some(Waits::Poll));
        assert_eq!(usual(&once, &[], &[1, 1, 1]), Some(Waits::Delay));
        let tries = [
            path(&[Reply, Sleep, OnCpu, Reply, Sleep, OnCpu, Reply]),
            path(&[Reply, Sleep, Reply]),
        ];
        assert_eq!(usual(&tries, &[], &[]), None);
        let mut others = path(&[Sleep, OnCpu, Sleep]);
        for slice in &mut others.slices {
            slice.holder = Holder::Background;
        }
        assert_eq!(Sleeps::of(&others, &[], is_asleep), Sleeps::Times(0));
    }

    #[test]
    fn a_queue_before_a_thread_that_sleeps_is_no_sleep_of_the_request() {
        use State::{OnCpu, Sleep};
        let own = path(&[Sleep, OnCpu]);
        let mut queued = path(&[Sleep, Sleep, Sleep, OnCpu]);
        for slice in &mut queued.slices[..2] {
            slice.state = State::Queued(slowpath_attribution::Place::Workers);
            slice.holder = Holder::AnotherRequest;
        }
        let times = |paths: &[Path]| {
            let others = slow_ns(paths, is_queued_behind_sleep);
            (others / 1_000_000, slow_ns(paths, is_slept_for) / 1_000_000)
        };
        assert_eq!(times(&[own.clone(), own.clone()]), (0, 2));
        assert_eq!(times(&[own, queued]), (2, 2));
    }

    #[test]
    fn what_tries_again_is_known_by_its_name_and_is_no_lock() {
        let is_one = |frame: &str| is_in_retrier(&[frame.to_owned()]);
        assert!(is_one(
            "github.com/avast/retry-go/v4.DoWithData[go.shape.interface {}] (v4@v4.6.0/retry.go:206)"
        ));
        assert!(is_one("shop::client::Backoff::pause (client.rs)"));
        for other in [
            "semaphore_try_wait (server)",
            "store_try_again (server)",
            "main.acquireLockWithRetry (main.go:7)",
            "spin_backoff (server)",
        ] {
            assert!(!is_one(other), "{other}");
        }
    }

    #[test]
    fn limiters_are_known_by_their_names() {
        let is_one = |frame: &str| is_in_limiter(&[frame.to_owned()]);
        assert!(is_one(
            "k8s.io/client-go/util/flowcontrol.(*tokenBucketRateLimiter).Wait"
        ));
        assert!(is_one("golang.org/x/time/rate.(*Limiter).WaitN"));
        assert!(is_one(
            "folly::DynamicTokenBucket::consumeWithBorrowAndWait"
        ));
        assert!(!is_one("time.Sleep"));
        let behind = ["main.show", "httprate.(*rateLimiter).Handler.func1"];
        assert!(
            !is_in_limiter(&behind.map(str::to_owned)),
            "it has let the request pass"
        );
    }

    #[test]
    fn a_wait_for_another_thread_with_a_timeout_is_no_sleep() {
        let is = |stack: &[&str]| {
            let words: Vec<String> = stack.iter().map(|&frame| frame.to_owned()).collect();
            is_timed_wait(&words)
        };
        let latch = [
            "___pthread_cond_timedwait64 (nptl)",
            "Parker::park(bool, long) (libjvm.so)",
        ];
        assert!(is(&latch));
        let sleep = [
            "___pthread_cond_timedwait64 (nptl)",
            "JavaThread::sleep(long) (libjvm.so)",
        ];
        assert!(!is(&sleep));
        assert!(!is(&[
            "clock_nanosleep (linux)",
            "PyThread_acquire_lock_timed"
        ]));
        assert!(!is(&["epoll_wait (linux)"]));
    }

    #[test]
    fn sleeps_of_one_length_are_known_by_it() {
        use State::{OnCpu, Sleep};
        let alike = [path(&[OnCpu, Sleep, OnCpu, Sleep]), path(&[Sleep])];
        assert_eq!(one_sleep_ns(&alike), Some(1e6));
        let differ = [path(&[Sleep, OnCpu]), path(&[Sleep, Sleep, OnCpu])];
        assert_eq!(one_sleep_ns(&differ), None);
        assert_eq!(one_sleep_ns(&[path(&[OnCpu])]), None);
    }
}
