//! One request and its response as a stream of a connection.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{Reason, RecvStream, SendStream};
use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Phase, Sample};

use super::answer::{Answer, field_bytes};
use super::multiplexed::Multiplexed;
use super::wire::{Sent, failure_of};
use crate::clock::now;
use crate::connection::{Network, pending};
use crate::failure::Failure;
use crate::limits::Broken;
use crate::log::Log;
use crate::stamps::{self, note_silence};

/// Where a request goes, and who wants to know of it.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) connection: &'a Multiplexed,
    pub(super) network: &'a Network,
    pub(super) slot: u32,
    pub(super) sent: &'a Sent,
    pub(super) log: &'a Log,
}

impl Setting<'_> {
    /// Sends a request on a stream of its own, for which there is room, and reads its response.
    /// Every instant it reaches is written into `sample`. Gives the instant of the last byte.
    pub(super) async fn exchange(
        self,
        (request, body): (http::Request<()>, Bytes),
        answer: &mut Answer,
        sample: &mut Sample,
    ) -> Result<Nanos, Broken> {
        sample.sent_bytes = u32::try_from(field_bytes(request.headers())).unwrap_or(u32::MAX);
        let opened = self
            .connection
            .sender
            .borrow_mut()
            .send_request(request, body.is_empty());
        let (response, stream) = opened.map_err(|error| self.broken(&error, Phase::Send))?;
        let connection = self.connection;
        connection.opened.set(connection.opened.get() + 1);
        connection.wire.watch(self.sent);
        let mut under_way = UnderWay {
            setting: self,
            response,
            stream,
            body,
        };
        let head = poll_fn(|cx| under_way.poll_head(sample, cx)).await;
        sample.sent = self.sent.get();
        let ended = match head {
            Ok(head) => {
                let at = connection.wire.read_at();
                sample.first_byte = Some(at);
                let (parts, incoming) = head.into_parts();
                answer.head(parts.status.as_u16(), &parts.headers);
                sample.status = answer.status;
                self.receive(incoming, at, answer, sample).await
            }
            Err(broken) => Err(broken),
        };
        connection.wire.forget(self.sent);
        if ended.is_err() {
            // The server need not go on with what is no longer wanted.
            under_way.stream.send_reset(Reason::CANCEL);
        }
        ended
    }

    /// Reads the body and the trailers after it.
    async fn receive(
        self,
        mut incoming: RecvStream,
        first: Nanos,
        answer: &mut Answer,
        sample: &mut Sample,
    ) -> Result<Nanos, Broken> {
        let mut last = first;
        sample.received_bytes = answer.received_bytes;
        loop {
            let data = poll_fn(|cx| self.poll_data(&mut incoming, cx)).await?;
            let at = self.connection.wire.read_at();
            if let Some(late) = self.late(Phase::Body, at) {
                return Err(late);
            }
            if !answer.body.is_stream() {
                note_silence(last, at, sample);
            }
            last = at;
            let Some(data) = data else { break };
            answer.data(&data);
            sample.received_bytes = answer.received_bytes;
            stamps::note_events(&mut answer.body, at, sample, self.log);
            // What was read is granted again at once: the server is never held up by us.
            let released = incoming.flow_control().release_capacity(data.len());
            released.map_err(|error| self.broken(&error, Phase::Body))?;
        }
        let trailers = poll_fn(|cx| match incoming.poll_trailers(cx) {
            Poll::Ready(Ok(trailers)) => Poll::Ready(Ok(trailers)),
            Poll::Ready(Err(error)) => Poll::Ready(Err(self.broken(&error, Phase::Body))),
            Poll::Pending => pending(self.network.limits.expired(self.slot, Phase::Body)),
        })
        .await?;
        if let Some(trailers) = trailers {
            answer.trailers(&trailers);
            sample.received_bytes = answer.received_bytes;
            last = self.connection.wire.read_at();
        }
        Ok(last)
    }

    fn poll_data(
        self,
        incoming: &mut RecvStream,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, Broken>> {
        match incoming.poll_data(cx) {
            Poll::Ready(None) => Poll::Ready(Ok(None)),
            Poll::Ready(Some(Ok(data))) => Poll::Ready(Ok(Some(data))),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Err(self.broken(&error, Phase::Body))),
            Poll::Pending => pending(self.network.limits.expired(self.slot, Phase::Body)),
        }
    }

    /// Whether what came at `at` came too late.
    fn late(self, phase: Phase, at: Nanos) -> Option<Broken> {
        self.network.limits.expired_at(self.slot, phase, at)
    }

    /// What an error of a stream means.
    fn broken(self, error: &h2::Error, phase: Phase) -> Broken {
        let wire = &self.connection.wire;
        let plain = |outcome| Failure::new(outcome, phase);
        let (failure, at, text) = if error.is_reset() {
            let code = error.reason().unwrap_or(Reason::NO_ERROR);
            if error.is_remote() {
                let text = format!("the server reset the stream: {}", named(code));
                (plain(Outcome::StreamReset), wire.read_at(), text)
            } else {
                let text = format!("the response breaks HTTP/2: {}", named(code));
                (plain(Outcome::BadResponse), wire.read_at(), text)
            }
        } else if error.is_go_away() && error.is_remote() {
            let code = error.reason().unwrap_or(Reason::NO_ERROR);
            let text = format!("the server retired the connection: {}", named(code));
            let outcome = match phase {
                Phase::Body => Outcome::Truncated,
                _ => Outcome::Closed,
            };
            (plain(outcome), wire.read_at(), text)
        } else if error.is_go_away() {
            let text = format!("what the server sends is not HTTP/2: {error}");
            (plain(Outcome::BadResponse), wire.read_at(), text)
        } else if let Some(ended) = wire.ended() {
            (failure_of(&ended, phase), ended.at, ended.text)
        } else {
            (plain(Outcome::Io), now(), error.to_string())
        };
        if !text.is_empty() {
            self.network.reasons.note(failure, || text);
        }
        Broken { failure, at }
    }
}

/// An error code by its name and number (RFC 9113, section 7).
fn named(code: Reason) -> String {
    format!("{code:?} ({}), {code}", u32::from(code))
}

/// A request whose response has not begun.
struct UnderWay<'a> {
    setting: Setting<'a>,
    response: ResponseFuture,
    stream: SendStream<Bytes>,
    /// What is left of the body.
    body: Bytes,
}

impl UnderWay<'_> {
    /// Sends what is left of the body as the server grants room for it, until the response begins:
    /// a server may answer before it has read all of a request.
    fn poll_head(
        &mut self,
        sample: &mut Sample,
        cx: &mut Context<'_>,
    ) -> Poll<Result<http::Response<RecvStream>, Broken>> {
        while !self.body.is_empty() {
            let Poll::Ready(sent) = self.poll_body(cx) else {
                break;
            };
            match sent {
                Some(bytes) => {
                    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                    sample.sent_bytes = sample.sent_bytes.saturating_add(bytes);
                }
                // The server wants no more of it; its response says why.
                None => self.body.clear(),
            }
        }
        let is_sent = self.body.is_empty() && self.setting.sent.get().is_some();
        let phase = if is_sent {
            Phase::FirstByte
        } else {
            Phase::Send
        };
        let setting = self.setting;
        match Pin::new(&mut self.response).poll(cx) {
            Poll::Ready(Ok(response)) => {
                let late = setting.late(phase, setting.connection.wire.read_at());
                Poll::Ready(late.map_or(Ok(response), Err))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(setting.broken(&error, phase))),
            Poll::Pending => pending(setting.network.limits.expired(setting.slot, phase)),
        }
    }

    /// Hands over as much of the body as there is room for; `None` if the stream takes no more.
    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        self.stream.reserve_capacity(self.body.len());
        let room = loop {
            match ready!(self.stream.poll_capacity(cx)) {
                Some(Ok(0)) => {}
                Some(Ok(room)) => break room.min(self.body.len()),
                Some(Err(_)) | None => return Poll::Ready(None),
            }
        };
        let piece = self.body.split_to(room);
        let sent = self.stream.send_data(piece, self.body.is_empty());
        Poll::Ready(sent.ok().map(|()| room))
    }
}
