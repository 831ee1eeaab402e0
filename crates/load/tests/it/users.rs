//! Classes of users, rates of endpoints, connections at rest, values that run out.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use slowpath_core::nanos::SECOND;
use slowpath_core::sample::{Outcome, Sample};
use slowpath_core::scenario::{
    Arrivals, ConnectionUse, Endpoint, Escape, LoadDraft, Part, Pick, Pool, Scenario, Template,
    Think, UserClass,
};

use crate::server::{After, OK, Server};
use crate::{run, run_until, scenario};

fn answering() -> Server {
    Server::start(|_, stream| {
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    })
}

fn short(draft: LoadDraft) -> LoadDraft {
    LoadDraft {
        duration_ns: Some(400_000_000),
        warmup_ns: Some(100_000_000),
        ..draft
    }
}

fn fixed(ns: u64) -> Think {
    Think::Uniform {
        min_ns: ns,
        max_ns: ns,
    }
}

/// Endpoints `a` and `b` beside the one of the plain scenario, which is called `/`.
fn three(load: &LoadDraft) -> Scenario {
    let mut scenario = scenario(load);
    for name in ["a", "b"] {
        let path = Template::literal(&format!("/{name}"), Escape::Url);
        scenario.endpoints.push(Endpoint::get(name.into(), path));
    }
    scenario
}

fn class(name: &str, share: f64, endpoints: &[&str], steps: &[&str]) -> UserClass {
    UserClass {
        name: name.into(),
        share,
        think: None,
        endpoints: endpoints.iter().map(|e| ((*e).into(), 1.0)).collect(),
        steps: steps.iter().map(|e| (*e).into()).collect(),
    }
}

fn by_user(samples: &[Sample]) -> BTreeMap<u32, Vec<&Sample>> {
    let mut users: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        users.entry(sample.user).or_default().push(sample);
    }
    users
}

#[test]
fn users_keep_to_their_class() {
    let server = answering();
    let mut scenario = three(&short(LoadDraft {
        users: Some(4),
        ..LoadDraft::default()
    }));
    let slow = UserClass {
        think: Some(fixed(50_000_000)),
        ..class("slow", 1.0, &["b"], &[])
    };
    scenario.users = vec![class("quick", 3.0, &["/", "a"], &[]), slow];
    for loops in [1, 2] {
        scenario.load.loops = loops;
        let run = run(scenario.clone(), server.address);
        let users = by_user(&run.samples);
        let endpoints =
            |user| -> BTreeSet<u16> { users[&user].iter().map(|s| s.endpoint).collect() };
        // Of four users with shares 3 : 1, the third is the slow one.
        for user in [0, 1, 3] {
            assert_eq!(
                endpoints(user),
                BTreeSet::from([0, 1]),
                "{loops} loops, user {user}"
            );
        }
        assert_eq!(endpoints(2), BTreeSet::from([2]));
        for pair in users[&2].windows(2) {
            assert!(pair[1].scheduled.since(pair[0].done) >= 50_000_000);
        }
    }
}

#[test]
fn steps_are_gone_through_in_order() {
    let server = answering();
    let mut scenario = three(&short(LoadDraft {
        users: Some(2),
        connection: Some(ConnectionUse::Pool),
        ..LoadDraft::default()
    }));
    scenario.users = vec![class("shopper", 1.0, &[], &["b", "/", "b", "a"])];
    let run = run(scenario, server.address);
    for (user, samples) in by_user(&run.samples) {
        let steps: Vec<u16> = samples.iter().map(|s| s.endpoint).collect();
        assert!(steps.len() > 8, "{steps:?}");
        for (position, step) in steps.iter().enumerate() {
            assert_eq!(*step, [2, 0, 2, 1][position % 4], "user {user}");
        }
    }
}

#[test]
fn users_arrive_one_after_the_other() {
    let server = answering();
    let run = run(
        scenario(&short(LoadDraft {
            users: Some(5),
            spawn_per_s: Some(20.0),
            think: Some(fixed(10_000_000)),
            ..LoadDraft::default()
        })),
        server.address,
    );
    for (user, samples) in by_user(&run.samples) {
        let first = samples[0].scheduled.since(run.drove.load.begin);
        assert_eq!(first, u64::from(user) * 50_000_000);
    }
}

#[test]
fn an_endpoint_with_a_rate_follows_it_exactly() {
    let server = answering();
    let mut scenario = three(&short(LoadDraft {
        rate_per_s: Some(100.0),
        arrivals: Some(Arrivals::Uniform),
        ..LoadDraft::default()
    }));
    scenario.endpoints[2].rate_per_s = Some(25.0);
    for loops in [1, 2] {
        scenario.load.loops = loops;
        let run = run(scenario.clone(), server.address);
        let offered: Vec<u64> = run.drove.endpoints.iter().map(|t| t.offered).collect();
        assert_eq!(offered[0] + offered[1], 40, "{loops} loops");
        assert_eq!(offered[2], 10, "{loops} loops");
        let begin = run.drove.load.begin;
        let own = run.samples.iter().filter(|s| s.endpoint == 2);
        assert!(
            own.into_iter()
                .all(|s| s.scheduled.since(begin) % 40_000_000 == 0)
        );
    }
}

#[test]
fn connections_rest_before_they_are_used_again() {
    let server = answering();
    let idle = Some(fixed(60_000_000));
    let open = LoadDraft {
        rate_per_s: Some(100.0),
        connections: Some(20),
        idle,
        ..LoadDraft::default()
    };
    let pooled = LoadDraft {
        users: Some(2),
        connections: Some(2),
        connection: Some(ConnectionUse::Pool),
        idle,
        ..LoadDraft::default()
    };
    let per_user = LoadDraft {
        users: Some(2),
        idle,
        ..LoadDraft::default()
    };
    for draft in [open, pooled, per_user] {
        let run = run_until(40, scenario(&short(draft.clone())), server.address);
        let mut last_of_user: BTreeMap<u32, &Sample> = BTreeMap::new();
        let mut last_on: BTreeMap<u32, &Sample> = BTreeMap::new();
        let mut reused = 0;
        for sample in &run.samples {
            let of_user = last_of_user.insert(sample.user, sample);
            let Some(before) = last_on.insert(sample.connection, sample) else {
                continue;
            };
            reused += 1;
            assert!(sample.idle_before_ns >= 60_000_000, "{sample:?}");
            // The rest is never the server's: it ends where the connection becomes free.
            assert_eq!(
                sample.ready,
                sample.scheduled.max(before.done),
                "{sample:?}"
            );
            if let Some(of_user) = of_user.filter(|_| draft.users.is_some()) {
                // And not the latency of a user in a closed loop: what the user finds left of it.
                let found = of_user.done.max(before.done);
                let rest_ns = before.done.plus(60_000_000).since(found);
                assert_eq!(sample.scheduled, of_user.done.plus(rest_ns), "{sample:?}");
            }
        }
        assert!(reused > 8, "{reused} of {draft:?}");
    }
}

fn of_pool(pick: Pick, values: usize) -> Scenario {
    let mut scenario = scenario(&short(LoadDraft {
        users: Some(3),
        ..LoadDraft::default()
    }));
    let values: Vec<String> = (0..values).map(|value| value.to_string()).collect();
    scenario.pools = vec![Pool {
        pick,
        ..Pool::plain("ids", values)
    }];
    let parts = vec![Part::Literal("/".into()), Part::Pool(0)];
    let escape = Escape::Url;
    scenario.endpoints[0].path = Template { parts, escape };
    scenario
}

fn asked(server: &Server) -> Vec<u32> {
    let seen = server.seen.lock().unwrap();
    seen.iter().map(|head| crate::server::seq(head)).collect()
}

#[test]
fn unique_values_are_given_out_once_and_end_the_load() {
    for loops in [1, 2] {
        let server = answering();
        let mut scenario = of_pool(Pick::Unique, 50);
        scenario.load.loops = loops;
        scenario.load.duration_ns = 600 * SECOND;
        let run = run(scenario, server.address);
        let mut asked = asked(&server);
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), run.samples.len(), "each was asked for once");
        // The loop that has given out its half ends the load, however far the other has come.
        let least = 50 / loops as usize;
        assert!((least..=50).contains(&asked.len()), "{asked:?}");
        let said = "all 50 unique values of the pool ids were given out";
        assert_eq!(run.drove.cut_short, said);
        assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
        assert!(run.drove.endpoints[0].unsent == 0);
    }
}

#[test]
fn an_open_loop_ends_where_its_values_end() {
    let server = answering();
    let mut scenario = of_pool(Pick::Unique, 30);
    scenario.load = crate::resolved(&short(LoadDraft {
        rate_per_s: Some(100.0),
        arrivals: Some(Arrivals::Uniform),
        ..LoadDraft::default()
    }));
    let run = run(scenario, server.address);
    assert_eq!(asked(&server).len(), 30);
    // Ten in the warm-up, if the machine could keep it, and the others in the window, which ends
    // where the next would be due.
    let warmed = run.samples.len() - run.measured().count();
    assert!(warmed <= 10, "{warmed}");
    let offered = run.drove.endpoints[0].offered;
    assert_eq!(offered, 30 - warmed as u64);
    assert_eq!(run.drove.window.len_ns(), offered * 10_000_000);
}

#[test]
fn a_sequence_begins_again() {
    let server = answering();
    let mut scenario = of_pool(Pick::Sequence, 7);
    scenario.load = crate::resolved(&short(LoadDraft {
        users: Some(1),
        ..LoadDraft::default()
    }));
    let run = run_until(21, scenario, server.address);
    assert!(run.samples.len() > 20);
    for (number, value) in (0_u32..).zip(asked(&server)) {
        assert_eq!(value, number % 7);
    }
}
