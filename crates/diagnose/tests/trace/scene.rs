//! What scenes are made of: a server of some threads, and requests that they serve.

use std::fmt::Write;

use slowpath_core::nanos::Nanos;
use slowpath_core::sample::Sample;
use slowpath_core::samples::Samples;
use slowpath_core::trace::{Call, Depth, Role, Runtime, Trace};
use slowpath_diagnose::diagnosis::Phase;
use slowpath_diagnose::trace::Index;
use slowpath_diagnose::trace::index::Runner;
use slowpath_diagnose::trace::join::Joiner;
use slowpath_diagnose::trace::loops::{Dialled, Loops};
use slowpath_diagnose::trace::pieces::{Behalf, Blank, How, LeafKind, Piece};
use slowpath_diagnose::trace::walk::Walker;

use crate::script::{By, Script, Wait};

pub(super) const PORT: u16 = 8_080;
pub(super) const CLIENT: u16 = 40_000;
pub(super) const SERVER: u32 = 100;

/// A traced server of some threads, which are named by their ids.
pub(super) fn server(runtime: Runtime, tids: &[u32]) -> Script {
    let mut script = Script::over(1, 1_000_000, Depth::Full);
    script.process(SERVER, Role::Target, runtime);
    for &tid in tids {
        script.thread(tid, SERVER, &format!("t{tid}"));
    }
    script
}

/// A server of thread 1, which has a connection to thread 80 of a peer on this host: the script with
/// the sockets of both ends.
pub(super) fn with_backend() -> (Script, u32, u32) {
    let mut script = server(Runtime::Native, &[1]);
    script.process(200, Role::Peer, Runtime::Native);
    script.thread(80, 200, "backend");
    script.starts(10, 1);
    script.starts(10, 80);
    let (here, there) = (script.socket(50_000, 5_432), script.socket(5_432, 50_000));
    (script, here, there)
}

/// A request that comes to the server at `arrives`, is read and answered then by these threads.
pub(super) struct Request {
    pub(super) client: u16,
    pub(super) arrives: u64,
    pub(super) read: (u64, u32),
    pub(super) answered: (u64, u32),
}

impl Request {
    pub(super) const fn by(tid: u32, arrives: u64, read: u64, answered: u64) -> Self {
        Self {
            client: CLIENT,
            arrives,
            read: (read, tid),
            answered: (answered, tid),
        }
    }

    pub(super) fn play(&self, script: &mut Script) {
        let socket = script.socket(PORT, self.client);
        script.arrived(self.arrives, socket);
        script.read(self.read.0, self.read.1, socket);
        script.wrote(self.answered.0, self.answered.1, socket);
    }

    fn sample(&self) -> Sample {
        let sent = Nanos::new(self.arrives - 10);
        let mut sample = Sample::due(sent);
        sample.sent = Some(sent);
        sample.done = Nanos::new(self.answered.0 + 10);
        sample.local_port = self.client;
        sample
    }
}

/// What of a request's time was spent on what: threads from the one that has the request to the
/// one that did something, and what that did.
pub(super) fn told(trace: &Trace, request: &Request) -> Vec<String> {
    let samples: Samples = vec![request.sample()].into();
    let index = Index::new(trace);
    let joined = Joiner::new(&index, [PORT].into_iter().collect())
        .join(0, samples.at(0))
        .unwrap();
    let ends = index
        .sockets
        .with_local_port(PORT)
        .iter()
        .copied()
        .collect();
    let loops = Loops::of(&index, &ends, |end, _| Dialled {
        id: end.into(),
        at: None,
    });
    let mut walker = Walker::new(&index, &loops);
    let mut pieces = Vec::new();
    walker.request(&joined, &mut pieces);
    let own = |p: &&Piece| matches!(p.segment, Phase::Unread | Phase::Service);
    let word = |piece: &Piece| {
        let hops = walker.chains.hops(piece.chain);
        let mut text = format!("{} {}", piece.len_ns(), hops[0].tid);
        for hop in &hops[1..] {
            let how = match hop.how {
                How::Serves => "serves",
                How::Lock => "lock",
                How::Condition => "condition",
                How::Interpreter => "interpreter",
                How::Asked => "asked",
                How::Woke => "woke",
                How::Sent => "sent",
                How::Ended => "ended",
            };
            write!(text, " {how} {}", hop.tid).unwrap();
        }
        let leaf = match piece.leaf.kind {
            LeafKind::Ready(Runner::Thread(tid)) => format!("ready behind {tid}"),
            LeafKind::Unknown(Blank::NotSeen) => "not seen".to_owned(),
            kind => format!("{kind:?}").to_lowercase(),
        };
        assert_eq!(hops.last().unwrap().tid, piece.leaf.tid);
        let behalf = match piece.behalf {
            Behalf::Own => "",
            Behalf::Other => " for another",
            Behalf::Background => " in the background",
        };
        format!("{text}: {leaf}{behalf}")
    };
    pieces.iter().filter(own).map(word).collect()
}

pub(super) fn futex(tid: u32, begin: u64, wake: u64, by: u32) -> Wait {
    Wait {
        wake,
        about: 0xF00,
        ..Wait::new(tid, begin, wake + 10, Call::Futex, By::Thread(by))
    }
}

pub(super) fn sleep(tid: u32, begin: u64, end: u64) -> Wait {
    Wait::new(tid, begin, end, Call::Sleep, By::Hardirq)
}

/// Until its request comes.
pub(super) fn idle(tid: u32, begin: u64, end: u64) -> Wait {
    Wait::new(tid, begin, end, Call::Read, By::Softirq)
}
