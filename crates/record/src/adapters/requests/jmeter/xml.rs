//! A JTL file in XML: a `testResults` of `httpSample` and `sample` elements. A request that was made
//! inside another one, for a redirect or an embedded resource, lies inside its element and is in
//! its time, as in CSV.

use std::borrow::Cow;
use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::{Mistakes, REMEDY, Results};
use crate::adapters::requests::{AdapterError, Requests, Source};

/// Attributes and the names that they have in CSV.
const NAMES: [(&str, &str); 11] = [
    ("timeStamp", "ts"),
    ("elapsed", "t"),
    ("label", "lb"),
    ("responseCode", "rc"),
    ("responseMessage", "rm"),
    ("success", "s"),
    ("bytes", "by"),
    ("sentBytes", "sby"),
    ("Latency", "lt"),
    ("Connect", "ct"),
    ("threadName", "tn"),
];

/// The element of a request, in which others may lie.
const REQUEST: &[u8] = b"httpSample";
/// That of any other sampler, and of a transaction.
const OTHER: &[u8] = b"sample";

pub(super) fn read(source: Source<'_>) -> Result<Requests, Vec<AdapterError>> {
    let mut reader = Reader::from_reader(source.bytes);
    let mut mistakes = Mistakes::of(source, REMEDY);
    let mut all = Results::default();
    let mut place = Place::of(source.bytes);
    // How many requests are open around what comes.
    let mut around = 0_usize;
    loop {
        let before = reader.buffer_position();
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => {
                mistakes.push(place.line(reader.error_position()), error.to_string());
                break;
            }
        };
        let done = match &event {
            Event::Start(element) if element.name().as_ref() == REQUEST => {
                around += 1;
                result(&mut all, element, around > 1)
            }
            Event::End(element) if element.name().as_ref() == REQUEST => {
                around = around.saturating_sub(1);
                Ok(())
            }
            Event::Start(element) | Event::Empty(element)
                if [REQUEST, OTHER].contains(&element.name().as_ref()) =>
            {
                result(&mut all, element, around > 0)
            }
            Event::Eof => break,
            _ => Ok(()),
        };
        if let Err(what) = done {
            mistakes.push(place.line(before), what);
        }
    }
    mistakes.or(all.end())
}

/// Takes the result of an element, or counts it if it lies inside a request.
fn result(all: &mut Results, element: &BytesStart<'_>, inner: bool) -> Result<(), String> {
    if inner {
        all.inner += 1;
        return Ok(());
    }
    let mut cells: HashMap<Vec<u8>, String> = HashMap::new();
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = attribute
            .decoded_and_normalized_value(XmlVersion::Implicit1_0, element.decoder())
            .map_err(|error| error.to_string())?;
        cells.insert(attribute.key.as_ref().to_owned(), value.into_owned());
    }
    all.push(|name| {
        let short = NAMES.iter().find(|(long, _)| *long == name);
        let value = short.and_then(|(_, short)| cells.get(short.as_bytes()));
        value.map_or(Cow::Borrowed(""), |value| Cow::Borrowed(value.as_str()))
    })
}

/// Counts lines while places come in order.
struct Place<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> Place<'a> {
    const fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            line: 1,
        }
    }

    /// The line of a byte, which is not before the one asked for last.
    fn line(&mut self, at: u64) -> u64 {
        let to = (at as usize).clamp(self.at, self.bytes.len());
        let between = &self.bytes[self.at..to];
        self.line += between.split(|&byte| byte == b'\n').count() as u64 - 1;
        self.at = to;
        self.line
    }
}
