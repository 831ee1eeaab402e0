//! Run directories and scenario files: the only crate that knows file formats.
//!
//! A run directory holds one run, see [`files`]. [`RunWriter`] writes it while the run goes on,
//! [`read`] gives it back as a [`RunRecord`], and [`Store`] finds it by name.
//!
//! [`RunRecord`]: slowpath_core::record::RunRecord
#![allow(
    clippy::disallowed_methods,
    reason = "this crate is the effect: it reads and writes the files of runs"
)]

pub mod adapters;
mod columnar;
mod error;
pub mod events;
mod figures;
pub mod files;
mod investigations;
mod jsonl;
mod logs;
mod manifest;
mod profile_pass;
mod profiles;
mod reader;
mod recover;
pub mod samples;
pub mod scenario;
mod seal;
mod spans;
mod spool;
mod store;
pub mod stream_events;
pub mod timeline;
mod timings;
mod trace;
mod writer;

pub use error::RecordError;
pub use figures::{read_figures, write_figures};
pub use files::{read_experiments, write_derived};
pub use investigations::{
    Book, Cited, entry_text, is_name, parse_entry, read_investigations, write_entry,
};
pub use logs::excerpts;
pub use manifest::read_manifest;
pub use profile_pass::write_imported_profiles;
pub use reader::read;
pub use store::{FindError, Store};
pub use stream_events::read_stream_events;
pub use writer::{Handle, RunWriter};
