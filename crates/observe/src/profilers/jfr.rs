//! Java's flight recorder, as `jfr print --json` writes it: samples of threads that are in Java code,
//! and waits for monitors.
//!
//! The recorder looks at a few threads each 10 or 20 ms, and takes those that are in Java code whether
//! a CPU runs them or not: with more of them than CPUs its samples are no CPU time.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use slowpath_core::profile_pass::{CpuSamples, Waited};
use slowpath_core::profiles::CodeLine;

use super::place::code;
use crate::pprof::gather::Gather;

/// Slices that the time is divided into, as that of a traced pass is.
pub(super) const SLICES: u16 = 10;
/// What is asked of `jfr print`: this, and the file.
pub(crate) const PRINT: [&str; 6] = [
    "print",
    "--json",
    "--stack-depth",
    "64",
    "--events",
    "jdk.ExecutionSample,jdk.JavaMonitorEnter",
];
const SAMPLE: &str = "jdk.ExecutionSample";
const MONITOR: &str = "jdk.JavaMonitorEnter";

#[derive(Deserialize)]
struct File {
    recording: Recording,
}

#[derive(Deserialize)]
struct Recording {
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    r#type: String,
    values: Values,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Values {
    #[serde(deserialize_with = "at")]
    start_time: Timestamp,
    #[serde(default)]
    duration: Option<String>,
    #[serde(default)]
    stack_trace: Option<Trace>,
    #[serde(default)]
    monitor_class: Option<Named>,
}

/// `2026-01-02T03:04:05.678Z`.
fn at<'de, D: Deserializer<'de>>(read: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(read)?;
    text.parse().map_err(D::Error::custom)
}

/// `PT0.0025S`, in nanoseconds; 0 if it is none.
fn took_ns(text: Option<&str>) -> u64 {
    let took = text.and_then(|text| text.parse::<SignedDuration>().ok());
    took.map_or(0, |took| u64::try_from(took.as_nanos()).unwrap_or(0))
}

#[derive(Deserialize)]
struct Trace {
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    method: Option<Method>,
    #[serde(default)]
    line_number: i64,
}

#[derive(Deserialize)]
struct Method {
    r#type: Option<Named>,
    name: String,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Named {
    /// As Java writes it: `com.shop.Cart`.
    fn written(&self) -> String {
        self.name.replace('/', ".")
    }
}

/// What a recording says.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) cpu: Vec<CpuSamples>,
    /// Waits for monitors, by the class of what is locked and who waits.
    pub(crate) waits: Vec<Waited>,
    pub(crate) slices: u16,
    /// From the first event to the last, or what was asked for, in nanoseconds.
    pub(crate) length_ns: u64,
}

/// Reads a recording: what began within some stretch of time (in nanoseconds since 1970), or all of it.
///
/// # Errors
/// With what is wrong, as a fragment.
pub(crate) fn read(
    bytes: &[u8],
    within: Option<(i128, i128)>,
    gather: &mut Gather,
) -> Result<Recorded, String> {
    let file: File = serde_json::from_slice(bytes)
        .map_err(|error| format!("not what `jfr print --json` writes: {error}"))?;
    let events = file.recording.events;
    let at = |event: &Event| event.values.start_time.as_nanosecond();
    let all = || events.iter().map(at);
    let (begin, end) = match within {
        Some(within) => within,
        None => (
            all().min().unwrap_or(0),
            all().max().map_or(0, |last| last + 1),
        ),
    };
    let length_ns = u64::try_from(end - begin).unwrap_or(0);
    let slice_ns = i128::from((length_ns / u64::from(SLICES)).max(1));
    let mut counted: BTreeMap<(u16, u32), u64> = BTreeMap::new();
    let mut waited: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for event in events
        .iter()
        .filter(|event| (begin..end).contains(&at(event)))
    {
        let values = &event.values;
        let frames = values
            .stack_trace
            .as_ref()
            .map_or(&[][..], |trace| &trace.frames);
        let frames = frames.iter().filter_map(place);
        match event.r#type.as_str() {
            SAMPLE => {
                let slice = (at(event) - begin) / slice_ns;
                let slice = u16::try_from(slice).unwrap_or(SLICES).min(SLICES - 1);
                let stack = gather.stack_of(frames).ok_or_else(Gather::no_room)?;
                *counted.entry((slice, stack)).or_default() += 1;
            }
            MONITOR => {
                let class = values
                    .monitor_class
                    .as_ref()
                    .map_or_else(String::new, Named::written);
                let monitor = code(&format!("the monitor of {class}"), "", 0);
                let frames = std::iter::once(monitor).chain(frames);
                let stack = gather.stack_of(frames).ok_or_else(Gather::no_room)?;
                let sum = waited.entry(stack).or_default();
                sum.0 += 1;
                sum.1 = sum.1.saturating_add(took_ns(values.duration.as_deref()));
            }
            _ => {}
        }
    }
    let cpu = counted.into_iter();
    let waits = waited.into_iter();
    Ok(Recorded {
        cpu: cpu
            .map(|((slice, stack), count)| CpuSamples {
                slice,
                stack,
                count,
            })
            .collect(),
        waits: waits
            .map(|(stack, (count, delay_ns))| Waited {
                stack,
                count,
                delay_ns,
            })
            .collect(),
        slices: SLICES,
        length_ns,
    })
}

fn place(frame: &Frame) -> Option<CodeLine> {
    let method = frame.method.as_ref()?;
    let class = method
        .r#type
        .as_ref()
        .map_or_else(String::new, Named::written);
    // The file is not recorded; that of a class has its name.
    let file = class
        .rsplit('.')
        .next()
        .and_then(|name| name.split('$').next());
    let file = file
        .filter(|name| !name.is_empty())
        .map(|name| format!("{name}.java"));
    let line = u32::try_from(frame.line_number).unwrap_or(0);
    let function = format!("{class}.{}", method.name);
    Some(code(&function, &file.unwrap_or_default(), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str, at_ms: u32, method: &str, more: &str) -> String {
        format!(
            r#"{{"type":"jdk.{kind}","values":{{"startTime":"2026-01-02T03:04:05.{at_ms:03}Z",
            "sampledThread":{{"javaName":"a"}},{more}"stackTrace":{{"truncated":false,"frames":[
            {{"method":{{"type":{{"name":"com\/shop\/Cart$1"}},"name":"{method}"}},"lineNumber":7}},
            {{"method":null,"lineNumber":-1}}]}}}}}}"#
        )
    }

    fn file(events: &[String]) -> String {
        format!(r#"{{"recording":{{"events":[{}]}}}}"#, events.join(","))
    }

    #[test]
    fn samples_have_their_slice_and_monitors_their_class() {
        let waits = r#""duration":"PT0.0025S","monitorClass":{"name":"com\/shop\/Store"},"#;
        let text = file(&[
            event("ExecutionSample", 0, "hot", ""),
            event("ExecutionSample", 990, "hot", ""),
            event("JavaMonitorEnter", 500, "add", waits),
            event("JavaMonitorEnter", 501, "add", waits),
            event("GarbageCollection", 502, "none", ""),
        ]);
        let mut gather = Gather::new(0);
        let told = read(text.as_bytes(), None, &mut gather).unwrap();
        let tables = gather.done();
        let slices: Vec<u16> = told.cpu.iter().map(|samples| samples.slice).collect();
        assert_eq!(slices, [0, 9]);
        let words = |stack| {
            tables
                .stack(stack)
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words(told.cpu[0].stack),
            ["com.shop.Cart$1.hot (Cart.java:7)"]
        );
        assert_eq!(
            (told.waits[0].count, told.waits[0].delay_ns),
            (2, 5_000_000)
        );
        assert_eq!(
            words(told.waits[0].stack),
            [
                "the monitor of com.shop.Store",
                "com.shop.Cart$1.add (Cart.java:7)"
            ]
        );
        assert_eq!(told.length_ns, 990_000_001);
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let text = file(&[
            event("ExecutionSample", 0, "warm", ""),
            event("ExecutionSample", 500, "hot", ""),
        ]);
        let at = |ms: i128| {
            let first: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
            first.as_nanosecond() + ms * 1_000_000
        };
        let within = Some((at(400), at(600)));
        let told = read(text.as_bytes(), within, &mut Gather::new(0)).unwrap();
        assert_eq!(told.cpu.len(), 1);
        assert_eq!(told.length_ns, 200_000_000);
        let none = read(file(&[]).as_bytes(), None, &mut Gather::new(0)).unwrap();
        assert!(none.cpu.is_empty() && none.length_ns == 0);
        let said = read(b"jdk.ExecutionSample {", None, &mut Gather::new(0)).unwrap_err();
        assert!(said.contains("jfr print --json"), "{said}");
    }
}
