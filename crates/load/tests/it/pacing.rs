//! When requests are scheduled, and what they ask for.

use std::io::Write;

use slowpath_core::nanos::SECOND;
use slowpath_core::scenario::{Arrivals, Endpoint, Escape, LoadDraft, Part, Pool, Template};

use crate::server::{After, OK, Server};
use crate::{Run, run, scenario};

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
    for sample in run.measured() {
        let number = u64::from(sample.serial);
        assert_eq!(
            sample.scheduled.since(run.drove.load.begin),
            number * (SECOND / 400)
        );
        assert!(sample.sent.unwrap() >= sample.ready);
    }
}

/// Two endpoints, one of which draws from a pool.
fn varied() -> Run {
    let server = answering();
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
    run(scenario, server.address)
}

#[test]
fn the_same_seed_asks_for_the_same_at_the_same_offsets() {
    let (first, second) = (varied(), varied());
    let story = |run: &Run| -> Vec<_> {
        let key = |key: u32| run.keys.get(key as usize).cloned();
        let begin = run.drove.load.begin;
        let samples = run.samples.iter();
        samples
            .map(|s| (s.scheduled.since(begin), s.endpoint, key(s.key)))
            .collect()
    };
    let (first, second) = (story(&first), story(&second));
    let common = first.len().min(second.len());
    assert!(common > 100);
    assert_eq!(first[..common], second[..common]);
    let keys: Vec<_> = first
        .iter()
        .filter(|story| story.1 == 1)
        .map(|story| &story.2)
        .collect();
    for key in ["", "a", "b b", "c"] {
        let all: Vec<_> = first.iter().map(|story| &story.2).collect();
        assert!(all.contains(&&Some(key.to_owned())), "{key}");
    }
    assert!(keys.iter().all(|key| key.as_deref() != Some("")));
}
