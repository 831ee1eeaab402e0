//! What a goroutine does, by where it stands.
//!
//! The names are those of Go's runtime and standard library, `src/runtime`, `src/sync`,
//! `src/internal/poll` and `src/syscall`.

use slowpath_core::profiles::{CodeLine, UNNAMED};

/// What a goroutine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Does {
    /// It waits for a `sync.Mutex` or `sync.RWMutex`.
    WaitsForLock,
    /// It waits for something else.
    Waits(&'static str),
    /// It runs, or would if it had a CPU.
    Works,
    /// It was parked by the runtime, and for what is not known.
    Unknown,
}

/// Functions that keep a lock's waiters, and what comes before they wait.
const LOCKS: &[&str] = &[
    "sync.(*Mutex).Lock",
    "sync.(*Mutex).lockSlow",
    "internal/sync.(*Mutex).Lock",
    "internal/sync.(*Mutex).lockSlow",
    "sync.(*RWMutex).Lock",
    "sync.(*RWMutex).RLock",
];
/// How names begin of what a wait consists of.
const INNER: &[&str] = &["runtime.", "sync.", "internal/sync."];

/// Who answers requests: the function that the handler's goroutine began with.
const HANDLERS: &[&str] = &[
    "net/http.(*conn).serve",
    "net/http.(*http2serverConn).runHandler",
    "golang.org/x/net/http2.(*serverConn).runHandler",
    "google.golang.org/grpc.(*Server).handleStream",
    "google.golang.org/grpc/internal/transport.(*http2Server).HandleStreams",
    "github.com/valyala/fasthttp.(*workerPool).workerFunc",
];

/// Calls that say what a wait is for, completing "while it …"; the first that is on a stack
/// decides.
const CALLS: &[(&str, &str)] = &[
    ("database/sql.", "waits for a database"),
    (
        "google.golang.org/grpc.(*ClientConn)",
        "waits for another server to answer",
    ),
    (
        "net/http.(*Transport).roundTrip",
        "waits for another server to answer",
    ),
    ("net.(*Resolver)", "looks a name up"),
    ("net.(*Dialer)", "connects to another host"),
    ("os.(*File).Sync", "waits until the disk has taken data"),
    ("os.(*File).Write", "writes to a file"),
    ("os.(*File).Read", "reads from a file"),
    ("os/exec.(*Cmd)", "waits for another process"),
];

/// Waits by the function of the runtime that they are in.
const WAITS: &[(&str, &str)] = &[
    ("time.Sleep", "sleeps"),
    (
        "internal/poll.runtime_pollWait",
        "waits for data from a socket or a pipe",
    ),
    ("runtime.chanrecv", "waits for another goroutine"),
    ("runtime.chansend", "waits for another goroutine"),
    ("runtime.selectgo", "waits for another goroutine"),
    ("sync.(*WaitGroup).Wait", "waits for other goroutines"),
    ("sync.(*Cond).Wait", "waits for another goroutine"),
];

/// How names begin of what calls the kernel.
const SYSCALLS: &[&str] = &[
    "syscall.",
    "runtime/internal/syscall.",
    "golang.org/x/sys/unix.",
];

impl Does {
    /// What a goroutine with this stack does, innermost place first.
    pub(super) fn of(stack: &[&CodeLine]) -> Self {
        let Some(first) = stack.first() else {
            return Self::Works;
        };
        let inner = stack.iter().map(|line| line.function.as_str());
        let inner: Vec<&str> = inner.take_while(|f| is_inner(f)).collect();
        let slow = |f: &&str| f.contains("lockSlow") || f.contains("Semacquire");
        if inner.iter().any(slow) && inner.iter().any(|f| LOCKS.contains(f)) {
            return Self::WaitsForLock;
        }
        let parked = first.function.starts_with("runtime.gopark");
        let mut outer = stack.iter().map(|line| line.function.as_str());
        let outer =
            outer.find(|f| !f.starts_with("runtime.") && !f.starts_with("internal/runtime/"));
        let in_kernel = SYSCALLS
            .iter()
            .any(|s| outer.is_some_and(|f| f.starts_with(s)));
        if !parked && !in_kernel {
            return Self::Works;
        }
        let begins = |what: &str| stack.iter().any(|line| line.function.starts_with(what));
        // What stands nearest says most: a sleep in a handler of a client is a sleep.
        if begins("time.Sleep") {
            return Self::Waits("sleeps");
        }
        if begins("runtime.gcParkAssist") || begins("runtime.gcMarkDone") {
            // It collects garbage, as who runs does.
            return Self::Works;
        }
        let mut told = CALLS.iter().chain(WAITS);
        match told.find(|(what, _)| begins(what)) {
            Some((_, does)) => Self::Waits(does),
            None if in_kernel => Self::Waits("is in a system call"),
            None if inner.iter().any(|f| f.ends_with(UNNAMED)) => Self::Unknown,
            None => Self::Waits("waits"),
        }
    }
}

/// Whether a function is part of how a goroutine waits, or releases a lock.
fn is_inner(function: &str) -> bool {
    INNER.iter().any(|name| function.starts_with(name))
}

/// Whether a stack is that of a goroutine that answers a request.
pub(super) fn answers(stack: &[&CodeLine]) -> bool {
    let known = |line: &&CodeLine| HANDLERS.contains(&line.function.as_str());
    stack.iter().rev().any(known)
}

/// The function that a goroutine began with, under the program's name for it.
pub(super) fn began_with<'p>(stack: &[&'p CodeLine]) -> Option<&'p str> {
    let mut names = stack.iter().rev().map(|line| line.function.as_str());
    names.find(|f| !f.starts_with("runtime."))
}

/// Whether a function was made by the compiler around a statement (`go f(x)`, `defer f(x)`):
/// one kind of profile shows these and another does not.
pub(super) fn is_made(function: &str) -> bool {
    const MADE: &[&str] = &[".gowrap", ".deferwrap"];
    let numbered = |made: &&str| {
        let number = function.rsplit_once(*made).map(|(_, number)| number);
        number.is_some_and(|n| n.bytes().all(|digit| digit.is_ascii_digit()))
    };
    MADE.iter().any(numbered) || function == "runtime.goexit"
}

/// A place that releases a lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site<'p> {
    /// The function that keeps the lock.
    pub(super) function: &'p str,
    /// Who called it, innermost first.
    pub(super) callers: Vec<&'p CodeLine>,
}

impl<'p> Site<'p> {
    /// The place that a stack of the mutex profile speaks of, with its line; `None` for a lock of
    /// the runtime itself. The flag says that any number of goroutines may keep the lock at once.
    pub(super) fn of(stack: &[&'p CodeLine]) -> Option<(Self, u32, bool)> {
        let inner = |line: &&&CodeLine| is_inner(&line.function);
        let at = stack.iter().take_while(inner).count();
        let lets_go = |line: &&CodeLine| {
            line.function.starts_with("sync.") && line.function.ends_with("nlock")
        };
        if !stack[..at].iter().any(lets_go) {
            return None;
        }
        let shared = |line: &&CodeLine| line.function == "sync.(*RWMutex).RUnlock";
        let shared = stack[..at].iter().any(shared);
        let own = stack.get(at)?;
        let site = Self {
            function: &own.function,
            callers: stack[at + 1..].to_vec(),
        };
        Some((site, own.line, shared))
    }

    /// In which line of its function a goroutine stands; `None` if it is not in it, called from
    /// there.
    pub(super) fn line_of(&self, stack: &[&CodeLine]) -> Option<u32> {
        let own = stack.len().checked_sub(self.callers.len() + 1)?;
        (stack[own].function == self.function && stack[own + 1..] == self.callers[..])
            .then_some(stack[own].line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack of `function:line` words, innermost first.
    fn stack(text: &str) -> Vec<CodeLine> {
        let words = text.split(' ');
        let line = |word: &str| {
            let (function, line) = word.rsplit_once(':').unwrap_or((word, "0"));
            CodeLine {
                function: function.to_owned(),
                file: "main.go".to_owned(),
                line: line.parse().unwrap(),
            }
        };
        words.map(line).collect()
    }

    fn does(text: &str) -> Does {
        Does::of(&stack(text).iter().collect::<Vec<_>>())
    }

    #[test]
    fn locks_are_told_from_what_looks_like_them() {
        for lock in [
            "runtime.gopark runtime.goparkunlock runtime.semacquire1 \
             internal/sync.runtime_SemacquireMutex internal/sync.(*Mutex).lockSlow \
             internal/sync.(*Mutex).Lock sync.(*Mutex).Lock main.handle",
            "runtime.gopark runtime.semacquire1 sync.runtime_SemacquireRWMutexRLock \
             sync.(*RWMutex).RLock main.handle",
            "runtime.gopark runtime.semacquire1 sync.runtime_SemacquireMutex \
             sync.(*Mutex).lockSlow sync.(*Mutex).Lock sync.(*Once).doSlow sync.(*Once).Do main.f",
        ] {
            assert_eq!(does(lock), Does::WaitsForLock, "{lock}");
        }
        for other in [
            "runtime.gopark runtime.goparkunlock sync.runtime_notifyListWait sync.(*Cond).Wait main.f",
            "runtime.gopark runtime.semacquire1 sync.runtime_SemacquireWaitGroup \
             sync.(*WaitGroup).Wait main.handle",
            "runtime.gopark runtime.chanrecv runtime.chanrecv1 main.acquire main.handle",
            "sync.(*Mutex).Lock main.handle",
            "sync.(*Mutex).Unlock main.handle",
            "runtime.gopark internal/poll.runtime_pollWait net.(*conn).Read main.handle",
        ] {
            assert_ne!(does(other), Does::WaitsForLock, "{other}");
        }
    }

    #[test]
    fn waits_are_named_by_what_they_are_for() {
        for (text, what) in [
            (
                "runtime.gopark time.Sleep main.flush",
                Does::Waits("sleeps"),
            ),
            (
                "runtime.gopark runtime.selectgo net/http.(*persistConn).roundTrip \
                 net/http.(*Transport).roundTrip main.flush",
                Does::Waits("waits for another server to answer"),
            ),
            (
                "syscall.Syscall syscall.fsync os.(*File).Sync main.flush",
                Does::Waits("waits until the disk has taken data"),
            ),
            (
                "syscall.Syscall syscall.flock main.f",
                Does::Waits("is in a system call"),
            ),
            ("runtime.gopark main.f", Does::Waits("waits")),
            ("runtime.gopark runtime.? main.f", Does::Unknown),
            ("runtime.? main.f", Does::Works),
            ("runtime.asyncPreempt main.compute", Does::Works),
            ("main.compute", Does::Works),
        ] {
            assert_eq!(does(text), what, "{text}");
        }
        assert_eq!(Does::of(&[]), Does::Works);
    }

    #[test]
    fn a_site_is_where_a_lock_is_let_go_of() {
        let told = stack("sync.(*Mutex).Unlock main.flush:39 main.run:45");
        let told: Vec<&CodeLine> = told.iter().collect();
        let (site, line, shared) = Site::of(&told).unwrap();
        assert_eq!((site.function, line, shared), ("main.flush", 39, false));
        let standing = stack("runtime.gopark time.Sleep main.flush:38 main.run:45");
        let standing: Vec<&CodeLine> = standing.iter().collect();
        assert_eq!(site.line_of(&standing), Some(38));
        for other in [
            "runtime.gopark time.Sleep main.flush:38 main.run:46",
            "runtime.gopark time.Sleep main.run:45",
            "main.flush:38",
            "",
        ] {
            let other = stack(other);
            assert_eq!(site.line_of(&other.iter().collect::<Vec<_>>()), None);
        }
        let readers = stack("sync.(*RWMutex).RUnlock main.report:7");
        assert!(Site::of(&readers.iter().collect::<Vec<_>>()).unwrap().2);
        let own = stack("runtime.unlock runtime.entersyscall syscall.Syscall main.f");
        assert!(Site::of(&own.iter().collect::<Vec<_>>()).is_none());
    }

    #[test]
    fn goroutines_are_known_by_what_they_began_with() {
        for made in [
            "main.main.gowrap1",
            "main.flush.deferwrap12",
            "runtime.goexit",
        ] {
            assert!(is_made(made));
        }
        assert!(!is_made("main.gowrapped"));
        let text = "time.Sleep main.flush main.flusher runtime.main";
        let all = stack(text);
        let all: Vec<&CodeLine> = all.iter().collect();
        assert_eq!(began_with(&all), Some("main.flusher"));
        assert!(!answers(&all));
        let handler = stack("main.handle net/http.(*conn).serve");
        assert!(answers(&handler.iter().collect::<Vec<_>>()));
    }
}
