//! What the threads of a simulated server do, as a trace would show.

/// The first thread of the simulated server.
const FIRST: u32 = 101;
/// A thread of another process on the machine.
pub(super) const OTHER: u32 = 9_000;

/// A thread did something for a while.
#[derive(Clone, Debug)]
pub(super) struct Did {
    pub(super) tid: u32,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) act: Act,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// A request came from that port, whatever threads did.
    Arrived(u16),
    /// It read a request.
    Read(u16),
    /// It answered one.
    Wrote(u16),
    /// It computed.
    Runs,
    /// It computed with the lock.
    Locked,
    /// It could run, and that thread had the CPU; 0 for none.
    Ready(u32),
    /// It was woken, and the CPU that it got was idle until then.
    TakenUp,
    /// It was in that call.
    Calls(String),
    /// It asked another server, on a connection from that port, with so many bytes.
    Sends(u16, u32),
    /// It read the reply.
    Gets(u16),
    /// It waited for the lock, which that thread released.
    Waits(u32),
    /// It had the lock, in the background.
    Holds,
    /// It waited for a thread that talks to another server.
    Asks,
}

impl Did {
    /// Threads that hold the lock in the background count from here.
    pub(super) const HOLDERS: u32 = 500;

    pub(super) const fn tid(thread: u32) -> u32 {
        FIRST + thread
    }

    pub(super) const fn new(thread: u32, begin: u64, end: u64, act: Act) -> Self {
        Self {
            tid: Self::tid(thread),
            begin,
            end,
            act,
        }
    }
}
