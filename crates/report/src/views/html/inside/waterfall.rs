//! One request, thread by thread: a row for its parts, the client, the network and each thread,
//! and marks where one thread woke another.

use std::collections::BTreeSet;

use maud::{Markup, html};
use slowpath_core::trace::Call;
use slowpath_diagnose::diagnosis::{
    Lane, LaneState, LaneStretch, Phase, Wake, Waterfall, WaterfallSegment,
};

use super::super::key;
use super::{segments, width};
use crate::plot::Scale;
use crate::quantity;

/// Height of a row in CSS pixels: its label, then its bar. The style sheet has the same figure.
const ROW_PX: usize = 40;

/// Where the middle of a row's bar lies, in CSS pixels from its top.
const MIDDLE_PX: usize = 28;

/// Functions of a stack in the title of a stretch; the list below the picture has them all.
const FRAMES_IN_TITLE: usize = 12;

/// A part of the request at least so wide has room for its name.
const NARROWEST_WITH_TEXT: f64 = 0.2;

/// Rows above those of threads: the request, the client, the network.
const ROWS_ABOVE: usize = 3;

/// Longer axes than this many per cent have their last label end at its tick.
const END_FROM: f64 = 0.95;

/// The waterfall with its text alternative.
pub(super) fn picture(fall: &Waterfall) -> Markup {
    let caption = format!(
        "The slowest joined request: {}, {:.3} s after the begin of the first window, repeat {}",
        quantity::duration(fall.latency_ms),
        fall.at_s,
        fall.repeat + 1
    );
    let x = Scale::Linear {
        low: 0.0,
        high: fall.latency_ms.max(f64::MIN_POSITIVE),
    };
    let ticks = x.ticks();
    html! {
        figure.plot {
            figcaption { (caption) ", trace id " span.mono { (fall.trace_id) } }
            div.fall role="img" aria-label={ (caption) "; the list below says the same" } {
                (row("request", "", &whole(fall)))
                (row("client", "", &client(fall)))
                (row("network", "", &parts(fall, is_network)))
                @for lane in &fall.lanes {
                    (row(&named(lane), &told(lane), &lane_bars(lane, fall.latency_ms)))
                }
                (wakes(fall))
            }
            div.ticks-x.many[ticks.len() > 5].own aria-hidden="true" {
                @for &tick in &ticks {
                    span.end[x.at(tick) > END_FROM] style={ "left:" (width(x.at(tick))) } {
                        (quantity::duration(tick))
                    }
                }
            }
            (legend(fall))
            details {
                summary { "The request as a list" }
                (list(fall))
            }
        }
    }
}

/// A time as a share of the latency.
fn share(ms: f64, latency_ms: f64) -> f64 {
    if latency_ms > 0.0 {
        ms / latency_ms
    } else {
        0.0
    }
}

/// A bar in a row.
struct Bar {
    begin: f64,
    length: f64,
    class: &'static str,
    /// Whether it lies beside the request's chain.
    aside: bool,
    title: String,
    /// What stands in it; empty as a rule.
    text: String,
}

fn row(label: &str, note: &str, bars: &[Bar]) -> Markup {
    html! {
        div.row {
            div.label { (label) @if !note.is_empty() { " " span.soft { (note) } } }
            div.lane {
                @for bar in bars {
                    i class={ (bar.class) @if bar.aside { " aside" } } title=(bar.title)
                        style={ "left:" (width(bar.begin)) ";width:" (width(bar.length)) } { (bar.text) }
                }
            }
        }
    }
}

const fn is_network(segment: Phase) -> bool {
    matches!(segment, Phase::Network | Phase::Unread | Phase::Response)
}

/// All parts of the request, those with room by name.
fn whole(fall: &Waterfall) -> Vec<Bar> {
    let mut bars = parts(fall, |_| true);
    for bar in &mut bars {
        if bar.length >= NARROWEST_WITH_TEXT {
            bar.text.clone_from(&bar.title);
        }
    }
    bars
}

/// The parts of the request that are wanted.
fn parts(fall: &Waterfall, wanted: impl Fn(Phase) -> bool) -> Vec<Bar> {
    let own = fall.segments.iter().filter(|part| wanted(part.segment));
    own.map(|part| bar_of(part, fall.latency_ms)).collect()
}

fn bar_of(part: &WaterfallSegment, latency_ms: f64) -> Bar {
    Bar {
        begin: share(part.begin_ms, latency_ms),
        length: share(part.length_ms, latency_ms),
        class: segments::class(part.segment),
        aside: false,
        title: part_told(part),
        text: String::new(),
    }
}

/// What the client did itself, and its wait for the answer.
fn client(fall: &Waterfall) -> Vec<Bar> {
    let own = |segment| matches!(segment, Phase::Queued | Phase::ClientLag | Phase::Connect);
    let mut bars = parts(fall, own);
    let mut rest = fall.segments.iter().filter(|part| !own(part.segment));
    if let Some(first) = rest.next() {
        let waited_ms = fall.latency_ms - first.begin_ms;
        bars.push(Bar {
            begin: share(first.begin_ms, fall.latency_ms),
            length: share(waited_ms, fall.latency_ms),
            class: "idle",
            aside: false,
            title: format!("waiting for the answer: {}", quantity::duration(waited_ms)),
            text: String::new(),
        });
    }
    bars
}

fn lane_bars(lane: &Lane, latency_ms: f64) -> Vec<Bar> {
    let bar = |stretch: &LaneStretch| {
        let mut title = stretch_told(stretch);
        for frame in stretch.stack.iter().take(FRAMES_IN_TITLE) {
            title.push('\n');
            title.push_str(frame);
        }
        Bar {
            begin: share(stretch.begin_ms, latency_ms),
            length: share(stretch.length_ms, latency_ms),
            class: class(stretch),
            aside: !stretch.on_path,
            title,
            text: String::new(),
        }
    };
    lane.stretches.iter().map(bar).collect()
}

/// The class that colours what a thread does.
const fn class(stretch: &LaneStretch) -> &'static str {
    match (stretch.state, stretch.call) {
        (LaneState::Running, _) => "run",
        (LaneState::Ready, _) => "ready",
        (LaneState::Unknown, _) => "unknown",
        (LaneState::Blocked, Some(Call::Futex | Call::FileLock)) => "lock",
        (LaneState::Blocked, Some(Call::Sleep)) => "sleep",
        (LaneState::Blocked, Some(Call::Sync)) => "disk",
        (LaneState::Blocked, Some(Call::Read | Call::Write | Call::Connect | Call::Accept)) => {
            "net"
        }
        (LaneState::Blocked, Some(Call::Poll | Call::Wait | Call::Other) | None) => "idle",
    }
}

/// `otel-export 4713 (shop)`.
fn named(lane: &Lane) -> String {
    if lane.process.is_empty() || lane.process == lane.thread {
        format!("{} {}", lane.thread, lane.tid)
    } else {
        format!("{} {} ({})", lane.thread, lane.tid, lane.process)
    }
}

/// How long a thread ran, was ready, and was blocked.
fn told(lane: &Lane) -> String {
    let all = [
        ("ran", LaneState::Running),
        ("ready", LaneState::Ready),
        ("blocked", LaneState::Blocked),
    ];
    let parts = all.into_iter().filter_map(|(word, state)| {
        let own = lane.stretches.iter().filter(|one| one.state == state);
        let ms: f64 = own.map(|one| one.length_ms).sum();
        (ms > 0.0).then(|| format!("{word} {}", quantity::duration(ms)))
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn part_told(part: &WaterfallSegment) -> String {
    format!(
        "{}: {}, from {}",
        part.segment.describe(),
        quantity::duration(part.length_ms),
        quantity::duration(part.begin_ms)
    )
}

fn stretch_told(stretch: &LaneStretch) -> String {
    let doing = match (stretch.state, stretch.call) {
        (LaneState::Running, _) => "running",
        (LaneState::Ready, _) => "ready, without a CPU",
        (LaneState::Unknown, _) => "not known",
        (LaneState::Blocked, Some(call)) => call.describe(),
        (LaneState::Blocked, None) => "blocked",
    };
    let by = match (stretch.state, stretch.by.as_str()) {
        (_, "") => String::new(),
        (LaneState::Ready, by) => format!(", while {by} had the CPU"),
        (_, by) => format!(", ended by {by}"),
    };
    format!(
        "{doing}: {}, from {}{by}",
        quantity::duration(stretch.length_ms),
        quantity::duration(stretch.begin_ms)
    )
}

/// A line from who woke to who was woken, with a dot there; only a dot where it was an interrupt
/// or a thread without a row.
fn wakes(fall: &Waterfall) -> Markup {
    let rows = ROWS_ABOVE + fall.lanes.len();
    let height = rows * ROW_PX;
    let middle = |tid: u32| {
        let row = fall.lanes.iter().position(|lane| lane.tid == tid)?;
        Some((ROWS_ABOVE + row) * ROW_PX + MIDDLE_PX)
    };
    let mark = |wake: &Wake| {
        let to = middle(wake.tid)?;
        let x = share(wake.at_ms, fall.latency_ms).clamp(0.0, 1.0) * 1000.0;
        let from = wake.by.and_then(middle);
        Some((format!("{x:.1}"), from, to))
    };
    let marks: Vec<_> = fall.wakes.iter().filter_map(mark).collect();
    html! {
        svg viewBox={ "0 0 1000 " (height) } preserveAspectRatio="none" aria-hidden="true" {
            @for (x, from, to) in &marks {
                @if let Some(from) = from {
                    path.wake d={ "M" (x) " " (from) "V" (to) } {}
                }
                path.woken.far[from.is_none()] d={ "M" (x) " " (to) "h0" } {}
            }
        }
    }
}

/// What the colours mean, of those that are there.
fn legend(fall: &Waterfall) -> Markup {
    let parts: BTreeSet<Phase> = fall.segments.iter().map(|part| part.segment).collect();
    let stretches = fall.lanes.iter().flat_map(|lane| &lane.stretches);
    let states: BTreeSet<&str> = stretches.map(class).collect();
    let known = [
        ("run", "running"),
        ("ready", "ready, without a CPU"),
        ("lock", "waiting for a lock or a condition"),
        ("sleep", "sleeping"),
        ("disk", "waiting for the disk"),
        ("net", "reading, writing, connecting"),
        ("idle", "waiting for anything else"),
        ("unknown", "not known"),
    ];
    html! {
        div.legend.own {
            span.soft { "request" }
            @for part in parts { (key(segments::class(part), part.describe())) }
        }
        div.legend.own {
            span.soft { "threads" }
            @for (class, text) in known {
                @if states.contains(class) { (key(class, text)) }
            }
            @if !fall.wakes.is_empty() {
                (key("woken", "woken by the thread at the other end of the line; grey: by an \
                               interrupt or a thread that is not shown"))
            }
            span.soft { "Pale: beside the chain that the request waited in." }
        }
    }
}

/// Everything in the picture that lies on the chain, in words.
fn list(fall: &Waterfall) -> Markup {
    html! {
        ul { @for part in &fall.segments { li { (part_told(part)) } } }
        @for lane in &fall.lanes {
            p { strong { (named(lane)) } " " (told(lane)) }
            ul {
                @for stretch in lane.stretches.iter().filter(|stretch| stretch.on_path) {
                    li {
                        (stretch_told(stretch))
                        @if !stretch.stack.is_empty() {
                            br; code { (stretch.stack.join(" < ")) }
                        }
                    }
                }
                @let aside = lane.stretches.iter().filter(|stretch| !stretch.on_path).count();
                @if aside > 0 {
                    li.soft { (quantity::count(aside as u64)) " more beside the chain" }
                }
            }
        }
        ul {
            @for wake in &fall.wakes {
                li { (quantity::duration(wake.at_ms)) ": " (woken(fall, wake)) }
            }
        }
    }
}

fn woken(fall: &Waterfall, wake: &Wake) -> String {
    let who = |tid: u32| {
        let lane = fall.lanes.iter().find(|lane| lane.tid == tid);
        lane.map_or_else(
            || format!("thread {tid}"),
            |lane| format!("{} {tid}", lane.thread),
        )
    };
    let by = wake.by.map_or_else(|| "an interrupt".to_owned(), who);
    format!("{} woken by {by}", who(wake.tid))
}
