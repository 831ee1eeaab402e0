//! A pass over variants: each is measured or judged again, its row is kept and printed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::files::{Suite, Variant};
use super::keep::{self, Kept, Row};
use super::measure::{self, Setting};
use super::outcome::Verdict;
use super::process::Running;
use super::recipe::{self, Places};
use super::tally::{headline, percent, tally};
use super::{EXIT_FAILED, EXIT_FALSE_NAME, EXIT_INTERRUPTED, page, say};
use crate::sys::Termination;

/// What is measured, with what, and where its rows go.
pub(super) struct Pass<'a> {
    pub(super) pairs: &'a [(&'a Suite, &'a Variant)],
    pub(super) lab: &'a Path,
    pub(super) root: &'a Path,
    pub(super) setting: &'a Setting,
    pub(super) kept: &'a Kept,
    /// Runs at a time.
    pub(super) jobs: u8,
    /// Whether the known rows are judged again; otherwise they stand, and the others are measured.
    pub(super) is_again: bool,
}

impl Pass<'_> {
    /// Measures or judges what is left, and prints it.
    pub(super) fn run(&self, known: &BTreeMap<String, Row>, json: Option<&Path>) -> io::Result<u8> {
        let is_left = |(suite, variant): &&(&Suite, &Variant)| {
            known.contains_key(&measure::id(suite, variant)) == self.is_again
        };
        let left: Vec<_> = self.pairs.iter().filter(is_left).collect();
        let one = |(suite, variant): &&(&Suite, &Variant)| match known
            .get(&measure::id(suite, variant))
        {
            Some(before) => measure::again(variant, self.setting, before),
            None => self.measure(suite, variant).map(Some),
        };
        watch(&self.setting.running)?;
        each(&left, self.jobs, &self.setting.running, one, |at, row| {
            self.kept.add(&row)?;
            print(at, left.len(), &row)
        })?;
        self.finish(json)
    }

    /// Sets every suite up and measures nothing; the exit code says whether all of them can be measured.
    pub(super) fn prepare(&self) -> io::Result<u8> {
        watch(&self.setting.running)?;
        let suites: BTreeMap<&Path, &Suite> = self
            .pairs
            .iter()
            .map(|(suite, _)| (suite.folder.as_path(), *suite))
            .collect();
        let mut code = 0;
        for suite in suites.values() {
            let name = format!("{}/{}", suite.group, suite.name);
            match recipe::set_up(suite, &self.places(suite), &self.setting.running) {
                Ok(()) => say(&format!("{name}: ready"))?,
                Err(why) => {
                    say(&format!("{name}: {why}"))?;
                    code = EXIT_FAILED;
                }
            }
        }
        Ok(code)
    }

    fn places(&self, suite: &Suite) -> Places {
        Places::of(suite, self.lab, self.root)
    }

    fn measure(&self, suite: &Suite, variant: &Variant) -> io::Result<Row> {
        let places = self.places(suite);
        match recipe::set_up(suite, &places, &self.setting.running) {
            Ok(()) => measure::measure(suite, variant, &places, self.setting),
            Err(why) => Ok(measure::skipped(suite, variant, self.setting, why)),
        }
    }

    /// Prints the summary, and writes all rows if that is asked for.
    fn finish(&self, json: Option<&Path>) -> io::Result<u8> {
        let all = self.kept.rows()?;
        let ids = self
            .pairs
            .iter()
            .map(|(suite, variant)| measure::id(suite, variant));
        let ids: Vec<String> = ids.collect();
        let rows: Vec<&Row> = ids.iter().filter_map(|id| all.get(id)).collect();
        let tier = self.setting.tier;
        summary(&ids, &rows, &format!("{}: {}", tier.name(), tier.meaning()))?;
        if self.setting.is_once {
            say(&format!("\n{}", headline(&rows, ids.len())))?;
        }
        if let Some(file) = json {
            fs::write(file, serde_json::to_string_pretty(&rows)?)?;
        }
        if self.setting.running.is_stopped() {
            say(&format!(
                "interrupted: {} of {} are measured and kept; --resume goes on",
                rows.len(),
                ids.len()
            ))?;
            return Ok(EXIT_INTERRUPTED);
        }
        Ok(code(&rows))
    }
}

/// The exit code of a pass that is complete.
pub(super) fn code(rows: &[&Row]) -> u8 {
    let is_false = rows.iter().any(|row| row.verdict == Verdict::FalseName);
    if is_false { EXIT_FALSE_NAME } else { 0 }
}

/// Prints the figures of each group.
pub(super) fn summary(ids: &[String], rows: &[&Row], meaning: &str) -> io::Result<()> {
    for name in ["lab", "cases", "first-look"] {
        let variants = ids.iter().filter(|id| keep::group(id) == name).count();
        let rows = rows.iter().copied().filter(|row| row.group() == name);
        let rows: Vec<&Row> = rows.collect();
        if rows.is_empty() {
            continue;
        }
        say(&format!("\n{name}, {meaning}"))?;
        for (what, figure) in tally(&rows, variants).lines() {
            say(&format!("  {what:45}{figure}"))?;
        }
    }
    Ok(())
}

/// Watches for the signal with which the user interrupts.
pub(super) fn watch(running: &Arc<Running>) -> io::Result<()> {
    let termination = Termination::block()?;
    let running = Arc::clone(running);
    // Ends with the process: nothing waits for it.
    let watcher = thread::Builder::new().name("watch".to_owned());
    watcher.spawn(move || running.watch(&termination))?;
    Ok(())
}

/// Prints the row of an item of so many.
pub(super) fn print(at: usize, all: usize, row: &Row) -> io::Result<()> {
    say(&format!("[{:>3}/{all}] {}", at + 1, line(row)))
}

/// Does something for each item, so many at a time, until the user interrupts; `keep` takes each row
/// as it comes, with the place of its item. No row: the recorded run is gone.
pub(super) fn each<T: Sync>(
    all: &[T],
    jobs: u8,
    running: &Running,
    one: impl Fn(&T) -> io::Result<Option<Row>> + Sync,
    keep: impl Fn(usize, Row) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let (next, kept) = (AtomicUsize::new(0), Mutex::new(Ok(())));
    thread::scope(|scope| {
        let work = || {
            while !running.is_stopped() {
                let at = next.fetch_add(1, Ordering::SeqCst);
                let Some(item) = all.get(at) else {
                    return;
                };
                let row = one(item);
                let mut kept = kept.lock().expect("nothing panics while it holds this");
                *kept = match row {
                    _ if running.is_stopped() => return,
                    Ok(None) => Ok(()),
                    Ok(Some(row)) => keep(at, row),
                    Err(error) => Err(error),
                };
                if kept.is_err() {
                    return;
                }
            }
        };
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            // A panic has been printed.
            let _ = worker.join();
        }
    });
    kept.into_inner()
        .expect("nothing panics while it holds this")
}

/// A row as it is printed.
fn line(row: &Row) -> String {
    let mut parts = vec![format!(
        "{:17}{}  {}",
        row.verdict,
        row.id,
        page::names(row)
    )];
    parts.extend(row.grade.clone());
    parts.extend(
        row.unexplained
            .map(|share| format!("unexplained {}", percent(share))),
    );
    parts.push(format!("others {}", percent(row.said.others_share)));
    parts.push(format!("{:.0} s", row.seconds));
    let mut lines = vec![parts.join("  ")];
    if row.is_line_right == Some(false) {
        lines.push(format!("first line: {}", page::first_line(row)));
    }
    if !row.said.cleared_truth.is_empty() {
        lines.push(format!(
            "cleared, and true: {}",
            row.cleared_truth().join(", ")
        ));
    }
    if !row.verdict.is_good() {
        lines.extend(row.reason.clone());
    }
    // The checks explain why the host is named.
    if !row.said.host.is_empty() && row.verdict != Verdict::Invalid {
        lines.extend(row.said.checks.iter().cloned());
    }
    if !row.verdict.is_good() {
        lines.push(row.folder.clone());
    }
    lines.join("\n          ")
}
