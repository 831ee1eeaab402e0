//! What the probes would have read of a simulated run.

use slowpath_core::nanos::Span;
use slowpath_core::signal::{self, Kind, Signal};
use slowpath_core::timeline::{Gap, Point, Series, Subject, Timeline};

use super::acts::Act;
use super::machine::span;
use super::sim::{Repeat, Run};
use super::spec::{Case, Clock, Extra, Jump, When};

/// Distance between readings: ten a second …
const USUAL_NS: u64 = 100_000_000;
/// … and fifty for what changes within a request.
const FAST_NS: u64 = 20_000_000;
/// The probes of the second kind.
const FAST: [&str; 3] = ["cgroup.", "listener.", "server."];
/// How long a reading takes.
const READ_NS: u64 = 50_000;
/// Readings begin so long before the load, at no round time of its clock, and end as long after.
const MARGIN_NS: u64 = 463_000_000;
/// The process id of the simulated server; its threads count from here.
const PID: u32 = 100;
/// Processes that are replaced count from here.
const WORKERS: u32 = 300;
/// Descriptors of the simulated server beside its connections.
const OTHER_FILES: f64 = 10.0;
/// A limit on descriptors that nothing here reaches.
const MANY_FILES: f64 = 65_536.0;
/// Enforcement period of the CPU controller, the kernel's default.
const PERIOD_NS: f64 = 1e8;

/// The timeline of a run.
pub(super) fn timeline(case: &Case, run: &Run) -> Timeline {
    let every = |ns| run.repeats.iter().flat_map(move |r| ticks(r, ns)).collect();
    let mut probe = Probe {
        usual: every(USUAL_NS),
        fast: every(FAST_NS),
        timeline: Timeline::default(),
    };
    probe.client(case, run);
    if case.visible {
        probe.threads(case, run);
        probe.calls(case, run);
        probe.sockets(case, run);
        probe.cgroup(case, run);
        probe.lives(run);
        probe.room(case, run);
        probe.accepts(case, run);
    }
    probe.host(case, run);
    for extra in &case.series {
        probe.extra(extra, &run.repeats);
    }
    for missing in &case.gap {
        probe.timeline.series.retain(|s| s.signal != missing.signal);
        probe.timeline.gaps.push(Gap {
            signal: missing.signal.clone(),
            reason: missing.reason.clone(),
            remedy: missing.remedy.clone(),
        });
    }
    probe.timeline.sort();
    probe.timeline
}

fn ticks(repeat: &Repeat, every_ns: u64) -> impl Iterator<Item = u64> + use<> {
    let (begin, end) = (repeat.load.begin.get(), repeat.load.end.get());
    (begin - MARGIN_NS..end + MARGIN_NS).step_by(every_ns as usize)
}

struct Probe {
    usual: Vec<u64>,
    fast: Vec<u64>,
    timeline: Timeline,
}

impl Probe {
    /// When a signal is read.
    fn ticks(&self, signal: &Signal) -> &[u64] {
        let fast = FAST.iter().any(|family| signal.id.starts_with(family));
        if fast { &self.fast } else { &self.usual }
    }

    /// Adds a series, or adds to the one that is there.
    fn put(&mut self, signal: &Signal, subject: &Subject, label: &str, values: &[f64]) {
        let there = self
            .timeline
            .series
            .iter_mut()
            .find(|s| s.signal == signal.id && s.subject == *subject && s.label == label);
        if let Some(series) = there {
            for (point, value) in series.points.iter_mut().zip(values) {
                point.value += value;
            }
            return;
        }
        let point = |(&at, &value): (&u64, &f64)| Point {
            window: span(at, at + READ_NS),
            value,
        };
        let points = self.ticks(signal).iter().zip(values).map(point).collect();
        self.timeline.series.push(Series {
            signal: signal.id.to_owned(),
            subject: subject.clone(),
            label: label.to_owned(),
            points,
        });
    }

    fn constant(&mut self, signal: &Signal, subject: &Subject, value: f64) {
        let values = vec![value; self.ticks(signal).len()];
        self.put(signal, subject, "", &values);
    }

    fn client(&mut self, case: &Case, run: &Run) {
        let ran = passed(&self.usual, &run.seen.loop_ran);
        for signal in [&signal::TOOL_LOOP_RUN, &signal::TOOL_CPU_USER] {
            self.put(signal, &Subject::Tool, "", &ran);
        }
        self.constant(&signal::TOOL_LOOP_RUN_DELAY, &Subject::Tool, 0.0);
        for (clock, signal) in [
            (Clock::Realtime, &signal::CLOCK_REALTIME_OFFSET),
            (Clock::Boottime, &signal::CLOCK_BOOTTIME_OFFSET),
        ] {
            let moves = case.jump.iter().filter(|j| j.clock == clock);
            let moves: Vec<&Jump> = moves.collect();
            let zero = run.repeats.first().map_or(0, |r| r.load.begin.get());
            let at = |&tick: &u64| {
                let moved = moves.iter().map(|jump| {
                    let since = tick.saturating_sub(zero + jump.at.0) as f64;
                    (since / jump.over.0.max(1) as f64).min(1.0) * jump.by.0 as f64
                });
                1e18 + moved.sum::<f64>()
            };
            let values: Vec<f64> = self.usual.iter().map(at).collect();
            self.put(signal, &Subject::Host, "", &values);
        }
    }

    fn threads(&mut self, case: &Case, run: &Run) {
        let process = Subject::Process { pid: PID };
        let mut cpu = vec![0.0; self.usual.len()];
        for (&thread, ran) in &run.seen.ran {
            let subject = Subject::Thread {
                pid: PID,
                tid: PID + thread,
            };
            let ran = passed(&self.usual, ran);
            cpu.iter_mut().zip(&ran).for_each(|(sum, ns)| *sum += ns);
            self.put(&signal::THREAD_RUN, &subject, "", &ran);
            let delayed = run.seen.delayed.get(&thread).map_or(&[][..], Vec::as_slice);
            let delayed = passed(&self.usual, delayed);
            self.put(&signal::THREAD_RUN_DELAY, &subject, "", &delayed);
        }
        self.put(&signal::PROCESS_CPU_USER, &process, "", &cpu);
        let can_run = run.seen.ran.values().chain(run.seen.delayed.values());
        let can_run: Vec<Span> = can_run.flatten().copied().collect();
        let runnable = under_way(&self.usual, &can_run);
        self.put(&signal::PROCESS_THREADS_STATE, &process, "R", &runnable);
        self.constant(&signal::PROCESS_CPU_SYSTEM, &process, 0.0);
        self.constant(
            &signal::PROCESS_CPUS_ALLOWED,
            &process,
            f64::from(case.cpus),
        );
    }

    fn calls(&mut self, case: &Case, run: &Run) {
        let process = Subject::Process { pid: PID };
        let computing: Vec<Span> = run.seen.ran.values().flatten().copied().collect();
        let computing = under_way(&self.usual, &computing);
        let idle = vec![1.0; self.usual.len()];
        self.put(
            &signal::PROCESS_THREADS_CALL,
            &process,
            "accept4:untimed",
            &idle,
        );
        for (name, spans) in &run.seen.calls {
            let mut threads = under_way(&self.usual, spans);
            let mut name = name.as_str();
            if super::kernel::stall(name).is_some() {
                // No call that is known to have a time limit.
                if let Some((_, file)) = name.split_once(':') {
                    self.put(&signal::PROCESS_THREADS_WRITING, &process, file, &threads);
                }
                continue;
            }
            if case.event_loop {
                // The one thread waits for whatever comes first, unless it computes.
                name = if name.ends_with(":untimed") {
                    "epoll_wait:untimed"
                } else {
                    "epoll_wait"
                };
                for (waiting, computing) in threads.iter_mut().zip(&computing) {
                    *waiting = waiting.min(1.0 - computing.min(1.0));
                }
            }
            self.put(&signal::PROCESS_THREADS_CALL, &process, name, &threads);
            if name == "clock_nanosleep" {
                self.put(
                    &signal::PROCESS_THREADS_WAIT,
                    &process,
                    "hrtimer_nanosleep",
                    &threads,
                );
            }
        }
    }

    fn sockets(&mut self, case: &Case, run: &Run) {
        let target = Subject::Target;
        let held = under_way(&self.fast, &run.seen.held);
        self.put(&signal::SERVER_SOCKETS_HELD_BACK, &target, "", &held);
        let unread = under_way(&self.fast, &unread(run));
        self.put(&signal::SERVER_SOCKETS_UNREAD, &target, "", &unread);
        let upstream = if run.seen.upstream {
            f64::from(case.workers)
        } else {
            0.0
        };
        self.constant(&signal::UPSTREAM_SOCKETS, &target, upstream);
        self.constant(&signal::UPSTREAM_UNIX_SOCKETS, &target, 0.0);
        self.constant(&signal::UPSTREAM_UDP_SOCKETS, &target, 0.0);
        let drops = counted(&self.fast, run.seen.drops.iter().copied());
        self.put(&signal::LISTENER_DROPS, &target, "", &drops);
        let full = |pair: &[f64]| if pair[1] > pair[0] { 129.0 } else { 0.0 };
        let mut queue = vec![0.0];
        queue.extend(drops.windows(2).map(full));
        self.put(&signal::LISTENER_QUEUE, &target, "", &queue);
        self.constant(&signal::LISTENER_BACKLOG, &target, 128.0);
        let dropped = run.seen.drops.iter().copied();
        let acknowledged = run.seen.held.iter().map(|s| s.end.get());
        let netstat = [
            ("TcpExt.ListenDrops", counted(&self.usual, dropped)),
            ("TcpExt.DelayedACKs", counted(&self.usual, acknowledged)),
        ];
        for (name, values) in netstat {
            self.put(&signal::NET_COUNTER, &Subject::Target, name, &values);
        }
    }

    fn cgroup(&mut self, case: &Case, run: &Run) {
        let target = Subject::Target;
        let throttled = &run.seen.throttled;
        let limited = !throttled.is_empty();
        let elapsed = |&tick: &u64| {
            let periods = (tick - self.fast[0]) as f64 / PERIOD_NS;
            if limited { periods.floor() } else { 0.0 }
        };
        let periods: Vec<f64> = self.fast.iter().map(elapsed).collect();
        self.put(&signal::CGROUP_PERIODS, &target, "", &periods);
        let hit = counted(&self.fast, throttled.iter().map(|s| s.end.get()));
        self.put(&signal::CGROUP_THROTTLED_PERIODS, &target, "", &hit);
        // The time adds up over the CPUs that had a thread to run.
        let kept_off = |stall: &Span| {
            let waits = |spans: &&Vec<Span>| spans.iter().any(|s| s.overlap_ns(*stall) > 0);
            let threads = run.seen.delayed.values().filter(waits).count() as u64;
            threads.clamp(1, u64::from(case.cpus)) * stall.len_ns()
        };
        let lengths: Vec<u64> = throttled.iter().map(kept_off).collect();
        let booked = |tick: &u64| {
            let over = throttled
                .iter()
                .zip(&lengths)
                .filter(|(s, _)| s.end.get() <= *tick);
            over.map(|(_, &length)| length as f64).sum::<f64>()
        };
        let booked: Vec<f64> = self.fast.iter().map(booked).collect();
        self.put(&signal::CGROUP_THROTTLED, &target, "", &booked);
        if limited {
            self.constant(&signal::CGROUP_QUOTA, &target, PERIOD_NS / 2.0);
            self.constant(&signal::CGROUP_PERIOD, &target, PERIOD_NS);
        }
    }

    /// Processes that end and begin under load: each is read while it lives.
    fn lives(&mut self, run: &Run) {
        for (number, life) in (0..).zip(&run.seen.lives) {
            let subject = Subject::Process {
                pid: WORKERS + number,
            };
            let alive = |tick: &&u64| (life.begin.get()..life.end.get()).contains(*tick);
            let ticks: Vec<u64> = self.usual.iter().filter(alive).copied().collect();
            let age = ticks.first().map(|tick| (tick - life.begin.get()) as f64);
            let threads = ticks
                .iter()
                .map(|tick| (tick, &signal::PROCESS_THREADS, 1.0));
            let age = ticks
                .iter()
                .zip(age)
                .map(|(tick, age)| (tick, &signal::PROCESS_AGE, age));
            for (&tick, signal, value) in threads.chain(age) {
                self.point(signal, &subject, tick, value);
            }
        }
    }

    fn point(&mut self, signal: &Signal, subject: &Subject, tick: u64, value: f64) {
        let point = Point {
            window: span(tick, tick),
            value,
        };
        let mut series = self.timeline.series.iter_mut();
        match series.find(|s| s.signal == signal.id && s.subject == *subject) {
            Some(series) => series.points.push(point),
            None => self.timeline.series.push(Series {
                signal: signal.id.to_owned(),
                subject: subject.clone(),
                label: String::new(),
                points: vec![point],
            }),
        }
    }

    /// Connections that were taken in, and the descriptors that they are.
    fn room(&mut self, case: &Case, run: &Run) {
        let Some(room) = case.room else {
            return;
        };
        let (fast, usual) = (taken_in(&self.fast, run), taken_in(&self.usual, run));
        self.put(&signal::SERVER_SOCKETS, &Subject::Target, "", &fast);
        let process = Subject::Process { pid: PID };
        let descriptors: Vec<f64> = usual.iter().map(|open| open + OTHER_FILES).collect();
        self.put(&signal::PROCESS_FDS, &process, "", &descriptors);
        let limit = if room.descriptors {
            OTHER_FILES + f64::from(room.connections)
        } else {
            MANY_FILES
        };
        self.constant(&signal::PROCESS_FDS_LIMIT, &process, limit);
    }

    /// Connections that are not accepted yet, and all that there are.
    fn accepts(&mut self, case: &Case, run: &Run) {
        if case.accepts.is_none() {
            return;
        }
        let queue = under_way(&self.fast, &run.seen.queued);
        self.put(&signal::LISTENER_QUEUE, &Subject::Target, "", &queue);
        let all = taken_in(&self.fast, run).into_iter().zip(queue);
        let all: Vec<f64> = all.map(|(has, queued)| has + queued).collect();
        self.put(&signal::SERVER_SOCKETS, &Subject::Target, "", &all);
    }

    fn host(&mut self, case: &Case, run: &Run) {
        let cpus = f64::from(case.cpus);
        let computing: Vec<Span> = run.seen.ran.values().flatten().copied().collect();
        let busy = passed(&self.usual, &computing);
        let idle = |(&tick, busy): (&u64, &f64)| (tick - self.usual[0]) as f64 * cpus - busy;
        let idle: Vec<f64> = self.usual.iter().zip(&busy).map(idle).collect();
        self.put(&signal::HOST_CPU_BUSY, &Subject::Host, "", &busy);
        self.put(&signal::HOST_CPU_IDLE, &Subject::Host, "", &idle);
        self.constant(&signal::HOST_CPU_STEAL, &Subject::Host, 0.0);
        self.constant(&signal::HOST_CPUS, &Subject::Host, cpus);
    }

    fn extra(&mut self, extra: &Extra, repeats: &[Repeat]) {
        let signal = signal::find(&extra.signal).expect("checked when it was read");
        let subject = Subject::parse(&extra.subject).expect("checked when it was read");
        let zero = repeats.first().map_or(0, |r| r.load.begin.get());
        let (mut sum, mut before) = (0.0, None);
        let at = |&tick: &u64| {
            let holds = |when: When| when.holds(tick.saturating_sub(zero));
            let value = if extra.when.is_none_or(holds) {
                extra.value
            } else {
                0.0
            };
            let since = tick - before.replace(tick).unwrap_or(tick);
            match signal.kind {
                Kind::Gauge => value,
                Kind::Counter => {
                    sum += value * (since as f64 / 1e9);
                    sum
                }
            }
        };
        let values: Vec<f64> = self.ticks(signal).iter().map(at).collect();
        self.put(signal, &subject, &extra.label, &values);
    }
}

/// At each tick, how much time of the spans has passed.
fn passed(ticks: &[u64], spans: &[Span]) -> Vec<f64> {
    let mut spans = spans.to_vec();
    spans.sort_unstable_by_key(|s| s.begin);
    let (mut over, mut under_way, mut next) = (0.0, Vec::<Span>::new(), 0);
    let at = |&tick: &u64| {
        while next < spans.len() && spans[next].begin.get() < tick {
            under_way.push(spans[next]);
            next += 1;
        }
        under_way.retain(|s| {
            let ended = s.end.get() <= tick;
            over += if ended { s.len_ns() as f64 } else { 0.0 };
            !ended
        });
        let parts = under_way.iter().map(|s| (tick - s.begin.get()) as f64);
        over + parts.sum::<f64>()
    };
    ticks.iter().map(at).collect()
}

/// At each tick, how many connections the server has accepted and not closed.
fn taken_in(ticks: &[u64], run: &Run) -> Vec<f64> {
    let of = |sign: i64| {
        let all = run.seen.taken_in.iter();
        let of = all.filter(move |(_, change)| *change == sign);
        counted(ticks, of.map(|(at, _)| *at))
    };
    let pairs = of(1).into_iter().zip(of(-1));
    pairs.map(|(more, fewer)| more - fewer).collect()
}

/// From when each request came until a thread read it.
fn unread(run: &Run) -> Vec<Span> {
    let mut acts: Vec<_> = run
        .seen
        .acts
        .iter()
        .filter_map(|did| match did.act {
            Act::Arrived(port) => Some((port, did.begin, false)),
            Act::Read(port) => Some((port, did.begin, true)),
            _ => None,
        })
        .collect();
    acts.sort_unstable();
    let came_and_read = acts
        .windows(2)
        .filter(|pair| (pair[0].0, pair[0].2, pair[1].2) == (pair[1].0, false, true));
    came_and_read
        .map(|pair| span(pair[0].1, pair[1].1))
        .collect()
}

/// At each tick, how many spans are under way.
fn under_way(ticks: &[u64], spans: &[Span]) -> Vec<f64> {
    let begun = counted(ticks, spans.iter().map(|s| s.begin.get()));
    let ended = counted(ticks, spans.iter().map(|s| s.end.get()));
    begun
        .iter()
        .zip(ended)
        .map(|(begun, ended)| begun - ended)
        .collect()
}

/// At each tick, how many instants have passed.
fn counted(ticks: &[u64], instants: impl Iterator<Item = u64>) -> Vec<f64> {
    let mut instants: Vec<u64> = instants.collect();
    instants.sort_unstable();
    let at = |tick: &u64| instants.partition_point(|i| i <= tick) as f64;
    ticks.iter().map(at).collect()
}
