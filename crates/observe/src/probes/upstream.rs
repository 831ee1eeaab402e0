//! Connections that the target opened itself: to databases, to other services.

use std::collections::HashSet;
use std::path::Path;

use rustix::io::Errno;
use slowpath_core::signal::{
    Signal, UPSTREAM_SOCKETS, UPSTREAM_UDP_SOCKETS, UPSTREAM_UNIX_SOCKETS,
};
use slowpath_core::timeline::{Subject, Window};

use super::listener::{NAMESPACE_REASON, NAMESPACE_REMEDY, sock_diag_failed};
use super::source::Files;
use super::{Out, Probe, SLOW_NS, Scene};
use crate::clock;
use crate::sockets::{ESTABLISHED, Family, LISTEN, Query, SockDiag, Socket};

pub(super) const CADENCE_NS: u64 = SLOW_NS;
pub(super) const OF_TARGET: bool = true;
pub(super) const SIGNALS: &[&Signal] = &[
    &UPSTREAM_SOCKETS,
    &UPSTREAM_UNIX_SOCKETS,
    &UPSTREAM_UDP_SOCKETS,
];
const TCP: &[&Signal] = &[&UPSTREAM_SOCKETS];
const UNIX: &[&Signal] = &[&UPSTREAM_UNIX_SOCKETS];
const UDP: &[&Signal] = &[&UPSTREAM_UDP_SOCKETS];

/// What is remembered from turn to turn.
#[derive(Debug, Default)]
pub(super) struct State {
    kernel: Option<SockDiag>,
    files: Files,
}

impl Probe for State {
    fn read(&mut self, scene: &Scene, out: &mut Out) {
        for process in &scene.processes {
            if let Err(error) = process.fds {
                // A part of the sockets would be a number that is wrong.
                return out.failed(SIGNALS, &scene.of_process(process.pid, "fd"), error);
            }
        }
        let Some(first) = scene.processes.first() else {
            return;
        };
        self.tcp(scene, out);
        self.unix(&scene.of_process(first.pid, "net/unix"), scene, out);
        self.udp(&scene.of_process(first.pid, "net"), scene, out);
    }
}

impl State {
    fn tcp(&mut self, scene: &Scene, out: &mut Out) {
        let Some(target) = &scene.target else { return };
        if scene.shares_network == Some(false) {
            return out.missing(TCP, NAMESPACE_REASON, NAMESPACE_REMEDY);
        }
        match self.sockets() {
            Ok((window, sockets)) => {
                let count = count(&sockets, &scene.inodes, target.port.unwrap_or(0));
                out.push(&UPSTREAM_SOCKETS, Subject::Target, window, count as f64);
            }
            Err(error) => sock_diag_failed(TCP, error, out),
        }
    }

    fn unix(&mut self, path: &Path, scene: &Scene, out: &mut Out) {
        match self.files.read(path) {
            Ok(file) => match count_unix(&file.text, &scene.inodes) {
                Some(count) => out.push(
                    &UPSTREAM_UNIX_SOCKETS,
                    Subject::Target,
                    file.window,
                    count as f64,
                ),
                None => out.not_understood(UNIX, path),
            },
            Err(error) => out.failed(UNIX, path, error),
        }
    }

    fn udp(&mut self, net: &Path, scene: &Scene, out: &mut Out) {
        let begin = clock::now();
        let mut sum = 0;
        for name in ["udp", "udp6"] {
            let path = net.join(name);
            match self.files.read(&path) {
                Ok(file) => match count_udp(&file.text, &scene.inodes) {
                    Some(count) => sum += count,
                    None => return out.not_understood(UDP, &path),
                },
                // A kernel without IPv6 has no such sockets.
                Err(Errno::NOENT) if name == "udp6" => {}
                Err(error) => return out.failed(UDP, &path, error),
            }
        }
        let window = Window::new(begin, clock::now());
        out.push(
            &UPSTREAM_UDP_SOCKETS,
            Subject::Target,
            window,
            f64::from(sum),
        );
    }

    fn sockets(&mut self) -> Result<(Window, Vec<Socket>), Errno> {
        if self.kernel.is_none() {
            self.kernel = Some(SockDiag::open()?);
        }
        let kernel = self.kernel.as_mut().expect("it was just opened");
        let begin = clock::now();
        let mut sockets = Vec::new();
        for family in Family::ALL {
            let states = &[LISTEN, ESTABLISHED];
            let query = Query {
                family,
                states,
                local_port: 0,
                details: false,
            };
            kernel.dump(query, |socket| sockets.push(socket))?;
        }
        Ok((Window::new(begin, clock::now()), sockets))
    }
}

/// Established sockets among `owned` that were not accepted: whose local port no process of the
/// target listens on.
fn count(sockets: &[Socket], owned: &HashSet<u32>, port: u16) -> usize {
    let own = || {
        sockets
            .iter()
            .filter(|socket| owned.contains(&socket.inode))
    };
    let mut listening: HashSet<u16> = own()
        .filter(|socket| socket.state == LISTEN)
        .map(|socket| socket.local_port)
        .collect();
    listening.insert(port);
    own()
        .filter(|socket| socket.state == ESTABLISHED && !listening.contains(&socket.local_port))
        .count()
}

/// Connected stream and seqpacket sockets among `owned` in the text of `/proc/net/unix` that were
/// not accepted: that do not bear the path of a listener of the target. `None` if the text is not
/// understood.
fn count_unix(text: &str, owned: &HashSet<u32>) -> Option<usize> {
    /// `__SO_ACCEPTCON` of `linux/net.h`: the socket listens.
    const LISTENS: u32 = 1 << 16;
    /// `SS_CONNECTED` of `linux/net.h`.
    const CONNECTED: &str = "03";
    /// `SOCK_STREAM` and `SOCK_SEQPACKET`; a datagram's sender gets no answer to wait for.
    const TYPES: [&str; 2] = ["0001", "0005"];
    let mut listening = HashSet::new();
    let mut connected = Vec::new();
    for line in text.lines().skip(1) {
        let mut words = line.split_ascii_whitespace();
        let flags = u32::from_str_radix(words.nth(3)?, 16).ok()?;
        let (kind, state) = (words.next()?, words.next()?);
        let inode: u64 = words.next()?.parse().ok()?;
        let path = words.next();
        if !u32::try_from(inode).is_ok_and(|inode| owned.contains(&inode)) {
            continue;
        }
        if flags & LISTENS != 0 {
            listening.extend(path);
        } else if state == CONNECTED && TYPES.contains(&kind) {
            connected.push(path);
        }
    }
    connected.retain(|path| path.is_none_or(|path| !listening.contains(path)));
    Some(connected.len())
}

/// Sockets among `owned` in the text of `/proc/net/udp`; `None` if it is not understood.
fn count_udp(text: &str, owned: &HashSet<u32>) -> Option<u32> {
    /// `sl local rem st queues timer retransmits uid timeout inode`.
    const INODE: usize = 9;
    let mut count = 0;
    for line in text.lines().skip(1) {
        let inode: u64 = line.split_ascii_whitespace().nth(INODE)?.parse().ok()?;
        count += u32::from(u32::try_from(inode).is_ok_and(|inode| owned.contains(&inode)));
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIX_TABLE: &str = "\
Num       RefCount Protocol Flags    Type St Inode Path
00000000a: 00000002 00000000 00010000 0001 01 10 /run/web.sock
00000000b: 00000003 00000000 00000000 0001 03 11 /run/web.sock
00000000c: 00000003 00000000 00000000 0001 03 12
00000000d: 00000003 00000000 00000000 0005 03 13
00000000e: 00000003 00000000 00000000 0002 03 14
00000000f: 00000002 00000000 00000000 0001 01 15
000000010: 00000003 00000000 00000000 0001 03 16 /run/db.sock
000000011: 00000003 00000000 00000000 0001 03 99
";

    #[test]
    fn unix_sockets_count_unless_accepted_or_not_connected() {
        let owned: HashSet<u32> = (10..=16).collect();
        assert_eq!(count_unix(UNIX_TABLE, &owned), Some(3));
        assert_eq!(count_unix(UNIX_TABLE, &HashSet::new()), Some(0));
        assert_eq!(count_unix("Num\nnonsense\n", &owned), None);
    }

    #[test]
    fn udp_sockets_count_by_their_inodes() {
        let table = "  sl  local_address rem_address   st ...\n\
            1: 0100007F:D431 0100007F:0035 01 00000000:00000000 00:00000000 00000000 0 0 21 2 f 0\n\
            2: 00000000:0044 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 22 2 f 0\n";
        assert_eq!(count_udp(table, &HashSet::from([21])), Some(1));
        assert_eq!(count_udp(table, &HashSet::from([21, 22, 23])), Some(2));
        assert_eq!(count_udp("sl\nshort line\n", &HashSet::new()), None);
    }

    #[test]
    fn only_connections_that_the_target_opened_count() {
        let socket = |state, local_port, inode| Socket {
            state,
            local_port,
            receive_queue: 0,
            send_queue: 0,
            inode,
            drops: None,
            info: None,
        };
        let sockets = [
            socket(LISTEN, 8080, 1),
            socket(LISTEN, 9100, 2),
            socket(ESTABLISHED, 8080, 3),
            socket(ESTABLISHED, 9100, 4),
            socket(ESTABLISHED, 40_000, 5),
            socket(ESTABLISHED, 40_001, 6),
            socket(ESTABLISHED, 40_002, 99),
        ];
        let owned = HashSet::from([1, 2, 3, 4, 5, 6]);
        assert_eq!(count(&sockets, &owned, 8080), 2);
        assert_eq!(count(&sockets, &HashSet::new(), 8080), 0);
    }
}
