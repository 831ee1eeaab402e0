//! A server over TLS whose handshakes take long: a load that makes a connection for each request waits
//! for one each time.

use std::sync::atomic::Ordering;

use super::connection_churn::{self, Terms};
use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str =
    "takes long for TLS: a floor for clients that do not keep connections";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "handshake-ms",
        help: "how long the server takes for a handshake, beside what it computes",
        default: 10.0,
        range: (0.0, 10_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "work-ms",
        help: "how long a request takes",
        default: 0.0,
        range: (0.0, 10_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "plain",
    help: "without TLS, and the same time before the first request of a connection is read",
    excludes: &[],
}];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let sick = !options.healthy;
    let terms = Terms {
        has_tls: !options.has("plain"),
        limit: u64::MAX,
        idle: None,
        handshake: options.millis("handshake-ms"),
        work: options.millis("work-ms"),
    };
    let (address, serving) = connection_churn::serve(options.port, terms)?;
    let stop = move || {
        let greeted = serving.greeted.load(Ordering::Relaxed);
        let requests = serving.requests.load(Ordering::Relaxed);
        let text = format!("{greeted} connections waited to be greeted");
        Ok(Truth::new(requests, greeted, sick, text))
    };
    Ok(Server {
        address,
        cause: if sick {
            "connection-per-call"
        } else {
            NO_CAUSE
        },
        stop: Box::new(stop),
    })
}
