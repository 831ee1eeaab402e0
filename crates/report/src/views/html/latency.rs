//! The distribution of latency: percentile curves and modes.

use maud::{Markup, html};
use slowpath_core::stats::quantile;
use slowpath_diagnose::diagnosis::{Diagnosis, EndpointFigures};

use super::measured::{Endpoint, Measured};
use super::{key, left_out};
use crate::plot::{Axis, Frame, Scale, line, steps};
use crate::{quantity, story};

/// Points of a percentile curve: more would not be seen on a screen.
const CURVE_POINTS: usize = 160;

/// Bars of a histogram: fine enough for modes that are 15 % apart over four decades.
const BARS: usize = 72;

/// Room above the highest bar, as a factor, for the labels of the modes.
const LABEL_ROOM: f64 = 6.0;

/// The curve ends at least here, so that few requests still give an axis.
const FEWEST_FOR_AXIS: usize = 20;

pub(super) fn section(diagnosis: &Diagnosis, measured: &Measured<'_>) -> Markup {
    html! {
        section id="latency" {
            h2 { "Latency from the scheduled instant" }
            @if let Some(scale) = Scale::log_around(measured.latencies_ms()) {
                div.pair {
                    (percentile_curve(diagnosis, measured, scale))
                    (modes(diagnosis, measured, scale))
                }
                div.legend {
                    @for (at, endpoint) in measured.endpoints.iter().enumerate() {
                        (key(&format!("s{at}"), &endpoint.name))
                    }
                }
                @for figures in &diagnosis.endpoints {
                    @if let Some(served) = story::served(figures) {
                        p.note { (figures.label()) ": " (served) "; the pictures show those alone" }
                    }
                }
                (left_out(diagnosis))
            } @else {
                p.soft { "No request was completed in the measured window." }
            }
        }
    }
}

fn percentile_curve(diagnosis: &Diagnosis, measured: &Measured<'_>, y: Scale) -> Markup {
    let requests = measured
        .endpoints
        .iter()
        .map(Endpoint::requests)
        .max()
        .unwrap_or(0);
    let most = 1.0 - 1.0 / requests.max(FEWEST_FOR_AXIS) as f64;
    let x = Scale::Tail { most };
    let drawing = html! {
        @for (at, endpoint) in measured.endpoints.iter().enumerate() {
            @if let Some(figures) = figures_of(diagnosis, endpoint) {
                path class={ "whisker s" (at) } d=(intervals(figures, x, y)) {}
            }
            path class={ "curve s" (at) } d=(curve(endpoint, x, y)) {}
        }
    };
    let (x, y) = (
        Axis {
            scale: x,
            show: percentile_name,
        },
        Axis {
            scale: y,
            show: quantity::duration,
        },
    );
    let caption = "Percentiles; thick strokes are 95 % intervals";
    Frame {
        caption,
        x,
        y,
        height_px: 270,
        drawing,
        over: html! {},
        names: &[],
    }
    .render()
}

fn percentile_name(share: f64) -> String {
    // Rounded so that 0.999 * 100 is 99.9.
    format!("p{}", (share * 1e8).round() / 1e6)
}

fn figures_of<'a>(diagnosis: &'a Diagnosis, endpoint: &Endpoint) -> Option<&'a EndpointFigures> {
    diagnosis
        .endpoints
        .iter()
        .find(|figures| figures.label() == endpoint.name)
}

/// The quantiles of an endpoint, up to the first that is only known to be longer.
fn curve(endpoint: &Endpoint, x: Scale, y: Scale) -> String {
    let requests = endpoint.requests() as u64;
    if requests == 0 {
        return String::new();
    }
    let point = |place: f64| {
        let rank = quantile::rank(requests, x.value(place)) as usize;
        let latency = endpoint.at_rank_ms(rank)?;
        Some((place, y.at(latency)))
    };
    line((0..=CURVE_POINTS).map(|step| point(step as f64 / CURVE_POINTS as f64)))
}

/// The judged intervals of the percentiles, as upright strokes.
fn intervals(figures: &EndpointFigures, x: Scale, y: Scale) -> String {
    let latency = &figures.latency_ms;
    let all = [
        (0.5, &latency.p50),
        (0.9, &latency.p90),
        (0.95, &latency.p95),
        (0.98, &latency.p98),
        (0.99, &latency.p99),
        (0.999, &latency.p99_9),
    ];
    let stroke = |(share, percentile): (f64, &slowpath_diagnose::diagnosis::Percentile)| {
        let (low, high) = (percentile.low?, percentile.high?);
        let at = x.at(share);
        Some(line([Some((at, y.at(low))), Some((at, y.at(high)))]))
    };
    all.into_iter().filter_map(stroke).collect()
}

fn modes(diagnosis: &Diagnosis, measured: &Measured<'_>, x: Scale) -> Markup {
    let histograms: Vec<Vec<f64>> = measured
        .endpoints
        .iter()
        .map(|endpoint| histogram(endpoint, x))
        .collect();
    let shares = || histograms.iter().flatten().copied();
    let with_room = shares().chain(shares().map(|share| share * LABEL_ROOM));
    let Some(y) = Scale::log_around(with_room) else {
        return html! {};
    };
    let heights = |histogram: &[f64]| -> Vec<f64> {
        histogram
            .iter()
            .map(|&share| if share > 0.0 { y.at(share) } else { 0.0 })
            .collect()
    };
    let drawing = html! {
        @for (at, histogram) in histograms.iter().enumerate() {
            @let outline = steps(&heights(histogram));
            path class={ "fill f" (at) } d=(outline) {}
            path class={ "thin s" (at) } d=(outline) {}
        }
        @for (at, endpoint) in measured.endpoints.iter().enumerate() {
            @for mode in figures_of(diagnosis, endpoint).map_or(&[][..], |figures| &figures.modes) {
                @let place = x.at(mode.at_ms);
                path class={ "dash s" (at) } d=(line([Some((place, 0.0)), Some((place, 1.0))])) {}
            }
        }
    };
    let (x_axis, y_axis) = (
        Axis {
            scale: x,
            show: quantity::duration,
        },
        Axis {
            scale: y,
            show: quantity::percent,
        },
    );
    let caption = "Modes: share of the requests a bar (logarithmic); dashes mark the modes";
    let over = labels(diagnosis, measured, x);
    Frame {
        caption,
        x: x_axis,
        y: y_axis,
        height_px: 270,
        drawing,
        over,
        names: &[],
    }
    .render()
}

/// Where each mode lies and how much of the endpoint it holds, one row an endpoint.
fn labels(diagnosis: &Diagnosis, measured: &Measured<'_>, x: Scale) -> Markup {
    html! {
        @for (at, endpoint) in measured.endpoints.iter().enumerate() {
            @if let Some(figures) = figures_of(diagnosis, endpoint) {
                @for mode in &figures.modes {
                    @let place = x.at(mode.at_ms) * 100.0;
                    // Labels in the right half hang to the left of their mark.
                    @let shift = if place > 50.0 { "translateX(-100%)" } else { "none" };
                    span.over style={ "left:" (format!("{place:.2}")) "%;top:" (4 + 17 * at)
                        "px;transform:" (shift) } {
                        (quantity::duration(mode.at_ms)) " "
                        (quantity::percent_fine(mode.weight))
                    }
                }
            }
        }
    }
}

/// The share of an endpoint's requests in each bar.
fn histogram(endpoint: &Endpoint, x: Scale) -> Vec<f64> {
    let bar = |latency| ((x.at(latency) * BARS as f64) as usize).min(BARS - 1);
    let bars = endpoint.in_bars(BARS, bar);
    let all = endpoint.requests().max(1) as f64;
    bars.into_iter().map(|count| count as f64 / all).collect()
}
