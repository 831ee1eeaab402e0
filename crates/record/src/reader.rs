//! Reads a run: a finished one from its files, an unfinished one from its spool.

use std::path::Path;
use std::sync::Arc;

use slowpath_core::record::{Manifest, RunRecord};
use slowpath_core::sample::{NONE, Sample};
use slowpath_core::samples::{Chunk, Samples};
use slowpath_core::timeline::Timeline;

use crate::error::RecordError;
use crate::events;
use crate::files;
use crate::logs;
use crate::manifest::read_sealed;
use crate::profiles;
use crate::recover;
use crate::samples::{self, KeysInUse};
use crate::seal::Seal;
use crate::spans;
use crate::spool;
use crate::spool::read::Index;
use crate::timeline;
use crate::timings;
use crate::trace;

/// Reads the run in a directory. Nothing in the directory changes.
///
/// A record is read back as it was written, in one form: samples by repeat, schedule and serial
/// number; keys in the order of their first use, unused ones left out; the timeline as
/// [`Timeline::sort`] orders it.
///
/// An unfinished run (killed, or still going on) is read from its spool, with `recovered` set and
/// the facts that the manifest lacks rebuilt from marks and samples.
///
/// # Errors
/// When the directory holds no run, one of a newer format, or files that are damaged.
pub fn read(dir: &Path) -> Result<RunRecord, RecordError> {
    let (manifest, seals) = read_sealed(dir)?;
    if dir.join(files::SAMPLES_SPOOL).exists() {
        return read_spool(dir, manifest);
    }
    for name in [files::SAMPLES, files::TIMELINE, files::EVENTS] {
        Seal::check(&seals, dir, name)?;
    }
    let (samples, keys) = samples::read(&dir.join(files::SAMPLES), &manifest.plan)?;
    let series = timeline::read(&dir.join(files::TIMELINE))?;
    let mut timeline = Timeline {
        series,
        ..Timeline::default()
    };
    events::read_into(dir, &mut timeline)?;
    timeline.sort();
    Ok(RunRecord {
        manifest,
        samples,
        keys,
        timeline,
        trace: Arc::new(trace::read(dir, Some(&seals))?),
        spans: Arc::new(spans::read(dir, Some(&seals))?),
        timings: Arc::new(timings::read(dir, Some(&seals))?),
        profiles: Arc::new(profiles::read(dir, Some(&seals))?),
        collections: Arc::new(logs::collections(dir)?),
    })
}

fn read_spool(dir: &Path, mut manifest: Manifest) -> Result<RunRecord, RecordError> {
    let index = spool::read::index(dir)?;
    let (samples, keys) = read_samples(&index)?;
    let mut timeline = spool::read::timeline(dir)?;
    events::read_into(dir, &mut timeline)?;
    timeline.gaps.extend(index.gaps);
    timeline
        .gaps
        .extend(spool::read::stream_events(dir, |_| ())?);
    // A line of a series goes to the spool before its first point.
    timeline.series.retain(|series| !series.points.is_empty());
    timeline.sort();
    recover::complete(&mut manifest, &samples, &timeline);
    Ok(RunRecord {
        manifest,
        samples,
        keys,
        timeline,
        trace: Arc::new(trace::read(dir, None)?),
        spans: Arc::new(spans::read(dir, None)?),
        timings: Arc::new(timings::read(dir, None)?),
        profiles: Arc::new(profiles::read(dir, None)?),
        collections: Arc::new(logs::collections(dir)?),
    })
}

/// The samples of a spool in the form in which they are stored: in order, and with keys in the order
/// of their first use.
fn read_samples(index: &Index) -> Result<(Samples, Vec<String>), RecordError> {
    let (mut packed, mut chunk) = (Samples::default(), Chunk::default());
    let mut keys = KeysInUse::default();
    for &repeat in index.repeats.keys() {
        index.samples(repeat, samples::GROUP_ROWS, |samples| {
            for sample in samples {
                let key = index.keys.get(sample.key as usize);
                let key = key.and_then(|key| keys.position(key.as_bytes()));
                chunk.push(&Sample {
                    key: key.unwrap_or(NONE),
                    ..sample.clone()
                });
                if chunk.is_full() {
                    packed.push_chunk(&mut chunk);
                }
            }
            Ok(())
        })?;
    }
    packed.push_chunk(&mut chunk);
    Ok((packed, keys.into_keys()))
}
