//! What earlier comparisons on a host say of its noise.

use serde::{Deserialize, Serialize};
use slowpath_core::stats::family::{FLOOR_TIMES, RATIO_LEAST};

use super::plan::Metric;

/// The least difference that is ever claimed, as a share.
pub(super) const EFFECT_LEAST: f64 = RATIO_LEAST - 1.0;

/// Comparisons that are remembered.
const KEPT: usize = 50;

/// Of those, how many of the last say what the noise is: hosts change.
const ASKED: usize = 5;

/// The noise of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricNoise {
    /// Which metric.
    pub metric: Metric,
    /// Standard deviation of the logarithms of the ratios of pairs, or of the logits' differences.
    pub sd_log: f64,
    /// The largest difference that A against itself has shown, as a share; `null` if that was
    /// never measured.
    pub floor: Option<f64>,
    /// Comparisons that say so.
    pub from: usize,
}

impl MetricNoise {
    /// The least difference that is claimed, as a share.
    pub fn minimum(&self) -> f64 {
        self.floor.map_or(EFFECT_LEAST, |floor| {
            (FLOOR_TIMES * floor).max(EFFECT_LEAST)
        })
    }
}

/// One comparison as it is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseEntry {
    /// Its ULID.
    pub id: String,
    /// Whether A was compared with itself.
    pub same: bool,
    /// The load of its blocks, in any words that distinguish it from others: short blocks, few requests
    /// and busy targets are noisier.
    #[serde(default)]
    pub load: String,
    /// The noise, each from this comparison alone.
    pub metrics: Vec<MetricNoise>,
}

/// The comparisons of one scenario on one host, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseBook {
    /// The comparisons.
    pub entries: Vec<NoiseEntry>,
}

impl NoiseBook {
    /// Remembers a comparison.
    pub fn add(&mut self, entry: NoiseEntry) {
        self.entries.push(entry);
        let old = self.entries.len().saturating_sub(KEPT);
        self.entries.drain(..old);
    }

    /// What the last comparisons under that load say.
    pub fn known(&self, load: &str) -> Vec<MetricNoise> {
        let fitting = || {
            let entries = self.entries.iter().rev();
            entries.filter(move |entry| entry.load == load)
        };
        let of = |metric: Metric| {
            let own = |entry: &'_ NoiseEntry| {
                let mut metrics = entry.metrics.iter();
                metrics.find(|noise| noise.metric == metric).cloned()
            };
            let scatter: Vec<MetricNoise> = fitting().filter_map(own).take(ASKED).collect();
            let squares: f64 = scatter.iter().map(|noise| noise.sd_log.powi(2)).sum();
            let same = fitting().filter(|entry| entry.same);
            // The last one alone: a repetition on a calmer host is believed.
            let mut floors = same.filter_map(own).filter_map(|n| n.floor);
            (!scatter.is_empty()).then(|| MetricNoise {
                metric,
                sd_log: (squares / scatter.len() as f64).sqrt(),
                floor: floors.next(),
                from: scatter.len(),
            })
        };
        super::METRICS.into_iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(same: bool, load: &str, sd_log: f64, floor: Option<f64>) -> NoiseEntry {
        NoiseEntry {
            id: String::new(),
            same,
            load: load.to_owned(),
            metrics: vec![MetricNoise {
                metric: Metric::P50,
                sd_log,
                floor,
                from: 1,
            }],
        }
    }

    #[test]
    fn scatter_is_pooled_and_the_last_floor_of_a_against_a_counts() {
        let mut book = NoiseBook::default();
        assert!(book.known("1s").is_empty());
        book.add(entry(true, "1s", 0.03, Some(0.02)));
        book.add(entry(false, "1s", 0.04, None));
        book.add(entry(true, "1s", 0.05, Some(0.06)));
        book.add(entry(true, "2s", 9.0, Some(9.0)));
        let known = book.known("1s");
        assert_eq!((known.len(), known[0].from), (1, 3));
        assert!((known[0].sd_log.powi(2) - (9.0 + 16.0 + 25.0) / 3.0 * 1e-4).abs() < 1e-12);
        assert_eq!(known[0].floor, Some(0.06));
        assert!((known[0].minimum() - 0.12).abs() < 1e-12);
        book.add(entry(true, "1s", 0.05, Some(0.01)));
        assert_eq!(book.known("1s")[0].floor, Some(0.01));
        for _ in 0..60 {
            book.add(entry(false, "3s", 0.01, None));
        }
        assert_eq!((book.entries.len(), book.known("1s").len()), (KEPT, 0));
    }
}
