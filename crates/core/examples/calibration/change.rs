//! Changes over releases: how often noise passes for one, and how often a real one is found.

use std::fmt;

use slowpath_core::stats::change::{Course, History, Limits, history};

use crate::draw::Draw;
use crate::row::{Bar, Row, Settings};

/// Scatter of the logarithm of a release's figure: what hosts show between equal builds.
const SCATTER: f64 = 0.03;
const REPS: u64 = 4000;

/// The change that is to be found.
const SHIFT: f64 = 1.1;

/// The law of the noise.
#[derive(Clone, Copy, Debug)]
struct Noise {
    kind: Kind,
    sd: f64,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Normal,
    /// Lognormal even on logarithms.
    Skewed,
    /// Four in a hundred releases are off by 30 %.
    Spikes,
    /// Neighbours correlated.
    Correlated(f64),
}

impl fmt::Display for Noise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Normal => write!(out, "normal")?,
            Kind::Skewed => write!(out, "skewed")?,
            Kind::Spikes => write!(out, "4 % spikes")?,
            Kind::Correlated(rho) => write!(out, "AR({rho})")?,
        }
        write!(out, " {}", self.sd)
    }
}

impl Noise {
    /// Logarithms of `n` figures of one level.
    fn series(self, draw: &mut Draw, n: usize) -> Vec<f64> {
        let mut last = draw.normal();
        let mut next = || match self.kind {
            Kind::Normal => draw.normal(),
            // Mean 0 and deviation 1.
            Kind::Skewed => ((0.5 * draw.normal()).exp() - 1.133) / 0.604,
            Kind::Spikes => {
                let spike = if draw.uniform() < 0.04 {
                    0.3 / self.sd
                } else {
                    0.0
                };
                draw.normal() + spike
            }
            Kind::Correlated(rho) => {
                last = rho * last + (1.0 - rho * rho).sqrt() * draw.normal();
                last
            }
        };
        (0..n).map(|_| self.sd * next()).collect()
    }
}

/// False alarms and power of the judgement of a history.
pub(crate) fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = Vec::new();
    let limits = Limits::with_floor(0.0);
    let bare = Limits {
        least: 0.0,
        ..limits
    };
    let noise = |kind| Noise { kind, sd: SCATTER };
    for n in [8, 12, 20, 30, 50, 80] {
        for (kind, bar) in [
            (Kind::Normal, Bar::AtMost(0.03)),
            (Kind::Skewed, Bar::AtMost(0.03)),
            (Kind::Spikes, Bar::AtMost(0.03)),
            (Kind::Correlated(0.3), Bar::AtMost(0.05)),
            (Kind::Correlated(0.6), Bar::AtMost(0.14)),
        ] {
            rows.push(alarms(settings, n, noise(kind), &limits, bar));
        }
        rows.push(alarms(
            settings,
            n,
            noise(Kind::Normal),
            &bare,
            Bar::AtMost(0.03),
        ));
        rows.push(alarms(
            settings,
            n,
            noise(Kind::Correlated(0.6)),
            &bare,
            Bar::Shown,
        ));
    }
    let quiet = Noise {
        kind: Kind::Normal,
        sd: 0.02,
    };
    for (n, last) in [(12, 2), (30, 3), (8, 4), (20, 5), (80, 10)] {
        rows.push(power(settings, n, last, quiet, Bar::AtLeast(0.6)));
        rows.push(power(settings, n, last, noise(Kind::Normal), Bar::Shown));
    }
    rows.push(power(settings, 30, 10, noise(Kind::Spikes), Bar::Shown));
    rows.push(power(
        settings,
        30,
        10,
        noise(Kind::Correlated(0.3)),
        Bar::Shown,
    ));
    rows
}

/// Judged histories of drawn logarithms.
fn judged(
    settings: &Settings,
    stream: u64,
    mut series: impl FnMut(&mut Draw) -> Vec<f64>,
    limits: &Limits,
) -> Vec<History> {
    let mut draw = Draw::new(settings.seed, stream);
    let mut one = || {
        let figures: Vec<f64> = series(&mut draw).iter().map(|v| v.exp()).collect();
        history(&figures, limits).expect("enough positive figures")
    };
    (0..settings.reps(REPS)).map(|_| one()).collect()
}

fn alarms(settings: &Settings, n: usize, noise: Noise, limits: &Limits, bar: Bar) -> Row {
    let found = judged(
        settings,
        1000 + n as u64,
        |draw| noise.series(draw, n),
        limits,
    );
    let alarm = |h: &&History| {
        let is_change = h.changes.iter().any(|change| !change.is_suspect);
        is_change || matches!(h.course, Course::Drifting { .. })
    };
    let hits = found.iter().filter(alarm).count() as u64;
    let least = if limits.least > 0.0 { "5 %" } else { "any" };
    Row::share(
        format!("{n} releases, {noise}, from {least}: change or drift"),
        hits,
        found.len() as u64,
        bar,
    )
}

fn power(settings: &Settings, n: usize, last: usize, noise: Noise, bar: Bar) -> Row {
    let limits = Limits::with_floor(0.0);
    let at = n - last;
    let series = |draw: &mut Draw| {
        let mut logs = noise.series(draw, n);
        logs[at..].iter_mut().for_each(|v| *v += SHIFT.ln());
        logs
    };
    let found = judged(settings, 2000 + n as u64, series, &limits);
    let near = |h: &&History| h.changes.iter().any(|c| c.at.abs_diff(at) <= 1);
    let hits = found.iter().filter(near).count() as u64;
    Row::share(
        format!("+10 % in the last {last} of {n}, {noise}: found within 1"),
        hits,
        found.len() as u64,
        bar,
    )
}
