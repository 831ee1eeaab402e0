//! Experiments: what was predicted, and every block that was measured.

use maud::{Markup, html};
use slowpath_experiment::{Arm, BlockMeasurement, Experiment, Hypothesis, Outcome, Summary};

use super::answer::badge;
use super::key;
use crate::plot::{Axis, Frame, Scale, dot, line, rect};
use crate::{quantity, story};

/// Blocks whose values differ by more than this factor are drawn on a logarithmic axis.
const LOG_FROM: f64 = 8.0;

/// The experiments of a run; nothing if there were none.
pub(super) fn experiments(experiments: &[Experiment]) -> Markup {
    html! {
        @if !experiments.is_empty() {
            section id="experiments" {
                h2 { "Experiments" }
                @for experiment in experiments { (told(experiment)) }
            }
        }
    }
}

fn told(experiment: &Experiment) -> Markup {
    let hypothesis = &experiment.hypothesis;
    let verdict = experiment.outcome.as_ref().map(|outcome| outcome.verdict);
    html! {
        div.card {
            span.cause { (experiment.cause) } (badge(verdict))
            p { (hypothesis.statement) }
            p.note { "Written " (hypothesis.written_at) ", before the first block; seed "
                (experiment.design.seed) ". With " (story::intervention(&hypothesis.intervention))
                " in half of the blocks, in random order." }
            @if let Some(outcome) = &experiment.outcome {
                p { (story::capital(&outcome.reason)) "." }
                (blocks(hypothesis, outcome))
                (figures(hypothesis, outcome))
            }
        }
    }
}

fn blocks(hypothesis: &Hypothesis, outcome: &Outcome) -> Markup {
    let metrics = outcome.blocks.iter().map(|block| block.metric_ms);
    let values: Vec<f64> = metrics
        .chain([hypothesis.low_ms, hypothesis.high_ms])
        .collect();
    let Some(y) = scale(&values) else {
        return html! {};
    };
    let last = outcome
        .blocks
        .iter()
        .map(|block| block.block)
        .max()
        .unwrap_or(0);
    let x = Scale::Linear {
        low: 0.0,
        high: last as f64 + 2.0,
    };
    let at = |block: &BlockMeasurement| x.at(block.block as f64 + 1.0);
    let of = |arm: Arm| -> String {
        let own = outcome.blocks.iter().filter(|block| block.arm == arm);
        own.map(|block| dot(at(block), y.at(block.metric_ms)))
            .collect()
    };
    let median = |summary: &Option<Summary>| {
        summary.as_ref().map_or_else(String::new, |summary| {
            let height = y.at(summary.median_ms);
            line([Some((0.0, height)), Some((1.0, height))])
        })
    };
    let predicted = rect(
        (0.0, y.at(hypothesis.low_ms)),
        (1.0, y.at(hypothesis.high_ms)),
    );
    let drawing = html! {
        path.band.predicted d=(predicted) {}
        path.dash.without d=(median(&outcome.without)) {}
        path.dash.with d=(median(&outcome.with)) {}
        path.dot.without d=(of(Arm::Without)) {}
        path.dot.with d=(of(Arm::With)) {}
    };
    let caption = format!("{}, block by block in order of time", hypothesis.metric);
    let x = Axis {
        scale: x,
        show: |block| {
            if block < 1.0 {
                String::new()
            } else {
                quantity::number(block)
            }
        },
    };
    let y = Axis {
        scale: y,
        show: if hypothesis.is_of_failures() {
            |value| quantity::percent(value / 100.0)
        } else {
            quantity::duration
        },
    };
    html! {
        (Frame { caption: &caption, x, y, height_px: 190, drawing, over: html! {}, names: &[] }.render())
        div.legend {
            (key("without", "without the intervention"))
            (key("with", "with it"))
            (key("predicted", "predicted with it"))
        }
    }
}

fn scale(values: &[f64]) -> Option<Scale> {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
    if low > 0.0 && high / low > LOG_FROM {
        Scale::log_around(values.iter().copied())
    } else {
        high.is_finite()
            .then(|| Scale::from_zero(values.iter().copied()))
    }
}

fn figures(hypothesis: &Hypothesis, outcome: &Outcome) -> Markup {
    let row = |name: &str, summary: &Summary| {
        html! {
            tr {
                td { (name) }
                td.n { (story::value_of(hypothesis, summary.median_ms)) }
                td.n { (story::values_of(hypothesis, summary.low_ms, summary.high_ms)) }
                td.n { (quantity::percent(summary.slow_share)) }
                td.n { (summary.blocks) }
            }
        }
    };
    html! {
        div.wide { table {
            thead { tr {
                th { "arm" } th { "median" } th { "blocks from-to" } th { "slow" } th { "blocks" }
            } }
            tbody {
                @if let Some(summary) = &outcome.without { (row("without", summary)) }
                @if let Some(summary) = &outcome.with { (row("with", summary)) }
            }
        } }
        p.note {
            @if let Some(p) = outcome.p { "Exact permutation test on ranks, one-sided: "
                (quantity::p_value(p)) ". " }
            @if outcome.predicted_held { "The prediction held. " }
            @else { "The prediction was missed. " }
            @if outcome.withheld > 0 { (outcome.withheld) " requests were due and not sent, on purpose. " }
            @if outcome.restored { "The last block, without the intervention, was as before." }
            @else { "The last block does not show a return to what was before." }
        }
    }
}
