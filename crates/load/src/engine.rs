//! The one send loop. What it sends when (pacing, stop condition) is the dispatcher's, how one
//! request goes is `perform`'s; it joins them.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use slowpath_core::Nanos;
use slowpath_core::sample::{NONE, Phase};
use slowpath_core::scenario::{
    ConnectionUse, Endpoint, Http, Places, Pool, PoolOpen, Scheme, Template,
};

use crate::body::Wants;
use crate::clock::now;
use crate::connection::{Connection, Network};
use crate::dispatch::{Dispatcher, End, Grouping, Order, Task, connections};
use crate::drive::{Drive, LoadError};
use crate::expect::Expectation;
use crate::extract::Extractors;
use crate::files::Files;
use crate::http1::{Request, Response};
use crate::http2::{self, Answer, Sent, Trunk};
use crate::keys::{Keys, MetKeys};
use crate::log::Log;
use crate::pace::Slowness;
use crate::redirect::Redirects;
use crate::share::{Joint, Share};
use crate::timings::Timings;

/// What a request's key is made of.
#[derive(Debug)]
pub(crate) enum KeyOf {
    /// The same for all, or [`NONE`].
    Fixed(u32),
    /// Differs from request to request.
    Varying(Template),
}

/// The requests of an endpoint in the protocol that is spoken.
#[derive(Debug)]
pub(crate) enum Asking {
    Http1(Request),
    Http2(Box<http2::Request>),
}

/// One endpoint, ready to be sent and judged.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) request: Asking,
    pub(crate) expectation: Expectation,
    pub(crate) extractors: Extractors,
    pub(crate) wants: Wants,
    pub(crate) key: KeyOf,
    pub(crate) slowness: Slowness,
}

/// Everything the slots of a loop share.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) network: Network,
    pub(crate) log: Log,
    pub(crate) timings: Timings,
    pub(crate) stale: Cell<u64>,
    pub(crate) endpoints: Vec<Prepared>,
    pub(crate) pools: Vec<Pool>,
    pub(crate) places: Places,
    pub(crate) seed: u64,
    pub(crate) repeat: u16,
    pub(crate) timeout_ns: u64,
    pub(crate) redirects: Redirects,
    pub(crate) per_request: bool,
    /// Whether a connection that has nothing to do is dropped as soon as the server closes it.
    drops_closed: bool,
    grouping: Grouping,
    /// The connections that slots share; empty over HTTP/1.1, where each slot has its own.
    pub(crate) trunks: Vec<Rc<Trunk>>,
    pub(crate) share: Share,
    pub(crate) joint: Arc<Joint>,
    pub(crate) keys: RefCell<MetKeys>,
}

/// Lays out the endpoints of a plan.
///
/// # Errors
/// When an expectation cannot be compiled.
pub(crate) fn prepare(
    drive: &Drive<'_>,
    files: &Files,
    keys: &mut Keys,
) -> Result<Vec<Prepared>, LoadError> {
    let places = &drive.places;
    let scenario = &drive.plan.scenario;
    let mut for_header = vec![false; scenario.variables.len()];
    let headers = scenario.endpoints.iter().flat_map(|e| &e.headers);
    for variable in headers.flat_map(|(_, value)| value.variables()) {
        for_header[variable] = true;
    }
    let one = |(endpoint, file): (&Endpoint, &Option<Arc<[u8]>>)| {
        let key = match endpoint.key.as_ref().or(endpoint.factor.as_ref()) {
            None => KeyOf::Fixed(NONE),
            Some(key) if key.is_of_request() => KeyOf::Varying(key.clone()),
            Some(key) => KeyOf::Fixed(keys.number(&key.expand(places))),
        };
        let expectation = Expectation::new(&endpoint.name, &endpoint.expect, places)?;
        let extractors = Extractors::new(endpoint, &for_header)?;
        let expected = expectation.wants();
        Ok(Prepared {
            request: match scenario.target.http {
                Http::One => {
                    let host = &drive.host_header;
                    Asking::Http1(Request::new(endpoint, host, places, file.clone()))
                }
                Http::Two => {
                    let to = (drive.host_header.as_str(), drive.route.tls.is_some());
                    let request = http2::Request::new(endpoint, to, places, file.clone())?;
                    Asking::Http2(Box::new(request))
                }
            },
            wants: Wants {
                body: expected.body || extractors.needs_body(),
                head: extractors.needs_head() || scenario.load.redirects > 0,
                ..expected
            },
            expectation,
            extractors,
            key,
            slowness: Slowness {
                read_bytes_per_s: endpoint.read_bytes_per_s,
                send_bytes_per_s: endpoint.send_bytes_per_s,
            },
        })
    };
    let endpoints = scenario.endpoints.iter();
    endpoints.zip(files).map(one).collect()
}

/// What one slot works with; its memory serves request after request.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) slot: u32,
    pub(crate) order: Order,
    pub(crate) connection: Option<Connection>,
    pub(crate) request: Vec<u8>,
    pub(crate) scratch: Vec<u8>,
    pub(crate) response: Response,
    pub(crate) stream: OverStream,
}

/// What a slot works with over HTTP/2, where its connection is shared.
#[derive(Debug, Default)]
pub(crate) struct OverStream {
    pub(crate) trunk: Rc<Trunk>,
    pub(crate) sent: Sent,
    pub(crate) answer: Answer,
}

fn trunks(drive: &Drive<'_>, share: Share) -> Vec<Rc<Trunk>> {
    let trunks = match drive.plan.scenario.target.http {
        Http::One => 0,
        Http::Two => share.part(connections(drive.plan)),
    };
    (0..trunks).map(|_| Rc::default()).collect()
}

impl Engine {
    /// The engine of a loop that begins at `start`.
    pub(crate) fn new(
        drive: &Drive<'_>,
        (share, joint): (Share, &Arc<Joint>),
        endpoints: Vec<Prepared>,
        dispatcher: Dispatcher,
        network: Network,
        start: Nanos,
    ) -> Self {
        let load = &drive.plan.scenario.load;
        Self {
            dispatcher,
            log: Log::new(start),
            timings: Timings::new(share.of),
            stale: Cell::new(0),
            endpoints,
            pools: drive.plan.scenario.pools.clone(),
            places: drive.places.clone(),
            seed: drive.plan.seed,
            repeat: drive.repeat,
            timeout_ns: load.timeout_ns,
            redirects: Redirects {
                most: load.redirects,
                scheme: if network.route.tls.is_some() {
                    Scheme::Https
                } else {
                    Scheme::Http
                },
                authority: drive.host_header.clone(),
            },
            per_request: load.connection == ConnectionUse::PerRequest,
            drops_closed: load.connection == ConnectionUse::Pool && load.open == PoolOpen::OnDemand,
            grouping: Grouping::new(drive.plan, share),
            trunks: trunks(drive, share),
            share,
            joint: Arc::clone(joint),
            keys: RefCell::new(MetKeys::new(joint.keys.clone())),
            network,
        }
    }

    /// Does what the dispatcher has for a slot, again and again.
    pub(crate) async fn work(self: Rc<Self>, slot: u32) {
        let mut desk = Desk {
            slot,
            order: Order::empty(),
            connection: None,
            request: Vec::new(),
            scratch: Vec::new(),
            response: Response::default(),
            stream: OverStream::default(),
        };
        if !self.trunks.is_empty() {
            let trunk = &self.trunks[self.grouping.group(slot) as usize];
            desk.stream.trunk = Rc::clone(trunk);
        }
        loop {
            match poll_fn(|cx| self.poll_task(&mut desk, cx)).await {
                Task::Open => {
                    self.open(&mut desk).await;
                    self.dispatcher.opened(slot, now());
                }
                Task::Send => {
                    let sample = self.perform(&mut desk).await;
                    let end = End {
                        done: sample.done,
                        dialled: sample.phase != Phase::Connect,
                        kept: desk.connection.is_some() || desk.stream.trunk.is_open(),
                    };
                    self.log.record(sample);
                    self.dispatcher.finished(slot, &mut desk.order, &end);
                    if self.dispatcher.is_over(end.done) {
                        self.log.wake();
                    }
                }
            }
        }
    }

    /// Waits until a slot has something to do. A connection that the server closes while its slot
    /// has nothing to do is dropped at once, so that requests take one that is open.
    fn poll_task(&self, desk: &mut Desk, cx: &mut Context<'_>) -> Poll<Task> {
        let task = self.dispatcher.poll_task(desk.slot, &mut desk.order, cx);
        if self.drops_closed
            && task.is_pending()
            && desk.connection.as_mut().is_some_and(|c| c.is_stale(cx))
        {
            desk.connection = None;
            self.stale.set(self.stale.get() + 1);
            self.dispatcher.lost(desk.slot, now());
        }
        task
    }

    /// Opens a connection ahead of any request. If that fails, the first request that gets the
    /// slot dials again and writes down what happens.
    async fn open(&self, desk: &mut Desk) {
        let limit = now().plus(self.timeout_ns);
        self.network.limits.set(desk.slot, Some(limit));
        if !self.trunks.is_empty() {
            desk.stream.trunk.open(self, desk.slot).await;
            self.network.limits.set(desk.slot, None);
            return;
        }
        let (dialled, _) = Connection::dial(&self.network, desk.slot, None).await;
        desk.connection = dialled.ok();
        self.network.limits.set(desk.slot, None);
    }
}
