//! A history as one HTML file.

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use slowpath_core::figures::Unit;
use slowpath_core::nanos::MILLISECOND;
use slowpath_experiment::history::{ChangeAt, History, Setting, Track};

use super::{SCRIPT, STYLE, coded, key};
use crate::history_story as story;
use crate::plot::{Axis, Frame, Scale, dot, line, rect};
use crate::{figure, quantity};

/// Height of a plot in CSS pixels.
const HEIGHT_PX: u32 = 220;
/// Subjects that are drawn; the tables hold all.
const SUBJECTS_DRAWN: usize = 12;
/// Labels of changes that stand under each other before they begin at the top again.
const LABELS_UNDER: usize = 3;
/// Distance between them in CSS pixels.
const LABEL_PX: usize = 17;
/// Labels of changes from here on end at their line, so that they stay on the page.
const LABEL_ENDS_FROM: f64 = 0.7;
/// More dots than these are drawn smaller, so that the line is seen.
const DOTS_MOST: usize = 60;
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
                    @for setting in &history.settings { (told(history, setting, &Place::file())) }
                    p.note { (story::legend(history)) "." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Where a history is shown.
pub(super) struct Place<'a> {
    /// The address of a run's report, where there is one.
    pub(super) run: &'a dyn Fn(&str) -> Option<String>,
    /// Releases that a table shows at most, the newest of them.
    pub(super) most: usize,
    /// The address of the page that shows all.
    pub(super) all: Option<String>,
}

impl Place<'_> {
    /// A file, which holds everything and leads nowhere.
    fn file() -> Self {
        Self {
            run: &|_| None,
            most: usize::MAX,
            all: None,
        }
    }
}

/// What the history of a setting shows, in words, pictures and tables.
pub(super) fn told(history: &History, setting: &Setting, place: &Place<'_>) -> Markup {
    let apart = story::apart(setting);
    let shown = story::shown(history, setting);
    let subjects = story::subjects(&shown);
    let sentences = story::sentences(setting);
    markup! {
        @if !apart.is_empty() { div.card.banner.warn { (apart) } }
        @if !sentences.is_empty() {
            section {
                h2 { "What it shows" }
                ul { @for sentence in sentences { li { (coded(&sentence)) } } }
            }
        }
        @for (at, subject) in subjects.iter().enumerate() {
            section {
                h2 { (subject) }
                @if at < SUBJECTS_DRAWN {
                    div.pair {
                        @for track in shown.iter().filter(|t| t.subject == **subject) {
                            (plot(setting, track, &[]))
                        }
                    }
                    (legend(has_changed(&shown, subject), false))
                }
                (table(setting, &shown, subject, place))
            }
        }
    }
}

/// What was predicted of a release.
pub(super) struct Predicted<'a> {
    /// The release that was compared with it, or by which it has to be measured.
    pub(super) release: &'a str,
    /// Both ends in the unit of the figure.
    pub(super) range: (f64, f64),
}

/// One figure over the releases of a setting, with what was predicted of some.
pub(super) fn course(setting: &Setting, track: &Track, predicted: &[Predicted<'_>]) -> Markup {
    markup! {
        (plot(setting, track, predicted))
        (legend(!track.changes.is_empty(), !predicted.is_empty()))
    }
}

fn has_changed(shown: &[&Track], subject: &str) -> bool {
    let mut own = shown.iter().filter(|track| track.subject == subject);
    own.any(|track| !track.changes.is_empty())
}

fn legend(changes: bool, predicted: bool) -> Markup {
    markup! {
        div.legend {
            (key("s0", "median of the runs of each release, with their range"))
            @if changes { (key("s1", "level, and where it changes")) }
            @if predicted { (key("predicted", "predicted before it was measured")) }
        }
    }
}

fn table(setting: &Setting, shown: &[&Track], subject: &str, place: &Place<'_>) -> Markup {
    let table = story::releases(setting, shown, subject);
    let left = table.rows.len().saturating_sub(place.most);
    markup! {
        @if left > 0 {
            p.note {
                "The newest " (place.most) " releases"
                @if let Some(all) = &place.all { "; " a href=(all) { "all " (table.rows.len()) } }
                "."
            }
        }
        div.wide tabindex="0" role="region" aria-label={ "Figures of " (subject) } {
            table {
                thead { tr { th { "no." } @for head in &table.heads { th { (head) } } } }
                tbody {
                    @for (at, row) in table.rows.iter().enumerate().skip(left) {
                        tr {
                            td { (at + 1) }
                            @for (column, cell) in row.iter().enumerate() {
                                td { @if column == 1 { (runs(setting, at, cell, place)) } @else { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The number of runs of a release, with the way to each.
fn runs(setting: &Setting, at: usize, count: &str, place: &Place<'_>) -> Markup {
    let runs = setting
        .releases
        .get(at)
        .map_or(&[][..], |release| release.runs.as_slice());
    let known: Vec<(String, &str)> = runs
        .iter()
        .filter_map(|run| Some(((place.run)(&run.id)?, run.id.as_str())))
        .collect();
    markup! {
        @if known.is_empty() { (count) }
        @for (number, (address, id)) in known.iter().enumerate() {
            a href=(address) title=(id) aria-label={ "run " (id) } { (number + 1) } " "
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

/// Where things lie in a plot of a track.
struct Scales {
    /// Releases, by number.
    x: Scale,
    y: Scale,
    unit: Unit,
}

impl Scales {
    /// `None` where nothing is above 0.
    fn of(track: &Track, releases: usize, predicted: &[Predicted<'_>]) -> Option<Self> {
        let known = track.points.iter().flat_map(|p| [p.value, p.low, p.high]);
        let ends = predicted.iter().flat_map(|of| [of.range.0, of.range.1]);
        let shown = known.flatten().chain(ends);
        Some(Self {
            x: Scale::Linear {
                low: 1.0 - MARGIN,
                high: releases as f64 + MARGIN,
            },
            y: Scale::log_around(shown.map(|value| on_axis(track.unit, value)))?,
            unit: track.unit,
        })
    }

    fn up(&self, value: f64) -> f64 {
        self.y.at(on_axis(self.unit, value))
    }

    /// The place of a value of the release at `at`; `None` where there is none above 0.
    fn place(&self, at: usize, value: Option<f64>) -> Option<(f64, f64)> {
        let above = value.filter(|value| *value > 0.0)?;
        Some((self.x.at(at as f64 + 1.0), self.up(above)))
    }

    /// The place between the last release before a change and the first with it.
    fn before(&self, change: &ChangeAt) -> f64 {
        self.x.at(change.at as f64 + MARGIN)
    }
}

fn plot(setting: &Setting, track: &Track, predicted: &[Predicted<'_>]) -> Markup {
    let names = names(setting, predicted);
    let Some(scales) = Scales::of(track, names.len(), predicted) else {
        return markup! { p.soft { (track.metric) ": no figure above 0." } };
    };
    let bands: String = predicted
        .iter()
        .filter_map(|of| {
            let at = names.iter().position(|name| *name == of.release)? as f64 + 1.0;
            let [left, right] = [at - MARGIN, at + MARGIN].map(|end| scales.x.at(end));
            let (low, high) = (scales.up(of.range.0), scales.up(of.range.1));
            Some(rect((left, low), (right, high)))
        })
        .collect();
    let drawing = markup! {
        path class="band predicted" d=(bands) {}
        (drawn(track, &scales))
    };
    let show: fn(f64) -> String = if track.unit == Unit::Ns {
        quantity::duration
    } else {
        quantity::number
    };
    Frame {
        caption: &format!("{} over releases", track.metric),
        x: Axis {
            scale: scales.x,
            show: quantity::number,
        },
        y: Axis {
            scale: scales.y,
            show,
        },
        height_px: HEIGHT_PX,
        drawing,
        over: marks(track, &scales),
        names: &names,
    }
    .render()
}

fn drawn(track: &Track, scales: &Scales) -> Markup {
    let place = |at: usize, value: Option<f64>| scales.place(at, value);
    let points = || track.points.iter().enumerate();
    let medians = line(points().map(|(at, p)| place(at, p.value)));
    let ranges: String = points()
        .map(|(at, p)| line([place(at, p.low), place(at, p.high)]))
        .collect();
    let dots: String = points()
        .filter_map(|(at, p)| place(at, p.value))
        .map(|(px, py)| dot(px, py))
        .collect();
    let breaks = track.changes.iter().map(|change| scales.before(change));
    let breaks: String = breaks
        .map(|x| line([Some((x, 0.0)), Some((x, 1.0))]))
        .collect();
    let many = track.points.len() > DOTS_MOST;
    markup! {
        path class="mark s1" d=(breaks) {}
        path class="curve dash s1" d=(levels(track, &place)) {}
        path class="curve s0" d=(medians) {}
        path.curve.s0.thin[many] d=(ranges) {}
        path.dot.s0.small[many] d=(dots) {}
    }
}

/// The releases of a setting, and those of which something is predicted and nothing measured yet.
fn names<'a>(setting: &'a Setting, predicted: &'a [Predicted<'_>]) -> Vec<&'a str> {
    let releases = setting.releases.iter();
    let mut names: Vec<&str> = releases.map(|one| one.label.as_str()).collect();
    for of in predicted {
        if !names.contains(&of.release) {
            names.push(of.release);
        }
    }
    names
}

/// What changed where, beside the line of each change.
fn marks(track: &Track, scales: &Scales) -> Markup {
    let style = |at: usize, change: &ChangeAt| {
        let top = 3 + LABEL_PX * (at % LABELS_UNDER);
        let place = scales.before(change);
        let side = if place < LABEL_ENDS_FROM {
            format!("left:{:.2}%", place * 100.0)
        } else {
            format!("right:{:.2}%", (1.0 - place) * 100.0)
        };
        format!("{side};top:{top}px")
    };
    markup! {
        @for (at, change) in track.changes.iter().enumerate() {
            span.over style=(style(at, change)) { (changed(change)) }
        }
    }
}

/// `▲ +30 % v9`, or with a question mark where a single release carries it.
fn changed(change: &ChangeAt) -> String {
    let sign = match (change.is_suspect, change.ratio > 1.0) {
        (true, _) => '?',
        (false, true) => '▲',
        (false, false) => '▼',
    };
    format!("{sign} {} {}", figure::change(change.ratio), change.release)
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
