//! The host's health around something that is measured.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::time::ClockId;
use slowpath_core::health::clocks::{ClockEvent, events, slew_ppm};
use slowpath_core::health::{Clocks, During, Health, Noise};
use slowpath_core::nanos::{MILLISECOND, SECOND, Span};
use slowpath_core::timeline::Point;

use super::counters::Counters;
use super::noise::noise;
use crate::clock;

/// What listening to the host takes at most; before and after together twice as much.
const LISTEN_MOST_NS: u64 = 200 * MILLISECOND;
/// Shorter than this hears too little: 30 ms of spinning, a few times the longest turn that the
/// kernel gives to a task.
const LISTEN_LEAST_NS: u64 = 60 * MILLISECOND;
/// Listening takes at most this part of what is measured, if that is not shorter than the least.
const LISTEN_PART: u64 = 20;
/// What is measured for less than this is short: listening before and after each would take more
/// time than the measuring.
const SHORT_NS: u64 = 5 * SECOND;
/// How long a hearing counts for what is short, …
const GOOD_FOR_SHORT_NS: u64 = 10 * SECOND;
/// … and for the rest: what is measured after one repeat counts before the next.
const GOOD_FOR_NS: u64 = SECOND;
/// How often clocks are read: as often as the observer does.
const CLOCKS_EVERY: Duration = Duration::from_millis(100);
/// Events that are kept: who steps a clock more often than this has proved it.
const EVENTS_MOST: usize = 1_000;

/// Who reads the clocks during it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockReader {
    /// An [`Observer`](crate::Observer), into the timeline.
    Observer,
    /// A thread of its own; it wakes up ten times a second.
    Own,
}

/// Takes the host's health around repeats, and remembers what it measured: a measurement after one
/// repeat counts before the next, and short ones (below 5 s) share theirs for 10 s.
///
/// It never listens while something is measured. Before and after together take at most a tenth
/// of the time that is measured, and at most 0.4 s; at least 0.06 s where nothing was heard yet.
#[derive(Debug, Default)]
pub struct Examiner {
    last: Mutex<Option<Noise>>,
}

impl Examiner {
    /// Begins to watch something that takes about `expected` (zero if that is not known).
    pub fn begin(&self, expected: Duration, clocks: ClockReader) -> HealthWatch<'_> {
        let expected_ns = expected.as_nanos() as u64;
        let before = self.hear(expected_ns);
        let clocks = match clocks {
            ClockReader::Observer => None,
            ClockReader::Own => Some(ClockWatch::start()),
        };
        HealthWatch {
            examiner: self,
            expected_ns,
            before,
            clocks,
            counters: read_counters(),
        }
    }

    /// What is heard now, or was a moment ago.
    fn hear(&self, expected_ns: u64) -> Noise {
        let good_for_ns = if expected_ns < SHORT_NS {
            GOOD_FOR_SHORT_NS
        } else {
            GOOD_FOR_NS
        };
        // A thread that panicked while it listened left the former hearing, which is as good.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::now();
        match last.as_ref() {
            Some(heard) if now.since(heard.span.end) < good_for_ns => heard.clone(),
            _ => last.insert(noise(listening(expected_ns))).clone(),
        }
    }
}

/// How long to listen around something that takes about `expected_ns`.
fn listening(expected_ns: u64) -> Duration {
    Duration::from_nanos((expected_ns / LISTEN_PART).clamp(LISTEN_LEAST_NS, LISTEN_MOST_NS))
}

fn read_counters() -> Counters {
    Counters::read(Path::new("/proc"), Path::new("/sys"))
}

/// Does something, and what was counted and what the clocks did during it.
pub(super) fn counted<T>(act: impl FnOnce() -> T) -> (T, During) {
    let clocks = ClockWatch::start();
    let before = read_counters();
    let done = act();
    let after = read_counters();
    (done, before.until(&after, Some(clocks.stop())))
}

/// Watches the host's health until [`end`](Self::end).
///
/// ```
/// use std::time::Duration;
/// use slowpath_observe::host::{ClockReader, Examiner};
///
/// let examiner = Examiner::default();
/// let watch = examiner.begin(Duration::ZERO, ClockReader::Own);
/// // What is measured happens here.
/// let health = watch.end();
/// assert!(health.during.span.begin >= health.before.span.end);
/// ```
#[derive(Debug)]
pub struct HealthWatch<'a> {
    examiner: &'a Examiner,
    expected_ns: u64,
    before: Noise,
    clocks: Option<ClockWatch>,
    counters: Counters,
}

impl HealthWatch<'_> {
    /// Reads what was counted, and listens once more.
    pub fn end(self) -> Health {
        let counters = read_counters();
        let clocks = self.clocks.map(ClockWatch::stop);
        let during = self.counters.until(&counters, clocks);
        Health {
            before: self.before,
            after: self.examiner.hear(self.expected_ns),
            during,
        }
    }
}

/// A thread that reads the clocks.
#[derive(Debug)]
struct ClockWatch {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Clocks>>,
}

impl ClockWatch {
    fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&over);
        let mut course = Course::begin();
        let thread = Builder::new()
            .name("slowpath-clocks".to_owned())
            .spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    std::thread::park_timeout(CLOCKS_EVERY);
                    course.read();
                }
                course.clocks()
            });
        Self {
            over,
            thread: thread.ok(),
        }
    }

    /// Reads once more and gives what happened; nothing if no thread could be started.
    fn stop(mut self) -> Clocks {
        let thread = self.halt();
        thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    }

    fn halt(&mut self) -> Option<JoinHandle<Clocks>> {
        self.over.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        Some(thread)
    }
}

impl Drop for ClockWatch {
    fn drop(&mut self) {
        // Who does not ask what happened does not wait for the thread either.
        drop(self.halt());
    }
}

/// What the clocks did so far.
struct Course {
    first_raw: Point,
    last: ClockReading,
    events: Vec<ClockEvent>,
}

/// How the clocks stand, and what the CPUs accounted for.
#[derive(Clone, Copy)]
struct ClockReading {
    realtime: Point,
    boottime: Point,
    raw: Point,
    accounted: Option<(Point, u32)>,
}

impl Course {
    fn begin() -> Self {
        let last = ClockReading::take();
        Self {
            first_raw: last.raw,
            last,
            events: Vec::new(),
        }
    }

    fn read(&mut self) {
        let next = ClockReading::take();
        let last = std::mem::replace(&mut self.last, next);
        let (accounted, cpus) = match (last.accounted, next.accounted) {
            // CPUs that came or went account for more or less than they ran.
            (Some((before, old)), Some((after, new))) if old == new => (vec![before, after], new),
            _ => (Vec::new(), 0),
        };
        let found = events(
            &[last.realtime, next.realtime],
            &[last.boottime, next.boottime],
            &accounted,
            cpus,
        );
        let room = EVENTS_MOST - self.events.len();
        self.events.extend(found.into_iter().take(room));
    }

    fn clocks(self) -> Clocks {
        Clocks {
            events: self.events,
            slew_ppm: slew_ppm(&[self.first_raw, self.last.raw]),
        }
    }
}

impl ClockReading {
    fn take() -> Self {
        let of = |clock| {
            let (window, offset_ns) = clock::offset_ns(clock);
            Point {
                window,
                value: offset_ns as f64,
            }
        };
        let begin = clock::now();
        let accounted = Counters::accounted(Path::new("/proc"));
        let window = Span::new(begin, clock::now());
        let accounted = accounted.map(|(ns, cpus)| {
            let value = ns as f64;
            (Point { window, value }, cpus)
        });
        Self {
            realtime: of(ClockId::Realtime),
            boottime: of(ClockId::Boottime),
            raw: of(ClockId::MonotonicRaw),
            accounted,
        }
    }
}

#[cfg(test)]
#[allow(clippy::print_stdout, reason = "a test says when it is skipped")]
mod tests {
    use slowpath_core::health::clocks::ClockEventKind;

    use super::*;

    #[test]
    fn listening_takes_a_twentieth_within_its_limits() {
        assert_eq!(listening(0), Duration::from_millis(60));
        assert_eq!(listening(2 * SECOND), Duration::from_millis(100));
        assert_eq!(listening(60 * SECOND), Duration::from_millis(200));
    }

    #[test]
    fn short_repeats_share_what_was_heard() {
        let examiner = Examiner::default();
        let short = examiner.begin(Duration::ZERO, ClockReader::Observer).end();
        assert_eq!(short.before, short.after);
        assert_eq!(short.during.clocks, None);
        let next = examiner.begin(Duration::from_secs(1), ClockReader::Observer);
        assert_eq!(next.before, short.after);
    }

    #[test]
    fn the_clocks_are_watched_from_begin_to_end() {
        let examiner = Examiner::default();
        let watch = examiner.begin(Duration::ZERO, ClockReader::Own);
        std::thread::sleep(Duration::from_millis(20));
        let health = watch.end();
        let clocks = health.during.clocks.unwrap();
        assert!(clocks.slew_ppm.is_some());
        assert!(health.during.span.len_ns() >= 20_000_000);
        assert!(health.during.span.begin >= health.before.span.end);
        drop(examiner.begin(Duration::ZERO, ClockReader::Own));
    }

    /// Steps `CLOCK_REALTIME`, and back when it is dropped. The kernel adds the offset atomically, so
    /// that a step and its opposite cancel exactly.
    struct Stepped(i64);

    impl Stepped {
        fn by_ms(ms: i64) -> Result<Self, std::io::Error> {
            step_clock_ms(ms).map(|()| Self(ms))
        }
    }

    impl Drop for Stepped {
        fn drop(&mut self) {
            step_clock_ms(-self.0).unwrap();
        }
    }

    #[expect(unsafe_code, reason = "adjtimex(2) has no safe wrapper")]
    fn step_clock_ms(ms: i64) -> Result<(), std::io::Error> {
        // SAFETY: timex is plain data, and all-zero asks for nothing.
        let mut request: libc::timex = unsafe { std::mem::zeroed() };
        request.modes = libc::ADJ_SETOFFSET;
        request.time.tv_sec = ms.div_euclid(1000);
        request.time.tv_usec = ms.rem_euclid(1000) * 1000;
        // SAFETY: the pointer is to a live timex, which the kernel reads and fills in.
        match unsafe { libc::adjtimex(&raw mut request) } {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    #[test]
    fn a_step_of_the_wall_clock_is_seen() {
        let examiner = Examiner::default();
        let watch = examiner.begin(Duration::ZERO, ClockReader::Own);
        let stepped = match Stepped::by_ms(40) {
            Ok(stepped) => stepped,
            Err(error) => {
                println!("skipped: the clock may not be stepped: {error}");
                return;
            }
        };
        // A reading lies between the step and the step back.
        std::thread::sleep(3 * CLOCKS_EVERY);
        drop(stepped);
        let events = watch.end().during.clocks.unwrap().events;
        let seen = |by_ns: f64| {
            events.iter().any(|event| {
                event.kind == ClockEventKind::Step && (event.by_ns - by_ns).abs() < 10e6
            })
        };
        assert!(seen(40e6) && seen(-40e6), "{events:?}");
    }
}
