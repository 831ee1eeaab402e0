//! Tests of the whole: the house rules, the command line, and real runs against lab servers.
#![allow(clippy::disallowed_methods, reason = "tests have effects")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod ab;
mod bad_input;
mod benching;
mod comparing;
mod counting;
mod dependencies;
mod docs;
mod error_table;
mod events;
mod exporting;
mod faulty;
mod foreign;
mod garbage;
mod gates;
mod goroutines;
mod histories;
mod house;
mod lab;
mod left_behind;
mod limits;
mod linting;
mod log;
mod misunderstood;
mod own_log;
mod passes;
mod precision;
mod profiling;
mod readme;
mod reconnects;
mod replays;
mod restore;
mod schemas;
mod server_timing;
mod serving;
mod support;
mod sweep;
mod tables;
mod taken_away;
mod telemetry;
mod tracing;
mod unkept;
mod verdicts;
