//! The words of a history, which all its views share.

use slowpath_core::figures::Unit;
use slowpath_core::nanos::MILLISECOND;
use slowpath_experiment::compare::Verdict;
use slowpath_experiment::history::{
    Basis, ChangeAt, Constant, Course, History, Kind, Newest, Place, RunModes, Says, Setting,
    Shared, Track, WorstRow,
};

use crate::{comparison_story, figure, quantity};

pub(crate) mod tails;

/// Metrics that are shown unless others are asked for: the usual request and the slow one.
const SHOWN: [&str; 2] = ["p50", "p99"];
/// Heights of a sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A sparkline of a history that moves by less than this factor is drawn flat: noise is no
/// picture.
const FLAT_BELOW: f64 = 1.1;

/// A level is compared with the first release too if it lies so many times as far from that as the last
/// change went.
const MORE_FROM: f64 = 1.1;

/// The tracks that are shown: the usual metrics of a subject that has them, all of others, and
/// what was asked for.
pub(crate) fn shown<'a>(history: &History, setting: &'a Setting) -> Vec<&'a Track> {
    let has_usual = |subject: &str| {
        let mut tracks = setting.tracks.iter();
        tracks.any(|t| t.subject == subject && SHOWN.contains(&t.metric.as_str()))
    };
    let asked = history.metric.is_some();
    let is_shown =
        |t: &&Track| asked || SHOWN.contains(&t.metric.as_str()) || !has_usual(&t.subject);
    setting.tracks.iter().filter(is_shown).collect()
}

/// The subjects of tracks, each once, in order.
pub(crate) fn subjects<'a>(tracks: &[&'a Track]) -> Vec<&'a str> {
    let mut subjects: Vec<&str> = Vec::new();
    for track in tracks {
        if !subjects.contains(&track.subject.as_str()) {
            subjects.push(&track.subject);
        }
    }
    subjects
}

/// A table of one subject: a row a release, a column a metric.
pub(crate) struct Releases {
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// The table of a subject over the releases of a setting.
pub(crate) fn releases(setting: &Setting, tracks: &[&Track], subject: &str) -> Releases {
    let own: Vec<&&Track> = tracks.iter().filter(|t| t.subject == subject).collect();
    let mut heads = vec!["release".to_owned(), "runs".to_owned()];
    heads.extend(own.iter().map(|track| track.metric.clone()));
    let row = |(at, release): (usize, &slowpath_experiment::history::Release)| {
        let mut row = vec![
            release.label.clone(),
            quantity::count(release.runs.len() as u64),
        ];
        row.extend(own.iter().map(|track| cell(track, at)));
        row
    };
    Releases {
        heads,
        rows: setting.releases.iter().enumerate().map(row).collect(),
    }
}

/// A figure, and the mark of a change that begins there.
fn cell(track: &Track, at: usize) -> String {
    let text = figure::estimate(track.unit, &track.points[at]);
    let change = track.changes.iter().find(|c| c.at == at as u64);
    match change {
        Some(change) if change.is_suspect => {
            format!("{text} ? {}", figure::change(change.ratio))
        }
        Some(change) => format!(
            "{text} {} {}",
            if change.ratio > 1.0 { '▲' } else { '▼' },
            figure::change(change.ratio)
        ),
        None => text,
    }
}

/// The medians of a track as a small picture: one bar a release, on a logarithmic scale.
pub(crate) fn sparkline(track: &Track) -> String {
    let known = || track.points.iter().filter_map(|point| point.value);
    let known = || known().filter(|value| *value > 0.0);
    let (Some(low), Some(high)) = (known().reduce(f64::min), known().reduce(f64::max)) else {
        return String::new();
    };
    let bar = |value: Option<f64>| match value.filter(|value| *value > 0.0) {
        None => ' ',
        Some(_) if high / low < FLAT_BELOW => BARS[BARS.len() / 2],
        Some(value) => {
            let place = (value / low).ln() / (high / low).ln();
            BARS[((place * BARS.len() as f64) as usize).min(BARS.len() - 1)]
        }
    };
    track.points.iter().map(|point| bar(point.value)).collect()
}

/// What the history is of: `shop: 14 releases, 20 runs`.
pub(crate) fn heading(history: &History) -> String {
    let releases: usize = history.settings.iter().map(|s| s.releases.len()).sum();
    let runs = history.settings.iter().flat_map(|s| &s.releases);
    let runs: usize = runs.map(|release| release.runs.len()).sum();
    format!(
        "{}: {}, {}",
        history.name,
        quantity::plural(releases as u64, "release"),
        quantity::plural(runs as u64, "run")
    )
}

/// What sets older runs apart from the newest; empty for the newest run's own setting.
pub(crate) fn apart(setting: &Setting) -> String {
    let differs: Vec<String> = setting
        .differs
        .iter()
        .map(|d| {
            let value = d.b.as_deref().unwrap_or("without");
            format!("{} {}: {value}", d.part.name(), d.name)
        })
        .collect();
    if differs.is_empty() {
        return String::new();
    }
    format!(
        "measured in another way, and not comparable with the newest: {}",
        differs.join(", ")
    )
}

/// What the history of a setting shows, a sentence each, the most important first.
pub(crate) fn sentences(setting: &Setting) -> Vec<String> {
    let mut said = Vec::new();
    for track in &setting.tracks {
        said.extend(track.newest.as_ref().and_then(|n| novel(track, n)));
    }
    said.extend(setting.recurring.iter().map(constant));
    said.extend(setting.shared.iter().map(shared));
    said.extend(setting.same_tails.iter().map(tails::same));
    said.extend(setting.tails.iter().map(tails::again));
    // Beside endpoints that have a tail of their own it says nothing of them that another one is worse
    // now and then.
    let alone = |worst: &&WorstRow| worst.says != Says::Wanders || setting.tails.is_empty();
    said.extend(setting.worst.as_ref().filter(alone).and_then(worst));
    said.extend(setting.scatters.iter().map(tails::scatter));
    for track in &setting.tracks {
        said.extend(
            track
                .changes
                .iter()
                .map(|change| changed(setting, track, change)),
        );
        said.extend(moving(track));
    }
    said.extend(setting.run_modes.iter().map(run_modes));
    said.extend(unknown(setting));
    said
}

/// What is said of a figure that a single release carries.
const AGAIN: &str = "measure that again before it is believed";

/// The newest release, if it is beyond its level; a change or a drift is reported as such.
pub(crate) fn novel(track: &Track, newest: &Newest) -> Option<String> {
    let claimed = newest.basis == Basis::Level
        && !matches!(newest.verdict, Verdict::Same | Verdict::CannotTell);
    claimed.then(|| {
        let word = comparison_story::word(newest.verdict);
        format!(
            "{}.{} of {}, the newest: {word}, {}; a single release so far: {AGAIN}",
            track.subject,
            track.metric,
            newest.release,
            against(track.unit, newest)
        )
    })
}

/// `14 ms, higher than in any of 9 before (9.7 to 10.4 ms expected, p 0.001)`.
fn against(unit: Unit, newest: &Newest) -> String {
    let value = figure::value(unit, newest.value);
    let earlier = match newest.earlier {
        1 => "the one before".to_owned(),
        several => format!("any of {several} before"),
    };
    let place = match newest.place {
        Place::Highest => format!("higher than in {earlier}"),
        Place::Lowest => format!("lower than in {earlier}"),
        Place::Within => "within the range of those before".to_owned(),
    };
    let Some((low, high)) = newest.low.zip(newest.high) else {
        return format!("{value}, {place}");
    };
    let p = newest
        .p
        .map_or(String::new(), |p| format!(", {}", quantity::p_value(p)));
    let (low, high) = (figure::value(unit, low), figure::value(unit, high));
    format!("{value}, {place} ({low} to {high} expected{p})")
}

fn changed(setting: &Setting, track: &Track, change: &ChangeAt) -> String {
    let name = format!("{}.{}", track.subject, track.metric);
    let levels = format!(
        "{} → {}, {}",
        figure::value(track.unit, change.before),
        figure::value(track.unit, change.after),
        quantity::p_value(change.p)
    );
    let size = figure::change(change.ratio);
    if change.is_suspect {
        let why = doubt(change.is_hosts);
        return format!(
            "{name}: perhaps {size} at {} ({levels}), {why}: {AGAIN}",
            change.release
        );
    }
    let word = comparison_story::word(change.verdict);
    let altogether = altogether(setting, track, change);
    format!(
        "{name}: {word} by {size} since {} ({levels}{altogether})",
        change.release
    )
}

/// What a level is against the first release of all, if that is more than its last change: several
/// small ones are each explained away.
fn altogether(setting: &Setting, track: &Track, change: &ChangeAt) -> String {
    let is_last = track
        .changes
        .last()
        .is_some_and(|last| last.at == change.at);
    let mut known = (0..)
        .zip(&track.points)
        .filter_map(|(at, point)| Some((at, point.value?)));
    let first: Option<(usize, f64)> = known.next().filter(|(_, value)| *value > 0.0);
    let Some((at, from)) = first.filter(|_| is_last) else {
        return String::new();
    };
    let ratio = change.after / from;
    let is_more = (ratio.ln() / change.ratio.ln()) >= MORE_FROM;
    let Some(release) = setting.releases.get(at).filter(|_| is_more) else {
        return String::new();
    };
    format!(
        "; {} → {}, {}, since {}",
        figure::value(track.unit, from),
        figure::value(track.unit, change.after),
        figure::change(ratio),
        release.label
    )
}

pub(crate) fn moving(track: &Track) -> Option<String> {
    let name = format!("{}.{}", track.subject, track.metric);
    match &track.course {
        Course::Drifting {
            release, ratio, p, ..
        } => {
            let to = track.newest.as_ref().map_or("", |n| n.release.as_str());
            Some(format!(
                "{name} drifts: {} from {release} to {to} ({}), with no single release to blame",
                figure::change(*ratio),
                quantity::p_value(*p)
            ))
        }
        Course::Wandering { correlation } => Some(format!(
            "{name} wanders: neighbours hang together (correlation {}), so that what looks like \
             a step needs none",
            quantity::number(*correlation)
        )),
        Course::Unknown { .. } | Course::Steady | Course::Stepped => None,
    }
}

pub(crate) fn constant(constant: &Constant) -> String {
    let hint = if constant.hint.is_empty() {
        String::new()
    } else {
        format!("; perhaps {}", constant.hint)
    };
    let at = ms(constant.at_ns);
    let (what, why) = match constant.kind {
        Kind::Mode => (format!("the same constant, {at},"), WORK),
        Kind::Added => (
            format!("a slower mode adds the same {at} to a fastest mode that moves"),
            WORK,
        ),
        Kind::Step => (format!("latencies stand in steps of the same {at}"), WORK),
        Kind::Period => (
            format!("slow requests come with the same period, {at},"),
            "perhaps a timer, a job of the service or one of the host",
        ),
    };
    format!(
        "{}: {what} in {} of {} ({}): {why}{hint}",
        constant.subject,
        constant.releases.len(),
        quantity::plural(constant.of_releases, "release"),
        quantity::p_value(constant.chance),
    )
}

/// What a constant may be that another load would distinguish.
const WORK: &str = "a timer, or work that takes as long each time, which another load would move";

fn shared(shared: &Shared) -> String {
    let at = ms(shared.at_ns);
    let (what, why) = match shared.kind {
        Kind::Mode => (format!("have the same constant, {at}"), ALIKE),
        Kind::Added => (
            format!("add the same constant, {at}, to what is fast"),
            ALIKE,
        ),
        Kind::Step => (format!("stand in the same steps of {at}"), ALIKE),
        Kind::Period => (
            format!("are slow with the same period, {at}"),
            "perhaps a timer or a dependency that they share, or a job of the host",
        ),
    };
    format!(
        "{} {what} ({}): {why}",
        shared.subjects.join(" and "),
        quantity::p_value(shared.chance),
    )
}

/// What a constant may be that several endpoints have.
const ALIKE: &str = "perhaps a timer or a dependency that they share, or work that is alike";

pub(crate) fn worst(worst: &WorstRow) -> Option<String> {
    let runs = quantity::plural(worst.runs, "run");
    match worst.says {
        Says::Stays => Some(format!(
            "{} has the worst tail in {} of {runs} ({}): what is slow is in that endpoint",
            worst.subject,
            worst.times,
            quantity::p_value(worst.chance)
        )),
        Says::Wanders => Some(format!(
            "the worst tail changes from run to run ({} most often, in {} of {runs}): no endpoint \
             is slow by itself; that they share something is not shown",
            worst.subject, worst.times
        )),
        Says::Shares => Some(format!(
            "the worst tail changes from run to run ({} most often, in {} of {runs}), and all \
             tails rise together ({}): the endpoints share what is slow, or the host is it",
            worst.subject,
            worst.times,
            worst.together.map_or(String::new(), quantity::p_value)
        )),
        Says::CannotTell => None,
    }
}

fn run_modes(of: &RunModes) -> String {
    let modes = of.modes.iter().map(|mode| {
        format!(
            "{} in {} [{}, {}]",
            ms(mode.at_ns),
            quantity::percent(mode.share),
            quantity::percent(mode.low),
            quantity::percent(mode.high)
        )
    });
    let modes: Vec<String> = modes.collect();
    format!(
        "{}: the same release falls into modes over {}: {}; layout, hashing or placement is drawn \
         at each start",
        of.subject,
        quantity::plural(of.repeats, "start"),
        modes.join(", ")
    )
}

/// Why there are no change points, by the track that knows most.
fn unknown(setting: &Setting) -> Option<String> {
    let known = |track: &&Track| track.points.iter().filter(|p| p.value.is_some()).count();
    let reasons = setting
        .tracks
        .iter()
        .filter_map(|track| match &track.course {
            // A share that is 0 in some release has no logarithm, and its table says all.
            Course::Unknown { because } if track.unit != Unit::Share => Some((track, because)),
            _ => None,
        });
    // That a far tail has fewer figures than the rest, or none, goes without saying.
    reasons
        .filter(|(track, _)| known(track) > 0)
        .max_by_key(|(track, _)| known(track))
        .map(|(_, because)| because.clone())
}

/// What the marks and brackets mean.
pub(crate) fn legend(history: &History) -> String {
    let least = (history.ratio_to_claim - 1.0) * 100.0;
    let shown = history.settings.iter().flat_map(|s| shown(history, s));
    let undetermined = figure::undetermined(shown.flat_map(|track| &track.points));
    let undetermined = undetermined.map_or(String::new(), |text| format!("{text}; "));
    format!(
        "brackets: range or ranks of the runs of a release (of its repeats, if it is one run); \
         {undetermined}▲ ▼ a change of level, ? one that a single release carries; {} searched at \
         a chance of 1 % each, changes from {least:.0} %",
        quantity::plural(history.searched, "track")
    )
}

/// Runs that count nowhere.
pub(crate) fn void(history: &History) -> Vec<String> {
    let runs = history.void.iter();
    runs.map(|run| {
        format!(
            "run {} is void and left out: {}",
            run.id,
            run.reasons.join("; ")
        )
    })
    .collect()
}

/// One line on the newest release: `against 7 earlier releases: search.p99 as before`.
pub(crate) fn newest(tracks: &[Track]) -> Option<String> {
    let of = tracks.iter();
    let earlier = of.filter_map(|t| t.newest.as_ref()).map(|n| n.earlier);
    let earlier = earlier.max().filter(|earlier| *earlier > 0)?;
    let said: Vec<String> = tracks
        .iter()
        .filter_map(|track| Some(standing(track, track.newest.as_ref()?)))
        .collect();
    Some(format!(
        "against {}: {}",
        quantity::plural(earlier, "earlier release"),
        said.join("; ")
    ))
}

/// Why a change is not believed yet.
const fn doubt(is_hosts: bool) -> &'static str {
    if is_hosts {
        "but an unfit host's timers were later by as much"
    } else {
        "carried by a single release"
    }
}

/// How the newest release of a track stands.
fn standing(track: &Track, newest: &Newest) -> String {
    let name = format!("{}.{}", track.subject, track.metric);
    let word = comparison_story::word(newest.verdict);
    let trusted = track.changes.iter().rfind(|change| !change.is_suspect);
    match (newest.basis, &track.course) {
        (Basis::Level, _) if newest.verdict == Verdict::Same => match trusted {
            Some(change) => format!(
                "{name} as before, at its level since {} ({})",
                change.release,
                figure::change(change.ratio)
            ),
            None => format!("{name} as before"),
        },
        (Basis::Level | Basis::Drift, _) if newest.is_hosts => {
            let why = doubt(true);
            format!(
                "{name} {word}: {}, {why}; {AGAIN}",
                against(track.unit, newest)
            )
        }
        (Basis::Level, _) if newest.is_suspect => {
            format!("{name} {word}: {}; {AGAIN}", against(track.unit, newest))
        }
        (Basis::Level, _) => {
            let least = newest.detectable.map_or(String::new(), |ratio| {
                format!("; {} would have been seen", figure::change(ratio))
            });
            format!("{name} {word}: {}{least}", against(track.unit, newest))
        }
        (Basis::Drift, Course::Drifting { release, ratio, .. }) => {
            let drift = format!("drifts, {} since {release}", figure::change(*ratio));
            match newest.verdict {
                Verdict::CannotTell => {
                    format!("{name} {drift}, but {}", against(track.unit, newest))
                }
                _ => format!("{name} {word}: {drift}"),
            }
        }
        (Basis::Change, _) => {
            let last = track.changes.last();
            let change = last.map_or(String::new(), |change| {
                format!("{} at {}", figure::change(change.ratio), change.release)
            });
            match (newest.verdict, last.is_some_and(|change| change.is_suspect)) {
                (Verdict::CannotTell, true) => {
                    let why = doubt(newest.is_hosts);
                    format!("{name} perhaps {change}, {why}: {AGAIN}")
                }
                (Verdict::CannotTell, false) => {
                    format!("{name} {change}, but {}", against(track.unit, newest))
                }
                _ => format!("{name} {word}: {change}"),
            }
        }
        (Basis::Nothing, Course::Wandering { .. }) => {
            format!(
                "{name} wanders, {} decides nothing",
                against(track.unit, newest)
            )
        }
        _ => format!(
            "{name} {} (too few to say more)",
            against(track.unit, newest)
        ),
    }
}

pub(crate) fn ms(ns: f64) -> String {
    quantity::duration(ns / MILLISECOND as f64)
}
