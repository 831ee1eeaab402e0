//! The probes on trees of procfs that were written down, and on this very process.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "these tests wait for a real kernel, say what they skip, and fail with their helpers"
)]

#[path = "probes/fixtures.rs"]
mod fixtures;
#[path = "probes/live.rs"]
mod live;

use std::path::Path;
use std::sync::{Arc, Mutex};

use slowpath_core::signal::Signal;
use slowpath_core::timeline::{Gap, Reading, Subject};
use slowpath_observe::observer::Sink;
use slowpath_observe::{Watch, Watched};

/// Everything that an observer handed on.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Reading>>>);

impl Seen {
    fn sink(&self) -> Sink {
        let seen = self.clone();
        Box::new(move |readings| seen.0.lock().unwrap().extend(readings))
    }

    fn values(&self, signal: &Signal, subject: &Subject, label: &str) -> Vec<f64> {
        let of =
            |r: &&Reading| r.signal.id == signal.id && r.subject == *subject && r.label == label;
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(of)
            .map(|r| r.point.value)
            .collect()
    }

    fn any(&self, signal: &Signal, wanted: impl Fn(&Reading) -> bool) -> bool {
        self.0
            .lock()
            .unwrap()
            .iter()
            .any(|r| r.signal.id == signal.id && wanted(r))
    }
}

fn watch(root: &Path, pids: &[u32], port: u16) -> Watch {
    Watch {
        proc_root: root.join("proc"),
        sys_root: root.join("sys"),
        target: Some(Watched {
            pids: pids.to_vec(),
            port: Some(port),
        }),
        loop_tids: Arc::new(|| vec![501]),
    }
}

fn gap<'a>(gaps: &'a [Gap], signal: &Signal) -> Option<&'a Gap> {
    gaps.iter().find(|gap| gap.signal == signal.id)
}
