//! Profiles for speedscope (`py-spy record -f speedscope`, rbspy, and others): sampled ones.

use std::collections::BTreeMap;

use serde::Deserialize;
use slowpath_core::profile_pass::CpuSamples;

use super::place::{ends, sourced};
use crate::pprof::gather::{Gather, samples};

/// What identifies the format, in the key `$schema`.
pub(super) const SCHEMA: &str = "speedscope.app/file-format-schema.json";

#[derive(Deserialize)]
struct File {
    shared: Shared,
    profiles: Vec<Profile>,
}

#[derive(Deserialize)]
struct Shared {
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    name: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    line: Option<f64>,
}

#[derive(Deserialize)]
struct Profile {
    r#type: String,
    #[serde(default)]
    unit: String,
    #[serde(default)]
    samples: Vec<Vec<u32>>,
    #[serde(default)]
    weights: Vec<f64>,
}

/// Reads the samples of one slice.
///
/// # Errors
/// With what is wrong, as a fragment.
pub(super) fn read(
    bytes: &[u8],
    slice: u16,
    gather: &mut Gather,
) -> Result<Vec<CpuSamples>, String> {
    let file: File =
        serde_json::from_slice(bytes).map_err(|error| format!("not of speedscope: {error}"))?;
    let frames = file.shared.frames.iter().map(|frame| {
        let line = frame
            .line
            .filter(|line| (0.0..=f64::from(u32::MAX)).contains(line));
        let file = frame.file.as_deref().unwrap_or_default();
        sourced(&frame.name, file, line.unwrap_or(0.0) as u32)
    });
    let frames: Vec<_> = frames.collect();
    let mut counted: BTreeMap<u32, u64> = BTreeMap::new();
    for profile in &file.profiles {
        if profile.r#type != "sampled" {
            return Err(format!(
                "a profile of the type {:?}: only sampled ones say how often the CPU was where",
                profile.r#type
            ));
        }
        if profile.unit == "bytes" {
            return Err("a profile of memory (bytes)".to_owned());
        }
        let positive = profile
            .weights
            .iter()
            .copied()
            .filter(|weight| *weight > 0.0);
        // What one sample weighs: a longer one is several of them.
        let least = positive.fold(f64::INFINITY, f64::min);
        for (at, sample) in profile.samples.iter().enumerate() {
            let weight = profile.weights.get(at).map_or(1.0, |weight| weight / least);
            if sample.is_empty() || weight.is_nan() || weight <= 0.0 {
                continue;
            }
            let places: Option<Vec<_>> = ends(sample)
                .map(|&place| frames.get(place as usize).cloned())
                .collect();
            let places = places.ok_or("a sample names a frame that is not there")?;
            let stack = gather
                .stack_of(places.into_iter())
                .ok_or_else(Gather::no_room)?;
            let sum = counted.entry(stack).or_default();
            *sum = sum.saturating_add(weight.round().max(1.0) as u64);
        }
    }
    Ok(samples(slice, counted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"$schema":"https://www.speedscope.app/file-format-schema.json",
        "shared":{"frames":[{"name":"run","file":"/srv/a.py","line":3},{"name":"hot"}]},
        "profiles":[{"type":"sampled","name":"Thread 1","unit":"seconds","startValue":0,
            "endValue":0.04,"samples":[[0,1],[0,1],[0]],"weights":[0.01,0.02,0.01]}]}"#;

    #[test]
    fn weights_are_numbers_of_samples() {
        let mut gather = Gather::new(0);
        let samples = read(FILE.as_bytes(), 3, &mut gather).unwrap();
        let tables = gather.done();
        let told: Vec<_> = samples
            .iter()
            .map(|s| (s.slice, s.stack, s.count))
            .collect();
        assert_eq!(told, [(3, 0, 3), (3, 1, 1)]);
        let stack: Vec<String> = tables.stack(0).map(ToString::to_string).collect();
        assert_eq!(stack, ["hot", "a.run (a.py:3)"]);
    }

    #[test]
    fn what_is_not_sampled_is_refused() {
        for (from, to, why) in [
            ("\"sampled\"", "\"evented\"", "evented"),
            ("[0,1]", "[0,7]", "not there"),
            ("seconds", "bytes", "memory"),
            ("\"shared\"", "\"other\"", "not of speedscope"),
        ] {
            let text = FILE.replace(from, to);
            let said = read(text.as_bytes(), 0, &mut Gather::new(0)).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        let nothing = FILE.replace("0.01", "0").replace("0.02", "-1e999");
        let _ = read(nothing.as_bytes(), 0, &mut Gather::new(0));
    }
}
