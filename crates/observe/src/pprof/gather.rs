//! Profiles made into one record: each place and each stack stands in it once.

use std::collections::BTreeMap;

use slowpath_core::nanos::Span;
use slowpath_core::profile_pass::{CpuSamples, Waited};
use slowpath_core::profiles::{CodeLine, Dump, Profiles, Release, Standing};

use super::dump::Group;
use super::kinds::{Kind, kind};
use super::profile::Profile;

/// Stacks that a repeat keeps at most: a target that has more makes code as it runs.
const MOST_STACKS: usize = 1 << 16;
/// Entries of all dumps that a repeat keeps at most: ten megabytes as text.
const MOST_STANDING: usize = 1_000_000;

/// Places that a repeat keeps at most: as many as one profile may have.
const MOST_LINES: usize = 1 << 18;

pub(crate) struct Gather {
    repeat: u16,
    all: Profiles,
    lines: BTreeMap<CodeLine, u32>,
    stacks: BTreeMap<Vec<u32>, u32>,
    standing: usize,
}

impl Gather {
    pub(crate) fn new(repeat: u16) -> Self {
        Self {
            repeat,
            all: Profiles::default(),
            lines: BTreeMap::new(),
            stacks: BTreeMap::new(),
            standing: 0,
        }
    }

    /// Adds a dump; false if there is no room for it.
    pub(crate) fn dump(&mut self, span: Span, dump: &[Group]) -> bool {
        if self.standing + dump.len() > MOST_STANDING {
            return false;
        }
        let mut standing: BTreeMap<u32, u32> = BTreeMap::new();
        for group in dump {
            let Some(stack) = self.stack_of(group.stack.iter().cloned()) else {
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
    pub(crate) fn releases(&mut self, before: &Profile, after: &Profile) {
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
    pub(crate) fn waited(&mut self, before: &Profile, after: &Profile) -> Vec<Waited> {
        let mut counted: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
        for (profile, sign) in [(before, -1), (after, 1)] {
            let Ok(Kind::Waits(places)) = kind(profile) else {
                return Vec::new();
            };
            let Some(stacks) = self.stacks(profile) else {
                return Vec::new();
            };
            for (sample, stack) in profile.samples.iter().zip(stacks) {
                let sum = counted.entry(stack).or_default();
                let add = |sum: i64, of: i64| sum.saturating_add(of.saturating_mul(sign));
                sum.0 = add(sum.0, places.count(sample));
                sum.1 = add(sum.1, places.time_ns(sample));
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

    /// Samples of the CPU time by stack, and the CPU time that they represent.
    ///
    /// # Errors
    /// When the profile is another one, or there is no room for its stacks, as a fragment.
    pub(crate) fn cpu(
        &mut self,
        slice: u16,
        profile: &Profile,
    ) -> Result<(Vec<CpuSamples>, u64), String> {
        let Kind::Cpu(places) = kind(profile)? else {
            return Err("another profile than that of the CPU".to_owned());
        };
        let stacks = self
            .stacks(profile)
            .ok_or("there is no room for its stacks")?;
        let (mut counted, mut cpu_ns) = (BTreeMap::<u32, u64>::new(), 0_u64);
        for (sample, stack) in profile.samples.iter().zip(stacks) {
            let count = u64::try_from(places.count(sample)).unwrap_or(0);
            if count == 0 {
                continue;
            }
            let sum = counted.entry(stack).or_default();
            *sum = sum.saturating_add(count);
            cpu_ns = cpu_ns.saturating_add(u64::try_from(places.time_ns(sample)).unwrap_or(0));
        }
        Ok((samples(slice, counted), cpu_ns))
    }

    pub(crate) fn done(self) -> Profiles {
        self.all
    }

    /// Why there is no room.
    pub(crate) fn no_room() -> String {
        format!(
            "it has more than {MOST_STACKS} stacks, or {MOST_LINES} places: take it for less long"
        )
    }

    /// The position of a stack, innermost first; `None` if there is no room.
    pub(crate) fn stack_of(&mut self, lines: impl Iterator<Item = CodeLine>) -> Option<u32> {
        let places: Option<Vec<u32>> = lines.map(|line| self.line(&line)).collect();
        self.stack(places?)
    }

    /// The positions of a profile's stacks, one for each of its samples; `None` if there is no room.
    fn stacks(&mut self, profile: &Profile) -> Option<Vec<u32>> {
        let lines = profile.lines.iter();
        let lines: Option<Vec<u32>> = lines.map(|line| self.line(line)).collect();
        let lines = lines?;
        let samples = profile.samples.iter();
        let stacks = samples.map(|sample| {
            let known = sample.stack.iter();
            let known = known.filter_map(|&line| lines.get(line as usize).copied());
            self.stack(known.collect())
        });
        stacks.collect()
    }

    /// The position of a place; `None` if there is no room for another.
    fn line(&mut self, line: &CodeLine) -> Option<u32> {
        if let Some(&place) = self.lines.get(line) {
            return Some(place);
        }
        let place = self.all.lines.len();
        if place >= MOST_LINES {
            return None;
        }
        self.lines.insert(line.clone(), place as u32);
        self.all.lines.push(line.clone());
        Some(place as u32)
    }

    /// The position of a stack; `None` if there is no room for another.
    fn stack(&mut self, places: Vec<u32>) -> Option<u32> {
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

/// What was counted by stack, as samples of a slice.
pub(crate) fn samples(slice: u16, counted: BTreeMap<u32, u64>) -> Vec<CpuSamples> {
    let counted = counted.into_iter().filter(|(_, count)| *count > 0);
    let samples = counted.map(|(stack, count)| CpuSamples {
        slice,
        stack,
        count,
    });
    samples.collect()
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;

    use super::super::profile::Sample;
    use super::*;

    fn stack(function: &str) -> Vec<CodeLine> {
        vec![CodeLine {
            function: function.to_owned(),
            file: String::new(),
            line: 1,
        }]
    }

    const WAITS: [&str; 2] = ["contentions/count", "delay/nanoseconds"];
    const CPU: [&str; 2] = ["samples/count", "cpu/nanoseconds"];

    fn profile(values: [&str; 2], samples: &[(&str, &[i64])]) -> Profile {
        let lines = samples.iter().flat_map(|(function, _)| stack(function));
        let samples = (0..).zip(samples).map(|(line, (_, values))| Sample {
            stack: vec![line],
            values: values.to_vec(),
        });
        Profile {
            lines: lines.collect(),
            values: values.map(str::to_owned).to_vec(),
            samples: samples.collect(),
            ..Profile::default()
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
        let before = profile(WAITS, &[("a", &[4, 100]), ("b", &[1, 10])]);
        let after = [("a", &[7, 160][..]), ("b", &[1, 10]), ("c", &[2, 5])];
        let after = profile(WAITS, &after);
        let mut gather = Gather::new(0);
        gather.releases(&before, &after);
        let all = gather.done();
        let told = all.releases.iter();
        let told: Vec<_> = told.map(|r| (r.stack, r.count, r.delay_ns)).collect();
        assert_eq!(told, [(0, 3, 60), (2, 2, 5)]);
    }

    #[test]
    fn samples_are_counted_by_stack_and_nothing_else_is_a_cpu_profile() {
        let of_cpu = [
            ("a", &[3, 30][..]),
            ("b", &[-1, -10]),
            ("a", &[2, 20]),
            ("c", &[]),
        ];
        let of_cpu = profile(CPU, &of_cpu);
        let mut gather = Gather::new(0);
        let (samples, cpu_ns) = gather.cpu(4, &of_cpu).unwrap();
        let expected = CpuSamples {
            slice: 4,
            stack: 0,
            count: 5,
        };
        assert_eq!((samples, cpu_ns), (vec![expected], 50));
        gather.cpu(0, &profile(WAITS, &[])).unwrap_err();
        let huge = profile(CPU, &[("a", &[i64::MAX, i64::MAX][..]); 3]);
        let (samples, cpu_ns) = gather.cpu(0, &huge).unwrap();
        assert_eq!((samples[0].count, cpu_ns), (u64::MAX, u64::MAX));
    }
}
