//! Following redirects with the connection, the time limit and the sample of the first request.

use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Phase, Sample};

use crate::connection::{Connection, Outgoing};
use crate::engine::{Engine, Prepared};
use crate::failure::Failure;
use crate::http1::{Request, Response};
use crate::limits::Broken;
use crate::redirect::{Refused, is_redirect};

/// A response that may point elsewhere, and what it takes to go there.
pub(crate) struct Trip<'a> {
    pub(crate) slot: u32,
    pub(crate) endpoint: &'a Prepared,
    /// Its requests.
    pub(crate) asked: &'a Request,
    pub(crate) connection: &'a mut Option<Connection>,
    pub(crate) request: &'a mut Vec<u8>,
    pub(crate) response: &'a mut Response,
    /// Until when all of it must be done.
    pub(crate) limit: Nanos,
}

impl Engine {
    /// Follows redirects until there is none, or no more are allowed. The latency, the bytes and
    /// the longest silence are those of all of them, everything else of the sample is the first's.
    /// Gives the instant of the last byte, and whether a redirect was refused.
    pub(crate) async fn follow(
        &self,
        trip: Trip<'_>,
        first_done: Nanos,
        sample: &mut Sample,
    ) -> Result<(Nanos, bool), Broken> {
        let Trip {
            slot,
            endpoint,
            asked,
            connection,
            request,
            response,
            limit,
        } = trip;
        let (mut done, mut hops) = (first_done, 0);
        let mut has_tail = true;
        while self.redirects.most > 0 && is_redirect(response.status()) {
            let next = if hops == self.redirects.most {
                Err(Refused(format!(
                    "there are more than {hops} redirects in a row"
                )))
            } else {
                let to = (response.status(), response.body().header("location"));
                self.redirects.follow(request, to)
            };
            match next {
                Ok(body_stays) => has_tail &= body_stays,
                Err(Refused(why)) => {
                    let failure = Failure::new(Outcome::Status, Phase::Check);
                    self.network.reasons.note(failure, || why);
                    return Ok((done, true));
                }
            }
            hops += 1;
            if response.is_reusable() {
                if let Some(connection) = connection {
                    connection.idle_since = done;
                    connection.requests += 1;
                }
            } else {
                *connection = None;
            }
            self.drop_if_stale(connection).await;
            response.reset(asked.is_head, endpoint.wants);
            let tail = if has_tail { asked.tail() } else { &[] };
            let outgoing = Outgoing {
                head: request,
                tail,
                slowness: endpoint.slowness,
            };
            let before = sample.clone();
            // What fails before a byte passes adds none.
            (sample.sent_bytes, sample.received_bytes) = (0, 0);
            let sent = self
                .send(slot, connection, (outgoing, limit), response, sample)
                .await;
            restore(sample, &before);
            done = sent?;
        }
        Ok((done, false))
    }
}

/// Makes the sample that of the first request again, but for what adds up.
fn restore(sample: &mut Sample, first: &Sample) {
    *sample = Sample {
        received_bytes: first.received_bytes + sample.received_bytes,
        sent_bytes: first.sent_bytes.saturating_add(sample.sent_bytes),
        status: sample.status,
        gap_begin: sample.gap_begin,
        gap_ns: sample.gap_ns,
        events: sample.events,
        first_event: sample.first_event,
        ..first.clone()
    };
}
