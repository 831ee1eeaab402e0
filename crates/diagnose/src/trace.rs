//! From what the kernel told of threads to where each request waited, and on whom.
//!
//! [`Index`] cuts a trace into what each thread did when; [`join`] finds in it what the server did
//! for a request; [`walk`] follows who waited for whom. What is not known stays unknown: it is
//! never taken for idle, and nobody is blamed for it.

pub mod index;
pub mod join;
pub mod pieces;
mod stacks;
pub mod walk;

pub use index::Index;
