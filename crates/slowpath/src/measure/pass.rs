//! The profiling pass: load like that of the repeats, after the last of them, with profiling on. None
//! of its requests is recorded; how they fared shows what profiling costs.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use hdrhistogram::Histogram;
use slowpath_core::Nanos;
use slowpath_core::nanos::Span;
use slowpath_core::profile_pass::{PassLatency, PassLoad, ProfilePass};
use slowpath_core::sample::{Outcome, Sample, StreamEvent};
use slowpath_core::scenario::Profiler;
use slowpath_core::signal::{PROCESS_CPU_SYSTEM, PROCESS_CPU_USER};
use slowpath_core::timeline::{Gap, Reading, Subject};
use slowpath_load::{Control, Drive, Keys, Sink};
use slowpath_observe::profilers::outside::{self, Found, Tool};
use slowpath_observe::{Observer, PassProfiled, PassProfiler, Watch};
use slowpath_record::RunWriter;

use super::profiling::{served, window};
use super::tracing::Tracing;
use super::{Companion, Measurement, not_driven};
use crate::out;
use crate::progress::LiveLine;
use crate::session::{PROC, Session, Setting};

/// The signal whose gap says why there is no profile of the CPU time.
const SIGNAL: &str = "profile.cpu";
/// A profiler inside of the target ends by itself so long after the pass should have ended, for a pass that
/// was killed: connections and companions take their time before and after the load.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(2);
/// Digits of a latency that count here: what profiling costs is some percent.
const DIGITS: u8 = 3;

/// Profiles after the repeats, in the last one's session or one of its own. Whatever goes wrong is
/// a gap: the run is measured.
pub(super) fn profile(
    wanted: &Measurement<'_>,
    setting: &Setting<'_>,
    session: Option<Session>,
    writer: &RunWriter,
    companion: &mut dyn Companion,
) {
    let begin = || Session::begin(setting, wanted.guardian);
    let begun = session.map_or_else(begin, Ok);
    let profiled = begun.and_then(|mut session| {
        let profiled = one_pass(wanted, &mut session, companion);
        session.end();
        profiled
    });
    let (pass, raw) = match profiled {
        Ok(profiled) => (profiled.pass, profiled.raw),
        Err(error) => {
            let reason = format!("the profiling pass failed: {error}");
            tell(writer, wanted.quiet, &[gap(reason, "")]);
            return;
        }
    };
    tell(writer, wanted.quiet, &pass.gaps);
    if let Err(error) = writer.profile_pass(&pass, &raw) {
        let reason = format!("the profiling pass could not be kept: {error}");
        let remedy = "make room on the disk, or keep the run elsewhere (--out)";
        tell(writer, wanted.quiet, &[gap(reason, remedy)]);
    }
}

fn gap(reason: String, remedy: &str) -> Gap {
    Gap {
        signal: SIGNAL.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    }
}

fn tell(writer: &RunWriter, quiet: bool, gaps: &[Gap]) {
    for gap in gaps.iter().filter(|_| !quiet) {
        out::say(&format!("{}: {}; {}", gap.signal, gap.reason, gap.remedy));
    }
    writer.handle().gaps(gaps.to_vec());
}

/// Who takes samples.
enum Sampler {
    /// Go's own profiles, py-spy, or Java's flight recorder.
    Runtime(PassProfiler),
    /// With what it does not see, and why no other profiler was used.
    Kernel(Tracing, Option<Gap>),
}

impl Sampler {
    /// Who was asked for; otherwise the target's runtime if the scenario says where, a profiler of its
    /// runtime if there is one, or the kernel.
    fn start(
        wanted: &Measurement<'_>,
        repeat: u16,
        session: &mut Session,
        control: &Arc<Control>,
    ) -> Result<Self> {
        let how = wanted.profile.unwrap_or_default();
        if matches!(how, Profiler::Auto | Profiler::Pprof)
            && let Some(watch) = served(wanted, repeat, session, control)?
        {
            return Ok(Self::Runtime(PassProfiler::start(watch)));
        }
        let pids = session.watched.as_ref().map(|watched| watched.pids.clone());
        let found = match how {
            Profiler::Perf => Found::Nothing,
            _ => outside::find(Path::new(PROC), &pids.unwrap_or_default()),
        };
        let lacking = match (found, how) {
            (Found::Tool(tool), _) if takes(how, &tool) => {
                let (window, load) = (window(wanted, control), &wanted.plan.scenario.load);
                let length = Duration::from_nanos(load.warmup_ns + load.duration_ns);
                let profiler = outside::start(tool, length + FORGOTTEN_AFTER, window);
                return Ok(Self::Runtime(profiler));
            }
            (Found::Missing { of, remedy }, _) => {
                let reason = format!("the kernel's clock does not see functions of {of}");
                Some(gap(reason, &remedy))
            }
            (_, Profiler::PySpy | Profiler::Jfr) => {
                let reason = format!(
                    "{} was asked for, and the target has no process for it: the kernel's clock took \
                     the samples",
                    how.name()
                );
                Some(gap(reason, "profile = \"auto\" takes what fits the target"))
            }
            _ => None,
        };
        let tracing = Tracing::begin(wanted, repeat, session, control);
        Ok(Self::Kernel(tracing, lacking))
    }

    /// Ends, while the target still runs.
    fn stop(self, window: Option<Span>) -> PassProfiled {
        match self {
            Self::Runtime(profiler) => profiler.stop(),
            Self::Kernel(tracing, lacking) => {
                let mut profiled = traced(tracing, window);
                profiled.pass.gaps.extend(lacking);
                profiled
            }
        }
    }
}

/// Whether the user asked for this profiler.
const fn takes(how: Profiler, tool: &Tool) -> bool {
    match tool {
        Tool::PySpy { .. } => matches!(how, Profiler::Auto | Profiler::PySpy),
        Tool::Recorder { .. } => matches!(how, Profiler::Auto | Profiler::Jfr),
    }
}

fn one_pass(
    wanted: &Measurement<'_>,
    session: &mut Session,
    companion: &mut dyn Companion,
) -> Result<PassProfiled> {
    let (plan, control) = (&wanted.plan, Arc::new(Control::default()));
    // Its requests are drawn as those of one more repeat are, of the last kind of pass.
    let repeat = super::windows(plan).saturating_add(plan.passes() - 1);
    let tally = Tally::new(plan.scenario.endpoints.len())?;
    let cpu: Arc<Mutex<Vec<Reading>>> = Arc::default();
    let observer = observe_cpu(session, &cpu);
    let sampler = Sampler::start(wanted, repeat, session, &control)?;
    companion.accompany(session, &control)?;
    let load = &plan.scenario.load;
    let length = Duration::from_nanos(load.warmup_ns + load.duration_ns);
    let title = "profiling pass".to_owned();
    let line = LiveLine::follow(&control, title, length, wanted.quiet)?;
    let drive = Drive {
        plan,
        repeat,
        route: session.route.clone(),
        places: session.places.clone(),
        host_header: session.host_header.clone(),
        silent_warmup: plan.passes() > 1,
    };
    let sink = PassSink {
        tally: &tally,
        control: &control,
        stop: &wanted.stop,
    };
    let drove = slowpath_load::drive(&drive, &control, &mut Keys::new(), &line.beside(&sink));
    drop(line);
    let left = companion.leave();
    drop(observer.stop());
    let window = drove.as_ref().map(|drove| drove.window).ok();
    let mut profiled = sampler.stop(window);
    let drove = drove.map_err(not_driven)?;
    left?;
    profiled.pass.load = PassLoad {
        window_ns: drove.window.len_ns(),
        cpu_ns: cpu_within(
            &cpu.lock().unwrap_or_else(PoisonError::into_inner),
            drove.window,
        ),
        endpoints: tally.latencies(),
    };
    Ok(profiled)
}

/// What the kernel's clock saw.
fn traced(tracing: Tracing, window: Option<Span>) -> PassProfiled {
    let traced = tracing.stop();
    let window = window.unwrap_or_else(|| Span::new(Nanos::new(1), Nanos::new(1)));
    let mut pass = ProfilePass::of_trace(&traced.trace, window);
    pass.gaps = traced.gaps;
    if pass.cpu.is_empty() {
        let reason = "no sample of the target's CPU time was taken".to_owned();
        let remedy = "say in target.pprof where a Go target serves its profiles, or run slowpath as \
                      root or with CAP_PERFMON";
        pass.gaps.push(gap(reason, remedy));
    }
    PassProfiled {
        pass,
        raw: Vec::new(),
    }
}

/// Reads the target's CPU time.
fn observe_cpu(session: &Session, into: &Arc<Mutex<Vec<Reading>>>) -> Observer {
    let watch = Watch {
        proc_root: PROC.into(),
        sys_root: "/sys".into(),
        target: session.watched.clone(),
        loop_tids: Arc::new(Vec::new),
    };
    let into = Arc::clone(into);
    let sink = move |readings: Vec<Reading>| {
        let cpu = [PROCESS_CPU_USER.id, PROCESS_CPU_SYSTEM.id];
        let own = readings.into_iter().filter(|r| cpu.contains(&r.signal.id));
        into.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(own);
    };
    Observer::start(watch, Box::new(sink))
}

/// By how much the target's CPU time grew within a window; `None` if it was not seen.
fn cpu_within(readings: &[Reading], window: Span) -> Option<u64> {
    let within = |at: Nanos| window.begin <= at && at <= window.end;
    let mut ends: Vec<(&str, &Subject, f64, f64)> = Vec::new();
    for reading in readings.iter().filter(|r| within(r.point.window.end)) {
        let value = reading.point.value;
        let known = |of: &&mut (&str, &Subject, f64, f64)| {
            of.0 == reading.signal.id && of.1 == &reading.subject
        };
        match ends.iter_mut().find(known) {
            Some(of) => of.3 = value,
            None => ends.push((reading.signal.id, &reading.subject, value, value)),
        }
    }
    let grown = ends
        .iter()
        .map(|(_, _, first, last)| (last - first).max(0.0) as u64);
    (!ends.is_empty()).then(|| grown.sum())
}

/// The latencies of a pass, by endpoint, and how many failed.
#[derive(Debug)]
struct Tally(Mutex<Vec<(Histogram<u64>, u64)>>);

impl Tally {
    fn new(endpoints: usize) -> Result<Self> {
        let empty = (0..endpoints).map(|_| Ok((Histogram::new(DIGITS)?, 0)));
        Ok(Self(Mutex::new(empty.collect::<Result<_>>()?)))
    }

    fn add(&self, samples: &[Sample], from: Nanos) {
        let mut endpoints = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for sample in samples.iter().filter(|sample| sample.scheduled >= from) {
            let Some((latencies, failed)) = endpoints.get_mut(usize::from(sample.endpoint)) else {
                continue;
            };
            if sample.outcome == Outcome::Ok {
                // It resizes itself and takes every value.
                let _ = latencies.record(sample.latency_ns());
            } else if sample.outcome.is_error() {
                *failed += 1;
            }
        }
    }

    fn latencies(&self) -> Vec<PassLatency> {
        let endpoints = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = endpoints.iter().map(|(latencies, failed)| PassLatency {
            completed: latencies.len(),
            failed: *failed,
            mean_ns: latencies.mean() as u64,
            p50_ns: latencies.value_at_quantile(0.5),
            p99_ns: latencies.value_at_quantile(0.99),
        });
        of.collect()
    }
}

/// Keeps the figures of requests, and no request.
struct PassSink<'a> {
    tally: &'a Tally,
    control: &'a Control,
    /// Whether the user wants it to end: checked five times a second, when requests are handed over.
    stop: &'a AtomicBool,
}

impl Sink for PassSink<'_> {
    fn samples(&self, samples: &[Sample]) {
        let begin_ns = self
            .control
            .progress
            .window_begin_ns
            .load(Ordering::Relaxed);
        self.tally.add(samples, Nanos::new(begin_ns));
        if self.stop.load(Ordering::Relaxed) {
            self.control.stop.store(true, Ordering::Relaxed);
        }
    }

    fn stream_events(&self, _: &[StreamEvent]) {}
}

#[cfg(test)]
mod tests {
    use slowpath_core::timeline::Point;

    use super::*;

    #[test]
    fn cpu_time_is_what_it_grew_by_within_the_window() {
        let at = |ns: u64| Nanos::new(1 + ns);
        let reading = |signal, pid, ns, value| Reading {
            signal,
            subject: Subject::Process { pid },
            label: String::new(),
            point: Point {
                window: Span::new(at(ns), at(ns)),
                value,
            },
        };
        let readings = [
            reading(&PROCESS_CPU_USER, 7, 0, 5.0),
            reading(&PROCESS_CPU_USER, 7, 10, 10.0),
            reading(&PROCESS_CPU_SYSTEM, 7, 10, 1.0),
            reading(&PROCESS_CPU_USER, 8, 15, 2.0),
            reading(&PROCESS_CPU_USER, 7, 20, 30.0),
            reading(&PROCESS_CPU_SYSTEM, 7, 20, 4.0),
            reading(&PROCESS_CPU_USER, 7, 30, 90.0),
        ];
        assert_eq!(cpu_within(&readings, Span::new(at(10), at(25))), Some(23));
        assert_eq!(cpu_within(&readings, Span::new(at(40), at(50))), None);
    }
}
