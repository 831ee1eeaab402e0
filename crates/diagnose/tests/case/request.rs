//! A request on its way through the simulation.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;
use slowpath_core::nanos::Nanos;
use slowpath_core::plan::unit;
use slowpath_core::sample::{Outcome, Phase, Sample};

use super::dist::Dist;
use super::spec::{Case, Class};

/// A SYN is repeated after a second, and again after each further one (Linux 6.5 and later);
/// timers of that length fire some milliseconds late.
const SYN_AGAIN_NS: u64 = 1_000_000_000;
/// The first data of a connection is repeated after this.
const DATA_AGAIN_NS: u64 = 200_000_000;
/// How late that is of one on a connection that has carried others.
const KNOWN_LATE_NS: u64 = 4_000_000;
/// How late the timers of repeated segments are.
const AGAIN_LATE: Dist = Dist::Uniform {
    least_ns: 0.0,
    most_ns: 40_000_000.0,
};

/// How much is asked of another server, where nothing else is said.
const QUESTION_BYTES: u32 = 100;

/// Whether another server is asked before a call, and with how many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    Nobody,
    /// It answers when the call is over.
    Another(u32),
    /// It does not answer until the call is over, and then it is too late.
    InVain(u32),
}

/// What a server thread does next for a request.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Waits for a CPU that another process occupies.
    Contended(u64),
    /// Is woken, and waits until an idle CPU takes it up.
    TakenUp(u64),
    /// Computes.
    Cpu(u64),
    /// Is in a call.
    Call { name: String, ns: u64, asks: Asks },
    /// Computes with the lock.
    Lock(u64),
    /// Waits for a thread that was asked.
    Asks(u64),
    /// Writes the first part of the response.
    FirstByte,
}

#[derive(Debug)]
pub(super) struct Request {
    pub(super) sample: Sample,
    pub(super) steps: VecDeque<Step>,
    pub(super) class: usize,
    pub(super) worker: Option<u32>,
    /// The shared connection to another server that it has.
    pub(super) line: Option<u16>,
    pub(super) held_ns: u64,
    /// Bytes of the answer.
    pub(super) bytes: u64,
    /// The answer is whole, and not what was asked for.
    pub(super) is_wrong: bool,
    /// The status of an answer that is wrong.
    pub(super) refusal: Option<u16>,
    /// The client has its answer, or gave up.
    pub(super) finished: bool,
}

impl Request {
    pub(super) fn new(at: u64, class: usize, endpoint: u16, repeat: u16, user: u32) -> Self {
        let at = Nanos::new(at);
        Self {
            sample: Sample {
                user,
                repeat,
                endpoint,
                outcome: Outcome::Ok,
                phase: Phase::Check,
                ..Sample::due(at)
            },
            steps: VecDeque::new(),
            class,
            worker: None,
            line: None,
            held_ns: 0,
            bytes: 256,
            is_wrong: false,
            refusal: None,
            finished: false,
        }
    }

    /// Draws what the server will do, once it is known which connection carries it.
    pub(super) fn draw_work(&mut self, class: &Class, random: &mut ChaCha8Rng) {
        let mut draw = |dist: Option<Dist>| dist.map(|dist| dist.draw(random));
        let steps = &mut self.steps;
        steps.extend(draw(class.contended).map(Step::Contended));
        steps.extend(draw(class.taken_up).map(Step::TakenUp));
        steps.extend(draw(Some(class.cpu)).map(Step::Cpu));
        steps.extend(draw(class.lock).map(Step::Lock));
        steps.extend(draw(class.asks).map(Step::Asks));
        let mut call = |name: &str, dist, asks| {
            draw(dist).map(|ns| Step::Call {
                name: name.to_owned(),
                ns,
                asks,
            })
        };
        steps.extend(call("futex:untimed", class.wait, Asks::Nobody));
        steps.extend(call(&class.stall_in, class.stall, Asks::Nobody));
        let first = class.first_bytes.unwrap_or(QUESTION_BYTES);
        for _ in 0..class.retries {
            steps.extend(match class.in_vain {
                Some(_) => call("poll-timer", class.in_vain, Asks::InVain(first)),
                None => call(&class.upstream_call, class.upstream, Asks::Another(first)),
            });
            steps.extend(call(&class.sleep_call, class.backoff, Asks::Nobody));
        }
        for _ in 0..class.upstream_calls {
            let asks = Asks::Another(QUESTION_BYTES);
            steps.extend(call(&class.upstream_call, class.upstream, asks));
        }
        steps.extend(call(&class.sleep_call, class.sleep, Asks::Nobody));
        steps.push_back(Step::FirstByte);
        steps.extend(call(&class.sleep_call, class.sleep_inside, Asks::Nobody));
        steps.extend(draw(class.cpu_inside).map(Step::Cpu));
        let held = draw(class.held).unwrap_or_default();
        let is_held = self.sample.index_on_connection >= class.held_from;
        self.held_ns = if is_held { held } else { 0 };
    }

    /// How long dialling takes, and at which SYNs the listener dropped it.
    pub(super) fn dial(
        class: &Class,
        case: &Case,
        begin: u64,
        random: &mut ChaCha8Rng,
    ) -> (u64, Vec<u64>) {
        let repeated = class.syns_dropped + class.syns_lost;
        let mut took = one_way(case, random) + one_way(case, random);
        if repeated > 0 {
            took += u64::from(repeated) * SYN_AGAIN_NS + AGAIN_LATE.draw(random);
        }
        let mut dropped: Vec<u64> = (0..class.syns_dropped)
            .map(|i| begin + u64::from(i) * SYN_AGAIN_NS)
            .collect();
        if class.ack_dropped {
            dropped.push(begin + took);
        }
        (took, dropped)
    }

    /// How long after sending the server sees it.
    pub(super) fn travel(class: &Class, case: &Case, random: &mut ChaCha8Rng) -> u64 {
        let repeated = if class.ack_dropped {
            DATA_AGAIN_NS + AGAIN_LATE.draw(random)
        } else {
            0
        };
        one_way(case, random) + repeated
    }

    /// The client gives up.
    pub(super) fn time_out(&mut self, at: u64) {
        let s = &mut self.sample;
        s.done = Nanos::new(at);
        s.outcome = Outcome::Timeout;
        let reached = |instant: &mut Option<Nanos>| {
            *instant = instant.filter(|i| i.get() <= at);
            instant.is_some()
        };
        let connected = s.connect_begin.is_none() || reached(&mut s.connected);
        reached(&mut s.secured);
        s.phase = match (connected, reached(&mut s.sent), reached(&mut s.first_byte)) {
            (false, _, _) => Phase::Connect,
            (true, false, _) => Phase::Send,
            (true, true, false) => Phase::FirstByte,
            (true, true, true) => Phase::Body,
        };
        s.status = 0;
        s.gap_begin = s.gap_begin.filter(|begin| begin.get() <= at);
        s.gap_ns = s
            .gap_begin
            .map_or(0, |begin| at.saturating_sub(begin.get()));
    }

    /// The whole response is there.
    pub(super) fn complete(&mut self, at: u64) {
        let s = &mut self.sample;
        s.done = Nanos::new(at);
        s.status = 200;
        s.received_bytes = self.bytes;
        if self.is_wrong {
            s.outcome = self.refusal.map_or(Outcome::Check, |_| Outcome::Status);
            s.status = self.refusal.unwrap_or(s.status);
        }
        s.gap_ns = s.gap_begin.map_or(0, |begin| s.done.since(begin));
    }
}

/// After how long a segment is sent again that has been lost so many times before.
pub(super) const fn again_after_ns(times: u32) -> u64 {
    (DATA_AGAIN_NS << times) + KNOWN_LATE_NS
}

/// The way from one host to the other, with a little scatter.
pub(super) fn one_way(case: &Case, random: &mut ChaCha8Rng) -> u64 {
    let half = Dist::Exponential {
        least_ns: case.wire.0 as f64 / 2.0,
        mean_ns: case.wire.0 as f64 / 20.0,
    };
    half.draw(random)
}

/// Which class a request belongs to that is scheduled at that time from the load's begin.
pub(super) fn draw_class(case: &Case, since_ns: u64, random: &mut ChaCha8Rng) -> usize {
    let mut at = unit(random);
    let always = case
        .class
        .iter()
        .enumerate()
        .filter(|(_, c)| c.when.is_none());
    let mut chosen = 0;
    for (index, class) in always {
        chosen = index;
        at -= class.share;
        if at < 0.0 {
            break;
        }
    }
    let endpoint = &case.class[chosen].endpoint;
    for (index, class) in case.class.iter().enumerate() {
        let now = class.when.is_some_and(|when| when.holds(since_ns));
        if now && class.endpoint == *endpoint && unit(random) < class.share {
            return index;
        }
    }
    chosen
}
