//! Traces written thread by thread: what each did when, and the events that report it.

use std::net::SocketAddr;

use slowpath_core::nanos::Nanos;
use slowpath_core::trace::{
    Call, Context, Event, Frame, IDLE, Left, NO_STACK, Process, Role, Runtime, Socket, Thread,
    Trace, What, unix_client, unix_server,
};

/// Who ends a wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Thread(u32),
    Softirq,
    Hardirq,
    Nobody,
}

/// A wait of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) tid: u32,
    pub(crate) begin: u64,
    /// When it was woken.
    pub(crate) wake: u64,
    /// When it ran again.
    pub(crate) end: u64,
    pub(crate) call: Option<Call>,
    pub(crate) about: u64,
    pub(crate) stack: u32,
    pub(crate) by: By,
    /// How it left its CPU.
    pub(crate) left: Left,
}

impl Wait {
    pub(crate) const fn new(tid: u32, begin: u64, end: u64, call: Call, by: By) -> Self {
        Self {
            tid,
            begin,
            wake: end,
            end,
            call: Some(call),
            about: 0,
            stack: NO_STACK,
            by,
            left: Left::Sleeping,
        }
    }
}

/// A trace in the making. Every thread has a CPU of its own, which bears its id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) trace: Trace,
}

impl Script {
    pub(crate) fn process(&mut self, pid: u32, role: Role, runtime: Runtime) {
        self.trace.processes.push(Process {
            pid,
            role,
            executable: format!("p{pid}"),
            program: String::new(),
            runtime,
        });
    }

    pub(crate) fn thread(&mut self, tid: u32, pid: u32, name: &str) {
        let place = self.trace.threads.partition_point(|t| t.tid < tid);
        let name = name.to_owned();
        self.trace.threads.insert(place, Thread { tid, pid, name });
    }

    pub(crate) fn event(&mut self, at: u64, cpu: u32, what: What) {
        self.trace.events.push(Event {
            at: Nanos::new(at),
            cpu: cpu as u16,
            what,
        });
    }

    /// A stack of functions of the kernel (those before `|`) and of a program.
    pub(crate) fn stack(&mut self, functions: &str) -> u32 {
        let (kernel, program) = functions.split_once('|').unwrap_or(("", functions));
        let words = |text: &str, module: &str| {
            let words = text.split_whitespace();
            let module = module.to_owned();
            let frame = move |function: &str| Frame {
                function: function.to_owned(),
                module: module.clone(),
                source: String::new(),
            };
            words.map(frame).collect::<Vec<_>>()
        };
        let mut frames = words(kernel, "kernel");
        frames.extend(words(program, "server"));
        let mut stack = Vec::new();
        for frame in frames {
            let known = self.trace.frames.iter().position(|f| *f == frame);
            let place = known.unwrap_or_else(|| {
                self.trace.frames.push(frame);
                self.trace.frames.len() - 1
            });
            stack.push(place as u32);
        }
        let known = self.trace.stacks.iter().position(|s| *s == stack);
        let place = known.unwrap_or_else(|| {
            self.trace.stacks.push(stack);
            self.trace.stacks.len() - 1
        });
        place as u32
    }

    pub(crate) fn socket(&mut self, local: u16, remote: u16) -> u32 {
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        self.end(Socket {
            local: address(local),
            remote: address(remote),
        })
    }

    /// The end of a connection over a Unix socket that was made to a path; the port says which.
    pub(crate) fn unix_socket(&mut self, port: u16, path: &str) -> u32 {
        let (local, remote) = (unix_client(port.into()), unix_server(path));
        let paths = &mut self.trace.unix_paths;
        paths.insert(remote.ip(), path.to_owned());
        self.end(Socket { local, remote })
    }

    fn end(&mut self, socket: Socket) -> u32 {
        let known = self.trace.sockets.iter().position(|s| *s == socket);
        let place = known.unwrap_or_else(|| {
            self.trace.sockets.push(socket);
            self.trace.sockets.len() - 1
        });
        place as u32
    }

    /// A thread begins to run.
    pub(crate) fn starts(&mut self, at: u64, tid: u32) {
        self.switch(at, tid, (IDLE, Left::Runnable), tid, NO_STACK);
    }

    pub(crate) fn switch(
        &mut self,
        at: u64,
        cpu: u32,
        (from, left): (u32, Left),
        to: u32,
        stack: u32,
    ) {
        let what = What::Switch {
            from,
            left,
            to,
            stack,
        };
        self.event(at, cpu, what);
    }

    pub(crate) fn waits(&mut self, wait: Wait) {
        let Wait { tid, begin, .. } = wait;
        if let Some(call) = wait.call {
            let about = wait.about;
            self.event(
                begin.saturating_sub(1),
                tid,
                What::Call { tid, call, about },
            );
        }
        self.switch(begin, tid, (tid, wait.left), IDLE, wait.stack);
        let (by, context) = match wait.by {
            By::Thread(by) => (by, Context::Thread),
            By::Softirq => (IDLE, Context::Softirq),
            By::Hardirq => (IDLE, Context::Hardirq),
            By::Nobody => (0, Context::Thread),
        };
        if !matches!(wait.by, By::Nobody) {
            let cpu = if by == IDLE { tid } else { by };
            self.event(wait.wake, cpu, What::Waking { tid, by, context });
        }
        self.switch(wait.end, tid, (IDLE, Left::Runnable), tid, NO_STACK);
    }

    /// Another thread has its CPU for a while.
    pub(crate) fn preempted(&mut self, tid: u32, begin: u64, end: u64, by: u32) {
        self.switch(begin, tid, (tid, Left::Runnable), by, NO_STACK);
        self.switch(end, tid, (by, Left::Sleeping), tid, NO_STACK);
    }

    pub(crate) fn arrived(&mut self, at: u64, socket: u32) {
        self.event(at, 0, What::Arrived { socket, bytes: 100 });
    }

    pub(crate) fn read(&mut self, at: u64, tid: u32, socket: u32) {
        self.event(at, tid, What::Read { tid, socket });
    }

    pub(crate) fn wrote(&mut self, at: u64, tid: u32, socket: u32) {
        let bytes = 100;
        self.event(at, tid, What::Wrote { tid, socket, bytes });
    }

    /// The trace, its events in order of time.
    pub(crate) fn done(mut self) -> Trace {
        self.trace.events.sort_by_key(|event| event.at);
        self.trace.processes.sort_by_key(|p| p.pid);
        self.trace
    }
}
