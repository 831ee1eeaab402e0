//! The connection that some slots of a load share.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use slowpath_core::Nanos;
use slowpath_core::sample::{Phase, Sample};

use super::answer::Answer;
use super::exchange::Setting;
use super::multiplexed::Multiplexed;
use super::request::Rendered;
use super::wire::Sent;
use crate::clock::now;
use crate::connection::{Network, pending};
use crate::engine::Engine;
use crate::limits::Broken;

/// Room for one connection. The first request that needs it dials; the others wait for that.
#[derive(Debug, Default)]
pub(crate) struct Trunk(RefCell<State>);

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    Dialling(Vec<Waker>),
    Open(Rc<Multiplexed>),
}

/// What a slot finds in its trunk.
enum Found {
    Open(Rc<Multiplexed>),
    /// It dials now, and says what became of it by [`Trunk::settle`].
    Mine,
}

impl Trunk {
    /// The connection, once there is one, or the duty to dial it. Counts a connection that was
    /// closed while nothing was under way as stale. The second value is whether that took a wait.
    async fn find(&self, engine: &Engine, slot: u32) -> Result<(Found, bool), Broken> {
        let mut waited = false;
        poll_fn(|cx| {
            let mut state = self.0.borrow_mut();
            match &mut *state {
                State::Open(connection) if connection.is_usable(cx) => {
                    let found = Found::Open(Rc::clone(connection));
                    return Poll::Ready(Ok((found, waited)));
                }
                State::Dialling(waiting) => {
                    waited = true;
                    waiting.push(cx.waker().clone());
                    return pending(engine.network.limits.expired(slot, Phase::Connect));
                }
                State::Open(_) => engine.stale.set(engine.stale.get() + 1),
                State::Empty => {}
            }
            *state = State::Dialling(Vec::new());
            Poll::Ready(Ok((Found::Mine, waited)))
        })
        .await
    }

    /// Whether there is a connection, as far as was noticed.
    pub(crate) fn is_open(&self) -> bool {
        matches!(&*self.0.borrow(), State::Open(open) if open.wire.ended().is_none())
    }

    /// Says what became of a dial.
    fn settle(&self, connection: Option<&Rc<Multiplexed>>) {
        let settled = match connection {
            Some(connection) => State::Open(Rc::clone(connection)),
            None => State::Empty,
        };
        if let State::Dialling(waiting) = self.0.replace(settled) {
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    /// Takes a connection out of use, if it is still the one in use. Its streams go on.
    fn retire(&self, connection: &Rc<Multiplexed>) {
        let mut state = self.0.borrow_mut();
        if matches!(&*state, State::Open(open) if Rc::ptr_eq(open, connection)) {
            *state = State::Empty;
        }
    }

    /// Opens the connection ahead of any request. If that fails, the first request dials again and
    /// writes down what happens.
    pub(crate) async fn open(&self, engine: &Engine, slot: u32) {
        if let Ok((Found::Mine, _)) = self.find(engine, slot).await {
            let (dialled, _) = Multiplexed::dial(&engine.network, slot).await;
            self.settle(dialled.ok().map(Rc::new).as_ref());
        }
    }

    /// Sends a request over the trunk's connection and reads its response.
    pub(crate) async fn exchange(
        &self,
        engine: &Engine,
        (slot, sent): (u32, &Sent),
        rendered: Rendered,
        answer: &mut Answer,
        sample: &mut Sample,
    ) -> Result<Nanos, Broken> {
        let connection = self.connected(engine, slot, sample).await?;
        let begun = now();
        sample.connection = engine.share.number(connection.serial);
        sample.connection_since = Some(connection.since);
        sample.local_port = connection.local_port;
        if connection.admit(&engine.network, slot).await? {
            sample.ready = sample.ready.max(now());
        } else if connection.active.get() == 1 {
            sample.idle_before_ns = begun.since(connection.idle_since.get());
        }
        sample.index_on_connection = connection.opened.get();
        sample.in_flight = engine.joint.others();
        let setting = Setting {
            connection: &connection,
            network: &engine.network,
            slot,
            sent,
            log: &engine.log,
        };
        let ended = setting.exchange(rendered, answer, sample).await;
        connection.leave(ended.as_ref().map_or_else(|broken| broken.at, |&at| at));
        if engine.per_request || connection.wire.ended().is_some() {
            self.retire(&connection);
        }
        ended
    }

    async fn connected(
        &self,
        engine: &Engine,
        slot: u32,
        sample: &mut Sample,
    ) -> Result<Rc<Multiplexed>, Broken> {
        let (found, waited) = self.find(engine, slot).await?;
        if waited {
            sample.ready = sample.ready.max(now());
        }
        match found {
            Found::Open(connection) => Ok(connection),
            Found::Mine => {
                let network: &Network = &engine.network;
                sample.connect_begin = Some(now());
                let (dialled, progress) = Multiplexed::dial(network, slot).await;
                sample.local_port = progress.local_port;
                sample.connected = progress.connected;
                sample.secured = progress.secured;
                let dialled = dialled.map(Rc::new);
                self.settle(dialled.as_ref().ok());
                dialled
            }
        }
    }
}
