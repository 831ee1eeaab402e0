//! How often users meet: N users who pick among K keys. The formulas of what the lint of workloads
//! counts by keys that are alike, written out key by key.
//!
//! Keys are given by their probabilities `weights`, which sum to 1. A share of slow requests fits
//! many pairs of users and keys, so that a claim has to predict more than one of these figures,
//! and what a change of the pool would do to them.

/// The share of picks whose key another of `users` simultaneous users picked too:
/// `sum w (1 - (1-w)^(N-1))`.
pub(super) fn mutual(weights: &[f64], users: f64) -> f64 {
    sum(weights, |w| w * (1.0 - (1.0 - w).powf(users - 1.0)))
}

/// The share of picks that are not the first of their key, and wait where the first one's work
/// serves all: `1 - sum (1 - (1-w)^N) / N`.
pub(super) fn behind_first(weights: &[f64], users: f64) -> f64 {
    1.0 - sum(weights, |w| 1.0 - (1.0 - w).powf(users)) / users
}

/// The share of requests that find another one for their key under way, when `under_way` are on
/// average and they come independently of each other (arrivals a second times seconds each):
/// `sum w (1 - e^(-n w))`.
pub(super) fn open(weights: &[f64], under_way: f64) -> f64 {
    sum(weights, |w| w * (1.0 - (-under_way * w).exp()))
}

/// The same for `users` who each have a request under way for a share `busy` of their time:
/// `sum w (1 - (1 - u w)^(N-1))`.
pub(super) fn closed(weights: &[f64], users: f64, busy: f64) -> f64 {
    sum(weights, |w| w * (1.0 - (1.0 - busy * w).powf(users - 1.0)))
}

/// The share of cost, rather than of picks, that [`mutual`] collisions touch, when a pick of key
/// `k` costs `costs[k]`.
pub(super) fn mutual_cost(weights: &[f64], costs: &[f64], users: f64) -> f64 {
    assert_eq!(weights.len(), costs.len(), "each key has a cost");
    let of = |w: f64| w * (1.0 - (1.0 - w).powf(users - 1.0));
    let touched: f64 = weights.iter().zip(costs).map(|(&w, c)| of(w) * c).sum();
    let all: f64 = weights.iter().zip(costs).map(|(w, c)| w * c).sum();
    touched / all
}

/// Standard deviation of the share [`mutual`] in one round of `users` picks among `keys` equal
/// keys; of the mean of M rounds it is `1 / sqrt(M)` of that.
pub(super) fn mutual_sd(keys: f64, users: f64) -> f64 {
    let alone = (1.0 - 1.0 / keys).powf(users - 1.0);
    let both = (1.0 - 1.0 / keys) * (1.0 - 2.0 / keys).powf(users - 2.0);
    let squares = users * alone + users * (users - 1.0) * both;
    (squares - (users * alone).powi(2)).max(0.0).sqrt() / users
}

/// The chance that any two of `users` pick the same of `keys` equal keys.
pub(super) fn any(keys: f64, users: u32) -> f64 {
    let apart: f64 = (0..users)
        .map(|i| (1.0 - f64::from(i) / keys).max(0.0))
        .product();
    1.0 - apart
}

/// How many equal keys `users` would have to share for a share `mutual` of picks to collide.
pub(super) fn keys_for(mutual: f64, users: f64) -> f64 {
    1.0 / (1.0 - (1.0 - mutual).powf(1.0 / (users - 1.0)))
}

fn sum(weights: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    weights.iter().map(|&w| of(w)).sum()
}
