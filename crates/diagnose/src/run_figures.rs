//! A judged run in the figures that comparisons, gates and histories read.

use std::collections::BTreeMap;

use slowpath_core::figures::{
    FIGURES_SCHEMA, FailureFigure, Figure, FunctionFigure, HostNoise, ModeFigure, Origin,
    ProfileFigures, Row, RunFigures, Unit,
};
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::record::Manifest;

use crate::diagnosis::{
    Diagnosis, EndpointFigures, ErrorCount, Percentile, ProfileView, RepeatFigures, Status,
};
use crate::over_repeats::asides;

mod conditions;
mod constants;

/// The figures of a run that slowpath measured.
pub fn run_figures(manifest: &Manifest, diagnosis: &Diagnosis) -> RunFigures {
    let invalid = diagnosis
        .validity
        .iter()
        .filter(|check| check.status == Status::Invalid)
        .map(|check| format!("{}: {}", check.check, check.detail));
    let health = diagnosis.run.health.as_ref();
    RunFigures {
        schema: FIGURES_SCHEMA.to_owned(),
        id: diagnosis.run.id.clone(),
        name: diagnosis.run.name.clone(),
        release: diagnosis.run.release.clone(),
        began: diagnosis.run.began.clone(),
        origin: match &manifest.imported {
            Some(imported) => Origin::Imported {
                format: imported.format.clone(),
                files: imported.files.clone(),
            },
            None => Origin::Measured,
        },
        conditions: conditions::conditions(manifest),
        void: invalid.collect(),
        host: health.map(|health| HostNoise {
            score: health.score,
            late_ns: health.floor_ms * 1e6,
        }),
        rows: diagnosis
            .endpoints
            .iter()
            .flat_map(|endpoint| rows(endpoint, &asides(health, &manifest.plan, endpoint)))
            .collect(),
        modes: diagnosis.endpoints.iter().flat_map(modes).collect(),
        constants: Some(
            diagnosis
                .endpoints
                .iter()
                .flat_map(|endpoint| constants::constants(manifest, endpoint))
                .collect(),
        ),
        failures: diagnosis.endpoints.iter().flat_map(failures).collect(),
        profile: diagnosis.profile.as_ref().and_then(profile),
    }
}

/// Where the CPU time went in a profiling pass, if one took samples.
fn profile(view: &ProfileView) -> Option<ProfileFigures> {
    let cpu = view.cpu.as_ref()?;
    let own = cpu.functions.iter().filter(|f| f.own.share > 0.0);
    let functions = own.map(|f| FunctionFigure {
        function: f.function.clone(),
        share: f.own.share,
        deff: f.own.deff,
    });
    let last = cpu.functions.last().filter(|_| cpu.further > 0);
    Some(ProfileFigures {
        source: view.source,
        samples: cpu.samples,
        per_request_ms: cpu.per_request_ms,
        functions: functions.collect(),
        unlisted_share: last.map_or(0.0, |last| last.own.share),
    })
}

/// What rows call an endpoint, with its pass where it has one.
pub(crate) fn subject(endpoint: &EndpointFigures) -> String {
    match &endpoint.pass {
        Some(pass) => format!("{} ({pass})", endpoint.name),
        None => endpoint.name.clone(),
    }
}

fn modes(endpoint: &EndpointFigures) -> Vec<ModeFigure> {
    let modes = endpoint.modes.iter();
    let figure = modes.map(|mode| ModeFigure {
        subject: subject(endpoint),
        at_ns: ns(mode.at_ms),
        weight: mode.weight,
        n: endpoint.completed,
    });
    figure.collect()
}

fn failures(endpoint: &EndpointFigures) -> Vec<FailureFigure> {
    let figure = |error: &ErrorCount| {
        let what = match (&error.status, &error.errno) {
            (Some(status), _) => format!("{} {status}", error.class),
            (None, Some(errno)) => format!("{} ({errno})", error.class),
            (None, None) => error.class.clone(),
        };
        FailureFigure {
            subject: subject(endpoint),
            class: format!("{what} in {}", error.phase),
            count: error.count,
            share: error.offered_share,
        }
    };
    endpoint.errors.iter().map(figure).collect()
}

fn rows(endpoint: &EndpointFigures, asides: &BTreeMap<u32, String>) -> Vec<Row> {
    let subject = subject(endpoint);
    let row = |metric: &str, unit: Unit, repeats: Vec<Figure>| Row {
        subject: subject.clone(),
        metric: metric.to_owned(),
        unit,
        better: unit.better(),
        repeats,
        whole: None,
        refused: String::new(),
    };
    let of = |value: fn(&RepeatFigures) -> f64| {
        let figures = endpoint.by_repeat.iter();
        figures.map(move |repeat| Figure {
            n: Some(repeat.offered),
            repeat: Some(repeat.repeat),
            aside: asides.get(&repeat.repeat).cloned().unwrap_or_default(),
            ..Figure::of(value(repeat))
        })
    };
    let latency = &endpoint.latency_ms;
    let percentiles = [
        ("p50", &latency.p50),
        ("p90", &latency.p90),
        ("p95", &latency.p95),
        ("p98", &latency.p98),
        ("p99", &latency.p99),
        ("p99.9", &latency.p99_9),
    ];
    let mut rows: Vec<Row> = percentiles
        .into_iter()
        .map(|(name, whole)| Row {
            // The figure over all includes the requests of excluded repeats.
            whole: figure(whole).filter(|_| asides.is_empty()),
            refused: match (whole.low, asides.len()) {
                (Some(_), 0) => String::new(),
                (Some(_), 1) => "1 of its repeats was excluded".to_owned(),
                (Some(_), aside) => format!("{aside} of its repeats were excluded"),
                (None, _) => whole.reason.clone().unwrap_or_default(),
            },
            ..row(name, Unit::Ns, percentile(endpoint, name, asides))
        })
        .collect();
    rows.push(row("rate", Unit::PerSecond, of(|r| r.rate_per_s).collect()));
    rows.push(row("errors", Unit::Share, of(|r| r.errors).collect()));
    rows
}

/// A percentile in those repeats that have it.
fn percentile(
    endpoint: &EndpointFigures,
    name: &str,
    asides: &BTreeMap<u32, String>,
) -> Vec<Figure> {
    let repeats = endpoint.by_repeat.iter();
    let of = |repeat: &RepeatFigures| {
        Some(Figure {
            n: Some(repeat.completed),
            repeat: Some(repeat.repeat),
            aside: asides.get(&repeat.repeat).cloned().unwrap_or_default(),
            ..Figure::of(ns(*repeat.latency_ms.get(name)?))
        })
    };
    repeats.filter_map(of).collect()
}

fn figure(of: &Percentile) -> Option<Figure> {
    Some(Figure {
        value: ns(of.value?),
        low: of.low.map(ns),
        high: of.high.map(ns),
        n: of.n,
        ..Figure::default()
    })
}

fn ns(ms: f64) -> f64 {
    (ms * MILLISECOND as f64).round()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::{Percentiles, ShapeFigures};

    fn known() -> Percentile {
        Percentile {
            value: Some(2.5),
            low: Some(2.0),
            high: Some(3.0),
            n: Some(100),
            ..Percentile::default()
        }
    }

    #[test]
    fn a_refused_percentile_says_why_and_repeats_keep_theirs() {
        let refused = Percentile {
            value: None,
            reason: Some("needs 368 effective samples, have 12".to_owned()),
            ..Percentile::default()
        };
        let latency = Percentiles {
            p50: known(),
            p90: refused.clone(),
            p95: refused.clone(),
            p98: refused.clone(),
            p99: refused.clone(),
            p99_9: refused.clone(),
            max: refused,
        };
        let repeat = RepeatFigures {
            repeat: 0,
            offered: 120,
            completed: 100,
            rate_per_s: 50.0,
            errors: 0.1,
            latency_ms: BTreeMap::from([("p50".to_owned(), 2.5)]),
            ..RepeatFigures::default()
        };
        let endpoint = EndpointFigures {
            name: "search".to_owned(),
            pass: Some("cold".to_owned()),
            requests: 110,
            rate_per_s: 50.0,
            offered: 120,
            completed: 100,
            served: 0.83,
            unfinished: 10,
            unsent: 0,
            errors: Vec::new(),
            service_ms: latency.clone(),
            latency_ms: latency,
            stream: None,
            spans: None,
            server_timing: None,
            pauses: None,
            modes: Vec::new(),
            run_spread: None,
            spread_blame: None,
            by_repeat: vec![repeat],
            over_repeats: Vec::new(),
            shape: ShapeFigures::default(),
            settling: None,
        };
        let rows = rows(&endpoint, &BTreeMap::new());
        let by_name = |name: &str| rows.iter().find(|r| r.name() == name).unwrap();
        let median = by_name("search (cold).p50");
        assert_eq!(median.values(), [2.5e6]);
        assert_eq!(median.whole.as_ref().unwrap().low, Some(2e6));
        let tail = by_name("search (cold).p99");
        assert!(tail.refused.contains("368") && tail.repeats.is_empty());
        assert_eq!(by_name("search (cold).errors").values(), [0.1]);
        assert_eq!(by_name("search (cold).rate").values(), [50.0]);
        let asides = BTreeMap::from([(0, "the clock was stepped".to_owned())]);
        for row in super::rows(&endpoint, &asides) {
            assert_eq!(row.values(), [0.0; 0], "{}", row.name());
            assert!(
                row.repeats
                    .iter()
                    .all(|figure| figure.aside.contains("stepped"))
            );
        }
    }
}
