//! Whether the parts of a scenario agree with each other.

use std::collections::BTreeSet;

use super::{ConnectionUse, Contradiction, Endpoint, Http, Model, Scenario, Template, head_counts};

/// The pass whose first touches are to find nothing in any cache.
pub const COLD: &str = "cold";

impl Scenario {
    /// Requests a second that an open loop schedules, over all endpoints; `None` in a closed one.
    pub fn offered_per_s(&self) -> Option<f64> {
        let Model::Open { rate_per_s, .. } = self.load.model else {
            return None;
        };
        let own = self.endpoints.iter().filter_map(|e| e.rate_per_s);
        Some(rate_per_s + own.sum::<f64>())
    }

    /// The same for each endpoint: its own rate, or its share of the common one by weight.
    pub fn offered_by_endpoint(&self) -> Option<Vec<f64>> {
        let Model::Open { rate_per_s, .. } = self.load.model else {
            return None;
        };
        let common = |e: &&Endpoint| e.rate_per_s.is_none();
        let weights: f64 = self.endpoints.iter().filter(common).map(|e| e.weight).sum();
        let rate = |e: &Endpoint| match e.rate_per_s {
            Some(own) => own,
            None if weights > 0.0 => rate_per_s * e.weight / weights,
            None => 0.0,
        };
        Some(self.endpoints.iter().map(rate).collect())
    }

    /// Every contradiction between the load and the rest. Each key is a path in the scenario.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        let mut found = match self.load.model {
            Model::Open { rate_per_s, .. } => self.against_open(rate_per_s),
            Model::Closed { users, .. } => self.against_closed(users),
        };
        found.extend(self.against_cold());
        found.extend(self.against_http());
        found
    }

    /// What the version of HTTP has no room for.
    fn against_http(&self) -> Vec<Contradiction> {
        const ONE: &str = "remove it, or say target.http = \"1.1\"";
        let mut found = Vec::new();
        let mut say = |wrong: bool, key, what, remedy| {
            if wrong {
                found.push(Contradiction { key, what, remedy });
            }
        };
        let shares = self.target.http == Http::Two;
        say(
            !shares && self.load.streams > 1,
            "load.streams",
            "a connection of HTTP/1.1 carries one request at a time",
            "say target.http = \"2\"",
        );
        let slow = "streams share a connection, so that one cannot be slow for itself";
        let endpoints = || self.endpoints.iter();
        let reads = endpoints().any(|e| e.read_bytes_per_s.is_some());
        say(shares && reads, "endpoint.read_rate", slow, ONE);
        let sends = endpoints().any(|e| e.send_bytes_per_s.is_some());
        say(shares && sends, "endpoint.send_rate", slow, ONE);
        say(
            shares && self.load.idle.is_some(),
            "load.idle",
            "a connection that streams share does not rest between two requests",
            ONE,
        );
        let follows = shares && self.load.redirects > 0;
        say(
            follows,
            "load.redirects",
            "they are followed over HTTP/1.1 alone",
            ONE,
        );
        found
    }

    fn against_open(&self, rate_per_s: f64) -> Vec<Contradiction> {
        const CLOSED: &str = "remove it, or say model = \"closed\" and no rate";
        let mut found = Vec::new();
        let mut say = |wrong: bool, key, what, remedy| {
            if wrong {
                found.push(Contradiction { key, what, remedy });
            }
        };
        say(
            !self.users.is_empty(),
            "user",
            "an open loop has no users",
            CLOSED,
        );
        say(
            self.endpoints.iter().any(|e| !e.extract.is_empty()),
            "endpoint.extract",
            "an open loop has no users whose next request could use it",
            CLOSED,
        );
        let all_have = self.endpoints.iter().all(|e| e.rate_per_s.is_some());
        say(
            all_have && rate_per_s > 0.0,
            "load.rate",
            "every endpoint has a rate of its own, so that none is left to share it",
            "remove it, or one of theirs",
        );
        say(
            !all_have && rate_per_s <= 0.0,
            "load.rate",
            "there are endpoints without a rate of their own",
            "add rate = \"100/s\"",
        );
        let pooled = self.load.connection == ConnectionUse::Pool;
        let resting_s = self.load.idle.map_or(0.0, |idle| idle.mean_ns() / 1e9);
        let resting = resting_s * self.offered_per_s().unwrap_or_default();
        say(
            pooled && resting > f64::from(self.load.connections),
            "load.idle",
            "so many connections would have to rest at once that none is left for the rate",
            "allow as many connections as rate x idle and some more, or shorten it",
        );
        found
    }

    fn against_closed(&self, users: u32) -> Vec<Contradiction> {
        let mut found = Vec::new();
        let mut say = |wrong: bool, key, what, remedy| {
            if wrong {
                found.push(Contradiction { key, what, remedy });
            }
        };
        say(
            self.endpoints.iter().any(|e| e.rate_per_s.is_some()),
            "endpoint.rate",
            "a closed loop sends as fast as its users get answers",
            "remove it, or say model = \"open\"",
        );
        let shares: Vec<f64> = self.users.iter().map(|class| class.share).collect();
        say(
            !shares.is_empty() && head_counts(&shares, users).contains(&0),
            "load.users",
            "there are classes whose share of them is less than one user",
            "raise it, or give those classes a larger share",
        );
        let (mut never, mut stuck) = (false, false);
        for journey in self.journeys() {
            never |= journey.needs_what_never_comes();
            stuck |= !journey.has_a_beginning();
        }
        say(
            never,
            "endpoint",
            "requests name a variable that no request before them extracts",
            "extract it in an endpoint of the same users, in an earlier step",
        );
        say(
            stuck && !never,
            "endpoint",
            "users can send nothing at first, because all their requests name variables",
            "give them an endpoint without one",
        );
        found
    }

    fn against_cold(&self) -> Option<Contradiction> {
        let cold = self.load.passes.iter().any(|pass| pass == COLD);
        let restarts = self.target.command.is_some() && self.load.fresh;
        (cold && self.target.reset.is_empty() && !restarts).then_some(Contradiction {
            key: "load.passes",
            what: "nothing makes the cold pass cold",
            remedy: "add target.reset, such as [\"POST /cache/clear\"]",
        })
    }

    /// What each class of users goes through; without classes, what all do.
    fn journeys(&self) -> Vec<Journey<'_>> {
        let named = |name: &String| self.endpoints.iter().find(|e| e.name == *name);
        if self.users.is_empty() {
            return vec![Journey {
                endpoints: self.endpoints.iter().collect(),
                in_order: false,
            }];
        }
        let journey = |class: &super::UserClass| {
            let weighted = class.endpoints.iter().map(|(name, _)| name);
            let names = weighted.chain(&class.steps);
            Journey {
                endpoints: names.filter_map(named).collect(),
                in_order: !class.steps.is_empty(),
            }
        };
        self.users.iter().map(journey).collect()
    }
}

/// The endpoints of users, in order if they are steps.
struct Journey<'a> {
    endpoints: Vec<&'a Endpoint>,
    in_order: bool,
}

impl Journey<'_> {
    fn needs_what_never_comes(&self) -> bool {
        let all = self.endpoints.iter().flat_map(|e| extracted(e));
        let mut known: BTreeSet<usize> = if self.in_order {
            BTreeSet::new()
        } else {
            all.collect()
        };
        self.endpoints.iter().any(|endpoint| {
            let lacks = !needed(endpoint).is_subset(&known);
            known.extend(extracted(endpoint));
            lacks
        })
    }

    /// Whether something can be sent while nothing is known, from which all else follows.
    fn has_a_beginning(&self) -> bool {
        let mut known = BTreeSet::new();
        let mut reached = 0;
        loop {
            let sendable = |endpoint: &&&Endpoint| needed(endpoint).is_subset(&known);
            let sendable: Vec<_> = self.endpoints.iter().filter(sendable).collect();
            if sendable.len() == reached {
                return reached == self.endpoints.len();
            }
            reached = sendable.len();
            known.extend(sendable.into_iter().flat_map(|e| extracted(e)));
        }
    }
}

fn needed(endpoint: &Endpoint) -> BTreeSet<usize> {
    let texts = endpoint.texts();
    texts.into_iter().flat_map(Template::variables).collect()
}

fn extracted(endpoint: &Endpoint) -> impl Iterator<Item = usize> + '_ {
    endpoint.extract.iter().map(|extract| extract.variable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Escape, Extract, Extraction, LoadDraft, Part, Step, Think, UserClass};

    fn endpoint(name: &str, needs: &[usize], extracts: &[usize]) -> Endpoint {
        let parts = needs.iter().map(|variable| Part::Variable(*variable));
        let path = Template {
            parts: parts.collect(),
            escape: Escape::Url,
        };
        let extract = |&variable| Extract {
            variable,
            from: Extraction::Header("x".to_owned()),
        };
        Endpoint {
            extract: extracts.iter().map(extract).collect(),
            ..Endpoint::get(name.to_owned(), path)
        }
    }

    fn scenario(draft: &LoadDraft, endpoints: Vec<Endpoint>) -> Scenario {
        let mut scenario = Scenario::from_url("http://127.0.0.1:1/").unwrap();
        scenario.load = draft.resolve().unwrap();
        scenario.endpoints = endpoints;
        scenario
    }

    fn open() -> LoadDraft {
        LoadDraft {
            rate_per_s: Some(10.0),
            ..LoadDraft::default()
        }
    }

    fn class(share: f64, steps: &[&str]) -> UserClass {
        UserClass {
            name: "c".to_owned(),
            share,
            think: None,
            endpoints: Vec::new(),
            steps: steps.iter().map(|step| (*step).to_owned()).collect(),
        }
    }

    fn keys(scenario: &Scenario) -> Vec<&'static str> {
        let found = scenario.contradictions();
        found.iter().map(|found| found.key).collect()
    }

    #[test]
    fn an_open_loop_has_neither_users_nor_sessions() {
        let mut scenario = scenario(&open(), vec![endpoint("a", &[], &[0])]);
        scenario.users = vec![class(1.0, &["a"])];
        assert_eq!(keys(&scenario), ["user", "endpoint.extract"]);
        assert_eq!(scenario.offered_per_s(), Some(10.0));
    }

    #[test]
    fn only_http2_has_streams_and_they_are_not_slow_or_at_rest() {
        let shared = LoadDraft {
            streams: Some(4),
            ..LoadDraft::default()
        };
        let mut one = scenario(&shared, vec![endpoint("a", &[], &[])]);
        assert_eq!(keys(&one), ["load.streams"]);
        one.target.http = Http::Two;
        assert_eq!(keys(&one), [""; 0]);
        one.load.idle = Some(Think::default());
        one.endpoints[0].read_bytes_per_s = Some(1.0);
        one.endpoints[0].send_bytes_per_s = Some(1.0);
        one.load.redirects = 1;
        let found = keys(&one);
        let slow = ["endpoint.read_rate", "endpoint.send_rate"];
        assert_eq!(found[..2], slow);
        assert_eq!(found[2..], ["load.idle", "load.redirects"]);
    }

    #[test]
    fn rates_of_endpoints_stand_beside_that_of_the_load() {
        let mut own = endpoint("a", &[], &[]);
        own.rate_per_s = Some(5.0);
        let both = scenario(&open(), vec![own.clone(), endpoint("b", &[], &[])]);
        assert_eq!((keys(&both), both.offered_per_s()), (vec![], Some(15.0)));
        assert_eq!(both.offered_by_endpoint(), Some(vec![5.0, 10.0]));
        assert_eq!(keys(&scenario(&open(), vec![own.clone()])), ["load.rate"]);
        let all = LoadDraft {
            all_have_rates: true,
            ..LoadDraft::default()
        };
        let all = scenario(&all, vec![own.clone()]);
        assert_eq!((keys(&all), all.offered_per_s()), (vec![], Some(5.0)));
        let closed = scenario(&LoadDraft::default(), vec![own]);
        assert_eq!(keys(&closed), ["endpoint.rate"]);
    }

    #[test]
    fn connections_at_rest_leave_some_for_the_rate() {
        let idle = |connections| LoadDraft {
            connections: Some(connections),
            idle: Some(Think::Exponential {
                mean_ns: 5_000_000_000,
            }),
            ..open()
        };
        let of = |connections| keys(&scenario(&idle(connections), vec![endpoint("a", &[], &[])]));
        assert_eq!(of(49), ["load.idle"]);
        assert_eq!(of(64), Vec::<&str>::new());
    }

    #[test]
    fn every_class_has_a_user_and_every_variable_a_source() {
        let endpoints = || {
            vec![
                endpoint("login", &[], &[0]),
                endpoint("list", &[0], &[1]),
                endpoint("detail", &[1], &[]),
            ]
        };
        let with = |users: Vec<UserClass>| {
            let mut scenario = scenario(&LoadDraft::default(), endpoints());
            scenario.users = users;
            keys(&scenario)
        };
        assert_eq!(with(vec![]), Vec::<&str>::new());
        let all = ["login", "list", "detail"];
        assert_eq!(with(vec![class(1.0, &all)]), Vec::<&str>::new());
        assert_eq!(with(vec![class(1.0, &["list", "login"])]), ["endpoint"]);
        assert_eq!(with(vec![class(1.0, &["login", "detail"])]), ["endpoint"]);
        let shares = vec![class(1000.0, &all), class(1.0, &all)];
        assert_eq!(with(shares), ["load.users"]);
        let circle = vec![endpoint("a", &[0], &[1]), endpoint("b", &[1], &[0])];
        let circle = scenario(&LoadDraft::default(), circle);
        assert_eq!(keys(&circle), ["endpoint"]);
    }

    #[test]
    fn a_cold_pass_needs_a_reset() {
        let mut scenario = scenario(&open(), vec![endpoint("a", &[], &[])]);
        scenario.load.passes = vec!["cold".to_owned()];
        assert_eq!(keys(&scenario), ["load.passes"]);
        scenario.target.reset = vec![Step::Command(Vec::new())];
        assert_eq!(keys(&scenario), Vec::<&str>::new());
    }
}
