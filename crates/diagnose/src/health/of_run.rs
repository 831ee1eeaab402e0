//! How fit the host was during a run, from its record.

use slowpath_core::facts::RepeatFacts;
use slowpath_core::health::Health;
use slowpath_core::health::clocks::{self, ClockEvent};
use slowpath_core::nanos::Span;
use slowpath_core::scenario::Model;
use slowpath_core::signal::{
    CLOCK_BOOTTIME_OFFSET, CLOCK_RAW_OFFSET, CLOCK_REALTIME_OFFSET, HOST_CPU_BUSY, HOST_CPU_IDLE,
    HOST_CPU_STEAL, HOST_PSI_CPU, Signal,
};
use slowpath_core::timeline::{Point, Subject};

use super::aside::put_aside;
use super::blame::{Blame, blame, calibrations};
use super::{Circumstances, GOOD_FROM, fitness, median};
use crate::case::Case;
use crate::diagnosis::{BlameOf, Check, Fitness, HostHealth, RepeatHealth, SpreadBlame, Status};
use crate::figures::{millis, round, share};
use crate::host_cpu::HostCpu;
use crate::instrument::Load;
use crate::verdict::{human, percent};

/// Steal beyond this share may be what held a repeat up.
const STEAL_DISTURBS: f64 = 0.01;
/// Others that use this share of the host's CPUs may be what held a repeat up.
const OTHERS_DISTURB: f64 = 0.1;

/// The health of the host, repeat by repeat; `None` if no repeat recorded it.
pub(crate) fn host_health(case: &Case<'_>, load: &Load) -> Option<HostHealth> {
    let repeats = &case.record.manifest.repeats;
    let circumstances: Vec<Option<Circumstances>> = repeats
        .iter()
        .map(|facts| Some(circumstances(case, load, facts, facts.health.as_ref()?)))
        .collect();
    let asides = put_aside(&circumstances);
    let mut all = Vec::new();
    for (position, (facts, known)) in repeats.iter().zip(&circumstances).enumerate() {
        let (Some(health), Some(known)) = (&facts.health, known) else {
            continue;
        };
        let aside = asides.iter().find(|aside| aside.repeat == position);
        let reason = aside.map(|aside| aside.reason.clone());
        all.push(of_repeat(facts, health, known, reason.unwrap_or_default()));
    }
    let kept = || {
        let kept: Vec<&RepeatHealth> = all.iter().filter(|r| r.aside.is_empty()).collect();
        if kept.is_empty() {
            all.iter().collect()
        } else {
            kept
        }
    };
    let score = median(kept().iter().map(|r| f64::from(r.score)).collect())? as u32;
    let floors = kept().iter().map(|r| r.timer_late_p99_ms).collect();
    Some(HostHealth {
        score,
        fitness: fitness(score),
        floor_ms: median(floors)?,
        repeats: all,
    })
}

/// What is known of the host around a repeat: what was heard before and after, and what the
/// observer read in its window.
fn circumstances(
    case: &Case<'_>,
    load: &Load,
    facts: &RepeatFacts,
    health: &Health,
) -> Circumstances {
    let window = facts.window;
    let cpu = HostCpu::within(case, &[window]);
    let pressure = case.series(&HOST_PSI_CPU, &Subject::Host, "");
    let pressure_ns = pressure.and_then(|series| series.increase(window));
    let open = matches!(
        case.record.manifest.plan.scenario.load.model,
        Model::Open { .. }
    );
    let generator = if let Some(why) = load.saturated(open) {
        why.to_owned()
    } else if load.is_late() {
        "the host held slowpath up".to_owned()
    } else {
        String::new()
    };
    let generator = load.busy.map(|_| generator);
    Circumstances {
        clock_events: clock_events(case, window),
        slew_ppm: clocks::slew_ppm(&points_within(case, &CLOCK_RAW_OFFSET, window)),
        steal_share: cpu.as_ref().map(|cpu| cpu.steal),
        throttled_ns: health.during.throttled_ns,
        pressure_share: pressure_ns.map(|ns| (ns / window.len_ns().max(1) as f64).min(1.0)),
        others_share: cpu.map(|cpu| cpu.others),
        p99_ns: Some(load.p99_ns).filter(|&ns| ns > 0),
        generator,
        ..Circumstances::heard(&health.heard())
    }
}

/// What happened to the clocks in a window; `None` if they were not read.
fn clock_events(case: &Case<'_>, window: Span) -> Option<Vec<ClockEvent>> {
    let points = |signal| {
        let series = case.series(signal, &Subject::Host, "");
        series.map(|series| series.points.as_slice())
    };
    let (realtime, boottime) = (
        points(&CLOCK_REALTIME_OFFSET)?,
        points(&CLOCK_BOOTTIME_OFFSET)?,
    );
    let accounted = accounted(case);
    let cpus = case.record.manifest.host.cpus;
    let mut events = clocks::events(realtime, boottime, &accounted, cpus);
    events.retain(|event| event.between.overlap_ns(window) > 0);
    Some(events)
}

/// The time that all CPUs together accounted for, reading by reading; empty if not observed.
fn accounted(case: &Case<'_>) -> Vec<Point> {
    let of = |signal| case.series(signal, &Subject::Host, "");
    let (Some(busy), Some(idle), Some(steal)) =
        (of(&HOST_CPU_BUSY), of(&HOST_CPU_IDLE), of(&HOST_CPU_STEAL))
    else {
        return Vec::new();
    };
    let same = busy.points.len() == idle.points.len() && idle.points.len() == steal.points.len();
    if !same {
        return Vec::new();
    }
    let all = busy.points.iter().zip(&idle.points).zip(&steal.points);
    all.map(|((busy, idle), steal)| Point {
        window: busy.window,
        value: busy.value + idle.value + steal.value,
    })
    .collect()
}

fn points_within(case: &Case<'_>, signal: &Signal, window: Span) -> Vec<Point> {
    let series = case.series(signal, &Subject::Host, "");
    let points = series.map_or(&[][..], |series| series.points.as_slice());
    let inside = points.iter().filter(|p| p.window.overlap_ns(window) > 0);
    inside.copied().collect()
}

fn of_repeat(
    facts: &RepeatFacts,
    health: &Health,
    known: &Circumstances,
    aside: String,
) -> RepeatHealth {
    let [before, after] = health.heard();
    let score = known.score();
    let waits = health.heard().into_iter().flat_map(|noise| &noise.cpus);
    let wait_ns = median(waits.map(|cpu| cpu.wait_p99_ns as f64).collect());
    let during_s = health.during.span.len_ns() as f64 / 1e9;
    let switches = health.during.switches.filter(|_| during_s > 0.0);
    RepeatHealth {
        repeat: u32::from(facts.repeat),
        pass: facts.pass.clone(),
        score: score.score,
        components: score.components,
        calibration_ms: health.work_mean_ns().map(millis),
        stolen_share: share(f64::midpoint(before.stolen_share(), after.stolen_share())),
        longest_gap_ms: millis(before.max_gap_ns().max(after.max_gap_ns()) as f64),
        wait_p99_ms: millis(wait_ns.unwrap_or_default()),
        timer_late_p99_ms: millis(known.late_p99_ns.unwrap_or_default() as f64),
        others_share: known.others_share.map(share),
        steal_share: known.steal_share.map(share),
        switches_per_s: switches.map(|n| round(n as f64 / during_s, 1e3)),
        slew_ppm: known.slew_ppm.map(|ppm| round(ppm, 1e3)),
        aside,
    }
}

/// The validity check of the host's fitness: a low score warns.
pub(crate) fn check(health: &HostHealth) -> Check {
    let (score, floor) = (health.score, human(health.floor_ms * 1e6));
    let counted = health.repeats.iter().filter(|r| r.aside.is_empty());
    // Of the repeats, one that scored like the whole.
    let typical = counted.min_by_key(|r| r.score.abs_diff(score));
    let costly = typical.map_or(&[][..], |r| r.components.as_slice());
    let costly = costly.iter().filter(|component| component.cost > 0);
    let why: Vec<String> = costly
        .map(|component| format!("{} (-{})", component.text, component.cost))
        .collect();
    let mut detail = format!("the host scored {score} of 100");
    if !why.is_empty() {
        detail = format!("{detail}: {}", why.join("; "));
    }
    match health.fitness {
        Fitness::Good => {}
        Fitness::WithCare => {
            detail = format!("{detail}; latencies below {floor} may be the host's own");
        }
        Fitness::Poor => {
            detail = format!(
                "{detail}; latencies below {floor} are the host's as much as the service's"
            );
        }
    }
    let aside: Vec<String> = health
        .repeats
        .iter()
        .filter(|r| !r.aside.is_empty())
        .map(|r| format!("{} ({})", r.repeat + 1, r.aside))
        .collect();
    if !aside.is_empty() {
        detail = format!("{detail}; comparisons exclude repeat {}", aside.join(", "));
    }
    let well = score >= GOOD_FROM && aside.is_empty();
    Check {
        check: "host-health".to_owned(),
        status: if well { Status::Ok } else { Status::Warn },
        value: Some(f64::from(score)),
        detail,
    }
}

/// Whether host or service is to blame for the spread of these figures, one a repeat; `None` if
/// they are steady or no repeat has the host's health recorded.
pub(crate) fn spread_blame(case: &Case<'_>, service: &[f64]) -> Option<SpreadBlame> {
    let repeats = &case.record.manifest.repeats;
    let healths: Vec<&Health> = repeats.iter().filter_map(|r| r.health.as_ref()).collect();
    if healths.is_empty() {
        return None;
    }
    let calibration = calibrations(healths);
    let disturbed = disturbed(case);
    let (blame, detail) = match blame(service, &calibration, disturbed.as_deref())? {
        Blame::Host => (
            BlameOf::Host,
            format!(
                "the same fixed work took from {} to {} around the repeats",
                extreme(&calibration, f64::min),
                extreme(&calibration, f64::max)
            ),
        ),
        Blame::Service => (
            BlameOf::Service,
            format!(
                "the same fixed work took {} to {} around the repeats",
                extreme(&calibration, f64::min),
                extreme(&calibration, f64::max)
            ),
        ),
        Blame::Unknown(reason) => (BlameOf::Unknown, reason),
    };
    Some(SpreadBlame { blame, detail })
}

fn extreme(values: &[f64], pick: fn(f64, f64) -> f64) -> String {
    values
        .iter()
        .copied()
        .reduce(pick)
        .map_or_else(String::new, human)
}

/// What used the host in a window, beside the target and slowpath; the first that is much.
fn disturbed(case: &Case<'_>) -> Option<String> {
    case.record.manifest.repeats.iter().find_map(|facts| {
        let cpu = HostCpu::within(case, &[facts.window])?;
        let (number, what) = (facts.repeat + 1, "of the CPU time in repeat");
        if cpu.steal > STEAL_DISTURBS {
            let share = percent(cpu.steal);
            Some(format!("the hypervisor took {share} {what} {number}"))
        } else if cpu.others > OTHERS_DISTURB {
            let share = percent(cpu.others);
            Some(format!("other processes used {share} {what} {number}"))
        } else {
            None
        }
    })
}
