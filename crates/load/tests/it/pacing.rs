//! When requests are scheduled, and what they ask for.

use std::io::Write;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use slowpath_core::nanos::SECOND;
use slowpath_core::plan::{Ask, Choice};
use slowpath_core::sample::Sample;
use slowpath_core::scenario::{
    Arrivals, Endpoint, Escape, LoadDraft, Part, Pool, Scenario, Template,
};

use crate::planned::{assert_sent, offsets};
use crate::server::{After, OK, Server};
use crate::{Run, plan, run, scenario};

fn load(arrivals: Arrivals) -> LoadDraft {
    LoadDraft {
        rate_per_s: Some(400.0),
        arrivals: Some(arrivals),
        duration_ns: Some(500_000_000),
        warmup_ns: Some(100_000_000),
        ..LoadDraft::default()
    }
}

fn answering() -> Server {
    Server::start(|_, stream| {
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    })
}

#[test]
fn even_arrivals_are_even_and_exact() {
    let server = answering();
    let run = run(scenario(&load(Arrivals::Uniform)), server.address);
    assert_eq!(run.drove.endpoints[0].offered, 200);
    assert_eq!(run.drove.window.len_ns(), 500_000_000);
    let sent: Vec<&Sample> = run.samples.iter().collect();
    let even = |numbers: Range<u64>| -> Vec<u64> { numbers.map(|n| n * (SECOND / 400)).collect() };
    assert_sent(&run, &sent, (&even(0..40), &even(40..240)));
    assert!(sent.iter().all(|s| s.sent.unwrap() >= s.ready));
}

/// Two endpoints, one of which draws from a pool.
fn varied() -> Scenario {
    let mut scenario = scenario(&load(Arrivals::Poisson));
    scenario
        .pools
        .push(Pool::plain("topics", ["a", "b b", "c"]));
    let of_pool = |before: &str, escape| Template {
        parts: vec![Part::Literal(before.into()), Part::Pool(0)],
        escape,
    };
    let mut drawn = Endpoint::get("drawn".into(), of_pool("/q/", Escape::Url));
    drawn.key = Some(of_pool("", Escape::None));
    scenario.endpoints.push(drawn);
    scenario
}

/// When a request is due, its endpoint and its key.
type Story = Vec<(u64, u16, String)>;

/// What the plan says of the measured requests.
fn planned(scenario: &Scenario) -> Story {
    let mut choices = plan(scenario.clone()).choices(0);
    let mut choice = Choice::empty();
    let (_, window) = offsets(scenario);
    let one = |offset| {
        choices.next_into(Ask::default(), &mut choice).unwrap();
        let key = match choice.endpoint {
            0 => "",
            _ => scenario.pools[0]
                .values
                .get(choice.picks[0] as usize)
                .unwrap(),
        };
        (offset, choice.endpoint, key.to_owned())
    };
    window.into_iter().map(one).collect()
}

fn measured(run: &Run) -> Story {
    let begin = run.drove.load.begin;
    let key = |key: u32| run.keys[key as usize].clone();
    let samples = run.measured();
    samples
        .map(|s| (s.scheduled.since(begin), s.endpoint, key(s.key)))
        .collect()
}

#[test]
fn the_same_seed_asks_for_the_same_at_the_same_offsets() {
    let scenario = varied();
    let planned = planned(&scenario);
    for key in ["", "a", "b b", "c"] {
        assert!(planned.iter().any(|story| story.2 == key), "{key}");
    }
    let server = answering();
    for _ in 0..2 {
        let run = run(scenario.clone(), server.address);
        let measured = measured(&run);
        assert!(!measured.is_empty());
        assert!(
            planned.starts_with(&measured),
            "planned {planned:?}, sent {measured:?}"
        );
    }
}

#[test]
fn a_warmup_that_cannot_be_kept_changes_nothing_of_the_window() {
    // Nothing is answered before the window has begun: what the warm-up could not send is given up.
    let silent = Duration::from_millis(150);
    let first = OnceLock::new();
    let server = Server::start(move |_, stream| {
        std::thread::sleep(silent.saturating_sub(first.get_or_init(Instant::now).elapsed()));
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    });
    let mut scenario = varied();
    scenario.load.connections = 4;
    let run = run(scenario.clone(), server.address);
    let warmed = run.samples.len() - run.measured().count();
    assert!(warmed <= 4, "{warmed} of 40 were sent");
    let (planned, measured) = (planned(&scenario), measured(&run));
    assert!(!measured.is_empty());
    assert!(
        planned.starts_with(&measured),
        "planned {planned:?}, sent {measured:?}"
    );
}
