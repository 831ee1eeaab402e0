//! The statistics against published and independently computed figures, and their laws.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod stats {
    mod bootstrap;
    mod effective;
    mod episodes;
    mod fisher;
    mod grids;
    mod laws;
    mod modes;
    mod period;
    mod permutation;
    mod quantile;
    mod settle;
    mod spread;
    mod tightness;
    mod tukey;
    mod vectors;
}
