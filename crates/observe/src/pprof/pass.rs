//! Profiles of a pass of their own: where the CPU time of a Go target goes, and what its goroutines
//! wait for, from the begin of the pass's window to its end.
//!
//! The profile of the CPU is fetched slice by slice. Within one profile samples have no time, and a
//! request that computes for 50 ms gives five of them at once: only how slices differ from each
//! other shows how many independent ones they are worth.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use slowpath_core::nanos::{SECOND, Span};
use slowpath_core::profile_pass::{ProfilePass, ProfileSource, Waited};
use slowpath_core::timeline::Gap;

use super::client::Client;
use super::gather::Gather;
use super::profile::{self, Profile};
use super::{ProfileWatch, REMEDY, begun, runtime, slept};
use crate::clock;

/// Slices of a window, if it is long enough for them: from then on how they differ is known to a
/// quarter of itself.
const SLICES: u64 = 10;
/// So many slices that fail one after the other, and the target is asked no more.
const FAILURES_MOST: u32 = 2;

/// The signal of a pass without which there is none.
pub(crate) const CPU: &str = "profile.cpu";
const MUTEX: &str = "mutex";
const BLOCK: &str = "block";

/// What was fetched.
#[derive(Debug, Default)]
pub struct PassProfiled {
    /// The profiles; the load is recorded elsewhere.
    pub pass: ProfilePass,
    /// The profiles as they came, by the names of their files.
    pub raw: Vec<(String, Vec<u8>)>,
}

impl PassProfiled {
    /// Nothing, and why.
    pub(crate) fn failed(gap: Gap) -> Self {
        let pass = ProfilePass {
            gaps: vec![gap],
            ..ProfilePass::default()
        };
        Self {
            pass,
            ..Self::default()
        }
    }
}

/// Looks at the target of a pass, in a thread of its own.
#[derive(Debug)]
pub struct PassProfiler {
    over: Arc<AtomicBool>,
    thread: Result<JoinHandle<PassProfiled>, String>,
}

impl PassProfiler {
    /// Begins to fetch the profiles of a Go target; it asks for nothing before the window.
    pub fn start(watch: ProfileWatch) -> Self {
        Self::begin("slowpath-pprof", move |over| match runtime() {
            Ok(runtime) => runtime.block_on(fetch(&watch, over)).read(watch.repeat),
            Err(error) => PassProfiled::failed(gap(CPU, error.to_string(), "")),
        })
    }

    /// Begins to `look`, in a thread of this name, until it is signalled that all is over.
    pub(crate) fn begin(
        name: &str,
        look: impl FnOnce(&AtomicBool) -> PassProfiled + Send + 'static,
    ) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&over);
        let thread = Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || look(&own));
        Self {
            over,
            thread: thread.map_err(|error| error.to_string()),
        }
    }

    /// Ends, while the target still runs, and reads what was taken.
    pub fn stop(self) -> PassProfiled {
        self.over.store(true, Ordering::Relaxed);
        let failed = || "its thread failed".to_owned();
        let read = self.thread.and_then(|t| t.join().map_err(|_| failed()));
        read.unwrap_or_else(|why| PassProfiled::failed(gap(CPU, why, "")))
    }
}

/// What is missing, why, and what helps.
pub(crate) fn gap(signal: &str, reason: String, remedy: &str) -> Gap {
    Gap {
        signal: signal.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    }
}

/// What came over the wire.
#[derive(Default)]
struct Fetched {
    from: String,
    /// CPU profiles, and for how long each was taken.
    cpu: Vec<(Bytes, u64)>,
    mutex: Option<[Bytes; 2]>,
    block: Option<[Bytes; 2]>,
    gaps: Vec<Gap>,
}

async fn fetch(watch: &ProfileWatch, over: &AtomicBool) -> Fetched {
    let mut fetched = Fetched::default();
    let mut client = Client::new(watch.url.clone());
    fetched.from = client.address("");
    let Some(window) = begun(watch, over).await else {
        let reason = "there was no measured window".to_owned();
        fetched.gaps.push(gap(CPU, reason, ""));
        return fetched;
    };
    let before = [client.fetch(MUTEX).await, client.fetch(BLOCK).await];
    slices(window, over, &mut client, &mut fetched).await;
    slept(window.end, over).await;
    let after = [client.fetch(MUTEX).await, client.fetch(BLOCK).await];
    let names = [MUTEX, BLOCK].into_iter();
    let mut both = names
        .zip(before.into_iter().zip(after))
        .map(|(name, of)| match (of.0, of.1) {
            (Ok(before), Ok(after)) => Some([before, after]),
            (Err(why), _) | (_, Err(why)) => {
                let reason = format!("{}: {why}", client.address(name));
                let signal = format!("profile.{name}");
                fetched.gaps.push(gap(&signal, reason, REMEDY));
                None
            }
        });
    let (mutex, block) = (both.next().flatten(), both.next().flatten());
    drop(both);
    (fetched.mutex, fetched.block) = (mutex, block);
    fetched
}

/// Takes CPU profiles, one after the other, as long as the window has room for them.
async fn slices(window: Span, over: &AtomicBool, client: &mut Client, fetched: &mut Fetched) {
    // Go takes whole seconds.
    let seconds = (window.len_ns() / SECOND / SLICES).max(1);
    let name = format!("profile?seconds={seconds}");
    let mut failures = 0;
    while failures < FAILURES_MOST && !over.load(Ordering::Relaxed) {
        if clock::now().plus(seconds * SECOND) > window.end {
            break;
        }
        match client
            .fetch_after(&name, Duration::from_secs(seconds))
            .await
        {
            Ok(bytes) => {
                fetched.cpu.push((bytes, seconds * SECOND));
                failures = 0;
            }
            Err(why) => {
                failures += 1;
                if failures == FAILURES_MOST {
                    let reason = format!("{}: {why}", client.address(&name));
                    fetched.gaps.push(gap(CPU, reason, REMEDY));
                }
            }
        }
    }
    if fetched.cpu.is_empty() && failures < FAILURES_MOST {
        let reason = "the measured window has no second for a CPU profile".to_owned();
        let remedy = "load for longer: duration = \"10s\"";
        fetched.gaps.push(gap(CPU, reason, remedy));
    }
}

impl Fetched {
    fn read(mut self, repeat: u16) -> PassProfiled {
        let mut gather = Gather::new(repeat);
        let mut pass = ProfilePass {
            source: ProfileSource::Pprof,
            from: self.from.clone(),
            ..ProfilePass::default()
        };
        let (mut raw, mut cpu_ns) = (Vec::new(), 0);
        for (bytes, length_ns) in std::mem::take(&mut self.cpu) {
            let read = profile::read(&bytes);
            let read = read.and_then(|profile| gather.cpu(pass.slices, &profile));
            match read {
                Ok((samples, of_ns)) => {
                    raw.push((format!("cpu-{}.pb.gz", pass.slices), bytes.to_vec()));
                    pass.slices += 1;
                    pass.sampled_ns += length_ns;
                    pass.cpu.extend(samples);
                    cpu_ns = of_ns.saturating_add(cpu_ns);
                }
                Err(why) => {
                    let reason = format!("{}profile: {why}", self.from);
                    self.gaps.push(gap(CPU, reason, REMEDY));
                    break;
                }
            }
        }
        let samples = pass.cpu.iter().map(|samples| samples.count);
        pass.period_ns = cpu_ns / samples.fold(0, u64::saturating_add).max(1);
        let [mutex, block] = [(MUTEX, self.mutex.take()), (BLOCK, self.block.take())];
        pass.locks = self.waited(mutex, &mut gather, &mut raw);
        pass.blocks = self.waited(block, &mut gather, &mut raw);
        let tables = gather.done();
        (pass.lines, pass.stacks) = (tables.lines, tables.stacks);
        pass.files = raw.iter().map(|(name, _)| name.clone()).collect();
        pass.gaps = self.gaps;
        PassProfiled { pass, raw }
    }

    /// What a profile of waits counted in the window; `None` if it is not one.
    fn waited(
        &mut self,
        (name, both): (&str, Option<[Bytes; 2]>),
        gather: &mut Gather,
        raw: &mut Vec<(String, Vec<u8>)>,
    ) -> Option<Vec<Waited>> {
        let [before, after] = both?;
        let signal = format!("profile.{name}");
        let read = |bytes: &Bytes| -> Result<Profile, String> { profile::read(bytes) };
        match (read(&before), read(&after)) {
            (Ok(first), Ok(last)) => {
                let pairs = [("before", before), ("after", after)];
                raw.extend(pairs.map(|(at, bytes)| (format!("{name}-{at}.pb.gz"), bytes.to_vec())));
                if last.samples.is_empty() {
                    let (reason, remedy) = empty(name);
                    self.gaps.push(gap(&signal, reason, remedy));
                }
                Some(gather.waited(&first, &last))
            }
            (Err(why), _) | (_, Err(why)) => {
                let reason = format!("{}{name}: {why}", self.from);
                self.gaps.push(gap(&signal, reason, REMEDY));
                None
            }
        }
    }
}

/// Why a profile of waits may have nothing in it.
fn empty(name: &str) -> (String, &'static str) {
    if name == MUTEX {
        let reason = "the mutex profile is empty: the target does not record who keeps locks, or \
                      no goroutine ever waited for one";
        let remedy = "call runtime.SetMutexProfileFraction(1) in the target";
        return (reason.to_owned(), remedy);
    }
    let reason = "the block profile is empty: the target does not record where goroutines wait for \
                  each other, or none ever did";
    let remedy = "call runtime.SetBlockProfileRate(1000) in the target, for a look: it costs time";
    (reason.to_owned(), remedy)
}
