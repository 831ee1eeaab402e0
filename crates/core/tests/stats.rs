//! The statistics against published and independently computed figures, and their laws.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod stats {
    mod bootstrap;
    mod change;
    mod collided;
    mod collisions;
    mod comb;
    mod comparing;
    mod constants;
    mod dip;
    mod effective;
    mod episodes;
    mod estimators;
    mod explain;
    mod family;
    mod fisher;
    mod grids;
    mod laws;
    mod lomb_scargle;
    mod modes;
    mod noise;
    mod order;
    mod period;
    mod permutation;
    mod power;
    mod quantile;
    mod recurrence;
    mod repeats;
    mod settle;
    mod shape;
    mod spread;
    mod stalls;
    mod step;
    mod tightness;
    mod trend;
    mod tukey;
    mod vectors;
    mod wall;
}
