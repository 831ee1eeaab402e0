use slowpath_core::model::{EndpointModel, Expensive, TargetModel, Times};
use slowpath_core::scenario::{Pick, Scenario, UserClass};

use super::*;
use crate::checks::trial::scenario;

const MS: u64 = 1_000_000;

/// One user after the other, each asking for the same thing once within the window.
const HERD: &str = "[load]\nusers = 3\nspawn = \"10/s\"\nthink = \"1h\"\nduration = \"10s\"\n\
                    warmup = \"1ns\"\n[[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n";

fn model(slots: Option<u32>, backend_ms: u64) -> TargetModel {
    let mut model = TargetModel::plain(Times::fixed(MS));
    model.slots = slots;
    model.endpoints.push(EndpointModel {
        backend: Some(Times::fixed(backend_ms * MS)),
        ..EndpointModel::plain("a", Times::fixed(MS))
    });
    model
}

fn latencies_ms(text: &str, model: &TargetModel) -> (Vec<u64>, Played) {
    let scenario = scenario(text);
    let world = World::new(&scenario, model);
    let played = play(&world, 1);
    let ms = played.latencies_ns[0].iter().map(|ns| ns / MS).collect();
    (ms, played)
}

#[test]
fn a_herd_computes_what_is_not_there_yet_and_waits_its_turn() {
    // Users at 0 (before the window), 100 and 200 ms; a computation takes 500 ms.
    let (alone, played) = latencies_ms(HERD, &model(None, 500));
    assert_eq!(alone, [501, 501]);
    assert_eq!((played.cold, played.redundant), (0, 2));
    let (in_line, _) = latencies_ms(HERD, &model(Some(1), 500));
    assert_eq!(in_line, [901, 1301]);
}

#[test]
fn singleflight_shares_one_computation() {
    let mut model = model(Some(1), 500);
    model.singleflight = true;
    let (shared, played) = latencies_ms(HERD, &model);
    assert_eq!(shared, [401, 301]);
    assert_eq!(played.redundant, 0);
}

#[test]
fn answers_are_kept_until_they_expire() {
    let (kept, _) = latencies_ms(HERD, &model(None, 50));
    assert_eq!(kept, [1, 1]);
    let mut short = model(None, 50);
    short.endpoints[0].ttl_ns = Some(120 * MS);
    // Ready at 50 ms, gone at 170 ms.
    let (expired, played) = latencies_ms(HERD, &short);
    assert_eq!(expired, [1, 51]);
    assert_eq!((played.cold, played.expired), (0, 1));
    short.endpoints[0].cached = false;
    assert_eq!(latencies_ms(HERD, &short).0, [51, 51]);
    short.endpoints[0].expensive = Expensive::Count(0);
    assert_eq!(latencies_ms(HERD, &short).0, [1, 1]);
}

#[test]
fn an_open_loop_waits_for_its_connections() {
    let load = |connections: u32| {
        format!(
            "[load]\nrate = \"10/s\"\narrivals = \"uniform\"\nconnections = {connections}\n\
             duration = \"1s\"\nwarmup = \"1ns\"\ntimeout = \"10s\"\n\
             [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n"
        )
    };
    let slow = TargetModel::plain(Times::fixed(150 * MS));
    let (one, _) = latencies_ms(&load(1), &slow);
    // Due every 100 ms and served every 150 ms: each waits 50 ms longer than the one before.
    let expected: Vec<u64> = (0..one.len() as u64).map(|i| 150 + 50 * i).collect();
    assert_eq!(one, expected);
    assert!((9..=10).contains(&one.len()));
    let (two, _) = latencies_ms(&load(2), &slow);
    assert!(two.iter().all(|ms| *ms == 150), "{two:?}");
}

#[test]
fn what_outlasts_the_timeout_is_given_up_and_counted() {
    let text = HERD.replace("[load]", "[load]\ntimeout = \"600ms\"");
    let (given_up, played) = latencies_ms(&text, &model(Some(1), 500));
    assert_eq!(given_up, [600, 600]);
    assert_eq!(played.timeouts, 2);
}

#[test]
fn users_are_of_classes_by_share_and_endpoints_may_have_rates_of_their_own() {
    let text = "[load]\nusers = 4\nthink = \"100ms\"\nduration = \"100s\"\n\
                [[endpoint]]\nname = \"a\"\nrequest = \"GET /a\"\n\
                [[endpoint]]\nname = \"b\"\nrequest = \"GET /b\"\n\
                [[user]]\nname = \"x\"\nshare = 3\nendpoints = { a = 1 }\n\
                [[user]]\nname = \"y\"\nshare = 1\nendpoints = { b = 1 }\n";
    let scenario = scenario(text);
    let model = TargetModel::plain(Times::fixed(0));
    let played = play(&World::new(&scenario, &model), 1);
    let counts: Vec<usize> = played.latencies_ns.iter().map(Vec::len).collect();
    assert_eq!(counts[0], 3 * counts[1]);
}

#[test]
fn sessions_go_step_by_step_and_rows_are_given_out_in_order() {
    let text = "[load]\nusers = 1\nthink = \"100ms\"\nduration = \"1s\"\nwarmup = \"1ns\"\n\
                [pools]\nq = [\"x\", \"y\", \"z\"]\n\
                [[endpoint]]\nname = \"a\"\nrequest = \"GET /a?q={q}\"\n\
                [[endpoint]]\nname = \"b\"\nrequest = \"GET /b\"\n";
    let mut scenario = scenario(text);
    scenario.users = vec![UserClass {
        name: "u".to_owned(),
        share: 1.0,
        think: None,
        endpoints: Vec::new(),
        steps: vec!["a".to_owned(), "b".to_owned(), "b".to_owned()],
    }];
    let mut model = model(None, 1);
    model.latency = Times::fixed(0);
    let counts = |scenario: &Scenario| -> (Vec<usize>, u64) {
        let played = play(&World::new(scenario, &model), 1);
        (
            played.latencies_ns.iter().map(Vec::len).collect(),
            played.cold,
        )
    };
    // The first of ten requests is before the window: b, b, a, b, b, a, b, b, a.
    assert_eq!(counts(&scenario).0, [3, 6]);
    scenario.pools[0].pick = Pick::Sequence;
    assert_eq!(
        counts(&scenario),
        (vec![3, 6], 2),
        "x came before the window, then y, z and x"
    );
    scenario.pools[0].pick = Pick::Unique;
    assert_eq!(
        counts(&scenario),
        (vec![2, 6], 2),
        "the load ends when the values do"
    );
}
