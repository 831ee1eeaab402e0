//! Nothing is wrong: any finding here is a false one.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "fast, with a little constant work: / and /work and /list";
pub(super) const KNOBS: &[Knob] = &[Knob {
    flag: "rounds",
    help: "rounds of mixing for each request of /work, about 1 ns each",
    default: 20_000.0,
    range: (0.0, 10_000_000.0),
    healthy: None,
}];
pub(super) const VARIANTS: &[Variant] = &[];

/// Lines of the answer to /list: about 8 KiB.
const LIST_LINES: usize = 512;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let rounds = options.number("rounds") as u32;
    let list = "one list item..\n".repeat(LIST_LINES);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| match request.path.as_str() {
            "/work" => {
                let body = format!("{:016x}\n", work::mix(1, rounds));
                stream.write_all(&http::response(request, body.as_bytes()))
            }
            "/list" => stream.write_all(&http::response(request, list.as_bytes())),
            _ => stream.write_all(&http::response(request, b"hello\n")),
        }),
    }
    .start(listener)?;
    let stop = move || {
        let served = requests.load(Ordering::Relaxed);
        Ok(Truth::new(served, 0, false, "nothing was done to slow a request".to_owned()))
    };
    Ok(Server { address, cause: NO_CAUSE, stop: Box::new(stop) })
}
