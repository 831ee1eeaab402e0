//! What a profile is of, by what its values are called.

use super::profile::{Profile, Sample};

/// Go's profiles of waits, and the two kinds of them.
const WAITS: &str = "contentions/count";
const DELAY: &str = "delay";
/// How samples of the CPU time are counted: by Go and by most others, by one alone.
const SAMPLES: [&str; 2] = ["samples/count", "sample/count"];
const CPU: &str = "cpu";
/// Units of time, with the nanoseconds of one.
const UNITS: [(&str, u64); 4] = [
    ("nanoseconds", 1),
    ("microseconds", 1_000),
    ("milliseconds", 1_000_000),
    ("seconds", 1_000_000_000),
];
/// How names of values begin that measure memory.
const MEMORY: [&str; 4] = ["alloc_", "inuse_", "objects/", "space/"];

/// What a profile counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Samples of the CPU time.
    Cpu(Places),
    /// Waits, for locks or for others.
    Waits(Places),
}

/// Where the values stand in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// How many; `None` if it follows from how long.
    count: Option<usize>,
    /// How long, and the nanoseconds of a unit; `None` if it does not say.
    time: Option<(usize, u64)>,
    /// Nanoseconds of one sample where they are not counted.
    each_ns: u64,
}

impl Places {
    /// How many a sample represents; less than 0 where one profile was subtracted from another.
    pub(crate) fn count(self, sample: &Sample) -> i64 {
        self.count.map_or_else(
            || self.time_ns(sample) / i64::try_from(self.each_ns.max(1)).unwrap_or(i64::MAX),
            |place| value(sample, place),
        )
    }

    /// How long, in nanoseconds.
    pub(crate) fn time_ns(self, sample: &Sample) -> i64 {
        self.time.map_or(0, |(place, unit_ns)| {
            value(sample, place).saturating_mul(unit_ns as i64)
        })
    }
}

fn value(sample: &Sample, place: usize) -> i64 {
    sample.values.get(place).map_or(0, |value| *value)
}

/// The place of the time of this name, and the nanoseconds of its unit.
fn time(profile: &Profile, name: &str) -> Option<(usize, u64)> {
    let mut values = profile.values.iter().enumerate();
    values.find_map(|(place, value)| Some((place, unit_ns(value, name)?)))
}

fn unit_ns(value: &str, name: &str) -> Option<u64> {
    let unit = value.strip_prefix(name)?.strip_prefix('/')?;
    let unit = UNITS.iter().find(|(known, _)| *known == unit)?;
    Some(unit.1)
}

/// What a profile is of.
///
/// # Errors
/// When it is of something that is not read, with what that is, as a fragment.
pub fn kind(profile: &Profile) -> Result<Kind, String> {
    if let (Some(count), Some(delay)) = (profile.place_of(WAITS), time(profile, DELAY)) {
        return Ok(Kind::Waits(Places {
            count: Some(count),
            time: Some(delay),
            each_ns: 0,
        }));
    }
    let count = SAMPLES.iter().find_map(|name| profile.place_of(name));
    let cpu = time(profile, CPU);
    let (of_period, period) = (&profile.period.0, profile.period.1);
    let each_ns = unit_ns(of_period, CPU)
        .zip(u64::try_from(period).ok().filter(|period| *period > 0))
        .map(|(unit_ns, period)| unit_ns.saturating_mul(period));
    let places = |each_ns| Places {
        count,
        time: cpu,
        each_ns,
    };
    match (count, cpu, each_ns) {
        (Some(_), Some(_), _) | (Some(_), None, Some(_)) => Ok(Kind::Cpu(places(0))),
        (None, Some(_), Some(each_ns)) => Ok(Kind::Cpu(places(each_ns))),
        (None, Some(_), None) => Err(
            "a profile of the CPU time that neither counts its samples nor says what one \
                 stands for"
                .to_owned(),
        ),
        _ => Err(format!(
            "a profile of {} ({}), which says nothing of the time that requests take",
            other(profile),
            profile.values.join(", ")
        )),
    }
}

/// What a profile is of that is not read.
fn other(profile: &Profile) -> &'static str {
    let begins = |names: &[&str]| {
        let values = &profile.values;
        values
            .iter()
            .any(|v| names.iter().any(|n| v.starts_with(n)))
    };
    if begins(&MEMORY) {
        "memory"
    } else if begins(&["goroutine", "threadcreate"]) {
        "how many there are"
    } else if begins(&["wall"]) {
        "time by the clock on the wall, with and without a CPU"
    } else {
        "something else"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str], period: (&str, i64)) -> Profile {
        Profile {
            values: values.iter().map(|v| (*v).to_owned()).collect(),
            period: (period.0.to_owned(), period.1),
            ..Profile::default()
        }
    }

    fn counted(profile: &Profile, values: &[i64]) -> (i64, i64) {
        let sample = Sample {
            stack: Vec::new(),
            values: values.to_vec(),
        };
        match kind(profile).unwrap() {
            Kind::Cpu(places) | Kind::Waits(places) => {
                (places.count(&sample), places.time_ns(&sample))
            }
        }
    }

    #[test]
    fn profiles_of_the_cpu_time_are_those_of_several_writers() {
        let go = of(
            &["samples/count", "cpu/nanoseconds"],
            ("cpu/nanoseconds", 10_000_000),
        );
        assert_eq!(counted(&go, &[3, 30_000_000]), (3, 30_000_000));
        let gperftools = of(&["samples/count", "cpu/microseconds"], ("", 0));
        assert_eq!(counted(&gperftools, &[3, 30_000]), (3, 30_000_000));
        let turned = of(&["cpu/nanoseconds", "sample/count"], ("", 0));
        assert_eq!(counted(&turned, &[30, 3]), (3, 30));
        let of_time = of(&["cpu/nanoseconds"], ("cpu/milliseconds", 10));
        assert_eq!(counted(&of_time, &[30_000_000]), (3, 30_000_000));
        let of_counts = of(&["samples/count"], ("cpu/nanoseconds", 10_000_000));
        assert_eq!(counted(&of_counts, &[3]), (3, 0));
        assert_eq!(counted(&go, &[]), (0, 0));
        let most = of(&["samples/count", "cpu/seconds"], ("", 0));
        assert_eq!(counted(&most, &[1, i64::MAX]), (1, i64::MAX));
        assert!(matches!(kind(&go), Ok(Kind::Cpu(_))));
        let waits = of(
            &["contentions/count", "delay/nanoseconds"],
            ("contentions/count", 1),
        );
        assert!(matches!(kind(&waits), Ok(Kind::Waits(_))));
    }

    #[test]
    fn what_is_not_read_is_named() {
        for (values, period, why) in [
            (
                &["alloc_objects/count", "inuse_space/bytes"][..],
                ("space/bytes", 1),
                "memory",
            ),
            (&["goroutine/count"], ("goroutine/count", 1), "how many"),
            (
                &["sample/count", "wall/microseconds"],
                ("wall/microseconds", 1),
                "on the wall",
            ),
            (
                &["cpu/nanoseconds"],
                ("cpu/nanoseconds", -1),
                "neither counts",
            ),
            (&["cpu/bogomips"], ("", 0), "something else"),
        ] {
            let said = kind(&of(values, period)).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
