//! One request from first to last: rendered, sent, answered, judged and written down.

use std::future::poll_fn;
use std::task::Poll;

use slowpath_core::Nanos;
use slowpath_core::sample::{NONE, Outcome, Phase, Sample};
use slowpath_core::scenario::Values;

use crate::body::Body;
use crate::clock::now;
use crate::connection::{Connection, Outgoing};
use crate::control::{Reuse, Usage};
use crate::dispatch::Order;
use crate::engine::{Asking, Desk, Engine, KeyOf, OverStream, Prepared};
use crate::failure::Failure;
use crate::follow::Trip;
use crate::http1::Response;
use crate::http2::Rendered;
use crate::limits::Broken;
use crate::session::Session;
use crate::stamps;

/// Takes from an answer what later requests need, if they do. An answer in which it is not is
/// unmet.
fn extract(endpoint: &Prepared, body: &Body, session: &mut Session, sample: &mut Sample) {
    if endpoint.extractors.is_empty() {
        return;
    }
    let taken = sample.outcome == Outcome::Ok && endpoint.extractors.apply(body, session);
    if !taken {
        session.lacks();
        if sample.outcome == Outcome::Ok {
            sample.outcome = Outcome::Check;
        }
    }
}

/// A connection that stays is idle from `done` on; one that does not is dropped.
fn put_back(connection: &mut Option<Connection>, stays: bool, done: Nanos) {
    if !stays {
        *connection = None;
    }
    if let Some(connection) = connection {
        connection.idle_since = done;
        connection.requests += 1;
    }
}

impl Engine {
    /// One request from first to last.
    pub(crate) async fn perform(&self, desk: &mut Desk) -> Sample {
        let values = Values {
            pools: &self.pools,
            picks: &desk.order.choice.picks,
            variables: desk.order.session.values(),
            seq: u64::from(desk.order.serial),
            uuid: desk.order.choice.uuid,
            places: &self.places,
        };
        let endpoint = &self.endpoints[usize::from(desk.order.choice.endpoint)];
        let trace_id = Sample::trace_id(self.seed, self.repeat, desk.order.serial);
        let mut sample = self.blank(&desk.order);
        sample.key = self.key_of(endpoint, &values, &mut desk.scratch);
        let Desk {
            slot,
            connection,
            request,
            scratch,
            response,
            stream,
            ..
        } = desk;
        // It counts from the instant at which the request is worked on; waiting for a connection is
        // bounded by the end of the load.
        let limit = || now().plus(self.timeout_ns);
        // A slow client is another client than those that share connections.
        let kept = endpoint.slowness.is_any().then(|| connection.take());
        let whole = match &endpoint.request {
            Asking::Http1(asked) => {
                asked.render(request, scratch, &values, trace_id);
                response.reset(asked.is_head, endpoint.wants);
                self.drop_if_unwanted(connection);
                self.drop_if_stale(connection).await;
                self.joint.begin();
                let trip = Trip {
                    slot: *slot,
                    endpoint,
                    asked,
                    connection: &mut *connection,
                    request,
                    response: &mut *response,
                    limit: limit(),
                };
                self.answered(trip, &mut sample).await
            }
            Asking::Http2(asked) => {
                let rendered = asked.render(scratch, &values, trace_id);
                stream.answer.reset(endpoint.wants);
                self.joint.begin();
                let limit = limit();
                let whole = self
                    .send_stream((*slot, limit), stream, rendered, &mut sample)
                    .await;
                whole.map(|done| (done, false))
            }
        };
        self.network.limits.set(*slot, None);
        self.joint.end();

        let (status, body) = match &endpoint.request {
            Asking::Http1(_) => (response.status(), response.body()),
            Asking::Http2(_) => (stream.answer.status, &stream.answer.body),
        };
        let answer = (endpoint, status, body);
        conclude(&whole, answer, (&values, scratch), &mut sample);
        self.timings.note(&sample, body.timing());
        extract(endpoint, body, &mut desk.order.session, &mut sample);
        let stays = whole.is_ok() && self.uses_again() && response.is_reusable();
        put_back(connection, stays, sample.done);
        if let Some(kept) = kept {
            *connection = kept;
        }
        sample
    }

    /// Sends a request over a connection that is shared, and reads its response.
    async fn send_stream(
        &self,
        (slot, limit): (u32, Nanos),
        stream: &mut OverStream,
        rendered: Option<Rendered>,
        sample: &mut Sample,
    ) -> Result<Nanos, Broken> {
        let begun = now();
        sample.done = begun;
        sample.in_flight = self.joint.others();
        self.network.limits.set(slot, Some(limit));
        let rendered = rendered.ok_or_else(|| {
            let failure = Failure::new(Outcome::Io, Phase::Send);
            let why = "a value has characters that a field or path of HTTP/2 cannot hold";
            self.network.reasons.note(failure, || why.to_owned());
            Broken { failure, at: begun }
        })?;
        let OverStream {
            trunk,
            sent,
            answer,
        } = stream;
        trunk
            .exchange(self, (slot, sent), rendered, answer, sample)
            .await
    }

    /// Sends, and follows what the answer says where that is asked for. Gives the instant of the
    /// last byte, and whether a redirect was refused.
    async fn answered(&self, trip: Trip<'_>, sample: &mut Sample) -> Result<(Nanos, bool), Broken> {
        let outgoing = Outgoing {
            head: trip.request,
            tail: trip.asked.tail(),
            slowness: trip.endpoint.slowness,
        };
        let outgoing = (outgoing, trip.limit);
        let done = self
            .send(trip.slot, trip.connection, outgoing, trip.response, sample)
            .await?;
        if self.redirects.most == 0 {
            return Ok((done, false));
        }
        self.follow(trip, done, sample).await
    }

    /// Dials if there is no connection, sends and reads.
    pub(crate) async fn send(
        &self,
        slot: u32,
        connection: &mut Option<Connection>,
        (request, limit): (Outgoing<'_>, Nanos),
        response: &mut Response,
        sample: &mut Sample,
    ) -> Result<Nanos, Broken> {
        let mut begun = now();
        sample.done = begun;
        sample.in_flight = self.joint.others();
        self.network.limits.set(slot, Some(limit));
        let connection = if let Some(connection) = connection {
            sample.idle_before_ns = begun.since(connection.idle_since);
            connection
        } else {
            sample.connect_begin = Some(begun);
            let (dialled, progress) = {
                let buffer = request.slowness.receive_buffer_bytes();
                Connection::dial(&self.network, slot, buffer).await
            };
            sample.local_port = progress.local_port;
            sample.connected = progress.connected;
            sample.secured = progress.secured;
            let dialled = connection.insert(dialled?);
            sample.in_flight = self.joint.others();
            begun = now();
            dialled
        };
        sample.connection = self.share.number(connection.serial);
        sample.connection_since = Some(connection.since);
        sample.index_on_connection = connection.requests;
        sample.local_port = connection.local_port;
        let request = (request, begun);
        connection
            .exchange(&self.network, slot, request, response, (sample, &self.log))
            .await
    }

    /// Whether connections carry more than one request.
    fn uses_again(&self) -> bool {
        match self.network.usage.get().reuse {
            Reuse::Planned => !self.per_request,
            Reuse::Never => false,
            Reuse::Always => true,
        }
    }

    /// Drops a connection that an experiment does not want used again.
    fn drop_if_unwanted(&self, connection: &mut Option<Connection>) {
        let Usage {
            idle_max_ns,
            made_since,
            ..
        } = self.network.usage.get();
        let too_idle = |connection: &Connection| {
            idle_max_ns > 0 && now().since(connection.idle_since) > idle_max_ns
        };
        let unwanted = |connection: &Connection| {
            let used = connection.requests > 0;
            connection.since < made_since || used && (!self.uses_again() || too_idle(connection))
        };
        if connection.as_ref().is_some_and(unwanted) {
            *connection = None;
        }
    }

    /// A connection that the peer has closed since its last response is none.
    pub(crate) async fn drop_if_stale(&self, connection: &mut Option<Connection>) {
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
            user: match order.due.user {
                NONE => NONE,
                own => self.share.number(own),
            },
            repeat: self.repeat,
            endpoint: order.choice.endpoint,
            stage: order.stage,
            ..Sample::due(order.due.scheduled)
        }
    }
}

/// Writes down how a request ended: at what instant, and whether that is what was expected.
fn conclude(
    whole: &Result<(Nanos, bool), Broken>,
    (endpoint, status, body): (&Prepared, u16, &Body),
    (values, scratch): (&Values<'_>, &mut Vec<u8>),
    sample: &mut Sample,
) {
    match *whole {
        Ok((done, is_refused)) => {
            stamps::note_end(body, done, sample);
            sample.done = done;
            sample.phase = Phase::Check;
            sample.outcome = if is_refused {
                Outcome::Status
            } else {
                endpoint.expectation.judge((status, body), values, scratch)
            };
        }
        Err(Broken { failure, at }) => {
            stamps::note_end(body, at, sample);
            sample.done = at;
            sample.outcome = failure.outcome;
            sample.phase = failure.phase;
            sample.errno = failure.errno;
        }
    }
}
