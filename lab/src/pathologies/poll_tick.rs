//! A worker looks into its queue every so often, and requests wait until it does.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str = "a worker looks into its queue every so often";
pub(super) const KNOBS: &[Knob] = &[Knob {
    flag: "tick-ms",
    help: "how often it looks; with own: how long each request sleeps",
    default: 40.0,
    range: (1.0, 60_000.0),
    healthy: None,
}];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "answers",
        help: "the worker writes the answer itself",
        excludes: &["own"],
    },
    Variant {
        name: "own",
        help: "look-alike: each request sleeps from when it came, for the same time",
        excludes: &["answers"],
    },
];

/// What the worker is to do.
enum Job {
    /// Notify the waiter that it is done.
    Tell(Sender<()>),
    /// Answer.
    Answer(TcpStream, Vec<u8>),
}

impl Job {
    fn work(self) {
        // A client that is gone needs no answer.
        match self {
            Self::Tell(done) => drop(done.send(())),
            Self::Answer(mut stream, answer) => drop(stream.write_all(&answer)),
        }
    }
}

/// Works off what is in the queue, and looks again after a while.
#[inline(never)]
fn look_now_and_then(queue: &Receiver<Job>, tick: Duration, met: &AtomicU64) {
    loop {
        thread::sleep(tick);
        while let Ok(job) = queue.try_recv() {
            met.fetch_add(1, Ordering::Relaxed);
            job.work();
        }
    }
}

/// Hands a job over, and waits for it if no other thread answers.
fn hand_over(
    jobs: &Sender<Job>,
    stream: &mut TcpStream,
    answer: &[u8],
    answers: bool,
) -> io::Result<()> {
    if answers {
        let job = Job::Answer(stream.try_clone()?, answer.to_vec());
        return jobs.send(job).map_err(io::Error::other);
    }
    let (done, wait) = channel();
    jobs.send(Job::Tell(done)).map_err(io::Error::other)?;
    wait.recv().map_err(io::Error::other)?;
    stream.write_all(answer)
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (tick, sick) = (options.millis("tick-ms"), !options.healthy);
    let (own, answers) = (options.has("own"), options.has("answers"));
    let requests = Arc::new(AtomicU64::new(0));
    let waits = Arc::new(AtomicU64::new(0));
    let (jobs, queue) = channel::<Job>();
    let met = Arc::clone(&waits);
    thread::Builder::new()
        .name("worker".to_owned())
        .spawn(move || {
            if sick && !own {
                look_now_and_then(&queue, tick, &met);
            }
            // Woken when there is work.
            queue.into_iter().for_each(Job::work);
        })?;
    let slept = Arc::clone(&waits);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            if sick && own {
                thread::sleep(tick);
                slept.fetch_add(1, Ordering::Relaxed);
            }
            hand_over(&jobs, stream, &http::response(request, b"done\n"), answers)
        }),
    }
    .start(listener)?;
    let stop = move || {
        let (requests, waits) = (
            requests.load(Ordering::Relaxed),
            waits.load(Ordering::Relaxed),
        );
        Ok(Truth::new(
            requests,
            waits,
            sick,
            format!("{waits} requests waited"),
        ))
    };
    let cause = match (sick, own) {
        (false, _) => NO_CAUSE,
        (true, true) => "fixed-delay",
        (true, false) => "poll-tick",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}
