//! The pages of the causes are their tests: each fenced case is built, judged and compared with
//! what the page says of it.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests read pages and rewrite snapshots"
)]

mod case;
mod pages {
    mod advice;
    mod blank;
    mod cases;
    mod confusion;
    mod failures;
    mod laws;
    mod markdown;
    mod nulls;
    mod settling;
    mod streams;
    mod tidy;
}
