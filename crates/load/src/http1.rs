//! HTTP/1.1 without sockets: bytes of requests out of templates, responses out of bytes.

mod chunked;
mod head;
mod request;
mod response;

pub use request::Request;
pub(crate) use request::{TRACE_PARENT_BYTES, USER_AGENT, trace_parent};
pub use response::{Fed, Malformed, Response};
