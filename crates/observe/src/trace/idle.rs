//! Whether the kernel's tracepoints report a CPU that leaves its rest.
//!
//! Some kernels of virtual machines run the idle task of all CPUs but the first where tracepoints
//! are not heard: `sched_switch` to the idle task is reported, the one from it never, and neither is a
//! `sched_waking` by an interrupt that came in between. A thread that slept would look as if it had
//! never come back.

use std::io;
use std::thread;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};

use super::perf::{Event, What};

/// How often a thread sleeps on the CPU for the test. On a CPU that others use, few of these
/// sleeps leave it idle.
const SLEEPS: u32 = 8;
/// How long each time: long enough for the CPU to become idle.
const SLEEP: Duration = Duration::from_micros(200);
/// With fewer rests seen nothing is known.
const LEAST_RESTS: u64 = 3;

/// Whether the rests of a CPU are hidden, or might be: `switch` is the number of `sched_switch`.
/// What is recorded on suspicion costs a little and is never reported twice.
pub(super) fn is_hidden(switch: u64, cpu: u32) -> bool {
    let tested = rests(switch, cpu);
    // One may have begun before counting did, or end after it. A rest that is cut short before its
    // CPU stops is reported on any kernel: one end says nothing of the others.
    !tested.is_ok_and(|(begun, ended)| begun >= LEAST_RESTS && begun.abs_diff(ended) <= 1)
}

/// How many rests of a CPU the tracepoint reported the begin of, and of how many the end.
fn rests(switch: u64, cpu: u32) -> io::Result<(u64, u64)> {
    let counter = |condition| {
        let event = Event::open(What::Count(switch), cpu)?;
        event.filter(condition)?;
        event.enable()?;
        io::Result::Ok(event)
    };
    let (begun, ended) = (counter("next_pid==0")?, counter("prev_pid==0")?);
    // On a thread of its own: where the others may run is not touched.
    if cpu as usize >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let slept = thread::Builder::new().spawn(move || {
        let mut only = CpuSet::new();
        only.set(cpu as usize);
        sched_setaffinity(None, &only)?;
        (0..SLEEPS).for_each(|_| thread::sleep(SLEEP));
        io::Result::Ok(())
    });
    slept?.join().map_err(|_| io::ErrorKind::Other)??;
    Ok((begun.count()?, ended.count()?))
}
