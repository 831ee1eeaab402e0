//! One simulated run: requests in order of time, a backend with a queue, a cache.
//!
//! Service is first come, first served, at the connections as at the backend, so that a request's
//! whole course is known when it is scheduled: it waits for the earliest connection, finds its
//! answer or takes the earliest slot, and is done.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use slowpath_core::plan::unit;
use slowpath_core::scenario::{Arrivals, Model};

use super::world::{Ask, Entry, World};
use crate::workload::warming_ns;

/// What happened in the measured window of a run.
#[derive(Debug)]
pub(super) struct Played {
    /// Latencies of each endpoint in nanoseconds, in order of schedule.
    pub(super) latencies_ns: Vec<Vec<u64>>,
    pub(super) redundant: u64,
    pub(super) cold: u64,
    pub(super) expired: u64,
    pub(super) timeouts: u64,
}

/// Who wants to send when: a user of a closed loop, or a stream of an open one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at_ns: u64,
    who: usize,
}

/// An answer that was computed or is being computed.
#[derive(Debug, Clone, Copy)]
struct Kept {
    ready_ns: u64,
    expires_ns: u64,
}

/// A number of servers, each busy until some time; the earliest serves next.
#[derive(Debug)]
struct Servers {
    /// `None`: as many as it takes.
    free_ns: Option<BinaryHeap<Reverse<u64>>>,
}

impl Servers {
    fn new(number: Option<u32>) -> Self {
        let free = |n: u32| (0..n).map(|_| Reverse(0)).collect();
        Self {
            free_ns: number.map(free),
        }
    }

    /// When who comes at `at_ns` is taken up. One server is then taken until it is given back.
    fn take(&mut self, at_ns: u64) -> u64 {
        let earliest = self.free_ns.as_mut().and_then(BinaryHeap::pop);
        earliest.map_or(at_ns, |Reverse(free)| free.max(at_ns))
    }

    fn give_back(&mut self, at_ns: u64) {
        if let Some(free) = &mut self.free_ns {
            free.push(Reverse(at_ns));
        }
    }
}

struct Run<'w> {
    world: &'w World<'w>,
    random: ChaCha8Rng,
    due: BinaryHeap<Reverse<Due>>,
    connections: Servers,
    slots: Servers,
    kept: BTreeMap<Entry, Kept>,
    /// For each user the position in the session.
    next_step: Vec<usize>,
    /// For each pool the row that is given out next, where rows are given out in order.
    next_rows: Vec<u64>,
    window_ns: (u64, u64),
    played: Played,
}

/// Plays one run.
pub(super) fn play(world: &World<'_>, seed: u64) -> Played {
    let load = &world.scenario.load;
    let mut run = Run {
        world,
        random: ChaCha8Rng::seed_from_u64(seed),
        due: BinaryHeap::new(),
        connections: Servers::new(world.connections),
        slots: Servers::new(world.slots),
        kept: BTreeMap::new(),
        next_step: vec![0; world.class_of_user.len()],
        next_rows: vec![0; world.scenario.pools.len()],
        window_ns: (warming_ns(load), warming_ns(load) + load.duration_ns),
        played: Played {
            latencies_ns: vec![Vec::new(); world.endpoints.len()],
            redundant: 0,
            cold: 0,
            expired: 0,
            timeouts: 0,
        },
    };
    run.begin();
    while let Some(Reverse(due)) = run.due.pop() {
        if due.at_ns < run.window_ns.1 {
            run.request(due);
        }
    }
    run.played
}

impl Run<'_> {
    fn begin(&mut self) {
        let spawn = match self.world.scenario.load.model {
            Model::Closed { spawn_per_s, .. } => spawn_per_s,
            Model::Open { .. } => None,
        };
        let gap_ns = spawn.map_or(0.0, |rate| 1e9 / rate);
        for who in 0..self.world.class_of_user.len() {
            let at_ns = (gap_ns * who as f64) as u64;
            self.due.push(Reverse(Due { at_ns, who }));
        }
        let streams = self.world.class_of_user.len()..self.last_stream();
        for who in streams {
            if self.stream_rate(who) > 0.0 {
                let at_ns = self.gap_ns(who);
                self.due.push(Reverse(Due { at_ns, who }));
            }
        }
    }

    /// Streams follow the users: the load's own, then one for each endpoint.
    fn last_stream(&self) -> usize {
        self.world.class_of_user.len() + 1 + self.world.endpoints.len()
    }

    /// The endpoint of a stream that belongs to one.
    fn own_endpoint(&self, who: usize) -> Option<usize> {
        (who - self.world.class_of_user.len()).checked_sub(1)
    }

    /// Requests a second of a stream; 0 for one that there is not.
    fn stream_rate(&self, who: usize) -> f64 {
        match (self.own_endpoint(who), &self.world.scenario.load.model) {
            (Some(endpoint), _) => self.world.scenario.endpoints[endpoint]
                .rate_per_s
                .unwrap_or(0.0),
            (None, Model::Open { rate_per_s, .. }) => *rate_per_s,
            (None, Model::Closed { .. }) => 0.0,
        }
    }

    fn gap_ns(&mut self, who: usize) -> u64 {
        let mean_ns = 1e9 / self.stream_rate(who);
        let uniform = matches!(
            self.world.scenario.load.model,
            Model::Open {
                arrivals: Arrivals::Uniform,
                ..
            }
        );
        let gap_ns = if uniform {
            mean_ns
        } else {
            -mean_ns * (1.0 - unit(&mut self.random)).ln()
        };
        gap_ns as u64
    }

    fn class_of(&self, user: usize) -> usize {
        usize::from(self.world.class_of_user[user])
    }

    /// The endpoint that a user asks next: the next step of the session, or one by weight.
    fn of_user(&mut self, user: usize) -> usize {
        let class = self.class_of(user);
        let steps = &self.world.classes[class].steps;
        if steps.is_empty() {
            return self.world.endpoint(class, &mut self.random);
        }
        let step = &mut self.next_step[user];
        let endpoint = steps[*step % steps.len()];
        *step += 1;
        endpoint
    }

    fn request(&mut self, due: Due) {
        let users = self.world.class_of_user.len();
        let endpoint = if due.who < users {
            self.of_user(due.who)
        } else {
            let own = self.own_endpoint(due.who);
            own.unwrap_or_else(|| self.world.endpoint(0, &mut self.random))
        };
        let prepared = &self.world.endpoints[endpoint];
        let Some(ask) = prepared.ask(&mut self.next_rows, &mut self.random) else {
            // As in a run, the load ends when values to be used once are used up.
            self.due.clear();
            return;
        };
        let measured = due.at_ns >= self.window_ns.0;
        let sent_ns = self.connections.take(due.at_ns);
        let answered_ns = self.answer(&ask, sent_ns, measured);
        let timeout_ns = self.world.scenario.load.timeout_ns;
        let given_up = answered_ns - sent_ns > timeout_ns;
        let done_ns = answered_ns.min(sent_ns + timeout_ns);
        self.connections.give_back(done_ns);
        if measured {
            self.played.latencies_ns[endpoint].push(done_ns - due.at_ns);
            self.played.timeouts += u64::from(given_up);
        }
        let at_ns = if due.who < users {
            let think = self.world.classes[self.class_of(due.who)].think;
            // A user who neither waits nor thinks would stand still in time.
            done_ns
                + think
                    .draw_ns(&mut self.random)
                    .max(u64::from(done_ns == due.at_ns))
        } else {
            due.at_ns + self.gap_ns(due.who)
        };
        self.due.push(Reverse(Due {
            at_ns,
            who: due.who,
        }));
    }

    /// When a request that is sent at `at_ns` is answered.
    fn answer(&mut self, ask: &Ask, at_ns: u64, measured: bool) -> u64 {
        let Some(backend_ns) = ask.backend_ns else {
            return at_ns + ask.latency_ns;
        };
        let kept = ask.entry.and_then(|entry| self.kept.get(&entry).copied());
        if let Some(kept) = kept
            && at_ns < kept.expires_ns
            && (kept.ready_ns <= at_ns || self.world.singleflight)
        {
            return kept.ready_ns.max(at_ns) + ask.latency_ns;
        }
        let ready_ns = self.slots.take(at_ns) + backend_ns;
        self.slots.give_back(ready_ns);
        let expired = kept.is_some_and(|kept| kept.expires_ns <= at_ns);
        if measured && ask.entry.is_some() {
            match kept {
                None => self.played.cold += 1,
                Some(_) if expired => self.played.expired += 1,
                Some(_) => self.played.redundant += 1,
            }
        }
        if let Some(entry) = ask.entry {
            // The first computation to finish fills the cache; others find it filled.
            let first = kept
                .filter(|_| !expired)
                .map_or(u64::MAX, |kept| kept.ready_ns);
            let ready = ready_ns.min(first);
            let expires_ns = ask.ttl_ns.map_or(u64::MAX, |ttl| ready.saturating_add(ttl));
            let kept = Kept {
                ready_ns: ready,
                expires_ns,
            };
            self.kept.insert(entry, kept);
        }
        ready_ns + ask.latency_ns
    }
}

#[cfg(test)]
mod tests;
