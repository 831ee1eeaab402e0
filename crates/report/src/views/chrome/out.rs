//! Events as JSON, one a line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};
use slowpath_core::nanos::{Nanos, Span};

/// Extra facts of an event.
pub(super) type Args = Map<String, Value>;

/// Facts by name.
pub(super) fn args<const N: usize>(facts: [(&str, Value); N]) -> Args {
    let facts = facts.into_iter().filter(|(_, value)| !value.is_null());
    facts
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// One end or station of an arrow.
#[derive(Clone, Copy)]
pub(super) enum Flow {
    /// It begins in the slice around it.
    Start,
    /// It goes through the slice around it.
    Step,
    /// It ends in the slice around it.
    End,
}

/// The array of events under construction.
pub(super) struct Out<W> {
    to: W,
    zero: Nanos,
    written: u64,
}

/// One event; the names of its fields are those of the format.
#[derive(Default, Serialize)]
struct Line<'a> {
    ph: &'a str,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    bp: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    s: &'a str,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: Args,
}

/// The format counts in microseconds; three places keep the nanoseconds.
fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

impl<W: Write> Out<W> {
    /// Begins the array; instants are written relative to `zero`.
    pub(super) fn begin(mut to: W, zero: Nanos) -> io::Result<Self> {
        to.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        Ok(Self {
            to,
            zero,
            written: 0,
        })
    }

    /// Ends the file; returns how many events it has.
    pub(super) fn end(mut self, about: &Args) -> io::Result<u64> {
        self.to.write_all(b"\n],\"otherData\":")?;
        serde_json::to_writer(&mut self.to, about)?;
        self.to.write_all(b"}\n")?;
        self.to.flush()?;
        Ok(self.written)
    }

    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        let before: &[u8] = if self.written == 0 { b"\n" } else { b",\n" };
        self.to.write_all(before)?;
        self.written += 1;
        Ok(serde_json::to_writer(&mut self.to, line)?)
    }

    fn ts(&self, at: Nanos) -> f64 {
        micros(at.since(self.zero))
    }

    /// Names a process and says where it stands among the others.
    pub(super) fn process(&mut self, pid: u32, name: &str, place: i64) -> io::Result<()> {
        self.about(pid, 0, "process_name", ("name", name.into()))?;
        self.about(pid, 0, "process_sort_index", ("sort_index", place.into()))
    }

    /// Names a track and says where it stands within its process.
    pub(super) fn thread(&mut self, pid: u32, tid: u32, name: &str, place: i64) -> io::Result<()> {
        self.about(pid, tid, "thread_name", ("name", name.into()))?;
        self.about(pid, tid, "thread_sort_index", ("sort_index", place.into()))
    }

    fn about(&mut self, pid: u32, tid: u32, name: &str, fact: (&str, Value)) -> io::Result<()> {
        let line = Line {
            ph: "M",
            pid,
            tid,
            name,
            args: args([fact]),
            ..Line::default()
        };
        self.line(&line)
    }

    /// A slice whose end is known.
    pub(super) fn slice(
        &mut self,
        pid: u32,
        tid: u32,
        cat: &str,
        name: &str,
        span: Span,
        args: Args,
    ) -> io::Result<()> {
        let line = Line {
            ph: "X",
            pid,
            tid,
            ts: Some(self.ts(span.begin)),
            dur: Some(micros(span.len_ns())),
            name,
            cat,
            args,
            ..Line::default()
        };
        self.line(&line)
    }

    /// Begins a slice whose end is not known yet.
    pub(super) fn open(
        &mut self,
        (pid, tid): (u32, u32),
        at: Nanos,
        name: &str,
        args: Args,
    ) -> io::Result<()> {
        let line = Line {
            ph: "B",
            pid,
            tid,
            ts: Some(self.ts(at)),
            name,
            cat: "thread",
            args,
            ..Line::default()
        };
        self.line(&line)
    }

    /// Ends the slice that was begun last on its track.
    pub(super) fn close(&mut self, (pid, tid): (u32, u32), at: Nanos) -> io::Result<()> {
        let line = Line {
            ph: "E",
            pid,
            tid,
            ts: Some(self.ts(at)),
            ..Line::default()
        };
        self.line(&line)
    }

    /// Something without length on a track.
    pub(super) fn instant(
        &mut self,
        (pid, tid): (u32, u32),
        at: Nanos,
        name: &str,
        args: Args,
    ) -> io::Result<()> {
        let line = Line {
            ph: "i",
            pid,
            tid,
            ts: Some(self.ts(at)),
            name,
            cat: "thread",
            s: "t",
            args,
            ..Line::default()
        };
        self.line(&line)
    }

    /// An end or station of the arrow with this id.
    pub(super) fn flow(
        &mut self,
        (pid, tid): (u32, u32),
        at: Nanos,
        flow: Flow,
        (cat, id): (&str, u64),
    ) -> io::Result<()> {
        let (ph, bp) = match flow {
            Flow::Start => ("s", ""),
            Flow::Step => ("t", ""),
            // Without it the arrow would end in the next slice, not in the one around it.
            Flow::End => ("f", "e"),
        };
        let line = Line {
            ph,
            pid,
            tid,
            ts: Some(self.ts(at)),
            name: cat,
            cat,
            id: Some(id),
            bp,
            ..Line::default()
        };
        self.line(&line)
    }
}
