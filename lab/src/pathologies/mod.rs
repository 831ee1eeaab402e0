//! The servers: one file each, and the list below is the registry.

mod accept_queue_overflow;
mod accept_starvation;
mod accumulated_state;
mod blocking_telemetry;
mod cache_expiry;
mod cache_stampede;
mod client_saturation;
mod clock_jump;
mod cold_page_cache;
mod cold_start;
mod connection_churn;
mod connection_limit;
mod connection_per_call;
mod connection_pool_exhaustion;
mod cpu_quota_throttling;
mod cpu_saturation;
mod delayed_ack;
mod dns_lookup;
mod event_loop_blocking;
mod event_stream;
mod fd_exhaustion;
mod fixed_delay;
mod fsync_stall;
mod healthy;
mod interpreter_lock;
mod keepalive_close_race;
mod lock_contention;
mod lock_held_over_io;
mod log_flush;
mod lost_work;
mod noisy_neighbour;
mod packet_loss;
mod poll_tick;
mod port_exhaustion;
mod queueing;
mod rate_limit;
mod response_size;
mod retry_backoff;
mod run_queue_delay;
mod sequential_fanout;
mod slow_dependency;
mod slow_scan;
mod span_gap;
mod stop_the_world_pause;
mod timer_granularity;
mod worker_pool_exhaustion;
mod worker_restart;
mod workload_key_collision;

use std::io;
use std::net::SocketAddr;

use crate::options::{Knob, Options, Variant};

/// `cause` of a server that has nothing to be found.
pub(crate) const NO_CAUSE: &str = "none";
/// `cause` of a look-alike: slow, but by nothing that the catalogue has a name for.
pub(crate) const UNCATALOGUED: &str = "uncatalogued";

/// One kind of server.
pub(crate) struct Pathology {
    identifier: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) knobs: &'static [Knob],
    pub(crate) variants: &'static [Variant],
    pub(crate) start: fn(&Options) -> Result<Server, Refusal>,
}

impl Pathology {
    /// The name that cause, detector and page have too.
    pub(crate) fn name(&self) -> String {
        self.identifier.replace('_', "-")
    }
}

/// A server that has started.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The name of the cause that must be found.
    pub(crate) cause: &'static str,
    /// Restores what was changed on the machine and reports what was done.
    pub(crate) stop: Box<dyn FnOnce() -> io::Result<Truth>>,
}

/// What a server did, counted where it happened.
pub(crate) struct Truth {
    /// Requests other than readiness probes.
    pub(crate) requests: u64,
    /// How often the fault happened.
    pub(crate) induced: u64,
    /// Was the server as sick, or as healthy, as it was asked to be?
    pub(crate) holds: bool,
    /// The same in words: plain ASCII.
    pub(crate) self_check: String,
}

impl Truth {
    /// The truth of a server that was as asked if its fault happened exactly when it should.
    pub(crate) fn new(requests: u64, induced: u64, sick: bool, self_check: String) -> Self {
        Self {
            requests,
            induced,
            holds: requests > 0 && (induced > 0) == sick,
            self_check,
        }
    }
}

/// Why a server did not start.
pub(crate) enum Refusal {
    /// The machine or the user does not permit the fault.
    NotPermitted(String),
    Failed(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

macro_rules! pathologies { ($($name:ident),+ $(,)?) => {
    /// All servers, in the order of the list.
    pub(crate) static REGISTRY: &[Pathology] = &[$(Pathology {
        identifier: stringify!($name),
        summary: $name::SUMMARY,
        knobs: $name::KNOBS,
        variants: $name::VARIANTS,
        start: $name::start,
    }),+];
}}

pathologies! {
    healthy,
    client_saturation,
    clock_jump,
    cpu_saturation,
    queueing,
    cpu_quota_throttling,
    fixed_delay,
    timer_granularity,
    poll_tick,
    rate_limit,
    delayed_ack,
    cache_expiry,
    cache_stampede,
    cold_start,
    accumulated_state,
    slow_scan,
    response_size,
    workload_key_collision,
    lost_work,
    accept_queue_overflow,
    accept_starvation,
    connection_churn,
    connection_per_call,
    packet_loss,
    port_exhaustion,
    connection_limit,
    fd_exhaustion,
    keepalive_close_race,
    worker_restart,
    lock_held_over_io,
    lock_contention,
    interpreter_lock,
    noisy_neighbour,
    run_queue_delay,
    event_loop_blocking,
    stop_the_world_pause,
    slow_dependency,
    dns_lookup,
    retry_backoff,
    sequential_fanout,
    fsync_stall,
    log_flush,
    cold_page_cache,
    worker_pool_exhaustion,
    connection_pool_exhaustion,
    blocking_telemetry,
    event_stream,
    span_gap,
}
