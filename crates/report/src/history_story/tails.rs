//! The words of what percentiles alone show of slow requests.

use slowpath_experiment::history::{Decomposed, SameTail, Scatter, TailAgain};

use super::ms;
use crate::quantity;

/// `uptime has a tail of its own in 6 runs in succession, v3.11.1 to v3.50.7 (p95 of 440 ms to 1.5 s)`.
pub(crate) fn again(of: &TailAgain) -> String {
    let since = if of.is_ongoing { ", and still has" } else { "" };
    format!(
        "{} has a tail of its own in {} in succession, {} to {}{since} ({} of {} to {}; {} if tails fell \
         on any endpoint): what is slow is in that endpoint, or in what it asks",
        of.subject,
        quantity::plural(of.runs, "run"),
        of.from,
        of.to,
        of.metric,
        ms(of.least_ns),
        ms(of.most_ns),
        quantity::p_value(of.chance),
    )
}

/// `auto and uptime of v3.50.7 are slow by the same constant, 440 ms`.
pub(crate) fn same(of: &SameTail) -> String {
    let made_of = of.made_of.as_ref();
    let made_of = made_of.map_or(String::new(), |made| format!("; {}", decomposed(of, made)));
    format!(
        "slow requests of {} take the same {} in {} ({}): {}{made_of}",
        of.subjects.join(" and "),
        ms(of.at_ns),
        of.releases.join(", "),
        quantity::p_value(of.chance),
        super::ALIKE,
    )
}

/// `perhaps 24 ms that all take + 2 x 200 ms + 16 ms`.
fn decomposed(of: &SameTail, made: &Decomposed) -> String {
    let wait = match &made.timer {
        Some(name) => format!("{name} ({})", ms(made.wait_ns)),
        None => format!("a wait of {}", ms(made.wait_ns)),
    };
    format!(
        "{} may be {} that all requests take + {} x {wait} + {} (a wait fits as well by chance in {})",
        ms(of.at_ns),
        ms(made.base_ns),
        made.times,
        ms(made.rest_ns),
        quantity::percent(made.chance),
    )
}

/// `conditional.p99: 1.8 s → 9.8 s at v3.50.9 is within the scatter of unchanged code`.
pub(crate) fn scatter(of: &Scatter) -> String {
    format!(
        "{}.{}: {} → {} at {} is within the scatter of unchanged code ({} of {} lie between {} and {}): \
         no regression is shown, and none of less than {} times would be",
        of.subject,
        of.metric,
        ms(of.before_ns),
        ms(of.after_ns),
        of.release,
        quantity::plural(of.runs, "run"),
        of.unchanged,
        ms(of.least_ns),
        ms(of.most_ns),
        quantity::number(of.most_ns / of.least_ns),
    )
}
