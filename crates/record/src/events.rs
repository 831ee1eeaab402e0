//! `events.jsonl`: marks and gaps, one JSON object a line, such as
//! `{"mark":{"at":1200,"kind":"window-began","repeat":0,"text":""}}`.
//!
//! Lines are appended while the run goes on, and put in order when it is finished.

use std::path::Path;

use serde::{Deserialize, Serialize};
use slowpath_core::timeline::{Gap, Mark, Timeline};

use crate::error::RecordError;
use crate::files;
use crate::jsonl;

/// What a line holds.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Event {
    /// Something happened at an instant.
    Mark(Mark),
    /// Something could not be observed.
    Gap(Gap),
}

/// Replaces the file by the marks and gaps of a timeline.
pub(crate) fn write(dir: &Path, timeline: &Timeline) -> Result<(), RecordError> {
    let path = dir.join(files::EVENTS);
    let marks = timeline.marks.iter().cloned().map(Event::Mark);
    let gaps = timeline.gaps.iter().cloned().map(Event::Gap);
    let mut text = Vec::new();
    for event in marks.chain(gaps) {
        jsonl::push_line(&mut text, &event).map_err(RecordError::json(&path))?;
    }
    files::replace(&path, &text)
}

/// Appends the marks and gaps of a run directory to a timeline.
pub(crate) fn read_into(dir: &Path, timeline: &mut Timeline) -> Result<(), RecordError> {
    for event in jsonl::read(&dir.join(files::EVENTS))? {
        match event {
            Event::Mark(mark) => timeline.marks.push(mark),
            Event::Gap(gap) => timeline.gaps.push(gap),
        }
    }
    Ok(())
}
