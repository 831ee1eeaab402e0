//! A limit of the rate at which requests are let pass, before anything is done for them.

use std::collections::BTreeMap;

use super::Sim;

/// The buckets by key, which is 0 where all have one.
pub(super) type Buckets = BTreeMap<u32, Bucket>;

/// What is in a bucket, in periods of the limit, and since when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    level: f64,
    at: u64,
    /// When the next one may pass, where no clock decides it.
    next: u64,
}

impl Sim<'_> {
    /// When a request is let pass that has come; at once with a refusal if there is no room for it.
    pub(super) fn lets_pass(&mut self, arrives: u64, index: usize) -> u64 {
        let Some(limit) = self.case.limit else {
            return arrives;
        };
        let key = if limit.each_key {
            self.requests[index].sample.key
        } else {
            0
        };
        let bucket = self.buckets.entry(key).or_default();
        if let Some(late) = limit.late {
            let passes = arrives.max(bucket.next);
            bucket.next = passes + limit.every.0 + late.draw(&mut self.random);
            return passes;
        }
        let Bucket { level, at, .. } = *bucket;
        let left = (level - arrives.saturating_sub(at) as f64 / limit.every.0 as f64).max(0.0);
        let waits = (left - f64::from(limit.at_once)).max(0.0);
        if waits > limit.waiting.map_or(f64::INFINITY, f64::from) {
            let request = &mut self.requests[index];
            (request.is_wrong, request.refusal) = (true, Some(limit.refuses));
            return arrives;
        }
        *bucket = Bucket {
            level: left + 1.0,
            at: arrives,
            next: 0,
        };
        arrives + (waits * limit.every.0 as f64) as u64
    }
}
