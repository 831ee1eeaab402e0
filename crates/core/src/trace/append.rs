//! Several repeats' traces, made one.

use super::{Event, NO_STACK, Trace, What};

impl Trace {
    /// Appends what was traced later; its positions are made ours. Threads and processes that both
    /// know keep what the later one says.
    pub fn append(&mut self, later: Self) {
        let sockets = self.sockets.len() as u32;
        let frames = self.frames.len() as u32;
        let stacks = self.stacks.len() as u32;
        self.stretches.extend(later.stretches);
        self.sockets.extend(later.sockets);
        self.frames.extend(later.frames);
        let moved = later.stacks.into_iter();
        self.stacks
            .extend(moved.map(|stack| stack.into_iter().map(|f| f + frames).collect()));
        let moved = later.events.into_iter();
        self.events.extend(moved.map(|event| Event {
            what: event.what.moved(sockets, stacks),
            ..event
        }));
        self.append_tasks(later.looks, later.stays, (sockets, stacks));
        self.reset_reasons.extend(later.reset_reasons);
        self.unix_paths.extend(later.unix_paths);
        self.resolvers.extend(later.resolvers);
        merge(&mut self.threads, later.threads, |t| t.tid);
        merge(&mut self.processes, later.processes, |p| p.pid);
    }
}

/// Puts `later` into `all`, both sorted by `key`; of two with one key the later stays.
fn merge<T>(all: &mut Vec<T>, later: Vec<T>, key: impl Fn(&T) -> u32) {
    for item in later {
        match all.binary_search_by_key(&key(&item), &key) {
            Ok(place) => all[place] = item,
            Err(place) => all.insert(place, item),
        }
    }
}

impl What {
    /// The same with its positions moved up.
    fn moved(self, sockets: u32, stacks: u32) -> Self {
        let stack_of = |stack: u32| {
            if stack == NO_STACK {
                stack
            } else {
                stack + stacks
            }
        };
        let mut moved = self;
        match &mut moved {
            Self::Switch { stack, .. } | Self::Sample { stack, .. } => *stack = stack_of(*stack),
            Self::Arrived { socket, .. }
            | Self::Read { socket, .. }
            | Self::Wrote { socket, .. }
            | Self::Reset { socket, .. }
            | Self::Retransmit { socket }
            | Self::State { socket, .. } => *socket += sockets,
            Self::Waking { .. }
            | Self::Call { .. }
            | Self::On { .. }
            | Self::Off { .. }
            | Self::Peek { .. } => {}
        }
        moved
    }
}
