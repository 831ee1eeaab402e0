//! What an experiment changes while a load runs: what is sent, and how connections are used.

use std::io::Write;

use slowpath_core::scenario::{
    Arrivals, ConnectionUse, Endpoint, Escape, LoadDraft, Part, Pool, Scenario, Template,
};
use slowpath_load::{Control, Reuse};

use crate::server::{After, OK, Server};
use crate::{Run, run_with, scenario};

fn answering() -> Server {
    Server::start(|_, stream| {
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    })
}

fn even() -> LoadDraft {
    LoadDraft {
        rate_per_s: Some(400.0),
        arrivals: Some(Arrivals::Uniform),
        duration_ns: Some(400_000_000),
        warmup_ns: Some(100_000_000),
        ..LoadDraft::default()
    }
}

fn users(users: u32) -> LoadDraft {
    LoadDraft {
        users: Some(users),
        duration_ns: Some(300_000_000),
        warmup_ns: Some(100_000_000),
        ..LoadDraft::default()
    }
}

fn two_endpoints(load: &LoadDraft) -> Scenario {
    let mut scenario = scenario(load);
    let path = Template::literal("/other", Escape::Url);
    scenario.endpoints.push(Endpoint::get("other".into(), path));
    scenario
}

fn withheld(control: &Control) -> u64 {
    control
        .withhold
        .count
        .load(std::sync::atomic::Ordering::Relaxed)
}

/// What was sent of each of two endpoints once the loop had looked.
fn sent(run: &Run) -> [usize; 2] {
    [0, 1].map(|endpoint| run.measured().filter(|s| s.endpoint == endpoint).count())
}

#[test]
fn an_endpoint_that_is_left_out_is_counted_and_not_sent() {
    let server = answering();
    let control = Control::default();
    control.withhold.leave_out(Some(1));
    let run = run_with(two_endpoints(&even()), server.address, &control);
    let [first, second] = sent(&run);
    assert_eq!(second, 0);
    assert_eq!(first as u64 + withheld(&control), 160, "the schedule stays");
    assert!(withheld(&control) > 40, "{first}");
}

#[test]
fn users_ask_for_something_else_than_what_is_left_out() {
    for connection in [ConnectionUse::Pool, ConnectionUse::PerUser] {
        let server = answering();
        let control = Control::default();
        control.withhold.leave_out(Some(0));
        let load = LoadDraft {
            connection: Some(connection),
            ..users(3)
        };
        let run = run_with(two_endpoints(&load), server.address, &control);
        let [first, second] = sent(&run);
        assert!(first == 0 && second > 10, "{first} {second}");
        assert!(withheld(&control) > 0);
    }
}

#[test]
fn one_of_so_many_is_sent() {
    let server = answering();
    let control = Control::default();
    control.withhold.keep_one_of(4);
    let run = run_with(scenario(&even()), server.address, &control);
    assert_eq!(sent(&run)[0], 40);
    assert_eq!(withheld(&control), 120);

    let run = run_with(scenario(&users(8)), server.address, &control);
    let mut going: Vec<u32> = run.measured().map(|s| s.user).collect();
    going.sort_unstable();
    going.dedup();
    assert_eq!(going, [0, 4]);
}

/// Requests for one key in forty.
fn keyed(load: &LoadDraft) -> Scenario {
    let mut scenario = scenario(load);
    let values: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    scenario.pools = vec![Pool::plain("k", values)];
    let escape = Escape::Url;
    let key = Template {
        parts: vec![Part::Pool(0)],
        escape,
    };
    scenario.endpoints[0].path = Template {
        parts: vec![Part::Literal("/".into()), Part::Pool(0)],
        escape,
    };
    scenario.endpoints[0].key = Some(key);
    scenario
}

#[test]
fn keys_are_asked_for_as_an_experiment_wants() {
    // Slower than requests come, so that as many are under way as there are connections.
    let server = Server::start(|_, stream| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    });
    let asked = |change: &dyn Fn(&Control)| {
        let control = Control::default();
        change(&control);
        let load = LoadDraft {
            connections: Some(8),
            ..even()
        };
        let run = run_with(keyed(&load), server.address, &control);
        let mut asked: Vec<_> = run.measured().map(|s| (s.key, s.ready, s.done)).collect();
        asked.sort_unstable();
        asked
    };
    let met = |asked: &[(u32, _, slowpath_core::Nanos)]| {
        let pairs = asked.windows(2);
        pairs
            .filter(|two| two[0].0 == two[1].0 && two[1].1 < two[0].2)
            .count()
    };
    let planned = asked(&|_| {});
    assert!(
        met(&planned) > 0,
        "one in forty by chance, for each of seven others"
    );
    let apart = asked(&|c| c.keys.keep_apart(true));
    assert_eq!(met(&apart), 0, "of {}", apart.len());
    let mut few: Vec<u32> = asked(&|c| c.keys.keep_one_of(16))
        .iter()
        .map(|a| a.0)
        .collect();
    few.dedup();
    assert_eq!(few.len(), 3, "{few:?}");
}

#[test]
fn connections_are_used_as_an_experiment_wants() {
    let server = answering();
    let used_again = |connection, change: &dyn Fn(&Control)| {
        let control = Control::default();
        change(&control);
        let load = LoadDraft {
            connection: Some(connection),
            ..users(2)
        };
        let run = run_with(scenario(&load), server.address, &control);
        let again = run.measured().filter(|s| s.index_on_connection > 0).count();
        (again, run.measured().count() - again)
    };
    let (again, fresh) = used_again(ConnectionUse::Pool, &|c| c.connections.reuse(Reuse::Never));
    assert!(again == 0 && fresh > 0, "{again}");
    let (again, fresh) = used_again(ConnectionUse::PerRequest, &|c| {
        c.connections.reuse(Reuse::Always);
    });
    assert!(again > 10 && fresh == 0, "{again} {fresh}");
    let (again, fresh) = used_again(ConnectionUse::Pool, &|c| c.connections.renew());
    assert!(
        again > 10 && fresh == 0,
        "{again} {fresh}: made again before the window, and kept"
    );
    // Even users without a pause are idle for some microseconds.
    let (again, fresh) = used_again(ConnectionUse::Pool, &|c| c.connections.idle_max_ns(1));
    assert!(again == 0 && fresh > 0, "{again}");
}
