//! What a stack tells of the wait that it was taken in.

use slowpath_core::trace::{Call, Frame, NO_STACK, Trace};

use super::index::Off;

/// What the functions on a stack are known for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The call that it is in.
    pub(crate) call: Option<Call>,
    /// What it waits for, of the two that a futex may be.
    pub(crate) waits: Option<Waits>,
    /// Whether it waits for a disk.
    pub(crate) disk: bool,
    /// Whether it is a scheduler in user space that has nothing to run.
    pub(crate) idle: bool,
    /// Whether the functions of the program have names.
    pub(crate) named: bool,
}

/// What a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// That somebody lets go of a lock.
    Lock,
    /// That somebody says that something has come about.
    Condition,
}

/// The facts of every stack of a trace.
#[derive(Debug)]
pub(crate) struct Stacks(Vec<Facts>);

impl Stacks {
    /// The call that a thread was in while it was off the CPUs: where it stood tells, or else the
    /// call that it entered last, which may be over.
    pub(crate) fn call_in(&self, off: &Off) -> Option<Call> {
        self.facts(off.stack).call.or(off.call)
    }

    pub(crate) fn of(trace: &Trace) -> Self {
        let frames: Vec<Own> = trace.frames.iter().map(Own::of).collect();
        let stack = |stack: &Vec<u32>| {
            let known = stack.iter().filter_map(|&f| frames.get(f as usize));
            Facts::of(known)
        };
        Self(trace.stacks.iter().map(stack).collect())
    }

    pub(crate) fn facts(&self, stack: u32) -> Facts {
        if stack == NO_STACK {
            return Facts::default();
        }
        self.0.get(stack as usize).copied().unwrap_or_default()
    }
}

/// Functions of the kernel that threads wait in, by call (`kernel/futex`, `kernel/time/hrtimer.c`,
/// `fs/eventpoll.c`, `fs/select.c`, `net`, `fs/pipe.c`, `fs/sync.c`, `fs/locks.c`).
const KERNEL: &[(Call, &[&str])] = &[
    (
        Call::Futex,
        &[
            "futex_do_wait",
            "futex_wait_queue",
            "futex_wait",
            "futex_lock_pi",
        ],
    ),
    (
        Call::Sleep,
        &["do_nanosleep", "hrtimer_nanosleep", "common_nsleep"],
    ),
    (
        Call::Poll,
        &[
            "ep_poll",
            "do_epoll_wait",
            "do_poll",
            "do_sys_poll",
            "do_select",
            "core_sys_select",
        ],
    ),
    (
        Call::Read,
        &[
            "sk_wait_data",
            "tcp_recvmsg",
            "tcp_recvmsg_locked",
            "unix_stream_read_generic",
            "__skb_wait_for_more_packets",
            "pipe_read",
            "anon_pipe_read",
            "eventfd_read",
        ],
    ),
    (
        Call::Write,
        &[
            "sk_stream_wait_memory",
            "pipe_write",
            "anon_pipe_write",
            "sock_alloc_send_pskb",
        ],
    ),
    (
        Call::Connect,
        &[
            "inet_wait_for_connect",
            "__inet_stream_connect",
            "unix_stream_connect",
        ],
    ),
    (
        Call::Accept,
        &["inet_csk_accept", "inet_csk_wait_for_connect"],
    ),
    (
        Call::Sync,
        &[
            "vfs_fsync_range",
            "do_fsync",
            "file_write_and_wait_range",
            "jbd2_log_wait_commit",
            "ksys_sync_file_range",
        ],
    ),
    (
        Call::FileLock,
        &[
            "flock_lock_inode_wait",
            "posix_lock_inode_wait",
            "locks_lock_inode_wait",
        ],
    ),
    (Call::Wait, &["do_wait", "kernel_wait4", "kernel_waitid"]),
];

/// Functions of the kernel that wait for a disk.
const DISK: &[&str] = &[
    "io_schedule",
    "folio_wait_bit_common",
    "bit_wait_io",
    "submit_bio_wait",
    "rq_qos_wait",
    "blk_mq_get_tag",
    "jbd2_log_wait_commit",
    "wait_on_page_writeback",
    "folio_wait_writeback",
];

/// Parts of names of functions in programs and their libraries, and what one who waits in them
/// waits for: the C library, C++, Rust, the Java virtual machine and its library, CPython, libuv.
/// What serves both (`sem_wait`, `Unsafe_Park`, CPython's `PyThread_acquire_lock_timed`) is left
/// out.
const WAITS: &[(Waits, &[&str])] = &[
    (
        Waits::Lock,
        &[
            "pthread_mutex_lock",
            "pthread_mutex_timedlock",
            "pthread_mutex_clocklock",
            "lll_lock_wait",
            "lll_mutex_lock",
            "pthread_rwlock_",
            "lock_contended",
            "RawMutex::lock_slow",
            "RawRwLock::lock_",
            "ReentrantLock",
            "ReentrantReadWriteLock",
            "ObjectMonitor::enter",
            "ObjectSynchronizer::enter",
            "complete_monitor_locking",
            "take_gil",
            "PyMutex_Lock",
            "uv_mutex_lock",
            "uv_rwlock_",
        ],
    ),
    (
        Waits::Condition,
        &[
            "Condvar",
            "condvar",
            "condition_variable",
            "thread::park",
            "Parker::park",
            "ObjectMonitor::wait",
            "Object.wait",
            "CompletableFuture",
            "FutureTask",
            "CountDownLatch",
            "BlockingQueue",
            "SynchronousQueue",
            "uv_cond_",
            "_queue_SimpleQueue_get",
            "pthread_barrier_wait",
            "mpsc",
            "crossbeam_channel",
            "pthread_join",
            "pthread_clockjoin",
        ],
    ),
];

/// The kernel's own locks, which block whoever wants them (`kernel/locking`).
const KERNEL_LOCKS: &[&str] = &[
    "rwsem_down_read_slowpath",
    "rwsem_down_write_slowpath",
    "__mutex_lock",
    "mutex_lock",
    "down_read",
    "down_write",
];

/// Waiting for a condition, if nothing further out is known: locks of CPython and of the Java
/// virtual machine are made of it.
const CONDITION: &str = "pthread_cond_";

/// Functions that Go's scheduler has on its stack, and goroutines never (`runtime/proc.go`).
const GO_IDLE: &[&str] = &[
    "runtime.schedule",
    "runtime.mcall",
    "runtime.sysmon",
    "runtime.templateThread",
    "runtime.mstart1",
    "runtime.findRunnable",
    "runtime.findrunnable",
    "runtime.stopm",
    "runtime.mPark",
    "runtime.netpoll",
    "runtime.stealWork",
    "runtime.gcBgMarkWorker",
];

/// Where schedulers of other runtimes stand when they have nothing to run: rayon's, .NET's, the
/// BEAM's.
const IDLE: &[&str] = &[
    "rayon_core::sleep",
    "PortableThreadPool",
    "erts_check_io",
    "scheduler_wait",
];

/// What stands between the kernel and the function of a runtime that waits: libraries.
const LIBRARIES: &[&str] = &[
    "std::",
    "<std::",
    "core::",
    "<core::",
    "mio::",
    "<mio::",
    "parking_lot",
];

/// What one function tells.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    facts: Facts,
    /// Whether it may be a condition, if nothing further out is known.
    condition: bool,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// The kernel's.
    Kernel,
    /// A library's, between the kernel and who waits.
    Library,
    /// Where tokio waits for something to do.
    TokioIdle,
    #[default]
    Program,
}

impl Facts {
    /// Of a stack: the innermost function that is known for something decides.
    fn of<'a>(stack: impl Iterator<Item = &'a Own>) -> Self {
        let mut facts = Self::default();
        let (mut condition, mut leaf) = (false, true);
        for own in stack {
            facts.call = facts.call.or(own.facts.call);
            facts.waits = facts.waits.or(own.facts.waits);
            facts.disk |= own.facts.disk;
            facts.idle |= own.facts.idle || (leaf && own.kind == Kind::TokioIdle);
            facts.named |= own.facts.named;
            condition |= own.condition;
            leaf &= matches!(own.kind, Kind::Kernel | Kind::Library);
        }
        facts.waits = facts.waits.or(condition.then_some(Waits::Condition));
        facts
    }
}

impl Own {
    fn of(frame: &Frame) -> Self {
        if frame.module == "kernel" {
            return Self::of_kernel(&frame.function);
        }
        let function = frame.function.as_str();
        let known = |names: &[&str]| names.iter().any(|name| function.contains(name));
        let sleeps = function.ends_with("nanosleep")
            || ["usleep", "JVM_Sleep"].contains(&function)
            || function.starts_with("JavaThread::sleep");
        let library = LIBRARIES.iter().any(|name| function.starts_with(name))
            || frame.module.starts_with("libc.")
            || frame.module.starts_with("libpthread")
            || ["syscall", "futex_wait"].contains(&function);
        let tokio = function.contains("tokio::runtime::")
            && known(&["::park", "::Driver::", "::run_worker"]);
        Self {
            facts: Facts {
                call: sleeps.then_some(Call::Sleep),
                waits: WAITS.iter().find(|(_, n)| known(n)).map(|(w, _)| *w),
                disk: false,
                idle: GO_IDLE.contains(&function) || known(IDLE),
                named: !function.starts_with("0x") && !function.starts_with('['),
            },
            condition: function.contains(CONDITION),
            kind: match (tokio, library) {
                (true, _) => Kind::TokioIdle,
                (false, true) => Kind::Library,
                (false, false) => Kind::Program,
            },
        }
    }

    fn of_kernel(function: &str) -> Self {
        // The compiler's copies of a function have a suffix.
        let plain = function.split(['.', '+']).next().unwrap_or(function);
        let call = KERNEL.iter().find(|(_, names)| names.contains(&plain));
        Self {
            facts: Facts {
                call: call.map(|(call, _)| *call),
                waits: KERNEL_LOCKS.contains(&plain).then_some(Waits::Lock),
                disk: DISK.contains(&plain),
                ..Facts::default()
            },
            condition: false,
            kind: Kind::Kernel,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(stack: &[(&str, &str)]) -> Facts {
        let frame = |&(function, module): &(&str, &str)| Frame {
            function: function.to_owned(),
            module: module.to_owned(),
            source: String::new(),
        };
        let trace = Trace {
            frames: stack.iter().map(frame).collect(),
            stacks: vec![(0..stack.len() as u32).collect()],
            ..Trace::default()
        };
        Stacks::of(&trace).facts(0)
    }

    #[test]
    fn the_innermost_function_decides() {
        let waiting = facts(&[
            ("schedule", "kernel"),
            ("futex_do_wait", "kernel"),
            ("__lll_lock_wait", "libc.so.6"),
            ("pthread_cond_wait@@GLIBC_2.3.2", "libc.so.6"),
            ("serve", "server"),
        ]);
        assert_eq!(waiting.call, Some(Call::Futex));
        assert_eq!(waiting.waits, Some(Waits::Lock), "the mutex of a condition");
        let parked = facts(&[
            ("futex_wait_queue.constprop.0", "kernel"),
            ("std::sys::sync::condvar::futex::Condvar::wait", "server"),
        ]);
        assert_eq!(
            (parked.call, parked.waits),
            (Some(Call::Futex), Some(Waits::Condition))
        );
    }

    #[test]
    fn locks_are_told_that_are_made_of_conditions() {
        let enter = facts(&[
            ("futex_do_wait", "kernel"),
            ("___pthread_cond_wait", "libc.so.6"),
            ("os::PlatformEvent::park()", "libjvm.so"),
            ("ObjectMonitor::enter(JavaThread*)", "libjvm.so"),
        ]);
        assert_eq!(enter.waits, Some(Waits::Lock));
        let gil = facts(&[
            ("___pthread_cond_timedwait64", "libc.so.6"),
            ("PyCOND_TIMEDWAIT", "python3.11"),
            ("take_gil", "python3.11"),
        ]);
        assert_eq!(gil.waits, Some(Waits::Lock));
        let plain = facts(&[("pthread_cond_wait", "libc.so.6"), ("serve", "server")]);
        assert_eq!(plain.waits, Some(Waits::Condition));
    }

    #[test]
    fn a_worker_of_tokio_is_idle_only_where_it_waits_for_tasks() {
        let worker = "tokio::runtime::scheduler::multi_thread::worker::run";
        let park = "tokio::runtime::scheduler::multi_thread::park::Inner::park_condvar";
        let wait = ("std::sys::sync::condvar::futex::Condvar::wait", "server");
        assert!(facts(&[("syscall", "libc.so.6"), wait, (park, "server")]).idle);
        let lock = (
            "std::sys::sync::mutex::futex::Mutex::lock_contended",
            "server",
        );
        let task = facts(&[
            ("syscall", "libc.so.6"),
            lock,
            ("handle", "server"),
            (worker, "server"),
        ]);
        assert!(!task.idle && task.named);
        assert_eq!(task.waits, Some(Waits::Lock));
    }

    #[test]
    fn runtimes_disks_and_sleeps_are_known() {
        let go = facts(&[("futex_wait", "kernel"), ("runtime.stopm", "server")]);
        assert!(go.idle);
        let disk = facts(&[("io_schedule", "kernel"), ("filemap_read", "kernel")]);
        assert!(disk.disk && disk.call.is_none());
        assert_eq!(
            facts(&[("clock_nanosleep", "libc.so.6")]).call,
            Some(Call::Sleep)
        );
        assert_eq!(facts(&[("do_nanosleep", "server")]).call, Some(Call::Sleep));
        assert!(!facts(&[("0x48be43", "server")]).named);
    }

    #[test]
    fn no_stack_tells_nothing() {
        let stacks = Stacks::of(&Trace::default());
        assert_eq!(stacks.facts(NO_STACK), Facts::default());
        assert_eq!(stacks.facts(7), Facts::default());
    }
}
