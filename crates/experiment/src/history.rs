//! The runs of one scenario over its releases: levels and where they change, slow drift, the
//! newest release against those before it, and what comes back.
//!
//! Runs that were not measured alike (another host, another harness) are histories of their own:
//! a change of the instrument is never a change point.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Better, RunFigures, Unit};
use slowpath_core::stats::change::Limits;

use crate::compare::{Difference, RunName, VoidRun};
use crate::estimate::Estimate;

mod host;
mod newest;
mod recurring;
mod releases;
mod runs;
mod settings;
mod tails;
mod tracks;
mod worst;

pub(crate) use host::{Typical, may_have_moved};
pub use newest::{Basis, Newest, Place, newest};
pub use recurring::{Constant, Kind, Shared};
pub(crate) use releases::label;
pub use runs::{RunMode, RunModes};
pub use slowpath_core::stats::recurrence::Says;
pub use tails::{Decomposed, SameTail, Scatter, TailAgain};
pub use tracks::{ChangeAt, Course};
pub use worst::WorstRow;

/// The value of [`History::schema`].
pub const SCHEMA: &str = "slowpath.history/1";

/// A history: what `slowpath history --json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The scenario or benchmark.
    pub name: String,
    /// What was asked for: an endpoint alone; `null` for all.
    pub endpoint: Option<String>,
    /// What was asked for: a metric alone; `null` for all.
    pub metric: Option<String>,
    /// Runs that were measured alike, the newest run's first. Only within one of these is
    /// anything compared.
    pub settings: Vec<Setting>,
    /// Runs that are void and count nowhere.
    pub void: Vec<VoidRun>,
    /// The noise floor, as a ratio above 1; `null` if it was never measured.
    pub floor: Option<f64>,
    /// Changes below this ratio, to either side of 1, are not reported.
    pub ratio_to_claim: f64,
    /// Tracks that were searched for changes, each at a chance of 1 %: what chance alone finds
    /// grows with it.
    pub searched: u64,
}

/// Runs that were measured on one host in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// What differs from the newest run's setting (A there is the newest); empty for that itself.
    pub differs: Vec<Difference>,
    /// Its releases, in order of the first run of each.
    pub releases: Vec<Release>,
    /// One a row of figures.
    pub tracks: Vec<Track>,
    /// Constants (of modes beside the fastest, combs and stalls) that came back over releases,
    /// beyond chance.
    pub recurring: Vec<Constant>,
    /// Constants that several endpoints of the newest release have: a dependency in common, or
    /// work that is alike.
    pub shared: Vec<Shared>,
    /// Which endpoint has the worst tail, run after run; `null` with fewer than two endpoints.
    pub worst: Option<WorstRow>,
    /// Endpoints that have a tail of their own in run after run.
    #[serde(default)]
    pub tails: Vec<TailAgain>,
    /// Slow requests of several endpoints that take the same time, of runs of which only percentiles
    /// are known.
    #[serde(default)]
    pub same_tails: Vec<SameTail>,
    /// What looks like a regression and lies within what unchanged code scatters by.
    #[serde(default)]
    pub scatters: Vec<Scatter>,
    /// Endpoints whose runs fall into modes, although the release is the same.
    pub run_modes: Vec<RunModes>,
}

/// The runs of a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Release {
    /// Its name: the release, or else the commit, or else the run.
    pub label: String,
    /// Its runs, in order of time.
    pub runs: Vec<RunName>,
}

/// One row of figures over the releases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Track {
    /// The endpoint or the benchmark.
    pub subject: String,
    /// The metric.
    pub metric: String,
    /// What the values are numbers of.
    pub unit: Unit,
    /// Which way is an improvement.
    pub better: Better,
    /// One a release, in the order of the setting's.
    pub points: Vec<Estimate>,
    /// The course of all of them.
    pub course: Course,
    /// Changes of level, in order; of a drifting track those before the drift.
    pub changes: Vec<ChangeAt>,
    /// The newest release that has a figure against those before it; `null` if there is none.
    pub newest: Option<Newest>,
}

/// What is asked of a history.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Only this endpoint.
    pub endpoint: Option<String>,
    /// Only this metric.
    pub metric: Option<String>,
    /// What the host shows between a build and itself, as a ratio above 1.
    pub floor: Option<f64>,
}

/// The history of runs of one name, in order of time.
pub fn history<'a>(runs: impl IntoIterator<Item = &'a RunFigures>, ask: &Ask) -> History {
    let runs: Vec<&RunFigures> = runs.into_iter().collect();
    let sound = runs.iter().copied().filter(|run| run.void.is_empty());
    let sound: Vec<&RunFigures> = sound.collect();
    let limits = Limits::with_floor(ask.floor.map_or(0.0, |floor| floor - 1.0));
    let settings: Vec<Setting> = settings::settings(&sound)
        .iter()
        .map(|of_setting| setting(of_setting, &sound, ask, &limits))
        .collect();
    let tracks = settings.iter().flat_map(|setting| &setting.tracks);
    let has_figure = |t: &&Track| t.points.iter().any(|p| p.value.is_some_and(|v| v > 0.0));
    let judged = tracks.filter(|t| !matches!(t.course, Course::Unknown { .. }));
    let searched = judged.filter(has_figure);
    History {
        schema: SCHEMA.to_owned(),
        name: runs.last().map_or(String::new(), |run| run.name.clone()),
        endpoint: ask.endpoint.clone(),
        metric: ask.metric.clone(),
        void: runs
            .iter()
            .filter(|run| !run.void.is_empty())
            .map(|run| VoidRun {
                id: run.id.clone(),
                reasons: run.void.clone(),
            })
            .collect(),
        floor: ask.floor,
        ratio_to_claim: limits.least.exp(),
        searched: searched.count() as u64,
        settings,
    }
}

fn setting(runs: &[&RunFigures], all: &[&RunFigures], ask: &Ask, limits: &Limits) -> Setting {
    let releases = releases::releases(runs);
    let newest = all.last().copied().into_iter().collect::<Vec<_>>();
    let tracks = tracks::tracks(&releases, ask, limits);
    let of_endpoint = |subject: &str| ask.endpoint.as_ref().is_none_or(|wanted| wanted == subject);
    let mut recurring = recurring::over_releases(&releases);
    recurring.retain(|constant| of_endpoint(&constant.subject));
    let mut run_modes = runs::modes(&releases, &tracks);
    run_modes.retain(|modes| of_endpoint(&modes.subject));
    let mut again = tails::again(runs);
    again.retain(|tail| of_endpoint(&tail.subject));
    let mut same_tails = tails::same(&releases);
    same_tails.retain(|same| same.subjects.iter().any(|subject| of_endpoint(subject)));
    Setting {
        differs: settings::differs(&newest, runs),
        recurring,
        shared: recurring::over_endpoints(&releases),
        worst: worst::worst_row(runs),
        tails: again,
        same_tails,
        scatters: tails::scatters(&releases, &tracks),
        run_modes,
        releases: releases
            .iter()
            .map(|release| Release {
                label: release.label.clone(),
                runs: release.runs.iter().map(|run| RunName::of(run)).collect(),
            })
            .collect(),
        tracks,
    }
}
