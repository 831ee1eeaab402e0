//! The language of the cases: every key, its meaning and its default.

use serde::Deserialize;
use slowpath_core::signal;
use slowpath_core::timeline::Subject;

use super::dist::{Dist, Time};
use super::ends::{Accepts, Keeps, Limit, Restarts, Room};
use super::keyed::{Grows, Keys};

/// What the judgement must say of the page's cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Expect {
    Found,
    Cleared,
    Blind,
    /// No finding at all: a healthy run.
    Nothing,
}

impl Expect {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Cleared => "cleared",
            Self::Blind => "blind",
            Self::Nothing => "nothing",
        }
    }
}

/// A synthetic run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) expect: Expect,
    #[serde(default = "one")]
    pub(crate) seed: u64,
    /// Length of the measured window; the warm-up before it lasts a second.
    #[serde(default = "twenty_seconds")]
    pub(crate) duration: Time,
    #[serde(default = "one_repeat")]
    pub(crate) repeats: u16,
    /// Requests a second of an open loop; 200 when `users` is not given either.
    pub(crate) rate: Option<f64>,
    /// Users of a closed loop without think time.
    pub(crate) users: Option<u32>,
    #[serde(default = "many_connections")]
    pub(crate) connections: u32,
    /// When the server ends connections; never without it.
    pub(crate) keeps: Option<Keeps>,
    /// When processes of the server end; never without it.
    pub(crate) restarts: Option<Restarts>,
    /// How many connections are served; all without it.
    pub(crate) room: Option<Room>,
    /// At what rate requests are let pass; at any without it.
    pub(crate) limit: Option<Limit>,
    /// How connections that the kernel has made are accepted; at once without it.
    pub(crate) accepts: Option<Accepts>,
    /// Whether each request dials its own connection.
    #[serde(default)]
    pub(crate) dial_each: bool,
    #[serde(default = "five_seconds")]
    pub(crate) timeout: Time,
    /// Whether the target's processes can be seen.
    #[serde(default = "yes")]
    pub(crate) visible: bool,
    /// Threads of the server; requests queue for one.
    #[serde(default = "many_workers")]
    pub(crate) workers: u32,
    /// Connections to the server that is asked, which requests share; each has its own without it.
    pub(crate) upstream_connections: Option<u16>,
    /// One thread serves all: waits hold no thread, work holds all others up.
    #[serde(default)]
    pub(crate) event_loop: bool,
    /// Threads take turns to compute (an interpreter's lock).
    #[serde(default)]
    pub(crate) takes_turns: bool,
    #[serde(default = "four")]
    pub(crate) cpus: u32,
    /// One round trip to the host.
    #[serde(default = "wire")]
    pub(crate) wire: Time,
    /// What TLS takes on a new connection; there is none without it.
    pub(crate) handshake: Option<Dist>,
    /// How many local ports the client has for connections, each of which is kept to the end of
    /// the run; as many as it wants without it.
    pub(crate) ports: Option<u32>,
    /// What sending one request takes of the load loop's time, which is serial.
    #[serde(default = "loop_cost")]
    pub(crate) loop_cost: Time,
    /// The port of the server that the target asks.
    #[serde(default = "database")]
    pub(crate) upstream_port: u16,
    /// The path of the Unix socket at which the target asks it, in place of a port.
    pub(crate) upstream_path: Option<String>,
    /// The target's environment, as far as it is kept.
    #[serde(default)]
    pub(crate) environment: std::collections::BTreeMap<String, String>,
    pub(crate) class: Vec<Class>,
    /// What requests ask for, and what the server remembers of it; they have no keys without it.
    pub(crate) keys: Option<Keys>,
    /// What changes as the server is asked more and more.
    pub(crate) grows: Option<Grows>,
    /// How the target's threads are traced; not at all without it.
    pub(crate) trace: Option<Traced>,
    /// Which profiles of a Go target were fetched; none without it.
    pub(crate) profiles: Option<Profiled>,
    /// Threads in the background that take the server's lock.
    #[serde(default)]
    pub(crate) holder: Vec<Holder>,
    #[serde(default)]
    pub(crate) stall: Vec<Stall>,
    /// Whether the target's runtime writes of its collections into its log …
    #[serde(default)]
    pub(crate) gc_log: bool,
    /// … which are the times in which it is paused, moved by this.
    #[serde(default)]
    pub(crate) gc_log_moved: Time,
    #[serde(default)]
    pub(crate) jump: Vec<Jump>,
    /// Readings of others, added to what the simulated server gives.
    #[serde(default)]
    pub(crate) series: Vec<Extra>,
    #[serde(default)]
    pub(crate) gap: Vec<Missing>,
}

/// One kind of request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    #[serde(default = "main_endpoint")]
    pub(crate) endpoint: String,
    /// Share of the requests; with `when`, of the endpoint's requests in that time.
    #[serde(default = "whole")]
    pub(crate) share: f64,
    /// Only for requests scheduled in these stretches of time.
    pub(crate) when: Option<When>,
    /// How late the loop is with it beyond its own work.
    pub(crate) lag: Option<Dist>,
    /// SYNs that the listener drops; the next one comes through.
    #[serde(default)]
    pub(crate) syns_dropped: u32,
    /// SYNs that get lost on the way; the listener never sees them.
    #[serde(default)]
    pub(crate) syns_lost: u32,
    /// The listener drops the last step of the handshake: the first data is repeated.
    #[serde(default)]
    pub(crate) ack_dropped: bool,
    /// The request gets lost on its way so many times, and is sent again.
    #[serde(default)]
    pub(crate) lost: u32,
    /// The same of its answer.
    #[serde(default)]
    pub(crate) answer_lost: u32,
    /// The target finds no local port to dial another server from, and answers 503.
    #[serde(default)]
    pub(crate) undialled: bool,
    /// Waiting for a CPU that another process occupies.
    pub(crate) contended: Option<Dist>,
    /// Waiting to be taken up by a CPU that is idle.
    pub(crate) taken_up: Option<Dist>,
    /// Computing.
    #[serde(default = "some_cpu")]
    pub(crate) cpu: Dist,
    /// Computing with the server's lock.
    pub(crate) lock: Option<Dist>,
    /// Waiting for a thread of the server that was asked to talk to another server.
    pub(crate) asks: Option<Dist>,
    /// Waiting for something that has no time limit: a lock, a device.
    pub(crate) wait: Option<Dist>,
    /// Waiting for another server.
    pub(crate) upstream: Option<Dist>,
    /// So many times, one after the other.
    #[serde(default = "once")]
    pub(crate) upstream_calls: u32,
    /// So many times another server is asked before, and then there is this pause, if any.
    #[serde(default)]
    pub(crate) retries: u32,
    pub(crate) backoff: Option<Dist>,
    /// It does not answer then, and is given up after this.
    pub(crate) in_vain: Option<Dist>,
    /// How much is asked then; as much as otherwise without it.
    pub(crate) first_bytes: Option<u32>,
    /// The call in which that is waited for.
    #[serde(default = "receives")]
    pub(crate) upstream_call: String,
    /// Waiting for a timer.
    pub(crate) sleep: Option<Dist>,
    /// The call in which that is waited for.
    #[serde(default = "nanosleep")]
    pub(crate) sleep_call: String,
    /// Waiting in the kernel …
    pub(crate) stall: Option<Dist>,
    /// … for this (`kernel.rs` lists what there is).
    #[serde(default = "syncs")]
    pub(crate) stall_in: String,
    /// Waiting for a timer after the first byte was sent.
    pub(crate) sleep_inside: Option<Dist>,
    /// Computing after the first byte was sent.
    pub(crate) cpu_inside: Option<Dist>,
    /// The kernel holds the end of the response back that long …
    pub(crate) held: Option<Dist>,
    /// … from this request on a connection on.
    #[serde(default)]
    pub(crate) held_from: u32,
}

/// A trace of the target's threads.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Traced {
    /// How closely.
    #[serde(default)]
    pub(crate) depth: TraceDepth,
    /// What runs the target's code.
    #[serde(default = "native")]
    pub(crate) runtime: slowpath_core::trace::Runtime,
    /// Whether functions have names.
    #[serde(default = "yes")]
    pub(crate) symbols: bool,
    /// Whether the server's lock is that of an interpreter.
    #[serde(default)]
    pub(crate) interpreter: bool,
    /// Whether one stretch in five is left out.
    #[serde(default = "yes")]
    pub(crate) off: bool,
    /// Whether records were lost.
    #[serde(default)]
    pub(crate) lost: bool,
}

/// Profiles of a Go target.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profiled {
    /// How often goroutines were dumped.
    #[serde(default = "twenty_milliseconds")]
    pub(crate) every: Time,
    /// Whether the target records who keeps locks.
    #[serde(default = "yes")]
    pub(crate) locks: bool,
}

/// How closely a trace looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TraceDepth {
    /// Every second stretch has stacks.
    #[default]
    Full,
    /// Without stacks.
    Light,
    /// Without privilege.
    Threads,
}

/// A thread in the background that takes the server's lock.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Holder {
    pub(crate) name: String,
    pub(crate) every: Time,
    #[serde(default)]
    pub(crate) at: Time,
    /// For how long it keeps it.
    pub(crate) lasts: Dist,
    /// The call it is in during that; `cpu` if it computes.
    #[serde(default = "nanosleep")]
    pub(crate) call: String,
    /// The function it is in.
    #[serde(default = "critical")]
    pub(crate) function: String,
    /// Whether it is a condition that it signals, and no lock.
    #[serde(default)]
    pub(crate) condition: bool,
}

/// Stretches of time that recur.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct When {
    pub(crate) every: Time,
    pub(crate) lasts: Time,
    #[serde(default)]
    pub(crate) at: Time,
}

/// Times in which the server does not run.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stall {
    pub(crate) every: Time,
    pub(crate) lasts: Dist,
    #[serde(default)]
    pub(crate) at: Time,
    pub(crate) kind: StallKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StallKind {
    /// The quota of its cgroup is used up.
    Throttled,
    /// The cgroup counts it, but another of its processes was throttled.
    ThrottledElsewhere,
    /// It stands still and no counter says so.
    Paused,
}

/// A move of a clock.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jump {
    pub(crate) clock: Clock,
    pub(crate) at: Time,
    pub(crate) by: Time,
    /// Over how long it is spread; not at all for a step.
    #[serde(default)]
    pub(crate) over: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Clock {
    Realtime,
    Boottime,
}

/// A reading beside the simulated server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extra {
    pub(crate) signal: String,
    pub(crate) subject: String,
    #[serde(default)]
    pub(crate) label: String,
    /// The value of a gauge, or what a counter counts in a second.
    pub(crate) value: f64,
    pub(crate) when: Option<When>,
}

/// A signal that could not be read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Missing {
    pub(crate) signal: String,
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) remedy: String,
}

impl Case {
    /// Reads a case; the error names what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let case: Self = toml::from_str(text).map_err(|e| e.to_string())?;
        case.validate().map_err(|e| format!("{}: {e}", case.name))?;
        Ok(case)
    }

    fn validate(&self) -> Result<(), String> {
        if self.rate.is_some() && self.users.is_some() {
            return Err("a loop is open (rate) or closed (users)".to_owned());
        }
        let always = self.class.iter().filter(|c| c.when.is_none());
        let sum: f64 = always.map(|c| c.share).sum();
        if (sum - 1.0).abs() > 1e-9 {
            return Err(format!(
                "the shares of the classes without `when` add up to {sum}"
            ));
        }
        let declared = |id: &String| match signal::find(id) {
            Some(_) => Ok(()),
            None => Err(format!("no signal is called {id:?}")),
        };
        let of_tracepoints = |id: &String| id.starts_with("trace.");
        let of_signals = self.gap.iter().filter(|g| !of_tracepoints(&g.signal));
        of_signals.map(|g| &g.signal).try_for_each(declared)?;
        for extra in &self.series {
            declared(&extra.signal)?;
            if Subject::parse(&extra.subject).is_none() {
                return Err(format!("no subject is called {:?}", extra.subject));
            }
        }
        Ok(())
    }

    /// The endpoints in the order in which the classes name them.
    pub(crate) fn endpoints(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for class in &self.class {
            if !names.contains(&class.endpoint.as_str()) {
                names.push(&class.endpoint);
            }
        }
        names
    }

    /// Requests a second of an open loop; `None` in a closed one.
    pub(crate) fn open_rate(&self) -> Option<f64> {
        self.users.is_none().then(|| self.rate.unwrap_or(200.0))
    }
}

impl When {
    /// Whether an instant, counted from the begin of the load, lies inside.
    pub(crate) fn holds(&self, ns: u64) -> bool {
        ns >= self.at.0 && (ns - self.at.0) % self.every.0.max(1) < self.lasts.0
    }
}

const fn database() -> u16 {
    5_432
}
const fn one() -> u64 {
    1
}
const fn once() -> u32 {
    1
}
const fn one_repeat() -> u16 {
    1
}
const fn yes() -> bool {
    true
}
const fn whole() -> f64 {
    1.0
}
const fn four() -> u32 {
    4
}
const fn many_connections() -> u32 {
    64
}
const fn many_workers() -> u32 {
    16
}
const fn twenty_seconds() -> Time {
    Time(20_000_000_000)
}
const fn twenty_milliseconds() -> Time {
    Time(20_000_000)
}
const fn five_seconds() -> Time {
    Time(5_000_000_000)
}
const fn wire() -> Time {
    Time(60_000)
}
const fn loop_cost() -> Time {
    Time(15_000)
}
const fn some_cpu() -> Dist {
    Dist::Lognormal {
        median_ns: 200_000.0,
        factor: 1.3,
    }
}
fn main_endpoint() -> String {
    "main".to_owned()
}
fn receives() -> String {
    "recvfrom:untimed".to_owned()
}
const fn native() -> slowpath_core::trace::Runtime {
    slowpath_core::trace::Runtime::Native
}
fn critical() -> String {
    "flush_critical".to_owned()
}
fn syncs() -> String {
    "fsync".to_owned()
}
fn nanosleep() -> String {
    "clock_nanosleep".to_owned()
}
