//! The tracepoints that are listened to, and what one of their records says.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use slowpath_core::trace::{Call, Context, Left, Socket};

use super::calls::{self, Does};
use super::format::{Field, Format};

/// A name of a thread as the kernel keeps it: 15 bytes and an end.
pub(super) type Comm = [u8; 16];

/// What a tracepoint reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Switch,
    Waking,
    Call,
    Arrived,
    Read,
    Wrote,
    /// A call that gave or took data is over: what shows writes where [`Kind::Wrote`] is missing.
    Moved,
    SentReset,
    ReceivedReset,
    Retransmit,
    State,
    /// A thread took a datagram.
    Received,
    /// A way was looked for over IPv4, and over IPv6.
    Routed,
    Routed6,
}

/// A tracepoint and its place under `events`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tracepoint {
    pub(super) kind: Kind,
    pub(super) name: &'static str,
}

impl Kind {
    /// Everything that is listened to.
    pub(super) const TRACEPOINTS: [Tracepoint; 14] = [
        tracepoint(Self::Switch, "sched/sched_switch"),
        tracepoint(Self::Waking, "sched/sched_waking"),
        tracepoint(Self::Call, "raw_syscalls/sys_enter"),
        tracepoint(Self::Arrived, "tcp/tcp_probe"),
        tracepoint(Self::Read, "tcp/tcp_rcv_space_adjust"),
        tracepoint(Self::Wrote, "sock/sock_send_length"),
        tracepoint(Self::Moved, "raw_syscalls/sys_exit"),
        tracepoint(Self::SentReset, "tcp/tcp_send_reset"),
        tracepoint(Self::ReceivedReset, "tcp/tcp_receive_reset"),
        tracepoint(Self::Retransmit, "tcp/tcp_retransmit_skb"),
        tracepoint(Self::State, "sock/inet_sock_set_state"),
        tracepoint(Self::Received, "sock/sock_recv_length"),
        tracepoint(Self::Routed, "fib/fib_table_lookup"),
        tracepoint(Self::Routed6, "fib6/fib6_table_lookup"),
    ];

    /// The tracepoint's name as people write it: `sched:sched_switch`.
    pub(super) fn name(self) -> String {
        let place = Self::TRACEPOINTS.iter().find(|point| point.kind == self);
        place.map_or_else(String::new, |point| point.name.replace('/', ":"))
    }

    /// Since which kernel it is there with the fields that are needed, for those that are young.
    pub(super) const fn since(self) -> &'static str {
        match self {
            Self::Wrote | Self::Received => "6.3",
            Self::Routed | Self::Routed6 => "4.18",
            Self::Arrived | Self::Read | Self::State => "4.16",
            _ => "4.15",
        }
    }
}

const fn tracepoint(kind: Kind, name: &'static str) -> Tracepoint {
    Tracepoint { kind, name }
}

/// What one record of a tracepoint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    Switch {
        from: u32,
        from_name: Comm,
        left: Left,
        to: u32,
        to_name: Comm,
    },
    Waking {
        tid: u32,
        by: u32,
        context: Context,
    },
    Call {
        tid: u32,
        call: Call,
        about: u64,
    },
    /// A thread entered a call that gives or takes data by a descriptor, or ends one.
    File {
        tid: u32,
        does: Does,
        fd: u32,
    },
    /// Such a call is over, and moved so much.
    Moved {
        tid: u32,
        bytes: u32,
    },
    Arrived {
        key: u64,
        ends: Socket,
        bytes: u32,
    },
    Read {
        tid: u32,
        key: u64,
        ends: Socket,
    },
    Wrote {
        tid: u32,
        key: u64,
        bytes: u32,
        sort: Sort,
    },
    Received {
        tid: u32,
        key: u64,
        sort: Sort,
    },
    Routed {
        /// 0 if that was no thread's doing.
        tid: u32,
        ends: Socket,
    },
    Reset {
        ends: Socket,
        sent: bool,
        reason: u32,
        by: u32,
    },
    Retransmit {
        ends: Socket,
    },
    State {
        key: u64,
        ends: Socket,
        state: u8,
        by: u32,
    },
}

/// What sort of socket something is given to or taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Of TCP, and all others.
    Stream,
    /// Of datagrams: nothing else records these.
    Datagram,
    /// A Unix socket: only its descriptor shows whose it is.
    Unix,
}

/// [`Fact::place`] of a switch.
pub(super) const SWITCH: usize = 0;

impl Fact {
    /// Whether it is of a descriptor, or of a socket that is known by its descriptor alone.
    pub(super) const fn is_by_file(&self) -> bool {
        match self {
            Self::File { .. } | Self::Moved { .. } => true,
            Self::Wrote { sort, .. } | Self::Received { sort, .. } => matches!(sort, Sort::Unix),
            _ => false,
        }
    }

    /// A small number of its own for each kind of fact.
    pub(super) const fn place(&self) -> usize {
        match self {
            Self::Switch { .. } => SWITCH,
            Self::Waking { .. } => 1,
            Self::Call { .. } => 2,
            Self::Arrived { .. } => 3,
            Self::Read { .. } => 4,
            Self::Wrote { .. } => 5,
            Self::Reset { .. } => 6,
            Self::Retransmit { .. } => 7,
            Self::State { .. } => 8,
            Self::Received { .. } => 9,
            Self::Routed { .. } => 10,
            Self::File { .. } => 11,
            Self::Moved { .. } => 12,
        }
    }
}

/// Where the fields of one tracepoint lie, and how its records are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout {
    Switch {
        from: Field,
        from_name: Field,
        state: Field,
        to: Field,
        to_name: Field,
    },
    Waking {
        tid: Field,
        by: Field,
        flags: Field,
    },
    Call {
        tid: Field,
        number: Field,
        args: Field,
    },
    /// Of a datagram that was taken too.
    Wrote {
        kind: Kind,
        tid: Field,
        key: Field,
        bytes: Field,
        protocol: Option<Field>,
        family: Option<Field>,
    },
    Moved {
        tid: Field,
        bytes: Field,
    },
    Socket {
        kind: Kind,
        tid: Field,
        /// On whose behalf; see [`context`].
        flags: Option<Field>,
        /// Distinguishes one socket from another; absent where the kernel does not say it.
        key: Option<Field>,
        addresses: Addresses,
        /// What the kind wants beside the addresses: bytes, a reason, a state.
        more: Option<Field>,
    },
}

impl Layout {
    /// The layout of a tracepoint; `None` if the kernel's lacks a field that is needed.
    pub(super) fn of(kind: Kind, format: &Format) -> Option<Self> {
        let field = |name| format.field(name);
        let tid = field("common_pid")?;
        Some(match kind {
            Kind::Switch => Self::Switch {
                from: field("prev_pid")?,
                from_name: field("prev_comm")?,
                state: field("prev_state")?,
                to: field("next_pid")?,
                to_name: field("next_comm")?,
            },
            Kind::Waking => Self::Waking {
                tid: field("pid")?,
                by: tid,
                flags: field("common_flags")?,
            },
            Kind::Call => Self::Call {
                tid,
                number: field("id")?,
                args: field("args")?,
            },
            Kind::Wrote | Kind::Received => Self::Wrote {
                kind,
                tid,
                key: field("sk")?,
                bytes: field("ret")?,
                protocol: field("protocol"),
                family: field("family"),
            },
            Kind::Moved => Self::Moved {
                tid,
                bytes: field("ret")?,
            },
            Kind::Routed | Kind::Routed6 => Self::Socket {
                kind,
                tid,
                flags: field("common_flags"),
                key: None,
                addresses: Addresses::Parts {
                    local: field("src")?,
                    remote: field("dst")?,
                    local_port: field("sport")?,
                    remote_port: field("dport")?,
                },
                more: None,
            },
            _ => Self::Socket {
                kind,
                tid,
                flags: field("common_flags"),
                key: field("skaddr"),
                addresses: Addresses::of(format)?,
                more: match kind {
                    Kind::Arrived => Some(field("data_len")?),
                    Kind::State => Some(field("newstate")?),
                    Kind::SentReset => field("reason"),
                    _ => None,
                },
            },
        })
    }

    /// What a record says; `None` if it is cut short or is about nothing that is followed.
    pub(super) fn read(&self, raw: &[u8]) -> Option<Fact> {
        let id = |field: Field| field.unsigned(raw).map(|tid| tid as u32);
        match *self {
            Self::Switch {
                from,
                from_name,
                state,
                to,
                to_name,
            } => Some(Fact::Switch {
                from: id(from)?,
                from_name: comm(from_name, raw)?,
                left: left(state.signed(raw)?),
                to: id(to)?,
                to_name: comm(to_name, raw)?,
            }),
            Self::Waking { tid, by, flags } => Some(Fact::Waking {
                tid: id(tid)?,
                by: id(by)?,
                context: context(flags.unsigned(raw)?),
            }),
            Self::Call { tid, number, args } => {
                let number = number.signed(raw)?;
                let arg = |place| args.word(raw, place);
                let arguments = [arg(0)?, arg(1)?, arg(2)?];
                let tid = id(tid)?;
                if let Some((does, fd)) = calls::of_file(number, arguments) {
                    return Some(Fact::File { tid, does, fd });
                }
                let (call, about) = calls::classify(number, arguments[0], arguments[1])?;
                Some(Fact::Call { tid, call, about })
            }
            Self::Moved { tid, bytes } => Some(Fact::Moved {
                tid: id(tid)?,
                bytes: positive(bytes, raw)?,
            }),
            Self::Wrote {
                kind,
                tid,
                key,
                bytes,
                protocol,
                family,
            } => {
                let of = |field: Option<Field>| field.and_then(|field| field.unsigned(raw));
                let sort = sort(of(family), of(protocol));
                let (tid, key) = (id(tid)?, key.unsigned(raw)?);
                Some(given(kind, (tid, key), positive(bytes, raw)?, sort))
            }
            Self::Socket {
                kind,
                tid,
                flags,
                key,
                addresses,
                more,
            } => {
                let ends = addresses.read(raw)?;
                let or_nothing = |field: Option<Field>| field.map_or(Some(0), |f| f.unsigned(raw));
                let (key, more) = (or_nothing(key)?, or_nothing(more)?);
                let by = flags.and_then(|flags| flags.unsigned(raw)).map(context);
                let is_thread = by == Some(Context::Thread);
                Some(about_socket(kind, (id(tid)?, is_thread), key, ends, more))
            }
        }
    }
}

/// So many bytes were given to a socket, or taken from it.
const fn given(kind: Kind, (tid, key): (u32, u64), bytes: u32, sort: Sort) -> Fact {
    match kind {
        Kind::Received => Fact::Received { tid, key, sort },
        _ => Fact::Wrote {
            tid,
            key,
            bytes,
            sort,
        },
    }
}

/// So many bytes, if any.
fn positive(bytes: Field, raw: &[u8]) -> Option<u32> {
    u32::try_from(bytes.signed(raw)?).ok().filter(|&b| b > 0)
}

fn sort(family: Option<u64>, protocol: Option<u64>) -> Sort {
    if family == Some(libc::AF_UNIX as u64) {
        Sort::Unix
    } else if protocol == Some(libc::IPPROTO_UDP as u64) {
        Sort::Datagram
    } else {
        Sort::Stream
    }
}

/// `tid` is who was running, and whether it was that thread's doing.
fn about_socket(kind: Kind, tid: (u32, bool), key: u64, ends: Socket, more: u64) -> Fact {
    let number = more as u32;
    let (tid, by) = (tid.0, if tid.1 { tid.0 } else { 0 });
    match kind {
        Kind::Arrived => Fact::Arrived {
            key,
            ends,
            bytes: number,
        },
        Kind::Read => Fact::Read { tid, key, ends },
        Kind::Retransmit => Fact::Retransmit { ends },
        Kind::Routed | Kind::Routed6 => Fact::Routed { tid: by, ends },
        Kind::State => Fact::State {
            key,
            ends,
            state: more as u8,
            by,
        },
        _ => Fact::Reset {
            ends,
            sent: kind == Kind::SentReset,
            reason: number,
            by,
        },
    }
}

/// How a thread left its CPU, by its state then (`include/linux/sched.h`): the lowest bits have
/// not changed in twenty years; the bit that says "preempted" moved twice and is above them.
const fn left(state: i64) -> Left {
    const INTERRUPTIBLE: i64 = 0x1;
    const UNINTERRUPTIBLE: i64 = 0x2;
    /// Stopped, traced, dead, a zombie, parked.
    const GONE: i64 = 0x4 | 0x8 | 0x10 | 0x20 | 0x40;
    /// A thread of the kernel that has nothing to do.
    const IDLE: i64 = 0x80;
    if state & INTERRUPTIBLE != 0 {
        Left::Sleeping
    } else if state & UNINTERRUPTIBLE != 0 {
        Left::Uninterruptible
    } else if state & GONE != 0 {
        Left::Gone
    } else if state & IDLE != 0 {
        Left::Sleeping
    } else {
        Left::Runnable
    }
}

/// On whose behalf, by `enum trace_flag_type` of `include/linux/trace_events.h`. A hardware
/// interrupt may have come in the middle of a softirq.
const fn context(flags: u64) -> Context {
    const HARDIRQ: u64 = 0x08;
    const SOFTIRQ: u64 = 0x10;
    if flags & HARDIRQ != 0 {
        Context::Hardirq
    } else if flags & SOFTIRQ != 0 {
        Context::Softirq
    } else {
        Context::Thread
    }
}

fn comm(field: Field, raw: &[u8]) -> Option<Comm> {
    field.bytes(raw)?.try_into().ok()
}

/// How a tracepoint gives the addresses of a connection: as two `sockaddr`, or in parts. `s…` is
/// our end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Addresses {
    Whole {
        local: Field,
        remote: Field,
    },
    Parts {
        local: Field,
        remote: Field,
        local_port: Field,
        remote_port: Field,
    },
}

impl Addresses {
    fn of(format: &Format) -> Option<Self> {
        /// `sizeof(struct sockaddr_in6)`.
        const SOCKADDR_BYTES: usize = 28;
        let field = |name| format.field(name);
        let (local, remote) = (field("saddr")?, field("daddr")?);
        if local.size() == SOCKADDR_BYTES && remote.size() == SOCKADDR_BYTES {
            return Some(Self::Whole { local, remote });
        }
        Some(Self::Parts {
            // Addresses of IPv4 stand here too, mapped.
            local: field("saddr_v6")?,
            remote: field("daddr_v6")?,
            local_port: field("sport")?,
            remote_port: field("dport")?,
        })
    }

    fn read(&self, raw: &[u8]) -> Option<Socket> {
        match *self {
            Self::Whole { local, remote } => Some(Socket {
                local: sockaddr(local.bytes(raw)?)?,
                remote: sockaddr(remote.bytes(raw)?)?,
            }),
            Self::Parts {
                local,
                remote,
                local_port,
                remote_port,
            } => {
                let end = |ip: Field, port: Field| {
                    let port = u16::try_from(port.unsigned(raw)?).ok()?;
                    let bytes = ip.bytes(raw)?;
                    let ip = if let Ok(four) = <[u8; 4]>::try_from(bytes) {
                        IpAddr::V4(Ipv4Addr::from(four))
                    } else {
                        let all: [u8; 16] = bytes.try_into().ok()?;
                        IpAddr::V6(Ipv6Addr::from(all)).to_canonical()
                    };
                    Some(SocketAddr::new(ip, port))
                };
                Some(Socket {
                    local: end(local, local_port)?,
                    remote: end(remote, remote_port)?,
                })
            }
        }
    }
}

/// Reads a `struct sockaddr_in` or `sockaddr_in6`; an IPv4 address that is mapped is unmapped.
fn sockaddr(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    let ip = match i32::from(family) {
        libc::AF_INET => {
            let ip: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            IpAddr::V4(Ipv4Addr::from(ip))
        }
        libc::AF_INET6 => {
            let ip: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            IpAddr::V6(Ipv6Addr::from(ip)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
#[path = "kinds_tests.rs"]
mod tests;
