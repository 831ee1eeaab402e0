//! What a line says, in plain words.

use crate::breakdown::Line;
use crate::slice::{Actor, Basis, CpuUser, DiskUse, Holder, Place, Reason, State};

/// What is known of a station beside its lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Station {
    /// How many places it has; 0 if that is not known.
    pub places: u32,
    /// The endpoints whose requests hold the places, the one with most time first.
    pub held_by: Vec<String>,
}

/// A line as a phrase that begins in lower case: "waiting for …".
pub fn phrase(line: &Line, station: Option<&Station>) -> String {
    let Some(state) = line.state else {
        return "smaller parts".to_owned();
    };
    let actor = &line.actor;
    match state {
        State::OnCpu => format!("computing{}{}", by(actor), within(actor)),
        State::Runnable(user) => format!("ready to run: {}{}", cpu_user(user, actor), by(actor)),
        State::Lock => format!(
            "waiting for a lock{}{}",
            held(line, "held by"),
            doing(line.activity, actor)
        ),
        State::Interpreter => format!(
            "waiting for the interpreter lock (GIL){}{}",
            held(line, "held by"),
            doing(line.activity, actor)
        ),
        State::Queued(_) if line.basis == Basis::Pattern => from_outside(station),
        State::Queued(place) => queued(place, line, station),
        State::Reply if line.holder == Holder::Resolver => {
            format!("waiting for the name server {}", actor.peer)
        }
        State::Reply if line.holder == Holder::AnotherRequest => {
            format!(
                "waiting for a reply from {} that another request asked for",
                actor.peer
            )
        }
        State::Reply if actor.peer.is_empty() => {
            format!(
                "waiting for another process{}{}",
                by(actor),
                doing(line.activity, actor)
            )
        }
        State::Reply if line.activity == State::Reply => {
            format!("waiting for a reply from {}", actor.peer)
        }
        State::Reply => format!(
            "waiting for a reply from {}{}",
            actor.peer,
            doing(line.activity, actor)
        ),
        State::Sleep if !actor.peer.is_empty() => {
            format!("sleeping until a timer fires, to ask {} again", actor.peer)
        }
        State::Sleep => format!("sleeping until a timer fires{}{}", by(actor), within(actor)),
        State::Disk(DiskUse::Read) => format!("waiting for a disk to read{}", by(actor)),
        State::Disk(DiskUse::Write) => format!("waiting for a disk to write{}", by(actor)),
        State::Disk(DiskUse::Sync) => {
            format!("waiting until a disk has stored data (fsync){}", by(actor))
        }
        State::Memory => format!("waiting for memory (reclaim or swap){}", by(actor)),
        State::Client => "waiting until the client sends or takes data".to_owned(),
        State::SendBlocked => format!("waiting until a pipe or a peer takes data{}", by(actor)),
        State::Paused => format!("all threads of the runtime are stopped{}", by(actor)),
        State::Retransmit => "waiting for a lost segment to be sent again".to_owned(),
        State::DelayedAck if actor.peer.is_empty() => {
            "waiting for a delayed acknowledgement".to_owned()
        }
        State::DelayedAck => format!(
            "waiting for a delayed acknowledgement on the connection to {}",
            actor.peer
        ),
        State::Handshake => connecting(actor),
        State::ClientLate => "sent late by slowpath itself".to_owned(),
        State::Unknown(reason) => format!("unknown: {}", unknown(reason)),
    }
}

/// A connection that is being made; one of the target's own has another end.
fn connecting(actor: &Actor) -> String {
    match actor.peer.as_str() {
        "" => "making the connection".to_owned(),
        peer => format!("connecting to {peer}, which takes no connection (SYN sent again)"),
    }
}

/// A queue that is seen from arrivals and departures alone.
fn from_outside(station: Option<&Station>) -> String {
    let places = station.map_or(1, |station| station.places.max(1));
    let holders = station.map_or(&[][..], |station| &station.held_by);
    let held = if holders.is_empty() {
        String::new()
    } else {
        format!(", held by {}", holders.join(" and "))
    };
    let s = if places == 1 { "" } else { "s" };
    format!("queueing for one of {places} place{s}{held}; of what kind is not seen from the client")
}

fn queued(place: Place, line: &Line, station: Option<&Station>) -> String {
    let actor = &line.actor;
    let places = station.map_or(0, |station| station.places);
    let one_of = |one: &str, many: &str| match places {
        0 => format!("waiting for one of the {many}"),
        1 => format!("waiting for the only {one}"),
        n => format!("waiting for one of {n} {many}"),
    };
    let what = match place {
        Place::EventLoop => "waiting for the event loop, which is busy".to_owned(),
        Place::Workers => one_of("worker", "workers"),
        Place::Executor => one_of("thread of a worker pool", "threads of a worker pool"),
        Place::HeldIdle => {
            return format!(
                "waiting for a worker{}: workers wait on idle kept connections",
                by(actor)
            );
        }
        Place::Connections if actor.peer.is_empty() => {
            one_of("connection of a pool", "connections of a pool")
        }
        Place::Connections => {
            let one = format!("connection to {}", actor.peer);
            one_of(&one, &format!("connections to {}", actor.peer))
        }
        Place::One => "waiting for a lock or a queue of one".to_owned(),
        Place::Mailbox => "waiting for a process that takes one message at a time".to_owned(),
        Place::Permits if places == 0 => {
            "waiting for something that another request holds".to_owned()
        }
        Place::Permits => one_of(
            "permit of a concurrency limit",
            "permits of a concurrency limit",
        ),
        Place::Served => match places {
            0 => "waiting until the server takes the connection up".to_owned(),
            1 => "waiting to be the only connection that the server serves at a time".to_owned(),
            n => format!("waiting to be one of {n} connections that the server serves at a time"),
        },
    };
    let holders = station.map_or(&[][..], |station| &station.held_by);
    let holders = match holders {
        [] => String::new(),
        [one] => format!(", held by {one}"),
        [one, other, ..] => format!(", held by {one} and {other}"),
    };
    // Who uses a connection waits at its other end, which is named already.
    let does = match (place, line.activity) {
        (Place::Connections, State::Reply) => String::new(),
        (_, activity) => doing(activity, actor),
    };
    format!("{what}{}{holders}{does}", by(actor))
}

/// " (node, thread libuv-worker)".
fn by(actor: &Actor) -> String {
    match (actor.process.as_str(), actor.thread.as_str()) {
        ("", "") => String::new(),
        (process, "") => format!(" ({process})"),
        ("", thread) => format!(" (thread {thread})"),
        (process, thread) if process == thread => format!(" ({process})"),
        (process, thread) => format!(" ({process}, thread {thread})"),
    }
}

fn held(line: &Line, word: &str) -> String {
    let actor = &line.actor;
    if line.holder == Holder::Unknown || actor.thread.is_empty() {
        return String::new();
    }
    format!(" {word} thread {}", actor.thread)
}

/// How functions begin that say little of who called them: those of standard libraries and runtimes.
const LIBRARIES: &[&str] = &[
    "_",
    "std::",
    "core::",
    "alloc::",
    "tokio::",
    "pthread_",
    "runtime.",
    "java.",
    "jdk.",
    "node::",
    "uv_",
    "Py",
    "syscall",
    "clock_nanosleep",
    "futex",
    "epoll_",
    "poll",
    "read",
    "write",
    "recv",
    "send",
];

/// ", in bcrypt_hash": the innermost function that is no library's.
fn within(actor: &Actor) -> String {
    let functions = actor
        .stack
        .iter()
        .filter_map(|frame| frame.split(" (").next());
    let own = functions.clone().find(|function| {
        let name = function.trim_start_matches('<');
        !LIBRARIES.iter().any(|begin| name.starts_with(begin))
    });
    let function = own.or_else(|| functions.clone().next());
    function.map_or_else(String::new, |function| {
        let place = nameless(actor, function).unwrap_or(function);
        format!(", in {}", place.trim_end_matches("::{{closure}}"))
    })
}

/// The library or the executable of an address that no symbol names: that says more than the address.
fn nameless<'a>(actor: &'a Actor, function: &str) -> Option<&'a str> {
    let mut frames = actor.stack.iter().filter(|_| function.starts_with("0x"));
    let frame = frames.find(|frame| frame.split(" (").next() == Some(function))?;
    frame.split_once(" (")?.1.strip_suffix(')')
}

/// What the holder does, as a relative clause.
fn doing(activity: State, actor: &Actor) -> String {
    let does = match activity {
        State::OnCpu => "which computes",
        State::Runnable(_) => "which waits for a CPU",
        State::Lock => "which waits for a lock",
        State::Interpreter => "which waits for the interpreter lock",
        State::Sleep => "which sleeps",
        State::Disk(_) => "which waits for a disk",
        State::Memory => "which waits for memory",
        State::Reply if !actor.peer.is_empty() => {
            return format!(", which waits for a reply from {}", actor.peer);
        }
        State::Reply => "which waits for a reply",
        State::Client => "which waits for a client",
        State::SendBlocked => "which waits until what it sends is taken",
        _ => return String::new(),
    };
    format!(", {does}{}", within(actor))
}

fn cpu_user(user: CpuUser, actor: &Actor) -> String {
    match user {
        CpuUser::Own => "other threads of the server have the CPUs".to_owned(),
        CpuUser::Neighbour if !actor.peer.is_empty() => format!("{} has the CPUs", actor.peer),
        CpuUser::Neighbour => "other processes have the CPUs".to_owned(),
        CpuUser::Idle => "a CPU is idle and is only waking up".to_owned(),
        CpuUser::Throttled => "the server's CPU quota is used up".to_owned(),
        CpuUser::Unknown => "which thread has the CPUs is not known".to_owned(),
    }
}

const fn unknown(reason: Reason) -> &'static str {
    match reason {
        Reason::NotTraced => "the server was not traced, or with too little privilege",
        Reason::Parked => "the runtime keeps what waits in user space, and its threads are idle",
        Reason::LoopWaits => "the event loop waits, and for what is not known",
        Reason::Holder => "a lock or a condition whose holder is not known",
        Reason::NoWaker => "what ended the wait was not recorded",
        Reason::NotSeen => "what the thread did was not recorded",
        Reason::NotTaken => "no thread has taken the connection up, and why is not known",
        Reason::OtherEnd => "data from a pipe, a file or a socket whose other end is not known",
        Reason::Kernel => {
            "a call waits until the kernel has done work of its own, which is none for a disk"
        }
        Reason::Network => "on the network",
        Reason::TooFew => {
            "longer than what was traced without a break, or too few alike were traced"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_said_by_its_library() {
        let on = |frames: &[&str]| Actor {
            stack: frames.iter().map(|&frame| frame.to_owned()).collect(),
            ..Actor::default()
        };
        let stripped = on(&["0xa9d50 (libsqlite3.so.0)", "0x77f0 (server)"]);
        assert_eq!(within(&stripped), ", in libsqlite3.so.0");
        assert_eq!(within(&on(&["0xa9d50"])), ", in 0xa9d50");
        assert_eq!(
            within(&on(&["_read (libc.so.6)", "render (server)"])),
            ", in render"
        );
    }
}
