use proptest::prelude::*;

use super::*;

const PROCESS: u32 = 10;
const FLUSHER: u32 = 11;
const WORKERS: [u32; 3] = [21, 22, 23];
const OTHER: u32 = 31;
const WORD: u64 = 0x7000;
const US: u64 = 1000;

/// A trace that is written by hand, in microseconds.
#[derive(Default)]
struct Script(Vec<Event>);

impl Script {
    fn push(&mut self, at_us: u64, what: What) {
        self.0.push(Event {
            at: Nanos::new((1000 + at_us) * US),
            cpu: 0,
            what,
        });
    }

    fn run(&mut self, tid: u32, from_us: u64, to_us: u64) {
        self.push(from_us, What::On { tid });
        let preempted = false;
        self.push(to_us, What::Off { tid, preempted });
    }

    fn look(&mut self, tid: u32, at_us: u64) {
        let what = What::Peek {
            tid,
            call: Call::Futex,
            about: WORD,
            owner: 0,
        };
        self.push(at_us, what);
    }

    /// A hold of 20 ms by `holder`, who wakes at its end and lets three workers go one by one.
    fn hold(&mut self, begin_us: u64, holder: u32) {
        self.run(holder, begin_us, begin_us + 20);
        for (place, worker) in WORKERS.into_iter().enumerate() {
            let place = place as u64;
            self.run(worker, begin_us + 1000 + place, begin_us + 1050 + place);
            for look in 1..4 {
                self.look(worker, begin_us + look * 5000);
            }
            let free_us = begin_us + 20_060 + place * 40;
            self.run(worker, free_us, free_us + 30);
        }
        self.run(holder, begin_us + 20_000, begin_us + 20_050);
    }

    fn named(mut self, locks: &[Lock]) -> Vec<u32> {
        self.0.sort_by_key(|event| event.at);
        name(&mut self.0, &locks.iter().copied().collect(), &|_| PROCESS);
        let owner = |event: &Event| match event.what {
            What::Peek { owner, .. } => Some(owner),
            _ => None,
        };
        self.0.iter().filter_map(owner).collect()
    }
}

#[test]
fn who_runs_at_each_release_held_the_lock() {
    let mut script = Script::default();
    for hold in 0..8 {
        script.hold(hold * 100_000, FLUSHER);
        // Another thread runs at times that have nothing to do with it.
        script.run(
            OTHER,
            hold * 100_000 + hold * 7000,
            hold * 100_000 + hold * 7000 + 500,
        );
    }
    let named = script.named(&[(PROCESS, WORD)]);
    assert_eq!(named.len(), 72);
    assert!(named.iter().all(|owner| *owner == FLUSHER), "{named:?}");
}

#[test]
fn what_is_no_lock_has_no_holder() {
    let mut script = Script::default();
    for hold in 0..8 {
        script.hold(hold * 100_000, FLUSHER);
    }
    let named = script.named(&[(PROCESS, WORD + 8), (PROCESS + 1, WORD)]);
    assert!(named.iter().all(|owner| *owner == 0));
}

#[test]
fn few_holds_and_changing_holders_name_nobody() {
    let mut few = Script::default();
    let mut changing = Script::default();
    for hold in 0..8 {
        if hold < 5 {
            few.hold(hold * 100_000, FLUSHER);
        }
        let holder = [FLUSHER, OTHER][hold as usize % 2];
        changing.hold(hold * 100_000, holder);
    }
    assert!(
        few.named(&[(PROCESS, WORD)])
            .iter()
            .all(|owner| *owner == 0)
    );
    assert!(
        changing
            .named(&[(PROCESS, WORD)])
            .iter()
            .all(|owner| *owner == 0)
    );
}

#[test]
fn a_thread_that_always_runs_is_not_accused() {
    let mut script = Script::default();
    for hold in 0..8 {
        script.hold(hold * 100_000, FLUSHER);
        script.run(OTHER, hold * 100_000, hold * 100_000 + 90_000);
    }
    let named = script.named(&[(PROCESS, WORD)]);
    assert!(named.iter().all(|owner| *owner == FLUSHER), "{named:?}");
}

#[test]
fn two_that_always_run_together_name_nobody() {
    let mut script = Script::default();
    for hold in 0..8 {
        script.hold(hold * 100_000, FLUSHER);
        script.run(OTHER, hold * 100_000 + 20_010, hold * 100_000 + 20_050);
    }
    assert!(
        script
            .named(&[(PROCESS, WORD)])
            .iter()
            .all(|owner| *owner == 0)
    );
}

#[test]
fn what_the_holder_waits_in_stands_beside() {
    let mut script = Script::default();
    for hold in 0..8 {
        script.hold(hold * 100_000, FLUSHER);
        let asleep = What::Peek {
            tid: FLUSHER,
            call: Call::Sleep,
            about: 0,
            owner: 0,
        };
        script.push(hold * 100_000 + 3000, asleep);
    }
    script.0.sort_by_key(|event| event.at);
    name(&mut script.0, &BTreeSet::from([(PROCESS, WORD)]), &|_| {
        PROCESS
    });
    assert!(script.0.is_sorted_by_key(|event| event.at));
    let asleep = script.0.iter().filter(|event| {
        matches!(
            event.what,
            What::Peek {
                tid: FLUSHER,
                call: Call::Sleep,
                ..
            }
        )
    });
    // Once as it was found, and at each of three instants at which others were found waiting.
    assert_eq!(asleep.count(), 8 * 4);
}

proptest! {
    #[test]
    fn whoever_is_named_is_no_waiter(
        steps in proptest::collection::vec((1_u32..7, 0_u64..400_000, 0_u8..3), 0..400),
    ) {
        let mut script = Script::default();
        for (tid, at_us, kind) in steps {
            match kind {
                0 => script.run(tid, at_us, at_us + 300),
                1 => script.look(tid, at_us),
                _ => script.push(at_us, What::On { tid }),
            }
        }
        script.0.sort_by_key(|event| event.at);
        let before = script.0.clone();
        name(&mut script.0, &BTreeSet::from([(PROCESS, WORD)]), &|_| PROCESS);
        let is_switch = |e: &&Event| !matches!(e.what, What::Peek { .. });
        let switches = |events: &[Event]| -> Vec<Event> {
            events.iter().filter(is_switch).copied().collect()
        };
        prop_assert_eq!(switches(&before), switches(&script.0));
        for event in &script.0 {
            if let What::Peek { tid, owner, .. } = event.what {
                prop_assert_ne!(tid, owner);
            }
        }
    }
}
