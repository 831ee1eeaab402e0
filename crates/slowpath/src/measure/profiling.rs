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
        let scenario = &wanted.plan.scenario;
        // Comparisons trace nothing, and fetch nothing: both would move what they compare.
        let Some(url) = scenario.target.pprof.as_ref().filter(|_| wanted.trace) else {
            return Ok(Self(None));
        };
        let url = Url::parse(&url.expand(&session.places))
            .map_err(|e| Problem::usage(format!("target.pprof: {e}"), "http://HOST:PORT"))?;
        let (control, duration_ns) = (Arc::clone(control), scenario.load.duration_ns);
        let window = move || {
            let begin_ns = control.progress.window_begin_ns.load(Ordering::Relaxed);
            let begin = Nanos::from_stored(begin_ns)?;
            Some(Span::new(begin, begin.plus(duration_ns)))
        };
        Ok(Self(Some(Profiler::start(ProfileWatch {
            url,
            repeat,
            seed: wanted.plan.seed,
            window: Box::new(window),
        }))))
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
