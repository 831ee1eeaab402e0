//! The mistakes of a file with a line for each request: of another format every line is one.

use super::{AdapterError, Requests, Source};

/// So many are reported one by one: a wrong file is recognised after a few.
const TOLD: usize = 10;

/// What is wrong with a file, line by line.
pub(super) struct Mistakes<'a> {
    source: Source<'a>,
    remedy: &'static str,
    told: Vec<AdapterError>,
    more: usize,
    lines: usize,
}

impl<'a> Mistakes<'a> {
    /// Of a file of which nothing is wrong yet.
    pub(super) fn of(source: Source<'a>, remedy: &'static str) -> Self {
        Self {
            source,
            remedy,
            told: Vec::new(),
            more: 0,
            lines: source.bytes.split(|&b| b == b'\n').count(),
        }
    }

    /// A mistake in a line, from 1.
    pub(super) fn push(&mut self, line: u64, what: String) {
        if self.told.len() < TOLD {
            let line = Some((line as usize).clamp(1, self.lines));
            self.told.push(self.source.wrong(line, what, self.remedy));
        } else {
            self.more += 1;
        }
    }

    /// The requests if nothing is wrong.
    pub(super) fn or(mut self, requests: Requests) -> Result<Requests, Vec<AdapterError>> {
        if self.more > 0 {
            let what = format!("{} further lines of it are wrong", self.more);
            self.told.push(self.source.wrong(None, what, self.remedy));
        }
        if self.told.is_empty() {
            Ok(requests)
        } else {
            Err(self.told)
        }
    }
}
