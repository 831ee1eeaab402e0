//! Reads a run: a finished one from its files, an unfinished one from its spool.

use std::path::Path;

use slowpath_core::record::{Manifest, RunRecord};
use slowpath_core::timeline::Timeline;

use crate::error::RecordError;
use crate::events;
use crate::files;
use crate::manifest::read_sealed;
use crate::recover;
use crate::samples;
use crate::seal::Seal;
use crate::spool;
use crate::timeline;

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
    })
}

fn read_spool(dir: &Path, mut manifest: Manifest) -> Result<RunRecord, RecordError> {
    let index = spool::read::index(dir)?;
    let mut samples = Vec::new();
    for &repeat in index.repeats.keys() {
        samples.extend(index.samples(repeat)?);
    }
    samples::sort(&mut samples);
    let keys = samples::rekey(&mut samples, &index.keys);
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
    })
}
