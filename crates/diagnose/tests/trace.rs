//! Where a request waited, and for which threads: scenes written by hand, and laws that hold of any trace.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "case/script.rs"]
mod script;
mod trace {
    mod ends;
    mod index;
    mod laws;
    mod locks;
    mod loops;
    mod scene;
    mod scenes;
    mod serving;
}
