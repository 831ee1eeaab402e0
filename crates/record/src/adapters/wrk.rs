//! wrk and wrk2: the summary on stdout, with the latency distribution of `--latency`.

use slowpath_core::figures::{Better, Unit};

use super::quantity::{bytes, duration_ns, percentile, split};
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "wrk",
    about: "wrk and wrk2: what they print (with --latency the percentiles too)",
    detects: |head| head.contains("Thread Stats   Avg") && head.contains("Latency"),
    reads: read,
};

/// What makes wrk print its percentiles.
const REMEDY: &str = "give the whole of what wrk prints, best with --latency";

/// What is gathered of one report.
#[derive(Default)]
struct Report {
    url: String,
    latency: Vec<(String, f64)>,
    requests: Option<u64>,
    failed: u64,
    rate_per_s: Option<f64>,
    bytes_per_s: Option<f64>,
    corrected: bool,
    harness: Vec<(&'static str, String)>,
    failures: Vec<String>,
    errors: Vec<AdapterError>,
}

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let text = source.text();
    let mut report = Report::default();
    for (at, line) in text.lines().enumerate() {
        report.line(source, at + 1, line.trim());
    }
    if report.rate_per_s.is_none() {
        let what = "no line `Requests/sec:`, so no finished report of wrk".to_owned();
        report.errors.push(source.wrong(None, what, REMEDY));
    }
    if report.errors.is_empty() {
        Ok(report.harvest())
    } else {
        Err(report.errors)
    }
}

impl Report {
    fn line(&mut self, source: Source<'_>, number: usize, line: &str) {
        if let Some((_, url)) = line.split_once(" test @ ") {
            url.clone_into(&mut self.url);
            let length = line.trim_start_matches("Running ");
            let length = length.split(' ').next().unwrap_or_default();
            self.harness.push(("duration", length.to_owned()));
        } else if line.contains(" threads and ") {
            self.harness.push(("load", line.to_owned()));
        } else if let Some(rest) = line.strip_prefix("Latency Distribution") {
            self.corrected |= rest.contains("Recorded Latency");
        } else if let Some(rest) = line.strip_prefix("Latency ") {
            self.thread_latency(source, number, rest);
        } else if let Some(rest) = line.strip_prefix("Requests/sec:") {
            self.rate_per_s = self.number(source, number, rest, |t| t.parse().ok());
        } else if let Some(rest) = line.strip_prefix("Transfer/sec:") {
            self.bytes_per_s = self.number(source, number, rest, bytes);
        } else if let Some((count, _)) = line.split_once(" requests in ") {
            self.requests = self.number(source, number, count, |t| t.parse().ok());
        } else if let Some(rest) = line.strip_prefix("Non-2xx or 3xx responses:") {
            self.failed += self
                .number(source, number, rest, |t| t.parse::<u64>().ok())
                .unwrap_or(0);
            self.failures.push(line.to_owned());
        } else if let Some(rest) = line.strip_prefix("Socket errors:") {
            self.socket_errors(rest);
            self.failures.push(line.to_owned());
        } else {
            self.percentile(line);
        }
    }

    /// `635.91us 0.89ms 12.92ms 93.69%`: mean, standard deviation, maximum, share within.
    fn thread_latency(&mut self, source: Source<'_>, number: usize, rest: &str) {
        let mut words = rest.split_whitespace();
        for metric in ["mean", "sd", "max"] {
            let word = words.next().unwrap_or_default();
            let known = self.number(source, number, word, duration_ns);
            if let (Some(ns), true) = (known, metric != "sd") {
                self.latency.push((metric.to_owned(), ns));
            }
        }
    }

    /// `connect 0, read 3, write 0, timeout 5`.
    fn socket_errors(&mut self, rest: &str) {
        let counts = rest
            .split(',')
            .filter_map(|part| part.split(' ').next_back());
        let counts = counts.filter_map(|count| count.parse::<u64>().ok());
        self.failed = counts.fold(self.failed, u64::saturating_add);
    }

    /// `99%    3.12ms` of the distribution; a line of wrk2's spectrum begins with the value.
    fn percentile(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let (Some(share), Some(value), None) = (words.next(), words.next(), words.next()) else {
            return;
        };
        if let (Some((percent, "%")), Some(ns)) = (split(share), duration_ns(value)) {
            let name = if percent >= 100.0 {
                "max".to_owned()
            } else {
                percentile(percent)
            };
            if !self.latency.iter().any(|(known, _)| *known == name) {
                self.latency.push((name, ns));
            }
        }
    }

    fn number<T>(
        &mut self,
        source: Source<'_>,
        line: usize,
        text: &str,
        reads: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let value = reads(text.trim());
        if value.is_none() {
            let what = format!("{:?} is no figure of wrk", text.trim());
            self.errors.push(source.wrong(Some(line), what, REMEDY));
        }
        value
    }

    fn harvest(self) -> Harvest {
        let subject = super::path_of(&self.url);
        let mut harvest = Harvest::default();
        let n = self.requests.unwrap_or(0);
        for (metric, ns) in self.latency {
            harvest.add(Take::one(&subject, &metric, Unit::Ns, ns).observed(n));
        }
        if let Some(rate) = self.rate_per_s {
            harvest.add(Take::one(&subject, "rate", Unit::PerSecond, rate).observed(n));
        }
        if let Some(rate) = self.bytes_per_s {
            let take = Take::one(&subject, "bytes/s", Unit::Count, rate);
            harvest.add(take.improving(Better::Higher));
        }
        if n > 0 {
            let share = self.failed as f64 / n as f64;
            harvest.add(Take::one(&subject, "errors", Unit::Share, share.min(1.0)).observed(n));
        }
        let conditions = &mut harvest.conditions;
        for (name, text) in self.harness {
            conditions.harness.insert(name.to_owned(), text);
        }
        conditions.config.insert("url".to_owned(), self.url);
        if self.corrected {
            let start = "at the scheduled instant (wrk2)".to_owned();
            let harness = &mut harvest.conditions.harness;
            harness.insert("latency starts".to_owned(), start);
        } else {
            super::from_sent(&mut harvest, "wrk", "");
        }
        harvest.failures = self.failures;
        harvest
    }
}
