//! What can be observed: every signal is declared here once, with its unit, source and cost.

use serde::{Deserialize, Serialize};

/// What a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// A number of things or events.
    Count,
    /// Bytes.
    Bytes,
    /// A share between 0 and 1.
    Ratio,
}

/// How the values of a series relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Only grows while its subject lives; the difference of two points is what happened between.
    Counter,
    /// The state at an instant.
    Gauge,
}

/// What privilege a source needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tier {
    /// The client's own view of any server on earth.
    Client,
    /// The same host; the same user for some files.
    SameUser,
    /// `CAP_PERFMON` or root.
    Tracing,
    /// Root.
    Root,
}

/// One thing that can be observed, declared once.
#[derive(Debug)]
pub struct Signal {
    /// Its name in `timeline.parquet`.
    pub id: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// Counter or gauge.
    pub kind: Kind,
    /// The file or call it comes from.
    pub source: &'static str,
    /// The privilege its source needs.
    pub tier: Tier,
}

macro_rules! signals {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $unit:ident, $kind:ident, $tier:ident, $source:literal;)+) => {
        $($(#[$doc])*
        pub static $name: Signal = Signal {
            id: $id, unit: Unit::$unit, kind: Kind::$kind, source: $source, tier: Tier::$tier,
        };)+
        /// Every declared signal.
        pub static ALL: &[&Signal] = &[$(&$name),+];
    };
}

signals! {
    /// CPU time of a process in user mode, exited threads included.
    PROCESS_CPU_USER = "process.cpu.user_ns", Nanoseconds, Counter, SameUser, "/proc/PID/stat utime";
    /// CPU time of a process in the kernel, exited threads included.
    PROCESS_CPU_SYSTEM = "process.cpu.system_ns", Nanoseconds, Counter, SameUser, "/proc/PID/stat stime";
    /// Minor page faults of a process.
    PROCESS_FAULTS_MINOR = "process.faults.minor", Count, Counter, SameUser, "/proc/PID/stat minflt";
    /// Major page faults of a process.
    PROCESS_FAULTS_MAJOR = "process.faults.major", Count, Counter, SameUser, "/proc/PID/stat majflt";
    /// Threads of a process.
    PROCESS_THREADS = "process.threads", Count, Gauge, SameUser, "/proc/PID/stat num_threads";
    /// How long a process has lived, reported when it is first met.
    PROCESS_AGE = "process.age_ns", Nanoseconds, Gauge, SameUser, "/proc/PID/stat starttime";
    /// Resident memory of a process.
    PROCESS_RSS = "process.rss_bytes", Bytes, Gauge, SameUser, "/proc/PID/stat rss";
    /// Open file descriptors of a process.
    PROCESS_FDS = "process.fds", Count, Gauge, SameUser, "/proc/PID/fd";
    /// The soft limit on file descriptors of a process.
    PROCESS_FDS_LIMIT = "process.fds_limit", Count, Gauge, SameUser, "/proc/PID/limits";
    /// CPUs that a process may run on (affinity mask).
    PROCESS_CPUS_ALLOWED = "process.cpus_allowed", Count, Gauge, SameUser, "/proc/PID/status Cpus_allowed_list";
    /// Voluntary context switches of a process, living threads only.
    PROCESS_SWITCHES_VOLUNTARY = "process.switches.voluntary", Count, Counter, SameUser, "/proc/PID/task/TID/status";
    /// Involuntary context switches of a process, living threads only.
    PROCESS_SWITCHES_INVOLUNTARY = "process.switches.involuntary", Count, Counter, SameUser, "/proc/PID/task/TID/status";
    /// Threads of a process in a state; the label is the letter of the state.
    PROCESS_THREADS_STATE = "process.threads.state", Count, Gauge, SameUser, "/proc/PID/task/TID/stat state";
    /// Sleeping threads of a process by the kernel function they wait in; the label is its name.
    PROCESS_THREADS_WAIT = "process.threads.wait", Count, Gauge, SameUser, "/proc/PID/task/TID/wchan";
    /// Sleeping threads of a process in a system call with a time limit; the label is the name of
    /// the call (`clock_nanosleep`, `epoll_wait`, `futex`, …), or `NAME:untimed`.
    PROCESS_THREADS_CALL = "process.threads.call", Count, Gauge, SameUser, "/proc/PID/task/TID/syscall";
    /// Threads of a process that wait in a write to a file; the label is what they write to:
    /// `stdout`, `stderr` (or what is the same file), `log NAME` for a file that is called a log,
    /// `terminal`, `pipe`, `socket`, `file`.
    PROCESS_THREADS_WRITING = "process.threads.writing", Count, Gauge, SameUser, "/proc/PID/task/TID/syscall, /proc/PID/fd";
    /// Time a thread ran.
    THREAD_RUN = "thread.run_ns", Nanoseconds, Counter, SameUser, "/proc/PID/task/TID/schedstat field 1";
    /// Time a thread was runnable and waited for a CPU; includes throttling by its cgroup.
    THREAD_RUN_DELAY = "thread.run_delay_ns", Nanoseconds, Counter, SameUser, "/proc/PID/task/TID/schedstat field 2";

    /// Enforcement periods of the target's CPU controller with work in them.
    CGROUP_PERIODS = "cgroup.cpu.periods", Count, Counter, SameUser, "cpu.stat nr_periods";
    /// Enforcement periods in which the quota was used up.
    CGROUP_THROTTLED_PERIODS = "cgroup.cpu.throttled_periods", Count, Counter, SameUser, "cpu.stat nr_throttled";
    /// Time throttled, added up over the CPUs; booked when a CPU's throttling ends.
    CGROUP_THROTTLED = "cgroup.cpu.throttled_ns", Nanoseconds, Counter, SameUser, "cpu.stat throttled_time (v1), throttled_usec (v2)";
    /// CPU time of the cgroup.
    CGROUP_USAGE = "cgroup.cpu.usage_ns", Nanoseconds, Counter, SameUser, "cpuacct.usage (v1), cpu.stat usage_usec (v2)";
    /// CPU time that the cgroup may use in a period; absent without a quota.
    CGROUP_QUOTA = "cgroup.cpu.quota_ns", Nanoseconds, Gauge, SameUser, "cpu.cfs_quota_us (v1), cpu.max (v2)";
    /// Length of the enforcement period.
    CGROUP_PERIOD = "cgroup.cpu.period_ns", Nanoseconds, Gauge, SameUser, "cpu.cfs_period_us (v1), cpu.max (v2)";

    /// Complete connections waiting to be accepted at the target's listening socket.
    LISTENER_QUEUE = "listener.queue", Count, Gauge, SameUser, "INET_DIAG idiag_rqueue";
    /// The most that may wait there.
    LISTENER_BACKLOG = "listener.backlog", Count, Gauge, SameUser, "INET_DIAG idiag_wqueue";
    /// Connections that this listening socket dropped (`sk_drops`).
    LISTENER_DROPS = "listener.drops", Count, Counter, SameUser, "INET_DIAG_SKMEMINFO drops";
    /// Connected server-side sockets of the target's port.
    SERVER_SOCKETS = "server.sockets", Count, Gauge, SameUser, "INET_DIAG";
    /// Of these, those with data that the application has written and TCP holds back while
    /// earlier data is unacknowledged (`tcpi_unacked` > 0 and `tcpi_notsent_bytes` > 0 and the
    /// window would allow it): the state in which Nagle's algorithm waits.
    SERVER_SOCKETS_HELD_BACK = "server.sockets.held_back", Count, Gauge, SameUser, "INET_DIAG_INFO tcp_info";
    /// Of these, those with received data that the application has not read.
    SERVER_SOCKETS_UNREAD = "server.sockets.unread", Count, Gauge, SameUser, "INET_DIAG idiag_rqueue";
    /// Established connections that the target opened itself, to any peer.
    UPSTREAM_SOCKETS = "upstream.sockets", Count, Gauge, SameUser, "INET_DIAG and /proc/PID/fd";
    /// Connected UNIX sockets (stream, seqpacket) of the target that it did not accept at a path
    /// of its own. Both ends of a socket pair count: the process at the other end is not known here.
    UPSTREAM_UNIX_SOCKETS = "upstream.unix_sockets", Count, Gauge, SameUser, "/proc/PID/net/unix and /proc/PID/fd";
    /// UDP sockets of the target, to ask a resolver or a statistics server, or to serve.
    UPSTREAM_UDP_SOCKETS = "upstream.udp_sockets", Count, Gauge, SameUser, "/proc/PID/net/udp, udp6 and /proc/PID/fd";

    /// Busy time of all CPUs of the host.
    HOST_CPU_BUSY = "host.cpu.busy_ns", Nanoseconds, Counter, SameUser, "/proc/stat";
    /// Idle time of all CPUs of the host.
    HOST_CPU_IDLE = "host.cpu.idle_ns", Nanoseconds, Counter, SameUser, "/proc/stat";
    /// Time that the hypervisor gave to others.
    HOST_CPU_STEAL = "host.cpu.steal_ns", Nanoseconds, Counter, SameUser, "/proc/stat";
    /// CPUs that are online.
    HOST_CPUS = "host.cpus", Count, Gauge, SameUser, "/proc/stat";
    /// Time in which some task waited for a CPU.
    HOST_PSI_CPU = "host.psi.cpu_some_ns", Nanoseconds, Counter, SameUser, "/proc/pressure/cpu";
    /// Time in which some task waited for I/O.
    HOST_PSI_IO = "host.psi.io_some_ns", Nanoseconds, Counter, SameUser, "/proc/pressure/io";
    /// Time in which some task waited for memory.
    HOST_PSI_MEMORY = "host.psi.memory_some_ns", Nanoseconds, Counter, SameUser, "/proc/pressure/memory";
    /// Counters of the target's network namespace; the label is `Group.Name`, as in
    /// `TcpExt.ListenOverflows`.
    NET_COUNTER = "net.counter", Count, Counter, SameUser, "/proc/PID/net/netstat and /proc/PID/net/snmp";

    /// CPU time of slowpath in user mode.
    TOOL_CPU_USER = "tool.cpu.user_ns", Nanoseconds, Counter, Client, "/proc/self/stat";
    /// CPU time of slowpath in the kernel.
    TOOL_CPU_SYSTEM = "tool.cpu.system_ns", Nanoseconds, Counter, Client, "/proc/self/stat";
    /// Time the thread of a load loop ran. The first loop has no label; the others have their
    /// numbers, from 1.
    TOOL_LOOP_RUN = "tool.loop.run_ns", Nanoseconds, Counter, Client, "/proc/self/task/TID/schedstat field 1";
    /// Time the thread of a load loop was runnable and waited for a CPU; labelled as above.
    TOOL_LOOP_RUN_DELAY = "tool.loop.run_delay_ns", Nanoseconds, Counter, Client, "/proc/self/task/TID/schedstat field 2";
    /// `CLOCK_REALTIME` minus `CLOCK_MONOTONIC`.
    CLOCK_REALTIME_OFFSET = "clock.realtime_offset_ns", Nanoseconds, Gauge, Client, "clock_gettime";
    /// `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC`: grows while the host is suspended.
    CLOCK_BOOTTIME_OFFSET = "clock.boottime_offset_ns", Nanoseconds, Gauge, Client, "clock_gettime";
    /// `CLOCK_MONOTONIC_RAW` minus `CLOCK_MONOTONIC`: moves as the latter is slewed.
    CLOCK_RAW_OFFSET = "clock.raw_offset_ns", Nanoseconds, Gauge, Client, "clock_gettime";
    /// How long a probe took to read its sources; the label is the probe's name.
    PROBE_COST = "probe.cost_ns", Nanoseconds, Gauge, Client, "clock_gettime around a read";
}

/// The declared signal of that id.
pub fn find(id: &str) -> Option<&'static Signal> {
    ALL.iter().copied().find(|signal| signal.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_carry_their_unit() {
        for (i, a) in ALL.iter().enumerate() {
            assert!(ALL[i + 1..].iter().all(|b| a.id != b.id), "{} twice", a.id);
            let by_name = a.id.ends_with("_ns");
            assert_eq!(by_name, a.unit == Unit::Nanoseconds, "{}", a.id);
        }
    }
}
