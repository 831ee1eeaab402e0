//! One request, thread by thread.

use slowpath_core::sample::Sample;
use slowpath_core::trace::{Context, NO_STACK};

use super::millis;
use crate::case::Case;
use crate::diagnosis::{
    LANES_MAX, Lane, LaneState, LaneStretch, Phase, STRETCHES_MAX, WAKES_MAX, Wake, Waterfall,
    WaterfallSegment,
};
use crate::figures::round;
use crate::trace::index::{Off, Runner, Slice, State};
use crate::trace::inside::{EndpointJoin, Inside, Walked};

/// The slowest request that was followed.
pub(super) fn slowest(
    case: &Case<'_>,
    inside: &Inside<'_>,
    join: &EndpointJoin,
) -> Option<Waterfall> {
    let by_latency = |w: &&Walked| (w.joined.latency_ns(), std::cmp::Reverse(w.joined.sample));
    let walked = join.walked.iter().max_by_key(by_latency)?;
    let sample = case.sample(walked.joined.sample);
    let fall = Fall {
        inside,
        walked,
        begin: walked.joined.bounds[0],
        end: walked.joined.bounds[Phase::ALL.len()],
    };
    let tids = fall.tids();
    let seed = case.record.manifest.plan.seed;
    let trace_id = Sample::trace_id(seed, sample.repeat(), sample.serial());
    Some(Waterfall {
        trace_id: format!("{trace_id:032x}"),
        repeat: u32::from(sample.repeat()),
        at_s: round(case.seconds(sample.scheduled()), 1e6),
        latency_ms: millis(walked.joined.latency_ns() as f64),
        segments: fall.segments(),
        lanes: tids.iter().map(|&tid| fall.lane(tid)).collect(),
        wakes: fall.wakes(&tids),
    })
}

struct Fall<'i> {
    inside: &'i Inside<'i>,
    walked: &'i Walked,
    begin: u64,
    end: u64,
}

impl Fall<'_> {
    fn ms(&self, at: u64) -> f64 {
        millis(at.saturating_sub(self.begin) as f64)
    }

    /// The threads of the chains, those that have the request first.
    fn tids(&self) -> Vec<u32> {
        let joined = &self.walked.joined;
        let mut tids = vec![joined.reader];
        let hops = |chain| self.inside.chains.hops(chain);
        let chains = self.walked.pieces.iter().flat_map(|p| hops(p.chain));
        for tid in [joined.writer].into_iter().chain(chains.map(|hop| hop.tid)) {
            if !tids.contains(&tid) && tids.len() < LANES_MAX {
                tids.push(tid);
            }
        }
        tids
    }

    fn segments(&self) -> Vec<WaterfallSegment> {
        let parts = Phase::ALL.iter().map(|&segment| {
            let (begin, end) = self.walked.joined.part(segment);
            WaterfallSegment {
                segment,
                begin_ms: self.ms(begin),
                length_ms: millis((end - begin) as f64),
            }
        });
        parts.filter(|part| part.length_ms > 0.0).collect()
    }

    fn lane(&self, tid: u32) -> Lane {
        let mut slices = self.inside.index.slices(tid, self.begin, self.end);
        if slices.len() > STRETCHES_MAX {
            slices.sort_by_key(|s| (std::cmp::Reverse(s.end - s.begin), s.begin));
            slices.truncate(STRETCHES_MAX);
            slices.sort_by_key(|s| s.begin);
        }
        Lane {
            tid,
            thread: self.inside.thread_name(tid),
            process: self.inside.process_name(tid).to_owned(),
            stretches: slices
                .iter()
                .map(|slice| self.stretch(tid, slice))
                .collect(),
        }
    }

    fn stretch(&self, tid: u32, slice: &Slice<'_>) -> LaneStretch {
        let inside = self.inside;
        let pieces = self.walked.pieces.iter();
        let chain = |chain| self.inside.chains.hops(chain);
        let own = pieces.filter(|p| chain(p.chain).iter().any(|hop| hop.tid == tid));
        let on_path: u64 = own
            .map(|p| {
                p.end
                    .min(slice.end)
                    .saturating_sub(p.begin.max(slice.begin))
            })
            .sum();
        let (state, call, by, stack) = match slice.state {
            State::Run => {
                let samples = inside.index.samples(tid, slice.begin, slice.end);
                let stack = samples.first().map_or(NO_STACK, |sample| sample.1);
                (LaneState::Running, None, String::new(), stack)
            }
            State::Ready(off) => {
                let by = self.runner(off, slice);
                (LaneState::Ready, None, by, NO_STACK)
            }
            State::Blocked(off) => {
                let call = inside.stacks.call_in(off);
                (LaneState::Blocked, call, self.ender(off), off.stack)
            }
            State::Gone | State::Unknown => (LaneState::Unknown, None, String::new(), NO_STACK),
        };
        LaneStretch {
            begin_ms: self.ms(slice.begin),
            length_ms: millis((slice.end - slice.begin) as f64),
            state,
            call,
            by,
            stack: inside.stack_words(stack),
            on_path: 2 * on_path > slice.end - slice.begin,
        }
    }

    /// Who had the CPU for most of a time.
    fn runner(&self, off: &Off, slice: &Slice<'_>) -> String {
        let runners = self.inside.index.runners(off.cpu, slice.begin, slice.end);
        let most = runners
            .into_iter()
            .max_by_key(|(begin, end, _)| end - begin);
        match most.map(|(_, _, runner)| runner) {
            Some(Runner::Thread(tid)) => self.inside.thread_name(tid),
            Some(Runner::Idle) => "nobody".to_owned(),
            Some(Runner::Unknown) | None => String::new(),
        }
    }

    fn ender(&self, off: &Off) -> String {
        match off.context {
            Some(Context::Thread | Context::Birth) => self.inside.thread_name(off.waker),
            Some(Context::Softirq) => "the network or a timer".to_owned(),
            Some(Context::Hardirq) => "a timer or a device".to_owned(),
            None => String::new(),
        }
    }

    fn wakes(&self, tids: &[u32]) -> Vec<Wake> {
        let mut wakes: Vec<(u64, u32, Option<u32>)> = Vec::new();
        for &tid in tids {
            for off in self.inside.index.offs(tid, self.begin, self.end) {
                if let Some(context) = off.context
                    && (self.begin..self.end).contains(&off.wake)
                {
                    let by = (context == Context::Thread).then_some(off.waker);
                    wakes.push((off.wake, tid, by));
                }
            }
        }
        wakes.sort_unstable();
        wakes.truncate(WAKES_MAX);
        let wake = |(at, tid, by): (u64, u32, Option<u32>)| Wake {
            at_ms: self.ms(at),
            tid,
            by,
        };
        wakes.into_iter().map(wake).collect()
    }
}
