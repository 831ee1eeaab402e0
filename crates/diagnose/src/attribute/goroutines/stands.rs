//! What a goroutine waits for, by where it stands.
//!
//! The names are those of Go's runtime and standard library, and of libraries that are the usual way to a pool or a limit: these
//! park who waits on a channel or a semaphore of their own, which says nothing of what it is for.

use slowpath_core::trace::{Does, Trace};

/// A way in which requests wait that a function is known for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Door {
    /// A place to ask another server from.
    Connections,
    /// A place in a limit.
    Permits,
    /// A reply.
    Reply,
    /// A name server.
    Resolver,
    /// A time.
    Sleep,
    /// What another request has asked for.
    Shared,
    /// Other goroutines that were started for this request.
    Children,
    /// A connection that is being made, or a place to make one.
    Dial,
}

/// Functions, or how their names begin, from which one waits so; the first that is met from the innermost frame on decides, unless a
/// pool or a shared call is made of it.
const DOORS: &[(&str, Door)] = &[
    ("time.Sleep", Door::Sleep),
    ("database/sql.(*DB).conn", Door::Connections),
    ("github.com/jackc/puddle", Door::Connections),
    (
        "github.com/redis/go-redis/v9/internal/pool.(*ConnPool).waitTurn",
        Door::Connections,
    ),
    (
        "go.mongodb.org/mongo-driver/x/mongo/driver/topology.(*pool).checkOut",
        Door::Connections,
    ),
    (
        "golang.org/x/sync/semaphore.(*Weighted).Acquire",
        Door::Permits,
    ),
    // The other server says how many streams a connection of HTTP/2 may have (SETTINGS_MAX_CONCURRENT_STREAMS, RFC 9113, 5.1.2).
    (
        "google.golang.org/grpc/internal/transport.(*http2Client).NewStream",
        Door::Permits,
    ),
    ("golang.org/x/time/rate.(*Limiter).wait", Door::Sleep),
    ("golang.org/x/sync/singleflight.(*Group).Do", Door::Shared),
    ("golang.org/x/sync/errgroup.(*Group).Wait", Door::Children),
    ("sync.(*WaitGroup).Wait", Door::Children),
    ("net.(*Resolver)", Door::Resolver),
    ("net/http.(*Transport).getConn", Door::Dial),
    ("net/http.(*persistConn).roundTrip", Door::Reply),
    ("net/http.(*http2ClientConn)", Door::Reply),
    ("net/http.(*http2clientStream)", Door::Reply),
    ("golang.org/x/net/http2.(*ClientConn)", Door::Reply),
    ("golang.org/x/net/http2.(*clientStream)", Door::Reply),
    ("google.golang.org/grpc.(*clientStream)", Door::Reply),
    ("google.golang.org/grpc.(*csAttempt)", Door::Reply),
    (
        "google.golang.org/grpc/internal/transport.(*recvBufferReader)",
        Door::Reply,
    ),
    ("os/exec.(*Cmd).Wait", Door::Reply),
];

/// Functions that keep those who wait for a mutex; names of the functions that call them follow.
const LOCKS: &[&str] = &[
    "sync.(*Mutex).",
    "sync.(*RWMutex).",
    "internal/sync.(*Mutex).",
];

/// How the names of functions begin that write logs, of Go's standard library and of what programs use instead.
const LOGGERS: &[&str] = &[
    "log.",
    "log/slog.",
    "log/syslog.",
    "go.uber.org/zap",
    "github.com/rs/zerolog",
    "github.com/sirupsen/logrus",
    "github.com/hashicorp/go-hclog",
];

/// Who reads a client's connection for the goroutine that started it, which answers.
const READ_FOR_PARENT: &[&str] = &[
    "net/http.(*connReader).backgroundRead",
    "net/http.(*http2serverConn).readFrames",
    "golang.org/x/net/http2.(*serverConn).readFrames",
];

/// The first parts of the paths of packages in Go's standard library (`go list std`): a program's own are not called so.
const STANDARD: &[&str] = &[
    "archive",
    "bufio",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "index",
    "internal",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "runtime",
    "slices",
    "sort",
    "strconv",
    "strings",
    "structs",
    "sync",
    "syscall",
    "testing",
    "text",
    "time",
    "unicode",
    "unique",
    "unsafe",
    "vendor",
    "weak",
];

/// How names begin of libraries that stand between a program and what it waits for.
const LIBRARIES: &[&str] = &[
    "golang.org/x/",
    "google.golang.org/",
    "go.mongodb.org/",
    "github.com/jackc/",
    "github.com/redis/",
    "github.com/lib/pq.",
    "github.com/go-sql-driver/",
];

/// Whether a function is of Go's standard library or its runtime.
fn is_standard(function: &str) -> bool {
    let end = function.find(['/', '.']).unwrap_or(function.len());
    STANDARD.contains(&&function[..end])
}

/// Whether a function is of the program itself.
pub(super) fn is_own(function: &str) -> bool {
    // An address has no name.
    !function.starts_with("0x")
        && !is_standard(function)
        && !LIBRARIES.iter().any(|begin| function.starts_with(begin))
}

/// What is known of a stack.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Its functions, innermost first: positions in the trace's frames.
    pub(super) frames: Vec<u32>,
    /// The innermost function of the program itself, as a position among the frames.
    pub(super) own: Option<usize>,
    /// Whether it stands in a function that takes a mutex.
    pub(super) is_lock: bool,
    /// Whether that is a mutex that many may have to read.
    pub(super) is_shared_lock: bool,
    pub(super) door: Option<Door>,
    /// Whether it reads a connection for the goroutine that started it.
    pub(super) reads_for_parent: bool,
    /// Whether it gives data.
    pub(super) writes: bool,
    /// Whether it stands in a function that writes a log.
    pub(super) logs: bool,
    /// The function of a logger that takes a mutex of its own, as a position among the frames.
    pub(super) takes: Option<usize>,
}

impl Facts {
    /// What a stack of the trace says.
    pub(super) fn of(trace: &Trace, stack: u32) -> Self {
        let frames = trace.stacks.get(stack as usize).cloned();
        let frames = frames.unwrap_or_default();
        let names: Vec<&str> = frames.iter().map(|&frame| name(trace, frame)).collect();
        let begins = |all: &[&str], name: &str| all.iter().any(|begin| name.starts_with(begin));
        // What the program does is said by what stands innermost; the library beyond it has called it.
        let inner = names.iter().take_while(|name| !is_own(name));
        let doors = inner.clone().filter_map(|name| {
            let known = DOORS.iter().find(|(begin, _)| name.starts_with(begin));
            known.map(|(_, door)| *door)
        });
        let made_of = |door: &Door| matches!(door, Door::Connections | Door::Shared);
        let door = doors.clone().find(made_of).or_else(|| doors.clone().next());
        let is_lock = inner
            .clone()
            .take_while(|name| is_standard(name))
            .any(|name| begins(LOCKS, name));
        let locks = |name: &&str| begins(LOCKS, name);
        let takes = names.iter().rposition(locks).map(|last| last + 1);
        let takes = takes.filter(|&at| names.get(at).is_some_and(|name| begins(LOGGERS, name)));
        Self {
            own: names.iter().position(|name| is_own(name)),
            is_lock,
            is_shared_lock: inner
                .clone()
                .any(|name| name.starts_with("sync.(*RWMutex).")),
            door,
            reads_for_parent: names.iter().any(|name| begins(READ_FOR_PARENT, name)),
            writes: inner
                .clone()
                .any(|name| name.ends_with("(*FD).Write") || name.ends_with("(*FD).Writev")),
            logs: names.iter().any(|name| begins(LOGGERS, name)),
            takes: takes.filter(|_| is_lock),
            frames,
        }
    }

    /// What it waits for, if a mutex, from where it stands and from what the runtime says.
    pub(super) fn waits_for_lock(&self, does: Does) -> bool {
        does == Does::Lock || matches!(does, Does::Semaphore | Does::Waits) && self.is_lock
    }
}

/// The name of a function of the trace.
pub(super) fn name(trace: &Trace, frame: u32) -> &str {
    let frame = trace.frames.get(frame as usize);
    frame.map_or("", |frame| frame.function.as_str())
}

#[cfg(test)]
mod tests {
    use slowpath_core::trace::Frame;

    use super::*;

    fn facts(functions: &[&str]) -> Facts {
        let frame = |function: &&str| Frame {
            function: (*function).to_owned(),
            module: String::new(),
            source: String::new(),
        };
        let trace = Trace {
            frames: functions.iter().map(frame).collect(),
            stacks: vec![(0..functions.len() as u32).collect()],
            ..Trace::default()
        };
        Facts::of(&trace, 0)
    }

    #[test]
    fn a_function_is_the_programs_own_or_not() {
        for own in [
            "main.refresh",
            "example.com/shop/cart.(*Cart).Add",
            "shop/cart.Total",
        ] {
            assert!(is_own(own), "{own}");
        }
        let others = [
            "runtime.gopark",
            "internal/poll.(*FD).Read",
            "net/http.(*conn).serve",
            "golang.org/x/sync/errgroup.(*Group).Wait",
            "0x4711",
        ];
        for other in others {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn the_innermost_door_tells_unless_a_pool_is_made_of_it() {
        let sleeping = facts(&[
            "runtime.gopark",
            "time.Sleep",
            "main.retry",
            "database/sql.(*DB).conn",
        ]);
        assert_eq!((sleeping.door, sleeping.own), (Some(Door::Sleep), Some(2)));
        let pool = facts(&[
            "runtime.gopark",
            "runtime.selectgo",
            "golang.org/x/sync/semaphore.(*Weighted).Acquire",
            "github.com/jackc/puddle/v2.(*Pool[go.shape.*uint8]).acquire",
            "main.query",
        ]);
        assert_eq!(pool.door, Some(Door::Connections));
        let stream = facts(&[
            "runtime.gopark",
            "runtime.selectgo",
            "google.golang.org/grpc/internal/transport.(*http2Client).NewStream",
            "google.golang.org/grpc.(*csAttempt).newStream",
            "main.call",
        ]);
        assert_eq!(stream.door, Some(Door::Permits));
        let outside = facts(&["runtime.gopark", "runtime.chanrecv", "main.f", "time.Sleep"]);
        assert_eq!(outside.door, None);
    }

    #[test]
    fn a_mutex_is_told_by_the_function_that_takes_it() {
        let stack = [
            "runtime.gopark",
            "runtime.semacquire1",
            "sync.runtime_SemacquireMutex",
            "sync.(*Mutex).lockSlow",
            "main.refresh",
        ];
        assert!(facts(&stack).waits_for_lock(Does::Semaphore));
        assert!(!facts(&stack[..3]).waits_for_lock(Does::Semaphore));
        assert!(facts(&[]).waits_for_lock(Does::Lock));
    }
}
