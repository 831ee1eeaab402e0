//! Durations and their distributions, as cases write them.

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Deserializer, de::Error};
use slowpath_core::plan::unit;
use slowpath_core::scenario::units::parse_duration;

/// A duration such as `20s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) u64);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        parse_duration(&text).map(Time).map_err(D::Error::custom)
    }
}

/// How long something takes. In a case: `5ms`, `5ms + 0.1ms` (a constant and an exponential of
/// that mean), `0ms..20ms` (uniform), `lognormal 5ms x1.5` (median and factor of one standard
/// deviation), `pareto 1ms a1.5` (least and index).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Dist {
    Exponential { least_ns: f64, mean_ns: f64 },
    Uniform { least_ns: f64, most_ns: f64 },
    Lognormal { median_ns: f64, factor: f64 },
    Pareto { least_ns: f64, index: f64 },
}

impl Dist {
    pub(crate) const fn constant(ns: u64) -> Self {
        Self::Exponential {
            least_ns: ns as f64,
            mean_ns: 0.0,
        }
    }

    pub(crate) fn draw(self, random: &mut ChaCha8Rng) -> u64 {
        let ns = match self {
            Self::Exponential { least_ns, mean_ns } => {
                least_ns - mean_ns * (1.0 - unit(random)).ln()
            }
            Self::Uniform { least_ns, most_ns } => least_ns + (most_ns - least_ns) * unit(random),
            Self::Lognormal { median_ns, factor } => {
                median_ns * (normal(random) * factor.ln()).exp()
            }
            Self::Pareto { least_ns, index } => least_ns * (1.0 - unit(random)).powf(-1.0 / index),
        };
        ns.round() as u64
    }

    fn parse(text: &str) -> Result<Self, String> {
        let ns = |text: &str| {
            parse_duration(text.trim())
                .map(|ns| ns as f64)
                .map_err(|e| e.to_string())
        };
        let number = |text: &str, sign: char| {
            let digits = text.strip_prefix(sign);
            let number = digits.and_then(|digits| digits.parse::<f64>().ok());
            number
                .filter(|n| *n > 0.0)
                .ok_or_else(|| format!("{text:?} is not {sign} and a number"))
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["lognormal", median, factor] => Ok(Self::Lognormal {
                median_ns: ns(median)?,
                factor: number(factor, 'x')?,
            }),
            ["pareto", least, index] => Ok(Self::Pareto {
                least_ns: ns(least)?,
                index: number(index, 'a')?,
            }),
            [least, "+", mean] => Ok(Self::Exponential {
                least_ns: ns(least)?,
                mean_ns: ns(mean)?,
            }),
            [one] => match one.split_once("..") {
                Some((least, most)) => Ok(Self::Uniform {
                    least_ns: ns(least)?,
                    most_ns: ns(most)?,
                }),
                None => Ok(Self::constant(ns(one)? as u64)),
            },
            _ => Err(format!("{text:?} is no distribution")),
        }
    }
}

/// A standard normal number (Box and Muller 1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - unit(random)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(random)).cos()
}

impl<'de> Deserialize<'de> for Dist {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}
