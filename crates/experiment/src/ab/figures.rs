//! The arms of a comparison as gates read them.

use slowpath_core::figures::{Conditions, FIGURES_SCHEMA, Figure, Origin, Row, RunFigures, Unit};

use super::Ab;
use super::analysis::pairs;
use super::block::{Block, BlockFigure};
use super::plan::{Arm, METRICS, Metric};

impl Metric {
    const fn unit(self) -> Unit {
        match self {
            Self::P50 | Self::P90 | Self::P95 | Self::P99 => Unit::Ns,
            Self::SlowShare | Self::Errors => Unit::Share,
            Self::Rate => Unit::PerSecond,
        }
    }
}

impl Ab {
    /// The figures of an arm, with a repeat for each pair that has the figure in both arms, so
    /// that those of A and of B belong together one by one. A comparison that ended before its last
    /// pair is void, as is one without pairs.
    pub fn figures(&self, arm: Arm) -> RunFigures {
        let (pairs, _) = pairs(&self.plan, &self.blocks);
        let row = |endpoint: &String, metric: Metric| {
            let both = |[a, b]: &[&Block; 2]| {
                let known = |block: &Block| {
                    let figure = block.figure(endpoint, metric)?;
                    Some(repeat(figure.value?, figure))
                };
                let [a, b] = [known(a)?, known(b)?];
                Some(if arm == Arm::A { a } else { b })
            };
            let repeats: Vec<Figure> = pairs.iter().filter_map(both).collect();
            Row {
                subject: endpoint.clone(),
                metric: metric.name().to_owned(),
                unit: metric.unit(),
                better: metric.unit().better(),
                refused: if repeats.is_empty() {
                    "no pair contains it".to_owned()
                } else {
                    String::new()
                },
                repeats,
                whole: None,
            }
        };
        let endpoints = self.plan.endpoints.iter();
        RunFigures {
            schema: FIGURES_SCHEMA.to_owned(),
            id: self.id.clone(),
            name: self.name.clone(),
            release: None,
            began: self.began.clone(),
            origin: Origin::Measured,
            conditions: Conditions::default(),
            void: self.void(),
            host: None,
            rows: endpoints
                .flat_map(|endpoint| METRICS.map(|metric| row(endpoint, metric)))
                .collect(),
            modes: Vec::new(),
            constants: None,
            profile: None,
            failures: Vec::new(),
        }
    }

    fn void(&self) -> Vec<String> {
        let mut void = Vec::new();
        if !self.is_complete() {
            void.push("it ended before its last pair".to_owned());
        } else if self.analysis.pairs == 0 {
            void.push("no pair counts".to_owned());
        }
        void
    }
}

fn repeat(value: f64, figure: &BlockFigure) -> Figure {
    Figure {
        n: Some(figure.n),
        ..Figure::of(value)
    }
}
