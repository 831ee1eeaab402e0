//! Writes a run while it goes on, and finishes it.
//!
//! One thread owns the files. Everyone else has a [`Handle`], which copies what it is given into
//! a bounded queue. Recording never breaks a run: when the disk is too slow, the sender waits, and
//! the wait is counted; when the disk refuses, the rest is dropped, and [`RunWriter::finish`]
//! returns the error.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use slowpath_core::profile_pass::ProfilePass;
use slowpath_core::profiles::Profiles;
use slowpath_core::record::Manifest;
use slowpath_core::sample::{Sample, StreamEvent};
use slowpath_core::server_timing::ServerTimings;
use slowpath_core::spans::AppSpans;
use slowpath_core::timeline::{Gap, Mark, Reading};
use slowpath_core::trace::Trace;

use crate::error::RecordError;
use crate::events::{self, Event};
use crate::files;
use crate::manifest;
use crate::profile_pass;
use crate::profiles;
use crate::samples::{GROUP_ROWS, SamplesWriter};
use crate::seal::Seal;
use crate::spans;
use crate::spool::{self, Spool};
use crate::stream_events::{self, MOST_STREAM_EVENTS, StreamEventsWriter};
use crate::timeline;
use crate::timings;
use crate::trace;

/// Messages that may wait for the thread. With [`BATCH_SAMPLES`] this bounds what waits to 32,768
/// requests in 4.5 MB: a fifth of a second at 150,000 requests a second, longer than a thread
/// usually waits for a CPU or for a write into the page cache.
const QUEUE_MESSAGES: usize = 256;

/// Samples in one message: larger slices are split, so that the queue's bound is one in bytes.
const BATCH_SAMPLES: usize = 128;

/// Events of streamed responses in one message: they are a seventh as large as samples.
const BATCH_STREAM_EVENTS: usize = 7 * BATCH_SAMPLES;

/// How long rows may stay in this process before the kernel has them, from where they survive a
/// kill. Half a second is promised; half of that leaves room for a busy machine.
const FLUSH_EVERY: Duration = Duration::from_millis(250);

enum Message {
    Samples(Vec<Sample>),
    StreamEvents(Vec<StreamEvent>),
    Readings(Vec<Reading>),
    Keys(Vec<String>),
    Gaps(Vec<Gap>),
    Mark(Mark),
    End,
}

/// Sends to the thread that writes a run. Cheap to clone; what is sent after the run was finished
/// is dropped.
#[derive(Clone, Debug)]
pub struct Handle {
    queue: SyncSender<Message>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    waits: AtomicU64,
    stream_events: AtomicU64,
    stream_events_dropped: AtomicU64,
    keys_sent: Mutex<usize>,
}

impl Handle {
    /// Records requests. The position of each key is one in [`Handle::keys`], which may come
    /// later.
    pub fn samples(&self, samples: &[Sample]) {
        for batch in samples.chunks(BATCH_SAMPLES) {
            self.send(Message::Samples(batch.to_vec()));
        }
    }

    /// Records events of streamed responses, up to [`MOST_STREAM_EVENTS`] in a run; what lies
    /// beyond is counted.
    pub fn stream_events(&self, events: &[StreamEvent]) {
        let count = events.len() as u64;
        let before = self
            .shared
            .stream_events
            .fetch_add(count, Ordering::Relaxed);
        let room = MOST_STREAM_EVENTS.saturating_sub(before).min(count);
        let dropped = &self.shared.stream_events_dropped;
        dropped.fetch_add(count - room, Ordering::Relaxed);
        for batch in events[..room as usize].chunks(BATCH_STREAM_EVENTS) {
            self.send(Message::StreamEvents(batch.to_vec()));
        }
    }

    /// Events of streamed responses that there was no room for.
    pub fn stream_events_dropped(&self) -> u64 {
        self.shared.stream_events_dropped.load(Ordering::Relaxed)
    }

    /// Records readings.
    pub fn readings(&self, readings: Vec<Reading>) {
        self.send(Message::Readings(readings));
    }

    /// Records what could not be observed.
    pub fn gaps(&self, gaps: Vec<Gap>) {
        self.send(Message::Gaps(gaps));
    }

    /// Records that something happened.
    pub fn mark(&self, mark: Mark) {
        self.send(Message::Mark(mark));
    }

    /// Records the keys that samples point to: all of them so far, in the order of their
    /// positions. Those that were recorded before are not sent again.
    pub fn keys(&self, keys: &[String]) {
        // Held while sending: two callers must not change the order.
        let mut sent = self
            .shared
            .keys_sent
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(new) = keys.get(*sent..).filter(|new| !new.is_empty()) {
            self.send(Message::Keys(new.to_vec()));
            *sent = keys.len();
        }
    }

    /// How often something waited because the queue was full: the disk was slower than the load.
    pub fn waits(&self) -> u64 {
        self.shared.waits.load(Ordering::Relaxed)
    }

    fn send(&self, message: Message) {
        if let Err(TrySendError::Full(message)) = self.queue.try_send(message) {
            self.shared.waits.fetch_add(1, Ordering::Relaxed);
            // It can only fail when the run is finished already; see the type's documentation.
            let _ = self.queue.send(message);
        }
    }
}

/// Writes one run. Dropped without [`RunWriter::finish`], it leaves an unfinished run, which
/// [`crate::read`] recovers like one that was killed.
#[derive(Debug)]
pub struct RunWriter {
    dir: PathBuf,
    handle: Handle,
    thread: Option<JoinHandle<Result<(), RecordError>>>,
}

impl RunWriter {
    /// Begins a run in `dir`, which is created if need be. From here on it is a run that
    /// [`crate::read`] reads.
    ///
    /// # Errors
    /// When the directory holds a run already, or on I/O errors.
    pub fn create(dir: &Path, manifest: &Manifest) -> Result<Self, RecordError> {
        let logs = dir.join(files::LOGS);
        if dir.join(files::MANIFEST).exists() {
            return Err(RecordError::Occupied {
                path: dir.to_owned(),
            });
        }
        fs::create_dir_all(&logs).map_err(RecordError::io("create", &logs))?;
        let spool = Spool::create(dir)?;
        // Last: a directory with a manifest has everything that a run has.
        manifest::write(dir, manifest, &[])?;
        let (queue, messages) = sync_channel(QUEUE_MESSAGES);
        let thread = Builder::new()
            .name("record".to_owned())
            .spawn(move || write_messages(&messages, spool))
            .map_err(RecordError::io("start a thread to write", dir))?;
        let handle = Handle {
            queue,
            shared: Arc::default(),
        };
        Ok(Self {
            dir: dir.to_owned(),
            handle,
            thread: Some(thread),
        })
    }

    /// A handle to send what was measured.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Replaces the manifest of the unfinished run, for example after each repeat: what it says
    /// survives a kill.
    ///
    /// # Errors
    /// On I/O errors.
    pub fn update(&self, manifest: &Manifest) -> Result<(), RecordError> {
        manifest::write(&self.dir, manifest, &[])
    }

    /// Records what was traced in a repeat, once it is over; it survives a kill from here on.
    ///
    /// # Errors
    /// On I/O errors.
    pub fn trace(&self, repeat: u16, trace: &Trace) -> Result<(), RecordError> {
        trace::write(&self.dir, repeat, trace)
    }

    /// Records what the target reported of the requests of a repeat, once it is over; it survives a
    /// kill from here on.
    ///
    /// # Errors
    /// On I/O errors.
    pub fn spans(&self, repeat: u16, spans: &AppSpans) -> Result<(), RecordError> {
        spans::write(&self.dir, repeat, spans)
    }

    /// Records what the target said in `Server-Timing` of the requests of a repeat, once it is over;
    /// it survives a kill from here on.
    ///
    /// # Errors
    /// On I/O errors.
    pub fn timings(&self, repeat: u16, timings: &ServerTimings) -> Result<(), RecordError> {
        timings::write(&self.dir, repeat, timings)
    }

    /// Records what the target's runtime reported in a repeat, once it is over; it survives a kill from
    /// here on.
    ///
    /// # Errors
    /// On I/O errors.
    pub fn profiles(&self, repeat: u16, profiles: &Profiles) -> Result<(), RecordError> {
        profiles::write(&self.dir, repeat, profiles)
    }

    /// Records what the profiling pass showed, and the profiles as they came, by the names of their
    /// files; it survives a kill from here on.
    ///
    /// # Errors
    /// On I/O errors.
    pub fn profile_pass(
        &self,
        pass: &ProfilePass,
        raw: &[(String, Vec<u8>)],
    ) -> Result<(), RecordError> {
        profile_pass::write(&self.dir, pass, raw)
    }

    /// Ends the run: turns the spool into its final files and writes the final manifest.
    ///
    /// # Errors
    /// On I/O errors, also earlier ones. The spool stays then, and [`crate::read`] reads from it.
    pub fn finish(mut self, manifest: &Manifest) -> Result<(), RecordError> {
        self.end()?;
        let dir = &self.dir;
        let index = spool::read::index(dir)?;
        let mut timeline = spool::read::timeline(dir)?;
        events::read_into(dir, &mut timeline)?;
        timeline.gaps.extend(index.gaps.iter().cloned());
        let mut recorded = [files::SAMPLES, files::TIMELINE, files::EVENTS]
            .map(str::to_owned)
            .to_vec();
        let mut streaming = BTreeSet::new();
        let lost = spool::read::stream_events(dir, |event| {
            streaming.insert(event.repeat);
        })?;
        timeline.gaps.extend(lost);
        timeline.sort();
        if !streaming.is_empty() {
            write_stream_events(dir, &streaming)?;
            recorded.push(files::STREAM_EVENTS.to_owned());
        }

        let path = dir.join(files::SAMPLES);
        let mut writer = SamplesWriter::create(&path, &manifest.plan, &index.keys)?;
        for &repeat in index.repeats.keys() {
            index.samples(repeat, GROUP_ROWS, |samples| writer.group(samples))?;
        }
        writer.publish()?;
        timeline::write(&dir.join(files::TIMELINE), &timeline.series)?;
        events::write(dir, &timeline)?;
        recorded.extend(trace::recorded(dir)?);
        recorded.extend(spans::recorded(dir)?);
        recorded.extend(timings::recorded(dir)?);
        recorded.extend(profiles::recorded(dir)?);
        recorded.extend(profile_pass::recorded(dir));
        let seals: Result<Vec<Seal>, _> = recorded.iter().map(|name| Seal::of(dir, name)).collect();
        manifest::write(dir, manifest, &seals?)?;
        spool::remove(dir)
    }

    /// Takes the run back, for one that measured nothing. What others put into its directory,
    /// such as logs, stays.
    ///
    /// # Errors
    /// On I/O errors.
    pub fn discard(mut self) -> Result<(), RecordError> {
        // What could not be written is not wanted any more.
        let _ = self.end();
        // First: without a manifest it is no run.
        for name in [files::MANIFEST, files::EVENTS] {
            let path = self.dir.join(name);
            fs::remove_file(&path).map_err(RecordError::io("remove", &path))?;
        }
        spool::remove(&self.dir)
    }

    /// Waits until everything that was sent is written.
    fn end(&mut self) -> Result<(), RecordError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        // It can only fail when the thread has panicked, which `join` shows.
        let _ = self.handle.queue.send(Message::End);
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        // After `finish` there is no thread left; before it, what is spooled is all one can keep.
        let _ = self.end();
    }
}

/// Writes the events of streamed responses of these repeats, one repeat after the other, so that
/// only those of one are in memory.
fn write_stream_events(dir: &Path, repeats: &BTreeSet<u16>) -> Result<(), RecordError> {
    let mut writer = StreamEventsWriter::create(&dir.join(files::STREAM_EVENTS))?;
    let mut events = Vec::new();
    for &repeat in repeats {
        events.clear();
        spool::read::stream_events(dir, |event| {
            if event.repeat == repeat {
                events.push(event);
            }
        })?;
        stream_events::sort(&mut events);
        writer.repeat(&events)?;
    }
    writer.publish()
}

/// The thread: takes messages until the end. After an error it drops what comes, so that no sender
/// waits for it.
fn write_messages(messages: &Receiver<Message>, mut spool: Spool) -> Result<(), RecordError> {
    let outcome = spool_messages(messages, &mut spool);
    if outcome.is_err() {
        while !matches!(messages.recv(), Ok(Message::End) | Err(_)) {}
    }
    outcome
}

fn spool_messages(messages: &Receiver<Message>, spool: &mut Spool) -> Result<(), RecordError> {
    let mut flushed = Instant::now();
    loop {
        match messages.recv_timeout(FLUSH_EVERY.saturating_sub(flushed.elapsed())) {
            Ok(Message::Samples(samples)) => spool.samples(&samples)?,
            Ok(Message::StreamEvents(events)) => spool.stream_events(&events)?,
            Ok(Message::Readings(readings)) => spool.readings(readings)?,
            Ok(Message::Keys(keys)) => spool.keys(&keys)?,
            Ok(Message::Gaps(gaps)) => {
                gaps.into_iter()
                    .try_for_each(|gap| spool.event(&Event::Gap(gap)))?;
            }
            Ok(Message::Mark(mark)) => spool.event(&Event::Mark(mark))?,
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return spool.flush(),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if flushed.elapsed() >= FLUSH_EVERY {
            spool.flush()?;
            flushed = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::facts::{HostFacts, TargetFacts};
    use slowpath_core::nanos::Nanos;
    use slowpath_core::plan::Plan;
    use slowpath_core::record::MANIFEST_FORMAT;
    use slowpath_core::scenario::Scenario;

    use super::*;
    use crate::read_stream_events;

    #[test]
    fn events_beyond_the_bound_are_counted_and_not_kept() {
        let manifest = Manifest {
            format: MANIFEST_FORMAT,
            id: String::new(),
            version: String::new(),
            began: String::new(),
            plan: Plan {
                scenario: Scenario::from_url("http://127.0.0.1:1/").unwrap(),
                seed: 1,
                release: None,
            },
            scenario_text: None,
            host: HostFacts::default(),
            git: None,
            target: TargetFacts::default(),
            repeats: Vec::new(),
            interrupted: false,
            trouble: String::new(),
            imported: None,
            recovered: false,
        };
        let dir = tempfile::tempdir().unwrap();
        let writer = RunWriter::create(dir.path(), &manifest).unwrap();
        let handle = writer.handle();
        let before = MOST_STREAM_EVENTS - 3;
        handle.shared.stream_events.store(before, Ordering::Relaxed);
        let event = |index| StreamEvent {
            at: Nanos::new(7),
            serial: 0,
            index,
            data_bytes: 1,
            repeat: 0,
        };
        for first in [0, 2, 4] {
            handle.stream_events(&[event(first), event(first + 1)]);
        }
        assert_eq!(handle.stream_events_dropped(), 3);
        writer.finish(&manifest).unwrap();
        let kept = read_stream_events(dir.path()).unwrap();
        assert_eq!(kept, [event(0), event(1), event(2)]);
    }
}
