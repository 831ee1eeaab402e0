//! What is shown while a load runs: a bar on a terminal, nothing in a pipe.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use slowpath_load::Control;

/// A bar that follows one load until it is dropped.
#[derive(Debug)]
pub(crate) struct Bar {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// Shows a load that is expected to take `length`; nothing if `quiet` or not on a terminal.
    pub(crate) fn follow(
        control: &Arc<Control>,
        title: String,
        length: Duration,
        quiet: bool,
    ) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        if quiet || !std::io::stderr().is_terminal() {
            return Self { over, thread: None };
        }
        let (control, flag) = (Arc::clone(control), Arc::clone(&over));
        let thread = std::thread::spawn(move || draw(&control, &flag, &title, length));
        Self {
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn draw(control: &Control, over: &AtomicBool, title: &str, length: Duration) {
    const EVERY: Duration = Duration::from_millis(100);
    let template = "{prefix} [{bar:28}] {elapsed}/{msg}";
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    let bar = ProgressBar::new(length.as_millis() as u64).with_style(style);
    bar.set_prefix(title.to_owned());
    let began = Instant::now();
    while !over.load(Ordering::Relaxed) {
        let progress = &control.progress;
        let (done, errors) = (
            progress.done.load(Ordering::Relaxed),
            progress.errors.load(Ordering::Relaxed),
        );
        let stage = if progress.in_window.load(Ordering::Relaxed) {
            ""
        } else {
            "  (warm-up)"
        };
        bar.set_position(began.elapsed().as_millis() as u64);
        bar.set_message(format!(
            "{length:.0?}  {done} requests, {errors} errors{stage}"
        ));
        std::thread::sleep(EVERY);
    }
    bar.finish_and_clear();
}
