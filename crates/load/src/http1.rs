//! HTTP/1.1 without sockets: bytes of requests out of templates, responses out of bytes.

mod chunked;
mod head;
mod request;
mod response;

pub use request::Request;
pub use response::{Fed, Malformed, Response};
