//! What the kernel reported of the target's threads while requests were under way.
//!
//! A trace is what joins a request with the server's inside: its events carry the request's
//! connection, the threads that read and answered it, and for each thread when it ran, when it was
//! ready to run, when it was blocked and who ended that. It is recorded in [`Stretch`]es; what lies
//! outside of them is not known, and never taken for idle.

mod append;
mod tasks;
mod unix;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::nanos::{Nanos, Span};
pub use tasks::{Does, Look, NO_SOCKET, Stay};
pub use unix::{is_unix, is_unix_server, unix_client, unix_server};

/// No stack was taken; stands in [`What::Switch`] and [`What::Sample`].
pub const NO_STACK: u32 = u32::MAX;
/// Ports at which names are looked up: DNS (RFC 1035), over TLS (RFC 7858), on the link (RFC 6762).
pub const RESOLVER_PORTS: [u16; 3] = [53, 853, 5_353];
/// The idle task of every CPU has this thread id (the kernel's `swapper`).
pub const IDLE: u32 = 0;

/// Everything that was traced in a run. All positions in it point into its own tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// When it was recorded, and how closely; in order of time, without overlap.
    pub stretches: Vec<Stretch>,
    /// The processes whose threads were followed, and those met on the way.
    pub processes: Vec<Process>,
    /// The threads that events speak of, by id; one that was met and is not known stands here too.
    pub threads: Vec<Thread>,
    /// The ends of connections that events speak of.
    pub sockets: Vec<Socket>,
    /// The functions that stacks are made of.
    pub frames: Vec<Frame>,
    /// Stacks: positions in `frames`, innermost first, the kernel's before the program's.
    pub stacks: Vec<Vec<u32>>,
    /// What happened, in order of time.
    pub events: Vec<Event>,
    /// Names of the reasons in [`What::Reset`], as the kernel that ran calls them; empty if it reports
    /// no reasons.
    pub reset_reasons: BTreeMap<u32, String>,
    /// The paths that the addresses of Unix sockets represent ([`unix_server`]).
    pub unix_paths: BTreeMap<IpAddr, String>,
    /// Addresses that answer short datagrams of the target, taken for name servers ([`Trace::is_resolver`]).
    pub resolvers: BTreeSet<SocketAddr>,
    /// When the tasks of runtimes that park them in user space were examined, in order of time.
    pub looks: Vec<Look>,
    /// What these tasks were found doing, in order of their first looks.
    pub stays: Vec<Stay>,
}

/// How closely a stretch of time was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// On purpose not at all: what tracing costs is measured against these stretches.
    Off,
    /// Without privilege: when threads ran ([`What::On`], [`What::Off`]) and what they were found
    /// waiting for ([`What::Peek`]); who woke them is not known.
    Threads,
    /// Tracepoints without stacks.
    Light,
    /// Tracepoints with stacks.
    Full,
}

impl Depth {
    /// Every depth; the position is its code in stored traces and never changes.
    pub const ALL: [Self; 4] = [Self::Off, Self::Threads, Self::Light, Self::Full];

    /// Whether it is known which thread woke which.
    pub const fn has_wakers(self) -> bool {
        matches!(self, Self::Light | Self::Full)
    }
}

/// A stretch of time in which tracing did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// When.
    pub span: Span,
    /// How closely.
    pub depth: Depth,
    /// The repeat of the run.
    pub repeat: u16,
    /// Records that were lost in it for want of room: what is joined in it is a lower bound.
    pub lost: u64,
}

/// Whose a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The target's.
    Target,
    /// A service that the scenario starts beside the target, or a process on this host that the
    /// target has a connection to.
    Peer,
    /// slowpath itself.
    Tool,
    /// Any other's.
    Other,
}

/// What runs a process's code: runtimes with a scheduler of their own hide from the kernel for
/// which request a thread works, and what a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Threads of the kernel and nothing above them: C, C++, Rust without an executor, and so on.
    Native,
    /// Go: goroutines are parked in user space.
    Go,
    /// A Java virtual machine; threads are the kernel's unless they are virtual.
    Jvm,
    /// Node or another libuv program: one loop.
    Node,
    /// CPython: threads of the kernel under one lock.
    Python,
    /// A Rust executor such as tokio: tasks are parked in user space.
    Tokio,
    /// .NET, Erlang and others with a scheduler of their own.
    Managed,
    /// Could not be determined.
    Unknown,
}

impl Runtime {
    /// Whether work that waits is parked in user space, unseen by the kernel.
    pub const fn parks_in_user_space(self) -> bool {
        matches!(self, Self::Go | Self::Tokio | Self::Managed)
    }
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Its id on the host.
    pub pid: u32,
    /// Whose it is.
    pub role: Role,
    /// The file name of its executable, without its path; empty if it cannot be seen.
    pub executable: String,
    /// What an interpreter or a virtual machine executes there: the file name of a script or an archive, or the name of a module or
    /// a class; empty if it is no such program, or that cannot be seen.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// What runs its code.
    pub runtime: Runtime,
}

impl Process {
    /// What people call it: its executable, and what that executes (`python3.11 app.py`).
    pub fn title(&self) -> String {
        let words = [self.executable.as_str(), self.program.as_str()];
        words.map(str::trim).join(" ").trim().to_owned()
    }
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// Its id on the host.
    pub tid: u32,
    /// The process it belongs to; 0 if that is not known.
    pub pid: u32,
    /// Its name (`comm`), as last seen.
    pub name: String,
}

/// One end of a connection: two ends on one host are two sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Socket {
    /// The address of this end.
    pub local: SocketAddr,
    /// The address of the other end.
    pub remote: SocketAddr,
}

/// A function on a stack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Its name, demangled; an address within its module if the module has no symbols.
    pub function: String,
    /// The file name of its executable or library; `kernel` for the kernel, empty if not known.
    pub module: String,
    /// `file:line`, if debug information has it; empty otherwise.
    pub source: String,
}

/// How the type arguments of Go's generic functions begin: types of one shape share their code (`go.shape`).
const TYPE_ARGUMENTS: &str = "[go.shape.";

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.function.split_once(TYPE_ARGUMENTS) {
            // As Go prints them itself (`runtime.printFuncName`).
            Some((begin, rest)) => {
                let end = rest.rfind(']').map_or("", |at| &rest[at + 1..]);
                write!(f, "{begin}[...]{end}")?;
            }
            None => f.write_str(&self.function)?,
        }
        match (self.source.as_str(), self.module.as_str()) {
            ("", "" | "kernel") => Ok(()),
            ("", module) => write!(f, " ({module})"),
            (source, _) => write!(f, " ({source})"),
        }
    }
}

/// Something that happened at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Nanos,
    /// On which CPU it was seen.
    pub cpu: u16,
    /// What.
    pub what: What,
}

/// How a thread left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Left {
    /// It could have gone on: another thread got the CPU (`TASK_RUNNING`).
    Runnable,
    /// It waits for something, and a signal would end that (`TASK_INTERRUPTIBLE`).
    Sleeping,
    /// It waits for something, and nothing else ends that: a disk as a rule
    /// (`TASK_UNINTERRUPTIBLE`).
    Uninterruptible,
    /// It ended, or was stopped or is traced.
    Gone,
}

impl Left {
    /// Every way; the position is its code in stored traces and never changes.
    pub const ALL: [Self; 4] = [
        Self::Runnable,
        Self::Sleeping,
        Self::Uninterruptible,
        Self::Gone,
    ];
}

/// On whose behalf a CPU did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Context {
    /// The thread that was running.
    Thread,
    /// A softirq: the network or a timer, in the context of any thread.
    Softirq,
    /// A hardware interrupt: a timer or a device, in the context of any thread.
    Hardirq,
    /// The thread that was running, which made the one that is ready now (`clone`).
    Birth,
}

impl Context {
    /// Every context; the position is its code in stored traces and never changes.
    pub const ALL: [Self; 4] = [Self::Thread, Self::Softirq, Self::Hardirq, Self::Birth];
}

/// What happened. Thread ids are the host's; sockets and stacks are positions in the [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A CPU was handed from one thread to another (`sched:sched_switch`).
    Switch {
        /// Who left.
        from: u32,
        /// How.
        left: Left,
        /// Who runs now.
        to: u32,
        /// Where the one who left stood, or [`NO_STACK`].
        stack: u32,
    },
    /// A thread was made ready to run (`sched:sched_waking`).
    Waking {
        /// Who.
        tid: u32,
        /// Who was running on the CPU that did it.
        by: u32,
        /// On whose behalf: only [`Context::Thread`] and [`Context::Birth`] mean that `by` did it.
        context: Context,
    },
    /// A thread entered a system call that may block (`raw_syscalls:sys_enter`).
    Call {
        /// Who.
        tid: u32,
        /// The call.
        call: Call,
        /// What it is about: the address of a futex, or a file descriptor.
        about: u64,
    },
    /// A segment with data came to a socket (`tcp:tcp_probe`), in the context of any thread.
    Arrived {
        /// The end that received.
        socket: u32,
        /// Bytes of data.
        bytes: u32,
    },
    /// A thread took data out of a socket (`tcp:tcp_rcv_space_adjust`, of others `sock:sock_recv_length`).
    Read {
        /// Who.
        tid: u32,
        /// The end that it read from.
        socket: u32,
    },
    /// A thread put data into a socket (`sock:sock_send_length`; before Linux 6.3 it is inferred from
    /// `raw_syscalls`).
    Wrote {
        /// Who.
        tid: u32,
        /// The end that it wrote to.
        socket: u32,
        /// Bytes taken.
        bytes: u32,
    },
    /// A connection was reset (`tcp:tcp_send_reset`, `tcp:tcp_receive_reset`).
    Reset {
        /// The end that sent or received the reset.
        socket: u32,
        /// Whether it sent it.
        sent: bool,
        /// `enum sk_rst_reason` of the kernel that ran, named by [`Trace::reset_reasons`]; 0 if it
        /// reports none.
        reason: u32,
        /// The thread whose call sent it; 0 if it answered a segment, or was received.
        by: u32,
    },
    /// A segment was sent again (`tcp:tcp_retransmit_skb`).
    Retransmit {
        /// The end that sent it.
        socket: u32,
    },
    /// A connection changed its state (`sock:inet_sock_set_state`).
    State {
        /// The end. One without a port of its own that is closed found none to dial from.
        socket: u32,
        /// The new state, as `include/net/tcp_states.h` numbers them.
        state: u8,
        /// The thread whose call did it; 0 if a segment or a timer did.
        by: u32,
    },
    /// A thread was found running by a sampling clock.
    Sample {
        /// Who.
        tid: u32,
        /// Where it stood, or [`NO_STACK`].
        stack: u32,
    },
    /// A thread got a CPU (`PERF_RECORD_SWITCH`).
    On {
        /// Who.
        tid: u32,
    },
    /// A thread left its CPU (`PERF_RECORD_SWITCH` with `MISC_SWITCH_OUT`).
    Off {
        /// Who.
        tid: u32,
        /// Whether it could have gone on (`MISC_SWITCH_OUT_PREEMPT`).
        preempted: bool,
    },
    /// A thread was found in a system call by reading `/proc`.
    Peek {
        /// Who.
        tid: u32,
        /// The call.
        call: Call,
        /// What it is about: the address of a futex, or a file descriptor.
        about: u64,
        /// Who owns the lock it waits for; 0 if that is not known.
        owner: u32,
    },
}

/// Calls that block, as far as they are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// Waiting for a lock or a condition (`futex` with `FUTEX_WAIT…` or `FUTEX_LOCK_PI…`).
    Futex,
    /// Waiting for a time (`nanosleep`, `clock_nanosleep`).
    Sleep,
    /// Waiting for one of many files, or a time (`epoll_wait`, `poll`, `select` and their kin).
    Poll,
    /// Taking data from a socket, pipe or file (`read`, `recvfrom`, `recvmsg`, …).
    Read,
    /// Giving data to a socket, pipe or file (`write`, `sendto`, `sendmsg`, …).
    Write,
    /// Making a connection (`connect`).
    Connect,
    /// Taking a connection (`accept`, `accept4`).
    Accept,
    /// Waiting until data is on the disk (`fsync`, `fdatasync`, `msync`, `sync_file_range`, …).
    Sync,
    /// Waiting for a file lock (`flock`, `fcntl` with `F_SETLKW`).
    FileLock,
    /// Waiting for a process (`wait4`, `waitid`).
    Wait,
    /// Anything else.
    Other,
}

impl Call {
    /// Every call; the position is its code in stored traces and never changes.
    pub const ALL: [Self; 11] = [
        Self::Futex,
        Self::Sleep,
        Self::Poll,
        Self::Read,
        Self::Write,
        Self::Connect,
        Self::Accept,
        Self::Sync,
        Self::FileLock,
        Self::Wait,
        Self::Other,
    ];

    /// What a thread in it is doing, for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Futex => "waiting for a lock or a condition",
            Self::Sleep => "sleeping",
            Self::Poll => "waiting for files or a time",
            Self::Read => "reading",
            Self::Write => "writing",
            Self::Connect => "connecting",
            Self::Accept => "accepting",
            Self::Sync => "waiting for the disk to take data",
            Self::FileLock => "waiting for a file lock",
            Self::Wait => "waiting for a process",
            Self::Other => "in a system call",
        }
    }
}

impl Trace {
    /// Whether names are looked up at an address: it is at a usual port for that, or it answers short datagrams of the target.
    pub fn is_resolver(&self, remote: SocketAddr) -> bool {
        RESOLVER_PORTS.contains(&remote.port()) || self.resolvers.contains(&remote)
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.depth().is_none()
    }

    /// How closely it was recorded where it was closest; `None` if nothing was.
    pub fn depth(&self) -> Option<Depth> {
        let deepest = self.stretches.iter().map(|stretch| stretch.depth).max();
        deepest.filter(|&depth| depth != Depth::Off)
    }

    /// The thread with that id, if it was met.
    pub fn thread(&self, tid: u32) -> Option<&Thread> {
        let place = self.threads.binary_search_by_key(&tid, |t| t.tid).ok()?;
        self.threads.get(place)
    }

    /// The process of a thread, if it is known.
    pub fn process_of(&self, tid: u32) -> Option<&Process> {
        let pid = self.thread(tid)?.pid;
        let place = self.processes.binary_search_by_key(&pid, |p| p.pid).ok()?;
        self.processes.get(place)
    }

    /// Whether a thread's runtime parks what waits in user space; not, if its process is unknown.
    pub fn parks(&self, tid: u32) -> bool {
        let process = self.process_of(tid);
        process.is_some_and(|process| process.runtime.parks_in_user_space())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(tid: u32, name: &str, port: u16) -> Trace {
        let local = SocketAddr::from(([127, 0, 0, 1], port));
        let at = Nanos::new(u64::from(port));
        let event = |what| Event { at, cpu: 0, what };
        Trace {
            threads: vec![Thread {
                tid,
                pid: tid,
                name: name.to_owned(),
            }],
            sockets: vec![Socket {
                local,
                remote: local,
            }],
            frames: vec![Frame {
                function: name.to_owned(),
                module: String::new(),
                source: String::new(),
            }],
            stacks: vec![vec![0]],
            events: vec![
                event(What::Read { tid, socket: 0 }),
                event(What::Switch {
                    from: tid,
                    left: Left::Sleeping,
                    to: IDLE,
                    stack: 0,
                }),
                event(What::Sample {
                    tid,
                    stack: NO_STACK,
                }),
            ],
            ..Trace::default()
        }
    }

    #[test]
    fn what_is_appended_keeps_its_meaning() {
        let mut all = trace(9, "a", 1);
        all.append(trace(4, "b", 2));
        all.append(trace(9, "c", 3));
        let names: Vec<_> = all.threads.iter().map(|t| (t.tid, &*t.name)).collect();
        assert_eq!(names, [(4, "b"), (9, "c")]);
        for (place, event) in all.events.iter().enumerate() {
            let port = event.at.get() as usize;
            match event.what {
                What::Read { socket, .. } => {
                    assert_eq!(all.sockets[socket as usize].local.port(), port as u16);
                }
                What::Switch { stack, .. } => {
                    let frame = all.stacks[stack as usize][0] as usize;
                    assert_eq!(all.frames[frame].function, ["a", "b", "c"][port - 1]);
                }
                What::Sample { stack, .. } => assert_eq!(stack, NO_STACK),
                _ => panic!("{place}"),
            }
        }
    }

    #[test]
    fn events_are_small() {
        assert!(size_of::<Event>() <= 40);
    }

    #[test]
    fn type_arguments_of_go_are_left_out() {
        let frame = |function: &str| Frame {
            function: function.to_owned(),
            module: String::new(),
            source: String::new(),
        };
        let generic = frame("backoff.doRetry[go.shape.struct { Seat int \"json:[a]\" }].func1");
        assert_eq!(generic.to_string(), "backoff.doRetry[...].func1");
        assert_eq!(frame("main.hold").to_string(), "main.hold");
    }

    #[test]
    fn codes_are_positions() {
        for (code, depth) in Depth::ALL.iter().enumerate() {
            assert_eq!(*depth as usize, code);
        }
        for (code, left) in Left::ALL.iter().enumerate() {
            assert_eq!(*left as usize, code);
        }
        for (code, context) in Context::ALL.iter().enumerate() {
            assert_eq!(*context as usize, code);
        }
        for (code, call) in Call::ALL.iter().enumerate() {
            assert_eq!(*call as usize, code);
        }
    }
}
