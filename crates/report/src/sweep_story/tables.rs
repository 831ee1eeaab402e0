//! The tables of a sweep: one row a level.

use slowpath_core::stats::settle::Ramp;
use slowpath_experiment::sweep::{Dimension, Figure, Level, Sweep};

use super::{errors_per_s, level};
use crate::quantity;

/// The heading of the levels' column.
const fn heading(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Connections => "conns",
        Dimension::Rate => "rate",
        Dimension::Size => "size",
    }
}

/// A table: headings, then rows of as many cells.
pub(crate) struct Table {
    pub(crate) heads: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// What was asked and what came: one row a level.
pub(crate) fn answers(sweep: &Sweep) -> Table {
    let dimension = sweep.plan.grid.dimension;
    let row = |l: &Level| {
        vec![
            level(dimension, l.level),
            quantity::number(l.offered_per_s),
            quantity::percent_fine(l.served),
            format!(
                "{} [{}, {}]",
                quantity::number(l.per_s.median),
                quantity::number(l.per_s.low),
                quantity::number(l.per_s.high)
            ),
            figure(&l.p50_ms),
            figure(&l.p99_ms),
            errors_per_s(&l.errors),
            cpu(l.server_cpu.map(|c| (c.user, c.system))),
            cpu(l.client_cpu.map(|c| (c.user, c.system))),
            note(l),
        ]
    };
    Table {
        heads: vec![
            heading(dimension),
            "offered/s",
            "served",
            "req/s [low, high]",
            "p50",
            "p99",
            "errors/s",
            "server CPUs",
            "client",
            "",
        ],
        rows: sweep.analysis.levels.iter().map(row).collect(),
    }
}

/// How connections and users fared: one row a level.
pub(crate) fn connections(sweep: &Sweep) -> Table {
    let dimension = sweep.plan.grid.dimension;
    let or_dash = |value: Option<f64>, show: fn(f64) -> String| value.map_or("-".to_owned(), show);
    let row = |l: &Level| {
        vec![
            level(dimension, l.level),
            or_dash(l.waiting_share, quantity::percent),
            or_dash(l.little_ms, quantity::duration),
            or_dash(l.mean_ms, quantity::duration),
            or_dash(l.first_ms, quantity::duration),
            or_dash(l.later_ms, quantity::duration),
            quantity::number(l.dials_per_request),
            or_dash(l.jain, quantity::number),
            or_dash(l.never_served, quantity::percent),
            l.ramp.map_or("-", ramp).to_owned(),
        ]
    };
    Table {
        heads: vec![
            heading(dimension),
            "waiting",
            "N/X",
            "mean",
            "first req",
            "later",
            "dials/req",
            "Jain",
            "never",
            "ramp",
        ],
        rows: sweep.analysis.levels.iter().map(row).collect(),
    }
}

const fn ramp(ramp: Ramp) -> &'static str {
    match ramp {
        Ramp::None => "none",
        Ramp::Fast => "fast",
        Ramp::Slow => "slow",
        Ramp::NotSettled => "not settled",
    }
}

fn figure(of: &Figure) -> String {
    of.value
        .map_or_else(|| "unknown".to_owned(), quantity::duration)
}

fn cpu(of: Option<(f64, f64)>) -> String {
    of.map_or("-".to_owned(), |(user, system)| {
        format!("{user:.2}+{system:.2}")
    })
}

/// What must be known beside a level's figures.
fn note(l: &Level) -> String {
    let mut notes = Vec::new();
    if l.client_limited > 0 {
        notes.push("client-limited".to_owned());
    }
    if l.invalid > 0 {
        notes.push("invalid".to_owned());
    }
    if l.little_violated > 0 {
        notes.push("Little!".to_owned());
    }
    if l.unfair > 0 {
        notes.push("unfair".to_owned());
    }
    if l.modes.len() > 1 {
        notes.push(format!("{} modes", l.modes.len()));
    }
    notes.join(" ")
}
