//! The target's listening socket and the server's ends of its connections.

use std::collections::{BTreeMap, HashSet};

use rustix::io::Errno;
use slowpath_core::signal::{
    LISTENER_BACKLOG, LISTENER_DROPS, LISTENER_QUEUE, SERVER_SOCKETS, SERVER_SOCKETS_HELD_BACK,
    SERVER_SOCKETS_UNREAD, Signal,
};
use slowpath_core::timeline::{Subject, Window};

use super::growing::Growing;
use super::{FAST_NS, Out, Probe, Scene};
use crate::clock;
use crate::sockets::{ESTABLISHED, Family, LISTEN, Query, SockDiag, Socket, TcpInfo};

pub(super) const CADENCE_NS: u64 = FAST_NS;
pub(super) const OF_TARGET: bool = true;
pub(super) const SIGNALS: &[&Signal] = &[
    &LISTENER_QUEUE,
    &LISTENER_BACKLOG,
    &LISTENER_DROPS,
    &SERVER_SOCKETS,
    &SERVER_SOCKETS_HELD_BACK,
    &SERVER_SOCKETS_UNREAD,
];
const OF_LISTENER: &[&Signal] = &[&LISTENER_QUEUE, &LISTENER_BACKLOG, &LISTENER_DROPS];
const OF_CONNECTIONS: &[&Signal] = &[
    &SERVER_SOCKETS,
    &SERVER_SOCKETS_HELD_BACK,
    &SERVER_SOCKETS_UNREAD,
];

/// With more connections than this they are listed at 10 Hz: a listing costs about 1 µs each.
const MAX_FAST_CONNECTIONS: u64 = 256;
/// How many turns of 50 Hz make one of 10 Hz.
const TURNS_PER_SLOW_READ: u64 = 5;

/// What can be done where the kernel does not list its sockets.
pub(super) const SOCK_DIAG_REMEDY: &str = "modprobe -a inet_diag tcp_diag";
/// What can be done where the target's sockets are another namespace's.
pub(super) const NAMESPACE_REMEDY: &str = "nsenter --net=/proc/PID/ns/net slowpath ...";
/// Why the target's sockets are not listed then.
pub(super) const NAMESPACE_REASON: &str = "the target lives in another network namespace";

/// Why nothing is known of the sockets of a target that is reached without the network.
const UNIX_REASON: &str = "the target listens on a Unix socket, which has no such counters";
/// What can be done about it.
const UNIX_REMEDY: &str = "reach the target by TCP to see its listen queue and connections";

/// What is remembered from turn to turn.
#[derive(Debug, Default)]
pub(super) struct State {
    turn: u64,
    kernel: Option<SockDiag>,
    connections: u64,
    drops: Growing,
}

impl Probe for State {
    fn read(&mut self, scene: &Scene, out: &mut Out) {
        let turn = self.turn;
        self.turn += 1;
        let Some(target) = &scene.target else { return };
        if scene.shares_network == Some(false) {
            return out.missing(SIGNALS, NAMESPACE_REASON, NAMESPACE_REMEDY);
        }
        let Some(port) = target.port else {
            return out.missing(SIGNALS, UNIX_REASON, UNIX_REMEDY);
        };
        let families = match self.listeners(port, &scene.inodes, out) {
            Ok(families) => families,
            Err(error) => return sock_diag_failed(SIGNALS, error, out),
        };
        let fast = self.connections <= MAX_FAST_CONNECTIONS;
        if (fast || turn.is_multiple_of(TURNS_PER_SLOW_READ))
            && let Err(error) = self.connections(port, &families, out)
        {
            sock_diag_failed(OF_CONNECTIONS, error, out);
        }
    }
}

/// Records that the kernel does not list sockets.
pub(super) fn sock_diag_failed(signals: &[&'static Signal], error: Errno, out: &mut Out) {
    out.missing(
        signals,
        &format!("the kernel does not list sockets: {error}"),
        SOCK_DIAG_REMEDY,
    );
}

impl State {
    fn kernel(&mut self) -> Result<&mut SockDiag, Errno> {
        if self.kernel.is_none() {
            self.kernel = Some(SockDiag::open()?);
        }
        Ok(self.kernel.as_mut().expect("it was just opened"))
    }

    /// Reads the listening sockets; gives the families they are of.
    fn listeners(
        &mut self,
        port: u16,
        owned: &HashSet<u32>,
        out: &mut Out,
    ) -> Result<Vec<Family>, Errno> {
        let begin = clock::now();
        let mut found: Vec<(Family, Socket)> = Vec::new();
        for family in Family::ALL {
            let query = Query {
                family,
                states: &[LISTEN],
                local_port: port,
                details: true,
            };
            self.kernel()?
                .dump(query, |socket| found.push((family, socket)))?;
        }
        let window = Window::new(begin, clock::now());
        // Others may listen on the same port at another address; which sockets are the target's
        // own is known where its descriptors may be read.
        if found
            .iter()
            .any(|(_, socket)| owned.contains(&socket.inode))
        {
            found.retain(|(_, socket)| owned.contains(&socket.inode));
        }
        let Some(fullest) = found.iter().map(|(_, socket)| socket).reduce(fuller) else {
            let reason = format!("no socket listens on port {port} here");
            out.missing_unless_read(OF_LISTENER, &reason, "");
            return Ok(Family::ALL.to_vec());
        };
        let (queue, backlog) = (fullest.receive_queue, fullest.send_queue);
        out.push(&LISTENER_QUEUE, Subject::Target, window, f64::from(queue));
        out.push(
            &LISTENER_BACKLOG,
            Subject::Target,
            window,
            f64::from(backlog),
        );
        let drops: Option<BTreeMap<u32, u64>> = found
            .iter()
            .map(|(_, socket)| Some((socket.inode, u64::from(socket.drops?))))
            .collect();
        match drops {
            Some(drops) => {
                let sum = self.drops.add(drops);
                out.push(&LISTENER_DROPS, Subject::Target, window, sum as f64);
            }
            None => out.missing(&[&LISTENER_DROPS], "this kernel does not show sk_drops", ""),
        }
        let of = |family: &Family| found.iter().any(|(of, _)| of == family);
        Ok(Family::ALL.into_iter().filter(of).collect())
    }

    fn connections(&mut self, port: u16, families: &[Family], out: &mut Out) -> Result<(), Errno> {
        let begin = clock::now();
        let (mut all, mut held_back, mut unread, mut blind) = (0_u64, 0_u64, 0_u64, 0_u64);
        for &family in families {
            let query = Query {
                family,
                states: &[ESTABLISHED],
                local_port: port,
                details: true,
            };
            self.kernel()?.dump(query, |socket| {
                all += 1;
                unread += u64::from(socket.receive_queue > 0);
                match socket.info {
                    Some(info) => held_back += u64::from(is_held_back(&info, socket.send_queue)),
                    None => blind += 1,
                }
            })?;
        }
        self.connections = all;
        let window = Window::new(begin, clock::now());
        let mut push = |signal, value: u64| out.push(signal, Subject::Target, window, value as f64);
        push(&SERVER_SOCKETS, all);
        push(&SERVER_SOCKETS_UNREAD, unread);
        if blind == 0 {
            push(&SERVER_SOCKETS_HELD_BACK, held_back);
        } else {
            let reason = "this kernel's tcp_info has no tcpi_notsent_bytes";
            out.missing(&[&SERVER_SOCKETS_HELD_BACK], reason, "");
        }
        Ok(())
    }
}

/// Of two listening sockets (one a worker with `SO_REUSEPORT`, one a family) the one whose queue
/// is nearer to its limit: each overflows by itself, so the sum would hide a full one.
fn fuller<'a>(a: &'a Socket, b: &'a Socket) -> &'a Socket {
    let fill = |socket: &Socket, other: &Socket| {
        u64::from(socket.receive_queue) * u64::from(other.send_queue.max(1))
    };
    if fill(b, a) > fill(a, b) { b } else { a }
}

/// Whether TCP holds back a small rest while earlier data is unacknowledged, although the
/// congestion window and the peer's window would let it go: Nagle's algorithm (RFC 896) waiting
/// for an acknowledgement. `queued_bytes` is everything written and not yet acknowledged.
fn is_held_back(info: &TcpInfo, queued_bytes: u32) -> bool {
    let small_rest = info.not_sent_bytes > 0 && info.not_sent_bytes < info.send_mss;
    let windows_allow = info.unacked < info.congestion_window
        && info.send_window.is_none_or(|window| queued_bytes <= window);
    info.unacked > 0 && small_rest && windows_allow
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAGLE: TcpInfo = TcpInfo {
        send_mss: 1448,
        unacked: 1,
        congestion_window: 10,
        not_sent_bytes: 300,
        send_window: Some(65_536),
    };

    #[test]
    fn a_small_rest_behind_unacknowledged_data_is_held_back() {
        assert!(is_held_back(&NAGLE, 500));
        assert!(is_held_back(
            &TcpInfo {
                send_window: None,
                ..NAGLE
            },
            500
        ));
    }

    #[test]
    fn a_rest_that_waits_for_a_window_is_not_held_back() {
        assert!(
            !is_held_back(
                &TcpInfo {
                    unacked: 10,
                    ..NAGLE
                },
                500
            ),
            "congestion window"
        );
        assert!(
            !is_held_back(
                &TcpInfo {
                    send_window: Some(400),
                    ..NAGLE
                },
                500
            ),
            "slow reader"
        );
        assert!(
            !is_held_back(
                &TcpInfo {
                    not_sent_bytes: 1448,
                    ..NAGLE
                },
                2000
            ),
            "full segment"
        );
        assert!(
            !is_held_back(
                &TcpInfo {
                    unacked: 0,
                    ..NAGLE
                },
                300
            ),
            "nothing in flight"
        );
        assert!(
            !is_held_back(
                &TcpInfo {
                    not_sent_bytes: 0,
                    ..NAGLE
                },
                200
            ),
            "nothing to send"
        );
    }

    #[test]
    fn the_fuller_of_two_listeners_counts() {
        let socket = |queue, limit| Socket {
            state: LISTEN,
            local_port: 80,
            receive_queue: queue,
            send_queue: limit,
            inode: 1,
            drops: Some(0),
            info: None,
        };
        let (small, large) = (socket(2, 2), socket(5, 4096));
        assert_eq!(fuller(&small, &large), &small);
        assert_eq!(fuller(&large, &small), &small);
        assert_eq!(fuller(&socket(0, 0), &large), &large);
    }
}
