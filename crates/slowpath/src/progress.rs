//! What is shown while a load runs: one line on a terminal, nothing in a pipe.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Result;
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use slowpath_core::Nanos;
use slowpath_core::sample::{Sample, StreamEvent};
use slowpath_diagnose::verdict::{human, plural};
use slowpath_load::{Control, Sink};

use crate::precision::counts;

/// Digits of a latency that count here: 1 % is what a glance takes in. What is added and read takes some 10 µs, during which the loop that
/// sends requests may wait for the other.
const DIGITS: u8 = 2;
/// Of the samples that are handed over at a time about so many are counted, evenly spread: the loop that sends requests does it.
const COUNTED_MOST: usize = 1_000;
/// Of fewer requests no p99 is shown: it would be their maximum.
const P99_LEAST: u64 = 100;
/// Ten times a second looks continuous, and costs nothing.
const EVERY: Duration = Duration::from_millis(100);

/// Shows one load until it is dropped.
#[derive(Debug)]
pub(crate) struct LiveLine {
    drawn: Option<Drawn>,
}

/// A line that is drawn by a thread of its own.
#[derive(Debug)]
struct Drawn {
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

/// What the line is made of.
#[derive(Debug)]
struct Seen {
    control: Arc<Control>,
    /// The latencies of the measured window so far, of all endpoints.
    latencies: Mutex<Histogram<u64>>,
    over: AtomicBool,
}

impl LiveLine {
    /// Shows a load that is expected to take `length`; nothing if `quiet` or not on a terminal.
    pub(crate) fn follow(
        control: &Arc<Control>,
        title: String,
        length: Duration,
        quiet: bool,
    ) -> Result<Self> {
        if quiet || !std::io::stderr().is_terminal() {
            return Ok(Self { drawn: None });
        }
        let seen = Arc::new(Seen {
            control: Arc::clone(control),
            latencies: Mutex::new(Histogram::new(DIGITS)?),
            over: AtomicBool::new(false),
        });
        let shown = Arc::clone(&seen);
        let thread = std::thread::spawn(move || draw(&shown, title, length));
        let thread = Some(thread);
        Ok(Self {
            drawn: Some(Drawn { seen, thread }),
        })
    }

    /// Passes samples on to `sink`, and counts their latencies.
    pub(crate) const fn beside<'a, S: Sink>(&'a self, sink: &'a S) -> Counted<'a, S> {
        Counted { line: self, sink }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        let Some(drawn) = &mut self.drawn else {
            return;
        };
        drawn.seen.over.store(true, Ordering::Relaxed);
        if let Some(thread) = drawn.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A sink whose latencies are shown.
#[derive(Debug)]
pub(crate) struct Counted<'a, S> {
    line: &'a LiveLine,
    sink: &'a S,
}

impl<S: Sink> Sink for Counted<'_, S> {
    fn samples(&self, samples: &[Sample]) {
        self.sink.samples(samples);
        if let Some(drawn) = &self.line.drawn {
            drawn.seen.add(samples);
        }
    }

    fn stream_events(&self, events: &[StreamEvent]) {
        self.sink.stream_events(events);
    }
}

impl Seen {
    fn add(&self, samples: &[Sample]) {
        let begin_ns = &self.control.progress.window_begin_ns;
        let begin = Nanos::new(begin_ns.load(Ordering::Relaxed));
        let every = samples.len().div_ceil(COUNTED_MOST).max(1);
        let some = samples.iter().step_by(every);
        let mut latencies = self.latencies();
        for sample in some.filter(|sample| counts(sample, begin)) {
            // It resizes itself and takes every value.
            let _ = latencies.record(sample.latency_ns());
        }
    }

    fn latencies(&self) -> MutexGuard<'_, Histogram<u64>> {
        self.latencies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn figures(&self) -> Figures {
        let progress = &self.control.progress;
        let [offered, done, errors] = [&progress.offered, &progress.done, &progress.errors]
            .map(|n| n.load(Ordering::Relaxed));
        let latencies = self.latencies();
        let percentile = |q: f64| human(latencies.value_at_quantile(q) as f64);
        let answered = latencies.len();
        Figures {
            done,
            errors,
            in_flight: offered.saturating_sub(done),
            is_measured: progress.in_window.load(Ordering::Relaxed),
            p50: (answered > 0).then(|| percentile(0.5)),
            p99: (answered >= P99_LEAST).then(|| percentile(0.99)),
        }
    }
}

/// What is shown of a load, at one instant.
#[derive(Debug)]
struct Figures {
    /// Requests that ended, of the warm-up too.
    done: u64,
    errors: u64,
    in_flight: u64,
    /// Whether the warm-up is over.
    is_measured: bool,
    /// Of the measured requests that were answered so far.
    p50: Option<String>,
    p99: Option<String>,
}

impl Figures {
    /// The most important ones first, since a narrow terminal cuts the end off; `rate_per_s` is not known during the warm-up.
    fn text(&self, left: Duration, rate_per_s: Option<f64>) -> String {
        let mut parts = vec![format!("{:.0} s left", left.as_secs_f64().ceil())];
        parts.push(rate_per_s.map_or_else(|| "warm-up".to_owned(), |rate| format!("{rate:.0}/s")));
        parts.extend(self.p50.as_ref().map(|p50| format!("p50 {p50}")));
        parts.extend(self.p99.as_ref().map(|p99| format!("p99 {p99}")));
        parts.push(plural(self.errors, "error"));
        parts.push(format!("{} in flight", self.in_flight));
        parts.join("  ")
    }
}

fn draw(seen: &Seen, title: String, length: Duration) {
    let style = ProgressStyle::with_template("{prefix} [{bar:16}] {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    let bar = ProgressBar::new(length.as_millis() as u64).with_style(style);
    bar.set_prefix(title);
    let began = Instant::now();
    // When the warm-up was over, and how many requests had ended then.
    let mut since: Option<(Instant, u64)> = None;
    while !seen.over.load(Ordering::Relaxed) {
        let (now, figures) = (Instant::now(), seen.figures());
        if figures.is_measured {
            since.get_or_insert((now, figures.done));
        }
        let rate_per_s = since.and_then(|(from, before)| {
            let seconds = now.duration_since(from).as_secs_f64();
            (seconds > 0.0).then(|| (figures.done - before) as f64 / seconds)
        });
        let elapsed = now.duration_since(began);
        bar.set_position(elapsed.as_millis() as u64);
        bar.set_message(figures.text(length.saturating_sub(elapsed), rate_per_s));
        std::thread::sleep(EVERY);
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_time_left_first_and_no_percentile_of_few() {
        let warming = Figures {
            done: 30,
            errors: 0,
            in_flight: 4,
            is_measured: false,
            p50: None,
            p99: None,
        };
        let left = Duration::from_millis(8_200);
        assert_eq!(
            warming.text(left, None),
            "9 s left  warm-up  0 errors  4 in flight"
        );
        let measuring = Figures {
            errors: 1,
            is_measured: true,
            p50: Some("2.00 ms".to_owned()),
            p99: Some("41.0 ms".to_owned()),
            ..warming
        };
        assert_eq!(
            measuring.text(left, Some(90.2)),
            "9 s left  90/s  p50 2.00 ms  p99 41.0 ms  1 error  4 in flight"
        );
    }
}
