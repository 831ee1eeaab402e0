//! A history as one HTML file.

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use slowpath_core::figures::Unit;
use slowpath_core::nanos::MILLISECOND;
use slowpath_experiment::history::{History, Setting, Track};

use super::{SCRIPT, STYLE, key};
use crate::history_story as story;
use crate::plot::{Axis, Frame, Scale, dot, line};
use crate::quantity;

/// Height of a plot in CSS pixels.
const HEIGHT_PX: u32 = 220;
/// Subjects that are drawn; the tables hold all.
const SUBJECTS_DRAWN: usize = 12;
/// Room on either side of the first and the last release.
const MARGIN: f64 = 0.5;

/// The whole report of a history; it opens offline.
pub fn history_html(history: &History) -> String {
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (history.name) " · slowpath history" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { "History of " (story::heading(history)) }
                    @for void in story::void(history) { div.card.banner.warn { (void) } }
                    @for setting in &history.settings { (told(history, setting)) }
                    p.note { (story::legend(history)) "." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn told(history: &History, setting: &Setting) -> Markup {
    let apart = story::apart(setting);
    let shown = story::shown(history, setting);
    let subjects = story::subjects(&shown);
    let sentences = story::sentences(setting);
    markup! {
        @if !apart.is_empty() { div.card.banner.warn { (apart) } }
        @if !sentences.is_empty() {
            section {
                h2 { "What it shows" }
                ul { @for sentence in sentences { li { (sentence) } } }
            }
        }
        @for (at, subject) in subjects.iter().enumerate() {
            section {
                h2 { (subject) }
                @if at < SUBJECTS_DRAWN {
                    div.pair {
                        @for track in shown.iter().filter(|t| t.subject == **subject) {
                            (plot(track))
                        }
                    }
                    div.legend {
                        (key("s0", "median of the runs of each release, with their range"))
                        (key("s1", "level"))
                    }
                }
                (table(setting, &shown, subject))
            }
        }
    }
}

fn table(setting: &Setting, shown: &[&Track], subject: &str) -> Markup {
    let table = story::releases(setting, shown, subject);
    markup! {
        div.wide {
            table {
                thead { tr { th { "no." } @for head in &table.heads { th { (head) } } } }
                tbody {
                    @for (at, row) in table.rows.iter().enumerate() {
                        tr { td { (at + 1) } @for cell in row { td { (cell) } } }
                    }
                }
            }
        }
    }
}

/// A value as the axis takes it: times in milliseconds.
fn on_axis(unit: Unit, value: f64) -> f64 {
    if unit == Unit::Ns {
        value / MILLISECOND as f64
    } else {
        value
    }
}

fn plot(track: &Track) -> Markup {
    let value = |v: f64| on_axis(track.unit, v);
    let known = track.points.iter().flat_map(|p| [p.value, p.low, p.high]);
    let Some(y) = Scale::log_around(known.flatten().map(value)) else {
        return markup! { p.soft { (track.metric) ": no figure above 0." } };
    };
    let x = Scale::Linear {
        low: 1.0 - MARGIN,
        high: track.points.len() as f64 + MARGIN,
    };
    let across = |at: usize| x.at(at as f64 + 1.0);
    let place = |at: usize, v: Option<f64>| {
        let above = v.filter(|v| *v > 0.0);
        above.map(|v| (across(at), y.at(value(v))))
    };
    let points = || track.points.iter().enumerate();
    let medians = line(points().map(|(at, p)| place(at, p.value)));
    let ranges: String = points()
        .map(|(at, p)| line([place(at, p.low), place(at, p.high)]))
        .collect();
    let dots: String = points()
        .filter_map(|(at, p)| place(at, p.value))
        .map(|(px, py)| dot(px, py))
        .collect();
    let drawing = markup! {
        path class="curve dash s1" d=(levels(track, &place)) {}
        path class="curve s0" d=(medians) {}
        path class="curve s0" d=(ranges) {}
        path class="dot s0" d=(dots) {}
    };
    let show: fn(f64) -> String = if track.unit == Unit::Ns {
        quantity::duration
    } else {
        quantity::number
    };
    Frame {
        caption: &format!("{} over releases, by number", track.metric),
        x: Axis {
            scale: x,
            show: quantity::number,
        },
        y: Axis { scale: y, show },
        height_px: HEIGHT_PX,
        drawing,
        over: markup! {},
    }
    .render()
}

/// The levels between changes.
fn levels(track: &Track, place: &dyn Fn(usize, Option<f64>) -> Option<(f64, f64)>) -> String {
    let last = track.points.len().saturating_sub(1);
    let mut path = String::new();
    let mut from = 0;
    for change in &track.changes {
        let at = change.at as usize;
        let before = Some(change.before);
        path += &line([place(from, before), place(at.saturating_sub(1), before)]);
        from = at;
    }
    if let Some(change) = track.changes.last() {
        let after = Some(change.after);
        path += &line([place(from, after), place(last, after)]);
    }
    path
}
