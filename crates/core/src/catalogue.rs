//! The names of causes. A name completes "*the tail (the floor, the errors) is there because
//! of …*"; it is never a symptom and never a remedy.

/// The load generator could not keep its own schedule.
pub const CLIENT_SATURATION: &str = "client-saturation";
/// The host's clock was stepped, or the host slept, while it was measured.
pub const CLOCK_JUMP: &str = "clock-jump";
/// slowpath's own tracing makes the server slow.
pub const OBSERVER_EFFECT: &str = "observer-effect";
/// The load waits for the server, and what a steady stream would have met is not measured.
pub const COORDINATED_OMISSION: &str = "coordinated-omission";
/// A timer of whole milliseconds makes one of what is less.
pub const TIMER_GRANULARITY: &str = "timer-granularity";
/// Nagle's algorithm on the server waits for the client's delayed acknowledgement.
pub const DELAYED_ACK: &str = "delayed-ack";
/// A constant wait on a timer.
pub const FIXED_DELAY: &str = "fixed-delay";
/// The listener's queue of complete connections was full.
pub const ACCEPT_QUEUE_OVERFLOW: &str = "accept-queue-overflow";
/// New connections wait until the server accepts them, which it could do at once.
pub const ACCEPT_STARVATION: &str = "accept-starvation";
/// A server closes idle connections, while requests are on their way.
pub const KEEPALIVE_CLOSE_RACE: &str = "keepalive-close-race";
/// Processes of the server end under load, and others take their place.
pub const WORKER_RESTART: &str = "worker-restart";
/// The server serves so many connections at a time and no more.
pub const CONNECTION_LIMIT: &str = "connection-limit";
/// Connections that clients would keep are made again and again, as the server ends them.
pub const CONNECTION_CHURN: &str = "connection-churn";
/// A connection is made for each request, and closed after it.
pub const CONNECTION_PER_CALL: &str = "connection-per-call";
/// Requests ask another server again after a pause, as it gave no answer, or an error.
pub const RETRY_BACKOFF: &str = "retry-backoff";
/// Requests wait until something looks for them that does so every so often.
pub const POLL_TICK: &str = "poll-tick";
/// Requests wait until names are looked up.
pub const DNS_LOOKUP: &str = "dns-lookup";
/// Segments are lost between client and server, and sent again when a timer goes off.
pub const PACKET_LOSS: &str = "packet-loss";
/// A host has no local port left to dial from.
pub const PORT_EXHAUSTION: &str = "port-exhaustion";
/// A process of the server has no file descriptors left.
pub const FD_EXHAUSTION: &str = "fd-exhaustion";
/// The target had no CPU left.
pub const CPU_SATURATION: &str = "cpu-saturation";
/// The target's cgroup used up its CPU quota.
pub const CPU_QUOTA_THROTTLING: &str = "cpu-quota-throttling";
/// Requests wait for a lock whose holder waits itself: for a time, a disk, another host.
pub const LOCK_HELD_OVER_IO: &str = "lock-held-over-io";
/// Requests wait for a lock whose holder works.
pub const LOCK_CONTENTION: &str = "lock-contention";
/// Threads wait for CPUs that one other process of the host has.
pub const NOISY_NEIGHBOUR: &str = "noisy-neighbour";
/// Threads that are woken wait for CPUs that are idle.
pub const WAKE_PLACEMENT: &str = "wake-placement";
/// The hypervisor has the CPUs of the machine while it could run.
pub const CPU_STEAL: &str = "cpu-steal";
/// Threads wait to be let into an interpreter that runs one of them at a time.
pub const INTERPRETER_LOCK: &str = "interpreter-lock";
/// An event loop is kept from requests by what it does for others.
pub const EVENT_LOOP_BLOCKING: &str = "event-loop-blocking";
/// Requests queue for a thread that is busy with others, none of which takes long.
pub const QUEUEING: &str = "queueing";
/// All threads or processes that serve requests have one, and the next ones wait for them.
pub const WORKER_POOL_EXHAUSTION: &str = "worker-pool-exhaustion";
/// Threads that could run wait for a CPU that others have.
pub const RUN_QUEUE_DELAY: &str = "run-queue-delay";
/// The runtime stops all threads of the program, as collectors of garbage do.
pub const STOP_THE_WORLD_PAUSE: &str = "stop-the-world-pause";
/// Requests wait for one of the few connections that the target has to another server.
pub const CONNECTION_POOL_EXHAUSTION: &str = "connection-pool-exhaustion";
/// Requests wait for the replies of another server.
pub const SLOW_DEPENDENCY: &str = "slow-dependency";
/// Requests wait until their log takes a line.
pub const LOG_FLUSH: &str = "log-flush";
/// Requests wait for parts of files that are not in memory.
pub const COLD_PAGE_CACHE: &str = "cold-page-cache";
/// Requests wait for memory: it is freed for them, or comes back from swap.
pub const MEMORY_PRESSURE: &str = "memory-pressure";
/// Requests wait while telemetry is sent for them.
pub const BLOCKING_TELEMETRY: &str = "blocking-telemetry";
/// Requests wait until a disk has taken what was written.
pub const FSYNC_STALL: &str = "fsync-stall";
/// Requests ask another server many times, one after the other.
pub const SEQUENTIAL_FANOUT: &str = "sequential-fanout";
/// What is done for the first time takes longer: for a key, on a connection, after the start.
pub const COLD_START: &str = "cold-start";
/// The server lets so many requests pass in a time, and others wait or are refused.
pub const RATE_LIMIT: &str = "rate-limit";
/// What the server was given so far makes it slow, or makes it refuse.
pub const ACCUMULATED_STATE: &str = "accumulated-state";
/// Time grows with a parameter of the request.
pub const SLOW_SCAN: &str = "slow-scan";
/// Responses are so large that reading them takes the time.
pub const RESPONSE_SIZE: &str = "response-size";
/// Requests for one key queue for each other, because the load has too few keys.
pub const WORKLOAD_KEY_COLLISION: &str = "workload-key-collision";
/// Less is delivered than was asked for, faster.
pub const LOST_WORK: &str = "lost-work";
/// Entries of a cache expire, and the first request for each fills it again.
pub const CACHE_EXPIRY: &str = "cache-expiry";
/// Many requests come while an entry of a cache is being filled, and wait for it or fill it too.
pub const CACHE_STAMPEDE: &str = "cache-stampede";
/// Requests wait for one of a few permits that a limiter of parallel work in user space gives.
pub const CONCURRENCY_LIMIT: &str = "concurrency-limit";
/// Workers wait on idle kept connections, or keep places for nothing, while requests wait for them.
pub const WORKERS_HELD_IDLE: &str = "workers-held-idle";
/// A client sends or takes data so slowly that its request takes the time.
pub const SLOW_CLIENT: &str = "slow-client";
/// Some keys or inputs are expensive in themselves.
pub const HOT_INPUT: &str = "hot-input";
/// Requests are so large that reading and handling what they send takes the time.
pub const REQUEST_SIZE: &str = "request-size";
/// Requests wait until a batch is full or its window closes.
pub const BATCH_WINDOW: &str = "batch-window";
/// Requests wait for a dependency until a timeout ends the wait.
pub const UPSTREAM_TIMEOUT: &str = "upstream-timeout";

/// The causes that an experiment can prove: there is a safe, reversible intervention on each.
///
/// Whether there is one for a run depends on the run: some take two endpoints, some take the
/// target's processes.
pub const PROVABLE: &[&str] = &[
    DELAYED_ACK,
    FIXED_DELAY,
    CPU_QUOTA_THROTTLING,
    KEEPALIVE_CLOSE_RACE,
    CONNECTION_LIMIT,
    ACCEPT_QUEUE_OVERFLOW,
    FD_EXHAUSTION,
    EVENT_LOOP_BLOCKING,
    LOCK_HELD_OVER_IO,
    LOCK_CONTENTION,
    CPU_SATURATION,
    RUN_QUEUE_DELAY,
    NOISY_NEIGHBOUR,
    INTERPRETER_LOCK,
    WORKER_POOL_EXHAUSTION,
    CONNECTION_POOL_EXHAUSTION,
    CACHE_STAMPEDE,
    WORKLOAD_KEY_COLLISION,
    CACHE_EXPIRY,
    SEQUENTIAL_FANOUT,
    SLOW_DEPENDENCY,
];
