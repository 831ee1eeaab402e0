//! The views of synthetic runs.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may unwrap as tests do"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the schema is a committed file that a test reads"
)]

mod ab;
mod chrome;
mod compared;
mod gates;
mod html;
mod inside;
mod log;
mod markdown;
mod sample;
mod schema;
mod shape;
mod shape_check;
mod sweep;
mod sweep_schema;
mod terminal;
