//! The model: a slice of a request's time, and what it says.

use serde::{Deserialize, Serialize};

/// A part of a request's time, by where the request was. Together, in this order, the parts are its
/// whole latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Every connection of the load generator was busy.
    Queued,
    /// The load generator was late: a connection was free, or could be dialled, and nothing happened.
    ClientLag,
    /// Making the connection, its handshake included.
    Connect,
    /// From the client's first byte to the server's kernel.
    Network,
    /// In the server's kernel, until a thread of the server read it.
    Unread,
    /// From the server's first read to its last write.
    Service,
    /// From the server's last write until the client had read all of it.
    Response,
}

impl Phase {
    /// Every part, in order.
    pub const ALL: [Self; 7] = [
        Self::Queued,
        Self::ClientLag,
        Self::Connect,
        Self::Network,
        Self::Unread,
        Self::Service,
        Self::Response,
    ];

    /// For people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Queued => "waiting for a connection",
            Self::ClientLag => "sent late by slowpath",
            Self::Connect => "making the connection",
            Self::Network => "on the way to the server",
            Self::Unread => "arrived, not yet read",
            Self::Service => "read, not yet answered",
            Self::Response => "the answer's way back",
        }
    }
}

/// Which threads have the CPUs while a thread is ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CpuUser {
    /// The server's own.
    Own,
    /// Another process.
    Neighbour,
    /// None: the CPU is idle.
    Idle,
    /// The server's cgroup is throttled by its CPU quota.
    Throttled,
    /// Not known.
    Unknown,
}

/// What a disk is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiskUse {
    /// Reading.
    Read,
    /// Writing, without a sync.
    Write,
    /// A sync, or a commit of the file system's journal.
    Sync,
}

/// What kind of places a station has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// One thread that serves many connections by turns.
    EventLoop,
    /// Threads or processes that read requests, each of which has one at a time.
    Workers,
    /// Threads that requests are handed to.
    Executor,
    /// Workers that wait on kept connections which have no request under way.
    HeldIdle,
    /// Connections to another server.
    Connections,
    /// One place that no kernel object shows: a mutex in user space, or a queue of one.
    One,
    /// A process of an actor system that takes one message at a time (a `gen_server` of Erlang): those seldom share a lock.
    Mailbox,
    /// Several places that no kernel object shows: a semaphore or a limiter in user space.
    Permits,
    /// Connections of clients that the server serves at a time: it takes up no more.
    Served,
}

/// Why it is not known what a request waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The target was not traced, or with too little privilege.
    NotTraced,
    /// The runtime keeps what waits in user space, and its threads are idle.
    Parked,
    /// An event loop waits for many things at once.
    LoopWaits,
    /// A lock or a condition; its holder is not known.
    Holder,
    /// Which thread or interrupt ended the wait was not recorded.
    NoWaker,
    /// Nothing was recorded of the thread then.
    NotSeen,
    /// No thread has taken the connection up: the one that will has not begun.
    NotTaken,
    /// It waits for data from a pipe, a file or a socket whose other end is not known.
    OtherEnd,
    /// A call does not return until the kernel has done work of its own: a grace period of RCU, its worker threads.
    Kernel,
    /// Time on the network between client and server.
    Network,
    /// Longer than what was traced without a break, or too few alike were traced.
    TooFew,
}

/// What a request was waiting for at a moment; a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// For nothing: it was computed for.
    OnCpu,
    /// For a CPU.
    Runnable(CpuUser),
    /// For a lock.
    Lock,
    /// To be let into an interpreter that runs one thread at a time.
    Interpreter,
    /// For a place in a station.
    Queued(Place),
    /// For a reply from another process or host.
    Reply,
    /// For a timer.
    Sleep,
    /// For a disk.
    Disk(DiskUse),
    /// For memory: it is freed, or comes back from swap.
    Memory,
    /// Until the client takes or sends data.
    Client,
    /// Until a pipe or a peer takes data.
    SendBlocked,
    /// Until the runtime lets its threads go on.
    Paused,
    /// For a segment that was sent again.
    Retransmit,
    /// For a delayed acknowledgement.
    DelayedAck,
    /// For a connection to be made.
    Handshake,
    /// For the load generator.
    ClientLate,
    /// Not known, and why.
    Unknown(Reason),
}

impl State {
    /// The name that reports use, without what a variant holds.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OnCpu => "on-cpu",
            Self::Runnable(_) => "runnable",
            Self::Lock => "lock",
            Self::Interpreter => "interpreter",
            Self::Queued(_) => "queued",
            Self::Reply => "reply",
            Self::Sleep => "sleep",
            Self::Disk(_) => "disk",
            Self::Memory => "memory",
            Self::Client | Self::SendBlocked => "send-blocked",
            Self::Paused => "paused",
            Self::Retransmit => "retransmit",
            Self::DelayedAck => "delayed-ack",
            Self::Handshake => "handshake",
            Self::ClientLate => "client-late",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Who had what a request waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Holder {
    /// The request itself.
    ThisRequest,
    /// Another request.
    AnotherRequest,
    /// A thread of the server that works for no request.
    Background,
    /// Another process or host.
    Peer,
    /// A name server (DNS).
    Resolver,
    /// The kernel.
    Kernel,
    /// The client.
    Client,
    /// Not known.
    Unknown,
}

/// How it is known what a slice was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Kernel tracing.
    Traced,
    /// A runtime was read.
    Sampled,
    /// A counter of the target, laid over the slice.
    Counter,
    /// The client's own record.
    Pattern,
    /// Not known.
    Unknown,
}

/// The thread at the end of a chain of waits, with where it stood. Kept once for all slices.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Actor {
    /// The executable of its process; empty if that is not known.
    pub process: String,
    /// Its name, digits replaced by `N`, so that the threads of a pool are one; empty for none.
    pub thread: String,
    /// The other end of the connection that it waits at; empty for none.
    pub peer: String,
    /// Innermost function first; empty if no stack was taken.
    pub stack: Vec<String>,
}

/// A part of a request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// When it begins, in nanoseconds of the record's clock.
    pub begin: u64,
    /// When it ends.
    pub end: u64,
    /// Where the request was.
    pub phase: Phase,
    /// What it waited for.
    pub state: State,
    /// Who had that.
    pub holder: Holder,
    /// What the holder was doing, at the end of the chain of waits.
    pub activity: State,
    /// The holder's thread: a position in the actors of the attribution.
    pub actor: u32,
    /// How it is known.
    pub basis: Basis,
}

impl Slice {
    /// How long, in nanoseconds.
    pub const fn len_ns(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// A request with the slices that tile it from its scheduled instant to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Its position in the record's samples.
    pub sample: u32,
    /// Whether it is one of the slow requests.
    pub slow: bool,
    /// For how many requests it stands.
    pub weight: f64,
    /// Ascending, without holes.
    pub slices: Vec<Slice>,
}
