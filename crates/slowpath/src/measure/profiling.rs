//! Profiles of a Go target beside a load, if the scenario says where they are.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use slowpath_core::Nanos;
use slowpath_core::nanos::Span;
use slowpath_core::profiles::{ProfileFacts, Profiles};
use slowpath_core::scenario::Url;
use slowpath_load::Control;
use slowpath_observe::{ProfileWatch, Profiler};
use slowpath_record::Handle;

use super::Measurement;
use crate::exit::Problem;
use crate::out;
use crate::session::Session;

/// The signal whose gap says why there is no profile.
pub(super) const SIGNAL: &str = "profile.goroutine";

/// Fetches the profiles of one repeat.
#[derive(Debug)]
pub(super) struct Profiling(Option<Profiler>);

impl Profiling {
    /// Begins to fetch, if that is wanted.
    pub(super) fn start(
        wanted: &Measurement<'_>,
        repeat: u16,
        session: &Session,
        control: &Arc<Control>,
    ) -> Result<Self, Problem> {
        // Comparisons trace nothing, and fetch nothing: both would move what they compare.
        if !wanted.trace {
            return Ok(Self(None));
        }
        let watch = served(wanted, repeat, session, control)?;
        Ok(Self(watch.map(Profiler::start)))
    }

    /// Ends; the profiles, and what became of them if any were wanted.
    pub(super) fn stop(self, quiet: bool, record: &Handle) -> (Profiles, Option<ProfileFacts>) {
        let Some(profiled) = self.0.map(Profiler::stop) else {
            return (Profiles::default(), None);
        };
        if !quiet {
            for gap in &profiled.gaps {
                out::say(&format!("{}: {}; {}", gap.signal, gap.reason, gap.remedy));
            }
        }
        record.gaps(profiled.gaps);
        (profiled.profiles, Some(profiled.facts))
    }
}

/// Where a target serves its profiles, and when they are wanted; `None` if the scenario does not say.
pub(super) fn served(
    wanted: &Measurement<'_>,
    repeat: u16,
    session: &Session,
    control: &Arc<Control>,
) -> Result<Option<ProfileWatch>, Problem> {
    let scenario = &wanted.plan.scenario;
    let Some(url) = &scenario.target.pprof else {
        return Ok(None);
    };
    let url = Url::parse(&url.expand(&session.places))
        .map_err(|e| Problem::usage(format!("target.pprof: {e}"), "http://HOST:PORT"))?;
    Ok(Some(ProfileWatch {
        url,
        repeat,
        seed: wanted.plan.seed,
        window: window(wanted, control),
    }))
}

/// Passes the measured window on, as soon as the load knows it.
pub(super) fn window(
    wanted: &Measurement<'_>,
    control: &Arc<Control>,
) -> Box<dyn Fn() -> Option<Span> + Send> {
    let duration_ns = wanted.plan.scenario.load.duration_ns;
    let control = Arc::clone(control);
    Box::new(move || {
        let begin_ns = control.progress.window_begin_ns.load(Ordering::Relaxed);
        let begin = Nanos::from_stored(begin_ns)?;
        Some(Span::new(begin, begin.plus(duration_ns)))
    })
}
