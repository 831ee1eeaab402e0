//! What can be observed beside the requests: probes, the target process and interventions.
//!
//! This is an effectful crate, and the only one that may hold `unsafe` code.
#![allow(
    clippy::disallowed_methods,
    reason = "observing is doing I/O and reading clocks"
)]

mod calls;
pub mod clock;
mod cpus;
mod goroutines;
pub mod guardian;
pub mod host;
pub mod interventions;
pub mod limits;
mod namespaces;
pub mod observer;
pub mod otlp;
pub mod peek;
pub mod pprof;
pub mod probes;
pub mod profilers;
mod programs;
mod sockets;
pub mod symbols;
pub mod target;
pub mod trace;

pub use observer::Observer;
pub use pprof::{PassProfiled, PassProfiler, ProfileWatch, Profiled, Profiler};
pub use probes::{Watch, Watched};
pub use trace::{TraceWatch, Traced, Tracer};
