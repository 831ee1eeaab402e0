//! What tracing is judged to have shown of the synthetic run: a lock that is held while its holder
//! sleeps, and workers that hand it on to each other.

use slowpath_core::trace::{Call, Depth};
use slowpath_diagnose::diagnosis::{
    ChainNode, ChainTree, EndpointInside, Lane, LaneState, LaneStretch, NodeKind, Part, Phase,
    SegmentFigures, TraceView, TracingShift, Unjoined, Wake, Waterfall, WaterfallSegment,
};

/// What was traced; its threads have the name given.
pub(crate) fn traced(holder: &str) -> TraceView {
    TraceView {
        depth: Depth::Full,
        events: 412_330,
        lost: 12,
        traced: 0.8,
        requests: 12_005,
        within: 9_415,
        joined: 9_412,
        unjoined: vec![
            Unjoined {
                why: "outside of traced time".into(),
                requests: 2_590,
            },
            Unjoined {
                why: "its port was not seen".into(),
                requests: 3,
            },
        ],
        shift: Some(TracingShift {
            off_p50_ms: 3.05,
            on_p50_ms: 3.11,
            shift: 0.02,
            shift_low: -0.011,
            shift_high: 0.052,
            off_slow: 0.021,
            on_slow: 0.0212,
            off_stretches: 12,
            on_stretches: 48,
        }),
        endpoints: vec![EndpointInside {
            name: "search".into(),
            pass: None,
            requests: 11_977,
            joined: 9_390,
            segments: segments(),
            tail: Some(tail(holder)),
            floor: None,
            slowest: Some(slowest(holder)),
        }],
    }
}

fn segments() -> Vec<SegmentFigures> {
    let figures = [
        (Phase::Queued, 0.0, 0.0, 0.0),
        (Phase::ClientLag, 0.02, 0.021, 0.000_1),
        (Phase::Connect, 0.0, 0.0, 0.0),
        (Phase::Network, 0.004, 0.004, 0.0),
        (Phase::Unread, 0.03, 41.0, 0.03),
        (Phase::Service, 3.0, 1_352.0, 0.968),
        (Phase::Response, 0.03, 0.031, 0.001),
    ];
    let one = |(segment, fast, slow, share)| SegmentFigures {
        segment,
        fast_ms: Some(fast),
        slow_ms: Some(slow),
        share: Some(share),
    };
    figures.map(one).to_vec()
}

fn node(kind: NodeKind, label: &str, thread: &str, mean_ms: f64) -> ChainNode {
    ChainNode {
        label: label.into(),
        kind,
        thread: thread.into(),
        process: if thread.is_empty() { "" } else { "shop" }.into(),
        call: None,
        stack: Vec::new(),
        mean_ms,
        reference_ms: 0.0,
        share: mean_ms / 1_393.0,
        requests: 197,
        children: Vec::new(),
    }
}

fn sleep(holder: &str, mean_ms: f64) -> ChainNode {
    ChainNode {
        call: Some(Call::Sleep),
        stack: [
            "hrtimer_nanosleep",
            "clock_nanosleep (libc.so.6)",
            "std::thread::sleep (thread/functions.rs:289)",
            "flush_locked (export.rs:41)",
            "flusher (export.rs:88)",
        ]
        .map(Into::into)
        .to_vec(),
        ..node(NodeKind::Sleep, "sleeping", holder, mean_ms)
    }
}

fn threads(names: &[&str], leaf: ChainNode) -> ChainNode {
    let Some((first, rest)) = names.split_first() else {
        return leaf;
    };
    let mut thread = node(NodeKind::Thread, first, first, leaf.mean_ms);
    thread.children = vec![threads(rest, leaf)];
    thread
}

fn tail(holder: &str) -> ChainTree {
    let direct = threads(&[holder], sleep(holder, 540.0));
    let convoy = threads(&["worker-3", holder], sleep(holder, 320.0));
    let longer = threads(
        &["worker-1", "worker-6", "worker-2", holder],
        sleep(holder, 410.0),
    );
    let mut worker = node(NodeKind::Thread, "worker", "worker", 1_348.0);
    let ready = node(NodeKind::Ready, "ready, without a CPU", "worker", 61.0);
    let cpu = node(NodeKind::Cpu, "computing", "worker", 17.0);
    worker.children = vec![direct, longer, convoy, ready, cpu];
    let kind = NodeKind::Segment(Phase::Service);
    let mut service = node(kind, Phase::Service.describe(), "", 1_349.0);
    service.children = vec![worker];
    let kind = NodeKind::Segment(Phase::Unread);
    let mut unread = node(kind, Phase::Unread.describe(), "", 41.0);
    unread.children = vec![threads(&["worker", holder], sleep(holder, 39.0))];
    ChainTree {
        requests: 197,
        mean_ms: 1_396.0,
        reference_ms: 3.1,
        nodes: vec![unread, service],
        unexplained: vec![Part {
            why: "the runtime was idle".into(),
            share: 0.004,
        }],
    }
}

fn stretch(begin_ms: f64, end_ms: f64, state: LaneState, call: Option<Call>) -> LaneStretch {
    LaneStretch {
        begin_ms,
        length_ms: end_ms - begin_ms,
        state,
        call,
        by: String::new(),
        stack: Vec::new(),
        on_path: false,
    }
}

fn lane(tid: u32, thread: &str, stretches: Vec<LaneStretch>) -> Lane {
    Lane {
        tid,
        thread: thread.into(),
        process: "shop".into(),
        stretches,
    }
}

/// A worker that waits after another for a lock that the holder has in its sleep.
fn lanes(holder: &str) -> Vec<Lane> {
    let (run, ready, blocked) = (LaneState::Running, LaneState::Ready, LaneState::Blocked);
    let (lock, idle) = (Some(Call::Futex), Some(Call::Poll));
    let on_path = |stretch: LaneStretch| LaneStretch {
        on_path: true,
        ..stretch
    };
    let by = |stretch: LaneStretch, by: &str| LaneStretch {
        by: by.into(),
        ..stretch
    };
    let asleep = LaneStretch {
        stack: sleep(holder, 1.0).stack,
        ..stretch(0.0, 1_352.0, blocked, Some(Call::Sleep))
    };
    let victim = vec![
        stretch(0.0, 30.0, blocked, idle),
        by(stretch(30.0, 52.0, ready, None), "cc1plus"),
        on_path(stretch(52.0, 54.0, run, None)),
        by(stretch(54.0, 1_390.0, blocked, lock), "worker-3"),
        on_path(by(stretch(1_390.0, 1_398.0, ready, None), "worker-3")),
        on_path(stretch(1_398.0, 1_420.3, run, None)),
    ];
    let waiter = vec![
        stretch(0.0, 20.0, run, None),
        by(stretch(20.0, 1_352.0, blocked, lock), holder),
        on_path(stretch(1_352.0, 1_390.0, run, None)),
        stretch(1_390.0, 1_420.3, blocked, idle),
    ];
    let own = vec![
        on_path(by(asleep, "an interrupt")),
        on_path(stretch(1_352.0, 1_353.0, run, None)),
        stretch(1_353.0, 1_380.0, blocked, Some(Call::Sync)),
        stretch(1_380.0, 1_420.3, blocked, Some(Call::Write)),
    ];
    vec![
        lane(4_720, "worker-4", victim),
        lane(4_719, "worker-3", waiter),
        lane(4_713, holder, own),
    ]
}

fn slowest(holder: &str) -> Waterfall {
    let part = |segment, begin_ms, length_ms| WaterfallSegment {
        segment,
        begin_ms,
        length_ms,
    };
    let wake = |at_ms, tid, by| Wake { at_ms, tid, by };
    Waterfall {
        trace_id: "000000000000002a8000000000000c35".into(),
        repeat: 0,
        at_s: 8.001,
        latency_ms: 1_420.3,
        segments: vec![
            part(Phase::ClientLag, 0.0, 0.02),
            part(Phase::Network, 0.02, 0.01),
            part(Phase::Unread, 0.03, 52.0),
            part(Phase::Service, 52.03, 1_368.17),
            part(Phase::Response, 1_420.2, 0.1),
        ],
        lanes: lanes(holder),
        wakes: vec![
            wake(30.0, 4_720, None),
            wake(1_352.0, 4_713, None),
            wake(1_352.6, 4_719, Some(4_713)),
            wake(1_390.0, 4_720, Some(4_719)),
            wake(1_400.0, 4_713, Some(9_999)),
        ],
    }
}
