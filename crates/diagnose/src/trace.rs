//! From what the kernel reported of threads to where each request waited, and for which thread.
//!
//! [`Index`] cuts a trace into what each thread did when; [`join`] finds in it what the server did
//! for a request; [`walk`] follows which thread waited for which. What is not known stays unknown: it is
//! never taken for idle, and no thread is blamed for it.

pub(crate) mod calls;
pub(crate) mod cpu_waits;
mod handed;
pub(crate) mod holders;
pub mod index;
pub mod inside;
pub mod join;
pub(crate) mod kernel_io;
pub(crate) mod locks;
pub(crate) mod looked;
pub mod loops;
pub(crate) mod others;
pub(crate) mod own_code;
pub(crate) mod owners;
pub mod pieces;
pub(crate) mod pool;
pub mod ports;
mod remote;
pub(crate) mod repeated;
pub(crate) mod room;
pub(crate) mod shift;
pub(crate) mod slept;
pub(crate) mod stacks;
pub(crate) mod stalls;
pub(crate) mod taken_up;
mod task_pool;
pub(crate) mod ticked;
pub(crate) mod view;
pub mod walk;

pub use index::Index;
