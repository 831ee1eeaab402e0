//! What the command line says about the load instead of the scenario.

use super::{ConnectionUse, Contradiction, Load, LoadDraft, Model, ModelName};

/// What the command line says instead of the scenario; `None` leaves what the scenario says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// `-c`: connections, and users too in a closed loop that does not state them.
    pub connections: Option<u32>,
    /// `--users`: makes the loop closed.
    pub users: Option<u32>,
    /// `-r`: makes the loop open.
    pub rate_per_s: Option<f64>,
    /// `-d`, in nanoseconds.
    pub duration_ns: Option<u64>,
    /// `--repeats`.
    pub repeats: Option<u32>,
    /// `--precision`.
    pub precision: Option<f64>,
    /// `--loops`.
    pub loops: Option<u32>,
    /// `--streams`.
    pub streams: Option<u32>,
}

impl Overrides {
    /// What is 0 and must not be.
    fn zeroes(&self) -> Vec<Contradiction> {
        let zero = |key, is_zero: bool| {
            let (what, remedy) = ("nothing would be measured", "give more than 0");
            is_zero.then_some(Contradiction { key, what, remedy })
        };
        [
            zero("connections", self.connections == Some(0)),
            zero("users", self.users == Some(0)),
            zero(
                "rate",
                self.rate_per_s
                    .is_some_and(|rate| rate.is_nan() || rate <= 0.0),
            ),
            zero("duration", self.duration_ns == Some(0)),
            zero("repeats", self.repeats == Some(0)),
            zero("loops", self.loops == Some(0)),
            zero("streams", self.streams == Some(0)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Load {
    /// The load with the overrides in place of what was written. A rate turns a closed loop into
    /// an open one and users turn an open one into a closed one; what only the former model knows
    /// is dropped with it.
    ///
    /// # Errors
    /// When the overrides contradict each other or what they leave in place.
    pub fn overridden(&self, by: &Overrides) -> Result<Self, Vec<Contradiction>> {
        if by.rate_per_s.is_some() && by.users.is_some() {
            return Err(vec![Contradiction {
                key: "users",
                what: "a rate makes an open loop, which has no users",
                remedy: "give one of the two",
            }]);
        }
        let zeroes = by.zeroes();
        if !zeroes.is_empty() {
            return Err(zeroes);
        }
        let mut draft = self.draft();
        let was_open = matches!(self.model, Model::Open { .. });
        let is_open = by.rate_per_s.is_some() || (was_open && by.users.is_none());
        if is_open != was_open {
            draft.drop_model();
        }
        if draft.connection.is_none() && !is_open {
            // Users keep a connection each then.
            (draft.reuse, draft.open) = (None, None);
        }
        draft.model = Some(if is_open {
            ModelName::Open
        } else {
            ModelName::Closed
        });
        draft.rate_per_s = by.rate_per_s.or(draft.rate_per_s);
        draft.duration_ns = by.duration_ns.or(draft.duration_ns);
        if by.precision.is_some() && self.precision.is_none() {
            // What was asked of a fixed number is no cap.
            draft.repeats = None;
        }
        draft.repeats = by.repeats.or(draft.repeats);
        draft.precision = by.precision.or(draft.precision);
        draft.loops = by.loops.or(draft.loops);
        draft.streams = by.streams.or(draft.streams);
        if by.streams.is_some_and(|streams| streams > 1)
            && draft.connection == Some(ConnectionUse::PerUser)
        {
            // Users share connections then; how many there are is decided again.
            draft.connection = None;
            if by.connections.is_some() {
                draft.users = None;
            } else {
                draft.connections = None;
            }
        }
        let coupled = draft.connection.is_none_or(|c| c == ConnectionUse::PerUser);
        if !is_open && coupled && (by.users.is_some() || by.connections.is_some()) {
            (draft.users, draft.connections) = (by.users, by.connections);
        } else {
            draft.users = by.users.or(draft.users);
            draft.connections = by.connections.or(draft.connections);
        }
        draft.resolve()
    }

    fn draft(&self) -> LoadDraft {
        let pooled = self.connection == ConnectionUse::Pool;
        let mut draft = LoadDraft {
            connections: Some(self.connections),
            connection: Some(self.connection),
            reuse: pooled.then_some(self.reuse),
            open: pooled.then_some(self.open),
            idle: self.idle,
            duration_ns: Some(self.duration_ns),
            warmup_ns: Some(self.warmup_ns),
            repeats: Some(self.repeats),
            precision: self.precision,
            fresh: Some(self.fresh),
            passes: self.passes.clone(),
            timeout_ns: Some(self.timeout_ns),
            redirects: Some(self.redirects),
            loops: Some(self.loops),
            streams: Some(self.streams),
            ..LoadDraft::default()
        };
        match self.model {
            Model::Open {
                rate_per_s,
                arrivals,
            } => {
                draft.rate_per_s = (rate_per_s > 0.0).then_some(rate_per_s);
                draft.all_have_rates = rate_per_s <= 0.0;
                draft.arrivals = Some(arrivals);
            }
            Model::Closed {
                users,
                spawn_per_s,
                think,
            } => {
                draft.users = Some(users);
                draft.spawn_per_s = spawn_per_s;
                draft.think = Some(think);
            }
        }
        draft
    }
}

impl LoadDraft {
    /// Forgets what only one of the two models knows, so that the other one's defaults apply.
    fn drop_model(&mut self) {
        self.rate_per_s = None;
        self.arrivals = None;
        self.users = None;
        self.spawn_per_s = None;
        self.think = None;
        self.connections = None;
        if self.connection != Some(ConnectionUse::PerRequest) {
            self.connection = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Arrivals, DEFAULT_CONNECTIONS, PoolOpen, PoolReuse, Think};

    #[test]
    fn overriding_with_nothing_changes_nothing() {
        let open = LoadDraft {
            rate_per_s: Some(5.0),
            ..LoadDraft::default()
        }
        .resolve()
        .unwrap();
        let oldest = LoadDraft {
            rate_per_s: Some(5.0),
            reuse: Some(PoolReuse::Oldest),
            open: Some(PoolOpen::AtStart),
            ..LoadDraft::default()
        }
        .resolve()
        .unwrap();
        for load in [Load::default(), open, oldest] {
            assert_eq!(load.overridden(&Overrides::default()).unwrap(), load);
        }
    }

    #[test]
    fn a_rate_opens_the_loop_and_users_close_it() {
        let rate = Overrides {
            rate_per_s: Some(9.0),
            ..Overrides::default()
        };
        let users = Overrides {
            users: Some(4),
            ..Overrides::default()
        };
        let open = Load::default().overridden(&rate).unwrap();
        assert_eq!(
            open.model,
            Model::Open {
                rate_per_s: 9.0,
                arrivals: Arrivals::Poisson
            }
        );
        assert_eq!(open.connections, DEFAULT_CONNECTIONS);
        let closed = open.overridden(&users).unwrap();
        let think = Think::default();
        assert_eq!(
            closed.model,
            Model::Closed {
                users: 4,
                spawn_per_s: None,
                think
            }
        );
        assert_eq!(
            (closed.connections, closed.connection),
            (4, ConnectionUse::PerUser)
        );
        let both = Overrides {
            users: Some(4),
            ..rate
        };
        assert_eq!(
            Load::default().overridden(&both).unwrap_err()[0].key,
            "users"
        );
    }

    #[test]
    fn users_with_a_connection_each_have_no_pool() {
        let open = LoadDraft {
            rate_per_s: Some(5.0),
            reuse: Some(PoolReuse::Oldest),
            open: Some(PoolOpen::AtStart),
            ..LoadDraft::default()
        };
        let users = Overrides {
            users: Some(4),
            ..Overrides::default()
        };
        let load = open.resolve().unwrap().overridden(&users).unwrap();
        assert_eq!(load.connection, ConnectionUse::PerUser);
        let rate = Overrides {
            rate_per_s: Some(9.0),
            ..Overrides::default()
        };
        let load = open.resolve().unwrap().overridden(&rate).unwrap();
        assert_eq!(
            (load.reuse, load.open),
            (PoolReuse::Oldest, PoolOpen::AtStart)
        );
    }

    #[test]
    fn connections_of_a_closed_loop_bring_their_users() {
        let by = Overrides {
            connections: Some(40),
            ..Overrides::default()
        };
        let load = Load::default().overridden(&by).unwrap();
        assert_eq!(load.connections, 40);
        assert!(matches!(load.model, Model::Closed { users: 40, .. }));
    }

    #[test]
    fn nothing_can_be_overridden_with_nought() {
        let zero = Overrides {
            connections: Some(0),
            users: None,
            rate_per_s: Some(0.0),
            duration_ns: Some(0),
            repeats: Some(0),
            precision: None,
            loops: Some(0),
            streams: Some(0),
        };
        let found = Load::default().overridden(&zero).unwrap_err();
        let keys: Vec<_> = found.iter().map(|found| found.key).collect();
        assert_eq!(
            keys,
            [
                "connections",
                "rate",
                "duration",
                "repeats",
                "loops",
                "streams"
            ]
        );
    }
}
