//! One repeat of a load, from the first connection to the last response.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use slowpath_core::facts::{EndpointTally, Reason};
use slowpath_core::nanos::Span;
use slowpath_core::plan::Plan;
use slowpath_core::scenario::{Places, Template};

use crate::control::Control;
use crate::files;
use crate::keys::{Keys, SharedKeys};
use crate::log::Sink;
use crate::loops;
use crate::route::Route;
use crate::timings::Noted;

/// What to drive.
#[derive(Clone, Debug)]
pub struct Drive<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Which repeat of it, from 0.
    pub repeat: u16,
    /// The way to the target.
    pub route: Route,
    /// The values of `{port}`, `{service.NAME.port}` and `{tmp}` in requests.
    pub places: Places,
    /// The value of the `Host` header.
    pub host_header: String,
    /// Sends nothing in the warm-up: requests begin with the measured window. A cold pass needs that,
    /// and a pass that is compared with it. Connections are opened in it only if the plan opens
    /// them at the start, or users keep one each; a pool that grows on demand is empty then.
    pub silent_warmup: bool,
}

/// What was driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drove {
    /// The measured window; shorter than planned, even empty, if the load was cut short.
    pub window: Span,
    /// From the first request of the warm-up to the last response.
    pub load: Span,
    /// What was offered in the window, in the order of the plan's endpoints.
    pub endpoints: Vec<EndpointTally>,
    /// Connections made, warm-up included.
    pub connections_opened: u64,
    /// The shortest time one took to be made; `None` if none was.
    pub fastest_dial_ns: Option<u64>,
    /// Connections found closed before a request was sent on them.
    pub connections_stale: u64,
    /// TLS handshakes made in full.
    pub tls_full: u64,
    /// TLS handshakes that resumed an earlier session.
    pub tls_resumed: u64,
    /// Why requests failed, in the words of the first of each class and phase.
    pub reasons: Vec<Reason>,
    /// Why it ended early; empty if it did not.
    pub cut_short: String,
    /// What the target said in `Server-Timing` of measured requests.
    pub timings: Noted,
}

/// Why a load could not be driven. Whatever a target does to requests is no error but a sample.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is nothing to connect to.
    #[error("the target has no address")]
    NoAddress,
    /// The name of the target's host leads nowhere.
    #[error("{host} has no address: {source}")]
    Resolve {
        /// The host.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// An expectation cannot be compiled.
    #[error("the expectation {what} of {endpoint} cannot be used: {reason}")]
    Expectation {
        /// The endpoint's name.
        endpoint: String,
        /// The key under `expect`.
        what: String,
        /// What is wrong.
        reason: String,
    },
    /// Something to be extracted cannot be compiled.
    #[error("what {endpoint} extracts cannot be used: {reason}")]
    Extraction {
        /// The endpoint's name.
        endpoint: String,
        /// What is wrong.
        reason: String,
    },
    /// A line break in a header would let its value become other headers.
    #[error("the header {header} of {endpoint} takes a value with a control character")]
    Header {
        /// The endpoint's name.
        endpoint: String,
        /// The header's name.
        header: String,
    },
    /// The body of an endpoint cannot be read.
    #[error("the body of {endpoint} cannot be read from {}: {source}", path.display())]
    BodyFile {
        /// The endpoint's name.
        endpoint: String,
        /// Where it was looked for.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// An endpoint says something that HTTP/2 has no room for.
    #[error("the requests of {endpoint} cannot be sent over HTTP/2: {what}")]
    Http2 {
        /// The endpoint's name.
        endpoint: String,
        /// What is in the way.
        what: String,
    },
    /// The operating system gives no event loop or timer.
    #[error("the event loop cannot start: {0}")]
    EventLoop(#[from] io::Error),
}

/// All addresses of a host, each once, in the resolver's order.
///
/// # Errors
/// When the name cannot be resolved or has no address.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, LoadError> {
    let found = (host, port)
        .to_socket_addrs()
        .map_err(|source| LoadError::Resolve {
            host: host.to_owned(),
            source,
        })?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(LoadError::NoAddress);
    }
    Ok(addresses)
}

/// Drives one repeat and returns when its last request has ended. The first loop runs on the
/// calling thread, each further one on its own. Finished requests are given to `sink` in batches,
/// warm-up included, by each loop in the order in which they ended.
///
/// # Errors
/// When the load cannot begin; nothing was sent then.
pub fn drive(
    drive: &Drive<'_>,
    control: &Control,
    keys: &mut Keys,
    sink: &dyn Sink,
) -> Result<Drove, LoadError> {
    check(drive)?;
    let files = files::read(drive)?;
    let shared = SharedKeys::new(std::mem::take(keys));
    let parts = loops::run(drive, &files, control, &shared, sink);
    *keys = std::mem::take(&mut *shared.lock());
    Ok(Drove::of(&parts?))
}

impl Drove {
    /// What all loops did together; there is at least one.
    fn of(parts: &[Self]) -> Self {
        let mut whole = parts[0].clone();
        for part in &parts[1..] {
            whole.window.end = whole.window.end.max(part.window.end);
            whole.load.end = whole.load.end.max(part.load.end);
            for (sum, tally) in whole.endpoints.iter_mut().zip(&part.endpoints) {
                sum.offered += tally.offered;
                sum.unsent += tally.unsent;
            }
            whole.connections_opened += part.connections_opened;
            whole.connections_stale += part.connections_stale;
            whole.tls_full += part.tls_full;
            whole.tls_resumed += part.tls_resumed;
            for reason in &part.reasons {
                let is_same = |r: &Reason| (r.outcome, r.phase) == (reason.outcome, reason.phase);
                if !whole.reasons.iter().any(is_same) {
                    whole.reasons.push(reason.clone());
                }
            }
            whole.timings.append(&part.timings);
            let dials = [whole.fastest_dial_ns, part.fastest_dial_ns];
            whole.fastest_dial_ns = dials.into_iter().flatten().min();
            if whole.cut_short.is_empty() {
                whole.cut_short.clone_from(&part.cut_short);
            }
        }
        whole
    }
}

/// Refuses what cannot be driven.
fn check(drive: &Drive<'_>) -> Result<(), LoadError> {
    if drive.route.addresses.is_empty() {
        return Err(LoadError::NoAddress);
    }
    let scenario = &drive.plan.scenario;
    for endpoint in &scenario.endpoints {
        for (header, value) in &endpoint.headers {
            if has_control(value, drive) {
                return Err(LoadError::Header {
                    endpoint: endpoint.name.clone(),
                    header: header.clone(),
                });
            }
        }
    }
    Ok(())
}

/// Whether a header value can contain a character that ends it.
fn has_control(value: &Template, drive: &Drive<'_>) -> bool {
    use slowpath_core::scenario::Part;
    let is_control = |text: &str| text.contains(['\r', '\n', '\0']);
    value.parts.iter().any(|part| match part {
        Part::Literal(text) => is_control(text),
        Part::Tmp => is_control(&drive.places.tmp),
        Part::Pool(pool) => drive.plan.scenario.pools[*pool]
            .values
            .iter()
            .any(is_control),
        // What is extracted for a header is checked when it is.
        Part::Variable(_)
        | Part::Seq
        | Part::Uuid
        | Part::Port
        | Part::ServicePort(_)
        | Part::ServiceHost(_) => false,
    })
}
