//! What the target's own telemetry shows, in words.

use slowpath_diagnose::diagnosis::{
    EndpointFigures, EndpointSpans, RepeatedSpans, SpanFigures, SpanGap,
};

use super::{collections, server_timing};
use crate::quantity;

/// Spans that a line names; the report has the others.
const NAMED: usize = 3;
/// What takes a smaller share than this is not worth a word.
const TOLD_FROM: f64 = 0.01;
/// States of a gap that a line names.
const STATES: usize = 2;
/// Functions of a stack that a line names: the innermost are how a thread waits, and who wanted that
/// comes after them.
const FRAMES: usize = 5;

/// What the target reports of an endpoint's requests itself, in a few lines: its spans, what its
/// answers say of its time, and the pauses in its log.
pub(crate) fn spans(figures: &EndpointFigures) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(spans) = &figures.spans {
        lines.push(coverage(spans));
        lines.extend(own(spans));
    }
    lines.extend(where_it_went(figures));
    lines
}

/// The lines of these that say where the time of slow requests goes.
pub(crate) fn where_it_went(figures: &EndpointFigures) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(spans) = &figures.spans {
        lines.extend(spans.gaps.first().and_then(|one| gap(spans, one)));
        lines.extend(spans.repeated.first().map(repeated));
    }
    lines.extend(figures.server_timing.as_ref().map(server_timing::told));
    lines.extend(figures.pauses.as_ref().map(collections::told));
    lines
}

fn coverage(spans: &EndpointSpans) -> String {
    let with = spans.with_spans as f64 / spans.requests.max(1) as f64;
    let with = quantity::percent(with);
    let covered = if spans.with_spans > 0 {
        let share = quantity::percent(spans.coverage);
        format!(", which cover {share} of their time")
    } else {
        String::new()
    };
    let early = spans.early_ms.map(|early_ms| {
        format!(
            "; those of {} begin {} before they were sent: the clock of the target's telemetry \
             is coarse, or off",
            quantity::plural(spans.early, "request"),
            quantity::duration(early_ms)
        )
    });
    let early = early.unwrap_or_default();
    let cut = if spans.cut > 0 {
        format!(
            "; of {} only the first 256 spans are read, and {} of the time lies after them",
            quantity::plural(spans.cut, "request"),
            quantity::percent(spans.unseen)
        )
    } else {
        String::new()
    };
    format!("spans: {with} of the requests have some{covered}{cut}{early}")
}

/// The spans that explain most.
fn own(spans: &EndpointSpans) -> Option<String> {
    let told: Vec<String> = spans
        .own
        .iter()
        .filter(|span| span.share >= TOLD_FROM)
        .take(NAMED)
        .map(|span| {
            let SpanFigures { name, share, .. } = span;
            let times = times(span.slow_ms, span.fast_ms);
            format!("{name} itself {times} ({})", quantity::percent(*share))
        })
        .collect();
    (!told.is_empty()).then(|| {
        format!(
            "time of spans, and its share of {}: {}",
            of(spans),
            told.join(", ")
        )
    })
}

/// What shares are of.
fn of(spans: &EndpointSpans) -> &'static str {
    if spans.slow > 0 && spans.slow < spans.with_spans {
        "what slow requests take longer"
    } else {
        "the latency"
    }
}

/// Slow against the others, or all of them.
fn times(slow_ms: Option<f64>, fast_ms: Option<f64>) -> String {
    match (slow_ms, fast_ms) {
        (Some(slow), Some(fast)) => {
            let (slow, fast) = (quantity::duration(slow), quantity::duration(fast));
            format!("{slow} where slow, {fast} otherwise")
        }
        (Some(one), None) | (None, Some(one)) => quantity::duration(one),
        (None, None) => "no time".to_owned(),
    }
}

/// The gap that explains most, and what the threads did in it.
fn gap(spans: &EndpointSpans, gap: &SpanGap) -> Option<String> {
    if gap.share < TOLD_FROM {
        return None;
    }
    let place = match (gap.after.as_str(), gap.before.as_str()) {
        ("", before) => format!("before {before}"),
        (after, "") => format!("after {after}"),
        (after, before) => format!("between {after} and {before}"),
    };
    let told = format!(
        "gap {place} in {}: {}, {} of {}",
        gap.inside,
        times(gap.slow_ms, gap.fast_ms),
        quantity::percent(gap.share),
        of(spans)
    );
    let states: Vec<String> = gap
        .states
        .iter()
        .filter(|state| state.share >= TOLD_FROM)
        .take(STATES)
        .map(|state| {
            let stack = state.stack.iter().take(FRAMES);
            let stack: Vec<&str> = stack.map(String::as_str).collect();
            let share = quantity::percent(state.share);
            if stack.is_empty() {
                format!("{share} {}", state.what)
            } else {
                format!("{share} {} in {}", state.what, stack.join(" <- "))
            }
        })
        .collect();
    Some(if states.is_empty() {
        told
    } else {
        format!("{told}; there: {}", states.join(", "))
    })
}

fn repeated(repeated: &RepeatedSpans) -> String {
    let RepeatedSpans { name, inside, .. } = repeated;
    let place = if inside.is_empty() {
        String::new()
    } else {
        format!(" in {inside}")
    };
    format!(
        "{} times {name} one after the other{place}: {} of the time; could they be asked for at \
         once?",
        quantity::number(repeated.per_request),
        quantity::percent(repeated.share)
    )
}

#[cfg(test)]
mod tests {
    use slowpath_diagnose::diagnosis::GapState;

    use super::*;

    fn told() -> EndpointSpans {
        EndpointSpans {
            requests: 1000,
            with_spans: 990,
            slow: 50,
            coverage: 0.93,
            cut: 0,
            unseen: 0.0,
            early: 0,
            early_ms: None,
            own: vec![SpanFigures {
                name: "GET /search".into(),
                per_request: 1.0,
                fast_ms: Some(0.2),
                slow_ms: Some(61.0),
                share: 0.94,
            }],
            gaps: vec![SpanGap {
                inside: "GET /search".into(),
                after: "db.query".into(),
                before: "render".into(),
                fast_ms: Some(0.1),
                slow_ms: Some(60.5),
                share: 0.93,
                states: vec![GapState {
                    what: "sleeping (thread worker)".into(),
                    stack: vec!["nanosleep".into(), "backoff".into()],
                    share: 0.92,
                    requests: 40,
                }],
            }],
            repeated: vec![RepeatedSpans {
                name: "db.query".into(),
                inside: "GET /search".into(),
                per_request: 12.0,
                requests: 990,
                share: 0.4,
            }],
        }
    }

    #[test]
    fn a_gap_is_told_with_its_neighbours_and_what_happened_in_it() {
        let line = gap(&told(), &told().gaps[0]).unwrap();
        assert_eq!(
            line,
            "gap between db.query and render in GET /search: 60.5 ms where slow, 100 µs \
             otherwise, 93 % of what slow requests take longer; there: 92 % sleeping (thread \
             worker) in nanosleep <- backoff"
        );
        let first = SpanGap {
            after: String::new(),
            states: Vec::new(),
            ..told().gaps[0].clone()
        };
        let all = EndpointSpans { slow: 0, ..told() };
        assert!(
            gap(&all, &first)
                .unwrap()
                .starts_with("gap before render in ")
        );
        assert!(gap(&all, &first).unwrap().ends_with("of the latency"));
        let small = SpanGap {
            share: 0.001,
            ..first
        };
        assert_eq!(gap(&all, &small), None);
    }

    #[test]
    fn coverage_and_loops_are_told() {
        let line = coverage(&told());
        assert_eq!(
            line,
            "spans: 99 % of the requests have some, which cover 93 % of their time"
        );
        let cut = EndpointSpans {
            cut: 2,
            unseen: 0.74,
            ..told()
        };
        assert!(coverage(&cut).ends_with(
            "; of 2 requests only the first 256 spans are read, and 74 % of the time lies \
             after them"
        ));
        let none = EndpointSpans {
            with_spans: 0,
            ..told()
        };
        assert_eq!(coverage(&none), "spans: 0 % of the requests have some");
        let loops = repeated(&told().repeated[0]);
        assert!(loops.starts_with("12 times db.query one after the other in GET /search: 40 %"));
    }
}
