//! The detectors: one file a cause. The list below is the registry, and its order is the order of
//! every output. A detector is a value; it sees the [`Case`] and nothing else.

mod accept_queue_overflow;
mod accept_starvation;
mod accumulated_state;
mod batch_window;
mod blocking_telemetry;
mod cache_expiry;
mod cache_stampede;
mod client_saturation;
mod clock_jump;
mod cold_page_cache;
mod cold_start;
mod concurrency_limit;
mod connection_churn;
mod connection_limit;
mod connection_per_call;
mod connection_pool_exhaustion;
mod coordinated_omission;
mod cpu_quota_throttling;
mod cpu_saturation;
mod cpu_steal;
mod delayed_ack;
mod dns_lookup;
mod event_loop_blocking;
mod fd_exhaustion;
mod fixed_delay;
mod fsync_stall;
mod hot_input;
mod interpreter_lock;
mod keepalive_close_race;
mod lock_contention;
mod lock_held_over_io;
mod log_flush;
mod lost_work;
mod memory_pressure;
mod noisy_neighbour;
mod observer_effect;
mod packet_loss;
mod poll_tick;
mod port_exhaustion;
mod queueing;
mod rate_limit;
mod request_size;
mod response_size;
mod retry_backoff;
mod run_queue_delay;
mod sequential_fanout;
mod slow_client;
mod slow_dependency;
mod slow_scan;
mod stop_the_world_pause;
mod timer_granularity;
mod upstream_timeout;
mod wake_placement;
mod worker_pool_exhaustion;
mod worker_restart;
mod workers_held_idle;
mod workload_key_collision;

use slowpath_attribution::StateSet;

use crate::case::{Case, EndpointCase};
use crate::trace::looked::Looked;
use crate::verdict::Verdict;

pub(crate) use connection_per_call::have_sessions;
pub(crate) use sequential_fanout::named as rows_of_calls;
pub(crate) use upstream_timeout::waits as unanswered_waits;

/// What looks for one cause.
#[derive(Debug)]
pub(crate) struct Detector {
    /// How it is asked.
    pub examine: Examine,
    /// The states that a request may be in because of it: what keeps it from being ruled out while nothing
    /// else explains them.
    pub could_be: StateSet,
    /// Whether the effect may simply be the work itself: such floors rank after other causes,
    /// since an endpoint may be slow by design.
    pub may_be_the_work: bool,
}

/// What a detector looks at.
#[derive(Debug)]
pub(crate) enum Examine {
    /// The run as a whole; what it finds questions the measurement.
    Run(fn(&Case<'_>) -> Verdict),
    /// One endpoint at a time.
    Endpoint(fn(&Case<'_>, &EndpointCase) -> Verdict),
    /// The same; what it claims is read from a trace, and it says itself what it makes of a run without one.
    Traced(fn(&Case<'_>, &EndpointCase) -> Verdict),
    /// The same, by requests that were followed through the server: blind where too few were.
    Followed(fn(&Case<'_>, &EndpointCase, &Looked<'_>) -> Verdict),
}

/// A detector with its name and page.
#[derive(Debug)]
pub struct Entry {
    /// The cause, as in the catalogue.
    pub name: &'static str,
    /// Its page, Markdown.
    pub page: &'static str,
    /// What looks for it.
    pub(crate) detector: &'static Detector,
}

impl Entry {
    /// Whether what it claims is read from a trace.
    pub(crate) fn reads_trace(&self) -> bool {
        matches!(
            self.detector.examine,
            Examine::Traced(_) | Examine::Followed(_)
        )
    }
}

macro_rules! detectors { ($($module:ident = $name:literal),+ $(,)?) => {
    /// Every detector.
    pub static REGISTRY: &[Entry] = &[$(Entry {
        name: $name,
        page: include_str!(
            concat!(env!("CARGO_MANIFEST_DIR"), "/docs/", stringify!($module), ".md")
        ),
        detector: &$module::DETECTOR,
    }),+];
}}

detectors! {
    client_saturation = "client-saturation",
    clock_jump = "clock-jump",
    observer_effect = "observer-effect",
    coordinated_omission = "coordinated-omission",
    workload_key_collision = "workload-key-collision",
    lost_work = "lost-work",
    delayed_ack = "delayed-ack",
    accept_queue_overflow = "accept-queue-overflow",
    accept_starvation = "accept-starvation",
    connection_limit = "connection-limit",
    fd_exhaustion = "fd-exhaustion",
    keepalive_close_race = "keepalive-close-race",
    worker_restart = "worker-restart",
    packet_loss = "packet-loss",
    port_exhaustion = "port-exhaustion",
    connection_churn = "connection-churn",
    connection_per_call = "connection-per-call",
    cpu_quota_throttling = "cpu-quota-throttling",
    response_size = "response-size",
    rate_limit = "rate-limit",
    accumulated_state = "accumulated-state",
    cold_start = "cold-start",
    cache_stampede = "cache-stampede",
    cache_expiry = "cache-expiry",
    request_size = "request-size",
    slow_scan = "slow-scan",
    sequential_fanout = "sequential-fanout",
    hot_input = "hot-input",
    cpu_saturation = "cpu-saturation",
    cpu_steal = "cpu-steal",
    stop_the_world_pause = "stop-the-world-pause",
    interpreter_lock = "interpreter-lock",
    log_flush = "log-flush",
    lock_held_over_io = "lock-held-over-io",
    lock_contention = "lock-contention",
    connection_pool_exhaustion = "connection-pool-exhaustion",
    memory_pressure = "memory-pressure",
    cold_page_cache = "cold-page-cache",
    fsync_stall = "fsync-stall",
    blocking_telemetry = "blocking-telemetry",
    dns_lookup = "dns-lookup",
    retry_backoff = "retry-backoff",
    slow_dependency = "slow-dependency",
    event_loop_blocking = "event-loop-blocking",
    queueing = "queueing",
    noisy_neighbour = "noisy-neighbour",
    run_queue_delay = "run-queue-delay",
    wake_placement = "wake-placement",
    worker_pool_exhaustion = "worker-pool-exhaustion",
    workers_held_idle = "workers-held-idle",
    concurrency_limit = "concurrency-limit",
    slow_client = "slow-client",
    upstream_timeout = "upstream-timeout",
    timer_granularity = "timer-granularity",
    poll_tick = "poll-tick",
    batch_window = "batch-window",
    fixed_delay = "fixed-delay",
}

/// The detector of a cause.
pub fn find(name: &str) -> Option<&'static Entry> {
    REGISTRY.iter().find(|entry| entry.name == name)
}
