//! Distributions whose number of modes is known.
//!
//! The first are the synthetic latencies of Brendan Gregg with the parameters that perfolizer
//! lists for them (MIT, `SyntheticLatencyBrendanGreggSet`), and with his labels, but for 145: its
//! cluster far outside of a normal distribution is a mode. The spike of 111, 40 of 2000 values
//! inside of one, is none by its label.

use crate::draw::Draw;

/// A part of a mixture, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Uniform(f64, f64),
    Normal(f64, f64),
    Pareto(f64, f64),
    /// Median and deviation of the logarithm.
    LogNormal(f64, f64),
    /// Location and scale of the largest of many (Gumbel).
    Largest(f64, f64),
}

use Part::{LogNormal, Normal, Pareto, Uniform};

impl Part {
    pub(crate) fn draw(self, draw: &mut Draw) -> f64 {
        match self {
            Self::Uniform(from, to) => from + (to - from) * draw.uniform(),
            Self::Normal(mean, sd) => mean + sd * draw.normal(),
            Self::Pareto(scale, shape) => scale * draw.uniform().powf(-1.0 / shape),
            Self::LogNormal(median, sigma) => median * (sigma * draw.normal()).exp(),
            Self::Largest(location, scale) => location - scale * (-draw.uniform().ln()).ln(),
        }
    }
}

/// A mixture with its number of modes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) parts: &'static [(f64, Part)],
    pub(crate) modes: usize,
}

const fn set(name: &'static str, parts: &'static [(f64, Part)], modes: usize) -> Set {
    Set { name, parts, modes }
}

impl Set {
    /// One latency in nanoseconds; negative ones are drawn again.
    pub(crate) fn draw(&self, draw: &mut Draw) -> u64 {
        let total: f64 = self.parts.iter().map(|(weight, _)| weight).sum();
        let mut left = draw.uniform() * total;
        let mut chosen = self.parts[self.parts.len() - 1].1;
        for &(weight, part) in self.parts {
            if left < weight {
                chosen = part;
                break;
            }
            left -= weight;
        }
        loop {
            let micros = chosen.draw(draw);
            if micros > 0.0 {
                return (micros * 1e3) as u64;
            }
        }
    }

    /// An ascending sample.
    pub(crate) fn sample(&self, draw: &mut Draw, n: usize) -> Vec<u64> {
        let mut sample: Vec<u64> = (0..n).map(|_| self.draw(draw)).collect();
        sample.sort_unstable();
        sample
    }
}

/// Gregg's sets.
#[rustfmt::skip]
pub(crate) const GREGG: &[Set] = &[
    set("0 uniform narrow", &[(1.0, Uniform(500.0, 1500.0))], 1),
    set("1 uniform wide", &[(1.0, Uniform(0.0, 3000.0))], 1),
    set("2 uniform outliers", &[
        (0.99, Uniform(500.0, 1500.0)),
        (0.01, Uniform(1500.0, 10_000.0)),
    ], 1),
    set("100 normal narrow", &[(1.0, Normal(1000.0, 100.0))], 1),
    set("101 normal medium", &[(1.0, Normal(1000.0, 200.0))], 1),
    set("102 normal wide", &[(1.0, Normal(1000.0, 300.0))], 1),
    set("103 normal with tail", &[
        (0.96, Normal(1000.0, 200.0)),
        (0.04, Uniform(1000.0, 2250.0)),
    ], 1),
    set("104 normal wide", &[(1.0, Normal(1120.0, 700.0))], 1),
    set("111 spike inside", &[(0.98, Normal(1000.0, 200.0)), (0.02, Normal(750.0, 1.0))], 1),
    set("130 pareto 3", &[(1.0, Pareto(1000.0, 3.0))], 1),
    set("131 pareto 10", &[(1.0, Pareto(1000.0, 10.0))], 1),
    set("140 outliers", &[(0.99, Normal(1000.0, 200.0)), (0.01, Uniform(1000.0, 5000.0))], 1),
    set("141 outliers", &[(0.99, Normal(1000.0, 200.0)), (0.01, Uniform(1000.0, 10_000.0))], 1),
    set("142 outliers", &[(0.99, Normal(1000.0, 200.0)), (0.01, Uniform(1000.0, 50_000.0))], 1),
    set("143 outliers", &[(0.98, Normal(1000.0, 200.0)), (0.02, Uniform(1000.0, 5000.0))], 1),
    set("144 outliers", &[(0.96, Normal(1000.0, 200.0)), (0.04, Uniform(1000.0, 5000.0))], 1),
    set("145 cluster outside", &[(0.98, Normal(1000.0, 200.0)), (0.02, Normal(3000.0, 35.0))], 2),
    set("146 outliers close", &[(0.96, Normal(1000.0, 200.0)), (0.04, Uniform(1000.0, 2700.0))], 1),
    set("147 outliers close", &[(0.96, Normal(1000.0, 200.0)), (0.04, Uniform(1000.0, 2900.0))], 1),
    set("148 outliers close", &[(0.96, Normal(1000.0, 200.0)), (0.04, Uniform(1000.0, 3100.0))], 1),
    set("149 outliers close", &[(0.96, Normal(1000.0, 200.0)), (0.04, Uniform(1000.0, 3300.0))], 1),
    set("150 outliers close", &[(0.96, Normal(1000.0, 200.0)), (0.04, Uniform(1000.0, 3500.0))], 1),
    set("151 outliers close", &[(0.96, Normal(1000.0, 200.0)), (0.04, Uniform(1000.0, 3700.0))], 1),
    set("152 outliers close", &[(0.96, Normal(1000.0, 200.0)), (0.04, Uniform(1000.0, 3900.0))], 1),
    set("153 few outliers", &[(0.995, Normal(1000.0, 200.0)), (0.005, Uniform(1000.0, 5000.0))], 1),
    set("154 few outliers", &[(0.998, Normal(1000.0, 200.0)), (0.002, Uniform(1000.0, 5000.0))], 1),
    set("155 few outliers", &[(0.999, Normal(1000.0, 200.0)), (0.001, Uniform(1000.0, 5000.0))], 1),
    set("200 bimodal very close", &[(0.5, Normal(850.0, 110.0)), (0.5, Normal(1150.0, 110.0))], 2),
    set("201 bimodal close", &[(0.5, Normal(825.0, 110.0)), (0.5, Normal(1175.0, 110.0))], 2),
    set("202 bimodal medium", &[(0.5, Normal(750.0, 110.0)), (0.5, Normal(1250.0, 110.0))], 2),
    set("203 bimodal far", &[(0.5, Normal(600.0, 110.0)), (0.5, Normal(1400.0, 110.0))], 2),
    set("204 bimodal", &[
        (0.495, Normal(750.0, 110.0)),
        (0.495, Normal(1250.0, 110.0)),
        (0.01, Uniform(1000.0, 5000.0)),
    ], 2),
    set("205 bimodal", &[
        (0.49, Normal(750.0, 110.0)),
        (0.49, Normal(1250.0, 110.0)),
        (0.02, Uniform(1000.0, 5000.0)),
    ], 2),
    set("206 bimodal", &[
        (0.48, Normal(750.0, 110.0)),
        (0.48, Normal(1250.0, 110.0)),
        (0.04, Uniform(1000.0, 5000.0)),
    ], 2),
    set("210 bimodal", &[(0.7, Normal(750.0, 110.0)), (0.3, Normal(1250.0, 110.0))], 2),
    set("211 bimodal", &[(0.3, Normal(750.0, 110.0)), (0.7, Normal(1250.0, 110.0))], 2),
    set("212 bimodal", &[
        (0.695, Normal(750.0, 110.0)),
        (0.295, Normal(1250.0, 110.0)),
        (0.01, Uniform(1000.0, 5000.0)),
    ], 2),
    set("213 bimodal", &[
        (0.295, Normal(750.0, 110.0)),
        (0.695, Normal(1250.0, 110.0)),
        (0.01, Uniform(1000.0, 5000.0)),
    ], 2),
    set("214 bimodal", &[
        (0.499, Normal(500.0, 150.0)),
        (0.499, Normal(2000.0, 300.0)),
        (0.002, Uniform(1000.0, 180_000.0)),
    ], 2),
    set("215 bimodal", &[
        (0.499, Normal(500.0, 100.0)),
        (0.499, Normal(4000.0, 500.0)),
        (0.002, Uniform(1000.0, 180_000.0)),
    ], 2),
    set("216 bimodal", &[
        (0.667, Normal(500.0, 100.0)),
        (0.333, Normal(4000.0, 100.0)),
        (0.002, Uniform(1000.0, 180_000.0)),
    ], 2),
    set("300 trimodal close", &[
        (0.333, Normal(750.0, 90.0)),
        (0.334, Normal(1000.0, 90.0)),
        (0.333, Normal(1250.0, 90.0)),
    ], 3),
    set("301 trimodal", &[
        (0.333, Normal(500.0, 100.0)),
        (0.334, Normal(1000.0, 100.0)),
        (0.333, Normal(1500.0, 100.0)),
    ], 3),
    set("302 trimodal far", &[
        (0.333, Normal(500.0, 65.0)),
        (0.334, Normal(1000.0, 65.0)),
        (0.333, Normal(1500.0, 65.0)),
    ], 3),
    set("303 trimodal", &[
        (0.333, Normal(500.0, 100.0)),
        (0.334, Normal(1000.0, 100.0)),
        (0.333, Normal(1500.0, 100.0)),
        (0.01, Uniform(1000.0, 5000.0)),
    ], 3),
    set("304 trimodal", &[
        (0.5, Normal(500.0, 100.0)),
        (0.33, Normal(1000.0, 100.0)),
        (0.17, Normal(1500.0, 100.0)),
    ], 3),
    set("305 trimodal", &[
        (0.25, Normal(500.0, 100.0)),
        (0.5, Normal(1000.0, 100.0)),
        (0.25, Normal(1500.0, 100.0)),
    ], 3),
    set("306 trimodal", &[
        (0.17, Normal(500.0, 100.0)),
        (0.5, Normal(1000.0, 100.0)),
        (0.33, Normal(1500.0, 100.0)),
    ], 3),
    set("307 trimodal", &[
        (0.5, Normal(500.0, 100.0)),
        (0.17, Normal(1000.0, 100.0)),
        (0.33, Normal(1500.0, 100.0)),
    ], 3),
    set("400 quad close", &[
        (0.25, Normal(700.0, 75.0)),
        (0.25, Normal(900.0, 75.0)),
        (0.25, Normal(1100.0, 75.0)),
        (0.25, Normal(1300.0, 75.0)),
    ], 4),
    set("401 quad", &[
        (0.25, Normal(700.0, 50.0)),
        (0.25, Normal(900.0, 50.0)),
        (0.25, Normal(1100.0, 50.0)),
        (0.25, Normal(1300.0, 50.0)),
    ], 4),
    set("402 quad far", &[
        (0.25, Normal(400.0, 60.0)),
        (0.25, Normal(800.0, 60.0)),
        (0.25, Normal(1200.0, 60.0)),
        (0.25, Normal(1600.0, 60.0)),
    ], 4),
    set("403 quad", &[
        (0.25, Normal(700.0, 50.0)),
        (0.25, Normal(900.0, 50.0)),
        (0.25, Normal(1100.0, 50.0)),
        (0.25, Normal(1300.0, 50.0)),
        (0.01, Uniform(1000.0, 5000.0)),
    ], 4),
];

/// What servers do: one class with its tail, a slow class of a few per cent, timers.
pub(crate) const SERVERS: &[Set] = &[
    set("lognormal .3", &[(1.0, LogNormal(5e3, 0.3))], 1),
    set("lognormal .5", &[(1.0, LogNormal(5e3, 0.5))], 1),
    set("lognormal 1", &[(1.0, LogNormal(5e3, 1.0))], 1),
    set("pareto 1.5", &[(1.0, Pareto(2e3, 1.5))], 1),
    set("lognormal .05", &[(1.0, LogNormal(40e3, 0.05))], 1),
    set(
        "24 % at 440 ms",
        &[(0.76, LogNormal(5e3, 0.3)), (0.24, Normal(440e3, 8e3))],
        2,
    ),
    set(
        "5 % at 41 ms",
        &[(0.95, LogNormal(1e3, 0.3)), (0.05, Normal(41e3, 1e3))],
        2,
    ),
    set(
        "3 % at 100 ms",
        &[(0.97, LogNormal(5e3, 0.3)), (0.03, LogNormal(100e3, 0.3))],
        2,
    ),
    set(
        "40 and 200 ms",
        &[
            (0.9, LogNormal(1e3, 0.3)),
            (0.06, Normal(41e3, 1e3)),
            (0.04, Normal(203e3, 3e3)),
        ],
        3,
    ),
    set(
        "comb of 200 ms",
        &[
            (0.5, LogNormal(20e3, 0.2)),
            (0.3, Normal(220e3, 6e3)),
            (0.15, Normal(420e3, 6e3)),
            (0.05, Normal(620e3, 6e3)),
        ],
        4,
    ),
];
