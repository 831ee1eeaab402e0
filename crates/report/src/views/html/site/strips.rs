//! Intervals under each other on one axis: a row each, with its words beside it.

use maud::{Markup, html};

use crate::plot::{Scale, dot, line, rect};

/// One interval.
pub(super) struct Strip {
    /// What it is of.
    pub(super) label: Markup,
    /// The figure, if there is one.
    pub(super) value: Option<f64>,
    /// Both ends of its interval.
    pub(super) range: Option<(f64, f64)>,
    /// The class of its colour.
    pub(super) class: &'static str,
    /// The same in words.
    pub(super) told: Markup,
}

/// What is drawn below all rows.
pub(super) struct Behind {
    /// An interval that is shaded.
    pub(super) band: Option<(f64, f64)>,
    /// A value that is marked.
    pub(super) mark: Option<f64>,
}

/// The rows, and the axis under them.
pub(super) fn strips(
    caption: &str,
    scale: Scale,
    ticks: &[f64],
    show: &dyn Fn(f64) -> String,
    behind: &Behind,
    rows: &[Strip],
) -> Markup {
    let at = |value: f64| scale.at(value);
    let band = behind
        .band
        .map(|(low, high)| rect((at(low), 0.0), (at(high), 1.0)));
    let mark = behind
        .mark
        .map(|value| line([Some((at(value), 0.0)), Some((at(value), 1.0))]));
    let grid: String = ticks
        .iter()
        .map(|tick| line([Some((at(*tick), 0.0)), Some((at(*tick), 1.0))]))
        .collect();
    html! {
        figure.strips {
            figcaption { (caption) }
            @for row in rows {
                div.strip {
                    div.of { (row.label) }
                    svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true" {
                        @if let Some(band) = &band { path.band.predicted d=(band) {} }
                        path.grid d=(grid) {}
                        @if let Some(mark) = &mark { path.mark d=(mark) {} }
                        (drawn(row, scale))
                    }
                    div.told { (row.told) }
                }
            }
            div.strip aria-hidden="true" {
                div.of {}
                div.ticks-x {
                    @for tick in ticks {
                        span style={ "left:" (format!("{:.2}%", at(*tick) * 100.0)) } {
                            (show(*tick))
                        }
                    }
                }
                div.told {}
            }
        }
    }
}

fn drawn(row: &Strip, scale: Scale) -> Markup {
    /// Half way up.
    const MIDDLE: f64 = 0.5;
    let ends = row.range.map(|(low, high)| {
        line([
            Some((scale.at(low), MIDDLE)),
            Some((scale.at(high), MIDDLE)),
        ])
    });
    let value = row.value.map(|value| dot(scale.at(value), MIDDLE));
    html! {
        @if let Some(ends) = ends { path class={ "curve range " (row.class) } d=(ends) {} }
        @if let Some(value) = value { path class={ "dot " (row.class) } d=(value) {} }
    }
}
