//! What a profile suggests to try, and what can be had by that at most.
//!
//! A mean request cannot gain more by a function that computes less than its share of the CPU time
//! that the request has (Amdahl 1967), and no more by a lock that is never waited for than the time
//! it waits for that lock. It may gain nothing: the work may be done beside the request, and who no
//! longer waits for one lock may wait for the next thing.

use slowpath_core::profile_pass::{ProfilePass, ProfileSource};
use slowpath_core::profiles::CodeLine;

use super::shares::{Counted, Own};
use super::{Request, Site, callers};
use crate::diagnosis::{Lead, LeadKind, LeadRemedy, SampledShare};
use crate::figures::{millis, share};
use crate::verdict::{human, percent};

/// A function has to have this share of the CPU time, by the lower end of its interval: below it
/// several do, and none of them stands out.
const CPU_LEAST: f64 = 0.4;
/// A lock has to have this share of the time that is waited for locks: below it many do.
const LOCK_LEAST: f64 = 0.1;
/// Fewer waits may be of one stall that will not come again.
const WAITS_LEAST: u64 = 30;
/// What cannot gain a mean request this share of its latency is not worth a try.
const GAIN_LEAST: f64 = 0.05;
/// Shards that the gain is reported for.
const SHARDS: f64 = 4.0;
/// Part of a function's calls that the gain of keeping its results is reported for.
const KEPT: f64 = 0.5;

/// The leads of a pass, the largest possible gain first.
pub(super) fn leads(
    pass: &ProfilePass,
    counted: &Counted<'_>,
    locks: &[Site],
    request: &Request,
) -> Vec<Lead> {
    let mut leads: Vec<Lead> = counted
        .own
        .iter()
        .filter_map(|(own, hits)| computes(pass, counted, *own, hits, request))
        .collect();
    leads.extend(locks.iter().filter_map(|site| waits(site, pass, request)));
    leads.sort_by(|a, b| (b.gain_most_ms.total_cmp(&a.gain_most_ms)).then_with(|| a.of.cmp(&b.of)));
    leads
}

fn computes(
    pass: &ProfilePass,
    counted: &Counted<'_>,
    own: Own<'_>,
    hits: &Vec<u64>,
    request: &Request,
) -> Option<Lead> {
    let (kind, of) = match own {
        Own::Function(function) if own.is_somebodys() => (LeadKind::Cpu, function),
        Own::Collector => (LeadKind::Collector, "the garbage collector"),
        Own::Function(_) | Own::Kernel | Own::Scheduler => return None,
    };
    let share = counted.share(Some(hits));
    if share.low <= CPU_LEAST {
        return None;
    }
    let cpu_ns = request.cpu_ns?;
    let gain_ns = (share.high * cpu_ns).min(request.latency_ns);
    let gain = gain_ns / request.latency_ns.max(1.0);
    if gain < GAIN_LEAST {
        return None;
    }
    let stack = counted
        .usual
        .get(&own)
        .map(|&stack| pass.stack(stack).collect::<Vec<_>>());
    let stack: Vec<&CodeLine> = stack.unwrap_or_default();
    let at = stack.iter().position(|line| line.function == of);
    let (what, first, second) = match kind {
        LeadKind::Collector => (
            "the garbage collector has",
            "allocate less for a request: half as much",
            "let it run half as often, for more memory (GOGC=200, GOMEMLIMIT)",
        ),
        _ => (
            "itself and in what the runtime does for it",
            "keep its results (a cache): half of the calls",
            "do its work once for several requests (a batch): two at a time",
        ),
    };
    let interval = format!("{} to {}", percent(share.low), percent(share.high));
    let has = format!("{} ({interval}) of the CPU time", percent(share.share));
    let whose = match kind {
        LeadKind::Collector => format!("{what} {has}"),
        _ => format!("{of} has {has}, {what}"),
    };
    let cheaper = "do less in it: all that it has";
    let remedies = [(first, KEPT), (second, KEPT), (cheaper, 1.0)];
    Some(Lead {
        kind,
        of: of.to_owned(),
        callers: at.map_or_else(Vec::new, |at| callers(&stack, at + 1)),
        share,
        gain_most_ms: millis(gain_ns),
        gain_most: gain,
        summary: format!(
            "{whose}: a mean request has {} of CPU time and takes {}, so it gains 0 to {} by it",
            human(cpu_ns),
            human(request.latency_ns),
            human(gain_ns)
        ),
        limits: format!(
            "what is done beside requests gains them nothing; where they queue for the CPU, \
             waiting is saved on top, which only a test shows{}{}",
            of_sampler(pass.source),
            of_elsewhere(pass)
        ),
        remedies: remedies
            .map(|(what, part)| LeadRemedy {
                what: what.to_owned(),
                gain_most_ms: millis(part * gain_ns),
            })
            .into(),
    })
}

/// What a sampler leaves open besides.
const fn of_sampler(source: ProfileSource) -> &'static str {
    match source {
        ProfileSource::Jfr => {
            "; the recorder looks at a few threads that are in Java code, whether a CPU runs them or \
             not"
        }
        ProfileSource::PySpy => {
            "; threads of Python are seen, and stacks are read while they run: some are torn"
        }
        ProfileSource::Stacks => "; the stacks count as samples of the CPU time",
        ProfileSource::Pprof | ProfileSource::Perf => "",
    }
}

/// What a profile of unknown load does.
const fn of_elsewhere(pass: &ProfilePass) -> &'static str {
    if pass.imported {
        "; the profile was taken elsewhere, and counts as one of this run's load"
    } else {
        ""
    }
}

fn waits(site: &Site, pass: &ProfilePass, request: &Request) -> Option<Lead> {
    if site.share <= LOCK_LEAST || site.count < WAITS_LEAST || request.completed <= 0.0 {
        return None;
    }
    let each_ns = site.delay_ns as f64 / request.completed;
    let gain_ns = each_ns.min(request.latency_ns);
    let gain = gain_ns / request.latency_ns.max(1.0);
    // Requests that wait for longer than they take were none of this run's.
    let of_another_load = pass.imported && each_ns > request.latency_ns;
    if gain < GAIN_LEAST || of_another_load {
        return None;
    }
    let by = site
        .callers
        .first()
        .map_or_else(String::new, |by| format!(", called by {by}"));
    let what = match pass.source {
        ProfileSource::Jfr => site.function.clone(),
        _ => format!("the lock that {} lets go of", site.function),
    };
    let remedies = [
        ("hold it for less: nothing under it but what it guards", 1.0),
        ("divide what it guards: 4 shards", 1.0 - 1.0 / SHARDS),
        (
            "take it once for several changes (a batch): two at a time",
            0.5,
        ),
    ];
    Some(Lead {
        kind: LeadKind::Lock,
        of: site.function.clone(),
        callers: site.callers.clone(),
        share: SampledShare {
            share: site.share,
            low: site.share,
            high: site.share,
            deff: 1.0,
        },
        gain_most_ms: millis(gain_ns),
        gain_most: gain,
        summary: format!(
            "{what} has {} of the time waited for locks{by}: {} for each request, so a mean \
             request gains 0 to {} of its {}",
            percent(site.share),
            human(each_ns),
            human(gain_ns),
            human(request.latency_ns)
        ),
        limits: format!(
            "a share of what is waited for locks is no share of the latency: several wait at \
             once, and some of them for no request; who no longer waits for this lock may wait \
             for the next thing{}",
            of_elsewhere(pass)
        ),
        remedies: remedies
            .map(|(what, part)| LeadRemedy {
                what: what.to_owned(),
                gain_most_ms: millis(part * gain_ns),
            })
            .into(),
    })
}

impl Lead {
    /// Rounds what is stored.
    pub(super) fn round(&mut self) {
        self.share = self.share.rounded();
        self.gain_most = share(self.gain_most);
    }
}

impl SampledShare {
    /// As reports hold it.
    #[must_use]
    pub(super) fn rounded(self) -> Self {
        Self {
            share: share(self.share),
            low: share(self.low),
            high: share(self.high),
            deff: crate::figures::round(self.deff, 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slowpath_core::profile_pass::{CpuSamples, PassLatency, Waited};

    use super::super::{locks, sites};
    use super::*;

    const MS: f64 = 1e6;

    /// A pass with so many samples of each stack in each of ten slices. Stacks are words, innermost
    /// first.
    fn pass(stacks: &[(&str, u64)], waits: &[(u32, u64, u64)]) -> ProfilePass {
        let mut pass = ProfilePass {
            slices: 10,
            ..ProfilePass::default()
        };
        for (stack, _) in stacks {
            let first = pass.lines.len() as u32;
            pass.lines.extend(stack.split(' ').map(|function| CodeLine {
                function: function.to_owned(),
                file: "main.go".to_owned(),
                line: 7,
            }));
            pass.stacks.push((first..pass.lines.len() as u32).collect());
        }
        for slice in 0..10 {
            let samples = (0..).zip(stacks).map(|(stack, &(_, count))| CpuSamples {
                slice,
                stack,
                count,
            });
            pass.cpu.extend(samples.filter(|samples| samples.count > 0));
        }
        let waited = waits.iter().map(|&(stack, count, delay_ns)| Waited {
            stack,
            count,
            delay_ns,
        });
        pass.locks = Some(waited.collect());
        pass.load.endpoints = vec![PassLatency {
            completed: 1000,
            ..PassLatency::default()
        }];
        assert!(pass.is_whole());
        pass
    }

    fn led(pass: &ProfilePass, latency_ns: f64, cpu_ns: f64) -> Vec<Lead> {
        let request = Request {
            latency_ns,
            cpu_ns: Some(cpu_ns),
            completed: pass.completed() as f64,
        };
        let sites = sites(pass, pass.locks.as_deref().unwrap_or_default(), locks);
        leads(pass, &Counted::of(pass), &sites, &request)
    }

    #[test]
    fn a_function_that_stands_out_is_a_lead_with_what_it_can_gain_at_most() {
        let pass = pass(
            &[
                ("main.hot main.handle", 50),
                ("runtime.mallocgc main.hot main.handle", 10),
                ("main.other main.handle", 40),
            ],
            &[],
        );
        let leads = led(&pass, 10.0 * MS, 4.0 * MS);
        assert_eq!(leads.len(), 1, "{leads:?}");
        let lead = &leads[0];
        assert_eq!((lead.kind, lead.of.as_str()), (LeadKind::Cpu, "main.hot"));
        assert_eq!(lead.callers, ["main.handle (main.go:7)"]);
        assert!((lead.share.share - 0.6).abs() < 1e-9);
        let most_ms = lead.share.high * 4.0;
        assert!((lead.gain_most_ms - most_ms).abs() < 1e-3, "{lead:?}");
        assert!(
            lead.gain_most_ms < 4.0,
            "never more than the CPU time of a request"
        );
        assert!(
            lead.remedies
                .iter()
                .all(|r| r.gain_most_ms <= lead.gain_most_ms)
        );
    }

    #[test]
    fn what_gains_nothing_or_does_not_stand_out_is_no_lead() {
        let hot = pass(&[("main.hot", 60), ("main.other", 40)], &[]);
        // A request has 1 % of its latency of the CPU.
        assert!(led(&hot, 10.0 * MS, 0.1 * MS).is_empty());
        let spread = pass(&[("main.a", 34), ("main.b", 33), ("main.c", 33)], &[]);
        assert!(led(&spread, 10.0 * MS, 9.0 * MS).is_empty());
        // 45 % of 40 samples, of which the lower end is below 40 %.
        let few = pass(&[("main.a", 2), ("main.b", 2)], &[]);
        assert!(led(&few, 10.0 * MS, 9.0 * MS).is_empty());
        for nobodys in ["_PyEval_EvalFrameDefault", "libz.so.?"] {
            let pass = pass(&[(nobodys, 90), ("main.b", 10)], &[]);
            assert!(led(&pass, 10.0 * MS, 9.0 * MS).is_empty(), "{nobodys}");
        }
        let kernel = pass(&[("syscall.Syscall6 net.Write", 90), ("main.b", 10)], &[]);
        assert!(led(&kernel, 10.0 * MS, 9.0 * MS).is_empty());
    }

    #[test]
    fn the_collector_is_a_lead_of_its_own_kind() {
        let stack = "runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker";
        let pass = pass(&[(stack, 70), ("main.b", 30)], &[]);
        let leads = led(&pass, 10.0 * MS, 9.0 * MS);
        assert_eq!(leads[0].kind, LeadKind::Collector);
        assert!(
            leads[0]
                .summary
                .starts_with("the garbage collector has 70 %")
        );
    }

    #[test]
    fn a_lock_gains_at_most_what_a_request_waits_for_it() {
        let stacks = [
            ("sync.(*Mutex).Unlock main.add main.handle", 0),
            ("sync.(*Mutex).Unlock main.rare main.handle", 0),
            ("main.b", 1),
        ];
        let waits = [(0, 500, 2_000_000_000), (1, 400, 100_000_000)];
        let pass = pass(&stacks, &waits);
        let leads = led(&pass, 10.0 * MS, 0.0);
        assert_eq!(leads.len(), 1, "{leads:?}");
        let lead = &leads[0];
        assert_eq!((lead.kind, lead.of.as_str()), (LeadKind::Lock, "main.add"));
        assert_eq!(lead.callers, ["main.handle (main.go:7)"]);
        assert!((lead.gain_most_ms - 2.0).abs() < 1e-9, "{lead:?}");
        assert!(lead.limits.contains("no share of the latency"));
        // Waits for 2 ms of a second, and of a single stall.
        assert!(led(&pass, 1000.0 * MS, 0.0).is_empty());
        let mut elsewhere = pass;
        elsewhere.imported = true;
        assert_eq!(led(&elsewhere, 10.0 * MS, 0.0).len(), 1);
        assert!(led(&elsewhere, 1.0 * MS, 0.0).is_empty(), "2 ms of 1 ms");
        let stall = self::pass(&stacks, &[(0, 5, 2_000_000_000)]);
        assert!(led(&stall, 10.0 * MS, 0.0).is_empty());
    }

    /// Any count, the largest there is among them.
    fn count() -> impl Strategy<Value = u64> {
        prop_oneof![3 => 0_u64..1000, 1 => any::<u64>(), 1 => Just(u64::MAX)]
    }

    proptest! {
        #[test]
        fn whatever_was_counted_shares_are_shares_and_gains_have_their_bound(
            cpu in prop::collection::vec((0_u16..12, 0_usize..5, count()), 0..40),
            waits in prop::collection::vec((0_u32..5, count(), count()), 0..8),
            completed in count(),
            latency_ns in prop_oneof![Just(0.0), 1.0..1e12],
            cpu_ns in prop_oneof![Just(0.0), 1.0..1e20],
        ) {
            let stacks = ["main.a", "runtime.x main.b main.a", "runtime.y", "libz.so.?", ""];
            let mut pass = pass(&stacks.map(|stack| (stack, 0)), &waits);
            pass.slices = 12;
            pass.cpu = cpu
                .iter()
                .map(|&(slice, stack, count)| CpuSamples { slice, stack: stack as u32, count })
                .collect();
            pass.load.endpoints[0].completed = completed;
            let counted = Counted::of(&pass);
            let maps = [&counted.flat, &counted.cumulative];
            let hits = maps.into_iter().flat_map(|map| map.values()).chain(counted.own.values());
            for hits in hits {
                let told = counted.share(Some(hits));
                prop_assert!(0.0 <= told.low && told.low <= told.share + 1e-9, "{told:?}");
                prop_assert!(told.share <= told.high + 1e-9 && told.high <= 1.0, "{told:?}");
            }
            let sites = sites(&pass, pass.locks.as_deref().unwrap_or_default(), locks);
            prop_assert!(sites.iter().all(|site| (0.0..=1.0).contains(&site.share)));
            for lead in led(&pass, latency_ns, cpu_ns) {
                prop_assert!((0.0..=1.0).contains(&lead.share.share), "{lead:?}");
                prop_assert!((0.0..=1.0).contains(&lead.gain_most), "{lead:?}");
                prop_assert!(lead.gain_most_ms <= millis(latency_ns), "{lead:?}");
            }
        }
    }
}
