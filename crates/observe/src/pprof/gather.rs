//! Profiles made into one record: each place and each stack stands in it once.

use std::collections::BTreeMap;

use slowpath_core::nanos::Span;
use slowpath_core::profile_pass::{CpuSamples, Waited};
use slowpath_core::profiles::{CodeLine, Dump, Profiles, Release, Standing};

use super::dump::Group;
use super::profile::{Profile, Sample};

/// Stacks that a repeat keeps at most: a target that has more makes code as it runs.
const MOST_STACKS: usize = 1 << 16;
/// Entries of all dumps that a repeat keeps at most: ten megabytes as text.
const MOST_STANDING: usize = 1_000_000;

/// What the values of Go's profiles of waits are called.
const WAITS: &str = "contentions/count";
const DELAY: &str = "delay/nanoseconds";
/// What the values of Go's CPU profile are called.
const SAMPLES: &str = "samples/count";
const CPU: &str = "cpu/nanoseconds";

fn value(sample: &Sample, place: usize) -> i64 {
    sample.values.get(place).map_or(0, |value| *value)
}

pub(super) struct Gather {
    repeat: u16,
    all: Profiles,
    lines: BTreeMap<CodeLine, u32>,
    stacks: BTreeMap<Vec<u32>, u32>,
    standing: usize,
}

impl Gather {
    pub(super) fn new(repeat: u16) -> Self {
        Self {
            repeat,
            all: Profiles::default(),
            lines: BTreeMap::new(),
            stacks: BTreeMap::new(),
            standing: 0,
        }
    }

    /// Adds a dump; false if there is no room for it.
    pub(super) fn dump(&mut self, span: Span, dump: &[Group]) -> bool {
        if self.standing + dump.len() > MOST_STANDING {
            return false;
        }
        let mut standing: BTreeMap<u32, u32> = BTreeMap::new();
        for group in dump {
            let Some(stack) = self.stack(&group.stack) else {
                return false;
            };
            let sum = standing.entry(stack).or_default();
            *sum = sum.saturating_add(group.goroutines);
        }
        let standing = standing.into_iter().filter(|&(_, count)| count > 0);
        let standing = standing.map(|(stack, goroutines)| Standing { stack, goroutines });
        let standing: Vec<Standing> = standing.collect();
        self.standing += standing.len();
        self.all.dumps.push(Dump {
            repeat: self.repeat,
            span,
            standing,
        });
        true
    }

    /// Adds what the mutex profile counted between two readings.
    pub(super) fn releases(&mut self, before: &Profile, after: &Profile) {
        let repeat = self.repeat;
        let waited = self.waited(before, after).into_iter();
        self.all.releases.extend(waited.map(|waited| Release {
            repeat,
            stack: waited.stack,
            count: waited.count,
            delay_ns: waited.delay_ns,
        }));
    }

    /// What a profile of waits counted between two readings; nothing if it is none, or if there is
    /// no room for its stacks.
    pub(super) fn waited(&mut self, before: &Profile, after: &Profile) -> Vec<Waited> {
        let mut counted: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
        for (profile, sign) in [(before, -1), (after, 1)] {
            let (Some(waits), Some(delay)) = (profile.place_of(WAITS), profile.place_of(DELAY))
            else {
                return Vec::new();
            };
            for sample in &profile.samples {
                let Some(stack) = self.stack(&sample.stack) else {
                    return Vec::new();
                };
                let sum = counted.entry(stack).or_default();
                let add = |sum: i64, of: i64| sum.saturating_add(of.saturating_mul(sign));
                sum.0 = add(sum.0, value(sample, waits));
                sum.1 = add(sum.1, value(sample, delay));
            }
        }
        let counted = counted.into_iter().filter(|(_, (_, delay))| *delay > 0);
        let waited = counted.map(|(stack, (count, delay))| Waited {
            stack,
            count: u64::try_from(count).unwrap_or(0),
            delay_ns: delay.unsigned_abs(),
        });
        waited.collect()
    }

    /// Samples of the CPU time by stack, and the CPU time that they stand for; `None` if the profile
    /// is another one.
    pub(super) fn cpu(&mut self, slice: u16, profile: &Profile) -> Option<(Vec<CpuSamples>, u64)> {
        let samples = profile.place_of(SAMPLES)?;
        let cpu = profile.place_of(CPU)?;
        let (mut counted, mut cpu_ns) = (BTreeMap::<u32, u64>::new(), 0_u64);
        for sample in &profile.samples {
            let count = u64::try_from(value(sample, samples)).unwrap_or(0);
            if count == 0 {
                continue;
            }
            let stack = self.stack(&sample.stack)?;
            let sum = counted.entry(stack).or_default();
            *sum = sum.saturating_add(count);
            cpu_ns = cpu_ns.saturating_add(u64::try_from(value(sample, cpu)).unwrap_or(0));
        }
        let counted = counted.into_iter();
        let counted = counted.map(|(stack, count)| CpuSamples {
            slice,
            stack,
            count,
        });
        Some((counted.collect(), cpu_ns))
    }

    pub(super) fn done(self) -> Profiles {
        self.all
    }

    /// The position of a stack; `None` if there is no room for another.
    fn stack(&mut self, stack: &[CodeLine]) -> Option<u32> {
        let places = stack.iter().map(|line| {
            if let Some(&place) = self.lines.get(line) {
                return place;
            }
            let place = self.all.lines.len() as u32;
            self.lines.insert(line.clone(), place);
            self.all.lines.push(line.clone());
            place
        });
        let places: Vec<u32> = places.collect();
        if let Some(&place) = self.stacks.get(&places) {
            return Some(place);
        }
        let place = self.all.stacks.len();
        if place >= MOST_STACKS {
            return None;
        }
        self.stacks.insert(places.clone(), place as u32);
        self.all.stacks.push(places);
        Some(place as u32)
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;

    use super::*;

    fn stack(function: &str) -> Vec<CodeLine> {
        vec![CodeLine {
            function: function.to_owned(),
            file: String::new(),
            line: 1,
        }]
    }

    fn sample(function: &str, values: &[i64]) -> Sample {
        Sample {
            stack: stack(function),
            values: values.to_vec(),
        }
    }

    fn profile(values: &[&str], samples: Vec<Sample>) -> Profile {
        Profile {
            addresses: BTreeMap::new(),
            values: values.iter().map(|&v| v.to_owned()).collect(),
            samples,
        }
    }

    #[test]
    fn stacks_stand_once_and_counts_add_up() {
        let span = Span::new(Nanos::new(1), Nanos::new(2));
        let mut gather = Gather::new(3);
        let group = |function, goroutines| Group {
            goroutines,
            stack: stack(function),
        };
        let dump = [group("a", 2), group("b", 0), group("a", 1)];
        assert!(gather.dump(span, &dump));
        assert!(gather.dump(span, &dump));
        let all = gather.done();
        assert!(all.is_whole());
        assert_eq!(all.dumps.len(), 2);
        let standing = [Standing {
            stack: 0,
            goroutines: 3,
        }];
        assert_eq!(all.dumps[1].standing, standing);
        assert_eq!(all.dumps[1].repeat, 3);
    }

    #[test]
    fn releases_are_what_was_counted_in_between() {
        let kinds = [WAITS, DELAY];
        let before = profile(&kinds, vec![sample("a", &[4, 100]), sample("b", &[1, 10])]);
        let after = profile(
            &kinds,
            vec![
                sample("a", &[7, 160]),
                sample("b", &[1, 10]),
                sample("c", &[2, 5]),
            ],
        );
        let mut gather = Gather::new(0);
        gather.releases(&before, &after);
        let all = gather.done();
        let told = all.releases.iter();
        let told: Vec<_> = told.map(|r| (r.stack, r.count, r.delay_ns)).collect();
        assert_eq!(told, [(0, 3, 60), (2, 2, 5)]);
    }

    #[test]
    fn samples_are_counted_by_stack_and_nothing_else_is_a_cpu_profile() {
        let of_cpu = profile(
            &[SAMPLES, CPU],
            vec![
                sample("a", &[3, 30]),
                sample("b", &[-1, -10]),
                sample("a", &[2, 20]),
                sample("c", &[]),
            ],
        );
        let mut gather = Gather::new(0);
        let (samples, cpu_ns) = gather.cpu(4, &of_cpu).unwrap();
        let expected = CpuSamples {
            slice: 4,
            stack: 0,
            count: 5,
        };
        assert_eq!((samples, cpu_ns), (vec![expected], 50));
        assert!(
            gather
                .cpu(0, &profile(&[WAITS, DELAY], Vec::new()))
                .is_none()
        );
    }
}
