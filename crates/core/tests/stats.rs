//! The statistics against published and independently computed figures, and their laws.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod stats {
    mod bootstrap;
    mod comparing;
    mod dip;
    mod effective;
    mod episodes;
    mod family;
    mod fisher;
    mod grids;
    mod laws;
    mod modes;
    mod order;
    mod period;
    mod permutation;
    mod power;
    mod quantile;
    mod repeats;
    mod settle;
    mod shape;
    mod spread;
    mod tightness;
    mod tukey;
    mod vectors;
}
