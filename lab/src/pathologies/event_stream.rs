//! Streams of events, which may lack some, break off, end within an event or fall silent. No cause
//! of the catalogue: what is wrong is in the streams themselves.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Request, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str = "answers with text/event-stream, the last event of which is [DONE]; without a variant all are \
     whole";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "events",
        help: "events of a whole stream, [DONE] included",
        default: 20.0,
        range: (4.0, 1_000_000.0),
        healthy: None,
    },
    Knob {
        flag: "interval-ms",
        help: "pause before each event",
        default: 2.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "every",
        help: "with a variant: one stream of this many is faulty",
        default: 5.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
    Knob {
        flag: "stall-ms",
        help: "with stalls: length of the silence in the middle",
        default: 300.0,
        range: (1.0, 600_000.0),
        healthy: None,
    },
];

/// Variants are exclusive: a stream has one fault.
macro_rules! variant {
    ($name:literal, $help:literal, $others:expr) => {
        Variant {
            name: $name,
            help: $help,
            excludes: &$others,
        }
    };
}

pub(super) const VARIANTS: &[Variant] = &[
    variant!(
        "drops",
        "an event in the middle is never sent",
        ["breaks", "ends", "stalls"]
    ),
    variant!(
        "breaks",
        "the connection is closed in the middle, and the body is not whole",
        ["drops", "ends", "stalls"]
    ),
    variant!(
        "ends",
        "the body ends in good order within the event in the middle",
        ["drops", "breaks", "stalls"]
    ),
    variant!(
        "stalls",
        "nothing comes for a while in the middle",
        ["drops", "breaks", "ends"]
    ),
];

/// What befalls a stream in its middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Drop,
    Break,
    End,
    Stall(Duration),
}

impl Fault {
    fn asked_for(options: &Options) -> Option<Self> {
        let all = [
            ("drops", Self::Drop),
            ("breaks", Self::Break),
            ("ends", Self::End),
            ("stalls", Self::Stall(options.millis("stall-ms"))),
        ];
        let asked = all.into_iter().find(|(name, _)| options.has(name));
        asked.map(|(_, fault)| fault).filter(|_| !options.healthy)
    }
}

/// How streams are written.
#[derive(Clone, Copy, Debug)]
struct Script {
    events: usize,
    interval: Duration,
}

impl Script {
    /// Writes a stream, and gives how many whole events were in it.
    fn play(
        self,
        request: &Request,
        fault: Option<Fault>,
        stream: &mut TcpStream,
    ) -> io::Result<usize> {
        let connection = if request.close { "close" } else { "keep-alive" };
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\
             Connection: {connection}\r\n\r\n"
        )?;
        let mut whole = 0;
        for index in 0..self.events {
            thread::sleep(self.interval);
            match fault.filter(|_| index == self.events / 2) {
                Some(Fault::Drop) => continue,
                Some(Fault::Break) => {
                    stream.shutdown(Shutdown::Both)?;
                    return Ok(whole);
                }
                Some(Fault::End) => {
                    chunk(stream, "data: half an ev")?;
                    break;
                }
                Some(Fault::Stall(length)) => thread::sleep(length),
                None => {}
            }
            if index + 1 == self.events {
                chunk(stream, "data: [DONE]\n\n")?;
            } else {
                chunk(
                    stream,
                    &format!("id: {index}\ndata: {{\"token\":{index}}}\n\n"),
                )?;
            }
            whole += 1;
        }
        stream.write_all(b"0\r\n\r\n")?;
        Ok(whole)
    }
}

fn chunk(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let script = Script {
        events: options.count("events"),
        interval: options.millis("interval-ms"),
    };
    let fault = Fault::asked_for(options);
    let every = options.number("every") as u64;
    let requests = Arc::new(AtomicU64::new(0));
    let (faulty, written) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (faulty_here, written_here) = (Arc::clone(&faulty), Arc::clone(&written));
    let turn = AtomicU64::new(0);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            let fault = fault.filter(|_| (index + 1).is_multiple_of(every));
            faulty_here.fetch_add(u64::from(fault.is_some()), Ordering::Relaxed);
            let whole = script.play(request, fault, stream)?;
            written_here.fetch_add(whole as u64, Ordering::Relaxed);
            Ok(())
        }),
    }
    .start(listener)?;
    let stop = move || {
        let (faulty, written) = (
            faulty.load(Ordering::Relaxed),
            written.load(Ordering::Relaxed),
        );
        let self_check =
            format!("{faulty} streams were faulty; the others and these brought {written} events");
        Ok(Truth::new(
            requests.load(Ordering::Relaxed),
            faulty,
            fault.is_some(),
            self_check,
        ))
    };
    let cause = if fault.is_some() {
        UNCATALOGUED
    } else {
        NO_CAUSE
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
