//! The load against servers on loopback that follow a script exactly.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are servers: they open sockets, sleep and start threads"
)]
#![allow(clippy::unwrap_used, reason = "what fails to be set up fails the test")]

mod bodies;
mod conformance;
mod connections;
mod counting;
mod distribution;
mod faults;
mod greeting;
mod http2;
mod http2_server;
mod loops;
mod pacing;
mod planned;
mod pool;
mod redirects;
mod server;
mod sessions;
mod stopping;
mod streams;
mod tls;
mod unix;
mod users;
mod withheld;

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use slowpath_core::nanos::SECOND;
use slowpath_core::plan::Plan;
use slowpath_core::sample::{Sample, Stage, StreamEvent};
use slowpath_core::scenario::{Escape, Load, LoadDraft, Part, Places, Scenario, Template};
use slowpath_load::{Control, Drive, Drove, Keys, LoadError, Route, Sink, drive};

/// Everything that came out of one load.
struct Run {
    drove: Drove,
    samples: Vec<Sample>,
    events: Vec<StreamEvent>,
    keys: Vec<String>,
}

/// Keeps everything.
#[derive(Default)]
struct Everything {
    samples: Mutex<Vec<Sample>>,
    events: Mutex<Vec<StreamEvent>>,
}

impl Sink for Everything {
    fn samples(&self, samples: &[Sample]) {
        self.samples.lock().unwrap().extend_from_slice(samples);
    }

    fn stream_events(&self, events: &[StreamEvent]) {
        self.events.lock().unwrap().extend_from_slice(events);
    }
}

impl Run {
    fn measured(&self) -> impl Iterator<Item = &Sample> {
        self.samples
            .iter()
            .filter(|sample| sample.stage == Stage::Measured)
    }

    /// offered = samples + unsent, endpoint by endpoint.
    fn assert_balance(&self) {
        for (position, tally) in self.drove.endpoints.iter().enumerate() {
            let sampled = self
                .measured()
                .filter(|s| usize::from(s.endpoint) == position)
                .count();
            assert_eq!(
                tally.offered,
                sampled as u64 + tally.unsent,
                "endpoint {position}"
            );
        }
    }
}

/// A scenario of one `GET /{seq}`.
fn scenario(load: &LoadDraft) -> Scenario {
    let mut scenario = Scenario::from_url("http://127.0.0.1:1/").unwrap();
    scenario.load = resolved(load);
    scenario.endpoints[0].path = Template {
        parts: vec![Part::Literal("/".into()), Part::Seq],
        escape: Escape::Url,
    };
    scenario
}

fn resolved(draft: &LoadDraft) -> Load {
    draft.resolve().unwrap()
}

fn run(scenario: Scenario, address: SocketAddr) -> Run {
    run_with(scenario, address, &Control::default())
}

/// Runs until so many requests have ended, however long a busy machine takes for them.
fn run_until(ended: u64, mut scenario: Scenario, address: SocketAddr) -> Run {
    scenario.load.duration_ns = 600 * SECOND;
    let control = Control::default();
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            while control.progress.done.load(Relaxed) < ended {
                std::thread::sleep(Duration::from_millis(1));
            }
            control.stop.store(true, Relaxed);
        });
        run_with(scenario, address, &control)
    });
    assert_eq!(run.drove.cut_short, "interrupted");
    run
}

fn run_on(scenario: Scenario, route: Route) -> Run {
    drive_all(scenario, route, "localhost", &Control::default())
}

fn run_with(scenario: Scenario, address: SocketAddr, control: &Control) -> Run {
    let route = Route::plain([address]);
    drive_all(scenario, route, &address.to_string(), control)
}

fn drive_all(scenario: Scenario, route: Route, host: &str, control: &Control) -> Run {
    let run = try_drive(scenario, route, host, control).unwrap();
    run.assert_balance();
    run
}

/// The plan of every load here.
fn plan(scenario: Scenario) -> Plan {
    Plan {
        scenario,
        seed: 42,
        release: None,
    }
}

fn try_drive(
    scenario: Scenario,
    route: Route,
    host: &str,
    control: &Control,
) -> Result<Run, LoadError> {
    let plan = plan(scenario);
    let what = Drive {
        plan: &plan,
        repeat: 0,
        route,
        places: Places::default(),
        host_header: host.to_owned(),
        silent_warmup: false,
    };
    let (mut keys, sink) = (Keys::new(), Everything::default());
    let drove = drive(&what, control, &mut keys, &sink)?;
    let mut samples = sink.samples.into_inner().unwrap();
    let mut events = sink.events.into_inner().unwrap();
    events.sort_by_key(|event| (event.serial, event.index));
    samples.sort_by_key(|sample| sample.serial);
    let keys = keys.names().to_vec();
    Ok(Run {
        drove,
        samples,
        events,
        keys,
    })
}
