//! Connections that the target opened itself: to databases, to other services.

use std::collections::HashSet;

use rustix::io::Errno;
use slowpath_core::signal::{Signal, UPSTREAM_SOCKETS};
use slowpath_core::timeline::{Subject, Window};

use super::listener::{NAMESPACE_REASON, NAMESPACE_REMEDY, sock_diag_failed};
use super::{Out, Probe, SLOW_NS, Scene};
use crate::clock;
use crate::sockets::{ESTABLISHED, Family, LISTEN, Query, SockDiag, Socket};

pub(super) const CADENCE_NS: u64 = SLOW_NS;
pub(super) const OF_TARGET: bool = true;
pub(super) const SIGNALS: &[&Signal] = &[&UPSTREAM_SOCKETS];

/// What is remembered from turn to turn.
#[derive(Debug, Default)]
pub(super) struct State {
    kernel: Option<SockDiag>,
}

impl Probe for State {
    fn read(&mut self, scene: &Scene, out: &mut Out) {
        let Some(target) = &scene.target else { return };
        if scene.shares_network == Some(false) {
            return out.missing(SIGNALS, NAMESPACE_REASON, NAMESPACE_REMEDY);
        }
        for process in &scene.processes {
            if let Err(error) = process.fds {
                // A part of the sockets would be a number that is wrong.
                return out.failed(SIGNALS, &scene.of_process(process.pid, "fd"), error);
            }
        }
        if scene.processes.is_empty() {
            return;
        }
        match self.sockets() {
            Ok((window, sockets)) => {
                let count = count(&sockets, &scene.inodes, target.port);
                out.push(&UPSTREAM_SOCKETS, Subject::Target, window, count as f64);
            }
            Err(error) => sock_diag_failed(SIGNALS, error, out),
        }
    }
}

impl State {
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

/// Established sockets among `owned` that were not accepted: whose local port nobody of the
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

#[cfg(test)]
mod tests {
    use super::*;

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
