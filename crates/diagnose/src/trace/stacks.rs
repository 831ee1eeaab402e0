//! What a stack shows of the wait that it was taken in.

mod collectors;

use std::borrow::Cow;
use std::collections::BTreeSet;

use slowpath_core::trace::{Call, Frame, NO_STACK, Trace};

use super::index::Off;
use super::kernel_io::{Io, KERNEL_WORK, io_of};

/// What the functions on a stack are known for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The call that it is in.
    pub(crate) call: Option<Call>,
    /// What it waits for, of the two that a futex may be.
    pub(crate) waits: Option<Waits>,
    /// Whether it waits for a disk.
    pub(crate) disk: bool,
    /// What the kernel waits for on its behalf.
    pub(crate) io: Option<Io>,
    /// Whether it waits in a call until the kernel has done work of its own, which is none for a disk.
    pub(crate) kernel_work: bool,
    /// Whether it is a scheduler in user space that has nothing to run.
    pub(crate) idle: bool,
    /// Whether it collects garbage while the program, or its interpreter, stands still.
    pub(crate) collects: bool,
    /// Whether it tries again and again to take a lock, without being blocked.
    pub(crate) spins: bool,
    /// Whether it waits for events of many files (`epoll`): where an event loop waits when it has nothing to do. A call that
    /// blocks a loop waits for one file (`poll`, `read`).
    pub(crate) events: bool,
    /// Whether it waits for files that it has named in the call (`poll`), and for no longer than a time. Few programs sleep with this
    /// call (interpreters of Ruby do).
    pub(crate) polls: bool,
    /// Whether a database waits for other transactions to join a commit.
    pub(crate) joins_commit: bool,
    /// Whether the functions of the program have names.
    pub(crate) named: bool,
}

/// What a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// That a thread releases a lock.
    Lock,
    /// That a thread signals a condition.
    Condition,
    /// That it is let into an interpreter that one thread runs at a time.
    Interpreter,
}

/// The facts of every stack of a trace.
#[derive(Debug)]
pub(crate) struct Stacks(Vec<Facts>);

impl Stacks {
    /// The call that a thread was in while it was off the CPUs: where it stood decides, or else the
    /// call that it entered last, which may be over.
    pub(crate) fn call_in(&self, off: &Off) -> Option<Call> {
        self.facts(off.stack).call.or(off.call)
    }

    pub(crate) fn of(trace: &Trace) -> Self {
        let mut frames: Vec<Own> = trace.frames.iter().map(Own::of).collect();
        let mut collects: Vec<bool> = frames.iter().map(|own| own.facts.collects).collect();
        collectors::mark(trace, &mut collects);
        for (own, collects) in frames.iter_mut().zip(collects) {
            own.facts.collects = collects;
        }
        let stack = |stack: &Vec<u32>| {
            let known = stack.iter().filter_map(|&f| frames.get(f as usize));
            Facts::of(known)
        };
        let mut all: Vec<Facts> = trace.stacks.iter().map(stack).collect();
        let is = |facts: &Facts, waits| facts.waits == Some(waits);
        let known = trace.stacks.iter().zip(&all);
        let known = known.filter(|(_, facts)| is(facts, Waits::Interpreter));
        let doors: BTreeSet<&Frame> = known.filter_map(|(stack, _)| door(trace, stack)).collect();
        for (stack, facts) in trace.stacks.iter().zip(&mut all) {
            let lets_in = is(facts, Waits::Condition)
                && door(trace, stack).is_some_and(|door| doors.contains(door));
            if lets_in {
                facts.waits = Some(Waits::Interpreter);
            }
        }
        Self(all)
    }

    pub(crate) fn facts(&self, stack: u32) -> Facts {
        if stack == NO_STACK {
            return Facts::default();
        }
        self.0.get(stack as usize).copied().unwrap_or_default()
    }
}

/// The function of Ruby that waits for a condition: one that lets threads into the interpreter on one
/// stack does so on all, and the one that sleeps is another. Neither need have a name.
fn door<'t>(trace: &'t Trace, stack: &[u32]) -> Option<&'t Frame> {
    let mut frames = stack.iter().filter_map(|&f| trace.frames.get(f as usize));
    frames.find(|frame| frame.function == "rb_native_cond_wait")?;
    frames.next()
}

/// Functions of databases in which a commit waits for others to join it (`sql/log.cc` of MariaDB, `sql/rpl_commit_stage_manager.cc` of
/// MySQL). Others that commit wait for a disk, a lock or a replica.
const JOINED_COMMITS: [&str; 2] = ["wait_for_sufficient_commits", "wait_count_or_timeout"];

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

/// Beginnings of functions that collect garbage while all else in the program stands still: CPython (`Modules/gcmodule.c`), Ruby
/// (`gc.c`, with those that extensions mark objects by), PHP (`Zend/zend_gc.c`), V8 (`src/heap`), GHC (`rts/sm`), OCaml
/// (`runtime/major_gc.c`, `minor_gc.c`, `compact.c`), the collector of Boehm, Demers and Weiser.
const COLLECTORS: &[&str] = &[
    "gc_collect_main",
    "gc_collect_generations",
    "visit_reachable",
    "visit_decref",
    "deduce_unreachable",
    "gc_start",
    "gc_marks",
    "rb_gc_start",
    "rb_gc_mark",
    "rb_mark_",
    "zend_gc_collect_cycles",
    "v8::internal::Heap::CollectGarbage",
    "v8::internal::MarkCompactCollector",
    "v8::internal::Scavenger",
    "GarbageCollect",
    "scavenge_",
    "evacuate",
    "caml_empty_minor_heap",
    "caml_major_collection_slice",
    "caml_finish_major_cycle",
    "caml_compact",
    "GC_stopped_mark",
    "GC_mark_",
    "GC_try_to_collect",
];

/// The end of the names that functions of CPython have which visit what an object refers to: the collector alone calls
/// them.
const VISITORS: &str = ".tp_traverse";

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
/// What serves both (`sem_wait`, CPython's `PyThread_acquire_lock_timed`) is left out.
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
            // Rust's mutexes and reader-writer locks: `lock_contended`, `read_contended`, `write_contended`.
            "_contended",
            "sync::once::",
            "RawMutex::lock_slow",
            "RawRwLock::lock_",
            "ReentrantLock",
            "ReentrantReadWriteLock",
            "ObjectMonitor::enter",
            "ObjectSynchronizer::enter",
            "complete_monitor_locking",
            "PyMutex_Lock",
            "uv_mutex_lock",
            "uv_rwlock_",
            "g_mutex_lock_slowpath",
            "g_rw_lock_",
            "Mutex::LockSlow",
            "mutex_lock_slow",
            "StampedLock",
        ],
    ),
    (
        Waits::Condition,
        &[
            "Condvar",
            "condvar",
            "condition_variable",
            "ObjectMonitor::wait",
            // The same, where the virtual machine has no other names than those that it exports.
            "JVM_MonitorWait",
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
            "mpmc",
            "crossbeam_channel",
            "pthread_join",
            "pthread_clockjoin",
        ],
    ),
    (
        Waits::Interpreter,
        &[
            "take_gil",
            "drop_gil",
            "PyEval_RestoreThread",
            "PyEval_SaveThread",
            "PyEval_AcquireThread",
            "PyGILState_Ensure",
            "PyThreadState_Attach",
            "RPyGilAcquire",
            "gvl_acquire",
            "gvl_yield",
            "rb_threadptr_execute_interrupts",
            "rb_thread_io_blocking_region",
            "rb_io_wait",
            "rb_nogvl",
            "rb_thread_call_without_gvl",
            "thread_sched_to_running",
            "thread_sched_wait_running_turn",
            "thread_sched_yield",
        ],
    ),
];

/// The kernel's own locks, which block the threads that want them (`kernel/locking`).
const KERNEL_LOCKS: &[&str] = &[
    "rwsem_down_read_slowpath",
    "rwsem_down_write_slowpath",
    "__mutex_lock",
    "mutex_lock",
    "down_read",
    "down_write",
];

/// Waiting for a condition, if nothing further out is known: locks of CPython and of Rust's libraries are
/// made of it.
const CONDITIONS: &[&str] = &["pthread_cond_", "thread::park"];

/// What both locks and conditions of Java's library end in (`LockSupport.park`): where the functions above
/// have no names, as those that were compiled while the program ran, it is not known which.
const EITHER: &[&str] = &["Parker::park", "PlatformEvent::park"];
/// Files whose functions without a name may be any of those: distributions strip Java's virtual machine, whose
/// monitors wait in conditions of the C library.
const EITHER_FILES: &[&str] = &["libjvm"];

/// Locks that are waited for on a CPU: of POSIX, of glib, folly and abseil, of the Rust crate `spin`, of .NET, and by the usual name.
const SPIN_LOCKS: &[&str] = &[
    "pthread_spin_lock",
    "spin::mutex::",
    "spin::rwlock::",
    "SpinLock",
    "SpinMutex",
    "spin_lock",
    "spinlock",
    "SpinWait",
];

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

/// What stands between the kernel and the function that waits, of a runtime or of the program:
/// libraries, by the beginnings of their functions …
const LIBRARIES: &[&str] = &[
    "std::",
    "core::",
    "mio::",
    "parking_lot",
    "lock_api::",
    // The C library, if it is part of the program.
    "__",
    "pthread_",
    "boost::",
    "java.",
    "Ljava/",
    "jdk.",
    "sun.",
];
/// … and by the beginnings of their files' names.
const LIBRARY_FILES: &[&str] = &[
    "libc.",
    "libc-",
    "libpthread",
    "libstdc++",
    "libc++",
    "libjvm",
    "ld-",
];
/// Interpreters: what a script waits for is known by their functions.
const INTERPRETERS: &[&str] = &[
    "python",
    "libpython",
    "ruby",
    "libruby",
    "perl",
    "libperl",
    "php",
];
/// CPython waits in conditions of the C library for its own lock only: what its programs wait for are
/// semaphores there (`Python/thread_pthread.h`, `Python/ceval_gil.c`). So a condition that is waited
/// for in the interpreter's file is its lock, also where its functions have no names.
const WAITS_TO_BE_LET_IN: &[&str] = &["python", "libpython"];

/// What one function shows.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    facts: Facts,
    /// Whether it may be a condition, if nothing further out is known.
    condition: bool,
    /// Whether a condition that it waits for itself is an interpreter's lock.
    let_in: bool,
    /// Whether it may be a lock as well, if nothing further out is known.
    either: bool,
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
    /// Of a stack: the innermost function that is known for something decides. What a wait is for,
    /// functions show up to the first of the program's own: those further out did not ask for it.
    fn of<'a>(stack: impl Iterator<Item = &'a Own>) -> Self {
        let mut facts = Self::default();
        let (mut condition, mut either, mut leaf) = (false, false, true);
        // Whether the one who called the C library's condition was met.
        let mut asked = false;
        for own in stack {
            facts.call = facts.call.or(own.facts.call);
            // Java sleeps at a futex that no thread wakes.
            if leaf && own.facts.call == Some(Call::Sleep) {
                facts.call = own.facts.call;
            }
            let asks = condition && !own.condition && !asked;
            asked |= asks;
            // Its lock has a mutex, which a waiter takes in passing.
            let is_let_in = own.facts.waits == Some(Waits::Interpreter) || (asks && own.let_in);
            if leaf && is_let_in {
                facts.waits = Some(Waits::Interpreter);
            } else if leaf {
                facts.waits = facts.waits.or(own.facts.waits);
            }
            facts.disk |= own.facts.disk;
            facts.kernel_work |= own.facts.kernel_work;
            facts.io = match (facts.io, own.facts.io) {
                (Some(inner), outer) => Some(inner.with_outer(outer)),
                (None, outer) => outer,
            };
            facts.events |= own.facts.events;
            facts.polls |= own.facts.polls;
            facts.joins_commit |= own.facts.joins_commit;
            facts.collects |= own.facts.collects;
            facts.spins |= own.facts.spins;
            facts.idle |= own.facts.idle || (leaf && own.kind == Kind::TokioIdle);
            facts.named |= own.facts.named;
            condition |= own.condition && leaf;
            either |= own.either && leaf;
            leaf &= matches!(own.kind, Kind::Kernel | Kind::Library);
        }
        facts.kernel_work &= !facts.disk && facts.io.is_none();
        facts.waits = facts
            .waits
            .or((condition && !either).then_some(Waits::Condition));
        facts
    }
}

/// The path of a function as Rust wrote it before its symbol names of version 0 (RFC 2603): `<a::Type>::method` and
/// `<a::Type as Trait>::method` are `a::Type::method`.
fn path(function: &str) -> Cow<'_, str> {
    let Some(rest) = function.strip_prefix('<') else {
        return Cow::Borrowed(function);
    };
    let (mut depth, mut before) = (1_u32, ' ');
    let (mut own_end, mut close) = (None, None);
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            // An arrow is no bracket: `fn() -> T`.
            '>' if before != '-' => depth -= 1,
            ' ' if depth == 1 && own_end.is_none() && rest[at..].starts_with(" as ") => {
                own_end = Some(at);
            }
            _ => {}
        }
        before = c;
        if depth == 0 {
            close = Some(at);
            break;
        }
    }
    let Some(close) = close else {
        return Cow::Borrowed(function);
    };
    let own = &rest[..own_end.unwrap_or(close)];
    Cow::Owned(format!("{own}{}", &rest[close + 1..]))
}

impl Own {
    fn of(frame: &Frame) -> Self {
        if frame.module == "kernel" {
            return Self::of_kernel(&frame.function);
        }
        let function = path(&frame.function);
        let function = function.as_ref();
        let known = |names: &[&str]| names.iter().any(|name| function.contains(name));
        let sleeps = function.ends_with("nanosleep")
            || ["usleep", "JVM_Sleep"].contains(&function)
            || function.starts_with("JavaThread::sleep");
        let of_file = |names: &[&str]| names.iter().any(|name| frame.module.starts_with(name));
        let library = LIBRARIES.iter().any(|name| function.starts_with(name))
            || of_file(LIBRARY_FILES)
            || of_file(INTERPRETERS)
            || ["syscall", "futex_wait"].contains(&function);
        let nameless = function.starts_with("0x") || function.starts_with('[');
        let tokio = function.contains("tokio::runtime::")
            && known(&["::park", "::Driver::", "::run_worker"]);
        Self {
            facts: Facts {
                call: sleeps.then_some(Call::Sleep),
                waits: WAITS.iter().find(|(_, n)| known(n)).map(|(w, _)| *w),
                disk: false,
                io: None,
                kernel_work: false,
                idle: GO_IDLE.contains(&function) || known(IDLE),
                events: function.starts_with("epoll_"),
                polls: false,
                joins_commit: known(&JOINED_COMMITS),
                collects: COLLECTORS.iter().any(|name| function.starts_with(name))
                    || function.ends_with(VISITORS),
                spins: known(SPIN_LOCKS),
                named: !library && !nameless,
            },
            condition: known(CONDITIONS),
            let_in: of_file(WAITS_TO_BE_LET_IN),
            either: known(EITHER) || nameless && of_file(EITHER_FILES),
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
                io: io_of(plain),
                kernel_work: KERNEL_WORK.contains(&plain),
                events: ["ep_poll", "do_epoll_wait"].contains(&plain),
                polls: ["do_poll", "do_sys_poll"].contains(&plain),
                ..Facts::default()
            },
            condition: false,
            let_in: false,
            either: false,
            kind: Kind::Kernel,
        }
    }
}

#[cfg(test)]
#[path = "stacks_tests.rs"]
mod tests;
