//! Profiles of a Go target, fetched while requests are under way.
//!
//! Goroutines wait in user space, where tracing sees nothing of them. They are reported by
//! `net/http/pprof`, if the target serves it: the mutex profile before and after the measured
//! window, and dumps of all goroutines within it, at instants drawn at random. A dump is the
//! profile as text (`goroutine?debug=1`). The text with an entry a goroutine (`?debug=2`) stops the
//! world until all stacks are written, this one only to mark them (Go 1.19 and later): 40 ms
//! against 6 ms of CPU time at 1,000 goroutines. The same profile packed (`?debug=0`) takes four
//! times the CPU time at ten goroutines (1.9 ms against 0.4 ms, Go 1.26), and says what the text
//! hides: names in the runtime. One before and one after the window show these.

mod client;
pub mod dump;
pub(crate) mod gather;
pub mod kinds;
pub(crate) mod pass;
pub mod profile;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::profiles::{CodeLine, ProfileFacts, Profiles};
use slowpath_core::scenario::Url;
use slowpath_core::timeline::Gap;

use crate::clock;
use client::Client;
use gather::Gather;
pub use pass::{PassProfiled, PassProfiler};
use profile::Profile;

/// Dumps take at most this part of the time, 2.5 %: half of what tracing may take.
const BUDGET: u64 = 40;
/// Dumps are not asked for more often: a wait that is shorter is met by chance, and there are many.
const LEAST_BETWEEN_NS: u64 = 15 * MILLISECOND;
/// Dumps that a repeat keeps at most; a longer one is asked more seldom.
const MOST_DUMPS: u64 = 4000;
/// Bytes of dumps that a repeat keeps at most, packed.
const MOST_BYTES: usize = 32 << 20;
/// So many failures one after the other, and the target is asked no more.
const FAILURES_MOST: u32 = 3;
/// How often the thread looks whether the window is known, or is over.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// The fourth fastest of the last so many dumps says what one takes.
const LAST: usize = 15;

/// What is asked for.
const GOROUTINES: &str = "goroutine";
const DUMP: &str = "goroutine?debug=1";

/// The signals whose gaps say what is missing.
const DUMPS: &str = "profile.goroutine";
const LOCKS: &str = "profile.mutex";

/// What to fetch, and when.
pub struct ProfileWatch {
    /// Where profiles are served.
    pub url: Url,
    /// The repeat that is measured.
    pub repeat: u16,
    /// Draws the instants of dumps.
    pub seed: u64,
    /// The measured window, as soon as it is known.
    pub window: Box<dyn Fn() -> Option<Span> + Send>,
}

impl std::fmt::Debug for ProfileWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProfileWatch")
            .field("url", &self.url)
            .field("repeat", &self.repeat)
            .finish_non_exhaustive()
    }
}

/// What was fetched.
#[derive(Debug, Default)]
pub struct Profiled {
    /// The profiles.
    pub profiles: Profiles,
    /// What became of them.
    pub facts: ProfileFacts,
    /// What is missing.
    pub gaps: Vec<Gap>,
}

/// Fetches profiles in a thread of its own.
#[derive(Debug)]
pub struct Profiler {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Profiled>>,
    failed: Option<String>,
}

impl Profiler {
    /// Begins; it asks for nothing before the measured window.
    pub fn start(watch: ProfileWatch) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&over);
        let thread = runtime().and_then(|runtime| {
            Builder::new()
                .name("slowpath-pprof".to_owned())
                .spawn(move || {
                    let fetched = runtime.block_on(fetch(&watch, &own));
                    fetched.profiled(watch.repeat)
                })
        });
        let failed = thread.as_ref().err().map(ToString::to_string);
        Self {
            over,
            thread: thread.ok(),
            failed,
        }
    }

    /// Ends, while the target still runs, and reads what was fetched.
    pub fn stop(self) -> Profiled {
        self.over.store(true, Ordering::Relaxed);
        let done = self.thread.and_then(|thread| thread.join().ok());
        done.unwrap_or_else(|| Profiled {
            gaps: vec![Gap {
                signal: DUMPS.to_owned(),
                reason: self
                    .failed
                    .unwrap_or_else(|| "its thread failed".to_owned()),
                remedy: String::new(),
            }],
            ..Profiled::default()
        })
    }
}

/// What a thread that fetches waits in.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
}

/// What came over the wire.
#[derive(Default)]
struct Fetched {
    facts: ProfileFacts,
    gaps: Vec<Gap>,
    dumps: Vec<(Span, Bytes)>,
    /// What stands at addresses of the target.
    addresses: BTreeMap<u64, Vec<CodeLine>>,
    locks: Option<(Profile, Profile)>,
}

impl Fetched {
    fn gap(&mut self, signal: &str, reason: String, remedy: &str) {
        self.gaps.push(Gap {
            signal: signal.to_owned(),
            reason,
            remedy: remedy.to_owned(),
        });
    }

    /// Keeps what a profile says of addresses.
    fn learn(&mut self, profile: Result<Profile, String>) {
        // A target that does not serve it does not serve dumps either, which is reported.
        if let Ok(profile) = profile {
            self.addresses.extend(profile.at_addresses());
        }
    }

    /// Reads it: only now, so that the window is not disturbed.
    fn profiled(mut self, repeat: u16) -> Profiled {
        let mut gather = Gather::new(repeat);
        let mut took: Vec<u64> = self.dumps.iter().map(|(span, _)| span.len_ns()).collect();
        took.sort_unstable();
        self.facts.dump_ns = took.get(took.len() / 2).copied().unwrap_or(0);
        let mut unread = None;
        for (span, bytes) in std::mem::take(&mut self.dumps) {
            match dump::read(&bytes, &self.addresses) {
                Ok(dump) if gather.dump(span, &dump) => self.facts.dumps += 1,
                Ok(_) => self.facts.dropped += 1,
                Err(why) => {
                    self.facts.dropped += 1;
                    unread.get_or_insert(why);
                }
            }
        }
        if let Some(why) = unread {
            let reason = format!("{DUMP} below {}: {why}", self.facts.from);
            self.gap(DUMPS, reason, REMEDY);
        }
        if let Some((before, after)) = self.locks.take() {
            self.facts.locks = true;
            gather.releases(&before, &after);
            if after.samples.is_empty() {
                let reason = "the mutex profile is empty: the target does not record who keeps \
                              locks, or no goroutine ever waited for one";
                let remedy = "call runtime.SetMutexProfileFraction(1) in the target";
                self.gap(LOCKS, reason.to_owned(), remedy);
            }
        }
        Profiled {
            profiles: gather.done(),
            facts: self.facts,
            gaps: self.gaps,
        }
    }
}

const REMEDY: &str = "import net/http/pprof in the target, serve it, and say in target.pprof where";

async fn fetch(watch: &ProfileWatch, over: &AtomicBool) -> Fetched {
    let mut fetched = Fetched::default();
    let mut client = Client::new(watch.url.clone());
    fetched.facts.from = client.address("");
    let Some(window) = begun(watch, over).await else {
        fetched.gap(DUMPS, "there was no measured window".to_owned(), "");
        return fetched;
    };
    let before = client.profile("mutex").await;
    fetched.learn(client.profile(GOROUTINES).await);
    dumps(watch, over, window, &mut client, &mut fetched).await;
    fetched.learn(client.profile(GOROUTINES).await);
    match before {
        Err(why) => {
            let reason = format!("{}: {why}", client.address("mutex"));
            fetched.gap(LOCKS, reason, REMEDY);
        }
        Ok(before) => match client.profile("mutex").await {
            Ok(after) => fetched.locks = Some((before, after)),
            Err(why) => {
                let reason = format!("{}, after the window: {why}", client.address("mutex"));
                fetched.gap(LOCKS, reason, "");
            }
        },
    }
    fetched
}

/// Waits for the begin of the measured window.
async fn begun(watch: &ProfileWatch, over: &AtomicBool) -> Option<Span> {
    loop {
        let window = (watch.window)();
        if let Some(window) = window.filter(|window| window.begin <= clock::now()) {
            return Some(window);
        }
        if over.load(Ordering::Relaxed) {
            return None;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Takes dumps until the window is over.
async fn dumps(
    watch: &ProfileWatch,
    over: &AtomicBool,
    window: Span,
    client: &mut Client,
    fetched: &mut Fetched,
) {
    let mut random = ChaCha8Rng::seed_from_u64(watch.seed);
    random.set_stream(u64::from(watch.repeat));
    let least_ns = LEAST_BETWEEN_NS.max(window.len_ns() / MOST_DUMPS);
    let mut last = [0; LAST];
    let (mut taken, mut bytes, mut failures) = (0, 0, 0);
    let mut between_ns = least_ns;
    while failures < FAILURES_MOST && bytes < MOST_BYTES {
        // From half to one and a half of it: no rhythm of the target is met more often than
        // by chance.
        let drawn_ns = between_ns / 2 + random.next_u64() % between_ns.max(1);
        let until = clock::now().plus(drawn_ns);
        if !slept(until.min(window.end), over).await || until >= window.end {
            return;
        }
        let begin = clock::now();
        match client.fetch(DUMP).await {
            Ok(dump) => {
                let span = Span::new(begin, clock::now());
                last[taken % LAST] = span.len_ns();
                taken += 1;
                bytes += dump.len();
                fetched.dumps.push((span, dump));
                failures = 0;
                let mut took = last[..taken.min(LAST)].to_vec();
                took.sort_unstable();
                // What is above it waited for a CPU, or for the network.
                between_ns = least_ns.max(BUDGET * took[took.len() / 5]);
            }
            Err(why) => {
                failures += 1;
                if failures == FAILURES_MOST {
                    let reason = format!("{}: {why}", client.address(DUMP));
                    fetched.gap(DUMPS, reason, REMEDY);
                }
            }
        }
    }
}

/// Sleeps until an instant; false if all was over before.
async fn slept(until: Nanos, over: &AtomicBool) -> bool {
    loop {
        let left = Duration::from_nanos(until.since(clock::now()));
        if over.load(Ordering::Relaxed) {
            return false;
        }
        if left.is_zero() {
            return true;
        }
        tokio::time::sleep(left.min(4 * LOOK_EVERY)).await;
    }
}
