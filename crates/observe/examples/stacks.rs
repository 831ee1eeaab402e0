//! Prints the stacks of all threads of a process, as traces name them.
//!
//!     cargo run -p slowpath-observe --example stacks -- PID [BYTES OF STACK]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a tool for the command line reads its arguments and writes to standard output"
)]

use std::error::Error;
use std::path::Path;

use slowpath_core::trace::NO_STACK;
use slowpath_observe::symbols::{Symbolizer, runtime};

#[path = "../tests/symbols/ptrace.rs"]
mod ptrace;

/// Half of what the kernel dumps at most.
const STACK_BYTES: usize = 32 * 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let pid: u32 = words.next().ok_or("which process?")?.parse()?;
    let bytes = words.next().map_or(Ok(STACK_BYTES), |word| word.parse())?;
    let mut symbolizer = Symbolizer::new("/proc");
    let taken = ptrace::take(pid, bytes)?;
    let added: Vec<u32> = taken
        .iter()
        .map(|stack| symbolizer.add(pid, &stack.raw()))
        .collect();
    let symbols = symbolizer.finish();
    println!("{:?}", runtime(Path::new("/proc"), pid));
    for (stack, number) in taken.iter().zip(added) {
        println!("\n{} {}", stack.tid, stack.name);
        if number == NO_STACK {
            println!("    no stack");
            continue;
        }
        for frame in &symbols.stacks[number as usize] {
            println!("    {}", symbols.frames[*frame as usize]);
        }
    }
    for gap in &symbols.gaps {
        println!("\nmissing because {} ({})", gap.reason, gap.remedy);
    }
    Ok(())
}
