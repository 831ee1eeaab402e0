//! A sweep as one HTML file.

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use slowpath_experiment::sweep::{Figure, Level, Sweep};

use super::{SCRIPT, STYLE, key};
use crate::plot::{Axis, Frame, Scale, dot, line};
use crate::quantity;
use crate::sweep_story::{self as story, Table};

/// Points of the law's curve: more would not be seen on a screen.
const CURVE_POINTS: usize = 120;
/// Height of a plot in CSS pixels.
const HEIGHT_PX: u32 = 270;

/// One of the percentiles of a level.
type Pick = fn(&Level) -> &Figure;

/// The whole report of a sweep; it opens offline.
pub fn sweep_html(sweep: &Sweep) -> String {
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (sweep.name) " · slowpath sweep " (sweep.id) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { "Sweep of " (sweep.name) }
                    p.soft { (sweep.began) ": " (story::conditions(sweep)) "." }
                    @if sweep.interrupted {
                        div.card.banner.warn {
                            strong { "Interrupted. " } "The figures cover what was measured."
                        }
                    }
                    section id="answer" {
                        h2 { "What it shows" }
                        ul { @for sentence in story::sentences(sweep) { li { (sentence) } } }
                    }
                    (plots(sweep))
                    (table("Levels", &story::answers(sweep)))
                    p.note { (story::brackets(sweep)) "." }
                    (table("Connections", &story::connections(sweep)))
                    (troubles(sweep))
                    (windows(sweep))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn plots(sweep: &Sweep) -> Markup {
    let Some(x) = Scale::log_around(sweep.windows.iter().map(|w| w.level)) else {
        return markup! {};
    };
    markup! {
        section id="plots" {
            h2 { "Over the levels" }
            div.pair { (throughput(sweep, x)) (latency(sweep, x)) }
            div.legend {
                (key("s0", "completed: each window, and their median"))
                (key("s1", "p50"))
                (key("s2", "p99"))
                (key("errors", "failed"))
                @if sweep.analysis.usl.is_some() { (key("s3", "scalability law (USL)")) }
            }
        }
    }
}

fn throughput(sweep: &Sweep, x: Scale) -> Markup {
    let levels = &sweep.analysis.levels;
    let failed = |l: &Level| l.errors.iter().map(|e| e.per_s).fold(0.0, |a, b| a + b);
    let rates = sweep.windows.iter().map(|w| w.per_s);
    let Some(y) = Scale::log_around(rates.chain(levels.iter().map(failed))) else {
        return markup! { p.soft { "No request was completed." } };
    };
    let place = |level: f64, rate: f64| (rate > 0.0).then(|| (x.at(level), y.at(rate)));
    let medians = line(levels.iter().map(|l| place(l.level, l.per_s.median)));
    let failures = line(levels.iter().map(|l| place(l.level, failed(l))));
    let dots = sweep.windows.iter().filter_map(|w| place(w.level, w.per_s));
    let dots: String = dots.map(|(px, py)| dot(px, py)).collect();
    let law = sweep.analysis.usl.map(|found| {
        let point = |step: usize| {
            let level = x.value(step as f64 / CURVE_POINTS as f64);
            place(level, found.law.at(level))
        };
        line((0..=CURVE_POINTS).map(point))
    });
    let drawing = markup! {
        @if let Some(law) = law { path class="curve dash s3" d=(law) {} }
        path class="errors curve" d=(failures) {}
        path class="curve s0" d=(medians) {}
        path class="dot s0" d=(dots) {}
    };
    let caption = "Requests a second, completed and failed";
    frame(
        caption,
        x,
        Axis {
            scale: y,
            show: quantity::number,
        },
        drawing,
    )
}

fn latency(sweep: &Sweep, x: Scale) -> Markup {
    let levels = &sweep.analysis.levels;
    let known = |of: Pick| levels.iter().filter_map(move |l| of(l).value);
    let (p50, p99): (Pick, Pick) = (|l| &l.p50_ms, |l| &l.p99_ms);
    let Some(y) = Scale::log_around(known(p50).chain(known(p99))) else {
        return markup! { p.soft { "No percentile is known." } };
    };
    let curve = |of: Pick| {
        line(
            levels
                .iter()
                .map(|l| of(l).value.map(|ms| (x.at(l.level), y.at(ms)))),
        )
    };
    let drawing = markup! {
        path class="curve s1" d=(curve(p50)) {}
        path class="curve s2" d=(curve(p99)) {}
    };
    let caption = "Latency of completed requests: see what was served";
    frame(
        caption,
        x,
        Axis {
            scale: y,
            show: quantity::duration,
        },
        drawing,
    )
}

fn frame(caption: &str, x: Scale, y: Axis, drawing: Markup) -> Markup {
    let x = Axis {
        scale: x,
        show: quantity::number,
    };
    Frame {
        caption,
        x,
        y,
        height_px: HEIGHT_PX,
        drawing,
        over: markup! {},
        names: &[],
    }
    .render()
}

fn table(title: &str, table: &Table) -> Markup {
    markup! {
        section {
            h2 { (title) }
            div.wide {
                table {
                    thead { tr { @for head in &table.heads { th { (head) } } } }
                    tbody {
                        @for row in &table.rows {
                            tr { @for cell in row { td { (cell) } } }
                        }
                    }
                }
            }
        }
    }
}

fn troubles(sweep: &Sweep) -> Markup {
    markup! {
        @if !sweep.troubles.is_empty() {
            section {
                h2 { "Not measured" }
                ul { @for trouble in &sweep.troubles { li { (trouble) } } }
            }
        }
    }
}

/// Where the record of each window is.
fn windows(sweep: &Sweep) -> Markup {
    let dimension = sweep.plan.grid.dimension;
    markup! {
        section {
            h2 { "Windows" }
            p.note { "Each is a run: slowpath explain DIRECTORY." }
            div.wide {
                table {
                    thead { tr { th { "level" } th { "req/s" } th { "served" } th { "directory" } th {} } }
                    tbody {
                        @for w in &sweep.windows {
                            tr {
                                td { (story::level(dimension, w.level)) }
                                td { (quantity::number(w.per_s)) }
                                td { (quantity::percent_fine(w.served())) }
                                td { code { (w.dir) } }
                                td {
                                    @if let Some(why) = w.client_limited.as_ref().or(w.invalid.as_ref()) {
                                        (why)
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
