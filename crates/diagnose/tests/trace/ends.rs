//! What begins and ends in a trace.

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Depth, IDLE, Left, NO_STACK, Stretch};

use crate::script::Script;

impl Script {
    /// Everything from `begin` to `end` is traced.
    pub(crate) fn over(begin: u64, end: u64, depth: Depth) -> Self {
        let mut script = Self::default();
        script.stretch(begin, end, depth);
        script
    }

    pub(crate) fn stretch(&mut self, begin: u64, end: u64, depth: Depth) {
        self.trace.stretches.push(Stretch {
            span: Span::new(Nanos::new(begin), Nanos::new(end)),
            depth,
            repeat: 0,
            lost: 0,
        });
    }

    /// A thread ends.
    pub(crate) fn ends(&mut self, at: u64, tid: u32) {
        self.switch(at, tid, (tid, Left::Gone), IDLE, NO_STACK);
    }
}
