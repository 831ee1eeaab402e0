//! What the target reports of its requests itself: a receiver of OpenTelemetry's protocol (OTLP).
//!
//! It listens on the loopback interface, on one port for all of the protocol's transports: HTTP/1.1
//! with protocol buffers or JSON, and gRPC over HTTP/2 without TLS. Spans of our own requests are
//! kept, by the trace id that each request carries; whatever else comes is taken, counted and
//! forgotten, so that an exporter has nothing to complain of.

mod bounds;
mod inbox;
mod message;
mod service;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

use slowpath_core::spans::{AppSpans, TelemetryFacts};
use tokio::sync::oneshot;

use inbox::Inbox;

pub use message::{Encoding, MOST_MESSAGE_BYTES, count_spans};

/// How often a waiting caller looks whether anything has come.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A receiver of telemetry; it listens until it is dropped.
#[derive(Debug)]
pub struct Receiver {
    port: u16,
    inbox: Arc<Inbox>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Begins to listen on a port of the loopback interface; 0 takes a free one.
    ///
    /// # Errors
    /// When the port is taken, or there is no room for a thread.
    pub fn start(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        // `localhost` is this one for some; on a host without IPv6 no client uses it.
        let sixth = TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port)));
        let listeners: Vec<TcpListener> = std::iter::once(listener).chain(sixth.ok()).collect();
        for listener in &listeners {
            listener.set_nonblocking(true)?;
        }
        let inbox = Arc::new(Inbox::default());
        let (stop, stopped) = oneshot::channel();
        let own = Arc::clone(&inbox);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let thread = Builder::new()
            .name("slowpath-otlp".to_owned())
            .spawn(move || runtime.block_on(service::serve(listeners, own, stopped)))?;
        Ok(Self {
            port,
            inbox,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where exporters send to.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Keeps the spans of one repeat's requests from now on, and forgets all others.
    pub fn begin(&self, seed: u64, repeat: u16) {
        self.inbox.begin(seed, repeat);
    }

    /// Waits until nothing has come for as long as `quiet`, but not longer than `most` and not when
    /// `stop` is set: exporters send what they gathered from time to time.
    pub fn settle(&self, quiet: Duration, most: Duration, stop: &AtomicBool) {
        let mut messages = self.inbox.messages();
        let (mut waited, mut silent) = (Duration::ZERO, Duration::ZERO);
        while silent < quiet && waited < most && !stop.load(Ordering::Relaxed) {
            sleep(LOOK_EVERY);
            waited += LOOK_EVERY;
            silent += LOOK_EVERY;
            let now = self.inbox.messages();
            if now != messages {
                (messages, silent) = (now, Duration::ZERO);
            }
        }
    }

    /// What came since [`Receiver::begin`].
    pub fn take(&self) -> (AppSpans, TelemetryFacts) {
        self.inbox.take(self.endpoint())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It ends by itself; had it panicked, nothing more would have been received.
            let _ = thread.join();
        }
    }
}
