//! The views of synthetic runs.
#![allow(
    clippy::disallowed_methods,
    reason = "the schema is a committed file that a test reads"
)]

mod html;
mod markdown;
mod sample;
mod schema;
mod terminal;
