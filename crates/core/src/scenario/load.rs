//! The load: how requests arrive, over which connections, for how long.

use serde::{Deserialize, Serialize};

use super::Think;

/// Connections of an open loop: enough for 64 requests in flight, below the backlog (128) and the
/// descriptors (256) that modest servers allow.
pub const DEFAULT_CONNECTIONS: u32 = 64;
/// Users of a closed loop: some concurrency, yet less than a small server has workers.
pub const DEFAULT_USERS: u32 = 10;
/// Length of one measured window, in nanoseconds: 1,000 samples for p99 at 100 requests a second.
pub const DEFAULT_DURATION_NS: u64 = 10_000_000_000;
/// Length of the warm-up, in nanoseconds: connections are opened and caches and JITs settle.
pub const DEFAULT_WARMUP_NS: u64 = 2_000_000_000;
/// Measured windows in a run: one answers at once; intervals across runs need to be asked for.
pub const DEFAULT_REPEATS: u32 = 1;
/// The most measured windows of a run that goes on until it is precise: the interval over ten
/// runs of a spread of 6 % is 8 % wide, and forty would be needed for 4 %.
pub const DEFAULT_REPEATS_MOST: u32 = 10;
/// When a request is given up, in nanoseconds: past the usual one- and three-second retransmits,
/// so that those are seen as latency.
pub const DEFAULT_TIMEOUT_NS: u64 = 5_000_000_000;
/// Threads that send: one sends more than most targets take, and leaves the other CPUs to them.
pub const DEFAULT_LOOPS: u32 = 1;

/// Streams of a connection: the same workload as over HTTP/1.1.
pub const DEFAULT_STREAMS: u32 = 1;

/// How requests arrive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Open or closed loop.
    pub model: Model,
    /// The most connections open at once, at least 1.
    pub connections: u32,
    /// How requests share connections.
    pub connection: ConnectionUse,
    /// Which of the free connections of a pool a request takes. Without a pool it says nothing.
    /// Runs recorded before it could be chosen took the one that was idle for longest.
    #[serde(default = "reuse_of_old_runs")]
    pub reuse: PoolReuse,
    /// When the connections of a pool are opened. Without a pool it says nothing. Runs recorded
    /// before it could be chosen opened all of them at the start.
    #[serde(default = "open_of_old_runs")]
    pub open: PoolOpen,
    /// How long a pooled connection rests before it is used again; `None` lets it at once.
    pub idle: Option<Think>,
    /// Length of the measured window in nanoseconds, above 0.
    pub duration_ns: u64,
    /// Length of the warm-up in nanoseconds, 0 for none; its requests are not judged.
    pub warmup_ns: u64,
    /// How many measured windows, at least 1; with a precision, the most.
    pub repeats: u32,
    /// Repeats go on until the interval of each endpoint's p50 and p99 over repeats reaches no
    /// further than this share to either side; `None` makes them all.
    #[serde(default)]
    pub precision: Option<f64>,
    /// Restart the target for each repeat, when slowpath starts it at all.
    pub fresh: bool,
    /// Names of passes over the workload within a repeat; empty means a single unnamed one.
    pub passes: Vec<String>,
    /// When a request is given up, in nanoseconds, above 0.
    pub timeout_ns: u64,
    /// How many redirects in a row are followed for one request, within the target's origin; 0
    /// takes a redirect for the answer. The latency is that of all of them.
    #[serde(default)]
    pub redirects: u32,
    /// Threads that send, at least 1. Each has its share of the connections, of the users and of
    /// the schedule; those without a connection are not started.
    #[serde(default = "default_loops")]
    pub loops: u32,
    /// Streams that share a pooled connection of HTTP/2, at least 1; HTTP/1.1 has one.
    #[serde(default = "default_streams")]
    pub streams: u32,
}

/// What runs recorded before it could be chosen had.
fn reuse_of_old_runs() -> PoolReuse {
    PoolReuse::Oldest
}

/// What runs recorded before it could be chosen had.
fn open_of_old_runs() -> PoolOpen {
    PoolOpen::AtStart
}

/// What runs recorded before connections could be shared had.
fn default_streams() -> u32 {
    DEFAULT_STREAMS
}

/// What runs recorded before there could be several had.
fn default_loops() -> u32 {
    DEFAULT_LOOPS
}

/// Open or closed loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Model {
    /// Requests arrive whether or not earlier ones were answered.
    Open {
        /// Requests a second over the endpoints without a rate of their own; 0 if all have one.
        rate_per_s: f64,
        /// How the gaps between them are distributed.
        arrivals: Arrivals,
    },
    /// Each user waits for an answer, thinks, and asks again.
    Closed {
        /// How many users, at least 1.
        users: u32,
        /// Users started a second, above 0; `None` starts all at once.
        spawn_per_s: Option<f64>,
        /// The pause between an answer and the next request.
        think: Think,
    },
}

/// The distribution of the gaps of an open loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Independent arrivals: exponential gaps, as of many users who do not know each other.
    #[default]
    Poisson,
    /// Evenly spaced.
    Uniform,
}

/// How requests share connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionUse {
    /// Any request takes any free connection; which one, [`PoolReuse`] says.
    Pool,
    /// Each user keeps one.
    PerUser,
    /// Each request opens its own and closes it.
    PerRequest,
}

/// Which of the free connections of a pool a request takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolReuse {
    /// The one that was used last, as HTTP clients do: a modest rate needs few connections.
    #[default]
    Recent,
    /// The one that has been idle for longest: the rate is spread over all connections.
    Oldest,
}

/// When the connections of a pool are opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolOpen {
    /// When a request finds none free, up to the bound. The dial is part of its latency. A
    /// connection that is closed is not replaced until a request needs one.
    #[default]
    OnDemand,
    /// All of them over the first quarter of the warm-up. One that is closed is dialled again
    /// when its turn comes.
    AtStart,
}

impl Default for Load {
    /// A closed loop of [`DEFAULT_USERS`] without think time.
    fn default() -> Self {
        LoadDraft::default()
            .resolve()
            .expect("nothing written is no contradiction")
    }
}

/// The model by its name in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelName {
    /// `model = "open"`
    Open,
    /// `model = "closed"`
    Closed,
}

/// What was written about the load; what was not is `None` and takes its default.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(
    missing_docs,
    reason = "each field is the field of `Load` or `Model` of the same name"
)]
pub struct LoadDraft {
    pub model: Option<ModelName>,
    pub rate_per_s: Option<f64>,
    /// Every endpoint has a rate of its own, so that the load needs none.
    pub all_have_rates: bool,
    pub arrivals: Option<Arrivals>,
    pub connections: Option<u32>,
    pub users: Option<u32>,
    pub spawn_per_s: Option<f64>,
    pub think: Option<Think>,
    pub connection: Option<ConnectionUse>,
    pub reuse: Option<PoolReuse>,
    pub open: Option<PoolOpen>,
    pub idle: Option<Think>,
    pub duration_ns: Option<u64>,
    pub warmup_ns: Option<u64>,
    pub repeats: Option<u32>,
    pub precision: Option<f64>,
    pub fresh: Option<bool>,
    pub passes: Vec<String>,
    pub timeout_ns: Option<u64>,
    /// As in [`Load`].
    pub redirects: Option<u32>,
    pub loops: Option<u32>,
    pub streams: Option<u32>,
}

/// Two things said that cannot both hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {what}; {remedy}")]
pub struct Contradiction {
    /// The key at fault: of `[load]`, or a path in the scenario where that is checked as a whole.
    pub key: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

impl LoadDraft {
    /// Fills in the defaults. Without a model, a rate makes the loop open; without a rate it is
    /// closed. A closed loop has as many connections as users, and the other way round, when only
    /// one of them was written.
    ///
    /// # Errors
    /// Every contradiction in what was written.
    pub fn resolve(&self) -> Result<Load, Vec<Contradiction>> {
        let open = match self.model {
            Some(model) => model == ModelName::Open,
            None => self.rate_per_s.is_some() || self.all_have_rates,
        };
        let mut found = if open {
            self.against_open()
        } else {
            self.against_closed()
        };
        found.extend(self.against_streams());
        found.extend(self.against_pool_keys(open));
        if !found.is_empty() {
            return Err(found);
        }
        let streams = self.streams.unwrap_or(DEFAULT_STREAMS);
        let shared = streams > 1;
        // Of users who share connections each has a stream.
        let of_connections = self.connections.map(|c| c.saturating_mul(streams));
        let users = self.users.or(of_connections).unwrap_or(DEFAULT_USERS);
        let model = if open {
            Model::Open {
                rate_per_s: self.rate_per_s.unwrap_or_default(),
                arrivals: self.arrivals.unwrap_or_default(),
            }
        } else {
            Model::Closed {
                users,
                spawn_per_s: self.spawn_per_s,
                think: self.think.unwrap_or_default(),
            }
        };
        let (connections, connection) = if open {
            (DEFAULT_CONNECTIONS, ConnectionUse::Pool)
        } else if shared {
            (users.div_ceil(streams), ConnectionUse::Pool)
        } else {
            (users, ConnectionUse::PerUser)
        };
        Ok(Load {
            model,
            connections: self.connections.unwrap_or(connections),
            connection: self.connection.unwrap_or(connection),
            reuse: self.reuse.unwrap_or_default(),
            open: self.open.unwrap_or_default(),
            idle: self.idle,
            duration_ns: self.duration_ns.unwrap_or(DEFAULT_DURATION_NS),
            warmup_ns: self.warmup_ns.unwrap_or(DEFAULT_WARMUP_NS),
            repeats: self.repeats.unwrap_or(match self.precision {
                Some(_) => DEFAULT_REPEATS_MOST,
                None => DEFAULT_REPEATS,
            }),
            precision: self.precision,
            fresh: self.fresh.unwrap_or(true),
            passes: self.passes.clone(),
            timeout_ns: self.timeout_ns.unwrap_or(DEFAULT_TIMEOUT_NS),
            redirects: self.redirects.unwrap_or(0),
            loops: self.loops.unwrap_or(DEFAULT_LOOPS),
            streams,
        })
    }

    fn against_open(&self) -> Vec<Contradiction> {
        const CLOSED: &str = "remove it, or say model = \"closed\" and no rate";
        let mut found = Vec::new();
        let mut say = |wrong: bool, key, what, remedy| {
            if wrong {
                found.push(Contradiction { key, what, remedy });
            }
        };
        say(
            self.rate_per_s.is_none() && !self.all_have_rates,
            "rate",
            "an open loop needs a rate",
            "add rate = \"100/s\"",
        );
        say(
            self.users.is_some(),
            "users",
            "an open loop has no users",
            CLOSED,
        );
        say(
            self.spawn_per_s.is_some(),
            "spawn",
            "an open loop has no users to spawn",
            CLOSED,
        );
        say(
            self.think.is_some(),
            "think",
            "an open loop has no users who think",
            CLOSED,
        );
        say(
            self.connection == Some(ConnectionUse::PerUser),
            "connection",
            "an open loop has no users to keep a connection each",
            "say \"pool\" or \"per-request\"",
        );
        found.extend(self.against_idle(ConnectionUse::Pool));
        found
    }

    fn against_closed(&self) -> Vec<Contradiction> {
        const OPEN: &str = "remove it, or say model = \"open\"";
        let mut found = Vec::new();
        let mut say = |wrong: bool, key, what, remedy| {
            if wrong {
                found.push(Contradiction { key, what, remedy });
            }
        };
        let rate = "a closed loop sends as fast as its users get answers";
        say(self.rate_per_s.is_some(), "rate", rate, OPEN);
        say(
            self.arrivals.is_some(),
            "arrivals",
            "a closed loop has no arrivals of its own",
            OPEN,
        );
        let shared = self.streams.is_some_and(|streams| streams > 1);
        let per_user = self.connection == Some(ConnectionUse::PerUser)
            || (self.connection.is_none() && !shared);
        let fewer = match (self.connections, self.users) {
            (Some(connections), Some(users)) => connections < users,
            _ => false,
        };
        say(
            per_user && fewer,
            "connections",
            "each user keeps a connection, and there are more users than that",
            "remove it, or say connection = \"pool\"",
        );
        found.extend(self.against_idle(ConnectionUse::PerUser));
        found
    }

    fn against_streams(&self) -> Option<Contradiction> {
        let alone = self.connection.is_some_and(|c| c != ConnectionUse::Pool);
        let shared = self.streams.is_some_and(|streams| streams > 1);
        (alone && shared).then_some(Contradiction {
            key: "streams",
            what: "only connections of a pool are shared by streams",
            remedy: "say connection = \"pool\"",
        })
    }

    /// What only a pool has room for.
    fn against_pool_keys(&self, open: bool) -> Vec<Contradiction> {
        let shared = self.streams.is_some_and(|streams| streams > 1);
        let is_pool = match self.connection {
            Some(connection) => connection == ConnectionUse::Pool,
            None => open || shared,
        };
        let keys = [
            ("reuse", self.reuse.is_some()),
            ("open", self.open.is_some()),
        ];
        let written = keys.into_iter().filter(|(_, written)| *written && !is_pool);
        let contradiction = |(key, _)| Contradiction {
            key,
            what: "it says how a pool uses its connections, and there is no pool",
            remedy: "remove it, or say connection = \"pool\"",
        };
        written.map(contradiction).collect()
    }

    fn against_idle(&self, default: ConnectionUse) -> Option<Contradiction> {
        let per_request = self.connection.unwrap_or(default) == ConnectionUse::PerRequest;
        (self.idle.is_some() && per_request).then_some(Contradiction {
            key: "idle",
            what: "a connection per request is never used again",
            remedy: "remove it, or say connection = \"pool\"",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(draft: &LoadDraft) -> Vec<&'static str> {
        draft
            .resolve()
            .unwrap_err()
            .iter()
            .map(|found| found.key)
            .collect()
    }

    #[test]
    fn streams_share_the_connections_of_a_pool() {
        let load = |draft: LoadDraft| draft.resolve().unwrap();
        let of = |load: Load| match load.model {
            Model::Closed { users, .. } => (load.connection, load.connections, users),
            Model::Open { .. } => (load.connection, load.connections, 0),
        };
        let ten = LoadDraft {
            connections: Some(10),
            streams: Some(8),
            ..LoadDraft::default()
        };
        assert_eq!(of(load(ten.clone())), (ConnectionUse::Pool, 10, 80));
        let users = LoadDraft {
            users: Some(20),
            streams: Some(8),
            ..LoadDraft::default()
        };
        assert_eq!(of(load(users)), (ConnectionUse::Pool, 3, 20));
        let per_user = LoadDraft {
            connection: Some(ConnectionUse::PerUser),
            ..ten
        };
        assert_eq!(keys(&per_user), ["streams"]);
    }

    #[test]
    fn nothing_written_is_a_closed_loop() {
        let load = Load::default();
        let think = Think::default();
        let model = Model::Closed {
            users: DEFAULT_USERS,
            spawn_per_s: None,
            think,
        };
        assert_eq!((load.model, load.connections), (model, DEFAULT_USERS));
        assert_eq!(load.connection, ConnectionUse::PerUser);
        assert!(load.fresh);
    }

    #[test]
    fn a_rate_makes_an_open_loop_with_a_pool() {
        let load = LoadDraft {
            rate_per_s: Some(5.0),
            ..LoadDraft::default()
        }
        .resolve()
        .unwrap();
        let model = Model::Open {
            rate_per_s: 5.0,
            arrivals: Arrivals::Poisson,
        };
        assert_eq!((load.model, load.connection), (model, ConnectionUse::Pool));
        assert_eq!(load.connections, DEFAULT_CONNECTIONS);
        assert_eq!(
            (load.reuse, load.open),
            (PoolReuse::Recent, PoolOpen::OnDemand)
        );
    }

    #[test]
    fn only_a_pool_says_how_it_uses_connections() {
        let both = LoadDraft {
            reuse: Some(PoolReuse::Oldest),
            open: Some(PoolOpen::AtStart),
            ..LoadDraft::default()
        };
        assert_eq!(keys(&both), ["reuse", "open"]);
        let pool = LoadDraft {
            connection: Some(ConnectionUse::Pool),
            ..both.clone()
        };
        let load = pool.resolve().unwrap();
        assert_eq!(
            (load.reuse, load.open),
            (PoolReuse::Oldest, PoolOpen::AtStart)
        );
        let open = LoadDraft {
            rate_per_s: Some(5.0),
            ..both.clone()
        };
        assert_eq!(open.resolve().unwrap().open, PoolOpen::AtStart);
        let alone = LoadDraft {
            connection: Some(ConnectionUse::PerRequest),
            ..open
        };
        assert_eq!(keys(&alone), ["reuse", "open"]);
    }

    #[test]
    fn a_load_recorded_before_the_pool_could_be_chosen_means_what_it_did() {
        let mut stored = serde_json::to_value(Load::default()).unwrap();
        for key in ["reuse", "open"] {
            stored.as_object_mut().unwrap().remove(key);
        }
        let load: Load = serde_json::from_value(stored).unwrap();
        assert_eq!(
            (load.reuse, load.open),
            (PoolReuse::Oldest, PoolOpen::AtStart)
        );
    }

    #[test]
    fn connections_and_users_give_each_other() {
        let users = LoadDraft {
            users: Some(3),
            ..LoadDraft::default()
        }
        .resolve()
        .unwrap();
        let both = LoadDraft {
            connections: Some(3),
            ..LoadDraft::default()
        }
        .resolve()
        .unwrap();
        assert_eq!(users, both);
        assert_eq!(users.connections, 3);
    }

    #[test]
    fn contradictions_are_found_all_at_once() {
        let open = LoadDraft {
            model: Some(ModelName::Open),
            users: Some(1),
            spawn_per_s: Some(1.0),
            think: Some(Think::default()),
            connection: Some(ConnectionUse::PerUser),
            ..LoadDraft::default()
        };
        assert_eq!(
            keys(&open),
            ["rate", "users", "spawn", "think", "connection"]
        );
        let closed = LoadDraft {
            model: Some(ModelName::Closed),
            rate_per_s: Some(1.0),
            arrivals: Some(Arrivals::Uniform),
            connections: Some(1),
            users: Some(2),
            ..LoadDraft::default()
        };
        assert_eq!(keys(&closed), ["rate", "arrivals", "connections"]);
        let idle = LoadDraft {
            idle: Some(Think::default()),
            connection: Some(ConnectionUse::PerRequest),
            ..LoadDraft::default()
        };
        assert_eq!(keys(&idle), ["idle"]);
    }
}
