//! Drives the load: every request of a plan, sent when it is due, written down as it happened.
//!
//! Four small things and one loop. *When*: [`pacers`] (pure) and the users of a closed loop make a
//! demand, and a dispatcher brings it together with free connections until the window ends.
//! *What*: `http1` renders requests and parses responses without touching a socket. *Over what*: a
//! connection, pooled, kept by a user, or made for one request. *Whether it was right*: the
//! expectations. The loop in `engine` joins them. It runs on one thread, or on several that divide
//! the load among themselves and share nothing while they send.
//!
//! Latency starts when a request was due, so nothing here waits in a queue of its own: a backlog is
//! the stretch between the pacer's cursor and the present, of any length, in no memory. What was
//! due in the measured window and never found a connection is counted as unsent, so that offered =
//! samples + unsent, to the request. Failures are never retried and keep every instant they
//! reached.
#![allow(
    clippy::disallowed_methods,
    reason = "this crate opens sockets and reads the clock; the pacers, which do not, warn"
)]

pub mod body;
mod clock;
mod connection;
mod control;
mod demand;
mod dial;
mod dispatch;
mod drive;
mod engine;
mod expect;
mod extract;
mod failure;
mod files;
mod follow;
mod greet;
pub mod http1;
mod http2;
mod keys;
mod limits;
mod log;
mod loops;
mod pace;
pub mod pacers;
mod perform;
mod redirect;
mod route;
mod session;
mod share;
pub mod sse;
mod stamps;
mod tally;
mod timer;
mod timings;
mod tls;
mod transport;
mod watch;

pub use control::{Connections, Control, KeyPlan, Progress, Reuse, Withhold};
pub use drive::{Drive, Drove, LoadError, drive, resolve};
pub use greet::GreetError;
pub use keys::Keys;
pub use log::Sink;
pub use route::{Blocking, Route};
pub use timings::Noted;
pub use tls::{Tls, TlsError, TlsTerms};
pub use transport::Address;
