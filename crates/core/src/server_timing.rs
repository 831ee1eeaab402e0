//! What the target says itself of how long its parts took: the header `Server-Timing` of its
//! answers (W3C Server Timing, Working Draft of 2023).
//!
//! It comes from outside: any bytes may stand in it, and what it says is the target's word.

use serde::{Deserialize, Serialize};

/// Metrics that are distinguished in a run; pages that are traced closely have some ten.
pub const MOST_METRICS: usize = 64;
/// The longest name of a metric that is kept.
pub const MOST_NAME_BYTES: usize = 64;
/// A longer duration is a mistake of the target: a hundred days, in milliseconds.
const LONGEST_MS: f64 = 100.0 * 86_400_000.0;

/// What targets said of requests in a run. Positions in [`TimingValue`] point into `metrics`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTimings {
    /// What the target calls its parts.
    pub metrics: Vec<String>,
    /// The durations, by repeat and request.
    pub values: Vec<TimingValue>,
}

/// How long one part took for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimingValue {
    /// The repeat of its request.
    pub repeat: u16,
    /// The serial number of its request.
    pub serial: u32,
    /// Position of its name in [`ServerTimings::metrics`].
    pub metric: u16,
    /// How long it took, as the target says.
    pub duration_ns: u64,
}

/// What became of the header in one repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingFacts {
    /// Measured answers that had it with a duration.
    pub answers: u64,
    /// Of so many requests, drawn by their numbers, one is kept: 1 unless there was no room for all.
    pub one_in: u32,
    /// Durations left out since their metrics are too many, or have too long a name.
    pub left_out: u64,
}

impl ServerTimings {
    /// What was said of one request, in order of metrics.
    pub fn of_request(&self, repeat: u16, serial: u32) -> &[TimingValue] {
        let of = |value: &TimingValue| (value.repeat, value.serial);
        let begin = self.values.partition_point(|v| of(v) < (repeat, serial));
        let rest = &self.values[begin..];
        &rest[..rest.partition_point(|v| of(v) == (repeat, serial))]
    }

    /// The position of a metric, which is added if it is not known; `None` if there is no room.
    pub fn metric(&mut self, name: &str) -> Option<u16> {
        let place = match self.metrics.iter().position(|known| known == name) {
            Some(place) => place,
            None if self.metrics.len() < MOST_METRICS && name.len() <= MOST_NAME_BYTES => {
                self.metrics.push(name.to_owned());
                self.metrics.len() - 1
            }
            None => return None,
        };
        u16::try_from(place).ok()
    }

    /// Adds what others noted; their positions are made ours. Gives how many durations there was no
    /// metric for.
    pub fn append(&mut self, other: &Self) -> u64 {
        let names = other.metrics.iter();
        let places: Vec<Option<u16>> = names.map(|name| self.metric(name)).collect();
        let mut left_out = 0;
        for value in &other.values {
            match places.get(usize::from(value.metric)).copied().flatten() {
                Some(metric) => self.values.push(TimingValue { metric, ..*value }),
                None => left_out += 1,
            }
        }
        self.values.sort_unstable();
        left_out
    }

    /// What was said in some repeats, with the numbers that `of` gives these.
    #[must_use]
    pub fn renumbered(&self, of: impl Fn(u16) -> Option<u16>) -> Self {
        let values = self.values.iter().filter_map(|value| {
            let repeat = of(value.repeat)?;
            Some(TimingValue { repeat, ..*value })
        });
        let mut own = Self {
            metrics: self.metrics.clone(),
            values: values.collect(),
        };
        own.values.sort_unstable();
        own
    }
}

/// Gives the name and the duration of each metric in the value of a header that has one; several
/// headers may be joined by commas. What cannot be understood is passed over up to the next comma,
/// as browsers do.
pub fn each_duration(value: &[u8], mut take: impl FnMut(&str, u64)) {
    let mut rest = Scanner(value);
    while !rest.0.is_empty() {
        rest.skip_blank();
        let name = rest.token();
        let mut duration_ns = None;
        let mut is_told = false;
        rest.until(b";,");
        while rest.take(b';') {
            rest.skip_blank();
            let parameter = rest.token();
            rest.skip_blank();
            let own = if rest.take(b'=') { rest.value() } else { &[] };
            // The first of several counts, whatever it says.
            if parameter.eq_ignore_ascii_case(b"dur") && !is_told {
                is_told = true;
                duration_ns = nanos(own);
            }
            rest.until(b";,");
        }
        rest.take(b',');
        // A token is ASCII.
        let name = str::from_utf8(name).ok().filter(|name| !name.is_empty());
        if let (Some(name), Some(duration_ns)) = (name, duration_ns) {
            take(name, duration_ns);
        }
    }
}

/// Milliseconds in decimals as nanoseconds.
fn nanos(ms: &[u8]) -> Option<u64> {
    let ms: f64 = str::from_utf8(ms).ok()?.trim().parse().ok()?;
    (0.0..=LONGEST_MS)
        .contains(&ms)
        .then(|| (ms * 1e6).round() as u64)
}

/// What is left of a header's value.
struct Scanner<'a>(&'a [u8]);

impl<'a> Scanner<'a> {
    fn skip_blank(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    fn take(&mut self, byte: u8) -> bool {
        let has = self.0.first() == Some(&byte);
        if has {
            self.0 = &self.0[1..];
        }
        has
    }

    /// A token (RFC 9110, section 5.6.2), which may be empty.
    fn token(&mut self) -> &'a [u8] {
        let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
        let end = self.0.iter().position(|byte| !is_in(byte));
        let (token, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        token
    }

    /// The value of a parameter: a quoted string without its quotes, or what stands before the next
    /// semicolon or comma.
    fn value(&mut self) -> &'a [u8] {
        self.skip_blank();
        if self.0.first() == Some(&b'"') {
            let inner = &self.quoted()[1..];
            return inner.strip_suffix(b"\"").unwrap_or(inner);
        }
        let end = self.0.iter().position(|byte| b";,".contains(byte));
        let (value, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        value
    }

    /// A quoted string with its quotes (RFC 9110, section 5.6.4); one without an end goes on to the
    /// end of all.
    fn quoted(&mut self) -> &'a [u8] {
        let mut escaped = false;
        let end = self.0.iter().skip(1).position(|&byte| {
            let is_end = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            is_end
        });
        let (quoted, rest) = self.0.split_at(end.map_or(self.0.len(), |end| end + 2));
        self.0 = rest;
        quoted
    }

    /// Goes on to the next of these bytes that stands in no quoted string.
    fn until(&mut self, ends: &[u8]) {
        while let Some(&byte) = self.0.first().filter(|byte| !ends.contains(byte)) {
            if byte == b'"' {
                self.quoted();
            } else {
                self.0 = &self.0[1..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(value: &str) -> Vec<(String, u64)> {
        let mut all = Vec::new();
        each_duration(value.as_bytes(), |name, ns| all.push((name.to_owned(), ns)));
        all
    }

    fn is(value: &str, expected: &[(&str, u64)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(n, ns)| ((*n).to_owned(), *ns))
            .collect();
        assert_eq!(read(value), expected, "{value}");
    }

    #[test]
    fn durations_are_read_as_the_specification_shows() {
        is(
            "miss, db;dur=53, app;dur=47.2",
            &[("db", 53_000_000), ("app", 47_200_000)],
        );
        is("customView, dc;desc=\"atl\"", &[]);
        is(
            "cache;desc=\"Cache, Read; x\";dur=23.2",
            &[("cache", 23_200_000)],
        );
        is("total ; DUR = \"1.5\" ;desc=x,,", &[("total", 1_500_000)]);
    }

    #[test]
    fn what_is_no_duration_is_none() {
        is(
            "db;dur=, a;dur=x, b;dur=-1, c;dur=inf, d;dur=NaN, e;dur=1e300",
            &[],
        );
        is("db;dur=1;dur=2", &[("db", 1_000_000)]);
        is("db;dur=x;dur=2", &[]);
        is(
            ";dur=3, =, \"a;dur=1\", db dur=2, db;dur=\"4",
            &[("db", 4_000_000)],
        );
    }

    #[test]
    fn requests_have_their_own_and_metrics_a_bound() {
        let mut all = ServerTimings::default();
        let metric = all.metric("db").unwrap();
        let value = |serial| TimingValue {
            repeat: 0,
            serial,
            metric,
            duration_ns: u64::from(serial),
        };
        all.values = vec![value(1), value(3)];
        let other = ServerTimings {
            metrics: vec!["app".to_owned(), "db".to_owned()],
            values: vec![
                value(2),
                TimingValue {
                    metric: 1,
                    ..value(2)
                },
            ],
        };
        assert_eq!(all.append(&other), 0);
        let own = all.of_request(0, 2);
        let names: Vec<_> = own
            .iter()
            .map(|v| &*all.metrics[usize::from(v.metric)])
            .collect();
        assert_eq!(names, ["db", "app"]);
        assert!(all.of_request(1, 2).is_empty());
        assert_eq!(
            all.renumbered(|_| Some(4)).of_request(4, 3),
            [TimingValue {
                repeat: 4,
                ..value(3)
            }]
        );
        for number in all.metrics.len()..MOST_METRICS {
            assert!(all.metric(&number.to_string()).is_some());
        }
        assert_eq!(all.metric("one more"), None);
        assert_eq!(all.metric("db"), Some(0));
        assert_eq!(ServerTimings::default().metric(&"x".repeat(65)), None);
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(value in prop::collection::vec(any::<u8>(), 0..80)) {
            each_duration(&value, |name, _| assert!(!name.is_empty()));
        }

        #[test]
        fn what_is_written_is_read(
            metrics in prop::collection::vec(
                ("[a-zA-Z0-9_.-]{1,12}", 0_u64..100_000_000_000, "[a-z ,;=\\\\]{0,8}"),
                0..6,
            ),
        ) {
            let one = |(name, us, text): &(String, u64, String)| {
                let text = text.replace('\\', "\\\\");
                format!("{name};desc=\"{text}\";dur={}.{:03}", us / 1000, us % 1000)
            };
            let written: Vec<String> = metrics.iter().map(one).collect();
            let expected: Vec<_> = metrics.iter().map(|(n, us, _)| (n.clone(), us * 1000)).collect();
            prop_assert_eq!(read(&written.join(" , ")), expected);
        }
    }
}
