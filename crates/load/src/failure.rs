//! What an error of the operating system means for a request.

use std::cell::RefCell;
use std::io;

use rustix::io::Errno;
use slowpath_core::facts::Reason;
use slowpath_core::sample::{Outcome, Phase};

use crate::tls;

/// How and where a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The class.
    pub(crate) outcome: Outcome,
    /// What it was doing.
    pub(crate) phase: Phase,
    /// The errno; 0 if the operating system reported no error.
    pub(crate) errno: u16,
}

impl Failure {
    /// A failure that the operating system did not report.
    pub(crate) fn new(outcome: Outcome, phase: Phase) -> Self {
        Self {
            outcome,
            phase,
            errno: 0,
        }
    }

    /// The class of an error of a socket.
    pub(crate) fn of_io(error: &io::Error, phase: Phase) -> Self {
        let Some(errno) = Errno::from_io_error(error) else {
            let outcome = match tls::reason_of(error) {
                Some(_) => Outcome::Tls,
                // The goodbye of TLS is missing too, in the middle of a handshake.
                None if error.kind() == io::ErrorKind::UnexpectedEof => Outcome::Closed,
                None => Outcome::Io,
            };
            return Self::new(outcome, phase);
        };
        let outcome = match errno {
            Errno::CONNREFUSED => Outcome::Refused,
            Errno::CONNRESET => Outcome::Reset,
            Errno::PIPE => Outcome::BrokenPipe,
            Errno::HOSTUNREACH | Errno::NETUNREACH => Outcome::Unreachable,
            Errno::ADDRNOTAVAIL => Outcome::PortsExhausted,
            Errno::MFILE | Errno::NFILE => Outcome::FilesExhausted,
            // While connecting, the kernel's own limit is a limit like ours. On a connection that
            // was there it means that the peer's host vanished: no censored latency, but an error.
            Errno::TIMEDOUT if phase == Phase::Connect => Outcome::Timeout,
            _ => Outcome::Io,
        };
        Self {
            outcome,
            phase,
            errno: errno.raw_os_error() as u16,
        }
    }
}

/// An error of a stream in words that say what to do.
pub(crate) fn in_words(error: &io::Error) -> String {
    match tls::reason_of(error) {
        Some(reason) => tls::explain(reason),
        None => error.to_string(),
    }
}

/// For each class of failures in each phase why the first of them failed.
#[derive(Debug, Default)]
pub(crate) struct Reasons(RefCell<Vec<Reason>>);

impl Reasons {
    /// Notes a reason unless there is one. An errno says all there is to say of itself.
    pub(crate) fn note(&self, failure: Failure, text: impl FnOnce() -> String) {
        let Failure { outcome, phase, .. } = failure;
        let mut all = self.0.borrow_mut();
        let is_same = |reason: &Reason| reason.outcome == outcome && reason.phase == phase;
        if failure.errno == 0 && !all.iter().any(is_same) {
            let text = text();
            all.push(Reason {
                outcome,
                phase,
                text,
            });
        }
    }

    /// All of them, in the order in which they came up.
    pub(crate) fn into_all(self) -> Vec<Reason> {
        self.0.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_errno_has_its_class() {
        for (errno, phase, outcome) in [
            (Errno::CONNREFUSED, Phase::Connect, Outcome::Refused),
            (Errno::CONNRESET, Phase::Body, Outcome::Reset),
            (Errno::PIPE, Phase::Send, Outcome::BrokenPipe),
            (Errno::TIMEDOUT, Phase::Connect, Outcome::Timeout),
            (Errno::TIMEDOUT, Phase::FirstByte, Outcome::Io),
            (Errno::HOSTUNREACH, Phase::Connect, Outcome::Unreachable),
            (Errno::NETUNREACH, Phase::Connect, Outcome::Unreachable),
            (Errno::ADDRNOTAVAIL, Phase::Connect, Outcome::PortsExhausted),
            (Errno::MFILE, Phase::Connect, Outcome::FilesExhausted),
            (Errno::NFILE, Phase::Connect, Outcome::FilesExhausted),
            (Errno::ACCESS, Phase::Connect, Outcome::Io),
        ] {
            let failure = Failure::of_io(&errno.into(), phase);
            assert_eq!(failure.outcome, outcome, "{errno:?}");
            assert_eq!(i32::from(failure.errno), errno.raw_os_error());
        }
    }
}
