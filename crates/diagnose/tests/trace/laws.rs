//! Whatever a trace holds, a request's pieces are a partition of it.

use proptest::prelude::*;
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::sample::Sample;
use slowpath_core::samples::Samples;
use slowpath_core::trace::{
    Call, Context, Depth, Event, Left, NO_STACK, Process, Role, Runtime, Stretch, Thread, Trace,
    What,
};
use slowpath_diagnose::diagnosis::Phase;
use slowpath_diagnose::trace::Index;
use slowpath_diagnose::trace::join::{Joined, Joiner};
use slowpath_diagnose::trace::loops::{Dialled, Loops};
use slowpath_diagnose::trace::walk::Walker;

use crate::script::Script;

const PORT: u16 = 8_080;
const CLIENT: u16 = 40_000;
const LAST: u64 = 2_000;

fn tid() -> impl Strategy<Value = u32> {
    0..7_u32
}

fn what() -> impl Strategy<Value = What> {
    let context = (0..Context::ALL.len()).prop_map(|i| Context::ALL[i]);
    let left = (0..4_usize).prop_map(|i| Left::ALL[i]);
    let call = || (0..Call::ALL.len()).prop_map(|i| Call::ALL[i]);
    let stack = || prop_oneof![Just(NO_STACK), 0..3_u32];
    let switch = (tid(), left, tid(), stack()).prop_map(|(from, left, to, stack)| What::Switch {
        from,
        left,
        to,
        stack,
    });
    let waking =
        (tid(), tid(), context).prop_map(|(tid, by, context)| What::Waking { tid, by, context });
    let enter =
        (tid(), call(), 0..3_u64).prop_map(|(tid, call, about)| What::Call { tid, call, about });
    let peek = (tid(), call(), tid()).prop_map(|(tid, call, owner)| What::Peek {
        tid,
        call,
        about: 1,
        owner,
    });
    prop_oneof![
        8 => switch,
        6 => waking,
        3 => enter,
        1 => peek,
        2 => (0..4_u32).prop_map(|socket| What::Arrived { socket, bytes: 1 }),
        2 => (tid(), 0..5_u32).prop_map(|(tid, socket)| What::Read { tid, socket }),
        2 => (tid(), 0..4_u32).prop_map(|(tid, socket)| What::Wrote { tid, socket, bytes: 1 }),
        1 => (tid(), stack()).prop_map(|(tid, stack)| What::Sample { tid, stack }),
        1 => tid().prop_map(|tid| What::On { tid }),
        1 => (tid(), any::<bool>()).prop_map(|(tid, preempted)| What::Off { tid, preempted }),
    ]
}

/// A trace of six threads and two connections that makes no sense at all.
fn trace() -> impl Strategy<Value = Trace> {
    // Few instants, so that many events share one.
    let event = (1..LAST / 4, 0..3_u16, what()).prop_map(|(at, cpu, what)| Event {
        at: Nanos::new(at * 4),
        cpu,
        what,
    });
    let stretches = prop::collection::vec((1..LAST, 0..4_usize), 0..6);
    let runtimes = prop::collection::vec(0..4_usize, 2);
    let events = prop::collection::vec(event, 0..400);
    (events, stretches, runtimes, any::<bool>()).prop_map(
        |(events, mut cuts, runtimes, in_order)| {
            let mut script = Script::default();
            for end in [
                (PORT, CLIENT),
                (CLIENT, PORT),
                (PORT, CLIENT + 1),
                (9_000, 9_001),
            ] {
                script.socket(end.0, end.1);
            }
            script.stack("futex_wait|pthread_mutex_lock serve");
            script.stack("futex_wait|pthread_cond_wait serve");
            let mut trace = script.done();
            let runtime = [
                Runtime::Native,
                Runtime::Go,
                Runtime::Python,
                Runtime::Unknown,
            ];
            let role = [Role::Target, Role::Peer];
            for (place, kind) in (0..).zip(runtimes) {
                trace.processes.push(Process {
                    pid: 100 + place,
                    role: role[place as usize],
                    executable: String::new(),
                    program: String::new(),
                    runtime: runtime[kind],
                });
            }
            trace.threads = (1..6)
                .map(|tid| Thread {
                    tid,
                    pid: 100 + tid / 4,
                    name: String::new(),
                })
                .collect();
            cuts.sort_unstable();
            let mut begin = 1;
            for (end, depth) in cuts {
                trace.stretches.push(Stretch {
                    span: Span::new(Nanos::new(begin), Nanos::new(end)),
                    depth: Depth::ALL[depth],
                    repeat: 0,
                    lost: 0,
                });
                begin = end;
            }
            trace.events = events;
            if in_order {
                trace.events.sort_by_key(|event| event.at);
            }
            trace
        },
    )
}

fn joined() -> impl Strategy<Value = Joined> {
    let cuts = prop::collection::vec(1..LAST, Phase::ALL.len() + 1);
    (cuts, tid(), tid()).prop_map(|(mut cuts, reader, writer)| {
        cuts.sort_unstable();
        Joined {
            sample: 0,
            socket: 0,
            reader,
            writer,
            bounds: cuts.try_into().unwrap(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn slices_have_no_holes(trace in trace(), a in 1..LAST, b in 1..LAST) {
        let index = Index::new(&trace);
        let (begin, end) = (a.min(b), a.max(b));
        for tid in 0..8 {
            let mut at = begin;
            for slice in index.slices(tid, begin, end) {
                prop_assert_eq!(slice.begin, at);
                prop_assert!(slice.begin < slice.end);
                at = slice.end;
            }
            prop_assert_eq!(at, end);
        }
    }

    #[test]
    fn pieces_are_a_partition_of_the_request(trace in trace(), joined in joined()) {
        let index = Index::new(&trace);
        let ends = index.sockets.with_local_port(PORT).iter().copied().collect();
    let loops = Loops::of(&index, &ends, |end, _| Dialled {
        id: end.into(),
        at: None,
    });
    let mut walker = Walker::new(&index, &loops);
        let mut pieces = Vec::new();
        walker.request(&joined, &mut pieces);
        let mut at = joined.bounds[0];
        for piece in &pieces {
            prop_assert_eq!(piece.begin, at, "no holes, no overlaps");
            prop_assert!(piece.begin < piece.end);
            let (begin, end) = joined.part(piece.segment);
            prop_assert!(begin <= piece.begin && piece.end <= end, "within its part");
            prop_assert!(walker.chains.hops(piece.chain).len() <= 42);
            at = piece.end;
        }
        prop_assert_eq!(at, joined.bounds[Phase::ALL.len()]);
        let mut again = Vec::new();
        Walker::new(&index, &loops).request(&joined, &mut again);
        prop_assert_eq!(again, pieces, "the same each time");
    }

    #[test]
    fn parts_of_a_joined_request_add_up_to_its_latency(
        trace in trace(),
        after in prop::collection::vec(0..LAST / 4, 4),
        dialled in any::<bool>(),
    ) {
        let index = Index::new(&trace);
        let mut at = Nanos::new(after[0] + 1);
        let mut sample = Sample::due(at);
        at = at.plus(after[1]);
        sample.ready = at;
        sample.connect_begin = dialled.then_some(at);
        at = at.plus(after[2]);
        sample.connected = dialled.then_some(at);
        sample.sent = Some(at);
        sample.done = at.plus(after[3]);
        sample.local_port = CLIENT;
        let samples: Samples = vec![sample].into();
        if let Ok(joined) = Joiner::new(&index, [PORT].into_iter().collect()).join(0, samples.at(0)) {
            let parts: u64 = Phase::ALL.iter().map(|&s| joined.part_ns(s)).sum();
            prop_assert_eq!(parts, samples.at(0).latency_ns());
            prop_assert!(joined.bounds.is_sorted());
        }
    }
}
