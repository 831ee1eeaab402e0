//! The one send loop. What it sends when (pacing, stop condition) is the dispatcher's, how
//! (protocol) is `http1`'s, over what is the connection's; it joins them and writes down each
//! request.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use slowpath_core::Nanos;
use slowpath_core::sample::{NONE, Phase, Sample};
use slowpath_core::scenario::{ConnectionUse, Endpoint, Places, Pool, Template, Values};

use crate::clock::now;
use crate::connection::{Connection, Network};
use crate::dispatch::{Dispatcher, Order, Task};
use crate::drive::{Drive, LoadError};
use crate::expect::Expectation;
use crate::http1::{Request, Response};
use crate::keys::Keys;
use crate::limits::Broken;
use crate::log::Log;

/// What a request's key is made of.
#[derive(Debug)]
enum KeyOf {
    /// The same for all, or [`NONE`].
    Fixed(u32),
    /// Differs from request to request.
    Varying(Template),
}

/// One endpoint, ready to be sent and judged.
#[derive(Debug)]
pub(crate) struct Prepared {
    request: Request,
    expectation: Expectation,
    key: KeyOf,
}

/// Everything the slots of a load share.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) network: Network,
    pub(crate) log: Log,
    pub(crate) keys: RefCell<Keys>,
    pub(crate) stale: Cell<u64>,
    endpoints: Vec<Prepared>,
    pools: Vec<Pool>,
    places: Places,
    seed: u64,
    repeat: u16,
    timeout_ns: u64,
    per_request: bool,
    in_flight: Cell<u32>,
}

/// Lays out the endpoints of a plan.
///
/// # Errors
/// When an expectation cannot be compiled.
pub(crate) fn prepare(drive: &Drive<'_>, keys: &mut Keys) -> Result<Vec<Prepared>, LoadError> {
    let places = &drive.places;
    let one = |endpoint: &Endpoint| {
        let key = match &endpoint.key {
            None => KeyOf::Fixed(NONE),
            Some(key) if key.is_of_request() => KeyOf::Varying(key.clone()),
            Some(key) => KeyOf::Fixed(keys.number(&key.expand(places))),
        };
        Ok(Prepared {
            request: Request::new(endpoint, &drive.host_header, places),
            expectation: Expectation::new(&endpoint.name, &endpoint.expect, places)?,
            key,
        })
    };
    drive.plan.scenario.endpoints.iter().map(one).collect()
}

/// What one slot works with; its memory serves request after request.
#[derive(Debug)]
struct Desk {
    slot: u32,
    order: Order,
    connection: Option<Connection>,
    request: Vec<u8>,
    scratch: Vec<u8>,
    response: Response,
}

impl Engine {
    /// The engine of a load that begins at `start`.
    pub(crate) fn new(
        drive: &Drive<'_>,
        endpoints: Vec<Prepared>,
        dispatcher: Dispatcher,
        network: Network,
        start: Nanos,
    ) -> Self {
        let load = &drive.plan.scenario.load;
        Self {
            dispatcher,
            network,
            log: Log::new(start),
            keys: RefCell::default(),
            stale: Cell::new(0),
            endpoints,
            pools: drive.plan.scenario.pools.clone(),
            places: drive.places.clone(),
            seed: drive.plan.seed,
            repeat: drive.repeat,
            timeout_ns: load.timeout_ns,
            per_request: load.connection == ConnectionUse::PerRequest,
            in_flight: Cell::new(0),
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
        };
        loop {
            match poll_fn(|cx| self.dispatcher.poll_task(slot, &mut desk.order, cx)).await {
                Task::Open => {
                    self.open(&mut desk).await;
                    self.dispatcher.free(slot, now());
                }
                Task::Send => {
                    let sample = self.perform(&mut desk).await;
                    let (done, dialled) = (sample.done, sample.phase != Phase::Connect);
                    self.log.record(sample);
                    self.dispatcher.finished(slot, &desk.order, done, dialled);
                    if self.dispatcher.is_over(done) {
                        self.log.wake();
                    }
                }
            }
        }
    }

    /// Opens a connection ahead of any request. If that fails, the first request that gets the
    /// slot dials again and writes down what happens.
    async fn open(&self, desk: &mut Desk) {
        let limit = now().plus(self.timeout_ns);
        self.network.limits.set(desk.slot, Some(limit));
        let (dialled, _) = Connection::dial(&self.network, desk.slot).await;
        desk.connection = dialled.ok();
        self.network.limits.set(desk.slot, None);
    }

    /// One request from first to last.
    async fn perform(&self, desk: &mut Desk) -> Sample {
        let values = Values {
            pools: &self.pools,
            picks: &desk.order.choice.picks,
            seq: u64::from(desk.order.serial),
            uuid: desk.order.choice.uuid,
            places: &self.places,
        };
        let endpoint = &self.endpoints[usize::from(desk.order.choice.endpoint)];
        let trace_id = Sample::trace_id(self.seed, self.repeat, desk.order.serial);
        let (request, scratch) = (&mut desk.request, &mut desk.scratch);
        endpoint.request.render(request, scratch, &values, trace_id);
        let mut sample = self.blank(&desk.order);
        sample.key = self.key_of(endpoint, &values, scratch);
        desk.response
            .reset(endpoint.request.is_head, endpoint.expectation.needs_body());

        self.drop_if_stale(&mut desk.connection).await;
        self.in_flight.set(self.in_flight.get() + 1);
        let Desk {
            slot,
            connection,
            response,
            request,
            ..
        } = desk;
        let whole = self
            .send(*slot, connection, request, response, &mut sample)
            .await;
        self.network.limits.set(*slot, None);
        self.in_flight.set(self.in_flight.get() - 1);

        match whole {
            Ok(done) => {
                sample.done = done;
                sample.phase = Phase::Check;
                sample.outcome = endpoint
                    .expectation
                    .judge(response, &values, &mut desk.scratch);
            }
            Err(Broken { failure, at }) => {
                sample.done = at;
                sample.outcome = failure.outcome;
                sample.phase = failure.phase;
                sample.errno = failure.errno;
            }
        }
        if whole.is_err() || self.per_request || !response.is_reusable() {
            *connection = None;
        } else if let Some(connection) = connection {
            connection.idle_since = sample.done;
            connection.requests += 1;
        }
        sample
    }

    /// Dials if there is no connection, sends and reads.
    async fn send(
        &self,
        slot: u32,
        connection: &mut Option<Connection>,
        request: &[u8],
        response: &mut Response,
        sample: &mut Sample,
    ) -> Result<Nanos, Broken> {
        let mut begun = now();
        sample.done = begun;
        sample.in_flight = self.in_flight.get() - 1;
        // The limit counts from the instant at which the request is worked on; waiting for a
        // connection is bounded by the end of the load.
        self.network
            .limits
            .set(slot, Some(begun.plus(self.timeout_ns)));
        let connection = if let Some(connection) = connection {
            sample.idle_before_ns = begun.since(connection.idle_since);
            connection
        } else {
            sample.connect_begin = Some(begun);
            let (dialled, port) = Connection::dial(&self.network, slot).await;
            sample.local_port = port;
            let dialled = connection.insert(dialled?);
            sample.connected = Some(dialled.idle_since);
            sample.in_flight = self.in_flight.get() - 1;
            begun = now();
            dialled
        };
        sample.connection = connection.serial;
        sample.connection_since = Some(connection.since);
        sample.index_on_connection = connection.requests;
        sample.local_port = connection.local_port;
        let request = (request, begun);
        connection
            .exchange(&self.network, slot, request, response, sample)
            .await
    }

    /// A connection that the peer has closed since its last response is none.
    async fn drop_if_stale(&self, connection: &mut Option<Connection>) {
        let stale = match connection {
            Some(connection) => poll_fn(|cx| Poll::Ready(connection.is_stale(cx))).await,
            None => false,
        };
        if stale {
            *connection = None;
            self.stale.set(self.stale.get() + 1);
        }
    }

    fn key_of(&self, endpoint: &Prepared, values: &Values<'_>, scratch: &mut Vec<u8>) -> u32 {
        match &endpoint.key {
            KeyOf::Fixed(key) => *key,
            KeyOf::Varying(template) => {
                scratch.clear();
                template.render(scratch, values);
                let key = str::from_utf8(scratch);
                let key = key.expect("literals, digits and escaped strings are UTF-8");
                self.keys.borrow_mut().number(key)
            }
        }
    }

    /// The sample of a request to which nothing has happened yet.
    fn blank(&self, order: &Order) -> Sample {
        Sample {
            ready: order.ready,
            done: order.ready,
            serial: order.serial,
            user: order.due.user,
            repeat: self.repeat,
            endpoint: order.choice.endpoint,
            stage: order.stage,
            ..Sample::due(order.due.scheduled)
        }
    }
}
