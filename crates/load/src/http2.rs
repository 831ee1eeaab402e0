//! HTTP/2: requests as streams that share connections.
//!
//! The protocol itself is the h2 crate's; here is what a load needs around it. A sample means the
//! same as over HTTP/1.1, with these differences, which lie in the protocol:
//!
//! - `ready` is when a connection was there *and* had room for a stream. Connections are shared, so
//!   a request may wait for one that another request dials, and the server says how many streams it
//!   takes at once (`SETTINGS_MAX_CONCURRENT_STREAMS`; one until it has said so).
//! - `sent` is just before the first write to the connection's socket that follows the opening of
//!   the stream: the one that takes its HEADERS frame, unless the socket was full.
//! - `first_byte` and `done` are just after the read of the socket that brought the final response
//!   header, and the end of the stream.
//! - `received_bytes` and `sent_bytes` are those of bodies and of header fields before compression.
//! - `index_on_connection` counts the streams opened before; the connection was idle before only if
//!   no other stream was under way.
//!
//! A pool that grows on demand uses the streams of a connection that is open or being dialled before
//! it dials another one, so a request may wait for that dial. How many streams a connection has is
//! said by the plan: where a server takes fewer, requests wait for it and no other connection is
//! dialled. A connection that the server has closed is found when a request is to use it.
//!
//! Nothing is retried: what the server refuses or what a connection takes down with it is recorded.

mod answer;
mod exchange;
mod multiplexed;
mod request;
mod trunk;
mod wire;

pub(crate) use answer::Answer;
pub(crate) use request::{Rendered, Request};
pub(crate) use trunk::Trunk;
pub(crate) use wire::Sent;

/// What one negotiates over TLS (ALPN) to speak it.
pub(crate) const ALPN: &[u8] = b"h2";
